"""The preset "paper" on small files in the publishers' own layouts; epochs, members, layers and data are fewer.

CIFAR: <https://www.cs.toronto.edu/~kriz/cifar.html>, binary version: a record is <1 x label><3072 x pixel>, in CIFAR-100
<1 x coarse label><1 x fine label><3072 x pixel>; 1,024 bytes are red, then green, then blue. MNIST: idx files, whose header is
a magic number (2051 for images, 2049 for labels), the number of items, and for images rows and columns, each big-endian.
"""

import gzip
import hashlib
import struct
from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.bench.store import StoredResult
from uqassay.lab.datasets import images as mnist
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.trainings import trained_cells
from uqassay.lab.papers.unified.judging import training_cells
from uqassay.lab.papers.unified.plan import trained_data

SHORT = {"preset": "paper", "epochs": 1, "batch_size": 64}  # one step


@pytest.fixture(autouse=True)
def _small_network(monkeypatch):
    from tests.small_resnet50 import shrink_resnet50

    shrink_resnet50(monkeypatch)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("UQASSAY_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


def cifar_records(labels, *before):
    """Records of a CIFAR file; the colour of an image depends on its class."""
    rng = np.random.default_rng(len(labels))
    pixels = rng.integers(0, 120, (len(labels), 3, 32, 32)) + (np.asarray(labels) % 10 * 13)[:, None, None, None]
    return b"".join(
        bytes([*(column[i] for column in before), label]) + pixels[i].astype(np.uint8).tobytes()
        for i, label in enumerate(labels)
    )


def write_cifar_10(cache, n=10):
    folder = cache / "cifar-10" / "cifar-10-batches-bin"
    folder.mkdir(parents=True)
    for i in range(1, 6):
        (folder / f"data_batch_{i}.bin").write_bytes(cifar_records([k % 10 for k in range(n)]))
    (folder / "test_batch.bin").write_bytes(cifar_records([k % 10 for k in range(30)]))
    names = "airplane automobile bird cat deer dog frog horse ship truck"
    (folder / "batches.meta.txt").write_text("\n".join(names.split()) + "\n\n")


def write_cifar_100(cache):
    folder = cache / "cifar-100" / "cifar-100-binary"
    folder.mkdir(parents=True)
    for name, n in (("train.bin", 210), ("test.bin", 30)):
        fine = [k % 100 for k in range(n)]
        (folder / name).write_bytes(cifar_records(fine, [k % 20 for k in fine]))
    (folder / "fine_label_names.txt").write_text("".join(f"fine{k}\n" for k in range(100)))
    (folder / "coarse_label_names.txt").write_text("".join(f"coarse{k}\n" for k in range(20)))


def write_mnist(cache, monkeypatch, n=60):
    folder = cache / "mnist"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    digests = []
    for part, size in (("train", n), ("t10k", 30)):
        y = np.arange(size) % 10
        x = rng.integers(0, 100, (size, 28, 28)) + 15 * y[:, None, None]
        for kind, head, body in (
            ("images-idx3", struct.pack(">4i", 2051, size, 28, 28), x),
            ("labels-idx1", struct.pack(">2i", 2049, size), y),
        ):
            packed = gzip.compress(head + body.astype(np.uint8).tobytes())
            (folder / f"{part}-{kind}-ubyte.gz").write_bytes(packed)
            digests.append(hashlib.md5(packed).hexdigest())
    monkeypatch.setitem(
        mnist.FAMILIES, "mnist", replace(mnist.FAMILIES["mnist"], digests=tuple(digests), contents=None)
    )


def stored(folder, name, **changes) -> dict[str, StoredResult]:
    (data,), _ = trained_data("paper", name, changes=changes)
    cells = training_cells(data, predictors=["DE", "RS-NN", "CreINN"])
    return {cell.method: kept for cell, kept in trained_cells(cells, folder)}


@pytest.mark.slow
def test_cifar_10_as_printed(cache, tmp_path):
    write_cifar_10(cache)
    result = reproduce("unified", **SHORT, dataset="cifar-10", members=2, resume=tmp_path / "run")
    models = {cell.name.split("/")[3] for cell in result.rows if cell.name.startswith("table1")}
    assert models >= {"LB-BNN", "DE", "EDL", "CreINN", "E-CNN", "RS-NN", "SNN", "DDU", "DE Avg", "LB-BNN Avg"}
    assert not any("failed" in note for note in result.notes)
    assert all(np.isfinite(cell.ours) for cell in result.rows if cell.name.startswith("table1") and "/kl" in cell.name)
    # 30 images, so nothing is compared; the values beside ours are those of CIFAR-10
    assert all(cell.agrees is None for cell in result.rows)
    assert {c.paper for c in result.rows if c.name == "table1/cifar-10/paper/DE/kl"} == {0.031}
    (said,) = (note for note in result.notes if note.startswith("cifar-10, preset paper"))
    for words in ("resnet50 at the images' own size, CreINN at 32 × 32", "40 training and 30 test", "shift-flip"):
        assert words in said
    found = stored(tmp_path / "run", "cifar-10", epochs=1, batch_size=64, members=2)
    assert found["DE member 2"].prediction.probs.shape == (30, 1, 10)
    assert found["RS-NN"].metadata["facts"]["train_counts"] == np.bincount(_kept_labels()).tolist()


def _kept_labels():
    """Labels of the random 40 of 50 training images."""
    rows = np.sort(np.random.default_rng(0).permutation(50)[:40])
    return np.tile(np.arange(10), 5)[rows]


@pytest.mark.slow
def test_cifar_100_has_200_sets_and_no_e_cnn(cache, tmp_path):
    write_cifar_100(cache)
    options = {"epochs": 1, "batch_size": 210, "validation": "trained"}
    result = reproduce(
        "unified", preset="paper", dataset="cifar-100", predictors=["EDL", "RS-NN"], resume=tmp_path, **options
    )
    assert {c.paper for c in result.rows if c.name == "table1/cifar-100/paper/RS-NN/kl"} == {1.518}
    (data,), _ = trained_data("paper", "cifar-100", changes=options)
    assert "E-CNN" not in {cell.method for cell in training_cells(data)}
    rs_nn = training_cells(data, predictors=["RS-NN"])
    assert rs_nn[0].params["params"]["n_sets"] == 200
    ((_, kept),) = trained_cells(rs_nn, tmp_path)
    sets = kept.prediction.focal_sets
    assert sets.shape[1] == 100
    assert 100 < len(sets) <= 301  # classes, at most 200 sets with overlap, all classes


@pytest.mark.slow
def test_mnist_is_enlarged(cache, tmp_path, monkeypatch):
    write_mnist(cache, monkeypatch)
    result = reproduce("unified", **SHORT, dataset="mnist", predictors=["CreINN", "SNN"], resume=tmp_path)
    (said,) = (note for note in result.notes if note.startswith("mnist, preset paper"))
    assert "resnet50 at 32 × 32, CreINN at 32 × 32; 50 training and 30 test instances; 10 others" in said
    with refuses("backbone", "shape", got=r"got \(1, 16, 16\)"):
        reproduce("unified", **SHORT, dataset="mnist", predictors=["SNN"], image_size=16)
