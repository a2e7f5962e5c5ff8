import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

import uqassay as uq
from tests.refusals import refuses
from uqassay.calibration import vote_compatibility_test
from uqassay.calibration.votes import buckets_by_statement
from uqassay.statistics import mean_estimate

# -- second order buckets --------------------------------------------------------------------------------------------
#
# Buckets of equal statements, nearly equal in size.


def test_sizes_and_means(random_generator):
    stated = random_generator.permutation(np.arange(100) / 100)
    observed = stated + random_generator.normal(size=100)
    found = buckets_by_statement(observed, stated, 4)
    assert found.count.tolist() == [25] * 4
    assert found.edges.tolist() == [0.0, 0.25, 0.5, 0.75, 0.99]
    np.testing.assert_allclose(found.stated, [0.12, 0.37, 0.62, 0.87])
    expected = mean_estimate(observed[stated < 0.25], method="hall")
    assert (float(found.observed[0]), found.observed[0].low) == (float(expected), expected.low)


def test_equal_statements_stay_together():
    stated = np.array([0.0] * 60 + [0.1] * 5 + [0.2] * 35)
    found = buckets_by_statement(stated, stated, 10)
    assert found.count.tolist() == [60, 5, 35]
    assert found.edges.tolist() == [0.0, 0.1, 0.2, 0.2]


@pytest.mark.parametrize("stated", [[0.3], [0.3, 0.3, 0.3]])
def test_one_statement_is_one_bucket(stated):
    found = buckets_by_statement(np.array(stated), np.array(stated), 5)
    assert (found.count.tolist(), found.edges.tolist()) == ([len(stated)], [0.3, 0.3])


def test_more_buckets_than_instances():
    found = buckets_by_statement(np.arange(3.0), np.arange(3.0), 10)
    assert found.count.tolist() == [1, 1, 1]
    assert all(np.isnan(o.low) for o in found.observed)


def test_groups_inside_buckets():
    stated, observed = np.repeat([0.1, 0.2], 8), np.random.default_rng(0).normal(size=16)
    labels = np.tile(np.repeat(list("ab"), 4), 2)
    found = buckets_by_statement(observed, stated, 2, groups=labels, level=0.9)
    expected = mean_estimate(observed[:8], groups=labels[:8], level=0.9, method="hall")
    assert (found.observed[0].low, found.observed[0].high) == (expected.low, expected.high)


def test_rows_are_plain():
    row = buckets_by_statement(np.arange(4.0), np.arange(4.0), 2).rows()[1]
    assert (row["from"], row["to"], row["n"], row["stated"]) == (2.0, 3.0, 2, 2.5)
    assert row["observed"]["estimate"] == 2.5


# -- vote compatibility ----------------------------------------------------------------------------------------------
#
# Votes against credal sets: the statistic against SciPy, p-values against enumeration, shares with known truth.


def log_likelihood(votes, q):
    return float((votes[votes > 0] * np.log(q[votes > 0])).sum())


def test_the_statistic_against_scipy(random_generator):
    points = random_generator.dirichlet(np.ones(4), size=(6, 3))
    votes = random_generator.multinomial(20, [0.4, 0.3, 0.2, 0.1], size=6)
    found = vote_compatibility_test(votes, points, n_draws=9)
    for v, p, statistic in zip(votes, points, found.statistic, strict=True):
        best = minimize(
            lambda w, v=v, p=p: -log_likelihood(v, np.maximum(w @ p, 1e-12)),
            np.full(3, 1 / 3),
            bounds=[(0, 1)] * 3,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-12},
        )
        assert statistic == pytest.approx(2 * (log_likelihood(v, v / 20) + best.fun), abs=2e-4)


def test_pvalues_of_a_point_against_enumeration():
    """Of two classes all numbers of votes can be listed."""
    m, p = 12, 0.3
    votes = np.array([[k, m - k] for k in range(m + 1)])
    found = vote_compatibility_test(votes, np.tile([p, 1 - p], (m + 1, 1)), n_draws=799, alpha=0.6)
    share = np.arange(m + 1) / m
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(share > 0, share * np.log(share / p), 0)
        second = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - p)), 0)
    statistic = 2 * m * (first + second)
    exact = [(binom.pmf(range(m + 1), m, p) * (statistic >= s - 1e-9)).sum() for s in statistic]
    np.testing.assert_allclose(found.statistic, statistic, atol=1e-6)
    np.testing.assert_allclose(found.pvalues, exact, atol=0.05)


