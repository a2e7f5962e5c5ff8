import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm, permutation_test, rankdata
from tests.kinds import PREDICTING, random_prediction
from tests.metrics.ranking import equal_rankings, tied_rankings
from tests.notes import said, texts
from tests.refusals import refuses

import uqassay as uq
from uqassay import metrics
from uqassay.losses.unified import prediction_errors, probability_gap
from uqassay.metrics.ranking import (
    RANKING_METRICS,
    chance_pvalue,
    g_auc_score,
    h_auc_score,
    is_constant,
    paired_ranking_test,
    pairwise_ranking_tests,
    untied,
    uq_auc_score,
    uq_c_index_score,
)
from uqassay.metrics.risk import rank_errors
from uqassay.statistics import shaffer
from uqassay.statistics.linearised import Linearised

# -- auc and c index -------------------------------------------------------------------------------------------------
#
# UQ-AUC, UQ-C-index, G-AUC and H-AUC: definitions, identities, invariances, degenerate input; comparisons.


SCORES = (uq_auc_score, uq_c_index_score, g_auc_score, h_auc_score)


def case(rng, n=60, *, ties=True):
    errors = (rng.random(n) < 0.3).astype(float)
    errors[:2] = 0, 1
    uncertainty = rng.normal(size=n) + errors
    return errors, np.round(2 * uncertainty) if ties else uncertainty


def test_uq_auc_is_the_roc_auc_of_the_errors(random_generator, needs):
    needs("sklearn")
    from sklearn.metrics import roc_auc_score

    for ties in (True, False):
        errors, uncertainty = case(random_generator, ties=ties)
        weights = random_generator.exponential(size=60)
        expected = roc_auc_score(errors, uncertainty, sample_weight=weights)
        assert float(uq_auc_score(errors, uncertainty, sample_weight=weights)) == pytest.approx(expected, abs=1e-12)


def test_c_index_against_every_pair(random_generator):
    for _ in range(20):
        gap, s = random_generator.integers(0, 9, 30) / 8, np.round(random_generator.normal(size=30), 1)
        above = gap[:, None] < gap[None, :]
        kernel = (s[:, None] < s[None, :]) + 0.5 * (s[:, None] == s[None, :])
        assert float(uq_c_index_score(gap, s)) == pytest.approx(kernel[above].mean(), abs=1e-12)


def test_c_index_of_errors_is_uq_auc(random_generator):
    errors, uncertainty = case(random_generator)
    assert float(uq_c_index_score(errors, uncertainty)) == pytest.approx(
        float(uq_auc_score(errors, uncertainty)), abs=1e-14
    )


@pytest.mark.parametrize("kind", ["hard", "soft"])
@pytest.mark.parametrize("weighted", [False, True])
def test_identities_with_ties_and_self_pairs(random_generator, kind, weighted):
    """G-AUC and H-AUC from their definitions as sums over all ordered pairs, an instance with itself counted ½."""
    for _ in range(20):
        errors, s = case(random_generator)
        if kind == "soft":
            errors = random_generator.random(60)
        w = random_generator.exponential(size=60) if weighted else np.ones(60)
        kernel = (s[:, None] < s[None, :]) + 0.5 * (s[:, None] == s[None, :])  # the diagonal is ½
        pairs = w[:, None] * w[None, :]
        right = 1.0 - errors
        g = float((pairs * kernel * right[:, None]).sum() / (pairs * kernel).sum())
        h = float((pairs * kernel * right[:, None] * errors[None, :]).sum() / pairs.sum())
        options = {"sample_weight": w if weighted else None}
        assert float(g_auc_score(errors, s, **options)) == pytest.approx(g, abs=1e-12)
        assert float(h_auc_score(errors, s, **options)) == pytest.approx(h, abs=1e-12)
        accuracy, auc = 1 - np.average(errors, weights=w), float(uq_auc_score(errors, s, **options))
        assert g == pytest.approx(accuracy**2 + 2 * accuracy * (1 - accuracy) * auc, abs=1e-12)
        assert h == pytest.approx(accuracy * (1 - accuracy) * auc, abs=1e-12)


