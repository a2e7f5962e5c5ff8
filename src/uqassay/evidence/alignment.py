"""Bring models and labels to the same instances: names, training runs, classes, order of rows and columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_array
from uqassay.errors import InputError
from uqassay.predictions import GaussianLogits, Masses, Members, Prediction, as_prediction_here_and_there
from uqassay.predictions.adapters import is_listed_sample
from uqassay.predictions.drawn import Drawn, check_draws
from uqassay.predictions.labels import labels_for, vote_totals
from uqassay.predictions.metadata import checked_class_names, per_instance
from uqassay.predictions.pandas_input import positions, take_index
from uqassay.wording import listed

__all__ = ["BASELINES", "Aligned", "align", "align_models", "align_values", "as_runs", "first_difference", "spanned_by"]

BASELINES = ("vacuous", "class-prior")

Runs = dict[str, tuple[Prediction, ...]]


@dataclass(frozen=True, eq=False)
class Aligned:
    """Models on the same n instances. The models may be views of the caller's arrays; everything else is a copy.

    Attributes
    ----------
    models : dict of str to tuple of Prediction
        The training runs of each model, rows and columns in the same order.
    labels : int array (n,), or array (n, K)
        Labels or label distributions; (n, 0) where none were asked for.
    vote_totals : array (n,) or None
        As the function of that name.
    class_names : tuple of str, length K
        The names given, else "0", "1", …
    named : bool
        Whether names were given.
    ids, groups : array (n,) or None
    order_of : str
        The model whose names order the classes, where its order is assumed for models without names; else empty.
    unnamed : tuple of str
        Those models without names.
    """

    models: Runs
    labels: NDArray[Any]
    class_names: tuple[str, ...]
    named: bool
    ids: NDArray[Any] | None
    groups: NDArray[Any] | None
    order_of: str = ""
    unnamed: tuple[str, ...] = ()
    vote_totals: NDArray[np.float64] | None = None

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return next(iter(self.models.values()))[0].n_instances


def align(
    predictions: Mapping[str, Any],
    y_true: Any,
    *,
    groups: Any = None,
    class_names: Sequence[str] | None = None,
    repair: bool = False,
    common_members: int | None = None,
    seed: int = 0,
) -> Aligned:
    """Check models and labels, and put their rows into one order.

    Parameters
    ----------
    predictions : dict of str to Prediction or array, or to a list of them
    y_true : int array (n,), array of names (n,), or array (n, K)
    groups : array (n,), optional
        By default those that a prediction carries.
    class_names : sequence of str, optional
        Names of the classes in the order that the result shall have.
    repair : bool
        Repair masses of beliefs that are not belief functions.
    common_members : int, optional
        Number of members or draws that span every set that is sampled.
    seed : int
        Of the choice of those members.
    """
    found = align_models(predictions, groups=groups, class_names=class_names, order_of=y_true)
    labels = labels_for(
        y_true,
        n_instances=found.n_instances,
        n_classes=len(found.class_names),
        ids=found.ids,
        class_names=found.class_names if found.named else None,
        n_members=next((r.n_members for runs in found.models.values() for r in runs if isinstance(r, Members)), None),
    )
    models = found.models
    if repair:
        models = {n: tuple(r.repaired() if isinstance(r, Masses) else r for r in runs) for n, runs in models.items()}
    if common_members is not None:
        check_draws(common_members, "common_members")
        models = {n: tuple(_common(r, common_members, seed, n) for r in runs) for n, runs in models.items()}
    # the labels are indices from here on, also where the names of the classes are whole numbers
    models = {n: tuple(run.without_class_names() for run in runs) for n, runs in models.items()}
    return replace(found, models=models, labels=np.array(labels), vote_totals=vote_totals(y_true, ids=found.ids))


def align_models(
    predictions: Mapping[str, Any],
    *,
    groups: Any = None,
    class_names: Sequence[str] | None = None,
    order_of_classes: Sequence[str] | None = None,
    order_of: Any = None,
    argument: str = "predictions",
) -> Aligned:
    """Check models without labels, and put their rows and columns into one order.

    Parameters
    ----------
    predictions, groups, class_names
        As in `align`.
    order_of_classes : sequence of str, optional
        Order in which to put the classes of predictions that carry these names; others keep theirs.
    order_of : Series or DataFrame, optional
        Another input whose index must not differ from the ids where only some models have ids.
    argument : str
        The argument that errors are about.
    """
    models = as_runs(predictions, argument)
    every = [(_place(argument, name, r, runs), run) for name, runs in models.items() for r, run in enumerate(runs)]
    first_name = next(f"{name}, run 1," if len(runs) > 1 else name for name, runs in models.items())
    first = every[0][1]
    for place, run in every[1:]:
        _check_same_size(run, place, first, first_name)
    names = _names(class_names, every, first.n_classes)
    if class_names is None and names and set(names) == set(order_of_classes or ()):
        names = tuple(order_of_classes or ())
    named = [name for name, runs in models.items() if any(run.class_names is not None for run in runs)]
    unnamed = [name for name, runs in models.items() if any(run.class_names is None for run in runs)]
    assumed = class_names is None and bool(named) and bool(unnamed)
    ids = next((run.ids for _, run in every if run.ids is not None), None)
    if ids is not None and any(run.ids is None for _, run in every):
        _check_no_order(every, ids, order_of)
    models = {
        name: tuple(_in_order(run, ids, names, _place(argument, name, r, runs)) for r, run in enumerate(runs))
        for name, runs in models.items()
    }
    carried = next((run.groups for runs in models.values() for run in runs if run.groups is not None), None)
    units = carried if groups is None else align_values(groups, first.n_instances, ids, "groups")
    return Aligned(
        models=models,
        labels=np.empty((first.n_instances, 0)),
        class_names=names if names is not None else tuple(str(c) for c in range(first.n_classes)),
        named=names is not None,
        ids=None if ids is None else np.array(ids),
        groups=None if units is None else np.array(_comparable(units)),
        order_of=named[0] if assumed else "",
        unnamed=tuple(unnamed) if assumed else (),
    )


def align_values(values: Any, n: int, ids: NDArray[Any] | None, parameter: str) -> NDArray[Any]:
    """One value for each instance, ``(n,)``, in the order of the ids."""
    taken, index = take_index(values, parameter)
    array = as_array(taken, parameter)
    if array.shape != (n,):
        raise InputError(
            parameter,
            f"needs one value for each of the {n} instances",
            f"got shape {array.shape}",
            "pass an array of one value per instance, in the order of the predictions",
            code="mismatch",
        )
    return array if index is None or ids is None else array[positions(index, ids, parameter)]


def spanned_by(run: Prediction, n_points: int, seed: int) -> Prediction:
    """The same statement spanned by a given number of members or draws; sets that are not sampled stay as they are."""
    if isinstance(run, Members):
        return run.subset(n_points, seed) if run.n_members > n_points else run
    if isinstance(run, GaussianLogits) and run.has_shared_points:
        return run.subset(n_points, seed) if run.n_passes > n_points else run
    if isinstance(run, Drawn):
        return replace(run, n_draws=n_points, drawn=None)
    return run


# -- names and runs -----------------------------------------------------------------------------------------------------


def as_runs(predictions: Any, argument: str = "predictions") -> Runs:
    """The training runs of every model by name, converted to predictions."""
    if not isinstance(predictions, Mapping):
        raise InputError(
            argument,
            "must map names to predictions",
            f"got {type(predictions).__name__}",
            'write {"my model": prediction}',
            code="type",
        )
    if not predictions:
        raise InputError(argument, "needs at least one model", "got none", "write {name: prediction}", code="empty")
    if len({str(name) for name in predictions}) < len(predictions):
        raise InputError(
            argument,
            "names of models must differ from each other as text",
            f"got {listed([repr(name) for name in predictions], most=8)}",
            "rename one",
            code="duplicate",
        )
    for name in map(str, predictions):
        rule = ""
        if name in BASELINES or not name.strip():
            reserved = listed([*BASELINES, "nothing"], last="or")
            rule = f"a model cannot be named {reserved}: the first two are the baselines of every ranking"
        elif len(name.splitlines()) > 1:
            rule = "the name of a model must be one line of text"
        if rule:
            raise InputError(argument, rule, f"got {name!r}", "rename it", code="choice")
    return {str(name): _runs(str(name), value, argument) for name, value in predictions.items()}


def _runs(name: str, value: Any, argument: str) -> tuple[Prediction, ...]:
    """The training runs of one model: each entry of a list of predictions or arrays, else the one thing given."""
    values = _listed_runs(name, value, argument)
    runs = tuple(as_prediction_here_and_there(one, _place(argument, name, r, values)) for r, one in enumerate(values))
    spanned = "GaussianLogits spanned by {}".format
    kinds = {spanned(r.spanned_by) if isinstance(r, GaussianLogits) else type(r).__name__ for r in runs}
    if len(kinds) > 1:
        raise InputError(
            _place(argument, name),
            "the runs of a model must be of one kind",
            f"got {', '.join(sorted(kinds))}",
            "name different models differently",
            code="type",
        )
    return runs


def _listed_runs(name: str, value: Any, argument: str) -> list[Any]:
    if not isinstance(value, (list, tuple)) or is_listed_sample(value):
        return [value]
    if any(isinstance(v, Prediction) or len(getattr(v, "shape", ())) > 1 for v in value):
        return list(value)
    if any(isinstance(v, (list, tuple)) and any(isinstance(row, (list, tuple)) for row in v) for v in value):
        raise InputError(
            _place(argument, name),
            "nested lists with three axes could hold training runs or members",
            "",
            "write a list of arrays (n, K) for runs, or one array (n, M, K) for members",
            code="shape",
        )
    return [value]


def _place(argument: str, name: str, run: int = 0, runs: Sequence[Any] = ()) -> str:
    """How errors name a model, and one of several runs of it."""
    owner = "models" if argument == "predictions" else argument
    return f"{owner}[{name!r}]{f'[{run}]' if len(runs) > 1 else ''}"


# -- classes and rows ---------------------------------------------------------------------------------------------------


def _check_same_size(run: Prediction, place: str, first: Prediction, first_name: str) -> None:
    if run.n_classes != first.n_classes:
        raise InputError(
            place,
            "all models need the same classes",
            f"K = {run.n_classes}, and {first_name} has K = {first.n_classes}",
            "check the files",
            code="mismatch",
        )
    if run.n_instances != first.n_instances:
        members_first = {run.n_instances, first.n_instances} & {getattr(r, "n_members", 0) for r in (run, first)}
        raise InputError(
            place,
            "all models need the same instances",
            f"{run.n_instances} instances, and {first_name} has {first.n_instances}",
            "pass Members(probs, member_axis=0) for a model whose members are on the first axis"
            if members_first
            else "check the files, or select the common rows",
            code="member-axis" if members_first else "mismatch",
        )


def _names(given: Any, every: Sequence[tuple[str, Prediction]], n_classes: int) -> tuple[str, ...] | None:
    """Names of the classes in the order of the result: those given, else those of the first model that carries some."""
    if given is None:
        names = next((run.class_names for _, run in every if run.class_names is not None), None)
        others = "in the first model that has names"
    else:
        names = checked_class_names(given, n_classes)
        others = "among the class names given"
    for place, run in every:
        if names is not None and run.class_names is not None and set(run.class_names) != set(names):
            raise InputError(
                f"{place}.class_names",
                "all models need the same class names",
                first_difference(run.class_names, "here", names, others),
                "rename the classes",
                code="mismatch",
            )
    return names


def first_difference(own: Sequence[str], here: str, others: Sequence[str], there: str) -> str:
    """Where two lists of names first differ: the first name that only one of them has, else the first one at another place.

    Examples
    --------
    >>> first_difference(["a", "b", "z"], "here", ["a", "b", "c"], "in model DE")
    "'z', number 3 here, is not in model DE"
    >>> first_difference(["a", "b"], "here", ["b", "a"], "in model DE")
    "number 1 is 'a' here, 'b' in model DE"
    """
    for names, where, rest, elsewhere in ((own, here, others, there), (others, there, own, here)):
        for i, name in enumerate(names):
            if name not in rest:
                return f"{name!r}, number {i + 1} {where}, is not {elsewhere}"
    i = next(i for i, (a, b) in enumerate(zip(own, others, strict=True)) if a != b)
    return f"number {i + 1} is {own[i]!r} {here}, {others[i]!r} {there}"


def _in_order(run: Prediction, ids: NDArray[Any] | None, names: tuple[str, ...] | None, place: str) -> Prediction:
    """The rows in the order of the ids, the columns in that of the names."""
    if names is not None and run.class_names is not None and run.class_names != names:
        run = _columns_in_order(run, names)
    if ids is None or run.ids is None or np.array_equal(run.ids, ids):
        return run
    return run[positions(run.ids, ids, place, part="ids")]


def _columns_in_order(run: Prediction, names: tuple[str, ...]) -> Prediction:
    """The same statement with its classes in another order."""
    own = run.class_names or ()
    order = [own.index(name) for name in names]
    if isinstance(run, Masses):
        return replace(run, focal_sets=run.focal_sets[:, order], class_names=names)
    held = [*run.array_names(), *(["drawn"] if isinstance(run, Drawn) and run.drawn is not None else [])]
    moved = {
        name: getattr(run, name)[..., order]
        for name in held
        if name not in ("weights", "log_partition") and getattr(run, name).shape[-1] == run.n_classes
    }
    return replace(run, class_names=names, **moved)


def _check_no_order(every: Sequence[tuple[str, Prediction]], ids: NDArray[Any], other: Any) -> None:
    """Refuse ids of some models only where they would move rows: the others' order would be a guess."""
    index = take_index(other)[1]
    moved = [run.ids for _, run in every if run.ids is not None] + ([] if index is None else [index])
    if any(not np.array_equal(found, ids) for found in moved):
        place = next(place for place, run in every if run.ids is None)
        raise InputError(
            f"{place}.ids",
            "are needed where the ids of others differ in their order",
            "got none, so the order of its rows is unknown",
            "give ids to all models, or to none",
            code="missing",
        )


def _comparable(groups: NDArray[Any]) -> NDArray[Any]:
    """Groups that can be sorted, none of them missing: a missing one would become a group."""
    array = per_instance(groups, "groups", len(groups))
    if array.dtype.kind != "O":
        return array
    values = array.tolist()
    if all(isinstance(value, str) for value in values):
        return array.astype(np.str_)
    number = {value: i for i, value in enumerate(dict.fromkeys(values))}  # mixed values are numbered as they come
    return np.array([number[value] for value in values])


def _common(run: Prediction, n_points: int, seed: int, name: str) -> Prediction:
    found, what = n_points, ""
    if isinstance(run, Members):
        found, what = run.n_members, "members"
    elif isinstance(run, Drawn) and run.has_shared_points:
        found, what = run.n_points, run.spanned_by
    if found < n_points:
        raise InputError(
            "common_members",
            "cannot be more than any model has",
            f"got {n_points}, and {name!r} has {found} {what}",
            "ask for no more",
            code="range",
            facts={"model": name, "members": found},
        )
    return spanned_by(run, n_points, seed)
