"""BCI IV 2a through a stand-in for MOABB: what is asked of it, and what is made of its answer."""

import os
import sys
from types import ModuleType

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.datasets import load_dataset
from uqassay.datasets.bci import CLASSES
from uqassay.errors import MissingDependencyError


@pytest.fixture
def moabb(monkeypatch):
    """A stand-in that keeps what it was asked in `asked`, and answers in the form of MOABB."""
    asked = {"sessions": ("0train", "1test")}
    g = np.random.default_rng(0)

    class MotorImagery:
        def __init__(self, **options):
            asked["paradigm"] = options

        def get_data(self, *, dataset, subjects):
            if asked.get("fail"):
                raise asked["fail"]
            asked["dataset"], asked["subjects"] = type(dataset).__name__, subjects
            asked["place"] = os.environ["MNE_DATASETS_BNCI_PATH"]
            assert os.environ["MNE_DATA"] == asked["place"]
            n = 96
            x = g.normal(size=(n, 22, 513))
            names = np.array([CLASSES[3 - i % 4] for i in range(n)])
            first, second = asked["sessions"]
            about = {"session": [first if i % 2 else second for i in range(n)], "run": [str(i // 16) for i in range(n)]}
            asked["x"] = x
            return x, names, about

    package, datasets, paradigms = ModuleType("moabb"), ModuleType("moabb.datasets"), ModuleType("moabb.paradigms")
    datasets.BNCI2014_001 = type("BNCI2014_001", (), {})
    paradigms.MotorImagery = MotorImagery
    for name, module in (("moabb", package), ("moabb.datasets", datasets), ("moabb.paradigms", paradigms)):
        monkeypatch.setitem(sys.modules, name, module)
    return asked


@pytest.mark.parametrize("sessions", [("0train", "1test"), ("session_T", "session_E")])
def test_one_subject(moabb, own_cache, sessions):
    moabb["sessions"] = sessions
    data = load_dataset("bci-iv-2a:3")
    assert moabb["paradigm"] == {"n_classes": 4, "fmin": 7.5, "fmax": 30, "tmin": 0, "tmax": None, "resample": 128}
    assert (moabb["dataset"], moabb["subjects"], moabb["place"]) == ("BNCI2014_001", [3], str(own_cache / "bci-iv-2a"))
    assert not {"MNE_DATASETS_BNCI_PATH", "MNE_DATA"} & set(os.environ)
    rows = np.arange(96)
    np.testing.assert_array_equal(data.X_train, moabb["x"][rows % 2 == 1].astype(np.float32))
    np.testing.assert_array_equal(data.y_test, 3 - rows[rows % 2 == 0] % 4)
    assert data.X_test.shape[1:] == (22, 513)
    assert data.class_names == CLASSES
    assert len(set(data.groups_train.tolist())) == 6
    assert data.groups_test[0] == f"{sessions[1]} run 0"
    assert not set(data.groups_train.tolist()) & set(data.groups_test.tolist())


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
    with refuses("moabb", "package", got=r"BCI IV 2a .*uqassay\[eeg\]", error=MissingDependencyError):
        load_dataset("bci-iv-2a:1")
