"""Counting of true and false claims: claims made up, and an assay whose winner is known."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from benchmarks.verdict_claims.judging import _TESTS, KINDS, NOT_COUNTED, false_and_true, former_procedure, judge
from benchmarks.verdict_claims.truth import Means, Truth, truth_of
from benchmarks.verdict_claims.worlds import Cell, Kind

import uqassay as uq
import uqassay.evidence
from uqassay.evidence import Claim
from uqassay.evidence.claims import KINDS as CLAIM_KINDS

LN3 = float(np.log(3))
SCORE = {"uq_auc": {"s": 0.4}, "kept": {"s": 0.6}}
TRUTH = Truth(
    {
        "a": Means(0.2, 0.3, brier=0.2, accuracy=0.7, **SCORE),
        "b": Means(
            *(0.3, 0.1),
            brier=0.2,
            accuracy=0.6,
            confidence=0.7,
            uq_auc={"s": 0.5},
            kept={"s": 0.6},
            scaled={"1": (0.3, 0.1), "2": (0.2, 0.2), "3": (0.28, 0.3)},
            calibrated=False,
        ),
        "vacuous": Means(0.0, LN3),
        "class-prior": Means(LN3, 0.0),
    },
    {0: {"a": Means(0.5), "b": Means(0.4)}, 1: {"a": Means(0.4), "b": Means(0.4)}},
)
AT = (0.2, 0.2)


def counted(*claims, ranked=(), truth=TRUTH):
    """Names and truth of made-up claims, without those of rank sets."""
    nothing = SimpleNamespace(better=np.zeros((2, 2), bool), names=("a", "b"))
    assay = SimpleNamespace(claims=lambda: claims, rank_sets=lambda *a, **k: nothing, ranked=lambda tradeoff: ranked)
    return list(false_and_true(assay, truth))


@pytest.mark.parametrize(
    ("claim", "name", "true"),
    [
        (Claim("worse", ("b",), ("a",), *AT), "worse than the winner", True),
        (Claim("worse", ("a",), ("b",), *AT), "worse than the winner", False),
        (Claim("worse", ("b",), ("a",), 0.1, 0.4), "headline: worse than the choice", True),
        (Claim("worse", ("b",), ("a",), 0.1, 0.6), "headline: worse than the choice", False),
        (Claim("best", ("a",), ("b",), *AT), "best", True),
        (Claim("best", ("b",), ("a",), *AT), "best", False),
        (
            Claim("model-better", ("b",), ("vacuous", "class-prior"), 0.5, 7.0),
            "headline: better than the baselines",
            True,
        ),
        (Claim("model-better", ("b",), ("vacuous",), 0.2, 7.0), "headline: better than the baselines", False),
        (
            Claim("model-better", ("b",), ("vacuous",), 0.2, 7.0, limited_by="unseen"),
            "headline: if no huge loss is missing",
            False,
        ),
        (Claim("baseline-better", ("b",), ("vacuous",), *AT), "baseline better at the default λ", True),
        (Claim("baseline-better", ("b",), ("class-prior",), *AT), "baseline better at the default λ", False),
        (
            Claim("baseline-better", ("a", "b"), ("vacuous",), 0.0, 0.2, facts={"every_model": True}),
            "no model is worth using",
            True,
        ),
        (
            Claim("baseline-better", ("a", "b"), ("vacuous",), 0.0, 0.28, facts={"every_model": True}),
            "no model is worth using",
            False,
        ),
        (Claim("wider-better", ("b",), (), *AT, facts={"scale": 2.0}), "wider sets", True),
        (Claim("wider-better", ("b",), (), *AT, facts={"scale": 3.0}), "wider sets", False),
        (Claim("same", ("a",), ("b",)), "same losses", False),
        (Claim("subgroup", ("b",), ("a",), *AT, facts={"value": 0}), "subgroup", True),
        (Claim("subgroup", ("b",), ("a",), *AT, facts={"value": 1}), "subgroup", False),
        (Claim("backward-score", ("b",), metric="s", facts={"costs": False}), "backward score", False),
        (Claim("not-calibrated", ("a",)), "not calibrated", False),
        (Claim("not-calibrated", ("b",)), "not calibrated", True),
    ],
)
def test_claim_is_judged_by_the_truth(claim, name, true):
    assert counted(claim) == [(name, true)]
    assert name in KINDS


@pytest.mark.parametrize(("failing", "cases", "met"), [(0.02, 100.0, False), (0.005, 100.0, True), (0.0, 100.0, True)])
def test_a_false_claim_whose_condition_is_not_met_is_counted_as_such(failing, cases, met):
    """b is said to be better than a, if it fails in at most one of a hundred cases."""
    rests = Claim("cannot-tell", ("b",), low=0.5, high=0.5, limited_by="inputs", facts={"cases": {"b": cases}})
    choice = Claim("top-group", ("b",), low=0.1, high=2.0, facts={"cases": {"b": cases}})
    truth = replace(TRUTH, failing={"b": failing})
    for claim, condition, name in (
        (Claim("worse", ("a",), ("b",), 0.5, 0.5), rests, "worse than the winner"),
        (Claim("worse", ("a",), ("b",), 0.1, 0.4), choice, "headline: worse than the choice"),
    ):
        turned = replace(truth, models={**TRUTH.models, "a": TRUTH.models["b"], "b": TRUTH.models["a"]})
        turned = replace(turned, models={**turned.models, "b": Means(0.9)})
        expected = name if met else "order under a condition that is not met"
        assert counted(claim, condition, truth=turned) == [(expected, False)]
        assert counted(claim, truth=turned) == [(name, False)]


def test_groups_that_fail_as_a_whole():
    claim = Claim("worse", ("a",), ("b",), 0.5, 0.5)
    rests = Claim("cannot-tell", ("b",), limited_by="groups")
    truth = replace(TRUTH, models={**TRUTH.models, "b": Means(0.9)})
    assert counted(claim, rests, truth=truth) == [("worse than the winner", False)]
    truth = replace(truth, in_groups=frozenset({"b"}))
    assert counted(claim, rests, truth=truth) == [("order under a condition that is not met", False)]


def estimate(low, high):
    return uq.Estimate((low + high) / 2, low=low, high=high, level=0.95, n=9, method="student-t")


def test_intervals_are_counted_beside_their_claims():
    """The true mean E of a is .26 at λ = .2, and refusing costs it a tenth of its accuracy."""
    for low, high, true in ((0.25, 0.3, True), (0.27, 0.3, False)):
        best = Claim("best", ("a",), ("b",), *AT, estimate=estimate(low, high))
        assert counted(best) == [("best", True), ("best: mean E", true)]
        top = Claim("top-group", ("a",), ("b",), *AT, estimate=estimate(low, high))
        assert counted(top) == [("best: mean E", true)]
    for low, true in ((-0.2, True), (-0.09, False)):
        facts = {"costs": True, "gain_low": low, "gain_high": -0.05}
        found = counted(Claim("backward-score", ("a",), metric="s", facts=facts))
        assert found == [("backward score", True), ("backward score: cost", true)]


def test_own_interval_of_the_lowest_mean():
    """The true mean E of a is .35 at λ = .5; baselines have no rank, and a single model is not chosen."""
    rows = [
        SimpleNamespace(model=m, rank=r, estimate=estimate(0.3, 0.34))
        for m, r in (("vacuous", None), ("a", 1), ("b", 2))
    ]
    assert counted(ranked=rows) == [("best: own interval", False)]
    assert counted(ranked=rows[:2]) == []


def test_directions_of_miscalibration_are_counted():
    for direction, true in (("overconfident", True), ("underconfident", False)):
        found = counted(Claim("not-calibrated", ("b",), facts={"direction": direction}))
        assert found == [("not calibrated", True), ("not calibrated: direction", true)]


def test_every_kind_of_claim_is_judged():
    """A new kind of claim needs a judge, and a new reason why something cannot be told a decision what is counted."""
    assert set(_TESTS) == set(CLAIM_KINDS)
    source = Path(uqassay.evidence.__file__).parent
    reasons = {
        reason
        for path in source.glob("*claims.py")
        for reason in re.findall(r'limited_by="([a-z]+)"', path.read_text(encoding="utf-8"))
    }
    # and "unseen" and "skewness" of the tests; with all but the first nothing is told
    assert reasons == {"refusal", "infinite", "units", "groups", "inputs", "margin"}


def test_refusal_and_bounded_losses():
    facts = {"accuracy_kept_low": 0.5, "accuracy_kept_high": 0.59}
    gain = uq.Estimate(-0.1, low=-0.2, high=0.0, level=0.95, n=9, method="student-t")
    assert counted(Claim("refusal", ("a",), metric="s", facts=facts)) == [
        ("refusal", False),
        ("refusal: accuracy kept", False),
    ]
    open_ = Claim("cannot-tell", ("a",), metric="s", estimate=gain, limited_by="refusal")
    assert counted(open_) == [("refusal: change of accuracy", True)]
    bounded = {"brier": {"top": ["a"], "rest": ["b"]}, "accuracy": {"top": ["a"], "rest": ["b"]}}
    unseen = Claim("cannot-tell", ("a",), ("b",), limited_by="unseen", facts={"bounded": bounded})
    assert counted(unseen) == [("bounded losses", False), ("bounded losses", True)]


def test_an_assay_with_a_clear_winner(tmp_path):
    cell = Cell("clear", (Kind(1, signal=3.0), Kind(1, signal=0.7)), n=2000)
    truth = truth_of(cell, tmp_path, samples=20_000)
    row = judge(cell, truth, 1)
    assert row["false"] == {}
    assert row["made"]["best"] == row["made"]["rank sets of E"] == 1
    assert (row["pairs"], row["rivals"], row["top"]) == ([1, 1], [1, 1], 1)
    assert row["former"] == {"false": 0, "told": 1, "true": 1}
    turned = Truth({**truth.models, "m0": truth.models["m1"], "m1": truth.models["m0"]})
    assert {"best", "rank sets of E", "rank sets of accuracy"} <= set(judge(cell, turned, 1)["false"])
    assert judge(cell, truth, 1) == row


def test_former_procedure_against_scipy():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=80)
    loss = {name: 0.5 + gap + 0.2 * rng.random(80) for name, gap in (("a", 0.0), ("b", 0.2), ("c", 0.1), ("d", 0.02))}
    models = {}
    for name, x in loss.items():
        p = np.exp(-x)
        models[name] = np.where(np.arange(2) == y[:, None], p[:, None], 1 - p[:, None])
    assay = uq.assay(models, y, calibration=(), measures=("total-entropy",), n_draws=20)
    truth = Truth({name: Means(gap) for name, gap in (("a", 0.0), ("b", 0.2), ("c", 0.0), ("d", 0.02))})
    p = {m: scipy.stats.ttest_rel(loss[m], loss["a"]).pvalue for m in "bcd"}
    assert max(3 * p["b"], 2 * p["c"]) < 0.05 < p["d"]  # c is told falsely, and d is missed
    assert former_procedure(assay, truth, "a") == {"false": 1, "told": 1, "true": 2}


def test_what_is_not_counted_is_known():
    assert set(KINDS) >= NOT_COUNTED
