"""The bar of a training: on a terminal, after a second, and nowhere else."""

import io
import sys

import pytest

from uqassay.lab.methods import training as progress
from uqassay.lab.methods.training import progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Bar:
    """Records what is drawn."""

    def __init__(self):
        self.said = []

    def start(self):
        self.said.append("start")

    def add_task(self, what, total):
        self.said.append((what, total))
        return 7

    def update(self, task, completed):
        self.said.append((task, completed))

    def stop(self):
        self.said.append("stop")


@pytest.fixture
def bar(monkeypatch):
    made = Bar()
    monkeypatch.setattr(progress, "_new_bar", lambda: made)
    return made


@pytest.mark.parametrize(("stream", "shown"), [(io.StringIO(), True), (Terminal(), False)])
def test_nothing_is_drawn_without_a_terminal_or_a_wish(monkeypatch, bar, stream, shown):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    with progress_bar("training", 3, shown=shown) as show:
        show(1)
    assert (bar.said, stream.getvalue()) == ([], "")


def test_short_work_has_no_bar(monkeypatch, bar):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bar("training", 3, shown=True) as show:
        show(1)
    assert bar.said == []


def test_long_work_has_one_that_ends_with_an_error_too(monkeypatch, bar):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "PATIENCE", -1.0)

    def train():
        with progress_bar("training", 3, shown=True) as show:
            show(1)
            show(2)
            raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        train()
    assert bar.said == ["start", ("training", 3), (7, 1), (7, 2), "stop"]


def test_without_rich_training_goes_on(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    with progress_bar("training", 3, shown=True) as show:
        show(1)
    assert sys.stderr.getvalue() == ""


def test_bar_of_rich(monkeypatch, needs):
    needs("rich")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("training 3 networks", 10, shown=True) as show:
        show(5)
    assert "training 3 networks" in sys.stderr.getvalue()
