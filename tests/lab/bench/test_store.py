"""The store: a cell's life, results that count only while they are whole, and one sentence for what a folder refuses."""

import errno
import json
import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import filelock
import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.lab.bench.bench_work import WORK, drafts_of, draw, files_of, found, running_elsewhere, state
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import MissingDependencyError
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.report import read_status
from uqassay.lab.bench.runner import cost_estimate, run_cells
from uqassay.lab.bench.store import (
    METADATA,
    PREDICTION,
    RECORD,
    SCORES,
    TRACEBACK,
    CellState,
    FolderProblem,
    Store,
    count_older,
    holds_benchmark,
    json_object,
    named,
    older_notes,
    older_sentence,
    write_text,
)  # fmt: skip
from uqassay.metrics import TrueUncertainty

POINT, ONE = uq.Point([[0.5, 0.5]]), np.array([0])
PATH = os.pathsep.join([str(Path(uq.__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[3])])


def another(seed):
    return Cell(f"{WORK}:draw", dataset="toy", method="draw", seed=seed)


def refusing(code):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    return refuse


# -- a cell's life ----------------------------------------------------------------------------------------------------


def test_cell_goes_from_queued_to_done(store, cell):
    assert state(store, cell) == "queued"
    assert store.claim(cell.key)
    assert not store.claim(cell.key)
    assert not Store(store.folder).claim(cell.key)
    assert state(store, cell) == state(Store(store.folder, create=False), cell) == "running"
    store.finish(cell, draw(cell), seconds=2.0)
    one = found(store, cell)
    assert (one.state, one.seconds, one.dataset, one.method, one.seed) == ("done", 2.0, "toy", "draw", 3)
    assert not store.claim(cell.key)
    store.release(cell.key)  # again, as a worker does
    assert state(store, cell) == "done"


def test_failed_cell_keeps_its_traceback_until_it_is_tried_again(store, cell):
    store.claim(cell.key)
    store.fail(cell.key, "Traceback:\n  File a\nValueError: no\udcff")
    assert (state(store, cell), found(store, cell).reason) == ("failed", "ValueError: no\\udcff")
    assert not store.claim(cell.key)
    store.recover([cell.key])
    assert state(store, cell) == "failed"
    store.retry(cell.key)
    assert state(store, cell) == "queued"
    assert store.claim(cell.key)
    store.finish(cell, draw(cell), seconds=0.0)
    store.retry(cell.key)
    assert state(store, cell) == "done"


@pytest.mark.parametrize("text", ["", " \n"])
def test_failure_without_a_traceback_is_still_one(store, cell, text):
    store.claim(cell.key)
    store.fail(cell.key, text)
    assert (state(store, cell), found(store, cell).reason) == ("failed", "No traceback was recorded.")


def test_released_cell_is_queued(store, cell):
    store.claim(cell.key)
    store.release(cell.key)
    assert state(store, cell) == "queued"
    assert store.claim(cell.key)


def test_cell_that_was_not_claimed_is_not_settled(store, cell):
    for settle in (lambda: store.finish(cell, draw(cell), seconds=0.0), lambda: store.fail(cell.key, "Traceback")):
        with refuses("key", "missing", got=f"got {cell.key[:12]}"):
            settle()
    assert state(store, cell) == "queued"


def test_cell_of_another_process_is_its_own_until_it_is_killed(store, cell):
    with running_elsewhere(store, cell) as other:
        assert state(store, cell) == "running"
        assert (read_status(store.folder).count("running"), cost_estimate([cell], store.folder).running) == (1, 1)
        assert not store.claim(cell.key)
        other.kill()
        other.wait()
        assert state(store, cell) == "queued"
        assert run_cells([cell], store.folder, workers=0).n_ran == 1


def test_a_reader_of_the_status_does_not_keep_a_worker_from_its_cell(store, cell):
    store.claim(cell.key)
    store.release(cell.key)
    reader = os.open(store.place(cell.key).with_name(f"{cell.key}.lock"), os.O_RDWR)
    assert filelock.lock_descriptor(reader, blocking=False)
    ends = threading.Timer(0.02, os.close, [reader])
    ends.start()
    assert store.claim(cell.key)
    ends.join()


def test_cell_that_was_settled_between_the_look_and_the_lock_is_not_run(done, cell, tmp_path, monkeypatch):
    elsewhere, lock = tmp_path / "away", Store._lock
    shutil.move(done.place(cell.key), elsewhere)

    def late(self, key):
        shutil.move(elsewhere, done.place(cell.key))
        return lock(self, key)

    monkeypatch.setattr(Store, "_lock", late)
    assert not Store(done.folder).claim(cell.key)
    assert state(done, cell) == "done"


def test_claims_of_many_processes_at_once_give_each_cell_to_one(tmp_path):
    Store(tmp_path)
    program = f"""if True:
        import sys
        from uqassay.lab.bench.cell import Cell
        from uqassay.lab.bench.store import Store
        cells = [Cell("{WORK}:draw", dataset="toy", method="draw", seed=seed) for seed in range(30)]
        store = Store(sys.argv[1])
        won = [c.seed for c in cells if store.claim(c.key)]
        print(won)
        sys.stdin.read()  # stays alive, so that nobody takes over
    """
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": PATH}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    won = [json.loads(racer.stdout.readline()) for racer in racers]
    for racer in racers:
        racer.communicate("")
    assert sorted(seed for part in won for seed in part) == list(range(30))


def test_drafts_of_killed_processes_are_removed_and_those_of_living_ones_stay(done, cell):
    left = done.place(cell.key).with_name(".uqassay-0123")
    left.mkdir()
    (left / PREDICTION).write_text("half")
    neighbour = Cell(f"{WORK}:draw", dataset="toy", method="draw", seed=next(
        seed for seed in range(99_999) if another(seed).key[:2] == cell.key[:2] and seed != cell.seed
    ))  # fmt: skip
    with running_elsewhere(done, neighbour):
        done.recover([cell.key])
        assert drafts_of(done.folder) == [left]  # it may be that of the neighbour
    done.recover([cell.key])
    assert drafts_of(done.folder) == []


def test_without_filelock_one_sentence_says_how_to_get_it(store, cell, monkeypatch):
    monkeypatch.setitem(sys.modules, "filelock", None)
    with refuses("filelock", "package", got=r"pip install 'uqassay\[lab\]'", error=MissingDependencyError):
        store.claim(cell.key)


# -- results ----------------------------------------------------------------------------------------------------------


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


def test_a_record_is_kept_with_its_arrays_and_guarded_by_their_digest(store, cell):
    """Arrays of any shape, which scores cannot have; a file that is damaged is no result."""
    record = TrueUncertainty(np.arange(6.0), np.zeros(6), np.arange(6.0))
    store.claim(cell.key)
    store.finish(cell, CellResult(POINT, np.array([0]), record=record), seconds=0.0)
    kept = store.result(cell.key).record(TrueUncertainty)
    np.testing.assert_array_equal(kept.total, record.total)
    assert (store.place(cell.key) / RECORD).is_file()
    (store.place(cell.key) / RECORD).write_bytes(b"damaged")
    assert store.states([cell.key], verify=True)[0].state == "queued"


def test_label_distributions_have_no_accuracy(store, cell):
    store.claim(cell.key)
    store.finish(cell, CellResult(POINT, np.array([[3, 1]])), seconds=0.0)
    assert store.result(cell.key).metadata["accuracy"] is None
    assert found(store, cell).accuracy is None


def test_labels_stay_indices_where_the_classes_are_named_by_numbers(store, cell):
    said = uq.Point([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7]], class_names=("5", "7", "9"))
    store.claim(cell.key)
    store.finish(cell, CellResult(said, np.array([0, 2])), seconds=0.1)
    kept = store.result(cell.key)
    assert (kept.labels.tolist(), kept.class_names, kept.prediction.class_names) == ([0, 2], ("5", "7", "9"), None)
    assert kept.metadata["accuracy"] == 1.0


