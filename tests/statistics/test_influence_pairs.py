"""Spreads of all pairs from products of influences, against those of each difference."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from uqassay.metrics.risk import aurc, rank_errors
from uqassay.statistics import spreads as influence_pairs
from uqassay.statistics.auc import IMAGINARY, auc_linearised
from uqassay.statistics.correlation import concordance_linearised
from uqassay.statistics.linearised import AveragedStatistic, Linearised, spread_of
from uqassay.statistics.spreads import row_products, statistic_spreads
from uqassay.statistics.units import make_units

N = 300
UNITS = make_units(N, None, None)


def areas(rng, *, noise, coarse=False):
    """UQ-AUC of scores with a common part; errors differ between models."""
    latent, common = rng.normal(size=(2, N))
    found = []
    for _ in range(6):
        errors = (latent + 0.5 * rng.normal(size=N) > 1).astype(float)
        scores = common + errors + noise * rng.normal(size=N)
        found.append(auc_linearised(errors, scores.round(1) if coarse else scores, None, imaginary=IMAGINARY))
    return found


def concordances(rng, *, noise, coarse=False):
    gap, common = rng.normal(size=(2, N))
    scores = [common + gap + noise * rng.normal(size=N) for _ in range(6)]
    return [concordance_linearised(gap, s.round(1) if coarse else s, None, imaginary=IMAGINARY) for s in scores]


def losses(rng, *, noise, coarse=False):
    """AURC, whose influences are those of all instances together."""
    latent, common = rng.normal(size=(2, N))
    scores = [common + (latent > 1) + noise * rng.normal(size=N) for _ in range(6)]
    return [aurc(rank_errors(latent > 1, s.round(1) if coarse else s)) for s in scores]


@pytest.mark.parametrize("statistics", [areas, concordances, losses])
@pytest.mark.parametrize("noise", [1.0, 1e-2, 1e-6])  # the last: differences far smaller than the influences
@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("at_once", [influence_pairs.CELLS, 1])
def test_products_against_each_difference(random_generator, monkeypatch, statistics, noise, coarse, at_once):
    monkeypatch.setattr(influence_pairs, "CELLS", at_once)
    single = statistics(random_generator, noise=noise, coarse=coarse)
    a, b = np.tril_indices(len(single), -1)
    found = statistic_spreads([AveragedStatistic.of(one, UNITS) for one in single], a, b, UNITS)
    expected = [spread_of(single[i] - single[j], UNITS) for i, j in zip(a, b, strict=True)]
    np.testing.assert_allclose(found.variance**0.5, [e.standard_error for e in expected], rtol=1e-10)
    np.testing.assert_allclose(found.total_dof, [e.dof for e in expected], rtol=1e-8)


def test_runs_against_each_difference(random_generator):
    runs = [areas(random_generator, noise=1.0)[:r] for r in (1, 2, 3)]
    means = [AveragedStatistic.of(several, UNITS) for several in runs]
    a, b = np.tril_indices(3, -1)
    found = statistic_spreads(means, a, b, UNITS)
    for k, (i, j) in enumerate(zip(a, b, strict=True)):
        expected = spread_of(means[i].whole - means[j].whole, UNITS, [means[i].values, means[j].values])
        assert found.variance[k] ** 0.5 == pytest.approx(expected.standard_error, rel=1e-10)
        assert found.total_dof[k] == pytest.approx(expected.dof, rel=1e-8)


def test_the_same_statistic_twice_has_no_spread(random_generator):
    one = AveragedStatistic.of(areas(random_generator, noise=1.0)[0], UNITS)
    found = statistic_spreads([one, one], np.array([1]), np.array([0]), UNITS)
    assert found.variance.tolist() == [0.0]


def test_statistics_of_other_parts_have_the_spread_of_their_difference(random_generator):
    x = random_generator.normal(size=N)
    plain = Linearised(float(x.mean()), x - x.mean())
    area, concordant = areas(random_generator, noise=1.0)[0], concordances(random_generator, noise=1.0)[0]
    three = [AveragedStatistic.of(one, UNITS) for one in (area, plain, concordant)]
    a, b = np.tril_indices(3, -1)
    found = statistic_spreads(three, a, b, UNITS)
    expected = [spread_of(three[i].whole - three[j].whole, UNITS).standard_error for i, j in zip(a, b, strict=True)]
    np.testing.assert_allclose(found.variance**0.5, expected, rtol=1e-12)


def test_threads_of_matrix_products_change_no_bit(random_generator):
    n = 20_000
    units = make_units(n, None, None)
    several = [
        AveragedStatistic.of(Linearised(0.0, x - x.mean(), uneven=True), units)
        for x in random_generator.normal(size=(80, n))
    ]
    a, b = np.tril_indices(80, -1)
    spreads = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            spreads.append(statistic_spreads(several, a, b, units))
    np.testing.assert_array_equal(spreads[0].variance, spreads[1].variance)
    np.testing.assert_array_equal(spreads[0].dof, spreads[1].dof)


def test_kernel_and_formula_of_products_agree(monkeypatch, random_generator):
    u, v = random_generator.normal(size=(2, 3, 1300))
    found = []
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        found.append(row_products(u, v))
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-11)
    np.testing.assert_allclose(found[1], (u[:, np.newaxis] * v).sum(axis=2), rtol=0, atol=1e-11)
