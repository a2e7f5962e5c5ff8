"""Checked samples, with weights and groups, and the variance of a mean over them.

A *unit* is a group if groups are given, and an instance otherwise. Units are independent and are resampled as wholes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats, as_array, as_numeric
from uqassay.checks import fail, number, one_of, whole
from uqassay.errors import InputError
from uqassay.native import kernel

# Relative to the greatest weight. A smaller weight is lost to rounding in any sum with it, so its instance is ignored.
NEGLIGIBLE = 1e-15
COUNTED = 4  # times as many as instances: labels of groups that are smaller whole numbers are counted, not sorted


def as_floats(values: ArrayLike, name: str, *, ndim: tuple[int, ...], shape: str) -> Floats:
    """Check real numbers and return float64: allowed number of axes, at least one value, no nan."""
    array = as_values(values, name, ndim=ndim, shape=shape)
    floats = array.astype(np.float64, copy=False)
    undefined = np.isnan(floats)
    if undefined.any():
        where = np.argwhere(undefined)[0].tolist()
        position = f"row {where[0]}" if array.ndim == 1 else f"index {tuple(where)}"
        got = f"{int(undefined.sum())} of {array.size} values are nan, the first at {position}"
        fail(name, "must not hold nan", got, "leave out those instances or give them a value", code="finite")
    return floats


def as_values(values: ArrayLike, name: str, *, ndim: tuple[int, ...], shape: str) -> NDArray[Any]:
    """Check real numbers, nan included, and return them in their dtype: allowed number of axes, at least one value."""
    array = as_numeric(values, name)
    if array.ndim not in ndim:
        fail(name, f"must have shape {shape}", f"got shape {array.shape}", "reshape it first", code="shape")
    if array.size == 0:
        fail(name, "needs at least one value", f"got shape {array.shape}", "pass at least one instance", code="shape")
    return array


def as_runs(values: ArrayLike, name: str) -> Floats:
    """Values of one or several runs as (R, n)."""
    floats = as_floats(values, name, ndim=(1, 2), shape="(n,) or (R, n)")
    return floats if floats.ndim == 2 else floats[np.newaxis]


def ascending_order(values: Floats) -> NDArray[np.int64]:
    """Places of the values (n,) in ascending order; those of equal values may stand in any order."""
    sort = kernel("ascending_order")
    return np.argsort(values) if sort is None else np.asarray(sort(np.ascontiguousarray(values, np.float64)))


def as_models(models: Sequence[ArrayLike]) -> list[Floats]:
    """Values of J models as (R_j, n, C) each, with the same n and C."""
    if len(models) == 0:
        fail("models", "needs at least one model", "got none", "pass a list of arrays of shape (R, n, C)", code="empty")
    arrays = [as_floats(m, f"models[{j}]", ndim=(3,), shape="(R, n, C)") for j, m in enumerate(models)]
    n, c = arrays[0].shape[1:]
    for j, array in enumerate(arrays):
        if array.shape[1:] != (n, c):
            rule = f"all models need the same instances and columns, shape (R, {n}, {c})"
            fail(f"models[{j}]", rule, f"got shape {array.shape}", "align them first", code="mismatch")
    return arrays


def check_level(level: float) -> None:
    """Raise InputError for a confidence level outside (0, 1)."""
    number(level, "level", "pass 0.95 for 95 %", low=0, high=1, ends="()")


def check_inside(value: float, name: str, example: float = 0.8) -> None:
    """Raise InputError for a share outside (0, 1)."""
    number(value, name, f"give a share such as {example}", low=0, high=1, ends="()")


def check_draws(n_draws: int) -> None:
    """Raise InputError unless the number of draws is an integer of at least 1."""
    whole(n_draws, "n_draws", "pass 2000, say", least=1)


def check_choice(value: str, name: str, choices: tuple[str, ...]) -> None:
    """Raise InputError for a value that is not among the choices."""
    one_of(value, name, choices)


@final
@dataclass(frozen=True, slots=True)
class Units:
    """Instances with their weights and units. Build it with `make_units`."""

    rows: NDArray[np.intp] | None  # (n,) rows of positive weight; None: all rows
    weights: Floats | None  # (n,) weights of these rows, divided by the greatest weight; None: all 1
    codes: NDArray[np.intp] | None  # (n,) unit of each of these rows, by first appearance; None: each row is a unit
    n_instances: int
    n_units: int

    @property
    def sizes(self) -> Floats:
        """Sum of the weights in each unit, (G,)."""
        return self.sums(np.ones((self.n_instances, 1)))[:, 0]

    def keep(self, values: Floats) -> Floats:
        """The values without instances of weight zero, which are dropped from the last axis."""
        return values if self.rows is None else values[..., self.rows]

    def sums(self, columns: Floats) -> Floats:
        """Weighted sum of each column over each unit, (n, C) -> (G, C)."""
        if self.weights is not None:
            columns = columns * self.weights[:, np.newaxis]
        if self.codes is None:
            return columns
        sums = [np.bincount(self.codes, weights=column, minlength=self.n_units) for column in columns.T]
        return np.stack(sums, axis=1)

    def mean(self, values: Floats) -> float:
        """Weighted mean over the instances, (n,) -> one number; inf and -inf together give nan."""
        with np.errstate(invalid="ignore"):
            if self.weights is None:
                return float(values.mean())
            return float((self.weights * values).sum() / self.weights.sum())


def make_units(n: int, groups: ArrayLike | None, sample_weight: ArrayLike | None) -> Units:
    """Check groups and weights of n instances, drop weights of zero and divide the others by the greatest."""
    if groups is None and sample_weight is None:
        return _alike(n)
    codes = None if groups is None else label_codes(groups, n, "groups")
    rows = weights = None
    if sample_weight is not None:
        weights = scaled_weights(sample_weight, n)
        rows = np.flatnonzero(weights)
        if rows.size == n:
            rows = None
        else:
            weights = weights[rows]
            codes = None if codes is None else codes[rows]
            n = rows.size
    if codes is None:
        return Units(rows, weights, None, n, n)
    codes = _by_first_appearance(codes)
    return Units(rows, weights, codes, n, int(codes.max()) + 1)


@lru_cache(maxsize=64)  # so that results kept for some units are those of the next call, too
def _alike(n: int) -> Units:
    """Each instance is a unit of weight 1."""
    return Units(None, None, None, n, n)


def scaled_weights(sample_weight: ArrayLike, n: int) -> Floats:
    """Check n weights and divide them by the greatest, (n,), so that no product of weights overflows or underflows.

    A weight below 1e-15 of the greatest becomes 0, because rounding loses it in any sum with the greatest.
    """
    weights = as_floats(sample_weight, "sample_weight", ndim=(1,), shape=f"({n},)")
    if weights.shape != (n,):
        rule = f"must have one weight per instance, shape ({n},)"
        fail("sample_weight", rule, f"got shape {weights.shape}", "pass one weight for each instance", code="shape")
    bad = np.flatnonzero((weights < 0) | np.isinf(weights))
    if bad.size:
        remedy = "use the weight 0 for instances that should not count"
        fail(
            "sample_weight",
            "must be finite and not negative",
            f"row {bad[0]} has {weights[bad[0]]}",
            remedy,
            code="finite",
        )
    greatest = weights.max()
    if greatest == 0:
        fail(
            "sample_weight",
            "at least one weight must be positive",
            "all are 0",
            "leave the weights out if all instances count alike",
            code="empty",
        )
    weights = weights / greatest
    weights[weights < NEGLIGIBLE] = 0.0
    return weights


def weighted_mean(values: Floats, weights: Floats | None) -> Floats:
    """Weighted mean over the last axis.

    Examples
    --------
    >>> float(weighted_mean(np.array([0.0, 1.0]), np.array([1.0, 3.0])))
    0.75
    """
    if weights is None:
        return np.asarray(values.mean(axis=-1))
    return np.asarray((values * weights).sum(axis=-1) / weights.sum())


def effective_number(weights: Floats | None, n: int) -> float:
    """(Σw)²/Σw² of n weights; n where all are alike (Kish 1965, Survey Sampling, section 11.7).

    Examples
    --------
    >>> effective_number(np.array([1.0, 1.0, 2.0]), 3).__round__(2), effective_number(None, 3)
    (2.67, 3.0)
    """
    if weights is None:
        return float(n)
    shares = weights / weights.max()  # squares of weights near 1e-200 would underflow
    return float(shares.sum() ** 2 / (shares**2).sum())


def independent_number(weights: Floats | None, n: int) -> float:
    """Σw / max w, at most (Σw)²/Σw²: how many instances show at least as much of rare events as these weighted ones.

    Where event i of weight w_i has probability q_i and Σ w_i q_i = q Σw, none happens with probability Π (1 − q_i) at most
    (1 − q)^N with N = Σw / max w, because −ln(1 − q_i) ≥ −(w_i / max w) ln(1 − q_i) and −ln(1 − q) is convex. The bound is
    reached where only the instances of greatest weight can be struck.

    Examples
    --------
    >>> independent_number(np.array([1.0, 1.0, 2.0]), 3), independent_number(None, 3)
    (2.0, 3.0)
    """
    return float(n) if weights is None else float((weights / weights.max()).sum())


def different_weights(weights: Floats | None) -> Floats | None:
    """The weights, or None if all are equal, so that equal weights change nothing."""
    return None if weights is None or (weights == weights[0]).all() else weights


@final
@dataclass(frozen=True, slots=True)
class Spread:
    """Standard error, degrees of freedom and skewness of a mean."""

    standard_error: float
    dof: float
    skewness: float  # third cumulant of the mean over its standard error cubed

    def interval(self, centre: float, level: float, method: str) -> tuple[float, float]:
        """Confidence interval. The method "hall" inverts Hall's transformation of the t statistic."""
        q = float(special.stdtrit(self.dof, 0.5 + level / 2))
        upper, lower = (float(hall_inverse(y, self.skewness)) if method == "hall" else y for y in (q, -q))
        return centre - upper * self.standard_error, centre - lower * self.standard_error

    def pvalue(self, statistic: float) -> float:
        """Two-sided p-value of a t statistic."""
        return 2.0 * float(special.stdtr(self.dof, -abs(statistic)))


