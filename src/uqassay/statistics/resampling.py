"""Resampling of units and runs: bootstrap draws of means, their intervals, shares of wins, and sign flips."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats, generator
from uqassay.checks import fail
from uqassay.ids import in_one_order
from uqassay.statistics.units import Units, as_floats, check_draws, check_level, make_units

__all__ = [
    "bca_interval",
    "bootstrap_means",
    "draw_means",
    "draw_run_effects",
    "percentile_interval",
    "run_means",
    "sign_flip_pvalue",
    "win_shares",
]


# Inner loops of resampling: drawing units, drawing training runs, flipping signs.
#
# A draw depends neither on the number of draws nor on the block that contains it, for two reasons. Random numbers are
# drawn one draw after the other. All matrix products have the same shape (the last block is padded), because BLAS may
# round products of other shapes differently.

# Draws per matrix product, limited to this many cells (16 MiB). Neither number changes the random numbers.
_BLOCK_DRAWS = 64
_BLOCK_CELLS = 2**21
_COUNTED_CELLS = 2**14  # draws of few units are counted together, as many as fit into a cache

# Sums of differences this close, relative to the sum of their absolute values, count as equal (rounding error).
_TIE = 1e-12


def draw_means(columns: Floats, units: Units, n_draws: int, rng: np.random.Generator) -> Floats:
    """Means of resampled units, as ratios of resampled sums, (n, C) -> (B, C)."""
    infinite = np.isinf(columns)
    if not infinite.any():
        sums = np.column_stack([units.sums(columns), units.sizes])
        resampled = _resampled_sums(sums, n_draws, rng)  # (B, C + 1)
        return resampled[:, :-1] / resampled[:, -1:]
    # an instance drawn 0 times would give 0·inf = nan in the product, so infinite values are counted in extra columns
    draws = draw_means(
        np.hstack([np.where(infinite, 0.0, columns), columns == np.inf, columns == -np.inf]), units, n_draws, rng
    )
    finite, above, below = np.split(draws, 3, axis=1)
    with np.errstate(invalid="ignore"):
        return finite + np.where(above > 0, np.inf, 0.0) + np.where(below > 0, -np.inf, 0.0)


def draw_run_effects(run_means: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Mean run effect of resampled runs, (R, C) -> (B, C), with the variance s²/R."""
    r = run_means.shape[0]
    with np.errstate(invalid="ignore"):
        effects = run_means - run_means.mean(axis=0)  # (R, C)
    effects[:, ~np.isfinite(effects).all(axis=0)] = 0.0
    picked = rng.integers(0, r, size=(n_draws, r))
    return np.sqrt(r / (r - 1)) * effects[picked].mean(axis=1)


