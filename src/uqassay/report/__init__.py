"""The report: one HTML page and figures for papers, from the numbers of an `Assay` alone."""

from uqassay.report.page import render, write_page
from uqassay.report.payload import payload

__all__ = ["payload", "render", "write_page"]
