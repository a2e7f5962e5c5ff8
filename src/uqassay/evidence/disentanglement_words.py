"""A study of disentanglement in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.disentanglement_runs import (
    EXPERIMENTS,
    Contender,
    RankedContender,
    by_dataset,
    rank_disentanglement,
)
from uqassay.metrics.disentanglement import Disentanglement, Term
from uqassay.notes import Note, reason
from uqassay.results import Bar, ShownCell, ShownRow, ShownTable, estimate_cell
from uqassay.statistics import Estimate, holm
from uqassay.statistics.components import mean_over_runs
from uqassay.text import (
    ABSENT,
    counted,
    estimate_text,
    interval,
    level_text,
    listed,
    listed_names,
    number,
    pvalue,
    pvalue_text,
    text_table,
    visible,
)

if TYPE_CHECKING:
    from uqassay.evidence.disentanglement import DisentanglementStudy

__all__ = [
    "class_sentences",
    "contender_sentences",
    "disentanglement_lines",
    "disentanglement_sentences",
    "disentanglement_table",
    "experiment_sentences",
    "joint_level",
    "legend_sentences",
    "read_classes",
    "read_experiments",
]


# Conclusions that the runs of a disentanglement study support, as data: the sentences of the verdict follow from them.
#
# The claims of one reading hold together at the level: the intervals behind them are Bonferroni-adjusted for the claims
# of that reading, three in each experiment. Every interval is over the runs; the test instances are the same in all of
# them.

Movement = Literal["follows", "against", "unclear", "flat", "single-run"]
Comparison = Literal["less", "as-closely", "more", "unclear"]
Side = Literal["above", "below", "unclear", "single-run"]

CLAIMS = 3  # of one reading: two estimates, and their comparison
AS_CLOSELY = 0.1  # correlations whose difference surely lies within ± this are called equally close


@final
@dataclass(frozen=True, eq=False)
class TermReading:
    """One of the four correlations and whether it differs from 0."""

    kind: str
    ideal: float  #: 1 or 0.
    correlation: Estimate  #: Of confidence and accuracy, with its joint interval.
    #: "follows" (the interval lies above 0: the estimate rises where the accuracy falls), "against" (below 0),
    #: "unclear" (it holds 0), "flat" (the estimate is constant in all runs), or "single-run" (no interval over runs).
    #: With two conditions, where r is 0 or ±1, few runs that agree are "unclear", because they agree by chance too
    #: often.
    movement: Movement
    flat_runs: int  #: Runs in which the estimate is constant, and the accuracy is not.


@final
@dataclass(frozen=True, eq=False)
class ExperimentReading:
    """What one of the two experiments of the disentanglement error shows."""

    experiment: str
    n_runs: int
    level: float  #: At which its claims hold together.
    #: target, other: The estimate that should follow the accuracy, and the one that should not.
    target: TermReading
    other: TermReading
    #: Mean over the runs of the correlation of `other` minus that of `target`, with its joint interval.
    difference: Estimate
    #: Whether `other` follows the accuracy "less", "as-closely" or "more" than `target`; "unclear" where the interval
    #: does not say; None where not both follow it.
    comparison: Comparison | None
    #: Mean over the runs of the accuracy in the largest condition minus that in the smallest.
    accuracy_change: Estimate

    @property
    def accuracy_moves(self) -> bool:
        """Whether the accuracy rises with more data, or falls with more label noise, for sure; of a single run: by itself."""
        change = self.accuracy_change
        low, high = (float(change), float(change)) if self.n_runs == 1 else (change.low, change.high)
        return low > 0 if self.experiment == EXPERIMENTS[0] else high < 0


@final
@dataclass(frozen=True, eq=False)
class ClassReading:
    """What the classes left out of the training show: mean ROC-AUC of both estimates against ½."""

    n_runs: int
    level: float
    #: aleatoric, epistemic: With joint intervals.
    aleatoric: Estimate
    epistemic: Estimate
    sides: dict[str, Side]  #: By kind: "above" ½, "below" it, "unclear", or "single-run".
    difference: Estimate  #: Epistemic minus aleatoric.
    better: str | None  #: The estimate with the greater ROC-AUC, where the interval of the difference says so.
    notes: tuple[Note, ...]


def joint_level(level: float) -> float:
    """Level of each of the claims of a reading, so that all of them hold together at `level` (Bonferroni).

    Examples
    --------
    >>> round(joint_level(0.95), 4)
    0.9833
    """
    return 1 - (1 - level) / CLAIMS


def read_experiments(
    study: "DisentanglementStudy", decomposition: str, *, level: float = 0.95
) -> tuple[ExperimentReading, ExperimentReading]:
    """Readings of the dataset-size and of the label-noise experiment.

    Parameters
    ----------
    study : DisentanglementStudy
        With both experiments.
    decomposition : str
    level : float
        At which the claims of each reading hold together.
    """
    found = study.error(decomposition, level=joint_level(level))
    size, noise = (_read_experiment(study, name, found, level) for name in EXPERIMENTS[:2])
    return size, noise


def read_classes(study: "DisentanglementStudy", decomposition: str, *, level: float = 0.95) -> ClassReading:
    """Reading of the classes left out; the claims hold together at `level`."""
    found = study.detection(decomposition, level=joint_level(level))
    better = None
    if study.n_runs == 1 or _equal_by_chance(found.difference, study.n_runs):
        pass
    elif found.difference.low > 0:
        better = "epistemic"
    elif found.difference.high < 0:
        better = "aleatoric"
    return ClassReading(
        n_runs=study.n_runs,
        level=level,
        aleatoric=found.aleatoric_mean,
        epistemic=found.epistemic_mean,
        sides={
            "aleatoric": _side(found.aleatoric_mean, study.n_runs),
            "epistemic": _side(found.epistemic_mean, study.n_runs),
        },
        difference=found.difference,
        better=better,
        notes=found.notes,
    )


def _read_experiment(
    study: "DisentanglementStudy", experiment: str, found: Disentanglement, level: float
) -> ExperimentReading:
    terms = [term for term in found.terms if term.experiment == experiment]
    target, other = sorted(terms, key=lambda term: -term.ideal)
    accuracy = study.experiment(experiment).correct.mean(axis=-1)  # (R, C)
    still, two = np.ptp(accuracy, axis=1) == 0, accuracy.shape[1] == 2
    readings = [_read_term(term, term.constant & ~still, two=two) for term in (target, other)]
    difference = mean_over_runs(other.per_run - target.per_run, level=joint_level(level), bounds=(-2.0, 2.0))
    both = not two and all(reading.movement == "follows" for reading in readings)
    return ExperimentReading(
        experiment=experiment,
        n_runs=study.n_runs,
        level=level,
        target=readings[0],
        other=readings[1],
        difference=difference,
        comparison=_comparison(difference) if both else None,
        accuracy_change=mean_over_runs(_change(study, experiment, accuracy), level=level, bounds=(-1.0, 1.0)),
    )


def _read_term(term: Term, flat: NDArray[np.bool_], *, two: bool) -> TermReading:
    """`flat`: runs with a constant estimate; `two`: there are two conditions, so that r is 0 or ±1."""
    r, flat_runs, n_runs = term.correlation, int(flat.sum()), len(term.per_run)
    by_chance = two and 2.0 ** (1 - n_runs) > 1 - r.level  # that all runs have the same sign
    movement: Movement = "unclear"
    if flat_runs == n_runs:
        movement = "flat"
    elif n_runs == 1:
        movement = "single-run"
    elif by_chance:
        movement = "unclear"
    elif r.low > 0:
        movement = "follows"
    elif r.high < 0:
        movement = "against"
    return TermReading(term.estimate, term.ideal, r, movement, flat_runs)


def _comparison(difference: Estimate) -> Comparison:
    low, high = difference.low, difference.high
    if max(-low, high) <= AS_CLOSELY:
        return "as-closely"
    if high < 0:
        return "less"
    return "more" if low > 0 else "unclear"


def _side(auc: Estimate, n_runs: int) -> Side:
    if n_runs == 1 or np.isnan(auc):
        return "single-run"
    if _equal_by_chance(auc, n_runs):
        return "unclear"
    if auc.low > 0.5:
        return "above"
    return "below" if auc.high < 0.5 else "unclear"


def _equal_by_chance(value: Estimate, n_runs: int) -> bool:
    """Whether an interval without width is no evidence: with few test instances, two runs can have the same ROC-AUC."""
    return n_runs == 2 and value.low == value.high


def _change(study: "DisentanglementStudy", experiment: str, accuracy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Accuracy of each run at the largest condition minus that at the smallest."""
    conditions = study.experiment(experiment).conditions
    return np.asarray(accuracy[:, np.argmax(conditions)] - accuracy[:, np.argmin(conditions)])


