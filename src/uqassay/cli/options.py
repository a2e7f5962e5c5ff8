"""Options that several commands share, and how a command takes all those of an assay."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from uqassay.cli.inputs import AssayRequest, Reading

__all__ = [
    "COLUMN",
    "HOW",
    "INPUT",
    "OUTPUT",
    "READING_OPTIONS",
    "REQUEST_OPTIONS",
    "SURE",
    "CommonInstances",
    "FailIf",
    "Groups",
    "Json",
    "Labels",
    "Level",
    "Markdown",
    "Models",
    "OnIntervals",
    "Seed",
    "option",
    "takes_reading",
    "takes_request",
]

INPUT, HOW, SURE, OUTPUT = "Input", "How E = distance + λ · non-specificity is computed", "How sure", "Output"


def option(help: str, panel: str, *names: str, **more: Any) -> Any:
    """An option of Typer, shown in a panel of the help."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


Models = Annotated[
    list[str],
    typer.Argument(
        help="Prediction files (.npz, .npy, .csv, .tsv, .parquet, .jsonl, .json, .safetensors, .zarr, .pt) by the name of the "
        "model; a bare FILE is named by its stem. Training runs of one model: NAME=a.npz,b.npz, or the name repeated. A folder "
        "that report --save wrote, alone: that assay again.",
        metavar="NAME=FILE...",
        show_default=False,
    ),
]
COLUMN = "FILE[:COLUMN]"
Labels = Annotated[Path | None, option("Labels; needed unless a prediction file holds them.", INPUT, metavar=COLUMN)]
Groups = Annotated[
    Path | None,
    option("Patients, sites or videos: intervals and tests resample whole groups.", INPUT, metavar=COLUMN),
]
CommonInstances = Annotated[
    bool,
    option(
        "Judge the instances that every prediction file has, by their ids, where models lack answers.",
        INPUT,
        "--common-instances",
    ),
]
Level = Annotated[float, option("Confidence level of the intervals.", SURE)]
Margin = Annotated[
    float | None,
    option("Greatest difference of mean E that does not matter: tell which models are no worse by more.", SURE),
]
Seed = Annotated[int, option("Seed of every random draw.", SURE, metavar="N", min=0)]
FailIf = Annotated[
    list[str] | None,
    option(
        "Exit with code 1 where this holds: accuracy<0.9, DE:high(ece)>0.05 or unified@0.5>0.3 (repeatable). low(…) and "
        "high(…) are the limits of the interval.",
        OUTPUT,
        metavar="[MODEL:]METRIC[@λ or @SCORE]<NUMBER",
    ),
]
OnIntervals = Annotated[
    bool,
    option(
        "A metric without low(…) or high(…) in --fail-if means the whole interval: code 1 where all of it fails, 3 where the "
        "bound lies inside.",
        OUTPUT,
        "--on-intervals",
    ),
]
Markdown = Annotated[
    Path | None,
    option(
        "Write verdict, ranking and the outcome of each check to this file, for a pull request.", OUTPUT, "--markdown"
    ),
]
Json = Annotated[bool, option("Print JSON on standard output, and nothing else there.", OUTPUT, "--json")]

