"""Models and labels brought to the same instances: names, training runs, classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, as_array, as_numeric
from uqassay.checks import fail
from uqassay.credal.distances import DISTANCES
from uqassay.errors import InputError
from uqassay.frames import Frame, FromFile, as_frame, columns_of, rows_in_order, same_ids
from uqassay.losses import counts_of_votes
from uqassay.measures.registry import SCORES, score_names
from uqassay.metrics.ood import OOD_METRICS
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.predictions import Answers, GaussianLogits, Masses, Members, Prediction, as_prediction
from uqassay.predictions.adapters import is_one_prediction
from uqassay.predictions.answers import RIGHT, WRONG_OR_RIGHT
from uqassay.predictions.base import checked_class_names, numbered, per_instance
from uqassay.predictions.column_roles import class_numbers
from uqassay.predictions.keys import classes_in_order
from uqassay.predictions.labels import check_single_meaning, labels_for, single_votes_by_name, take_index, vote_totals
from uqassay.predictions.points import check_draws
from uqassay.predictions.rows import Known, check_moved, check_positions, in_rows_of, order_like, rows_of_file
from uqassay.predictions.second_order import Drawn
from uqassay.statistics.units import check_choice, scaled_weights
from uqassay.text import listed

__all__ = [
    "BASELINES",
    "Aligned",
    "align",
    "align_models",
    "align_values",
    "aligned_weights",
    "as_runs",
    "checked_labels",
    "first_difference",
    "given_scores",
    "in_order",
    "labels_in_order",
    "rows_of_index",
    "score_list",
    "spanned_by",
    "without_label",
]


# Bring models and labels to the same instances: names, training runs, classes, order of rows and columns.

BASELINES = ("vacuous", "class-prior")

Runs = dict[str, tuple[Prediction, ...]]


@dataclass(frozen=True, eq=False)
class Aligned:
    """Models on the same n instances. The models may be views of the caller's arrays; everything else is a copy."""

    models: Runs  #: The training runs of each model, rows and columns in the same order.
    labels: NDArray[Any]  #: (n,): Labels or label distributions; (n, 0) where none were asked for.
    class_names: tuple[str, ...]  #: The names given, else "0", "1", …
    named: bool  #: Whether names were given.
    #: ids, groups: (n,)
    ids: NDArray[Any] | None
    groups: NDArray[Any] | None
    class_order: str = "stated"  #: What the order of the class names rests on, a key of `labels.CLASS_ORDERS`.
    #: (n,): Columns that may identify the rows, in the order of the result.
    keys: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    #: The model whose rows were put into another order; values without ids have no place then. Empty if none was.
    moved: str = ""
    #: A model that stands by its position, because nothing that others have identifies its rows; nothing moves then.
    silent: str = ""
    vote_totals: NDArray[np.float64] | None = None  #: (n,): As the function of that name.
    weights: NDArray[np.float64] | None = None  #: (n,): Importance weights, not negative; None where all count alike.
    by_position: bool = False  #: Whether the labels are numbers that were taken by the order of named columns.
    ignored: int = 0  #: Number of instances that were left out by their label.
    weightless: int = 0  #: Number of instances that were left out because their weight is 0.
    of_answers: bool = False  #: Whether the models gave answers that are right or wrong, see `Answers`.

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return next(iter(self.models.values()))[0].n_instances

    @property
    def known(self) -> Known:
        """What identifies the rows."""
        return Known(self.ids, self.keys, "the predictions", self.moved, self.silent)

    def of_rows(self, rows: NDArray[np.intp]) -> "Aligned":
        """Some of the instances."""

        def some(values: NDArray[Any] | None) -> Any:
            return None if values is None else values[rows]

        return replace(
            self,
            models={name: tuple(run[rows] for run in runs) for name, runs in self.models.items()},
            labels=self.labels[rows],
            ids=some(self.ids),
            groups=some(self.groups),
            keys={name: values[rows] for name, values in self.keys.items()},
            vote_totals=some(self.vote_totals),
            weights=some(self.weights),
        )


