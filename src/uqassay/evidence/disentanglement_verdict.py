"""The disentanglement benchmark in words: made once for the terminal, the page and the figures.

A sentence claims only what an interval or a test over the runs holds; the conclusions themselves are data (readings, ranking).
"""

from collections.abc import Sequence

import numpy as np

from uqassay._shown_table import Bar, ShownCell, ShownRow, ShownTable, estimate_cell
from uqassay.evidence.disentanglement_measured import EXPERIMENTS
from uqassay.evidence.disentanglement_phrases import class_sentences, experiment_sentences
from uqassay.evidence.disentanglement_ranking import Contender, RankedContender, by_dataset, rank_disentanglement
from uqassay.evidence.disentanglement_readings import read_classes, read_experiments
from uqassay.metrics.disentanglement import Disentanglement
from uqassay.notes import reason
from uqassay.statistics import Estimate, holm
from uqassay.wording import (
    ABSENT,
    counted,
    estimate_text,
    interval,
    level_text,
    listed_names,
    number,
    pvalue,
    pvalue_text,
    text_table,
    visible,
)

__all__ = [
    "contender_sentences",
    "disentanglement_lines",
    "disentanglement_sentences",
    "disentanglement_table",
    "error_sentences",
    "legend_sentences",
    "reference_sentence",
]

DECIMALS = 2
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
        f"{level_text(level)}; with many contenders, some claims are wrong by chance. The test instances are the same in all "
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
