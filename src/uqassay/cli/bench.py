"""The command `bench`: train methods on data sets, keep every result, go on where a run was broken off, and report."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uqassay.cli.bench_output import (
    cost_sentences,
    failures_sentence,
    plain_comparison,
    print_json,
    print_run,
    print_status,
    run_bar,
    run_facts,
)
from uqassay.cli.checks import failures, parse_check, skipped
from uqassay.cli.outputs import check_page
from uqassay.cli.text import printable, shell_line
from uqassay.errors import InputError

if TYPE_CHECKING:
    from uqassay.bench.cell import Cell
    from uqassay.bench.config import BenchConfig
    from uqassay.bench.report import Comparison
    from uqassay.bench.runner import RunSummary

__all__ = ["bench_app"]

WHAT, HOW, WHERE, OUTPUT = "What is compared", "How much is computed", "Where it runs", "Output"

bench_app = typer.Typer(
    help="Train methods on data sets, and report on what they say they do not know.",
    add_completion=False,
    invoke_without_command=True,
    subcommand_metavar="[status DIR]",
)


def _option(help: str, panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


@bench_app.callback()
def bench(
    context: typer.Context,
    dataset: Annotated[
        list[str] | None, _option("Data set; repeatable, or several with commas.", WHAT, metavar="NAME")
    ] = None,
    method: Annotated[
        list[str] | None,
        _option(
            "Method, or LABEL=METHOD to show it under another name; repeatable, or several with commas.",
            WHAT,
            metavar="NAME",
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        _option(
            "Training runs of each method: a number n for the seeds 0 … n-1, or seeds with commas.", WHAT, metavar="N"
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        _option("A method's parameter, as mc-dropout.rate=0.1 (repeatable).", WHAT, metavar="METHOD.KEY=VALUE"),
    ] = None,
    condition: Annotated[
        list[str] | None,
        _option(
            "A change of the data, as train_share=0.1,label_noise=0.2 (repeatable: each is one condition).",
            WHAT,
            metavar="KEY=VALUE",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        _option("All of this from a TOML or YAML file; options go before its entries.", WHAT, metavar="FILE"),
    ] = None,
    preset: Annotated[
        str | None,
        _option(
            "smoke (does it run), cpu (8,000 training and 2,000 test instances at most) or paper (all).",
            HOW,
            show_default="cpu",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        _option("Threads of BLAS and PyTorch in each worker; they change last digits.", HOW, metavar="N", min=1),
    ] = None,
    common_members: Annotated[
        int | None,
        _option("Span every sampled set in the report by this many members.", HOW, metavar="N", min=1),
    ] = None,
    workers: Annotated[
        int | None,
        _option(
            "Processes; 0 trains in this one, without Dask.",
            WHERE,
            metavar="N",
            min=0,
            show_default="one for each core",
        ),
    ] = None,
    scheduler: Annotated[
        str | None, _option("A running Dask scheduler, instead of processes here.", WHERE, metavar="tcp://HOST:PORT")
    ] = None,
    retry_failed: Annotated[bool, _option("Run failed cells again.", WHERE, "--retry-failed")] = False,
    dry_run: Annotated[
        bool, _option("Train nothing; say what is done, what is to do, and what it will take.", WHERE, "--dry-run")
    ] = False,
    first: Annotated[
        bool,
        _option(
            "With --dry-run: run the first cell of each method and data set, which is kept, to know its time.",
            WHERE,
            "--first",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        _option(
            "Folder of the results and the report; a run that was broken off goes on there.",
            OUTPUT,
            "--output",
            "-o",
            metavar="FOLDER",
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        _option("Exit with code 1 where this holds, as in uqassay report (repeatable).", OUTPUT, metavar="CHECK"),
    ] = None,
    as_json: Annotated[
        bool, _option("Print JSON on standard output, and nothing else there.", OUTPUT, "--json")
    ] = False,
) -> None:
    """Train methods on data sets, and report on what they say they do not know."""
    if context.invoked_subcommand is not None:
        return
    if output is None:
        raise InputError("output", "the results need a folder", "", "give it by -o FOLDER", code="undefined")
    if first and not dry_run:
        raise InputError("first", "means something with --dry-run alone", "", "leave it out", code="conflict")
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
        "workers": workers,
        "scheduler": scheduler,
    }
    checks = [parse_check(text) for text in fail_if or ()]
    if not dry_run:
        check_page(output / "report.html", [])  # refused before anything is trained
    _check_folder(output, alone=config is None and dataset is None and method is None)
    plan = _config(given, config, output)
    from uqassay.bench.methods import cells_of
    from uqassay.bench.report import check_places

    cells = cells_of(plan)
    check_places(cells, output)
    if dry_run:
        _dry_run(plan, cells, output, first=first, retry_failed=retry_failed, as_json=as_json)
        return
    summary = _run(plan, cells, output, retry_failed=retry_failed)
    judged, failed, left_out = _report(plan, cells, output, checks)
    if as_json:
        print_json(
            {
                "schema": "uqassay.bench/1",
                **run_facts(summary, output),
                "reports": [plain_comparison(c) for c in judged],
            }
        )
    else:
        print_run(summary, judged, output)
    if not judged:
        failed.append(f"No cell of {output} is done; see uqassay bench status {output}.")
    for sentence in (*left_out, *failed):
        print(printable(sentence), file=sys.stderr)
    if summary.failed:
        print(printable(failures_sentence(summary, output)), file=sys.stderr)
    if failed or summary.failed:
        raise typer.Exit(1)


@bench_app.command()
def status(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a benchmark.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what of a benchmark is done, runs, waits and has failed."""
    from uqassay.bench.status import read_status

    found = read_status(folder)
    if as_json:
        print_json({"schema": "uqassay.bench-status/1", **found.to_dict()})
        return
    print_status(found)


