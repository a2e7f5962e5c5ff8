"""What standard output and standard error receive: plain text, strict JSON, colours in terminals alone."""

import io

from tests.cli.terminals import ANSI, cells, in_terminal

from uqassay.cli import screen as streams


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


def test_text_of_data_cannot_move_the_cursor(capsys):
    streams.print_text("a\x1b[2Jb")
    streams.print_note("c\rd")
    streams.complain("e\n\x07f")
    shown = capsys.readouterr()
    assert shown.out == "a\\x1b[2Jb\nNote: c\\rd.\n"
    assert shown.err == "e \\x07f\n"


def test_json_is_strict_and_ascii(capsys):
    streams.print_json({"λ": float("nan"), "∞": float("inf"), "a": (1, 2)})
    assert capsys.readouterr().out.isascii()


def test_no_bar_where_standard_error_is_no_terminal(capsys):
    with streams.progress(3) as say:
        say("reading")
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with streams.progress(2) as say:
        say("reading a\x1b[31m.npz")
    assert "reading a" in stream.getvalue()
    assert "\x1b[31m.npz" not in stream.getvalue()


def test_a_long_step_is_cut_and_takes_one_line(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with streams.progress(2) as say:
        say("calibration of " + "a long name " * 20)
    drawn = [frame for frame in stream.getvalue().replace("\r", "\n").splitlines() if "calibration of" in frame]
    assert drawn
    for frame in drawn:
        assert cells(ANSI.sub("", frame)) <= 80
        assert "…" in frame


def test_every_stage_of_a_report_is_shown(files, tmp_path):
    labels, page = ["--labels", files / "labels.npy"], ["-o", tmp_path / "report.html"]
    argv = ["report", files / "de.npz", *labels, *page, "--save", tmp_path / "kept"]
    shown = ANSI.sub("", in_terminal(argv, 80, stream="stderr"))
    stages = ["reading", "checking the predictions", "baselines", "backward scores", "pictured sets", "calibration of"]
    stages += ["verdict", "keeping the assay", "writing the page: findings", "writing the page: instances"]
    places = [shown.find(stage) for stage in stages]
    assert -1 not in places
    assert places == sorted(places)
    assert all(cells(line) <= 80 for line in shown.replace("\r", "\n").splitlines())


def test_a_bar_makes_room_for_steps_that_were_not_counted(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    with streams.progress(1) as say:
        for step in range(4):
            say(f"step {step}")
    last = stream.getvalue().rpartition("step 3")[2]
    assert "╺" in last or "╸" in last  # the end of a bar that is not full
