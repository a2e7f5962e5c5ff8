"""Methods by name, without loading what they need."""

import datetime
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay.lab.methods
from uqassay.errors import InputError, MissingDependencyError
from uqassay.lab.methods import METHODS, build_method
from uqassay.lab.methods.registry import load_class


def test_importing_the_room_is_light():
    probe = (
        "import sys, uqassay.lab.methods as m; dir(m); m.METHODS; "
        "print([p for p in ('torch', 'sklearn', 'rich', 'joblib') if p in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_names_files_and_classes_fit_together():
    pytest.importorskip("torch")
    folder = Path(uqassay.lab.methods.__file__).parent
    for name, info in METHODS.items():
        assert info.name == name == name.lower()
        assert " " not in name
        assert "_" not in name
        assert info.sentence.endswith(".")
        for file in info.source_files:
            assert (folder / file).is_file(), file
        method = build_method(name)
        assert type(method).__name__ == info.class_name
        assert info.class_name in uqassay.lab.methods.__all__
        assert getattr(uqassay.lab.methods, info.class_name) is type(method)
        for option, value in info.defaults.items():
            assert method.get_params()[option] == value


def test_options_and_unknown_names():
    pytest.importorskip("torch")
    assert build_method("mc-dropout", rate=0.1).rate == 0.1
    assert build_method("dn-0.6").rate == 0.6
    assert build_method("dn-0.6", rate=0.5).rate == 0.5
    with refuses("method", "choice", got="'mc-droput'.*mc-dropout"):
        build_method("mc-droput")
    with refuses("method", "choice", got="'xyzzy'"):
        build_method("xyzzy")
    with refuses("epoch", "choice", got="snn.*epochs"):
        build_method("snn", epoch=3)


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        uqassay.lab.methods.Nonsense  # noqa: B018


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [name for name in sys.modules if name.startswith("uqassay.lab.methods.")]:
        if name != "uqassay.lab.methods.registry":
            monkeypatch.delitem(sys.modules, name)
    with refuses("torch", "package", got=r"StandardNetwork.*pip install .uqassay\[lab\]", error=MissingDependencyError):
        load_class("ensembles", "StandardNetwork")
    assert load_class("forests", "RandomForest").__name__ == "RandomForest"  # needs no PyTorch


@pytest.mark.parametrize(
    ("name", "option"),
    [("flipout", "n_samples"), ("laplace-bridge", "n_samples"), ("e-cnn", "n_prototypes"), ("rs-nn", "n_sets")],
)
def test_counts_from_an_array_are_counts(name, option):
    x, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2
    fitted = build_method(name, epochs=1, **{option: np.arange(4)[3]}).fit(x, y)
    assert fitted.predict_proba(x).shape == (12, 2)
    with refuses(option, got="got True"):
        build_method(name, epochs=1, **{option: True}).fit(x, y)


def refusal_of(method):
    try:
        method.check_options((3,), 4)
    except InputError as problem:
        return problem
    return None


ODD = [None, True, 0, -1, 2.5, 1e400, "x", "", [], [1, "a"], [[]], {}, {"a": 1}, 10**30, datetime.date(2020, 1, 1)]


@pytest.mark.parametrize("name", METHODS)
def test_any_odd_option_is_accepted_or_refused_by_its_name_without_training(name, monkeypatch):
    pytest.importorskip("torch")
    for trained in ("uqassay.lab.methods.networks.train", "uqassay.lab.methods.networks.train"):
        monkeypatch.setattr(trained, lambda *_: pytest.fail("nothing is trained"))
    for option in build_method(name).get_params(deep=False):
        if option in ("random_state", "n_jobs"):
            continue
        for value in ODD:
            found = refusal_of(build_method(name, **{option: value}))
            # an empty backbone is one, in which Flipout has no hidden layer
            assert found is None or found.parameter in (option, "X", "where"), (value, found)
            assert found is None or found.code, (value, found)


def test_every_method_checks_its_options_before_its_data():
    for name in METHODS:
        build_method(name).check_options()
        params = build_method(name).get_params()
        option = next(option for option in ("epochs", "n_members", "cell_size") if option in params)
        with refuses(option, "range", got="got -1"):
            build_method(name, **{option: -1}).fit(None, None)


@pytest.mark.parametrize(("name", "call"), [("ddu", "feature_density"), ("laplace-bridge", "logit_distribution")])
def test_what_only_one_method_says_needs_a_fit_as_well(name, call):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(build_method(name), call)([[0.0]])
