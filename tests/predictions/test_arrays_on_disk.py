"""Arrays on disk: every format of arrays, what is mapped, headers that claim what is not there, limits on memory."""

import gc
import json
import os
import pickle
import subprocess
import sys
import warnings
import zipfile
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses
from tests.sample_files import is_mapped, rows

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions import arrays_on_disk, tables_on_disk
from uqassay.predictions.arrays_on_disk import (
    FREE_BYTES,
    GREATEST_BYTES,
    GREATEST_RATIO,
    VARIABLE,
    StoredArray,
    check_expansion,
    check_fits,
    mapped,
    quiet,
    split_text,
    text_array,
    text_from_json,
)
from uqassay.predictions.files import file_hash, inspect_file

# -- what readers return -------------------------------------------------------------------------------------------------


def test_text_and_numbers_come_apart():
    arrays = {"ids": np.array(["a", "b"]), "probs": np.asfortranarray(np.eye(3, dtype=">f4"))}
    numbers, text = split_text(arrays)
    assert text == {"ids": ["a", "b"]}
    assert numbers["probs"].dtype == np.dtype("f4").newbyteorder("=")
    assert numbers["probs"].flags.c_contiguous
    np.testing.assert_array_equal(numbers["probs"], np.eye(3))


@pytest.mark.parametrize("value", ["{", "[" * 10**5, [1, 2], [], {"a": 1}, None, "5", ["a", 1]])
def test_other_values_than_lists_of_text_are_passed_over(value):
    assert text_from_json({"notes": value}, 10**6) == {}


def test_lists_of_text_are_taken_from_json_and_as_they_are():
    for value in (["a", "ö"], json.dumps(["a", "ö"])):
        assert text_from_json({"class_names": value}, 10)["class_names"].read().tolist() == ["a", "ö"]


def test_an_array_in_memory_knows_shape_and_type():
    stored = StoredArray.in_memory(np.ones((2, 3), np.float32))
    assert (stored.shape, stored.dtype) == ((2, 3), "float32")


def test_warnings_of_readers_are_dropped(recwarn):
    import warnings

    with quiet():
        warnings.warn("of a reader", stacklevel=1)
    assert not recwarn.list


def test_the_last_of_overlapping_blocks_restores_the_filters_of_warnings():
    before = list(warnings.filters)
    first, second = quiet(), quiet()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    warnings.warn("inside the second block", stacklevel=1)
    second.__exit__(None, None, None)
    assert warnings.filters == before
    with pytest.warns(UserWarning, match="outside"):
        warnings.warn("outside", stacklevel=1)


# -- limits --------------------------------------------------------------------------------------------------------------


def test_a_stored_array_must_fit_exactly_to_the_byte():
    check_fits("a", (3, 4), 8, 96)
    with refuses("a", "truncated", got=r"shape \(3, 4\) needs 96 bytes and 95 bytes are there"):
        check_fits("a", (3, 4), 8, 95)


