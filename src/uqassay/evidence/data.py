"""The data that lenses take: `Judged`, what was measured of the models, columns on chosen instances, results computed once."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.calibration.mixtures import IN_GROUPS
from uqassay.checks import fail
from uqassay.credal.undominated import CLASS_RULES
from uqassay.evidence.excess import Excess
from uqassay.evidence.scoring import ModelScores, SetSample, Settings, covered_column
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.reliability_diagrams import Reliability
from uqassay.notes import Note, reason
from uqassay.records import Later, Shape
from uqassay.results import row_of
from uqassay.statistics import Estimate, mean_estimate
from uqassay.statistics.estimate import mean_estimates
from uqassay.statistics.units import effective_number, weighted_mean

__all__ = [
    "NO_TESTS",
    "N_COLOURS",
    "ROW_FIELDS",
    "AnyJudged",
    "AssayTests",
    "BackwardScore",
    "ChosenColumns",
    "Judged",
    "ModelCalibration",
    "ScaledScores",
    "Shared",
    "VoteTests",
    "colour_order",
    "one_run",
    "sample_of_runs",
    "with_numbered_groups",
]


# Cache of results that several findings share.

Found = TypeVar("Found")
EVERY = slice(None)  # instances
MOST = 1024  # results that are kept; a page needs a few hundred


@final
class Shared:
    """Results by their keys; where there are too many, the oldest go.

    Examples
    --------
    >>> shared = Shared()
    >>> shared.once("sum", lambda: 1 + 2), shared.once("sum", lambda: 1 / 0)
    (3, 3)
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}
        self._newest: dict[str, Any] = {}

    def note(self, name: str, found: Any) -> None:
        """Keep the newest result of a question that was asked with more than the assay, for `noted`."""
        self._newest[name] = found

    def noted(self, name: str) -> Any:
        """The newest result of that question; None before it is asked."""
        return self._newest.get(name)

    def once(self, key: Hashable, compute: Callable[[], Found]) -> Found:
        """The result of a key, computed at the first request."""
        if key not in self._found:
            found = compute()  # which may ask for other results
            while len(self._found) >= MOST:
                self._found.pop(next(iter(self._found)), None)
            self._found[key] = found
            return found
        kept: Found = self._found[key]
        return kept

    def each(
        self, kind: Hashable, keys: Sequence[Hashable], compute: Callable[[list[Any]], Iterable[Found]]
    ) -> list[Found]:
        """The results of several keys of one kind; those not yet known are computed together.

        Examples
        --------
        >>> shared = Shared()
        >>> shared.each("square", [2, 3], lambda keys: [k * k for k in keys])
        [4, 9]
        """
        known = {key: self._found[kind, key] for key in keys if (kind, key) in self._found}
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        for key, found in zip(missing, compute(missing) if missing else (), strict=True):
            known[key] = self.once((kind, key), lambda found=found: found)  # type: ignore[misc]
        return [known[key] for key in keys]

    def __reduce__(self) -> tuple[Any, ...]:
        return Shared, ()  # a copy computes again


# What was measured of the models besides their columns, while they were scored or later.

ROW_FIELDS = (
    "model",
    "run",
    "measure",
    "notion",
    "tested",
    "n_instances",
    "n_tested",
    "n_members",
    "noun",
    "statistic",
    "pvalue",
    "n_draws",
    "n_parts",
    "gap",
    "gap_pvalue",
    "ignores_groups",
    "mean_value",
    "mean_pvalue",
    "accuracy_mean",
    "accuracy_weighted",
    "width",
    "notes",
)  # what a row of a table holds: neither arrays nor diagrams


