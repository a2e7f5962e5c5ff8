"""The commands and their options (Typer)."""

import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from uqassay.cli.bench import bench_app
from uqassay.cli.calibration import calibration_test
from uqassay.cli.checks import OF_MEASURES, Check, failures, parse_check, skipped
from uqassay.cli.columns import Rows, read_labels
from uqassay.cli.inputs import AssayRequest, make_assay, model_files
from uqassay.cli.ood import ood
from uqassay.cli.outputs import check_apart, check_page, check_save
from uqassay.cli.text import printable, shell_line
from uqassay.errors import InputError
from uqassay.evidence import Assay

__all__ = ["app", "run"]

PRESETS = ("smoke", "cpu", "paper")
INPUT, HOW, SURE, OUTPUT = "Input", "How E = distance + λ · non-specificity is computed", "How sure", "Output"

app = typer.Typer(
    name="uqassay",
    help="Does this classifier know what it does not know, and which of these classifiers should I use?",
    epilog="Exit codes: 0 done, 1 a check failed (--fail-if), 2 bad input.",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(argv: list[str]) -> int:
    """Run one command; usage errors become an `InputError` in one sentence."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("uqassay", argv or ["--help"], obj=argv) as context:
            command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    except Exception as problem:
        if not hasattr(problem, "format_message"):  # every usage error has it, in each version of Typer
            raise
        message = " ".join(problem.format_message().split()).rstrip(".?! ")
        message = re.sub(r"[.?;]? Did you mean", "; did you mean", message)  # one sentence in each version
        where = getattr(getattr(problem, "ctx", None), "command_path", "uqassay")
        raise InputError(f"{message}; see {where} --help.") from problem
    return 0


# -- options ----------------------------------------------------------------------------------------------------------


def _option(help: str, panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


REQUEST_OPTIONS: dict[str, Any] = {
    "models": Annotated[
        list[str],
        typer.Argument(
            help="Prediction files by the name of the model; a bare FILE is named by its stem. Training runs of one "
            "model: NAME=a.npz,b.npz, or the name repeated.",
            metavar="NAME=FILE...",
            show_default=False,
        ),
    ],
    "labels": Annotated[Path | None, _option("Labels; needed unless a prediction file holds them.", INPUT)],
    "groups": Annotated[
        Path | None, _option("Patients, sites or videos: intervals and tests resample whole groups.", INPUT)
    ],
    "subgroup": Annotated[
        list[str], _option("A part of the test set to report on (repeatable).", INPUT, metavar="NAME=FILE")
    ],
    "member_axis": Annotated[int, _option("Axis of the members in arrays of three axes.", INPUT)],
    "normalise": Annotated[bool, _option("Divide probabilities by their sums first.", INPUT, "--normalise")],
    "tradeoff": Annotated[
        list[str],
        _option("λ; repeatable, or several with commas between them (0.1, 0.2, … 1 unless given).", HOW, metavar="λ"),
    ],
    "convention": Annotated[str, _option("exact, or paper: clipped masses, as the authors' code.", HOW)],
    "distance": Annotated[str, _option("kl, js, js_distance, tv, hellinger or brier.", HOW)],
    "nonspecificity": Annotated[str, _option("hartley, korner, pal or credal-uncertainty.", HOW)],
    "focal_sets": Annotated[Path | None, _option("Family of events for --convention paper: a 0/1 array (F, K).", HOW)],
    "floor": Annotated[
        float | None, _option("Least probability in a logarithm (by the precision of the input unless given).", HOW)
    ],
    "repair": Annotated[bool, _option("Clip and renormalise masses that are no belief function.", HOW, "--repair")],
    "common_members": Annotated[int | None, _option("Span every sampled set by this many members.", HOW, metavar="N")],
    "calibration": Annotated[
        list[str],
        _option(
            "A measure to test calibration by (repeatable), or none; ece-confidence and ece-classwise unless given.",
            SURE,
            metavar="MEASURE",
        ),
    ],
    "level": Annotated[float, _option("Confidence level of the intervals.", SURE)],
    "draws": Annotated[int, _option("Bootstrap draws behind the winning probabilities.", SURE, metavar="N", min=1)],
    "seed": Annotated[int, _option("Seed of every random draw.", SURE, metavar="N", min=0)],
}

FailIf = Annotated[
    list[str] | None,
    _option(
        "Exit with code 1 where this holds: accuracy<0.9, DE:ece>0.05 or unified@0.5>0.3 (repeatable).",
        OUTPUT,
        metavar="[MODEL:]METRIC[@λ or @SCORE]<NUMBER",
    ),
]
Json = Annotated[bool, _option("Print JSON on standard output, and nothing else there.", OUTPUT, "--json")]


def takes_request(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of `AssayRequest` as options, in front of its own."""

    @wraps(function)
    def command(**values: Any) -> None:
        request = AssayRequest(**{name: values.pop(name) for name in REQUEST_OPTIONS})
        function(request, **values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = []
    for field in fields(AssayRequest):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        default = [] if default == () else default
        parameters.append(
            inspect.Parameter(field.name, keyword, default=default, annotation=REQUEST_OPTIONS[field.name])
        )
    own = list(inspect.signature(function).parameters.values())[1:]
    parameters += [p.replace(kind=keyword) for p in own]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


# -- the main job -----------------------------------------------------------------------------------------------------


@app.command()
@takes_request
def report(
    request: AssayRequest,
    context: typer.Context,
    output: Annotated[
        Path | None,
        _option("The page (report.html unless given; none with --json).", OUTPUT, "--output", "-o"),
    ] = None,
    save: Annotated[Path | None, _option("Keep the assay in this folder.", OUTPUT, metavar="FOLDER")] = None,
    fail_if: FailIf = None,
    as_json: Json = False,
) -> None:
    """Judge classifiers by their predictions, and write one page to decide from."""
    command = shell_line(["uqassay", *context.find_root().obj])
    page = output if output is not None or as_json else Path("report.html")
    inputs = request.inputs()
    if page is not None:
        check_page(page, inputs)
    if save is not None:
        check_save(save, inputs, page)
    _report(request, page, command, save=save, fail_if=fail_if, as_json=as_json)


@app.command()
@takes_request
def rank(request: AssayRequest, fail_if: FailIf = None, as_json: Json = False) -> None:
    """Rank classifiers at chosen λ, and show where the ranking changes."""
    from uqassay.cli import terminal
    from uqassay.evidence.storage import ranking_json

    checks = [parse_check(text) for text in fail_if or ()]
    if not request.calibration and all(check.metric != OF_MEASURES for check in checks):
        request = replace(request, calibration=["none"])  # the ranking does not show it
    with terminal.progress(_steps(request)) as say:
        assay, failed, left_out = _judge(request, checks, say)
    if as_json:
        _print_json({"schema": "uqassay.ranking/1", **ranking_json(assay, assay.tradeoffs)})
    else:
        terminal.print_rankings(assay, assay.tradeoffs if request.tradeoff else None)
        terminal.print_breakpoints(assay)
        terminal.print_warnings(assay)
    _end(failed, left_out)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder that takes everything.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Fixes the split of the data and the training.", min=0)] = 0,
) -> None:
    """Train six classifiers on scikit-learn's digits, and report on them."""
    from uqassay.cli import terminal
    from uqassay.demo import COMMON_MEMBERS, N_MODELS, prepare_demo
    from uqassay.report.page import charts_library

    charts_library()  # refused before anything is trained
    with terminal.progress(N_MODELS) as say:
        files = prepare_demo(output, seed=seed, progress=say)
    models = [f"{name}={path}" for name, path in files.predictions.items()]
    page = output / "report.html"
    options = ["--labels", str(files.labels), "--common-members", str(COMMON_MEMBERS)]
    words = ["uqassay", "report", *models, *options, "-o", str(page)]
    request = AssayRequest(models, labels=files.labels, common_members=COMMON_MEMBERS)
    _report(request, page, shell_line(words))
    groups = [words[:2], *([m] for m in models), options, words[-2:]]
    lines = " \\\n  ".join(map(shell_line, groups))
    terminal.print_text(f"The predictions are in {output / 'predictions'}; the page was made from them as by\n{lines}")


def _report(
    request: AssayRequest,
    page: Path | None,
    command: str,
    *,
    save: Path | None = None,
    fail_if: list[str] | None = None,
    as_json: bool = False,
) -> None:
    from uqassay.cli import terminal

    checks = [parse_check(text) for text in fail_if or ()]
    with terminal.progress(_steps(request) + 1) as say:
        assay, failed, left_out = _judge(request, checks, say)
        if save is not None:  # before the page, which may lie in that folder
            assay.save(os.path.realpath(save))
        if page is not None:
            from uqassay.report.page import write_page

            say("writing the page")
            write_page(assay, page, command=command)
    if as_json:
        _print_json(assay.to_json())
    else:
        terminal.print_report(assay, assay.tradeoffs if request.tradeoff else None)
        if save is not None:
            terminal.print_text(f"Assay: {save}")
        if page is not None:
            terminal.print_text(f"Page: {page}")
    _end(failed, left_out)


# -- files ------------------------------------------------------------------------------------------------------------


@app.command("inspect")
def inspect_command(
    file: Annotated[Path, typer.Argument(help="A prediction file.", show_default=False)],
    member_axis: Annotated[int, typer.Option(help="Axis of the members in arrays of three axes.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a file holds."""
    from uqassay.cli import terminal
    from uqassay.predictions.files import inspect_file

    found = inspect_file(file, member_axis=member_axis)
    if as_json:
        _print_json({"schema": "uqassay.inspect/1", **found})
    else:
        terminal.print_file(found)


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="A prediction file.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file to write.", show_default=False)],
    kind: Annotated[
        str | None, typer.Option(help="Kind of prediction in SRC, where it holds several or an array without a name.")
    ] = None,
    member_axis: Annotated[int, typer.Option(help="Axis of the members in arrays of three axes.")] = 1,
    normalise: Annotated[bool, typer.Option("--normalise", help="Divide probabilities by their sums first.")] = False,
    labels: Annotated[Path | None, typer.Option(help="Labels to put beside the predictions.")] = None,
) -> None:
    """Write a prediction file in another format; the extension of DST decides."""
    from uqassay.cli import terminal
    from uqassay.predictions.files import inspect_file, load, load_labels, save

    check_apart("DST", target, [source] if labels is None else [source, labels])
    with terminal.progress(2) as say:
        say(f"reading {source.name}")
        prediction = load(source, kind=kind, member_axis=member_axis, normalise=normalise)
        values = None
        if labels is not None:
            values = read_labels(labels, Rows.of({source: prediction}), prediction.class_names)
        elif inspect_file(source)["labels"]:
            values = load_labels(source)
        say(f"writing {target.name}")
        save(prediction, target, labels=values)
    beside = " with labels" if values is not None else ""
    terminal.print_text(f"{target}: {prediction!r}{beside}")


# -- papers and λ -----------------------------------------------------------------------------------------------------


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="The protocol.", show_default=False)] = None,
    preset: Annotated[
        str,
        typer.Option(help="smoke, cpu or paper: how much is computed; the same in all three where nothing is trained."),
    ] = "cpu",
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with labels, votes and prediction files; for methods, with data sets.", metavar="FOLDER"
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            help="A data set of unified in place of the preset's (repeatable).", metavar="NAME", show_default=False
        ),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(
            help="mlp, cnn, cnn-small or resnet50: the networks of unified.", metavar="NAME", show_default=False
        ),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            help="1, 2, 3, 4 or table1: what of credal-calibration; table1 trains its predictors where no data are given.",
            metavar="N",
            show_default="1",
        ),
    ] = None,
    table: Annotated[str | None, typer.Option(help="1: as --figure table1.", metavar="N", show_default=False)] = None,
    convention: Annotated[
        str | None,
        typer.Option(help="exact, paper-code (as the authors' code) or both.", metavar="NAME", show_default="exact"),
    ] = None,
    null: Annotated[
        str | None,
        typer.Option(help="random (the paper's) or minimised (ours).", metavar="NAME", show_default="random"),
    ] = None,
    resample: Annotated[
        bool | None,
        typer.Option(
            "--resample/--no-resample",
            help="Draw instances with replacement under the null hypothesis, as Algorithm 1 is printed.",
            show_default="resample",
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(help="Number of data sets, or trainings, in place of the preset's.", metavar="N", min=1),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that share the data sets, or train.", metavar="N", min=1, show_default="1"),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps what is finished; the same command continues.", metavar="FOLDER"),
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Folder that takes the figures.", metavar="FOLDER")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of every sample and training.", metavar="N", min=0, show_default="0")
    ] = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Also at other difficulties and seeds; takes several minutes.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one row for each printed cell as JSON.")] = False,
) -> None:
    """Compute a paper's printed tables again, and say which cells agree."""
    from uqassay.cli import terminal
    from uqassay.experiments import reproduction

    if name is None:
        raise InputError(
            "name",
            "which protocol is needed",
            f"those known are {', '.join(reproduction.PROTOCOLS)}",
            "name one of them",
            code="missing",
        )
    if preset not in PRESETS:
        raise InputError(
            "preset", f"must be {', '.join(PRESETS)}", f"got {preset!r}", "cpu is the default", code="type"
        )
    if table is not None:
        if figure is not None:
            raise InputError(
                "table",
                "one thing at a time",
                f"got figure {figure} and table {table}",
                "leave one out",
                code="undefined",
            )
        figure = f"table{table}"
    taken = reproduction.options_of(name)
    asked = {
        "data": data,
        "dataset": dataset or None,
        "backbone": backbone,
        "figure": figure,
        "convention": convention,
        "null": null,
        "resample": resample,
        "runs": runs,
        "workers": workers,
        "resume": resume,
        "figures": figures,
        "seed": seed,
        "sweep": sweep or None,
    }
    options: dict[str, Any] = {option: value for option, value in asked.items() if value is not None}
    for option in options:
        if option not in taken:
            asked_as = "table" if option == "figure" and table is not None else option
            known = ", ".join(f"--{other}" for other in ("preset", *asked) if other == "preset" or other in taken)
            raise InputError(
                asked_as, f"means nothing to {name}, which takes {known}", "", "leave it out", code="conflict"
            )
    if "preset" in taken:
        options["preset"] = preset
    with terminal.progress(reproduction.steps_of(name, **options)) as say:
        if "progress" in taken:
            options["progress"] = say
        else:
            say(name)
        result = reproduction.reproduce(name, **options)
    if as_json:
        _print_json(result.to_json())
    else:
        terminal.print_text(result.summary())


