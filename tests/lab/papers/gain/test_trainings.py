"""The trainings of one run: models before and after more data, classes without instances, refusals."""

import numpy as np
import pytest
from tests.lab.papers.gain.small_worlds import Corner, Nearest, Rows, stripes
from tests.notes import codes, texts
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers.gain.trainings import checked_losses, chosen_estimates, measured_run
from uqassay.lab.papers.gain.worlds import GainTask, divided_run


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


def test_estimators_with_the_option_have_a_column_for_each_class(needs):
    needs("sklearn")
    found, _ = measured(uq.lab.methods.RandomForest(n_members=3), absent_class())
    assert codes(found.run) == []
    assert found.before.shape == (25, 3)
    assert (found.before[:, 2] == 0).all()


def test_a_classifier_with_predict_proba_alone(needs):
    needs("sklearn")
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
