"""MobileNetV2 and VGG16 of torchvision, pretrained on ImageNet, as backbones of a method. Torchvision is optional."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from uqassay.errors import InputError
from uqassay.files import optional_package
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.methods import run_method

__all__ = ["ImagenetNetwork", "run_on_imagenet_network"]

NAMES = {"MobileNetV2": "mobilenet_v2", "VGG16": "vgg16"}  # of torchvision
WEIGHTS = "IMAGENET1K_V1"
MEAN, SD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of the transforms of these weights


class ImagenetNetwork(nn.Module):
    """A network with the weights that it learnt on ImageNet; images ``(n, C, H, W)`` or ``(n, H, W)`` in [0, 1].

    Parameters
    ----------
    name : {"MobileNetV2", "VGG16"}
    head : {"added", "replaced"}
        "added": its 1,000 outputs are the features. "replaced": its last layer is left out, and what enters it, 1,280 or 4,096
        numbers, are the features.
    end_to_end : bool
        Whether its weights can be trained.
    """

    def __init__(self, name: str, *, head: str, end_to_end: bool) -> None:
        super().__init__()
        self.end_to_end = end_to_end
        self.body = _pretrained(name)
        if head == "replaced":
            self.body.classifier[-1] = nn.Identity()
        if not end_to_end:
            self.body.requires_grad_(False)
        self.register_buffer("mean", torch.tensor(MEAN).view(3, 1, 1))
        self.register_buffer("sd", torch.tensor(SD).view(3, 1, 1))

    def train(self, mode: bool = True) -> "ImagenetNetwork":
        """Training or evaluation; a network that is not trained has neither dropout nor batch statistics."""
        super().train(mode and self.end_to_end)
        return self

    def forward(self, x: Tensor) -> Tensor:
        """Features ``(n, d)``; grey images fill all three channels."""
        x = x[:, None] if x.ndim == 3 else x
        features: Tensor = self.body((x.expand(-1, 3, -1, -1) - self.mean) / self.sd)
        return features


def run_on_imagenet_network(cell: Cell) -> CellResult:
    """Train a method on such a network, and let it predict the test instances; `uqassay.lab.bench.methods.run_method` else."""
    return run_method(cell, {"backbone": partial(ImagenetNetwork, **cell.params["network"])})


def _pretrained(name: str) -> Any:
    models = optional_package("torchvision.models", "torchvision>=0.17", "a network with the weights of ImageNet")
    try:
        return models.get_model(NAMES[name], weights=WEIGHTS)
    except OSError as problem:  # no network
        raise InputError(
            "architectures",
            f"the weights of {name} cannot be downloaded",
            str(getattr(problem, "reason", problem)),
            "put them into the cache folder of PyTorch, ~/.cache/torch/hub/checkpoints",
            code="unreadable",
        ) from problem
