"""Placements and DeLong's variance: against counting pair by pair, pROC and scikit-learn."""

import numpy as np
import pytest
from scipy import stats
from tests.native.awkward_floats import DTYPES, awkward_arrays, squared_ties, twice_placements
from tests.notes import said, texts
from tests.refusals import refuses

from uqassay.metrics import uq_auc_score
from uqassay.statistics import auc as delong
from uqassay.statistics.auc import PlacementSums, auc_estimate, auc_linearised, delong_covariance, placement_sums
from uqassay.statistics.linearised import linearised_estimate

# DeLong's variance against its definition, against pROC and scikit-learn; degenerate input; ties, weights, shares.


def area_by_pairs(positive, scores, weights=None):
    """Loop over all pairs; a share counts as a fraction of a positive and the rest of a negative instance."""
    e, s = np.asarray(positive, float), np.asarray(scores, float)
    w = np.ones(len(e)) if weights is None else np.asarray(weights, float)
    kernel = (s[:, None] > s[None, :]) + 0.5 * (s[:, None] == s[None, :])
    first, second = w * e, w * (1 - e)
    return float(first @ kernel @ second / (first.sum() * second.sum()))


def covariance_by_definition(positive, scores):
    """DeLong, DeLong and Clarke-Pearson (1988), equations 4 to 6, written as they stand."""
    positive = np.asarray(positive, bool)
    rows_x, rows_y = [], []
    for s in np.atleast_2d(scores):
        x, y = s[positive], s[~positive]
        kernel = (x[:, None] > y[None, :]) + 0.5 * (x[:, None] == y[None, :])
        rows_x.append(kernel.mean(axis=1))
        rows_y.append(kernel.mean(axis=0))
    return np.cov(rows_x) / positive.sum() + np.cov(rows_y) / (~positive).sum()


def random_case(rng, n=40, levels=None):
    positive = np.r_[0, 0, 1, 1, rng.integers(0, 2, n - 4)]
    scores = rng.normal(size=n) + positive
    return positive, np.round(scores * levels) if levels else scores


@pytest.mark.parametrize("levels", [None, 3, 1])
def test_area_and_covariance_against_the_definition(random_generator, levels):
    for _ in range(30):
        positive, first = random_case(random_generator, levels=levels)
        second = first + random_generator.normal(size=len(first))
        areas, covariance = delong_covariance(positive, [first, second])
        assert areas == pytest.approx([area_by_pairs(positive, s) for s in (first, second)], abs=1e-14)
        assert covariance == pytest.approx(covariance_by_definition(positive, [first, second]), abs=1e-14)


def test_the_estimate_against_scikit_learn_with_weights_and_ties(random_generator, needs):
    needs("sklearn")
    from sklearn.metrics import roc_auc_score

    for _ in range(30):
        positive, scores = random_case(random_generator, levels=2)
        weights = random_generator.exponential(size=len(positive))
        assert float(auc_estimate(positive, scores)) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
        assert float(auc_estimate(positive, scores, sample_weight=weights)) == pytest.approx(
            roc_auc_score(positive, scores, sample_weight=weights), abs=1e-12
        )


def test_both_ways_of_counting_give_the_same_interval(random_generator):
    for trial in range(60):
        positive, scores = random_case(random_generator, n=30, levels=2 if trial % 2 else None)
        if trial % 3 == 0:
            positive = 1 - positive
        sorted_only = auc_estimate(positive, scores)
        general = linearised_estimate(
            auc_linearised(positive.astype(float), scores, None, imaginary=delong.IMAGINARY), scale="logit"
        )
        assert [sorted_only, sorted_only.low, sorted_only.high] == pytest.approx(
            [general, general.low, general.high], abs=1e-10
        )


def test_a_share_counts_in_both_samples(random_generator):
    share = random_generator.uniform(size=25)
    share[:3] = 0, 1, 0.5
    scores = np.round(random_generator.normal(size=25), 1)
    weights = random_generator.exponential(size=25)
    assert float(auc_estimate(share, scores)) == pytest.approx(area_by_pairs(share, scores), abs=1e-13)
    assert float(auc_estimate(share, scores, sample_weight=weights)) == pytest.approx(
        area_by_pairs(share, scores, weights), abs=1e-13
    )


