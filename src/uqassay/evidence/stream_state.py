"""What a stream has seen: the columns of every instance, sums, and the instances that later tests need."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.alignment import Aligned
from uqassay.evidence.calibration_cost import afforded
from uqassay.evidence.classwise_error import Gaps, classwise_gaps
from uqassay.evidence.conclusion import PICTURED_POINTS, most_pictured
from uqassay.evidence.held_probs import able_to_hold, holding
from uqassay.evidence.instances import extremeness
from uqassay.evidence.kept_sample import KeptSample
from uqassay.evidence.options import AssayOptions
from uqassay.evidence.random_order import random_keys
from uqassay.evidence.scaled_sets import affordable_rows
from uqassay.evidence.scored_models import valid_runs
from uqassay.evidence.scoring import ScoredPart, Settings, points_of_sets, score_part
from uqassay.evidence.stream_chunk import Chunk
from uqassay.predictions import Prediction

__all__ = ["StreamState"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

ENDLESS = 2**40  # instances, more than any stream has
ROUNDED = 1.1  # numbers of instances tested are rounded down to two digits, by less than this factor


@dataclass
class StreamState:
    """Everything that `AssayStream` collects; `add` takes a chunk, `extend` the state of the rows that follow."""

    n_instances: int = 0
    form: dict[str, Any] | None = None
    settings: Settings | None = None
    seconds: float = 0.0
    scored: dict[str, list[ScoredPart]] = field(default_factory=dict)
    gaps: dict[str, list[Gaps]] = field(default_factory=dict)
    samples: dict[str, KeptSample] = field(default_factory=dict)
    pictures: dict[str, KeptSample] = field(default_factory=dict)
    _extremes: dict[str, tuple[Rows, Array]] = field(default_factory=dict)
    _aligned: list[Aligned] = field(default_factory=list)
    _subgroups: list[dict[str, NDArray[Any]]] = field(default_factory=list)

    # -- results so far -------------------------------------------------------------------------------------------------

    def aligned(self) -> Aligned:
        """Labels, ids and groups of all instances; no models."""
        parts = self._aligned
        return replace(
            parts[0],
            labels=np.concatenate([part.labels for part in parts]),
            ids=_joined([part.ids for part in parts]),
            groups=_joined([part.groups for part in parts]),
        )

    def subgroups(self) -> dict[str, NDArray[Any]]:
        """Values of each subgroup, ``(n,)``."""
        return {name: np.concatenate([part[name] for part in self._subgroups]) for name in self._subgroups[0]}

    def heads(self, name: str) -> tuple[Prediction, ...]:
        """One instance of every run of a model."""
        return self.scored[name][0].heads

    # -- more instances -------------------------------------------------------------------------------------------------

    def add(self, chunk: Chunk, options: AssayOptions) -> None:
        """Score the instances of a chunk."""
        aligned, settings, first = chunk.aligned, chunk.settings, chunk.first_row
        y = aligned.labels
        parts, gaps = {}, {}
        for name, given in able_to_hold(aligned.models).items():
            runs = tuple(holding(run) for run in given)
            parts[name] = score_part(name, runs, y, settings, given=chunk.given.get(name), progress=options.progress)
            gaps[name] = [classwise_gaps(run, y) for run in valid_runs(runs, settings.convention)]
        # all that can fail has been done; from here on the state changes
        if self.form is None:
            self.form, self.settings = chunk.form(), settings
        self.n_instances += len(y)
        rows = np.arange(first, first + len(y))
        columns = [part.columns for part in parts.values()]
        self._note_extremes({name: (rows, values) for name, values in extremeness(columns).items()})
        keys = random_keys(len(y), aligned.groups, settings.seed, first_row=first)
        row_keys = random_keys(len(y), None, settings.seed, first_row=first)
        for name, runs in aligned.models.items():
            self.scored.setdefault(name, []).append(parts[name])
            self._add_gaps(name, gaps[name])
            sample = self.samples.setdefault(name, KeptSample())
            sample.add(runs, keys, first, self._most_tested(runs, y, options), np.empty(0, np.int64))
            pictures = self.pictures.setdefault(name, KeptSample())
            pictures.add(runs[:1], row_keys, first, most_pictured(runs[0].n_classes), self._extreme_rows())
        self._aligned.append(replace(aligned, models={}))
        self._subgroups.append(dict(chunk.subgroups))

    def extend(self, other: "StreamState", options: AssayOptions) -> None:
        """Take over the instances of another state, which follow."""
        if self.form is None:
            self.form, self.settings = other.form, other.settings
        self.n_instances += other.n_instances
        self.seconds += other.seconds
        self._aligned += other._aligned
        self._subgroups += other._subgroups
        self._note_extremes(other._extremes)
        for name, parts in other.scored.items():
            runs = parts[0].heads
            self.scored.setdefault(name, []).extend(parts)
            self._add_gaps(name, other.gaps[name])
            most = self._most_tested(runs, other._aligned[0].labels, options)
            self.samples.setdefault(name, KeptSample()).extend(other.samples[name], most, np.empty(0, np.int64))
            self.pictures.setdefault(name, KeptSample()).extend(
                other.pictures[name], most_pictured(runs[0].n_classes), self._extreme_rows()
            )

    def _add_gaps(self, name: str, gaps: list[Gaps]) -> None:
        held = self.gaps.get(name)
        self.gaps[name] = list(gaps) if held is None else [a + b for a, b in zip(held, gaps, strict=True)]

    def _note_extremes(self, found: dict[str, tuple[Rows, Array]]) -> None:
        """Keep the most extreme instances; of equal ones those that come first, as `extreme_instances` does."""
        for name, (rows, values) in found.items():
            if name in self._extremes:
                rows, values = (np.concatenate(pair) for pair in zip(self._extremes[name], (rows, values), strict=True))
            chosen = np.sort(np.argsort(-values, kind="stable")[:PICTURED_POINTS])
            self._extremes[name] = rows[chosen], values[chosen]

    def _extreme_rows(self) -> Rows:
        return np.concatenate([rows for rows, _ in self._extremes.values()])

    def _most_tested(self, runs: tuple[Prediction, ...], y: NDArray[Any], options: AssayOptions) -> int:
        """Number of instances that the calibration tests and the scale check may need, however long the stream gets."""
        assert self.settings is not None
        needed = [0]
        if y.ndim == 1:
            sizes = (self.n_instances, ENDLESS)
            needed += [
                int(ROUNDED * afforded(runs, m, n).n_tested) + 1 for m in options.calibration_measures for n in sizes
            ]
        if options.factors and all(points_of_sets(run) != 1 for run in runs):
            needed.append(affordable_rows(runs, y, self.settings, options.factors))
        return max(needed)


def _joined(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    """One array from those of all chunks, which have one or have none."""
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if given else None
