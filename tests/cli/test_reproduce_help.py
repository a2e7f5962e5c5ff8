"""The help of `reproduce`: protocols by paper, the options of each, and options that --set passes."""

import re

import pytest

from uqassay.lab.cli_reproduce import protocol_lines, set_options, settable, usage_lines
from uqassay.lab.papers import PROTOCOLS
from uqassay.lab.papers.register import described_options, options_of

FLAGS = ("preset", "method", "data", "figures", "seed", "sweep")


def test_the_help_ends_in_the_protocols_by_paper(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ran = run("reproduce", "--help")
    assert (ran.code, ran.err) == (0, "")
    shown = ran.out[ran.out.index(" Protocols by paper:") :]
    assert "".join(f"{line}\n" for line in protocol_lines(80)) in shown
    for name in PROTOCOLS:
        assert f"\n   {name} " in shown
    assert "--set" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("words", [("unified", "--help"), ("--help", "unified"), ("unified", "-h", "--seed", "3")])
def test_the_help_after_a_protocol_is_that_of_the_protocol(words, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ran = run("reproduce", *words)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(" Usage: uqassay reproduce unified [OPTIONS]\n")
    assert "\n   --backbone " in ran.out
    assert "\n   --set predictors=\n" in ran.out


@pytest.mark.parametrize("name", list(PROTOCOLS))
@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_help_of_a_protocol_names_every_option_and_fits(name, width):
    lines = list(usage_lines(name, FLAGS, width))
    assert max(map(len, lines)) <= width
    spelt = {line.split()[0] if line.split()[0] != "--set" else line.split()[1] for line in lines if "   --" in line}
    for option in set(options_of(name)) - {"progress", "tables"}:
        assert (f"--{option}" if option in FLAGS else f"{option}=") in spelt


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_the_help_explains_every_option_in_plain_words(name):
    for option in described_options(name):
        if option.name in {"progress", "tables"}:
            continue
        assert option.text.endswith((".", "…")), option.name
        python = r"uqassay\.|__\w+__|\b(None|True|False|dict)\b|\w\(\w|\b(read|reproduce)_|[A-Z]{5,}S\b"
        assert not re.search(python, option.text), option.text


def test_what_has_no_flag_is_set():
    assert settable("ranking-synthetic", FLAGS) == ["bayes_error", "one_sample"]
    assert settable("ranking-intervals", FLAGS) == []
    assert settable("unified-tables", FLAGS) == []  # its one option takes the rows of tables, which no text holds


def test_set_on_the_command_line_is_the_option_of_the_library(run, needs, monkeypatch):
    needs("torch", "sklearn")
    from uqassay.lab.papers import reproduce
    from uqassay.lab.papers.ranking import synthetic

    few = synthetic.grid("smoke")[::5]
    monkeypatch.setattr(synthetic, "grid", lambda preset: few)
    ran = run("reproduce", "ranking-synthetic", "--preset", "smoke", "--set", "bayes-error=0.3", "--json")
    assert ran.code == 0
    assert ran.json() == reproduce("ranking-synthetic", preset="smoke", bayes_error=0.3).to_json()
    assert set_options("ranking-synthetic", ["one_sample=true"], FLAGS) == {"one_sample": True}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["sed=3"],
            "--set: must name an option of ranking-synthetic that has no flag; got 'sed'; choose bayes_error or",
        ),
        (["seed=3"], "--set: seed has a flag; got 'seed=3'; use --seed."),
        (["progress=3"], "--set: must name an option of ranking-synthetic that has no flag; got 'progress'"),
        (["bayes_error"], "--set: must be NAME=VALUE; got 'bayes_error'; choose"),
        (["=3"], "--set: must be NAME=VALUE; got '=3'"),
        (["bayes_error=x"], "--set bayes_error: must be a number; got 'x'."),
        (["bayes_error=0.9"], "--set bayes_error: must lie strictly between 0 and 0.5; got 0.9"),
        (["bayes_error=.1", "bayes-error=.2"], "--set: must name an option once; got bayes_error twice"),
    ],
)
def test_what_cannot_be_set_is_refused_in_one_sentence(words, sentence, run):
    ran = run(
        "reproduce", "ranking-synthetic", "--preset", "smoke", *(part for word in words for part in ("--set", word))
    )
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(sentence)


def test_a_protocol_without_further_options_says_so(run):
    ran = run("reproduce", "ranking-intervals", "--set", "a=1")
    assert ran.err == (
        "--set: must name an option of ranking-intervals that has no flag; got 'a'; ranking-intervals has no such "
        "options.\n"
    )
