"""The report: a verdict in words, and one HTML page, from the numbers of an `Assay` alone."""

from uqassay.report.page import render, write_page
from uqassay.report.payload import payload
from uqassay.report.verdict import verdict

__all__ = ["payload", "render", "verdict", "write_page"]
