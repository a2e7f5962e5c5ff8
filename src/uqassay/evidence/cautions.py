"""What should change how much the numbers of an assay are believed: its warnings, as notes."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from uqassay.evidence.align import BASELINES, Aligned
from uqassay.evidence.calibration import ForeseenTest
from uqassay.evidence.scoring import ModelScores
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.measures import CalibrationMeasure
from uqassay.notes import Note
from uqassay.statistics.units import Units, effective_number, independent_number, make_units, spread_of_mean
from uqassay.text import count, counted, listed, listed_names, named, percent

__all__ = ["CAUTIONS", "calibration_cautions", "cautions", "worth_text"]

FEW_INSTANCES, FEW_GROUPS = 100, 20
SHOWN = 4  # class names that a note quotes before it counts the others
LARGE_GAP = 1e-4  # certified gap of a solved distance, nats

CAUTIONS: Mapping[str, str] = {
    "prediction": "what was done to a model's predictions on their way in",
    "floored": "rows whose label has an upper probability below the floor",
    "certain-answers": "answers that are wrong at confidence 1, or right at confidence 0",
    "solver-gap": "the certified gap of a solved distance",
    "estimated-nonspecificity": "a non-specificity that is estimated, with its standard error",
    "different-numbers-of-members": "sets spanned by different numbers of members or draws",
    "ignored-label": "cases that are left out by their label",
    "weights": "weighted cases, with their effective number and those of weight 0",
    "few-heavy-cases": f"a weighted case that bears more than 1/{FEW_INSTANCES} of the weight",
    "labels-by-columns": "labels that are numbers, taken by the order of the columns",
    "absent-classes": "classes that never occur as the label",
    "few-instances": f"fewer than {FEW_INSTANCES} cases",
    "different-runs": "models with different numbers of training runs",
    "few-groups": f"groups that count like fewer than {FEW_GROUPS} equal ones",
    "baseline-left-out": "a baseline that is undefined in this convention",
    "backward-score": "scores that are shown to be lower where a model is wrong",
    "no-calibration-test": "label distributions or weighted cases, which the calibration tests do not take",
    "dependent-labels": "groups, within which the calibration tests take labels for independent",
    "calibration-sample": "calibration tests on a part of the cases",
}


def cautions(models: Sequence[ModelScores], aligned: Aligned, common_members: int | None) -> tuple[Note, ...]:
    """What a reader must know about scores and rankings; each text is one whole sentence."""
    chosen = [m for m in models if not m.baseline]
    found = [note for m in chosen for note in _of_model(m, aligned)]
    found += _between_models(chosen, common_members)
    found += [*_of_sample(aligned), *_of_groups(chosen, aligned)]
    left_out = set() if aligned.of_answers else set(BASELINES) - {m.name for m in models}
    if left_out:
        name = left_out.pop()
        text = f"The {name} baseline is left out: its non-specificity is undefined in this convention."
        found.append(Note("baseline-left-out", text, {"baseline": name}))
    return tuple(found)


def _of_model(m: ModelScores, aligned: Aligned) -> list[Note]:
    found = [Note("prediction", f"{m.name}: {note.text}.", {"model": m.name, "note": note.code}) for note in m.notes]
    if m.floored and m.kind == "Answers":
        each = f"{-math.log(m.floor):.0f} nats (floor {m.floor:.3g})" if m.floor else "an infinite log loss"
        text = (
            f"{m.name}: {m.floored} of {counted(m.n_runs * len(aligned.labels), 'answer')} are wrong at confidence 1, or right "
            f"at confidence 0; each costs {each} in the log loss, so compare models by the Brier score."
        )
        found.append(Note("certain-answers", text, {"model": m.name, "rows": m.floored, "floor": m.floor}))
    elif m.floored:
        facts = {"model": m.name, "rows": m.floored, "floor": m.floor}
        found.append(Note("floored", f"{m.name}: {_floored(m, aligned)}.", facts))
    if m.gap > LARGE_GAP:
        text = f"{m.name}: a distance may be wrong by up to {m.gap:.2g}, so do not rely on smaller differences."
        found.append(Note("solver-gap", text, {"model": m.name, "gap": m.gap}))
    if m.nonspecificity_error:
        error = m.nonspecificity_error
        text = (
            f"{m.name}: the non-specificity is estimated, with a standard error of {error:.2g} in its mean, which the "
            "intervals include."
        )
        found.append(Note("estimated-nonspecificity", text, {"model": m.name, "standard_error": error}))
    return found


def _floored(m: ModelScores, aligned: Aligned) -> str:
    """In how many rows the label is held to be impossible, and what that costs."""
    of = f"{m.floored} of {m.n_runs * len(aligned.labels)}"
    if m.predicts_classes or aligned.labels.ndim == 2:
        rule = "0, an infinite loss" if m.floor == 0 else f"below {m.floor:.3g}, and counts as that"
        whose = "the label's" if aligned.labels.ndim == 1 else "some voted class's"
        return f"in {of} rows {whose} upper probability is {rule}: look at these rows"
    cost = f"{-math.log(m.floor):.0f} nats (floor {m.floor:.3g})" if m.floor else "an infinite loss"
    return f"{of} class sets leave the label out, which costs {cost} each; the distances js, tv and brier have no such price"


def _between_models(chosen: Sequence[ModelScores], common_members: int | None) -> list[Note]:
    found = _different_runs(chosen)
    sampled = {m.name: m.n_points for m in chosen if m.n_points is not None and m.n_points > 1}
    if len(set(sampled.values())) > 1 and common_members is None:
        least = min(sampled.values())
        each = ", ".join(f"{named(name)} {members}" for name, members in sampled.items())
        text = (
            f"The sets are spanned by different numbers of members or draws ({each}); non-specificity grows with that "
            f"number, so compare with common_members={least}."
        )
        found.append(Note("different-numbers-of-members", text, {"members": sampled, "common_members": least}))
    return found


def _different_runs(chosen: Sequence[ModelScores]) -> list[Note]:
    runs = {m.name: m.n_runs for m in chosen}
    if len(set(runs.values())) == 1:
        return []
    each = listed([f"{named(name)} {n}" for name, n in runs.items()], most=SHOWN)
    single = [name for name, n in runs.items() if n == 1]
    if single:
        whose = (
            f"a single run ({listed_names(single, most=SHOWN)}) stands for itself, and the next training may turn out "
            "otherwise"
        )
    else:
        whose = "means of fewer runs are less certain"
    text = f"The models have different numbers of training runs ({each}): {whose}."
    return [Note("different-runs", text, {"runs": runs})]


def _of_sample(aligned: Aligned) -> list[Note]:
    found = []
    n, k = len(aligned.labels), len(aligned.class_names)
    if aligned.ignored:
        text = f"{count(aligned.ignored)} of {count(n + aligned.ignored)} cases are left out by their label."
        found.append(Note("ignored-label", text, {"ignored": aligned.ignored, "instances": n}))
    if aligned.weightless:
        has, are = ("has", "is") if aligned.weightless == 1 else ("have", "are")
        of = f"{count(aligned.weightless)} of {count(n + aligned.weightless)} cases"
        text = f"{of} {has} weight 0 and {are} left out."
        found.append(Note("weights", text, {"left_out": aligned.weightless, "instances": n}))
    worth = effective_number(aligned.weights, n)
    if aligned.weights is not None:
        text = f"The {counted(n, 'case')} are weighted and count like {worth_text(worth)} of equal weight (effective number)."
        found.append(Note("weights", text, {"instances": n, "effective": worth}))
        heaviest = 1 / independent_number(aligned.weights, n)
        if heaviest > 1 / FEW_INSTANCES and worth >= FEW_INSTANCES:  # fewer are a caution of their own, below
            text = (
                f"The heaviest case bears {percent(heaviest)} of the weight: "
                "where such cases are few, intervals of losses can be too short."
            )
            found.append(Note("few-heavy-cases", text, {"share": heaviest}))
    if aligned.by_position:
        each = [f"{i} = {name}" for i, name in enumerate(aligned.class_names)]
        text = f"The labels are taken by the order of the columns: {listed_names(each, most=SHOWN)}."
        found.append(Note("labels-by-columns", text, {"class_names": list(aligned.class_names)}))
    truth = aligned.labels if aligned.labels.ndim == 1 else aligned.labels.argmax(axis=1)
    absent = 0 if aligned.of_answers else k - len(np.unique(truth))
    if absent:
        text = f"{absent} of {k} classes never occur as the label, so these labels say little about them."
        found.append(Note("absent-classes", text, {"absent": absent, "classes": k}))
    if worth < FEW_INSTANCES:
        few = counted(n, "case") if aligned.weights is None else f"{worth_text(worth)} cases of equal weight"
        alone = n == 1 or (aligned.groups is not None and len(np.unique(aligned.groups)) == 1)
        follows = "no interval and no test" if alone else "intervals are wide, and too short for skewed losses"
        text = f"Only {few}: {follows}."
        found.append(Note("few-instances", text, {"instances": n}))
    return found


def _of_groups(chosen: Sequence[ModelScores], aligned: Aligned) -> list[Note]:
    """Few groups, or groups of such unequal sizes that they count like few; by the degrees of freedom of the mean E."""
    if aligned.groups is None:
        return []
    units = make_units(len(aligned.labels), aligned.groups, aligned.weights)
    if units.n_units == 1:
        return [Note("few-groups", "Only 1 group: no interval and no test.", {"groups": 1, "worth": 1.0})]
    worth = 1 + min(_degrees_of_freedom(m, units) for m in chosen)
    if worth >= FEW_GROUPS:
        return []
    facts = {"groups": units.n_units, "worth": worth}
    if round(worth) >= units.n_units:
        text = f"Only {counted(units.n_units, 'group')}: intervals and tests over groups are rough."
        return [Note("few-groups", text, facts)]
    unequal = "size" if aligned.weights is None else "weight"
    text = (
        f"The {count(units.n_units)} groups are so unequal in {unequal} that they count like {count(round(worth))} equal ones: "
        "intervals and tests over groups are rough."
    )
    return [Note("few-groups", text, facts)]


def _degrees_of_freedom(model: ModelScores, units: Units) -> float:
    """Satterthwaite's, of the mean E at the default λ over the units; one less than their number where E is infinite."""
    columns = model.columns
    e = (columns["distance"] + DEFAULT_TRADEOFF * columns["nonspecificity"]).mean(axis=0)
    if not np.isfinite(e).all():
        return float(units.n_units - 1)
    e = units.keep(e)
    return spread_of_mean(e - units.mean(e), units).dof


