"""What `uqassay calibration-test` prints: the tests, what they say in words, weights, single members and notes."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from uqassay.cli.calibration_tables import (
    members_table,
    shown_names,
    table_of_tests,
    weights_table,
)
from uqassay.cli.remedies import note_text
from uqassay.cli.streams import open_console, print_note
from uqassay.cli.text import printable
from uqassay.evidence.calibration_verdict import claim
from uqassay.wording import count, counted, named

if TYPE_CHECKING:
    from uqassay.evidence import ModelCalibration
    from uqassay.evidence.calibration_statements import JudgedTest
    from uqassay.evidence.calibration_tests import CalibrationPlan

__all__ = ["print_tests"]


def print_tests(
    judged: Sequence["JudgedTest"], alpha: float, plan: "CalibrationPlan", *, null: str | None = None
) -> None:
    """The tests as a table, in words, with the weights, single members where they were tested, and notes.

    `null` is the null distribution that was asked for.
    """
    console = open_console()
    tests = [j.test for j in judged]
    mixed = [j.test for j in judged if j.mixed]
    console.print(Text(_title(tests, plan), "bold"))
    table, words = table_of_tests(judged, alpha, console.width)
    console.print(table)
    console.print(Text(words, "dim"))
    console.print()
    for j in judged:
        console.print(Text(printable(claim(j)), "bold" if j.outcome == "rejected" else ""))
    weighed = [test for test in mixed if not np.isnan(test.weights).any()]
    if weighed:
        console.print()
        console.print(Text("Weights with the least value", "bold"))
        console.print(weights_table(weighed, console.width))
        said = "of member 1, 2 and so on; accuracy on the same instances, of the model's own mean and of the mixture"
        console.print(Text(said, "dim"))
    names = shown_names(tests)
    for name, j, test in zip(names, judged, tests, strict=True):
        if j.mixed and len(test.member_values):
            console.print()
            console.print(Text(printable(f"Single {test.noun} of {name} by {test.measure}"), "bold"))
            console.print(members_table(j, alpha, console.width))
    notes = [*_notes(tests), *_notes_on_options(tests, plan, null), *_notes_on_draws(tests, alpha, plan)]
    if notes:
        console.print()
    for note in notes:
        print_note(note)


def _title(tests: Sequence["ModelCalibration"], plan: "CalibrationPlan") -> str:
    first = tests[0]
    draws = (
        "as many draws of labels as small p-values need" if plan.n_more else f"{count(plan.n_draws)} draws of labels"
    )
    if plan.convention == "paper-code":
        draws += ", as in the authors' code"
    elif any(test.tested == "mixtures" for test in tests):
        draws += f", null {plan.null}"
    return f"Calibration tests on {count(first.n_tested)} of {count(first.n_instances)} instances; {draws}"


def _notes_on_draws(tests: Sequence["ModelCalibration"], alpha: float, plan: "CalibrationPlan") -> list[str]:
    """A fixed number of draws that cannot reject after the adjustment."""
    if plan.n_more or len(tests) / (plan.n_draws + 1) <= alpha + 1e-12:
        return []
    return [
        f"{count(plan.n_draws)} draws cannot reject any of {counted(len(tests), 'test')} at {alpha:.3g} if all look alike; "
        f"--draws {count(math.ceil(len(tests) / alpha - 1e-9) - 1)} can"
    ]


def _notes_on_options(tests: Sequence["ModelCalibration"], plan: "CalibrationPlan", null: str | None) -> list[str]:
    """Options that had no meaning for some of the models."""
    notes = []
    alone = dict.fromkeys(test.model for test in tests if test.tested != "mixtures")
    if null is not None and alone and plan.convention == "exact":
        notes.append(
            f"{', '.join(map(named, alone))}: no mixtures, so labels are drawn from the mean and --null has no effect"
        )
    memberless = dict.fromkeys(test.model for test in tests if not len(test.member_values))
    if plan.members and memberless:
        notes.append(f"{', '.join(map(named, memberless))}: no single members to test")
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
        names.append(named(model) if len(measures) == len(every) else f"{named(model)} by {', '.join(measures)}")
    return ", ".join(names)
