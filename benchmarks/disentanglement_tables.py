"""Tables of the disentanglement paper's protocol: Wine under every convention, digits and MNIST-10k.

Run: python -m benchmarks.disentanglement_tables wine [--runs 20] [--method NAME …] [--resume FOLDER] [--store]
     python -m benchmarks.disentanglement_tables digits mnist-10k [--resume FOLDER] [--store]

Trainings are those of `uqassay reproduce disentanglement --preset paper --runs 20 --convention each` (Wine) and `--preset cpu`
(the others). --store keeps the tables for the guide; see benchmarks/docs_numbers.py.
"""

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

from benchmarks.stored_tables import Source, Table, store
from uqassay.arrays import Floats
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.disentangling.plan import CONVENTIONS, METHODS, asked_of, planned
from uqassay.lab.papers.disentangling.printed import IDEALS
from uqassay.lab.papers.disentangling.run import studies_of, training_cells
from uqassay.lab.papers.disentangling.tables import TableRow, printed_number
from uqassay.lab.papers.reproduction import further_runs
from uqassay.lab.papers.trainings import train_cells
from uqassay.statistics import mean_estimate
from uqassay.text import interval, number

__all__ = ["choice_sentences", "judged_rows", "main", "wine_tables"]

GOLDEN = "benchmarks.disentanglement_tables:golden"
PRESET = {"wine": "paper", "digits": "cpu", "mnist-10k": "cpu"}
CHOICES = tuple(one for one in CONVENTIONS.values() if one.by_authors and one.name != "authors")
SHOWN = ("exact", "authors")
SHOWN_AT = 0.0005  # a smaller difference of errors is 0 to three decimals
OF_ERROR = tuple(one for one in CHOICES if one.experiments != ("left-out-class",))
R = ("size, aleatoric", "size, epistemic", "noise, aleatoric", "noise, epistemic")


def golden() -> object:
    """The least protocol there is."""
    return reproduce("disentanglement", preset="smoke").rows


def judged_rows(
    dataset: str,
    *,
    runs: int | None,
    methods: Sequence[str] | None,
    decompositions: Sequence[str] | None,
    convention: str,
    folder: Path,
    train: bool = True,
) -> list[TableRow]:
    """The rows whose trainings are in a folder, by default after those that are missing were trained."""
    asked = asked_of(
        preset=PRESET[dataset], dataset=dataset, method=methods, decomposition=decompositions, convention=convention
    )
    rows, _ = planned(asked, runs, 0)
    trainings = list({training.key: training for row in rows for training in row.trainings}.values())
    if train:
        train_cells(training_cells(trainings), folder, workers=1, say=_say)
    studies = studies_of(trainings, folder)
    return [one for row in rows if (one := row.judged(studies)) is not None]


# ---- Wine --------------------------------------------------------------------------------------------------------------


def wine_tables(judged: Sequence[TableRow]) -> dict[str, Table]:
    """Errors and correlations under both conventions, and what each choice of the authors' code changes."""
    by_place = {(one.label, one.convention): one for one in judged if one.error is not None}
    labels = [label for label in dict.fromkeys(one.label for one in judged) if (label, "exact") in by_place]
    errors, correlations = [], []
    for label in labels:
        pair = [by_place.get((label, convention)) for convention in SHOWN]
        first = pair[0]
        assert first is not None
        row = [_words(label), number(printed_number("table2", first, "wine", "error"))]
        for one in pair:
            row += ["", ""] if one is None else [_error(one), interval(*further_runs(_per_run(one), 5), decimals=3)]
        errors.append([*row, number(_recombined(first))])
        for name, one in zip(("text", "code"), pair, strict=True):
            if one is not None:
                correlations.append([f"{_words(label)}, {name}", *_correlations(one, pooled=True)])
        printed = (number(printed_number(key[0], first, "wine", key[1])) for key in IDEALS)
        correlations.append([f"{_words(label)}, printed", *printed])
    columns = ("", "printed", "text (95 %)", "five further runs", "authors' code (95 %)", "five further runs")
    return {
        "disentanglement-wine-authors": Table((*columns, "from Tables 3 and 4"), errors),
        "disentanglement-wine-authors-correlations": Table(("", *R), correlations),
        "disentanglement-wine-conventions": Table(
            (
                "choice",
                "combination",
                "error",
                "with it",
                "difference (95 %)",
                *(f"{R[i]}: difference" for i in (0, 3)),
            ),
            list(_differences(by_place)),
            choice_sentences(by_place),
        ),
    }


def _differences(by_place: dict[tuple[str, str], TableRow]) -> Iterator[list[str]]:
    for choice in (*OF_ERROR, CONVENTIONS["authors"]):
        for (label, convention), one in by_place.items():
            exact = by_place.get((label, "exact"))
            if convention != choice.name or exact is None:
                continue
            assert one.error is not None
            assert exact.error is not None
            found = mean_estimate(_per_run(one) - _per_run(exact))
            moved = []
            for i in (0, 3):
                r = mean_estimate(one.error.terms[i].per_run - exact.error.terms[i].per_run)
                moved.append(f"{_signed(float(r), 2)} ({interval(r.low, r.high, decimals=2)})")
            yield [
                choice.name, _words(label), number(float(exact.error.error)), number(float(one.error.error)),
                f"{_signed(float(found))} ({interval(found.low, found.high, decimals=3)})", *moved,
            ]  # fmt: skip


