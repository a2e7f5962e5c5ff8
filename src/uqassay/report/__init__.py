"""The report: one HTML page and figures for papers, from the numbers of an `Assay` alone."""

from uqassay.report.page import render, write_page
from uqassay.report.page_data import payload

__all__ = ["payload", "render", "write_page"]


def __dir__() -> list[str]:
    return sorted(__all__)
