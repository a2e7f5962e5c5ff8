"""Decompositions of the expected loss of proper scores: generalised entropies and Bregman divergences."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from uqassay.arrays import Floats
from uqassay.checks import one_of
from uqassay.measures.entropies import (
    NEAR,
    SMALLEST_NORMAL,
    Decomposition,
    agreeing_rows,
    decomposed,
    entropy_decomposition,
    is_two_class_gaussian,
    log_ratio,
    second_order_members,
    two_class_parts,
    two_class_regrets,
)
from uqassay.measures.variance import (
    NO_REGRET,
    concentration,
    regrets,
    variance_decomposition,
    vote_shares,
    zero_one_decomposition,
)
from uqassay.predictions import (
    Dirichlet,
    Members,
    Prediction,
    PredictionLike,
    as_prediction,
    member_sums,
    sum_over_classes,
)

__all__ = ["PROPER_SCORES", "REFERENCES", "proper_score_decomposition"]

PROPER_SCORES = ("log", "brier", "spherical", "zero-one")
REFERENCES = ("mean", "pairwise")


def proper_score_decomposition(
    prediction: PredictionLike, score: str = "log", *, reference: str = "mean"
) -> Decomposition:
    """Total = aleatoric + epistemic expected loss of a proper score with the entropy G and the divergence D.

    The aleatoric part is E[G(p)] over the members p, the loss of a forecaster who knows the right member. The epistemic part
    is the loss added by a forecast q that is not this member, E[D(p, q)] ≥ 0.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a distribution over distributions: `Point`, `Members`, `Dirichlet`, `GaussianLogits` (passes; with epistemic
        variance exactly for two classes, except for "spherical"; otherwise draws).
    score : {"log", "brier", "spherical", "zero-one"}
        G(p) is the entropy −Σ p ln p, Σ p (1 − p), 1 − ‖p‖₂, or 1 − max p.
    reference : {"mean", "pairwise"}
        The forecast q. "mean": the mean p̄, so that total = G(p̄); this is `entropy_decomposition` for "log",
        `variance_decomposition` for "brier" and `zero_one_decomposition` for "zero-one". "pairwise": a second member, drawn
        independently (also the same one); for "log" the expected pairwise KL divergence.

    Returns
    -------
    Decomposition
        The epistemic part is exactly 0 where the members agree. With "log" and "pairwise", it and the total are infinite
        where a member of positive weight gives probability 0 to a class that is possible under another.

    Notes
    -----
    Source: Kotelevskii and Panov, Predictive uncertainty quantification via risk decompositions for strictly proper scoring
    rules (2024). For a Dirichlet, "log" and "brier" are closed forms (pairwise: (K − 1) / α₀, and twice the variance); the
    others use its draws. All take time O(M), also "pairwise".

    Examples
    --------
    >>> import uqassay as uq
    >>> two = uq.Members([[[0.75, 0.25], [0.25, 0.75]]])
    >>> for reference in ("mean", "pairwise"):
    ...     d = uq.measures.proper_score_decomposition(two, "log", reference=reference)
    ...     print(d.total.round(4), d.aleatoric.round(4), d.epistemic.round(4))
    [0.6931] [0.5623] [0.1308]
    [0.837] [0.5623] [0.2747]
    """
    prediction = as_prediction(prediction)
    one_of(score, "score", PROPER_SCORES)
    one_of(reference, "reference", REFERENCES)
    if reference == "mean":
        return _FROM_THE_MEAN[score](prediction)
    found = _PAIRWISE[score](prediction)
    return replace(found, total=found.aleatoric + found.epistemic)


def _spherical(prediction: Prediction) -> Decomposition:
    return decomposed(second_order_members(prediction), _spherical_from_the_mean)


def _spherical_from_the_mean(members: Members) -> tuple[Floats, Floats, Floats]:
    """G(p̄), E[G(p)] and E[D(p, p̄)], where D(p, q) = ‖p‖ − p·q / ‖q‖ = |p − ‖p‖ q/‖q‖|² / 2‖p‖.

    With p − q and ‖p‖ − ‖q‖ = (p − q)·(p + q) / (‖p‖ + ‖q‖) nothing cancels.
    """
    mean = members.mean_probs()
    length = _norm(mean)
    direction = mean / length

    def terms(p: Floats) -> tuple[Floats, Floats]:
        norm, d = _norm(p), p - mean
        longer = sum_over_classes(d * (p + mean))[:, None] / (norm + length)
        return _spherical_entropy(p, norm), (d - longer * direction) ** 2 / (2.0 * norm)

    aleatoric, epistemic = member_sums(members.probs, members.weights, terms, "member_spheres", mean)
    return _spherical_entropy(mean, length)[:, 0], aleatoric[:, 0], sum_over_classes(epistemic)


def _spherical_pairwise(prediction: Prediction) -> Decomposition:
    found = decomposed(second_order_members(prediction), _pairwise_directions)
    return replace(_spherical(prediction), epistemic=found.epistemic)


def _pairwise_directions(members: Members) -> tuple[Floats, Floats, Floats]:
    """E[D(p, q)] over two members, ``(n,)``, in the third place.

    With u = p/‖p‖ and its mean ū, it is (E‖p‖ · E|u − ū|² + E[‖p‖ |u − ū|²]) / 2.
    """

    def lengths(p: Floats) -> tuple[Floats, Floats]:
        norm = _norm(p)
        return norm, p / norm

    length, direction = member_sums(members.probs, members.weights, lengths)

    def divergences(p: Floats) -> tuple[Floats]:
        norm = _norm(p)
        return ((length + norm) * (p / norm - direction) ** 2 / 2.0,)

    [divergence] = member_sums(members.probs, members.weights, divergences)
    pairwise = sum_over_classes(divergence)
    return pairwise, pairwise, pairwise


def _norm(p: Floats) -> Floats:
    """‖p‖₂, ``(n, 1)``, independent of the order of the classes."""
    return np.sqrt(sum_over_classes(p * p))[:, None]


def _spherical_entropy(p: Floats, norm: Floats) -> Floats:
    """1 − ‖p‖ = Σ p (1 − p) / (1 + ‖p‖), ``(n, 1)``; this form keeps the digits of confident predictions."""
    return np.maximum(sum_over_classes(p * (1.0 - p))[:, None], 0.0) / (1.0 + norm)


def _log_pairwise(prediction: Prediction) -> Decomposition:
    parts = entropy_decomposition(prediction)
    if isinstance(prediction, Dirichlet):
        return replace(parts, epistemic=(prediction.n_classes - 1) / concentration(prediction))
    if is_two_class_gaussian(prediction):
        return replace(parts, epistemic=two_class_parts(prediction).pairwise)
    found = decomposed(second_order_members(prediction), _pairwise_kl)
    return replace(parts, epistemic=found.epistemic)


def _pairwise_kl(members: Members) -> tuple[Floats, Floats, Floats]:
    """Expected KL divergence between two members, ``(n,)``, in the third place: E Σ (p − p̄) ln(p / p̄).

    It is the sum of E KL(p, p̄) and E KL(p̄, p). All terms are ≥ 0.
    """
    mean = members.mean_probs()
    log_mean = np.log(np.maximum(mean, SMALLEST_NORMAL))

    def terms(p: Floats) -> tuple[Floats, Floats]:
        d, s, excess = log_ratio(p, mean)
        log = np.where(s * s > NEAR, np.log(np.maximum(p, SMALLEST_NORMAL)) - log_mean, s * (2.0 + excess))
        ruled_out = ((p == 0.0) & (mean > 0.0)).astype(np.float64)
        return d * np.where(p > 0.0, log, 0.0), ruled_out

    divergence, ruled_out = member_sums(members.probs, members.weights, terms, "member_divergences", mean)
    pairwise = np.where((ruled_out > 0.0).any(axis=1), np.inf, sum_over_classes(divergence))
    return pairwise, pairwise, pairwise


def _brier_pairwise(prediction: Prediction) -> Decomposition:
    parts = variance_decomposition(prediction)
    return replace(parts, epistemic=2.0 * parts.epistemic)


def _zero_one_pairwise(prediction: Prediction) -> Decomposition:
    """E[max p − p(ŷ)], where ŷ is the vote of another member; classes that tie share a vote."""
    parts = zero_one_decomposition(prediction)
    if is_two_class_gaussian(prediction):
        return replace(parts, epistemic=(vote_shares(prediction) * two_class_regrets(prediction)[1]).sum(axis=1))
    members = second_order_members(prediction)
    epistemic = sum_over_classes(vote_shares(members) * regrets(members)[1])
    epistemic[agreeing_rows(members, epistemic, below=NO_REGRET)] = 0.0
    return replace(parts, epistemic=epistemic)


_FROM_THE_MEAN: dict[str, Callable[[Prediction], Decomposition]] = {
    "log": entropy_decomposition,
    "brier": variance_decomposition,
    "spherical": _spherical,
    "zero-one": zero_one_decomposition,
}
_PAIRWISE: dict[str, Callable[[Prediction], Decomposition]] = {
    "log": _log_pairwise,
    "brier": _brier_pairwise,
    "spherical": _spherical_pairwise,
    "zero-one": _zero_one_pairwise,
}
