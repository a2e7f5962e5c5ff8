"""ResNet-50 without its head (He et al., 2016), with fresh weights.

A 7 × 7 convolution of stride 2 and a 3 × 3 max pooling of stride 2; four stages of 3, 4, 6 and 3 bottlenecks; the mean over
all places, 2,048 features. A bottleneck is 1 × 1, 3 × 3 and 1 × 1 convolutions, each with batch norm, and the sum with its
input. The first bottleneck of stages 2 to 4 halves height and width in its 3 × 3 convolution, as is common today; the paper
does so in the 1 × 1 convolution before it. At 224 × 224 the stages have 56 × 56, 28 × 28, 14 × 14 and 7 × 7 places.
"""

from typing import final

import torch
from torch import Tensor, nn

__all__ = ["N_FEATURES", "Bottleneck", "ResNet50"]

STEM = 64  # channels after the first convolution
STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))  # channels within the bottlenecks of a stage, number of these
EXPANSION = 4  # channels after a bottleneck over those within it
N_FEATURES = 2048


@final
class Bottleneck(nn.Module):
    """ReLU(x + three convolutions of x); where the shape changes, x passes through a 1 × 1 convolution with batch norm.

    Parameters
    ----------
    inputs : int
        Channels of x.
    width : int
        Channels within; there are four times as many at the end.
    stride : int
        Of the 3 × 3 convolution.
    """

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = EXPANSION * width
        self.residual = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        """``(n, inputs, H, W)`` to ``(n, 4 width, H / stride, W / stride)``."""
        return torch.relu(self.shortcut(x) + self.residual(x))


@final
class ResNet50(nn.Module):
    """Images ``(n, 3, H, W)``, or grey ones ``(n, 1, H, W)`` or ``(n, H, W)``, to features ``(n, 2048)``.

    A grey image fills all three channels. Weights are drawn as in the paper (He et al., 2015): normal with variance
    2 / (outputs × kernel); scales of batch norm are 1, shifts 0.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, STEM, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(STEM),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        stages, inputs = list[nn.Module](), STEM
        for i, (width, n_blocks) in enumerate(STAGES):
            blocks = list[nn.Module]()
            for j in range(n_blocks):
                blocks.append(Bottleneck(inputs, width, stride=2 if i > 0 and j == 0 else 1))
                inputs = EXPANSION * width
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.Sequential(*stages)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        """Features, ``(n, 2048)``."""
        x = x[:, None] if x.ndim == 3 else x
        places: Tensor = self.stages(self.stem(x.expand(-1, 3, -1, -1)))
        return places.mean(dim=(-2, -1))
