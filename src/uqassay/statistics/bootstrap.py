"""The bootstrap of any statistic, and joint draws of several."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, generator
from uqassay.checks import fail, is_number, one_of, whole
from uqassay.errors import InputError
from uqassay.ids import in_one_order
from uqassay.native import single_blas_thread
from uqassay.notes import Note
from uqassay.statistics.estimate import Estimate, single_unit, unit_notes
from uqassay.statistics.resampling import bca_interval, percentile_interval
from uqassay.statistics.units import (
    Units,
    as_floats,
    as_models,
    bell_mccaffrey,
    check_draws,
    check_level,
    make_units,
    working_variances,
)

__all__ = [
    "bootstrap_estimate",
    "bootstrap_weights",
    "student_draws",
]


# Bootstrap of a statistic that takes weights. A draw is a vector of counts of the units, drawn within strata.

SCHEMES = ("multinomial", "poisson")
METHODS = ("bca", "percentile")


@in_one_order("strata", "groups", "sample_weight", "influence")
def bootstrap_estimate(
    statistic: Callable[[Floats], float],
    n: int,
    *,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    influence: ArrayLike | None = None,
    scheme: str = "multinomial",
    method: str = "bca",
    level: float = 0.95,
    n_draws: int = 2000,
    rng: int | np.random.Generator | None = None,
) -> Estimate:
    """Estimate of a statistic with a bootstrap interval.

    Parameters
    ----------
    statistic : callable
        Function from weights, array (n,), to one number, such as a metric with `sample_weight`. Weights may be 0, and the
        number may be nan.
    n : int
        Number of instances.
    strata, groups, sample_weight, scheme, n_draws, rng
        As in `bootstrap_weights`.
    influence : array_like, shape (n,), optional
        Influence of every instance, as `Linearised.influence`, from which "bca" computes the acceleration. Without it the
        statistic is computed once more for each unit, without that unit (jackknife).
    method : {"bca", "percentile"}
        "bca" corrects for bias and skewness (Efron). "percentile" takes the quantiles of the draws.
    level : float

    Returns
    -------
    estimate : Estimate
        The statistic on the sample. Draws in which it is nan are left out of the interval, and a note counts them.
        Infinite draws are kept, and a note counts them too. If all draws are equal there is no interval, because they
        show no variation.

    Notes
    -----
    With few positives, bootstrap intervals of an area under the ROC curve are too short under any scheme: with five
    positives they cover 70 to 87 of 100 (tests/statistics/test_weighted_bootstrap.py). Prefer an interval made for the
    statistic, such as
    that of `auc_estimate`.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, J. Am. Stat. Assoc. 82.
    Davison, Hinkley (1997), Bootstrap Methods and their Application, sections 3.2 and 5.3 (several samples).
    Oza, Russell (2001), Online bagging and boosting (Poisson counts).

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([0.1, 0.2, 0.2, 0.4, 2.5])
    >>> bootstrap_estimate(lambda w: np.average(values, weights=w), 5, n_draws=500)
    Estimate(0.68, low=0.2, high=1.62, level=0.95, n=5, method='bca, multinomial')
    """
    one_of(method, "method", METHODS)
    check_level(level)
    resampler = _resampler(n, strata, groups, sample_weight, scheme, n_draws)
    units = resampler.units
    notes = unit_notes(units)
    if resampler.sizes.size > 1:
        alone = int((resampler.sizes == 1).sum())
        single = f", {alone} of a single unit" if alone else ""
        notes.append(Note("strata", f"{resampler.sizes.size} strata{single}"))
    psi = None if influence is None else _checked_influence(influence, n, units)
    value, low, high = _number(statistic, resampler.weights_of(np.ones(units.n_units))), np.nan, np.nan
    name = ", ".join([method, scheme] + ["stratified"] * (resampler.sizes.size > 1))

    def estimate() -> Estimate:
        return Estimate(value, low=low, high=high, level=level, n=units.n_instances, method=name, notes=notes)

    if not np.isfinite(value):
        notes.append(Note("no-interval", f"{value} on the sample: no interval"))
        return estimate()
    if units.n_units == 1:
        notes.append(single_unit(units))
        return estimate()
    draws = np.array([_number(statistic, weights) for weights in resampler.draw(n_draws, generator(rng))])
    defined = ~np.isnan(draws)
    missing = int((~defined).sum())
    if missing:
        notes.append(Note("left-out", f"undefined in {missing} of {n_draws} resamples, which are left out"))
    draws = draws[defined]
    infinite = int(np.isinf(draws).sum())
    if infinite:
        notes.append(Note("infinite", f"infinite in {infinite} of {n_draws} resamples"))
    if draws.size == 0 or (draws == draws[0]).all():
        why = "all resamples give the same value" if draws.size else "no resample gives a value"
        notes.append(Note("no-interval", f"{why}: no interval"))
        return estimate()
    if method == "percentile":
        low, high = (float(end) for end in percentile_interval(draws, level=level))
        return estimate()
    pull = _unit_influence(psi, resampler) if psi is not None else _jackknife(statistic, resampler)
    if np.isnan(pull).any():
        notes.append(Note("no-interval", "one case or group decides whether the value is finite: no interval"))
        return estimate()
    low, high = (float(end) for end in bca_interval(value, draws, -pull, level=level))
    if np.isnan(low):
        notes.append(Note("no-interval", "all resamples lie on one side of the value: no interval"))
    return estimate()


@in_one_order("strata", "groups", "sample_weight")
def bootstrap_weights(
    n: int,
    *,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    scheme: str = "multinomial",
    n_draws: int = 2000,
    rng: int | np.random.Generator | None = None,
) -> Iterator[Floats]:
    """Weights of the instances in each of B draws: the count of the instance's unit times the sample weight.

    Parameters
    ----------
    n : int
        Number of instances.
    strata : array_like of labels, shape (n,), optional
        Each stratum is resampled separately and keeps its number of units, so that, for example, every draw contains
        errors. With groups, the stratum of a group is the set of strata of its instances. Every draw then contains all
        strata, but the number of instances of a stratum varies.
    groups : array_like of labels, shape (n,), optional
        Whole groups are the units. Without groups each instance is a unit.
    sample_weight : array_like, shape (n,), optional
        Instances of weight zero are ignored.
    scheme : {"multinomial", "poisson"}
        "multinomial": G of the G units are drawn with replacement. "poisson": the counts of the units are independent and
        Poisson(1), as needed for streams; a stratum (or sample) with no unit drawn is drawn again.
    n_draws : int
        Number of draws B. Draw d is the same for every `n_draws` > d.
    rng : int or numpy Generator, optional
        None means seed 0.

    Returns
    -------
    draws : iterator of arrays (n,)

    Examples
    --------
    >>> for weights in bootstrap_weights(5, strata=["error", "right", "right", "right", "error"], n_draws=2):
    ...     print(weights)
    [0. 2. 1. 0. 2.]
    [2. 2. 0. 1. 0.]
    """
    return _resampler(n, strata, groups, sample_weight, scheme, n_draws).draw(n_draws, generator(rng))


class _Resampler(NamedTuple):
    """Units sorted by stratum."""

    n: int
    units: Units
    weights: Floats | None  # (n,) sample weights as given
    order: NDArray[np.intp]  # (G,) units, stratum by stratum
    starts: NDArray[np.intp]  # (H,) first place of each stratum in `order`
    sizes: NDArray[np.intp]  # (H,) number of units of each stratum
    scheme: str

    def weights_of(self, counts: Floats) -> Floats:
        """Weights of all instances, including those of weight zero, from counts of units, (G,) -> (n,)."""
        units = self.units
        kept = counts if units.codes is None else counts[units.codes]
        if units.rows is not None:
            every = np.zeros(self.n)
            every[units.rows] = kept
            kept = every
        return kept if self.weights is None else kept * self.weights

    def draw(self, n_draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Weights of each draw, one after the other."""
        g, high = self.units.n_units, np.repeat(self.sizes, self.sizes)
        first = np.repeat(self.starts, self.sizes)
        counts = np.empty(g)
        for _ in range(n_draws):
            if self.scheme == "multinomial":
                found = np.bincount(first + rng.integers(0, high), minlength=g)
            else:
                found = rng.poisson(1.0, size=g)
                while (empty := np.add.reduceat(found, self.starts) == 0).any():
                    again = np.repeat(empty, self.sizes)
                    found[again] = rng.poisson(1.0, size=int(again.sum()))
            counts[self.order] = found
            yield self.weights_of(counts.copy())


