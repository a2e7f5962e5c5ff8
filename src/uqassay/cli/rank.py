"""The command `rank`: rank classifiers at chosen λ, in the whole test set and in its parts."""

from dataclasses import replace

import typer

from uqassay.cli import terminal
from uqassay.cli.checks import OF_MEASURES, parse_check
from uqassay.cli.inputs import AssayRequest
from uqassay.cli.judging import end, judge, steps_of
from uqassay.cli.markdown_summary import check_summary, write_summary
from uqassay.cli.options import FailIf, Json, Markdown, OnIntervals, takes_request
from uqassay.cli.streams import print_json, progress
from uqassay.cli.subgroups import parts_json
from uqassay.cli.text import shell_line
from uqassay.cli.variance_table import print_variance
from uqassay.losses.unified import DEFAULT_TRADEOFF

__all__ = ["rank_command"]


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
    from uqassay.evidence.storage import ranking_json

    checks = [parse_check(text) for text in fail_if or ()]
    if not request.calibration and all(check.metric != OF_MEASURES for check in checks):
        request = replace(request, calibration=["none"])  # the ranking does not show it
    if markdown is not None:
        check_summary(markdown, request.inputs())
    with progress(steps_of(request)) as say:
        judged = judge(request, checks, say, on_intervals=on_intervals)
        assay = judged.assay
        tradeoffs = request.shown_tradeoffs()
        if markdown is not None:
            command = shell_line(["uqassay", *context.find_root().obj])
            write_summary(markdown, assay, judged.outcomes, tradeoffs=tradeoffs, command=command)
        found_at = tradeoffs or assay.tradeoffs
        parts = parts_json(assay, found_at) if as_json else []
    if as_json:
        found = {"schema": "uqassay.ranking/2", "default_tradeoff": DEFAULT_TRADEOFF}
        found |= ranking_json(assay, found_at)
        print_json(found | ({"subgroups": parts} if assay.subgroups else {}))
    else:
        terminal.print_rankings(assay, tradeoffs)
        print_variance(assay)
        terminal.print_subgroup_rankings(assay, tradeoffs)
        terminal.print_breakpoints(assay)
        terminal.print_warnings(assay)
    end(judged.outcomes)