def test_influences_are_the_derivative_in_the_weights(random_generator):
    share = random_generator.uniform(size=20)
    scores = random_generator.integers(0, 6, 20).astype(float)
    weights = random_generator.exponential(size=20) + 0.1
    found = auc_linearised(share, scores, weights)
    assert float(weights @ found.influence) == pytest.approx(0.0, abs=1e-12)
    for i in range(20):
        moved = weights.copy()
        moved[i] += 1e-5
        slope = (area_by_pairs(share, scores, moved) - found.value) / 1e-5
        assert slope * weights.sum() == pytest.approx(found.influence[i], abs=2e-4)


def test_order_of_rows_and_of_the_scale_does_not_matter(random_generator):
    positive, scores = random_case(random_generator, levels=4)
    rows = random_generator.permutation(len(positive))
    first = auc_estimate(positive, scores)
    for other in (
        auc_estimate(positive[rows], scores[rows]),
        auc_estimate(positive, np.exp(scores / 10)),
        auc_estimate(positive.astype(bool).tolist(), scores.tolist()),
        auc_estimate(positive, scores.astype(np.float16)),
    ):
        assert (float(other), other.low, other.high) == pytest.approx((float(first), first.low, first.high), abs=1e-12)


def test_infinite_scores_are_scores():
    assert float(auc_estimate([0, 1, 0, 1], [-np.inf, np.inf, 0.0, 0.0])) == 0.875


@pytest.mark.parametrize(
    ("positive", "scores", "value", "note"),
    [
        ([0, 0, 0], [1, 2, 3], np.nan, "no positive | only 3 negative: a rough interval"),
        ([1, 1], [1, 2], np.nan, "only 2 positive: a rough interval | no negative"),
        ([1], [1.0], np.nan, "only 1 positive: a rough interval | no negative"),
        (
            [0, 1],
            [1, 1],
            0.5,
            "only 1 positive: a rough interval | only 1 negative: a rough interval | "
            "all scores are equal: nothing is ranked",
        ),
    ],
)
def test_degenerate_input_has_notes(positive, scores, value, note):
    found = auc_estimate(positive, scores)
    assert float(found) == pytest.approx(value, nan_ok=True)
    assert np.isnan(found.low) == np.isnan(value)
    assert said(found) == note


def test_perfect_separation_is_not_certain():
    few, many = (auc_estimate([0] * n + [1] * n, np.arange(2 * n)) for n in (5, 500))
    assert few == many == few.high == many.high == 1.0
    assert few.low < 0.6
    assert 0.99 < many.low < 1.0


