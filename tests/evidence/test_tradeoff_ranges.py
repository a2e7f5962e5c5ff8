"""Ranges of λ from fixed sequences of tests."""

import numpy as np
import pytest
from scipy import stats
from tests.evidence.verdict_cases import judged, predicted

import uqassay as uq
from uqassay.evidence.claims import FARTHEST, GRID, Range, TestsAgainst, anchored, inwards, limit


def test_ends_are_found_and_gaps_are_not_crossed():
    def pvalue(t):
        return 0.01 if t <= 0.3 or 0.7 <= t <= 2.0 or t >= 50 else 1.0

    low, high = anchored(pvalue, (0.0, FARTHEST), 0.05)
    assert low.low == 0
    assert low.high == pytest.approx(0.3, rel=2e-3)
    assert high.low == pytest.approx(50, rel=0.01)
    assert limit(high.high) == float("inf")
    assert anchored(pvalue, (0.5,), 0.05) == ()
    (coarse,) = anchored(pvalue, (0.0,), 0.05, halvings=0)
    assert coarse.high == max(t for t in GRID if t <= 0.3)


def test_the_greatest_pvalue_of_a_range_is_kept():
    (found,) = anchored(lambda t: 0.001 + 0.02 * (t == GRID[3]), (0.0,), 0.05)
    assert found == Range(0.0, FARTHEST, 0.021)


def test_pvalues_against_scipy():
    a = judged({"a": (0.2, 0.1), "b": (0.22, 0.08), "c": (0.25, 0.1)}, 200)
    tests = TestsAgainst(a, "a", ("b", "c"), guard=False)
    difference, p = tests.at(0.7)
    losses = {name: a.loss(name, 0.7)[0] for name in "abc"}
    for k, name in enumerate("bc"):
        found = stats.ttest_rel(losses[name], losses["a"])
        assert difference[k] == pytest.approx(losses[name].mean() - losses["a"].mean())
        assert found.pvalue <= p[k] * (1 + 1e-9)  # the greatest of Student's and Hall's
        assert p[k] == pytest.approx(found.pvalue, rel=0.3)
    np.testing.assert_array_equal(tests.better(0.7), p)
    np.testing.assert_array_equal(tests.worse(0.7), [1.0, 1.0])


def test_the_guard_counts_losses_that_have_not_been_seen():
    """(W/(W + d))^n, with W the greatest excess on the inputs seen, of the distance and of λ times the non-specificity."""
    n = 12
    a = judged({"a": (0.02, 0.0), "b": (0.3, 0.1)}, n, floor=None, width=0.01)
    rests = a.excess.of("distance", "a", "b") + 0.5 * float(-a["b"].columns["nonspecificity"].min())
    difference, p = TestsAgainst(a, "a", ("b",)).at(0.5)
    assert p[0] == pytest.approx((rests / (rests + difference[0])) ** n, rel=1e-6)


def test_a_grid_is_tested_as_each_of_its_tradeoffs():
    a = judged({"a": (0.2, 0.1), "b": (0.22, 0.08), "c": (0.25, 0.1)}, 200)
    for one, others in (("a", ("b", "c", "class-prior")), ("class-prior", ("a", "b", "c"))):
        together, alone = TestsAgainst(a, one, others, grid=GRID), TestsAgainst(a, one, others)
        for tradeoff in (*GRID, 0.123):
            np.testing.assert_allclose(together.at(tradeoff), alone.at(tradeoff), rtol=1e-12, atol=1e-300)


def test_rows_are_tested_alone_with_their_groups():
    n = 120
    rows = np.arange(n) < 60
    groups = np.arange(n) // 6
    models = {"a": (0.2, 0.1), "b": (0.25, 0.1)}
    a = judged(models, n, groups=groups)
    difference, p = TestsAgainst(a, "a", ("b",), rows=rows, guard=False).at(0.5)
    x, y = (a.loss(name)[0, rows] for name in "ba")
    expected = uq.statistics.paired_mean_test(x, y, groups=groups[rows])
    assert difference[0] == pytest.approx(float(expected.difference))
    assert p[0] >= expected.pvalue * (1 - 1e-9)


def test_an_infinite_loss_is_worse_without_a_test():
    n = 20
    sharp = np.zeros(n)
    sharp[0] = np.inf
    models = {"a": predicted(0.2, 0.1, n), "b": uq.Point(np.column_stack([np.exp(-sharp), 1 - np.exp(-sharp)]))}
    a = uq.assay(models, np.zeros(n, dtype=int), floor=0, calibration=(), n_draws=20)
    assert TestsAgainst(a, "a", ("b",)).better(0.5).tolist() == [0.0]
    assert TestsAgainst(a, "b", ("a",)).worse(0.5).tolist() == [0.0]
    assert TestsAgainst(a, "b", ("a",)).better(0.5).tolist() == [1.0]


@pytest.mark.parametrize("low", [0.0, 0.00312, 0.1239, 0.5, 3.14159, 17.5])
def test_rounded_ends_lie_inside(low):
    first, last = inwards(low, low * 2.3 + 0.4)
    assert low * (1 - 1e-9) <= first <= last <= (low * 2.3 + 0.4) * (1 + 1e-9)
    assert len(f"{first:g}") <= 6


def test_error_of_an_anchored_sequence():
    """Two models whose means cross at λ = 1: a claim beyond the crossing, at 5 % for both directions from λ = 0.5."""
    wrong, shown = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = 60
        u, v = rng.normal(size=(2, n)) * 0.3 + np.array([[-0.1], [0.1]])  # of a − b: distance, non-specificity

        def pvalue(t, u=u, v=v):
            d = u + t * v
            return float(stats.ttest_1samp(d, 0).pvalue) if d.mean() < 0 else 1.0

        def reverse(t, u=u, v=v):
            d = u + t * v
            return float(stats.ttest_1samp(d, 0).pvalue) if d.mean() > 0 else 1.0

        found = anchored(pvalue, (0.5,), 0.05)
        shown += bool(found)
        wrong += any(r.high >= 1 for r in found) or bool(anchored(reverse, (0.5,), 0.05))
    assert shown > 5
    assert wrong <= stats.binom.ppf(0.999, 60, 0.05)
