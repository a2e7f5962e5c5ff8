"""Merged image data of two classes, from generated files in the published forms and from real images."""

import hashlib

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.lab.datasets import images as mnist
from uqassay.lab.datasets import load_dataset, merged_binary


def md5(path):
    return hashlib.md5(path.read_bytes()).hexdigest()


def check_components(found, pixels, n_components):
    """Scores are centred and uncorrelated, with the variances of the covariance; distances are kept up to the rest."""
    flat = pixels.reshape(len(pixels), -1).astype(np.float64)
    assert found.X.dtype == np.float32
    assert found.X.shape == (len(flat), n_components)
    np.testing.assert_allclose(found.X.mean(axis=0), 0.0, atol=1e-5)
    variances = np.sort(np.linalg.eigvalsh(np.cov(flat.T)))[::-1][:n_components]
    np.testing.assert_allclose(np.cov(found.X.T.astype(np.float64)), np.diag(variances), atol=1e-5 * variances[0])
    rest = flat - flat.mean(axis=0)
    left_out = (rest**2).sum() - (found.X.astype(np.float64) ** 2).sum()
    total = np.linalg.eigvalsh(rest.T @ rest)[::-1][n_components:].sum()
    assert left_out == pytest.approx(total, rel=1e-3, abs=1e-6 * (rest**2).sum())


def test_digits():
    found = merged_binary("digits")
    whole = load_dataset("digits")
    pixels = np.concatenate([whole.X_train, whole.X_test])  # in [0, 1] as loaded
    classes = np.concatenate([whole.y_train, whole.y_test])
    check_components(found, pixels, 50)
    np.testing.assert_array_equal(found.classes, classes)
    np.testing.assert_array_equal(found.y, classes % 2)
    assert repr(found) == "MergedBinary('digits': 1797 instances of 50)"
    assert "1,797 instances, both parts together (not in the paper)" in found.note
    fewer = merged_binary("digits", n_components=3)
    np.testing.assert_allclose(fewer.X, found.X[:, :3], atol=1e-6)
    assert found.content_hash == merged_binary("digits").content_hash != fewer.content_hash


def test_components_against_scikit_learn(needs):
    needs("sklearn")
    from sklearn.decomposition import PCA

    whole = load_dataset("digits")
    pixels = np.concatenate([whole.X_train, whole.X_test])  # in [0, 1] as loaded
    expected = PCA(10, svd_solver="full").fit_transform(pixels)
    found = merged_binary("digits", n_components=10).X
    np.testing.assert_allclose(found, expected * np.sign((found * expected).sum(axis=0)), atol=1e-5)


