"""An assay of instances that come in chunks, with the results of one that has them all."""

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from uqassay._progress import shown_progress, silent
from uqassay.arrays import Floats, available_cores
from uqassay.checks import fail
from uqassay.evidence.align import Aligned, align, as_runs, given_scores, without_label
from uqassay.evidence.baselines import held_out_columns, score_baselines
from uqassay.evidence.calibration import (
    afforded,
    classwise_errors,
    classwise_gaps,
    errors_of_gaps,
    errors_of_weighted_gaps,
    weighted_gaps,
)
from uqassay.evidence.cautions import calibration_cautions, cautions
from uqassay.evidence.data import ScaledScores
from uqassay.evidence.excess import Excess, excess_of
from uqassay.evidence.findings import extremeness, of_same_instances, subgroup_values
from uqassay.evidence.kept_rows import Kept, joined_predictions, random_keys, sample_reaching
from uqassay.evidence.mistakes import backward_notes, backward_scores
from uqassay.evidence.options import AssayOptions
from uqassay.evidence.result import Assay
from uqassay.evidence.sampled import TestedPart
from uqassay.evidence.scale import affordable_rows, scale_models
from uqassay.evidence.scoring import (
    ERROR,
    ModelScores,
    ScoredPart,
    SetSample,
    Settings,
    able_to_hold,
    holding,
    joined_scores,
    points_of_sets,
    sample_sets,
    score_part,
)
from uqassay.evidence.sets import ROWS
from uqassay.native import share_on_threads
from uqassay.predictions import Answers, Masses, Point, Prediction
from uqassay.predictions.base import checked_ids, numbered
from uqassay.statistics.units import different_weights

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PICTURED_POINTS",
    "STAGES",
    "AssayStream",
    "Chunk",
    "GreatestKeys",
    "KeptPictures",
    "KeptSample",
    "StreamState",
    "check_same_form",
    "conclude",
    "most_pictured",
    "refuse_mixed",
    "valid_runs",
]


# Per-instance work for one model: scores, scaled sets, and the gaps of the classwise error.


LARGEST_SHARED = 2**27  # bytes of a model; with larger ones, models are scored one after another, to bound memory


def valid_runs(runs: Sequence[Prediction], convention: str) -> tuple[Prediction, ...]:
    """Runs whose masses are those that the convention scores."""
    return tuple(run.repaired() if convention == "paper" and isinstance(run, Masses) else run for run in runs)


def _threads(models: Mapping[str, Sequence[Prediction]]) -> int:
    """Threads that share the models; with one, threads share the chunks of a model instead."""
    large = any(
        sum(getattr(run, name).nbytes for run in runs for name in run.array_names()) > LARGEST_SHARED
        for runs in models.values()
    )
    return 1 if large else available_cores()


def _scored(
    name: str,
    runs: tuple[Prediction, ...],
    y: NDArray[Any],
    settings: Settings,
    given: Mapping[str, Floats] | None,
    weights: Floats | None,
    *,
    progress: Callable[[str], None],
) -> tuple[ScoredPart, list[NDArray[Any]]]:
    runs = tuple(holding(run) for run in runs)
    part = score_part(name, runs, y, settings, given=given, progress=progress)
    if isinstance(runs[0], Answers):  # which have no classes
        return part, []
    valid = valid_runs(runs, settings.convention)
    # those without weights as well, because the weights of all chunks may turn out to be equal
    weighted = [] if weights is None else [weighted_gaps(run, y, weights) for run in valid]
    return part, [*(classwise_gaps(run, y) for run in valid), *weighted]


