"""Influences on the error rate of the instances kept and of those refused."""

import numpy as np
import pytest

from uqassay.metrics.risk import kept_parts, rank_errors


def test_influence_against_finite_differences_where_the_window_is_the_tie():
    # five ties of a fifth each: the window around the middle of one sees that tie alone
    rng = np.random.default_rng(3)
    errors, uncertainty = (rng.random(100) < 0.4).astype(float), np.repeat(np.arange(5), 20)
    (found,) = kept_parts(rank_errors(errors, uncertainty), [0.5])
    assert found.influence.sum() == pytest.approx(0.0, abs=1e-12)
    for i in range(0, 100, 7):
        step = np.zeros(100)
        step[i] = 1e-5
        up, down = (kept_parts(rank_errors(errors, uncertainty, 1 + s), [0.5])[0].risk for s in (step, -step))
        assert found.influence[i] == pytest.approx(100 * (up - down) / 2e-5, abs=1e-6)


@pytest.mark.parametrize("levels", [3, 10**6])
@pytest.mark.parametrize("shares", [False, True])
def test_influences_against_the_formula(random_generator, levels, shares):
    # of an instance with error e, of which the share m is kept: (e m − A + ε (c − m)) / c
    errors = random_generator.random(57) if shares else (random_generator.random(57) < 0.3).astype(float)
    ranked = rank_errors(errors, random_generator.integers(levels, size=57))
    block = np.arange(57) if ranked.block is None else ranked.block
    coverages = (0.01, 1 / 57, 0.5, 0.83, 0.999)
    for coverage, found in zip(coverages, kept_parts(ranked, coverages), strict=True):
        k, f = ranked.place(np.array([coverage]))
        m = ranked.unranked(np.where(block < k, 1.0, np.where(block == k, f, 0.0)))
        assert m.mean() == pytest.approx(coverage)
        mass = (errors * m).mean()
        assert found.risk == pytest.approx(mass / coverage)
        np.testing.assert_allclose(
            found.influence, (errors * m - mass + found.rate * (coverage - m)) / coverage, atol=1e-12
        )
        assert found.refused_risk == pytest.approx((errors * (1 - m)).sum() / (1 - m).sum())
        refused = (ranked.residuals - coverage * found.influence) / (1 - coverage)
        sums = [float((x * y).sum()) for x, y in ((found.influence,) * 2, (refused,) * 2, (found.influence, refused))]
        np.testing.assert_allclose(found.products, sums, rtol=1e-9, atol=1e-9)