def align(
    predictions: Mapping[str, Any],
    y_true: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    class_names: Sequence[str] | None = None,
    repair: bool = False,
    common_members: int | None = None,
    seed: int = 0,
    whole: bool = True,
    votes_are: str | None = None,
    earlier: Sequence[str] = (),
) -> Aligned:
    """Check models and labels, and put their rows into one order.

    Parameters
    ----------
    predictions : dict of str to Prediction or array, or to a list of them
    y_true : int array (n,), array of names (n,), or array (n, K)
    groups : array (n,), optional
        By default those that a prediction carries.
    sample_weight : array (n,), optional
        Importance weights.
    class_names : sequence of str, optional
        Names of the classes in the order that the result shall have.
    repair : bool
        Repair masses of beliefs that are not belief functions.
    common_members : int, optional
        Number of members or draws that span every set that is sampled.
    seed : int
        Of the choice of those members.
    votes_are : {"counts", "single"}, optional
        What a table of whole numbers holds, see `assay`.
    whole : bool
        Whether these are all instances, not a chunk of them.
    earlier : sequence of str
        Class names of earlier parts of the same stream, in their order.
    """
    found = align_models(predictions, groups=groups, class_names=class_names, earlier=earlier)
    if sample_weight is not None:
        found = replace(found, weights=aligned_weights(sample_weight, found.n_instances, found.known, whole=whole))
    if isinstance(next(iter(found.models.values()))[0], Answers):
        return _answered(found, y_true, class_names, earlier)
    if y_true is None:
        fail(
            "y_true",
            "must be given, because only Answers hold what happened",
            "it is None",
            "pass the labels",
            code="missing",
        )
    y_true, totals = labels_in_order(y_true, found, votes_are=votes_are)
    labels = _classes_of(y_true, found)
    models = found.models
    if repair:
        models = {n: tuple(r.repaired() if isinstance(r, Masses) else r for r in runs) for n, runs in models.items()}
    if common_members is not None:
        check_draws(common_members, "common_members")
        models = {n: tuple(_common(r, common_members, seed, n) for r in runs) for n, runs in models.items()}
    # the labels are indices from here on, also where the names of the classes are whole numbers
    models = {n: tuple(run.without_class_names() for run in runs) for n, runs in models.items()}
    numbers = (
        getattr(y_true, "class_names", None) is None and as_array(take_index(y_true)[0], "y_true").dtype.kind in "iuf"
    )
    named = found.class_order == "columns" and class_numbers(found.class_names, "columns") is None
    return replace(
        found,
        models=models,
        labels=np.array(labels),  # not the array of the caller
        vote_totals=totals,
        by_position=named and labels.ndim == 1 and numbers,
    )


def _answered(found: Aligned, y_true: Any, class_names: Sequence[str] | None, earlier: Sequence[str]) -> Aligned:
    """Answers in one order. Their labels are all "right", and what a model predicts is whether its answer is."""
    for name, value in (("y_true", y_true), ("class_names", class_names)):
        if value is not None:
            remedy = "leave it out; what was right is Answers(correct, …)"
            fail(name, "has no meaning for Answers", f"got {type(value).__name__}", remedy, code="conflict")
    labels = np.full(found.n_instances, RIGHT, dtype=np.int64)
    return replace(found, labels=labels, class_names=WRONG_OR_RIGHT, named=True, of_answers=True)


