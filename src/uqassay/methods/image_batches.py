"""Changes of images in a batch: random shifts and flips in training, and another size in front of the backbone."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import interpolate

__all__ = ["AUGMENTATIONS", "resized", "shift_flip_places", "shifted_and_flipped"]

AUGMENTATIONS = ("shift-flip",)
LARGEST_SHIFT = 10  # a tenth of height and width, rounded down to pixels
Places = NDArray[np.int64]


def shift_flip_places(
    height: int, width: int, counts: Sequence[int], generators: Sequence[np.random.Generator]
) -> tuple[Places, Places]:
    """Draw for each image which line and which column of it stands at each place.

    An image is shifted by whole pixels, uniformly up to a tenth of its height and of its width in both directions; what is
    uncovered repeats the nearest pixel. With probability 1/2 it is then mirrored from left to right.

    Parameters
    ----------
    height, width : int
    counts : sequence of M int
        Images of each network; the longest decides B, and places after a network's own images leave the image as it is.
    generators : sequence of M numpy.random.Generator
        Each draws as much as its own images need, so that a network's images do not depend on the others.

    Returns
    -------
    lines : int array (M, B, H)
    columns : int array (M, B, W)
    """
    down, right = height // LARGEST_SHIFT, width // LARGEST_SHIFT
    shifts = np.zeros((len(counts), max(counts), 2), dtype=np.int64)
    flips = np.zeros((len(counts), max(counts)), dtype=bool)
    for m, (count, generator) in enumerate(zip(counts, generators, strict=True)):
        shifts[m, :count] = generator.integers([-down, -right], [down + 1, right + 1], size=(count, 2))
        flips[m, :count] = generator.integers(2, size=count) == 1
    lines = np.clip(np.arange(height) - shifts[..., :1], 0, height - 1)
    columns = np.clip(np.arange(width) - shifts[..., 1:], 0, width - 1)
    return lines, np.where(flips[..., None], columns[..., ::-1], columns)


def shifted_and_flipped(x: Tensor, rows: Tensor, lines: Tensor, columns: Tensor) -> Tensor:
    """Images at chosen rows, with their lines and columns in another order.

    Parameters
    ----------
    x : tensor (N, C, H, W) or (N, H, W)
    rows : int tensor (M, B)
    lines : int tensor (M, B, H)
    columns : int tensor (M, B, W)

    Returns
    -------
    tensor (M, B, C, H, W) or (M, B, H, W)
    """
    if x.ndim == 3:
        return x[rows[..., None, None], lines[..., None], columns[..., None, :]]
    channels = torch.arange(x.shape[1], device=x.device)[:, None, None]
    return x[
        rows[..., None, None, None], channels, lines[..., None, :, None], columns[..., None, None, :]
    ]  # one pass through the batch


def resized(x: Tensor, size: int) -> Tensor:
    """Images ``(…, H, W)`` at ``(…, size, size)``, bilinear, with averages over the pixels that a smaller image merges."""
    planes = x.reshape(-1, 1, *x.shape[-2:])
    done: Tensor = interpolate(planes, size=(size, size), mode="bilinear", align_corners=False, antialias=True)
    return done.reshape(*x.shape[:-2], size, size)
