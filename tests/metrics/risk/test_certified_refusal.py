"""Certified refusal: by hand, and how often the risk on new cases exceeds the limit.

Run as a script, this file prints how often the certified and the uncertified threshold exceed the limit, and what they keep;
as a test it measures fewer data sets and asserts what the table says.
"""

import json
import math
import sys
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from scipy import special, stats
from tests.metrics.risk.refusal_worlds import HARDER, Groups, World
from tests.refusals import refuses

from uqassay.metrics.certified_thresholds import (
    certified_refusal,
    certify,
    divide,
    needed,
    plan_on,
    plan_refusal,
    short_number,
    whole_errors,
)
from uqassay.notes import has_note
from uqassay.statistics.risk_bounds import bet_pvalues
from uqassay.statistics.units import make_units, spread_of_mean

SIZES = (100, 300, 2000)
WORLDS = {
    "scores, UQ-AUC .8": World(0.1, 0.8),
    "scores, UQ-AUC .95": World(0.1, 0.95),
    "error rate .2, UQ-AUC .9, limit 10 %": World(0.2, 0.9, risk=0.1),
    "5 levels, the fourth just above the limit": World(0.2, 0.8, "levels", risk=0),
    "useless score, all thresholds just above": World(0.05 * (1 + HARDER), 0.5),
    "the same in two levels": World(0.05 * (1 + HARDER), 0.5, "binary"),
    "the best of ten useless scores": World(0.05 * (1 + HARDER), 0.5, n_scores=10),
}
GROUPED = {
    "groups, UQ-AUC .8": Groups(0.15, np.sqrt(2) * special.ndtri(0.8)),
    "groups, UQ-AUC .95": Groups(0.15, np.sqrt(2) * special.ndtri(0.95)),
    "useless score, all thresholds just above": Groups(0.1 * (1 + HARDER), 0.0),
    "the same, groups wrong as a whole": Groups(0.1 * (1 + HARDER), 0.0, correlation=1.0),
    "the same, large groups harder": Groups(0.1 * (1 + HARDER), 0.0, correlation=1.0, harder=1.0),
}


def chosen(errors, scores, groups, risk, confidence, seed):
    """Certified refusal by the score that the choosing part takes."""
    parts = divide(errors.size, groups, None, 0.3, seed)
    plans = [plan_on(errors, one, parts, risk, confidence) for one in scores]
    best = max(range(len(plans)), key=lambda i: plans[i].promise)
    return certify(errors, scores[best], parts, plans[best], confidence)


class Rates(NamedTuple):
    """Shares of data sets, and mean shares kept.

    Attributes
    ----------
    above, certified, kept : float
        The true risk is above the limit; a threshold was certified; share kept, 0 without a threshold.
    held : float
        Of the thresholds certified: the interval holds the true share kept.
    plain_above, plain_kept : float
        Of the uncertified threshold.
    """

    above: float
    certified: float
    kept: float
    held: float
    plain_above: float
    plain_kept: float


def rates(world, n, *, n_sets, seed, confidence=0.95):
    """How often the thresholds exceed the limit, and what they keep."""
    rng = np.random.default_rng(seed)
    found = np.zeros(6)
    for k in range(n_sets):
        errors, scores, groups = world.draw(rng, n)
        refusal = chosen(errors, scores, groups, world.limit, confidence, k)
        if refusal.certified:
            risk, kept = world.risk_at(refusal.threshold)
            held = refusal.coverage.low - 1e-12 <= kept <= refusal.coverage.high + 1e-12
            found[:4] += risk > world.limit, 1, kept, held
        if not math.isnan(refusal.uncertified_threshold):
            risk, kept = world.risk_at(refusal.uncertified_threshold)
            found[4:] += risk > world.limit, kept
    certified = found[1]
    found /= n_sets
    found[3] = found[3] * n_sets / certified if certified else np.nan
    return Rates(*found.tolist())


def shares_above(world, n, *, n_sets, seed, pvalues):
    """Share of data sets whose certified threshold is above the limit, with other p-values at the same candidates."""
    rng, above = np.random.default_rng(seed), 0
    for k in range(n_sets):
        errors, scores, groups = world.draw(rng, n)
        parts = divide(errors.size, groups, None, 0.3, k)
        plan = plan_on(errors, scores[0], parts, world.limit, 0.95)
        rows = ~parts.choosing
        certified = np.nan
        for threshold in plan.thresholds:
            kept = scores[0][rows] <= threshold
            if pvalues(errors[rows], kept, groups[rows], world.limit) > 0.05:
                break
            certified = threshold
        above += not np.isnan(certified) and world.risk_at(certified)[0] > world.limit
    return above / n_sets


