"""What a comparison over data sets says and shows."""

import json

import numpy as np
import pytest
from tests.refusals import refuses
from tests.shown_results import check_shown
from tests.statistics import printed_comparisons as printed

from uqassay.evidence import compare_table
from uqassay.evidence.data_sets import TABLES


@pytest.fixture(scope="module")
def c45():
    return compare_table(
        printed.AUC,
        greater_is_better=True,
        models=printed.MODELS,
        data_sets=list(printed.ROWS),
        label="AUC",
        rope=0.01,
    )


def said(values, **options):
    return compare_table(values, greater_is_better=True, label="accuracy", **options).sentence()


def test_sentence_names_what_is_shown_and_how_often_it_is_false(c45):
    assert c45.sentence() == (
        "Over 14 data sets, by AUC, C4.5+m is better than C4.5 (signed-rank tests, adjusted for 6 pairs: at most 5 % of "
        "comparisons like this name a false pair)."
    )
    assert c45.groups() == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+m+cf", "C4.5+cf", "C4.5"))
    assert c45.critical_difference == pytest.approx(printed.PRINTED_DIFFERENCE, abs=0.005)


def test_sentence_of_too_few_data_sets_says_what_they_allow():
    rows = [[0.9, 0.8, 0.7]] * 5
    assert said(rows) == (
        "5 data sets cannot tell 3 models apart by accuracy: p ≥ .19 at best, adjusted for 3 pairs; it takes at least 7 data "
        "sets."
    )
    assert said([[0.9, 0.8]] * 5, models=["a", "b"]) == (
        "5 data sets cannot tell a and b apart by accuracy: p ≥ .06 at best; it takes at least 6 data sets."
    )
    assert "is better than" in said([[0.9, 0.8, 0.7]] * 7)
    assert "is better than" in said([[0.9, 0.8]] * 6)


def test_sentence_where_nothing_is_shown():
    assert said([[0.9, 0.8], [0.8, 0.9]] * 4, models=["a", "b"]) == (
        "Over 8 data sets, neither a nor b is shown to be better than the other by accuracy (p ≥ 1.00)."
    )
    assert said(np.ones((8, 3))) == (
        "Over 8 data sets, none of 3 models is shown to be better than another by accuracy (p ≥ 1.00, adjusted for 3 pairs)."
    )


def test_sentence_of_many_models_is_short():
    rows = np.arange(12.0) + np.random.default_rng(0).normal(size=(30, 12)) * 0.1
    sentence = said(rows)
    assert "12 is better than 11, 10, 9 and 8 others; 11 is better than 10, 9, 8 and 7 others;" in sentence
    assert "8 other models are better than some" in sentence


def test_practical_sentence(c45):
    assert c45.practical_sentence() == (
        "With differences up to 0.010 counted as none, C4.5+m+cf is better than C4.5 (posterior probability at least 95 %, of "
        "each pair by itself)."
    )
    nothing = compare_table(printed.AUC[:, [0, 2]], greater_is_better=True, rope=0.01)
    assert "counted as none, no model is better than or equal to another (posterior" in nothing.practical_sentence()
    same = compare_table(np.ones((9, 2)), greater_is_better=True, rope=0.01)
    assert "1 is equal to 2 (posterior" in same.practical_sentence()
    many = compare_table(np.arange(6.0) + np.zeros((9, 1)), greater_is_better=True, rope=0.1).practical_sentence()
    assert "2 further statements in the table" in many
    assert compare_table(printed.AUC, greater_is_better=True).practical_sentence() == ""


def test_rows_and_tables(c45):
    models = c45.rows()
    assert [row["model"] for row in models] == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert models[-1]["worse_than"] == ["C4.5+m"]
    pairs = {(row["model"], row["other"]): row for row in c45.rows("pairs")}
    assert len(pairs) == 6
    pair = pairs["C4.5+m", "C4.5"]
    assert (pair["pvalue"], pair["better"], pair["equal_on"]) == (pytest.approx(0.0078125), "C4.5+m", 2)
    assert sum(pair[f"practically_{how}"] for how in ("better", "equal", "worse")) == pytest.approx(1)
    assert len(c45.rows("values")) == 56
    for name, columns in TABLES.items():
        assert all(tuple(row) == columns for row in c45.rows(name))
        assert list(c45.table(name).columns) == list(columns)
    with refuses("name", "choice"):
        c45.rows("ranks")
    json.dumps(c45.to_dict(), allow_nan=False)


def test_shown_as_papers_print_it(c45):
    check_shown(c45, "C4.5+m+cf", "1.93", "shown to be better than")
    latex = c45.to_latex()
    assert r"average rank & \textbf{1.93} & \underline{2.00} & \underline{2.93} & \underline{3.14} \\" in latex
    assert r"wine & 0.970 & \textbf{0.978} & 0.946 & 0.957 \\" in latex
    assert r"mushroom & \textbf{1.000} & \textbf{1.000} & \textbf{1.000} & \textbf{1.000} \\" in latex
    assert "| average rank | **1.93** | <ins>2.00</ins> |" in c45.to_markdown()
    assert "Friedman's test of all models: F = 4.59" in c45.summary()


def test_equal_models_and_names_that_are_markup_are_shown():
    check_shown(compare_table(np.ones((3, 2)), greater_is_better=False, models=["a_b & c", "<x>|$y$"]))
    small = compare_table([[1e-4, 2e-4], [3e-4, 2e-4]], greater_is_better=False)
    assert "0.000100" in small.to_markdown()
