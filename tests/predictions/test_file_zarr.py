"""Zarr stores."""

import gc
import json
import os

import numpy as np
import pytest
from tests.refusals import refuses
from tests.sample_files import rows

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions.files import file_hash, inspect_file

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")


@pytest.fixture(autouse=True)
def _package(needs):
    needs("zarr")


def test_zarr_array_without_a_group(tmp_path):
    import zarr

    zarr.create_array(tmp_path / "p.zarr", data=rows(20, 3), chunks=(7, 3))
    np.testing.assert_array_equal(uq.load(tmp_path / "p.zarr").probs, rows(20, 3))


def test_groups_inside_a_group_are_named_and_not_read(tmp_path):
    import zarr

    zarr.open_group(tmp_path / "p.zarr", mode="w").create_group("run-1.zarr").create_array("probs", data=rows(4, 3))
    with refuses("keys", "choice", got="found run-1.zarr/", source="p.zarr", error=FileFormatError):
        uq.load(tmp_path / "p.zarr")
    with refuses("run-1.zarr/", "type", source="p.zarr", error=FileFormatError):
        uq.load_labels(tmp_path / "p.zarr", "run-1.zarr/")
    assert inspect_file(tmp_path / "p.zarr")["ignored"] == ["run-1.zarr/"]
    assert uq.load(tmp_path / "p.zarr" / "run-1.zarr").n_instances == 4


def test_a_store_without_chunks_does_not_become_gigabytes(tmp_path):
    import zarr

    group = zarr.open_group(tmp_path / "p.zarr", mode="w")
    group.create_array("probs", shape=(200_000_000, 2), chunks=(1000, 2), dtype="f8", fill_value=0.5)
    with refuses("probs", "size", got="3.20 GB", source="p.zarr", error=FileFormatError):
        uq.load(tmp_path / "p.zarr")
    group.create_array("labels", shape=(2,), chunks=(10**10,), dtype="i8")
    with refuses("labels", "size", got="80.0 GB", source="p.zarr", error=FileFormatError):
        uq.load_labels(tmp_path / "p.zarr")


def test_a_chunk_that_expands_beyond_its_array_is_refused(tmp_path):
    import zarr
    from numcodecs import Zstd

    zarr.open_group(tmp_path / "p.zarr", mode="w").create_array("probs", data=rows(4, 3), chunks=(4, 3))
    (chunk,) = [path for path in (tmp_path / "p.zarr" / "probs" / "c").rglob("*") if path.is_file()]
    chunk.write_bytes(Zstd().encode(bytes(2**27)))
    with refuses("probs", "size", got="134 MB", source="p.zarr", error=FileFormatError):
        uq.load(tmp_path / "p.zarr")


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


@pytest.mark.parametrize("change", [{"shape": [-4, 3]}, {"shape": [2**70, 3]}, {"data_type": "object"}, {"shape": "x"}])
def test_broken_metadata_is_refused(tmp_path, change):
    uq.save(uq.Point(rows(4, 3)), tmp_path / "p.zarr")
    place = tmp_path / "p.zarr" / "probs" / "zarr.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | change))
    with pytest.raises(FileFormatError) as caught:
        uq.load(tmp_path / "p.zarr")
    assert caught.value.source == "p.zarr"


@pytest.mark.parametrize("store", ["empty folder", "file"])
def test_what_is_no_zarr_store_is_refused(tmp_path, store):
    path = tmp_path / "hurt.zarr"
    path.mkdir() if store == "empty folder" else path.write_text("x")
    with pytest.raises(FileFormatError) as caught:
        uq.load(path)
    assert caught.value.source == "hurt.zarr"
    assert np.isin(caught.value.code, ["type", "unreadable"])


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
def test_a_missing_chunk_is_refused_and_named(tmp_path, key):
    path = tmp_path / "p.zarr"
    uq.save(uq.Point(rows(4, 3)), path, labels=[0, 0, 0, 0])  # a whole chunk of the fill value is written all the same
    assert uq.load_labels(path).tolist() == [0, 0, 0, 0]
    (chunk,) = [part for part in (path / key / "c").rglob("*") if part.is_file()]
    chunk.unlink()
    with refuses(key, "truncated", got=f"{chunk.relative_to(path / key)} is missing, of 1", source="p.zarr"):
        (uq.load if key == "probs" else uq.load_labels)(path)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_remedy_for_a_missing_chunk_works(tmp_path, zarr_format):
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
