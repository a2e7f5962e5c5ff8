"""Variances of the label: over members, of votes, and for the zero-one loss."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.measures.entropies import (
    TEMPORARIES,
    Decomposition,
    agreeing_rows,
    decomposed,
    decomposed_points,
    is_two_class_gaussian,
    least_confidence,
    second_order_members,
    shannon_entropy,
    two_class_parts,
    two_class_regrets,
    two_class_votes,
    varied_members,
)
from uqassay.native import kernel
from uqassay.predictions import (
    Dirichlet,
    Members,
    OrderFreeSum,
    Point,
    Prediction,
    PredictionLike,
    as_prediction,
    member_sums,
    not_negative,
    sum_over_classes,
)
from uqassay.predictions.base import CORE_BYTES

__all__ = [
    "ProbabilityMoments",
    "concentration",
    "predicted_class_variance",
    "probability_moments",
    "regrets",
    "total_variance",
    "variance_decomposition",
    "variation_ratio",
    "vote_entropy",
    "vote_shares",
    "zero_one_decomposition",
]


# Total, aleatoric and epistemic variance of the one-hot label, and the variance of one probability among members.


# Mean probabilities this close to the greatest one count as ties.
_TIE = 1e-12


def variance_decomposition(prediction: PredictionLike) -> Decomposition:
    """Σ_c p̄(1 − p̄) = Σ_c E[p(1 − p)] + Σ_c Var[p]: total, aleatoric and epistemic variance of the label.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a distribution over distributions: `Point`, `Members`, `Dirichlet` (closed form), `GaussianLogits` (passes;
        with epistemic variance exactly for two classes, otherwise draws).

    Returns
    -------
    Decomposition
        Each part in [0, 1 − 1/K].

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> two = uq.Members(np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    >>> d = uq.measures.variance_decomposition(two)
    >>> d.total.tolist(), d.aleatoric.tolist(), d.epistemic.tolist()
    ([0.5], [0.0], [0.5])
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Point):
        return decomposed_points(total_variance(prediction))
    if isinstance(prediction, Dirichlet):
        total, alpha_0 = total_variance(prediction), concentration(prediction)
        return Decomposition(total, total * (alpha_0 / (alpha_0 + 1.0)), total / (alpha_0 + 1.0))
    if is_two_class_gaussian(prediction):
        parts = two_class_parts(prediction)
        return Decomposition(2.0 * (parts.within + parts.among), 2.0 * parts.within, 2.0 * parts.among)
    return decomposed(second_order_members(prediction), _of_members)


def _of_members(members: Members) -> tuple[Floats, Floats, Floats]:
    """Total, mean and variance over the members, each ``(n,)``."""
    mean = members.mean_probs()
    within, among = member_variances(members, mean)
    return _gini(mean), sum_over_classes(within), sum_over_classes(among)


def member_variances(members: Members, mean: Floats) -> tuple[Floats, Floats]:
    """Σ_m w_m p(1 − p) and Σ_m w_m (p − p̄)² of each class, ``(n, K)``."""

    def terms(p: Floats) -> tuple[Floats, Floats]:
        return p * (1.0 - p), (p - mean) ** 2

    within, among = member_sums(members.probs, members.weights, terms, "member_variances", mean)
    return within, among


def total_variance(prediction: PredictionLike) -> Floats:
    """Σ_c p̄(1 − p̄) of the mean prediction, ``(n,)``, from 0 to 1 − 1/K; the Gini index of p̄.

    Any kind of prediction. For two classes it is twice the variance p(1 − p) of the label.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.variance import total_variance
    >>> total_variance(uq.Point([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [0.5, 0.0]
    """
    return _gini(as_prediction(prediction).mean_probs())


