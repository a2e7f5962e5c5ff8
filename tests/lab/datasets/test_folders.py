"""Folders of images, from tiny images written by Pillow."""

import sys

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import FileFormatError, MissingDependencyError
from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets.folders import list_images, load_image_folder


@pytest.fixture
def write(needs):
    needs("PIL")
    from PIL import Image

    def one(path, colour, size=(9, 7), mode="RGB"):
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new(mode, size, colour).save(path)
        return path

    return one


@pytest.fixture
def classes(tmp_path, write):
    """Three classes of 10, 6 and 4 images of one colour each."""
    colours = {"cat": (255, 0, 0), "ant": (0, 255, 0), "bee": (0, 0, 255)}
    for (name, colour), n in zip(colours.items(), (10, 6, 4), strict=True):
        for i in range(n):
            write(tmp_path / "images" / name / f"image_{i:04d}.png", colour, size=(9 + i, 7))
    return tmp_path / "images"


def test_classes_in_the_order_of_their_names(classes):
    images = list_images(classes)
    assert images.class_names == ("ant", "bee", "cat")
    np.testing.assert_array_equal(np.bincount(images.labels), [6, 4, 10])
    pixels = images.read(size=5)
    assert pixels.shape == (20, 3, 5, 5)
    assert pixels.dtype == np.float32
    channel = {"ant": 1, "bee": 2, "cat": 0}
    for image, label in zip(pixels, images.labels, strict=True):
        expected = np.zeros((3, 5, 5))
        expected[channel[images.class_names[label]]] = 1.0
        np.testing.assert_array_equal(image, expected)


def test_parts_and_batches_equal_the_whole(classes):
    images = list_images(classes)
    whole = images.read(size=4)
    np.testing.assert_array_equal(images.read([19, 0], size=4), whole[[19, 0]])
    batches = list(images.batches(size=4, batch_size=7))
    assert [len(x) for x, _ in batches] == [7, 7, 6]
    np.testing.assert_array_equal(np.concatenate([x for x, _ in batches]), whole)
    np.testing.assert_array_equal(np.concatenate([y for _, y in batches]), images.labels)


def test_resizing_and_modes(tmp_path, write):
    from PIL import Image

    g = np.random.default_rng(0)
    grey = g.integers(0, 256, (6, 6), dtype=np.uint8)
    write(tmp_path / "a" / "x.png", 0)
    Image.fromarray(grey).save(tmp_path / "a" / "x.png")
    write(tmp_path / "b" / "y.GIF", 3, mode="P")
    images = list_images(tmp_path)
    np.testing.assert_allclose(images.read([0], size=6)[0], np.repeat(grey[None] / 255, 3, axis=0), atol=1e-7)
    assert images.read([1], size=2).shape == (1, 3, 2, 2)
    with refuses("image_size", "range", got="got 0"):
        images.read(size=0)


def test_other_files_are_passed_over(classes, write):
    (classes / "cat" / "notes.txt").write_text("no image")
    (classes / "cat" / ".hidden.png").write_text("no image")
    (classes / "readme.md").write_text("")
    (classes / "empty").mkdir()
    write(classes / "clutter" / "a.png", 0)
    images = list_images(classes, leave_out=("clutter",))
    assert (images.class_names, len(images.paths)) == (("ant", "bee", "cat"), 20)


def test_a_damaged_image_is_named(classes):
    (classes / "ant" / "image_0003.png").write_bytes(b"\x89PNG no more")
    with refuses("file", "unreadable", source="image_0003.png", error=FileFormatError):
        list_images(classes).read()


def test_folders_that_are_not_there_or_empty(tmp_path, classes):
    with refuses("folder", "missing", error=FileFormatError):
        list_images(tmp_path / "no")
    with refuses("folder", "empty", got="cat has 0", error=FileFormatError):
        list_images(classes / "cat")


def test_without_pillow(classes, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    images = list_images(classes)  # listing needs none
    with refuses(
        "pillow", "package", got=r"reading images .*pip install .uqassay\[lab\]", error=MissingDependencyError
    ):
        images.read()


# ---- data sets -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "inside", "clutter"),
    [
        ("caltech-101", "101_ObjectCategories", "BACKGROUND_Google"),
        ("caltech-256", "256_ObjectCategories", "257.clutter"),
        ("plantclef", "", None),
    ],
)
def test_known_folders(name, inside, clutter, classes, write, own_cache):
    place = own_cache / name / inside
    place.parent.mkdir(parents=True, exist_ok=True)
    classes.rename(place)
    if clutter:
        write(place / clutter / "a.png", 0)
    data = load_dataset(name, image_size=8)
    assert data.X_train.shape[1:] == (3, 8, 8)
    assert data.class_names == ("ant", "bee", "cat")
    expected = [3, 2, 5] if clutter else [1, 1, 2]  # half, or a fifth
    np.testing.assert_array_equal(np.bincount(data.y_test), expected)
    assert load_dataset(name, image_size=8, rng=1).content_hash != data.content_hash
    assert load_dataset(name).X_train.shape[1:] == (3, 64, 64)


def test_a_split_of_its_own(tmp_path, write):
    for part, names in (("train", "abc"), ("test", "ca")):
        for i, name in enumerate(names):
            for copy in range(2 + i):
                write(tmp_path / part / name / f"{copy}.png", 40 * (ord(name) - ord("a")), mode="L")
    data = load_image_folder("mine", tmp_path, size=3)
    np.testing.assert_array_equal(data.y_train, [0, 0, 1, 1, 1, 2, 2, 2, 2])
    np.testing.assert_array_equal(data.y_test, [0, 0, 0, 2, 2])
    np.testing.assert_allclose(data.X_test[:, 0, 0, 0] * 255, 40.0 * data.y_test, atol=1e-4)
    write(tmp_path / "test" / "new" / "0.png", 1, mode="L")
    with refuses("folder", "mismatch", got="new is in test alone", error=FileFormatError):
        load_image_folder("mine", tmp_path)


def test_what_cannot_be_downloaded_says_where_it_goes(own_cache):
    with refuses("caltech-101", "missing", got=f"put the folder .* at {own_cache}/caltech-101"):
        load_dataset("caltech-101")
    place = own_cache / "plantclef"
    with refuses("plantclef", "missing", got=f"one sub-folder per class at {place}/train and {place}/test"):
        load_dataset("plantclef")
