"""The numbers of Figures 6 to 10 against the losses, and against what the drawn bars and dots show."""

from dataclasses import replace

import numpy as np
import pytest
from tests.lab.papers.unified.made import whole_set

from uqassay.lab.papers.unified import figures as ablation_figures
from uqassay.lab.papers.unified.figures import (
    draw_distances,
    draw_mean_e,
    draw_measures,
    draw_scatter,
    mean_terms,
    scattered,
)


@pytest.fixture
def figure(needs):
    needs("matplotlib")
    from matplotlib.figure import Figure

    return Figure(figsize=(12, 8), layout="constrained")


@pytest.mark.parametrize("part", ["correct", "wrong"])
@pytest.mark.parametrize("convention", ["exact", "paper"])
def test_mean_terms_are_means_over_all_runs(part, convention):
    judged = whole_set()[2]
    for found in (judged.assays, judged.jensen_shannon, judged.credal_uncertainty):
        bars = mean_terms(found[convention], part)
        assert [bar.model for bar in bars] == list(found[convention].model_names)
        for bar in bars:
            columns = found[convention][bar.model].columns
            chosen = found[convention].hits(bar.model) == (part == "correct")
            assert bar.distance == pytest.approx(columns["distance"][chosen].mean())
            assert bar.nonspecificity == pytest.approx(columns["nonspecificity"][chosen].mean())
            assert bar.e.mean == pytest.approx((columns["distance"] + columns["nonspecificity"])[chosen].mean())


def test_models_without_a_part_have_no_bar():
    judged = whole_set()[2]
    found = judged.assays["exact"]
    models = tuple(
        replace(m, columns={**m.columns, "label": np.broadcast_to(found.classes, m.columns["label"].shape)})
        if m.name == "DE"
        else m
        for m in found.models
    )
    assert "DE" not in {bar.model for bar in mean_terms(replace(found, models=models), "wrong")}


def test_dots_are_instances_of_the_first_run(monkeypatch):
    judged = whole_set()[2]
    found = judged.jensen_shannon["paper"]
    for part in ("correct", "wrong"):
        for name, (ns, distance) in scattered(found, part).items():
            chosen = found.hits(name)[0] == (part == "correct")
            np.testing.assert_array_equal(ns, found[name].columns["nonspecificity"][0, chosen])
            np.testing.assert_array_equal(distance, found[name].columns["distance"][0, chosen])
    monkeypatch.setattr(ablation_figures, "DOTS", 5)
    few = scattered(found, "correct")["DE"]
    pairs = set(zip(*(values.tolist() for values in few), strict=True))
    columns = found["DE"].columns
    assert len(pairs) == 5
    assert pairs <= set(zip(columns["nonspecificity"][0].tolist(), columns["distance"][0].tolist(), strict=True))


@pytest.mark.parametrize("other", ["JS", "CU"])
def test_bars_are_drawn_as_long_as_the_terms(figure, other):
    judged = whole_set()[2]
    draw_mean_e("exact", other)(figure, judged)
    changed = judged.jensen_shannon if other == "JS" else judged.credal_uncertainty
    for ax, part in zip(figure.axes[2:], ("correct", "wrong"), strict=True):
        widths = [bar.get_width() for bar in ax.patches]
        expected = [term for bar in mean_terms(changed["exact"], part) for term in (bar.distance, bar.nonspecificity)]
        np.testing.assert_allclose(widths, expected)
    assert [ax.get_xlabel() for ax in figure.axes[::2]] == [
        "mean E = KL + NS, λ = 1",
        "mean E = JS + NS, λ = 1" if other == "JS" else "mean E = KL + CU, λ = 1",
    ]


def test_axes_name_the_terms_and_their_units(figure):
    judged = whole_set()[2]
    draw_distances("exact")(figure, judged)
    assert [ax.get_xlabel() for ax in figure.axes] == ["KL divergence (nats)", "JS divergence (nats)"]
    figure.clear()
    draw_measures("paper")(figure, judged)
    assert figure.axes[1].get_xlabel() == "credal uncertainty of the authors' code (bits)"
    assert [tick.get_text() for tick in figure.axes[1].get_yticklabels()] == list(judged.ranked["paper"].model_names)
    figure.clear()
    draw_measures("exact")(figure, judged)
    assert figure.axes[1].get_xlabel() == "credal uncertainty over the box (nats)"
    figure.clear()
    draw_scatter("paper")(figure, judged)
    assert [ax.get_ylabel() for ax in figure.axes[::2]] == ["KL divergence (nats)", "JS distance (√nats)"]
    dots = [line.get_xydata() for line in figure.axes[0].lines]
    expected = scattered(judged.ranked["paper"], "correct")
    for drawn, (ns, distance) in zip(dots, expected.values(), strict=True):
        np.testing.assert_array_equal(drawn, np.c_[ns, distance])
