"""A prediction of any kind over dask arrays: how to make it from the chunks, where the chunks lie."""

import inspect
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from uqassay.errors import InputError

__all__ = ["DaskPrediction", "check_chunks", "is_dask_array"]


@final
class DaskPrediction:
    """A prediction over dask arrays, for `assay`: a worker makes the prediction of each chunk and scores it.

    Bare dask arrays (n, K) and (n, M, K) need no wrapper; `assay` takes them as `Point` and `Members`.

    Parameters
    ----------
    kind : callable
        `Point`, `Members`, `Dirichlet` and so on, or a function such as `Point.from_logits` that takes the arrays of any
        instances and returns their prediction. Workers must be able to import it.
    *arrays : dask array
        Arguments of `kind`, one row to an instance.
    **fields : dask array or any
        Further arguments. Those that are no dask arrays belong to all instances, except `ids` and `groups`, which may be any
        arrays (n,).

    Raises
    ------
    InputError
        No dask array, chunks of unknown size, or other numbers of rows.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import uqassay as uq
    >>> alpha = da.from_array(np.array([[3.0, 1.0], [1.0, 2.0], [4.0, 2.0]]), chunks=(2, 2))
    >>> uq.DaskPrediction(uq.Dirichlet, alpha, n_draws=50)
    DaskPrediction(Dirichlet, alpha=(3, 2), n_draws=50)
    """

    __slots__ = ("arrays", "groups", "ids", "kind", "settings")

    kind: Callable[..., Any]
    arrays: Mapping[str, Any]
    ids: Any
    groups: Any
    settings: Mapping[str, Any]

    def __init__(self, kind: Callable[..., Any], *arrays: Any, **fields: Any) -> None:
        if not callable(kind):
            raise InputError(
                "kind",
                "must be a kind of prediction, or a function that makes one",
                f"got {type(kind).__name__}",
                "write DaskPrediction(uq.Members, array)",
                code="type",
            )
        groups = fields.pop("groups", None)
        given = _named(kind, arrays, fields)
        carried = {"ids": given.pop("ids", None), "groups": groups}
        found = {name: value for name, value in given.items() if is_dask_array(value)}
        if not found:
            raise InputError(
                "arrays",
                "must hold at least one dask array",
                f"got {', '.join(type(value).__name__ for value in given.values()) or 'none'}",
                f"write {_name_of(kind)}(…) itself for arrays in memory",
                code="type",
            )
        if given.get("member_axis", 1) not in (1, None):
            raise InputError(
                "member_axis",
                "must be 1 over dask arrays, whose rows are the instances",
                f"got {given['member_axis']!r:.60}",
                "move the axis by dask.array.moveaxis",
                code="conflict",
            )
        n = check_chunks(next(iter(found.values())), next(iter(found)))
        for name, value in (found | {name: value for name, value in carried.items() if value is not None}).items():
            rows = check_chunks(value, name) if is_dask_array(value) else len(value)
            if rows != n:
                raise InputError(
                    name,
                    f"needs one row for each of the {n} instances",
                    f"got {rows}",
                    "give all arrays of a prediction the same rows",
                    code="mismatch",
                )
        self.kind, self.arrays = kind, found
        self.ids, self.groups = carried["ids"], groups
        self.settings = {name: value for name, value in given.items() if name not in found}

    def __repr__(self) -> str:
        arrays = [f"{name}={np.shape(value)}" for name, value in self.arrays.items()]
        settings = [f"{name}={value!r:.40}" for name, value in self.settings.items()]
        return f"DaskPrediction({', '.join([_name_of(self.kind), *arrays, *settings])})"

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return int(next(iter(self.arrays.values())).shape[0])

    @property
    def class_names(self) -> Any:
        """Names of the classes, as given; None if there are none."""
        return self.settings.get("class_names")


def is_dask_array(value: Any) -> bool:
    """Whether a value is a dask array; dask is not imported for it.

    Examples
    --------
    >>> is_dask_array([1.0])
    False
    """
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(value, module.Array)


def check_chunks(array: Any, name: str) -> int:
    """Number of rows of a dask array whose chunks have known sizes.

    Raises
    ------
    InputError
        Unknown sizes, no axis, or no row.
    """
    if not array.ndim or any(math.isnan(size) for sizes in array.chunks for size in sizes):
        raise InputError(
            name,
            "needs chunks of known sizes, because every instance has a row number",
            f"got chunks {array.chunks!r:.80}",
            "call compute_chunk_sizes() on the array first; of a dask DataFrame take to_dask_array(lengths=True)",
            code="shape",
        )
    if not array.shape[0]:
        raise InputError(name, "must hold at least one instance", f"got shape {array.shape}", "check it", code="empty")
    return int(array.shape[0])


# -- helpers -------------------------------------------------------------------------------------------------------------


def _named(kind: Callable[..., Any], arrays: tuple[Any, ...], fields: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments by name."""
    try:
        inspect.signature(kind).bind(*arrays, **fields)
    except TypeError as problem:
        raise InputError(
            "arrays", f"must be arguments of {_name_of(kind)}", str(problem), "see its help", code="usage"
        ) from problem
    names = inspect.signature(kind).parameters.values()
    positional = [p.name for p in names if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return dict(zip(positional, arrays, strict=False)) | dict(fields)


def _name_of(kind: Callable[..., Any]) -> str:
    return str(getattr(kind, "__qualname__", type(kind).__name__))
