"""The page of the disentanglement benchmark: no markup from data, no network, the same bytes, words from Python."""

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from tests.evidence.disentanglement_data import made_study
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.evidence.disentanglement_ranking import Contender
from uqassay.evidence.disentanglement_verdict import contender_sentences, disentanglement_sentences
from uqassay.report.disentanglement_page import render_disentanglement, write_disentanglement_page
from uqassay.report.sentences.disentanglement import disentanglement_text
from uqassay.report.static_page import page_file

IT = "information-theoretic"
HOSTILE = "<img src=x onerror=alert(1)>"
CLASSES = ("</script><script>alert(2)</script>", "a & b", "{{text.heading}}")
TURNED = "dull\u202e"
VOID = ("meta", "img", "br", "hr", "link", "input")


class Tags(HTMLParser):
    """Every start tag with its attributes, and the visible text; refuses tags that are not closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text.append(data)


@pytest.fixture(scope="module")
def contenders():
    studies = [
        made_study("perfect", "good", names=CLASSES, n_runs=3, dataset="<i>wine"),
        made_study("swapped", TURNED, names=CLASSES, n_runs=3, seed=1, dataset="<i>wine"),
        made_study("together", "half", n_runs=3, seed=2, without=("dataset-size",), dataset="<i>wine"),
    ]
    labels = (HOSTILE, TURNED, "half")
    return [Contender(label, study, IT) for label, study in zip(labels, studies, strict=True)]


@pytest.fixture(scope="module")
def page(contenders):
    return render_disentanglement(contenders, command="uqassay bench 'a <b>' && echo")


@pytest.fixture(scope="module")
def tags(page):
    parser = Tags()
    parser.feed(page)
    assert parser.open == []
    return parser


def test_names_make_no_markup(tags):
    assert all(tag != "img" for tag, _ in tags.tags)
    assert sum(tag == "script" for tag, _ in tags.tags) == 2
    assert not [name for _, attributes in tags.tags for name in attributes if name.startswith("on")]
    text = "".join(tags.text)
    assert HOSTILE in text
    assert "{{text.heading}}" in text
    assert "\u202e" not in text


def test_page_needs_no_network(page, tags):
    for tag, attributes in tags.tags:
        for name in ("src", "href", "xlink:href", "data", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes)
    assert "default-src 'none'" in page
    assert "@import" not in page


def test_the_same_contenders_have_the_same_bytes(page, contenders):
    assert render_disentanglement(contenders, command="uqassay bench 'a <b>' && echo") == page


def test_ids_are_unique_and_links_lead_somewhere(tags):
    ids = [attributes["id"] for _, attributes in tags.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = {attributes["href"][1:] for tag, attributes in tags.tags if tag == "a"}
    assert links <= set(ids)


def test_every_sentence_is_on_the_page(tags, contenders):
    text = "".join(tags.text).replace("\u00a0", " ")
    expected = [*disentanglement_sentences(contenders)]
    for one in contenders:
        expected += contender_sentences(one)
    assert not [sentence for sentence in expected if sentence.replace("\u202e", "\ufffd") not in text]


def test_places_of_the_template_are_filled(page):
    template = page_file("static_page.html").replace("{{sections}}", page_file("disentanglement_page.html"))
    names = set(re.findall(r"\{\{text\.([\w-]+)\}\}", template))
    assert names <= set(disentanglement_text())
    before = page[: page.index('<section id="contenders"')]
    assert not re.findall(r"\{\{(?!text\.heading)", before)
    said = re.sub(r"\{\{[\w.-]+\}\}|<[^>]*>|uqassay", " ", template[template.index("<body>") :])
    assert not re.findall(r"[^\W\d]{2,}", said)


def test_the_script_holds_no_words():
    script = page_file("static_page.js")
    literals = re.findall(r'"([^"]*)"', script)
    assert not [
        text for text in literals if " " in text.strip() and text not in ("use strict", "(prefers-color-scheme: dark)")
    ]
    assert "innerHTML" not in script


def test_numbers_can_be_taken_from_the_page(page):
    payload = json.loads(re.search(r'<script type="application/json" id="payload">(.*?)</script>', page)[1])
    assert [row["label"] for row in payload["rows"]] == [HOSTILE, TURNED, "half"]
    assert payload["rows"][0]["rank"] == 1


def test_contenders_without_an_error_say_why(tags):
    assert "no disentanglement error, because it needs two conditions of dataset-size" in "".join(tags.text)


def test_several_data_sets_have_their_own_ranking():
    field = [Contender("a", made_study("perfect", n_runs=2, dataset=name), IT) for name in ("wine", "digits")]
    text = render_disentanglement(field)
    assert "Ranking: wine" in text
    assert "Ranking: digits" in text


def test_the_file_is_written_whole_or_not_at_all(tmp_path, contenders):
    path = tmp_path / "new" / "page.html"
    write_disentanglement_page(contenders[2:], path)
    before = path.read_bytes()
    with refuses("contenders", "empty"):
        write_disentanglement_page([], path)
    assert path.read_bytes() == before
    with refuses("path", "not-a-file", got="a folder", error=FileFormatError):
        write_disentanglement_page(contenders[2:], tmp_path)
    assert [child.name for child in path.parent.iterdir()] == ["page.html"]


def test_steps_are_told(contenders):
    told = []
    render_disentanglement(contenders[2:], progress=told.append)
    assert told == ["drawing half"]


@pytest.mark.browser
def test_the_page_opens_in_a_browser_in_both_schemes(tmp_path, contenders):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        if os.environ.get("UQASSAY_REQUIRE_ALL") == "1":
            pytest.fail("UQASSAY_REQUIRE_ALL=1, yet Chromium is not installed")
        pytest.skip("Chromium is not installed")
    path = write_disentanglement_page(contenders[2:], tmp_path / "page.html")
    for scheme, expected in (("light", "light"), ("dark", "dark")):
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / scheme}"]
        blink = (
            "--blink-settings=preferredColorScheme=0" if scheme == "dark" else "--blink-settings=preferredColorScheme=1"
        )
        found = subprocess.run(
            [browser, *flags, blink, "--dump-dom", path.as_uri()],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        assert f'<html lang="en" data-theme="{expected}">' in found.stdout
        assert 'id="json" hidden' not in found.stdout