def predicted_class_variance(prediction: PredictionLike) -> Floats:
    """Variance over the members of the probability of the predicted class of the mean, ``(n,)``, from 0 to 1/4.

    Parameters
    ----------
    prediction : Members, Dirichlet or GaussianLogits, or array (n, M, K)
        Members enter with their weights, a Dirichlet with mean μ in closed form, μ(1 − μ) / (α₀ + 1). Gaussian logits enter by
        their passes if the variance is aleatoric; if it is epistemic, exactly for two classes, otherwise by the seeded draws.

    Notes
    -----
    Source: ranking metrics, section 7 and its experiments ("the variance of the predicted class"). The variance divides by the
    number of members, not by one less. If several classes have the greatest mean (within 1e-12), it is averaged over them, so
    the result does not depend on the order of the classes.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.variance import predicted_class_variance
    >>> predicted_class_variance(uq.Members([[[0.5, 0.5], [1.0, 0.0]]])).tolist()
    [0.0625]
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Dirichlet):
        mean = prediction.mean_probs().max(axis=1)
        return np.asarray(mean * (1.0 - mean) / (concentration(prediction) + 1.0), dtype=np.float64)
    if is_two_class_gaussian(prediction):
        return two_class_parts(prediction).among
    members = varied_members(prediction)
    mean = members.mean_probs()
    best = mean >= mean.max(axis=1, keepdims=True) - _TIE  # (n, K)
    variance = _class_variance(members, mean, best.argmax(axis=1))
    tied = np.flatnonzero(best.sum(axis=1) > 1)
    if tied.size:
        total, best = OrderFreeSum(tied.size), best[tied]
        for label in np.flatnonzero(best.any(axis=0)):
            among, held = np.zeros(tied.size), np.flatnonzero(best[:, label])
            part = members[tied[held]]
            among[held] = _class_variance(part, mean[tied[held]], np.full(held.size, label))
            total.add(among)
        variance[tied] = total.value() / best.sum(axis=1)
    return variance


def _class_variance(members: Members, mean: Floats, label: NDArray[np.intp]) -> Floats:
    """Variance of the probability of one class of each instance, ``(n,)``."""
    rows = np.arange(members.n_instances)
    centre, spread = mean[rows, label], OrderFreeSum(members.n_instances)
    for m in range(members.n_members):
        share: Any = 1.0 / members.n_members if members.weights is None else members.weights[..., m]
        spread.add(share * (not_negative(members.probs[rows, m, label]) - centre) ** 2)
    variance = spread.value()
    variance[agreeing_rows(members, variance, label)] = 0.0
    return variance


def concentration(prediction: Dirichlet) -> Floats:
    """Concentration α₀ of the distribution that is sampled, ``(n,)``."""
    if prediction.unit_concentration:
        return np.ones(prediction.n_instances)
    return np.asarray(np.ascontiguousarray(prediction.alpha, dtype=np.float64).sum(axis=1))


def _gini(mean: Floats) -> Floats:
    return sum_over_classes(mean * (1.0 - mean))


# Mean and variance of the probability of each class under a second-order prediction.


@final
@dataclass(frozen=True, eq=False)
class ProbabilityMoments:
    """First two moments of the probability of each class, under the stated second-order distribution."""

    mean: Floats  #: (n, K): p̄_k = E[p_k].
    variance: Floats  #: (n, K): Var[p_k]; 0 where all members agree.

    @property
    def epistemic(self) -> Floats:
        """Σ_k Var[p_k] = E‖p − p̄‖², ``(n,)``: the epistemic variance that is stated."""
        return sum_over_classes(self.variance)

    @property
    def contributions(self) -> Floats:
        """C_k = Var[p_k] / (2 p̄_k), ``(n, K)``, nats: what each class adds to the mutual information, to second order.

        0 where p̄_k is 0. Touré and Stephens (2026), Not just how much, but where, UAI. `label_wise_parts` has the exact mutual
        information of one class against the rest.
        """
        return np.divide(self.variance, 2.0 * self.mean, out=np.zeros_like(self.variance), where=self.mean > 0)


def probability_moments(prediction: PredictionLike) -> ProbabilityMoments:
    """Mean and variance of the probability of each class, as stated by a second-order prediction.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
        `Members` enter with their weights, a `Dirichlet` in closed form, α̂(1 − α̂)/(α₀ + 1) with α̂ = α/α₀, `GaussianLogits`
        of two classes with epistemic variance by quadrature, other `GaussianLogits` by their members. A `Point` has variance 0.

    Returns
    -------
    ProbabilityMoments
        The variance divides by the number of members, not by one less: the members are the distribution, not a sample.

    Examples
    --------
    >>> import uqassay as uq
    >>> stated = uq.measures.probability_moments(uq.Members([[[0.5, 0.5], [1.0, 0.0]]]))
    >>> stated.mean.tolist(), stated.variance.tolist(), stated.epistemic.tolist()
    ([[0.75, 0.25]], [[0.0625, 0.0625]], [0.125])
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Dirichlet):
        mean = prediction.mean_probs()
        return ProbabilityMoments(mean, mean * (1.0 - mean) / (concentration(prediction) + 1.0)[:, np.newaxis])
    if is_two_class_gaussian(prediction):
        among = two_class_parts(prediction).among
        return ProbabilityMoments(prediction.mean_probs(), np.stack([among, among], axis=1))
    members = second_order_members(prediction, "give members, a Dirichlet or Gaussian logits")
    mean, variance = np.empty((2, members.n_instances, members.n_classes))

    def work(rows: slice, part: Members) -> None:
        mean[rows] = part.mean_probs()
        variance[rows] = member_variances(part, mean[rows])[1]

    members.for_each_chunk(work, 8 * TEMPORARIES * members.n_classes, chunk_bytes=CORE_BYTES)
    variance[agreeing_rows(members, sum_over_classes(variance))] = 0.0
    return ProbabilityMoments(mean, variance)


