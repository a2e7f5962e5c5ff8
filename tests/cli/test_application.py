"""Help, version and usage errors of all commands."""

import pytest

import uqassay as uq


def test_version_and_help(run):
    assert run("--version").out == f"uqassay {uq.__version__}\n{uq.kernels()}\n"
    for argv in ((), ("--help",), ("report", "--help"), ("tradeoff", "-h")):
        ran = run(*argv)
        assert (ran.code, ran.err) == (0, "")
        assert "Usage: uqassay" in ran.out


def test_every_command_is_listed_with_its_help(run):
    out = run("--help").out
    for command in (
        "report",
        "rank",
        "demo",
        "inspect",
        "convert",
        "reproduce",
        "tradeoff",
        "ood",
        "calibration-test",
        "bench",
    ):
        assert f" {command} " in out
        assert f"Usage: uqassay {command}" in run(command, "--help").out
    assert "3 a check on an interval cannot tell" in " ".join(out.split())


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
