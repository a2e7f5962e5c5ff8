"""Measure how often the sentences that an assay prints are false.

Run: python -m benchmarks.verdict_claims --data-sets 200 --workers 2 --folder claims   (hours; --cells equal-10-300: a minute)

Every data set is one line of a file in the folder. A run that was stopped goes on where it was. With --table the rates of the
lines that are there are printed, or written into pages of the guide by --into, and nothing is made.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))  # so that it also runs uninstalled

from benchmarks.verdict_claims.cells import CELLS, chosen
from benchmarks.verdict_claims.counting import any_false, append, results
from benchmarks.verdict_claims.judging import KINDS, judge
from benchmarks.verdict_claims.table import lines, write_into
from benchmarks.verdict_claims.truth import SAMPLES, definition, truth_of
from benchmarks.verdict_claims.worlds import Cell

AT_ONCE = 10  # data sets that a worker is given


def measure(cell: Cell, folder: Path, seeds: list[int], samples: int) -> int:
    """Judge the data sets of these seeds and keep each as a line."""
    truth, key = truth_of(cell, folder, samples=samples), definition(cell)
    for seed in seeds:
        append(folder / f"{cell.name}.jsonl", {"cell": key, **judge(cell, truth, seed)})
    return len(seeds)


def work(cells: list[Cell], folder: Path, data_sets: int) -> list[tuple[Cell, list[int]]]:
    """What is still to do, in portions: of every cell the first seeds, then the next."""
    portions = []
    for cell in cells:
        done = {row["seed"] for row in results(cell, folder)}
        left = [seed for seed in range(data_sets) if seed not in done]
        portions += [(cell, left[i : i + AT_ONCE]) for i in range(0, len(left), AT_ONCE)]
    return sorted(portions, key=lambda portion: portion[1][0])


def run(cells: list[Cell], folder: Path, data_sets: int, workers: int, samples: int = SAMPLES) -> None:
    """Make what the folder does not hold yet, by so many processes."""
    portions = work(cells, folder, data_sets)
    if workers == 1:
        for cell, seeds in portions:
            measure(cell, folder, seeds, samples)
        return
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(measure, cell, folder, seeds, samples) for cell, seeds in portions]
        for done in as_completed(futures):
            done.result()


def report(cells: list[Cell], folder: Path) -> Iterator[str]:
    """One line for each cell and kind of claim that was false, with its first seeds."""
    for cell in cells:
        rows = results(cell, folder)
        rate = any_false(rows)
        yield f"{cell.name}: {len(rows)} data sets, any false sentence {rate.count}"
        for kind in KINDS:
            seeds = [row["seed"] for row in rows if kind in row["false"]]
            if seeds:
                yield f"    {kind}: {len(seeds)}, seeds {', '.join(map(str, seeds[:5]))}"


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="benchmarks.verdict_claims", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cells", nargs="*", default=[], help=f"names, or beginnings with *: {', '.join(CELLS)}")
    parser.add_argument("--data-sets", type=int, default=200, help="of each cell")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--folder", type=Path, default=Path("verdict_claims"), help="of the results")
    parser.add_argument("--table", action="store_true", help="only print the tables of the guide")
    parser.add_argument("--into", type=Path, nargs="+", help="pages whose tables --table replaces")
    told: Any = parser.parse_args(arguments)
    if told.table and told.into:
        write_into(told.into, told.folder)
    elif told.table:
        print("\n".join(line for table in lines(told.folder).values() for line in table))
    else:
        cells = chosen(told.cells)
        run(cells, told.folder, told.data_sets, told.workers)
        print("\n".join(report(cells, told.folder)))


if __name__ == "__main__":
    main()
