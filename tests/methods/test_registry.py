"""Methods by name, without loading what they need."""

import subprocess
import sys
from pathlib import Path

import pytest

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


def test_every_module_of_the_room_counts_for_some_method():
    folder = Path(uqassay.methods.__file__).parent
    counted = {file for info in METHODS.values() for file in info.source_files}
    neither = {"__init__.py", "registry.py", "progress.py"}  # of no influence on what a method predicts
    assert {path.name for path in folder.glob("*.py")} - counted == neither


def test_options_and_unknown_names():
    pytest.importorskip("torch")
    assert build_method("mc-dropout", rate=0.1).rate == 0.1
    assert build_method("dn-0.6").rate == 0.6
    assert build_method("dn-0.6", rate=0.5).rate == 0.5
    with pytest.raises(
        InputError, match=r"method: there is no 'mc-droput'; known are snn, .*; did you mean mc-dropout"
    ):
        build_method("mc-droput")
    with pytest.raises(InputError, match=r"method: there is no 'xyzzy'; known are [^;]*\.$"):
        build_method("xyzzy")
    with pytest.raises(InputError, match=r"epoch: is no option of snn; .* did you mean epochs"):
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
