"""The scenarios by name: what each needs and the text that it gives."""

import importlib.util
import os
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.golden.capture import attempt, scrubbed, text_of, titled

__all__ = ["KEPT", "Scenario", "all_scenarios", "kept_at", "missing", "sections", "taken"]

KEPT = Path(__file__).with_name("kept")
PARTS = ("assays", "studies", "functions", "commands", "figures", "refusals")
REQUIRE_ALL = os.environ.get("UQASSAY_REQUIRE_ALL") == "1"


@dataclass(frozen=True)
class Scenario:
    """One scenario: its name (with the part that it belongs to), the packages that it needs, and what makes its text."""

    name: str
    make: Callable[[], str]
    needs: tuple[str, ...] = ()


def sections(parts: dict[str, Callable[[], Any]]) -> str:
    """The text of several values, each under its title; a refusal or a failure is a text, too."""
    return "\n".join(titled(title, _value_text(work)) for title, work in parts.items())


def _value_text(work: Callable[[], Any]) -> str:
    try:
        return text_of(attempt(work))
    except Exception as problem:
        return f"failed: {type(problem).__name__}: {problem}"


@cache
def all_scenarios() -> dict[str, Scenario]:
    """All scenarios by name: those that the function `scenarios` of every part gives."""
    found: dict[str, Scenario] = {}
    for part in PARTS:
        for one in import_module(f"tests.golden.{part}").scenarios():
            name = f"{part}/{one.name}"
            if name in found:
                raise ValueError(f"{name} is there twice")
            found[name] = replace(one, name=name)
    return found


def missing(one: Scenario) -> str:
    """The first package that a scenario needs and that is not installed, or nothing."""
    return next((name for name in one.needs if importlib.util.find_spec(name) is None), "")


def taken(one: Scenario) -> str:
    """The text of a scenario as it is now, made in an empty folder; an unforeseen exception is a text, too."""
    with TemporaryDirectory() as folder, chdir(folder):
        here = str(Path.cwd())
        try:
            text = one.make()
        except Exception as problem:
            text = f"failed: {type(problem).__name__}: {problem}"
    return scrubbed(text.replace(here, "<folder>")) + "\n"


def kept_at(name: str) -> Path:
    """The file that keeps a scenario's text."""
    return KEPT / f"{name}.txt"
