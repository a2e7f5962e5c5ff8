"""Why: sentences of the charts of distance, non-specificity and E."""

from typing import TYPE_CHECKING, Any

from uqassay.wording import count, part_of

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["POINTS", "chart_sentences"]

POINTS = 4000  # markers in one scatter plot, of all models together


def chart_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> import uqassay as uq
    >>> chart_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))["point"]
    'a point prediction: always 0'
    """
    unit = " (nats)" if assay.settings.distance in ("kl", "js") else ""
    return {
        "show": "Show",
        "parts": {"all": "all instances", "correct": "correct", "wrong": "wrong"},
        "heads": {
            "model": "Model",
            "n": "n {part}",
            "distance": "d {part}",
            "nonspecificity": "NS {part}",
            "unified": "E {part}",
        },
        "reliability": "Reliability diagram",
        "plane_data": "Means with their intervals, in the order of the ranking.",
        "lines_data": "Mean E with its interval along λ, in the order of the ranking.",
        "ridge_data": "{title}: means, medians and quartiles by correctness, of the models shown.",
        "ridge_heads": {"n": "n {part}", "mean": "mean {part}", "middle": "median (quartiles) {part}"},
        "means_data": "Means in ten bins of confidence, of the models shown.",
        "points_data": "Every point, of the models shown.",
        "means_heads": {"confidence": "mean confidence", "mean": "mean {quantity}", "n": "n"},
        "no_instances": "No instances of this kind.",
        "point_hover": "d {distance} ({distance_low} to {distance_high})",
        "size_hover": "NS {nonspecificity} ({nonspecificity_low} to {nonspecificity_high})",
        "n_hover": "n = {n}",
        "absent": "not here (no such instances): {models}",
        "absent_infinite": "not here (infinite): {models}",
        "absent_many": "{n} models",
        "line_hover": "λ {tradeoff}: E {estimate} ({low} to {high})",
        "baseline_hover": "λ {tradeoff}: E {estimate}",
        "baseline": "{model} (baseline)",
        "plane_axes": ["mean NS", "mean distance d"],
        "line_axes": ["λ", "mean E"],
        "ridge_axes": {"distance": f"d{unit}", "nonspecificity": "NS", "unified": "E"},
        "title_at": ", λ = {tradeoff}",
        "ridge_at": "",
        "ridge_near": "The nearest λ for which the page holds the densities.",
        "point": "a point prediction: always 0",
        "zero": "0 in every instance",
        "infinite": "infinite in every instance",
        "zero_or_infinite": "0 or infinite",
        "part": {"correct": "correct (n = {n})", "wrong": "wrong (n = {n})"},
        "part_infinite": {
            "correct": "correct (n = {n}, and {infinite} infinite)",
            "wrong": "wrong (n = {n}, and {infinite} infinite)",
        },
        "middle": "mean {mean}, median {median}",
        "at_end": "{share} at the left end or below",
        "no_such": {"correct": "no correct predictions", "wrong": "no wrong predictions"},
        "by_correctness": f"{_by_correctness(assay)}; E at λ = {{tradeoff}}.",
        "by_correctness_apart": (
            f"{_by_correctness(assay)}; E at λ = {{tradeoff}}, its interval only at the λ of the findings."
        ),
        "sample": _sample(assay),
        "walk": "{title}. The arrow keys move from point to point, and Enter opens the instance.",
        "points": POINTS,
        "no_sets": "Only point predictions are shown, and their sets have no size.",
        "no_width": "The credal width was not among the measures asked for.",
        "no_entropy": "The entropy was not among the measures asked for.",
        "none_kept": "This assay keeps no single instances.",
        "instance_hover": "instance {instance}",
        "values_hover": "{x_name} {x}, {y_name} {y}",
        "mean_hover": "mean {mean} over {n} instances",
        "confidence_hover": "mean confidence {confidence}",
        "scatter_axes": {
            "width": ["NS", "credal width"],
            "ns-confidence": ["confidence", "NS"],
            "entropy-confidence": ["confidence", "entropy (nats)"],
        },
    }


def of_class_sets(assay: "Assay") -> str:
    """What a correct prediction is of class sets, in brackets; empty where there are none."""
    return "" if all(m.predicts_classes for m in assay.candidates) else " (class sets: those that hold the label)"


def _by_correctness(assay: "Assay") -> str:
    """The caption of the means by correctness; with several training runs it says what n counts."""
    counted = "" if all(m.n_runs == 1 for m in assay.candidates) else " of all training runs, which n counts together"
    sets = of_class_sets(assay)
    return f"Means over the instances{counted} that each model classifies correctly{sets} and over the others"


def _sample(assay: "Assay") -> dict[str, str]:
    """Which instances the scatter plots show, {n} of them or all."""
    total = count(assay.n_instances)
    runs = ", first training run" if any(m.n_runs > 1 for m in assay.candidates) else ""
    means = "Lines: means over all instances in ten bins of confidence."
    points = {
        "some": f"a random sample of {{n}} of the {total} instances, the same for every model",
        "all": part_of(assay.n_instances, assay.n_instances, "instance"),
    }
    return {key: f"Points: {text}{runs}. {means}" for key, text in points.items()}
