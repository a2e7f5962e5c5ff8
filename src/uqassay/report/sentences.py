"""The page's sentences, all made here."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uqassay.evidence.answer import Answer, Recommendation, Stretch
from uqassay.evidence.calibration import JudgedTest
from uqassay.evidence.data import BackwardScore
from uqassay.evidence.order import MEAN_E, loss_name, order_of
from uqassay.evidence.ranking import MARKS, cases_text, intervals_text, limit_notes, lowest_of, only_unit
from uqassay.evidence.sentences import (
    PRICE,
    advice,
    claim,
    condition,
    could_have_shown,
    headline,
    holds_where,
    none_clauses,
    within_margin,
)
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.ranking import is_constant
from uqassay.notes import Note, reason
from uqassay.report.definitions import DEFINITIONS, definition_of, score_label
from uqassay.text import (
    ABSENT,
    count,
    counted,
    estimate_text,
    level_text,
    listed,
    listed_names,
    named,
    number,
    part_of,
    percent,
    percent_interval,
    sentence,
    significant,
    tradeoff,
)

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores
    from uqassay.statistics import Estimate

__all__ = [
    "BEST",
    "CAUTION",
    "CONCERNING",
    "MOST_SHOWN",
    "NUMBERS",
    "Refused",
    "Statement",
    "answer_choices",
    "answer_remarks",
    "answer_sentence",
    "axis_text",
    "backward_note",
    "beyond_sentence",
    "caution_finding",
    "cautions",
    "chart_sentences",
    "compared_sentence",
    "comparison_note",
    "confidence_finding",
    "confidence_text",
    "cost_label",
    "decimals_of",
    "depends_sentence",
    "epistemic_sentence",
    "few_scores",
    "general_sentences",
    "instance_sentences",
    "kind_text",
    "meanings",
    "method_sentences",
    "mistakes_sentences",
    "model_sentences",
    "more_warnings",
    "order_finding",
    "order_values",
    "outcome_text",
    "page_sentences",
    "rank_set_sentences",
    "ranking_sentences",
    "refusal_sentence",
    "reliability_sentences",
    "remarks",
    "section_findings",
    "sentences_around_tests",
    "set_text",
    "stretch_text",
    "template_sentences",
    "undefined_text",
    "view_sentences",
    "why_absent",
    "why_nothing",
    "winner_sentence",
    "words_of_test",
]


# Why: sentences of the charts of distance, non-specificity and E.

POINTS = 4000  # markers in one scatter plot, of all models together


def chart_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> import uqassay as uq
    >>> chart_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))["point"]
    'a point prediction: always 0'
    """
    unit = " (nats)" if assay.settings.distance_entry.unit == "nats" else ""
    priced = order_of(assay).priced
    return {
        "show": "Show",
        "parts": {"all": "all cases", "correct": "correct", "wrong": "wrong"},
        "heads": {
            "model": "Model",
            "n": "n {part}",
            "distance": "d {part}" if priced else f"{loss_name(assay)} {{part}}",
            "nonspecificity": "NS {part}",
            "unified": "E {part}",
        },
        "reliability": "Reliability diagram",
        "plane_data": "Means with their intervals, in the order of the ranking.",
        "lines_data": "Mean E with its interval along λ, in the order of the ranking.",
        "ridge_data": "{title}: means, medians and quartiles by correctness, of the models shown.",
        "ridge_heads": {"n": "n {part}", "mean": "mean {part}", "middle": "median (quartiles) {part}"},
        "means_data": "Means in ten bins of confidence, of the models shown.",
        "points_data": "Every point, of the models shown.",
        "means_heads": {"confidence": "mean confidence", "mean": "mean {quantity}", "n": "n"},
        "no_instances": "No cases of this kind.",
        "point_hover": "d {distance} ({distance_low} to {distance_high})",
        "size_hover": "NS {nonspecificity} ({nonspecificity_low} to {nonspecificity_high})",
        "n_hover": "n = {n}",
        "absent": "not here (no such cases): {models}",
        "absent_infinite": "not here (infinite): {models}",
        "absent_many": "{n} models",
        "line_hover": "λ {tradeoff}: E {estimate} ({low} to {high})",
        "baseline_hover": "λ {tradeoff}: E {estimate}",
        "baseline": "{model} (baseline)",
        "plane_axes": ["mean NS", "mean distance d"],
        "line_axes": ["λ", "mean E"],
        "ridge_axes": {"distance": f"d{unit}", "nonspecificity": "NS", "unified": "E"},
        "title_at": ", λ = {tradeoff}" if order_of(assay).priced else "",
        "ridge_at": "",
        "ridge_near": "The nearest λ for which the page holds the densities.",
        "point": "a point prediction: always 0",
        "zero": "0 in every case",
        "infinite": "infinite in every case",
        "zero_or_infinite": "0 or infinite",
        "part": {"correct": "correct (n = {n})", "wrong": "wrong (n = {n})"},
        "part_infinite": {
            "correct": "correct (n = {n}, and {infinite} infinite)",
            "wrong": "wrong (n = {n}, and {infinite} infinite)",
        },
        "middle": "mean {mean}, median {median}",
        "at_end": "{share} at the left end or below",
        "no_such": {"correct": "no correct predictions", "wrong": "no wrong predictions"},
        "by_correctness": f"{_by_correctness(assay)}; E at λ = {{tradeoff}}."
        if priced
        else f"{_by_correctness(assay)}.",
        "by_correctness_apart": (
            f"{_by_correctness(assay)}; E at λ = {{tradeoff}}, its interval only at the λ of the findings."
        ),
        "sample": _sample(assay),
        "walk": "{title}. The arrow keys move from point to point, and Enter opens the case.",
        "points": POINTS,
        "no_sets": "Only point predictions are shown, and their sets have no size.",
        "no_width": "The credal width was not among the measures asked for.",
        "no_entropy": "The entropy was not among the measures asked for.",
        "none_kept": "This assay keeps no single cases.",
        "instance_hover": "case {instance}",
        "values_hover": "{x_name} {x}, {y_name} {y}",
        "mean_hover": "mean {mean} over {n} cases",
        "confidence_hover": "mean confidence {confidence}",
        "scatter_axes": {
            "width": ["NS", "credal width"],
            "ns-confidence": ["confidence", "NS"],
            "entropy-confidence": ["confidence", "entropy (nats)"],
        },
    }


def of_class_sets(assay: "Assay") -> str:
    """What a correct prediction is of class sets, in brackets; empty where there are none."""
    return "" if all(m.predicts_classes for m in assay.candidates) else " (class sets: those that hold the label)"


def _by_correctness(assay: "Assay") -> str:
    """The caption of the means by correctness; with several training runs it says what n counts."""
    counted = "" if all(m.n_runs == 1 for m in assay.candidates) else " of all training runs, which n counts together"
    sets = of_class_sets(assay)
    return f"Means over the cases{counted} that each model classifies correctly{sets} and over the others"


def _sample(assay: "Assay") -> dict[str, str]:
    """Which instances the scatter plots show, {n} of them or all."""
    total = count(assay.n_instances)
    runs = ", first training run" if any(m.n_runs > 1 for m in assay.candidates) else ""
    means = "Lines: means over all cases in ten bins of confidence."
    points = {
        "some": f"a random sample of {{n}} of the {total} cases, the same for every model",
        "all": part_of(assay.n_instances, assay.n_instances, "case"),
    }
    return {key: f"Points: {text}{runs}. {means}" for key, text in points.items()}


# Sentences on the models compared: the line above their table, and the kind of prediction of each model.

KINDS = {
    "Point": "point prediction",
    "Dirichlet": "Dirichlet",
    "Intervals": "probability intervals",
    "ClassSets": "class sets",
    "Masses": "belief function",
    "GaussianLogits": "Gaussian logits",
    "Answers": "right or wrong",
}


def compared_sentence(assay: "Assay") -> str:
    """How many models, cases and classes there are.

    Examples
    --------
    >>> import uqassay as uq
    >>> compared_sentence(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))
    '1 model on 1 case of 2 classes.'
    """
    groups, labels = "", ", labelled by distributions" if assay.labels.ndim == 2 else ""
    classes = "" if assay.of_answers else f" of {counted(assay.n_classes, 'class', 'classes')}"
    if assay.groups is not None:
        groups = f" ({counted(len(np.unique(assay.groups)), 'group')}, resampled whole)"
    return f"{counted(len(assay.candidates), 'model')}{_runs(assay)} on {cases_text(assay)}{groups}{classes}{labels}."


def _runs(assay: "Assay") -> str:
    runs = sorted({m.n_runs for m in assay.candidates})
    if runs[-1] == 1:
        return ""
    if len(runs) > 1:
        return f" ({runs[0]} to {runs[-1]} training runs)"
    return f" ({runs[0]} training runs{'' if len(assay.candidates) == 1 else ' each'})"


def kind_text(model: "ModelScores") -> str:
    """Kind of prediction of a model, and the number of runs."""
    if model.baseline:
        return "baseline"
    runs = f" · {model.n_runs} runs" if model.n_runs > 1 else ""
    if model.kind == "Members":
        return counted(model.n_points or 0, "member") + runs
    if model.kind == "Vertices":
        return counted(model.n_points or 0, "vertex", "vertices") + runs
    several = model.n_points is not None and model.n_points > 1
    if model.kind == "Answers" and model.states_confidence:
        return f"stated confidence{runs}"
    points = f", {count(model.n_points or 0)} {model.spanned_by or 'draws'}" if several else ""
    return KINDS.get(model.kind, model.kind) + points + runs


