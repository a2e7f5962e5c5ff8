"""Printed means against the range of as many further runs."""

import numpy as np
import pytest

from uqassay.lab.papers.reproduction import compared_with_runs, further_runs


def test_range_of_further_runs_holds_their_mean():
    """Type I error of the comparison: the mean of 5 runs lies outside the range of 20 or 5 runs in 5 % of the cases."""
    rng = np.random.default_rng(0)
    for n in (5, 20):
        inside = []
        for _ in range(2000):
            low, high = further_runs(rng.normal(0.4, 0.1, n), 5)
            inside.append(low <= rng.normal(0.4, 0.1, 5).mean() <= high)
        assert 0.935 < np.mean(inside) < 0.965
    assert np.isnan(further_runs(np.array([0.4]), 5)).all()


def test_range_is_cut_to_the_bounds_of_the_quantity():
    runs = np.array([0.001, 0.002, 0.006])
    low, high = further_runs(runs, 6)
    assert low < 0
    assert further_runs(runs, 6, bounds=(0.0, 1.0)) == (0.0, high)


@pytest.mark.parametrize(
    ("paper", "agrees", "note"), [(0.5, True, ""), (0.9, False, "5 further runs, from our 4 runs")]
)
def test_comparison_has_a_reason_where_it_disagrees(paper, agrees, note):
    cell = compared_with_runs("table1/a", paper, 0.5, (0.4, 0.6), runs=4, paper_runs=5)
    assert (cell.agrees, cell.paper, cell.ours) == (agrees, paper, 0.5)
    assert cell.note.endswith(note)
    assert bool(cell.note) == (not agrees)


def test_without_a_range_nothing_is_compared():
    assert compared_with_runs("table1/a", 0.9, 0.5, (np.nan, np.nan), runs=1, paper_runs=5).agrees is None
