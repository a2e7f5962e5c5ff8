"""Predictions in dask arrays, and rows of files read in chunks."""

import inspect
import math
import os
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail
from uqassay.errors import FileFormatError, InputError
from uqassay.files import optional_package, problems_named
from uqassay.predictions.arrays_on_disk import Contents
from uqassay.predictions.base import Prediction
from uqassay.predictions.files import as_path, open_contents
from uqassay.predictions.keys import (
    ALIASES,
    FORMS,
    as_names,
    choose_form,
    key_of_bare_array,
    needed_keys,
    prediction_from_arrays,
)

__all__ = [
    "DaskPrediction",
    "check_chunks",
    "file_on_dask",
    "has_rows",
    "is_dask_array",
]


# A prediction of any kind over dask arrays: how to make it from the chunks, where the chunks lie.


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
            rule = "must be a kind of prediction, or a function that makes one"
            fail("kind", rule, f"got {type(kind).__name__}", "write DaskPrediction(uq.Members, array)", code="type")
        groups = fields.pop("groups", None)
        given = _named(kind, arrays, fields)
        carried = {"ids": given.pop("ids", None), "groups": groups}
        found = {name: value for name, value in given.items() if is_dask_array(value)}
        if not found:
            rule = "must hold at least one dask array"
            got = f"got {', '.join(type(value).__name__ for value in given.values()) or 'none'}"
            fail("arrays", rule, got, f"write {_name_of(kind)}(…) itself for arrays in memory", code="type")
        if given.get("member_axis", 1) not in (1, None):
            rule = "must be 1 over dask arrays, whose rows are the instances"
            got = f"got {given['member_axis']!r:.60}"
            fail("member_axis", rule, got, "move the axis by dask.array.moveaxis", code="conflict")
        n = check_chunks(next(iter(found.values())), next(iter(found)))
        for name, value in (found | {name: value for name, value in carried.items() if value is not None}).items():
            rows = check_chunks(value, name) if is_dask_array(value) else len(value)
            if rows != n:
                rule = f"needs one row for each of the {n} instances"
                fail(name, rule, f"got {rows}", "give all arrays of a prediction the same rows", code="mismatch")
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
    """Number of rows of a dask array whose chunks have known sizes."""
    if not array.ndim or any(math.isnan(size) for sizes in array.chunks for size in sizes):
        got = f"got chunks {array.chunks!r:.80}"
        remedy = "call compute_chunk_sizes() on the array first; of a dask DataFrame take to_dask_array(lengths=True)"
        fail(name, "needs chunks of known sizes, because every instance has a row number", got, remedy, code="shape")
    if not array.shape[0]:
        fail(name, "must hold at least one instance", f"got shape {array.shape}", "check it", code="empty")
    return int(array.shape[0])


# -- helpers -------------------------------------------------------------------------------------------------------------


