"""Unseen instances of tied samples: agreement with Wilson's interval, brute force, and duality of test and interval."""

import itertools

import numpy as np
import pytest

from uqassay.statistics import proportion_estimate
from uqassay.statistics.delong import auc_estimate, auc_linearised
from uqassay.statistics.linearised import Linearised
from uqassay.statistics.samples import Spread, make_units
from uqassay.statistics.statistic_comparisons import paired_statistic_test
from uqassay.statistics.tied_samples import (
    TiedSample,
    Unseen,
    averaged_samples,
    tied_share,
    ties_of,
    unseen_of,
    unseen_reach,
    unseen_variance,
)

NORMAL = float("inf")  # degrees of freedom


def plain(n):
    return make_units(n, None, None)


@pytest.mark.parametrize("successes", [0, 1, 4, 12])
def test_two_values_get_the_further_end_of_wald_and_wilson(successes):
    values = np.repeat([1.0, 0.0], [successes, 12 - successes])
    # the levels 0 and 1 are known from other instances, which are not in the sample
    shift = np.append(values, [0.0, 1.0]) - values.mean()
    sample = TiedSample(lambda: shift, np.append(np.ones(12), [0.0, 0.0]), np.append(values, [0, 1]).astype(int))
    (unseen,) = unseen_of([sample], plain(14))
    spread = Spread(float(values.std() / np.sqrt(12)), NORMAL, 0.0)
    wilson = proportion_estimate(values)
    for sign, end in ((-1, wilson.low), (1, wilson.high)):
        all_tied = Unseen(1.0, unseen.size, unseen.below, unseen.above, unseen.variance)
        plain_reach = 1.959964 * spread.standard_error
        reach = plain_reach + unseen_reach([all_tied], spread, 0.95)[sign > 0]
        assert reach == pytest.approx(max(plain_reach, sign * (end - values.mean())), abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_numbers_against_brute_force(random_generator, weighted, grouped):
    n = 20
    scores = random_generator.integers(0, 4, n)
    shift = (scores - 1.3) ** 3
    inside = random_generator.integers(0, 2, n).astype(float)
    weights = random_generator.integers(0, 3, n).astype(float) if weighted else None
    groups = np.arange(n) // 3 if grouped else None
    (found,) = unseen_of([TiedSample(lambda: shift, inside, scores)], make_units(n, groups, weights))
    w = (np.ones(n) if weights is None else weights / weights.max()) * inside
    unit = np.arange(n) if groups is None else groups
    pairs = [
        (w[i] * w[j], scores[i] == scores[j]) for i, j in itertools.permutations(range(n), 2) if unit[i] != unit[j]
    ]
    assert found.tied == pytest.approx(sum(p for p, same in pairs if same) / sum(p for p, _ in pairs))
    sums = w if groups is None else [w[groups == g].sum() for g in range(7)]
    assert found.size == pytest.approx(w.sum() ** 2 / np.sum(np.square(sums)))
    every = np.ones(n) if weights is None else weights
    below = [(k, -s) for k, s in zip(every, shift, strict=True) if s < 0]
    assert found.below == pytest.approx(sum(k * s * s for k, s in below) / sum(k * s for k, s in below))
    assert found.variance == pytest.approx(np.cov(shift, aweights=w, ddof=0) if w.sum() else 0.0)


def test_samples_without_ties_change_nothing(random_generator):
    errors = (random_generator.random(60) < 0.3).astype(float)
    statistic = auc_linearised(errors, random_generator.normal(size=60), None, imaginary=0.3)
    assert len(statistic.tied) == 2
    assert unseen_of(statistic.tied, plain(60)) == ()
    assert unseen_reach((), Spread(0.1, 5.0, 0.0), 0.9) == (0.0, 0.0)
    assert unseen_variance((), 0.3) == 0.0


def test_a_perfect_sample_of_few_levels_keeps_a_width():
    # ten errors share the lowest score with 190 of 200 right predictions: up to a quarter of further errors may be above
    errors, scores = np.repeat([1.0, 0.0], [10, 200]), np.repeat([0.0, 0.0, 1.0], [10, 190, 10])
    found = auc_estimate(errors, scores)
    assert float(found) == pytest.approx(0.475)
    assert found.high > 0.475 + 0.5 * 0.25
    assert found.low > 0.45
    assert auc_estimate(errors, scores, method="delong").high < 0.5


def test_the_fast_path_and_the_general_one_agree_with_ties(random_generator):
    errors, scores = random_generator.random(80) < 0.2, random_generator.integers(0, 3, 80)
    fast, general = auc_estimate(errors, scores), auc_estimate(errors, scores, sample_weight=np.ones(80))
    assert [fast.low, fast.high] == pytest.approx([general.low, general.high], abs=1e-12)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_test_rejects_where_the_interval_leaves_0(random_generator, side):
    n = 40
    values = side * (random_generator.random(n) < 0.12)
    shift = values - values.mean()
    sample = TiedSample(lambda: shift, np.ones(n), values.astype(int) + 1)
    value = float(values.mean())
    first = Linearised(value, shift, tied=(sample,))
    none = Linearised(0.0, np.zeros(n))
    level = 1.0 - paired_statistic_test(first, none).pvalue
    found = paired_statistic_test(first, none, level=level).difference
    assert min(abs(found.low), abs(found.high)) == pytest.approx(0.0, abs=1e-9)
    assert paired_statistic_test(none, first).pvalue == pytest.approx(1.0 - level)
    unguarded = paired_statistic_test(Linearised(value, shift), none)
    assert unguarded.pvalue <= 1.0 - level


def test_share_of_ties_of_sorted_values(random_generator):
    values = np.sort(random_generator.integers(0, 9, 40)).astype(float)
    same = [values[i] == values[j] for i, j in itertools.combinations(range(40), 2)]
    assert tied_share(values) == pytest.approx(np.mean(same))
    assert [tied_share(np.array(v)) for v in ([3.0], [3.0, 3.0], [1.0, 3.0])] == [1.0, 1.0, 0.0]


def test_runs_tie_where_every_run_does():
    shift, inside = np.array([0.0, 1.0, 2.0]), np.ones(3)
    one, other = (TiedSample(lambda: shift, inside, np.array(level)) for level in ([0, 0, 1], [5, 5, 5]))
    runs = [one, other.times(3.0)]
    mean = averaged_samples(runs)
    assert mean.shift().tolist() == [0.0, 2.0, 4.0]
    assert mean.level[0] == mean.level[1] != mean.level[2]
    doubled = unseen_of([mean.times(-2.0)], plain(3))[0]
    assert doubled == unseen_of([mean], plain(3))[0].times(-2.0)


def test_a_sample_without_members_has_no_ties():
    assert ties_of(np.zeros(3), np.array([0, 0, 1]), make_units(3, None, None)) == (0.0, 0.0)
