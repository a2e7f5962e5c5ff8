"""The folder of an assay or a study: whole or not at all, nothing pickled, nothing damaged; contents in test_*_storage."""

import io
import json
import os
import zipfile
from copy import copy
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.refusals import refuses

from uqassay.errors import FileFormatError, InputError
from uqassay.evidence.storage import Saved


@dataclass(frozen=True)
class Thing(Saved):
    _schema = "s/1"
    _thing = "thing"

    y: NDArray[np.int64]
    x: float

    def _check_read(self):
        if self.x in PROBLEMS:
            raise PROBLEMS[self.x]


PROBLEMS: dict[float, Exception] = {}


@dataclass(frozen=True)
class Other(Saved):
    _schema = "s/1"


@pytest.fixture
def kept(tmp_path):
    return Thing(np.arange(300), np.nan).save(tmp_path / "new" / "kept")


def test_values_and_arrays_come_back(kept):
    again = Thing.load(kept)
    assert np.isnan(again.x)
    assert again.y.tolist() == list(range(300))
    assert sorted(path.name for path in kept.iterdir()) == ["arrays.npz", "thing.json"]


def test_a_thing_is_replaced_by_a_thing_alone(kept, tmp_path):
    Thing(np.arange(3), 2.0).save(kept)
    assert Thing.load(kept).x == 2
    with refuses(str(kept), "unwritable", got="does not hold a study", error=FileFormatError):
        Other().save(kept)
    file = tmp_path / "file"
    file.write_text("mine")
    for below in (file / "a", file / "deeper" / "a"):
        with refuses(str(below), "unwritable", got="cannot be written; .+", error=FileFormatError):
            Thing(np.arange(3), 2.0).save(below)
    assert file.read_text() == "mine"


def one_array():
    stream = io.BytesIO()
    np.save(stream, np.ones(3))
    return stream.getvalue()


def archive(content):
    return lambda folder: (folder / "arrays.npz").write_bytes(content)


def cut_to(share):
    def damage(folder):
        whole = (folder / "arrays.npz").read_bytes()
        (folder / "arrays.npz").write_bytes(whole[: int(share * len(whole))])

    return damage


def text(content):
    return lambda folder: (folder / "thing.json").write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "got"),
    [
        (cut_to(0.6), "not a zip file"),
        (cut_to(0.001), "not a zip file"),
        (cut_to(0.0), "not a zip file"),
        (archive(b"\x93NUMPY\x01\x00"), "not a zip file"),
        (archive(one_array()), "not a zip file"),
        (archive(b"no archive at all"), "not a zip file"),
        (lambda folder: (folder / "arrays.npz").unlink(), "there is none of this name"),
        (
            lambda folder: np.savez(folder / "arrays.npz", y=np.array([{}, None], dtype=object)),
            "pickled Python objects are never loaded",
        ),
        (lambda folder: np.savez_compressed(folder / "arrays.npz", y=np.zeros(10**6)), "needs 8.00 MB"),
        (lambda folder: (folder / "thing.json").unlink(), "No such file"),
        (text(b'{"schema": "s/1", '), "JSONDecodeError"),
        (text(b"\xff\xfe{}"), "UnicodeDecodeError"),
        (text(b"[" * 200_000), "RecursionError"),
    ],
)
def test_damaged_folders_are_refused(kept, damage, got):
    damage(kept)
    with refuses(str(kept), "unreadable", got=f"Thing.save wrote.*({got})", error=FileFormatError):
        Thing.load(kept)


@pytest.mark.parametrize("found", ["[]", "3", "null", "{}", '{"schema": "other/2"}', '{"schema": "s/0"}'])
def test_another_schema_is_refused(kept, found):
    (kept / "thing.json").write_text(found)
    with refuses(str(kept), "unreadable", got=r"schema is .*, this version reads 's/1'", error=FileFormatError):
        Thing.load(kept)


@pytest.mark.parametrize(
    ("problem", "got"),
    [
        (KeyError("z"), "KeyError in thing.json or arrays.npz"),
        (RecursionError("z"), "RecursionError in thing.json or arrays.npz"),
        (InputError("seeds", "must be whole", "got 'a'", "mend it", code="type"), "seeds must be whole; got 'a'"),
    ],
)
def test_contents_that_do_not_fit_are_refused(kept, monkeypatch, problem, got):
    Thing(np.arange(3), 7.0).save(kept)
    monkeypatch.setitem(PROBLEMS, 7.0, problem)
    with refuses(str(kept), "unreadable", got=got, error=FileFormatError):
        Thing.load(kept)


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_after_a_failed_save_the_earlier_one_stands_alone(kept, monkeypatch, problem):
    def fail(file, **arrays):
        file.write(b"half")
        raise problem

    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    monkeypatch.setattr(np, "savez", fail)
    expected = FileFormatError if isinstance(problem, OSError) else KeyboardInterrupt
    with pytest.raises(expected, match="No space left" if isinstance(problem, OSError) else None):
        Thing(np.arange(3), 2.0).save(kept)
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
    assert [path.name for path in kept.parent.iterdir()] == ["kept"]


def test_an_earlier_one_comes_back_when_the_new_one_cannot_take_its_place(kept, monkeypatch):
    replace_path, calls = os.replace, []

    def fail(source, target):
        calls.append(target)
        if len(calls) == 2:  # the older one is aside
            assert not kept.exists()
            raise PermissionError(13, "Permission denied")
        return replace_path(source, target)

    monkeypatch.setattr("os.replace", fail)
    with refuses(str(kept), "unwritable", got="Permission denied", error=FileFormatError):
        Thing(np.arange(3), 2.0).save(kept)
    assert len(calls) == 3
    assert json.loads((kept / "thing.json").read_text())["x"] is None
    assert [path.name for path in kept.parent.iterdir()] == ["kept"]


@pytest.mark.parametrize("name", ["thing.json", "arrays.npz"])
@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink(path, path)]
)
def test_a_pipe_a_folder_or_a_device_is_not_waited_for(kept, name, make):
    (kept / name).unlink()
    make(kept / name)
    with refuses(str(kept), "unreadable", got=f"Thing.save wrote.*{name}", error=FileFormatError):
        Thing.load(kept)


def test_entries_that_share_their_bytes_are_refused(kept):
    """An archive of 1 MB whose directory names the same bytes a hundred times."""
    with zipfile.ZipFile(kept / "arrays.npz", "w") as archive:
        archive.writestr("y.npy", one_array()[:-24].replace(b"(3,)", b"(125000,)")[:128] + bytes(10**6))
        first = archive.infolist()[0]
        for i in range(100):
            other = copy(first)
            other.filename = f"y{i}.npy"
            archive.filelist.append(other)
            archive.NameToInfo[other.filename] = other
    with refuses(str(kept), "unreadable", got="needs 101 MB", error=FileFormatError):
        Thing.load(kept)
