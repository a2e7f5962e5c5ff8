"""Instances kept of a longer test set: an order at random that is known without their number, and joined notes."""

from collections.abc import Sequence
from dataclasses import fields
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.notes import Note, distinct
from uqassay.predictions import Prediction
from uqassay.predictions.sets import empty_sets_note, repair_note

__all__ = [
    "Kept",
    "joined_notes",
    "joined_predictions",
    "random_keys",
    "rows_of",
    "sample_reaching",
    "sample_within",
]


# A random order of the instances that is known without their number: each instance, or group, has a random key.
#
# A random sample is the instances with the smallest keys. An instance among the smallest of all is also among the
# smallest of each part that holds it, so a stream of parts keeps the same sample as one call on all instances.

Keys = NDArray[np.uint64]
Rows = NDArray[np.intp]

_STEP, _FIRST, _SECOND = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def random_keys(n: int, groups: NDArray[Any] | None, seed: int, *, first_row: int = 0) -> Keys:
    """One key for each instance, ``(n,)``: by its row number, or, with groups, by the name of its group.

    Parameters
    ----------
    n : int
    groups : array (n,), optional
        Numbers or text; instances of one group have the same key.
    seed : int
    first_row : int
        Row number of the first instance.

    References
    ----------
    Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators (the mixing function).

    Examples
    --------
    >>> whole, part = random_keys(5, None, 0), random_keys(2, None, 0, first_row=3)
    >>> whole[3:].tolist() == part.tolist()
    True
    """
    start = np.random.SeedSequence([seed, 20]).generate_state(1, np.uint64)
    if groups is None:
        return _mixed(start + _STEP * np.arange(first_row + 1, first_row + n + 1, dtype=np.uint64))
    names, own = np.unique(groups, return_inverse=True)
    texts = (str(name).encode("utf-8", "surrogatepass") for name in names.tolist())
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in texts)
    return _mixed(start + _STEP * np.frombuffer(digests, "<u8").astype(np.uint64))[own.reshape(-1)]


def sample_reaching(keys: Keys, size: int) -> Rows:
    """The instances that come first in the random order: as many groups as needed for `size` instances, in ascending order.

    Examples
    --------
    >>> sample_reaching(np.array([7, 5, 7, 9], np.uint64), 2).tolist()
    [0, 1, 2]
    """
    if size >= len(keys):
        return np.arange(len(keys))
    return np.flatnonzero(keys <= np.partition(keys, size - 1)[size - 1])


def sample_within(keys: Keys, size: int) -> Rows:
    """The instances that come first in the random order: as many whole groups as `size` instances hold, but at least one.

    Examples
    --------
    >>> sample_within(np.array([7, 5, 7, 9], np.uint64), 2).tolist()
    [1]
    """
    if size >= len(keys):
        return np.arange(len(keys))
    found = np.flatnonzero(keys < np.partition(keys, size)[size])
    return found if len(found) else np.flatnonzero(keys == keys.min())


def _mixed(values: Keys) -> Keys:
    """SplitMix64's mixing function: a one-to-one map, so that different rows have different keys."""
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))


# Some instances of a model's runs, kept from a longer test set, and asked for by their row numbers in the whole.

Kept = NDArray[np.int64] | None  # ascending row numbers of the instances that a prediction holds; None: it holds all


def rows_of(run: Prediction, rows: NDArray[Any], kept: Kept) -> Prediction:
    """The instances of these row numbers, of a prediction that holds those in `kept`.

    Examples
    --------
    >>> import uqassay as uq
    >>> held = uq.Point([[0.9, 0.1], [0.3, 0.7]])  # rows 2 and 5 of a longer one
    >>> rows_of(held, np.array([5]), np.array([2, 5])).probs.tolist()
    [[0.3, 0.7]]
    """
    if kept is None:
        return run[rows]
    places = np.searchsorted(kept, rows)
    if not np.array_equal(kept[np.minimum(places, len(kept) - 1)], rows):
        raise LookupError("rows of a stream that were not kept")
    return run[places]


def joined_predictions(parts: list[Prediction]) -> Prediction:
    """Consecutive parts of one prediction as one; whatever does not belong to single instances is that of the first part."""
    first = parts[0]
    if len(parts) == 1:
        return first
    whole = object.__new__(type(first))  # without __post_init__, because the values are valid already
    per_instance = (*first.array_names(), "ids", "groups", "row_numbers")
    for field in fields(first):
        value = getattr(first, field.name)
        if value is not None and field.name in per_instance:
            value = np.concatenate([getattr(part, field.name) for part in parts])
            value.flags.writeable = False
        object.__setattr__(whole, field.name, value)
    return whole


# Notes of consecutive parts of a model's instances as those of all instances: counts of rows are added up.

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
