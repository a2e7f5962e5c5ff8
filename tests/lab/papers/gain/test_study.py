"""The evaluation by the gain for any estimator and data, against plain code; stored runs; refusals."""

from collections import deque

import numpy as np
import pytest
from tests.lab.papers.gain.small_worlds import Corner, Nearest, Rows, stripes
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers import epistemic_gain

fits: deque = deque()  # counts no part of a key, as a list would


@pytest.fixture(autouse=True)
def _forget():
    fits.clear()


class Counted(Nearest):
    """Counts its trainings and may be killed after some of them."""

    def __init__(self, sharpness=5.0, most=10**6):
        super().__init__(sharpness)
        self.most = most

    def fit(self, X, y):
        if len(fits) == self.most:
            raise KeyboardInterrupt
        fits.append(len(y))
        super().fit(X, y)


def equal(a, b):
    assert a.seeds == b.seeds
    for one, other in zip(a.runs, b.runs, strict=True):
        assert one.sizes == other.sizes
        for part in ("test", "calibration"):
            mine, its = getattr(one, part), getattr(other, part)
            for name in ("gain", "epistemic"):
                for key, values in getattr(mine, name).items():
                    np.testing.assert_array_equal(values, getattr(its, name)[key])


def state(seed, *stream):
    return int(np.random.SeedSequence(seed, spawn_key=stream).generate_state(1)[0])


def test_a_forest_against_plain_scikit_learn():
    from sklearn.ensemble import RandomForestClassifier

    X, y = stripes()
    names = np.array(["ash", "birch", "cedar"])[y]
    balls = uq.lab.datasets.BallSplit(0.3, centres=[[0.4, 0.4], [0.7, 0.7]], train_share=[0.05, 0.3], test_share=0.4)
    inner = uq.lab.datasets.BallSplit(0.25, centres=[[0.2, 0.8]], train_share=0.1, test_share=0.5)
    forest = uq.lab.methods.RandomForest(n_members=4, min_samples_leaf=2)
    study = epistemic_gain(forest, X, names, balls, calibration=inner, runs=2, losses=("zero-one", "brier"))
    assert (study.method, study.n_runs, study.losses) == ("RandomForest", 2, ("zero-one", "brier"))
    for run in study.runs:
        outer = balls.divide(X, state(run.seed, 0, 0))
        inside = inner.divide(X[outer.train], state(run.seed, 0, 1))
        trios = {
            "test": (outer.train, outer.augmented, outer.test),
            "calibration": tuple(outer.train[rows] for rows in (inside.train, inside.augmented, inside.test)),
        }
        for name, (train, augmented, test) in trios.items():
            trees = [
                RandomForestClassifier(4, min_samples_leaf=2, random_state=state(state(run.seed, 2)))
                .fit(X[rows], y[rows])
                .estimators_
                for rows in (train, augmented)
            ]
            probs = [np.stack([tree.predict_proba(X[test]) for tree in each], axis=1) for each in trees]
            before, after = (p.mean(axis=1) for p in probs)
            sample = getattr(run, name)
            gain = (after.argmax(axis=1) == y[test]).astype(float) - (before.argmax(axis=1) == y[test])
            np.testing.assert_array_equal(sample.gain["zero-one"], gain)
            brier = [((p - np.eye(3)[y[test]]) ** 2).sum(axis=1) for p in (before, after)]
            np.testing.assert_allclose(sample.gain["brier"], brier[0] - brier[1], atol=1e-12)
            logs = np.log(np.where(probs[0] > 0, probs[0], 1.0))
            expected = -(probs[0] * logs).sum(axis=2).mean(axis=1)
            entropy = -(before * np.log(np.where(before > 0, before, 1.0))).sum(axis=1)
            np.testing.assert_allclose(sample.epistemic["entropy"], entropy, atol=1e-12)
            np.testing.assert_allclose(sample.epistemic["mutual-information"], entropy - expected, atol=1e-12)


class Majority:
    """The most frequent class of the instance's cell, or the first class in a cell without instances."""

    def fit(self, X, y):
        cell = np.minimum((X[:, 0] * 10).astype(int), 9)
        self.counts = np.array([np.bincount(y[cell == c], minlength=2) for c in range(10)])

    def predict_proba(self, X):
        said = self.counts[np.minimum((X[:, 0] * 10).astype(int), 9)].argmax(axis=1)
        return 0.9 * np.eye(2)[said] + 0.05


def test_the_mean_gain_is_the_true_epistemic_uncertainty_where_more_data_suffice():
    """P(y = 1 | x) is .8 right of the middle, where D_train has no instance and D_aug has many."""
    rng = np.random.default_rng(0)
    X = rng.random((6000, 2))
    right = X[:, 0] > 0.5
    y = (rng.random(6000) < np.where(right, 0.8, 0.2)).astype(int)

    class Right:
        def divide(self, X, random_state):
            inside = np.random.default_rng(random_state).permutation(np.flatnonzero(X[:, 0] > 0.5))
            rest = np.setdiff1d(np.arange(len(X)), inside)
            return Rows(rest, inside[:1000], np.r_[rest, inside[1000:]]).rows

    def truth(X):
        p = np.where(X[:, 0] > 0.5, 0.8, 0.2)
        return np.stack([1 - p, p], axis=1)

    study = epistemic_gain(Majority(), X, y, Right(), calibration=None, runs=2, truth=truth)
    for run in study.runs:
        np.testing.assert_allclose(run.test.truth.epistemic, 0.6)
        np.testing.assert_allclose(run.test.truth.aleatoric, 0.2)
        gain = run.test.gain["zero-one"]
        assert abs(gain.mean() - 0.6) < 4 * gain.std() / np.sqrt(len(gain))


