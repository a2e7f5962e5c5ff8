"""The commands `inspect` and `convert`: what a file holds, and the same prediction in another format."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from uqassay.cli import terminal
from uqassay.cli.inputs import NORMALISED, Reading, class_texts, load_models, member_axes, read_labels
from uqassay.cli.options import takes_reading
from uqassay.cli.outputs import check_apart
from uqassay.cli.remedies import about_files, note_text
from uqassay.cli.streams import print_json, print_note, print_text, progress
from uqassay.notes import Note
from uqassay.predictions import Prediction
from uqassay.predictions.files import LossyFormatWarning, inspect_file, save, what_is_lost
from uqassay.predictions.rows import Known, in_rows_of

__all__ = ["convert_command", "inspect_command"]


@takes_reading("normalise", "class_names", "ignore_label", "votes_are")
def inspect_command(
    file: Annotated[Path, typer.Argument(help="A prediction file.", show_default=False)],
    reading: Reading = Reading(),  # noqa: B008
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a file holds, and what each column of a table is taken for."""
    axis = member_axes(reading.member_axis, [""])[""]
    found = inspect_file(
        file, kind=reading.kind, member_axis=axis, variance_is=reading.variance_is, **reading.of_tables()
    )
    if as_json:
        print_json({"schema": "uqassay.inspect/1", **found})
    else:
        terminal.print_file(found)


@takes_reading("class_names", "ignore_label", "votes_are")
def convert_command(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="A prediction file.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file to write.", show_default=False)],
    reading: Reading = Reading(),  # noqa: B008
    labels: Annotated[Path | None, typer.Option(help="Labels to put into DST with the predictions.")] = None,
) -> None:
    """Write a prediction file in another format; the extension of DST decides."""
    check_apart("DST", target, [source] if labels is None else [source, labels])
    with progress(2) as say:
        given = None if labels is None else read_labels(labels, reading)
        runs, facts = load_models({"": [source]}, reading, like=class_texts(None, given), say=say)
        prediction = runs[""][0]
        if given is None and facts[source]["labels"]:
            given = read_labels(source, reading)
        rows = Known(prediction.ids, prediction.keys, "the predictions")
        with about_files({"labels": labels or source}, {"labels": ""}):
            values = None if given is None else in_rows_of(given, rows, "labels")
        say(f"writing {target.name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LossyFormatWarning)  # said below, as notes
            save(prediction, target, labels=values)
    changed = [note for note in prediction.notes if note.code == NORMALISED]
    others = tuple(note for note in prediction.notes if note not in changed)
    lost = what_is_lost(replace(prediction, notes=others), target)
    with_labels = " with labels" if values is not None else ""
    print_text(f"{target}: {_without(prediction, lost)!r}{with_labels}")
    for note in changed:
        print_note(note_text(note))
    for note in lost:
        print_note(f"{note_text(note)}; .npz keeps everything")


def _without(prediction: Prediction, lost: Sequence[Note]) -> Prediction:
    """The prediction as the file holds it, without the parts that these notes name."""
    absent: dict[str, Any] = {key: () if key == "notes" else None for key in (note.facts["key"] for note in lost)}
    return replace(prediction, **absent)
