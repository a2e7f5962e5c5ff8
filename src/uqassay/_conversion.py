"""Conversion of input to plain NumPy arrays; masked, sparse, ragged and object arrays and missing values are refused.

A masked or missing value has no number, so a mask is never dropped silently.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._frames import as_frame
from uqassay.errors import InputError

__all__ = [
    "as_array",
    "as_bfloat16",
    "as_numeric",
    "lone_surrogates",
    "one_row_for_each_pixel",
    "precision_of",
    "shown",
]

# NumPy has no bfloat16. Its values are kept as float32, and the dtype says where they come from.
_BFLOAT16 = np.dtype(np.float32, metadata={"precision": "bfloat16"})


def lone_surrogates(values: Any) -> NDArray[np.bool_]:
    """Which texts have lone surrogates, which no encoding takes; False for all that is no text.

    Examples
    --------
    >>> lone_surrogates(["a", "b\\ud800"]).tolist(), lone_surrogates([1.0]).tolist()
    ([False, True], [False])
    """
    texts = np.ascontiguousarray(values)
    if texts.dtype.kind != "U" or not texts.dtype.itemsize:
        return np.zeros(texts.shape, dtype=bool)
    codes = texts.astype(texts.dtype.newbyteorder("="), copy=False).reshape(-1, 1).view(np.uint32)
    surrogates = (codes >= 0xD800) & (codes < 0xE000)
    return np.any(surrogates, axis=1, keepdims=True).reshape(texts.shape)


def as_numeric(values: Any, name: str, *, ndim: int | tuple[int, ...] | None = None) -> NDArray[Any]:
    """Real-valued array, without a copy if possible. Memory maps stay memory maps; tensors are copied to the host.

    Raises
    ------
    InputError
        Masked, sparse or ragged values; objects or text; no instances; a wrong number of dimensions.
    """
    if values is None:
        raise InputError(name, "must be given", "it is None", "pass an array of numbers", code="missing")
    array = as_array(values, name)
    if array.dtype.kind not in "fiub" and array.dtype.name == "bfloat16":  # of ml_dtypes
        array = as_bfloat16(array.astype(np.float32))
    if array.dtype.kind not in "fiub":
        raise InputError(
            name,
            "must hold real numbers",
            _found(array, values),
            "give the columns or rows of numbers alone"
            if _holds_text(array)
            else "convert it, for example by .astype(float)",
            code="type",
            facts={"dtype": str(array.dtype)},
        )
    if ndim is not None:
        allowed = (ndim,) if isinstance(ndim, int) else ndim
        if array.ndim not in allowed:
            wanted = " or ".join(str(d) for d in allowed)
            remedy = "reshape it"
            if array.ndim == 4 and 2 in allowed:
                remedy = one_row_for_each_pixel(name, array.shape[1], tensor=hasattr(values, "permute"))
            elif array.ndim == 3 and allowed == (1, 2) and array.dtype.kind in "iu":
                remedy = f"pass {name}.reshape(-1) if there is a label for each pixel"
            raise InputError(name, f"must have {wanted} dimensions", f"got shape {array.shape}", remedy, code="shape")
        if array.shape[0] == 0:
            raise InputError(
                name, "must hold at least one instance", f"got shape {array.shape}", "check the selection", code="shape"
            )
    return array


def one_row_for_each_pixel(name: str, n_classes: int, *, tensor: bool = False) -> str:
    """The remedy for predictions ``(n, K, H, W)`` of images.

    Examples
    --------
    >>> one_row_for_each_pixel("probs", 3)
    'for images (n, K, H, W) pass probs.transpose(0, 2, 3, 1).reshape(-1, 3), and labels.reshape(-1)'
    """
    move = "permute" if tensor else "transpose"
    return f"for images (n, K, H, W) pass {name}.{move}(0, 2, 3, 1).reshape(-1, {n_classes}), and labels.reshape(-1)"


def as_array(values: Any, name: str) -> NDArray[Any]:
    """A plain array of any dtype, or the memory map that was given.

    Raises
    ------
    InputError
        A masked or sparse array, missing values of a table, rows of unequal length, or an object that is no array.
    """
    if type(values) in (np.ndarray, np.memmap):
        return values
    frame = as_frame(values, name)
    if frame is not None:
        return frame.array
    _refuse_masked_and_sparse(values, name)
    if hasattr(values, "detach"):
        values = _to_host(values, name)
    elif isinstance(values, (list, tuple)):
        for item in values:
            _refuse_masked_and_sparse(item, name)
        coarse = any(precision_of(item) == "bfloat16" for item in values)
        values = [_to_host(item, name) if hasattr(item, "detach") else item for item in values]
        if coarse:  # NumPy drops the mark when it stacks the items
            values = as_bfloat16(np.asarray(values, dtype=np.float32))
    try:
        # asarray drops subclasses such as np.matrix, whose rows have two dimensions
        return values if isinstance(values, np.memmap) else np.asarray(values)
    except ValueError as problem:
        raise InputError(
            name,
            "must be a rectangular array",
            "the rows given have unequal lengths",
            "pad short rows, probabilities with 0 and logits with −inf",
            code="ragged",
        ) from problem
    except (TypeError, RuntimeError, OverflowError, AttributeError) as problem:
        raise InputError(
            name,
            "must be an array of real numbers",
            f"got {type(values).__name__}",
            "pass its values as a NumPy array",
            code="type",
        ) from problem


def as_bfloat16(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same float32 values, marked as numbers that had the precision of bfloat16 when they were given."""
    return values.view(_BFLOAT16)


