"""Epistemic gain: gains, correlation, EECE and delay, against brute force, plain loops and closed-form worlds."""

import itertools
from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.metrics.gain_worlds import GROUPS, skewed, zero_one
from tests.notes import codes, said
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics import (
    GAIN_LOSSES,
    delay_curve,
    delay_curve_of_gains,
    epistemic_correlation_score,
    gain,
    true_uncertainty,
)
from uqassay.metrics.epistemic_gain import (
    checked_edges,
    debiased_square,
    epistemic_calibration_error,
    gain_bins,
    gain_null,
    mapped_calibration_error,
    place_in_intervals,
)
from uqassay.notes import reason
from uqassay.statistics import matched_difference_interval, spearman_estimate
from uqassay.statistics.units import make_units

# The gain from more data and the uncertainties under known label probabilities.

seeds = st.integers(0, 2**32 - 1)


def random_probs(rng, n, k):
    return rng.dirichlet(np.ones(k), n)


@pytest.mark.parametrize("loss", GAIN_LOSSES)
@settings(deadline=None, max_examples=20)
@given(seed=seeds, k=st.integers(2, 6))
def test_gain_against_brute_force(loss, seed, k):
    rng = np.random.default_rng(seed)
    y, before, after = rng.integers(k, size=15), random_probs(rng, 15, k), random_probs(rng, 15, k)

    def loss_of(p, label):
        if loss == "zero-one":
            return float(p.argmax() != label)
        return -np.log(p[label]) if loss == "log" else sum((p[c] - (c == label)) ** 2 for c in range(k))

    expected = [loss_of(b, label) - loss_of(a, label) for b, a, label in zip(before, after, y, strict=True)]
    np.testing.assert_allclose(gain(y, before, after, loss=loss), expected, atol=1e-12)


def test_predicted_labels_and_predictions_agree():
    rng = np.random.default_rng(0)
    y, before, after = rng.integers(4, size=50), random_probs(rng, 50, 4), random_probs(rng, 50, 4)
    expected = gain(y, before, after)
    assert set(expected) <= {-1.0, 0.0, 1.0}
    np.testing.assert_array_equal(gain(y, before.argmax(1), after.argmax(1)), expected)
    np.testing.assert_array_equal(gain(y, before.argmax(1), after), expected)
    np.testing.assert_array_equal(gain(y, before, after.argmax(1)), expected)
    members = uq.Members(np.stack([before, before], axis=1))
    np.testing.assert_array_equal(gain(y, members, uq.Point(after)), expected)


