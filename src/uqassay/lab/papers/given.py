"""What users give in place of a paper's data: files, and labels of any kind."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import as_array
from uqassay.checks import fail
from uqassay.errors import InputError

__all__ = [
    "GivenFiles",
    "coded_labels",
    "given_files",
    "labels_of_rows",
]


# Files of the user in place of a data set's own: a folder with train.npz and test.npz, such as a copy of CIFAR-10.


@final
@dataclass(frozen=True)
class GivenFiles:
    """Files in place of those of one data set.

    Examples
    --------
    >>> given = GivenFiles(Path("copies/jpeg"), "My copy")
    >>> given.source, given.label("cifar-10"), given.shown("cifar-10")
    ('npz:copies/jpeg', 'cifar-10 from jpeg', 'My copy')
    """

    folder: Path
    name: str = ""  #: Of the data, for the reader; "" for one made from the data set and the folder

    @property
    def source(self) -> str:
        """Argument of `uqassay.lab.datasets.load_dataset`."""
        return f"npz:{self.folder}"

    def label(self, dataset: str) -> str:
        """What stands in for a data set; cells have it, so that another name of the data trains nothing anew."""
        return f"{dataset} from {self.folder.resolve().name}"

    def shown(self, dataset: str) -> str:
        """Name for the reader."""
        return self.name or self.label(dataset)


def given_files(
    data: str | os.PathLike[str] | None, datasets: Sequence[str], *, name: str | None = None
) -> GivenFiles | None:
    """The files of an option ``data``, checked; None without.

    Parameters
    ----------
    datasets : sequence of str
        The data sets asked for; the files stand in for exactly one.
    name : str, optional
        Of the data, for the reader.
    """
    if data is None:
        if name is not None:
            fail(
                "data_name",
                "names the files of --data",
                "there are none",
                "add --data or leave it out",
                code="conflict",
            )
        return None
    if name is not None and (not isinstance(name, str) or not name.strip() or "/" in name or "\n" in name):
        fail("data_name", "must be a line of text without /", f"got {name!r}", "for example my copy", code="type")
    if len(datasets) != 1:
        fail(
            "data", "needs one data set", f"got {len(datasets)}", "name the data set that it replaces", code="conflict"
        )
    folder = Path(data)
    if not folder.exists():
        fail(
            "data",
            "must be a folder with train.npz and test.npz",
            f"got {folder}, which does not exist",
            "see docs/datasets.md",
            code="missing",
        )
    there = [name for name in ("train.npz", "test.npz") if (folder / name).is_file()]
    if len(there) == 1:
        fail(
            "data",
            "must hold train.npz and test.npz",
            f"{folder} has {there[0]} alone",
            "put the other part there",
            code="missing",
        )
    return GivenFiles(folder, name or "")


# Labels of any kind as class indices.


def labels_of_rows(y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Labels as an array, one for each row of X."""
    labels = as_array(y, "y")
    if labels.ndim != 1 or len(labels) != n_rows:
        fail(
            "y",
            "must hold one label for each row of X",
            f"got shape {labels.shape} for {n_rows} rows",
            "give one label for each instance",
            code="shape",
        )
    return labels


def coded_labels(parts: Mapping[str, NDArray[Any]]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The distinct labels as text, sorted, and the place of each label among them, part after part.

    Parameters
    ----------
    parts : dict of str to array (n,)
        Labels by the name of the argument, for errors.

    Examples
    --------
    >>> names, codes = coded_labels({"y": np.array(["b", "a", "b"])})
    >>> names, codes.tolist()
    (('a', 'b'), [1, 0, 1])
    """
    for name, part in parts.items():
        if part.ndim != 1:
            got = f"got shape {part.shape}"
            fail(name, "must hold one label for each row", got, "give one axis", code="shape")
        missing = [i for i, label in enumerate(part.tolist()) if label is None or label != label]
        if missing:
            remedy = "fill in missing labels, or drop such rows"
            fail(name, "must hold a label in each row", f"row {missing[0]} has none", remedy, code="missing")
    every = list(parts.values())
    try:
        names, codes = np.unique(np.concatenate(every), return_inverse=True)
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for part in every for label in part.tolist()})
        got = f"got {' and '.join(kinds)}"
        raise InputError("y", "must hold labels of one type", got, "convert all to text", code="type") from problem
    return tuple(str(name) for name in names.tolist()), codes.astype(np.int64)
