"""The command `report`: judge classifiers by their predictions, and write one page to decide from."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from uqassay.cli import terminal
from uqassay.cli.checks import parse_check
from uqassay.cli.inputs import AssayRequest
from uqassay.cli.judging import end, judge, steps_of
from uqassay.cli.markdown_summary import check_summary, write_summary
from uqassay.cli.options import OUTPUT, FailIf, Json, Markdown, OnIntervals, option, takes_request
from uqassay.cli.outputs import check_page, check_save
from uqassay.cli.streams import print_json, print_text, progress
from uqassay.cli.text import shell_line

__all__ = ["report_command", "write_report"]


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
    if page is not None:
        from uqassay.report.page_data import STEPS

        steps += len(STEPS)
    with progress(steps) as say:
        judged = judge(request, checks, say, on_intervals=on_intervals)
        assay = judged.assay
        if save is not None:  # before the page, which may lie in that folder
            say("keeping the assay")
            assay.save(os.path.realpath(save))
        if page is not None:
            from uqassay.report.page import write_page

            write_page(assay, page, command=command, progress=say)
        tradeoffs = request.shown_tradeoffs()
        if markdown is not None:
            write_summary(markdown, assay, judged.outcomes, tradeoffs=tradeoffs, command=command, page=page)
        if as_json:
            say("findings")
        found = assay.to_json() if as_json else None
    if found is not None:
        print_json(found)
    else:
        terminal.print_report(assay, tradeoffs)
        if save is not None:
            print_text(f"Assay: {save}")
        if page is not None:
            print_text(f"Page: {page}")
    end(judged.outcomes)
