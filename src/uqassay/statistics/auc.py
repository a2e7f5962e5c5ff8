"""The area under the ROC curve, its variance by DeLong, with ties, weights and groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail, one_of
from uqassay.ids import in_one_order
from uqassay.native import kernel
from uqassay.notes import Note
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.linearised import Linearised, linearised_estimate, scaled_interval, spread_of_samples, undefined
from uqassay.statistics.units import (
    Spread,
    as_floats,
    as_values,
    ascending_order,
    check_level,
    make_units,
    scaled_weights,
)

__all__ = [
    "PlacementSums",
    "auc_estimate",
    "auc_influence",
    "auc_linearised",
    "delong_covariance",
    "placement_sums",
    "tied_share",
]


# Sums of the placements of two samples, from sorting: all that the area under the ROC curve and its variance need.
#
# The placement of a value is the number of values of the other sample below it (ties ½) or above it.

MOST_COUNTED = 2**31  # values that the kernel can count


@final
@dataclass(frozen=True, slots=True)
class PlacementSums:
    """Two samples, called the first and the second, by the sums of their placements."""

    #: Of the first and the second sample.
    sizes: tuple[int, int]
    #: Over the first sample, Σ b and Σ b², where b is the number of values of the second sample below (ties ½).
    below: tuple[float, float]
    #: Over the second sample, Σ a and Σ a², where a is the number of values of the first sample above (ties ½).
    above: tuple[float, float]
    #: Probability that two members of the first, and of the second sample, tie; 0 for fewer than two.
    tied: tuple[float, float]
    #: True if all values are equal.
    constant: bool


def placement_sums(first: NDArray[np.bool_], values: NDArray[Any], name: str) -> PlacementSums:
    """Placements of values (n,), those of the first sample marked (n,). Raises InputError, with this name, for nan."""
    count = kernel("placement_sums")
    if count is not None and len(values) < MOST_COUNTED:
        dtype = np.float32 if values.dtype in (np.float16, np.float32) else np.float64
        found = count(np.ascontiguousarray(values, dtype), np.ascontiguousarray(first))
        if found is not None:
            return _of_integers(*found)
    s = as_floats(values, name, ndim=(1,), shape="(n,)")
    return _by_search(s[first], s[~first], constant=bool((s == s[0]).all()))


def tied_share(members: Floats, by_level: Floats) -> float:
    """Probability that two of these members (shares of an instance, (n,)) tie, from their number at each level, (L,)."""
    single = float(members @ members)
    pairs = float(members.sum()) ** 2 - single
    return min(max((float(by_level @ by_level) - single) / pairs, 0.0), 1.0) if pairs > 1e-12 * single else 0.0


def _of_integers(
    sizes: tuple[int, int], sums: tuple[int, int], squares: tuple[int, int], ties: tuple[int, int], levels: int
) -> PlacementSums:
    """From exact sums of twice the number of values of the other sample below."""
    m1, m0 = sizes
    # the number above is m1 minus that below, so Σ (m1 − b)² = m1² m0 − 2 m1 Σ b + Σ b²
    above = (2 * m1 * m0 - sums[1]) / 2, (4 * m1 * m1 * m0 - 4 * m1 * sums[1] + squares[1]) / 4
    shares = [(t - m) / (m * m - m) if m > 1 else 0.0 for m, t in zip(sizes, ties, strict=True)]
    return PlacementSums(sizes, (sums[0] / 2, squares[0] / 4), above, (shares[0], shares[1]), levels == 1)


def _tied_share(ordered: Floats) -> float:
    """`tied_share` of whole members with these sorted values."""
    ends = np.flatnonzero(ordered[1:] != ordered[:-1])
    counts = np.diff(ends, prepend=-1, append=ordered.size - 1).astype(np.float64)
    return tied_share(np.ones(ordered.size), counts)


def _by_search(x: Floats, y: Floats, *, constant: bool) -> PlacementSums:
    """Sorts x and y in place.

    Only the values of the smaller sample are looked up in the larger one. The number of smaller-sample values below the
    j-th value of the larger sample is a step function of j, which rises by ½ at each end of these look-ups. Its sums
    therefore follow from the step heights and lengths, without a pass over the larger sample.
    """
    m1, m0 = len(x), len(y)
    x.sort()
    y.sort()
    tied = _tied_share(x), _tied_share(y)
    if not (m1 and m0):
        return PlacementSums((m1, m0), (0.0, 0.0), (0.0, 0.0), tied, constant)
    small, large = (x, y) if m1 <= m0 else (y, x)
    left = np.searchsorted(large, small, side="left")
    right = left.copy()
    same = np.flatnonzero(large[np.minimum(left, len(large) - 1)] == small)
    right[same] = np.searchsorted(large, small[same], side="right")
    of_small = (left + right) / 2.0  # values of the larger sample below each of the smaller one, ties ½
    places = np.sort(np.concatenate([left, right]))
    stay = np.diff(places, append=len(large)).astype(np.float64)
    of_large = np.arange(1, len(places) + 1) / 2.0  # height of each step: smaller-sample values below, ties ½
    sums = (float(of_small.sum()), float(of_small @ of_small)), (float(of_large @ stay), float(of_large**2 @ stay))
    below, above = sums if m1 <= m0 else sums[::-1]
    # the number above is m1 minus that below, so Σ (m1 − b)² = m1² m0 − 2 m1 Σ b + Σ b²
    above = (m1 * m0 - above[0], m1**2 * m0 - 2.0 * m1 * above[0] + above[1])
    return PlacementSums((m1, m0), below, above, tied, constant)


# The area under the ROC curve, with the variance of DeLong.
#
# The placement V(x) is the share of the second sample below x (ties ½), and V'(y) is the share of the first sample
# above y. The area is the mean of either, and its variance is Var V / m + Var V' / n (DeLong, DeLong and Clarke-Pearson
# 1988). Placements come from sorting, in O(n log n) and exact with ties.

IMAGINARY = 0.3  # imaginary instances added to each sample for the interval; they tie with all instances
METHODS = ("adjusted", "delong")
ROUNDING = 1e-12  # an interval this narrow counts as one of no width
FEW = 20  # a smaller sample gets a note
OUTSIDE = 5  # so does one of which fewer members lie outside a tie that holds most of them


@in_one_order("positive", "scores", "sample_weight", "groups")
def auc_estimate(
    positive: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "adjusted",
) -> Estimate:
    """Probability that a positive instance scores above a negative one (ties ½), with its interval.

    Parameters
    ----------
    positive : array_like, shape (n,)
        1 for a positive and 0 for a negative instance, or the probability of being positive. An instance with the share
        .3 counts as .3 of a positive and .7 of a negative instance with the same score.
    scores : array_like, shape (n,)
    sample_weight, groups
        As in `mean_estimate`.
    level : float
    method : {"adjusted", "delong"}
        Both use DeLong's variance, the logit scale and Student's t with Satterthwaite's degrees of freedom. "adjusted"
        adds 0.3 of an imaginary instance, which ties with all others, to each sample. This changes the interval but not
        the estimate, and keeps the coverage in small samples and under perfect separation.

    Returns
    -------
    estimate : Estimate
        nan with a note where one of the two samples is empty. A note gives the size of a sample of fewer than 20
        instances (groups).

    Notes
    -----
    With groups the placements are summed over each group (Obuchowski 1997), with the correction of `mean_estimate` for
    unequal groups.

    The adjusted interval covers the area in 93 to 100 of 100 samples, plain DeLong in as few as 79. If nearly all errors have
    one score, both cover less, because this score is all that the sample shows of errors (docs/evidence-ranking.md). Bootstrap
    intervals are too short in such samples, see `bootstrap_estimate`.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Comparing the areas under two or more correlated ROC curves, Biometrics 44.
    Sun, Xu (2014), Fast implementation of DeLong's algorithm, IEEE Signal Process. Lett. 21.
    Obuchowski (1997), Nonparametric analysis of clustered ROC curve data, Biometrics 53.
    Brunner, Munzel (2000), The nonparametric Behrens-Fisher problem, Biom. J. 42 (degrees of freedom).

    Examples
    --------
    >>> auc_estimate([0, 0, 1, 1, 0, 1], [0.1, 0.2, 0.3, 0.5, 0.3, 0.2]).__round__(4)
    0.7778
    """
    return named_auc(
        positive,
        scores,
        sample_weight=sample_weight,
        groups=groups,
        level=level,
        method=method,
        names=("positive", "negative"),
        arguments=("positive", "scores"),
    )


@in_one_order("positive", "scores", "sample_weight", "groups")
def auc_influence(
    positive: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    method: str = "adjusted",
) -> Linearised:
    """Area under the ROC curve and the influence of every instance, for paired tests and plans.

    Parameters
    ----------
    positive, scores, sample_weight, groups, method
        As in `auc_estimate`.

    Returns
    -------
    Linearised

    Examples
    --------
    >>> errors = [0, 0, 1, 1, 0, 1]
    >>> first, second = (auc_influence(errors, s) for s in ([0.1, 0.2, 0.3, 0.5, 0.3, 0.2], [0.1, 0.4, 0.3, 0.5, 0.2, 0.6]))
    >>> round(first.value, 3), round((first - second).value, 3)
    (0.778, -0.111)
    """
    one_of(method, "method", METHODS)
    e, s, w = checked(positive, scores, sample_weight)
    codes = None if groups is None else make_units(len(e), groups, None).codes
    return auc_linearised(e, s, w, codes, imaginary=IMAGINARY if method == "adjusted" else 0.0)


@in_one_order("positive", "scores", "groups")
def delong_covariance(
    positive: ArrayLike, scores: ArrayLike | Sequence[ArrayLike], *, groups: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Areas under the ROC curves of several scores on the same instances, and DeLong's covariance of the areas.

    Parameters
    ----------
    positive : array_like, shape (n,)
        1 for a positive, 0 for a negative instance.
    scores : array_like, shape (J, n), or (n,)
    groups : array_like of labels, shape (n,), optional

    Returns
    -------
    areas : array (J,)
    covariance : array (J, J)
        Unbiased within the two samples, as in the original paper.

    Examples
    --------
    >>> areas, covariance = delong_covariance([0, 0, 1, 1], [[1, 2, 3, 4], [1, 3, 2, 4]])
    >>> areas.tolist(), covariance.round(4).tolist()
    ([1.0, 0.75], [[0.0, 0.0], [0.0, 0.125]])
    """
    columns = np.atleast_2d(np.asarray(scores))
    found = []
    for column in columns:
        e, s, _ = checked(positive, column, None)
        if not np.isin(e, (0.0, 1.0)).all():
            row = int(np.flatnonzero((e != 0) & (e != 1))[0])
            fail("positive", "must be 0 or 1", f"row {row} is {e[row]:g}", "use auc_estimate for shares", code="range")
        found.append(auc_linearised(e, s, None))
    units = make_units(columns.shape[1], groups, None)
    total = np.zeros((len(found), units.n_units))
    for p, name in enumerate(("positive", "negative")):
        inside = (e == 1) if p == 0 else (e == 0)
        count = int(inside.sum()) if units.codes is None else len(np.unique(units.codes[inside]))
        if count < 2:
            rule = f"needs at least two {name} instances (groups) for a variance"
            fail("positive", rule, f"got {count}", "add instances", code="empty")
        parts = np.stack([f.parts[p] for f in found], axis=1)  # (n, J)
        total += np.sqrt(count / (count - 1)) * units.sums(parts).T / columns.shape[1]
    return np.array([f.value for f in found]), total @ total.T


