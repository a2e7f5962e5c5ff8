"""Calibration measures as functions of sums over groups, whose signs can be drawn at random (wild bootstrap)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["GroupProducts", "GroupSums", "Groupwise", "Signed", "SignedMeasure", "summed"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

DENSE = 2**20  # entries


class SignedMeasure(Protocol):
    """A measure of given labels in which the deviations of every group can change their sign."""

    def values(self, signs: Floats) -> Floats:
        """The measure for signs (D, G), as (D,); with all signs 1 it is the measure of the labels."""
        ...


Signed = Callable[[Rows], SignedMeasure]


@runtime_checkable
class Groupwise(Protocol):
    """A prepared measure that can be written as a function of sums over groups."""

    def by_groups(self, groups: Rows, n_groups: int) -> Signed:
        """For the group 0 … G − 1 of each instance (n,): a function of labels (n,) that returns the measure."""
        ...


@final
@dataclass(frozen=True, eq=False)
class GroupSums:
    """A function of the sums over groups of deviations of events from their probabilities.

    Attributes
    ----------
    sums : array or sparse array (G, C)
        Sum of the deviations of each group in each cell, such as a bin.
    value : callable
        Maps sums over all groups (D, C) to the measure (D,).
    """

    sums: "Floats | csr_array"
    value: Callable[[Floats], Floats]

    def values(self, signs: Floats) -> Floats:
        """The measure for signs (D, G)."""
        return self.value(np.ascontiguousarray(signs @ self.sums))


def summed(groups: Rows, cells: Rows, amounts: Floats, shape: tuple[int, int]) -> "Floats | csr_array":
    """Sums of amounts (m,) by their groups and cells (m,), as (G, C); sparse if that is large."""
    if shape[0] * shape[1] <= DENSE:
        return np.bincount(groups * shape[1] + cells, amounts, shape[0] * shape[1]).reshape(shape)
    from scipy.sparse import csr_array  # slow to import, and small problems do not need it

    return csr_array((amounts, (groups, cells)), shape=shape)


@final
@dataclass(frozen=True, eq=False)
class GroupProducts:
    """A sum over pairs of groups: wᵀ Q w for signs w.

    Attributes
    ----------
    products : array or sparse array (G, G)
        Q: sum over the pairs of instances of two groups, divided by the number of all pairs.
    """

    products: "Floats | csr_array"

    def values(self, signs: Floats) -> Floats:
        """The measure for signs (D, G)."""
        return np.asarray(((signs @ self.products) * signs).sum(axis=1))
