"""Parts of the test set to report on: the values of each subgroup, from a mapping or a table."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._frames import FromFile, columns_of
from uqassay._one_order import aligned
from uqassay.errors import InputError
from uqassay.evidence.alignment import align_values
from uqassay.evidence.findings import SUBSETS
from uqassay.predictions.rows import Known
from uqassay.wording import listed

__all__ = ["of_same_instances", "subgroup_values"]


def subgroup_values(subgroups: Mapping[str, ArrayLike] | Any, n: int, known: Known) -> dict[str, NDArray[Any]]:
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
        array = align_values(values, n, known, parameter)
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


def of_same_instances(y_true: Any, groups: Any, subgroups: Any, uncertainties: Any) -> tuple[Any, Any, Any, Any]:
    """What an assay is given beside predictions, with its rows in one order; predictions without ids stand by position."""
    given = {
        "y_true": y_true,
        "groups": groups,
        "subgroups": None if subgroups is None else _columns(subgroups),
        "uncertainties": uncertainties,
    }
    # values of files are put in the order of the predictions one by one: they may be of more instances, and labels may
    # have class names of their own
    moving = {name: value for name, value in given.items() if value is not None and not _from_files(value)}
    found = given | aligned(moving, axes={"uncertainties": -1})
    y, units, parts, scores = (found[name] for name in given)
    return y, units, parts, scores


def _from_files(value: Any) -> bool:
    values = value.values() if isinstance(value, Mapping) else [value]
    return any(isinstance(one, FromFile) for one in values)


def _columns(subgroups: Any) -> Mapping[Any, Any]:
    if subgroups is None or isinstance(subgroups, Mapping):
        return subgroups or {}
    columns = columns_of(subgroups, "subgroups")
    if columns is None:
        raise InputError(
            "subgroups",
            "must map names to values, or be a DataFrame",
            f"got {type(subgroups).__name__}",
            'write {"site": site}',
            code="type",
        )
    return columns
