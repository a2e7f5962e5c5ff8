"""Table 2: the printed sizes against those of the loaders, on files of the publishers' sizes."""

import numpy as np
import pytest

from uqassay.errors import InputError, MissingDependencyError
from uqassay.lab.datasets import registry as dataset_sizes
from uqassay.lab.datasets import stratified_split
from uqassay.lab.datasets.registry import DATASETS, DatasetSizes
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.credal_calibration.plan import PAPER_SETS, part_size
from uqassay.lab.papers.credal_calibration.tables import SIZES_COLUMNS
from uqassay.lab.papers.paper_tables import printed_table

PRINTED = {
    row["dataset"]: [int(row[column]) for column in SIZES_COLUMNS]
    for row in printed_table("credal_calibration_table2_datasets")
}
PAIRS = (
    "Faces",
    "Faces_easy",
    "cougar_body",
    "cougar_face",
    "crocodile",
    "crocodile_head",
    "flamingo",
    "flamingo_head",
)


@pytest.fixture
def caltech(tmp_path, monkeypatch):
    """Caltech-101 as published, 8,677 images of 101 classes and the background, as empty files; no other data set."""
    monkeypatch.setenv("UQASSAY_DATA", str(tmp_path))
    monkeypatch.setattr(dataset_sizes, "load_dataset", not_at_hand)
    home = tmp_path / "caltech-101" / "101_ObjectCategories"
    names = [*PAIRS, *(f"class_{i:02d}" for i in range(101 - len(PAIRS)))]
    for i, name in enumerate(names):
        (home / name).mkdir(parents=True)
        for image in range(8677 // 101 + (i < 8677 % 101)):
            (home / name / f"image_{image:04d}.jpg").touch()
    (home / "BACKGROUND_Google").mkdir()
    (home / "BACKGROUND_Google" / "image_0001.jpg").touch()


def not_at_hand(name, **_):
    if name == "cifar-10":
        raise MissingDependencyError("pooch", "is not installed", code="package")
    raise InputError(name, "cannot be downloaded", code="missing")


def given(monkeypatch, **sizes):
    """Data sets of these sizes, and no other."""

    def of(name, **options):
        return sizes[name] if name in sizes else not_at_hand(name)

    monkeypatch.setattr(dataset_sizes, "sizes_of", of)


def test_sizes_of_published_folders(caltech):
    found = reproduce("credal-calibration", figure="table2")
    rows = {row.name: row for row in found.rows}
    assert len(rows) == len(PRINTED) * len(SIZES_COLUMNS)
    ours = [rows[f"table2/Caltech-101/{column}"].ours for column in SIZES_COLUMNS]
    assert ours == [101, *PRINTED["Caltech-101"][1:]]
    classes = rows["table2/Caltech-101/classes"]
    assert classes.agrees is False
    assert "caltech-97" in classes.note
    assert [row.name for row in found.misprints] == [classes.name]
    assert dataset_sizes.sizes_of("caltech-97") == DatasetSizes(97, 4338, 4339, None)
    absent = rows["table2/Bacteria/classes"]
    assert np.isnan(absent.ours)
    assert (absent.agrees, absent.note) == (None, "")
    assert sum("is not at hand" in note for note in found.notes) == 5


def test_the_printed_sizes_follow_from_the_published_ones(monkeypatch):
    """Published: CIFAR-10 50,000 / 10,000; Caltech-256 29,780 of 256 classes without clutter; PlantCLEF 91,758 / 21,446."""
    labels = np.arange(29_780) % 256
    halves = [len(part) for part in stratified_split(labels, DATASETS["caltech-256"].default_test_size)]
    sizes = {
        "cifar-10": DatasetSizes(10, 50_000, 10_000, (3, 32, 32)),
        "caltech-256": DatasetSizes(256, *halves, None),
        "plantclef": DatasetSizes(1000, 91_758, 21_446, None),
    }
    given(monkeypatch, **sizes)
    found = reproduce("credal-calibration", figure="table2")
    compared = [row for row in found.rows if row.agrees is not None]
    assert len(compared) == 3 * len(SIZES_COLUMNS)
    assert all(row.agrees for row in compared)
    assert "cifar-10: the loader gives 50,000 and 10,000 instances, images" in found.notes


@pytest.mark.parametrize(("name", "n"), [("bacteria", 12_859), ("proteins", 22_006)])
def test_shares_of_sequences_give_the_printed_sizes(name, n, monkeypatch):
    """The default share of the test part gives the printed parts, if as many sequences are given as they have."""
    n_test = round(DATASETS[name].default_test_size * n)
    k = PRINTED[PAPER_SETS[name].in_table2][0]
    given(monkeypatch, **{name: DatasetSizes(k, n - n_test, n_test, (1344,))})
    rows = [row for row in reproduce("credal-calibration", figure="table2").rows if row.agrees is not None]
    assert [row.ours for row in rows] == [row.paper for row in rows]
    assert len(rows) == len(SIZES_COLUMNS)


def test_other_files_differ_with_a_reason(monkeypatch):
    given(monkeypatch, bacteria=DatasetSizes(100, 823, 177, (1300,)))
    found = reproduce("credal-calibration", figure="table2")
    differ = {row.name.split("/")[-1]: row for row in found.misprints}
    assert set(differ) == {"classes", "n_train", "n_calibration", "n_test"}
    assert differ["classes"].ours == 100
    assert "rank" in differ["classes"].note
    assert (differ["n_test"].ours, differ["n_test"].note) == (part_size(177), "the files here have 80")
    assert "bacteria: the loader gives 823 and 177 instances, 1,300 features" in found.notes
