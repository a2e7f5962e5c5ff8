"""Time and floating-point operations of a step of training, for the commands that estimate what a protocol costs.

A method is trained on one batch, so that an epoch is one step. The difference between two numbers of epochs leaves out all that
a training does once. Operations are those of matrix products and convolutions, forward and backward.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import numpy as np
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode

__all__ = ["images", "operations_of_step", "seconds_of_step"]

Fit = Callable[[int], Any]  # trains for a number of epochs


def images(n: int, shape: tuple[int, ...], n_classes: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Random instances of a shape, with the classes in turn."""
    g = np.random.default_rng(0)
    return g.normal(size=(n, *shape)).astype(np.float32), np.arange(n) % n_classes


def seconds_of_step(fit: Fit, steps: int, warm_up: int = 2, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one step by a clock, from trainings that differ by a number of steps."""

    def train(epochs: int) -> float:
        start = clock()
        fit(epochs)
        return clock() - start

    train(warm_up)
    return max(train(warm_up + steps) - train(warm_up), 1e-9) / steps


def operations_of_step(fit: Fit) -> float:
    """Floating-point operations of one step."""

    def count(epochs: int) -> float:
        with FlopCounterMode(display=False) as counted:
            fit(epochs)
        return float(counted.get_total_flops())

    return count(2) - count(1)