def test_names_of_classes():
    before = uq.Point([[0.9, 0.1], [0.2, 0.8]], class_names=("cat", "dog"))
    assert gain(["cat", "cat"], before, ["cat", "cat"]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("loss", GAIN_LOSSES)
def test_label_distributions_give_the_expected_gain(loss):
    """Of the zero-one and the log loss; the Brier loss differs by the same constant before and after."""
    rng = np.random.default_rng(1)
    votes, before, after = rng.integers(1, 9, (20, 3)), random_probs(rng, 20, 3), random_probs(rng, 20, 3)
    shares = votes / votes.sum(axis=1, keepdims=True)
    by_label = np.stack([gain(np.full(20, c), before, after, loss=loss) for c in range(3)], axis=1)
    np.testing.assert_allclose(gain(votes, before, after, loss=loss), (shares * by_label).sum(axis=1), atol=1e-12)
    if loss == "zero-one":
        np.testing.assert_allclose(gain(votes, before.argmax(1), after.argmax(1)), (shares * by_label).sum(axis=1))


def test_logarithms_share_one_floor():
    """The same zero in float32 and float64 is no gain."""
    zero = np.array([[0.0, 1.0]])
    assert gain([0], zero.astype(np.float32), zero, loss="log").tolist() == [0.0]


def test_exchange_changes_the_sign():
    rng = np.random.default_rng(2)
    y, before, after = rng.integers(3, size=30), random_probs(rng, 30, 3), random_probs(rng, 30, 3)
    for loss in GAIN_LOSSES:
        np.testing.assert_array_equal(gain(y, before, after, loss=loss), -gain(y, after, before, loss=loss))


# -- true uncertainty --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", GAIN_LOSSES)
@settings(deadline=None, max_examples=20)
@given(seed=seeds, k=st.integers(2, 6))
def test_true_uncertainty_against_expected_losses(loss, seed, k):
    rng = np.random.default_rng(seed)
    true, predicted = random_probs(rng, 12, k), random_probs(rng, 12, k)
    found = true_uncertainty(true, predicted, loss=loss)
    np.testing.assert_array_equal(found.total, found.aleatoric + found.epistemic)
    assert (found.epistemic >= 0).all()
    best = true  # P(y|x) is the best prediction under each of the three losses
    gains = np.stack([gain(np.full(12, c), predicted, best, loss=loss) for c in range(k)], axis=1)
    np.testing.assert_allclose(found.epistemic, (true * gains).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(true_uncertainty(true, true, loss=loss).epistemic, 0.0, atol=1e-12)


@pytest.mark.parametrize("loss", GAIN_LOSSES)
def test_mean_gain_is_the_true_epistemic_uncertainty(loss):
    """A closed-form world: labels drawn from P(y|x), `after` the best prediction."""
    rng = np.random.default_rng(3)
    n = 40_000
    true, predicted = random_probs(rng, n, 3), random_probs(rng, n, 3)
    y = (rng.random((n, 1)) > true.cumsum(axis=1)).sum(axis=1)
    difference = gain(y, predicted, true, loss=loss) - true_uncertainty(true, predicted, loss=loss).epistemic
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(n)


def test_true_uncertainty_of_labels_and_zeros():
    found = true_uncertainty([[1.0, 0.0], [0.5, 0.5]], [1, 0])
    assert (found.aleatoric.tolist(), found.epistemic.tolist()) == ([0.0, 0.5], [1.0, 0.0])
    certain = true_uncertainty([[1.0, 0.0]], [[1.0, 0.0]], loss="log")
    assert (certain.aleatoric.tolist(), certain.epistemic.tolist()) == ([0.0], [0.0])


# -- input -------------------------------------------------------------------------------------------------------------


def test_bad_input():
    p = np.array([[0.5, 0.5], [0.5, 0.5]])
    with refuses("after", "mismatch", got="3"):
        gain([0, 1], p, np.full((2, 3), 1 / 3))
    with refuses("before", "one-column"):
        gain([0, 1], [0, 1], p, loss="log")
    with refuses("before", "range", got="2"):
        gain([0, 1], [0, 2], p)
    with refuses("loss", "choice"):
        gain([0, 1], p, p, loss="hinge")
    with refuses("before", "type"):
        gain([0, 1], None, p)
    with refuses("y_true", "missing"):
        gain(None, [0, 1], [0, 1])
    with refuses("label_probs", "sum"):
        true_uncertainty([[0.5, 0.6]], [0])
    with refuses("label_probs", "shape"):
        true_uncertainty([0.5, 0.5], [0, 1])
    with refuses("predicted", "mismatch"):
        true_uncertainty(p, np.full((2, 3), 1 / 3))
    with refuses("predicted", "range"):
        true_uncertainty(p, [0, 2])


def named_world(rng):
    ids, names = [f"case {i}" for i in range(40)], ["a", "b", "c"]
    before, after = (pd.DataFrame(rng.dirichlet(np.ones(3), 40), index=ids, columns=names) for _ in range(2))
    return pd.Series(rng.choice(names, 40), index=ids), before, after


@pytest.mark.parametrize("loss", GAIN_LOSSES)
def test_rows_and_classes_follow_their_names(random_generator, loss):
    y, before, after = named_world(random_generator)
    codes = y.map({"a": 0, "b": 1, "c": 2}).to_numpy()
    wanted = gain(codes, before.to_numpy(), after.to_numpy(), loss=loss)
    moved = after.sample(frac=1.0, random_state=1)[["c", "a", "b"]]
    assert gain(y.sample(frac=1.0, random_state=2), before, moved, loss=loss) == pytest.approx(wanted)
    curve = uq.metrics.delay_curve(y, before, moved, pd.Series(np.arange(40.0), index=y.index)[::-1], loss=loss)
    plain = uq.metrics.delay_curve(codes, before.to_numpy(), after.to_numpy(), np.arange(40.0), loss=loss)
    assert curve.gained == pytest.approx(plain.gained)
    assert curve.accuracy == pytest.approx(plain.accuracy)
    with refuses("y_true", "ids"):  # an array beside two orders
        gain(codes, before, moved, loss=loss)
    with refuses("after.class_names", "ids"):
        gain(y, before, after.set_axis(["a", "b", "d"], axis=1), loss=loss)


def test_label_probabilities_follow_their_names(random_generator):
    _, truth, predicted = named_world(random_generator)
    wanted = true_uncertainty(truth.to_numpy(), predicted.to_numpy(), loss="log").epistemic
    moved = truth.sample(frac=1.0, random_state=1)[["b", "c", "a"]]
    assert true_uncertainty(moved, predicted, loss="log").epistemic == pytest.approx(wanted)
    guesses = pd.Series(truth.columns[predicted.to_numpy().argmax(axis=1)], index=truth.index)
    assert true_uncertainty(moved, guesses).total == pytest.approx(
        true_uncertainty(truth.to_numpy(), predicted.to_numpy()).total
    )


# Intervals of the estimates: equal mass with any ties, equal width, and edges that are given.

values = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=1, max_size=60).map(np.array)


def counts(estimates, edges):
    place, outside = place_in_intervals(estimates, edges)
    assert not outside.any()
    return np.bincount(place, minlength=len(edges) - 1)


def by_hand(value, edges):
    """Interval of a value as the docstring says it."""
    last = len(edges) - 2
    for m in range(last + 1):
        if edges[m] <= value < edges[m + 1] or (m == last and value == edges[m + 1]):
            return m
    raise AssertionError(value)


@settings(deadline=None, max_examples=80)
@given(estimates=values, bins=st.integers(1, 30), binning=st.sampled_from(["equal-mass", "equal-width"]))
def test_every_estimate_has_one_interval(estimates, bins, binning):
    edges = gain_bins(estimates, bins, binning)
    assert 1 <= len(edges) - 1 <= bins
    assert (np.diff(edges[:-1]) > 0).all()
    place, _ = place_in_intervals(estimates, edges)
    assert place.tolist() == [by_hand(value, edges) for value in estimates]
    np.testing.assert_array_equal(gain_bins(estimates[::-1], bins, binning), edges)
    np.testing.assert_array_equal(checked_edges(edges), edges)
    if binning == "equal-mass":
        assert (counts(estimates, edges) > 0).all()


def test_equal_mass_without_ties_divides_evenly():
    rng = np.random.default_rng(0)
    for n, bins in ((200, 20), (203, 20), (5, 20), (1, 20)):
        estimates = rng.random(n)
        found = counts(estimates, gain_bins(estimates, bins))
        assert found.max() - found.min() <= 1
        assert len(found) == min(n, bins)


def test_mostly_tied_estimates():
    """The 90 % of equal estimates share one interval, wherever they lie."""
    rest = np.linspace(0.1, 0.9, 10)
    low, high = np.concatenate([np.zeros(90), rest]), np.concatenate([np.ones(90), rest])
    assert counts(low, gain_bins(low)).tolist() == [90, 5, 5]
    assert counts(high, gain_bins(high)).tolist() == [5, 5, 90]
    assert gain_bins(high)[-2:].tolist() == [1.0, 1.0]


def test_one_value_is_one_interval():
    assert gain_bins([0.3] * 5).tolist() == [0.3, 0.3]
    assert gain_bins([0.3] * 5, 4, "equal-width").tolist() == [0.3, 0.3]
    assert counts(np.array([0.3]), np.array([0.3, 0.3])).tolist() == [1]


def test_equal_width_covers_the_range():
    edges = gain_bins([-0.2, 0.0, 0.8], 5, "equal-width")
    np.testing.assert_allclose(edges, [-0.2, 0.0, 0.2, 0.4, 0.6, 0.8])
    tight = gain_bins([1.0, np.nextafter(1.0, 2)], 20, "equal-width")
    assert counts(np.array([1.0, np.nextafter(1.0, 2)]), tight).sum() == 2


def test_outside_values_are_in_the_outer_intervals():
    place, outside = place_in_intervals(np.array([-1.0, 0.0, 0.5, 1.0, 2.0]), np.array([0.0, 0.5, 1.0]))
    assert place.tolist() == [0, 0, 1, 1, 1]
    assert outside.tolist() == [True, False, False, False, True]


def test_bad_edges():
    for bins in (0, 2.5, True, None, 10**6):
        with refuses("bins", "range" if bins in (0, 10**6) else "type"):
            gain_bins([0.1, 0.2], bins)
    with refuses("binning", "choice"):
        gain_bins([0.1, 0.2], 2, "width")
    with refuses("epistemic", "finite", got="row 1"):
        gain_bins([0.1, np.inf])
    with refuses("epistemic", "finite"):
        gain_bins([0.1, np.nan])
    for edges in ([0.5], [0.5, 0.1], [0.0, 0.0, 1.0], [0.0, np.inf, np.inf]):
        with refuses("bins", "range"):
            checked_edges(edges)
    assert checked_edges([-np.inf, 0.5, np.inf]).size == 3


# Parts of the EECE: mean gains with intervals, and the unbiased square, against plain loops over pairs.


@pytest.mark.parametrize("grouped", [False, True])
def test_debiased_square_against_pairs_of_instances(grouped):
    g = np.random.default_rng(1)
    deviation, place = g.normal(size=24), np.sort(g.integers(0, 3, 24))
    groups = g.integers(0, 8, 24) if grouped else np.arange(24)
    expected = 0.0
    for m in range(3):
        rows = np.flatnonzero(place == m)
        pairs = [deviation[i] * deviation[j] for i, j in itertools.permutations(rows, 2) if groups[i] != groups[j]]
        expected += len(rows) / 24 * np.mean(pairs)
    units = make_units(24, groups if grouped else None, None)
    assert debiased_square(deviation, place, units) == pytest.approx(expected, abs=1e-12)


def test_debiased_square_has_no_bias_over_all_outcomes():
    # two bins of two gains in {0, 1} with P(1) = .3 and .8; estimates .1 and .9
    place, estimate, rate = np.array([0, 0, 1, 1]), np.array([0.1, 0.1, 0.9, 0.9]), np.array([0.3, 0.3, 0.8, 0.8])
    mean = 0.0
    for outcome in itertools.product((0.0, 1.0), repeat=4):
        gain = np.array(outcome)
        chance = np.where(gain == 1, rate, 1 - rate).prod()
        mean += chance * debiased_square(gain - estimate, place, make_units(4, None, None))
    assert mean == pytest.approx(((rate - estimate) ** 2).mean(), abs=1e-12)


def test_mapped_estimates_that_are_all_equal_keep_the_intervals():
    g = np.random.default_rng(2)
    estimate = g.random(400)
    gain = (g.random(400) < estimate).astype(float)
    raw = epistemic_calibration_error(gain, estimate, bins=4)
    found = mapped_calibration_error(gain, np.full(400, 0.5), estimate, edges=raw.edges)
    np.testing.assert_array_equal(found.count, raw.count)
    np.testing.assert_allclose(found.mean_gain, raw.mean_gain)
    assert float(found.error) == pytest.approx(np.abs(raw.mean_gain - 0.5).mean())
    same = mapped_calibration_error(gain, estimate, estimate, edges=raw.edges)
    assert float(same.error) == float(raw.error)
    assert same.pvalue == raw.pvalue


# Deviations of calibrated estimates: rates, variances, groups and draws.


def null_of(drawn, bins=5):
    place, _ = place_in_intervals(drawn.epistemic, gain_bins(drawn.epistemic, bins))
    return gain_null(drawn.gain, drawn.epistemic, place, make_units(drawn.gain.size, drawn.groups, None)), place


def test_rates_are_estimated_from_the_gains():
    """The mean estimate is the same; the rates of ±1 are not."""
    rng = np.random.default_rng(0)
    for changes in (1.0, 3.0, 8.0):
        null, _ = null_of(zero_one(rng, 50_000, mean=0.03, changes=changes))
        drawn = zero_one(rng, 50_000, mean=0.03, changes=changes)
        p, q = null.rates
        n = null.count
        assert float(n @ (p - q)) / 50_000 == pytest.approx(drawn.true.mean(), rel=0.05)
        assert float(n @ (p + q)) / 50_000 == pytest.approx(np.abs(drawn.gain).mean(), rel=0.1)


@pytest.mark.parametrize("world", [zero_one, skewed])
def test_variances_are_those_of_the_world(world):
    rng = np.random.default_rng(1)
    drawn = world(rng, 40_000)
    null, place = null_of(drawn)
    true = np.bincount(place, (drawn.gain - drawn.true) ** 2) / np.bincount(place)
    np.testing.assert_allclose(null.variance, true, rtol=0.15)
    np.testing.assert_allclose(null.own_variance, true, rtol=0.15)
    draws = null.draws(20_000, rng)
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=4 * draws.std(axis=0).max() / np.sqrt(20_000))
    np.testing.assert_allclose(draws.var(axis=0), null.variance / null.count, rtol=0.1)


