"""A kernel test without bins: do residuals have mean 0 among the instances where a model states the same?

Each pair of instances contributes h = k(s, s′) r · r′ with residuals r and a similarity k of the statements s. Its expectation
is 0 if E[r | s] = 0, and positive if similar statements have similar residuals.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks
from uqassay.metrics.calibration.kernels import SettledKernel, settle_kernel

__all__ = ["KernelOutcome", "statement_kernel_test", "statements_of"]

Floats = NDArray[np.float64]

TILE_BYTES = 2**23
ROUNDING = 1e-12


class KernelOutcome(NamedTuple):
    """Statistic and p-value; both nan if there is no pair of independent instances."""

    statistic: float
    pvalue: float


def statements_of(mean: Floats, variance: Floats) -> Floats:
    """What a model states as points (n, 2K): means and standard deviations, each divided by its median distance.

    With the kernel exp(−‖s − s′‖₁) means and standard deviations then count alike, even where the latter are small.
    """
    spread = np.sqrt(variance)
    parts = [values / settle_kernel("laplacian", "median", values).bandwidth.item() for values in (mean, spread)]
    return np.concatenate(parts, axis=1)


def statement_kernel_test(
    residuals: Floats,
    statements: Floats,
    *,
    units: NDArray[np.intp] | None,
    n_draws: int,
    rng: np.random.Generator,
) -> KernelOutcome:
    """Mean of k(s, s′) r · r′ over the pairs of independent instances, with a p-value by wild bootstrap.

    Parameters
    ----------
    residuals : array (n, F)
    statements : array (n, S)
        Points from `statements_of`.
    units : int array (n,) or None
        Unit of each instance. Pairs inside a unit are left out, and a unit has one random sign. None: each is a unit.
    n_draws : int
        Draws of signs D; p = (1 + number of draws that reach the sum) / (D + 1).
    rng : numpy Generator

    References
    ----------
    Arcones, Giné (1992), On the bootstrap of U and V statistics.
    Leucht, Neumann (2013), Dependent wild bootstrap for degenerate U- and V-statistics.
    """
    n = len(residuals)
    codes = np.arange(n) if units is None else units
    n_units = int(codes.max()) + 1
    if n_units < 2:
        return KernelOutcome(float("nan"), float("nan"))
    signs = (rng.integers(0, 2, (n_units, n_draws), dtype=np.int8) * 2.0 - 1.0)[codes]
    kernel = SettledKernel("laplacian", np.array(1.0))
    total, size, drawn = 0.0, 0.0, np.zeros(n_draws)
    for part in row_chunks(n, 16 * n, chunk_bytes=TILE_BYTES):
        h = kernel.table(statements[part], statements[part.start :])
        h *= residuals[part] @ residuals[part.start :].T
        h[codes[part, np.newaxis] == codes[part.start :]] = 0.0
        h[:, part.stop - part.start :] *= 2.0  # both orders of a pair
        total += float(h.sum())
        size += float(np.abs(h).sum())
        drawn += np.einsum("rd,rd->d", signs[part], h @ signs[part.start :])
    n_pairs = n**2 - int((np.bincount(codes) ** 2).sum())
    pvalue = (1 + int((drawn >= total - ROUNDING * size).sum())) / (n_draws + 1)
    return KernelOutcome(total / n_pairs, pvalue)