# Sentences on the readings of a disentanglement study: the two experiments of the error, and the classes left out.
#
# A sentence claims only what an interval over the runs holds; the conclusions themselves are data (readings).

DECIMALS = 2

# by experiment: what is done; what the estimate does if it follows the accuracy, and if it goes against it; what it should do
CAUSE = {"dataset-size": "With more training data", "label-noise": "With more label noise"}
ACCURACY = {"dataset-size": "rise", "label-noise": "fall"}
FOLLOWS = {"dataset-size": "falls", "label-noise": "rises"}
AGAINST = {"dataset-size": "rises", "label-noise": "falls"}
SHOULD = {"falls": "fall", "rises": "rise"}


# -- one experiment -----------------------------------------------------------------------------------------------------


def experiment_sentences(reading: ExperimentReading) -> tuple[str, ...]:
    """Two sentences on one experiment: the estimate that should move, and the one that should not."""
    if not reading.accuracy_moves:
        return (_still_accuracy(reading),)
    return (_target_sentence(reading), _other_sentence(reading))


def _still_accuracy(reading: ExperimentReading) -> str:
    both = {one.kind: one for one in (reading.target, reading.other)}
    said = listed([f"{_r(one)} for the {kind} uncertainty" for kind, one in sorted(both.items())])
    return (
        f"{CAUSE[reading.experiment]} the accuracy is not shown to {ACCURACY[reading.experiment]} "
        f"(change {_points(reading.accuracy_change)}), so this experiment says little: {said}."
    )


