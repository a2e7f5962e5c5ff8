"""Whether sets with their spread scaled leave the label: coverage against non-specificity, model by model."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.credal.undominated import CLASS_RULES, admissible_in_hull
from uqassay.evidence.chosen_columns import one_run
from uqassay.evidence.findings import estimate_fields
from uqassay.measures.class_sets import not_ruled_out
from uqassay.metrics.sets.class_set_scores import share_covered
from uqassay.predictions import ClassSets, Members, Prediction, Vertices, not_negative
from uqassay.statistics import Estimate, mean_estimate, proportion_estimate

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "COVERAGE_CURVE_COLUMNS",
    "COVERED_ROWS",
    "can_be_covered",
    "coverage_curve_rows",
    "labels_covered",
    "scaled_coverage",
]

Floats = NDArray[np.float64]

COVERED_ROWS = 1000  # instances of a model of which scaled sets are judged
MOST_CLASSES = 16  # more take too long, except with one label for each instance and sets of points
MOST_CLASSES_OF_POINTS = 100
RULE = CLASS_RULES[2]  # clipping at 0 makes ties, in which the other rules leave many improbable classes
COVERAGE_CURVE_COLUMNS = ("model", "scale", "metric", "estimate", "low", "high", "level", "n", "method", "notes")


def can_be_covered(y: NDArray[Any], prediction: Prediction) -> bool:
    """Whether the coverage of scaled sets takes a short time; class sets leave the same classes at every scale above 0."""
    if isinstance(prediction, ClassSets):
        return False
    fast = y.ndim == 1 and isinstance(prediction.credal(), Members | Vertices)
    return prediction.n_classes <= (MOST_CLASSES_OF_POINTS if fast else MOST_CLASSES)


def labels_covered(y: NDArray[Any], prediction: Prediction) -> Floats:
    """Whether E-admissibility leaves each label, ``(n,)``; of label distributions, the share that it leaves.

    Examples
    --------
    >>> import uqassay as uq
    >>> three = uq.Members([[[0.6, 0.1, 0.3], [0.1, 0.6, 0.3]]] * 2)
    >>> labels_covered(np.array([1, 2]), three).tolist(), labels_covered(np.array([[0.5, 0, 0.5]] * 2), three).tolist()
    ([1.0, 0.0], [0.5, 0.5])
    """
    credal = prediction.credal()
    if y.ndim == 1 and isinstance(credal, Members | Vertices):
        return admissible_in_hull(not_negative(credal.hull_points()), y).astype(np.float64)
    return share_covered(y, not_ruled_out(prediction, rule=RULE))


def scaled_coverage(assay: "Assay", model: str) -> list[tuple[float, Estimate, Estimate]]:
    """Each scale with the coverage and the mean non-specificity of the scaled sets; none where they were not judged.

    Both rest on the same instances, at most `COVERED_ROWS` of a random part.
    """
    scaled = assay.scaled[model]
    if not scaled.covered.size:
        return []
    rows = scaled.rows[scaled.judged]
    options: dict[str, Any] = {
        "groups": None if assay.groups is None else assay.groups[rows],
        "level": assay.settings.level,
    }
    sizes = scaled.nonspecificity[:, :, scaled.judged]

    def found() -> list[tuple[float, Estimate, Estimate]]:
        return [
            (
                scale,
                proportion_estimate(one_run(scaled.covered[:, s]), **options),
                mean_estimate(one_run(sizes[:, s]), **options),
            )
            for s, scale in enumerate(scaled.scales.tolist())
        ]

    return assay.shared.once(("scaled-coverage", model), found)


def coverage_curve_rows(assay: "Assay") -> list[dict[str, Any]]:
    """Two rows for each model with sets and each scale: coverage and mean non-specificity."""
    return [
        {"model": model, "scale": scale, "metric": metric, "estimate": float(estimate), **estimate_fields(estimate)}
        for model in assay.scaled
        for scale, *both in scaled_coverage(assay, model)
        for metric, estimate in zip(("coverage", "nonspecificity"), both, strict=True)
    ]
