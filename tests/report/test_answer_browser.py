"""The answer card in a real browser: at the top, without the script, and readable in both schemes."""

import numpy as np
import pytest
from tests.evidence.verdict_cases import judged
from tests.report.html_pages import wait_until

from uqassay.report.page import write_page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("without_calibration", "coarse_pages")]

LEAST = 4.5
CONTRASTS = """
const channels = (text) => text.match(/[\\d.]+/g).map(Number);
const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
const opaque = ([, , , alpha = 1]) => alpha === 1;
function behind(node) {
  const style = getComputedStyle(node);
  const colours = (style.backgroundImage.match(/rgba?\\([^)]*\\)/g) ?? [style.backgroundColor]).map(channels);
  return colours.every(opaque) ? colours : behind(node.parentElement);
}
const found = [];
const walker = document.createTreeWalker(document.querySelector(".answer"), NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim()) continue;
  const ink = channels(getComputedStyle(node).color);
  for (const ground of behind(node)) found.push([walker.currentNode.data, contrast(ink, ground)]);
}
return found;
"""


def ranked(n_models):
    """Models of which the first three cannot be told apart."""
    rng = np.random.default_rng(n_models)
    means = {f"model {j:02d}": (0.15 + 0.0001 * j if j < 3 else rng.uniform(0.16, 0.4), 0.1) for j in range(n_models)}
    return judged(means, 500)


@pytest.fixture(scope="module", params=[2, 6, 30])
def address(request, tmp_path_factory):
    return write_page(ranked(request.param), tmp_path_factory.mktemp("answer") / "report.html").as_uri()


def look(driver, address, width=1400, height=900):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    driver.get("about:blank")
    driver.get(address)


def card_box(driver):
    return driver.execute_script(
        "const box = document.querySelector('.answer').getBoundingClientRect();"
        "return { top: box.top + scrollY, bottom: box.bottom + scrollY, width: box.width };"
    )


@pytest.fixture
def without_script(driver):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    yield driver
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_table_and_the_answer_stand_in_the_first_screen_without_the_script(without_script, address):
    look(without_script, address)
    from selenium.webdriver.common.by import By

    table = without_script.find_element(By.CSS_SELECTOR, "#summary").rect
    card = without_script.find_element(By.CSS_SELECTOR, ".answer").rect
    large = without_script.find_element(By.CSS_SELECTOR, ".answer .large")
    assert 0 < table["y"] < table["y"] + table["height"] < card["y"]
    assert large.rect["y"] + large.rect["height"] <= 900
    assert large.text.startswith("Choose model 00")
    assert float(large.value_of_css_property("font-size").removesuffix("px")) >= 24
    assert without_script.find_element(By.CSS_SELECTOR, ".answer .bar").rect["height"] > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_of_the_card_has_contrast(driver, address, scheme):
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    look(driver, address)
    wait_until(lambda: driver.execute_script("return document.documentElement.dataset.ready") == "yes")
    assert driver.execute_script("return document.documentElement.dataset.theme") == scheme
    found = driver.execute_script(CONTRASTS)
    assert len(found) > 15
    assert not [(text, ratio) for text, ratio in found if ratio < LEAST]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


@pytest.mark.parametrize("width", [400, 900, 1400])
def test_labels_of_the_axis_do_not_touch(driver, address, width):
    look(driver, address, width)
    overlaps = driver.execute_script(
        "const boxes = [...document.querySelectorAll('.borders span')].map((n) => n.getBoundingClientRect());"
        "return boxes.flatMap((a, i) => boxes.slice(i + 1).map((b) =>"
        "  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));"
    )
    assert not any(overlaps)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("address", [30], indirect=True)
def test_names_unfold_in_their_place(driver, address):
    look(driver, address)
    before = card_box(driver)
    driver.execute_script("document.querySelectorAll('.answer summary').forEach((n) => n.click())")
    opened = driver.execute_script("return [...document.querySelectorAll('.answer details')].map((n) => n.open)")
    assert opened
    assert all(opened)
    after = card_box(driver)
    assert after["width"] == before["width"]
    assert after["bottom"] > before["bottom"]