def test_equal_results_are_equal_files(tmp_path, cell):
    hashes = set()
    for name in ("a", "b"):
        store = Store(tmp_path / name)
        store.claim(cell.key)
        store.finish(cell, draw(cell), seconds=time.perf_counter())
        hashes.add(found(store, cell).hash)
    assert len(hashes) == 1
    assert hashes != {""}


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
    assert drafts_of(store.folder) == []
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


@pytest.mark.parametrize("recover", [True, False])
@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_results_do_not_count_and_are_replaced(done, cell, how, recover):
    spoil, shown = DAMAGE[how]
    assert found(done, cell).seconds == 1.5
    spoil(done.place(cell.key))
    with refuses("key", "missing", got=cell.key[:12]):
        done.result(cell.key)
    assert done.states([cell.key], verify=True)[0].state == "queued"
    if shown:
        assert state(Store(done.folder), cell) == "queued"
    if recover:
        done.recover([cell.key])
        assert state(done, cell) == "queued"
        assert not os.path.lexists(done.place(cell.key))
    assert done.claim(cell.key)
    done.finish(cell, draw(cell), seconds=0.1)
    assert found(done, cell).seconds == 0.1
    np.testing.assert_array_equal(done.result(cell.key).prediction.probs, draw(cell).prediction.probs)
    assert drafts_of(done.folder) == []


