"""Data sets without MNIST; networks in place of those of torchvision."""

import sys
from types import ModuleType

import pytest

from uqassay.errors import InputError
from uqassay.lab import datasets

ABSENT = InputError("t10k-images.gz", "cannot be downloaded", remedy="put that file at its place", code="missing")


@pytest.fixture(scope="module")
def without_mnist():
    """No data set but those that come with scikit-learn, and no network that is asked for another."""
    load = datasets.load_dataset

    def local(name, **options):
        if name != "digits" and not name.startswith("npz:"):
            raise ABSENT
        return load(name, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "load_dataset", local)
        yield


@pytest.fixture
def vision(monkeypatch):
    """A stand-in for torchvision with the interface of its documentation; the list of (name, weights) that were asked for.

    ``torchvision.models.get_model(name, weights=…)`` gives a network for images (n, 3, H, W) with 1,000 outputs, whose
    attribute ``classifier`` is a `Sequential` that ends with a linear layer.
    """
    from torch import nn

    class Small(nn.Module):
        def __init__(self, normalised, *classifier):
            super().__init__()
            layers = [
                nn.Conv2d(3, 4, 3, stride=2, bias=not normalised),
                *([nn.BatchNorm2d(4)] if normalised else []),
                nn.ReLU(inplace=True),
            ]
            self.features = nn.Sequential(*layers)
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.classifier = nn.Sequential(*classifier)

        def forward(self, x):
            assert x.shape[1] == 3
            return self.classifier(self.avgpool(self.features(x)).flatten(1))

    made = {
        "mobilenet_v2": lambda: Small(True, nn.Dropout(0.2), nn.Linear(4, 1000)),
        "vgg16": lambda: Small(
            False,
            *(nn.Linear(4, 8), nn.ReLU(True), nn.Dropout()),
            *(nn.Linear(8, 8), nn.ReLU(True), nn.Dropout(), nn.Linear(8, 1000)),
        ),
    }
    asked = []

    def get_model(name, *, weights):
        import torch

        asked.append((name, weights))
        if weights != "IMAGENET1K_V1":
            raise ValueError(f"no such weights: {weights}")
        with torch.random.fork_rng(devices=[]):  # pretrained weights are the same in every call
            torch.manual_seed(1)
            return made[name]()

    package, models = ModuleType("torchvision"), ModuleType("torchvision.models")
    package.models, models.get_model = models, get_model
    monkeypatch.setitem(sys.modules, "torchvision", package)
    monkeypatch.setitem(sys.modules, "torchvision.models", models)
    return asked
