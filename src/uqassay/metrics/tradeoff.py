"""The choice of λ: the winner on each interval of λ, exact breakpoints of the ranking, the scale and the range of λ."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from uqassay.arrays import Floats, as_numeric
from uqassay.checks import fail, number, same_length
from uqassay.ids import in_one_order

__all__ = ["TradeoffRange", "WinningInterval", "lower_envelope", "ranking_changes", "tradeoff_range", "tradeoff_scale"]

ROUNDING = 1e-12  # relative; values of E that differ by less count as equal


class WinningInterval(NamedTuple):
    """The models with the lowest E for every λ from `low` to `high`; several if they tie on the whole interval."""

    low: float
    high: float
    models: tuple[int, ...]


class TradeoffRange(NamedTuple):
    """A range of λ and its reason in words."""

    low: float
    high: float
    reason: str


@in_one_order("distance", "nonspecificity")
def lower_envelope(distance: ArrayLike, nonspecificity: ArrayLike) -> tuple[WinningInterval, ...]:
    """Intervals of λ ≥ 0 with the winners on them: the lower envelope of the lines E_j(λ) = d_j + λ · NS_j.

    Parameters
    ----------
    distance, nonspecificity : array (J,)
        Mean distance and mean non-specificity of J models. A model with an infinite distance never wins.

    Returns
    -------
    tuple of WinningInterval
        Consecutive intervals from 0 to infinity. A line that leads only by a rounding error (1e-12 of E) has no interval,
        such as the middle one of three lines that cross in one point.

    Examples
    --------
    >>> [(round(w.low, 4), w.models) for w in lower_envelope([0.031, 0.195, 0.398], [0.385, 0.0, 0.009])]
    [(0.0, (0,)), (0.426, (1,))]
    """
    d, ns = _lines(distance, nonspecificity)
    if not np.isfinite(d).any():
        fail("distance", "needs at least one model with a finite mean", "got none", "pass floor > 0", code="finite")
    intervals = []
    at = 0.0
    current = np.flatnonzero(d == d.min())
    current = current[ns[current] == ns[current].min()]
    while True:
        # only a line with a smaller slope can cross below the current one; the first crossing wins
        flatter = np.flatnonzero((ns < ns[current[0]]) & np.isfinite(d))
        if flatter.size == 0:
            intervals.append(WinningInterval(at, np.inf, tuple(current.tolist())))
            return tuple(intervals)
        crossing = (d[flatter] - d[current[0]]) / (ns[current[0]] - ns[flatter])
        first = crossing.min()
        candidates = flatter[crossing == first]
        candidates = candidates[ns[candidates] == ns[candidates].min()]
        # lead of the current line over the next one at the start of its interval; if it is a rounding error, the whole
        # interval is one
        values = d + at * ns
        if values[candidates[0]] - values.min() > ROUNDING * abs(values.min()):
            intervals.append(WinningInterval(at, float(first), tuple(current.tolist())))
            at = float(first)
        current = np.flatnonzero((d == d[candidates[0]]) & (ns == ns[candidates[0]]))


@in_one_order("distance", "nonspecificity")
def ranking_changes(distance: ArrayLike, nonspecificity: ArrayLike) -> tuple[tuple[float, int, int], ...]:
    """Every λ > 0 at which two models swap places, sorted: (λ, model that is better below λ, model that is better above).

    Examples
    --------
    >>> [(round(at, 3), a, b) for at, a, b in ranking_changes([0.031, 0.195], [0.385, 0.0])]
    [(0.426, 0, 1)]
    """
    d, ns = _lines(distance, nonspecificity)
    a, b = np.nonzero((d[:, None] < d[None, :]) & (ns[:, None] > ns[None, :]) & np.isfinite(d)[None, :])
    at = (d[b] - d[a]) / (ns[a] - ns[b])
    return tuple((float(at[i]), int(a[i]), int(b[i])) for i in np.lexsort((b, a, at)))


def tradeoff_scale(distances: Sequence[Floats], kl: Sequence[Floats]) -> float:
    """Scale of λ for a distance d other than KL: the ratio of observed maxima, max(d) / max(KL) (unified evaluation, App. F.1).

    Examples
    --------
    >>> import numpy as np
    >>> round(tradeoff_scale([np.array([0.1, 0.5])], [np.array([0.2, 20.0])]), 4)
    0.025
    """
    top = max(float(as_numeric(d, "distances").max()) for d in distances)
    reference = max(float(as_numeric(k, "kl").max()) for k in kl)
    if not (np.isfinite(top) and np.isfinite(reference) and reference > 0):
        fail(
            "distances",
            "scaling λ needs finite maxima and a KL above 0",
            f"got {top:g} and {reference:g}",
            "pass floor > 0",
            code="finite",
        )
    return top / reference


def tradeoff_range(abstention_allowed: bool, abstention_cost: float | None = None) -> TradeoffRange:
    """Range of λ from two answers: whether the model may abstain, and the cost of abstaining relative to a mistake.

    Parameters
    ----------
    abstention_allowed : bool
        True if undecided cases can be passed on to a person or a slower check.
    abstention_cost : float, optional
        Cost of passing on a case divided by the cost of a mistake, from 0 to 1. Required if abstention is allowed.

    Notes
    -----
    The vacuous prediction (the whole simplex) costs λ ln K, and the uniform point prediction costs ln K. So λ is the cost
    of abstaining relative to a blind guess. If that cost is known, λ is that cost within a factor of two. If abstention is
    not allowed, λ is at least 1. Unified evaluation, App. B, uses 0.1 in the first case and 2 in the second.

    Examples
    --------
    >>> tradeoff_range(True, 0.1)[:2], tradeoff_range(False)[:2]
    ((0.05, 0.2), (1.0, 2.0))
    """
    if not isinstance(abstention_allowed, bool | np.bool_):
        got = f"got {abstention_allowed!r}"
        fail("abstention_allowed", "must be True or False", got, "answer with one of them", code="type")
    if not abstention_allowed:
        return TradeoffRange(
            1.0,
            2.0,
            "A decision is due in every case, so an imprecise statement must cost at least as much as a blind guess: "
            "λ of 1 or more (App. B of the paper takes 2).",
        )
    remedy = (
        "give the cost of abstaining divided by that of a mistake: 0.1 if ten abstentions cost as much as one mistake"
    )
    cost = number(abstention_cost, "abstention_cost", remedy, low=0, high=1)
    return TradeoffRange(
        cost / 2,
        min(2 * cost, 1.0),
        f"Passing a case on costs {cost:g} of a mistake; λ is what saying nothing costs against a blind guess, so "
        f"λ near {cost:g}, taken within a factor of two.",
    )


def _lines(distance: ArrayLike, nonspecificity: ArrayLike) -> tuple[Floats, Floats]:
    d = as_numeric(distance, "distance", ndim=1).astype(np.float64)
    ns = as_numeric(nonspecificity, "nonspecificity", ndim=1).astype(np.float64)
    same_length(ns, "nonspecificity", len(d), "align them", of="model")
    if np.isnan(d).any() or not np.isfinite(ns).all():
        rule = "must not hold nan, nor nonspecificity inf"
        fail("distance, nonspecificity", rule, "", "drop such models first", code="finite")
    return d, ns