def align_models(
    predictions: Mapping[str, Any],
    *,
    groups: Any = None,
    class_names: Sequence[str] | None = None,
    order_of_classes: Sequence[str] | None = None,
    earlier: Sequence[str] = (),
    argument: str = "predictions",
) -> Aligned:
    """Check models without labels, and put their rows and columns into one order.

    Parameters
    ----------
    predictions, groups, class_names
        As in `align`.
    order_of_classes : sequence of str, optional
        Order in which to put the classes of predictions that carry these names; others keep theirs.
    earlier : sequence of str
        As in `align`.
    argument : str
        The argument that errors are about.
    """
    models = as_runs(predictions, argument)
    every = [(_place(argument, name, r, runs), run) for name, runs in models.items() for r, run in enumerate(runs)]
    first_name = next(f"{name}, run 1," if len(runs) > 1 else name for name, runs in models.items())
    first = every[0][1]
    for place, run in every[1:]:
        if isinstance(run, Answers) != isinstance(first, Answers):
            rule = "Answers cannot be compared with predictions of classes"
            got = f"got {type(run).__name__}, and {first_name} is {type(first).__name__}"
            remedy = "make Answers of all: whether the predicted class was right, and its probability"
            fail(place, rule, got, remedy, code="type")
        _check_same_size(run, place, first, first_name)
    names, order = _names(class_names, every, first.n_classes, earlier)
    if class_names is None and names and set(names) == set(order_of_classes or ()):
        names = tuple(order_of_classes or ())
    ordered, known = _in_one_order([(place, _classes_in_order(run, names, place)) for place, run in every])
    of_run = iter(ordered)
    carried = next((run for run in ordered if run.groups is not None), None)
    found = Aligned(
        models={name: tuple(next(of_run) for _ in runs) for name, runs in models.items()},
        labels=np.empty((first.n_instances, 0)),
        class_names=names if names is not None else tuple(str(c) for c in range(first.n_classes)),
        named=names is not None,
        ids=None if known.ids is None else np.array(known.ids),
        groups=None,
        class_order=order,
        keys=known.keys,
        moved=known.moved,
        silent=known.silent,
    )
    units = (
        (None if carried is None else carried.groups)
        if groups is None
        else align_values(groups, first.n_instances, found.known, "groups")
    )
    return replace(found, groups=None if units is None else np.array(_comparable(units)))


def aligned_weights(sample_weight: Any, n: int, known: Known, *, whole: bool = True) -> Floats:
    """Weights (n,) in the order of the models: finite, not negative, and not all 0; of a chunk if not of the `whole`."""
    values = align_values(sample_weight, n, known, "sample_weight")
    try:
        scaled_weights(values, n)  # refuses what is no weight
    except InputError as error:
        if error.code != "empty" or whole:
            raise
        raise error.replace(remedy="leave this chunk out") from error
    return np.array(values, dtype=np.float64)


class Kept(NamedTuple):
    """Arguments of an assay without the instances that have the label to ignore, and how many these are."""

    predictions: Any
    y_true: Any
    groups: Any
    sample_weight: Any
    subgroups: Any
    uncertainties: Any
    ignored: int


def without_label(
    label: Any,
    predictions: Mapping[str, Any],
    y_true: Any,
    *,
    class_names: Sequence[str] | None,
    groups: Any,
    sample_weight: Any = None,
    subgroups: Any = None,
    uncertainties: Any = None,
    first_row: int = 0,
) -> Kept:
    """Leave out the instances whose label is `label`, such as −1, from everything; draws keep the numbers of their rows."""
    models = {n: [numbered(run, first_row) for run in runs] for n, runs in as_runs(predictions).items()}
    found = align_models(models, groups=groups, class_names=class_names)
    y_true, _ = labels_in_order(y_true, found)
    array = as_array(take_index(y_true)[0], "y_true")
    if array.ndim != 1:
        fail(
            "ignore_label",
            "is for one label for each instance",
            f"got labels of shape {array.shape}",
            "leave out the rows yourself",
            code="conflict",
        )
    rows = np.flatnonzero(array != label)
    if not rows.size:
        fail("ignore_label", "must leave some instances", f"all labels are {label!r}", "check the labels", code="empty")
    known, n = found.known, found.n_instances
    parts = {
        str(name): align_values(values, n, known, f"subgroups[{str(name)!r}]")[rows]
        for name, values in (columns_of(subgroups, "subgroups") or subgroups or {}).items()
    }
    scores: dict[str, dict[str, Any]] = {}
    for model, of_model in (uncertainties or {}).items():
        for name, values in of_model.items():
            taken, index = take_index(values, f"uncertainties[{model!r}][{name!r}]")
            order = rows_of_index(index, known, f"uncertainties[{model!r}][{name!r}]")
            array_of = np.asarray(taken) if order is None else np.asarray(taken)[..., order]
            scores.setdefault(model, {})[name] = array_of[..., rows]
    return Kept(
        {name: [run[rows] for run in runs] for name, runs in found.models.items()},
        y_true[rows] if isinstance(y_true, FromFile) else array[rows],
        None if found.groups is None else found.groups[rows],
        None if sample_weight is None else align_values(sample_weight, n, known, "sample_weight")[rows],
        parts or None,
        scores or None,
        n - len(rows),
    )