# -- what a folder says -----------------------------------------------------------------------------------------------


def test_proof_of_a_benchmark_is_its_plan_or_its_results(done, cell, tmp_path):
    assert not holds_benchmark(tmp_path / "none")
    (plan,) = (done.folder / "plans").iterdir()
    kept, facts = plan.read_text(), json.loads((done.place(cell.key) / METADATA).read_text())
    plan.unlink()
    assert holds_benchmark(done.folder)
    for text in (
        *(json.dumps(facts | change) for change in ({"schema": "other/1"}, {"key": "0" * 64})),
        "[]",
        "{",
        '"x"',
    ):
        (done.place(cell.key) / METADATA).write_text(text)
        assert not holds_benchmark(done.folder)
    plan.write_text(kept)
    assert holds_benchmark(done.folder)
    plan.write_text('{"schema": "mine"}')
    assert not holds_benchmark(done.folder)
    moved = done.folder / "cells" / "zz" / cell.key  # in the wrong place
    (done.place(cell.key) / METADATA).write_text(json.dumps(facts))
    moved.parent.mkdir()
    done.place(cell.key).rename(moved)
    assert not holds_benchmark(done.folder)


def test_folder_without_a_benchmark_is_refused_by_readers(tmp_path):
    (tmp_path / "index.sqlite").write_text("of something else")
    for read in (read_status, lambda folder: Store(folder, create=False)):
        with refuses("folder", "missing", got=str(tmp_path)):
            read(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["index.sqlite"]
    assert Store(tmp_path, create=False, required=False).states() == []


def test_plans_name_the_cells_that_wait_and_are_written_once(tmp_path):
    store, some = Store(tmp_path), [another(seed) for seed in range(3)]
    for part in (some, some, some[:1]):
        store.add(part)
    assert len(list((tmp_path / "plans").iterdir())) == 2
    assert {(one.key, one.dataset, one.seed) for one in store.states()} == {(c.key, "toy", c.seed) for c in some}
    assert store.counts() == {"queued": 3, "running": 0, "done": 0, "failed": 0}


def test_lost_or_damaged_plans_take_nothing_from_the_results(done, cell):
    (plan,) = (done.folder / "plans").iterdir()
    listed = ("5", "[5, {}]")
    for text in ("", "[]", *(f'{{"schema": "uqassay.plan/1", "cells": {cells}}}' for cells in listed)):
        plan.write_text(text)
        (one,) = Store(done.folder, create=False).states()
        assert (one.key, one.state, one.dataset) == (cell.key, "done", "toy")
    shutil.rmtree(done.folder / "plans")
    assert run_cells([cell], done.folder, workers=0).n_kept == 1


def test_entries_of_somebody_among_the_cells_are_left_alone(done, cell):
    theirs = ["notes.txt", "ab/readme", f"{cell.key[:2]}/{cell.key}.bak", f"zz/{cell.key}/x", f"{cell.key[:2]}/thesis"]
    for name in theirs:
        (done.folder / "cells" / name).parent.mkdir(parents=True, exist_ok=True)
        (done.folder / "cells" / name).write_text("mine")
    assert done.counts() == {"queued": 0, "running": 0, "done": 1, "failed": 0}
    done.recover([cell.key])
    assert all((done.folder / "cells" / name).read_text() == "mine" for name in theirs)


@pytest.mark.parametrize("spoil", ["killed", "failure", "byte", "none"])
def test_what_recovery_would_find_is_told_without_a_change(done, cell, spoil):
    other = another(4)
    done.claim(other.key)
    if spoil == "killed":
        shutil.rmtree(done.place(cell.key))
    elif spoil == "failure":
        done.fail(other.key, "Traceback\nValueError: no")
    elif spoil == "byte":
        one_byte(done.place(cell.key))
    done.release(other.key)
    done.place(cell.key).with_name(".uqassay-0123").mkdir()
    before = files_of(done.folder)
    reader = Store(done.folder, create=False, required=False)
    told = [(one.state, one.seconds) for one in reader.states([cell.key, other.key], verify=True)]
    assert files_of(done.folder) == before
    assert drafts_of(done.folder)
    again = Store(done.folder)
    again.recover([cell.key, other.key])
    assert [one.state for one in again.states([cell.key, other.key])] == [one for one, _ in told]
    assert told[0] == (("done", 1.5) if spoil in ("failure", "none") else ("queued", None))
    assert told[1] == ("failed" if spoil == "failure" else "queued", None)


def test_folder_that_may_only_be_read_is_read(done, cell, monkeypatch):
    other, killed = another(4), another(5)
    done.add([cell, other, killed])
    done.claim(killed.key)
    done.release(killed.key)
    with running_elsewhere(done, other), ExitStack() as stack:
        before = files_of(done.folder)
        for path in (*done.folder.glob("cells/??/*.lock"), *done.folder.glob("cells/??")):
            stack.callback(os.chmod, path, path.stat().st_mode)
            os.chmod(path, 0o555 if path.is_dir() else 0o444)
        real = os.open  # as for somebody who is not the superuser
        monkeypatch.setattr(os, "open", lambda path, flags, *more, **named: (
            refusing(errno.EACCES)() if flags & (os.O_WRONLY | os.O_RDWR) else real(path, flags, *more, **named)
        ))  # fmt: skip
        for name in ("mkdir", "rename", "replace"):
            monkeypatch.setattr(os, name, lambda *_, **__: pytest.fail("a reader makes and moves nothing"))
        status = read_status(done.folder)
        assert [status.count(state) for state in ("done", "running", "queued")] == [1, 1, 1]
        assert cost_estimate([cell], done.folder).done == 1
        assert Store(done.folder, create=False).result(cell.key).prediction.n_instances == 20
        monkeypatch.undo()
        assert files_of(done.folder) == before


def test_states_of_many_cells_take_one_listing_for_each_folder_of_cells(done, monkeypatch):
    for i in range(3000):
        place = done.place(f"{i % 256:02x}{i:062x}")
        place.mkdir(parents=True)
        (place / TRACEBACK).write_text("Traceback\nValueError: no")
    listed, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: (listed.append(path), scandir(path))[1])
    assert Store(done.folder, create=False).counts()["failed"] == 3000
    assert len(listed) <= 2 * 258  # once more for whether it is a benchmark


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ({"dataset": "toy", "method": "a", "seed": 2}, ("toy", "a", 2)), ({"seed": "2"}, ("", "", None)),
        (None, ("", "", None)), ([1], ("", "", None)), ({"dataset": 5}, ("5", "", None)),
    ],
)  # fmt: skip
def test_names_of_malformed_cells_are_empty(cell, expected):
    assert tuple(named(cell).values()) == expected


