"""One chunk of a stream: its instances after alignment, and the form that all chunks of a stream share."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.evidence.alignment import Aligned
from uqassay.evidence.scoring import Settings
from uqassay.predictions import Masses, Prediction

__all__ = ["Chunk", "check_same_form", "refuse_mixed", "with_own_constants"]

OF_INSTANCES = ("ids", "groups", "row_numbers", "notes", "class_names", "drawn")  # fields that differ between chunks


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive instances.

    Attributes
    ----------
    aligned : Aligned
    given : dict of str to dict of str to array (R, n)
        Further uncertainty scores by model.
    subgroups : dict of str to array (n,)
    settings : Settings
    first_row : int
    signed : dict of str to tuple of R bool
        Whether the runs given are masses that are not known to be those of belief functions; these are repaired as a whole.
    """

    aligned: Aligned
    given: Mapping[str, Mapping[str, NDArray[np.float64]]]
    subgroups: Mapping[str, NDArray[Any]]
    settings: Settings
    first_row: int
    signed: Mapping[str, tuple[bool, ...]]

    def form(self) -> dict[str, Any]:
        """What all chunks of a stream have in common, by a name that errors can use."""
        aligned = self.aligned
        found: dict[str, Any] = {
            "models": tuple(aligned.models),
            "class_names": aligned.class_names if aligned.named else (),
            "number of classes": len(aligned.class_names),
            "axes of y_true": aligned.labels.ndim,
            "ids": aligned.ids is not None,
            "kind of groups": _kind(aligned.groups, "groups"),
            "kinds of subgroups": {name: _kind(values, name) for name, values in self.subgroups.items()},
            "scores": self.settings.measures,
            "signed": dict(self.signed),
            "uncertainties": {name: tuple(scores) for name, scores in self.given.items()},
        }
        for name, runs in aligned.models.items():
            found[f"runs of {name!r}"] = len(runs)
            for r, run in enumerate(runs):
                owner = f"{name!r}, run {r + 1}" if len(runs) > 1 else repr(name)
                found |= {f"{what} of {owner}": value for what, value in _constants(run).items()}
        return found


def check_same_form(found: Mapping[str, Any], first: Mapping[str, Any], argument: str) -> None:
    """Refuse a chunk, or a stream, that cannot be joined to the first.

    Raises
    ------
    InputError
        A part of the form differs.
    """
    for what in (*first, *found):
        here, there = found.get(what, "missing"), first.get(what, "missing")
        if not _same(here, there):
            raise InputError(
                argument,
                f"{what} must be as in the first chunk",
                f"got {_shown(here)}, and there {_shown(there)}",
                "give all chunks the same form, or start another stream",
                code="mismatch",
                facts={"part": what},
            )


def signed_runs(models: Mapping[str, Sequence[Prediction]]) -> dict[str, tuple[bool, ...]]:
    """Whether the runs of each model are signed masses."""
    return {name: tuple(isinstance(run, Masses) and run.signed for run in runs) for name, runs in models.items()}


def marked_like(form: Mapping[str, Any] | None, models: Mapping[str, list[Prediction]]) -> dict[str, list[Prediction]]:
    """Masses without a broken row, marked as signed where those of the first chunk are, so that all rows are treated alike."""
    found = {}
    for name, runs in models.items():
        before = (*(() if form is None else form["signed"].get(name, ())), *(False for _ in runs))
        found[name] = [
            replace(run, signed=True) if was and isinstance(run, Masses) else run
            for run, was in zip(runs, before, strict=False)
        ]
    return found


def with_own_constants(run: Prediction) -> Prediction:
    """The same prediction with copies of the arrays that belong to all instances, such as focal sets and weights of members.

    Selections of its instances share them, and a stream keeps selections.
    """
    same, of_instances = copy(run), (*run.array_names(), *OF_INSTANCES)
    for field in fields(run):
        value = getattr(run, field.name)
        if field.name not in of_instances and isinstance(value, np.ndarray):
            object.__setattr__(same, field.name, value.copy())
    return same


def refuse_mixed(groups: Any, models: Mapping[str, Sequence[Prediction]]) -> None:
    """Refuse groups that mix numbers and text, which an assay numbers as they come.

    Raises
    ------
    InputError
        Such groups, given or carried by a prediction.
    """
    carried = (run.groups for runs in models.values() for run in runs if run.groups is not None)
    values = np.asarray(next(carried, None) if groups is None else groups)
    if values.dtype.kind == "O" and not all(isinstance(value, (str, type(None))) for value in values.ravel().tolist()):
        raise InputError(
            "groups", "of a stream must be numbers or text, not both", "got both", "make them text", code="type"
        )


def _constants(run: Prediction) -> dict[str, Any]:
    """Kind, and every field that does not belong to single instances; of the others dtype and shape of an instance."""
    arrays = run.array_names()
    found: dict[str, Any] = {"kind": type(run).__name__}
    for field in fields(run):
        value = getattr(run, field.name)
        if field.name in arrays:
            found[field.name] = f"{value.dtype} of shape (n{''.join(f', {m}' for m in value.shape[1:])})"
        elif field.name not in OF_INSTANCES:
            found[field.name] = value
    return found


def _kind(values: NDArray[Any] | None, name: str) -> str:
    """Kind of groups or subgroups: joined chunks of different kinds would change what the values mean."""
    if values is None:
        return "none"
    if values.dtype.kind == "O":
        raise InputError(
            name, "of a stream must be numbers or text, not both", "got mixed values", "make them text", code="type"
        )
    return {"U": "text", "S": "text", "b": "truth values", "f": "decimal numbers"}.get(
        values.dtype.kind, "whole numbers"
    )


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    return bool(a == b)


def _shown(value: Any) -> str:
    return "another array" if isinstance(value, np.ndarray) else f"{value!r:.80}"
