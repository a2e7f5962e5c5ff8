"""The commands on one assay: report, rank, tradeoff, inspect, convert, and what they print."""

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from uqassay.checks import fail
from uqassay.cli.calibration import table_of_tests
from uqassay.cli.errors import about_files, in_options, note_text
from uqassay.cli.fail_if import OF_MEASURES, check_summary, end, judge, parse_check, steps_of, write_summary
from uqassay.cli.inputs import (
    NORMALISED,
    OUTPUT,
    AssayRequest,
    FailIf,
    Json,
    Markdown,
    OnIntervals,
    Reading,
    check_apart,
    check_page,
    check_save,
    class_texts,
    load_models,
    make_assay,
    member_axes,
    option,
    read_labels,
    takes_reading,
    takes_request,
)
from uqassay.cli.screen import (
    ShownColumns,
    explained,
    fitted_table,
    open_console,
    plain_table,
    print_json,
    print_note,
    print_text,
    progress,
    shell_line,
)
from uqassay.errors import InputError
from uqassay.evidence import Assay, Ranked
from uqassay.evidence.calibration import judged_tests
from uqassay.evidence.lens import lenses
from uqassay.evidence.metric_table import MANY
from uqassay.evidence.mistakes import reference_score
from uqassay.evidence.order import loss_name, order_of
from uqassay.evidence.sentences import PRICE, calibration_sentence, details, margin_sentences
from uqassay.evidence.sets import ALPHA, models_with_sets, set_scores_of, shown_rule, vote_shares
from uqassay.evidence.subgroups import Subgroup, number_of_parts, subgroups_of
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics import tradeoff_range
from uqassay.notes import Note
from uqassay.predictions import Prediction
from uqassay.predictions.files import LossyFormatWarning, inspect_file, save, what_is_lost
from uqassay.predictions.labels import CLASS_ORDERS
from uqassay.predictions.rows import Known, in_rows_of
from uqassay.report.sentences import CONCERNING
from uqassay.results import plain
from uqassay.statistics import Estimate, MoreData, VarianceShare
from uqassay.text import (
    count,
    counted,
    decimals_for,
    interval,
    level_text,
    listed,
    listed_names,
    named,
    number,
    percent,
    percent_interval,
    pvalue,
    rank_range,
    share_of_draws,
    tradeoff,
    visible,
)

__all__ = [
    "first_places",
    "parts_json",
    "print_report",
    "print_sets",
    "print_variance",
    "print_votes",
    "write_report",
]


# What a person reads in a terminal about sets as sets: coverage, size and utility of the classes that are not ruled
# out.

WHY = {
    "maximality": "no class is more probable in the whole set",
    "interval-dominance": "no class has a lower probability above their upper one",
}


def print_sets(assay: Assay) -> None:
    """One line for each model that states sets; nothing where there is none."""
    rule = shown_rule(assay)
    found = {model.name: set_scores_of(assay, model.name, rule) for model in models_with_sets(assay)}
    if not found:
        return
    console = open_console()
    scores = list(found.values())
    level = level_text(assay.settings.level)
    covered, size, single = f"covered ({level} interval)", f"mean size ({level} interval)", "single class"
    right_single, right_set = "right if single", "covered if several"
    table = fitted_table(
        {
            "model": [visible(name) for name in found],
            covered: [f"{percent(s.coverage)} ({_percents(s.coverage)})" for s in scores],
            size: [f"{number(s.size, 2)} ({interval(s.size.low, s.size.high, 2)})" for s in scores],
            single: [percent(s.determinacy) for s in scores],
            right_single: [percent(s.single_accuracy) for s in scores],
            right_set: [percent(s.set_accuracy) for s in scores],
            "u65": [number(s.u65) for s in scores],
            "u80": [number(s.u80) for s in scores],
        },
        spare=(right_set, right_single, "u80", "u65", single, size),
        width=console.width,
    )
    console.print()
    console.print(Text("Which classes do the sets rule out, and is the label among the others", "bold"))
    console.print(table)
    said = {
        "covered": f"covered: share of the labels that are not ruled out, because {WHY[rule]}",
        "single": "single class: share of the cases where all other classes are ruled out",
        "u65": "u65, u80: worth of a set as a decision, 1 for the label alone, .65 and .8 for two classes with the label",
    }
    console.print(Text(explained(said, table), "dim"))


def _percents(share: Estimate) -> str:
    return percent_interval(share.low, share.high)


# What a person reads in a terminal about people's votes: could they come from the set, or from the mean, of a model?

