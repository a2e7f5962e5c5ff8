"""Data sets by name: what there is, how large it is, and names and options that do not exist."""

import re
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.datasets import DATASETS, load_dataset
from uqassay.lab.datasets.registry import LOADERS, sizes_of

NAMES = {
    "digits", "wine", "wine-unstratified", "breast-cancer", "iris", "mnist", "mnist-10k", "fashion-mnist", "k-mnist",
    "kuzushiji-49", "emnist-byclass", "emnist-bymerge", "emnist-balanced", "emnist-letters", "emnist-digits",
    "emnist-mnist", "cifar-10", "cifar-10h", "cifar-100", "svhn", "caltech-101", "caltech-97", "caltech-256",
    "plantclef", "bacteria", "proteins", "bci-iv-2a", "bci-iv-2a-cue", "openml", "hf", "npz", "two-moons", "blobs",
    "triangle", "gain-grid", "two-gaussians",
}  # fmt: skip


def test_every_name_has_a_description_and_a_loader():
    assert set(DATASETS) == set(LOADERS) == NAMES
    for key, about in DATASETS.items():
        assert about.name.partition(":")[0] == key
        assert about.kind in {"tabular", "image", "eeg", "toy"}
        assert about.split
        assert not about.by_hand or not about.size
        assert (about.kind == "toy") == (about.licence == "")
    with pytest.raises(TypeError, match="does not support item assignment"):
        DATASETS["mine"] = DATASETS["wine"]


@pytest.mark.parametrize("name", ["two-moons", "blobs", "triangle", "two-gaussians"])
def test_toys_by_name_and_seed(name):
    data = load_dataset(name)
    assert data.name == name
    assert data.content_hash == load_dataset(name, rng=0).content_hash
    assert data.content_hash != load_dataset(name, rng=1).content_hash
    assert f"{len(data.y_train)} / {len(data.y_test)}" == DATASETS[name].split


@pytest.mark.parametrize(
    ("name", "closest"),
    [
        ("digts", "is digits"),
        ("cifar10", "are cifar-10, cifar-10h, cifar-100"),
        ("minst", "are mnist, k-mnist"),
        ("emnist", "are emnist-byclass, emnist-bymerge, emnist-balanced"),
        ("breast_cancer", "is breast-cancer"),
        ("cancer", "is breast-cancer"),
        ("moons", "is two-moons"),
        (" IRISS ", "is iris"),
        ("iris:3", "is iris"),
        ("openml", "is openml:<id>"),
        ("openml:", "is openml:<id>"),
        ("openml37", "is openml:<id>"),
        ("openm:37", "is openml:<id>"),
        ("npz/mine", "is npz:<folder>"),
        ("hf:", "is hf:<name>"),
        ("bci-iv-2a", "are bci-iv-2a:<subject>, bci-iv-2a-cue:<subject>"),
    ],
)
def test_unknown_names_get_the_closest(name, closest):
    with refuses("name", "choice", got=f"got {re.escape(repr(name))}; closest {re.escape(closest)}$"):
        load_dataset(name)


@pytest.mark.parametrize("name", ["nope", "zzzz", "qqqqqq", "", "nope:3", ":", "titanic"])
def test_names_like_none_are_told_where_all_of_them_stand(name):
    with refuses("name", "choice", got=f"got {re.escape(repr(name))}; .*docs/datasets.md"):
        load_dataset(name)
    assert set(uq.lab.datasets.DATASETS) == NAMES


@pytest.mark.parametrize("rng", [-1, 1.5, "x", [1, -2]])
@pytest.mark.parametrize("name", ["wine", "two-moons", "gain-grid"])
def test_what_is_no_seed_is_refused(name, rng):
    with refuses("rng", got=re.escape(f"got {rng!r}")):
        load_dataset(name, rng=rng)


def test_names_in_capitals_and_with_blanks():
    assert load_dataset(" Two-Moons ").name == "two-moons"


@pytest.mark.parametrize("name", ["mnist", "cifar-10", "two-moons", "bci-iv-2a:1"])
def test_a_split_of_its_own_is_not_changed(name):
    with refuses("test_size", "conflict", got="got 0.3"):
        load_dataset(name, test_size=0.3)


def test_the_page_has_the_table():
    page = Path(__file__).resolve().parents[3] / "docs" / "datasets.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    shown = {row[0].strip("`"): row[1:] for row in cells}
    assert set(shown) == {about.name for about in DATASETS.values()}
    for about in DATASETS.values():
        download = "put there by hand" if about.by_hand else about.size or "none"
        expected = [about.kind, download, about.split, about.licence or "none needed", about.paper or "-"]
        assert shown[about.name] == expected


@pytest.mark.parametrize("name", [None, 5, b"iris", ["iris"]])
def test_name_that_is_no_text_is_refused(name):
    with refuses("name", "type"):
        load_dataset(name)


def test_cache_that_is_no_path_is_refused():
    with refuses("cache", "type", got="got 5"):
        load_dataset("iris", cache=5)


# -- sizes of data sets: as `load_dataset` gives them, without opening an image -----------------------------------------


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
