"""The process around the commands: exit codes, broken pipes, what is imported, what a terminal receives."""

import os
import pty
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from uqassay.cli import main

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_bad_input_in_a_process(tmp_path, run_process):
    np.savez(tmp_path / "m.npz", probs=np.full((3, 3), 0.5))
    ran = run_process("rank", tmp_path / "m.npz", "--labels", tmp_path / "y.npy")
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err == "m.npz: probs: each row must sum to 1 within 1e-06; row 0 sums to 1.5; " + ran.err.split("; ", 2)[2]
    )
    assert ran.err.count("\n") == 1


def test_json_in_a_process_without_utf8(files, run_process):
    ran = run_process(
        "rank", f"λ={files / 'de.npz'}", "--labels", files / "labels.npy", "--json", PYTHONIOENCODING="ascii"
    )
    assert (ran.code, ran.err) == (0, "")
    assert ran.json()["breakpoints"][0]["models"] == ["λ"]


def test_tables_in_a_process_without_utf8(files, run_process):
    ran = run_process("rank", files / "de.npz", "--labels", files / "labels.npy", PYTHONIOENCODING="ascii")
    assert (ran.code, ran.err) == (0, "")
    assert r"Ranking at \u03bb = 0.5" in ran.out


def test_reader_of_the_pipe_goes_away(files):
    program = "import sys; from uqassay.cli import main; sys.exit(main())"
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, "rank", str(files / "de.npz"), "--labels", str(files / "labels.npy")],
            env={**os.environ, "PYTHONPATH": str(Path(main.__code__.co_filename).parents[2])},
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def without_stream(descriptor, *argv):
    """Run with one of the standard streams closed, as by `>&-` in a shell."""
    program = "import sys; from uqassay.cli import main; sys.exit(main())"
    words = [sys.executable, "-c", program, *map(str, argv)]
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {descriptor}>&-', "sh", *words],
        env={**os.environ, "PYTHONPATH": str(Path(main.__code__.co_filename).parents[2])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_closed_standard_output(files):
    done = without_stream(1, "rank", files / "de.npz", "--labels", files / "labels.npy")
    assert (done.returncode, done.stderr) == (2, "stdout: is closed; leave it open, or send it to a file.\n")


def test_closed_standard_error(files):
    done = without_stream(2, "rank", files / "nothing.npz")
    assert (done.returncode, done.stdout) == (2, "")


def test_reader_of_the_help_goes_away():
    program = "import sys; from uqassay.cli import main; sys.exit(main())"
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, "report", "--help"],
            env={**os.environ, "PYTHONPATH": str(Path(main.__code__.co_filename).parents[2])},
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_parser_is_not_installed(package, run_process):
    ran = run_process("--help", before=f"sys.modules[{package!r}] = None")
    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(r"(typer|rich\S*): the command line needs it; install uqassay\[cli\]\.\n", ran.err)


def test_help_does_not_load_what_it_does_not_need(run_process):
    heavy = ("pandas", "sklearn", "plotly", "matplotlib", "torch", "uqassay.report.page", "uqassay.demo")
    after = f"import atexit; atexit.register(lambda: print([m for m in {heavy!r} if m in sys.modules]))"
    ran = run_process("report", "--help", before=after)
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "[]"


def test_ctrl_c(monkeypatch, run):
    def interrupted(request, *, progress):
        raise KeyboardInterrupt

    monkeypatch.setattr("uqassay.cli.commands.make_assay", interrupted)
    assert run("rank", "a.npz") == (130, "", "")


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (PermissionError(13, "Permission denied", "page.html"), "page.html: Permission denied; check path"),
        (OSError(28, "No space left on device"), "No space left on device; check path"),
        (MemoryError("Unable to allocate 3 TiB"), "memory: Unable to allocate 3 TiB; use fewer instances"),
    ],
)
def test_the_machine_refuses(problem, sentence, monkeypatch, run):
    def failing(request, *, progress):
        raise problem

    monkeypatch.setattr("uqassay.cli.commands.make_assay", failing)
    ran = run("rank", "a.npz")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(sentence)
    assert ran.err.count("\n") == 1


