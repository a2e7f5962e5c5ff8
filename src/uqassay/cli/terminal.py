"""What a person reads in a terminal: the verdict, rankings, where they change, warnings. All from the assay alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from uqassay.cli.calibration_tables import table_of_tests
from uqassay.cli.remedies import in_options, note_text
from uqassay.cli.set_table import print_sets
from uqassay.cli.streams import open_console, print_note
from uqassay.cli.subgroups import Part, first_places, parts_of
from uqassay.cli.tables import explained, fitted_table, plain_table
from uqassay.cli.text import printable
from uqassay.cli.variance_table import print_variance
from uqassay.cli.vote_table import print_votes
from uqassay.errors import InputError
from uqassay.evidence import Assay, Ranked
from uqassay.evidence.calibration_statements import judged_tests
from uqassay.evidence.calibration_verdict import calibration_sentence
from uqassay.evidence.headline import PRICE
from uqassay.evidence.margin_words import margin_sentences
from uqassay.evidence.mistake_ranking import reference_score
from uqassay.evidence.verdict import details
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.predictions.labels import CLASS_ORDERS
from uqassay.statistics import Estimate
from uqassay.wording import (
    ABSENT,
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
    pvalue,
    rank_range,
    share_of_draws,
    tradeoff,
)

__all__ = [
    "print_breakpoints",
    "print_calibration",
    "print_file",
    "print_mistakes",
    "print_rankings",
    "print_report",
    "print_subgroup_rankings",
    "print_warnings",
]

WON = "resamples won"  # header of a column
KEPT = 0.9  # share of the instances kept where the most uncertain ones are refused


def print_report(assay: Assay, tradeoffs: Sequence[float] | None = None) -> None:
    """Verdict, rankings of the test set and its parts, breakpoints, errors, sets, calibration and warnings.

    Parameters
    ----------
    assay : Assay
    tradeoffs : sequence of float, optional
        The λ to rank at; by default, the default λ.
    """
    console = open_console()
    for sentence in assay.headline():
        console.print(Text(printable(sentence), "bold"))
    console.print(Text(f"{PRICE}.", "dim"))
    for sentence in details(assay):
        console.print(Text(printable(sentence)))
    runs = sorted({model.n_runs for model in assay.candidates})
    of_runs = f" of {' to '.join(map(str, dict.fromkeys((runs[0], runs[-1]))))} training runs" if runs[-1] > 1 else ""
    sizes = (
        counted(len(assay.candidates), "model") + of_runs,
        counted(assay.n_instances, "instance"),
        counted(assay.n_classes, "class", "classes"),
    )
    console.print(Text(", ".join(sizes), "dim"))
    print_rankings(assay, tradeoffs)
    print_variance(assay)
    print_breakpoints(assay)
    print_subgroup_rankings(assay, tradeoffs)
    print_mistakes(assay)
    print_sets(assay)
    print_votes(assay)
    print_calibration(assay)
    print_warnings(assay)


# -- rankings ---------------------------------------------------------------------------------------------------------


def print_rankings(assay: Assay, tradeoffs: Sequence[float] | None = None) -> None:
    """One table for each λ; by default one, for the default λ."""
    console = open_console()
    shown: list[Table] = []
    for at in (DEFAULT_TRADEOFF,) if tradeoffs is None else tradeoffs:
        rows = assay.ranked(at)
        columns = _ranking_columns(assay, rows)
        styles = ["dim" if r.rank is None else "bold" if r.top else "" for r in rows]
        shown.append(fitted_table(columns, spare=_spare(columns), width=console.width, styles=styles, words=("rank",)))
        console.print()
        console.print(Text(_ranking_title(assay, at, default=tradeoffs is None), "bold"))
        console.print(shown[-1])
        for sentence in margin_sentences(rows, assay.settings):
            console.print(Text(printable(sentence)))
    console.print(Text(_explained_ranking(assay, *shown), "dim"))


def print_subgroup_rankings(assay: Assay, tradeoffs: Sequence[float] | None = None) -> None:
    """For each subgroup and λ, the ranking in every part of the test set."""
    console = open_console()
    for name in assay.subgroups:
        parts = parts_of(assay, name)
        shown: list[Table] = []
        for at in (DEFAULT_TRADEOFF,) if tradeoffs is None else tradeoffs:
            table = _subgroup_table(assay, name, parts, at, console.width)
            console.print()
            console.print(Text(printable(_ranking_title(assay, at, default=tradeoffs is None, subgroup=name)), "bold"))
            console.print(table)
            shown.append(table)
            console.print(Text(printable(f"Lowest mean E at λ = {tradeoff(at)}: {_first(assay, parts, at)}")))
        console.print(Text(_explained_ranking(assay, *shown) + "; each part by itself", "dim"))


def _subgroup_table(assay: Assay, name: str, parts: Sequence[Part], at: float, width: int) -> Table:
    """All parts below each other, without the baselines."""
    ranked = [[r for r in part.assay.ranked(at) if r.rank is not None] for part in parts]
    every = [r for rows in ranked for r in rows]
    decimals, finer = _decimals(every)
    columns: dict[str, list[str]] = {}
    for part, rows in zip(parts, ranked, strict=True):
        before = {
            f"{printable(name)} ": [printable(part.value), *[""] * (len(rows) - 1)],
            "n": [count(part.n_instances), *[""] * (len(rows) - 1)],
        }
        found = before | _ranking_columns(part.assay, rows, decimals=decimals, finer=finer)
        for header, cells in found.items():
            columns.setdefault(header, []).extend(cells)
    styles = ["bold" if r.top else "" for r in every]
    words = (f"{printable(name)} ", "rank")
    return fitted_table(columns, spare=[*_spare(columns), "n"], width=width, styles=styles, words=words)


def _first(assay: Assay, parts: Sequence[Part], at: float) -> str:
    overall, others = first_places(assay, parts, at)
    if not others:
        return f"{overall}, in the whole test set and in every part."
    exceptions = [f"{named(model)} where it is {listed_names(values, most=5)}" for model, values in others.items()]
    return f"{overall} in the whole test set, but {listed(exceptions)}."


def print_breakpoints(assay: Assay) -> None:
    """Which of several models has the lowest mean E on which interval of λ."""
    if len(assay.candidates) == 1 or not assay.winners():
        return
    console = open_console()
    table = plain_table()
    table.add_column("from λ", justify="right", no_wrap=True)
    table.add_column("to λ", justify="right", no_wrap=True)
    table.add_column("model", overflow="fold")
    for low, high, names in assay.winners():
        table.add_row(tradeoff(low), tradeoff(high), Text(printable(", ".join(map(named, names)))))
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
        "model": [printable(r.model) + (" (baseline)" if r.rank is None else "") for r in rows],
        "mean E": [number(float(r.estimate), decimals) for r in rows],
        f"{level_text(assay.settings.level)} interval": [
            interval(r.estimate.low, r.estimate.high, decimals) for r in rows
        ],
        WON: [share_of_draws(r.win_share, assay.settings.n_draws) for r in rows],
        "worse than best by": [ABSENT if r.rank == 1 else number(float(r.difference), finer) for r in rows],
        "p (adjusted)": _pvalues(rows),
        "accuracy": [percent(_mean(assay, r.model, "correct") if r.model != "vacuous" else None) for r in rows],
        f"mean {_distance_name(assay)}": [number(_mean(assay, r.model, "distance"), decimals) for r in rows],
        "mean non-sp.": [number(_mean(assay, r.model, "nonspecificity"), decimals) for r in rows],
    }
    if len(assay.candidates) == 1:  # which wins every resample
        del cells[WON]
    return cells


def _ranks(row: Ranked) -> str:
    """All ranks that a model can have; nothing for a baseline."""
    return "" if row.rank_low is None or row.rank_high is None else rank_range(row.rank_low, row.rank_high)


def _pvalues(rows: Sequence[Ranked]) -> list[str]:
    """Adjusted p-values, marked where only a guard keeps a difference from being significant."""
    from uqassay.evidence.ranking_words import MARKS

    marks = [MARKS.get(r.limited_by, "") for r in rows]
    room = max(map(len, marks), default=0)
    return [f"{pvalue(r.pvalue_adjusted)}{mark:{room}}" for r, mark in zip(rows, marks, strict=True)]


def _spare(columns: dict[str, list[str]]) -> list[str]:
    """Headers of a ranking that a narrow terminal leaves out, the last of them first."""
    *_, worse, p, accuracy, distance, nonspecificity = columns
    between = list(columns)[list(columns).index("mean E") + 1]
    share = [WON] if WON in columns else []
    return [p, between, *share, worse, accuracy, nonspecificity, distance]


def _decimals(rows: Sequence[Ranked]) -> tuple[int, int]:
    """Decimals of E, and those of differences, which are often known better."""
    decimals = decimals_for((r.estimate.low, r.estimate.high) for r in rows)
    return decimals, max(decimals, decimals_for((r.difference.low, r.difference.high) for r in rows))


def _ranking_title(assay: Assay, at: float, *, default: bool, subgroup: str = "") -> str:
    terms = f"{_distance_name(assay)} + λ · non-specificity"
    where = f", by {subgroup}" if subgroup else ""
    chosen = " (the default)" if default else ""
    return f"Ranking at λ = {tradeoff(at)}{chosen} by the mean of E = {terms}{where}; lower is better"


def _explained_ranking(assay: Assay, *tables: Table) -> str:
    from uqassay.evidence.ranking_words import MARKS, limit_notes

    said = {
        "rank": (
            f"rank: all ranks that the model can have, {level_text(assay.settings.level)} for all models at once; "
            "from 1 on (bold): no model is shown to be better"
        ),
        WON: f"{WON}: share of {count(assay.settings.n_draws)} with the lowest mean E",
        "p (adjusted)": "p: paired test against the best, adjusted for all pairs",
    }
    cells = [cell for table in tables for column in table.columns for cell in column.cells]
    shown = "".join(map(str, cells))
    marks = [f"{MARKS[why]}: {text}" for why, text in limit_notes(assay).items() if MARKS[why] in shown]
    return "; ".join([explained(said, *tables), *marks])


def _distance_name(assay: Assay) -> str:
    return assay.settings.distance.replace("_", " ").upper()


def _mean(assay: Assay, model: str, column: str) -> float:
    return float(assay[model].columns[column].mean())


# -- mistakes and calibration -----------------------------------------------------------------------------------------


def print_mistakes(assay: Assay) -> None:
    """How the score that all models are compared by ranks each model's errors, and what refusing gains."""
    rows = []
    for name in assay.model_names:
        score = reference_score(assay, name)
        if score is not None:
            mine = [r for r in assay.mistake_ranking() if (r.model, r.score, r.run) == (name, score, None)]
            found = {r.metric: r.estimate for r in mine}
            rows.append((name, score, found["uq-auc"], found["uq-c-index"], assay.refusal(name, score, KEPT)))
    if not rows:
        return
    console = open_console()
    level = level_text(assay.settings.level)
    auc_header, index_header = f"UQ-AUC ({level} interval)", f"UQ-C-index ({level} interval)"
    kept_header = f"of the {percent(KEPT, 0)} kept"
    table = fitted_table(
        {
            "model": [printable(name) for name, *_ in rows],
            auc_header: [_with_interval(auc) for _, _, auc, _, _ in rows],
            index_header: [_with_interval(c_index) for _, _, _, c_index, _ in rows],
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
    console.print(Text(printable(calibration_sentence(assay))))
    console.print(table)
    console.print(Text(words, "dim"))


def _with_interval(estimate: Estimate) -> str:
    """An estimate between 0 and 1 and its interval; a dash where it is undefined."""
    if np.isnan(estimate):
        return ABSENT
    return f"{number(float(estimate))} ({interval(estimate.low, estimate.high)})"


# -- warnings and files -----------------------------------------------------------------------------------------------


def print_warnings(assay: Assay) -> None:
    """What a reader must know before believing the numbers."""
    console = open_console()
    console.print()
    for warning in assay.warnings:
        print_note(note_text(warning))
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
            lines = [printable(line) for line in str(value).splitlines()]
            table.add_row(key.replace("n_", "").replace("_", " "), Text("\n".join(lines)))
    console.print(table)
