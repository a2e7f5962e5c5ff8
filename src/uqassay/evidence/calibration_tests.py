"""Can a model, or some mixture of its members, be told from a calibrated one? Calibration tests of every model and run."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._array import release, row_chunks
from uqassay.calibration.credal_hypothesis import Convention, CredalCalibrationTest, Null, credal_calibration_test
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.monte_carlo import ROUNDING, monte_carlo_pvalue
from uqassay.calibration.shared_members import SharedMembers, shared_members
from uqassay.calibration.single_hypothesis import statistic_and_null, undefined_note
from uqassay.errors import InputError
from uqassay.evidence.calibration_cost import afforded, choose_instances, n_points
from uqassay.metrics.calibration.measures import CALIBRATION_MEASURES, CalibrationMeasure, calibration_measure
from uqassay.metrics.calibration.reliability import Reliability, reliability
from uqassay.predictions import Members, Prediction, Vertices
from uqassay.predictions.drawn import Drawn
from uqassay.statistics import holm

__all__ = [
    "CalibrationPlan",
    "ModelCalibration",
    "calibration_tests",
    "check_measures",
    "holm_adjusted",
    "model_groups",
    "tested_run",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

N_BINS = 10  # of the reliability diagrams
STEPS, NEARBY = (1.0, 0.3, 0.1, 0.03), 15  # further mixtures: so many, drawn evenly, moved so far from the fitted one
IN_GROUPS = "labels are drawn independently, so dependence within groups is not accounted for"


@dataclass(frozen=True, eq=False)
class ModelCalibration:
    """One calibration test of one run of one model.

    Attributes
    ----------
    model : str
    run : int
        0 for the first.
    measure, notion : str
        What was measured, and the notion of calibration that it looks at: "confidence", "classwise" or "strong".
    tested : {"mixtures", "mean", "nothing"}
        Every mixture of the members (vertices), the one distribution that stands for the statement, or nothing: see `note`.
    n_instances, n_tested : int
        Instances there are, and those that were tested, the same for all models.
    n_members : int
        What was mixed (or would have been), M; 1 where the mean was tested.
    statistic : float
        Least value of the measure over all mixtures, or its value at the mean.
    pvalue : float
        Small where nothing that was tested is calibrated; not adjusted for the number of tests.
    n_draws : int
        Draws behind the p-value. Where none of those in `null` reaches the statistic, so that the p-value is as small as they
        allow, it has more; they are judged on some mixtures only, which bounds their minimum from above and so the p-value.
    null : array (D,)
        The statistic for labels that a calibrated mixture (the mean) gave.
    null_kind : str
    weights : array (M,)
        The mixture with the least value; nan where no value is defined.
    mean_value, mean_pvalue : float
        The measure at `mean_probs` of the prediction, and the test of it alone.
    member_values, member_pvalues : array (M,)
        Of every member alone; empty where there are no members (points, intervals, masses).
    accuracy_mean, accuracy_weighted : float
        Accuracy of the mean and of the mixture, on the instances that the weights were fitted to.
    before, after : Reliability or None
        Reliability diagrams of the mean and of the mixture, on the same instances; None where nothing was tested, `after` also
        where no weights are defined.
    width : float
        Mean over instances and classes of the upper minus the lower probability.
    note : str
        What limits the result.
    noun : {"members", "vertices"}
        What is mixed.
    """

    model: str
    run: int
    measure: str
    notion: str
    tested: str
    n_instances: int
    n_tested: int
    n_members: int
    statistic: float
    pvalue: float
    n_draws: int
    null: Floats = field(repr=False)
    null_kind: str
    weights: Floats = field(repr=False)
    mean_value: float
    mean_pvalue: float
    member_values: Floats = field(repr=False)
    member_pvalues: Floats = field(repr=False)
    accuracy_mean: float
    accuracy_weighted: float
    before: Reliability | None = field(repr=False)
    after: Reliability | None = field(repr=False)
    width: float
    note: str
    noun: str = "members"

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that so many draws can reach; nan where nothing was tested."""
        return 1 / (self.n_draws + 1) if self.n_draws else math.nan

    @property
    def reason(self) -> str:
        """Why the statistic or the p-value is undefined or infinite, a part of `note`; empty where both are numbers."""
        if math.isfinite(self.statistic) and math.isfinite(self.pvalue):
            return ""
        starts = ("the measure is undefined", f"{self.measure} is infinite")
        return next((part for part in self.note.split("; ") if part.startswith(starts)), self.note)

    def row(self) -> dict[str, Any]:
        """Numbers and words without the arrays, the run counted from 1."""
        kept = (
            *(
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
            ),
            *("pvalue", "n_draws", "mean_value", "mean_pvalue", "accuracy_mean", "accuracy_weighted", "width", "note"),
        )
        return {name: getattr(self, name) for name in kept} | {"run": self.run + 1}


