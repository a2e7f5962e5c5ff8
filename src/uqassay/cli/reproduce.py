"""The command `reproduce`: compute a paper's printed tables again, and say which cells agree."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uqassay.cli.reproduce_help import ReproduceCommand, flag, set_options, settable
from uqassay.cli.reproduce_tables import chosen_tables, selected_by, table_lines
from uqassay.cli.streams import print_json, print_text, progress
from uqassay.errors import InputError
from uqassay.wording import listed

if TYPE_CHECKING:
    from uqassay.experiments.reproduction import Reproduction

__all__ = ["reproduce_app"]

reproduce_app = typer.Typer(add_completion=False)


def _own(help: str, metavar: str | None, *names: str) -> Any:
    """An option of a single protocol; it is in the help of that protocol."""
    return typer.Option(*names, help=help, metavar=metavar, show_default=False, hidden=True)


@reproduce_app.command("reproduce", cls=ReproduceCommand)
def reproduce_command(
    name: Annotated[str | None, typer.Argument(help="The protocol.", show_default=False)] = None,
    preset: Annotated[
        str, typer.Option(help="How much is computed: smoke, cpu, gpu-hour (where a protocol has it) or paper.")
    ] = "cpu",
    data: Annotated[
        Path | None, typer.Option(help="Folder or file with data or saved predictions.", metavar="PATH")
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="A data set in place of the preset's (repeatable).", metavar="NAME", show_default=False),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="A method in place of the preset's (repeatable).", metavar="NAME", show_default=False),
    ] = None,
    convention: Annotated[
        str | None,
        typer.Option(help="exact, paper-code (as the authors' code) or both.", metavar="NAME", show_default="exact"),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(help="Data sets, or trainings, in place of the preset's.", metavar="N", min=1),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that share the work.", metavar="N", min=1, show_default="1")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps what is finished; the same command continues.", metavar="FOLDER"),
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Folder that takes the figures.", metavar="FOLDER")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of every sample and training.", metavar="N", min=0, show_default="0")
    ] = None,
    further: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Any further option of the protocol, its value as JSON or text (repeatable).",
            metavar="NAME=VALUE",
            show_default=False,
        ),
    ] = None,
    backbone: Annotated[str | None, _own("unified: mlp, cnn, cnn-small or resnet50.", "NAME")] = None,
    figure: Annotated[str | None, _own("credal-calibration: 1, 2, 3, 4, table1 or table2.", "N")] = None,
    null: Annotated[str | None, _own("credal-calibration: random or minimised.", "NAME")] = None,
    resample: Annotated[
        bool | None,
        _own("credal-calibration: draw instances with replacement.", None, "--resample/--no-resample"),
    ] = None,
    spread: Annotated[list[float] | None, _own("epistemic-gain: of the clusters of the toy data.", "X")] = None,
    train_share: Annotated[
        list[str] | None, _own("epistemic-gain: share of every disc that is trained on, or random.", "P")
    ] = None,
    sweep: Annotated[bool, _own("ranking-synthetic: also other difficulties and seeds.", None, "--sweep")] = False,
    decomposition: Annotated[list[str] | None, _own("disentanglement: IT, GL or another name.", "NAME")] = None,
    where: Annotated[str | None, _own("disentanglement: Bayesian layers, printed, last or all.", "NAME")] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            help="Print this table of the paper with our numbers under the printed ones; 1, 2, … or all (repeatable).",
            metavar="N",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Of --table: text, csv or latex.", metavar="NAME", show_default="text")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one row for each printed cell as JSON.")] = False,
) -> None:
    """Compute a paper's printed tables again, and say which cells agree."""
    from uqassay.experiments import register

    _check(name, register.PROTOCOLS)
    assert name is not None
    tables = chosen_tables(name, _split(table) or table or (), format, as_json=as_json)
    _check_preset(preset, register.presets_of(name))
    taken = register.options_of(name)
    asked = {
        "data": data,
        "dataset": _split(dataset),
        "method": _split(method),
        "decomposition": _split(decomposition),
        "spread": spread or None,
        "train_share": _split(train_share),
        "where": where,
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
    options = _given(asked, taken, name)
    options |= selected_by(tables, options)
    if "preset" in taken:
        options["preset"] = preset
    set_here = set_options(name, further or (), ("preset", *asked))
    options |= set_here
    try:
        result = _reproduced(name, options, with_progress="progress" in taken)
    except InputError as problem:
        if problem.parameter in set_here:
            raise problem.replace(parameter=f"--set {problem.parameter}") from problem
        raise
    if as_json:
        print_json(result.to_json())
    elif tables:
        print_text(table_lines(result, list(tables), format or "text"))
    else:
        print_text(result.summary())


def _reproduced(name: str, options: dict[str, Any], *, with_progress: bool) -> "Reproduction":
    """Run the protocol, with a bar."""
    from uqassay.experiments import register

    with progress(register.steps_of(name, **options)) as say:
        if with_progress:
            return register.reproduce(name, **options, progress=say)
        say(name)
        return register.reproduce(name, **options)


def _check(name: str | None, protocols: Collection[str]) -> None:
    """Refuse a command line without a protocol."""
    if name is None:
        raise InputError(
            "name",
            "a protocol is needed",
            f"those known are {', '.join(protocols)}",
            "start with uqassay reproduce unified-tables --table 2, or see uqassay reproduce --help for those of each paper",
            code="missing",
        )


def _check_preset(preset: str, known: Collection[str]) -> None:
    if preset not in known:
        raise InputError(
            "--preset",
            f"must be {listed(list(known), last='or')}",
            f"got {preset!r}",
            "cpu is the default",
            code="choice",
        )


def _split(names: list[str] | None) -> list[str] | None:
    """Names with commas between them, as `bench` takes them too."""
    found = [part.strip() for name in names or () for part in name.split(",")]
    return found or None


def _given(asked: Mapping[str, Any], taken: Collection[str], name: str) -> dict[str, Any]:
    """The options that were given; refuse those that the protocol does not take."""
    options = {option: value for option, value in asked.items() if value is not None}
    for option in options:
        if option not in taken:
            known = [flag(other) for other in ("preset", *(other for other in asked if other in taken))]
            known += [f"--set {other}=" for other in settable(name, ("preset", *asked))]
            raise InputError(
                flag(option),
                f"means nothing to {name}, which takes {', '.join(known)}",
                "",
                "leave it out",
                code="conflict",
            )
    return options
