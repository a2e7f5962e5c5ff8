"""The trainings of one run: models before and after more data, classes without instances, refusals."""

import numpy as np
import pytest
from tests.lab.papers.gain.small_worlds import Corner, Nearest, Rows, stripes
from tests.notes import codes, texts
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence import GainRun
from uqassay.lab.bench.cell import Cell
from uqassay.lab.papers.estimators import stored_result
from uqassay.lab.papers.gain.run import (
    checked_losses,
    chosen_estimates,
    measured_run,
    packed_run,
    study_of,
)
from uqassay.lab.papers.gain.worlds import GainTask, divided_run
from uqassay.lab.papers.trainings import record_of


def measured(estimator, split=None, calibration=None, *, seed=0, scores=None, losses=("zero-one",), **given):
    X, y = stripes()
    task = GainTask(X=X, y=y, class_names=("a", "b", "c"), split=split or Corner(), calibration=calibration, **given)
    division = divided_run(task, seed, losses=losses)
    return measured_run(estimator, task, division, estimates=chosen_estimates(scores), losses=losses), division


def absent_class():
    """A division whose D_train lacks the last class."""
    y = stripes()[1]
    rest, last = np.flatnonzero(y < 2), np.flatnonzero(y == 2)
    return Rows(rest[5:], np.r_[rest[:5], last[:20]], np.r_[rest[5:], last[20:]])


def test_a_class_written_by_hand_against_a_plain_loop():
    template = Nearest()
    found, division = measured(template, calibration=Corner(edge=0.9), losses=("zero-one", "log", "brier"))
    assert not hasattr(template, "labels")
    X, y = stripes()
    for name, trio in (("test", division.evaluation), ("calibration", division.calibration)):
        probs = []
        for rows in (trio.train, trio.augmented):
            model = Nearest()
            model.fit(X[rows], y[rows])
            probs.append(model.predict_uncertainty(X[trio.test]))
        before, after = (p.mean(axis=1) for p in probs)
        true = y[trio.test]
        at = np.arange(len(true))
        sample = getattr(found.run, name)
        right = [(p.argmax(axis=1) == true).astype(float) for p in (before, after)]
        np.testing.assert_array_equal(sample.gain["zero-one"], right[1] - right[0])
        np.testing.assert_allclose(sample.gain["log"], np.log(after[at, true]) - np.log(before[at, true]), atol=1e-9)
        brier = [((p - np.eye(3)[true]) ** 2).sum(axis=1) for p in (before, after)]
        np.testing.assert_allclose(sample.gain["brier"], brier[0] - brier[1], atol=1e-12)
        entropy = -(before * np.log(before)).sum(axis=1)
        np.testing.assert_allclose(sample.epistemic["entropy"], entropy, atol=1e-12)
        expected = -(probs[0] * np.log(probs[0])).sum(axis=2).mean(axis=1)
        np.testing.assert_allclose(sample.epistemic["mutual-information"], entropy - expected, atol=1e-12)
    assert found.run.sizes == division.sizes
    np.testing.assert_array_equal(found.rows, np.r_[division.evaluation.test, division.calibration.test])
    np.testing.assert_array_equal(found.labels, y[found.rows])


def test_all_models_of_a_run_have_one_seed():
    seen = []

    class Recorded(Nearest):
        def fit(self, X, y):
            seen.append(self.random_state)
            super().fit(X, y)

    for seed in (4, 5):
        measured(Recorded(), calibration=Corner(edge=0.9), seed=seed)
    assert len(seen) == 8
    assert len(set(seen[:4])) == len(set(seen[4:])) == 1
    assert seen[0] != seen[4]


def test_a_class_without_instances_gets_probability_0_and_a_note():
    found, _ = measured(Nearest(), absent_class())
    assert codes(found.run) == ["left-out"]
    assert "1 class without instances in D_train (c), which then has probability 0" in texts(found.run)[0]
    assert (found.before[:, 2] == 0).all()
    np.testing.assert_allclose(found.before.sum(axis=1), 1.0)
    of_class = found.labels == 2
    np.testing.assert_array_equal(found.run.test.gain["zero-one"][of_class], found.run.test.correct_after[of_class])


def test_estimators_with_the_option_have_a_column_for_each_class():
    found, _ = measured(uq.lab.methods.RandomForest(n_members=3), absent_class())
    assert codes(found.run) == []
    assert found.before.shape == (25, 3)
    assert (found.before[:, 2] == 0).all()


