"""The page's section on sets as decisions: which classes each model's sets leave, and whether the label is among them.

A curve for each model shows the coverage of its sets with their spread scaled, against their non-specificity.
"""

from typing import TYPE_CHECKING, Any

from uqassay.evidence.scaled_coverage import scaled_coverage
from uqassay.evidence.set_rows import models_with_sets, set_scores_of, shown_rule
from uqassay.metrics.sets.class_set_scores import CLASS_SET_SCORES
from uqassay.report.rounding import rounded
from uqassay.wording import level_text, listed, number, part_of, percent

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["sets_section"]

SHOWN_NAMES = 3  # before the others are counted
DIGITS = 4  # of the numbers of the curves
HEADS = {
    "model": "model",
    "coverage": "labels covered",
    "size": "classes left",
    "determinacy": "one class left",
    "single_accuracy": "right if one",
    "set_accuracy": "covered if several",
    "u65": "u65",
    "u80": "u80",
}
SHARES = ("coverage", "determinacy", "single_accuracy", "set_accuracy")
RULES = {
    "maximality": "A set rules a class out if another class is more probable under every distribution in it (maximality).",
    "interval-dominance": (
        "A set rules a class out if its upper probability is below the lower probability of another (interval dominance)."
    ),
}
AS_GIVEN = "Class sets leave the classes that they hold."
NOTE = (
    "Covered: the label is not ruled out. u65 and u80 are the worth of the set as a decision: 0 without the label, "
    "1 for the label alone, 0.65 and 0.80 for two classes with it."
)


def sets_section(assay: "Assay") -> dict[str, Any] | None:
    """Coverage, size and utility of the classes that are left, for each model with sets.

    Returns
    -------
    dict or None
        "finding": what the section says first; "models": scores with their intervals, by model; "curves": coverage with its
        ends and mean non-specificity ("size") at "scales", by model; "own": place of the scale 1; "text". None if no model
        has sets.
    """
    models, rule = [], shown_rule(assay)
    for model in models_with_sets(assay):
        found = set_scores_of(assay, model.name, rule)
        scores = {name: getattr(found, name) for name in CLASS_SET_SCORES}
        models.append({"model": model.name} | {name: [float(e), e.low, e.high] for name, e in scores.items()})
    if not models:
        return None
    stated = [m.predicts_classes for m in models_with_sets(assay)]
    how = [*([RULES[rule]] if any(stated) else []), *([] if all(stated) else [AS_GIVEN])]
    text = {"heads": HEADS, "note": " ".join([*how, NOTE]), "none": "no such instances"}
    curves = _curves(assay)
    scales: dict[str, Any] = {"scales": [], "own": 0}
    if curves:
        first = assay.scaled[curves[0]["model"]]
        scales = {"scales": first.scales.tolist(), "own": first.own}
        text |= _curve_text(assay, curves)
    return {"finding": _finding(models), "models": models, "shares": SHARES, "curves": curves, **scales, "text": text}


def _curves(assay: "Assay") -> list[dict[str, Any]]:
    curves = []
    for model in assay.scaled:
        found = scaled_coverage(assay, model)
        if not found:
            continue
        covered, sizes = [c for _, c, _ in found], [size for _, _, size in found]
        ends: dict[str, list[Any]] = {
            "coverage": covered,
            "low": [e.low for e in covered],
            "high": [e.high for e in covered],
        }
        curves.append({"model": model} | {name: rounded(v, DIGITS) for name, v in (ends | {"size": sizes}).items()})
    return curves


def _curve_text(assay: "Assay", curves: list[dict[str, Any]]) -> dict[str, Any]:
    sizes = dict.fromkeys(len(assay.scaled[curve["model"]].judged) for curve in curves)
    on = listed([part_of(n, assay.n_instances, "instance") for n in sizes], last="or")
    return {
        "curve_title": "If the sets were wider or narrower",
        "curve_note": (
            "Each point is a model with its sets scaled about their centres, s · (set − centre) + centre, cut at the edge of "
            "what is possible; the large one is the model as it is (s = 1). Wider sets usually cover more, so compare models "
            "at the same non-specificity: the higher one covers more there. Covered: some distribution in the set has the "
            f"label as its most probable class (E-admissibility). On {on}; {level_text(assay.settings.level)} "
            "interval of each point by itself."
        ),
        "curve_axes": ["mean non-specificity, nats", "labels covered"],
        "curve_hover": "s = {scale}: {coverage} of the labels ({coverages}), NS {size}",
        "curve_size": "NS {size}",
        "curve_data": "Labels covered by the scaled sets, and their mean non-specificity NS, of the models shown.",
    }


def _finding(models: list[dict[str, Any]]) -> str:
    said = [
        f"{percent(m['coverage'][0], in_sentence=True)} of the labels with {number(m['size'][0], 2)} classes ({m['model']})"
        for m in models[:SHOWN_NAMES]
    ]
    rest = len(models) - SHOWN_NAMES
    said += [f"{rest} {'other' if rest == 1 else 'others'} below"] if rest > 0 else []
    return f"The sets leave {listed(said)}."