def test_g_auc_is_the_weighted_area_under_accuracy_and_coverage(random_generator):
    errors, s = case(random_generator, n=4000, ties=False)
    right = 1 - errors[np.argsort(s)]
    c = np.arange(1, 4001) / 4000
    area = float((2 * c * np.cumsum(right) / np.arange(1, 4001)).mean())
    assert float(g_auc_score(errors, s)) == pytest.approx(area, abs=1e-3)


def test_temperature_leaves_the_binary_softmax_score_alone(random_generator):
    logits = random_generator.normal(0, 2, (500, 2))
    y = random_generator.integers(0, 2, 500)
    found = []
    for temperature in (0.5, 1.0, 4.0):
        p = uq.Point.from_logits(logits / temperature)
        s = uq.measures.uncertainty_score(p, "least-confidence")
        found.append(
            (float(uq_auc_score(prediction_errors(y, p), s)), float(uq_c_index_score(probability_gap(y, p), s)))
        )
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    assert found[2] == pytest.approx(found[1], abs=1e-12)


@pytest.mark.parametrize("kind", PREDICTING)
def test_errors_and_gaps_of_every_kind(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=20)
    y = random_generator.integers(0, 4, 20)
    f = prediction.mean_probs()
    assert prediction_errors(y, prediction).tolist() == (prediction.labels() != y).astype(float).tolist()
    assert probability_gap(y, prediction) == pytest.approx(1 - f[np.arange(20), y], abs=1e-12)
    votes = random_generator.integers(1, 9, (20, 4))
    q = votes / votes.sum(axis=1, keepdims=True)
    assert probability_gap(votes, prediction) == pytest.approx(1 - (q * f).sum(axis=1), abs=1e-12)
    assert prediction_errors(votes, prediction) == pytest.approx(1 - q[np.arange(20), prediction.labels()], abs=1e-12)


def test_soft_errors_are_the_mean_over_drawn_labels(random_generator):
    """With label distributions UQ-AUC speaks of labels drawn from them, so drawing them must come close."""
    share, s = random_generator.beta(0.5, 2, 400), random_generator.normal(size=400)
    s += share
    copies = 1500
    drawn = (random_generator.random((copies, 400)) < share).astype(float)
    expected = float(uq_auc_score(drawn.ravel(), np.tile(s, copies)))
    assert float(uq_auc_score(share, s)) == pytest.approx(expected, abs=3e-3)


@pytest.mark.parametrize("metric", SCORES)
def test_increasing_maps_of_the_scores_do_not_matter(metric, random_generator):
    truth, s = case(random_generator)
    first = metric(truth, s)
    for other in (metric(truth, np.arctan(s)), metric(truth.tolist(), s.tolist())):
        assert [float(other), other.low, other.high] == pytest.approx([float(first), first.low, first.high], abs=1e-12)


@pytest.mark.parametrize("metric", SCORES)
@pytest.mark.parametrize("bad", ["errors", "uncertainty"])
def test_nan_is_refused_by_name_and_count(metric, bad):
    arrays = {"errors": np.array([0.0, 1, 0, 1]), "uncertainty": np.array([0.1, 0.2, 0.3, 0.4])}
    arrays[bad] = np.where([False, True, True, False], np.nan, arrays[bad])
    name = bad if bad == "uncertainty" or metric is not uq_c_index_score else "gap"
    with refuses(name, "finite", got="2 of 4.*row 1"):
        metric(arrays["errors"], arrays["uncertainty"])


def test_degenerate_cases_have_notes():
    assert texts(uq_auc_score([0, 0], [1, 2])) == ["no errors", "only 2 right predictions: a rough interval"]
    assert texts(uq_auc_score([1, 1], [1, 2])) == ["only 2 errors: a rough interval", "no right predictions"]
    assert np.isnan(uq_auc_score([1], [1]))
    assert "all scores are equal: nothing is ranked" in said(uq_auc_score([0, 1, 0], [3, 3, 3]))
    assert float(uq_auc_score([0, 1, 0], [3, 3, 3])) == 0.5
    same = uq_c_index_score([0.5, 0.5], [1, 2])
    assert np.isnan(same)
    assert "no two cases differ in the truth" in said(same)
    assert np.isnan(uq_c_index_score([0.5], [1]))
    assert "all scores are equal" in said(uq_c_index_score(np.arange(30), np.ones(30)))
    # accuracy 1 and 0: the areas are known whatever the order
    assert (float(g_auc_score([0, 0], [1, 2])), float(h_auc_score([0, 0], [1, 2]))) == (1.0, 0.0)
    assert (float(g_auc_score([1, 1], [1, 2])), float(h_auc_score([1, 1], [1, 2]))) == (0.0, 0.0)


