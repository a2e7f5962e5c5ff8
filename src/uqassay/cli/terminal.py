"""What a person reads in a terminal: the verdict, a ranking, where it changes, warnings. All from the assay alone."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TextIO

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from uqassay.cli.text import ABSENT, chance, decimals_for, fixed, interval, percent, printable, pvalue, tradeoff_text
from uqassay.cli.wording import in_options
from uqassay.evidence import Assay
from uqassay.evidence.mistake_ranking import reference_score
from uqassay.evidence.verdict import reference_tradeoff
from uqassay.statistics import Estimate

__all__ = [
    "add_names",
    "explained",
    "fitted",
    "print_breakpoints",
    "print_calibration",
    "print_file",
    "print_mistakes",
    "print_rankings",
    "print_report",
    "print_text",
    "print_warnings",
    "progress",
]

KEPT = 0.9  # share of the instances kept where the most uncertain ones are refused
GAP = 2  # columns between two columns
LEAST_NAME = 10  # columns that a model's name keeps, however narrow the terminal: numbers without it belong to nobody
UNBOUNDED = 10_000  # columns where nothing is a terminal, so that nothing is folded or cut


def print_report(assay: Assay, tradeoffs: Sequence[float] | None = None) -> None:
    """Verdict, rankings, breakpoints and warnings.

    Parameters
    ----------
    assay : Assay
    tradeoffs : sequence of float, optional
        The λ to rank at; the reference λ of the verdict by default.
    """
    console = _console(sys.stdout)
    for sentence in assay.verdict():
        console.print(Text(printable(sentence), "bold"))
    shape = f"{len(assay.candidates)} models, {assay.n_instances:,} instances, {assay.n_classes} classes"
    console.print(Text(shape, "dim"))
    print_rankings(assay, tradeoffs)
    print_breakpoints(assay)
    print_mistakes(assay)
    print_calibration(assay)
    print_warnings(assay)


def print_rankings(assay: Assay, tradeoffs: Sequence[float] | None = None) -> None:
    """One table for each λ."""
    console = _console(sys.stdout)
    said = {"wins": f"wins: share of {assay.settings.n_draws:,} paired bootstrap draws"}
    said["p (Holm)"] = "p: paired test against the best, adjusted by Holm"
    shown: list[Table] = []
    for tradeoff in (reference_tradeoff(assay),) if tradeoffs is None else tradeoffs:
        console.print()
        console.print(Text(_ranking_title(assay, tradeoff), "bold"))
        shown.append(_ranking_table(assay, tradeoff, console.width))
        console.print(shown[-1])
    console.print(Text(explained(said, *shown), "dim"))


def print_breakpoints(assay: Assay) -> None:
    """Which model has the lowest mean E on which interval of λ."""
    console = _console(sys.stdout)
    table = _table()
    table.add_column("from λ", justify="right", no_wrap=True)
    table.add_column("to λ", justify="right", no_wrap=True)
    table.add_column("model", overflow="fold")
    for low, high, names in assay.winners():
        table.add_row(tradeoff_text(low), tradeoff_text(high), Text(printable(", ".join(names))))
    console.print()
    console.print(Text("Lowest mean E by λ", "bold"))
    console.print(table)


def print_mistakes(assay: Assay) -> None:
    """How the score that all models are compared by ranks each model's errors, and what refusing gains."""
    rows = []
    for name in assay.model_names:
        score = reference_score(assay, name)
        if score is not None:
            mine = [r for r in assay.mistake_ranking if (r.model, r.score, r.run) == (name, score, None)]
            found = {r.metric: r.estimate for r in mine}
            rows.append((name, score, found["uq-auc"], found["uq-c-index"], assay.refusal(name, score, KEPT)))
    if not rows:
        return
    console = _console(sys.stdout)
    level = f"{100 * assay.settings.level:g} %"
    table = fitted(
        {
            "model": [printable(name) for name, *_ in rows],
            f"UQ-AUC ({level} interval)": [_with_interval(auc) for _, _, auc, _, _ in rows],
            f"C-index ({level} interval)": [_with_interval(c_index) for _, _, _, c_index, _ in rows],
            "accuracy": [percent(refused.accuracy_all) for *_, refused in rows],
            f"of the {100 * KEPT:g} % kept": [percent(refused.accuracy_kept) for *_, refused in rows],
        },
        spare=(3, 4, 2),
        width=console.width,
        styles=[""] * len(rows),
    )
    console.print()
    scores = ", ".join(dict.fromkeys(score for _, score, *_ in rows))
    console.print(Text(f"Does the uncertainty ({scores}) rank the errors", "bold"))
    console.print(table)
    said = {
        "UQ-AUC": "UQ-AUC: chance that an error is more uncertain than a right prediction",
        "C-index": "C-index: the same for the gap to the label",
    }
    console.print(Text(explained(said, table), "dim"))


