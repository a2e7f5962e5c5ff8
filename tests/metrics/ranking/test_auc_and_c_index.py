"""UQ-AUC, UQ-C-index, G-AUC and H-AUC: definitions, identities, invariances, degenerate input; comparisons."""

import numpy as np
import pytest
from tests.kinds import PREDICTING, random_prediction
from tests.metrics.ranking import tied_rankings
from tests.notes import said, texts
from tests.refusals import refuses

import uqassay as uq
from uqassay.losses.unified import prediction_errors, probability_gap
from uqassay.metrics.ranking import (
    RANKING_METRICS,
    g_auc_score,
    h_auc_score,
    paired_ranking_test,
    pairwise_ranking_tests,
    untied,
    uq_auc_score,
    uq_c_index_score,
)
from uqassay.statistics import shaffer

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
def test_row_order_monotone_scale_dtype_and_layout_do_not_matter(metric, random_generator):
    truth, s = case(random_generator)
    first = metric(truth, s)
    rows = random_generator.permutation(60)
    wide = np.zeros((60, 3))
    wide[:, 1] = s
    read_only = s.copy()
    read_only.flags.writeable = False
    others = (
        metric(truth[rows], s[rows]),
        metric(truth, np.arctan(s)),
        metric(truth.astype(np.float16), s.astype(np.float16)),
        metric(truth.tolist(), s.tolist()),
        metric(truth, wide[:, 1]),
        metric(truth, read_only),
    )
    for other in others:
        assert [float(other), other.low, other.high] == pytest.approx([float(first), first.low, first.high], abs=1e-12)


@pytest.mark.parametrize("metric", SCORES)
def test_weights_are_copies(metric, random_generator):
    truth, s = case(random_generator)
    copies = random_generator.integers(0, 4, 60)
    copies[:2] = 1
    weighted = metric(truth, s, sample_weight=copies)
    repeated = metric(np.repeat(truth, copies), np.repeat(s, copies), groups=np.repeat(np.arange(60), copies))
    assert float(weighted) == pytest.approx(float(repeated), abs=1e-12)
    assert (weighted.low, weighted.high) == pytest.approx((repeated.low, repeated.high), abs=0.02)


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
    assert "no two instances differ in the truth" in said(same)
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
    assert "only 4 instances with a gap other than the most frequent one" in said(uq_c_index_score(gap, s))
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
