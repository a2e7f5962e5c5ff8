"""Kernels on predicted probabilities for kernel calibration errors, and their bandwidths.

The matrix-valued kernels have the form k(p, p′)·I, where k is a similarity of two predictions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks
from uqassay.errors import InputError
from uqassay.metrics.calibration.inputs import as_probs
from uqassay.predictions import PredictionLike
from uqassay.statistics.samples import is_number

__all__ = [
    "CALIBRATION_KERNELS",
    "Bandwidth",
    "Kernel",
    "SettledKernel",
    "kernel_bandwidth",
    "settle_kernel",
]

Floats = NDArray[np.float64]
Kernel = str | Callable[[Floats, Floats], Floats]
Bandwidth = float | Literal["median"] | None

MANY_PAIRS = 200_000  # most pairs from which the median is computed
MEDIAN_BYTES = 32 * 2**20
MANY_TERMS = 2**13  # entries of a table times K; larger tables are computed one by one by compiled code


@final
@dataclass(frozen=True)
class CalibrationKernel:
    """A named kernel.

    Attributes
    ----------
    formula : str
        Formula, with TV = ½ Σ |p_c − p′_c|.
    metric : {"l1", "l2", "l2-squared"}
        Distance on which the kernel depends.
    scale : callable
        Maps distances to the scale of the bandwidth.
    exponent : callable
        Maps distances and the bandwidth to ln k.
    default : float or None
        Default bandwidth; None: the median heuristic.
    """

    formula: str
    metric: Literal["l1", "l2", "l2-squared"]
    scale: Callable[[Floats], Floats]
    exponent: Callable[[Floats, Floats | float], Floats]
    default: float | None


CALIBRATION_KERNELS = {
    "tv": CalibrationKernel("exp(−TV/h)", "l1", lambda d: d / 2, lambda d, h: np.multiply(d, -0.5 / h, out=d), 1.0),
    "tv-squared": CalibrationKernel("exp(−TV²/h)", "l1", lambda d: d * d / 4, lambda d, h: d * d / (-4 * h), 2.0),
    "laplacian": CalibrationKernel("exp(−‖p − p′‖₁/h)", "l1", lambda d: d, lambda d, h: d / -h, None),
    "exponential": CalibrationKernel("exp(−‖p − p′‖₂/h)", "l2", lambda d: d, lambda d, h: d / -h, None),
    "rbf": CalibrationKernel("exp(−‖p − p′‖₂²/(2h²))", "l2-squared", np.sqrt, lambda d, h: d / (-2 * h * h), None),
}


@final
@dataclass(frozen=True, eq=False)
class SettledKernel:
    """A kernel with its bandwidth as a number, or as one number for each entry of the leading axes."""

    kernel: Kernel
    bandwidth: Floats

    def pairs(self, p: Floats, q: Floats) -> Floats:
        """k of each p with the q of the same index, (..., m, K) and (..., m, K) -> (..., m)."""
        if not isinstance(self.kernel, str):
            return _own_values(self.kernel, p, q)
        return self._of(_pair_distances(_form(self.kernel).metric, p, q), self.kernel, 1)

    def table(self, p: Floats, q: Floats) -> Floats:
        """k of every p with every q, (..., r, K) and (..., c, K) -> (..., r, c)."""
        if not isinstance(self.kernel, str):
            return _own_values(self.kernel, p[..., :, np.newaxis, :], q[..., np.newaxis, :, :])
        return self._of(_table_of_distances(_form(self.kernel).metric, p, q), self.kernel, 2)

    @property
    def bytes_per_pair(self) -> int:
        """Memory for each pair and class if the kernel is a user's function; 0 for named kernels."""
        return 0 if isinstance(self.kernel, str) else 24

    def blocked(self) -> "SettledKernel":
        """The same kernel for probabilities with one more leading axis, the axis of blocks."""
        return SettledKernel(self.kernel, self.bandwidth[..., np.newaxis])

    def _of(self, distances: Floats, name: str, n_axes: int) -> Floats:
        bandwidth = (
            self.bandwidth.reshape(*self.bandwidth.shape, *[1] * n_axes)
            if self.bandwidth.size > 1
            else self.bandwidth.item()
        )
        exponents = _form(name).exponent(distances, bandwidth)
        return np.exp(exponents, out=exponents)


