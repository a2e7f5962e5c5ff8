"""Definitions of the metrics that say how well an uncertainty ranks the mistakes."""

from uqassay.report.definitions.entry import RANKING_PAPER, Definition

__all__ = ["RANKINGS", "VOTES"]

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
        "Chance that of two instances the one whose label got less probability is the more uncertain (ties count ½): like the "
        "UQ-AUC, but how far off a prediction is counts, not only whether it is wrong. A random ordering has ½, the best 1.",
        "P( s(X) < s(X′) | gap(X, Y) < gap(X′, Y′) ),  gap(x, y) = 1 − f_y(x)",
        f"{RANKING_PAPER}, Theorem 2.5; Harrell et al. (1996)",
    ),
    "aurc": Definition(
        "AURC",
        "Mean error rate of what is kept, over all shares that could be kept; lower is better. Instances of equal uncertainty "
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
        "Mean share of all instances that is kept and wrong, over all shares that could be kept: the risk of an "
        "undetected error, averaged over coverages; lower is better.",
        "AUGRC = ∫₀¹ c R(c) dc,  with one label each ½ (1 − ACC)² + ACC (1 − ACC) (1 − UQ-AUC)",
        "Traub et al. (2024)",
    ),
    "prediction-rejection": Definition(
        "Prediction-rejection ratio",
        "Share of the possible gain that refusing in this order reaches: 0 as for a random ordering, 1 for the best one, "
        "below 0 for one that is worse than random. With one label per instance it is 2 UQ-AUC − 1.",
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

VOTES = {  # where an instance is labelled by a distribution
    "accuracy": "Mean share of the votes that the predicted class received, because the labels are distributions; below 1 even "
    "for the best prediction wherever the votes disagree.",
    "log-loss": "Minus the logarithm of the probability that the mean prediction gives to a label, averaged over the votes, "
    "in nats.",
    "uq-auc": "Chance that a vote against the predicted class falls on a more uncertain instance than a vote for it, one of "
    "each drawn at random (ties count ½), because the labels are distributions; ½ as for a random ordering, and below 1 even "
    "for the best one wherever the votes disagree.",
    "uq-c-index": "Chance that of two instances the one whose votes got less probability on average, gap = 1 − Σ q(c) f(c) "
    "with the votes' shares q, is the more uncertain (ties count ½). A random ordering has ½, the best one 1.",
}
