"""The inputs of an assay over dask arrays, cut into the same chunks of instances."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_array, row_chunks
from uqassay._frames import Frame, FromFile, is_frame
from uqassay._messages import packed
from uqassay.errors import InputError
from uqassay.evidence.alignment import Aligned, align_values, as_runs, in_order, rows_of_index
from uqassay.evidence.dask_chunks import WorkerRun
from uqassay.evidence.stream_chunk import refuse_mixed
from uqassay.evidence.subgroups import subgroup_values
from uqassay.predictions import (
    DaskPrediction,
    Point,
    Prediction,
    check_chunks,
    is_dask_array,
    labels_for,
    per_instance,
    take_index,
)
from uqassay.predictions.pandas_input import take_table
from uqassay.predictions.rows import Known, order_like

__all__ = ["DaskInputs", "InputChunk", "holds_dask"]

CHUNK_BYTES = 2**26  # of predictions in memory, where no dask array gives the chunks
STAND_IN = Point(np.array([[0.5, 0.5]]))  # of predictions, where only their names are checked
MOST_SENT = 2**30  # bytes of a prediction in memory that is sent to workers


def holds_dask(predictions: Any) -> bool:
    """Whether one of the predictions lies in dask arrays."""
    if not isinstance(predictions, Mapping):
        return False
    return any(_is_dask(run) for value in predictions.values() for run in _listed(value))


class InputChunk(NamedTuple):
    """The rows from `start` to before `stop`: arguments of the runs of each model, and labels; tasks, or arrays."""

    start: int
    stop: int
    arguments: dict[str, list[list[Any]]]
    y_true: Any


@dataclass(frozen=True, eq=False)
class DaskInputs:
    """Models, labels, groups and so on of n instances.

    Attributes
    ----------
    models : dict of str to tuple of WorkerRun
        How workers make each run from its arguments.
    n_instances : int
    y_true, groups : array or None
    """

    models: Mapping[str, tuple[WorkerRun, ...]]
    n_instances: int
    y_true: Any
    groups: NDArray[Any] | None
    _cuts: tuple[int, ...]
    _runs: Mapping[str, Sequence["_Run"]]
    _subgroups: Mapping[str, NDArray[Any]]
    _uncertainties: Mapping[str, Mapping[str, NDArray[Any]]] | None

    @classmethod
    def of(
        cls,
        predictions: Mapping[str, Any],
        y_true: Any,
        *,
        here: Callable[[Any], Any],
        groups: Any = None,
        subgroups: Any = None,
        uncertainties: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Self:
        """Check what can be checked without the predictions, and cut; `here` computes dask arrays."""
        names = predictions if not isinstance(predictions, Mapping) else dict.fromkeys(predictions, STAND_IN)
        as_runs(names)  # refuses names, and what is no mapping
        runs = {str(name): _runs(str(name), _listed(value), here) for name, value in predictions.items()}
        n = _common_rows([pair for of_model in runs.values() for pair in of_model])
        given = [pair for of_model in runs.values() for pair in of_model]
        known = next((run.known(place) for place, run in given if run.ids is not None), given[0][1].known(given[0][0]))
        runs = {
            name: [(place, _in_order(run, known, place)) for place, run in of_model] for name, of_model in runs.items()
        }
        every = [pair for of_model in runs.values() for pair in of_model]
        moved = next((place for (place, old), (_, new) in zip(given, every, strict=True) if old is not new), "")
        keys = {name: values for _, run in reversed(every) for name, values in run.keys.items()}
        known = known._replace(place="the predictions", moved=moved, keys=keys)
        return cls(
            models={name: tuple(run.how for _, run in of_model) for name, of_model in runs.items()},
            n_instances=n,
            y_true=_labels(y_true, n, known),
            groups=_groups(here(groups), every, n, known),
            _cuts=_cuts(every, n),
            _runs={name: [run for _, run in of_model] for name, of_model in runs.items()},
            _subgroups=subgroup_values(here(subgroups), n, known),
            _uncertainties=_uncertainties(here(uncertainties), n, known),
        )

    def check(self, head: Aligned) -> None:
        """Check the labels in memory at once, so that errors name their rows; `head` is the first instance, aligned."""
        if not is_dask_array(self.y_true):
            labels_for(
                self.y_true,
                n_instances=self.n_instances,
                n_classes=len(head.class_names),
                class_names=head.class_names if head.named else None,
                class_order=head.class_order,
            )

    def others(self, start: int, stop: int) -> dict[str, Any]:
        """Groups, subgroups and further scores of some rows, as arguments of `AssayStream.update`."""
        scores = self._uncertainties
        return {
            "groups": None if self.groups is None else self.groups[start:stop],
            "subgroups": {name: values[start:stop] for name, values in self._subgroups.items()},
            "uncertainties": None
            if scores is None
            else {name: {s: v[..., start:stop] for s, v in of_model.items()} for name, of_model in scores.items()},
        }

    def chunks(self, kept: Callable[[Sequence[Any]], Sequence[Any]]) -> list[InputChunk]:
        """All chunks in the order of their rows; the tasks of the first are given to `kept`, because they are used twice."""
        cuts = list(pairwise(self._cuts))
        sizes = tuple(b - a for a, b in cuts)
        blocks = {name: [run.blocks(sizes) for run in runs] for name, runs in self._runs.items()}
        labels = _blocks(self.y_true, sizes) if is_dask_array(self.y_true) else [self.y_true[a:b] for a, b in cuts]
        found = [
            InputChunk(a, b, {name: [run[i] for run in runs] for name, runs in blocks.items()}, labels[i])
            for i, (a, b) in enumerate(cuts)
        ]
        arguments, y_true = _with_kept((found[0].arguments, found[0].y_true), kept)
        return [found[0]._replace(arguments=arguments, y_true=y_true), *found[1:]]


# -- predictions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Run:
    """One run of a model: how workers make it, and its arguments for all instances."""

    how: WorkerRun
    arguments: Sequence[Any]
    ids: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    keys: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def known(self, place: str) -> Known:
        """What identifies its rows."""
        return Known(self.ids, self.keys, place)

    @property
    def n_instances(self) -> int:
        return len(self.arguments[0])

    @property
    def arrays(self) -> list[Any]:
        """Its dask arrays."""
        return [each for each in self.arguments if is_dask_array(each)]

    def blocks(self, sizes: Sequence[int]) -> list[list[Any]]:
        """The arguments for each chunk."""
        ends = list(accumulate(sizes, initial=0))
        columns = [
            _blocks(each, sizes)
            if is_dask_array(each)
            else [packed(each[a:b]) if isinstance(each, Prediction) else each[a:b] for a, b in pairwise(ends)]
            for each in self.arguments
        ]
        return [list(row) for row in zip(*columns, strict=True)]


def _listed(value: Any) -> list[Any]:
    """The runs of a model, where one of them lies in dask arrays; else the value as it is."""
    several = isinstance(value, (list, tuple)) and any(_is_dask(each) for each in value)
    return list(value) if several else [value]


def _is_dask(value: Any) -> bool:
    # a labelled array of xarray has the method whether or not it holds a dask array
    return isinstance(value, DaskPrediction) or (hasattr(value, "__dask_graph__") and not is_frame(value))


def _runs(name: str, values: list[Any], here: Callable[[Any], Any]) -> list[tuple[str, _Run]]:
    found = []
    for r, value in enumerate(values):
        place = f"models[{name!r}]{f'[{r}]' if len(values) > 1 else ''}"
        if _is_dask(value):
            found.append((place, _lazy_run(value, place, here)))
        else:
            found += [(place, _run_in_memory(run, place)) for run in as_runs({name: value})[name]]
    return found


def _lazy_run(value: Any, place: str, here: Callable[[Any], Any]) -> _Run:
    if isinstance(value, DaskPrediction):
        carried = {"ids": value.ids, "groups": value.groups}
        ids, groups = (None if each is None else as_array(here(each), name) for name, each in carried.items())
        arguments = dict(value.arrays) | ({} if ids is None else {"ids": ids})
        return _Run(WorkerRun(value.kind, tuple(arguments), value.settings), list(arguments.values()), ids, groups)
    if not is_dask_array(value):
        raise InputError(
            place,
            "must be a dask array, or a DaskPrediction",
            f"got {type(value).__name__}",
            "of a dask DataFrame take to_dask_array(lengths=True)",
            code="type",
        )
    check_chunks(value, place)
    if value.ndim not in (2, 3):
        raise InputError(
            place,
            "needs shape (n, K), or (n, M, K) for members",
            f"got shape {value.shape}",
            "wrap other arrays, for example DaskPrediction(uq.Members.from_binary, array, member_axis=1)",
            code="shape",
        )
    return _Run(WorkerRun(None, ("probs",), {}), [value])


def _run_in_memory(run: Prediction, place: str) -> _Run:
    size = sum(getattr(run, name).nbytes for name in run.array_names())
    if size > MOST_SENT:
        raise InputError(
            place,
            f"in memory must take less than {MOST_SENT >> 20} MiB beside dask arrays or with a client, because it is sent",
            f"it takes {size >> 20} MiB",
            "make it a dask array, or a .npy or .zarr file that workers can read",
            code="size",
        )
    return _Run(WorkerRun(None, (), {}, packed=True), [run], run.ids, run.groups, run.keys)


def _in_order(run: _Run, known: Known, place: str) -> _Run:
    """The run with its rows in the order of the others; rows of dask arrays are not moved."""
    order = order_like(run.known(place), known)
    if order is None:
        return run
    if run.how.packed:
        moved = run.arguments[0][order]
        return replace(run, arguments=[moved], ids=moved.ids, groups=moved.groups, keys=moved.keys)
    raise InputError(
        f"{place}.ids",
        "must be in the order of the first model, because rows of dask arrays are not moved",
        f"row {int(np.flatnonzero(order != np.arange(len(order)))[0])} differs",
        "bring the files or arrays into one order",
        code="ids",
    )


def _common_rows(every: Sequence[tuple[str, _Run]]) -> int:
    if not every:
        raise InputError("predictions", "needs at least one model", "got none", "name the models", code="empty")
    (first, run), *others = every
    for place, other in others:
        if other.n_instances != run.n_instances:
            raise InputError(
                place,
                "all models need the same instances",
                f"{other.n_instances} instances, and {first} has {run.n_instances}",
                "check the arrays, or select the common rows",
                code="mismatch",
            )
    return run.n_instances


def _cuts(every: Sequence[tuple[str, _Run]], n: int) -> tuple[int, ...]:
    """Where chunks begin, and n: those of the dask array with most bytes to a row, because the others are moved."""
    arrays = [array for _, run in every for array in run.arrays]
    if arrays:
        widest = max(arrays, key=lambda array: array.dtype.itemsize * int(np.prod(array.shape[1:])))
        return tuple(accumulate((size for size in widest.chunks[0] if size), initial=0))
    runs = [prediction for _, run in every for prediction in run.arguments]
    row_bytes = sum(getattr(run, name)[:1].nbytes for run in runs for name in run.array_names())
    return (0, *(rows.stop for rows in row_chunks(n, row_bytes, chunk_bytes=CHUNK_BYTES)))


def _blocks(array: Any, sizes: Sequence[int]) -> list[Any]:
    """One task for each chunk of rows, with all columns."""
    whole = {0: tuple(sizes), **dict.fromkeys(range(1, array.ndim), -1)}
    return list(array.rechunk(whole).to_delayed().ravel())


def _with_kept(value: Any, kept: Callable[[Sequence[Any]], Sequence[Any]]) -> Any:
    """The same nested value, with its tasks given to `kept`."""
    from dask.base import unpack_collections

    tasks, repack = unpack_collections(value)
    return repack(kept(tasks))[0]


# -- values of instances -------------------------------------------------------------------------------------------------


def _labels(y_true: Any, n: int, known: Known) -> Any:
    """Labels as a dask array, a table, or an array in the order of the ids."""
    if is_dask_array(y_true):
        if check_chunks(y_true, "y_true") != n:
            raise InputError(
                "y_true",
                f"needs one label for each of the {n} instances",
                f"got {y_true.shape[0]}",
                "check that labels and predictions come from the same split in the same order",
                code="mismatch",
            )
        return y_true
    if _is_dask(y_true):
        raise InputError(
            "y_true",
            "must be an array, or a dask array",
            f"got {type(y_true).__name__}",
            "of a dask Series take to_dask_array(lengths=True)",
            code="type",
        )
    ordered = in_order(y_true, n, known, "y_true")
    if isinstance(ordered, Frame):
        array, names, _ = take_table(ordered, "y_true")
        return FromFile(array, class_names=names, class_order="columns")
    return ordered if isinstance(ordered, FromFile) else as_array(ordered, "y_true")


def _groups(given: Any, every: Sequence[tuple[str, _Run]], n: int, known: Known) -> NDArray[Any] | None:
    """Groups in the order of the ids: those given, else those that a prediction carries."""
    carried = [run for _, run in every if run.groups is not None]
    if given is None and not carried:
        return None
    groups = np.asarray(carried[0].groups) if given is None else align_values(given, n, known, "groups")
    refuse_mixed(groups, {})
    groups = per_instance(groups, "groups", n)
    return groups.astype(np.str_) if groups.dtype.kind == "O" else groups


def _uncertainties(given: Any, n: int, known: Known) -> Any:
    """Further scores as arrays (n,) or (R, n); what is no mapping is left to the check of the first chunk."""
    if not isinstance(given, Mapping) or not all(isinstance(scores, Mapping) for scores in given.values()):
        return given
    found: dict[str, dict[str, NDArray[Any]]] = {}
    for model, scores in given.items():
        for name, values in scores.items():
            parameter = f"uncertainties[{model!r}][{name!r}]"
            taken, index = take_index(values, parameter, axis=-1)
            array = as_array(taken, parameter)
            if not array.ndim or array.shape[-1] != n:
                raise InputError(
                    parameter,
                    f"needs one value for each of the {n} instances in its last axis",
                    f"got shape {array.shape}",
                    "align it",
                    code="shape",
                )
            rows = rows_of_index(index, known, parameter)
            found.setdefault(model, {})[name] = array if rows is None else array[..., rows]
    return found
