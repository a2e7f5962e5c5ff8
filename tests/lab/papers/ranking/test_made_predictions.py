"""Prediction files that are made once, and again for other code, models or instances."""

import sys

import numpy as np
import pytest
from tests.lab.papers.ranking import stand_ins
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers.ranking.human_labels import reproduce_ranking_imagenet_real
from uqassay.lab.papers.ranking.human_labels import steps_of_ranking_imagenet_real as steps_of_ranking_cifar10h
from uqassay.lab.papers.ranking.made_predictions import (
    FileJob,
    NetworkOptions,
    digest_of,
    make_image_predictions,
    make_missing,
    place_of,
)

IDS = np.array(["a", "b"])


def job(name, made, **facts):
    def make():
        made.append(name)
        return {"logits": np.array([[0.0, 1.0], [2.0, 0.0]]), "ids": IDS}

    return FileJob(name, {"code": "x", **facts}, make)


def test_files_are_made_once_and_again_when_something_changes(tmp_path):
    made, said = [], []
    assert make_missing(tmp_path, [job("one", made), job("two", made)], said.append) == []
    assert made == ["one", "two"]
    assert said == ["making one.npz", "making two.npz"]
    prediction = uq.load(tmp_path / "one.npz")
    np.testing.assert_allclose(prediction.mean_probs()[0], [1 / (1 + np.e), np.e / (1 + np.e)])
    assert prediction.ids.tolist() == ["a", "b"]
    assert make_missing(tmp_path, [job("one", made), job("three", made)], said.append) == []
    assert made == ["one", "two", "three"]
    (note,) = make_missing(tmp_path, [job("one", made, code="y"), job("two", made)], said.append)
    assert made == ["one", "two", "three", "one"]
    assert note.endswith("one.npz")


def test_a_file_of_the_user_is_used_as_it_is(tmp_path):
    uq.save(uq.Point([[0.5, 0.5], [0.1, 0.9]], ids=IDS), tmp_path / "one.npz")
    before, made = (tmp_path / "one.npz").read_bytes(), []
    (note,) = make_missing(tmp_path, [job("one", made)], lambda step: None)
    assert note == "not made here and used as they are: one.npz"
    assert not made
    assert (tmp_path / "one.npz").read_bytes() == before


def test_an_interrupted_file_leaves_nothing(tmp_path):
    def stop():
        raise KeyboardInterrupt

    made = []
    with pytest.raises(KeyboardInterrupt):
        make_missing(tmp_path, [job("one", made), FileJob("two", {}, stop)], lambda step: None)
    assert [path.name for path in tmp_path.iterdir()] == ["one.npz"]
    (tmp_path / "three.npz").write_bytes(b"damaged")
    with refuses("file", "unreadable", source="three.npz"):
        make_missing(tmp_path, [job("three", made)], lambda step: None)


def test_digests_and_folders(tmp_path):
    assert digest_of(["a", "bc"]) != digest_of(["ab", "c"])
    assert place_of(tmp_path / "new").is_dir()
    assert place_of(tmp_path) == tmp_path
    with refuses("data", "unwritable", got="No such file"):
        place_of(tmp_path / "a" / "b")


# -- From images as published to the table, with stand-ins in place of the networks' packages.


N = 40
OPTIONS = NetworkOptions("torchvision", ["resnet18", "resnet50"], device="cpu", batch_size=16)


