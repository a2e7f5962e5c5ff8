"""ResNet-50 of torchvision, the body of the paper's networks; each method adds its head."""

from importlib import import_module

import numpy as np
import torch
from torch import nn

from uqassay.bench.cell import Cell, CellResult
from uqassay.bench.conditions import changed_data
from uqassay.datasets import load_dataset
from uqassay.methods import build_method

__all__ = ["ResNet50Features", "run_on_resnet50"]


class ResNet50Features(nn.Module):
    """2,048 features of images ``(n, C, H, W)`` or ``(n, H, W)``, with fresh weights; grey images fill all three channels."""

    def __init__(self) -> None:
        super().__init__()
        self.body = import_module("torchvision.models").resnet50(weights=None)
        self.body.fc = nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Features, ``(n, 2048)``."""
        x = x[:, None] if x.ndim == 3 else x
        features: torch.Tensor = self.body(x.expand(-1, 3, -1, -1))
        return features


def run_on_resnet50(cell: Cell) -> CellResult:
    """Train a method on this backbone, and let it predict the test instances."""
    data = changed_data(load_dataset(cell.dataset), cell.condition)
    model = build_method(
        cell.params["method"], **cell.params["params"], backbone=ResNet50Features, random_state=cell.seed
    ).fit(data.X_train, data.y_train)
    counts = np.bincount(data.y_train, minlength=data.n_classes).tolist()
    facts = {"n_train": len(data.y_train), "train_counts": counts}
    said = model.predict_uncertainty(data.X_test).with_metadata(class_names=data.class_names)
    return CellResult(said, data.y_test, facts=facts)
