import numpy as np
import pytest
from scipy import stats
from tests.notes import codes, said
from tests.refusals import refuses

from uqassay.statistics import mean_correlation_estimate, pearson_estimate


def test_several_runs_against_scipy():
    r = np.array([0.91, 0.85, 0.97, 0.2, -0.3])
    z = np.arctanh(r)
    low, high = np.tanh(stats.t.interval(0.9, 4, loc=z.mean(), scale=stats.sem(z)))
    found = mean_correlation_estimate(r, level=0.9)
    assert [float(found), found.low, found.high] == pytest.approx([np.tanh(z.mean()), low, high])
    assert (found.n, found.level, found.notes) == (5, 0.9, ())


def test_one_run_against_pearson_of_its_pairs():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 9))
    expected = pearson_estimate(x, y, method="fisher")
    found = mean_correlation_estimate([float(expected)], n_pairs=9)
    assert [float(found), found.low, found.high] == pytest.approx([float(expected), expected.low, expected.high])
    assert codes(found) == ["assumption"]


@pytest.mark.parametrize(("r", "n_pairs"), [(0.5, 3), (0.5, None), (1.0, 7), (-1.0, 7)])
def test_one_run_without_interval(r, n_pairs):
    found = mean_correlation_estimate([r], n_pairs=n_pairs)
    assert float(found) == r
    assert np.isnan([found.low, found.high]).all()
    assert codes(found) == ["no-interval"]


def test_correlations_of_one_are_cut():
    found = mean_correlation_estimate([1.0, 0.9, 0.95])
    cut = mean_correlation_estimate([1 - 1e-6, 0.9, 0.95])
    assert [float(found), found.low, found.high] == pytest.approx([float(cut), cut.low, cut.high])
    assert codes(found) == ["edge"]
    assert "1 of 3" in said(found)
    assert codes(cut) == []
    assert float(mean_correlation_estimate([1.0, -1.0])) == pytest.approx(0.0)


@pytest.mark.parametrize("r", [1.0, -1.0, 0.0, 0.7])
def test_equal_correlations_have_no_width(r):
    found = mean_correlation_estimate([r] * 4)
    assert (float(found), found.low, found.high) == (r, r, r)
    assert "no-width" in codes(found)


def test_refusals():
    with refuses("correlations", "range", "row 1 has 1.2"):
        mean_correlation_estimate([0.1, 1.2])
    with refuses("correlations", "finite"):
        mean_correlation_estimate([0.1, np.nan])
    with refuses("correlations", "shape"):
        mean_correlation_estimate([[0.1, 0.2]])
    with refuses("level", "range"):
        mean_correlation_estimate([0.1, 0.2], level=1)
    assert float(mean_correlation_estimate([1 + 1e-14, 1.0])) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [3, 5, 20])
def test_coverage_against_theory_for_normal_z(n_runs):
    rng = np.random.default_rng(n_runs)
    found = [mean_correlation_estimate(np.tanh(rng.normal(0.8, 0.5, n_runs))) for _ in range(3000)]
    share = np.mean([one.low <= np.tanh(0.8) <= one.high for one in found])
    assert abs(share - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 3000)
