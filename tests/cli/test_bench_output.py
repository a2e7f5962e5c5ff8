"""What `uqassay bench` shows: costs, failures, the bar."""

import io
from types import SimpleNamespace

from uqassay.cli import screen as streams
from uqassay.lab import cli_bench as bench_output
from uqassay.lab.bench.runner import Costs, RunSummary
from uqassay.lab.bench.runner import Progress as Far


def test_costs_in_words():
    costs = Costs(done=1, failed=1, running=1, queued=4, seconds=7200.0, untimed=("iris, snn",))
    assert bench_output.cost_sentences(costs, 2) == [
        "5 of 7 cells to do, 1 done, 1 failed.",
        "About 60 min with 2 workers (2 h of one).",
        "Not timed yet, so taken for average: iris, snn; --first runs one of each.",
    ]
    assert [bench_output.duration(s) for s in (0.25, 12, 119, 120, 7199, 7200, 200000)] == [
        "0.2 s", "12 s", "119 s", "2 min", "120 min", "2 h", "2 days",
    ]  # fmt: skip


def test_many_failures_are_counted():
    summary = RunSummary(20, 0, 20, {f"cell {i}": "ValueError: no" for i in range(12)}, 1.0)
    sentence = bench_output.failures_sentence(summary, "run")
    assert sentence.startswith("Failed: 12 of 20 cells: cell 0 (ValueError: no); ")
    assert " and 2 more; see uqassay bench status run" in sentence


def test_bar_shows_the_time_left_on_a_terminal_alone(monkeypatch):
    with bench_output.run_bar(3) as show:
        assert show is None
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(bench_output, "sys", SimpleNamespace(stderr=stream, stdout=stream))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(streams.Console, "is_terminal", property(lambda self: True))
    with bench_output.run_bar(3) as show:
        show(Far(finished=1, failed=1, total=3, seconds_left=30.0, cell="iris, snn, seed 0"))
    assert "1/3" in stream.getvalue()
    assert "about 30 s left" in stream.getvalue()
