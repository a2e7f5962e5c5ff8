"""Rows of sets of an assay: every model with sets, run, rule and score; kept by `save`."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.sets import SET_ROW_COLUMNS, models_with_sets, set_scores_of, shown_rule
from uqassay.metrics.sets import CLASS_SET_SCORES

pytestmark = pytest.mark.usefixtures("without_calibration")


@pytest.fixture(scope="module")
def judged(without_calibration):
    rng = np.random.default_rng(5)
    p, q = rng.dirichlet(np.ones(4), size=(2, 40, 3))
    y = rng.integers(4, size=40)
    groups = np.repeat(np.arange(10), 4)
    return p, y, groups, uq.assay({"one": p, "two": [p, q], "point": p[:, 0]}, y, groups=groups, n_draws=10)


def test_rows_are_the_scores_of_the_metric(judged):
    p, y, groups, a = judged
    table = a.table("sets", rule="e-admissibility")
    assert tuple(table.columns) == SET_ROW_COLUMNS
    expected = uq.metrics.class_set_scores(y, p, rule="e-admissibility", groups=groups)
    for run, model in (("all", "one"), ("1", "two")):
        mine = table[(table["model"] == model) & (table["run"] == run)].set_index("metric")
        for name in CLASS_SET_SCORES:
            row, e = mine.loc[name.replace("_", "-")], getattr(expected, name)
            assert (row["estimate"], row["low"], row["high"], row["n"]) == (float(e), e.low, e.high, e.n)


def test_every_rule_and_run_of_models_with_sets(judged):
    a = judged[-1]
    rows = a.rows("sets")
    assert [m.name for m in models_with_sets(a)] == ["one", "two"]
    assert len(rows) == (1 + 3) * 3 * len(CLASS_SET_SCORES)
    assert {row["rule"] for row in rows} == set(uq.credal.CLASS_RULES)
    assert set_scores_of(a, "two", "maximality").coverage.notes[0].code == "groups"


def test_saved_assays_keep_them_and_unknown_rules_are_refused(judged, tmp_path):
    a = judged[-1]
    again = uq.Assay.load(a.save(tmp_path / "kept"))
    assert repr(again.rows("sets", rule="maximality")) == repr(a.rows("sets", rule="maximality"))  # nan is no nan
    with refuses("rule", "choice", "both"):
        a.rows("sets", rule="both")


@pytest.mark.parametrize(("n_classes", "shown"), [(16, "maximality"), (17, "maximality"), (33, "interval-dominance")])
def test_many_classes_have_the_rules_that_they_can_afford(without_calibration, n_classes, shown):
    """Vague sets of a thousand classes would take hours by the other rules."""
    p = np.random.default_rng(6).dirichlet(np.ones(n_classes), size=(5, 3))
    a = uq.assay({"m": p}, np.zeros(5, int), n_draws=10)
    found = {row["rule"] for row in a.rows("sets")}
    assert ("e-admissibility" in found, "maximality" in found) == (n_classes <= 16, n_classes <= 32)
    assert shown_rule(a) == shown
    alone = uq.metrics.class_set_scores(np.zeros(5, int), p, rule=shown)
    assert repr(set_scores_of(a, "m", shown)) == repr(alone)  # nan is no nan
    if n_classes > 16:
        with refuses("rule", "choice", "'e-admissibility'"):
            a.rows("sets", rule="e-admissibility")
