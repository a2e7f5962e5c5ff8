"""Whether the order of two models holds: sentences, claims, their error rates, random orders."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.stats import chisquare
from tests.evidence.verdict_cases import LN2, claims, judged, noise, predicted

import uqassay as uq
from uqassay.evidence.claims import same_models
from uqassay.evidence.kept_rows import random_keys, sample_reaching, sample_within
from uqassay.evidence.order import FARTHEST, GRID, Paths, Range, inwards, order_of
from uqassay.evidence.pair_tests import compare_with_one, loss_lines, order_error, order_errors
from uqassay.statistics import shaffer

pytestmark = pytest.mark.usefixtures("without_calibration")

# -- The family of tests of an order: sequences of tests along λ, ranges in which they tell, and their error rates -----


N = 2000
FIRST = np.zeros(1, dtype=np.intp)


def paths_of(pvalue, anchors, **options):
    """Of one claim whose p-value is a function of λ, and its ranges at 5 %."""
    found = Paths(np.array([[pvalue(t)] for t in GRID]), anchors, **options)
    return found, found.ranges(0.05, lambda t, k: np.array([pvalue(x) for x in t]), [0])[0]


def test_ends_are_found_and_gaps_are_not_crossed():
    def pvalue(t):
        return 0.01 if t <= 0.3 or 0.7 <= t <= 2.0 or t >= 50 else 1.0

    _, (low, high) = paths_of(pvalue, {0.0: 1.0, FARTHEST: 1.0}, between=False)
    assert low.low == 0
    assert low.high == pytest.approx(0.3, rel=1e-3)
    assert high.low == pytest.approx(50, rel=1e-3)
    assert high.high == np.inf
    assert paths_of(pvalue, {0.5: 1.0})[1] == ()


def test_what_holds_at_both_ends_holds_between():
    _, (whole,) = paths_of(lambda t: 0.01 if t <= 0.3 or t >= 50 else 0.2, {0.0: 1.0, FARTHEST: 2.0})
    assert whole == Range(0.0, np.inf, 0.02)


def test_adjusted_by_brute_force():
    """Of each anchor the greatest p-value on the way times the factor; then the least of those on either side."""
    rng = np.random.default_rng(0)
    p = rng.random((len(GRID), 3)) ** 3
    anchors = {0.5: 1.25, 0.0: 3.0, FARTHEST: 7.0}
    found = Paths(p, anchors)

    def own(i, k):
        ways = {anchor: sorted((GRID.index(anchor), i)) for anchor in anchors}
        return min(factor * p[ways[a][0] : ways[a][1] + 1, k].max() for a, factor in anchors.items())

    for i in range(len(GRID)):
        for k in range(3):
            each = [own(g, k) for g in range(len(GRID))]
            expected = min(1.0, max(min(each[: i + 1]), min(each[i:])))
            assert found.adjusted[i, k] == pytest.approx(expected)
            at = found.at(np.array([GRID[i]]), p[i, k : k + 1], np.array([k]))
            assert at[0] == found.adjusted[i, k]


def test_a_tradeoff_off_the_grid_does_not_depend_on_its_company():
    a = judged({"a": (0.2, 0.1), "b": (0.22, 0.08), "c": (0.25, 0.1)}, 200)
    together = order_of(a).comparisons([0.123, 0.5, 0.77])
    for t, tests in zip((0.123, 0.5, 0.77), together, strict=True):
        np.testing.assert_array_equal(order_of(a).comparisons([t])[0].adjusted, tests.adjusted)


def test_pvalues_at_the_default_against_scipy():
    """1.25 · 3 pairs; the greatest of Student's and Hall's."""
    a = judged({"a": (0.2, 0.1), "b": (0.202, 0.102), "c": (0.25, 0.1)}, 200)
    tests = a.rank_sets(0.5).comparisons
    for i, j in ((0, 1), (0, 2), (1, 2)):
        x, y = (a.loss("abc"[k], 0.5)[0] for k in (i, j))
        student = stats.ttest_rel(x, y).pvalue
        assert tests.pvalue[i, j] >= student * (1 - 1e-9)
        assert (
            tests.pvalue[i, j] == pytest.approx(student, rel=0.3) or student < 1e-10
        )  # seen losses bound such p-values
        assert tests.adjusted[i, j] == pytest.approx(min(1.0, 3.75 * tests.pvalue[i, j]))


def test_models_without_sets_are_tested_as_by_the_distance_alone():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    models = {name: uq.Point(rng.dirichlet([2.0 + i, 2.0, 2.0], 150)) for i, name in enumerate("abcd")}
    a = uq.assay(models, y, calibration=(), n_draws=20)
    tests = a.rank_sets(metric="kl").comparisons
    for t in (0.0, 0.31, 0.5, 40.0):
        np.testing.assert_allclose(a.rank_sets(t).comparisons.adjusted[:4, :4], tests.adjusted[:4, :4], rtol=1e-12)
    np.testing.assert_allclose(tests.adjusted[:4, :4], shaffer(tests.pvalue[:4, :4]))


def test_pairs_with_equal_sizes_do_not_pay_for_other_tradeoffs():
    a = judged({"a": (0.2, 0.0), "b": (0.202, 0.0), "c": (0.25, 0.1)}, 200)
    tests = a.rank_sets(0.5).comparisons
    assert tests.adjusted[0, 1] == pytest.approx(min(1.0, 3 * tests.pvalue[0, 1]))
    assert tests.adjusted[0, 2] == pytest.approx(min(1.0, 3.75 * tests.pvalue[0, 2]))
    assert order_of(a).level_of("a", "b") == pytest.approx(0.05 / 3)
    assert a.rank_sets(7.7).comparisons.adjusted[0, 1] == tests.adjusted[0, 1]


def test_ranges_of_a_pair():
    """a: .15 + .3 λ, b: .4: they cross at λ = 5/6."""
    a = judged({"a": (0.15, 0.3), "b": (0.4, 0.0)}, N)
    below, above = order_of(a).better("a", "b"), order_of(a).better("b", "a")
    assert below.low == 0
    assert below.high < 0.25 / 0.3 < above.low
    assert above.high == np.inf
    p = a.rank_sets(below.high).comparisons.pvalue[0, 1]
    assert 0.9 * 0.04 < p <= 0.04  # four fifths of alpha at the default λ
    p = a.rank_sets(above.low).comparisons.pvalue[0, 1]
    assert p <= 0.005  # a tenth at λ → ∞


def test_an_infinite_loss_is_worse_without_a_test():
    n = 20
    sharp = np.zeros(n)
    sharp[0] = np.inf
    models = {"a": predicted(0.2, 0.1, n), "b": uq.Point(np.column_stack([np.exp(-sharp), 1 - np.exp(-sharp)]))}
    a = uq.assay(models, np.zeros(n, dtype=int), floor=0, calibration=(), n_draws=20)
    assert order_of(a).better("a", "b") == Range(0.0, np.inf, 0.0)
    assert order_of(a).better("b", "a") is None
    assert a.rank_sets(0.5).high.tolist() == [1, 2]


# -- baselines ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one():
    """E = .15 + .2 λ: above λ ln 2 up to λ = .15/(ln 2 − .2), above ln 2 from λ = (ln 2 − .15)/.2 on."""
    return judged({"m": (0.15, 0.2)}, N)


def test_ranges_end_before_the_crossings(one):
    below, above = 0.15 / (LN2 - 0.2), (LN2 - 0.15) / 0.2
    worth = order_of(one).worth("m")
    first, last = order_of(one).none()
    assert first.low == 0
    assert first.high < below < worth.low < worth.high < above < last.low
    assert last.high == np.inf
    assert first.high == pytest.approx(below, rel=0.1)
    assert worth.low == pytest.approx(below, rel=0.1)
    assert max(first.pvalue, last.pvalue, worth.pvalue) <= 0.05


def test_ends_against_students_test(one):
    """At the end of "no model is worth using" Student's test has p = α/2 at most, and hardly less."""
    (found, _) = order_of(one).none()
    t = found.high
    excess = one.loss("m", t)[0] - t * LN2
    statistic = excess.mean() / (excess.std(ddof=1) / np.sqrt(N))
    assert statistic > 2.2414  # two-sided 2.5 %
    assert statistic < 3.5