@pytest.mark.parametrize(
    ("stored", "limit"),
    [
        (0, FREE_BYTES),
        (FREE_BYTES // GREATEST_RATIO, FREE_BYTES),
        (10**7, GREATEST_RATIO * 10**7),
        (10**12, GREATEST_BYTES),
    ],
)
def test_what_a_compressed_array_may_take(stored, limit):
    check_expansion("a", (limit,), 1, stored)
    with refuses("a", "size", got=VARIABLE) as refusal:
        check_expansion("a", (limit + 1,), 1, stored)
    assert refusal.value.facts == {"needed": limit + 1, "limit": limit}


def test_the_variable_replaces_the_limits(monkeypatch):
    monkeypatch.setenv(VARIABLE, "100")
    check_expansion("a", (100,), 1, 10**9)
    with refuses("a", "size"):
        check_expansion("a", (101,), 1, 10**9)
    monkeypatch.setenv(VARIABLE, "1e9")
    with refuses(VARIABLE, "type", got="'1e9'"):
        check_expansion("a", (1,), 1, 1)


@pytest.mark.parametrize(("shape", "itemsize"), [((-1, 2), 8), ((2, -(2**70)), 8), ((10**18,), 0)])
def test_lengths_that_no_array_has(shape, itemsize):
    for check in (check_fits, check_expansion):
        with refuses("a", "unreadable"):
            check("a", shape, itemsize, 10**30)


def test_sizes_beyond_64_bits_do_not_overflow():
    with refuses("a", "size", got="e"):
        check_expansion("a", (2**62, 2**62, 4), 8, 10**6)
    check_fits("a", (0, 2**62), 8, 0)


def test_text_takes_the_memory_of_its_longest_value():
    assert text_array(["a", "bcd"], "a", 10).dtype == np.dtype("<U3")
    assert text_array([], "a", 0).shape == (0,)
    with refuses("a", "size"):
        text_array(["x"] * 1999 + ["y" * 10_000], "a", 12_000)


# -- NumPy ---------------------------------------------------------------------------------------------------------------


def test_npy_is_always_mapped_and_read_only(tmp_path):
    np.save(tmp_path / "p.npy", rows(4, 3, 2))
    prediction = uq.load(tmp_path / "p.npy")
    assert is_mapped(prediction.probs)
    assert not prediction.probs.flags.writeable
    assert is_mapped(uq.load(tmp_path / "p.npy", member_axis=0).probs)


@pytest.mark.parametrize("n_rows", [2**19 - 1, 2**20])  # 16 MB are 2^20 rows of two float64
@pytest.mark.parametrize("compressed", [False, True])
def test_large_arrays_of_an_uncompressed_npz_are_mapped(tmp_path, n_rows, compressed):
    probs = np.full((n_rows, 2), 0.5)
    probs[-1] = 0.25, 0.75
    (np.savez_compressed if compressed else np.savez)(tmp_path / "p.npz", names=np.array(["x"]), probs=probs)
    prediction = uq.load(tmp_path / "p.npz")
    assert is_mapped(prediction.probs) == (n_rows == 2**20 and not compressed)
    assert prediction.probs[-1].tolist() == [0.25, 0.75]
    assert prediction.mean_probs().sum() == n_rows


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, ">f4", ">f8"])
@pytest.mark.parametrize("comment", [b"", b"a comment at the end of the archive"])
def test_mapped_members_of_npz_equal_loaded_ones(tmp_path, monkeypatch, order, dtype, comment):
    first = np.array([[0.25, 0.75, 0.0], [0.5, 0.125, 0.375]], dtype=dtype, order=order)
    np.savez(tmp_path / "p.npz", lower=first, upper=np.ones((2, 3), order=order))
    with zipfile.ZipFile(tmp_path / "p.npz", "a") as archive:
        archive.comment = comment
    loaded = uq.load(tmp_path / "p.npz")
    monkeypatch.setattr(arrays_on_disk, "MAP_BYTES", 1)
    mapped = uq.load(tmp_path / "p.npz")
    assert (is_mapped(mapped.lower), is_mapped(loaded.lower)) == (True, False)
    for name in ("lower", "upper"):
        np.testing.assert_array_equal(getattr(mapped, name), getattr(loaded, name))
        assert getattr(mapped, name).dtype == getattr(loaded, name).dtype
    np.testing.assert_array_equal(mapped.lower, first)


def test_a_local_header_that_differs_from_the_directory_is_followed(tmp_path, monkeypatch):
    """Archivers may pad the local header (zipalign does); the data then begin later than the directory suggests."""
    np.save(tmp_path / "probs.npy", rows(3, 2))
    with zipfile.ZipFile(tmp_path / "p.npz", "w", zipfile.ZIP_STORED) as archive:
        info = zipfile.ZipInfo("probs.npy")
        info.extra = b"\x99\x99\x05\x00pads!"  # written to both places by zipfile, ...
        archive.writestr(info, (tmp_path / "probs.npy").read_bytes())
        info.extra = b""  # ... and here to the local header alone
    monkeypatch.setattr(arrays_on_disk, "MAP_BYTES", 1)
    np.testing.assert_array_equal(uq.load(tmp_path / "p.npz").probs, rows(3, 2))


def test_a_truncated_mapped_array_is_refused(tmp_path):
    uq.save(uq.Point(rows(300, 2)), tmp_path / "p.npy")
    whole = (tmp_path / "p.npy").read_bytes()
    (tmp_path / "p.npy").write_bytes(whole[:-8])
    with refuses("array", "truncated", got=r"shape \(300, 2\) needs 4,800", source="p.npy", error=FileFormatError):
        uq.load(tmp_path / "p.npy")


