"""Trainings of a benchmark in the ranking protocol: what is stored, what is matched, and a real tiny run."""

import json

import numpy as np
import pytest
from tests.lab.bench.bench_work import store_result
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.store import METADATA, Store
from uqassay.lab.papers.ranking.human_labels import (
    TEST_LABELS,
    n_trainings,
    reproduce_ranking_cifar10h,
    steps_of_ranking_cifar10h,
    stored_labels,
    stored_trainings,
    trained_models,
)

N, K = 200, 3


def put(folder, labels, probs, **facts):
    """Store a training as `bench` does; the key of its cell."""
    cell = Cell("json:dumps", **{"dataset": "made", "method": "snn", "seed": 0, **facts})
    store_result(folder, cell, CellResult(uq.Point(probs), labels))
    return cell.key


@pytest.fixture
def votes(folder):
    """The folder of votes and labels, without prediction files."""
    for path in folder.glob("*.npz"):
        path.unlink()
    return folder


@pytest.fixture
def labels(votes):
    return np.load(votes / "labels.npy")


def noisy(votes, noise, seed=0):
    q = np.load(votes / "human_counts.npy") / 50
    logits = np.log(q + 0.02) + noise * np.random.default_rng(seed).normal(size=q.shape)
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


@pytest.fixture
def trained(votes, labels, tmp_path):
    """Five trainings of three methods, one of them on another data set."""
    place = tmp_path / "run"
    for seed, noise in enumerate((0.3, 0.9)):
        put(place, labels, noisy(votes, noise, seed), seed=seed)
        put(place, labels, noisy(votes, 2 * noise, 9 + seed), seed=seed, method="edl")
    put(place, labels[:50], noisy(votes, 1.0)[:50], dataset="digits", method="edl")
    return place


def test_trainings_give_the_table_of_the_same_predictions_in_files(votes, trained, tmp_path):
    found = reproduce_ranking_cifar10h(data=trained, votes=votes)
    assert [cell.paper for cell in found.rows] == [65.18, 54.01, -0.04, 95.61]
    files = tmp_path / "files"
    files.mkdir()
    for seed, noise in enumerate((0.3, 0.9)):
        uq.save(uq.Point(noisy(votes, noise, seed)), files / f"snn{seed}.npz")
        uq.save(uq.Point(noisy(votes, 2 * noise, 9 + seed)), files / f"edl{seed}.npz")
    by_files = reproduce_ranking_cifar10h(data=files, votes=votes)
    for cell, other in zip(found.rows, by_files.rows, strict=True):
        assert cell.ours == pytest.approx(other.ours, abs=1e-9)
        assert (cell.low, cell.high) == pytest.approx((other.low, other.high), abs=1e-9)
    text = found.summary()
    assert "snn, made, seed 1" in text
    assert "1 training of digits left out: other instances or classes than the votes" in text
    assert "Every score" in text
    assert sum("least-confidence" in line for line in found.reading) == 4
    assert "Every score" not in by_files.summary()
    assert steps_of_ranking_cifar10h(data=trained) == 2 * n_trainings(trained) == 10


def test_scores_of_a_training_against_brute_force(votes, labels, trained, needs):
    needs("sklearn")
    from scipy.stats import kendalltau
    from sklearn.metrics import roc_auc_score

    found = reproduce_ranking_cifar10h(data=trained, votes=votes)
    f = noisy(votes, 0.9, 1)
    q, rows = np.load(votes / "human_counts.npy") / 50, np.arange(N)
    s = 1 - f.max(axis=1)
    gap = 1 - f[rows, labels]
    pairs = gap[:, None] < gap
    best = q >= q.max(axis=1, keepdims=True) - 1e-12
    numbers = [
        roc_auc_score(f.argmax(axis=1) != labels, s),
        ((s[:, None] < s) + 0.5 * (s[:, None] == s))[pairs].mean(),
        kendalltau(1 - q[rows, f.argmax(axis=1)], s).statistic,
        kendalltau(1 - (f * best).sum(axis=1) / best.sum(axis=1), s).statistic,
    ]
    (line,) = [line for line in found.reading if line.split()[:5] == ["snn,", "made,", "seed", "1", "least-confidence"]]
    shown = [float(part.split()[-1]) for part in line.replace("−", "-").split("(")[:4]]
    np.testing.assert_allclose(shown, numbers, atol=6e-4)


