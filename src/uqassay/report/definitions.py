"""Definitions of the numbers on the page: one sentence, the paper's equation, and where it stands."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from uqassay.credal.distances import DISTANCES, Distance
from uqassay.evidence.scoring import ERROR
from uqassay.measures.nonspecificities import NONSPECIFICITIES, SetSize
from uqassay.measures.registry import SCORES
from uqassay.metrics.measures import CALIBRATION_MEASURES

if TYPE_CHECKING:
    from uqassay.evidence.scoring import Settings

__all__ = [
    "ANSWERS",
    "CALIBRATION",
    "DEFINITIONS",
    "LOSSES",
    "RANKINGS",
    "VOTES",
    "Definition",
    "calibration_definitions",
    "definition_of",
    "page_definitions",
    "score_definition",
    "score_label",
]


# One definition: a metric in a sentence, its equation, and where it is printed.

UNIFIED_PAPER = "Manchingal et al., A Unified Evaluation Framework for Epistemic Predictions"
CALIBRATION_PAPER = "Mortier, Bengs, Hüllermeier, Luca, Waegeman, On the Calibration of Probabilistic Classifier Sets"
DISENTANGLEMENT_PAPER = "De Jong et al., Measuring Uncertainty Disentanglement Error in Classification"
RANKING_PAPER = (
    "Pignet, Regniez, Klein, Legitimate ground-truth-free metrics for deep uncertainty classification scoring"
)


PAPERS = {  # the short titles, by which docstrings and registries name them
    "unified evaluation": UNIFIED_PAPER,
    "credal calibration": CALIBRATION_PAPER,
    "ranking metrics": RANKING_PAPER,
    "disentanglement": DISENTANGLEMENT_PAPER,
}


def _cited(source: str) -> str:
    """A source with its authors and its whole title in place of a short one."""
    for short, paper in PAPERS.items():
        source = source.replace(short, paper)
    return source


class Definition(NamedTuple):
    """A metric in one sentence."""

    title: str
    sentence: str
    equation: str  #: In the paper's symbols, as plain text; "" where the sentence says it all.
    source: str
    short: str = ""  #: Name of a distance among distances, such as "KL"; "" for anything else.


def _size_definition(size: SetSize) -> Definition:
    return Definition("NS, the non-specificity", size.sentence, size.equation, _cited(size.source))


# Definitions of the unified loss, its parts, the baselines, and the plain scores of a classifier.

LOSSES: dict[str, Definition] = {
    "unified": Definition(
        "E, the unified loss",
        "How far the prediction's credal set is from what happened, plus λ times how imprecise the set is; lower is better. "
        "It is averaged over all cases. The interval beside a mean is that model's own; the lowest of several means lies a "
        "little too low, which its interval does not allow for.",
        "E = d(y, ŷ) + λ · NS(ŷ)",
        f"{UNIFIED_PAPER}, equation 6",
    ),
    "tradeoff": Definition(
        "λ, the trade-off",
        "The price of imprecision: what saying nothing at all costs, divided by what a blind guess costs. "
        "A low λ forgives a model that says “I do not know”; a high one does not.",
        "λ = E(vacuous) / E(uniform point prediction) = λ ln K / ln K",
        f"{UNIFIED_PAPER}, section 4 and appendix B",
    ),
    "brier": Definition(
        "Brier score",
        "Squared distance between the label and the mean prediction, summed over the classes, in [0, 2].",
        "Σ (y(c) − p(c))²",
        "Brier (1950)",
    ),
    "nonspecificity": _size_definition(NONSPECIFICITIES["hartley"]),
    "accuracy": Definition(
        "Accuracy",
        "Share of the cases whose predicted class is the label; an ensemble predicts by its mean. Of class sets: that of a "
        "class taken at random from each set.",
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
        "Mean over the cases of the gap between accuracy and confidence in their bin (10 bins of equal width). "
        "It is above 0 even for a calibrated model, because bins scatter.",
        "ECE = Σ over bins B of |B|/n · |accuracy(B) − confidence(B)|",
        "Guo et al. (2017)",
    ),
    "rms-calibration-error": Definition(
        "RMS calibration error",
        "Root of the mean square over the cases of the gap between accuracy and confidence in their bin (10 bins of equal "
        "width), without the part that noise adds; 0 if noise explains all gaps.",
        "√(Σ over bins B of |B|/n · ((Σ d)² − Σ d²) / (|B| (|B| − 1))),  d = confidence − right",
        "Kumar, Liang and Ma (2019); interval as in Sun et al. (2024) for fixed bins",
    ),
    "confidence": Definition(
        "Confidence",
        "Probability that the model's single prediction gives to the class it predicts; for probability intervals the upper "
        "bound of that class, so these values add up to more than 1 over the classes.",
        "",
        "",
    ),
    "rank-set": Definition(
        "Ranks",
        "All ranks that the tests of all pairs of models leave open, for all models at once. A set that begins with 1: no "
        "model is shown to be better. At the level of the intervals, the sets of all models hold their true ranks.",
        "1 + number of models shown to be better  to  J − number of models shown to be worse",
        "Mogstad, Romano, Shaikh and Wilhelm (2024); tests of E adjusted by Bonferroni, of others by Shaffer (1986)",
    ),
    "win-share": Definition(
        "Resamples won",
        "Share of resamples of the cases (and training runs) in which this model has the lowest mean E. It is not the "
        "probability that another test set would lead to the same choice.",
        "",
        "",
    ),
    "pvalue": Definition(
        "p (adjusted)",
        "Chance of a difference this large to the best model if the two were equally good (paired test), adjusted for all "
        "pairs of models and every λ, because the best model was chosen on the same cases. Above 0.05 the difference "
        "could be chance. The test allows for skewed losses, and for huge losses so rare that none has been seen.",
        "",
        "Bonferroni; where no model has a set, Shaffer (1986)",
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
        "Predicts the class frequencies in every case: those given as prior, or by default those of these labels. As these "
        "saw each label, a model is then told from them only if it also is from the frequencies of all other cases.",
        "E = −ln (frequency of y), on average the entropy of the labels",
        "",
    ),
}


# Definitions of the calibration errors and of what the calibration tests report.

CALIBRATION: dict[str, Definition] = {
    "ece-classwise": Definition(
        "Classwise ECE",
        "Mean over the classes of how far the frequency of a class is from its probability, in 10 bins of equal width for each "
        "class. It is above 0 even for a calibrated model, because bins scatter.",
        "1/K · Σ over c, bins B of |B|/n · |frequency of c in B − mean p(c) in B|",
        f"{CALIBRATION_PAPER}, equation 4",
    ),
    "calibration-pvalue": Definition(
        "Calibration test",
        "Is some mixture of an ensemble's members (of a set's vertices) calibrated? The least miscalibrated mixture is sought "
        "for the labels that came, and as well for labels drawn from a mixture, which is calibrated for them; p is the share "
        "of draws that end as far off. A low p: no mixture is calibrated. A high p is no proof that one is. A model without "
        "such members is tested by its mean.",
        "H₀: some weights w make Σ w(m) p(m) calibrated;  p = (1 + #{draws ≥ min over w}) / (1 + number of draws)",
        f"{CALIBRATION_PAPER}, algorithm 1, with the minimum taken in every draw; Vaicenavicius et al. (2019) for single "
        "models",
    ),
}

_CALIBRATION_TEST = {
    "calibration-minimum": Definition(
        "Minimum found",
        "The calibration measure of the least miscalibrated mixture of the members: what the test compares with its draws. It "
        "is above 0 even where a mixture is calibrated, for labels scatter.",
        "t = min over w of g(Σ w(m) p(m), y),  w ≥ 0, Σ w(m) = 1",
        f"{CALIBRATION_PAPER}, algorithm 1",
    ),
    "calibration-width": Definition(
        "Width of the set",
        "Upper minus lower probability, averaged over classes and cases: a wide set holds a calibrated mixture more "
        "easily, and says less.",
        "mean of P̄(c) − P̲(c)",
        "",
    ),
}


def calibration_definitions(measures: Iterable[str]) -> dict[str, Definition]:
    """Definitions of the calibration tests' numbers and of the named measures; a user-defined measure has none.

    Examples
    --------
    >>> list(calibration_definitions(["skce-ul", "my-own"]))
    ['calibration-minimum', 'calibration-width', 'skce-ul']
    """
    found = dict(_CALIBRATION_TEST)
    for name in measures:
        if name in CALIBRATION_MEASURES and name not in (*CALIBRATION, *LOSSES):
            own = CALIBRATION_MEASURES[name]
            title = own.label[0].upper() + own.label[1:]
            found[name] = Definition(title, own.sentence, own.equation, _cited(own.source))
    return found


# Definitions of the metrics that say how well an uncertainty ranks the mistakes.

RANKINGS: dict[str, Definition] = {
    "uq-auc": Definition(
        "UQ-AUC",
        "Chance that a mistake is more uncertain than a right prediction, one of each drawn at random (ties count ½): ½ for "
        "a random ordering, 1 where every mistake is more uncertain than every right prediction.",
        "P( s(X) < s(X′) | mis(X, Y) < mis(X′, Y′) ),  mis(x, y) = 1 where ŷ(x) ≠ y, else 0",
        f"{RANKING_PAPER}, equation 15",
    ),
    "uq-c-index": Definition(
        "UQ-C-index",
        "Chance that of two cases the one whose label got less probability is the more uncertain (ties count ½): like the "
        "UQ-AUC, but how far off a prediction is counts, not only whether it is wrong. A random ordering has ½, the best 1.",
        "P( s(X) < s(X′) | gap(X, Y) < gap(X′, Y′) ),  gap(x, y) = 1 − f_y(x)",
        f"{RANKING_PAPER}, Theorem 2.5; Harrell et al. (1996)",
    ),
    "aurc": Definition(
        "AURC",
        "Mean error rate of what is kept, over all shares that could be kept; lower is better. Cases of equal uncertainty "
        "are kept in equal parts, as in the mean over their orders. It mixes how accurate the model is with how well its "
        "uncertainty ranks the mistakes.",
        "AURC = ∫₀¹ R(c) dc,  R(c) = 1 − accuracy of the share c that is least uncertain",
        "Geifman, Uziel, El-Yaniv (2019)",
    ),
    "e-aurc": Definition(
        "E-AURC",
        "AURC above that of the best order of the same mistakes (all of them refused first), which has 0.",
        "E-AURC = AURC − AURC of the best order",
        "Geifman, Uziel, El-Yaniv (2019)",
    ),
    "augrc": Definition(
        "AUGRC",
        "Mean share of all cases that is kept and wrong, over all shares that could be kept: the risk of an "
        "undetected error, averaged over coverages; lower is better.",
        "AUGRC = ∫₀¹ c R(c) dc,  with one label each ½ (1 − ACC)² + ACC (1 − ACC) (1 − UQ-AUC)",
        "Traub et al. (2024)",
    ),
    "prediction-rejection": Definition(
        "Prediction-rejection ratio",
        "Share of the possible gain that refusing in this order reaches: 0 as for a random ordering, 1 for the best one, "
        "below 0 for one that is worse than random. With one label per case it is 2 UQ-AUC − 1.",
        "(AUGRC of a random order − AUGRC) / (AUGRC of a random order − AUGRC of the best order)",
        "Malinin, Mlodozeniec, Gales (2020)",
    ),
    "accuracy-at-coverage": Definition(
        "Accuracy of what is kept",
        "Accuracy of the least uncertain share of the cases, the others being refused; cases of equal uncertainty at "
        "the threshold are shared evenly. The gain is this minus the accuracy of all, found on the same cases.",
        "1 − R(c),  R(c) = error rate of the share c that is least uncertain",
        "Geifman, El-Yaniv (2017)",
    ),
}

VOTES = {  # where an instance is labelled by a distribution
    "accuracy": "Mean share of the votes that the predicted class received, because the labels are distributions; below 1 even "
    "for the best prediction wherever the votes disagree.",
    "log-loss": "Minus the logarithm of the probability that the mean prediction gives to a label, averaged over the votes, "
    "in nats.",
    "uq-auc": "Chance that a vote against the predicted class falls on a more uncertain case than a vote for it, one of "
    "each drawn at random (ties count ½), because the labels are distributions; ½ as for a random ordering, and below 1 even "
    "for the best one wherever the votes disagree.",
    "uq-c-index": "Chance that of two cases the one whose votes got less probability on average, gap = 1 − Σ q(c) f(c) "
    "with the votes' shares q, is the more uncertain (ties count ½). A random ordering has ½, the best one 1.",
}


_PAIRS = "all pairs of models, because the best model was chosen on the same questions"
ANSWERS = {  # where answers are right or wrong, and a confidence may be stated
    "unified": Definition("Error rate", "Share of the answers that are wrong; lower is better.", "1 − accuracy", ""),
    "accuracy": Definition("Accuracy", "Share of the answers that are right.", "", ""),
    "error-rate": Definition("Error rate", "Share of the answers that are wrong.", "1 − accuracy", ""),
    "log-loss": Definition(
        "Log loss",
        "Minus the logarithm of the probability of what happened, in nats: of the confidence where the answer is right, of one "
        "minus the confidence where it is wrong. It judges the confidence, not how many answers are right.",
        "−ln c if right, −ln (1 − c) if wrong",
        "",
    ),
    "brier": Definition(
        "Brier score",
        "Squared difference of the confidence from 1 for a right answer and from 0 for a wrong one, in [0, 1]. It judges the "
        "confidence, not how many answers are right.",
        "(c − right)²",
        "Brier (1950)",
    ),
    "ece": LOSSES["ece"]._replace(
        sentence="Mean over the answers of the gap between accuracy and stated confidence in their bin (10 bins of equal width "
        "from 0 to 1, not folded at ½). It is above 0 even for a calibrated model, because bins scatter."
    ),
    "rms-calibration-error": LOSSES["rms-calibration-error"],
    "confidence": Definition("Confidence", "Stated probability that the answer is right.", "", ""),
    "rank-set": LOSSES["rank-set"]._replace(source="Mogstad, Romano, Shaikh and Wilhelm (2024); Shaffer (1986)"),
    "win-share": LOSSES["win-share"]._replace(
        sentence="Share of resamples of the questions in which this model has the lowest error rate. It is not the probability "
        "that another set of questions would lead to the same choice."
    ),
    "pvalue": Definition(
        "p (adjusted)",
        "Chance of a difference this large to the best model if the two were equally good (paired test), adjusted for "
        f"{_PAIRS}. Above 0.05 the difference could be chance.",
        "",
        "Shaffer (1986)",
    ),
    "calibration-pvalue": Definition(
        "Calibration test",
        "Could answers whose confidence is their true probability of being right show as great an error? p is the share of "
        "draws of right and wrong that do. A high p is no proof that the confidence is calibrated.",
        "p = (1 + #{draws ≥ error found}) / (1 + number of draws)",
        "Vaicenavicius et al. (2019)",
    ),
    "least-confidence": Definition("Least confidence", "One minus the stated confidence.", "1 − c", ""),
    **{name: RANKINGS[name] for name in RANKINGS if name != "uq-c-index"},
}


# Definitions of the uncertainty scores, and their names in words.


def score_label(name: str) -> str:
    """Name of an uncertainty score in words; a score that the user gave keeps its name.

    Examples
    --------
    >>> score_label("total-entropy"), score_label("nonspecificity"), score_label("my-density")
    ('total entropy', 'non-specificity', 'my-density')
    """
    return SCORES[name].label if name in SCORES else name


def score_definition(name: str) -> Definition:
    """The definition of one of the package's uncertainty scores."""
    score, label = SCORES[name], score_label(name)
    unit = "" if score.unit in ("probability", "share", "spherical score") else f" In {score.unit}."
    return Definition(label[0].upper() + label[1:], score.sentence + unit, score.equation, _cited(score.source))


