"""Bring models and labels to the same instances: names, training runs, classes, indices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.predictions import Masses, Members, Prediction
from uqassay.predictions.drawn import Drawn, check_draws
from uqassay.predictions.pandas_input import labels_for, positions, take_index

__all__ = ["BASELINES", "Aligned", "align"]

BASELINES = ("vacuous", "class-prior")


@dataclass(frozen=True, eq=False)
class Aligned:
    """Models on the same n instances.

    Attributes
    ----------
    models : dict of str to tuple of Prediction
        The training runs of each model, rows in the same order.
    labels : int array (n,) or array (n, K)
        Labels or label distributions.
    class_names : tuple of str, length K
    ids, groups : array (n,) or None
    """

    models: dict[str, tuple[Prediction, ...]]
    labels: NDArray[Any]
    class_names: tuple[str, ...]
    ids: NDArray[Any] | None
    groups: NDArray[Any] | None


def align(
    predictions: Mapping[str, Any], y_true: Any, *, groups: Any, repair: bool, common_members: int | None, seed: int
) -> Aligned:
    """Check what `assay` was given and put every model's rows into one order."""
    models = {str(name): _runs(str(name), value) for name, value in _named(predictions).items()}
    first_name, first = next((name, runs[0]) for name, runs in models.items())
    every = [(name, run) for name, runs in models.items() for run in runs]
    given = next((run.class_names for _, run in every if run.class_names is not None), None)
    for name, run in every:
        _check_same(run, name, first, first_name, given)
    ids = next((run.ids for _, run in every if run.ids is not None), None)
    names = given or tuple(str(c) for c in range(first.n_classes))
    labels = labels_for(y_true, n_instances=first.n_instances, n_classes=first.n_classes, ids=ids, class_names=names)
    if ids is not None and any(run.ids is None for _, run in every):
        _check_no_order(every, ids, y_true)
    models = {name: tuple(_in_order(run, ids, name) for run in runs) for name, runs in models.items()}
    if repair:
        models = {n: tuple(r.repaired() if isinstance(r, Masses) else r for r in runs) for n, runs in models.items()}
    if common_members is not None:
        check_draws(common_members, "common_members")
        models = {n: tuple(_with_members(r, common_members, seed, n) for r in runs) for n, runs in models.items()}
    return Aligned(models, labels, names, ids, _groups(groups, models, ids, first.n_instances))


def _named(predictions: Any) -> Mapping[str, Any]:
    if not isinstance(predictions, Mapping):
        raise InputError(
            "predictions",
            "must map names to predictions",
            f"got {type(predictions).__name__}",
            'write {"my model": prediction}',
            code="undefined",
        )
    if not predictions:
        raise InputError(
            "predictions", "needs at least one model", "got none", "write {name: prediction}", code="empty"
        )
    if len({str(name) for name in predictions}) < len(predictions):
        raise InputError(
            "predictions",
            "names must differ from each other as text",
            "got 1 and '1', for instance",
            "rename one",
            code="mismatch",
        )
    for name in predictions:
        if str(name) in BASELINES or not str(name).strip():
            raise InputError(
                "predictions",
                f"{str(name)!r} is not a name for a model ({' and '.join(BASELINES)} are the "
                "baselines of every ranking)",
                "",
                "rename it",
                code="undefined",
            )
    return predictions


def _runs(name: str, value: Any) -> tuple[Prediction, ...]:
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, Prediction) for v in value):
        kinds = {type(v).__name__ for v in value}
        if len(kinds) > 1:
            raise InputError(
                "predictions",
                f"the runs of {name!r} must be of one kind",
                f"got {', '.join(sorted(kinds))}",
                "name different models differently",
                code="type",
            )
        return tuple(value)
    if isinstance(value, Prediction):
        return (value,)
    if isinstance(value, (list, tuple)) and any(isinstance(v, Prediction) or np.ndim(v) > 1 for v in value):
        raise InputError(
            "predictions",
            f"{name!r} is a list, which holds training runs",
            "",
            "wrap each of them, for example in uq.Point, or stack the members of one run into an array (n, M, K)",
            code="undefined",
        )
    from uqassay.predictions.adapters import from_object

    return (from_object(value),)


def _check_same(
    run: Prediction, name: str, first: Prediction, first_name: str, class_names: tuple[str, ...] | None
) -> None:
    if run.n_classes != first.n_classes:
        raise InputError(
            "predictions",
            "all models need the same classes",
            f"{first_name!r} has K = {first.n_classes}, {name!r} has K = {run.n_classes}",
            "check the files",
            code="undefined",
        )
    if run.n_instances != first.n_instances:
        raise InputError(
            "predictions",
            "all models need the same instances",
            f"{first_name!r} has {first.n_instances}, {name!r} has {run.n_instances}",
            "check the files, or select the common rows",
            code="undefined",
        )
    if run.class_names and class_names and run.class_names != class_names:
        raise InputError(
            "predictions",
            "all models need the same class names in the same order",
            f"{name!r} starts with {list(run.class_names[:3])}, another with {list(class_names[:3])}",
            "reorder the columns",
            code="mismatch",
        )


def _in_order(run: Prediction, ids: NDArray[Any] | None, name: str) -> Prediction:
    if ids is None or run.ids is None or np.array_equal(run.ids, ids):
        return run
    return run[positions(run.ids, ids, f"predictions: the ids of {name!r}")]


def _check_no_order(every: Sequence[tuple[str, Prediction]], ids: NDArray[Any], y_true: Any) -> None:
    """Refuse ids of some models only where they would move rows: the others' order would be a guess."""
    index = take_index(y_true)[1]
    moved = [run.ids for _, run in every if run.ids is not None] + ([] if index is None else [index])
    if any(not np.array_equal(other, ids) for other in moved):
        name = next(name for name, run in every if run.ids is None)
        raise InputError(
            "predictions",
            f"some models have ids in differing orders and {name!r} has none, so its order is unknown",
            "",
            "give ids to all models, or to none",
            code="choice",
        )


def _groups(
    groups: Any, models: Mapping[str, Sequence[Prediction]], ids: NDArray[Any] | None, n: int
) -> NDArray[Any] | None:
    if groups is None:
        return next((r.groups for runs in models.values() for r in runs if r.groups is not None), None)
    values, index = take_index(groups)
    array = np.asarray(values)
    if index is not None and ids is not None:
        array = array[positions(index, ids, "groups: its index entries")]
    if array.shape != (n,):
        raise InputError(
            "groups",
            f"needs one value for each of the {n} instances",
            f"got shape {array.shape}",
            "align them first",
            code="mismatch",
        )
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.tolist()):
        array = array.astype(np.str_)
    elif array.dtype.kind == "O":  # mixed values have no order: numbered as they come
        number = {value: i for i, value in enumerate(dict.fromkeys(array.tolist()))}
        array = np.array([number[value] for value in array.tolist()])
    return array


def _with_members(run: Prediction, n_members: int, seed: int, name: str) -> Prediction:
    """The same statement spanned by a given number of members or draws; sets that are not sampled stay as they are."""
    if isinstance(run, Members):
        if run.n_members < n_members:
            raise InputError(
                "common_members",
                f"{name!r} has only {run.n_members} members",
                f"got {n_members}",
                "ask for no more",
                code="undefined",
            )
        return run.subset(n_members, seed) if run.n_members > n_members else run
    if isinstance(run, Drawn):
        return replace(run, n_draws=n_members, drawn=None)
    return run
