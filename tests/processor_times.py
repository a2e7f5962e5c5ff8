"""Processor time of every test, and the list of those that ``make check`` leaves out; a plugin of pytest.

``make slow-tests`` runs all tests with it and writes the list anew. Time that other programs take does not count, and time of
processes that a test starts and waits for does. What a fixture of a module costs is not counted: the next test would pay it.
"""

import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("slow_tests.txt")
ONE, ALL = 0.1, 0.2  # seconds of one call, and of all calls with other parameters, from which a test is in the list
HEAD = f"""\
# Tests that take over {ONE} s of processor time, or {ALL} s with all their parameters. `make check` leaves them out.
# Written by `make slow-tests`; a test marked slow by hand need not be here.
"""


def listed() -> frozenset[str]:
    """Tests in the list, without parameters."""
    lines = LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else []
    return frozenset(line for line in lines if line and not line.startswith("#"))


def name_of(nodeid: str) -> str:
    """A test's name without its parameters."""
    return nodeid.partition("[")[0]


def exists(name: str) -> bool:
    """Whether the file of a test is there and, if it is one of Python tests, has a function of this name."""
    file, _, rest = name.partition("::")
    path = LIST.parents[1] / file
    if not path.is_file():
        return False
    is_function = path.name.startswith("test_") and path.suffix == ".py"
    return not is_function or f"def {rest.rpartition('::')[2]}(" in path.read_text(encoding="utf-8")


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(os.times()[:4])


class ProcessorTimes:
    """Measures in the processes that run tests, sums up and writes in the one that reports."""

    def __init__(self, place: Path = LIST) -> None:
        self.place = place
        self.spent: dict[str, float] = defaultdict(float)
        self.started = 0.0

    def pytest_runtest_call(self) -> None:
        self.started = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "call":
            report.processor_seconds = processor_seconds() - self.started  # type: ignore[attr-defined]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            marked = "slow" in report.keywords
            self.spent[report.nodeid] += 0.0 if marked else report.processor_seconds  # type: ignore[attr-defined]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            return
        calls = defaultdict(list)
        for nodeid, seconds in self.spent.items():
            calls[name_of(nodeid)].append(seconds)
        kept = {name for name in listed() if name not in calls and exists(name)}  # where only some files were run
        slow = {name for name, each in calls.items() if max(each) > ONE or sum(each) > ALL}
        self.place.write_text(HEAD + "".join(f"{name}\n" for name in sorted(slow | kept)), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessorTimes(), "processor-times")
