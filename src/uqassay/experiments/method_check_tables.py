"""The tables of the check of the methods: accuracy beside the plain network, with the reason where one lags, and signatures."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay.bench.store import StoredResult
from uqassay.experiments.method_signatures import Results, Signature
from uqassay.experiments.ranking.scorings import text_table
from uqassay.experiments.reproduction import PrintedCell
from uqassay.losses import is_correct
from uqassay.predictions import Members, Point
from uqassay.statistics import Estimate, mean_estimate, paired_mean_test

__all__ = ["LAG", "PLAIN", "AccuracyRow", "accuracy_cells", "accuracy_lines", "accuracy_rows", "left_out_cells",
           "signature_cells", "signature_lines"]  # fmt: skip

PLAIN = "snn"
LAG = 0.02  # in accuracy; a method that is further behind the plain network needs a reason
NAN = float("nan")


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
        Accuracy minus that of the plain network, paired by test instances; None for the plain network, or without it.
    seconds : float
        Median time of one training, of one core.
    reason : str
        Why it is more than `LAG` behind, from what was measured; empty where it is not.
    """

    method: str
    accuracy: Estimate
    ahead: Estimate | None
    seconds: float
    reason: str

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
        What was done more of, and the results, for methods that lagged.

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
            "",
        )
        if plain is not None and row.lags:
            more = longer.get(method)
            after = None if more is None else (more[0], paired_mean_test(_correct(more[1]), plain).difference)
            row = AccuracyRow(method, row.accuracy, ahead, row.seconds, _reason(runs, found[PLAIN], after))
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
            cells.append(_cell(f"{place}/ahead", row.ahead, row.reason))
        cells.append(_cell(f"{place}/seconds", row.seconds))
    return cells


def accuracy_lines(dataset: str, rows: Sequence[AccuracyRow], found: Results) -> list[str]:
    """The rows as text, with the reasons below."""
    facts = [run.metadata["facts"] for runs in found.values() for run in runs]
    first, cores = facts[0], sorted({fact["cores"] for fact in facts})
    machine = f"{' or '.join(map(str, cores))} core{'s' * (cores != [1])}"
    runs = max(map(len, found.values()))
    body = [
        (
            row.method,
            f"{100 * row.accuracy:.2f}",
            _percent(row.accuracy),
            "–" if row.ahead is None else f"{100 * row.ahead:+.2f}",
            "–" if row.ahead is None else _percent(row.ahead, sign="+"),
            f"{row.seconds:.1f}",
        )
        for row in rows
    ]
    lagging = [row for row in rows if row.reason]
    beside = [
        f"  {len(rows) - len(lagging)} of {len(rows)} within {100 * LAG:g} points of {PLAIN}, or ahead"
        + ("; the others, and what was found by looking:" if lagging else "")
    ]
    return [
        f"Accuracy in percent, {dataset}: {first['n_train']:,} instances train, {first['n_test']:,} judge, {runs} "
        f"training{'s' * (runs > 1)} of each; points ahead of {PLAIN}, seconds of a core that a training takes (machine with "
        f"{machine}):",
        *text_table(("method", "accuracy", "95 %", "ahead", "95 %", "seconds"), body),
        *(beside if PLAIN in found else []),
        *(f"    {row.method}: {row.reason}" for row in lagging),
    ]


def signature_cells(dataset: str, signatures: Sequence[Signature]) -> list[PrintedCell]:
    """Their figures as ``signature/<data set>/<promise>/<figure>``, verdict and rule in the notes.

    Parameters
    ----------
    dataset : str
    signatures : sequence of Signature

    Returns
    -------
    list of PrintedCell
    """
    return [
        _cell(f"signature/{dataset}/{one.name}/{figure}", value, f"{one.verdict}; {one.rule}")
        for one in signatures
        for figure, value in one.figures.items()
    ]


def left_out_cells(notes: Sequence[str]) -> list[PrintedCell]:
    """The notes that say what was left out and why, as ``left-out/<data set or training>``: JSON has the cells alone.

    Examples
    --------
    >>> [(cell.name, cell.note) for cell in left_out_cells(["mnist-10k is left out: no network", "one more note"])]
    [('left-out/mnist-10k', 'mnist-10k is left out: no network')]
    """
    found = [re.match("(.+?)(?: failed and)? is left out: ", note) for note in notes]
    return [_cell(f"left-out/{match[1]}", NAN, match.string) for match in found if match]


def signature_lines(by_dataset: Mapping[str, Sequence[Signature]]) -> list[str]:
    """Each promise with its rule, and below it a line for each data set: the verdict and what was measured."""
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


def _reason(runs: Sequence[StoredResult], plain: Sequence[StoredResult], longer: tuple[str, Estimate] | None) -> str:
    """What the measurements say of a method that lags: its accuracy in training, that of its members, and with more effort."""
    own, other = (
        100 * float(np.mean([run.metadata["facts"]["train_accuracy"] for run in each])) for each in (runs, plain)
    )
    fit = f"{own:.1f} % of the training instances right, {PLAIN} {other:.1f} %"
    fits = other - own <= 100 * LAG
    parts = [f"it fits as well ({fit}) and generalises less" if fits else f"it learns less ({fit})"]
    if longer is not None:
        what, ahead = longer
        within = f"it is within {100 * LAG:g} points" if float(ahead) >= -LAG else "it is still behind"
        parts.append(f"with {what} {within} ({100 * ahead:+.2f} {_percent(ahead, sign='+')})")
    members = [run.prediction for run in runs if isinstance(run.prediction, Members)]
    if members:
        alone = [
            is_correct(run.labels, Point(run.prediction.probs[:, m])).mean()
            for run in runs
            if isinstance(run.prediction, Members)
            for m in range(run.prediction.n_members)
        ]
        parts.append(f"its {members[0].n_members} members alone reach {100 * float(np.mean(alone)):.1f} %")
    return "; ".join(parts)


def _cell(name: str, value: float, note: str = "") -> PrintedCell:
    low, high = (value.low, value.high) if isinstance(value, Estimate) else (NAN, NAN)
    return PrintedCell.within(name, NAN, float(value), low, high, note=note)


def _percent(estimate: Estimate, sign: str = "") -> str:
    return f"[{100 * estimate.low:{sign}.2f}, {100 * estimate.high:{sign}.2f}]"
