"""The backbone of a network by name: an MLP by its sizes, the papers' convolutional networks, ResNet-50."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.lab.methods.layers import Lifted

__all__ = [
    "N_FEATURES",
    "Backbone",
    "Bottleneck",
    "ResNet50",
    "check_images",
    "check_where",
    "for_recordings",
    "make_backbone",
]


# ResNet-50 without its head (He et al., 2016), with fresh weights.
#
# A 7 × 7 convolution of stride 2 and a 3 × 3 max pooling of stride 2; four stages of 3, 4, 6 and 3 bottlenecks; the
# mean over all places, 2,048 features. A bottleneck is 1 × 1, 3 × 3 and 1 × 1 convolutions, each with batch norm, and
# the sum with its input. The first bottleneck of stages 2 to 4 halves height and width in its 3 × 3 convolution, as is
# common today; the paper does so in the 1 × 1 convolution before it. At 224 × 224 the stages have 56 × 56, 28 × 28, 14
# × 14 and 7 × 7 places.

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


# The backbone of a network by name: an MLP by its sizes, the papers' convolutional networks, or any given module.
#
# | backbone | instances | before the dense layers | dense layers |
# |---|---|---|---|
# | "mlp" | (D,), or flattened | – | 64, 64 |
# | tuple of int | (D,), or flattened | – | these |
# | "cnn" | (C, H, W) or (H, W) | 3 × (3 × 3 convolution of 64, ReLU, 2 × 2 max pooling) | 64 |
# | "cnn-small" | (C, H, W) or (H, W) | 3 × 3 convolutions of 32, 64, 64 with ReLU, 2 × 2 max pooling after the first two | 64 |
# | "cnn-valid" | the same from 18 × 18 | as "cnn-small", but without padding | 64 |
# | "resnet50" | (1 or 3, H, W) or (H, W) from 32 × 32 | ResNet-50, 2,048 features, see `uqassay.lab.methods.backbones` | – |
# | "eeg" | (channels, time) | 1 × 13 and channels × 1 convolutions of 40, batch norm, square, mean pooling 35 / 7, log | 32 |
# | "eeg-max-norm" | (channels, time) | "eeg" without ReLU and second bias, filters of norm 2 at most | 32 |
# | torch.nn.Module | as the module expects | a copy of the module with its weights | – |
# | callable | as its module expects | the module that it returns, a new one for every network | – |
#
# "cnn" and "eeg" are those of appendix C of the paper on disentanglement, "cnn-valid" and "eeg-max-norm" those of its
# authors' code. The convolutions of "cnn" and "cnn-small" keep the size of an image, so that 8 × 8 pixels suffice.

MLP_SIZES = (64, 64)
KERNELS = 40  # of the network for EEG
LEAST_POWER = 1e-6  # the logarithm of a smaller power is that of this one
GREATEST_NORM = 2.0  # of the weights of a filter of "eeg-max-norm"
Shape = tuple[int, ...]


@final
@dataclass(frozen=True)
class Backbone:
    """The layers of a network before its head."""

    #: Makes the module before the dense layers, with fresh weights from PyTorch's global random numbers
    new_module: Callable[[], nn.Module] | None
    n_inputs: int  #: Features that enter the dense layers
    hidden: tuple[int, ...]  #: Widths of the dense layers
    image_size: int | None = None  #: Images are resized to this height and width before the module sees them
    #: One network fills a GPU, so that several at once gain nothing and may not fit into its memory
    large: bool = False

    @property
    def convolutional(self) -> bool:
        """Whether a module comes before the dense layers."""
        return self.new_module is not None

    @property
    def n_features(self) -> int:
        """Number of features that enter the head."""
        return (self.n_inputs, *self.hidden)[-1]

    def dense_sizes(self) -> list[tuple[int, int]]:
        """Inputs and outputs of each dense layer."""
        return list(pairwise((self.n_inputs, *self.hidden)))

    def extractor(self, changed: Callable[[nn.Module], nn.Module] | None = None) -> Lifted | None:
        """A new module before the dense layers, changed by a function where one is given; or None."""
        if self.new_module is None:
            return None
        module = self.new_module() if changed is None else changed(self.new_module())
        return Lifted(module.cpu().float(), image_size=self.image_size)


def make_backbone(backbone: Any, shape: Shape, image_size: int | None = None) -> Backbone:
    """The backbone for instances of a shape.

    Parameters
    ----------
    backbone : str, tuple of int, torch.nn.Module or callable
        See the table above.
    shape : tuple of int
        Of one instance.
    image_size : int, optional
        Images are resized to this height and width first.
    """
    if image_size is None:
        return _for_shape(backbone, shape)
    check_images("image_size", backbone, shape)
    made = _for_shape(backbone, (*shape[:-2], image_size, image_size))
    if not made.convolutional:
        fail("image_size", "needs a convolutional backbone", f"got {backbone!r}", 'for example "cnn"', code="conflict")
    return replace(made, image_size=image_size)


def check_images(option: str, backbone: Any, shape: Shape) -> None:
    """Refuse an option for images where instances of this shape are none."""
    if len(shape) not in (2, 3) or for_recordings(backbone):
        got = f"got recordings {shape}" if len(shape) == 2 else f"got {shape}"
        rule = f"an instance must be an image (C, H, W) or (H, W) where {option} is given"
        fail("X", rule, got, f"reshape X or leave {option} out", code="shape")


def _for_shape(backbone: Any, shape: Shape) -> Backbone:
    if isinstance(backbone, str):
        if backbone == "mlp":
            return Backbone(None, _size(shape), MLP_SIZES)
        if backbone == "resnet50":
            _check_image(backbone, shape, "an image (1, H, W), (3, H, W) or (H, W) of at least 32 × 32")
            return Backbone(ResNet50, N_FEATURES, (), large=True)
        if backbone not in CONVOLUTIONAL:
            names = ", ".join(f'"{name}"' for name in ("mlp", "resnet50", *CONVOLUTIONAL))
            rule = f"must be {names}, a tuple of hidden sizes or a torch.nn.Module"
            fail("backbone", rule, f"got {backbone!r}", "choose one of them", code="choice")
        wanted, hidden, layers = CONVOLUTIONAL[backbone]
        _check_image(backbone, shape, wanted)
        return _with_module(partial(layers, shape), shape, hidden)
    if isinstance(backbone, nn.Module):
        return _with_module(partial(deepcopy, backbone), shape, ())
    if callable(backbone):
        return _with_module(backbone, shape, ())
    sizes = tuple(backbone) if isinstance(backbone, (tuple, list)) else (backbone,)
    if not all(isinstance(size, (int, np.integer)) and not isinstance(size, bool) and size >= 1 for size in sizes):
        rule = "hidden sizes must be whole numbers from 1 up in a tuple"
        fail("backbone", rule, f"got {backbone!r}", "for example (64, 64)", code="type")
    return Backbone(None, _size(shape), sizes)


def check_where(where: str, backbone: Backbone) -> None:
    """Refuse ``where="hidden"``, the hidden dense layers, for a backbone without any."""
    if where == "hidden" and not backbone.hidden:
        fail("where", '"hidden" needs a dense layer', "this backbone has none", 'use where="all"', code="conflict")


def _with_module(new_module: Callable[[], nn.Module], shape: Shape, hidden: tuple[int, ...]) -> Backbone:
    """Find the number of features with two instances of zeros."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        module = new_module()
        if not isinstance(module, nn.Module):
            rule = "the callable must return a torch.nn.Module"
            fail("backbone", rule, f"it returned {type(module).__name__}", "let it return the module", code="type")
        probe = torch.zeros(2, *shape)
        try:
            features = deepcopy(module).cpu().float().eval()(probe)
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as problem:
            words = str(problem).partition("\n")[0]  # PyTorch's; the first line names the cause
            rule = f"the module must take instances {tuple(probe.shape)}"
            got = f"it raised {type(problem).__name__}: {words}"
            raise InputError("backbone", rule, got, "give X in the shape that it expects", code="shape") from problem
    if not isinstance(features, torch.Tensor) or features.ndim != 2 or len(features) != 2:
        found = tuple(features.shape) if isinstance(features, torch.Tensor) else type(features).__name__
        rule = "the module must map (n, …) to features (n, d)"
        remedy = "end it with torch.nn.Flatten() and leave the classes to the method's own head"
        fail("backbone", rule, f"for {tuple(probe.shape)} it returned {found}", remedy, code="shape")
    return Backbone(new_module, int(features.shape[1]), hidden)