def binomial_pvalue(errors, kept, groups, limit):
    """As if instances were independent."""
    n = int(kept.sum())
    return stats.binom.cdf(errors[kept].sum(), n, limit) if n else 1.0


def student_pvalue(errors, kept, groups, limit):
    """Student's t of the excess of errors of each group, with the degrees of freedom of Bell and McCaffrey."""
    if kept.sum() < 2 or len(set(groups[kept])) < 2:
        return 1.0
    values = errors[kept] - limit
    spread = spread_of_mean(values - values.mean(), make_units(values.size, groups[kept], None))
    if spread.standard_error == 0:
        return 0.0 if values.mean() < 0 else 1.0
    return float(special.stdtr(spread.dof, values.mean() / spread.standard_error))


# -- error rates ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", list(WORLDS)[3:])
def test_the_risk_exceeds_the_limit_in_at_most_the_stated_share(name):
    n_sets = 40 if WORLDS[name].n_scores > 1 else 150
    above, certified, *_ = rates(WORLDS[name], 300, n_sets=n_sets, seed=1)
    assert above <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_sets)
    assert certified >= above


@pytest.mark.slow
@pytest.mark.parametrize("name", list(GROUPED)[2:])
def test_the_same_with_groups(name):
    above, certified, *_ = rates(GROUPED[name], 2000, n_sets=60, seed=2, confidence=0.8)
    assert above <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 60)
    assert certified >= above


@pytest.mark.slow
def test_a_good_score_is_certified_and_the_uncertified_threshold_fails_often():
    found = rates(WORLDS["scores, UQ-AUC .95"], 2000, n_sets=60, seed=3)
    assert found.certified == 1.0
    assert found.above <= 0.12
    assert found.plain_above > 0.3
    assert found.plain_kept > found.kept > 0.8
    assert found.held > 0.85


@pytest.mark.slow
def test_tests_that_ignore_groups_or_trust_student_fail():
    world = GROUPED["the same, groups wrong as a whole"]
    for pvalues in (binomial_pvalue, student_pvalue):
        assert shares_above(world, 300, n_sets=60, seed=4, pvalues=pvalues) > 0.15


# -- by hand -------------------------------------------------------------------------------------------------------------


def halves(n):
    return np.arange(n) < n // 2


def test_by_hand():
    # both halves: 100 certain cases without an error, then 100 with ten errors, then 100 with fifty
    part = np.repeat([0.1, 0.2, 0.3], 100)
    errors = np.concatenate([np.zeros(100), np.arange(100) < 10, np.arange(100) < 50])
    found = certified_refusal([*errors, *errors], [*part, *part], risk=0.1, choosing=halves(600))
    assert (found.n_choosing, found.n_certifying, found.method) == (300, 300, "binomial")
    assert 0.2 < found.threshold < 0.3
    assert found.pvalue == pytest.approx(stats.binom.cdf(10, 200, 0.1))
    assert found.observed_risk == pytest.approx(0.05)
    assert found.observed_risk.high == pytest.approx(special.betaincinv(11, 190, 0.95))
    assert found.coverage == pytest.approx(2 / 3)
    assert (found.uncertified_coverage, found.coverage_cost) == (pytest.approx(2 / 3), pytest.approx(0))
    assert 0.2 < found.uncertified_threshold < 0.3
    assert found.keeps([0.2, 0.3, math.nan]).tolist() == [True, False, False]
    assert found.certified
    # at 6 % the second level passes in the observed rate, but not in the test
    less = certified_refusal([*errors, *errors], [*part, *part], risk=0.06, choosing=halves(600))
    assert 0.1 < less.threshold < 0.2
    assert less.coverage_cost == pytest.approx(1 / 3)


