"""Counts in the notes of parts are added up, other notes are kept once."""

from uqassay.evidence.kept_rows import joined_notes
from uqassay.notes import Note
from uqassay.predictions.sets import empty_sets_note, repair_note


def test_counts_of_each_run_are_added_up():
    other, late = Note("x", "said"), Note("y", "later")
    parts = [
        [other, repair_note(1, 4), repair_note(0, 4), empty_sets_note(0, 4)],
        [other, repair_note(2, 3), repair_note(3, 3), empty_sets_note(0, 3), late],
    ]
    assert joined_notes(parts) == (other, repair_note(3, 7), late)  # equal notes of runs are said once
    assert joined_notes([[empty_sets_note(2, 4)], [empty_sets_note(0, 1)]]) == (empty_sets_note(2, 5),)
    assert joined_notes([[]]) == ()


def test_notes_from_files_have_no_counts():
    stored = Note("repaired", "2 rows repaired")
    assert joined_notes([[stored]]) == (stored,)
    assert joined_notes([[stored, repair_note(1, 4)], [stored, repair_note(2, 4)]]) == (stored, repair_note(3, 8))
