"""Numbers with confidence intervals: means and shares, and the bootstrap of means."""

from collections.abc import Sequence
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import generator
from uqassay.checks import fail, one_of
from uqassay.ids import in_one_order
from uqassay.notes import Note
from uqassay.results import plain
from uqassay.statistics.units import (
    Floats,
    Spread,
    Units,
    as_floats,
    as_runs,
    check_draws,
    check_level,
    make_units,
    spread_of_mean,
)

__all__ = [
    "Estimate",
    "bca_interval",
    "bootstrap_means",
    "interval_notes",
    "mean_estimate",
    "mean_estimates",
    "percentile_interval",
    "proportion_estimate",
    "single_unit",
    "unit_notes",
    "win_shares",
]


# Notes shared by many estimates: the numbers of groups and runs, and the missing interval of a single unit.


def unit_notes(units: Units, n_runs: Sequence[int] = ()) -> list[Note]:
    """Notes on the number of groups and on the numbers of training runs.

    Examples
    --------
    >>> from uqassay.statistics.units import make_units
    >>> [note.text for note in unit_notes(make_units(3, ["a", "a", "b"], None), [5])]
    ['2 groups', '5 runs']
    """
    notes = []
    if units.codes is not None:
        g = units.n_units
        notes.append(Note("groups", f"{g} group{'s' if g > 1 else ''}", {"groups": g}))
    if n_runs:
        counts = " and ".join(str(r) for r in n_runs)
        single = ": variation between runs is left out where there is only 1" if 1 in n_runs else ""
        notes.append(Note("runs", f"{counts} run{'s' if max(n_runs) > 1 else ''}{single}", {"runs": tuple(n_runs)}))
    return notes


def single_unit(units: Units, consequence: str = "no interval", code: str = "no-interval") -> Note:
    """Note on a single instance or group, which shows no variation."""
    return Note(code, f"1 {'instance' if units.codes is None else 'group'}: {consequence}")


def interval_notes(units: Units, n_runs: Sequence[int] = ()) -> list[Note]:
    """`unit_notes`, with `single_unit` if there is only one unit."""
    notes = unit_notes(units, n_runs)
    return notes if units.n_units > 1 else [*notes, single_unit(units)]


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


# The class of estimates, numbers with a confidence interval, and the estimate of a mean.


