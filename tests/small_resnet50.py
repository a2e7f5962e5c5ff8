"""ResNet-50 with narrow and, by default, few layers, for tests of what trains it."""

import pytest

from uqassay.lab.methods import backbones
from uqassay.lab.methods import backbones as resnet50

NARROWER = 8


def shrink_resnet50(monkeypatch: pytest.MonkeyPatch, *, shallow: bool = True) -> None:
    """Layers an eighth as wide, so an eighth of the features; `shallow`: one bottleneck in each stage."""
    stages = tuple((width // NARROWER, 1 if shallow else depth) for width, depth in resnet50.STAGES)
    monkeypatch.setattr(resnet50, "STAGES", stages)
    monkeypatch.setattr(backbones, "N_FEATURES", resnet50.N_FEATURES // NARROWER)
