"""An assay over dask arrays: chunks of instances are scored where they are."""

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from uqassay._progress import shown_progress, silent
from uqassay._workers import connected, packed, unpacked
from uqassay.arrays import Floats, as_array, limited_cores, row_chunks
from uqassay.checks import fail
from uqassay.errors import InputError, UqassayError
from uqassay.evidence.align import Aligned, align_values, aligned_weights, as_runs, in_order, rows_of_index
from uqassay.evidence.findings import of_same_instances, subgroup_values
from uqassay.evidence.options import AssayOptions
from uqassay.evidence.result import Assay
from uqassay.evidence.stream import AssayStream, GreatestKeys, KeptPictures, StreamState, check_same_form, refuse_mixed
from uqassay.files import optional_package
from uqassay.frames import Frame, FromFile, is_frame
from uqassay.native import kernels
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
from uqassay.predictions.labels import take_table
from uqassay.predictions.rows import Known, order_like

__all__ = [
    "DaskInputs",
    "WorkerRun",
    "assay_on_dask",
    "holds_dask",
    "join_pictures",
    "open_engine",
    "pictures_of",
    "rest_of",
    "score_chunk",
    "versions",
]


# What Dask workers do for an assay: score one chunk of the instances, and join what chunks keep for pictures.


@dataclass(frozen=True, eq=False)
class WorkerRun:
    """How one run of a model is made from its arguments, which come with each chunk."""

    #: Makes the prediction; None: the single argument is the array itself, or a packed prediction.
    kind: Callable[..., Any] | None
    names: tuple[str, ...]  #: Parameters of `kind` for the arguments.
    settings: Mapping[str, Any]  #: Its further parameters.
    packed: bool = False

    def make(self, arguments: Sequence[Any], rows: slice) -> Any:
        """The prediction of some rows of a chunk, or an array of which the assay makes one."""
        if self.packed:
            return unpacked(arguments[0])[rows]
        # `as_array` refuses masked chunks; of one layout however they came here, because the last bits of sums depend on it
        arrays = [
            np.ascontiguousarray(as_array(each, name)) if isinstance(each, np.ndarray) else each
            for each, name in zip(arguments, self.names, strict=True)
        ]
        arrays = [each[rows] for each in arrays]
        if self.kind is None:
            return arrays[0]
        return self.kind(**dict(zip(self.names, arrays, strict=True)), **self.settings)


class ScoredChunk(NamedTuple):
    """A scored chunk, or the error that it raised, with the warnings on the way and the versions of the worker."""

    state: StreamState | None
    problem: UqassayError | None
    warned: tuple[tuple[Any, ...], ...]
    versions: dict[str, str]


def versions() -> dict[str, str]:
    """Versions of everything on which the last bit of a number may depend, the processor apart."""
    from uqassay import __version__

    found = f"{len(kernels().names)} in use" if kernels().names else "none"
    return {"uqassay": __version__, "NumPy": np.__version__, "SciPy": scipy.__version__, "compiled kernels": found}


def score_chunk(
    options: Mapping[str, Any],
    models: Mapping[str, Sequence[WorkerRun]],
    arguments: Mapping[str, Sequence[Sequence[Any]]],
    y_true: Any,
    others: Mapping[str, Any],
    first_row: int,
    greatest: GreatestKeys | None,
    n_rows: int | None = None,
) -> ScoredChunk:
    """Score the instances of one chunk, in the one thread that Dask gives to a task.

    Parameters
    ----------
    options : mapping
        Those of `AssayStream`.
    models : mapping of str to sequence of WorkerRun
    arguments : mapping of str to sequence of sequence
        Of each run of each model, the arguments for this chunk.
    y_true : array
    others : mapping
        `groups`, `sample_weight`, `subgroups` and `uncertainties` of `AssayStream.update`, for the rows that are scored.
    first_row : int
        Row number of the first instance.
    greatest : GreatestKeys or None
        None: the chunk keeps what a stream of unknown length keeps.
    n_rows : int, optional
        Score the first rows of the chunk alone.
    """
    stream, problem = AssayStream(first_row=first_row, **options), None
    rows = slice(0, n_rows)
    stream._state.greatest = greatest
    with warnings.catch_warnings(record=True) as seen, limited_cores(1):
        warnings.simplefilter("always")
        try:
            made = {name: _made(name, runs, arguments[name], rows) for name, runs in models.items()}
            stream.update(made, y_true[rows], **others)
        except UqassayError as found:
            problem = _placed(found, first_row, len(y_true))
    warned = tuple((w.message, w.category, w.filename, w.lineno) for w in seen)
    state = None if problem else replace(stream._state, greatest=None)
    return ScoredChunk(state, problem, warned, versions())


