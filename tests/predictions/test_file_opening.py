"""Files that are damaged, dangerous or not what they seem end in one sentence; nothing in them is ever run."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.refusals import refuses
from tests.sample_files import PACKAGES, rows

import uqassay as uq
from uqassay import _optional
from uqassay.errors import FileFormatError, MissingDependencyError
from uqassay.predictions.file_opening import FORMATS, open_contents


def one_sentence(message: str) -> bool:
    return message.endswith(".") and ". " not in message and "\n" not in message


@pytest.mark.parametrize("extension", sorted(set(FORMATS) - {".zarr"}))
@pytest.mark.parametrize("damage", ["truncated", "empty", "text", "bytes", "missing", "folder"])
def test_damaged_files_end_in_one_sentence_that_names_them(tmp_path, needs, extension, damage):
    needs(*{PACKAGES.get(extension, "numpy")})
    path = tmp_path / f"hurt{extension}"
    uq.save(uq.Point(rows(500, 4)), path)
    whole = path.read_bytes()
    contents = {
        "truncated": whole[: len(whole) // 2 - 3],
        "empty": b"",
        "text": b"hello, world\n",
        "bytes": bytes(range(256)) * 8,
    }
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "missing":
        path.write_bytes(contents[damage])
    for read in (uq.load, uq.load_labels):
        with pytest.raises(FileFormatError) as caught:
            read(path)
        assert caught.value.source == path.name
        assert one_sentence(str(caught.value)), str(caught.value)


def test_a_flipped_byte_in_a_compressed_file_is_found(tmp_path):
    np.savez_compressed(tmp_path / "p.npz", probs=rows(500, 4))
    data = bytearray((tmp_path / "p.npz").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "p.npz").write_bytes(data)
    with refuses("file", "unreadable", source="p.npz", error=FileFormatError):
        uq.load(tmp_path / "p.npz")


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    extension=st.sampled_from([".npz", ".npy", ".csv"]),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=3),
)
def test_changed_bytes_give_a_prediction_or_one_clear_error(tmp_path, extension, changes):
    path = tmp_path / f"hurt{extension}"
    uq.save(uq.Point(rows(5, 3)), path)
    data = bytearray(path.read_bytes())
    for place, value in changes:
        data[int(place * len(data))] = value
    path.unlink()
    path.write_bytes(data)
    try:
        told = f"hurt{extension}: {uq.load(path).n_classes} classes."
    except FileFormatError as problem:
        told = str(problem)
    assert told.startswith(path.name)
    assert told.endswith(".")
    assert "\n" not in told


class Explosive:
    """Unpickling this would create a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return (open, (str(self.path), "w"))


def test_nothing_is_ever_unpickled(tmp_path, needs):
    trap = tmp_path / "exploded"
    objects = np.array([[Explosive(trap), 1]], dtype=object)
    np.savez(tmp_path / "a.npz", probs=objects, labels=objects)
    np.save(tmp_path / "a.npy", objects)
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Explosive(trap)))
    (tmp_path / "c.pkl").write_bytes(pickle.dumps(Explosive(trap)))
    (tmp_path / "d.joblib").write_bytes(pickle.dumps(Explosive(trap)))
    for name, parameter, code in [
        ("a.npz", None, "pickle"),
        ("a.npy", "array", "pickle"),
        ("b.npy", "array", "unreadable"),
        ("c.pkl", "extension", "pickle"),
        ("d.joblib", "extension", "pickle"),
    ]:
        for read, key in ((uq.load, "probs"), (uq.load_labels, "labels")):
            with refuses(parameter or key, code, source=name, error=FileFormatError):
                read(tmp_path / name)
    assert not trap.exists()


def test_objects_under_keys_that_are_not_needed_do_not_stop_the_rest(tmp_path):
    np.savez(tmp_path / "p.npz", probs=rows(2, 2), extra=np.array([{}, None], dtype=object))
    assert uq.load(tmp_path / "p.npz").n_instances == 2


@pytest.mark.parametrize(("name", "found"), [("p.bin", "'.bin'"), ("p", "'none'")])
def test_unknown_extensions_are_refused(tmp_path, name, found):
    (tmp_path / name).write_bytes(b"x")
    with refuses("extension", "choice", got=rf"\.jsonl.*got {found}", source=name, error=FileFormatError):
        uq.load(tmp_path / name)


