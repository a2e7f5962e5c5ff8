"""Uncertainty scores and decompositions by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from uqassay.arrays import Floats, as_numeric
from uqassay.checks import fail, one_of
from uqassay.measures.entropies import (
    Decomposition,
    credal_uncertainty,
    entropy_decomposition,
    label_wise_decomposition,
    least_confidence,
    lower_entropy,
    margin_uncertainty,
    shannon_entropy,
    upper_entropy,
)
from uqassay.measures.logits import CONVENTIONS, free_energy, gaussian_logits_decomposition, has_logits
from uqassay.measures.nonspecificities import credal_width, generalised_hartley
from uqassay.measures.proper import proper_score_decomposition
from uqassay.measures.variance import (
    predicted_class_variance,
    probability_moments,
    total_variance,
    variance_decomposition,
    variation_ratio,
    vote_entropy,
    zero_one_decomposition,
)
from uqassay.predictions import (
    Answers,
    Box,
    GaussianLogits,
    Masses,
    Members,
    Point,
    Prediction,
    PredictionLike,
    Vertices,
    as_prediction,
    sum_over_classes,
)
from uqassay.text import shown

__all__ = [
    "DECOMPOSITIONS",
    "SCORES",
    "DecompositionInfo",
    "Score",
    "decompose",
    "decomposition_names",
    "score_columns",
    "score_names",
    "uncertainty_score",
]


# Decompositions of total uncertainty into aleatoric and epistemic parts, by name.

UserDecomposition = Callable[[Prediction], Any]

_PROPER = "Kotelevskii and Panov (2024)"
_SETS = (Box, Masses, Vertices)


@dataclass(frozen=True)
class DecompositionInfo:
    """A named decomposition."""

    name: str  #: In lower case with hyphens.
    #: (prediction, convention) → Decomposition.
    compute: Callable[[Prediction, str], Decomposition] = field(repr=False)
    unit: str  #: "nats", "squared probability", "probability" or "spherical score".
    sentence: str  #: Description.
    source: str  #: Paper and section or equation.
    #: True if only `GaussianLogits` has it; the others need a distribution over distributions.
    needs_logits: bool = False

    def offered_by(self, prediction: Prediction) -> bool:
        """True if this kind of prediction has the decomposition. Nothing is computed."""
        return isinstance(prediction, GaussianLogits) if self.needs_logits else not isinstance(prediction, _SETS)


DECOMPOSITIONS: dict[str, DecompositionInfo] = {
    info.name: info
    for info in (
        DecompositionInfo(
            "information-theoretic",
            lambda p, convention: entropy_decomposition(p),
            "nats",
            "Entropy of the mean prediction, mean entropy of the members, and their difference, the mutual information.",
            "disentanglement, appendix A; unified evaluation, equations 14 to 17",
        ),
        DecompositionInfo(
            "gaussian-logits",
            lambda p, convention: gaussian_logits_decomposition(p, convention=convention),
            "nats",
            "Entropies of the mean softmax of Gaussian logits: of the mean variance stated by the passes (aleatoric), of the "
            "variance of their means (epistemic), and of both (total); not additive.",
            "disentanglement, appendix A, equations 2 and 3",
            needs_logits=True,
        ),
        DecompositionInfo(
            "variance",
            lambda p, convention: variance_decomposition(p),
            "squared probability",
            "Variance of the one-hot label, its mean over the members, and the variance of the probabilities among them.",
            "law of total variance",
        ),
        DecompositionInfo(
            "label-wise",
            lambda p, convention: label_wise_decomposition(p),
            "nats",
            "Sum over the classes of the entropy decompositions of one class against the rest.",
            "Sale, Hofman, Wimmer, Hüllermeier and Nagler (2024)",
        ),
        DecompositionInfo(
            "zero-one",
            lambda p, convention: zero_one_decomposition(p),
            "probability",
            "Expected zero-one loss of the mean prediction, its mean over the members, and their difference.",
            "Sale et al. (2024)",
        ),
        DecompositionInfo(
            "brier",
            lambda p, convention: proper_score_decomposition(p, "brier"),
            "squared probability",
            "Decomposition of the Brier score; the same numbers as the variance decomposition.",
            _PROPER,
        ),
        DecompositionInfo(
            "log",
            lambda p, convention: proper_score_decomposition(p, "log"),
            "nats",
            "Decomposition of the logarithmic score; the same numbers as the information-theoretic decomposition.",
            _PROPER,
        ),
        DecompositionInfo(
            "spherical",
            lambda p, convention: proper_score_decomposition(p, "spherical"),
            "spherical score",
            "One minus the Euclidean norm of the mean prediction, its mean over the members, and their difference.",
            _PROPER,
        ),
    )
}


def decompose(
    prediction: PredictionLike,
    decomposition: str | UserDecomposition = "information-theoretic",
    *,
    convention: str = "exact",
) -> Decomposition:
    """Total, aleatoric and epistemic uncertainty of each instance, by the name of the decomposition.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
    decomposition : str or callable
        A name of `DECOMPOSITIONS`, or a function that takes the prediction and returns a `Decomposition`, three arrays
        (n,) in the order total, aleatoric, epistemic, or a mapping with the keys "aleatoric" and "epistemic", and possibly
        "total", which is their sum otherwise.
    convention : {"exact", "paper-code"}
        For "gaussian-logits"; the other decompositions are the same in both.

    Examples
    --------
    >>> import uqassay as uq
    >>> two = uq.Members([[[1.0, 0.0], [0.0, 1.0]]])
    >>> d = uq.measures.decompose(two)
    >>> d.total.round(4).tolist(), d.aleatoric.round(4).tolist(), d.epistemic.round(4).tolist()
    ([0.6931], [0.0], [0.6931])
    """
    prediction = as_prediction(prediction)
    one_of(convention, "convention", CONVENTIONS)
    if callable(decomposition):
        return _of_user(decomposition(prediction), prediction.n_instances)
    if not isinstance(decomposition, str) or decomposition not in DECOMPOSITIONS:
        rule = f"must be one of {', '.join(DECOMPOSITIONS)}, or a function"
        fail("decomposition", rule, f"got {shown(decomposition)}", "choose one of them", code="choice")
    return DECOMPOSITIONS[decomposition].compute(prediction, convention)


def decomposition_names(prediction: PredictionLike) -> tuple[str, ...]:
    """Names of the decompositions that this kind of prediction has.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.measures.decomposition_names(uq.Intervals([[0.1, 0.3]], [[0.5, 0.8]]))
    ()
    """
    prediction = as_prediction(prediction)
    return tuple(name for name, info in DECOMPOSITIONS.items() if info.offered_by(prediction))


def _of_user(found: Any, n: int) -> Decomposition:
    """The result of a user's function, checked."""
    parts = _named_parts(found)
    checked = {name: _checked(values, name, n) for name, values in parts.items()}
    if "total" not in checked:
        checked["total"] = checked["aleatoric"] + checked["epistemic"]
    return Decomposition(checked["total"], checked["aleatoric"], checked["epistemic"])


