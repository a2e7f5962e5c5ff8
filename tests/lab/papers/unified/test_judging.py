"""Judging of made predictions: models, conventions, sizes; Table 4 by brute force over permutations and events."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers.unified.judging import (
    CONVENTIONS,
    MEMBERS,
    given_classes,
    judge,
    judge_four_classes,
    judge_predictions,
    vertices_of,
    with_terms,
)


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
    # what other labels would have cost is not among the columns
    wanted = replace(wanted, excess=uq.evidence.Excess.unknown(["a", "b"]))
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


# -- Table 4 by brute force --------------------------------------------------------------------------------------------


def lower(points, event):
    return points[:, list(event)].sum(axis=1).min() if event else 0.0


def by_hand(points, *, clipped):
    """Eq. 4 and 5 of the paper on all events of the classes: vertices by permutation, and the masses."""
    k = points.shape[1]
    events = [tuple(c for c in range(k) if code >> c & 1) for code in range(1, 2**k)]
    masses = {}
    for event in sorted(events, key=len):
        masses[event] = lower(points, event) - sum(m for b, m in masses.items() if set(b) < set(event))
    if clipped:
        masses = {event: max(m, 0.0) for event, m in masses.items()}
        masses[events[-1]] += max(0.0, 1.0 - sum(masses.values()))
        total = sum(masses.values())
        masses = {event: m / total for event, m in masses.items()}
    vertices = []
    for order in permutations(range(k)):
        p = np.zeros(k)
        for i, c in enumerate(order):
            p[c] = sum(m for event, m in masses.items() if c in event and not set(order[:i]) & set(event))
        vertices.append(p)
    return np.array(vertices), masses


@pytest.fixture(scope="module")
def run():
    return uq.Members(np.random.default_rng(0).dirichlet(np.full(4, 0.7), (12, 6)))


@pytest.mark.parametrize("convention", ["exact", "paper"])
def test_vertices_against_brute_force(run, convention):
    found = vertices_of(run, convention, "naive")
    some = vertices_of(run, convention, "approximated")
    assert found.shape == (12, 24, 4)
    assert some.shape == (12, 8, 4)
    for i in range(12):
        expected, _ = by_hand(run.probs[i], clipped=convention == "paper")
        np.testing.assert_allclose(found[i], expected, atol=1e-12)
        for vertex in some[i]:
            assert np.abs(expected - vertex).max(axis=1).min() < 1e-12


def test_members_and_concentrations_are_conditioned():
    rng = np.random.default_rng(1)
    probs = rng.dirichlet(np.ones(6), (5, 3))
    found = given_classes(uq.Members(probs), (4, 1, 0, 2)).probs
    part = probs[:, :, [4, 1, 0, 2]]
    np.testing.assert_allclose(found, part / part.sum(axis=2, keepdims=True))
    alpha = rng.gamma(2.0, 1.0, (4, 6))
    given = given_classes(uq.Dirichlet(alpha, n_draws=4000), (4, 1, 0, 2))
    whole = uq.Dirichlet(alpha).sample(4000, 0)[:, :, [4, 1, 0, 2]]
    whole /= whole.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(given.hull_points().mean(axis=1), whole.mean(axis=1), atol=0.03)
    np.testing.assert_allclose(given.hull_points().std(axis=1), whole.std(axis=1), atol=0.03)


@pytest.fixture(scope="module")
def judged_four_classes():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 6, 90)
    probs = rng.dirichlet(np.full(6, 0.3), (90, 5)) + 0.5 * np.eye(6)[y][:, None]
    probs /= probs.sum(axis=2, keepdims=True)
    first = np.flatnonzero(np.isin(y, (1, 3, 4, 5)))[0]
    probs[first] = np.eye(6)[0]  # no class of the four is possible
    return probs, y, judge_four_classes({"DE": [uq.Members(probs)]}, y, (5, 1, 3, 4))


def test_means_against_brute_force(judged_four_classes):
    probs, y, found = judged_four_classes
    assert found.classes == (5, 1, 3, 4)
    assert found.left_out == 1
    rows = [i for i in np.flatnonzero(np.isin(y, (5, 1, 3, 4))) if probs[i, 0, 0] != 1]
    terms = {"exact": [], "paper": []}
    for i in rows:
        p = probs[i][:, [5, 1, 3, 4]]
        p = p / p.sum(axis=1, keepdims=True)
        label = (5, 1, 3, 4).index(y[i])
        for convention, of_rows in terms.items():
            vertices, masses = by_hand(p, clipped=convention == "paper")
            ns = sum(m * np.log(len(event)) for event, m in masses.items())
            every = vertices[:, label].max()
            outer = [list(permutations(range(4))).index(tuple(o)) for o in uq.credal.outermost_permutations(4).tolist()]
            of_rows.append((-np.log(min(every, 1)), -np.log(vertices[outer, label].max()), ns))
    for convention, of_rows in terms.items():
        naive, approximated, ns = np.array(of_rows).T
        for choice, kl in (("naive", naive), ("approximated", approximated)):
            scores = found.assays[convention][choice]["DE"].columns
            np.testing.assert_allclose(scores["distance"][0], kl, atol=1e-9)
            np.testing.assert_allclose(scores["nonspecificity"][0], ns, atol=1e-9)


@pytest.mark.parametrize("convention", ["exact", "paper"])
def test_both_choices_have_the_same_nearest_vertex(judged_four_classes, convention):
    of_choice = judged_four_classes[2].assays[convention]
    one, other = (of_choice[choice]["DE"].columns["distance"] for choice in ("approximated", "naive"))
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_points_of_the_lower_envelope_stay_in_the_bounds_of_the_classes_and_leave_the_hull(run):
    points = vertices_of(run, "exact", "naive")
    assert np.all(points >= run.probs.min(axis=1)[:, None] - 1e-12)
    assert np.all(points <= run.probs.max(axis=1)[:, None] + 1e-12)
    assert not uq.credal.in_hull(np.broadcast_to(run.probs[0], (24, 6, 4)), points[0]).all()


def test_no_table_without_sampled_predictors_or_four_classes():
    y = np.array([0, 1, 2])
    assert judge_four_classes({}, y) is None
    three = uq.Members(np.random.default_rng(0).dirichlet(np.ones(3), (3, 2)))
    assert judge_four_classes({"DE": [three]}, y) is None


@pytest.mark.parametrize(
    ("classes", "got"),
    [((0, 1, 2), "0, 1 and 2"), ((0, 1, 2, 2), "2 and 2"), ((0, 1, 2, 9), "9"), ((0, 1, 2, True), "True")],
)
def test_other_than_four_classes_are_refused(run, classes, got):
    with refuses("vertex_classes", "choice", got=got):
        judge_four_classes({"DE": [run]}, np.zeros(12, int), classes)
