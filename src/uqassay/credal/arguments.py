"""Shared validation of arguments."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError

__all__ = ["finite_matrix", "whole_number"]


def finite_matrix(name: str, values: ArrayLike, n_columns: int | None = None) -> NDArray[np.float64]:
    """Return finite values (n, n_columns) as float64 in C order, so that sums of rows round in one way."""
    matrix = np.ascontiguousarray(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0 or matrix.shape[1] != (n_columns or matrix.shape[1]):
        wanted = n_columns or "columns"
        raise InputError(
            name,
            f"must have shape (n, {wanted}) with n at least 1",
            f"got {matrix.shape}",
            "pass one row per instance",
            code="shape",
        )
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        raise InputError(
            name, "must be finite", f"row {bad[0]} holds nan or inf", "drop or repair the row", code="finite"
        )
    return matrix


def whole_number(name: str, value: int, minimum: int) -> int:
    """Return an integer argument, checked."""
    if not hasattr(value, "__index__") or value < minimum:
        raise InputError(
            name,
            f"must be an integer of at least {minimum}",
            f"got {value!r}",
            f"pass {minimum} or more",
            code="range",
        )
    return int(value)