@pytest.mark.parametrize("metric", list(RANKING_METRICS))
def test_every_metric_by_name_equals_its_function(metric, random_generator):
    truth, s = case(random_generator)
    found = RANKING_METRICS[metric].estimate(truth[np.newaxis], s[np.newaxis])
    functions = {"uq-auc": uq_auc_score, "uq-c-index": uq_c_index_score, "g-auc": g_auc_score, "h-auc": h_auc_score}
    if metric in functions:
        expected = functions[metric](truth, s)
        assert [float(found), found.low, found.high] == pytest.approx([float(expected), expected.low, expected.high])
        assert said(found) == said(expected)
    assert found.low < found < found.high


def test_areas_stay_inside_their_ranges(random_generator):
    for _ in range(200):
        n = int(random_generator.integers(2, 60))
        errors = (random_generator.random(n) < random_generator.random()).astype(float)
        s = random_generator.normal(size=n)
        g, h = g_auc_score(errors, s), h_auc_score(errors, s)
        assert 0 <= g.low <= g <= g.high <= 1
        assert 0 <= h.low <= h <= h.high <= 0.25


def test_areas_without_errors_are_not_certain():
    for score in (g_auc_score, h_auc_score):
        found = score(np.zeros(30), np.arange(30.0))
        assert found.high - found.low > 0.01
        assert "no errors" in said(found)
    assert g_auc_score(np.zeros(30), np.arange(30.0)).low > 0.8


def test_few_different_gaps_have_a_note():
    gap, s = np.r_[np.ones(4), np.zeros(300)], np.arange(304.0)
    assert "only 4 cases with a gap other than the most frequent one" in said(uq_c_index_score(gap, s))
    perfect = uq_c_index_score(gap, -s[::-1] * (1 - gap))
    assert perfect.high - perfect.low > 0


