"""A result comes back as it was written, and counts only while all of its files are there with their hashes."""

import json
import os
import shutil
import time

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.lab.bench.bench_work import draw, found, state
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.store import METADATA, PREDICTION, SCORES, Store, whole_metadata

POINT, ONE = uq.Point([[0.5, 0.5]]), np.array([0])


def test_result_comes_back_as_it_was(done, cell):
    said, kept = draw(cell), done.result(cell.key)
    np.testing.assert_array_equal(kept.prediction.probs, said.prediction.probs)
    np.testing.assert_array_equal(kept.labels, said.labels)
    np.testing.assert_array_equal(kept.scores["density"], said.scores["density"])
    expected = (said.prediction.probs.mean(axis=1).argmax(axis=1) == said.labels).mean()
    assert kept.metadata["accuracy"] == pytest.approx(expected, abs=1e-12)
    assert Cell.from_json(json.dumps(kept.metadata["cell"])) == cell
    assert (kept.metadata["seconds"], kept.metadata["facts"]) == (1.5, {"device": "cpu"})
    assert kept.metadata["versions"]["numpy"] == np.__version__
    assert done.counts() == {"queued": 0, "running": 0, "done": 1, "failed": 0}
    assert list((done.folder / "drafts").iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_prediction_is_kept(store, cell, kind, random_generator):
    said = random_prediction(kind, random_generator)
    store.claim(cell.key)
    store.finish(cell, CellResult(said, np.zeros(said.n_instances, dtype=int)), seconds=0.0)
    kept = store.result(cell.key)
    assert type(kept.prediction) is type(said)
    for name in said.array_names():
        np.testing.assert_array_equal(getattr(kept.prediction, name), getattr(said, name))
    assert kept.scores == {}


def test_label_distributions_have_no_accuracy(store, cell):
    store.claim(cell.key)
    store.finish(cell, CellResult(POINT, np.array([[3, 1]])), seconds=0.0)
    assert store.result(cell.key).metadata["accuracy"] is None
    assert found(store, cell).accuracy is None


def test_equal_results_are_equal_files(tmp_path, cell):
    hashes = []
    for name in ("a", "b"):
        store = Store(tmp_path / name)
        store.claim(cell.key)
        store.finish(cell, draw(cell), seconds=time.perf_counter())
        hashes.append(found(store, cell).hash)
    assert hashes[0] == hashes[1] != ""


@pytest.mark.parametrize(
    ("result", "parameter", "code", "got"),
    [
        (CellResult(POINT, np.array([0, 1])), "labels", "mismatch", "2 rows for 1 instances"),
        (CellResult(POINT, ONE, scores={"s": np.zeros(2)}), "scores['s']", "shape", r"got \(2,\)"),
        (CellResult(POINT, ONE, facts={"x": object()}), "facts", None, "object"),
    ],
)
def test_results_that_do_not_fit_are_refused_and_leave_nothing(store, cell, result, parameter, code, got):
    store.claim(cell.key)
    with refuses(parameter, code, got=got):
        store.finish(cell, result, seconds=0.0)
    assert not store.place(cell.key).exists()
    assert list((store.folder / "drafts").iterdir()) == []
    assert state(store, cell) == "running"


# -- what counts as done ----------------------------------------------------------------------------------------------


def change(place, **values):
    facts = json.loads((place / METADATA).read_text())
    (place / METADATA).write_text(json.dumps(facts | values))


def one_byte(place):
    data = bytearray((place / PREDICTION).read_bytes())
    data[len(data) // 2] ^= 1
    (place / PREDICTION).write_bytes(data)


def pipe(place, name):
    (place / name).unlink()
    os.mkfifo(place / name)


# each with whether the metadata alone show it
DAMAGE = {
    "folder gone": (shutil.rmtree, True),
    "a file in its place": (lambda place: (shutil.rmtree(place), place.touch()), True),
    "metadata gone": (lambda place: (place / METADATA).unlink(), True),
    "metadata cut": (lambda place: (place / METADATA).write_text((place / METADATA).read_text()[:100]), True),
    "metadata no object": (lambda place: (place / METADATA).write_text("[]"), True),
    "metadata no text": (lambda place: (place / METADATA).write_bytes(b"\xff\xfe{}"), True),
    "metadata too deep": (lambda place: (place / METADATA).write_text("[" * 100_000), True),
    "metadata a pipe": (lambda place: pipe(place, METADATA), True),
    "of another cell": (lambda place: change(place, key="0" * 64), True),
    "of another format": (lambda place: change(place, schema="other/1"), True),
    "no files": (lambda place: change(place, files={}), True),
    "files no digests": (lambda place: change(place, files={PREDICTION: {"a": float("nan")}}), True),
    "no sizes": (lambda place: change(place, bytes=None), True),
    "sizes of other files": (lambda place: change(place, bytes={}), True),
    "made longer": (lambda place: os.truncate(place / PREDICTION, 2**40), False),  # sparse: nobody waits for its hash
    "another hash": (lambda place: change(place, hash="x"), True),
    "seconds a text": (lambda place: change(place, seconds="abc"), True),
    "seconds missing": (lambda place: change(place, seconds=None), True),
    "seconds nan": (lambda place: change(place, seconds=float("nan")), True),
    "accuracy a text": (lambda place: change(place, accuracy="x"), True),
    "cell missing": (lambda place: change(place, cell=None), True),
    "scores gone": (lambda place: (place / SCORES).unlink(), False),
    "prediction a pipe": (lambda place: pipe(place, PREDICTION), False),
    "one byte": (one_byte, False),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_results_do_not_count_and_are_replaced(done, cell, how):
    spoil, shown = DAMAGE[how]
    spoil(done.place(cell.key))
    with refuses("key", "missing", got=cell.key[:12]):
        done.result(cell.key)
    assert done.states([cell.key], verify=True)[0].state != "done"
    if shown:
        assert state(Store(done.folder), cell) == "queued"
    done.recover([cell.key])
    assert state(done, cell) == "queued"
    assert not os.path.lexists(done.place(cell.key))
    assert done.claim(cell.key)
    assert done.finish(cell, draw(cell), seconds=0.1)
    np.testing.assert_array_equal(done.result(cell.key).prediction.probs, draw(cell).prediction.probs)
    assert list((done.folder / "drafts").iterdir()) == []


@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_results_are_replaced_without_a_recovery_too(done, cell, how):
    DAMAGE[how][0](done.place(cell.key))
    assert done.claim(cell.key)
    assert done.finish(cell, draw(cell), seconds=0.1)
    assert whole_metadata(done.place(cell.key), cell.key)["seconds"] == 0.1
    assert list((done.folder / "drafts").iterdir()) == []


def test_second_writer_of_a_cell_keeps_the_first_result(done, cell):
    before = (done.place(cell.key) / METADATA).read_text()
    assert not done.finish(cell, draw(cell), seconds=99.0)  # as a worker whose lease has lapsed
    assert (done.place(cell.key) / METADATA).read_text() == before
    assert list((done.folder / "drafts").iterdir()) == []


def whole_number_names(cell):
    prediction = uq.Point([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7]], class_names=("5", "7", "9"))
    return CellResult(prediction, np.array([0, 2]))


def test_labels_stay_indices_where_the_classes_are_named_by_numbers(tmp_path):
    cell = Cell(f"{__name__}:whole_number_names", dataset="toy", method="named", seed=1)
    store = Store(tmp_path / "run")
    store.add([cell])
    assert store.claim(cell.key)
    assert store.finish(cell, whole_number_names(cell), seconds=0.1)
    kept = store.result(cell.key)
    assert kept.labels.tolist() == [0, 2]
    assert kept.class_names == ("5", "7", "9")
    assert kept.prediction.class_names is None
    assert kept.metadata["accuracy"] == 1.0
