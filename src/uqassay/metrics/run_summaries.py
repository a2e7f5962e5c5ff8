"""Summaries of repeated training runs: means and correlations with intervals, sign flips, ranks.

Runs are the independent units. Instances of one run are not, because one network states all of them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay._kernels import kernel
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics import Estimate, mean_correlation_estimate, mean_estimate
from uqassay.statistics.fisher_z import LARGEST
from uqassay.statistics.samples import as_floats
from uqassay.wording import counted

__all__ = ["correlation_over_runs", "finite_array", "mean_over_runs", "midranks", "sign_flip_pvalues", "spearman"]

Array = NDArray[np.float64]

EXACT_RUNS = 20  # 2^20 sums of flipped signs take 8 MB
N_FLIPS = 2**17  # random flips for more runs
TIE = 1e-12  # sums this close, relative to the sum of absolute values, are equal up to rounding


def finite_array(values: ArrayLike, name: str, axes: str) -> Array:
    """Real and finite values as float64 with the axes named, such as "(R, C, n)".

    Raises
    ------
    InputError
    """
    array = as_floats(values, name, ndim=(axes.count(",") + 1,), shape=axes)
    infinite = np.isinf(array)
    if infinite.any():
        raise InputError(
            name,
            "values must be finite",
            f"index {tuple(int(i) for i in np.argwhere(infinite)[0])} holds {array[infinite][0]}",
            "repair the estimate first",
            code="finite",
        )
    return array


def mean_over_runs(per_run: ArrayLike, *, level: float = 0.95, bounds: tuple[float, float] | None = None) -> Estimate:
    """Mean over R runs with Student's t interval.

    Parameters
    ----------
    per_run : array (R,)
        nan where a run has no value; the mean then is nan too, with a note.
    level : float
    bounds : tuple of float, optional
        Range of the quantity; the interval is cut to it, and a note says so.

    Examples
    --------
    >>> mean_over_runs([0.1, 0.2, 0.3, 0.2])
    Estimate(0.2, low=0.07008, high=0.3299, level=0.95, n=4, method='student-t')
    """
    values = np.asarray(per_run, dtype=np.float64)
    notes: list[Note] = []
    value, low, high = float(values.mean()), np.nan, np.nan
    missing = int(np.isnan(values).sum())
    if missing:
        notes.append(Note("undefined", f"undefined in {missing} of {counted(values.size, 'run')}"))
    elif values.size == 1:
        notes.append(Note("no-interval", "1 run: no interval"))
    else:
        found = mean_estimate(values, level=level)
        value, low, high, notes = float(found), found.low, found.high, list(found.notes)
        if bounds is not None and (low < bounds[0] or high > bounds[1]):
            low, high = max(low, bounds[0]), min(high, bounds[1])
            notes.append(Note("edge", "the interval ends at the least or greatest possible value", {"bounds": bounds}))
    return Estimate(value, low=low, high=high, level=level, n=values.size, method="student-t", notes=notes)


def correlation_over_runs(
    per_run: ArrayLike,
    *,
    level: float = 0.95,
    n_instances: int | None = None,
    instance_variance: float | None = None,
    notes: Sequence[Note] = (),
) -> Estimate:
    """Correlation of R runs: tanh of the mean of Fisher's z = artanh r, with its interval.

    Parameters
    ----------
    per_run : array (R,)
        nan where a run has no correlation; the mean then is nan too, with a note.
    level : float
    n_instances : int, optional
        Number of instances that each rank correlation is computed from. The interval then is for other runs and other
        instances: the variance (1 + r²/2) / (n − 3) of the z of Spearman's r is added to that of the runs (Bonett and
        Wright, 2000), with Satterthwaite's degrees of freedom. None: for other runs on the same instances.
    instance_variance : float, optional
        Variance of the mean r over other instances, where it is known better: used with `n_instances` in place of Bonett and
        Wright's.
    notes : sequence of Note
        Put first.

    Returns
    -------
    Estimate
        n is the number of runs. Rules for equal correlations and for ±1 are those of
        `uqassay.statistics.mean_correlation_estimate`.

    References
    ----------
    Bonett, Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman correlations.

    Examples
    --------
    >>> correlation_over_runs([0.88, 0.9, 0.85, 0.91])
    Estimate(0.8871, low=0.8392, high=0.9213, level=0.95, n=4, method="Fisher's z over runs")
    >>> correlation_over_runs([0.88, 0.9, 0.85, 0.91], n_instances=100)
    Estimate(0.8871, low=0.8142, high=0.9324, level=0.95, n=4, method="Fisher's z over runs and instances")
    """
    r = np.asarray(per_run, dtype=np.float64)
    remarks = list(notes)
    method = "Fisher's z over runs" + ("" if n_instances is None else " and instances")
    missing = int(np.isnan(r).sum())
    if missing:
        remarks = remarks or [Note("undefined", f"undefined in {missing} of {counted(r.size, 'run')}")]
        return Estimate(np.nan, low=np.nan, high=np.nan, level=level, n=r.size, method=method, notes=remarks)
    found = mean_correlation_estimate(r, level=level)
    value, low, high = float(found), found.low, found.high
    if r.size == 1:
        remarks.append(Note("no-interval", "1 run: no interval"))
    else:
        remarks += found.notes
    if n_instances is not None and np.isfinite(low) and abs(value) < 1:
        low, high = _for_other_instances(r, value, (n_instances, instance_variance), level)
        remarks = [note for note in remarks if note.code != "no-width"]
        if np.isnan(low):
            remarks.append(Note("no-interval", f"{counted(n_instances, 'instance')}: no interval"))
    return Estimate(value, low=low, high=high, level=level, n=r.size, method=method, notes=remarks)


def _for_other_instances(
    r: Array, value: float, instances: tuple[int, float | None], level: float
) -> tuple[float, float]:
    n, known = instances
    if n <= 3:
        return np.nan, np.nan
    z = np.arctanh(np.clip(r, -LARGEST, LARGEST))
    of_runs = float(z.var(ddof=1)) / r.size
    of_instances = (
        (1 + value**2 / 2) / (n - 3) if known is None else known / (1 - value**2) ** 2
    )  # of z, dz = dr / (1 − r²)
    variance = of_runs + of_instances
    terms = of_runs**2 / (r.size - 1) + of_instances**2 / (n - 2)
    dof = min(variance**2 / terms, 1e9) if terms > 0 else 1e9
    reach = float(special.stdtrit(dof, 0.5 + level / 2)) * variance**0.5
    return float(np.tanh(z.mean() - reach)), float(np.tanh(z.mean() + reach))


def sign_flip_pvalues(per_run: ArrayLike) -> tuple[float, float]:
    """One-sided p-values of the hypothesis that R independent values are symmetric about 0.

    Exact over all 2^R signs up to 20 runs; 131,072 random signs (seed 0), with 1 added to both counts, for more.

    Parameters
    ----------
    per_run : array (R,)

    Returns
    -------
    below, above : float
        Against values below 0, and above 0. The least possible p-value is 2^−R.

    References
    ----------
    Fisher (1935), The Design of Experiments, chapter 3.

    Examples
    --------
    >>> sign_flip_pvalues([-1.0, -2.0, -0.5, -3.0])
    (0.0625, 1.0)
    """
    d = np.asarray(per_run, dtype=np.float64)
    total, slack = float(d.sum()), TIE * float(np.abs(d).sum())
    if d.size <= EXACT_RUNS:
        sums = np.zeros(1)
        for value in d:
            sums = np.concatenate([sums + value, sums - value])
        added = 0
    else:
        rng = np.random.default_rng(0)
        sums = np.concatenate([rng.choice([-1.0, 1.0], (N_FLIPS // 64, d.size)) @ d for _ in range(64)])
        added = 1
    counts = (int((sums <= total + slack).sum()), int((sums >= total - slack).sum()))
    below, above = ((count + added) / (sums.size + added) for count in counts)
    return below, above


def midranks(values: ArrayLike) -> Array:
    """Ranks 1 … n along the last axis; tied values have the mean of their ranks.

    Examples
    --------
    >>> midranks([3.0, 1.0, 3.0, 2.0])
    array([3.5, 1. , 3.5, 2. ])
    """
    array = np.asarray(values)
    n = array.shape[-1]
    rank = kernel("midranks")
    if rank is not None and array.size and array.dtype in (np.float32, np.float64) and not np.isnan(array).any():
        rows = np.ascontiguousarray(array).reshape(-1, n)
        return np.array([rank(row) for row in rows]).reshape(array.shape)
    order = np.argsort(array, axis=-1)
    ordered = np.take_along_axis(array, order, axis=-1)
    position = np.broadcast_to(np.arange(n), array.shape)
    begins, ends = np.ones(array.shape, dtype=bool), np.ones(array.shape, dtype=bool)
    begins[..., 1:] = ends[..., :-1] = ordered[..., 1:] != ordered[..., :-1]
    first = np.maximum.accumulate(np.where(begins, position, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, position, n)[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(array.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks


def spearman(x: ArrayLike, y: ArrayLike) -> Array:
    """Spearman's rank correlation along the last axis, ties by midranks, (…, n) and (…, n) -> (…); nan for constant values.

    Examples
    --------
    >>> float(spearman([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]))
    0.8
    """
    a, b = (ranks - (ranks.shape[-1] + 1) / 2 for ranks in (midranks(x), midranks(y)))
    squares = (a * a).sum(axis=-1) * (b * b).sum(axis=-1)
    # sums of ranks are exact, so only the root is rounded
    found = (a * b).sum(axis=-1) / np.sqrt(np.where(squares > 0, squares, np.nan))
    return np.asarray(np.clip(found, -1.0, 1.0))
