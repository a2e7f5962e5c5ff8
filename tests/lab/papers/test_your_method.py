"""`docs/your-method.md`: its commands, with its class, put a row beside the printed ones of every paper."""

import csv
import io
import re
import sys
from pathlib import Path

import pytest

from uqassay.cli import main
from uqassay.lab.methods.given import given_class

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "your-method.md").read_text(encoding="utf-8")
CLASS = "\n".join(re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", PAGE.partition(">>> MyNet()")[0], re.M))
COMMANDS = re.findall(r"^    uqassay (.+)$", PAGE, re.M)
PRINTED = {  # a printed number of the table, in each form
    "unified": "0.243",
    "credal-calibration": "0.7804",
    "epistemic-gain": "0.393",
    "ranking-synthetic": "94.56",
    "disentanglement": "0.778",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with the file of the page."""
    (tmp_path / "mymodels.py").write_text(CLASS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    given_class.cache_clear()
    monkeypatch.delitem(sys.modules, "mymodels", raising=False)
    yield tmp_path
    sys.modules.pop("mymodels", None)
    given_class.cache_clear()


def test_the_page_has_every_paper_in_at_most_ten_lines():
    parts = PAGE.split("\n## ")[1:]
    assert [part.splitlines()[0] for part in parts] == [
        "Unified evaluation", "Credal calibration", "Epistemic gain", "Ranking metrics", "Disentanglement", "A benchmark",
    ]  # fmt: skip
    assert all(len([line for line in part.splitlines()[1:] if line]) <= 10 for part in parts)
    assert {command.split()[1] for command in COMMANDS if command.startswith("reproduce")} == set(PRINTED)


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.startswith("reproduce")])
def test_commands_print_the_printed_rows_and_mine(command, folder, capsys):
    assert main(command.split()) == 0
    out = capsys.readouterr().out
    assert "MyNet" in out
    table_of = " ".join(command.split()[command.split().index("--table") :])
    if "--table 1" in table_of or (command.split()[1] == "disentanglement" and "--table 2" in table_of):
        assert PRINTED[command.split()[1]] in out
    if "latex" in command:
        assert out.startswith("% needs")
        mine = [line for line in out.splitlines() if "MyNet" in line]
        assert all(line.endswith(r"\\") for line in mine)
    if "csv" in command:
        rows = list(csv.DictReader(io.StringIO(out)))
        (mine, *_) = (row for row in rows if any("MyNet" in value for value in row.values()))
        assert any(name.endswith("_ours") and value for name, value in mine.items())
        assert any(name.endswith("_paper") and value for row in rows for name, value in row.items())


def test_the_benchmark_takes_it_with_its_options(folder, capsys, monkeypatch):
    monkeypatch.setattr("uqassay.lab.bench.runner.processes_of", lambda *_: 0)  # each process would load PyTorch
    (command,) = (one for one in COMMANDS if one.startswith("bench"))
    assert main(command.split()) == 0
    assert "mine" in capsys.readouterr().out
    assert main([*command.split(), "--param", "mine.depth=3"]) == 2
    assert "depth" in capsys.readouterr().err
