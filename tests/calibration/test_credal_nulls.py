"""Nulls of the credal test: the weights and p-values they lead to."""

import numpy as np
import pytest

import uqassay as uq
from tests.calibration.made_up_data import draw_labels, random_ensemble
from uqassay.calibration.credal import credal_calibration_test, fewest_members, in_deviations
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.one_classifier import calibration_test, labels_from, monte_carlo_pvalue
from uqassay.calibration.search import QUICK, minimise_over_simplex
from uqassay.calibration.weights import predictive_weights
from uqassay.metrics.measures import calibration_measure

NULLS = ("minimised", "random", "berger-boos")


def test_two_members_against_a_grid(random_generator):
    labels, members = random_ensemble(random_generator, m=2)
    share = np.linspace(0, 1, 4001)
    grid = np.stack([share, 1 - share], axis=1)
    for measure in ("ece-confidence", "skce-ul"):
        least = float(calibration_measure(measure).prepare(Mixtures(members).probs(grid)).values(labels).min())
        test = credal_calibration_test(labels, members, measure=measure, null="random", n_draws=99)
        assert test.statistic <= least + 0.05 * test.null.std()


@pytest.mark.parametrize(
    ("measure", "smallest"),
    [("ece-confidence", 0.01), ("kuiper-confidence", 0.01), ("brier", 0.02), ("log-loss", 0.02)],
)
def test_one_member_is_the_single_test(random_generator, measure, smallest):
    labels, members = random_ensemble(random_generator, m=1)
    single = calibration_test(labels, members[:, 0], measure=measure, n_draws=99, rng=4)
    for given in (members, uq.Members(members), uq.Point(members[:, 0])):
        for null in NULLS:
            test = credal_calibration_test(labels, given, measure=measure, null=null, rng=4)
            assert (test.statistic, test.pvalue) == (single.statistic, single.pvalue)
            assert (test.null == single.null).all()
            assert (test.null_kind, test.weights.tolist(), test.width, test.search_spread) == (
                "single",
                [1.0],
                0.0,
                0.0,
            )
            assert (test.sides, test.smallest_pvalue) == (single.sides, smallest)
            assert (test.threshold(0.1), test.reject(0.1)) == (single.threshold(0.1), single.reject(0.1))
    assert test.sentence(0.05) == single.sentence(0.05)
    resampled = calibration_test(labels, members[:, 0], measure=measure, n_draws=99, rng=4, resample=True)
    again = credal_calibration_test(labels, members, measure=measure, null="random", resample=True, rng=4)
    assert (again.null == resampled.null).all()


def test_one_underconfident_member_is_rejected_by_its_low_score():
    """The upper side alone would not see it, as for several members."""
    flat = np.tile([0.5, 0.5], (60, 1)) + np.array([0.1, -0.1])
    labels = np.zeros(60, dtype=int)
    one = credal_calibration_test(labels, flat[:, None], measure="brier")
    assert (one.sides, one.pvalue, one.reject()) == ("both", 0.02, True)
    two = credal_calibration_test(labels, np.stack([flat, flat], axis=1), measure="brier")
    assert (two.sides, two.pvalue, two.smallest_pvalue) == ("upper", 1.0, 0.01)


@pytest.mark.parametrize("measure", ["ece-confidence", "brier"])
def test_all_members_equal_is_the_test_of_one(random_generator, measure):
    probs = random_generator.dirichlet(np.ones(3), 40)
    labels = labels_from(probs, 1, random_generator)[0]
    one = calibration_test(labels, probs, measure=measure, n_draws=999)
    upper = monte_carlo_pvalue(one.statistic, one.null)  # several members are tested on this side, also by scores
    for null in ("minimised", "random"):
        equal = np.repeat(probs[:, None], 3, axis=1)
        many = credal_calibration_test(labels, equal, measure=measure, null=null, n_draws=999)
        assert many.statistic == pytest.approx(one.statistic)
        assert (many.sides, abs(many.pvalue - upper) < 0.08) == ("upper", True)
        assert many.width == 0


def test_spread_of_minima_that_are_infinite_or_undefined():
    assert in_deviations(np.array([1.0, 3.0]), 1.0) == 2.0
    assert in_deviations(np.array([np.inf, np.inf]), 1.0) == 0.0
    assert in_deviations(np.array([1.0, np.inf]), 1.0) == np.inf
    assert in_deviations(np.array([1.0, 3.0]), np.nan) == np.inf
    assert np.isnan(in_deviations(np.array([np.nan, 1.0]), 1.0))


def test_minimised_null_is_the_worse_of_two_mixtures():
    """Each of the two nulls counted apart, from labels drawn again with the same random numbers."""
    taken, measure = [], "ece-confidence"
    for seed in range(10):
        rng = np.random.default_rng(seed)
        members = rng.dirichlet(np.ones(3), (50, 3))
        members[:, 0] = rng.dirichlet(np.full(3, 10.0), 50)
        labels = labels_from(members[:, 0], 1, rng)[0]
        test = credal_calibration_test(labels, members, measure=measure, n_draws=19, rng=seed)
        generator = np.random.default_rng(seed)
        seeds = generator.integers(2**63, size=2)
        two = [predictive_weights(members, labels, generator), fewest_members(members, labels)]
        mixtures, pvalues = Mixtures(members), []
        for truth in two:
            drawn = draw_labels(np.random.default_rng(seeds[0]), np.stack([mixtures.probs(truth)] * 19))
            objective = MixtureObjective(mixtures, np.concatenate([labels[None], drawn]), calibration_measure(measure))
            least = minimise_over_simplex(objective, QUICK, np.random.default_rng(seeds[1]))[0]
            assert least[0] == test.statistic
            pvalues.append((least >= least[0]).mean())
        assert test.pvalue == (pvalues[0] if pvalues[0] > 0.5 else max(pvalues))
        assert test.pvalue == (1 + (test.null >= test.statistic).sum()) / 20
        taken.append(test.pvalue > pvalues[0])
    assert any(taken)
    assert not all(taken)
