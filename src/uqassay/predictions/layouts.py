"""Outputs of FD-Shifts (Jaeger et al., ICLR 2023; IML-DKFZ/fd-shifts): one array `arr_0` in an .npz named after it.

| file | array | holds |
|---|---|---|
| `raw_logits.npz`, `raw_output.npz` | (N, C + 2) | C logits (softmax outputs), the label, the index of the data set |
| `raw_logits_dist.npz`, `raw_output_dist.npz` | (N, C, M) | logits (softmax outputs) of M dropout passes, no labels |

One file holds all test sets, one after the other. All rows are read; a note says how many belong to each data set,
and ``load_labels(path, key="dataset_idx")`` gives the index of every row, so that ``prediction[dataset_idx == 1]`` is
one set.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_numeric
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions.arrays_on_disk import Contents, StoredArray
from uqassay.predictions.keys import shown_keys

NAMES = ("raw_logits", "raw_output")


def is_fd_shifts(path: Path, contents: Contents) -> bool:
    """Whether a file has the name and the one array of an FD-Shifts output."""
    return path.suffix.lower() == ".npz" and path.name.startswith(NAMES) and list(contents.arrays) == ["arr_0"]


def read_fd_shifts(path: Path, contents: Contents) -> Contents:
    """Give the parts of the one array their names.

    Raises
    ------
    InputError
        Another number of arrays or axes, or last columns that are not labels and data-set indices.
    """
    if len(contents.arrays) != 1:
        found = shown_keys(contents.arrays)
        raise InputError(
            "kind",
            "'fd-shifts' needs a file with the one array arr_0",
            f"found {found}",
            "leave kind out",
            code="missing",
        )
    stored = next(iter(contents.arrays.values()))
    key = "probs" if path.name.startswith("raw_output") else "logits"
    if len(stored.shape) == 3:  # (N, C, M) → (N, M, C)
        n, n_classes, n_members = stored.shape
        moved = StoredArray(
            (n, n_members, n_classes), stored.dtype, lambda: np.moveaxis(as_numeric(stored.read(), key), 2, 1)
        )
        return Contents({key: moved})
    if len(stored.shape) != 2 or stored.shape[1] < 4:
        raise InputError(
            "arr_0",
            "must be (N, C + 2) with C logits, the label and the index of the data set, or (N, C, M)",
            f"got shape {stored.shape}",
            "leave kind out or rename the file",
            code="shape",
        )

    @cache
    def table() -> NDArray[Any]:
        return as_numeric(stored.read(), "arr_0")

    labels, dataset_idx = (_whole_column(table()[:, i], name) for i, name in ((-2, "label"), (-1, "dataset_idx")))
    n, width = stored.shape
    arrays = {
        key: StoredArray((n, width - 2), stored.dtype, lambda: table()[:, :-2]),
        "labels": StoredArray.in_memory(labels),
    }
    return Contents(arrays, {"dataset_idx": StoredArray.in_memory(dataset_idx)}, notes=_note(dataset_idx))


def _whole_column(values: NDArray[Any], name: str) -> NDArray[np.int64]:
    wide = values.astype(np.float64)
    broken = ~np.isfinite(wide) | (wide != np.round(np.where(np.isfinite(wide), wide, 0.0)))
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        raise InputError(
            "arr_0",
            "its last two columns must be whole numbers, the label and the index of the data set",
            f"row {row} holds {float(wide[row]):g} as {name}",
            "rename the file if it holds something else",
            code="type",
            facts={"row": row},
        )
    return wide.astype(np.int64)


def _note(dataset_idx: NDArray[np.int64]) -> tuple[Note, ...]:
    indices, counts = np.unique(dataset_idx, return_counts=True)
    if len(indices) == 1:
        return ()
    rows = dict(zip(indices.tolist(), counts.tolist(), strict=True))
    shares = ", ".join(f"{i}: {n}" for i, n in rows.items())
    return (Note("data-sets", f"rows of {len(indices)} data sets by dataset_idx ({shares})", {"rows": rows}),)
