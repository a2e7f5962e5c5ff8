"""Linearised statistics, alone and in pairs: against means, DeLong and leaving out instances."""

from dataclasses import replace

import numpy as np
import pytest
from tests.notes import said, texts
from tests.refusals import refuses

from uqassay.notes import Note
from uqassay.statistics import mean_estimate, paired_mean_test, proportion_estimate
from uqassay.statistics.auc import IMAGINARY, auc_linearised, delong_covariance
from uqassay.statistics.linearised import (
    AveragedStatistic,
    Linearised,
    combined,
    linearised_estimate,
    spread_of,
    spread_of_difference,
    spread_of_samples,
    sums_of_parts,
    uneven_dof,
    variance_of_alike,
)
from uqassay.statistics.paired_tests import paired_statistic_test, pairwise_statistic_tests
from uqassay.statistics.units import make_units, spread_of_mean

# Linearised statistics: agreement with means, runs, groups, scales and degrees of freedom.


def mean_of(values, weights=None):
    mean = float(np.average(values, weights=weights))
    return Linearised(mean, np.asarray(values, float) - mean)


def ends(estimate):
    return [float(estimate), estimate.low, estimate.high]


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_mean_gets_the_interval_of_a_mean(random_generator, grouped, weighted):
    values = random_generator.normal(size=50)
    groups = random_generator.integers(0, 12, 50) if grouped else None
    weights = random_generator.exponential(size=50) if weighted else None
    mine = linearised_estimate(mean_of(values, weights), groups=groups, sample_weight=weights)
    expected = mean_estimate(values, groups=groups, sample_weight=weights)
    assert ends(mine) == pytest.approx(ends(expected), abs=1e-12)


def test_runs_get_the_interval_of_runs(random_generator):
    values = random_generator.normal(size=(4, 50)) + random_generator.normal(size=(4, 1))
    mine = linearised_estimate([mean_of(run) for run in values])
    assert ends(mine) == pytest.approx(ends(mean_estimate(values)), abs=1e-12)
    assert texts(mine) == ["4 runs"]


def test_a_share_on_the_wilson_scale_is_wilson_with_t(random_generator):
    values = (random_generator.random(400) < 0.2).astype(float)
    mine, wilson = linearised_estimate(mean_of(values), scale="wilson"), proportion_estimate(values)
    assert ends(mine) == pytest.approx(ends(wilson), abs=2e-4)


def test_logit_scale_by_hand():
    values = np.repeat([0.0, 1.0], [10, 30])
    se = values.std(ddof=1) / np.sqrt(40)
    reach = 2.0227 * se / (0.75 * 0.25)  # the .975 quantile of t with 39 degrees of freedom
    found = linearised_estimate(mean_of(values), scale="logit")
    expected = 1 / (1 + np.exp(-(np.log(3) + np.array([-reach, reach]))))
    assert [found.low, found.high] == pytest.approx(expected, abs=1e-4)


def test_two_samples_have_satterthwaites_degrees_of_freedom(random_generator):
    from scipy.stats import ttest_ind

    x, y = random_generator.normal(size=12), 3 * random_generator.normal(size=30) + 1
    squares = [float(((s - s.mean()) ** 2).sum()) / len(s) ** 2 for s in (x, y)]
    spread = spread_of_samples(squares, [12, 30])
    welch = ttest_ind(x, y, equal_var=False)
    assert spread.pvalue((x.mean() - y.mean()) / spread.standard_error) == pytest.approx(welch.pvalue, rel=1e-10)


def test_undefined_values_and_single_units_have_notes():
    undefined = linearised_estimate(Linearised(np.nan, np.zeros(3), notes=(Note("undefined", "no mistakes"),)))
    assert np.isnan(undefined)
    assert texts(undefined) == ["no mistakes"]
    assert texts(linearised_estimate(mean_of([2.0]))) == ["1 case: no interval"]
    assert texts(linearised_estimate(mean_of([2.0, 3.0]), groups=["a", "a"])) == ["1 group", "1 group: no interval"]


def test_undefined_statistics_stay_undefined_in_differences_and_averages(random_generator):
    errors = random_generator.integers(0, 2, 40).astype(float)
    known, unknown = (
        auc_linearised(e, random_generator.normal(size=40), None, imaginary=0.3) for e in (errors, 0 * errors)
    )
    assert np.isnan(unknown.value)
    assert np.isnan((known - unknown).value)
    found = linearised_estimate([known, unknown])
    assert np.isnan(found)
    assert np.isnan(paired_statistic_test(known, unknown).pvalue)
    many = pairwise_statistic_tests({"known": known, "unknown": unknown, "again": known})
    assert np.isnan(many.pvalue[1]).all()
    assert many.pvalue[0, 2] == 1.0