def named_auc(
    positive: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    level: float,
    method: str,
    names: tuple[str, str],
    arguments: tuple[str, str],
) -> Estimate:
    """`auc_estimate` with these names of the two samples in notes and of the arguments in errors. For other rooms."""
    check_level(level)
    one_of(method, "method", METHODS)
    imaginary = IMAGINARY if method == "adjusted" else 0.0
    name = f"delong{', adjusted' * (method == 'adjusted')}, logit scale"
    mask: NDArray[np.bool_] | None
    if sample_weight is None and groups is None and _is_plain_mask(positive):
        mask = np.asarray(positive)
        values = _aligned(as_values(scores, arguments[1], ndim=(1,), shape="(n,)"), len(mask), arguments)
    else:
        e, s, w = checked(positive, scores, sample_weight, arguments)
        plain = w is None and groups is None and bool(((e == 0) | (e == 1)).all())
        mask, values = (e == 1 if plain else None), s
    sums = None if mask is None else placement_sums(mask, values, arguments[1])
    if sums is not None and len(values) > 1:
        m1, m0 = sums.sizes
        value, low, high = np.nan, np.nan, np.nan
        if m1 and m0:
            value, centre, spread = _from_sums(sums, imaginary)
            low, high = scaled_interval(centre, spread, level, "logit", min(m1, m0))
            low, high = min(low, value), max(high, value)
        estimate = Estimate(value, low=low, high=high, level=level, n=len(values), method=name)
        estimate = noted(estimate, [(float(m1), names[0]), (float(m0), names[1])], constant=sums.constant)
        for note in () if sums.constant else notes_of_ties(sums.sizes, sums.tied):
            estimate = estimate.with_note(note)
        return estimate
    if mask is not None:
        e, s, w = mask.astype(np.float64), values.astype(np.float64, copy=False), None
    codes = None if groups is None else make_units(len(e), groups, None).codes
    statistic = auc_linearised(e, s, w, codes, imaginary=imaginary)
    options = {"groups": groups, "sample_weight": w, "level": level, "scale": "logit", "method": name}
    estimate = linearised_estimate(statistic, **options)  # type: ignore[arg-type]
    constant = bool((s == s[0]).all()) if sums is None else sums.constant
    return noted(estimate, sample_counts(e, w, groups, names), constant=constant)


