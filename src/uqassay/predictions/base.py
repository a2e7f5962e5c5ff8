"""What every prediction is: its arrays, its metadata, its rows, and what it remembers."""

import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, as_array, available_cores, check_class_count, release, row_chunks, taken
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.frames import Frame, as_frame, is_frame, moves
from uqassay.ids import aligned
from uqassay.notes import Note
from uqassay.predictions.labels import CLASS_ORDERS, frame_classes, in_order_of_ids, take_index, whole_number_in
from uqassay.text import named, shown

__all__ = [
    "REMEMBERED",
    "checked_class_names",
    "checked_ids",
    "numbered",
    "per_instance",
]


# Class probabilities that a prediction keeps once they are computed: its mean, its lower and its upper probabilities.

REMEMBERED = ("mean_probs", "lower_probs", "upper_probs")
Held = dict[str, NDArray[np.float64]]


def remembered(method: Callable[[Any], NDArray[np.float64]]) -> Callable[[Any], NDArray[np.float64]]:
    """A method without arguments whose result a remembering prediction computes once; the array is then read-only."""
    name = method.__name__

    @wraps(method)
    def once(self: Any) -> NDArray[np.float64]:
        held: Held | None = self._held
        if held is None:
            return method(self)
        if name not in held:
            values = method(self).view()
            values.flags.writeable = False
            held[name] = values
        return held[name]

    return once


def held_rows(held: Held | None, rows: Any) -> Held | None:
    """The part of what is held that belongs to some of the instances."""
    return None if held is None else {name: taken(values, rows) for name, values in held.items()}


# Checks of a prediction's metadata: class names, ids, groups and notes.


def checked_class_names(names: Any, n_classes: int) -> tuple[str, ...]:
    """One name for each class, as text."""
    if isinstance(names, (str, bytes, Mapping, set, frozenset)) or not isinstance(names, Iterable):
        raise _no_names(f"got {type(names).__name__}")
    items = list(names) if isinstance(names, (list, tuple)) else as_array(names, "class_names").reshape(-1).tolist()
    texts = tuple(_name(item) for item in items)
    if len(texts) != n_classes:
        rule = f"needs one name for each of the {n_classes} classes"
        fail("class_names", rule, f"got {len(texts)}", "give them in the order of the last axis", code="mismatch")
    if len(set(texts)) < len(texts):
        twice = Counter(texts).most_common(1)[0][0]
        fail("class_names", "must differ from each other", f"{twice!r} occurs twice", "rename one", code="duplicate")
    return texts


def checked_ids(ids: Any, n: int) -> NDArray[Any]:
    """One id for each instance, all different, ``(n,)``."""
    array = per_instance(ids, "ids", n)
    counts = Counter(array.tolist())
    if len(counts) != n:
        value, count = counts.most_common(1)[0]
        rule = "must be unique"
        fail("ids", rule, f"{value!r} occurs {count} times", "drop the duplicates or leave ids out", code="duplicate")
    return array


def per_instance(values: Any, name: str, n: int) -> NDArray[Any]:
    """Checked ids or groups ``(n,)``: numbers, text or dates, none of them missing."""
    array = as_array(values, name)
    if array.shape != (n,):
        rule = f"needs one value for each of the {n} instances"
        fail(name, rule, f"got shape {array.shape}", "give them in the order of the rows", code="mismatch")
    if array.dtype.kind not in "iubfUSMmO":
        fail(name, "must be numbers, text or dates", f"got dtype {array.dtype}", "convert them to text", code="type")
    if array.dtype.kind == "O":
        items = array.tolist()
        odd = next((row for row, item in enumerate(items) if type(item).__hash__ is None), None)
        if odd is not None:
            rule = "must be numbers, text or dates"
            fail(name, rule, f"row {odd} holds a {type(items[odd]).__name__}", "convert them to text", code="type")
        missing = np.array([_is_missing(item) for item in items])
    elif array.dtype.kind in "fMm":
        missing = np.isnan(array)
    else:
        return array
    if missing.any():
        got = f"row {int(np.flatnonzero(missing)[0])} holds {array[missing][0]}"
        fail(name, "values must not be missing", got, "drop such rows, or give them a value", code="missing")
    return array


