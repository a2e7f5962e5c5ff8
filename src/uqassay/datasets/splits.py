"""Splits and subsets that keep the share of every class, and permuted labels.

The parts of one seed are nested: 5 % of the instances contain the 1 %, and 20 % permuted rows contain the 10 %.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, as_numeric, generator, shown
from uqassay.errors import InputError

__all__ = [
    "LIMIT",
    "NOISE",
    "SUBSET",
    "TRAINING",
    "child_of",
    "class_shares",
    "count_of",
    "permuted_rows",
    "run_stream",
    "seed_source",
    "stratified_split",
]

ROUNDING = 1e-9  # 0.29 · 100 is 28.999999999999996 in binary and counts as 29

Rows = NDArray[np.intp]

SUBSET, NOISE, TRAINING, LIMIT = range(4)  # streams of random numbers of a run
STEPS = 10**9  # of a share, so that it is known by its value


def stratified_split(y: ArrayLike, test_size: float | int, rng: RandomState = None) -> tuple[Rows, Rows]:
    """Rows of a training and of a test part in which every class keeps its share.

    Parameters
    ----------
    y : int array (n,)
    test_size : float in (0, 1) or int
        Share (the number is rounded) or number of test instances.
    rng : int, SeedSequence, Generator or None

    Returns
    -------
    train, test : int array
        Row numbers in random order. Each class gives its share to the test part, rounded by largest remainders so that the
        sizes are exact, and keeps at least one training instance.

    Raises
    ------
    InputError
        A size that leaves a part empty or a class without a training instance.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], [60, 40])
    >>> train, test = stratified_split(y, 0.2)
    >>> len(train), np.bincount(y[test]).tolist()
    (80, [12, 8])
    """
    labels = as_numeric(y, "y", ndim=1)
    n = len(labels)
    n_test = _test_count(test_size, n)
    classes, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if n_test > n - len(classes):
        raise InputError(
            "test_size",
            f"must leave at least one training instance for each of {len(classes)} classes",
            f"got {n_test} of {n} instances for the test",
            "choose a smaller test",
            code="range",
        )
    taken = _largest_remainders(counts, n_test)
    g = generator(rng)
    order = g.permutation(n)
    test = np.concatenate([order[place[order] == k][: taken[k]] for k in range(len(classes))])
    in_test = np.zeros(n, dtype=bool)
    in_test[test] = True
    return order[~in_test[order]], order[in_test[order]]


def count_of(share: float, n: int) -> int:
    """Number of instances in a share of n, rounded down (and 29 for 0.29 of 100)."""
    return int(np.floor(share * n + ROUNDING * max(1, n)))


def run_stream(seed: int, *stream: int) -> np.random.SeedSequence:
    """Random numbers of a run for one use, such as `SUBSET`; every benchmark takes them from here.

    So runs of the same seed have the same subsets and the same permuted rows, in whatever way they are started.
    """
    return np.random.SeedSequence(seed, spawn_key=stream)


def seed_source(rng: RandomState = None) -> np.random.SeedSequence:
    """The seed sequence of an `rng` argument; a generator advances."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(int(rng.integers(2**63)))
    generator(rng)  # refuses what is no seed
    return np.random.SeedSequence(0 if rng is None else rng)


def class_shares(y: NDArray[np.int64], n_classes: int, share: float, rng: RandomState = None) -> Rows:
    """Rows of a share of every class, rounded down but at least one of each class with instances, in ascending order.

    Examples
    --------
    >>> y = np.repeat([0, 1], [60, 4])
    >>> [np.bincount(y[class_shares(y, 2, share)]).tolist() for share in (0.1, 0.5)]
    [[6, 1], [30, 2]]
    """
    order = generator(rng).permutation(len(y))
    by_class = [order[y[order] == k] for k in range(n_classes)]
    return np.sort(np.concatenate([rows[: max(1, count_of(share, len(rows)))] for rows in by_class]))


def permuted_rows(n: int, share: float, source: np.random.SeedSequence) -> Rows:
    """Row from which each of n rows has its label, ``(n,)``, where a share of the rows exchange theirs at random."""
    order = np.random.default_rng(source)
    shuffle = np.random.default_rng(child_of(source, round(share * STEPS)))
    rows = order.permutation(n)[: count_of(share, n)]
    came_from = np.arange(n)
    came_from[rows] = shuffle.permutation(rows)
    return came_from


def child_of(source: np.random.SeedSequence, *stream: int) -> np.random.SeedSequence:
    """A seed sequence below another one; unlike `spawn` it leaves the other one unchanged."""
    return np.random.SeedSequence(source.entropy, spawn_key=(*source.spawn_key, *stream))


def _test_count(test_size: float | int, n: int) -> int:
    number = isinstance(test_size, (int, np.integer)) and not isinstance(test_size, bool)
    known = (number or isinstance(test_size, (float, np.floating))) and np.isfinite(test_size)
    count = 0 if not known else int(test_size) if number else round(test_size * n)
    if not (0 < count < n and (number or 0.0 < test_size < 1.0)):
        raise InputError(
            "test_size",
            f"must be a share in (0, 1) or a number of instances in 1 … {n - 1}",
            f"got {shown(test_size)}, that is {count} of {n}",
            "0.2 holds out every fifth instance",
            code="range",
        )
    return count


def _largest_remainders(counts: NDArray[np.intp], total: int) -> NDArray[np.intp]:
    """Number of instances that each class gives, `total` together and never all of a class."""
    exact = counts * (total / counts.sum())
    taken = np.minimum(np.floor(exact + ROUNDING).astype(np.intp), counts - 1)
    while (short := total - int(taken.sum())) > 0:
        remainder = np.where(taken < counts - 1, exact - taken, -np.inf)
        chosen: Sequence[int] = np.argsort(-remainder, kind="stable")[:short].tolist()
        for k in chosen:
            taken[k] += taken[k] < counts[k] - 1
    return taken
