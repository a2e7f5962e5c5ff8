"""Drawings of the page: their words and tables are the numbers of the assay, and names that are markup stay text."""

import re
from html import unescape

import numpy as np
import pytest
from tests.report.calibration_cases import ensembles
from tests.report.cases import HOSTILE, hostile_assay, ranked_assay
from tests.report.html_pages import ParsedPage

import uqassay as uq
from uqassay.evidence.calibration import adjusted_pvalues
from uqassay.report.drawings import FIRST_SCORE, lens_drawings
from uqassay.report.sections import best_scores
from uqassay.text import percent, percent_interval, pvalue_text, significant

DRAWN = {"svg", "defs", "style", "g", "path", "use", "text", "title", "clippath", "rect", "tspan"}
AROUND = {
    "h3",
    "div",
    "details",
    "summary",
    "span",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "figcaption",
}


def titles(markup):
    return [unescape(words) for words in re.findall("<title>(.*?)</title>", markup)]


def rows(markup):
    """The cells of the table, without the intervals below them."""
    found = re.findall("<tr>(.*?)</tr>", markup)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)(?:<span.*?)?</t[hd]>", row) for row in found]
    return [[unescape(cell) for cell in row] for row in cells]


@pytest.fixture(scope="module")
def calibrated():
    return ensembles(n=300)


@pytest.fixture(scope="module")
def hostile():
    return lens_drawings(hostile_assay())


def test_reliability_against_the_assay(calibrated):
    markup = lens_drawings(calibrated)["calibration"]["reliability"]
    said = titles(markup)
    wanted = []
    for j, m in enumerate(calibrated.candidates):
        bins = calibrated.reliability(m.name)
        mine = [words for words in said if words.startswith(f"{m.name}: ")]
        filled = np.flatnonzero(bins.count)
        assert len(mine) == len(filled) > 3
        assert f'class="m{j} band"' in markup
        for words, b in zip(mine, filled, strict=True):
            ends = percent_interval(bins.band_low[b], bins.band_high[b])
            assert f"accuracy {percent(float(bins.accuracy[b]))} ({ends}), {bins.count[b]} case" in words
            wanted.append([m.name, percent(float(bins.accuracy[b])), str(bins.count[b])])
    assert [[row[0], row[3], row[4]] for row in rows(markup)[1:]] == wanted


def test_calibration_tests_against_the_assay(calibrated):
    markup = lens_drawings(calibrated)["calibration"]["calibration-tests"]
    said = titles(markup)
    for t, p in zip(calibrated.calibration, adjusted_pvalues(calibrated.calibration), strict=True):
        found = "best mixture" if t.n_members > 1 else "found"
        assert f"{t.model}: {found} {significant(t.statistic)}, {pvalue_text(p)} (adjusted by Holm)" in said
        assert any(words.startswith(f"{t.model}: 95 % of the null draws") for words in said)
        for value in t.member_values:
            assert any(words.startswith(f"{t.model}: ") and f": {significant(value)}, p" in words for words in said)
    assert len(rows(markup)) == 1 + sum(t.n_members for t in calibrated.calibration)
    measures = {t.measure for t in calibrated.calibration}
    assert len(re.findall("Kuiper on confidence</text>|classwise ECE</text>", markup)) == len(measures)


@pytest.mark.parametrize("groups", [None, np.arange(150) % 30])
def test_curves_against_the_assay(groups):
    a = ranked_assay(groups=groups)
    markup, best = lens_drawings(a)["mistakes"]["mistakes-curve"], best_scores(a)
    head, *table = rows(markup)
    coverages = [int(text.removesuffix("\u00a0%").removesuffix(" %")) / 100 for text in head[2:]]
    pairs = {(m, s): None for m in a.model_names for s in (FIRST_SCORE, best[m])}
    for (model, score), row in zip(pairs, table, strict=True):
        own = a.risk_coverage(model, score, coverages)
        assert row[2:] == [percent(float(e)) for e in own]
        said = [
            words for words in titles(markup) if words.startswith(f"{model}: of the 90 % kept, {row[-2]} are wrong")
        ]
        assert said
    places = {m.name: j for j, m in enumerate(a.models)}
    for model in a.model_names:  # the page begins with the first score
        same = best[model] == FIRST_SCORE
        assert f'class="m{places[model]} {"first best" if same else "first"}"' in markup
        assert (f'class="m{places[model]} best off"' in markup) != same
    assert len(re.findall(r'class="share share-[\d.]+"', markup)) == 1
    assert len(re.findall(r'class="share share-[\d.]+ off"', markup)) == 6


def test_coverage_of_scaled_sets_against_the_assay():
    a = hostile_assay(n=60)
    markup = lens_drawings(a)["sets"]["sets-curve"]
    own = [row for row in a.rows("coverage-curve") if row["metric"] == "coverage"]
    assert [row[2] for row in rows(markup)[1:]] == [percent(row["estimate"]) for row in own]
    assert len(set(titles(markup))) == len(own)


def test_names_that_are_markup_stay_text(hostile):
    for figures in hostile.values():
        for markup in figures.values():
            page = ParsedPage(markup)
            assert {tag for tag, _ in page.tags} <= DRAWN | AROUND
            assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
            ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
            assert len(ids) == len(set(ids))
    assert HOSTILE in unescape(hostile["calibration"]["reliability"])


def test_ids_are_unique_on_the_page(hostile):
    found = [re.findall(r'\bid="([^"]+)"', markup) for figures in hostile.values() for markup in figures.values()]
    ids = [one for many in found for one in many]
    assert len(ids) == len(set(ids)) > 20


def test_sections_without_anything_to_draw():
    right = uq.Point([[0.9, 0.1]] * 4)
    found = lens_drawings(uq.assay({"m": right}, [0] * 4, n_draws=10, calibration=()))
    assert {lens: list(figures) for lens, figures in found.items()} == {"calibration": ["reliability"]}
    sets = uq.assay({"s": uq.ClassSets([[True, True], [True, False]])}, [0, 1], n_draws=10)
    assert "reliability" not in str(lens_drawings(sets))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_cases_are_drawn(n):
    p = np.random.default_rng(0).dirichlet([1, 1], (n, 3))
    found = lens_drawings(uq.assay({"a": uq.Members(p), "b": uq.Point(p[:, 0])}, [0, 1, 1, 0, 1][:n], n_draws=10))
    assert "reliability" in found["calibration"]
