"""AURC, E-AURC, AUGRC and prediction-rejection ratios: brute force, closed forms, influences, degenerate cases."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import rankdata, t
from tests.notes import said, texts
from tests.refusals import refuses

from uqassay.metrics.ranking import paired_ranking_test
from uqassay.metrics.risk import (
    SCALES,
    accuracy_at_coverage_score,
    area_estimate,
    augrc_linearised,
    augrc_loss,
    aurc,
    aurc_loss,
    aurc_trapezoid,
    e_aurc,
    e_aurc_loss,
    prediction_rejection,
    prediction_rejection_in_part,
    prediction_rejection_score,
    rank_errors,
    risk_coverage_curve,
    small_sample_ratio,
)
from uqassay.statistics import proportion_estimate
from uqassay.statistics.auc import auc_estimate


def selective_score(errors, uncertainty, **options):
    return prediction_rejection_score(errors, uncertainty, risk="selective", **options)


def score_in_part(errors, uncertainty, **options):
    return prediction_rejection_score(errors, uncertainty, max_rejection=0.4, **options)


def selective_in_part(errors, uncertainty, **options):
    return score_in_part(errors, uncertainty, risk="selective", **options)


TRAPEZOIDS = (partial(aurc_loss, convention="trapezoid"), partial(e_aurc_loss, convention="trapezoid"))
SCORES = (aurc_loss, e_aurc_loss, augrc_loss, prediction_rejection_score, selective_score)
IN_PART = (score_in_part, selective_in_part)
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(20)


def random_case(seed, n=30, levels=4, soft=False):
    rng = np.random.default_rng(seed)
    errors = rng.random(n).round(1) if soft else (rng.random(n) < 0.3).astype(float)
    errors[:2] = 0, 1
    return errors, rng.integers(0, levels, n) + 0.4 * errors.round(), 0.5 * rng.integers(1, 5, n)


def curve(errors, uncertainty, weights):
    """Coverage, risk and generalised risk at the distinct thresholds, by definition."""
    rows = []
    for threshold in sorted(set(uncertainty)):
        kept = uncertainty <= threshold
        mass = (weights * errors)[kept].sum()
        rows.append((weights[kept].sum() / weights.sum(), mass / weights[kept].sum(), mass / weights.sum()))
    return np.array(rows).T


def trapezoid(x, y, first):
    """Area of the polygon through (0, first) and the points."""
    return np.trapezoid(np.append(first, y), np.append(0.0, x))


def mean_risk(coverage, wrong):
    """Mean over coverages of (error mass kept) / coverage by quadrature, with the mass linear between the points given."""
    c, mass = np.append(0.0, coverage), np.append(0.0, wrong)
    steps = np.diff(c)
    # Gauss-Legendre on 20 parts of every step; from 0 the integrand is constant
    ends = c[:-1, np.newaxis] + steps[:, np.newaxis] * np.linspace(0, 1, 21)
    x = ends[:, :-1, np.newaxis] + np.diff(ends)[..., np.newaxis] * (NODES + 1) / 2
    values = np.interp(x, c, mass) / x
    return float((values * NODE_WEIGHTS * np.diff(ends)[..., np.newaxis] / 2).sum())


def uq_auc(errors, uncertainty):
    """Over all pairs of an error and a right prediction, ties half."""
    wrong, right = uncertainty[errors == 1], uncertainty[errors == 0]
    pairs = wrong[:, np.newaxis] - right
    return ((pairs > 0) + 0.5 * (pairs == 0)).mean()


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("levels", [1, 4, 10**6])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_against_brute_force(soft, levels, weighted):
    errors, uncertainty, weights = random_case(1, levels=levels, soft=soft)
    given = weights if weighted else None
    w = weights if weighted else np.ones(30)
    c, risk, generalised = curve(errors, uncertainty, w)
    r = (w * errors).sum() / w.sum()
    area, generalised_area = mean_risk(c, generalised), trapezoid(c, generalised, 0.0)
    assert aurc_loss(errors, uncertainty, sample_weight=given) == pytest.approx(area, abs=1e-12)
    polygon, excess = (score(errors, uncertainty, sample_weight=given) for score in TRAPEZOIDS)
    assert polygon == pytest.approx(trapezoid(c, risk, risk[0]), abs=1e-13)
    assert augrc_loss(errors, uncertainty, sample_weight=given) == pytest.approx(generalised_area, abs=1e-13)
    c, _, generalised = curve(errors, errors, w)
    best = trapezoid(c, generalised, 0.0)
    ratio = prediction_rejection_score(errors, uncertainty, sample_weight=given)
    assert ratio == pytest.approx((r / 2 - generalised_area) / (r / 2 - best), abs=1e-12)
    best = mean_risk(c, generalised)
    assert e_aurc_loss(errors, uncertainty, sample_weight=given) == pytest.approx(area - best, abs=1e-12)
    assert excess == pytest.approx(polygon - best, abs=1e-12)
    ratio = selective_score(errors, uncertainty, sample_weight=given)
    assert ratio == pytest.approx((r - area) / (r - best), abs=1e-10)


@pytest.mark.parametrize("soft", [False, True])
def test_aurc_is_the_mean_over_all_orders_of_the_tied_instances(soft):
    errors, uncertainty, _ = random_case(20, n=7, levels=2, soft=soft)
    uncertainty = np.floor(uncertainty)
    order = np.argsort(uncertainty)
    e, s = errors[order], uncertainty[order]
    cuts = np.flatnonzero(np.diff(s)) + 1
    assert 0 < cuts.size < 4  # few levels, so ties
    kept = np.arange(1, 8) / 7
    areas, found = [], aurc_loss(errors, uncertainty)
    for rows in permutations(range(7)):
        if (s[list(rows)] == s).all():  # an order that moves instances inside ties only
            areas.append(mean_risk(kept, np.cumsum(e[list(rows)]) / 7))
    assert len(areas) > 10
    assert found == pytest.approx(np.mean(areas), abs=1e-12)


def test_aurc_is_the_mean_of_the_risk_at_all_coverages():
    errors, uncertainty, weights = random_case(21, n=40, levels=5)
    grid = (np.arange(20_000) + 0.5) / 20_000
    for w in (None, weights):
        risks = risk_coverage_curve(errors, uncertainty, sample_weight=w).at(grid).risk
        found = aurc_loss(errors, uncertainty, sample_weight=w)
        assert found == pytest.approx(risks.mean(), abs=1e-6)
        for c, risk in zip(grid[777::5000], risks[777::5000], strict=True):
            accuracy = accuracy_at_coverage_score(errors, uncertainty, coverage=c, sample_weight=w)
            assert risk == pytest.approx(1 - accuracy, abs=1e-12)


def test_a_score_that_ties_nearly_all_instances_does_not_beat_a_better_one():
    n, rng = 2000, np.random.default_rng(22)
    errors = (rng.random(n) < 0.12).astype(float)
    good = rng.normal(size=n) + 0.55 * errors
    tied = np.where((rng.random(n) < 0.035) & (errors == 0), 0.0, 1.0)  # certain of 3 %, says nothing of the others
    assert uq_auc(errors, good) > 0.63
    assert uq_auc(errors, tied) < 0.53
    assert 0.96 < tied.mean() < 0.98
    assert aurc_loss(errors, tied, convention="trapezoid") < aurc_loss(errors, good, convention="trapezoid") - 0.01
    assert aurc_loss(errors, tied) > aurc_loss(errors, good) + 0.02
    test = paired_ranking_test((errors, tied), (errors, good), metric="aurc")
    assert test.pvalue < 0.01
    assert test.difference > 0


@pytest.mark.parametrize("levels", [1, 2, 4, 10**6])
@pytest.mark.parametrize("seed", range(5))
def test_augrc_and_ratio_are_functions_of_accuracy_and_uq_auc(levels, seed):
    errors, uncertainty, _ = random_case(seed, levels=levels)
    accuracy, auc = 1 - errors.mean(), uq_auc(errors, uncertainty)
    expected = 0.5 * (1 - accuracy) ** 2 + accuracy * (1 - accuracy) * (1 - auc)
    assert augrc_loss(errors, uncertainty) == pytest.approx(expected, abs=1e-12)
    assert prediction_rejection_score(errors, uncertainty) == pytest.approx(2 * auc - 1, abs=1e-12)


def test_real_predictions_against_the_closed_forms(cifar10):
    probs, labels = cifar10["snn"], cifar10["labels"]
    errors, uncertainty = (probs.argmax(axis=1) != labels).astype(float), 1 - probs.max(axis=1)
    ranks = rankdata(uncertainty)[errors == 1]
    auc = (ranks.mean() - (ranks.size + 1) / 2) / (errors == 0).sum()
    r = errors.mean()
    assert augrc_loss(errors, uncertainty) == pytest.approx(r**2 / 2 + r * (1 - r) * (1 - auc), abs=1e-12)
    assert prediction_rejection_score(errors, uncertainty) == pytest.approx(2 * auc - 1, abs=1e-12)
    excess = aurc_loss(errors, uncertainty) - e_aurc_loss(errors, uncertainty)
    assert excess == pytest.approx(r + (1 - r) * np.log1p(-r), abs=1e-12)


def test_augrc_of_shares_is_the_sum_over_pairs_with_self_pairs_half():
    errors, uncertainty, _ = random_case(2, soft=True)
    later = uncertainty[:, np.newaxis] < uncertainty
    same = uncertainty[:, np.newaxis] == uncertainty
    expected = (errors[:, np.newaxis] * (later + 0.5 * same)).sum() / 30**2
    assert augrc_loss(errors, uncertainty) == pytest.approx(expected, abs=1e-13)


def test_best_area_has_the_closed_form_of_geifman():
    # perfect order: AURC by its own definition minus r + (1 − r) ln(1 − r)
    errors = np.repeat([0.0, 1.0], [70, 30])
    best = aurc_loss(errors, np.arange(100)) - e_aurc_loss(errors, np.arange(100))
    assert best == pytest.approx(0.3 + 0.7 * np.log(0.7), abs=1e-14)
    assert e_aurc_loss(errors, errors) == e_aurc_loss(errors, np.arange(100)) == 0.0
    two_levels = e_aurc_loss(errors, errors, convention="trapezoid")
    assert two_levels == pytest.approx(0.3**2 / 2 - 0.3 - 0.7 * np.log(0.7), abs=1e-14)
    assert two_levels == pytest.approx(-(0.3**3) / 6, abs=2e-3)


def test_no_order_is_better_than_the_best():
    for seed in range(60):
        errors, uncertainty, weights = random_case(seed, n=6, levels=2, soft=seed % 2 == 0)
        assert e_aurc_loss(errors, uncertainty, sample_weight=weights if seed % 3 == 0 else None) >= 0
        assert selective_score(errors, uncertainty) <= 1


def test_relation_to_other_conventions():
    errors, uncertainty, _ = random_case(3, levels=10**6)
    n, found = errors.size, float(aurc_loss(errors, uncertainty, convention="trapezoid"))
    risks = np.cumsum(errors[np.argsort(uncertainty)]) / np.arange(1, n + 1)
    # the mean of the risks is the step curve: it differs by half of the first and last steps
    assert found == pytest.approx(risks.mean() + (risks[0] - risks[-1]) / (2 * n), abs=1e-13)
    # trapezoids over the coverages 1/n … 1 alone, stretched to 1 (torch-uncertainty)
    stretched = np.trapezoid(risks, np.arange(1, n + 1) / n) / (1 - 1 / n)
    assert found == pytest.approx(stretched * (1 - 1 / n) + risks[0] / n, abs=1e-13)


@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_distance_to_the_mean_over_numbers_kept(n):
    # linear in the errors: the most it can be is the sum of the positive differences of single errors
    k, s = np.arange(1, n + 1), np.arange(n)
    exact = np.array([aurc_loss(s == i, s) for i in range(n)])
    discrete = np.array([((k > i) / k).sum() / n for i in range(n)])
    assert exact.sum() == pytest.approx(1.0)
    assert np.maximum(exact - discrete, 0).sum() < 1 / (2 * n)


def lm_polygraph_ratio(errors, uncertainty, max_rejection):
    """By the definition of its `PredictionRejectionArea`, normalised by the best order and the expectation of a random one."""
    quality = 1 - errors
    n = quality.size
    refused = int(max_rejection * n)
    kept = np.arange(n - refused + 1, n + 1)

    def area(order):
        return np.mean([quality[order[:k]].mean() for k in kept])

    best, found = area(np.argsort(errors)), area(np.argsort(uncertainty))
    return (found - quality.mean()) / (best - quality.mean())


@pytest.mark.parametrize("max_rejection", [0.1, 0.25, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("soft", [False, True])
def test_ratio_by_counts_is_that_of_lm_polygraph(max_rejection, soft):
    for seed in range(5):
        errors, uncertainty, _ = random_case(seed, n=40, levels=10**6, soft=soft)
        options = {"risk": "selective", "max_rejection": max_rejection}
        found = prediction_rejection_score(errors, uncertainty, convention="counts", **options)
        assert found == pytest.approx(lm_polygraph_ratio(errors, uncertainty, max_rejection), abs=1e-12)
        # 500 copies of each instance: the mean over the numbers kept becomes the mean over the coverages
        many = prediction_rejection_score(
            np.repeat(errors, 500), np.repeat(uncertainty, 500), convention="counts", **options
        )
        assert prediction_rejection_score(errors, uncertainty, **options) == pytest.approx(float(many), abs=1e-3)


def test_tied_counts_are_the_mean_over_all_orders():
    errors, uncertainty = np.array([0.0, 1, 1, 0, 0, 1]), np.array([0, 0, 1, 1, 1, 2])
    found = prediction_rejection_score(errors, uncertainty, risk="selective", max_rejection=0.5, convention="counts")
    orders = [np.array(rows) for rows in permutations(range(6)) if (np.diff(uncertainty[list(rows)]) >= 0).all()]
    assert len(orders) == 12
    each = [lm_polygraph_ratio(errors[order], np.arange(6), 0.5) for order in orders]
    assert found == pytest.approx(np.mean(each), abs=1e-12)


@pytest.mark.parametrize("levels", [1, 4, 10**6])
@pytest.mark.parametrize("risk", ["generalised", "selective"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_ratio_in_part_against_quadrature(levels, risk, weighted, soft):
    errors, uncertainty, weights = random_case(3, levels=levels, soft=soft)
    w = weights if weighted else np.ones(30)
    grid = 1 - 0.35 * (np.arange(100_000) + 0.5) / 100_000

    def area(scores):
        c, _, mass = curve(errors, scores, w)
        risks = np.interp(grid, np.append(0, c), np.append(0, mass))
        return float((risks if risk == "generalised" else risks / grid).mean())

    rate = (w * errors).sum() / w.sum()
    random = float((rate * grid).mean()) if risk == "generalised" else rate
    found = prediction_rejection_score(
        errors, uncertainty, risk=risk, max_rejection=0.35, sample_weight=weights if weighted else None
    )
    assert found == pytest.approx((random - area(uncertainty)) / (random - area(errors)), abs=1e-7)


@pytest.mark.parametrize("risk", ["generalised", "selective"])
def test_ratio_in_part_at_its_ends(risk):
    errors, uncertainty, _ = random_case(5, levels=6)
    options = {"risk": risk}
    nearly = prediction_rejection_score(errors, uncertainty, max_rejection=1 - 1e-10, **options)
    assert nearly == pytest.approx(float(prediction_rejection_score(errors, uncertainty, **options)), abs=1e-8)
    constant = prediction_rejection_score(errors, np.zeros(30), max_rejection=0.5, **options)
    assert (constant, constant.low, constant.high) == pytest.approx((0, 0, 0), abs=1e-9)
    for perfect in (errors, np.where(errors == 1, 2.0, np.arange(30) / 30)):
        found = prediction_rejection_score(errors, perfect, max_rejection=0.5, **options)
        assert found == 1.0
        assert np.isnan(found.low)
        assert "no order is better" in said(found)
    for same in (np.zeros(30), np.ones(30)):
        assert np.isnan(prediction_rejection_score(same, uncertainty, max_rejection=0.5, **options))
    few = prediction_rejection_score([0, 1, 0], [1, 2, 3], risk="selective", max_rejection=0.5, convention="counts")
    assert np.isnan(few)
    assert "fewer than two" in said(few)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_generalised_ratio_has_the_interval_of_uq_auc(weighted, grouped):
    errors, uncertainty, weights = random_case(12, n=80)
    weights[::7] = 0
    options = {"sample_weight": weights if weighted else None, "groups": np.arange(80) // 4 if grouped else None}
    auc = auc_estimate(errors, uncertainty, **options)
    found = prediction_rejection_score(errors, uncertainty, **options)
    expected = (2 * auc - 1, 2 * auc.low - 1, 2 * auc.high - 1)
    assert (found, found.low, found.high) == pytest.approx(expected, abs=1e-10)
    perfect = prediction_rejection_score(errors, errors, **options)
    assert perfect == pytest.approx(1.0)
    assert 0.3 < perfect.low < perfect.high <= 1.0


@pytest.mark.parametrize("score", [*SCORES, *TRAPEZOIDS, *IN_PART])
@pytest.mark.parametrize("soft", [False, True])
def test_row_order_does_not_matter(score, soft):
    errors, uncertainty, _ = random_case(7, n=300, levels=6, soft=soft)
    weights = np.random.default_rng(7).random(300)
    for w in (None, weights):
        one = score(errors, uncertainty, sample_weight=w)
        order = np.random.default_rng(8).permutation(300)
        other = score(errors[order], uncertainty[order], sample_weight=None if w is None else w[order])
        assert float(other) == float(one)  # bit for bit
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=1e-12)


@pytest.mark.parametrize("score", [*SCORES, *TRAPEZOIDS, *IN_PART])
def test_only_the_order_of_the_scores_matters(score):
    errors, uncertainty, _ = random_case(8)
    one, other = score(errors, uncertainty), score(errors, np.exp(uncertainty))
    assert (one, one.low, one.high) == (other, other.low, other.high)
    infinite = np.where(uncertainty == uncertainty.max(), np.inf, uncertainty)
    infinite = np.where(uncertainty == uncertainty.min(), -np.inf, infinite)
    other = score(errors, infinite)
    assert (one, one.low, one.high) == (other, other.low, other.high)


@pytest.mark.parametrize("score", [*SCORES, *IN_PART])
def test_intervals_hold_the_estimate_and_keep_to_its_range(score):
    for seed in range(30):
        errors, uncertainty, _ = random_case(seed, n=12, levels=6)
        found = score(errors, uncertainty)
        if not np.isnan(found.low):
            assert found.low <= found <= found.high
        if score in (aurc_loss, augrc_loss):
            assert found.low >= 0
            assert found.high <= 1
        if score in (prediction_rejection_score, selective_score, *IN_PART):
            assert not found.high > 1 + 1e-9


def test_the_worst_order_has_the_binary_entropy_as_e_aurc():
    n, wrong = 100_000, 20_000
    worst = (np.arange(n) < wrong).astype(float)
    rate = wrong / n
    entropy = -rate * np.log(rate) - (1 - rate) * np.log(1 - rate)
    assert e_aurc_loss(worst, np.arange(n)) == pytest.approx(entropy, abs=1e-4)


def test_where_one_error_decides_the_interval_ends_at_an_aurc_of_1():
    errors = np.zeros(200)
    errors[[3, 199]] = 1.0
    found = e_aurc_loss(errors, np.arange(200))
    best = 0.01 + 0.99 * np.log(0.99)
    assert found.high == pytest.approx(1 - best)  # an AURC of 1
    ratio = prediction_rejection_score(errors, np.arange(200), risk="selective", level=0.99)
    assert ratio.low == pytest.approx(1 - (1 - best) / (0.01 - best))
    worst = e_aurc_loss(errors, -errors)  # two levels, and linear between them
    assert found.low < found < worst < found.high


def logit(x, top):
    return np.log(x / (top - x))


@pytest.mark.parametrize("levels", [5, 10**6])
@pytest.mark.parametrize(
    ("score", "loss", "scale", "slope"),
    [
        (aurc_loss, lambda x: x, lambda x: logit(x, 1.0), lambda x: 1 / (x * (1 - x))),
        (augrc_loss, lambda x: x, lambda x: logit(x, 0.5), lambda x: 0.5 / (x * (0.5 - x))),
        (e_aurc_loss, lambda x: x, np.log, lambda x: 1 / x),
        (selective_score, lambda x: 1 - x, np.log, lambda x: 1 / x),
    ],
)
def test_intervals_against_the_jackknife(score, loss, scale, slope, levels):
    n = 240
    rng = np.random.default_rng(2)
    errors = (rng.random(n) < 0.3).astype(float)
    uncertainty = np.floor(levels * rng.random(n) ** np.where(errors == 1, 0.5, 1.0))
    found = score(errors, uncertainty)
    x = loss(float(found))
    ends = sorted(scale(loss(end)) for end in (found.low, found.high))
    left_out = np.array([score(np.delete(errors, i), np.delete(uncertainty, i)) for i in range(n)])
    u = (left_out - left_out.mean()) * (n - 1) / n
    square = np.sum(u**2)
    dof = min(n - 1, max(3, 2 * square**2 / (np.sum(u**4) - square**2 / n)))
    half = t.ppf(0.975, dof) * np.sqrt(n / (n - 1) * square) * slope(x)
    assert sum(ends) / 2 == pytest.approx(scale(x), abs=1e-9)
    assert (ends[1] - ends[0]) / 2 == pytest.approx(half, rel=0.03)


def test_no_errors_or_only_errors():
    scores = np.arange(50)
    for errors, note in ((np.zeros(50), "no errors"), (np.ones(50), "no right predictions")):
        rate = proportion_estimate(errors)
        area, generalised = aurc_loss(errors, scores), augrc_loss(errors, scores)
        assert (area, area.low, area.high) == pytest.approx((rate, rate.low, rate.high), abs=1e-9)
        assert (generalised, generalised.high) == pytest.approx((rate / 2, rate.high / 2), abs=1e-9)
        excess = e_aurc_loss(errors, scores)
        assert excess == pytest.approx(0.0, abs=1e-12)
        assert np.isnan(excess.low)
        for risk in ("generalised", "selective"):
            ratio = prediction_rejection_score(errors, scores, risk=risk)
            assert np.isnan(ratio)
            assert "all errors are equal" in said(ratio)
        for found in (area, generalised, excess, ratio):
            assert note in texts(found)


def test_constant_scores_rank_nothing():
    errors = np.repeat([0.0, 1.0], [70, 30])
    found = aurc_loss(errors, np.zeros(100))
    assert found == pytest.approx(0.3)
    assert texts(found) == ["all scores are equal: nothing is ranked"]
    assert found.low < 0.25
    for risk in ("generalised", "selective"):
        ratio = prediction_rejection_score(errors, np.zeros(100), risk=risk)
        assert (ratio, ratio.low, ratio.high) == pytest.approx((0, 0, 0), abs=1e-9)
    assert e_aurc_loss(errors, np.zeros(100)) == pytest.approx(-0.7 * np.log(0.7), abs=1e-12)


def test_a_perfect_order_has_no_interval():
    errors = np.repeat([0.0, 1.0], [70, 30])
    shares = np.repeat([0.1, 0.4, 0.9], [40, 30, 30])
    cases = [(score, e) for score in (e_aurc_loss, selective_score) for e in (errors, shares)]
    for score, e in [*cases, (prediction_rejection_score, shares)]:
        for uncertainty in (np.arange(100), e):
            found = score(e, uncertainty)
            assert np.isnan(found.low)
            assert "no case is ranked wrongly" in said(found)
    assert prediction_rejection_score(errors, errors) == pytest.approx(1.0)
    assert aurc_loss(errors, np.arange(100)).low > 0
    # one tie that holds both an error and a right prediction is not perfect
    tied = np.arange(100)
    tied[70] = 69
    assert e_aurc_loss(errors, tied).low > 0


def test_few_errors_are_counted_and_one_instance_has_no_interval():
    assert texts(aurc_loss(np.arange(100) < 7, np.arange(100))) == ["only 7 errors: a rough interval"]
    assert texts(aurc_loss(np.arange(100) >= 7, np.arange(100))) == ["only 7 right predictions: a rough interval"]
    assert texts(aurc_loss(np.arange(100) < 20, np.arange(100))) == []
    grouped = aurc_loss(np.arange(100) < 40, np.arange(100), groups=np.arange(100) // 10)
    assert said(grouped).startswith("10 groups | only 4 errors in different groups: a rough interval")
    one = aurc_loss([1], [0.5])
    assert one == 1.0
    assert np.isnan(one.low)
    assert "1 case: no interval" in said(one)
    assert said(aurc_loss([0, 1], [1, 2], groups=["a", "a"])).startswith("1 group | 1 group: no interval")


def test_bad_input_is_refused():
    for score in SCORES:
        with refuses("errors", "finite", got="1 of 2 values are nan"):
            score([np.nan, 0], [1, 2])
        with refuses("errors", "range", got="must lie between 0 and 1"):
            score([1.5, 0], [1, 2])
    with refuses("risk", "choice", got="got 'other'"):
        prediction_rejection_score([0, 1], [1, 2], risk="other")
    for most in (0.0, 1.1, np.nan):
        with refuses("max_rejection", "range"):
            prediction_rejection_score([0, 1], [1, 2], max_rejection=most)
    with refuses("convention", "conflict"):
        prediction_rejection_score([0, 1], [1, 2], convention="counts")
    with refuses("sample_weight", "conflict"):
        prediction_rejection_score([0, 1], [1, 2], risk="selective", convention="counts", sample_weight=[1, 2])
    for score in (aurc_loss, e_aurc_loss):
        with refuses("convention", "choice", got="got 'paper'"):
            score([0, 1], [1, 2], convention="paper")
    assert set(SCALES) >= {"aurc", "e-aurc", "augrc"}


# Influences on the areas under risk-coverage curves against finite differences; training runs.


def aurc_linearised(errors, uncertainty, weights=None):
    return aurc(rank_errors(errors, uncertainty, weights))


def e_aurc_linearised(errors, uncertainty, weights=None):
    return e_aurc(rank_errors(errors, uncertainty, weights))


def selective_ratio(errors, uncertainty, weights=None):
    return small_sample_ratio(rank_errors(errors, uncertainty, weights), "selective")


def generalised_ratio(errors, uncertainty, weights=None):
    return prediction_rejection(rank_errors(errors, uncertainty, weights), "generalised")


def generalised_in_part(errors, uncertainty, weights=None):
    return prediction_rejection_in_part(rank_errors(errors, uncertainty, weights), "generalised", 0.37, "exact")


def selective_in_part_linearised(errors, uncertainty, weights=None):
    return prediction_rejection_in_part(rank_errors(errors, uncertainty, weights), "selective", 0.37, "exact")


def aurc_by_trapezoids(errors, uncertainty, weights=None):
    return aurc_trapezoid(rank_errors(errors, uncertainty, weights))


def e_aurc_by_trapezoids(errors, uncertainty, weights=None):
    return e_aurc(rank_errors(errors, uncertainty, weights), "trapezoid")


EXACT = (aurc_linearised, e_aurc_linearised, augrc_linearised, generalised_ratio, selective_ratio)
KERNELS = (*EXACT, generalised_in_part, selective_in_part_linearised, aurc_by_trapezoids, e_aurc_by_trapezoids)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("levels", [4, 10**6])
@pytest.mark.parametrize("weighted", [False, True])
def test_influence_against_finite_differences_of_the_weights(kernel, soft, levels, weighted):
    errors, uncertainty, weights = random_case(4, levels=levels, soft=soft)
    w = weights if weighted else np.ones(30)
    found = kernel(errors, uncertainty, weights if weighted else None)
    assert (w * found.influence).sum() == pytest.approx(0.0, abs=1e-12)
    assert np.abs(found.influence).max() > 1e-3
    for i in range(30):
        step = np.zeros(30)
        step[i] = 1e-5
        change = kernel(errors, uncertainty, w + step).value - kernel(errors, uncertainty, w - step).value
        assert found.influence[i] == pytest.approx(w.sum() * change / 2e-5, abs=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
def test_instances_of_weight_zero_are_absent(kernel):
    errors, uncertainty, weights = random_case(5)
    weights[::3] = 0
    found, kept = kernel(errors, uncertainty, weights), weights > 0
    other = kernel(errors[kept], uncertainty[kept], weights[kept])
    assert found.value == other.value
    np.testing.assert_array_equal(found.influence[kept], other.influence)
    assert (found.influence[~kept] == 0).all()


def test_several_runs_are_averaged_and_their_spread_is_added():
    cases = [random_case(seed, n=200, levels=10**6)[:2] for seed in range(4)]
    runs = [aurc_linearised(e, s, None) for e, s in cases]
    found = area_estimate(runs, "aurc")
    values = [run.value for run in runs]
    assert found == pytest.approx(np.mean(values))
    assert "4 runs" in said(found)
    same = area_estimate([runs[0]] * 4, "aurc")
    one = area_estimate(runs[0], "aurc")
    assert (same.low, same.high) == pytest.approx((one.low, one.high))
    # one run far from the others: s² / R of the values is added to the variance
    apart = area_estimate([runs[0], runs[0], runs[0], aurc_linearised(cases[0][0], cases[0][0], None)], "aurc")
    assert apart.high - apart.low > 1.5 * (one.high - one.low)
