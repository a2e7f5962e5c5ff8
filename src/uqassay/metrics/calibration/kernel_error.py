"""Squared kernel calibration error (SKCE): strong calibration, measured without bins.

Each pair of instances contributes h = k(p, p′) r · r′ with the errors r = p − e_y: it is positive if similar predictions
have similar errors. Its expectation is 0 for a calibrated classifier and, with a characteristic kernel, only for one.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.calibration.inputs import labels_and_probs
from uqassay.metrics.calibration.kernel_pairs import PreparedBlocks, PreparedKernel, PreparedPairs
from uqassay.metrics.calibration.kernels import Bandwidth, Kernel, SettledKernel, settle_kernel
from uqassay.predictions import PredictionLike
from uqassay.statistics.samples import check_choice

__all__ = [
    "Estimator",
    "PrepareKernel",
    "kernel_calibration_error",
    "prepare_biased",
    "prepare_linear",
    "prepare_quadratic",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
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

    * "quadratic": mean of h over all pairs i < j (paper 001, equation 6); unbiased, O(n² K).
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

    Raises
    ------
    InputError
        Invalid labels or probabilities, or unknown options.

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
    """⌊√n⌋, at least 2."""
    return max(2, int(n**0.5))


def _blocks(probs: Floats, kernel: SettledKernel, *, biased: bool) -> PreparedBlocks:
    return PreparedBlocks(np.ascontiguousarray(probs), kernel, biased)


def checked_block_size(block_size: int | None, estimator: str, n: int | None) -> int | None:
    check_choice(estimator, "estimator", ESTIMATORS)
    if block_size is None:
        return None
    if estimator != "block":
        raise InputError(
            "block_size",
            "can be set only for the block estimator",
            f"got {block_size!r} for {estimator!r}",
            "leave it out",
            code="conflict",
        )
    if isinstance(block_size, bool) or not isinstance(block_size, int | np.integer) or block_size < 2:
        raise InputError(
            "block_size",
            "must be a whole number of at least 2",
            f"got {block_size!r}",
            "pass 2 for pairs",
            code="range",
        )
    if n is not None and 1 < n < block_size:
        raise InputError(
            "block_size",
            f"must not exceed the {n} instances",
            f"got {block_size}",
            "pass a smaller block size",
            code="range",
        )
    return int(block_size)
