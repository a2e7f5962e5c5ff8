"""Epistemic uncertainty must fall with more training data (Fellaji and Pennerath, 2024: "The epistemic uncertainty hole")."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.run_summaries import finite_array, mean_over_runs, sign_flip_pvalues
from uqassay.notes import Note
from uqassay.statistics import Estimate, holm
from uqassay.statistics.samples import check_level
from uqassay.wording import counted

__all__ = ["QUANTILES", "EpistemicTrend", "TrendStep", "check_shares", "epistemic_trend_test"]

Array = NDArray[np.float64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@final
@dataclass(frozen=True)
class TrendStep:
    """The step from one share of the training instances to the next larger one.

    Attributes
    ----------
    start, end : float
        The two shares.
    change : Estimate
        Mean over runs and instances of the estimate at `end` minus that at `start`, with a t interval over the runs.
    pvalue, pvalue_holm : float
        One-sided, that the mean rises: t test over the runs (2^−R if it rises equally in all), and adjusted by Holm over the
        steps. nan for one run.
    """

    start: float
    end: float
    change: Estimate
    pvalue: float
    pvalue_holm: float

    @property
    def rises(self) -> bool:
        """True if the mean of these runs is greater at the larger share: a hole, by the point estimate alone."""
        return float(self.change) > 0


@final
@dataclass(frozen=True, eq=False)
class EpistemicTrend:
    """Whether epistemic uncertainty falls with more training data: R runs, C shares, n instances.

    Attributes
    ----------
    shares : array (C,)
        Ascending.
    means : array (R, C)
        Mean estimate over the instances.
    quantiles : array (5, C)
        Estimates of the instances of all runs: `QUANTILES`, 5, 25, 50, 75 and 95 %.
    tau : array (R, n)
        Kendall's τ-a of the estimate with the share, from −1 (falls at every step) to 1. A pair of shares with equal
        estimates counts as neither, so a constant instance has τ = 0.
    change : array (R, n)
        Estimate at the largest share minus estimate at the smallest, in the unit of the estimate.
    mean_tau, mean_change : Estimate
        Means over runs and instances, with t intervals over the runs.
    rising : Estimate
        Share of the instances with τ > 0, mean over the runs.
    constant : float
        Share of the instances (of all runs) with the same estimate at all shares.
    pvalue_falls, pvalue_rises : float
        One-sided sign-flip tests over the runs of the mean τ: exact if the mean τ of a run is symmetric about 0. The least
        possible value is 2^−R.
    steps : tuple of C − 1 TrendStep
    notes : tuple of Note
    """

    shares: Array
    means: Array
    quantiles: Array
    tau: Array
    change: Array
    mean_tau: Estimate
    mean_change: Estimate
    rising: Estimate
    constant: float
    pvalue_falls: float
    pvalue_rises: float
    steps: tuple[TrendStep, ...]
    notes: tuple[Note, ...] = ()

    @property
    def holes(self) -> tuple[TrendStep, ...]:
        """Steps at which the mean rises."""
        return tuple(step for step in self.steps if step.rises)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each step between neighbouring shares."""
        return [
            {
                "start": step.start,
                "end": step.end,
                "change": float(step.change),
                "low": step.change.low,
                "high": step.change.high,
                "pvalue": step.pvalue,
                "pvalue_holm": step.pvalue_holm,
            }
            for step in self.steps
        ]