# Sentences that several sections of the page share: help, failures, the colour scheme.


def general_sentences() -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> general_sentences()["what_is"]
    'What is {title}?'
    """
    return {
        "what_is": "What is {title}?",
        "range": "{low} to {high}",
        "undefined_here": "not defined here",
        "undefined": "not defined",
        "chart_failed": "This chart could not be drawn: {problem}",
        "page_failed": "The rest of the page could not be drawn: {problem}",
        "copied": "Copied",
        "copy_by_key": "Selected: press Ctrl+C",
        "schemes": {"auto": "◐ auto", "light": "☀ light", "dark": "☾ dark"},
        "scheme": "Colour scheme: {scheme}",
        "scheme_auto": "Colour scheme: auto, as the system",
    }


# Look at instances: sentences of the lists of extremes, the picker and the pictures of credal sets.

LISTED_CLASSES = 12  # of which the bars show the probabilities, those of highest upper probability
BOUNDS = "the set's probability intervals, which contain it"


def instance_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> import uqassay as uq
    >>> instance_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))["picked"]
    'Case {instance}: {label}'
    """
    number = "Case {instance}" if assay.ids is None else "Case {instance} (row {row})"
    votes = ": most often labelled {label} ({share})" if assay.labels.ndim == 2 else ": {label}"
    losses = "d {distance}, NS {nonspecificity}, E {unified} at λ = {tradeoff}"
    if not order_of(assay).priced:
        losses = f"{loss_name(assay)} {{unified}}"
    return {
        "listed_classes": LISTED_CLASSES,
        "no_class": "several or none",
        "heads": {
            "instance": "Case",
            "label": "Label",
            "predicted": "Predicted by",
            "size": "Largest NS",
            "mean": "Mean d",
            "spread": "Spread of d",
            "model": "Model",
            "class": "Class",
            "lower": "Lower",
            "mean_prediction": "Mean",
            "upper": "Upper",
            "votes": "Share of the labels",
            "in_three": "Given the three of the triangle",
        },
        "pictures_data": "Probabilities of each class, as the pictures show them.",
        "extremes": {
            "most epistemic": "Greatest non-specificity of any model.",
            "most wrong": "Greatest mean distance over the models.",
            "most disputed": "Greatest spread of the distances between models.",
        },
        "predicted": "{label}: {models}",
        "picked": number + votes,
        "prediction": {
            "right": f"✓ predicts {{label}} ({{confidence}}); {losses}",
            "several": f"a set of several classes or none; {losses}",
            "wrong": f"✗ predicts {{label}} ({{confidence}}); {losses}",
        },
        "bars": _bars(assay),
        "triangle": (
            "Triangle: {first}, {second} and {third}, the label and the two other classes of highest upper probability; what "
            "each model says given that it is one of these three."
        ),
        "votes": "The cross is the distribution of the labels.",
        "first_run": (
            "Sets are those of the first training run." if any(m.n_runs > 1 for m in assay.candidates) else ""
        ),
        "bar": "{name}: {low} to {high}, mean {mean}",
        "bar_point": "{name}: {low}",
        "bar_spoken": "{name} {low} to {high}",
        "bars_spoken": "Probabilities: {bars}",
        "triangle_spoken": "Triangle of {first}, {second} and {third}: {note}",
        "mean_prediction": "mean prediction",
        "label_distribution": "label distribution",
        "label": "label",
        "share": "{how}; {share} of the mean prediction lies on these three",
        "little_share": "{how}; almost none of the mean prediction lies on these three",
        "sets": {m.name: set_text(m) for m in assay.candidates},
        **_problems(assay),
    }


def _bars(assay: "Assay") -> dict[str, str]:
    """Caption of the bars, for all classes or some of them."""
    words = (
        "Bars: lower to upper probability of each class, the tick is the mean prediction; classes by their highest upper "
        "probability in any model"
    )
    return {
        "all": f"{words}. The label is in bold.",
        "some": f"{words}, {{shown}} of {assay.n_classes} shown. The label is in bold.",
    }


def set_text(model: "ModelScores") -> dict[str, str]:
    """Description of a model's set in the triangle, for instances with and without their points on the page."""
    if model.n_points == 1:
        return {"held": "a point", "not_held": "a point"}
    if model.n_points is None:
        bounds = {"Intervals": "the intervals themselves", "ClassSets": "the class set itself"}.get(model.kind, BOUNDS)
        return {"held": bounds, "not_held": bounds}
    return {
        "held": f"hull of {count(model.n_points)} points",
        "not_held": f"{BOUNDS}; its points are kept for the extreme cases only",
    }


def _problems(assay: "Assay") -> dict[str, str]:
    """Reasons that a requested instance cannot be shown."""
    held = 0 if not assay.sets else len(next(iter(assay.sets.values())).rows)
    known = f"a number from 0 to {assay.n_instances - 1}" if assay.ids is None else "an id or a row number"
    part = f"the sets of {{held}} of {count(assay.n_instances)} cases"
    return {
        "give": f"Give {known}.",
        "not_held": f"This page holds {part}, and not of this one.",
        "no_such_id": f"No case on this page has that id; it holds {part}." if held else "",
    }


# How it was computed: conventions, procedures, versions, inputs, in words.

METHODS = {"student-t": "Student t", "hall": "Student t corrected for skewness (Hall)", "wilson": "Wilson"}  # of means
FURTHER_METHODS = {"delong": "DeLong", "u-statistic": "U-statistic"}
METHOD_HEADS = {
    "model": "Model",
    "kind": "Kind",
    "runs": "Runs",
    "points": "Points per set",
    "floored": "Rows floored",
    "notes": "Changes at reading",
    "hash": "SHA-256 of the arrays",
}  # of the table of inputs
SHORT = 0.1  # seconds; a shorter time is not written out


def method_sentences(assay: "Assay") -> dict[str, Any]:
    """Facts as pairs (term, description) in two lists, hashes apart, and words of the table of inputs.

    Examples
    --------
    >>> import uqassay as uq
    >>> text = method_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))
    >>> text["procedures"][1]
    ['shares of resamples', "2,000 draws with Student's t"]
    """
    return {
        "conventions": _conventions(assay),
        "procedures": _procedures(assay),
        "labels_hash": "SHA-256 of the label array",
        "seconds": _seconds(assay),
        "no_points": "the set is given by lower probabilities, not by points",
        "again": "Make this page again",
        "copy": "Copy",
        "time_taken": "time taken",
        "heads": METHOD_HEADS,
    }


def _conventions(assay: "Assay") -> list[list[str]]:
    s = assay.settings
    sets = "all events" if s.focal_sets is None else counted(len(s.focal_sets), "set")
    return [
        ["distance", definition_of(s.distance_metric).short],
        ["non-specificity", s.nonspecificity],
        ["convention", _convention(assay)],
        ["focal sets", sets],
        ["floor of probabilities", _floor(assay)],
        ["further measures", ", ".join(s.measures) or "none"],
        *([["λ of the findings", ", ".join(map(tradeoff, assay.tradeoffs))]] if order_of(assay).priced else []),
    ]


def _convention(assay: "Assay") -> str:
    if assay.settings.convention != "exact":
        return "paper: negative masses set to 0, rows renormalised"
    if any(note.code == "repaired" for m in assay.models for note in m.notes):
        return "exact, but negative masses of some rows were repaired on the way in (see below)"
    return "exact: masses are never clipped"


def _floor(assay: "Assay") -> str:
    s = assay.settings
    if s.floor is not None:
        return f"{s.floor:g}"
    why = "that of the paper's code" if s.convention == "paper" else "the same for all number types"
    return f"{_small(assay.models[0].floor)}, {why}"


def _small(floor: float) -> str:
    """A floor of probabilities with three digits, as 1.19e−7.

    Examples
    --------
    >>> _small(0.0), _small(1.1920929e-07), _small(1e-12)
    ('none', '1.19e−7', '1e−12')
    """
    if floor == 0 or math.isnan(floor):
        return "none"
    mantissa, _, exponent = f"{floor:.2e}".partition("e")
    digits = mantissa.rstrip("0").rstrip(".")
    return f"{digits}e{int(exponent)}".replace("-", "−").replace("e", "e" if int(exponent) < 0 else "e+")


def _procedures(assay: "Assay") -> list[list[str]]:
    versions = assay.provenance
    return [
        ["intervals", _intervals(assay)],
        ["shares of resamples", f"{count(assay.settings.n_draws)} draws with Student's t"],
        [
            "tests",
            "paired tests of all pairs (Student, Hall, unseen losses), adjusted for all pairs and every λ",
        ],
        ["seed", str(assay.settings.seed)],
        [
            "versions",
            f"uqassay {versions['uqassay']}, Python {versions['python']}, NumPy {versions['numpy']}, "
            f"SciPy {versions['scipy']}",
        ],
    ]


