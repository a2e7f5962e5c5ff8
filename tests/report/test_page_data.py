"""The payload: every number of the page equals the assay's own."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.report.cases import hostile_assay, number, ranked_assay, softmax

import uqassay as uq
from uqassay.credal.distances import DISTANCES
from uqassay.measures.registry import SCORES
from uqassay.report.definitions import definition_of
from uqassay.report.page import payload, tradeoff_grid

pytestmark = pytest.mark.usefixtures("without_calibration")


@pytest.fixture(scope="module")
def hostile():
    return hostile_assay(subgroups={"<b>site": np.where(np.arange(120) < 50, "<i>A", "B & C")})


@pytest.fixture
def coarse(monkeypatch):
    """The grid of large assays, of 21 λ, for tests that look at no λ."""
    monkeypatch.setattr("uqassay.report.page.WORK", 0.0)


@pytest.mark.parametrize("at", [0.0, 0.37, 1.0, 2.0])
def test_ranking_against_the_assay(hostile, at):
    p = payload(hostile)
    ranking = p["ranking"]
    i = int(np.argmin(np.abs(np.array(ranking["grid"]) - at)))
    assert abs(ranking["grid"][i] - at) < 1e-12
    ranked = hostile.ranked(at)
    assert [p["models"][j]["name"] for j in ranking["order"][i]] == [r.model for r in ranked]
    by_name = {m["name"]: table for m, table in zip(p["models"], ranking["models"], strict=True)}
    for r in ranked:
        table = {key: values[i] for key, values in by_name[r.model].items()}
        for key, expected in [
            ("estimate", float(r.estimate)),
            ("low", r.estimate.low),
            ("high", r.estimate.high),
            ("difference", float(r.difference)),
            ("difference_low", r.difference.low),
            ("difference_high", r.difference.high),
            ("pvalue_adjusted", r.pvalue_adjusted),
        ]:
            np.testing.assert_allclose(number(table[key]), expected, rtol=1e-12, atol=1e-12)
        assert table["win_share"] == r.win_share
        assert tuple(table["below"]) == r.below


def test_every_tradeoff_of_the_findings_is_on_the_grid():
    a = hostile_assay(tradeoffs=[0.123, 0.5, 3.7])
    grid = tradeoff_grid(a)
    assert set(a.tradeoffs) <= set(grid.tolist())
    assert grid[0] == 0
    assert grid[-1] >= 3.7
    assert (np.diff(grid) > 0).all()


def test_the_grid_passes_the_last_change_of_the_winner():
    n = 40
    a = uq.assay(
        {
            "set": uq.Intervals(np.tile([0.75, 0.05], (n, 1)), np.tile([0.95, 0.25], (n, 1))),
            "point": uq.Point([[0.6, 0.4]] * n),
        },
        np.zeros(n, dtype=int),
    )
    last = a.winners()[-1][0]  # (ln 0.95 − ln 0.6) / (0.2 ln 2) ≈ 3.3
    assert last > 2
    assert tradeoff_grid(a)[-1] >= 1.2 * last


@pytest.mark.parametrize("distance", ["kl", "js"])
def test_the_grid_reaches_winners_far_beyond_the_usual_tradeoffs(distance):
    n = 40
    sets = uq.Intervals(np.tile([0.93, 0.03], (n, 1)), np.tile([0.97, 0.07], (n, 1)))
    models = {"set": sets, "point": uq.Point([[0.5, 0.5]] * n), "worst": uq.Point([[0.001, 0.999]] * n)}
    a = uq.assay(models, np.zeros(n, dtype=int), distance=distance)
    last = a.winners()[-1][0]
    top = tradeoff_grid(a)[-1]
    assert last > 1
    assert top >= min(1.2 * last, 10)


@pytest.mark.usefixtures("coarse")
def test_one_instance_has_no_win_shares():
    a = uq.assay({"a": uq.Point([[0.9, 0.1]]), "b": uq.Point([[0.8, 0.2]])}, [0])
    p = payload(a)
    assert p["facts"]["resampled"] == 1
    assert all(share is None for table in p["ranking"]["models"] for share in table["win_share"])


@pytest.mark.usefixtures("coarse")
def test_notes_of_every_model():
    beliefs = uq.Masses.from_beliefs([[0.6, 0.6, 1.0], [0.2, 0.3, 1.0]], [[0], [1], [0, 1]], n_classes=2)
    a = uq.assay(
        {"beliefs": beliefs, "half": uq.Point(np.array([[0.5, 0.5]] * 2, dtype=np.float16))}, [0, 1], repair=True
    )
    first, second, *_ = payload(a)["models"]
    assert first["notes"] == [note.to_dict() for note in a["beliefs"].notes]
    assert [note["code"] for note in first["notes"]] == ["repaired"]
    assert second["notes"] == []


def test_large_assays_keep_fewer_tradeoffs():
    a = hostile_assay(n=30)
    many = tradeoff_grid(a).size
    stretched = replace(a, labels=np.zeros(10**7, dtype=int))
    assert tradeoff_grid(stretched).size < many
    assert tradeoff_grid(stretched).size >= 21


def test_payload_is_strict_json(hostile):
    text = json.dumps(payload(hostile), allow_nan=False)
    assert json.loads(text)["schema"] == "uqassay.page/1"


def test_findings_are_those_of_the_assay(hostile):
    rows = payload(hostile)["assay"]["findings"]
    expected = hostile.rows("findings")
    assert len(rows) == len(expected)
    for row, own in zip(rows, expected, strict=True):
        assert (row["model"], row["metric"], row["run"]) == (own["model"], own["metric"], own["run"])
        np.testing.assert_array_equal(number(row["estimate"]), own["estimate"])


def test_questionnaire_against_tradeoff_range(hostile):
    for question in payload(hostile)["ranking"]["questions"]:
        expected = uq.metrics.tradeoff_range(question["abstention"], question["cost"])
        reason = expected.reason.replace("0.333333", "1/3")
        assert (question["low"], question["high"], question["reason"]) == (expected.low, expected.high, reason)


@pytest.mark.usefixtures("coarse")
def test_questionnaire_of_another_distance_is_rescaled():
    a = hostile_assay(distance="js", names=None)
    scale = a.tradeoff_scale()
    question = payload(a)["ranking"]["questions"][0]
    np.testing.assert_allclose([question["low"], question["high"]], [scale, 2 * scale])
    assert "multiplied" in question["reason"]


@pytest.mark.usefixtures("coarse")
def test_definitions_follow_what_was_computed():
    rng = np.random.default_rng(3)
    models = {"m": uq.Members(softmax(rng.normal(size=(50, 4, 3))))}
    votes = rng.multinomial(20, [0.5, 0.3, 0.2], size=50)
    found = payload(uq.assay(models, votes, nonspecificity="pal", level=0.9))["definitions"]
    assert "share of the votes" in found["accuracy"]["sentence"]
    assert "Above 0.1 the difference" in found["pvalue"]["sentence"]
    assert found["nonspecificity"]["equation"] == "NS(ŷ) = 1 − Σ over A ⊆ Ω of m(A) / |A|"
    assert found["vacuous"]["equation"] == "E = λ (1 − 1/K)"
    usual = payload(uq.assay(models, votes.argmax(axis=1)))["definitions"]
    for name in ("accuracy", "pvalue", "nonspecificity", "vacuous"):
        assert usual[name] == definition_of(name)._asdict()


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("measures", [None, ("margin", "upper-entropy")])
def test_what_the_page_shows_is_defined_and_nothing_else(measures):
    found = payload(ranked_assay(n=20, measures=measures))
    rows = found["assay"]["findings"]
    shown = {row[key] for row in rows for key in ("metric", "score")} & {
        *SCORES,
        *(d.metric for d in DISTANCES.values()),
    }
    defined = {
        name for name in found["definitions"] if name in SCORES or "distance" in name or name in ("js", "tv", "kl")
    }
    assert shown <= defined
    assert not measures or "total-variance" not in defined
    assert not {"js", "tv", "hellinger"} & defined


@pytest.mark.usefixtures("coarse")
def test_the_summary_keeps_to_a_few_measures():
    assert payload(ranked_assay(n=20))["facts"]["measures"] == ["total-entropy", "epistemic-entropy", "credal-width"]
    asked = payload(ranked_assay(n=20, measures=("margin", "upper-entropy")))
    assert asked["facts"]["measures"] == ["upper-entropy"]
    assert asked["definitions"]["upper-entropy"]["title"] == "Upper entropy"
