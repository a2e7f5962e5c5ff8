"""Training runs and test instances as separate components of the variance of a mean."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, nan
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.detectable_pairs import POWER, noncentrality
from uqassay.statistics.estimate import run_means
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.samples import Floats, Units, as_runs, check_inside, check_level, make_units, spread_of_mean

__all__ = ["MoreData", "VarianceComponents", "VarianceShare", "variance_components"]

FEW_RUNS = 5  # with fewer, the variance between runs is known to within a factor of five or worse
MOST = 1e6  # times the data that there are: the search stops here
HALVINGS = 40


class VarianceShare(NamedTuple):
    """Share of the variance of a mean, with its interval; nan where it cannot be known."""

    share: float
    low: float
    high: float


class MoreData(NamedTuple):
    """Data in all, not in addition, that reach a goal; infinite where no number does.

    Attributes
    ----------
    instances : float
        Instances, with the runs that there are.
    groups : float
        Groups that these are, if they come in groups as they do here; nan without groups.
    runs : tuple of float
        Runs of each model, with the instances that there are; nan for a model of one run, () if both have one.
    """

    instances: float
    groups: float
    runs: tuple[float, ...]


@final
@dataclass(frozen=True)
class VarianceComponents:
    """Components of the variance of a mean over training runs and test instances; made by `variance_components`.

    Attributes
    ----------
    value : float
        The mean, or the difference of two means.
    runs, instances, interaction : float
        What differences between the runs, between the instances (whole groups) and their interaction add to the variance of
        the mean. Unbiased, so that an estimate near 0 may be negative; nan where it cannot be known.
    shares : dict of str to VarianceShare
        Of "runs", "instances" and "interaction" in their sum; negative components count as 0.
    n_instances : int
    n_groups : int or None
    n_runs : tuple of int
        Of the model, or of both.
    level : float
    notes : tuple of Note
    """

    value: float
    runs: float
    instances: float
    interaction: float
    shares: dict[str, VarianceShare]
    n_instances: int
    n_groups: int | None
    n_runs: tuple[int, ...]
    level: float
    notes: tuple[Note, ...]
    _parts: "_Parts"

    def half_width(self, *, instances: float | None = None, times_runs: float = 1.0) -> float:
        """Half the width of the interval of `mean_estimate` or `paired_mean_test` with other numbers of instances and runs.

        Parameters
        ----------
        instances : float, optional
            By default, those that there are.
        times_runs : float
            How many times the runs that there are.
        """
        more = 1.0 if instances is None else instances / self.n_instances
        error, dof = self._parts.error(more, times_runs)
        return float(special.stdtrit(dof, 0.5 + self.level / 2)) * error

    def for_half_width(self, half_width: float) -> MoreData:
        """Instances or runs for an interval that reaches so far to each side.

        Raises
        ------
        InputError
            A width that is not positive.
        """
        if not half_width > 0:
            raise InputError("half_width", "must be positive", f"got {half_width}", "pass 0.01, say", code="range")

        def reached(more: float, times_runs: float) -> bool:
            error, dof = self._parts.error(more, times_runs)
            return float(special.stdtrit(dof, 0.5 + self.level / 2)) * error <= half_width

        return self._more_data(reached)

    def to_show(self, difference: float, *, power: float = POWER) -> MoreData:
        """Instances or runs for a paired test that shows a true difference of this size with this power.

        Raises
        ------
        InputError
            A difference of 0, or a power outside (0, 1).
        """
        check_inside(power, "power")
        if not abs(difference) > 0:
            raise InputError(
                "difference", "must not be 0", f"got {difference}", "give the least that matters", code="range"
            )

        def reached(more: float, times_runs: float) -> bool:
            error, dof = self._parts.error(more, times_runs)
            q = special.stdtrit(dof, 0.5 + self.level / 2)
            return float(noncentrality(np.array([q]), np.array([dof]), power)[0]) * error <= abs(difference)

        return self._more_data(reached)

    def _more_data(self, reached: Callable[[float, float], bool]) -> MoreData:
        if not isfinite(self._parts.inside):
            return MoreData(nan, nan, ())
        units = self.n_instances if self.n_groups is None else self.n_groups
        more = _least(lambda factor: reached(factor, 1.0), 2 / units)
        several = [r for r in self.n_runs if r > 1]
        times = _least(lambda factor: reached(1.0, factor), 2 / min(several)) if several else nan
        runs = tuple(_up(r * times) if r > 1 else nan for r in self.n_runs) if several else ()
        groups = nan if self.n_groups is None else _up(self.n_groups * more)
        return MoreData(_up(self.n_instances * more), groups, runs)


class _Parts(NamedTuple):
    """What the variance of the mean and its degrees of freedom rest on."""

    inside: float  # V_b: of the instances
    dof: float
    models: tuple[tuple[int, float, float], ...]  # R, V_a and V_ab of each model with several runs

    def error(self, more: float, times_runs: float) -> tuple[float, float]:
        """Standard error as `spread_of_mean` expects it, in which the interaction counts twice, and degrees of freedom."""
        inside = (max(self.inside, 0.0) + sum(ab for _, _, ab in self.models) / times_runs) / more
        parts = [(inside, max(self.dof * more, 1.0))]
        for r, a, ab in self.models:
            parts.append(((max(a, 0.0) + ab / more) / times_runs, max(r * times_runs - 1.0, 1.0)))
        variance = sum(part for part, _ in parts)
        if variance == 0:
            return 0.0, self.dof
        return float(variance**0.5), float(variance**2 / sum(part**2 / dof for part, dof in parts))


@in_one_order("values", "other", "groups", "sample_weight", axes={"values": -1, "other": -1})
def variance_components(
    values: ArrayLike,
    other: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
) -> VarianceComponents:
    """How much of the variance of a mean comes from the training runs, and how much from the test instances.

    Parameters
    ----------
    values : array_like, shape (n,) or (R, n)
        Values of each of R training runs per instance, such as losses.
    other : array_like, shape (n,) or (R', n), optional
        Those of a second model on the same instances: the components are those of the difference of both means. The runs of
        both models are taken as independent.
    groups, sample_weight
        As in `mean_estimate`; whole groups are the units of the instances.
    level : float
        Of the intervals.

    Returns
    -------
    VarianceComponents
        With one run the component of the runs and the interaction are nan; with one instance or group, all are. Fewer than five
        runs have a note that says how little they tell.

    Raises
    ------
    InputError
        As `paired_mean_test`.

    Notes
    -----
    Crossed random effects, y_ri = μ + a_r + b_i + e_ri, by moments. With the variance s² of the run means, the linearised
    cluster variance V(·) of a mean over the instances (`mean_estimate`), and the residuals ê_ri = y_ri − ȳ_r − ȳ_i + ȳ:

    * interaction: ω/R with ω = Σ_r V(ê_r)/(R − 1);
    * runs: (s² − ω)/R;
    * instances: V(ȳ_i) − ω/R.

    Their sum is the variance of the mean over new runs *and* new instances. Without groups and weights these are the estimates
    of the analysis of variance, such as σ̂_a² = (MS_a − MS_e)/n. `mean_estimate` takes s²/R + V(ȳ_i), which counts the
    interaction twice.

    The interval of the shares is that of the ratio (s²/R)/V(ȳ_i), which has an F distribution up to its true value, with R − 1
    degrees of freedom and those of V(ȳ_i), which are fewer for heavy tails; the share ω/R in V(ȳ_i) is taken as known.

    References
    ----------
    Searle, Casella, McCulloch (1992), Variance Components, chapters 3 and 4.
    Bouthillier et al. (2021), Accounting for variance in machine learning benchmarks, MLSys.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> losses = rng.normal(size=(10, 1)) * 0.1 + rng.normal(size=400) + 0.5 * rng.normal(size=(10, 400))
    >>> found = variance_components(losses)
    >>> {name: tuple(round(x, 2) for x in share) for name, share in found.shares.items()}
    {'runs': (0.17, 0.08, 0.43), 'instances': (0.81, 0.56, 0.9), 'interaction': (0.02, 0.01, 0.02)}
    >>> round(found.half_width(), 3), found.for_half_width(0.1)
    (0.111, MoreData(instances=523.0, groups=nan, runs=(101.0,)))
    """
    check_level(level)
    given = [as_runs(values, "values"), *([] if other is None else [as_runs(other, "other")])]
    if len(given) == 2 and given[0].shape[1] != given[1].shape[1]:
        raise InputError(
            "other",
            "must hold the same instances as values",
            f"got {given[1].shape[1]} against {given[0].shape[1]}",
            "align them first",
            code="mismatch",
        )
    units = make_units(given[0].shape[1], groups, sample_weight)
    models = [units.keep(runs) for runs in given]
    counts = tuple(len(runs) for runs in models)
    notes = unit_notes(units, counts)
    sizes: dict[str, Any] = {
        "n_instances": units.n_instances,
        "n_groups": None if units.codes is None else units.n_units,
        "n_runs": counts,
        "level": level,
    }
    infinite = sum(int(np.isinf(runs).sum()) for runs in models)
    if infinite or units.n_units == 1:
        text = f"infinite values: {infinite} of {sum(runs.size for runs in models)}, no components"
        notes.append(Note("infinite", text) if infinite else single_unit(units, "no components", "undefined"))
        with np.errstate(invalid="ignore"):
            value = units.mean(models[0].mean(axis=0)) - (
                units.mean(models[1].mean(axis=0)) if other is not None else 0
            )
        none = dict.fromkeys(("runs", "instances", "interaction"), VarianceShare(nan, nan, nan))
        return VarianceComponents(value, nan, nan, nan, none, **sizes, notes=tuple(notes), _parts=_Parts(nan, nan, ()))
    averaged = models[0].mean(axis=0) - (models[1].mean(axis=0) if len(models) == 2 else 0.0)
    value = units.mean(averaged)
    spread = spread_of_mean(averaged - value, units)
    between = [_of_runs(runs, units) for runs in models if len(runs) > 1]  # (R, s²/R, ω/R)
    inside = spread.standard_error**2
    interaction = sum(ab for _, _, ab in between)
    parts = _Parts(inside - interaction, spread.dof, tuple((r, a - ab, ab) for r, a, ab in between))
    few = min((r for r, _, _ in between), default=0)
    if few == 0:
        notes.append(Note("undefined", "1 run shows no variance between runs; a second one is needed"))
    elif few < FEW_RUNS:
        low, high = ((few - 1) / special.chdtri(few - 1, p) for p in ((1 - level) / 2, (1 + level) / 2))
        text = f"{few} runs say little: the variance of such means may be {low:.1f} to {high:,.0f} times what they show"
        notes.append(Note("few", text, {"runs": few}))
    runs_part = sum(a - ab for _, a, ab in between) if between else nan
    return VarianceComponents(
        value,
        runs_part,
        inside - interaction,
        interaction if between else nan,
        _shares(between, inside, interaction, _dof(averaged - value, units, spread.dof), level),
        **sizes,
        notes=tuple(notes),
        _parts=parts,
    )


# -- helpers -----------------------------------------------------------------------------------------------------------


def _of_runs(runs: Floats, units: Units) -> tuple[int, float, float]:
    """R, s²/R and ω/R of one model (R, n)."""
    r, means = len(runs), run_means(runs, units)
    residuals = runs - runs.mean(axis=0)
    residuals -= (means - means.mean())[:, np.newaxis]
    omega = sum(spread_of_mean(one, units).standard_error ** 2 for one in residuals) / (r - 1)
    return r, float(means.var(ddof=1)) / r, float(omega) / r


def _dof(residuals: Floats, units: Units, dof: float) -> float:
    """Degrees of freedom of the variance between units, fewer for heavy tails: 2/ν = 2/ν_0 + κ/G, κ the excess kurtosis."""
    u = units.sums(residuals[:, np.newaxis])[:, 0]
    square = float((u**2).mean())
    excess = float((u**4).mean()) / square**2 - 3.0 if square > 0 else 0.0
    return 2.0 / (2.0 / dof + max(excess, 0.0) / units.n_units)


def _shares(
    between: Sequence[tuple[int, float, float]], inside: float, interaction: float, dof: float, level: float
) -> dict[str, VarianceShare]:
    names = ("runs", "instances", "interaction")
    of_runs = sum(a for _, a, _ in between)
    if not between or inside + of_runs == 0:
        return dict.fromkeys(names, VarianceShare(nan, nan, nan))
    run_dof = of_runs**2 / sum(a**2 / (r - 1) for r, a, _ in between) if of_runs > 0 else between[0][0] - 1.0
    quantiles = (special.fdtri(run_dof, dof, p) for p in ((1 + level) / 2, (1 - level) / 2))
    ratio = of_runs / inside if inside > 0 else inf
    c = min(interaction / inside, 1.0) if inside > 0 else 0.0
    rows = []
    for theta in (ratio, *(ratio / q if q > 0 else inf for q in quantiles)):
        runs = max(theta - c, 0.0)
        whole = 1.0 + runs
        rows.append((1.0 if np.isinf(runs) else runs / whole, (1 - c) / whole, c / whole))
    point, *ends = np.array(rows)
    return {
        name: VarianceShare(float(point[k]), float(min(e[k] for e in ends)), float(max(e[k] for e in ends)))
        for k, name in enumerate(names)
    }


def _least(reached: Callable[[float], bool], least: float) -> float:
    """The least factor from `least` on that reaches a goal, which greater factors reach, too."""
    if not reached(MOST):
        return inf
    if reached(least):
        return least
    low, high = float(np.log(least)), float(np.log(MOST))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(float(np.exp(middle))) else (middle, high)
    return float(np.exp(high))


def _up(number: float) -> float:
    return float(ceil(number - 1e-6)) if isfinite(number) else number