# Votes of the members: measures of their disagreement.


def variation_ratio(prediction: PredictionLike) -> Floats:
    """Share of the votes for classes other than the one with the most votes, ``(n,)``, from 0 to 1 − 1/K.

    Each member votes with its weight for its most probable class. If several classes are most probable, they share the vote
    equally, so the result does not depend on the order of the classes. (Ranking metrics, section 7.)

    Parameters
    ----------
    prediction : Members, Dirichlet or GaussianLogits, or array (n, M, K)
        A Dirichlet votes through its seeded draws, Gaussian logits through their passes if the variance is aleatoric. If it
        is epistemic, the shares are exact for two classes, and those of the seeded draws otherwise.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.variance import variation_ratio
    >>> variation_ratio(uq.Members([[[0.6, 0.4], [0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]])).tolist()
    [0.25]
    """
    votes, total = _count(as_prediction(prediction))
    if votes.shape[1] == 2:
        return np.asarray(votes.min(axis=1) / total)
    return np.asarray(
        (total - votes.max(axis=1)) / total
    )  # exactly 0 if the votes are unanimous, unlike 1 − max / total


def vote_entropy(prediction: PredictionLike) -> Floats:
    """Entropy of the distribution of the votes, ``(n,)``, in nats, from 0 to ln K.

    Votes as in `variation_ratio`. If the members are predictions for augmented copies of an input, this is the
    test-time-augmentation entropy (Wang et al., 2019; ranking metrics, section 7).

    Parameters
    ----------
    prediction : Members, Dirichlet or GaussianLogits, or array (n, M, K)
        A Dirichlet votes through its seeded draws, Gaussian logits through their passes if the variance is aleatoric. If it
        is epistemic, the shares are exact for two classes, and those of the seeded draws otherwise.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.variance import vote_entropy
    >>> vote_entropy(uq.Members([[[0.6, 0.4], [0.3, 0.7]]])).round(4).tolist()
    [0.6931]
    """
    return shannon_entropy(vote_shares(prediction))


def vote_shares(prediction: PredictionLike) -> Floats:
    """Share of the votes that each class received, ``(n, K)``; rows sum to 1, exactly if one class has all votes.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.variance import vote_shares
    >>> vote_shares(uq.Members([[[0.6, 0.4], [0.5, 0.5]]], weights=[1, 3])).tolist()
    [[0.625, 0.375]]
    """
    votes, total = _count(as_prediction(prediction))
    return votes / total[:, None]


