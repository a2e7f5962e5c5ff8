"""What each number on the page means: one sentence, the paper's equation, and where it is printed."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from uqassay.assay.scoring import Settings

__all__ = ["DEFINITIONS", "Definition", "definition", "definitions"]


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
    "total-entropy": Definition(
        "Entropy",
        "Shannon entropy of the mean prediction, in nats: all uncertainty together.",
        "H(p̄) = −Σ p̄(c) ln p̄(c)",
        "",
    ),
    "epistemic-entropy": Definition(
        "Epistemic entropy",
        "Mutual information of members and class, in nats: entropy of the mean minus the mean entropy of the members.",
        "H(p̄) − mean of H(p)",
        "",
    ),
    "aleatoric-entropy": Definition("Aleatoric entropy", "Mean entropy of the members, in nats.", "mean of H(p)", ""),
    "credal-width": Definition(
        "Credal width",
        "Upper minus lower probability, averaged over the classes: 0 for a point prediction, 1 for one that says nothing.",
        "1/K · Σ over c of (P̄(c) − P̲(c))",
        f"{_PAPER}, figures 14 to 16",
    ),
    "upper-entropy": Definition(
        "Upper entropy", "Highest entropy of a distribution in the set, in nats.", "max over p of H(p)", ""
    ),
    "lower-entropy": Definition(
        "Lower entropy", "Lowest entropy of a distribution in the set, in nats.", "min over p of H(p)", ""
    ),
    "credal-uncertainty": Definition(
        "Credal uncertainty",
        "Highest minus lowest entropy in the credal set, in nats.",
        "max over p of H(p) − min over p of H(p)",
        f"{_PAPER}, equation 20",
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


_VOTES = {  # where an instance is labelled by a distribution
    "accuracy": "Mean share of the votes that the predicted class received, for the labels are distributions; below 1 even "
    "for the best prediction wherever the votes disagree.",
    "log-loss": "Minus the logarithm of the probability that the mean prediction gives to a label, averaged over the votes, "
    "in nats.",
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
    >>> from uqassay.assay.scoring import Settings
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
    return DEFINITIONS.get(name, Definition(name, "Uncertainty score of one instance, averaged.", "", ""))