@pytest.mark.parametrize("extension", [".npy", ".npz"])
def test_a_file_that_is_truncated_while_it_is_mapped_ends_in_an_error(tmp_path, extension):
    """Reading a page of a map that the file no longer has would end the interpreter by a signal."""
    path = tmp_path / f"p{extension}"
    probs = np.full((2**20, 2), 0.5)
    np.save(path, probs) if extension == ".npy" else np.savez(path, probs=probs)
    program = f"""if True:
        import os, uqassay as uq
        prediction = uq.load({str(path)!r})
        os.truncate({str(path)!r}, 4096)
        for use in (prediction.mean_probs, prediction.labels, lambda: prediction[[0, 900_000]].mean_probs()):
            try:
                use()
                print("no error")
            except uq.errors.UqassayError as problem:
                print(problem.code)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.split()) == {"unreadable"}


def npy(header: str | bytes, *, version: bytes = b"\x01\x00", length: int | None = None, values: bytes = b"") -> bytes:
    text = header.encode() if isinstance(header, str) else header
    size = len(text) if length is None else length
    return b"\x93NUMPY" + version + size.to_bytes(2 if version == b"\x01\x00" else 4, "little") + text + values


def claim(shape: str, descr: str = "'<f8'") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"


@pytest.mark.parametrize("extension", [".npy", ".npz", "compressed"])
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (npy(claim("(8000000000000, 2)"), values=bytes(128)), "truncated"),
        (npy(claim("(4611686018427387904, 4)"), values=bytes(128)), "truncated"),  # 2^64 bytes, which overflow to 0
        (npy(claim("(-1, 2)"), values=bytes(128)), "unreadable"),
        (npy(claim("(True, 2)"), values=bytes(128)), "unreadable"),
        (npy(claim("(2, 2)", "'|S0'")), "unreadable"),
        (npy(claim("(9999999999, 2)", "'<U0'")), "unreadable"),
        (npy(claim("(2, 2)", "'|O'"), values=pickle.dumps([1, 2])), "pickle"),
        (npy(b"x", version=b"\x02\x00", length=2**32 - 1), "unreadable"),
        (npy(b"x", version=b"\x09\x00"), "unreadable"),
        (npy("(" * 9000), "unreadable"),
        (npy("{'descr': '\\\\d'}"), "unreadable"),
        (npy(""), "unreadable"),
        (b"\x93NUMPY", "unreadable"),
    ],
)
def test_no_header_is_believed(tmp_path, extension, content, code):
    path = tmp_path / ("p.npy" if extension == ".npy" else "p.npz")
    if extension == ".npy":
        path.write_bytes(content)
    else:
        kind = zipfile.ZIP_DEFLATED if extension == "compressed" else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", kind) as archive:
            archive.writestr("probs.npy", content)
    for use in (uq.load, lambda path: uq.load_labels(path, None if path.suffix == ".npy" else "probs")):
        with pytest.raises(FileFormatError) as caught:
            use(path)
        assert (caught.value.code, caught.value.source) == (code, path.name)


def test_a_small_archive_does_not_expand_into_gigabytes(tmp_path, monkeypatch):
    path = tmp_path / "p.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        header = npy(claim("(8388608, 2)"))  # 128 MB of zeros, more than any small file may take
        with archive.open("probs.npy", "w") as stream:
            stream.write(header)
            for _ in range(128):
                stream.write(bytes(2**20))
    assert path.stat().st_size < 2**20
    with refuses("probs", "size", got="134 MB", source="p.npz", error=FileFormatError):
        uq.load(path)
    monkeypatch.setenv("UQASSAY_MAX_ARRAY_BYTES", str(2**28))
    with refuses("probs", "sum", error=FileFormatError):
        uq.load(path)


def test_a_directory_that_claims_more_than_the_archive_holds(tmp_path):
    np.savez(tmp_path / "p.npz", probs=rows(8, 2))
    data = bytearray((tmp_path / "p.npz").read_bytes())
    at = data.index(b"PK\x01\x02")  # the directory: sizes stand 20 bytes further
    data[at + 20 : at + 28] = (2**31 - 1).to_bytes(4, "little") * 2
    (tmp_path / "p.npz").write_bytes(data)
    with pytest.raises(FileFormatError):
        uq.load(tmp_path / "p.npz")


def test_an_array_that_is_there_twice_is_refused(tmp_path):
    np.save(tmp_path / "probs.npy", rows(3, 2))
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive:
        archive.write(tmp_path / "probs.npy", "probs.npy")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.write(tmp_path / "probs.npy", "probs.npy")
    with refuses("probs", "duplicate", source="p.npz", error=FileFormatError):
        uq.load(tmp_path / "p.npz")


def test_one_array_without_a_name_is_read_as_in_npy(tmp_path):
    np.savez(tmp_path / "p.npz", [[0.25, 0.75]])
    assert uq.load(tmp_path / "p.npz").probs.tolist() == [[0.25, 0.75]]
    np.savez(tmp_path / "y.npz", [1, 0])
    assert uq.load_labels(tmp_path / "y.npz").tolist() == [1, 0]


# -- tensors -------------------------------------------------------------------------------------------------------------


def test_tensors_of_safetensors_are_mapped_when_large(tmp_path, needs, monkeypatch):
    needs("safetensors")
    prediction = uq.Members(rows(5, 3, 2, dtype=np.float32), ids=np.arange(5))
    uq.save(prediction, tmp_path / "p.safetensors")
    assert not is_mapped(uq.load(tmp_path / "p.safetensors").probs)
    monkeypatch.setattr(arrays_on_disk, "MAP_BYTES", 1)
    mapped = uq.load(tmp_path / "p.safetensors")
    assert is_mapped(mapped.probs)
    np.testing.assert_array_equal(mapped.probs, prediction.probs)


@pytest.mark.parametrize("extension", [".safetensors", ".pt"])
@pytest.mark.parametrize("key", ["probs", "logits"])
def test_bfloat16_is_taken_within_its_own_precision_against_torch(tmp_path, needs, extension, key):
    needs("torch", "safetensors")
    import torch
    from safetensors.torch import save_file

    probs = torch.softmax(torch.tensor(np.random.default_rng(0).normal(0, 2, (200, 10))), dim=1).bfloat16()
    assert (probs.double().sum(dim=1) - 1).abs().max() > 1e-3  # beyond what 16 bits of float16 would be allowed
    path = tmp_path / f"p{extension}"
    save_file({key: probs}, path) if extension == ".safetensors" else torch.save({key: probs}, path)
    assert inspect_file(path)["arrays"][key]["dtype"] == "bfloat16"
    if key == "probs":
        np.testing.assert_array_equal(uq.load(path).probs, probs.float().numpy())
    else:
        expected = torch.softmax(probs.double(), dim=1).numpy()
        np.testing.assert_allclose(uq.load(path).probs, expected, rtol=1e-12)


def test_pt_reads_bare_tensors_gradients_and_the_older_layout(tmp_path, needs):
    needs("torch")
    import torch

    probs = torch.tensor(rows(3, 2), requires_grad=True)
    torch.save(probs, tmp_path / "bare.pt")
    torch.save({"probs": probs, "classes": ["a", "b"]}, tmp_path / "older.pt", _use_new_zipfile_serialization=False)
    np.testing.assert_array_equal(uq.load(tmp_path / "bare.pt").probs, rows(3, 2))
    assert uq.load(tmp_path / "older.pt").class_names == ("a", "b")


def test_pt_takes_focal_sets_as_lists_of_indices(tmp_path, needs):
    needs("torch")
    import torch

    held = {"masses": torch.tensor([[0.5, 0.5]]), "focal_sets": [[0], [0, 1]], "class_names": ["a", "b"]}
    torch.save(held, tmp_path / "m.pt")
    assert uq.load(tmp_path / "m.pt").focal_sets.tolist() == [[True, False], [True, True]]


def test_a_tensor_that_repeats_its_memory_is_held_to_the_limit(tmp_path, needs):
    needs("torch")
    import torch

    torch.save({"probs": torch.full((1, 2), 0.5).expand(5, 2)}, tmp_path / "small.pt")
    assert uq.load(tmp_path / "small.pt").n_instances == 5
    torch.save({"probs": torch.full((1, 2), 0.5).expand(10**9, 2)}, tmp_path / "p.pt")
    with refuses("probs", "size", got="8.00 GB", source="p.pt", error=FileFormatError):
        uq.load(tmp_path / "p.pt")


@pytest.mark.parametrize("kind", ["sparse", "quantized", "complex", "object"])
def test_tensors_that_are_not_plain_are_refused(tmp_path, needs, kind):
    needs("torch")
    import torch

    half = torch.full((2, 2), 0.5)
    held = {
        "sparse": half.to_sparse(),
        "quantized": half.to(torch.float8_e4m3fn),
        "complex": half.to(torch.complex64),
        "object": {"a": half},
    }
    torch.save({"probs": held[kind]}, tmp_path / "p.pt")
    with pytest.raises(FileFormatError) as caught:
        uq.load(tmp_path / "p.pt")
    assert caught.value.source == "p.pt"


class Explosive:
    """Unpickling this would create a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return (open, (str(self.path), "w"))