def test_own_variance_leaves_the_null_where_it_is_false():
    """Estimates of .5 where 2 of 100 gains are 1: the variance is .02 and not .25."""
    gain = np.zeros(1000)
    gain[:20] = 1.0
    null = gain_null(gain, np.full(1000, 0.5), np.zeros(1000, dtype=np.intp), make_units(1000, None, None))
    assert null.variance[0] == pytest.approx(0.25)
    assert null.own_variance[0] == pytest.approx(0.0196, rel=0.01)


def test_groups_correlate_the_bins():
    rng = np.random.default_rng(2)
    drawn = zero_one(rng, 20_000, mean=0.2, groups=GROUPS)
    null, _ = null_of(drawn)
    assert 0.02 < null.correlation < 0.3
    assert (null.design_effect > 1).all()
    draws = null.draws(20_000, rng)
    assert 20 < null.dof < 35  # of 50 groups of unequal sizes
    alone = null.variance / null.count * (1 - null.in_bins)
    expected = null.variance / null.count * null.design_effect - alone
    np.testing.assert_allclose(draws.var(axis=0), alone + expected * null.dof / (null.dof - 2), rtol=0.1)
    assert np.corrcoef(draws.T)[0, 1] > 0.2
    alone, _ = null_of(zero_one(rng, 20_000, mean=0.2))
    assert alone.correlation == 0.0