@dataclass(frozen=True, eq=False)
class ModelCalibration:
    """One calibration test of one run of one model."""

    model: str
    run: int  #: 0 for the first.
    #: measure, notion: What was measured, and the notion of calibration that it looks at: "confidence", "classwise" or
    #: "strong".
    measure: str
    notion: str
    #: Every mixture of the members (vertices), the one distribution that stands for the statement, or nothing: see
    #: `notes`.
    tested: Literal["mixtures", "mean", "nothing"]
    #: n_instances, n_tested: Instances there are, and those that were tested.
    n_instances: int
    n_tested: int
    n_members: int  #: What was mixed (or would have been), M; 1 where the mean was tested.
    statistic: float  #: Least value of the measure over all mixtures, or its value at the mean.
    #: Small where nothing that was tested is calibrated. It is that of this test alone, the same in every assay with
    #: this model; `adjusted_pvalues` adjusts it for the number of tests.
    pvalue: float
    #: Draws behind the p-value. Where none of those in `null` reaches the statistic, so that the p-value is as small as
    #: they allow, a set has more; they are judged on some mixtures only, which bounds their minimum from above and so
    #: the p-value.
    n_draws: int
    #: The statistic for labels that a calibrated mixture (the mean) gave. The draws end early if the p-value is not
    #: small.
    null: Annotated[Floats, Shape("D")] = field(repr=False)
    #: "single", "signs", or a null of `credal_calibration_test`; with "sequential", `null` holds upper bounds of most
    #: values below the statistic.
    null_kind: str
    weights: Annotated[Floats, Shape("M")] = field(
        repr=False
    )  #: The mixture with the least value; nan where no value is defined.
    #: mean_value, mean_pvalue: The measure at `mean_probs` of the prediction, and the test of it alone.
    mean_value: float
    mean_pvalue: float
    #: member_values, member_pvalues: Of every member alone; empty where there are no members (points, intervals, masses).
    member_values: Annotated[Floats, Shape("members")] = field(repr=False)
    member_pvalues: Annotated[Floats, Shape("members")] = field(repr=False)
    #: accuracy_mean, accuracy_weighted: Accuracy of the mean and of the mixture, on the instances that the weights were
    #: fitted to.
    accuracy_mean: float
    accuracy_weighted: float
    #: before, after: Reliability diagrams of the mean and of the mixture, on the same instances; None where nothing was
    #: tested, `after` also where no weights are defined.
    before: Reliability | None = field(repr=False)
    after: Reliability | None = field(repr=False)
    width: float  #: Mean over instances and classes of the upper minus the lower probability.
    notes: tuple[Note, ...]  #: What limits the result.
    noun: str = "members"  #: What is mixed.
    #: Parts of the instances whose p-values are combined by Fisher's method, where no draw reaches the statistic of a
    #: single distribution; otherwise 0.
    n_parts: int = 0
    #: gap, gap_pvalue: Mean confidence of the mean prediction minus its accuracy, and the p-value of a difference of 0
    #: by `confidence_gap`.
    gap: float = math.nan
    gap_pvalue: float = math.nan

    @property
    def ignores_groups(self) -> bool:
        """Whether there are groups, but the test takes labels as independent; `notes` says so too."""
        return IN_GROUPS in self.notes

    @property
    def reason(self) -> str:
        """Why the statistic or the p-value is undefined or infinite, from `notes`; empty where both are numbers."""
        if math.isfinite(self.statistic) and math.isfinite(self.pvalue):
            return ""
        return reason(self.notes)

    def row(self) -> dict[str, Any]:
        """Numbers and words without the arrays, the run counted from 1."""
        return {name: getattr(self, name) for name in ROW_FIELDS} | {"run": self.run + 1}

    def _check_read(self) -> None:
        nothing = self.tested == "nothing"
        no_mixture = nothing or bool(np.isnan(self.weights).any())
        if (self.before is None, self.after is None) != (nothing, no_mixture):
            fail("before", "and after must be diagrams of what was tested", code="conflict")


@final
@dataclass(frozen=True, eq=False)
class VoteTests:
    """Which instances have votes that could come from the first run of one model; tests of level `ALPHA`."""

    #: The instances tested: of a random part, those with two votes or more.
    rows: Annotated[NDArray[np.int64], Shape("m", below="n")]
    #: Instances whose votes could come from some point of the set; empty for points.
    of_set: Annotated[NDArray[np.bool_], Shape("of_set")]
    #: Instances whose votes could come from the mean prediction.
    of_mean: Annotated[NDArray[np.bool_], Shape("m")]
    votes: Annotated[Floats, Shape("m", low=1, finite=True)]  #: Numbers of votes.

    def _check_read(self) -> None:
        if len(self.of_set) not in (0, len(self.rows)):
            fail("of_set", "must have a value for each row, or none", f"got {len(self.of_set)}", code="shape")