def _intervals(assay: "Assay") -> str:
    found = [r for r in assay.rows("findings") if r["metric"] != "accuracy" and not math.isnan(r["low"])]
    methods = list(dict.fromkeys(r["method"] for r in found))
    means = listed([METHODS[m] for m in methods if m in METHODS]) or "none"
    further = listed([_further(m) for m in methods if m not in METHODS])
    groups = "" if assay.groups is None else f", over {counted(len(np.unique(assay.groups)), 'group')}"
    ranking = f"; ranking of mistakes: {further}" if further else ""
    return f"{level_text(assay.settings.level)}; means: {means}{groups}; shares: Wilson{ranking}"


def _further(method: str) -> str:
    """A method of an interval and, in brackets, how it was used."""
    name, *how = method.split(", ")
    name = FURTHER_METHODS.get(name, name)
    return f"{name} ({', '.join(how)})" if how else name


def _seconds(assay: "Assay") -> str:
    seconds = assay.provenance.get("seconds")
    if seconds is None:
        return ""
    return f"less than {SHORT} s" if seconds < SHORT else f"{number(seconds, 1)} s"


# Many models: sentences of the choice of models, the filter of tables and the data of charts.

MOST_SHOWN = 8  # models of the top group that a chart shows by itself: as many as there are colours


def model_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> import uqassay as uq
    >>> model_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))["shown"]
    '{n} of {models} models are shown in the charts.'
    """
    at = at_tradeoff(assay)
    return {
        "data": "Data of this chart",
        "most": MOST_SHOWN,
        "choose": "Choose models",
        "shown": "{n} of {models} models are shown in the charts.",
        "follows": (
            f"{{n}} of {{models}} models are shown in the charts: the best {{most}} of the top group of {{top}}{at}{{own}}."
        ),
        "follows_whole": f"{{n}} of {{models}} models are shown in the charts: the top group{at}{{own}}.",
        "own": ", and {n} chosen by you",
        "others": " Grey: the others.",
        "find": "Find models by name",
        "top": "top group",
        "all": "all",
        "none": "none",
        "elided": ("In names, “…” stands for what they have in common; “Inputs” and the pointer show whole names."),
        "no_model": "No model is chosen.",
        "none_found": "No name contains these characters.",
        "filter": "Filter by name",
        "rows": "{n} of {rows} rows",
    }


# Rank sets: headings, notes and labels of the page's two pictures.


def rank_set_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> import uqassay as uq
    >>> rank_set_sentences(uq.assay({"m": uq.Members([[[0.9, 0.1], [0.8, 0.2]]])}, [0]))["at"]
    'mean E at λ = {tradeoff}'
    """
    level = level_text(assay.settings.level)
    return {
        "title": "Ranks that each model can have",
        "by": "by",
        "at": f"{loss_name(assay)}{at_tradeoff(assay)}",
        "note": (
            f"Bar: all ranks that the tests of all pairs leave open, {level} for all models at once. Dot: the rank in this "
            "test set. Full colour: no model is shown to be better (the top group). Dashed: a baseline."
        ),
        "top_title": "Top group at every λ",
        "top_note": (
            f"Coloured: no model is shown to be better at this λ ({level} for all λ at once). Pale: but a baseline has a "
            "lower mean E. Line: the λ chosen above."
        ),
        "never": "{n} of {models} models are in the top group at no λ.",
        "strip": "{model} is in the top group at λ {ranges}",
        "strip_empty": "{model} is in the top group at no λ",
        "bar": "{model}: ranks {ranks}",
        "no_value": "undefined",
        "heads": {
            "model": "Model",
            "ranks": "Ranks",
            "value": "Value",
            "range": "Ranks from 1 to {models}",
            "top": "λ",
        },
        "limited": limit_notes(assay),
        "marks": MARKS,
    }


# The finding that each fixed section of the page begins with.

NUMBERS = "The evidence", "The differences behind the answer, with p-values and intervals."  # the title and the finding
SHOWN_NAMES = 3  # before the others are counted


def at_tradeoff(assay: "Assay") -> str:
    """ " at λ = …" as a template; nothing where no model has a set."""
    return " at λ = {tradeoff}" if order_of(assay).priced else ""


def order_templates(assay: "Assay") -> dict[str, str]:
    """The sentence on the order at one λ by the kind of the finding."""
    loss = loss_name(assay)
    if order_of(assay).priced:
        lowest, start = f"At λ = {{tradeoff}} {{who}} the lowest {loss}, {{estimate}}", "At λ = {tradeoff} the"
        best, no_model = f"{lowest}, and is the best of the {{models}} models", "At λ = {tradeoff} no"
    else:
        lowest, start, no_model = f"The lowest {loss}, {{estimate}}, is that of {{who}}", "The", "No"
        best = f"{lowest}, the best of the {{models}} models"
    return {
        "infinite": f"{no_model} model has a finite {loss}.",
        "only": f"{start} {loss} of {{model}}, the only model, is {{estimate}}{{end}}",
        "alone": f"{lowest}{{end}}",
        "best": f"{best}{{end}}",
        "within": f"{lowest}{{end}}",
        "equal": f"{lowest}; which is better cannot be told{{end}}",
        "tied": f"{lowest}; {{others}} could be as good{{end}}",
        "untested": f"{lowest}; whether {{others}} could be as good cannot be tested{{end}}",
    }


def section_findings(assay: "Assay") -> dict[str, str]:
    """One sentence each for the sections "choose", "why", "instances" and "how".

    Examples
    --------
    >>> import uqassay as uq
    >>> found = section_findings(uq.assay({"m": uq.Point([[0.9, 0.1], [0.2, 0.8]])}, [0, 0]))
    >>> found["instances"]
    'm is wrong on 1 of the 2 cases.'
    """
    return {
        "choose": order_finding(assay, DEFAULT_TRADEOFF),
        "why": _why(assay),
        "instances": _instances(assay),
        "how": _how(assay),
    }


# -- the order at one λ ------------------------------------------------------------------------------------------------


def order_values(assay: "Assay", at: float) -> dict[str, Any]:
    """Kind of the finding at one λ, which is a key of `order_templates`, and its values but λ and the estimate."""
    settings = assay.settings
    alpha = 1 - settings.level
    ranked = [r for r in assay.ranked(at) if r.rank is not None]
    winner, rivals = ranked[0], [r for r in ranked[1:] if not math.isinf(r.estimate)]
    level_with = [r for r in rivals if r.top]
    near = [r for r in rivals if r.pvalue_no_worse <= alpha]  # also of models that are shown to be worse
    rest = [r for r in level_with if r not in near]
    lowest = lowest_of(ranked)
    loose = [r.model for r in rest if r.model not in lowest]
    others, shown = listed_names(loose, most=SHOWN_NAMES), could_have_shown([r.detectable for r in rest])
    clauses, within = [], list[str]()
    if near and settings.margin is not None:
        within = [within_margin([r.model for r in near], settings.margin, [r.pvalue_no_worse for r in near])]
    said = "alone"
    if not math.isfinite(winner.estimate):
        said = "infinite"
    elif len(ranked) == 1:
        said = "only"
    elif winner.rank_high == 1:
        said, clauses = "best", within
    elif level_with:
        said, clauses = "tied" if loose else "equal", within
        if any(math.isnan(r.pvalue_adjusted) for r in level_with):
            said = "untested" if loose else "alone"
        elif len(rest) < len(level_with):
            said = "within"
            clauses = [*within, *([f"{others} could be as good"] if loose else [])]
        clauses = [*clauses, *([shown] if shown else [])]
    priced, below = order_of(assay).priced, [name for name in winner.below if name in order_of(assay).yardsticks]
    if below:
        clauses.append(_lower(below))
    return {
        "said": said,
        "model": winner.model,
        "who": listed_names(lowest, most=SHOWN_NAMES) + (f" {'has' if len(lowest) == 1 else 'have'}" if priced else ""),
        "models": len(ranked),
        "others": others,
        "end": "".join(f"; {clause}" for clause in clauses) + ".",
    }


def _lower(baselines: Sequence[str]) -> str:
    if len(baselines) == 1:
        return f"the baseline {baselines[0]} has a lower one"
    return f"the baselines {listed(baselines)} have lower ones"


def order_finding(assay: "Assay", at: float) -> str:
    """Which model has the lowest mean E at one λ, which are no worse by a margin, and which could be as good."""
    values = order_values(assay, at)
    estimate = next(float(r.estimate) for r in assay.ranked(at) if r.model == values["model"])
    shown = {"tradeoff": tradeoff(at), "estimate": number(estimate, bounded=True)}
    return order_templates(assay)[values["said"]].format(**values, **shown)


# -- why -----------------------------------------------------------------------------------------------------------------


