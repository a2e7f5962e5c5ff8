"""The public surface is a list; importing it is light."""

import inspect
import subprocess
import sys
from operator import attrgetter

import numpy as np
import pytest

import uqassay as uq

PUBLIC = {
    "Assay", "AssayStream", "ClassSets", "DaskPrediction", "Dirichlet", "Estimate", "GaussianLogits", "InputError", "Intervals",
    "Masses", "Members", "Point", "Prediction", "UqassayError", "Vertices", "__version__", "assay", "calibration", "credal",
    "from_classifier", "from_laplace", "from_object", "kernels", "lab",
    "load", "load_labels", "losses", "measures", "metrics", "save", "statistics",
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
        *("floor", "measures", "uncertainties", "calibration", "groups", "subgroups", "prior", "scales"),
        *("repair", "common_members", "votes_are", "ignore_label", "tolerance", "level", "margin", "n_draws", "rng"),
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
