"""What a stream keeps of the predictions for pictures: instances at random, and the most extreme ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.conclusion import PICTURED_POINTS, most_pictured
from uqassay.evidence.instances import extremeness
from uqassay.evidence.kept_sample import GREATEST_KEY, KeptSample
from uqassay.evidence.scoring import ScoredPart
from uqassay.predictions import Prediction

__all__ = ["KeptPictures"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
Keys = NDArray[np.uint64]


@dataclass
class KeptPictures:
    """Instances of the first run of every model; parts that follow each other can be joined in any tree."""

    samples: dict[str, KeptSample] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _extremes: dict[str, tuple[Rows, Array]] = field(default_factory=dict)

    def copied(self) -> "KeptPictures":
        """The same pictures, to which instances can be added without a change to these."""
        samples = {name: sample.copied() for name, sample in self.samples.items()}
        return KeptPictures(samples, dict(self._sizes), dict(self._extremes))

    def add(
        self,
        models: Mapping[str, tuple[Prediction, ...]],
        scored: Sequence[ScoredPart],
        keys: Keys,
        first_row: int,
        *,
        greatest_key: np.uint64 = GREATEST_KEY,
    ) -> None:
        """Add instances that follow; of those with a key above `greatest_key`, only the extreme ones can be asked for."""
        rows = np.arange(first_row, first_row + len(keys))
        found = extremeness([part.columns for part in scored])
        self._note_extremes({name: (rows, values) for name, values in found.items()})
        always = self._extreme_rows()
        for name, runs in models.items():
            size = self._sizes[name] = most_pictured(runs[0].n_classes)
            sample = self.samples.setdefault(name, KeptSample())
            sample.add(runs[:1], keys, first_row, size, always, greatest_key=greatest_key)

    def extend(self, other: "KeptPictures") -> None:
        """Take over the instances of the rows that follow."""
        if not other._extremes:
            return
        self._note_extremes(other._extremes)
        always = self._extreme_rows()
        self._sizes |= other._sizes
        for name, sample in other.samples.items():
            self.samples.setdefault(name, KeptSample()).extend(sample, self._sizes[name], always)

    def _note_extremes(self, found: dict[str, tuple[Rows, Array]]) -> None:
        """Keep the most extreme instances; of equal ones those that come first, as `extreme_instances` does."""
        for name, (rows, values) in found.items():
            if name in self._extremes:
                rows, values = (np.concatenate(pair) for pair in zip(self._extremes[name], (rows, values), strict=True))
            chosen = np.sort(np.argsort(-values, kind="stable")[:PICTURED_POINTS])
            self._extremes[name] = rows[chosen], values[chosen]

    def _extreme_rows(self) -> Rows:
        return np.concatenate([rows for rows, _ in self._extremes.values()])