def checked_labels(y_true: Any, found: Aligned, *, ignore_label: Any = None) -> NDArray[Any]:
    """Class indices (n,), −1 for the label to ignore, or label distributions (n, K), in the order of the models."""
    ordered, _ = labels_in_order(y_true, found, votes_are="counts")
    ignored = np.zeros(len(ordered), dtype=bool)
    if ignore_label is not None and np.ndim(ordered) == 1 and len(ordered) == found.n_instances:
        ignored = np.asarray(ordered) == ignore_label
    if not ignored.any():
        return _classes_of(ordered, found)
    classes = np.full(len(ordered), -1)
    classes[~ignored] = _classes_of(ordered[~ignored], found, int((~ignored).sum()))
    return classes


def _classes_of(ordered: Any, found: Aligned, n: int | None = None) -> NDArray[Any]:
    """The same of labels whose rows are in order; of n instances, by default of all."""
    given = len(ordered) if hasattr(ordered, "__len__") else 0
    runs = next((len(r) for r in found.models.values() if len(r) > 1 and len(r) * found.n_instances == given), 0)
    if runs:
        fail(
            "y_true",
            f"needs one label for each of the {found.n_instances} instances",
            f"got {given}, as many as the {runs} arrays of a list have together",
            "join the arrays by np.concatenate(list) if they are batches; a list holds training runs",
            code="mismatch",
        )
    return labels_for(
        ordered,
        n_instances=found.n_instances if n is None else n,
        n_classes=len(found.class_names),
        class_names=found.class_names if found.named else None,
        class_order=found.class_order,
        n_members=next((r.n_members for runs in found.models.values() for r in runs if isinstance(r, Members)), None),
    )


def labels_in_order(
    y_true: Any, found: Aligned, *, votes_are: str | None = None, name: str = "y_true"
) -> tuple[Any, NDArray[np.float64] | None]:
    """Labels with their rows in the order of the models, and the numbers of votes of each instance, if they are votes."""
    if votes_are is not None:
        check_choice(votes_are, "votes_are", ("counts", "single"))
    y_true = in_order(y_true, found.n_instances, found.known, name)
    table: Any = y_true.array if isinstance(y_true, Frame) else y_true
    names = y_true.columns if isinstance(y_true, Frame) else getattr(y_true, "class_names", None)
    if votes_are == "single":
        table = single_votes_by_name(table) if isinstance(table, FromFile) else table
        counts = counts_of_votes(
            as_array(table, name), len(found.class_names), class_names=found.class_names if found.named else None
        )
        return counts, vote_totals(counts, name=name)
    totals = vote_totals(y_true, name=name) if y_true is not None else None
    if totals is not None and names is None and votes_are is None:
        check_single_meaning(as_numeric(as_array(table, name), name), name)
    return y_true, totals


