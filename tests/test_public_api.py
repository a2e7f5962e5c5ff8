"""The public surface is a list; importing it is light; doors of packages are lazy; a missing package is named."""

import inspect
import subprocess
import sys
from operator import attrgetter

import numpy as np
import pytest

import uqassay as uq
import uqassay.statistics
from tests.refusals import refuses
from uqassay._lazy import lazy_names
from uqassay.errors import MissingDependencyError
from uqassay.files import optional_package

# -- The public surface is a list; importing it is light ---------------------------------------------------------------


PUBLIC = {
    "Answers", "Assay", "AssayStream", "ClassSets", "DaskPrediction", "Dirichlet", "Estimate", "GaussianLogits", "InputError",
    "Intervals", "Masses", "Members", "Point", "Prediction", "UqassayError", "Vertices", "__version__", "assay", "calibration",
    "credal", "from_classifier", "from_laplace", "from_object", "kernels", "lab",
    "load", "load_answers", "load_labels", "losses", "measures", "metrics", "save", "statistics",
}  # fmt: skip

HEAVY = (
    "pandas", "sklearn", "plotly", "matplotlib", "torch", "jax", "dask", "typer", "rich", "zarr", "safetensors",
    "pyarrow", "scipy.optimize", "scipy.stats", "scipy.sparse",
)  # fmt: skip


def loaded_after(code):
    """Which of the heavy packages a fresh interpreter holds after running some code."""
    probe = f"import sys\n{code}\nprint(' '.join(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_public_names_are_the_tested_list():
    assert set(uq.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(uq, name) is not None
    assert callable(uq.assay)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        uq.nonsense  # noqa: B018


@pytest.mark.parametrize(
    "room",
    [
        *("calibration", "credal", "evidence", "losses", "measures", "metrics", "predictions", "report", "statistics"),
        *("lab", "lab.datasets", "lab.methods", "lab.bench", "lab.papers"),
    ],
)
def test_rooms_export_what_they_list(room):
    module = attrgetter(room)(uq)
    for name in module.__all__:
        assert hasattr(module, name), name
    assert dir(module) == sorted(module.__all__)


def test_the_parameters_of_the_main_call():
    """The main call has options for every room; whatever else changes, these names stay."""
    parameters = inspect.signature(uq.assay).parameters
    assert list(parameters) == [
        *(
            "predictions",
            "y_true",
            "X",
            "class_names",
            "tradeoffs",
            "distance",
            "nonspecificity",
            "convention",
            "focal_sets",
        ),
        *(
            "floor",
            "measures",
            "uncertainties",
            "calibration",
            "groups",
            "sample_weight",
            "subgroups",
            "prior",
            "scales",
        ),
        *(
            "repair",
            "common_members",
            "votes_are",
            "ignore_label",
            "tolerance",
            "level",
            "margin",
            "critical",
            "n_draws",
            "rng",
        ),
        *("progress", "client"),
    ]
    assert parameters["tradeoffs"].default == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def test_one_default_tradeoff_everywhere():
    takes = {
        "unified_loss": uq.losses.unified_loss,
        **{name: getattr(uq.Assay, name) for name in ("loss", "ranked", "ranking", "compare")},
    }
    assert {name: inspect.signature(f).parameters["tradeoff"].default for name, f in takes.items()} == dict.fromkeys(
        takes, 0.5
    )


def test_importing_loads_nothing_heavy():
    assert loaded_after("import uqassay") == []


def test_reading_a_file_loads_nothing_heavy(tmp_path):
    path = tmp_path / "p.npz"
    np.savez(path, probs=np.array([[0.5, 0.5]]))
    assert loaded_after(f"import uqassay\nuqassay.load({str(path)!r})") == []


def test_judging_labels_loads_nothing_heavy():
    code = """
import numpy as np, uqassay as uq
a = uq.assay({"m": uq.Members(np.full((4, 2, 2), 0.5))}, [0, 1, 0, 1], n_draws=10)
a.ranked(0.5)
"""
    assert loaded_after(code) == []


# -- Doors of packages: names are found in their modules, which are imported when a name is first used -----------------


DOORS = ("calibration", "evidence", "metrics", "statistics")


@pytest.mark.parametrize("door", DOORS)
def test_every_public_name_is_found_where_it_is_defined(door):
    package = __import__(f"uqassay.{door}", fromlist=["_"])
    assert sorted(package._WHERE) == sorted(package.__all__) == dir(package)
    for name, module in package._WHERE.items():
        found = getattr(package, name)
        assert found is vars(package)[name]
        if hasattr(found, "__qualname__"):
            assert found.__module__ == f"{package.__name__}.{module}"


def test_an_unknown_name_is_refused():
    find, _ = lazy_names("uqassay.statistics", {"holm": "multiple_tests"})
    with pytest.raises(AttributeError, match=r"module 'uqassay\.statistics' has no attribute 'shaffer'"):
        find("shaffer")
    assert not hasattr(uqassay.statistics, "no_such_name")


def test_other_modules_are_not_imported():
    code = "import sys; from uqassay.statistics import holm; print('uqassay.statistics.many_data_sets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# -- Import of optional packages, and the error for a missing one ------------------------------------------------------


def test_an_installed_module_is_imported():
    assert optional_package("numpy.linalg", "files", "a file").__name__ == "numpy.linalg"


@pytest.mark.parametrize(
    ("module", "package"), [("zarr.storage", "zarr"), ("sklearn.svm", "scikit-learn"), ("yaml", "pyyaml")]
)
@pytest.mark.parametrize(
    ("needed", "command"), [("files", r"pip install 'uqassay\[files\]'"), ("zarr>=3", "pip install 'zarr>=3'")]
)
def test_a_missing_package_is_named_with_what_installs_it(monkeypatch, module, package, needed, command):
    for name in [name for name in sys.modules if name.partition(".")[0] == module.partition(".")[0]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [])
    with refuses(package, "package", got=f"run {command}, or write TOML", error=MissingDependencyError) as refusal:
        optional_package(module, needed, "this file", otherwise="write TOML")
    assert refusal.value.facts == {"needed": needed}
    assert isinstance(refusal.value, ImportError)


def test_an_error_inside_a_package_is_raised_unchanged(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("raise ImportError('of another kind')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="of another kind") as caught:
        optional_package("broken_package", "files", "this file")
    assert not isinstance(caught.value, MissingDependencyError)
