"""What tests by several measures share is what each would compute alone."""

import numpy as np
import pytest
from scipy import stats

from uqassay.calibration.credal import LikelyMixtures, credal_calibration_test, credal_calibration_tests, fewest_members
from uqassay.calibration.weights import predictive_weights


@pytest.fixture
def data(random_generator):
    members = random_generator.dirichlet(np.ones(3), (60, 4))
    return members, random_generator.integers(0, 3, 60)


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_a_generator_moves_on_as_if_all_was_computed_anew(data, bits):
    likely = LikelyMixtures(*data)
    for seed in (3, 3, 4, 3):
        given, alone = np.random.Generator(bits(seed)), np.random.Generator(bits(seed))
        found = likely.start(given)
        np.testing.assert_array_equal(found.seeds, alone.integers(2**63, size=2))
        np.testing.assert_array_equal(found.weights, predictive_weights(*data, alone))
        assert given.random() == alone.random()


def test_fewest_members_are_those_of_the_library(data):
    np.testing.assert_array_equal(LikelyMixtures(*data).fewest, fewest_members(*data))


def test_draws_follow_the_mixture_and_depend_on_weights_and_seed(data):
    members, labels = data
    likely, weights = LikelyMixtures(members, labels), np.array([0.5, 0.5, 0.0, 0.0])
    drawn = likely.drawn(weights, 3000, np.int64(5))
    assert drawn is likely.drawn(weights.copy(), 3000, np.int64(5))
    counts = np.stack([(drawn == k).sum(axis=0) for k in range(3)], axis=1)
    expected = 3000 * np.einsum("nmk,m->nk", members, weights)
    pvalues = stats.chi2.sf(((counts - expected) ** 2 / expected).sum(axis=1), 2)
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001
    assert (likely.drawn(weights, 3000, np.int64(6)) != drawn).any()
    assert (likely.drawn(weights[::-1].copy(), 3000, np.int64(5)) != drawn).any()


@pytest.mark.parametrize("options", [{}, {"null": "berger-boos"}, {"null": "random", "resample": True}])
def test_tests_by_several_measures_are_single_tests(data, options):
    members, labels = data
    names, options = ("skce-ul", "brier", "ece-classwise"), {"n_draws": 9, **options}
    generator = np.random.default_rng(8)
    found = credal_calibration_tests(labels, members, measures=names, rng=generator, **options)
    for name, test in zip(names, found, strict=True):
        own = np.random.default_rng(8)
        alone = credal_calibration_test(labels, members, measure=name, rng=own, **options)
        assert test.to_dict() == alone.to_dict()
    assert generator.random() == own.random()  # the last measure's
