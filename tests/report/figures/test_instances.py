"""What the means hide: spreads by correctness, and the sizes of single sets."""

import numpy as np
import pytest
from matplotlib import colors
from tests.kinds import random_prediction
from tests.refusals import refuses
from tests.report.figures.cases import KINDS, blank, hostile, texts

from uqassay.report import figures


@pytest.mark.parametrize("quantity", ["distance", "nonspecificity", "unified"])
def test_medians_and_counts_by_correctness(assay, quantity):
    ax = figures.plot_by_correctness(assay, quantity, tradeoff=0.7, ax=blank())
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    expected, counts = [], []
    for m in assay.candidates:
        hit = m.columns["label"][0] == assay.labels
        values = assay.loss(m.name, 0.7)[0] if quantity == "unified" else m.columns[quantity][0]
        expected += [np.median(values[hit]), np.median(values[~hit])]
        counts += [f"{hit.sum()} correct", f"{(~hit).sum()} wrong"]
    left = ax.get_xlim()[0]
    for dot, median in zip(dots, expected, strict=True):
        x = dot.get_xdata()[0]
        if median > 2 * left:
            assert x == pytest.approx(median, rel=1e-3)
        else:
            assert left < x < 2 * left
    for written, wanted in zip(texts(ax), counts, strict=True):
        assert written.startswith(wanted)
    assert texts(ax)[0].endswith("100 % at the left end") == (quantity == "nonspecificity")


def test_set_sizes_against_the_predictions(assay):
    rng = np.random.default_rng(5)
    prediction = {kind: random_prediction(kind, rng, 60, 4) for kind in KINDS}["Members"]
    rows = [7, 3, 50]
    ax = figures.plot_set_sizes(assay, "Members", rows=rows, ax=blank())
    bars = sorted(ax.patches, key=lambda p: p.get_x())
    labels = prediction.labels()
    for bar, row in zip(bars, rows, strict=True):
        low, high = (p[row, labels[row]] for p in (prediction.lower_probs(), prediction.upper_probs()))
        assert (bar.get_y(), bar.get_height()) == pytest.approx((low, high - low), abs=1e-6)
        assert bar.get_fill()
        hollow = colors.to_rgba(bar.get_facecolor())[3] == 0
        assert hollow == (labels[row] != assay.labels[row])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["7", "3", "50"]
    default = figures.plot_set_sizes(assay, "Members", ax=blank())
    assert len(default.patches) == 50
    with refuses("rows", "undefined", got="credal set of instance 60 was not kept"):
        figures.plot_set_sizes(assay, "Members", rows=[3, 60])


def test_losses_of_one_power_of_ten_have_plain_ticks():
    ax = figures.plot_by_correctness(hostile("one instance"), ax=blank())
    ax.figure.canvas.draw()
    shown = [t.get_text() for t in ax.get_xticklabels() if t.get_text()]
    assert {"0.5", "1"} <= set(shown)
    nothing = figures.plot_by_correctness(hostile("perfect"), ax=blank())
    assert nothing.get_xlabel() == "KL divergence (nats): 0 wherever it is finite"
