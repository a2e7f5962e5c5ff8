"""Checks of arguments, one line each. A check returns the value, or raises InputError with the name of the argument."""

from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from uqassay.errors import InputError

__all__ = ["different", "fail"]


def fail(
    parameter: str, rule: str, got: str = "", remedy: str = "", *, code: str, facts: Mapping[str, Any] | None = None
) -> NoReturn:
    """Raise the error.

    Examples
    --------
    >>> fail("level", "must be below 1", "got 2", "pass 0.95", code="range")
    Traceback (most recent call last):
    uqassay.errors.InputError: level must be below 1: got 2; pass 0.95.
    """
    raise InputError(parameter, rule, got, remedy, code=code, facts=facts)


def different(values: Collection[Any], name: str, rule: str, remedy: str) -> None:
    """No value twice.

    Examples
    --------
    >>> different(["a", "b"], "header", "names of columns must be unique", "rename the columns")
    """
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            fail(name, rule, f"{value!r} occurs more than once", remedy, code="duplicate")
        seen.add(value)
