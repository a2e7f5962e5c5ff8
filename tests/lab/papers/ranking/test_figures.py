"""Figures 1 to 6 of the ranking experiments as whole pictures."""

from dataclasses import replace

import numpy as np
import pytest

from uqassay.lab.papers import reproduce
from uqassay.lab.papers.ranking.classifiers import PAPER
from uqassay.lab.papers.ranking.figures import family_of, write_real_figure
from uqassay.lab.papers.ranking.scorings import Scoring
from uqassay.lab.papers.ranking.synthetic import steps_of_ranking_synthetic
from uqassay.statistics import Estimate


@pytest.mark.slow
def test_figures_are_whole_pictures_progress_is_counted_right_and_a_rerun_agrees(smoke, tmp_path, monkeypatch):
    monkeypatch.setattr("uqassay.lab.papers.figure_files.DPI", 50)
    from matplotlib.image import imread

    said: list[str] = []
    options = {"preset": "smoke", "figures": tmp_path / "new" / "figures"}
    result = reproduce("ranking-synthetic", seed=0, **options, progress=said.append)
    again = tuple(line for line in result.reading if not line.startswith("figure: "))
    assert replace(result, reading=again) == smoke
    assert len(said) == steps_of_ranking_synthetic(**options) == 26
    assert said[0] == "Bayes error 0.15: predictor 1 of 20"
    paths = sorted(options["figures"].iterdir())
    assert [path.name[:7] for path in paths] == [f"figure{i}" for i in range(1, 7)]
    assert all(path.suffix == ".png" for path in paths)
    for path in paths:
        picture = imread(path)
        assert picture.shape[0] > 200
        assert np.ptp(picture[..., :3]) > 0.9
        assert f"figure: {path}" in result.reading


def test_the_figure_of_real_models_is_written(tmp_path):

    def near(value):
        return Estimate(value, low=value - 0.05, high=value + 0.05, level=0.95, n=100, method="made")

    scorings = [
        Scoring(f"model_{i}", "Point", "total-entropy", (near(0.6 + 0.05 * i), near(0.7)), (near(0.1 * i), near(0.3)))
        for i in range(4)
    ]
    scorings[1] = Scoring("b", "Point", "total-entropy", (near(0.7), near(0.8)), (near(0.2), near(0.5)))
    path = write_real_figure(tmp_path, scorings, "CIFAR10-H")
    assert path.name == "figure1_cifar10h.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_every_network_of_the_papers_list_has_a_family():
    """The 16 families of the paper's legend for CIFAR10 and R-ImageNet, and nine of that for OASST2."""
    families = {family_of(name) for name in PAPER}
    assert len(families) == 16
    assert "other" not in families
    texts = {"facebook--bart-large-mnli": "BART", "xlm-roberta-base": "XLM", "distilbert-base": "DistilBERT"}
    texts |= {
        "mdeberta-v3": "DeBERTa",
        "roberta-large": "RoBERTa",
        "MiniLMv2-L6": "MiniLM",
        "e5-base": "E5",
        "nb-bert": "BERT",
    }
    assert {name: family_of(name) for name in texts} == texts
