"""Definitions of the unified loss, its parts, the baselines, and the plain scores of a classifier."""

from uqassay.report.definitions.entry import UNIFIED_PAPER, Definition

__all__ = ["LOSSES", "NONSPECIFICITIES"]

LOSSES: dict[str, Definition] = {
    "unified": Definition(
        "E, the unified loss",
        "How far the prediction's credal set is from what happened, plus λ times how imprecise the set is; lower is better. "
        "It is averaged over all instances. The interval beside a mean is that model's own; the lowest of several means lies a "
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
    "kl": Definition(
        "d, the distance (KL)",
        "Kullback-Leibler divergence from the label to the closest distribution in the credal set, in nats: with one label, "
        "minus the logarithm of the highest probability that the set gives to it.",
        "d(y, ŷ) = min over p in ŷ of KL(y ‖ p) = −ln max over p in ŷ of p(y)",
        f"{UNIFIED_PAPER}, equation 6 and appendix D",
        short="KL",
    ),
    "js": Definition(
        "d, the distance (JS)",
        "Jensen-Shannon divergence between the label and the closest distribution in the credal set, in nats, at most ln 2.",
        "d(y, ŷ) = min over p in ŷ of ½ KL(y ‖ m) + ½ KL(p ‖ m),  m = ½ (y + p)",
        f"{UNIFIED_PAPER}, appendix F.1",
        short="JS",
    ),
    "js-distance": Definition(
        "d, the distance (square root of JS)",
        "Square root of the Jensen-Shannon divergence between the label and the closest distribution in the credal set.",
        "d(y, ŷ) = min over p in ŷ of √JS(y, p)",
        f"{UNIFIED_PAPER}, appendix F.1",
        short="square root of JS",
    ),
    "tv": Definition(
        "d, the distance (total variation)",
        "Total variation between the label and the closest distribution in the credal set, in [0, 1].",
        "d(y, ŷ) = min over p in ŷ of ½ Σ |y(c) − p(c)|",
        "",
        short="total variation",
    ),
    "hellinger": Definition(
        "d, the distance (Hellinger)",
        "Hellinger distance between the label and the closest distribution in the credal set, in [0, 1].",
        "d(y, ŷ) = min over p in ŷ of √(½ Σ (√y(c) − √p(c))²)",
        "",
        short="Hellinger",
    ),
    "brier-distance": Definition(
        "d, the distance (Brier)",
        "Squared distance from the label to the closest distribution in the credal set, in [0, 2].",
        "d(y, ŷ) = min over p in ŷ of Σ (y(c) − p(c))²",
        "",
        short="Brier",
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
        f"{UNIFIED_PAPER}, equation 7",
    ),
    "accuracy": Definition(
        "Accuracy",
        "Share of the instances whose predicted class is the label; an ensemble predicts by its mean. Of class sets: that of a "
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
        "Mean over the instances of the gap between accuracy and confidence in their bin (10 bins of equal width). "
        "It is above 0 even for a calibrated model, because bins scatter.",
        "ECE = Σ over bins B of |B|/n · |accuracy(B) − confidence(B)|",
        "Guo et al. (2017)",
    ),
    "rms-calibration-error": Definition(
        "RMS calibration error",
        "Root of the mean square over the instances of the gap between accuracy and confidence in their bin (10 bins of equal "
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
        "Mogstad, Romano, Shaikh and Wilhelm (2024); tests adjusted by Shaffer (1986)",
    ),
    "win-share": Definition(
        "Resamples won",
        "Share of resamples of the instances (and training runs) in which this model has the lowest mean E. It is not the "
        "probability that another test set would lead to the same choice.",
        "",
        "",
    ),
    "pvalue": Definition(
        "p (adjusted)",
        "Chance of a difference this large to the best model if the two were equally good (paired test), adjusted for all "
        "pairs of models and baselines, because the best model was chosen on the same instances. Above 0.05 the difference "
        "could be chance. The test allows for skewed losses, and for huge losses so rare that none has been seen.",
        "",
        "Shaffer (1986)",
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
        "Predicts the class frequencies in every instance: those given as prior, or by default those of these labels. As these "
        "saw each label, a model is then told from them only if it also is from the frequencies of all other instances.",
        "E = −ln (frequency of y), on average the entropy of the labels",
        "",
    ),
}

_MASSES = "m are the masses, the Möbius inverse of the set's lower probability."
NONSPECIFICITIES = {  # sentence, equation, source, what the vacuous prediction scores
    "korner": (
        f"Mean size of the events that carry mass (Körner): 1 for a point prediction, K for one that says nothing. {_MASSES}",
        "NS(ŷ) = Σ over A ⊆ Ω of m(A) |A|",
        f"{UNIFIED_PAPER}, equation 10",
        "K",
    ),
    "pal": (
        f"One minus Pal's specificity: 0 for a point prediction, 1 − 1/K for one that says nothing. {_MASSES}",
        "NS(ŷ) = 1 − Σ over A ⊆ Ω of m(A) / |A|",
        f"{UNIFIED_PAPER}, equation 11",
        "(1 − 1/K)",
    ),
    "credal-uncertainty": (
        "Credal uncertainty: highest minus lowest entropy in the credal set, in nats; 0 for a point prediction.",
        "NS(ŷ) = max over p in ŷ of H(p) − min over p in ŷ of H(p)",
        f"{UNIFIED_PAPER}, equation 20",
        "ln K",
    ),
    "credal-uncertainty-box": (
        "Credal uncertainty of the box: highest minus lowest entropy among all distributions between the lower and upper "
        "probabilities of the classes, in nats; 0 for a point prediction.",
        "NS(ŷ) = max of H(p) − min of H(p), both over P̲ ≤ p ≤ P̄",
        f"{UNIFIED_PAPER}, equation 20",
        "ln K",
    ),
}