def _named_parts(found: Any) -> dict[str, Any]:
    if isinstance(found, Decomposition):
        return {"total": found.total, "aleatoric": found.aleatoric, "epistemic": found.epistemic}
    if isinstance(found, Mapping):
        missing = [name for name in ("aleatoric", "epistemic") if name not in found]
        unknown = [name for name in found if name not in ("total", "aleatoric", "epistemic")]
        if not missing and not unknown:
            return dict(found)
        got = f"got no {missing[0]!r}" if missing else f"got the key {shown(unknown[0])}"
    elif isinstance(found, (tuple, list)) and len(found) == 3:
        return dict(zip(("total", "aleatoric", "epistemic"), found, strict=True))
    else:
        got = f"got {len(found)} values" if isinstance(found, (tuple, list)) else f"got {shown(found)}"
    remedy = 'return a Decomposition, three arrays, or a mapping with "aleatoric" and "epistemic"'
    fail("decomposition", "a function must return total, aleatoric and epistemic uncertainty", got, remedy, code="type")


def _checked(values: Any, name: str, n: int) -> Floats:
    array = np.array(as_numeric(values, f"decomposition.{name}"), dtype=np.float64)
    if array.shape != (n,):
        rule = f"must have one number for each instance, ({n},)"
        got = f"got shape {array.shape}"
        fail(f"decomposition.{name}", rule, got, "reduce the other axes in the function", code="shape")
    if np.isnan(array).any():
        row = int(np.isnan(array).argmax())
        rule = "must not hold nan"
        remedy = "give a number for each instance"
        fail(f"decomposition.{name}", rule, f"row {row} is nan", remedy, code="finite", facts={"row": row})
    return array