def sign_flip_pvalue(differences: Floats, units: Units, n_draws: int, rng: np.random.Generator) -> float:
    """Two-sided p-value of Σ d under random signs of whole units, d of shape (n,)."""
    u = units.sums(differences[:, np.newaxis])[:, 0]  # (G,)
    g, total = u.size, u.sum()
    rows = max(1, min(_BLOCK_DRAWS, _BLOCK_CELLS // g))
    kept = np.zeros((rows, g))
    width = 4 * (
        (g + 31) // 32
    )  # whole 32-bit words: the generator discards the rest of a word, which would depend on the block
    bound = abs(total) - _TIE * np.abs(u).sum()  # a flip equal to the observed sum must count, however it is rounded
    count = 0
    for start in range(0, n_draws, rows):
        used = min(rows, n_draws - start)
        bits = np.frombuffer(rng.bytes(used * width), dtype=np.uint8).reshape(used, width)
        kept[:used] = np.unpackbits(bits, axis=1, count=g)
        flipped = 2.0 * (kept @ u)[:used] - total  # Σ ±u
        count += int((np.abs(flipped) >= bound).sum())
    return (1 + count) / (1 + n_draws)


def _resampled_sums(sums: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    g = sums.shape[0]
    rows = max(1, min(_BLOCK_DRAWS, _BLOCK_CELLS // g))
    counts = np.zeros((rows, g))
    out = np.empty((n_draws, sums.shape[1]))
    together = max(1, min(rows, _COUNTED_CELLS // g))
    places = g * np.arange(together)[:, np.newaxis]
    for start in range(0, n_draws, rows):
        used = min(rows, n_draws - start)
        for row in range(0, used, together):
            size = (min(together, used - row), g)
            picked = rng.integers(0, g, size=size) + places[: size[0]]
            counts[row : row + size[0]] = np.bincount(picked.ravel(), minlength=picked.size).reshape(size)
        out[start : start + used] = (counts @ sums)[:used]
    return out


# Bootstrap draws of means over instances and groups; intervals and shares of wins from draws.

# Limits memory: trade-offs are processed in blocks of at most this many totals.
_TOTALS_AT_ONCE = 2**21

# Relative. Totals this close to the lowest one count as equal: their difference is rounding error.


@in_one_order("values", "groups", "sample_weight")
def bootstrap_means(
    values: ArrayLike,
    *,
    n_draws: int = 2000,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    rng: int | np.random.Generator | None = None,
) -> Floats:
    """Means of every column over instances drawn with replacement, the same instances for all columns.

    Parameters
    ----------
    values : array_like, shape (n, C) or (n,)
        One column per quantity. A draw that contains an infinite value has an infinite mean.
    n_draws : int
        Number of draws B. Draw d is the same for every `n_draws` > d.
    groups : array_like of labels, shape (n,), optional
        Whole groups are drawn, and a mean is Σ group sums / Σ group sizes.
    sample_weight : array_like, shape (n,), optional
        A mean is Σ w·y / Σ w over the drawn instances. Instances of weight zero are ignored.
    rng : int or numpy Generator, optional
        None means seed 0.

    Returns
    -------
    draws : ndarray, shape (B, C), or (B,) for values of shape (n,)

    Notes
    -----
    The draws have the plug-in variance: (n−1)/n times the unbiased variance of `mean_estimate`. Percentile
    intervals are therefore too short with few groups.

    References
    ----------
    Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapters 6 and 8.

    Examples
    --------
    >>> draws = bootstrap_means([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]], n_draws=500)
    >>> draws.shape, float(abs(draws.sum(axis=1) - 1).max()) < 1e-12
    ((500, 2), True)
    """
    floats = as_floats(values, "values", ndim=(1, 2), shape="(n, C) or (n,)")
    check_draws(n_draws)
    units = make_units(floats.shape[0], groups, sample_weight)
    columns = units.keep(floats.T if floats.ndim == 2 else floats[np.newaxis]).T  # (n, C)
    draws = draw_means(columns, units, n_draws, generator(rng))
    return draws if floats.ndim == 2 else draws[:, 0]


def percentile_interval(
    draws: ArrayLike, *, level: float = 0.95
) -> tuple[float, float] | tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Equal-tailed quantiles of the draws.

    Parameters
    ----------
    draws : array_like, shape (B,) or (B, C)
    level : float

    Returns
    -------
    low, high : float, or ndarray of shape (C,)

    Examples
    --------
    >>> low, high = percentile_interval(range(101), level=0.9)
    >>> round(low, 6), round(high, 6)
    (5.0, 95.0)
    """
    floats = as_floats(draws, "draws", ndim=(1, 2), shape="(B,) or (B, C)")
    check_level(level)
    columns = np.sort(floats.reshape(floats.shape[0], -1), axis=0)
    tail = np.full(columns.shape[1], (1 - level) / 2)
    return _shaped(_quantiles(columns, tail), _quantiles(columns, 1 - tail), floats.ndim)


def bca_interval(
    estimate: ArrayLike, draws: ArrayLike, jackknife: ArrayLike, *, level: float = 0.95
) -> tuple[float, float] | tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bias-corrected and accelerated bootstrap interval.

    Parameters
    ----------
    estimate : float, or array_like of shape (C,)
        The statistic on the sample itself.
    draws : array_like, shape (B,) or (B, C)
        The statistic on B resamples.
    jackknife : array_like, shape (G,) or (G, C)
        The statistic without each unit (instance or group) in turn.
    level : float

    Returns
    -------
    low, high : float, or ndarray of shape (C,)
        nan where all draws lie strictly on one side of the estimate (the bias correction is then infinite), or
        the estimate or a jackknife value is infinite.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, equations 2.3 and 6.6. Draws equal to the estimate
    count ½, as in SciPy.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([0.1, 0.2, 0.2, 0.4, 2.5])
    >>> draws = bootstrap_means(values, n_draws=4000)
    >>> low, high = bca_interval(values.mean(), draws, (values.sum() - values) / 4)
    >>> bool(low > percentile_interval(draws)[0])  # a long right tail moves the interval to the right
    True
    """
    floats = as_floats(draws, "draws", ndim=(1, 2), shape="(B,) or (B, C)")
    left_out = as_floats(jackknife, "jackknife", ndim=(floats.ndim,), shape="(G,) or (G, C), as draws")
    centre = as_floats(estimate, "estimate", ndim=(floats.ndim - 1,), shape="() or (C,), as a row of draws")
    if left_out.shape[1:] != floats.shape[1:] or centre.shape != floats.shape[1:]:
        rule = "must have as many columns as draws and estimate"
        got = f"got shapes {left_out.shape}, {floats.shape} and {centre.shape}"
        fail("jackknife", rule, got, "pass the same statistics to all three", code="mismatch")
    check_level(level)
    columns = np.sort(floats.reshape(floats.shape[0], -1), axis=0)  # (B, C)
    below = (np.sum(columns < centre, axis=0) + np.sum(columns <= centre, axis=0)) / (2 * columns.shape[0])
    bias = special.ndtri(below)  # (C,) z₀, equation 2.3; infinite where all draws lie on one side
    u = left_out.reshape(left_out.shape[0], -1)
    defined = np.isfinite(bias) & np.isfinite(centre) & np.isfinite(u).all(axis=0)
    bias = np.where(defined, bias, 0.0)
    u = np.where(defined, u, 0.0)
    u = u.mean(axis=0) - u  # (G, C)
    scale = np.sqrt((u * u).sum(axis=0))
    acceleration = (u**3).sum(axis=0) / (6 * np.where(scale > 0, scale, 1.0) ** 3)  # equation 6.6
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        shifted = bias + special.ndtri(tail)
        stretch = 1 - acceleration * shifted
        # stretch ≤ 0 is beyond the pole of shifted / stretch, whose sign would flip there: take the limit ±inf
        moved = np.where(stretch > 0, shifted / np.where(stretch > 0, stretch, 1.0), np.sign(shifted) * np.inf)
        ends.append(np.where(defined, _quantiles(columns, special.ndtr(bias + moved)), np.nan))
    return _shaped(ends[0], ends[1], floats.ndim)


def win_shares(draws: ArrayLike, tradeoffs: ArrayLike | None = None) -> Floats:
    """Share of draws in which each model has the lowest value. Tied models share a draw equally.

    Parameters
    ----------
    draws : array_like, shape (B, J), or (B, J, 2) with tradeoffs
        Mean loss of J models in B draws; with `tradeoffs` the pair (mean distance, mean non-specificity).
    tradeoffs : array_like, shape (T,), optional
        Values of λ ≥ 0. The model with the lowest distance + λ · non-specificity wins.

    Returns
    -------
    shares : ndarray, shape (T, J), or (J,) without tradeoffs
        Each row sums to 1. Totals within a relative 1e-12 of the lowest one tie with it: rounding decides no winner. nan if in
        some draw every total is infinite.

    Examples
    --------
    >>> draws = [[[0.1, 1.0], [0.5, 0.0]], [[0.2, 0.9], [0.4, 0.1]]]  # 2 draws, 2 models
    >>> win_shares(draws, [0.0, 0.3, 1.0]).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    """
    if tradeoffs is None:
        floats = as_floats(draws, "draws", ndim=(2,), shape="(B, J) without tradeoffs")
        return _shares(floats[np.newaxis])[0]
    floats = as_floats(draws, "draws", ndim=(3,), shape="(B, J, 2) with tradeoffs")
    if floats.shape[2] != 2:
        rule = "the last axis must be (distance, non-specificity), shape (B, J, 2)"
        fail("draws", rule, f"got shape {floats.shape}", "stack the two on the last axis", code="shape")
    lambdas = as_floats(tradeoffs, "tradeoffs", ndim=(1,), shape="(T,)")
    bad = np.flatnonzero((lambdas < 0) | np.isinf(lambdas))
    if bad.size:
        got = f"row {bad[0]} has {lambdas[bad[0]]}"
        fail("tradeoffs", "must be finite and not negative", got, "pass values from 0 up", code="finite")
    d, ns = floats[..., 0], floats[..., 1]  # (B, J)
    if np.isinf(ns).any():
        fail(
            "draws", "the non-specificity must be finite", "got inf", "check the instances that give it", code="finite"
        )
    step = max(1, _TOTALS_AT_ONCE // d.size)
    blocks = [lambdas[t : t + step, np.newaxis, np.newaxis] for t in range(0, lambdas.size, step)]
    return np.concatenate([_shares(d + block * ns) for block in blocks])


def _shares(totals: Floats) -> Floats:
    best = totals.min(axis=-1, keepdims=True)  # (T, B, 1)
    slack = np.where(np.isfinite(best), _TIE * np.abs(best), 0.0)
    wins = totals <= best + slack  # (T, B, J)
    shares: Floats = (wins / wins.sum(axis=-1, keepdims=True)).mean(axis=1)
    shares[np.isposinf(best).any(axis=(1, 2))] = np.nan
    return shares


def _quantiles(columns: Floats, probabilities: Floats) -> Floats:
    # linear interpolation at one probability per sorted column; np.quantile takes all probabilities in all columns,
    # and gives nan between two equal infinite draws
    position = probabilities * (columns.shape[0] - 1)
    floor = np.floor(position).astype(np.intp)
    lower = np.take_along_axis(columns, floor[np.newaxis], axis=0)[0]
    upper = np.take_along_axis(columns, np.minimum(floor + 1, columns.shape[0] - 1)[np.newaxis], axis=0)[0]
    flat = (lower == upper) | (position == floor)
    with np.errstate(invalid="ignore"):
        return np.where(flat, lower, lower + (position - floor) * (upper - lower))


def _shaped(
    low: Floats, high: Floats, ndim: int
) -> tuple[float, float] | tuple[NDArray[np.float64], NDArray[np.float64]]:
    return (float(low[0]), float(high[0])) if ndim == 1 else (low, high)


def run_means(runs: Floats, units: Units) -> Floats:
    """Weighted mean of each of several runs, (R, n) -> (R,); none of a single run, which shows no spread. For this room."""
    if len(runs) == 1:
        return np.empty(0)
    return np.array([units.mean(run) for run in runs])
