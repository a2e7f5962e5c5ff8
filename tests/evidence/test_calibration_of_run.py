"""One run: the test of every mixture or of the mean, further draws for small p-values, results where nothing is defined."""

import numpy as np
import pytest
from tests.evidence.cases import drawn

import uqassay as uq
from uqassay.calibration.credal import credal_calibration_test
from uqassay.evidence import calibration as of_run
from uqassay.evidence.calibration import CalibrationPlan, check_measures


def test_further_draws_keep_the_level():
    """With a fitted mixture as the truth, p ≤ α in about α of the samples or less, for all α that matter."""
    g = np.random.default_rng(1)
    members = g.dirichlet(np.ones(2), (20, 2))
    measure = check_measures(["ece-confidence"], "calibration")
    plan = CalibrationPlan(n_draws=19, n_more=80, members=False)
    pvalues = []
    for seed in range(150):
        labels = drawn(members.mean(axis=1), np.random.default_rng(1000 + seed))
        plan = plan._replace(seed=seed)
        sample = of_run.TestedSample("m", 0, uq.Members(members), labels, None, 20)
        pvalues.append(of_run.tested_run(sample, measure, plan, notes=(), mixed=True)[0].pvalue)
    for alpha in (0.05, 0.1):
        allowed = alpha + 3 * np.sqrt(alpha * (1 - alpha) / 150)
        assert np.mean(np.array(pvalues) <= alpha) <= allowed + 0.03  # the truth is fitted, not known


@pytest.mark.parametrize(("n", "k", "m"), [(1, 2, 2), (2, 3, 1), (5, 2, 3)])
def test_a_few_instances_are_enough(n, k, m, random_generator):
    p = uq.Members(random_generator.dirichlet(np.ones(k), (n, m)))
    found = uq.assay({"m": p}, random_generator.integers(0, k, n), n_draws=5).calibration
    assert all(0 < t.pvalue <= 1 for t in found)


def test_members_that_are_all_equal_and_half_precision(random_generator):
    p = np.repeat(random_generator.dirichlet(np.ones(3), (40, 1)), 4, axis=1).astype(np.float16)
    p.flags.writeable = False
    found = uq.assay({"m": uq.Members(p)}, random_generator.integers(0, 3, 40), n_draws=5).calibration
    for t in found:
        assert t.statistic == pytest.approx(t.mean_value, abs=2e-3)
        assert t.member_values == pytest.approx(np.full(4, t.mean_value), abs=2e-3)


def test_one_member_is_a_point(random_generator):
    p = random_generator.dirichlet(np.ones(3), (30, 1))
    y = random_generator.integers(0, 3, 30)
    a, b = (uq.assay({"m": q}, y, n_draws=5).calibration for q in (uq.Members(p), uq.Point(p[:, 0])))
    assert [t.pvalue for t in a] == [t.pvalue for t in b]
    assert {t.tested for t in a} == {"mean"}


def test_weights_where_the_search_of_the_authors_code_began_are_none(random_generator):
    members = random_generator.dirichlet([1.0] * 3, (3, 4))
    measure = check_measures(["hosmer-lemeshow"], "measure")  # their variant divides 0 by 0 in empty bins
    plan = CalibrationPlan(null="random", convention="paper-code", n_draws=9, n_more=0)
    y = np.array([0, 1, 2])
    sample = of_run.TestedSample("m", 0, uq.Members(members), y, None, 3)
    (t,) = of_run.tested_run(sample, measure, plan, notes=(), mixed=True)
    expected = credal_calibration_test(
        y, members, measure="hosmer-lemeshow", null="random", n_draws=9, convention="paper-code"
    )
    assert np.isnan([t.statistic, expected.statistic, *t.weights]).all()
    assert (t.after, t.n_members) == (None, 4)
    assert t.reason == "the measure is undefined for these labels with 3 cases"


@pytest.mark.parametrize("measure", ["skce-ul", "skce-uq", "l2-confidence-debiased", "hosmer-lemeshow-paper-code"])
def test_a_set_whose_measure_is_undefined_has_a_result(measure, random_generator, tmp_path):
    members = random_generator.dirichlet([1.0] * 3, (1, 4))
    kinds = {"DE": uq.Members(members), "V": uq.Vertices(members), "box": uq.Intervals(members.min(1), members.max(1))}
    found = uq.assay(kinds, [1], n_draws=5, calibration=[measure, "ece-confidence"], tradeoffs=[0.5])
    for t in found.calibration[::2]:
        assert np.isnan([t.statistic, t.pvalue, t.accuracy_weighted, *t.weights]).all()
        assert t.reason == "the measure is undefined for these labels with 1 case"
        assert (t.after, t.before.count.sum()) == (None, 1)
    for t in found.calibration[1::2]:
        assert np.isfinite(t.pvalue)
        assert (t.reason, t.after.count.sum()) == ("", 1)
    again = uq.Assay.load(found.save(tmp_path / "kept"))
    assert [t.after is None for t in again.calibration] == [True, False] * 3
    assert repr(again.rows("calibration")) == repr(found.rows("calibration"))
    rows = [r for r in found.rows("findings") if r["metric"] == "calibration-pvalue"]
    assert [np.isnan(r["estimate"]) for r in rows] == [True, False] * 3
