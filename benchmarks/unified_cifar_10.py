"""The unified evaluation on the JPEG copy of CIFAR-10 with a small network, one run: a table beside the paper's, findings.

Run: python -m benchmarks.unified_cifar_10 FOLDER [--workers 2] [--resume RUN] [--store]      (an hour on two cores)

FOLDER has train.npz and test.npz of the JPEG copy. The same trainings as those of

    uqassay reproduce unified --dataset cifar-10 --data FOLDER --set "data_name=CIFAR-10 (JPEG copy)"

with the same --resume. --store keeps the table for the guide; see benchmarks/docs_numbers.py.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

from benchmarks.stored_tables import Source, Table, store
from uqassay.experiments.given_files import given_files
from uqassay.experiments.reproduction import PrintedCell
from uqassay.experiments.trainings import folder_of, train_cells
from uqassay.experiments.unified.claims import claim_lines
from uqassay.experiments.unified.judging import judge
from uqassay.experiments.unified.predictors import PREDICTORS, trained_data, training_cells
from uqassay.experiments.unified.tables import LINE, Value, interval_text, printed, table_cells, three

COPY = "CIFAR-10 (JPEG copy)"
PRINTED = "CIFAR-10"
QUANTITIES = {"accuracy_percent": "accuracy, %", "kl": "KL", "ns": "NS", "e": "E at λ = 1"}
SOURCE = Source(
    "python -m benchmarks.unified_cifar_10 FOLDER --store",
    "uqassay.experiments.unified.protocol:reproduce_unified",
    tuple(
        f"uqassay.methods.{module}"
        for module in (
            "laplace_bridge",
            "deep_ensemble",
            "evidential",
            "creinn",
            "e_cnn",
            "rs_nn",
            "standard_network",
            "ddu",
        )
    ),
    cost="an hour on two cores",
    quotes=True,
)


def table(cells: Sequence[PrintedCell], claims: Sequence[str]) -> Table:
    """Each model in both conventions with 95 % intervals, then as printed; the findings beneath.

    Parameters
    ----------
    cells : sequence of PrintedCell
        As of `uqassay.experiments.unified.tables.table_cells`.
    claims : sequence of str
        As of `uqassay.experiments.unified.claims.claim_lines`: a title, then lines that are indented by their level.
    """
    found: dict[tuple[str, str], dict[str, PrintedCell]] = {}
    for cell in cells:
        place = cell.name.split("/")
        if place[0] == "table1":
            found.setdefault((place[3], place[2]), {})[place[4]] = cell
    rows = []
    for model in dict.fromkeys(model for model, _ in found):
        for convention, line in LINE.items():
            given = {name: cell for name, cell in found.get((model, convention), {}).items() if name in QUANTITIES}
            values = [Value(c.ours, c.low, c.high) if (c := given.get(name)) else None for name in QUANTITIES]
            rows.append([f"{model}, {line}", *map(interval_text, values)])
        row = [printed("table1", PRINTED, model, name) for name in QUANTITIES]
        if not all(value != value for value in row):  # the baselines have no printed row
            rows.append([f"printed: {PRINTED}, {model}", *map(three, row)])
    title, *lines = claims
    text = [title, "", *(f"{' ' * (len(line) - len(line.lstrip()) - 2)}* {line.lstrip()}" for line in lines)]
    return Table(("", *QUANTITIES.values()), rows, text)


def main() -> None:
    """Train what is missing, judge, print and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", help="train.npz and test.npz of the JPEG copy of CIFAR-10")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--resume", help="folder that keeps the trainings")
    parser.add_argument("--store", action="store_true", help="keep the table for the guide")
    told = parser.parse_args()
    code = SOURCE.code()
    (part,), _ = trained_data("cpu", "cifar-10", given=given_files(told.folder, ["cifar-10"], name=COPY))
    cells = training_cells(part)
    with folder_of(told.resume) as run:
        failed = train_cells(
            cells, run, workers=told.workers, say=lambda step: print(step, file=sys.stderr, flush=True)
        )
        judged = judge(run, cells, draws=part.setting.draws)
    if failed or judged is None or set(judged.assays["exact"].model_names) < {p.name for p in PREDICTORS}:
        sys.exit(f"not all predictors could be trained: {failed}")
    rows = table_cells(part.name, judged.assays, judged.ranked, part.beside)
    made = table(rows, claim_lines(part.name, judged.assays, judged.ranked, judged.members))
    print("\n".join([*made.markdown(), "", part.sentence("cpu")]))
    if told.store:
        store("unified-cifar-10-jpeg", made, SOURCE, code=code)


if __name__ == "__main__":
    main()
