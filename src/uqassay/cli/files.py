"""The commands `inspect` and `convert`: what a file holds, and the same prediction in another format."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from uqassay.cli import terminal
from uqassay.cli.columns import Rows, read_labels
from uqassay.cli.normalising import NORMALISED, load_normalised
from uqassay.cli.outputs import check_apart
from uqassay.cli.remedies import note_text
from uqassay.cli.streams import print_json, print_note, print_text, progress
from uqassay.notes import Note
from uqassay.predictions import Prediction
from uqassay.predictions.files import LossyFormatWarning, inspect_file, load, load_labels, save, what_is_lost

__all__ = ["convert_command", "inspect_command"]

_VarianceIs = Annotated[
    str | None,
    typer.Option(
        help="Meaning of the variance of Gaussian logits in a file that does not state it: aleatoric (noise of the label) or "
        "epistemic (doubt about the function).",
        metavar="MEANING",
    ),
]


def inspect_command(
    file: Annotated[Path, typer.Argument(help="A prediction file.", show_default=False)],
    member_axis: Annotated[int, typer.Option(help="Axis of the members in arrays of three axes.")] = 1,
    variance_is: _VarianceIs = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a file holds."""
    found = inspect_file(file, member_axis=member_axis, variance_is=variance_is)
    if as_json:
        print_json({"schema": "uqassay.inspect/1", **found})
    else:
        terminal.print_file(found)


def convert_command(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="A prediction file.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file to write.", show_default=False)],
    kind: Annotated[
        str | None, typer.Option(help="Kind of prediction in SRC, where it holds several or an array without a name.")
    ] = None,
    member_axis: Annotated[int, typer.Option(help="Axis of the members in arrays of three axes.")] = 1,
    normalise: Annotated[bool, typer.Option("--normalise", help="Divide probabilities by their sums first.")] = False,
    variance_is: _VarianceIs = None,
    labels: Annotated[Path | None, typer.Option(help="Labels to put into DST with the predictions.")] = None,
) -> None:
    """Write a prediction file in another format; the extension of DST decides."""
    check_apart("DST", target, [source] if labels is None else [source, labels])
    with progress(2) as say:
        say(f"reading {source.name}")
        read = load_normalised if normalise else load
        prediction = read(source, kind=kind, member_axis=member_axis, variance_is=variance_is)
        values = None
        if labels is not None:
            rows = Rows.of({"": [source]}, {"": [prediction]})
            values = read_labels(labels, rows, prediction.class_names)
        elif inspect_file(source)["labels"]:
            values = load_labels(source)
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
