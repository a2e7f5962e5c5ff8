"""Tables and labelled arrays of other libraries as arrays and the labels of their axes, without importing these libraries.

| library | taken apart |
|---|---|
| pandas, modin, cuDF | values; index and columns |
| polars | values; columns (polars has no index) |
| pyarrow | values, dictionary-encoded ones decoded; column names; the index of pandas that the schema names |
| xarray | values; the coordinates of each axis |

Everything that asks for names or indexes asks here. Missing values are refused.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail

__all__ = [
    "Frame",
    "FromFile",
    "as_frame",
    "canonical_ids",
    "columns_of",
    "is_frame",
    "moves",
    "positions",
    "rows_in_order",
    "same_ids",
    "says_more",
]

Labels = NDArray[Any] | None
_UNDEFINED = object()  # a label that is nan, NaT or None: equal to itself, so that equal indexes stay equal


@final
@dataclass(frozen=True, eq=False)
class Frame:
    """Values with the labels of each axis, None for an axis without labels."""

    array: NDArray[Any]
    labels: tuple[Labels, ...]

    @property
    def index(self) -> Labels:
        """Labels of the rows."""
        return self.labels[0] if self.labels else None

    @property
    def columns(self) -> Labels:
        """Labels of the last of several axes."""
        return self.labels[-1] if len(self.labels) > 1 else None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values."""
        return self.array.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.array.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the values."""
        return self.array.dtype

    def __len__(self) -> int:
        return len(self.array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.array, dtype=dtype, copy=copy)

    def moved(self, places: NDArray[np.int64], axis: int = 0) -> "Frame":
        """The same values with the entries of one axis in another order."""
        at = axis % self.array.ndim
        labels = [label[places] if i == at and label is not None else label for i, label in enumerate(self.labels)]
        return Frame(self.array.take(places, axis=at), tuple(labels))


class FromFile(np.ndarray[Any, np.dtype[Any]]):
    """Labels (n,), votes (n, K) or other values of a file: an array that keeps what the file says of its rows and classes.

    A selection of rows keeps its ids; other operations give values without them.
    """

    class_names: tuple[str, ...] | None  #: The classes whose indices the numbers are, or the columns of votes.
    class_order: str  #: What the order of these names rests on, a key of `labels.CLASS_ORDERS`.
    ids: NDArray[Any] | None  #: (n,), of the rows
    keys: Mapping[str, NDArray[Any]]  #: (n,): Columns that may identify the rows, by name.

    def __new__(
        cls,
        values: Any,
        *,
        class_names: tuple[str, ...] | None = None,
        class_order: str = "stated",
        ids: NDArray[Any] | None = None,
        keys: Mapping[str, NDArray[Any]] | None = None,
    ) -> Self:
        """An array that carries what its column says."""
        found = np.asarray(values).view(cls)
        found.class_names, found.class_order, found.ids, found.keys = class_names, class_order, ids, dict(keys or {})
        return found

    def __array_finalize__(self, obj: Any) -> None:
        self.class_names, self.class_order, self.ids, self.keys = None, "stated", None, {}

    def __getitem__(self, rows: Any) -> Any:
        part = super().__getitem__(rows)
        if not isinstance(part, FromFile) or isinstance(rows, tuple) or part.ndim != self.ndim:
            return np.asarray(part) if isinstance(part, FromFile) else part
        return FromFile(
            part,
            class_names=self.class_names,
            class_order=self.class_order,
            ids=None if self.ids is None else self.ids[rows],
            keys={name: values[rows] for name, values in self.keys.items()},
        )

    def __reduce__(self) -> Any:
        return (_from_file, (np.asarray(self), self.class_names, self.class_order, self.ids, self.keys))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else np.asarray(array)


def _from_file(values: Any, class_names: Any, class_order: str, ids: Any, keys: Any) -> FromFile:
    return FromFile(values, class_names=class_names, class_order=class_order, ids=ids, keys=keys)


def is_frame(values: Any) -> bool:
    """True for a table, a column or a labelled array of another library.

    Examples
    --------
    >>> import pandas as pd
    >>> is_frame(pd.Series([1, 2])), is_frame(np.zeros(2)), is_frame([1, 2])
    (True, False, False)
    """
    return _reader_of(values) is not None


def as_frame(values: Any, name: str = "values") -> Frame | None:
    """Values and labels of a table, a column, a labelled array, or a list of such; None for anything else.

    The entries of a list are brought into the order of the first one that has labels.

    Examples
    --------
    >>> import pandas as pd
    >>> found = as_frame(pd.DataFrame({"cat": [0.7, 0.2], "dog": [0.3, 0.8]}, index=[7, 3]))
    >>> found.array.tolist(), found.index.tolist(), found.columns.tolist()
    ([[0.7, 0.3], [0.2, 0.8]], [7, 3], ['cat', 'dog'])
    """
    if isinstance(values, (list, tuple)):
        return (
            _stacked(values, name) if any(map(_reader_of, {type(value): value for value in values}.values())) else None
        )
    read = _reader_of(values)
    return None if read is None else read(values, name)


def columns_of(values: Any, name: str) -> dict[str, Frame] | None:
    """The columns of a table by their names, each in its own dtype; None for anything but a table."""
    if not is_frame(values):
        return None
    found: list[tuple[str, Frame]] = []
    if hasattr(values, "column_names"):  # pyarrow, whose `columns` are the values
        kept, index = _kept_index(values)
        names = [column for column in values.column_names if column not in kept]
        found = [(column, Frame(_from_column(values.column(column), name).array, (index,))) for column in names]
    elif hasattr(values, "get_columns"):  # polars
        found = [(column.name, _from_column(column, name)) for column in values.get_columns()]
    elif hasattr(values, "iloc") and hasattr(values, "columns"):
        found = [(str(column), _from_pandas(values.iloc[:, j], name)) for j, column in enumerate(values.columns)]
    else:
        frame = as_frame(values, name)
        if frame is None or frame.ndim != 2 or frame.columns is None:
            return None
        found = [(str(c), Frame(frame.array[:, j], (frame.index,))) for j, c in enumerate(frame.columns.tolist())]
    _refuse_twice([column for column, _ in found], name)
    return dict(found)


# -- the order of labels ------------------------------------------------------------------------------------------------


def canonical_ids(ids: Any) -> NDArray[Any]:
    """Ids in the form in which they are compared: 7, 7.0, "7" and "7.0" are one id; "007" is another.

    Examples
    --------
    >>> canonical_ids(["7", "12.0"]).tolist(), canonical_ids([7.0, 0.5]).tolist(), canonical_ids(["007", "b"]).tolist()
    ([7, 12], [7, 0.5], ['007', 'b'])
    """
    array = np.asarray(ids)
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind == "M":
        array = np.datetime_as_string(array.astype("datetime64[ns]"))
    values = [_canonical(value) for value in array.tolist()]
    if values and all(type(value) is int and abs(value) < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _canonical(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else _UNDEFINED if math.isnan(value) else value
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        whole, point, _ = value.removeprefix("-").partition(".")
        if not (value.isascii() and whole.isdigit() and len(value) < 40):
            return value
        if not point:
            return int(value) if str(int(value)) == value else value
        decimal = value[-1].isdigit() and repr(float(value)) == value  # as a table of text writes 7.0
        return _canonical(float(value)) if decimal else value
    if isinstance(value, tuple):  # an index of several levels
        return tuple(_canonical(part) for part in value)
    return _UNDEFINED if value is None or type(value).__name__ in ("NAType", "NaTType") else value


def positions(
    index: Any, ids: Any, parameter: str, *, part: str = "index entries", of: str = "the other inputs"
) -> NDArray[np.int64]:
    """Position of each id in an index with the same entries, ``(n,)``; compared as `canonical_ids`.

    Parameters
    ----------
    index : array-like (n,)
        Entries of the index of `parameter`, in any order.
    ids : array-like (n,)
        The entries in the order wanted.
    parameter, part, of : str
        Words for the error: "the `part` of `parameter` must match those of `of`".

    Raises
    ------
    InputError
        Missing, additional or repeated entries.
    """
    entries, wanted = canonical_ids(index).tolist(), canonical_ids(ids).tolist()
    place = {value: i for i, value in enumerate(entries)}
    missing = [i for i, value in enumerate(wanted) if value not in place]
    if missing or len(entries) != len(wanted) or len(place) != len(entries):
        found = "some are repeated or additional"
        if missing:
            found = f"{len(missing)} are missing, {np.asarray(ids).tolist()[missing[0]]!r:.60} first"
        remedy = "select the common ones first, or pass .to_numpy() if the order is the same"
        fail(parameter, f"the {part} must match those of {of}", found, remedy, code="ids", facts={"part": part})
    return np.array([place[value] for value in wanted], dtype=np.int64)


def rows_in_order(
    index: Labels, ids: Labels, parameter: str, *, of: str = "the other inputs"
) -> NDArray[np.int64] | None:
    """Where the row of each id stands in an index; None where rows stand as they are.

    A default index 0 … n−1 says nothing about instances whose ids are not whole numbers.
    """
    if index is None or ids is None:
        return None
    own, wanted = canonical_ids(index), canonical_ids(ids)
    if _equal(own, wanted) or (_counts(own) and not _whole(wanted)) or (_counts(wanted) and not _whole(own)):
        return None
    return positions(index, ids, parameter, of=of)


def moves(
    names: Sequence[str], labels: Sequence[Labels], *, part: str = "index entries"
) -> list[NDArray[np.int64] | None]:
    """Where the entries of several inputs have to go to stand in one order; None for those that stay.

    The order is that of the first input with labels, or of the first one whose labels are more than a default index where
    others have labels that are not whole numbers. Inputs without labels stand by position, so they are refused beside inputs
    whose orders differ.

    Parameters
    ----------
    names : sequence of str
        Of the inputs, for errors.
    labels : sequence of array (n,) or None
    part : str
        What the labels are, for errors.
    """
    found: list[NDArray[np.int64] | None] = [None] * len(names)
    canonical = {i: canonical_ids(label) for i, label in enumerate(labels) if label is not None}
    if len(canonical) < 2:
        return found
    first = next(iter(canonical))
    saying = next((i for i, ids in canonical.items() if not _counts(ids)), first)
    first = first if _whole(canonical[saying]) else saying
    silent = []
    for i, name in enumerate(names):
        if i not in canonical or (_counts(canonical[i]) and not _whole(canonical[first])):
            silent.append(name)
        elif not _equal(canonical[i], canonical[first]):
            found[i] = positions(labels[i], labels[first], name, part=part, of=names[first])
    moved = next((name for name, places in zip(names, found, strict=True) if places is not None), None)
    if silent and moved is not None:
        rule = f"needs the {part} of {names[first]}, because those of {moved} stand in another order"
        remedy = f"bring {moved} into the order of {names[first]} first, or label all of them"
        fail(silent[0], rule, "got none, so its order is unknown", remedy, code="ids")
    return found


def same_ids(one: Any, other: Any) -> bool:
    """Whether two lists of ids are equal in order; compared as `canonical_ids`."""
    return _equal(canonical_ids(one), canonical_ids(other))


def says_more(index: Labels) -> bool:
    """True for an index other than 0 … n−1, the default of tables, which is given without a thought."""
    return index is not None and not _counts(canonical_ids(index))


def _counts(ids: NDArray[Any]) -> bool:
    return _whole(ids) and np.array_equal(ids, np.arange(len(ids)))


def _whole(ids: NDArray[Any]) -> bool:
    return ids.dtype.kind in "iu"


def _equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if _whole(a) and _whole(b):
        return np.array_equal(a, b)
    return a.shape == b.shape and a.tolist() == b.tolist()


def _stacked(values: Sequence[Any], name: str) -> Frame | None:
    """The entries of a list in one array, in the order of the first with labels; None if their shapes differ."""
    each = []
    for i, value in enumerate(values):
        frame = as_frame(value, f"{name}[{i}]")
        array = np.asarray(value) if frame is None else frame.array
        each.append(Frame(array, (None,) * array.ndim) if frame is None else frame)
    if len({one.shape for one in each}) > 1:
        return None  # refused as ragged
    for axis in range(each[0].ndim):
        part = "columns" if axis else "index entries"
        places = moves([f"{name}[{i}]" for i in range(len(each))], [one.labels[axis] for one in each], part=part)
        each = [one if place is None else one.moved(place, axis) for one, place in zip(each, places, strict=True)]
    known = [
        next((one.labels[axis] for one in each if one.labels[axis] is not None), None) for axis in range(each[0].ndim)
    ]
    return Frame(np.stack([one.array for one in each]), (None, *known))


# -- readers ------------------------------------------------------------------------------------------------------------


def _reader_of(values: Any) -> Callable[[Any, str], Frame] | None:
    kind: Any = type(values)
    return _reader(kind)


@lru_cache(maxsize=512)
def _reader(kind: Any) -> Callable[[Any, str], Frame] | None:
    """What takes values of this type apart; None for a type that is no table and no labelled array."""
    if kind is Frame:
        return lambda values, name: values
    if kind is FromFile:
        return _of_file
    libraries = {base.__module__.partition(".")[0] for base in kind.__mro__}
    if "polars" in libraries:
        if hasattr(kind, "collect_schema") and not hasattr(kind, "to_numpy"):
            return _refuse_lazy
        return (_from_polars if hasattr(kind, "get_columns") else _from_column) if hasattr(kind, "to_numpy") else None
    if "pyarrow" in libraries:
        if hasattr(kind, "column_names"):
            return _from_arrow
        return _from_column if hasattr(kind, "null_count") and hasattr(kind, "to_numpy") else None
    if "xarray" in libraries:
        return _from_xarray if hasattr(kind, "coords") and hasattr(kind, "to_numpy") else None
    # by attributes, because modin and cuDF have the classes of pandas without its name
    return _from_pandas if all(hasattr(kind, part) for part in ("index", "to_numpy", "isna")) else None


def _of_file(values: FromFile, name: str) -> Frame:
    names = values.class_names
    fits = names is not None and values.ndim > 1 and values.shape[-1] == len(names)
    columns = np.array(names, dtype=object) if fits else None
    return Frame(np.asarray(values), (values.ids, *(None,) * (values.ndim - 2), columns)[: values.ndim])


def _from_pandas(values: Any, name: str) -> Frame:
    array = np.asarray(values.to_numpy())
    if array.dtype.kind == "O":  # NaN among floats is refused by the check of the values
        missing = np.asarray(values.isna())
        _refuse_missing(missing, name, array)
        dtypes = values.dtypes if hasattr(values, "columns") else [values.dtype]
        if all(getattr(dtype, "kind", "O") in "fiub" for dtype in dtypes):
            array = np.asarray(values.to_numpy(dtype=float))  # nullable numbers, none of them missing
    axes = (values.index, values.columns) if array.ndim == 2 else (values.index,)
    return Frame(array, tuple(_labels(axis) for axis in axes))


def _from_polars(values: Any, name: str) -> Frame:
    for column in values.get_columns():
        _from_column(column, name)  # refuses nulls, which would become nan
    array = np.asarray(values.to_numpy())
    return Frame(array, (None, np.array(values.columns, dtype=object)))


def _from_column(values: Any, name: str) -> Frame:
    """A column of polars or pyarrow."""
    arrow = hasattr(values, "to_pylist")
    if values.null_count if arrow else values.null_count():
        missing = [value is None for value in values.to_pylist()] if arrow else values.is_null().to_numpy()
        _refuse_missing(np.asarray(missing), name)
    if hasattr(values, "dictionary") and hasattr(values, "dictionary_decode"):
        values = values.dictionary_decode()
    whole_copy = {"zero_copy_only": False} if hasattr(values, "buffers") else {}  # an Array of pyarrow
    array = np.asarray(values.to_numpy(**whole_copy))
    shapes = {getattr(row, "shape", ()) for row in array} if array.dtype.kind == "O" else set()
    if len(shapes) == 1 and () not in shapes:  # a list in each row
        array = np.stack(list(array))
    return Frame(array, (None,) * array.ndim)


def _from_arrow(values: Any, name: str) -> Frame:
    kept, index = _kept_index(values)
    names = [column for column in values.column_names if column not in kept]
    _refuse_twice(names, name)
    columns = [_from_column(values.column(column), name).array for column in names]
    lists = next((column for column, found in zip(names, columns, strict=True) if found.ndim > 1), None)
    if lists is not None:
        rule, got = "columns must hold one value in each row", f"{lists!r} holds lists"
        fail(name, rule, got, "give that column alone, or leave it out", code="type")
    odd = any(column.dtype.kind == "O" for column in columns)
    array = np.empty((values.num_rows, len(names)), dtype=object if odd else np.result_type(*columns, np.bool_))
    for j, column in enumerate(columns):
        array[:, j] = column
    return Frame(array, (index, np.array(names, dtype=object)))


def _kept_index(values: Any) -> tuple[list[str], Labels]:
    """The columns of a table of pyarrow that hold the index of pandas, and the index; a stored range says nothing."""
    stated = (values.schema.pandas_metadata or {}).get("index_columns", ())
    kept = [column for column in stated if isinstance(column, str) and column in values.column_names]
    parts = [_from_column(values.column(column), column).array for column in kept]
    if len(parts) < 2:
        return kept, parts[0] if parts else None
    index = np.empty(values.num_rows, dtype=object)
    index[:] = list(zip(*(part.tolist() for part in parts), strict=True))
    return kept, index


def _from_xarray(values: Any, name: str) -> Frame:
    array = np.asarray(values.to_numpy())
    if array.dtype.kind == "O":
        _refuse_missing(np.asarray(values.isnull().to_numpy()), name, array)
    axes = [_labels(values.indexes[dim]) if dim in values.indexes else None for dim in values.dims]
    return Frame(array, tuple(axes))


def _refuse_lazy(values: Any, name: str) -> Frame:
    rule, got = "must hold values", f"got {type(values).__name__}, which is a query"
    fail(name, rule, got, "call .collect() first", code="type")


def _labels(axis: Any) -> NDArray[Any]:
    return np.asarray(axis.to_numpy() if hasattr(axis, "to_numpy") else axis)


def _refuse_twice(names: Sequence[str], name: str) -> None:
    if len(set(names)) < len(names):
        twice = next(column for i, column in enumerate(names) if column in names[:i])
        fail(name, "columns must have different names", f"{twice!r} occurs twice", "rename one", code="duplicate")


def _refuse_missing(missing: NDArray[Any], name: str, array: NDArray[Any] | None = None) -> None:
    if missing.any():
        at = tuple(np.argwhere(missing)[0])
        held = "null" if array is None else f"{array[at]!r:.60}"
        remedy = "drop or fill such rows"
        fail(name, "values must not be missing", f"row {int(at[0])} holds {held}", remedy, code="missing")
