"""Every command's help ends with an example that it takes and with the papers behind it."""

import shlex
from pathlib import Path

import pytest

from uqassay.cli.commands import COMMANDS, EXAMPLES, PAPERS, epilog, load_command

ROOT = Path(__file__).resolve().parents[2]


def test_all_commands_but_one_have_an_example():
    assert set(COMMANDS) - set(EXAMPLES) == {"reproduce"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_help_ends_with_an_example_and_papers(name, run):
    said = " ".join(run(name, "--help").out.replace("│", " ").split())
    assert said.endswith(" ".join(epilog(name).split()))


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_options_that_the_command_knows(name):
    program, command, *words = shlex.split(EXAMPLES[name])
    assert (program, command) == ("uqassay", name)
    known = {option for parameter in load_command(name).params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_papers_are_those_of_the_citation():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for papers in PAPERS.values():
        for paper in papers:
            title = paper.partition("et al., ")[2] or paper
            assert title.partition(" (")[0] in cited