def in_order(y_true: Any, n: int, known: Known, name: str) -> Any:
    """Labels with their rows in the order of the models, as values that carry no ids any more."""
    if isinstance(y_true, FromFile):
        return in_rows_of(y_true, known, name)
    frame = as_frame(y_true, name)
    if frame is None:
        check_positions(known, name)
        return y_true
    rows = rows_of_index(frame.index, known, name) if len(frame) == n else None
    return Frame(frame.array if rows is None else frame.array[rows], (None, *frame.labels[1:]))


def align_values(values: Any, n: int, known: Known, parameter: str) -> NDArray[Any]:
    """One value for each instance, ``(n,)``, in the order of the models, whose rows are `known`."""
    frame = as_frame(values, parameter)
    array = as_array(values if frame is None else frame.array, parameter)
    rows = None
    if isinstance(values, FromFile):
        rows = rows_of_file(values, known, parameter)
        array = array if rows is None else array[rows]
    if array.shape != (n,):
        fail(
            parameter,
            f"needs one value for each of the {n} instances",
            f"got shape {array.shape}",
            "pass an array of one value per instance, in the order of the predictions",
            code="mismatch",
        )
    if isinstance(values, FromFile):
        return array
    rows = rows_of_index(None if frame is None else frame.index, known, parameter)
    return array if rows is None else array[rows]


