"""Words of rankings: what was ranked, names of the metrics, and what limits a p-value."""

from typing import TYPE_CHECKING

from uqassay.wording import counted, listed_names

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["MARKS", "limit_notes", "metric_label", "size_text"]

MARKS = {"unseen": "†", "skewness": "‡", "runs": "§"}  # behind a p-value, by what limits it

METRICS = {
    "unified": "mean E",
    "accuracy": "accuracy",
    "log-loss": "log loss",
    "brier": "Brier score",
    "nonspecificity": "non-specificity",
    "uq-auc": "UQ-AUC",
    "uq-c-index": "UQ-C-index",
    "aurc": "AURC",
    "e-aurc": "E-AURC",
    "augrc": "AUGRC",
    "prediction-rejection": "prediction-rejection ratio",
}


def size_text(assay: "Assay") -> str:
    """Models, training runs, instances, groups and classes in words.

    Examples
    --------
    >>> import uqassay as uq
    >>> size_text(uq.assay({"m": [uq.Point([[0.9, 0.1]])] * 3}, [0]))
    '1 model (m, 3 training runs) on 1 instance of 2 classes'
    """
    runs = sorted({m.n_runs for m in assay.candidates})
    who = listed_names(assay.model_names, most=3)
    if runs[-1] > 1:
        who += f", {counted(runs[0], 'training run') if len(runs) == 1 else f'{runs[0]} to {runs[-1]} training runs'}"
        who += " each" if len(runs) == 1 and len(assay.candidates) > 1 else ""
    where = counted(assay.n_instances, "instance")
    where += "" if assay.groups is None else f" in {counted(assay.n_units, 'group')}"
    classes = counted(assay.n_classes, "class", "classes")
    return f"{counted(len(assay.candidates), 'model')} ({who}) on {where} of {classes}"


def limit_notes(assay: "Assay") -> dict[str, str]:
    """What keeps a difference of mean E from being significant, where Student's t alone would make it so.

    Examples
    --------
    >>> import uqassay as uq
    >>> notes = limit_notes(uq.assay({"m": uq.Point([[0.9, 0.1]] * 100)}, [0] * 100))
    >>> print(notes["unseen"])
    significant if rare huge losses could be excluded, which 100 instances cannot; accuracy and Brier score are bounded
    """
    unseen = f"significant if rare huge losses could be excluded, which {counted(assay.n_instances, 'instance')} cannot"
    return {
        "unseen": unseen + ("; accuracy and Brier score are bounded" if assay.settings.distance == "kl" else ""),
        "skewness": "significant if the losses were less skewed",
        "runs": "significant if the training runs were not so few",
    }


def metric_label(metric: str, score: str = "") -> str:
    """Name of a metric that ranks models, with the score that ranks the mistakes.

    Examples
    --------
    >>> metric_label("brier"), metric_label("uq-auc", "total entropy")
    ('Brier score', 'UQ-AUC of total entropy')
    """
    name = METRICS.get(metric, metric)
    return f"{name} of {score}" if score else name
