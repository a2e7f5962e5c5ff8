"""Lp calibration error with kernel regression in place of bins.

Each prediction is compared with the labels of similar predictions: a mean of the labels of the other instances, weighted by
Dirichlet kernels, which are defined on the simplex and lose no mass at its border.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay._array import row_chunks
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.calibration.inputs import as_probs, labels_and_probs
from uqassay.predictions import PredictionLike
from uqassay.statistics.samples import check_choice

__all__ = ["density_bandwidth", "density_calibration_error"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Notion = Literal["canonical", "classwise", "confidence"]

NOTIONS = ("canonical", "classwise", "confidence")
GRID = np.concatenate([np.logspace(-5, -1, 15), np.linspace(0.2, 1.0, 5)])
MANY_PAIRS = 2_000_000  # with more pairs, the likelihood is summed over a subset of the instances
LEAST = 1e-12  # floor of probabilities in a logarithm
CHUNK_BYTES = 2**22


@final
@dataclass(frozen=True, eq=False)
class PreparedDensity:
    """Probabilities (..., n, K) with a bandwidth for each regression (..., V): a single one, or one for each class."""

    probs: Floats
    bandwidth: Floats
    notion: Notion
    p: int
    debiased: bool

    def values(self, labels: Labels) -> Floats:
        """The error for labels (..., n), leading axes broadcast; nan for a single instance."""
        n = self.probs.shape[-2]
        lead = np.broadcast_shapes(self.probs.shape[:-2], labels.shape[:-1])
        if n == 1:
            return np.full(lead, np.nan)
        total, n_views = np.zeros(lead), self.bandwidth.shape[-1]
        for view in range(n_views):
            points, predicted, observed = _view(self.probs, labels, self.notion, view)
            total += self._one(points, predicted, observed, self.bandwidth[..., view])
        return cast(Floats, total / n_views)

    def _one(self, points: Floats, predicted: Floats, observed: Floats, bandwidth: Floats) -> Floats:
        """Error of one regression: kernels on points (..., n, D), predicted and observed values (..., n, C)."""
        n = points.shape[-2]
        errors = observed - predicted
        squares = np.einsum("...nc,...nc->...n", errors, errors)[..., np.newaxis]
        top, bottom = np.zeros(()), np.zeros(())
        for part, logs in _log_kernels(points, bandwidth, np.arange(n)):
            # normalised below, so the greatest kernel value may be scaled to 1, which avoids overflow
            logs -= logs.max(axis=-1, keepdims=True)
            weights = np.exp(logs, out=logs)
            weights /= weights.sum(axis=-1, keepdims=True)
            if self.debiased:
                means = weights @ errors
                weights *= weights
                top = top + np.einsum("...nc,...nc->...", means, means) - (weights @ squares).sum(axis=(-2, -1))
                bottom = bottom + (1.0 - weights.sum(axis=-1)).sum(axis=-1)
            else:
                gaps = np.abs(weights @ observed - predicted[..., part, :])
                top = top + (gaps if self.p == 1 else gaps * gaps).sum(axis=(-2, -1))
                bottom = bottom + (part.stop - part.start)
        with np.errstate(invalid="ignore"):
            return cast(Floats, np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), np.nan))


@in_one_order("probs", "y_true")
def density_calibration_error(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    notion: Notion = "canonical",
    p: int = 2,
    bandwidth: float | Literal["likelihood"] = "likelihood",
    debiased: bool = False,
    batched: bool = False,
) -> float | Floats:
    """Lp calibration error, to the power of p, from leave-one-out regression of the labels on the predictions.

    (1/n) Σ_j ‖Σ_i w_ji e_y_i − p_j‖_p^p, where w_ji over i ≠ j is proportional to the density of the Dirichlet distribution
    with parameters p_i/h + 1 at p_j. O(n² K).

    Parameters
    ----------
    y_true : array_like of int, shape (n,)
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    notion : {"canonical", "classwise", "confidence"}
        "canonical" regresses the label on the whole vector and sums over classes. "classwise" regresses each class on its
        probability and averages over classes. "confidence" regresses the hits on the greatest probability.
    p : {1, 2}
        No root is taken.
    bandwidth : float or "likelihood"
        h. "likelihood" takes the value with the greatest leave-one-out likelihood, see `density_bandwidth`.
    debiased : bool
        For p = 2. Averages errors r_i = e_y_i − p_i in place of labels, which removes the smoothing bias of a calibrated
        classifier, and omits pairs of a label with itself, which removes the bias from label noise:
        Σ_j (‖Σ_i w_ji r_i‖² − Σ_i w_ji² ‖r_i‖²) / Σ_j (1 − Σ_i w_ji²). Its expectation is 0 for a calibrated classifier
        and any bandwidth; it may be negative. Smoothing still flattens errors that vary within the bandwidth.
    batched : bool
        True if leading axes of an array `probs` (..., n, K) and of `y_true` (..., n) are data sets. They are broadcast.

    Returns
    -------
    value : float, or array of the shape of the leading axes of a batch
        nan for a single instance, and in the debiased form if each instance has only one neighbour within reach.

    Raises
    ------
    InputError
        Invalid labels or probabilities, or unknown options.

    Notes
    -----
    Logarithms use probabilities of at least 1e-12. With two classes, canonical is twice classwise.

    References
    ----------
    Popordanoska, Sayer, Blaschko (2022), A consistent and differentiable Lp canonical calibration error estimator,
    equation 9. The debiased form is new here; theirs expands the ratio of the two density estimates.

    Examples
    --------
    >>> probs = [[0.9, 0.1], [0.8, 0.2], [0.2, 0.8]]
    >>> round(density_calibration_error([0, 0, 1], probs, p=1, bandwidth=0.01), 4)
    0.7333
    """
    options = _checked(notion, p, bandwidth, debiased)
    labels, values = labels_and_probs(y_true, probs, batched=batched)
    given = None if isinstance(bandwidth, str) else np.full(_n_views(values, notion), float(bandwidth))
    settled = _likeliest(values, notion) if given is None else given
    found = PreparedDensity(values, settled, *options).values(labels)
    return float(found) if found.ndim == 0 else found


def density_bandwidth(probs: PredictionLike, *, notion: Notion = "canonical", batched: bool = False) -> Floats:
    """Bandwidth with the greatest leave-one-out likelihood of the predictions, out of 20 between 10⁻⁵ and 1.

    Parameters
    ----------
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    notion : {"canonical", "classwise", "confidence"}
    batched : bool
        True if leading axes of an array (..., n, K) are data sets.

    Returns
    -------
    bandwidth : array (V,), for a batch (..., V)
        V = K for "classwise", else 1. For n > 1,414 the likelihood is summed over 2·10⁶/n instances drawn with a fixed seed;
        all instances are kernel centres. If predictions repeat exactly, the likelihood favours the least bandwidth.

    Raises
    ------
    InputError
        Rows that are not probabilities.

    Examples
    --------
    >>> probs = np.random.default_rng(0).dirichlet([1, 1], 200)
    >>> float(density_bandwidth(probs)[0]) > 0.01
    True
    """
    check_choice(notion, "notion", NOTIONS)
    return _likeliest(as_probs(probs, batched=batched), notion)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _checked(notion: Notion, p: int, bandwidth: object, debiased: bool) -> tuple[Notion, int, bool]:
    check_choice(notion, "notion", NOTIONS)
    if isinstance(p, bool) or p not in (1, 2):
        raise InputError("p", "must be 1 or 2", f"got {p!r}", "pass 2 for the squared error", code="choice")
    if debiased and p != 2:
        raise InputError(
            "debiased",
            "can be set only with p = 2, the squared error",
            f"got p = {p!r}",
            "pass p=2",
            code="conflict",
        )
    if isinstance(bandwidth, str):
        if bandwidth != "likelihood":
            raise InputError(
                "bandwidth", 'must be a positive number or "likelihood"', f"got {bandwidth!r}", "try 0.02", code="range"
            )
        return notion, p, debiased
    array = np.asarray(bandwidth)
    if array.dtype.kind not in "iuf" or not ((array > 0) & (array < np.inf)).all():
        raise InputError(
            "bandwidth", 'must be a positive number or "likelihood"', f"got {bandwidth!r}", "try 0.02", code="range"
        )
    return notion, p, debiased


def _n_views(probs: Floats, notion: Notion) -> int:
    return probs.shape[-1] if notion == "classwise" else 1


def _points(probs: Floats, notion: Notion, view: int) -> Floats:
    """Points on which the kernels are evaluated, (..., n, D)."""
    if notion == "canonical":
        return probs
    share = probs[..., view] if notion == "classwise" else probs.max(axis=-1)
    return np.stack([share, np.maximum(1.0 - share, 0.0)], axis=-1)


def _view(probs: Floats, labels: Labels, notion: Notion, view: int) -> tuple[Floats, Floats, Floats]:
    """Points of the kernels, predicted values and observed values, (..., n, D), (..., n, C), (..., n, C)."""
    points = _points(probs, notion, view)
    if notion == "canonical":
        return points, probs, np.eye(probs.shape[-1])[labels]
    event = view if notion == "classwise" else probs.argmax(axis=-1)
    return points, points[..., :1], (labels == event)[..., np.newaxis].astype(np.float64)


def _log_kernels(points: Floats, bandwidth: Floats, rows: NDArray[np.intp]) -> Iterator[tuple[slice, Floats]]:
    """ln k(p_j; p_i) for rows j and all i, −inf for j = i (leave one out), in parts (..., r, n)."""
    h, betas = bandwidth[..., np.newaxis, np.newaxis], _log_beta(points, bandwidth)[..., np.newaxis, :]
    for part, inner in _log_products(points, rows):
        inner /= h
        inner -= betas
        yield part, inner


def _log_products(points: Floats, rows: NDArray[np.intp]) -> Iterator[tuple[slice, Floats]]:
    """Σ_c p_ic ln p_jc, −inf for j = i, in parts (..., r, n)."""
    for part in row_chunks(len(rows), 8 * points.size // points.shape[-1], chunk_bytes=CHUNK_BYTES):
        at = rows[part]
        logs = np.log(np.maximum(points[..., at, :], LEAST))
        inner = logs @ np.swapaxes(points, -1, -2)
        inner[..., np.arange(len(at)), at] = -np.inf
        yield part, inner


def _log_beta(points: Floats, bandwidth: Floats) -> Floats:
    """ln B(p_i/h + 1), (..., n)."""
    parameters = points / bandwidth[..., np.newaxis, np.newaxis] + 1.0
    sums = special.gammaln(parameters).sum(axis=-1)
    return cast(Floats, sums - special.gammaln(parameters.sum(axis=-1)))


def _likeliest(probs: Floats, notion: Notion) -> Floats:
    n = probs.shape[-2]
    n_rows = min(n, max(MANY_PAIRS // n, 100))
    rows = np.arange(n) if n_rows == n else np.sort(np.random.default_rng(0).choice(n, n_rows, replace=False))
    found = []
    for view in range(_n_views(probs, notion)):
        points = _points(probs, notion, view)
        if n == 1:
            found.append(np.ones(points.shape[:-2]))
            continue
        betas = [_log_beta(points, np.array(h))[..., np.newaxis, :] for h in GRID]
        likelihood = np.zeros((*points.shape[:-2], len(GRID)))
        for _, inner in _log_products(points, rows):
            for g, h in enumerate(GRID):
                logs = inner / h - betas[g]
                greatest = logs.max(axis=-1)
                logs -= greatest[..., np.newaxis]
                likelihood[..., g] += (greatest + np.log(np.exp(logs, out=logs).sum(axis=-1))).sum(axis=-1)
        found.append(GRID[likelihood.argmax(axis=-1)])
    return np.stack(found, axis=-1)
