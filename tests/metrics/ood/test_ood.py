"""Out-of-distribution detection: ROC-AUC, false-positive rate, average precision against definitions and scikit-learn."""

import itertools

import numpy as np
import pytest
from scipy import stats
from tests.metrics.ood.sides import TESTED, sides
from tests.notes import said
from tests.refusals import refuses

from uqassay.metrics.ood import (
    OOD_METRICS,
    aupr_linearised,
    aupr_score,
    fpr_at_tpr_error,
    fpr_linearised,
    joined_groups,
    ood_auc_score,
    rank_samples,
    two_samples,
)
from uqassay.statistics.paired_tests import paired_statistic_test

# ROC-AUC, false-positive rate and average precision of two samples against their definitions, scikit-learn and weights.

SCORES = (ood_auc_score, fpr_at_tpr_error, aupr_score)
SIDES = ("out", "in")


def tied(rng, m=40, n=25, levels=8):
    """Two samples with ties inside and between them."""
    return rng.integers(0, levels, m) / 2, rng.integers(1, levels + 2, n) / 2


def roc_by_definition(negative, positive, tpr):
    """Smallest abscissa at which the polygon through all distinct thresholds reaches a true-positive rate."""
    thresholds = [np.inf, *np.unique(np.r_[negative, positive])[::-1]]
    points = [(np.mean(negative >= t), np.mean(positive >= t)) for t in thresholds]
    for (f0, t0), (f1, t1) in itertools.pairwise(points):
        if t1 >= tpr - 1e-12:
            return f0 + (f1 - f0) * (min(tpr, t1) - t0) / (t1 - t0)
    raise AssertionError("not reached")


# -- values -----------------------------------------------------------------------------------------------------------


def test_auc_against_every_pair(random_generator):
    a, b = tied(random_generator)
    pairs = (b[:, None] > a).mean() + 0.5 * (b[:, None] == a).mean()
    found = ood_auc_score(*sides(a, b))
    assert float(found) == pytest.approx(pairs)
    assert found.low < found < found.high
    assert found.n == 65


@pytest.mark.parametrize("tpr", [0.5, 0.8, 0.95, 0.99])
def test_fpr_against_the_polygon_with_ties(tpr, random_generator):
    for _ in range(40):
        a, b = tied(random_generator, *random_generator.integers(3, 30, 2))
        assert float(fpr_at_tpr_error(*sides(a, b), tpr=tpr)) == pytest.approx(roc_by_definition(a, b, tpr))
        expected = roc_by_definition(-b, -a, tpr)
        assert float(fpr_at_tpr_error(*sides(a, b), tpr=tpr, positive="in")) == pytest.approx(expected)


@pytest.mark.parametrize("tpr", [0.5, 0.95])
def test_fpr_of_whole_ties_is_that_of_the_first_threshold(tpr, random_generator):
    for _ in range(20):
        a, b = tied(random_generator, *random_generator.integers(3, 30, 2))
        first = max(t for t in b if np.mean(b >= t) >= tpr - 1e-12)
        found = fpr_at_tpr_error(*sides(a, b), tpr=tpr, ties="whole")
        assert float(found) == np.mean(a >= first)
        assert found >= fpr_at_tpr_error(*sides(a, b), tpr=tpr) - 1e-12
        assert found.low <= found <= found.high
    continuous = random_generator.normal(size=60), random_generator.normal(size=100) + 1
    both = [fpr_at_tpr_error(*sides(*continuous), ties=ties) for ties in ("shared", "whole")]
    assert repr(both[0]) == repr(both[1])


def test_fpr_without_ties_is_that_of_the_smallest_threshold_that_detects_enough(needs, random_generator):
    needs("sklearn")
    from sklearn.metrics import roc_curve

    for m, n in ((30, 20), (50, 100), (7, 140), (33, 61)):
        a, b = random_generator.normal(size=m), random_generator.normal(size=n) + 1
        false, true, _ = roc_curve(np.r_[np.zeros(m), np.ones(n)], np.r_[a, b], drop_intermediate=False)
        assert float(fpr_at_tpr_error(*sides(a, b))) == pytest.approx(false[np.argmax(true >= 0.95 - 1e-12)])


@pytest.mark.parametrize("weighted", [False, True])
def test_aupr_against_scikit_learn(weighted, needs, random_generator):
    needs("sklearn")
    from sklearn.metrics import average_precision_score

    for _ in range(30):
        a, b = tied(random_generator, *random_generator.integers(2, 30, 2))
        truth, score = np.r_[np.zeros(len(a)), np.ones(len(b))], np.r_[a, b]
        w = random_generator.exponential(size=len(score)) if weighted else np.ones(len(score))
        options = {"sample_weight": w} if weighted else {}
        expected = average_precision_score(truth, score, sample_weight=w)
        assert float(aupr_score(*sides(a, b), **options)) == pytest.approx(expected)
        expected = average_precision_score(1 - truth, -score, sample_weight=w)
        assert float(aupr_score(*sides(a, b), positive="in", **options)) == pytest.approx(expected)


