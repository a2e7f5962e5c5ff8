"""What a stream keeps of the predictions themselves: the instances that come first in a random order, and given ones."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.kept_rows import joined_predictions
from uqassay.predictions import Prediction

__all__ = ["GREATEST_KEY", "KeptSample", "last_key"]

Rows = NDArray[np.int64]
Keys = NDArray[np.uint64]

GREATEST_KEY = np.uint64(2**64 - 1)


@dataclass
class KeptSample:
    """Instances of the runs of one model, in ascending order of their rows."""

    _rows: list[Rows] = field(default_factory=list)
    _keys: list[Keys] = field(default_factory=list)
    _runs: list[tuple[Prediction, ...]] = field(default_factory=list)

    def copied(self) -> "KeptSample":
        """The same sample, to which instances can be added without a change to this one."""
        return KeptSample(list(self._rows), list(self._keys), list(self._runs))

    def add(
        self,
        runs: tuple[Prediction, ...],
        keys: Keys,
        first_row: int,
        size: int,
        always: Rows,
        *,
        greatest_key: np.uint64 = GREATEST_KEY,
    ) -> None:
        """Add instances that follow those seen, and keep the `size` with the smallest keys of all seen, and those in `always`.

        Instances with the key of the last one kept are kept too, so that groups stay whole. `size` must not fall, and
        `always` must not name a row again that it left out before. Greater keys than `greatest_key` are known not to be among
        the smallest of a longer stream.
        """
        rows = np.arange(first_row, first_row + len(keys))
        last = min(last_key([*self._keys, keys], size), greatest_key)
        wanted = np.flatnonzero((keys <= last) | np.isin(rows, always))
        self._keep(last, always)
        if len(wanted):
            self._rows.append(rows[wanted])
            self._keys.append(keys[wanted])
            self._runs.append(tuple(run[wanted] for run in runs))  # copies, because callers may fill their arrays anew

    def extend(self, other: "KeptSample", size: int, always: Rows) -> None:
        """Add what another sample keeps of the instances that follow."""
        self._rows += other._rows
        self._keys += other._keys
        self._runs += other._runs
        self._keep(last_key(self._keys, size), always)

    def _keep(self, last: np.uint64, always: Rows) -> None:
        parts = list(zip(self._rows, self._keys, self._runs, strict=True))
        self._rows, self._keys, self._runs = [], [], []
        for rows, keys, runs in parts:
            stays = np.flatnonzero((keys <= last) | np.isin(rows, always))
            if not len(stays):
                continue
            if len(stays) < len(rows):
                rows, keys, runs = rows[stays], keys[stays], tuple(run[stays] for run in runs)
            self._rows.append(rows)
            self._keys.append(keys)
            self._runs.append(runs)

    def joined(self) -> tuple[tuple[Prediction, ...], Rows]:
        """The runs, and the rows that they hold; no runs where nothing was kept."""
        if not self._rows:
            return (), np.empty(0, dtype=np.int64)
        runs = tuple(joined_predictions(list(parts)) for parts in zip(*self._runs, strict=True))
        return runs, np.concatenate(self._rows)


def last_key(keys: list[Keys], size: int) -> np.uint64:
    """Key of the instance number `size` in the random order, the greatest possible one if there are fewer."""
    if size <= 0:
        return np.uint64(0)
    if sum(map(len, keys)) <= size:
        return GREATEST_KEY
    return np.uint64(np.partition(np.concatenate(keys), size - 1)[size - 1])
