"""Notes of consecutive parts of a model's instances as those of all instances: counts of rows are added up."""

from collections.abc import Sequence

from uqassay.notes import Note, distinct
from uqassay.predictions.class_sets import empty_sets_note
from uqassay.predictions.masses import repair_note

__all__ = ["joined_notes"]

COUNTING = {
    "repaired": repair_note,
    "empty-sets": empty_sets_note,
}  # by code: count of rows, number of instances → note
LEFT_OUT_AT_0 = ("empty-sets",)


def joined_notes(parts: Sequence[Sequence[Note]]) -> tuple[Note, ...]:
    """The notes of all parts. Each part holds the same counting notes, one for each training run that has it.

    Examples
    --------
    >>> [note.text[:30] for note in joined_notes([[empty_sets_note(1, 5)], [empty_sets_note(0, 4)]])]
    ['1 of 9 class sets are empty; c']
    """
    counting = [[note for note in part if _counts(note)] for part in parts]
    summed = (
        COUNTING[same[0].code](*(sum(note.facts[key] for note in same) for key in ("rows", "n")))
        for same in zip(*counting, strict=True)
    )
    first = [next(summed) if _counts(note) else note for note in parts[0]]
    every = distinct(first, *([note for note in part if not _counts(note)] for part in parts[1:]))
    return tuple(note for note in every if not (note.code in LEFT_OUT_AT_0 and note.facts.get("rows") == 0))


def _counts(note: Note) -> bool:
    """Whether rows of this part were counted; a note that came with a file has its text alone."""
    return note.code in COUNTING and "rows" in note.facts
