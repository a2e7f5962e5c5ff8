"""Rank sets: headings, notes and labels of the page's two pictures, and what limits a p-value."""

from typing import TYPE_CHECKING, Any

from uqassay.wording import counted, level_text

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["MARKS", "limit_notes", "metric_label", "rank_set_sentences"]

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


def rank_set_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> import uqassay as uq
    >>> rank_set_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))["at"]
    'mean E at λ = {tradeoff}'
    """
    level = level_text(assay.settings.level)
    return {
        "title": "Ranks that each model can have",
        "by": "by",
        "at": "mean E at λ = {tradeoff}",
        "note": (
            f"Bar: all ranks that the tests of all pairs leave open, {level} for all models at once. Dot: the rank in this "
            "test set. Full colour: no model is shown to be better (the top group). Dashed: a baseline."
        ),
        "top_title": "Top group at every λ",
        "top_note": (
            f"Coloured: no model is shown to be better at this λ ({level} at each λ by itself). Pale: but a baseline has a "
            "lower mean E. Line: the λ chosen above."
        ),
        "never": "{n} of {models} models are in the top group at no λ.",
        "strip": "λ at which {model} is in the top group",
        "bar": "{model}: ranks {ranks}",
        "no_value": "undefined",
        "heads": {
            "model": "Model",
            "ranks": "Ranks",
            "value": "Value",
            "range": "Ranks from 1 to {models}",
            "top": "λ",
        },
        "limited": limit_notes(assay),
        "marks": MARKS,
    }
