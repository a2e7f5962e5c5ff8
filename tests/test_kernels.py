"""Which compiled kernels are in use, and the sentence that says why not."""

import importlib.metadata
import subprocess
import sys
from types import ModuleType

import pytest

import uqassay as uq
from uqassay import native as _kernels


@pytest.fixture
def native(monkeypatch):
    """Put a module in the place of the extension; None means that there is none."""

    def put(module):
        monkeypatch.delenv("UQASSAY_PURE", raising=False)
        monkeypatch.setitem(sys.modules, "_uqassay_native", module)
        _kernels._native.cache_clear()

    yield put
    _kernels._native.cache_clear()


def made_up(**attributes):
    module = ModuleType("_uqassay_native")
    vars(module).update({"interface": _kernels.INTERFACE, "__version__": "9.8", **attributes})
    return module


def test_a_kernel_is_picked_by_its_name(native):
    native(made_up(doubled=lambda x: 2 * x, yardsticks=ModuleType("yardsticks")))
    assert _kernels.kernel("doubled")(4) == 8
    assert _kernels.kernel("halved") is None
    assert uq.kernels() == _kernels.Kernels(("doubled",), "9.8", "")
    assert str(uq.kernels()) == "compiled kernels: doubled (uqassay-native 9.8)"


def test_the_variable_switches_kernels_off_at_every_call(native, monkeypatch):
    native(made_up(doubled=lambda x: 2 * x))
    monkeypatch.setenv("UQASSAY_PURE", "1")
    assert _kernels.kernel("doubled") is None
    assert str(uq.kernels()).startswith("compiled kernels: none, UQASSAY_PURE=1 asks for the formulas")
    monkeypatch.setenv("UQASSAY_PURE", "0")
    assert _kernels.kernel("doubled") is not None


def test_without_the_distribution_the_listing_says_how_to_install_it(native, monkeypatch):
    def absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    native(None)  # import of this name raises ModuleNotFoundError
    assert _kernels.kernel("doubled") is None
    assert "not installed (pip install ./native in the clone)" in str(uq.kernels())


def test_a_distribution_without_kernels_was_installed_without_a_compiler(native, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", {"uqassay-native": "9.8"}.__getitem__)
    native(None)
    assert "without a C++ compiler (pip install --force-reinstall" in str(uq.kernels())


@pytest.mark.parametrize(
    ("interface", "remedy"), [(_kernels.INTERFACE + 1, "upgrade uqassay"), (_kernels.INTERFACE - 1, "upgrade it")]
)
def test_kernels_of_another_version_are_ignored(native, interface, remedy):
    native(made_up(doubled=lambda x: 2 * x, interface=interface))
    assert _kernels.kernel("doubled") is None
    assert uq.kernels().reason == (
        f"uqassay-native 9.8 has kernels of version {interface}, not {_kernels.INTERFACE} ({remedy})"
    )


def test_an_extension_that_cannot_be_loaded_is_ignored_with_the_reason(native, monkeypatch, tmp_path):
    (tmp_path / "_uqassay_native.py").write_text("raise ImportError('wrong ELF class')\n")
    native(None)
    monkeypatch.delitem(sys.modules, "_uqassay_native")
    monkeypatch.syspath_prepend(tmp_path)
    assert _kernels.kernel("doubled") is None
    assert uq.kernels().reason == "uqassay-native cannot be loaded (wrong ELF class)"


def test_import_neither_loads_kernels_nor_says_anything():
    code = "import sys, uqassay, uqassay.statistics; print('_uqassay_native' in sys.modules)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
