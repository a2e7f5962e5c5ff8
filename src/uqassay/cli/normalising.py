"""The option --normalise: rows divided by their sums, and a note on how many were changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from uqassay._array import row_chunks, tolerance_of
from uqassay.notes import Note
from uqassay.predictions import Members, Prediction
from uqassay.predictions.files import load, load_column
from uqassay.wording import count

__all__ = ["NORMALISED", "load_normalised", "normalised_sentences"]

NORMALISED = "normalised"  # code of the note


def load_normalised(
    path: Path, *, kind: str | None = None, member_axis: int = 1, variance_is: str | None = None
) -> Prediction:
    """Read a prediction, divide its rows by their sums, and note how many instances that changed.

    Sums within the tolerance of the precision, which every prediction may miss, count as 1.

    Parameters
    ----------
    path : Path
    kind, member_axis, variance_is
        As in `load`.

    Raises
    ------
    FileFormatError
        As for `load`.
    """
    prediction = load(path, kind=kind, member_axis=member_axis, normalise=True, variance_is=variance_is)
    values = load_column(path, ["probs", "vertices"])[0]
    if isinstance(prediction, Members) and values.ndim == 3:
        values = np.moveaxis(values, member_axis, 1)
    tolerance = tolerance_of(values)
    changed = 0
    for rows in row_chunks(len(values), values[:1].nbytes):
        off = np.abs(values[rows].sum(axis=-1, dtype=np.float64) - 1.0) > tolerance
        changed += int(off.reshape(len(off), -1).any(axis=1).sum())
    if not changed:
        return prediction
    text = f"in {count(changed)} of {count(len(values))} rows the probabilities were divided by their sums"
    note = Note(NORMALISED, text, {"rows": changed, "instances": len(values)})
    return replace(prediction, notes=(*prediction.notes, note))


def normalised_sentences(runs: Mapping[str, Sequence[Prediction]]) -> Iterator[str]:
    """A warning for each run whose rows were changed, by the name of its model."""
    for name, predictions in runs.items():
        for prediction in predictions:
            for note in prediction.notes:
                if note.code == NORMALISED:
                    yield f"Warning: {name}: {note.text}."
