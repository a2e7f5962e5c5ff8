import numpy as np
import pytest
from scipy import stats
from tests.metrics.ood.sides import TESTED, sides
from tests.metrics.ood.test_detection import SIDES, tied
from tests.notes import said
from tests.refusals import refuses

from uqassay.metrics.ood import OOD_METRICS, aupr_linearised, fpr_linearised, joined_groups, rank_samples, two_samples
from uqassay.statistics.paired_tests import paired_statistic_test

# -- intervals -------------------------------------------------------------------------------------------------------
#
# Influences on ROC-AUC, false-positive rate and average precision against finite differences; training runs.


def by_weights(statistic, a, b, row, step=1e-6):
    """Change of a statistic when one instance gains weight and its sample keeps its own, by finite differences."""
    values = []
    for sign in (1, -1):
        v, w = np.ones(len(a)), np.ones(len(b))
        own, place = (v, row) if row < len(a) else (w, row - len(a))
        own[place] += sign * step
        own *= len(own) / own.sum()
        values.append(statistic(two_samples(*sides(a, b), sample_weight=np.r_[v, w])).value)
    return (values[0] - values[1]) / (2 * step)


@pytest.mark.parametrize("side", SIDES)
def test_influences_on_aupr_against_finite_differences(side, random_generator):
    a, b = tied(random_generator)
    found = aupr_linearised(two_samples(*sides(a, b)), side)
    expected = [by_weights(lambda s: aupr_linearised(s, side), a, b, row) for row in range(65)]
    np.testing.assert_allclose(found.influence / 65, expected, atol=1e-9)
    assert np.abs(found.influence).max() > 0.1


@pytest.mark.parametrize("side", SIDES)
def test_influences_of_negatives_on_fpr_against_finite_differences(side, random_generator):
    a, b = tied(random_generator, 40, 41)
    found = fpr_linearised(two_samples(*sides(a, b)), positive=side, tpr=0.9)
    negative = range(40) if side == "out" else range(40, 81)
    expected = [by_weights(lambda s: fpr_linearised(s, positive=side, tpr=0.9), a, b, row) for row in negative]
    np.testing.assert_allclose(found.influence[list(negative)] / 81, expected, atol=1e-8)


def test_influences_of_positives_on_fpr_against_the_slope_of_normal_scores(random_generator):
    """Of normal scores one apart: the ratio of the densities at the threshold."""
    a, b = random_generator.normal(size=40_000), random_generator.normal(size=40_000) + 1
    found = fpr_linearised(two_samples(*sides(a, b)))
    threshold = 1 + stats.norm.ppf(0.05)
    slope = stats.norm.pdf(threshold) / stats.norm.pdf(threshold - 1)
    jump = found.parts[0][40_000:].max() - found.parts[0][40_000:].min()  # between below and above the threshold
    assert jump / 2 == pytest.approx(slope, rel=0.05)


@pytest.mark.parametrize("name", TESTED)
def test_influences_are_centred_in_each_sample(name, random_generator):
    a, b = tied(random_generator)
    v, w = random_generator.exponential(size=40), random_generator.exponential(size=25)
    samples = two_samples(*sides(a, b), sample_weight=np.r_[v, w])
    found = OOD_METRICS[name].statistic(samples)
    influence = found.influence * np.r_[v, w]
    if name != "ood-auc":  # whose imaginary instances take a little
        np.testing.assert_allclose([influence[:40].sum(), influence[40:].sum()], 0, atol=1e-10)
    np.testing.assert_allclose(found.parts[0] + found.parts[1], found.influence)
    sign = 1 if OOD_METRICS[name].higher_is_better else -1
    assert sign * np.corrcoef(found.influence[40:], b)[0, 1] > 0.3


