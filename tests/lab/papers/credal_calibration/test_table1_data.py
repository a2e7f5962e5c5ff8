"""The data sets of the trained Table 1: features of a frozen network, the paper's own data."""

from dataclasses import replace

import numpy as np
import pytest

from uqassay.lab import datasets
from uqassay.lab.datasets.registry import load_dataset
from uqassay.lab.papers.credal_calibration import table1_training as table1_data
from uqassay.lab.papers.credal_calibration.table1_plans import PLANS
from uqassay.lab.papers.credal_calibration.table1_training import FIRST_NEW_CLASS, frozen_features, training_sets


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
    sets, (note,) = training_sets(PLANS["smoke"], tmp_path, lambda step: None)
    sources = {one.title: one.source for one in sets}
    assert (list(sources), sources["MNIST-10k"]) == (["digits", "MNIST-10k", "frozen features"], "mnist-10k")
    assert "the digits 0 to 4 of MNIST-10k, 300 of them, in 1 epoch" in note
    data = load_dataset(sources["frozen features"])
    # MNIST's test images: 892, 958, 1,028, 974 and 1,009 of the digits 5 to 9
    assert (np.bincount(data.y_train) + np.bincount(data.y_test)).tolist() == [892, 958, 1028, 974, 1009]
