"""What the formats of arrays keep: memory maps, types, text beside numbers; and which package each of them needs."""

import zipfile

import numpy as np
import pytest

import uqassay as uq
from uqassay.errors import FileFormatError, MissingDependencyError
from uqassay.predictions import file_formats

PACKAGES = {".safetensors": "safetensors", ".zarr": "zarr", ".pt": "torch", ".parquet": "pyarrow"}


def rows(*shape: int, dtype: type = np.float64) -> np.ndarray:
    return np.random.default_rng(sum(shape)).dirichlet(np.ones(shape[-1]), shape[:-1]).astype(dtype)


def is_mapped(array: np.ndarray) -> bool:
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


# -- memory maps ------------------------------------------------------------------------------------------------------


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
    monkeypatch.setattr(file_formats, "MAP_BYTES", 1)
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
    monkeypatch.setattr(file_formats, "MAP_BYTES", 1)
    np.testing.assert_array_equal(uq.load(tmp_path / "p.npz").probs, rows(3, 2))


def test_a_truncated_mapped_array_is_refused(tmp_path, monkeypatch, needs):
    needs("safetensors")
    monkeypatch.setattr(file_formats, "MAP_BYTES", 1)
    for name in ("p.npy", "p.safetensors"):
        uq.save(uq.Point(rows(300, 2)), tmp_path / name)
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[:-8])
        with pytest.raises(FileFormatError, match=rf"{name}: cannot be read"):
            uq.load(tmp_path / name)


def test_tensors_of_safetensors_are_mapped_when_large(tmp_path, needs, monkeypatch):
    needs("safetensors")
    prediction = uq.Members(rows(5, 3, 2, dtype=np.float32), ids=np.arange(5))
    uq.save(prediction, tmp_path / "p.safetensors")
    assert not is_mapped(uq.load(tmp_path / "p.safetensors").probs)
    monkeypatch.setattr(file_formats, "MAP_BYTES", 1)
    mapped = uq.load(tmp_path / "p.safetensors")
    assert is_mapped(mapped.probs)
    np.testing.assert_array_equal(mapped.probs, prediction.probs)


@pytest.mark.parametrize("extension", [".npz", ".safetensors", ".zarr", ".pt"])
def test_arrays_in_another_order_are_written_as_they_read(tmp_path, needs, extension):
    needs(*{PACKAGES.get(extension, "numpy")})
    flipped = np.asfortranarray(rows(6, 4, 3))[::-2]
    uq.save(uq.Members(np.moveaxis(flipped, 0, 1), member_axis=0), tmp_path / f"p{extension}")
    np.testing.assert_array_equal(uq.load(tmp_path / f"p{extension}").probs, flipped)


# -- what other writers leave -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", [".safetensors", ".pt"])
def test_bfloat16_becomes_float32_against_torch(tmp_path, needs, extension):
    needs("torch", "safetensors")
    import torch
    from safetensors.torch import save_file

    probs = torch.tensor(rows(50, 2), dtype=torch.float32).bfloat16()
    probs[:, 1] = (1 - probs[:, 0].float()).bfloat16()
    path = tmp_path / f"p{extension}"
    save_file({"probs": probs}, path) if extension == ".safetensors" else torch.save({"probs": probs}, path)
    back = uq.load(path, normalise=True)
    assert files_dtype(path) == "bfloat16"
    expected = probs.float().numpy().astype(np.float64)
    np.testing.assert_array_equal(back.probs, expected / expected.sum(axis=1, keepdims=True))


def files_dtype(path) -> str:
    from uqassay.predictions.files import inspect_file

    return inspect_file(path)["arrays"]["probs"]["dtype"]


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


def test_zarr_array_without_a_group(tmp_path, needs):
    needs("zarr")
    import zarr

    zarr.create_array(tmp_path / "p.zarr", data=rows(20, 3), chunks=(7, 3))
    np.testing.assert_array_equal(uq.load(tmp_path / "p.zarr").probs, rows(20, 3))


# -- missing packages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extension", "extra"), [(".safetensors", "files"), (".zarr", "files"), (".parquet", "files"), (".pt", "torch")]
)
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, extension, extra):
    def nothing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(file_formats, "import_module", nothing)
    (tmp_path / "p.zarr").mkdir()
    path = tmp_path / f"p{extension}"
    if extension != ".zarr":
        path.write_bytes(b"x")
    package = PACKAGES[extension]
    with pytest.raises(MissingDependencyError, match=rf"reading {extension} needs the package {package}.*\[{extra}\]"):
        uq.load(path)
    with pytest.raises(MissingDependencyError, match=rf"writing {extension} needs the package {package}.*\[{extra}\]"):
        uq.save(uq.Point(rows(2, 2)), tmp_path / f"new{extension}")