def print_calibration(assay: Assay) -> None:
    """The calibration tests of every model and run."""
    from uqassay.cli.calibration_tables import table_of_tests

    if not any(test.n_tested for test in assay.calibration):
        return
    console = _console(sys.stdout)
    rows = assay.calibration_rows()
    table, words = table_of_tests(
        assay.calibration, 1 - assay.settings.level, console.width, [r["pvalue_holm"] for r in rows]
    )
    console.print()
    console.print(Text("Can the model, or some mixture of its members, be calibrated", "bold"))
    console.print(table)
    console.print(Text(words, "dim"))


def print_warnings(assay: Assay) -> None:
    """What a reader must know before believing the numbers."""
    console = _console(sys.stdout)
    console.print()
    for warning in assay.warnings:
        console.print(Text.assemble(("Note: ", "yellow"), printable(in_options(warning))))
    console.print()


def print_file(found: dict[str, Any]) -> None:
    """What `inspect_file` found."""
    console = _console(sys.stdout)
    table = _table(header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for key, value in found.items():
        if key == "arrays":
            value = "\n".join(f"{name} {tuple(a['shape'])} {a['dtype']}" for name, a in value.items())
        elif isinstance(value, list):
            value = ", ".join(str(v) for v in value)
        elif isinstance(value, bool):
            value = "yes" if value else "no"
        elif key == "bytes":
            value = f"{value:,}"
        if value is not None and value != "":
            lines = [printable(line) for line in str(value).splitlines()]
            table.add_row(key.replace("n_", "").replace("_", " "), Text("\n".join(lines)))
    console.print(table)


def print_text(text: str) -> None:
    """Plain lines, never cut or folded, so that paths and commands can be copied."""
    console = _console(sys.stdout)
    for line in text.splitlines():
        console.print(Text(printable(line)), soft_wrap=True)


@contextmanager
def progress(steps: int) -> Iterator[Callable[[str], None]]:
    """A bar on standard error where that is a terminal; yields what takes the name of the step that begins."""
    console = _console(sys.stderr)
    if not console.is_terminal or not _is_terminal(sys.stderr):
        yield lambda step: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(20), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=steps, completed=-1)
        yield lambda step: bar.update(task, description=printable(step), advance=1)


# -- tables -----------------------------------------------------------------------------------------------------------


def _ranking_table(assay: Assay, tradeoff: float, width: int) -> Table:
    """The ranking in as many columns as there is room for; a narrow terminal drops the last of `spare` first."""
    rows = assay.ranked(tradeoff)
    decimals = decimals_for(r.estimate for r in rows if r.rank is not None)
    finer = max(decimals, decimals_for(r.difference for r in rows if r.rank is not None))
    columns = {
        "#": ["" if r.rank is None else str(r.rank) for r in rows],
        "model": [printable(r.model) + (" (baseline)" if r.rank is None else "") for r in rows],
        "mean E": [fixed(float(r.estimate), decimals) for r in rows],
        f"{100 * assay.settings.level:g} % interval": [interval(r.estimate, decimals) for r in rows],
        "wins": [chance(r.win_probability, assay.settings.n_draws) for r in rows],
        "worse than best by": [ABSENT if r.rank == 1 else fixed(float(r.difference), finer) for r in rows],
        "p (Holm)": [pvalue(r.pvalue_holm) for r in rows],
        "accuracy": [percent(_mean(assay, r.model, "correct") if r.model != "vacuous" else None) for r in rows],
        f"mean {_distance_name(assay)}": [fixed(_mean(assay, r.model, "distance"), decimals) for r in rows],
        "mean non-sp.": [fixed(_mean(assay, r.model, "nonspecificity"), decimals) for r in rows],
    }
    styles = ["dim" if r.rank is None else "bold" if r.rank == 1 else "" for r in rows]
    return fitted(columns, spare=(3, 6, 5, 7, 9, 8), width=width, styles=styles)


