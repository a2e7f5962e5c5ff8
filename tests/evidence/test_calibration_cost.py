"""How many instances and runs the calibration tests of an assay can afford."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.evidence import calibration_cost as cost


@pytest.mark.parametrize(("n", "k", "m", "most"), [(10_000, 10, 3, 2100), (100_000, 100, 10, 400), (897, 10, 10, 897)])
def test_what_a_page_costs(n, k, m, most):
    """Sizes alone: nothing is computed."""
    sizes = uq.Members(np.full((1, m, k), 1 / k))
    can = cost.afforded({"a": (sizes,), "b": (sizes,)}, 2, n)
    assert can.n_tested <= most
    assert can.n_tested >= min(n, 300)
    assert not can.by_mean


def models_of(**predictions):
    return {name: (prediction,) for name, prediction in predictions.items()}


def test_small_test_sets_are_tested_whole(random_generator):
    models = models_of(
        a=random_prediction("Members", random_generator, 50, 3), b=random_prediction("Point", random_generator, 50, 3)
    )
    assert cost.afforded(models, 2, 50) == (50, True, frozenset())


def test_more_members_classes_measures_or_models_take_no_more_instances(random_generator):
    def tested(n_models=1, n_measures=2, m=5, k=10):
        members = uq.Members(np.broadcast_to(random_generator.dirichlet(np.ones(k), (1, m)), (100_000, m, k)))
        return cost.afforded({str(i): (members,) for i in range(n_models)}, n_measures, 100_000).n_tested

    assert tested() >= tested(m=50) >= cost.FEWEST
    assert tested() >= tested(k=50) >= cost.FEWEST
    assert tested() >= tested(n_measures=20) >= cost.FEWEST
    assert tested() >= tested(n_models=20) >= cost.FEWEST


def test_points_that_are_mixed(random_generator):
    found = {kind: cost.n_points(random_prediction(kind, random_generator)) for kind in KINDS}
    assert found == {
        "Point": 1,
        "Members": 3,
        "Dirichlet": 1,
        "Intervals": 8,
        "Masses": 8,
        "Vertices": 3,
        "GaussianLogits": 1,
    }


def test_instances_are_chosen_once_in_order_or_as_whole_groups():
    assert cost.choose_instances(10, 20, None, 0).tolist() == list(range(10))
    rows = cost.choose_instances(1000, 100, None, 0)
    assert len(rows) == 100
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert not np.array_equal(rows, cost.choose_instances(1000, 100, None, 1))
    groups = np.arange(1000) // 7
    rows = cost.choose_instances(1000, 100, groups, 0)
    chosen = np.unique(groups[rows])
    assert 100 <= len(rows) < 107
    assert rows.tolist() == np.flatnonzero(np.isin(groups, chosen)).tolist()


def test_every_instance_is_as_likely_as_any_other():
    counts = np.zeros(40)
    for seed in range(500):
        counts[cost.choose_instances(40, 10, None, seed)] += 1
    assert abs(counts / 500 - 0.25).max() < 4.5 * np.sqrt(0.25 * 0.75 / 500)


def test_passes_of_gaussian_logits_are_mixed_as_members_are():
    g = np.zeros((5, 6, 3))
    assert cost.n_points(uq.GaussianLogits(g, g, variance_is="aleatoric")) == 6
    assert cost.n_points(uq.GaussianLogits(g, g, variance_is="epistemic")) == 1