def rest_of(chunk: ScoredChunk) -> ScoredChunk:
    """The chunk without what it keeps for pictures."""
    return chunk if chunk.state is None else chunk._replace(state=replace(chunk.state, pictures=KeptPictures()))


def pictures_of(chunk: ScoredChunk) -> KeptPictures:
    """What the chunk keeps for pictures."""
    return KeptPictures() if chunk.state is None else chunk.state.pictures


def join_pictures(parts: Sequence[KeptPictures]) -> KeptPictures:
    """What consecutive parts keep for pictures, joined; the parts stay as they are, because Dask may need them again."""
    whole = KeptPictures()
    for part in parts:
        whole.extend(part)
    return whole


# -- helpers -------------------------------------------------------------------------------------------------------------


def _made(name: str, runs: Sequence[WorkerRun], arguments: Sequence[Sequence[Any]], rows: slice) -> list[Any]:
    """The runs of a model."""
    found = []
    for r, (run, given) in enumerate(zip(runs, arguments, strict=True)):
        try:
            found.append(run.make(given, rows))
        except InputError as problem:
            raise problem.inside(f"models[{name!r}]{f'[{r}]' if len(runs) > 1 else ''}") from problem
    return found


def _placed(problem: UqassayError, first_row: int, n: int) -> UqassayError:
    """The error with the row number in the whole test set, because rows are counted within the chunk where it was raised."""
    row = problem.facts.get("row")
    if not first_row:
        return problem
    if not isinstance(row, (int, np.integer)):
        place = f"in the chunk of rows {first_row} to {first_row + n - 1}"
        return problem.replace(got=f"{problem.got}, {place}" if problem.got else place)
    place = f"of the chunk that begins at row {first_row}, so row {first_row + row} of all"
    return problem.replace(got=f"{problem.got} {place}", facts=problem.facts | {"row": int(first_row + row)})


# Where the tasks of an assay over dask arrays run: on a cluster, or on the scheduler of dask in this process.

WORKER_SECONDS = 30  # until the first worker of an address must be there
# labels and groups travel within the tasks, so that Dask can repeat a task after its worker has died
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1GB"}

Say = Callable[[str], None]


class Engine(Protocol):
    """What an assay asks of a scheduler."""

    def now(self, tasks: Any) -> Any:
        """The value of a task, or of nested dicts and lists that hold tasks or dask arrays."""

    def kept(self, tasks: Sequence[Any]) -> Sequence[Any]:
        """The same tasks, of which each is done once and its result stays where it is."""

    def run(self, tasks: Sequence[Any], done: Callable[[int, Any], None]) -> None:
        """Call ``done(i, value)`` in this thread for each task when it has ended; what `done` raises cancels the others."""


@contextmanager
def open_engine(client: Any, say: Say) -> Iterator[Engine]:
    """The engine of a client or an address; None: that of the current client, else dask's scheduler in this process."""
    dask = optional_package("dask", "dask[array,distributed]>=2024.5", "an assay over dask arrays")
    if client is None and (client := _current_client(dask)) is None:
        yield _Here(dask)
        return
    distributed = optional_package("distributed", "dask[array,distributed]>=2024.5", "an assay on a cluster")
    if isinstance(client, str):
        with connected(distributed, client) as own:
            _wait_for_workers(own, client, say)
            _check_installed(own)
            with dask.config.set(SETTINGS):
                yield _Cluster(distributed, own)
        return
    if not isinstance(client, distributed.Client) or client.asynchronous:
        fail(
            "client",
            "must be a distributed.Client that is not asynchronous, or the address of a scheduler",
            f"got {type(client).__name__}",
            'write client="tcp://HOST:8786", or distributed.Client(cluster)',
            code="type",
        )
    if client.status != "running":
        fail(
            "client",
            "must be connected to its scheduler",
            f"it is {client.status}",
            "make a new one by distributed.Client(ADDRESS)",
            code="missing",
        )
    _check_installed(client)
    with dask.config.set(SETTINGS):
        yield _Cluster(distributed, client)


