"""The command `bench`: train methods on data sets, keep every result, resume interrupted runs, and report."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uqassay.cli.bench_disentanglement import (
    WrittenStudies,
    check_studies,
    plain_studies,
    print_studies,
    written_studies,
)
from uqassay.cli.bench_output import (
    cost_sentences,
    failures_sentence,
    plain_comparison,
    print_run,
    print_status,
    run_bar,
    run_facts,
)
from uqassay.cli.checks import Check, Outcome, outcome_of, parse_check
from uqassay.cli.judging import CHECK_FAILED, end
from uqassay.cli.options import OUTPUT, Json, OnIntervals, option
from uqassay.cli.outputs import check_page
from uqassay.cli.streams import complain, print_json, print_note, print_text, progress
from uqassay.cli.text import shell_line
from uqassay.errors import InputError

if TYPE_CHECKING:
    from uqassay.bench.cell import Cell
    from uqassay.bench.config import BenchConfig
    from uqassay.bench.report import Comparison
    from uqassay.bench.runner import RunSummary

__all__ = ["bench_app"]

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
        raise InputError("--output", "the results need a folder", "", "give it by -o FOLDER", code="missing")
    if first and not dry_run:
        raise InputError("--first", "needs --dry-run", "", "leave it out", code="conflict")
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
    from uqassay.bench.conditions import has_report
    from uqassay.bench.methods import cells_of
    from uqassay.bench.older_results import older_notes
    from uqassay.bench.report import check_places, unjudged

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
    from uqassay.bench.status import read_status

    found = read_status(folder)
    if as_json:
        print_json({"schema": "uqassay.bench-status/1", **found.to_dict()})
        return
    print_status(found)


# -- what is asked for ------------------------------------------------------------------------------------------------


def _config(given: dict[str, Any], file: Path | None, output: Path) -> "BenchConfig":
    """Options override the entries of the file; without data set and method, the stored configuration is taken."""
    from uqassay.bench.config import BenchConfig, read_config

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
                raise InputError(
                    f"--{name}",
                    "at least one is needed",
                    "",
                    f"give it by --{name} NAME, or by --config FILE",
                    code="missing",
                )
            found[name] = given[name]
    return BenchConfig(**found).changed(**given)


def _check_folder(output: Path, *, alone: bool) -> None:
    """Refuse a folder whose config.toml is not that of a benchmark, unless it is the configuration (`alone`)."""
    from uqassay.bench.files import holds_benchmark

    if not alone and (output / "config.toml").is_file() and not holds_benchmark(output):
        raise InputError(
            "--output",
            f"{output} has another config.toml, which would be replaced",
            "",
            "choose another folder",
            code="unwritable",
        )


def _check_text(**given: Sequence[str] | None) -> None:
    """Refuse bytes that are not UTF-8: the files of the folder could not hold them."""
    for name, texts in given.items():
        for text in texts or ():
            if text.encode(errors="replace").decode() != text:
                raise InputError(
                    f"--{name}", "must be text in UTF-8", f"got {text!r}", "write it in UTF-8", code="type"
                )


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
    from uqassay.bench.config import read_params

    return None if texts is None else read_params(texts)


def _conditions(texts: Sequence[str] | None) -> list[dict[str, Any] | str] | None:
    from uqassay.bench.config import read_values

    if texts is None:
        return None
    return [read_values(text.split(","), "condition") if "=" in text else text for text in texts]


# -- running ----------------------------------------------------------------------------------------------------------


def _run(plan: "BenchConfig", cells: "Sequence[Cell]", output: Path, *, retry_failed: bool) -> "RunSummary":
    from uqassay.bench.report import write_config
    from uqassay.bench.runner import run_cells
    from uqassay.bench.store import Store

    Store(output)  # makes the folder, or says why it cannot
    write_config(plan, cells, output)
    try:
        with run_bar(len(cells)) as show:
            return run_cells(
                cells,
                output,
                workers=plan.workers,
                scheduler=plan.scheduler,
                retry_failed=retry_failed,
                progress=show,
            )
    except KeyboardInterrupt:
        complain(f"Interrupted: finished cells stay in {output}; the same command goes on.")
        raise


def _dry_run(
    plan: "BenchConfig", cells: "Sequence[Cell]", output: Path, *, first: bool, retry_failed: bool, as_json: bool
) -> None:
    from uqassay.bench.runner import cost_estimate, processes_of, run_cells

    costs = cost_estimate(cells, output, retry_failed=retry_failed)
    if first and costs.untimed:
        firsts = {(cell.dataset, cell.method): cell for cell in reversed(cells)}
        wanted = [cell for cell in firsts.values() if f"{cell.dataset}, {cell.method}" in costs.untimed]
        with run_bar(len(wanted)) as show:
            run_cells(
                wanted,
                output,
                workers=plan.workers,
                scheduler=plan.scheduler,
                retry_failed=retry_failed,
                progress=show,
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
    from uqassay.bench.report import comparisons, write_comparison

    command = shell_line(["uqassay", "bench", "--config", str(output / "config.toml"), "-o", str(output)])
    with progress(2 * len(reported) + len(cells) + 1) as say:
        judged = comparisons(reported, output, common_members=plan.common_members, progress=say)
        for comparison in judged:
            say(f"writing the report on {comparison.name}")
            write_comparison(comparison, command=command, progress=say)
        outcomes = [outcome_of(check, c.assay, on_intervals=on_intervals) for c in judged for check in checks]
        studied = written_studies(plan, cells, output, command, say)
    return judged, studied, outcomes