class CalibrationPlan(NamedTuple):
    """How tests are made.

    Attributes
    ----------
    null, resample, convention
        Of `credal_calibration_test`.
    n_draws : int
        Draws in which the minimum over all mixtures is taken again, and those of the tests of single members.
    n_more : int
        Further draws for small p-values of sets; points get them all.
    level : float
        Of the intervals in reliability diagrams.
    seed : int
    members : bool
        Whether single members are tested too.
    """

    null: Null = "minimised"
    resample: bool = False
    convention: Convention = "exact"
    n_draws: int = 99
    n_more: int = 900
    level: float = 0.95
    seed: int = 0
    members: bool = True


def check_measures(measures: Sequence[str | CalibrationMeasure], name: str) -> tuple[CalibrationMeasure, ...]:
    """The measures of these names, each once.

    Raises
    ------
    InputError
        A name alone instead of several, or one that there is not.
    """
    if isinstance(measures, str) or not isinstance(measures, Sequence):
        raise InputError(
            name,
            "must be a sequence of names of measures",
            f"got {measures!r}",
            "write ('ece-classwise',), or () for none",
            code="type",
        )
    chosen = {}
    for measure in measures:
        try:
            found = calibration_measure(measure)
        except InputError as problem:
            known = ", ".join(CALIBRATION_MEASURES)
            raise InputError(
                name, f"must be among {known}", f"got {measure!r}", "choose from them, or () for none", code="choice"
            ) from problem
        chosen[found.name] = found
    return tuple(chosen.values())


def calibration_tests(
    models: Mapping[str, tuple[Prediction, ...]],
    labels: NDArray[Any],
    measures: Sequence[CalibrationMeasure],
    *,
    groups: NDArray[Any] | None,
    plan: CalibrationPlan,
    progress: Callable[[str], None] | None = None,
) -> tuple[ModelCalibration, ...]:
    """Test every run of every model by every measure, on as many instances as can be afforded, the same for all.

    Where the runs of all models would cost too much, the first of each is tested. Sets with so many members and classes
    that even a few hundred instances would take too long are tested by their mean.
    """
    if not measures:
        return ()
    if labels.ndim == 2:
        note = "label distributions are not tested: a test takes one label for each instance"
        return tuple(
            _untested(name, measure, len(labels), n_points(runs[0]), note)
            for name, runs in models.items()
            for measure in measures
        )
    can = afforded(models, len(measures), len(labels))
    rows = choose_instances(len(labels), can.n_tested, groups, plan.seed)
    found: list[ModelCalibration] = []
    for name, runs in models.items():
        for r, run in enumerate(runs if can.all_runs else runs[:1]):
            if progress is not None:
                progress(f"calibration of {name}")
            notes = []
            if len(rows) < len(labels):
                notes.append(f"tested on {len(rows):,} of {len(labels):,} instances")
            if len(runs) > 1 and not can.all_runs:
                notes.append(f"run 1 of {len(runs)} alone was tested")
            if groups is not None:
                notes.append(IN_GROUPS)
            part, labels_of_part = (run, labels) if len(rows) == len(labels) else (run[rows], labels[rows])
            for array in run.array_names():
                release(getattr(run, array))
            mixed = name not in can.by_mean
            try:
                found += tested_run(
                    name, r, part, labels_of_part, measures, plan, len(labels), notes=notes, mixed=mixed
                )
            except InputError as problem:
                raise type(problem)(f"{name}: {problem}") from problem
    return tuple(found)


