"""Classes that are not ruled out, for each kind of prediction."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.credal import CLASS_RULES, box_vertices, permutation_vertices
from uqassay.measures.imprecision import class_sets_by_rule, not_ruled_out


@pytest.mark.parametrize("rule", CLASS_RULES)
def test_every_kind_keeps_its_most_probable_class_and_repeats_it_by_chunks(random_generator, rule):
    p = random_generator.dirichlet(np.ones(4), size=(50, 3))
    kinds = [
        uq.Point(p[:, 0]),
        uq.Members(p),
        uq.Vertices(p),
        uq.Intervals(p.min(axis=1), p.max(axis=1)),
        uq.Masses(p[:, 0], [[0], [0, 1], [2, 3], [0, 1, 2, 3]], n_classes=4),
        uq.Dirichlet(20 * p[:, 0]),
        uq.GaussianLogits(5 * p[:, 0], p[:, 1], variance_is="epistemic"),
    ]
    for kind in kinds:
        found = not_ruled_out(kind, rule=rule)
        assert found.dtype == bool
        assert found.shape == (50, 4)
        assert found[np.arange(50), kind.mean_probs().argmax(axis=1)].all()
        one_by_one = [not_ruled_out(kind[i], rule=rule)[0] for i in range(0, 50, 7)]
        np.testing.assert_array_equal(one_by_one, found[::7])


def test_maximality_and_admissibility_of_bounds_are_those_of_their_vertices(random_generator):
    p = random_generator.dirichlet(np.full(4, 4.0), size=(12, 3))
    intervals = uq.Intervals(p.min(axis=1), p.max(axis=1))
    hull = box_vertices(*intervals.bounds())[0]
    masses = uq.Masses(p[:, 0], [[0], [0, 1], [2, 3], [0, 1, 2, 3]], n_classes=4)
    core = permutation_vertices(masses.masses, masses.focal_sets)
    for rule in CLASS_RULES:
        np.testing.assert_array_equal(not_ruled_out(intervals, rule=rule), not_ruled_out(hull, rule=rule))
        np.testing.assert_array_equal(not_ruled_out(masses, rule=rule), not_ruled_out(core, rule=rule))


def test_two_classes_ties_one_member_and_one_instance():
    assert not_ruled_out([[0.5, 0.5]]).tolist() == [[True, True]]
    assert not_ruled_out([[[0.7, 0.3]]]).tolist() == [[True, False]]
    assert not_ruled_out([[[0.7, 0.3], [0.5, 0.5]]]).tolist() == [[True, True]]
    assert not_ruled_out(uq.Intervals([[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]])).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_small_floats_read_only_and_reversed_memory(random_generator, dtype):
    p = random_generator.dirichlet(np.ones(5), size=(40, 3)).astype(dtype)
    p.flags.writeable = False
    for rule in CLASS_RULES:
        found = not_ruled_out(uq.Members(p), rule=rule)
        np.testing.assert_array_equal(found, not_ruled_out(uq.Members(p.astype(float), normalise=True), rule=rule))
        np.testing.assert_array_equal(found[::-1, ::-1], not_ruled_out(uq.Members(p[::-1, :, ::-1]), rule=rule))


def test_the_columns_by_rule_end_with_the_last_rule_asked_for():
    assert list(class_sets_by_rule(uq.Point([[0.5, 0.5]]), last="maximality")) == list(CLASS_RULES[:2])
    with refuses("rule", "choice", "dominance"):
        not_ruled_out([[0.5, 0.5]], rule="dominance")