def fitted(
    columns: dict[str, list[str]],
    *,
    spare: Sequence[int],
    width: int,
    styles: Sequence[str],
    words: Sequence[str] = (),
) -> Table:
    """A table of as many columns as there is room for: the last of the spare ones goes first.

    Numbers stand at the right of their columns, and `words`, the columns with these headers, at the left.
    """
    headers = list(columns)
    may_go = [headers[i] for i in spare]
    name = headers.index("model")
    name_width = max(12, width // 3)

    def needed() -> int:
        widths = [max(map(cell_len, (header, *cells))) for header, cells in columns.items()]
        return sum(widths) + GAP * (len(widths) - 1) - max(0, widths[name] - name_width)

    while may_go and needed() > width:
        del columns[may_go.pop()]
    table = _table()
    for header in columns:
        if header == "model":
            add_names(table, columns[header], name_width)
        else:
            # folded rather than cut; blanks at the end only tell equal headers apart
            side: Literal["left", "right"] = "left" if header in words else "right"
            table.add_column(header.rstrip(), justify=side, no_wrap=needed() <= width, overflow="fold")
    for style, cells in zip(styles, zip(*columns.values(), strict=True), strict=True):
        table.add_row(*map(Text, cells), style=style)
    return table


def add_names(table: Table, names: Sequence[str], width: int) -> None:
    """Add the column of the models' names: long ones are folded at `width`, and none to less than `LEAST_NAME` columns."""
    longest = max(map(cell_len, ("model", *names)))
    table.add_column("model", overflow="fold", min_width=min(LEAST_NAME, longest), max_width=width)


def explained(said: dict[str, str], *tables: Table) -> str:
    """What is said of the columns that the tables have; a column is known by the beginning of its header."""
    headers = [str(column.header) for table in tables for column in table.columns]
    return "; ".join(words for name, words in said.items() if any(header.startswith(name) for header in headers))


def _with_interval(estimate: Estimate) -> str:
    """An estimate between 0 and 1 and its interval, or a dash where it is undefined."""
    if np.isnan(estimate):
        return ABSENT
    return f"{fixed(float(estimate), 3)} ({interval(estimate, 3)})"


def _ranking_title(assay: Assay, tradeoff: float) -> str:
    terms = f"{_distance_name(assay)} + λ · non-specificity"
    return f"Ranking at λ = {tradeoff_text(tradeoff)} by the mean of E = {terms}; lower is better"


def _distance_name(assay: Assay) -> str:
    return assay.settings.distance.replace("_", " ").upper()


def _mean(assay: Assay, model: str, column: str) -> float:
    return float(assay[model].columns[column].mean())


def _table(*, header: bool = True) -> Table:
    return Table(box=None, show_header=header, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")


# -- consoles ---------------------------------------------------------------------------------------------------------


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Called while the error is handled; `main` has an exit code for it, Rich would take that of a failed check."""
        raise


def _is_terminal(stream: TextIO) -> bool:
    return hasattr(stream, "isatty") and stream.isatty()


def _console(stream: TextIO) -> Console:
    """No markup and no guesses about numbers in text; plain and unfolded where the stream is no terminal."""
    terminal = _is_terminal(stream)
    plain = not terminal or bool(os.environ.get("NO_COLOR"))
    return _Console(
        file=stream,
        markup=False,
        highlight=False,
        emoji=False,
        color_system=None if plain else "auto",
        force_terminal=None if terminal else False,
        width=None if terminal else UNBOUNDED,
    )
