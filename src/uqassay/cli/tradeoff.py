"""The command `tradeoff`: a range of λ from two questions."""

from typing import Annotated

import typer

from uqassay.cli.streams import print_json, print_text
from uqassay.errors import InputError
from uqassay.metrics import tradeoff_range

__all__ = ["tradeoff_command"]


def tradeoff_command(
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
    if abstention is None:
        raise InputError(
            "--abstention",
            "the first question is whether an undecided case may be passed on",
            "",
            "answer it by --abstention --cost 0.1, or by --no-abstention",
            code="missing",
        )
    if abstention and cost is None:
        raise InputError(
            "--cost",
            "the second question is the cost of passing a case on, divided by the cost of a mistake",
            "",
            "answer it by --cost 0.1, for example, where ten abstentions cost as much as one mistake",
            code="missing",
        )
    if not abstention and cost is not None:
        raise InputError(
            "--cost", "has no meaning with --no-abstention", f"got {cost:g}", "leave it out", code="conflict"
        )
    found = tradeoff_range(abstention, cost)
    if as_json:
        print_json({"schema": "uqassay.tradeoff/1", **found._asdict()})
    else:
        print_text(f"λ from {found.low:g} to {found.high:g}\n{found.reason}")
