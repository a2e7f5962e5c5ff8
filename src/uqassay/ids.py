"""Rows of several inputs about the same instances, brought into one order by their ids and indexes."""

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import as_array
from uqassay.frames import Frame, as_frame, is_frame, moves, says_more

__all__ = ["aligned", "in_one_order"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


def in_one_order(
    *names: str, axes: Mapping[str, int] | None = None
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Decorator: the arguments `names` are about the same instances, and are `aligned` before the function sees them.

    Parameters
    ----------
    *names : str
        Parameters of the function; results have the order of the first that carries ids or an index.
    axes : mapping of str to int, optional
        As in `aligned`.

    Examples
    --------
    >>> import pandas as pd
    >>> @in_one_order("a", "b")
    ... def difference(a, b):
    ...     return np.asarray(a) - np.asarray(b)
    >>> difference(pd.Series([1, 2], index=["x", "y"]), pd.Series([2, 1], index=["y", "x"])).tolist()
    [0, 0]
    """

    def decorate(call: Callable[Given, Result]) -> Callable[Given, Result]:
        parameters = tuple(inspect.signature(call).parameters)

        @wraps(call)
        def with_rows_in_order(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            if len(args) > len(parameters) or not any(_may_carry(value) for value in (*args, *kwargs.values())):
                return call(*args, **kwargs)
            given: dict[str, Any] = dict(zip(parameters, args, strict=False)) | kwargs
            found = aligned({name: given[name] for name in names if given.get(name) is not None}, axes=axes)
            named: Callable[..., Result] = call
            rest = {name: value for name, value in found.items() if parameters.index(name) >= len(args)}
            return named(
                *(found.get(name, value) for name, value in zip(parameters, args, strict=False)), **kwargs | rest
            )

        return with_rows_in_order

    return decorate


def aligned(values: Mapping[str, Any], *, axes: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The values with their rows in one order, that of the first with ids or an index.

    Parameters
    ----------
    values : mapping of str to anything
        By the names of parameters, for errors: predictions, tables, columns, arrays, and mappings, lists or tuples of such.
        Arrays without an index stand by position.
    axes : mapping of str to int, optional
        Axis of the instances in the arrays of a parameter, where it is not 0; -1 where ``(n,)`` may also be ``(R, n)``.

    Returns
    -------
    dict
        The same objects, or with their rows moved: predictions, and a `Frame` in place of a table or column.

    Raises
    ------
    InputError
        The same number of rows with other ids; an array without an index beside two inputs in different orders.
    """
    leaves = {path: value for name, value in values.items() for path, value in _leaves(name, value)}
    axis = {path: (axes or {}).get(name, 0) for name, value in values.items() for path, _ in _leaves(name, value)}
    frames = {path: as_frame(value, path) for path, value in leaves.items()}
    labels = {path: _labels_of(value, frames[path], axis[path]) for path, value in leaves.items()}
    n = next((len(label) for label in labels.values() if label is not None), None)
    if n is None:
        return dict(values)
    # of another number of rows the function itself refuses arrays; an index says which rows are missing
    same = [
        path for path, value in leaves.items() if _size(value, frames[path], axis[path]) == n or says_more(labels[path])
    ]
    places = dict(zip(same, moves(same, [labels[path] for path in same]), strict=True))
    moved = {path: _moved(leaves[path], frames[path], at, axis[path]) for path, at in places.items() if at is not None}
    if not moved:
        return dict(values)
    return {name: _replaced(name, value, moved) for name, value in values.items()}


def _is_prediction(value: Any) -> bool:
    """Whether a value is a prediction; their room is to the right of this file."""
    kind: Any = type(value)
    return _has_predictions(kind)


@lru_cache(maxsize=512)
def _has_predictions(kind: Any) -> bool:
    return all(hasattr(kind, name) for name in ("upper_probs", "array_names", "n_instances"))


def _may_carry(value: Any) -> bool:
    kind = type(value)
    if kind in (np.ndarray, float, int, str, bool, type(None)):
        return False
    return isinstance(value, Mapping) or _is_collection(value) or is_frame(value) or _is_prediction(value)


def _is_collection(value: Any) -> bool:
    """True for a list or tuple with predictions, tables or columns in it."""
    return isinstance(value, (list, tuple)) and any(
        _is_prediction(one) or is_frame(one) for one in {type(item): item for item in value}.values()
    )


def _leaves(name: str, value: Any) -> list[tuple[str, Any]]:
    """What may carry rows in a nested value, by the words that name it in an error."""
    if isinstance(value, Mapping):
        return [leaf for key, one in value.items() for leaf in _leaves(f"{name}[{key!r}]", one)]
    if _is_collection(value):
        return [leaf for i, one in enumerate(value) for leaf in _leaves(f"{name}[{i}]", one)]
    return [(name, value)]


def _replaced(name: str, value: Any, moved: Mapping[str, Any]) -> Any:
    """The nested value with some of its leaves replaced."""
    if isinstance(value, Mapping):
        return {key: _replaced(f"{name}[{key!r}]", one, moved) for key, one in value.items()}
    if _is_collection(value):
        found = [_replaced(f"{name}[{i}]", one, moved) for i, one in enumerate(value)]
        return tuple(found) if isinstance(value, tuple) else found
    return moved.get(name, value)


def _labels_of(value: Any, frame: Frame | None, axis: int) -> NDArray[Any] | None:
    if _is_prediction(value):
        ids: NDArray[Any] | None = getattr(value, "ids", None)
        return ids
    return None if frame is None or frame.ndim <= max(axis, -1 - axis) else frame.labels[axis]


def _size(value: Any, frame: Frame | None, axis: int) -> Any:
    """Number of instances; None for what has none."""
    if _is_prediction(value):
        return value.n_instances
    if frame is not None:
        shape: Any = frame.shape
    elif isinstance(value, (list, tuple)):
        shape = (len(value),) if axis == 0 else np.shape(as_array(value, "values"))
    else:
        shape = getattr(value, "shape", None)
    return shape[axis] if isinstance(shape, tuple) and len(shape) > max(axis, -1 - axis) else None


def _moved(value: Any, frame: Frame | None, rows: NDArray[np.int64], axis: int) -> Any:
    return value[rows] if frame is None else frame.moved(rows, axis)
