"""ResNet-50 as the body of a method, with a stand-in for torchvision."""

import sys
import types

import numpy as np
import pytest

from uqassay.experiments.unified import predictors
from uqassay.experiments.unified.protocol import reproduce_unified


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


def test_resnet50_stands_in_for_the_methods_own_backbone(monkeypatch, tmp_path):
    import torch
    from torch import nn

    class Tiny(nn.Module):
        """What torchvision's network looks like from outside: images with three channels in, a layer `fc` at the end."""

        def __init__(self, weights=None):
            super().__init__()
            assert weights is None
            self.fc = nn.Linear(6, 5)

        def forward(self, x):
            assert x.shape[1] == 3
            return self.fc(torch.cat([x.mean(dim=(2, 3)), x.amax(dim=(2, 3))], dim=1))

    images = types.ModuleType("torchvision.models")
    images.resnet50 = Tiny
    monkeypatch.setitem(sys.modules, "torchvision.models", images)
    monkeypatch.setattr(predictors, "find_spec", lambda name: name)
    rng = np.random.default_rng(0)
    x, y = rng.random((60, 8, 8)).astype(np.float32), np.arange(60) % 3
    np.savez(tmp_path / "images.npz", X_train=x[:40], y_train=y[:40], X_test=x[40:], y_test=y[40:])
    name = f"npz:{tmp_path / 'images.npz'}"
    result = reproduce_unified(preset="paper", dataset=name, backbone="resnet50", predictors=["SNN"])
    assert all(np.isfinite(cell.ours) for cell in result.rows if "/SNN/" in cell.name and "kl" in cell.name)