@pytest.mark.parametrize(
    ("traceback", "reason"),
    [
        ("Traceback\n  x\nValueError: no\n\n", "ValueError: no"),
        ("Traceback\n  x\nValueError: no\nIn run 3.\n", "ValueError: no (In run 3.)"),
        ("Traceback\n  x\nValueError: no\n  indented", "indented"),
        ("KeyError", "KeyError"),
        ("", ""),
    ],
)
def test_reason_is_the_exception_with_its_notes(traceback, reason):
    assert CellState(key="k", state="failed", traceback=traceback).reason == reason


# -- results of another version ---------------------------------------------------------------------------------------


@pytest.fixture
def three(tmp_path):
    """Three cells, two of which are done in tmp_path."""
    cells = [Cell("json:dumps", dataset="toy", method="constant", seed=seed, source="here") for seed in range(3)]
    store = Store(tmp_path)
    for cell in (cells[0], cells[2]):
        store.claim(cell.key)
        store.finish(cell, CellResult(POINT, ONE), seconds=0.5)
    return cells


def test_older_results_are_told_in_one_sentence():
    assert older_sentence(2, "data set", Path("a/run")) == (
        "2 data sets in a/run were made by another version of uqassay and are not used; "
        "they are made again, and the older files may be deleted"
    )


