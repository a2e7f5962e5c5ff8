"""Aleatoric and epistemic entropy of Gaussian logits: one Gaussian for the noise of the label, one for the passes."""

import numpy as np
from numpy.typing import NDArray

from uqassay._array import draw_per_row, still_whole
from uqassay.errors import InputError
from uqassay.measures.entropies import Decomposition, shannon_entropy
from uqassay.predictions import GaussianLogits, OrderFreeSum, PredictionLike, as_prediction
from uqassay.predictions.gaussian_logits import MOST
from uqassay.predictions.logistic_normal import two_class_probs
from uqassay.statistics.samples import check_choice

__all__ = ["CONVENTIONS", "check_convention", "gaussian_logits_decomposition"]

Array = NDArray[np.float64]
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

    Raises
    ------
    InputError
        Another kind of prediction; a class that is impossible (a mean of −inf) in some of the passes only.

    Notes
    -----
    Source: paper 004, appendix A, equations 2 and 3; Kendall and Gal (2017). The paper does not state a total. The draws for
    more than two classes follow their order, so another order changes the result by the error of the draws.

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
    check_convention(convention)
    if not isinstance(prediction, GaussianLogits):
        raise InputError(
            "prediction",
            "must have means and variances of logits",
            f"got {type(prediction).__name__}",
            "use GaussianLogits",
            code="no-logits",
        )
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


def check_convention(convention: str) -> None:
    """Refuse an unknown convention."""
    check_choice(convention, "convention", tuple(CONVENTIONS))


def _gaussians(prediction: GaussianLogits, convention: str) -> tuple[Array, Array, Array]:
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


def _over_passes(values: Array) -> Array:
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
        raise InputError(
            "prediction",
            "a class must be possible in all forward passes of an instance or in none",
            f"row {row} has means of −inf in some passes for class {k}",
            "give finite means",
            code="undefined",
            facts={"row": row},
        )


def _standard_normals(prediction: GaussianLogits) -> Array:
    """Standard normals of each row, ``(K, n, n_draws)``: reductions over the first axis are fast also for few classes."""
    n, shape = prediction.n_instances, (prediction.n_draws, prediction.n_classes)
    numbers = np.arange(n) if prediction.row_numbers is None else prediction.row_numbers
    noise = draw_per_row(lambda g, i: g.standard_normal(shape), np.empty((n, *shape)), numbers, prediction.seed)
    return np.ascontiguousarray(np.moveaxis(noise, 2, 0))


def _mean_softmax(centre: Array, deviation: Array, noise: Array) -> Array:
    """Mean over the draws of softmax(centre + deviation · noise), ``(n, K)``; without deviation the softmax itself."""
    probs = _softmax(noise * deviation.T[:, :, None] + centre.T[:, :, None]).mean(axis=2).T
    certain = ~(deviation > 0).any(axis=1)  # the mean of equal draws may be off by a rounding error
    probs[certain] = _softmax(centre[certain].T).T
    return probs


def _softmax(logits: Array) -> Array:
    """Softmax over the first axis."""
    shares = logits - logits.max(axis=0)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=0)
    return shares