ABSENT = "–"


def print_votes(assay: Assay) -> None:
    """One line for each model that was tested; nothing where the labels are no numbers of votes."""
    found = {model: vote_shares(assay, model) for model in assay.votes}
    if not found:
        return
    console = open_console()
    level = level_text(assay.settings.level)
    of_set, of_mean = f"from its set ({level} interval)", f"from its mean ({level} interval)"
    columns = {
        "model": [visible(name) for name in found],
        of_set: [_share(shares.get("set")) for shares in found.values()],
        of_mean: [_share(shares["mean"]) for shares in found.values()],
    }
    if not any("set" in shares for shares in found.values()):
        del columns[of_set]
    table = fitted_table(columns, spare=(), width=console.width)
    n = next(iter(found.values()))["mean"].n
    console.print()
    console.print(Text(f"Could the votes of {counted(n, 'case')} come from what a model states", "bold"))
    console.print(table)
    said = {
        "from": f"share of the cases whose votes pass a test of level {percent(ALPHA, 0)}, divided by "
        f"{percent(1 - ALPHA, 0)}; with few votes it tends to be too high"
    }
    console.print(Text(explained(said, table), "dim"))


def _share(share: Estimate | None) -> str:
    return ABSENT if share is None else f"{percent(share)} ({percent_interval(share.low, share.high)})"


# The table of the variance of mean E: how much comes from the training runs, and how much from the test instances.


def print_variance(assay: Assay) -> None:
    """Shares of the variance of mean E at the default λ, of the models that have several training runs."""
    names = [m.name for m in assay.candidates if m.n_runs > 1]
    if not names:
        return
    found = {name: assay.variance(name) for name in names}
    widths = {name: one.half_width() for name, one in found.items()}
    goals = {name: one.for_half_width(widths[name] / 2) if widths[name] > 0 else None for name, one in found.items()}
    units = "groups" if assay.groups is not None else "cases"
    level = level_text(assay.settings.level)
    decimals = decimals_for((-w, w) for w in widths.values() if isfinite(w))
    runs, rest, half = f"from runs ({level} interval)", f"from {units}", f"to halve it: {units} or runs"
    columns = {
        "model": [visible(name) for name in names],
        "training runs": [count(one.n_runs[0]) for one in found.values()],
        runs: [_share_of_variance(one.shares["runs"]) for one in found.values()],
        rest: [percent(one.shares["instances"].share, 0) for one in found.values()],
        "from both": [percent(one.shares["interaction"].share, 0) for one in found.values()],
        f"{loss_name(assay)} ±": [number(w, decimals) for w in widths.values()],
        half: [_goal(goal) for goal in goals.values()],
    }
    console = open_console()
    table = fitted_table(columns, width=console.width, spare=("from both", "training runs", half))
    console.print()
    at = _at(assay, DEFAULT_TRADEOFF)
    console.print(Text(f"Where the variance of the {loss_name(assay)}{at} comes from", "bold"))
    console.print(table)
    said = {
        "from both": f"from both: other runs do better on other {units}",
        f"{loss_name(assay)} ±": f"{loss_name(assay)} ±: half the {level} interval",
        "to halve it:": "to halve it: so many in all, if the other number stays",
    }
    few = [name for name, one in found.items() if any(note.code == "few" for note in one.notes)]
    lines = [explained(said, table)]
    if few:
        lines.append(
            f"few runs say little about the variance between runs, see its interval: {listed_names(few, most=5)}"
        )
    console.print(Text(visible("; ".join(line for line in lines if line)), "dim"))


def _share_of_variance(found: VarianceShare) -> str:
    if isnan(found.share):
        return ABSENT
    return f"{percent(found.share, 0)} ({percent_interval(found.low, found.high, 0)})"


def _goal(goal: MoreData | None) -> str:
    if goal is None or isnan(goal.instances):
        return ABSENT
    more = goal.instances if isnan(goal.groups) else goal.groups
    texts = [count(int(n)) if isfinite(n) else "no number" for n in (more, goal.runs[0])]
    return " or ".join(texts)


# The ranking in parts of the test set.


def first_places(assay: Assay, parts: Sequence[Subgroup], tradeoff: float) -> tuple[str, dict[str, list[str]]]:
    """The first model of the whole test set, and the values of the parts where another model is first.

    Returns
    -------
    model : str
    others : dict of str to list of str
        Values by the model that is first there.
    """
    overall = _first(assay, tradeoff)
    others: dict[str, list[str]] = {}
    for part in parts:
        if (model := _first(part.assay, tradeoff)) != overall:
            others.setdefault(model, []).append(str(part.value))
    return overall, others


