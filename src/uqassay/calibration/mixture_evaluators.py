"""What evaluators of calibration errors of mixtures share: their form, the form of compiled ones, and sums in bins."""

from collections.abc import Callable
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import scratch
from uqassay.metrics.calibration.edges import ON_EDGE

__all__ = [
    "MOST_SORTED",
    "Compiled",
    "Evaluator",
    "Floats",
    "Formula",
    "Labels",
    "MixtureErrors",
    "Shared",
    "bins_of_equal_width",
    "numbers",
    "of_targets",
    "sums_of_bins",
]

Floats = NDArray[Any]  # in single or double precision
Labels = NDArray[np.intp]
Shared = Callable[[Floats, Labels], NDArray[np.float64]]

BELOW = (
    4  # in units of the precision: a value this little above an edge j / B stays in the bin below, as at least ON_EDGE
)
MOST_SORTED = 4096  # instances; NumPy sorts longer rows as fast as the kernels of equally full bins


class MixtureErrors(Protocol):
    """The calibration error of many mixtures of the same members."""

    @property
    def n_columns(self) -> int:
        """Number of probabilities that are computed for each mixture."""
        ...

    def arranged(self, labels: Labels) -> Labels:
        """Labels (T, n) in the form that `values` expects."""
        ...

    @property
    def at_once(self) -> int | None:
        """Mixtures of one call of `values` that go well together; None: as many as fit the cache."""
        ...

    @property
    def evaluator(self) -> "Evaluator | None":
        """The kernel behind `values`, if there is one."""
        ...

    @property
    def shared(self) -> "Shared | None":
        """Errors (T, L) of mixtures (L, M) for all labels (T, n); None if `values` is as fast."""
        ...

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
        """Errors (L,) of mixtures (L, M); mixture l has the arranged labels of row ``targets[l]``."""
        ...

    def single(self) -> "MixtureErrors":
        """The same in single precision, where that is faster."""
        ...


class Formula(MixtureErrors, Protocol):
    """An array formula with a compiled twin."""

    def compiled(self) -> "Compiled | None":
        """The twin, or None if no kernels are in use."""
        ...

    def single(self) -> "Formula":
        """The same in single precision."""
        ...


class Evaluator(Protocol):
    """An evaluator of uqassay-native."""

    def values(self, weights: NDArray[np.float64], labels: Labels, targets: Labels) -> NDArray[np.float64]:
        """Errors (L,), as in `MixtureErrors`."""
        ...


@final
class Compiled:
    """Errors by a kernel."""

    at_once = 512

    def __init__(self, evaluator: Evaluator, n_columns: int, shared: Shared | None, formula: Formula | None) -> None:
        self.evaluator, self.n_columns, self.shared, self._formula = evaluator, n_columns, shared, formula

    def arranged(self, labels: Labels) -> Labels:
        """Labels (T, n) in the form that `values` expects."""
        return np.ascontiguousarray(labels, dtype=np.int64)

    def values(self, weights: Floats, labels: Labels, targets: Labels) -> Floats:
        """Errors (L,) of mixtures (L, M), as in `MixtureErrors`."""
        return self.evaluator.values(np.ascontiguousarray(weights, dtype=np.float64), labels, targets)

    def single(self) -> "MixtureErrors":
        """The same in single precision."""
        if self._formula is None:
            return self
        rough = self._formula.single()
        return rough.compiled() or rough


def bins_of_equal_width(probs: Floats, n_bins: int, first_bin: Labels | None, n_all: int) -> NDArray[np.intp]:
    """Bin numbers of equally wide bins (low, high], for confidences (L, n) or for probabilities by class (L, C).

    Numbers are counted on from mixture to mixture. The result is a scratch array that the next call overwrites.
    """
    place = scratch("places", probs.shape, probs.dtype)
    np.multiply(probs, n_bins * (1 - max(ON_EDGE, BELOW * float(np.finfo(probs.dtype).eps))), out=place)
    np.ceil(place, out=place)
    np.minimum(place, n_bins, out=place)
    offsets = [numbers(len(probs)) * n_all - 1]
    if first_bin is not None:
        np.maximum(place, 1, out=place)  # probability 0 belongs to the first bin; a confidence is never 0
        offsets.append(first_bin)
    at = scratch("bins", probs.shape, np.intp)
    if len(probs) * n_all < 1 / np.finfo(probs.dtype).eps:  # every bin number is exact in this precision
        for offset in offsets:
            place += offset.astype(probs.dtype)
        np.copyto(at, place, casting="unsafe")
    else:
        np.copyto(at, place, casting="unsafe")
        for offset in offsets:
            at += offset
    return at


def of_targets(labels: Labels, targets: Labels) -> Labels:
    """Labels (T, n) of each mixture, (L, n), or (1, n) if there is one draw of labels only."""
    return labels if len(labels) == 1 else labels[targets]


def numbers(n: int) -> NDArray[np.intp]:
    """0 … n − 1 as a column, (n, 1)."""
    return np.arange(n, dtype=np.intp)[:, np.newaxis]


def sums_of_bins(
    at: NDArray[np.intp], n_mixtures: int, n_bins: int, amounts: Floats | None = None
) -> NDArray[np.float64]:
    """Count, or sum of amounts (L, C), in each bin, (L, B)."""
    sums = np.bincount(at.ravel(), None if amounts is None else amounts.ravel(), minlength=n_mixtures * n_bins)
    return sums.reshape(n_mixtures, n_bins).astype(np.float64, copy=False)