# Uncertainty scores by name: one number per instance, greater is less certain.

Needs = Literal[
    "any prediction", "a distribution over distributions", "several distributions", "logits", "Gaussian logits"
]


@dataclass(frozen=True)
class Score:
    """An uncertainty score: call it with a prediction for one number per instance, ``(n,)``.

    Examples
    --------
    >>> import uqassay as uq
    >>> margin = uq.measures.SCORES["margin"]
    >>> margin(uq.Point([[0.5, 0.25, 0.25]])).tolist(), margin.unit, margin.direction
    ([0.75], 'probability', 'greater is less certain')
    """

    direction: ClassVar[str] = "greater is less certain"

    name: str  #: In lower case with hyphens.
    #: Prediction → array (n,). The numbers of an instance depend on its own row alone.
    compute: Callable[[Prediction], Floats] = field(repr=False)
    unit: str  #: "nats", "probability", "squared probability", "spherical score" or "share" (of the votes).
    sentence: str  #: Description.
    equation: str  #: In symbols, p̄ the mean of the members p, as plain text; "" where the sentence says it all.
    source: str  #: Paper and section or equation.
    #: Requirement on the prediction: "any prediction"; "a distribution over distributions" (not `Intervals`, `Masses`,
    #: `Vertices`); "several distributions" (nor `Point`); "logits" (`GaussianLogits`, and `Point` and `Members` with a
    #: log-partition); "Gaussian logits" (`GaussianLogits`).
    needs: Needs = "any prediction"
    #: True if not in the default list of scores: it takes long, or is an alternative to a score of the list.
    on_request: bool = False
    of_set: bool = False  #: True if it measures the credal set, which a single distribution does not have.
    #: Decomposition and its part that the score is, for points and members at least: found together with the other parts.
    part: tuple[str, str] | None = None

    def __call__(self, prediction: PredictionLike) -> Floats:
        """Score of every instance, ``(n,)``."""
        return self.compute(as_prediction(prediction))

    @property
    def label(self) -> str:
        """Name in words."""
        return "non-specificity" if self.name == "nonspecificity" else self.name.replace("-", " ")

    @property
    def needs_spread(self) -> bool:
        """True if a single distribution has it at 0, or as another score says it."""
        return self.of_set or self.needs == "a distribution over distributions"

    @property
    def epistemic(self) -> bool:
        """True if it measures epistemic uncertainty alone. Upper and lower entropy of a set hold the aleatoric part, too."""
        return self.name.startswith("epistemic-") or (self.of_set and not self.name.startswith(("upper-", "lower-")))

    def offered_by(self, prediction: Prediction) -> bool:
        """True if this kind of prediction has the score. Nothing is computed."""
        match self.needs:
            case "logits":
                return has_logits(prediction)
            case "Gaussian logits":
                return isinstance(prediction, GaussianLogits)
            case "several distributions":
                return not isinstance(prediction, (*_SETS, Point))
            case "a distribution over distributions":
                return not isinstance(prediction, _SETS)
        return True


