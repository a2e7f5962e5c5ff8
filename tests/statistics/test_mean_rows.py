"""Means of many rows at once, against those of each row."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.statistics import estimate as mean_rows
from uqassay.statistics import mean_estimate
from uqassay.statistics.estimate import mean_estimates


def same(found, expected):
    assert [one.to_dict() for one in found] == [one.to_dict() for one in expected]  # to the last bit


@pytest.mark.parametrize("n", [1, 2, 3, 7, 127, 1000, 4099])
@pytest.mark.parametrize("method", ["student-t", "hall"])
@pytest.mark.parametrize("at_once", [mean_rows.ROW_CELLS, 2500])
def test_rows_against_each_mean(random_generator, monkeypatch, n, method, at_once):
    monkeypatch.setattr(mean_rows, "ROW_CELLS", at_once)
    normal = random_generator.normal(size=n)
    odd = [np.append(normal[:-1], value) for value in (np.inf, -np.inf, 1e-300, 1e200)]
    both = np.append(normal[:-2], [np.inf, -np.inf])[-n:]
    rows = [normal, np.exp(3 * normal), normal > 1, np.full(n, 0.1), np.zeros(n), 1e-200 * normal, both, *odd]
    strided = np.stack([normal, normal + 1], axis=1)
    rows += [strided[:, 0], normal.astype(np.float32)]
    same(
        mean_estimates(rows, level=0.9, method=method),
        [mean_estimate(row, level=0.9, method=method) for row in rows],
    )


def test_no_rows_have_no_means():
    assert mean_estimates([]) == []


def test_a_nan_is_refused():
    with refuses("values", "finite", got=r"1 of 3 values"):
        mean_estimates([np.arange(3.0), np.array([1.0, np.nan, 0.0])])