def checked_notes(notes: Any) -> tuple[Note, ...]:
    """Notes as a tuple. Text, which files hold in place of notes, becomes a note with the code "stated"."""
    items = notes if isinstance(notes, (list, tuple)) else (notes,)
    odd = next((item for item in items if not isinstance(item, (Note, str))), None)
    if odd is not None:
        fail("notes", "must be notes or text", f"got {type(odd).__name__}", "pass a tuple of Note", code="type")
    return tuple(Note("stated", item) if isinstance(item, str) else item for item in items)


def _name(item: Any) -> str:
    """A class name as text, from text, bytes, a number or an array without axes."""
    if isinstance(item, bytes):
        return item.decode("utf-8", "replace")
    if isinstance(item, (np.generic, np.ndarray)) or hasattr(item, "detach"):
        if getattr(item, "ndim", 0):
            raise _no_names(f"one of them has shape {tuple(item.shape)}")
        item = item.item()
    if _is_missing(item) or type(item).__hash__ is None:
        raise _no_names(f"one of them is {item!r:.40}")
    return str(item)


def _no_names(got: str) -> InputError:
    return InputError(
        "class_names",
        "must be a sequence of names",
        got,
        "give a list with one name per class, in the order of the last axis",
        code="type",
    )


def _is_missing(item: Any) -> bool:
    """True for None, nan, NaT and pandas' NA."""
    # only nan differs from itself; the comparison of NA with itself is NA, which has no truth value
    return item is None or type(item).__name__ in ("NAType", "NaTType") or bool(item != item)


# The base class of all kinds of prediction.

