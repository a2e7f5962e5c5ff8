"""Table 1 of paper 001 on given ensembles: calibration tests of the ensembles and of their members.

The tests and the weights use a random half of the instances; accuracy and errors of the average and of the weighted average are
those of the other half.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.credal_hypothesis import credal_calibration_test
from uqassay.errors import InputError
from uqassay.experiments.credal_calibration.ensembles import LabelledEnsemble, prediction_files, read_ensembles
from uqassay.experiments.credal_calibration.tables import SOURCE
from uqassay.experiments.reproduction import PrintedCell, Reproduction, printed_table
from uqassay.metrics.calibration.measures import calibration_measure
from uqassay.wording import ABSENT, number, pvalue, text_table

__all__ = ["Table1Row", "judge_together", "reproduce_table1", "table1_of", "table1_steps"]

Floats = NDArray[np.float64]
Progress = Callable[[str], None]

MEASURES = {"conf": "ece-confidence", "classwise": "ece-classwise"}
ALPHA = 0.05
LISTED = 4  # members; larger ensembles have one line with counts
NAN = float("nan")

CONTEXT = "the printed rows are of other networks or other data: they are context, and nothing is compared"
BESIDE = (
    "printed values stand beside ours where data set and architecture are the paper's; whether they agree is left open, since "
    "the paper prints no intervals and leaves open what the notes name"
)
NOTES = (
    "ECE has 10 bins of equal width, as the paper says for its simulations; the authors' code has 5 for Table 1",
    "verdicts come from the minimised null; the random one is the paper's. For a single classifier both are the test of "
    "Vaicenavicius et al., with different random draws",
)
AS_THEY_ARE = (
    "instances are not resampled: drawing them with replacement, as line 2 of Algorithm 1 is printed (--resample), invalidates "
    "measures with sparse bins"
)
RESAMPLED = "instances are drawn with replacement under the random null, as line 2 of Algorithm 1 is printed"


@final
@dataclass(frozen=True, eq=False)
class Weighted:
    """P-values of a measure; accuracy and error of the combination with the least value of the measure."""

    pvalues: dict[str, float]
    accuracy: float
    error: float


@final
@dataclass(frozen=True, eq=False)
class Table1Row:
    """A row of the table.

    Attributes
    ----------
    ensemble, row : str
        Names of the ensemble and of the row: "all members" or one of them.
    convention : str
    n_members : int
    accuracy : float
        Of the average, like `errors` on the other half of the instances.
    errors : dict of str to float
        "conf" and "classwise" ECE of the average.
    weighted : dict of str to Weighted
        By the same keys.
    """

    ensemble: str
    row: str
    convention: str
    n_members: int
    accuracy: float
    errors: dict[str, float]
    weighted: dict[str, Weighted]


def reproduce_table1(
    data: str | os.PathLike[str] | None,
    conventions: Sequence[str] = ("exact",),
    *,
    n_draws: int = 100,
    seed: int = 0,
    resample: bool = False,
    progress: Progress | None = None,
) -> Reproduction:
    """Judge the ensembles of a folder, and each of their members alone.

    Parameters
    ----------
    data : path
        Folder as `read_ensembles` takes it.
    conventions : sequence of {"exact", "paper-code"}
    n_draws : int
        D.
    seed : int
        Seed of the halves and the draws.
    resample : bool
        Draw instances with replacement under the random null.
    progress : callable, optional

    Returns
    -------
    Reproduction
        ``table1/<file>/<row>/<convention>/<column>``, columns as in Table 1 with the p-values of both nulls.
    """
    ensembles, left_out = read_ensembles(data)
    say = progress or (lambda step: None)
    judged = []
    for ensemble in ensembles:
        say(f"testing {ensemble.name}")
        for name in conventions:
            judged += _judge(ensemble, name, n_draws=n_draws, seed=seed, resample=resample)
    return table1_of(judged, left_out, resample=resample)


def table1_of(
    judged: Sequence[Table1Row],
    notes: Sequence[str] = (),
    printed: Mapping[str, tuple[str, str]] | None = None,
    *,
    resample: bool = False,
) -> Reproduction:
    """The rows as cells and text, with the printed table below.

    Parameters
    ----------
    judged : sequence of Table1Row
    notes : sequence of str
        In addition to those of every such table.
    printed : dict of str to (str, str), optional
        Data set and architecture in the printed table, by the name of the ensemble.
    resample : bool
        Whether instances were drawn with replacement.

    Returns
    -------
    Reproduction
    """
    printed = printed or {}
    cells = tuple(cell for row in judged for cell in _cells(row, _printed_row(row, printed.get(row.ensemble))))
    reading = [*_table(judged), "", *_context()]
    about = BESIDE if printed else CONTEXT
    return Reproduction(
        "credal-calibration",
        SOURCE,
        cells,
        (about, *NOTES, RESAMPLED if resample else AS_THEY_ARE, *notes),
        tuple(reading),
    )


def table1_steps(data: str | os.PathLike[str] | None) -> int:
    """Approximate number of calls of ``progress``."""
    return len(prediction_files(data))


# ---- one ensemble ----------------------------------------------------------------------------------------------------


def judge_together(
    ensemble: LabelledEnsemble,
    row: str,
    convention: str,
    *,
    n_draws: int,
    seed: int,
    place: int,
    part: int | None = None,
    resample: bool = False,
) -> Table1Row:
    """A row of the table: test one half of the instances, evaluate average and weighted averages on the other.

    Parameters
    ----------
    ensemble : LabelledEnsemble
        All its members form the predictor.
    row : str
        Name of the row in the table.
    convention : {"exact", "paper-code"}
    n_draws : int
        D.
    seed : int
        Seed of the halves, which are the same for all predictors of a data set, and of the draws.
    place : int
        Number of the row, so that each row has its own draws.
    part : int, optional
        Instances that are tested, and as many others that are held out; None takes half of all.
    resample : bool
        Draw instances with replacement under the random null; the authors' code never does.

    Returns
    -------
    Table1Row

    Raises
    ------
    InputError
        Fewer than two instances.

    Examples
    --------
    >>> sure = LabelledEnsemble("toy", np.tile([0.99, 0.01], (60, 1, 1)), np.arange(60) % 2, ("sure",))
    >>> judge_together(sure, "sure", "exact", n_draws=19, seed=0, place=0).weighted["conf"].pvalues
    {'random': 0.05, 'minimised': 0.05}
    """
    n, n_members = ensemble.members.shape[:2]
    if n < 2:
        raise InputError(
            "data",
            "must have two instances or more, for two halves",
            f"{ensemble.name} has {n}",
            "give more of them",
            code="empty",
        )
    order = np.random.default_rng([seed, 0]).permutation(n)
    end = n if part is None else 2 * part
    tested, held_out = np.sort(order[: end // 2]), np.sort(order[end // 2 : end])
    average = ensemble.members[held_out].mean(axis=1)
    accuracy, errors = _on_held_out(average, ensemble.labels[held_out])
    weighted = {}
    for i, (key, measure) in enumerate(MEASURES.items()):
        pvalues, weights = {}, np.ones(1)
        for j, null in enumerate(("random", "minimised") if convention == "exact" else ("random",)):
            found = credal_calibration_test(
                ensemble.labels[tested],
                ensemble.members[tested],
                measure=measure,
                null=null,  # type: ignore[arg-type]
                n_draws=n_draws,
                resample=resample and null == "random" and convention == "exact",
                convention=convention,  # type: ignore[arg-type]
                rng=np.random.default_rng([seed, 1, place, i, j]),
            )
            pvalues[null], weights = found.pvalue, found.weights
        mixed = np.einsum("m,nmk->nk", weights, ensemble.members[held_out])
        accuracy_mixed, errors_mixed = _on_held_out(mixed, ensemble.labels[held_out])
        weighted[key] = Weighted(pvalues, accuracy_mixed, errors_mixed[key])
    return Table1Row(ensemble.name, row, convention, n_members, accuracy, errors, weighted)


def _judge(ensemble: LabelledEnsemble, convention: str, *, n_draws: int, seed: int, resample: bool) -> list[Table1Row]:
    """Every member alone, then all of them."""
    names, n_members = ensemble.member_names, ensemble.members.shape[1]
    chosen = [(names[m], [m]) for m in range(n_members) if n_members > 1]
    chosen.append(("all members" if n_members > 1 else names[0], list(range(n_members))))
    return [
        judge_together(
            replace(ensemble, members=ensemble.members[:, columns]),
            row,
            convention,
            n_draws=n_draws,
            seed=seed,
            place=place,
            resample=resample,
        )
        for place, (row, columns) in enumerate(chosen)
    ]


def _on_held_out(probs: Floats, labels: NDArray[np.intp]) -> tuple[float, dict[str, float]]:
    """Accuracy and both calibration errors."""
    errors = {key: float(calibration_measure(name).prepare(probs).values(labels)) for key, name in MEASURES.items()}
    return float((probs.argmax(axis=1) == labels).mean()), errors


# ---- rows and text ---------------------------------------------------------------------------------------------------


def _printed_row(row: Table1Row, place: tuple[str, str] | None) -> dict[str, float]:
    """The printed numbers of a row by column; none for other data or networks."""
    if place is None:
        return {}
    wanted = (*place, row.row)
    for one in printed_table("credal_calibration_table1"):
        if (one["dataset"], one["architecture"], one["predictor"]) == wanted:
            return {name: float(text) for name, text in one.items() if name.startswith(("avg_", "weighted_"))}
    return {}


def _cells(row: Table1Row, printed: Mapping[str, float]) -> list[PrintedCell]:
    values = {"avg_accuracy": row.accuracy} | {f"avg_ece_{key}": value for key, value in row.errors.items()}
    for key, weighted in row.weighted.items():
        values |= {f"p_{key}_{null}": p for null, p in weighted.pvalues.items()}
        values[f"weighted_{key}_accuracy"] = weighted.accuracy
        values[f"weighted_{key}_ece_{key}"] = weighted.error
    place = f"table1/{row.ensemble}/{row.row}/{row.convention}"
    return [
        PrintedCell.within(f"{place}/{column}", printed.get(column, NAN), value, NAN, NAN)
        for column, value in values.items()
    ]


def _table(judged: Sequence[Table1Row]) -> list[str]:
    header: list[str] = ["predictor", "accuracy", "ECE", "classw."]
    for name in ("conf.", "classw."):
        header += [f"{name} p rand.", "p min.", "verdict", "weighted acc.", "weighted ECE"]
    lines = [f"Verdicts at α = {ALPHA:g}; accuracy and errors on the other half of the instances:"]
    body: list[Sequence[str]] = []
    for name, convention in dict.fromkeys((row.ensemble, row.convention) for row in judged):
        rows = [row for row in judged if (row.ensemble, row.convention) == (name, convention)]
        suffix = ", authors' code" if convention == "paper-code" else ""
        if len(rows) > LISTED + 1:
            body.append(_counted(f"{name}: {len(rows) - 1} members alone{suffix}", rows[:-1]))
            rows = rows[-1:]
        body += [(f"{name}: {row.row}{suffix}", *_shown(row)) for row in rows]
    return [*lines, *text_table(header, body)]


def _shown(row: Table1Row) -> list[str]:
    cells = [number(value, 4) for value in (row.accuracy, row.errors["conf"], row.errors["classwise"])]
    for weighted in row.weighted.values():
        p = weighted.pvalues
        cells += [pvalue(p["random"]), pvalue(p["minimised"]) if "minimised" in p else ABSENT]
        cells += ["reject" if _rejects(weighted) else "keep", number(weighted.accuracy, 4), number(weighted.error, 4)]
    return cells


def _counted(name: str, rows: Sequence[Table1Row]) -> list[str]:
    """Means over the members of a large ensemble, and how many are rejected."""
    cells = [name, number(float(np.mean([row.accuracy for row in rows])), 4)]
    cells += [number(float(np.mean([row.errors[key] for row in rows])), 4) for key in MEASURES]
    for key in MEASURES:
        rejected = sum(_rejects(row.weighted[key]) for row in rows)
        cells += [ABSENT, ABSENT, f"reject {rejected} of {len(rows)}", ABSENT, ABSENT]
    return cells


def _rejects(weighted: Weighted) -> bool:
    return weighted.pvalues.get("minimised", weighted.pvalues["random"]) <= ALPHA


def _context() -> list[str]:
    rows: list[dict[str, Any]] = printed_table("credal_calibration_table1")
    body = []
    for row in rows:
        name = f"{row['dataset']}, {row['architecture']}, {row['predictor']}".replace(", -,", ",")
        cells = [row["avg_accuracy"], row["avg_ece_conf"], row["avg_ece_classwise"]]
        for key in MEASURES:
            verdict = "reject" if row[f"reject_{key}"] == "True" else "keep"
            cells += [verdict, row[f"weighted_{key}_accuracy"], row[f"weighted_{key}_ece_{key}"]]
        body.append((name, *cells))
    header = ["printed (context)", "accuracy", "ECE", "classw."]
    for name in ("conf.", "classw."):
        header += [name, "weighted acc.", "weighted ECE"]
    words = "Table 1 as printed, other networks and data (S: single, DN: dropout network, DE: deep ensemble of ten):"
    return [words, *text_table(header, body)]