def test_the_same_cells_of_other_code_are_told(three, tmp_path, monkeypatch):
    assert older_notes(three, tmp_path) == []
    assert count_older(tmp_path) == 0
    place = Store(tmp_path).place(three[0].key)
    monkeypatch.setattr("uqassay.__version__", "0.0")
    shutil.copytree(place, place.with_name(".uqassay-0123"))  # of a killed process
    (note,) = older_notes(three, tmp_path)
    assert note.startswith(f"2 trainings in {tmp_path} were made by another version of uqassay and are not used")
    assert older_notes(three[:1], tmp_path, noun="cell")[0].startswith("1 cell ")
    assert older_notes(three[1:2], tmp_path) == older_notes(three, tmp_path / "none") == []
    other = Cell("json:dumps", dataset="toy", method="constant", seed=0, params={"a": 1})
    assert older_notes([other], tmp_path) == []  # another cell, not one of another version
    assert count_older(tmp_path) == 2


def test_the_status_counts_what_other_code_made(three, tmp_path):
    assert read_status(tmp_path).older == 0
    place = Store(tmp_path).place(three[0].key)
    held = json.loads((place / METADATA).read_text())
    for other in ({"function": "no_such:work"}, {"further": 1}):
        change(place, cell=held["cell"] | other)
        status = read_status(tmp_path)
        assert status.older == 1
        assert status.sentences()[1].endswith("1 of the done.")


