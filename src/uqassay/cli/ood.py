"""The command `ood`: which score of which model separates out-of-distribution inputs, from predictions alone."""

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.text import Text

from uqassay.cli.inputs import (
    Loaded,
    Reading,
    class_texts,
    label_to_ignore,
    labels_of,
    load_models,
    model_files,
    normalised_sentences,
    read_groups,
    read_labels,
    without_ignored,
)
from uqassay.cli.options import INPUT, Groups, Json, Models, option, takes_reading
from uqassay.cli.remedies import about_files, note_text
from uqassay.cli.streams import complain, open_console, print_json, print_note, progress
from uqassay.cli.tables import explained, fitted_table
from uqassay.cli.text import printable
from uqassay.errors import InputError
from uqassay.notes import distinct
from uqassay.wording import count, decimals_for, interval, level_text, listed, number, percent

if TYPE_CHECKING:
    from uqassay.evidence.ood import OodDetection
    from uqassay.statistics import Estimate

__all__ = ["ood_command"]

HOW = "What is computed"
HEADERS = ("ROC-AUC", "FPR95", "AUPR", "SCOD-AURC")
SHOWN_SCORES = 3  # that a note names before the others are counted


@takes_reading("positive")
def ood_command(
    models: Models,
    out: Annotated[
        list[str] | None,
        option("The same models on inputs out of distribution (repeat it for each).", INPUT, metavar="NAME=FILE"),
    ] = None,
    labels: Annotated[
        Path | None,
        option(
            "Labels in distribution: then errors and inputs out of distribution are judged together too (SCOD).",
            INPUT,
            metavar="FILE[:COLUMN]",
        ),
    ] = None,
    groups: Groups = None,
    out_groups: Annotated[Path | None, option("The same out of distribution.", INPUT)] = None,
    reading: Reading = Reading(),  # noqa: B008
    score: Annotated[
        list[str] | None,
        option("A score to judge (repeatable); by default those of the default list.", HOW, metavar="SCORE"),
    ] = None,
    positive: Annotated[
        str, option("What FPR95 and AUPR take for positive, out or in; papers differ.", HOW, metavar="out|in")
    ] = "out",
    ties: Annotated[
        str,
        option(
            "Ties at the threshold of FPR95: shared evenly, or whole, as other libraries let them pass.",
            HOW,
            metavar="shared|whole",
        ),
    ] = "shared",
    error_cost: Annotated[
        float, option("SCOD: cost of a kept error; a kept input out of distribution costs 1 minus it.", HOW)
    ] = 0.5,
    share_out: Annotated[
        float | None, option("SCOD: share of inputs out of distribution in use, unless that of the files.", HOW)
    ] = None,
    level: Annotated[float, option("Confidence level of the intervals.", HOW)] = 0.95,
    as_json: Json = False,
) -> None:
    """Judge how well each score separates out-of-distribution inputs; labels add the errors."""
    from uqassay.evidence.ood import detect_ood_in_predictions

    if not out:
        raise InputError(
            "--out",
            "the same models on inputs out of distribution are needed",
            "",
            "give them by --out NAME=FILE, once for each",
            code="missing",
        )
    inside_files, outside_files = model_files(models), model_files(out, option="--out")
    n_files = sum(len(paths) for files in (inside_files, outside_files) for paths in files.values())
    with progress(n_files + 2 * len(inside_files) + 1) as say:
        names, asked = reading.names(), None if labels is None else read_labels(labels, reading)
        like = class_texts(names, asked)
        inside, facts = load_models(inside_files, reading, like=like, say=say)
        outside, _ = load_models(outside_files, reading, like=like, say=say)
        said = [
            *_on_both_sides(inside_files, outside_files),
            *normalised_sentences(inside),
            *normalised_sentences(outside),
        ]
        groups_in, groups_out = read_groups(groups, reading), read_groups(out_groups, reading)
        y, source = labels_of(labels, asked, reading, facts, inside) or (None, None)
        of_files = {"groups_in": groups, "groups_out": out_groups, "labels": source}
        with about_files(of_files, {"groups_in": "groups", "groups_out": "groups", "labels": ""}):
            if y is not None:
                ignored = label_to_ignore(reading, y)
                loaded = without_ignored(Loaded(inside, y, groups_in, names, ignored, {"y_true": source}))
                inside, y, groups_in = loaded.runs, loaded.labels, loaded.groups
            found = detect_ood_in_predictions(
                inside,
                outside,
                class_names=names,
                scores=score or None,
                groups_in=groups_in,
                groups_out=groups_out,
                level=level,
                positive=positive,  # type: ignore[arg-type]
                ties=ties,  # type: ignore[arg-type]
                labels=y,
                error_cost=error_cost,
                share_out=share_out,
                votes_are=reading.votes_are,
                progress=say,
            )
        say("intervals")
        rows_found = found.rows() if as_json else []
        table = [] if as_json else _estimates(found)
    for sentence in said:
        complain(sentence)
    if as_json:
        print_json({"schema": "uqassay.ood/1", **_facts(found), "findings": rows_found})
    else:
        _print(found, table, score or ())


