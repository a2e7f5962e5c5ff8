"""Delay curve: what is gained if the most uncertain share of the cases waits for the model with more data."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.estimate_intervals import finite_values
from uqassay.metrics.gains import GainLoss, gain, losses_of_both
from uqassay.notes import Note
from uqassay.predictions import PredictionLike
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.linearised import Linearised, linearised_estimate
from uqassay.statistics.matched_proportions import matched_difference_interval
from uqassay.statistics.remarks import interval_notes
from uqassay.statistics.samples import Floats, Units, as_floats, check_level, is_number, make_units, spread_of_mean
from uqassay.wording import counted

__all__ = ["DelayCurve", "delay_curve", "delay_curve_of_gains"]

SHARES = np.arange(21) / 20
WINDOW = 0.05  # greatest half width, in shares, of the window for the mean gain near the threshold
FEW = 20
ROUNDING = 1e-12  # relative; shares closer than this count as equal


@final
@dataclass(frozen=True, eq=False)
class DelayCurve:
    """Gain from letting the most uncertain share of the cases wait.

    Attributes
    ----------
    gains, epistemic : array (n,)
        Gain and estimate of each case.
    shares : array (S,)
        Shares that wait, from 0 to 1.
    groups : int array (n,), optional
        Number of the group of each case.
    level : float
    correct_before, correct_after : array (n,), optional
        1 where the model without or with more data predicts the label, for `accuracy`.
    gained, low, high : array (S,)
        Decrease of the mean loss over all cases, and its confidence interval at each share (pointwise).
    random : array (S,)
        Expected decrease if the cases that wait are chosen at random: share times mean gain.
    accuracy : array (S,)
        Accuracy over all cases; nan where the predictions are not known.
    notes : tuple of Note
    """

    gains: Floats
    epistemic: Floats
    shares: Floats
    groups: NDArray[Any] | None = None
    level: float = 0.95
    correct_before: Floats | None = None
    correct_after: Floats | None = None
    gained: Floats = field(init=False)
    low: Floats = field(init=False)
    high: Floats = field(init=False)

    def __post_init__(self) -> None:
        for name, values in zip(("gained", "low", "high"), self._waiting.gained(self.shares, self.level), strict=True):
            object.__setattr__(self, name, values)

    @property
    def random(self) -> Floats:
        """Expected decrease of the mean loss if the cases that wait are chosen at random, (S,)."""
        return np.asarray(self.shares * self.gains.mean())

    @property
    def accuracy(self) -> Floats:
        """Accuracy over all cases at each share, (S,)."""
        if self.correct_before is None or self.correct_after is None:
            return np.full(self.shares.shape, np.nan)
        change = self.correct_after - self.correct_before
        waiting = [float((self._waiting.at(share)[0] * change).mean()) for share in self.shares.tolist()]
        return np.asarray(self.correct_before.mean() + np.array(waiting))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on few gains, equal estimates and groups."""
        return self._waiting.notes

    def at(self, share: float) -> Estimate:
        """Decrease of the mean loss over all cases if this share waits.

        Raises
        ------
        InputError
            A share outside [0, 1].
        """
        check_share(share)
        value, low, high = (float(part[0]) for part in self._waiting.gained(np.array([float(share)]), self.level))
        return Estimate(
            value,
            low=low,
            high=high,
            level=self.level,
            n=self.gains.size,
            method=self._waiting.method,
            notes=self.notes,
        )

    def above_random(self, share: float) -> Estimate:
        """Decrease of the mean loss minus that of a random choice of as many cases, on the same cases.

        Raises
        ------
        InputError
            A share outside [0, 1].
        """
        check_share(share)
        return self._waiting.above_random(float(share), self.level)

    @cached_property
    def _waiting(self) -> "_Waiting":
        return _Waiting(self.gains, self.epistemic, make_units(self.gains.size, self.groups, None))