@final
class Estimate(float):
    """A float with its confidence interval, the method of the interval, and notes.

    Parameters
    ----------
    value : float
        The estimate; nan where it is undefined.
    low, high : float
        Ends of the confidence interval; nan where it is undefined.
    level : float
        Confidence level, such as 0.95.
    n : int
        Number of instances used.
    method : str
        Method of the interval, such as "student-t".
    notes : tuple of Note
        Remarks, such as the number of groups or runs, or the reason for a nan.

    Notes
    -----
    An estimate can be used wherever a float is expected. Comparisons use the value alone. Arithmetic gives plain floats,
    because the interval of a sum does not follow from the intervals of its terms.

    Examples
    --------
    >>> accuracy = Estimate(0.93, low=0.92, high=0.94, level=0.95, n=10000, method="student-t")
    >>> accuracy
    Estimate(0.93, low=0.92, high=0.94, level=0.95, n=10000, method='student-t')
    >>> 1 - accuracy < 0.1, accuracy.low
    (True, 0.92)
    """

    __slots__ = ("high", "level", "low", "method", "n", "notes")

    low: float
    high: float
    level: float
    n: int
    method: str
    notes: tuple[Note, ...]

    def __new__(  # noqa: D102 (the parameters are those of the class)
        cls,
        value: float,
        *,
        low: float,
        high: float,
        level: float,
        n: int,
        method: str,
        notes: Sequence[Note] = (),
    ) -> "Estimate":
        self = super().__new__(cls, value)
        set_slot = object.__setattr__  # the class itself refuses assignment
        set_slot(self, "low", float(low))
        set_slot(self, "high", float(high))
        set_slot(self, "level", float(level))
        set_slot(self, "n", int(n))
        set_slot(self, "method", str(method))
        set_slot(self, "notes", tuple(notes))
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON: nan becomes None, and infinities become "Infinity" and "-Infinity"."""
        return {
            "estimate": plain(float(self)),
            "low": plain(self.low),
            "high": plain(self.high),
            "level": self.level,
            "n": self.n,
            "method": self.method,
            "notes": [note.to_dict() for note in self.notes],
        }

    def widened(self, standard_error: float, note: Note) -> "Estimate":
        """The same value with an interval widened by the standard error of an independent error, and this note."""
        if standard_error == 0 or not (np.isfinite(self.low) and np.isfinite(self.high)):
            return self
        value, reach = float(self), float(special.ndtri(0.5 + self.level / 2)) * standard_error
        return Estimate(
            value,
            low=value - float(np.hypot(value - self.low, reach)),
            high=value + float(np.hypot(self.high - value, reach)),
            level=self.level,
            n=self.n,
            method=self.method,
            notes=(*self.notes, note),
        )

    def within(self, low: float, high: float = np.inf) -> "Estimate":
        """The same value with the part of the interval that a quantity between these bounds can have."""
        fields = {name: getattr(self, name) for name in ("level", "n", "method", "notes")}
        start, end = (float(np.clip(one, low, high)) for one in (self.low, self.high))
        return Estimate(float(self), low=start, high=end, **fields)

    def with_note(self, note: Note) -> "Estimate":
        """The same estimate with one more note."""
        fields = {name: getattr(self, name) for name in ("low", "high", "level", "n", "method")}
        return Estimate(float(self), notes=(*self.notes, note), **fields)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Estimate":
        """Rebuild the estimate from the result of `to_dict`."""
        value, low, high = (float("nan" if fields[key] is None else fields[key]) for key in ("estimate", "low", "high"))
        others = {key: fields[key] for key in ("level", "n", "method")}
        notes = tuple(Note.from_dict(note) for note in fields["notes"])
        return cls(value, low=low, high=high, notes=notes, **others)

    def __repr__(self) -> str:
        notes = f", notes={[note.text for note in self.notes]}" if self.notes else ""
        return (
            f"Estimate({float(self):.4g}, low={self.low:.4g}, high={self.high:.4g}, level={self.level:.4g}, "
            f"n={self.n}, method={self.method!r}{notes})"
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Estimate is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Estimate is immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (float(self), self.low, self.high, self.level, self.n, self.method, self.notes)


@in_one_order("values", "groups", "sample_weight", axes={"values": -1})
def mean_estimate(
    values: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "student-t",
    n_draws: int = 2000,
    rng: int | np.random.Generator | None = None,
) -> Estimate:
    """Mean over instances with a confidence interval.

    Parameters
    ----------
    values : array_like, shape (n,) or (R, n)
        One value per instance, or the values of R training runs of one model on the same instances.
    groups : array_like of labels, shape (n,), optional
        Instances of one group (patient, site, video) may depend on each other; groups are independent.
    sample_weight : array_like, shape (n,), optional
        The estimate is Σ w·y / Σ w. Instances of weight zero are ignored.
    level : float
        Confidence level.
    method : {"student-t", "hall", "bca"}
        "student-t" is symmetric. "hall" corrects it for skewness by Hall's transformation of the t statistic,
        without resampling. It has the best coverage for skewed losses in small samples, but it does harm for values
        with two heavy tails, such as differences of losses. "bca" is the bias-corrected and accelerated bootstrap.
    n_draws, rng
        Number of draws and random state for "bca"; None means seed 0.

    Returns
    -------
    estimate : Estimate
        n is the number of instances of positive weight. Notes give the numbers of groups and runs, and mark three
        cases: with one instance or one group the interval is nan; with infinite values the estimate is infinite (nan
        if both signs occur) and the interval nan; if all values are equal the interval has no width.

    Notes
    -----
    With residuals e_i = y_i − mean the variance is the linearised cluster variance of a ratio,
    G/(G−1) · Σ_g (Σ_{i∈g} w_i e_i)² / (Σ w)², with G − 1 degrees of freedom. Without groups each instance is one unit, and
    the variance is s²/n.

    Units of unequal weight get the factor and the degrees of freedom of Bell and McCaffrey, with the correlation inside
    groups estimated (Imbens and Kolesár), because a few large groups carry less information than their number suggests.

    For several runs, y_i is the average over runs, and s²/R of the run means is added, since instances and runs are
    crossed. The degrees of freedom are Satterthwaite's. This variance is too large by the interaction of runs and
    instances, σ²_interaction / (n·R).

    An integer weight equals that many copies in one group, not that many independent instances.

    Coverage is nominal for symmetric values at any n, and for skewed losses with "hall". "student-t" covers 85 % for log
    losses at n = 30. Both fail for rare events: use `proportion_estimate` for shares (docs/measured-coverage.md).

    References
    ----------
    Särndal, Swensson, Wretman (1992), Model Assisted Survey Sampling, section 5.5 (linearisation).
    Satterthwaite (1946), An approximate distribution of estimates of variance components.
    Bell, McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage samples.
    Imbens, Kolesár (2016), Robust standard errors in small samples, Rev. Econ. Stat. 98, section IV.
    Hall (1992), On the removal of skewness by transformation, J. R. Stat. Soc. B 54, equation 2.2.

    Examples
    --------
    >>> mean_estimate([0.0, 1.0, 1.0, 1.0])
    Estimate(0.75, low=-0.04561, high=1.546, level=0.95, n=4, method='student-t')
    >>> mean_estimate([0.0, 1.0, 1.0, 1.0], groups=["a", "a", "b", "b"]).notes[0].text
    '2 groups'
    >>> mean_estimate([3.0])
    Estimate(3, low=nan, high=nan, level=0.95, n=1, method='student-t', notes=['1 instance: no interval'])
    """
    check_level(level)
    one_of(method, "method", ("student-t", "hall", "bca"))
    check_draws(n_draws)
    runs = as_runs(values, "values")  # (R, n)
    units = make_units(runs.shape[1], groups, sample_weight)
    runs = units.keep(runs)
    notes = unit_notes(units, [runs.shape[0]] if np.ndim(values) == 2 else [])

    value, low, high = float(runs[0, 0]), np.nan, np.nan
    infinite = int(np.isinf(runs).sum())
    if infinite:
        with np.errstate(invalid="ignore"):
            value = units.mean(runs.mean(axis=0))
        notes.append(Note("infinite", f"infinite values: {infinite} of {runs.size}, no interval"))
    elif units.n_units == 1:
        value = units.mean(runs.mean(axis=0))
        notes.append(single_unit(units))
    elif runs[-1, -1] == value and (runs == value).all():
        low = high = value
        notes.append(Note("no-width", "all values are equal"))
    else:
        averaged = runs.mean(axis=0)  # (n,)
        value = units.mean(averaged)
        if method == "bca":
            low, high = _bca(runs, units, level, n_draws, generator(rng))
            if np.isnan(low):
                notes.append(Note("no-interval", "all resamples lie on one side of the value: no interval"))
        else:
            spread = spread_of_mean(averaged - value, units, [run_means(runs, units)])
            low, high = spread.interval(value, level, method)
    return Estimate(value, low=low, high=high, level=level, n=units.n_instances, method=method, notes=notes)


def run_means(runs: Floats, units: Units) -> Floats:
    """Weighted mean of each of several runs, (R, n) -> (R,); none of a single run, which shows no spread. For this room."""
    if len(runs) == 1:
        return np.empty(0)
    return np.array([units.mean(run) for run in runs])


def _bca(runs: Floats, units: Units, level: float, n_draws: int, rng: np.random.Generator) -> tuple[float, float]:
    averaged = runs.mean(axis=0)[:, np.newaxis]  # (n, 1)
    run_rng = rng.spawn(1)[0]
    draws = draw_means(averaged, units, n_draws, rng)[:, 0]
    sums, sizes = units.sums(averaged)[:, 0], units.sizes
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)  # (G,)
    jackknife = (left_out - left_out.mean()) * (1 - 1 / units.n_units)
    r = runs.shape[0]
    if r > 1:
        means = run_means(runs, units)
        draws += draw_run_effects(means[:, np.newaxis], n_draws, run_rng)[:, 0]
        # the acceleration is that of all influences together, those of instances and those of runs; each set sums to 0
        jackknife = np.concatenate([jackknife, (means.mean() - means) / r])
    low, high = bca_interval(units.mean(averaged[:, 0]), draws, jackknife, level=level)
    return float(low), float(high)


def _rebuild(
    value: float, low: float, high: float, level: float, n: int, method: str, notes: tuple[Note, ...]
) -> Estimate:
    return Estimate(value, low=low, high=high, level=level, n=n, method=method, notes=notes)


ROW_CELLS = 2**17  # values that are held at once: a block stays in the cache


def mean_estimates(rows: Sequence[Floats], *, level: float = 0.95, method: str = "student-t") -> list[Estimate]:
    """`mean_estimate` of each row, to the last bit.

    Parameters
    ----------
    rows : sequence of C arrays (n,)
        Values of the same independent instances of equal weight, such as several losses of one model.
    level, method
        As in `mean_estimate`, but no "bca".

    Returns
    -------
    list of C Estimate

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 1.0, 1.0])
    >>> mean_estimates([x, 2 * x]) == [mean_estimate(x), mean_estimate(2 * x)]
    True
    """
    check_level(level)
    step = max(ROW_CELLS // len(rows[0]), 1) if len(rows) else 1
    blocks = (rows[k : k + step] for k in range(0, len(rows), step))
    return [one for block in blocks for one in _of_block(block, level, method)]


def _of_block(rows: Sequence[Floats], level: float, method: str) -> list[Estimate]:
    n = len(rows[0])
    if n == 1 or len(rows) == 1:
        return [mean_estimate(row, level=level, method=method) for row in rows]
    x = np.array(rows, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        means = x.mean(axis=1)
    special = ~np.isfinite(means) | (x == x[:, :1]).all(axis=1)  # infinite, undefined or equal values
    with np.errstate(invalid="ignore", divide="ignore"):
        x -= means[:, np.newaxis]
        x /= float(n)
        scales = np.maximum(x.max(axis=1), -x.min(axis=1))
        x /= scales[:, np.newaxis]
        squared = x * x
        squares = n / (n - 1) * squared.sum(axis=1)
        squared *= x
        cubes = squared.sum(axis=1)
    dof = 1.0 / (1.0 / (n - 1.0))  # as Satterthwaite's formula rounds it
    found = []
    for row, value, is_special, *sums in zip(
        rows, means.tolist(), special.tolist(), scales.tolist(), squares.tolist(), cubes.tolist(), strict=True
    ):
        scale, variance, third = sums
        if is_special or scale == 0.0:
            found.append(mean_estimate(row, level=level, method=method))
            continue
        spread = Spread(scale * variance**0.5, dof, third / variance**1.5)
        low, high = spread.interval(value, level, method)
        found.append(Estimate(value, low=low, high=high, level=level, n=n, method=method))
    return found


# Shares with Wilson's interval, whose coverage holds near 0 and 1.


@in_one_order("values", "groups", "sample_weight", axes={"values": -1})
def proportion_estimate(
    values: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of successes with a Wilson interval.

    Parameters
    ----------
    values : array_like, shape (n,) or (R, n)
        1 for a success, 0 for a failure, or a share in between; (R, n) for R training runs of one model.
    groups, sample_weight, level
        As in `mean_estimate`.

    Returns
    -------
    estimate : Estimate
        With one instance or one group the interval is nan, and a note says so.

    Notes
    -----
    Independent zeros and ones of equal weight give Wilson's interval. In other cases n is replaced by the effective
    number of independent instances, p(1 − p) / v, with the variance v of `mean_estimate`, and the normal quantile by that
    of Student's t with the degrees of freedom of v. If all values are 0 or all are 1, v is 0, and n is the number of
    groups (of instances).

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference, J. Am. Stat. Assoc. 22.
    Korn, Graubard (1998), Confidence intervals for proportions with small expected number of positive counts.

    Examples
    --------
    >>> proportion_estimate([1, 1, 1, 1, 0])
    Estimate(0.8, low=0.3755, high=0.9638, level=0.95, n=5, method='wilson')
    """
    check_level(level)
    runs = as_runs(values, "values")  # (R, n)
    if runs.min() < 0 or runs.max() > 1:
        outside = np.argwhere((runs < 0) | (runs > 1))
        got = f"index {tuple(outside[0].tolist())} is {runs[tuple(outside[0])]:g}"
        fail("values", "must lie in [0, 1]", got, "give 1 for a success and 0 for a failure", code="range")
    units = make_units(runs.shape[1], groups, sample_weight)
    runs = units.keep(runs)
    notes = unit_notes(units, [runs.shape[0]] if np.ndim(values) == 2 else [])
    averaged = runs.mean(axis=0)  # (n,)
    p = units.mean(averaged)
    low = high = np.nan
    if units.n_units == 1:
        notes.append(single_unit(units))
    else:
        plain = units.codes is None and units.weights is None and len(runs) == 1 and ((runs == 0) | (runs == 1)).all()
        n_effective, z = float(units.n_units), float(special.ndtri(0.5 + level / 2))
        if not plain:
            spread = spread_of_mean(averaged - p, units, [run_means(runs, units)])
            z = float(special.stdtrit(spread.dof, 0.5 + level / 2))
            if spread.standard_error**2 > 1e-12 * p * (1 - p) / units.n_units:  # less is rounding error of v = 0
                n_effective = p * (1 - p) / spread.standard_error**2
        centre = (p + z**2 / (2 * n_effective)) / (1 + z**2 / n_effective)
        half = z / (1 + z**2 / n_effective) * np.sqrt(p * (1 - p) / n_effective + z**2 / (4 * n_effective**2))
        low, high = max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))
    return Estimate(p, low=low, high=high, level=level, n=units.n_instances, method="wilson", notes=notes)