def test_labels_in_another_order_are_refused(votes, labels, trained):
    put(trained, np.roll(labels, 1), noisy(votes, 1.0), method="rolled")
    with refuses("data", "mismatch", got=r"made, rolled, seed 0 differs in \d+ rows, first in row \d+"):
        reproduce_ranking_cifar10h(data=trained, votes=votes)


def test_without_labels_of_the_votes_the_labels_must_be_those_of_cifar_10(votes, labels, trained):
    (votes / "labels.npy").unlink()
    with refuses("data", "mismatch", got="10,000 test labels of CIFAR-10"):
        reproduce_ranking_cifar10h(data=trained, votes=votes)


def test_the_test_labels_of_cifar_10_are_known(cifar10):
    import hashlib

    assert hashlib.sha256(cifar10["labels"].astype(np.uint8).tobytes()).hexdigest() == TEST_LABELS


def test_votes_of_the_cache_and_labels_of_cifar_10(cifar10, own_cache, tmp_path):
    """As a user has it: a folder of trainings, and the published counts in the cache."""
    (own_cache / "cifar-10h").mkdir(parents=True)
    np.save(own_cache / "cifar-10h" / "cifar10h-counts.npy", cifar10["human_counts"])
    networks = {f"net{m}": cifar10["three"][:, m] for m in range(3)} | {"snn": cifar10["snn"]}
    for name, probs in networks.items():
        put(tmp_path / "run", cifar10["labels"], probs, dataset="cifar-10", method=name)
    found = reproduce_ranking_cifar10h(data=tmp_path / "run")
    assert any(" 90.25 %" in line for line in found.reading)
    put(tmp_path / "run", np.roll(cifar10["labels"], 1), cifar10["snn"], dataset="cifar-10", method="a")
    with refuses("data", "mismatch", got="CIFAR-10"):
        reproduce_ranking_cifar10h(data=tmp_path / "run")


def test_the_latest_of_several_results_of_one_training_is_taken(votes, labels, tmp_path, monkeypatch):
    place = tmp_path / "run"
    keys = []
    for noise in (1, 2):
        monkeypatch.setattr("uqassay.__version__", f"0.{noise}")
        keys.append(put(place, labels, noisy(votes, noise)))
    first, second = keys
    for key, day in ((first, "2026-01-02"), (second, "2026-01-01")):
        path = Store(place).place(key) / METADATA
        path.write_text(json.dumps(json.loads(path.read_text()) | {"finished": day}))
    (training,), notes = stored_trainings(place)
    assert training.key == first
    assert notes == [f"1 older result of the same trainings in {place} left out"]
    (model,) = trained_models(place, [training], labels, np.load(votes / "human_counts.npy"), [])
    assert model.name == "snn"
    np.testing.assert_allclose(model.prediction.mean_probs(), noisy(votes, 1), atol=1e-6)


def test_an_ensemble_trained_member_by_member_is_also_one_model(votes, labels, tmp_path):
    place, members = tmp_path / "run", [noisy(votes, 1, m) for m in range(3)]
    for m, probs in enumerate(members):
        params = {"method": "deep-ensemble", "params": {"n_members": 1, "first_member": m}}
        cell = Cell("json:dumps", dataset="made", method=f"DE member {m + 1}", seed=0, params=params)
        store_result(place, cell, CellResult(uq.Members(probs[:, None]), labels))
    put(place, labels, members[0])  # the same network from the same seed
    trainings, notes = stored_trainings(place)
    models = list(trained_models(place, trainings, labels, np.load(votes / "human_counts.npy"), notes))
    assert [model.name for model in models] == ["snn", "DE member 2", "DE member 3", "DE"]
    np.testing.assert_allclose(models[-1].prediction.mean_probs(), np.mean(members, axis=0), atol=1e-6)
    assert isinstance(models[1].prediction, uq.Point)
    assert notes == ["DE member 1 predicts the same as snn and is no model alone", "DE has 3 members"]


