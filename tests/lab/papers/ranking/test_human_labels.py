"""Correlations over saved and stored models: the contrast of two truths, what is matched, what few models allow."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.lab.bench.bench_work import store_result
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import InputError
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.store import METADATA, Store
from uqassay.lab.papers import Reproduction, reproduce
from uqassay.lab.papers.ranking.human_labels import (
    TEST_LABELS,
    HumanLabels,
    SavedModel,
    _difference,
    _verdict,
    check_folder,
    correlate_with_votes,
    each_model,
    model_files,
    n_trainings,
    reproduce_ranking_cifar10h,
    steps_of_ranking_cifar10h,
    stored_labels,
    stored_trainings,
    sub_ensembles,
    trained_models,
)
from uqassay.lab.papers.ranking.printed import METRICS, TRUTHS


def made(n_models: int, n: int = 150) -> tuple[HumanLabels, list[SavedModel]]:
    rng = np.random.default_rng(1)
    q = rng.dirichlet([0.5, 0.5], n)
    human = HumanLabels("OASST2", q.argmax(axis=1), q, np.arange(n), n, instances="messages", models="classifiers")
    logits = [np.log(q + 0.01) + noise * rng.normal(size=q.shape) for noise in np.linspace(0.5, 2.5, n_models)]
    return human, [
        SavedModel(f"m{i}", uq.Point.from_logits(z), human.labels, human.votes) for i, z in enumerate(logits)
    ]


def test_correlations_are_those_of_numpy_over_the_table():
    human, models = made(7)
    found = correlate_with_votes("demo", models, human, needed="more")
    from scipy.stats import kendalltau

    metrics, taus = [], []
    for model in models:
        f = model.prediction.mean_probs()
        s = -(f * np.log(f)).sum(axis=1)
        wrong = f.argmax(axis=1) != human.labels
        gap = 1 - f[np.arange(len(f)), human.labels]
        pairs = gap[:, None] < gap
        concordant = (s[:, None] < s) + 0.5 * (s[:, None] == s)
        below = s[wrong][:, None] > s[~wrong]
        metrics.append([below.mean(), concordant[pairs].mean()])
        rows = np.arange(len(f))
        phi = 1 - human.votes[rows, f.argmax(axis=1)]
        psi = 1 - f[rows, human.labels]
        taus.append([kendalltau(truth, s).statistic for truth in (phi, psi)])
    metrics, taus = np.array(metrics), np.array(taus)
    for i, metric in enumerate(METRICS):
        for j, truth in enumerate(TRUTHS):
            (cell,) = (cell for cell in found.rows if cell.name == f"table1/OASST2/{metric}/{truth}")
            assert cell.ours == pytest.approx(100 * np.corrcoef(metrics[:, i], taus[:, j])[0, 1], abs=1e-6)
    assert found.listed
    assert [cell.paper for cell in found.rows] == [82.5, 71.69, 74.01, 98.88]


def test_only_the_papers_models_are_compared():
    """Four models: with the names that the paper prints, with one more, and without names of the paper."""
    human, models = made(5)
    named = [replace(model, name=f"net{i}-V1") for i, model in enumerate(models)]
    paper = replace(human, paper_models=("net0", "net1", "net2", "net3"))
    same = correlate_with_votes("demo", named[:4], paper, needed="more")
    known = [cell for cell in same.rows if not np.isnan(cell.low)]  # none where r is 1 by construction
    assert len(known) >= 3
    assert all(cell.agrees == (cell.low <= cell.paper <= cell.high) for cell in known)
    assert same.notes[0] == "4 models stand for the paper's 69 classifiers"
    for others, of in ((named, paper), (models[:4], paper), (named[:4], human)):
        found = correlate_with_votes("demo", others, of, needed="more")
        assert [cell.agrees for cell in found.rows] == [None] * 4
        assert all(cell.note.startswith("context only: ") for cell in found.rows)
        assert [cell.paper for cell in found.rows] == [cell.paper for cell in same.rows]


def test_few_models_are_weak_evidence_and_fewer_are_refused():
    human, models = made(5)
    notes = correlate_with_votes("demo", models, human, needed="more", notes=("a choice",)).notes
    assert (
        notes[0] == "5 models replace the paper's 69 classifiers: printed values are context, and nothing is compared"
    )
    assert notes[-1] == "a choice"
    with refuses("data", "empty", got="got 3; more"):
        correlate_with_votes("demo", models[:3], human, needed="more")
    assert steps_of_ranking_cifar10h(data=None) == 1


def test_the_difference_of_correlations_against_brute_force():
    rng = np.random.default_rng(2)
    own, other = rng.normal(size=(2, 9))
    metric = own + rng.normal(size=9)
    pseudo, whole = [], None
    for left_out in (None, *range(9)):
        rows = [i for i in range(9) if i != left_out]
        z = [np.arctanh(np.corrcoef(metric[rows], truth[rows])[0, 1]) for truth in (own, other)]
        if left_out is None:
            whole = z[0] - z[1]
        else:
            pseudo.append(8 * (whole - (z[0] - z[1])))
    reach = 2.306004135 * (np.mean(np.square(pseudo)) / 8) ** 0.5  # Student's t, 8 degrees of freedom
    np.testing.assert_allclose(_difference(metric, own, other), (whole - reach, whole + reach), rtol=1e-8)
    assert np.isnan(_difference(metric, own, own * 0)).all()


@pytest.mark.parametrize(
    ("difference", "low", "high", "words"),
    [
        (1.7, 0.1, 3.6, "the paper's contrast shows"),
        (1.7, -0.2, 3.6, "this points the paper's way, but 7 models cannot show it"),
        (-1.0, -2.0, 0.5, "this points the other way, but 7 models cannot show it"),
        (-1.8, -3.3, -0.3, "the opposite of the paper's contrast shows"),
        (1.0, np.nan, np.nan, "7 models give no interval of the difference, so that they cannot"),
    ],
)
def test_a_contrast_needs_a_difference(difference, low, high, words):
    assert _verdict(difference, low, high, 7).startswith(words)


# -- The ranking experiment on CIFAR-10H: what is read from a folder, and what the shared models say.


N, K = 200, 3


@pytest.fixture(scope="module")
def result(shared) -> Reproduction:
    return reproduce_ranking_cifar10h(data=shared / "data" / "cifar10_test")


def test_a_small_folder_goes_all_the_way(folder):
    said: list[str] = []
    found = reproduce_ranking_cifar10h(data=folder, progress=said.append)
    assert [cell.paper for cell in found.rows] == [65.18, 54.01, -0.04, 95.61]
    text = found.summary()
    assert "Entropy of the mean prediction, 5 models:" in text
    assert "three, mean" in text
    assert "8 models" in text  # with the three pairs of members
    assert said[0] == "judging single"
    assert said[-1] == "more scores of three, members 2 and 3"
    assert steps_of_ranking_cifar10h(data=folder) >= 1
    assert reproduce("ranking-cifar10h", data=folder) == found


def test_a_model_without_mistakes_is_left_out_of_the_correlations(folder):
    q = np.load(folder / "human_counts.npy") / 50
    labels = np.load(folder / "labels.npy")
    sure = 0.9 * np.eye(K)[labels] + 0.1 * q
    uq.save(uq.Point(sure / sure.sum(axis=1, keepdims=True)), folder / "perfect.npz")
    found = reproduce_ranking_cifar10h(data=folder)
    line = next(line for line in found.reading if line.strip().startswith("perfect"))
    assert "100.00 %" in line
    assert "undefined" in line
    assert all(np.isfinite(cell.ours) for cell in found.rows)


def test_what_is_missing_is_named(folder, tmp_path):
    with refuses("data", "missing", got=r"got none; .*labels\.npy .*human_counts\.npy .*CIFAR-10H of the cache"):
        reproduce_ranking_cifar10h()
    for place in (tmp_path / "nowhere", folder / "labels.npy"):
        with refuses("data", "missing", got=f"got {place}"):
            reproduce_ranking_cifar10h(data=place)
    (tmp_path / "empty").mkdir()
    with refuses("data", "missing", got=r"labels\.npy; .*empty does not"):
        reproduce_ranking_cifar10h(data=tmp_path / "empty")
    (folder / "single.npz").unlink()
    (folder / "three.npz").unlink()
    with refuses("data", "empty", got="at least 4 models; got 0"):
        reproduce_ranking_cifar10h(data=folder)
    (folder / "labels.npy").unlink()
    with refuses("data", "missing", got=r"must hold labels\.npy;"):
        reproduce_ranking_cifar10h(data=folder)


def test_files_that_do_not_fit_together_are_named(folder):
    uq.save(uq.Point(np.full((N - 1, K), 1 / 3)), folder / "short.npz")
    with refuses("prediction", "mismatch", got="200 instances and 3 classes .*; got 199 and 3", source="short.npz"):
        reproduce_ranking_cifar10h(data=folder)
    (folder / "short.npz").unlink()
    np.save(folder / "human_counts.npy", np.ones((N + 5, K)))
    with refuses("data", "shape", got=r"got shapes \(200,\) and \(205, 3\)"):
        reproduce_ranking_cifar10h(data=folder)


def test_labels_and_votes_are_named_by_their_files(folder):
    labels, votes = (np.load(folder / name) for name in ("labels.npy", "human_counts.npy"))
    np.save(folder / "labels.npy", labels + 0.5)
    with refuses("labels", source="labels.npy", got="row 0 holds"):
        reproduce_ranking_cifar10h(data=folder)
    np.save(folder / "labels.npy", labels + 1)
    with refuses("data: labels.npy", "range", got=r"0 … 2; row \d+ holds 3"):
        reproduce_ranking_cifar10h(data=folder)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "human_counts.npy", votes - 60)
    with pytest.raises(InputError) as negative:
        reproduce_ranking_cifar10h(data=folder)
    assert "human_counts.npy" in f"{negative.value.source} {negative.value.parameter}"
    assert "at least 0" in negative.value.rule
    np.save(folder / "human_counts.npy", np.where(np.arange(N)[:, None] == 4, 0, votes))
    with pytest.raises(InputError) as empty:
        reproduce_ranking_cifar10h(data=folder)
    assert "human_counts.npy" in f"{empty.value.source} {empty.value.parameter}"
    assert "row 4" in empty.value.got


def test_labels_of_other_images_are_noticed(folder):
    labels = np.load(folder / "labels.npy")
    np.save(folder / "labels.npy", (labels + 1) % K)
    with refuses("data", "mismatch", got=r"in only \d+ % of the rows"):
        reproduce_ranking_cifar10h(data=folder)
    np.save(folder / "labels.npy", labels.astype(float))
    assert len(reproduce_ranking_cifar10h(data=folder).rows) == 4


def test_votes_of_the_products_own_loader(folder, own_cache):
    votes = np.load(folder / "human_counts.npy")
    with_file = reproduce_ranking_cifar10h(data=folder)
    (folder / "human_counts.npy").unlink()
    full = np.zeros((10_000, 10), dtype=np.int64)
    full[:, 0] = 50
    full[:N, :K] = votes
    (own_cache / "cifar-10h").mkdir(parents=True)
    np.save(own_cache / "cifar-10h" / "cifar10h-counts.npy", full)
    with refuses("data", "shape", got=r"got shapes \(200,\) and \(10000, 10\)"):
        reproduce_ranking_cifar10h(data=folder)
    labels = np.zeros(10_000, dtype=np.int64)
    labels[:N] = np.load(folder / "labels.npy")
    np.save(folder / "labels.npy", labels)
    for path in folder.glob("*.npz"):
        probs = uq.load(path).mean_probs()
        rest = np.tile(np.eye(10)[0], (10_000, 1))
        rest[:N] = np.pad(probs, ((0, 0), (0, 10 - K)))
        path.unlink()
        for i in range(3):  # least models
            uq.save(uq.Point(0.9 * rest + 0.1 * np.roll(rest, i, axis=0)), folder / f"{path.stem}{i}.npz")
    assert len(reproduce_ranking_cifar10h(data=folder).rows) == len(with_file.rows)


def test_the_figure(folder, tmp_path):
    found = reproduce_ranking_cifar10h(data=folder, figures=tmp_path / "figures")
    (path,) = (tmp_path / "figures").iterdir()
    assert path.name == "figure1_cifar10h.png"
    assert path.stat().st_size > 20_000
    assert found.reading[-1] == f"figure: {path}"


# ---- the shared models -----------------------------------------------------------------------------------------------


def test_scorings_of_real_models_against_brute_force(cifar10, result):
    from scipy.stats import kendalltau
    from sklearn.metrics import roc_auc_score

    f, y = cifar10["snn"].astype(float), cifar10["labels"]
    q = cifar10["human_counts"] / cifar10["human_counts"].sum(axis=1, keepdims=True)
    p = np.where(f > 0, f, 1.0)
    s, rows = -(f * np.log(p)).sum(axis=1), np.arange(len(f))
    best = q >= q.max(axis=1, keepdims=True) - 1e-12
    numbers = [
        roc_auc_score(f.argmax(axis=1) != y, s),
        kendalltau(1 - q[rows, f.argmax(axis=1)], s).statistic,
        kendalltau(1 - (f * best).sum(axis=1) / best.sum(axis=1), s).statistic,
    ]
    line = next(line for line in result.reading if line.strip().startswith("snn"))
    shown = line.replace("%", " ").split("(")
    found = [float(shown[i].split()[-1]) for i in (0, 2, 3)]
    np.testing.assert_allclose(found, numbers, atol=6e-4)
    assert " 90.25 %" in line


def test_seven_models_and_the_contrast_of_the_c_index(result):
    cells = {cell.name.removeprefix("table1/CIFAR10-H/"): cell for cell in result.rows}
    assert len(cells) == 4
    text = "\n".join(result.reading)
    assert "7 models" in text
    assert "The label alone has the most votes on 99.2 % of the images; there the gap is ψ itself, so that" in text
    own, other = cells["UQ-C-index/misalignment"], cells["UQ-C-index/misclassification"]
    assert {cell.agrees for cell in cells.values()} == {None}
    assert own.low > 0 > other.ours
    assert "UQ-C-index over 7 models: 91.9 % (54.0 to 98.8) with ψ" in text
    assert "φ; this points the paper's way, but 7 models cannot show it (the difference of the two on the" in text
    assert "−0.18 to 3.66" in text
    assert "and 86.6 % (32.5 to 98.0) with ψ; the opposite of the paper's contrast shows" in text
    assert "−3.34 to −0.27" in text
    assert "context only: 7 models are another sample than the paper's 111" in own.note
    assert any(note.startswith("rs_nn_beliefs: 2843 of 10000 rows of masses were repaired") for note in result.notes)
    assert any("printed values are context" in note for note in result.notes)


# -- models of a folder: members and their means, and the instances that each file holds --------------------------------


@pytest.fixture
def human(folder):
    votes = np.load(folder / "human_counts.npy")
    ids = np.array([f"i{i:03d}" for i in range(N)])
    return HumanLabels("CIFAR10-H", np.load(folder / "labels.npy"), votes, np.arange(N), N, ids=ids)


def test_members_give_each_and_their_mean(folder, human):
    repaired: list[str] = []
    models = {model.name: model for model in each_model(folder, human, repaired)}
    assert list(models) == ["single", "three, member 1", "three, member 2", "three, member 3", "three, mean"]
    assert repaired == []
    members = uq.load(folder / "three.npz")
    np.testing.assert_array_equal(models["three, member 2"].prediction.mean_probs(), members.probs[:, 1])
    mean = models["three, mean"]
    np.testing.assert_allclose(mean.prediction.mean_probs(), members.probs.mean(axis=1), rtol=1e-12)
    assert [m.name for m in sub_ensembles(mean)] == [f"three, members {a} and {b}" for a, b in ((1, 2), (1, 3), (2, 3))]
    assert list(sub_ensembles(models["single"])) == []
    assert [path.name for path in model_files(folder)] == ["single.npz", "three.npz"]


def test_beliefs_that_are_none_are_repaired(folder, human):
    beliefs = np.tile([0.6, 0.5, 0.2, 1.0], (N, 1))  # singletons sum to more than 1
    np.savez(folder / "raw.npz", beliefs=beliefs, focal_sets=np.vstack([np.eye(3), np.ones(3)]).astype(bool))
    repaired: list[str] = []
    models = {model.name: model for model in each_model(folder, human, repaired)}
    assert repaired[0].startswith(f"raw: {N} of {N} rows of masses were repaired")
    np.testing.assert_allclose(models["raw"].prediction.mean_probs().sum(axis=1), 1.0)


def test_ids_name_some_of_the_instances_in_any_order(folder, human):
    assert human.ids is not None
    logits = np.random.default_rng(0).normal(size=(4, K))
    ids = np.array([human.ids[7], "unknown", human.ids[2], human.ids[5]])
    np.savez(folder / "a_part.npz", logits=logits, ids=ids)
    part = next(each_model(folder, human, []))
    assert part.name == "a_part"
    np.testing.assert_array_equal(part.labels, human.labels[[2, 5, 7]])
    np.testing.assert_array_equal(part.votes, human.votes[[2, 5, 7]])
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(part.prediction.mean_probs(), expected[[2, 3, 0]])
    np.savez(folder / "a_part.npz", logits=logits, ids=np.array(list("abcd")))
    with refuses("ids", "ids", got="none of the 4 does, such as a; name them as i000", source="a_part.npz"):
        next(each_model(folder, human, []))


def test_files_without_ids_hold_every_instance(folder, human):
    places = np.array([3, 1, 8])
    some = HumanLabels("CIFAR10-H", human.labels[places], human.votes[places], places, N, ids=None)
    model = next(each_model(folder, some, []))
    np.testing.assert_array_equal(model.prediction.mean_probs(), uq.load(folder / "single.npz").mean_probs()[places])
    uq.save(uq.Point(np.full((N - 1, K), 1 / K)), folder / "a_short.npz")
    with refuses("prediction", "mismatch", got="200 instances and 3 classes .*; got 199 and 3", source="a_short.npz"):
        next(each_model(folder, human, []))


def test_the_folder_must_be_there(tmp_path):
    assert check_folder(tmp_path, "files") == tmp_path
    for place in (None, tmp_path / "nowhere"):
        with refuses("data", "missing", got="; files"):
            check_folder(place, "files")


# -- trainings of a benchmark ------------------------------------------------------------------------------------------


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


def test_scores_of_a_training_against_brute_force(votes, labels, trained):
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
def test_trainings_of_the_unified_protocol(tmp_path):
    """The whole way: train on a generated folder as `reproduce unified --resume` does, then rank."""
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
