"""Records as plain values and arrays, and back: a record is saved and read because it is a dataclass.

`packed` turns a record (frozen dataclass, named tuple, or number with attributes such as `Estimate`) into values for strict
JSON and arrays by their places, such as "models/0/columns/gap". `unpacked` makes the record again. Both go by the type hints of
the fields, so that no field is listed anywhere. A value of another type, an unknown or a missing field, an array of another
shape or type, and an array that no field asks for are each refused in one sentence.

What a type hint cannot say stands once with the record: `Shape` in the hint of an array, and a method ``_check_read``, which
`unpacked` calls. A `Later` is packed as its value.
"""

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import EllipsisType, NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, cast, final, get_args, get_origin, get_type_hints
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.results import number_from_json, plain

__all__ = ["Later", "Shape", "packed", "unpacked"]

Kind = TypeVar("Kind")
Found = TypeVar("Found")
Arrays = dict[str, NDArray[Any]]
Lengths = ChainMap[str, int]

GREATEST = 2**63 - 1  # whole number that is taken from a file
KEPT = "iufbUSMm"  # kinds of dtype of arrays whose hint names none; Python objects could only be pickled
SCALARS = {int: "a whole number", str: "text", bool: "true or false", NoneType: "null"}


@final
class Shape:
    """What an array or a sequence must hold, as part of its hint: ``Annotated[NDArray[np.int64], Shape("m", below="n")]``.

    Parameters
    ----------
    *lengths : str or ...
        Names of lengths. Those of one name are equal within a record and the records inside it; "B+1" is one more than "B".
        A last ``...`` stands for any further axes.
    low, high : float, optional
        Bounds of the values. nan passes, unless the values must be finite.
    below : str, optional
        Name of a length: the values are places among so many things, counted from 0.
    finite : bool
    """

    def __init__(
        self,
        *lengths: str | EllipsisType,
        low: float | None = None,
        high: float | None = None,
        below: str | None = None,
        finite: bool = False,
    ) -> None:
        self.open = lengths[-1:] == (...,)
        self.lengths = [length for length in lengths if isinstance(length, str)]
        self.low, self.high, self.below, self.finite = low, high, below, finite

    def check(self, value: Any, place: str, lengths: Lengths) -> None:
        """Hold the value against the lengths that are known, and note down those that are new."""
        shape = value.shape if isinstance(value, np.ndarray) else (len(value),)
        fits = len(shape) >= len(self.lengths) if self.open else len(shape) == len(self.lengths)
        for length, found in zip(self.lengths, shape, strict=False):
            name, _, more = length.partition("+")
            found -= int(more or 0)
            fits = fits and found >= 0 and lengths.setdefault(name, found) == found
        if not fits:
            known = [f"{name} = {lengths[name]}" for name in self.lengths if name in lengths]
            wanted = f"({', '.join([*self.lengths, *(['…'] if self.open else [])])})"
            where = f" with {', '.join(known)}" if known else ""
            fail(place, f"must have shape {wanted}{where}", f"got {shape}", "", code="shape")
        if self.finite and not np.isfinite(value).all():
            fail(place, "must hold finite numbers", "", "", code="finite")
        low, high = (self.low, self.high) if self.below is None else (0, lengths[self.below] - 1)
        if (low is not None and np.less(value, low).any()) or (high is not None and np.greater(value, high).any()):
            fail(place, f"must lie between {low} and {high}", "", "", code="range")


