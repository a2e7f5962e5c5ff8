"""What the calibration tests say, as data: outcomes against their definition, and one record per model and measure."""

import json

import numpy as np
import pytest
from tests.report.calibration_cases import made_up, with_tests

import uqassay as uq
from uqassay.evidence.calibration import calibration_claims, judged_tests, outcome_of, point_models

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