def calibration_cautions(
    tests: Sequence[ForeseenTest], aligned: Aligned, measures: Sequence[CalibrationMeasure]
) -> tuple[Note, ...]:
    """What limits the calibration tests by these measures, before they are made; each text is one whole sentence."""
    if measures and aligned.labels.ndim == 2:
        text = "Calibration is not tested: the tests take one label for each case, and these are label distributions."
        return (Note("no-calibration-test", text),)
    if measures and aligned.weights is not None:
        text = (
            "Calibration is not tested, because the tests draw labels as if all cases counted alike; "
            "calibration errors and reliability diagrams are weighted."
        )
        return (Note("no-calibration-test", text),)
    found = []
    models = {t.model for t in tests}
    independent = list(dict.fromkeys(t.model for t in tests if t.ignores_groups))
    if independent:
        whose = "" if len(independent) == len(models) else f" of {listed_names(independent, most=SHOWN)}"
        text = (
            f"The calibration tests{whose} take labels for independent; where those of one group depend on each other, "
            "p-values are too small."
        )
        found.append(Note("dependent-labels", text))
    parts = {t.model: t.n_tested for t in tests if t.n_tested < t.n_instances}
    if parts:
        n, sizes = tests[0].n_instances, sorted(set(parts.values()))
        whose = "" if len(parts) == len(models) else f" of {listed_names(list(parts), most=SHOWN)}"
        took = count(sizes[0]) if len(sizes) == 1 else f"{count(sizes[0])} to {count(sizes[-1])}"
        text = (
            f"The calibration tests{whose} took {took} of the {count(n)} cases, chosen at random; "
            "uqassay calibration-test takes all."
        )
        found.append(Note("calibration-sample", text, {"tested": parts, "instances": n}))
    return tuple(found)


def worth_text(worth: float) -> str:
    """An effective number of cases in words, rounded down.

    Examples
    --------
    >>> worth_text(1234.9), worth_text(1.26)
    ('1,234', '1.2')
    """
    return count(math.floor(worth)) if worth >= 10 else f"{math.floor(worth * 10) / 10:.1f}"
