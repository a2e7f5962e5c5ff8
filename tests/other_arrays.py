"""Arrays of other libraries for tests: array-api-strict on a device that NumPy cannot read, PyTorch, and JAX."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

LIBRARIES = {"strict": "array_api_strict", "torch": "torch", "jax": "jax"}


@dataclass(frozen=True)
class Library:
    """One library: how its arrays are made, and the precision of its computations here."""

    name: str
    make: Callable[[Any], Any]
    eps: float

    def cast(self, values: np.ndarray) -> np.ndarray:
        """The NumPy array whose result is the expected one: JAX without x64 has float32 alone."""
        return values.astype(np.float32) if self.name == "jax" and values.dtype == np.float64 else values


def library(name: str) -> Library:
    """A library that is installed, see the fixture `needs`."""
    if name == "strict":
        import array_api_strict as xp

        device = xp.Device("device1")
        return Library(name, lambda values: xp.asarray(np.asarray(values), device=device), 2.3e-16)
    if name == "torch":
        import torch

        return Library(name, lambda values: torch.tensor(np.asarray(values)), 2.3e-16)
    import jax.numpy as jnp

    return Library(name, lambda values: jnp.asarray(np.asarray(values)), 1.2e-7)


def numbers(values: Any) -> np.ndarray:
    """Values of an array of any library, for comparisons; those of array-api-strict from its own NumPy array."""
    return np.asarray(values._array if type(values).__module__.startswith("array_api_strict") else values)


def force_computation_elsewhere(monkeypatch) -> None:
    """Treat every array of another library as one on an accelerator, so that the host's shortcut is not taken."""
    monkeypatch.setattr("uqassay.predictions.devices.lies_on_host", lambda values: False)
