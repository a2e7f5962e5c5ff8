"""Options of protocols: names, functions, several of them or a dict that names them, and whole numbers."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from uqassay.bench.cell import MAX_SEED
from uqassay.bench.config import nearest
from uqassay.errors import InputError
from uqassay.wording import listed

__all__ = ["NamedOptions", "check_whole", "known_names", "named_options", "taken_by"]

NamedOptions = str | Callable[..., Any] | Sequence[Any] | Mapping[str, Any] | None


def named_options(given: NamedOptions, parameter: str, known: Collection[str]) -> dict[str, Any] | None:
    """Names and functions by name; None stands for all that are there.

    Parameters
    ----------
    given : str, callable, several, dict or None
        In a dict functions have names of their own; else a function has its `__name__`.
    parameter : str
        For errors.
    known : collection of str

    Raises
    ------
    InputError
        Something else, a name twice, or nothing.

    Examples
    --------
    >>> named_options(["a", len], "scores", ["a", "b"])
    {'a': 'a', 'len': <built-in function len>}
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        each = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
        pairs = [(_name(one), one) for one in each]
    found: dict[str, Any] = {}
    for name, one in pairs:
        if not isinstance(name, str) or not (callable(one) or (isinstance(one, str) and one in known)):
            got = f"got {one!r}" if isinstance(name, str) else f"got the name {name!r}"
            rule = f"must be {listed(list(known), last='or')}, a function, several of them, or a dict that names them"
            raise InputError(parameter, rule, got, "None takes all that a prediction offers", code="choice")
        if name in found:
            raise InputError(
                parameter, "must have different names", f"got {name!r} twice", "give a dict", code="duplicate"
            )
        found[name] = one
    if not found:
        raise InputError(parameter, "must hold at least one", "got none", "None takes all", code="empty")
    return found


def known_names(given: str | Sequence[str], parameter: str, known: Collection[str], rule: str = "") -> list[str]:
    """One or several names that are known, each once.

    Parameters
    ----------
    given : str or sequence of str
    parameter : str
        For errors.
    known : collection of str
    rule : str
        The rule of the error for an unknown name; by default that it must be one of the known ones. The remedy is the most
        similar name.

    Raises
    ------
    InputError
        No name, an unknown one, or one twice.

    Examples
    --------
    >>> known_names("a", "scores", ["a", "b"])
    ['a']
    """
    names = [given] if isinstance(given, str) else list(given)
    if not names:
        raise InputError(parameter, "must hold at least one name", "got none", "leave it out", code="empty")
    for i, name in enumerate(names):
        if name not in known:
            said = rule or f"must be {listed(list(known), last='or')}"
            raise InputError(parameter, said, f"got {name!r}", nearest(name, list(known)), code="choice")
        if name in names[:i]:
            raise InputError(parameter, "must be named once", f"got {name} twice", "remove one", code="duplicate")
    return names


def check_whole(least: int, **values: int | None) -> None:
    """Refuse numbers of runs, seeds or processes that are not whole or too small; None is accepted.

    Raises
    ------
    InputError
    """
    for name, value in values.items():
        if value is None:
            continue
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or not least <= value <= MAX_SEED // 2:
            raise InputError(
                name, f"must be a whole number of at least {least}", f"got {value!r}", "leave it out", code="range"
            )


def taken_by(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a function has parameters for.

    Examples
    --------
    >>> taken_by(known_names, {"known": ["a"], "seed": 3})
    {'known': ['a']}
    """
    return {name: options[name] for name in inspect.signature(function).parameters if name in options}


def _name(one: Any) -> str:
    return one if isinstance(one, str) else getattr(one, "__name__", type(one).__name__)
