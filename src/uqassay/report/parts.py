"""The page's section on parts of the test set: which model is best in every subgroup and every true class."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.evidence.findings import part_rows
from uqassay.wording import listed, tradeoff

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["parts_section"]

MOST_PARTS = 40  # of one subgroup; more are an identifier rather than a part of the test set
METRICS = {"unified": "mean E", "accuracy": "accuracy", "distance": "mean distance", "nonspecificity": "mean NS"}
BEST = {
    "unified": "the lowest mean E at λ = {tradeoff}",
    "accuracy": "the highest accuracy",
    "distance": "the lowest mean distance",
}  # a small set is good only where the label is in it, so that no model is best by non-specificity


def parts_section(assay: "Assay") -> dict[str, Any] | None:
    """Accuracy, distance, non-specificity and E of each model in each subgroup and each true class.

    Returns
    -------
    dict or None
        "metrics": names of the metrics; "tables": one per subgroup, with its "parts", and by metric the "views": one per λ of
        the findings for E, one for any other metric, each with the "best" model of every part, a "sentence" and a "caption".
        None where no subgroup has two parts.
    """
    kinds = [name for name, values in assay.subgroups.items() if 1 < len(np.unique(values)) <= MOST_PARTS]
    if assay.n_classes <= MOST_PARTS:
        kinds.append("class")
    tables = [table for table in (_table(assay, by) for by in kinds) if len(table["parts"]) > 1]
    if not tables:
        return None
    text = {
        "none": "no such instances",
        "by": " by ",
        "parts": "Parts",
        "metric": "Metric",
        "part": "Parts of the test set",
    }
    return {"tables": tables, "metrics": METRICS, "tradeoffs": list(assay.tradeoffs), "text": text}


def _table(assay: "Assay", by: str) -> dict[str, Any]:
    cells = _cells(assay, by)
    parts = [{"part": part, "models": models} for part, models in cells.items()]
    views = {metric: [_view(assay, parts, metric)] for metric in METRICS if metric != "unified"}
    views["unified"] = [_view(assay, parts, "unified", place) for place in range(len(assay.tradeoffs))]
    return {"by": by, "title": "true class" if by == "class" else by, "parts": parts, "views": views}


def _cells(assay: "Assay", by: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Estimate and ends of every metric by part and model; those of E one per λ of the findings."""
    distance = assay.settings.distance_metric
    cells: dict[str, dict[str, dict[str, Any]]] = {}
    for row in part_rows(assay, by, ("accuracy", distance, "nonspecificity", "unified")):
        if row["model"] not in assay.model_names:
            continue
        mine = cells.setdefault(row["subset"], {}).setdefault(row["model"], {"n": row["n"], "unified": []})
        interval = [float(f"{row[end]:.6g}") for end in ("estimate", "low", "high")]  # more than is shown
        if row["metric"] == "unified":
            mine["unified"].append([row["tradeoff"], *interval])
        else:
            mine["distance" if row["metric"] == distance else row["metric"]] = interval
    return cells


def _view(assay: "Assay", parts: Sequence[dict[str, Any]], metric: str, place: int = 0) -> dict[str, Any]:
    """Who is best in every part by one metric (at one λ), and what that amounts to."""
    at = f"E at λ = {tradeoff(assay.tradeoffs[place])}; i" if metric == "unified" else "I"
    near = at.replace("; i", ", the nearest λ of the findings; i")
    caption = "ntervals are not adjusted for the number of parts."
    view: dict[str, Any] = {"best": None, "sentence": "", "caption": at + caption, "caption_near": near + caption}
    if metric not in BEST or len(assay.model_names) < 2:
        return view
    best = [_best(assay.model_names, part["models"], metric, place) for part in parts]
    what = BEST[metric].format(tradeoff=tradeoff(assay.tradeoffs[place]))
    won = Counter(best)
    tally = sorted(((name, won[name]) for name in assay.model_names if won[name]), key=lambda pair: -pair[1])
    if len(tally) == 1:
        sentence = f"{tally[0][0]} has {what} in all {len(parts)} parts."
    else:
        names = listed([f"{name} ({n})" for name, n in tally])
        sentence = f"In {len(parts)} parts {what} goes to {names}; bold marks it."
    return view | {"best": best, "sentence": sentence}


def _best(names: Sequence[str], models: dict[str, dict[str, Any]], metric: str, place: int) -> str:
    """The best model of one part; of equal ones the first."""

    def loss(name: str) -> float:
        if metric == "unified":
            return float(models[name]["unified"][place][1])
        value = float(models[name][metric][0])
        return -value if metric == "accuracy" else value

    return min((name for name in names if name in models), key=loss)
