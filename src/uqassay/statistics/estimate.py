"""Numbers with confidence intervals: the estimate of a mean, of means over runs, and of a share."""

from collections.abc import Sequence
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay.arrays import Floats, generator
from uqassay.checks import fail, one_of
from uqassay.ids import in_one_order
from uqassay.notes import Note
from uqassay.results import plain
from uqassay.statistics.resampling import bca_interval, draw_means, draw_run_effects, run_means
from uqassay.statistics.units import Spread, Units, as_runs, check_draws, check_level, make_units, spread_of_mean

__all__ = [
    "Estimate",
    "interval_notes",
    "mean_estimate",
    "mean_estimates",
    "proportion_estimate",
    "single_unit",
    "unit_notes",
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
    return Note(code, f"1 {'case' if units.codes is None else 'group'}: {consequence}")


def interval_notes(units: Units, n_runs: Sequence[int] = ()) -> list[Note]:
    """`unit_notes`, with `single_unit` if there is only one unit."""
    notes = unit_notes(units, n_runs)
    return notes if units.n_units > 1 else [*notes, single_unit(units)]


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
    losses at n = 30. Both fail for rare events: use `proportion_estimate` for shares (docs/evidence-comparisons.md).

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
    Estimate(3, low=nan, high=nan, level=0.95, n=1, method='student-t', notes=['1 case: no interval'])
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
    method: str = "wilson",
) -> Estimate:
    """Share of successes with a Wilson interval, or an exact one.

    Parameters
    ----------
    values : array_like, shape (n,) or (R, n)
        1 for a success, 0 for a failure, or a share in between; (R, n) for R training runs of one model.
    groups, sample_weight, level
        As in `mean_estimate`.
    method : {"wilson", "exact"}
        "exact" is Clopper and Pearson's interval. It is wider, and no end misses too often, as the ends of Wilson's do at high
        levels (Bonferroni) if successes or failures are few.

    Returns
    -------
    estimate : Estimate
        With one instance or one group the interval is nan, and a note says so.

    Notes
    -----
    Independent zeros and ones of equal weight give the interval itself. In other cases n is replaced by the effective
    number of independent instances, p(1 − p) / v, with the variance v of `mean_estimate`, and the normal quantile z by that
    of Student's t with the degrees of freedom of v; "exact" multiplies n by (z/t)² instead. If all values are 0 or all are 1,
    v is 0, and n is the number of groups (of instances).

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference, J. Am. Stat. Assoc. 22.
    Clopper, Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial.
    Korn, Graubard (1998), Confidence intervals for proportions with small expected number of positive counts.

    Examples
    --------
    >>> proportion_estimate([1, 1, 1, 1, 0])
    Estimate(0.8, low=0.3755, high=0.9638, level=0.95, n=5, method='wilson')
    """
    check_level(level)
    one_of(method, "method", ("wilson", "exact"))
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
        normal = z
        if not plain:
            spread = spread_of_mean(averaged - p, units, [run_means(runs, units)])
            z = float(special.stdtrit(spread.dof, 0.5 + level / 2))
            # less is rounding error of v = 0; shares that round to 1 may have a v without p (1 − p)
            if p * (1 - p) > 0 and spread.standard_error**2 > 1e-12 * p * (1 - p) / units.n_units:
                n_effective = p * (1 - p) / spread.standard_error**2
        if method == "exact":
            low, high = _clopper_pearson(p, n_effective * (normal / z) ** 2, level)
        else:
            centre = (p + z**2 / (2 * n_effective)) / (1 + z**2 / n_effective)
            half = z / (1 + z**2 / n_effective) * np.sqrt(p * (1 - p) / n_effective + z**2 / (4 * n_effective**2))
            low, high = centre - half, centre + half
        low, high = max(0.0, min(p, low)), min(1.0, max(p, high))
    return Estimate(p, low=low, high=high, level=level, n=units.n_instances, method=method, notes=notes)


def _clopper_pearson(p: float, n: float, level: float) -> tuple[float, float]:
    """Ends of Clopper and Pearson's interval of a share p among n independent instances, which need not be whole numbers."""
    hits, misses, tail = p * n, (1 - p) * n, (1 - level) / 2
    low = float(special.betaincinv(hits, misses + 1, tail)) if hits > 0 else 0.0
    high = float(special.betaincinv(hits + 1, misses, 1 - tail)) if misses > 0 else 1.0
    return low, high
