"""Stated against observed epistemic variance: points, intervals and names are those of the tests."""

import numpy as np
import pytest
from tests.calibration.second_order_worlds import Setting, draw
from tests.report.figures.cases import blank, drawn

import uqassay as uq
from uqassay.calibration import second_order_test
from uqassay.report import figures
from uqassay.text import pvalue_text


@pytest.fixture
def found():
    votes, stated, _ = draw(Setting("even", n=120, votes=5), np.random.default_rng(0))
    return second_order_test(votes, stated, buckets=6)


def points_of(ax, place=0):
    return ax.containers[place].lines[0].get_xydata()


def test_points_and_intervals_are_the_buckets(found):
    ax = drawn(figures.plot_second_order(found, ax=blank()))
    expected = np.column_stack([found.buckets.stated, [float(o) for o in found.buckets.observed]])
    np.testing.assert_allclose(points_of(ax), expected)
    bars = np.array(ax.containers[0].lines[2][0].get_segments())  # (B, 2, 2)
    np.testing.assert_allclose(bars[:, 0, 1], [o.low for o in found.buckets.observed])
    np.testing.assert_allclose(bars[:, 1, 1], [o.high for o in found.buckets.observed])
    assert pvalue_text(found.pvalue) in ax.get_title(loc="left")
    diagonal = ax.lines[-1].get_xydata()
    np.testing.assert_array_equal(diagonal[:, 0], diagonal[:, 1])


def test_several_models_have_a_legend(found):
    ax = drawn(figures.plot_second_order({"a": found, "$b$": found}, ax=blank()))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", r"\$b\$"]
    np.testing.assert_array_equal(points_of(ax, 0), points_of(ax, 1))


def test_buckets_without_intervals_are_drawn():
    found = second_order_test([[2, 0], [1, 2]], uq.Members([[[0.5, 0.5], [0.6, 0.4]], [[0.1, 0.9], [0.5, 0.5]]]))
    assert len(points_of(drawn(figures.plot_second_order(found, ax=blank())))) == 2
