"""Kernel values of pairs of predictions, prepared for kernel calibration errors with many draws of labels."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks
from uqassay.metrics.calibration.group_signs import GroupProducts, Signed, summed
from uqassay.metrics.calibration.kernels import SettledKernel

__all__ = ["PreparedBlocks", "PreparedKernel", "PreparedPairs"]

Floats = NDArray[np.float64]
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
    """Blocks of predictions (..., b, B, K); all pairs inside each block are compared.

    Attributes
    ----------
    probs : array (..., b, B, K)
    kernel : SettledKernel
    biased : bool
        True if pairs of an instance with itself are included.
    """

    probs: Floats
    kernel: SettledKernel
    biased: bool

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


# -- helpers ----------------------------------------------------------------------------------------------------------


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
