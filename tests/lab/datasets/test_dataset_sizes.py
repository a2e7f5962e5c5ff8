"""Sizes of data sets: as `load_dataset` gives them, without opening an image."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets.registry import sizes_of


@pytest.fixture
def empty_images(own_cache):
    """Folders of empty files named as images."""

    def make(home, counts):
        for name, n in counts.items():
            (own_cache / home / name).mkdir(parents=True)
            for i in range(n):
                (own_cache / home / name / f"image_{i:04d}.jpg").touch()

    return make


@pytest.mark.parametrize("name", ["wine", "digits", "two-moons"])
def test_sizes_are_those_of_the_data(name):
    data, found = load_dataset(name), sizes_of(f" {name.upper()}")
    assert (found.n_classes, found.n_train, found.n_test) == (data.n_classes, len(data.y_train), len(data.y_test))
    assert found.shape == data.X_train.shape[1:]


def test_folders_are_counted_and_the_odd_image_is_for_the_test(empty_images):
    empty_images("caltech-101/101_ObjectCategories", {"ant": 5, "bass": 8, "BACKGROUND_Google": 4})
    found = sizes_of("caltech-101")
    assert (found.n_classes, found.n_train, found.n_test, found.shape) == (2, 6, 7, None)


def test_four_pairs_of_caltech_are_one_class_each(empty_images, own_cache, needs):
    needs("PIL")
    from PIL import Image

    names = [
        "Faces", "Faces_easy", "cougar_body", "cougar_face", "crocodile", "crocodile_head", "flamingo", "flamingo_head",
        "ant", "BACKGROUND_Google",
    ]  # fmt: skip
    empty_images("101_ObjectCategories", dict.fromkeys(names, 4))  # the archive in the cache folder itself
    assert sizes_of("caltech-101").n_classes == 9
    found = sizes_of("caltech-97")
    assert (found.n_classes, found.n_train, found.n_test) == (5, 18, 18)
    for path in own_cache.rglob("*.jpg"):
        Image.new("RGB", (2, 2)).save(path)
    data = load_dataset("caltech-97", image_size=2)
    assert data.class_names == ("Faces", "ant", "cougar_body", "crocodile", "flamingo")
    np.testing.assert_array_equal(np.bincount(data.y_train) + np.bincount(data.y_test), [8, 4, 8, 8, 8])


def test_what_is_not_at_hand_is_refused():
    with refuses("plantclef", "missing"):
        sizes_of("plantclef")
    with refuses("name", "choice"):
        sizes_of("nope")


def test_a_part_that_is_given_has_no_other_size(empty_images, own_cache):
    for part in ("train", "test"):
        empty_images(f"plantclef/{part}", {"a": 3, "b": 2})
    found = sizes_of("plantclef")
    assert (found.n_classes, found.n_train, found.n_test) == (2, 5, 5)
    with refuses("test_size", "conflict", got="got 0.3"):
        load_dataset("plantclef", test_size=0.3)
    (own_cache / "bacteria").mkdir()
    for part in ("train", "test"):
        np.savez(own_cache / "bacteria" / f"{part}.npz", X=np.eye(2), y=[0, 1])
    with refuses("test_size", "conflict", got="got 0.4"):
        load_dataset("bacteria", test_size=0.4)
    assert len(load_dataset("bacteria").y_test) == 2
