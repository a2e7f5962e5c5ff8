"""Rank sets of the page: which ranks each model can have by metrics that do not depend on λ."""

from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.evidence.mistake_ranking import reference_score
from uqassay.evidence.ranking_words import metric_label
from uqassay.report.definitions import score_label
from uqassay.statistics import RankSets

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["PLAIN_METRICS", "RANKING_METRICS_SHOWN", "rank_sets_section"]

PLAIN_METRICS = ("accuracy", "log-loss", "brier")
RANKING_METRICS_SHOWN = ("uq-auc", "uq-c-index", "aurc", "augrc", "prediction-rejection")


def rank_sets_section(assay: "Assay") -> dict[str, Any] | None:
    """Rank sets by each metric, best model first.

    Returns
    -------
    dict or None
        "metrics": one entry per metric (and score that ranks the mistakes) with its "label" and "rows", models and baselines by
        their value, each with its place among the models of the page, and the ranks "low" and "high" and "top" of models.
        None for a single model. A metric that is undefined for all models is left out.

    Examples
    --------
    >>> import uqassay as uq
    >>> right, wrong = uq.Point([[0.8, 0.2]] * 300), uq.Point([[0.3, 0.7]] * 300)
    >>> section = rank_sets_section(uq.assay({"a": right, "b": wrong}, [0] * 300))
    >>> section["metrics"][0]["label"], [row["high"] for row in section["metrics"][0]["rows"]]
    ('accuracy', [1, None, 2])
    """
    if len(assay.candidates) < 2:
        return None
    scores = dict.fromkeys(reference_score(assay, name) for name in assay.model_names)
    wanted: list[tuple[str, str | None]] = [(metric, None) for metric in PLAIN_METRICS]
    wanted += [(metric, score) for score in scores if score is not None for metric in RANKING_METRICS_SHOWN]
    places = {m.name: j for j, m in enumerate(assay.models)}
    metrics = []
    for metric, score in wanted:
        found = assay.rank_sets(metric=metric, score=score)
        if np.isnan(found.values).all():
            continue
        label = metric_label(metric, "" if score is None else score_label(score))
        metrics.append({"metric": metric, "score": score, "label": label, "rows": _rows(found, places)})
    return {"metrics": metrics}


def _rows(found: RankSets, places: dict[str, int]) -> list[dict[str, Any]]:
    """Models and references from the best value to the worst, undefined ones last."""
    compared, sign = found.comparisons, -1.0 if found.greater_is_better else 1.0
    order = np.argsort(sign * compared.values, kind="stable")  # nan last
    ranked = {name: k for k, name in enumerate(found.names)}
    rows = []
    for i in order.tolist():
        name = compared.names[i]
        row: dict[str, Any] = {"j": places[name], "value": float(compared.values[i])}
        k = ranked.get(name)
        ranks = (None, None, None) if k is None else (int(found.low[k]), int(found.high[k]), bool(found.top[k]))
        rows.append(row | dict(zip(("low", "high", "top"), ranks, strict=True)))
    return rows