def hall_inverse(y: Floats | float, skewness: Floats | float) -> Floats:
    """The t whose Hall's transform is y.

    Hall (1992), equation 2.2: g(t) = t + kt²/3 + k²t³/27 + k/6 = ((1 + kt/3)³ − 1)/k + k/6. With r = ∛(1 + k(y − k/6)),
    t = 3(r − 1)/k = 3(y − k/6)/(r² + r + 1), which does not divide by k ≈ 0.
    """
    shifted = y - skewness / 6
    root = np.cbrt(1 + skewness * shifted)
    return np.asarray(3 * shifted / (root**2 + root + 1))


def spread_of_mean(residuals: Floats, units: Units, runs: Sequence[Floats] = ()) -> Spread:
    """Spread of a weighted mean with these residuals (n,), including the variance between run means (R,) each.

    The variance is the linearised cluster variance Σ_g a_g u_g² with u_g = Σ_{i∈g} w_i e_i / Σ w, plus s²/R for each set
    of at least two runs. The degrees of freedom are Satterthwaite's.
    """
    if units.codes is None and units.weights is None:
        u = residuals / units.n_instances
    else:
        u = units.sums(residuals[:, np.newaxis])[:, 0] / units.sizes.sum()  # (G,)
    several = [means - means[0] for means in runs if means.size > 1]
    scale = max(max(float(x.max()), -float(x.min())) for x in [u, *several])
    if scale == 0.0:
        return Spread(0.0, float(units.n_units - 1), 0.0)
    u = u / scale  # squares of residuals near 1e-200 would underflow to a variance of 0
    squares = u * u
    a, dof = small_sample_correction(residuals, units)
    parts = [(float(a * squares.sum() if isinstance(a, float) else (a * squares).sum()), dof)]
    parts += [(float((means / scale).var(ddof=1)) / means.size, means.size - 1) for means in several]
    variance = sum(part for part, _ in parts)
    dof = 1.0 / sum((part / variance) ** 2 / part_dof for part, part_dof in parts)
    return Spread(scale * variance**0.5, dof, float((squares * u).sum()) / variance**1.5)