def test_aupr_of_a_random_score_is_the_share_of_positives():
    assert float(aupr_score(*sides([1.0] * 30, [1.0] * 10))) == pytest.approx(0.25)
    assert float(aupr_score(*sides([1.0] * 30, [1.0] * 10), positive="in")) == pytest.approx(0.75)
    assert float(aupr_score(*sides([1.0] * 30, [1.0] * 10), sample_weight=[1.0] * 30 + [3.0] * 10)) == pytest.approx(
        0.5
    )


# -- invariances ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", SCORES)
def test_scale_and_infinite_values_do_not_matter(score, random_generator):
    a, b = tied(random_generator)
    expected = score(*sides(a, b))
    assert float(score(*sides(np.exp(a), np.exp(b)))) == float(expected)
    extreme_a, extreme_b = np.where(a == a.min(), -np.inf, a), np.where(b == b.max(), np.inf, b)
    assert float(score(*sides(extreme_a, extreme_b))) == float(expected)
    assert float(score(*sides(a > 1, b > 1))) == float(score(*sides((a > 1).astype(float), (b > 1).astype(float))))


@pytest.mark.parametrize("score", SCORES)
def test_rows_of_both_samples_may_be_mixed(score, random_generator):
    is_out, s = sides(*tied(random_generator))
    groups, order = random_generator.integers(0, 20, 65), random_generator.permutation(65)
    expected, found = score(is_out, s, groups=groups), score(is_out[order], s[order], groups=groups[order])
    assert (float(found), found.n) == (float(expected), expected.n)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_a_label_in_both_samples_counts_as_two_groups(random_generator):
    is_out, s = sides(*tied(random_generator))
    labels = np.arange(65) % 10
    apart = np.where(is_out, labels + 100, labels)
    assert repr(ood_auc_score(is_out, s, groups=labels)) == repr(ood_auc_score(is_out, s, groups=apart))


@pytest.mark.parametrize("name", OOD_METRICS)
def test_weights_are_repetitions_and_zero_weights_absent(name, random_generator):
    a, b = tied(random_generator)
    metric = OOD_METRICS[name]
    v, w = random_generator.integers(0, 4, len(a)), random_generator.integers(0, 4, len(b))
    weighted = two_samples(*sides(a, b), sample_weight=np.r_[v, w])
    repeated = two_samples(*sides(np.repeat(a, v), np.repeat(b, w)))
    assert float(metric.interval([weighted])) == pytest.approx(float(metric.interval([repeated])))
    kept = two_samples(*sides(a[v > 0], b[w > 0]), sample_weight=np.r_[v[v > 0], w[w > 0]])
    found, expected = metric.interval([weighted]), metric.interval([kept])
    assert (float(found), found.low, found.high, found.n) == pytest.approx(
        (float(expected), expected.low, expected.high, expected.n)
    )


def test_positive_in_equals_the_swapped_samples_with_negated_scores(random_generator):
    a, b = tied(random_generator)
    for score in (fpr_at_tpr_error, aupr_score):
        found, expected = score(*sides(a, b), positive="in"), score(*sides(-b, -a))
        assert (float(found), found.low, found.high) == pytest.approx((float(expected), expected.low, expected.high))


# -- groups and runs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", SCORES)
def test_groups_of_near_copies_count_once(score, random_generator):
    a, b = random_generator.normal(size=60), random_generator.normal(size=80) + 1
    once = score(*sides(a, b))
    copies = [np.repeat(x, 5) + 1e-9 * random_generator.normal(size=5 * len(x)) for x in (a, b)]
    labels = [np.repeat([f"p{i}" for i in range(len(x))], 5) for x in (a, b)]
    copied, alone = score(*sides(*copies), groups=np.concatenate(labels)), score(*sides(*copies))
    assert copied.high - copied.low == pytest.approx(once.high - once.low, rel=0.1)
    assert alone.high - alone.low < 0.6 * (once.high - once.low)
    assert "140 groups" in said(copied)  # a label of both samples names two groups


def test_the_registry_is_the_functions(random_generator):
    a, b = tied(random_generator)
    found = {name: metric.interval([two_samples(*sides(a, b))], level=0.9) for name, metric in OOD_METRICS.items()}
    expected = {"ood-auc": ood_auc_score(*sides(a, b), level=0.9)}
    for side in SIDES:
        for name, ties in ((f"fpr95-{side}", "shared"), (f"fpr95-{side}-whole", "whole")):
            expected[name] = fpr_at_tpr_error(*sides(a, b), positive=side, ties=ties, level=0.9)
        expected[f"aupr-{side}"] = aupr_score(*sides(a, b), positive=side, level=0.9)
    assert set(found) == set(expected)
    for name, estimate in expected.items():
        assert repr(found[name]) == repr(estimate), name


# -- degenerate samples and refusals ----------------------------------------------------------------------------------


