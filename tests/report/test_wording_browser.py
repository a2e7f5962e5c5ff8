"""Numbers of the page's script are written as uqassay.text writes them."""

import json
import math

import pytest
from tests.report.test_page_browser import address, page
from tests.test_text import INVISIBLE

import uqassay as uq
from uqassay import text as wording

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("coarse_pages")]

__all__ = ["address", "page"]  # fixtures of the other pages

VALUES = [
    *(
        0.0,
        -0.0,
        0.5,
        1.5,
        2.5,
        0.125,
        0.375,
        0.0625,
        0.00390625,
        0.005,
        0.015,
        0.9995,
        0.99949,
        1234.5,
        1e6,
        12345678.125,
    ),
    *(
        1e-3,
        5e-4,
        4.9e-4,
        1e-4,
        1e-9,
        1e-13,
        -0.5,
        -0.125,
        -1e-4,
        -1e-13,
        -1234.56,
        1 / 3,
        2 / 3,
        0.1,
        0.0999,
        0.099999999,
    ),
    *(
        0.0004999,
        0.00951,
        0.0095,
        0.00949,
        0.001,
        0.000999,
        0.05,
        0.0451,
        0.995,
        0.9999,
        0.99951,
        1.0,
        0.7071,
        0.062668,
        2.0,
    ),
    *(10.0, 100.0, 3.14159, 0.30000000000000004, 0.285, 1.005, 8.325, math.inf, -math.inf, math.nan),
    *(i / 64 for i in range(65)),
    *(i / 1000 for i in range(0, 1001, 7)),
]


@pytest.fixture(scope="module")
def assay():
    """Any: every page has the script."""
    return uq.assay({"model": uq.Point([[0.9, 0.1], [0.2, 0.8]])}, [0, 1], calibration=(), n_draws=10)


def sent(value):
    return value if isinstance(value, str) or math.isfinite(value) else repr(value)


def shown(page, expression, values=VALUES):
    script = f"""
      const read = (v) => (typeof v === "string" ? ({{ nan: NaN, inf: Infinity, "-inf": -Infinity }}[v] ?? v) : v);
      return arguments[0].map(read).map((x) => {expression});
    """
    return page.execute_script(script, [sent(v) for v in values])


@pytest.mark.parametrize("decimals", [0, 1, 2, 3, 5])
def test_numbers(page, decimals):
    assert shown(page, f"wording.number(x, {decimals})") == [wording.number(v, decimals) for v in VALUES]
    bounded = [wording.number(v, decimals, bounded=True) for v in VALUES]
    assert shown(page, f"wording.number(x, {decimals}, true)") == bounded


def test_shares(page):
    values = [v for v in VALUES if math.isnan(v) or (math.isfinite(v) and v)] + [0.0]
    for decimals in (0, 1, 2):
        assert shown(page, f"wording.percent(x, {decimals})", values) == [wording.percent(v, decimals) for v in values]
    for low in (0.0, 0.2134, 0.5, math.nan):
        expected = [wording.percent_interval(low, v) for v in values]
        assert shown(page, f"wording.percentInterval({'NaN' if math.isnan(low) else low}, x)", values) == expected
    for draws in (1, 100, 300, 2000):
        expected = [wording.share_of_draws(v, draws) for v in values]
        assert shown(page, f"wording.shareOfDraws(x, {draws})", values) == expected


def test_pvalues(page):
    values = [v for v in VALUES if math.isnan(v) or 0 <= v <= 1]
    assert shown(page, "wording.pvalue(x)", values) == [wording.pvalue(v) for v in values]
    assert shown(page, "wording.pvalueText(x)", values) == [wording.pvalue_text(v) for v in values]


def test_tradeoffs(page):
    values = [v for v in VALUES if v > 0] + [0.0]
    assert shown(page, "wording.tradeoff(x)", values) == [wording.tradeoff(v) for v in values]


def test_significant_digits_against_the_format_of_python(page):
    values = [v for v in VALUES if math.isfinite(v) and v != 0] + [1e-5, 1.25e-7, 99999.5, 0.00012345]
    for digits in (2, 3, 6):
        assert shown(page, f"wording.general(x, {digits})", values) == [f"{v:.{digits}g}" for v in values]


def test_counts_and_lists(page):
    numbers = [0, 1, 999, 1000, 12345, 1234567]
    assert shown(page, "wording.count(x)", numbers) == [wording.count(n) for n in numbers]
    for low, high in ((1, 1), (2, 10)):
        assert page.execute_script("return wording.rankRange(...arguments)", low, high) == wording.rank_range(low, high)
    for n in range(1, 5):
        names = [f"m{i}" for i in range(n)]
        script = "return wording.listed(arguments[0], arguments[1])"
        assert page.execute_script(script, names, "or") == wording.listed(names, last="or")


def test_names_in_lists_and_their_invisible_characters(page):
    names = ["", "net", "a, b", " a", "it's, it", "漢", "a\\b"]
    assert shown(page, "wording.named(x)", names) == [wording.named(name) for name in names]
    texts = [f"a{c}b" for c in (*INVISIBLE, *"e\u0301\u00a0\u3000🙂ש")]
    script = f"return {json.dumps(texts)}.map(plain)"  # the driver takes no lone surrogates
    assert page.execute_script(script) == [wording.visible(text) for text in texts]


def test_templates_put_values_in_their_places(page):
    fill = "return fillTemplate(arguments[0], arguments[1])"
    assert (
        page.execute_script(fill, "At λ = {t} {model}: {n}", {"t": "0.5", "model": "{n}", "n": 3})
        == "At λ = 0.5 {n}: 3"
    )
    assert page.execute_script(fill, "nothing to fill", {}) == "nothing to fill"
    refused = "try { fillTemplate('{absent}', {}); return ''; } catch (problem) { return problem.message; }"
    assert "absent" in page.execute_script(refused)


def test_values_may_be_nodes(page):
    script = """
      const node = fill(document.createElement("p"), templatePieces("a {x} b {y}.", { x: el("b", {}, "<i>"), y: "c" }));
      return [node.childNodes.length, node.innerHTML];
    """
    assert page.execute_script(script) == [3, "a <b>&lt;i&gt;</b> b c."]
