"""A distance that is added by one entry of `DISTANCES` is computed, judged, drawn and explained everywhere."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import uqassay as uq
from uqassay.credal.distances import DISTANCES, Distance

# Le Cam's distance ½ Σ (y − p)²/(y + p), an f-divergence: curvature p² d²f/dp² = 4 y² p²/(y + p)³
LE_CAM = Distance(
    name="le_cam",
    metric="le-cam",
    unit="",
    greatest=1.0,
    axis="Le Cam's distance",
    heading="Le Cam distance",
    short="Le Cam",
    sentence="Le Cam's distance between the label and the closest distribution in the credal set, in [0, 1].",
    equation="d(y, ŷ) = min over p in ŷ of ½ Σ (y(c) − p(c))² / (y(c) + p(c))",
    source="Le Cam (1986)",
    f_divergence=True,
    square_root=False,
    floored=False,
    over_vertices=False,
    objective=lambda y, p: 0.5 * ((y - p) ** 2 / np.maximum(y + p, 1e-300)).sum(axis=-1),
    direction=lambda y, p: -0.5 * (p - y) * (p + 3 * y) / np.maximum(y + p, 1e-300) ** 2,
    curvature=lambda y, p: 4 * y**2 * p**2 / np.maximum(y + p, 1e-300) ** 3,
    of_label=lambda u: (1 - u) / (1 + u),
)


@pytest.fixture
def le_cam(monkeypatch):
    monkeypatch.setitem(DISTANCES, "le_cam", LE_CAM)


PROBS = np.random.default_rng(0).dirichlet([2, 1, 1], (40, 3))
Y = np.arange(40) % 3


def of_pair(y, p):
    return float(LE_CAM.objective(np.asarray(y, float), np.asarray(p, float)))


@pytest.mark.usefixtures("le_cam")
def test_the_loss_has_the_new_distance_in_every_kind_of_set():
    points, members = uq.Point(PROBS[:, 0]), uq.Members(PROBS)
    boxes = uq.Intervals(PROBS.min(axis=1), PROBS.max(axis=1))
    for prediction in (points, members, boxes):
        found = uq.losses.unified_loss(Y, prediction, distance="le_cam").distance
        upper = prediction.credal().upper_probs()[np.arange(40), Y]
        np.testing.assert_allclose(found, (1 - upper) / (1 + upper), rtol=1e-12)
    # a label distribution needs the solver, whose gap is certified
    votes = np.random.default_rng(1).dirichlet([1, 1, 1], 40)
    for prediction in (members, boxes):
        loss = uq.losses.unified_loss(votes, prediction, distance="le_cam")
        assert loss.gap.max() < 1e-5
        one = members.mean_probs() if prediction is members else prediction.mean_probs()
        at_mean = [of_pair(*pair) for pair in zip(votes, one, strict=True)]
        assert (loss.distance <= np.array(at_mean) + 1e-9).all()
        assert loss.distance.max() > 0.01
    np.testing.assert_allclose(
        uq.losses.unified_loss(votes, points, distance="le_cam").distance,
        [of_pair(*pair) for pair in zip(votes, PROBS[:, 0], strict=True)],
    )


@pytest.mark.usefixtures("le_cam")
def test_an_assay_and_its_page_have_it(tmp_path):
    from uqassay.report.definitions import definition_of, page_definitions

    models = {"a": uq.Members(PROBS), "b": uq.Point(PROBS[:, 1])}
    assay = uq.assay(models, Y, distance="le_cam", calibration=(), scales=())
    rows = assay.findings().query("metric == 'le-cam'")
    assert len(rows) >= 2
    assert (rows["high"].dropna() <= 1.0).all()
    assert definition_of("le-cam").short == "Le Cam"
    found = page_definitions(assay.settings, label_distributions=False)
    assert found["le-cam"].equation == LE_CAM.equation
    assert found["distance"].title == "d, the distance (Le Cam)"
    assay.to_html(tmp_path / "page.html")
    assert "Le Cam distance" in assay.to_latex(metrics="le-cam")


@pytest.mark.usefixtures("le_cam")
def test_figures_have_its_name():
    from uqassay.report.figures.frame import quantity_label

    assay = uq.assay({"a": uq.Members(PROBS)}, Y, distance="le_cam", calibration=(), scales=())
    assert quantity_label(assay, "distance") == "Le Cam's distance"


def test_the_command_line_offers_it(tmp_path):
    np.save(tmp_path / "a.npy", PROBS)
    np.save(tmp_path / "y.npy", Y)
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\n"
        "from tests.credal.test_new_distance import LE_CAM\n"
        "from uqassay.credal.distances import DISTANCES\n"
        "DISTANCES['le_cam'] = LE_CAM\n"
        "from uqassay.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )

    def ran(*arguments):
        command = [sys.executable, str(script), *arguments]
        paths = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
        environment = os.environ | {"PYTHONPATH": paths, "COLUMNS": "200"}
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=environment)

    assert "le_cam" in ran("rank", "--help").stdout
    found = ran("rank", f"A={tmp_path / 'a.npy'}", "--labels", str(tmp_path / "y.npy"), "--distance", "le_cam")
    assert found.returncode == 0, found.stderr
    assert "LE CAM" in found.stdout


def test_an_unknown_distance_never_runs_as_another_one():
    for call in (
        lambda: uq.losses.unified_loss(Y, uq.Point(PROBS[:, 0]), distance="le_cam"),
        lambda: uq.assay({"a": uq.Point(PROBS[:, 0])}, Y, distance="le_cam"),
        lambda: uq.credal.nearest_in_box([[1.0, 0.0]], [[0.0, 0.0]], [[1.0, 1.0]], "le_cam"),
    ):
        with pytest.raises(uq.InputError, match=r"^distance: must be .*got 'le_cam'"):
            call()
    with pytest.raises(ValueError, match="only total variation"):
        replace(LE_CAM, curvature=None)
