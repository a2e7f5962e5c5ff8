"""The class of estimates, numbers with a confidence interval, and the estimate of a mean."""

from collections.abc import Sequence
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay._array import generator
from uqassay._json import plain
from uqassay._one_order import in_one_order
from uqassay.notes import Note
from uqassay.statistics.bootstrap import bca_interval
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.resampling import draw_means, draw_run_effects
from uqassay.statistics.samples import (
    Floats,
    Units,
    as_runs,
    check_choice,
    check_draws,
    check_level,
    make_units,
    spread_of_mean,
)

__all__ = ["Estimate", "mean_estimate"]


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

    Raises
    ------
    InputError
        When there is no instance, a value is nan, a shape does not fit, or a weight is negative.

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
    check_choice(method, "method", ("student-t", "hall", "bca"))
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
