"""The lens of the calibration: which tests, what they cost, one run, points, the class-wise error, and what is said."""

import dataclasses
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import combine_pvalues
from tests.evidence.cases import drawn
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses
from tests.report.calibration_cases import made_up, with_tests

import uqassay as uq
from uqassay._workers import Workers
from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.mixtures import IN_GROUPS, MixtureObjective, Mixtures
from uqassay.calibration.nulls import LabelDraws, least_reaching, sign_test
from uqassay.calibration.one_classifier import calibration_test
from uqassay.calibration.search import QUICK, minimise_over_simplex
from uqassay.evidence import calibration as classwise_error
from uqassay.evidence import calibration as cost
from uqassay.evidence import calibration as further_draws
from uqassay.evidence import calibration as of_points
from uqassay.evidence.calibration import (
    CalibrationPlan,
    calibration_claims,
    calibration_tests,
    check_measures,
    classwise_errors,
    classwise_gaps,
    errors_of_gaps,
    judged_tests,
    outcome_of,
    point_models,
    reached_by_further_draws,
)
from uqassay.metrics.measures import calibration_measure

# -- Measures of calibration by name, each once ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calibration", "refusal"),
    [
        ("ece-confidence", ("calibration", "type", "got 'ece-confidence'")),
        (None, ("calibration", "type", "got None")),
        (["ece"], ("calibration", "choice", "got 'ece'")),
        ([3], ("calibration", "choice", "got 3")),
    ],
)
def test_bad_measures_are_refused(calibration, refusal):
    with refuses(*refusal):
        uq.assay({"m": uq.Point([[0.5, 0.5]])}, [0], calibration=calibration)


def test_a_measure_of_ones_own_and_one_given_twice():
    own = replace(check_measures(["ece-confidence"], "x")[0], name="mine")
    assert [m.name for m in check_measures([own, "skce-ul", own, "skce-ul"], "x")] == ["mine", "skce-ul"]
    models = {"m": (uq.Point([[0.5, 0.5], [0.5, 0.5]]),)}
    tests = calibration_tests(models, np.array([0, 1]), [own], groups=None, plan=CalibrationPlan(), workers=Workers())
    assert [(t.measure, t.statistic) for t in tests] == [("mine", 0.0)]


# -- How many instances and runs the calibration tests of an assay can afford ------------------------------------------


ECE, PAIRS = calibration_measure("ece-confidence"), calibration_measure("skce-uq")


def sized(m, k, n_runs=1):
    return (uq.Members(np.full((1, m, k), 1 / k)),) * n_runs


@pytest.mark.parametrize(
    ("n", "k", "m", "tested"),
    [(10_000, 10, 3, 1500), (10_000, 10, 10, 1000), (100_000, 100, 10, 300), (897, 10, 10, 897), (50, 3, 5, 50)],
)
def test_what_a_set_can_afford(n, k, m, tested):
    """Sizes alone: nothing is computed."""
    assert cost.afforded(sized(m, k), ECE, n) == (tested, 1, False)


@pytest.mark.parametrize("n", [50, 10_000, 1_000_000])
def test_points_are_tested_on_all_instances_in_all_runs(n):
    runs = (uq.Point(np.full((1, 10), 0.1)),) * 7
    assert cost.afforded(runs, ECE, n) == (n, 7, False)
    assert cost.afforded(runs, PAIRS, n).n_tested == min(n, 2000)
    assert n * cost.point_draws(n) <= max(cost.POINT_WORK, 199 * n)


def test_numbers_of_instances_below_ten_are_whole(monkeypatch):
    monkeypatch.setattr(cost, "MOST_VALUES", 24)  # as of normal logits of thousands of classes
    found = cost.afforded((uq.Point(np.full((1, 3), 1 / 3)),), ECE, 100).n_tested
    assert (found, type(found)) == (8, int)


def test_sets_that_cost_too_much_are_tested_by_their_mean():
    assert cost.afforded(sized(50, 100, 2), ECE, 4_000) == (4_000, 2, True)
    assert cost.afforded(sized(100, 100, 2), ECE, 10_000) == (2_000, 2, True)  # of what its numbers allow


