"""Images in the publishers' forms: idx, CIFAR, SVHN, packed sets; headers that lie."""

import gzip
import hashlib
import io
import struct
import tarfile
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.io import savemat
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.lab.datasets import images as cifar
from uqassay.lab.datasets import images as mnist
from uqassay.lab.datasets import images as svhn
from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets.images import read_cifar_records, read_idx, read_svhn, unpacked_images


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "float32", "float64"])
@pytest.mark.parametrize("name", ["a-idx", "a-idx.gz"])
def test_round_trip(tmp_path, write_idx, dtype, name):
    array = np.arange(-12, 12).reshape(2, 3, 4).astype(dtype)
    read = read_idx(write_idx(tmp_path / name, array))
    np.testing.assert_array_equal(read, array)
    assert read.dtype == np.dtype(dtype)
    assert read.dtype.isnative


def test_empty_array(tmp_path, write_idx):
    assert read_idx(write_idx(tmp_path / "a", np.zeros((0, 3), dtype=np.uint8))).shape == (0, 3)


def head(kind, *shape):
    return bytes([0, 0, kind, len(shape)]) + b"".join(struct.pack(">I", size) for size in shape)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("data", "code", "got"),
    [
        (b"", "size", "ends after 0"),
        (b"\0\0\x08", "size", "ends after 3"),
        (b"\x80\x04\x95\x00rest", "unreadable", "begins with"),
        (head(7, 1) + b"a", "unreadable", "begins with"),
        (b"\0\0\x08\0", "unreadable", "begins with"),
        (bytes([0, 0, 8, 255]) + bytes(4 * 255), "unreadable", "begins with"),
        (head(8, 2, 3)[:9], "size", "ends after 5"),
        (head(8, 2, 3) + b"12345", "size", "6 more bytes"),
        (head(8, 2, 3) + b"1234567", "size", "after the 6 bytes"),
        (head(14, 2**32 - 1, 2**32 - 1, 2**32 - 1) + b"1", "size", "can hold at most"),
        (head(8, 2**31) + b"1", "size", "can hold at most"),
    ],
)
def test_headers_that_lie(tmp_path, data, code, got, packed):
    path = tmp_path / ("a.gz" if packed else "a")
    path.write_bytes(gzip.compress(data) if packed else data)
    with refuses("file", code, got=got, source=path.name, error=FileFormatError):
        read_idx(path)


def test_broken_gzip_and_no_file(tmp_path, write_idx):
    path = write_idx(tmp_path / "a.gz", np.zeros((50, 50), dtype=np.uint8))
    path.write_bytes(path.read_bytes()[:-9])
    with refuses("file", "unreadable", source="a.gz", error=FileFormatError):
        read_idx(path)
    path.write_bytes(b"no gzip at all")
    with refuses("file", "unreadable", source="a.gz", error=FileFormatError):
        read_idx(path)
    with refuses("path", "missing", source="b.gz", error=FileFormatError):
        read_idx(tmp_path / "b.gz")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(data=st.binary(max_size=64), start=st.sampled_from([b"", b"\0\0\x08\x01", b"\0\0\x0b\x02", b"\0\0\x0e\x03"]))
def test_any_bytes_are_an_array_or_refused(tmp_path, data, start):
    path = tmp_path / "a"
    path.write_bytes(start + data)
    try:
        array = read_idx(path)
    except FileFormatError:
        return
    assert array.nbytes == len(start + data) - 4 - 4 * array.ndim


# -- MNIST and its relatives, from tiny files in the published form and from the real test images.


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


# -- CIFAR in its binary version, from tiny archives in the published form.


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


# -- SVHN from tiny MATLAB files.


def write(path, n=12, **changed):
    g = np.random.default_rng(n)
    x = g.integers(0, 256, (32, 32, 3, n), dtype=np.uint8)
    y = (np.arange(n, dtype=np.uint8) % 10 + 1)[:, None]
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {"X": x, "y": y, **changed}, do_compression=True)
    return x, y


