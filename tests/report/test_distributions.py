"""Densities, means by confidence and regions of the two means."""

import json

import numpy as np
import pytest
from tests.report.cases import hostile_assay

import uqassay as uq
from uqassay.report.page import payload
from uqassay.report.sections import _counts, _quartiles, confidence_lines, densities, mean_regions

pytestmark = pytest.mark.usefixtures("without_calibration")


def test_ellipses_against_the_covariance_of_the_means():
    a = hostile_assay(n=300, names=None)
    model = a.models[0]
    d, ns = (model.columns[key][0] for key in ("distance", "nonspecificity"))
    for part, mask in [("all", np.ones(300, bool)), ("correct", model.columns["correct"][0] == 1)]:
        region = mean_regions(a)[part][0]
        covariance = np.cov(d[mask], ns[mask]) / mask.sum()
        from scipy.stats import chi2, norm, t

        factor = (t.ppf(0.975, mask.sum() - 1) * np.sqrt(chi2.ppf(0.95, 2)) / norm.ppf(0.975)) ** 2
        np.testing.assert_allclose(np.square(region["half_widths"]), factor * np.diag(covariance), rtol=1e-9)
        np.testing.assert_allclose(region["covariance"], factor * covariance[0, 1], rtol=1e-6)
        assert region["n"] == mask.sum()
        np.testing.assert_allclose(region["distance"][0], d[mask].mean())


def test_loss_of_correct_and_wrong_against_subset_rows():
    a = hostile_assay(n=100, names=None)
    rows = [r for r in a.rows("subsets", by="correct") if r["metric"] == "unified"]
    for part, regions in mean_regions(a).items():
        for region in regions:
            own = [r for r in rows if r["subset"] == part and region and r["model"] == region["model"]]
            if own:
                assert region["unified"] == [[r[key] for key in ("tradeoff", "estimate", "low", "high")] for r in own]
    assert [u[0] for u in mean_regions(a)["wrong"][0]["unified"]] == list(a.tradeoffs)


def test_densities_count_every_instance():
    a = hostile_assay(n=200, names=None)
    found = densities(a, 2.0)
    for j, model in enumerate(a.candidates):
        parts = found["distance"]["models"][j]
        assert parts["correct"]["n"] + parts["wrong"]["n"] == model.n_runs * 200
        for part in parts.values():
            assert (min(part["density"]), max(part["density"])) == (0, 200)
            axis, density = np.array(found["distance"]["axis"]), np.array(part["density"])
            middle = axis[
                np.searchsorted(density.cumsum(), density.sum() * (0.5 - part["at_end"]) / (1 - part["at_end"]))
            ]
            np.testing.assert_allclose(np.log10(middle), np.log10(part["quartiles"][1]), atol=0.1)
        at_zero, distance = found["unified"]["models"][0][j], parts
        np.testing.assert_allclose(at_zero["wrong"]["mean"], distance["wrong"]["mean"])


def test_unified_densities_hold_the_default_tradeoff_exactly():
    a = hostile_assay(n=100, names=None)
    for top in (0.5, 2.86, 19.0):
        found = densities(a, top)["unified"]
        at = found["tradeoffs"].index(0.5)
        for model, parts in zip(a.candidates, found["models"][at], strict=True):
            d, ns = model.columns["distance"], model.columns["nonspecificity"]
            wrong = ~a.hits(model.name)
            np.testing.assert_allclose(parts["wrong"]["mean"], (d + 0.5 * ns)[wrong].mean())


def test_densities_without_wrong_predictions_or_with_infinite_losses():
    a = uq.assay({"a": uq.Point([[1.0, 0.0], [0.0, 1.0]]), "b": uq.Point([[1.0, 0.0], [1.0, 0.0]])}, [0, 1], floor=0)
    parts = densities(a, 2.0)["distance"]["models"]
    assert parts[0]["wrong"] is None
    assert parts[0]["correct"]["zero"]
    assert parts[1]["wrong"] is None  # its only value is infinite
    json.dumps(payload(a), allow_nan=False)


def test_lines_by_confidence_against_brute_force():
    a = hostile_assay(n=200, names=None)
    for model, line in zip(a.candidates, confidence_lines(a, ("nonspecificity",))["nonspecificity"], strict=True):
        confidence, values = model.columns["confidence"].ravel(), model.columns["nonspecificity"].ravel()
        means, counts = [], []
        for low in range(10):
            inside = (confidence > low / 10) & (confidence <= (low + 1) / 10)
            if inside.any():
                means.append(values[inside].mean())
                counts.append(int(inside.sum()))
        assert line["n"] == counts
        np.testing.assert_allclose(line["mean"], means)


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_counts_and_quartiles_against_numpy(random_generator, n):
    edges = np.linspace(-3.3, 1.7, 97)
    x = np.concatenate([random_generator.uniform(-4, 2, n), edges, np.nextafter(edges, -9), np.nextafter(edges, 9)])
    assert _counts(np.sort(x), edges).tolist() == np.histogram(x, bins=edges)[0].tolist()
    values = random_generator.exponential(size=n)
    assert _quartiles(np.sort(values)).tolist() == np.quantile(values, [0.25, 0.5, 0.75]).tolist()
