"""Which uncertainty scores an assay holds: those that the models offer, and those given with the predictions."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_array
from uqassay.errors import InputError
from uqassay.evidence.alignment import Aligned, rows_of_index
from uqassay.measures.scores import SCORES, score_names
from uqassay.metrics.ood.detection import OOD_METRICS
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.predictions.pandas_input import take_index

__all__ = ["given_scores", "score_list"]

Array = NDArray[np.float64]
COLUMNS = ("distance", "nonspecificity", "correct", "confidence", "label", "log-loss", "brier", "gap", "upper-label")
METRICS = (
    "accuracy",
    "ece",
    "ece-classwise",
    "rms-calibration-error",
    "unified",
    "kl",
    "js",
    "js-distance",
    "tv",
    "hellinger",
    "brier-distance",
)
TAKEN = {
    *COLUMNS,
    *METRICS,
    "model",
    "run",
    "instance",
    "y_true",
    "calibration-pvalue",
    *SCORES,
    *RANKING_METRICS,
    *OOD_METRICS,
}  # names of columns and metrics that an assay has


def given_scores(
    uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None, aligned: Aligned
) -> dict[str, dict[str, Array]]:
    """Check the scores given: by model and name, ``(R, n)`` each."""
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
                code="choice",
            )
        if not isinstance(scores, Mapping):
            raise InputError(
                f"uncertainties[{model!r}]",
                "must be a dict of scores by name",
                f"got {type(scores).__name__}",
                'write {"model": {"density": values}}',
                code="type",
            )
        runs, n = len(aligned.models[model]), aligned.n_instances
        found[model] = {
            str(name): _checked(values, model, str(name), runs, n, aligned) for name, values in scores.items()
        }
    return found


def score_list(
    measures: Sequence[str] | None, aligned: Aligned, given: Mapping[str, Mapping[str, Array]]
) -> tuple[str, ...]:
    """Names of all scores of an assay; the non-specificity has its column anyway and is not repeated."""
    if measures is None:
        offered = {name for runs in aligned.models.values() for name in score_names(runs[0])}
        measures = [name for name in SCORES if name in offered]
    others = dict.fromkeys(name for scores in given.values() for name in scores)
    return tuple(name for name in dict.fromkeys([*measures, *others]) if name != "nonspecificity")


def _checked(values: ArrayLike, model: str, name: str, runs: int, n: int, aligned: Aligned) -> Array:
    if name in TAKEN or not name.strip():
        raise InputError(
            f"uncertainties[{model!r}]",
            "names must not be empty, nor those of scores and metrics that uqassay computes",
            f"got {name!r}",
            "rename it",
            code="choice",
        )
    parameter = f"uncertainties[{model!r}][{name!r}]"
    taken, index = take_index(values, parameter, axis=-1)
    array = as_array(taken, parameter)
    if array.dtype.kind not in "biuf":
        raise InputError(
            parameter, "must hold numbers", f"got dtype {array.dtype}", "convert it to float first", code="type"
        )
    if array.ndim == 1 and runs == 1:
        array = array[np.newaxis]
    if array.shape != (runs, n):
        shape = f"({n},)" if runs == 1 else f"({runs}, {n})"
        raise InputError(
            parameter,
            f"needs one value for each instance and run, shape {shape}",
            f"got shape {np.shape(taken)}",
            "align it",
            code="shape",
        )
    undefined = np.isnan(array)
    if undefined.any():
        row = int(np.argwhere(undefined)[0][1])
        raise InputError(
            parameter,
            "must not hold nan",
            f"{int(undefined.sum())} of {array.size} values are nan, the first at row {row}",
            "give such instances a value",
            code="finite",
            facts={"row": row},
        )
    rows = rows_of_index(index, aligned.known, parameter)
    array = array if rows is None else array[:, rows]
    return array.astype(np.float64)
