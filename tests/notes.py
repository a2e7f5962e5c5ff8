"""Notes of a result: their texts and codes, and both checked against what they may be."""

from collections.abc import Mapping
from typing import Any

from uqassay.notes import CODES, Note


def notes_of(found: Any) -> tuple[Note, ...]:
    """The notes of a result, or of a row of findings or of JSON; every code is a known one and every text stands alone."""
    held = found["notes"] if isinstance(found, Mapping) else found.notes
    notes = tuple(note if isinstance(note, Note) else Note.from_dict(note) for note in held)
    for note in notes:
        assert note.code in CODES, f"unknown code {note.code!r}"
        assert note.text, "a note says something"
        assert not note.text.endswith("."), note.text
        assert "; " not in note.text, f"two notes in one: {note.text}"
    return notes


def texts(found: Any) -> list[str]:
    """Texts of all notes."""
    return [note.text for note in notes_of(found)]


def codes(found: Any) -> list[str]:
    """Codes of all notes."""
    return [note.code for note in notes_of(found)]


def said(found: Any) -> str:
    """All texts as one, to search for a part of one."""
    return " | ".join(texts(found))