def test_more_runs_contain_the_fewer_and_seeds_differ():
    X, y = stripes()
    few, many, other = (
        epistemic_gain(Nearest(), X, y, Corner(), runs=runs, rng=rng) for runs, rng in ((1, 0), (2, 0), (1, 1))
    )
    assert many.seeds[0] == few.seeds[0] != other.seeds[0]
    np.testing.assert_array_equal(many.runs[0].test.gain["zero-one"], few.runs[0].test.gain["zero-one"])
    assert len(set(many.seeds)) == 2


def test_odd_arrays_give_the_same_study():
    X, y = stripes()
    reference = epistemic_gain(Nearest(), X, y, Corner(), runs=1)
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.zeros((240, 4))
    wide[:, ::2] = X
    for other in (frozen, X.tolist(), wide[:, ::2], np.asfortranarray(X)):
        equal(reference, epistemic_gain(Nearest(), other, y.tolist(), Corner(), runs=1))
    half = epistemic_gain(Nearest(), X.astype(np.float16), y.astype(np.int8), Corner(), runs=1)
    assert half.runs[0].test.n_instances > 10


def test_a_pipeline_gives_the_same_numbers_again():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = stripes()
    pipe = make_pipeline(StandardScaler(), RandomForestClassifier(3))
    one, two = (epistemic_gain(pipe, X, y, Corner(), runs=1) for _ in range(2))
    equal(one, two)
    assert one.scores == ("entropy",)


def test_networks():
    X, y = stripes()
    net = uq.lab.methods.DeepEnsemble(n_members=2, backbone=(4,), epochs=2)
    study = epistemic_gain(net, X.astype(np.float32), y, Corner(), runs=1)
    assert study.scores == ("mutual-information", "entropy")
    assert net.classes is None


# -- stored runs ---------------------------------------------------------------------------------------------------------


def test_a_killed_study_goes_on(tmp_path):
    X, y = stripes()
    whole = epistemic_gain(Counted(), X, y, Corner(), runs=3)
    assert len(fits) == 12
    fits.clear()
    with pytest.raises(KeyboardInterrupt):
        epistemic_gain(Counted(most=6), X, y, Corner(), runs=3, folder=tmp_path)
    fits.clear()
    fits.extend([0] * 10)
    study = epistemic_gain(Counted(most=6), X, y, Corner(), runs=3, folder=tmp_path)
    assert len(fits) == 10 + 8  # one run was finished
    equal(whole, study)
    again = epistemic_gain(Counted(most=6), X, y, Corner(), runs=3, folder=tmp_path)
    assert len(fits) == 18
    equal(whole, again)
    assert again.runs[0].notes == whole.runs[0].notes


def test_what_changes_a_result_is_trained_again(tmp_path):
    X, y = stripes()

    def trained(estimator=None, x=X, split=None, **options):
        fits.clear()
        given = {"runs": 1, "calibration": None, "folder": tmp_path} | options
        epistemic_gain(estimator or Counted(), x, y, split or Corner(), **given)
        return len(fits)

    assert [trained(), trained()] == [2, 0]
    assert trained(Counted(4.0)) == 2
    assert trained(x=X + 1e-9) == 2
    assert trained(split=Corner(edge=0.7)) == 2
    assert trained(split=Corner()) == 0
    assert trained(calibration="same") == 4
    assert trained(calibration=Corner()) == 0
    assert trained(losses="brier") == 2
    assert trained(scores="margin") == 2
    assert trained(scores={"margin": ("margin", (0, 1))}) == 2
    assert trained(rng=1) == 2
    assert trained(truth=0.1 + 0.7 * np.eye(3)[y]) == 2
    assert trained(truth=lambda X: 0.1 + 0.7 * np.eye(3)[y]) == 0
    assert trained(progress=False) == 0
    for file in tmp_path.rglob("record.npz"):
        file.write_bytes(b"damaged")
    assert [trained(), trained()] == [2, 0]


def test_functions_of_the_user_need_a_key(tmp_path):
    X, y = stripes()
    given = {"runs": 1, "calibration": None, "folder": tmp_path}

    def powered(power):
        return lambda prediction: (1 - prediction.mean_probs().max(axis=1)) ** power

    with refuses("folder", "type", got='give key="…"'):
        epistemic_gain(Counted(), X, y, Corner(), scores={"mine": powered(1)}, **given)
    one, two = (
        epistemic_gain(Counted(), X, y, Corner(), scores={"mine": powered(p)}, key=f"power {p}", **given)
        for p in (1, 2)
    )
    assert len(fits) == 4
    np.testing.assert_allclose(one.runs[0].test.epistemic["mine"] ** 2, two.runs[0].test.epistemic["mine"])


