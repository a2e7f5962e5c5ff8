"""`uqassay demo` refuses before it trains; what it trains is tested in tests/test_demo.py."""

import sys


def test_the_charts_are_needed_before_anything_is_trained(tmp_path, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    ran = run("demo", "-o", tmp_path / "demo")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("plotly: ")
    assert list(tmp_path.iterdir()) == []


def test_errors_name_the_options(tmp_path, run, needs):
    needs("plotly", "sklearn")
    (tmp_path / "file").touch()
    ran = run("demo", "-o", tmp_path / "file")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("--output: ")
    assert run("demo", "-o", tmp_path / "x", "--seed", 2**31).err.startswith("--seed: ")