def test_both_parts(own_cache, monkeypatch):
    truth = {part: write(own_cache / "svhn" / f"{part}_32x32.mat", n) for part, n in (("train", 30), ("test", 12))}
    digests = {
        part: "md5:" + hashlib.md5((own_cache / "svhn" / f"{part}_32x32.mat").read_bytes()).hexdigest()
        for part in truth
    }
    monkeypatch.setattr(svhn, "DIGESTS", digests)
    data = load_dataset("svhn")
    x, y = truth["test"]
    assert data.X_test.shape == (12, 3, 32, 32)
    assert data.X_test.dtype == np.float32
    np.testing.assert_allclose(data.X_test[5] * 255, x[..., 5].transpose(2, 0, 1), atol=1e-4)
    np.testing.assert_array_equal(data.y_test, np.where(y[:, 0] == 10, 0, y[:, 0]))  # 10 is the digit 0
    assert len(data.y_train) == 30


@pytest.mark.parametrize(
    ("changed", "parameter", "code", "got"),
    [
        ({"X": np.zeros((32, 32, 3, 12))}, "arrays", "shape", "got float64"),
        ({"X": np.zeros((32, 32, 12), np.uint8)}, "arrays", "shape", r"got uint8 \(32, 32, 12\)"),
        ({"y": np.ones((11, 1), np.uint8)}, "arrays", "shape", r"uint8 \(32, 32, 3, 12\) and \(11, 1\)"),
        ({"y": np.full((12, 1), 11, np.uint8)}, "y", "range", "got 11 … 11"),
        ({"X": np.array([[{"a": 1}]], dtype=object)}, "arrays", "shape", "got "),
    ],
)
def test_other_contents(tmp_path, changed, parameter, code, got):
    write(tmp_path / "f.mat", **changed)
    with refuses(parameter, code, got=got, source="f.mat", error=FileFormatError):
        read_svhn(tmp_path / "f.mat")


def test_truncated_missing_and_empty(tmp_path):
    path = tmp_path / "f.mat"
    write(path)
    path.write_bytes(path.read_bytes()[:5000])
    with refuses("file", "unreadable", source="f.mat", error=FileFormatError):
        read_svhn(path)
    savemat(path, {"other": 1})
    with refuses("arrays", "missing", got="got other", source="f.mat", error=FileFormatError):
        read_svhn(path)
    with refuses("file", "unreadable", source="no.mat", error=FileFormatError):
        read_svhn(tmp_path / "no.mat")


# -- images packed into one npz file, and the copy of CIFAR-10 that comes so --------------------------------------------


NAMES = ("cat", "dog", "owl")


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("PIL")


def packed(images, labels, kind="PNG", **more):
    """The arrays of a file, from images (n, 3, H, W) of bytes."""
    from PIL import Image

    files = []
    for image in images:
        stream = io.BytesIO()
        Image.fromarray(image.transpose(1, 2, 0)).save(stream, kind)
        files.append(np.frombuffer(stream.getvalue(), dtype=np.uint8))
    ends = np.cumsum([0, *map(len, files)])
    return {"jpeg": np.concatenate(files), "offsets": ends, "labels": np.asarray(labels), **more}


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (9, 3, 5, 4), dtype=np.uint8)


LABELS = np.arange(9) % 3


def test_split_that_is_given_with_the_rows_of_the_test(images, tmp_path):
    rows = np.array([2, 0, 1])
    np.savez(tmp_path / "some.npz", **packed(images, LABELS, n_train=6, test_rows=rows, class_names=NAMES))
    for place in (tmp_path, tmp_path / "some.npz"):
        data = load_dataset(f"npz:{place}")
        np.testing.assert_array_equal((data.X_train * 255).round(), images[:6])
        for image, label, row in zip(images[6:], LABELS[6:], rows, strict=True):
            np.testing.assert_array_equal((data.X_test[row] * 255).round(), image)
            assert data.y_test[row] == label
        assert data.class_names == NAMES
        assert data.X_train.dtype == np.float32


def test_without_a_split_the_images_are_split(images, tmp_path):
    np.savez(tmp_path / "some.npz", **packed(images, LABELS))
    data = load_dataset(f"npz:{tmp_path / 'some.npz'}", test_size=3)
    assert (data.X_train.shape, data.X_test.shape, data.n_classes) == ((6, 3, 5, 4), (3, 3, 5, 4), 3)


def test_grey_images_have_three_equal_channels(images):
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(images[0, 0]).save(stream, "PNG")
    data = np.frombuffer(stream.getvalue(), dtype=np.uint8)
    found = unpacked_images({"jpeg": data, "offsets": np.array([0, len(data)]), "labels": np.array([0])})["X"]
    np.testing.assert_array_equal(found, np.broadcast_to(images[0, :1], (1, 3, 5, 4)))


