"""Notes: what a reader should know about a number, as data.

A note has a code, by which programs know it, and a text, which readers see. Results carry a tuple of notes; nothing joins
their texts or recognises a note by its words.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

__all__ = ["Note", "distinct", "has_note"]


@final
@dataclass(frozen=True)
class Note:
    """A remark on a result.

    Attributes
    ----------
    code : str
        Stable name of the kind of remark, lower case with hyphens, such as "no-interval".
    text : str
        The remark in words: no capital at its start, no full stop at its end.
    facts : mapping
        Numbers and names in the text, for those who word it differently.

    Examples
    --------
    >>> print(Note("groups", "12 groups", {"groups": 12}))
    12 groups
    """

    code: str
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, str]:
        """Code and text, for JSON."""
        return {"code": self.code, "text": self.text}

    @classmethod
    def from_dict(cls, fields: Mapping[str, str]) -> "Note":
        """The note that `to_dict` wrote."""
        return cls(fields["code"], fields["text"])


def distinct(*groups: Iterable[Note]) -> tuple[Note, ...]:
    """All notes of several results, each once, in the order of their first appearance.

    Examples
    --------
    >>> a, b = Note("runs", "3 runs"), Note("groups", "12 groups")
    >>> [str(note) for note in distinct([a, b], [a])]
    ['3 runs', '12 groups']
    """
    return tuple({(note.code, note.text): note for group in groups for note in group}.values())


def has_note(notes: Iterable[Note], *codes: str) -> bool:
    """Whether a note of one of these kinds is among them."""
    return any(note.code in codes for note in notes)
