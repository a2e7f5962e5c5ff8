"""Rank sets in a browser: the bars follow λ and the metric, the strips show the top group at every λ."""

import numpy as np
import pytest
from tests.report.cases import ranked_assay, softmax
from tests.report.html_pages import open_all

import uqassay as uq
from uqassay.text import rank_range

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("without_calibration")]

ROWS = """
  const [bars] = document.querySelectorAll("#rank-sets table");
  return [...bars.querySelectorAll("tbody tr")].map((r) => [r.dataset.key, r.children[2].textContent,
    [...r.querySelectorAll("rect")].map((x) => [x.getAttribute("x"), x.getAttribute("width")])]);
"""


@pytest.fixture(scope="module")
def assay():
    return ranked_assay(n=400, calibration=())


@pytest.fixture(scope="module")
def page(driver, assay, tmp_path_factory):
    path = assay.to_html(tmp_path_factory.mktemp("pages") / "ranks.html")
    driver.get(path.resolve().as_uri())
    open_all(driver)
    return driver


def choose(page, label):
    page.execute_script(
        "const by = document.getElementById('rank-sets-by');"
        "by.value = [...by.options].find((o) => o.textContent === arguments[0]).value;"
        "by.dispatchEvent(new Event('change'));",
        label,
    )


def test_bars_are_the_rank_sets(page, assay):
    for label, metric, score in (
        ("accuracy", "accuracy", None),
        ("Brier score", "brier", None),
        ("UQ-AUC of total entropy", "uq-auc", "total-entropy"),
    ):
        choose(page, label)
        found = assay.rank_sets(metric=metric, score=score)
        shown = {key: (ranks, rects) for key, ranks, rects in page.execute_script(ROWS) if ranks}
        assert set(shown) == set(found.names)
        for name, low, high in zip(found.names, found.low.tolist(), found.high.tolist(), strict=True):
            ranks, (_, (x, width)) = shown[name]
            assert ranks == rank_range(low, high)
            total = len(found.names)
            assert float(x.rstrip("%")) == pytest.approx(100 * (low - 1) / total)
            assert float(width.rstrip("%")) == pytest.approx(100 * (high - low + 1) / total)


def test_bars_by_e_follow_the_slider(page, assay):
    first = page.execute_script("return document.getElementById('rank-sets-by').options[0].textContent")
    choose(page, first)
    for index in (0, 100, 200):
        page.execute_script("setIndex(arguments[0])", index)
        at = page.execute_script("return lambda()")
        rows = [r for r in assay.ranked(at) if r.rank is not None]
        shown = [(key, ranks) for key, ranks, _ in page.execute_script(ROWS) if ranks]
        assert shown == [(r.model, rank_range(r.rank_low, r.rank_high)) for r in rows]
        in_table = page.execute_script(
            "return [...document.querySelectorAll('#ranking tbody tr:not(.baseline)')]"
            ".map((r) => [r.dataset.key, r.children[0].textContent])"
        )
        assert [tuple(row) for row in in_table] == shown


def test_strips_show_the_top_group(page, assay):
    grid = page.execute_script("return ranking.grid")
    strips = page.execute_script(
        "const strips = document.querySelectorAll('#rank-sets table')[1];"
        "return [...strips.querySelectorAll('tbody tr')].map((r) => [r.dataset.key, [...r.querySelectorAll('rect')]"
        ".slice(1).map((x) => [x.getAttribute('x'), x.getAttribute('width')])])"
    )
    assert [key for key, _ in strips] == list(assay.model_names)
    for name, rects in strips:
        spans = [[float(end.rstrip("%")) / 100 * grid[-1] for end in rect] for rect in rects]
        for at in grid[::20]:
            inside = any(x - 1e-9 <= at <= x + width + 1e-9 for x, width in spans)
            assert inside == next(r.top for r in assay.ranked(at) if r.model == name)


def test_tables_of_many_models_scroll_and_keep_their_heads(driver, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 40)
    z = np.eye(3)[y] + rng.normal(size=(20, 40, 3))
    a = uq.assay({f"model {j}": uq.Point(softmax(z[j])) for j in range(20)}, y, n_draws=5, measures=(), calibration=())
    driver.get(a.to_html(tmp_path / "many.html").resolve().as_uri())
    open_all(driver)
    for name in ("summary", "ranking"):
        shown, whole = driver.execute_script(
            "const n = document.getElementById(arguments[0]); n.scrollTop = 300; return [n.clientHeight, n.scrollHeight]",
            name,
        )
        assert shown < 0.9 * whole
        gap = driver.execute_script(
            "const n = document.getElementById(arguments[0]);"
            "return n.querySelector('thead th').getBoundingClientRect().top - n.getBoundingClientRect().top",
            name,
        )
        assert abs(gap) <= 1


def test_marks_are_explained_where_they_are_shown(driver, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    z = 6 * np.eye(3)[y] + rng.normal(size=(60, 3))
    models = {"near": uq.Point(softmax(z)), "far": uq.Point(softmax(0.4 * z))}
    a = uq.assay(models, y, n_draws=5, measures=(), calibration=())
    assert [r.limited_by for r in a.ranked(0.5) if r.model == "far"] == ["unseen"]
    driver.get(a.to_html(tmp_path / "marks.html").resolve().as_uri())
    open_all(driver)
    note = "return document.getElementById('ranking-marks').textContent"
    assert driver.execute_script(note).startswith("† significant if no rare huge loss is missing from these 60 cases;")
    assert "†" in driver.execute_script("return document.getElementById('ranking').textContent")
