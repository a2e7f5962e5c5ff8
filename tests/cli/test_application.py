"""Help, version and usage errors of all commands."""

import uqassay as uq


def test_version_and_help(run):
    assert run("--version").out == f"uqassay {uq.__version__}\n"
    for argv in ((), ("--help",), ("report", "--help"), ("tradeoff", "-h")):
        ran = run(*argv)
        assert (ran.code, ran.err) == (0, "")
        assert "Usage: uqassay" in ran.out