def test_a_model_chosen_from_several_needs_more(one):
    alone = order_of(one).worth("m")
    several = judged({"m": (0.15, 0.2), **{f"k{i}": (0.3, 0.2) for i in range(9)}}, N)
    among = order_of(several).worth("m")
    assert alone.low < among.low < among.high < alone.high


def test_a_loss_that_has_not_been_seen_leaves_a_condition():
    a = judged({"m": (0.02, 0.0)}, 10, floor=None, width=0.01)
    assert order_of(a).worth("m") is None
    assert order_of(a).worth("m", guard=False)
    assert claims(a, "model-better")[0].limited_by == "unseen"


def test_claims_name_the_baselines(one):
    below, above = claims(one, "baseline-better")
    assert (below.models, below.others, below.low) == (("m",), ("vacuous",), 0.0)
    assert (above.others, above.high) == (("class-prior",), float("inf"))
    assert below.facts["every_model"] is True


def test_every_model_has_to_be_worse():
    bad = judged({"bad": (0.6, 0.2), "good": (0.15, 0.2)}, N)
    assert order_of(bad).none()[0].high < 0.15 / (LN2 - 0.2)
    both = judged({"bad": (0.75, 0.3), "worse": (0.8, 0.1)}, N, width=0.02)
    (everywhere,) = order_of(both).none()
    assert (everywhere.low, everywhere.high) == (0.0, np.inf)
    (claim,) = claims(both, "baseline-better", low=0.0)
    assert (claim.others, claim.high) == (("vacuous", "class-prior"), float("inf"))