def _resampler(
    n: int,
    strata: ArrayLike | None,
    groups: ArrayLike | None,
    sample_weight: ArrayLike | None,
    scheme: str,
    n_draws: int,
) -> _Resampler:
    one_of(scheme, "scheme", SCHEMES)
    check_draws(n_draws)
    n = whole(n, "n", "pass the number of instances", least=1)
    units = make_units(n, groups, sample_weight)
    g = units.n_units
    of_unit = np.zeros(g, dtype=np.intp) if strata is None else _strata_of_units(strata, n, units)
    order = np.argsort(of_unit, kind="stable")
    sizes = np.bincount(of_unit)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return _Resampler(n, units, weights, order, np.cumsum(sizes) - sizes, sizes, scheme)


def _strata_of_units(strata: ArrayLike, n: int, units: Units) -> NDArray[np.intp]:
    """Stratum of each unit, by first appearance. The stratum of a group is the set of strata of its instances."""
    try:
        codes = make_units(n, strata, None).codes
    except InputError as problem:
        raise problem.replace(parameter="strata") from problem
    assert codes is not None
    kept = codes if units.rows is None else codes[units.rows]
    if units.codes is None:
        held = kept
    else:
        pairs = np.unique(np.stack([units.codes, kept]), axis=1)  # (2, P) by unit, then by stratum
        ends = np.cumsum(np.bincount(pairs[0]))
        sets = [tuple(part) for part in np.split(pairs[1], ends[:-1])]
        number = {found: i for i, found in enumerate(dict.fromkeys(sets))}
        held = np.array([number[found] for found in sets])
    _, first, inverse = np.unique(held, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.reshape(-1)]