def test_the_sentence_has_the_threshold_in_full():
    found = certified_refusal(np.zeros(400), np.arange(400) // 4 / 7, risk=0.02)
    assert found.threshold == math.inf
    assert found.sentence() == "Keep every case: with 95 % confidence, at most 2 % of new cases are wrong."
    errors = np.concatenate([np.zeros(300), np.ones(100)])
    found = certified_refusal(errors, np.arange(400) / 7, risk=0.025, confidence=0.9)
    words = found.sentence(score="entropy")
    assert words.startswith(
        f"Keep the cases with entropy ≤ {found.threshold!r}: with 90 % confidence, at most 2.5 % of those"
    )
    assert "% of the cases (90 % interval " in words
    assert f"≤ {found.threshold!r}:" in repr(found)


def test_nothing_certified_says_what_is_missing():
    found = certified_refusal(np.zeros(40), np.arange(40), risk=0.05)
    assert math.isnan(found.threshold)
    assert (float(found.coverage), found.certified) == (0.0, False)
    assert math.isnan(found.observed_risk)
    assert has_note(found.notes, "undefined")
    assert not found.keeps([0.0]).any()
    assert "about 45 more cases would be needed" in found.sentence()  # 59 of 70 % of the instances
    useless = certified_refusal(np.ones(40), np.arange(40), risk=0.05)
    assert "at this rate no number of cases is enough; without an error it takes 59 cases kept" in useless.sentence()
    assert math.isnan(useless.uncertified_threshold)
    assert useless.uncertified_coverage == 0.0
    json.dumps(useless.to_dict(), allow_nan=False)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_few_instances_and_equal_scores_certify_nothing(n):
    assert not certified_refusal(np.zeros(n), np.zeros(n), risk=0.05).certified
    assert not certified_refusal(
        np.zeros(n), np.zeros(n), risk=0.05, groups=np.arange(n) // 2 if n > 2 else None
    ).certified


def test_equal_scores_are_kept_or_refused_together():
    assert certified_refusal(np.zeros(400), np.ones(400), risk=0.05).threshold == math.inf
    errors = (np.arange(400) % 4 == 0).astype(float)
    assert not certified_refusal(errors, np.ones(400), risk=0.05).certified


def test_infinite_scores_are_scores():
    rng = np.random.default_rng(5)
    scores = rng.random(300)
    errors = rng.random(300) < 0.2 * scores
    infinite = np.where(scores > 0.7, np.inf, scores)
    assert certified_refusal(errors, infinite, risk=0.15).certified


def test_groups_stay_whole_and_need_more():
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(150), 4)
    scores = rng.random(600)
    errors = rng.random(600) < 0.1 * scores
    found = certified_refusal(errors, scores, risk=0.1, groups=groups)
    assert found.method == "bets"
    assert found.n_choosing == 45 * 4
    assert {note.code for note in found.notes} >= {"groups", "assumption"}
    assert found.observed_risk.high <= 0.1
    alone = certified_refusal(errors, scores, risk=0.1)
    assert alone.coverage >= found.coverage
    none = certified_refusal(np.zeros(40), np.arange(40.0), risk=0.1, groups=np.arange(40) // 2)
    assert "more groups would be needed" in none.sentence()


def test_the_division_decides_and_the_seed_repeats():
    rng = np.random.default_rng(7)
    scores = rng.random(500)
    errors = rng.random(500) < 0.2 * scores
    first, again, other = (certified_refusal(errors, scores, risk=0.1, rng=seed) for seed in (None, 0, 1))
    assert first.to_dict() == again.to_dict()
    assert first.to_dict() != other.to_dict()


def test_bad_input():
    call = partial(certified_refusal, [0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4])
    with refuses("risk", "range", got="strictly between 0 and 1"):
        call(risk=0.0)
    with refuses("confidence", "range"):
        call(risk=0.1, confidence=1.0)
    with refuses("share", "range"):
        call(risk=0.1, share=1.5)
    with refuses("errors", "range", got=r"row 1 has 0\.5"):
        certified_refusal([0, 0.5], [0.1, 0.2], risk=0.1)


def show(n_sets):
    """One line for each world and size."""
    for worlds in (WORLDS, GROUPED):
        for name, world in worlds.items():
            for n in SIZES:
                found = rates(world, n, n_sets=n_sets, seed=n)
                print(f"{n:5d} {name:45s}", *(f"{100 * share:6.1f}" for share in found), flush=True)


def show_others(n_sets):
    """Share above the limit by other tests of groups."""
    for name in list(GROUPED)[2:]:
        for n in SIZES:
            found = [
                100 * shares_above(GROUPED[name], n, n_sets=n_sets, seed=n, pvalues=p)
                for p in (binomial_pvalue, student_pvalue)
            ]
            print(f"{n:5d} {name:45s}", *(f"{share:5.1f}" for share in found), flush=True)


# Candidates of a certified refusal: their order, their promise, and counts at thresholds against brute force.


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    scores = np.round(rng.random(400), 2)
    errors = (rng.random(400) < 0.4 * scores**2).astype(float)
    return errors, scores, np.arange(400) // 3


def plan(sample, *, groups=False, risk=0.08, n_other=400):
    errors, scores, codes = sample
    units = make_units(400, codes if groups else None, None)
    return plan_refusal(errors, scores, units, risk=risk, alpha=0.05, n_other=n_other, largest=3.0 if groups else 1.0)


@pytest.mark.parametrize("groups", [False, True])
def test_counts_and_pvalues_against_brute_force(sample, groups):
    errors, scores, codes = sample
    found = plan(sample, groups=groups)
    units = make_units(400, codes if groups else None, None)
    tested = found.test(errors, scores, units)
    kept = scores[:, np.newaxis] <= found.thresholds
    assert tested.kept == pytest.approx(kept.sum(axis=0))
    assert tested.errors == pytest.approx(errors @ kept)
    if groups:
        sums = [np.stack([x[codes == g].sum(axis=0) for g in range(134)]) for x in (kept * errors[:, np.newaxis], kept)]
        assert tested.pvalues == pytest.approx(bet_pvalues(*sums, 0.08, found.bets, 3.0))
    else:
        assert tested.pvalues == pytest.approx(stats.binom.cdf(tested.errors, tested.kept, 0.08))
    for at in (0, -1):
        high = found.upper_bound(at % found.thresholds.size, errors, scores, units)
        assert (high <= 0.08) == (tested.pvalues[at] <= 0.05)


@pytest.mark.parametrize("groups", [False, True])
def test_candidates_ascend_in_steps_to_keeping_everything(sample, groups):
    found = plan(sample, groups=groups)
    assert (np.diff(found.thresholds) > 0).all()
    assert found.thresholds[-1] == np.inf
    assert (np.diff(found.coverage) > 0).all()
    assert found.coverage.size <= 100
    assert found.coverage[-1] == 1.0
    assert (found.bets is not None) == groups


def test_the_first_candidate_is_the_one_of_greatest_power(sample):
    errors, scores, _ = sample
    found = plan(sample)
    power = {}
    for t in np.unique(scores):
        n, k = (scores <= t).sum(), errors[scores <= t].sum()
        counts = np.arange(n + 1)
        most = counts[stats.binom.cdf(counts, n, 0.08) <= 0.05]
        power[t] = stats.binom.cdf(most[-1], n, (k + 0.5) / (n + 1)) if most.size else 0.0
    first = max(t for t in power if t < found.thresholds[0])
    assert found.promise[1] == pytest.approx(power[first])
    assert power[first] > max(power.values()) - 0.02  # candidates are a hundredth of the instances apart
    likely = max(t for t in power if power[t] >= 0.5)
    assert found.promise[0] == pytest.approx((scores <= likely).mean(), abs=0.02)


def test_too_little_data_for_any_candidate(sample):
    found = plan(sample, n_other=10)
    assert found.promise == (0.0, 0.0)
    assert found.thresholds.size >= 1


def test_short_numbers_lie_strictly_between():
    rng = np.random.default_rng(1)
    for low, high in np.sort(rng.normal(size=(50, 2)) * 10.0 ** rng.integers(-9, 9, (50, 1)), axis=1):
        assert low < short_number(low, high) < high
    assert short_number(1.0, np.nextafter(1.0, 2.0)) == 1.0
    assert short_number(-np.inf, 1.0) == -np.inf
    assert -1.7e308 < short_number(-1.7e308, 1.7e308) < 1.7e308


def test_groups_needed_grow_as_the_evidence_shrinks(sample):
    errors, scores, codes = sample
    found = plan(sample, groups=True)
    units = make_units(400, codes, None)
    few, more = (found.groups_needed(e, scores, units) for e in (errors * 0, errors))
    assert few < more
    assert found.groups_needed(errors * 0 + 1, scores, units) is None


# The division of the data into two parts, and how many more instances are needed.


@pytest.mark.parametrize(("n", "share", "expected"), [(10, 0.3, 3), (2, 0.01, 1), (2, 0.99, 1), (3, 0.5, 2)])
def test_sizes_of_the_parts(n, share, expected):
    parts = divide(n, None, None, share, 0)
    assert parts.choosing.sum() == expected
    assert (parts.groups, parts.largest) == (None, 1)


def test_whole_groups_lie_in_one_part():
    groups = np.array(["a", "b", "a", "c", "c", "d", "a"])
    for seed in range(5):
        parts = divide(7, groups, None, 0.5, seed)
        assert all(len(set(parts.choosing[groups == g])) == 1 for g in "abcd")
        assert parts.largest == 3
        assert parts.units_of(parts.choosing).n_units == 2


def test_divisions_are_random_and_repeat():
    masks = [divide(100, None, None, 0.3, seed).choosing.tolist() for seed in (None, 0, 1)]
    assert masks[0] == masks[1] != masks[2]


def test_masks_that_are_refused():
    with refuses("choosing", "shape"):
        divide(3, None, [1, 0, 1], 0.3, None)
    with refuses("choosing", "shape"):
        divide(3, None, [True, False], 0.3, None)
    with refuses("choosing", "empty", got="all 2 are True"):
        divide(2, None, [True, True], 0.3, None)
    with refuses("choosing", "mismatch", got="1 group in both, the first that of row 1"):
        divide(3, ["a", "b", "b"], [True, False, True], 0.3, None)
    with refuses("errors", "shape", got="got 1 case"):
        divide(1, None, None, 0.3, None)
    with refuses("groups", "shape", got="got 1 group"):
        divide(3, ["a"] * 3, None, 0.3, None)


def test_errors_are_whole():
    errors, scores = whole_errors([True, False], np.array([1, 2], dtype=np.float16))
    assert (errors.tolist(), scores.dtype) == ([1.0, 0.0], np.float64)


@pytest.mark.parametrize("wrong", [0, 1])
def test_so_many_more_would_be_enough(wrong):
    errors, scores = np.zeros(60), np.arange(60.0)
    parts = divide(60, None, np.arange(60) < 30, 0.3, None)
    plan = plan_refusal(errors[:30], scores[:30], make_units(30, None, None), risk=0.06, alpha=0.05, n_other=30)
    errors[30 : 30 + wrong] = 1
    tested = plan.test(errors[30:], scores[:30], make_units(30, None, None))
    more = needed(plan, tested, errors[30:], scores[:30], parts)
    kept = tested.kept[0] * (30 + more.number / 2) / 30
    rate = tested.errors[0] / tested.kept[0]
    assert stats.binom.cdf(np.ceil(rate * kept), np.ceil(kept), 0.06) <= 0.05
    assert stats.binom.cdf(np.ceil(rate * kept * 0.9), np.floor(kept * 0.9), 0.06) > 0.05
    assert "more cases would be needed" in more.text


def test_no_instance_kept_and_a_rate_that_is_too_high():
    errors, scores = np.zeros(40), np.arange(40.0)
    parts = divide(40, None, np.arange(40) < 20, 0.3, None)
    plan = plan_refusal(errors[:20], scores[:20], make_units(20, None, None), risk=0.1, alpha=0.05, n_other=20)
    units = make_units(20, None, None)
    above = needed(plan, plan.test(errors[20:] + 1, scores[:20], units), errors[20:] + 1, scores[:20], parts)
    assert above.number is None
    assert "no number of cases is enough" in above.text
    nothing = plan.thresholds[:-1].size
    if nothing:
        far = scores[:20] + 100
        assert needed(plan, plan.test(errors[20:], far, units), errors[20:], far, parts).number is None


def test_absurd_numbers_are_not_named():
    errors, scores = np.zeros(400), np.arange(400.0)
    errors[200:219] = 1  # 9.5 % of the certifying ones, and a limit of 9.55 %
    parts = divide(400, None, np.arange(400) < 200, 0.3, None)
    plan = plan_refusal(errors[:200], scores[:200], make_units(200, None, None), risk=0.0955, alpha=0.05, n_other=200)
    tested = plan.test(errors[200:], scores[:200], make_units(200, None, None))
    more = needed(plan, tested, errors[200:], scores[:200], parts)
    assert more.number > 100 * 200
    assert more.text == "at this error rate it would take more than 100 times as many cases"


if __name__ == "__main__":
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    which = sys.argv[1] if len(sys.argv) > 1 else ""
    if "certified".startswith(which):
        show(size)
    if "others".startswith(which):
        show_others(size)
