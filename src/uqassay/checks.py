"""Checks of arguments: each returns the value in its final form, or raises in one sentence.

A value of the wrong kind has the code "type", a number outside its range "range", an unknown name "choice". What no check
here says is one line of `fail`.
"""

import math
import operator
from collections.abc import Collection, Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.text import listed, shown

__all__ = [
    "a",
    "between",
    "different",
    "fail",
    "is_number",
    "mapping",
    "matrix",
    "number",
    "one_of",
    "same_length",
    "true_or_false",
    "vector",
    "whole",
]

Kind = TypeVar("Kind")


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


def a(kind: type[Kind], value: Any, name: str, remedy: str, *, rule: str = "") -> Kind:
    """An instance of a class.

    Examples
    --------
    >>> a(str, 3, "title", "pass a text")
    Traceback (most recent call last):
    uqassay.errors.InputError: title: must be a str; got 3; pass a text.
    """
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        fail(name, rule or f"must be {article} {kind.__name__}", f"got {shown(value)}", remedy, code="type")
    return value


def mapping(value: Any, name: str, remedy: str) -> dict[Any, Any]:
    """A mapping, as a dict."""
    return dict(a(Mapping, value, name, remedy, rule="must be a mapping"))  # type: ignore[type-abstract]


def is_number(value: object) -> bool:
    """True for a single real number. True and False are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number | np.ndarray):
        return False
    array = np.asarray(value)
    return array.ndim == 0 and array.dtype.kind in "iuf"


def number(
    value: Any, name: str, remedy: str, *, low: float = -math.inf, high: float = math.inf, ends: str = "[]"
) -> float:
    """A number in an interval. `ends` says whether its ends belong to it: "[]", "[)", "(]" or "()".

    nan lies in no interval; an infinite number only where an end is infinite and belongs to the interval.

    Examples
    --------
    >>> number(0.5, "share", "give a share such as 0.8", low=0, high=1, ends="()")
    0.5
    >>> number(1, "share", "give a share such as 0.8", low=0, high=1, ends="()")
    Traceback (most recent call last):
    uqassay.errors.InputError: share: must lie strictly between 0 and 1; got 1; give a share such as 0.8.
    """
    bounds = _range(low, high, ends)
    if not is_number(value):
        fail(name, f"must be a number{bounds and ' and' + bounds}", f"got {shown(value)}", remedy, code="type")
    above = value >= low if ends[0] == "[" else value > low
    below = value <= high if ends[1] == "]" else value < high
    if not (above and below):
        fail(name, f"must{bounds or ' be a number'}", f"got {shown(value)}", remedy, code="range")
    return float(value)


def _range(low: float, high: float, ends: str) -> str:
    """The interval as the end of a rule.

    Examples
    --------
    >>> [_range(0, math.inf, "(]"), _range(0, math.inf, "[]"), _range(0, 1, "[]"), _range(0, 1, "[)")]
    [' be positive', ' be at least 0', ' lie between 0 and 1', ' lie in [0, 1)']
    """
    if math.isinf(low) and math.isinf(high):
        return "" if ends == "[]" else " be finite"
    if math.isinf(high):
        least = "positive" if ends[0] == "(" and low == 0 else f"{'above' if ends[0] == '(' else 'at least'} {low:g}"
        return f" be {least}{' and finite' if ends[1] == ')' else ''}"
    if math.isinf(low):
        return f" be {'below' if ends[1] == ')' else 'at most'} {high:g}"
    if ends in ("[]", "()"):
        return f" lie {'strictly ' if ends == '()' else ''}between {low:g} and {high:g}"
    return f" lie in {ends[0]}{low:g}, {high:g}{ends[1]}"


def whole(value: Any, name: str, remedy: str, *, least: int | None = None, most: int | None = None) -> int:
    """A whole number, also one of NumPy. True and False are none, nor is 3.0.

    Examples
    --------
    >>> whole(np.int64(3), "n_bins", "pass 10", least=1)
    3
    >>> whole(0, "n_bins", "pass 10", least=1)
    Traceback (most recent call last):
    uqassay.errors.InputError: n_bins: must be a whole number of at least 1; got 0; pass 10.
    """
    rule = "must be a whole number"
    if least is not None and most is not None:
        rule += f" from {least} to {most:,}"
    elif least is not None or most is not None:
        rule += f" of at least {least}" if most is None else f" of at most {most:,}"
    try:
        found = operator.index(value)
    except TypeError:
        found = None
    if found is None or isinstance(value, bool | np.bool_):
        fail(name, rule, f"got {shown(value)}", remedy, code="type")
    if (least is not None and found < least) or (most is not None and found > most):
        fail(name, rule, f"got {shown(value)}", remedy, code="range")
    return found


def true_or_false(value: Any, name: str, remedy: str = "choose one") -> bool:
    """A truth value, also one of NumPy: the text "False" would count as true.

    Examples
    --------
    >>> true_or_false("False", "ard")
    Traceback (most recent call last):
    uqassay.errors.InputError: ard: must be True or False; got 'False'; choose one.
    """
    if not isinstance(value, bool | np.bool_):
        fail(name, "must be True or False", f"got {shown(value)}", remedy, code="type")
    return bool(value)


def one_of(value: Any, name: str, known: Collection[str], remedy: str = "choose one of these") -> str:
    """A known name.

    Examples
    --------
    >>> one_of("kl", "distance", ("kl", "js"))
    'kl'
    >>> one_of("l1", "distance", ("kl", "js"))
    Traceback (most recent call last):
    uqassay.errors.InputError: distance: must be 'kl' or 'js'; got 'l1'; choose one of these.
    """
    if not isinstance(value, str) or value not in known:
        fail(
            name,
            f"must be {listed([repr(one) for one in known], last='or')}",
            f"got {shown(value)}",
            remedy,
            code="choice",
        )
    return value


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


def vector(values: ArrayLike, name: str, remedy: str, *, n: int | None = None) -> NDArray[np.float64]:
    """Finite numbers (n,) as float64; `n`: how many there must be, at least one by default.

    Examples
    --------
    >>> vector([1, 2], "scores", "pass one number for each instance").tolist()
    [1.0, 2.0]
    """
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "fiub" or (n is None and not array.size):
        what = f"shape {array.shape}" if array.dtype.kind in "fiub" else f"dtype {array.dtype}"
        fail(name, "must be numbers of shape (n,) with n at least 1", f"got {what}", remedy, code="shape")
    if n is not None:
        same_length(array, name, n, remedy)
    return _finite(array, name)


def matrix(
    values: ArrayLike, name: str, remedy: str = "pass one row per instance", *, columns: int | None = None
) -> NDArray[np.float64]:
    """Finite numbers (n, columns) as float64 in C order, so that sums of rows round in one way."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 2 or array.size == 0 or array.shape[1] != (columns or array.shape[1]):
        rule = f"must have shape (n, {columns or 'columns'}) with n at least 1"
        fail(name, rule, f"got {array.shape}", remedy, code="shape")
    return _finite(array, name)