# -- what the tests rest on -------------------------------------------------------------------------------------------------


def test_the_guard_counts_losses_that_have_not_been_seen():
    """(W/(W + d))^n, with W the greatest excess on the inputs seen, of the distance and of λ times the non-specificity."""
    n = 12
    a = judged({"a": (0.02, 0.0), "b": (0.3, 0.1)}, n, floor=None, width=0.01)
    rests = a.excess.of("distance", "a", "b") + 0.5 * float(-a["b"].columns["nonspecificity"].min())
    difference, p = compare_with_one(a, "a", ["b"], [0.5], lines=loss_lines(a))
    assert p[0, 0] == pytest.approx((rests / (rests + difference[0, 0])) ** n, rel=1e-6)


@pytest.mark.parametrize("low", [0.0, 0.00312, 0.1239, 0.5, 3.14159, 17.5])
def test_rounded_ends_lie_inside(low):
    first, last = inwards(low, low * 2.3 + 0.4)
    assert low * (1 - 1e-9) <= first <= last <= (low * 2.3 + 0.4) * (1 + 1e-9)
    assert len(f"{first:g}") <= 6


# -- error rates --------------------------------------------------------------------------------------------------------------


def false_claims(seed, n, slope, spread):
    """Two models whose true means cross at λ = 1, or agree at every λ for a slope of 0: is anything false said at any λ?"""
    rng = np.random.default_rng([5, seed])
    u, v = (np.array([-slope, slope])[:, np.newaxis] + spread * rng.normal(size=(2, n))).tolist()
    lines = np.array(GRID)[:, np.newaxis]
    differences = np.array(u) + lines * np.array(v)
    t = differences.mean(axis=1) / (differences.std(axis=1, ddof=1) / np.sqrt(n))
    p = 2 * stats.t.sf(np.abs(t), n - 1)
    anchors = {0.5: 1 / 0.8, 0.0: 10.0, FARTHEST: 10.0}
    first, second = (
        Paths(np.where(sign * t < 0, p, 1.0)[:, np.newaxis], anchors).adjusted[:, 0] <= 0.05 for sign in (1, -1)
    )
    true = np.sign(slope * (np.array(GRID) - 1))  # of the first minus the second
    return bool((first & (true >= 0)).any() or (second & (true <= 0)).any()), bool(first.any() or second.any())


@pytest.mark.parametrize("slope", [0.0, 0.02, 0.2])
def test_false_claims_at_any_tradeoff(slope):
    """At most 5 % of data sets, for all λ at once; each λ by itself at 5 % says something false in 12 %."""
    n = 800
    found = [false_claims(seed, 60, slope, 0.3) for seed in range(n)]
    assert sum(wrong for wrong, _ in found) <= stats.binom.ppf(0.999, n, 0.05)
    if slope == 0.2:
        assert sum(said for _, said in found) > 0.9 * n


def test_without_baselines_every_model_is_worth_using():
    a = judged({"a": (0.15, 0.1), "b": (0.3, 0.1)}, 400)
    alone = replace(a, models=a.candidates)
    assert order_of(alone).worth("a")[:2] == (0.0, np.inf)
    assert order_of(alone).none() == ()
    assert alone.rank_sets(0.5).better.tolist() == a.rank_sets(0.5).better.tolist()
    assert alone.ranked(0.5)[0].model == "a"


# -- Claims at the default λ, against the rank sets and against counts -------------------------------------------------


def at_default(assay, kind, **wanted):
    return claims(assay, kind, low=0.5, high=0.5, **wanted)


