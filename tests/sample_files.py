"""What tests of files share: random rows, predictions of every kind, and whether an array is mapped."""

from dataclasses import fields

import numpy as np

import uqassay as uq
from uqassay.notes import Note
from uqassay.predictions.base import Prediction

PACKAGES = {".safetensors": "safetensors", ".zarr": "zarr", ".pt": "torch"} | dict.fromkeys(
    (".parquet", ".csv", ".tsv"), "pyarrow"
)
SETS = [[0], [1], [2], [0, 1, 2]]
CARRIED = {
    "class_names": ("kat", "Hünd", "x, y"),
    "ids": np.array(["a1", "b", "c", "d"]),
    "groups": np.array([7, 7, 8, 8]),
    "notes": (Note("repaired", "2 rows repaired"), Note("zeta", "ζ")),
}


def rows(*shape: int, dtype: type = np.float64) -> np.ndarray:
    """Random distributions ``(…, K)``, the same for the same shape."""
    return np.random.default_rng(sum(shape)).dirichlet(np.ones(shape[-1]), shape[:-1]).astype(dtype)


def is_mapped(array: np.ndarray) -> bool:
    """Whether the values stay in a file."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


def every_kind() -> dict[str, Prediction]:
    """Predictions of every kind, n = 4, K = 3, and with every option."""
    g = np.random.default_rng(3)
    beliefs = g.random((4, 4)).astype(np.float32)
    return {
        "point": uq.Point(rows(4, 3, dtype=np.float32), **CARRIED),
        "point-16": uq.Point(np.array([[0.5, 0.25, 0.25]] * 4, dtype=np.float16), ids=np.arange(4) * 3),
        "members": uq.Members(rows(4, 5, 3), **CARRIED),
        "members-weighted": uq.Members(rows(4, 3, 3), [[0.5, 0.25, 0.25]] * 4, groups=np.array(list("abab"))),
        "dirichlet": uq.Dirichlet(g.gamma(2, size=(4, 3)), n_draws=7, unit_concentration=True, seed=5, **CARRIED),
        "intervals": uq.Intervals(np.full((4, 3), 0.1, np.float16), np.full((4, 3), 0.6, np.float32), **CARRIED),
        "class-sets": uq.ClassSets([[1, 1, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1]], **CARRIED),
        "masses": uq.Masses(rows(4, 4), SETS, n_classes=3, **CARRIED),
        "masses-signed": uq.Masses.from_beliefs(beliefs, SETS, n_classes=3, **CARRIED),
        "vertices": uq.Vertices(rows(4, 2, 3), **CARRIED),
        "gaussian-logits": uq.GaussianLogits(
            rows(4, 2, 3) - 1, g.random((4, 2, 3)), variance_is="epistemic", n_draws=9, seed=3, **CARRIED
        ),
        "one-row": uq.GaussianLogits(np.zeros((1, 2)), np.ones((1, 2)), variance_is="aleatoric"),
    }


def assert_same(a: Prediction, b: Prediction, leave_out: tuple[str, ...] = ()) -> None:
    """Kind, every field, and the type of every array, bit for bit."""
    assert type(a) is type(b)
    for f in fields(a):
        if f.name in leave_out:
            continue
        x, y = getattr(a, f.name), getattr(b, f.name)
        if isinstance(x, np.ndarray):
            assert x.dtype == y.dtype, f.name
            np.testing.assert_array_equal(x, y, err_msg=f.name)
        else:
            assert x == y, f.name