def test_the_share_of_compatible_instances(random_generator):
    n = 240
    pair = random_generator.dirichlet(np.full(4, 2.0), size=(n, 2))
    truth = pair.mean(axis=1)
    far = np.arange(n) < n // 2
    truth[far] = truth[far][:, ::-1] ** 4  # far from both members
    votes = random_generator.multinomial(100, truth / truth.sum(axis=1, keepdims=True))
    found = vote_compatibility_test(votes, pair, groups=np.arange(n) // 2, n_draws=59)
    assert found.share.low < 0.56
    assert float(found.share) == pytest.approx(0.5, abs=0.1)
    assert float(found.kept) == pytest.approx(0.9 * float(found.share))
    assert (found.pvalues[far] < 0.1).mean() > 0.9
    assert "could come from some point of the set of m" in found.sentence(name="m")
    assert found.share.n == n
    assert float(found.kept) == found.kept_instances.mean()
    assert found.to_dict()["share"]["estimate"] == float(found.share)


@pytest.mark.parametrize("kind", ["Point", "Members", "Vertices", "Intervals", "Masses", "Dirichlet"])
def test_every_kind_and_wide_sets_hold_more_votes(random_generator, kind):
    p = random_generator.dirichlet(np.ones(3), size=(8, 3))
    predictions = {
        "Point": uq.Point(p[:, 0]),
        "Members": uq.Members(p),
        "Vertices": uq.Vertices(p),
        "Intervals": uq.Intervals(p.min(axis=1), p.max(axis=1)),
        "Masses": uq.Masses(p[:, 0], [[0], [0, 1], [0, 1, 2]], n_classes=3),
        "Dirichlet": uq.Dirichlet(5 * p[:, 0]),
    }
    votes = random_generator.multinomial(10, [0.5, 0.3, 0.2], size=8)
    found = vote_compatibility_test(votes, predictions[kind], n_draws=19)
    again = vote_compatibility_test(votes, predictions[kind], n_draws=19)
    np.testing.assert_array_equal(found.pvalues, again.pvalues)
    assert ((found.pvalues > 0) & (found.pvalues <= 1)).all()
    vacuous = vote_compatibility_test(votes, uq.Intervals(np.zeros((8, 3)), np.ones((8, 3))), n_draws=19)
    assert (vacuous.pvalues == 1).all()
    assert (found.statistic >= vacuous.statistic - 1e-9).all()


def test_few_votes_impossible_votes_and_refusals():
    point = [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]
    found = vote_compatibility_test([[3, 1], [2, 2], [1, 0]], point, few_votes="leave-out", n_draws=99)
    assert found.pvalues[0] == pytest.approx(0.01)
    assert found.pvalues[1] == 1
    assert np.isnan(found.pvalues[2])
    assert found.share.n == 2
    assert {note.code for note in found.notes} >= {"assumption", "left-out"}
    one = vote_compatibility_test([[2, 2]], point[1:2])
    assert np.isnan(one.share.low)
    assert "interval" not in one.sentence()
    with refuses("votes", "empty"):
        vote_compatibility_test([[3, 1], [2, 2], [1, 0]], point)
    with refuses("alpha", "range"):
        vote_compatibility_test([[3, 1], [2, 2], [1, 1]], point, alpha=1.0)
    with refuses("n_draws", "range"):
        vote_compatibility_test([[3, 1], [2, 2], [1, 1]], point, n_draws=0)


def test_blocks_of_draws_change_no_pvalue_beyond_chance(random_generator, monkeypatch):
    """With a block of one draw each instance stops where it would in a plain loop."""
    pair = random_generator.dirichlet(np.ones(3), size=(400, 2))
    votes = random_generator.multinomial(12, pair[:, 0])
    blocks = vote_compatibility_test(votes, pair)
    monkeypatch.setattr("uqassay.calibration.votes.MOST_NUMBERS", 1)
    loop = vote_compatibility_test(votes, pair)
    np.testing.assert_array_equal(loop.statistic, blocks.statistic)
    # p = h/l or (h + 1)/(l + 1): an instance that stops has exactly h = 20 draws that reach its statistic
    for found in (blocks, loop):
        draws = 20 / found.pvalues[found.pvalues > 0.15]
        assert (draws >= 20 / 1.06).all()
    assert blocks.pvalues.mean() == pytest.approx(loop.pvalues.mean(), abs=0.02)  # standard error .006
    assert (blocks.pvalues <= 0.1).mean() == pytest.approx((loop.pvalues <= 0.1).mean(), abs=0.04)
