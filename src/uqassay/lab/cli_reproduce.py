"""The command `reproduce`: compute a paper's printed tables again, and its help."""

import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from uqassay.checks import fail, one_of
from uqassay.cli.screen import is_terminal, print_json, print_text, progress
from uqassay.errors import InputError
from uqassay.text import listed

if TYPE_CHECKING:
    from uqassay.lab.papers.paper_tables import PaperTable
    from uqassay.lab.papers.reproduction import Reproduction

__all__ = [
    "chosen_tables",
    "protocol_lines",
    "selected_by",
    "set_options",
    "settable",
    "table_lines",
    "usage_lines",
]


# The help of `reproduce`: the protocols by paper, and the options of one protocol.

UNTYPED = ("progress", "tables")  # options that only Python can pass
WIDEST = 100
_NAMED = "uqassay.protocol"


class ReproduceCommand(TyperCommand):
    """A command whose help ends in the protocols by paper, or is that of the protocol that is named before or after --help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the name of the protocol: the parser comes to --help before it."""
        from uqassay.lab.papers.register import PROTOCOLS

        ctx.meta[_NAMED] = next((word for word in args if word in PROTOCOLS), None)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        name = ctx.meta.get(_NAMED)
        width = min(shutil.get_terminal_size().columns, WIDEST)
        if name is not None:
            flags = {parameter.name for parameter in self.params if parameter.name}
            print_text("\n".join(usage_lines(name, flags, width)))
            return
        super().format_help(ctx, formatter)
        print_text("\n".join(protocol_lines(width)))


def flag(option: str) -> str:
    """The flag of an option.

    Examples
    --------
    >>> flag("train_share")
    '--train-share'
    """
    return f"--{option.replace('_', '-')}"


def protocol_lines(width: int) -> Iterator[str]:
    r"""The protocols by paper, a line for each.

    Examples
    --------
    >>> print("\n".join(list(protocol_lines(80))[:2]))
     Protocols by paper:
     Unified evaluation (Manchingal et al.)
    """
    from uqassay.lab.papers.register import PAPERS

    column = 3 + max(len(name) for paper in PAPERS for name in paper.makes) + 2
    yield " Protocols by paper:"
    for paper in PAPERS:
        yield f" {paper.title}"
        for name, makes in paper.makes.items():
            yield from _entry(f"   {name}", makes, column, width)
    yield ""
    yield " uqassay reproduce NAME --help lists all options of a protocol."


def usage_lines(name: str, flags: Collection[str], width: int) -> Iterator[str]:
    """What a protocol does, and its options with their defaults.

    Parameters
    ----------
    name : str
        A protocol.
    flags : collection of str
        Options that the command line has a flag for.
    width : int
        Columns.
    """
    from uqassay.lab.papers import register

    yield f" Usage: uqassay reproduce {name} [OPTIONS]"
    yield ""
    yield from textwrap.wrap(register.purpose_of(name), width - 2, initial_indent=" ", subsequent_indent=" ")
    yield ""
    described = [option for option in register.described_options(name) if option.name not in UNTYPED]
    yield " Options:" if described else " It has no options of its own."
    for option in described:
        text = option.text
        if option.name == "preset":
            text = f"{listed(register.presets_of(name), last='or')}. {text}"
        elif option.choices:
            text = f"{listed(option.choices, last='or')}. {text}"
        if option.default not in (None, "", ()):
            text = f"{text} [default: {_shown(option.default)}]"
        spelt = flag(option.name) if option.name in flags else f"--set {option.name}="
        yield from _entry(f"   {spelt}", text, 20, width)
    yield ""
    yield from textwrap.wrap(
        "Every protocol also takes --table, --format and --json; see uqassay reproduce --help.",
        width - 2, initial_indent=" ", subsequent_indent=" "
    )  # fmt: skip


def settable(name: str, flags: Collection[str]) -> list[str]:
    """The options of a protocol that only --set passes.

    Examples
    --------
    >>> settable("ranking-synthetic", ["preset", "seed", "sweep", "figures"])
    ['bayes_error', 'one_sample', 'method']
    """
    from uqassay.lab.papers import register

    return [option for option in register.options_of(name) if option not in flags and option not in UNTYPED]


def set_options(name: str, given: Collection[str], flags: Collection[str]) -> Mapping[str, Any]:
    """The values of --set by option.

    Parameters
    ----------
    name : str
        A protocol.
    given : collection of str
        NAME=VALUE.
    flags : collection of str
        Options that have a flag.

    Examples
    --------
    >>> set_options("ranking-synthetic", ["bayes_error=.2", "one_sample=true"], ["seed"])
    {'bayes_error': 0.2, 'one_sample': True}
    """
    from uqassay.lab.papers import register

    known, found = settable(name, flags), {}
    for words in given:
        option, equals, text = words.partition("=")
        option = option.strip().replace("-", "_")
        if not equals or not option:
            fail("--set", "must be NAME=VALUE", f"got {words!r}", _choose(name, known), code="syntax")
        if option in register.options_of(name) and option in flags:
            fail("--set", f"{option} has a flag", f"got {words!r}", f"use {flag(option)}", code="conflict")
        if option not in known:
            rule = f"must name an option of {name} that has no flag"
            fail("--set", rule, f"got {option!r}", _choose(name, known), code="choice")
        if option in found:
            fail("--set", "must name an option once", f"got {option} twice", "remove one", code="duplicate")
        try:
            found[option] = register.typed_option(name, option, text)
        except InputError as problem:
            raise problem.replace(parameter=f"--set {option}") from problem
    return found


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _entry(head: str, text: str, column: int, width: int) -> Iterator[str]:
    """A name and its explanation, which starts at a column; a long name has a line of its own."""
    lines = textwrap.wrap(text, max(width - column, 20)) or [""]
    if len(head) >= column:
        yield head
    else:
        lines[0] = f"{head.ljust(column)}{lines[0]}"
        yield lines.pop(0).rstrip()
    yield from (" " * column + line for line in lines)