def between(
    values: NDArray[Any],
    name: str,
    remedy: str,
    *,
    low: float = 0.0,
    high: float = 1.0,
    ends: str = "[]",
    of: str = "row",
) -> None:
    """Numbers (n,) that all lie in an interval. `ends` as in `number`; `of`: what a place in the array is called.

    Examples
    --------
    >>> between(np.array([0.2, 1.5]), "prices", "give shares of a mistake")
    Traceback (most recent call last):
    uqassay.errors.InputError: prices: must lie between 0 and 1; row 1 is 1.5; give shares of a mistake.
    """
    above = values >= low if ends[0] == "[" else values > low
    below = values <= high if ends[1] == "]" else values < high
    if not (above & below).all():
        outside = np.flatnonzero(~(above & below))
        got = f"{of} {outside[0]} is {values[outside[0]]:.6g}" + (
            f", the first of {outside.size}" if outside.size > 1 else ""
        )
        fail(name, f"must{_range(low, high, ends)}", got, remedy, code="range")


def same_length(values: Any, name: str, n: int, remedy: str, *, of: str = "instance") -> None:
    """As many values as there are instances (or other things)."""
    if len(values) != n:
        fail(name, f"must have one value for each {of}", f"got {len(values):,}, not {n:,}", remedy, code="mismatch")


def _finite(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    found = array.astype(np.float64, copy=False)
    if not np.isfinite(found).all():
        row = int(np.argmin(np.isfinite(found).reshape(len(found), -1).all(axis=1)))
        fail(name, "must be finite", f"row {row} holds nan or inf", "drop or repair the row", code="finite")
    return found
