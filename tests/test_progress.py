"""What is being done is shown after a second, in a terminal and in a notebook, and nowhere else."""

import io
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import uqassay as uq
from uqassay import _progress
from uqassay._progress import shown_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    place = Terminal()
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=place, modules={}))
    monkeypatch.setattr(_progress, "AFTER", 0.05)
    return place


def shown(place, n):
    """What stands in the place once it has changed n times."""
    until = time.monotonic() + 30
    while len(place()) < n and time.monotonic() < until:
        time.sleep(0.01)
    return place()


def lines(terminal):
    return terminal.getvalue().split("\r\x1b[K")[1:]


def test_a_terminal_shows_the_stage_after_a_while_and_nothing_in_the_end(terminal):
    with shown_progress(None) as say:
        say("scores")
        say("a long \x1b[31mstage")
        assert shown(lambda: lines(terminal), 1) == [r"a long \x1b[31mstage …"]
        say("the next")
        assert lines(terminal)[1] == "the next …"
    assert lines(terminal)[2:] == [""]


def test_what_is_quick_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(_progress, "AFTER", 30.0)
    with shown_progress(None) as say:
        say("scores")
    assert terminal.getvalue() == ""


def test_a_long_stage_is_cut_to_the_width_of_the_terminal(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    with shown_progress(None) as say:
        say("x" * 50)
        assert shown(lambda: lines(terminal), 1) == ["x" * 19]


def test_calls_inside_tell_the_line_of_the_call_around_them(terminal):
    with shown_progress(None) as say, shown_progress(None) as inside, shown_progress(None) as deeper:
        assert inside == deeper == say
    with shown_progress(print), shown_progress(None) as inside, shown_progress(None) as deeper:
        assert inside == deeper == _progress.silent  # the function given is told the stages of its own call alone
    with shown_progress(None), shown_progress(print) as own:
        assert own is print


def test_a_notebook_shows_one_text_in_its_place(monkeypatch):
    texts = []

    class Handle:
        def update(self, data, *, raw):
            texts.append(data["text/plain"])

    def display(data, *, raw, display_id):
        texts.append(data["text/plain"])
        return Handle()

    shell = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    monkeypatch.setattr(_progress, "AFTER", 0.05)
    with shown_progress(None) as say:
        say("calibration of m")
        assert shown(lambda: texts, 1) == ["calibration of m …"]
    assert texts == ["calibration of m …", ""]


def test_a_file_is_told_nothing(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=file, modules={}))
    monkeypatch.setattr(_progress, "AFTER", 0.0)
    with shown_progress(None) as say:
        say("scores")
        time.sleep(0.05)
    assert file.getvalue() == ""


def test_assay_tests_and_page_tell_a_terminal_what_they_do(terminal, monkeypatch, tmp_path, random_generator):
    monkeypatch.setattr(_progress, "AFTER", 0.0)
    told, say = [], _progress._Line.say
    monkeypatch.setattr(_progress._Line, "say", lambda self, text: (told.append(text), say(self, text)))
    p = random_generator.dirichlet(np.ones(3), (30, 4))
    a = uq.assay({"m": p}, random_generator.integers(0, 3, 30), n_draws=20)
    assert {"checking the predictions", "m", "m, scale check", "baselines"} < set(told)
    assert "calibration of m" not in told
    a.to_html(tmp_path / "page.html")
    assert "calibration of m" in told
    assert "writing the page: findings" in told
    assert lines(terminal)[-1] == ""
