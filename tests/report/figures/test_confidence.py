"""What goes with confidence: every instance is counted."""

import numpy as np
from tests.refusals import refuses
from tests.report.figures.cases import blank, texts

from uqassay.report import figures


def test_heat_maps_count_every_instance(assay, grouped):
    for a, model in ((assay, "Members"), (grouped, "a")):
        n = a[model].n_runs * a.n_instances
        for ax in (
            figures.plot_width_nonspecificity(a, model, ax=blank()),
            figures.plot_confidence(a, model, ax=blank()),
            figures.plot_confidence(a, model, "epistemic-entropy", ax=blank()),
        ):
            assert ax.collections[0].get_array().sum() == n
    ax = figures.plot_confidence(assay, "Members", ax=blank())
    columns = assay["Members"].columns
    which = np.ceil(columns["confidence"][0] * 10).astype(int)
    wanted = [columns["nonspecificity"][0][which == b].mean() for b in np.unique(which)]
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), wanted)


def test_measures_that_are_not_there_are_refused(assay):
    with refuses("measures", "undefined", got="'upper-entropy' was not computed"):
        figures.plot_confidence(assay, "Members", "upper-entropy")
    with refuses("measures", "finite", got="epistemic-entropy of 'Masses' is nowhere finite"):
        figures.plot_confidence(assay, "Masses", "epistemic-entropy")
    with refuses("model", "type", got="got the baseline 'vacuous'"):
        figures.plot_width_nonspecificity(assay, "vacuous")
    with refuses("model", "choice"):
        figures.plot_set_sizes(assay, "nobody")
    with refuses("quantity", "choice"):
        figures.plot_by_correctness(assay, "accuracy")


def test_reliability_against_its_bins(assay):
    ax = figures.plot_reliability(assay, ["Members", "Masses"], n_bins=5, ax=blank())
    segments = [c for c in ax.collections if hasattr(c, "get_segments")]
    dots = [c for c in ax.collections if not hasattr(c, "get_segments")]
    for name, bars, marks in zip(("Members", "Masses"), segments, dots, strict=True):
        bins = assay.reliability(name, n_bins=5)
        filled = bins.count > 0
        np.testing.assert_allclose(marks.get_offsets(), np.c_[bins.confidence, bins.accuracy][filled])
        drawn = np.array([s[:, 1] for s in bars.get_segments()])
        np.testing.assert_allclose(drawn, np.c_[bins.band_low, bins.band_high][filled])
        assert np.argmax(marks.get_sizes()) == np.argmax(bins.count[filled])
    alone = figures.plot_reliability(assay, ["Members"], ax=blank())
    assert sum(int(t) for t in texts(alone)) == assay.n_instances
    with refuses("models", "empty"):
        figures.plot_reliability(assay, [])
