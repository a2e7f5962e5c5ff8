"""Arrays of other libraries (PyTorch, JAX, CuPy, any array API namespace): where they lie and how to compute on them.

NumPy arrays are never foreign. A foreign array on the host is viewed by NumPy without a copy; one on another device is computed
in its own namespace. No array library is imported here: an array that arrives shows that its library is loaded.
"""

import sys
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import precision_of
from uqassay.errors import InputError
from uqassay.files import optional_package

__all__ = [
    "as_result",
    "compute_dtype",
    "detached",
    "device_of",
    "is_foreign",
    "lies_on_host",
    "like",
    "namespace",
    "result_dtype",
    "smallest_normal",
]

_ON_HOST = 1  # kDLCPU of DLPack
_NARROW = ("float32", "float16", "bfloat16")  # results have 32 bits


def is_foreign(values: Any) -> bool:
    """True for an array of another library that has values: no NumPy array, list, table, or tracer of a compiler.

    Examples
    --------
    >>> is_foreign(np.zeros(2)), is_foreign([0.5, 0.5])
    (False, False)
    """
    if isinstance(values, (np.ndarray, np.generic, list, tuple)) or not hasattr(values, "__dlpack_device__"):
        return False
    if getattr(values, "is_meta", False) or hasattr(values, "get_mask") or hasattr(values, "nnz"):
        return False  # no values, masked, sparse: `as_array` refuses them
    if str(getattr(values, "layout", "torch.strided")) != "torch.strided":
        return False
    return (
        hasattr(values, "__array_namespace__") or _is_of(values, "torch", "Tensor") or _is_of(values, "cupy", "ndarray")
    )


def _is_of(values: Any, module: str, name: str) -> bool:
    found = sys.modules.get(module)
    return found is not None and isinstance(values, getattr(found, name, ()))


def lies_on_host(values: Any) -> bool:
    """True if NumPy can view a foreign array, or must gather it from several devices."""
    if _is_spread(values):
        return True
    if int(values.__dlpack_device__()[0]) != _ON_HOST:
        return False
    if _is_of(values, "torch", "Tensor"):
        return True
    try:
        np.asarray(values)
    except RuntimeError:  # array-api-strict: a device that imitates another memory
        return False
    return True


def _is_spread(values: Any) -> bool:
    """True for an array of JAX in parts on several devices, which also tell how results would be parted."""
    devices = getattr(values, "devices", None)
    return callable(devices) and len(devices()) > 1


def namespace(values: Any) -> Any:
    """The array API namespace of an array: `numpy` itself for NumPy arrays.

    Raises
    ------
    MissingDependencyError
        A tensor of PyTorch or an array of CuPy without array-api-compat.

    Examples
    --------
    >>> namespace(np.zeros(2)).__name__
    'numpy'
    """
    if isinstance(values, (np.ndarray, np.generic)):
        return np
    if hasattr(values, "__array_namespace__") and not _is_of(values, "cupy", "ndarray"):
        return values.__array_namespace__()
    compat = optional_package(
        "array_api_compat", "arrays", "an array on another device", otherwise="move the array to the host"
    )
    return compat.array_namespace(values)


def device_of(values: Any) -> Any:
    """The device of a foreign array as its namespace names it."""
    device = values.device
    return device() if callable(device) else device


def compute_dtype(values: Any) -> Any:
    """float64 where the device of a foreign array has it, else float32."""
    xp = namespace(values)
    return xp.float64 if _has_float64(xp, device_of(values)) else xp.float32


@lru_cache(maxsize=64)
def _has_float64(xp: Any, device: Any) -> bool:
    return "float64" in xp.__array_namespace_info__().dtypes(device=device, kind="real floating")


def result_dtype(values: Any) -> Any:
    """Of a foreign array: float32 for floating-point input of 32 bits and fewer, else float64 where the device has it."""
    return namespace(values).float32 if precision_of(values) in _NARROW else compute_dtype(values)


def as_result(values: Any, given: Any) -> Any:
    """An array of a computation in the dtype of results; whole numbers and truth values stay."""
    xp = namespace(values)
    floats = xp.isdtype(values.dtype, "real floating")
    return xp.astype(values, result_dtype(given), copy=False) if floats else values


def smallest_normal(values: Any) -> float:
    """Smallest normal number of the dtype of an array."""
    return float(namespace(values).finfo(values.dtype).smallest_normal)


def detached(values: Any, name: str) -> Any:
    """A foreign array of real numbers, without the gradients of PyTorch.

    Raises
    ------
    InputError
        Complex numbers, or numbers of 8 bits and fewer.
    """
    dtype = precision_of(values)
    if dtype not in (*_NARROW, "float64", "bool") and not dtype.startswith(("int", "uint")):
        raise InputError(
            name,
            "must hold real numbers",
            f"got dtype {dtype}",
            "convert it, for example to float32",
            code="type",
            facts={"dtype": dtype},
        )
    return values.detach() if hasattr(values, "detach") else values


def like(result: NDArray[Any], given: Any) -> Any:
    """A NumPy array as an array of the library, precision and device of a foreign one.

    Raises
    ------
    MissingDependencyError
        As for `namespace`.
    """
    narrow = result.dtype.kind == "f" and precision_of(given) in _NARROW
    values = np.array(result, dtype=np.float32 if narrow else None)  # a copy that may be written to
    if _is_of(given, "torch", "Tensor"):
        return sys.modules["torch"].as_tensor(values, device=given.device)
    return namespace(given).asarray(values, device=None if _is_spread(given) else device_of(given))
