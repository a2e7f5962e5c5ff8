"""Kernel tests of calibration: p-values and an interval of SKCE, and a test of what is stated, without bins."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, cast, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay.arrays import Floats, RandomState, generator, row_chunks
from uqassay.calibration.mixtures import IN_GROUPS
from uqassay.calibration.nulls import Labels, check_alpha, smallest_pvalue
from uqassay.checks import fail, one_of
from uqassay.ids import in_one_order
from uqassay.metrics.kernel_error import (
    Bandwidth,
    Estimator,
    Kernel,
    SettledKernel,
    block_terms,
    checked_block_size,
    default_block_size,
    kernel_calibration_error,
    settle_kernel,
)
from uqassay.metrics.reliability_diagrams import labels_and_probs
from uqassay.notes import Note
from uqassay.predictions import PredictionLike
from uqassay.statistics.estimate import Estimate, mean_estimate
from uqassay.statistics.units import check_draws, check_level

__all__ = [
    "KernelCalibrationTest",
    "kernel_calibration_estimate",
    "skce_pvalue",
    "statement_kernel_test",
    "statements_of",
]


Method = Literal["asymptotic", "bound"]
Notes = tuple[Note, ...]
LARGEST_TERM = 2.0  # |k (p − e_y) · (p′ − e_y′)| ≤ √2 √2 for kernels up to 1
TILE_BYTES = 2**21
KERNEL_ROUNDING = 1e-12
UPPER_BOUND = (Note("method", "the p-value is an upper bound, so the test rejects less often than it may"),)


@final
@dataclass(frozen=True, slots=True)
class KernelCalibrationTest:
    """Result of `skce_pvalue`."""

    statistic: float  #: the squared kernel calibration error
    pvalue: float  #: one-sided: small if the classifier is not calibrated; nan if undefined
    estimator: str
    method: str
    n: int  #: number of instances
    notes: tuple[Note, ...]  #: why a value is nan, or how the p-value was computed
    n_draws: int = 0  #: number of draws of signs; 0 if the p-value needs none

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that `n_draws` draws can reach, 1 / (n_draws + 1); 0 without draws."""
        return smallest_pvalue(self.n_draws)

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the test rejects, at this level, that the classifier is calibrated. An undefined p-value never rejects."""
        check_alpha(alpha, self.n_draws or 2**62)
        return self.pvalue <= alpha + KERNEL_ROUNDING


@in_one_order("probs", "y_true")
def skce_pvalue(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    estimator: Estimator = "quadratic",
    method: Method = "asymptotic",
    kernel: Kernel = "tv",
    bandwidth: Bandwidth = None,
    block_size: int | None = None,
    n_draws: int = 1000,
    rng: RandomState = None,
) -> KernelCalibrationTest:
    """Test whether a classifier is calibrated in the strong sense by its squared kernel calibration error.

    Parameters
    ----------
    y_true : array_like of int, shape (n,)
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    estimator : {"quadratic", "linear", "block", "biased"}
        See `kernel_calibration_error`.
    method : {"asymptotic", "bound"}
        "asymptotic": for "linear" and "block" the central limit theorem, 1 − Φ(mean √m / s) over the m pairs or blocks. For
        "quadratic" and "biased" the limit is a weighted sum of χ². A wild bootstrap simulates it: the error of every
        instance gets a random sign. These two estimators have the same p-value.
        "bound": an upper bound of the p-value that is valid for every n but rarely small: exp(−m t²/8) with m independent
        pairs for the unbiased estimators, exp(−½ max(0, √(n t/2) − 1)²) for the biased one. Only for named kernels.
    kernel, bandwidth, block_size
        As in `kernel_calibration_error`. The median bandwidth depends only on the predictions, so the test stays valid.
    n_draws : int
        Number of draws of signs; the smallest p-value is 1/(n_draws + 1).
    rng : int, Generator or None
        None means seed 0.

    Notes
    -----
    The asymptotic tests keep their level to within 2 points at α = 5 %; "block" and "linear" are cautious with few terms
    (docs/evidence-calibration.md). The printed kernel is wide: a narrower one finds miscalibration with far fewer instances.

    References
    ----------
    Widmann, Lindsten, Zachariah (2019), Calibration tests in multi-class classification: a unifying framework (bounds,
    limits). Arcones, Giné (1992), On the bootstrap of U and V statistics. Hoeffding (1963), section 5a (blocks).
    Leucht, Neumann (2013), Dependent wild bootstrap for degenerate U- and V-statistics.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.dirichlet([1, 1, 1], 300)
    >>> labels = (probs.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    >>> skce_pvalue(labels, probs).pvalue > 0.05, skce_pvalue(np.zeros(300, dtype=int), probs).pvalue < 0.01
    (True, True)
    """
    one_of(method, "method", ("asymptotic", "bound"))
    check_draws(n_draws)
    labels, p = labels_and_probs(y_true, probs)
    size = checked_block_size(block_size, estimator, len(p))
    settled = settle_kernel(kernel, bandwidth, p)
    n_signs = n_draws if method == "asymptotic" and estimator in ("quadratic", "biased") else 0
    if method == "bound" and not isinstance(kernel, str):
        rule = "must be a name, since a bound needs the greatest value of the kernel"
        fail("kernel", rule, "got a function", 'use method="asymptotic"', code="conflict")
    if estimator in ("linear", "block"):
        size = 2 if estimator == "linear" else size or default_block_size(len(p))
        terms = block_terms(labels, p, settled, size)
        statistic = float(terms.mean()) if terms.size else float("nan")
        pvalue, notes = _from_terms(terms) if method == "asymptotic" else _bound(statistic, len(terms) * (size // 2))
    elif method == "asymptotic":
        statistic, pvalue, notes = _wild(labels, p, settled, estimator == "biased", n_draws, generator(rng))
    else:
        statistic = float(
            np.asarray(kernel_calibration_error(labels, p, estimator=estimator, kernel=kernel, bandwidth=bandwidth))
        )
        pvalue, notes = _bound_biased(statistic, len(p)) if estimator == "biased" else _bound(statistic, len(p) // 2)
    if getattr(probs, "groups", None) is not None:
        notes = (*notes, IN_GROUPS)
    return KernelCalibrationTest(statistic, pvalue, estimator, method, len(p), notes, n_signs)


@in_one_order("probs", "y_true")
def kernel_calibration_estimate(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    kernel: Kernel = "tv",
    bandwidth: Bandwidth = None,
    block_size: int = 2,
    level: float = 0.95,
) -> Estimate:
    """Squared kernel calibration error from independent pairs or blocks, with a confidence interval.

    Parameters
    ----------
    y_true : array_like of int, shape (n,)
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    kernel, bandwidth
        As in `kernel_calibration_error`.
    block_size : int
        Instances in a block; 2 gives the linear estimator.
    level : float

    Returns
    -------
    estimate : Estimate
        Student's interval for the mean over the ⌊n/B⌋ blocks; `n` is the number of blocks.

    Notes
    -----
    With fewer than about 20 blocks the intervals cover too little (tests/calibration/test_kernel_hypothesis.py).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.dirichlet([1, 1, 1], 1000)
    >>> found = kernel_calibration_estimate(np.zeros(1000, dtype=int), probs)
    >>> found.low > 0, found.n
    (True, 500)
    """
    labels, p = labels_and_probs(y_true, probs)
    check_level(level)
    size = cast(int, checked_block_size(block_size, "block", len(p)))
    terms = block_terms(labels, p, settle_kernel(kernel, bandwidth, p), size)
    if len(terms) == 0:
        notes = [Note("undefined", "fewer than two cases")]
        return Estimate(np.nan, low=np.nan, high=np.nan, level=level, n=0, method="student-t", notes=notes)
    return mean_estimate(terms, level=level)


def _from_terms(terms: Floats) -> tuple[float, Notes]:
    """p-value of the mean of independent terms."""
    m = len(terms)
    if m < 2:
        return float("nan"), (Note("no-test", "too few cases for a p-value"),)
    mean, spread = float(terms.mean()), float(terms.std(ddof=1))
    if spread <= KERNEL_ROUNDING * float(np.abs(terms).max()):
        if mean <= 0:
            return 1.0, (Note("no-width", "all terms are equal"),)
        return float("nan"), (Note("no-test", "all terms are equal: no p-value"),)
    method = Note("method", f"the p-value is approximate (normal approximation over {m} terms)")
    return float(special.ndtr(-mean * m**0.5 / spread)), (method,)


def _bound(statistic: float, n_pairs: int) -> tuple[float, Notes]:
    """Hoeffding's bound exp(−2 m t² / (b − a)²) for the mean of m pairs with values between a = −2 and b = 2."""
    if n_pairs == 0:
        return float("nan"), (Note("no-test", "fewer than two cases: no p-value"),)
    exponent = n_pairs * max(statistic, 0.0) ** 2 / (2 * LARGEST_TERM**2)
    return float(np.exp(-exponent)), UPPER_BOUND


def _bound_biased(statistic: float, n: int) -> tuple[float, Notes]:
    # Widmann et al. (2019): exp(−½ max(0, √(n t / B) − 1)²), where B bounds every term.
    excess = max(0.0, (n * max(statistic, 0.0) / LARGEST_TERM) ** 0.5 - 1.0)
    return float(np.exp(-(excess**2) / 2)), UPPER_BOUND


def _wild(
    labels: Labels, probs: Floats, kernel: SettledKernel, biased: bool, n_draws: int, rng: np.random.Generator
) -> tuple[float, float, Notes]:
    """Statistic, p-value and notes from Σ_{i≠j} s_i s_j h_ij with random signs s, computed in tiles of pairs."""
    n, k = probs.shape
    if n < 2 and not biased:
        return float("nan"), float("nan"), (Note("undefined", "fewer than two cases"),)
    errors = probs.copy()
    errors[np.arange(n), labels] -= 1.0
    signs = rng.integers(0, 2, (n, n_draws), dtype=np.int8) * 2.0 - 1.0
    off, diagonal, size, drawn = 0.0, 0.0, 0.0, np.zeros(n_draws)
    for part in row_chunks(n, n * (8 + kernel.bytes_per_pair * k), chunk_bytes=TILE_BYTES):
        h = kernel.table(probs[part], probs[part.start :])
        h *= errors[part] @ errors[part.start :].T
        own = np.arange(part.stop - part.start)
        diagonal += float(h[own, own].sum())
        h[own, own] = 0.0
        h[:, len(own) :] *= 2.0  # both orders of a pair
        off += float(h.sum())
        size += float(np.abs(h).sum())
        drawn += np.einsum("rd,rd->d", signs[part], h @ signs[part.start :])
    pvalue = (1 + int((drawn >= off - KERNEL_ROUNDING * size).sum())) / (n_draws + 1)
    statistic = (off + diagonal) / n**2 if biased else off / (n * (n - 1))
    return statistic, pvalue, (Note("method", f"wild bootstrap, {n_draws} draws"),)


# Do residuals have mean 0 among the instances where a model states the same?
#
# Each pair of instances contributes h = k(s, s′) r · r′ with residuals r and a similarity k of the statements s. Its
# expectation is 0 if E[r | s] = 0, and positive if similar statements have similar residuals.

STATEMENT_TILE_BYTES = 2**23
STATEMENT_ROUNDING = 1e-12


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
    units: Labels | None,
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
    for part in row_chunks(n, 16 * n, chunk_bytes=STATEMENT_TILE_BYTES):
        h = kernel.table(statements[part], statements[part.start :])
        h *= residuals[part] @ residuals[part.start :].T
        h[codes[part, np.newaxis] == codes[part.start :]] = 0.0
        h[:, part.stop - part.start :] *= 2.0  # both orders of a pair
        total += float(h.sum())
        size += float(np.abs(h).sum())
        drawn += np.einsum("rd,rd->d", signs[part], h @ signs[part.start :])
    n_pairs = n**2 - int((np.bincount(codes) ** 2).sum())
    pvalue = (1 + int((drawn >= total - STATEMENT_ROUNDING * size).sum())) / (n_draws + 1)
    return KernelOutcome(total / n_pairs, pvalue)
