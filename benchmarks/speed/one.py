"""Measure workloads in this process and print one line of JSON for each: python -m benchmarks.speed.one.

The page and the comparison of two commits start it. Workloads come from a module, so that tests have their own.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when the libraries are loaded

__all__ = ["WORKLOADS", "main"]

WORKLOADS = "benchmarks.speed.workloads"


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 if a workload failed, 2 if another uqassay was loaded than asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.one", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--module", default=WORKLOADS, help="holds WORKLOADS and, for tests, a CLOCK")
    parser.add_argument("--source", type=Path, help="folder from which uqassay has to come")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ours", action="store_true", help="neither peers nor yardsticks")
    told = parser.parse_args(arguments)
    import uqassay
    from benchmarks.speed.workload import processor_seconds

    if told.source is not None and not Path(uqassay.__file__).is_relative_to(told.source.resolve()):
        print(f"uqassay comes from {uqassay.__file__} and not from {told.source}", file=sys.stderr)
        return 2
    module = import_module(told.module)
    failed = 0
    for name in told.names:
        start = processor_seconds()
        row = {"name": name} | _record(module, name, quick=told.quick, ours=told.ours)
        row["spent"] = processor_seconds() - start
        failed += "failed" in row
        print(json.dumps(row), flush=True)
    return int(failed > 0)


def _record(module: Any, name: str, *, quick: bool, ours: bool) -> dict[str, Any]:
    from benchmarks.speed.machine import least, yardsticks
    from benchmarks.speed.workload import REAL, measure

    clock = getattr(module, "CLOCK", REAL)
    try:
        if ours:
            return measure(module.WORKLOADS[name], quick=quick, peers=False, clock=clock)
        before = yardsticks(clock)
        found = measure(module.WORKLOADS[name], quick=quick, clock=clock)
        return found | {"yardsticks": least(before, yardsticks(clock))}
    except Exception as problem:  # of a commit that lacks what the workload calls: the others are measured
        return {"failed": f"{type(problem).__name__}: {problem}"[:300]}


if __name__ == "__main__":
    sys.exit(main())