@final
@dataclass(frozen=True, eq=False)
class AssayTests:
    """The tests of an assay."""

    calibration: tuple[ModelCalibration, ...] = ()  #: Of every model, run and measure.
    #: Whether people's votes could come from the sets, where the labels were given as numbers of votes.
    votes: dict[str, VoteTests] = field(default_factory=dict)


NO_TESTS = Later.known(AssayTests())


@dataclass(frozen=True, eq=False)
class ScaledScores:
    """Both terms of E of one model at S scales of the spread, on R runs and n' instances."""

    #: The instances: all, or whole units in a random order that all models share.
    rows: Annotated[NDArray[np.int64], Shape("m", below="n")]
    scales: Annotated[Floats, Shape("S", finite=True)]
    distance: Annotated[Floats, Shape("R", "S", "m")] = field(repr=False)
    nonspecificity: Annotated[Floats, Shape("R", "S", "m")] = field(repr=False)
    clipped: Annotated[Floats, Shape("S")]  #: Share of the sets that would leave the simplex at each scale.
    #: As `ModelScores.order_deviations`.
    order_deviations: Annotated[Floats, Shape("S", "orders")] = field(repr=False)
    #: Places in `rows` of the instances of `covered`.
    judged: Annotated[NDArray[np.int64], Shape("c", below="m")] = field(repr=False)
    covered: Annotated[Floats, Shape("R", "S", "c")] = field(repr=False)  #: As `labels_covered`.

    @property
    def own(self) -> int:
        """Place of s = 1, the sets as they were given."""
        return int(np.flatnonzero(self.scales == 1)[0])

    def _check_read(self) -> None:
        if (self.scales == 1).sum() != 1:
            fail("scales", "must hold 1 once", f"got {self.scales.tolist()!r:.80}", code="range")


@dataclass(frozen=True)
class BackwardScore:
    """A score whose UQ-AUC is shown to lie below ½: the model's right predictions are the more uncertain ones.

    Both intervals hold together for all `n_tests` scores (Bonferroni), so their level is 1 − (1 − level) / n_tests.
    """

    model: str
    score: str
    uq_auc: Estimate  #: UQ-AUC over all runs; its simultaneous interval lies below ½.
    pvalue: float  #: Two-sided p-value of UQ-AUC = ½, adjusted by Bonferroni for `n_tests`.
    n_tests: int  #: Number of scores looked at, over all models.
    coverage: float  #: Share of the instances that is kept.
    #: Accuracy of the instances kept minus accuracy of all, with its simultaneous interval; negative if refusing costs.
    gain: Estimate
    level: float  #: Joint confidence level of all scores.

    @property
    def costs(self) -> bool:
        """True if refusing by the score is shown to lower the accuracy: the interval of the gain lies below 0."""
        return bool(self.gain.high < 0)

    def row(self) -> dict[str, Any]:
        """The record as a dict of plain values for tables and JSON."""
        names = ("model", "score", "uq_auc", "pvalue", "n_tests", "coverage", "gain", "costs", "level")
        return row_of(self, *names)


# What was judged: columns of all models, labels, groups, settings, and what was measured of them.