def test_one_axis_is_refused_with_both_remedies(tmp_path):
    np.save(tmp_path / "p.npy", np.array([0.1, 0.9]))
    with refuses("probs", "shape", got="load_labels.*from_binary", source="p.npy", error=FileFormatError):
        uq.load(tmp_path / "p.npy")


def test_broken_rules_of_the_kind_name_file_row_and_remedy(tmp_path):
    np.savez(tmp_path / "p.npz", probs=[[0.5, 0.5], [0.5, 0.6]])
    with refuses("probs", "sum", got="row 1 sums to 1.1; .*normalise=True", source="p.npz", error=FileFormatError):
        uq.load(tmp_path / "p.npz")


def test_a_link_that_leads_to_itself(tmp_path):
    (tmp_path / "p.npz").symlink_to(tmp_path / "p.npz")
    with refuses("path", "missing", got="symbolic link", source="p.npz", error=FileFormatError):
        uq.load(tmp_path / "p.npz")


def test_names_in_a_file_do_not_reach_the_terminal_as_they_are(tmp_path):
    np.savez(tmp_path / "p.npz", **{"a\x1b[31m\nb\u202ec": rows(2, 2)})
    with pytest.raises(FileFormatError) as caught:
        uq.load(tmp_path / "p.npz")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("extension", [".npz", ".safetensors", ".zarr", ".pt"])
def test_arrays_in_another_order_are_written_as_they_read(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    flipped = np.asfortranarray(rows(6, 4, 3))[::-2]
    uq.save(uq.Members(np.moveaxis(flipped, 0, 1), member_axis=0), tmp_path / f"p{extension}")
    np.testing.assert_array_equal(uq.load(tmp_path / f"p{extension}").probs, flipped)


@pytest.mark.parametrize(
    ("extension", "extra"), [(".safetensors", "files"), (".zarr", "files"), (".parquet", "files"), (".pt", "torch")]
)
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, extension, extra):
    def nothing(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(_optional, "import_module", nothing)
    (tmp_path / "p.zarr").mkdir()
    path = tmp_path / f"p{extension}"
    if extension != ".zarr":
        path.write_bytes(b"x")
    package = PACKAGES[extension]
    for doing, use in (
        ("reading", uq.load),
        ("writing", lambda _: uq.save(uq.Point(rows(2, 2)), tmp_path / f"new{extension}")),
    ):
        with refuses(package, "package", got=rf"{doing} {extension}.*\[{extra}\]", error=MissingDependencyError):
            use(path)


def test_a_wrong_name_is_answered_by_the_files_that_are_there(tmp_path):
    for name in ("ensemble.npz", "ensemble.npy", "labels.npy"):
        (tmp_path / name).touch()
    for wrong, remedy in (
        ("ensemble", "did you mean ensemble.npy or ensemble.npz"),
        ("ensembel.npz", "did you mean ensemble.npz"),
        ("zzz.npz", "check the path"),
    ):
        with pytest.raises(FileFormatError) as caught:
            open_contents(tmp_path / wrong)
        assert caught.value.code == "missing"
        assert remedy in caught.value.remedy


def test_a_folder_is_answered_by_a_file_in_it(tmp_path):
    with pytest.raises(FileFormatError, match="it is a folder; give a file"):
        open_contents(tmp_path)
    (tmp_path / "ensemble.npz").touch()
    with pytest.raises(FileFormatError, match=r"it is a folder; give the files in it, such as .*ensemble\.npz"):
        open_contents(tmp_path)
    (tmp_path / "assay.json").touch()
    with pytest.raises(FileFormatError, match="give a kept assay alone"):
        open_contents(tmp_path)


@pytest.mark.parametrize(
    ("suffix", "remedy"), [(".txt", "rename it to .csv"), (".json", "one object to a line"), (".tsv", "tabs")]
)
def test_formats_that_are_nearly_right_are_answered_by_the_conversion(tmp_path, suffix, remedy):
    path = (tmp_path / "p").with_suffix(suffix)
    path.write_text("0")
    with pytest.raises(FileFormatError) as caught:
        open_contents(path)
    assert remedy in caught.value.remedy