# -- the papers' convolutional networks ---------------------------------------------------------------------------------


class _AddChannels(nn.Module):
    """(n, H, W) to (n, 1, H, W); arrays with four axes do not change."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, None] if x.ndim == 3 else x


class _Square(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x


class _Log(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log(x.clamp(min=LEAST_POWER))


def _image_network(widths: tuple[int, ...], n_pools: int, padding: int, shape: Shape) -> nn.Module:
    channels = shape[0] if len(shape) == 3 else 1
    made: list[nn.Module] = [_AddChannels()]
    for i, (inputs, outputs) in enumerate(pairwise((channels, *widths))):
        made += [nn.Conv2d(inputs, outputs, 3, padding=padding), nn.ReLU()]
        made += [nn.MaxPool2d(2)] if i < n_pools else []
    return nn.Sequential(*made, nn.Flatten())


def _eeg_network(shape: Shape) -> nn.Module:
    return nn.Sequential(
        _AddChannels(),
        nn.Conv2d(1, KERNELS, (1, 13)),
        nn.ReLU(),
        nn.Conv2d(KERNELS, KERNELS, (shape[0], 1)),
        nn.ReLU(),
        *_power(),
    )


def _bounded_eeg_network(shape: Shape) -> nn.Module:
    over_time, over_channels = nn.Conv2d(1, KERNELS, (1, 13)), nn.Conv2d(KERNELS, KERNELS, (shape[0], 1), bias=False)
    for convolution in (over_time, over_channels):
        convolution.greatest_norm = GREATEST_NORM  # `Lifted` reads it
    return nn.Sequential(_AddChannels(), over_time, over_channels, *_power())


def _power() -> list[nn.Module]:
    """Logarithm of the mean power of every filter."""
    return [nn.BatchNorm2d(KERNELS), _Square(), nn.AvgPool2d((1, 35), (1, 7)), _Log(), nn.Flatten()]


# name: what an instance must be, dense layers, layers before them
CONVOLUTIONAL: dict[str, tuple[str, tuple[int, ...], Callable[[Shape], nn.Module]]] = {
    "cnn": ("an image (C, H, W) or (H, W) of at least 8 × 8", (64,), partial(_image_network, (64, 64, 64), 3, 1)),
    "cnn-small": ("an image (C, H, W) or (H, W) of at least 8 × 8", (64,), partial(_image_network, (32, 64, 64), 2, 1)),
    "cnn-valid": (
        "an image (C, H, W) or (H, W) of at least 18 × 18",
        (64,),
        partial(_image_network, (32, 64, 64), 2, 0),
    ),
    "eeg": ("a recording (channels, time) of at least 47 steps", (32,), _eeg_network),
    "eeg-max-norm": ("a recording (channels, time) of at least 47 steps", (32,), _bounded_eeg_network),
}


def for_recordings(backbone: Any) -> bool:
    """Whether it takes recordings (channels, time), not images (H, W)."""
    return isinstance(backbone, str) and backbone.startswith("eeg")


def _check_image(name: str, shape: Shape, wanted: str) -> None:
    if for_recordings(name):
        fits = len(shape) == 2 and shape[1] >= 47
    elif name == "resnet50":
        fits = (len(shape) == 2 or (len(shape) == 3 and shape[0] in (1, 3))) and min(shape[-2:]) >= 32
    else:
        fits = len(shape) in (2, 3) and min(shape[-2:]) >= (18 if name == "cnn-valid" else 8)
    if not fits:
        rule = f'for the backbone "{name}" an instance must be {wanted}'
        fail("X", rule, f"got {shape}", "reshape X or use another backbone", code="shape")


def _size(shape: Shape) -> int:
    size = 1
    for length in shape:
        size *= length
    return size
