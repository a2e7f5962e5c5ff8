"""Text from data in a terminal, and arguments for a shell."""

import shutil
import subprocess

import pytest

from uqassay.cli.screen import shell_line, unicode_text
from uqassay.text import visible as printable


@pytest.mark.parametrize("argument", ["plain", "a b", "it's", "back\\slash", "λ", "mod\udce9'\\x 1.npz", "\udce9f"])
def test_a_shell_reads_the_same_arguments(argument):
    line = shell_line(["printf", "%s", argument])
    line.encode()  # no lone surrogates
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    done = subprocess.run([bash, "-c", line], capture_output=True, check=True, timeout=600)
    assert done.stdout == argument.encode("utf-8", "surrogateescape")


def test_surrogates_that_stand_for_no_byte():
    assert unicode_text("a\ud800") == r"a\ud800"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("λ → 1", "λ → 1"), ("a\x1b[31mb", r"a\x1b[31mb"), ("\u202eabc", r"\u202eabc"), ("a\tb\n", r"a\tb\n")],
)
def test_control_characters_are_spelt_out(text, shown):
    assert printable(text) == shown