def _on_both_sides(inside: dict[str, list[Path]], outside: dict[str, list[Path]]) -> list[str]:
    """A file on both sides is allowed (it shows the values of a useless score), but seldom meant."""
    places = {os.path.realpath(path) for paths in inside.values() for path in paths}
    return [
        f"Warning: --out: {path.name} is given in distribution too; no score can tell a file from itself."
        for path in dict.fromkeys(path for paths in outside.values() for path in paths)
        if os.path.realpath(path) in places
    ]


# -- output -------------------------------------------------------------------------------------------------------------


def _facts(found: "OodDetection") -> dict[str, Any]:
    return {
        "n_in": found.inside.n_instances,
        "n_out": found.outside.n_instances,
        "positive": found.positive,
        "ties": found.ties,
        "level": found.level,
        **({"error_cost": found.error_cost, "share_out": found.share_out} if found.has_errors else {}),
    }


def _estimates(found: "OodDetection") -> "list[tuple[str, str, list[Estimate]]]":
    """Model, score and all metrics, the greatest ROC-AUC first, what is undefined last."""
    rows = [
        (model, score, [found.estimate(model, score, metric) for metric in found.shown_metrics])
        for model in found.model_names
        for score in found.score_names(model)
    ]
    return sorted(rows, key=lambda row: math.inf if math.isnan(row[2][0]) else -row[2][0])


def _print(found: "OodDetection", rows: "Sequence[tuple[str, str, list[Estimate]]]", asked: Sequence[str] = ()) -> None:
    console = open_console()
    m, n = found.inside.n_instances, found.outside.n_instances
    title = f"{count(m)} instances in distribution, {count(n)} out of it; by ROC-AUC, greater is better"
    console.print(Text(title, "bold"))
    columns = {"model": [printable(row[0]) for row in rows], "score": [row[1] for row in rows]}
    headers = HEADERS[: len(found.shown_metrics)]
    between = [f"{level_text(found.level)} interval{' ' * k}" for k in range(len(headers))]  # blanks tell them apart
    for k, header in enumerate(headers):
        estimates = [row[2][k] for row in rows]
        decimals = decimals_for((e.low, e.high) for e in estimates)
        columns[header] = [number(float(e), decimals) for e in estimates]
        columns[between[k]] = [interval(e.low, e.high, decimals) for e in estimates]
    spare = [between[0], "FPR95", "AUPR", *headers[3:], *between[1:]]
    table = fitted_table(columns, spare=spare, width=console.width, words=("score",))
    console.print(table)
    what = ("in", "refused", n) if found.positive == "out" else ("out of", "kept", m)
    chance = f"{what[2] / (m + n):.3g} without knowledge (positive: {found.positive})"
    said = {
        "FPR95": f"FPR95: share {what[0]} distribution that is {what[1]} where 95 % of the others are",
        "AUPR": f"AUPR: average precision, {chance}",
        "SCOD-AURC": _costs(found),
    }
    if words := explained(said, table):
        console.print(Text(words, "dim"))
    for note in (*_absent(found, asked), *_notes(rows)):
        print_note(note)


def _costs(found: "OodDetection") -> str:
    share = found.outside.n_instances / (found.inside.n_instances + found.outside.n_instances)
    share = share if found.share_out is None else found.share_out
    cost = found.error_cost
    return (
        f"SCOD-AURC: mean cost of the inputs kept over all coverages, {cost:.3g} for an error, {1 - cost:.3g} for an input out "
        f"of distribution; {percent(share)} are"
    )


def _absent(found: "OodDetection", asked: Sequence[str]) -> Iterator[str]:
    """Which models lack a score that was asked for."""
    for score in dict.fromkeys(asked):
        for name, model in found.inside.models.items():
            if score not in found.score_names(name):
                yield f"{name} ({model.kind}) has no {score} and is left out"


def _notes(rows: "Sequence[tuple[str, str, list[Estimate]]]") -> Iterator[str]:
    """Each note once, with the scores that it is about, unless it is about all."""
    about: dict[str, list[str]] = {}
    for model, score, estimates in rows:
        for note in dict.fromkeys(map(note_text, distinct(*(e.notes for e in estimates)))):
            about.setdefault(note, []).append(f"{score} of {model}")
    for note, scores in about.items():
        yield note if len(scores) == len(rows) else f"{listed(scores, most=SHOWN_SCORES)}: {note}"