_UNIFIED, _RANKING = "unified evaluation", "ranking metrics, section 7"


def _part(score: str, decomposition: str, sentence: str, equation: str, *, default: bool = False) -> Score:
    """The score that is one part of a decomposition."""
    info, part = DECOMPOSITIONS[decomposition], score.partition("-")[0]
    return Score(
        score,
        lambda p: getattr(decompose(p, decomposition), part),
        info.unit,
        sentence,
        equation,
        info.source,
        "Gaussian logits" if info.needs_logits else "a distribution over distributions",
        on_request=not default,
        part=(decomposition, part),
    )


def _entropies_over(over: str, among: str, equations: Sequence[str]) -> list[Score]:
    """The scores that are an extreme of the entropy, or the difference of both, over the credal set or over its box."""
    measures = (
        ("upper-entropy", upper_entropy, "Largest", "equation 20"),
        ("lower-entropy", lower_entropy, "Smallest", "equation 20"),
        ("credal-uncertainty", credal_uncertainty, "Largest minus smallest", "appendix F.2 and equation 20"),
    )
    return [
        Score(
            name if over == "set" else f"{name}-{over}",
            partial(measure, over=over),
            "nats",
            f"{what} entropy {among}.",
            equation,
            f"{_UNIFIED}, {place}",
            on_request=True,
            of_set=True,
        )
        for (name, measure, what, place), equation in zip(measures, equations, strict=True)
    ]


