"""Tables: the sets of scikit-learn, those of OpenML, and the motor imagery of BCI IV 2a."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import RandomState
from uqassay.checks import fail, one_of, whole
from uqassay.errors import InputError
from uqassay.files import optional_package
from uqassay.lab.datasets.dataset import Dataset, stratified_split
from uqassay.text import said

__all__ = [
    "BUNDLED",
    "CLASSES",
    "load_bci_iv_2a",
    "load_bundled",
    "load_openml",
]


BUNDLED = {
    "digits": "load_digits",
    "wine": "load_wine",
    "breast-cancer": "load_breast_cancer",
    "iris": "load_iris",
}
INK = 16.0  # the digits' pixels count ink from 0 to 16


def load_bundled(
    name: str, *, test_size: float | int = 0.2, rng: RandomState = None, stratified: bool = True
) -> Dataset:
    """A set of scikit-learn with a training and a test part.

    Parameters
    ----------
    name : {"digits", "wine", "breast-cancer", "iris"}
        The pixels of the digits are divided by 16, so that they lie in [0, 1]; the others keep their raw values.
    stratified : bool
        Every class keeps its share; otherwise the rows are those of ``sklearn.model_selection.train_test_split`` with the
        seed `rng`.

    Examples
    --------
    >>> load_bundled("wine")
    Dataset('wine': 142 training and 36 test instances of 13, 3 classes)
    """
    sklearn = optional_package("sklearn.datasets", "lab", f"the data set {name}")
    held = getattr(sklearn, BUNDLED[name])()
    x = held.data / INK if name == "digits" else held.data
    y = held.target
    if stratified:
        train, test = stratified_split(y, test_size, rng)
    else:
        selection = optional_package("sklearn.model_selection", "lab", f"the data set {name}")
        seed = whole(0 if rng is None else rng, "rng", "an unstratified split takes a seed, for example 0", least=0)
        train, test = selection.train_test_split(np.arange(len(y)), test_size=test_size, random_state=seed)
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

    Returns
    -------
    Dataset
        Each category becomes a column of 0 and 1. Rows with missing values are left out, with their number in `notes`.

    Raises
    ------
    InputError
        No network, a sparse set, or a target that is no category.
    MissingDependencyError
        scikit-learn is not installed.
    """
    sklearn = optional_package("sklearn.datasets", "lab", "OpenML")
    try:
        held = sklearn.fetch_openml(data_id=number, data_home=str(folder), as_frame=True, parser="pandas", n_retries=1)
    except (OSError, ValueError) as problem:
        reason = " ".join(str(getattr(problem, "reason", problem)).split()).rstrip(".")
        rule = f"set {number} cannot be read from https://www.openml.org"
        remedy = f"download it once where there is a network, and copy the folder {folder / 'openml'}"
        raise InputError("openml", rule, reason, remedy, code="unreadable") from problem
    target = held.target
    if target is None or target.dtype.kind in "iuf":
        rule = f"the target of set {number} must be a category"
        fail("openml", rule, "it has none or numbers", "choose another", code="type")
    complete = ~(held.data.isna().any(axis=1) | target.isna()).to_numpy()
    data, target = held.data[complete], target[complete].astype(str)
    if len(data) == 0:
        rule = f"set {number} must have a row without missing values"
        fail("openml", rule, f"got none of {len(complete)} rows", "choose another set", code="empty")
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


# BCI competition IV, set 2a: motor imagery of four kinds in nine subjects (Brunner et al. 2008), through MOABB.
#
# A trial begins with the fixation cross at 0 s; the cue, an arrow, comes at 2 s; the imagery ends with the cross at 6
# s. MOABB counts tmin and tmax from the cue, because it states the task as the interval from 2 s to 6 s of a trial.

CLASSES = ("feet", "left_hand", "right_hand", "tongue")
SUBJECTS = 9
WINDOWS = {"trial": (-2, 4), "cue": (0, 4)}  # seconds from the cue, MOABB's tmin and tmax
PLACES = ("MNE_DATASETS_BNCI_PATH", "MNE_DATA")  # MOABB's folders of this set and of all; set only during the call
SOURCE = "MOABB_DOWNLOAD_PROVIDER"  # MOABB from 1.7 on asks its mirror also for files that are there


def load_bci_iv_2a(subject: int, folder: Path, *, window: str = "trial") -> Dataset:
    """Recordings of one subject: 22 channels, band-pass 7.5 to 30 Hz, 128 Hz; first session to train, second to test.

    Parameters
    ----------
    subject : int
        1 … 9.
    folder : Path
        The cache folder; MOABB downloads to ``bci-iv-2a`` in it (about 85 MB a subject).
    window : {"trial", "cue"}
        "trial": six seconds from the fixation cross to the end of the imagery, as printed, appendix C. "cue": the four
        seconds from the cue to the end of the imagery, as in its authors' code.

    Returns
    -------
    Dataset
        288 + 288 trials ``(22, samples)`` float32 in microvolts, both ends of the window included: 769 or 513 samples. The
        run of a trial is its group.
    """
    whole(subject, "subject", "write for example bci-iv-2a:1", least=1, most=SUBJECTS)
    one_of(window, "window", WINDOWS, "choose one")
    name = "bci-iv-2a" if window == "trial" else f"bci-iv-2a-{window}"
    tmin, tmax = WINDOWS[window]
    datasets = optional_package("moabb.datasets", "moabb>=1.1", "BCI IV 2a")
    paradigms = optional_package("moabb.paradigms", "moabb>=1.1", "BCI IV 2a")
    paradigm = paradigms.MotorImagery(n_classes=len(CLASSES), fmin=7.5, fmax=30, tmin=tmin, tmax=tmax, resample=128)
    place = folder / "bci-iv-2a"
    try:
        place.mkdir(parents=True, exist_ok=True)
        is_there = len(list(place.rglob(f"A{subject:02d}[ET].mat"))) == 2
        with _environment(dict.fromkeys(PLACES, str(place)) | ({SOURCE: "upstream"} if is_there else {})):
            x, names, about = paradigm.get_data(dataset=datasets.BNCI2014_001(), subjects=[subject])
    except OSError as problem:
        rule = f"subject {subject} cannot be read or downloaded"
        remedy = f"download it once by MOABB where there is a network, and copy the folder {place}"
        raise InputError("bci-iv-2a", rule, said(problem), remedy, code="unreadable") from problem
    sessions = np.asarray(about["session"]).astype(str)
    of_training, of_test = np.unique(sessions)  # 0train and 1test; session_E and session_T in older versions
    if of_training.endswith("E"):
        of_training, of_test = of_test, of_training
    y = np.searchsorted(CLASSES, np.asarray(names).astype(str))
    runs = np.char.add(np.char.add(sessions, " run "), np.asarray(about["run"]).astype(str))
    train, test = sessions == of_training, sessions == of_test
    return Dataset(
        f"{name}:{subject}",
        x[train].astype(np.float32),
        y[train],
        x[test].astype(np.float32),
        y[test],
        CLASSES,
        groups_train=runs[train],
        groups_test=runs[test],
        source="BNCI 2014-001, through MOABB",
        licence="CC BY-ND 4.0",
        notes=(f"window from {tmin} s to {tmax} s around the cue",),
    )


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment during a block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                del os.environ[name]
            else:
                os.environ[name] = old