def parts_json(assay: Assay, tradeoffs: Sequence[float]) -> list[dict[str, Any]]:
    """Rankings and breakpoints of every part of every subgroup, in the form of `rank --json`."""
    from uqassay.evidence.tables import ranking_json

    return [
        {"subgroup": name, "value": str(part.value), "n": part.n_instances, **ranking_json(part.assay, tradeoffs)}
        for name in assay.subgroups
        for part in subgroups_of(assay, name)
    ]


def _first(assay: Assay, tradeoff: float) -> str:
    return next(row.model for row in assay.ranked(tradeoff) if row.rank == 1)


# What a person reads in a terminal: the verdict, rankings, where they change, warnings. All from the assay alone.

WON, DIFFERENCE = "resamples won", "difference to best"  # headers of columns
SPARE_METRICS = ("unified", "uq-auc", "log-loss", "brier", "aurc")  # that a narrow terminal leaves out, the last first
FIRST_WARNINGS = 2  # of those on the answer, which stand before it
KEPT = 0.9  # share of the instances kept where the most uncertain ones are refused


def print_report(assay: Assay, tradeoffs: Sequence[float] | None = None) -> None:
    """Metrics, verdict, rankings of the test set and its parts, breakpoints, errors, sets, calibration and warnings.

    Parameters
    ----------
    assay : Assay
    tradeoffs : sequence of float, optional
        The λ to rank at; by default, the default λ.
    """
    console = open_console()
    print_metrics(assay)
    on_answer = [note for note in assay.warnings if note.code in CONCERNING]
    for note in on_answer[:FIRST_WARNINGS]:
        print_note(note_text(note))
    console.print()
    for sentence in assay.headline():
        console.print(Text(visible(sentence), "bold"))
    if order_of(assay).priced:
        console.print(Text(f"{PRICE}.", "dim"))
    for sentence in details(assay):
        console.print(Text(visible(sentence)))
    print_rankings(assay, tradeoffs)
    print_variance(assay)
    print_breakpoints(assay)
    print_subgroup_rankings(assay, tradeoffs)
    print_lenses(assay)
    print_warnings(assay, without=on_answer[:FIRST_WARNINGS])


# -- metrics ----------------------------------------------------------------------------------------------------------


def print_metrics(assay: Assay) -> None:
    """Models by several metrics with their intervals; in a terminal the first of many models."""
    from uqassay.evidence.ranking import cases_text

    console, metrics = open_console(), assay.metrics()
    runs = sorted({model.n_runs for model in assay.candidates})
    of_runs = f" of {' to '.join(map(str, dict.fromkeys((runs[0], runs[-1]))))} training runs" if runs[-1] > 1 else ""
    groups = "" if assay.groups is None else f" in {counted(assay.n_units, 'group')}"
    sizes = (
        counted(len(assay.candidates), "model") + of_runs,
        cases_text(assay) + groups,
        *(() if assay.of_answers else (counted(assay.n_classes, "class", "classes"),)),
    )
    console.print(Text(", ".join(sizes), "bold"))
    shown = metrics.shown_table()
    models = [row for row in shown.rows if not row.reference]
    rest = len(models) - MANY if console.is_terminal else 0
    spare = [1 + metrics.metrics.index(metric) for metric in SPARE_METRICS if metric in metrics.metrics]
    if rest > 0:
        shown = replace(shown, rows=tuple(row for row in shown.rows if row not in models[MANY:]))
    fitting = ShownColumns.fitting(shown, width=console.width, spare=spare)
    console.print(fitting.table())
    if rest > 0:
        console.print(Text(f"{counted(rest, 'more model')}: --json and the page have all.", "dim"))
    explained = metrics.explained([metrics.metrics[j - 1] for j in fitting.columns[1:]])
    console.print(Text(visible(f"{shown.said(plain=True)} {explained}"), "dim"))


# -- rankings ---------------------------------------------------------------------------------------------------------