def precision_of(values: Any) -> str:
    """Name of the dtype that an array or tensor was given in, such as "float32" or "bfloat16"; "" without a dtype.

    Examples
    --------
    >>> precision_of(np.zeros(2)), precision_of(as_bfloat16(np.zeros(2, np.float32))), precision_of([0.0])
    ('float64', 'bfloat16', '')
    """
    dtype = getattr(values, "dtype", "")
    marked = (getattr(dtype, "metadata", None) or {}).get("precision")
    return str(marked or dtype).rpartition(".")[2]  # torch.float32, array_api_strict.float32


def shown(value: Any) -> str:
    """Short text of a value for an error: numbers and text as they are, arrays and long objects by their type.

    Examples
    --------
    >>> shown(0.5), shown("both"), shown(np.zeros((2, 3)))
    ('0.5', "'both'", 'ndarray of shape (2, 3)')
    """
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} of shape {shape}"
    if isinstance(value, int) and abs(value) > 10**30:
        return f"a whole number beyond {10**30:.0e}"
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else type(value).__name__


def _refuse_masked_and_sparse(values: Any, name: str) -> None:
    if isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray):
        return
    if isinstance(values, np.ma.MaskedArray) or hasattr(values, "get_mask"):  # NumPy's, PyTorch's
        raise InputError(
            name,
            "masked arrays are refused, because a masked value has no number",
            f"got {type(values).__name__} of shape {tuple(values.shape)}",
            "drop the masked rows, or fill them by .filled()",
            code="masked",
        )
    layout = str(getattr(values, "layout", "torch.strided"))
    if layout.startswith("torch.sparse") or (
        hasattr(values, "nnz") and hasattr(values, "shape")
    ):  # SciPy, pydata/sparse
        raise InputError(
            name,
            "sparse arrays are refused",
            f"got {type(values).__name__} of shape {tuple(values.shape)}",
            "make it dense, for example by .toarray() or .to_dense()",
            code="sparse",
        )


def _to_host(tensor: Any, name: str) -> NDArray[Any]:
    """A PyTorch tensor as an array: detached, copied to the host, and bfloat16 cast to float32."""
    if getattr(tensor, "is_meta", False):
        raise InputError(
            name,
            "must hold values",
            f"got a tensor of shape {tuple(tensor.shape)} on the device meta, which has none",
            "give a tensor of another device",
            code="missing",
        )
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":
        return as_bfloat16(_to_host(tensor.float(), name))
    # NumPy cannot read the flags by which PyTorch conjugates and negates lazily
    return np.asarray(tensor.resolve_conj().resolve_neg() if hasattr(tensor, "resolve_conj") else tensor)


def _holds_text(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "UST" or (array.dtype.kind == "O" and any(isinstance(item, str) for item in array.flat))


def _found(array: NDArray[Any], values: Any) -> str:
    """The dtype or type, for an error."""
    if array.ndim == 0:
        return f"got {type(values).__name__}"
    if array.dtype.kind == "O":
        odd = [item for item in array.flat if not isinstance(item, (int, float, np.number))][:1]
        return f"got dtype object with {f'values of type {type(odd[0]).__name__}' if odd else 'numbers in it'}"
    return f"got dtype {array.dtype}"