def test_paired_test_of_a_score_with_itself_and_with_a_worse_one(random_generator):
    a, b = random_generator.normal(size=300), random_generator.normal(size=200) + 2
    good, poor = (
        two_samples(*sides(a, b)),
        two_samples(*sides(*(x + 2 * random_generator.normal(size=len(x)) for x in (a, b)))),
    )
    for metric in (OOD_METRICS[name] for name in TESTED):
        same = paired_statistic_test(metric.statistic(good), metric.statistic(good))
        assert (float(same.difference), same.pvalue) == (0.0, 1.0)
        found = paired_statistic_test(metric.statistic(good), metric.statistic(poor))
        assert found.pvalue < 0.001
        assert (found.difference > 0) == metric.higher_is_better


@pytest.mark.parametrize("name", OOD_METRICS)
def test_runs_are_averaged_and_their_spread_counts(name, random_generator):
    a, b = random_generator.normal(size=300), random_generator.normal(size=200) + 1
    runs = [two_samples(*sides(a, b + shift)) for shift in (-0.3, -0.1, 0.2, 0.4)]
    metric = OOD_METRICS[name]
    found = metric.interval(runs)
    each = [metric.interval([run]) for run in runs]
    assert float(found) == pytest.approx(np.mean(each))
    assert "4 runs" in said(found)
    assert found.high - found.low > 1.1 * np.mean([e.high - e.low for e in each])
    alike = metric.interval([runs[0]] * 3)
    assert (alike.low, alike.high) == pytest.approx((each[0].low, each[0].high), abs=0.01)


# -- two samples -----------------------------------------------------------------------------------------------------
#
# Two samples of one score: checks of the input, and the joint ranking.


def test_weights_row_order_bit_for_bit(random_generator):
    a, b = tied(random_generator, 300, 200, 4)
    v, w = random_generator.exponential(size=300), random_generator.exponential(size=200)
    i, j = random_generator.permutation(300), random_generator.permutation(200)
    first = rank_samples(two_samples(*sides(a, b), sample_weight=np.r_[v, w]), "out")
    second = rank_samples(two_samples(*sides(a[i], b[j]), sample_weight=np.r_[v[i], w[j]]), "out")
    np.testing.assert_array_equal(first.detected, second.detected)
    np.testing.assert_array_equal(first.passed, second.passed)


@pytest.mark.parametrize("kind", [list, np.array, lambda x: np.array(x, dtype=bool), lambda x: np.array(x, dtype="f2")])
def test_sides_are_booleans_or_0_and_1(kind):
    found = two_samples(kind([0, 1, 1]), [0.1, 0.2, 0.3])
    assert found.is_out.tolist() == [False, True, True]


def test_groups_are_separate_in_the_two_samples():
    found = two_samples([0, 1, 0, 1], np.arange(4.0), groups=["a", "a", "a", "b"])
    assert found.groups[0] == found.groups[2]
    assert len(set(found.groups)) == 3


def test_weights_are_relative_to_the_greatest():
    assert two_samples([0, 1], [0.1, 0.2], sample_weight=[2, 8]).weights.tolist() == [0.25, 1.0]
    assert two_samples([0, 1], [0.1, 0.2]).weights is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((["a", "b", "a"], ["a", "a"]), [0, 1, 0, 2, 2]),
        ((None, ["a", "a"]), [0, 1, 2, 3, 3]),
        ((["a", "a", "b"], None), [0, 0, 1, 2, 3]),
    ],
)
def test_joined_groups(given, expected):
    assert joined_groups(*given, 3, 2).tolist() == expected


def test_joined_groups_name_the_side_of_an_error():
    assert joined_groups(None, None, 3, 2) is None
    with refuses("groups_in", "shape", got="(2,)"):
        joined_groups(["a", "b"], None, 3, 2)
    with refuses("groups_out", "finite", got="row 1"):
        joined_groups(None, [1.0, np.nan], 3, 2)


def test_the_curve_is_read_along_ties():
    ranked = rank_samples(two_samples([0, 0, 1, 1], [1.0, 2.0, 2.0, 3.0]), "out")
    assert (ranked.fpr(0.0), ranked.fpr(0.5), ranked.fpr(0.75), ranked.fpr(1.0)) == (0.0, 0.0, 0.25, 0.5)
    assert ranked.fpr(1.1) == 1.0
    assert not ranked.tied_at(0.5)
    assert ranked.n_positive == 2.0
