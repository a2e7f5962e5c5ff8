"""Methods by name, without loading what they need."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay.methods
from uqassay.errors import InputError, MissingDependencyError
from uqassay.methods import METHODS, build_method
from uqassay.methods.registry import load_class


def test_importing_the_room_is_light():
    probe = (
        "import sys, uqassay.methods as m; dir(m); m.METHODS; "
        "print([p for p in ('torch', 'sklearn', 'rich', 'joblib') if p in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_names_files_and_classes_fit_together():
    pytest.importorskip("torch")
    folder = Path(uqassay.methods.__file__).parent
    for name, info in METHODS.items():
        assert info.name == name == name.lower()
        assert " " not in name
        assert "_" not in name
        assert info.sentence.endswith(".")
        for file in info.source_files:
            assert (folder / file).is_file(), file
        method = build_method(name)
        assert type(method).__name__ == info.class_name
        assert info.class_name in uqassay.methods.__all__
        assert getattr(uqassay.methods, info.class_name) is type(method)
        for option, value in info.defaults.items():
            assert method.get_params()[option] == value


def test_options_and_unknown_names():
    pytest.importorskip("torch")
    assert build_method("mc-dropout", rate=0.1).rate == 0.1
    assert build_method("dn-0.6").rate == 0.6
    assert build_method("dn-0.6", rate=0.5).rate == 0.5
    with refuses("method", "choice", got="there is no 'mc-droput'"):
        build_method("mc-droput")
    with refuses("method", "choice", got="there is no 'xyzzy'"):
        build_method("xyzzy")
    with refuses("epoch", "choice"):
        build_method("snn", epoch=3)


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        uqassay.methods.Nonsense  # noqa: B018


def test_missing_package_is_named(monkeypatch):
    def lacking(name):
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr("uqassay.methods.registry.import_module", lacking)
    missing = "torch"
    with pytest.raises(MissingDependencyError, match=r"StandardNetwork needs the package torch, .* uqassay\[methods\]"):
        load_class("standard_network", "StandardNetwork")
    missing = "elsewhere"
    with pytest.raises(ModuleNotFoundError, match="elsewhere"):
        load_class("standard_network", "StandardNetwork")


@pytest.mark.parametrize(
    ("name", "option"),
    [("flipout", "n_samples"), ("laplace-bridge", "n_samples"), ("e-cnn", "n_prototypes"), ("rs-nn", "n_sets")],
)
def test_counts_from_an_array_are_counts(name, option):
    x, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2
    fitted = build_method(name, epochs=1, **{option: np.arange(4)[3]}).fit(x, y)
    assert fitted.predict_proba(x).shape == (12, 2)
    with pytest.raises(InputError, match=f"{option}: must be a whole number from . up; got True"):
        build_method(name, epochs=1, **{option: True}).fit(x, y)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("creinn", {"batch_norm": "False"}, "batch_norm: must be True or False; got 'False'"),
        ("rs-nn", {"repair": "no"}, "repair: must be True or False; got 'no'"),
        ("mc-dropout", {"rate": "0.1"}, "rate: must be a number; got '0.1'; the default is 0.3"),
        (
            "laplace-bridge",
            {"prior_precision": "None"},
            "prior_precision: must be a number; got 'None'; the default is None",
        ),
        ("evidential", {"evidence": ["exp"]}, 'evidence: must be "exp", "softplus" or "relu"'),
    ],
)
def test_text_in_the_place_of_numbers_and_truth_values(name, options, words):
    with pytest.raises(InputError, match=words):
        build_method(name, epochs=1, **options).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(("name", "call"), [("ddu", "feature_density"), ("laplace-bridge", "logit_distribution")])
def test_what_only_one_method_says_needs_a_fit_as_well(name, call):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(build_method(name), call)([[0.0]])
