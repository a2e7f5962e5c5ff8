"""Numbers and sentences as a reader of the terminal meets them."""

import shutil
import subprocess

import pytest

from uqassay.cli.text import chance, shell_line, unicode_text
from uqassay.cli.wording import in_options


def test_all_of_the_draws_is_no_certainty():
    assert chance(1.0, 2000) == ">99.9 %"
    assert chance(0.0, 2000) == "<0.1 %"
    assert chance(1.0, 999) == "100.0 %"
    assert chance(0.5, 2000) == "50.0 %"
    assert chance(None, 2000) == chance(float("nan"), 2000) == "–"


@pytest.mark.parametrize(
    ("sentence", "command", "expected"),
    [
        ("pass normalise=True.", "rank", "pass --normalise."),
        (
            'use .repaired() (repair=True, --repair), or convention="paper".',
            "rank",
            "use --repair, or --convention paper.",
        ),
        ("compare with common_members=7.", "rank", "compare with --common-members 7."),
        ("got none; pass floor > 0.", "rank", "got none; pass --floor 1e-10, say."),
        ("choose one by kind='probs'.", "convert", "choose one by --kind probs."),
        ("choose one by kind='probs'.", "inspect", "choose one by uqassay convert --kind probs."),
        ("check member_axis.", "rank", "check --member-axis."),
        ("n_draws: must be whole.", "rank", "draws: must be whole."),
    ],
)
def test_the_options_of_the_command_line_stand_for_parameters(sentence, command, expected):
    assert in_options(sentence, command) == expected


@pytest.mark.parametrize("argument", ["plain", "a b", "it's", "back\\slash", "λ", "mod\udce9'\\x 1.npz", "\udce9f"])
def test_a_shell_reads_the_same_arguments(argument):
    line = shell_line(["printf", "%s", argument])
    line.encode()  # no lone surrogates
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    done = subprocess.run([bash, "-c", line], capture_output=True, check=True, timeout=20)
    assert done.stdout == argument.encode("utf-8", "surrogateescape")


def test_surrogates_that_stand_for_no_byte():
    assert unicode_text("a\ud800") == r"a\ud800"
