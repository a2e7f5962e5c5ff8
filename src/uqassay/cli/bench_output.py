"""What `uqassay bench` shows: the bar, the results, the failures, the costs, and all of it as plain values."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uqassay.cli import terminal
from uqassay.cli.streams import is_terminal, open_console, print_text
from uqassay.cli.tables import fitted_table
from uqassay.cli.text import printable, shell_line
from uqassay.wording import ABSENT, percent, significant

if TYPE_CHECKING:
    from uqassay.bench.report import Comparison
    from uqassay.bench.runner import Costs, RunSummary
    from uqassay.bench.runner import Progress as Far
    from uqassay.bench.status import BenchStatus

__all__ = [
    "cost_sentences",
    "failures_sentence",
    "plain_comparison",
    "print_run",
    "print_status",
    "run_bar",
    "run_facts",
]

SHOWN_FAILURES = 10


def print_run(summary: "RunSummary", judged: "Sequence[Comparison]", output: Path) -> None:
    """Reports of a run, and where the pages are."""
    for comparison in judged:
        if len(judged) > 1:
            print_text(f"\n{comparison.name}")
        terminal.print_report(comparison.assay)
        runs = sorted({len(seeds) for seeds in comparison.seeds.values()})
        print_text(
            f"Intervals cover the test instances and the {' to '.join(map(str, runs))} training runs of each model."
            if runs[-1] > 1
            else "One training run of each model; --seeds 3 shows how much the training matters."
        )
    kept = f", {summary.n_kept} of them kept from before" if summary.n_kept else ""
    done = summary.n_cells - len(summary.failed)
    print_text(f"{done} of {summary.n_cells} cells done{kept}; {duration(summary.seconds)}.")
    for comparison in judged:
        print_text(f"Page: {comparison.folder / 'report.html'}")
    print_text(f"Again: {shell_line(['uqassay', 'bench', '--config', str(output / 'config.toml'), '-o', 'DIR'])}")


def failures_sentence(summary: "RunSummary", output: Path) -> str:
    """Which cells failed and why."""
    shown = [f"{name} ({reason})" for name, reason in list(summary.failed.items())[:SHOWN_FAILURES]]
    more = f" and {len(summary.failed) - SHOWN_FAILURES} more" if len(summary.failed) > SHOWN_FAILURES else ""
    return (
        f"Failed: {len(summary.failed)} of {summary.n_cells} cells: {'; '.join(shown)}{more}; "
        f"see uqassay bench status {output}, and run them again by --retry-failed."
    )


def cost_sentences(costs: "Costs", workers: int) -> list[str]:
    """The number of cells to do, done and failed, and the time they will take."""
    total = costs.done + costs.failed + costs.running + costs.queued
    to_do = costs.queued + costs.running
    said = [f"{to_do} of {total} cells to do, {costs.done} done, {costs.failed} failed."]
    if to_do and costs.seconds is None:
        said.append("No cell was timed yet; --first runs one of each method and data set, and keeps it.")
    elif to_do and costs.seconds is not None:
        said.append(
            f"About {duration(costs.seconds / workers)} with {workers} workers ({duration(costs.seconds)} of one)."
        )
        if costs.untimed:
            said.append(f"Not timed yet, so taken for average: {'; '.join(costs.untimed)}; --first runs one of each.")
    return said


def duration(seconds: float) -> str:
    """Seconds in the unit that a reader wants."""
    for size, unit in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


@contextmanager
def run_bar(total: int) -> "Iterator[Callable[[Far], None] | None]":
    """A bar with the time left, on standard error where that is a terminal."""
    console = open_console(sys.stderr)
    if not (console.is_terminal and is_terminal(sys.stderr)):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(20), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=total)

        def show(state: "Far") -> None:
            left = "" if state.seconds_left is None else f"about {duration(state.seconds_left)} left"
            failed = f"{state.failed} failed" if state.failed else ""
            words = ", ".join(word for word in (left, failed, state.cell) if word)
            bar.update(task, completed=state.finished, total=state.total, description=printable(words))

        yield show


def run_facts(summary: "RunSummary", output: Path) -> dict[str, Any]:
    """The folder, the counts of cells, the failures and the time of a run, for JSON."""
    return {
        "folder": os.fspath(output),
        "cells": summary.n_cells,
        "kept": summary.n_kept,
        "failed": summary.failed,
        "seconds": summary.seconds,
    }


def plain_comparison(comparison: "Comparison") -> dict[str, Any]:
    """One report, for JSON."""
    return {
        "dataset": comparison.dataset,
        "condition": comparison.condition,
        "seeds": comparison.seeds,
        "page": str(comparison.folder / "report.html"),
        "assay": comparison.assay.to_json(),
    }


def print_status(found: "BenchStatus") -> None:
    """The cells of each method on each data set, and why some failed."""
    columns = {
        "data set": [printable(row.dataset) for row in found.rows],
        "model": [printable(row.method) for row in found.rows],
        "done": [str(row.done) for row in found.rows],
        "failed": [str(row.failed) for row in found.rows],
        "running": [str(row.running) for row in found.rows],
        "to do": [str(row.queued) for row in found.rows],
        "accuracy": [percent(row.accuracy) for row in found.rows],
        "s per cell": [ABSENT if row.seconds is None else significant(row.seconds) for row in found.rows],
    }
    console = open_console()
    spare = ("s per cell", "accuracy")
    console.print(fitted_table(columns, spare=spare, width=console.width, words=("data set",)))
    print_text("\n".join(found.sentences()))