def _why(assay: "Assay") -> str:
    """Which model is nearest to the labels, and which says the most precise sets."""
    distance = {m.name: assay.overall(m.columns["distance"]) for m in assay.candidates}
    size = {m.name: assay.overall(m.columns["nonspecificity"]) for m in assay.candidates}
    precise = [m.name for m in assay.candidates if m.n_points == 1]
    sets = [name for name in size if name not in precise]
    near, far = min(distance, key=lambda name: distance[name]), number(min(distance.values()), bounded=True)
    one_set = f"one distribution per case{'' if sets else ', not a set'}"
    if len(distance) == 1:
        if precise:
            return f"{near} predicts {one_set}; its mean distance to the label is {far}."
        mean = number(size[near], bounded=True)
        return f"The mean distance of {near} to the label is {far}, its mean non-specificity {mean}."
    nearest: list[str] = []
    if math.isinf(distance[near]):
        start = "The mean distance to the label is infinite for every model"
    else:
        nearest = [name for name in distance if distance[name] == distance[near]]
        who = f"{listed_names(nearest, most=SHOWN_NAMES)} {'is' if len(nearest) == 1 else 'are'}"
        start = f"In this test set {who} nearest to the labels (mean distance {far})"
    if not sets:
        return f"{start}; every model predicts {one_set}."
    small = min(sets, key=lambda name: size[name])
    mean = number(size[small], bounded=True)
    if precise:
        verb = "predicts" if len(precise) == 1 else "predict"
        rest = "" if len(sets) == 1 else " the smallest"
        points = f"{listed_names(precise, most=SHOWN_NAMES)} {verb} {one_set}"
        return f"{start}; {points}, and {small} has{rest} sets of mean non-specificity {mean}."
    smallest = [name for name in sets if size[name] == size[small]]
    if len(smallest) == 1 and nearest == smallest:
        return f"{start}; it also has the smallest sets (mean non-specificity {mean})."
    who = f"{listed_names(smallest, most=SHOWN_NAMES)} {'has' if len(smallest) == 1 else 'have'}"
    return f"{start}; {who} the smallest sets (mean non-specificity {mean})."


# -- instances and method ------------------------------------------------------------------------------------------------


def _instances(assay: "Assay") -> str:
    """On how many instances every model is wrong, and on how many models disagree about the class."""
    models = [m for m in assay.candidates if m.predicts_classes]
    if not models:
        return ""
    labels = np.stack([m.columns["label"][0] for m in models])  # (J, n) of the first training run
    wrong = int((labels != assay.classes).all(axis=0).sum())
    split = int((labels != labels[:1]).any(axis=0).sum())
    runs = " in the first training run" if any(m.n_runs > 1 for m in assay.candidates) else ""
    of_all = f"{count(wrong)} of the {counted(assay.n_instances, 'case')}"
    if len(labels) == 1:
        return f"{models[0].name} is wrong on {of_all}{runs}."
    disagree = f"the models disagree about the class of {count(split)}"
    if not wrong:
        each = "the only case" if assay.n_instances == 1 else f"each of the {counted(assay.n_instances, 'case')}"
        return f"At least one model is right on {each}{runs}; {disagree}."
    every = "Both models are" if len(labels) == 2 else "Every model is"
    return f"{every} wrong on {of_all}{runs}; {disagree}."


def _how(assay: "Assay") -> str:
    """What decides the numbers: level, seed, version, and the rows whose probabilities were raised to the floor."""
    floored = {m.name: m.floored for m in assay.candidates if m.floored}
    rows = "no row needed the floor of probabilities"
    if assay.of_answers:
        rows = "answers are judged as right or wrong"
    elif floored:
        who = listed([f"{named(name)} ({count(n)})" for name, n in floored.items()], most=SHOWN_NAMES)
        rows = f"rows with a label less probable than the floor: {who}"
    version = assay.provenance["uqassay"]
    level = "no intervals" if assay.n_units == 1 else f"{level_text(assay.settings.level)} intervals"
    return f"{level}, seed {assay.settings.seed}, uqassay {version}; {rows}."


# Choose λ: sentences of the slider, the strip of winners, the questionnaire and the live ranking.

Winners = Sequence[tuple[float, float, Sequence[str]]]

COSTS = {0.01: "a hundredth", 0.02: "a fiftieth", 0.05: "a twentieth", 0.1: "a tenth", 0.2: "a fifth", 1 / 3: "a third"}

RANKING_HEADS = {
    "model": "Model",
    "difference": "Difference to best",
    "pvalue": "p (adjusted)",
    "ranks": "Ranks",
    "wins": "Resamples won",
    "below": "ahead below it",
    "above": "ahead above it",
}


def ranking_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name; "below" has a text for every set of baselines that may have a lower mean E than a model.

    Examples
    --------
    >>> import uqassay as uq
    >>> text = ranking_sentences(uq.assay({"m": uq.Members([[[0.9, 0.1], [0.8, 0.2]]])}, [0]))
    >>> text["next_change"], text["below"]["vacuous"]
    ('The order changes next at λ = {tradeoff}, where {above} passes {below}.', '⚠ vacuous has a lower mean E')
    """
    priced, loss = order_of(assay).priced, loss_name(assay)
    yardsticks = order_of(assay).yardsticks
    below = [names for k in range(1, len(yardsticks) + 1) for names in combinations(yardsticks, k)]
    return {
        "at": "λ = {tradeoff}",
        "strip": "Share of resamples that each model wins, against λ",
        "strip_data": "Share of resamples that each model wins at some λ; bold: the lowest mean E.",
        "from_to": "λ {low} to {high}",
        "scale": f"{'E' if priced else loss} from 0 to {{limit}}",
        "below": {
            ",".join(names): f"⚠ {listed_names(names)} {'have' if len(names) > 1 else 'has'} a lower {loss_name(assay)}"
            for names in below
        },
        "no_mean": "no finite mean",
        "is_best": "the best model itself",
        "is_baseline": "baselines are not candidates",
        "no_test": "no test with so few cases",
        "no_resampling": _no_resampling(assay),
        "next_change": "The order changes next at λ = {tradeoff}, where {above} passes {below}.",
        "no_change": "The order stays like this for every larger λ.",
        "findings": order_templates(assay),
        "spoken": "At λ = {tradeoff}: {places}" if priced else "{places}",
        "place": "{rank}. {model}, {estimate}.",
        "set": "Set λ = {tradeoff}",
        "heads": RANKING_HEADS | {"mean": f"{loss[0].upper()}{loss[1:]}"},
    }


def _no_resampling(assay: "Assay") -> str:
    return f"{only_unit(assay)}: nothing to resample"


def beyond_sentence(assay: "Assay", winners: Winners, top: float) -> str:
    """Winners beyond the largest λ of the slider, and why shares of resamples are undefined where they are."""
    later = [f"from λ = {tradeoff(low)} on {listed_names(names)}" for low, _, names in winners if low > top]
    said = [f"Beyond the end of the slider the winner changes again: {'; '.join(later)}."] if later else []
    if assay.n_units == 1:
        said.append(f"Shares of resamples are undefined ({_no_resampling(assay)}).")
    return " ".join(said)


def winner_sentence(low: float, high: float, names: Sequence[str], top: float) -> str:
    """Where some models win, in words.

    Examples
    --------
    >>> winner_sentence(0.25, float("inf"), ["a", "b"], 2.0)
    'a and b: λ from 0.25 to ∞'
    """
    return f"{listed_names(names)}: λ from {tradeoff(min(low, top))} to {tradeoff(high)}"


def answer_sentence(low: float, high: float, reason: str, winners: Winners) -> str:
    """The λ that answers of the questionnaire ask for, why, and who wins there."""
    inside = [listed_names(names) for start, end, names in winners if start < high and end > low]
    won = f"{inside[0]} has the lowest mean E throughout." if len(inside) == 1 else ""
    if len(inside) > 1:
        won = f"The winner changes inside: {', then '.join(inside)}."
    return " ".join(filter(None, (f"λ from {tradeoff(low)} to {tradeoff(high)}.", reason, won)))


def cost_label(cost: float) -> str:
    """How much passing a case on costs, compared with a mistake.

    Examples
    --------
    >>> cost_label(0.1), cost_label(0.5), cost_label(1.0)
    ('a tenth as much', 'half as much', 'as much')
    """
    if cost == 1:
        return "as much"
    return "half as much" if cost == 0.5 else f"{COSTS.get(cost, f'{cost:g}')} as much"


# The page's sentences, all made here.
#
# A sentence that is the same wherever the slider stands is sent whole. One whose numbers or names change on the page is
# sent as a template with places such as ``{tradeoff}``; the page's `fillTemplate` puts numbers and names there and
# writes nothing itself. Names that come from data are never part of a template, so that a brace in a name is no place.


def page_sentences(assay: "Assay") -> dict[str, Any]:
    """Sentences and templates of the page's fixed sections, by section; those of the lenses are made with the lenses."""
    return {
        "general": general_sentences(),
        "ranking": ranking_sentences(assay),
        "rank_sets": rank_set_sentences(assay),
        "charts": chart_sentences(assay),
        "models": model_sentences(assay),
        "instances": instance_sentences(assay),
        "method": method_sentences(assay),
    }


# The answer card: what to choose, what cannot be told from it, the stretches of λ, and what the words mean.

CAUTION = "Warnings"
CONCERNING: Mapping[str, str] = {  # cautions that change how much to believe the answer, by their code
    "few-instances": "few cases",
    "few-groups": "few groups",
    "few-heavy-cases": "few cases that bear much of the weight",
    "different-runs": "different numbers of training runs",
    "different-numbers-of-members": "different numbers of members",
    "floored": "labels that a model held to be impossible",
    "estimated-nonspecificity": "an estimated non-specificity",
    "solver-gap": "an inexact distance",
    "weights": "weighted cases",
    "ignored-label": "cases left out",
    "labels-by-columns": "labels taken by the order of the columns",
    "baseline-left-out": "a baseline left out",
}
FURTHER: Mapping[str, str] = {
    "prediction": "how predictions were read",
    "certain-answers": "wrong answers that were stated as certain",
    "absent-classes": "classes that never occur",
    "backward-score": "an uncertainty that ranks mistakes backwards",
    "no-calibration-test": "calibration tests",
    "dependent-labels": "calibration tests",
    "calibration-sample": "calibration tests",
}
BASELINES: Mapping[str, str] = {
    "vacuous": "saying nothing, which is to allow every distribution",
    "class-prior": "always giving the class frequencies",
}


