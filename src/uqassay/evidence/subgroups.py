"""Parts of the test set to report on: the values of each subgroup, from a mapping or a table."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.evidence.alignment import align_values
from uqassay.evidence.findings import SUBSETS
from uqassay.wording import listed

__all__ = ["subgroup_values"]


def subgroup_values(
    subgroups: Mapping[str, ArrayLike] | Any, n: int, ids: NDArray[Any] | None
) -> dict[str, NDArray[Any]]:
    """Values (n,) of each subgroup, from a mapping or from the columns of a DataFrame.

    Raises
    ------
    InputError
        Names that occur twice or belong to other parts, or values that are missing.
    """
    given = _columns(subgroups)
    out = {}
    for key, values in given.items():
        name, parameter = str(key), f"subgroups[{str(key)!r}]"
        if name in SUBSETS or name in out:
            raise InputError(
                "subgroups",
                f"names must differ from each other and from {listed(SUBSETS)}, which are parts of every assay",
                f"got {name!r}",
                "rename the subgroup",
                code="choice",
            )
        array = align_values(values, n, ids, parameter)
        if array.dtype.kind in "OMm":
            array = array.astype(str)
        if array.dtype.kind == "f" and np.isnan(array).any():
            rows = np.flatnonzero(np.isnan(array))
            raise InputError(
                parameter,
                "must not hold nan",
                f"row {rows[0]} is nan, the first of {len(rows)}",
                "give such instances a number, or pass names as text",
                code="finite",
            )
        out[name] = np.array(array)  # a copy, because callers may fill their arrays anew
    return out


def _columns(subgroups: Any) -> Mapping[Any, Any]:
    if subgroups is None or isinstance(subgroups, Mapping):
        return subgroups or {}
    columns = getattr(subgroups, "columns", None)
    if columns is None or not hasattr(subgroups, "items"):
        raise InputError(
            "subgroups",
            "must map names to values, or be a DataFrame",
            f"got {type(subgroups).__name__}",
            'write {"site": site}',
            code="type",
        )
    twice = [str(name) for i, name in enumerate(columns) if name in list(columns)[:i]]
    if twice:
        raise InputError(
            "subgroups",
            "columns must have different names",
            f"{twice[0]!r} occurs twice",
            "rename one",
            code="duplicate",
        )
    return dict(subgroups.items())
