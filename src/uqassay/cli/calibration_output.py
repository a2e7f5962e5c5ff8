"""What `uqassay calibration-test` prints: the tests, what they say in words, weights, single members and notes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from uqassay.cli.calibration_tables import (
    members_table,
    rejects,
    sentence_of_test,
    shown_names,
    table_of_tests,
    weights_table,
)
from uqassay.cli.remedies import note_text
from uqassay.cli.streams import open_console, print_note
from uqassay.cli.text import printable
from uqassay.wording import count

if TYPE_CHECKING:
    from uqassay.evidence import ModelCalibration
    from uqassay.evidence.calibration_tests import CalibrationPlan

__all__ = ["print_tests"]


def print_tests(
    tests: Sequence["ModelCalibration"], alpha: float, plan: "CalibrationPlan", *, null: str | None = None
) -> None:
    """The tests as a table, in words, with the weights, single members where they were tested, and notes.

    `null` is the null distribution that was asked for.
    """
    console = open_console()
    mixed = [test for test in tests if test.tested == "mixtures"]
    console.print(Text(_title(tests[0], plan, any_mixed=bool(mixed)), "bold"))
    table, words = table_of_tests(tests, alpha, console.width)
    console.print(table)
    if len(tests) > 1:
        words += f"; each test by itself, not adjusted for the {len(tests)}"
    console.print(Text(words, "dim"))
    console.print()
    for test in tests:
        console.print(Text(printable(sentence_of_test(test, alpha)), "bold" if rejects(test, alpha) else ""))
    if any(rejects(test, alpha) and test.mean_pvalue > alpha for test in mixed):
        why = "it compares the least value with the least values of calibrated mixtures"
        console.print(Text(f"The test of all mixtures can reject where the test of the mean does not: {why}.", "dim"))
    weighed = [test for test in mixed if not np.isnan(test.weights).any()]
    if weighed:
        console.print()
        console.print(Text("Weights with the least value", "bold"))
        console.print(weights_table(weighed, console.width))
        said = "of member 1, 2 and so on; accuracy on the same instances, of the model's own mean and of the mixture"
        console.print(Text(said, "dim"))
    names = shown_names(tests)
    for name, test in zip(names, tests, strict=True):
        if test.tested == "mixtures" and len(test.member_values):
            console.print()
            console.print(Text(printable(f"Single {test.noun} of {name} by {test.measure}"), "bold"))
            console.print(members_table(test, alpha, console.width))
    notes = [*_notes(tests), *_notes_on_options(tests, plan, null)]
    if notes:
        console.print()
    for note in notes:
        print_note(note)


def _title(first: "ModelCalibration", plan: "CalibrationPlan", *, any_mixed: bool) -> str:
    draws = f"{count(first.n_draws)} draws of labels"
    if plan.convention == "paper-code":
        draws += ", as in the authors' code"
    elif any_mixed:
        draws += f", null {plan.null}"
    return f"Calibration tests on {count(first.n_tested)} of {count(first.n_instances)} instances; {draws}"


def _notes_on_options(tests: Sequence["ModelCalibration"], plan: "CalibrationPlan", null: str | None) -> list[str]:
    """Options that had no meaning for some of the models."""
    notes = []
    alone = dict.fromkeys(test.model for test in tests if test.tested != "mixtures")
    if null is not None and alone and plan.convention == "exact":
        notes.append(f"{', '.join(alone)}: no mixtures, so labels are drawn from the mean and --null has no effect")
    memberless = dict.fromkeys(test.model for test in tests if not len(test.member_values))
    if plan.members and memberless:
        notes.append(f"{', '.join(memberless)}: no single members to test")
    return notes


def _notes(tests: Sequence["ModelCalibration"]) -> list[str]:
    """Each note once, with the models and measures that it is about, unless it is about all."""
    about: dict[str, list[ModelCalibration]] = {}
    for test in tests:
        for note in dict.fromkeys(note_text(note) for note in test.notes):
            about.setdefault(note, []).append(test)
    return [note if len(those) == len(tests) else f"{_subjects(those, tests)}: {note}" for note, those in about.items()]


def _subjects(those: Sequence["ModelCalibration"], tests: Sequence["ModelCalibration"]) -> str:
    """Models, with the measures of those that were tested by others too."""
    names = []
    for model in dict.fromkeys(test.model for test in those):
        measures = dict.fromkeys(test.measure for test in those if test.model == model)
        every = {test.measure for test in tests if test.model == model}
        names.append(model if len(measures) == len(every) else f"{model} by {', '.join(measures)}")
    return ", ".join(names)