@pytest.mark.parametrize(
    ("change", "parameter", "code", "got"),
    [
        (lambda f: f | {"jpeg": f["jpeg"].astype(float)}, "jpeg", "type", "float64"),
        (lambda f: f | {"offsets": f["offsets"][:-1]}, "offsets", "mismatch", r"\(9,\) for 9 labels"),
        (lambda f: f | {"offsets": f["offsets"][::-1]}, "offsets", "mismatch", "rise"),
        (lambda f: f | {"offsets": f["offsets"] + 1}, "offsets", "mismatch", "rise"),
        (lambda f: f | {"n_train": 0}, "n_train", "range", "got 0"),
        (lambda f: f | {"n_train": 10}, "n_train", "range", "got 10"),
        (lambda f: f | {"n_train": 6, "test_rows": np.array([0, 0, 1])}, "test_rows", "mismatch", "0 … 2"),
        (lambda f: f | {"jpeg": np.zeros_like(f["jpeg"])}, "jpeg", "unreadable", "image 0"),
        (lambda f: f | {"jpeg": np.where(np.arange(len(f["jpeg"])) > 60, 0, f["jpeg"]).astype(np.uint8)}, "jpeg",
         "unreadable", "image"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused(images, tmp_path, change, parameter, code, got):
    with refuses(parameter, code, got=got, error=FileFormatError):
        unpacked_images(change(packed(images, LABELS)))


def test_images_of_different_sizes_are_refused(images):
    one, other = packed(images[:1], [0]), packed(images[1:2, :, :4], [1])
    both = {
        "jpeg": np.concatenate([one["jpeg"], other["jpeg"]]),
        "offsets": np.array([0, len(one["jpeg"]), len(one["jpeg"]) + len(other["jpeg"])]),
        "labels": np.array([0, 1]),
    }
    with refuses("jpeg", "shape", got=r"image 1 has \(4, 4\), the first \(5, 4\)", error=FileFormatError):
        unpacked_images(both)


def test_image_that_states_a_size_beyond_the_limit_is_refused_before_it_is_decoded():
    large = packed(np.zeros((1, 3, 2000, 2000), dtype=np.uint8), [0])
    assert len(large["jpeg"]) < 100_000
    with refuses("jpeg", "size", got="image 0 has 2000 × 2000", error=FileFormatError):
        unpacked_images(large)


def few_of_the_copy(place, folder):
    """A twentieth of the training images and the test images of the first 500 rows; where each lies in its part."""
    with np.load(place, allow_pickle=False) as archive:
        whole = dict(archive)
    n_train, rows = int(whole["n_train"]), whole["test_rows"]
    assert (n_train, len(rows)) == (50_000, 10_000)
    np.testing.assert_array_equal(np.bincount(whole["labels"][:n_train]), [5_000] * 10)
    tested = np.flatnonzero(rows < 500)
    kept = np.concatenate([np.arange(0, n_train, 20), n_train + tested])
    files = [whole["jpeg"][whole["offsets"][i] : whole["offsets"][i + 1]] for i in kept]
    folder.mkdir()
    few = {"jpeg": np.concatenate(files), "offsets": np.cumsum([0, *map(len, files)]), "labels": whole["labels"][kept]}
    more = {"n_train": len(kept) - 500, "test_rows": rows[tested], "class_names": whole["class_names"]}
    np.savez(folder / place.name, **few, **more)
    return whole["labels"][:n_train:20]


@pytest.mark.slow
def test_copy_of_cifar_10_is_read_as_it_is_and_its_test_rows_are_those_of_cifar_10(shared, cifar10, tmp_path):
    folder = tmp_path / "cifar10_jpeg"
    y_train = few_of_the_copy(shared / "data" / "cifar10_jpeg" / "cifar10_jpeg.npz", folder)
    data = load_dataset(f"npz:{folder}")
    assert data.name == "npz:cifar10_jpeg"
    assert (data.X_train.shape, data.X_test.shape) == ((2_500, 3, 32, 32), (500, 3, 32, 32))
    np.testing.assert_array_equal(data.y_test, cifar10["labels"][:500])
    np.testing.assert_array_equal(data.y_train, y_train)
    names = "airplane automobile bird cat deer dog frog horse ship truck"
    assert data.class_names == tuple(names.split())
    assert 0.4 < float(data.X_test.mean()) < 0.5