@dataclass(frozen=True, eq=False, repr=False)
class Judged:
    """The data of an assay that its lenses take: columns of every model, labels, groups, settings, what was measured, a cache.

    `Assay` is the same with methods, which call the lenses.
    """

    models: tuple[ModelScores, ...]  #: The models in the order given, then the baselines "vacuous" and "class-prior".
    labels: Annotated[NDArray[Any], Shape("n", ...)]  #: (n,), or distributions (n, K).
    class_names: Annotated[tuple[str, ...], Shape("K")]
    ids: Annotated[NDArray[Any], Shape("n")] | None
    groups: Annotated[NDArray[Any], Shape("n")] | None
    subgroups: dict[str, Annotated[NDArray[Any], Shape("n")]]
    tradeoffs: tuple[float, ...]  #: The λ of the findings.
    settings: Settings
    excess: Excess  #: How much more one model could lose than another on the inputs seen, whatever their labels.
    sets: dict[str, SetSample]  #: Credal sets of some instances of each model's first run.
    #: What should change how much the numbers are believed; each text is one sentence, codes are those of
    #: `evidence.CAUTIONS`.
    warnings: tuple[Note, ...]
    provenance: dict[str, Any]  #: Versions, input hashes, time taken.
    #: Tests that take seconds, made when they are first asked for: `calibration` and `votes`.
    tests: Later[AssayTests] = NO_TESTS
    #: Classwise calibration error of each model's mean, and of "class-prior": of all runs together, then of each.
    classwise_error: dict[str, tuple[float, ...]] = field(default_factory=dict)
    #: Both terms of E with the spread of the sets scaled, of the models that state sets.
    scaled: dict[str, ScaledScores] = field(default_factory=dict)
    #: The scores that are shown to rank the mistakes backwards, where 10 % are refused.
    backward: tuple[BackwardScore, ...] = ()
    #: Importance weights; None where all instances count alike.
    weights: Annotated[Floats, Shape("n", low=0, finite=True)] | None = None

    @property
    def calibration(self) -> tuple[ModelCalibration, ...]:
        """The calibration tests of every model and measure."""
        return self.tests().calibration

    @property
    def votes(self) -> dict[str, VoteTests]:
        """Tests of whether people's votes could come from the sets, where the labels were given as numbers of votes."""
        return self.tests().votes

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return len(self.labels)

    @cached_property
    def n_units(self) -> int:
        """Number of units that intervals and draws rest on: groups where they are given, else instances."""
        return self.n_instances if self.groups is None else len(np.unique(self.groups))

    @cached_property
    def n_effective(self) -> float:
        """Effective number of instances (Σw)²/Σw², at most n: how many equal weights would give means as certain as these."""
        return effective_number(self.weights, self.n_instances)

    def sample(self, rows: Any = EVERY) -> dict[str, Any]:
        """`groups` and `sample_weight` of all instances, or of some, as functions of `statistics` and `metrics` take them."""
        of_units = {"groups": self.groups, "sample_weight": self.weights}
        return {name: None if values is None else values[rows] for name, values in of_units.items()}

    def mean(self, values: Floats, rows: Any = EVERY) -> Floats:
        """Weighted mean of values (..., n) of all instances, or of some, over the last axis."""
        return weighted_mean(values, None if self.weights is None else self.weights[rows])

    def overall(self, values: Floats, rows: Any = EVERY) -> float:
        """The same over all runs, ``(R, n)`` to one number."""
        return float(values.mean() if self.weights is None else self.mean(values, rows).mean())

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.class_names)

    @cached_property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models, without the baselines."""
        return tuple(m.name for m in self.candidates)

    @cached_property
    def candidates(self) -> tuple[ModelScores, ...]:
        """The models to choose from, without the baselines."""
        return tuple(m for m in self.models if not m.baseline)

    @cached_property
    def shared(self) -> Shared:
        """Results that several findings need, each computed once."""
        return Shared()

    @property
    def of_answers(self) -> bool:
        """Whether the models gave answers that are right or wrong, with no classes, sets or baselines; see `Answers`."""
        return self.candidates[0].kind == "Answers"

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """True class of every instance, of label distributions the most frequent one, ``(n,)``."""
        return self.labels if self.labels.ndim == 1 else self.labels.argmax(axis=1)

    def hits(self, model: str) -> NDArray[np.bool_]:
        """Whether the predicted class is the true one, for every run and instance, ``(R, n)``.

        Of class sets: whether they hold it, of votes more than half of them.
        """
        scores = self[model]
        if scores.predicts_classes:
            return scores.columns["label"] == self.classes
        return scores.columns[covered_column(CLASS_RULES[0])] > 0.5

    def __contains__(self, name: object) -> bool:
        return any(m.name == name for m in self.models)

    def __getitem__(self, name: str) -> ModelScores:
        """Scores of one model or baseline by name."""
        for m in self.models:
            if m.name == name:
                return m
        known = ", ".join(repr(m.name) for m in self.models)
        fail("model", f"must be one of {known}", f"got {name!r}", "choose one of them", code="choice")

    def loss(self, model: str, tradeoff: float = DEFAULT_TRADEOFF) -> Floats:
        """E of every run and instance, ``(R, n)``."""
        columns = self[model].columns
        return columns["distance"] + tradeoff * columns["nonspecificity"]


AnyJudged = TypeVar("AnyJudged", bound=Judged)


# Columns of one model on chosen runs and instances, and their means.


@final
class ChosenColumns:
    """Columns of a model, of all runs or of one, on all instances or on those of a mask.

    Parameters
    ----------
    judged : Judged
    model : ModelScores
    run : int, optional
    mask : bool array (R, n), optional
        Instances of every run. Where runs differ in them, the instances of all runs count as one run, in which those of one
        instance or group belong together.
    """

    def __init__(
        self, judged: Judged, model: ModelScores, *, run: int | None = None, mask: NDArray[np.bool_] | None = None
    ) -> None:
        self._columns = model.columns
        self._runs = slice(None) if run is None else slice(run, run + 1)
        self._place: Any = None
        #: `groups` and `sample_weight` of these instances.
        self.sample, self.level = judged.sample(), judged.settings.level
        if mask is None:
            return
        if (mask == mask[0]).all():
            rows = np.flatnonzero(mask[0])
            self._place, self.sample = (slice(None), rows), judged.sample(rows)
        else:
            units = np.arange(mask.shape[1]) if judged.groups is None else judged.groups
            self._place, self.sample = mask, {"groups": np.broadcast_to(units, mask.shape)[mask]}
            if judged.weights is not None:
                self.sample["sample_weight"] = np.broadcast_to(judged.weights, mask.shape)[mask]

    def __getitem__(self, name: str) -> Floats:
        """The values of one column, ``(R, m)``."""
        column = self._columns[name][self._runs]
        if self._place is None:
            return column
        return np.atleast_2d(column[self._place])

    def means(self, columns: Sequence[Floats], method: str = "hall") -> list[Estimate]:
        """Mean of each column ``(R, m)`` with its interval; losses are skewed, and Hall's has the best measured coverage."""
        if all(values is None for values in self.sample.values()) and all(len(column) == 1 for column in columns):
            return mean_estimates([column[0] for column in columns], level=self.level, method=method)
        options: dict[str, Any] = {**self.sample, "level": self.level, "method": method}
        return [mean_estimate(one_run(column), **options) for column in columns]


