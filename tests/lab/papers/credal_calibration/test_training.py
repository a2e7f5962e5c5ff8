"""The trained Table 1: its plans, its data, what is trained on what, that it is kept, and that the numbers are theirs."""

import json
import math
import shutil
import sys
from dataclasses import replace
from urllib.error import URLError

import numpy as np
import pytest
import scipy.stats
import torch
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli import main
from uqassay.errors import InputError, MissingDependencyError
from uqassay.lab import datasets
from uqassay.lab.bench import methods as bench_methods
from uqassay.lab.bench.store import Store
from uqassay.lab.datasets import registry
from uqassay.lab.datasets.registry import load_dataset
from uqassay.lab.methods import build_method
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.credal_calibration import training
from uqassay.lab.papers.credal_calibration.imagenet_networks import MEAN, SD, ImagenetNetwork
from uqassay.lab.papers.credal_calibration.plan import (
    BATCH,
    OWN_TRAINING,
    PAPER_SETS,
    PLANS,
    Table1Options,
    part_size,
    plan_of,
)
from uqassay.lab.papers.credal_calibration.run import steps_of_credal_calibration
from uqassay.lab.papers.credal_calibration.training import (
    FIRST_NEW_CLASS,
    PREDICTORS,
    frozen_features,
    training_sets,
)
from uqassay.lab.papers.paper_tables import printed_table
from uqassay.metrics import expected_calibration_error

TABLE = {"figure": "table1", "preset": "smoke"}


@pytest.fixture(scope="module")
def smoke(without_mnist, tmp_path_factory):
    """The folder, the result and what was said on the way."""
    folder, said = tmp_path_factory.mktemp("table1"), []
    return folder, reproduce("credal-calibration", **TABLE, resume=folder, progress=said.append), said


def values(result):
    return {cell.name.removeprefix("table1/"): cell.ours for cell in result.rows}


def stored(folder, dataset, method):
    """Members (n, M, K) and labels of a predictor, from its files."""
    store = Store(folder, create=False)
    rows = [row for row in store.states() if (row.dataset, row.method) == (dataset, method)]
    assert len(rows) == 1
    kept = store.result(rows[0].key)
    return np.asarray(kept.prediction.hull_points(), dtype=np.float64), np.asarray(kept.labels)


def halves(n):
    order = np.random.default_rng([0, 0]).permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])


# ---- from training to the table --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_smoke_makes_every_row_and_says_what_was_left_out(smoke):
    _, result, said = smoke
    found = values(result)
    assert len(found) == 2 * len(PREDICTORS) * 11
    assert {tuple(name.split("/")[:3]) for name in found} == {
        (title, predictor, "exact") for title in ("digits", "frozen features") for predictor in PREDICTORS
    }
    assert all(0 <= value <= 1 for value in found.values())
    text = result.summary()
    assert "note: mnist-10k is left out: t10k-images.gz: cannot be downloaded" in text
    assert "learns the digits 0 to 4 of scikit-learn's digits, 300 of them, in 1 epoch and is frozen" in text
    assert "digits: 300 instances for training, 100 for tests and weights, 100 for accuracy and errors" in text
    assert "a smoke run only checks that the code runs" in text
    assert "digits: DN(0.6)" in text
    assert "CIFAR-10, VGG, DE" in text
    assert len(said) == 3 + 2 * 2 * len(PREDICTORS)
    assert steps_of_credal_calibration(**TABLE) == 3 + 2 * 3 * len(PREDICTORS)


