"""The reproduction of paper 002 from its options to its cells; the command line's form of it is in tests/cli."""

import gzip
import hashlib
import json

import numpy as np
import pytest
from tests.lab.datasets.conftest import idx_bytes
from tests.refusals import refuses

from uqassay.lab.datasets import images as mnist
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.gain.protocol import reproduce_epistemic_gain, steps_of_epistemic_gain

SMALL = {"preset": "smoke", "method": "random-forest", "spread": 0.25}


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("sklearn")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def result(folder):
    return reproduce("epistemic-gain", dataset="toy-mismatch-1", resume=folder, **SMALL)


def test_rows_and_reading_of_a_smoke_run(result):
    names = [cell.name for cell in result.rows]
    assert len(set(names)) == len(names)
    assert {name.split("/")[1] for name in names} == {"toy", "toy-mismatch-1"}
    assert all(cell.agrees is None for cell in result.rows)  # never evidence
    assert all(np.isfinite(cell.ours) for cell in result.rows)
    text = result.summary()
    for part in (
        "a smoke run only checks",
        "not compared with the paper",
        "compared with toy, spread 0.25",
        "True uncertainty",
    ):
        assert part in text
    assert json.dumps(result.to_json(), allow_nan=False)


def test_mismatch_of_the_calibration_leaves_the_evaluation_as_it_is(result):
    cells = {cell.name: cell.ours for cell in result.rows}
    for column in ("correlation", "eece", "truth"):
        names = (f"table1/{name}/spread=0.25/random-forest/entropy/{column}" for name in ("toy", "toy-mismatch-1"))
        first, second = (cells[name] for name in names)
        assert first == second
    assert any("ρ unchanged" in line for line in result.reading)


def test_finished_runs_are_not_run_again(result, folder):
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("prediction.npz"))
    said = []
    again = reproduce_epistemic_gain(dataset="toy-mismatch-1", resume=folder, progress=said.append, **SMALL)
    assert again == result
    assert before == sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("prediction.npz"))
    assert said == ["trained 4 of 4", "judging"]


def test_steps_of_the_progress(tmp_path):
    said = []
    reproduce_epistemic_gain(dataset="toy", runs=1, progress=said.append, **SMALL)
    assert len(said) == steps_of_epistemic_gain(dataset="toy", runs=1, **SMALL)


def test_a_failed_run_is_named_and_left_out(monkeypatch):
    from uqassay.lab.methods.forests import RandomForest

    def broken(self, *_):
        raise ValueError("no luck")

    monkeypatch.setattr(RandomForest, "fit", broken)
    found = reproduce_epistemic_gain(preset="smoke", method=["local-gp", "random-forest"], spread=0.25, runs=1)
    assert {cell.name.split("/")[3] for cell in found.rows} == {"local-gp"}
    assert any("random-forest" in note and "no luck" in note for note in found.notes)
    with refuses("method", "all-failed", got="no luck"):
        reproduce_epistemic_gain(runs=1, **SMALL)


@pytest.mark.parametrize(
    ("options", "parameter"), [({"runs": 0}, "runs"), ({"workers": 0}, "workers"), ({"seed": -1}, "seed")]
)
def test_numbers_out_of_range(options, parameter):
    with refuses(parameter, "range"):
        reproduce_epistemic_gain(**options)


def characters(n_classes, n, seed):
    """Images (n, 28, 28) of classes with a prototype each, and their labels, all classes equally often."""
    g = np.random.default_rng(seed)
    prototypes = np.random.default_rng(0).integers(0, 200, (n_classes, 28, 28))
    y = g.permutation(n) % n_classes
    return (prototypes[y] + g.integers(0, 56, (n, 28, 28))).astype(np.uint8), y.astype(np.uint8)


def emnist_files(home, monkeypatch):
    for part, n in (("train", 1410), ("test", 470)):
        images, labels = characters(47, n, len(part))
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            path = home / "emnist" / f"emnist-balanced-{part}-{kind}-ubyte.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(idx_bytes(array)))


def kuzushiji_files(home, monkeypatch):
    folder = home / "kuzushiji-49"
    folder.mkdir(parents=True)
    for part, n in (("train", 1470), ("test", 490)):
        for kind, array in zip(("imgs", "labels"), characters(49, n, len(part)), strict=True):
            np.savez_compressed(folder / f"k49-{part}-{kind}.npz", array)
    digests = {path.name: hashlib.md5(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    monkeypatch.setattr(mnist, "KUZUSHIJI_49_DIGESTS", digests)


@pytest.mark.parametrize(("dataset", "write"), [("emnist-balanced", emnist_files), ("kuzushiji-49", kuzushiji_files)])
def test_files_in_the_published_forms(dataset, write, tmp_path, monkeypatch):
    monkeypatch.setenv("UQASSAY_DATA", str(tmp_path / "cache"))
    write(tmp_path / "cache", monkeypatch)
    found = reproduce_epistemic_gain(preset="smoke", dataset=dataset, method="local-gp")
    assert {cell.name.split("/")[1] for cell in found.rows} == {dataset}
    assert any("1,880" in note or "1,960" in note for note in found.notes)
    # the classes are easy: hardly a gain, so the correlation may be undefined, the errors are not
    assert all(np.isfinite(cell.ours) for cell in found.rows if "correlation" not in cell.name)
    assert all(cell.agrees is None for cell in found.rows)