def small_sample_correction(residuals: Floats, units: Units) -> tuple[Floats | float, float]:
    """Factors a_g that make Σ a_g u_g² unbiased under a working model, and its degrees of freedom.

    In the working model all residuals have the same variance and the same correlation ρ inside a unit; ρ is estimated.
    Units of equal weight give G/(G−1) and G−1 for any ρ. A few large units give fewer degrees of freedom. For at least 2 units.
    Bell, McCaffrey (2002); Imbens, Kolesár (2016), section IV.
    """
    g = units.n_units
    if units.weights is None and g == units.n_instances:
        return g / (g - 1), float(g - 1)
    rho = 0.0
    if units.codes is not None:
        weights = np.ones(units.n_instances) if units.weights is None else units.weights
        e = residuals / max(float(np.abs(residuals).max()), np.finfo(np.float64).tiny)
        squares = np.bincount(units.codes, weights=(weights * e) ** 2)  # (G,)
        sums = np.bincount(units.codes, weights=weights * e)  # (G,)
        pairs = float(((np.bincount(units.codes) - 1) * squares).sum())
        rho = min(max(float((sums**2 - squares).sum()) / pairs, 0.0), 1.0) if pairs > 0 else 0.0
    a, dof = bell_mccaffrey(working_variances(units, rho), units.sizes)
    return a, float(dof)


def working_variances(units: Units, rho: float | Floats) -> Floats:
    """Variance of each unit's Σ w_i e_i if all e_i have variance 1 and correlation ρ inside a unit, (G,) or (P, G)."""
    size = units.sizes
    if units.codes is None:
        return np.asarray(size**2)
    squares = size if units.weights is None else np.bincount(units.codes, weights=units.weights**2)
    inside = np.asarray(rho)[..., np.newaxis]
    return np.asarray((1 - inside) * squares + inside * size**2)


