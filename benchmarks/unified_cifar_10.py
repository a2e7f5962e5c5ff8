"""The unified evaluation on the JPEG copy of CIFAR-10 with a small network, one run: a table beside the paper's, findings.

Run: python -m benchmarks.unified_cifar_10 FOLDER [--workers 2] [--resume RUN] [--store]      (an hour on two cores)

FOLDER has train.npz and test.npz of the JPEG copy. The same trainings as those of

    uqassay reproduce unified --dataset cifar-10 --data FOLDER --set "data_name=CIFAR-10 (JPEG copy)"

with the same --resume. E-CNN is trained once more with a smaller learning rate, by which it does learn. --store keeps the
tables for the guide; see benchmarks/docs_numbers.py.
"""

import argparse
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

from benchmarks.stored_tables import Source, Table, store
from uqassay.evidence.align import BASELINES
from uqassay.lab.papers.options import given_files
from uqassay.lab.papers.paper_tables import PrintedCell
from uqassay.lab.papers.trainings import folder_of, train_cells
from uqassay.lab.papers.unified.judging import JudgedDataSet, judge, training_cells
from uqassay.lab.papers.unified.plan import PREDICTORS, TrainedData, trained_data
from uqassay.lab.papers.unified.printed import printed
from uqassay.lab.papers.unified.tables import Value, claim_lines, interval_text, table_cells, three
from uqassay.text import ABSENT

COPY = "CIFAR-10 (JPEG copy)"
PRINTED = "CIFAR-10"
SLOWER = 1e-4  # learning rate of the second E-CNN
QUANTITIES = {"accuracy_percent": "accuracy, %", "kl": "KL", "ns": "NS", "e": "E at λ = 1"}
KEYS = (
    *(("exact", name) for name in QUANTITIES),
    *(("paper", name) for name in QUANTITIES if name != "accuracy_percent"),
)
SOURCE = Source(
    "python -m benchmarks.unified_cifar_10 FOLDER --store",
    "uqassay.lab.papers.unified.run:reproduce_unified",
    tuple(
        f"uqassay.lab.methods.{module}"
        for module in (
            "laplace",
            "ensembles",
            "evidential",
            "intervals",
            "random_sets",
            "ddu",
        )
    ),
    cost="an hour on two cores",
    quotes=True,
)


def table(cells: Sequence[PrintedCell], further: Mapping[str, Sequence[PrintedCell]] | None = None) -> Table:
    """A line for each model: the exact convention, then the paper's, each with 95 % intervals, and the printed values.

    Parameters
    ----------
    cells : sequence of PrintedCell
        As of `uqassay.lab.papers.unified.tables.table_cells`.
    further : mapping, optional
        Cells of the same data by what was changed; of these the models alone stand below, without the baselines.
    """
    rows = _lines(cells)
    for change, of_change in (further or {}).items():
        rows += [[f"{model}, {change}", *line] for model, *line in _lines(of_change) if model not in BASELINES]
    exact = list(QUANTITIES.values())
    theirs = [f"paper's convention: {QUANTITIES[name]}" for convention, name in KEYS if convention == "paper"]
    return Table(("", *exact, *theirs, f"printed, {PRINTED}: {', '.join(exact)}"), rows)


def _lines(cells: Sequence[PrintedCell]) -> list[list[str]]:
    found: dict[str, dict[tuple[str, str], Value]] = {}
    for cell in cells:
        place = cell.name.split("/")
        if place[0] == "table1":
            found.setdefault(place[3], {})[place[2], place[4]] = Value(cell.ours, cell.low, cell.high)
    rows = []
    for model, values in found.items():
        shown = [interval_text(values.get(key)) for key in KEYS]
        context = [printed("table1", PRINTED, f"{model}/{name}") for name in QUANTITIES]
        known = not all(map(math.isnan, context))  # the baselines have no printed row
        rows.append([model, *shown, ", ".join(map(three, context)) if known else ABSENT])
    return rows


def findings(claims: Sequence[str]) -> Table:
    """The findings of the paper as a list.

    Parameters
    ----------
    claims : sequence of str
        As of `uqassay.lab.papers.unified.tables.claim_lines`: a title, then lines that are indented by their level.
    """
    title, *lines = claims
    return Table(
        text=[title, "", *(f"{' ' * (len(line) - len(line.lstrip()) - 2)}* {line.lstrip()}" for line in lines)]
    )


def trained_and_judged(run: Path, part: TrainedData, names: Sequence[str], workers: int) -> JudgedDataSet:
    """The predictors of these names, trained where they are not yet in the folder, and judged."""
    cells = training_cells(part, predictors=names)
    failed = train_cells(cells, run, workers=workers, say=lambda step: print(step, file=sys.stderr, flush=True))
    judged = judge(run, cells, draws=part.setting.draws)
    if failed or judged is None or set(judged.assays["exact"].model_names) < set(names):
        sys.exit(f"not all predictors could be trained: {failed}")
    return judged


def main() -> None:
    """Train what is missing, judge, print and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", help="train.npz and test.npz of the JPEG copy of CIFAR-10")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--resume", help="folder that keeps the trainings")
    parser.add_argument("--members", type=int, help="of the ensemble, in place of the preset's")
    parser.add_argument("--store", action="store_true", help="keep the table for the guide")
    told = parser.parse_args()
    command = SOURCE.command + (f" --members {told.members}" if told.members else "")
    source, code = replace(SOURCE, command=command), SOURCE.code()
    given = given_files(told.folder, ["cifar-10"], name=COPY)
    (part,), _ = trained_data("cpu", "cifar-10", given=given, changes={"members": told.members})
    (slower,), _ = trained_data("cpu", "cifar-10", given=given, changes={"learning_rate": SLOWER})
    names = [predictor.name for predictor in PREDICTORS]
    with folder_of(told.resume) as run:
        judged = trained_and_judged(run, part, names, told.workers)
        again = trained_and_judged(run / "slower", slower, ["E-CNN"], told.workers)
    rows = table_cells(part.name, judged.assays, judged.ranked, part.beside)
    further = {f"learning rate {SLOWER:g}": table_cells(part.name, again.assays, again.ranked, part.beside)}
    claims = claim_lines(part.name, judged.assays, judged.ranked, judged.members)
    made = {"unified-cifar-10-jpeg": table(rows, further), "unified-cifar-10-jpeg-findings": findings(claims)}
    for name, one in made.items():
        print("\n".join([*one.markdown(), ""]))
        if told.store:
            store(name, one, source, code=code)
    print(part.sentence("cpu"))


if __name__ == "__main__":
    main()