def rows_of_index(index: NDArray[Any] | None, known: Known, parameter: str) -> NDArray[np.int64] | None:
    """Where the rows of an index stand in the order of the models; None where they stand as they are."""
    rows = rows_in_order(index, known.ids, parameter)
    said = index is not None and known.ids is not None and same_ids(index, known.ids)
    if rows is None and not said:
        check_positions(known, parameter)
    check_moved(rows, known, parameter)
    return rows


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
        fail(
            argument,
            "must map names to predictions",
            f"got {type(predictions).__name__}",
            'write {"my model": prediction}',
            code="type",
        )
    if not predictions:
        fail(argument, "needs at least one model", "got none", "write {name: prediction}", code="empty")
    if len({str(name) for name in predictions}) < len(predictions):
        fail(
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
            fail(argument, rule, f"got {name!r}", "rename it", code="choice")
    return {str(name): _runs(str(name), value, argument) for name, value in predictions.items()}


def _runs(name: str, value: Any, argument: str) -> tuple[Prediction, ...]:
    """The training runs of one model: each entry of a list of predictions or arrays, else the one thing given."""
    values = _listed_runs(name, value, argument)
    runs = tuple(as_prediction(one, _place(argument, name, r, values)) for r, one in enumerate(values))
    _check_batches(runs, _place(argument, name))
    spanned = "GaussianLogits spanned by {}".format
    kinds = {spanned(r.spanned_by) if isinstance(r, GaussianLogits) else type(r).__name__ for r in runs}
    if len(kinds) > 1:
        fail(
            _place(argument, name),
            "the runs of a model must be of one kind",
            f"got {', '.join(sorted(kinds))}",
            "name different models differently",
            code="type",
        )
    return runs


def _check_batches(runs: Sequence[Prediction], place: str) -> None:
    """Refuse a list with different numbers of instances, which holds no training runs."""
    sizes = [run.n_instances for run in runs]
    if len(set(sizes)) < 2:
        return
    members = {getattr(run, "n_members", 0) for run in runs}
    first = len(members) == 1 and members != {0}  # arrays (M, n, K) with another M in each
    fail(
        place,
        "a list holds training runs on the same instances",
        f"they have {listed([str(size) for size in sizes], most=6)} instances",
        "join them by np.concatenate(list) if they are batches"
        + (", or pass Members(probs, member_axis=0) for each if the members are on the first axis" if first else ""),
        code="member-axis" if first else "mismatch",
    )


def _listed_runs(name: str, value: Any, argument: str) -> list[Any]:
    if not isinstance(value, (list, tuple)) or is_one_prediction(value):
        return [value]
    if any(isinstance(v, Prediction) or len(getattr(v, "shape", ())) > 1 for v in value):
        return list(value)
    if any(isinstance(v, (list, tuple)) and any(isinstance(row, (list, tuple)) for row in v) for v in value):
        fail(
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
        fail(
            place,
            "all models need the same classes",
            f"K = {run.n_classes}, and {first_name} has K = {first.n_classes}",
            "check the files",
            code="mismatch",
        )
    if run.n_instances != first.n_instances:
        members = [getattr(r, "n_members", 0) for r in (run, first)]
        # (M, n, K) in place of (n, M, K): one model's members are the other's instances, or both have n as members
        members_first = {run.n_instances, first.n_instances} & set(members) or (members[0] and members[0] == members[1])
        fail(
            place,
            "all models need the same instances",
            f"{run.n_instances} instances, and {first_name} has {first.n_instances}",
            "pass Members(probs, member_axis=0) for each model whose members are on the first axis"
            if members_first
            else "check the files, or select the common rows",
            code="member-axis" if members_first else "mismatch",
            facts={} if members_first else {"instances": (run.n_instances, first.n_instances)},
        )


def _names(
    given: Any, every: Sequence[tuple[str, Prediction]], n_classes: int, earlier: Sequence[str]
) -> tuple[tuple[str, ...] | None, str]:
    """Names of the classes in the order of the result, and what that order rests on.

    The names are those given, else those of the first model, else those of earlier parts of a stream.
    """
    named = [(place, run) for place, run in every if run.class_names is not None]
    if given is not None:
        names, others = checked_class_names(given, n_classes), "among the class names given"
    elif named:
        names = tuple(earlier) or named[0][1].class_names or ()
        others = "in earlier parts" if earlier else "in the first model that has names"
    else:
        return (tuple(earlier), "stated") if earlier else (None, "stated")
    for place, run in named:
        if run.class_names is not None and set(run.class_names) != set(names):
            fail(
                f"{place}.class_names",
                "all models need the same class names",
                first_difference(run.class_names, "here", names, others),
                "rename the classes"
                if given is None
                else "leave class_names out, or give the names of the models in the order that the result shall have",
                code="mismatch",
                facts={} if given is None else {"class_names": run.class_names},
            )
    if given is not None:
        return names, "stated"
    numbered = tuple(str(k) for k in range(n_classes))  # names that say no more than the position of an unnamed column
    if len(named) < len(every) and names != numbered:
        place = next(place for place, run in every if run.class_names is None)
        fail(
            f"{place}.class_names",
            "must be given, because another model names its classes, and the columns may be in another order",
            f"{named[0][0]} has {listed(list(names), most=8)}",
            "state the order of its columns by class_names=",
            code="class-order",
            facts={"class_names": names},
        )
    if class_numbers(names, named[0][1].class_order) is not None:  # a number is the name of a class
        return names, "columns" if any(run.class_order != "stated" for _, run in named) else "stated"
    if any(run.class_order == "keys" for _, run in named):
        return names, "keys"
    if any(run.class_names != names or run.class_order == "differs" for _, run in named):
        return names, "differs"
    return names, "columns" if any(run.class_order == "columns" for _, run in named) else "stated"


def _in_one_order(every: Sequence[tuple[str, Prediction]]) -> tuple[list[Prediction], Known]:
    """The models with their rows in the order of the first one with ids, else of the first; and what identifies these rows."""
    stated = (i for i, pair in enumerate(every) if _known_of(*pair).stated is not None)
    first = next(stated, next((i for i, (_, run) in enumerate(every) if run.ids is not None), 0))
    place, run = every[first]
    known, ordered = Known(run.ids, run.keys, place), {first: run}
    rest = [i for i in range(len(every)) if i != first]
    while rest:  # a model may share a key with a later one alone
        i = next((i for i in rest if _known_of(*every[i]).tells(known)), rest[0])
        rest.remove(i)
        other, (there, run) = _known_of(*every[i]), every[i]
        rows = order_like(other, known)
        if not other.tells(known):
            if known.stated is not None:
                fail(
                    f"{there}.ids",
                    "are needed where other models have ids, because their rows may be in another order",
                    f"got none, and {place} has some",
                    "give ids to all models, or to none",
                    code="missing",
                )
            known = known._replace(silent=known.silent or there)
        check_moved(rows, known, there)
        ordered[i] = run if rows is None else run[rows]
        known = known._replace(
            keys=dict(ordered[i].keys) | dict(known.keys), moved=known.moved or (there if rows is not None else "")
        )
    return [ordered[i] for i in range(len(every))], known


def _known_of(place: str, run: Prediction) -> Known:
    return Known(run.ids, run.keys, place)


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


def _classes_in_order(run: Prediction, names: tuple[str, ...] | None, place: str) -> Prediction:
    """The columns in the order of the names."""
    if names is None or run.class_names is None or run.class_names == names:
        return run
    return classes_in_order(run, names, place)


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
        fail(
            "common_members",
            "cannot be more than any model has",
            f"got {n_points}, and {name!r} has {found} {what}",
            "ask for no more",
            code="range",
            facts={"model": name, "members": found},
        )
    return spanned_by(run, n_points, seed)


# Which uncertainty scores an assay holds: those that the models offer, and those given with the predictions.

COLUMNS = ("distance", "nonspecificity", "correct", "confidence", "label", "log-loss", "brier", "gap", "upper-label")
METRICS = (
    "accuracy",
    "ece",
    "ece-classwise",
    "rms-calibration-error",
    "unified",
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
) -> dict[str, dict[str, Floats]]:
    """Check the scores given: by model and name, ``(R, n)`` each."""
    if uncertainties is not None and not isinstance(uncertainties, Mapping):
        fail(
            "uncertainties",
            "must be a dict from models to dicts of scores",
            f"got {type(uncertainties).__name__}",
            'write {"model": {"density": values}}',
            code="type",
        )
    found: dict[str, dict[str, Floats]] = {}
    for model, scores in (uncertainties or {}).items():
        if model not in aligned.models:
            fail(
                "uncertainties",
                f"must name models among {', '.join(aligned.models)}",
                f"got {model!r}",
                "use one of these names",
                code="choice",
            )
        if not isinstance(scores, Mapping):
            fail(
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
    measures: Sequence[str] | None, aligned: Aligned, given: Mapping[str, Mapping[str, Floats]]
) -> tuple[str, ...]:
    """Names of all scores of an assay; the non-specificity has its column anyway and is not repeated."""
    if measures is None:
        offered = {name for runs in aligned.models.values() for name in score_names(runs[0])}
        measures = [name for name in SCORES if name in offered]
    others = dict.fromkeys(name for scores in given.values() for name in scores)
    return tuple(name for name in dict.fromkeys([*measures, *others]) if name != "nonspecificity")


def _checked(values: ArrayLike, model: str, name: str, runs: int, n: int, aligned: Aligned) -> Floats:
    if name in TAKEN or name in {one.metric for one in DISTANCES.values()} or not name.strip():
        fail(
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
        fail(parameter, "must hold numbers", f"got dtype {array.dtype}", "convert it to float first", code="type")
    if array.ndim == 1 and runs == 1:
        array = array[np.newaxis]
    if array.shape != (runs, n):
        shape = f"({n},)" if runs == 1 else f"({runs}, {n})"
        fail(
            parameter,
            f"needs one value for each instance and run, shape {shape}",
            f"got shape {np.shape(taken)}",
            "align it",
            code="shape",
        )
    undefined = np.isnan(array)
    if undefined.any():
        row = int(np.argwhere(undefined)[0][1])
        fail(
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
