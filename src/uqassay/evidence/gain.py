"""Lens: does the epistemic estimate predict how much more data would help?"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.calibration.epistemic_map import CrossFittedMap, EpistemicMap, cross_fitted_map
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.evidence.align import align
from uqassay.evidence.gain_words import gain_sentences, result_sentences
from uqassay.evidence.over_runs import Curve, OverRuns, curve_over_runs, estimate_over_runs
from uqassay.evidence.storage import Saved
from uqassay.ids import in_one_order
from uqassay.measures import score_names, uncertainty_score
from uqassay.metrics.epistemic_gain import (
    GAIN_LOSSES,
    DelayCurve,
    EpistemicCalibration,
    TrueUncertainty,
    delay_curve_of_gains,
    epistemic_calibration_error,
    epistemic_correlation_score,
    gain,
    mapped_calibration_error,
    place_in_intervals,
    true_uncertainty,
)
from uqassay.notes import Note, distinct
from uqassay.predictions import Point, Prediction, PredictionLike, as_prediction
from uqassay.predictions.keys import label_columns
from uqassay.results import Bar, Shown, ShownCell, ShownRow, ShownTable, as_table, estimate_cell, spread
from uqassay.statistics import Estimate, mean_estimate
from uqassay.statistics.units import make_units
from uqassay.text import ABSENT, count, counted, level_text, listed, listed_names, shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "GAIN_SCORES",
    "GAIN_TABLES",
    "TRUE_PARTS",
    "GainOptions",
    "GainResult",
    "GainRun",
    "GainSample",
    "GainStudy",
    "check_folds",
    "default_gain_scores",
    "gain_of_run",
    "gain_rows",
    "sample_of_pair",
]


# Gains and estimates of epistemic uncertainty on the test instances of one run (epistemic gain, section 4).


TRUE_PARTS = ("total", "aleatoric", "epistemic")


@final
@dataclass(frozen=True, eq=False)
class GainSample:
    """n instances: the gain from more data, and the epistemic uncertainty that the model stated before.

    Examples
    --------
    >>> sample = GainSample({"zero-one": [0, 1]}, {"entropy": [0.1, 0.6]}, [True, False], [True, True])
    >>> sample.n_instances, sample.accuracy_before, sample.accuracy_after
    (2, 0.5, 1.0)
    """

    #: (n,): By the loss, of `uqassay.metrics.GAIN_LOSSES`: loss before minus loss after more data. Zero-one gains are
    #: −1, 0, 1.
    gain: Mapping[str, Floats]
    #: (n,): Estimates by the name of the score; greater values mean more doubt. Entropies are in nats.
    epistemic: Mapping[str, Floats]
    #: correct_before, correct_after: (n,): Whether the class predicted without and with more data is the label.
    correct_before: NDArray[np.bool_]
    correct_after: NDArray[np.bool_]
    #: Total, aleatoric and epistemic uncertainty of the model before, under the zero-one loss, where P(y|x) is known.
    truth: TrueUncertainty | None = None
    #: (n,): Instances of one group (patient, site, video) may depend on each other; groups are independent.
    groups: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        before = _truth_values("correct_before", self.correct_before)
        after = _truth_values("correct_after", self.correct_after)
        n = len(before)
        if len(after) != n:
            raise _other_length("correct_after", len(after), n)
        gain = _by_name("gain", self.gain, n)
        for name in gain:
            if name not in GAIN_LOSSES:
                fail(
                    "gain",
                    f"must be of the losses {listed(GAIN_LOSSES, last='or')}",
                    f"got {name!r}",
                    'pass {"zero-one": gains}',
                    code="choice",
                )
        known = after.astype(float) - before
        if "zero-one" in gain and (gain["zero-one"] != known).any():
            at = int(np.flatnonzero(gain["zero-one"] != known)[0])
            fail(
                "gain['zero-one']",
                "must be correct_after − correct_before",
                f"row {at} has {gain['zero-one'][at]:g}, and is {_word(before[at])} before and {_word(after[at])} after",
                "compute both from the same predictions",
                code="mismatch",
            )
        fields = {
            "gain": gain,
            "epistemic": _by_name("epistemic", self.epistemic, n),
            "correct_before": before,
            "correct_after": after,
            "truth": _checked_truth(self.truth, n),
            "groups": _checked_groups(self.groups, n),
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    @property
    def n_instances(self) -> int:
        """n."""
        return len(self.correct_before)

    @property
    def accuracy_before(self) -> float:
        """Share of right predictions without more data."""
        return float(self.correct_before.mean())

    @property
    def accuracy_after(self) -> float:
        """Share of right predictions with more data."""
        return float(self.correct_after.mean())


@final
@dataclass(frozen=True, eq=False)
class GainRun:
    """One run: a split of the data, a training with less and one with more of it."""

    seed: int
    test: GainSample  #: Of the test instances.
    #: Of the instances that the map of the estimates to gains is fitted on; never the test instances.
    calibration: GainSample | None = None
    #: Numbers of instances, such as those of D_train, D_aug and D_test.
    sizes: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, Integral):
            fail("seed", "must be a whole number", f"got {shown(self.seed)}", "give the seed of the run", code="type")
        for name, sample in (("test", self.test), ("calibration", self.calibration)):
            if not isinstance(sample, GainSample) and not (name == "calibration" and sample is None):
                fail(
                    name,
                    "must be a GainSample",
                    f"got {shown(sample)}",
                    "pass GainSample(gain, epistemic, correct_before, correct_after)",
                    code="type",
                )
        if not isinstance(self.sizes, Mapping):
            fail("sizes", "must be a mapping", f"got {shown(self.sizes)}", 'pass {"train": 1000}', code="type")
        for name, size in self.sizes.items():
            if isinstance(size, bool) or not isinstance(size, Integral) or size < 0:
                fail(
                    f"sizes[{name!r}]", "must be a number of instances", f"got {shown(size)}", "count them", code="type"
                )
        if self.calibration is not None:
            _check_same_names(self.test, self.calibration)
        for key, value in {
            "seed": int(self.seed),
            "sizes": {str(name): int(size) for name, size in self.sizes.items()},
            "notes": tuple(self.notes),
        }.items():
            object.__setattr__(self, key, value)


# -- checks -------------------------------------------------------------------------------------------------------------


def _word(correct: Any) -> str:
    return "right" if correct else "wrong"


def _truth_values(name: str, values: Any) -> NDArray[np.bool_]:
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype != bool:
        fail(
            name,
            "must be truth values of shape (n,)",
            f"got shape {array.shape} of {array.dtype}",
            "compare the predicted classes with the labels",
            code="shape",
        )
    return array


def _by_name(parameter: str, values: Any, n: int) -> dict[str, Floats]:
    rule = "must be arrays by their names, at least one"
    if not isinstance(values, Mapping):
        fail(parameter, rule, f"got {shown(values)}", "pass a dictionary of arrays", code="type")
    if not values:
        fail(parameter, rule, f"got {shown(values)}", "pass a dictionary of arrays", code="empty")
    return {str(name): _numbers(f"{parameter}[{name!r}]", array, n) for name, array in values.items()}


def _numbers(name: str, values: Any, n: int) -> Floats:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        fail(
            name,
            "must be numbers of shape (n,)",
            f"got shape {array.shape} of {array.dtype}",
            "give one number for each instance",
            code="shape",
        )
    if len(array) != n:
        raise _other_length(name, len(array), n)
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        at = int(np.flatnonzero(~np.isfinite(array))[0])
        fail(
            name,
            "must be finite",
            f"{int((~np.isfinite(array)).sum())} of {n} values are not, the first in row {at}",
            "leave out these instances, or mend the estimate",
            code="finite",
        )
    return array


def _other_length(name: str, length: int, n: int) -> InputError:
    return InputError(
        name,
        "must have as many rows as correct_before",
        f"got {counted(length, 'row')}, not {n:,}",
        "give one value for each instance",
        code="mismatch",
    )


def _checked_truth(truth: Any, n: int) -> TrueUncertainty | None:
    if truth is None:
        return None
    if not isinstance(truth, TrueUncertainty):
        fail(
            "truth",
            "must be a TrueUncertainty",
            f"got {shown(truth)}",
            "pass metrics.true_uncertainty(label_probs, predicted)",
            code="type",
        )
    parts = (truth.total, truth.aleatoric, truth.epistemic)
    return TrueUncertainty(*(_numbers(f"truth.{name}", part, n) for name, part in zip(TRUE_PARTS, parts, strict=True)))


def _checked_groups(groups: Any, n: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    array = np.asarray(groups)
    if array.ndim != 1 or len(array) != n:
        fail(
            "groups",
            "must have one label for each instance",
            f"got shape {array.shape} for {counted(n, 'instance')}",
            "give the group of each instance",
            code="shape",
        )
    return array.astype(str) if array.dtype.kind == "O" else array


def _check_same_names(test: GainSample, calibration: GainSample) -> None:
    for name in ("gain", "epistemic"):
        missing = [key for key in getattr(test, name) if key not in getattr(calibration, name)]
        if missing:
            fail(
                f"calibration.{name}",
                "must have the names of the test sample",
                f"it lacks {listed(missing)}",
                "compute the same losses and scores on both",
                code="mismatch",
            )


# From the predictions of a model without and with more data to their gains and estimates of epistemic uncertainty.

# names of the paper on epistemic gain, and those of `uqassay.measures.SCORES`
GAIN_SCORES: Mapping[str, str] = {"mutual-information": "epistemic-entropy", "entropy": "total-entropy"}


def default_gain_scores(prediction: Prediction) -> tuple[str, ...]:
    """Those of `GAIN_SCORES` that a prediction offers; the mutual information of a `Point` would be 0 everywhere.

    Examples
    --------
    >>> default_gain_scores(Point([[0.5, 0.5]]))
    ('entropy',)
    """
    offered = score_names(prediction, on_request=True)
    several = not isinstance(prediction, Point)
    return tuple(name for name, own in GAIN_SCORES.items() if own in offered and (several or name == "entropy"))


@in_one_order("before", "y_true", "scores", "label_probs", "groups")
def sample_of_pair(
    y_true: ArrayLike,
    before: PredictionLike,
    after: PredictionLike,
    *,
    scores: Sequence[str] | Mapping[str, ArrayLike] | None = None,
    losses: Sequence[str] = ("zero-one",),
    label_probs: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> GainSample:
    """Gains from more data, and the epistemic uncertainty of the model without them.

    Parameters
    ----------
    y_true : int array (n,)
        Labels.
    before, after : Prediction, or array (n, K) or (n, M, K)
        Of the same learner without and with more data, for the same n instances. Rows with ids and columns with names are
        put into one order.
    scores : sequence of str, or dict of str to array (n,), optional
        Names of scores of `before`: those of `uqassay.measures.SCORES`, "mutual-information" or "entropy"; or estimates by
        their names. By default these two, and "entropy" alone where `before` has no second-order distribution.
    losses : sequence of str
        Of `uqassay.metrics.GAIN_LOSSES`.
    label_probs : array (n, K), optional
        P(y|x) where it is known; it gives the true uncertainty of `before` under the zero-one loss.
    groups : array (n,), optional
        Patients, sites or videos; by default those of `before`.

    Returns
    -------
    GainSample

    Examples
    --------
    >>> members = [[[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.8, 0.2]]]
    >>> sample = sample_of_pair([1, 0], members, [[0.2, 0.8], [0.9, 0.1]])
    >>> sample.gain["zero-one"].tolist(), sample.epistemic["mutual-information"].round(3).tolist()
    ([1.0, 0.0], [0.368, 0.0])
    """
    both = {"before": as_prediction(before, "before"), "after": as_prediction(after, "after")}
    _check_named(both)
    aligned = align(both, y_true, groups=groups)
    y = aligned.labels
    if y.ndim == 2:
        fail(
            "y_true",
            "must be one label for each instance",
            "got label distributions or votes",
            "take the most frequent label",
            code="shape",
        )
    (first,), (second,) = aligned.models["before"], aligned.models["after"]
    if len(set(losses)) < len(losses) or not losses:
        fail(
            "losses", "must be different names, at least one", f"got {list(losses)}", "name each once", code="duplicate"
        )
    if aligned.named and label_probs is not None:  # the predictions have lost their names to the labels
        label_probs = label_columns(label_probs, aligned.class_names, "label_probs")
    return GainSample(
        {name: gain(y, first, second, loss=name) for name in losses},  # type: ignore[arg-type]
        _estimates(first, scores),
        first.labels() == y,
        second.labels() == y,
        None if label_probs is None else true_uncertainty(label_probs, first),
        aligned.groups,
    )


def _check_named(both: Mapping[str, Prediction]) -> None:
    """Refuse class names of one prediction alone."""
    unnamed = [side for side, one in both.items() if one.class_names is None]
    if len(unnamed) == 1:
        (names,) = (one.class_names for one in both.values() if one.class_names is not None)
        fail(
            f"models[{unnamed[0]!r}]",
            "must name the classes if the other prediction does, because its columns may be in another order",
            f"got none, and the other has {listed_names(names, most=5)}",
            "name the classes of both, or of neither",
            code="missing",
            facts={"class_names": tuple(names)},
        )


def _estimates(prediction: Prediction, scores: Sequence[str] | Mapping[str, ArrayLike] | None) -> dict[str, Any]:
    if isinstance(scores, Mapping):
        return dict(scores)
    offered = score_names(prediction, on_request=True)
    if scores is None:
        names = list(default_gain_scores(prediction))
    elif isinstance(scores, str):
        fail("scores", "must be a list of names", f"got {scores!r}", f"write [{scores!r}]", code="type")
    else:
        names = list(dict.fromkeys(scores))
    for name in names:
        if GAIN_SCORES.get(name, name) not in offered:
            near = difflib.get_close_matches(name, [*GAIN_SCORES, *offered], n=1)
            fail(
                "scores",
                f"must be scores that this prediction has ({listed([*GAIN_SCORES, *offered])})",
                f"got {name!r}",
                f"the closest is {near[0]}" if near else "choose from them",
                code="choice",
            )
    return {name: uncertainty_score(prediction, GAIN_SCORES.get(name, name)) for name in names}


# The numbers of one run: correlation, calibration error, map and delay curve of one estimate of epistemic uncertainty.

FOLDS = 5
SHARES = tuple(i / 20 for i in range(21))
OF_SPLIT = ("parts", "overlap", "skipped")  # notes of a division, which `GainRun.notes` keeps
LEAST_OF_FOLD = 2  # instances or groups
COUNTED = ("left-out", "assumption")  # notes of a map that are told once for all runs


@final
@dataclass(frozen=True)
class GainOptions:
    """What is computed, and how."""

    score: str
    loss: str = "zero-one"
    bins: int = 20  #: Number of intervals of the estimates.
    binning: Literal["equal-mass", "equal-width"] = "equal-mass"
    #: Intervals of the calibration map; see `uqassay.calibration.EpistemicMap`.
    map_bins: Literal["paper", "own"] = "paper"
    level: float = 0.95  #: Confidence level of all intervals.
    shares: tuple[float, ...] = SHARES  #: Of the cases that wait, on the delay curve.
    #: Folds of the test instances on which the map is cross-fitted in a run without a calibration sample; 0 for no map.
    cross_fit: int = FOLDS


@final
@dataclass(frozen=True, eq=False)
class RunGain:
    """The numbers of one run and one score; intervals are over its instances or groups."""

    seed: int
    n_instances: int
    mean_gain: Estimate
    mean_epistemic: Estimate
    excess: Estimate  #: Mean of estimate − gain: positive where the estimates are too large on average.
    correlation: Estimate  #: Spearman's correlation of estimate and gain.
    raw: EpistemicCalibration  #: EECE (gain) of the estimates.
    #: EECE (gain) of the mapped estimates: in the same intervals of instances if the map is of a calibration sample, in
    #: fewer intervals of each fold if it is cross-fitted. None without a map.
    calibrated: EpistemicCalibration | None
    #: Mean of mapped estimate − gain; None also for a cross-fitted map, where it is near 0 for any estimates.
    excess_calibrated: Estimate | None
    gain_map: EpistemicMap | None  #: Of the calibration sample; of all test instances if it is cross-fitted.
    cross_fit: CrossFittedMap | None  #: The maps of the folds, without a calibration sample.
    delay: DelayCurve
    above_random: tuple[Estimate, ...]  #: Gain above that of a random choice at each share of the delay curve.
    #: (M,): In the intervals of the estimates: "epistemic", "gain", "calibrated" (with a map), "true" (true epistemic
    #: uncertainty, where P(y|x) is known).
    means: Mapping[str, Floats]
    notes: tuple[Note, ...]


def gain_of_run(run: GainRun, options: GainOptions) -> RunGain:
    """Compute everything for one run; the map is fitted on its calibration sample, or cross-fitted."""
    test, level = run.test, options.level
    g, e = test.gain[options.loss], test.epistemic[options.score]
    common: dict[str, Any] = {"groups": test.groups, "level": level}
    raw = epistemic_calibration_error(g, e, bins=options.bins, binning=options.binning, **common)
    place = place_in_intervals(e, raw.edges)[0]
    values = {"epistemic": e, "gain": g}
    gain_map, calibrated, excess_calibrated, cross_fit = None, None, None, None
    notes = [note for note in run.notes if note.code not in OF_SPLIT]
    if run.calibration is not None:
        gain_map = _fitted(run.calibration, e, options)
        mapped = values["calibrated"] = gain_map.transform(e)
        calibrated = mapped_calibration_error(g, mapped, e, edges=raw.edges, **common)
        excess_calibrated = mean_estimate(mapped - g, **common)
    elif options.cross_fit:
        n_units = make_units(e.size, test.groups, None).n_units
        if n_units >= LEAST_OF_FOLD * options.cross_fit:
            cross_fit = cross_fitted_map(g, e, bins=options.bins, n_folds=options.cross_fit, **common)
            gain_map, calibrated, values["calibrated"] = cross_fit.gain_map, cross_fit.calibration, cross_fit.mapped
        else:
            notes.append(_too_few(n_units, "case" if test.groups is None else "group", options.cross_fit))
    if gain_map is not None:
        notes += [note for note in gain_map.notes if note.code not in COUNTED]
    if test.truth is not None and options.loss == "zero-one":
        values["true"] = test.truth.epistemic
    correlation = epistemic_correlation_score(g, e, **common)
    delay = delay_curve_of_gains(g, e, shares=options.shares, **common)
    count = np.bincount(place, minlength=raw.n_bins)
    return RunGain(
        seed=run.seed,
        n_instances=test.n_instances,
        mean_gain=mean_estimate(g, **common),
        mean_epistemic=mean_estimate(e, **common),
        excess=mean_estimate(e - g, **common),
        correlation=correlation,
        raw=raw,
        calibrated=calibrated,
        excess_calibrated=excess_calibrated,
        gain_map=gain_map,
        cross_fit=cross_fit,
        delay=delay,
        above_random=tuple(delay.above_random(share) for share in options.shares),
        means={name: _means(array, place, count) for name, array in values.items()},
        # the correlation counts the same gains in other words
        notes=distinct(notes, raw.notes, [note for note in correlation.notes if note.code != "few"], delay.notes),
    )


def _fitted(sample: GainSample, evaluation: Floats, options: GainOptions) -> EpistemicMap:
    found = EpistemicMap(bins=options.map_bins, n_bins=options.bins)
    own = options.map_bins == "own"
    return found.fit(sample.epistemic[options.score], sample.gain[options.loss], evaluation=None if own else evaluation)


def _too_few(n_units: int, what: str, n_folds: int) -> Note:
    text = f"no map: {counted(n_units, what)} for {n_folds} folds, and each needs {LEAST_OF_FOLD}: take fewer folds"
    return Note("left-out", text, {"units": n_units, "folds": n_folds})


def _means(values: Floats, place: NDArray[np.intp], count: NDArray[np.int64]) -> Floats:
    sums = np.bincount(place, values, minlength=len(count))
    return np.divide(sums, count, out=np.full(len(count), np.nan), where=count > 0)


# Results of a study of the gain as rows of plain values, and as tables.

Rows = list[dict[str, Any]]

# attributes of `GainResult` that are numbers over the runs
QUANTITIES = (
    "correlation",
    "error",
    "debiased",
    "calibrated_error",
    "calibrated_debiased",
    "reduction",
    "mean_gain",
    "mean_epistemic",
    "excess",
    "excess_calibrated",
)
BINS = ("epistemic", "gain", "calibrated", "true")
DELAY = ("gained", "random", "above")
KEYS = ("method", "dataset", "score", "loss")


def _of(result: "GainResult") -> dict[str, Any]:
    return {name: getattr(result, name) for name in KEYS}


def _number(found: OverRuns | None, name: str) -> dict[str, Any]:
    """Mean, standard deviation and interval as fields of a row; empty where there is no such number."""
    mean, sd = (None, None) if found is None else (found.estimate, found.sd)
    return {name: None, f"{name}_sd": sd} | spread(name, mean)


def _scores(result: "GainResult") -> Rows:
    row = {**_of(result), "runs": result.n_runs, "level": result.level, "interval": result.correlation.estimate.method}
    row["folds"] = result.n_folds
    for name in QUANTITIES:
        row |= _number(getattr(result, name), name)
    return [row | {"notes": result.notes}]


def _runs(result: "GainResult") -> Rows:
    return [_run(result, run, r) for r, run in enumerate(result.runs)]


def _run(result: "GainResult", run: "RunGain", r: int) -> dict[str, Any]:
    row = {**_of(result), "run": r + 1, "seed": run.seed, "instances": run.n_instances, "level": result.level}
    for name in QUANTITIES:
        found: OverRuns | None = getattr(result, name)
        row |= spread(name, None if found is None else found.per_run[r])
    for name, calibration in (("raw", run.raw), ("calibrated", run.calibrated)):
        low, high = (None, None) if calibration is None else calibration.null_band
        row |= {f"{name}_null_low": low, f"{name}_null_high": high}
        row[f"{name}_pvalue"] = None if calibration is None else calibration.pvalue
    return row | {"notes": run.notes}


def _bins(result: "GainResult") -> Rows:
    bins = result.bins
    return [
        {**_of(result), "interval": m + 1, "instances": float(bins.count[:, m].mean()), "level": result.level}
        | _points(bins, BINS, m)
        for m in range(bins.n_bins)
    ]


def _delay(result: "GainResult") -> Rows:
    delay = result.delay
    return [
        {**_of(result), "share": share, "level": result.level} | _points(delay, DELAY, s)
        for s, share in enumerate(delay.shares.tolist())
    ]


def _points(owner: Any, names: Sequence[str], at: int) -> dict[str, Any]:
    """One point of several curves, with its band."""
    row: dict[str, Any] = {}
    for name in names:
        curve: Curve | None = getattr(owner, name)
        for key, part in ((name, "mean"), *((f"{name}_{part}", part) for part in ("sd", "low", "high"))):
            row[key] = None if curve is None else float(getattr(curve, part)[at])
    return row


def _run_numbers(names: Sequence[str], parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for name in names for key in (name, *(f"{name}_{part}" for part in parts)))


BAND = ("sd", "low", "high")
# name: how its rows are made, and the columns of the table
GAIN_TABLES: Mapping[str, tuple[Callable[["GainResult"], Rows], Sequence[str]]] = MappingProxyType(
    {
        "scores": (_scores, (*KEYS, "runs", "level", "interval", "folds", *_run_numbers(QUANTITIES, BAND), "notes")),
        "runs": (
            _runs,
            (
                *(*KEYS, "run", "seed", "instances", "level", *_run_numbers(QUANTITIES, BAND[1:])),
                *(f"{name}_{part}" for name in ("raw", "calibrated") for part in ("null_low", "null_high", "pvalue")),
                "notes",
            ),
        ),
        "bins": (_bins, (*KEYS, "interval", "instances", "level", *_run_numbers(BINS, BAND))),
        "delay": (_delay, (*KEYS, "share", "level", *_run_numbers(DELAY, BAND))),
    }
)


def gain_rows(results: Sequence["GainResult"], name: str) -> Rows:
    """The rows of one finding for several results; see `GainStudy.rows`."""
    if name not in GAIN_TABLES:
        fail("name", f"must be {listed(list(GAIN_TABLES), last='or')}", f"got {name!r}", "choose one", code="choice")
    return [row for result in results for row in GAIN_TABLES[name][0](result)]


def gain_table(results: Sequence["GainResult"], name: str) -> "pd.DataFrame":
    """The rows of one finding as a table; see `GainStudy.table`."""
    return as_table(gain_rows(results, name), GAIN_TABLES[name][1])


def gain_shown_table(results: Sequence["GainResult"]) -> ShownTable:
    """Correlation, calibration errors and gain of several scores, to be read."""
    rows = []
    for one in results:
        found = (one.correlation, one.error, one.calibrated_error, one.mean_gain)
        cells = [ShownCell(ABSENT) if it is None else _cell(it.estimate, 4 if i else 3) for i, it in enumerate(found)]
        rho = one.correlation.estimate
        rows.append(ShownRow((ShownCell(one.score), *cells), bar=Bar(float(rho), rho.low, rho.high)))
    said = (
        f"ρ: correlation of the estimate with the gain. EECE: epistemic calibration error, and after the map. "
        f"{level_text(results[0].level)} intervals. Loss: {results[0].loss}."
    )
    return ShownTable(("score", "ρ", "EECE", "EECE, mapped", "mean gain"), tuple(rows), said)


def _cell(estimate: "Estimate", decimals: int) -> ShownCell:
    return estimate_cell(float(estimate), estimate.low, estimate.high, decimals)


# One estimate of epistemic uncertainty against the gain, over the runs of a study.

RARE = ("few", "none")  # notes on gains other than 0


@final
@dataclass(frozen=True, eq=False)
class GainBins:
    """Means in M intervals of the estimates, from the least to the greatest; see `Curve` for their bands."""

    epistemic: Curve  #: Mean estimate.
    gain: Curve  #: Mean gain; for one run its interval is over the instances of the interval.
    calibrated: Curve | None  #: Mean mapped estimate; None without a map.
    true: Curve | None  #: Mean true epistemic uncertainty, where P(y|x) is known.
    #: (R, M): Instances. A run with fewer intervals than others, because of ties, has none in the first ones.
    count: NDArray[np.int64]

    @property
    def n_bins(self) -> int:
        """M."""
        return len(self.epistemic.mean)


@final
@dataclass(frozen=True, eq=False)
class GainDelay:
    """Gain in mean loss over all instances where the most uncertain share of them waits for more data."""

    shares: Floats
    gained: Curve  #: For the zero-one loss: gain in accuracy.
    random: Curve  #: The same for a random choice of as many.
    above: Curve  #: The difference of the two.

    def at(self, share: float) -> tuple[float, float, float]:
        """Gain with the ends of its interval at the nearest share of the curve."""
        at = int(np.abs(self.shares - share).argmin())
        return float(self.gained.mean[at]), float(self.gained.low[at]), float(self.gained.high[at])


@final
@dataclass(frozen=True, eq=False, repr=False)
class GainResult(Shown):
    """The numbers of one score under one loss: means over the runs, with their intervals.

    With several runs an interval is Student's t over the runs; with one run it is over the instances or groups of that run.
    `Estimate.method` says which.
    """

    _shown_more: ClassVar[str] = "summary(), correlation, error, bins, delay"

    method: str
    dataset: str
    options: GainOptions
    runs: tuple[RunGain, ...]
    correlation: OverRuns  #: Epistemic correlation: Spearman's correlation of estimate and gain.
    #: error, debiased: EECE (gain) of the estimates, and the same without its bias.
    error: OverRuns
    debiased: OverRuns
    #: calibrated_error, calibrated_debiased: Those of the mapped estimates; None without a map. In the same intervals
    #: as `error` if the map is of calibration samples; in fewer intervals of each fold if it is cross-fitted
    #: (`n_folds`).
    calibrated_error: OverRuns | None
    calibrated_debiased: OverRuns | None
    #: Error before the map, in the intervals of `calibrated_error`, − calibrated_error. One run gives no interval.
    reduction: OverRuns | None
    #: mean_gain, mean_epistemic, excess: `excess` is the mean of estimate − gain.
    mean_gain: OverRuns
    mean_epistemic: OverRuns
    excess: OverRuns
    excess_calibrated: OverRuns | None  #: None also for a cross-fitted map.
    bins: GainBins
    delay: GainDelay
    notes: tuple[Note, ...]

    @property
    def score(self) -> str:
        """Name of the estimate."""
        return self.options.score

    @property
    def loss(self) -> str:
        """Name of the loss."""
        return self.options.loss

    @property
    def level(self) -> float:
        """Confidence level."""
        return self.options.level

    @property
    def n_runs(self) -> int:
        """R."""
        return len(self.runs)

    @property
    def n_folds(self) -> int:
        """Folds on which the map is cross-fitted; 0 for a map of calibration samples, and without a map."""
        return max((one.n_folds for run in self.runs if (one := run.cross_fit) is not None), default=0)

    @property
    def label(self) -> str:
        """Method and score, for tables and legends."""
        return f"{self.method}, {self.score}"

    def _shown_title(self) -> str:
        on = f" on {self.dataset}" if self.dataset else ""
        return f"Gain from more data and {self.score} of {self.method}{on}: {counted(self.n_runs, 'run')}"

    def _shown_sentences(self) -> Sequence[str]:
        return result_sentences(self)

    def _shown_table(self) -> ShownTable:
        return gain_shown_table([self])

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]


def gain_result(method: str, dataset: str, options: GainOptions, runs: Sequence[RunGain]) -> GainResult:
    """Gather the numbers of the runs of one score."""
    runs, level = tuple(runs), options.level

    def over(value: Callable[[RunGain], Estimate | None], **more: Any) -> OverRuns | None:
        found = [value(run) for run in runs]
        there = [one for one in found if one is not None]
        return estimate_over_runs(there, level=level, **more) if len(there) == len(found) else None

    def always(value: Callable[[RunGain], Estimate], **more: Any) -> OverRuns:
        return estimate_over_runs([value(run) for run in runs], level=level, **more)

    positive = {"bounds": (0.0, np.inf)}
    bins, notes = _bins_over_runs(runs, level)
    return GainResult(
        method=method,
        dataset=dataset,
        options=options,
        runs=runs,
        correlation=always(lambda run: run.correlation, bounds=(-1.0, 1.0)),
        error=always(lambda run: run.raw.error, **positive),
        debiased=always(lambda run: run.raw.debiased),
        calibrated_error=over(lambda run: None if run.calibrated is None else run.calibrated.error, **positive),
        calibrated_debiased=over(lambda run: None if run.calibrated is None else run.calibrated.debiased),
        reduction=over(lambda run: _reduction(run, level)),
        mean_gain=always(lambda run: run.mean_gain),
        mean_epistemic=always(lambda run: run.mean_epistemic),
        excess=always(lambda run: run.excess),
        excess_calibrated=over(lambda run: run.excess_calibrated),
        bins=bins,
        delay=_delay_over_runs(runs, level),
        notes=distinct(_run_notes(runs), notes, _map_notes(runs)),
    )


def _run_notes(runs: Sequence[RunGain]) -> list[Note]:
    """Notes of the runs. Few gains are told once for all runs."""
    notes = [note for run in runs for note in run.notes]
    changed = [note.facts["count"] for note in notes if note.code in RARE and "count" in note.facts]
    if len(runs) == 1 or not changed:
        return notes
    low, high = min(changed), max(changed)
    gains = f"{low} to {high}" if low < high else str(low)
    text = f"{len(changed)} of {len(runs)} runs have only {gains} gains other than 0: rough intervals"
    return [*(note for note in notes if note.code not in RARE), Note("few", text, {"runs": len(changed)})]


def _reduction(run: RunGain, level: float) -> Estimate | None:
    """How much smaller the error is after the map; one run alone has no interval for it."""
    if run.calibrated is None:
        return None
    before = run.raw.error if run.cross_fit is None else run.cross_fit.before
    value = float(before) - float(run.calibrated.error)
    nothing: dict[str, Any] = {"low": np.nan, "high": np.nan, "level": level, "n": run.n_instances}
    return Estimate(value, method="difference", notes=[Note("no-interval", "1 run: no interval")], **nothing)


def _bins_over_runs(runs: Sequence[RunGain], level: float) -> tuple[GainBins, list[Note]]:
    most = max(run.raw.n_bins for run in runs)
    fewer = [run for run in runs if run.raw.n_bins < most]

    def padded(values: Floats, fill: float = np.nan) -> Floats:
        """Values at the end of M: ties, such as estimates of 0, are among the least estimates."""
        return np.concatenate([np.full(most - len(values), fill), values])

    def curve(name: str, ends: tuple[Floats, Floats] | None = None) -> Curve | None:
        if any(name not in run.means for run in runs):
            return None
        return curve_over_runs([padded(run.means[name]) for run in runs], level=level, ends=ends)

    epistemic, gain = curve("epistemic"), curve("gain", (runs[0].raw.gain_low, runs[0].raw.gain_high))
    assert epistemic is not None
    assert gain is not None
    count = np.stack([padded(run.raw.count.astype(np.float64), 0.0) for run in runs]).astype(np.int64)
    notes = []
    if fewer:
        text = (
            f"{counted(len(fewer), 'run')} of {len(runs)} with fewer than {most} intervals, because of equal estimates"
        )
        notes.append(Note("left-out", text, {"runs": len(fewer), "bins": most}))
    return GainBins(epistemic, gain, curve("calibrated"), curve("true"), count), notes


def _map_notes(runs: Sequence[RunGain]) -> list[Note]:
    """Intervals without calibration instances, and calibration instances outside all intervals, over the runs."""
    maps = [run.gain_map for run in runs if run.gain_map is not None and run.cross_fit is None]
    empty, outside = (sum(getattr(one, name) for one in maps) for name in ("n_empty", "n_outside"))
    intervals, points = sum(len(one.edges) - 1 for one in maps), sum(one.n_instances for one in maps)
    over = f" over {len(maps)} runs" if len(maps) > 1 else ""
    notes = []
    if empty:
        text = f"map: {empty} of {counted(intervals, 'interval')}{over} without calibration cases, left out"
        notes.append(Note("left-out", text, {"empty": empty, "intervals": intervals}))
    if outside:
        text = (
            f"map: {outside:,} of {counted(points, 'calibration case')}{over} outside all intervals, counted in the outer "
            "ones"
        )
        notes.append(Note("assumption", text, {"outside": outside, "instances": points}))
    return notes


def _delay_over_runs(runs: Sequence[RunGain], level: float) -> GainDelay:
    first, above = runs[0].delay, [np.array([float(one) for one in run.above_random]) for run in runs]
    ends = tuple(np.array([getattr(one, end) for one in runs[0].above_random]) for end in ("low", "high"))
    return GainDelay(
        first.shares,
        curve_over_runs([run.delay.gained for run in runs], level=level, ends=(first.low, first.high)),
        curve_over_runs([run.delay.random for run in runs], level=level),
        curve_over_runs(above, level=level, ends=(ends[0], ends[1])),
    )


# The gain from more data against the estimates of epistemic uncertainty, over the runs of one method on one data set.

MOST_FOLDS = 100


@final
@dataclass(frozen=True, eq=False, repr=False)
class GainStudy(Shown, Saved):
    """The runs of one method on one data set."""

    _schema: ClassVar[str] = "uqassay.gain-study/2"
    _shown_more: ClassVar[str] = "summary(), result(score, loss), table(name)"

    method: str
    dataset: str
    runs: tuple[GainRun, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)  #: Plain values for the reader: options, sizes, times.
    notes: tuple[Note, ...] = ()
    _found: dict[GainOptions, GainResult] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        runs = tuple(self.runs)
        if not runs:
            fail("runs", "needs at least one run", "got none", "pass a GainRun for each", code="empty")
        for r, run in enumerate(runs):
            if not isinstance(run, GainRun):
                fail(f"runs[{r}]", "must be a GainRun", f"got {shown(run)}", "pass GainRun(seed, test)", code="type")
        seeds = [run.seed for run in runs]
        if len(set(seeds)) < len(seeds):
            fail("runs", "must have different seeds", f"got {seeds}", "count every run once", code="duplicate")
        if not isinstance(self.facts, Mapping):
            fail("facts", "must be a mapping", f"got {shown(self.facts)}", 'pass {"runs": 6}', code="type")
        object.__setattr__(self, "runs", runs)
        for name, names in (("score", self.scores), ("loss", self.losses)):
            if not names:
                fail(
                    "runs",
                    f"must have a {name} in common",
                    "got none",
                    "compute the same scores and losses in every run",
                    code="mismatch",
                )
        for key, value in {
            "method": str(self.method),
            "dataset": str(self.dataset),
            "notes": tuple(self.notes),
        }.items():
            object.__setattr__(self, key, value)

    @property
    def n_runs(self) -> int:
        """R."""
        return len(self.runs)

    @property
    def seeds(self) -> tuple[int, ...]:
        """One for each run."""
        return tuple(run.seed for run in self.runs)

    @property
    def scores(self) -> tuple[str, ...]:
        """Names of the estimates of epistemic uncertainty that all runs have."""
        return self._common("epistemic")

    @property
    def losses(self) -> tuple[str, ...]:
        """Names of the losses that all runs have gains of."""
        return self._common("gain")

    def _common(self, part: str) -> tuple[str, ...]:
        first, *others = (getattr(run.test, part) for run in self.runs)
        return tuple(name for name in first if all(name in other for other in others))

    def result(
        self,
        score: str | None = None,
        loss: str = "zero-one",
        *,
        bins: int = 20,
        binning: Literal["equal-mass", "equal-width"] = "equal-mass",
        map_bins: Literal["paper", "own"] = "paper",
        level: float = 0.95,
        shares: Sequence[float] = SHARES,
        cross_fit: int = FOLDS,
    ) -> GainResult:
        """Correlation, calibration error, map and delay curve of one estimate under one loss, over the runs.

        Parameters
        ----------
        score : str, optional
            One of `scores`; the first by default.
        loss : str
            One of `losses`.
        bins : int
            Intervals of the estimates.
        binning : {"equal-mass", "equal-width"}
        map_bins : {"paper", "own"}
            Intervals of the map: those of the test instances, as in the paper, or those of the calibration instances.
        level : float
            Confidence level of the intervals.
        shares : sequence of float
            Of the cases that wait, on the delay curve: 0, 0.05, …, 1 by default.
        cross_fit : int
            Number of folds of the test instances. If no run has a calibration sample, the estimates of each fold are mapped by
            a map of the other folds; see `uqassay.calibration.cross_fitted_map`. 0 for no map.

        Returns
        -------
        GainResult
            Kept, so that asking again costs nothing.
        """
        score = self.scores[0] if score is None else score
        for name, given, known in (("score", score, self.scores), ("loss", loss, self.losses)):
            if given not in known:
                fail(name, f"must be {listed(known, last='or')}", f"got {given!r}", "choose one of them", code="choice")
        check_folds(cross_fit)
        folds = 0 if any(run.calibration is not None for run in self.runs) else int(cross_fit)
        options = GainOptions(score, loss, bins, binning, map_bins, level, tuple(shares), folds)
        if options not in self._found:
            runs = [gain_of_run(run, options) for run in self.runs]
            self._found[options] = gain_result(self.method, self.dataset, options, runs)
        return self._found[options]

    def results(self, loss: str = "zero-one", **options: Any) -> tuple[GainResult, ...]:
        """The result of every score under one loss; options as in `result`."""
        return tuple(self.result(score, loss, **options) for score in self.scores)

    def rows(self, name: str, **options: Any) -> list[dict[str, Any]]:
        """One finding as rows of plain values, for every loss and score.

        Parameters
        ----------
        name : {"scores", "runs", "bins", "delay"}
            "scores": mean, standard deviation and interval of correlation, errors and gain of each score. "runs": the same of
            every run, with the interval over its instances. "bins": means in the intervals of the estimates. "delay": the
            delay curve.
        **options
            Those of `result`.
        """
        return gain_rows([one for loss in self.losses for one in self.results(loss, **options)], name)

    def table(self, name: str, **options: Any) -> "pd.DataFrame":
        """The same rows as a table."""
        return gain_table([one for loss in self.losses for one in self.results(loss, **options)], name)

    def _shown_title(self) -> str:
        on = f" on {self.dataset}" if self.dataset else ""
        n = sorted({run.test.n_instances for run in self.runs})
        each = counted(n[0], "case") if len(n) == 1 else f"{count(n[0])} to {count(n[-1])} cases"
        return f"Gain from more data of {self.method}{on}: {counted(self.n_runs, 'run')} of {each}"

    def _shown_sentences(self) -> Sequence[str]:
        return gain_sentences([self], self._main_loss)

    def _shown_table(self) -> ShownTable:
        return gain_shown_table(self.results(self._main_loss))

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]

    @property
    def _main_loss(self) -> str:
        return "zero-one" if "zero-one" in self.losses else self.losses[0]


def check_folds(cross_fit: Any) -> None:
    """Refuse a number of folds other than 0 or at least 2."""
    whole = isinstance(cross_fit, Integral) and not isinstance(cross_fit, bool)
    if not whole or int(cross_fit) not in (0, *range(2, MOST_FOLDS + 1)):
        fail(
            "cross_fit",
            f"must be 0, or a number of folds from 2 to {MOST_FOLDS}",
            f"got {shown(cross_fit)}",
            "pass 5, or 0 for no map",
            code="range",
        )