def _points(change: Estimate) -> str:
    """A difference of two accuracies."""
    ends = interval(100 * change.low, 100 * change.high, 1)
    over = "" if ends == ABSENT else f", {level_text(change.level)} interval {ends}"
    return f"{number(100 * float(change), 1)} percentage points{over}"


def _target_sentence(reading: ExperimentReading) -> str:
    one, experiment = reading.target, reading.experiment
    cause, follows, against = CAUSE[experiment], FOLLOWS[experiment], AGAINST[experiment]
    accuracy = f"{ACCURACY[experiment]}s"
    return {
        "follows": f"{cause} the {one.kind} uncertainty {follows} while the accuracy {accuracy}, as it should: {_r(one)}.",
        "against": f"{cause} the {one.kind} uncertainty {against}, the wrong direction: {_r(one)}.",
        "flat": f"{cause} the {one.kind} uncertainty stays constant in all runs, although it should {SHOULD[follows]}.",
        "unclear": (
            f"{counted(reading.n_runs, 'run')} do not show whether the {one.kind} uncertainty {follows} {_lower(cause)}, as "
            f"it should: {_r(one)}."
        ),
        "single-run": f"{cause} the {one.kind} uncertainty has {_r(one)} in the only run; it should have 1.",
    }[one.movement]