def test_scores_that_a_prediction_does_not_contain(votes, trained, labels):
    """Such as the density of DDU: they are stored beside the prediction, and judged as every other score."""
    probs = noisy(votes, 0.5, 3)
    cell = Cell("json:dumps", dataset="made", method="ddu", seed=5)
    given = {"density": 1.0 - probs.max(axis=1)}
    store_result(trained, cell, CellResult(uq.Point(probs), labels, scores=given))
    found = reproduce_ranking_cifar10h(data=trained, votes=votes)
    lines = [line.split() for line in found.reading if line.startswith("  ddu, made, seed 5")]
    by_score = {line[4]: line[5:] for line in lines}
    assert by_score["density"] == by_score["least-confidence"]
    assert "density" not in " ".join(line for line in found.reading if line.startswith("  snn"))


def test_trainings_with_other_options_have_names_of_their_own(votes, labels, tmp_path):
    keys = [put(tmp_path / "run", labels, noisy(votes, 1), params={"epochs": n}) for n in (1, 2)]
    trainings, _ = stored_trainings(tmp_path / "run")
    counts = np.load(votes / "human_counts.npy")
    names = [model.name for model in trained_models(tmp_path / "run", trainings, labels, counts, [])]
    assert sorted(names) == sorted(f"snn, {key[:6]}" for key in keys)


def test_a_folder_without_the_instances_of_the_votes_is_refused(votes, labels, tmp_path):
    place = tmp_path / "run"
    put(place, labels[:50], noisy(votes, 1)[:50], dataset="digits")
    with refuses("data", "mismatch", got=r"200 test instances and 3 classes .*run has digits"):
        reproduce_ranking_cifar10h(data=place, votes=votes)
    trainings, _ = stored_trainings(place)
    with refuses("data", "mismatch", got="has digits"):
        stored_labels(place, trainings, (N, K))
    Store(tmp_path / "planned").add([Cell("json:dumps", dataset="made", method="snn", seed=0)])
    with refuses("data", "mismatch", got="no training that is done"):
        reproduce_ranking_cifar10h(data=tmp_path / "planned", votes=votes)
    with refuses("votes", "missing", got="got .*nowhere"):
        reproduce_ranking_cifar10h(data=place, votes=tmp_path / "nowhere")


@pytest.mark.slow
def test_trainings_of_the_unified_protocol(tmp_path, needs):
    """The whole way: train on a generated folder as `reproduce unified --resume` does, then rank."""
    needs("torch", "sklearn")
    from uqassay.lab.papers import reproduce
    from uqassay.lab.papers.ranking.human_labels import stored_trainings

    run, votes = tmp_path / "run", tmp_path / "votes"
    reproduce("unified", preset="smoke", predictors=["LB-BNN", "EDL", "SNN", "DDU"], resume=run)
    trainings, _ = stored_trainings(run)
    assert [t.cell.method for t in trainings] == ["DDU", "EDL", "LB-BNN", "SNN"]
    labels = np.asarray(Store(run, create=False).result(trainings[0].key).labels)
    rng = np.random.default_rng(0)
    votes.mkdir()
    np.save(votes / "labels.npy", labels)
    np.save(votes / "human_counts.npy", np.array([rng.multinomial(50, row) for row in 0.9 * np.eye(10)[labels] + 0.01]))
    found = reproduce_ranking_cifar10h(data=run, votes=votes)
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    assert any(line.split()[:1] == ["LB-BNN"] for line in found.reading)
