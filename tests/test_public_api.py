"""The public surface is a list; importing it is light."""

import subprocess
import sys

import numpy as np
import pytest

import uqassay as uq

PUBLIC = {
    "Assay", "Dirichlet", "Estimate", "GaussianLogits", "InputError", "Intervals", "Masses", "Members", "Point",
    "Prediction", "UqassayError", "Vertices", "__version__", "assay", "calibration", "credal", "datasets",
    "from_laplace", "from_object",
    "load", "load_labels", "measures", "methods", "metrics", "save", "statistics",
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
    "room", ["calibration", "credal", "datasets", "measures", "methods", "metrics", "statistics", "predictions"]
)
def test_rooms_export_what_they_list(room):
    module = getattr(uq, room)
    for name in module.__all__:
        assert hasattr(module, name), name


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


def test_arrows_between_rooms_go_one_way():
    """A room imports only from the rooms to its left."""
    import ast
    from pathlib import Path

    left = ["errors", "_array", "credal", "statistics", "predictions", "measures", "metrics"]
    rooms = [*left, "calibration", "assay", "report", "cli"]
    allowed = {room: set(rooms[: rooms.index(room) + 1]) for room in rooms}
    allowed["statistics"] -= {"credal"}
    allowed["datasets"] = {*left, "datasets"}  # the second wing: what makes predictions walks the same way afterwards
    allowed["methods"] = {*left, "datasets", "methods"}
    allowed["experiments"] = {*rooms, "datasets", "methods", "experiments"} - {"cli"}
    allowed["cli"] |= allowed["experiments"]
    source = Path(uq.__file__).parent
    lazy = {("assay", "report")}  # Assay.to_html hands itself to the next room when called
    for path in source.rglob("*.py"):
        place = path.relative_to(source).parts[0].removesuffix(".py")
        if place not in allowed:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("uqassay."):
                room = node.module.split(".")[1]
                if room in allowed and (place, room) not in lazy:
                    assert room in allowed[place], f"{path.name} imports uqassay.{room}"
