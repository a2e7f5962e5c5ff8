"""Look at instances: sentences of the lists of extremes, the picker and the pictures of credal sets."""

from typing import TYPE_CHECKING, Any

from uqassay.wording import count

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores

__all__ = ["instance_sentences", "set_text"]

LISTED_CLASSES = 12  # of which the bars show the probabilities, those of highest upper probability
BOUNDS = "the set's probability intervals, which contain it"


def instance_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> import uqassay as uq
    >>> instance_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))["picked"]
    'Instance {instance}: {label}'
    """
    number = "Instance {instance}" if assay.ids is None else "Instance {instance} (row {row})"
    votes = ": most often labelled {label} ({share})" if assay.labels.ndim == 2 else ": {label}"
    return {
        "listed_classes": LISTED_CLASSES,
        "no_class": "several or none",
        "heads": {
            "instance": "Instance",
            "label": "Label",
            "predicted": "Predicted by",
            "size": "Largest NS",
            "mean": "Mean d",
            "spread": "Spread of d",
            "model": "Model",
            "class": "Class",
            "lower": "Lower",
            "mean_prediction": "Mean",
            "upper": "Upper",
            "votes": "Share of the labels",
            "in_three": "Given the three of the triangle",
        },
        "pictures_data": "Probabilities of each class, as the pictures show them.",
        "extremes": {
            "most epistemic": "Greatest non-specificity of any model.",
            "most wrong": "Greatest mean distance over the models.",
            "most disputed": "Greatest spread of the distances between models.",
        },
        "predicted": "{label}: {models}",
        "picked": number + votes,
        "prediction": {
            "right": "✓ predicts {label} ({confidence}); d {distance}, NS {nonspecificity}, E {unified} at λ = {tradeoff}",
            "several": "a set of several classes or none; d {distance}, NS {nonspecificity}, E {unified} at λ = {tradeoff}",
            "wrong": "✗ predicts {label} ({confidence}); d {distance}, NS {nonspecificity}, E {unified} at λ = {tradeoff}",
        },
        "bars": _bars(assay),
        "triangle": (
            "Triangle: {first}, {second} and {third}, the label and the two other classes of highest upper probability; what "
            "each model says given that it is one of these three."
        ),
        "votes": "The cross is the distribution of the labels.",
        "first_run": (
            "Sets are those of the first training run." if any(m.n_runs > 1 for m in assay.candidates) else ""
        ),
        "bar": "{name}: {low} to {high}, mean {mean}",
        "bar_point": "{name}: {low}",
        "bar_spoken": "{name} {low} to {high}",
        "bars_spoken": "Probabilities: {bars}",
        "triangle_spoken": "Triangle of {first}, {second} and {third}: {note}",
        "mean_prediction": "mean prediction",
        "label_distribution": "label distribution",
        "label": "label",
        "share": "{how}; {share} of the mean prediction lies on these three",
        "little_share": "{how}; almost none of the mean prediction lies on these three",
        "sets": {m.name: set_text(m) for m in assay.candidates},
        **_problems(assay),
    }


def _bars(assay: "Assay") -> dict[str, str]:
    """Caption of the bars, for all classes or some of them."""
    words = (
        "Bars: lower to upper probability of each class, the tick is the mean prediction; classes by their highest upper "
        "probability in any model"
    )
    return {
        "all": f"{words}. The label is in bold.",
        "some": f"{words}, {{shown}} of {assay.n_classes} shown. The label is in bold.",
    }


def set_text(model: "ModelScores") -> dict[str, str]:
    """Description of a model's set in the triangle, for instances with and without their points on the page."""
    if model.n_points == 1:
        return {"held": "a point", "not_held": "a point"}
    if model.n_points is None:
        bounds = {"Intervals": "the intervals themselves", "ClassSets": "the class set itself"}.get(model.kind, BOUNDS)
        return {"held": bounds, "not_held": bounds}
    return {
        "held": f"hull of {count(model.n_points)} points",
        "not_held": f"{BOUNDS}; its points are kept for the extreme instances only",
    }


def _problems(assay: "Assay") -> dict[str, str]:
    """Reasons that a requested instance cannot be shown."""
    held = 0 if not assay.sets else len(next(iter(assay.sets.values())).rows)
    known = f"a number from 0 to {assay.n_instances - 1}" if assay.ids is None else "an id or a row number"
    part = f"the sets of {{held}} of {count(assay.n_instances)} instances"
    return {
        "give": f"Give {known}.",
        "not_held": f"This page holds {part}, and not of this one.",
        "no_such_id": f"No instance on this page has that id; it holds {part}." if held else "",
    }
