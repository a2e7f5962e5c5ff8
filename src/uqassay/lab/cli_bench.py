"""The commands `bench` and `compare`: methods on data sets, every result kept, and models over many data sets."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer
from rich.text import Text

from uqassay.checks import fail
from uqassay.cli.fail_if import CHECK_FAILED, Check, Outcome, end, outcome_of, parse_check
from uqassay.cli.inputs import HOLDS, OUTPUT, SURE, Json, OnIntervals, check_page, named_file, option
from uqassay.cli.report import print_report
from uqassay.cli.screen import (
    complain,
    fitted_table,
    is_terminal,
    open_console,
    print_json,
    print_note,
    print_text,
    progress,
    shell_line,
    unicode_text,
)
from uqassay.errors import InputError
from uqassay.losses import DEFAULT_TRADEOFF
from uqassay.text import ABSENT, listed_names, named, number, percent, significant, visible

if TYPE_CHECKING:
    from uqassay.evidence import Contender, DataSetComparison
    from uqassay.lab.bench.cell import Cell
    from uqassay.lab.bench.config import BenchConfig
    from uqassay.lab.bench.disentanglement import BenchStudies
    from uqassay.lab.bench.report import BenchStatus, Comparison
    from uqassay.lab.bench.runner import Costs, RunSummary
    from uqassay.lab.bench.runner import Progress as Far

__all__ = [
    "cost_sentences",
    "data_set_folders",
    "failures_sentence",
    "run_bar",
]


# What `uqassay bench` shows: the bar, the results, the failures, the costs, and all of it as plain values.

SHOWN_FAILURES = 10


def print_run(summary: "RunSummary", judged: "Sequence[Comparison]", output: Path) -> None:
    """Reports of a run, and where the pages are."""
    for comparison in judged:
        if len(judged) > 1:
            print_text(f"\n{comparison.name}")
        print_report(comparison.assay)
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
            bar.update(task, completed=state.finished, total=state.total, description=visible(words))

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
        "data set": [visible(row.dataset) for row in found.rows],
        "model": [visible(row.method) for row in found.rows],
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


# The disentanglement benchmark in `uqassay bench`: its page, its table and its sentences.


@final
@dataclass(frozen=True, eq=False)
class WrittenStudies:
    """The studies on each data set, and their page; None without a complete run."""

    found: "tuple[BenchStudies, ...]"
    page: Path | None

    @property
    def contenders(self) -> "tuple[Contender, ...]":
        """Those of all data sets."""
        return tuple(contender for one in self.found for contender in one.contenders)


def check_studies(plan: "BenchConfig", cells: "Sequence[Cell]") -> bool:
    """Whether there will be a page on disentanglement; checked before anything is trained."""
    from uqassay.lab.bench.disentanglement import holds_experiments

    if holds_experiments(cells):
        return True
    if plan.decomposition is not None:
        rule = "needs the conditions of the disentanglement benchmark"
        fail("decomposition", rule, "", "give --condition disentanglement", code="conflict")
    return False


def written_studies(
    plan: "BenchConfig", cells: "Sequence[Cell]", output: Path, command: str, say: Callable[[str], None]
) -> WrittenStudies:
    """Build the studies of each data set and write their page."""
    from uqassay.lab.bench.disentanglement import PAGE, bench_studies
    from uqassay.report import write_disentanglement_page

    found = WrittenStudies(tuple(bench_studies(cells, output, decompositions=plan.decomposition, progress=say)), None)
    if not found.contenders:
        return found
    say("writing the page on disentanglement")
    return replace(found, page=write_disentanglement_page(found.contenders, output / PAGE, command=command))


def print_studies(written: WrittenStudies) -> None:
    """Table and sentences of each data set, the runs left out, and where the page is."""
    from uqassay.evidence import disentanglement_lines

    if written.page is not None:
        print_text("\nDisentanglement")
        print_text("\n".join(disentanglement_lines(written.contenders)))
    for one in written.found:
        for note in one.notes:
            print_note(f"{one.dataset}: {note.text}")
    if written.page is not None:
        print_text(f"Page: {written.page}")


def plain_studies(written: WrittenStudies) -> dict[str, Any] | None:
    """The studies, for JSON; None if the conditions are not those of the benchmark."""
    if not written.found:
        return None
    return {
        "page": None if written.page is None else str(written.page),
        "datasets": [
            {
                "dataset": one.dataset,
                "studies": [study.to_json() for study in one.studies],
                "notes": [note.to_dict() for note in one.notes],
            }
            for one in written.found
        ],
    }


# The command `bench`: train methods on data sets, keep every result, resume interrupted runs, and report.

WHAT, HOW, WHERE = "What is compared", "How much is computed", "Where it runs"

bench_app = typer.Typer(
    help="Train methods on data sets, and report on what they say they do not know.",
    add_completion=False,
    invoke_without_command=True,
    subcommand_metavar="[status DIR]",
)


@bench_app.callback()
def bench(
    context: typer.Context,
    dataset: Annotated[
        list[str] | None, option("Data set; repeatable, or several with commas.", WHAT, metavar="NAME")
    ] = None,
    method: Annotated[
        list[str] | None,
        option(
            "Method, or LABEL=METHOD to show it under another name; repeatable, or several with commas.",
            WHAT,
            metavar="NAME",
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        option(
            "Training runs of each method: a number n for the seeds 0 … n-1, or seeds with commas.", WHAT, metavar="N"
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        option("A method's parameter, as mc-dropout.rate=0.1 (repeatable).", WHAT, metavar="METHOD.KEY=VALUE"),
    ] = None,
    condition: Annotated[
        list[str] | None,
        option(
            "A change of the data, as train_share=0.1,label_noise=0.2 (repeatable: each is one condition). disentanglement is "
            "a set of them: 7 shares of the training instances, 11 levels of label noise, each class left out.",
            WHAT,
            metavar="KEY=VALUE",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        option("All of this from a TOML or YAML file; options override its entries.", WHAT, metavar="FILE"),
    ] = None,
    preset: Annotated[
        str | None,
        option(
            "smoke (does it run), cpu (8,000 training and 2,000 test instances at most) or paper (all).",
            HOW,
            show_default="cpu",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        option("Threads of BLAS and PyTorch in each worker; they change last digits.", HOW, metavar="N", min=1),
    ] = None,
    common_members: Annotated[
        int | None,
        option("Span every sampled set in the report by this many members.", HOW, metavar="N", min=1),
    ] = None,
    decomposition: Annotated[
        list[str] | None,
        option(
            "Decomposition on the page on disentanglement; repeatable, or several with commas.",
            HOW,
            metavar="NAME",
            show_default="information-theoretic, and gaussian-logits where a method has it",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        option(
            "Processes; 0 trains in this one, without Dask.",
            WHERE,
            metavar="N",
            min=0,
            show_default="one for each core",
        ),
    ] = None,
    scheduler: Annotated[
        str | None, option("A running Dask scheduler, instead of processes here.", WHERE, metavar="tcp://HOST:PORT")
    ] = None,
    retry_failed: Annotated[bool, option("Run failed cells again.", WHERE, "--retry-failed")] = False,
    dry_run: Annotated[
        bool, option("Train nothing; count the cells done and to do, and estimate the time.", WHERE, "--dry-run")
    ] = False,
    first: Annotated[
        bool,
        option(
            "With --dry-run: run and keep the first cell of each method and data set, to know its time.",
            WHERE,
            "--first",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        option(
            "Folder of the results and the report; an interrupted run goes on there.",
            OUTPUT,
            "--output",
            "-o",
            metavar="FOLDER",
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        option("Exit with code 1 where this holds, as in uqassay report (repeatable).", OUTPUT, metavar="CHECK"),
    ] = None,
    on_intervals: OnIntervals = False,
    as_json: Json = False,
) -> None:
    """Train methods on data sets, and report on what they say they do not know."""
    if context.invoked_subcommand is not None:
        return
    if output is None:
        fail("--output", "the results need a folder", "", "give it by -o FOLDER", code="missing")
    if first and not dry_run:
        fail("--first", "needs --dry-run", "", "leave it out", code="conflict")
    _check_text(dataset=dataset, method=method, param=param, condition=condition)
    given = {
        "dataset": _split(dataset),
        "method": _split(method),
        "seeds": _seeds(seeds),
        "params": _params(param),
        "condition": _conditions(condition),
        "preset": preset,
        "threads": threads,
        "common_members": common_members,
        "decomposition": _split(decomposition),
        "workers": workers,
        "scheduler": scheduler,
    }
    checks = [parse_check(text) for text in fail_if or ()]
    if not dry_run:
        check_page(output / "report.html", [], made=output)  # refused before anything is trained
    _check_folder(output, alone=config is None and dataset is None and method is None)
    plan = _config(given, config, output)
    from uqassay.lab.bench.conditions import has_report
    from uqassay.lab.bench.methods import cells_of
    from uqassay.lab.bench.report import check_places, unjudged
    from uqassay.lab.bench.store import older_notes

    cells = cells_of(plan)
    reported = [cell for cell in cells if has_report(cell.condition, plan.condition)]
    check_places(reported, output, studied=check_studies(plan, cells))
    older = older_notes(cells, output, noun="cell")
    for sentence in older:  # said before hours of training
        complain(f"{sentence}.")
    if dry_run:
        _dry_run(plan, cells, output, first=first, retry_failed=retry_failed, as_json=as_json)
        return
    summary = _run(plan, cells, output, retry_failed=retry_failed)
    judged, studied, outcomes = _report(plan, cells, reported, output, checks, on_intervals)
    if as_json:
        print_json(
            {
                "schema": "uqassay.bench/1",
                **run_facts(summary, output),
                "reports": [plain_comparison(c) for c in judged],
                "disentanglement": plain_studies(studied),
                "notes": [note.to_dict() for note in unjudged(reported)],
                "older": older,
            }
        )
    else:
        for note in unjudged(reported):
            print_note(note.text)
        print_studies(studied)
        print_run(summary, judged, output)
    if len(summary.failed) == summary.n_cells:
        complain(f"No cell of {output} is done; see uqassay bench status {output}.")
    if summary.failed:
        complain(failures_sentence(summary, output))
    end(outcomes)
    if checks and not judged:
        complain("--fail-if: no condition has a report that could be checked.")
    if summary.failed or (checks and not judged):
        raise typer.Exit(CHECK_FAILED)


@bench_app.command()
def status(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a benchmark.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which cells of a benchmark are done, running, waiting or failed."""
    from uqassay.lab.bench.report import read_status

    found = read_status(folder)
    if as_json:
        print_json({"schema": "uqassay.bench-status/1", **found.to_dict()})
        return
    print_status(found)


