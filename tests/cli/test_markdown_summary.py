"""Verdict, checks and rankings as Markdown, by `--markdown` of rank and report."""

import os
import re
from urllib.parse import unquote_to_bytes

import numpy as np
import pytest
from markdown_it import MarkdownIt
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli.fail_if import check_summary, markdown_summary, outcome_of, parse_check, write_summary


@pytest.fixture(scope="module")
def judged():
    p = np.tile([0.9, 0.1], (40, 1))
    return uq.assay({"a|b": uq.Point(p), "plain": uq.Point(0.6 * p + 0.2)}, np.arange(40) % 4 == 0, calibration=())


def test_headline_checks_and_rankings(judged, tmp_path):
    checks = [parse_check(text) for text in ("low(accuracy)<0.5", "plain:accuracy<0.99", "accuracy<0.72")]
    outcomes = [outcome_of(check, judged, on_intervals=True) for check in checks]
    text = markdown_summary(
        judged, outcomes, tradeoffs=judged.tradeoffs[:2], command="uqassay `x`", page=tmp_path / "a b.html"
    )
    lines = text.splitlines()
    assert lines[0] == r"## Uncertainty of a\|b and plain"
    assert lines[2].startswith("**")
    rows = [line for line in lines if line.startswith(("| ✅", "| ❌", "| ❔"))]
    assert [row.split(" | ")[0] for row in rows] == ["| ✅ pass", "| ❌ fail", "| ❔ cannot tell"]
    assert "accuracy of plain is 0.7500" in rows[1]
    assert r"plain:accuracy\<0.99" in rows[1]
    assert text.count("### Ranking at λ = ") == 2
    assert "[a b.html](a%20b.html)" in text
    assert "`` uqassay `x` ``" in text
    assert text.endswith("\n")
    assert "<details>" in text
    assert "### Ranking" not in markdown_summary(judged, [])
    assert "| outcome |" not in markdown_summary(judged, [])


NAMES = ("@me", "a, b", "x\ud800", "turned\u202e", "\x1b[31mred", "GH-1")


def test_hostile_names_are_plain_text_in_all_of_it(tmp_path):
    p = np.tile([0.9, 0.1], (40, 1))
    models = {name: uq.Point(p * (1 - i / 10) + i / 20) for i, name in enumerate(NAMES)}
    assay = uq.assay(models, np.arange(40) % 4 == 0, calibration=())
    outcomes = [outcome_of(parse_check(f"{name}:accuracy<0.5"), assay, on_intervals=False) for name in ("@me", "GH-1")]
    page = tmp_path / "](http:a) \udce9 &amp; <b>.html"
    path = tmp_path / "summary.md"
    write_summary(path, assay, outcomes, command="uqassay rank \x1b[31m`@me` \u202e \ud800\n", page=page)
    text = path.read_text(encoding="utf-8")
    assert all(line.isprintable() for line in text.split("\n"))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inside = [part for token in tokens if token.type == "inline" for part in token.children]
    assert [part.content for part in inside if part.type == "code_inline"] == [
        r"uqassay rank \x1b[31m`@me` \u202e \ud800"
    ]
    (link,) = [part.attrs["href"] for part in inside if part.type == "link_open"]
    assert os.fsencode(page.name) == unquote_to_bytes(link)
    said = [part.content for part in inside if part.type == "text"]
    assert not [piece for piece in said if re.search(r"@\w|GH-\d|://", piece)]
    shown = "".join(said)
    for name in ("@me", "'a, b'", r"x\ud800", r"turned\u202e", r"\x1b[31mred", "GH-1"):
        assert name in shown
    assert tokens[1].children[0].content == "Uncertainty of "


def test_the_file_is_written_whole(judged, tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("something longer than nothing" * 1000)
    write_summary(path, judged, [])
    assert path.read_text(encoding="utf-8") == markdown_summary(judged, [])


def test_inputs_and_the_page_are_not_overwritten(tmp_path):
    taken = tmp_path / "labels.npy"
    taken.touch()
    check_summary(tmp_path / "new.md", [taken])
    for inputs, page in (([taken], None), ([], taken)):
        with refuses("--markdown", "unwritable"):
            check_summary(taken, inputs, page)
    with refuses("--markdown", "missing"):
        check_summary(tmp_path / "no" / "new.md", [])


@pytest.mark.parametrize("command", ["rank", "report"])
def test_commands_write_it_before_they_end_by_the_checks(command, files, run):
    argv = [command, f"DE={files / 'de.npz'}", "--labels", files / "labels.npy", "--calibration", "none", "--json"]
    ran = run(*argv, "--fail-if", "low(accuracy)<0.99", "--markdown", files / "summary.md")
    assert ran.code == 1
    text = (files / "summary.md").read_text(encoding="utf-8")
    assert text.startswith("## Uncertainty of DE\n\n**")
    assert r"| ❌ fail | low(accuracy)\<0.99 | failed: accuracy of DE is" in text
    assert f"Made by `uqassay {command} " in text
    ran = run(*argv, "--markdown", files / "de.npz")
    assert (ran.code, ran.err.partition(":")[0]) == (2, "--markdown")
