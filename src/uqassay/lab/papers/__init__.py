"""The papers' protocols, run again: printed values with ours; and two of the protocols for any estimator.

Importing this room loads no protocol. `reproduce` imports the one that it runs; `disentanglement` and `epistemic_gain` are
loaded when used.
"""

from importlib import import_module
from typing import Any

from uqassay.lab.papers.paper_tables import PrintedCell, printed_table
from uqassay.lab.papers.register import PROTOCOLS, reproduce
from uqassay.lab.papers.reproduction import Reproduction

_WHERE = {
    "Conditions": "disentangling.trainings",
    "disentanglement": "disentangling.study",
    "epistemic_gain": "gain.study",
}

__all__ = [
    "PROTOCOLS",
    "Conditions",
    "PrintedCell",
    "Reproduction",
    "disentanglement",
    "epistemic_gain",
    "printed_table",
    "reproduce",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'uqassay.lab.papers' has no attribute {name!r}")
    value = getattr(import_module(f"uqassay.lab.papers.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
