"""Writing files: whole or not at all, what a format cannot hold, and what it leaves out."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses
from tests.sample_files import PACKAGES, assert_same, every_kind, rows

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.notes import Note
from uqassay.predictions.file_opening import FORMATS
from uqassay.predictions.file_saving import LossyFormatWarning, what_is_lost


@pytest.mark.parametrize("extension", [".npz", ".csv", ".zarr"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, needs, monkeypatch, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    path = tmp_path / f"p{extension}"
    old = uq.Point(rows(3, 2))
    uq.save(old, path)

    def write_half(draft: Path, arrays: dict) -> None:
        if extension == ".zarr":
            draft.mkdir()
            (draft / "half").write_bytes(b"half")
        else:
            draft.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setitem(FORMATS, extension, type(FORMATS[extension])(FORMATS[extension].read, write_half))
    with refuses("file", "unwritable", got="no space left", source=path.name, error=FileFormatError):
        uq.save(uq.Point(rows(4, 2)), path)
    assert [part.name for part in tmp_path.iterdir()] == [path.name]
    assert_same(old, uq.load(path))


def test_a_source_that_was_truncated_while_it_is_mapped_is_refused(tmp_path, needs):
    """Reading a page of a map that the file no longer has would end the interpreter by a signal."""
    needs(*{PACKAGES.get(extension, "numpy") for extension in FORMATS})
    program = f"""if True:
        import os, numpy as np, uqassay as uq
        os.chdir({str(tmp_path)!r})
        for extension in {tuple(FORMATS)}:
            np.save("source.npy", np.full((20_000, 10), 0.1))
            prediction = uq.load("source.npy")
            os.truncate("source.npy", 5000)
            try:
                uq.save(prediction, f"target{{extension}}")
            except uq.errors.FileFormatError as problem:
                print(extension, problem.source, problem.parameter, problem.code)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    refused = "".join(f"{extension} source.npy file unreadable\n" for extension in FORMATS)
    assert (done.returncode, done.stdout, done.stderr) == (0, refused, "")
    assert [part.name for part in tmp_path.iterdir()] == ["source.npy"]


def test_a_folder_that_is_no_zarr_store_is_not_replaced(tmp_path, needs):
    needs("zarr")
    (tmp_path / "thesis.zarr").mkdir()
    (tmp_path / "thesis.zarr" / "chapter").write_text("1")
    with refuses("path", "conflict", source="thesis.zarr", error=FileFormatError):
        uq.save(uq.Point(rows(2, 2)), tmp_path / "thesis.zarr")
    assert (tmp_path / "thesis.zarr" / "chapter").read_text() == "1"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("extension", [".npz", ".zarr"])
def test_a_symbolic_link_stays_and_what_it_leads_to_is_replaced(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    (tmp_path / "store").mkdir()
    real, link = tmp_path / "store" / f"real{extension}", tmp_path / f"link{extension}"
    link.symlink_to(real)
    for n in (3, 4):  # a link that leads nowhere yet, and one to a file
        uq.save(uq.Point(rows(n, 2)), link)
        assert link.is_symlink()
        assert uq.load(real).n_instances == n
    assert [part.name for part in real.parent.iterdir()] == [real.name]


def test_a_pipe_is_neither_replaced_nor_waited_for(tmp_path):
    os.mkfifo(tmp_path / "p.npz")
    for use in (lambda path: uq.save(uq.Point(rows(3, 2)), path), uq.load, uq.load_labels):
        with refuses("path", "not-a-file", source="p.npz", error=FileFormatError):
            use(tmp_path / "p.npz")
    assert (tmp_path / "p.npz").is_fifo()


@pytest.mark.parametrize("extension", [".npz", ".safetensors"])
def test_permissions_are_those_of_any_new_file(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    (tmp_path / "plain").touch()
    uq.save(uq.Point(rows(2, 2)), tmp_path / f"p{extension}")
    assert (tmp_path / f"p{extension}").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize(
    ("kind", "name", "parameter", "code", "got"),
    [
        ("dirichlet", "p.npy", "prediction", "format", "alpha, class_names"),
        ("point", "p.npy", "prediction", "format", "class_names, groups and ids"),
        ("members", "p.csv", "prediction", "format", "5 members"),
        ("vertices", "p.jsonl", "prediction", "format", "vertices"),
        ("point", "p.pickle", "extension", "pickle", "pickle"),
        ("point", "none/p.npz", "folder", "missing", "none"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_before_anything_is_written(tmp_path, kind, name, parameter, code, got):
    with refuses(parameter, code, got=got, source=name.rpartition("/")[2], error=FileFormatError):
        uq.save(every_kind()[kind], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_labels_of_another_length_are_not_stored(tmp_path):
    with refuses("labels", "mismatch", got="got 2", source="p.npz", error=FileFormatError):
        uq.save(uq.Point(rows(3, 2)), tmp_path / "p.npz", labels=[0, 1])
    with refuses("prediction", "type", got="got ndarray"):
        uq.save(rows(3, 2), tmp_path / "p.npz")


@pytest.mark.parametrize("extension", [".npy", ".csv", ".parquet", ".jsonl"])
def test_what_a_format_leaves_out_is_said(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    path = tmp_path / f"p{extension}"
    prediction = uq.Point.from_logits([[0.0, 1.0], [2.0, 0.0]], notes=(Note("repaired", "2 rows repaired"),))
    lost = what_is_lost(prediction, path)
    assert [note.code for note in lost] == ["notes-lost", "log-partition-lost"]
    with pytest.warns(LossyFormatWarning) as told:
        uq.save(prediction, path)
    assert [str(warning.message) for warning in told] == [
        f"p{extension}: {note}; save it as .npz to keep them." for note in lost
    ]
    assert what_is_lost(prediction, "p.npz") == what_is_lost(uq.Point([[0.5, 0.5]]), path) == ()
    uq.save(uq.load(path), path)  # nothing is left to lose


def test_notes_keep_their_codes_and_older_files_their_texts(tmp_path):
    notes = (Note("repaired", "2 rows repaired"), Note("subsampled", "3 of 9 members"))
    uq.save(uq.Point(rows(2, 2), notes=notes), tmp_path / "p.npz")
    assert uq.load(tmp_path / "p.npz").notes == notes
    np.savez(tmp_path / "old.npz", probs=rows(2, 2), notes=np.array(["2 rows repaired"]))
    assert uq.load(tmp_path / "old.npz").notes == (Note("stated", "2 rows repaired"),)
    np.savez(tmp_path / "odd.npz", probs=rows(2, 2), notes=np.array(["x"]), note_codes=np.array(["a", "b"]))
    with refuses("note_codes", "mismatch", source="odd.npz", error=FileFormatError):
        uq.load(tmp_path / "odd.npz")


def test_an_unknown_extension_to_write_is_answered_with_those_that_exist(tmp_path):
    with refuses("extension", "choice", got=r"\.npz, .*\.pt; got '\.txt'; end the name", error=FileFormatError):
        uq.save(uq.Point(rows(2, 2)), tmp_path / "p.txt")