def _checked_influence(influence: ArrayLike, n: int, units: Units) -> Floats:
    psi = as_floats(influence, "influence", ndim=(1,), shape=f"({n},)")
    if psi.shape != (n,) or np.isinf(psi).any():
        rule = f"needs one finite value for each of the {n} instances"
        got = f"got shape {psi.shape} with {int(np.isinf(psi).sum())} infinite"
        fail("influence", rule, got, "leave it out to use the jackknife", code="finite")
    return units.keep(psi)


def _number(statistic: Callable[[Floats], float], weights: Floats) -> float:
    value = statistic(weights)
    if not is_number(value):
        shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
        got = f"it returned {type(value).__name__}{shape}"
        fail("statistic", "must return one number", got, "return a float", code="shape")
    return float(value)


def _unit_influence(psi: Floats, resampler: _Resampler) -> Floats:
    """Influence of each unit, centred within its stratum, (n,) -> (G,)."""
    return _centred(resampler.units.sums(psi[:, np.newaxis])[:, 0], resampler)


def _jackknife(statistic: Callable[[Floats], float], resampler: _Resampler) -> Floats:
    """Influence of each unit from leaving it out. The unit of a one-unit stratum has influence 0."""
    pull = np.zeros(resampler.units.n_units)
    for start, size in zip(resampler.starts, resampler.sizes, strict=True):
        members = resampler.order[start : start + size]
        for unit in members if size > 1 else ():
            counts = np.ones(resampler.units.n_units)
            counts[unit] = 0.0
            pull[unit] = -(size - 1) / size * _number(statistic, resampler.weights_of(counts))
    return _centred(pull, resampler) if np.isfinite(pull).all() else np.full_like(pull, np.nan)


def _centred(values: Floats, resampler: _Resampler) -> Floats:
    ordered = values[resampler.order]
    means = np.add.reduceat(ordered, resampler.starts) / resampler.sizes
    centred = np.empty_like(values)
    centred[resampler.order] = ordered - np.repeat(means, resampler.sizes)
    return centred


# Joint draws of several means that know their degrees of freedom.