# -- what is asked for ------------------------------------------------------------------------------------------------


def _config(given: dict[str, Any], file: Path | None, output: Path) -> "BenchConfig":
    """Options override the entries of the file; without data set and method, the stored configuration is taken."""
    from uqassay.lab.bench.config import BenchConfig, read_config

    stored = output / "config.toml"
    if file is None and given["dataset"] is None and given["method"] is None and stored.is_file():
        file = stored
    found = {} if file is None else read_config(file)
    for one, other in (("scheduler", "workers"), ("workers", "scheduler")):
        if given[one] is not None and given[other] is None:  # one place to run in goes before the other
            found.pop(other, None)
    for name in ("dataset", "method"):
        if name not in found:
            if given[name] is None:
                remedy = f"give it by --{name} NAME, or by --config FILE"
                fail(f"--{name}", "at least one is needed", "", remedy, code="missing")
            found[name] = given[name]
    return BenchConfig(**found).changed(**given)


def _check_folder(output: Path, *, alone: bool) -> None:
    """Refuse a folder whose config.toml is not that of a benchmark, unless it is the configuration (`alone`)."""
    from uqassay.lab.bench.store import holds_benchmark

    if not alone and (output / "config.toml").is_file() and not holds_benchmark(output):
        rule = f"{output} has another config.toml, which would be replaced"
        fail("--output", rule, "", "choose another folder", code="unwritable")


