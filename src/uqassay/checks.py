"""Checks of arguments: each returns the value in its final form, or raises in one sentence."""

from collections.abc import Collection, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError

__all__ = [
    "different",
    "fail",
    "finite_matrix",
    "whole_number",
]


# Checks of arguments, one line each. A check returns the value, or raises InputError with the name of the argument.


def fail(
    parameter: str, rule: str, got: str = "", remedy: str = "", *, code: str, facts: Mapping[str, Any] | None = None
) -> NoReturn:
    """Raise the error.

    Examples
    --------
    >>> fail("level", "must be below 1", "got 2", "pass 0.95", code="range")
    Traceback (most recent call last):
    uqassay.errors.InputError: level: must be below 1; got 2; pass 0.95.
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


# Shared validation of arguments.


def finite_matrix(name: str, values: ArrayLike, n_columns: int | None = None) -> NDArray[np.float64]:
    """Return finite values (n, n_columns) as float64 in C order, so that sums of rows round in one way."""
    matrix = np.ascontiguousarray(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0 or matrix.shape[1] != (n_columns or matrix.shape[1]):
        wanted = n_columns or "columns"
        raise InputError(
            name,
            f"must have shape (n, {wanted}) with n at least 1",
            f"got {matrix.shape}",
            "pass one row per instance",
            code="shape",
        )
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        raise InputError(
            name, "must be finite", f"row {bad[0]} holds nan or inf", "drop or repair the row", code="finite"
        )
    return matrix


def whole_number(name: str, value: int, minimum: int) -> int:
    """Return an integer argument, checked."""
    if not hasattr(value, "__index__") or value < minimum:
        raise InputError(
            name,
            f"must be an integer of at least {minimum}",
            f"got {value!r}",
            f"pass {minimum} or more",
            code="range",
        )
    return int(value)
