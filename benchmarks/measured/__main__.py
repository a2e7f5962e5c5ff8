"""Measure tables of the guide and store them, then write the pages.

    python -m benchmarks.measured                     list the names, with what each measures
    python -m benchmarks.measured NAME ...            measure these at the size of the guide, store them, write the pages
    python -m benchmarks.measured NAME --size 20      measure with 20 samples and print; nothing is stored

Every table is stored as soon as it is measured, so a run that was stopped goes on with `make docs-numbers`.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.docs_numbers import write_pages
from benchmarks.measured.registry import MEASURED

for page in sorted(Path(__file__).parent.glob("[a-z]*.py")):  # each registers its tables
    import_module(f"benchmarks.measured.{page.stem}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measured", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of tables; none lists all")
    parser.add_argument("--size", type=int, help="number of samples; print the tables and store nothing")
    told = parser.parse_args(arguments)
    if unknown := set(told.names) - set(MEASURED):
        parser.error(f"no such table: {', '.join(sorted(unknown))}; known: {', '.join(MEASURED)}")
    if not told.names:
        for name, one in MEASURED.items():
            print(f"{name}: {dict(zip(one.names, one.titles, strict=True))[name]}")
    for measurement in {id(MEASURED[name]): MEASURED[name] for name in told.names}.values():
        made = measurement.store() if told.size is None else measurement.tables(told.size)
        for name, table in made.items():
            print("\n".join([f"{name}:", *table.markdown(), ""]), flush=True)
        if told.size is None:
            write_pages()
    return 0


if __name__ == "__main__":
    sys.exit(main())
