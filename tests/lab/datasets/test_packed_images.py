"""Images packed into one npz file, and the copy of CIFAR-10 that comes so."""

import io

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets.images import unpacked_images

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