def test_degrees_of_freedom_of_two_models_are_not_shared(random_generator):
    """The model with fewer errors determines the degrees of freedom of its part."""
    few, many = np.zeros(400), np.zeros(400)
    few[:6], many[:200] = 1, 1
    a, b = (auc_linearised(e, random_generator.normal(size=400), None) for e in (few, many))
    units = make_units(400, None, None)
    alone, difference = spread_of(a, units), spread_of(a - b, units)
    assert alone.dof < 8
    assert difference.dof < 12
    same = auc_linearised(few, random_generator.normal(size=400), None)
    assert spread_of(a - same, units).dof < 12


def test_few_instances_that_carry_the_variance_leave_few_degrees_of_freedom():
    u = np.r_[np.full(5, 20.0), np.full(5, -20.0), np.tile([0.1, -0.1], 100)]
    heavy, plain = (Linearised(0.5, u, uneven=uneven) for uneven in (True, False))
    units = make_units(len(u), None, None)
    assert spread_of(plain, units).dof == len(u) - 1
    assert spread_of(heavy, units).dof < 25
    assert spread_of(heavy, units).standard_error == spread_of(plain, units).standard_error


# -- groups and weights of parts ---------------------------------------------------------------------------------------


def part_mean(values, inside, groups, weights):
    """Mean over the instances inside, as a statistic with that one part."""
    w = inside * (np.ones(len(values)) if weights is None else weights)
    mean = (w * values).sum() / w.sum()
    influence = (
        inside * (values - mean) * (w.sum() + ((1 - inside) * (1 if weights is None else weights)).sum()) / w.sum()
    )
    return Linearised(mean, influence, (influence,), (inside.astype(bool),))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_mean_over_a_part_has_the_spread_of_a_mean_over_its_instances(grouped, weighted, random_generator):
    values = random_generator.normal(size=60)
    groups = np.repeat(np.arange(6), [2, 4, 6, 8, 15, 25]) if grouped else None
    weights = random_generator.exponential(size=60) if weighted else None
    inside = random_generator.random(60) < 0.4
    inside[:2], inside[-2:] = False, True  # one group has no instance in it
    units = make_units(60, groups, weights)
    found = spread_of(part_mean(values, inside * 1.0, groups, weights), units)
    alone = make_units(inside.sum(), *(x if x is None else x[inside] for x in (groups, weights)))
    expected = spread_of_mean(values[inside] - alone.mean(values[inside]), alone)
    assert found.standard_error == pytest.approx(expected.standard_error)
    assert found.dof == pytest.approx(expected.dof)


def test_parts_in_groups_of_their_own_add_their_variances(random_generator):
    values, groups = random_generator.normal(size=90), np.repeat(np.arange(9), [2, 4, 6, 8, 25, 5, 10, 10, 20])
    inside = groups < 5
    sides = [part_mean(values, side * 1.0, groups, None) for side in (inside, ~inside)]
    both = Linearised(
        sides[0].value - sides[1].value,
        sides[0].influence - sides[1].influence,
        (sides[0].influence, -sides[1].influence),
        (inside, ~inside),
    )
    found = spread_of(both, make_units(90, groups, None))
    alone = [
        spread_of_mean(values[s] - values[s].mean(), make_units(s.sum(), groups[s], None)) for s in (inside, ~inside)
    ]
    variances = [spread.standard_error**2 for spread in alone]
    assert found.standard_error**2 == pytest.approx(sum(variances))
    dofs = [spread.dof for spread in alone]
    assert found.dof == pytest.approx(sum(variances) ** 2 / sum(v**2 / d for v, d in zip(variances, dofs, strict=True)))


def test_a_part_inside_a_single_group_leaves_the_variance_of_all(random_generator):
    values, groups = random_generator.normal(size=30), np.repeat(np.arange(6), 5)
    inside = groups == 2
    first = part_mean(values, inside * 1.0, groups, None)
    second = part_mean(values, ~inside * 1.0, groups, None)
    both = Linearised(
        first.value + second.value,
        first.influence + second.influence,
        (first.influence, second.influence),
        (inside, ~inside),
    )
    found = spread_of(both, make_units(30, groups, None))
    robust = spread_of_mean(both.influence, make_units(30, groups, None))
    assert found.standard_error >= robust.standard_error > 0
    assert 0 < found.dof <= robust.dof