def test_one_instance_in_a_sample():
    for score in (fpr_at_tpr_error, aupr_score):
        found = score(*sides([0.1, 0.2, 0.3], [0.25]))
        assert np.isfinite(found)
        assert np.isnan(found.low)
        assert np.isnan(found.high)
        assert "1 out-of-distribution case: no interval" in said(found)
        found = score(*sides([0.1], [0.2, 0.3, 0.4]))
        assert "1 in-distribution case: no interval" in said(found)
        found = score(*sides([0.1, 0.2], [0.2, 0.3]), groups=["b", "c", "a", "a"])
        assert "1 group of out-of-distribution cases: no interval" in said(found)
    wide = ood_auc_score(*sides([0.1, 0.2, 0.3], [0.25]))
    assert wide.high - wide.low > 0.8
    assert "only 1 out-of-distribution case:" in said(wide)


@pytest.mark.parametrize("score", SCORES)
def test_equal_scores(score):
    found = score(*sides(np.zeros(50), np.zeros(30)))
    assert float(found) == pytest.approx({ood_auc_score: 0.5, fpr_at_tpr_error: 0.95, aupr_score: 30 / 80}[score])
    assert "all scores are equal: nothing is ranked" in said(found)
    if score is not ood_auc_score:
        assert found.low < found - 0.05


@pytest.mark.parametrize("score", SCORES)
def test_perfect_separation_leaves_an_interval_of_the_smaller_sample(score):
    found = score(*sides(np.linspace(0, 1, 400), np.linspace(2, 3, 100)))
    best = 0.0 if score is fpr_at_tpr_error else 1.0
    assert float(found) == best
    width = found.high - found.low
    assert 0.005 < width < 0.05
    reverse = score(*sides(np.linspace(2, 3, 400), np.linspace(0, 1, 100)))
    assert abs(float(reverse) - best) > 0.85


def test_few_positives_leave_the_threshold_unbounded(random_generator):
    a, b = random_generator.normal(size=500), random_generator.normal(size=30) + 2
    found = fpr_at_tpr_error(*sides(a, b))
    assert found.high == 1.0
    assert "more out-of-distribution cases would bound the other side" in said(found)
    other = fpr_at_tpr_error(*sides(a, b), positive="in")
    assert other.high < 1.0
    assert "too few" not in said(other)
    assert "only 12 out-of-distribution cases" in said(fpr_at_tpr_error(*sides(a, b[:12])))


@pytest.mark.parametrize("score", SCORES)
def test_bad_input_is_refused(score):
    with refuses("uncertainty", "finite", got="1 of 3 values are nan, the first at row 2"):
        score([0, 1, 1], [0.1, 0.2, np.nan])
    with refuses("is_out", "empty", got="all 2 are out of distribution"):
        score([1, 1], [0.1, 0.2])
    with refuses("is_out", "empty", got="all 1 are in distribution"):
        score([False], [0.1])
    with refuses("is_out", "range", got="row 1 is 0.2"):  # the old order of arguments: two samples
        score([0.0, 0.2, 1.0], [0.1, 0.2, 0.3])
    with refuses("is_out", "finite"):
        score([0, 1, np.nan], [0.1, 0.2, 0.3])
    with refuses("is_out", "type"):
        score(["in", "out"], [0.1, 0.2])
    with refuses("uncertainty", "mismatch", got="each instance of is_out; got 2, not 3"):
        score([0, 1, 1], [0.1, 0.2])
    with refuses("uncertainty", "shape"):
        score([0, 1], [[0.1], [0.2]])
    with refuses("groups", "shape", got=r"\(3,\)"):
        score([0, 1, 1], [0.1, 0.2, 0.3], groups=["a"])
    with refuses("sample_weight", "finite", got="row 0 has -1"):
        score([0, 1], [0.1, 0.2], sample_weight=[-1.0, 1.0])
    with refuses("sample_weight", "empty", got="out of distribution"):
        score([0, 1], [0.1, 0.2], sample_weight=[1.0, 0.0])
    with refuses("level", "range", got="must lie strictly between 0 and 1"):
        score(*sides([0.1], [0.2]), level=1.0)


def test_options_are_checked():
    with refuses("tpr", "range", got="got 95"):
        fpr_at_tpr_error(*sides([0.1], [0.2]), tpr=95)
    with refuses("ties", "choice", got="got 'half'"):
        fpr_at_tpr_error(*sides([0.1], [0.2]), ties="half")
    for score in (fpr_at_tpr_error, aupr_score):
        with refuses("positive", "choice", got="got 'ood'"):
            score(*sides([0.1], [0.2]), positive="ood")


@pytest.mark.parametrize("positive", ["out", "in"])
def test_fpr_of_identical_samples_is_the_rate_itself(positive, random_generator):
    for a in (np.zeros(7), random_generator.integers(0, 5, 40), random_generator.normal(size=101)):
        for tpr in (0.95, 0.5, 1 / 3):
            assert abs(float(fpr_at_tpr_error(*sides(a, a), tpr=tpr, positive=positive)) - tpr) <= 1e-15


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
