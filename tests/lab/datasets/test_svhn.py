"""SVHN from tiny MATLAB files."""

import hashlib

import numpy as np
import pytest
from scipy.io import savemat
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.lab.datasets import images as svhn
from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets.images import read_svhn


def write(path, n=12, **changed):
    g = np.random.default_rng(n)
    x = g.integers(0, 256, (32, 32, 3, n), dtype=np.uint8)
    y = (np.arange(n, dtype=np.uint8) % 10 + 1)[:, None]
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {"X": x, "y": y, **changed}, do_compression=True)
    return x, y


def test_both_parts(own_cache, monkeypatch):
    truth = {part: write(own_cache / "svhn" / f"{part}_32x32.mat", n) for part, n in (("train", 30), ("test", 12))}
    digests = {
        part: "md5:" + hashlib.md5((own_cache / "svhn" / f"{part}_32x32.mat").read_bytes()).hexdigest()
        for part in truth
    }
    monkeypatch.setattr(svhn, "DIGESTS", digests)
    data = load_dataset("svhn")
    x, y = truth["test"]
    assert data.X_test.shape == (12, 3, 32, 32)
    assert data.X_test.dtype == np.float32
    np.testing.assert_allclose(data.X_test[5] * 255, x[..., 5].transpose(2, 0, 1), atol=1e-4)
    np.testing.assert_array_equal(data.y_test, np.where(y[:, 0] == 10, 0, y[:, 0]))  # 10 is the digit 0
    assert len(data.y_train) == 30


@pytest.mark.parametrize(
    ("changed", "parameter", "code", "got"),
    [
        ({"X": np.zeros((32, 32, 3, 12))}, "arrays", "shape", "got float64"),
        ({"X": np.zeros((32, 32, 12), np.uint8)}, "arrays", "shape", r"got uint8 \(32, 32, 12\)"),
        ({"y": np.ones((11, 1), np.uint8)}, "arrays", "shape", r"uint8 \(32, 32, 3, 12\) and \(11, 1\)"),
        ({"y": np.full((12, 1), 11, np.uint8)}, "y", "range", "got 11 … 11"),
        ({"X": np.array([[{"a": 1}]], dtype=object)}, "arrays", "shape", "got "),
    ],
)
def test_other_contents(tmp_path, changed, parameter, code, got):
    write(tmp_path / "f.mat", **changed)
    with refuses(parameter, code, got=got, source="f.mat", error=FileFormatError):
        read_svhn(tmp_path / "f.mat")


def test_truncated_missing_and_empty(tmp_path):
    path = tmp_path / "f.mat"
    write(path)
    path.write_bytes(path.read_bytes()[:5000])
    with refuses("file", "unreadable", source="f.mat", error=FileFormatError):
        read_svhn(path)
    savemat(path, {"other": 1})
    with refuses("arrays", "missing", got="got other", source="f.mat", error=FileFormatError):
        read_svhn(path)
    with refuses("file", "unreadable", source="no.mat", error=FileFormatError):
        read_svhn(tmp_path / "no.mat")
