"""docs/make_screens.py makes its pages and pictures."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import uqassay as uq

SCRIPT = Path(__file__).resolve().parents[1] / "docs" / "make_screens.py"


@pytest.fixture(scope="module")
def screens():
    spec = importlib.util.spec_from_file_location("make_screens", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_cases_have_what_their_names_say(screens):
    sizes = {"two": 2, "six": 6, "thirty": 30, "hundred": 100}
    made = {name: case() for name, case in screens.CASES.items() if name != "hundred-classes"}
    assert {name: len(made[name]["predictions"]) for name in sizes} == sizes
    assert min(map(len, made["long-names"]["predictions"])) >= 80
    assert {array.shape[-1] for array in made["two-classes"]["predictions"].values()} == {2}
    assert made["votes"]["y_true"].shape[1] == 10
    assert {len(runs) for runs in made["runs"]["predictions"].values()} == {5}
    assert len(set(made["groups"]["groups"])) < len(made["groups"]["y_true"])
    for case in made.values():
        for runs in case["predictions"].values():
            for array in runs if isinstance(runs, list) else [runs]:
                np.testing.assert_allclose(array.sum(axis=-1), 1)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.usefixtures("coarse_pages")
def test_a_case_is_photographed_at_one_width_and_printed(screens, tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    monkeypatch.setitem(uq.assay.__kwdefaults__, "calibration", ())
    monkeypatch.setattr(screens, "PAUSE", 0.05)
    monkeypatch.setitem(screens.CASES, "small", lambda: screens.several(2, "model {}", n=60))
    screens.main([str(tmp_path), "--case", "small", "--width", "400"])
    light, dark = (image.open(tmp_path / f"small-400-{scheme}.png").convert("L") for scheme in screens.SCHEMES)
    assert light.size[0] == dark.size[0] == 400
    assert light.size[1] > 1000
    assert light.getpixel((2, 2)) > 200 > 60 > dark.getpixel((2, 2))
    assert (tmp_path / "small-print.pdf").read_bytes().startswith(b"%PDF")