def _other_sentence(reading: ExperimentReading) -> str:
    one, target, experiment = reading.other, reading.target, reading.experiment
    who = f"The {one.kind} uncertainty, which should not move,"
    too = " as well" if target.movement == "follows" else ""
    return {
        "follows": f"{who} {FOLLOWS[experiment]}{too}: {_r(one)}{_compared(reading)}.",
        "against": f"{who} {AGAINST[experiment]}: {_r(one)}.",
        "flat": f"The {one.kind} uncertainty stays constant, as it should.",
        "unclear": (
            f"{counted(reading.n_runs, 'run')} do not show that the {one.kind} uncertainty moves, and it should not: "
            f"{_r(one)}."
        ),
        "single-run": f"{who} has {_r(one)} in the only run; it should have 0.",
    }[one.movement]


def _compared(reading: ExperimentReading) -> str:
    target = reading.target.kind
    if reading.comparison is None:
        return ""
    return {
        "as-closely": f", about as closely as the {target} uncertainty",
        "less": f", less closely than the {target} uncertainty",
        "more": f", more closely than the {target} uncertainty",
        "unclear": f"; whether less closely than the {target} uncertainty cannot be told",
    }[reading.comparison]


def _r(one: TermReading) -> str:
    r = one.correlation
    ends = interval(r.low, r.high, DECIMALS)
    return f"r = {number(float(r), DECIMALS)}{'' if ends == ABSENT or one.movement == 'single-run' else f' ({ends})'}"


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


# -- classes left out ---------------------------------------------------------------------------------------------------


def class_sentences(reading: ClassReading) -> tuple[str, ...]:
    """What both estimates say about instances of a class that the training did not have."""
    epistemic, aleatoric = (_auc(one) for one in (reading.epistemic, reading.aleatoric))
    runs = counted(reading.n_runs, "run")
    if np.isnan(reading.epistemic):
        return (f"There is no ROC-AUC for the classes left out: {reason(reading.epistemic.notes)}.",)
    if reading.n_runs == 1:
        return (
            f"For classes left out of the training, the epistemic uncertainty has {epistemic} and the aleatoric {aleatoric} "
            "in the only run, on average; 0.5 is no reaction.",
            *_left_out(reading),
        )
    first = {
        "above": f"The epistemic uncertainty is higher for classes left out of the training, as it should be: {epistemic}.",
        "below": f"The epistemic uncertainty is lower for classes left out of the training, the wrong direction: {epistemic}.",
        "unclear": (
            f"{runs} do not show that the epistemic uncertainty is higher for classes left out of the training, as it should "
            f"be: {epistemic}."
        ),
        "single-run": "",
    }[reading.sides["epistemic"]]
    second = {
        "above": f"The aleatoric uncertainty reacts to these classes, which it should not: {aleatoric}{_better(reading)}.",
        "below": f"The aleatoric uncertainty is lower for these classes: {aleatoric}.",
        "unclear": f"{runs} do not show that the aleatoric uncertainty reacts to these classes: {aleatoric}.",
        "single-run": "",
    }[reading.sides["aleatoric"]]
    return (first, second, *_left_out(reading))


def _left_out(reading: ClassReading) -> tuple[str, ...]:
    """Classes that the means do not hold."""
    names = [name for note in reading.notes for name in note.facts.get("classes", ())]
    return (f"Not in these means, for want of test cases: {listed(names)}.",) if names else ()


def _better(reading: ClassReading) -> str:
    if reading.better == "aleatoric":
        return ", and it separates them better than the epistemic one"
    if reading.better == "epistemic":
        return ", less than the epistemic one"
    return "; which of the two separates them better cannot be told" if reading.sides["epistemic"] == "above" else ""


def _auc(auc: Estimate) -> str:
    ends = interval(auc.low, auc.high, DECIMALS)
    return f"ROC-AUC {number(float(auc), DECIMALS)}{'' if ends == ABSENT else f' ({ends})'}"


