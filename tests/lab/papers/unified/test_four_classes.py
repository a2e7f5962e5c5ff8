"""Table 4: vertices by brute force over all permutations and events, and the two choices of them."""

from itertools import permutations

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers.unified.judging import given_classes, judge_four_classes, vertices_of


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
def judged():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 6, 90)
    probs = rng.dirichlet(np.full(6, 0.3), (90, 5)) + 0.5 * np.eye(6)[y][:, None]
    probs /= probs.sum(axis=2, keepdims=True)
    first = np.flatnonzero(np.isin(y, (1, 3, 4, 5)))[0]
    probs[first] = np.eye(6)[0]  # no class of the four is possible
    return probs, y, judge_four_classes({"DE": [uq.Members(probs)]}, y, (5, 1, 3, 4))


def test_means_against_brute_force(judged):
    probs, y, found = judged
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
def test_both_choices_have_the_same_nearest_vertex(judged, convention):
    of_choice = judged[2].assays[convention]
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
