"""All commands under one name, and usage errors as one sentence."""

from typing import Annotated

import typer

from uqassay.cli.bench import bench_app
from uqassay.cli.calibration_test import calibration_test_command
from uqassay.cli.demo import demo_command
from uqassay.cli.files import convert_command, inspect_command
from uqassay.cli.gain import gain_command
from uqassay.cli.ood import ood_command
from uqassay.cli.rank import rank_command
from uqassay.cli.report import report_command
from uqassay.cli.reproduce import reproduce_command
from uqassay.cli.reproduce_help import ReproduceCommand
from uqassay.cli.second_order import second_order_command
from uqassay.cli.tradeoff import tradeoff_command
from uqassay.errors import InputError

__all__ = ["app", "run"]

app = typer.Typer(
    name="uqassay",
    help="Does this classifier know what it does not know, and which of these classifiers should I use?",
    epilog="Exit codes: 0 done, 1 a check failed (--fail-if), 2 bad input, 3 a check on an interval cannot tell.",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("report")(report_command)
app.command("rank")(rank_command)
app.command("demo")(demo_command)
app.command("inspect")(inspect_command)
app.command("convert")(convert_command)
app.command("reproduce", cls=ReproduceCommand)(reproduce_command)
app.command("tradeoff")(tradeoff_command)
app.command("ood")(ood_command)
app.command("gain")(gain_command)
app.command("calibration-test")(calibration_test_command)
app.command("second-order")(second_order_command)
app.add_typer(bench_app, name="bench")


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and the compiled kernels.")] = False,
) -> None:
    """Does this classifier know what it does not know, and which of these classifiers should I use?"""
    if version:
        from uqassay import __version__, kernels

        print(f"uqassay {__version__}\n{kernels()}")
        raise typer.Exit


def run(argv: list[str]) -> int:
    """Run one command and return its exit code.

    Raises
    ------
    InputError
        A usage error, such as an unknown option, in one sentence.
    """
    command = typer.main.get_command(app)
    try:
        with command.make_context("uqassay", argv or ["--help"], obj=argv) as context:
            command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    except Exception as problem:
        if not hasattr(problem, "format_message"):  # every usage error has it, in each version of Typer
            raise
        where = getattr(getattr(problem, "ctx", None), "command_path", "uqassay")
        message = _one_sentence(problem.format_message())
        raise InputError("", message, "", f"see {where} --help", code="usage") from problem
    return 0


def _one_sentence(message: str) -> str:
    """A message of the parser, whose versions end and join sentences in different ways.

    Examples
    --------
    >>> _one_sentence("No such option: --lamda. Did you mean --lambda?")
    'No such option: --lamda; did you mean --lambda'
    """
    words = " ".join(message.split()).rstrip(".?! ")
    first, asks, rest = words.partition("Did you mean")
    return f"{first.rstrip(' .?;')}; did you mean{rest}" if asks else words