@pytest.mark.parametrize("n", [2, 39, 40, 41, 60, 300])
def test_number_of_other_gaps_is_exact_where_it_gets_a_note(random_generator, n):
    for others in (0, 1, 2, 18, 19, 20, 21, n // 2, n):
        gap = np.zeros(n)
        gap[:others] = random_generator.integers(1, 4 if others < 20 else 10**6, min(others, n))
        gap = random_generator.permutation(gap)
        _, counts = np.unique(gap, return_counts=True)
        expected = n - int(counts.max()) if counts.max() > 1 else n
        found = untied(gap)
        assert found == expected or (n > 40 and min(found, expected) >= 20)


def test_groups_widen_a_perfect_c_index(random_generator):
    groups = np.repeat(np.arange(10), 100)
    gap = groups + 0.5
    assert uq_c_index_score(gap, gap, groups=groups).low < 0.8
    assert uq_c_index_score(gap[::100], gap[::100]).low < 0.8


# -- comparisons ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["uq-auc", "uq-c-index"])
@pytest.mark.parametrize("grouped", [False, True])
def test_permutation_agrees_with_the_influences(metric, grouped, random_generator):
    errors = (random_generator.random(300) < 0.3).astype(float)
    noise = random_generator.normal(size=(2, 300))
    a, b = noise[0] + 1.0 * errors, 5 * (0.5 * noise[0] + noise[1]) + 0.9 * errors
    groups = np.arange(300) // 3 if grouped else None
    options = {"metric": metric, "groups": groups}
    fast = paired_ranking_test((errors, a), (errors, b), **options)
    slow = paired_ranking_test((errors, a), (errors, b), method="permutation", n_draws=400, **options)
    assert slow.method == "permutation"
    assert slow.pvalue == pytest.approx(fast.pvalue, abs=0.06)
    assert fast.pvalue < 0.2


def test_two_scores_that_order_alike_do_not_differ(random_generator):
    errors, s = case(random_generator)
    for method in ("linearised", "permutation"):
        assert paired_ranking_test((errors, s), (errors, np.exp(s)), method=method, n_draws=20).pvalue == 1.0


def test_two_models_have_different_errors(random_generator):
    errors, s = case(random_generator)
    other, t = case(random_generator)
    found = paired_ranking_test((errors, s), (other, t))
    assert float(found.difference) == pytest.approx(float(uq_auc_score(errors, s)) - float(uq_auc_score(other, t)))
    assert found.difference.low < found.difference < found.difference.high


def test_a_perfect_and_a_useless_score_differ_without_certainty():
    errors = np.r_[np.ones(5), np.zeros(5)]
    found = paired_ranking_test((errors, errors), (errors, np.ones(10)))
    assert float(found.difference) == 0.5
    assert 0 < found.pvalue < 0.2


def test_many_comparisons(random_generator):
    errors, s = case(random_generator)
    rankings = {"a": (errors, s), "b": (errors, -s), "c": (errors, random_generator.normal(size=60))}
    found = pairwise_ranking_tests(rankings)
    assert found.values == pytest.approx([float(uq_auc_score(*r)) for r in rankings.values()])
    assert found.pvalue[0, 1] == paired_ranking_test(rankings["a"], rankings["b"]).pvalue
    np.testing.assert_array_equal(found.adjusted, shaffer(found.pvalue))


def test_a_model_without_errors_leaves_the_other_tests_alone(random_generator):
    errors, s = case(random_generator)
    none = (np.zeros(60), s)
    for metric in RANKING_METRICS:
        found = paired_ranking_test((errors, s), none, metric=metric)
        many = pairwise_ranking_tests({"a": (errors, s), "none": none, "b": (errors, -s)}, metric=metric)
        assert np.isnan(found.pvalue) == np.isnan(many.pvalue[0, 1])
        assert np.isfinite(many.pvalue[0, 2])
        runs = RANKING_METRICS[metric].estimate(np.stack([errors, none[0]]), np.stack([s, s]))
        assert np.isnan(runs) == (metric in ("uq-auc", "uq-c-index", "prediction-rejection"))


def test_bad_comparisons_are_refused():
    with refuses("metric", "choice", got="must be 'uq-auc'"):
        paired_ranking_test(([0, 1], [1, 2]), ([0, 1], [1, 2]), metric="roc")
    with refuses("b", "mismatch", got="got 3"):
        paired_ranking_test(([0, 1], [1, 2]), ([0, 1, 1], [1, 2, 3]))
    with refuses("method", "choice"):
        paired_ranking_test(([0, 1], [1, 2]), ([0, 1], [1, 2]), method="bootstrap")


def test_two_values_of_the_gap_give_the_interval_of_uq_auc(random_generator):
    gap, scores = np.where(random_generator.random(60) < 0.2, 0.9, 0.1), random_generator.integers(0, 3, 60)
    auc, found = uq_auc_score(gap > 0.5, scores), uq_c_index_score(gap, scores)
    assert (found, found.low, found.high) == pytest.approx((auc, auc.low, auc.high), abs=1e-12)


@pytest.mark.parametrize("kind", ["levels", "50 certain", "50 uncertain"])
def test_ties_keep_the_coverage_with_30_errors(kind):
    adjusted, _, _ = tied_rankings.beside_delong(tied_rankings.tied(300, 30, 0.65, kind), 200, 41)
    assert adjusted >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 200)


# -- registry --------------------------------------------------------------------------------------------------------
#
# The ranking metrics by name: each against its function, its direction, and its runs.


FUNCTIONS = {
    "uq-auc": metrics.uq_auc_score,
    "uq-c-index": metrics.uq_c_index_score,
    "aurc": metrics.aurc_loss,
    "e-aurc": metrics.e_aurc_loss,
    "augrc": metrics.augrc_loss,
    "prediction-rejection": metrics.prediction_rejection_score,
    "g-auc": metrics.g_auc_score,
    "h-auc": metrics.h_auc_score,
}


def registry_case(rng, n=80):
    errors = (rng.random(n) < 0.3).astype(float)
    return errors, rng.normal(size=n) + errors