def print_rankings(assay: Assay, tradeoffs: Sequence[float] | None = None) -> None:
    """One table for each λ; by default one, for the default λ."""
    console = open_console()
    shown: list[Table] = []
    for at in (DEFAULT_TRADEOFF,) if tradeoffs is None else tradeoffs:
        rows = [r for r in assay.ranked(at) if r.rank is not None or r.model in order_of(assay).yardsticks]
        columns = _ranking_columns(assay, rows)
        styles = ["dim" if r.rank is None else "bold" if r.top else "" for r in rows]
        shown.append(fitted_table(columns, spare=_spare(columns), width=console.width, styles=styles, words=("rank",)))
        console.print()
        console.print(Text(_ranking_title(assay, at, default=tradeoffs is None), "bold"))
        console.print(shown[-1])
        for sentence in margin_sentences(rows, assay.settings):
            console.print(Text(visible(sentence)))
    console.print(Text(_explained_ranking(assay, *shown), "dim"))


def print_subgroup_rankings(assay: Assay, tradeoffs: Sequence[float] | None = None) -> None:
    """For each subgroup and λ, the ranking in every part of the test set."""
    console = open_console()
    for name in assay.subgroups:
        parts = list(subgroups_of(assay, name))
        shown: list[Table] = []
        for at in (DEFAULT_TRADEOFF,) if tradeoffs is None else tradeoffs:
            table = _subgroup_table(assay, name, parts, at, console.width)
            console.print()
            console.print(Text(visible(_ranking_title(assay, at, default=tradeoffs is None, subgroup=name)), "bold"))
            console.print(table)
            shown.append(table)
            lowest = f"Lowest {loss_name(assay)}{_at(assay, at)}"
            console.print(Text(visible(f"{lowest}: {_first_words(assay, parts, at)}")))
        together = f"rank and p hold for {counted(number_of_parts(assay, name), 'part')} of the test set together"
        console.print(Text(f"{_explained_ranking(assay, *shown)}; {together}", "dim"))


def _subgroup_table(assay: Assay, name: str, parts: Sequence[Subgroup], at: float, width: int) -> Table:
    """All parts below each other, without the baselines."""
    ranked = [[r for r in part.assay.ranked(at) if r.rank is not None] for part in parts]
    every = [r for rows in ranked for r in rows]
    decimals, finer = _decimals(every)
    columns: dict[str, list[str]] = {}
    for part, rows in zip(parts, ranked, strict=True):
        before = {
            f"{visible(name)} ": [visible(str(part.value)), *[""] * (len(rows) - 1)],
            "n": [count(part.n_instances), *[""] * (len(rows) - 1)],
        }
        found = before | _ranking_columns(part.assay, rows, decimals=decimals, finer=finer)
        for header, cells in found.items():
            columns.setdefault(header, []).extend(cells)
    styles = ["bold" if r.top else "" for r in every]
    words = (f"{visible(name)} ", "rank")
    return fitted_table(columns, spare=[*_spare(columns), "n"], width=width, styles=styles, words=words)


def _first_words(assay: Assay, parts: Sequence[Subgroup], at: float) -> str:
    overall, others = first_places(assay, parts, at)
    if not others:
        return f"{overall}, in the whole test set and in every part."
    exceptions = [f"{named(model)} where it is {listed_names(values, most=5)}" for model, values in others.items()]
    return f"{overall} in the whole test set, but {listed(exceptions)}."


def print_breakpoints(assay: Assay) -> None:
    """Which of several models has the lowest mean E on which interval of λ."""
    if len(assay.candidates) == 1 or not assay.winners() or not order_of(assay).priced:
        return
    console = open_console()
    table = plain_table()
    table.add_column("from λ", justify="right", no_wrap=True)
    table.add_column("to λ", justify="right", no_wrap=True)
    table.add_column("model", overflow="fold")
    for low, high, names in assay.winners():
        table.add_row(tradeoff(low), tradeoff(high), Text(visible(", ".join(map(named, names)))))
    console.print()
    console.print(Text("Lowest mean E among the models, by λ", "bold"))
    console.print(table)


def _ranking_columns(
    assay: Assay, rows: Sequence[Ranked], *, decimals: int | None = None, finer: int | None = None
) -> dict[str, list[str]]:
    """The cells of a ranking by header; `decimals` of E and `finer` ones of differences follow the intervals."""
    own = _decimals([r for r in rows if r.rank is not None])
    decimals, finer = own[0] if decimals is None else decimals, own[1] if finer is None else finer
    cells = {
        "rank": [_ranks(r) for r in rows],
        "model": [visible(r.model) + (" (baseline)" if r.rank is None else "") for r in rows],
        loss_name(assay): [number(float(r.estimate), decimals) for r in rows],
        f"{level_text(assay.settings.level)} interval": [
            interval(r.estimate.low, r.estimate.high, decimals) for r in rows
        ],
        WON: [share_of_draws(r.win_share, assay.settings.n_draws) for r in rows],
        DIFFERENCE: [ABSENT if r.rank == 1 else number(float(r.difference), finer) for r in rows],
        "p (adjusted)": _pvalues(rows),
        "accuracy": [percent(_mean(assay, r.model, "correct") if r.model != "vacuous" else None) for r in rows],
        f"mean {_distance_name(assay)}": [number(_mean(assay, r.model, "distance"), decimals) for r in rows],
        "mean non-sp.": [number(_mean(assay, r.model, "nonspecificity"), decimals) for r in rows],
    }
    if len(assay.candidates) == 1:  # which wins every resample
        del cells[WON]
    if not order_of(assay).priced:  # the mean is the distance itself
        del cells[f"mean {_distance_name(assay)}"], cells["mean non-sp."]
    return cells


