"""Values for strict JSON, which has neither nan nor infinities: one way to write them, one to read them, one to check them."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from uqassay._files import MAX_TEXT, read_bytes
from uqassay.errors import FileFormatError, InputError
from uqassay.notes import Note

__all__ = ["checked_fields", "checked_value", "entry_of", "number_from_json", "plain", "read_json"]

GREATEST = 2**63 - 1  # whole number that is taken from a file


def plain(value: Any) -> Any:
    """A value that strict JSON can hold: nan becomes None, infinities become "Infinity" and "-Infinity".

    Examples
    --------
    >>> plain({"p": float("nan"), "limits": np.array([0.5, np.inf]), "n": np.int64(3)})
    {'p': None, 'limits': [0.5, 'Infinity'], 'n': 3}
    """
    if isinstance(value, float):  # most values, among them numbers of NumPy and of estimates
        number = float(value)
        return number if math.isfinite(number) else _not_finite(number)
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Note):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        if set(map(type, value)) == {float} and all(map(math.isfinite, value)):  # most lists
            return list(value)
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, np.floating):
        return plain(float(value))
    return value


def _not_finite(number: float) -> str | None:
    if math.isnan(number):
        return None
    return "Infinity" if number > 0 else "-Infinity"


def number_from_json(value: Any) -> float:
    """The number that `plain` wrote.

    Examples
    --------
    >>> number_from_json(None), number_from_json("-Infinity")
    (nan, -inf)
    """
    return float("nan" if value is None else value)


def read_json(path: str | os.PathLike[str], most: int = MAX_TEXT) -> Any:
    """The value in a file of JSON, which takes at most forty times the memory of its text.

    Parameters
    ----------
    path : path
    most : int
        Greatest number of bytes.

    Raises
    ------
    FileFormatError
        No plain file, a longer one, or one that holds no JSON in UTF-8.
    OSError
        There is no such file, or it may not be read.
    """
    content = read_bytes(path, most)
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as problem:  # RecursionError: deeply nested
        raise FileFormatError(
            "path",
            "must hold JSON in UTF-8",
            f"{os.fspath(path)} does not ({type(problem).__name__})",
            "write it again",
            code="unreadable",
        ) from problem


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
    if type(value) is not (NoneType if hint is None else hint) or (isinstance(value, int) and abs(value) > GREATEST):
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
