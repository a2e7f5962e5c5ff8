"""Free energy of the logits: high if there is little evidence for any class."""

from numbers import Real

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from uqassay.errors import InputError
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

__all__ = ["free_energy", "has_logits"]

Array = NDArray[np.float64]
CHUNK_BYTES = 32 * 2**20


def free_energy(prediction: PredictionLike, *, temperature: float = 1.0) -> Array:
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

    Raises
    ------
    InputError
        A prediction without logits; a temperature that is not a positive number.

    Notes
    -----
    Source: Liu et al., Energy-based out-of-distribution detection (2020); paper 003, section 7. The paper does
    not define it for members; the mean of their energies is used here.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.free_energies import free_energy
    >>> free_energy(uq.Point.from_logits([[0.0, 0.0], [5.0, 5.0]])).round(4).tolist()
    [-0.6931, -5.6931]
    """
    if isinstance(temperature, bool) or not isinstance(temperature, Real) or not 0 < float(temperature) < np.inf:
        raise InputError(
            "temperature",
            "must be a positive, finite number",
            f"got {temperature!r}",
            "pass 1, the usual value",
            code="range",
        )
    t = float(temperature)
    prediction = as_prediction(prediction)
    if not has_logits(prediction):
        raise InputError(
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
        energy = OrderFreeSum(prediction.n_instances)
        for m in range(prediction.n_members):
            each = _of_logits(prediction.probs[:, m], prediction.log_partition[:, m], t)
            energy.add(each if prediction.weights is None else each * prediction.weights[..., m])
        return energy.value() / (prediction.n_members if prediction.weights is None else 1.0)
    assert isinstance(prediction, Point)
    return _of_logits(prediction.probs, prediction.log_partition, t)


def has_logits(prediction: Prediction) -> bool:
    """True if the prediction contains its logits."""
    if isinstance(prediction, (Point, Members)):
        return prediction.log_partition is not None
    return isinstance(prediction, GaussianLogits)


def _of_logits(probs: NDArray[np.floating], log_partition: NDArray[np.floating] | None, t: float) -> Array:
    """−T ln Σ exp(z / T) of z = ln p + L, that is −L − T ln Σ p^(1/T); probs ``(n, K)``, L ``(n,)``."""
    energy = 0.0 - np.asarray(log_partition, dtype=np.float64)
    if t == 1.0:
        return energy
    with np.errstate(divide="ignore"):  # ln 0 = −∞ adds nothing
        z = np.log(not_negative(probs))
    return np.asarray(energy - t * logsumexp(z / t, axis=1), dtype=np.float64)


def _of_draws(prediction: GaussianLogits, t: float) -> Array:
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
    prediction.for_each_chunk(work, bytes_per_row, chunk_bytes=CHUNK_BYTES)
    return energy
