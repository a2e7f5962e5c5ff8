"""Measure how often the sentences that an assay prints are false.

Run: python -m benchmarks.verdict_claims --data-sets 200 --workers 2 --folder claims   (hours; --cells equal-10-300: a minute)

Every data set is one line of a file in the folder, with a digest of the code that judged it. A run that was stopped goes on
where it was; lines of other code are not used. With --table the rates of the lines that are there are printed, and nothing is
made. --store keeps the tables for the guide; see benchmarks/docs_numbers.py.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))  # so that it also runs uninstalled

from benchmarks.keyed_lines import append
from benchmarks.stored_tables import Source, store
from benchmarks.verdict_claims.cells import CELLS, chosen
from benchmarks.verdict_claims.counting import any_false, path_of, present_code, results
from benchmarks.verdict_claims.judging import KINDS, judge
from benchmarks.verdict_claims.table import tables
from benchmarks.verdict_claims.truth import SAMPLES, definition, truth_of
from benchmarks.verdict_claims.worlds import Cell
from uqassay.lab.bench.store import older_sentence
from uqassay.text import counted

GOLDEN = "benchmarks.verdict_claims.judging:golden"
SOURCE = Source("python -m benchmarks.verdict_claims --workers 2 --store", GOLDEN, "hours")
TITLES = {"verdict-claims-cells": "Any false sentence, by kind of data sets"}  # of the table in the archive
AT_ONCE = 10  # data sets that a worker is given


def measure(cell: Cell, folder: Path, seeds: list[int], samples: int, code: str) -> int:
    """Judge the data sets of these seeds and keep each as a line."""
    truth, key = truth_of(cell, folder, samples=samples), definition(cell)
    for seed in seeds:
        append(path_of(cell, folder), {"cell": key, **judge(cell, truth, seed)}, code)
    return len(seeds)


def work(cells: list[Cell], folder: Path, data_sets: int) -> list[tuple[Cell, list[int]]]:
    """What is still to do, in portions: of every cell the first seeds, then the next."""
    portions = []
    for cell in cells:
        done = {row["seed"] for row in results(cell, folder)[0]}
        left = [seed for seed in range(data_sets) if seed not in done]
        portions += [(cell, left[i : i + AT_ONCE]) for i in range(0, len(left), AT_ONCE)]
    return sorted(portions, key=lambda portion: portion[1][0])


def run(cells: list[Cell], folder: Path, data_sets: int, workers: int, samples: int = SAMPLES) -> None:
    """Make what the folder does not hold yet, by so many processes."""
    portions, code = work(cells, folder, data_sets), present_code()
    if workers == 1:
        for cell, seeds in portions:
            measure(cell, folder, seeds, samples, code)
        return
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(measure, cell, folder, seeds, samples, code) for cell, seeds in portions]
        for done in as_completed(futures):
            done.result()


def report(cells: list[Cell], folder: Path) -> Iterator[str]:
    """One line for each cell and kind of claim that was false, with its first seeds."""
    for cell in cells:
        rows, _ = results(cell, folder)
        rate = any_false(rows)
        yield f"{cell.name}: {len(rows)} data sets, any false sentence {rate.count}"
        for kind in KINDS:
            seeds = [row["seed"] for row in rows if kind in row["false"]]
            if seeds:
                yield f"    {kind}: {len(seeds)}, seeds {', '.join(map(str, seeds[:5]))}"


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="benchmarks.verdict_claims", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--cells", nargs="*", default=[], help=f"names, or beginnings with *: {', '.join(CELLS)}".replace("%", "%%")
    )
    parser.add_argument("--data-sets", type=int, default=200, help="of each cell")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--folder", type=Path, default=Path("claims"), help="of the results")
    parser.add_argument("--table", action="store_true", help="judge nothing; print the tables of the guide")
    parser.add_argument("--store", action="store_true", help="keep the tables for the guide")
    parser.add_argument(
        "--code", default="", help="with --table: digest of the code that judged, if not the present one"
    )
    told: Any = parser.parse_args(arguments)
    if told.code and not told.table:
        parser.error("--code names the code of lines that are there: give --table as well")
    cells = chosen(told.cells)
    held = [results(cell, told.folder, told.code) for cell in cells]
    others = sum(n for _, n in held)
    if others and told.table:
        print(
            f"{counted(others, 'data set')} of other code not in the tables; --code DIGEST shows them", file=sys.stderr
        )
    elif others:
        print(older_sentence(others, "data set", told.folder, "other code"), file=sys.stderr)
    if told.table and not any(rows for rows, _ in held):
        parser.error(f"no data sets of this code in {told.folder}")
    if not told.table:
        run(cells, told.folder, told.data_sets, told.workers)
        print("\n".join(report(cells, told.folder)))
    if told.table or told.store:
        made = tables(told.folder, told.code)
        for name, table in made.items() if told.store else ():
            page = {"page": "claims", "title": TITLES[name]} if name in TITLES else {}
            store(name, table, replace(SOURCE, **page), golden={} if told.code else None)
        print("\n".join(line for table in made.values() for line in table.markdown()))


if __name__ == "__main__":
    main()