def _is_plain_mask(positive: ArrayLike) -> bool:
    return (
        isinstance(positive, np.ndarray)
        and positive.dtype == bool
        and positive.ndim == 1
        and not np.ma.is_masked(positive)
    )


def _from_sums(sums: PlacementSums, a: float) -> tuple[float, float, Spread]:
    """Probability that the first sample exceeds the second, the centre of its interval and its spread.

    `a` imaginary instances are added to each sample for the centre and the spread.
    """
    m1, m0 = sums.sizes
    value = min(max(sums.below[0] / m1 / m0, 0.0), 1.0)
    centre = (value * m1 * m0 + 0.5 * a * (m1 + m0) + 0.5 * a * a) / ((m1 + a) * (m0 + a))
    squares = []
    for (first, second), size, others in ((sums.below, m1, m0), (sums.above, m0, m1)):
        mean = 0.5 * a / (others + a) - centre  # Σ ((v + a/2) / (others + a) − centre)²
        total = second / (others + a) ** 2 + 2 * mean * first / (others + a) + size * mean**2
        squares.append((max(total, 0.0) + a * (0.5 - centre) ** 2) / (size + a) ** 2)
    return value, centre, spread_of_samples(squares, (m1 + a, m0 + a))


def auc_linearised(
    e: Floats, s: Floats, w: Floats | None, codes: NDArray[np.intp] | None = None, *, imaginary: float = 0.0
) -> Linearised:
    """Area and influences of checked arrays. An influence is that of one instance of weight 1.

    Parameters
    ----------
    e : array (n,)
        Share of a positive instance.
    s : array (n,)
        Scores.
    w : array (n,) or None
    codes : int array (n,), optional
        Group of each instance. An imaginary instance is then an imaginary group of average size.
    imaginary : float
        Number of imaginary instances (groups) added to each sample for the centre and the spread of the interval. They
        tie with all instances.
    """
    order = ascending_order(s)
    ordered = s[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(e) - 1)  # last position of each level
    return auc_of_order(e, order, ends, w, codes, imaginary=imaginary)


