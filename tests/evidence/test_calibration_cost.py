"""How many instances and runs the calibration tests of an assay can afford."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.evidence import calibration as cost
from uqassay.metrics.measures import calibration_measure

ECE, PAIRS = calibration_measure("ece-confidence"), calibration_measure("skce-uq")


def sized(m, k, n_runs=1):
    return (uq.Members(np.full((1, m, k), 1 / k)),) * n_runs


@pytest.mark.parametrize(
    ("n", "k", "m", "tested"),
    [(10_000, 10, 3, 1500), (10_000, 10, 10, 1000), (100_000, 100, 10, 300), (897, 10, 10, 897), (50, 3, 5, 50)],
)
def test_what_a_set_can_afford(n, k, m, tested):
    """Sizes alone: nothing is computed."""
    assert cost.afforded(sized(m, k), ECE, n) == (tested, 1, False)


@pytest.mark.parametrize("n", [50, 10_000, 1_000_000])
def test_points_are_tested_on_all_instances_in_all_runs(n):
    runs = (uq.Point(np.full((1, 10), 0.1)),) * 7
    assert cost.afforded(runs, ECE, n) == (n, 7, False)
    assert cost.afforded(runs, PAIRS, n).n_tested == min(n, 2000)
    assert n * cost.point_draws(n) <= max(cost.POINT_WORK, 199 * n)


def test_numbers_of_instances_below_ten_are_whole(monkeypatch):
    monkeypatch.setattr(cost, "MOST_VALUES", 24)  # as of normal logits of thousands of classes
    found = cost.afforded((uq.Point(np.full((1, 3), 1 / 3)),), ECE, 100).n_tested
    assert (found, type(found)) == (8, int)


def test_sets_that_cost_too_much_are_tested_by_their_mean():
    assert cost.afforded(sized(50, 100, 2), ECE, 4_000) == (4_000, 2, True)
    assert cost.afforded(sized(100, 100, 2), ECE, 10_000) == (2_000, 2, True)  # of what its numbers allow


def test_runs_share_the_budget_of_their_model():
    one, five, many = (cost.afforded(sized(10, 10, r), ECE, 10_000) for r in (1, 5, 100))
    assert (five.n_runs, many.n_runs) == (5, 7)
    assert one.n_tested > five.n_tested > many.n_tested == cost.FEWEST
    assert cost.afforded(sized(10, 10), PAIRS, 10_000).n_tested == cost.FEWEST


def test_points_that_are_mixed(random_generator):
    found = {kind: cost.n_points(random_prediction(kind, random_generator)) for kind in KINDS}
    assert found == {
        "Point": 1,
        "Members": 3,
        "Dirichlet": 1,
        "Intervals": 8,
        "ClassSets": 8,
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
