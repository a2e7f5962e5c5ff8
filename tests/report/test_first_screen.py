"""The table of metrics as markup: the numbers and marks of the assay, and no markup from names."""

import math
import re

import numpy as np
import pytest
from tests.report.cases import hostile_assay
from tests.report.html_pages import ParsedPage, makes_no_markup

import uqassay as uq
from uqassay.report.first_screen import metrics_markup
from uqassay.report.page import render
from uqassay.text import visible

pytestmark = pytest.mark.usefixtures("without_calibration")


def cells(assay):
    """Cells of each row by the name of its model."""
    rows = re.findall(r'<tr[^>]* data-place="(\d+)">(.*?)</tr>', metrics_markup(assay.metrics()))
    return {assay.models[int(j)].name: re.findall(r"<td[^>]*>.*?</td>", row)[1:] for j, row in rows}


@pytest.fixture(scope="module")
def judged():
    g = np.random.default_rng(0)
    y = g.integers(0, 3, 300)
    z = 2 * np.eye(3)[y][:, None] + g.normal(size=(3, 300, 1, 3)) + 0.3 * g.normal(size=(3, 300, 4, 3))
    p = np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)
    models = {"one": uq.Members(p[0]), "two": uq.Members(p[1]), "mean": uq.Point(p[2].mean(axis=1))}
    return uq.assay(models, y, n_draws=20)


def test_numbers_and_marks_are_those_of_the_assay(judged):
    found = cells(judged)
    for name, measured in judged.metrics().by_model().items():
        for cell, one in zip(found[name], measured, strict=True):
            if math.isnan(one.estimate):
                assert "–" in cell
                assert "data-value" not in cell
                continue
            assert float(re.search(r'data-value="([^"]+)"', cell)[1]) == float(one.estimate)
            assert f">{one.estimate:.3f}</" in cell
            assert (f"{one.estimate.low:.3f}–{one.estimate.high:.3f}" in cell) == (one.estimate.low < one.estimate.high)
            assert ("<b>" in cell, "<u>" in cell) == (bool(one.best), bool(one.tied))
    assert sum("<b>" in cell for row in found.values() for cell in row) == 7


def test_missing_numbers_say_why(judged):
    vacuous = cells(judged)["vacuous"]
    assert "makes no single prediction" in vacuous[0]


def test_every_metric_but_those_of_the_user_has_its_definition(judged):
    from uqassay.report.definitions import page_definitions

    named = re.findall(r'data-define="([^"]+)"', metrics_markup(judged.metrics()))
    assert named == list(judged.metrics().metrics)
    assert set(named) <= set(page_definitions(judged.settings, label_distributions=False))


def test_names_make_no_markup():
    a = hostile_assay(n=40)
    page = ParsedPage(metrics_markup(a.metrics()))
    assert makes_no_markup(page, scripts=0)
    assert all(visible(name) in page.text for name in a.model_names)


def test_infinite_numbers_can_be_sorted():
    p = uq.Point([[1.0, 0.0]] * 9)
    markup = metrics_markup(uq.assay({"a": p, "b": p}, [1] * 9, floor=0, n_draws=5).metrics())
    assert 'data-value="Infinity"' in markup
    assert "∞" in markup


def test_the_table_comes_first_then_the_warnings_then_the_card():
    page = render(hostile_assay(n=40))
    body = page.index("<main>")
    places = [page.index(part, body) for part in ("<table>", 'id="on-answer"', 'class="answer"', 'id="choose"')]
    assert places == sorted(places)