def _current_client(dask: Any) -> Any:
    """The current client of distributed, if there is one and no other scheduler was chosen."""
    if "distributed" not in sys.modules or dask.config.get("scheduler", None) not in (None, "dask.distributed"):
        return None
    try:
        return sys.modules["distributed"].default_client()
    except ValueError:
        return None


def _wait_for_workers(client: Any, address: str, say: Say) -> None:
    if client.scheduler_info(n_workers=1)["workers"]:
        return
    say("waiting for a worker")
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError as problem:
        raise InputError(
            "client",
            "must be the address of a scheduler with workers",
            f"{address!r} had none within {WORKER_SECONDS} seconds",
            f"start some by dask worker {address}",
            code="missing",
        ) from problem


def _check_installed(client: Any) -> None:
    """Ask scheduler and workers, by a function of Python's own, whether uqassay is there: without it no task can be read."""
    try:
        found = {"the scheduler": client.run_on_scheduler(find_spec, "uqassay")}
    except ValueError:  # a package that was made to fail on import
        found = {"the scheduler": None}
    found |= client.run(find_spec, "uqassay", on_error="return")
    lacking = [place for place, spec in found.items() if spec is None or isinstance(spec, Exception)]
    if lacking:
        fail(
            "client",
            "must have uqassay at the scheduler and at all workers",
            f"it is missing at {lacking[0]}" + (f" and at {len(lacking) - 1} more" if len(lacking) > 1 else ""),
            "install the same version everywhere",
            code="package",
        )


class _Here:
    """The scheduler of dask in this process: threads, unless dask's configuration names another."""

    def __init__(self, dask: Any) -> None:
        self._dask = dask

    def now(self, tasks: Any) -> Any:
        return self._dask.compute(tasks)[0]

    def kept(self, tasks: Sequence[Any]) -> Sequence[Any]:
        return self._dask.persist(*tasks) if tasks else []

    def run(self, tasks: Sequence[Any], done: Callable[[int, Any], None]) -> None:
        numbers = {task.key: i for i, task in enumerate(tasks)}

        def ended(key: Any, value: Any, *_: Any) -> None:
            if key in numbers:
                done(numbers[key], value)

        with self._dask.callbacks.Callback(posttask=ended):
            self._dask.compute(*tasks, optimize_graph=False)


class _Cluster:
    """The workers of a scheduler, through a client."""

    def __init__(self, distributed: Any, client: Any) -> None:
        self._distributed, self._client = distributed, client

    def now(self, tasks: Any) -> Any:
        import dask

        collections, repack = dask.base.unpack_collections(tasks)
        found: dict[int, Any] = {}
        if collections:
            self.run(collections, found.__setitem__)
        return repack([found[i] for i in range(len(collections))])[0]

    def kept(self, tasks: Sequence[Any]) -> Sequence[Any]:
        return self._client.persist(list(tasks)) if tasks else []

    def run(self, tasks: Sequence[Any], done: Callable[[int, Any], None]) -> None:
        futures = self._client.compute(list(tasks))
        numbers = {future.key: i for i, future in enumerate(futures)}
        try:
            # fetched here, because a fetch in the background would complain when the client is closed after an error
            for batch in self._distributed.as_completed(futures, loop=self._client.loop).batches():
                for future, value in zip(batch, self._client.gather(batch), strict=True):
                    done(numbers[future.key], value)
        except self._distributed.KilledWorker as problem:
            raise InputError(
                "client",
                "must have workers that survive a chunk",
                f"{problem.allowed_failures + 1} workers ended while they had the same task, and the last was "
                f"{problem.last_worker.address}",
                "make smaller chunks, or give the workers more memory",
                code="size",
            ) from problem
        finally:
            self._client.cancel(futures)


