"""The calibration tests of all models, drawn: numbers and words of the assay."""

import numpy as np
import pytest
from matplotlib import colors
from tests.report.calibration_cases import ensembles, made_up, with_tests
from tests.report.figures.cases import blank, drawn

from uqassay.evidence.calibration import adjusted_pvalues
from uqassay.notes import Note
from uqassay.report import figures
from uqassay.text import pvalue


@pytest.fixture(scope="module")
def assay():
    return ensembles(n=300)


def one(assay, model, measure="kuiper-confidence"):
    return next(t for t in assay.calibration if (t.model, t.measure) == (model, measure))


@pytest.mark.parametrize("measure", ["kuiper-confidence", "ece-classwise"])
def test_rows_against_the_tests(assay, measure):
    ax = drawn(figures.plot_calibration_tests(assay, measure, ax=blank()))
    assert [t.get_text() for t in ax.get_yticklabels()] == list(assay.model_names)
    adjusted = dict(zip(map(id, assay.calibration), adjusted_pvalues(assay.calibration), strict=True))
    head, *cells = ax.texts
    assert head.get_text() == "p (adjusted)"
    for at, name in enumerate(assay.model_names):
        t = one(assay, name, measure)
        mine = [line for line in ax.lines if line.get_ydata()[0] == at]
        bar = next(line for line in mine if line.get_linewidth() == 6)
        np.testing.assert_allclose(bar.get_xdata(), [t.null.min(), np.quantile(t.null, 0.95)])
        hollow = [line for line in mine if line.get_markerfacecolor() == "white"]
        assert [line.get_xdata()[0] for line in hollow] == ([t.mean_value] if t.n_members > 1 else [])
        assert mine[-1].get_xdata()[0] == t.statistic
        assert colors.to_hex(mine[-1].get_color()) == figures.model_colours(assay)[name].lower()
        ticks = [x for line in mine if line.get_marker() == "|" for x in line.get_xdata()]
        assert ticks == t.member_values.tolist()
        assert cells[at].get_text() == pvalue(adjusted[id(t)])
        assert (cells[at].get_fontweight() == "bold") == (adjusted[id(t)] <= 0.05)
    legend = [t.get_text() for t in ax.get_legend().get_texts()]
    assert legend == ["95 % of the null draws", "best mixture", "model's mean", "single members"]
    assert "p by Holm over 8 tests" in ax.get_title(loc="left").replace("\n", " ")


def test_undefined_tests_are_named(assay):
    notes = (Note("undefined", "undefined here"),)
    t = made_up("ensemble", "hosmer-lemeshow", pvalue=float("nan"), statistic=float("nan"), notes=notes)
    ax = drawn(figures.plot_calibration_tests(with_tests(assay, t), ax=blank()))
    assert [x.get_text() for x in ax.texts] == ["undefined here", "p (adjusted)", pvalue(float("nan"))]
