"""Features of networks for the images of CIFAR-10: by stand-ins of the networks' packages, from images to the table."""

import numpy as np
import pytest
from tests.lab.papers.ranking import stand_ins
from tests.refusals import refuses

from uqassay.lab.papers.ranking.linear_probes import reproduce_ranking_cifar10h_probes, steps_of_ranking_cifar10h_probes
from uqassay.lab.papers.ranking.made_predictions import NetworkOptions, feature_files, make_features, read_features

N, K = 60, 3
SETS = {"resnet18": ["A", "B"], "resnet50": ["A", "B"]}
OPTIONS = NetworkOptions("torchvision", list(SETS), device="cpu", batch_size=16)


@pytest.fixture
def images(tmp_path, needs):
    """A small copy of CIFAR-10: images whose colours tell the class in part."""
    needs("torch", "PIL")
    rng = np.random.default_rng(0)
    place = tmp_path / "images"
    place.mkdir()
    for part, n in (("train", 10), ("test", N)):
        y = rng.permutation(np.arange(n) % K)
        colours = 128 + 25 * (np.eye(K)[y] - 1 / K) + 5 * rng.normal(size=(n, 3))
        X = np.clip(colours[:, :, None, None] + rng.normal(size=(n, 3, 6, 6)), 0, 255).astype(np.uint8)
        np.savez(place / part, X=X, y=y, class_names=np.array(["a", "b", "c"]))
    return place


def test_from_images_to_the_table(monkeypatch, images, tmp_path):
    made, said, folder = stand_ins.torchvision(monkeypatch, SETS), [], tmp_path / "features"
    folder.mkdir()
    y = np.load(images / "test.npz")["y"]
    votes = [np.random.default_rng(i).multinomial(50, 0.4 * np.eye(K)[k] + 0.2) for i, k in enumerate(y)]
    np.save(folder / "human_counts.npy", votes)
    options = {"data": folder, "images": images, "networks": list(SETS), "device": "cpu"}
    found = reproduce_ranking_cifar10h_probes(**options, progress=said.append)
    assert said[:4] == [f"making {name}-{one}.npz" for name, sets in SETS.items() for one in sets]
    assert len(made) == 4
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    assert any(note.startswith("features made here: 4 models of the networks asked for") for note in found.notes)
    again = reproduce_ranking_cifar10h_probes(**options)
    assert [cell.ours for cell in again.rows] == [cell.ours for cell in found.rows]
    assert len(made) == 4
    assert steps_of_ranking_cifar10h_probes(**options) == 2 + 3 * 4
    np.testing.assert_array_equal(np.load(folder / "labels.npy"), y)


def test_features_are_what_enters_the_last_layer(monkeypatch, images, tmp_path):
    import torch

    stand_ins.torchvision(monkeypatch, SETS)
    make_features(tmp_path / "made", images, OPTIONS)
    (path, *_) = feature_files(tmp_path / "made")
    assert path.name == "resnet18-A.npz"
    x = torch.tensor((np.load(images / "test.npz")["X"].astype(np.float32).mean(axis=(2, 3)) - 127.5) / 10)
    with torch.inference_mode():
        expected = stand_ins.network(seed=0).eval()[:3](x).numpy()
    np.testing.assert_allclose(read_features(path, N), expected, rtol=1e-4, atol=1e-5)


def test_other_images_and_labels_are_refused(monkeypatch, images, tmp_path):
    stand_ins.torchvision(monkeypatch, SETS)
    folder = tmp_path / "made"
    folder.mkdir()
    np.save(folder / "labels.npy", np.zeros(N, dtype=int))
    with refuses("data", "mismatch", got="labels.npy differs"):
        make_features(folder, images, OPTIONS)
    for part in ("train", "test"):
        y = np.load(images / f"{part}.npz")["y"]
        np.savez(images / part, X=np.zeros((len(y), 4)), y=y)
    with refuses("images", "shape", got=r"\(60, 4\)"):
        make_features(folder, images, OPTIONS)


def test_files_of_features(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((3, 2)))
    np.save(tmp_path / "labels.npy", np.zeros(3))
    np.savez(tmp_path / "b.npz", features=np.ones((3, 2)))
    np.savez(tmp_path / "c.npz", probs=np.ones((3, 2)))
    assert [path.name for path in feature_files(tmp_path)] == ["a.npy", "b.npz"]
    np.testing.assert_array_equal(read_features(tmp_path / "b.npz", 3), np.ones((3, 2)))
    with refuses("features", "shape", got=r"\(4, d\)", source="b.npz"):
        read_features(tmp_path / "b.npz", 4)
