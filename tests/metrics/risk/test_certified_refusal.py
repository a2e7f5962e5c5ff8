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

from uqassay.metrics.certified_thresholds import certified_refusal, certify, divide, plan_on
from uqassay.notes import has_note
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
    assert "about 45 more instances would be needed" in found.sentence()  # 59 of 70 % of the instances
    useless = certified_refusal(np.ones(40), np.arange(40), risk=0.05)
    assert (
        "at this rate no number of instances is enough; without an error it takes 59 instances kept"
        in useless.sentence()
    )
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


def test_kinds_of_arrays():
    rng = np.random.default_rng(5)
    scores = rng.random(300).astype(np.float16)
    errors = rng.random(300) < 0.2 * scores
    expected = certified_refusal(errors, scores.astype(float), risk=0.15)
    for values in (scores, np.repeat(scores, 2)[::2]):
        values.flags.writeable = False
        found = certified_refusal(errors, values, risk=0.15)
        assert found.to_dict() == expected.to_dict()
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
    with refuses("uncertainty", "finite"):
        certified_refusal([0, 1], [0.1, np.nan], risk=0.1)
    with refuses("uncertainty", "mismatch"):
        certified_refusal([0, 1], [0.1], risk=0.1)


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


if __name__ == "__main__":
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    which = sys.argv[1] if len(sys.argv) > 1 else ""
    if "certified".startswith(which):
        show(size)
    if "others".startswith(which):
        show_others(size)
