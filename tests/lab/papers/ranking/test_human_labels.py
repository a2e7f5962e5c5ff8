"""Correlations over saved models: the contrast of the two truths, and what is said about few models."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import InputError
from uqassay.lab.papers import Reproduction, reproduce
from uqassay.lab.papers.ranking.human_labels import (
    HumanLabels,
    SavedModel,
    _difference,
    _verdict,
    correlate_with_votes,
    reproduce_ranking_cifar10h,
    steps_of_ranking_cifar10h,
)
from uqassay.lab.papers.ranking.scorings import METRICS, TRUTHS


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


def test_few_models_are_weak_evidence_and_fewer_are_refused():
    human, models = made(5)
    notes = correlate_with_votes("demo", models, human, needed="more", notes=("a choice",)).notes
    assert notes[0].startswith("5 models replace the paper's 69 classifiers: the intervals are wide")
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


def test_the_figure(folder, tmp_path, needs):
    needs("matplotlib")
    found = reproduce_ranking_cifar10h(data=folder, figures=tmp_path / "figures")
    (path,) = (tmp_path / "figures").iterdir()
    assert path.name == "figure1_cifar10h.png"
    assert path.stat().st_size > 20_000
    assert found.reading[-1] == f"figure: {path}"


# ---- the shared models -----------------------------------------------------------------------------------------------


def test_scorings_of_real_models_against_brute_force(cifar10, result, needs):
    needs("sklearn")
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
    assert own.agrees
    assert own.low > 0 > other.ours
    assert "UQ-C-index over 7 models: 91.9 % (54.0 to 98.8) with ψ" in text
    assert "φ; this points the paper's way, but 7 models cannot show it (the difference of the two on the" in text
    assert "−0.18 to 3.66" in text
    assert "and 86.6 % (32.5 to 98.0) with ψ; the opposite of the paper's contrast shows" in text
    assert "−3.34 to −0.27" in text
    assert cells["UQ-AUC/misclassification"].agrees is False
    assert cells["UQ-AUC/misclassification"].note
    assert any(note.startswith("rs_nn_beliefs: 2843 of 10000 rows of masses were repaired") for note in result.notes)
    assert any("the intervals are wide" in note for note in result.notes)
