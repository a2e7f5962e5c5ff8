"""Trainings of all conditions and runs: estimators of any kind, and networks side by side."""

import numpy as np
import pytest
from tests.notes import codes
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.disentanglement import join_studies
from uqassay.lab.datasets.dataset import Dataset
from uqassay.lab.papers.disentangling import trainings
from uqassay.lab.papers.disentangling.trainings import Conditions, has_dense_networks, measure_runs, training_sets

FEW = Conditions(shares=(0.1, 0.5, 1.0), noise_levels=(0.0, 0.5, 1.0))


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("sklearn")


def blobs(n=60, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y, y_test = np.arange(n) % k, np.arange(n // 3) % k
    x, x_test = (3.0 * np.eye(k)[labels] + rng.normal(size=(len(labels), k)) for labels in (y, y_test))
    return Dataset("blobs", x, y, x_test, y_test, class_names=tuple("abcd"[:k]))


class Nearest:
    """Distances to the class means of two halves of the data, as two members; written by hand."""

    def __init__(self, epochs=5, keep_all=False):
        self.epochs, self.keep_all, self.random_state, self.fits = epochs, keep_all, None, []

    def fit(self, X, y):
        self.labels = np.arange(3) if self.keep_all else np.unique(y)
        self.fits.append((len(y), self.epochs, self.random_state))
        seen.append((len(y), self.epochs, self.random_state))
        far = np.full(X.shape[1], 1e3)
        halves = [(X[i::2], y[i::2]) if len(y) > 5 else (X, y) for i in (0, 1)]
        self.means = [
            np.array([part[of == k].mean(axis=0) if (of == k).any() else far for k in self.labels])
            for part, of in halves
        ]
        return self

    def predict_uncertainty(self, X):
        distance = np.stack([((X[:, None] - means) ** 2).sum(axis=2) for means in self.means], axis=1)
        p = np.exp(distance.min(axis=2, keepdims=True) - distance)
        return p / p.sum(axis=2, keepdims=True)


seen: list = []


@pytest.fixture(autouse=True)
def _forget():
    seen.clear()


def equal(a, b, **tolerance):
    assert list(a.measured) == list(b.measured)
    for name, one in a.measured.items():
        other = b.measured[name]
        np.testing.assert_array_equal(one.labels, other.labels)
        np.testing.assert_allclose(one.probs, other.probs, **tolerance)
        assert list(one.parts) == list(other.parts)
        for key, parts in one.parts.items():
            for part in ("total", "aleatoric", "epistemic"):
                np.testing.assert_allclose(getattr(parts, part), getattr(other.parts[key], part), **tolerance)


def test_a_class_written_by_hand_against_a_plain_loop():
    given, template = blobs(), Nearest()
    study = measure_runs(template, given, FEW, [7, 8])
    assert template.fits == []  # the template stays as it is
    assert study.seeds == (7, 8)
    assert (study.method, study.dataset, study.class_names) == ("Nearest", "blobs", ("a", "b", "c"))
    assert {epochs for _, epochs, _ in seen} == {50, 10, 5}
    assert len({state for *_, state in seen}) == len(seen) == 2 * 9
    for run, seed in enumerate((7, 8)):
        for one in training_sets(given, FEW, seed):
            if one.left_out is not None:
                continue
            measured = study.measured[one.experiment]
            said = Nearest().fit(given.X_train[one.rows], one.y_train).predict_uncertainty(given.X_test)
            np.testing.assert_array_equal(measured.labels[run, one.place], one.y_test)
            np.testing.assert_allclose(measured.probs[run, one.place], said.mean(axis=1), atol=1e-12)
            entropy = uq.measures.entropy_decomposition(uq.Members(said))
            np.testing.assert_allclose(
                measured.parts["information-theoretic"].epistemic[run, one.place], entropy.epistemic, atol=1e-12
            )


def test_an_absent_class_gets_probability_0_and_a_note():
    study = measure_runs(Nearest(), blobs(), FEW, [0, 1])
    assert codes(study) == ["left-out"]
    probs = study.measured["left-out-class"].probs
    for k in range(3):
        assert (probs[:, k, :, k] == 0).all()
        np.testing.assert_allclose(probs[:, k].sum(axis=-1), 1.0)
    whole = measure_runs(Nearest(keep_all=True), blobs(), FEW, [0, 1])
    assert codes(whole) == []
    np.testing.assert_allclose(whole.measured["left-out-class"].probs, probs, atol=1e-12)
    entropy = [s.measured["left-out-class"].parts["information-theoretic"].epistemic for s in (study, whole)]
    np.testing.assert_allclose(*entropy, atol=1e-12)


def test_two_classes_say_that_none_was_left_out():
    study = measure_runs(uq.lab.methods.RandomForest(n_members=3), blobs(k=2), FEW, [0])
    assert "left-out-class" not in study.measured
    assert codes(study) == ["left-out"]


@pytest.mark.parametrize("name", ["RandomForest", "Bagging"])
def test_forests_keep_a_column_for_the_class_left_out(name):
    template = getattr(uq.lab.methods, name)(n_members=4)
    study = measure_runs(template, blobs(), FEW, [0])
    assert study.notes == ()
    probs = study.measured["left-out-class"].probs
    assert all((probs[:, k, :, k] == 0).all() and probs[:, k].max() > 0.5 for k in range(3))
    assert template.classes is None


def test_runs_do_not_depend_on_each_other():
    forest = uq.lab.methods.RandomForest(n_members=3)
    both = measure_runs(forest, blobs(), FEW, [4, 9])
    equal(both, join_studies([measure_runs(forest, blobs(), FEW, [seed]) for seed in (4, 9)]), rtol=0, atol=0)


def test_functions_and_names_of_decompositions():
    def spread(prediction):
        return {
            "aleatoric": 1 - prediction.mean_probs().max(axis=1),
            "epistemic": prediction.probs.std(axis=1).sum(axis=1),
        }

    study = measure_runs(Nearest(), blobs(), FEW, [0], decompositions=["variance", spread])
    assert study.decompositions == ("variance", "spread")
    one = study.measured["label-noise"]
    np.testing.assert_allclose(one.parts["spread"].aleatoric, 1 - one.probs.max(axis=-1))
    named = measure_runs(Nearest(), blobs(), FEW, [0], decompositions={"mine": spread})
    assert named.decompositions == ("mine",)
    with refuses("decomposition", "duplicate", got="'spread' twice"):
        measure_runs(Nearest(), blobs(), FEW, [0], decompositions=[spread, spread])


# -- refusals ------------------------------------------------------------------------------------------------------------


class Wrong(Nearest):
    def __init__(self, what):
        super().__init__()
        self.what = what

    def predict_uncertainty(self, X):
        said = super().predict_uncertainty(X)
        if self.what == "nan":
            said[2, 0, 0] = np.nan
        if self.what == "set":
            return uq.Intervals(0 * said[:, 0], 0 * said[:, 0] + 1)
        changed = {"short": said[1:], "wide": np.full((len(X), 2, 5), 0.2), "flat": said[:, 0, 0], "none": None}
        return changed.get(self.what, said)


@pytest.mark.parametrize("what", ["nan", "short", "wide", "flat", "none", "set"])
def test_wrong_predictions_name_estimator_condition_and_run(what):
    with refuses("estimator", got=r"Wrong under dataset-size 0\.1 in the run of seed 6"):
        measure_runs(Wrong(what), blobs(), FEW, [6])
    with refuses("estimator", got=r"Wrong under dataset-size 0\.1 in run 4"):
        measure_runs(Wrong(what), blobs(), FEW, [6], first_run=4)


def test_nan_of_a_users_decomposition():
    def broken(prediction):
        n = prediction.n_instances
        return {"aleatoric": np.zeros(n), "epistemic": np.r_[np.inf, np.zeros(n - 1)]}

    with refuses("decomposition['broken']", "finite", got=r"row 0 is inf, from Nearest under dataset-size 0\.1"):
        measure_runs(Nearest(), blobs(), FEW, [0], decompositions=broken)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [("unheard-of", "choice"), (["variance", 3], "choice"), (3, "choice"), ({1: "variance"}, "choice"), ({}, "empty")],
)
def test_decompositions_are_refused_before_anything_is_trained(wrong, code):
    with refuses("decomposition", code):
        measure_runs(Nearest(), None, FEW, [0], decompositions=wrong)


def test_estimators_without_uncertainty_and_odd_seeds():
    from sklearn.linear_model import LogisticRegression

    for wrong in (LogisticRegression(), object()):
        with refuses("estimator", "type", got=type(wrong).__name__):
            measure_runs(wrong, blobs(), FEW, [0])
    with refuses("estimator", "type", got="the class Nearest"):
        measure_runs(Nearest, blobs(), FEW, [0])
    for seeds, code in (([], "empty"), ([1, 1], "duplicate"), ([-1], "range"), ([True], "type"), ([0.5], "type")):
        with refuses("seeds", code):
            measure_runs(Nearest(), blobs(), FEW, seeds)


# -- networks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"head": "gaussian-logits"}])
def test_networks_side_by_side_against_one_after_another(needs, monkeypatch, options):
    needs("torch")
    net = uq.lab.methods.MCDropout(backbone=(8,), epochs=4, n_samples=5, learning_rate=0.01, progress=False, **options)
    together = measure_runs(net, blobs(), FEW, [0, 1])
    assert "variance" in together.decompositions
    assert ("gaussian-logits" in together.decompositions) == bool(options)
    monkeypatch.setattr(trainings, "BLOCK_NETWORKS", 2)
    equal(together, measure_runs(net, blobs(), FEW, [0, 1]), atol=1e-5)
    alone = net.set_params(parallel="sequential")
    equal(together, join_studies([measure_runs(alone, blobs(), FEW, [seed]) for seed in (0, 1)]), atol=1e-5)


def test_networks_keep_an_output_for_the_class_left_out(needs):
    needs("torch")
    net = uq.lab.methods.DeepEnsemble(backbone=(4,), epochs=3, n_members=2, progress=False)
    study = measure_runs(net, blobs(), FEW, [0])
    assert study.notes == ()
    probs = study.measured["left-out-class"].probs
    assert (probs[:, 0, :, 0] > 0).all()
    assert net.classes is None
    assert has_dense_networks(net, (3,))
    assert not has_dense_networks(uq.lab.methods.MCDropout(backbone="cnn"), (1, 8, 8))
    assert not has_dense_networks(Nearest(), (3,))


def test_memory_bounds_the_networks_that_are_trained_together(monkeypatch, needs):
    needs("torch")
    net = uq.lab.methods.DeepEnsemble(n_members=3)
    jobs = [trainings.RunCondition(0, 0, one, "run 1") for one in training_sets(blobs(), FEW, 0)]
    assert [len(block) for block in trainings._blocks(net, blobs(), jobs)] == [9]
    monkeypatch.setattr(trainings, "BLOCK_NETWORKS", 6)
    assert [len(block) for block in trainings._blocks(net, blobs(), jobs)] == [2, 2, 2, 2, 1]
    monkeypatch.setattr(trainings, "BLOCK_NETWORKS", 600)
    monkeypatch.setattr(trainings, "BLOCK_BYTES", 4 * 3 * 60 * 2)
    blocks = list(trainings._blocks(net, blobs(), jobs))
    assert max(sum(len(job.given.rows) for job in block) for block in blocks) <= 120
    assert sorted(job.given.name for block in blocks for job in block) == sorted(job.given.name for job in jobs)
