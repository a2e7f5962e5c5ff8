"""Every page with figures drawn beforehand: no markup from data, no network, the same bytes, words from Python."""

import json
import re

import numpy as np
import pytest
from tests.refusals import refuses
from tests.report.html_pages import ParsedPage, makes_no_markup
from tests.report.static_cases import COMMAND, HOSTILE, STATIC_CASES

from uqassay.errors import FileFormatError
from uqassay.notes import Note
from uqassay.report.markup import page_file
from uqassay.report.study_pages import SCRIPTS, static_page

pytestmark = pytest.mark.parametrize("case", STATIC_CASES.values(), ids=list(STATIC_CASES), scope="module")


@pytest.fixture(scope="module")
def markup(case):
    return case.render(case.subjects, command=COMMAND)


@pytest.fixture(scope="module")
def page(markup):
    return ParsedPage(markup)


def template_of(case):
    return page_file("static_page.html").replace("{{sections}}", page_file(f"{case.name}_page.html"))


def test_names_make_no_markup(page):
    assert makes_no_markup(page, scripts=2)
    assert HOSTILE in page.text
    assert "{{text.heading}}" in page.text
    assert "\u202e" not in page.text
    assert COMMAND in page.text


def test_pages_need_no_network(markup, page):
    for tag, attributes in page.tags:
        for name in ("src", "href", "xlink:href", "data", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes)
    assert "default-src 'none'" in markup
    assert "@import" not in markup


def test_ids_are_unique_and_links_lead_somewhere(page):
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = {attributes["href"][1:] for tag, attributes in page.tags if tag == "a"}
    assert links <= set(ids)


def test_texts_are_written_out(case):
    text = case.words()
    assert all(value and value == value.strip() and "{" not in value for value in text.values())
    for name, value in text.items():
        assert value.endswith(".") == name.endswith(("_note", "_caption", "_figure", "colophon")), name
    other = case.words(level=0.9)
    assert any("90 %" in value for value in other.values())
    assert not [name for name, value in other.items() if "95 %" in value]


def test_templates_have_their_words_from_python(case):
    template = template_of(case)
    assert set(re.findall(r"\{\{text\.([\w-]+)\}\}", template)) <= set(case.words())
    said = re.sub(
        r"\{\{[\w.-]+\}\}|<[^>]*>|uqassay", " ", template[template.index("<body>") : template.index("<script")]
    )
    assert not re.findall(r"[^\W\d]{2,}", said)


def test_places_in_values_stay_text(case):
    places = set(re.findall(r"\{\{([\w.-]+)\}\}", template_of(case))) - {"nav", "head", "verdict", "payload", "js"}
    parts = {place: "{{title}}" for place in places if not place.startswith("text.")}
    linked = ["findings", *re.findall(r'<section id="(\w+)"', page_file(f"{case.name}_page.html")), "how"]
    text = {place.removeprefix("text."): "<{{css}}>" for place in places if place.startswith("text.")}
    text |= {"title": "{{css}}", **{f"nav_{one}": f"to {one}" for one in linked}}
    rows = [{"x": np.float64("nan"), "notes": (Note("few", "</script>"),)}]
    found = static_page(case.name, parts, text, title="{{js}}", verdict=["{{css}}"], rows=rows)
    assert re.findall(r'<a href="#(\w+)">to (\w+)</a>', found) == [(one, one) for one in linked]
    assert "&lt;{{css}}&gt;" in found
    assert "<title>{{js}}: {{css}}</title>" in found
    assert found.count("{{title}}") >= len(parts)
    payload = json.loads(ParsedPage(found).held["payload"])
    assert payload["rows"] == [{"x": None, "notes": [{"code": "few", "text": "</script>"}]}]
    assert payload["download"] == f"{case.name}.json"


def test_the_file_is_written_whole_or_not_at_all_and_steps_are_told(case, tmp_path):
    path, told = tmp_path / "new" / "page.html", []
    assert case.write(case.small, path, progress=told.append) == path
    assert len(told) == case.steps
    assert all(step.startswith("drawing ") for step in told)
    held = path.read_text(encoding="utf-8")
    assert held == case.render(case.small)  # the same bytes
    with refuses(case.parameter, "empty"):
        case.write([], path)
    assert path.read_text(encoding="utf-8") == held
    with refuses("path", "not-a-file", got="a folder", error=FileFormatError):
        case.write(case.small, tmp_path)
    assert [child.name for child in path.parent.iterdir()] == ["page.html"]


def test_scripts_hold_no_words(case):
    script = "".join(page_file(name) for name in SCRIPTS)
    literals = re.findall(r'"([^"]*)"', script)
    assert [text for text in literals if " " in text.strip()] == ["(prefers-color-scheme: dark)"]
    assert "innerHTML" not in script


@pytest.mark.browser
def test_pages_open_in_both_schemes_and_do_not_overflow(case, markup, driver, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(markup, encoding="utf-8")
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        for width in (400, 1200):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.get(path.as_uri())
            assert driver.execute_script("return document.documentElement.dataset.theme") == scheme
            assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    driver.execute_script("document.getElementById('theme').click()")
    assert driver.execute_script("return document.documentElement.dataset.theme") == "light"
    assert not driver.execute_script("return document.getElementById('json').hidden")
    driver.execute_script("localStorage.clear()")
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
