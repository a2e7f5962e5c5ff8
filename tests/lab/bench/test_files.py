"""Files in a benchmark's folder: whose the folder is, and one sentence for everything the file system refuses."""

import errno
import json
import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab.bench.bench_work import WORK, draw, state
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.bench.store import METADATA, FolderProblem, Store, holds_benchmark, json_object, text_of, write_text


def refusing(code):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    return refuse


# -- whose folder it is -----------------------------------------------------------------------------------------------


def test_proof_of_a_benchmark_is_its_plan_or_its_results(done, cell, tmp_path):
    assert not holds_benchmark(tmp_path / "none")
    assert holds_benchmark(done.folder)
    for plan in (done.folder / "plans").iterdir():
        plan.unlink()
    assert holds_benchmark(done.folder)
    facts = json.loads((done.place(cell.key) / METADATA).read_text())
    for change in ({"schema": "other/1"}, {"key": "0" * 64}):
        (done.place(cell.key) / METADATA).write_text(json.dumps(facts | change))
        assert not holds_benchmark(done.folder)
    for text in ("[]", "{", '"x"'):
        (done.place(cell.key) / METADATA).write_text(text)
        assert not holds_benchmark(done.folder)
    moved = done.folder / "cells" / "zz" / cell.key  # in the wrong place
    (done.place(cell.key) / METADATA).write_text(json.dumps(facts))
    moved.parent.mkdir()
    done.place(cell.key).rename(moved)
    assert not holds_benchmark(done.folder)


def test_plan_alone_is_proof_and_other_json_is_not(store, tmp_path):
    assert holds_benchmark(store.folder)
    (tmp_path / "other" / "plans").mkdir(parents=True)
    (tmp_path / "other" / "plans" / "a.json").write_text('{"schema": "mine"}')
    (tmp_path / "other" / "cells" / "ab" / ("ab" + "0" * 62)).mkdir(parents=True)
    assert not holds_benchmark(tmp_path / "other")


def test_folder_without_a_benchmark_is_refused_by_readers(tmp_path):
    (tmp_path / "index.sqlite").write_text("of something else")
    with refuses("folder", "missing", got=str(tmp_path)):
        Store(tmp_path, create=False)
    assert [path.name for path in tmp_path.iterdir()] == ["index.sqlite"]
    assert Store(tmp_path, create=False, required=False).states() == []


# -- what a folder refuses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "got"),
    [
        (errno.ENOSPC, "no space"), (errno.EDQUOT, "no space"), (errno.EROFS, "permissions"),
        (errno.EIO, "Input/output error"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("step", ["fsync", "rename"])
def test_write_that_fails_is_one_sentence_and_leaves_nothing(store, cell, monkeypatch, code, got, step):
    store.claim(cell.key)
    with monkeypatch.context() as patch:
        patch.setattr(f"os.{step}", refusing(code))
        with refuses("folder", "unwritable", got=got, error=FolderProblem) as refusal:
            store.finish(cell, draw(cell), seconds=0.0)
    assert refusal.value.facts == {"errno": code}
    assert not store.place(cell.key).exists()
    assert list((store.folder / "drafts").iterdir()) == []
    assert state(store, cell) == "running"
    assert store.finish(cell, draw(cell), seconds=0.0)


def test_space_that_ends_while_a_prediction_is_written_is_one_sentence(store, cell, monkeypatch):
    store.claim(cell.key)
    monkeypatch.setattr("numpy.savez", refusing(errno.ENOSPC))
    with refuses("folder", "unwritable", got="no space", error=FolderProblem):
        store.finish(cell, draw(cell), seconds=0.0)


@pytest.mark.parametrize("call", ["claim", "fail", "add", "renew"])
def test_every_write_of_the_store_names_the_full_disk(store, cell, monkeypatch, call):
    if call in ("fail", "renew"):
        store.claim(cell.key)
    monkeypatch.setattr(Path, "open", refusing(errno.ENOSPC))
    monkeypatch.setattr("os.utime", refusing(errno.ENOSPC))
    monkeypatch.setattr(Path, "read_text", lambda path, **_: os.read(os.open(path, os.O_RDONLY), 1000).decode())
    other = type(cell)(cell.function, dataset="other", method="m", seed=1)
    steps = {
        "claim": lambda: store.claim(cell.key), "fail": lambda: store.fail(cell.key, "Traceback"),
        "add": lambda: store.add([other]), "renew": lambda: store.renew(cell.key),
    }  # fmt: skip
    with refuses("folder", "unwritable", got="no space", error=FolderProblem):
        steps[call]()


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
    path = os.pathsep.join([str(Path(uq.__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[3])])
    for folder in (store.folder, store.folder / "new"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder)],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("folder: ")
        assert done.stdout.count("\n") == 1
        assert Store(folder).counts()["running"] == 0
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1000


def test_file_in_the_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        for create in (True, False):
            with refuses("folder", "unwritable", got=f"{tmp_path / 'file'} ", error=FolderProblem):
                Store(path, create=create, required=False)


def test_file_in_the_place_of_a_folder_of_cells_is_named(store, cell):
    store.place(cell.key).parent.touch()
    for call in (lambda: store.claim(cell.key), lambda: store.finish(cell, draw(cell), seconds=0.0)):
        with refuses("folder", "unwritable", got=f"cells/{cell.key[:2]} ", error=FolderProblem):
            call()


def test_folder_that_may_not_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "mkdir", refusing(errno.EACCES))
    with refuses("folder", "unwritable", got="permissions", error=FolderProblem):
        Store(tmp_path / "run")


def test_problem_travels_between_processes_with_its_fields():
    problem = FolderProblem("folder", "is full", "", "free some", code="unwritable", facts={"errno": 28})
    again = pickle.loads(pickle.dumps(problem))
    assert type(again) is FolderProblem
    assert (str(again), again.code, again.facts) == ("folder: is full; free some.", "unwritable", {"errno": 28})


# -- text -------------------------------------------------------------------------------------------------------------


def test_text_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    write_text(tmp_path / "a.txt", "one")
    monkeypatch.setattr("os.fsync", refusing(errno.ENOSPC))
    with refuses("folder", "unwritable", got="no space", error=FolderProblem):
        write_text(tmp_path / "a.txt", "two")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "one")]


def test_text_is_read_from_regular_files_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"\xff")
    (tmp_path / "list").write_text("[1]")
    (tmp_path / "object").write_text('{"a": 1}')
    assert [text_of(tmp_path / name) for name in ("pipe", "bytes", "missing", "list", ".")] == [
        None, None, None, "[1]", None
    ]  # fmt: skip
    assert [json_object(tmp_path / name) for name in ("pipe", "list", "object")] == [None, None, {"a": 1}]