def test_bins_of_one_instance_and_estimates_beyond_1():
    gain, epistemic = np.array([1.0, 0.0, 0.0]), np.array([1.7, 0.2, 0.3])
    null = gain_null(gain, epistemic, np.arange(3), make_units(3, None, None))
    assert np.isfinite(null.draws(10, np.random.default_rng(0))).all()
    assert null.variance[0] == 0.0
    assert np.isfinite(null.standard_error).all()


def test_rare_gains_of_groups_are_skewed_and_of_the_stated_covariance():
    """A group's instances of P(+1) = .02 mostly have no gain together; rarely all of them have one."""
    rng = np.random.default_rng(3)
    n, groups = 4000, np.repeat(np.arange(40), 100)
    gain = (rng.random(40) < 0.1)[groups].astype(float)
    place = np.arange(n) % 2
    null = gain_null(gain, np.where(place, 0.08, 0.02), place, make_units(n, groups, None))
    assert null.correlation > 0.8
    draws = replace(null, dof=1e9).draws(40_000, rng)
    expected = null.together / 40 + np.diag((null.variance - np.diag(null.together)) / 2000)
    np.testing.assert_allclose(np.cov(draws.T), expected, rtol=0.05)
    third = (null.levels**3).mean(axis=1) / 40**2
    skewness = third / np.diag(expected) ** 1.5
    np.testing.assert_allclose(((draws / draws.std(axis=0)) ** 3).mean(axis=0), skewness, atol=0.1)
    assert skewness[1] > 0.3


def test_normal_scores_against_the_bivariate_normal_distribution():
    rng = np.random.default_rng(5)
    null, _ = null_of(zero_one(rng, 5000, mean=0.2, groups=GROUPS))
    p, q = (rate[-2:] for rate in null.rates)
    both = stats.multivariate_normal(cov=[[1, null.correlation], [null.correlation, 1]])
    opposite = stats.multivariate_normal(cov=[[1, -null.correlation], [-null.correlation, 1]])
    a, b = stats.norm.ppf(p), stats.norm.ppf(q)
    expected = both.cdf(a) + both.cdf(b) - opposite.cdf([a[0], b[1]]) - opposite.cdf([b[0], a[1]])
    assert null.together[-2, -1] == pytest.approx(expected - (p - q).prod(), rel=0.02)


