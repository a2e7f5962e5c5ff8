"""The matrix of paired tests is that of the assay."""

import numpy as np
import pytest
from matplotlib import colors
from tests.report.figures.cases import blank, texts

import uqassay as uq
from uqassay.report import figures
from uqassay.text import pvalue_text


@pytest.mark.parametrize(("name", "metric"), [("assay", "uq-auc"), ("grouped", "uq-c-index"), ("assay", "augrc")])
def test_matrix_of_tests_against_the_assay(name, metric, request):
    a = request.getfixturevalue(name)
    pairs = [(m, s) for m in a.model_names for s in ("total-entropy", "margin")]
    ax = figures.plot_ranking_comparisons(a, pairs, metric=metric, ax=blank())
    own = a.pairwise_uncertainties(pairs, metric=metric)
    j = len(pairs)
    shown = np.array(texts(ax)).reshape(j, j)
    for row, column in zip(*np.nonzero(~np.eye(j, dtype=bool)), strict=True):
        text, d, p = shown[row, column], own.difference[row, column], own.adjusted[row, column]
        if text == "same\norder":
            assert d == 0
            continue
        difference, test = text.split("\n")
        assert difference.lstrip("<>")[0] == ("+" if d > 0 and difference[0] != "<" else "−" if d < 0 else "0")
        assert float(difference.lstrip("<>+−")) == pytest.approx(abs(d), rel=0.5, abs=0.01)
        assert test == pvalue_text(p)
    sure = {(round(r.get_y() + 0.5), round(r.get_x() + 0.5)): colors.to_hex(r.get_facecolor()) for r in ax.patches}
    assert set(sure) == {(int(r), int(c)) for r, c in zip(*np.nonzero(own.reject(0.05)), strict=True)}
    sign = -1 if metric == "augrc" else 1
    for (row, column), face in sure.items():
        assert (face == "#0072b2") == (sign * own.difference[row, column] > 0)


def test_what_is_undefined_is_named_in_the_matrix():
    rng = np.random.default_rng(2)
    y = rng.integers(3, size=60)
    models = {"right": uq.Point(0.7 * np.eye(3)[y] + 0.1), "a": uq.Point(rng.dirichlet(np.ones(3), 60))}
    models |= {"b": uq.Point(rng.dirichlet(np.ones(3), 60))}
    ax = figures.plot_ranking_comparisons(uq.assay(models, y, n_draws=20), "total-entropy", ax=blank())
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]
    assert "not compared: right (no errors)" in ax.get_title(loc="left").replace("\n", " ")
