"""Large arrays of compressed formats: the same values as when read whole, as a memory map that is then read in chunks."""

from collections import namedtuple

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions import file_numpy, file_parquet, file_unpacking, file_zarr
from uqassay.predictions.file_unpacking import mapped


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(file_unpacking, "UNPACKED_BYTES", 0)
    for module in (file_numpy, file_parquet, file_zarr):
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
    with refuses("probs", "finite", error=FileFormatError):
        uq.load(path)


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