def test_runs_share_the_budget_of_their_model():
    one, five, many = (cost.afforded(sized(10, 10, r), ECE, 10_000) for r in (1, 5, 100))
    assert (five.n_runs, many.n_runs) == (5, 7)
    assert one.n_tested > five.n_tested > many.n_tested == cost.FEWEST
    assert cost.afforded(sized(10, 10), PAIRS, 10_000).n_tested == cost.FEWEST


def test_points_that_are_mixed(random_generator):
    found = {kind: cost.n_points(random_prediction(kind, random_generator)) for kind in KINDS}
    assert found == {
        "Point": 1,
        "Members": 3,
        "Dirichlet": 1,
        "Intervals": 8,
        "ClassSets": 8,
        "Masses": 8,
        "Vertices": 3,
        "GaussianLogits": 1,
    }


def test_instances_are_chosen_once_in_order_or_as_whole_groups():
    assert cost.choose_instances(10, 20, None, 0).tolist() == list(range(10))
    rows = cost.choose_instances(1000, 100, None, 0)
    assert len(rows) == 100
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert not np.array_equal(rows, cost.choose_instances(1000, 100, None, 1))
    groups = np.arange(1000) // 7
    rows = cost.choose_instances(1000, 100, groups, 0)
    chosen = np.unique(groups[rows])
    assert 100 <= len(rows) < 107
    assert rows.tolist() == np.flatnonzero(np.isin(groups, chosen)).tolist()


def test_every_instance_is_as_likely_as_any_other():
    counts = np.zeros(40)
    for seed in range(500):
        counts[cost.choose_instances(40, 10, None, seed)] += 1
    assert abs(counts / 500 - 0.25).max() < 4.5 * np.sqrt(0.25 * 0.75 / 500)


def test_passes_of_gaussian_logits_are_mixed_as_members_are():
    g = np.zeros((5, 6, 3))
    assert cost.n_points(uq.GaussianLogits(g, g, variance_is="aleatoric")) == 6
    assert cost.n_points(uq.GaussianLogits(g, g, variance_is="epistemic")) == 1


# -- Further draws of sets against full searches of the same draws, and shared by several measures ---------------------


NAMES = ("kuiper-confidence", "ece-classwise")