def test_pt_goes_through_the_weights_only_loader(tmp_path, needs):
    needs("torch")
    import torch

    trap = tmp_path / "exploded"
    torch.save({"probs": torch.full((2, 2), 0.5), "extra": Explosive(trap)}, tmp_path / "a.pt")
    with refuses("file", "pickle", source="a.pt", error=FileFormatError):
        uq.load(tmp_path / "a.pt")
    assert not trap.exists()


def test_a_pickle_under_the_name_of_a_pt_file_is_refused_without_a_warning(tmp_path, needs):
    needs("torch")
    with (tmp_path / "a.pt").open("wb") as stream:
        pickle.dump({"probs": [[0.5, 0.5]], "extra": Explosive(tmp_path / "exploded")}, stream)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(FileFormatError) as caught:
            uq.load(tmp_path / "a.pt")
    assert caught.value.source == "a.pt"
    assert not told
    assert not (tmp_path / "exploded").exists()


def safetensors(header: dict, values: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + values


@pytest.mark.parametrize(
    "content",
    [
        safetensors({"probs": {"dtype": "F64", "shape": [10**12, 2], "data_offsets": [0, 32]}}, bytes(32)),
        safetensors({"probs": {"dtype": "F64", "shape": [2, 2], "data_offsets": [0, 2**40]}}, bytes(32)),
        safetensors({"probs": {"dtype": "F64", "shape": [2**62, 4], "data_offsets": [0, 0]}}, b""),
        safetensors({"probs": {"dtype": "X9", "shape": [2, 2], "data_offsets": [0, 32]}}, bytes(32)),
        (2**63).to_bytes(8, "little") + b"{}",
        (9000).to_bytes(8, "little") + b"[" * 9000,
        b"\x02",
    ],
)
def test_no_header_of_safetensors_is_believed(tmp_path, needs, content):
    needs("safetensors")
    (tmp_path / "p.safetensors").write_bytes(content)
    with refuses("file", "unreadable", source="p.safetensors", error=FileFormatError):
        uq.load(tmp_path / "p.safetensors")


# -- unpacking -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(arrays_on_disk, "UNPACKED_BYTES", 0)
    for module in (arrays_on_disk, tables_on_disk):
        monkeypatch.setattr(module, "PART_BYTES", 200)


def write_compressed(path, probs):
    np.savez_compressed(path, probs=probs)


def write_columns_first(path, probs):
    np.savez_compressed(path, probs=np.asfortranarray(probs))


def write_zarr(path, probs):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    group = zarr.open_group(path, mode="w")
    group.create_array("probs", shape=probs.shape, dtype=probs.dtype, chunks=(7, *probs.shape[1:]))[...] = probs


def write_tall_zarr(path, probs):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    zarr.open_group(path, mode="w").create_array("probs", data=probs, chunks=(1000, *(1 for _ in probs.shape[1:])))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize(
    ("suffix", "write"),
    [(".npz", write_compressed), (".npz", write_columns_first), (".zarr", write_zarr), (".zarr", write_tall_zarr)],
)
def test_members_against_reading_whole(suffix, write, dtype, tmp_path, random_generator, everything_is_large):
    probs = random_generator.dirichlet(np.ones(3), (50, 4)).astype(dtype)
    path = tmp_path / f"m{suffix}"
    write(path, probs)
    found = uq.load(path)
    np.testing.assert_array_equal(found.probs, probs)
    assert found.probs.dtype == dtype
    assert isinstance(found.probs, np.memmap)
    y = random_generator.integers(0, 3, 50)
    options = {"calibration": (), "n_draws": 5}
    columns = [uq.assay({"m": p}, y, **options)["m"].columns for p in (found, uq.Members(probs))]
    for name, values in columns[0].items():
        np.testing.assert_array_equal(values, columns[1][name], err_msg=name)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_row_groups_of_parquet(dtype, tmp_path, random_generator, everything_is_large):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    p = random_generator.dirichlet(np.ones(3), 50).astype(dtype)
    labels = random_generator.integers(0, 3, 50)
    table = arrow.table({f"proba_{k}": p[:, k] for k in range(3)} | {"label": labels})
    parquet.write_table(table, tmp_path / "p.parquet", row_group_size=9)
    found = uq.load(tmp_path / "p.parquet")
    np.testing.assert_array_equal(found.probs, p)
    assert found.probs.dtype == dtype
    np.testing.assert_array_equal(uq.load_labels(tmp_path / "p.parquet"), labels)


def test_missing_and_whole_numbers_of_parquet(tmp_path, everything_is_large):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = tmp_path / "p.parquet"
    parquet.write_table(arrow.table({"proba_0": [1, 0], "proba_1": [0, 1]}), path)
    assert uq.load(path).probs.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    parquet.write_table(arrow.table({"proba_0": [1, None], "proba_1": [0, 1]}), path)
    with refuses("proba_0", "missing", got="row 1", error=FileFormatError) as refusal:
        uq.load(path)
    assert refusal.value.facts["row"] == 1


def test_damaged_compressed_files_are_refused(tmp_path, random_generator, everything_is_large):
    path = tmp_path / "m.npz"
    write_compressed(path, random_generator.dirichlet(np.ones(3), 200))
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    path.write_bytes(raw)
    with refuses("file", "unreadable", error=FileFormatError):
        uq.load(path)


def test_refusals_of_room_and_of_parts_that_do_not_fill_the_shape(monkeypatch):
    with refuses("probs", "truncated"):
        mapped("probs", (3, 2), float, [np.zeros((2, 2))])
    monkeypatch.setattr("shutil.disk_usage", lambda _: namedtuple("Usage", "free")(10))
    with refuses("probs", "size", got="48 bytes.*10 bytes"):
        mapped("probs", (3, 2), float, [np.zeros((3, 2))])


# -- zarr ----------------------------------------------------------------------------------------------------------------


pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")


@pytest.fixture
def zarr_package(needs):
    needs("zarr")


@pytest.mark.usefixtures("zarr_package")
def test_zarr_array_without_a_group(tmp_path):
    import zarr

    zarr.create_array(tmp_path / "p.zarr", data=rows(20, 3), chunks=(7, 3))
    np.testing.assert_array_equal(uq.load(tmp_path / "p.zarr").probs, rows(20, 3))


@pytest.mark.usefixtures("zarr_package")
def test_groups_inside_a_group_are_named_and_not_read(tmp_path):
    import zarr

    zarr.open_group(tmp_path / "p.zarr", mode="w").create_group("run-1.zarr").create_array("probs", data=rows(4, 3))
    with refuses("keys", "choice", got="found run-1.zarr/", source="p.zarr", error=FileFormatError):
        uq.load(tmp_path / "p.zarr")
    with refuses("run-1.zarr/", "type", source="p.zarr", error=FileFormatError):
        uq.load_labels(tmp_path / "p.zarr", "run-1.zarr/")
    assert inspect_file(tmp_path / "p.zarr")["ignored"] == ["run-1.zarr/"]
    assert uq.load(tmp_path / "p.zarr" / "run-1.zarr").n_instances == 4


@pytest.mark.usefixtures("zarr_package")
def test_a_store_without_chunks_does_not_become_gigabytes(tmp_path):
    import zarr

    group = zarr.open_group(tmp_path / "p.zarr", mode="w")
    group.create_array("probs", shape=(200_000_000, 2), chunks=(1000, 2), dtype="f8", fill_value=0.5)
    with refuses("probs", "size", got="3.20 GB", source="p.zarr", error=FileFormatError):
        uq.load(tmp_path / "p.zarr")
    group.create_array("labels", shape=(2,), chunks=(10**10,), dtype="i8")
    with refuses("labels", "size", got="80.0 GB", source="p.zarr", error=FileFormatError):
        uq.load_labels(tmp_path / "p.zarr")


@pytest.mark.usefixtures("zarr_package")
def test_a_chunk_that_expands_beyond_its_array_is_refused(tmp_path):
    import zarr
    from numcodecs import Zstd

    zarr.open_group(tmp_path / "p.zarr", mode="w").create_array("probs", data=rows(4, 3), chunks=(4, 3))
    (chunk,) = [path for path in (tmp_path / "p.zarr" / "probs" / "c").rglob("*") if path.is_file()]
    chunk.write_bytes(Zstd().encode(bytes(2**27)))
    with refuses("probs", "size", got="134 MB", source="p.zarr", error=FileFormatError):
        uq.load(tmp_path / "p.zarr")


@pytest.mark.usefixtures("zarr_package")
@pytest.mark.parametrize("where", ["zarr.json", "probs/zarr.json", "probs/c/0/0", "beside"])
@pytest.mark.parametrize("what", ["pipe", "loop", "device"])
def test_a_pipe_or_a_broken_link_in_a_store_is_not_waited_for(tmp_path, where, what):
    path = tmp_path / "p.zarr"
    uq.save(uq.Point(rows(4, 3)), path)
    part = path / where
    part.unlink(missing_ok=True)
    if what == "pipe":
        os.mkfifo(part)
    else:
        part.symlink_to(part if what == "loop" else "/dev/zero")
    for use in (uq.load, uq.load_labels, inspect_file, file_hash):
        with refuses("path", "not-a-file", got=where, source="p.zarr", error=FileFormatError):
            use(path)


@pytest.mark.usefixtures("zarr_package")
@pytest.mark.parametrize("change", [{"shape": [-4, 3]}, {"shape": [2**70, 3]}, {"data_type": "object"}, {"shape": "x"}])
def test_broken_metadata_is_refused(tmp_path, change):
    uq.save(uq.Point(rows(4, 3)), tmp_path / "p.zarr")
    place = tmp_path / "p.zarr" / "probs" / "zarr.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | change))
    with pytest.raises(FileFormatError) as caught:
        uq.load(tmp_path / "p.zarr")
    assert caught.value.source == "p.zarr"


@pytest.mark.usefixtures("zarr_package")
@pytest.mark.parametrize("store", ["empty folder", "file"])
def test_what_is_no_zarr_store_is_refused(tmp_path, store):
    path = tmp_path / "hurt.zarr"
    path.mkdir() if store == "empty folder" else path.write_text("x")
    with pytest.raises(FileFormatError) as caught:
        uq.load(path)
    assert caught.value.source == "hurt.zarr"
    assert np.isin(caught.value.code, ["type", "unreadable"])


@pytest.mark.usefixtures("zarr_package")
def test_several_broken_arrays_leave_nothing_on_standard_error(tmp_path, capfd):
    path = tmp_path / "p.zarr"
    uq.save(uq.Members(rows(4, 2, 3), [0.5, 0.5], groups=[1, 1, 2, 2]), path, labels=[0, 1, 2, 0])
    for name in ("labels", "groups", "weights"):
        (path / name / "zarr.json").write_text("{")
    with pytest.raises(FileFormatError):
        uq.load(path)
    gc.collect()
    assert capfd.readouterr().err == ""
    (path / "labels" / "zarr.json").unlink()
    with pytest.raises(FileFormatError):
        uq.load(path)
    gc.collect()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("key", ["probs", "labels"])
def test_a_missing_chunk_is_refused_and_named(tmp_path, needs, key):
    needs("zarr")
    path = tmp_path / "p.zarr"
    uq.save(uq.Point(rows(4, 3)), path, labels=[0, 0, 0, 0])  # a whole chunk of the fill value is written all the same
    assert uq.load_labels(path).tolist() == [0, 0, 0, 0]
    (chunk,) = [part for part in (path / key / "c").rglob("*") if part.is_file()]
    chunk.unlink()
    with refuses(key, "truncated", got=f"{chunk.relative_to(path / key)} is missing, of 1", source="p.zarr"):
        (uq.load if key == "probs" else uq.load_labels)(path)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_remedy_for_a_missing_chunk_works(tmp_path, needs, zarr_format):
    needs("zarr")
    import zarr

    group = zarr.open_group(tmp_path / "p.zarr", mode="w", zarr_format=zarr_format)
    group.create_array("probs", data=rows(4, 3), chunks=(2, 2))
    labels, name = np.array([0, 0, 1, 2]), {2: "0", 3: "c/0"}[zarr_format]
    group.create_array("labels", data=labels, chunks=(2,))
    with refuses("labels", "truncated", got=f"{name} is missing, of 2"):
        uq.load_labels(tmp_path / "p.zarr")
    group.create_array("labels", data=labels, chunks=(2,), overwrite=True, config={"write_empty_chunks": True})
    assert uq.load_labels(tmp_path / "p.zarr").tolist() == [0, 0, 1, 2]
    assert uq.load(tmp_path / "p.zarr").probs.shape == (4, 3)
