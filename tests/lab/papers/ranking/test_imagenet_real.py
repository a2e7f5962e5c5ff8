"""ReaL-ImageNet, on generated files of the published form: 1,000 classes, file names, 50,000 labels."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.ranking.human_labels import reproduce_ranking_imagenet_real
from uqassay.lab.papers.ranking.human_labels import steps_of_ranking_imagenet_real as steps_of_ranking_cifar10h

RATED = np.arange(11, 50_000, 500)  # one hundred images


@pytest.fixture
def folder(tmp_path, own_cache):
    """scores.npz as published, and five models of the rated images by their names."""
    rng = np.random.default_rng(0)
    names = np.array([f"ILSVRC2012_val_{i + 1:08d}.JPEG" for i in RATED])
    q = np.zeros((len(RATED), 1000))
    info, scores = [], []
    for row, name in enumerate(names):
        for label in rng.choice(1000, 4, replace=False):
            info.append((name, str(label)))
            scores.append(rng.uniform(0.01, 1.0))
            q[row, label] = scores[-1]
    (own_cache / "real").mkdir(parents=True)
    info.append(("ILSVRC2012_val_00000001.JPEG", "7"))  # an image for which no label was found valid
    np.savez_compressed(own_cache / "real" / "scores.npz", tensor=np.array([*scores, 0.0]), info=np.array(info))
    place = tmp_path / "models"
    place.mkdir()
    labels = rng.integers(1000, size=50_000)
    labels[RATED] = [rng.choice(1000, p=(row / row.max()) ** 4 / ((row / row.max()) ** 4).sum()) for row in q]
    np.save(place / "labels.npy", labels)
    for i, noise in enumerate((0.3, 0.7, 1.0, 1.5, 2.0)):
        logits = np.log(q + 1e-3) + noise * rng.normal(size=q.shape)
        order = rng.permutation(len(RATED))
        np.savez(place / f"net{i}.npz", logits=logits[order].astype(np.float32), ids=names[order])
    return place


def test_the_protocol_prints_the_papers_cells_beside_ours(folder):
    found = reproduce("ranking-imagenet-real", data=folder)
    assert [cell.paper for cell in found.rows] == [99.56, 39.42, 40.2, 88.07]
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    text = found.summary()
    assert "table1/R-ImageNet/UQ-C-index/misalignment" in text
    assert "5 models replace the paper's 114 networks of torchvision" in text
    assert "49,900 of 50,000 images have no score above 0 and are left out" in text
    assert steps_of_ranking_cifar10h(data=folder) == 30


def test_a_file_without_ids_holds_all_images(folder):
    probs = np.full((3, 1000), 1e-3)
    uq.save(uq.Point(probs), folder / "a.npz")
    with refuses("prediction", "mismatch", got="50000 instances .*; got 3 and 1000; name the instances by ids"):
        reproduce_ranking_imagenet_real(data=folder)


def test_labels_of_another_order_are_refused(folder):
    labels = np.load(folder / "labels.npy")
    np.save(folder / "labels.npy", labels[:100])
    with refuses("data", "shape", got=r"got \(100,\)"):
        reproduce_ranking_imagenet_real(data=folder)
    np.save(folder / "labels.npy", (labels + 1) % 1000)
    with refuses("data", "mismatch", got="in only . % of the rows"):
        reproduce_ranking_imagenet_real(data=folder)
    (folder / "labels.npy").unlink()
    with refuses("data", "missing", got="labels.npy"):
        reproduce_ranking_imagenet_real(data=folder)


def test_scores_of_other_images_are_refused(folder, own_cache):
    path = own_cache / "real" / "scores.npz"
    path.unlink()
    np.savez(path, tensor=np.array([0.5]), info=np.array([["n01440764_10026.JPEG", "0"]]))
    path.with_name("scores.npz.checked.json").unlink(missing_ok=True)
    with refuses("info", "range", got="got 'n01440764_10026.JPEG'", source="scores.npz"):
        reproduce_ranking_imagenet_real(data=folder)