@app.command()
def tradeoff(
    abstention: Annotated[
        bool | None,
        typer.Option("--abstention/--no-abstention", help="May an undecided case be passed on?"),
    ] = None,
    cost: Annotated[
        float | None, typer.Option(help="Cost of passing a case on, divided by that of a mistake.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the range of λ that fits a use, from two questions."""
    from uqassay.cli import terminal
    from uqassay.metrics import tradeoff_range

    if abstention is None:
        raise InputError(
            "abstention",
            "the first question is whether an undecided case may be passed on",
            "",
            "answer it by --abstention --cost 0.1, or by --no-abstention",
            code="undefined",
        )
    if abstention and cost is None:
        raise InputError(
            "cost",
            "the second question is what passing a case on costs, divided by what a mistake costs",
            "",
            "answer it by --cost 0.1, say, where ten abstentions cost as much as one mistake",
            code="undefined",
        )
    if not abstention and cost is not None:
        raise InputError("cost", "has no meaning with --no-abstention", f"got {cost:g}", "leave it out", code="missing")
    found = tradeoff_range(abstention, cost)
    if as_json:
        _print_json({"schema": "uqassay.tradeoff/1", **found._asdict()})
    else:
        terminal.print_text(f"λ from {found.low:g} to {found.high:g}\n{found.reason}")


app.command()(ood)
app.command("calibration-test")(calibration_test)
app.add_typer(bench_app, name="bench")


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Does this classifier know what it does not know, and which of these classifiers should I use?"""
    if version:
        from uqassay import __version__

        print(f"uqassay {__version__}")
        raise typer.Exit


# -- helpers ----------------------------------------------------------------------------------------------------------


def _steps(request: AssayRequest) -> int:
    """Every file is read and judged, and its calibration tested; then come the resamples."""
    return 3 * sum(len(paths) for paths in model_files(request.models).values()) + 1


def _judge(
    request: AssayRequest, checks: Sequence[Check], say: Callable[[str], None]
) -> tuple[Assay, list[str], list[str]]:
    """The assay, the checks that failed and the models that one left out.

    Whatever can be refused is refused here, before anything is printed.
    """
    assay = make_assay(request, progress=say)
    assay.winners()
    failed = [sentence for check in checks for sentence in failures(check, assay)]
    left_out = [sentence for check in checks for sentence in skipped(check, assay)]
    say("resampling")
    assay.verdict()
    return assay, failed, left_out


def _end(failed: Sequence[str], left_out: Sequence[str]) -> None:
    """Say what was not checked, and exit with code 1 where a check failed."""
    for sentence in (*left_out, *failed):
        print(printable(sentence), file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _print_json(value: Any) -> None:
    """Strict JSON: no NaN, whatever the encoding of the terminal."""
    from uqassay.evidence.storage import plain

    print(json.dumps(plain(value), allow_nan=False, indent=2))
