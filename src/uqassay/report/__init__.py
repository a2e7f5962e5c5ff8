"""The report: HTML pages and figures for papers, from the numbers of an `Assay` or of studies alone."""

from uqassay.report.disentanglement_page import write_disentanglement_page
from uqassay.report.gain_page import write_gain_page
from uqassay.report.page import render, write_page
from uqassay.report.page_data import payload

__all__ = ["payload", "render", "write_disentanglement_page", "write_gain_page", "write_page"]


def __dir__() -> list[str]:
    return sorted(__all__)
