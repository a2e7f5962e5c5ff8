"""Pieces of the pages whose figures are drawn beforehand."""

from math import nan

from tests.report.html_pages import ParsedPage

from uqassay.notes import Note
from uqassay.report.study_pages import (
    bullets,
    contender_section,
    facts_list,
    figure_data,
    how_to_read,
    in_groups,
    overview_figure,
    overview_row,
    overview_table,
    panels,
    warning_list,
    with_ends,
    with_interval,
)
from uqassay.statistics import Estimate

WORDS = {"warnings": "W", "facts": "F", "command": "C", "a": "An a", "b": "A b", "b_caption": "below b", "data": "D"}


def test_lists_and_facts():
    assert bullets(["a & b"]) == "<ul><li>a &amp; b</li></ul>"
    assert bullets([]) == ""
    assert "<dd>1, 2</dd>" in facts_list("<t>", {"<k>": [1, 2], "x": 0.5, "y": {"a": None}})
    assert "<t>" not in facts_list("<t>", {})


def test_numbers_with_intervals():
    assert with_interval(Estimate(0.25, low=0.2, high=0.3, level=0.95, n=3, method="some"), 2) == (
        '0.25<span class="i">0.20 to 0.30</span>'
    )


def test_groups_are_named_where_there_are_several():
    assert in_groups({"a": "xy"}, str.upper) == "XY"
    assert in_groups({"a": "xy", "<b>": "z"}, str.upper) == "<h2>a</h2>XY<h2>&lt;b&gt;</h2>Z"


def test_rows_lead_to_the_sections():
    rows = [overview_row("<i>", "c0", ["1", "2"], width=3, best=True), overview_row("b", "c1", "why <not>", width=3)]
    table = ParsedPage(overview_table("title", "note", ["x", "y", "z"], rows))
    assert next(cell for tag, cell in table.tags if tag == "th")["class"] == "text"
    assert [row for tag, row in table.tags if tag == "tr"] == [{}, {"class": "best"}, {}]
    assert [link["href"] for tag, link in table.tags if tag == "a"] == ["#c0", "#c1"]
    assert [cell["colspan"] for _, cell in table.tags if "colspan" in cell] == ["2"]
    assert table.text.endswith("xyz<i>12bwhy <not>")


def test_figures_have_headings_and_captions():
    held = ParsedPage(panels({"a": "1", "b": "2"}, WORDS))
    assert held.text == "An a1A b2below b"
    assert ParsedPage(panels({"b": "2"}, WORDS, captions=False)).text == "A b2"
    assert ParsedPage(panels({"a": "1"}, WORDS, data={"a": "2"}, level=3)).text == "An a12"
    assert "<h3>" in panels({"a": "1"}, WORDS, level=3)
    assert overview_figure("t", "", "d", "c") == ""
    held = ParsedPage(overview_figure("<t>", "f", "d", "<c>"))
    assert held.text == "fd<c>"
    assert ("div", {"class": "scroll", "tabindex": "0", "role": "group", "aria-label": "<t>"}) in held.tags


def test_data_of_a_figure_are_a_folded_table():
    cell = with_ends(0.25, 0.2, 0.3, decimals=2)
    held = ParsedPage(
        figure_data("<c>", ["<x>", "y"], [["<a>", cell], ["b", with_ends(1.0, nan, nan, decimals=1)]], WORDS)
    )
    assert held.text == "D: <c><c><x>y<a>0.250.20 to 0.30b1.0"
    assert [attributes.get("scope") for tag, attributes in held.tags if tag == "th"] == ["col", "col", "row", "row"]
    assert held.tags[0] == ("details", {"class": "chart-data"})


def test_sections_of_contenders():
    held = ParsedPage(contender_section("<a>", "c3", ["One."], "<p>more</p>"))
    assert held.tags[0] == ("div", {"class": "contender", "id": "c3"})
    assert held.text == "<a>One.more"


def test_warnings_are_told_once_for_all_that_they_are_about():
    notes = [("<a>", Note("few", "few runs")), ("b", Note("few", "few runs")), ("b", Note("ties", "ties"))]
    notes += [("b", Note("few", "few runs"))]
    assert ParsedPage(warning_list(notes, WORDS)).text == "W<a> and b: few runsb: ties"
    assert warning_list([], WORDS) == ""


def test_how_to_read_it():
    held = how_to_read(["A legend."], [("m, d", {"runs": 3})], "run <x>", WORDS)
    assert ParsedPage(held).text == "A legend.F: m, druns3Crun <x>"
    assert "<pre>" not in how_to_read([], [], None, WORDS)
