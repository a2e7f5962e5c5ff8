"""Tables of scikit-learn and OpenML, and recordings through MOABB, each from answers in their own form."""

import gzip
import hashlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets import tables as tabular
from uqassay.lab.datasets.tables import CLASSES, load_bci_iv_2a


@pytest.mark.parametrize(("name", "by"), list(tabular.BUNDLED.items()))
def test_bundled_sets_against_scikit_learn(name, by, needs):
    needs("sklearn")
    import sklearn.datasets

    theirs = getattr(sklearn.datasets, by)()
    raw = load_dataset(name, prepare=False, rng=2)
    scale = 16 if name == "digits" else 1
    rows = np.concatenate([raw.X_train, raw.X_test]) * scale
    labels = np.concatenate([raw.y_train, raw.y_test])
    ours = np.column_stack([labels, rows])
    expected = np.column_stack([theirs.target, theirs.data])
    np.testing.assert_array_equal(ours[np.lexsort(ours.T)], expected[np.lexsort(expected.T)])
    assert raw.class_names == tuple(map(str, theirs.target_names))
    assert len(raw.y_test) == round(0.2 * len(labels))
    share = np.bincount(raw.y_test) / np.bincount(labels)
    np.testing.assert_allclose(share, 0.2, atol=1 / np.bincount(labels).min())


def test_tables_are_z_scored_by_their_training_part_but_digits_are_not(needs):
    needs("sklearn")
    from sklearn.datasets import load_wine
    from sklearn.model_selection import train_test_split

    _, theirs, _, y = train_test_split(*load_wine(return_X_y=True), test_size=0.2, random_state=0)
    code = load_dataset("wine-unstratified", prepare=False)
    np.testing.assert_array_equal(code.X_test, theirs)
    np.testing.assert_array_equal(code.y_test, y)
    wine, raw = load_dataset("wine"), load_dataset("wine", prepare=False)
    np.testing.assert_allclose(wine.X_test, raw.standardised().X_test)
    np.testing.assert_allclose(wine.X_train.mean(axis=0), 0, atol=1e-12)
    assert wine.notes == ("z-scores by the training instances",)
    digits = load_dataset("digits")
    assert (digits.X_train.min(), digits.X_train.max()) == (0.0, 1.0)
    assert digits.content_hash == load_dataset("digits", prepare=False).content_hash


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with refuses("scikit-learn", "package", got=r"iris .*pip install .uqassay\[lab\]", error=MissingDependencyError):
        load_dataset("iris")


# ---- OpenML ----------------------------------------------------------------------------------------------------------

ARFF = """@relation made
@attribute age numeric
@attribute colour {red, green, blue}
@attribute class {yes, no}
@data
"""


def keep_answers(home, rows, target="class", number=77):
    """What scikit-learn keeps of OpenML's answers, so that a set is loaded without a network."""
    from sklearn.datasets import _openml

    arff = (ARFF + "\n".join(rows) + "\n").encode()
    about = {
        "id": str(number), "name": "made", "version": "1", "description": "made", "format": "ARFF", "file_id": "99",
        "status": "active", "url": "https://api.openml.org/data/v1/download/99/made.arff", "licence": "CC0",
        "default_target_attribute": target, "md5_checksum": hashlib.md5(arff).hexdigest(),
    }  # fmt: skip
    description = {"data_set_description": about}
    kinds = {"age": "numeric", "colour": "nominal", "class": "nominal"}
    columns = [
        {
            "index": str(i), "name": name, "data_type": kind, "is_target": str(name == target).lower(),
            "is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0",
        }
        for i, (name, kind) in enumerate(kinds.items())
    ]  # fmt: skip
    features = {"data_features": {"feature": columns}}
    qualities = {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": str(len(rows))}]}}
    answers = {
        _openml._DATA_QUALITIES.format(number): json.dumps(qualities).encode(),
        _openml._DATA_INFO.format(number): json.dumps(description).encode(),
        _openml._DATA_FEATURES.format(number): json.dumps(features).encode(),
        "https://api.openml.org/data/v1/download/99/made.arff": arff,
    }
    for address, data in answers.items():
        path = Path(_openml._get_local_path(_openml._openml_path_from_url(address), str(home / "openml")))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data))


