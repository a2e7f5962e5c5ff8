"""An opened page is read in half an hour: its words besides data are few."""

import pytest
from benchmarks.page_words import COUNT
from tests.report.accessible_pages import PAGES
from tests.report.html_pages import open_all

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.usefixtures("coarse_pages")]

MOST = 6_000


def test_words_of_an_opened_page_of_six_models(driver, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(PAGES["six"](), encoding="utf-8")
    driver.get(path.as_uri())
    open_all(driver)
    names = driver.execute_script("return page.models.map((m) => m.name).filter((n) => n.length > 1)")
    found = {part: words for part, words, _ in driver.execute_script(COUNT, names)}
    assert 2_000 < found["all"] < MOST
    assert (
        found["all"]
        > sum(words for part, words in found.items() if part != "all") - found["models"] - found["numbers"] - 200
    )
