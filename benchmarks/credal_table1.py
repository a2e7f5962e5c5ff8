"""Table 1 of the paper on credal calibration with predictors that a laptop trains, one seed.

Run: python -m benchmarks.credal_table1 [--preset cpu] [--seed 0] [--resume FOLDER] [--store]     (two minutes)
     python -m benchmarks.credal_table1 --cifar-10 FOLDER …                                      (half an hour)

The same as `uqassay reproduce credal-calibration --table 1 --preset cpu`. The test images of MNIST must be in the cache folder
(docs/datasets.md), or their rows are missing, and nothing is stored. With --cifar-10 the JPEG copy of CIFAR-10, whose train.npz
and test.npz are in FOLDER, and the printed rows of CIFAR-10 as context. --store keeps the table for the guide; see
benchmarks/docs_numbers.py.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

from benchmarks.stored_tables import Source, Table, store
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.paper_tables import PrintedCell, printed_table
from uqassay.text import number, pvalue

ALPHA = 0.05
PRINTED = "credal_calibration_table1"
COLUMNS = (
    "",
    "accuracy",
    "ECE",
    "classwise",
    "conf.: p, verdict",
    "weighted: accuracy, ECE",
    "classwise: p, verdict",
    "weighted: accuracy, classwise",
)
MODULES = ("calibration", "credal"), ("lab.methods", "ensembles")
SOURCE = Source(
    "python -m benchmarks.credal_table1 --store",
    "uqassay.lab.papers.credal_calibration.training:reproduce_trained_table1",
    tuple(f"uqassay.{room}.{module}" for room, *modules in MODULES for module in modules),
    cost="two minutes of a core",
)


COPY = "CIFAR-10 (JPEG copy)"
COPY_SOURCE = Source(
    "python -m benchmarks.credal_table1 --cifar-10 cifar10_jpeg --store",
    SOURCE.function,
    SOURCE.rests_on,
    cost="half an hour of a core",
)


def table(rows: Sequence[PrintedCell], context: Sequence[str] = ()) -> Table:
    """The table as the guide has it; p by the random and by the minimised null, which decides.

    Parameters
    ----------
    rows : sequence of PrintedCell
        ``table1/<data set>/<predictor>/exact/<column>``.
    context : sequence of str
        Data sets of the printed table whose rows stand below; their verdicts are by the random null.
    """
    values: dict[tuple[str, str], dict[str, float]] = {}
    for cell in rows:
        _, data, predictor, convention, column = cell.name.split("/")
        if convention == "exact":
            values.setdefault((data, predictor), {})[column] = cell.ours
    body = []
    for (data, predictor), found in values.items():
        shown = [f"{data}, {predictor}", *(_share(found[f"avg_{key}"]) for key in ("accuracy", "ece_conf"))]
        shown.append(_share(found["avg_ece_classwise"], 4))
        for key, digits in (("conf", 3), ("classwise", 4)):
            decides = found[f"p_{key}_minimised"]
            verdict = "reject" if decides <= ALPHA else "keep"
            shown.append(f"{pvalue(found[f'p_{key}_random'])} / {pvalue(decides)} {verdict}")
            weighted = _share(found[f"weighted_{key}_ece_{key}"], digits)
            shown.append(f"{_share(found[f'weighted_{key}_accuracy'])}, {weighted}")
        body.append(shown)
    return Table(COLUMNS, [*body, *(_printed(row) for row in printed_table(PRINTED) if row["dataset"] in context)])


def _printed(row: Mapping[str, str]) -> list[str]:
    """A printed row in the same columns."""
    shown = [f"printed: {row['dataset']}, {row['architecture']}, {row['predictor']}"]
    shown += [
        _share(float(row[f"avg_{key}"]), digits)
        for key, digits in (("accuracy", 3), ("ece_conf", 3), ("ece_classwise", 4))
    ]
    for key, digits in (("conf", 3), ("classwise", 4)):
        weighted = _share(float(row[f"weighted_{key}_ece_{key}"]), digits)
        shown.append("reject" if row[f"reject_{key}"] == "True" else "keep")
        shown.append(f"{_share(float(row[f'weighted_{key}_accuracy']))}, {weighted}")
    return shown


def _share(x: float, digits: int = 3) -> str:
    return number(x, digits).removeprefix("0")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--preset", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", help="folder that keeps features and trainings")
    parser.add_argument("--cifar-10", metavar="FOLDER", help="train.npz and test.npz of the JPEG copy of CIFAR-10")
    parser.add_argument("--store", action="store_true", help="keep the table for the guide")
    told = parser.parse_args()
    copy: dict[str, Any] = {}
    if told.cifar_10:
        copy = {"dataset": "cifar-10", "data": told.cifar_10, "data_name": COPY}
    name, source = ("credal-table1-cifar-10", COPY_SOURCE) if copy else ("credal-table1", SOURCE)
    code = source.code()
    result = reproduce(
        "credal-calibration", figure="table1", preset=told.preset, seed=told.seed, resume=told.resume, **copy
    )
    made = table(result.rows, context=("CIFAR-10",) if copy else ())
    print("\n".join([*made.markdown(), *(f"note: {note}" for note in result.notes)]))
    if not told.store:
        return
    if not copy and not any(row[0].startswith("MNIST-10k") for row in made.rows):
        sys.exit("not stored: the test images of MNIST are not in the cache folder")
    store(name, made, source, code=code)


if __name__ == "__main__":
    main()
