"""The page on the gain: no markup from data, no network, the same bytes, every sentence, every number."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from tests.evidence.gain_data import made_study
from tests.refusals import refuses
from tests.report.test_disentanglement_page import Tags

from uqassay.evidence import GainRun, GainSample, GainStudy
from uqassay.evidence.gain_headlines import gain_sentences
from uqassay.evidence.gain_verdict import result_sentences, untold_sentences
from uqassay.report.gain_page import render_gain, write_gain_page
from uqassay.report.sentences.gain import gain_text
from uqassay.report.static_page import page_file

HOSTILE = "<img src=x onerror=alert(1)>"
TURNED = "dull\u202e & {{text.heading}}"
ODD = np.array([True, False, True])
FAST = {"bins": 5, "shares": (0.0, 0.1, 1.0)}


@pytest.fixture(scope="module")
def studies():
    first = made_study("large", HOSTILE, dataset="<i>wine", n_runs=3, n=200, truth=True)
    return [
        replace(first, facts={"</script>": "<b>"}),
        made_study("shuffled", TURNED, dataset="<i>wine", n_runs=1, n=200, calibration=False),
    ]


@pytest.fixture(scope="module")
def page(studies):
    return render_gain(studies, command="uqassay gain 'a <b>' && echo", **FAST)


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


def test_the_same_studies_have_the_same_bytes(page, studies):
    assert render_gain(studies, command="uqassay gain 'a <b>' && echo", **FAST) == page


def test_ids_are_unique_and_links_lead_somewhere(tags):
    ids = [attributes["id"] for _, attributes in tags.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = {attributes["href"][1:] for tag, attributes in tags.tags if tag == "a"}
    assert links <= set(ids)


def test_every_sentence_is_on_the_page(tags, studies):
    text = "".join(tags.text).replace("\u00a0", " ")
    results = [one for study in studies for one in study.results(**FAST)]
    expected = [*gain_sentences(studies, **FAST), *untold_sentences(results)]
    expected += [sentence for one in results for sentence in result_sentences(one)]
    assert not [sentence for sentence in expected if sentence not in text]


def test_figures_are_there_and_a_map_only_where_one_was_fitted(page):
    maps = re.findall(r'aria-label="Map γ: ([^"]*)"', page)
    assert len(maps) == 2
    assert all("dull" not in label for label in maps)
    assert len(re.findall(r'<svg class="drawn"', page)) == 1 + 4 * 2 + 2


def test_places_of_the_template_are_filled():
    template = page_file("static_page.html").replace("{{sections}}", page_file("gain_page.html"))
    names = set(re.findall(r"\{\{text\.([\w-]+)\}\}", template))
    assert names <= set(gain_text())
    said = re.sub(r"\{\{[\w.-]+\}\}|<[^>]*>|uqassay", " ", template[template.index("<body>") :])
    assert not re.findall(r"[^\W\d]{2,}", said)


def test_numbers_can_be_taken_from_the_page(page, studies):
    payload = json.loads(re.search(r'<script type="application/json" id="payload">(.*?)</script>', page)[1])
    rows = [row for row in payload["rows"] if row["finding"] == "scores"]
    assert [row["method"] for row in rows] == [HOSTILE, HOSTILE, TURNED, TURNED]
    assert rows[0]["error"] == float(studies[0].result(**FAST).error)
    assert payload["download"] == "gain.json"


def test_several_data_sets_and_losses_have_their_own_tables(studies):
    other = made_study("calibrated", "b", dataset="digits", n_runs=1, n=60)
    text = render_gain([studies[0], other], **FAST)
    assert "Estimates of epistemic uncertainty: digits, zero-one loss" in text
    with refuses("studies", "duplicate"):
        render_gain([other, other])


def test_studies_of_different_losses():
    log = GainStudy("other", "toy", [GainRun(0, GainSample({"log": [0.1, -0.2, 0.3]}, {"s": [1, 2, 3]}, ODD, ~ODD))])
    text = render_gain([made_study(n_runs=1, n=60), log], **FAST)
    assert "In accuracy:" in text
    assert "Under the log loss:" in text
    assert "nats of log loss" in text
    assert "In accuracy:" not in render_gain([log], **FAST)


def test_warnings_are_told_once_for_all_estimates():
    page = Tags()
    page.feed(render_gain([made_study("constant", name, n_runs=1, n=60) for name in "ab"], **FAST))
    said = "".join(page.text).replace("\u00a0", " ")
    assert said.count("all estimates are in one bin") == 1
    assert (
        "a, mutual-information, a, entropy, b, mutual-information and b, entropy: all estimates are in one bin" in said
    )


def test_the_file_is_written_and_steps_are_told(tmp_path, studies):
    told = []
    path = write_gain_page(studies[1:], tmp_path / "new" / "page.html", progress=told.append, **FAST)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert len(told) == 2
    with refuses("studies", "empty"):
        write_gain_page([], path)


@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 1200])
def test_the_page_opens_in_a_browser_and_does_not_overflow(tmp_path, studies, width):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        if os.environ.get("UQASSAY_REQUIRE_ALL") == "1":
            pytest.fail("UQASSAY_REQUIRE_ALL=1, yet Chromium is not installed")
        pytest.skip("Chromium is not installed")
    path = write_gain_page(studies[1:], tmp_path / "page.html", **FAST)
    measuring = tmp_path / "measured.html"
    script = "<script>document.title = `${document.documentElement.scrollWidth <= innerWidth}`;</script></body>"
    measuring.write_text(path.read_text(encoding="utf-8").replace("</body>", script), encoding="utf-8")
    for scheme, setting in (("light", 1), ("dark", 0)):
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / scheme}"]
        found = subprocess.run(
            [
                *(browser, *flags, f"--window-size={width},900", f"--blink-settings=preferredColorScheme={setting}"),
                *("--dump-dom", measuring.as_uri()),
            ],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        assert f'<html lang="en" data-theme="{scheme}">' in found.stdout
        assert 'id="json" hidden' not in found.stdout
        assert "<title>true</title>" in found.stdout