@in_one_order("before", "y_true", "after", "epistemic", "groups")
def delay_curve(
    y_true: ArrayLike,
    before: PredictionLike,
    after: PredictionLike,
    epistemic: ArrayLike,
    *,
    shares: ArrayLike | None = None,
    loss: GainLoss = "zero-one",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> DelayCurve:
    """Decrease of the mean loss when the most uncertain share of the cases waits for the model with more data.

    Parameters
    ----------
    y_true, before, after, loss
        As in `gain`.
    epistemic : array (n,)
        Estimates of the epistemic uncertainty of `before`; only their order counts.
    shares : array (S,), optional
        Shares that wait, in [0, 1]. The default is 0, .05, …, 1.
    groups : array of labels (n,), optional
        Instances of one group may depend on each other; groups are independent.
    level : float

    Returns
    -------
    DelayCurve

    Raises
    ------
    InputError
        Values that are nan or infinite, lengths that differ, or a share outside [0, 1].

    Notes
    -----
    The cases that wait get the answer of `after`, the others keep that of `before`. Of cases tied at the threshold each one
    waits with the same probability, and the curve is the expectation, so it does not depend on the order of rows.

    With the share ω_i of case i that waits and the mean gain γ of the cases near the threshold, the influence of case i on the
    gain at share x is g_i ω_i + γ (x − ω_i) minus their mean; the second term accounts for the estimated threshold. If all
    gains are −1, 0 or 1, the interval is Tango's for a difference of two matched proportions, with the number of independent
    cases that has the variance of the influences, and `above_random` combines those of the cases that wait and of the others
    by Newcombe's method; otherwise both are Student's t. Intervals hold at each share by itself, not for the whole curve.
    Measured coverage: docs/measured-coverage.md, section "Epistemic gain".

    References
    ----------
    Paper 002, sections 2 and 4.1 (delayed predictions). Tango (1998) and Newcombe (1998), Stat. Med. 17.

    Examples
    --------
    >>> curve = delay_curve([1, 1, 0, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0.4, 0.1, 0.2, 0.3], shares=[0, 0.25, 0.5, 1])
    >>> curve.gained.tolist(), curve.random.tolist(), curve.accuracy.tolist()
    ([0.0, 0.25, 0.5, 0.5], [0.0, 0.125, 0.25, 0.5], [0.5, 0.75, 1.0, 1.0])
    """
    gains = gain(y_true, before, after, loss=loss)
    wrong = losses_of_both(y_true, before, after, "zero-one")
    return delay_curve_of_gains(
        gains,
        epistemic,
        shares=shares,
        groups=groups,
        level=level,
        correct_before=1 - wrong[0],
        correct_after=1 - wrong[1],
    )


@in_one_order("gains", "epistemic", "groups", "correct_before", "correct_after")
def delay_curve_of_gains(
    gains: ArrayLike,
    epistemic: ArrayLike,
    *,
    shares: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    correct_before: ArrayLike | None = None,
    correct_after: ArrayLike | None = None,
) -> DelayCurve:
    """`delay_curve` from the gains themselves.

    Parameters
    ----------
    gains : array (n,)
        Gains of `metrics.gain`.
    epistemic, shares, groups, level
        As in `delay_curve`.
    correct_before, correct_after : array (n,), optional
        1 or True where the model predicts the label; both are needed for `DelayCurve.accuracy`.

    Returns
    -------
    DelayCurve

    Raises
    ------
    InputError
        As in `delay_curve`.

    Examples
    --------
    >>> delay_curve_of_gains([1, 0, 0, 0], [0.9, 0.5, 0.5, 0.1], shares=[0.25, 0.5]).gained.tolist()
    [0.25, 0.25]
    """
    check_level(level)
    g = finite_values(gains, "gains")
    e = finite_values(epistemic, "epistemic", g.size, "gains")
    x = SHARES.copy() if shares is None else as_floats(shares, "shares", ndim=(1,), shape="(S,)")
    for share in x.tolist():
        check_share(share, "shares")
    hits = [
        None if given is None else finite_values(given, name, g.size, "gains")
        for name, given in (("correct_before", correct_before), ("correct_after", correct_after))
    ]
    codes = make_units(g.size, groups, None).codes
    return DelayCurve(g, e, x, codes, float(level), *hits)


def check_share(share: float, name: str = "share") -> None:
    """Refuse a share outside [0, 1]."""
    if not (is_number(share) and 0.0 <= share <= 1.0):
        raise InputError(
            name, "must lie in [0, 1]", f"got {share}", "pass 0.1 to let the most uncertain tenth wait", code="range"
        )


# -- parts ------------------------------------------------------------------------------------------------------------


class _Waiting:
    """Cases from the most to the least uncertain, in blocks of equal estimates."""

    def __init__(self, gains: Floats, epistemic: Floats, units: Units) -> None:
        self.gains, self.units, self.n = gains, units, gains.size
        # block 0 has the greatest estimate
        self.block, count = np.unique(-epistemic, return_inverse=True, return_counts=True)[1:]
        self.ends = np.cumsum(count) / self.n  # share that waits if whole blocks up to this one do
        sums = np.bincount(self.block, gains)
        self.sums = np.concatenate([[0.0], np.cumsum(sums)]) / self.n
        self.whole = bool(np.isin(gains, (-1.0, 0.0, 1.0)).all())

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        notes = interval_notes(self.units)
        if len(self.ends) == 1 and self.n > 1:
            notes.append(Note("constant-scores", "all estimates are equal: the cases that wait are a random choice"))
        changed = int((self.gains != 0).sum())
        if changed < FEW:
            text = f"{counted(changed, 'gain') if changed else 'no gain'} other than 0: rough intervals"
            notes.append(Note("few" if changed else "none", text, {"count": changed}))
        return tuple(notes)

    def at(self, share: float) -> tuple[Floats, float]:
        """Probability that each case waits, (n,), and the mean gain of the cases near the threshold."""
        k = int(np.searchsorted(self.ends, share * (1 - ROUNDING)))
        start = float(self.ends[k - 1]) if k else 0.0
        inside = min(max((share - start) / float(self.ends[k] - start), 0.0), 1.0)
        waits = np.where(self.block < k, 1.0, np.where(self.block == k, inside, 0.0))
        half = min(WINDOW, 0.5 * len(self.ends) ** (-1 / 3))
        low, high = max(share - half, 0.0), min(share + half, 1.0)
        level = np.interp([low, high], np.concatenate([[0.0], self.ends]), self.sums)
        return waits, float(level[1] - level[0]) / (high - low)

    @property
    def method(self) -> str:
        return "tango" if self.whole else "linearised, student-t"

    def gained(self, shares: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Gain at each share, (S,), and the ends of its interval."""
        parts = [self._part(*self.at(share)) for share in shares.tolist()]
        low, high = self._intervals(parts, level)
        return (
            np.array([part.value for part in parts]),
            np.where(shares == 0, 0.0, low),
            np.where(shares == 0, 0.0, high),
        )

    def above_random(self, share: float, level: float) -> Estimate:
        """(1 − x) times the gain of the cases that wait minus x times that of the others."""
        waits, near = self.at(share)
        first, second = self._part(waits, near), self._part(1 - waits, near)
        value = (1 - share) * first.value - share * second.value
        if not self.whole:
            return self._student(value, (1 - share) * first.influence - share * second.influence, level)
        (low_a, low_b), (high_a, high_b) = self._intervals([first, second], level)
        u, v = (self.units.sums(part.influence[:, np.newaxis])[:, 0] for part in (first, second))
        size = float(np.sqrt((u @ u) * (v @ v)))
        correlation = float(u @ v) / size if size > 0 else 0.0

        def reach(a: float, b: float) -> float:  # Newcombe's method for a difference
            a, b = (1 - share) * a, share * b
            return float(np.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0)))

        low = value - reach(first.value - low_a, high_b - second.value)
        high = value + reach(high_a - first.value, second.value - low_b)
        if share in (0.0, 1.0):  # no choice
            low = high = value = 0.0
        return Estimate(value, low=low, high=high, level=level, n=self.n, method="tango and newcombe", notes=self.notes)

    def _part(self, waits: Floats, near: float) -> "_Part":
        """Contribution of a part of the cases to the mean gain; `waits` is the probability of each case to be in it."""
        products = self.gains * waits
        value = float(products.mean())
        plus, minus = (float(waits[sign * self.gains > 0].sum()) for sign in (1, -1))
        # the second term, for the estimated threshold, has the mean 0
        return _Part(value, plus, minus, products - value + near * (waits.mean() - waits))

    def _intervals(self, parts: Sequence["_Part"], level: float) -> tuple[Floats, Floats]:
        """Ends of the interval of each part."""
        if self.units.n_units == 1:
            return np.full(len(parts), np.nan), np.full(len(parts), np.nan)
        if not self.whole:
            found = [self._student(part.value, part.influence, level) for part in parts]
            return np.array([one.low for one in found]), np.array([one.high for one in found])
        value, plus, minus = (np.array([getattr(part, name) for part in parts]) for name in ("value", "plus", "minus"))
        n = np.array([self._independent(part, level) for part in parts])
        low, high = matched_difference_interval(plus * n / self.n, minus * n / self.n, n, level=level)
        return np.minimum(low, value), np.maximum(high, value)

    def _independent(self, part: "_Part", level: float) -> float:
        """Number of independent cases whose gains of −1, 0 and 1 would have the variance of the influences."""
        plain = (part.plus + part.minus) / self.n - part.value**2  # variance of one case
        spread = spread_of_mean(part.influence, self.units)
        known = plain > 0 and spread.standard_error > 0
        n = min(plain / spread.standard_error**2, float(self.n)) if known else float(self.units.n_units)
        # fewer cases stand for the wider quantile of Student's t with few groups
        return n * float(special.ndtri(0.5 + level / 2) / special.stdtrit(spread.dof, 0.5 + level / 2)) ** 2

    def _student(self, value: float, influence: Floats, level: float) -> Estimate:
        centred = influence - influence.mean()
        found = linearised_estimate(
            Linearised(value, centred, uneven=True),
            groups=self.units.codes,
            level=level,
            method="linearised, student-t",
        )
        return Estimate(
            value, low=found.low, high=found.high, level=level, n=self.n, method=found.method, notes=self.notes
        )


@dataclass(frozen=True, eq=False)
class _Part:
    """Mean over all cases of the gain in a part of them, the numbers of +1 and −1 in it, and the influences (n,)."""

    value: float
    plus: float
    minus: float
    influence: Floats