def choice_sentences(by_place: dict[tuple[str, str], TableRow]) -> list[str]:
    """One sentence for each choice of the authors' code: where the error of paired runs moves, and how far."""
    lines = []
    for choice in CHOICES:
        if choice.experiments == ("left-out-class",):
            lines.append(f"* **{choice.name}**: {choice.sentence}. It concerns Table 5 alone, not the error.")
            continue
        moved, still, widest = [], [], 0.0
        for (label, convention), one in by_place.items():
            exact = by_place.get((label, "exact"))
            if convention != choice.name or exact is None:
                continue
            found = mean_estimate(_per_run(one) - _per_run(exact))
            if (found.low > 0 or found.high < 0) and abs(float(found)) >= SHOWN_AT:
                moved.append(
                    f"{_words(label)} by {_signed(float(found))} ({interval(found.low, found.high, decimals=3)})"
                )
            else:
                still.append(_words(label))
                widest = max(widest, abs(found.low), abs(found.high))
        if not moved and not still:
            continue
        parts = [f"the error moves for {'; '.join(moved)}"] if moved else []
        if still:
            parts.append(f"no difference is shown for {', '.join(still)} (at most {number(widest)})")
        words = "; ".join(parts)
        lines.append(f"* **{choice.name}**: {choice.sentence}. {words[:1].upper()}{words[1:]}.")
    return lines


# ---- digits and MNIST-10k ----------------------------------------------------------------------------------------------


def small_table(judged: Sequence[TableRow]) -> Table:
    """Errors, correlations of the runs and ROC-AUC of the classes left out."""
    rows = []
    for one in judged:
        found = [one.values["table5", part].value for part in ("aleatoric", "epistemic")]
        rows.append([_words(one.row_label), _error(one), *_correlations(one), *(number(value) for value in found)])
    return Table(("", "error", *R, "AUC aleatoric", "AUC epistemic"), rows)


# ---- cells -------------------------------------------------------------------------------------------------------------


def _say(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


def _per_run(one: TableRow) -> Floats:
    assert one.error is not None
    return one.error.per_run


def _words(label: str) -> str:
    return label.replace(" – ", ", ").replace("Deep Ensembles", "deep ensembles").replace("Random", "random")


def _error(one: TableRow) -> str:
    assert one.error is not None
    e = one.error.error
    return f"{number(float(e))} ({interval(e.low, e.high, decimals=3)})"


def _correlations(one: TableRow, *, pooled: bool = False) -> list[str]:
    cells = [one.values[key] for key in IDEALS]
    return [number(cell.pooled if pooled else cell.value, 2) for cell in cells]


def _recombined(one: TableRow) -> float:
    """The error that the printed correlations of Tables 3 and 4 give."""
    parts = [abs(printed_number(key[0], one, "wine", key[1]) - ideal) for key, ideal in IDEALS.items()]
    return math.fsum(parts) / len(parts)


def _signed(value: float, decimals: int = 3) -> str:
    shown = number(value, decimals)
    return f"+{shown}" if value > 0 and shown.strip("0.") else shown.replace("−0.000", "0.000")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.disentanglement_tables", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("dataset", nargs="+", choices=list(PRESET))
    parser.add_argument("--runs", type=int)
    parser.add_argument("--method", nargs="+", choices=list(METHODS))
    parser.add_argument("--decomposition", nargs="+")
    parser.add_argument("--resume", type=Path, help="folder that keeps what is trained")
    parser.add_argument("--stored", action="store_true", help="train nothing: rows whose trainings the folder has")
    parser.add_argument("--store", action="store_true", help="keep the tables for the guide")
    told = parser.parse_args(arguments)
    for dataset in told.dataset:
        runs = told.runs or (20 if dataset == "wine" else None)
        with tempfile.TemporaryDirectory() as kept:
            judged = judged_rows(
                dataset,
                runs=runs,
                methods=told.method,
                decompositions=told.decomposition,
                convention="each" if dataset == "wine" else "exact",
                folder=told.resume or Path(kept),
                train=not told.stored,
            )
        tables = wine_tables(judged) if dataset == "wine" else {f"disentanglement-{dataset}": small_table(judged)}
        for name, table in tables.items():
            print("\n".join([f"{name}:", *table.markdown(), ""]), flush=True)
            if told.store:
                own = [f" --runs {told.runs}"] if told.runs else []
                own += [f" --decomposition {' '.join(told.decomposition)}"] if told.decomposition else []
                command = f"python -m benchmarks.disentanglement_tables {dataset}{''.join(own)} --store"
                cost = "two hours of a core" if dataset == "wine" else "minutes"
                store(name, table, Source(command, GOLDEN, cost))
    return 0


if __name__ == "__main__":
    sys.exit(main())