@pytest.mark.parametrize("world", [zero_one, skewed])
def test_the_correlation_is_not_lost_where_groups_are_few(world):
    """The mean of few groups moves with them; the estimate allows for it."""
    rng, found = np.random.default_rng(4), []
    for _ in range(60):
        drawn = world(rng, 2000, mean=0.2, groups=6)
        found.append(null_of(drawn)[0].correlation)
    many, _ = null_of(world(rng, 100_000, mean=0.2, groups=2000))
    assert np.mean(found) == pytest.approx(many.correlation, abs=4 * np.std(found) / np.sqrt(60))


def test_effective_number_of_groups_with_gains():
    groups = np.repeat(np.arange(10), 10)
    gain = np.zeros(100)
    gain[[0, 1, 10, 11]] = 1.0
    assert gain_null(gain, gain / 2, groups * 0, make_units(100, groups, None)).spread == pytest.approx(2.0)
    assert gain_null(gain, gain / 2, groups * 0, make_units(100, None, None)).spread == np.inf
    assert gain_null(gain * 0, gain / 2, groups * 0, make_units(100, groups, None)).spread == 0.0


# Epistemic correlation: Spearman's ρ of estimates and gains, with its notes.


def test_value_against_scipy():
    drawn = zero_one(np.random.default_rng(0), 3000)
    found = epistemic_correlation_score(drawn.gain, drawn.epistemic)
    assert float(found) == pytest.approx(stats.spearmanr(drawn.epistemic, drawn.gain).statistic)
    assert found.low > 0  # more uncertain cases gain more
    other = spearman_estimate(drawn.epistemic, drawn.gain)
    assert (found.low, found.high) == (other.low, other.high)


def test_shuffled_estimates_have_correlation_0():
    rng = np.random.default_rng(1)
    drawn = zero_one(rng, 3000)
    values = [float(epistemic_correlation_score(drawn.gain, rng.permutation(drawn.epistemic))) for _ in range(100)]
    assert abs(np.mean(values)) < 4 * np.std(values) / 10


def test_greatest_value_against_theory():
    """√(3 p (1 − p)) where a share p of the gains is 1 and they are those of the greatest estimates."""
    gains = np.zeros(20_000)
    gains[-1000:] = 1.0
    assert float(epistemic_correlation_score(gains, np.arange(20_000))) == pytest.approx(
        np.sqrt(3 * 0.05 * 0.95), abs=1e-4
    )


def test_any_monotone_map_of_the_estimates_changes_nothing():
    drawn = zero_one(np.random.default_rng(2), 500, groups=20)
    a = epistemic_correlation_score(drawn.gain, drawn.epistemic, groups=drawn.groups)
    b = epistemic_correlation_score(drawn.gain, np.sqrt(drawn.epistemic) - 3, groups=drawn.groups)
    assert (float(a), a.low, a.high) == (float(b), b.low, b.high)
    alone = epistemic_correlation_score(drawn.gain, drawn.epistemic)
    assert (a.low, a.high) != (alone.low, alone.high)
    assert "groups" in codes(a)


def test_constant_input_is_nan_with_a_reason():
    for gains, estimates, name in (([0, 0, 0], [1, 2, 3], "gain"), ([0, 1, 0], [2, 2, 2], "epistemic")):
        found = epistemic_correlation_score(gains, estimates)
        assert np.isnan([float(found), found.low, found.high]).all()
        assert codes(found) == ["undefined"]
        assert name in said(found)


# EECE (gain), its debiased forms and its test, against brute force and closed-form worlds.


def calibration_by_hand(gains, estimates, edges):
    """Σ n_m |mean gain − mean estimate| with a loop over bins and instances."""
    last, total = len(edges) - 2, 0.0
    for m in range(last + 1):
        inside = [
            i for i, e in enumerate(estimates) if edges[m] <= e < edges[m + 1] or (m == last and e == edges[m + 1])
        ]
        if inside:
            total += len(inside) * abs(np.mean([gains[i] for i in inside]) - np.mean([estimates[i] for i in inside]))
    return total


@settings(deadline=None, max_examples=25)
@given(seed=seeds, n=st.integers(1, 60), levels=st.integers(1, 80), bins=st.integers(1, 25))
def test_error_with_ties_against_brute_force(seed, n, levels, bins):
    rng = np.random.default_rng(seed)
    gains, estimates = rng.integers(-1, 2, n).astype(float), rng.integers(levels, size=n) / 80
    for binning in ("equal-mass", "equal-width"):
        found = epistemic_calibration_error(gains, estimates, bins=bins, binning=binning)
        np.testing.assert_array_equal(found.edges, gain_bins(estimates, bins, binning))
        assert float(found.error) == pytest.approx(calibration_by_hand(gains, estimates, found.edges) / n, abs=1e-12)
        assert found.count.sum() == n
        assert found.n_empty == (found.count == 0).sum()
        order = rng.permutation(n)
        again = epistemic_calibration_error(gains[order], estimates[order], bins=bins, binning=binning)
        assert float(again.error) == pytest.approx(float(found.error), abs=1e-12)


