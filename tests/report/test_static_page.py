"""Pieces of the pages whose figures are drawn beforehand."""

import json
import re

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.notes import Note
from uqassay.report.static_page import (
    bullets,
    facts_list,
    filled_template,
    kept,
    page_file,
    shown,
    static_payload,
    with_interval,
    write_static_page,
)
from uqassay.statistics import Estimate


def test_text_makes_no_markup():
    assert shown('<b onclick="x">\u202e') == "&lt;b onclick=&quot;x&quot;&gt;\ufffd"
    assert bullets(["a & b"]) == "<ul><li>a &amp; b</li></ul>"
    assert bullets([]) == ""
    assert "<dd>1, 2</dd>" in facts_list("<t>", {"<k>": [1, 2], "x": 0.5, "y": {"a": None}})
    assert "<t>" not in facts_list("<t>", {})


def test_numbers_are_not_broken():
    assert kept("ρ = 0.5, 95 % and p < .001") == "ρ\u00a0=\u00a00.5, 95\u00a0% and p\u00a0&lt;\u00a0.001"
    one = Estimate(0.25, low=0.2, high=0.3, level=0.95, n=3, method="some")
    assert with_interval(one, 2) == '0.25<span class="i">0.20 to 0.30</span>'


def test_numbers_for_download():
    payload = json.loads(static_payload([{"x": np.float64("nan"), "notes": (Note("few", "</script>"),)}], "a.json"))
    assert payload["rows"] == [{"x": None, "notes": [{"code": "few", "text": "</script>"}]}]
    assert "</script>" not in static_payload([{"x": "</script>"}], "a.json")


@pytest.mark.parametrize("name", ["gain_page.html", "disentanglement_page.html"])
def test_places_in_values_stay_text(name):
    own = page_file(name)
    places = set(re.findall(r"\{\{([\w.-]+)\}\}", page_file("static_page.html") + own)) - {"nav", "sections"}
    parts = {place: "{{title}}" for place in places if not place.startswith("text.")}
    text = {place.removeprefix("text."): "<{{css}}>" for place in places if place.startswith("text.")}
    linked = ["findings", *re.findall(r'<section id="(\w+)"', own), "how"]
    page = filled_template(name, parts, text | {f"nav_{one}": f"to {one}" for one in linked})
    assert re.findall(r'<a href="#(\w+)">to (\w+)</a>', page) == [(one, one) for one in linked]
    assert "&lt;{{css}}&gt;" in page
    assert page.count("{{title}}") >= len(parts)


def test_a_page_replaces_only_a_file(tmp_path):
    path = write_static_page("a\udce9", tmp_path / "new" / "page.html")
    assert path.read_text() == "a\\udce9"
    with refuses("path", "not-a-file", error=FileFormatError):
        write_static_page("a", tmp_path)
