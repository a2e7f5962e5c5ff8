"""The questions a report answers beside the choice of a model: one section each, left out where nothing was found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.report.calibration import calibration
from uqassay.report.mistakes import mistakes

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["LENSES", "Lens", "lens_sections"]

MOST_PARTS = 40  # of one subgroup; more are an identifier rather than a part of the test set


@dataclass(frozen=True)
class Lens:
    """One section of the page.

    Attributes
    ----------
    id : str
        Also the name under which the page's script registers how to draw it.
    title : str
        The question it answers.
    build : callable
        Assay → what is drawn, or None where there is nothing to show.
    """

    id: str
    title: str
    build: Callable[["Assay"], dict[str, Any] | None]


def lens_sections(assay: "Assay") -> list[dict[str, Any]]:
    """What every lens found, in the order of `LENSES`; a lens without findings is absent."""
    sections = []
    for lens in LENSES:
        found = lens.build(assay)
        if found is not None:
            sections.append({"id": lens.id, "title": lens.title, **found})
    return sections


def _parts(assay: "Assay") -> dict[str, Any] | None:
    """Accuracy, distance, non-specificity and E of each model in each subgroup and each true class."""
    kinds = [name for name, values in assay.subgroups.items() if 1 < len(np.unique(values)) <= MOST_PARTS]
    if assay.n_classes <= MOST_PARTS:
        kinds.append("class")
    tables = []
    distance = assay.settings.distance_metric
    for by in kinds:
        cells: dict[str, dict[str, dict[str, Any]]] = {}
        for row in assay.subset_rows(by, ranking=False):
            known = row["metric"] in ("accuracy", distance, "nonspecificity", "unified")
            if not known or row["model"] not in assay.model_names:
                continue
            mine = cells.setdefault(row["subset"], {}).setdefault(row["model"], {"n": row["n"], "unified": []})
            interval = [float(f"{row[end]:.6g}") for end in ("estimate", "low", "high")]  # more than is shown
            if row["metric"] == "unified":
                mine["unified"].append([row["tradeoff"], *interval])
            else:
                mine["distance" if row["metric"] == distance else row["metric"]] = interval
        parts = [{"part": part, "models": models} for part, models in cells.items()]
        if len(parts) > 1:
            tables.append({"by": by, "parts": parts})
    return {"tables": tables} if tables else None


LENSES = (
    Lens("mistakes", "Does it know when it is wrong?", mistakes),
    Lens("calibration", "Is its confidence calibrated?", calibration),
    Lens("parts", "Does the choice hold in every part of the test set?", _parts),
)
