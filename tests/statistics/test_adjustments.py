"""Adjusted p-values and verdicts of several tests: against brute force, SciPy and step-wise procedures."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.refusals import refuses

from uqassay.statistics import benjamini_hochberg, holm, shaffer, shaffer_factor

PVALUES = hnp.arrays(np.float64, st.integers(0, 12), elements=st.one_of(st.floats(0, 1), st.just(np.nan)))


def brute_force_holm(pvalues):
    """The smallest level at which the step-down procedure rejects, hypothesis by hypothesis."""
    defined = sorted((p, i) for i, p in enumerate(pvalues) if not np.isnan(p))
    adjusted, highest = [np.nan] * len(pvalues), 0.0
    for rank, (p, i) in enumerate(defined):
        highest = max(highest, (len(defined) - rank) * p)
        adjusted[i] = min(1.0, highest)
    return adjusted


@given(PVALUES)
@settings(deadline=None, max_examples=50)
def test_holm_against_brute_force(pvalues):
    adjusted = holm(pvalues)
    np.testing.assert_allclose(adjusted, brute_force_holm(pvalues), rtol=1e-12)
    np.testing.assert_array_equal(np.isnan(adjusted), np.isnan(pvalues))
    assert (adjusted >= pvalues)[~np.isnan(pvalues)].all()


@given(PVALUES, st.floats(0.001, 0.999))
@settings(deadline=None, max_examples=50)
def test_holm_agrees_with_the_step_down_procedure(pvalues, alpha):
    tests = np.sort(pvalues[~np.isnan(pvalues)])
    rejected = 0
    while rejected < tests.size and tests[rejected] * (tests.size - rejected) <= alpha:
        rejected += 1
    assert np.sum(holm(pvalues) <= alpha) == rejected


@given(PVALUES)
@settings(deadline=None, max_examples=50)
def test_benjamini_hochberg_against_scipy(pvalues):
    defined = ~np.isnan(pvalues)
    adjusted = benjamini_hochberg(pvalues)
    np.testing.assert_array_equal(np.isnan(adjusted), ~defined)
    if defined.any():
        np.testing.assert_allclose(adjusted[defined], scipy.stats.false_discovery_control(pvalues[defined]), rtol=1e-12)


@given(PVALUES, st.floats(0.001, 0.999))
@settings(deadline=None, max_examples=50)
def test_benjamini_hochberg_agrees_with_the_step_up_procedure(pvalues, alpha):
    tests = np.sort(pvalues[~np.isnan(pvalues)])
    passed = [k for k in range(1, tests.size + 1) if tests[k - 1] * tests.size / k <= alpha]
    assert np.sum(benjamini_hochberg(pvalues) <= alpha) == max(passed, default=0)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_adjustments_keep_shapes_and_refuse_invalid_pvalues(adjust, random_generator):
    pvalues = random_generator.random((3, 4))
    np.testing.assert_array_equal(adjust(pvalues), adjust(pvalues.ravel()).reshape(3, 4))
    assert adjust(0.3).shape == ()
    assert float(adjust(0.3)) == 0.3
    assert adjust([]).shape == (0,)
    with refuses("pvalues", "range", got=r"index \(1,\) has 1.5"):
        adjust([0.5, 1.5])


# -------------------------------------------------------------------------------------------------------- shaffer


def partitions(items):
    """All partitions of a list into blocks."""
    if not items:
        yield []
        return
    first, *rest = items
    for k in range(len(rest) + 1):
        for others in itertools.combinations(rest, k):
            for more in partitions([x for x in rest if x not in others]):
                yield [[first, *others], *more]


def equal_pairs(blocks):
    return {pair for block in blocks for pair in itertools.combinations(sorted(block), 2)}


@pytest.mark.parametrize("j", [2, 3, 4, 5, 6])
def test_shaffer_against_brute_force_over_partitions(j, random_generator):
    counts = {len(equal_pairs(blocks)) for blocks in partitions(list(range(j)))}
    m = j * (j - 1) // 2
    for p in (random_generator.random(m), random_generator.random(m) ** 4, np.zeros(m), np.full(m, 0.02)):
        highest, expected = 0.0, np.empty(m)
        for i, k in enumerate(np.argsort(p)):
            most = max(t for t in counts if t <= m - i)
            highest = expected[k] = max(highest, min(1.0, most * p[k]))
        np.testing.assert_allclose(shaffer(p), expected, rtol=1e-12)


@pytest.mark.parametrize("j", [3, 4, 5])
def test_shaffer_is_between_the_closure_of_bonferroni_tests_and_holm(j, random_generator):
    """A hypothesis may be rejected if every partition with this pair equal is; the closure holds the family-wise error."""
    truths = [pairs for pairs in map(equal_pairs, partitions(list(range(j)))) if pairs]
    pairs = list(itertools.combinations(range(j), 2))
    for _ in range(10):
        p = dict(zip(pairs, random_generator.random(len(pairs)) ** 3, strict=True))
        adjusted = dict(zip(pairs, shaffer(list(p.values())), strict=True))
        for pair, by_holm in zip(pairs, holm(list(p.values())), strict=True):
            closed = max(min(1.0, len(true) * min(p[q] for q in true)) for true in truths if pair in true)
            assert closed - 1e-12 <= adjusted[pair] <= by_holm + 1e-12


def test_shaffer_takes_tables_and_leaves_out_pairs_without_a_test(random_generator):
    p = random_generator.random(45) ** 3
    table = np.zeros((10, 10))
    table[np.triu_indices(10, 1)] = p
    table += table.T
    found = shaffer(table)
    assert np.isnan(found.diagonal()).all()
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(found[np.triu_indices(10, 1)], shaffer(p))
    # of three pairs of four means, all three can be equal; without constraints this is Holm
    assert shaffer([0.01, np.nan, np.nan, 0.03, np.nan, 0.02])[[0, 3, 5]] == pytest.approx(holm([0.01, 0.03, 0.02]))
    assert np.isnan(shaffer([0.01, np.nan, np.nan])[1:]).all()
    assert shaffer([0.01, np.nan, np.nan])[0] == 0.01
    assert shaffer([]).shape == (0,)
    assert np.isnan(shaffer([[0.5]])).all()


def test_shaffer_of_sixty_means():
    m = 60 * 59 // 2
    adjusted = shaffer(np.full(m, 1e-5))
    assert adjusted == pytest.approx(m * 1e-5)
    p = np.r_[np.geomspace(1e-300, 1e-8, m - 1), 0.3]
    steps = shaffer(p) / p
    assert steps[0] == pytest.approx(m)
    assert steps[1] == pytest.approx(59 * 58 / 2)  # one mean differs from 59 equal ones
    assert steps[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("pvalues", "code", "got"),
    [
        ([0.1, 0.2], "shape", "got 2 values"),
        (np.zeros((2, 3)), "shape", r"got shape \(2, 3\)"),
        ([[0.0, 0.1], [0.2, 0.0]], "mismatch", ""),
        ([0.1, 1.5, 0.2], "range", "1.5"),
        ("x", "type", "str"),
    ],
)
def test_other_than_pairs_are_refused(pvalues, code, got):
    with refuses("pvalues", code, got=got):
        shaffer(pvalues)


def test_the_factor_of_shaffer_is_the_threshold_of_a_pair_that_is_not_rejected():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(6) ** 3
        factor = shaffer_factor(p, 0.05)
        for k in np.flatnonzero(shaffer(p) > 0.05):
            below, above = p.copy(), p.copy()
            below[k], above[k] = 0.05 / factor * (1 - 1e-9), 0.05 / factor * (1 + 1e-6)
            assert shaffer(below)[k] <= 0.05 < shaffer(above)[k]
    assert shaffer_factor([0.001, 0.002, 0.003], 0.05) == 1