@pytest.mark.slow
@pytest.mark.parametrize("title", ["digits", "frozen features"])
def test_a_row_agrees_with_the_stored_predictions(smoke, title):
    folder, result, _ = smoke
    members, labels = stored(folder, title, "DE")
    assert members.shape == (200, 3, 10 if title == "digits" else 5)
    tested, held_out = halves(200)
    found = {name.rpartition("/")[2]: v for name, v in values(result).items() if name.startswith(f"{title}/DE/exact/")}
    average = members[held_out].mean(axis=1)
    correct = average.argmax(axis=1) == labels[held_out]
    assert found["avg_accuracy"] == correct.sum() / 100
    ece = expected_calibration_error(correct, average.max(axis=1))
    assert found["avg_ece_conf"] == pytest.approx(ece, abs=1e-12)
    classwise = 0.0
    for k in range(average.shape[1]):
        bins = np.ceil(average[:, k] * 10).clip(1, 10)
        gaps = [abs(((labels[held_out] == k) - average[:, k])[bins == b].sum()) for b in range(1, 11)]
        classwise += sum(gaps) / len(held_out) / average.shape[1]
    assert found["avg_ece_classwise"] == pytest.approx(classwise, abs=1e-12)
    test = uq.calibration.credal_calibration_test(
        labels[tested], members[tested], measure="ece-confidence", null="minimised", n_draws=19,
        rng=np.random.default_rng([0, 1, list(values(result)).index(f"{title}/DE/exact/avg_accuracy") // 11, 0, 1]),
    )  # fmt: skip
    assert found["p_conf_minimised"] == test.pvalue
    mixed = (test.weights[:, None] * members[held_out]).sum(axis=1)
    right = mixed.argmax(axis=1) == labels[held_out]
    assert found["weighted_conf_accuracy"] == right.mean()
    assert found["weighted_conf_ece_conf"] == pytest.approx(
        expected_calibration_error(right, mixed.max(axis=1)), abs=1e-12
    )


@pytest.mark.slow
def test_a_single_network_is_its_own_average(smoke):
    found = values(smoke[1])
    for title in ("digits", "frozen features"):
        row = f"{title}/S/exact"
        assert found[f"{row}/avg_accuracy"] == found[f"{row}/weighted_classwise_accuracy"]
        assert found[f"{row}/avg_ece_conf"] == found[f"{row}/weighted_conf_ece_conf"]


@pytest.mark.slow
def test_resume_trains_nothing_again(smoke, monkeypatch):
    folder, before, _ = smoke
    places = sorted(path for path in folder.rglob("*.npz"))
    times = [path.stat().st_mtime_ns for path in places]

    def refuse(*args, **options):
        raise AssertionError("trained again")

    monkeypatch.setattr(bench_methods, "run_method", refuse)
    monkeypatch.setattr(training, "frozen_features", refuse)
    assert reproduce("credal-calibration", **TABLE, resume=folder).to_json() == before.to_json()
    assert [path.stat().st_mtime_ns for path in places] == times
    other = reproduce("credal-calibration", **TABLE, resume=folder, convention="paper-code")
    assert {name.split("/")[2] for name in values(other)} == {"paper-code"}


@pytest.mark.slow
def test_a_folder_that_was_moved_goes_on(smoke, monkeypatch, tmp_path):
    folder, before, _ = smoke
    moved = tmp_path / "elsewhere" / "moved"
    shutil.copytree(folder, moved)
    keys = {row.key for row in Store(folder, create=False).states()}
    (lost,) = (row for row in Store(moved).states() if (row.dataset, row.method) == ("digits", "S"))
    for path in Store(moved).place(lost.key).iterdir():
        path.unlink()
    trained, run = [], bench_methods.run_method

    def counted(cell, objects=None):
        trained.append((cell.dataset, cell.method))
        assert str(moved) in cell.source  # the data of the moved folder, whether the older one is there or not
        return run(cell)

    def refuse(*args, **options):
        raise AssertionError("trained again")

    monkeypatch.setattr(bench_methods, "run_method", counted)
    monkeypatch.setattr(training, "frozen_features", refuse)
    assert reproduce("credal-calibration", **TABLE, resume=moved).to_json() == before.to_json()
    assert trained == [("digits", "S")]
    assert {row.key for row in Store(moved).states()} == keys


@pytest.mark.slow
def test_what_was_broken_off_goes_on(smoke, monkeypatch):
    folder, before, _ = smoke
    store = Store(folder, create=False)
    (lost,) = (row for row in store.states() if (row.dataset, row.method) == ("digits", "DE"))
    for path in store.place(lost.key).iterdir():
        path.unlink()
    trained, run = [], bench_methods.run_method

    def counted(cell, objects=None):
        trained.append(cell.method)
        return run(cell)

    monkeypatch.setattr(bench_methods, "run_method", counted)
    assert reproduce("credal-calibration", **TABLE, resume=folder).to_json() == before.to_json()
    assert trained == ["DE"]


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter(smoke, needs, monkeypatch, tmp_path):
    needs("distributed")
    monkeypatch.setattr(training, "PREDICTORS", {"DE": "deep-ensemble"})
    found = training.training_sets
    monkeypatch.setattr(training, "training_sets", lambda *of: (found(*of)[0][:1], []))  # digits
    reproduce("credal-calibration", **TABLE, resume=tmp_path, workers=2)
    np.testing.assert_array_equal(stored(tmp_path, "digits", "DE")[0], stored(smoke[0], "digits", "DE")[0])


@pytest.mark.slow
def test_a_predictor_that_fails_is_a_note(smoke, monkeypatch, tmp_path):
    folder, before = shutil.copytree(smoke[0], tmp_path / "run"), smoke[1]

    def broken(cell, objects=None):
        raise ValueError("no weights")

    monkeypatch.setattr(bench_methods, "run_method", broken)
    plan = replace(PLANS["smoke"], n_members=2)  # so DN and DE are other cells, and S is kept
    monkeypatch.setattr(training, "plan_of", lambda preset, options: plan)
    result = reproduce("credal-calibration", **TABLE, resume=folder)
    assert {name.split("/")[1] for name in values(result)} == {"S"}
    assert "frozen features, DN(0.6) failed: ValueError: no weights" in result.notes
    assert values(result)["digits/S/exact/avg_accuracy"] == values(before)["digits/S/exact/avg_accuracy"]
    monkeypatch.setattr(training, "plan_of", lambda preset, options: replace(plan, epochs=1))
    with refuses("table1", "all-failed", got="no weights"):
        reproduce("credal-calibration", **TABLE, resume=folder)


@pytest.mark.slow
def test_of_several_trainings_the_table_has_the_spread_and_the_share_that_is_rejected(smoke, tmp_path, monkeypatch):
    found = training.training_sets
    monkeypatch.setattr(training, "training_sets", lambda *of: (found(*of)[0][:1], []))  # digits
    result = reproduce("credal-calibration", **TABLE, predictors=["S"], runs=3, resume=tmp_path)
    cells = {cell.name.removeprefix("table1/digits/S/exact/"): cell for cell in result.rows}
    store, members = Store(tmp_path, create=False), {}
    for row in store.states():
        members[row.seed] = np.asarray(store.result(row.key).prediction.hull_points(), dtype=np.float64)
        labels = np.asarray(store.result(row.key).labels)
    np.testing.assert_array_equal(members[0], stored(smoke[0], "digits", "S")[0])  # the first is that of one training
    tested, held_out = halves(200)
    accuracies = [(members[s][held_out, 0].argmax(axis=1) == labels[held_out]).mean() for s in range(3)]
    low, high = scipy.stats.t.interval(0.95, 2, np.mean(accuracies), scipy.stats.sem(accuracies))
    assert cells["avg_accuracy"].ours == pytest.approx(np.mean(accuracies), abs=1e-12)
    assert (cells["avg_accuracy"].low, cells["avg_accuracy"].high) == pytest.approx((low, high), abs=1e-12)
    pvalues = sorted(
        uq.calibration.credal_calibration_test(
            labels[tested], members[run][tested], measure="ece-confidence", null="minimised", n_draws=19,
            rng=np.random.default_rng([0, 1, run, 0, 1]),
        ).pvalue
        for run in range(3)
    )  # fmt: skip
    p, share = cells["p_conf_minimised"], cells["rejected_conf_minimised"]
    assert [p.low, p.ours, p.high] == pvalues
    rejected = sum(one <= 0.05 for one in pvalues)
    assert share.ours == rejected / 3
    wilson = scipy.stats.binomtest(rejected, 3).proportion_ci(method="wilson")
    assert (share.low, share.high) == pytest.approx((wilson.low, wilson.high), abs=1e-9)
    assert f"{100 * share.ours:.0f} % of runs" in result.table("table1")
    assert f"{100 * share.low:.0f} to {100 * share.high:.0f} %" in result.table("table1")
    assert f"reject {rejected} of 3" in result.summary()
    assert "seeds 0 to 2, and tested on the same instances" in result.summary()


# ---- sentences -------------------------------------------------------------------------------------------------------


def test_missing_packages_are_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with refuses("torchvision", "package", got=r"pip install 'torchvision>=", error=MissingDependencyError):
        reproduce("credal-calibration", figure="table1", preset="paper")
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with refuses("scikit-learn", "package", error=MissingDependencyError):
        reproduce("credal-calibration", **TABLE)


@pytest.mark.usefixtures("without_mnist")
def test_without_pytorch_nothing_begins(monkeypatch):
    for module in ("ensembles", "networks"):
        monkeypatch.delitem(sys.modules, f"uqassay.lab.methods.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with refuses("torch", "package", got="pip install", error=MissingDependencyError):
        reproduce("credal-calibration", **TABLE)


@pytest.mark.usefixtures("without_mnist")
def test_a_file_in_the_place_of_the_folder_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with refuses("resume", "missing", got="file is a file"):
        reproduce("credal-calibration", **TABLE, resume=tmp_path / "file")


# ---- command line ----------------------------------------------------------------------------------------------------


def test_table_1_is_figure_table1(monkeypatch, capsys):
    seen = []

    def record(preset, conventions, *, options, seed, workers, **further):
        seen.append((preset, conventions, seed, workers, options.given()))
        raise InputError("seen", "enough", code="undefined")

    monkeypatch.setattr(training, "reproduce_trained_table1", record)
    for words in (["--table", "1"], ["--figure", "table1"]):
        assert (
            main(["reproduce", "credal-calibration", *words, "--preset", "smoke", "--seed", "3", "--workers", "2"]) == 2
        )
    assert seen == [("smoke", ("exact",), 3, 2, {})] * 2
    capsys.readouterr()
    assert main(["reproduce", "credal-calibration", "--table", "1", "--figure", "2"]) == 2
    assert "--table: excludes --figure" in capsys.readouterr().err
    assert main(["reproduce", "credal-calibration", "--table", "7"]) == 2
    assert capsys.readouterr().err.startswith(
        "--table: must be a table of the paper of credal-calibration, 1 or 2; got '7'"
    )


# ---- the paper's data sets, in files of the publishers' form ----------------------------------------------------------


@pytest.fixture(scope="module")
def paper_files(tmp_path_factory):
    """The six data sets of Table 2, tiny, in a cache folder."""
    pillow = pytest.importorskip("PIL.Image")
    folder, g = tmp_path_factory.mktemp("cache"), np.random.default_rng(0)
    cifar = folder / "cifar-10" / "cifar-10-batches-bin"  # a label and 3,072 bytes in each record
    cifar.mkdir(parents=True)
    for name, n in {**{f"data_batch_{i}.bin": 12 for i in range(1, 6)}, "test_batch.bin": 80}.items():
        pixels = g.integers(0, 256, (n, 3072), dtype=np.uint8)
        labels = (np.arange(n) % 10).astype(np.uint8)
        (cifar / name).write_bytes(np.hstack([labels[:, None], pixels]).tobytes())
    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    (cifar / "batches.meta.txt").write_text("\n".join(names) + "\n\n")

    def image(path, shade):
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.clip(g.normal(shade, 40, (20, 24, 3)), 0, 255).astype(np.uint8)
        pillow.fromarray(pixels).save(path)

    for k, name in enumerate(("accordion", "airplanes", "BACKGROUND_Google")):
        for i in range(40):
            image(folder / "caltech-101" / "101_ObjectCategories" / name / f"image_{i + 1:04d}.jpg", 60 + 60 * k)
    for k, name in enumerate(("001.ak47", "002.american-flag", "257.clutter"), start=1):
        for i in range(40):
            image(folder / "256_ObjectCategories" / name / f"{name[:3]}_{i + 1:04d}.jpg", 50 * k)
    for part, n in {"train": 10, "test": 36}.items():
        for k, species in enumerate(("13", "5476")):
            for i in range(n):
                image(folder / "plantclef" / part / species / f"{k}{i}.jpg", 80 + 90 * k)
    for name in ("bacteria", "proteins"):
        (folder / name).mkdir()
        for part, n in {"train": 40, "test": 70}.items():
            x, y = g.random((n, 6)).round(4), np.arange(n) % 3
            lines = [
                " ".join([str(k), *(f"{j + 1}:{v}" for j, v in enumerate(row))]) for k, row in zip(y, x, strict=True)
            ]
            (folder / name / f"{part}.svmlight").write_text("\n".join(lines) + "\n")
    return folder


PAPER = {"figure": "table1", "preset": "paper", "image_size": 32, "read_size": 32}


@pytest.mark.slow
def test_paper_runs_on_files_of_all_its_data_sets(paper_files, vision, monkeypatch, tmp_path):
    monkeypatch.setenv("UQASSAY_DATA", str(paper_files))
    monkeypatch.setattr(datasets, "load_dataset", registry.load_dataset)  # `without_mnist` holds for the whole module
    monkeypatch.setattr(training, "plan_of", lambda preset, options: small_plan(plan_of(preset, options)))
    result = reproduce("credal-calibration", **PAPER, resume=tmp_path / "run")
    found = values(result)
    images = [f"{name}, {net}" for name in PLANS["paper"].image_sets for net in ("MobileNetV2", "VGG16")]
    assert {name.split("/")[0] for name in found} == {*images, "bacteria", "proteins"}
    assert len(found) == 10 * len(PREDICTORS) * 11
    assert all(0 <= value <= 1 for value in found.values())
    assert {name for name, _ in vision} == {"mobilenet_v2", "vgg16"}
    printed = {cell.name.removeprefix("table1/"): cell.paper for cell in result.rows}
    assert printed["cifar-10, VGG16/DN(0.6)/exact/avg_accuracy"] == 0.8355
    assert printed["bacteria/DE/exact/weighted_classwise_accuracy"] == 0.9032
    assert printed["caltech-256, MobileNetV2/DE/exact/weighted_conf_ece_conf"] == 0.0130
    assert np.isnan(printed["bacteria/DE/exact/p_conf_random"])
    assert all(cell.agrees is None for cell in result.rows)
    text = result.summary()
    for words in (
        "cifar-10, VGG16: 60 instances for training, 32 for tests and weights, 32 for accuracy and errors, 16 unused",
        "cifar-10 has 10 classes and 60, 32 and 32 instances to train, calibrate and test; Table 2 has 10 classes and "
        "50,000, 4,992 and 4,992",
        "caltech-101 has 2 classes and 40, 16 and 16 instances",
        "plantclef, MobileNetV2: 20 instances for training, 32 for tests and weights, 32 for accuracy and errors, 8 unused",
    ):
        assert words in text
    stores = Store(tmp_path / "run", create=False).states()
    assert len(stores) == 8 * (3 + 2) + 2 * 4  # members of DE on images have their own cells
    members, _ = stored_members(tmp_path / "run", "cifar-10, VGG16", "DE")
    assert members.shape == (80, 2, 10)


def small_plan(plan):
    """Few members and epochs, one training; all else as the preset has it."""
    return replace(plan, n_members=2, n_draws=19, runs=1, epochs=1, epochs_of=dict.fromkeys(plan.epochs_of, 1))


def stored_members(folder, dataset, predictor):
    """Members of an ensemble whose networks have cells of their own."""
    store = Store(folder, create=False)
    rows = [row for row in store.states() if row.dataset == dataset and row.method.startswith(f"{predictor} ")]
    kept = [store.result(row.key) for row in sorted(rows, key=lambda row: row.method)]
    points = [np.asarray(one.prediction.hull_points(), dtype=np.float64) for one in kept]
    return np.concatenate(points, axis=1), np.asarray(kept[0].labels)


@pytest.mark.usefixtures("vision")
def test_without_the_paper_s_files_the_first_reason_is_given(monkeypatch, tmp_path):
    monkeypatch.setenv("UQASSAY_DATA", str(tmp_path))
    with refuses("dataset", "missing", got="none of bacteria and proteins is: bacteria is left out"):
        reproduce("credal-calibration", figure="table1", preset="paper", dataset=["bacteria", "proteins"])


@pytest.mark.slow
def test_given_images_stand_in_for_a_data_set(tmp_path, capsys):
    g = np.random.default_rng(2)
    for part, n in {"train": 60, "test": 64}.items():
        y = np.arange(n) % 2
        X = (g.integers(0, 120, (n, 3, 8, 8)) + 100 * y[:, None, None, None]).astype(np.uint8)
        np.savez(tmp_path / f"{part}.npz", X=X, y=y, class_names=np.array(["dark", "light"]))
    words = [
        "reproduce",
        "credal-calibration",
        "--figure",
        "table1",
        "--preset",
        "smoke",
        "--dataset",
        "cifar-10",
        "--json",
    ]
    given = ["--data", str(tmp_path), "--set", "data_name=Shades", "--set", "epochs=1"]
    assert main([*words, *given, "--resume", str(tmp_path / "run")]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["name"].split("/")[1] for row in rows} == {"Shades, cnn-small"}
    assert {row["paper"] for row in rows} == {None}
    store = Store(tmp_path / "run", create=False)
    labels = {row.dataset for row in store.states()}
    assert labels == {f"cifar-10 from {tmp_path.name}, cnn-small"}
    times = [path.stat().st_mtime_ns for path in sorted((tmp_path / "run").rglob("*.npz"))]
    other = [*given[:3], "data_name=Other", *given[4:], "--resume", str(tmp_path / "run")]
    assert main([*words, *other]) == 0  # another name trains nothing anew
    assert [path.stat().st_mtime_ns for path in sorted((tmp_path / "run").rglob("*.npz"))] == times


def test_given_features_are_no_images(tmp_path):
    for part in ("train", "test"):
        np.savez(tmp_path / f"{part}.npz", X=np.random.default_rng(0).random((20, 5)), y=np.arange(20) % 2)
    with refuses("data", "shape", got=r"must hold images \(n, C, H, W\).*instances of shape \(5,\)"):
        reproduce("credal-calibration", **TABLE, data=tmp_path, dataset="cifar-10")


# -- data sets of the trained Table 1 ----------------------------------------------------------------------------------


@pytest.fixture
def digit_images():
    return training._as_images(datasets.load_dataset("digits", test_size=0.5))


def test_frozen_features_hold_the_new_classes_once_each(digit_images):
    data = frozen_features(digit_images, epochs=1, limit=100)
    y = np.concatenate([digit_images.y_train, digit_images.y_test])
    counts = np.bincount(y)[FIRST_NEW_CLASS:]
    np.testing.assert_array_equal(np.bincount(data.y_train) + np.bincount(data.y_test), counts)
    assert abs(len(data.y_train) - len(data.y_test)) <= 1
    assert data.X_train.shape[1] == 64
    assert data.class_names == tuple(str(k) for k in range(5, 10))
    features = np.concatenate([data.X_train, data.X_test])
    assert len(np.unique(features.round(4), axis=0)) == len(features)


def test_frozen_network_never_sees_the_new_classes(digit_images):
    """Whatever becomes of all new images but those of class 9 in the test part, the features of those stay."""
    noise = np.random.default_rng(0).random(digit_images.X_train.shape)
    known = (digit_images.y_train < FIRST_NEW_CLASS)[:, None, None, None]
    other = replace(digit_images, X_train=np.where(known, digit_images.X_train, noise))
    found = [frozen_features(images, epochs=1, limit=200) for images in (digit_images, other)]
    rows = [{row.tobytes() for row in np.concatenate([data.X_train, data.X_test])} for data in found]
    n_test = (digit_images.y_test >= FIRST_NEW_CLASS).sum()
    assert len(rows[0] & rows[1]) == n_test


@pytest.mark.slow
def test_with_mnist_the_frozen_network_learns_from_it(shared, monkeypatch, tmp_path):
    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    monkeypatch.setenv("UQASSAY_DATA", str(shared / "data" / "mnist_t10k"))
    sets, (note,) = training_sets(PLANS["smoke"], tmp_path, lambda step: None)
    sources = {one.title: one.source for one in sets}
    assert (list(sources), sources["MNIST-10k"]) == (["digits", "MNIST-10k", "frozen features"], "mnist-10k")
    assert "the digits 0 to 4 of MNIST-10k, 300 of them, in 1 epoch" in note
    data = load_dataset(sources["frozen features"])
    # MNIST's test images: 892, 958, 1,028, 974 and 1,009 of the digits 5 to 9
    assert (np.bincount(data.y_train) + np.bincount(data.y_test)).tolist() == [892, 958, 1028, 974, 1009]


# -- what the presets of Table 1 train, against the paper, and options that do not fit ----------------------------------


TABLE2 = {row["dataset"]: row for row in printed_table("credal_calibration_table2_datasets")}
OTHERS = {"CIFAR-10": 10_000, "Caltech-101": 8_677 - 4_338, "Caltech-256": 29_780 - 14_890}  # instances not trained on


def options(**values):
    return Table1Options(**values)


def test_parts_are_those_of_table_2():
    for name, n in OTHERS.items():
        assert part_size(n) == int(TABLE2[name]["n_calibration"]) == int(TABLE2[name]["n_test"])
    sizes = [int(row[key]) for row in TABLE2.values() for key in ("n_calibration", "n_test")]
    assert math.gcd(*sizes) == BATCH
    assert [part_size(n) for n in (2, 31, 32, 200)] == [1, 15, 16, 96]


def test_paper_trains_as_printed():
    plan = plan_of("paper", options())
    assert {one.in_table2 for one in PAPER_SETS.values()} == set(TABLE2)
    assert {one.in_table1 for one in PAPER_SETS.values()} == {
        row["dataset"] for row in printed_table("credal_calibration_table1")
    }
    assert {name: plan.epochs_for(name) for name in plan.data_sets} == {
        "cifar-10": 20, "caltech-101": 2, "caltech-256": 2, "plantclef": 20, "bacteria": 20, "proteins": 20,
    }  # fmt: skip
    trained = plan.method_options("cifar-10")
    assert (trained["optimiser"], trained["momentum"], trained["learning_rate"]) == ("sgd", 0.99, 1e-5)
    assert (plan.hidden, plan.n_members, plan.n_draws) == ((1000,), 10, 100)
    assert (plan.architectures, plan.end_to_end, plan.imagenet_size) == (("MobileNetV2", "VGG16"), True, 224)


def test_everything_that_the_paper_leaves_open_is_named_with_its_value():
    given = options(batch_size=32, weight_decay=0.01, head="replaced", image_size=96, read_size=128, end_to_end=False)
    text = " ".join(plan_of("paper", given).notes())
    for words in (
        "batch_size 32;", "weight_decay 0.01;", "head replaced: a new layer stands in place", "image_size 96:",
        "read_size 128:", "not trained themselves (in the paper end to end)", "no part decides when to stop",
    ):  # fmt: skip
        assert words in text
    printed = " ".join(plan_of("paper", options()).notes())
    assert "MobileNetV2 and VGG16 pretrained on ImageNet and trained end to end" in printed
    assert "momentum 0.99 and learning rate 1e-05" in printed
    assert "batch_size 16 (all sizes of calibration and test parts in Table 2 are multiples of it)" in printed


def test_gpu_hour_is_a_slice_and_says_so():
    plan = plan_of("gpu-hour", options())
    assert set(plan.data_sets) < set(PAPER_SETS)
    assert plan.notes()[0].startswith(
        "preset gpu-hour, as printed but for the number of epochs: MobileNetV2 pretrained"
    )
    assert "3 epochs of cifar-10" in plan.notes()[0]
    assert plan.training == PLANS["paper"].training


def test_presets_without_a_gpu_name_their_networks():
    (small,) = plan_of("cpu", options()).notes()
    assert (
        "hidden layers of 64 and 64 units and learn 50 epochs by Adam with a learning rate of 0.001 in batches of 128"
        in small
    )
    (images,) = plan_of("cpu", options(dataset="cifar-10", batch_size=64, weight_decay=0.1)).notes()
    assert (
        "have cnn-small for images and learn 3 epochs by Adam with a learning rate of 0.001 in batches of 64" in images
    )
    assert ", weight_decay 0.1 (the paper: stochastic gradient descent)" in images
    (large,) = plan_of("cpu", options(dataset="cifar-10", architectures="resnet50", image_size=64, epochs=1)).notes()
    assert "have resnet50 at 64 × 64 for images and learn 1 epoch by Adam" in large
    notes = plan_of("smoke", options(dataset="cifar-10", architectures="VGG16", end_to_end=False)).notes()
    assert "have VGG16 for images" in notes[0]
    assert "head added: a new layer follows their 1,000 outputs; end_to_end false; image_size 224" in notes[1]


def test_defaults_named_in_notes_are_those_of_the_methods():
    network = build_method("snn")
    assert {name: getattr(network, name) for name in OWN_TRAINING} == OWN_TRAINING
    assert (network.optimiser, network.weight_decay) == ("adam", 0.0)


def test_what_differs_from_the_paper_is_not_called_as_printed():
    def first(**given):
        return plan_of("paper", options(**given)).notes()[0].partition(":")[0]

    assert first() == first(dataset=["cifar-10", "proteins"], batch_size=64) == "preset paper, as printed"
    assert first(epochs=3) == "preset paper, as printed but for the number of epochs"
    assert first(end_to_end=False) == "preset paper, as printed but for what is trained"
    assert (
        first(epochs=2, architectures="cnn") == "preset paper, as printed but for the number of epochs and the networks"
    )


@pytest.mark.parametrize(
    ("preset", "given", "parameter", "code"),
    [
        ("paper", {"dataset": "svhn"}, "dataset", "choice"),
        ("paper", {"architectures": "resnet"}, "architectures", "choice"),
        ("paper", {"epochs": 0}, "epochs", "range"),
        ("paper", {"batch_size": 2.5}, "batch_size", "type"),
        ("paper", {"weight_decay": -1.0}, "weight_decay", "range"),
        ("paper", {"weight_decay": float("nan")}, "weight_decay", "range"),
        ("paper", {"weight_decay": True}, "weight_decay", "type"),
        ("paper", {"end_to_end": "no"}, "end_to_end", "type"),
        ("paper", {"head": "none"}, "head", "choice"),
        ("paper", {"image_size": 31}, "image_size", "range"),
        ("paper", {"dataset": "bacteria", "image_size": 64}, "image_size", "conflict"),
        ("paper", {"dataset": "bacteria", "head": "added"}, "head", "conflict"),
        ("paper", {"dataset": "cifar-10", "read_size": 64}, "read_size", "conflict"),
        ("paper", {"dataset": "caltech-101", "data": "x", "read_size": 64}, "read_size", "conflict"),
        ("cpu", {"architectures": "cnn-small"}, "architectures", "conflict"),
        ("cpu", {"dataset": "cifar-10", "end_to_end": False}, "end_to_end", "conflict"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(preset, given, parameter, code):
    with refuses(parameter, code):
        plan_of(preset, options(**given))


# -- pretrained networks as backbones, with a stand-in for torchvision --------------------------------------------------


def images(n=6, channels=3, size=8, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).random((n, channels, size, size), dtype=np.float32))


def fitted(end_to_end=True, head="added", method="snn", **options):
    x = images(40).numpy()
    y = np.arange(40) % 3
    backbone = lambda: ImagenetNetwork("MobileNetV2", head=head, end_to_end=end_to_end)  # noqa: E731
    network = build_method(
        method, backbone=backbone, epochs=2, batch_size=16, standardise=False, parallel="sequential", progress=False,
        optimiser="sgd", momentum=0.99, learning_rate=1e-3, device="cpu", **options,
    )  # fmt: skip
    return network.fit(x, y)


def parameters(network):
    return {name: value[0] for name, value in network.network_.extractor.state_dict().items()}


def test_features_are_the_outputs_for_images_standardised_as_on_imagenet(vision):
    network = ImagenetNetwork("VGG16", head="added", end_to_end=True).eval()
    x = images()
    standard = np.stack([(x[:, c].numpy() - MEAN[c]) / SD[c] for c in range(3)], axis=1)
    with torch.no_grad():
        expected = network.body(torch.from_numpy(standard))
        np.testing.assert_allclose(network(x), expected, atol=1e-5)
    assert expected.shape == (6, 1000)
    assert vision == [("vgg16", "IMAGENET1K_V1")]


@pytest.mark.usefixtures("vision")
def test_grey_images_fill_all_channels():
    network = ImagenetNetwork("MobileNetV2", head="added", end_to_end=True).eval()
    grey = images(channels=1)
    with torch.no_grad():
        expected = network(grey.repeat(1, 3, 1, 1))
        torch.testing.assert_close(network(grey), expected)
        torch.testing.assert_close(network(grey[:, 0]), expected)


@pytest.mark.usefixtures("vision")
@pytest.mark.parametrize(("name", "width"), [("MobileNetV2", 4), ("VGG16", 8)])
def test_a_replaced_head_leaves_what_enters_it(name, width):
    network = ImagenetNetwork(name, head="replaced", end_to_end=True).eval()
    whole = ImagenetNetwork(name, head="added", end_to_end=True).eval()
    with torch.no_grad():
        features = network(images())
        assert features.shape == (6, width)
        torch.testing.assert_close(whole.body.classifier[-1](features), whole(images()))


@pytest.mark.usefixtures("vision")
def test_end_to_end_trains_every_weight_and_frozen_none():
    before = ImagenetNetwork("MobileNetV2", head="added", end_to_end=True).state_dict()
    for end_to_end in (True, False):
        after = parameters(fitted(end_to_end))
        same = [torch.equal(after[name.replace(".", "/")], value) for name, value in before.items()]
        trained = [name for name, equal in zip(before, same, strict=True) if not equal]
        weights = [name for name in before if name.endswith((".weight", ".bias"))]
        if end_to_end:
            assert set(weights) <= set(trained)
            assert "body.features.1.running_mean" in trained
        else:
            assert trained == []  # the statistics of batch norm included


@pytest.mark.usefixtures("vision")
def test_members_of_an_ensemble_begin_alike_and_end_apart():
    members = fitted(method="deep-ensemble", n_members=2).predict_uncertainty(images(5).numpy()).probs
    assert members.shape == (5, 2, 3)
    assert not np.allclose(members[:, 0], members[:, 1])


def test_weights_that_cannot_be_downloaded_are_one_sentence(vision, monkeypatch):
    def offline(name, *, weights):
        raise URLError("Name or service not known")

    import torchvision

    monkeypatch.setattr(torchvision.models, "get_model", offline)
    with refuses("architectures", "unreadable", got="weights of VGG16 cannot be downloaded; Name or service"):
        ImagenetNetwork("VGG16", head="added", end_to_end=True)
