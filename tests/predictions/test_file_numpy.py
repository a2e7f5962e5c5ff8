"""Arrays of NumPy: what is mapped, and headers that claim what is not there."""

import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from tests.refusals import refuses
from tests.sample_files import is_mapped, rows

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions import file_numpy


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
    monkeypatch.setattr(file_numpy, "MAP_BYTES", 1)
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
    monkeypatch.setattr(file_numpy, "MAP_BYTES", 1)
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
