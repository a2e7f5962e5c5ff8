"""What Gaussian logits and the logits of members tell: parts and free energies."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from uqassay.arrays import Floats, draw_per_row, still_whole
from uqassay.checks import fail, number, one_of
from uqassay.measures.entropies import Decomposition, shannon_entropy
from uqassay.predictions import (
    GaussianLogits,
    Members,
    OrderFreeSum,
    Point,
    Prediction,
    PredictionLike,
    as_prediction,
    not_negative,
)
from uqassay.predictions.quadrature import two_class_probs
from uqassay.predictions.second_order import MOST

__all__ = [
    "CONVENTIONS",
    "free_energy",
    "gaussian_logits_decomposition",
    "has_logits",
]


# Aleatoric and epistemic entropy of Gaussian logits: one Gaussian for the noise of the label, one for the passes.

CONVENTIONS = ("exact", "paper-code")
CHUNK_BYTES = 8 * 2**20


def gaussian_logits_decomposition(prediction: PredictionLike, *, convention: str = "exact") -> Decomposition:
    """Entropies, in nats, of the mean softmax of three Gaussians over the logits, which differ in their variance.

    The forward passes t state N(μ_t, σ_t²). All three Gaussians have the mean of the μ_t as their mean. The variance of the
    first is the mean of the σ_t² (aleatoric), that of the second the variance of the μ_t over the passes (epistemic), that of
    the third the sum of both (total).

    Parameters
    ----------
    prediction : GaussianLogits
        Two classes are exact, by quadrature. For more, its `n_draws` and `seed` are used: the draws of an instance depend on
        its row alone, and the three Gaussians share their standard normals. If its variances are epistemic (Laplace), the
        aleatoric variance is 0 and they are added to the variance of the μ_t.
    convention : {"exact", "paper-code"}
        "paper-code" uses the square of the mean of the σ_t in place of the mean of the σ_t², as the code of the paper does.
        It changes nothing for epistemic variances.

    Returns
    -------
    Decomposition
        Each part in [0, ln K]. Total is not the sum of the parts, and each of the three is the entropy of a whole prediction:
        where both variances are 0, all three are the entropy of softmax(μ).

    Notes
    -----
    Source: disentanglement, appendix A, equations 2 and 3; Kendall and Gal (2017). The paper does not state a total. The
    draws for more than two classes follow their order, so another order changes the result by the error of the draws.

    Examples
    --------
    >>> import uqassay as uq
    >>> mean, variance = [[[3.0, 0.0], [-1.0, 0.0]]], [[[0.0, 0.0], [0.0, 0.0]]]
    >>> passes = uq.GaussianLogits(mean, variance, variance_is="aleatoric")
    >>> d = uq.measures.gaussian_logits_decomposition(passes)
    >>> d.aleatoric.round(4).tolist(), d.epistemic.round(4).tolist()
    ([0.5822], [0.6488])
    """
    prediction = as_prediction(prediction)
    one_of(convention, "convention", CONVENTIONS)
    if not isinstance(prediction, GaussianLogits):
        got = f"got {type(prediction).__name__}"
        fail("prediction", "must have means and variances of logits", got, "use GaussianLogits", code="no-logits")
    parts = np.empty((3, prediction.n_instances))

    def work(rows: slice, part: GaussianLogits) -> None:
        centre, aleatoric, epistemic = _gaussians(part, convention)
        noise = None if part.n_classes == 2 else _standard_normals(part)
        for i, variance in enumerate((aleatoric + epistemic, aleatoric, epistemic)):
            if noise is None:
                probs = two_class_probs(centre[:, 1] - centre[:, 0], np.sqrt(variance.sum(axis=1)))
            else:
                probs = _mean_softmax(centre, np.sqrt(variance), noise)
            parts[i, rows] = shannon_entropy(probs)

    bytes_per_row = 8 * 3 * prediction.n_draws * prediction.n_classes
    prediction.for_each_chunk(work, bytes_per_row, chunk_bytes=CHUNK_BYTES)
    return Decomposition(*parts)


def _gaussians(prediction: GaussianLogits, convention: str) -> tuple[Floats, Floats, Floats]:
    """Common mean, aleatoric variance and epistemic variance of the logits, each ``(n, K)``."""
    still_whole(prediction.mean)
    still_whole(prediction.variance)
    mean = np.asarray(prediction.mean, dtype=np.float64)  # (n, M, K)
    stated = np.asarray(prediction.variance, dtype=np.float64)
    impossible = np.isneginf(mean)
    _check_impossible(impossible, prediction)
    mean = np.where(impossible, 0.0, mean)
    centre = _over_passes(mean)
    deviation = np.minimum(np.abs(mean - centre[:, None]), np.sqrt(MOST))
    spread = _over_passes(deviation**2)
    if prediction.variance_is == "epistemic":
        aleatoric, spread = np.zeros_like(spread), spread + _over_passes(stated)
    elif convention == "paper-code":
        aleatoric = _over_passes(np.sqrt(stated)) ** 2
    else:
        aleatoric = _over_passes(stated)
    centre[impossible[:, 0]] = -np.inf
    return centre, aleatoric, spread


def _over_passes(values: Floats) -> Floats:
    """Mean over the passes, ``(n, K)``, independent of their order and exact where all are equal."""
    total = OrderFreeSum((len(values), values.shape[2]))
    for m in range(values.shape[1]):
        total.add(values[:, m])
    least = values.min(axis=1)
    return np.where(least == values.max(axis=1), least, total.value() / values.shape[1])


def _check_impossible(impossible: NDArray[np.bool_], prediction: GaussianLogits) -> None:
    """Refuse classes that are impossible in some passes only: the mean of such logits has no finite value."""
    mixed = impossible.any(axis=1) & ~impossible.all(axis=1)
    if mixed.any():
        place, k = np.argwhere(mixed)[0]
        numbers = prediction.row_numbers
        row = int(place if numbers is None else numbers[place])
        rule = "a class must be possible in all forward passes of an instance or in none"
        got = f"row {row} has means of −inf in some passes for class {k}"
        fail("prediction", rule, got, "give finite means", code="undefined", facts={"row": row})


def _standard_normals(prediction: GaussianLogits) -> Floats:
    """Standard normals of each row, ``(K, n, n_draws)``: reductions over the first axis are fast also for few classes."""
    n, shape = prediction.n_instances, (prediction.n_draws, prediction.n_classes)
    numbers = np.arange(n) if prediction.row_numbers is None else prediction.row_numbers
    noise = draw_per_row(lambda g, i: g.standard_normal(shape), np.empty((n, *shape)), numbers, prediction.seed)
    return np.ascontiguousarray(np.moveaxis(noise, 2, 0))


def _mean_softmax(centre: Floats, deviation: Floats, noise: Floats) -> Floats:
    """Mean over the draws of softmax(centre + deviation · noise), ``(n, K)``; without deviation the softmax itself."""
    probs = _softmax(noise * deviation.T[:, :, None] + centre.T[:, :, None]).mean(axis=2).T
    certain = ~(deviation > 0).any(axis=1)  # the mean of equal draws may be off by a rounding error
    probs[certain] = _softmax(centre[certain].T).T
    return probs


def _softmax(logits: Floats) -> Floats:
    """Softmax over the first axis."""
    shares = logits - logits.max(axis=0)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=0)
    return shares


# Free energy of the logits: high if there is little evidence for any class.

ENERGY_CHUNK_BYTES = 32 * 2**20


def free_energy(prediction: PredictionLike, *, temperature: float = 1.0) -> Floats:
    """−T ln Σ_c exp(z_c / T) of the logits z, ``(n,)``; greater is less certain; any real number is possible.

    Adding a constant to all logits of an instance changes its free energy but not its probabilities. The scores of
    separately trained models therefore need not have the same scale.

    Parameters
    ----------
    prediction : Prediction
        `Point` or `Members` with logits (made by ``from_logits``, or with `log_partition`); for members, the weighted mean
        of their free energies. `GaussianLogits`, with variances of either meaning: the mean over the seeded draws of
        logits, each forward pass with equal weight.
    temperature : float
        T > 0. For T ≠ 1, logits are recovered as ln p + log_partition. Logits so far below the largest one that p was
        stored as 0 (about 745 in double, 103 in single precision) count as −∞.

    Notes
    -----
    Source: Liu et al., Energy-based out-of-distribution detection (2020); ranking metrics, section 7. The paper does
    not define it for members; the mean of their energies is used here.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.logits import free_energy
    >>> free_energy(uq.Point.from_logits([[0.0, 0.0], [5.0, 5.0]])).round(4).tolist()
    [-0.6931, -5.6931]
    """
    t = number(temperature, "temperature", "pass 1, the usual value", low=0, high=np.inf, ends="()")
    prediction = as_prediction(prediction)
    if not has_logits(prediction):
        fail(
            "prediction",
            "must have logits",
            f"got {type(prediction).__name__} without them",
            "make it by Point.from_logits or Members.from_logits, or give log_partition, ln Σ "
            "exp(z), with the probabilities",
            code="no-logits",
        )
    if isinstance(prediction, GaussianLogits):
        return _of_draws(prediction, t)
    if isinstance(prediction, Members):
        energy, partitions = OrderFreeSum(prediction.n_instances), np.asarray(prediction.log_partition)
        for m in range(prediction.n_members):
            each = _of_logits(prediction.probs[:, m], partitions[:, m], t)
            energy.add(each if prediction.weights is None else each * prediction.weights[..., m])
        return energy.value() / (prediction.n_members if prediction.weights is None else 1.0)
    assert isinstance(prediction, Point)
    return _of_logits(prediction.probs, prediction.log_partition, t)


def has_logits(prediction: Prediction) -> bool:
    """True if the prediction contains its logits."""
    if isinstance(prediction, (Point, Members)):
        return prediction.log_partition is not None
    return isinstance(prediction, GaussianLogits)


def _of_logits(probs: NDArray[np.floating], log_partition: NDArray[np.floating] | None, t: float) -> Floats:
    """−T ln Σ exp(z / T) of z = ln p + L, that is −L − T ln Σ p^(1/T); probs ``(n, K)``, L ``(n,)``."""
    energy = 0.0 - np.asarray(log_partition, dtype=np.float64)
    if t == 1.0:
        return energy
    with np.errstate(divide="ignore"):  # ln 0 = −∞ adds nothing
        z = np.log(not_negative(probs))
    return np.asarray(energy - t * logsumexp(z / t, axis=1), dtype=np.float64)


def _of_draws(prediction: GaussianLogits, t: float) -> Floats:
    energy, shares = np.empty(prediction.n_instances), prediction.shares()

    def work(rows: slice, part: GaussianLogits) -> None:
        if part.variance_is == "aleatoric":  # every pass has all draws
            total = OrderFreeSum(part.n_instances)
            for z in part.logits_of_passes():
                z /= t
                total.add(-t * logsumexp(z, axis=2).mean(axis=1))
            energy[rows] = total.value() / part.n_passes
            return
        z = part.sample_logits(part.n_draws, part.seed)
        z /= t
        energy[rows] = -t * (logsumexp(z, axis=2) * shares).sum(axis=1)

    bytes_per_row = 8 * prediction.n_draws * prediction.n_classes
    prediction.for_each_chunk(work, bytes_per_row, chunk_bytes=ENERGY_CHUNK_BYTES)
    return energy