def test_mnist_10k(shared):
    found = merged_binary("mnist-10k", data=shared / "data" / "mnist_t10k")
    assert found.X.shape == (10_000, 50)
    assert np.bincount(found.classes).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert found.y.sum() == 1135 + 1010 + 892 + 1028 + 1009
    # a class by the nearest class mean: the scores still know the digits
    means = np.array([found.X[found.classes == k].mean(axis=0) for k in range(10)])
    nearest = ((found.X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == found.classes).mean() > 0.75


@pytest.fixture
def bymerge(tmp_path):
    """A file in the form of the shared one: 47 classes of unequal size."""
    g = np.random.default_rng(0)
    y = np.concatenate([np.arange(47), np.arange(47), np.zeros(20), np.ones(9)]).astype(np.int64)
    images = g.integers(0, 256, (len(y), 28, 28), dtype=np.uint8)
    path = tmp_path / "given" / "emnist.npz"
    path.parent.mkdir()
    np.savez_compressed(path, X=images, y=y, class_names=np.array(mnist.MERGED))
    return path, images, y


def test_emnist_bymerge_from_a_file(bymerge):
    path, images, y = bymerge
    found = merged_binary("emnist-bymerge", data=path)
    check_components(found, images / 255, 50)
    np.testing.assert_array_equal(found.classes, y)
    in_folder = merged_binary("emnist-bymerge", data=path.parent)
    assert in_folder.content_hash == found.content_hash
    assert "123 instances of emnist.npz" in found.note
    assert "EMNIST-Balanced" in found.note


def test_balanced_samples(bymerge):
    path, images, y = bymerge
    found = merged_binary("emnist-bymerge", data=path, balanced=True, rng=3)
    assert np.bincount(found.classes).tolist() == [2] * 47
    assert "a sample of 94 with 2 of each class" in found.note
    one = merged_binary("emnist-bymerge", data=path, balanced=1, n_components=5)
    assert np.bincount(one.classes).tolist() == [1] * 47
    again, other = (merged_binary("emnist-bymerge", data=path, balanced=True, rng=seed) for seed in (3, 4))
    assert found.content_hash == again.content_hash != other.content_hash
    rows = np.random.default_rng(3)
    chosen = np.sort(np.concatenate([rows.choice(np.flatnonzero(y == k), 2, replace=False) for k in range(47)]))
    check_components(found, images[chosen] / 255, 50)
    for number in (3, 0, 1.5):
        with refuses("balanced", "range", got=f"got {number}, and class [0-9]+ has 2"):
            merged_binary("emnist-bymerge", data=path, balanced=number)


@pytest.mark.slow
def test_the_real_images_of_emnist(shared):
    found = merged_binary("emnist-bymerge", data=shared / "data" / "emnist_bymerge", balanced=True)
    assert np.bincount(found.classes).tolist() == [415] * 47
    assert found.y.mean() == pytest.approx(23 / 47)
    assert "19,505 with 415 of each class" in found.note


def test_emnist_balanced_merges_both_parts(write_idx, own_cache):
    g = np.random.default_rng(3)
    parts = {"train": 94, "test": 47}
    images, labels = {}, {}
    for part, n in parts.items():
        images[part] = g.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        labels[part] = (g.permutation(n) % 47).astype(np.uint8)
        write_idx(own_cache / "emnist" / f"emnist-balanced-{part}-images-idx3-ubyte.gz", images[part])
        write_idx(own_cache / "emnist" / f"emnist-balanced-{part}-labels-idx1-ubyte.gz", labels[part])
    found = merged_binary("emnist-balanced")
    np.testing.assert_array_equal(found.classes, np.concatenate([labels["train"], labels["test"]]))
    upright = np.concatenate([images["train"], images["test"]]).transpose(0, 2, 1)
    check_components(found, upright / 255, 50)
    by_hand = merged_binary("emnist-balanced", data=own_cache)
    assert by_hand.content_hash == found.content_hash


def test_kuzushiji_49_merges_both_parts(own_cache, monkeypatch):
    g = np.random.default_rng(2)
    arrays = {
        "k49-train-imgs.npz": g.integers(0, 256, (98, 28, 28), dtype=np.uint8),
        "k49-train-labels.npz": np.arange(98, dtype=np.uint8) % 49,
        "k49-test-imgs.npz": g.integers(0, 256, (49, 28, 28), dtype=np.uint8),
        "k49-test-labels.npz": np.arange(49, dtype=np.uint8),
    }
    home = own_cache / "kuzushiji-49"
    home.mkdir(parents=True)
    for file, array in arrays.items():
        np.savez_compressed(home / file, array)
    monkeypatch.setattr(mnist, "KUZUSHIJI_49_DIGESTS", {file: md5(home / file) for file in arrays})
    found = merged_binary("kuzushiji-49", n_components=20)
    assert np.bincount(found.classes).tolist() == [3] * 49
    assert np.bincount(found.y).tolist() == [75, 72]
    both = np.concatenate([arrays["k49-train-imgs.npz"], arrays["k49-test-imgs.npz"]])
    check_components(found, both / 255, 20)


def test_refusals(bymerge, tmp_path):
    _, images, y = bymerge
    with refuses("name", "choice", got="'cifar-10'"):
        merged_binary("cifar-10")
    with refuses("n_components", "range", got="got 65"):
        merged_binary("digits", n_components=65)
    with refuses("data", "missing", error=FileFormatError):
        merged_binary("emnist-bymerge", data=tmp_path / "none.npz")
    broken = tmp_path / "broken.npz"
    for arrays, parameter, code in (
        ({"images": images}, "data", "missing"),
        ({"X": images / 255, "y": y}, "X", "shape"),
        ({"X": images[:, 0], "y": y}, "X", "shape"),
        ({"X": images, "y": y[:-1]}, "y", "mismatch"),
        ({"X": images, "y": y.astype(float)}, "y", "mismatch"),
        ({"X": images, "y": y - 1}, "y", "mismatch"),
    ):
        np.savez(broken, **arrays)
        with refuses(parameter, code, source="broken.npz", error=FileFormatError):
            merged_binary("emnist-bymerge", data=broken)


def test_values_of_another_type():
    with refuses("name", "choice"):
        merged_binary(["digits"])
    for value in (2.5, True, "50"):
        with refuses("n_components", "type"):
            merged_binary("digits", n_components=value)
