"""Can one run of a model, or some mixture of its members, be told from a calibrated one?"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._array import argmax_of_rows, release, row_chunks
from uqassay.calibration.credal_hypothesis import (
    credal_calibration_test,
    credal_calibration_tests,
)
from uqassay.calibration.credal_verdict import CredalCalibrationTest
from uqassay.calibration.direction import confidence_gap, unseen_notes
from uqassay.calibration.monte_carlo import monte_carlo_pvalue
from uqassay.calibration.shared_members import IN_GROUPS, SharedMembers, shared_members
from uqassay.calibration.single_hypothesis import statistic_and_null, undefined_notes
from uqassay.evidence.calibration_cost import n_points
from uqassay.evidence.calibration_of_points import fine_tests, given_tests
from uqassay.evidence.calibration_plan import CalibrationPlan
from uqassay.evidence.calibration_result import ModelCalibration
from uqassay.evidence.further_draws import reached_by_further_draws
from uqassay.evidence.held_probs import holding
from uqassay.metrics.calibration.measures import CalibrationMeasure
from uqassay.metrics.calibration.reliability import Reliability, reliability
from uqassay.notes import Note, distinct, has_note
from uqassay.predictions import Members, Prediction, Vertices
from uqassay.predictions.drawn import Drawn
from uqassay.wording import count

__all__ = ["TestedSample", "tested_part", "tested_run"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

N_BINS = 10  # of the reliability diagrams
DRAWS = Note("mean", "only the mean is tested, because the draws of different instances do not belong together")
GIVEN_WEIGHTS = Note("assumption", "the mean uses the given weights of the members, and a mixture may use any weights")


def tested_part(n_tested: int, n_instances: int) -> Note:
    """How many of the instances were tested."""
    return Note("sample", f"tested on {count(n_tested)} of {count(n_instances)} instances", {"tested": n_tested})


class TestedSample(NamedTuple):
    """One run of a model on the instances to test.

    Attributes
    ----------
    model : str
    run : int
        0 for the first.
    prediction : Prediction
    labels : int array (n,)
    groups : array (n,) or None
    n_instances : int
        Number of instances from which those tested were chosen.
    """

    model: str
    run: int
    prediction: Prediction
    labels: NDArray[Any]
    groups: NDArray[Any] | None
    n_instances: int


def tested_run(
    sample: TestedSample,
    measures: Sequence[CalibrationMeasure],
    plan: CalibrationPlan,
    *,
    notes: Sequence[Note],
    mixed: bool,
) -> list[ModelCalibration]:
    """Test one run by every measure.

    Parameters
    ----------
    sample : TestedSample
    measures : sequence of CalibrationMeasure
    plan : CalibrationPlan
    notes : sequence of Note
        Notes that every result carries.
    mixed : bool
        False for sets with too many mixtures to search: the mean is tested instead.
    """
    y, prediction = sample.labels.astype(np.intp), sample.prediction
    if isinstance(prediction, Drawn) and prediction.has_shared_points:
        prediction = prediction.members()
    prediction = holding(prediction)
    width, mean = _width(prediction), _mean(prediction)
    shared = shared_members(prediction) if n_points(prediction) > 1 and mixed else None
    notes = [*notes, *_notes_on_sets(prediction, shared)]
    before, hits = _diagram(mean, sample, plan.level)
    gap = confidence_gap(y, mean, sample.groups)
    means = _of_one(mean, y, measures, plan, fine=shared is None, groups=sample.groups)
    # members and vertices are distributions of the model itself; the corners of a box are not, and are not tested alone
    listed = shared is not None and plan.members and isinstance(prediction, (Members, Vertices))
    points = shared.probs.transpose(1, 0, 2) if shared is not None and listed else mean[:0]
    singles = [_of_one(point, y, measures, plan, fine=False) for point in points]
    of_sets = means if shared is None else _of_set(prediction, shared, y, measures, plan)
    after: Reliability | None
    found = []
    for j, (measure, alone, facts) in enumerate(zip(measures, means, of_sets, strict=True)):
        members = [single[j] for single in singles]
        after, hits_after = (before, hits) if shared is None else _after(shared, facts.weights, sample, plan.level)
        undefined = () if has_note(facts.notes, "no-test") else undefined_notes(facts.statistic, facts.pvalue, len(y))
        assumed = () if shared is None or sample.groups is None else (IN_GROUPS,)
        unseen = unseen_notes(measure, mean) if shared is None else ()  # of mixtures the test itself says so
        found.append(
            ModelCalibration(
                model=sample.model,
                run=sample.run,
                measure=facts.measure,
                notion=measure.notion,
                tested="mean" if shared is None else "mixtures",
                n_instances=sample.n_instances,
                n_tested=len(y),
                n_members=len(facts.weights),
                statistic=facts.statistic,
                pvalue=facts.pvalue,
                n_draws=facts.n_draws,
                null=facts.null,
                null_kind=facts.null_kind,
                weights=facts.weights,
                mean_value=alone.statistic,
                mean_pvalue=alone.pvalue,
                member_values=np.array([member.statistic for member in members], dtype=np.float64),
                member_pvalues=np.array([member.pvalue for member in members], dtype=np.float64),
                accuracy_mean=hits,
                accuracy_weighted=hits_after,
                before=before,
                after=after,
                width=width,
                notes=distinct(notes, assumed, unseen, undefined, _notes_on_infinity(facts, shared), facts.notes),
                noun="members" if shared is None else shared.noun,
                n_parts=facts.n_parts,
                gap=gap.value,
                gap_pvalue=gap.pvalue,
            )
        )
    return found


def _notes_on_sets(prediction: Prediction, shared: SharedMembers | None) -> list[Note]:
    """What is tested of a set, where it is not every mixture with the weights that the model takes."""
    m, k = n_points(prediction), prediction.n_classes
    if shared is None and m > 1:
        text = (
            f"only the mean is tested, because mixtures of {count(m)} points over {count(k)} classes take too long here: "
            "uqassay calibration-test tests them"
        )
        return [Note("mean", text, {"points": m, "classes": k})]
    if isinstance(prediction, Drawn):
        return [DRAWS]
    weighted = isinstance(prediction, Members) and prediction.weights is not None
    return [GIVEN_WEIGHTS] if shared is not None and weighted else []


def _notes_on_infinity(facts: "_Facts", shared: SharedMembers | None) -> list[Note]:
    if not math.isinf(facts.statistic):
        return []
    whose = "the model" if shared is None else f"every one of the {shared.noun}"
    text = f"{facts.measure} is infinite, because a label occurred to which {whose} gives probability 0"
    return [Note("infinite", text, {"measure": facts.measure})]


# -- one test ---------------------------------------------------------------------------------------------------------


class _Facts(NamedTuple):
    measure: str
    statistic: float
    pvalue: float
    n_draws: int
    null: Floats
    null_kind: str
    weights: Floats
    notes: tuple[Note, ...] = ()
    n_parts: int = 0


def _of_set(
    prediction: Prediction,
    shared: SharedMembers,
    labels: Rows,
    measures: Sequence[CalibrationMeasure],
    plan: CalibrationPlan,
) -> list[_Facts]:
    """The tests of all mixtures, with further draws where the p-value is small."""
    tests = credal_calibration_tests(
        labels,
        prediction,
        measures=measures,
        null="sequential" if plan.null == "minimised" and plan.n_more else plan.null,
        n_draws=plan.n_draws,
        resample=plan.resample,
        convention=plan.convention,
        rng=np.random.default_rng([plan.seed, 21]),
    )
    facts = [_facts_of(test) for test in tests]
    if plan.null == "minimised" and plan.n_more:
        least = [j for j, test in enumerate(tests) if test.pvalue <= test.smallest_pvalue]
        chosen = [tests[j] for j in least], [measures[j] for j in least]
        reached = reached_by_further_draws(shared.probs, *chosen, plan.n_more, plan.seed) if least else []
        for j, n in zip(least, reached, strict=True):
            all_draws = facts[j].n_draws + plan.n_more
            if (finer := (1 + n) / (1 + all_draws)) < facts[j].pvalue:
                facts[j] = facts[j]._replace(pvalue=finer, n_draws=all_draws)
    return facts


def _facts_of(test: CredalCalibrationTest) -> _Facts:
    return _Facts(
        measure=test.measure,
        statistic=test.statistic,
        pvalue=test.pvalue,
        n_draws=test.n_draws,
        null=test.null,
        null_kind=test.null_kind,
        weights=np.full_like(test.weights, math.nan) if math.isnan(test.statistic) else test.weights,
        notes=tuple(note for note in test.notes if note.code != "option"),  # an assay does not have those options
    )


def _of_one(
    probs: Floats,
    labels: Rows,
    measures: Sequence[CalibrationMeasure],
    plan: CalibrationPlan,
    *,
    fine: bool,
    groups: NDArray[Any] | None = None,
) -> list[_Facts]:
    """The tests of one distribution per instance, (n, K); `fine` ones with groups and p-values below 1 / (D + 1)."""
    p = probs if probs.min() >= 0 else np.maximum(probs, 0.0)
    if plan.convention == "paper-code" or plan.resample:
        assumed = () if groups is None else (IN_GROUPS,)
        return [_by_another_null(p, labels, measure, plan)._replace(notes=assumed) for measure in measures]
    if fine and plan.n_more:
        tests = fine_tests(labels, p, measures, groups, plan.seed)
    else:
        tests = given_tests(labels, p, measures, groups if fine else None, plan.n_draws, plan.seed)
    return [
        _Facts(
            measure=measure.name,
            statistic=test.statistic,
            pvalue=test.pvalue,
            n_draws=len(test.null),
            null=test.null,
            null_kind=test.null_kind,
            weights=np.ones(1),
            n_parts=test.n_parts,
            notes=test.notes,
        )
        for measure, test in zip(measures, tests, strict=True)
    ]


def _by_another_null(p: Floats, labels: Rows, measure: CalibrationMeasure, plan: CalibrationPlan) -> _Facts:
    """The test of the authors' code, or with instances that are drawn again."""
    generator = np.random.default_rng([plan.seed, 23])
    if plan.convention == "paper-code":
        members = (p / p.sum(axis=1, keepdims=True))[:, np.newaxis]
        test = credal_calibration_test(
            labels,
            members,
            measure=measure,
            null="random",
            n_draws=plan.n_draws,
            convention="paper-code",
            rng=generator,
        )
        name, statistic, pvalue, null = test.measure, test.statistic, test.pvalue, test.null
    else:
        statistic, null = statistic_and_null(labels, p, measure, plan.n_draws, True, generator)
        name, pvalue = measure.name, monte_carlo_pvalue(statistic, null, measure.sides)
    return _Facts(
        measure=name,
        statistic=statistic,
        pvalue=pvalue,
        n_draws=len(null),
        null=null,
        null_kind="single",
        weights=np.ones(1),
    )


