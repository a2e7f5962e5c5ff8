"""Predictions whose means and order are known, and their assays."""

import numpy as np

import uqassay as uq


def made(rng, n=300):
    """Predictions of which everything is known: DE near the truth and narrow, EDL vacuous, RS-NN narrow and wrong."""
    y = rng.integers(0, 3, n)
    truth = np.eye(3)[y]

    def members(right, spread, m=12):
        p = right * truth[:, None] + (1 - right) * np.full((n, m, 3), 1 / 3)
        p = np.maximum(p + spread * rng.standard_normal((n, m, 3)), 1e-3)
        return uq.Members(p / p.sum(axis=2, keepdims=True))

    said = {
        "DE": members(0.9, 0.03),
        "EDL": uq.Intervals(np.zeros((n, 3)), np.ones((n, 3))),
        "RS-NN": members(0.3, 0.002),
    }
    said["E-CNN"] = uq.Intervals(np.zeros((n, 3)), np.full((n, 3), 0.99))
    return said, y


def assays(said, y, **options):
    common = {
        "calibration": (),
        "subgroups": {"all": np.zeros(len(y), int)},
        "measures": ("credal-width",),
        "n_draws": 200,
    }
    return {"exact": uq.assay(said, y, **common | options)}


def images(folder, n_train=50, n_test=20, size=8):
    """Files train.npz and test.npz with coloured images of ten classes."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    for part, n in (("train", n_train), ("test", n_test)):
        y = np.arange(n) % 10
        x = rng.integers(0, 100, (n, 3, size, size)) + 15 * y[:, None, None, None]
        np.savez(folder / f"{part}.npz", X=x.astype(np.uint8), y=y, class_names=[f"class {k}" for k in range(10)])
