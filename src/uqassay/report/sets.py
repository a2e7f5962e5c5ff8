"""The page's section on sets as decisions: which classes each model's sets leave, and whether the label is among them."""

from typing import TYPE_CHECKING, Any

from uqassay.evidence.set_rows import models_with_sets, set_scores_of, shown_rule
from uqassay.metrics.sets.class_set_scores import CLASS_SET_SCORES
from uqassay.wording import listed, number, percent

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["sets_section"]

SHOWN_NAMES = 3  # before the others are counted
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
        "finding": what the section says first; "models": scores with their intervals, by model; "text". None if no model has
        sets.
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
    return {"finding": _finding(models), "models": models, "shares": SHARES, "text": text}


def _finding(models: list[dict[str, Any]]) -> str:
    said = [
        f"{percent(m['coverage'][0], in_sentence=True)} of the labels with {number(m['size'][0], 2)} classes ({m['model']})"
        for m in models[:SHOWN_NAMES]
    ]
    rest = len(models) - SHOWN_NAMES
    said += [f"{rest} {'other' if rest == 1 else 'others'} below"] if rest > 0 else []
    return f"The sets leave {listed(said)}."
