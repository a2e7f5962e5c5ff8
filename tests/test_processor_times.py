"""The list of tests that ``make check`` leaves out, and what writes it."""

import os
from types import SimpleNamespace

import pytest

from tests import processor_times
from tests.processor_times import ALL, ONE, ProcessorTimes, exists, listed, name_of


def test_every_test_in_the_list_exists():
    assert [name for name in sorted(listed()) if not exists(name)] == []
    assert exists("tests/test_processor_times.py::test_every_test_in_the_list_exists")
    assert not exists("tests/test_processor_times.py::test_of_another_name")
    assert not exists("tests/test_of_no_file.py::test_of_no_file")


def test_tests_in_the_list_are_slow(request):
    slow = {name_of(item.nodeid) for item in request.session.items if item.get_closest_marker("slow")}
    run = {name_of(item.nodeid) for item in request.session.items}
    if not request.config.pluginmanager.has_plugin("processor-times"):
        assert listed() & run <= slow


def report(nodeid, seconds, *, when="call", keywords=()):
    return SimpleNamespace(nodeid=nodeid, when=when, keywords=dict.fromkeys(keywords, 1), processor_seconds=seconds)


def written(place, monkeypatch, reports, before=""):
    place.write_text(before, encoding="utf-8")
    monkeypatch.setattr(processor_times, "LIST", place)
    plugin = ProcessorTimes(place)
    for each in reports:
        plugin.pytest_runtest_logreport(each)
    plugin.pytest_sessionfinish(SimpleNamespace(config=SimpleNamespace()))
    return listed()


def test_the_list_has_what_is_long_alone_or_together(tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("def test_not_run(): pass\n")
    reports = [
        report("tests/test_a.py::test_long[1-2]", ONE + 0.1),
        report("tests/test_a.py::test_long[a[0]]", 0.0),
        *(report(f"tests/test_a.py::test_many[{i}]", 0.07) for i in range(10)),
        report("tests/test_a.py::test_short", ONE - 0.1),
        report("tests/test_a.py::test_short", 9.0, when="setup"),
        report("tests/test_a.py::test_marked", 9.0, keywords=["slow"]),
    ]
    assert ALL < 10 * 0.07
    before = "# a comment\ntests/test_a.py::test_not_run\ntests/test_a.py::test_gone\ntests/test_a.py::test_short\n"
    found = written(tmp_path / "tests" / "slow_tests.txt", monkeypatch, reports, before)
    assert found == {f"tests/test_a.py::test_{name}" for name in ("long", "many", "not_run")}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="starts a process by fork")
def test_time_of_processes_that_have_ended_counts():
    before = processor_times.processor_seconds()
    child = os.fork()
    if child == 0:
        while os.times().user < 0.05:
            pass
        os._exit(0)
    os.waitpid(child, 0)
    assert processor_times.processor_seconds() - before >= 0.04