READING_OPTIONS: dict[str, Any] = {
    "member_axis": Annotated[
        list[str],
        option(
            "Axis of the members in arrays of three axes (1 unless given), for all models or for one: 0, or NAME=0 "
            "(repeatable).",
            INPUT,
            metavar="[NAME=]AXIS",
        ),
    ],
    "normalise": Annotated[
        bool,
        option(
            "Divide probabilities by their sums first, which repairs rounding, per cent and counts; a note says how many rows "
            "changed.",
            INPUT,
            "--normalise",
        ),
    ],
    "variance_is": Annotated[
        str | None,
        option(
            "Meaning of the variance of Gaussian logits in files that do not state it: aleatoric (noise of the label) or "
            "epistemic (doubt about the function).",
            INPUT,
            metavar="MEANING",
        ),
    ],
    "kind": Annotated[
        str | None,
        option(
            "Kind of the numbers, where the file does not tell: logits, members, dirichlet, …", INPUT, metavar="KIND"
        ),
    ],
    "columns": Annotated[
        str | None,
        option(
            "Columns of a table that are the classes, in their order, with commas between them.", INPUT, metavar="NAMES"
        ),
    ],
    "id": Annotated[
        str | None, option("Column of tables that identifies the instances.", INPUT, "--id", metavar="COLUMN")
    ],
    "positive": Annotated[
        str | None, option("Class whose probability y_prob is, in tables of y_true and y_prob.", INPUT, metavar="NAME")
    ],
    "class_names": Annotated[
        str | None,
        option(
            "Names of the classes in the order of their numbers, with commas between them, or a file with one on each line.",
            INPUT,
            metavar="NAMES",
        ),
    ],
    "ignore_label": Annotated[
        str | None, option("Label of instances that are left out, such as -1.", INPUT, metavar="LABEL")
    ],
    "votes_are": Annotated[
        str | None,
        option(
            "What a table of whole numbers holds: counts for each class, or single votes, one column for each annotator.",
            INPUT,
            metavar="NAME",
        ),
    ],
}
REQUEST_OPTIONS: dict[str, Any] = {
    "models": Models,
    "labels": Labels,
    "groups": Groups,
    "subgroup": Annotated[
        list[str],
        option("A part of the test set to report on (repeatable).", INPUT, metavar="NAME=FILE[:COLUMN]"),
    ],
    "tradeoff": Annotated[
        list[str],
        option(
            "λ; repeatable, or several with commas between them (rankings are shown at 0.5 unless given).",
            HOW,
            metavar="λ",
        ),
    ],
    "convention": Annotated[str, option("exact, or paper: clipped masses, as the authors' code.", HOW)],
    "distance": Annotated[str, option("kl, js, js_distance, tv, hellinger or brier.", HOW)],
    "nonspecificity": Annotated[
        str, option("hartley, korner, pal, credal-uncertainty or credal-uncertainty-box.", HOW)
    ],
    "focal_sets": Annotated[Path | None, option("Family of events for --convention paper: a 0/1 array (F, K).", HOW)],
    "floor": Annotated[
        float | None, option("Least probability in a logarithm (by the precision of the input unless given).", HOW)
    ],
    "repair": Annotated[bool, option("Clip and renormalise masses that are no belief function.", HOW, "--repair")],
    "common_members": Annotated[int | None, option("Span every sampled set by this many members.", HOW, metavar="N")],
    "score": Annotated[
        list[str],
        option(
            "An uncertainty score to compute (repeatable), such as epistemic-label-wise; the default list unless given.",
            HOW,
            metavar="SCORE",
        ),
    ],
    "calibration": Annotated[
        list[str],
        option(
            "A measure to test calibration by (repeatable), or none; kuiper-confidence and ece-classwise unless given.",
            SURE,
            metavar="MEASURE",
        ),
    ],
    "level": Level,
    "margin": Margin,
    "draws": Annotated[int, option("Draws behind the shares of resamples.", SURE, metavar="N", min=1)],
    "seed": Seed,
    "cluster": Annotated[
        str | None,
        option(
            "Score on the workers of this Dask scheduler, which must be trusted. Workers read .npy, .zarr, .safetensors and "
            "uncompressed .npz themselves, under the same path; other files are sent to them.",
            INPUT,
            metavar="ADDRESS",
        ),
    ],
    "common_instances": CommonInstances,
}


def takes_request(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of `AssayRequest`, and those of `Reading` in it, as options, before its other options."""

    @wraps(function)
    def command(**values: Any) -> None:
        reading = Reading(**{name: values.pop(name) for name in READING_OPTIONS})
        request = AssayRequest(reading=reading, **{name: values.pop(name) for name in REQUEST_OPTIONS})
        function(request, **values)

    own = list(inspect.signature(function).parameters.values())[1:]
    fields_of_request = [field for field in fields(AssayRequest) if field.name != "reading"]
    split = next(i for i, field in enumerate(fields_of_request) if field.name == "tradeoff")  # after the other inputs
    first, rest = fields_of_request[:split], fields_of_request[split:]
    given = [
        *_options(first, REQUEST_OPTIONS),
        *_options(fields(Reading), READING_OPTIONS),
        *_options(rest, REQUEST_OPTIONS),
    ]
    return _with_signature(command, [*given, *own])


def takes_reading(*leave_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator: a command has the fields of `Reading`, but for some, as options in place of its parameter `reading`."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        chosen = [field for field in fields(Reading) if field.name not in leave_out]
        given: list[inspect.Parameter] = []
        for name, parameter in inspect.signature(function).parameters.items():
            given += _options(chosen, READING_OPTIONS) if name == "reading" else [parameter]

        @wraps(function)
        def command(**values: Any) -> None:
            function(reading=Reading(**{field.name: values.pop(field.name) for field in chosen}), **values)

        return _with_signature(command, given)

    return decorate


def _options(of: Any, options: dict[str, Any]) -> list[inspect.Parameter]:
    """One parameter for each field."""
    keyword, found = inspect.Parameter.KEYWORD_ONLY, []
    for field in of:
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        default = [] if default == () else default
        found.append(inspect.Parameter(field.name, keyword, default=default, annotation=options[field.name]))
    return found


def _with_signature(command: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command