# -- what a folder refuses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "got"),
    [
        (errno.ENOSPC, "no space"), (errno.EDQUOT, "no space"), (errno.EROFS, "permissions"),
        (errno.EIO, "Input/output error"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_write_that_fails_is_one_sentence_and_leaves_nothing(store, cell, monkeypatch, code, got, step):
    store.claim(cell.key)
    with monkeypatch.context() as patch:
        patch.setattr(f"os.{step}", refusing(code))
        with refuses("folder", "unwritable", got=got, error=FolderProblem) as refusal:
            store.finish(cell, draw(cell), seconds=0.0)
    assert refusal.value.facts == {"errno": code}
    assert not store.place(cell.key).exists()
    assert drafts_of(store.folder) == []
    assert state(store, cell) == "running"
    store.finish(cell, draw(cell), seconds=0.0)
    assert state(store, cell) == "done"


def test_space_that_ends_while_a_prediction_is_written_is_one_sentence(store, cell, monkeypatch):
    store.claim(cell.key)
    monkeypatch.setattr("numpy.savez", refusing(errno.ENOSPC))
    with refuses("folder", "unwritable", got="no space", error=FolderProblem):
        store.finish(cell, draw(cell), seconds=0.0)


@pytest.mark.parametrize("call", ["claim", "fail", "add"])
def test_every_write_of_the_store_names_the_full_disk(store, cell, monkeypatch, call):
    if call == "fail":
        store.claim(cell.key)
    for name in ("os.mkdir", "os.open", "pathlib.Path.open", "pathlib.Path.mkdir"):
        monkeypatch.setattr(name, refusing(errno.ENOSPC))
    other = another(1)
    steps = {
        "claim": lambda: store.claim(cell.key), "fail": lambda: store.fail(cell.key, "Traceback"),
        "add": lambda: store.add([other]),
    }  # fmt: skip
    with refuses("folder", "unwritable", got="no space", error=FolderProblem):
        steps[call]()


def test_file_system_without_locks_is_named(store, cell, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", refusing(errno.ENOLCK))
    with refuses("folder", "unwritable", got="supports no locks", error=FolderProblem):
        store.claim(cell.key)
    assert state(store, cell) == "running"  # the lock is there, and nobody can tell whose


def test_limit_on_the_size_of_files_is_one_sentence(store):
    program = f"""if True:
        import resource, sys
        from {WORK} import cells
        from uqassay.errors import InputError
        from uqassay.lab.bench.runner import run_cells
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        try:
            run_cells(cells(2, 0.0), sys.argv[1], workers=0)
        except InputError as problem:
            print(problem)
    """
    for folder in (store.folder, store.folder / "new"):
        ended = subprocess.run(
            [sys.executable, "-c", program, str(folder)], env={**os.environ, "PYTHONPATH": PATH},
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout.startswith("folder: ")
        assert ended.stdout.count("\n") == 1
        assert Store(folder).counts()["running"] == 0


def test_file_in_the_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        for create in (True, False):
            with refuses("folder", "unwritable", got=f"{tmp_path / 'file'} ", error=FolderProblem):
                Store(path, create=create, required=False)


def test_file_in_the_place_of_a_folder_of_cells_is_named(store, cell):
    store.place(cell.key).parent.touch()
    with refuses("folder", "unwritable", got=f"cells/{cell.key[:2]} ", error=FolderProblem):
        store.claim(cell.key)


def test_folder_that_may_not_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "mkdir", refusing(errno.EACCES))
    with refuses("folder", "unwritable", got="permissions", error=FolderProblem):
        Store(tmp_path / "run")


def test_problem_travels_between_processes_with_its_fields():
    problem = FolderProblem("folder", "is full", "", "free some", code="unwritable", facts={"errno": 28})
    again = pickle.loads(pickle.dumps(problem))
    assert type(again) is FolderProblem
    assert (str(again), again.code, again.facts) == ("folder: is full; free some.", "unwritable", {"errno": 28})


def test_text_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    write_text(tmp_path / "a.txt", "one")
    monkeypatch.setattr("os.fsync", refusing(errno.ENOSPC))
    with refuses("folder", "unwritable", got="no space", error=FolderProblem):
        write_text(tmp_path / "a.txt", "two")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "one")]


def test_json_is_read_from_regular_files_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"\xff")
    (tmp_path / "list").write_text("[1]")
    (tmp_path / "object").write_text('{"a": 1}')
    assert [json_object(tmp_path / name) for name in ("pipe", "bytes", "missing", "list", ".", "object")] == [
        None, None, None, None, None, {"a": 1}
    ]  # fmt: skip
