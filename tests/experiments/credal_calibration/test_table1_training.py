"""Table 1 with predictors of our own: what is trained on what, that it is kept, and that the numbers are theirs."""

import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.bench import methods as bench_methods
from uqassay.bench.store import Store
from uqassay.cli import main
from uqassay.errors import InputError, MissingDependencyError
from uqassay.experiments import reproduce
from uqassay.experiments.credal_calibration import table1_data, table1_training
from uqassay.experiments.credal_calibration.protocol import progress_steps
from uqassay.experiments.credal_calibration.table1_plans import PLANS
from uqassay.experiments.credal_calibration.table1_training import PREDICTORS
from uqassay.metrics import expected_calibration_error

TABLE = {"figure": "table1", "preset": "smoke"}


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


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
    assert progress_steps(**TABLE) == 3 + 2 * 3 * len(PREDICTORS)


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
    monkeypatch.setattr(table1_data, "frozen_features", refuse)
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
    monkeypatch.setattr(table1_data, "frozen_features", refuse)
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
    monkeypatch.setattr(table1_training, "PREDICTORS", {"DE": "deep-ensemble"})
    reproduce("credal-calibration", **TABLE, resume=tmp_path, workers=2)
    for dataset in ("digits", "frozen features"):
        np.testing.assert_array_equal(stored(tmp_path, dataset, "DE")[0], stored(smoke[0], dataset, "DE")[0])


@pytest.mark.slow
def test_a_predictor_that_fails_is_a_note(smoke, monkeypatch):
    folder, before, _ = smoke

    def broken(cell, objects=None):
        raise ValueError("no weights")

    monkeypatch.setattr(bench_methods, "run_method", broken)
    plan = replace(PLANS["smoke"], n_members=2)  # so DN and DE are other cells, and S is kept
    monkeypatch.setattr(table1_training, "plan_of", lambda preset, options: plan)
    result = reproduce("credal-calibration", **TABLE, resume=folder)
    assert {name.split("/")[1] for name in values(result)} == {"S"}
    assert "frozen features, DN(0.6) failed: ValueError: no weights" in result.notes
    assert values(result)["digits/S/exact/avg_accuracy"] == values(before)["digits/S/exact/avg_accuracy"]
    monkeypatch.setattr(table1_training, "plan_of", lambda preset, options: replace(plan, epochs=1))
    with refuses("table1", "all-failed", got="no weights"):
        reproduce("credal-calibration", **TABLE, resume=folder)


# ---- verdicts --------------------------------------------------------------------------------------------------------


# ---- data sets -------------------------------------------------------------------------------------------------------


# ---- sentences -------------------------------------------------------------------------------------------------------


def test_missing_packages_are_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with refuses(
        "torchvision",
        "package",
        got=r"pip install 'uqassay\[vision\]', which installs torchvision",
        error=MissingDependencyError,
    ):
        reproduce("credal-calibration", figure="table1", preset="paper")
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with refuses("scikit-learn", "package", error=MissingDependencyError):
        reproduce("credal-calibration", **TABLE)


@pytest.mark.usefixtures("without_mnist")
def test_without_pytorch_nothing_begins(monkeypatch):
    for module in ("standard_network", "network_classifier"):
        monkeypatch.delitem(sys.modules, f"uqassay.methods.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with refuses("torch", "package", got="install uqassay", error=MissingDependencyError):
        reproduce("credal-calibration", **TABLE)


@pytest.mark.usefixtures("without_mnist")
def test_a_file_in_the_place_of_the_folder_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with refuses("resume", "unwritable", got="Not a directory"):
        reproduce("credal-calibration", **TABLE, resume=tmp_path / "file")


# ---- command line ----------------------------------------------------------------------------------------------------


def test_table_1_is_figure_table1(monkeypatch, capsys):
    seen = []

    def record(preset, conventions, *, options, seed, workers, **further):
        seen.append((preset, conventions, seed, workers, options.given()))
        raise InputError("seen", "enough", code="undefined")

    monkeypatch.setattr(table1_training, "reproduce_trained_table1", record)
    for words in (["--table", "1"], ["--figure", "table1"]):
        assert (
            main(["reproduce", "credal-calibration", *words, "--preset", "smoke", "--seed", "3", "--workers", "2"]) == 2
        )
    assert seen == [("smoke", ("exact",), 3, 2, {})] * 2
    capsys.readouterr()
    assert main(["reproduce", "credal-calibration", "--table", "1", "--figure", "2"]) == 2
    assert "--table: excludes --figure" in capsys.readouterr().err
    assert main(["reproduce", "credal-calibration", "--table", "7"]) == 2
    assert "must be 1, 2, 3, 4 or table1; got 'table7'" in capsys.readouterr().err
