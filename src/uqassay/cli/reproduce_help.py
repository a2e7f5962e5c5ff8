"""The help of `reproduce`: the protocols by paper, and the options of one protocol."""

import shutil
import textwrap
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from typer.core import TyperCommand

from uqassay.cli.streams import print_text
from uqassay.errors import InputError
from uqassay.wording import listed

__all__ = ["ReproduceCommand", "flag", "protocol_lines", "set_options", "settable", "usage_lines"]

UNTYPED = ("progress", "tables")  # options that only Python can pass
WIDEST = 100
_NAMED = "uqassay.protocol"


class ReproduceCommand(TyperCommand):
    """A command whose help ends in the protocols by paper, or is that of the protocol that is named before or after --help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the name of the protocol: the parser comes to --help before it."""
        from uqassay.experiments.register import PROTOCOLS

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
     1 Unified evaluation (Manchingal et al.)
    """
    from uqassay.experiments.register import PAPERS

    column = 3 + max(len(name) for paper in PAPERS for name in paper.makes) + 2
    yield " Protocols by paper:"
    for number, paper in enumerate(PAPERS, start=1):
        yield f" {number} {paper.title}"
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
    from uqassay.experiments import register

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
        elif option.kind.startswith("{"):
            choices = [choice.strip(' "') for choice in option.kind.strip("{}").split(",")]
            text = f"{listed(choices, last='or')}. {option.text}".rstrip()
        if option.default not in (None, "", ()):
            text = f"{text} [default: {_shown(option.default)}]"
        spelt = flag(option.name) if option.name in flags else f"--set {option.name}="
        yield from _entry(f"   {spelt}", text, 20, width)
    yield ""
    yield from textwrap.wrap(
        "Every protocol also takes --table, --format and --json; see uqassay reproduce --help.",
        width - 2, initial_indent=" ", subsequent_indent=" ",
    )  # fmt: skip


def settable(name: str, flags: Collection[str]) -> list[str]:
    """The options of a protocol that only --set passes.

    Examples
    --------
    >>> settable("ranking-synthetic", ["preset", "seed", "sweep", "figures"])
    ['bayes_error', 'one_sample']
    """
    from uqassay.experiments import register

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

    Raises
    ------
    InputError
        No name, an unknown one, one with a flag, one twice, or a value of another type.

    Examples
    --------
    >>> set_options("ranking-synthetic", ["bayes_error=.2", "one_sample=true"], ["seed"])
    {'bayes_error': 0.2, 'one_sample': True}
    """
    from uqassay.experiments import register

    known, found = settable(name, flags), {}
    for words in given:
        option, equals, text = words.partition("=")
        option = option.strip().replace("-", "_")
        if not equals or not option:
            raise InputError("--set", "must be NAME=VALUE", f"got {words!r}", _choose(name, known), code="syntax")
        if option in register.options_of(name) and option in flags:
            raise InputError("--set", f"{option} has a flag", f"got {words!r}", f"use {flag(option)}", code="conflict")
        if option not in known:
            rule = f"must name an option of {name} that has no flag"
            raise InputError("--set", rule, f"got {option!r}", _choose(name, known), code="choice")
        if option in found:
            raise InputError("--set", "must name an option once", f"got {option} twice", "remove one", code="duplicate")
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