@in_one_order("models", "groups", "sample_weight", axes={"models": 1})
def student_draws(
    models: Sequence[ArrayLike],
    *,
    n_draws: int = 2000,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    rng: int | np.random.Generator | None = None,
) -> Floats:
    """Draws of every model's mean columns, the same instances for all, with Student's t in place of the normal.

    The instances part of a draw is multivariate t with the covariance of the means over the units, and their degrees of
    freedom. To it comes, for each model of R ≥ 2 runs by itself, the mean run effect as a multivariate t with R − 1 degrees of
    freedom. For two models of one run, the share of draws in which the first mean is lower is 1 − p/2 or p/2, with the p-value
    of `paired_mean_test`; a plain bootstrap makes it too sure with few groups or runs.

    Parameters
    ----------
    models : sequence of J array_like, each of shape (R_j, n, C)
        R_j training runs of model j on the same n instances.
    n_draws : int
        Number of draws B.
    groups, sample_weight
        As in `mean_estimate`. Groups of unequal size count as fully correlated inside, which gives the fewest degrees of
        freedom.
    rng : int or numpy Generator, optional
        None means seed 0.

    Returns
    -------
    draws : ndarray, shape (B, J, C)
        A column with an infinite value keeps its mean in all draws. With a single unit all draws are the means.

    Examples
    --------
    >>> one = [[[0.2], [0.4], [0.3]]]
    >>> two = [[[0.5], [0.5], [0.8]]]
    >>> draws = student_draws([one, two], n_draws=20000)
    >>> draws.shape, round(float((draws[:, 0] < draws[:, 1]).mean()), 2)  # p = .12
    ((20000, 2, 1), 0.94)
    """
    arrays = as_models(models)
    check_draws(n_draws)
    units = make_units(arrays[0].shape[1], groups, sample_weight)
    root = generator(rng)
    run_rngs = root.spawn(len(arrays))
    runs = [units.keep(array.swapaxes(1, 2)) for array in arrays]  # each (R_j, C, n)
    with np.errstate(invalid="ignore"):
        averaged = np.stack([run.mean(axis=0) for run in runs])  # (J, C, n)
        means = np.array([[units.mean(column) for column in model] for model in averaged])  # (J, C)
    draws = np.repeat(means[np.newaxis], n_draws, axis=0)  # (B, J, C)
    if units.n_units > 1:
        with np.errstate(invalid="ignore"):
            residuals = averaged - means[..., np.newaxis]
        is_seed = rng is None or isinstance(rng, int)  # others may have a state, which each call moves on
        student = partial(_student_of_seed, rng) if is_seed else partial(_student, root)
        draws += _instance_part(residuals, units, n_draws, student).reshape(draws.shape)
    for j, (run, run_rng) in enumerate(zip(runs, run_rngs, strict=True)):
        if len(run) > 1:
            draws[:, j] += _run_part(run, units, n_draws, run_rng)
    return draws


def _instance_part(
    residuals: Floats, units: Units, n_draws: int, student: Callable[[int, int, float], Floats]
) -> Floats:
    """Multivariate t of the units, (J, C, n) -> (B, J·C)."""
    columns = residuals.reshape(-1, units.n_instances)
    columns = np.where(np.isfinite(columns).all(axis=1, keepdims=True), columns, 0.0)
    g = units.n_units
    factors: Floats | float = g / (g - 1)
    dof: Floats | float = g - 1.0
    if units.weights is not None or units.n_units < units.n_instances:
        factors, dof = bell_mccaffrey(working_variances(units, 1.0), units.sizes)
    u = units.sums(columns.T) / units.sizes.sum() * np.sqrt(factors)[..., np.newaxis]  # (G, J·C)
    # R'R = U'U: a root of the covariance by which equal columns have equal draws, unlike one by eigenvalues
    with single_blas_thread():  # the narrow blocks of this decomposition leave further threads waiting on a core
        root = np.linalg.qr(u, mode="r")
    return student(n_draws, len(root), float(dof)) @ root


def _run_part(run: Floats, units: Units, n_draws: int, rng: np.random.Generator) -> Floats:
    """Multivariate t of the mean run effect, (R, C, n) -> (B, C)."""
    r = len(run)
    with np.errstate(invalid="ignore"):
        means = np.array([[units.mean(column) for column in one] for one in run])  # (R, C)
        effects = means - means.mean(axis=0)
    effects[:, ~np.isfinite(effects).all(axis=0)] = 0.0
    return _student(rng, n_draws, r, r - 1.0) @ effects / np.sqrt(r * (r - 1))


def _student(rng: np.random.Generator, n_draws: int, size: int, dof: float) -> Floats:
    """Multivariate t with unit scale, (B, size)."""
    return np.asarray(rng.standard_normal((n_draws, size)) * np.sqrt(dof / rng.chisquare(dof, size=(n_draws, 1))))


@lru_cache(maxsize=1)  # of all means that are drawn with one seed
def _student_of_seed(seed: int | None, n_draws: int, size: int, dof: float) -> Floats:
    return _student(generator(seed), n_draws, size, dof)