def _count(prediction: Prediction) -> tuple[Floats, Floats]:
    """Votes for each class, ``(n, K)``, and total votes, ``(n,)``: numbers of members, or sums of weights.

    Votes are summed before the division, so instances with the same votes tie exactly.
    """
    if is_two_class_gaussian(prediction):
        votes = two_class_votes(prediction)
        return votes, votes.sum(axis=1)
    members = varied_members(prediction)
    votes = np.empty((members.n_instances, members.n_classes))
    total = np.empty(members.n_instances)

    counted = kernel("untied_votes") if members.weights is None else None

    def work(rows: slice, part: Members) -> None:
        if counted is not None and part.probs.dtype in (np.float32, np.float64):
            found = counted(np.ascontiguousarray(part.probs))
            if found is not None:
                votes[rows], total[rows] = found, part.n_members
                return
        counts, all_votes = OrderFreeSum(votes[rows].shape), OrderFreeSum(len(part))
        for m in range(part.n_members):
            probs = part.probs[:, m]
            best = probs == probs.max(axis=1, keepdims=True)
            ballot = best.astype(np.float64)
            if np.count_nonzero(best) > len(part):  # some row has tied classes
                ballot /= ballot.sum(axis=1, keepdims=True)
            weight = 1.0 if part.weights is None else part.weights[..., m]
            counts.add(ballot * np.reshape(weight, (-1, 1)))
            all_votes.add(np.broadcast_to(weight, len(part)))
        votes[rows], total[rows] = counts.value(), all_votes.value()

    members.for_each_chunk(work, 8 * TEMPORARIES * members.n_classes, chunk_bytes=CORE_BYTES)
    return votes, total


# Decomposition of the zero-one loss: how often the best guess is wrong, of the mean and of each member.

NO_REGRET = 8 * np.finfo(np.float64).eps  # below it, members are compared bit by bit


def zero_one_decomposition(prediction: PredictionLike) -> Decomposition:
    """1 − max p̄ = E[1 − max p] + (E[max p] − max p̄): total, aleatoric and epistemic expected zero-one loss.

    The epistemic part is computed as the least over the classes c of E[max p − p(c)], which is ≥ 0 term by term. It is 0
    exactly if all members have a most probable class in common, and so also where they differ in their probabilities.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a distribution over distributions: `Point`, `Members`, `Dirichlet` (by its seeded draws, because the maximum
        has no closed form) and `GaussianLogits` (passes; with epistemic variance exactly for two classes, otherwise draws).

    Returns
    -------
    Decomposition
        Each part in [0, 1 − 1/K]. Total is the score "least-confidence" of the mean of the members or draws.

    Notes
    -----
    Source: Sale et al., Second-order uncertainty quantification: a distance-based approach (2024); Kotelevskii and Panov
    (2024), zero-one score.

    Examples
    --------
    >>> import uqassay as uq
    >>> d = uq.measures.zero_one_decomposition(uq.Members([[[0.75, 0.25], [0.25, 0.75]], [[0.75, 0.25], [1.0, 0.0]]]))
    >>> d.total.tolist(), d.aleatoric.tolist(), d.epistemic.tolist()
    ([0.5, 0.125], [0.25, 0.125], [0.25, 0.0])
    """
    prediction = as_prediction(prediction)
    if is_two_class_gaussian(prediction):
        loss, regret = two_class_regrets(prediction)
        return Decomposition(least_confidence(prediction), loss, regret.min(axis=1))
    members = second_order_members(prediction)
    loss, regret = regrets(members)
    total, epistemic = least_confidence(members), regret.min(axis=1)
    epistemic[agreeing_rows(members, np.where(epistemic > 0.0, epistemic, np.inf), below=NO_REGRET)] = 0.0
    return Decomposition(total, np.where(epistemic > 0.0, loss, total), epistemic)


def regrets(members: Members) -> tuple[Floats, Floats]:
    """E[1 − max p], ``(n,)``, and E[max p − p(c)] of each class c, ``(n, K)``."""
    loss, regret = np.empty(members.n_instances), np.empty((members.n_instances, members.n_classes))

    def terms(p: Floats) -> tuple[Floats, Floats]:
        top = p.max(axis=1, keepdims=True)
        return 1.0 - top, top - p

    def work(rows: slice, part: Members) -> None:
        sums, lost = member_sums(part.probs, part.weights, terms, "member_regrets")
        loss[rows], regret[rows] = np.maximum(sums[:, 0], 0.0), lost

    members.for_each_chunk(work, 8 * TEMPORARIES * members.n_classes, chunk_bytes=CORE_BYTES)
    return loss, regret
