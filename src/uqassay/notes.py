"""Notes: remarks on a result, as data.

A note has a code for programs and a text for readers. Results have a tuple of notes. Code compares the codes, never the texts,
and does not join the texts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

from uqassay.text import visible

__all__ = ["CODES", "Note", "distinct", "has_note", "note_from_values", "note_values", "reason"]

CODES: Mapping[str, str] = {
    "groups": "the number of groups, which are resampled as wholes",
    "runs": "the numbers of training runs",
    "strata": "the number of strata",
    "sample": "how many of the instances were used",
    "first-run": "only the first training run, or the first few, were used",
    "mean": "the mean stands for the whole prediction, and why",
    "pilot": "the pilot sample that a plan rests on",
    "method": "how a p-value or its degrees of freedom were found",
    "assumption": "an assumption of the result, or something that it leaves out",
    "few": "fewer than 20 errors, positives or the like: a rough interval or p-value",
    "none": "no errors, no right predictions or the like; the value is still defined",
    "undefined": "why the value is undefined",
    "infinite": "why the value is infinite, or how many values are",
    "bias": "the part of a value that sampling noise adds on average",
    "edge": "the value is at an end of its range, and why",
    "ties": "nearly all of a sample have one score, so that an interval may be too short",
    "constant-scores": "all scores are equal, so that nothing is ranked",
    "constant-curve": "a curve over conditions is constant, so that its correlation counts as 0",
    "conditions": "the number of conditions of an experiment, and its consequence",
    "no-interval": "why there is no interval",
    "no-test": "why there is no p-value",
    "no-width": "why the interval has no width",
    "one-sided": "one end of the interval is not bounded by the data",
    "left-out": "draws or classes that are undefined and left out",
    "widened": "an error of another source that was added to the interval",
    "option": "an option of the function called that would help",
    "parts": "the sizes of the parts of a division of the data",
    "overlap": "how many instances lie in several balls of a division",
    "skipped": "balls of a division that were skipped, or not found",
    "not-settled": "a value that a longer search or simulation may change",
}


@final
@dataclass(frozen=True)
class Note:
    """A remark on a result.

    Examples
    --------
    >>> print(Note("groups", "12 groups", {"groups": 12}))
    12 groups
    """

    code: str  #: Stable name of the kind of remark, one of `CODES`, such as "no-interval".
    text: str  #: The remark in words, without an initial capital or a final full stop.
    #: The numbers and names in the text, for code that words the remark differently.
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        return visible(self.text)

    def to_dict(self) -> dict[str, str]:
        """Code and text as a dict for JSON; the facts are not included."""
        return {"code": self.code, "text": self.text}

    @classmethod
    def from_dict(cls, fields: Mapping[str, str]) -> "Note":
        """Rebuild a note from the result of `to_dict`."""
        return cls(fields["code"], fields["text"])


def distinct(*groups: Iterable[Note]) -> tuple[Note, ...]:
    """The notes of several results without duplicates, in the order of first appearance.

    Examples
    --------
    >>> a, b = Note("runs", "3 runs"), Note("groups", "12 groups")
    >>> [str(note) for note in distinct([a, b], [a])]
    ['3 runs', '12 groups']
    """
    return tuple({(note.code, note.text): note for group in groups for note in group}.values())


def has_note(notes: Iterable[Note], *codes: str) -> bool:
    """True if any of the notes has one of these codes."""
    return any(note.code in codes for note in notes)


def reason(notes: Iterable[Note]) -> str:
    """Text of the first note that explains an undefined or infinite value or p-value; if there is none, of the first note.

    Empty if there are no notes.

    Examples
    --------
    >>> reason([Note("groups", "1 group"), Note("undefined", "no errors")])
    'no errors'
    """
    notes = tuple(notes)
    why = [note.text for note in notes if note.code in ("undefined", "no-test", "infinite")]
    return next(iter(why or [note.text for note in notes]), "")


def note_values(note: Note) -> dict[str, Any]:
    """A note with its facts, as plain values."""
    return {**note.to_dict(), "facts": dict(note.facts)}


def note_from_values(values: Mapping[str, Any]) -> Note:
    """The note that `note_values` wrote."""
    return Note(values["code"], values["text"], values["facts"])
