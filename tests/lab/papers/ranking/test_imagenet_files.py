"""Files of ILSVRC 2012 in the publisher's layout: names of images, and the labels of the development kit."""

import numpy as np
import pytest
from scipy.io import savemat
from tests.refusals import refuses

from uqassay.lab.papers.ranking.made_predictions import image_number, labels_of, validation_images

# Names of the publisher: ILSVRC2012_img_val.tar has ILSVRC2012_val_00000001.JPEG … 00050000.JPEG; ILSVRC2012_devkit_t12.tar.gz
# has data/meta.mat (a struct array "synsets") and data/ILSVRC2012_validation_ground_truth.txt, as the kit's readme.txt says
FIRST, LAST = "ILSVRC2012_val_00000001.JPEG", "ILSVRC2012_val_00050000.JPEG"
META, TRUTH, ARRAY = "meta.mat", "ILSVRC2012_validation_ground_truth.txt", "synsets"
FIELDS = ["ILSVRC2012_ID", "WNID", "words", "gloss", "num_children", "children", "wordnet_height", "num_train_images"]


def save_devkit(folder, wnids, numbers):
    """meta.mat with the fields in the kit's order; after the leaves it has inner nodes, which have children."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    synsets = np.zeros((len(wnids) + 2, 1), dtype=[(field, object) for field in FIELDS])
    for i in range(len(synsets)):
        inner = i >= len(wnids)
        wnid = f"n9999999{i - len(wnids)}" if inner else wnids[i]
        children = np.array([[1.0, 2.0]]) if inner else np.zeros((1, 0))
        synsets[i, 0] = (float(i + 1), wnid, "a, b", "c", float(2 * inner), children, 1.0, 1300.0)
    savemat(folder / "data" / META, {ARRAY: synsets})
    (folder / "data" / TRUTH).write_text("".join(f"{n}\n" for n in numbers))


@pytest.fixture
def wnids():
    """As in the kit, class numbers do not follow the order of the WordNet ids."""
    return [f"n{i:08d}" for i in np.random.default_rng(0).permutation(np.arange(1_440_764, 1_441_764)).tolist()]


def test_numbers_of_images():
    assert [image_number(name) for name in (FIRST, LAST, FIRST.removesuffix(".JPEG"))] == [1, 50_000, 1]
    others = ("ILSVRC2012_val_00050001.JPEG", "ILSVRC2012_val_00000000.JPEG", "n01440764_10026.JPEG", "")
    assert [image_number(name) for name in others] == [None] * 4


def test_images_as_published_and_sorted_into_folders(tmp_path):
    for folder in ("flat", "sorted/n01440764", "sorted/n01443537"):
        (tmp_path / folder).mkdir(parents=True)
    for name in (LAST, FIRST, "n01440764_10026.JPEG"):
        (tmp_path / "flat" / name).write_bytes(b"")
    assert [path.name for path in validation_images(tmp_path / "flat")] == [FIRST, LAST]
    (tmp_path / "sorted" / "n01443537" / FIRST).write_bytes(b"")
    (tmp_path / "sorted" / "n01440764" / LAST).write_bytes(b"")
    assert [path.name for path in validation_images(tmp_path / "sorted")] == [FIRST, LAST]
    (tmp_path / "sorted" / FIRST).write_bytes(b"")
    with refuses("images", "duplicate", got=FIRST):
        validation_images(tmp_path / "sorted")
    (tmp_path / "empty").mkdir()
    for folder in ("nowhere", "empty"):
        with refuses("images", "missing", got="ILSVRC2012_img_val.tar"):
            validation_images(tmp_path / folder)


def test_labels_of_the_development_kit_are_in_the_order_of_wordnet_ids(tmp_path, wnids):
    numbers = np.random.default_rng(1).integers(1, 1001, 50_000)
    save_devkit(tmp_path, wnids, numbers)
    labels = labels_of([], tmp_path)
    order = np.argsort(np.argsort(wnids))  # rank of each class number's id
    np.testing.assert_array_equal(labels, order[numbers - 1])
    np.testing.assert_array_equal(labels_of([], tmp_path / "data"), labels)


def test_labels_by_folders(tmp_path, wnids):
    places = np.arange(50_000) % 1000
    images = [tmp_path / wnids[k] / f"ILSVRC2012_val_{i + 1:08d}.JPEG" for i, k in enumerate(places.tolist())]
    np.testing.assert_array_equal(labels_of(images, None), np.argsort(np.argsort(wnids))[places])
    assert labels_of(images[:-1], None) is None
    assert labels_of([tmp_path / path.name for path in images], None) is None


def test_a_kit_with_other_files_is_refused(tmp_path, wnids):
    with refuses("devkit", "missing", got="has no meta.mat"):
        labels_of([], tmp_path)
    save_devkit(tmp_path, wnids[:-1], [1] * 50_000)
    with refuses("synsets", "shape", got="got 999", source=META):
        labels_of([], tmp_path)
    save_devkit(tmp_path, wnids, [1] * 49_999)
    with refuses("labels", "shape", got="got 49,999 lines", source=TRUTH):
        labels_of([], tmp_path)
    save_devkit(tmp_path, wnids, [1] * 49_999 + [1001])
    with refuses("labels", "shape", source=TRUTH):
        labels_of([], tmp_path)
    (tmp_path / "data" / META).write_bytes(b"no mat file")
    with refuses("file", "unreadable", source=META):
        labels_of([], tmp_path)