def auc_of_order(
    e: Floats,
    order: NDArray[np.intp],
    ends: NDArray[np.intp],
    w: Floats | None,
    codes: NDArray[np.intp] | None,
    *,
    imaginary: float,
) -> Linearised:
    """`auc_linearised` of instances in ascending order of their scores, with the last position of each level of them."""
    n = len(e)
    count, right = n, 1.0 - e
    positive = e[order]
    negative = 1.0 - positive
    if w is not None:
        count = int(np.count_nonzero(w))
        share = (count / float(w.sum()) * w)[order]  # weights that sum to the number of instances
        positive, negative = share * positive, share * negative
    above_or_at, below_or_at = np.cumsum(positive[::-1])[::-1], np.cumsum(negative)
    m1, m0 = float(above_or_at[0]), float(below_or_at[-1])  # sizes of the two samples
    if not (m1 > 0 and m0 > 0):
        return undefined(n)
    distinct = len(ends) == n
    starts = ends if distinct else np.append(0, ends[:-1] + 1)

    def of_rows(by_level: NDArray[Any]) -> NDArray[Any]:
        rows = np.empty(n, dtype=by_level.dtype)
        rows[order] = by_level if distinct else np.repeat(by_level, ends - starts + 1)
        return rows

    to_end = below_or_at if distinct else below_or_at[ends]
    from_start = above_or_at if distinct else above_or_at[starts]
    below, above = to_end.copy(), from_start.copy()  # placements of each level, whose ties count ½
    below[1:] += to_end[:-1]
    above[:-1] += from_start[1:]
    below *= 0.5
    above *= 0.5
    of_level = positive if distinct else np.add.reduceat(positive, starts)
    value = min(max(float((of_level * below).sum()) / (m1 * m0), 0.0), 1.0)
    a1, a0 = (imaginary * k for k in _unit_sizes(m1, m0, e, w, codes))
    centre = (value * m1 * m0 + 0.5 * (a0 * m1 + a1 * m0 + a1 * a0)) / ((m1 + a1) * (m0 + a0))
    # Linearised divides by Σ w of both samples, a placement's mean by its own sample only: multiply by the ratio
    first = e * of_rows(((below + 0.5 * a0) / (m0 + a0) - centre) * (count / (m1 + a1)))
    second = right * of_rows(((above + 0.5 * a1) / (m1 + a1) - centre) * (count / (m0 + a0)))
    shadows: tuple[float, ...] = ()
    if imaginary:
        shadows = tuple(a / imaginary * (0.5 - centre) / (m + a) for a, m in ((a1, m1), (a0, m0)))
    notes: list[Note] = []
    if not distinct and len(ends) > 1:
        both = ((one, np.add.reduceat(one, starts)) for one in (positive, negative))
        notes = notes_of_ties((m1, m0), [tied_share(*each) for each in both])
    return Linearised(
        value, first + second, (first, second), (e > 0, e < 1), centre, imaginary, shadows, notes=tuple(notes)
    )


