"""Files that are damaged, dangerous or not what they seem end in one sentence; nothing in them is ever run."""

import pickle
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions.file_opening import FORMATS

PACKAGES = {".safetensors": "safetensors", ".zarr": "zarr", ".pt": "torch", ".parquet": "pyarrow"}


def rows(n: int, n_classes: int) -> np.ndarray:
    return np.random.default_rng(n).dirichlet(np.ones(n_classes), n)


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
        with pytest.raises(FileFormatError, match=rf"^hurt\{extension}: ") as caught:
            read(path)
        assert one_sentence(str(caught.value)), str(caught.value)


def test_a_flipped_byte_in_a_compressed_file_is_found(tmp_path):
    np.savez_compressed(tmp_path / "p.npz", probs=rows(500, 4))
    data = bytearray((tmp_path / "p.npz").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "p.npz").write_bytes(data)
    with refuses("p.npz", "undefined", error=FileFormatError):
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


def test_a_header_that_claims_more_than_there_is_sets_no_memory_aside(tmp_path):
    np.save(tmp_path / "probs.npy", rows(8, 2))
    claimed = (tmp_path / "probs.npy").read_bytes().replace(b"(8, 2)", b"(8" + b"0" * 12 + b", 2)", 1)
    claimed = claimed.replace(b" " * 12 + b"\n", b"\n", 1)  # the header keeps its length
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive:
        archive.writestr("probs.npy", claimed)
    (tmp_path / "p.npy").write_bytes(claimed)
    with refuses(
        "p.npz",
        "undefined",
        got=r"probs.npy: its size does not fit its shape \(8000000000000, 2\)",
        error=FileFormatError,
    ):
        uq.load(tmp_path / "p.npz")
    with refuses("p.npy", "undefined", error=FileFormatError):
        uq.load(tmp_path / "p.npy")


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
    for name, match in [
        ("a.npz", "a.npz: .*holds pickled Python objects, which are never loaded; save numbers or text"),
        ("a.npy", "a.npy: .*holds pickled Python objects, which are never loaded; save numbers or text"),
        ("b.npy", "b.npy: cannot be read"),
        ("c.pkl", "c.pkl: extension: .pkl files are pickles, which can run any code .* save the arrays as .npz"),
        ("d.joblib", "d.joblib: .*are pickles"),
    ]:
        for read in (uq.load, uq.load_labels):
            with pytest.raises(FileFormatError, match=match):
                read(tmp_path / name)
    assert not trap.exists()


def test_pt_goes_through_the_weights_only_loader(tmp_path, needs):
    needs("torch")
    import torch

    trap = tmp_path / "exploded"
    torch.save({"probs": torch.full((2, 2), 0.5), "extra": Explosive(trap)}, tmp_path / "a.pt")
    with refuses("a.pt", "undefined", error=FileFormatError):
        uq.load(tmp_path / "a.pt")
    assert not trap.exists()


def test_a_pickle_under_the_name_of_a_pt_file_is_refused_without_a_warning(tmp_path, needs):
    needs("torch")
    with (tmp_path / "a.pt").open("wb") as stream:
        pickle.dump({"probs": [[0.5, 0.5]], "extra": Explosive(tmp_path / "exploded")}, stream)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with refuses("a.pt", "undefined", error=FileFormatError):
            uq.load(tmp_path / "a.pt")
    assert not told
    assert not (tmp_path / "exploded").exists()


def test_objects_under_keys_that_are_not_needed_do_not_stop_the_rest(tmp_path):
    np.savez(tmp_path / "p.npz", probs=rows(2, 2), extra=np.array([{}, None], dtype=object))
    assert uq.load(tmp_path / "p.npz").n_instances == 2


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("p.bin", "p.bin: extension: must be one of .npz, .npy, .csv, .parquet, .safetensors, .zarr, .pt; got '.bin'"),
        ("p", "p: extension: must be one of .*; got 'none'"),
    ],
)
def test_unknown_extensions_are_refused(tmp_path, name, match):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(FileFormatError, match=match):
        uq.load(tmp_path / name)


def test_one_axis_is_refused_with_both_remedies(tmp_path):
    np.save(tmp_path / "p.npy", np.array([0.1, 0.9]))
    with refuses("p.npy", "undefined", error=FileFormatError):
        uq.load(tmp_path / "p.npy")


def test_broken_rules_of_the_kind_name_file_row_and_remedy(tmp_path):
    np.savez(tmp_path / "p.npz", probs=[[0.5, 0.5], [0.5, 0.6]])
    with refuses(
        "p.npz",
        "undefined",
        got="probs: each row must sum to 1 .* row 1 sums to 1.1; pass normalise=True",
        error=FileFormatError,
    ):
        uq.load(tmp_path / "p.npz")


@pytest.mark.parametrize("store", ["empty folder", "file"])
def test_what_is_no_zarr_store_is_refused(tmp_path, needs, store):
    needs("zarr")
    path = tmp_path / "hurt.zarr"
    path.mkdir() if store == "empty folder" else path.write_text("x")
    with refuses("hurt.zarr", "undefined", error=FileFormatError) as caught:
        uq.load(path)
    assert one_sentence(str(caught.value))
