"""Coverage against size: lines, bands and names are those of the curves."""

import numpy as np
from tests.report.figures.cases import blank, drawn

import uqassay as uq
from uqassay.evidence import coverage_curve
from uqassay.report import figures

PAIRS = uq.Members(np.tile([[[0.6, 0.4], [0.55, 0.45]]], (6, 1, 1)))
CURVE = coverage_curve([0, 0, 0, 1, 1, 0], PAIRS, scales=(0.5, 1, 5))


def test_a_line_with_its_band_and_a_marker_at_the_sets_as_they_are():
    ax = drawn(figures.plot_coverage_curve(CURVE, ax=blank()))
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [float(e) for e in CURVE.nonspecificity])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [float(e) for e in CURVE.coverage])
    own = [(float(e.nonspecificity[1]), float(e.coverage[1])) for e in (CURVE,)]
    assert ax.lines[2].get_xydata().tolist() == [list(own[0])]
    assert len(ax.collections) == 1
    assert ax.get_legend() is None


def test_several_models_have_a_legend():
    ax = drawn(figures.plot_coverage_curve({"a": CURVE, "$b$": CURVE}, ax=blank()))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", r"\$b\$"]
