"""The data sets of the trained Table 1: features of a frozen network, the paper's own data."""

import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from uqassay import datasets
from uqassay.datasets.registry import load_dataset
from uqassay.experiments.credal_calibration import table1_data
from uqassay.experiments.credal_calibration.table1_data import FIRST_NEW_CLASS, frozen_features, training_sets


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


@pytest.fixture
def digit_images():
    return table1_data._as_images(datasets.load_dataset("digits", test_size=0.5))


def test_frozen_features_hold_the_new_classes_once_each(digit_images):
    data = frozen_features(digit_images, epochs=1, limit=100)
    y = np.concatenate([digit_images.y_train, digit_images.y_test])
    counts = np.bincount(y)[FIRST_NEW_CLASS:]
    np.testing.assert_array_equal(np.bincount(data.y_train) + np.bincount(data.y_test), counts)
    assert abs(len(data.y_train) - len(data.y_test)) <= 1
    assert data.X_train.shape[1] == 64
    assert data.class_names == tuple(str(k) for k in range(5, 10))
    features = np.concatenate([data.X_train, data.X_test])
    assert len(np.unique(features.round(4), axis=0)) == len(features)


def test_frozen_network_never_sees_the_new_classes(digit_images):
    """Whatever becomes of all new images but those of class 9 in the test part, the features of those stay."""
    noise = np.random.default_rng(0).random(digit_images.X_train.shape)
    known = (digit_images.y_train < FIRST_NEW_CLASS)[:, None, None, None]
    other = replace(digit_images, X_train=np.where(known, digit_images.X_train, noise))
    found = [frozen_features(images, epochs=1, limit=200) for images in (digit_images, other)]
    rows = [{row.tobytes() for row in np.concatenate([data.X_train, data.X_test])} for data in found]
    n_test = (digit_images.y_test >= FIRST_NEW_CLASS).sum()
    assert len(rows[0] & rows[1]) == n_test


@pytest.mark.slow
def test_with_mnist_the_frozen_network_learns_from_it(shared, monkeypatch, tmp_path):
    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    monkeypatch.setenv("UQASSAY_DATA", str(shared / "data" / "mnist_t10k"))
    names, (note,) = training_sets("smoke", tmp_path, lambda step: None)
    assert (list(names), names["MNIST-10k"]) == (["digits", "MNIST-10k", "frozen features"], "mnist-10k")
    assert "the digits 0 to 4 of MNIST-10k, 300 of them, in 1 epoch" in note
    data = load_dataset(names["frozen features"])
    # MNIST's test images: 892, 958, 1,028, 974 and 1,009 of the digits 5 to 9
    assert (np.bincount(data.y_train) + np.bincount(data.y_test)).tolist() == [892, 958, 1028, 974, 1009]


@pytest.mark.usefixtures("without_mnist")
def test_paper_preset_has_the_paper_networks_on_what_is_there(monkeypatch, tmp_path):
    """A stand-in for torchvision whose network gives the mean of each channel; 32 images of one colour each."""
    torch = pytest.importorskip("torch")

    class Means(torch.nn.Module):
        def forward(self, x):
            assert x.shape[1:] == (3, 224, 224)
            return x.mean(dim=(2, 3)).repeat(1, 4)

    asked = []

    def get_model(name, weights):
        asked.append((name, weights))
        return Means()

    torchvision = ModuleType("torchvision")
    torchvision.models = ModuleType("torchvision.models")
    torchvision.models.get_model = get_model
    monkeypatch.setitem(sys.modules, "torchvision", torchvision)
    colours = np.random.default_rng(0).random((100, 3, 1, 1)).astype(np.float32)
    images, y = np.broadcast_to(colours, (100, 3, 8, 8)), np.arange(100) % 2
    colour = datasets.Dataset("cifar-10", images[:70], y[:70], images[70:], y[70:], ("a", "b"))
    local = datasets.load_dataset
    monkeypatch.setattr(
        datasets, "load_dataset", lambda name, **options: colour if name == "cifar-10" else local(name, **options)
    )
    names, notes = training_sets("paper", tmp_path, lambda step: None)
    assert list(names) == ["digits", "cifar-10, MobileNetV2", "cifar-10, VGG16"]
    assert [note.partition(" ")[0] for note in notes] == [
        "mnist-10k", "caltech-101", "caltech-256", "plantclef", "bacteria", "proteins",
    ]  # fmt: skip
    assert asked == [("mobilenet_v2", "IMAGENET1K_V1"), ("vgg16", "IMAGENET1K_V1")]
    data = local(names["cifar-10, VGG16"])
    expected = (colours[:70, :, 0, 0] - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(data.X_train, np.tile(expected, 4), atol=1e-4)
    np.testing.assert_array_equal(data.y_test, y[70:])