# -- refusals ------------------------------------------------------------------------------------------------------------


def test_refusals_before_anything_is_trained(tmp_path):
    X, y = stripes()
    model = Counted()

    def refused(parameter, code, got="", x=X, labels=y, split=None, estimator=model, **options):
        with refuses(parameter, code, got):
            epistemic_gain(estimator, x, labels, Corner() if split is None else split, **options)

    for runs, code in ((0, "range"), (-1, "range"), (1.5, "type"), (True, "type")):
        refused("runs", code, f"got {runs}", runs=runs)
    refused("y", "shape", "239", labels=y[:239])
    refused("y", "shape", r"\(240, 1\)", labels=y[:, None])
    refused("y", "masked", labels=np.ma.masked_equal(y, 0))
    refused("y", "missing", "row 0", labels=np.where(y == y[0], np.nan, y))
    refused("y", "empty", "got 0", labels=np.zeros(240, dtype=int))
    refused("X", "finite", "row 0", x=np.where(X < 9, np.nan, X))
    refused("X", "shape", x=X[:, 0])
    refused(
        "estimator", "type", "predict_uncertainty or predict_proba", estimator=type("Fit", (), {"fit": Majority.fit})()
    )
    refused("split", "type", split=3)
    refused("split", "type", r"divide\(X\)", split=type("Bare", (), {"divide": lambda self, X: None})())
    refused("calibration", "choice", "'own'", calibration="own")
    refused("calibration", "type", calibration=0.5)
    refused("losses", "choice", "'hinge'", losses="hinge")
    refused("scores", "choice", "'entropie'", scores="entropie")
    refused("truth", "shape", truth=np.full((240, 2), 0.5))
    refused("rng", "range", "-1", rng=-1)
    refused("split", "empty", "test instances", split=Corner(test_share=0.0))
    refused("split", "empty", "more instances", split=Corner(train_share=0.6, test_share=0.5))
    refused("calibration", "empty", "D_train of run 1", calibration=Corner(edge=0.0))
    locked = Counted()
    locked.rows = (row for row in range(3))
    refused("estimator", "type", "Counted: .*generator", estimator=locked)
    odd = Corner()
    odd.table = object()
    refused("folder", "type", "split.table is of type object", split=odd, folder=tmp_path / "new")
    assert not fits


class FailsLater(Nearest):
    """Fails, or predicts nonsense, at the third training with two trainings in each run."""

    def __init__(self, how):
        super().__init__()
        self.how = how

    def fit(self, X, y):
        fits.append(len(y))
        if len(fits) == 3 and self.how == "raise":
            raise RuntimeError("no convergence")
        super().fit(X, y)

    def predict_uncertainty(self, X):
        said = super().predict_uncertainty(X)
        return said[1:] if len(fits) == 3 else said


def test_errors_count_runs_from_one():
    X, y = stripes()
    with refuses("estimator", "shape", got="FailsLater trained on D_train in run 2"):
        epistemic_gain(FailsLater("short"), X, y, Corner(), calibration=None, runs=2)
    fits.clear()
    with pytest.raises(RuntimeError, match="no convergence") as caught:
        epistemic_gain(FailsLater("raise"), X, y, Corner(), calibration=None, runs=2)
    assert caught.value.__notes__ == ["This was FailsLater trained on D_train in run 2."]

    class Second:
        """Has test rows the first time alone."""

        def __init__(self):
            self.times = 0

        def divide(self, X, random_state):
            self.times += 1
            radius = 0.3 if self.times == 1 else 0.001
            return uq.lab.datasets.BallSplit(radius, centres=[[0.5, 0.5]]).divide(X, random_state)

    class Breaks(Corner):
        def divide(self, X, random_state):
            raise KeyError("region")

    with pytest.raises(KeyError) as caught:
        epistemic_gain(Nearest(), X, y, Breaks(), runs=1)
    assert caught.value.__notes__ == ["This was Breaks.divide for run 1."]
    with pytest.raises(ZeroDivisionError) as caught:
        epistemic_gain(Nearest(), X, y, Corner(), scores=lambda said: 1 / 0, runs=1)
    assert caught.value.__notes__ == ["This was an estimate of Nearest trained on D_train in run 1."]

    with refuses("split.radius", "empty", got="in run 2"):
        epistemic_gain(Nearest(), X, y, Second(), calibration=None, runs=2)


def test_fit_may_return_something_else():
    class History(Nearest):
        def fit(self, X, y):
            super().fit(X, y)
            return {"loss": [0.5]}

    X, y = stripes()
    one, other = (epistemic_gain(model, X, y, Corner(), runs=1) for model in (History(), Nearest()))
    equal(one, other)


def test_options_of_a_method_are_checked_first():
    X, y = stripes()
    with refuses("n_members", "range"):
        epistemic_gain(uq.lab.methods.RandomForest(n_members=0), X, y, Corner())
