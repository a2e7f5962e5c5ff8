"""Statements of paper 002 computed from the runs: each says what its interval shows, or that it is not shown."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from uqassay.experiments.gain.tables import LEVEL, GainRow
from uqassay.metrics.run_summaries import mean_over_runs
from uqassay.statistics import Estimate
from uqassay.wording import estimate_text, interval, level_text, listed, number

__all__ = ["finding_lines", "mismatch_lines"]

Array = NDArray[np.float64]
Moved = Mapping[tuple[str, str], Array]

FACTOR = (5.0, 30.0)  # EECE of the entropy over that of the mutual information
SMALL = 0.02  # section 5.3.1: calibrated, both differ from the gain by less than 0.02
WORDS = {"mutual-information": "mutual information", "entropy": "entropy"}
BOTH = ("mutual-information", "entropy")


def finding_lines(row: GainRow) -> list[str]:
    """What holds for one method on one data set: factor, size after the calibration, sign and order of the correlations.

    Parameters
    ----------
    row : GainRow
        With at least two runs; there is nothing to say about one.
    """
    if row.study.n_runs < 2:
        return []
    both = set(row.estimators) == set(BOTH)
    lines = [_factor(row)] if both else []
    lines += [*_sizes(row), _signs(row)]
    lines += [_order(row)] if both else []
    return [f"  {line}" for line in lines]


def mismatch_lines(row: GainRow, reference: GainRow) -> list[str]:
    """What a mismatch of evaluation and calibration changes, in the same runs.

    Parameters
    ----------
    row, reference : GainRow
        With and without the mismatch, of the same method, spread and seeds.
    """
    if row.study.seeds != reference.study.seeds or row.study.n_runs < 2:
        return []
    lines: list[str] = []
    moved: dict[tuple[str, str], Array] = {}
    for estimator in (name for name in BOTH if name in row.estimators):
        texts = []
        for column, what in (("correlation", "ρ"), ("calibrated", "calibrated EECE")):
            before, after = (one.values[estimator, column] for one in (reference, row))
            moved[estimator, column] = after.per_run - before.per_run
            texts.append(_moved_text(what, float(before.estimate), float(after.estimate), moved[estimator, column]))
        lines.append(f"  {WORDS[estimator]}: {'; '.join(texts)}")
    if all((name, "correlation") in moved for name in BOTH):
        lines += [
            _relative(moved, "correlation", "ρ", -1.0),
            _relative(moved, "calibrated", "the calibrated EECE", 1.0),
        ]
    return lines


# ---- sentences ---------------------------------------------------------------------------------------------------------


def _factor(row: GainRow) -> str:
    ratio = _mean(np.log(row.values["entropy", "eece"].per_run / row.values["mutual-information", "eece"].per_run))
    value, low, high = (math.exp(v) for v in (float(ratio), ratio.low, ratio.high))
    shown = estimate_text(value, low, high, level=LEVEL, decimals=1)
    text = f"EECE of the entropy over that of the mutual information: {shown}"
    least, most = FACTOR
    if low >= least and high <= most:
        return f"{text}, which is between {number(least, 0)} and {number(most, 0)}."
    if high < least or low > most:
        return f"{text}, which is not between {number(least, 0)} and {number(most, 0)}."
    return f"{text}; between {number(least, 0)} and {number(most, 0)} is not shown."


def _sizes(row: GainRow) -> list[str]:
    """The calibrated errors against the printed bound, against each other, and against those of calibrated estimates."""
    found = {
        name: row.values[name, "calibrated"].estimate for name in row.estimators if (name, "calibrated") in row.values
    }
    if not found:
        return []
    texts = [f"{estimate_text(float(e), e.low, e.high)} for the {WORDS[name]}" for name, e in found.items()]
    if all(e.high <= SMALL for e in found.values()):
        verdict = f"at most {number(SMALL, 2)}"
    elif any(e.low > SMALL for e in found.values()):
        over = [WORDS[name] for name, e in found.items() if e.low > SMALL]
        verdict = f"above {number(SMALL, 2)} for the {listed(over)}"
    else:
        verdict = f"at most {number(SMALL, 2)} is not shown"
    nulls = [np.mean([run.calibrated.null_mean for run in row.results[name].runs if run.calibrated]) for name in found]
    lines = [
        f"EECE after the calibration ({level_text(LEVEL)}): {listed(texts)}: {verdict}. Perfectly calibrated estimates would "
        f"have {listed([number(float(null)) for null in nulls])} with as many test instances."
    ]
    if len(found) == len(BOTH):
        entropy, mutual = (row.values[name, "calibrated"].per_run for name in ("entropy", "mutual-information"))
        lines.append(
            f"Calibrated EECE of the entropy minus that of the mutual information: {_difference(entropy - mutual)}."
        )
    return lines


def _signs(row: GainRow) -> str:
    texts, positive = [], []
    for name in row.estimators:
        e = row.values[name, "correlation"].estimate
        texts.append(f"{estimate_text(float(e), e.low, e.high)} for the {WORDS[name]}")
        if e.low > 0:
            positive.append(WORDS[name])
    shown = f"positive for the {listed(positive)}" if positive else "not shown to be positive"
    if all(math.isnan(row.values[name, "correlation"].estimate) for name in row.estimators):
        return "Epistemic correlation: undefined in some run, whose test instances all have a gain of 0."
    return f"Epistemic correlation ({level_text(LEVEL)}): {listed(texts)}: {shown}."


def _order(row: GainRow) -> str:
    entropy, mutual = (row.values[name, "correlation"].per_run for name in ("entropy", "mutual-information"))
    change = _mean(entropy - mutual)
    if change.low > 0:
        verdict = "that of the entropy is greater, as in the paper"
    elif change.high < 0:
        verdict = "that of the entropy is smaller, unlike in the paper"
    else:
        verdict = "the runs do not show which is greater"
    return (
        f"Correlation of the entropy minus that of the mutual information: {_difference(entropy - mutual)}; {verdict}."
    )


def _relative(moved: Moved, column: str, what: str, sign: float) -> str:
    """Whether the entropy loses more than the mutual information; `sign` × change is a loss."""
    loss = sign * (moved["entropy", column] - moved["mutual-information", column])
    if not loss.any():
        return f"  loss in {what}: none."
    change = _mean(loss)
    if change.low > 0:
        verdict = "the entropy loses more"
    elif change.high < 0:
        verdict = "the mutual information loses more"
    else:
        verdict = "neither is shown to lose more"
    return f"  loss in {what}, entropy minus mutual information: {_difference(loss)}; {verdict}."


# ---- helpers -----------------------------------------------------------------------------------------------------------


def _mean(per_run: Array) -> Estimate:
    return mean_over_runs(per_run, level=LEVEL)


def _difference(per_run: Array) -> str:
    found = _mean(per_run)
    return estimate_text(float(found), found.low, found.high, level=LEVEL)


def _moved_text(what: str, before: float, after: float, per_run: Array) -> str:
    """A number before and after with the interval of its change, and whether a change is shown."""
    if not per_run.any():
        return f"{what} unchanged, {number(before)}"
    change = _mean(per_run)
    text = (
        f"{what} {number(before)} → {number(after)}, by {number(float(change))} ({interval(change.low, change.high)})"
    )
    return text if change.low > 0 or change.high < 0 else f"{text}, no change is shown"
