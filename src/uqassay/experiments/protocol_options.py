"""The options of a protocol's function as a command line needs them: what they mean, and values that are typed as text."""

import inspect
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, final, get_args, get_origin, get_type_hints

from uqassay.errors import InputError
from uqassay.wording import listed

__all__ = ["ProtocolOption", "option_value", "protocol_options"]

_UNREADABLE = object()
_SEVERAL = (Sequence, Collection, Iterable, list, tuple)
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text", NoneType: ""}


@final
@dataclass(frozen=True, slots=True)
class ProtocolOption:
    """One option of a protocol.

    Attributes
    ----------
    name : str
    default : object
    kind : str
        The type as the docstring has it.
    text : str
        The meaning, from the docstring, on one line without markup.
    """

    name: str
    default: Any
    kind: str
    text: str


def protocol_options(function: Callable[..., Any]) -> tuple[ProtocolOption, ...]:
    """The options of a function, in the order of its signature.

    Parameters
    ----------
    function : callable
        With a docstring in the form of numpydoc.

    Examples
    --------
    >>> def run(*, seed: int = 0):
    ...     '''Run.
    ...
    ...     Parameters
    ...     ----------
    ...     seed : int
    ...         Of ``every`` draw.
    ...     '''
    >>> protocol_options(run)
    (ProtocolOption(name='seed', default=0, kind='int', text='Of every draw.'),)
    """
    found = _parameters(inspect.getdoc(function) or "")
    return tuple(
        ProtocolOption(name, parameter.default, *found.get(name, ("", "")))
        for name, parameter in inspect.signature(function).parameters.items()
    )


def option_value(function: Callable[..., Any], name: str, text: str) -> Any:
    """The value of an option from text: JSON, else the text itself, as the type of the option takes it.

    Parameters
    ----------
    function : callable
    name : str
        A parameter of the function.
    text : str
        Several values may be a JSON list, or have commas between them.

    Raises
    ------
    InputError
        The text is no value of that type.

    Examples
    --------
    >>> def run(*, share: float = 0.5, models: Sequence[str] | None = None): ...
    >>> option_value(run, "share", ".25"), option_value(run, "models", "DE,SNN"), option_value(run, "models", "null")
    (0.25, ['DE', 'SNN'], None)
    """
    hint = get_type_hints(function).get(name, Any)
    for value in _readings(text, hint):
        if _fits(value, hint):
            return value
    words = listed(list(dict.fromkeys(filter(None, _kinds(hint)))), last="or")
    raise InputError(name, f"must be {words or 'another value'}", f"got {text!r}", "", code="type")


# ---- docstrings ------------------------------------------------------------------------------------------------------


def _parameters(docstring: str) -> dict[str, tuple[str, str]]:
    """Type and meaning by name, from the section "Parameters" of numpydoc."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", docstring, re.M | re.S)
    found: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    for line in section[1].splitlines() if section else ():
        if line and not line[0].isspace():
            left, _, kind = line.partition(" : ")
            names = [name.strip() for name in left.split(",")]
            found |= {name: (each, "") for name, each in zip(names, _each_kind(kind.strip(), len(names)), strict=True)}
        else:
            for name in names:
                kind, text = found[name]
                found[name] = kind, f"{text} {line.strip()}".strip().replace("`", "")
    return found


def _each_kind(kind: str, n: int) -> list[str]:
    """The types of n options that share a line: one for each, or one for all."""
    each = [part for part in kind.split(", ") if part != "optional"]
    return each if len(each) == n > 1 else [kind.removesuffix(", optional")] * n


# ---- values ----------------------------------------------------------------------------------------------------------


def _readings(text: str, hint: Any) -> Iterable[Any]:
    """What the text may mean, the likeliest first."""
    yield _from_json(text)
    if "," in text and _takes_several(hint):
        yield [_scalar(part.strip(), hint) for part in text.split(",") if part.strip()]
    yield _from_number(text)
    yield text
    if _takes_several(hint):
        yield [_scalar(text, hint)]


def _scalar(text: str, hint: Any) -> Any:
    """A member of several values: a number where members may be numbers."""
    for value in (_from_json(text), _from_number(text), text):
        if _fits([value], hint):
            return value
    return text


def _from_json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=lambda name: _UNREADABLE)
    except (ValueError, RecursionError):
        return _UNREADABLE


def _from_number(text: str) -> Any:
    """A number that JSON writes otherwise, such as .5."""
    try:
        return float(text)
    except ValueError:
        return _UNREADABLE


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the type that a parameter is annotated with."""
    origin, arguments = get_origin(hint), get_args(hint)
    if value is _UNREADABLE:
        return False
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in arguments)
    if hint is Any:
        return True
    if origin is Literal:
        return value in arguments
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and _finite(value)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint in (bool, str, NoneType):
        return isinstance(value, hint)
    if origin in _SEVERAL:
        return isinstance(value, list) and all(_fits(one, arguments[0] if arguments else Any) for one in value)
    if origin in (Mapping, dict):
        return isinstance(value, dict)
    return _is_path(hint) and isinstance(value, str)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _takes_several(hint: Any) -> bool:
    return get_origin(hint) in _SEVERAL or any(_takes_several(one) for one in get_args(hint))


def _is_path(hint: Any) -> bool:
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and (kind is Path or kind.__name__ == "PathLike")


def _kinds(hint: Any) -> Iterable[str]:
    """The types of a parameter in words."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        for one in arguments:
            yield from _kinds(one)
    elif origin is Literal:
        yield listed([str(one) for one in arguments], last="or")
    elif origin in _SEVERAL:
        yield from _kinds(arguments[0] if arguments else Any)
        yield "several with commas between"
    elif origin in (Mapping, dict):
        yield "a JSON object"
    else:
        yield "a path" if _is_path(hint) else _WORDS.get(hint, "")
