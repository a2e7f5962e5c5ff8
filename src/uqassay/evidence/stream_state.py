"""What a stream has seen: the columns of every instance, sums, and the instances that later tests need."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.alignment import Aligned
from uqassay.evidence.calibration_cost import afforded
from uqassay.evidence.classwise_error import Gaps, classwise_gaps
from uqassay.evidence.conclusion import most_pictured
from uqassay.evidence.held_probs import able_to_hold, holding
from uqassay.evidence.kept_pictures import KeptPictures
from uqassay.evidence.kept_sample import GREATEST_KEY, KeptSample, last_key
from uqassay.evidence.options import AssayOptions
from uqassay.evidence.random_order import random_keys
from uqassay.evidence.scaled_sets import affordable_rows
from uqassay.evidence.scored_models import valid_runs
from uqassay.evidence.scoring import ScoredPart, Settings, points_of_sets, score_part
from uqassay.evidence.stream_chunk import Chunk
from uqassay.evidence.vote_tests import ROWS
from uqassay.predictions import Prediction

__all__ = ["GreatestKeys", "StreamState"]

NONE = np.empty(0, dtype=np.int64)

ENDLESS = 2**40  # instances, more than any stream has
ROUNDED = 1.1  # numbers of instances tested are rounded down to two digits, by less than this factor


class GreatestKeys(NamedTuple):
    """Random keys of the last instances that are kept, where the number of all instances is known; see `random_order`.

    Attributes
    ----------
    tested : dict of str to uint64
        By model, for calibration tests and scale check.
    pictured : uint64
    """

    tested: dict[str, np.uint64]
    pictured: np.uint64


@dataclass
class StreamState:
    """Everything that `AssayStream` collects; `add` takes a chunk, `extend` the state of the rows that follow.

    With `greatest`, a part of the rows keeps no more instances than the whole does.
    """

    n_instances: int = 0
    form: dict[str, Any] | None = None
    settings: Settings | None = None
    seconds: float = 0.0
    scored: dict[str, list[ScoredPart]] = field(default_factory=dict)
    gaps: dict[str, list[Gaps]] = field(default_factory=dict)
    samples: dict[str, KeptSample] = field(default_factory=dict)
    pictures: KeptPictures = field(default_factory=KeptPictures)
    greatest: "GreatestKeys | None" = None
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
            vote_totals=_joined([part.vote_totals for part in parts]),
        )

    def subgroups(self) -> dict[str, NDArray[Any]]:
        """Values of each subgroup, ``(n,)``."""
        return {name: np.concatenate([part[name] for part in self._subgroups]) for name in self._subgroups[0]}

    def heads(self, name: str) -> tuple[Prediction, ...]:
        """One instance of every run of a model."""
        return self.scored[name][0].heads

    # -- more instances -------------------------------------------------------------------------------------------------

    def copied(self) -> "StreamState":
        """The same state, to which instances can be added without a change to this one; the arrays are shared."""
        return replace(
            self,
            scored={name: list(parts) for name, parts in self.scored.items()},
            gaps=dict(self.gaps),
            samples={name: sample.copied() for name, sample in self.samples.items()},
            pictures=self.pictures.copied(),
            _aligned=list(self._aligned),
            _subgroups=list(self._subgroups),
        )

    def add(self, chunk: Chunk, options: AssayOptions) -> None:
        """Score the instances of a chunk. If it raises, the state is of no use any more; see `copied`."""
        aligned, settings, first = chunk.aligned, chunk.settings, chunk.first_row
        y = aligned.labels
        parts, gaps = {}, {}
        for name, given in able_to_hold(aligned.models).items():
            runs = tuple(holding(run) for run in given)
            parts[name] = score_part(name, runs, y, settings, given=chunk.given.get(name), progress=options.progress)
            gaps[name] = [classwise_gaps(run, y) for run in valid_runs(runs, settings.convention)]
        if self.form is None:
            self.form, self.settings = chunk.form(), settings
        self.n_instances += len(y)
        keys = random_keys(len(y), aligned.groups, settings.seed, first_row=first)
        for name, runs in aligned.models.items():
            self.scored.setdefault(name, []).append(parts[name])
            self._add_gaps(name, gaps[name])
            size = self._most_tested(runs, y, options, self.n_instances)
            greatest = GREATEST_KEY if self.greatest is None else self.greatest.tested[name]
            self.samples.setdefault(name, KeptSample()).add(runs, keys, first, size, NONE, greatest_key=greatest)
        self.pictures.add(
            aligned.models,
            list(parts.values()),
            random_keys(len(y), None, settings.seed, first_row=first),
            first,
            greatest_key=GREATEST_KEY if self.greatest is None else self.greatest.pictured,
        )
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
        self.pictures.extend(other.pictures)
        for name, parts in other.scored.items():
            runs = parts[0].heads
            self.scored.setdefault(name, []).extend(parts)
            self._add_gaps(name, other.gaps[name])
            most = self._most_tested(runs, other._aligned[0].labels, options, self.n_instances)
            self.samples.setdefault(name, KeptSample()).extend(other.samples[name], most, NONE)

    def keys_of(self, n: int, groups: NDArray[Any] | None, options: AssayOptions) -> GreatestKeys:
        """The keys of the last instances that n instances of this form, or whole groups, would keep."""
        assert self.settings is not None
        labels, seed = self._aligned[0].labels, self.settings.seed
        keys = random_keys(n, groups, seed)
        heads = {name: self.heads(name) for name in self.scored}
        tested = {name: last_key([keys], self._most_tested(runs, labels, options, n)) for name, runs in heads.items()}
        most = most_pictured(min(runs[0].n_classes for runs in heads.values()))
        return GreatestKeys(tested, last_key([keys if groups is None else random_keys(n, None, seed)], most))

    def _add_gaps(self, name: str, gaps: list[Gaps]) -> None:
        held = self.gaps.get(name)
        self.gaps[name] = list(gaps) if held is None else [a + b for a, b in zip(held, gaps, strict=True)]

    def _most_tested(self, runs: tuple[Prediction, ...], y: NDArray[Any], options: AssayOptions, n: int) -> int:
        """Number of instances that tests and the scale check may need, of n so far or any longer stream."""
        assert self.settings is not None
        needed = [0]
        if y.ndim == 1:
            sizes = (n, ENDLESS)
            needed += [
                int(ROUNDED * afforded(runs, m, size).n_tested) + 1
                for m in options.calibration_measures
                for size in sizes
            ]
        else:
            needed.append(ROWS)
        if options.factors and all(points_of_sets(run) != 1 for run in runs):
            needed.append(affordable_rows(runs, y, self.settings, options.factors))
        return max(needed)


def _joined(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    """One array from those of all chunks; None if one of them has none."""
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if len(given) == len(parts) else None
