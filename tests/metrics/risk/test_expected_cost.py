"""Expected cost for a price of passing a case on: brute force, and the coverage of its intervals.

Run as a script, this file prints the coverage of the intervals and how far the costs are off, also if they are estimated on the
instances that chose the threshold.
"""

import json
import sys

import numpy as np
import pytest
from tests.metrics.risk.refusal_worlds import Groups, World
from tests.refusals import refuses

from uqassay.metrics.certified_thresholds import divide
from uqassay.metrics.expected_cost import PRICES, cheapest_thresholds, expected_cost_curve

SIZES = (100, 300, 2000)
ASKED = (0.02, 0.05, 0.1, 0.2)
USELESS = World(0.1, 0.5)
WORLDS = {
    "scores, UQ-AUC .8": World(0.1, 0.8),
    "scores, UQ-AUC .95": World(0.1, 0.95),
    "5 levels, UQ-AUC .8": World(0.1, 0.8, "levels"),
    "useless score": USELESS,
    "groups, UQ-AUC .8": Groups(0.1, 1.19),
}


def true_cost(world, threshold, price):
    if threshold == -np.inf:
        return price
    risk, kept = world.risk_at(threshold)
    return risk * kept + price * (1 - kept)


def measured_costs(world, n, *, n_sets, seed):
    """Coverage of the intervals and two biases, (3, P), and how often any of the default prices is said to be worthwhile.

    The biases are against the true cost of the threshold to deploy: of the estimate, and of the cost on all instances. The last
    number is found for a score that does not know errors.
    """
    rng, found, said = np.random.default_rng(seed), np.zeros((3, len(ASKED))), 0
    for k in range(n_sets):
        errors, scores, groups = world.draw(rng, n)
        curve = expected_cost_curve(errors, scores[0], prices=ASKED, groups=groups, rng=k)
        first = divide(errors.size, groups, None, 0.5, k).choosing
        truth = np.zeros(len(ASKED))
        for rows in (first, ~first):
            thresholds = cheapest_thresholds(errors[rows], scores[0][rows], np.array(ASKED))
            weight = 1 - rows.mean()
            truth += weight * np.array([true_cost(world, *pair) for pair in zip(thresholds, ASKED, strict=True)])
        low, high = np.array([(cost.low, cost.high) for cost in curve.costs]).T
        kept = scores[0] <= np.array(curve.thresholds)[:, np.newaxis]
        plain = np.where(kept, errors, np.array(ASKED)[:, np.newaxis]).mean(axis=1)
        deployed = np.array([true_cost(world, *pair) for pair in zip(curve.thresholds, ASKED, strict=True)])
        found += (low <= truth) & (truth <= high), np.array(curve.costs) - deployed, plain - deployed
        if world is USELESS:
            said += bool(expected_cost_curve(errors, scores[0], groups=groups, rng=k).worthwhile())
    return found / n_sets, said / n_sets if world is USELESS else np.nan


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scores, UQ-AUC .8", "groups, UQ-AUC .8"])
def test_coverage_and_optimism(name):
    (held, bias, plain), _ = measured_costs(WORLDS[name], 300, n_sets=40, seed=1)
    assert (held >= 0.8).all()
    assert (plain < bias).all()  # the cost on the choosing instances is too low


@pytest.mark.slow
def test_a_useless_score_is_seldom_called_worthwhile():
    _, said = measured_costs(USELESS, 100, n_sets=25, seed=2)
    assert said <= 0.1


def test_thresholds_against_brute_force():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 12, 200).astype(float)
    errors = (rng.random(200) < scores / 20).astype(float)
    prices = np.linspace(0, 1, 21)
    for price, threshold in zip(prices, cheapest_thresholds(errors, scores, prices), strict=True):
        every = [-np.inf, *np.arange(11) + 0.5, np.inf]
        costs = [np.where(scores <= t, errors, price).mean() for t in every]
        cost = np.where(scores <= threshold, errors, price).mean()
        assert cost == pytest.approx(min(costs))


def test_costs_by_hand():
    errors, scores = np.array([0.0, 0, 0, 1, 1, 0, 0, 1]), np.array([1.0, 2, 3, 4, 4, 3, 2, 1])
    found = expected_cost_curve(errors, scores, prices=[0.0, 0.4, 1.0], rng=3)
    assert found.keep_all == pytest.approx(3 / 8)
    assert found.thresholds[0] == -np.inf or found.costs[0] == 0.0
    first = divide(8, None, None, 0.5, 3).choosing
    expected = np.zeros(3)
    for rows in (first, ~first):
        at = cheapest_thresholds(errors[rows], scores[rows], np.array([0.0, 0.4, 1.0]))
        keeps = scores[~rows] <= at[:, np.newaxis]
        expected += np.where(keeps, errors[~rows], np.array([[0.0], [0.4], [1.0]])).sum(axis=1) / 8
    assert list(found.costs) == pytest.approx(expected)
    simple = np.minimum(3 / 8, [0.0, 0.4, 1.0])
    assert list(found.savings) == pytest.approx(simple - expected)


def test_a_good_score_is_worthwhile_and_a_useless_one_is_not():
    errors = np.repeat([0.0, 1.0], [900, 100])
    good = expected_cost_curve(errors, np.arange(1000.0))
    assert len(good.worthwhile()) >= 49
    assert good.prices == PRICES
    assert "is cheaper than keeping or passing on every case at 4" in repr(good) or "50 of 50" in " ".join(
        repr(good).split()
    )
    none = expected_cost_curve(errors, np.ones(1000))
    assert none.worthwhile() == ()
    assert "At no price" in repr(none)
    assert set(none.thresholds) <= {-np.inf, np.inf}
    json.dumps(none.to_dict(), allow_nan=False)


def test_groups_are_kept_whole():
    rng = np.random.default_rng(1)
    scores = rng.random(300)
    errors = (rng.random(300) < scores / 3).astype(float)
    found = expected_cost_curve(errors, scores, prices=[0.1], groups=np.arange(300) // 3)
    assert found.notes[0].text == "100 groups"
    assert found.costs[0].low < found.costs[0] < found.costs[0].high


def test_bad_input():
    with refuses("prices", "range", got=r"price 1 is 1\.5"):
        expected_cost_curve([0, 1], [0.1, 0.2], prices=[0.1, 1.5])
    with refuses("errors", "range"):
        expected_cost_curve([0, 0.5], [0.1, 0.2])
    with refuses("errors", "shape"):
        expected_cost_curve([0], [0.1])


def show(n_sets):
    """One line for each world and size, the biases in thousandths."""
    for name, world in WORLDS.items():
        for n in SIZES:
            (held, bias, plain), said = measured_costs(world, n, n_sets=n_sets, seed=n)
            cells = ("/".join(f"{1000 * x:.1f}" for x in row) for row in (held / 10, bias, plain))
            print(f"{n:5d} {name:22s}", *(f"{cell:26s}" for cell in cells), f"{100 * said:.1f}", flush=True)


if __name__ == "__main__":
    show(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
