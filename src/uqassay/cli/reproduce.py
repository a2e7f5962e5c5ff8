"""The command `reproduce`: compute a paper's printed tables again, and say which cells agree."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from uqassay.cli.streams import print_json, print_text, progress
from uqassay.errors import InputError

__all__ = ["reproduce_command"]


def reproduce_command(
    name: Annotated[str | None, typer.Argument(help="The protocol.", show_default=False)] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="smoke, cpu or paper: how much is computed, or gpu-hour for disentanglement; the same in all where nothing "
            "is trained."
        ),
    ] = "cpu",
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with labels, votes and prediction files, or features of ranking-cifar10h-probes; of disentanglement: "
            "train.npz and test.npz in place of the data set's files; of epistemic-gain: the .npz file with the images of "
            "EMNIST ByMerge.",
            metavar="PATH",
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            help="A data set of unified, disentanglement or epistemic-gain in place of the preset's (repeatable).",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="A method of disentanglement or epistemic-gain in place of the preset's, such as flipout (repeatable).",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    decomposition: Annotated[
        list[str] | None,
        typer.Option(
            help="A decomposition of disentanglement: IT, GL, or a name such as variance (repeatable).",
            metavar="NAME",
            show_default="IT and GL",
        ),
    ] = None,
    spread: Annotated[
        list[float] | None,
        typer.Option(
            help="Standard deviation of the clusters of the toy data of epistemic-gain (repeatable).",
            metavar="X",
            show_default="0.35 and 0.25",
        ),
    ] = None,
    train_share: Annotated[
        list[str] | None,
        typer.Option(
            help="Share of the instances of every disc of the toy data of epistemic-gain that stays in the training set, or "
            "random (repeatable).",
            metavar="P",
            show_default="0.01 to 0.5, by disc",
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            help="printed, last or all: the Bayesian layers of disentanglement.", metavar="NAME", show_default="printed"
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
            help="1, 2, 3, 4 or table1 of credal-calibration; table1 trains its predictors where no data are given.",
            metavar="N",
            show_default="1",
        ),
    ] = None,
    table: Annotated[str | None, typer.Option(help="1: as --figure table1.", metavar="N", show_default=False)] = None,
    convention: Annotated[
        str | None,
        typer.Option(
            help="exact, paper-code (as the authors' code) or both; of disentanglement also single choices by name, or each.",
            metavar="NAME",
            show_default="exact",
        ),
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
    from uqassay.experiments import register

    _check(name, figure, table, register.PROTOCOLS)
    assert name is not None
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
        "figure": figure if table is None else f"table{table}",
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
    options = _given(asked, taken, name, {"figure": "table"} if table is not None else {})
    if "preset" in taken:
        options["preset"] = preset
    with progress(register.steps_of(name, **options)) as say:
        if "progress" in taken:
            options["progress"] = say
        else:
            say(name)
        result = register.reproduce(name, **options)
    if as_json:
        print_json(result.to_json())
    else:
        print_text(result.summary())


def _check(name: str | None, figure: str | None, table: str | None, protocols: Collection[str]) -> None:
    """Refuse a command line that no protocol could take."""
    if name is None:
        raise InputError(
            "name",
            "a protocol is needed",
            f"those known are {', '.join(protocols)}",
            "name one of them",
            code="missing",
        )
    if table is not None and figure is not None:
        raise InputError(
            "--table",
            "excludes --figure",
            f"got --figure {figure} and --table {table}",
            "leave one of them out",
            code="conflict",
        )


def _check_preset(preset: str, known: Collection[str]) -> None:
    if preset not in known:
        raise InputError(
            "--preset", f"must be {', '.join(known)}", f"got {preset!r}", "cpu is the default", code="choice"
        )


def _split(names: list[str] | None) -> list[str] | None:
    """Names with commas between them, as `bench` takes them too."""
    found = [part.strip() for name in names or () for part in name.split(",")]
    return found or None


def _given(asked: Mapping[str, Any], taken: Collection[str], name: str, said: Mapping[str, str]) -> dict[str, Any]:
    """The options that were given; refuse those that the protocol does not take, by the name that was said."""
    options = {option: value for option, value in asked.items() if value is not None}
    for option in options:
        if option not in taken:
            known = ", ".join(map(_flag, ["preset", *(other for other in asked if other in taken)]))
            raise InputError(
                _flag(said.get(option, option)),
                f"means nothing to {name}, which takes {known}",
                "",
                "leave it out",
                code="conflict",
            )
    return options


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"
