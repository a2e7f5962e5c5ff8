"""Definitions of the calibration errors and of what the calibration tests report."""

from collections.abc import Iterable

from uqassay.evidence.calibration_verdict import measure_label
from uqassay.metrics.calibration.measures import CALIBRATION_MEASURES
from uqassay.report.definitions.entry import CALIBRATION_PAPER, Definition
from uqassay.report.definitions.losses import LOSSES

__all__ = ["CALIBRATION", "calibration_definitions"]

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
        "Upper minus lower probability, averaged over classes and instances: a wide set holds a calibrated mixture more "
        "easily, and says less.",
        "mean of P̄(c) − P̲(c)",
        "",
    ),
}
_CONFIDENCE_ECE = "Σ over bins B of |B|/n · |accuracy(B) − confidence(B)|"
_CLASSWISE_ECE = "1/K · Σ over c, bins B of |B|/n · |frequency of c in B − mean p(c) in B|"
_HOSMER_LEMESHOW = "Σ over c, bins B of (observed − expected)² / expected"
_SQUARES = "Σ over bins B of |B|/n · ((Σ d)² − Σ d²) / (|B| (|B| − 1)), sums over B"
_CUMULATED = "C(t) = 1/n · Σ over confidence ≤ t of (confidence − right)"
_CUMULATED_OF_CLASS = "C(t) = 1/n · Σ over p(c) ≤ t of (p(c) − [y = c])"
_LINEAR_KERNEL = "1/⌊n/2⌋ · Σ over pairs of (e(y) − p)ᵀ k(p, p′) (e(y′) − p′)"
_MEASURE_EQUATIONS = {
    "ece-confidence": _CONFIDENCE_ECE,
    "ece-classwise": _CLASSWISE_ECE,
    "ece-confidence-mass": _CONFIDENCE_ECE,
    "ece-classwise-mass": _CLASSWISE_ECE,
    "ece-classwise-paper-code": _CLASSWISE_ECE,
    "mce-confidence": "max over bins B of |accuracy(B) − confidence(B)|",
    "l2-confidence-debiased": f"{_SQUARES},  d = confidence − right",
    "l2-classwise-debiased": f"1/K · Σ over c: {_SQUARES},  d = p(c) − [y = c]",
    "hosmer-lemeshow": _HOSMER_LEMESHOW,
    "hosmer-lemeshow-proportions": "Σ over c, bins B of (frequency of c in B − mean p(c) in B)² / mean p(c) in B",
    "hosmer-lemeshow-paper-code": _HOSMER_LEMESHOW,
    "ks-confidence": f"max over t of |C(t)|,  {_CUMULATED}",
    "ks-classwise": f"1/K · Σ over c of max over t of |C(t)|,  {_CUMULATED_OF_CLASS}",
    "kuiper-confidence": f"max(C, 0) − min(C, 0) over t,  {_CUMULATED}",
    "skce-ul": _LINEAR_KERNEL,
    "skce-ul-paper-code": f"{_LINEAR_KERNEL},  k = exp(−TV² / 2)",
    "skce-uq": "2/(n(n − 1)) · Σ over i < j of (e(yᵢ) − pᵢ)ᵀ k(pᵢ, pⱼ) (e(yⱼ) − pⱼ)",
    "skce-biased": "1/n² · Σ over i, j of (e(yᵢ) − pᵢ)ᵀ k(pᵢ, pⱼ) (e(yⱼ) − pⱼ)",
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
            own, label = CALIBRATION_MEASURES[name], measure_label(name)
            source = own.source.replace("paper 001", CALIBRATION_PAPER)
            title = label[0].upper() + label[1:]
            found[name] = Definition(title, own.sentence, _MEASURE_EQUATIONS.get(name, ""), source)
    return found
