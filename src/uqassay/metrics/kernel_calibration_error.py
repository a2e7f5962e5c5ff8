"""Squared kernel calibration error (SKCE): calibration in the strong sense without bins.

With errors r = p − e_y of the predictions, a pair of instances counts h = k(p, p′) r · r′: whether errors agree where
predictions are similar. Its expectation is 0 for a calibrated classifier and, for a characteristic kernel, for no other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import row_chunks
from uqassay.errors import InputError
from uqassay.metrics.calibration_inputs import calibration_batch
from uqassay.metrics.calibration_kernels import Bandwidth, Kernel, SettledKernel, settle_kernel
from uqassay.statistics._samples import check_choice

__all__ = [
    "Estimator",
    "kernel_calibration_error",
    "prepare_biased",
    "prepare_kernel",
    "prepare_linear",
    "prepare_quadratic",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Estimator = Literal["quadratic", "linear", "block", "biased"]

ESTIMATORS = ("quadratic", "linear", "block", "biased")
PRINTED = SettledKernel("tv", np.array(1.0))
TILE_BYTES = 2**21  # kernel values at once
KEPT_BYTES = 2**26  # kernel values that wait for labels; where there are more, they are found again


class PreparedKernel(Protocol):
    """Probabilities (..., n, K) with what of the kernel does not depend on labels."""

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
        """Mean over the pairs for labels (..., n); nan where there is no pair."""
        terms = self.terms(labels)
        return terms.mean(axis=-1) if terms.shape[-1] else np.full(terms.shape[:-1], np.nan)


@final
@dataclass(frozen=True, eq=False)
class PreparedBlocks:
    """Blocks of predictions (..., b, B, K) whose pairs inside each block are all compared.

    Attributes
    ----------
    probs : array (..., b, B, K)
    kernel : SettledKernel
    biased : bool
        Whether an instance is compared with itself, too.
    kept : tuple or None
        Sums Σ_j k(p_i, p_j) p_j as (..., K, b B), Σ_ij k(p_i, p_j) p_i · p_j, and the tiles of kernel values, where these are
        few enough to be kept.
    """

    probs: Floats
    kernel: SettledKernel
    biased: bool
    kept: tuple[Floats, Floats, list[tuple[int, Floats]]] | None

    def values(self, labels: Labels) -> Floats:
        """The estimate for labels (..., n); nan where there is no pair."""
        n_blocks, size = self.probs.shape[-3:-1]
        labels = labels[..., : n_blocks * size].reshape(*labels.shape[:-1], n_blocks, size)
        n_pairs = n_blocks * size * (size if self.biased else size - 1)
        if n_pairs == 0:
            return np.full(np.broadcast_shapes(self.probs.shape[:-3], labels.shape[:-2]), np.nan)
        if self.kept is None:
            sums, products, _, equal = self.walked(labels)
        else:
            sums, products, tiles = self.kept
            equal = sum((_over_equal(k, labels, start) for start, k in tiles), np.zeros(()))
        # Σ k (p · p′ − p[y′] − p′[y] + 1(y = y′)) over ordered pairs
        taken = _taken(sums, labels.reshape(*labels.shape[:-2], -1)).sum(axis=-1)
        return cast(Floats, (products - 2 * taken + equal) / n_pairs)

    def walked(self, labels: Labels | None) -> tuple[Floats, Floats, list[tuple[int, Floats]], Floats]:
        """Walk once over the kernel values; the tiles are given back without labels, used up with them."""
        size, k = self.probs.shape[-2:]
        sums, tiles, equal = np.zeros(self.probs.shape), [], np.zeros(())
        per_row = self.probs.size // k * (8 + self.kernel.bytes_per_pair * k)
        for part in row_chunks(size, per_row, chunk_bytes=min(TILE_BYTES, per_row * (size // 4 + 1))):
            start, stop = part.start, part.stop
            mine, others = self.probs[..., part, :], self.probs[..., start:, :]
            tile = self.kernel.table(mine, others)  # (..., b, rows, size − start)
            if not self.biased:
                own = np.arange(stop - start)
                tile[..., own, own] = 0.0
            sums[..., part, :] += tile @ others
            later = tile[..., stop - start :]
            sums[..., stop:, :] += np.swapaxes(later, -1, -2) @ mine
            later *= 2  # both orders of a pair
            if labels is None:
                tiles.append((start, tile))
            else:
                equal = equal + _over_equal(tile, labels, start)
        products = np.einsum("...bik,...bik->...", sums, self.probs)
        by_class = np.swapaxes(sums.reshape(*sums.shape[:-3], -1, k), -1, -2)
        return np.ascontiguousarray(by_class), products, tiles, equal


def kernel_calibration_error(
    y_true: ArrayLike,
    probs: ArrayLike,
    *,
    estimator: Estimator = "quadratic",
    kernel: Kernel = "tv",
    bandwidth: Bandwidth = None,
    block_size: int | None = None,
) -> float | Floats:
    """Squared kernel calibration error of predicted probabilities, for the matrix kernel k(p, p′)·I.

    With h_ij = k(p_i, p_j) (p_i − e_y_i) · (p_j − e_y_j):

    * "quadratic": mean of h over all pairs i < j (paper 001, equation 6); unbiased, O(n² K).
    * "linear": mean over the pairs (1, 2), (3, 4), … (equation 7); unbiased, O(n K), far noisier.
    * "block": mean over all pairs inside consecutive blocks; unbiased, in between.
    * "biased": Σ h / n² over all i and j, the diagonal included; not negative for positive definite kernels, and
      Σ k(p_i, p_i) (1 − ‖p_i‖²) / n² in expectation for a calibrated classifier.

    Parameters
    ----------
    y_true : array_like of int, shape (..., n)
        Labels; leading axes are broadcast with those of the probabilities, so that many draws of labels are judged at once.
    probs : array_like, shape (..., n, K)
    estimator : {"quadratic", "linear", "block", "biased"}
    kernel : {"tv", "tv-squared", "laplacian", "exponential", "rbf"} or callable
        With TV = ½‖p − p′‖₁: "tv" exp(−TV/h), the kernel that is printed in the paper; "tv-squared" exp(−TV²/h), the one of
        the authors' code, which is not positive definite from K = 3 on, so that "biased" may be negative; "laplacian"
        exp(−‖p − p′‖₁/h); "exponential" exp(−‖p − p′‖₂/h); "rbf" exp(−‖p − p′‖₂²/(2h²)). A function of one's own takes two
        arrays (..., K) that broadcast, gives the values (...), and must be symmetric.
    bandwidth : float, "median" or None
        h. "median" is the median heuristic, see `kernel_bandwidth`. None: 1 for "tv", 2 for "tv-squared", else the median.
    block_size : int, optional
        Instances in a block, for "block" only; ⌊√n⌋ unless given. A last block that is not full is left out.

    Returns
    -------
    value : float, or array (...)
        nan where there is no pair.

    Raises
    ------
    InputError
        For labels or probabilities that are none, or options that do not exist.

    Notes
    -----
    The unbiased estimators may be negative, and are 0 on average for a calibrated classifier. The order of the instances
    matters to "linear" and "block": shuffle sorted data first.

    References
    ----------
    Widmann, Lindsten, Zachariah (2019), Calibration tests in multi-class classification: a unifying framework.
    Widmann, Lindsten, Zachariah (2021), Calibration tests beyond classification (blocks).

    Examples
    --------
    >>> probs = [[0.1, 0.8, 0.1], [0.2, 0.5, 0.3]]
    >>> round(kernel_calibration_error([1, 2], probs, kernel="exponential", bandwidth=1.0), 6)
    -0.103179
    >>> kernel_calibration_error([[1, 2], [0, 0]], probs, estimator="linear").round(3).tolist()
    [-0.111, 0.852]
    """
    labels, p = calibration_batch(y_true, probs)
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
    """All pairs, those of an instance with itself included."""
    return _blocks(probs[..., np.newaxis, :, :], kernel.blocked(), biased=True)


def prepare_kernel(
    estimator: Estimator = "quadratic",
    *,
    kernel: Kernel = "tv",
    bandwidth: float | None = None,
    block_size: int | None = None,
) -> Callable[[Floats], PreparedKernel]:
    """What prepares one of the estimators; the bandwidth must be a number where the kernel has none of its own."""
    checked_block_size(block_size, estimator, None)
    settled = settle_kernel(kernel, bandwidth, None)
    return partial(_prepared, estimator=estimator, kernel=settled, block_size=block_size)


def block_terms(labels: Labels, probs: Floats, kernel: SettledKernel, size: int) -> Floats:
    """Unbiased estimate in every full block of this size, for labels (n,) and probabilities (n, K), as (⌊n/B⌋,)."""
    if size == 2:
        return prepare_linear(probs, kernel=kernel).terms(labels)
    n_blocks = len(probs) // size
    blocks = probs[: n_blocks * size].reshape(n_blocks, 1, size, -1)
    return _blocks(blocks, kernel, biased=False).values(labels[: n_blocks * size].reshape(n_blocks, size))


# -- helpers ----------------------------------------------------------------------------------------------------------


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
    """⌊√n⌋, and 2 at least."""
    return max(2, int(n**0.5))


def _blocks(probs: Floats, kernel: SettledKernel, *, biased: bool) -> PreparedBlocks:
    prepared = PreparedBlocks(probs, kernel, biased, None)
    if 8 * probs.size // probs.shape[-1] * probs.shape[-2] > KEPT_BYTES:
        return prepared
    sums, products, tiles, _ = prepared.walked(None)
    return PreparedBlocks(probs, kernel, biased, (sums, products, tiles))


def checked_block_size(block_size: int | None, estimator: str, n: int | None) -> int | None:
    check_choice(estimator, "estimator", ESTIMATORS)
    if block_size is None:
        return None
    if estimator != "block":
        raise InputError(
            f"block_size: belongs to the block estimator; got {block_size!r} for {estimator!r}; leave it out."
        )
    if isinstance(block_size, bool) or not isinstance(block_size, int | np.integer) or block_size < 2:
        raise InputError(f"block_size: must be a whole number of at least 2; got {block_size!r}; 2 makes pairs.")
    if n is not None and 1 < n < block_size:
        raise InputError(f"block_size: must not exceed the {n} instances; got {block_size}; make blocks smaller.")
    return int(block_size)


def _taken(by_class: Floats, labels: Labels) -> Floats:
    """What each label takes from a table, (..., K, n) and (..., n) -> (..., n), leading axes broadcast."""
    by_class = np.ascontiguousarray(by_class)
    k, n = by_class.shape[-2:]
    lead = by_class.shape[:-2]
    at = labels * n + np.arange(n)
    if lead:
        at = at + (np.arange(by_class.size // max(k * n, 1)) * (k * n)).reshape(*lead, 1)
    return by_class.reshape(-1)[at]


def _over_equal(tile: Floats, labels: Labels, start: int) -> Floats:
    """Σ of the kernel values of pairs with equal labels, (..., b, r, c) and (..., b, B) -> (...)."""
    n_rows = tile.shape[-2]
    total = np.zeros(())
    for part in row_chunks(n_rows, 8 * labels.size, chunk_bytes=8 * TILE_BYTES):
        rows = labels[..., start + part.start : start + part.stop, np.newaxis]
        equal = (rows == labels[..., np.newaxis, start:]).astype(np.float64)
        flat = tile[..., part, :].reshape(*tile.shape[:-3], -1)
        total = total + _inner(flat, equal.reshape(*equal.shape[:-3], -1))
    return total


def _inner(a: Floats, b: Floats) -> Floats:
    """Σ_m a b over the last axis, leading axes broadcast, as one matrix product per entry of the axes that both have."""
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
