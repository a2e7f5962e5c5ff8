"""Linearised statistics: agreement with means, runs, groups, scales and degrees of freedom."""

import numpy as np
import pytest
from tests.notes import texts

from uqassay.notes import Note
from uqassay.statistics import mean_estimate, proportion_estimate
from uqassay.statistics.auc import auc_linearised
from uqassay.statistics.linearised import Linearised, linearised_estimate, spread_of, spread_of_samples
from uqassay.statistics.paired_tests import paired_statistic_test, pairwise_statistic_tests
from uqassay.statistics.units import make_units, spread_of_mean


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
    assert texts(linearised_estimate(mean_of([2.0]))) == ["1 instance: no interval"]
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
