"""BCI competition IV, set 2a: motor imagery of four kinds in nine subjects (Brunner et al. 2008), through MOABB.

A trial begins with the fixation cross at 0 s; the cue, an arrow, comes at 2 s; the imagery ends with the cross at 6 s. MOABB
counts tmin and tmax from the cue, because it states the task as the interval from 2 s to 6 s of a trial.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from uqassay._optional import optional_package
from uqassay.datasets.dataset import Dataset
from uqassay.errors import InputError
from uqassay.wording import listed

__all__ = ["CLASSES", "WINDOWS", "load_bci_iv_2a"]

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
        "trial": six seconds from the fixation cross to the end of the imagery, as in paper 004, appendix C. "cue": the four
        seconds from the cue to the end of the imagery, as in its authors' code.

    Returns
    -------
    Dataset
        288 + 288 trials ``(22, samples)`` float32 in microvolts, both ends of the window included: 769 or 513 samples. The
        run of a trial is its group.

    Raises
    ------
    InputError
        No such subject or window, or data that cannot be read or downloaded.
    MissingDependencyError
        MOABB is not installed.
    """
    if not 1 <= subject <= SUBJECTS:
        raise InputError(
            "subject", f"must lie in 1 … {SUBJECTS}", f"got {subject}", "write for example bci-iv-2a:1", code="range"
        )
    if window not in WINDOWS:
        raise InputError(
            "window", f"must be {listed(list(WINDOWS), last='or')}", f"got {window!r}", "choose one", code="choice"
        )
    name = "bci-iv-2a" if window == "trial" else f"bci-iv-2a-{window}"
    tmin, tmax = WINDOWS[window]
    datasets = optional_package("moabb.datasets", "eeg", "BCI IV 2a")
    paradigms = optional_package("moabb.paradigms", "eeg", "BCI IV 2a")
    paradigm = paradigms.MotorImagery(n_classes=len(CLASSES), fmin=7.5, fmax=30, tmin=tmin, tmax=tmax, resample=128)
    place = folder / "bci-iv-2a"
    try:
        place.mkdir(parents=True, exist_ok=True)
        is_there = len(list(place.rglob(f"A{subject:02d}[ET].mat"))) == 2
        with _environment(dict.fromkeys(PLACES, str(place)) | ({SOURCE: "upstream"} if is_there else {})):
            x, names, about = paradigm.get_data(dataset=datasets.BNCI2014_001(), subjects=[subject])
    except OSError as problem:
        reason = " ".join(str(problem).split())[:200]
        raise InputError(
            "bci-iv-2a",
            f"subject {subject} cannot be read or downloaded",
            reason,
            f"download it once by MOABB where there is a network, and copy the folder {place}",
            code="unreadable",
        ) from problem
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