@pytest.fixture
def images(tmp_path, needs):
    """Forty validation images under their published names; five are grey, as some of ImageNet are."""
    needs("torch", "PIL")
    from PIL import Image

    rng = np.random.default_rng(0)
    (tmp_path / "val").mkdir()
    for i in range(N):
        pixels = rng.integers(0, 256, (9, 8) if i % 8 == 0 else (8, 9, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "val" / f"ILSVRC2012_val_{i + 1:08d}.JPEG")
    return tmp_path / "val"


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "models"
    place.mkdir()
    np.save(place / "labels.npy", np.random.default_rng(1).integers(1000, size=50_000))
    return place


def test_files_hold_the_outputs_by_name_and_are_made_once(monkeypatch, images, folder):
    made, said = stand_ins.torchvision(monkeypatch), []
    notes = make_image_predictions(folder, images, OPTIONS, say=said.append)
    assert notes == [
        "predictions made here: 3 models of the networks asked for of torchvision 0.0, all weights, on 40 images"
    ]
    assert len(made) == len(said) == 3
    prediction = uq.load(folder / "resnet50-IMAGENET1K_V2.npz")
    assert prediction.probs.shape == (N, 1000)
    assert prediction.ids.tolist() == [f"ILSVRC2012_val_{i + 1:08d}.JPEG" for i in range(N)]
    make_image_predictions(folder, images, OPTIONS)
    assert len(made) == 3
    (images / "ILSVRC2012_val_00000040.JPEG").unlink()
    notes = make_image_predictions(folder, images, OPTIONS)
    assert len(made) == 6
    assert notes[1].startswith("made again")
    assert uq.load(folder / "resnet18-IMAGENET1K_V1.npz").n_instances == N - 1


def test_from_images_to_the_table(monkeypatch, images, folder, own_cache):
    sets = {"resnet18": ["A", "B"], "resnet50": ["A", "B", "C"]}
    stand_ins.torchvision(monkeypatch, sets)
    make_image_predictions(folder, images, OPTIONS)
    rng = np.random.default_rng(2)
    chosen = np.stack([uq.load(path).labels() for path in sorted(folder.glob("*.npz"))], axis=1)  # (n, 5)
    scores = rng.uniform(0.1, 1.0, chosen.shape)
    info = [(f"ILSVRC2012_val_{i + 1:08d}.JPEG", str(k)) for i in range(N) for k in chosen[i].tolist()]
    (own_cache / "real").mkdir(parents=True)
    np.savez(own_cache / "real" / "scores.npz", tensor=scores.ravel(), info=np.array(info))
    labels = np.load(folder / "labels.npy")
    labels[:N] = chosen[np.arange(N), scores.argmax(axis=1)]
    np.save(folder / "labels.npy", labels)
    options = {"data": folder, "images": images, "networks": list(sets), "device": "cpu", "batch_size": 16}
    found = reproduce_ranking_imagenet_real(**options)
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    text = found.summary()
    assert "5 models replace the paper's 114 networks of torchvision" in text
    assert "predictions made here: 5 models" in text
    assert steps_of_ranking_cifar10h(**options) == 6 * 5 + 2
    assert steps_of_ranking_cifar10h(data=folder, images=images) == 6 * 5 + 77


def test_labels_are_needed_and_come_from_the_kit(monkeypatch, images, tmp_path):
    from tests.lab.papers.ranking.test_imagenet_files import save_devkit

    stand_ins.torchvision(monkeypatch)
    with refuses("devkit", "missing", got="no labels.npy"):
        make_image_predictions(tmp_path / "models", images, OPTIONS)
    save_devkit(tmp_path, [f"n{i:08d}" for i in range(1000, 0, -1)], np.arange(50_000) % 1000 + 1)
    make_image_predictions(tmp_path / "models", images, OPTIONS, devkit=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "models" / "labels.npy")[:3], [999, 998, 997])


def test_networks_of_other_classes_are_refused(monkeypatch, images, folder):
    stand_ins.timm(monkeypatch, n_classes=10)
    with refuses("networks", "shape", got="resnet50 has 10"):
        make_image_predictions(folder, images, NetworkOptions("timm", "resnet50", device="cpu"))
    assert not list(folder.glob("*.npz"))


def test_a_broken_image_is_named(monkeypatch, images, folder):
    stand_ins.torchvision(monkeypatch)
    (images / "ILSVRC2012_val_00000003.JPEG").write_bytes(b"no image")
    with refuses("file", "unreadable", source="ILSVRC2012_val_00000003.JPEG"):
        make_image_predictions(folder, images, OPTIONS)


def test_a_missing_library(images, folder):
    from uqassay.errors import MissingDependencyError

    if "torchvision" in sys.modules:
        pytest.skip("torchvision is installed")
    with refuses("torchvision", "package", got=r"pip install .\.\[vision\]", error=MissingDependencyError):
        reproduce_ranking_imagenet_real(data=folder, images=images)