def test_openml_from_what_was_kept(own_cache, needs):
    needs("sklearn")
    colours = ["red", "green", "blue"]
    rows = [f"{i},{colours[i % 3]},{'yes' if i % 2 else 'no'}" for i in range(40)]
    keep_answers(own_cache, [*rows, "?,red,yes", "3,?,no", "4,red,?"])
    data = load_dataset("openml:77", prepare=False, rng=1)
    assert data.class_names == ("no", "yes")
    assert data.notes == ("3 of 43 rows with missing values are left out",)
    assert data.licence == "CC0"
    assert (len(data.y_train), len(data.y_test)) == (32, 8)
    x, y = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
    x, y = x[np.argsort(x[:, 0])], y[np.argsort(x[:, 0])]
    np.testing.assert_array_equal(x[:, 0], np.arange(40))
    np.testing.assert_array_equal(x[:6, 1:], [[0, 0, 1], [0, 1, 0], [1, 0, 0]] * 2)  # blue, green, red
    np.testing.assert_array_equal(y, np.arange(40) % 2)
    assert load_dataset("openml:77").notes[-1] == "z-scores by the training instances"


def test_openml_without_a_class(own_cache, needs):
    needs("sklearn")
    keep_answers(own_cache, ["1,red,yes", "2,green,no"], target="age")
    with refuses("openml", "type", got="the target of set 77 must be a category"):
        load_dataset("openml:77")


def test_openml_where_every_row_lacks_a_value(own_cache, needs):
    needs("sklearn")
    keep_answers(own_cache, ["?,red,yes", "?,green,no"])
    with refuses("openml", "empty", got="none of 2 rows"):
        load_dataset("openml:77")


@pytest.mark.filterwarnings("ignore:A network error occurred")
def test_openml_without_a_network(own_cache, needs, monkeypatch):
    needs("sklearn")
    from urllib.error import URLError

    from sklearn.datasets import _openml

    def no_network(*_, **__):
        raise URLError("no route to host")

    monkeypatch.setattr(_openml, "urlopen", no_network)
    monkeypatch.setattr(_openml.time, "sleep", lambda _: None)
    with refuses("openml", "unreadable", got=f"set 41 .*; no route to host; .* folder {own_cache}/openml"):
        load_dataset("openml:41")
    with refuses("name", "type", got="got 'iris'"):
        load_dataset("openml:iris")


# -- BCI IV 2a through MOABB -------------------------------------------------------------------------------------------


