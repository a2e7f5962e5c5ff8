"""What standard output and standard error receive: plain text, strict JSON, colours in terminals alone."""

from tests.cli.terminals import in_terminal


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