def depends_sentence(answer: Answer) -> str:
    """Above several choices: that λ decides between them, and what all of them rest on; empty above one."""
    if len(answer.choices) < 2:
        return ""
    rests_on = condition(answer)
    return f"The choice depends on λ{f', and holds {rests_on}' if rests_on else ''}."


AS_GOOD = "No model is shown to be better. Of a model that is not as good, some model is."


class Statement(NamedTuple):
    """One statement of the card."""

    before: str  #: Words before the names.
    models: tuple[str, ...]  #: Names that are set in large type.
    after: str = ""  #: Words behind the names, in the same type.
    where: str = ""  #: For which λ and under which condition it holds.
    #: Lines about the other models: a label and names; of no names, a sentence.
    others: tuple[tuple[str, tuple[str, ...]], ...] = ()


def answer_choices(answer: Answer) -> list[Statement]:
    """What the card says in large type.

    Examples
    --------
    >>> import uqassay as uq
    >>> (one,) = answer_choices(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]).answer())
    >>> one.before, one.where
    ('Nothing can be told', 'From 1 case nothing can be said about other cases.')
    """
    one = len(answer.models) == 1
    if answer.kind == "none":
        better = "saying nothing or giving the class frequencies is better."
        where = f"At every λ {better}" if answer.priced else "Giving the class frequencies is better."
        return [
            Statement("", answer.models, "is not worth using", where)
            if one
            else Statement("No model is worth using", (), "", where)
        ]
    if answer.kind == "choose":
        return [_choice(answer, c) for c in answer.choices]
    start = {"infinite": "No model can be chosen"}.get(answer.kind, "Nothing can be told")
    first, *more = headline(answer)
    return [Statement(start, (), "", first, tuple((text, ()) for text in more if answer.kind == "one-unit"))]


def _choice(answer: Answer, c: Recommendation) -> Statement:
    where = holds_where(answer, c)
    if len(answer.models) == 1 and not answer.baselines:
        return Statement("", c.models, "is the only model", "There is nothing to choose.")
    if len(answer.models) == 1:
        return Statement("", c.models, "is worth using", where)
    return Statement("Choose", c.models, "", where, _others(answer, c))


