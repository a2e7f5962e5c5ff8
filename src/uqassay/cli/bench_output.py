"""What `uqassay bench` shows: the bar, the results, the failures, the costs, and all of it as plain values."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uqassay.cli.text import ABSENT, percent, printable, shell_line

if TYPE_CHECKING:
    from uqassay.bench.report import Comparison
    from uqassay.bench.runner import Costs, RunSummary
    from uqassay.bench.runner import Progress as Far
    from uqassay.bench.status import BenchStatus

SHOWN_FAILURES = 10


def print_run(summary: "RunSummary", judged: "Sequence[Comparison]", output: Path) -> None:
    """Reports of a run, and where the pages are."""
    from uqassay.cli import terminal

    for comparison in judged:
        if len(judged) > 1:
            terminal.print_text(f"\n{comparison.name}")
        terminal.print_report(comparison.assay)
        runs = sorted({len(seeds) for seeds in comparison.seeds.values()})
        terminal.print_text(
            f"Intervals cover the test instances and the {' to '.join(map(str, runs))} training runs of each model."
            if runs[-1] > 1
            else "One training run of each model; --seeds 3 shows how much the training matters."
        )
    kept = f", {summary.n_kept} of them kept from before" if summary.n_kept else ""
    done = summary.n_cells - len(summary.failed)
    terminal.print_text(f"{done} of {summary.n_cells} cells done{kept}; {duration(summary.seconds)}.")
    for comparison in judged:
        terminal.print_text(f"Page: {comparison.folder / 'report.html'}")
    terminal.print_text(
        f"Again: {shell_line(['uqassay', 'bench', '--config', str(output / 'config.toml'), '-o', 'DIR'])}"
    )


def failures_sentence(summary: "RunSummary", output: Path) -> str:
    """Which cells failed and why."""
    shown = [f"{name} ({reason})" for name, reason in list(summary.failed.items())[:SHOWN_FAILURES]]
    more = f" and {len(summary.failed) - SHOWN_FAILURES} more" if len(summary.failed) > SHOWN_FAILURES else ""
    return (
        f"Failed: {len(summary.failed)} of {summary.n_cells} cells: {'; '.join(shown)}{more}; "
        f"see uqassay bench status {output}, and run them again by --retry-failed."
    )


def cost_sentences(costs: "Costs", workers: int) -> list[str]:
    """What is to do, and how long it will take."""
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
    from uqassay.cli import terminal

    console = terminal._console(sys.stderr)
    if not (console.is_terminal and sys.stderr.isatty()):
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
    """What a run came to, for JSON."""
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


def print_json(value: Any) -> None:
    """Strict JSON: no NaN, whatever the encoding of the terminal."""
    from uqassay.evidence.storage import plain

    print(json.dumps(plain(value), allow_nan=False, indent=2))


def print_status(found: "BenchStatus") -> None:
    """The cells of each method on each data set, and why some failed."""
    from uqassay.cli import terminal

    columns = {
        "data set": [printable(row.dataset) for row in found.rows],
        "model": [printable(row.method) for row in found.rows],
        "done": [str(row.done) for row in found.rows],
        "failed": [str(row.failed) for row in found.rows],
        "running": [str(row.running) for row in found.rows],
        "to do": [str(row.queued) for row in found.rows],
        "accuracy": [percent(row.accuracy) for row in found.rows],
        "s per cell": [ABSENT if row.seconds is None else f"{row.seconds:.3g}" for row in found.rows],
    }
    console = terminal._console(sys.stdout)
    styles = [""] * len(found.rows)
    console.print(terminal.fitted(columns, spare=(7, 6), width=console.width, styles=styles, words=("data set",)))
    terminal.print_text("\n".join(found.sentences()))
