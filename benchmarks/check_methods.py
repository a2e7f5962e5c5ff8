"""Check the methods of `uqassay.lab.methods`: their accuracy beside a plain network, and the promises of their papers.

Run: python benchmarks/check_methods.py --preset smoke   (half a minute; only shows that the code runs)
     python benchmarks/check_methods.py --preset cpu --data FOLDER --workers 2 --resume run   (about eight minutes)

FOLDER has the 10,000 test images of MNIST. Needs the extra `methods`; several workers need the extra `bench`. The results are
on the page docs/what-methods-reach.md.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # so that it also runs uninstalled; worker processes inherit the path

from benchmarks.method_check.protocol import PRESETS, VARIANTS, check_methods
from uqassay.errors import UqassayError

OPTIONS = {"methods": "--method"}  # options whose names differ from those of the function


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--preset", choices=PRESETS, default="cpu")
    parser.add_argument("--data", metavar="FOLDER", help="folder with the files of the data sets")
    parser.add_argument(
        "--method",
        action="append",
        dest="methods",
        metavar="NAME",
        help=f"one of {', '.join(v.name for v in VARIANTS)} (repeatable; all by default)",
    )
    parser.add_argument("--runs", type=int, metavar="N", help="trainings of each method, instead of the preset's")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that train")
    parser.add_argument("--resume", metavar="FOLDER", help="folder that keeps the predictions")
    parser.add_argument("--json", action="store_true", help="print every figure with its interval as JSON")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    options = vars(arguments(given))
    as_json = options.pop("json")
    try:
        result = check_methods(**options, progress=lambda step: print(step, file=sys.stderr))
    except UqassayError as problem:
        name = problem.parameter
        print(problem.replace(parameter=OPTIONS.get(name, f"--{name}") if name in options else name), file=sys.stderr)
        return 2
    print(json.dumps(result.to_json(), indent=1) if as_json else result.summary())
    return 0


if __name__ == "__main__":
    sys.exit(main())
