"""Help, version and usage errors of all commands."""

import pytest

import uqassay as uq
from uqassay.cli.commands import COMMANDS, load_command


def test_version_and_help(run):
    assert run("--version").out == f"uqassay {uq.__version__}\n{uq.kernels()}\n"
    for argv in ((), ("--help",), ("report", "--help"), ("tradeoff", "-h")):
        ran = run(*argv)
        assert (ran.code, ran.err) == (0, "")
        assert "Usage: uqassay" in ran.out


def test_every_command_is_listed_with_its_help(run):
    out = run("--help").out
    for command in COMMANDS:
        assert f" {command} " in out
        assert f"Usage: uqassay {command}" in run(command, "--help").out
    assert "3 a check cannot tell, or nothing is certified" in " ".join(out.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_in_the_table_is_the_first_sentence_of_the_docstring(name):
    assert load_command(name).help.partition("\n\n")[0] == COMMANDS[name][1]


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["rnk"]])
def test_the_root_imports_no_command(words, run_process):
    after = "import atexit; atexit.register(lambda: print(*(m for m in sys.modules if m.startswith('uqassay'))))"
    own = {
        "uqassay",
        "uqassay.native",
        "uqassay.files",
        "uqassay.errors",
        "uqassay.cli",
        "uqassay.cli.commands",
    }
    loaded = set(run_process(*words, before=after).out.splitlines()[-1].split())
    assert loaded - own <= {
        *(
            "uqassay.cli.screen",
            "uqassay.cli.errors",
            "uqassay.notes",
            "uqassay.results",
            "uqassay.text",
            "uqassay.checks",
            "uqassay.arrays",
            "uqassay._kernels",  # which --version names
            "uqassay._kernels.yardsticks",
        ),
        "uqassay.frames",
    }


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("uqassay re", ["report", "reproduce", "refuse"]),
        ("uqassay report --lab", ["--labels"]),
        ("uqassay bench st", ["status"]),
        ("uqassay inspect mod", [""]),  # the shell completes names of files
    ],
)
def test_completion(words, found, run_process):
    asked = {"_UQASSAY_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert run_process(**asked) == (0, "\n".join(found) + "\n", "")


def test_script_for_the_shell_asks_for_completion(run_process):
    ran = run_process(_UQASSAY_COMPLETE="source_bash")
    assert (ran.code, ran.err) == (0, "")
    assert "_UQASSAY_COMPLETE=complete_bash $1" in ran.out
    assert ran.out.rstrip().endswith(" uqassay")


@pytest.mark.parametrize(
    ("argv", "where"),
    [
        (["rnk"], "uqassay"),
        (["rank", "--lamda", "1"], "uqassay rank"),
        (["inspect"], "uqassay inspect"),
        (["bench", "--x"], "uqassay bench"),
    ],
)
def test_usage_errors_are_one_sentence_with_the_way_to_help(argv, where, run):
    ran = run(*argv)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.endswith(f"; see {where} --help.\n")
