"""An assay answers: winners on every interval of λ, the scale of λ, seeds."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.evidence.cases import judge
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.ranking import draws_of

pytestmark = pytest.mark.usefixtures("without_calibration")


def test_breakpoints_against_a_fine_grid(all_kinds):
    models, y = all_kinds
    result = judge(models, y, n_draws=50)
    d = {m.name: m.columns["distance"].mean() for m in result.candidates}
    ns = {m.name: m.columns["nonspecificity"].mean() for m in result.candidates}
    winners = result.winners()
    assert winners[0][0] == 0
    assert winners[-1][1] == np.inf
    for step, tradeoff in enumerate(np.linspace(0, 5, 251)):
        best = min(d, key=lambda name: d[name] + tradeoff * ns[name])
        inside = [names for low, high, names in winners if low <= tradeoff <= high]
        assert any(best in names for names in inside)
        if step % 10 == 0:  # a whole ranking with its draws
            assert result.ranked(tradeoff)[0].estimate <= d[best] + tradeoff * ns[best] + 1e-12
    for at, ahead_below, ahead_above in result.ranking_changes():
        for step, first, second in ((-1e-9, ahead_below, ahead_above), (1e-9, ahead_above, ahead_below)):
            assert d[first] + (at + step) * ns[first] <= d[second] + (at + step) * ns[second] + 1e-12


def test_infinite_means_have_no_winner_and_are_shown(tmp_path):
    found = judge({"a": uq.Point([[1.0, 0.0]] * 9), "b": uq.Point([[1.0, 0.0]] * 9)}, [1] * 9, floor=0)
    assert found.winners() == ()
    assert found.table("breakpoints").empty
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["breakpoints"] == []
    assert "No model has a finite log loss" in found.to_html(tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("tradeoffs", "code"), [("0.5", "range"), ([], "empty"), ([0.5, -1.0], "range")])
def test_tradeoffs_of_the_json_are_checked(all_kinds, tradeoffs, code):
    models, y = all_kinds
    found = judge({"m": next(iter(models.values()))}, y, n_draws=2)
    with refuses("tradeoffs", code):
        found.to_json(tradeoffs)
    with refuses("tradeoffs", "type"):
        found.win_shares("x")
    assert [row["tradeoff"] for row in found.to_json(0.3)["tradeoff"]] == [0.3]


def test_scale_of_the_tradeoff_for_other_distances(cifar10):
    models = {"SNN": uq.Point(cifar10["snn"]), "DE Avg": uq.Point(cifar10["de_avg"])}
    options = {"n_draws": 20, "calibration": ()}
    js = uq.assay(models, cifar10["labels"], distance="js", convention="paper", **options)
    least = min(p.probs[np.arange(10_000), cifar10["labels"]].min() for p in models.values())
    kl_max = -np.log(max(least, 1e-10))
    expected = max(m.columns["distance"].max() for m in js.candidates) / kl_max
    assert js.tradeoff_scale() == pytest.approx(expected)
    assert uq.assay(models, cifar10["labels"], **options).tradeoff_scale() == 1.0


def test_the_same_seed_gives_the_same_numbers_and_another_moves_the_draws(all_kinds):
    models, y = all_kinds
    a, b = (judge(models, y, n_draws=100, rng=3) for _ in range(2))
    np.testing.assert_array_equal(a.win_shares([0.3]), b.win_shares([0.3]))
    pd.testing.assert_frame_equal(a.findings(), b.findings())
    c = judge(models, y, n_draws=100, rng=4)
    assert (draws_of(a) != draws_of(c)).any()