def settle_kernel(kernel: Kernel, bandwidth: Bandwidth, probs: Floats | None) -> SettledKernel:
    """The kernel with its bandwidth as a number.

    `probs` None is refused if the bandwidth depends on the data.
    """
    if not isinstance(kernel, str):
        if not callable(kernel):
            raise InputError(
                "kernel", "must be a name or a function of two arrays", f"got {kernel!r}", "pass 'tv', say", code="type"
            )
        if bandwidth is not None:
            raise InputError(
                "bandwidth",
                "must be left out for a kernel given as a function",
                f"got {bandwidth!r}",
                "put it into the function",
                code="conflict",
            )
        return SettledKernel(kernel, np.array(1.0))
    form = _form(kernel)
    wanted = form.default if bandwidth is None else bandwidth
    if wanted is None or wanted == "median":
        if probs is None:
            raise InputError(
                "bandwidth",
                "must be a number here, since every mixture would have a different median",
                f"got {bandwidth!r} for kernel {kernel!r}",
                "compute it once with kernel_bandwidth on the mean of the members",
                code="type",
            )
        return SettledKernel(kernel, _median(form, probs))
    if not is_number(wanted) or not 0 < float(wanted) < np.inf:
        raise InputError(
            "bandwidth",
            'must be a positive number or "median"',
            f"got {bandwidth!r}",
            "pass None for the default",
            code="range",
        )
    return SettledKernel(kernel, np.array(float(wanted)))


def kernel_bandwidth(probs: PredictionLike, *, kernel: str = "rbf", batched: bool = False) -> float | Floats:
    """Bandwidth by the median heuristic: the median over all pairs of predictions of the distance in the kernel.

    The distance is TV for "tv", TV² for "tv-squared", ‖p − p′‖₁ for "laplacian", ‖p − p′‖₂ for "exponential" and "rbf". For
    a test over mixtures, compute it once from the mean of the members; otherwise every mixture would have a different kernel.

    Parameters
    ----------
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    kernel : {"tv", "tv-squared", "laplacian", "exponential", "rbf"}
    batched : bool
        True if leading axes of an array (..., n, K) are data sets.

    Returns
    -------
    bandwidth : float, or array of the shape of the leading axes of a batch
        Exact for n ≤ 632, otherwise from 200,000 pairs drawn with a fixed seed. If more than half of the pairs are equal, the
        median of the positive distances; if all predictions are equal, 1.

    Raises
    ------
    InputError
        Rows that are not probabilities, or a kernel without a bandwidth.

    References
    ----------
    Gretton et al. (2012), A kernel two-sample test, section 8.

    Examples
    --------
    >>> round(kernel_bandwidth([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], kernel="tv"), 6)
    0.5
    """
    found = _median(_form(kernel), as_probs(probs, batched=batched))
    return float(found) if found.ndim == 0 else found


# -- distances --------------------------------------------------------------------------------------------------------


def _pair_distances(metric: str, p: Floats, q: Floats) -> Floats:
    """Distance of each p to the q of the same index, (..., m, K) -> (..., m)."""
    p, q = np.swapaxes(p, -1, -2), np.swapaxes(q, -1, -2)  # the sum over classes then adds contiguous rows
    if metric == "l1":
        return np.abs(p - q).sum(axis=-2)
    gaps = p - q
    squares = np.einsum("...km,...km->...m", gaps, gaps)
    return np.sqrt(squares) if metric == "l2" else squares