def bell_mccaffrey(tau: Floats, size: Floats, counts: NDArray[np.intp] | None = None) -> tuple[Floats, Floats]:
    """Factors a_g (..., G) and degrees of freedom (...) from the working variances τ (..., G) and the unit sizes (G,).

    With `counts` (G,) each entry stands for so many units of the same size.
    """
    units = np.ones(size.size) if counts is None else counts.astype(np.float64)
    g = units.sum()
    # if one unit has nearly all weight, its 1 − h would be rounding error: sum the other shares instead
    top = int(size.argmax())
    rest = units.copy()
    rest[top] -= 1.0
    h, tau = size / (units @ size), tau / (tau @ units)[..., np.newaxis]
    not_h, not_tau = 1 - h, 1 - tau
    not_h[top], not_tau[..., top] = rest @ h, tau @ rest
    # Σ = diag(τ) + P is the covariance of the group sums of residuals, P = −τhᵀ − hτᵀ + hhᵀ of rank 2
    diagonal = tau * not_h**2 + h**2 * not_tau
    a = tau / diagonal
    # dof = 2 E² / Var = tr(AΣ)² / tr((AΣ)²) with A = diag(a) and tr(AΣ) = Σ τ = 1. P has rank 2, so tr((AΣ)²) follows
    # in O(G) from 2 × 2 products; the terms of the greatest unit are added separately, again against rounding
    others = rest * a
    x = np.stack([tau, np.broadcast_to(h, tau.shape)], axis=-2)  # (..., 2, G)
    kq = np.array([[0.0, -1.0], [-1.0, 1.0]]) @ ((others[..., np.newaxis, :] * x) @ x.swapaxes(-1, -2))
    between = h * (not_tau[..., top] - not_h[top])[..., np.newaxis] - h[top] * tau  # row of the greatest unit in P
    own = others * a * tau * (2 * diagonal - tau)
    trace_of_square = tau[..., top] ** 2 + own.sum(axis=-1) + np.trace(kq @ kq, axis1=-2, axis2=-1)
    trace_of_square += 2 * a[..., top] * (others * between**2).sum(axis=-1)
    return a, 1.0 / np.clip(trace_of_square, 1 / (g - 1), 1.0)  # its range, as Σ has rank G − 1


def label_codes(values: ArrayLike, n: int, parameter: str) -> NDArray[np.intp]:
    """Codes (n,) of the labels of groups or parts, in the order of the labels; refused where one is missing.

    Examples
    --------
    >>> label_codes(["b", "a", "b"], 3, "groups").tolist()
    [1, 0, 1]
    """
    labels = as_array(values, parameter)
    if labels.shape != (n,):
        rule = f"must have one label per instance, shape ({n},)"
        fail(parameter, rule, f"got shape {labels.shape}", "pass one label for each instance", code="shape")
    # NumPy converts a nan in a list of strings to the string "nan", so look for it in the list itself
    _refuse_missing(np.array(values, dtype=object) if isinstance(values, list | tuple) else labels, parameter)
    if labels.dtype.kind in "iu" and n and labels.min() >= 0 and labels.max() < COUNTED * n:
        labels = labels.astype(np.intp)
        return np.asarray((np.cumsum(np.bincount(labels) > 0) - 1)[labels])
    try:
        return np.unique(labels, return_inverse=True)[1].reshape(n)
    except TypeError as error:
        raise _of_one_kind(labels, parameter) from error


def _refuse_missing(labels: NDArray[Any], parameter: str) -> None:
    try:
        undefined = np.asarray(labels != labels, dtype=bool)  # nan and NaT differ from themselves
        absent = np.asarray(labels == None, dtype=bool) if labels.dtype == object else np.zeros_like(undefined)  # noqa: E711
    except TypeError as error:  # comparison with pandas' NA gives NA, which is not a bool
        raise _of_one_kind(labels, parameter) from error
    for missing, code in ((undefined, "finite"), (absent, "missing")):
        if missing.any():
            row = int(np.argmax(missing))
            remedy = "give each such instance a different new label, or leave it out"
            fail(parameter, "every instance needs a label", f"row {row} has {labels[row]}", remedy, code=code)


def _of_one_kind(labels: NDArray[Any], parameter: str) -> InputError:
    return InputError(
        parameter,
        "labels must be of one kind that can be sorted",
        f"got dtype {labels.dtype} with mixed or missing labels",
        "pass integers or strings",
        code="type",
    )


def _by_first_appearance(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    # np.unique numbers groups by label; by first appearance, renaming the groups changes no random draw
    first = np.full(int(codes.max(initial=-1)) + 1, codes.size)
    first[codes[::-1]] = np.arange(codes.size)[::-1]  # of equal codes the last assignment counts
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)  # codes without an instance come last
    return rank[codes]
