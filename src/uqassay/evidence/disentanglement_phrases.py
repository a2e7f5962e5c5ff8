"""Sentences on the readings of a disentanglement study: the two experiments of the error, and the classes left out.

A sentence claims only what an interval over the runs holds; the conclusions themselves are data (readings).
"""

import numpy as np

from uqassay.evidence.disentanglement_readings import ClassReading, ExperimentReading, TermReading
from uqassay.notes import reason
from uqassay.statistics import Estimate
from uqassay.wording import ABSENT, counted, interval, level_text, listed, number

__all__ = ["class_sentences", "experiment_sentences"]

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
    return (f"Not in these means, for want of test instances: {listed(names)}.",) if names else ()


def _better(reading: ClassReading) -> str:
    if reading.better == "aleatoric":
        return ", and it separates them better than the epistemic one"
    if reading.better == "epistemic":
        return ", less than the epistemic one"
    return "; which of the two separates them better cannot be told" if reading.sides["epistemic"] == "above" else ""


def _auc(auc: Estimate) -> str:
    ends = interval(auc.low, auc.high, DECIMALS)
    return f"ROC-AUC {number(float(auc), DECIMALS)}{'' if ends == ABSENT else f' ({ends})'}"
