"""Training runs and test instances as sources of the variance of a mean of an assay."""

from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.findings import one_run
from uqassay.evidence.rank_sets import mean_metrics, mean_values
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.statistics import VarianceComponents, VarianceShare, variance_components

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["VARIANCE_COLUMNS", "variance_of", "variance_rows"]

VARIANCE_COLUMNS = (
    *("model", "metric", "tradeoff", "component", "variance", "share", "low", "high", "level"),
    *("runs", "instances", "groups", "half_width", "notes"),
)
COMPONENTS = ("runs", "instances", "interaction")


def variance_of(
    assay: "Assay", model: str, other: str | None, tradeoff: float = DEFAULT_TRADEOFF, metric: str = "unified"
) -> VarianceComponents:
    """Components of the variance of a mean; see `Assay.variance`."""
    check_tradeoff(tradeoff)
    known = mean_metrics(assay)
    if metric not in known:
        raise InputError(
            "metric", f"must be one of {', '.join(known)}", f"got {metric!r}", "choose one of them", code="choice"
        )
    names = [model, *([] if other is None else [other])]
    values = [one_run(mean_values(assay, name, metric, tradeoff)) for name in names]
    return variance_components(
        values[0],
        values[1] if len(values) == 2 else None,
        groups=assay.groups,
        level=assay.settings.level,
    )


def variance_rows(
    assay: "Assay", *, tradeoff: float = DEFAULT_TRADEOFF, metric: str = "unified"
) -> list[dict[str, Any]]:
    """One row for each model and component."""
    rows = []
    for model in assay.model_names:
        found = variance_of(assay, model, None, tradeoff, metric)
        facts = {
            "level": found.level,
            "runs": found.n_runs[0],
            "instances": found.n_instances,
            "groups": found.n_groups,
            "half_width": found.half_width(),
            "notes": found.notes,
        }
        for name in COMPONENTS:
            share: VarianceShare = found.shares[name]
            at = float(tradeoff) if metric == "unified" else np.nan
            row = {"model": model, "metric": metric, "tradeoff": at, "component": name}
            rows.append(row | {"variance": getattr(found, name)} | share._asdict() | facts)
    return rows
