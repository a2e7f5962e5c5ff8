"""Average ranks and bars against the numbers of the comparison."""

import numpy as np
import pytest
from tests.refusals import refuses
from tests.report.figures.cases import blank, texts
from tests.statistics import printed_comparisons as printed

from uqassay.evidence import compare_table
from uqassay.report import figures
from uqassay.report.figures.assay import BAR


@pytest.fixture(scope="module")
def c45():
    return compare_table(printed.AUC, models=printed.MODELS, greater_is_better=True, label="AUC")


def bars(ax):
    """Ranks of the dots of each bar, and the place of the bar."""
    found = []
    for line in ax.lines:
        if line.get_color() == BAR and line.get_marker() == "o":
            found.append((np.round(line.get_xdata(), 2).tolist(), line.get_ydata()[0]))
    return found


def test_names_ranks_and_bars_against_the_comparison(c45):
    ax = figures.plot_critical_difference(c45, ax=blank())
    assert texts(ax)[:4] == ["C4.5+m+cf  1.93", "C4.5+m  2.00", "2.93  C4.5+cf", "3.14  C4.5"]
    assert "average rank by AUC over 14 data sets" in texts(ax)[4]
    stems = [line.get_xdata()[0] for line in ax.lines if line.get_color() == "black"]
    assert stems == pytest.approx(sorted(c45.average_ranks))
    assert [at for at, _ in bars(ax)] == [[1.93, 2.0, 2.93], [1.93, 2.93, 3.14]]
    assert bars(ax)[0][1] < bars(ax)[1][1]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "3", "4"]


def test_nemenyi_joins_by_its_critical_difference(c45):
    ax = figures.plot_critical_difference(c45, test="nemenyi", ax=blank())
    assert [at for at, _ in bars(ax)] == [[1.93, 2.0, 2.93, 3.14]]
    assert "CD 1.25" in texts(ax)
    (scale,) = [line for line in ax.lines if line.get_marker() == "|"]
    assert scale.get_xdata() == pytest.approx([1, 1 + c45.critical_difference])


def test_bars_that_do_not_touch_share_a_line():
    values = np.random.default_rng(0).normal(size=(30, 4)) * 0.1 + [0, 0, 5, 5]
    found = compare_table(values, greater_is_better=False)
    assert len(found.groups()) == 2
    (_, first), (_, second) = bars(figures.plot_critical_difference(found, ax=blank()))
    assert first == second


@pytest.mark.parametrize("test", ["signed-rank", "nemenyi"])
def test_two_models_equal_models_and_formulas_in_names(test):
    apart = compare_table([[0.9, 0.1]] * 9, models=["$a$", "_b"], greater_is_better=True)
    ax = figures.plot_critical_difference(apart, test=test, ax=blank())
    assert bars(ax) == []
    assert any(r"\$a\$" in text for text in texts(ax))
    equal = compare_table(np.ones((3, 5)), greater_is_better=True)
    assert bars(figures.plot_critical_difference(equal, test=test, ax=blank()))[0][0] == [3.0] * 5


def test_another_test_is_refused(c45):
    with refuses("test", "choice"):
        figures.plot_critical_difference(c45, test="friedman", ax=blank())
