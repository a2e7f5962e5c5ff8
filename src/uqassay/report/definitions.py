"""What each number on the page means: one sentence, the paper's equation, and where it is printed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from uqassay.measures.scores import SCORES
from uqassay.metrics.calibration.measures import CALIBRATION_MEASURES

if TYPE_CHECKING:
    from uqassay.evidence.scoring import Settings

__all__ = [
    "DEFINITIONS",
    "Definition",
    "calibration_definitions",
    "definition",
    "definitions",
    "measure_label",
    "score_label",
]


class Definition(NamedTuple):
    """A metric in one sentence.

    Attributes
    ----------
    title : str
    sentence : str
    equation : str
        In the paper's symbols, as plain text; "" where words say it all.
    source : str
    """

    title: str
    sentence: str
    equation: str
    source: str


_PAPER = "Manchingal et al., A Unified Evaluation Framework for Epistemic Predictions"
_CALIBRATION = "Mortier, Bengs, Hüllermeier, Luca, Waegeman, On the Calibration of Probabilistic Classifier Sets"
_RANKING = "Pignet, Regniez, Klein, Legitimate ground-truth-free metrics for deep uncertainty classification scoring"

DEFINITIONS: dict[str, Definition] = {
    "unified": Definition(
        "E, the unified loss",
        "How far the prediction's credal set is from what happened, plus λ times how imprecise the set is; lower is better. "
        "It is averaged over all instances.",
        "E = d(y, ŷ) + λ · NS(ŷ)",
        f"{_PAPER}, equation 6",
    ),
    "tradeoff": Definition(
        "λ, the trade-off",
        "The price of imprecision: what saying nothing at all costs, divided by what a blind guess costs. "
        "A low λ forgives a model that says “I do not know”; a high one does not.",
        "λ = E(vacuous) / E(uniform point prediction) = λ ln K / ln K",
        f"{_PAPER}, section 4 and appendix B",
    ),
    "kl": Definition(
        "d, the distance (KL)",
        "Kullback-Leibler divergence from the label to the closest distribution in the credal set, in nats: with one label, "
        "minus the logarithm of the highest probability that the set gives to it.",
        "d(y, ŷ) = min over p in ŷ of KL(y ‖ p) = −ln max over p in ŷ of p(y)",
        f"{_PAPER}, equation 6 and appendix D",
    ),
    "js": Definition(
        "d, the distance (JS)",
        "Jensen-Shannon divergence between the label and the closest distribution in the credal set, in nats, at most ln 2.",
        "d(y, ŷ) = min over p in ŷ of ½ KL(y ‖ m) + ½ KL(p ‖ m),  m = ½ (y + p)",
        f"{_PAPER}, appendix F.1",
    ),
    "js-distance": Definition(
        "d, the distance (square root of JS)",
        "Square root of the Jensen-Shannon divergence between the label and the closest distribution in the credal set.",
        "d(y, ŷ) = min over p in ŷ of √JS(y, p)",
        f"{_PAPER}, appendix F.1",
    ),
    "tv": Definition(
        "d, the distance (total variation)",
        "Total variation between the label and the closest distribution in the credal set, in [0, 1].",
        "d(y, ŷ) = min over p in ŷ of ½ Σ |y(c) − p(c)|",
        "",
    ),
    "hellinger": Definition(
        "d, the distance (Hellinger)",
        "Hellinger distance between the label and the closest distribution in the credal set, in [0, 1].",
        "d(y, ŷ) = min over p in ŷ of √(½ Σ (√y(c) − √p(c))²)",
        "",
    ),
    "brier-distance": Definition(
        "d, the distance (Brier)",
        "Squared distance from the label to the closest distribution in the credal set, in [0, 2].",
        "d(y, ŷ) = min over p in ŷ of Σ (y(c) − p(c))²",
        "",
    ),
    "brier": Definition(
        "Brier score",
        "Squared distance between the label and the mean prediction, summed over the classes, in [0, 2].",
        "Σ (y(c) − p(c))²",
        "Brier (1950)",
    ),
    "nonspecificity": Definition(
        "NS, the non-specificity",
        "How large the credal set is: 0 for a point prediction, ln K for a prediction that says nothing (Hartley, in nats). "
        "m are the masses, the Möbius inverse of the set's lower probability.",
        "NS(ŷ) = Σ over A ⊆ Ω of m(A) ln |A|",
        f"{_PAPER}, equation 7",
    ),
    "accuracy": Definition(
        "Accuracy",
        "Share of the instances whose predicted class is the label; an ensemble predicts by its mean.",
        "",
        "",
    ),
    "log-loss": Definition(
        "Log loss",
        "Minus the logarithm of the probability that the mean prediction gives to the label, in nats.",
        "−ln p(y)",
        "",
    ),
    "ece": Definition(
        "ECE, expected calibration error",
        "Mean over the instances of the gap between accuracy and confidence in their bin (10 bins of equal width). "
        "It is above 0 even for a calibrated model, because bins scatter.",
        "ECE = Σ over bins B of |B|/n · |accuracy(B) − confidence(B)|",
        "Guo et al. (2017)",
    ),
    "confidence": Definition(
        "Confidence",
        "Probability that the model's single prediction gives to the class it predicts; for probability intervals the upper "
        "bound of that class, so more than a probability that adds up to 1 with the others.",
        "",
        "",
    ),
    "win-probability": Definition(
        "Wins",
        "Share of bootstrap resamples of the instances (and training runs) in which this model has the lowest mean E: how "
        "often another test set of this size would lead to the same choice.",
        "",
        "",
    ),
    "pvalue": Definition(
        "p (Holm)",
        "Chance of a difference this large to the best model if the two were equally good (paired test), adjusted by Holm "
        "for the number of models compared. Above 0.05 the difference could be chance. The best model was chosen on the same "
        "instances, so among many equally good models these values come out somewhat too small.",
        "",
        "Holm (1979)",
    ),
    "vacuous": Definition(
        "vacuous (baseline)",
        "The prediction that says nothing: every distribution is possible. Its distance is 0 and its non-specificity ln K. "
        "A model below it is worth less than silence at this λ.",
        "E = λ ln K",
        "",
    ),
    "class-prior": Definition(
        "class-prior (baseline)",
        "Predicts the class frequencies in every instance, whatever the input.",
        "E = −ln (frequency of y), on average the entropy of the labels",
        "",
    ),
}

DEFINITIONS |= {  # does the uncertainty rank the mistakes
    "uq-auc": Definition(
        "UQ-AUC",
        "Chance that a mistake is more uncertain than a right prediction, one of each drawn at random (ties count ½): ½ for an "
        "uncertainty that knows nothing of the mistakes, 1 where every mistake is more uncertain than every right prediction.",
        "P( s(X) < s(X′) | mis(X, Y) < mis(X′, Y′) ),  mis(x, y) = 1 where ŷ(x) ≠ y, else 0",
        f"{_RANKING}, equation 15",
    ),
    "uq-c-index": Definition(
        "UQ-C-index",
        "Chance that of two instances the one whose label got less probability is the more uncertain (ties count ½): like the "
        "UQ-AUC, but how far off a prediction is counts, not only whether it is wrong. ½ knows nothing, 1 is the best.",
        "P( s(X) < s(X′) | gap(X, Y) < gap(X′, Y′) ),  gap(x, y) = 1 − f_y(x)",
        f"{_RANKING}, Theorem 2.5; Harrell et al. (1996)",
    ),
    "aurc": Definition(
        "AURC",
        "Mean error rate of what is kept, over all shares that could be kept; lower is better. It mixes how accurate the model "
        "is with how well its uncertainty ranks the mistakes.",
        "AURC = ∫₀¹ R(c) dc,  R(c) = error rate of the share c that is least uncertain",
        "Geifman, Uziel, El-Yaniv (2019)",
    ),
    "e-aurc": Definition(
        "E-AURC",
        "AURC above that of the best order of the same mistakes (all of them refused first); 0 is the best.",
        "E-AURC = AURC − AURC of the best order",
        "Geifman, Uziel, El-Yaniv (2019)",
    ),
    "augrc": Definition(
        "AUGRC",
        "Mean share of all instances that is kept and wrong, over all shares that could be kept: the chance of a mistake that "
        "nobody looks at; lower is better.",
        "AUGRC = ∫₀¹ c R(c) dc,  with one label each ½ (1 − ACC)² + ACC (1 − ACC) (1 − UQ-AUC)",
        "Traub et al. (2024)",
    ),
    "prediction-rejection": Definition(
        "Prediction-rejection ratio",
        "Share of the possible gain that refusing in this order reaches: 0 for an order at random, 1 for the best one, below 0 "
        "for one that is worse than chance. With one label per instance it is 2 UQ-AUC − 1.",
        "(AUGRC of a random order − AUGRC) / (AUGRC of a random order − AUGRC of the best order)",
        "Malinin, Mlodozeniec, Gales (2020)",
    ),
    "accuracy-at-coverage": Definition(
        "Accuracy of what is kept",
        "Accuracy of the least uncertain share of the instances, the others being refused; instances of equal uncertainty at "
        "the threshold are shared evenly. The gain is this minus the accuracy of all, found on the same instances.",
        "1 − R(c),  R(c) = error rate of the share c that is least uncertain",
        "Geifman, El-Yaniv (2017)",
    ),
}

DEFINITIONS |= {  # can it be calibrated
    "ece-classwise": Definition(
        "Classwise ECE",
        "Mean over the classes of how far the frequency of a class is from its probability, in 10 bins of equal width for each "
        "class. It is above 0 even for a calibrated model, because bins scatter.",
        "1/K · Σ over c, bins B of |B|/n · |frequency of c in B − mean p(c) in B|",
        f"{_CALIBRATION}, equation 4",
    ),
    "calibration-pvalue": Definition(
        "Calibration test",
        "Is some mixture of an ensemble's members (of a set's vertices) calibrated? The least miscalibrated mixture is sought "
        "for the labels that came, and as well for labels drawn from a mixture, which is calibrated for them; p is the share "
        "of draws that end as far off. A low p: no mixture is calibrated. A high p is no proof that one is. A model without "
        "such members is tested by its mean.",
        "H₀: some λ makes Σ λ(m) p(m) calibrated;  p = (1 + #{draws ≥ min over λ}) / (1 + number of draws)",
        f"{_CALIBRATION}, algorithm 1, with the minimum taken in every draw; Vaicenavicius et al. (2019) for single models",
    ),
}

_SYMBOLS = {  # equations of uncertainty scores
    "least-confidence": "1 − max over c of p̄(c)",
    "margin": "1 − (p̄₍₁₎ − p̄₍₂₎), the two largest",
    "total-entropy": "H(p̄) = −Σ p̄(c) ln p̄(c)",
    "aleatoric-entropy": "mean of H(p)",
    "epistemic-entropy": "H(p̄) − mean of H(p)",
    "total-variance": "Σ p̄(c) (1 − p̄(c))",
    "aleatoric-variance": "mean of Σ p(c) (1 − p(c))",
    "epistemic-variance": "Σ over c of Var p(c)",
    "predicted-class-variance": "Var p(ŷ)",
    "free-energy": "−ln Σ exp z(c)",
    "credal-width": "1/K · Σ over c of (P̄(c) − P̲(c))",
    "upper-entropy": "max over p of H(p)",
    "lower-entropy": "min over p of H(p)",
    "credal-uncertainty": "max over p of H(p) − min over p of H(p)",
}


def score_label(name: str) -> str:
    """Name of an uncertainty score in words; one that came from elsewhere keeps its own.

    Examples
    --------
    >>> score_label("total-entropy"), score_label("nonspecificity"), score_label("my-density")
    ('total entropy', 'non-specificity', 'my-density')
    """
    if name == "nonspecificity":
        return "non-specificity"
    return name.replace("-", " ") if name in SCORES else name


def _score_definition(name: str) -> Definition:
    score, label = SCORES[name], score_label(name)
    unit = "" if score.unit in ("probability", "share") else f" In {score.unit}."
    source = score.source.replace("paper 000", _PAPER).replace("paper 003", _RANKING)
    return Definition(label[0].upper() + label[1:], score.sentence + unit, _SYMBOLS.get(name, ""), source)


DEFINITIONS |= {name: _score_definition(name) for name in SCORES if name not in DEFINITIONS}

_VOTES = {  # where an instance is labelled by a distribution
    "accuracy": "Mean share of the votes that the predicted class received, for the labels are distributions; below 1 even "
    "for the best prediction wherever the votes disagree.",
    "log-loss": "Minus the logarithm of the probability that the mean prediction gives to a label, averaged over the votes, "
    "in nats.",
    "uq-auc": "Chance that a vote against the predicted class falls on a more uncertain instance than a vote for it, one of "
    "each drawn at random (ties count ½), for the labels are distributions; ½ for an uncertainty that knows nothing, and below "
    "1 even for the best one wherever the votes disagree.",
    "uq-c-index": "Chance that of two instances the one whose votes got less probability on average, gap = 1 − Σ q(c) f(c) "
    "with the votes' shares q, is the more uncertain (ties count ½). ½ knows nothing, 1 is the best.",
}
_MASSES = "m are the masses, the Möbius inverse of the set's lower probability."
_NONSPECIFICITIES = {  # sentence, equation, source, what the vacuous prediction scores
    "korner": (
        f"Mean size of the events that carry mass (Körner): 1 for a point prediction, K for one that says nothing. {_MASSES}",
        "NS(ŷ) = Σ over A ⊆ Ω of m(A) |A|",
        f"{_PAPER}, equation 10",
        "K",
    ),
    "pal": (
        f"One minus Pal's specificity: 0 for a point prediction, 1 − 1/K for one that says nothing. {_MASSES}",
        "NS(ŷ) = 1 − Σ over A ⊆ Ω of m(A) / |A|",
        f"{_PAPER}, equation 11",
        "(1 − 1/K)",
    ),
    "credal-uncertainty": (
        "Credal uncertainty: highest minus lowest entropy in the credal set, in nats; 0 for a point prediction.",
        "NS(ŷ) = max over p in ŷ of H(p) − min over p in ŷ of H(p)",
        f"{_PAPER}, equation 20",
        "ln K",
    ),
}


def definitions(settings: "Settings", *, label_distributions: bool) -> dict[str, Definition]:
    """All definitions, worded for what one assay computed.

    Examples
    --------
    >>> from uqassay.evidence.scoring import Settings
    >>> sentence = definitions(Settings(level=0.9), label_distributions=False)["pvalue"].sentence
    >>> "Above 0.1 the difference could be chance." in sentence
    True
    """
    out = dict(DEFINITIONS)
    out["pvalue"] = out["pvalue"]._replace(sentence=out["pvalue"].sentence.replace("0.05", f"{1 - settings.level:.3g}"))
    if settings.nonspecificity in _NONSPECIFICITIES:
        sentence, equation, source, most = _NONSPECIFICITIES[settings.nonspecificity]
        out["nonspecificity"] = Definition(out["nonspecificity"].title, sentence, equation, source)
        silence = out["vacuous"]
        out["vacuous"] = silence._replace(
            sentence=silence.sentence.replace("ln K", most.strip("()")), equation=f"E = λ {most}"
        )
    if label_distributions:
        out.update({name: out[name]._replace(sentence=sentence) for name, sentence in _VOTES.items()})
    return out


def definition(name: str) -> Definition:
    """The definition of a metric; one that has none is shown by its name.

    Examples
    --------
    >>> definition("ece").title
    'ECE, expected calibration error'
    """
    return DEFINITIONS.get(name, Definition(name, "An uncertainty score that came with the predictions.", "", ""))


# -- calibration -------------------------------------------------------------------------------------------------------

_CALIBRATION_TEST = {
    "calibration-minimum": Definition(
        "Minimum found",
        "The calibration measure of the least miscalibrated mixture of the members: what the test compares with its draws. It "
        "is above 0 even where a mixture is calibrated, for labels scatter.",
        "t = min over λ of g(Σ λ(m) p(m), y),  λ ≥ 0, Σ λ(m) = 1",
        f"{_CALIBRATION}, algorithm 1",
    ),
    "calibration-width": Definition(
        "Width of the set",
        "Upper minus lower probability, averaged over classes and instances: a wide set holds a calibrated mixture more "
        "easily, and says less.",
        "mean of P̄(c) − P̲(c)",
        "",
    ),
}
_MEASURE_LABELS = {
    "ece-confidence": "confidence ECE",
    "ece-classwise": "classwise ECE",
    "ece-confidence-mass": "confidence ECE, equal mass",
    "ece-classwise-mass": "classwise ECE, equal mass",
    "mce-confidence": "largest confidence error",
    "l2-confidence-debiased": "debiased confidence error",
    "l2-classwise-debiased": "debiased classwise error",
    "hosmer-lemeshow": "Hosmer-Lemeshow",
    "hosmer-lemeshow-proportions": "Hosmer-Lemeshow, proportions",
    "skce-ul": "SKCE, linear",
    "skce-uq": "SKCE, quadratic",
    "skce-biased": "SKCE, biased",
    "brier": "Brier score",
    "log-loss": "log loss",
}
_MEASURE_EQUATIONS = {
    "ece-confidence": "Σ over bins B of |B|/n · |accuracy(B) − confidence(B)|",
    "ece-classwise": "1/K · Σ over c, bins B of |B|/n · |frequency of c in B − mean p(c) in B|",
    "hosmer-lemeshow": "Σ over c, bins B of (observed − expected)² / expected",
    "skce-ul": "1/⌊n/2⌋ · Σ over pairs of (e(y) − p)ᵀ k(p, p′) (e(y′) − p′)",
    "skce-uq": "2/(n(n − 1)) · Σ over i < j of (e(yᵢ) − pᵢ)ᵀ k(pᵢ, pⱼ) (e(yⱼ) − pⱼ)",
    "skce-biased": "1/n² · Σ over i, j of (e(yᵢ) − pᵢ)ᵀ k(pᵢ, pⱼ) (e(yⱼ) − pⱼ)",
}


def measure_label(name: str) -> str:
    """Name of a calibration measure in words; one that came from elsewhere keeps its own.

    Examples
    --------
    >>> measure_label("ece-classwise"), measure_label("my-own")
    ('classwise ECE', 'my-own')
    """
    return _MEASURE_LABELS.get(name, name)


def calibration_definitions(measures: Iterable[str]) -> dict[str, Definition]:
    """What the calibration tests report, and the measures named; a measure of one's own has no definition.

    Examples
    --------
    >>> list(calibration_definitions(["skce-ul", "my-own"]))
    ['calibration-minimum', 'calibration-width', 'skce-ul']
    """
    found = dict(_CALIBRATION_TEST)
    for name in measures:
        if name in CALIBRATION_MEASURES and name not in DEFINITIONS:
            own, label = CALIBRATION_MEASURES[name], measure_label(name)
            source = own.source.replace("paper 001", _CALIBRATION)
            title = label[0].upper() + label[1:]
            found[name] = Definition(title, own.sentence, _MEASURE_EQUATIONS.get(name, ""), source)
    return found
