"""Tables: the sets of scikit-learn, and those of OpenML by their numbers."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState
from uqassay._optional import optional_package
from uqassay.datasets.dataset import Dataset
from uqassay.datasets.splits import stratified_split
from uqassay.errors import InputError

__all__ = ["BUNDLED", "load_bundled", "load_openml"]

BUNDLED = {
    "digits": "load_digits",
    "wine": "load_wine",
    "breast-cancer": "load_breast_cancer",
    "iris": "load_iris",
}
INK = 16.0  # the digits' pixels count ink from 0 to 16


def load_bundled(name: str, *, test_size: float | int = 0.2, rng: RandomState = None) -> Dataset:
    """A set of scikit-learn, split so that every class keeps its share.

    Parameters
    ----------
    name : {"digits", "wine", "breast-cancer", "iris"}
        The pixels of the digits are divided by 16, so that they lie in [0, 1]; the others keep their raw values.
    test_size : float or int
    rng : int, SeedSequence, Generator or None

    Examples
    --------
    >>> load_bundled("wine")
    Dataset('wine': 142 training and 36 test instances of 13, 3 classes)
    """
    sklearn = optional_package("sklearn.datasets", "datasets", f"the data set {name}")
    held = getattr(sklearn, BUNDLED[name])()
    x = held.data / INK if name == "digits" else held.data
    y = held.target
    train, test = stratified_split(y, test_size, rng)
    return Dataset(
        name,
        X_train=x[train],
        y_train=y[train],
        X_test=x[test],
        y_test=y[test],
        class_names=tuple(map(str, held.target_names)),
        source="scikit-learn, from UCI",
        licence="CC BY 4.0",
    )


def load_openml(number: int, folder: Path, *, test_size: float | int = 0.2, rng: RandomState = None) -> Dataset:
    """A classification data set of OpenML by its number, for example 37 (diabetes).

    Parameters
    ----------
    number : int
        OpenML's data_id.
    folder : Path
        The cache folder; downloads go to ``openml`` in it and are used without a network afterwards.
    test_size : float or int
    rng : int, SeedSequence, Generator or None

    Returns
    -------
    Dataset
        Each category becomes a column of 0 and 1. Rows with missing values are left out, with their number in `notes`.

    Raises
    ------
    InputError
        No network, a sparse set, or a target that is no category.
    MissingDependencyError
        scikit-learn or pandas is not installed; pandas reads the files faster than scikit-learn.
    """
    sklearn = optional_package("sklearn.datasets", "datasets", "OpenML")
    optional_package("pandas", "datasets", "OpenML")
    try:
        held = sklearn.fetch_openml(data_id=number, data_home=str(folder), as_frame=True, parser="pandas", n_retries=1)
    except (OSError, ValueError) as problem:
        reason = " ".join(str(getattr(problem, "reason", problem)).split()).rstrip(".")
        raise InputError(
            "openml",
            f"set {number} cannot be read from https://www.openml.org",
            reason,
            f"download it once where there is a network, and copy the folder {folder / 'openml'}",
            code="unreadable",
        ) from problem
    target = held.target
    if target is None or target.dtype.kind in "iuf":
        raise InputError(
            "openml",
            f"the target of set {number} must be a category",
            "it has none or numbers",
            "choose another",
            code="type",
        )
    complete = ~(held.data.isna().any(axis=1) | target.isna()).to_numpy()
    data, target = held.data[complete], target[complete].astype(str)
    if len(data) == 0:
        raise InputError(
            "openml",
            f"set {number} must have a row without missing values",
            f"got none of {len(complete)} rows",
            "choose another set",
            code="empty",
        )
    columns = [_columns(data[column]) for column in data]
    classes, y = np.unique(target.to_numpy(dtype=str), return_inverse=True)
    dropped = int((~complete).sum())
    notes = (f"{dropped} of {len(complete)} rows with missing values are left out",) if dropped else ()
    licence = str(held.details.get("licence", "")) if held.details else ""
    train, test = stratified_split(y, test_size, rng)
    x = np.hstack(columns)
    return Dataset(
        f"openml:{number}",
        X_train=x[train],
        y_train=y[train],
        X_test=x[test],
        y_test=y[test],
        class_names=tuple(map(str, classes)),
        source=f"https://www.openml.org/d/{number}",
        licence=licence,
        notes=notes,
    )


def _columns(column: Any) -> NDArray[np.float64]:
    """One column of numbers, or one of 0 and 1 for each category, ``(n, columns)``."""
    if column.dtype.kind in "iufb":
        return np.asarray(column, dtype=np.float64)[:, None]
    values = column.astype(str).to_numpy(dtype=str)
    return np.asarray(values[:, None] == np.unique(values), dtype=np.float64)