@final
class Later(Generic[Found]):
    """A value that is computed when it is first asked for, by calling this. Copies of a record share it.

    Examples
    --------
    >>> later = Later(lambda: print("computed") or 3)
    >>> later() + later()
    computed
    6
    """

    def __init__(self, compute: Callable[[], Found]) -> None:
        self._compute: Callable[[], Found] | None = compute

    @classmethod
    def known(cls, value: Found) -> "Later[Found]":
        """A value that is there already."""
        return cls(lambda: value)

    def __call__(self) -> Found:
        """The value, computed now unless it is there already."""
        if (compute := self._compute) is not None:
            self._found = compute()
            self._compute = None  # with all that it held
        return self._found

    def __reduce__(self) -> tuple[Any, ...]:
        return Later.known, (self(),)  # another process gets the value


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The hints of the fields of a record; {} for other types."""
    if is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {field.name: hints[field.name] for field in fields(kind) if field.init}
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return get_type_hints(kind, include_extras=True)
    if issubclass(kind, float) and kind not in (float, np.float64):  # a number with attributes
        return {"value": float, **get_type_hints(kind)}
    return {}


def _of_each(parts: Sequence[Any], n: int) -> Sequence[Any]:
    """The hints of the n values of a sequence."""
    return parts if len(parts) > 1 and parts[1] is not ... else [parts[0]] * n


def _joined(place: str, name: object) -> str:
    return f"{place}/{name}" if place else str(name)


def _named(place: str, name: str) -> str:
    """The place of a name that users may have chosen: names of arrays hold neither further slashes nor NUL."""
    return _joined(place, quote(name, "", errors="surrogatepass"))


# -- writing ------------------------------------------------------------------------------------------------------------


def packed(record: Any) -> tuple[dict[str, Any], Arrays]:
    """The values of a record for strict JSON, and its arrays by their places; the values hold the place of each array.

    Examples
    --------
    >>> from uqassay.metrics.epistemic_gain import TrueUncertainty
    >>> values, arrays = packed(TrueUncertainty(np.ones(2), np.zeros(2), np.ones(2)))
    >>> values
    {'total': 'total', 'aleatoric': 'aleatoric', 'epistemic': 'epistemic'}
    >>> unpacked(TrueUncertainty, values, arrays).total
    array([1., 1.])
    """
    arrays: Arrays = {}
    return _packed(record, type(record), "", arrays), arrays


def _packed(value: Any, hint: Any, place: str, arrays: Arrays) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _packed(value, parts[0], place, arrays)
    if origin is Later:
        return _packed(value(), parts[0], place, arrays)
    if value is None or hint is Any:
        return plain(value)
    if origin in (Union, UnionType):
        one, *others = (part for part in parts if part is not NoneType)
        return plain(value) if others else _packed(value, one, place, arrays)
    if origin is np.ndarray:
        array = np.asarray(value)
        if array.dtype.kind in "OT":  # such as the tuples of a MultiIndex
            array = np.array([str(one) for one in array.ravel()], dtype=np.str_).reshape(array.shape)
        arrays[place] = array
        return place
    if origin in (dict, Mapping):
        return {name: _packed(one, parts[1], _named(place, name), arrays) for name, one in value.items()}
    if origin in (tuple, Sequence):
        hints = _of_each(parts, len(value))
        return [_packed(one, hints[i], _joined(place, i), arrays) for i, one in enumerate(value)]
    if isinstance(hint, type) and (of_fields := _hints(hint)):
        number = {"value": float(value)} if isinstance(value, float) else {}
        own = {name: number[name] if name in number else getattr(value, name) for name in of_fields}
        return {name: _packed(one, of_fields[name], _joined(place, name), arrays) for name, one in own.items()}
    return plain(value)


# -- reading ------------------------------------------------------------------------------------------------------------


def unpacked(kind: type[Kind], values: Any, arrays: Mapping[str, NDArray[Any]] | None = None, place: str = "") -> Kind:
    """The record, or value of a type, that was packed.

    Lists become tuples, and null a nan where a float is asked for. Arrays get the type of their hint, which must hold their
    values.

    Parameters
    ----------
    kind : type
        The class of the record. A value may be of a str, bool, int, float, None, Any, Literal, an array, a record, or a union,
        sequence, tuple or mapping from str of these.
    values : any
        As JSON holds them.
    arrays : mapping of str to array, optional
    place : str
        Names the value in errors.

    Examples
    --------
    >>> unpacked(tuple[float, ...], [None, 0.5]), unpacked(dict[str, int], {"a": 1})
    ((nan, 0.5), {'a': 1})
    >>> unpacked(int, 0.5, place="n_draws")
    Traceback (most recent call last):
    uqassay.errors.InputError: n_draws: must be a whole number; got 0.5.
    """
    reading = _Reading(arrays or {})
    found = reading.value(values, kind, place, ChainMap())
    unasked = next((name for name in reading.arrays if name not in reading.taken), None)
    if unasked is not None:
        fail(f"{unasked:.60}", "is an array that no field asks for", "", "", code="choice")
    return cast(Kind, found)


class _Reading:
    """One reading: the arrays, and which of them were taken."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = arrays
        self.taken: set[str] = set()

    def value(self, value: Any, hint: Any, place: str, lengths: Lengths) -> Any:
        origin, parts = get_origin(hint), get_args(hint)
        if hint is Any:
            return value
        if origin is Annotated:
            found = self.value(value, parts[0], place, lengths)
            parts[1].check(found, place, lengths)
            return found
        if origin is Later:
            return Later.known(self.value(value, parts[0], place, lengths))
        if origin in (Union, UnionType):
            return self.one_of(value, parts, place, lengths)
        if origin is np.ndarray:
            return self.array(value, get_args(parts[1])[0], place)
        if origin is Literal:
            if not any(type(value) is type(one) and value == one for one in parts):
                raise _misfit(place, f"one of {', '.join(map(str, parts))}", value)
            return value
        if origin in (tuple, Sequence):
            if not isinstance(value, list):
                raise _misfit(place, "a list", value)
            hints = _of_each(parts, len(value))
            if len(hints) != len(value):
                raise _misfit(place, f"a list of {len(hints)}", value)
            return tuple(self.value(one, hints[i], _joined(place, i), lengths) for i, one in enumerate(value))
        if origin in (dict, Mapping):
            if not isinstance(value, dict):
                raise _misfit(place, "an object", value)
            return {name: self.value(one, parts[1], _named(place, name), lengths) for name, one in value.items()}
        if hint is float:
            whole = type(value) is int and abs(value) <= GREATEST
            if not (value is None or whole or type(value) is float or value in ("Infinity", "-Infinity")):
                raise _misfit(place, "a number", value)
            return number_from_json(value)
        if hint in SCALARS or hint is None:
            kind = hint or NoneType
            if type(value) is not kind or (type(value) is int and abs(value) > GREATEST):
                raise _misfit(place, SCALARS[kind], value)
            return value
        return self.record(value, hint, place, lengths)

    def record(self, value: Any, kind: type, place: str, lengths: Lengths) -> Any:
        hints, own = _hints(kind), lengths.new_child()
        if not isinstance(value, dict):
            raise _misfit(place, "an object", value)
        unknown = next((name for name in value if name not in hints), None)
        if unknown is not None:
            fail(place or "the record", "has a field that is not known", f"got {unknown!r:.60}", "", code="choice")
        found = {}
        # arrays first, because they give the lengths for the records inside
        for name in sorted(hints, key=lambda name: not _is_array(hints[name])):
            if name not in value:
                fail(_joined(place, name), "is missing", "", "", code="missing")
            found[name] = self.value(value[name], hints[name], _joined(place, name), own)
        try:
            made = kind(**found)
            if check := getattr(made, "_check_read", None):
                check()
        except InputError as problem:
            raise problem.replace(parameter=_joined(place, problem.parameter)) from problem
        return made

    def array(self, value: Any, kind: Any, place: str) -> NDArray[Any]:
        if value != place:
            raise _misfit(place, "the name of its array, which is its place", value)
        if place not in self.arrays:
            fail(place, "is missing", "there is no such array", "", code="missing")
        array = self.arrays[place]
        # compiled kernels take no other order of bytes
        wanted = array.dtype.newbyteorder("=") if kind is Any else np.dtype(kind)
        kinds = KEPT if kind is Any else {"i": "iu"}.get(wanted.kind, wanted.kind)
        if array.dtype.kind not in kinds or not np.can_cast(array.dtype, wanted):
            rule = "must hold numbers or text" if kind is Any else f"must have a dtype that fits {wanted}"
            fail(place, rule, f"got {array.dtype}", "", code="type")
        self.taken.add(place)
        return array.astype(wanted, copy=False)

    def one_of(self, value: Any, parts: Sequence[Any], place: str, lengths: Lengths) -> Any:
        if value is None and NoneType in parts:
            return None
        problem: InputError | None = None
        for part in parts:
            if part is not NoneType:
                try:
                    return self.value(value, part, place, lengths)
                except InputError as found:
                    problem = found
        assert problem is not None
        raise problem


def _is_array(hint: Any) -> bool:
    """True for an array or sequence with a `Shape`, also where there may be none."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return any(get_origin(part) is Annotated for part in parts)


def _misfit(place: str, wanted: str, value: Any) -> InputError:
    return InputError(place or "the value", f"must be {wanted}", f"got {value!r:.60}", "", code="type")
