import numpy as np
import pytest
from scipy import stats

from uqassay.metrics.calibration import Inversion, binned_hits, drawn_of_groups, drawn_of_instances

N_DRAWS = 20_000


@pytest.fixture
def bins(random_generator):
    confidence = random_generator.random(300) ** 0.5
    hits = (random_generator.random(300) < confidence - 0.1).astype(float)
    return binned_hits(hits, confidence, np.minimum((confidence * 5).astype(int), 4) * 3)


def test_sums_leave_out_empty_bins(bins):
    assert len(bins.size) == 5  # the places 0, 3, …, 12
    assert bins.n == bins.size.sum() == 300
    assert bins.error(bins.excess, "l1") == pytest.approx(np.abs(bins.excess).sum() / 300)
    gaps = bins.excess / bins.size
    assert bins.error(bins.excess, "squared") == pytest.approx((bins.size * gaps**2).sum() / 300)


def test_draws_of_a_calibrated_classifier_against_bernoulli_labels(bins):
    rng = np.random.default_rng(3)
    confidence = rng.random(300) ** 0.2  # near 1: few errors, far from normal
    of = binned_hits(np.ones(300), confidence, np.minimum((confidence * 5).astype(int), 4))
    drawn = drawn_of_instances(of, N_DRAWS, rng).sums(np.zeros(len(of.size)))
    hits = rng.random((N_DRAWS, 300)) < confidence
    for b in range(len(of.size)):
        rows = of.place == b
        exact = confidence[rows].sum() - hits[:, rows].sum(axis=1)
        for q in (0.025, 0.2, 0.5, 0.8, 0.975):
            assert np.quantile(drawn[:, b], q) == pytest.approx(np.quantile(exact, q), abs=1.0 + 1e-9)  # one instance
        assert drawn[:, b].mean() == pytest.approx(0, abs=0.05)


def test_squares_of_a_miscalibrated_classifier_against_a_noncentral_chi_square():
    n, gap, rng = 1000, 0.1, np.random.default_rng(5)
    confidence = np.repeat([0.6, 0.7], n // 2)  # accuracies .5 and .6, whose variances are .25 and .24
    of = binned_hits(np.ones(n), confidence, np.repeat([0, 1], n // 2))
    sums = drawn_of_instances(of, N_DRAWS, rng).sums(np.full(2, gap))
    found = of.error(sums, "squared") * n / 0.245
    theory = stats.ncx2(2, n * gap**2 / 0.245)
    for q in (0.025, 0.5, 0.975):
        assert np.quantile(found, q) == pytest.approx(theory.ppf(q), rel=0.06)


@pytest.mark.parametrize("n_groups", [12, 300])
def test_group_draws_have_the_covariance_of_the_groups(bins, n_groups):
    rng = np.random.default_rng(2)
    groups = rng.permutation(300) % n_groups
    gaps = np.array([0.1, -0.05, 0.2, 0.0, 0.1])
    drawn = drawn_of_groups(bins, groups, n_groups, N_DRAWS, rng).sums(gaps)
    each = np.zeros((n_groups, 5))
    np.add.at(each, (groups, bins.place), bins.difference - gaps[bins.place])
    np.testing.assert_allclose(drawn.mean(axis=0), bins.size * gaps, atol=0.2)
    np.testing.assert_allclose(np.cov(drawn.T, bias=True), each.T @ each, atol=0.6, rtol=0.05)


def test_ends_are_where_the_test_changes(bins):
    rng = np.random.default_rng(4)
    inversion = Inversion(bins, drawn_of_instances(bins, 999, rng), "l1", rng.standard_normal(999))
    low, high = inversion.interval(0.9)
    assert 0 < low < inversion.found < high
    narrow = inversion.interval(0.5)
    assert low < narrow[0] < narrow[1] < high
    assert inversion.of_calibrated() == pytest.approx(np.sqrt(2 * np.array(bins.chance) / np.pi).sum() / 300, rel=0.05)


def test_spread_of_sizes_against_a_loop(bins):
    rng = np.random.default_rng(6)
    terms, groups = rng.random(5), np.arange(300) % 40
    each = terms[bins.place] - terms[bins.place].mean()
    alone = drawn_of_instances(bins, 9, rng).spread_of_sizes(terms)
    assert alone == pytest.approx((each**2).sum() ** 0.5 / 300)
    sums = np.bincount(groups, each)
    grouped = drawn_of_groups(bins, groups, 40, 9, rng).spread_of_sizes(terms)
    assert grouped == pytest.approx((sums**2).sum() ** 0.5 / 300)
