"""Calibration of uncertainty scores: the isotonic map, bins, the band and its coverage."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from tests.refusals import refuses

from uqassay.metrics import reliability, score_calibration
from uqassay.metrics.calibration import error_estimate_of_hits


def random_case(seed, n=200, levels=None):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    if levels:
        p = np.floor(p * levels) / levels
    return (rng.random(n) < p**2).astype(float), 10 * p - 3


def best_rising(errors, uncertainty, weights):
    """The least squared distance of all maps that do not fall: max-min formula over the distinct scores."""
    s = np.unique(uncertainty)
    sums = np.array([[(weights * x)[uncertainty == one].sum() for one in s] for x in (errors, np.ones(len(errors)))])

    def mean(a, b):
        return sums[0, a : b + 1].sum() / sums[1, a : b + 1].sum()

    return [max(min(mean(a, b) for b in range(i, s.size)) for a in range(i + 1)) for i in range(s.size)]


@pytest.mark.parametrize("levels", [None, 6, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_map_against_brute_force_and_scikit_learn(levels, weighted):
    errors, uncertainty = random_case(1, n=40, levels=levels)
    weights = np.random.default_rng(2).integers(1, 5, 40) / 2 if weighted else np.ones(40)
    found = score_calibration(errors, uncertainty, sample_weight=weights if weighted else None)
    np.testing.assert_array_equal(found.scores, np.unique(uncertainty))
    np.testing.assert_allclose(found.isotonic, best_rising(errors, uncertainty, weights), atol=1e-12)
    peer = IsotonicRegression().fit(uncertainty, errors, sample_weight=weights)
    np.testing.assert_allclose(found.predict(uncertainty), peer.predict(uncertainty), atol=1e-7)


@pytest.mark.parametrize("levels", [None, 7])
def test_bins_are_those_of_the_reliability_diagram(levels):
    rng = np.random.default_rng(3)
    stated = rng.random(300) if levels is None else rng.integers(0, levels, 300) / levels
    errors = (rng.random(300) < stated).astype(float)
    found = score_calibration(errors, stated, n_bins=1)
    one = reliability(errors, stated, n_bins=1)
    for a, b in (
        ("rate", "accuracy"),
        ("low", "low"),
        ("high", "high"),
        ("band_low", "band_low"),
        ("band_high", "band_high"),
    ):
        np.testing.assert_allclose(getattr(found, a), getattr(one, b), atol=1e-12)
    found = score_calibration(errors, stated, n_bins=5)
    order = np.sort(stated)
    starts = np.unique(order[[0, 60, 120, 180, 240]])
    np.testing.assert_array_equal(found.least, starts)
    place = np.searchsorted(starts, stated, side="right") - 1
    np.testing.assert_array_equal(found.count, np.bincount(place))
    np.testing.assert_allclose(found.rate, [errors[place == b].mean() for b in range(starts.size)])
    np.testing.assert_array_equal(found.greatest, [stated[place == b].max() for b in range(starts.size)])
    np.testing.assert_allclose(found.predict(stated, by="bins"), found.rate[place])


def test_only_the_order_of_the_scores_matters():
    errors, uncertainty = random_case(4, levels=30)
    first, scale = score_calibration(errors, uncertainty), np.exp(uncertainty)
    infinite = np.where(uncertainty == uncertainty.max(), np.inf, scale)
    infinite = np.where(uncertainty == uncertainty.min(), -np.inf, infinite)
    for other in (scale, infinite):
        found = score_calibration(errors, other)
        for name in ("count", "rate", "low", "high", "band_low", "band_high", "isotonic"):
            np.testing.assert_array_equal(getattr(found, name), getattr(first, name))
        np.testing.assert_array_equal(found.predict(other), first.predict(uncertainty))
        np.testing.assert_array_equal(found.band(other), first.band(uncertainty))


def test_band_by_definition():
    errors, uncertainty = random_case(5, n=120, levels=40)
    found = score_calibration(errors, uncertainty, n_bins=6)
    asked = np.concatenate([[-np.inf, np.inf], uncertainty, uncertainty + 0.01])
    low, high = found.band(asked)
    for s, a, b in zip(asked, low, high, strict=True):
        assert a == max([0.0, *found.band_low[found.greatest <= s]])
        assert b == min([1.0, *found.band_high[found.least >= s]])


def test_groups_and_weights():
    errors, uncertainty = random_case(6, n=150, levels=12)
    plain = score_calibration(errors, uncertainty)
    weights = np.random.default_rng(7).integers(0, 4, 150)
    weighted = score_calibration(errors, uncertainty, sample_weight=weights)
    copied = score_calibration(np.repeat(errors, weights), np.repeat(uncertainty, weights))
    for name in ("least", "greatest", "rate", "scores", "isotonic"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(copied, name), atol=1e-12)
    assert weighted.count.sum() == (weights > 0).sum()
    twice = score_calibration(np.repeat(errors, 3), np.repeat(uncertainty, 3), groups=np.repeat(np.arange(150), 3))
    np.testing.assert_allclose(twice.rate, plain.rate)
    assert (twice.band_high - twice.band_low > 0.9 * (plain.band_high - plain.band_low)).all()


def test_one_instance_constants_and_no_errors():
    one = score_calibration([1], [0.5])
    assert (one.count.tolist(), one.rate.tolist(), one.isotonic.tolist()) == ([1], [1.0], [1.0])
    constant = score_calibration([0, 0, 0, 1], [2, 2, 2, 2])
    assert constant.predict([0, 2, 5]).tolist() == [0.25] * 3
    assert np.array(constant.band([1.0, 3.0])).T.tolist() == [[0, constant.band_high[0]], [constant.band_low[0], 1]]
    none = score_calibration(np.zeros(50), np.arange(50))
    assert not none.isotonic.any()
    assert not none.band(np.arange(50))[0].any()
    grouped = score_calibration([0, 1, 1], [1, 2, 3], groups=["a", "a", "a"], n_bins=1)
    assert (grouped.band_low.tolist(), grouped.band_high.tolist()) == ([0.0], [1.0])


def test_calibration_error_on_other_instances():
    (errors, uncertainty), (other, scores) = random_case(8, n=2000), random_case(9, n=2000)
    found = score_calibration(errors, uncertainty)
    for by in ("isotonic", "bins"):
        predicted = found.predict(scores, by=by)
        expected = error_estimate_of_hits(other, predicted, n_bins=10)
        error = found.calibration_error(other, scores, by=by)
        assert (error, error.low, error.high) == (expected, expected.low, expected.high)
        assert error < 0.06
    shifted = found.calibration_error(other, scores - 2)
    assert shifted.low > 0.1


def test_bad_input_is_refused():
    with refuses("n_bins", "range"):
        score_calibration([0, 1], [1, 2], n_bins=0)
    with refuses("by", "choice"):
        score_calibration([0, 1], [1, 2]).predict([1.0], by="linear")
    with refuses("uncertainty", "finite"):
        score_calibration([0, 1], [1, 2]).band([np.nan])
    with refuses("errors", "range"):
        score_calibration([0, 1], [1, 2]).calibration_error([0, 2], [1, 2])


# Coverage: the true error rate rises with the score.

TRUTHS = {
    "square": lambda u: u**2,
    "rare": lambda u: 0.05 * u,
    "step": lambda u: 0.05 + 0.5 * (u > 0.7),
    "flat": lambda u: 0.2 + 0 * u,
}
KINDS = {"scores": {}, "20 levels": {"levels": 20}, "groups of 5": {"groups": True}}


def covered(truth, n, n_samples, *, groups=False, levels=None, seed=1):
    """Share of samples whose band holds the rate at all their scores, and share of bins whose own interval holds theirs."""
    rng, together, single = np.random.default_rng(seed), 0, []
    grid = np.linspace(0, 1, 501)
    for _ in range(n_samples):
        u = rng.random(n)
        if levels:
            u = np.floor(u * levels) / levels
        rate = TRUTHS[truth](u)
        draws, codes = rng.random(n), None
        if groups:
            codes = np.arange(n) // 5
            draws = np.where(rng.random(n) < 0.3, rng.random(-(-n // 5))[codes], draws)  # correlated errors
        found = score_calibration(draws < rate, u, groups=codes)
        low, high = found.band(grid)
        together += bool(((low <= TRUTHS[truth](grid) + 1e-12) & (TRUTHS[truth](grid) - 1e-12 <= high)).all())
        place = np.searchsorted(found.least, u, side="right") - 1
        means = np.bincount(place, rate) / found.count
        single.append(((found.low <= means + 1e-12) & (means - 1e-12 <= found.high)).mean())
    return together / n_samples, float(np.mean(single))


@pytest.mark.slow
@pytest.mark.parametrize(("truth", "n"), [("square", 100), ("rare", 300), ("flat", 300)])
def test_coverage_of_the_band(truth, n):
    together, single = covered(truth, n, 200)
    assert together >= 0.92  # nominal .95 at least
    assert single >= 0.92
