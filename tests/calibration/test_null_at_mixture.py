"""The sequential null against that of all draws."""

import numpy as np
import pytest

from tests.calibration.made_up_data import draw_labels
from uqassay.calibration.credal import FIRST_DRAWS, drawn_labels, null_at
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.search import QUICK
from uqassay.metrics.measures import CALIBRATION_MEASURES

MEASURES = ("ece-confidence", "kuiper-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul", "log-loss")


def both(name, seed, n_draws=99, after=None):
    """The null of all draws and the sequential one, of labels from near a mixture (even seeds) or from somewhere else."""
    rng = np.random.default_rng(seed)
    members = rng.dirichlet(np.ones(4), (60, 3))
    truth = members.mean(axis=1) if seed % 2 == 0 else 0.6 * members.mean(axis=1) + 0.4 * rng.dirichlet(np.ones(4), 60)
    labels = draw_labels(rng, truth[None])[0]
    mixtures, weights = Mixtures(members), rng.dirichlet(np.ones(3))
    drawn = drawn_labels(mixtures, weights, n_draws, np.int64(seed))
    objective = MixtureObjective(mixtures, labels[np.newaxis], CALIBRATION_MEASURES[name])
    given = objective, weights, drawn, QUICK, np.int64(seed + 1)
    with np.errstate(all="ignore"):
        return null_at(*given), null_at(*given, sequential=True, after=after)


@pytest.mark.parametrize("name", MEASURES)
def test_the_sequential_test_counts_what_all_draws_would_show(name):
    small, stopped = 0, 0
    for seed in range(6):
        (full, all_evaluations), (found, evaluations) = both(name, seed)
        assert found.statistic == full.statistic
        np.testing.assert_array_equal(found.weights, full.weights)
        reached = full.null >= full.statistic - 1e-9 * abs(full.statistic) - 1e-15
        places = np.flatnonzero(reached)
        end = places[9] if len(places) > 9 else 99  # the draw with which a tenth of 100 has reached the statistic
        assert len(found.null) == end
        assert found.pvalue == (1 + reached[:end].sum()) / (1 + end)
        assert end == 99 or found.pvalue == 10 / (end + 1) > 0.1
        np.testing.assert_array_equal(found.null[reached[:end]], full.null[:end][reached[:end]])
        np.testing.assert_array_equal(found.null[:FIRST_DRAWS], full.null[: min(end, FIRST_DRAWS)])
        settled = ~reached[:end]
        assert (found.null[settled] >= full.null[:end][settled]).all()
        assert (found.null[settled] < full.statistic).all()
        assert found.deviation == full.null[:FIRST_DRAWS].std()
        assert evaluations < all_evaluations
        small, stopped = small + (end == 99), stopped + (end < 99)
    assert stopped
    assert small or name in ("skce-ul", "log-loss")


def test_after_another_mixture_nothing_is_searched_twice():
    (full, _), (found, evaluations) = both("ece-classwise", 1)
    again, fewer = both("ece-classwise", 1, after=found)[1]
    assert fewer < evaluations
    assert (again.pvalue, again.statistic, again.deviation) == (found.pvalue, found.statistic, found.deviation)
    assert (again.null >= full.null[: len(again.null)]).all()
    np.testing.assert_array_equal(again.null >= full.statistic, full.null[: len(again.null)] >= full.statistic)


@pytest.mark.parametrize("n_draws", [1, 9, 19, 20, 40])
def test_any_number_of_draws(n_draws):
    (full, _), (found, _) = both("ece-classwise", 1, n_draws)
    enough = max((n_draws + 1) // 10, 1)
    reached = np.flatnonzero(full.null >= full.statistic)
    assert len(found.null) == (reached[enough - 1] if len(reached) >= enough else n_draws)


def test_an_undefined_statistic_stays_undefined():
    members = np.full((10, 2, 2), [[0.0, 1.0], [0.0, 1.0]])
    labels = np.zeros(10, dtype=int)
    drawn = np.ones((30, 10), dtype=int)
    with np.errstate(all="ignore"):
        found, _ = null_at(
            MixtureObjective(Mixtures(members), labels[np.newaxis], CALIBRATION_MEASURES["hosmer-lemeshow"]),
            np.array([0.5, 0.5]),
            drawn,
            QUICK,
            np.int64(0),
            sequential=True,
        )
    assert np.isnan(found.statistic) == np.isnan(found.pvalue)
