"""The folded sections in a real browser: what opens them, that charts are drawn then, and that their findings stay true."""

import numpy as np
import pytest
from tests.report.calibration_cases import ensembles
from tests.report.html_pages import open_all, wait_until
from tests.report.test_page_browser import click, press, texts

import uqassay as uq
from uqassay.report.sentences import order_finding

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("coarse_pages")]

OPEN = "return sections().filter((s) => s.open).map((s) => s.id)"
CHARTS = (
    "return [...document.querySelectorAll(`${arguments[0]} :is(.chart, .drawing)`)].filter((n) => !n.closest('figure')?.hidden)"
    ".map((n) => [n.id, n.querySelectorAll('.drawn, .empty').length, n.clientWidth])"
)
HOSTILE = "<b>x</b> {estimate}"


@pytest.fixture(scope="module")
def assay():
    return ensembles(n=200, names=(HOSTILE, "sharp", "point", "box"))


@pytest.fixture(scope="module")
def address(assay, tmp_path_factory):
    return assay.to_html(tmp_path_factory.mktemp("page") / "report.html").resolve().as_uri()


@pytest.fixture
def opened(driver, address):
    """Opens the page at a fragment, as a new entry of the history; afterwards nothing must have gone wrong."""

    def page(fragment="", width=1280):
        driver.get_log("browser")
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get("about:blank")
        driver.get(f"{address}{fragment}")
        ready(driver)
        return driver

    yield page
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def ready(page):
    wait_until(lambda: page.execute_script("return document.documentElement.dataset.ready") == "yes")


def drawn(page, section):
    """Whether every chart of a section is drawn once (or says why not), and its place has a width."""
    found = page.execute_script(CHARTS, section)
    return bool(found) and all(n == 1 and width > 100 for _, n, width in found)


def plain(text):
    return text.replace("\u00a0", " ")


def test_all_sections_are_closed_and_no_chart_is_drawn(opened):
    page = opened()
    assert page.execute_script(OPEN) == []
    assert page.execute_script("return document.querySelectorAll('.chart .drawn').length") == 0
    findings = [plain(text) for text in texts(page, "details.section .finding")]
    assert len(findings) >= 7
    assert all(text.endswith(".") and len(text) > 20 for text in findings)
    assert len(set(findings)) == len(findings)


def test_every_section_has_a_heading_in_its_summary(opened):
    page = opened()
    wrong = page.execute_script(
        "return sections().filter((s) => s.querySelectorAll(':scope > summary > h2').length !== 1"
        " || s.getAttribute('aria-labelledby') !== s.querySelector('h2').id"
        " || s.querySelector(':scope > summary').querySelector('button, a, input')).map((s) => s.id)"
    )
    assert wrong == []


def test_the_fragment_of_the_address_opens_its_section(opened):
    page = opened("#why")
    assert page.execute_script(OPEN) == ["why"]
    assert drawn(page, "#why")
    top = page.execute_script("return document.getElementById('why').getBoundingClientRect().top")
    assert -5 <= top < 900
    page = opened("#mistakes-curve")  # of a figure inside a section
    assert page.execute_script(OPEN) == ["lens-mistakes"]


def test_links_open_their_section_also_for_a_second_time(opened):
    page = opened()
    links = page.execute_script("return [...document.querySelectorAll('nav a')].map((a) => a.hash)")
    assert {"#choose", "#why", "#lens-mistakes", "#lens-calibration", "#lens-parts", "#instances", "#how"} <= set(links)
    for _ in range(2):
        click(page, "nav a[href='#lens-calibration']")
        wait_until(lambda: page.execute_script(OPEN) == ["lens-calibration"])
        assert drawn(page, "#lens-calibration")
        click(page, "#lens-calibration > summary")
        wait_until(lambda: page.execute_script(OPEN) == [])


def test_sections_open_from_the_keyboard(opened):
    page = opened()
    press(page, "#why > summary", "\ue007")
    wait_until(lambda: page.execute_script(OPEN) == ["why"])
    wait_until(lambda: drawn(page, "#why"))
    press(page, "#why > summary", "\ue00d")
    wait_until(lambda: page.execute_script(OPEN) == [])


def test_one_button_opens_all_and_closes_all(opened):
    page = opened()
    assert texts(page, "#open-all") == ["Open all sections"]
    click(page, "#open-all")
    wait_until(lambda: texts(page, "#open-all") == ["Close all sections"])
    assert page.execute_script("return sections().every((s) => s.open)")
    wait_until(lambda: all(drawn(page, f"#{place}") for place in ("why", "lens-mistakes", "lens-calibration")))
    click(page, "#open-all")
    wait_until(lambda: texts(page, "#open-all") == ["Open all sections"])
    assert page.execute_script(OPEN) == []


def test_sections_stay_open_when_the_page_is_loaded_again(opened):
    page = opened()
    click(page, "#why > summary")
    wait_until(lambda: page.execute_script("return history.state") == ["why"])
    page.refresh()
    ready(page)
    assert page.execute_script(OPEN) == ["why"]
    wait_until(lambda: drawn(page, "#why"))


