"""Which uncertainty scores an assay holds: those the models offer, and those that come from elsewhere."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.evidence.alignment import Aligned
from uqassay.measures.scores import SCORES, score_names
from uqassay.metrics.ood.detection import OOD_METRICS
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.predictions.pandas_input import positions, take_index
from uqassay.statistics.samples import refuse_masked

__all__ = ["given_scores", "score_list"]

Array = NDArray[np.float64]
TAKEN = {
    *("distance", "nonspecificity", "correct", "confidence", "label", "log-loss", "brier", "gap", "upper-label"),
    *(
        "model",
        "run",
        "instance",
        "y_true",
        "accuracy",
        "ece",
        "ece-classwise",
        "unified",
        "kl",
        "js",
        "js-distance",
        "tv",
        "hellinger",
    ),
    *("brier-distance", "calibration-pvalue", *SCORES, *RANKING_METRICS, *OOD_METRICS),
}


def given_scores(
    uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None, aligned: Aligned
) -> dict[str, dict[str, Array]]:
    """Check scores from elsewhere: by model and name, ``(R, n)`` each."""
    if uncertainties is not None and not isinstance(uncertainties, Mapping):
        raise InputError(
            "uncertainties",
            "must be a dict from models to dicts of scores",
            f"got {type(uncertainties).__name__}",
            'write {"model": {"density": values}}',
            code="type",
        )
    found: dict[str, dict[str, Array]] = {}
    for model, scores in (uncertainties or {}).items():
        if model not in aligned.models:
            raise InputError(
                "uncertainties",
                f"must name models among {', '.join(aligned.models)}",
                f"got {model!r}",
                "use one of these names",
                code="undefined",
            )
        if not isinstance(scores, Mapping):
            raise InputError(
                "uncertainties",
                f"{model!r} needs a dict of scores by name",
                f"got {type(scores).__name__}",
                'write {"model": {"density": values}}',
                code="missing",
            )
        runs, n = len(aligned.models[model]), len(aligned.labels)
        found[model] = {
            str(name): _checked(values, model, str(name), runs, n, aligned) for name, values in scores.items()
        }
    return found


def score_list(
    measures: Sequence[str] | None, aligned: Aligned, given: Mapping[str, Mapping[str, Array]]
) -> tuple[str, ...]:
    """Names of all scores of an assay; the non-specificity is a column of its own and not repeated."""
    if measures is None:
        offered = {name for runs in aligned.models.values() for name in score_names(runs[0])}
        measures = [name for name in SCORES if name in offered]
    others = dict.fromkeys(name for scores in given.values() for name in scores)
    return tuple(name for name in dict.fromkeys([*measures, *others]) if name != "nonspecificity")


def _checked(values: ArrayLike, model: str, name: str, runs: int, n: int, aligned: Aligned) -> Array:
    if name in TAKEN or not name.strip():
        raise InputError(
            "uncertainties",
            f"{name!r} is the name of something that uqassay computes, or none",
            "",
            "rename it",
            code="undefined",
        )
    what = f"uncertainties: {name!r} of {model!r}"
    refuse_masked(values, what)
    taken, index = take_index(values)
    try:
        array = np.asarray(taken)
    except ValueError as error:
        raise InputError(
            f"{what} must be a regular array; its rows differ in length; give each as many values."
        ) from error
    if array.dtype.kind not in "biuf":
        raise InputError(f"{what} must hold numbers; got dtype {array.dtype}; convert it to float first.")
    if array.ndim == 1 and runs == 1:
        array = array[np.newaxis]
    if array.shape != (runs, n):
        shape = f"({n},)" if runs == 1 else f"({runs}, {n})"
        raise InputError(
            f"{what} needs one value for each instance and run, shape {shape}; got {np.shape(values)}; align it."
        )
    undefined = np.isnan(array)
    if undefined.any():
        row = int(np.argwhere(undefined)[0][1])
        raise InputError(
            f"{what} must not hold nan; {int(undefined.sum())} of {array.size} values are nan, the first at row {row}; "
            "give such instances a value."
        )
    if index is not None and aligned.ids is not None:
        array = array[:, positions(index, aligned.ids, f"{what}: the index entries")]
    return array.astype(np.float64)
