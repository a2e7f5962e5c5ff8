"""Rows and labels of each condition, and their trainings: estimators of any kind, and networks side by side."""

from itertools import pairwise

import numpy as np
import pytest
from tests.notes import codes
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.disentanglement import join_studies
from uqassay.lab.datasets.dataset import Dataset
from uqassay.lab.papers.disentangling import trainings
from uqassay.lab.papers.disentangling.trainings import (
    AS_AUTHORS,
    PARTS,
    Conditions,
    Reduction,
    TrainingSet,
    chosen_decompositions,
    has_dense_networks,
    measure_runs,
    smoothed_name,
    training_sets,
)
from uqassay.records import packed, unpacked

FEW = Conditions(shares=(0.1, 0.5, 1.0), noise_levels=(0.0, 0.5, 1.0))


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
def test_networks_side_by_side_against_one_after_another(monkeypatch, options):
    net = uq.lab.methods.MCDropout(backbone=(8,), epochs=4, n_samples=5, learning_rate=0.01, progress=False, **options)
    together = measure_runs(net, blobs(), FEW, [0, 1])
    assert "variance" in together.decompositions
    assert ("gaussian-logits" in together.decompositions) == bool(options)
    monkeypatch.setattr(trainings, "BLOCK_NETWORKS", 2)
    equal(together, measure_runs(net, blobs(), FEW, [0, 1]), atol=1e-5)
    alone = net.set_params(parallel="sequential")
    equal(together, join_studies([measure_runs(alone, blobs(), FEW, [seed]) for seed in (0, 1)]), atol=1e-5)


def test_networks_keep_an_output_for_the_class_left_out():
    net = uq.lab.methods.DeepEnsemble(backbone=(4,), epochs=3, n_members=2, progress=False)
    study = measure_runs(net, blobs(), FEW, [0])
    assert study.notes == ()
    probs = study.measured["left-out-class"].probs
    assert (probs[:, 0, :, 0] > 0).all()
    assert net.classes is None
    assert has_dense_networks(net, (3,))
    assert not has_dense_networks(uq.lab.methods.MCDropout(backbone="cnn"), (1, 8, 8))
    assert not has_dense_networks(Nearest(), (3,))


def test_memory_bounds_the_networks_that_are_trained_together(monkeypatch):
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


# -- rows and labels of each condition ----------------------------------------------------------------------------------


def data(counts=(40, 61, 100), test=(5, 7, 9), seed=0):
    rng = np.random.default_rng(seed)
    y, y_test = (rng.permutation(np.repeat(np.arange(len(n)), n)) for n in (counts, test))
    x, x_test = (np.arange(len(labels), dtype=float)[:, None] for labels in (y, y_test))
    return Dataset("made", x, y, x_test, y_test, class_names=tuple("abcdef"[: len(counts)]))


def sets(conditions=None, seed=3, given=None):
    found = {}
    for one in training_sets(given or data(), conditions or Conditions(), seed):
        found.setdefault(one.experiment, []).append(one)
    return found


def test_the_papers_conditions():
    found = sets()
    assert [one.value for one in found["dataset-size"]] == [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0]
    np.testing.assert_allclose([one.value for one in found["label-noise"]], np.arange(11) / 10)
    assert [one.value for one in found["left-out-class"]] == [0, 1, 2]
    assert [one.epochs(100) for one in found["dataset-size"]] == [10_000, 2000, 1000, 400, 200, 133, 100]
    assert {one.epochs(100) for name in ("label-noise", "left-out-class") for one in found[name]} == {100}


def test_shares_hold_at_least_one_instance_of_each_class_and_are_nested():
    given = data()
    found = sets()["dataset-size"]
    expected = {
        0.01: (1, 1, 1),
        0.05: (2, 3, 5),
        0.1: (4, 6, 10),
        0.25: (10, 15, 25),
        0.75: (30, 45, 75),
        1.0: (40, 61, 100),
    }
    for one in found:
        np.testing.assert_array_equal(one.y_train, given.y_train[one.rows])
        np.testing.assert_array_equal(one.y_test, given.y_test)
        assert len(set(one.rows)) == len(one.rows)
        if one.value in expected:
            assert tuple(np.bincount(one.y_train)) == expected[one.value]
    for small, large in pairwise(found):
        assert set(small.rows) < set(large.rows)