def test_small_samples_have_a_note():
    positive = np.r_[np.ones(7), np.zeros(100)]
    assert texts(auc_estimate(positive, np.arange(107))) == ["only 7 positive: a rough interval"]
    assert "only 2 positive in different groups" in said(
        auc_estimate(positive, np.arange(107), groups=np.arange(107) // 4)
    )


@pytest.mark.parametrize(
    ("arguments", "options", "parameter", "code", "got"),
    [
        (([0, 2, 1], [1, 2, 3]), {}, "positive", "range", "row 1 is 2"),
        (([0, 1], [1, 2]), {"method": "hanley"}, "method", "choice", ""),
        (([], []), {}, "positive", "shape", ""),
        ((["a"], [1]), {}, "positive", "type", ""),
    ],
)
def test_bad_input_is_refused(arguments, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        auc_estimate(*arguments, **options)


def test_covariance_refuses_samples_without_variance():
    with refuses("positive", "empty"):
        delong_covariance([0, 0, 1], [1, 2, 3])
    with refuses("positive", "range", got=r"row 1 is 0\.5"):
        delong_covariance([0, 0.5, 1], [1, 2, 3])


def test_groups_of_one_change_nothing_and_copies_add_nothing(random_generator):
    positive, scores = random_case(random_generator, n=60)
    alone, grouped = (auc_estimate(positive, scores, groups=g) for g in (None, np.arange(60)))
    assert (alone.low, alone.high) == pytest.approx((grouped.low, grouped.high), abs=1e-12)
    twice = auc_estimate(np.tile(positive, 2), np.tile(scores, 2), groups=np.tile(np.arange(60), 2), method="delong")
    once = auc_estimate(positive, scores, method="delong")
    assert (float(once), once.low, once.high) == pytest.approx((float(twice), twice.low, twice.high), abs=1e-12)


def test_grouped_variance_against_obuchowski(random_generator):
    """Σ over groups of (Σ placements − count · area)², as in Obuchowski (1997), equation 3, with her factors."""
    positive = random_generator.integers(0, 2, 80)
    groups = np.repeat(np.arange(20), 4)
    positive[::4], positive[1::4] = 1, 0  # each group holds both
    scores = random_generator.normal(size=80) + positive + random_generator.normal(size=20)[groups]
    areas, covariance = delong_covariance(positive, scores, groups=groups)
    x, y = positive == 1, positive == 0
    kernel = (scores[:, None] > scores[None, :]) * 1.0
    placements = np.where(x, kernel[:, y].mean(axis=1), kernel[x].mean(axis=0))
    m, n = x.sum(), y.sum()
    sums = [np.bincount(groups, weights=(placements - areas[0]) * part) for part in (x, y)]
    factor = 20 / 19
    expected = factor * (sums[0] @ sums[0] / m**2 + sums[1] @ sums[1] / n**2 + 2 * sums[0] @ sums[1] / (m * n))
    assert covariance[0, 0] == pytest.approx(expected, rel=1e-12)


# The numbers below were made by pROC's implementation in R, from the integers that this generator gives:
#   s <- 12345; u <- numeric(120)
#   for (i in 1:120) { s <- (16807 * s) %% 2147483647; u[i] <- s / 2147483647 }
#   y <- as.integer(u[1:40] < 0.4); a <- round(10 * u[41:80] + 4 * y); b <- round(10 * u[81:120] + 2 * y)
#   ra <- pROC::roc(y, a, direction = "<"); rb <- pROC::roc(y, b, direction = "<")
#   print(c(auc(ra), auc(rb), var(ra), var(rb), cov(ra, rb)), digits = 12); roc.test(ra, rb, method = "delong")
def lehmer(n):
    state, out = 12345, []
    for _ in range(n):
        state = 16807 * state % 2147483647
        out.append(state / 2147483647)
    return np.array(out)


def pROC_case():
    u = lehmer(120)
    y = (u[:40] < 0.4).astype(int)
    return y, np.round(10 * u[40:80] + 4 * y), np.round(10 * u[80:] + 2 * y)


PROC = [0.89125, 0.7325, 0.00224523026315789, 0.00619473684210526, -0.00032039473684211]  # pROC 1.18.0
PROC_PVALUE = 0.0957304385171


def test_against_pROC():
    y, a, b = pROC_case()
    areas, covariance = delong_covariance(y, [a, b])
    found = [*areas, covariance[0, 0], covariance[1, 1], covariance[0, 1]]
    assert found == pytest.approx(PROC, rel=1e-9)
    z = (areas[0] - areas[1]) / np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert 2 * stats.norm.sf(abs(z)) == pytest.approx(PROC_PVALUE, rel=1e-6)


def test_against_published_counts():
    """Outcome of 113 patients by the grade of their haemorrhage (Turck et al. 2010, the example data of pROC)."""
    good, poor = [37, 20, 3, 8, 4], [2, 12, 1, 8, 18]
    grades = np.r_[np.repeat(np.arange(5), good), np.repeat(np.arange(5), poor)]
    outcome = np.repeat([0, 1], [72, 41])
    area, variance = delong_covariance(outcome, grades)
    assert float(area[0]) == pytest.approx(0.8236789, abs=5e-8)
    assert variance[0, 0] == pytest.approx(0.0014699147088236, rel=1e-11)


def test_an_imaginary_group_has_the_mean_group_size():
    """A hundred copies of an instance in one group carry no more information than the instance."""
    errors = np.repeat([1, 0], 10)
    alone = auc_estimate(errors, errors)
    copied = auc_estimate(np.repeat(errors, 100), np.repeat(errors, 100), groups=np.repeat(np.arange(20), 100))
    assert [float(copied), copied.low, copied.high] == pytest.approx([float(alone), alone.low, alone.high], abs=0.02)


def test_plain_delong_at_perfect_separation_uses_the_smaller_sample():
    errors = np.r_[np.ones(3), np.zeros(997)]
    assert auc_estimate(errors, errors, method="delong").low < 0.6


def test_equal_shares_have_a_note_on_the_width():
    found = auc_estimate(np.full(50, 0.3), np.arange(50.0))
    assert "no case differs from the others" in said(found)


# Sums of placements, by the formula and by the kernel, against counting pair by pair; input of every kind.


@pytest.fixture(params=["formula", "kernel"])
def way(request, monkeypatch):
    """Both ways to count."""
    monkeypatch.setenv("UQASSAY_PURE", "1" if request.param == "formula" else "0")
    if request.param == "kernel":
        request.getfixturevalue("compiled")
    return request.param


def tied_by_definition(values):
    m = len(values)
    return 0.0 if m < 2 else (squared_ties(values) - m) / (m * m - m)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_against_brute_force(way, random_generator, dtype):
    for n in (1, 2, 3, 40, 300):
        for values in awkward_arrays(random_generator, n, dtype):
            first = random_generator.random(n) < random_generator.random()
            found = placement_sums(first, values, "scores")
            x, y = values[first], values[~first]
            b = np.array(twice_placements(x, y)) / 2
            a = len(x) - np.array(twice_placements(y, x)) / 2
            assert found.sizes == (len(x), len(y))
            assert found.tied == pytest.approx((tied_by_definition(x), tied_by_definition(y)), abs=1e-15)
            assert found.constant == (len(np.unique(values)) == 1)
            assert (found.below[0], found.above[0]) == (b.sum(), a.sum())
            assert (found.below[1], found.above[1]) == pytest.approx((float(b @ b), float(a @ a)), rel=1e-13)


@pytest.mark.parametrize("dtype", [np.float16, np.int32, np.uint8, ">f4", ">f8", np.longdouble])
def test_every_dtype_counts_like_its_numbers(way, random_generator, dtype):
    values = random_generator.integers(0, 30, 200).astype(dtype)
    first = random_generator.random(200) < 0.4
    assert placement_sums(first, values, "scores") == placement_sums(first, values.astype(np.float64), "scores")


def test_views_and_read_only_arrays(way, random_generator):
    values, first = random_generator.random(300), random_generator.random(300) < 0.4
    plain = placement_sums(first[::3].copy(), values[::-3].copy(), "scores")
    for array in (values, first):
        array.setflags(write=False)
    assert placement_sums(first[::3], values[::-3], "scores") == plain


def test_nan_is_refused(way):
    with refuses("scores", "finite", got="1 of 3 values are nan, the first at row 1"):
        placement_sums(np.array([True, False, True]), np.array([1.0, np.nan, 2.0]), "scores")


def test_one_sample_is_empty(way):
    assert placement_sums(np.zeros(3, dtype=bool), np.array([1.0, 2.0, 2.0]), "scores") == PlacementSums(
        (0, 3), (0.0, 0.0), (0.0, 0.0), (0.0, 1 / 3), False
    )


@pytest.mark.parametrize("n", [2, 30, 5_000])
def test_scores_in_single_precision_have_the_same_estimate(way, random_generator, n):
    scores = random_generator.normal(size=n).astype(np.float32)
    errors = scores + random_generator.normal(size=n) > 1
    errors[:2] = True, False
    single, double = uq_auc_score(errors, scores), uq_auc_score(errors, scores.astype(np.float64))
    assert (float(single), single.low, single.high, single.notes) == (
        float(double),
        double.low,
        double.high,
        double.notes,
    )


def test_formula_and_kernel_give_one_estimate(compiled, monkeypatch, random_generator):
    for n in (10, 300, 20_000):
        scores, errors = random_generator.normal(size=n), random_generator.random(n) < 0.3
        errors[:2] = True, False
        monkeypatch.setenv("UQASSAY_PURE", "1")
        formula = uq_auc_score(errors, scores)
        monkeypatch.setenv("UQASSAY_PURE", "0")
        kernel = uq_auc_score(errors, scores)
        assert (float(kernel), kernel.notes, kernel.n) == (float(formula), formula.notes, formula.n)
        assert (kernel.low, kernel.high) == pytest.approx((formula.low, formula.high), rel=1e-12)