def tested_run(
    model: str,
    run: int,
    prediction: Prediction,
    labels: NDArray[Any],
    measures: Sequence[CalibrationMeasure],
    plan: CalibrationPlan,
    n_instances: int,
    *,
    notes: Sequence[str],
    mixed: bool,
) -> list[ModelCalibration]:
    """Test one run on all instances given; `n_instances` is what they were chosen from.

    `mixed` is False for sets whose mixtures are too many to be searched: then their mean is tested.
    """
    m = n_points(prediction)
    width = _width(prediction)
    mean = prediction.mean_probs()
    y = labels.astype(np.intp)
    shared: SharedMembers | None = None
    if m > 1 and mixed:
        shared = shared_members(prediction)
    elif m > 1:
        notes = [
            *notes,
            f"the mean alone was tested: searching the mixtures of {m:,} points over {prediction.n_classes:,} classes "
            "takes too long here (uqassay calibration-test does it)",
        ]
    elif isinstance(prediction, Drawn):
        notes = [*notes, "the mean was tested: draws have no number that means the same in every instance"]
    if shared is not None and isinstance(prediction, Members) and prediction.weights is not None:
        notes = [
            *notes,
            "the model's mean takes the weights given with its members, the mixtures are sought among all weights",
        ]
    before, hits = _diagram(mean, y, plan.level)
    found = []
    for measure in measures:
        facts = (
            _of_set(prediction, shared, y, measure, plan) if shared is not None else _of_mean(mean, y, measure, plan)
        )
        after, hits_after = _after(shared, facts.weights, y, plan.level) if shared is not None else (before, hits)
        alone = (facts.statistic, facts.pvalue)
        if shared is not None:
            alone = _of_one(mean, y, measure, plan, plan.n_draws)[1:3]
        points = shared.probs.transpose(1, 0, 2) if shared is not None and _has_members(prediction) else mean[:0]
        each = [_of_one(p, y, measure, plan, plan.n_draws)[1:3] for p in points if plan.members]
        members = np.array(each).reshape(-1, 2)
        undefined = undefined_note(facts.statistic, facts.pvalue, len(y))
        infinite = ""
        if math.isinf(facts.statistic):
            whose = "the model" if shared is None else f"every one of the {shared.noun}"
            infinite = f"{facts.measure} is infinite, for a label came to which {whose} gives probability 0"
        found.append(
            ModelCalibration(
                model=model,
                run=run,
                measure=facts.measure,
                notion=measure.notion,
                tested="mean" if shared is None else "mixtures",
                n_instances=n_instances,
                n_tested=len(y),
                n_members=len(facts.weights),
                statistic=facts.statistic,
                pvalue=facts.pvalue,
                n_draws=facts.n_draws,
                null=facts.null,
                null_kind=facts.null_kind,
                weights=facts.weights,
                mean_value=alone[0],
                mean_pvalue=alone[1],
                member_values=members[:, 0],
                member_pvalues=members[:, 1],
                accuracy_mean=hits,
                accuracy_weighted=hits_after,
                before=before,
                after=after,
                width=width,
                note="; ".join(dict.fromkeys(filter(None, [*notes, undefined, infinite, *facts.notes]))),
                noun="members" if shared is None else shared.noun,
            )
        )
    return found


def holm_adjusted(tests: Sequence[ModelCalibration]) -> Floats:
    """p-values adjusted by Holm for all of these tests, (T,)."""
    return holm([test.pvalue for test in tests])


def model_groups(tests: Sequence[ModelCalibration]) -> dict[tuple[str, str], list[ModelCalibration]]:
    """The tests of all runs, by model and measure."""
    found: dict[tuple[str, str], list[ModelCalibration]] = {}
    for test in tests:
        found.setdefault((test.model, test.measure), []).append(test)
    return found


# -- one test ---------------------------------------------------------------------------------------------------------


class _Facts(NamedTuple):
    measure: str
    statistic: float
    pvalue: float
    n_draws: int
    null: Floats
    null_kind: str
    weights: Floats
    notes: tuple[str, ...]


def _of_set(
    prediction: Prediction, shared: SharedMembers, labels: Rows, measure: CalibrationMeasure, plan: CalibrationPlan
) -> _Facts:
    """The test of all mixtures, with further draws where the p-value is small."""
    test = credal_calibration_test(
        labels,
        prediction,
        measure=measure,
        null=plan.null,
        n_draws=plan.n_draws,
        resample=plan.resample,
        convention=plan.convention,
        rng=np.random.default_rng([plan.seed, 21]),
    )
    pvalue, n_draws = test.pvalue, test.n_draws
    if plan.null == "minimised" and plan.n_more and pvalue <= test.smallest_pvalue:
        finer = (1 + _reached(labels, shared.probs, test, measure, plan)) / (test.n_draws + plan.n_more + 1)
        if finer < pvalue:
            pvalue, n_draws = finer, n_draws + plan.n_more
    return _Facts(
        test.measure,
        test.statistic,
        pvalue,
        n_draws,
        test.null,
        test.null_kind,
        np.full_like(test.weights, math.nan) if math.isnan(test.statistic) else test.weights,
        tuple(part for part in test.note.split("; ") if not part.startswith("search=")),  # an option that is not here
    )