def test_worse_models_are_those_of_the_rank_sets():
    a = judged({"a": (0.15, 0.1), "b": (0.151, 0.1), "c": (0.25, 0.1), "d": (0.3, 0.1)})
    ranks = a.rank_sets(0.5)
    worse = at_default(a, "worse")
    assert [c.models[0] for c in worse] == ["c", "d"]
    for c in worse:
        assert c.others == ("a",)
        assert ranks.is_better("a", c.models[0])
        assert c.pvalue == next(r for r in a.ranked(0.5) if r.model == c.models[0]).pvalue_adjusted
    (top,) = at_default(a, "top-group")
    assert (top.models, top.others) == (("a",), ("b",))
    assert top.facts["pvalues"] == {"b": top.pvalue}
    assert not at_default(a, "best")


def test_best_takes_the_largest_adjusted_pvalue():
    a = judged({"a": (0.15, 0.1), "b": (0.3, 0.1), "c": (0.35, 0.1)})
    (best,) = at_default(a, "best")
    assert (best.models, best.others) == (("a",), ("b", "c"))
    assert best.pvalue == max(r.pvalue_adjusted for r in a.ranked(0.5) if r.rank not in (None, 1))
    assert not at_default(a, "top-group")


@pytest.mark.parametrize("gap", [0.02, 0.025, 0.03, 0.035, 0.04])
def test_best_is_said_where_the_rank_set_is_1_alone(gap):
    """Of ten models; unadjusted p-values alone would say it at each of these gaps."""
    a = judged({"a": (0.3, 0.1), **{f"b{j}": (0.3 + gap, 0.1) for j in range(9)}}, 300, width=0.15)
    winner, *rivals = (r for r in a.ranked(0.5) if r.rank is not None)
    assert max(r.pvalue for r in rivals) < 0.05
    best, top = at_default(a, "best"), at_default(a, "top-group")
    assert (len(best), len(top)) == ((1, 0) if winner.rank_high == 1 else (0, 1))
    assert (len(at_default(a, "worse")) == 9) == bool(best)


def test_interval_of_the_lowest_mean_allows_for_the_choice():
    """Of J models at level 1 − .05/J, by the function of the package."""
    a = judged({"a": (0.15, 0.1), "b": (0.151, 0.1), "c": (0.3, 0.1)})
    (top,) = at_default(a, "top-group")
    expected = uq.statistics.mean_estimate(a.loss("a", 0.5)[0], method="hall", level=1 - 0.05 / 3)
    assert (top.estimate.low, top.estimate.high) == (expected.low, expected.high)
    assert top.estimate.level == pytest.approx(1 - 0.05 / 3)


def test_losses_that_were_not_seen_leave_it_open():
    n = 60
    a = judged({"a": (0.001, 0.0), "b": (0.3, 0.0)}, n, floor=None, width=0.0005)
    (open_,) = claims(a, "cannot-tell", limited_by="unseen")
    assert (open_.models, open_.others) == (("a",), ("b",))
    assert open_.facts["instances"] == n
    assert open_.facts["bounded"]["brier"] == {"top": ["a"], "rest": ["b"]}
    assert open_.facts["bounded"]["accuracy"] == {"top": ["a", "b"], "rest": []}


def test_the_same_losses():
    n = 50
    x, y = predicted(0.2, 0.1, n), predicted(0.2 + noise(n, 1), 0.1, n)
    labels = np.zeros(n, dtype=int)
    a = uq.assay({"a": x, "b": y, "c": x, "d": y, "e": x}, labels, calibration=(), n_draws=20)
    assert [(c.models, c.others) for c in same_models(a)] == [(("a",), ("c", "e")), (("b",), ("d",))]
    assert not at_default(a, "best")
    two = uq.assay({"a": [x, y], "b": x}, labels, calibration=(), n_draws=20)
    assert same_models(two) == ()  # one run more is another model
    both = uq.assay({"a": x, "c": x}, labels, calibration=(), n_draws=20)
    (top,) = at_default(both, "top-group")
    assert (top.others, top.facts["pvalues"]) == (("c",), {})
    assert np.isnan(top.pvalue)


def test_infinite_means_are_worse_without_a_test():
    sure, unsure = uq.Point([[1.0, 0.0], [1.0, 0.0]]), uq.Point([[0.6, 0.4], [0.5, 0.5]])
    a = uq.assay({"sure": sure, "unsure": unsure}, [0, 1], floor=0)
    (worse,) = at_default(a, "worse")
    assert (worse.models, worse.others, worse.limited_by) == (("sure",), ("unsure",), "infinite")
    assert at_default(a, "baseline-better", models=("sure",))


