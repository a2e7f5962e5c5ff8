"""The Bayesian signed-rank test against baycomp, moments of the Dirichlet distribution, and one difference by hand."""

import itertools
import json

import numpy as np
import pytest
from scipy import stats
from tests.statistics import printed_comparisons as printed

from uqassay.errors import InputError
from uqassay.statistics import bayesian_signed_rank_test
from uqassay.statistics import many_data_sets as module


@pytest.mark.parametrize("key", printed.BAYCOMP)
def test_against_baycomp(key):
    i, k, rope = key
    test = bayesian_signed_rank_test(printed.AUC[:, k] - printed.AUC[:, i], rope=rope, n_draws=20_000)
    assert (test.left, test.rope, test.right) == pytest.approx(printed.BAYCOMP[key], abs=0.012)


def test_mean_shares_against_brute_force():
    d, s, rope = [0.04, 0.01, -0.03], 0.5, 0.01
    z, alpha = np.array([0.0, *d]), np.array([s, 1, 1, 1])
    total = alpha.sum()
    expected = np.zeros(3)
    for i, k in itertools.product(range(4), repeat=2):
        weight = alpha[i] * (alpha[k] + (i == k)) / (total * (total + 1))  # E[wᵢ wₖ]
        mean = round((z[i] + z[k]) / 2, 9)
        for place, inside in enumerate((mean < -rope, -rope < mean < rope, mean > rope)):
            expected[place] += weight * inside
        if abs(mean) == rope:
            expected[[0 if mean < 0 else 2, 1]] += weight / 2
    test = bayesian_signed_rank_test(d, rope=rope, strength=s, n_draws=40_000)
    assert test.shares.mean(axis=0) == pytest.approx(expected, abs=0.006)
    assert test.shares.sum(axis=1) == pytest.approx(1)


def test_one_difference_by_hand():
    # w ~ Beta(1, s) is the weight of the difference: the share of its own pair is w², of those with 0 all else
    test = bayesian_signed_rank_test([0.03], rope=0.02, n_draws=40_000)
    assert test.right == pytest.approx(stats.beta(1, 0.5).sf(np.sqrt(0.5)), abs=0.01)
    assert test.left == 0.0


def test_no_difference_and_no_rope():
    test = bayesian_signed_rank_test([0.0, 0.0, 0.0], n_draws=50)
    assert (test.left, test.rope, test.right) == (0.5, 0.0, 0.5)
    assert bayesian_signed_rank_test([0.0, 0.0], rope=0.1, n_draws=50).rope == 1.0


def test_opposite_differences_exchange_the_sides_and_chunks_change_nothing(monkeypatch):
    d = np.random.default_rng(1).normal(0.02, 0.05, size=8)
    one = bayesian_signed_rank_test(d, rope=0.01, n_draws=500, rng=3)
    monkeypatch.setattr(module, "DRAWS_AT_ONCE", 90)
    two = bayesian_signed_rank_test(-d, rope=0.01, n_draws=500, rng=3)
    assert (one.left, one.rope, one.right) == pytest.approx((two.right, two.rope, two.left))
    assert one.n_draws == 500
    assert json.loads(json.dumps(one.to_dict()))["n"] == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"differences": [np.nan]}, "nan"),
        ({"differences": [np.inf]}, "finite"),
        ({"rope": -1.0}, "rope"),
        ({"strength": 0.0}, "strength"),
        ({"n_draws": 0}, "n_draws"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        bayesian_signed_rank_test(**{"differences": [0.1], **options})
