"""All commands under one name, each imported when it is used."""

import os
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from uqassay.errors import InputError

__all__ = [
    "COMMANDS",
    "EXAMPLES",
    "PAPERS",
    "epilog",
    "load_command",
    "run",
]


# An example of each command and the paper that defines what it computes, for the end of its help.
#
# `reproduce` writes its own help, which lists the papers.

EXAMPLES = {
    "report": "uqassay report DE=ensemble.npz EDL=edl.npz --labels labels.npy -o report.html",
    "rank": "uqassay rank DE=ensemble.npz softmax.npz --labels labels.npy --tradeoff 0.1 --tradeoff 1",
    "demo": "uqassay demo --output demo",
    "inspect": "uqassay inspect passes.npy --member-axis 0",
    "convert": "uqassay convert softmax.npz softmax.csv",
    "tradeoff": "uqassay tradeoff --abstention --cost 0.1",
    "ood": "uqassay ood ensemble=ensemble.npz --out ensemble=ensemble_out.npz",
    "refuse": "uqassay refuse DE=ensemble.npz --labels labels.npy --risk 0.3",
    "gain": "uqassay gain before.npz after.npz --labels labels.npy -o gain.html",
    "calibration-test": "uqassay calibration-test DE=ensemble.npz softmax.npz --labels labels.npy",
    "second-order": "uqassay second-order DE=ensemble.npz EDL=edl.npz --votes votes.npy",
    "compare": "uqassay compare digits=runs/digits wine=runs/wine iris=runs/iris --metric accuracy",
    "bench": "uqassay bench --dataset iris --method random-forest,bagging --preset smoke -o forests",
}

_UNIFIED = "Manchingal et al., A Unified Evaluation Framework for Epistemic Predictions (E = d + λ · NS)"
_CREDAL = "Mortier et al., On Calibration of Ensemble-Based Credal Predictors"
_RANKING = "Pignet et al., Legitimate ground-truth-free metrics for deep uncertainty classification scoring (UQ-AUC)"
_LEARN_THEN_TEST = "Angelopoulos et al., Learn then Test: Calibrating Predictive Algorithms to Achieve Risk Control"
_GAIN = "The Evaluation and Calibration of Epistemic Uncertainty Estimates (EECE)"
_DISENTANGLEMENT = "de Jong et al., Measuring Uncertainty Disentanglement Error in Classification"
_MANY = "Statistical Comparisons of Classifiers over Multiple Data Sets (Demšar 2006)"
_MEAN_RANKS = "Benavoli et al., Should We Really Use Post-Hoc Tests Based on Mean-Ranks? (signed-rank tests)"
_ROPE = "Benavoli et al., Time for a Change: a Tutorial for Comparing Multiple Classifiers Through Bayesian Analysis (--rope)"
PAPERS = {
    "report": (_UNIFIED, _RANKING, _CREDAL),
    "rank": (_UNIFIED,),
    "tradeoff": (_UNIFIED,),
    "refuse": (_LEARN_THEN_TEST,),
    "gain": (_GAIN,),
    "calibration-test": (_CREDAL,),
    "compare": (_MANY, _MEAN_RANKS, _ROPE),
    "bench": (_UNIFIED, _DISENTANGLEMENT),
}


def epilog(command: str) -> str:
    """The end of a command's help.

    Examples
    --------
    >>> print(epilog("convert"))
    Example: uqassay convert softmax.npz softmax.csv
    """
    examples = [f"Example: {EXAMPLES[command]}"] if command in EXAMPLES else []
    return "\n\n".join([*examples, *(f"Paper: {paper}" for paper in PAPERS.get(command, ()))])


# All commands under one name, each imported when it is used, and usage errors as one sentence.

# module:function (or application), and the first sentence of its docstring, for the root's help
COMMANDS = {
    "report": (
        "cli.report:report_command",
        "Judge classifiers by their predictions, and write one page to decide from.",
    ),
    "rank": ("cli.report:rank_command", "Rank classifiers at chosen λ, and show where the ranking changes."),
    "demo": ("lab.demo:demo_command", "Train six classifiers on scikit-learn's digits, and report on them."),
    "inspect": ("cli.report:inspect_command", "Show what a file holds, and what each column of a table is taken for."),
    "convert": (
        "cli.report:convert_command",
        "Write a prediction file in another format; the extension of DST decides.",
    ),
    "reproduce": (
        "lab.cli_reproduce:reproduce_app",
        "Compute a paper's printed tables again, and say which cells agree.",
    ),
    "tradeoff": ("cli.report:tradeoff_command", "Find the range of λ that fits a use, from two questions."),
    "ood": (
        "cli.lenses:ood_command",
        "Judge how well each score separates out-of-distribution inputs; labels add the errors.",
    ),
    "refuse": (
        "cli.lenses:refuse_command",
        "Find the threshold that keeps the error rate below a limit with a stated confidence.",
    ),
    "gain": (
        "cli.lenses:gain_command",
        "Compare the gain from more data with the epistemic uncertainty that a model states.",
    ),
    "calibration-test": (
        "cli.calibration:calibration_test_command",
        "Test whether a model, or a mixture of its members, is calibrated.",
    ),
    "second-order": (
        "cli.calibration:second_order_command",
        "Compare stated with observed epistemic variance, from two or more votes per case.",
    ),
    "compare": (
        "lab.cli_bench:compare_command",
        "Compare models over many data sets: average ranks, and which are better on data sets like these.",
    ),
    "bench": ("lab.cli_bench:bench_app", "Train methods on data sets, and report on what they say they do not know."),
}
COMPLETION = "_UQASSAY_COMPLETE"  # set by the script that --install-completion gives the shell

app = typer.Typer(
    name="uqassay",
    help="Does this classifier know what it does not know, and which of these classifiers should I use?",
    epilog="Exit codes: 0 done, 1 a check failed (--fail-if), 2 bad input, 3 a check cannot tell, or nothing is certified, "
    "70 a fault of uqassay.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and the compiled kernels.")] = False,
) -> None:
    """Does this classifier know what it does not know, and which of these classifiers should I use?"""
    if version:
        from uqassay import __version__, kernels

        print(f"uqassay {__version__}\n{kernels()}")
        raise typer.Exit


class _Unloaded(TyperCommand):
    """A command whose module is imported when its arguments are parsed."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the loaded command."""
        return load_command(str(self.name)).make_context(info_name, args, parent, **extra)


def load_command(name: str) -> Any:
    """Import a command, and make it ready to be run.

    Parameters
    ----------
    name : str
        A key of `COMMANDS`.

    Returns
    -------
    command of Typer
    """
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(import_module(f"uqassay.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        function, found = found, typer.Typer(add_completion=False)
        found.command(name)(function)
    command = typer.main.get_command(found)
    command.epilog = epilog(name)
    return command


def _command_line() -> Any:
    """The root with all commands, not yet imported.

    Returns
    -------
    group of Typer
    """
    root_command: Any = typer.main.get_command(app)
    for name, (_, text) in COMMANDS.items():
        root_command.add_command(_Unloaded(name, help=text))
    return root_command


def run(argv: list[str]) -> int:
    """Run one command and return its exit code."""
    command = _command_line()
    if COMPLETION in os.environ:
        command.main(argv, "uqassay")  # answers the shell and exits
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
