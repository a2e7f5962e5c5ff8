"""Claims on single models: refusal, backward scores, calibration."""

import numpy as np
import pytest
from tests.evidence.verdict_cases import claims

import uqassay as uq
from uqassay.evidence.claims import refusal_claims

N = 1000
P = np.linspace(0.55, 0.99, N)


def judged(y, **options):
    options = {"calibration": (), "n_draws": 20, **options}
    return uq.assay({"m": uq.Point(np.column_stack([P, 1 - P]))}, np.asarray(y, dtype=int), **options)


def test_refusal_against_its_own_estimate():
    y = np.random.default_rng(1).random(N) > P
    a = judged(y)
    (claim,) = claims(a, "refusal")
    found = a.refusal("m", claim.metric, claim.facts["coverage"])
    assert claim.estimate.low > 0
    assert float(claim.estimate) == float(found.gain)
    assert claim.facts["accuracy_kept"] == float(found.accuracy_kept)


def test_refusal_that_need_not_help_is_open():
    y = np.random.default_rng(2).random(N) < 0.2  # whatever the confidence
    a = judged(y)
    assert not claims(a, "refusal")
    (open_,) = claims(a, "cannot-tell", limited_by="refusal")
    assert open_.estimate.low <= 0


@pytest.mark.parametrize("y", [np.zeros(N), np.ones(N)])
def test_nothing_is_said_where_all_is_right_or_wrong(y):
    assert refusal_claims(judged(y), "m") == ()


def test_nothing_is_said_of_a_constant_score_or_a_single_group():
    flat = uq.assay({"m": uq.Point(np.tile([0.7, 0.3], (N, 1)))}, np.arange(N) % 2, calibration=(), n_draws=20)
    assert refusal_claims(flat, "m") == ()
    assert refusal_claims(judged(np.arange(N) % 2, groups=np.zeros(N)), "m") == ()


def test_backward_scores_are_those_of_the_assay(tmp_path):
    y = (np.arange(N) % 3 == 0) & (P > 0.7)
    a = judged(y)
    records = a.backward
    assert [r.row() for r in records] == [r.row() for r in uq.evidence.backward_scores(a)]
    assert [row for note in a.warnings for row in note.facts.get("scores", ())] == [r.row() for r in records]
    found = claims(a, "backward-score")
    assert [(c.models[0], c.metric) for c in found] == [(r.model, r.score) for r in records]
    for claim, record in zip(found, records, strict=True):
        assert (float(claim.estimate), claim.estimate.low, claim.estimate.high) == (
            *(float(record.uq_auc), record.uq_auc.low, record.uq_auc.high),
        )
        assert claim.pvalue == record.pvalue
        assert claim.facts["gain"] == float(record.gain)
        assert claim.estimate.level == pytest.approx(record.uq_auc.level)
    again = uq.Assay.load(a.save(tmp_path / "kept"))
    assert len(records) > 0
    assert [r.row() for r in again.backward] == [r.row() for r in records]
    assert [c.to_dict() for c in again.claims()] == [c.to_dict() for c in a.claims()]


def test_models_that_are_not_calibrated():
    y = np.random.default_rng(3).random(N) > 0.5
    a = judged(y, calibration=("ece-confidence",))
    (claim,) = claims(a, "not-calibrated")
    assert (claim.models, claim.metric) == (("m",), "ece-confidence")
    assert claim.pvalue <= 0.05
    assert not claims(judged(np.random.default_rng(4).random(N) > P, calibration=("ece-confidence",)), "not-calibrated")


def test_accuracy_kept_allows_for_the_choice_among_models():
    y = np.random.default_rng(1).random(N) > P
    models = {name: uq.Point(np.column_stack([P, 1 - P]) * (1 - c) + c / 2) for name, c in (("m", 0.0), ("n", 0.1))}
    alone, among = judged(y), uq.assay(models, np.asarray(y, dtype=int), calibration=(), n_draws=20)
    facts = [claims(a, "refusal")[0].facts for a in (alone, among)]
    assert facts[1]["accuracy_kept_low"] < facts[0]["accuracy_kept_low"]
    assert facts[1]["accuracy_kept_high"] > facts[0]["accuracy_kept_high"]
    wider = uq.assay(models, np.asarray(y, dtype=int), calibration=(), n_draws=20, level=0.975)
    assert facts[1]["accuracy_kept_low"] == wider.refusal("m", "total-entropy", 0.9).accuracy_kept.low


def test_width_that_would_score_better_is_claimed_and_said():
    rng = np.random.default_rng(3)
    centre = rng.uniform(0.35, 0.65, 800)
    ends = np.stack([centre - 0.02, centre + 0.02], axis=-1)
    members = uq.Members(np.stack([1 - ends, ends], axis=-1))
    a = uq.assay({"DE": members}, (rng.random(800) < centre).astype(int), calibration=(), n_draws=20)
    (claim,) = claims(a, "wider-better")
    (found,) = a.scale_check(0.5).wider
    assert (claim.models, claim.low, claim.pvalue) == (("DE",), 0.5, found.pvalue)
    assert claim.facts["scale"] == found.scale > 1
    assert a.scale_check(0.5).sentence() in a.verdict()
    assert not claims(uq.assay({"p": uq.Point([[0.6, 0.4]] * 20)}, [0, 1] * 10, calibration=()), "wider-better")