def test_runs_have_their_own_subsets_noise_and_seeds_and_repeat():
    first, again, other = sets(seed=3), sets(seed=3), sets(seed=4)
    for name, ones in first.items():
        for one, same, different in zip(ones, again[name], other[name], strict=True):
            np.testing.assert_array_equal(one.rows, same.rows)
            np.testing.assert_array_equal(one.y_train, same.y_train)
            assert one.seed.generate_state(1) == same.seed.generate_state(1) != different.seed.generate_state(1)
    assert set(first["dataset-size"][1].rows) != set(other["dataset-size"][1].rows)
    assert (first["label-noise"][5].y_test != other["label-noise"][5].y_test).any()
    seeds = {int(one.seed.generate_state(1)[0]) for runs in (first, other) for ones in runs.values() for one in ones}
    assert len(seeds) == 2 * 21


def test_a_condition_does_not_depend_on_the_others():
    few = sets(Conditions(shares=(0.1, 0.5, 1.0), noise_levels=(0.0, 0.4, 1.0), left_out=(1,)))
    for name, ones in few.items():
        for one in ones:
            same = next(other for other in sets()[name] if other.value == one.value)
            np.testing.assert_array_equal(one.rows, same.rows)
            np.testing.assert_array_equal(one.y_train, same.y_train)
            assert one.seed.generate_state(1) == same.seed.generate_state(1)


def test_label_noise_permutes_labels_among_nested_rows_of_both_parts():
    n = 2000
    labels = np.arange(n) % 100  # so many classes that a permuted row keeps its label rarely
    x = np.zeros((n, 1))
    given = Dataset("made", x, labels, x, labels, class_names=tuple(map(str, range(100))))
    found = sets(Conditions(shares=(), left_out=()), given=given)["label-noise"]
    for part in ("y_train", "y_test"):
        changed = [set(np.flatnonzero(getattr(one, part) != labels)) for one in found]
        assert changed[0] == set()
        for one, rows in zip(found, changed, strict=True):
            np.testing.assert_array_equal(np.sort(getattr(one, part)), np.sort(labels))
            assert 0.95 * one.value * n - 10 <= len(rows) <= one.value * n + 1e-6
        order = [changed[i + 1] - changed[i] for i in range(10)]
        for i, later in enumerate(order):  # rows that change first at a level were not chosen before, but for chance
            assert len(later & changed[i]) == 0
            assert len(changed[i] - changed[i + 1]) < 0.05 * n
    assert (found[10].y_train != found[10].y_test).any()


def test_a_class_left_out_is_missing_in_training_alone():
    given = data()
    for one in sets()["left-out-class"]:
        assert set(one.y_train) == {0, 1, 2} - {one.left_out}
        np.testing.assert_array_equal(one.rows, np.flatnonzero(given.y_train != one.left_out))
        np.testing.assert_array_equal(one.y_test, given.y_test)


def test_noise_that_is_not_nested_permutes_other_rows_at_every_level():
    given = data(counts=(4000, 4000, 4000))
    nested, fresh = (sets(Conditions(nested_noise=n), given=given)["label-noise"] for n in (True, False))
    for one, other in zip(nested, fresh, strict=True):
        np.testing.assert_array_equal(np.sort(one.y_train), np.sort(other.y_train))
    kept = [set(np.flatnonzero(one.y_train != given.y_train)) for one in fresh]
    assert len(kept[1] - kept[2]) > 0.7 * len(kept[1])  # of independent rows a fifth meets again
    np.testing.assert_array_equal(
        fresh[3].y_train, sets(Conditions(nested_noise=False), given=given)["label-noise"][3].y_train
    )


def test_epochs_may_stay():
    found = sets(Conditions(epochs_by_share=False))["dataset-size"]
    assert {one.epochs(7) for one in found} == {7}


def test_two_classes_leave_none_out():
    two = data(counts=(20, 20), test=(4, 4))
    assert "left-out-class" not in sets(given=two)
    with refuses("left_out", "conflict", got="got 2"):
        sets(Conditions(left_out=(0,)), given=two)


