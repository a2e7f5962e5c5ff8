"""Comparison over many data sets: its numbers, what it says and shows."""

import json

import numpy as np
import pytest
from tests.refusals import refuses
from tests.shown_results import check_shown
from tests.statistics import printed_comparisons as printed

import uqassay as uq
from uqassay.evidence import compare_over_data_sets, compare_table
from uqassay.evidence.data_sets import TABLES
from uqassay.metrics.ranking import RANKING_METRICS

# -- Numbers of assays by data set; tables, groups of rows, and errors that name the cell ------------------------------


def made(seed, *, names=("a", "b"), n=12, runs=1, **options):
    rng = np.random.default_rng(seed)
    models = {name: [uq.Point(rng.dirichlet(np.ones(3), size=n)) for _ in range(runs)] for name in names}
    return uq.assay(models, rng.integers(0, 3, n), calibration=(), n_draws=10, **options)


@pytest.fixture(scope="module")
def assays():
    return {"digits": made(0), "wine": made(1, runs=2), "iris": made(2)}


@pytest.mark.parametrize(
    ("metric", "score"),
    [*((m, None) for m in ("kl", "accuracy", "log-loss", "brier", "ece", "ece-classwise")), ("aurc", "total-entropy")],
)
def test_numbers_are_the_findings_over_all_runs(assays, metric, score):
    two = {name: assays[name] for name in ("digits", "wine")}
    found = compare_over_data_sets(two, metric=metric, score=score)
    rows = {
        row["model"]: row["estimate"]
        for row in assays["wine"].rows("findings")
        if (row["metric"], row["run"]) == (metric, "all") and (score is None or row["score"] == score)
    }
    assert found.values[1].tolist() == pytest.approx([rows["a"], rows["b"]])
    assert found.greater_is_better == (metric == "accuracy")
    assert (found.models, found.data_sets) == (("a", "b"), ("digits", "wine"))


def test_unified_loss_at_any_tradeoff_and_direction_of_ranking_metrics(assays):
    found = compare_over_data_sets(assays, tradeoff=0.123)
    assert found.values[1, 0] == pytest.approx(assays["wine"].loss("a", 0.123).mean())
    assert found.label == "log loss"  # the models state no sets, so nothing depends on λ
    vague = uq.Intervals([[0.1, 0.2]] * 12, [[0.8, 0.9]] * 12)
    priced = {name: uq.assay({"a": vague, "b": vague}, [0, 1] * 6, calibration=()) for name in ("u", "v")}
    assert compare_over_data_sets(priced, tradeoff=0.123).label == "mean E (λ = 0.12)"
    for metric in ("uq-auc", "aurc"):
        one = compare_over_data_sets(assays, metric=metric, score="margin")
        assert one.greater_is_better == RANKING_METRICS[metric].higher_is_better


def test_saved_assays_give_the_same(assays, tmp_path):
    folders = {name: one.save(tmp_path / name) for name, one in assays.items()}
    assert np.array_equal(compare_over_data_sets(folders).values, compare_over_data_sets(assays).values)


def test_a_missing_model_is_named_with_its_data_set(assays):
    more = {**assays, "cancer": made(9, names=("b", "c"))}
    with refuses("values", "missing", got="c has none on digits, and 3 other cells too"):
        compare_over_data_sets(more)
    with refuses("models", "choice", got="'d'"):
        compare_over_data_sets(assays, models=["a", "d"])
    with refuses("models", "shape", got="1"):
        compare_over_data_sets(more, models=["b"])
    with refuses("values", "missing", got="a has none on digits"):
        compare_over_data_sets(assays, metric="uq-auc", score="epistemic-entropy")


def test_assays_of_other_settings_are_refused_for_what_they_change(assays):
    other = {**assays, "cancer": made(3, distance="brier")}
    with refuses("assays", "mismatch", got="'kl' on digits and 'brier' on cancer"):
        compare_over_data_sets(other)
    assert compare_over_data_sets(other, metric="accuracy").n_data_sets == 4


