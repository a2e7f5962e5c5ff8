"""The part of the page on calibration in a real browser."""

import numpy as np
import pytest
from tests.report.calibration_cases import ensembles, softmax
from tests.report.html_pages import open_all, open_once, wait_until
from tests.report.test_page_browser import click, texts, too_wide_in_print

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


def test_every_test_is_drawn_with_its_words(page, assay):
    assert len(page.find_elements("css selector", "#calibration-tests svg")) == 1
    assert page.execute_script("return document.images.length") == 0
    rows = page.execute_script("return document.querySelectorAll('#calibration-tests tbody tr').length")
    assert rows == sum(t.n_members for t in assay.calibration)


def tip_at(page, mark):
    """The words at the pointer over the middle of the last of these marks."""
    return page.execute_script(
        "const mark = [...document.querySelectorAll(arguments[0])].at(-1);"
        "const { left, right, top, bottom } = mark.getBoundingClientRect();"
        "const at = { clientX: (left + right) / 2, clientY: (top + bottom) / 2, bubbles: true };"
        "mark.dispatchEvent(new PointerEvent('pointermove', at));"
        "return mark.closest('.drawing').querySelector('.tip:not([hidden])')?.textContent ?? null",
        mark,
    )


def test_words_at_the_pointer_and_models_that_are_hidden(page, assay):
    bins = assay.reliability("sharp")
    place = page.execute_script("return placeOf('sharp')")
    told = tip_at(page, f"#reliability g.m{place}:not(.band) path")
    last = int(np.flatnonzero(bins.count)[-1])
    assert told.startswith("sharp: confidence ")
    assert told.endswith(f"{bins.count[last]} cases")
    shown = (
        f"return [...document.querySelectorAll('#reliability .m{place}')]"
        ".filter((n) => getComputedStyle(n).display !== 'none').length"
    )
    assert page.execute_script(shown) == 3  # line, marks and band
    click(page, "#reliability .chips button:nth-of-type(2)")
    wait_until(lambda: page.execute_script(shown) == 0)
    click(page, "#reliability .chips button:nth-of-type(2)")
    wait_until(lambda: page.execute_script(shown) == 3)


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
    assert "all 300 cases" in texts(page, "#lens-calibration > .note")[0]


def test_the_tests_are_told_once_until_the_words_of_each_are_opened(page):
    finding, *said = texts(page, "#lens-calibration-finding, #lens-calibration > .said")
    assert len(said) == 1  # the other sentences on all tests
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
        "return [...document.querySelectorAll('#lens-calibration .drawing, #lens-calibration .tests')]"
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
    rows = "[...document.querySelectorAll('#calibration-tests tbody tr')]"
    table = page.execute_script(f"return {rows}.map((r) => [...r.cells].map((c) => c.textContent))")
    weights = [float(row[3].replace("<0.01", "0")) for row in table if row[0] == "model 1"]
    assert len(weights) == 24  # of a hundred, the heaviest
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
    assert texts(page, "#calibration-table tr:not(.group) td:nth-child(2)") == ["– undefined", "✓ not rejected"]
    first = page.execute_script(
        "return [...document.querySelector('#calibration-table tbody tr:not(.group)').cells].map((c) => c.innerText)"
    )
    assert first[2:6] == ["–"] * 4
    assert "the measure is undefined" in " ".join(texts(page, "#calibration-tests text"))
    assert quiet(page)
    certain = uq.Members(np.tile([1.0, 0.0], (40, 2, 1)))
    a = uq.assay({"DE": certain}, [0] * 39 + [1], n_draws=20, calibration=("log-loss",))
    page = opened(driver, write_page(a, tmp_path / "infinite.html").as_uri())
    assert "infinite" in texts(page, "#calibration-tests text")
    assert quiet(page)
