"""Import of optional packages, and the error for a missing one."""

import sys

import pytest

from tests.refusals import refuses
from uqassay.errors import MissingDependencyError
from uqassay.files import optional_package


def test_an_installed_module_is_imported():
    assert optional_package("numpy.linalg", "files", "a file").__name__ == "numpy.linalg"


@pytest.mark.parametrize(
    ("module", "package"), [("zarr.storage", "zarr"), ("sklearn.svm", "scikit-learn"), ("yaml", "pyyaml")]
)
def test_a_missing_package_is_named_with_its_extra(monkeypatch, module, package):
    for name in [name for name in sys.modules if name.partition(".")[0] == module.partition(".")[0]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [])
    with refuses(
        package, "package", got=r"\.\[files\]' in the clone of uqassay, or write TOML", error=MissingDependencyError
    ) as refusal:
        optional_package(module, "files", "this file", otherwise="write TOML")
    assert refusal.value.facts == {"extra": "files"}
    assert isinstance(refusal.value, ImportError)


def test_an_error_inside_a_package_is_raised_unchanged(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("raise ImportError('of another kind')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="of another kind") as caught:
        optional_package("broken_package", "files", "this file")
    assert not isinstance(caught.value, MissingDependencyError)