def _others(answer: Answer, c: Recommendation) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Lines about the models that are not chosen; the first, of several chosen models, about these."""
    lines: list[tuple[str, tuple[str, ...]]] = []
    if len(c.models) > 1:
        each = f"Where each of {'the two' if len(c.models) == 2 else 'these'}"
        lines.append((f"{each if len(c.lowest) > 1 else 'Which of them'} is better cannot be told.", ()))
    if c.tied:
        lines.append(("Could be as good", c.tied))
    if c.partly:
        lines.append((_worse_somewhere(c), c.partly))
    if c.worse:
        lines.append((f"Not as good{' at any of these λ' if answer.priced else ''}", c.worse))
    return tuple(lines)


def _worse_somewhere(c: Recommendation) -> str:
    """Of a single model, also where."""
    (low, high), *more = c.told[c.partly[0]]
    if len(c.partly) == 1 and not more:
        if low <= c.low:
            return f"Not as good up to λ = {tradeoff(high)}"
        if high >= c.high:
            return f"Not as good from λ = {tradeoff(low)} on"
    return "Not as good at some of these λ"


# -- the axis of λ -------------------------------------------------------------------------------------------------------

AXIS = {
    "none": "no model",
    "open": "cannot be told",
    "start": "λ = 0: nothing",
    "end": "λ = {top}: much",
    "default": "λ = {default}, used on this page",
    "until": "until you choose another",
}


def axis_text(answer: Answer, default: float) -> dict[str, str]:
    """Words around the axis, and the whole of it in a sentence, for those who do not see it."""
    said = [stretch_text(s, answer.top) for s in answer.stretches if s.low < answer.top]
    values = {"top": tradeoff(answer.top), "default": tradeoff(default)}
    text = {name: words.format_map(values) for name, words in AXIS.items()}
    return text | {"whole": f"λ from 0 to {tradeoff(answer.top)}: {', '.join(said)}"}


def stretch_text(stretch: Stretch, top: float) -> str:
    """A stretch of the axis in words.

    Examples
    --------
    >>> stretch_text(Stretch(0.25, 9.0, "choose", ("a", "b")), 2.0), stretch_text(Stretch(0.0, 0.2, "none"), 2.0)
    ('choose a or b from 0.25 to 2', 'no model is worth using from 0 to 0.2')
    """
    said = {"none": "no model is worth using", "open": "nothing can be told"}.get(stretch.kind, "")
    said = said or f"choose {listed_names(stretch.models, last='or', most=3)}"
    return f"{said} from {tradeoff(stretch.low)} to {tradeoff(min(stretch.high, top))}"


def answer_remarks(answer: Answer) -> list[tuple[str, str]]:
    """Sentences below the axis, each with the kind of the stretches that it is about."""
    if answer.kind in ("none", "one-unit", "infinite"):
        return []
    found = [(kind, sentence([text])) for kind, text in none_clauses(answer)]
    if any(a.high < b.low for a, b in pairwise(answer.choices)):
        found.append(("open", "Between these ranges it cannot be told which to choose."))
    return found


# -- the words -----------------------------------------------------------------------------------------------------------


def meanings(
    baselines: Sequence[str], loss: str, *, votes: bool, price: bool, several: bool = True
) -> list[tuple[str, str]]:
    """What E, its terms, "worth using" and "could be as good" mean, in everyday words.

    Parameters
    ----------
    baselines : sequence of str
        Their names; none of answers, which are right or wrong.
    loss : str
        What is compared, as in `Answer`.
    votes : bool
        Whether labels are distributions.
    price : bool
        Whether λ, which the axis explains, is explained here.
    several : bool
        Whether there are models that could be as good, or not.
    """
    if not baselines:
        return [
            (f"{loss[0].upper()}{loss[1:]}", "Share of the answers that are wrong; lower is better."),
            ("Choose", "No model is shown to answer more questions right."),
        ]
    right = "it is the distribution of the labels" if votes else "it gives the true class the probability 1"
    worth = f"Shown to have a lower {loss} than {', and than '.join(BASELINES[name] for name in baselines)}."
    last = [("Worth using", worth), *([("Could be as good", AS_GOOD)] if several else [])]
    if loss != MEAN_E:
        what = f"How far a prediction is from what happened; 0 if {right}. Its mean over all cases counts; lower is better."
        return [(f"{loss[0].upper()}{loss[1:]}", what), *last]
    return [
        *([("λ", f"{PRICE.removeprefix('λ: ').capitalize()}.")] if price else []),
        (
            "E = distance + λ · non-specificity",
            "The cost of a prediction. Its mean over all cases is compared; lower is better.",
        ),
        (
            "Distance: how wrong",
            "A prediction allows one probability distribution over the classes, or a set of them. The one nearest to what "
            f"happened counts; 0 if {right}.",
        ),
        (
            "Non-specificity: how vague",
            "The size of that set: 0 if it is one distribution, greatest if every one is allowed.",
        ),
        *last,
    ]


# -- warnings ------------------------------------------------------------------------------------------------------------


def caution_finding(codes: Sequence[str]) -> str:
    """How many warnings there are and what they are about; first those that change how much to believe the answer.

    Examples
    --------
    >>> caution_finding(["few-groups", "prediction", "floored"])
    '2 warnings on the answer: few groups and labels that a model held to be impossible; 1 more: how predictions were read.'
    >>> caution_finding(["dependent-labels", "dependent-labels"])
    '2 warnings: calibration tests.'
    """
    first = [CONCERNING[code] for code in codes if code in CONCERNING]
    rest = [FURTHER[code] for code in codes if code in FURTHER]
    start = f"{counted(len(first), 'warning')} on the answer: {listed(list(dict.fromkeys(first)))}"
    more = listed(list(dict.fromkeys(rest)))
    if not first:
        return f"{counted(len(rest), 'warning')}: {more}."
    return f"{start}; {len(rest)} more: {more}." if rest else f"{start}."


def more_warnings(n: int) -> str:
    """Over further warnings on the answer, which unfold."""
    return f"{counted(n, 'more warning')} on the answer"


# Can it be calibrated: sentences of the tests, of the pictures of one test, and of the reliability diagrams.

FEW = 30  # instances in a bin below which its accuracy says little
MOST_NAMES = 4
OUTCOMES = {"rejected": "no mixture is", "passed": "not rejected", "undefined": "undefined"}
IN_THE_NOTE = ("sample", "option")  # codes of notes that the page words with the numbers they are about


def decimals_of(values: Iterable[float], more: int = 0) -> int:
    """Decimals that show two digits of the typical value, and `more`; from 0 to 5.

    Examples
    --------
    >>> decimals_of([0.012, 0.034, 0.05]), decimals_of([0.012], 1), decimals_of([float("nan")])
    (3, 4, 3)
    """
    sizes = sorted(abs(v) for v in values if np.isfinite(v) and v != 0)
    if not sizes:
        return 3
    return int(np.clip(1 + more - np.floor(np.log10(sizes[len(sizes) // 2])), 0, 5))


# -- all tests ---------------------------------------------------------------------------------------------------------


def words_of_test(judged: JudgedTest) -> str:
    """The result of one test and its consequence, in one or two sentences."""
    return " ".join((claim(judged), *advice(judged)))


def outcome_text(judged: JudgedTest) -> str:
    """The outcome in a word or two, as in a cell of the table."""
    if judged.test.tested == "nothing":
        return "not tested"
    if judged.outcome == "rejected" and judged.test.n_members < 2:
        return "not calibrated"
    return OUTCOMES[judged.outcome]


def sentences_around_tests(judged: Sequence[JudgedTest], n_tests: int) -> dict[str, Any]:
    """Sentences and templates around the tests."""
    adjusted = f"p-values are adjusted by Holm for the {n_tests} tests." if n_tests > 1 else ""
    note = (
        "A mixture weighs the members’ predictions. If some mixture is calibrated, its probabilities can be taken at their "
        "word; if none is, the truth lies outside the set that the members span."
    )
    proof = "Passing is no proof of calibration: few cases, or a measure of another property, can hide errors."
    return {
        "note": note,
        "how": " ".join(filter(None, (f"Tested on {_tested(judged)}.", adjusted, proof))),
        "all": "Each test in words, with what to do",
        "table": "Tests of calibration",
        "caption": "p-values of the model’s mean and of single members are of separate tests, not adjusted.",
        "pvalue_title": "p",
        "mean_alone": "the mean is all that was tested",
        "no_members": "no members",
        "question": "– has the model, or some mixture of its members, the right {property}?",
        "heads": {
            "model": "Model",
            "outcome": "Outcome",
            "minimum": "Minimum found",
            "mean": "Model’s mean",
            "members": "Single members",
            "width": "Width of the set",
        },
    }


def _tested(judged: Sequence[JudgedTest]) -> str:
    """On how many instances the tests were made."""
    parts = []
    for test in (j.test for j in judged if j.test.tested != "nothing"):
        if test.n_tested < test.n_instances:
            parts.append(f"{count(test.n_tested)} of the {counted(test.n_instances, 'case')}")
        else:
            parts.append(f"{'all ' if test.n_tested > 1 else ''}{counted(test.n_instances, 'case')}")
    return listed(list(dict.fromkeys(parts)))


def cautions(judged: Sequence[JudgedTest]) -> list[str]:
    """The notes of the tests, each once, with the models that it is about."""
    out = []
    notes: dict[Note, list[str]] = {}
    unsettled = max((n for j in judged for n in j.test.notes if n.code == "not-settled"), key=_spread, default=None)
    for j in judged:
        for note in j.test.notes if j.outcome != "undefined" else ():
            told = (
                unsettled if unsettled is not None and note.code == "not-settled" else note
            )  # the widest spread alone
            if note.code not in IN_THE_NOTE and j.test.model not in notes.setdefault(told, []):
                notes[told].append(j.test.model)
    n_models = len({j.test.model for j in judged})
    for note, names in notes.items():
        whose = "" if len(names) == n_models else f" ({listed_names(names, most=MOST_NAMES)})"
        out.append(f"{note.text[0].upper()}{note.text[1:]}{whose}.")
    return out


def _spread(note: Note) -> float:
    return float(note.facts["spread"])


# -- the confidence of every model -------------------------------------------------------------------------------------


def confidence_text(gap: float, low: float, high: float) -> str:
    """Whether mean confidence and accuracy agree, by the interval of the accuracy.

    Examples
    --------
    >>> confidence_text(0.01, 0.7, 0.8), confidence_text(0.2, 0.7, 0.8), confidence_text(0.2, float("nan"), 0.8)
    ('within the interval', 'too sure', 'no interval to judge by')
    """
    half = (high - low) / 2
    if not half > 0:
        return "no interval to judge by"
    if abs(gap) <= half:
        return "within the interval"
    return "too sure" if gap > 0 else "too unsure"


def confidence_finding(judged: Mapping[str, str]) -> str:
    """Which models are too sure or too unsure on average; `judged` by model, as `confidence_text` has it.

    Examples
    --------
    >>> confidence_finding({"a": "too sure", "b": "within the interval", "c": "too unsure"})
    'a is too sure on average; c is too unsure on average; the mean confidence of b is within the interval of its accuracy.'
    """
    names = {how: [m for m, found in judged.items() if found == how] for how in judged.values()}
    clauses = []
    for how in ("too sure", "too unsure"):
        if found := names.get(how, []):
            verb = "is" if len(found) == 1 else "are"
            clauses.append(f"{listed_names(found, most=MOST_NAMES)} {verb} {how} on average")
    if found := names.get("within the interval", []):
        clauses.append(
            f"the mean confidence of {listed_names(found, most=MOST_NAMES)} is within the interval of "
            f"{'its' if len(found) == 1 else 'their'} accuracy"
        )
    if not clauses:
        return "Without an interval of the accuracy, nothing can be said about the confidence."
    text = "; ".join(clauses)
    return f"{text if clauses[0].split(' ')[0] != 'the' else text[0].upper() + text[1:]}."


def reliability_sentences(level: float, *, votes: bool, tested: bool) -> dict[str, Any]:
    """Sentences of the reliability diagram of all models and of its table."""
    labels = (
        " The labels are distributions, so accuracy is the share of the votes for the predicted class, and confidence is held "
        "against that share."
    )
    return {
        "title": "How far off is the confidence of each model?" if tested else "",
        "note": (
            "Gap: mean confidence minus accuracy. A model can be too sure in one place and too unsure in another; then the "
            "gap is small and the ECE is not. Under the ECE: its interval, which begins at 0 where the model could be "
            f"calibrated, and the classwise ECE.{labels if votes else ''}"
        ),
        "heads": {
            "model": "Model",
            "accuracy": "Accuracy",
            "confidence": "Mean confidence",
            "gap": "Gap, points",
            "ece": "ECE",
        },
        "table": "Confidence and accuracy of each model",
        "classwise": "classwise {estimate}",
        "shown": f"Shown in single bins, all bins of a model together at {level_text(level)}:",
    }


# Does it know when it is wrong: sentences of rankings, curves, paired tests and the table of metrics.
#
# One set of sentences ("view") for every score that can be chosen; the share refused and the numbers
# that depend on it are filled in by the page.

BEST = ""  # in the place of a score's name: each model by its best one
COUNTS = ("groups", "runs")  # codes of notes that the page states once for all numbers
FLATTERED = (
    "The best score of a model has the highest UQ-AUC on these cases; it is judged on the same ones, which flatters it a "
    "little."
)
CHOSEN = "Best scores were chosen on the same cases, so these p-values are somewhat too small."


# -- the whole section -------------------------------------------------------------------------------------------------


def mistakes_sentences(assay: "Assay") -> dict[str, Any]:
    """Sentences and templates that no choice on the page changes, but for numbers."""
    level, several = level_text(assay.settings.level), len(assay.model_names) > 1
    votes = assay.labels.ndim == 2
    best = _best_words(assay)
    return {
        "lead": (
            "A model knows when it is wrong if its mistakes are more uncertain than its right predictions. Then fewer are left "
            "when the most uncertain predictions are refused, or passed on to a person. Whether more data would help is not "
            "tested on this page: uqassay gain tests it."
        ),
        "best": best,
        "best_title": best[0].upper() + best[1:],
        "by_score": "Uncertainty by",
        "refuse": "Refuse",
        "compare": "Compare",
        "by": "by",
        "rows": "Rows",
        "heads": {
            "model": "Model",
            "score": "Score",
            "all": "Accuracy of all",
            "gain": "Gain, points",
            "outcome": "Outcome",
        },
        "votes": "Accuracy is the share of the votes for the predicted class." if votes else "",
        "alone": f"{level} intervals of each model alone; the finding above adjusts its own for the choice of the model.",
        "refusal_title": "The gain from refusing",
        "refusal_table": "The gain from refusing",
        "kept": "Accuracy of the {share} kept",
        "outcomes": {"gain": "", "none": "could be chance", "loss": "it falls", "unknown": "no interval"},
        "ranking_title": "How well the mistakes are ranked",
        "layouts": {
            "short": f"best {'scores' if several else 'score'} and total entropy",
            "score": "all, by score",
            "model": "all, by model",
        },
        "ranking_note": (
            "A random ordering has ½, the vertical line. “◂½” at the left end of an axis means that the axis starts above ½. "
            f"{level} intervals, sorted by UQ-AUC."
        ),
        "backward": "backward",
        "flattered": FLATTERED,
        "left_out": _left_out(assay),
        "few_curves": "Curves are drawn by total entropy and by each model’s best score.",
        "tests_title": "Could the differences be chance?",
        "the_models": "the models",
        "the_scores": "the scores of {model}",
        "point_at": "Point at a cell, or move with the arrow keys, for the difference with its interval.",
        "matrix": _matrix_templates(assay),
        "metrics_title": "All ranking metrics",
    }


def backward_note(found: Sequence[BackwardScore]) -> str:
    """Note below the rankings that explains the mark of backward scores; empty if there are none."""
    if not found:
        return ""
    joint = f", jointly for {counted(found[0].n_tests, 'score')}" if found[0].n_tests > 1 else ""
    return (
        f"“backward”: shown to have a UQ-AUC below ½ ({level_text(found[0].level)}{joint}), so its mistakes are among the last "
        "to be refused. The intervals drawn here are for each score on its own."
    )


def _best_words(assay: "Assay") -> str:
    return "each model's best score" if len(assay.model_names) > 1 else "its best score"


def _left_out(assay: "Assay") -> str:
    """Scores that rank nothing, by model."""
    said = []
    for model in assay.model_names:
        constant = [score_label(s) for s in assay.uncertainty_names(model) if is_constant(assay[model].columns[s])]
        if constant:
            said.append(f"Left out, since the same in every case: {listed(constant)} of {model}.")
    return " ".join(said)


def _matrix_templates(assay: "Assay") -> dict[str, str]:
    """Templates for a cell of the matrix of paired tests."""
    only = only_unit(assay)
    untested = "no test, for the difference does not vary over the cases"
    if assay.n_units == 1:
        untested = f"no test, for there is only {only}"
    values = "{row} against {column}: {metric} {row_value} − {column_value} = {difference}"
    tested = f"{values} ({{low}} to {{high}}), {{pvalue}}"
    return {
        "label": "Paired tests, {metric}",
        "by": "{name} ({score})",
        "own": "{row}: {metric} {row_value}",
        "untested": f"{values}; {untested}",
        "same": f"{values}; the two agree on every case",
        "chance": f"{tested}{{adjusted}}: could be chance; {{shown}}",
        "shown": "a true difference of {difference} would have been found 4 times in 5",
        "shown_none": "no difference could have been found",
        "better": f"{tested}{{adjusted}}: {{better}} ranks better",
        "adjusted": " (adjusted)",
        "same_order": "same order",
        "no_test": "no test",
        "pvalue": "p {pvalue}",
    }


# -- one score ---------------------------------------------------------------------------------------------------------


def view_sentences(assay: "Assay", score: str, absent: Mapping[str, str], notes: Sequence[str]) -> dict[str, Any]:
    """Sentences that follow the chosen score.

    Parameters
    ----------
    assay : Assay
    score : str
        `BEST` for each model's best one.
    absent : mapping of str to str
        Models that cannot be judged by it, with the reason.
    notes : sequence of str
        Remarks on the metrics.
    """
    by = score_label(score) if score else _best_words(assay)
    left = "; ".join(f"{model} ({why})" for model, why in absent.items())
    return {
        "score": score,
        "by": by,
        "absent": " ".join(filter(None, (f"Not shown: {left}." if left else "", "" if score else FLATTERED))),
        "few_models": f"Fewer than two models have a ranking by {by}.",
        "metrics": f"By {by}; ↑ higher is better, ↓ lower is better.",
        "metrics_note": " ".join(notes),
    }


def why_absent(made: str, score: str, constant: Sequence[str], first: "Estimate | None") -> str:
    """The reason that a model is not judged by a score, or by its best one.

    Parameters
    ----------
    made : str
        "no mistake" or "only mistakes" where that is all it makes.
    score : str
    constant : sequence of str
        Its scores that are the same in every instance.
    first : Estimate, optional
        UQ-AUC of the first of its other scores; None where there is none.
    """
    if made:
        return why_unmixed(made)
    if score:
        same = "the score is the same in every case: nothing to choose by"
        return same if score in constant else "it has no such score"
    if first is None:
        return "no score of it differs between cases: nothing to choose by" if constant else "it has no score"
    return undefined_text(first)


def why_unmixed(made: str) -> str:
    """The reason that a model without errors, or without correct predictions, cannot be judged."""
    return f"it makes {made} on these cases"


def why_nothing(made: Mapping[str, str]) -> str:
    """The reason that no model's mistakes can be ranked; `made` by model: "no mistake", "only mistakes", or "" for both kinds.

    Examples
    --------
    >>> why_nothing({"a": "no mistake", "b": "only mistakes"})
    'There is nothing to choose by: a makes no mistake here; b makes only mistakes here.'
    """
    kinds = set(made.values())
    if kinds == {"no mistake"}:
        return "No model makes a mistake on these cases: there is nothing to rank."
    if kinds == {"only mistakes"}:
        return "All predictions are mistakes on these cases: there is nothing to rank."
    reasons = (
        f"{m} makes {it} here" if it else f"{m} has no score that differs between cases" for m, it in made.items()
    )
    return f"There is nothing to choose by: {'; '.join(reasons)}."


def undefined_text(estimate: "Estimate") -> str:
    """Why an estimate is undefined."""
    kept = [note for note in estimate.notes if note.code not in COUNTS]
    return reason(kept) or "undefined"


def remarks(assay: "Assay", estimates: Mapping[tuple[str, str], "Estimate"], codes: Iterable[str] = ()) -> list[str]:
    """Sentences of the notes of some estimates, each once, with the models concerned.

    Parameters
    ----------
    assay : Assay
    estimates : mapping
        By model and anything else.
    codes : iterable of str
        Codes of the notes meant; by default all but the numbers of groups and runs.
    """
    wanted, found = set(codes), dict[str, list[str]]()
    for (model, _), estimate in estimates.items():
        for note in estimate.notes:
            if note.code in wanted if wanted else note.code not in COUNTS:
                names = found.setdefault(note.text, [])
                names += [] if model in names else [model]
    out, n_models = [], len(assay.model_names)
    for text, names in found.items():
        every = " (every model)" if len(names) == n_models else f" ({listed_names(names)})"
        out.append(f"{text[0].upper()}{text[1:]}{every if n_models > 1 else ''}.")
    return out


# -- paired tests ------------------------------------------------------------------------------------------------------


def comparison_note(
    assay: "Assay", metric: str, n: int, *, best: bool, absent: Sequence[tuple[str, "Estimate"]]
) -> str:
    """Note below a matrix of paired tests: its entries, their adjustment, and the models or scores left out.

    Parameters
    ----------
    assay : Assay
    metric : str
    n : int
        Models or scores compared.
    best : bool
        Whether each model stands with its best score.
    absent : sequence of (name, estimate)
        Those whose metric is undefined.
    """
    pairs = n * (n - 1) // 2
    adjusted = (
        f", adjusted by Shaffer for the {pairs} pairs of this matrix (not for other matrices that can be chosen here); the "
        "intervals are for each pair on its own, not adjusted for the number of pairs"
    )
    said = [
        f"{DEFINITIONS[metric].title} on the diagonal; in the other cells the row minus the column, + where the row ranks "
        f"better, with the p-value of the paired test{adjusted if pairs > 1 else ''}.",
        f"Bold and tinted where p ≤ {1 - assay.settings.level:.3g}.",
    ]
    if best:
        said.append(CHOSEN)
    if absent:
        said.append(f"Not compared: {'; '.join(f'{name} ({undefined_text(e)})' for name, e in absent)}.")
    return " ".join(said)


def few_scores(model: str, made: str) -> str:
    """Why the scores of a model are not compared by a metric.

    Examples
    --------
    >>> few_scores("m", "no mistake")
    'Fewer than two scores of m have this metric: it makes no mistake on these cases.'
    """
    return f"Fewer than two scores of {model} have this metric{f': {why_unmixed(made)}' if made else ''}."


# What refusing the most uncertain instances does to the accuracy, in one sentence.

Ends = tuple[float, float, float]  # estimate, low, high


@dataclass(frozen=True)
class Refused:
    """A model that refuses a share of the instances."""

    #: model, score: The score by its label.
    model: str
    score: str
    accuracy: float  #: Of all instances.
    #: kept, gain: Accuracy of the instances kept, and the gain, each with its interval. Of the model that keeps the
    #: highest accuracy among several, the intervals are adjusted for that choice.
    kept: Ends
    gain: Ends
    shown: float = math.nan  #: The smallest gain that the test set could have shown; infinite: none. nan: not known.

    @property
    def outcome(self) -> str:
        """ "gain", "loss", "none" where the interval of the gain contains 0, "unknown" without an interval."""
        _, low, high = self.gain
        if not (math.isfinite(low) and math.isfinite(high)):
            return "unknown"
        return "gain" if low > 0 else "loss" if high < 0 else "none"


def refusal_sentence(assay: "Assay", share: float, by: str, refused: Sequence[Refused]) -> str:
    """The gain of the model that is the most accurate on the instances kept.

    Parameters
    ----------
    assay : Assay
    share : float
        Of the instances that is refused.
    by : str
        The score in words, where several models are compared.
    refused : sequence of Refused
        At least one.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.3, 0.7]])}, [0, 1])
    >>> refusal_sentence(a, 0.1, "margin", [Refused("m", "margin", 0.8, (0.85, 0.8, 0.9), (0.05, 0.02, 0.08))])[:75]
    'Refusing the 10 % most uncertain (by margin) raises the accuracy of m from '
    """
    best = max(refused, key=lambda r: r.kept[0])
    places = _places([r.kept for r in refused] + [r.gain for r in refused])
    votes = assay.labels.ndim == 2
    several = len(refused) > 1
    before, after = percent(best.accuracy, places), percent(best.kept[0], places)
    ends = percent_interval(*best.kept[1:], places)
    interval = "" if ends == ABSENT else f" ({ends})"
    gain, low, high = (number(100 * v, places, bounded=True) for v in best.gain)
    start = (
        f"Refusing the {significant(100 * share, 3).rstrip('0').rstrip('.')} % most uncertain "
        f"(by {by if several else best.score}) "
    )
    whose = f"the accuracy{' (share of the votes)' if votes else ''} of {best.model}"
    verb = {"gain": "raises", "loss": "lowers", "none": "changes", "unknown": "raises"}[best.outcome]
    if best.outcome == "unknown" and best.gain[0] < 0:
        verb = "lowers"
    change = f"{verb} {whose} from {before} to {after}{interval}"
    if before == after:
        change = f"leaves {whose} at {after}{interval}"
    only = only_unit(assay)
    adjusted = ", adjusted for the choice of the model" if several else ""
    points = f"{gain} points ({low} to {high}{adjusted})"
    end = {
        "gain": f", a gain of {points}",
        "loss": f", because its right predictions are the more uncertain ones; the change is {points}",
        "none": f"; the change of {points} could be chance{_shown(best.shown)}",
        "unknown": f"; how surely cannot be said ({only}: no interval)",
    }[best.outcome]
    return f"{start}{change}{end}{_others_refused(assay, refused, best) if several else ''}."


def epistemic_sentence(score: str, found: Mapping[str, "Estimate"], top: Sequence[str]) -> str:
    """How well the epistemic uncertainty of models with sets ranks their mistakes.

    Parameters
    ----------
    score : str
        The score in words.
    found : mapping of str to Estimate
        UQ-AUC of the score, by model.
    top : sequence of str
        The models that none is shown to be better than.

    Examples
    --------
    >>> from uqassay.metrics import uq_auc_score
    >>> a = uq_auc_score([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4])
    >>> epistemic_sentence("credal width", {"DE": a}, ["DE"]).partition(" (95 %")[0]
    'By epistemic uncertainty alone (credal width) the mistakes of DE are found with an error AUROC of 1.000'
    """
    defined = {m: float(value) for m, value in found.items() if not math.isnan(value)}
    if not defined:
        return ""
    greatest = max(defined.values())
    best = [m for m, value in defined.items() if value == greatest]
    if greatest <= 0.5:
        whose = listed_names(defined)
        return (
            f"Epistemic uncertainty alone ({score}) finds the mistakes of {whose} no better than chance in these cases."
        )
    one = found[best[0]]
    shown = estimate_text(greatest, one.low, one.high, level=one.level)
    if len(defined) == 1:
        return f"By epistemic uncertainty alone ({score}) the mistakes of {best[0]} are found with an error AUROC of {shown}."
    said = [
        f"By epistemic uncertainty alone ({score}) the mistakes of {listed_names(best)} are found best: error AUROC {shown}"
    ]
    equals = [m for m in defined if m in top and m not in best]
    others = [m for m in defined if m not in top and m not in best]
    said += [f"{listed_names(equals, most=SHOWN_NAMES)} could be as good"] if equals else []
    said += (
        [f"{listed_names(others, most=SHOWN_NAMES)} {'is' if len(others) == 1 else 'are'} not as good"]
        if others
        else []
    )
    return f"{'; '.join(said)}."


def _shown(gain: float) -> str:
    """The smallest gain that the test set could have shown, as a clause."""
    if math.isnan(gain):
        return ""
    if math.isinf(gain):
        return "; no gain could have been found"
    return f"; a true gain of {significant(100 * gain, 2)} points would have been found 4 times in 5"


def _others_refused(assay: "Assay", refused: Sequence[Refused], best: Refused) -> str:
    """How accurate the other models are."""
    without = ", though some model is more accurate without refusing" if _best_accuracy(assay) > best.kept[0] else ""
    return f"; no other model does better{without}"


def _best_accuracy(assay: "Assay") -> float:
    """The greatest accuracy of a model on all instances."""

    def found() -> float:
        return max(assay.overall(m.columns["correct"]) for m in assay.candidates if m.predicts_classes)

    return assay.shared.once("best-accuracy", found)


def _places(intervals: Iterable[Ends]) -> int:
    """Decimals of percentages that show one digit of the typical half-width of their intervals, from 1 to 3."""
    widths = sorted(width for _, low, high in intervals if (width := 50 * (high - low)) > 0)
    return min(3, max(1, -math.floor(math.log10(widths[len(widths) // 2])))) if widths else 1


# Fixed sentences, headings and labels of the page's template.


def template_sentences(assay: "Assay") -> dict[str, str]:
    """Text by the name of its place in the template, with places {tradeoff}, {costs} and {labels_hashed} for elements.

    Examples
    --------
    >>> import uqassay as uq
    >>> template_sentences(uq.assay({"m": uq.Members([[[0.9, 0.1], [0.8, 0.2]]])}, [0]))["ranking_title"]
    'Ranking at λ = {tradeoff}'
    """
    level, general = level_text(assay.settings.level), general_sentences()
    return {
        **_NAVIGATION,
        "nav_choose": "Choose λ" if order_of(assay).priced else "Ranking",
        "scheme_auto": general["scheme_auto"],
        "auto": general["schemes"]["auto"],
        "compared": "Models compared",
        "stated": "What the models state",
        "stated_finding": "How far from the labels, how vague and how uncertain the predictions are.",
        "stated_note": f"Means over all cases, {intervals_text(assay)}.",
        "compared_how": "Click a heading to sort, ? for its definition.",
        "no_script": "The rest of this page needs its own script, which is switched off.",
        **_choice_of_view(assay),
        **_reasons(assay, level),
        "instances_title": "Look at cases",
        "kinds": "Choice of the cases listed",
        "instances": "Cases",
        "pick": "Case",
        "previous": "◂ previous",
        "next": "next ▸",
        "any": "any",
        **_METHOD,
        "close": "Close",
    }


_NAVIGATION = {
    "skip": "Skip to the verdict",
    "report": "report",
    "sections": "Sections",
    "open_all": "Open all sections",
    "close_all": "Close all sections",
    "nav_verdict": "Verdict",
    "nav_why": "Why",
    "nav_instances": "Cases",
    "nav_how": "How computed",
}

_METHOD = {
    "how": "How it was computed",
    "inputs": "Inputs",
    "hashes": (
        "The hashes are of the arrays as read, not of the files. That of the labels is of 64-bit integers, {labels_hashed}. "
        "That of a model is of the name of its kind and then the bytes of its arrays, run after run."
    ),
    "all_findings": "All findings",
    "csv": "Download as CSV",
    "json": "Download as JSON",
    "show_findings": "Show the findings",
    "findings": "Findings",
    "glossary": "Glossary",
    "old_browser": "This browser is too old for the rest of the page; Chrome 80, Firefox 113 or Safari 16.4 show it.",
    "colophon": "Colours by Okabe and Ito. This page needs no network and sends nothing.",
}


def _choice_of_view(assay: "Assay") -> dict[str, str]:
    """Text of the section on the choice of λ, or where no model has a set on the ranking."""
    priced = order_of(assay).priced
    return {
        "choose": "Choose λ, the price of imprecision" if priced else "Ranking",
        "previous_change": "◂ previous change of winner",
        "next_change": "next change ▸",
        "strip_note": (
            f"Upper band: share of {count(assay.settings.n_draws)} resamples that each model wins. Lower band: the model with "
            "the lowest mean E; bold numbers mark the λ where it changes."
        ),
        "questions": "Not sure? Two questions",
        "abstain": "May a case be passed on, to a person or a slower check?",
        "abstain_no": "No, every case needs a decision",
        "abstain_yes": "Yes",
        "cost": "Passing a case on costs {costs} as a mistake.",
        "ranking_title": f"Ranking{at_tradeoff(assay)}",
        "ranking": "Ranking",
        "changes": "Every change of the order",
    }


def _reasons(assay: "Assay", level: str) -> dict[str, str]:
    """Text of the section on the reasons for the ranking."""
    return {
        "why": "Why",
        "plane_title": "Distance against non-specificity, equal E at λ = {tradeoff}",
        "plane_part": "Cases",
        "plane": (
            f"Each model's mean with its {level} confidence ellipse, from symmetric standard errors (the intervals of the "
            "tables follow skewed losses and can differ). On a line all points have equal E at λ = {tradeoff}. The dashed line "
            "goes through the best model; a model below it would be better."
        ),
        "lines_title": "E against λ",
        "lines": (
            f"Mean E with its {level} interval. Dotted grey: the baselines, as far as they fit. Lines cross where the "
            "order changes."
        ),
        "ridges_title": "By correctness",
        "ridges": (
            f"Above each line, in full colour: the cases that the model classifies correctly{of_class_sets(assay)}. Below "
            "it, lighter: those that it classifies wrongly. All cases, logarithmic axis; each half has its own height. The "
            "tick is the median; ◂ is the share at or below the left end."
        ),
        "correctness": "Means by correctness",
        "sample_how": "A click on a point opens the case.",
        "scatter_title": "How the measures are related",
        "width_title": "Credal width against NS",
        "ns_title": "NS against confidence",
        "entropy_title": "Entropy against confidence",
    }
