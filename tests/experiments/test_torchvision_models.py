"""Torchvision by name, and the sentence where it is missing."""

import sys
from types import ModuleType

import pytest
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.experiments.torchvision_models import models_of_torchvision


def test_the_models_of_the_package(monkeypatch):
    package, models = ModuleType("torchvision"), ModuleType("torchvision.models")
    monkeypatch.setitem(sys.modules, "torchvision", package)
    monkeypatch.setitem(sys.modules, "torchvision.models", models)
    assert models_of_torchvision("a test") is models


@pytest.mark.parametrize("missing", ["torchvision", "torchvision.models"])
def test_a_missing_package_is_one_sentence(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision", ModuleType("torchvision"))
    monkeypatch.setitem(sys.modules, missing, None)
    said = r"training VGG16 needs it; run pip install 'uqassay\[vision\]', which installs torchvision and PyTorch"
    with refuses("torchvision", "package", got=said, error=MissingDependencyError):
        models_of_torchvision("training VGG16")