def one_run(values: Floats) -> Floats:
    """A single run as ``(n,)``, for which no spread between runs is claimed."""
    return values if len(values) > 1 else values[0]


def sample_of_runs(
    groups: NDArray[Any] | None, n_runs: int, n: int, sample_weight: Floats | None = None
) -> dict[str, Any]:
    """`groups` and `sample_weight` of the values of all runs, one run after the other, (R · n,).

    With several runs an instance is a group.
    """
    if n_runs == 1:
        return {"groups": groups, "sample_weight": sample_weight}
    units = np.arange(n) if groups is None else groups
    return {
        "groups": np.tile(units, n_runs),
        "sample_weight": None if sample_weight is None else np.tile(sample_weight, n_runs),
    }


def with_numbered_groups(judged: AnyJudged) -> AnyJudged:
    """The same data with whole numbers as groups: they are sorted faster than names, and that is done thousands of times."""
    if judged.groups is None:
        return judged
    return replace(judged, groups=np.unique(judged.groups, return_inverse=True)[1])


# The order in which models take colours, the same in the page and in the figures.

N_COLOURS = 8  # of the palette by Okabe and Ito


def colour_order(assay: Judged) -> tuple[str, ...]:
    """Names of the models as given; with more models than colours by mean E at the default λ, so that the best ones differ.

    Parameters
    ----------
    assay : Assay

    Returns
    -------
    tuple of str
        All models, without the baselines.

    Examples
    --------
    >>> import uqassay as uq
    >>> colour_order(uq.assay({"b": uq.Point([[0.5, 0.5]]), "a": uq.Point([[0.9, 0.1]])}, [0]))
    ('b', 'a')
    """
    if len(assay.model_names) <= N_COLOURS:
        return assay.model_names
    d, ns = (
        np.array([assay.overall(m.columns[key]) for m in assay.candidates]) for key in ("distance", "nonspecificity")
    )
    with np.errstate(invalid="ignore"):
        order = np.argsort(d + DEFAULT_TRADEOFF * ns, kind="stable")
    return tuple(assay.model_names[j] for j in order)