def test_conditions_as_plain_values():
    for conditions in (
        Conditions(),
        Conditions(shares=(), left_out=(0, 2)),
        Conditions(nested_noise=False, delete_column=True),
    ):
        assert unpacked(Conditions, packed(conditions)[0]) == conditions


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"shares": (0.1, 1.0)}, "shares", "empty", "2 conditions"),
        ({"noise_levels": (0.5,)}, "noise_levels", "empty", "1 condition"),
        ({"shares": (0.0, 0.5, 1.0)}, "shares", "range", "got 0.0"),
        ({"shares": (0.1, 0.5, 1.1)}, "shares", "range", "got 1.1"),
        ({"noise_levels": (0.0, 0.5, -0.1)}, "noise_levels", "range", "got -0.1"),
        ({"noise_levels": (0.0, 0.5, float("nan"))}, "noise_levels", "range", "got nan"),
        ({"shares": (0.1, 0.5, 0.5)}, "shares", "duplicate", "0.5 occurs more than once"),
        ({"shares": ("1", 0.5, 1.0)}, "shares", "type", "got '1'"),
        ({"shares": "all"}, "shares", "type", "got 'all'"),
        ({"left_out": (0, 0)}, "left_out", "duplicate", "0 occurs more than once"),
        ({"left_out": "some"}, "left_out", "choice", "got 'some'"),
        ({"left_out": (0.5,)}, "left_out", "type", "got 0.5"),
        ({"epochs_by_share": "no"}, "epochs_by_share", "type", "got 'no'"),
        ({"delete_column": 1}, "delete_column", "type", "got 1"),
        ({"nested_noise": None}, "nested_noise", "type", "got None"),
        ({"shares": (), "noise_levels": (), "left_out": ()}, "shares", "empty", "all three"),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        Conditions(**options)


def test_classes_that_vanish_are_refused():
    with refuses("y", "empty", got="'b' has none in 30 training instances"):
        sets(given=data(counts=(10, 0, 20)))
    with refuses("left_out", "empty", got="'c' has no test instance"):
        sets(given=data(test=(3, 3, 0)))
    assert len(sets(Conditions(left_out=(0, 1)), given=data(test=(3, 3, 0)))["left-out-class"]) == 2
    with refuses("left_out", "empty", got="'a' has all test instances"):
        sets(Conditions(left_out=(0,)), given=data(test=(3, 0, 0)))
    with refuses("left_out", "range", got="got 3"):
        sets(Conditions(left_out=(3,)))
    with refuses("X_test", "empty", got="none"):
        sets(given=data(test=(0, 0, 0)))


# -- One prediction reduced to mean probabilities and decompositions.


def given(experiment="label-noise", value=0.5, y=(0, 1, 2)):
    y = np.array(y)
    return TrainingSet(experiment, 0, value, np.arange(len(y)), y, np.array([0, 1]), 1.0, np.random.SeedSequence(0))


def members(k=3, n=2, seed=0):
    return uq.Members(np.random.default_rng(seed).dirichlet(np.ones(k), size=(n, 4)))


def logits(seed=0):
    rng = np.random.default_rng(seed)
    return uq.GaussianLogits(rng.normal(size=(2, 4, 3)), rng.uniform(1, 2, (2, 4, 3)), variance_is="aleatoric")


@pytest.mark.parametrize("said", [members(), members().probs, logits()])
def test_all_decompositions_that_are_offered(said):
    reduced = Reduction(n_instances=2, n_classes=3)(said, given(), "here")
    assert tuple(reduced.parts) == uq.measures.decomposition_names(said)
    np.testing.assert_allclose(reduced.probs, uq.predictions.as_prediction(said).mean_probs())
    for name, parts in reduced.parts.items():
        expected = uq.measures.decompose(said, name)
        for part in PARTS:
            np.testing.assert_array_equal(getattr(parts, part), getattr(expected, part))


def test_a_missing_column_is_put_in():
    out = given("left-out-class", 1.0, (0, 2))
    reduced = Reduction(n_instances=2, n_classes=3)(members(2), out, "here")
    assert reduced.padded
    np.testing.assert_array_equal(reduced.probs[:, 1], 0)
    np.testing.assert_allclose(reduced.probs[:, [0, 2]], members(2).mean_probs())
    with refuses("estimator", "shape", got="2 and 2, from here"):
        Reduction(n_instances=2, n_classes=3)(members(2), given(), "here")


@pytest.mark.parametrize("said", [members(), logits()])
def test_the_authors_deletion_concerns_the_class_left_out_and_two_decompositions(said):
    reduction = Reduction(n_instances=2, n_classes=3, delete_column=True)
    plain = Reduction(n_instances=2, n_classes=3)
    inside, out = given(), given("left-out-class", 1.0, (0, 2))
    for name, parts in reduction(said, out, "here").parts.items():
        same = plain(said, out, "here").parts[name]
        assert (np.array_equal(parts.total, same.total)) == (name not in AS_AUTHORS)
        np.testing.assert_array_equal(parts.total.shape, (2,))
        np.testing.assert_array_equal(
            reduction(said, inside, "here").parts[name].total, plain(said, inside, "here").parts[name].total
        )