def _errors_of(gaps: Sequence[NDArray[Any]], aligned: Aligned) -> tuple[float, ...]:
    """Classwise error of all runs together and of each, from the gaps of `_scored`."""
    if aligned.weights is not None:
        return errors_of_weighted_gaps(gaps[len(gaps) // 2 :], float(aligned.weights.sum()))
    return errors_of_gaps([gap for gap in gaps if gap.dtype == np.int64], len(aligned.labels))


# From the scores of all models to an assay: baselines, warnings, scores that rank backwards, pictured sets, provenance.

STAGES = ("baselines", "backward scores", "pictured sets")  # as they are told to `progress`
PICTURED_VALUES = 200_000  # of a model's credal sets kept for pictures, K to an instance
PICTURED_POINTS = 30  # instances of each interesting kind whose points are kept as well


class ScoredModel(NamedTuple):
    """Scores, those of scaled sets (None for points), and the classwise error of all runs together and of each."""

    scores: ModelScores
    scaled: ScaledScores | None
    classwise_error: tuple[float, ...]


def conclude(
    scored: Sequence[ScoredModel],
    aligned: Aligned,
    subgroups: dict[str, NDArray[Any]],
    settings: Settings,
    excess: Excess,
    tested: TestedPart,
    pictured: Mapping[str, tuple[Prediction, Kept]],
    options: AssayOptions,
    say: Callable[[str], None],
) -> Assay:
    """The assay of models that are scored; `say` is told its `STAGES`.

    `pictured` has the first run of each model, and the rows that it holds.
    """
    say(STAGES[0])
    y, n_classes = aligned.labels, len(aligned.class_names)
    models, of_answers = [each.scores for each in scored], settings.distance == ERROR.name
    errors = {each.scores.name: each.classwise_error for each in scored}
    if of_answers:  # no statement that knows nothing answers a question
        errors = {}
    else:
        named = aligned.class_names if aligned.named else None
        shares = options.shares(y, n_classes, named, sample_weight=aligned.weights)
        held_out = None
        if options.prior is None:
            held_out = held_out_columns(y, n_classes, aligned.groups, settings, sample_weight=aligned.weights)
        models += score_baselines(y, n_classes, shares, settings, held_out=held_out)
        of_shares = Point(np.broadcast_to(shares, (len(y), n_classes)))
        errors["class-prior"] = classwise_errors([of_shares], y, aligned.weights)
    warnings = cautions(models, aligned, options.common_members)
    warnings += calibration_cautions(tested.foreseen(), aligned, tested.measures)
    provenance = _provenance(y)
    result = Assay(
        models=tuple(models),
        labels=y,
        class_names=aligned.class_names,
        ids=aligned.ids,
        groups=aligned.groups,
        subgroups=subgroups,
        tradeoffs=options.lambdas,
        settings=settings,
        sets={},
        warnings=warnings,
        provenance=provenance,
        excess=excess,
        weights=aligned.weights,
        tests=tested.tests_later(provenance),
        classwise_error=errors,
        scaled={each.scores.name: each.scaled for each in scored if each.scaled is not None},
    )
    say(STAGES[1])
    backward = backward_scores(result)
    result = replace(result, backward=backward, warnings=(*result.warnings, *backward_notes(backward)))
    say(STAGES[2])
    if not of_answers:
        result.sets.update(_pictures(result, pictured))
    return result


def most_pictured(n_classes: int) -> int:
    """Number of instances that are pictured, if the extreme ones are not more."""
    return PICTURED_VALUES // n_classes


def _provenance(y: NDArray[Any]) -> dict[str, Any]:
    from uqassay import __version__

    return {
        "uqassay": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "labels_sha256": sha256(np.ascontiguousarray(y).tobytes()).hexdigest(),
    }


def _pictures(result: Assay, pictured: Mapping[str, tuple[Prediction, Kept]]) -> dict[str, SetSample]:
    """Credal sets of the extreme instances, then of others at random, as far as room allows."""
    extremes = result.extreme_instances(PICTURED_POINTS)
    first = np.unique(np.concatenate(list(extremes.values())))
    room = max(len(first), most_pictured(result.n_classes))
    others = np.setdiff1d(np.arange(result.n_instances), first)
    keys = random_keys(result.n_instances, None, result.settings.seed)[others]
    others = others[sample_reaching(keys, room - len(first))] if room > len(first) else others[:0]
    rows = np.concatenate([first, others])
    return {name: sample_sets(run, rows, len(first), kept=kept) for name, (run, kept) in pictured.items()}


# One chunk of a stream: its instances after alignment, and the form that all chunks of a stream share.

OF_INSTANCES = ("ids", "groups", "row_numbers", "notes", "class_names", "drawn")  # fields that differ between chunks


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive instances."""

    aligned: Aligned
    given: Mapping[str, Mapping[str, NDArray[np.float64]]]  #: (R, n): Further uncertainty scores by model.
    subgroups: Mapping[str, NDArray[Any]]  #: (n,)
    settings: Settings
    first_row: int
    #: Whether the runs given are masses that are not known to be those of belief functions; these are repaired as a
    #: whole.
    signed: Mapping[str, tuple[bool, ...]]

    def form(self) -> dict[str, Any]:
        """What all chunks of a stream have in common, by a name that errors can use."""
        aligned = self.aligned
        found: dict[str, Any] = {
            "models": tuple(aligned.models),
            "class_names": aligned.class_names if aligned.named else (),
            "number of classes": len(aligned.class_names),
            "axes of y_true": aligned.labels.ndim,
            "ids": aligned.ids is not None,
            "sample_weight": aligned.weights is not None,
            "kind of groups": _kind(aligned.groups, "groups"),
            "kinds of subgroups": {name: _kind(values, name) for name, values in self.subgroups.items()},
            "scores": self.settings.measures,
            "signed": dict(self.signed),
            "uncertainties": {name: tuple(scores) for name, scores in self.given.items()},
        }
        for name, runs in aligned.models.items():
            found[f"runs of {name!r}"] = len(runs)
            for r, run in enumerate(runs):
                owner = f"{name!r}, run {r + 1}" if len(runs) > 1 else repr(name)
                found |= {f"{what} of {owner}": value for what, value in _constants(run).items()}
        return found


def _of_some_weight(
    aligned: Aligned, given: dict[str, dict[str, Floats]], subgroups: dict[str, NDArray[Any]]
) -> tuple[Aligned, dict[str, dict[str, Floats]], dict[str, NDArray[Any]]]:
    """Without the instances whose weight is 0."""
    if aligned.weights is None or aligned.weights.all():
        return aligned, given, subgroups
    rows = np.flatnonzero(aligned.weights)
    return (
        replace(aligned.of_rows(rows), weightless=len(aligned.weights) - len(rows)),
        {model: {name: values[:, rows] for name, values in scores.items()} for model, scores in given.items()},
        {name: values[rows] for name, values in subgroups.items()},
    )


def check_same_form(found: Mapping[str, Any], first: Mapping[str, Any], argument: str) -> None:
    """Refuse a chunk, or a stream, that cannot be joined to the first."""
    for what in (*first, *found):
        here, there = found.get(what, "missing"), first.get(what, "missing")
        if not _same(here, there):
            fail(
                argument,
                f"{what} must be as in the first chunk",
                f"got {_shown(here)}, and there {_shown(there)}",
                "give all chunks the same form, or start another stream",
                code="mismatch",
                facts={"part": what},
            )


def signed_runs(models: Mapping[str, Sequence[Prediction]]) -> dict[str, tuple[bool, ...]]:
    """Whether the runs of each model are signed masses."""
    return {name: tuple(isinstance(run, Masses) and run.signed for run in runs) for name, runs in models.items()}


def marked_like(form: Mapping[str, Any] | None, models: Mapping[str, list[Prediction]]) -> dict[str, list[Prediction]]:
    """Masses without a broken row, marked as signed where those of the first chunk are, so that all rows are treated alike."""
    found = {}
    for name, runs in models.items():
        before = (*(() if form is None else form["signed"].get(name, ())), *(False for _ in runs))
        found[name] = [
            replace(run, signed=True) if was and isinstance(run, Masses) else run
            for run, was in zip(runs, before, strict=False)
        ]
    return found


def with_own_constants(run: Prediction) -> Prediction:
    """The same prediction with copies of the arrays that belong to all instances, such as focal sets and weights of members.

    Selections of its instances share them, and a stream keeps selections.
    """
    same, of_instances = copy(run), (*run.array_names(), *OF_INSTANCES)
    for one in fields(run):
        value = getattr(run, one.name)
        if one.name not in of_instances and isinstance(value, np.ndarray):
            object.__setattr__(same, one.name, value.copy())
    return same


def refuse_mixed(groups: Any, models: Mapping[str, Sequence[Prediction]]) -> None:
    """Refuse groups that mix numbers and text, which an assay numbers as they come."""
    carried = (run.groups for runs in models.values() for run in runs if run.groups is not None)
    values = np.asarray(next(carried, None) if groups is None else groups)
    if values.dtype.kind == "O" and not all(isinstance(value, (str, type(None))) for value in values.ravel().tolist()):
        fail("groups", "of a stream must be numbers or text, not both", "got both", "make them text", code="type")


def _constants(run: Prediction) -> dict[str, Any]:
    """Kind, and every field that does not belong to single instances; of the others dtype and shape of an instance."""
    arrays = run.array_names()
    found: dict[str, Any] = {"kind": type(run).__name__}
    for one in fields(run):
        value = getattr(run, one.name)
        if one.name in arrays:
            found[one.name] = f"{value.dtype} of shape (n{''.join(f', {m}' for m in value.shape[1:])})"
        elif one.name not in OF_INSTANCES:
            found[one.name] = value
    return found


def _kind(values: NDArray[Any] | None, name: str) -> str:
    """Kind of groups or subgroups: joined chunks of different kinds would change what the values mean."""
    if values is None:
        return "none"
    if values.dtype.kind == "O":
        fail(name, "of a stream must be numbers or text, not both", "got mixed values", "make them text", code="type")
    return {"U": "text", "S": "text", "b": "truth values", "f": "decimal numbers"}.get(
        values.dtype.kind, "whole numbers"
    )


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    return bool(a == b)


def _shown(value: Any) -> str:
    return "another array" if isinstance(value, np.ndarray) else f"{value!r:.80}"


# What a stream keeps of the predictions themselves: the instances that come first in a random order, and given ones.

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


# What a stream keeps of the predictions for pictures: instances at random, and the most extreme ones.


@dataclass
class KeptPictures:
    """Instances of the first run of every model; parts that follow each other can be joined in any tree."""

    samples: dict[str, KeptSample] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _extremes: dict[str, tuple[Rows, Floats]] = field(default_factory=dict)

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

    def _note_extremes(self, found: dict[str, tuple[Rows, Floats]]) -> None:
        """Keep the most extreme instances; of equal ones those that come first, as `extreme_instances` does."""
        for name, (rows, values) in found.items():
            if name in self._extremes:
                rows, values = (np.concatenate(pair) for pair in zip(self._extremes[name], (rows, values), strict=True))
            chosen = np.sort(np.argsort(-values, kind="stable")[:PICTURED_POINTS])
            self._extremes[name] = rows[chosen], values[chosen]

    def _extreme_rows(self) -> Rows:
        return np.concatenate([rows for rows, _ in self._extremes.values()])


# What a stream has seen: the columns of every instance, sums, and the instances that later tests need.

NONE = np.empty(0, dtype=np.int64)

ENDLESS = 2**40  # instances, more than any stream has
ROUNDED = 1.1  # numbers of instances tested are rounded down to two digits, by less than this factor


class GreatestKeys(NamedTuple):
    """Random keys of the last instances that are kept, where the number of all instances is known; see `random_order`."""

    tested: dict[str, np.uint64]  #: By model, for calibration tests and scale check.
    pictured: np.uint64


@dataclass
class StreamState:
    """Everything that `AssayStream` collects; `add` takes a chunk, `extend` the state of the rows that follow.

    With `greatest`, a part of the rows keeps no more instances than the whole does. Where no rows follow, `last` has the models
    themselves, and nothing of them is kept.
    """

    n_instances: int = 0
    form: dict[str, Any] | None = None
    settings: Settings | None = None
    seconds: float = 0.0
    scored: dict[str, list[ScoredPart]] = field(default_factory=dict)
    gaps: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    samples: dict[str, KeptSample] = field(default_factory=dict)
    pictures: KeptPictures = field(default_factory=KeptPictures)
    excess: Excess | None = None
    greatest: "GreatestKeys | None" = None
    last: Mapping[str, tuple[Prediction, ...]] | None = None
    _aligned: list[Aligned] = field(default_factory=list)
    _subgroups: list[dict[str, NDArray[Any]]] = field(default_factory=list)

    @property
    def ignored(self) -> int:
        """Number of instances that were left out by their label."""
        return sum(part.ignored for part in self._aligned)

    # -- results so far -------------------------------------------------------------------------------------------------

    def aligned(self) -> Aligned:
        """Labels, ids and groups of all instances; no models."""
        parts = self._aligned
        return replace(
            parts[0],
            labels=np.concatenate([part.labels for part in parts]),
            ids=_joined([part.ids for part in parts]),
            groups=_joined([part.groups for part in parts]),
            weights=different_weights(_joined([part.weights for part in parts])),
            vote_totals=_joined([part.vote_totals for part in parts]),
            ignored=self.ignored,
            weightless=sum(part.weightless for part in parts),
        )

    def subgroups(self) -> dict[str, NDArray[Any]]:
        """Values of each subgroup, ``(n,)``."""
        return {name: np.concatenate([part[name] for part in self._subgroups]) for name in self._subgroups[0]}

    def held(self) -> dict[str, tuple[tuple[Prediction, ...], Kept]]:
        """The runs of each model for tests and scale check, and the rows that they hold."""
        if self.last is not None:
            return {name: (runs, None) for name, runs in self.last.items()}
        joined = {name: sample.joined() for name, sample in self.samples.items()}
        return {name: (runs or self.heads(name), rows) for name, (runs, rows) in joined.items()}

    def pictured(self) -> dict[str, tuple[Prediction, Kept]]:
        """The first run of each model for pictures, and the rows that it holds."""
        if self.last is not None:
            return {name: (runs[0], None) for name, runs in self.last.items()}
        joined = {name: sample.joined() for name, sample in self.pictures.samples.items()}
        return {name: (runs[0], rows) for name, (runs, rows) in joined.items()}

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

    def add(
        self, chunk: Chunk, options: AssayOptions, *, progress: Callable[[str], None] = silent, last: bool = False
    ) -> None:
        """Score the instances of a chunk. If it raises, the state is of no use any more; see `copied`."""
        aligned, settings, first = chunk.aligned, chunk.settings, chunk.first_row
        y = aligned.labels
        models = able_to_hold(aligned.models)
        calls = [(name, runs, y, settings, chunk.given.get(name), aligned.weights) for name, runs in models.items()]
        scored = share_on_threads(_scored, calls, threads=_threads(models), progress=progress)
        for (name, *_), (part, gaps) in zip(calls, scored, strict=True):
            self.scored.setdefault(name, []).append(part)
            self._add_gaps(name, gaps)
        self._add_excess(excess_of(models, settings))
        if self.form is None:
            self.form, self.settings = chunk.form(), settings
        self.n_instances += len(y)
        self._aligned.append(replace(aligned, models={}))
        self._subgroups.append(dict(chunk.subgroups))
        if last:
            self.last = models
        else:
            self._keep(aligned, [part for part, _ in scored], options, first)

    def _keep(self, aligned: Aligned, scored: Sequence[ScoredPart], options: AssayOptions, first: int) -> None:
        """Keep instances for tests and pictures."""
        assert self.settings is not None
        y, seed = aligned.labels, self.settings.seed
        keys = random_keys(len(y), aligned.groups, seed, first_row=first)
        for name, runs in aligned.models.items():
            size = self._most_tested(runs, y, options, self.n_instances)
            greatest = GREATEST_KEY if self.greatest is None else self.greatest.tested[name]
            self.samples.setdefault(name, KeptSample()).add(runs, keys, first, size, NONE, greatest_key=greatest)
        self.pictures.add(
            aligned.models,
            scored,
            random_keys(len(y), None, seed, first_row=first),
            first,
            greatest_key=GREATEST_KEY if self.greatest is None else self.greatest.pictured,
        )

    def extend(self, other: "StreamState", options: AssayOptions) -> None:
        """Take over the instances of another state, which follow."""
        if self.form is None:
            self.form, self.settings = other.form, other.settings
        self.n_instances += other.n_instances
        self.seconds += other.seconds
        self._aligned += other._aligned
        self._subgroups += other._subgroups
        self.pictures.extend(other.pictures)
        if other.excess is not None:
            self._add_excess(other.excess)
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

    def _add_excess(self, found: Excess) -> None:
        self.excess = found if self.excess is None else self.excess.joined(found)

    def _add_gaps(self, name: str, gaps: Sequence[NDArray[Any]]) -> None:
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


# An assay of instances that come in chunks, with the results of one call on all of them.


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AssayStream(AssayOptions):
    """An assay in chunks: `update` with each chunk, `merge` with the stream of the next rows, `compute` the `Assay`.

    `compute` gives what `assay` gives for all chunks together: the same columns, findings, tests and pictures, bit for bit.
    The columns of every instance are kept, two dozen numbers to a model and run; of the predictions only the instances that
    later tests need, see docs/large-data.md.

    Parameters
    ----------
    first_row : int
        Number of the first instance in the whole test set. Random choices are keyed by it, so a stream that starts elsewhere
        than at 0 can only be merged into one that ends where it starts.
    **options
        Those of `assay` that do not belong to single instances.

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
            fail(
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
        y_true: ArrayLike | None = None,
        *,
        uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        subgroups: "Mapping[str, ArrayLike] | pd.DataFrame | None" = None,
    ) -> Self:
        """Score the next instances; arguments as for `assay`. Returns the stream.

        Row numbers count on from chunk to chunk; a slice of a `Prediction` keeps the numbers that it had in the whole.
        Everything kept is a copy. An update that raises, or is interrupted, leaves the stream as it was.
        """
        return self._updated(predictions, y_true, uncertainties, groups, sample_weight, subgroups)

    def _updated(
        self,
        predictions: Mapping[str, Any],
        y_true: Any,
        uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None,
        groups: Any,
        sample_weight: Any,
        subgroups: Any,
        *,
        last: bool = False,
    ) -> Self:
        """`update`; after the last instances nothing but `compute` may follow."""
        started = time.perf_counter()
        y_true, groups, sample_weight, subgroups, uncertainties = of_same_instances(
            y_true, groups, sample_weight, subgroups, uncertainties
        )
        state, first = self._state.copied(), self.first_row + self._state.n_instances
        with shown_progress(self.progress) as say:
            say("checking the predictions")
            ignored = 0
            if self.ignore_label is not None and y_true is not None:
                predictions, y_true, groups, sample_weight, subgroups, uncertainties, ignored = without_label(
                    self.ignore_label,
                    predictions,
                    y_true,
                    class_names=self.class_names,
                    groups=groups,
                    sample_weight=sample_weight,
                    subgroups=subgroups,
                    uncertainties=uncertainties,
                    first_row=first + self._state.ignored,
                )
            models = {name: [numbered(run, first) for run in runs] for name, runs in as_runs(predictions).items()}
            seen = state.form
            models = marked_like(seen, models)
            if not last:
                refuse_mixed(groups, models)
            aligned = align(
                models,
                y_true,
                groups=groups,
                sample_weight=sample_weight,
                class_names=self.class_names,
                repair=self.repair,
                common_members=self.common_members,
                seed=self.seed,
                whole=last,
                votes_are=self.votes_are,
                earlier=() if seen is None else tuple(seen["class_names"]),
            )
            own = {name: tuple(map(with_own_constants, runs)) for name, runs in aligned.models.items()}
            aligned = replace(aligned, models=own, ignored=ignored)
            given = given_scores(uncertainties, aligned)
            parts = subgroup_values(subgroups, len(aligned.labels), aligned.known)
            aligned, given, parts = _of_some_weight(aligned, given, parts)
            chunk = Chunk(
                aligned=aligned,
                given=given,
                subgroups=parts,
                settings=self.settings(aligned, given),
                first_row=first,
                signed=signed_runs(models),
            )
            if seen is not None:
                check_same_form(chunk.form(), seen, "chunk")
            state.add(chunk, self, progress=say, last=last)
        state.seconds += time.perf_counter() - started
        return self._holding(state)

    def merge(self, other: "AssayStream") -> Self:
        """Take over the instances of another stream, whose rows must follow these. Returns the stream; `other` stays as it is.

        A merge that raises, or is interrupted, leaves the stream as it was.
        """
        if not isinstance(other, AssayStream):
            fail("other", "must be an AssayStream", f"got {type(other).__name__}", "update it by a chunk", code="type")
        names = [f.name for f in fields(AssayOptions) if f.name != "progress"]
        differing = [name for name in names if _differ(getattr(self, name), getattr(other, name))]
        if differing:
            fail(
                "other",
                "must have the same options",
                f"{differing[0]} is {getattr(other, differing[0])!r} and here {getattr(self, differing[0])!r}",
                "make both streams with the same options",
                code="mismatch",
            )
        end = self.first_row + self.n_instances
        if other.first_row != end:
            fail(
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
        """The assay of all instances so far; the stream can be updated further."""
        started, state = time.perf_counter(), self._state
        if state.settings is None or state.excess is None:
            fail("chunk", "needs at least one", "got none", "call update first", code="empty")
        if self.first_row:
            fail(
                "first_row",
                "must be 0 to compute an assay",
                f"this stream begins at row {self.first_row}",
                "merge it into the stream that begins at row 0",
                code="mismatch",
            )
        aligned, settings = state.aligned(), state.settings
        if aligned.ids is not None:
            checked_ids(aligned.ids, len(aligned.labels))
        held = state.held()
        models = {name: runs for name, (runs, _) in held.items()}
        rows = {name: kept for name, (_, kept) in held.items()}
        with shown_progress(self.progress) as say:
            scores = {name: joined_scores(parts) for name, parts in state.scored.items()}
            calls = [
                ([scores[name]], {name: runs}, aligned.labels, settings, self.factors, aligned.groups, rows)
                for name, runs in models.items()
            ]
            scaled = share_on_threads(scale_models, calls, threads=_threads(models), progress=say)
            valid = {name: valid_runs(runs, self.convention) for name, runs in models.items()}
            result = conclude(
                [
                    ScoredModel(
                        scores[name], found.get(name), _errors_of(gaps, aligned) if (gaps := state.gaps[name]) else ()
                    )
                    for name, found in zip(models, scaled, strict=True)
                ],
                aligned,
                state.subgroups(),
                settings,
                state.excess,
                TestedPart.of(valid, aligned, self, kept=rows),
                {name: (valid_runs([run], self.convention)[0], kept) for name, (run, kept) in state.pictured().items()},
                self,
                say,
            )
        result.provenance["seconds"] = round(state.seconds + time.perf_counter() - started, 3)
        return result

    def _holding(self, state: StreamState) -> Self:
        """This stream with another state. One statement and the last one, so that an interrupted call changes nothing."""
        return object.__setattr__(self, "_state", state) or self  # type: ignore[func-returns-value]


def _differ(a: Any, b: Any) -> bool:
    return not np.array_equal(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