def test_a_bug_is_not_dressed_up_as_bad_input(monkeypatch):
    def broken(request, *, progress):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("uqassay.cli.commands.make_assay", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        main(["rank", "a.npz"])


def in_terminal(argv, width, **environment):
    """Standard output of a process whose output is a terminal of so many columns."""
    program = "import sys; from uqassay.cli import main; sys.exit(main())"
    ours, theirs = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    env |= {"PYTHONPATH": str(Path(main.__code__.co_filename).parents[2]), "TERM": "xterm-256color"}
    env |= {"COLUMNS": str(width), "PYTHONIOENCODING": "utf-8", **environment}
    with subprocess.Popen(
        [sys.executable, "-c", program, *map(str, argv)], env=env, stdout=theirs, stderr=subprocess.PIPE, stdin=theirs
    ) as process:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            parts.append(part)
        process.wait(timeout=60)
        assert process.stderr is not None
        assert process.stderr.read() == b""
    os.close(ours)
    assert process.returncode == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


def cells(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


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


@pytest.mark.parametrize(("width", "columns"), [(30, 1), (40, 1), (44, 1), (60, 2), (80, 3), (120, 4)])
def test_numbers_keep_the_name_of_their_model_in_a_narrow_terminal(width, columns, files):
    models = [f"deep-ensemble={files / 'de.npz'}", f"evidential={files / 'edl.npz'}"]
    argv = ["report", *models, "--labels", files / "labels.npy", "-o", files / "page.html"]
    lines = ANSI.sub("", in_terminal(argv, width)).split("\n")
    lines = lines[next(i for i, line in enumerate(lines) if line.startswith(MISTAKES)) :]
    start = next(i for i, line in enumerate(lines) if line.startswith("model"))
    end = next(i for i, line in enumerate(lines) if line.startswith("UQ-AUC:"))
    assert max(map(cells, lines[:end])) <= width
    rows = [line for line in lines[start + 1 : end] if line.startswith(("deep-ensem", "evidential"))]
    assert len(rows) == 2
    assert all(re.search(r" 0\.\d{3}( |$)", row) for row in rows)
    heads = ("UQ-AUC (", "accuracy", "of the 90 % kept", "C-index (")
    header = " ".join(lines[start - 1 : start + 1])  # folded where there is no room for one line
    assert [head in header for head in heads] == [k < columns for k in range(4)]
    footer = " ".join(" ".join(lines[end:]).split()).partition(" Note:")[0]
    assert ("C-index:" in footer) == (columns == 4)
    assert "UQ-AUC: chance that an error is more uncertain than a right prediction" in footer


def test_a_ranking_explains_the_columns_it_has(files):
    argv = ["rank", files / "de.npz", files / "edl.npz", "--labels", files / "labels.npy"]
    narrow, wide = (ANSI.sub("", in_terminal(argv, width)) for width in (40, 120))
    assert "p (Holm)" not in narrow
    assert "paired test" not in narrow
    assert "p: paired test against the best, adjusted by Holm" in wide
    assert "wins: share of" in narrow


def test_file_names_that_are_no_utf8(files, run_process):
    odd = os.fsdecode(os.fsencode(files) + b"/mod\xe9.npz")
    (files / "de.npz").rename(odd)
    ran = run_process("report", odd, "--labels", files / "labels.npy", "-o", files / "page.html", PYTHONUTF8="1")
    assert (ran.code, ran.err) == (0, "")
    assert r"mod\xe9" in ran.out
    page = (files / "page.html").read_text(encoding="utf-8")
    assert f"uqassay report $'{files}/mod\\\\xe9.npz'" in page  # the backslash once more, as JSON has it
    checked = run_process("rank", odd, "--labels", files / "labels.npy", "--fail-if", "mod\udce9:accuracy<2")
    assert checked.code == 1
    both = run_process("ood", odd, "--out", f"mod\udce9={files / 'de2.npz'}", "--json")
    assert both.code == 2  # no such file
    np.savez(files / "de2.npz", probs=np.full((20, 5, 3), 1 / 3))
    both = run_process("ood", odd, "--out", f"mod\udce9={files / 'de2.npz'}", "--json")
    assert {row["model"] for row in both.json()["findings"]} == {r"mod\xe9"}


def test_names_in_an_ascii_locale(files, run_process):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    argv = ("report", f"מודל={files / 'de.npz'}", "--labels", files / "labels.npy", "-o", files / "page.html")
    ran = run_process(*argv, **ascii_only)
    assert (ran.code, ran.err) == (0, "")
    assert "Does מודל know what it does not know?" in (files / "page.html").read_text(encoding="utf-8")


def test_no_color(files):
    shown = in_terminal(["rank", files / "de.npz", "--labels", files / "labels.npy"], 80, NO_COLOR="1")
    assert "\x1b" not in shown


def test_no_terminal_no_escapes_and_nothing_cut(files, run_process):
    names = ["x" * 150, "[red]x", "<img src=x onerror=alert(1)>", "\x1b[31mred"]
    models = [f"{name}={files / 'de.npz'}" for name in names]
    ran = run_process("rank", *models, "--labels", files / "labels.npy", COLUMNS="40")
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out
    for shown in (*names[:3], r"\x1b[31mred"):
        assert sum(shown in line for line in ran.out.splitlines()) >= 1
