"""Options that are a name, a function, several of them, or a dict that names them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from uqassay.errors import InputError
from uqassay.wording import listed

__all__ = ["NamedOptions", "named_options"]

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


def _name(one: Any) -> str:
    return one if isinstance(one, str) else getattr(one, "__name__", type(one).__name__)
