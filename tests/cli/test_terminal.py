"""Tables in terminals of every width, and text from data in a terminal and in a shell."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from tests.cli.terminals import ANSI, cells, in_terminal

import uqassay as uq
from uqassay.cli import inputs
from uqassay.cli.screen import shell_line, unicode_text
from uqassay.text import visible as printable

# -- Tables in terminals of every width: nothing is cut, and no number loses the name of its model ---------------------


@pytest.mark.parametrize("width", [50, 80, 120])
def test_terminal_widths(width, files):
    long = "a model with a long name that no one would choose by hand"
    models = [f"{long}={files / 'de.npz'}", f"深層アンサンブル={files / 'point.npz'}"]
    shown = in_terminal(["rank", *models, "--labels", files / "labels.npy"], width)
    lines = ANSI.sub("", shown).split("\n")
    assert max(map(cells, lines)) <= width
    assert "…" not in shown  # nothing is cut
    together = " ".join(" ".join(line.split()) for line in lines)
    assert "深層アンサンブル" in together
    assert "\x1b[1m" in shown  # the best model stands out


MISTAKES = "Does the uncertainty"


@pytest.fixture(scope="module")
def one_assay():
    """One assay of the two models for all widths."""
    made = []

    def kept(request, *, progress=None, meanwhile=None):
        if not made:
            made.append(inputs.make_assay(request, progress=progress))
        return made[0]

    return kept


@pytest.mark.parametrize(("width", "columns"), [(30, 1), (40, 1), (44, 1), (60, 2), (80, 3), (120, 4)])
def test_numbers_keep_the_name_of_their_model_in_a_narrow_terminal(
    width, columns, files, run, narrow, one_assay, monkeypatch
):
    monkeypatch.setattr("uqassay.cli.report.make_assay", one_assay)
    models = [f"deep-ensemble={files / 'de.npz'}", f"evidential={files / 'edl.npz'}"]
    narrow(width)
    ran = run("report", *models, "--labels", files / "labels.npy", "--calibration", "none", "-o", files / "page.html")
    lines = ran.out.split("\n")
    lines = lines[next(i for i, line in enumerate(lines) if line.startswith(MISTAKES)) :]
    start = next(i for i, line in enumerate(lines) if line.startswith("model"))
    end = next(i for i, line in enumerate(lines) if line.startswith("UQ-AUC:"))
    assert max(map(cells, lines[:end])) <= width
    rows = [line for line in lines[start + 1 : end] if line.startswith(("deep-ensem", "evidential"))]
    assert len(rows) == 2
    assert all(re.search(r" 0\.\d{3}( |$)", row) for row in rows)
    heads = ("UQ-AUC (", "accuracy", "of the 90 % kept", "UQ-C-index (")
    header = " ".join(lines[start - 1 : start + 1])  # folded where there is no room for one line
    assert [head in header for head in heads] == [k < columns for k in range(4)]
    footer = " ".join(" ".join(lines[end:]).split()).partition(" Note:")[0]
    assert ("UQ-C-index:" in footer) == (columns == 4)
    assert "UQ-AUC: chance that an error is more uncertain than a right prediction" in footer


def test_a_ranking_explains_the_columns_it_has(files):
    argv = ["rank", files / "de.npz", files / "edl.npz", "--labels", files / "labels.npy"]
    narrow, wide = (ANSI.sub("", in_terminal(argv, width)) for width in (40, 160))
    told = " ".join(narrow.split())
    assert "p (adjusted)" not in next(line for line in narrow.splitlines() if line.startswith("rank "))
    assert re.search(r"No room for .*p \(adjusted\).*: widen the terminal, or pipe through cat\.", told)
    assert "No room" not in wide
    assert "paired test" not in narrow
    assert "p: paired test against the best, adjusted for all pairs" in wide
    assert "rank: all ranks that the model can have" in " ".join(narrow.split())
    assert "resamples won: share of" in " ".join(wide.split())


def test_a_report_prints_its_subgroups(files, run, tmp_path):
    site = tmp_path / "site.csv"
    n = len(np.load(files / "labels.npy"))
    site.write_text("site\n" + "\n".join(["here", "there"][i % 2] for i in range(n)) + "\n")
    argv = ["report", files / "de.npz", files / "edl.npz", "--labels", files / "labels.npy", "--calibration", "none"]
    out = run(*argv, "--subgroup", f"site={site}", "-o", tmp_path / "report.html").out
    table = out.partition("by site; lower is better")[2].partition("Lowest mean E at")[0]
    assert [line.split()[0] for line in table.splitlines() if line.startswith(("here", "there"))] == ["here", "there"]
    assert out.index("by site; lower is better") > out.index("Lowest mean E among the models")


def test_one_model_is_not_compared_with_others(files, run):
    out = run("rank", files / "de.npz", "--labels", files / "labels.npy", "--draws", "10").out
    assert "resamples won" not in out
    assert "Lowest mean E among the models" not in out
    both = run("rank", files / "de.npz", files / "edl.npz", "--labels", files / "labels.npy", "--draws", "10").out
    assert "resamples won" in both
    assert "Lowest mean E among the models, by λ" in both


def test_the_default_tradeoff_is_marked_and_every_ranking_shows_its_own(files, run):
    argv = ("rank", files / "de.npz", "--labels", files / "labels.npy", "--draws", "10")
    titles = [line for line in run(*argv).out.splitlines() if line.startswith("Ranking")]
    assert titles == ["Ranking at λ = 0.5 (the default) by the mean of E = KL + λ · non-specificity; lower is better"]
    titles = [line for line in run(*argv, "--tradeoff", "0.1,2").out.splitlines() if line.startswith("Ranking")]
    assert [title.split(" by ")[0] for title in titles] == ["Ranking at λ = 0.1", "Ranking at λ = 2"]


def test_numbers_are_those_of_the_assay(files, run):
    out = run("rank", f"DE={files / 'de.npz'}", "--labels", files / "labels.npy", "--draws", "10").out
    a = uq.assay({"DE": uq.load(files / "de.npz")}, np.load(files / "labels.npy"), n_draws=10, calibration=())
    best = a.ranked(0.5)[0]
    line = next(line for line in out.splitlines() if line.startswith("1     DE"))
    assert line.split()[2] == f"{float(best.estimate):.3f}"
    assert f"{best.estimate.low:.3f} to {best.estimate.high:.3f}" in line


def test_notes_name_options_of_the_command_line(files, run):
    out = run("rank", files / "de.npz", files / "edl.npz", "--labels", files / "labels.npy", "--draws", "10").out
    assert "compare with --common-members 5.\n" in out
    assert "common_members" not in out


# -- Text from data in a terminal, and arguments for a shell -----------------------------------------------------------


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
