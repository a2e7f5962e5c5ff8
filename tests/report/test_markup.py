"""Escaping, places of templates, and how a page is written."""

import json

import pytest
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.report.markup import filled, json_for_script, kept, page_file, write_html
from uqassay.text import html_text as shown


def test_text_makes_no_markup():
    assert shown('<b onclick="x">\u202e') == "&lt;b onclick=&quot;x&quot;&gt;\\u202e"


def test_numbers_are_not_broken():
    assert kept("ρ = 0.5, 95 % and p < .001") == "ρ\u00a0=\u00a00.5, 95\u00a0% and p\u00a0&lt;\u00a0.001"
    assert kept("λ = 0.5") == "λ\u00a0=\u00a00.5"


def test_json_for_script_escapes_what_html_reads():
    text = json_for_script({"<a>": "</script>&\u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"<a>": "</script>&\u2028\u2029"}


def test_places_in_values_stay_text():
    assert filled(" {{a}} {{text.b-c}} {x}", {"a": "{{a}}", "text.b-c": "{{a}}"}) == " {{a}} {{a}} {x}"
    with pytest.raises(KeyError, match="b"):
        filled("{{b}}", {"a": ""})


def test_a_page_replaces_only_a_file(tmp_path):
    path = write_html(lambda: "a\udce9", tmp_path / "new" / "page.html")
    assert path.read_text() == "a\\udce9"
    with refuses("path", "not-a-file", got="a folder", error=FileFormatError):
        write_html(lambda: pytest.fail("the page was made"), tmp_path)


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "page.html"
    target.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_html(lambda: "new", target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_the_head_asks_for_nothing_outside():
    head = page_file("head.html")
    assert "default-src 'none'" in head
    assert "http:" not in head
    assert "https:" not in head