def _reached(
    labels: Rows, members: Floats, test: CredalCalibrationTest, measure: CalibrationMeasure, plan: CalibrationPlan
) -> int:
    """At most how many of further draws, from the fitted mixture, have a minimum that reaches the statistic.

    The minimum over all mixtures is no greater than that over some of them: draws that one of these brings below the statistic
    are settled, and all others are counted. As this is asked only where none of the first D draws reached the statistic, the
    smaller of 1/(D + 1) and the new p-value keeps every level: from 1/(D + 1) on it rejects with the first draws alone, below
    only where all draws together would.
    """
    generator = np.random.default_rng([plan.seed, 22])
    mixtures, m = Mixtures(members), members.shape[1]
    drawn = mixtures.draw_labels(np.repeat(test.weights[np.newaxis], plan.n_more, axis=0), generator)
    few = np.concatenate([test.weights[np.newaxis], np.full((1, m), 1 / m), np.eye(m)])
    near = [(1 - step) * test.weights + step * generator.dirichlet(np.ones(m), NEARBY) for step in STEPS]
    margin = ROUNDING * abs(test.statistic) + 1e-15
    for weights in (few, np.concatenate(near)):
        if len(drawn):
            least = MixtureObjective(mixtures, drawn, measure).shared(weights).min(axis=1)
            drawn = drawn[least >= test.statistic - margin]
    return len(drawn)


def _of_mean(mean: Floats, labels: Rows, measure: CalibrationMeasure, plan: CalibrationPlan) -> _Facts:
    name, statistic, pvalue, null = _of_one(mean, labels, measure, plan, plan.n_draws + plan.n_more)
    return _Facts(name, statistic, pvalue, len(null), null, "single", np.ones(1), ())


def _of_one(
    probs: Floats, labels: Rows, measure: CalibrationMeasure, plan: CalibrationPlan, n_draws: int
) -> tuple[str, float, float, Floats]:
    """Name of the measure, value, p-value and null draws for one distribution (n, K)."""
    generator = np.random.default_rng([plan.seed, 23])
    p = np.maximum(probs, 0.0)
    if plan.convention == "paper-code":
        p = (p / p.sum(axis=1, keepdims=True))[:, np.newaxis]
        test = credal_calibration_test(
            labels, p, measure=measure, null="random", n_draws=n_draws, convention="paper-code", rng=generator
        )
        return test.measure, test.statistic, test.pvalue, test.null
    statistic, null = statistic_and_null(labels, p, measure, n_draws, plan.resample, generator)
    return measure.name, statistic, monte_carlo_pvalue(statistic, null), null


def _after(shared: SharedMembers, weights: Floats, labels: Rows, level: float) -> tuple[Reliability | None, float]:
    """Reliability diagram and accuracy of the mixture with the least value; of none where no value is defined."""
    if np.isnan(weights).any():
        return None, math.nan
    return _diagram(np.einsum("nmk,m->nk", shared.probs, weights), labels, level)


def _diagram(probs: Floats, labels: Rows, level: float) -> tuple[Reliability, float]:
    """Reliability diagram and accuracy."""
    correct = (probs.argmax(axis=1) == labels).astype(np.float64)
    confidence = np.minimum(probs.max(axis=1), 1.0)
    return reliability(correct, confidence, n_bins=N_BINS, level=level), float(correct.mean())


def _untested(model: str, measure: CalibrationMeasure, n: int, n_points: int, note: str) -> ModelCalibration:
    nothing, nan = np.empty(0), math.nan
    return ModelCalibration(
        *(
            model,
            0,
            measure.name,
            measure.notion,
            "nothing",
            n,
            0,
            n_points,
            nan,
            nan,
            0,
            nothing,
            "",
            nothing,
            nan,
            nan,
        ),
        *(nothing, nothing, nan, nan, None, None, nan, note),
    )


def _has_members(prediction: Prediction) -> bool:
    return isinstance(prediction, (Members, Vertices))


def _width(prediction: Prediction) -> float:
    total, n_draws = 0.0, prediction.n_draws if isinstance(prediction, Drawn) else 1
    for rows in row_chunks(prediction.n_instances, 16 * n_draws * prediction.n_classes):
        part = prediction[rows]
        held = part.with_draws() if isinstance(part, Drawn) else part
        total += float((held.upper_probs() - held.lower_probs()).sum())
    return total / (prediction.n_instances * prediction.n_classes)
