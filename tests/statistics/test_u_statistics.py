"""Concordant pairs against counting every pair, ties and weights included; influences against finite differences."""

import numpy as np
import pytest
from tests.notes import texts
from tests.refusals import refuses

from uqassay.statistics import correlation as u_statistics
from uqassay.statistics.correlation import concordance, concordance_linearised, dense_ranks, dominance_sums
from uqassay.statistics.linearised import linearised_estimate


def pairs_one_by_one(truth, scores, weights):
    n = len(truth)
    concordant, comparable, tied = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(n):
            if truth[i] != truth[j]:
                comparable[i] += weights[j]
                concordant[i] += weights[j] * (
                    0.5 + 0.5 * np.sign(truth[i] - truth[j]) * np.sign(scores[i] - scores[j])
                )
                tied[i] += weights[j] * (scores[i] == scores[j])
    return concordant, comparable, tied


def random_case(rng, n, truth_levels, score_levels):
    """Values with ties where a number of levels is given."""
    columns = []
    for levels in (truth_levels, score_levels):
        columns.append(rng.normal(size=n) if levels is None else rng.integers(0, levels, n).astype(float))
    return columns


@pytest.mark.parametrize("truth_levels", [None, 1, 2, 7])
@pytest.mark.parametrize("score_levels", [None, 1, 2, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_against_brute_force(random_generator, truth_levels, score_levels, weighted):
    for n in (1, 2, 3, 17, 64, 65, 130):
        truth, scores = random_case(random_generator, n, truth_levels, score_levels)
        weights = random_generator.integers(0, 4, n) / 2 if weighted else np.ones(n)
        weights[0] = 1
        found = concordance(truth, scores, sample_weight=weights if weighted else None)
        for mine, expected in zip(
            (found.concordant, found.comparable, found.tied), pairs_one_by_one(truth, scores, weights), strict=True
        ):
            assert mine == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("n", [1, 5, 64, 65, 127, 128, 129, 200, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_dominance_against_brute_force(random_generator, n, weighted):
    ranks = random_generator.permutation(n)
    weights = random_generator.integers(0, 5, n).astype(float) if weighted else None
    expected = np.zeros(n)
    for i in range(n):
        smaller = ranks[:i] < ranks[i]
        expected[ranks[i]] = smaller.sum() if weights is None else weights[:i][smaller].sum()
    assert dominance_sums(ranks, weights) == pytest.approx(expected)


@pytest.mark.parametrize("cores", [1, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_and_threads_change_nothing(random_generator, monkeypatch, cores, weighted):
    ranks = random_generator.permutation(5000)
    weights = random_generator.exponential(size=5000) if weighted else None
    expected = dominance_sums(ranks, weights)
    monkeypatch.setattr(u_statistics, "_CACHED", 256)
    monkeypatch.setattr(u_statistics, "available_cores", lambda: cores)
    assert dominance_sums(ranks, weights) == pytest.approx(expected, rel=1e-13)


def test_ties_in_a_large_sample_against_scipy(random_generator):
    from scipy.stats import kendalltau

    truth, scores = random_case(random_generator, 200_000, 50, 300)
    found = concordance(truth, scores)
    both = float(found.tied.sum())
    discordant = found.pairs - float(found.concordant.sum()) - 0.5 * both
    gap = float(found.concordant.sum()) - 0.5 * both - discordant
    untied_scores = float(concordance(scores, truth).pairs)
    assert gap / np.sqrt(found.pairs * untied_scores) == pytest.approx(kendalltau(truth, scores).statistic, abs=1e-12)


def test_an_integer_weight_equals_copies(random_generator):
    truth, scores = random_case(random_generator, 40, None, 5)
    copies = random_generator.integers(0, 4, 40)
    weighted = concordance(truth, scores, sample_weight=copies)
    repeated = concordance(np.repeat(truth, copies), np.repeat(scores, copies))
    assert weighted.share == pytest.approx(repeated.share, abs=1e-14)
    assert weighted.pairs == pytest.approx(repeated.pairs, rel=1e-14)


@pytest.mark.parametrize("imaginary", [0.0, 0.3])
def test_influences_are_the_derivative_in_the_weights(random_generator, imaginary):
    truth, scores = random_case(random_generator, 25, 6, 8)
    weights = random_generator.exponential(size=25) + 0.2
    found = concordance_linearised(truth, scores, weights, imaginary=imaginary)
    if not imaginary:
        assert float(weights @ found.influence) == pytest.approx(0.0, abs=1e-10)

    def value(w):
        extra = imaginary * weights.sum() / 25  # of the weight that the imaginary instance had
        c = concordance(truth, scores, sample_weight=w)
        return (c.share * c.pairs + extra * w.sum()) / (c.pairs + 2 * extra * w.sum())

    for i in range(25):
        up, down = weights.copy(), weights.copy()
        up[i] += 1e-4
        down[i] -= 1e-4
        slope = (value(up) - value(down)) / 2e-4
        assert slope * weights.sum() == pytest.approx(found.influence[i], abs=1e-5)


def test_variance_against_the_jackknife(random_generator):
    truth = random_generator.normal(size=400)
    scores = truth + random_generator.normal(size=400)
    found = linearised_estimate(concordance_linearised(truth, scores, None))
    without = [concordance(np.delete(truth, i), np.delete(scores, i)).share for i in range(400)]
    jackknife = np.sqrt(399 / 400 * ((without - np.mean(without)) ** 2).sum())
    assert (found.high - found.low) / (2 * 1.966) == pytest.approx(jackknife, rel=0.02)


def test_row_order_and_scale_do_not_matter(random_generator):
    truth, scores = random_case(random_generator, 300, 9, 20)
    rows = random_generator.permutation(300)
    first = concordance(truth, scores)
    moved = concordance(truth[rows] ** 3, np.exp(scores[rows]))
    assert np.array_equal(moved.concordant, first.concordant[rows])


def test_ranks_against_numpy(random_generator):
    values = np.r_[random_generator.integers(0, 9, 50).astype(float), np.inf, -np.inf, -0.0, 0.0]
    ranks, levels, order = dense_ranks(values)
    unique, inverse = np.unique(values, return_inverse=True)
    assert np.array_equal(ranks, inverse)
    assert levels == len(unique)
    assert (np.diff(values[order][1:-1]) >= 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_no_comparable_pair_gives_nan(weighted):
    found = concordance([2.0, 2.0], [1.0, 3.0], sample_weight=[1.0, 2.0] if weighted else None)
    assert np.isnan(found.share)
    assert found.pairs == 0
    statistic = concordance_linearised(np.array([2.0]), np.array([1.0]), None)
    assert np.isnan(statistic.value)
    assert texts(statistic) == ["no two instances differ in the truth"]


@pytest.mark.parametrize(
    ("arguments", "weights", "parameter", "code", "got"),
    [
        (([1, 2], [1, np.nan]), None, "scores", "finite", "1 of 2 values are nan"),
        (([1, 2], [1, 2, 3]), None, "scores", "mismatch", "got 3"),
        (([1, 2], [1, 2]), [1, -1], "sample_weight", "finite", "row 1 has -1"),
        (([1, 2], [1, 2]), [1], "sample_weight", "shape", ""),
    ],
)
def test_bad_input_is_refused(arguments, weights, parameter, code, got):
    with refuses(parameter, code, got=got):
        concordance(*arguments, sample_weight=weights)


def test_equal_truths_with_weights_are_undefined_despite_rounding():
    for weights in ([0.1, 0.2, 0.3], [0.7, 0.1, 0.2], [1e-3, 1e3, 0.1]):
        assert np.isnan(concordance([0.3] * 3, [1, 2, 3], sample_weight=weights).share)


def test_very_different_weights_cause_no_cancellation(random_generator):
    truth, scores = random_case(random_generator, 60, 9, 11)
    weights = 10.0 ** random_generator.uniform(-8, 8, 60)
    found = concordance(truth, scores, sample_weight=weights)
    expected = pairs_one_by_one(truth, scores, weights)[0]
    assert found.concordant == pytest.approx(expected, rel=1e-9, abs=1e-9 * weights.sum())
    assert float(weights @ found.concordant) == pytest.approx(float(weights @ expected), rel=1e-12)


def test_a_perfect_order_is_never_above_one(random_generator):
    for _ in range(200):
        truth = random_generator.normal(size=12)
        found = concordance_linearised(truth, truth, random_generator.exponential(size=12), imaginary=0.3)
        assert found.value <= 1.0
