"""Bring models and labels to the same instances: names, training runs, classes, indices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_labels
from uqassay.errors import InputError
from uqassay.predictions import Masses, Members, Prediction
from uqassay.predictions.drawn import Drawn

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
    for name, runs in models.items():
        for run in runs:
            _check_same(run, name, first, first_name)
    ids = next((r.ids for runs in models.values() for r in runs if r.ids is not None), None)
    models = {name: tuple(_in_order(run, ids, name) for run in runs) for name, runs in models.items()}
    if repair:
        models = {n: tuple(r.repaired() if isinstance(r, Masses) else r for r in runs) for n, runs in models.items()}
    if common_members is not None:
        models = {n: tuple(_with_members(r, common_members, seed, n) for r in runs) for n, runs in models.items()}
    given = next((r.class_names for runs in models.values() for r in runs if r.class_names is not None), None)
    names = given or tuple(str(c) for c in range(first.n_classes))
    labels = as_labels(_label_values(y_true, ids, names), first.n_classes, n_instances=first.n_instances)
    return Aligned(models, labels, names, ids, _groups(groups, models, ids, first.n_instances))


def _named(predictions: Any) -> Mapping[str, Any]:
    if not isinstance(predictions, Mapping):
        raise InputError(
            f"predictions: must map names to predictions; got {type(predictions).__name__}; "
            'write {"my model": prediction}.'
        )
    if not predictions:
        raise InputError("predictions: needs at least one model; got none; write {name: prediction}.")
    for name in predictions:
        if str(name) in BASELINES or not str(name).strip():
            raise InputError(
                f"predictions: {str(name)!r} is not a name for a model ({' and '.join(BASELINES)} are the baselines of "
                "every ranking); rename it."
            )
    return predictions


def _runs(name: str, value: Any) -> tuple[Prediction, ...]:
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, Prediction) for v in value):
        kinds = {type(v).__name__ for v in value}
        if len(kinds) > 1:
            raise InputError(
                f"predictions: the runs of {name!r} must be of one kind; got {', '.join(sorted(kinds))}; "
                "name different models differently."
            )
        return tuple(value)
    if isinstance(value, Prediction):
        return (value,)
    from uqassay.predictions.adapters import from_object

    return (from_object(value),)


def _check_same(run: Prediction, name: str, first: Prediction, first_name: str) -> None:
    if run.n_classes != first.n_classes:
        raise InputError(
            f"predictions: all models need the same classes; {first_name!r} has K = {first.n_classes}, {name!r} has "
            f"K = {run.n_classes}; check the files."
        )
    if run.n_instances != first.n_instances:
        raise InputError(
            f"predictions: all models need the same instances; {first_name!r} has {first.n_instances}, {name!r} has "
            f"{run.n_instances}; check the files, or select the common rows."
        )
    if run.class_names and first.class_names and run.class_names != first.class_names:
        raise InputError(
            f"predictions: all models need the same class names in the same order; {first_name!r} starts with "
            f"{list(first.class_names[:3])}, {name!r} with {list(run.class_names[:3])}; reorder the columns."
        )


def _in_order(run: Prediction, ids: NDArray[Any] | None, name: str) -> Prediction:
    if ids is None or run.ids is None or np.array_equal(run.ids, ids):
        return run
    return run[_positions(run.ids, ids, f"predictions: the ids of {name!r}")]


def _positions(index: Any, ids: NDArray[Any], what: str) -> NDArray[np.int64]:
    """Where each id stands in an index."""
    place = {value: i for i, value in enumerate(np.asarray(index).tolist())}
    missing = [value for value in ids.tolist() if value not in place]
    if missing or len(place) < len(index):
        found = f"{len(missing)} are missing, {missing[0]!r} first" if missing else "some occur twice"
        raise InputError(f"{what} do not match those of the other inputs: {found}; select the common rows first.")
    return np.array([place[value] for value in ids.tolist()], dtype=np.int64)


def _label_values(y_true: Any, ids: NDArray[Any] | None, names: tuple[str, ...]) -> Any:
    values = y_true.to_numpy() if hasattr(y_true, "to_numpy") else y_true
    if ids is not None and hasattr(y_true, "index") and hasattr(y_true, "to_numpy"):
        if len(y_true.index) == len(ids) and list(y_true.index) == list(range(len(ids))):
            pass  # a plain counting index says nothing about identity
        else:
            values = values[_positions(y_true.index, ids, "y_true: its index entries")]
    array = np.asarray(values)
    if array.ndim == 1 and array.dtype.kind in "USO":
        code = {name: c for c, name in enumerate(names)}
        unknown = [str(v) for v in array.tolist() if str(v) not in code]
        if unknown:
            raise InputError(
                f"y_true: labels given as text must be class names; {unknown[0]!r} is not among {list(names[:5])}…; "
                "pass class_names with the predictions, or integer labels."
            )
        return np.array([code[str(v)] for v in array.tolist()])
    return array if isinstance(y_true, (list, tuple)) else values


def _groups(
    groups: Any, models: Mapping[str, Sequence[Prediction]], ids: NDArray[Any] | None, n: int
) -> NDArray[Any] | None:
    if groups is None:
        return next((r.groups for runs in models.values() for r in runs if r.groups is not None), None)
    if ids is not None and hasattr(groups, "index") and hasattr(groups, "to_numpy"):
        groups = groups.to_numpy()[_positions(groups.index, ids, "groups: its index entries")]
    array = np.asarray(groups)
    if array.shape != (n,):
        raise InputError(
            f"groups: needs one value for each of the {n} instances; got shape {array.shape}; align them first."
        )
    return array


def _with_members(run: Prediction, n_members: int, seed: int, name: str) -> Prediction:
    """The same statement spanned by a given number of members or draws; sets that are not sampled stay as they are."""
    if isinstance(run, Members):
        if run.n_members < n_members:
            raise InputError(
                f"common_members: {name!r} has only {run.n_members} members; got {n_members}; ask for no more."
            )
        return run.subset(n_members, seed) if run.n_members > n_members else run
    if isinstance(run, Drawn):
        return replace(run, n_draws=n_members, drawn=None)
    return run
