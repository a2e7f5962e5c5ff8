"""The option --class-names: names with commas between them, or a file of names."""

import os
from pathlib import Path

import numpy as np

from uqassay.cli.remedies import about_files
from uqassay.errors import FileFormatError
from uqassay.predictions.files import load_column
from uqassay.predictions.metadata import checked_class_names
from uqassay.wording import count

__all__ = ["read_class_names"]

COLUMN_FORMATS = (".npy", ".npz", ".csv", ".tsv", ".parquet")
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
    InputError
        A name that is empty or occurs twice.

    Examples
    --------
    >>> read_class_names("cat, dog,bird")
    ('cat', 'dog', 'bird')
    """
    if not os.path.isfile(text):
        names = tuple(part.strip() for part in text.split(","))
        return checked_class_names(names, len(names))
    path = Path(text)
    with about_files({"class_names": path}):
        if path.suffix.lower() in COLUMN_FORMATS:
            names = tuple(map(str, np.atleast_1d(load_column(path, ["class_names", "classes"])[0]).tolist()))
        else:
            names = tuple(line.strip() for line in _text(path).splitlines() if line.strip())
        return checked_class_names(names, len(names))


def _text(path: Path) -> str:
    """A short text file, whole."""
    if path.stat().st_size > MOST_BYTES:
        raise FileFormatError(
            "class_names",
            "must be a short text file, one name on each line",
            f"got {count(path.stat().st_size)} bytes",
            "give the file that holds the names",
            code="size",
        )
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise FileFormatError(
            "class_names",
            "must be text in UTF-8, one name on each line",
            f"byte {problem.start} is not",
            "save the file as UTF-8",
            code="encoding",
        ) from problem
