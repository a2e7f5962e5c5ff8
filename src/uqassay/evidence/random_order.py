"""A random order of the instances that is known without their number: each instance, or group, has a random key.

A random sample is the instances with the smallest keys. An instance among the smallest of all is also among the smallest of
each part that holds it, so a stream of parts keeps the same sample as one call on all instances.
"""

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["random_keys", "sample_reaching", "sample_within"]

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
