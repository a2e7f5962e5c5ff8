"""An assay of instances that come in chunks, with the results of one call on all of them."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from uqassay._workers import Workers
from uqassay.errors import InputError
from uqassay.evidence.alignment import align, as_runs
from uqassay.evidence.calibration_tests import calibration_tests
from uqassay.evidence.classwise_error import errors_of_gaps
from uqassay.evidence.conclusion import AssayParts, conclude
from uqassay.evidence.given_scores import given_scores
from uqassay.evidence.options import AssayOptions
from uqassay.evidence.result import Assay
from uqassay.evidence.scaled_sets import scale_models
from uqassay.evidence.scored_models import ScoredModel, valid_runs
from uqassay.evidence.scoring import joined_scores
from uqassay.evidence.stream_chunk import (
    Chunk,
    check_same_form,
    marked_like,
    refuse_mixed,
    signed_runs,
    with_own_constants,
)
from uqassay.evidence.stream_state import StreamState
from uqassay.evidence.subgroups import subgroup_values
from uqassay.evidence.vote_tests import vote_tests
from uqassay.predictions.metadata import checked_ids
from uqassay.predictions.row_numbers import numbered

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AssayStream"]


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AssayStream(AssayOptions):
    """An assay in chunks: `update` with each chunk, `merge` with the stream of the next rows, `compute` the `Assay`.

    `compute` gives what `assay` gives for all chunks together: the same columns, findings, tests and pictures, bit for bit.
    The columns of every instance are kept, two dozen numbers to a model and run; of the predictions only the instances that
    later tests need, see docs/streaming.md.

    Parameters
    ----------
    first_row : int
        Number of the first instance in the whole test set. Random choices are keyed by it, so a stream that starts elsewhere
        than at 0 can only be merged into one that ends where it starts.
    **options
        Those of `assay` that do not belong to single instances.

    Raises
    ------
    InputError
        As `assay`; a chunk that differs in its form from the first, in its models, classes, members or dtypes.

    Examples
    --------
    >>> import numpy as np
    >>> import uqassay as uq
    >>> rng = np.random.default_rng(0)
    >>> p, y = rng.dirichlet(np.ones(3), (500, 4)), rng.integers(0, 3, 500)
    >>> stream = uq.AssayStream()
    >>> for start in range(0, 500, 200):
    ...     chunk = slice(start, start + 200)
    ...     _ = stream.update({"ensemble": p[chunk]}, y[chunk])
    >>> whole = uq.assay({"ensemble": p}, y)
    >>> stream.n_instances, stream.compute().findings().equals(whole.findings())
    (500, True)
    """

    first_row: int = 0
    _state: StreamState = field(default_factory=StreamState, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.first_row, (int, np.integer)) or isinstance(self.first_row, bool) or self.first_row < 0:
            raise InputError(
                "first_row",
                "must be a whole number ≥ 0",
                f"got {self.first_row!r}",
                "give the number of instances before these",
                code="range",
            )

    def __repr__(self) -> str:
        return f"AssayStream(first_row={self.first_row}, n_instances={self.n_instances})"

    @property
    def n_instances(self) -> int:
        """Number of instances seen."""
        return self._state.n_instances

    def update(
        self,
        predictions: Mapping[str, Any],
        y_true: ArrayLike,
        *,
        uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None = None,
        groups: ArrayLike | None = None,
        subgroups: "Mapping[str, ArrayLike] | pd.DataFrame | None" = None,
    ) -> Self:
        """Score the next instances; arguments as for `assay`. Returns the stream.

        Row numbers count on from chunk to chunk; a slice of a `Prediction` keeps the numbers that it had in the whole. What is
        kept is a copy. An update that raises, or is interrupted, leaves the stream as it was.
        """
        started = time.perf_counter()
        state, first = self._state.copied(), self.first_row + self._state.n_instances
        models = {name: [numbered(run, first) for run in runs] for name, runs in as_runs(predictions).items()}
        seen = state.form
        models = marked_like(seen, models)
        names = self.class_names if seen is None or not seen["class_names"] else seen["class_names"]
        refuse_mixed(groups, models)
        aligned = align(
            models,
            y_true,
            groups=groups,
            class_names=names,
            repair=self.repair,
            common_members=self.common_members,
            seed=self.seed,
        )
        own = {name: tuple(map(with_own_constants, runs)) for name, runs in aligned.models.items()}
        aligned = replace(aligned, models=own)
        given = given_scores(uncertainties, aligned)
        chunk = Chunk(
            aligned=aligned,
            given=given,
            subgroups=subgroup_values(subgroups, len(aligned.labels), aligned.ids),
            settings=self.settings(aligned, given),
            first_row=first,
            signed=signed_runs(models),
        )
        if seen is not None:
            check_same_form(chunk.form(), seen, "chunk")
        state.add(chunk, self)
        state.seconds += time.perf_counter() - started
        return self._holding(state)

    def merge(self, other: "AssayStream") -> Self:
        """Take over the instances of another stream, whose rows must follow these. Returns the stream; `other` stays as it is.

        A merge that raises, or is interrupted, leaves the stream as it was.

        Raises
        ------
        InputError
            Other options, another form, or a stream that does not begin where this one ends.
        """
        if not isinstance(other, AssayStream):
            raise InputError(
                "other", "must be an AssayStream", f"got {type(other).__name__}", "update it by a chunk", code="type"
            )
        names = [f.name for f in fields(AssayOptions) if f.name != "progress"]
        differing = [name for name in names if _differ(getattr(self, name), getattr(other, name))]
        if differing:
            raise InputError(
                "other",
                "must have the same options",
                f"{differing[0]} is {getattr(other, differing[0])!r} and here {getattr(self, differing[0])!r}",
                "make both streams with the same options",
                code="mismatch",
            )
        end = self.first_row + self.n_instances
        if other.first_row != end:
            raise InputError(
                "other",
                "must begin where this stream ends",
                f"it begins at row {other.first_row}, and this stream ends before row {end}",
                f"make it with first_row={end}, or merge in the order of the rows",
                code="mismatch",
            )
        if other._state.form is not None:
            if self._state.form is not None:
                check_same_form(other._state.form, self._state.form, "stream")
            state = self._state.copied()
            state.extend(other._state, self)
            return self._holding(state)
        return self

    def compute(self) -> Assay:
        """The assay of all instances so far; the stream can be updated further.

        Raises
        ------
        InputError
            No instance yet, a stream that does not begin at row 0, or ids that occur twice.
        """
        started, state = time.perf_counter(), self._state
        if state.settings is None:
            raise InputError("chunk", "needs at least one", "got none", "call update first", code="empty")
        if self.first_row:
            raise InputError(
                "first_row",
                "must be 0 to compute an assay",
                f"this stream begins at row {self.first_row}",
                "merge it into the stream that begins at row 0",
                code="mismatch",
            )
        aligned, settings = state.aligned(), state.settings
        if aligned.ids is not None:
            checked_ids(aligned.ids, len(aligned.labels))
        y, groups = aligned.labels, aligned.groups
        kept = {name: sample.joined() for name, sample in state.samples.items()}
        rows = {name: held for name, (_, held) in kept.items()}
        runs = {name: found or state.heads(name) for name, (found, _) in kept.items()}
        scored = []
        for name, parts in state.scored.items():
            scores = joined_scores(parts)
            scaled = scale_models(
                [scores],
                {name: runs[name]},
                y,
                settings,
                self.factors,
                groups=groups,
                kept=rows,
                progress=self.progress,
            )
            scored.append(ScoredModel(scores, scaled.get(name), errors_of_gaps(state.gaps[name], len(y))))
        valid = {name: valid_runs(held, self.convention) for name, held in runs.items()}
        with Workers() as workers:
            tests = calibration_tests(
                valid,
                y,
                self.calibration_measures,
                groups=groups,
                plan=self.plan,
                workers=workers,
                kept=rows,
                progress=self.progress,
            )
            votes = vote_tests(
                valid,
                y,
                aligned.vote_totals,
                groups=groups,
                seed=self.seed,
                workers=workers,
                kept=rows,
                progress=self.progress,
            )
        pictured = {name: sample.joined() for name, sample in state.pictures.samples.items()}
        result = conclude(
            AssayParts(
                aligned=aligned,
                subgroups=state.subgroups(),
                settings=settings,
                scored=scored,
                tests=tests,
                votes=votes,
                pictured={
                    name: (valid_runs(found, self.convention)[0], held) for name, (found, held) in pictured.items()
                },
            ),
            self,
        )
        result.provenance["seconds"] = round(state.seconds + time.perf_counter() - started, 3)
        return result

    def _holding(self, state: StreamState) -> Self:
        """This stream with another state. One statement and the last one, so that an interrupted call changes nothing."""
        return object.__setattr__(self, "_state", state) or self  # type: ignore[func-returns-value]


def _differ(a: Any, b: Any) -> bool:
    return not np.array_equal(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
