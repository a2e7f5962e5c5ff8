"""Tables of the check: accuracy beside the plain network, reasons for lags, and the promises of the papers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from benchmarks.method_check.signatures import Results, Signature
from uqassay.lab.bench.store import StoredResult
from uqassay.lab.papers.paper_tables import PrintedCell
from uqassay.losses import is_correct
from uqassay.predictions import Members, Point
from uqassay.statistics import Estimate, mean_estimate, paired_mean_test
from uqassay.text import ABSENT, count, counted, interval, listed, number, percent, text_table

__all__ = ["LAG", "PLAIN", "AccuracyRow", "accuracy_cells", "accuracy_lines", "accuracy_rows", "left_out_cells",
           "signature_cells", "signature_lines"]  # fmt: skip

PLAIN = "snn"
LAG = 0.02  # of accuracy behind the plain network; a method that is further behind is examined for the reason
NAN = float("nan")
CLAUSE = ", "


@final
@dataclass(frozen=True)
class AccuracyRow:
    """One method on one data set.

    Attributes
    ----------
    method : str
    accuracy : Estimate
        Mean over test instances and trainings.
    ahead : Estimate or None
        Accuracy minus the plain network's, paired by test instance; None for the plain network, or if it was not trained.
    seconds : float
        Median time of one training on one core.
    reasons : tuple of str
        Measurements that explain a lag of more than `LAG`; empty without a lag.
    """

    method: str
    accuracy: Estimate
    ahead: Estimate | None
    seconds: float
    reasons: tuple[str, ...]

    @property
    def lags(self) -> bool:
        """Whether it is more than `LAG` behind the plain network."""
        return self.ahead is not None and float(self.ahead) < -LAG


def accuracy_rows(found: Results, longer: Mapping[str, tuple[str, Sequence[StoredResult]]]) -> list[AccuracyRow]:
    """Every method on one data set.

    Parameters
    ----------
    found : dict of str to list of StoredResult
        By method, one for each training.
    longer : dict of str to (str, list of StoredResult)
        Epochs or members in words, and the results with more of them, for methods that lag.

    Returns
    -------
    list of AccuracyRow
    """
    plain = _correct(found[PLAIN]) if PLAIN in found else None
    rows = []
    for method, runs in found.items():
        correct = _correct(runs)
        ahead = None if plain is None or method == PLAIN else paired_mean_test(correct, plain).difference
        row = AccuracyRow(
            method,
            mean_estimate(correct),
            ahead,
            float(np.median([run.metadata["facts"]["fit_seconds"] for run in runs])),
            (),
        )
        if plain is not None and row.lags:
            more = longer.get(method)
            after = None if more is None else (more[0], paired_mean_test(_correct(more[1]), plain).difference)
            row = AccuracyRow(method, row.accuracy, ahead, row.seconds, _reasons(runs, found[PLAIN], after))
        rows.append(row)
    return rows


def accuracy_cells(dataset: str, rows: Sequence[AccuracyRow]) -> list[PrintedCell]:
    """The rows as ``accuracy/<data set>/<method>/…``; no paper prints values for these data.

    Parameters
    ----------
    dataset : str
    rows : sequence of AccuracyRow

    Returns
    -------
    list of PrintedCell
    """
    cells = []
    for row in rows:
        place = f"accuracy/{dataset}/{row.method}"
        cells.append(_cell(f"{place}/mean", row.accuracy))
        if row.ahead is not None:
            cells.append(_cell(f"{place}/ahead", row.ahead, CLAUSE.join(row.reasons)))
        cells.append(_cell(f"{place}/seconds", row.seconds))
    return cells


def accuracy_lines(dataset: str, rows: Sequence[AccuracyRow], found: Results) -> list[str]:
    """The rows as text, with the reasons below."""
    facts = [run.metadata["facts"] for runs in found.values() for run in runs]
    first, cores = facts[0], sorted({fact["cores"] for fact in facts})
    machine = f"{listed([str(n) for n in cores], last='or')} {'core' if cores == [1] else 'cores'}"
    runs = max(map(len, found.values()))
    body = [
        (
            row.method,
            _points(row.accuracy),
            _interval(row.accuracy),
            ABSENT if row.ahead is None else _points(row.ahead, signed=True),
            ABSENT if row.ahead is None else _interval(row.ahead),
            number(row.seconds, 1),
        )
        for row in rows
    ]
    lagging = [row for row in rows if row.reasons]
    within = f"  {len(rows) - len(lagging)} of {len(rows)} within {100 * LAG:g} points of {PLAIN}, or ahead"
    lines = [
        f"Accuracy in percent, {dataset}: {count(first['n_train'])} training and {count(first['n_test'])} test instances, "
        f"{counted(runs, 'training')} of each; points ahead of {PLAIN}; seconds of a core for a training (machine with "
        f"{machine}):",
        *text_table(("method", "accuracy", "95 %", "ahead", "95 %", "seconds"), body),
    ]
    if PLAIN in found:
        lines.append(f"{within}; reasons for the others:" if lagging else within)
    return [*lines, *(f"    {row.method}: {CLAUSE.join(row.reasons)}" for row in lagging)]


def signature_cells(dataset: str, signatures: Sequence[Signature]) -> list[PrintedCell]:
    """The figures as ``signature/<data set>/<promise>/<figure>``, with verdict and rule in the notes.

    Parameters
    ----------
    dataset : str
    signatures : sequence of Signature

    Returns
    -------
    list of PrintedCell
    """
    return [
        _cell(f"signature/{dataset}/{one.name}/{figure}", value, f"{one.verdict} ({one.rule})")
        for one in signatures
        for figure, value in one.figures.items()
    ]


def left_out_cells(reasons: Mapping[str, str]) -> list[PrintedCell]:
    """Data sets and trainings that were left out, as ``left-out/<name>`` with the reason in the note."""
    return [_cell(f"left-out/{name}", NAN, reason) for name, reason in reasons.items()]


def signature_lines(by_dataset: Mapping[str, Sequence[Signature]]) -> list[str]:
    """Each promise with its rule, then one line for each data set: verdict and measurements."""
    if not any(by_dataset.values()):
        return []
    lines = ["What the papers promise of the methods (intervals are 95 %):"]
    names = dict.fromkeys(one.name for signatures in by_dataset.values() for one in signatures)
    counts: dict[str, int] = {}
    for name in names:
        there = [(dataset, one) for dataset, each in by_dataset.items() for one in each if one.name == name]
        lines.append(f"  {name}; rule: {there[0][1].rule}")
        width = max(len(dataset) for dataset, _ in there)
        for dataset, one in there:
            counts[one.verdict] = counts.get(one.verdict, 0) + 1
            lines.append(f"    {dataset.ljust(width)}  {one.verdict.ljust(8)}  {one.measured}")
    return [*lines, "  " + ", ".join(f"{verdict}: {count}" for verdict, count in sorted(counts.items()))]


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _correct(runs: Sequence[StoredResult]) -> NDArray[np.float64]:
    return np.array([is_correct(run.labels, run.prediction) for run in runs])


def _reasons(
    runs: Sequence[StoredResult], plain: Sequence[StoredResult], longer: tuple[str, Estimate] | None
) -> tuple[str, ...]:
    """What is known of a method that lags: accuracy on the training instances, of its members, and with more effort."""
    own, other = (float(np.mean([run.metadata["facts"]["train_accuracy"] for run in each])) for each in (runs, plain))
    fit = f"{percent(own)} of the training instances right, {PLAIN} {percent(other)}"
    fits = other - own <= LAG
    parts = [f"it fits as well ({fit}) and generalises less" if fits else f"it learns less ({fit})"]
    if longer is not None:
        what, ahead = longer
        within = f"it is within {100 * LAG:g} points" if float(ahead) >= -LAG else "it is still behind"
        parts.append(f"with {what} {within} ({_points(ahead, signed=True)}, {_interval(ahead)})")
    members = [run for run in runs if isinstance(run.prediction, Members)]
    if members:
        alone = [
            is_correct(run.labels, Point(run.prediction.probs[:, m])).mean()
            for run in members
            if isinstance(run.prediction, Members)
            for m in range(run.prediction.n_members)
        ]
        parts.append(f"its {len(alone) // len(members)} members alone reach {percent(float(np.mean(alone)))}")
    return tuple(parts)


def _cell(name: str, value: float, note: str = "") -> PrintedCell:
    low, high = (value.low, value.high) if isinstance(value, Estimate) else (NAN, NAN)
    return PrintedCell.within(name, NAN, float(value), low, high, note=note)


def _points(value: float, *, signed: bool = False) -> str:
    """A share, or a difference of shares, in percentage points."""
    text = number(100 * float(value), 2)
    return f"+{text}" if signed and value >= 0 else text


def _interval(estimate: Estimate) -> str:
    return interval(100 * estimate.low, 100 * estimate.high, 2)
