"""CIFAR in its binary version, from tiny archives in the published form."""

import hashlib
import io
import tarfile
from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.lab.datasets import images as cifar
from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets.images import read_cifar_records


def made(name, n=20, seed=0):
    """The files of an archive, with the labels and images they should give."""
    g = np.random.default_rng(seed)
    layout = cifar.LAYOUTS[name]
    files, truth = {}, {}
    for file in (*layout.train, layout.test):
        labels = g.integers(0, layout.n_classes, n)
        pixels = g.integers(0, 256, (n, 3072), dtype=np.uint8)
        before = [g.integers(0, 20, n)] if layout.n_labels == 2 else []
        rows = np.column_stack([*before, labels]).astype(np.uint8)
        files[file] = np.hstack([rows, pixels]).tobytes()
        truth[file] = labels, pixels
    files[layout.names] = "".join(f"class{k}\n" for k in range(layout.n_classes)).encode() + b"\n"
    return files, truth


def pack(path, files, inside):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, data in {"readme.html": b"more", **files}.items():
            member = tarfile.TarInfo(f"{inside}/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def trust(monkeypatch, name, path):
    digest = f"md5:{hashlib.md5(path.read_bytes()).hexdigest()}"
    monkeypatch.setitem(cifar.LAYOUTS, name, replace(cifar.LAYOUTS[name], digest=digest, size=path.stat().st_size))


@pytest.mark.parametrize("name", ["cifar-10", "cifar-100"])
@pytest.mark.parametrize("how", ["archive", "folder", "download"])
def test_all_images_in_their_order(name, how, own_cache, server, monkeypatch):
    files, truth = made(name)
    layout = cifar.LAYOUTS[name]
    if how == "folder":
        for file, data in files.items():
            path = own_cache / name / layout.inside / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    else:
        home = own_cache / name if how == "archive" else server.folder
        trust(monkeypatch, name, pack(home / f"{name}-binary.tar.gz", files, layout.inside))
        monkeypatch.setattr(cifar, "PAGE", server.address)
    data = load_dataset(name)
    labels = np.concatenate([truth[f][0] for f in layout.train])
    pixels = np.concatenate([truth[f][1] for f in layout.train])
    np.testing.assert_array_equal(data.y_train, labels)
    np.testing.assert_allclose(data.X_train.reshape(len(labels), -1) * 255, pixels, atol=1e-4)
    np.testing.assert_array_equal(data.y_test, truth[layout.test][0])
    assert data.X_test.shape == (20, 3, 32, 32)
    # the published layout: 1,024 bytes of red, row by row, then green, then blue
    assert data.X_test[3, 1, 2, 5] * 255 == pytest.approx(truth[layout.test][1][3, 1024 + 2 * 32 + 5])
    assert data.class_names[:2] == ("class0", "class1")
    assert len(server.asked) == (how == "download")


def test_the_published_checksums():
    assert cifar.LAYOUTS["cifar-10"].digest == "md5:c32a1d4ab5d03f1284b67883e8d87530"
    assert cifar.LAYOUTS["cifar-100"].digest == "md5:03b5dce01913d631647c71ecec9e9cb8"


def test_records_that_do_not_fit():
    for data in (b"", bytes(3072), bytes(3073 * 2 - 1)):
        with refuses("file", "size", got=f"3073 bytes; got {len(data)}", source="f.bin", error=FileFormatError):
            read_cifar_records(data, "f.bin", 10)
    with refuses("labels", "range", got="got 10", source="f.bin", error=FileFormatError):
        read_cifar_records(b"\x0a" + bytes(3072), "f.bin", 10)


def test_the_pickled_version_is_not_read(own_cache, monkeypatch):
    path = pack(
        own_cache / "cifar-10" / "cifar-10-binary.tar.gz", {"data_batch_1": b"\x80\x04."}, "cifar-10-batches-py"
    )
    trust(monkeypatch, "cifar-10", path)
    with refuses("archive", "missing", got=" perhaps the pickled version", source="cifar-10-binary.tar.gz"):
        load_dataset("cifar-10")


def test_a_truncated_archive_and_a_link_in_it(own_cache, monkeypatch):
    files, _ = made("cifar-10")
    path = pack(own_cache / "cifar-10" / "cifar-10-binary.tar.gz", files, "cifar-10-batches-bin")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    trust(monkeypatch, "cifar-10", path)
    with refuses("file", "unreadable", source="cifar-10-binary.tar.gz"):
        load_dataset("cifar-10")
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("cifar-10-batches-bin/test_batch.bin")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(member)
    trust(monkeypatch, "cifar-10", path)
    with refuses("archive", "missing", source="cifar-10-binary.tar.gz"):
        load_dataset("cifar-10")


def test_a_file_that_is_too_long_is_not_read(own_cache, monkeypatch):
    files, _ = made("cifar-10")
    path = pack(own_cache / "cifar-10" / "cifar-10-binary.tar.gz", files, "cifar-10-batches-bin")
    trust(monkeypatch, "cifar-10", path)
    monkeypatch.setitem(cifar.LAYOUTS, "cifar-10", replace(cifar.LAYOUTS["cifar-10"], most=1000))
    with refuses("cifar-10-batches-bin/data_batch_1.bin", "size", got="got 61460", source="cifar-10-binary.tar.gz"):
        load_dataset("cifar-10")


def test_a_folder_with_a_file_missing(own_cache):
    (own_cache / "cifar-100" / "cifar-100-binary").mkdir(parents=True)
    with refuses("file", "missing", got=f"put it at {own_cache}") as refusal:
        load_dataset("cifar-100")
    assert refusal.value.source in ("fine_label_names.txt", "train.bin", "test.bin")


def test_cifar_10h_has_the_votes_of_its_test_images(own_cache, monkeypatch):
    files, truth = made("cifar-10", n=10_000)
    small, _ = made("cifar-10", n=10)
    files |= {f: small[f] for f in cifar.LAYOUTS["cifar-10"].train}
    for file, data in files.items():
        path = own_cache / "cifar-10" / "cifar-10-batches-bin" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    votes = 40 * np.eye(10, dtype=np.int64)[truth["test_batch.bin"][0]] + 1
    (own_cache / "cifar-10h").mkdir()
    np.save(own_cache / "cifar-10h" / "cifar10h-counts.npy", votes)
    data = load_dataset("cifar-10h")
    np.testing.assert_array_equal(data.votes_test, votes)
    assert data.name == "cifar-10h"
    assert "NC" in data.licence