# The disentanglement benchmark in words: made once for the terminal, the page and the figures.
#
# A sentence claims only what an interval or a test over the runs holds; the conclusions themselves are data (readings,
# ranking).

MOST_NAMES = 5  # of contenders in one sentence, before the others are counted

# -- the error of one contender -----------------------------------------------------------------------------------------


def error_sentences(contender: Contender, *, level: float = 0.95) -> tuple[str, ...]:
    """The disentanglement error with its references, and whether the two names could be exchanged."""
    found, runs = contender.disentanglement(level=level), contender.study.n_runs
    text = f"The disentanglement error is {_estimate(found.error)} over {counted(runs, 'run')}"
    return (f"{text}, {_against_chance(contender, found, level)}.", *_names(contender, found, level))


def _against_chance(contender: Contender, found: Disentanglement, level: float) -> str:
    p = contender.chance_test.pvalue
    chance = f"that of estimates unrelated to the accuracy, about {number(found.chance, DECIMALS)}"
    if p <= 1 - level:
        return f"below {chance} ({pvalue_text(p)})"
    return f"not shown to be below {chance} ({pvalue_text(p)})"


def _names(contender: Contender, found: Disentanglement, level: float) -> tuple[str, ...]:
    test, runs = contender.names_test, contender.study.n_runs
    exchanged = number(float(found.error) - test.statistic, DECIMALS)
    if test.pvalue <= 1 - level:
        return (f"With the two names exchanged the error would be greater, {exchanged} ({pvalue_text(test.pvalue)}).",)
    would = f"with the two names exchanged the error would be {exchanged}"
    if test.smallest_pvalue > 1 - level:
        return (f"{counted(runs, 'run')} cannot show that the names aleatoric and epistemic matter; {would}.",)
    text = f"{counted(runs, 'run')} do not show that the names aleatoric and epistemic matter"
    return (f"{text} ({pvalue_text(test.pvalue)}); {would}.",)


# -- all contenders -----------------------------------------------------------------------------------------------------


def contender_sentences(contender: Contender, *, level: float = 0.95) -> tuple[str, ...]:
    """Every sentence about one contender: its error, the two experiments of the error, and the classes left out.

    Parameters
    ----------
    contender : Contender
    level : float
        At which the claims about each experiment hold together.
    """
    sentences: list[str] = []
    if contender.has_error:
        sentences += error_sentences(contender, level=level)
        for reading in read_experiments(contender.study, contender.decomposition, level=level):
            sentences += experiment_sentences(reading)
    if contender.has_classes:
        sentences += class_sentences(read_classes(contender.study, contender.decomposition, level=level))
    return tuple(sentences)


def disentanglement_sentences(contenders: Sequence[Contender], *, level: float = 0.95) -> tuple[str, ...]:
    """Who has the lowest disentanglement error on each data set, from whom the runs tell it, and what is a small error."""
    sentences: list[str] = []
    groups = by_dataset(contenders)
    for dataset, group in groups.items():
        ranked = [row for row in rank_disentanglement(group, level=level) if row.found is not None]
        where = f"On {dataset} " if len(groups) > 1 else ""
        sentences += _headline(ranked, where, level)
        if ranked and (first := ranked[0].found) is not None:
            sentences += [reference_sentence(first), _below_chance(ranked, level)]
        leaks = [_leak(row.contender, level) for row in ranked]
        sentences += _leaks(leaks)
    return tuple(visible(text) for text in sentences)


def _headline(ranked: Sequence[RankedContender], where: str, level: float) -> list[str]:
    if not ranked or ranked[0].found is None:
        return [f"{where}no disentanglement error: it needs both experiments.".removeprefix(" ").capitalize()]
    best, others = ranked[0], ranked[1:]
    error = _estimate(ranked[0].found.error)
    runs = counted(best.contender.study.n_runs, "run")
    if not others:
        return [f"{where}{best.contender.label} has a disentanglement error of {error} over {runs}."]
    text = f"{where}{best.contender.label} has the lowest disentanglement error, {error} over {runs}."
    return [text, *_told_apart(others, level)]