_WORKER = threading.local()  # marks the threads of a pool, which start no further threads
CHUNK_BYTES = 32 * 2**20
CORE_BYTES = 2**20  # fits into the cache of one core
Rows = int | slice | Sequence[int] | NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Prediction(ABC):
    """A classifier's prediction for n instances and K classes; each of the nine kinds has its fields.

    Parameters
    ----------
    class_names : sequence of str, length K, optional
        Names of the classes, in the order of the last axis.
    ids : array (n,), optional
        Identifiers of the instances; labels with an index are aligned to them.
    groups : array (n,), optional
        The patient, site or video that an instance belongs to; intervals and tests resample whole groups.
    notes : tuple of Note
        Changes to the data, such as repairs and subsampling; the report shows them among the warnings.
    class_order : str
        What the order of the class names rests on: "stated" by the caller, "columns" of a table, or "keys" of JSON objects,
        which have none; then labels are given by name.
    keys : dict of str to array (n,)
        Columns of a table that may identify the instances, by name: a column of the same name beside the labels aligns them.
    """

    class_names: tuple[str, ...] | None = None
    ids: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    notes: tuple[Note, ...] = ()
    class_order: str = "stated"
    keys: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    row_numbers: NDArray[np.int64] | None = field(default=None, repr=False)
    _held: ClassVar[Held | None] = None  # kept by `remembering`; not a field, so `replace` drops it

    def __init_subclass__(cls) -> None:
        for name in REMEMBERED:
            if name in vars(cls) and not getattr(vars(cls)[name], "__isabstractmethod__", False):
                setattr(cls, name, remembered(vars(cls)[name]))

    # -- defined by each kind -----------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Number of classes K."""

    @abstractmethod
    def mean_probs(self) -> Floats:
        """One distribution per instance that represents the prediction, ``(n, K)``."""

    @abstractmethod
    def lower_probs(self) -> Floats:
        """Lower probability of each class, ``(n, K)``."""

    @abstractmethod
    def upper_probs(self) -> Floats:
        """Upper probability of each class, ``(n, K)``."""

    @abstractmethod
    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""

    # -- derived ------------------------------------------------------------------------------------------------------

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return int(getattr(self, self.array_names()[0]).shape[0])

    def label_probs(self) -> Floats:
        """Vector whose arg max is the predicted class, ``(n, K)``: `mean_probs`, or the upper bounds of `Intervals`."""
        return self.mean_probs()

    def labels(self) -> NDArray[np.int64]:
        """Predicted class, the arg max of `label_probs`, ``(n,)``."""
        return self.label_probs().argmax(axis=1)

    def hull_points(self) -> NDArray[Any]:
        """Points whose convex hull is the credal set, ``(n, V, K)``.

        Raises
        ------
        InputError
            For `Intervals`, `ClassSets` and `Masses`, which are not given by points.
        """
        got = f"got {type(self).__name__}"
        remedy = 'use over="box", or Vertices from credal.box_vertices or credal.permutation_vertices'
        fail("over", "only a set that is given by points has a hull", got, remedy, code="undefined")

    def sample(self, n: int, rng: Any = None) -> Floats:
        """Draw n distributions per instance from a second-order distribution, ``(n_instances, n, K)``.

        Raises
        ------
        InputError
            For kinds that are sets without a distribution over their elements.
        """
        rule = "a set without a distribution over it cannot be sampled"
        got = f"got {type(self).__name__}"
        fail("sample", rule, got, "use Members, Dirichlet or GaussianLogits", code="no-distribution")

    def credal(self) -> "Prediction":
        """The prediction as a set: `Members` of draws or passes for `Dirichlet` and `GaussianLogits`, otherwise itself."""
        return self

    def one_versus_rest(self, k: int | str) -> "Prediction":
        """Two-class prediction of class k against all others: class 1 is k, class 0 is the rest.

        Lower and upper probabilities are those of the event {k} and its complement. The mean of `Point`, `Members`,
        `Dirichlet` and `GaussianLogits` is also that of the event. `Intervals`, `Masses` and `Vertices` recompute their mean
        with two classes, so it may differ. `ClassSets` become `Intervals`.

        Parameters
        ----------
        k : int or str
            Index or name of the class.

        Returns
        -------
        Prediction
            Two classes of the same kind (`Members` for `GaussianLogits`, except for two classes and epistemic variance), with
            the ids, groups, notes and row numbers. The classes are named "not NAME" and "NAME". Where the name is a whole
            number, or the classes have no names, they are named "rest" and "class NAME", so that labels 0 and 1 keep their
            meaning. `Dirichlet` makes new draws.

        Examples
        --------
        >>> import uqassay as uq
        >>> p = uq.Point([[0.5, 0.25, 0.25]], class_names=["cat", "dog", "owl"]).one_versus_rest("dog")
        >>> p.probs.tolist(), p.class_names
        ([[0.75, 0.25]], ('not dog', 'dog'))
        >>> uq.Point([[0.5, 0.25, 0.25]]).one_versus_rest(0).class_names
        ('rest', 'class 0')
        """
        index = self._class_index(k)
        name = str(index) if self.class_names is None else self.class_names[index]
        binary = self._one_versus_rest(index)
        # a class named "0" at index 1 would make the labels 0 and 1 ambiguous
        names = (f"not {name}", name) if whole_number_in(name) is None else ("rest", f"class {name}")
        object.__setattr__(binary, "class_names", names)
        # ids are unchecked here, because a selection may hold a row twice
        for carried in ("ids", "groups", "notes", "row_numbers", "keys"):
            object.__setattr__(binary, carried, getattr(self, carried))
        return binary

    @abstractmethod
    def _one_versus_rest(self, k: int) -> "Prediction":
        """The two-class prediction (rest, class k), without class names, ids, groups and notes."""

    def _class_index(self, k: int | str) -> int:
        known = "" if self.class_names is None else f" or one of {', '.join(map(named, self.class_names[:8]))}"
        if isinstance(k, str) and self.class_names is not None and k in self.class_names:
            return self.class_names.index(k)
        if isinstance(k, (int, np.integer)) and not isinstance(k, bool) and 0 <= k < self.n_classes:
            return int(k)
        got = f"got {shown(k)}"
        fail("k", f"must be a class, 0 … {self.n_classes - 1}{known}", got, "choose one of them", code="choice")

    def for_each_chunk(self, work: Callable[[slice, Self], None], bytes_per_row: int, *, chunk_bytes: int) -> None:
        """Call ``work(rows, part)`` for consecutive parts of the instances, on as many threads as there are cores.

        Neither the size of the parts nor the number of threads changes a result. The parts of all threads together take about
        `chunk_bytes`, but each part takes at least `CORE_BYTES`. Pages of a memory map are released after each part.
        """

        def one(rows: slice) -> None:
            part = self[rows]
            work(rows, part if self._held is not None else part.remembering())
            for name in self.array_names():
                release(getattr(self, name))

        cores = available_cores()
        share = max(chunk_bytes // cores, min(chunk_bytes, CORE_BYTES))
        pieces = list(row_chunks(self.n_instances, bytes_per_row, chunk_bytes=share))
        threads = 1 if getattr(_WORKER, "busy", False) else min(len(pieces), cores)
        if threads == 1:
            for rows in pieces:
                one(rows)
            return
        with ThreadPoolExecutor(threads, initializer=_start_worker) as pool:
            for done in [pool.submit(one, rows) for rows in pieces]:
                done.result()

    def __len__(self) -> int:
        return self.n_instances

    def __getitem__(self, rows: Rows) -> Self:
        """The prediction for some instances. Slices share memory, and seeded draws stay with their rows."""
        chosen = self._chosen(rows)
        numbers = np.arange(self.n_instances) if self.row_numbers is None else self.row_numbers
        numbers = numbers[chosen]
        if numbers.size == 0:
            fail("rows", "must select at least one instance", "got none", "check the selection", code="empty")
        # without __post_init__, because the values are valid already
        part = object.__new__(type(self))
        for f in fields(self):
            value = getattr(self, f.name)
            if value is not None and f.name in (*self.array_names(), "ids", "groups"):
                value = taken(value, chosen)
            elif f.name == "keys":
                value = {name: taken(each, chosen) for name, each in value.items()}
            object.__setattr__(part, f.name, value)
        object.__setattr__(part, "row_numbers", numbers)
        object.__setattr__(part, "_held", held_rows(self._held, chosen))
        return part

    @property
    def remembers(self) -> bool:
        """True if computed class probabilities are kept."""
        return self._held is not None

    def remembering(self, *names: str, chunk_bytes: int = CHUNK_BYTES) -> Self:
        """A copy that keeps the results of `mean_probs`, `lower_probs` and `upper_probs`.

        Parameters
        ----------
        *names : str
            Methods to compute now, chunk by chunk; the others are computed at their first call.
        chunk_bytes : int
            As in `for_each_chunk`.

        Returns
        -------
        Prediction
            Holds up to three read-only float64 arrays (n, K); slices take their rows from them.
        """
        same = copy(self)
        held: Held = {} if self._held is None else self._held
        object.__setattr__(same, "_held", held)
        missing = [name for name in names if name not in held]
        if missing:
            found = {name: np.empty((self.n_instances, self.n_classes)) for name in missing}

            def work(rows: slice, part: Self) -> None:
                for name, values in found.items():
                    values[rows] = getattr(part, name)()

            size = sum(getattr(self, name)[:1].nbytes for name in self.array_names())
            self.for_each_chunk(work, size + 8 * self.n_classes * len(missing), chunk_bytes=chunk_bytes)
            for name, values in found.items():
                values.flags.writeable = False
                held[name] = values
        return same

    def forgetting(self) -> Self:
        """A copy that keeps no computed probabilities, and whose slices take less memory."""
        same = copy(self)
        object.__setattr__(same, "_held", None)
        return same

    def _chosen(self, rows: Rows) -> Any:
        """The checked selection: a slice, whole numbers or truth values."""
        n = self.n_instances
        if isinstance(rows, slice):
            try:
                rows.indices(n)
            except (TypeError, ValueError) as problem:
                remedy = "check the selection"
                raise InputError("rows", "a slice needs whole numbers", f"got {rows}", remedy, code="type") from problem
            return rows
        if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
            rows = [int(rows)]
        values, index = take_index(rows, "rows")
        chosen = as_array(values, "rows")
        if chosen.dtype == bool and chosen.shape == (n,):  # whole numbers are positions, under any index
            chosen = in_order_of_ids(chosen, index, self.ids, "rows")
        if isinstance(rows, tuple) or chosen.ndim != 1:
            rule = "must be a number, a slice or a one-dimensional selection of instances"
            got = f"got {('several axes' if isinstance(rows, tuple) else f'shape {chosen.shape}')}"
            fail("rows", rule, got, "index the arrays themselves", code="shape")
        if chosen.size == 0:
            return chosen.astype(np.int64)
        if chosen.dtype == bool:
            if chosen.shape != (n,):
                rule = f"a boolean selection needs one value for each of the {n} instances"
                got = f"got shape {chosen.shape}"
                fail("rows", rule, got, "build it from an array of that length", code="mismatch")
            return chosen
        if chosen.dtype.kind not in "iu":
            rule = "must be whole numbers or truth values"
            fail("rows", rule, f"got dtype {chosen.dtype}", "convert them, for example by .astype(int)", code="type")
        outside = (chosen >= n) | (chosen < -n)
        if outside.any():
            fail("rows", f"must lie in 0 … {n - 1}", f"got {chosen[outside][0]}", "check the selection", code="range")
        return chosen

    def with_metadata(
        self, *, class_names: Sequence[str] | None = None, ids: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """A copy with other class names, ids or groups; None keeps the present ones. Class names are in a stated order."""
        changes: dict[str, Any] = {"class_names": class_names, "ids": ids, "groups": groups}
        changes |= {"class_order": "stated"} if class_names is not None else {}
        return replace(self, **{k: v for k, v in changes.items() if v is not None})

    def without_class_names(self) -> Self:
        """A copy without class names, for labels that are class indices already."""
        same = copy(self)
        object.__setattr__(same, "class_names", None)
        return same

    def __iter__(self) -> Iterator[Self]:
        """One instance after another."""
        return (self[i] for i in range(self.n_instances))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise TypeError(
            f"{type(self).__name__} is no array; use its fields ({', '.join(self.array_names())}) or mean_probs()."
        )

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}={getattr(self, name).shape}" for name in self.array_names())
        return f"{type(self).__name__}({shapes})"

    # -- validation shared by the kinds -------------------------------------------------------------------------------

    def _set(self, name: str, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value = value.view()
            value.flags.writeable = False
        object.__setattr__(self, name, value)

    def _take_table(self, *names: str, axis: int = 0) -> None:
        """Turn tables into arrays; labels of the last axis name the classes, those of `axis` identify the instances."""
        self._take_rows(*names, axis=axis)
        given = {name: getattr(self, name) for name in names}
        frames = {name: value for name, value in given.items() if isinstance(value, Frame)}
        if not frames:
            return
        places = moves(list(given), [getattr(value, "columns", None) for value in given.values()], part="columns")
        for name, place in zip(given, places, strict=True):
            given[name] = frames[name].moved(place, -1) if place is not None else given[name]
        named = next((name for name in frames if given[name].columns is not None), names[0])
        order, class_names = frame_classes(given[named], named) if named in frames else (None, None)
        if class_names is not None and self.class_names is not None:
            # names that are given put the columns of these names in their order; others rename the columns
            wanted = checked_class_names(self.class_names, len(class_names))
            if set(wanted) == set(class_names):
                order = [(order or range(len(wanted)))[class_names.index(each)] for each in wanted]
        elif class_names is not None:
            object.__setattr__(self, "class_order", "columns")
        for name, value in given.items():
            array = value.array if isinstance(value, Frame) else value
            # arrays without names stand by position, so they move with the table
            moved = order is not None and np.ndim(array) > 0
            object.__setattr__(self, name, as_array(array, name)[..., order] if moved else array)
        self._default(class_names=class_names)

    def _take_rows(self, *names: str, axis: int = 0) -> None:
        """Bring arrays, ids and groups that carry an index into one order; tables become a `Frame`, and give the ids."""
        given = {name: as_frame(getattr(self, name), name) or getattr(self, name) for name in names}
        own = {name: value for name in ("ids", "groups") if (value := getattr(self, name)) is not None}
        if not any(is_frame(value) for value in (*given.values(), *own.values())):
            return
        found = aligned({**given, **own}, axes=dict.fromkeys(names, axis))
        index = next((v.labels[axis] for name in names if isinstance(v := found[name], Frame) and v.ndim > axis), None)
        if index is None and own.keys() == {"ids", "groups"} and not is_frame(own["ids"]):
            groups, of_groups = take_index(own["groups"], "groups")
            found["groups"] = in_order_of_ids(
                as_array(groups, "groups"), of_groups, as_array(own["ids"], "ids"), "groups"
            )
        for name, value in found.items():
            object.__setattr__(self, name, value)
        self._default(ids=index)

    def _default(self, **carried: Any) -> None:
        for name, value in carried.items():
            if value is not None and getattr(self, name) is None:
                object.__setattr__(self, name, value)

    def _finish(self, *, class_axis_of: str) -> None:
        """Check the number of classes, and class names, ids, groups and notes."""
        check_class_count(self.n_classes, class_axis_of)
        if self.class_names is not None:
            object.__setattr__(self, "class_names", checked_class_names(self.class_names, self.n_classes))
        if self.ids is not None:
            object.__setattr__(self, "ids", checked_ids(self.ids, self.n_instances))
        if self.groups is not None:
            object.__setattr__(self, "groups", per_instance(self.groups, "groups", self.n_instances))
        object.__setattr__(self, "notes", checked_notes(self.notes))
        if self.class_order not in CLASS_ORDERS:
            got = f"got {shown(self.class_order)}"
            fail("class_order", f"must be one of {', '.join(CLASS_ORDERS)}", got, "leave it out", code="choice")
        keys = {name: per_instance(values, f"keys[{name!r}]", self.n_instances) for name, values in self.keys.items()}
        object.__setattr__(self, "keys", keys)


def _start_worker() -> None:
    _WORKER.busy = True


# Row numbers of a prediction that is part of a longer one: seeded draws are keyed by them.

AnyPrediction = TypeVar("AnyPrediction", bound=Prediction)


def numbered(prediction: AnyPrediction, first_row: int) -> AnyPrediction:
    """The prediction with its rows counted from `first_row`; a slice keeps the numbers that it had in the whole.

    Examples
    --------
    >>> import uqassay as uq
    >>> whole = uq.Dirichlet([[2.0, 1.0], [1.0, 3.0]])
    >>> part = numbered(uq.Dirichlet([[1.0, 3.0]]), 1)
    >>> bool((part.hull_points()[0] == whole.hull_points()[1]).all())
    True
    """
    if prediction.row_numbers is not None:
        return prediction
    same = copy(prediction)
    object.__setattr__(same, "row_numbers", np.arange(first_row, first_row + prediction.n_instances))
    return same