def test_paper_shows_all_sections_and_leaves_the_screen_as_it_was(opened):
    page = opened()
    click(page, "#why > summary")
    wait_until(lambda: drawn(page, "#why"))
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert page.execute_script("return sections().every((s) => s.open)")
    assert all(drawn(page, f"#{place}") for place in ("why", "lens-mistakes", "lens-calibration"))
    page.execute_script("dispatchEvent(new Event('beforeprint'))")  # some browsers tell it twice
    page.execute_script("dispatchEvent(new Event('afterprint'))")
    assert page.execute_script(OPEN) == ["why"]
    assert page.execute_script("return history.state") == ["why"]


def test_headings_and_findings_are_printed(opened):
    page = opened()
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = "return sections().every((s) => s.querySelector('.finding').checkVisibility())"
    inner = "return [...document.querySelectorAll('details:not(.section) > summary')].some((s) => s.checkVisibility())"
    heads = "return getComputedStyle(document.querySelector('#summary th .sort')).display"  # buttons are not repeated
    found = page.execute_script(shown), page.execute_script(inner), page.execute_script(heads)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert found == (True, False, "contents")


def test_text_of_closed_sections_is_there_for_the_search_of_the_browser(opened):
    page = opened()
    text = page.execute_script("return document.querySelector('main').textContent")
    assert HOSTILE in text
    for place in ("#ranking", "#by-correctness", "#mistakes-metrics", "#calibration-table", "#lens-parts", "#extremes"):
        assert len(texts(page, f"{place} tbody tr")) > 1, place


def test_charts_follow_the_width_of_the_window(opened):
    page = opened("#why", width=1280)
    before = page.execute_script(CHARTS, "#why")
    size = {"width": 700, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    svg = "return document.querySelector('#plane .drawn').clientWidth"
    wait_until(
        lambda: page.execute_script(svg) == page.execute_script("return document.getElementById('plane').clientWidth")
    )
    click(page, "nav a[href='#lens-calibration']")
    wait_until(lambda: drawn(page, "#lens-calibration"))
    assert page.execute_script("return document.documentElement.scrollWidth") <= 700
    assert before != page.execute_script(CHARTS, "#why")


@pytest.mark.parametrize("width", [400, 900])
def test_closed_and_open_sections_fit_the_window(opened, width):
    page = opened(width=width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    open_all(page)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


def test_the_finding_on_the_order_follows_the_slider(opened, assay):
    page = opened()
    for index in (0, 10, 1, None):
        if index is not None:
            page.execute_script("setIndex(arguments[0])", index)
        at = page.execute_script("return lambda()")
        shown = plain(texts(page, "#choose-finding")[0])
        assert shown == order_finding(assay, at)


def test_a_table_of_a_closed_section_is_drawn_when_it_opens(opened, assay):
    page = opened()
    page.execute_script("setIndex(0)")
    click(page, "#choose > summary")
    rows = "return [...document.querySelectorAll('#ranking tbody tr')].map((n) => n.dataset.key)"
    wait_until(lambda: page.execute_script(rows) == [r.model for r in assay.ranked(0.0)])


def test_what_the_server_wrote_is_what_the_script_writes(opened, driver, address):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get("about:blank")
    driver.get(address)
    written = [plain(node.text) for node in driver.find_elements("css selector", "details.section .finding")]
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert [plain(text) for text in texts(opened(), "details.section .finding")] == written


def test_weights_of_mixtures_are_not_called_as_the_price_of_imprecision(opened):
    page = opened("#lens-calibration")
    assert drawn(page, "#lens-calibration")
    text = page.execute_script("return document.getElementById('lens-calibration').textContent")
    assert "λ" not in text
    assert "weight in the best mixture" in text
    known = page.execute_script("return Object.entries(page.definitions).filter(([k]) => k.startsWith('calibration'))")
    assert known
    assert not [name for name, found in known if "λ" in "".join(found.values())]


def test_without_a_history_the_sections_open_all_the_same(driver, address, tmp_path):
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<iframe sandbox="allow-scripts" width="900" height="600" src="{address}"></iframe>', encoding="utf-8"
    )
    driver.get(frame.as_uri())
    driver.switch_to.frame(0)
    ready(driver)
    click(driver, "#why > summary")
    wait_until(lambda: drawn(driver, "#why"))
    driver.switch_to.default_content()


def test_a_page_of_few_findings_has_few_sections(driver, tmp_path):
    a = uq.assay({"only": uq.Point(np.tile([0.7, 0.3], (3, 1)))}, [0, 1, 0], measures=(), calibration=())
    driver.get(a.to_html(tmp_path / "few.html").resolve().as_uri())
    ready(driver)
    places = driver.execute_script("return sections().map((s) => s.id)")
    assert "lens-mistakes" not in places
    links = driver.execute_script("return [...document.querySelectorAll('nav a')].map((a) => a.hash.slice(1))")
    assert all(driver.execute_script("return byId(arguments[0]) !== null", place) for place in links)