@pytest.mark.parametrize("bins", [1, 7, 20])
def test_printed_normalisation_differs_by_points_over_bins(bins):
    drawn = zero_one(np.random.default_rng(0), 300)
    points, printed = (
        epistemic_calibration_error(drawn.gain, drawn.epistemic, bins=bins, normalisation=name)
        for name in ("points", "printed")
    )
    factor = 300 / points.n_bins
    for name in ("error", "debiased", "null_mean"):
        assert float(getattr(printed, name)) == pytest.approx(factor * float(getattr(points, name)), rel=1e-12)
    assert printed.null_band == pytest.approx([factor * end for end in points.null_band])
    assert printed.pvalue == points.pvalue
    assert float(printed.error) == pytest.approx(calibration_by_hand(drawn.gain, drawn.epistemic, printed.edges) / bins)
    assert (printed.error.low, printed.error.high) == pytest.approx(
        (factor * points.error.low, factor * points.error.high)
    )


def test_closed_form_world_of_labels():
    """Estimates that equal the true EU lie in the null band; halved ones do not."""
    rng = np.random.default_rng(1)
    n = 6000
    p = rng.beta(0.4, 0.4, n)
    true = np.stack([1 - p, p], axis=1)
    predicted = np.where(rng.random(n) < 0.8, true.argmax(1), 1 - true.argmax(1))
    y = (rng.random(n) < p).astype(int)
    eu = true_uncertainty(true, predicted).epistemic
    # EU is not known before `predicted`, so the estimate is its mean given x
    estimate = 0.2 * np.abs(2 * p - 1)
    gains = gain(y, predicted, true.argmax(1))
    assert eu.mean() == pytest.approx(estimate.mean(), abs=0.02)
    right = epistemic_calibration_error(gains, estimate)
    assert right.null_band[0] <= right.error <= right.null_band[1]
    assert not right.reject()
    assert right.debiased.low <= 0 <= right.debiased.high
    half = epistemic_calibration_error(gains, estimate / 2)
    assert half.reject()
    assert half.error > half.null_band[1]
    assert half.debiased.low <= estimate.mean() / 2 <= half.debiased.high


def test_null_band_needs_the_rates_of_both_signs():
    """The same estimates, but more gains of +1 and −1 by chance: the band is wider."""
    rng = np.random.default_rng(2)
    few, many = (zero_one(rng, 2000, changes=changes) for changes in (1.0, 6.0))
    bands = [epistemic_calibration_error(one.gain, one.epistemic).null_band for one in (few, many)]
    assert bands[1][1] > 1.8 * bands[0][1]


def test_debiased_square_against_pairs():
    rng = np.random.default_rng(3)
    drawn = zero_one(rng, 60, mean=0.2)
    groups = rng.integers(12, size=60)
    for codes_of in (np.arange(60), groups):
        found = epistemic_calibration_error(
            drawn.gain, drawn.epistemic, bins=3, groups=None if codes_of is not groups else groups
        )
        place = np.searchsorted(found.edges[1:-1], drawn.epistemic, side="right")
        d, total = drawn.gain - drawn.epistemic, 0.0
        for m in range(3):
            rows = np.flatnonzero(place == m)
            pairs = [d[i] * d[j] for i in rows for j in rows if codes_of[i] != codes_of[j]]
            total += len(rows) / 60 * np.mean(pairs)
        assert found.debiased_square == pytest.approx(total)


def test_intervals_of_the_bins():
    drawn = zero_one(np.random.default_rng(4), 500, mean=0.1)
    found = epistemic_calibration_error(drawn.gain, drawn.epistemic, bins=4)
    place = np.searchsorted(found.edges[1:-1], drawn.epistemic, side="right")
    plus, minus = (np.bincount(place[drawn.gain == sign], minlength=4) for sign in (1, -1))
    low, high = matched_difference_interval(plus, minus, found.count)
    np.testing.assert_allclose((found.gain_low, found.gain_high), (low, high))
    other = skewed(np.random.default_rng(4), 500)
    found = epistemic_calibration_error(other.gain, other.epistemic, bins=1)
    expected = stats.ttest_1samp(other.gain, 0).confidence_interval()
    assert (found.gain_low[0], found.gain_high[0]) == pytest.approx((expected.low, expected.high))


def test_given_edges_and_empty_bins():
    gains, estimates = [0, 1, 0, 1, 0], [0.0, 0.05, 0.9, 0.95, 1.0]
    found = epistemic_calibration_error(gains, estimates, bins=np.linspace(0, 1, 11))
    assert found.binning == "given"
    assert found.count.tolist() == [2, 0, 0, 0, 0, 0, 0, 0, 0, 3]
    assert found.n_empty == 8
    assert np.isnan(found.mean_gain[1:9]).all()
    assert np.isnan(found.gain_low[1:9]).all()
    assert "left-out" in codes(found)
    assert float(found.error) == pytest.approx((2 * abs(0.5 - 0.025) + 3 * abs(1 / 3 - 0.95)) / 5)
    printed = epistemic_calibration_error(gains, estimates, bins=np.linspace(0, 1, 11), normalisation="printed")
    assert float(printed.error) == pytest.approx(float(found.error) * 5 / 10)  # M counts the empty bins
    open_ended = epistemic_calibration_error(gains, estimates, bins=[-np.inf, 0.5, np.inf])
    assert open_ended.count.tolist() == [2, 3]