# The inputs of an assay over dask arrays, cut into the same chunks of instances.

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
    """Models, labels, groups and so on of n instances."""

    models: Mapping[str, tuple[WorkerRun, ...]]  #: How workers make each run from its arguments.
    n_instances: int
    y_true: Any
    groups: NDArray[Any] | None
    weights: Floats | None
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
        sample_weight: Any = None,
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
            weights=_weights(here(sample_weight), n, known),
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
        """Groups, weights, subgroups and further scores of some rows, as arguments of `AssayStream.update`."""
        scores = self._uncertainties
        return {
            "groups": None if self.groups is None else self.groups[start:stop],
            "sample_weight": None if self.weights is None else self.weights[start:stop],
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
        fail(
            place,
            "must be a dask array, or a DaskPrediction",
            f"got {type(value).__name__}",
            "of a dask DataFrame take to_dask_array(lengths=True)",
            code="type",
        )
    check_chunks(value, place)
    if value.ndim not in (2, 3):
        fail(
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
        fail(
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
    fail(
        f"{place}.ids",
        "must be in the order of the first model, because rows of dask arrays are not moved",
        f"row {int(np.flatnonzero(order != np.arange(len(order)))[0])} differs",
        "bring the files or arrays into one order",
        code="ids",
    )


def _common_rows(every: Sequence[tuple[str, _Run]]) -> int:
    if not every:
        fail("predictions", "needs at least one model", "got none", "name the models", code="empty")
    (first, run), *others = every
    for place, other in others:
        if other.n_instances != run.n_instances:
            fail(
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
            fail(
                "y_true",
                f"needs one label for each of the {n} instances",
                f"got {y_true.shape[0]}",
                "check that labels and predictions come from the same split in the same order",
                code="mismatch",
            )
        return y_true
    if _is_dask(y_true):
        fail(
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


def _weights(given: Any, n: int, known: Known) -> Floats | None:
    """Weights in the order of the ids; none may be 0, because no rows are moved."""
    if given is None:
        return None
    weights = aligned_weights(given, n, known)
    if not weights.all():
        row = int(np.argmin(weights))
        rule, remedy = (
            "must be positive for dask arrays, whose rows are not moved",
            "select the rows of all arrays first",
        )
        fail("sample_weight", rule, f"row {row} has 0", remedy, code="conflict")
    return weights


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
                fail(
                    parameter,
                    f"needs one value for each of the {n} instances in its last axis",
                    f"got shape {array.shape}",
                    "align it",
                    code="shape",
                )
            rows = rows_of_index(index, known, parameter)
            found.setdefault(model, {})[name] = array if rows is None else array[..., rows]
    return found


# An assay over dask arrays: chunks of instances are scored where they lie, and only scores and samples travel.

FAN_IN = 8  # parts that one task of the reduction tree joins
MOST_SAID = 50  # times that the progress is told


def assay_on_dask(
    predictions: Mapping[str, Any],
    y_true: Any,
    stream: AssayStream,
    *,
    client: Any = None,
    uncertainties: Mapping[str, Mapping[str, Any]] | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    subgroups: Any = None,
) -> Assay:
    """The assay of `judgement.assay` over dask arrays, with the same result, bit for bit.

    Parameters
    ----------
    predictions : dict of str to dask array, DaskPrediction or anything else that `assay` takes
    y_true : array or dask array
    stream : AssayStream
        Without instances, so that it has the options alone.
    client : distributed.Client or str, optional
        A client, or the address of a scheduler. By default the current client, or dask's scheduler in this process.
    uncertainties, groups, sample_weight, subgroups
        As for `assay`; dask arrays among them are computed first.
    """
    started = time.perf_counter()
    if stream.ignore_label is not None:
        fail(
            "ignore_label",
            "is not for dask arrays, whose rows are not moved",
            f"got {stream.ignore_label!r}",
            "select the rows of all arrays first",
            code="conflict",
        )
    optional_package("dask.array", "dask[array,distributed]>=2024.5", "an assay over dask arrays")
    y_true, groups, sample_weight, subgroups, uncertainties = of_same_instances(
        y_true, groups, sample_weight, subgroups, uncertainties
    )
    with shown_progress(stream.progress) as say:
        with open_engine(client, say) as engine:
            inputs = DaskInputs.of(
                predictions,
                y_true,
                here=engine.now,
                groups=groups,
                sample_weight=sample_weight,
                subgroups=subgroups,
                uncertainties=uncertainties,
            )
            state = _score(inputs, stream, engine, say)
        result = stream._holding(state).compute()
    result.provenance["seconds"] = round(time.perf_counter() - started, 3)
    return result


def _fields(options: AssayOptions) -> dict[str, Any]:
    return {f.name: getattr(options, f.name) for f in fields(AssayOptions)}


def _score(inputs: DaskInputs, options: AssayOptions, engine: Engine, say: Say) -> StreamState:
    """What a stream of all chunks would hold."""
    from dask import delayed

    say("looking at the first chunk")
    common = [
        delayed({**_fields(options), "progress": silent}, traverse=False),
        delayed(inputs.models, traverse=False),
    ]
    chunk = delayed(score_chunk, pure=False)
    parts = inputs.chunks(engine.kept)
    first = parts[0]
    head = _checked(engine.now(chunk(*common, first.arguments, first.y_true, inputs.others(0, 1), 0, None, 1)))
    inputs.check(head.aligned())
    greatest = delayed(head.keys_of(inputs.n_instances, inputs.groups, options), traverse=False)
    tasks = [
        chunk(*common, part.arguments, part.y_true, inputs.others(part.start, part.stop), part.start, greatest)
        for part in parts
    ]
    pictures = [delayed(pictures_of)(task) for task in tasks]
    while len(pictures) > 1:
        pictures = [delayed(join_pictures)(pictures[i : i + FAN_IN]) for i in range(0, len(pictures), FAN_IN)]
    found = _Collected(len(tasks), say)
    engine.run([*(delayed(rest_of)(task) for task in tasks), pictures[0]], found.take)
    return found.state(options)


class _Collected:
    """Scored chunks in the order in which they end; of several errors, that of the first chunk is raised."""

    def __init__(self, n: int, say: Say) -> None:
        self._chunks: list[ScoredChunk | None] = [None] * n
        self._pictures: KeptPictures | None = None
        self._failed, self._say, self._n_done = n, say, 0

    def take(self, i: int, value: Any) -> None:
        """One more result: the scored chunk number i, or, after the last of them, the pictures."""
        n = len(self._chunks)
        if i == n:
            self._pictures = value
            return
        self._chunks[i] = value
        self._n_done += 1
        if value.problem is not None:
            self._failed = min(self._failed, i)
        if self._failed < n and None not in self._chunks[: self._failed]:
            for chunk in self._chunks[: self._failed + 1]:
                _checked(chunk)
        if self._n_done % -(-n // MOST_SAID) == 0 or self._n_done == n:
            self._say(f"scored {self._n_done} of {n} chunks")

    def state(self, options: AssayOptions) -> StreamState:
        """What a stream of all chunks would hold."""
        states = [_checked(chunk) for chunk in self._chunks]
        for chunk in self._chunks:
            for warned in chunk.warned if chunk is not None else ():
                warnings.warn_explicit(*warned)
        while len(states) > 1:  # by neighbours, because each extension passes through what both keep
            for left, right in zip(states[::2], states[1::2], strict=False):
                check_same_form(right.form or {}, left.form or {}, "chunk")
                left.extend(right, options)
            states = states[::2]
        assert self._pictures is not None
        return replace(states[0], pictures=self._pictures)


def _checked(chunk: ScoredChunk | None) -> StreamState:
    """What a chunk holds, unless it raised an error or comes from a worker with other versions."""
    assert chunk is not None
    own = versions()
    differs = next((name for name in own if chunk.versions[name] != own[name]), None)
    if differs is not None:
        fail(
            "client",
            "must have workers with the versions of this process",
            f"{differs} is {chunk.versions[differs]} there and {own[differs]} here",
            "install the same versions everywhere",
            code="mismatch",
        )
    if chunk.problem is not None:
        raise chunk.problem
    assert chunk.state is not None
    return chunk.state