# Definitions of the numbers on the page: one sentence, the paper's equation, and its source.

DEFINITIONS: dict[str, Definition] = LOSSES | RANKINGS | CALIBRATION


def _distance_definition(one: Distance) -> Definition:
    return Definition(one.title, one.sentence, one.equation, _cited(one.source), short=one.short)


def page_definitions(settings: "Settings", *, label_distributions: bool) -> dict[str, Definition]:
    """The definitions of what one assay computed, in its words: of its distance and its scores alone.

    Examples
    --------
    >>> from uqassay.evidence.scoring import Settings
    >>> sentence = page_definitions(Settings(level=0.9), label_distributions=False)["pvalue"].sentence
    >>> "Above 0.1 the difference could be chance." in sentence
    True
    """
    if settings.distance == ERROR.name:
        sentence = ANSWERS["pvalue"].sentence.replace("0.05", f"{1 - settings.level:.3g}")
        return ANSWERS | {"pvalue": ANSWERS["pvalue"]._replace(sentence=sentence)}
    out: dict[str, Definition] = {}
    for name in dict.fromkeys((*DEFINITIONS, *(score for score in SCORES if score in settings.measures))):
        out[name] = definition_of(name)
        if name == "tradeoff":  # the terms of E stand together
            out[settings.distance_metric] = out["distance"] = _distance_definition(settings.distance_entry)
    out["pvalue"] = out["pvalue"]._replace(sentence=out["pvalue"].sentence.replace("0.05", f"{1 - settings.level:.3g}"))
    size, silence = NONSPECIFICITIES[settings.nonspecificity], out["vacuous"]
    out["nonspecificity"] = _size_definition(size)
    most = size.greatest_text.strip("()")
    out["vacuous"] = silence._replace(
        sentence=silence.sentence.replace("ln K", most), equation=f"E = λ {size.greatest_text}"
    )
    if label_distributions:
        out.update({name: out[name]._replace(sentence=sentence) for name, sentence in VOTES.items()})
    return out


def definition_of(name: str) -> Definition:
    """The definition of a metric; a metric without one is shown by its name.

    Examples
    --------
    >>> definition_of("ece").title
    'ECE, expected calibration error'
    """
    for distance in DISTANCES.values():
        if distance.metric == name:
            return _distance_definition(distance)
    if name in SCORES and name not in DEFINITIONS:
        return score_definition(name)
    return DEFINITIONS.get(name, Definition(name, "An uncertainty score that came with the predictions.", "", ""))