# Sums over parts that several differences share, against the difference of the whole statistics.


def statistics(rng, n=200):
    errors = [rng.random(n) < rate for rate in (0.2, 0.4)]
    scores = [e + rng.normal(size=n) for e in errors]
    scores[1] = scores[1].round(1)  # ties
    return [
        auc_linearised(e.astype(float), s, None, None, imaginary=IMAGINARY) for e, s in zip(errors, scores, strict=True)
    ]


@pytest.mark.parametrize("options", [{}, {"groups": np.arange(200) // 3}, {"sample_weight": 1.0 + np.arange(200) % 4}])
def test_a_difference_from_shared_sums_equals_the_difference_of_the_statistics(random_generator, options):
    a, b = statistics(random_generator)
    units = make_units(200, options.get("groups"), options.get("sample_weight"))
    two, one = AveragedStatistic.of([a, replace(a, value=a.value + 0.1)], units), AveragedStatistic.of([b], units)
    assert bool(one.sums) == (not options)  # groups and weights have factors of the whole difference
    found = spread_of_difference(two, one, units)
    assert found == spread_of(two.whole - b, units)


def test_statistics_with_other_numbers_of_parts_are_subtracted_whole(random_generator):
    a, _ = statistics(random_generator)
    x = random_generator.normal(size=200)
    b = Linearised(float(x.mean()), x - x.mean())
    units = make_units(200, None, None)
    assert spread_of_difference(AveragedStatistic.of(a, units), AveragedStatistic.of(b, units), units) == spread_of(
        a - b, units
    )


def test_two_samples_against_welch():
    x, y = np.array([0.1, 0.5, 0.4, 0.9]), np.array([1.0, 1.4, 0.7])
    parts = np.concatenate([x - x.mean(), 0 * y]) * 7 / 4, np.concatenate([0 * x, y - y.mean()]) * 7 / 3
    inside = np.arange(7) < 4, np.arange(7) >= 4
    statistic = Linearised(x.mean() + y.mean(), parts[0] + parts[1], parts=parts, inside=inside)
    _, variance, dof = combined(sums_of_parts(statistic, make_units(7, None, None)), 0.0)
    own = x.var(ddof=1) / 4, y.var(ddof=1) / 3
    assert variance == pytest.approx(sum(own))
    assert dof == pytest.approx(sum(own) ** 2 / (own[0] ** 2 / 3 + own[1] ** 2 / 2))


@pytest.mark.parametrize("scale", [1.0, 1e-100])
def test_variance_of_alike_against_a_mean_and_its_fourth_moment(random_generator, scale):
    x = random_generator.exponential(size=50) ** 4 * scale
    variance, dof = variance_of_alike(x - x.mean(), uneven=True)
    spread = spread_of_mean(x - x.mean(), make_units(50, None, None))
    np.testing.assert_allclose([variance**0.5, dof], [spread.standard_error, uneven_dof(x - x.mean())], rtol=1e-12)
    assert dof < 40
    assert variance_of_alike(x - x.mean(), uneven=False) == (variance, 49.0)
    assert variance_of_alike(np.zeros(3), uneven=True) == (0.0, 2.0)


# Paired tests of statistics with influences: against tests of means, DeLong and each other.


def test_a_difference_of_means_is_the_paired_t_test(random_generator):
    a, b = random_generator.normal(size=(2, 40))
    groups = np.arange(40) // 3
    for g in (None, groups):
        mine = paired_statistic_test(mean_of(a), mean_of(b), groups=g)
        expected = paired_mean_test(a, b, groups=g)
        assert (mine.statistic, mine.pvalue) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)
        assert ends(mine.difference) == pytest.approx(ends(expected.difference), abs=1e-12)


def test_a_difference_of_runs_is_the_paired_t_test_of_runs(random_generator):
    a, b = random_generator.normal(size=(3, 40)), random_generator.normal(size=(5, 40))
    mine = paired_statistic_test([mean_of(run) for run in a], [mean_of(run) for run in b])
    expected = paired_mean_test(a, b)
    assert (mine.statistic, mine.pvalue) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)


def test_a_difference_of_areas_has_delongs_variance(random_generator):
    positive = random_generator.integers(0, 2, 60)
    scores = random_generator.normal(size=(2, 60)) + positive
    areas, covariance = delong_covariance(positive, scores)
    found = paired_statistic_test(*(auc_linearised(positive.astype(float), s, None) for s in scores))
    z = (areas[0] - areas[1]) / np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert found.statistic == pytest.approx(z, rel=1e-10)


def test_two_models_whose_samples_overlap_keep_the_covariance(random_generator):
    """An instance can be an error of one model only; the covariance of its two influences counts."""
    scores = random_generator.normal(size=(2, 300))
    first = random_generator.integers(0, 2, 300).astype(float)
    a, b = auc_linearised(first, scores[0], None), auc_linearised(1 - first, scores[1], None)
    found = paired_statistic_test(a, b)
    by_hand = np.sqrt(((a.influence - b.influence) ** 2).sum()) / 300
    assert (a.value - b.value) / found.statistic == pytest.approx(by_hand, rel=0.01)


def test_equal_statistics_are_equal_and_not_undefined(random_generator):
    found = paired_statistic_test(mean_of([1.0, 2.0, 4.0]), mean_of([1.0, 2.0, 4.0]))
    assert (found.statistic, found.pvalue) == (0.0, 1.0)
    assert "the two agree on every case" in said(found)
    shifted = paired_statistic_test(mean_of([1.0, 2.0, 4.0]), mean_of([2.0, 3.0, 5.0]))
    assert np.isnan(shifted.pvalue)
    assert "does not vary over the cases" in said(shifted)


def test_pairwise_tests_are_the_paired_tests_adjusted(random_generator):
    values = {name: random_generator.normal(size=60) + shift for name, shift in (("a", 0), ("b", 0.2), ("c", 0.9))}
    found = pairwise_statistic_tests({name: mean_of(v) for name, v in values.items()})
    raw = {}
    for i, j in ((1, 0), (2, 0), (2, 1)):
        pair = paired_mean_test(values["abc"[i]], values["abc"[j]])
        raw[i, j] = pair.pvalue
        assert found.pvalue[i, j] == found.pvalue[j, i] == pytest.approx(pair.pvalue, abs=1e-14)
        assert found.difference[i, j] == -found.difference[j, i] == pytest.approx(float(pair.difference), abs=1e-14)
        assert found.low[i, j] == -found.high[j, i] == pytest.approx(pair.difference.low, abs=1e-13)
    ordered = sorted(raw, key=raw.get)
    running = 0.0
    for k, pair in enumerate(ordered):
        running = max(
            running, min(1.0, raw[pair] * (3, 1, 1)[k])
        )  # of three means, two pairs cannot be the only equal ones
        assert found.adjusted[pair] == pytest.approx(running, abs=1e-15)
    assert np.isnan(found.pvalue.diagonal()).all()
    assert found.reject(0.05).sum() == 2 * sum(found.adjusted[pair] <= 0.05 for pair in raw)


def test_an_undefined_statistic_leaves_the_others_alone(random_generator):
    values = random_generator.normal(size=(2, 30))
    found = pairwise_statistic_tests(
        {"a": mean_of(values[0]), "none": Linearised(np.nan, np.zeros(30)), "b": mean_of(values[1])}
    )
    assert np.isnan(found.pvalue[1]).all()
    assert found.adjusted[2, 0] == found.pvalue[2, 0] == pytest.approx(paired_mean_test(values[1], values[0]).pvalue)


def test_bad_input_is_refused():
    with refuses("b", "mismatch", got="got 3"):
        paired_statistic_test(mean_of([1.0, 2.0]), mean_of([1.0, 2.0, 3.0]))
    with refuses("statistics", "empty"):
        pairwise_statistic_tests({})
    with refuses("scale", "choice"):
        linearised_estimate(mean_of([1.0, 2.0]), scale="probit")
    with refuses("a", "empty"):
        paired_statistic_test([], mean_of([1.0, 2.0]))


def test_an_interval_of_a_difference_ends_where_differences_do(random_generator):
    errors = np.array([0.0, 1.0, 0.0, 1.0])
    a, b = (auc_linearised(errors, s, None, imaginary=0.3) for s in (np.arange(4.0), -np.arange(4.0)))
    found = paired_statistic_test(a, b, bound=1.0).difference
    assert -1.0 <= found.low <= found <= found.high <= 1.0