def _named(kind: Callable[..., Any], arrays: tuple[Any, ...], fields: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments by name."""
    try:
        inspect.signature(kind).bind(*arrays, **fields)
    except TypeError as problem:
        rule = f"must be arguments of {_name_of(kind)}"
        raise InputError("arrays", rule, str(problem), "see its help", code="usage") from problem
    names = inspect.signature(kind).parameters.values()
    positional = [p.name for p in names if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return dict(zip(positional, arrays, strict=False)) | dict(fields)


def _name_of(kind: Callable[..., Any]) -> str:
    return str(getattr(kind, "__qualname__", type(kind).__name__))


# Prediction files of which workers read the rows of their chunks, from a disk that all of them reach.

CHUNK_BYTES = 2**26  # of the arrays of one file
OF_CALLER = ("ids", "groups", "class_names")  # parts that the caller needs of all instances
SHARED = ("focal_sets",)  # arrays of a form that belong to all instances
FURTHER = ("log_partition", "row_numbers")  # other arrays with one row to an instance


@dataclass(frozen=True)
class FileRows:
    """Makes the prediction of consecutive rows of a file."""

    path: str  #: Absolute, so that it means the same file wherever the disk is mounted at the same place.
    #: The arrays with one row to an instance, by their keys in the file, and their shapes where the file was first
    #: opened.
    shapes: tuple[tuple[str, tuple[int, ...]], ...]
    variance_is: str | None = None  #: As in `load`.

    def __call__(self, rows: NDArray[np.int64], *, ids: Any = None, class_names: Any = None) -> Prediction:
        """The prediction of the rows from ``rows[0]`` to ``rows[-1]``."""
        path, first, last = Path(self.path), int(rows[0]), int(rows[-1])
        with problems_named(path):
            contents = open_contents(path)
            shapes = dict(self.shapes)
            for key, shape in shapes.items():
                found = contents.arrays[key].shape if key in contents.arrays else None
                if found != shape:
                    raise FileFormatError(
                        key,
                        "must be the same wherever the file is opened",
                        f"a worker found {'no such array' if found is None else f'shape {found}'}, not {shape}",
                        "put the file on a disk that all workers reach, and do not change it meanwhile",
                        code="mismatch",
                    )
            arrays = {
                key: contents.arrays[key].rows(first, last + 1) if key in shapes else contents.arrays[key].read()
                for key in _keys(contents)
            }
            if contents.bare:
                arrays = {key_of_bare_array(None, arrays["array"]): arrays["array"]}
            carried = {"ids": ids, "class_names": class_names}
            arrays |= {key: value for key, value in carried.items() if value is not None}
            return prediction_from_arrays(arrays, variance_is=self.variance_is)


def has_rows(path: str | os.PathLike[str]) -> bool:
    """Whether workers can read and judge some rows without the others.

    True of .npy, .zarr, .safetensors and .npz without compression. Beliefs are read as a whole, because one row that is no
    belief function changes how all are treated.
    """
    path = as_path(path)
    if path.suffix.lower() not in (".npy", ".npz", ".zarr", ".safetensors"):
        return False
    if path.suffix.lower() == ".npz":
        with zipfile.ZipFile(path) as archive:
            if any(info.compress_type != zipfile.ZIP_STORED for info in archive.infolist()):
                return False
    return "beliefs" not in open_contents(path).arrays


def file_on_dask(path: str | os.PathLike[str], *, variance_is: str | None = None) -> DaskPrediction:
    """The prediction in a file, whose values are read by workers; here, names and shapes, ids and groups are read.

    `has_rows` is true of the file, whose members are on the second axis.
    """
    path = as_path(path)
    with problems_named(path):
        contents = open_contents(path)
        if contents.bare:
            stored = contents.arrays["array"]
            _ = key_of_bare_array(None, stored)
            per_instance = ["array"]
        else:
            form = FORMS[choose_form(contents.arrays)]
            per_instance = [
                key
                for key in needed_keys(contents.arrays)
                if (key in form.keys and key not in SHARED)
                or key in FURTHER
                or (key == "weights" and len(contents.arrays[key].shape) == 2)
            ]
        shapes = tuple((key, tuple(contents.arrays[key].shape)) for key in per_instance)
        carried: dict[str, Any] = {}
        for key in contents.arrays:
            role = ALIASES.get(key, key)
            if role in OF_CALLER:
                values = contents.arrays[key].read()
                carried[role] = as_names(values, role) if role == "class_names" else np.asarray(values)
        da = optional_package("dask.array", "dask[array,distributed]>=2024.5", "a file that workers read")
        n = shapes[0][1][0]
        row_bytes = sum(
            np.dtype(contents.arrays[key].dtype).itemsize * int(np.prod(shape[1:])) for key, shape in shapes
        )
        rows = da.arange(n, chunks=max(1, CHUNK_BYTES // max(1, row_bytes)), dtype=np.int64)
        return DaskPrediction(FileRows(os.path.abspath(path), shapes, variance_is), rows, **carried)


def _keys(contents: Contents) -> list[str]:
    """The keys of which a worker makes the prediction."""
    if contents.bare:
        return ["array"]
    return [key for key in needed_keys(contents.arrays) if ALIASES.get(key, key) not in OF_CALLER]