def _unit_sizes(
    m1: float, m0: float, e: Floats, w: Floats | None, codes: NDArray[np.intp] | None
) -> tuple[float, float]:
    """Mean number of positive and of negative instances per group, over the groups that contain any."""
    if codes is None:
        return 1.0, 1.0
    shares = (e, 1.0 - e) if w is None else (w * e, w * (1.0 - e))
    holding = [np.count_nonzero(np.bincount(codes, weights=share)) for share in shares]
    return m1 / holding[0], m0 / holding[1]


def checked(
    positive: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None,
    arguments: tuple[str, str] = ("positive", "scores"),
) -> tuple[Floats, Floats, Floats | None]:
    """Check shares in [0, 1], scores without nan, and weights, all of one length. For use by metrics too."""
    e = as_floats(positive, arguments[0], ndim=(1,), shape="(n,)")
    s = _aligned(as_floats(scores, arguments[1], ndim=(1,), shape="(n,)"), len(e), arguments)
    outside = np.flatnonzero((e < 0) | (e > 1))
    if outside.size:
        got = f"row {outside[0]} is {e[outside[0]]:g}"
        fail(arguments[0], "must lie in [0, 1]", got, "give 1 or 0, or a share in between", code="range")
    return e, s, None if sample_weight is None else scaled_weights(sample_weight, len(e))


def sample_counts(
    e: Floats, w: Floats | None, groups: ArrayLike | None, names: tuple[str, str]
) -> list[tuple[float, str]]:
    """Size and name of the two samples; with groups, the smaller of the numbers of instances and of groups."""
    kept = slice(None) if w is None else w > 0
    counts = []
    for share, name in ((e[kept], names[0]), (1.0 - e[kept], names[1])):
        count = float(share.sum())
        if groups is not None:
            count = min(count, len(np.unique(np.asarray(groups)[kept][share > 0])))
        counts.append((count, name))
    return counts if groups is None else [(count, f"{name} in different groups") for count, name in counts]


def notes_of_ties(sizes: Sequence[float], tied: Sequence[float]) -> list[Note]:
    """A note if nearly all members of a sample have one score, from the sizes of samples and the shares of pairs that tie.

    The members outside that tie alone show how the influences vary. If they are fewer than `OUTSIDE`, the next member may have
    another score although none has been seen, and the interval of UQ-AUC covers less than it states.
    """
    for size, share in zip(sizes, tied, strict=True):
        alike = size * share**0.5  # members of the greatest tie, if it holds nearly all
        if size > 1 and alike >= size / 2 and size - alike < OUTSIDE:
            most = f"all but about {size - alike:.0f} of {size:.0f} cases of one kind"
            text = f"{most} have the same score: the interval may be too short"
            return [Note("ties", text, {"size": size, "outside": size - alike})]
    return []


def noted(estimate: Estimate, counts: Sequence[tuple[float, str]], *, constant: bool) -> Estimate:
    """The estimate with notes on small or empty samples, constant scores and intervals of no width."""
    for count, name in counts:
        if count == 0:
            estimate = estimate.with_note(Note("undefined" if np.isnan(estimate) else "none", f"no {name}"))
        elif count < FEW:
            one = name.replace("s in ", " in ") if " in " in name else name.removesuffix("s")
            which = one if count == 1 else name
            estimate = estimate.with_note(Note("few", f"only {count:.3g} {which}: a rough interval", {"count": count}))
    if constant and not np.isnan(estimate):
        return estimate.with_note(Note("constant-scores", "all scores are equal: nothing is ranked"))
    if estimate.high - estimate.low <= ROUNDING:
        return estimate.with_note(Note("no-width", "no case differs from the others: an interval of no width"))
    return estimate


def _aligned(s: NDArray[Any], n: int, arguments: tuple[str, str]) -> NDArray[Any]:
    if len(s) != n:
        fail(
            arguments[1],
            f"needs one value for each of the {n} instances",
            f"got {len(s)}",
            "align them",
            code="mismatch",
        )
    return s