def _ranks(row: Ranked) -> str:
    """All ranks that a model can have; nothing for a baseline."""
    return "" if row.rank_low is None or row.rank_high is None else rank_range(row.rank_low, row.rank_high)


def _pvalues(rows: Sequence[Ranked]) -> list[str]:
    """Adjusted p-values, marked where only a guard keeps a difference from being significant."""
    from uqassay.evidence.ranking import MARKS

    marks = [MARKS.get(r.limited_by, "") for r in rows]
    room = max(map(len, marks), default=0)
    return [f"{pvalue(r.pvalue_adjusted)}{mark:{room}}" for r, mark in zip(rows, marks, strict=True)]


def _spare(columns: dict[str, list[str]]) -> list[str]:
    """Headers of a ranking that a narrow terminal leaves out, the last of them first."""
    headers = list(columns)
    worse, p, accuracy, *terms = headers[headers.index(DIFFERENCE) :]
    between = headers[headers.index("model") + 2]
    share = [WON] if WON in columns else []
    return [p, between, *share, worse, accuracy, *reversed(terms)]


def _decimals(rows: Sequence[Ranked]) -> tuple[int, int]:
    """Decimals of E, and those of differences, which are often known better."""
    decimals = decimals_for((r.estimate.low, r.estimate.high) for r in rows)
    return decimals, max(decimals, decimals_for((r.difference.low, r.difference.high) for r in rows))


def _ranking_title(assay: Assay, at: float, *, default: bool, subgroup: str = "") -> str:
    terms = f"{_distance_name(assay)} + λ · non-specificity"
    where = f", by {subgroup}" if subgroup else ""
    if not order_of(assay).priced:
        return f"Ranking by {loss_name(assay)}{where}; lower is better"
    chosen = " (the default)" if default else ""
    return f"Ranking at λ = {tradeoff(at)}{chosen} by the mean of E = {terms}{where}; lower is better"


def _explained_ranking(assay: Assay, *tables: Table) -> str:
    from uqassay.evidence.ranking import MARKS, limit_notes

    priced = order_of(assay).priced
    said = {
        "rank": (
            f"rank: all ranks that the model can have, {level_text(assay.settings.level)} for all models at once; "
            "from 1 on (bold): no model is shown to be better"
        ),
        WON: f"{WON}: share of {count(assay.settings.n_draws)} with the lowest {loss_name(assay)}",
        "p (adjusted)": f"p: paired test against the best, adjusted for all pairs{' and every λ' if priced else ''}",
    }
    cells = [cell for table in tables for column in table.columns for cell in column.cells]
    shown = "".join(map(str, cells))
    marks = [f"{MARKS[why]}: {text}" for why, text in limit_notes(assay).items() if MARKS[why] in shown]
    return "; ".join([explained(said, *tables), *marks])


def _at(assay: Assay, at: float) -> str:
    return f" at λ = {tradeoff(at)}" if order_of(assay).priced else ""


def _distance_name(assay: Assay) -> str:
    return assay.settings.distance.replace("_", " ").upper()


def _mean(assay: Assay, model: str, column: str) -> float:
    return assay.overall(assay[model].columns[column])


# -- mistakes and calibration -----------------------------------------------------------------------------------------


