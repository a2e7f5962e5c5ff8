"""Figures of made predictions: every file is a whole picture; points alone have none."""

import numpy as np
import pytest
from tests.experiments.unified.made import assays, made

import uqassay as uq
from uqassay.experiments.unified.figures import FIGURES, write_unified_figures
from uqassay.experiments.unified.judging import JudgedDataSet

MEASURES = ("total-entropy", "credal-width")


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("matplotlib")


def judged(said, y, **members) -> JudgedDataSet:
    found = {
        **assays(said, y, measures=MEASURES),
        "paper": assays(said, y, convention="paper", measures=MEASURES)["exact"],
    }
    return JudgedDataSet("made data", 100, found, found, dict.fromkeys(found, members))


@pytest.mark.slow
def test_every_figure_is_a_whole_picture(tmp_path):
    from matplotlib.image import imread

    said, y = made(np.random.default_rng(0), n=120)
    by_size = {m: assays({"DE": said["DE"]}, y, common_members=m, measures=MEASURES)["exact"] for m in (2, 12)}
    told = []
    paths = write_unified_figures(tmp_path, judged(said, y, DE=by_size), told.append)
    assert [path.name for path in paths] == [f"unified_made-data_{name}.png" for name in FIGURES]
    assert len(told) == len(FIGURES)
    for path in paths:
        assert np.ptp(imread(path)[..., :3]) > 0.5


def test_points_alone_have_no_figures(tmp_path):
    y = np.arange(30) % 3
    one = judged({"SNN": uq.Point(0.7 * np.eye(3)[y] + 0.1)}, y)
    for found in one.ranked.values():
        object.__setattr__(found, "models", tuple(m for m in found.models if m.baseline))
    assert write_unified_figures(tmp_path, one, lambda step: None) == []
    assert list(tmp_path.iterdir()) == []
