"""Joint draws of several means that know their degrees of freedom."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike

from uqassay._array import generator
from uqassay._blas import single_blas_thread
from uqassay._one_order import in_one_order
from uqassay.statistics.samples import (
    Floats,
    Units,
    as_models,
    bell_mccaffrey,
    check_draws,
    make_units,
    working_variances,
)

__all__ = ["student_draws"]


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

    Raises
    ------
    InputError
        When there is no model, models differ in n or C, a value is nan, or a shape does not fit.

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
