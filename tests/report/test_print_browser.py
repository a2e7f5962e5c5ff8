"""Pages on paper: no heading stands alone at the foot of a sheet."""

import base64
import io
import unicodedata

import pytest
from tests.report.accessible_pages import PAGES
from tests.report.html_pages import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.usefixtures("coarse_pages")]

PAPERS = {"A4": (8.27, 11.69), "letter": (8.5, 11)}
PRINTED = [("votes", "A4"), ("two", "letter")]
SAME_LINE = 3  # points between fragments of one line
HEADINGS = (
    "return [...document.querySelectorAll('h1, h2, h3, h4, summary, caption, thead th')].map((e) => e.textContent)"
)


@pytest.mark.parametrize(("name", "paper"), PRINTED)
def test_no_heading_is_last_on_a_sheet(driver, name, paper, tmp_path, needs):
    needs("pypdf")
    from pypdf import PdfReader

    path = tmp_path / "page.html"
    path.write_text(PAGES[name](), encoding="utf-8")
    driver.get(path.as_uri())
    wait_until(lambda: driver.execute_script("return document.documentElement.dataset.ready") == "yes")
    width, height = PAPERS[paper]
    options = {"paperWidth": width, "paperHeight": height, "printBackground": True}
    made = driver.execute_cdp_cmd("Page.printToPDF", options)["data"]
    sheets = PdfReader(io.BytesIO(base64.b64decode(made))).pages
    headings = {squeezed(h) for h in driver.execute_script(HEADINGS)} - {""}
    assert len(sheets) > 2
    for number, sheet in enumerate(sheets[:-1], 1):
        *before, last = lines_of(sheet)
        assert len(before) > 3
        assert len(last) < 4 or not any(h.endswith(last) for h in headings), (number, last)


def squeezed(text):
    """Without blanks and ligatures."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def lines_of(sheet):
    """The lines of a sheet from top to foot, each without blanks."""
    found, lines = [], []

    def visit(text, current, matrix, *_):
        if text.strip():
            found.append((matrix[5] * current[3] + current[5], squeezed(text)))

    sheet.extract_text(visitor_text=visit)
    for y, text in sorted(found, key=lambda one: -one[0]):
        if lines and abs(lines[-1][0] - y) < SAME_LINE:
            lines[-1] = (lines[-1][0], lines[-1][1] + text)
        else:
            lines.append((y, text))
    return [text for _, text in lines]