def _after(
    shared: SharedMembers, weights: Floats, sample: TestedSample, level: float
) -> tuple[Reliability | None, float]:
    """Reliability diagram and accuracy of the mixture with the least value; of none where no value is defined."""
    if np.isnan(weights).any():
        return None, math.nan
    return _diagram(np.einsum("nmk,m->nk", shared.probs, weights), sample, level)


def _diagram(probs: Floats, sample: TestedSample, level: float) -> tuple[Reliability, float]:
    """Reliability diagram and accuracy."""
    correct = (argmax_of_rows(probs) == sample.labels).astype(np.float64)
    confidence = np.minimum(probs.max(axis=1), 1.0)
    found = reliability(correct, confidence, n_bins=N_BINS, groups=sample.groups, level=level)
    return found, float(correct.mean())


def _width(prediction: Prediction) -> float:
    """Mean over instances and classes of the upper minus the lower probability."""
    total, n_held = 0.0, prediction.n_points if isinstance(prediction, Drawn) else n_points(prediction)
    for rows in row_chunks(prediction.n_instances, 16 * n_held * prediction.n_classes):
        part = prediction[rows]
        held = part.with_draws() if isinstance(part, Drawn) else part
        total += float((held.upper_probs() - held.lower_probs()).sum())
        _release(prediction)
    return total / (prediction.n_instances * prediction.n_classes)


def _mean(prediction: Prediction) -> Floats:
    """Mean prediction (n, K); a large one by chunks, and class after class in memory, as the measures need it."""
    n, k = prediction.n_instances, prediction.n_classes
    chunks = list(row_chunks(n, 8 * k * n_points(prediction)))
    if prediction.remembers or len(chunks) == 1:
        return prediction.mean_probs()
    by_class = np.empty((k, n))
    for rows in chunks:
        by_class[:, rows] = prediction[rows].mean_probs().T
        _release(prediction)
    return by_class.T


def _release(prediction: Prediction) -> None:
    for name in prediction.array_names():
        release(getattr(prediction, name))