@pytest.fixture
def moabb(monkeypatch):
    """A stand-in that keeps what it was asked in `asked`, and answers in the form of MOABB.

    Each sample of the first channel is its time in the trial: MOABB counts tmin and tmax from the start of the interval that
    the data set states, which is (2, 6) here, and includes both ends.
    """
    asked = {"sessions": ("0train", "1test")}
    g = np.random.default_rng(0)

    class BNCI2014_001:
        interval = (2, 6)

    class MotorImagery:
        def __init__(self, **options):
            asked["paradigm"] = options

        def get_data(self, *, dataset, subjects):
            if asked.get("fail"):
                raise asked["fail"]
            asked["dataset"], asked["subjects"] = type(dataset).__name__, subjects
            asked["place"] = os.environ["MNE_DATASETS_BNCI_PATH"]
            asked["source"] = os.environ.get("MOABB_DOWNLOAD_PROVIDER")
            assert os.environ["MNE_DATA"] == asked["place"]
            n = 96
            tmin, tmax = (asked["paradigm"][key] + BNCI2014_001.interval[0] for key in ("tmin", "tmax"))
            times = np.arange(round((tmax - tmin) * 128) + 1) / 128 + tmin
            x = g.normal(size=(n, 22, len(times)))
            x[:, 0] = times
            names = np.array([CLASSES[3 - i % 4] for i in range(n)])
            first, second = asked["sessions"]
            about = {"session": [first if i % 2 else second for i in range(n)], "run": [str(i // 16) for i in range(n)]}
            asked["x"] = x
            return x, names, about

    package, datasets, paradigms = ModuleType("moabb"), ModuleType("moabb.datasets"), ModuleType("moabb.paradigms")
    datasets.BNCI2014_001 = BNCI2014_001
    paradigms.MotorImagery = MotorImagery
    for name, module in (("moabb", package), ("moabb.datasets", datasets), ("moabb.paradigms", paradigms)):
        monkeypatch.setitem(sys.modules, name, module)
    return asked


@pytest.mark.parametrize("sessions", [("0train", "1test"), ("session_T", "session_E")])
def test_one_subject(moabb, own_cache, sessions):
    moabb["sessions"] = sessions
    data = load_dataset("bci-iv-2a:3")
    assert moabb["paradigm"] == {"n_classes": 4, "fmin": 7.5, "fmax": 30, "tmin": -2, "tmax": 4, "resample": 128}
    assert (moabb["dataset"], moabb["subjects"], moabb["place"]) == ("BNCI2014_001", [3], str(own_cache / "bci-iv-2a"))
    assert not {"MNE_DATASETS_BNCI_PATH", "MNE_DATA"} & set(os.environ)
    rows = np.arange(96)
    np.testing.assert_array_equal(data.X_train, moabb["x"][rows % 2 == 1].astype(np.float32))
    np.testing.assert_array_equal(data.y_test, 3 - rows[rows % 2 == 0] % 4)
    assert data.class_names == CLASSES
    assert len(set(data.groups_train.tolist())) == 6
    assert data.groups_test[0] == f"{sessions[1]} run 0"
    assert not set(data.groups_train.tolist()) & set(data.groups_test.tolist())


@pytest.mark.parametrize(("name", "first", "samples"), [("bci-iv-2a", 0, 769), ("bci-iv-2a-cue", 2, 513)])
def test_window_ends_with_the_imagery_and_begins_with_the_cross_or_the_cue(moabb, name, first, samples):
    data = load_dataset(f"{name}:2")
    assert data.name == f"{name}:2"
    assert data.X_train.shape[1:] == (22, samples)
    assert (data.X_train[0, 0, 0], data.X_train[0, 0, -1]) == (first, 6.0)


def test_unknown_window(tmp_path):
    with refuses("window", "choice", got="got 'arrow'"):
        load_bci_iv_2a(1, tmp_path, window="arrow")


def test_files_that_are_there_are_not_asked_of_the_mirror(moabb, own_cache, monkeypatch):
    monkeypatch.delenv("MOABB_DOWNLOAD_PROVIDER", raising=False)
    load_dataset("bci-iv-2a:1")
    assert moabb["source"] is None
    for session in "ET":
        (own_cache / PLACE).mkdir(parents=True, exist_ok=True)
        (own_cache / PLACE / f"A01{session}.mat").touch()
    load_dataset("bci-iv-2a:1")
    assert moabb["source"] == "upstream"
    assert "MOABB_DOWNLOAD_PROVIDER" not in os.environ
    load_dataset("bci-iv-2a:2")
    assert moabb["source"] is None


def test_the_environment_is_as_it_was(moabb, monkeypatch):
    monkeypatch.setenv("MNE_DATASETS_BNCI_PATH", "mine")
    load_dataset("bci-iv-2a:1")
    assert os.environ["MNE_DATASETS_BNCI_PATH"] == "mine"
    moabb["fail"] = ConnectionError("no route to host")
    with refuses("bci-iv-2a", "unreadable", got="subject 1 .*; no route to host; .* copy the folder"):
        load_dataset("bci-iv-2a:1")
    assert os.environ["MNE_DATASETS_BNCI_PATH"] == "mine"


@pytest.mark.parametrize("subject", [0, 10])
def test_subjects(subject):
    with refuses("subject", "range", got=f"got {subject}"):
        load_dataset(f"bci-iv-2a:{subject}")


def test_without_moabb(monkeypatch):
    monkeypatch.setitem(sys.modules, "moabb", None)
    monkeypatch.setitem(sys.modules, "moabb.datasets", None)
    with refuses("moabb", "package", got=r"BCI IV 2a .*pip install .moabb>=1", error=MissingDependencyError):
        load_dataset("bci-iv-2a:1")


# -- with MOABB -------------------------------------------------------------------------------------------------------

HZ = 250
PLACE = "bci-iv-2a/MNE-bnci-data/~bci/database/001-2014"  # of the files in MOABB's folder
NAMES = ("left hand", "right hand", "feet", "tongue")  # 1 … 4 in the files


def write_session(path, seed, n_runs=2, n_trials=8):
    """A session as published: a calibration run without trials, then runs of trials with 22 EEG and 3 EOG channels.

    Channel 0 swings with 12 Hz while the fixation cross is alone (0 to 2 s of a trial), channel 1 with 20 Hz from the cue to
    the end (2 to 6 s), and channel 2 with 50 Hz all the time, which the filter removes.
    """
    from scipy.io import savemat

    g = np.random.default_rng(seed)
    runs = np.empty(n_runs + 1, dtype=object)
    for r in range(n_runs + 1):
        n = n_trials if r else 0
        begin = np.arange(n) * 8 * HZ + 2 * HZ
        x = g.normal(size=((8 * max(n, 1) + 6) * HZ, 25))
        t = np.arange(6 * HZ) / HZ
        x[:, 2] += 50 * np.sin(2 * np.pi * 50 * np.arange(len(x)) / HZ)
        for at in begin:
            x[at : at + 2 * HZ, 0] += 50 * np.sin(2 * np.pi * 12 * t[: 2 * HZ])
            x[at + 2 * HZ : at + 6 * HZ, 1] += 50 * np.sin(2 * np.pi * 20 * t[2 * HZ :])
        runs[r] = {
            "X": x,
            "trial": (begin + 1).astype(np.int32),  # counted from 1
            "y": (np.arange(n) % 4 + 1).astype(np.uint8),
            "fs": HZ,
            "classes": np.array(NAMES, dtype=object),
            "artifacts": np.zeros(n, dtype=np.uint8),
            "gender": "male",
            "age": 22,
        }
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {"data": runs})


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("moabb") is None, reason="MOABB is heavy, and no extra has it")
@pytest.mark.filterwarnings("ignore")  # of MOABB and MNE about each other
def test_moabb_reads_published_files_and_the_windows_lie_where_they_should(own_cache):
    for i, session in enumerate("TE"):
        write_session(own_cache / PLACE / f"A01{session}.mat", i)
    whole, cue = load_dataset("bci-iv-2a:1"), load_dataset("bci-iv-2a-cue:1")
    assert (whole.X_train.shape, whole.X_test.shape) == ((16, 22, 769), (16, 22, 769))
    assert cue.X_train.shape == (16, 22, 513)
    names = [name.replace(" ", "_") for name in NAMES]
    assert [whole.class_names[k] for k in whole.y_train] == names * 4
    assert len(set(whole.groups_train.tolist())) == 2
    size = lambda x, channel, start, end: np.abs(x[:, channel, round(start * 128) : round(end * 128)]).mean()  # noqa: E731
    mean_sine = 50 * 2 / np.pi
    # the filter and the resampling blur the borders by a fifth of a second
    assert abs(size(whole.X_train, 0, 0.2, 1.8) - mean_sine) < 2.5
    assert size(whole.X_train, 0, 2.3, 6) < 1.5
    assert size(whole.X_train, 1, 0, 1.7) < 1.5
    assert abs(size(whole.X_train, 1, 2.2, 5.8) - mean_sine) < 2.5
    assert abs(size(cue.X_train, 1, 0.2, 3.8) - mean_sine) < 2.5
    assert size(cue.X_train, 0, 0.3, 4) < 1.5
    assert np.abs(whole.X_train[:, 2]).mean() < 2.0
