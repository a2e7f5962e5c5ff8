"""Data sets by name: what there is, and names and options that do not exist."""

import re
from pathlib import Path

import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.datasets import DATASETS, load_dataset
from uqassay.lab.datasets.registry import LOADERS

NAMES = {
    "digits", "wine", "breast-cancer", "iris", "mnist", "mnist-10k", "fashion-mnist", "k-mnist", "kuzushiji-49",
    "emnist-byclass", "emnist-bymerge", "emnist-balanced", "emnist-letters", "emnist-digits", "emnist-mnist", "cifar-10",
    "cifar-10h", "cifar-100", "svhn", "caltech-101", "caltech-97", "caltech-256", "plantclef", "bacteria", "proteins",
    "bci-iv-2a", "bci-iv-2a-cue", "openml", "hf", "npz", "two-moons", "blobs", "triangle", "gain-grid", "two-gaussians",
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
        ("wine:3", "is wine"),
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