def print_mistakes(assay: Assay) -> None:
    """How the score that all models are compared by ranks each model's errors, and what refusing gains."""
    rows = []
    for name in assay.model_names:
        score = reference_score(assay, name)
        if score is not None:
            mine = [r for r in assay.mistake_ranking() if (r.model, r.score, r.run) == (name, score, None)]
            found = {r.metric: r.estimate for r in mine}
            rows.append((name, score, found["uq-auc"], found.get("uq-c-index"), assay.refusal(name, score, KEPT)))
    if not rows:
        return
    console = open_console()
    level = level_text(assay.settings.level)
    auc_header, index_header = f"UQ-AUC ({level} interval)", f"UQ-C-index ({level} interval)"
    kept_header = f"of the {percent(KEPT, 0)} kept"
    table = fitted_table(
        {
            "model": [visible(name) for name, *_ in rows],
            auc_header: [_with_interval(auc) for _, _, auc, _, _ in rows],
            **({} if assay.of_answers else {index_header: [_with_interval(c) for *_, c, _ in rows if c is not None]}),
            "accuracy": [percent(refused.accuracy_all) for *_, refused in rows],
            kept_header: [percent(refused.accuracy_kept) for *_, refused in rows],
        },
        spare=("accuracy", kept_header, index_header),
        width=console.width,
    )
    console.print()
    scores = ", ".join(dict.fromkeys(score for _, score, *_ in rows))
    console.print(Text(f"Does the uncertainty ({scores}) rank the errors", "bold"))
    console.print(table)
    said = {
        "UQ-AUC": "UQ-AUC: chance that an error is more uncertain than a right prediction",
        "UQ-C-index": "UQ-C-index: the same for the gap to the label",
    }
    console.print(Text(explained(said, table), "dim"))


def print_calibration(assay: Assay) -> None:
    """The calibration tests of every model and run."""
    if not any(test.n_tested for test in assay.calibration):
        return
    console = open_console()
    alpha = 1 - assay.settings.level
    table, words = table_of_tests(judged_tests(assay.calibration, alpha), alpha, console.width)
    console.print()
    console.print(Text("Can the model, or some mixture of its members, be calibrated", "bold"))
    console.print(Text(visible(calibration_sentence(assay))))
    console.print(table)
    console.print(Text(words, "dim"))


def _with_interval(estimate: Estimate) -> str:
    """An estimate between 0 and 1 and its interval; a dash where it is undefined."""
    if np.isnan(estimate):
        return ABSENT
    return f"{number(float(estimate))} ({interval(estimate.low, estimate.high)})"


PRINTED: Mapping[str, Callable[[Assay], None]] = {
    "mistakes": print_mistakes,
    "calibration": print_calibration,
    "sets": print_sets,
    "votes": print_votes,
}  # lenses that have tables of their own


def print_lenses(assay: Assay, ids: Collection[str] | None = None) -> None:
    """What each lens found, if anything, by default every one: its own tables, or sentences and table of its result."""
    for lens in lenses():
        if ids is not None and lens.id not in ids:
            continue
        if lens.id in PRINTED:
            PRINTED[lens.id](assay)
        elif (found := lens.measure(assay)) is not None:
            console, table = open_console(), found._shown_table()
            console.print()
            console.print(Text(visible(lens.question), "bold"))
            for sentence in found._shown_sentences() or [f"{found._shown_title()}."]:
                console.print(Text(visible(sentence)))
            print_text("\n".join(table.as_text()))
            if table.caption:
                console.print(Text(visible(table.caption), "dim"))
            for note in found._shown_notes():
                print_note(note)


# -- warnings and files -----------------------------------------------------------------------------------------------


def print_warnings(assay: Assay, *, without: Sequence[Note] = ()) -> None:
    """What a reader must know before believing the numbers."""
    console = open_console()
    console.print()
    left = [warning for warning in assay.warnings if warning not in without]
    for warning in left:
        print_note(note_text(warning))
    if left:
        console.print()


