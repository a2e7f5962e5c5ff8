"""The command `ood`: which score of which model tells inputs from elsewhere, from predictions alone."""

import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uqassay.cli.columns import Rows, beside
from uqassay.cli.inputs import model_files
from uqassay.cli.text import printable
from uqassay.errors import InputError
from uqassay.notes import Note, distinct
from uqassay.predictions import Prediction
from uqassay.predictions.files import inspect_file, load

if TYPE_CHECKING:
    from uqassay.evidence.ood import OodDetection
    from uqassay.statistics import Estimate

__all__ = ["ood"]

INPUT, HOW, OUTPUT = "Input", "What is computed", "Output"
NORMALISABLE = ("point", "members", "vertices")
# Parameters of the library, and what they are called here
OPTIONS = {"inside": "models", "outside": "out", "scores": "score", "groups_in": "groups", "groups_out": "out-groups"}


def _option(help: str, panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


def ood(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Prediction files on inputs in distribution by the name of the model; a bare FILE is named by its stem. "
            "Training runs of one model: NAME=a.npz,b.npz, or the name repeated.",
            metavar="NAME=FILE...",
            show_default=False,
        ),
    ],
    out: Annotated[
        list[str] | None,
        _option("The same models on inputs out of distribution (repeat it for each).", INPUT, metavar="NAME=FILE"),
    ] = None,
    groups: Annotated[
        Path | None, _option("Patients, sites or videos in distribution: intervals rest on whole groups.", INPUT)
    ] = None,
    out_groups: Annotated[Path | None, _option("The same out of distribution.", INPUT)] = None,
    member_axis: Annotated[int, _option("Axis of the members in arrays of three axes.", INPUT)] = 1,
    normalise: Annotated[bool, _option("Divide probabilities by their sums first.", INPUT, "--normalise")] = False,
    score: Annotated[
        list[str] | None,
        _option("A score to judge (repeatable); by default all but the costly ones.", HOW, metavar="SCORE"),
    ] = None,
    positive: Annotated[
        str, _option("What FPR95 and AUPR take for positive, out or in; papers differ.", HOW, metavar="out|in")
    ] = "out",
    level: Annotated[float, _option("Confidence level of the intervals.", HOW)] = 0.95,
    as_json: Annotated[
        bool, _option("Print JSON on standard output, and nothing else there.", OUTPUT, "--json")
    ] = False,
) -> None:
    """Tell how well each score separates inputs from elsewhere; needs no labels."""
    from uqassay.cli import terminal
    from uqassay.evidence.ood import detect_ood_in_predictions

    if not out:
        raise InputError(
            "out",
            "the same models on inputs out of distribution are needed",
            "",
            "give them by --out NAME=FILE, once for each",
            code="missing",
        )
    inside_files, outside_files = model_files(models), model_files(out, option="out")
    _warn_of_both(inside_files, outside_files)
    n_files = sum(len(paths) for files in (inside_files, outside_files) for paths in files.values())
    with _in_options(), terminal.progress(n_files + 2 * len(inside_files) + 1) as say:
        sides, given = [], []
        for files, path in ((inside_files, groups), (outside_files, out_groups)):
            runs = _load(files, member_axis, normalise, say)
            sides.append(runs)
            flat = dict(
                zip((p for ps in files.values() for p in ps), (r for rs in runs.values() for r in rs), strict=True)
            )
            given.append(None if path is None else beside(path, ("groups", "group"), Rows.of(flat)))
        found = detect_ood_in_predictions(
            *sides,
            scores=score or None,
            groups_in=given[0],
            groups_out=given[1],
            level=level,
            positive=positive,  # type: ignore[arg-type]
            progress=say,
        )
        say("intervals")
        rows = found.rows() if as_json else []
        table = [] if as_json else _estimates(found)
    if as_json:
        from uqassay.evidence.storage import plain

        print(
            json.dumps(plain({"schema": "uqassay.ood/1", **_facts(found), "findings": rows}), allow_nan=False, indent=2)
        )
    else:
        _print(found, table, score or ())


# -- input --------------------------------------------------------------------------------------------------------------


def _load(files: dict[str, list[Path]], member_axis: int, normalise: bool, say: Any) -> dict[str, list[Prediction]]:
    """Every run of every model; where some can be normalised, the others are left as they are."""
    every = [path for paths in files.values() for path in paths]
    applicable = every
    if normalise:
        kinds = {path: inspect_file(path, member_axis=member_axis)["kind"] for path in every}
        applicable = [path for path in every if kinds[path] in NORMALISABLE] or every
    runs: dict[str, list[Prediction]] = {}
    for name, paths in files.items():
        for path in paths:
            say(f"reading {path.name}")
            runs.setdefault(name, []).append(
                load(path, member_axis=member_axis, normalise=normalise and path in applicable)
            )
    return runs


