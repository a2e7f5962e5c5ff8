"""The command `refuse`: one threshold to deploy, below which the share of wrong cases is bounded with a stated confidence."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from uqassay.cli.inputs import HOLDS, AssayRequest, Reading, make_assay
from uqassay.cli.judging import CANNOT_TELL, steps_of
from uqassay.cli.options import (
    COLUMN,
    INPUT,
    SURE,
    CommonInstances,
    Json,
    Labels,
    Models,
    Seed,
    option,
    takes_reading,
)
from uqassay.cli.remedies import note_text
from uqassay.cli.streams import complain, open_console, print_json, print_note, print_text, progress
from uqassay.cli.text import printable
from uqassay.errors import InputError
from uqassay.wording import counted, number, percent, pvalue_text, text_table

if TYPE_CHECKING:
    from uqassay.evidence.refusing import ModelRefusal

__all__ = ["refuse_command"]

HOW = "What is refused"
MANY_GROUPS = "The test of groups needs about as many groups as a test of independent cases needs cases"
ALWAYS_THERE = "nonspecificity"  # a score that every assay has, and that is no measure to ask for


@takes_reading("votes_are")  # votes are refused
def refuse_command(
    models: Models,
    labels: Labels = None,
    groups: Annotated[Path | None, option(f"Patients, sites or videos. {MANY_GROUPS}.", INPUT, metavar=COLUMN)] = None,
    reading: Reading = Reading(),  # noqa: B008
    common_instances: CommonInstances = False,
    risk: Annotated[
        float | None, option("Greatest acceptable share of wrong cases among those kept.", HOW, metavar="SHARE")
    ] = None,
    score: Annotated[
        list[str] | None,
        option("An uncertainty score to refuse by (repeatable); the best of all unless given.", HOW, metavar="SCORE"),
    ] = None,
    run: Annotated[
        int | None, option("The training run to deploy, where a model has several.", INPUT, metavar="N", min=1)
    ] = None,
    confidence: Annotated[float, option("Probability, over test sets, that the statement holds.", SURE)] = 0.95,
    share: Annotated[
        float, option("Share of the instances (or groups) that choose the threshold; the others certify it.", SURE)
    ] = 0.3,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Find the threshold that keeps the error rate below a limit with a stated confidence."""
    from uqassay.statistics.samples import check_inside

    if risk is None:
        raise InputError(
            "--risk",
            "the greatest acceptable error rate is needed",
            "",
            "give it by --risk, for example --risk 0.05",
            code="missing",
        )
    for value, name, example in ((risk, "risk", 0.05), (confidence, "confidence", 0.95), (share, "share", 0.3)):
        check_inside(value, name, example)
    scores = list(dict.fromkeys(score or ()))
    kept = any((Path(text) / HOLDS).is_file() for text in models)
    request = AssayRequest(
        models,
        labels=labels,
        groups=groups,
        reading=reading,
        score=() if kept else [name for name in scores if name != ALWAYS_THERE],
        calibration=["none"],
        common_instances=common_instances,
    )
    with progress(steps_of(request)) as say:
        assay = make_assay(request, progress=say)
        say("certifying")
        found = assay.certified_refusal(
            score=scores or None,
            risk=risk,
            confidence=confidence,
            run=None if run is None else run - 1,
            share=share,
            rng=seed,
        )
    if as_json:
        print_json({"schema": "uqassay.refusal/1", **found.to_dict()})
    else:
        _print(found)
    if not found.certified:
        complain("No threshold is certified: exit code 3.")
        raise typer.Exit(CANNOT_TELL)


# -- output -------------------------------------------------------------------------------------------------------------


def _print(found: "ModelRefusal") -> None:
    console, refusal = open_console(), found.refusal
    console.print(Text(printable(found.sentence()), "bold"))
    console.print()
    rows = [
        ("certified", _threshold(refusal.threshold), percent(float(refusal.coverage))),
        ("not certified", _threshold(refusal.uncertified_threshold), percent(refusal.uncertified_coverage)),
    ]
    print_text("\n".join(text_table(("", "threshold", "kept"), rows)))
    console.print(Text("not certified: the highest threshold whose observed error rate meets the limit", "dim"))
    console.print()
    others = [note_text(note) for note in refusal.notes if note.code != "undefined"]  # that one is in the sentence
    of_groups = [MANY_GROUPS] if refusal.method == "bets" else []
    for note in (_how(found), *dict.fromkeys(others), *of_groups):
        print_note(note)


def _threshold(value: float) -> str:
    """In full, so that it can be copied."""
    return repr(value) if math.isfinite(value) else number(value)


def _how(found: "ModelRefusal") -> str:
    """Which instances chose what, and what the others show."""
    refusal, n = found.refusal, len(found.considered)
    what = "the threshold" if n == 1 else f"the threshold and the score, of {n}"
    seen = refusal.observed_risk
    shown = f"{percent(float(seen), 2)} of {counted(seen.n, 'instance')} kept are wrong, {pvalue_text(refusal.pvalue)}"
    certified = f" ({shown})" if refusal.certified else ""
    chose, others = counted(refusal.n_choosing, "instance"), counted(refusal.n_certifying, "other")
    return f"{chose} chose {what}; {others} certify it{certified}"
