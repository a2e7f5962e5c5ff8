"""Numbers of assays by data set; tables, groups of rows, and errors that name the cell."""

import numpy as np
import pytest
from tests.refusals import refuses
from tests.statistics import printed_comparisons as printed

import uqassay as uq
from uqassay.evidence import compare_over_data_sets, compare_table
from uqassay.metrics.ranking import RANKING_METRICS


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
    assert found.label == "mean E (λ = 0.12)"
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
    pandas = pytest.importorskip("pandas")
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
