"""Values and arrays of a saved folder, checked against the types of the fields that they fill; other people write folders, too."""

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from uqassay._json import number_from_json
from uqassay.errors import InputError

__all__ = ["checked_array", "checked_fields", "checked_value", "entry_of"]

GREATEST = 2**63 - 1  # whole number


def checked_value(value: Any, hint: Any, place: str) -> Any:
    """A value of JSON as one of a type: lists become tuples, and None a nan where a float is asked for.

    Parameters
    ----------
    value : any
    hint : type
        str, bool, int, float, None, Any, Literal, a union, or a sequence, tuple or mapping from str of such types.
    place : str
        Names the value in errors.

    Raises
    ------
    InputError
        A value of another type.

    Examples
    --------
    >>> checked_value([None, 0.5], tuple[float, ...], "levels"), checked_value({"a": 1}, dict[str, int], "counts")
    ((nan, 0.5), {'a': 1})
    """
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, UnionType):
        return _of_union(value, parts, hint, place)
    if origin is Literal:
        if not any(type(value) is type(one) and value == one for one in parts):
            raise _misfit(place, f"one of {', '.join(map(str, parts))}", value)
        return value
    if origin in (tuple, Sequence):
        if not isinstance(value, list):
            raise _misfit(place, "a list", value)
        return tuple(checked_value(one, parts[0], f"{place}[{i}]") for i, one in enumerate(value))
    if origin in (dict, Mapping):
        if not isinstance(value, dict):
            raise _misfit(place, "an object", value)
        return {name: checked_value(one, parts[1], f"{place}.{name}") for name, one in value.items()}
    if hint is float:
        whole = type(value) is int and abs(value) <= GREATEST
        if not (value is None or whole or type(value) is float or value in ("Infinity", "-Infinity")):
            raise _misfit(place, "a number", value)
        return number_from_json(value)
    if type(value) is not (NoneType if hint is None else hint) or (hint is int and abs(value) > GREATEST):
        raise _misfit(place, {int: "a whole number", str: "text", bool: "true or false"}.get(hint, "null"), value)
    return value


def checked_fields(kind: type, entry: Any, place: str, *, without: Sequence[str] = ()) -> dict[str, Any]:
    """The fields of a dataclass from an object of JSON, each of the type of the field; fields with a default may be absent.

    Parameters
    ----------
    kind : type
        The dataclass.
    entry : any
    place : str
    without : sequence of str
        Fields that come from elsewhere.

    Raises
    ------
    InputError
        No object, a field that is missing, unknown or of another type.
    """
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name in kind.__dataclass_fields__}  # type: ignore[attr-defined]
    given = checked_value(entry, dict[str, Any], place)
    unknown = next((name for name in given if name not in hints), None)
    if unknown is not None:
        raise InputError(place, "has a field that is not known", f"got {unknown!r:.60}", "", code="choice")
    found = {}
    for name, hint in hints.items():
        if name in without:
            continue
        if name in given:
            found[name] = checked_value(given[name], hint, f"{place}.{name}")
        elif not hasattr(kind, name):  # a default is an attribute of the class
            raise InputError(f"{place}.{name}", "is missing", "", "", code="missing")
    return found


def entry_of(mapping: Mapping[str, Any], name: str, hint: Any) -> Any:
    """The checked value of a name.

    Raises
    ------
    InputError
        It is missing, or of another type.
    """
    if name not in mapping:
        raise InputError(name, "is missing", "", "", code="missing")
    return checked_value(mapping[name], hint, name)


def checked_array(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    kinds: str,
    shape: Sequence[int | None],
    *,
    low: float | None = None,
    high: float | None = None,
    finite: bool = False,
) -> NDArray[Any]:
    """The array of a name, of one of the kinds of dtype and of a shape.

    Parameters
    ----------
    arrays : mapping
    name : str
    kinds : str
        Letters of `numpy.dtype.kind`.
    shape : sequence of int or None
        None: any length.
    low, high : float, optional
        Bounds of the values; nan passes unless they must be finite.
    finite : bool

    Raises
    ------
    InputError
        It is missing, or of another type, shape or range.
    """
    if name not in arrays:
        raise InputError(name, "is missing", "", "", code="missing")
    array = arrays[name]
    if array.dtype.kind not in kinds:
        raise InputError(name, f"must have a dtype of kind {' or '.join(kinds)}", f"got {array.dtype}", "", code="type")
    if array.ndim != len(shape) or any(b is not None and a != b for a, b in zip(array.shape, shape, strict=True)):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise InputError(name, f"must have shape ({wanted})", f"got {array.shape}", "", code="shape")
    if finite and not np.isfinite(array).all():
        raise InputError(name, "must hold finite numbers", "", "", code="finite")
    if (low is not None and (array < low).any()) or (high is not None and (array > high).any()):
        raise InputError(name, f"must lie between {low} and {high}", "", "", code="range")
    return array


def _of_union(value: Any, parts: Sequence[Any], hint: Any, place: str) -> Any:
    if value is None and NoneType in parts:
        return None
    problem: InputError | None = None
    for part in parts:
        try:
            return checked_value(value, part, place)
        except InputError as found:
            problem = found
    assert problem is not None, hint
    raise problem


def _misfit(place: str, wanted: str, value: Any) -> InputError:
    return InputError(place, f"must be {wanted}", f"got {value!r:.60}", "", code="type")
