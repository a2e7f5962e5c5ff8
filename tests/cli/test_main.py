"""The process around the commands: exit codes, broken pipes, interrupts, what is imported."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.report.html_pages import ParsedPage

import uqassay as uq
from uqassay.cli import main


def test_bad_input_in_a_process(tmp_path, run_process):
    np.savez(tmp_path / "m.npz", probs=np.full((3, 3), 0.3))
    np.save(tmp_path / "y.npy", [0, 1, 2])
    ran = run_process("rank", tmp_path / "m.npz", "--labels", tmp_path / "y.npy")
    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(
        r"m\.npz: probs: each row must sum to 1 within [^;]+; row 0 sums to 0\.9; pass --normalise .*\n", ran.err
    )
    assert ran.err.count("\n") == 1


PROGRAM = "import sys; from uqassay.cli import main; sys.exit(main())"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(main.__code__.co_filename).parents[2])}


@pytest.mark.parametrize("words", [("rank", "de.npz", "--labels", "labels.npy"), ("report", "--help")])
def test_reader_of_the_pipe_goes_away(files, words):
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words],
            cwd=files,
            env=ENVIRONMENT,
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            timeout=600,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def without_stream(descriptor, *argv):
    """Run with one of the standard streams closed, as by `>&-` in a shell."""
    words = [sys.executable, "-c", PROGRAM, *map(str, argv)]
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {descriptor}>&-', "sh", *words],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_closed_standard_output(files):
    done = without_stream(1, "rank", files / "de.npz", "--labels", files / "labels.npy")
    assert (done.returncode, done.stderr) == (2, "standard output: is closed; leave it open, or send it to a file.\n")


def test_closed_standard_error(files):
    done = without_stream(2, "rank", files / "nothing.npz")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(("given", "frozen"), [("", True), ("['--version']", False)])
def test_only_the_end_of_the_process_leaves_garbage_alone(given, frozen):
    program = f"import gc; from uqassay.cli import main; main({given}); print(gc.get_freeze_count() > 0)"
    words = [sys.executable, "-c", program, "--version"]
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.splitlines()[-1] == str(frozen)


@pytest.mark.parametrize(("limit", "said"), [(-1.0, True), (3600.0, False)])
def test_a_slow_command_without_kernels_says_so_in_its_last_line(limit, said, monkeypatch, run):
    monkeypatch.setattr("uqassay.cli.SLOW", limit)
    monkeypatch.setenv("UQASSAY_PURE", "1")
    ran = run("bench", "--help")
    assert ran.code == 0
    assert ran.err == f"{uq.kernels()}\n" * said


def test_help_does_not_load_what_it_does_not_need(run_process):
    heavy = ("pandas", "sklearn", "plotly", "matplotlib", "torch", "uqassay.report.page", "uqassay.lab.demo")
    after = f"import atexit; atexit.register(lambda: print([m for m in {heavy!r} if m in sys.modules]))"
    ran = run_process("report", "--help", before=after)
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "[]"


def test_ctrl_c(monkeypatch, run):
    def interrupted(request, *, progress):
        raise KeyboardInterrupt

    monkeypatch.setattr("uqassay.cli.report.make_assay", interrupted)
    assert run("rank", "a.npz") == (130, "", "")


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (PermissionError(13, "Permission denied", "page.html"), "page.html: Permission denied; check path"),
        (OSError(28, "No space left on device"), "No space left on device; check path"),
        (MemoryError("Unable to allocate 3 TiB"), "memory: Unable to allocate 3 TiB; use fewer cases"),
    ],
)
def test_the_machine_refuses(problem, sentence, monkeypatch, run):
    def failing(request, *, progress):
        raise problem

    monkeypatch.setattr("uqassay.cli.report.make_assay", failing)
    ran = run("rank", "a.npz")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(sentence)
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "problem", [ZeroDivisionError("a bug"), ModuleNotFoundError("a bug", name="uqassay.evidence.old")]
)
def test_a_bug_is_neither_bad_input_nor_a_failed_check(problem, monkeypatch, run):
    def broken(request, *, progress):
        raise problem

    monkeypatch.setattr("uqassay.cli.report.make_assay", broken)
    ran = run("rank", "a.npz", "--fail-if", "unified@0.5>0.01")
    assert (ran.code, ran.out) == (70, "")
    assert f"{type(problem).__name__}: a bug" in ran.err
    assert ran.err.splitlines()[-1].startswith("uqassay: this is a fault of uqassay; please report it")


def test_file_names_that_are_no_utf8(files, run, run_process):
    odd = os.fsdecode(os.fsencode(files) + b"/mod\xe9.npz")
    (files / "de.npz").rename(odd)
    words = ("report", odd, "--labels", files / "labels.npy", "-o", files / "page.html", "--calibration", "none")
    ran = run_process(*words, PYTHONUTF8="1")
    assert (ran.code, ran.err) == (0, "")
    assert r"mod\xe9" in ran.out
    page = (files / "page.html").read_text(encoding="utf-8")
    assert ParsedPage(page).payload["command"].startswith(f"uqassay report $'{files}/mod\\xe9.npz'")
    checked = run_process("rank", odd, "--labels", files / "labels.npy", "--fail-if", "mod\udce9:accuracy<2")
    assert checked.code == 1
    both = run("ood", odd, "--out", f"mod\udce9={files / 'de2.npz'}", "--json")
    assert both.code == 2  # no such file
    np.savez(files / "de2.npz", probs=np.full((20, 5, 3), 1 / 3))
    both = run("ood", odd, "--out", f"mod\udce9={files / 'de2.npz'}", "--json")
    assert {row["model"] for row in both.json()["findings"]} == {r"mod\xe9"}


def test_names_in_an_ascii_locale(files, run_process):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    argv = ("report", f"מודל={files / 'de.npz'}", "--labels", files / "labels.npy", "-o", files / "page.html")
    ran = run_process(*argv, "--calibration", "none", **ascii_only)
    assert (ran.code, ran.err) == (0, "")
    assert "Does מודל know what it does not know?" in (files / "page.html").read_text(encoding="utf-8")