@pytest.mark.parametrize(
    ("options", "parameter", "code"),
    [
        ({"metric": "nonspecificity"}, "metric", "choice"),
        ({"metric": "uq-auc"}, "score", "missing"),
        ({"metric": "brier", "score": "margin"}, "score", "conflict"),
        ({"tradeoff": -1.0}, "tradeoff", "range"),
        ({"level": 1.0}, "level", "range"),
        ({"groups": ["x"]}, "groups", "mismatch"),
        ({"groups": ["x"] * 3}, "groups", "shape"),
        ({"rope": -1.0}, "rope", "range"),
    ],
)
def test_bad_options_are_refused(assays, options, parameter, code):
    with refuses(parameter, code):
        compare_over_data_sets(assays, **options)


@pytest.mark.parametrize("given", [[], {}, "folder"])
def test_other_things_than_named_assays_are_refused(given):
    with refuses("assays", "type"):
        compare_over_data_sets(given)


# -- tables ---------------------------------------------------------------------------------------------------------------


def test_a_frame_has_its_own_names():
    import pandas

    frame = pandas.DataFrame(printed.AUC, index=list(printed.ROWS), columns=list(printed.MODELS))
    found = compare_table(frame, greater_is_better=True, label="AUC")
    assert (found.models, found.data_sets) == (printed.MODELS, tuple(printed.ROWS))
    with refuses("models", "conflict"):
        compare_table(frame, greater_is_better=True, models=list(printed.MODELS))


def test_rows_of_one_data_set_count_once():
    rows = [[0.1, 0.2], [0.3, 0.2], [0.1, 0.4], [0.2, 0.3]]
    found = compare_table(rows, greater_is_better=False, groups=["u", "v", "u", "w"])
    assert found.data_sets == ("u", "v", "w")
    assert found.values == pytest.approx(np.array([[0.1, 0.3], [0.3, 0.2], [0.2, 0.3]]))
    assert [note.code for note in found.notes] == ["groups"]
    assert str(found.notes[0]) == "4 rows in 3 data sets, whose means are compared"


@pytest.mark.parametrize(
    ("values", "options", "parameter", "code"),
    [
        ([[0.1, np.nan], [0.2, 0.3]], {}, "values", "missing"),
        ([[0.1, np.inf], [0.2, 0.3]], {}, "values", "missing"),
        ([[0.1], [0.2]], {}, "models", "shape"),
        ([[0.1, 0.2]], {}, "data_sets", "shape"),
        ([[0.1, 0.2], [0.1, 0.2]], {"models": ["a"]}, "models", "mismatch"),
        ([[0.1, 0.2], [0.1, 0.2]], {"data_sets": ["a", "a"]}, "data_sets", "mismatch"),
    ],
)
def test_bad_tables_are_refused(values, options, parameter, code):
    with refuses(parameter, code):
        compare_table(values, greater_is_better=True, **options)


def test_hostile_arrays_give_the_same():
    values = printed.AUC.astype(np.float32)
    values.flags.writeable = False
    plain = compare_table(values.astype(float), greater_is_better=True)
    for array in (values, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2], values.tolist()):
        found = compare_table(array, greater_is_better=True)
        assert np.array_equal(found.tests.pvalue, plain.tests.pvalue, equal_nan=True)


def test_posterior_is_in_the_direction_of_the_metric():
    values = np.column_stack([np.full(8, 0.9), np.full(8, 0.8)])
    for greater, better in ((True, 0), (False, 1)):
        found = compare_table(values, greater_is_better=greater, rope=0.01)
        assert found.posterior[better, 1 - better, 0] > 0.99
        assert found.posterior[0, 1] == pytest.approx(found.posterior[1, 0, ::-1])


# -- What a comparison over data sets says and shows -------------------------------------------------------------------


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