def test_a_classifier_with_predict_proba_alone():
    from sklearn.neighbors import KNeighborsClassifier

    found, division = measured(KNeighborsClassifier(3), absent_class())
    assert list(found.run.test.epistemic) == ["entropy"]
    X, y = stripes()
    train, test = division.evaluation.train, division.evaluation.test
    plain = KNeighborsClassifier(3).fit(X[train], y[train]).predict_proba(X[test])
    np.testing.assert_allclose(found.before[:, :2], plain)


def test_true_uncertainty_under_the_zero_one_loss():
    y = stripes()[1]
    probs = 0.1 + 0.7 * np.eye(3)[y]
    found, division = measured(Nearest(), label_probs=probs)
    truth, test = found.run.test.truth, division.evaluation.test
    chosen = probs[test, found.before.argmax(axis=1)]
    np.testing.assert_allclose(truth.total, 1 - chosen)
    np.testing.assert_allclose(truth.aleatoric, 0.2)
    np.testing.assert_allclose(truth.epistemic, 0.8 - chosen, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_predictions_of_low_precision(dtype):
    class Coarse(Nearest):
        def predict_uncertainty(self, X):
            return super().predict_uncertainty(X).astype(dtype)

    coarse, fine = (measured(one(), losses=("brier",))[0].run.test for one in (Coarse, Nearest))
    np.testing.assert_allclose(coarse.gain["brier"], fine.gain["brier"], atol=0.01)


# -- refusals ------------------------------------------------------------------------------------------------------------


class Wrong(Nearest):
    def __init__(self, what, only="both"):
        super().__init__()
        self.what, self.only = what, only

    def predict_uncertainty(self, X):
        said = super().predict_uncertainty(X)
        if self.what == "nan":
            said[2, 0, 0] = np.nan
        changed = {"short": said[1:], "wide": np.full((len(X), 2, 5), 0.2), "flat": said[:, 0, 0], "none": None}
        return changed.get(self.what, said)


@pytest.mark.parametrize("what", ["nan", "short", "wide", "flat", "none"])
def test_wrong_predictions_name_model_and_run(what):
    with refuses("estimator", got="Wrong trained on D_train in the run of seed 6"):
        measured(Wrong(what), seed=6)


def test_columns_that_are_neither_all_classes_nor_those_of_the_training():
    class OneMore(Nearest):
        def predict_uncertainty(self, X):
            return np.full((len(X), 4), 0.25)

    with refuses("estimator", "shape", got="25 instances and 3 classes, or the 2 in D_train; 25 and 4"):
        measured(OneMore(), absent_class())


def test_losses():
    assert checked_losses("log") == ("log",)
    assert checked_losses(["brier", "log"]) == ("brier", "log")
    for wrong, code in ((["hinge"], "choice"), (3, "choice"), ([], "empty"), (["log", "log"], "duplicate")):
        with refuses("losses", code):
            checked_losses(wrong)


# -- Estimates of epistemic uncertainty: names, functions and stated ranges.


MEMBERS = uq.Members([[[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.8, 0.2]], [[0.5, 0.5], [0.7, 0.3]]])


def entropy(p):
    return -(p * np.log(p)).sum(axis=-1)


def test_defaults_against_their_definitions():
    found = chosen_estimates(None)(MEMBERS, "a model")
    assert list(found) == ["mutual-information", "entropy"]
    total = entropy(MEMBERS.probs.mean(axis=1))
    np.testing.assert_allclose(found["entropy"], total)
    np.testing.assert_allclose(found["mutual-information"], total - entropy(MEMBERS.probs).mean(axis=1), atol=1e-15)


def test_a_point_and_a_set_offer_the_entropy_alone():
    for prediction in (uq.Point([[0.5, 0.5]]), uq.Intervals([[0.1, 0.3]], [[0.7, 0.9]])):
        assert list(chosen_estimates(None)(prediction, "a model")) == ["entropy"]


def test_names_of_the_registry_and_functions():
    def spread(prediction):
        return prediction.probs.std(axis=1)[:, 0]

    found = chosen_estimates(["margin", spread])(MEMBERS, "a model")
    assert list(found) == ["margin", "spread"]
    np.testing.assert_allclose(found["spread"], [0.4, 0.0, 0.1], atol=1e-15)
    np.testing.assert_allclose(found["margin"], uq.measures.uncertainty_score(MEMBERS, "margin"))
    named = chosen_estimates({"width": (spread, (0, 1)), "other": "entropy"})
    assert list(named(MEMBERS, "a model")) == ["width", "other"]
    assert named.ranges == {"width": (0.0, 1.0)}


@pytest.mark.parametrize(
    ("values", "code", "got"),
    [
        (np.zeros(2), "shape", r"must give 3 numbers.*\(2,\)"),
        (np.zeros((3, 1)), "shape", r"\(3, 1\)"),
        (np.array(["a", "b", "c"]), "shape", "<U1"),
        ([0.0, np.nan, 0.0], "finite", "row 1 of the test instances is nan, from Forest"),
        ([0.0, 0.0, np.inf], "finite", "row 2 of the test instances is inf"),
        ([0.0, 1.5, -1.0], "range", "between 0.000 and 1.000, as stated; row 1 of the test instances is 1.5"),
    ],
)
def test_values_of_a_function_that_are_refused(values, code, got):
    with refuses("scores['mine']", code, got):
        chosen_estimates({"mine": (lambda prediction: values, (0, 1))})(MEMBERS, "Forest")


def test_refusals_before_any_prediction():
    with refuses("scores", "choice", got="got 'entropie'"):
        chosen_estimates("entropie")
    with refuses("scores", "empty"):
        chosen_estimates([])
    for wrong in ((1, 0), (0,), (0, "1"), (0, np.nan), 3):
        with refuses("scores['mine']", "range", got="low < high"):
            chosen_estimates({"mine": (len, wrong)})
    with refuses("scores", "no-distribution", got="epistemic-variance needs a distribution.*Intervals from Forest"):
        chosen_estimates("epistemic-variance")(uq.Intervals([[0.1, 0.3]], [[0.7, 0.9]]), "Forest")


# -- Runs as results of cells, and back.


def a_run(seed=0, *, calibration=True, truth=True):
    X, y = stripes()
    task = GainTask(
        X=X,
        y=y,
        class_names=("a", "b", "c"),
        split=Corner(),
        calibration=Corner(edge=0.9) if calibration else None,
        label_probs=0.1 + 0.7 * np.eye(3)[y] if truth else None,
    )
    division = divided_run(task, seed)
    losses = ("zero-one", "log")
    return measured_run(Nearest(), task, division, estimates=chosen_estimates(None), losses=losses)


def same_sample(one, other):
    if one is None or other is None:
        assert one is other
        return
    for part in ("gain", "epistemic"):
        assert list(getattr(one, part)) == list(getattr(other, part))
        for name, values in getattr(one, part).items():
            np.testing.assert_array_equal(values, getattr(other, part)[name])
    np.testing.assert_array_equal(one.correct_before, other.correct_before)
    np.testing.assert_array_equal(one.correct_after, other.correct_after)
    assert (one.truth is None) == (other.truth is None)
    if one.truth is not None:
        for part in ("total", "aleatoric", "epistemic"):
            np.testing.assert_array_equal(getattr(one.truth, part), getattr(other.truth, part))


@pytest.mark.parametrize("options", [{}, {"calibration": False}, {"truth": False}])
def test_a_stored_run_comes_back(tmp_path, options):
    measured = a_run(**options)
    facts = {"method": "Nearest", "dataset": "stripes"}
    cell = Cell("json:dumps", dataset="stripes", method="Nearest", seed=0)
    stored = stored_result(tmp_path, cell, lambda: packed_run(measured, facts))
    for result in (packed_run(measured, facts), stored):
        back = record_of(result, GainRun)
        same_sample(back.test, measured.run.test)
        same_sample(back.calibration, measured.run.calibration)
        assert (back.seed, back.sizes, back.notes) == (measured.run.seed, measured.run.sizes, measured.run.notes)


def test_a_study_of_several_results():
    results = [packed_run(a_run(seed), {"method": "Nearest", "dataset": "stripes"}) for seed in (3, 1)]
    study = study_of(results)
    assert (study.method, study.dataset, study.seeds) == ("Nearest", "stripes", (3, 1))
    renamed = study_of(results, method="nearest neighbour", dataset="S")
    assert (renamed.method, renamed.dataset) == ("nearest neighbour", "S")
    with refuses("results", "empty"):
        study_of([])
