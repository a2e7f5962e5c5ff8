"""Sets and votes in a real browser: curves of the models shown, their table, and the shares of votes."""

import numpy as np
import pytest
from tests.report.html_pages import wait_until
from tests.report.test_page_browser import click

import uqassay as uq

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("without_calibration")]

BANDS = "[...document.querySelectorAll('#sets-curve .band')]"
LINES = f"return {BANDS}.filter((n) => getComputedStyle(n).display !== 'none').length"
OPEN = "document.getElementById(arguments[0]).open = true"


@pytest.fixture(scope="module")
def assay():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), (80, 1)) * 0.7 + rng.dirichlet(np.ones(3), (80, 3)) * 0.3
    votes = rng.multinomial(9, p.mean(axis=1) / p.mean(axis=1).sum(axis=1, keepdims=True))
    models = {"<b>set</b>": uq.Members(p / p.sum(axis=2, keepdims=True)), "box": uq.Intervals(p.min(1), p.max(1))}
    return uq.assay(models | {"point": uq.Point(models["box"].mean_probs())}, votes, n_draws=10)


@pytest.fixture(scope="module")
def page(assay, driver, tmp_path_factory):
    driver.get(assay.to_html(tmp_path_factory.mktemp("page") / "report.html").resolve().as_uri())
    wait_until(lambda: driver.execute_script("return document.documentElement.dataset.ready") == "yes")
    yield driver
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_curve_for_each_model_with_sets_that_is_shown(page):
    page.execute_script(OPEN, "lens-sets")
    wait_until(lambda: page.execute_script(LINES) == 2)
    click(page, "#lens-sets .chips button")
    wait_until(lambda: page.execute_script(LINES) == 1)
    click(page, "#lens-sets .chips button")
    wait_until(lambda: page.execute_script(LINES) == 2)


def test_the_numbers_of_the_curves(page, assay):
    page.execute_script(OPEN, "lens-sets")
    page.execute_script("document.querySelector('#lens-sets .chart-data').open = true")
    body = "#lens-sets .chart-data tbody tr"
    rows = [row.text for row in page.find_elements("css selector", body)]
    own = [row for row in assay.rows("coverage-curve") if row["metric"] == "coverage"]
    assert len(rows) == len(own)
    first = own[0]
    assert rows[0].startswith(f"{first['model']} 0")
    assert f"{100 * first['estimate']:.1f}" in rows[0]


def test_shares_of_votes(page, assay):
    page.execute_script(OPEN, "lens-votes")
    body = "#lens-votes tbody tr"
    wait_until(lambda: len(page.find_elements("css selector", body)) == 3)
    rows = {
        row.find_element("css selector", ".name").text: row.text for row in page.find_elements("css selector", body)
    }
    for row in assay.rows("votes"):
        assert f"{100 * row['estimate']:.1f}" in rows[row["model"]]
