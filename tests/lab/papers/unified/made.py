"""Predictions whose means and order are known, and their assays."""

from dataclasses import replace
from functools import cache

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


@cache
def whole_set():
    """All eight predictors on 90 instances of six classes, their labels and how they are judged."""
    from uqassay.lab.papers.unified.judging import judge_predictions

    rng = np.random.default_rng(7)
    n, k = 90, 6
    y = rng.integers(0, k, n)
    near = 4.0 * np.eye(k)[y] + 1.5 * rng.standard_normal((n, k))

    def softmax(z):
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    singles = np.eye(k, dtype=bool)
    pairs = np.array([[i in (0, j) for i in range(k)] for j in range(1, 4)])
    whole = np.ones((1, k), dtype=bool)
    lower = 0.7 * softmax(near)
    budget = np.concatenate([singles, pairs, whole])
    said = {
        "LB-BNN": [uq.Dirichlet(np.exp(0.8 * near + shift) + 0.05) for shift in (0.0, 0.2)],
        "DE": [uq.Members(softmax(near[:, None] + rng.standard_normal((n, 6, k)))) for _ in range(2)],
        "EDL": [uq.Dirichlet(1.0 + np.exp(near))] * 2,
        "CreINN": [uq.Intervals(lower, np.minimum(lower + 0.3, 1.0))] * 2,
        "E-CNN": [uq.Masses(np.c_[0.8 * softmax(near), np.full(n, 0.2)], np.concatenate([singles, whole]))] * 2,
        "RS-NN": [uq.Masses(np.c_[0.7 * softmax(near), rng.dirichlet(np.ones(4), n) * 0.3], budget)] * 2,
        "SNN": [uq.Point(softmax(near))] * 2,
        "DDU": [uq.Point(softmax(0.7 * near))] * 2,
    }
    names = ("air", "bird", "cat", "deer", "eel", "frog")
    said = {name: [replace(run, class_names=names) for run in runs] for name, runs in said.items()}
    return said, y, judge_predictions("made", said, y, np.full(k, 50), draws=30)
