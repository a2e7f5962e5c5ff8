"""What `report`, `rank` and `demo` share: the assay, the checks on it, and the exit code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import typer

from uqassay.cli.checks import Check, Outcome, outcome_of
from uqassay.cli.inputs import AssayRequest, make_assay, model_files
from uqassay.cli.streams import complain
from uqassay.evidence import Assay
from uqassay.evidence.conclusion import STAGES

__all__ = ["CANNOT_TELL", "CHECK_FAILED", "Judged", "end", "judge", "steps_of"]

CHECK_FAILED, CANNOT_TELL = 1, 3


@dataclass(frozen=True, eq=False)
class Judged:
    """An assay, and the outcomes of the checks on it."""

    assay: Assay
    outcomes: tuple[Outcome, ...]


def steps_of(request: AssayRequest) -> int:
    """Steps of a progress bar: every file is read, scored, scaled and its calibration tested; then come those of the whole."""
    return 4 * sum(len(paths) for paths in model_files(request.models).values()) + len(STAGES) + 2


def judge(request: AssayRequest, checks: Sequence[Check], say: Callable[[str], None], *, on_intervals: bool) -> Judged:
    """Make the assay and check it.

    Everything that can be refused is refused here, before anything is printed.
    """
    assay = make_assay(request, progress=say)
    say("verdict")
    outcomes = tuple(outcome_of(check, assay, on_intervals=on_intervals) for check in checks)
    assay.verdict()
    return Judged(assay, outcomes)


def end(outcomes: Sequence[Outcome]) -> None:
    """Report the models left out, failures and unclear checks, and exit with the code of the worst."""
    for outcome in outcomes:
        for sentence in outcome.sentences():
            complain(sentence)
    if any(outcome.failed for outcome in outcomes):
        raise typer.Exit(CHECK_FAILED)
    if any(outcome.unclear for outcome in outcomes):
        raise typer.Exit(CANNOT_TELL)
