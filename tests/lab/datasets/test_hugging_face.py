"""Sets of the Hugging Face Hub: through a stand-in for its package, and through the package where it is installed."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.lab.datasets import load_dataset


class Part:
    """Rows of columns with features, as a part of a set of that package has them."""

    def __init__(self, features, columns):
        self.features, self.columns = features, columns
        self.info = SimpleNamespace(license="mit")

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key):
        return self.columns[key] if isinstance(key, str) else {c: values[key] for c, values in self.columns.items()}

    def __iter__(self):
        return (self[i] for i in range(len(self)))


@pytest.fixture
def hub(monkeypatch):
    """A stand-in; `hub.parts` is what it loads."""
    module = ModuleType("datasets")
    module.ClassLabel = type("ClassLabel", (SimpleNamespace,), {})
    module.Image = type("Image", (), {})
    module.exceptions = SimpleNamespace(DatasetsError=type("DatasetsError", (Exception,), {}))
    module.parts, module.fail, module.asked = {}, None, []

    def load(name, cache_dir):
        module.asked.append((name, cache_dir))
        if module.fail:
            raise module.fail
        return module.parts

    module.load_dataset = load
    monkeypatch.setitem(sys.modules, "datasets", module)
    return module


def numbers(hub, n=20, label=None, names=("no", "yes")):
    features = {
        "a": SimpleNamespace(dtype="float32"),
        "text": SimpleNamespace(dtype="string"),
        "b": SimpleNamespace(dtype="int64"),
        "label": hub.ClassLabel(names=list(names), dtype="int64"),
    }
    labels = [i % 2 for i in range(n)] if label is None else label
    return Part(features, {"a": [i / 4 for i in range(n)], "text": ["x"] * n, "b": list(range(n)), "label": labels})


def test_columns_of_numbers(hub, own_cache):
    hub.parts = {"train": numbers(hub), "test": numbers(hub, 6)}
    data = load_dataset("hf:Someone/Set")
    assert hub.asked == [("Someone/Set", str(own_cache / "huggingface"))]
    np.testing.assert_array_equal(data.X_train, np.stack([np.arange(20) / 4, np.arange(20)], axis=1))
    np.testing.assert_array_equal(data.y_test, np.arange(6) % 2)
    assert (data.name, data.class_names, data.licence) == ("hf:Someone/Set", ("no", "yes"), "mit")


def test_a_test_part_without_labels_is_not_one(hub):
    hub.parts = {"train": numbers(hub), "test": numbers(hub, 6, [-1] * 6), "validation": numbers(hub, 4)}
    assert len(load_dataset("hf:a").y_test) == 4
    del hub.parts["validation"]
    data = load_dataset("hf:a", test_size=0.25, rng=1)
    assert (len(data.y_train), len(data.y_test)) == (15, 5)


def test_a_column_named_label_of_text(hub):
    part = numbers(hub)
    part.features["label"] = SimpleNamespace(dtype="string")
    part.columns["label"] = ["spam" if i % 3 else "ham" for i in range(20)]
    hub.parts = {"train": part}
    assert load_dataset("hf:a").class_names == ("ham", "spam")


@pytest.mark.parametrize(("mode", "channels"), [("L", 1), ("RGB", 3)])
def test_images(hub, needs, mode, channels):
    needs("PIL")
    from PIL import Image

    def part(n, size=(6, 8)):
        pictures = [Image.new(mode, size, 10 * i if mode == "L" else (10 * i, 0, 0)) for i in range(n)]
        features = {"image": hub.Image(), "label": hub.ClassLabel(names=["a", "b"])}
        return Part(features, {"image": pictures, "label": [i % 2 for i in range(n)]})

    hub.parts = {"train": part(10), "test": part(4)}
    data = load_dataset("hf:a")
    assert data.X_train.shape == (10, channels, 8, 6)  # height 8, width 6
    np.testing.assert_allclose(data.X_test[:, 0, 3, 3] * 255, [0, 10, 20, 30], atol=1e-4)
    assert load_dataset("hf:a", image_size=5).X_test.shape == (4, channels, 5, 5)
    hub.parts["train"].columns["image"][2] = Image.new(mode, (6, 9))
    with refuses("image_size", "shape", got=r"got \(6, 8\) and \(6, 9\)"):
        load_dataset("hf:a")


def test_what_cannot_be_used(hub):
    for problem in (ConnectionError("no route"), ValueError("no route"), hub.exceptions.DatasetsError("no route")):
        hub.fail = problem
        with refuses("hf", "unreadable", got="no route"):
            load_dataset("hf:a")
    hub.fail = None
    hub.parts = {"all": numbers(hub)}
    with refuses("hf", "missing", got="it has all"):
        load_dataset("hf:a")
    hub.parts = {"train": numbers(hub), "test": numbers(hub, names=("yes", "no"))}
    with refuses("hf", "mismatch"):
        load_dataset("hf:a")
    part = numbers(hub)
    del part.features["a"], part.features["b"]
    hub.parts = {"train": part}
    with refuses("hf", "missing", got="it has text and label"):
        load_dataset("hf:a")
    del part.features["label"]
    with refuses("hf", "missing", got="it has text"):
        load_dataset("hf:a")


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with refuses("datasets", "package", got=r"hf:a .*pip install .\.\[huggingface\]", error=MissingDependencyError):
        load_dataset("hf:a")