def print_file(found: dict[str, Any]) -> None:
    """A table of the format, sizes, arrays and notes of a file, as `inspect_file` returns them."""
    console = open_console()
    table = plain_table(header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for key, value in found.items():
        if key == "problem" and value is not None:
            value = str(in_options(InputError(**value), "inspect"))
        elif key == "notes":
            value = "\n".join(note["text"] for note in value)
        elif key == "columns":
            of_role: dict[str, list[str]] = {}
            for name, role in value.items():
                of_role.setdefault(role, []).append(named(name))
            value = "\n".join(f"{role}: {', '.join(names)}" for role, names in of_role.items())
        elif key == "class_order":
            value = CLASS_ORDERS[value or "stated"]
        elif key == "arrays":
            value = "\n".join(f"{name} {tuple(a['shape'])} {a['dtype']}" for name, a in value.items())
        elif isinstance(value, list):
            value = ", ".join(str(v) for v in value)
        elif isinstance(value, bool):
            value = "yes" if value else "no"
        elif key == "bytes":
            value = count(value)
        if value is not None and value != "":
            lines = [visible(line) for line in str(value).splitlines()]
            table.add_row(key.replace("n_", "").replace("_", " "), Text("\n".join(lines)))
    console.print(table)


# The command `report`: judge classifiers by their predictions, and write one page to decide from.


@takes_request
def report_command(
    request: AssayRequest,
    context: typer.Context,
    output: Annotated[
        Path | None,
        option("The page (report.html unless given; none with --json).", OUTPUT, "--output", "-o"),
    ] = None,
    save: Annotated[Path | None, option("Keep the assay in this folder.", OUTPUT, metavar="FOLDER")] = None,
    fail_if: FailIf = None,
    on_intervals: OnIntervals = False,
    markdown: Markdown = None,
    as_json: Json = False,
) -> None:
    """Judge classifiers by their predictions, and write one page to decide from."""
    command = shell_line(["uqassay", *context.find_root().obj])
    page = output if output is not None or as_json else Path("report.html")
    inputs = request.inputs()
    if page is not None:
        check_page(page, inputs, made=save)
    if save is not None:
        check_save(save, inputs, page)
    if markdown is not None:
        check_summary(markdown, inputs, page)
    write_report(
        request,
        page,
        command,
        save=save,
        fail_if=fail_if or (),
        on_intervals=on_intervals,
        markdown=markdown,
        as_json=as_json,
    )


def write_report(
    request: AssayRequest,
    page: Path | None,
    command: str,
    *,
    save: Path | None = None,
    fail_if: Sequence[str] = (),
    on_intervals: bool = False,
    markdown: Path | None = None,
    as_json: bool = False,
) -> None:
    """Make the assay, write page and folder, print, and exit by the checks.

    Parameters
    ----------
    request : AssayRequest
    page : Path or None
        The page to write.
    command : str
        The command line, shown on the page.
    save : Path, optional
        The folder that keeps the assay.
    fail_if : sequence of str
        Checks, as typed.
    markdown : Path, optional
        The file that takes the summary.
    on_intervals, as_json : bool
        The options of these names.
    """
    checks = [parse_check(text) for text in fail_if]
    steps = steps_of(request) + (save is not None) + as_json
    meanwhile: Callable[[Assay], object] | None = None
    if page is not None:
        from uqassay.report.drawings import load_ahead
        from uqassay.report.page import STEPS, find_ahead

        steps, meanwhile = steps + len(STEPS), find_ahead
        load_ahead()
    with progress(steps) as say:
        assay = make_assay(request, progress=say, meanwhile=meanwhile)
        outcomes = judge(assay, checks, say, on_intervals=on_intervals)
        if save is not None:  # before the page, which may lie in that folder
            say("keeping the assay")
            assay.save(os.path.realpath(save))
        if page is not None:
            from uqassay.report.page import write_page

            write_page(assay, page, command=command, progress=say)
        tradeoffs = request.shown_tradeoffs()
        if markdown is not None:
            write_summary(markdown, assay, outcomes, tradeoffs=tradeoffs, command=command, page=page)
        if as_json:
            say("findings")
        found = assay.to_json() if as_json else None
    if found is not None:
        print_json(found)
    else:
        print_report(assay, tradeoffs)
        if save is not None:
            print_text(f"Assay: {save}")
        if page is not None:
            print_text(f"Page: {page}")
    end(outcomes)


# The command `rank`: rank classifiers at chosen λ, in the whole test set and in its parts.


@takes_request
def rank_command(
    request: AssayRequest,
    context: typer.Context,
    fail_if: FailIf = None,
    on_intervals: OnIntervals = False,
    markdown: Markdown = None,
    as_json: Json = False,
) -> None:
    """Rank classifiers at chosen λ, and show where the ranking changes."""
    from uqassay.evidence.tables import ranking_json

    checks = [parse_check(text) for text in fail_if or ()]
    if not request.calibration and all(check.metric != OF_MEASURES for check in checks):
        request = replace(request, calibration=["none"])  # the ranking does not show it
    if markdown is not None:
        check_summary(markdown, request.inputs())
    with progress(steps_of(request)) as say:
        assay = make_assay(request, progress=say)
        outcomes = judge(assay, checks, say, on_intervals=on_intervals)
        tradeoffs = request.shown_tradeoffs()
        if markdown is not None:
            command = shell_line(["uqassay", *context.find_root().obj])
            write_summary(markdown, assay, outcomes, tradeoffs=tradeoffs, command=command)
        found_at = tradeoffs or assay.tradeoffs
        parts = parts_json(assay, found_at) if as_json else []
    if as_json:
        found = {"schema": "uqassay.ranking/3", "default_tradeoff": DEFAULT_TRADEOFF, "headline": assay.headline()}
        found |= {"verdict": assay.verdict(), "claims": plain(assay.rows("claims")), "metrics": assay.metrics().rows()}
        found |= ranking_json(assay, found_at)
        print_json(found | ({"subgroups": parts} if assay.subgroups else {}))
    else:
        print_rankings(assay, tradeoffs)
        print_variance(assay)
        print_subgroup_rankings(assay, tradeoffs)
        print_breakpoints(assay)
        print_lenses(assay, {"critical"})  # where a class was named that matters
        print_warnings(assay)
    end(outcomes)


# The command `tradeoff`: a range of λ from two questions.


def tradeoff_command(
    abstention: Annotated[
        bool | None,
        typer.Option("--abstention/--no-abstention", help="May an undecided case be passed on?"),
    ] = None,
    cost: Annotated[
        float | None, typer.Option(help="Cost of passing a case on, divided by that of a mistake.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the range of λ that fits a use, from two questions."""
    if abstention is None:
        fail(
            "--abstention",
            "the first question is whether an undecided case may be passed on",
            "",
            "answer it by --abstention --cost 0.1, or by --no-abstention",
            code="missing",
        )
    if abstention and cost is None:
        fail(
            "--cost",
            "the second question is the cost of passing a case on, divided by the cost of a mistake",
            "",
            "answer it by --cost 0.1, for example, where ten abstentions cost as much as one mistake",
            code="missing",
        )
    if not abstention and cost is not None:
        fail("--cost", "has no meaning with --no-abstention", f"got {cost:g}", "leave it out", code="conflict")
    found = tradeoff_range(abstention, cost)
    if as_json:
        print_json({"schema": "uqassay.tradeoff/1", **found._asdict()})
    else:
        print_text(f"λ from {found.low:g} to {found.high:g}\n{found.reason}")


# The commands `inspect` and `convert`: what a file holds, and the same prediction in another format.


@takes_reading("normalise", "class_names", "ignore_label", "votes_are", "model_column")
def inspect_command(
    file: Annotated[Path, typer.Argument(help="A prediction file.", show_default=False)],
    reading: Reading = Reading(),  # noqa: B008
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a file holds, and what each column of a table is taken for."""
    axis = member_axes(reading.member_axis, [""])[""]
    found = inspect_file(
        file, kind=reading.kind, member_axis=axis, variance_is=reading.variance_is, **reading.of_tables()
    )
    if as_json:
        print_json({"schema": "uqassay.inspect/1", **found})
    else:
        print_file(found)


@takes_reading("class_names", "ignore_label", "votes_are", "model_column")
def convert_command(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="A prediction file.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file to write.", show_default=False)],
    reading: Reading = Reading(),  # noqa: B008
    labels: Annotated[Path | None, typer.Option(help="Labels to put into DST with the predictions.")] = None,
) -> None:
    """Write a prediction file in another format; the extension of DST decides."""
    check_apart("DST", target, [source] if labels is None else [source, labels])
    with progress(2) as say:
        given = None if labels is None else read_labels(labels, reading)
        runs, facts = load_models({"": [source]}, reading, like=class_texts(None, given), say=say)
        prediction = runs[""][0]
        if given is None and facts[source]["labels"]:
            given = read_labels(source, reading)
        rows = Known(prediction.ids, prediction.keys, "the predictions")
        with about_files({"labels": labels or source}, {"labels": ""}):
            values = None if given is None else in_rows_of(given, rows, "labels")
        say(f"writing {target.name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LossyFormatWarning)  # said below, as notes
            save(prediction, target, labels=values)
    changed = [note for note in prediction.notes if note.code == NORMALISED]
    others = tuple(note for note in prediction.notes if note not in changed)
    lost = what_is_lost(replace(prediction, notes=others), target)
    with_labels = " with labels" if values is not None else ""
    print_text(f"{target}: {_without(prediction, lost)!r}{with_labels}")
    for note in changed:
        print_note(note_text(note))
    for note in lost:
        print_note(f"{note_text(note)}; .npz keeps everything")


def _without(prediction: Prediction, lost: Sequence[Note]) -> Prediction:
    """The prediction as the file holds it, without the parts that these notes name."""
    absent: dict[str, Any] = {key: () if key == "notes" else None for key in (note.facts["key"] for note in lost)}
    return replace(prediction, **absent)