SCORES: dict[str, Score] = {
    score.name: score
    for score in (
        Score(
            "least-confidence",
            least_confidence,
            "probability",
            "One minus the largest probability of the mean prediction: how probable an error is, if the mean is right.",
            "1 − max over c of p̄(c)",
            f"{_RANKING}; Hendrycks and Gimpel (2017)",
        ),
        Score(
            "margin",
            margin_uncertainty,
            "probability",
            "One minus the lead of the most probable class over the second in the mean prediction.",
            "1 − (p̄₍₁₎ − p̄₍₂₎), the two largest",
            _RANKING,
        ),
        Score(
            "total-entropy",
            lambda p: shannon_entropy(p.mean_probs()),
            "nats",
            "Shannon entropy of the mean prediction: all uncertainty about the label together.",
            "H(p̄) = −Σ p̄(c) ln p̄(c)",
            f"{_UNIFIED}, equation 14; {_RANKING}",
            part=("information-theoretic", "total"),
        ),
        replace(
            _part(
                "aleatoric-entropy",
                "information-theoretic",
                "Mean entropy of the members: the uncertainty that each of them still has.",
                "mean of H(p)",
                default=True,
            ),
            source=f"{_UNIFIED}, equations 15 to 17; {_RANKING}",
        ),
        replace(
            _part(
                "epistemic-entropy",
                "information-theoretic",
                "Mutual information of member and label, total minus aleatoric entropy: how far the members disagree.",
                "H(p̄) − mean of H(p)",
                default=True,
            ),
            source=f"{_UNIFIED}, equations 15 to 17; {_RANKING}",
        ),
        Score(
            "total-variance",
            total_variance,
            "squared probability",
            "Variance of the one-hot label under the mean prediction, summed over the classes.",
            "Σ p̄(c) (1 − p̄(c))",
            f"{_RANKING}; for one distribution per instance “the variance of the prediction” of its experiments",
            part=("variance", "total"),
        ),
        _part(
            "aleatoric-variance",
            "variance",
            "Mean over the members of the variance of the label, summed over the classes.",
            "mean of Σ p(c) (1 − p(c))",
            default=True,
        ),
        _part(
            "epistemic-variance",
            "variance",
            "Variance of the probabilities among the members, summed over the classes.",
            "Σ over c of Var p(c)",
            default=True,
        ),
        Score(
            "predicted-class-variance",
            predicted_class_variance,
            "squared probability",
            "Variance among the members of the probability of the class that the mean predicts.",
            "Var p(ŷ)",
            f"{_RANKING} and its experiments",
            "several distributions",
        ),
        Score(
            "variation-ratio",
            variation_ratio,
            "share",
            "Share of the members that vote for another class than the one with the most votes.",
            "",
            _RANKING,
            "several distributions",
        ),
        Score(
            "vote-entropy",
            vote_entropy,
            "nats",
            "Entropy of the members' votes; of augmented copies of an input, the test-time-augmentation entropy.",
            "",
            f"{_RANKING}; Wang et al. (2019)",
            "several distributions",
        ),
        Score(
            "free-energy",
            free_energy,
            "nats",
            "Minus the log-sum-exp of the logits: how little evidence there is for any class; it may be negative.",
            "−ln Σ exp z(c)",
            f"{_RANKING}; Liu et al. (2020)",
            "logits",
        ),
        Score(
            "credal-width",
            credal_width,
            "probability",
            "Upper minus lower probability, averaged over the classes.",
            "1/K · Σ over c of (P̄(c) − P̲(c))",
            f"{_UNIFIED}, figure 18",
            of_set=True,
        ),
        Score(
            "nonspecificity",
            lambda p: generalised_hartley(p).values,
            "nats",
            "Generalised Hartley measure of the credal set: how imprecise it is, 0 for one distribution, ln K for all.",
            "",
            f"{_UNIFIED}, equation 7, without clipping",
            on_request=True,
            of_set=True,
        ),
        *_entropies_over(
            "set",
            "in the credal set: the mixtures of members, draws or vertices, or what bounds or masses allow",
            ("max over p of H(p)", "min over p of H(p)", "max over p of H(p) − min over p of H(p)"),
        ),
        *_entropies_over(
            "box",
            "among the distributions between the lower and upper probabilities of the classes",
            (
                "max of H(p) over P̲ ≤ p ≤ P̄",
                "min of H(p) over P̲ ≤ p ≤ P̄",
                "max of H(p) − min of H(p), both over P̲ ≤ p ≤ P̄",
            ),
        ),
        _part(
            "total-gaussian-logits",
            "gaussian-logits",
            "Entropy of the mean softmax of Gaussian logits with the aleatoric and the epistemic variance.",
            "H(mean of softmax(z)), z ~ N(mean of μ, mean of σ² + Var μ)",
        ),
        _part(
            "aleatoric-gaussian-logits",
            "gaussian-logits",
            "Entropy of the mean softmax of Gaussian logits with the mean variance that the passes state.",
            "H(mean of softmax(z)), z ~ N(mean of μ, mean of σ²)",
        ),
        _part(
            "epistemic-gaussian-logits",
            "gaussian-logits",
            "Entropy of the mean softmax of Gaussian logits with the variance of the means of the passes.",
            "H(mean of softmax(z)), z ~ N(mean of μ, Var μ)",
        ),
        _part(
            "total-label-wise",
            "label-wise",
            "Entropy of one class against the rest under the mean prediction, summed over the classes.",
            "Σ over c of h(p̄(c)), h(x) = −x ln x − (1 − x) ln(1 − x)",
        ),
        _part(
            "aleatoric-label-wise",
            "label-wise",
            "Mean entropy of one class against the rest among the members, summed over the classes.",
            "mean of Σ over c of h(p(c))",
        ),
        _part(
            "epistemic-label-wise",
            "label-wise",
            "Mutual information of member and class, one class against the rest, summed over the classes.",
            "Σ over c of (h(p̄(c)) − mean of h(p(c)))",
        ),
        _part(
            "total-zero-one",
            "zero-one",
            "One minus the largest probability of the mean of the members: the same as least confidence.",
            "1 − max over c of p̄(c)",
        ),
        _part(
            "aleatoric-zero-one",
            "zero-one",
            "Mean over the members of one minus their largest probability.",
            "mean of 1 − max over c of p(c)",
        ),
        _part(
            "epistemic-zero-one",
            "zero-one",
            "How much more probable each member's best guess is than that of the mean, on average.",
            "mean of max over c of p(c) − max over c of p̄(c)",
        ),
        _part("total-spherical", "spherical", "One minus the Euclidean norm of the mean prediction.", "1 − ‖p̄‖₂"),
        _part(
            "aleatoric-spherical",
            "spherical",
            "Mean over the members of one minus their Euclidean norm.",
            "mean of 1 − ‖p‖₂",
        ),
        _part(
            "epistemic-spherical",
            "spherical",
            "Mean norm of the members minus the norm of their mean.",
            "mean of ‖p‖₂ − ‖p̄‖₂",
        ),
        Score(
            "epistemic-pairwise-kl",
            lambda p: proper_score_decomposition(p, "log", reference="pairwise").epistemic,
            "nats",
            "Expected KL divergence between two members; infinite where one rules out a class that another does not.",
            "mean over p and q of Σ p(c) ln(p(c) / q(c))",
            "Kotelevskii and Panov (2024); Malinin and Gales (2021)",
            "a distribution over distributions",
            on_request=True,
        ),
        Score(
            "epistemic-taylor",
            lambda p: sum_over_classes(probability_moments(p).contributions),
            "nats",
            "Variance of each class's probability over twice its mean, summed: the mutual information to second order.",
            "Σ over c of Var p(c) / (2 p̄(c))",
            "Touré and Stephens (2026)",
            "a distribution over distributions",
            on_request=True,
        ),
    )
}