# -- what is asked for ------------------------------------------------------------------------------------------------


def _config(given: dict[str, Any], file: Path | None, output: Path) -> "BenchConfig":
    """The options before the entries of the file; without data set and method, what the folder has stored goes on."""
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
                    name, "at least one is needed", "", f"give it by --{name} NAME, or by --config FILE", code="empty"
                )
            found[name] = given[name]
    return BenchConfig(**found).changed(**given)


def _check_folder(output: Path, *, alone: bool) -> None:
    """Refuse a folder of something else with a config.toml, which would be replaced; alone, it is the configuration."""
    from uqassay.bench.files import holds_benchmark

    if not alone and (output / "config.toml").is_file() and not holds_benchmark(output):
        raise InputError(
            "output",
            f"{output} has a config.toml of its own, which would be replaced",
            "",
            "choose another folder",
            code="unwritable",
        )


def _check_text(**given: Sequence[str] | None) -> None:
    """Refuse bytes that are no text, which no file of the folder could hold."""
    for name, texts in given.items():
        for text in texts or ():
            if text.encode(errors="replace").decode() != text:
                raise InputError(name, "must be text in UTF-8", f"got {text!r}", "write it in UTF-8", code="type")


def _split(texts: Sequence[str] | None) -> list[str] | None:
    if texts is None:
        return None
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _seeds(text: str | None) -> int | list[int] | None:
    """3 is the number of seeds; 3, with a comma behind it or others beside it, is a seed."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",") if part.strip()] if "," in text else int(text)
    except ValueError:
        raise InputError(
            "seeds", "must be a number or seeds with commas", f"got {text!r}", "write 3, or 0,1,2", code="type"
        ) from None


def _params(texts: Sequence[str] | None) -> dict[str, dict[str, Any]] | None:
    from uqassay.bench.config import read_params

    return None if texts is None else read_params(texts)


def _conditions(texts: Sequence[str] | None) -> list[dict[str, Any]] | None:
    from uqassay.bench.config import read_values

    return None if texts is None else [read_values(text.split(","), "condition") for text in texts]


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
        print(printable(f"Interrupted: what is done stays in {output}; the same command goes on."), file=sys.stderr)
        raise


def _dry_run(
    plan: "BenchConfig", cells: "Sequence[Cell]", output: Path, *, first: bool, retry_failed: bool, as_json: bool
) -> None:
    from uqassay.bench.runner import cost_estimate, processes_of, run_cells
    from uqassay.cli import terminal

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
    terminal.print_text("\n".join(cost_sentences(costs, max(1, workers))))


def _report(
    plan: "BenchConfig", cells: "Sequence[Cell]", output: Path, checks: Sequence[Any]
) -> "tuple[list[Comparison], list[str], list[str]]":
    """Write the reports; the checks that failed and what they left out."""
    from uqassay.bench.report import comparisons, write_comparison
    from uqassay.cli import terminal

    command = shell_line(["uqassay", "bench", "--config", str(output / "config.toml"), "-o", str(output)])
    with terminal.progress(2 * len(cells) + 1) as say:
        judged = comparisons(cells, output, common_members=plan.common_members, progress=say)
        for comparison in judged:
            say(f"writing the report on {comparison.name}")
            write_comparison(comparison, command=command)
        failed = [sentence for c in judged for check in checks for sentence in failures(check, c.assay)]
        left_out = [sentence for c in judged for check in checks for sentence in skipped(check, c.assay)]
    return judged, failed, left_out
