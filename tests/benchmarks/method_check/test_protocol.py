"""The check of the methods: figures by hand from the stored files, resuming, failures, the command."""

import json
import os
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from benchmarks.method_check.protocol import VARIANTS, Variant, check_methods
from tests.refusals import refuses

from benchmarks import check_methods as command
from benchmarks.method_check import protocol, training
from uqassay.errors import InputError

FEW = ("snn", "deep-ensemble", "evidential", "bagging")


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


@pytest.fixture(autouse=True, scope="module")
def _little_work():
    """Digits that are read once, a small forest, and a Laplace approximation of few draws and steps, of which it takes many
    for few instances.
    """
    pytest.importorskip("torch")
    datasets = pytest.importorskip("sklearn.datasets")
    few = tuple(replace(v, params={"n_members": 10}) if v.name == "random-forest" else v for v in VARIANTS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(protocol, "VARIANTS", few)
        patched.setattr(datasets, "load_digits", cache(datasets.load_digits))
        patched.setattr("uqassay.lab.methods.laplace.ALL_DRAWS", 2_000)
        patched.setattr("uqassay.lab.methods.laplace.N_STEPS", 5)
        yield


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A smoke run of all methods: the result, the folder, the steps."""
    pytest.importorskip("torch")
    folder, steps = tmp_path_factory.mktemp("run"), []
    result = check_methods(preset="smoke", resume=folder, progress=steps.append)
    return result, folder, steps


def stored(folder, method):
    """Arrays of the stored predictions of a method with all classes and the usual effort, by seed."""
    found = {}
    for place in folder.glob("cells/*/*/"):
        cell = json.loads((place / "metadata.json").read_text())["cell"]
        usual = cell["params"]["params"].get("epochs", 2) == 2 and "left_out" not in cell["condition"]
        if cell["method"] == method and usual:
            with np.load(place / "prediction.npz", allow_pickle=False) as archive:
                found[cell["seed"]] = dict(archive)
    return [found[seed] for seed in sorted(found)]


def value(result, name):
    return next(cell for cell in result.rows if cell.name == name)


# ---- the protocol ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_accuracies_by_hand_from_the_stored_files(tmp_path):
    result = check_methods(preset="smoke", methods=FEW, runs=2, seed=3, resume=tmp_path)
    right = {}
    for method, key in (("snn", "probs"), ("deep-ensemble", "probs"), ("evidential", "alpha"), ("bagging", "probs")):
        runs = stored(tmp_path, method)
        assert len(runs) == 2
        means = [run[key] if run[key].ndim == 2 else run[key].mean(axis=1) for run in runs]
        right[method] = np.mean([mean.argmax(axis=1) == run["labels"] for mean, run in zip(means, runs, strict=True)])
        found = value(result, f"accuracy/digits/{method}/mean")
        np.testing.assert_allclose(found.ours, right[method])
        assert found.low < found.ours < found.high
    for method in FEW[1:]:
        found = value(result, f"accuracy/digits/{method}/ahead")
        np.testing.assert_allclose(found.ours, right[method] - right["snn"], atol=1e-12)
        assert bool(found.note) == (found.ours < -0.02)


@pytest.mark.slow
def test_every_promise_has_its_figures_and_nothing_is_compared(ran):
    result, _, steps = ran
    promises = {cell.name.split("/")[2] for cell in result.rows if cell.name.startswith("signature")}
    assert len(promises) == 12
    assert all(cell.agrees is None and np.isnan(cell.paper) for cell in result.rows)
    assert {c.name for c in result.rows if np.isnan(c.ours)} == {"left-out/mnist-10k"}
    for start in ("creinn", "e-cnn", "rs-nn"):  # hold for any weights
        notes = {cell.note for cell in result.rows if cell.name.startswith(f"signature/digits/{start}: ")}
        assert [note.split(" (")[0] for note in notes] == ["held"]
    assert {cell.name.split("/")[2] for cell in result.rows if cell.name.startswith("accuracy")} == {
        v.name for v in VARIANTS
    }
    json.dumps(result.to_json(), allow_nan=False)
    text = result.summary()
    assert "Accuracy in percent, digits: 300 training and 200 test instances, 1 training of each" in text
    assert "What the papers promise of the methods" in text
    assert "a smoke run only checks that the code runs" in text
    assert "mnist-10k is left out: the preset smoke takes it from a folder only" in text
    assert len(steps) >= len(VARIANTS) + 2  # trainings without a class, and those of methods that lag


@pytest.mark.slow
def test_resuming_trains_nothing_and_gives_the_same(ran, monkeypatch):
    result, folder, _ = ran

    def refuse(cell):
        raise AssertionError(f"{cell.name} is trained again")

    monkeypatch.setattr(training, "train_and_measure", refuse)
    again = check_methods(preset="smoke", resume=folder)
    assert again.to_json() == result.to_json()
    assert again.reading == result.reading


@pytest.mark.slow
def test_a_method_that_fails_is_left_out_with_its_reason(monkeypatch):
    train = training.train_and_measure

    def sometimes(cell):
        if cell.method in failing:
            raise InputError("data", "no good", "", "get others")
        return train(cell)

    monkeypatch.setattr(training, "train_and_measure", sometimes)
    failing = {"evidential"}
    result = check_methods(preset="smoke", methods=FEW, runs=1, seed=7)
    failed = [cell for cell in result.rows if cell.name.startswith("left-out/digits")]
    assert len(failed) == 2  # with all classes and without one
    assert failed[0].name.endswith("seed 7")
    assert failed[0].note.startswith("uqassay.errors.InputError: data: no good")
    assert f"{failed[0].name.removeprefix('left-out/')} is left out: {failed[0].note}" in result.notes
    assert not any("evidential" in cell.name for cell in result.rows if cell.name.split("/")[0] != "left-out")
    failing = set(FEW)
    with refuses("methods", "all-failed", got="data: no good"):
        check_methods(preset="smoke", methods=FEW, runs=1, seed=8)


def test_a_data_set_that_cannot_be_read_stands_in_the_json(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(protocol, "VARIANTS", tuple(v for v in VARIANTS if v.name == "bagging"))
    given = ["--preset", "smoke", "--runs", "1", "--json", "--data", str(tmp_path)]
    for part in ("images-idx3", "labels-idx1"):  # so that nothing is asked of a network
        place = tmp_path / "mnist" / f"t10k-{part}-ubyte.gz"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"damaged")
    assert command.main(given) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["left-out/mnist-10k"]["note"]
    assert rows["left-out/mnist-10k"]["ours"] is None
    assert "accuracy/digits/bagging/mean" in rows


@pytest.mark.slow
def test_images_in_a_folder_and_the_command_line(shared, monkeypatch, capsys):
    monkeypatch.setattr(protocol, "VARIANTS", tuple(v for v in VARIANTS if v.name in FEW))
    monkeypatch.setenv("UQASSAY_DATA", "elsewhere")
    folder = str(shared / "data" / "mnist_t10k")
    assert command.main(["--preset", "smoke", "--data", folder, "--runs", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["name"].split("/")[1] for row in rows} == {"digits", "mnist-10k"}
    assert os.environ["UQASSAY_DATA"] == "elsewhere"


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"preset": "paper"}, "preset", "choice", "paper"),
        ({"runs": 0}, "runs", "range", "got 0"),
        ({"seed": -1}, "seed", "range", "got -1"),
        ({"seed": 99999999999999}, "seed", "range", "got 99999999999999"),
        ({"workers": True}, "workers", "range", "got True"),
        ({"methods": ["snn", "bnn"]}, "methods", "choice", "got 'bnn'"),
        ({"methods": []}, "methods", "choice", "got none"),
        ({"data": "no such folder"}, "data", "missing", "no such folder"),
    ],
)
def test_bad_options_are_refused(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        check_methods(**{"preset": "smoke", **options})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--method", "bnn"], "--method: must be among snn, "),
        (["--data", "no such folder"], "--data: must be a folder"),
        (["--runs", "0"], "--runs: must be a whole number"),
    ],
)
def test_the_command_names_its_options_in_errors(given, words, capsys):
    assert command.main(["--preset", "smoke", *given]) == 2
    assert capsys.readouterr().err.startswith(words)


def test_workers_can_import_the_function_of_a_cell():
    from benchmarks.source_digests import code_version

    from uqassay.lab.bench.cell import function_of

    assert function_of(protocol.FUNCTION) is training.train_and_measure
    assert len(code_version(protocol.FUNCTION)) == 64


def test_the_script_runs_from_any_folder(tmp_path):
    import subprocess
    import sys

    script = [sys.executable, command.__file__, "--preset", "smoke", "--method", "bagging", "--json"]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=True)
    names = [row["name"] for row in json.loads(done.stdout)]
    assert names[:2] == ["accuracy/digits/bagging/mean", "accuracy/digits/bagging/seconds"]


def test_what_is_trained():
    cells = protocol._cells("digits", "cpu", [3, 4], VARIANTS)
    assert len(cells) == 2 * len(VARIANTS) + 20
    by_name = {cell.method: cell for cell in cells if cell.seed == 3 and not cell.condition}
    assert by_name["mc-dropout-0.7"].params == {
        "method": "mc-dropout",
        "params": {"rate": 0.7, "epochs": 100, "progress": False, "device": "cpu"},
    }
    assert by_name["dropout-last-0.6"].params["params"]["where"] == "last"
    assert by_name["bagging"].params["params"] == {"n_members": 10}
    assert sorted(c.condition["left_out"] for c in cells if c.condition and c.method == "ddu") == list(range(10))
    assert protocol._with_more(by_name["ddu"]).params["params"]["epochs"] == 300
    assert protocol._with_more(by_name["bagging"]).params["params"]["n_members"] == 30


def test_variants_name_known_methods():
    from uqassay.lab.methods import METHODS

    other_names = {"dn-0.1", "dn-0.6"}  # of dropout-last-…
    elsewhere = {"local-gp", "sparse-gp"}  # checked by benchmarks/bench_gaussian_processes.py
    assert {v.method for v in VARIANTS} == set(METHODS) - other_names - elsewhere
    assert isinstance(VARIANTS[0], Variant)