@in_one_order("epistemic", "shares", axes={"epistemic": 1})
def epistemic_trend_test(epistemic: ArrayLike, shares: ArrayLike, *, level: float = 0.95) -> EpistemicTrend:
    """Test over runs that epistemic uncertainty falls with the share of the training instances.

    Parameters
    ----------
    epistemic : array (R, C, n)
        Estimates of R runs at C shares for the same n test instances, greater for more uncertainty.
    shares : array (C,)
        Different shares of the training instances, in any order.
    level : float

    Returns
    -------
    EpistemicTrend

    Raises
    ------
    InputError
        Other shapes, values that are not finite, fewer than two shares, a share given twice.

    Notes
    -----
    Runs are the independent units: all instances of a run rest on one training per share. Intervals and tests are for other
    runs on the same test instances.

    The sign-flip test is exact if the order of the shares has no influence on the estimate, because reversing the order
    then flips the sign of τ and nothing else. Type-I error and power are in docs/measured-coverage.md.

    References
    ----------
    Fellaji, Pennerath (2024), The epistemic uncertainty hole: an issue of Bayesian neural networks, arXiv 2407.01985.
    Kendall (1938), A new measure of rank correlation (τ-a).

    Examples
    --------
    >>> falling = np.array([[[0.9, 0.7], [0.5, 0.6], [0.1, 0.2]]] * 5) * np.linspace(0.9, 1.1, 5)[:, None, None]
    >>> found = epistemic_trend_test(falling, [0.01, 0.1, 1.0])
    >>> float(found.mean_tau), float(found.rising), found.pvalue_falls
    (-1.0, 0.0, 0.03125)
    """
    check_level(level)
    values = finite_array(epistemic, "epistemic", "(R, C, n)")
    s = check_shares(shares, values.shape[1])
    order = np.argsort(s)
    s, values = s[order], values[:, order]
    r, c, n = values.shape
    if c < 2:
        raise InputError("shares", "must be at least two", "got 1", "a trend needs two shares", code="empty")
    means = values.mean(axis=2)
    tau = _kendall_tau(values)
    change = values[:, -1] - values[:, 0]
    per_run = tau.mean(axis=1)
    falls, rises = sign_flip_pvalues(per_run)
    constant = float((values == values[:, :1]).all(axis=1).mean())
    notes = [Note("runs", f"{counted(r, 'run')}, {counted(c, 'share')}, {counted(n, 'instance')}")]
    if constant:
        text = f"{counted(round(constant * r * n), 'estimate')} of {r * n} the same at all shares: neither falling nor rising"
        notes.append(Note("constant-scores" if constant == 1 else "assumption", text, {"constant": constant}))
    if r < 5:
        notes.append(Note("few", f"with {counted(r, 'run')} no p-value is below {2.0**-r:g}"))
    return EpistemicTrend(
        shares=s,
        means=means,
        quantiles=np.quantile(np.moveaxis(values, 1, 0).reshape(c, -1), QUANTILES, axis=1),
        tau=tau,
        change=change,
        mean_tau=mean_over_runs(per_run, level=level, bounds=(-1.0, 1.0)),
        mean_change=mean_over_runs(change.mean(axis=1), level=level),
        rising=mean_over_runs((tau > 0).mean(axis=1), level=level, bounds=(0.0, 1.0)),
        constant=constant,
        pvalue_falls=falls,
        pvalue_rises=rises,
        steps=_steps(s, means, level),
        notes=tuple(notes),
    )


def check_shares(shares: ArrayLike, n_conditions: int) -> Array:
    """Different finite shares, one for each of C conditions, as float64 ``(C,)``.

    Raises
    ------
    InputError
    """
    s = finite_array(shares, "shares", "(C)")
    if s.size != n_conditions:
        raise InputError(
            "shares",
            "must have one value for each condition",
            f"got {s.size} for {n_conditions}",
            "give them in the order of the second axis",
            code="mismatch",
        )
    if len(np.unique(s)) < s.size:
        raise InputError(
            "shares", "must be different", f"got {s.tolist()}", "average repeated shares", code="duplicate"
        )
    return s


def _kendall_tau(values: Array) -> Array:
    """τ-a of each instance with the index of the share, (R, C, n) -> (R, n): ties count as neither."""
    c = values.shape[1]
    balance = np.zeros((values.shape[0], values.shape[2]), dtype=np.int64)
    for later in range(1, c):
        balance += np.sign(values[:, later, None] - values[:, :later]).sum(axis=1).astype(np.int64)
    return balance / (c * (c - 1) / 2)


def _steps(shares: Array, means: Array, level: float) -> tuple[TrendStep, ...]:
    changes = np.diff(means, axis=1)  # (R, C − 1)
    pvalues = [_rise_pvalue(change) for change in changes.T]
    adjusted = holm(pvalues) if len(means) > 1 else pvalues
    return tuple(
        TrendStep(float(start), float(end), mean_over_runs(change, level=level), p, float(p_holm))
        for (start, end), change, p, p_holm in zip(pairwise(shares), changes.T, pvalues, adjusted, strict=True)
    )


def _rise_pvalue(change: Array) -> float:
    """One-sided t test over the runs that the mean is above 0."""
    if change.size < 2:
        return float("nan")
    error = float(change.std(ddof=1)) / change.size**0.5
    mean = float(change.mean())
    if error <= 1e-14 * abs(mean):  # equal changes: the t test has no spread, so the sign flips decide
        return 1.0 if mean <= 0 else 0.5**change.size
    return float(special.stdtr(change.size - 1, -mean / error))
