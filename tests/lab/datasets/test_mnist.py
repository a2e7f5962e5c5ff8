"""MNIST and its relatives, from tiny files in the published form and from the real test images."""

import gzip
import hashlib
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.datasets import images as mnist
from uqassay.lab.datasets import load_dataset

FILES = tuple(mnist.FILES.values())


def md5(path):
    return hashlib.md5(path.read_bytes()).hexdigest()


@pytest.fixture
def tiny():
    g = np.random.default_rng(1)
    return [
        g.integers(0, 256, (30, 28, 28), dtype=np.uint8),
        np.arange(30, dtype=np.uint8) % 10,
        g.integers(0, 256, (20, 28, 28), dtype=np.uint8),
        np.arange(20, dtype=np.uint8) % 10,
    ]


@pytest.mark.parametrize("name", ["mnist", "fashion-mnist", "k-mnist"])
def test_four_files_are_fetched_once(name, tiny, write_idx, server, monkeypatch, own_cache):
    paths = [write_idx(server.folder / file, array) for file, array in zip(FILES, tiny, strict=True)]
    family = replace(mnist.FAMILIES[name], address=server.address, digests=tuple(map(md5, paths)))
    monkeypatch.setitem(mnist.FAMILIES, name, family)
    data = load_dataset(name)
    assert (own_cache / name / FILES[0]).is_file()
    np.testing.assert_allclose(data.X_train[:, 0] * 255, tiny[0], atol=1e-4)
    np.testing.assert_array_equal(data.y_test, tiny[3])
    assert data.X_test.shape == (20, 1, 28, 28)
    assert data.X_test.dtype == np.float32
    assert data.X_test.max() <= 1.0
    assert data.n_classes == 10
    assert len(server.asked) == 4
    assert load_dataset(name).content_hash == data.content_hash
    assert len(server.asked) == 4


def test_the_published_checksums_are_asked_of_a_given_file(tiny, write_idx, own_cache):
    write_idx(own_cache / "fashion-mnist" / FILES[0], tiny[0])
    with refuses("train-images-idx3-ubyte.gz", "mismatch"):
        load_dataset("fashion-mnist")


def test_images_and_labels_must_fit(tiny, write_idx, own_cache, monkeypatch):
    paths = [write_idx(own_cache / "mnist" / f, a) for f, a in zip(FILES, tiny, strict=True)]
    write_idx(paths[1], tiny[1][:-1])
    contents = tuple(hashlib.md5(gzip.decompress(p.read_bytes())).hexdigest() for p in paths)
    monkeypatch.setitem(mnist.FAMILIES, "mnist", replace(mnist.FAMILIES["mnist"], contents=contents))
    with refuses("labels", "mismatch", source="mnist", got=r"got shapes \(30, 28, 28\) and \(29,\)"):
        load_dataset("mnist")


# ---- the real test images --------------------------------------------------------------------------------------------

COUNTS = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]  # of the digits 0 … 9, as LeCun's page says


@pytest.fixture(params=["in the folder itself", "in mnist", "unpacked"])
def real(request, shared, tmp_path):
    given = shared / "data" / "mnist_t10k"
    folder = tmp_path / "data"
    place = folder / "mnist" if request.param == "in mnist" else folder
    place.mkdir(parents=True)
    for file in FILES[2:]:
        if request.param == "unpacked":
            (place / file.removesuffix(".gz")).write_bytes(gzip.decompress((given / file).read_bytes()))
        else:
            (place / file).symlink_to(given / file)
    return folder


def test_mnist_10k(real, monkeypatch):
    monkeypatch.setenv("UQASSAY_DATA", str(real))
    data = load_dataset("mnist-10k", rng=3)
    assert (data.X_train.shape, data.X_test.shape) == ((8000, 1, 28, 28), (2000, 1, 28, 28))
    together = np.bincount(data.y_train) + np.bincount(data.y_test)
    np.testing.assert_array_equal(together, COUNTS)
    assert (np.abs(np.bincount(data.y_test) - np.array(COUNTS) / 5) < 1).all()
    # the first image of the file, a seven, is there once
    raw = gzip.decompress((real / FILES[2]).read_bytes()) if (real / FILES[2]).exists() else None
    if raw is not None:
        first = np.frombuffer(raw[16 : 16 + 784], np.uint8).reshape(28, 28) / np.float32(255)
        images, labels = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
        at = np.flatnonzero(np.abs(images[:, 0] - first).max(axis=(1, 2)) < 1e-6)
        assert labels[at].tolist() == [7]


def test_mnist_10k_split_by_seed_and_size(shared, tmp_path):
    for file in FILES[2:]:
        (tmp_path / file).symlink_to(shared / "data" / "mnist_t10k" / file)
    default, again, other = (load_dataset("mnist-10k", cache=tmp_path, rng=s).content_hash for s in (None, 0, 1))
    assert default == again != other
    assert len(load_dataset("mnist-10k", cache=tmp_path, test_size=500).y_test) == 500