@pytest.mark.parametrize("said", [members(), logits()])
def test_entropies_with_epsilon_are_kept_beside_the_others(said):
    plain, both = (Reduction(n_instances=2, n_classes=3, epsilon=e)(said, given(), "here").parts for e in (0.0, 0.1))
    assert set(both) - set(plain) == {smoothed_name(name) for name in set(plain) & set(AS_AUTHORS)}
    for name in set(plain) & set(AS_AUTHORS):
        np.testing.assert_array_equal(both[name].total, plain[name].total)
        assert (both[smoothed_name(name)].total < plain[name].total).all()  # ln(p + ε) > ln p


def test_the_convention_reaches_the_decomposition():
    exact, code = (
        Reduction(n_instances=2, n_classes=3, convention=c)(logits(), given(), "here").parts["gaussian-logits"]
        for c in ("exact", "paper-code")
    )
    assert (exact.aleatoric != code.aleatoric).all()
    np.testing.assert_array_equal(exact.epistemic, code.epistemic)


def test_choices():
    def mine(prediction):
        return uq.measures.entropy_decomposition(prediction)

    assert chosen_decompositions(None) is None
    assert chosen_decompositions("variance") == {"variance": "variance"}
    assert chosen_decompositions(mine) == {"mine": mine}
    assert chosen_decompositions(("variance", mine)) == {"variance": "variance", "mine": mine}
    assert chosen_decompositions({"x": mine}) == {"x": mine}
    with refuses("decomposition", "empty"):
        chosen_decompositions([])


# -- The authors' deletion of a column, against the definition.


def entropy(p, epsilon=0.0):
    return -sum(value * np.log(value + epsilon) for value in p if value > 0)


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.01])
@pytest.mark.parametrize("k", [0, 2, None])
def test_information_theoretic_against_brute_force(k, epsilon):
    probs = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 5))
    probs[0, 0] = [1, 0, 0]
    found = AS_AUTHORS["information-theoretic"](uq.Members(probs), k, "exact", epsilon)
    for i, members in enumerate(probs):
        others = members if k is None else np.delete(members, k, axis=1)
        total, aleatoric = entropy(others.mean(axis=0), epsilon), np.mean([entropy(p, epsilon) for p in others])
        np.testing.assert_allclose(
            [found.total[i], found.aleatoric[i], found.epistemic[i]], [total, aleatoric, total - aleatoric], atol=1e-12
        )
    assert (found.epistemic >= 0).all()


@pytest.mark.parametrize("convention", ["exact", "paper-code"])
def test_gaussian_logits_against_many_draws(convention):
    rng = np.random.default_rng(1)
    mean, variance = rng.normal(size=(2, 6, 3)), rng.uniform(0.1, 2, size=(2, 6, 3))
    said = uq.GaussianLogits(mean, variance, variance_is="aleatoric", n_draws=20_000)
    found = AS_AUTHORS["gaussian-logits"](said, 1, convention, 0.0)
    noise = np.sqrt(variance).mean(axis=1) ** 2 if convention == "paper-code" else variance.mean(axis=1)
    for part, of in (("aleatoric", noise), ("epistemic", mean.var(axis=1)), ("total", noise + mean.var(axis=1))):
        for i in range(2):
            z = mean[i].mean(axis=0) + np.sqrt(of[i]) * rng.normal(size=(200_000, 3))
            p = (np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)).mean(axis=0)
            np.testing.assert_allclose(getattr(found, part)[i], entropy(np.delete(p, 1)), atol=0.01)


def test_nothing_changes_where_the_class_has_probability_0():
    probs = np.random.default_rng(2).dirichlet(np.ones(2), size=(4, 5))
    wide = np.concatenate([probs[..., :1], np.zeros((4, 5, 1)), probs[..., 1:]], axis=2)
    found = AS_AUTHORS["information-theoretic"](uq.Members(wide), 1, "exact", 0.0)
    same = uq.measures.entropy_decomposition(uq.Members(probs))
    for part in ("total", "aleatoric", "epistemic"):
        np.testing.assert_allclose(getattr(found, part), getattr(same, part), atol=1e-12)
