"""The squared kernel calibration error (SKCE), its kernels and its interval."""

import math
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Literal, Protocol, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, row_chunks
from uqassay.checks import fail, number, one_of, whole
from uqassay.ids import in_one_order
from uqassay.metrics.calibration import GroupProducts, Signed, summed
from uqassay.metrics.reliability_diagrams import as_probs, labels_and_probs
from uqassay.predictions import PredictionLike

__all__ = [
    "Bandwidth",
    "Estimator",
    "Kernel",
    "PrepareKernel",
    "SettledKernel",
    "kernel_calibration_error",
    "settle_kernel",
]


# Kernels on predicted probabilities for kernel calibration errors, and their bandwidths.
#
# The matrix-valued kernels have the form k(p, p′)·I, where k is a similarity of two predictions.

Kernel = str | Callable[[Floats, Floats], Floats]
Bandwidth = float | Literal["median"] | None

MANY_PAIRS = 200_000  # most pairs from which the median is computed
MEDIAN_BYTES = 32 * 2**20
MANY_TERMS = 2**13  # entries of a table times K; larger tables are computed one by one by compiled code


@final
@dataclass(frozen=True)
class CalibrationKernel:
    """A named kernel."""

    formula: str  #: formula, with TV = ½ Σ |p_c − p′_c|
    metric: Literal["l1", "l2", "l2-squared"]  #: "l1", "l2" or "l2-squared": Distance on which the kernel depends
    scale: Callable[[Floats], Floats]  #: maps distances to the scale of the bandwidth
    exponent: Callable[[Floats, Floats | float], Floats]  #: maps distances and the bandwidth to ln k
    default: float | None  #: default bandwidth; None: the median heuristic


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
            rule = "must be a name or a function of two arrays"
            fail("kernel", rule, f"got {kernel!r}", "pass 'tv', say", code="type")
        if bandwidth is not None:
            rule = "must be left out for a kernel given as a function"
            fail("bandwidth", rule, f"got {bandwidth!r}", "put it into the function", code="conflict")
        return SettledKernel(kernel, np.array(1.0))
    form = _form(kernel)
    wanted = form.default if bandwidth is None else bandwidth
    if wanted is None or wanted == "median":
        if probs is None:
            fail(
                "bandwidth",
                "must be a number here, since every mixture would have a different median",
                f"got {bandwidth!r} for kernel {kernel!r}",
                "compute it once with kernel_bandwidth on the mean of the members",
                code="type",
            )
        return SettledKernel(kernel, _median(form, probs))
    wanted = number(wanted, "bandwidth", 'pass "median", or None for the default', low=0, ends="()")
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
        rule = f"must map arrays {p.shape} and {q.shape} to one value per pair, {shape}"
        fail("kernel", rule, f"got {values.shape}", "sum over the last axis only", code="shape")
    if not np.isfinite(values).all():
        fail(
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
        fail(
            "kernel",
            f"must be one of {known}, or a function",
            f"got {kernel!r}",
            "pass 'tv', the usual one",
            code="choice",
        )
    return CALIBRATION_KERNELS[kernel]


# Kernel values of pairs of predictions, prepared for kernel calibration errors with many draws of labels.

Labels = NDArray[np.intp]

TILE_BYTES = 2**21  # kernel values in one tile
FEW_ROWS = 48  # rows of a tile: more tiles compute fewer pairs twice, but each has an overhead
KEPT_BYTES = 2**26  # kernel values that are kept for further labels; larger ones are recomputed
FEW_CLASSES = 24  # with more classes, comparing labels is faster than one matrix product per class


class PreparedKernel(Protocol):
    """Probabilities (..., n, K) with the part of the estimate that does not depend on labels."""

    def values(self, labels: Labels) -> Floats:
        """The estimate for labels (..., n), leading axes broadcast."""
        ...


@final
@dataclass(frozen=True, eq=False)
class PreparedPairs:
    """Consecutive pairs of predictions p, q: probabilities (..., K, 2m), and k(p, q) and p · q, (..., m)."""

    by_class: Floats
    kernel: Floats
    products: Floats

    def terms(self, labels: Labels) -> Floats:
        """k(p, q) (p − e_y) · (q − e_z) of every pair, for labels (..., n), as (..., m)."""
        pairs = labels[..., : self.by_class.shape[-1]].reshape(*labels.shape[:-1], -1, 2)
        y, z = pairs[..., 0], pairs[..., 1]
        taken = _taken(self.by_class, pairs[..., ::-1].reshape(*labels.shape[:-1], -1))  # p at z, q at y
        terms = self.products - taken[..., 0::2]
        terms -= taken[..., 1::2]
        terms += y == z
        terms *= self.kernel
        return terms

    def values(self, labels: Labels) -> Floats:
        """Mean over the pairs for labels (..., n); nan if there is no pair."""
        terms = self.terms(labels)
        return terms.mean(axis=-1) if terms.shape[-1] else np.full(terms.shape[:-1], np.nan)

    def by_groups(self, groups: Labels, n_groups: int) -> Signed:
        """The estimate as a sum over pairs of groups. A pair inside a group keeps its value whatever the signs are."""
        n_pairs = self.by_class.shape[-1] // 2
        first, second = groups[0 : 2 * n_pairs : 2], groups[1 : 2 * n_pairs : 2]

        def of(labels: Labels) -> GroupProducts:
            terms = self.terms(labels) / max(n_pairs, 1)
            return GroupProducts(summed(first, second, terms, (n_groups, n_groups)))

        return of


@final
@dataclass(frozen=True, eq=False)
class PreparedBlocks:
    """Blocks of predictions (..., b, B, K); all pairs inside each block are compared."""

    probs: Floats  #: (..., b, B, K)
    kernel: SettledKernel
    biased: bool  #: True if pairs of an instance with itself are included

    def values(self, labels: Labels) -> Floats:
        """The estimate for labels (..., n); nan if there is no pair."""
        n_blocks, size = self.probs.shape[-3:-1]
        labels = labels[..., : n_blocks * size].reshape(*labels.shape[:-1], n_blocks, size)
        lead = np.broadcast_shapes(self.probs.shape[:-3], labels.shape[:-2])
        n_pairs = n_blocks * size * (size if self.biased else size - 1)
        if n_pairs == 0:
            return np.full(lead, np.nan)
        if math.prod(lead) == math.prod(self.probs.shape[:-3]):  # one draw of labels for each set of probabilities
            labels = np.broadcast_to(labels, (*lead, n_blocks, size)).reshape(self.probs.shape[:-1])
            return self._of_one_draw(labels).reshape(lead) / n_pairs
        sums, products, equal = self._of_draws(labels)
        # r · r′ = p · p′ − p[y′] − p′[y] + 1(y = y′): only the last three terms depend on the draw of labels
        taken = _taken(sums, labels.reshape(*labels.shape[:-2], -1)).sum(axis=-1)
        return cast(Floats, (products - 2 * taken + equal) / n_pairs)

    def by_groups(self, groups: Labels, n_groups: int) -> Signed:
        """The estimate as a sum over pairs of groups, for one set of probabilities (b, B, K)."""
        n_blocks, size, k = self.probs.shape
        n_pairs = max(n_blocks * size * (size if self.biased else size - 1), 1)
        rows = np.arange(size)
        members = [
            summed(rows, part, np.ones(size), (size, n_groups))
            for part in groups[: n_blocks * size].reshape(n_blocks, size)
        ]
        kept = list(self._tiles()) if 8 * self.probs.size // k * size <= KEPT_BYTES else None

        def of(labels: Labels) -> GroupProducts:
            errors = self.probs - (labels[: n_blocks * size].reshape(n_blocks, size, 1) == np.arange(k))
            products = np.zeros((n_groups, n_groups))
            for part, tile in self._tiles() if kept is None else kept:
                n_rows = part.stop - part.start
                h = tile * (errors[:, part] @ np.swapaxes(errors[:, part.start :], -1, -2))
                h[..., n_rows:] *= 2.0  # both orders of a pair
                for block, of_group in zip(h, members, strict=True):
                    products += of_group[part].T @ (block @ of_group[part.start :])
            return GroupProducts(products / n_pairs)

        return of

    def _of_one_draw(self, labels: Labels) -> Floats:
        """Σ k r · r′ over ordered pairs, for labels of the shape of the predictions."""
        errors = self.probs.copy()
        at = labels[..., np.newaxis]
        np.put_along_axis(errors, at, np.take_along_axis(errors, at, axis=-1) - 1.0, axis=-1)
        total = np.zeros(self.probs.shape[:-3])
        for part, tile in self._tiles():
            others = errors[..., part.start :, :].copy()
            others[..., part.stop - part.start :, :] *= 2.0  # both orders of a pair
            products = errors[..., part, :] @ np.swapaxes(others, -1, -2)
            total += np.einsum("...brc,...brc->...", tile, products)
        return total

    def _of_draws(self, labels: Labels) -> tuple[Floats, Floats, Floats]:
        """Σ_j k(p_i, p_j) p_j as (..., K, b B), Σ_ij k(p_i, p_j) p_i · p_j, and Σ_ij k(p_i, p_j) over equal labels."""
        n_classes = self.probs.shape[-1]
        if 8 * self.probs.size // n_classes * self.probs.shape[-2] > KEPT_BYTES:
            sums, products, _, equal = self._walked(labels)
        else:
            sums, products, tiles, _ = self._kept
            equal = sum((_over_equal(tile, labels, start, n_classes) for start, tile in tiles), np.zeros(()))
        return sums, products, equal

    @cached_property
    def _kept(self) -> tuple[Floats, Floats, list[tuple[int, Floats]], Floats]:
        """Result of `_walked` without labels, kept for many draws of labels."""
        return self._walked(None)

    def _walked(self, labels: Labels | None) -> tuple[Floats, Floats, list[tuple[int, Floats]], Floats]:
        """One pass over the kernel values. Without labels it returns the tiles; with labels it sums them and drops them."""
        k = self.probs.shape[-1]
        sums, tiles, equal = np.zeros(self.probs.shape), [], np.zeros(())
        for part, tile in self._tiles():
            sums[..., part, :] += tile @ self.probs[..., part.start :, :]
            later = tile[..., part.stop - part.start :]
            sums[..., part.stop :, :] += np.swapaxes(later, -1, -2) @ self.probs[..., part, :]
            later *= 2  # both orders of a pair
            if labels is None:
                tiles.append((part.start, tile))
            else:
                equal = equal + _over_equal(tile, labels, part.start, k)
        products = np.einsum("...bik,...bik->...", sums, self.probs)
        by_class = np.swapaxes(sums.reshape(*sums.shape[:-3], -1, k), -1, -2)
        return np.ascontiguousarray(by_class), products, tiles, equal

    def _tiles(self) -> Iterator[tuple[slice, Floats]]:
        """Slices of rows of a block, with k of each row and itself or later rows, (..., b, rows, size − start)."""
        size, k = self.probs.shape[-2:]
        per_row = self.probs.size // k * (8 + self.kernel.bytes_per_pair * k)
        n_rows = min(max(size // 8 + 1, FEW_ROWS), size // 4 + 1)
        for part in row_chunks(size, per_row, chunk_bytes=min(TILE_BYTES, per_row * n_rows)):
            tile = self.kernel.table(self.probs[..., part, :], self.probs[..., part.start :, :])
            if not self.biased:
                own = np.arange(part.stop - part.start)
                tile[..., own, own] = 0.0
            yield part, tile


def _taken(by_class: Floats, labels: Labels) -> Floats:
    """Entry of each label in a table, (..., K, n) and (..., n) -> (..., n); leading axes broadcast."""
    by_class = np.ascontiguousarray(by_class)
    k, n = by_class.shape[-2:]
    lead = by_class.shape[:-2]
    at = labels * n + np.arange(n)
    if lead:
        at = at + (np.arange(math.prod(lead)) * (k * n)).reshape(*lead, 1)
    return by_class.reshape(-1)[at]


def _over_equal(tile: Floats, labels: Labels, start: int, n_classes: int) -> Floats:
    """Σ of the kernel values of pairs with equal labels, (..., b, r, c) and (..., b, B) -> (...)."""
    n_rows, total = tile.shape[-2], np.zeros(())
    if n_classes <= FEW_CLASSES:
        for k in range(n_classes):
            happened = (labels == k).astype(np.float64)
            sums = _inner(tile, happened[..., np.newaxis, start:])  # (..., b, r)
            total = total + np.einsum("...br,...br->...", happened[..., start : start + n_rows], sums)
        return total
    labels = labels.astype(np.min_scalar_type(n_classes))  # small integers compare faster
    for part in row_chunks(n_rows, 8 * labels.size, chunk_bytes=TILE_BYTES):
        rows = labels[..., start + part.start : start + part.stop, np.newaxis]
        equal = (rows == labels[..., np.newaxis, start:]).astype(np.float64)
        flat = tile[..., part, :].reshape(*tile.shape[:-3], -1)
        total = total + _inner(flat, equal.reshape(*equal.shape[:-3], -1))
    return total


def _inner(a: Floats, b: Floats) -> Floats:
    """Σ_m a b over the last axis with broadcast leading axes.

    Axes that only a or only b has become rows or columns of a matrix product, which avoids the broadcast copies.
    """
    n_axes = max(a.ndim, b.ndim) - 1
    shapes = [(1,) * (n_axes + 1 - x.ndim) + x.shape for x in (a, b)]
    a, b = a.reshape(shapes[0]), b.reshape(shapes[1])
    both = [i for i in range(n_axes) if a.shape[i] > 1 and b.shape[i] > 1]
    only_b = [i for i in range(n_axes) if i not in both and b.shape[i] > 1]
    only_a = [i for i in range(n_axes) if i not in both and i not in only_b]
    shared = [a.shape[i] for i in both]
    left = a.transpose(*both, *only_a, *only_b, n_axes).reshape(*shared, -1, a.shape[-1])
    right = b.transpose(*both, *only_b, *only_a, n_axes).reshape(*shared, -1, b.shape[-1])
    product = left @ np.swapaxes(right, -1, -2)
    order = [*both, *only_a, *only_b]
    lengths = [a.shape[i] for i in [*both, *only_a]] + [b.shape[i] for i in only_b]
    return product.reshape(lengths).transpose(np.argsort(order)) if order else product.reshape(())


# Squared kernel calibration error (SKCE): strong calibration, measured without bins.
#
# Each pair of instances contributes h = k(p, p′) r · r′ with the errors r = p − e_y: it is positive if similar
# predictions have similar errors. Its expectation is 0 for a calibrated classifier and, with a characteristic kernel,
# only for one.

Estimator = Literal["quadratic", "linear", "block", "biased"]

ESTIMATORS = ("quadratic", "linear", "block", "biased")
PRINTED = SettledKernel("tv", np.array(1.0))


@in_one_order("probs", "y_true")
def kernel_calibration_error(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    estimator: Estimator = "quadratic",
    kernel: Kernel = "tv",
    bandwidth: Bandwidth = None,
    block_size: int | None = None,
    batched: bool = False,
) -> float | Floats:
    """Squared kernel calibration error of predicted probabilities, for the matrix kernel k(p, p′)·I.

    With h_ij = k(p_i, p_j) (p_i − e_y_i) · (p_j − e_y_j):

    * "quadratic": mean of h over all pairs i < j (credal calibration, equation 6); unbiased, O(n² K).
    * "linear": mean over the pairs (1, 2), (3, 4), … (equation 7); unbiased, O(n K), far noisier.
    * "block": mean over all pairs inside consecutive blocks; unbiased, between the two.
    * "biased": Σ h / n² over all i and j, including the diagonal; not negative for positive definite kernels, and
      Σ k(p_i, p_i) (1 − ‖p_i‖²) / n² in expectation for a calibrated classifier.

    Parameters
    ----------
    y_true : array_like of int, shape (n,)
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    estimator : {"quadratic", "linear", "block", "biased"}
    kernel : {"tv", "tv-squared", "laplacian", "exponential", "rbf"} or callable
        With TV = ½‖p − p′‖₁: "tv" exp(−TV/h), the kernel printed in the paper; "tv-squared" exp(−TV²/h), the kernel of the
        authors' code, which is not positive definite for K ≥ 3, so that "biased" may be negative; "laplacian"
        exp(−‖p − p′‖₁/h); "exponential" exp(−‖p − p′‖₂/h); "rbf" exp(−‖p − p′‖₂²/(2h²)). A function takes two arrays
        (..., K) that broadcast and returns the values (...); it must be symmetric.
    bandwidth : float, "median" or None
        h. "median": the median heuristic, see `kernel_bandwidth`. None: 1 for "tv", 2 for "tv-squared", else the median.
    block_size : int, optional
        Instances in a block, only for "block"; ⌊√n⌋ by default. An incomplete last block is omitted.
    batched : bool
        True if leading axes of an array `probs` (..., n, K) and of `y_true` (..., n) are data sets. They are broadcast,
        so one call can evaluate many draws of labels.

    Returns
    -------
    value : float, or array of the shape of the leading axes of a batch
        nan if there is no pair.

    Notes
    -----
    The unbiased estimators may be negative; their mean is 0 for a calibrated classifier. "linear" and "block" depend on the
    order of the instances: shuffle sorted data first.

    References
    ----------
    Widmann, Lindsten, Zachariah (2019), Calibration tests in multi-class classification: a unifying framework.
    Widmann, Lindsten, Zachariah (2021), Calibration tests beyond classification (blocks).

    Examples
    --------
    >>> probs = [[0.1, 0.8, 0.1], [0.2, 0.5, 0.3]]
    >>> round(kernel_calibration_error([1, 2], probs, kernel="exponential", bandwidth=1.0), 6)
    -0.103179
    >>> kernel_calibration_error([[1, 2], [0, 0]], probs, estimator="linear", batched=True).round(3).tolist()
    [-0.111, 0.852]
    """
    labels, p = labels_and_probs(y_true, probs, batched=batched)
    settled = settle_kernel(kernel, bandwidth, p)
    values = _prepared(p, estimator, settled, checked_block_size(block_size, estimator, p.shape[-2])).values(labels)
    return float(values) if values.ndim == 0 else values


# -- for use by other rooms -------------------------------------------------------------------------------------------


def prepare_linear(probs: Floats, *, kernel: SettledKernel = PRINTED) -> PreparedPairs:
    """The consecutive pairs of the linear estimator."""
    end = probs.shape[-2] // 2 * 2
    p, q = probs[..., 0:end:2, :], probs[..., 1:end:2, :]
    by_class = np.ascontiguousarray(np.swapaxes(probs[..., :end, :], -1, -2))
    products = np.einsum("...km,...km->...m", by_class[..., 0::2], by_class[..., 1::2])
    return PreparedPairs(by_class, kernel.pairs(p, q), products)


def prepare_quadratic(probs: Floats, *, kernel: SettledKernel = PRINTED) -> PreparedBlocks:
    """All pairs of different instances."""
    return _blocks(probs[..., np.newaxis, :, :], kernel.blocked(), biased=False)


def prepare_biased(probs: Floats, *, kernel: SettledKernel = PRINTED) -> PreparedBlocks:
    """All pairs, including each instance with itself."""
    return _blocks(probs[..., np.newaxis, :, :], kernel.blocked(), biased=True)


@final
@dataclass(frozen=True)
class PrepareKernel:
    """Factory of one of the estimators; the bandwidth must be a number if the kernel has no default."""

    estimator: Estimator = "quadratic"
    _: KW_ONLY
    kernel: Kernel = "tv"
    bandwidth: float | None = None
    block_size: int | None = None

    def __post_init__(self) -> None:
        checked_block_size(self.block_size, self.estimator, None)
        settle_kernel(self.kernel, self.bandwidth, None)

    def __call__(self, probs: Floats) -> PreparedKernel:
        """The part of the estimate for probabilities (..., n, K) that does not depend on labels."""
        return _prepared(probs, self.estimator, settle_kernel(self.kernel, self.bandwidth, None), self.block_size)


def block_terms(labels: Labels, probs: Floats, kernel: SettledKernel, size: int) -> Floats:
    """Unbiased estimate in every full block of this size, for labels (n,) and probabilities (n, K), as (⌊n/B⌋,)."""
    if size == 2:
        return prepare_linear(probs, kernel=kernel).terms(labels)
    n_blocks = len(probs) // size
    blocks = probs[: n_blocks * size].reshape(n_blocks, 1, size, -1)
    return _blocks(blocks, kernel, biased=False).values(labels[: n_blocks * size].reshape(n_blocks, size))


def _prepared(probs: Floats, estimator: Estimator, kernel: SettledKernel, block_size: int | None) -> PreparedKernel:
    if estimator == "linear":
        return prepare_linear(probs, kernel=kernel)
    if estimator == "quadratic":
        return prepare_quadratic(probs, kernel=kernel)
    if estimator == "biased":
        return prepare_biased(probs, kernel=kernel)
    n, k = probs.shape[-2:]
    size = default_block_size(n) if block_size is None else block_size
    n_blocks = n // size
    blocks = probs[..., : n_blocks * size, :].reshape(*probs.shape[:-2], n_blocks, size, k)
    return _blocks(blocks, kernel.blocked(), biased=False)


def default_block_size(n: int) -> int:
    """⌊√n⌋, at least 2."""
    return max(2, int(n**0.5))


def _blocks(probs: Floats, kernel: SettledKernel, *, biased: bool) -> PreparedBlocks:
    return PreparedBlocks(np.ascontiguousarray(probs), kernel, biased)


def checked_block_size(block_size: int | None, estimator: str, n: int | None) -> int | None:
    one_of(estimator, "estimator", ESTIMATORS)
    if block_size is None:
        return None
    if estimator != "block":
        rule, got = "can be set only for the block estimator", f"got {block_size!r} for {estimator!r}"
        fail("block_size", rule, got, "leave it out", code="conflict")
    whole(block_size, "block_size", "pass 2 for pairs", least=2, most=n if n and n > 1 else None)
    return int(block_size)
