"""The benchmark for any estimator and any data, and its stored blocks."""

from collections import deque

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.disentanglement import join_studies
from uqassay.lab.bench.store import Store
from uqassay.lab.papers import disentanglement
from uqassay.lab.papers.disentangling.trainings import (
    Conditions,
    block_cells,
    block_result,
    blocks_of,
    measure_runs,
    study_of,
    train_block,
)
from uqassay.lab.papers.trainings import train_cells, trained_cells

FEW = Conditions(shares=(0.2, 0.5, 1.0), noise_levels=(0.0, 0.5, 1.0), left_out=())
fits: deque = deque()  # counts no part of a key, as a list would


@pytest.fixture(autouse=True)
def _no_fits():
    fits.clear()


def blobs(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return 2.0 * np.eye(3)[y] + rng.normal(size=(n, 3)), np.array(["ash", "birch", "cedar"])[y]


class Counted(uq.lab.methods.RandomForest):
    """A forest that counts its trainings and may be killed after some of them."""

    def fit(self, X, y):
        if self.max_depth == 99 and len(fits) == 8:
            raise KeyboardInterrupt
        fits.append(len(y))
        return super().fit(X, y)


def equal(a, b):
    for name, one in a.measured.items():
        np.testing.assert_array_equal(one.probs, b.measured[name].probs)
        np.testing.assert_array_equal(one.labels, b.measured[name].labels)


def test_labels_of_any_kind_and_a_split_that_is_the_same_in_all_runs():
    X, y = blobs()
    study = disentanglement(uq.lab.methods.RandomForest(n_members=3), X, y, runs=3, conditions=FEW)
    assert study.class_names == ("ash", "birch", "cedar")
    assert study.n_runs == 3
    labels = study.measured["dataset-size"].labels
    assert labels.shape == (3, 3, 18)
    assert (labels == labels[0, 0]).all()
    codes = np.unique(y, return_inverse=True)[1]
    equal(study, disentanglement(uq.lab.methods.RandomForest(n_members=3), X.tolist(), codes, runs=3, conditions=FEW))


def test_more_runs_contain_the_fewer_and_seeds_differ():
    X, y = blobs()
    forest = uq.lab.methods.RandomForest(n_members=3)
    few, many, other = (
        disentanglement(forest, X, y, runs=runs, conditions=FEW, rng=rng) for runs, rng in ((1, 0), (2, 0), (1, 1))
    )
    assert many.seeds[0] == few.seeds[0] != other.seeds[0]
    np.testing.assert_array_equal(many.measured["label-noise"].probs[:1], few.measured["label-noise"].probs)


def test_a_given_test_part():
    (X, y), (X_test, y_test) = blobs(), blobs(30, seed=1)
    study = disentanglement(
        uq.lab.methods.RandomForest(n_members=3), X, y, test=(X_test, y_test), runs=1, conditions=FEW
    )
    codes = np.unique(y_test, return_inverse=True)[1]
    np.testing.assert_array_equal(study.measured["dataset-size"].labels[0, 0], codes)
    with refuses("y", "empty", got="'oak' has none"):
        disentanglement(uq.lab.methods.RandomForest(), X, y, test=(X_test, np.full(30, "oak")), conditions=FEW)
    with refuses("test", "shape", got="3 parts"):
        disentanglement(uq.lab.methods.RandomForest(), X, y, test=(X, y, y), conditions=FEW)


def test_a_killed_run_goes_on(tmp_path):
    X, y = blobs()
    whole = disentanglement(Counted(n_members=3, max_depth=99), X, y, runs=1, conditions=FEW)
    assert len(fits) == 6
    fits.clear()
    with pytest.raises(KeyboardInterrupt):
        disentanglement(Counted(n_members=3, max_depth=99), X, y, runs=3, conditions=FEW, folder=tmp_path)
    assert len(fits) == 8  # one run and a part of the second
    fits.clear()
    fits.extend([0] * 100)
    study = disentanglement(Counted(n_members=3, max_depth=99), X, y, runs=3, conditions=FEW, folder=tmp_path)
    assert len(fits) == 100 + 2 * 6
    np.testing.assert_array_equal(study.measured["label-noise"].probs[:1], whole.measured["label-noise"].probs)
    again = disentanglement(Counted(n_members=3, max_depth=99), X, y, runs=3, conditions=FEW, folder=tmp_path)
    assert len(fits) == 112
    equal(study, again)
    assert study.error("variance").error == again.error("variance").error


def test_what_changes_a_result_is_trained_again_and_a_damaged_file_too(tmp_path):
    X, y = blobs()

    def trained(estimator=None, x=X, **options):
        fits.clear()
        given = {"runs": 1, "conditions": FEW, "folder": tmp_path} | options
        disentanglement(estimator or Counted(n_members=3), x, y, **given)
        return len(fits)

    assert [trained(), trained()] == [6, 0]
    assert trained(Counted(n_members=4)) == 6
    assert trained(Counted(n_members=3, n_jobs=2)) == 0
    assert trained(x=X + 1e-9) == 6
    assert trained(rng=1) == 6
    assert trained(decomposition="variance") == 6
    assert trained(conditions=Conditions(shares=(0.2, 0.5, 0.9), noise_levels=(), left_out=())) == 3
    for file in tmp_path.rglob("record.npz"):
        file.write_bytes(b"damaged")
    assert [trained(), trained()] == [6, 0]


def test_a_function_of_the_user_needs_a_key(tmp_path):
    X, y = blobs()
    given = {"runs": 1, "conditions": FEW, "folder": tmp_path}

    def powered(power):
        def mine(prediction):
            return {"aleatoric": 1 - prediction.mean_probs().max(axis=1) ** power, "epistemic": np.arange(18.0)}

        return mine

    with refuses("folder", "type", got='give key="…"'):
        disentanglement(Counted(n_members=3), X, y, decomposition=powered(1), **given)
    one, two = (
        disentanglement(Counted(n_members=3), X, y, decomposition=powered(p), key=f"power {p}", **given) for p in (1, 2)
    )
    assert len(fits) == 12
    assert one.decompositions == two.decompositions == ("mine",)
    assert (
        one.measured["label-noise"].parts["mine"].aleatoric != two.measured["label-noise"].parts["mine"].aleatoric
    ).any()


def test_networks_and_forests_have_an_error_in_its_range():
    X, y = blobs()
    net = uq.lab.methods.MCDropout(backbone=(8,), epochs=5, n_samples=5, learning_rate=0.02)
    for estimator in (net, uq.lab.methods.RandomForest(n_members=5)):
        study = disentanglement(estimator, X, y, runs=2, conditions=FEW, progress=False)
        for name in study.decompositions:
            assert 0 <= study.error(name).error <= 2
    assert net.epochs == 5


def test_refusals(tmp_path):
    X, y = blobs()
    forest = uq.lab.methods.RandomForest(n_members=2)
    for runs, code in ((0, "range"), (-1, "range"), (1.5, "type"), (True, "type")):
        with refuses("runs", code, got=f"got {runs}"):
            disentanglement(forest, X, y, runs=runs, conditions=FEW)
    with refuses("y", "shape", got="89"):
        disentanglement(forest, X[:89], y, conditions=FEW)
    with refuses("X", "finite", got="row 0"):
        disentanglement(forest, np.where(X > 1e9, X, np.nan), y, conditions=FEW)
    for test in (1.5, 0, True, None):
        with refuses("test", "range"):
            disentanglement(forest, X, y, test=test, conditions=FEW)
    with refuses("conditions", "type", got="got 3"):
        disentanglement(forest, X, y, conditions=3)
    with refuses("folder", "type", got="estimator.estimator is of type object"):
        disentanglement(uq.lab.methods.Bagging(estimator=object()), X, y, conditions=FEW, folder=tmp_path)
    with refuses("rng", "range", got="-1"):
        disentanglement(forest, X, y, conditions=FEW, rng=-1)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_labels_are_no_class(missing):
    X, y = blobs()
    for labels in (y.astype(object), np.unique(y, return_inverse=True)[1].astype(object)):
        labels[7] = missing
        with refuses("y", "missing", got="row 7"):
            disentanglement(uq.lab.methods.RandomForest(), X, labels, conditions=FEW)
        with refuses("y_test", "missing", got="row 7"):
            disentanglement(uq.lab.methods.RandomForest(), X, y, test=[X, labels], conditions=FEW)
    with refuses("y", "type", got="float and str"):
        disentanglement(uq.lab.methods.RandomForest(), X, np.where(X[:, 0] > 0, y.astype(object), 0.5), conditions=FEW)


def test_instances_that_are_no_array():
    from scipy.sparse import csr_array

    X, y = blobs()
    for wrong in (csr_array(X), None, 3.0, [[1.0, 2.0], [3.0]]):
        with refuses("X"):
            disentanglement(uq.lab.methods.RandomForest(), wrong, y, conditions=FEW)
        with refuses("X_test"):
            disentanglement(uq.lab.methods.RandomForest(), X, y, test=(wrong, y), conditions=FEW)


def test_errors_count_runs_from_one():
    class Later(uq.lab.methods.RandomForest):
        """Predicts nonsense from its seventh training on, which is the first of run 2."""

        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

        def predict_uncertainty(self, X):
            return super().predict_uncertainty(X)[1:] if len(fits) > 6 else super().predict_uncertainty(X)

    with refuses("estimator", "shape", got="Later under dataset-size 0.2 in run 2"):
        disentanglement(Later(n_members=2), *blobs(), runs=2, conditions=FEW)


# -- blocks of runs as cells: the same studies, stored and read back ----------------------------------------------------


FEW_BLOCKS = Conditions(shares=(0.1, 0.5, 1.0), noise_levels=(0.0, 0.5, 1.0))
PARAMS = {"n_members": 4}


def forest_cells(**options):
    given = {"conditions": FEW_BLOCKS, "label": "forest"} | options
    return block_cells("wine", "random-forest", PARAMS, range(3), **given)


def same(a, b):
    assert (a.method, a.dataset, a.seeds, a.class_names) == (b.method, b.dataset, b.seeds, b.class_names)
    assert list(a.measured) == list(b.measured)
    assert a.notes == b.notes
    for name, one in a.measured.items():
        other = b.measured[name]
        assert one.conditions == other.conditions
        np.testing.assert_array_equal(one.labels, other.labels)
        np.testing.assert_array_equal(one.probs, other.probs)
        assert set(one.parts) == set(other.parts)
        for key, parts in one.parts.items():
            for part in ("total", "aleatoric", "epistemic"):
                np.testing.assert_array_equal(getattr(parts, part), getattr(other.parts[key], part))


def test_stored_blocks_are_the_study(tmp_path):
    from uqassay.lab.datasets import load_dataset
    from uqassay.lab.methods import RandomForest

    cells = forest_cells(options={"runs_per_block": 2})
    assert [cell.params["seeds"] for cell in cells] == [[0, 1], [2]]
    assert train_cells(cells, tmp_path, workers=1, say=lambda line: None) == {}
    study = join_studies([study_of(kept) for _, kept in trained_cells(cells, tmp_path)])
    direct = measure_runs(RandomForest(**PARAMS), load_dataset("wine"), FEW_BLOCKS, range(3), method="forest")
    same(study, direct)
    assert study.error("information-theoretic").error == direct.error("information-theoretic").error
    same(study_of(block_result(direct)), direct)
    assert Store(tmp_path, create=False).counts() == {"queued": 0, "running": 0, "done": 2, "failed": 0}


def test_keys_know_all_that_the_result_depends_on():
    def keys(**options):
        return {cell.key for cell in forest_cells(**options)}

    base = keys()
    assert len(base) == 3
    assert keys() == base == keys(source="wine")
    changed = [
        {"conditions": Conditions(shares=(0.1, 0.5, 0.9))},
        {"options": {"decompositions": ["variance"]}},
        {"limits": {"test_limit": 20}},
        {"options": {"runs_per_block": 3}},
    ]
    assert all(not keys(**options) & base for options in changed)


def test_limits_and_chosen_decompositions():
    (cell,) = forest_cells(
        limits={"test_limit": 20}, options={"decompositions": ["variance"], "runs_per_block": 3}, label=""
    )
    study = study_of(train_block(cell))
    assert study.method == "random-forest"
    assert study.decompositions == ("variance",)
    assert study.measured["dataset-size"].labels.shape == (3, 3, 20)


def test_blocks_suit_the_estimator():
    from uqassay.lab.methods import MCDropout, RandomForest

    seeds = range(12)
    assert [len(block) for block in blocks_of(seeds, RandomForest(), (4,))] == [1] * 12
    assert [len(block) for block in blocks_of(seeds, MCDropout(), (4,))] == [10, 2]
    assert [len(block) for block in blocks_of(seeds, MCDropout(backbone="cnn"), (8, 8))] == [1] * 12


def test_refusals_of_blocks():
    with refuses("options", "choice", got="'runs'"):
        forest_cells(options={"runs": 3})
    with refuses("name", "choice", got="'vine'"):
        block_cells("vine", "random-forest", {}, [0])
    (cell, *_) = forest_cells()
    from dataclasses import replace

    with refuses("dataset", "mismatch", got="wine"):
        train_block(replace(cell, data_hash="0" * 64))