@pytest.fixture(scope="module")
def tested():
    """Overconfident members, and their tests; no draw of the first 99 reaches either statistic."""
    rng = np.random.default_rng(3)
    logits = 3 * rng.normal(size=(150, 1, 4)) + 0.4 * rng.normal(size=(150, 3, 4))
    members = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    flat = np.exp(0.6 * logits.mean(axis=1))
    labels = (rng.random((150, 1)) > (flat / flat.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    return members, [credal_calibration_test(labels, members, measure=name) for name in NAMES]


def reached(tested, n_more, names=NAMES):
    members, tests = tested
    chosen = [tests[NAMES.index(name)] for name in names]
    return reached_by_further_draws(members, chosen, [calibration_measure(name) for name in names], n_more, 7)


def test_together_as_alone_and_in_any_pieces(tested, monkeypatch):
    expected = reached(tested, 400)
    assert expected == [reached(tested, 400, (name,))[0] for name in NAMES]
    monkeypatch.setattr(further_draws, "TOGETHER", 150 * 7)
    monkeypatch.setattr(further_draws, "MOST_WAITING", 0)
    assert reached(tested, 400) == expected


def test_no_draw_is_forgotten(tested):
    """Every draw whose minimum reaches the statistic is counted; here most of the others are not."""
    members, tests = tested
    generator, mixtures = np.random.default_rng([7, 22]), Mixtures(members)
    for _ in further_draws.STEPS:
        generator.dirichlet(np.ones(3), further_draws.NEARBY)
    aims = generator.random((300, 150))
    for name, test, counted in zip(NAMES, tests, reached(tested, 300), strict=True):
        drawn = LabelDraws(mixtures.probs(test.weights)).at(aims)
        objective = MixtureObjective(mixtures, drawn, calibration_measure(name))
        least = minimise_over_simplex(objective, QUICK, np.random.default_rng(0))[0]
        minima = int((least >= least_reaching(test.statistic)).sum())
        assert minima <= counted <= minima + 15


def test_a_low_statistic_is_reached_by_most_draws(tested):
    members, tests = tested
    low = replace(tests[0], statistic=1e-4)
    (counted,) = reached_by_further_draws(members, [low], [calibration_measure(NAMES[0])], 50, 7)
    assert counted == 50


# -- Tests of one distribution: the draws of the library, an early end, and parts of the instances where no draw is ----


MEASURES = [calibration_measure(name) for name in ("ece-confidence", "ece-classwise", "brier")]


@pytest.fixture
def sample(random_generator):
    probs = random_generator.dirichlet(np.ones(3), 80)
    return drawn(probs, random_generator), probs


def test_draws_are_those_of_the_library(sample):
    y, p = sample
    found = of_points.point_tests(y, p, MEASURES, 199, seed=(3, 23))
    for measure, test in zip(MEASURES, found, strict=True):
        expected = calibration_test(y, p, measure=measure, n_draws=199, rng=np.random.default_rng([3, 23]))
        assert (test.statistic, test.pvalue, test.n_parts) == (expected.statistic, expected.pvalue, 0)
        assert test.null.tolist() == expected.null.tolist()


def test_draws_end_with_a_tenth_that_reach_the_statistic(sample):
    y, p = sample
    whole = of_points.point_tests(y, p, MEASURES, 199, seed=(3, 23))
    ended = of_points.point_tests(y, p, MEASURES, 199, seed=(3, 23), stop=True)
    for measure, a, b in zip(MEASURES, whole, ended, strict=True):
        assert b.null.tolist() == a.null[: len(b.null)].tolist()
        reached = np.cumsum(a.null >= a.statistic)
        if measure.sides == "both":
            reached = np.minimum(reached, np.cumsum(a.null <= a.statistic))
        if reached[-1] < 20:
            assert b.pvalue == a.pvalue
        else:  # Besag and Clifford: h / L at the L-th draw, which is the h-th to reach the statistic
            last = np.flatnonzero(reached == 20)[0] + 1
            assert len(b.null) == last - 1
            assert b.pvalue == pytest.approx((2 if measure.sides == "both" else 1) * 20 / last)
        (alone,) = of_points.point_tests(y, p, [measure], 199, seed=(3, 23), stop=True)
        assert alone.null.tolist() == b.null.tolist()  # the other measures do not matter
    assert any(len(test.null) < 199 for test in ended)


def test_parts_are_combined_by_fisher_where_no_draw_is_as_great(random_generator):
    p = random_generator.dirichlet(np.ones(3), 300)
    y = (drawn(p, random_generator) + 1) % 3
    parts = of_points.parts_of(300, None, 0)
    (found,) = of_points.point_tests(y, p, MEASURES[:1], 99, seed=(0, 23), parts=parts)
    each = [
        of_points.point_tests(y[rows], p[rows], MEASURES[:1], of_points.PART_DRAWS, seed=(0, 23, 1 + i), stop=True)[0]
        for i, rows in enumerate(parts)
    ]
    assert found.pvalue == pytest.approx(combine_pvalues([test.pvalue for test in each], method="fisher").pvalue)
    assert (found.n_parts, len(found.null)) == (3, 99)
    assert found.pvalue < 1e-4


def test_parts_hold_every_instance_once_and_whole_groups():
    for groups in (None, np.repeat(np.arange(20), 5)):
        parts = of_points.parts_of(100, groups, 7)
        assert sorted(np.concatenate(parts).tolist()) == list(range(100))
        assert all(30 <= len(rows) <= 40 for rows in parts)
        if groups is not None:
            assert sum(len(set(groups[rows])) for rows in parts) == 20
    assert of_points.parts_of(2, None, 0) == []
    assert of_points.parts_of(9, np.repeat([0, 1], [4, 5]), 0) == []


def test_pvalues_keep_every_level_below_and_above_the_least_of_the_draws(monkeypatch):
    """Calibrated predictions of 30 instances: P(p ≤ α) ≤ α, with 9 draws of all and 9 of each part."""
    monkeypatch.setattr(of_points, "PART_DRAWS", 9)
    measures, pvalues = MEASURES[:2], []
    for seed in range(1500):
        generator = np.random.default_rng([5, seed])
        p = generator.dirichlet(np.ones(3), 30)
        y, parts = drawn(p, generator), of_points.parts_of(30, None, seed)
        pvalues.append(
            [t.pvalue for t in of_points.point_tests(y, p, measures, 9, seed=(seed,), stop=True, parts=parts)]
        )
    for alpha in (0.2, 0.1, 0.05, 0.02):
        allowed = alpha + 3 * np.sqrt(alpha * (1 - alpha) / 1500)
        assert (np.mean(np.array(pvalues) <= alpha, axis=0) <= allowed).all()
    assert np.min(pvalues) < 0.05


@pytest.mark.parametrize(("n_groups", "n_parts"), [(10, 0), (100, 3)])
def test_groups_are_tested_by_their_signs(n_groups, n_parts, random_generator):
    p = random_generator.dirichlet(np.ones(3), 400)
    y, groups = drawn(p, random_generator), np.arange(400) % n_groups
    (fine,) = of_points.fine_tests(y, p, MEASURES[:1], groups, 2)
    expected = sign_test(y, p, MEASURES[0], groups, of_points.SIGN_DRAWS, np.random.default_rng([2, 26, 0]))
    assert (fine.pvalue, fine.null_kind, fine.n_parts, fine.notes) == (expected.pvalue, "signs", 0, ())
    (bad,) = of_points.fine_tests((y + 1) % 3, p, MEASURES[:1], groups, 2)
    assert bad.pvalue <= 0.01
    assert bad.n_parts == n_parts
    (none,) = of_points.fine_tests(y, p, MEASURES[:1], np.zeros(400), 2)
    assert np.isnan(none.pvalue)
    assert none.notes == (of_points.ONE_GROUP,)


def test_measures_without_sums_over_groups_take_labels_as_independent(random_generator):
    p = random_generator.dirichlet(np.ones(3), 60)
    y, groups = drawn(p, random_generator), np.arange(60) % 20
    own = dataclasses.replace(MEASURES[0], name="own", prepare=lambda probs: Plain(MEASURES[0].prepare(probs)))
    found = of_points.fine_tests(y, p, [own, MEASURES[0]], groups, 0)
    assert [(t.null_kind, t.notes) for t in found] == [("single", (IN_GROUPS,)), ("signs", ())]
    (alone,) = of_points.fine_tests(y, p, MEASURES[:1], None, 0)
    assert (found[0].pvalue, found[0].null.tolist()) == (alone.pvalue, alone.null.tolist())


class Plain:
    """A prepared measure that offers its values alone."""

    def __init__(self, prepared):
        self.values = prepared.values


def test_undefined_values_have_no_pvalue():
    found = of_points.point_tests(
        np.array([0]), np.array([[0.5, 0.5]]), [calibration_measure("skce-ul"), MEASURES[0]], 19, seed=(0,)
    )
    assert np.isnan([found[0].statistic, found[0].pvalue]).all()
    assert np.isfinite(found[1].pvalue)


def test_a_given_number_of_draws_accounts_for_groups(random_generator):
    p = random_generator.dirichlet(np.ones(3), 60)
    y, groups = drawn(p, random_generator), np.arange(60) % 20
    own = dataclasses.replace(MEASURES[0], name="own", prepare=lambda probs: Plain(MEASURES[0].prepare(probs)))
    labels, signs = of_points.given_tests(y, p, [own, MEASURES[0]], groups, 39, 2)
    expected = sign_test(y, p, MEASURES[0], groups, 39, np.random.default_rng([2, 26, 0]))
    assert (signs.pvalue, signs.null.tolist(), signs.notes) == (expected.pvalue, expected.null.tolist(), ())
    (alone,) = of_points.given_tests(y, p, MEASURES[:1], None, 39, 2)
    assert (labels.pvalue, labels.notes, alone.notes) == (alone.pvalue, (IN_GROUPS,), ())
    assert len(alone.null) == 39
    (one,) = of_points.given_tests(y, p, MEASURES[:1], np.zeros(60), 39, 2)
    assert np.isnan(one.pvalue)
    assert one.notes == (of_points.ONE_GROUP,)


# -- Classwise calibration error of the mean predictions, against loops ------------------------------------------------


def by_loops(probs, shares):
    """Mean over classes of Σ_b |Σ (share − p)| / n over 10 bins [b/10, (b+1)/10), the last closed."""
    n, k = probs.shape
    total = 0.0
    for c in range(k):
        for b in range(10):
            inside = np.minimum(np.floor(probs[:, c] * 10), 9) == b
            total += abs((shares[inside, c] - probs[inside, c]).sum()) / n
    return total / k


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_against_loops(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 80, 4)
    y = random_generator.integers(4, size=80)
    pooled, alone = classwise_errors([prediction], y)
    assert pooled == alone == pytest.approx(by_loops(prediction.mean_probs(), np.eye(4)[y]), abs=1e-12)


def test_label_distributions_count_by_their_shares(random_generator):
    prediction = random_prediction("Point", random_generator, 50, 3)
    votes = random_generator.dirichlet(np.ones(3), 50)
    assert classwise_errors([prediction], votes)[0] == pytest.approx(by_loops(prediction.probs, votes), abs=1e-12)


def test_runs_are_pooled_before_the_absolute_value():
    """Two runs whose errors cancel are calibrated together, and not alone."""
    y = np.array([0, 1])
    sure, unsure = uq.Point([[0.55, 0.45]] * 2), uq.Point([[0.51, 0.49]] * 2)
    assert classwise_errors([sure, unsure], y) == pytest.approx((0.03, 0.05, 0.01))
    over, under = uq.Point([[0.58, 0.42]] * 4), uq.Point([[0.52, 0.48]] * 4)
    labels = np.array([0, 0, 1, 1])[[0, 1, 2, 3]]
    both = classwise_errors([over, under], labels)
    assert both == pytest.approx((0.05, 0.08, 0.02))


def test_chunks_and_order_change_nothing(monkeypatch, random_generator):
    prediction = random_prediction("Members", random_generator, 90, 3)
    y = random_generator.integers(3, size=90)
    whole = classwise_errors([prediction], y)
    order = random_generator.permutation(90)
    assert classwise_errors([prediction[order]], y[order]) == pytest.approx(whole, abs=1e-12)
    monkeypatch.setattr(classwise_error, "PART_BYTES", 200)
    assert classwise_errors([prediction], y) == pytest.approx(whole, abs=1e-12)


def test_perfect_and_single_predictions():
    assert classwise_errors([uq.Point(np.eye(3))], np.arange(3)) == (0.0, 0.0)
    assert classwise_errors([uq.Point(np.eye(2)[[0]])], np.array([1])) == (1.0, 1.0)


@pytest.mark.parametrize("soft", [False, True])
def test_gaps_of_parts_add_up_exactly(soft, random_generator):
    p = random_generator.dirichlet(np.ones(4), 1000)
    y = random_generator.dirichlet(np.ones(4), 1000) if soft else random_generator.integers(0, 4, 1000)
    whole = classwise_gaps(uq.Point(p), y)
    cuts = [0, 1, 300, 301, 999, 1000]
    parts = [classwise_gaps(uq.Point(p[a:b]), y[a:b]) for a, b in pairwise(cuts)]
    np.testing.assert_array_equal(np.sum(parts, axis=0), whole)
    assert errors_of_gaps([whole], 1000) == classwise_errors([uq.Point(p)], y)


# -- What the calibration tests say, as data: outcomes against their definition, and one record per model and measu ----


RNG = np.random.default_rng(0)
POINT, SET = uq.Point(RNG.dirichlet(np.ones(2), 30)), uq.Members(RNG.dirichlet(np.ones(2), (30, 3)))


@pytest.fixture(scope="module")
def assay():
    """Three runs of a point and one ensemble, whose tests are replaced."""
    return uq.assay({"P": [POINT] * 3, "DE": SET}, RNG.integers(0, 2, 30), calibration=(), n_draws=5, tradeoffs=[0.5])


def test_outcomes_against_their_definition():
    for alpha in (0.05, 0.1):
        assert [outcome_of(p, alpha) for p in (0.0, alpha, 1.01 * alpha, 1.0)] == ["rejected"] * 2 + ["passed"] * 2
    assert outcome_of(float("nan"), 0.05) == "undefined"


def test_tests_are_judged_together():
    judged = judged_tests([made_up(m, "brier", pvalue=p) for m, p in (("a", 0.02), ("b", 0.03), ("c", 0.5))], 0.05)
    assert [j.adjusted for j in judged] == pytest.approx([0.06, 0.06, 0.5])
    assert {j.outcome for j in judged} == {"passed"}


def test_one_record_for_each_model_and_measure(assay):
    single = {"tested": "mean", "n_members": 1, "weights": np.ones(1), "gap": 0.1, "gap_pvalue": 0.01}
    nan = float("nan")
    tests = [made_up("P", "brier", pvalue=p, run=r, **single) for r, p in enumerate((0.001, 0.6, nan))]
    tests += [made_up("P", "ece-confidence", pvalue=0.002, run=r, **single) for r in (0, 1)]
    tests += [made_up("DE", "brier", pvalue=0.9, n_tested=100), made_up("DE", "ece-confidence", pvalue=nan)]
    claims = calibration_claims(with_tests(assay, *tests))
    assert [(c.model, c.measure, c.tested, c.outcome, c.runs_rejected, c.n_runs, c.n_runs_given) for c in claims] == [
        ("P", "brier", "point", "rejected", (0,), 3, 3),
        ("P", "ece-confidence", "point", "rejected", (0, 1), 2, 3),
        ("DE", "brier", "mixtures", "passed", (), 1, 1),
        ("DE", "ece-confidence", "mixtures", "undefined", (), 1, 1),
    ]
    holm = uq.statistics.holm([t.pvalue for t in tests])
    assert [c.pvalue for c in claims] == pytest.approx([holm[0], min(holm[3:5]), holm[5], np.nan], nan_ok=True)
    assert [c.direction for c in claims] == ["overconfident", "overconfident", "", ""]
    assert (claims[2].n_tested, claims[2].n_instances, claims[2].n_members, claims[2].noun) == (100, 200, 3, "members")
    assert json.loads(json.dumps(claims[1].to_dict()))["runs_rejected"] == [1, 2]


def test_directions_that_differ_between_runs_are_none(assay):
    tests = [
        made_up("P", "brier", pvalue=0.0001, run=r, tested="mean", gap=gap, gap_pvalue=0.0001)
        for r, gap in enumerate((0.1, -0.1))
    ]
    (claim,) = calibration_claims(with_tests(assay, *tests))
    assert (claim.direction, claim.runs_rejected) == ("", (0, 1))


def test_directions_are_adjusted_for_all_models_and_runs():
    tests = [
        made_up(m, measure, pvalue=0.0001, tested="mean", gap=-0.1, gap_pvalue=0.02)
        for m in ("a", "b", "c")
        for measure in ("brier", "ece-confidence")
    ]
    assert {j.direction for j in judged_tests(tests[:4], 0.05)} == {"underconfident"}  # two gaps: .04
    assert {j.direction for j in judged_tests(tests, 0.05)} == {""}
    passed = made_up("a", "brier", pvalue=0.5, tested="mean", gap=-0.1, gap_pvalue=0.001)
    mixed = made_up("b", "brier", pvalue=0.0001, gap=-0.1, gap_pvalue=0.001)
    assert [j.direction for j in judged_tests([passed, mixed], 0.05)] == ["", ""]


def test_the_mean_of_a_set_is_told_from_a_point(assay):
    tests = tuple(made_up(m, "brier", pvalue=0.5, tested="mean") for m in ("P", "DE"))
    assert [c.tested for c in calibration_claims(with_tests(assay, *tests))] == ["point", "mean"]
    assert point_models(assay) == {"P"}