def _warn_of_both(inside: dict[str, list[Path]], outside: dict[str, list[Path]]) -> None:
    """A file on both sides is no error (it shows what knowing nothing looks like), but seldom what was meant."""
    places = {os.path.realpath(path) for paths in inside.values() for path in paths}
    for path in dict.fromkeys(path for paths in outside.values() for path in paths):
        if os.path.realpath(path) in places:
            warning = f"Warning: out: {path.name} is given in distribution too; nothing can tell a file from itself."
            print(printable(warning), file=sys.stderr)


@contextmanager
def _in_options() -> Iterator[None]:
    """What is wrong with an argument of the library is told of the option that it came from."""
    try:
        yield
    except InputError as problem:
        argument, colon, rest = str(problem).partition(":")
        if colon and argument in OPTIONS:
            raise type(problem)(f"{OPTIONS[argument]}:{rest}") from problem
        raise


# -- output -------------------------------------------------------------------------------------------------------------


def _facts(found: "OodDetection") -> dict[str, Any]:
    return {
        "n_in": found.inside.n_instances,
        "n_out": found.outside.n_instances,
        "positive": found.positive,
        "level": found.level,
    }


def _estimates(found: "OodDetection") -> "list[tuple[str, str, list[Estimate]]]":
    """Model, score and all metrics, the greatest ROC-AUC first, what is undefined last."""
    rows = [
        (model, score, [found.estimate(model, score, metric) for metric in found.metric_names])
        for model in found.model_names
        for score in found.score_names(model)
    ]
    return sorted(rows, key=lambda row: math.inf if math.isnan(row[2][0]) else -row[2][0])


def _print(found: "OodDetection", rows: "Sequence[tuple[str, str, list[Estimate]]]", asked: Sequence[str] = ()) -> None:
    from rich.cells import cell_len
    from rich.text import Text

    from uqassay.cli import terminal
    from uqassay.cli.text import decimals_for, fixed, interval

    console = terminal._console(sys.stdout)
    m, n = found.inside.n_instances, found.outside.n_instances
    console.print(Text(f"{m:,} instances in distribution, {n:,} out of it; by ROC-AUC, greater is better", "bold"))
    columns = {"model": [printable(row[0]) for row in rows], "score": [row[1] for row in rows]}
    between = f"{100 * found.level:g} % interval"
    for k, header in enumerate(("ROC-AUC", "FPR95", "AUPR")):
        estimates = [row[2][k] for row in rows]
        decimals = decimals_for(estimates)
        columns[header] = [fixed(float(e), decimals) for e in estimates]
        columns[f"{between}{' ' * k}"] = [interval(e, decimals) for e in estimates]  # blanks tell the headers apart
    spare = [between, "FPR95", "AUPR", f"{between} ", f"{between}  "]
    name_width = max(12, console.width // 4)

    def needed() -> int:
        widths = [max(map(cell_len, (header.rstrip(), *cells))) for header, cells in columns.items()]
        return sum(widths) + terminal.GAP * (len(widths) - 1) - max(0, widths[0] - name_width)

    while spare and needed() > console.width:
        del columns[spare.pop()]
    table = terminal._table()
    for header in columns:
        if header == "model":
            terminal.add_names(table, columns[header], name_width)
        elif header == "score":
            table.add_column(header, overflow="fold")
        else:
            table.add_column(header.rstrip(), justify="right", no_wrap=True)
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*map(Text, cells))
    console.print(table)
    what = ("in", "refused", n) if found.positive == "out" else ("out of", "kept", m)
    said = {
        "FPR95": f"FPR95: share {what[0]} distribution that is {what[1]} where 95 % of the others are",
        "AUPR": f"AUPR: average precision, {what[2] / (m + n):.3g} without knowledge (positive: {found.positive})",
    }
    if words := terminal.explained(said, table):
        console.print(Text(words, "dim"))
    for note in (*_absent(found, asked), *_notes(rows)):
        console.print(Text.assemble(("Note: ", "yellow"), printable(note)))


def _absent(found: "OodDetection", asked: Sequence[str]) -> list[str]:
    """Which models lack a score that was asked for."""
    kinds = {name: model.kind for name, model in found.inside.models.items()}
    return [
        f"{name} ({kind}) has no {score} and is left out."
        for score in dict.fromkeys(asked)
        for name, kind in kinds.items()
        if score not in found.score_names(name)
    ]


def _notes(rows: "Sequence[tuple[str, str, list[Estimate]]]") -> list[str]:
    """Each note once, with the scores it is about unless it is about all."""
    about: dict[Note, list[str]] = {}
    for model, score, estimates in rows:
        for note in distinct(*(e.notes for e in estimates)):
            about.setdefault(note, []).append(f"{score} of {model}")
    whose = {note: f"{', '.join(names[:3])}{' …' if len(names) > 3 else ''}: " for note, names in about.items()}
    return [f"{'' if len(about[note]) == len(rows) else whose[note]}{note}." for note in about]