def _choose(name: str, known: list[str]) -> str:
    return f"choose {listed(known, last='or')}" if known else f"{name} has no such options"


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return "true" if default else "false"
    return ", ".join(map(str, default)) if isinstance(default, list | tuple) else str(default)


# The tables that `reproduce --table` prints, and the options of the protocol that make their numbers.

ALL = "all"


def chosen_tables(name: str, tables: Sequence[str], format: str | None, *, as_json: bool) -> "dict[str, PaperTable]":
    """The layouts of the tables that were asked for, by name, checked before anything is computed.

    Parameters
    ----------
    name : str
        A protocol.
    tables : sequence of str
        Their numbers, or "all".
    as_json : bool
        Whether --json was given.

    Examples
    --------
    >>> list(chosen_tables("credal-calibration", ["all"], None, as_json=False))
    ['table1', 'table2']
    """
    from uqassay.lab.papers.paper_tables import known_format
    from uqassay.lab.papers.register import layout_of, layouts_of

    if not tables:
        if format is not None:
            fail("--format", "is of --table", f"got {format!r} without it", "add --table", code="conflict")
        return {}
    if as_json:
        fail("--table", "excludes --json", "got both", "--format csv is for machines", code="conflict")
    if ALL in tables and len(tables) > 1:
        fail("--table", "all stands alone", f"got {listed(list(tables))}", "leave the others out", code="conflict")
    try:
        known_format("text" if format is None else format)
        found: dict[str, PaperTable] = {}
        for table in layouts_of(name) if list(tables) == [ALL] else tables:
            key = f"table{table.removeprefix('table')}"
            if key in found:
                fail("table", "must be named once", f"got {table} twice", "remove one", code="duplicate")
            found[key] = layout_of(name, table)
    except InputError as problem:
        raise problem.replace(parameter=flag(problem.parameter)) from problem
    return found


def selected_by(tables: "Mapping[str, PaperTable]", options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the protocol that make the numbers of these tables.

    Parameters
    ----------
    options : dict
        Those that were given.

    Examples
    --------
    >>> selected_by(chosen_tables("credal-calibration", ["1"], None, as_json=False), {})
    {'figure': 'table1'}
    """
    found: dict[str, Any] = {}
    for name, layout in tables.items():
        for option, value in layout.selects.items():
            given = found.get(option, options.get(option, value))
            if given != value:
                number = name.removeprefix("table")
                fail(
                    "--table",
                    f"excludes {flag(option)}"
                    if option in options
                    else "must be one of tables that need separate runs",
                    f"got {flag(option)} {given} and --table {number}"
                    if option in options
                    else f"got {' and '.join(tables)}",
                    "leave one of them out",
                    code="conflict",
                )
            found[option] = value
    return found


def table_lines(result: "Reproduction", tables: Sequence[str], format: str) -> str:
    """The tables, each after an empty line, and in text the notes on them; in a terminal no line is too long."""
    width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
    texts = [result.table(table, format=format, width=width) for table in tables]
    about = [note for note in result.notes if _is_about(note, tables)]
    notes = [f"note: {note}" for note in about] if format == "text" else []
    return "\n\n".join([*texts, "\n".join(notes)]).rstrip("\n")


def _is_about(note: str, tables: Sequence[str]) -> bool:
    """Whether a note names one of the tables, or none at all."""
    named = set(re.findall(r"\btable\d+\b", note))
    return not named or not named.isdisjoint(tables)


# The command `reproduce`: compute a paper's printed tables again, and say which cells agree.

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
        typer.Option(
            help="A method in place of the preset's, or your own class as module:Class (repeatable).",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    convention: Annotated[
        str | None,
        typer.Option(
            help="exact, or as the authors' code; help of the protocol has the names.",
            metavar="NAME",
            show_default="exact",
        ),
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
        str | None, typer.Option(help="Of --table: text, csv, markdown or latex.", metavar="NAME", show_default="text")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one row for each printed cell as JSON.")] = False,
) -> None:
    """Compute a paper's printed tables again, and say which cells agree."""
    from uqassay.lab.papers import register

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
    flags = ("preset", *asked)
    if "predictors" in taken:  # which are the methods of these protocols
        asked["predictors"] = asked.pop("method")
    options = _given(asked, taken, name)
    options |= selected_by(tables, options)
    if "preset" in taken:
        options["preset"] = preset
    set_here = set_options(name, further or (), flags)
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
    from uqassay.lab.papers import register

    with progress(register.steps_of(name, **options)) as say:
        if with_progress:
            return register.reproduce(name, **options, progress=say)
        say(name)
        return register.reproduce(name, **options)


def _check(name: str | None, protocols: Collection[str]) -> None:
    """Refuse a command line without a protocol."""
    if name is None:
        fail(
            "name",
            "a protocol is needed",
            f"those known are {', '.join(protocols)}",
            "start with uqassay reproduce unified-tables --table 2, or see uqassay reproduce --help for those of each paper",
            code="missing",
        )


def _check_preset(preset: str, known: Collection[str]) -> None:
    one_of(preset, "--preset", known, "cpu is the default")


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
            drawn = option == "figure" and "figures" in taken
            remedy = "--figures FOLDER draws every figure" if drawn else "leave it out"
            fail(flag(option), f"means nothing to {name}, which takes {', '.join(known)}", "", remedy, code="conflict")
    return options