def _check_text(**given: Sequence[str] | None) -> None:
    """Refuse bytes that are not UTF-8: the files of the folder could not hold them."""
    for name, texts in given.items():
        for text in texts or ():
            if text.encode(errors="replace").decode() != text:
                fail(f"--{name}", "must be text in UTF-8", f"got {text!r}", "write it in UTF-8", code="type")


def _split(texts: Sequence[str] | None) -> list[str] | None:
    if texts is None:
        return None
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _seeds(text: str | None) -> int | list[int] | None:
    """``3`` is the number of seeds; with a comma, as in ``3,`` or ``3,5``, the numbers are the seeds."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",") if part.strip()] if "," in text else int(text)
    except ValueError:
        raise InputError(
            "--seeds", "must be a number or seeds with commas", f"got {text!r}", "write 3, or 0,1,2", code="type"
        ) from None


def _params(texts: Sequence[str] | None) -> dict[str, dict[str, Any]] | None:
    from uqassay.lab.bench.config import read_params

    return None if texts is None else read_params(texts)


def _conditions(texts: Sequence[str] | None) -> list[dict[str, Any] | str] | None:
    from uqassay.lab.bench.config import read_values

    if texts is None:
        return None
    return [read_values(text.split(","), "condition") if "=" in text else text for text in texts]


# -- running ----------------------------------------------------------------------------------------------------------


def _run(plan: "BenchConfig", cells: "Sequence[Cell]", output: Path, *, retry_failed: bool) -> "RunSummary":
    from uqassay.lab.bench.report import write_config
    from uqassay.lab.bench.runner import run_cells
    from uqassay.lab.bench.store import Store

    Store(output)  # makes the folder, or says why it cannot
    write_config(plan, cells, output)
    try:
        with run_bar(len(cells)) as show:
            return run_cells(
                cells, output, workers=plan.workers, scheduler=plan.scheduler, retry_failed=retry_failed, progress=show
            )
    except KeyboardInterrupt:
        complain(f"Interrupted: finished cells stay in {output}; the same command goes on.")
        raise


def _dry_run(
    plan: "BenchConfig", cells: "Sequence[Cell]", output: Path, *, first: bool, retry_failed: bool, as_json: bool
) -> None:
    from uqassay.lab.bench.runner import cost_estimate, processes_of, run_cells

    costs = cost_estimate(cells, output, retry_failed=retry_failed)
    if first and costs.untimed:
        firsts = {(cell.dataset, cell.method): cell for cell in reversed(cells)}
        wanted = [cell for cell in firsts.values() if f"{cell.dataset}, {cell.method}" in costs.untimed]
        with run_bar(len(wanted)) as show:
            run_cells(
                wanted, output, workers=plan.workers, scheduler=plan.scheduler, retry_failed=retry_failed, progress=show
            )
        costs = cost_estimate(cells, output, retry_failed=retry_failed)
    workers = processes_of(plan.workers, costs.queued + costs.running, plan.threads)
    if as_json:
        from dataclasses import asdict

        wall = None if costs.seconds is None else costs.seconds / max(1, workers)
        print_json({"schema": "uqassay.bench-costs/1", **asdict(costs), "workers": workers, "wall_seconds": wall})
        return
    print_text("\n".join(cost_sentences(costs, max(1, workers))))


def _report(
    plan: "BenchConfig",
    cells: "Sequence[Cell]",
    reported: "Sequence[Cell]",
    output: Path,
    checks: Sequence[Check],
    on_intervals: bool,
) -> "tuple[list[Comparison], WrittenStudies, list[Outcome]]":
    """Write the reports, and check them."""
    from uqassay.lab.bench.report import comparisons, write_comparison

    command = shell_line(["uqassay", "bench", "--config", str(output / "config.toml"), "-o", str(output)])
    with progress(2 * len(reported) + len(cells) + 1) as say:
        judged = comparisons(reported, output, common_members=plan.common_members, progress=say)
        for comparison in judged:
            say(f"writing the report on {comparison.name}")
            write_comparison(comparison, command=command, progress=say)
        outcomes = [outcome_of(check, c.assay, on_intervals=on_intervals) for c in judged for check in checks]
        studied = written_studies(plan, cells, output, command, say)
    return judged, studied, outcomes


# The command `compare`: models over many data sets, from saved assays or from a benchmark.

HOW_COMPARE = "What is compared"


def compare_command(
    folders: Annotated[
        list[str],
        typer.Argument(
            help="Saved assays (uqassay report --save), one for each data set, by its name; a bare FOLDER is named by its last "
            "part. Or one folder of uqassay bench.",
            metavar="[NAME=]FOLDER...",
            show_default=False,
        ),
    ],
    metric: Annotated[
        str,
        option(
            "unified (E), kl or another distance of the assays, accuracy, log-loss, brier, ece, ece-classwise, or a ranking "
            "metric such as uq-auc.",
            HOW_COMPARE,
            metavar="METRIC",
        ),
    ] = "unified",
    tradeoff: Annotated[float, option("λ of E.", HOW_COMPARE, metavar="λ")] = DEFAULT_TRADEOFF,
    score: Annotated[
        str | None,
        option("For ranking metrics, the uncertainty that ranks the mistakes.", HOW_COMPARE, metavar="SCORE"),
    ] = None,
    model: Annotated[
        list[str] | None, option("A model to compare (repeatable); by default all.", HOW_COMPARE, metavar="NAME")
    ] = None,
    rope: Annotated[
        float | None,
        option(
            "Differences up to this count as none in a Bayesian signed-rank test, which is left out without it.",
            SURE,
            metavar="WIDTH",
            min=0.0,
        ),
    ] = None,
    level: Annotated[float, option("Probability that no false pair is named.", SURE)] = 0.95,
    as_json: Json = False,
) -> None:
    """Compare models over many data sets: average ranks, and which are better on data sets like these."""
    from uqassay.evidence import compare_over_data_sets
    from uqassay.lab.bench.report import compare_benchmark
    from uqassay.lab.bench.store import holds_benchmark

    chosen = {"metric": metric, "tradeoff": tradeoff, "score": score, "models": model, "level": level, "rope": rope}
    alone = Path(folders[0]) if len(folders) == 1 else None
    with progress(len(folders) + 1) as say:
        say("comparing")
        if alone is not None and holds_benchmark(alone):
            found = compare_benchmark(alone, **chosen)  # type: ignore[arg-type]
        else:
            found = compare_over_data_sets(data_set_folders(folders), **chosen)  # type: ignore[arg-type]
    if as_json:
        print_json({"schema": "uqassay.data-sets/1", **found.to_dict()})
    else:
        _print_compare(found)


def data_set_folders(texts: Sequence[str]) -> dict[str, Path]:
    """Folders of saved assays by the name of the data set, from ``NAME=FOLDER`` or ``FOLDER``.

    A bare folder is named by its last part; where several end alike, as digits/assay and wine/assay do, by the part before.
    """
    bare = [Path(os.path.abspath(text)) for text in texts if "=" not in text or os.path.exists(text)]
    ends = Counter(path.name for path in bare)
    found: dict[str, Path] = {}
    for text in texts:
        if "=" in text and not os.path.exists(text):
            name, path = named_file(text, "folders")
        else:
            whole = Path(os.path.abspath(text))
            name, path = unicode_text(whole.name if ends[whole.name] == 1 else whole.parent.name), text
        if not (Path(path) / HOLDS).is_file():
            rule = "must be saved assays, or one folder of a benchmark"
            remedy = "save an assay there: uqassay report … --save FOLDER"
            fail("folders", rule, f"{path} holds neither", remedy, code="missing")
        if name in found:
            fail("folders", f"two data sets are named {name!r}", "", f"name them: NAME={path}", code="duplicate")
        found[name] = Path(path)
    return found


# -- output -------------------------------------------------------------------------------------------------------------


def _print_compare(found: "DataSetComparison") -> None:
    console = open_console()
    arrow = "greater" if found.greater_is_better else "lower"
    title = f"{len(found.models)} models on {found.n_data_sets} data sets by {found.label}; {arrow} is better"
    console.print(Text(visible(title), "bold"))
    print_text(found.sentence())
    if said := found.practical_sentence():
        print_text(said)
    rows = found.rows("models")
    columns = {
        "model": [visible(row["model"]) for row in rows],
        "average rank": [f"{row['average_rank']:.2f}" for row in rows],
        "mean": [number(row["mean"]) for row in rows],
        "better than": [visible(listed_names(row["better_than"])) or ABSENT for row in rows],
    }
    words = ("better than",)
    console.print(fitted_table(columns, spare=["mean"], width=console.width, words=words))
    print_text("\n".join(found.pairs_table().as_text()))
    apart = [f"{{{', '.join(map(named, group))}}}" for group in found.groups() if len(group) > 1]
    if apart and found.better().any():
        print_text(f"Not told apart: {'; '.join(apart)}.")
    for note in found.notes:
        print_note(visible(note.text))