def _told_apart(others: Sequence[RankedContender], level: float) -> list[str]:
    apart = [row for row in others if row.told_apart(level)]
    tested = [row for row in others if not np.isnan(row.pvalue_adjusted)]
    near = [row for row in tested if row not in apart]
    untested = [row for row in others if row not in tested]
    said = []
    if apart:
        bound = pvalue_text(max(row.pvalue_adjusted for row in apart), "≤" if len(apart) > 1 else "=")
        said.append(f"The runs tell it from {_labels(apart)} ({bound}).")
    if near:
        bound = pvalue_text(min(row.pvalue_adjusted for row in near), "≥" if len(near) > 1 else "=")
        also = "" if apart else "any of the others, " if len(near) > 1 and not untested else ""
        said.append(
            f"They cannot tell it from {also}{_labels(near)} ({bound})." if apart else _cannot(near, also, bound)
        )
    if untested:
        said.append(f"Whether it differs from {_labels(untested)} cannot be tested ({_why(untested)}).")
    if any(row.paired is False for row in others):
        said.append("Contenders with other seeds than the best one are compared as independent runs.")
    return said


def _cannot(near: Sequence[RankedContender], also: str, bound: str) -> str:
    return f"The runs cannot tell it from {also}{_labels(near)} ({bound})."


def _labels(rows: Sequence[RankedContender]) -> str:
    return listed_names([row.contender.label for row in rows], most=MOST_NAMES)


def _why(rows: Sequence[RankedContender]) -> str:
    return reason(rows[0].notes) or "all runs have the same errors"


def _below_chance(ranked: Sequence[RankedContender], level: float) -> str:
    """Whose errors are below chance, adjusted by Holm for all contenders."""
    adjusted = holm([row.contender.chance_test.pvalue for row in ranked]).tolist()
    below = [(row, p) for row, p in zip(ranked, adjusted, strict=True) if p <= 1 - level]
    adjustment = ", Holm" if len(ranked) > 1 else ""
    if not below:
        least = pvalue_text(min(adjusted), "≥" if len(ranked) > 1 else "=")
        whose = "No error is" if len(ranked) > 1 else "The error is not"
        return f"{whose} shown to be below that of estimates unrelated to the accuracy ({least}{adjustment})."
    bound = pvalue_text(max(p for _, p in below), "≤" if len(below) > 1 else "=")
    whose = f"The {'errors' if len(below) > 1 else 'error'} of {_labels([row for row, _ in below])}"
    verb = "are" if len(below) > 1 else "is"
    return f"{whose} {verb} below that of estimates unrelated to the accuracy ({bound}{adjustment})."


def reference_sentence(found: Disentanglement) -> str:
    """The scale of the disentanglement error: ideal, floor, one estimate twice, chance."""
    return (
        "The scale of the error: 0 is ideal; the floor, where only jitter remains, is about "
        f"{number(found.floor, DECIMALS)}; one estimate that follows the accuracy, under both names, has "
        f"{number(found.together, DECIMALS)}; chance, for estimates unrelated to the accuracy, is about "
        f"{number(found.chance, DECIMALS)}."
    )


def _leak(contender: Contender, level: float) -> tuple[str, frozenset[tuple[str, str]]]:
    """The label of a contender, and the pairs of experiment and kind that move although they should not."""
    readings = read_experiments(contender.study, contender.decomposition, level=level)
    moving = [r for r in readings if r.accuracy_moves and r.other.movement in ("follows", "against")]
    return contender.label, frozenset((r.experiment, r.other.kind) for r in moving)


