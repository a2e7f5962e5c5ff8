"""Sentences on the models compared: the line below the verdict, and the kind of prediction of each model."""

from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.wording import count, counted, percent, percent_interval

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores

__all__ = ["comparison_sentences", "kind_text"]

KINDS = {
    "Point": "point prediction",
    "Dirichlet": "Dirichlet",
    "Intervals": "probability intervals",
    "ClassSets": "class sets",
    "Masses": "belief function",
    "GaussianLogits": "Gaussian logits",
}

HEADS = {
    "model": "Model",
    "accuracy": "Accuracy",
    "log-loss": "Log loss",
    "brier": "Brier",
    "ece": "ECE",
    "distance": "Distance d",
    "nonspecificity": "NS",
}


def comparison_sentences(assay: "Assay") -> dict[str, Any]:
    """Sentences by name; "compared" says how many models, instances and classes there are, and how accurate the models are.

    Examples
    --------
    >>> import uqassay as uq
    >>> comparison_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))["compared"]
    '1 model and 2 baselines on 1 instance of 2 classes; accuracy 100.0 %.'
    """
    n_baselines = sum(m.baseline for m in assay.models)
    groups, labels = "", ", labelled by distributions" if assay.labels.ndim == 2 else ""
    if assay.groups is not None:
        groups = f" ({counted(len(np.unique(assay.groups)), 'group')}, resampled whole)"
    accuracies = [float(m.columns["correct"].mean()) for m in assay.candidates if m.predicts_classes]
    least, most = min(accuracies, default=0.0), max(accuracies, default=0.0)
    accuracy = f"; accuracy {percent_interval(least, most) if most > least else percent(least)}" if accuracies else ""
    compared = (
        f"{counted(len(assay.candidates), 'model')}{_runs(assay)} and {counted(n_baselines, 'baseline')} "
        f"on {counted(assay.n_instances, 'instance')}{groups} of {counted(assay.n_classes, 'class', 'classes')}"
        f"{labels}{accuracy}."
    )
    return {"compared": compared, "no_prediction": "a baseline makes no single prediction", "heads": HEADS}


def _runs(assay: "Assay") -> str:
    runs = sorted({m.n_runs for m in assay.candidates})
    if runs[-1] == 1:
        return ""
    if len(runs) > 1:
        return f" ({runs[0]} to {runs[-1]} training runs)"
    return f" ({runs[0]} training runs{'' if len(assay.candidates) == 1 else ' each'})"


def kind_text(model: "ModelScores") -> str:
    """Kind of prediction of a model, and the number of runs."""
    if model.baseline:
        return "baseline"
    runs = f" · {model.n_runs} runs" if model.n_runs > 1 else ""
    if model.kind == "Members":
        return counted(model.n_points or 0, "member") + runs
    if model.kind == "Vertices":
        return counted(model.n_points or 0, "vertex", "vertices") + runs
    several = model.n_points is not None and model.n_points > 1
    points = f", {count(model.n_points or 0)} {model.spanned_by or 'draws'}" if several else ""
    return KINDS.get(model.kind, model.kind) + points + runs