# -- odd input ---------------------------------------------------------------------------------------------------------


def test_constant_estimates_are_one_bin():
    found = epistemic_calibration_error([0, 1, 0, 0], [0.25] * 4)
    assert found.n_bins == 1
    assert float(found.error) == 0.0
    assert found.pvalue == 1.0
    assert "constant-scores" in codes(found)


def test_one_instance_and_one_group():
    found = epistemic_calibration_error([1], [0.3])
    assert float(found.error) == pytest.approx(0.7)
    assert np.isnan([found.error.low, found.debiased.high, found.pvalue, *found.null_band]).all()
    assert not found.reject()
    assert "no-interval" in codes(found)
    alone = epistemic_calibration_error([1, 0, 0], [0.1, 0.2, 0.3], groups=["a"] * 3)
    assert np.isnan(alone.pvalue)


def test_gains_of_few_groups_give_no_test():
    """Forty gains in two of ten groups are two events."""
    groups = np.repeat(np.arange(10), 20)
    gains = np.where(groups < 2, 1.0, 0.0)
    found = epistemic_calibration_error(gains, np.linspace(0.01, 0.1, 200), groups=groups)
    assert np.isnan([found.pvalue, found.null_mean, *found.null_band]).all()
    assert not found.reject()
    assert "they count like 2.0" in reason(found.notes)
    assert np.isfinite([found.error.high, found.debiased.high]).all()
    spread = epistemic_calibration_error(
        np.where(np.arange(200) % 20 == 0, 1.0, 0.0), np.full(200, 0.05), groups=groups
    )
    assert spread.pvalue > 0.5


def test_estimates_above_1_cannot_be_calibrated():
    """Entropies in bits of many classes."""
    found = epistemic_calibration_error(np.ones(40), np.full(40, 2.0))
    assert float(found.error) == pytest.approx(1.0)
    assert found.pvalue < 0.01
    assert "edge" in codes(found)


def test_no_gain_at_all():
    found = epistemic_calibration_error(np.zeros(100), np.full(100, 0.01))
    assert float(found.error) == pytest.approx(0.01)
    assert not found.reject()  # 0 of 100 is possible with P(+1) = .01
    assert "none" in codes(found)
    assert epistemic_calibration_error(np.zeros(2000), np.full(2000, 0.01)).reject()


def test_same_seed_same_numbers_and_levels():
    drawn = zero_one(np.random.default_rng(5), 400)
    a, b = (epistemic_calibration_error(drawn.gain, drawn.epistemic, rng=3) for _ in range(2))
    assert (a.null_band, a.pvalue) == (b.null_band, b.pvalue)
    narrow = epistemic_calibration_error(drawn.gain, drawn.epistemic, level=0.5)
    assert narrow.error.high < a.error.high
    assert narrow.null_band[1] < a.null_band[1]


def test_bad_input_of_the_calibration_error():
    with refuses("gain", "finite"):
        epistemic_calibration_error([0, np.inf], [0.1, 0.2])
    with refuses("epistemic", "range", got="row 1 is 1.2"):
        epistemic_calibration_error([0, 1], [0.1, 1.2], bins=np.linspace(0, 1, 21))
    with refuses("bins", "range"):
        epistemic_calibration_error([0, 1], [0.1, 0.2], bins=0)
    with refuses("bins", "type"):
        epistemic_calibration_error([0, 1], [0.1, 0.2], bins=None)
    with refuses("normalisation", "choice"):
        epistemic_calibration_error([0, 1], [0.1, 0.2], normalisation="bins")
    with refuses("binning", "choice"):
        epistemic_calibration_error([0, 1], [0.1, 0.2], binning="mass")


# Delay curve against brute force over all orders of tied cases, and in closed-form worlds.


def expected_gain(gains, estimates, k):
    """Mean over all orders of the cases of the gain if the first k wait, sorted by estimate with that order of ties."""
    n = len(gains)
    found = []
    for order in permutations(range(n)):
        ranked = sorted(order, key=lambda i: -estimates[i])
        found.append(sum(gains[i] for i in ranked[:k]) / n)
    return np.mean(found)


@settings(deadline=None, max_examples=15)
@given(seed=seeds, n=st.integers(1, 6), levels=st.integers(1, 4))
def test_curve_with_ties_against_brute_force(seed, n, levels):
    rng = np.random.default_rng(seed)
    gains, estimates = rng.integers(-1, 2, n).astype(float), rng.integers(levels, size=n).astype(float)
    curve = delay_curve_of_gains(gains, estimates, shares=np.arange(n + 1) / n)
    expected = [expected_gain(gains, estimates, k) for k in range(n + 1)]
    np.testing.assert_allclose(curve.gained, expected, atol=1e-12)
    np.testing.assert_allclose(curve.random, np.arange(n + 1) / n * gains.mean(), atol=1e-12)


