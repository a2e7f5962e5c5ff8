"""The option --class-names: names with commas between them, or a file of names."""

import os
from pathlib import Path

import numpy as np

from uqassay.errors import FileFormatError
from uqassay.predictions.files import load_column

__all__ = ["read_class_names"]

COLUMN_FORMATS = (".npy", ".npz", ".csv", ".parquet")
MOST_BYTES = 2**20  # of a text file: thousands of names


def read_class_names(text: str) -> tuple[str, ...]:
    """Names of the classes in the order of the columns.

    Parameters
    ----------
    text : str
        The names with commas between them, or an existing file: a text file with one name on each line, or a
        .npy, .npz, .csv or .parquet file with the key or column `class_names`.

    Raises
    ------
    FileFormatError
        A file that cannot be read.

    Examples
    --------
    >>> read_class_names("cat, dog,bird")
    ('cat', 'dog', 'bird')
    """
    if not os.path.isfile(text):
        return tuple(part.strip() for part in text.split(","))
    path = Path(text)
    if path.suffix.lower() in COLUMN_FORMATS:
        return tuple(map(str, np.atleast_1d(load_column(path, ["class_names", "classes"])[0]).tolist()))
    if path.stat().st_size > MOST_BYTES:
        raise FileFormatError(
            "class_names",
            "must be a short text file, one name on each line",
            f"got {path.stat().st_size:,} bytes",
            "give the file that holds the names",
            code="size",
            source=path.name,
        )
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as problem:
        raise FileFormatError(
            "class_names",
            "must be text in UTF-8, one name on each line",
            f"byte {problem.start} is not",
            "save the file as UTF-8",
            code="unreadable",
            source=path.name,
        ) from problem
    return tuple(line.strip() for line in lines if line.strip())
