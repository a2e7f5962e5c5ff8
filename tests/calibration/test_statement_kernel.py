"""The kernel test of statements, against plain loops; signs of whole units."""

import numpy as np
import pytest

from uqassay.calibration import single as statement_kernel
from uqassay.calibration.single import statement_kernel_test, statements_of


def by_loops(residuals, points, units, signs):
    """Mean over pairs of different units, and the sums with signs (G, D)."""
    n = len(residuals)
    total, drawn, pairs = 0.0, np.zeros(signs.shape[1]), 0
    for i in range(n):
        for j in range(n):
            if units[i] != units[j]:
                h = np.exp(-np.abs(points[i] - points[j]).sum()) * (residuals[i] @ residuals[j])
                total, pairs = total + h, pairs + 1
                drawn += signs[units[i]] * signs[units[j]] * h
    return total / pairs, (1 + (drawn >= total - 1e-12).sum()) / (signs.shape[1] + 1)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("tile", [2**23, 600])
def test_against_loops(grouped, tile, random_generator, monkeypatch):
    monkeypatch.setattr(statement_kernel, "STATEMENT_TILE_BYTES", tile)
    n = 17
    residuals, points = random_generator.normal(size=(n, 2)), random_generator.normal(size=(n, 4))
    units = np.arange(n) // 3 if grouped else np.arange(n)
    n_units = int(units.max()) + 1
    signs = np.random.default_rng(3).integers(0, 2, (n_units, 40), dtype=np.int8) * 2.0 - 1.0
    expected = by_loops(residuals, points, units, signs)
    given = {"units": units if grouped else None, "n_draws": 40, "rng": np.random.default_rng(3)}
    assert statement_kernel_test(residuals, points, **given) == pytest.approx(expected)


def test_means_and_spreads_count_alike(random_generator):
    mean, variance = random_generator.random((50, 3)), 1e-6 * random_generator.random((50, 3))
    points = statements_of(mean, variance)
    i, j = np.triu_indices(50, 1)
    distances = np.abs(points[i] - points[j])
    assert np.median(distances[:, :3].sum(axis=1)) == pytest.approx(1.0)
    assert np.median(distances[:, 3:].sum(axis=1)) == pytest.approx(1.0)


def test_equal_statements_and_no_residuals():
    points = statements_of(np.full((4, 2), 0.5), np.zeros((4, 2)))
    found = statement_kernel_test(np.zeros((4, 1)), points, units=None, n_draws=9, rng=np.random.default_rng(0))
    assert found == (0.0, 1.0)


def test_one_unit_has_no_pair():
    found = statement_kernel_test(
        np.ones((3, 1)), np.zeros((3, 2)), units=np.zeros(3, int), n_draws=9, rng=np.random.default_rng(0)
    )
    assert np.isnan(found).all()
