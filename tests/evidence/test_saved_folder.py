"""The folder of an assay or a study: whole or not at all, nothing pickled, nothing damaged; contents in test_*_storage."""

import io
import json
import os
import zipfile
from copy import copy

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import FileFormatError, InputError
from uqassay.evidence.storage import SavedKind, checked_array, read_folder, save_folder
from uqassay.notes import Note, note_from_values, note_values

KIND = SavedKind("s/1", "Thing.save", "a", "thing")


def both(facts, arrays):
    return facts, arrays


@pytest.fixture
def kept(tmp_path):
    return save_folder(tmp_path / "new" / "kept", {"x": np.float64("nan")}, {"y": np.arange(300)}, KIND)


def test_facts_and_arrays_come_back(kept):
    facts, arrays = read_folder(kept, both, KIND)
    assert facts == {"schema": "s/1", "x": None}
    assert arrays["y"].tolist() == list(range(300))
    assert sorted(path.name for path in kept.iterdir()) == ["arrays.npz", "thing.json"]


def test_a_thing_is_replaced_by_a_thing_alone(kept, tmp_path):
    save_folder(kept, {"x": 2}, {}, KIND)
    assert read_folder(kept, both, KIND)[0]["x"] == 2
    with refuses(str(kept), "unwritable", got="does not hold a study", error=FileFormatError):
        save_folder(kept, {}, {}, SavedKind("s/1", "w"))
    file = tmp_path / "file"
    file.write_text("mine")
    for below in (file / "a", file / "deeper" / "a"):
        with refuses(str(below), "unwritable", got="cannot be written; .+", error=FileFormatError):
            save_folder(below, {}, {}, KIND)
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
        read_folder(kept, both, KIND)


@pytest.mark.parametrize("found", ["[]", "3", "null", "{}", '{"schema": "other/2"}', '{"schema": "s/0"}'])
def test_another_schema_is_refused(kept, found):
    (kept / "thing.json").write_text(found)
    with refuses(str(kept), "unreadable", got=r"schema is .*, this version reads 's/1'", error=FileFormatError):
        read_folder(kept, both, KIND)


@pytest.mark.parametrize(
    ("problem", "got"),
    [
        (KeyError("z"), "there is no entry 'z'"),
        (TypeError("z"), "TypeError in thing.json or arrays.npz"),
        (InputError("seeds", "must be whole", "got 'a'", "mend it", code="type"), "seeds must be whole; got 'a'"),
    ],
)
def test_contents_that_do_not_fit_are_refused(kept, problem, got):
    def fail(facts, arrays):
        raise problem

    with refuses(str(kept), "unreadable", got=got, error=FileFormatError):
        read_folder(kept, fail, KIND)


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_after_a_failed_save_the_earlier_one_stands_alone(kept, monkeypatch, problem):
    def fail(file, **arrays):
        file.write(b"half")
        raise problem

    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    monkeypatch.setattr(np, "savez", fail)
    expected = FileFormatError if isinstance(problem, OSError) else KeyboardInterrupt
    with pytest.raises(expected, match="No space left" if isinstance(problem, OSError) else None):
        save_folder(kept, {}, {}, KIND)
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
        save_folder(kept, {}, {}, KIND)
    assert len(calls) == 3
    assert json.loads((kept / "thing.json").read_text())["x"] is None
    assert [path.name for path in kept.parent.iterdir()] == ["kept"]


def test_notes_keep_their_facts():
    note = note_from_values(note_values(Note("groups", "3 groups", {"groups": 3})))
    assert (note.code, note.text, note.facts) == ("groups", "3 groups", {"groups": 3})


@pytest.mark.parametrize("name", ["thing.json", "arrays.npz"])
@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink(path, path)]
)
def test_a_pipe_a_folder_or_a_device_is_not_waited_for(kept, name, make):
    (kept / name).unlink()
    make(kept / name)
    with refuses(str(kept), "unreadable", got=f"Thing.save wrote.*{name}", error=FileFormatError):
        read_folder(kept, both, KIND)


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
        read_folder(kept, both, KIND)


def test_arrays_are_checked_by_kind_shape_and_range():
    arrays = {"a": np.array([[0.5, np.nan]])}
    assert checked_array(arrays, "a", "f", (1, None)) is arrays["a"]
    for name, kinds, shape, options, code in (
        ("b", "f", (1, 2), {}, "missing"),
        ("a", "iu", (1, 2), {}, "type"),
        ("a", "f", (2, 2), {}, "shape"),
        ("a", "f", (2,), {}, "shape"),
        ("a", "f", (1, 2), {"finite": True}, "finite"),
        ("a", "f", (1, 2), {"low": 0.6}, "range"),
        ("a", "f", (1, 2), {"high": 0.4}, "range"),
    ):
        with refuses(name, code):
            checked_array(arrays, name, kinds, shape, **options)