def test_mnist_10k_says_what_is_missing(own_cache, monkeypatch):
    family = replace(mnist.FAMILIES["mnist"], address="http://no-such-host.invalid/")
    monkeypatch.setitem(mnist.FAMILIES, "mnist", family)
    remedy = f"put that file at {own_cache}/mnist/t10k-images-idx3-ubyte.gz"
    with refuses("mnist/t10k-images-idx3-ubyte.gz", "unreadable", got=remedy):
        load_dataset("mnist-10k")


# ---- relatives -------------------------------------------------------------------------------------------------------


def test_kuzushiji_49(server, tmp_path, monkeypatch):
    g = np.random.default_rng(2)
    arrays = {
        "k49-train-imgs.npz": g.integers(0, 256, (98, 28, 28), dtype=np.uint8),
        "k49-train-labels.npz": np.arange(98, dtype=np.uint8) % 49,
        "k49-test-imgs.npz": g.integers(0, 256, (49, 28, 28), dtype=np.uint8),
        "k49-test-labels.npz": np.arange(49, dtype=np.uint8),
    }
    for file, array in arrays.items():
        np.savez_compressed(server.folder / file, array)
    monkeypatch.setattr(mnist, "KUZUSHIJI_49", server.address)
    monkeypatch.setattr(mnist, "KUZUSHIJI_49_DIGESTS", {file: md5(server.folder / file) for file in arrays})
    data = load_dataset("kuzushiji-49")
    assert (data.n_classes, data.X_train.shape) == (49, (98, 1, 28, 28))
    np.testing.assert_allclose(data.X_test[:, 0] * 255, arrays["k49-test-imgs.npz"], atol=1e-4)
    np.testing.assert_array_equal(data.y_test, arrays["k49-test-labels.npz"])


def test_kuzushiji_49_unpickles_nothing(own_cache, monkeypatch):
    for file in mnist.KUZUSHIJI_49_DIGESTS:
        path = own_cache / "kuzushiji-49" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, np.array([object()]))
    digests = {f: md5(own_cache / "kuzushiji-49" / f) for f in mnist.KUZUSHIJI_49_DIGESTS}
    monkeypatch.setattr(mnist, "KUZUSHIJI_49_DIGESTS", digests)
    with refuses("arr_0", got="object", source="k49-train-imgs.npz"):
        load_dataset("kuzushiji-49")


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("split", sorted(mnist.EMNIST_SPLITS))
def test_emnist(split, packed, tmp_path, write_idx, own_cache, monkeypatch):
    n_classes = len(mnist.EMNIST_SPLITS[split])
    g = np.random.default_rng(3)
    first = 1 if split == "letters" else 0
    arrays = {}
    for part, n in (("train", 2 * n_classes), ("test", n_classes)):
        arrays[f"emnist-{split}-{part}-images-idx3-ubyte.gz"] = g.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        arrays[f"emnist-{split}-{part}-labels-idx1-ubyte.gz"] = (np.arange(n) % n_classes + first).astype(np.uint8)
    home = own_cache / "emnist"
    home.mkdir(parents=True)
    if packed:
        with zipfile.ZipFile(home / "gzip.zip", "w") as archive:
            for name, array in arrays.items():
                archive.write(write_idx(tmp_path / name, array), f"gzip/{name}")
        monkeypatch.setattr(mnist, "EMNIST_DIGEST", md5(home / "gzip.zip"))
    else:
        for name, array in arrays.items():
            write_idx(home / name.removesuffix(".gz"), array)
    data = load_dataset(f"emnist-{split}")
    upright = arrays[f"emnist-{split}-test-images-idx3-ubyte.gz"].transpose(0, 2, 1)
    np.testing.assert_allclose(data.X_test[:, 0] * 255, upright, atol=1e-4)
    np.testing.assert_array_equal(data.y_test, np.arange(n_classes))


def test_emnist_class_counts_as_published():
    counts = {split: len(names) for split, names in mnist.EMNIST_SPLITS.items()}
    assert counts == {"byclass": 62, "bymerge": 47, "balanced": 47, "letters": 26, "digits": 10, "mnist": 10}
    assert len(mnist.KANA) == 49


def test_emnist_from_another_archive(own_cache, monkeypatch):
    home = own_cache / "emnist"
    home.mkdir(parents=True)
    with zipfile.ZipFile(home / "gzip.zip", "w") as archive:
        archive.writestr("else", "")
    monkeypatch.setattr(mnist, "EMNIST_DIGEST", md5(home / "gzip.zip"))
    with refuses("archive", "missing", got="gzip/emnist-letters-train-images-idx3-ubyte.gz", source="gzip.zip"):
        load_dataset("emnist-letters")
    (home / "gzip.zip").write_bytes(b"PK no zip")
    monkeypatch.setattr(mnist, "EMNIST_DIGEST", md5(home / "gzip.zip"))
    with refuses("file", "unreadable", source="gzip.zip"):
        load_dataset("emnist-letters")
    with refuses("split", "choice"):
        mnist.load_emnist("none", own_cache)