def test_one_group_leaves_everything_open():
    a = judged({"a": (0.15, 0.1), "b": (0.3, 0.1)}, 40, groups=np.zeros(40))
    (open_,) = claims(a, "cannot-tell")
    assert (open_.limited_by, open_.models, open_.others) == ("units", ("a",), ("b",))
    assert {c.kind for c in a.claims()} == {"cannot-tell", "top-group"}


def test_models_below_a_baseline():
    """At λ = ½ the vacuous statement has E = ln 2 / 2 = .347."""
    a = judged({"good": (0.15, 0.1), "bad": (0.5, 0.1)})
    (found,) = at_default(a, "baseline-better")
    assert (found.models, found.others) == (("bad",), ("vacuous",))
    assert float(found.estimate) == pytest.approx(0.55 - np.log(2) / 2)
    assert found.estimate.low < found.estimate < found.estimate.high


# -- Errors that random orders of the classes add to differences, against sums over the orders -------------------------


def by_hand(apart):
    mean = sum(apart) / len(apart)
    return np.sqrt(sum((x - mean) ** 2 for x in apart) / (len(apart) - 1) / len(apart))


def test_one_pair_against_the_sum_over_orders(random_generator):
    a, b = random_generator.normal(size=(2, 32))
    assert order_error(a, b) == pytest.approx(by_hand(a - b))
    assert order_error(a, (), 0.3) == order_error((), a, 0.3) == pytest.approx(0.3 * by_hand(a))
    assert order_error(tuple(a), tuple(a)) == 0  # shared orders cancel
    assert order_error((), ()) == 0


def test_all_pairs_but_those_of_references(random_generator):
    deviations = dict(zip("abcd", [*random_generator.normal(size=(3, 8)), ()], strict=True))
    found = order_errors(deviations, 0.5, references=("b", "d"))
    for i, a in enumerate("abcd"):
        for j, b in enumerate("abcd"):
            told = 0.0 if {a, b} <= {"b", "d"} else order_error(deviations[a], deviations[b], 0.5)
            assert found[i, j] == told
    assert found[0, 3] > 0
    assert not order_errors(deviations, 0.0).any()
    assert order_errors({"a": (), "b": np.empty(0)}, 1.0).tolist() == [[0, 0], [0, 0]]


# -- The random order of the instances: the same in parts as in the whole, groups together, every instance as likel ----


@pytest.mark.parametrize("groups", [None, np.arange(1000) // 7, (np.arange(1000) % 90).astype(str)])
def test_a_sample_of_all_lies_in_the_samples_of_all_parts(groups):
    keys = random_keys(1000, groups, 3)
    whole = set(sample_reaching(keys, 120).tolist())
    for start in (0, 300, 990):
        part = None if groups is None else groups[start : start + 400]
        n = min(400, 1000 - start)
        own = random_keys(n, part, 3, first_row=start)
        np.testing.assert_array_equal(own, keys[start : start + 400])
        assert {r for r in whole if start <= r < start + n} <= {r + start for r in sample_reaching(own, 120).tolist()}


def test_keys_differ_between_rows_and_seeds():
    keys = random_keys(100_000, None, 0)
    assert len(np.unique(keys)) == 100_000
    assert not np.isin(random_keys(1000, None, 1), keys).any()


def test_keys_are_uniform():
    counts = np.bincount((random_keys(100_000, None, 0) >> np.uint64(58)).astype(int), minlength=64)
    assert chisquare(counts).pvalue > 1e-3
    named = np.bincount((random_keys(50_000, np.arange(50_000), 0) >> np.uint64(58)).astype(int), minlength=64)
    assert chisquare(named).pvalue > 1e-3


def test_pairs_of_rows_are_chosen_independently():
    both = np.array([np.isin([0, 1], sample_reaching(random_keys(20, None, seed), 10)) for seed in range(2000)])
    expected = 10 / 20 * 9 / 19
    assert abs(both.all(axis=1).mean() - expected) < 4.5 * np.sqrt(expected * (1 - expected) / 2000)


def test_a_group_is_taken_whole_or_not_at_all():
    groups = np.arange(1000) // 7
    keys = random_keys(1000, groups, 0)
    for sample, fits in ((sample_reaching, lambda n: 100 <= n < 107), (sample_within, lambda n: 93 < n <= 100)):
        rows = sample(keys, 100)
        assert fits(len(rows))
        assert rows.tolist() == np.flatnonzero(np.isin(groups, groups[rows])).tolist()
    assert len(sample_within(keys, 3)) == 7  # one group, though it is larger


def test_as_many_as_there_are():
    keys = random_keys(5, None, 0)
    assert sample_reaching(keys, 9).tolist() == sample_within(keys, 5).tolist() == [0, 1, 2, 3, 4]
