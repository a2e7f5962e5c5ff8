"""The demonstration: what it writes, that it reruns the same, and that it keeps what is there."""

import json
import shutil
import sys

import numpy as np
import pytest

import uqassay as uq
from tests.refusals import refuses
from uqassay.cli import main
from uqassay.errors import MissingDependencyError
from uqassay.lab.demo import COMMON_MEMBERS, N_MODELS, TRAINING, prepare_demo
from uqassay.predictions.files import file_hash

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_calibration", "coarse_pages", "without_drawings")]

KINDS = {
    "logistic regression": uq.Point,
    "random forest": uq.Members,
    "bagged MLPs": uq.Members,
    "bagged MLPs average": uq.Point,
    "leaf Dirichlet": uq.Dirichlet,
    "calibrated MLP": uq.Point,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("sklearn")
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def files(folder):
    steps = []
    found = prepare_demo(folder, progress=steps.append)
    assert found.trained
    assert steps == [f"training {name}" for name in KINDS if name != "bagged MLPs average"]
    return found


def test_files(files):
    from sklearn.datasets import load_digits

    assert list(files.predictions) == list(KINDS)
    assert len(KINDS) == N_MODELS
    y = np.load(files.labels)
    digits = load_digits().target
    for name, path in files.predictions.items():
        said = uq.load(path)
        assert type(said) is KINDS[name]
        assert said.class_names == tuple("0123456789")
        np.testing.assert_array_equal(uq.load_labels(path), y)
        np.testing.assert_array_equal(digits[said.ids], y)  # ids are rows of the data set
        assert said.n_instances == 897


def test_models_have_learnt(files):
    y = np.load(files.labels)
    for name, path in files.predictions.items():
        accuracy = (uq.load(path).labels() == y).mean()
        assert accuracy > 0.9, name


def test_the_average_is_that_of_the_ensemble(files):
    members = uq.load(files.predictions["bagged MLPs"])
    assert members.n_members == COMMON_MEMBERS
    np.testing.assert_array_equal(uq.load(files.predictions["bagged MLPs average"]).probs, members.mean_probs())


def test_temperature_makes_the_network_better_calibrated_than_the_forest(files):
    y = np.load(files.labels)
    models = {name: uq.load(files.predictions[name]) for name in ("calibrated MLP", "random forest")}
    judged = uq.assay(models, y, n_draws=10, calibration=())
    ece = {row["model"]: row["estimate"] for row in judged.rows("findings") if row["metric"] == "ece"}
    assert ece["calibrated MLP"] < 0.05 < ece["random forest"]


def test_leaf_counts_are_at_least_the_least_leaf(files):
    alpha = uq.load(files.predictions["leaf Dirichlet"]).alpha
    assert (alpha >= 0.1).all()  # the prior, 1/K
    assert (alpha.sum(axis=1) >= 6.0).all()  # a leaf of five, and the prior


def test_rerun_keeps_the_files(files, folder):
    before = {path: path.stat().st_mtime_ns for path in files.predictions.values()}
    again = prepare_demo(folder)
    assert not again.trained
    assert {path: path.stat().st_mtime_ns for path in again.predictions.values()} == before


def test_command_reports_on_the_files(files, folder, capsys):
    assert main(["demo", "-o", str(folder)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert f"Page: {folder / 'report.html'}" in shown.out
    y = np.load(files.labels)
    predictions = {name: uq.load(path) for name, path in files.predictions.items()}
    judged = uq.assay(predictions, y, common_members=COMMON_MEMBERS, calibration=())
    assert len(judged.verdict()) >= 3
    assert all(sentence in shown.out for sentence in judged.verdict())
    assert all(name in (folder / "report.html").read_text(encoding="utf-8") for name in KINDS)


def test_changed_files_or_seed_are_trained_again(files, folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    manifest = json.loads((tmp_path / "demo.json").read_text())
    path = tmp_path / "predictions" / files.predictions["logistic regression"].name
    wanted = file_hash(path)
    assert manifest["sha256"][path.name] == wanted
    path.write_bytes(path.read_bytes()[:-1])
    assert prepare_demo(tmp_path).trained
    for first in files.predictions.values():  # the same seed gives the same predictions
        again = tmp_path / "predictions" / first.name
        np.testing.assert_array_equal(uq.load(first).mean_probs(), uq.load(again).mean_probs())
    # that the seed reaches each of the models is not asked here: all are the quickest one
    monkeypatch.setattr("uqassay.lab.demo.TRAINING", dict.fromkeys(TRAINING, TRAINING["logistic regression"]))
    assert prepare_demo(tmp_path, seed=1).trained
    assert file_hash(path) != wanted
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_a_broken_manifest_keeps_nothing(files, folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    nothing = dict.fromkeys(TRAINING, lambda split, seed: pytest.fail("trained"))
    monkeypatch.setattr("uqassay.lab.demo.TRAINING", nothing)
    assert not prepare_demo(tmp_path).trained
    (tmp_path / "demo.json").write_text("{")
    with pytest.raises(pytest.fail.Exception, match="trained"):
        prepare_demo(tmp_path)


def test_bad_seed_and_folder(tmp_path):
    (tmp_path / "file").touch()
    with refuses("seed", "range", got="must be a whole number from 0"):
        prepare_demo(tmp_path, seed=-1)
    with refuses("folder", "unwritable"):
        prepare_demo(tmp_path / "file")


def test_without_scikit_learn_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with refuses("scikit-learn", "package", error=MissingDependencyError):
        prepare_demo(tmp_path)
    assert list(tmp_path.iterdir()) == []
