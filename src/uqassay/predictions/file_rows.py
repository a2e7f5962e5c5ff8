"""Prediction files of which workers read the rows of their chunks, from a disk that all of them reach."""

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._optional import optional_package
from uqassay.errors import FileFormatError
from uqassay.predictions.arrays_on_disk import Contents
from uqassay.predictions.base import Prediction
from uqassay.predictions.dask_prediction import DaskPrediction
from uqassay.predictions.files import as_path, open_contents, problems_named
from uqassay.predictions.keys import ALIASES, FORMS, choose_form, key_of_bare_array, needed_keys
from uqassay.predictions.named_arrays import as_names, prediction_from_arrays

__all__ = ["FileRows", "file_on_dask", "has_rows"]

CHUNK_BYTES = 2**26  # of the arrays of one file
OF_CALLER = ("ids", "groups", "class_names")  # parts that the caller needs of all instances
SHARED = ("focal_sets",)  # arrays of a form that belong to all instances
FURTHER = ("log_partition", "row_numbers")  # other arrays with one row to an instance


@dataclass(frozen=True)
class FileRows:
    """Makes the prediction of consecutive rows of a file.

    Attributes
    ----------
    path : str
        Absolute, so that it means the same file wherever the disk is mounted at the same place.
    shapes : tuple of (str, tuple of int)
        The arrays with one row to an instance, by their keys in the file, and their shapes where the file was first opened.
    variance_is : str or None
        As in `load`.
    """

    path: str
    shapes: tuple[tuple[str, tuple[int, ...]], ...]
    variance_is: str | None = None

    def __call__(self, rows: NDArray[np.int64], *, ids: Any = None, class_names: Any = None) -> Prediction:
        """The prediction of the rows from ``rows[0]`` to ``rows[-1]``.

        Raises
        ------
        FileFormatError
            No such file here, another one, or values that break a rule.
        """
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

    Parameters
    ----------
    path : str or path
        A file for which `has_rows` is true, with the members on the second axis.
    variance_is : str, optional
        As in `load`.

    Raises
    ------
    FileFormatError
        As `load`, as far as shapes show it.
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
        da = optional_package("dask.array", "dask", "a file that workers read")
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
