"""Nulls of the credal test: the weights and p-values they lead to."""

import numpy as np
import pytest

import uqassay as uq
from tests.calibration.made_up_data import random_ensemble
from uqassay.calibration.credal_hypothesis import credal_calibration_test
from uqassay.calibration.credal_nulls import in_deviations
from uqassay.calibration.mixtures import Mixtures
from uqassay.calibration.monte_carlo import labels_from
from uqassay.calibration.single_hypothesis import calibration_test
from uqassay.metrics.calibration.measures import calibration_measure

NULLS = ("minimised", "random", "berger-boos")


def test_two_members_against_a_grid(random_generator):
    labels, members = random_ensemble(random_generator, m=2)
    share = np.linspace(0, 1, 4001)
    grid = np.stack([share, 1 - share], axis=1)
    for measure in ("ece-confidence", "skce-ul"):
        least = float(calibration_measure(measure).prepare(Mixtures(members).probs(grid)).values(labels).min())
        test = credal_calibration_test(labels, members, measure=measure, null="random", n_draws=99)
        assert test.statistic <= least + 0.05 * test.null.std()


def test_one_member_is_the_single_test(random_generator):
    labels, members = random_ensemble(random_generator, m=1)
    single = calibration_test(labels, members[:, 0], n_draws=99, rng=4)
    for given in (members, uq.Members(members), uq.Point(members[:, 0])):
        for null in NULLS:
            test = credal_calibration_test(labels, given, null=null, rng=4)
            assert (test.statistic, test.pvalue) == (single.statistic, single.pvalue)
            assert (test.null == single.null).all()
            assert (test.null_kind, test.weights.tolist(), test.width, test.search_spread) == (
                "single",
                [1.0],
                0.0,
                0.0,
            )
            assert test.smallest_pvalue == 0.01
    assert test.sentence(0.05) == single.sentence(0.05)
    resampled = calibration_test(labels, members[:, 0], n_draws=99, rng=4, resample=True)
    again = credal_calibration_test(labels, members, null="random", resample=True, rng=4)
    assert (again.null == resampled.null).all()


def test_all_members_equal_is_the_test_of_one(random_generator):
    probs = random_generator.dirichlet(np.ones(3), 40)
    labels = labels_from(probs, 1, random_generator)[0]
    one = calibration_test(labels, probs, n_draws=999)
    for null in ("minimised", "random"):
        many = credal_calibration_test(labels, np.repeat(probs[:, None], 3, axis=1), null=null, n_draws=999)
        assert many.statistic == pytest.approx(one.statistic)
        assert abs(many.pvalue - one.pvalue) < 0.08
        assert many.width == 0


def test_spread_of_minima_that_are_infinite_or_undefined():
    null = np.array([0.0, 2.0])
    assert in_deviations(np.array([1.0, 3.0]), null) == 2.0
    assert in_deviations(np.array([np.inf, np.inf]), null) == 0.0
    assert in_deviations(np.array([1.0, np.inf]), null) == np.inf
    assert in_deviations(np.array([1.0, 3.0]), np.array([0.0, np.nan])) == np.inf
    assert np.isnan(in_deviations(np.array([np.nan, 1.0]), null))