def _table_of_distances(metric: str, p: Floats, q: Floats) -> Floats:
    if metric == "l2-squared":  # ‖p‖² + ‖q‖² − 2 p · q, where rounding can go below 0
        table = p @ np.swapaxes(q, -1, -2)
        table *= -2
        table += np.einsum("...rk,...rk->...r", p, p)[..., :, np.newaxis]
        table += np.einsum("...ck,...ck->...c", q, q)[..., np.newaxis, :]
        return np.maximum(table, 0.0, out=table)
    lead = np.broadcast_shapes(p.shape[:-2], q.shape[:-2])
    if p.shape[-2] * q.size // max(math.prod(q.shape[:-2]), 1) >= MANY_TERMS:
        return _compiled_distances(metric, p, q, lead)
    table, part = np.zeros((2, *lead, p.shape[-2], q.shape[-2]))
    for k in range(p.shape[-1]):  # classes
        one, other = p[..., :, np.newaxis, k], q[..., np.newaxis, :, k]
        if metric == "l1":
            table += np.minimum(one, other, out=part)
        else:
            np.subtract(one, other, out=part)
            table += np.multiply(part, part, out=part)
    if metric == "l2":
        return np.sqrt(table, out=table)
    table *= -2  # |a − b| = a + b − 2 min(a, b): two passes over the table per class instead of three
    table += p.sum(axis=-1)[..., :, np.newaxis]
    table += q.sum(axis=-1)[..., np.newaxis, :]
    return np.maximum(table, 0.0, out=table)


def _compiled_distances(metric: str, p: Floats, q: Floats, lead: tuple[int, ...]) -> Floats:
    """Distances of large tables by SciPy, one table after another."""
    from scipy.spatial.distance import cdist

    tables = np.empty((math.prod(lead), p.shape[-2], q.shape[-2]))
    rows, columns = (np.broadcast_to(a, (*lead, *a.shape[-2:])).reshape(-1, *a.shape[-2:]) for a in (p, q))
    for table, one, other in zip(tables, rows, columns, strict=True):
        cdist(one, other, "cityblock" if metric == "l1" else "euclidean", out=table)
    return tables.reshape(*lead, *tables.shape[1:])


def _own_values(function: Callable[[Floats, Floats], Floats], p: Floats, q: Floats) -> Floats:
    """Validated values of a user's kernel function."""
    values = np.array(function(p, q), dtype=np.float64)
    shape = np.broadcast_shapes(p.shape, q.shape)[:-1]
    if values.shape != shape:
        raise InputError(
            "kernel",
            f"must map arrays {p.shape} and {q.shape} to one value per pair, {shape}",
            f"got {values.shape}",
            "sum over the last axis only",
            code="shape",
        )
    if not np.isfinite(values).all():
        raise InputError(
            "kernel",
            "must return finite values",
            "got nan or inf",
            "check the function for equal predictions",
            code="finite",
        )
    return values


def _median(form: CalibrationKernel, probs: Floats) -> Floats:
    """Median of the scaled distances over pairs, (..., n, K) -> (...)."""
    n, k = probs.shape[-2:]
    lead = probs.shape[:-2]
    if n == 1:
        return np.ones(lead)
    if n * (n - 1) // 2 <= MANY_PAIRS:
        i, j = np.triu_indices(n, 1)
    else:
        generator = np.random.default_rng(0)
        i = generator.integers(0, n, MANY_PAIRS)
        j = (i + generator.integers(1, n, MANY_PAIRS)) % n
    flat = probs.reshape(-1, n, k)
    medians = np.empty(len(flat))
    for part in row_chunks(len(flat), 8 * len(i), chunk_bytes=MEDIAN_BYTES):
        scaled = np.empty((part.stop - part.start, len(i)))
        for pairs in row_chunks(len(i), 24 * k * len(scaled), chunk_bytes=MEDIAN_BYTES):
            scaled[:, pairs] = form.scale(_pair_distances(form.metric, flat[part, i[pairs]], flat[part, j[pairs]]))
        medians[part] = np.median(scaled, axis=1)
        tied = medians[part] == 0
        if tied.any():
            with np.errstate(invalid="ignore"):
                positive = np.where(scaled[tied] > 0, scaled[tied], np.nan)
            defined = ~np.isnan(positive).all(axis=1)
            instead = np.ones(len(positive))
            instead[defined] = np.nanmedian(positive[defined], axis=1)
            medians[np.flatnonzero(tied) + part.start] = instead
    return medians.reshape(lead)


def _form(kernel: str) -> CalibrationKernel:
    if kernel not in CALIBRATION_KERNELS:
        known = ", ".join(CALIBRATION_KERNELS)
        raise InputError(
            "kernel",
            f"must be one of {known}, or a function",
            f"got {kernel!r}",
            "pass 'tv', the usual one",
            code="choice",
        )
    return CALIBRATION_KERNELS[kernel]
