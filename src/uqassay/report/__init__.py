"""The report: HTML pages and figures for papers, from the numbers of an `Assay` or of studies alone.

Modules are imported when their names are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uqassay.report.page import payload, render, write_page
    from uqassay.report.study_pages import write_disentanglement_page, write_gain_page

_WHERE = {
    "payload": "page",
    "render": "page",
    "write_disentanglement_page": "study_pages",
    "write_gain_page": "study_pages",
    "write_page": "page",
}

__all__ = ["payload", "render", "write_disentanglement_page", "write_gain_page", "write_page"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'uqassay.report' has no attribute {name!r}")
    value = getattr(import_module(f"uqassay.report.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