def test_every_name_has_its_function():
    assert set(RANKING_METRICS) == set(FUNCTIONS)
    assert all(name == metric.name for name, metric in RANKING_METRICS.items())


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("grouped", [False, True])
def test_one_run_is_the_function(name, grouped, random_generator):
    truth, s = registry_case(random_generator)
    groups = np.arange(80) // 4 if grouped else None
    found = RANKING_METRICS[name].estimate(truth[np.newaxis], s[np.newaxis], groups=groups)
    expected = FUNCTIONS[name](truth, s, groups=groups)
    np.testing.assert_allclose([found, found.low, found.high], [expected, expected.low, expected.high], rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_better_score_is_better_in_the_stated_direction(name, random_generator):
    truth, s = registry_case(random_generator, 400)
    metric = RANKING_METRICS[name]
    good, poor = (
        float(metric.estimate(truth[np.newaxis], x[np.newaxis])) for x in (s, random_generator.permutation(s))
    )
    assert (good > poor) == metric.higher_is_better


@pytest.mark.parametrize("name", FUNCTIONS)
def test_runs_are_averaged(name, random_generator):
    cases = [registry_case(random_generator) for _ in range(3)]
    truths, scores = (np.stack(part) for part in zip(*cases, strict=True))
    metric = RANKING_METRICS[name]
    found = metric.estimate(truths, scores)
    each = [float(metric.estimate(truths[r : r + 1], scores[r : r + 1])) for r in range(3)]
    assert float(found) == pytest.approx(np.mean(each))
    statistics = metric.runs(truths, scores)
    assert [type(s) for s in statistics] == [Linearised] * 3
    one, weights = metric.linearised_of(*cases[0])
    np.testing.assert_allclose(one.influence, statistics[0].influence)
    assert weights is None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_run_needs_no_axis_of_its_own(name, random_generator):
    truth, s = registry_case(random_generator)
    metric = RANKING_METRICS[name]
    assert metric.estimate(truth, s) == metric.estimate(truth[np.newaxis], s[np.newaxis])
    with refuses("uncertainty", "shape"):
        metric.estimate(truth, np.stack([s, s]))
    with refuses("uncertainty", "finite"):
        metric.estimate(truth, np.where(s == s[3], np.nan, s))


def test_constant_scores_of_every_run():
    assert is_constant(np.array([[1.0, 1.0], [2.0, 2.0]]))
    assert not is_constant(np.array([[1.0, 1.0], [2.0, 3.0]]))


@pytest.mark.parametrize("errors", ["labels", "shares"])
def test_metrics_that_share_a_ranking_find_the_same(errors, random_generator):
    n = 200
    e = (
        random_generator.random((2, n))
        if errors == "shares"
        else random_generator.integers(2, size=(2, n)).astype(float)
    )
    s = random_generator.integers(30, size=(2, n)).astype(float)
    groups = np.arange(n) // 3
    ranked = [rank_errors(*run) for run in zip(e, s, strict=True)]
    names = [name for name, metric in RANKING_METRICS.items() if metric.of_ranked is not None]
    assert names == ["uq-auc", "aurc", "e-aurc", "augrc", "prediction-rejection"]
    for name in [*names, *reversed(names)]:
        alone = RANKING_METRICS[name].estimate(e, s, groups=groups)
        shared = RANKING_METRICS[name].estimate(e, s, groups=groups, ranked=ranked)
        assert (shared.to_dict(), float(shared)) == (alone.to_dict(), float(alone))


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("errors", ["labels", "shares", "none"])
@pytest.mark.parametrize("levels", [9, 10**6])
def test_the_ratio_follows_from_uq_auc(runs, errors, levels, random_generator):
    n = 200
    e = random_generator.random((runs, n))
    e = {"labels": (e < 0.06).astype(float), "shares": e, "none": np.zeros((runs, n))}[errors]
    s = random_generator.integers(levels, size=(runs, n)) + 0.3 * levels * e
    ratio = RANKING_METRICS["prediction-rejection"]
    for groups in (None, np.arange(n) // 3):
        # orders of the same errors share what no order changes
        first = [rank_errors(run, run) for run in e]
        ranked = [rank_errors(one, by, like=like) for one, by, like in zip(e, s, first, strict=True)]
        auc = RANKING_METRICS["uq-auc"].estimate(e, s, groups=groups, ranked=ranked)
        alone = ratio.estimate(e, s, groups=groups)
        found = ratio.estimate(e, s, groups=groups, ranked=ranked, auc=auc)
        assert (found.notes, found.method, found.n) == (alone.notes, alone.method, alone.n)
        np.testing.assert_allclose([found, found.low, found.high], [alone, alone.low, alone.high], rtol=1e-12)


# -- comparisons -----------------------------------------------------------------------------------------------------
#
# Comparisons of rankings: order of rows, groups and bad input. test_auc_and_c_index.py has further tests of them.


ERRORS, SCORE = [0.0, 1.0, 0.0], [0.1, 0.7, 0.2]


@pytest.mark.parametrize(
    ("metric", "weighted", "grouped"), [("uq-auc", False, True), ("uq-auc", True, False), ("aurc", True, True)]
)
def test_permutation_does_not_depend_on_the_order_of_rows(grouped, weighted, metric, random_generator):
    n, rng = 60, random_generator
    errors = (rng.random(n) < 0.3).astype(float)
    first, second = rng.integers(0, 4, n) + errors, rng.integers(0, 4, n) + 0.5 * errors  # with many ties
    groups = np.array(list("abcdefghijkl"))[rng.integers(0, 12, n)] if grouped else None
    weights = rng.integers(0, 4, n).astype(float) if weighted else None

    def pvalue(order):
        return paired_ranking_test(
            (errors[order], first[order]),
            (errors[order], second[order]),
            metric=metric,
            method="permutation",
            groups=None if groups is None else groups[order],
            sample_weight=None if weights is None else weights[order],
            n_draws=200,
        ).pvalue

    expected = pvalue(np.arange(n))
    assert 1 / 201 <= expected < 0.9
    assert {pvalue(rng.permutation(n)) for _ in range(2)} == {expected}


def test_groups_with_the_same_instances_are_interchangeable():
    errors, first, second = np.tile([0, 1, 0, 0, 1, 1.0], 4), np.tile([1, 3, 2, 1, 2, 3], 4), np.arange(24) % 5
    groups = np.arange(24) // 6
    swapped = np.r_[6:12, 0:6, 12:24]
    found = [
        paired_ranking_test((e, a), (e, b), method="permutation", groups=g, n_draws=50).pvalue
        for e, a, b, g in (
            (errors, first, second, groups),
            (errors[swapped], first[swapped], second[swapped], groups[swapped]),
            (errors, first, second, 3 - groups),
        )
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("call", "parameter", "code", "got"),
    [
        (lambda: paired_ranking_test(ERRORS, SCORE), "a", "type", "got list"),
        (lambda: paired_ranking_test((ERRORS, SCORE), SCORE), "b", "type", "got list"),
        (lambda: paired_ranking_test((ERRORS, SCORE), None), "b", "type", "got NoneType"),
        (lambda: paired_ranking_test((1.0, 2.0), (ERRORS, SCORE)), "a", "type", "got tuple"),
        (lambda: pairwise_ranking_tests([(ERRORS, SCORE)]), "rankings", "type", "mapping"),
        (lambda: pairwise_ranking_tests({}), "rankings", "empty", "got none"),
        (lambda: pairwise_ranking_tests({"x": ERRORS}), "rankings['x']", "type", ""),
        (
            lambda: pairwise_ranking_tests({"x": (ERRORS, SCORE), "y": (ERRORS[1:], SCORE[1:])}),
            "rankings['y']",
            "mismatch",
            "got 2, not 3",
        ),
        (lambda: paired_ranking_test((ERRORS, SCORE), (ERRORS, SCORE), level=None), "level", "type", ""),
    ],
)
def test_invalid_rankings_are_refused(call, parameter, code, got):
    with refuses(parameter, code, got=got):
        call()


@pytest.mark.usefixtures("without_detectable")
def test_no_pair_of_equal_rankings_is_separated_too_often():
    for world in (equal_rankings.scores_of_one_model(100, 10, 0.7, "binary"), equal_rankings.models(100, 10, 0.7)):
        shares = equal_rankings.false_pairs(world, 3, ("uq-auc", "aurc"), n_samples=40, seed=42)
        assert (shares <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 40)).all()


@pytest.mark.slow
@pytest.mark.usefixtures("without_detectable")
def test_the_standard_error_holds_in_groups_of_very_unequal_sizes():
    """A group has other shares of the errors than of the instances."""
    sizes = equal_rankings.group_sizes(30, equal=False)
    share, ratio = equal_rankings.error_of_two(sizes, 10, n_samples=300, seed=[30, 10])
    assert share <= 0.07
    assert ratio == pytest.approx(1, abs=0.09)


# -- chance ----------------------------------------------------------------------------------------------------------
#
# Wilcoxon's test of errors that are independent of the uncertainty, with ties, groups and runs.


def sample(seed, n=120, rate=0.2, levels=6):
    rng = np.random.default_rng(seed)
    return (rng.random(n) < rate).astype(float), rng.integers(0, levels, n).astype(float)


@pytest.mark.parametrize("levels", [2, 6, 10**6])
def test_against_scipy_up_to_the_tails_of_students_t(levels):
    errors, scores = sample(1, n=4000, levels=levels)
    found = mannwhitneyu(scores[errors == 1], scores[errors == 0], use_continuity=False, method="asymptotic")
    assert chance_pvalue(errors, scores) == pytest.approx(found.pvalue, abs=2e-4)


def test_against_random_orders_of_the_errors():
    errors, scores = sample(2)
    shares = np.round(np.clip(errors * 0.6 + 0.2 * np.random.default_rng(2).random(120), 0, 1), 1)
    ranks = rankdata(scores)
    for e in (errors, shares):
        found = permutation_test(
            (e,), lambda x, axis=-1: np.sum(x * ranks, axis=axis), permutation_type="pairings", n_resamples=4000, rng=3
        )
        assert chance_pvalue(e, scores) == pytest.approx(float(found.pvalue), abs=0.03)


def test_no_error_among_few_untied_instances_is_no_evidence():
    errors, scores = np.zeros(200), np.zeros(200)
    errors[:10], scores[-6:] = 1, np.arange(1, 7)
    assert chance_pvalue(errors, scores) > 0.5


def test_runs_are_averaged_with_their_deviations():
    errors, scores = sample(4)
    one = chance_pvalue(errors, scores)
    assert chance_pvalue(np.stack([errors] * 3), np.stack([scores] * 3)) == pytest.approx(one)
    assert chance_pvalue(np.stack([errors] * 2), np.stack([scores, -scores])) == pytest.approx(1.0)


def test_groups_of_one_and_groups_of_copies():
    errors, scores = sample(5, n=60)
    plain = chance_pvalue(errors, scores)
    assert chance_pvalue(errors, scores, groups=np.arange(60)) == pytest.approx(plain)
    copied = chance_pvalue(np.repeat(errors, 5), np.repeat(scores, 5), groups=np.repeat(np.arange(60), 5))
    assert copied == pytest.approx(plain, rel=0.02)
    assert chance_pvalue(np.repeat(errors, 5), np.repeat(scores, 5)) < 0.5 * plain


def test_undefined_where_nothing_varies():
    errors, scores = sample(6)
    for e, s in ((np.zeros(120), scores), (errors, np.zeros(120)), ([1.0], [0.5])):
        assert np.isnan(chance_pvalue(e, s))
    assert np.isnan(chance_pvalue(errors, scores, groups=np.zeros(120)))


@pytest.mark.slow
@pytest.mark.parametrize("grouped", [False, True])
def test_share_of_rejections_at_five_percent(grouped):
    rng, rejected, n_samples = np.random.default_rng(7), 0, 1000
    groups = np.arange(300) // 10
    for _ in range(n_samples):
        common = rng.normal(size=(2, 30))[:, groups]
        z, u = (
            np.sqrt(0.5) * common + np.sqrt(0.5) * rng.normal(size=(2, 300)) if grouped else rng.normal(size=(2, 300))
        )
        errors = (z < norm.ppf(0.2)).astype(float)
        rejected += chance_pvalue(errors, np.round(u, 1), groups=groups if grouped else None) <= 0.05
    assert 0.02 < rejected / n_samples < 0.07
