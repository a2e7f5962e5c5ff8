"""The part of the page on calibration in a real browser."""

import numpy as np
import pytest
from tests.report.calibration_cases import ensembles, softmax
from tests.report.html_pages import open_all, open_once, wait_until
from tests.report.test_page_browser import click, press, texts, too_wide_in_print

import uqassay as uq
from uqassay.evidence.calibration import adjusted_pvalues
from uqassay.report.page import write_page

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.usefixtures("coarse_pages")]

HOSTILE = "<img src=x onerror=alert(1)>"
NAMES = (HOSTILE, "sharp", "point\u202e", "box")


@pytest.fixture(scope="module")
def assay():
    return ensembles(n=300, names=NAMES)


@pytest.fixture(scope="module")
def address(assay, tmp_path_factory):
    return write_page(assay, tmp_path_factory.mktemp("page") / "report.html").as_uri()


def opened(browser, address, width=1280):
    browser.get_log("browser")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get("about:blank")
    browser.get(address)
    open_all(browser)
    return browser


def quiet(browser):
    return [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == [] and not [
        text for text in texts(browser, "#lens-calibration .chart") if "could not be drawn" in text
    ]


@pytest.fixture
def page(driver, address):
    """The page as the last test left it: tests choose what they look at."""
    open_once(driver, address)
    yield driver
    assert quiet(driver)


def plain(text):
    return text.replace("\u202e", r"\u202e").replace("\u00a0", " ")


def choose(page, place, value):
    page.execute_script(
        "const s = document.querySelectorAll('#lens-calibration .choices select')[arguments[0]];"
        "s.value = arguments[1]; s.dispatchEvent(new Event('change'))",
        place,
        str(value),
    )


def test_every_test_is_told_and_tabled(page, assay):
    assert texts(page, "#lens-calibration h2") == ["Can it be calibrated?"]
    assert [plain(t) for t in texts(page, ".tests dt")] == [plain(name) for name in NAMES]
    marks = {"rejected": "✗", "passed": "✓", "doubtful": "?", "undefined": "–"}
    rows = page.execute_script("return page.lenses.find((l) => l.id === 'calibration').tests.rows")
    told = [plain(text) for text in texts(page, ".tests dd")]
    assert told == [marks[r["outcome"]] + plain(r["words"]) for r in rows]
    by_measure = [r for m in dict.fromkeys(r["measure"] for r in rows) for r in rows if r["measure"] == m]
    shown = page.execute_script(
        "return [...document.querySelectorAll('#calibration-table tbody tr:not(.group)')].map((r) => [r.dataset.key,"
        " r.querySelectorAll('td')[1].firstChild.textContent])"
    )
    assert [name for name, _ in shown] == [r["model"] for r in by_measure]
    for (_, text), r in zip(shown, by_measure, strict=True):
        assert float(text.removeprefix("<")) == pytest.approx(max(r["pvalue"], 0.001), abs=0.0051)


def test_the_chosen_test_is_drawn(page, assay):
    choose(page, 0, 0)
    choose(page, 1, "ece-classwise")
    t = next(t for t in assay.calibration if (t.model, t.measure) == (HOSTILE, "ece-classwise"))
    data = "return pictures.get(document.getElementById('calibration-{}'))"
    bars = page.execute_script(data.format("null") + ".marks[0]")
    assert sum(bars["y"]) == len(t.null)
    coloured = [c for c, look in zip(bars["y"], bars["bars"], strict=True) if "0.85" in look]
    assert sum(coloured) == (t.null >= t.statistic).sum()
    lines = page.execute_script(data.format("null") + ".rules.map((s) => s.x)")
    np.testing.assert_allclose(lines[0], t.statistic, rtol=1e-3)
    np.testing.assert_allclose(page.execute_script(data.format("weights") + ".marks[0].y"), t.weights, atol=1e-3)
    for side, bins in (("before", t.before), ("after", t.after)):
        drawn = page.execute_script(data.format(side) + ".marks[1].y")
        np.testing.assert_allclose(drawn, bins.accuracy[bins.count > 0], atol=1e-4)
        counts = page.execute_script(data.format(side) + ".marks[3].labels")
        assert [int(c.replace(",", "")) for c in counts] == bins.count[bins.count > 0].tolist()
    assert HOSTILE in texts(page, "#calibration-said")[0]
    assert page.execute_script("return document.images.length") == 0


def test_a_model_without_members_has_one_diagram_and_no_weights(page):
    choose(page, 0, 2)
    hidden = (
        "return ['weights', 'after'].map((id) => document.getElementById('calibration-' + id).closest('figure').hidden)"
    )
    assert page.execute_script(hidden) == [True, True]
    assert texts(page, "#calibration-before-h") == ["Reliability of its confidence"]
    choose(page, 0, 1)
    assert page.execute_script(hidden) == [False, False]
    wait_until(lambda: len(texts(page, "#calibration-weights .bars rect")) == 4)
    assert page.execute_script("return document.getElementById('calibration-weights').clientWidth") > 300


def test_the_outcome_leads_to_its_picture_from_the_keyboard(page):
    press(page, "#calibration-table tbody:nth-of-type(2) tr:nth-child(5) button.row", "\ue007")
    chosen = page.execute_script(
        "return [...document.querySelectorAll('#lens-calibration .choices select')].map((s) => s.value)"
    )
    assert chosen == ["3", "ece-classwise"]
    assert "box" in texts(page, "#calibration-said")[0]


def test_definitions_open(page):
    n = page.execute_script("return document.querySelectorAll('#lens-calibration .what').length")
    assert n >= 8
    for place in range(n):
        page.execute_script("document.querySelectorAll('#lens-calibration .what')[arguments[0]].click()", place)
        assert texts(page, "#definition-title")[0]
        assert texts(page, "#definition-sentence")[0].rstrip().endswith(".")
        click(page, "#definition button")


def test_words_and_pvalues_are_those_of_the_assay(page, assay):
    adjusted = adjusted_pvalues(assay.calibration)
    lead = texts(page, "#lens-calibration-finding")[0]
    for t, p in zip(assay.calibration, adjusted, strict=True):
        if p <= 0.05:
            assert plain(t.model) in lead
    assert "adjusted by Holm for the 8 tests" in texts(page, "#lens-calibration > .note")[0]
    assert "all 300 instances" in texts(page, "#lens-calibration > .note")[0]


def test_the_tests_are_told_once_until_the_words_of_each_are_opened(page):
    finding, *said = texts(page, "#lens-calibration-finding, #lens-calibration > .said")
    assert len(set(said)) == len(said) == 2  # the other sentences on all tests, and that on the one looked at closely
    assert finding not in said
    visible = "return document.querySelector('#lens-calibration .tests').checkVisibility()"
    assert not page.execute_script(visible)
    page.execute_script("document.querySelector('#lens-calibration .tests').parentElement.open = true")
    assert page.execute_script(visible)
    page.execute_script("document.querySelector('#lens-calibration .tests').parentElement.open = false")


@pytest.mark.parametrize("width", [400, 700, 1280])
def test_readable_at_any_width(driver, address, width):
    page = opened(driver, address, width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    wide = page.execute_script(
        "return [...document.querySelectorAll('#lens-calibration .chart, #lens-calibration .tests')]"
        ".filter((n) => n.scrollWidth > innerWidth).length"
    )
    assert wide == 0
    if width == 1280:
        cut = page.execute_script(
            "return [...document.querySelectorAll('#lens-calibration .scroll')]"
            ".filter((n) => n.scrollWidth > n.clientWidth).map((n) => [n.textContent, n.scrollWidth, n.clientWidth])"
        )
        assert cut == []
    assert quiet(page)


def test_the_part_is_readable_in_print(page):
    assert too_wide_in_print(page, "#lens-calibration") == 0


def test_many_models_and_members(driver, tmp_path):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(60, 3))
    y = rng.integers(0, 3, 60)
    models = {
        f"model {j}": uq.Members(softmax(z[:, None] + rng.normal(size=(60, 100 if j == 1 else 2 + j, 3))))
        for j in range(10)
    }
    measures = ("ece-confidence",)
    path = write_page(uq.assay(models, y, n_draws=20, measures=(), calibration=measures), tmp_path / "many.html")
    page = opened(driver, path.as_uri())
    assert len(texts(page, ".tests dd")) == 10
    choose(page, 0, 1)
    weights = page.execute_script("return pictures.get(document.getElementById('calibration-weights')).marks[0].y")
    assert len(weights) == 100
    assert weights == sorted(weights, reverse=True)
    assert quiet(page)


def test_one_test_is_told_in_one_sentence(driver, tmp_path):
    a = uq.assay(
        {"m": uq.Point(softmax(np.eye(3)[np.arange(60) % 3]))},
        np.arange(60) % 3,
        n_draws=20,
        calibration=("ece-confidence",),
    )
    page = opened(driver, write_page(a, tmp_path / "one.html").as_uri())
    words = page.execute_script("return page.lenses.find((l) => l.id === 'calibration').tests.rows[0].words")
    assert plain(" ".join(texts(page, "#lens-calibration-finding, #lens-calibration > .said"))) == words
    assert texts(page, ".tests") == []
    assert quiet(page)


def test_undefined_and_infinite_tests_are_told(driver, tmp_path):
    """One of two measures is undefined for a single instance; another is infinite for a label that nobody foresaw."""
    members = np.array([[[0.9, 0.1], [0.4, 0.6]]])
    measures = ("skce-ul", "ece-confidence")
    a = uq.assay({"DE": uq.Members(members)}, [0], n_draws=20, calibration=measures)
    page = opened(driver, write_page(a, tmp_path / "undefined.html").as_uri())
    assert texts(page, "#calibration-table button.row") == ["– undefined", "✓ not rejected"]
    first = page.execute_script(
        "return [...document.querySelector('#calibration-table tbody tr:not(.group)').cells].map((c) => c.innerText)"
    )
    assert first[2:6] == ["–"] * 4
    choose(page, 0, "skce-ul")
    wait_until(
        lambda: texts(page, "#calibration-weights") == ["No mixture is the best where the measure is undefined."]
    )
    assert texts(page, "#calibration-null-note, #calibration-weights-note, #calibration-after-note") == [""] * 3
    assert quiet(page)
    certain = uq.Members(np.tile([1.0, 0.0], (40, 2, 1)))
    a = uq.assay({"DE": certain}, [0] * 39 + [1], n_draws=20, calibration=("log-loss",))
    page = opened(driver, write_page(a, tmp_path / "infinite.html").as_uri())
    assert texts(page, "#calibration-null") == ["The minimum found is infinite."]
    assert "coloured" not in texts(page, "#calibration-null-note")[0]
    assert texts(page, "#calibration-weights-note")[0].endswith("so these weights mean nothing.")
    assert quiet(page)
