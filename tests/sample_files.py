"""What tests of files share: random rows, packages by extension, and whether an array is mapped."""

import numpy as np

PACKAGES = {".safetensors": "safetensors", ".zarr": "zarr", ".pt": "torch", ".parquet": "pyarrow"}


def rows(*shape: int, dtype: type = np.float64) -> np.ndarray:
    """Random distributions ``(…, K)``, the same for the same shape."""
    return np.random.default_rng(sum(shape)).dirichlet(np.ones(shape[-1]), shape[:-1]).astype(dtype)


def is_mapped(array: np.ndarray) -> bool:
    """Whether the values stay in a file."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False