def _leaks(found: Sequence[tuple[str, frozenset[tuple[str, str]]]]) -> list[str]:
    """For each experiment, whose estimate moves although it should not."""
    said = []
    for experiment, kind, what in (
        (EXPERIMENTS[1], "epistemic", "Label noise"),
        (EXPERIMENTS[0], "aleatoric", "The amount of training data"),
    ):
        moved = [label for label, leaks in found if (experiment, kind) in leaks]
        if moved:
            every = len(moved) == len(found) and len(found) > 1
            whole = "both contenders" if len(found) == 2 else f"all {len(found)} contenders"
            whom = whole if every else listed_names(moved, most=MOST_NAMES)
            said.append(f"{what} also moves the {kind} uncertainty of {whom}, which it should not.")
    return said


def legend_sentences(*, level: float = 0.95) -> tuple[str, ...]:
    """How to read r and the brackets."""
    return (
        "r is the correlation of accuracy and confidence (minus the uncertainty) over the conditions of a run, averaged over "
        "the runs on Fisher's scale.",
        "Intervals in brackets are over the runs. Those of one contender in one experiment hold together at "
        f"{level_text(level)}; with many contenders, some claims are wrong by chance. The test cases are the same in all "
        "runs: nothing is said about other test sets.",
    )


def _estimate(value: Estimate) -> str:
    return estimate_text(float(value), value.low, value.high, level=value.level, decimals=DECIMALS)


# -- the terminal -------------------------------------------------------------------------------------------------------


def disentanglement_lines(contenders: Sequence[Contender], *, level: float = 0.95) -> list[str]:
    """Lines for a terminal: a table of the contenders on each data set, and the sentences about them.

    Parameters
    ----------
    contenders : sequence of Contender
    level : float
    """
    lines: list[str] = []
    groups = by_dataset(contenders)
    for dataset, group in groups.items():
        lines += [dataset] if len(groups) > 1 else []
        lines += _table(rank_disentanglement(group, level=level), level)
        lines += ["", *disentanglement_sentences(group, level=level), ""]
        for one in group:
            lines += [f"{one.label}:", *(f"  {text}" for text in contender_sentences(one, level=level)), ""]
    return [visible(line) for line in (*lines, *legend_sentences(level=level))]


def _table(ranked: Sequence[RankedContender], level: float) -> list[str]:
    header = (
        "",
        "error",
        f"{level_text(level)} interval",
        "size ale",
        "size epi",
        "noise ale",
        "noise epi",
        "p to best",
    )
    body: list[tuple[str, ...]] = []
    for row in ranked:
        found = row.found
        if found is None:
            body.append((row.contender.label, *(ABSENT,) * 7))
            continue
        terms = [number(float(term.correlation), DECIMALS) for term in found.terms]
        error = number(float(found.error), DECIMALS)
        ends = interval(found.error.low, found.error.high, DECIMALS)
        body.append((row.contender.label, error, ends, *terms, pvalue(row.pvalue_adjusted)))
    ideal = ("ideal", "0", "", "0", "1", "1", "0", "")
    return text_table(header, [*body, ideal])


def disentanglement_table(ranked: Sequence[RankedContender]) -> ShownTable:
    """Error and terms of each contender, to be read; one without an error has none."""
    rows = []
    for row in ranked:
        found = row.found
        if found is None:
            rows.append(ShownRow((ShownCell(row.contender.label), *[ShownCell(ABSENT)] * 6)))
            continue
        error = found.error
        terms = [ShownCell(number(float(term.correlation), DECIMALS)) for term in found.terms]
        cells = (
            estimate_cell(float(error), error.low, error.high, DECIMALS),
            *terms,
            ShownCell(pvalue(row.pvalue_adjusted)),
        )
        rows.append(ShownRow((ShownCell(row.contender.label), *cells), bar=Bar(float(error), error.low, error.high)))
    header = (
        "decomposition",
        "error",
        "size: aleatoric",
        "size: epistemic",
        "noise: aleatoric",
        "noise: epistemic",
        "p",
    )
    said = "Ideal: error 0, correlations 0, 1, 1, 0. p: against the lowest error, adjusted."
    return ShownTable(header, tuple(rows), said)