def uncertainty_score(prediction: PredictionLike, name: str) -> Floats:
    """Score of every instance by name, ``(n,)``; entropies in nats.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.measures.uncertainty_score(uq.Point([[0.5, 0.5]]), "total-entropy").round(4).tolist()
    [0.6931]
    """
    return _named(name).compute(as_prediction(prediction))


def score_columns(prediction: PredictionLike, names: Sequence[str]) -> dict[str, Floats]:
    """Several scores of every instance by name, ``(n,)`` each: like `uncertainty_score`, with shared parts computed once.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.registry import score_columns
    >>> found = score_columns(uq.Members([[[0.6, 0.4], [0.3, 0.7]]]), ["variation-ratio", "vote-entropy"])
    >>> {name: values.round(4).tolist() for name, values in found.items()}
    {'variation-ratio': [0.5], 'vote-entropy': [0.6931]}
    """
    prediction = as_prediction(prediction)
    found: dict[str, Floats] = {}
    of: dict[str, dict[str, str]] = {}  # names of parts by decomposition and score
    for score in map(_named, names):
        # any prediction has the totals; of points and members they are those of the decomposition
        if score.part is not None and (score.needs != "any prediction" or isinstance(prediction, Point | Members)):
            of.setdefault(score.part[0], {})[score.name] = score.part[1]
    for decomposition, parts in of.items():
        if len(parts) > 1:
            together = decompose(prediction, decomposition)
            found |= {name: getattr(together, part) for name, part in parts.items()}
    return {name: found[name] if name in found else _named(name).compute(prediction) for name in names}


def score_names(prediction: PredictionLike, *, on_request: bool = False) -> tuple[str, ...]:
    """Names of the scores that this kind of prediction has; with `on_request` also those outside the default list.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.registry import score_names
    >>> score_names(uq.Intervals([[0.1, 0.3]], [[0.5, 0.8]]))
    ('least-confidence', 'margin', 'total-entropy', 'total-variance', 'credal-width')
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Answers):  # the stated confidence in place of the largest probability
        return () if prediction.confidence is None else ("least-confidence",)
    return tuple(
        name for name, score in SCORES.items() if (on_request or not score.on_request) and score.offered_by(prediction)
    )


def _named(name: str) -> Score:
    one_of(name, "name", SCORES)
    return SCORES[name]
