"""Judging of made predictions: the models of each assay, the concentrations and events of each convention, the sizes."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

import uqassay as uq
from uqassay.lab.papers.unified.judging import CONVENTIONS, MEMBERS, judge, judge_predictions, with_terms


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    alpha = rng.gamma(2.0, 4.0, (60, 3))
    sets = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], dtype=bool)
    said = {
        "SNN": [uq.Point(rng.dirichlet(np.ones(3), 60))],
        "RS-NN": [uq.Masses(rng.dirichlet(np.ones(5), 60), sets)],
        "DE": [uq.Members(rng.dirichlet(np.ones(3), (60, 18)))],
        "EDL": [uq.Dirichlet(alpha)],
    }
    y = rng.integers(0, 3, 60)
    return said, y, judge_predictions("made", said, y, np.array([30, 20, 10]))


def test_models_are_those_of_the_papers_tables(judged):
    _, _, found = judged
    assert found.n_train == 60
    for convention in CONVENTIONS:
        names = [m.name for m in found.assays[convention].models if not m.baseline]
        assert names == ["DE", "EDL", "RS-NN", "SNN", "DE Avg"]
        assert found.ranked[convention].model_names == ("DE", "EDL", "RS-NN")
        assert list(found.members[convention]["DE"]) == [2, 5, 10, 15]  # up to 18 members


def test_conventions_differ_in_concentrations_and_events(judged):
    said, y, found = judged
    sets = said["RS-NN"][0].focal_sets
    raw = uq.losses.unified_loss(y, said["EDL"][0]).nonspecificity
    alpha = said["EDL"][0].alpha
    divided = uq.losses.unified_loss(
        y,
        uq.Dirichlet(alpha / alpha.sum(axis=1, keepdims=True)),
        convention="paper",
        focal_sets=sets[~sets.all(axis=1)],
    ).nonspecificity
    for convention, expected in {"exact": raw, "paper": divided}.items():
        column = found.assays[convention]["EDL"].columns["nonspecificity"]
        np.testing.assert_allclose(np.ravel(column), expected, rtol=1e-9)


def test_tables_take_the_first_15_members_and_the_draws_asked_for(judged):
    said, y, found = judged
    expected = uq.losses.unified_loss(y, uq.Members(said["DE"][0].probs[:, :15]))
    np.testing.assert_allclose(found.assays["exact"]["DE"].columns["nonspecificity"][0], expected.nonspecificity)
    assert found.said["DE"].n_members == 15
    few = judge_predictions("made", {"EDL": said["EDL"]}, y, np.array([30, 20, 10]), draws=7)
    assert few.said["EDL"].n_draws == 7
    expected = uq.losses.unified_loss(y, uq.Dirichlet(said["EDL"][0].alpha, n_draws=7))
    np.testing.assert_allclose(few.assays["exact"]["EDL"].columns["nonspecificity"][0], expected.nonspecificity)


def test_numbers_of_members_are_those_of_an_assay_with_as_many(judged):
    said, y, found = judged
    for convention in CONVENTIONS:
        options = {} if convention == "exact" else {"focal_sets": said["RS-NN"][0].focal_sets[:4]}
        whole = uq.assay({"DE": said["DE"]}, y, common_members=5, convention=convention, calibration=(), **options)
        part = found.members[convention]["DE"][5]
        assert part.model_names == ("DE",)
        for term in ("distance", "nonspecificity"):
            np.testing.assert_allclose(part["DE"].columns[term], whole["DE"].columns[term], atol=1e-14)


def test_thirty_members_reach_the_end_of_the_curve():
    rng = np.random.default_rng(1)
    run = uq.Members(rng.dirichlet(np.ones(3), (20, 30)))
    found = judge_predictions("made", {"DE": [run]}, rng.integers(0, 3, 20), np.ones(3, int))
    assert list(found.members["paper"]["DE"]) == list(MEMBERS["DE"])


@pytest.mark.parametrize("model", ["DE", "EDL", "RS-NN", "SNN", "DE Avg", "vacuous", "class-prior"])
def test_jensen_shannon_is_that_of_an_assay_with_this_distance(judged, model):
    said, y, found = judged
    exact = found.jensen_shannon["exact"]
    assert exact.settings.distance == "js"
    p = found.assays["exact"][model].columns["upper-label"]  # JS of a certain label: scipy's square
    expected = np.array([jensenshannon([1, 0], [q, 1 - q]) ** 2 for q in p[0]])
    np.testing.assert_allclose(exact[model].columns["distance"][0], expected, atol=1e-12)
    paper = found.jensen_shannon["paper"]
    assert paper.settings.distance == "js_distance"
    again = uq.assay(
        {"EDL": uq.Dirichlet(said["EDL"][0].alpha, unit_concentration=True), "DE": found.said["DE"]}
        | {"RS-NN": said["RS-NN"][0], "SNN": said["SNN"][0], "DE Avg": uq.Point(found.said["DE"].mean_probs())},
        y,
        convention="paper",
        distance="js_distance",
        focal_sets=said["RS-NN"][0].focal_sets[:4],
        prior=np.array([3, 2, 1]) / 6,
        calibration=(),
    )
    np.testing.assert_allclose(paper[model].columns["distance"], again[model].columns["distance"], atol=1e-9)
    np.testing.assert_array_equal(
        paper[model].columns["nonspecificity"], found.assays["paper"][model].columns["nonspecificity"]
    )


def test_credal_uncertainty_is_over_the_box_and_none_for_points(judged):
    _said, _, found = judged
    exact, paper = (found.credal_uncertainty[c] for c in CONVENTIONS)
    for name in ("SNN", "DE Avg", "class-prior"):
        assert not exact[name].columns["nonspecificity"].any()
        assert not paper[name].columns["nonspecificity"].any()
    assert exact["vacuous"].columns["nonspecificity"][0, 0] == pytest.approx(np.log(3))
    assert "vacuous" not in paper  # all lower probabilities are 0
    de = found.said["DE"]
    low, high = de.probs.min(axis=1), de.probs.max(axis=1)
    box = uq.measures.credal_uncertainty(uq.Intervals(low, high))
    np.testing.assert_allclose(exact["DE"].columns["nonspecificity"][0], box, atol=1e-9)
    shares = low / low.sum(axis=1, keepdims=True)
    code = np.log2(3) + (shares * np.log2(shares)).sum(axis=1)
    np.testing.assert_allclose(paper["DE"].columns["nonspecificity"][0], code, atol=1e-9)
    for convention, variant in (("exact", exact), ("paper", paper)):
        np.testing.assert_array_equal(
            variant["DE"].columns["distance"], found.assays[convention]["DE"].columns["distance"]
        )


def test_a_folder_without_predictions_has_no_judgement(tmp_path):
    assert judge(tmp_path, []) is None


# -- An assay with other terms is the assay that was computed with them.


def test_other_terms_give_the_rankings_and_rows_of_an_assay_with_them():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 80)
    said = {"a": uq.Members(rng.dirichlet(np.ones(4), (80, 5))), "b": uq.Point(rng.dirichlet(np.ones(4), 80))}
    common = {"calibration": (), "scales": (), "measures": (), "n_draws": 100, "prior": np.full(4, 0.25)}
    found = uq.assay(said, y, **common)
    wanted = uq.assay(said, y, distance="js", nonspecificity="korner", **common)
    columns = {m.name: {key: m.columns[key] for key in ("distance", "nonspecificity")} for m in wanted.models}
    changed = with_terms(found, columns, distance="js", nonspecificity="korner")
    for tradeoff in (0.1, 1.0):
        assert repr(changed.ranked(tradeoff)) == repr(wanted.ranked(tradeoff))
    for by_part in ({"by": "correct"}, {"by": "class"}):
        rows, expected = (a.table("subsets", ranking=False, **by_part) for a in (changed, wanted))
        assert rows.equals(expected)


def test_models_without_terms_are_left_out():
    found = uq.assay({"a": uq.Point([[0.5, 0.5]]), "b": uq.Point([[0.9, 0.1]])}, [0], calibration=())
    part = with_terms(found, {"b": {"nonspecificity": np.ones((1, 1))}})
    assert part.model_names == ("b",)
    assert part.loss("b", 1.0)[0, 0] == pytest.approx(1 - np.log(0.9))
    assert found.loss("b", 1.0)[0, 0] == pytest.approx(-np.log(0.9))