def test_accuracy_is_that_of_the_answers_given():
    rng = np.random.default_rng(0)
    n, k = 200, 4
    y, before, after = rng.integers(k, size=n), rng.dirichlet(np.ones(k), n), rng.dirichlet(np.ones(k), n)
    estimates = rng.permutation(n).astype(float)
    for loss in ("zero-one", "log", "brier"):
        curve = delay_curve(y, before, after, estimates, loss=loss)
        assert len(curve.shares) == 21
        for share, accuracy, gained in zip(curve.shares, curve.accuracy, curve.gained, strict=True):
            waits = estimates >= n - round(share * n)
            assert accuracy == pytest.approx(np.mean(np.where(waits, after.argmax(1), before.argmax(1)) == y))
            assert gained == pytest.approx((gain(y, before, after, loss=loss) * waits).mean())
    labels = delay_curve(y, before.argmax(1), after.argmax(1), estimates)
    np.testing.assert_allclose(labels.accuracy - labels.accuracy[0], labels.gained, atol=1e-12)


def test_order_of_rows_and_relabelling_change_nothing():
    rng = np.random.default_rng(1)
    drawn = zero_one(rng, 300, levels=5, groups=30)
    order = rng.permutation(300)
    a = delay_curve_of_gains(drawn.gain, drawn.epistemic, groups=drawn.groups)
    b = delay_curve_of_gains(drawn.gain[order], drawn.epistemic[order] * 7 - 1, groups=drawn.groups[order])
    for name in ("gained", "low", "high", "random"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-9)


def test_ends_of_the_curve():
    drawn = zero_one(np.random.default_rng(2), 400)
    curve = delay_curve_of_gains(drawn.gain, drawn.epistemic)
    assert (curve.gained[0], curve.low[0], curve.high[0]) == (0.0, 0.0, 0.0)
    assert curve.gained[-1] == pytest.approx(drawn.gain.mean())
    # if all wait, nothing depends on the threshold: Tango's interval of the mean gain
    plus, minus = (drawn.gain == 1).sum(), (drawn.gain == -1).sum()
    low, high = matched_difference_interval(plus, minus, 400)
    assert (curve.low[-1], curve.high[-1]) == pytest.approx((float(low), float(high)), rel=0.02)
    everyone = curve.above_random(1.0)
    assert float(everyone) == pytest.approx(0.0, abs=1e-12)


def test_estimates_beat_a_random_choice_and_constant_ones_equal_it():
    drawn = zero_one(np.random.default_rng(3), 5000)
    good = delay_curve_of_gains(drawn.gain, drawn.epistemic)
    assert good.above_random(0.2).low > 0
    assert float(good.above_random(0.2)) == pytest.approx(good.at(0.2) - 0.2 * drawn.gain.mean())
    constant = delay_curve_of_gains(drawn.gain, np.zeros(5000))
    np.testing.assert_allclose(constant.gained, constant.random, atol=1e-12)
    assert "constant-scores" in codes(constant)
    assert float(constant.above_random(0.3)) == pytest.approx(0.0, abs=1e-12)
    worst = delay_curve_of_gains(drawn.gain, -drawn.epistemic)
    assert worst.above_random(0.2).high < 0


@pytest.mark.parametrize("world", [zero_one, skewed])
def test_standard_error_against_the_bootstrap(world):
    rng = np.random.default_rng(4)
    drawn = world(rng, 2000, mean=0.15)
    curve = delay_curve_of_gains(drawn.gain, drawn.epistemic, shares=[0.3])
    draws = []
    for _ in range(150):
        rows = rng.integers(2000, size=2000)
        draws.append(delay_curve_of_gains(drawn.gain[rows], drawn.epistemic[rows], shares=[0.3]).gained[0])
    assert curve.high[0] - curve.low[0] == pytest.approx(2 * 1.96 * np.std(draws), rel=0.25)


def test_few_gains_have_an_interval():
    curve = delay_curve_of_gains(np.zeros(100), np.arange(100.0), shares=[0.5])
    assert curve.low[0] < 0 < curve.high[0]
    assert "none" in codes(curve)
    one = np.zeros(100)
    one[99] = 1.0
    assert "few" in codes(delay_curve_of_gains(one, np.arange(100.0)))


def test_one_case_and_one_group_have_no_interval():
    for curve in (
        delay_curve_of_gains([1], [0.5], shares=[1.0]),
        delay_curve_of_gains([1, 0], [0.5, 0.1], shares=[0.5], groups=["a", "a"]),
    ):
        assert np.isnan([curve.low[0], curve.high[0]]).all()
        assert "no-interval" in codes(curve.at(1.0))
        assert np.isnan(curve.above_random(0.5).low)


def test_accuracy_is_nan_where_predictions_are_unknown():
    assert np.isnan(delay_curve_of_gains([0, 1], [0.1, 0.2]).accuracy).all()


def test_bad_input_of_the_delay_curve():
    for share in (-0.1, 1.1, np.nan):
        with refuses("share", "range"):
            delay_curve_of_gains([0, 1], [0.1, 0.2]).at(share)
    with refuses("share", "range"):
        delay_curve_of_gains([0, 1], [0.1, 0.2]).above_random(2)
    with refuses("shares", "range"):
        delay_curve_of_gains([0, 1], [0.1, 0.2], shares=[0.5, 1.5])
    with refuses("epistemic", "finite"):
        delay_curve_of_gains([0, 1], [0.1, np.inf])
    with refuses("correct_before", "mismatch"):
        delay_curve_of_gains([0, 1], [0.1, 0.2], correct_before=[1])
