"""The page's section on parts of the test set: which model is best in every subgroup and every true class."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.evidence.findings import part_rows
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.wording import listed, named, number, percent, tradeoff

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["parts_section"]

SHOWN_NAMES = 4  # before the others are counted
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
        "finding": what the section says first; "metrics": names of the metrics; "tables": one per subgroup, with its "parts",
        and by metric the "views": one per λ of the findings for E, one for any other metric, each with the "best" model of
        every part, a "sentence" and a "caption". None where no subgroup has two parts.
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
    finding = tables[0]["views"]["unified"][_nearest(assay, DEFAULT_TRADEOFF)]["sentence"]
    return {"finding": finding, "tables": tables, "metrics": METRICS, "tradeoffs": list(assay.tradeoffs), "text": text}


def _nearest(assay: "Assay", tradeoff: float) -> int:
    return min(range(len(assay.tradeoffs)), key=lambda i: abs(assay.tradeoffs[i] - tradeoff))


def _table(assay: "Assay", by: str) -> dict[str, Any]:
    cells = _cells(assay, by)
    parts = [{"part": part, "models": models} for part, models in cells.items()]
    title = "true class" if by == "class" else by
    views = {metric: [_view(assay, title, parts, metric)] for metric in METRICS if metric != "unified"}
    views["unified"] = [_view(assay, title, parts, "unified", place) for place in range(len(assay.tradeoffs))]
    return {"by": by, "title": title, "parts": parts, "views": views}


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


def _view(assay: "Assay", title: str, parts: Sequence[dict[str, Any]], metric: str, place: int = 0) -> dict[str, Any]:
    """Who is best in every part by one metric (at one λ), and what that amounts to."""
    judged = metric in BEST and len(assay.model_names) > 1
    at = f"E at λ = {tradeoff(assay.tradeoffs[place])}" if metric == "unified" else METRICS[metric]
    marks = "; bold: the best of a part" if judged else ""
    rest = f"{marks}; intervals are not adjusted for the number of parts."
    at = f"{at[0].upper()}{at[1:]}"
    view = {"best": None, "caption": f"{at}{rest}", "caption_near": f"{at}, the nearest λ of the findings{rest}"}
    if not judged:
        single = len(assay.model_names) == 1
        return view | {"sentence": _range(assay, title, parts, metric, place) if single else ""}
    best = [_best(assay.model_names, part["models"], metric, place) for part in parts]
    what = BEST[metric].format(tradeoff=tradeoff(assay.tradeoffs[place]))
    won = Counter(best)
    (first, n), *others = sorted(
        ((name, won[name]) for name in assay.model_names if won[name]), key=lambda pair: -pair[1]
    )
    where = f"{n} of the {len(parts)} parts by {title}"
    if others:
        rest_of = listed([f"{named(name)} in {k}" for name, k in others], most=SHOWN_NAMES)
        sentence = f"{first} has {what} in {where}, {rest_of}."
    else:
        sentence = f"{first} has {what} in {'both' if len(parts) == 2 else f'all {len(parts)}'} parts by {title}."
    return view | {"best": best, "sentence": sentence}


def _range(assay: "Assay", title: str, parts: Sequence[dict[str, Any]], metric: str, place: int) -> str:
    """Between which parts the value of the only model differs most."""
    (name,) = assay.model_names

    def value(part: dict[str, Any]) -> float:
        found = part["models"][name]
        return float(found["unified"][place][1] if metric == "unified" else found[metric][0])

    least, most = min(parts, key=value), max(parts, key=value)
    low, high = (percent(value(p)) if metric == "accuracy" else number(value(p), bounded=True) for p in (least, most))
    at = f" at λ = {tradeoff(assay.tradeoffs[place])}" if metric == "unified" else ""
    return (
        f"By {title}, the {METRICS[metric]} of {name}{at} goes from {low} ({least['part']}) to {high} ({most['part']})."
    )


def _best(names: Sequence[str], models: dict[str, dict[str, Any]], metric: str, place: int) -> str:
    """The best model of one part; of equal ones the first."""

    def loss(name: str) -> float:
        if metric == "unified":
            return float(models[name]["unified"][place][1])
        value = float(models[name][metric][0])
        return -value if metric == "accuracy" else value

    return min((name for name in names if name in models), key=loss)
