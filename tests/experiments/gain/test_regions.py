"""Plans of the balls in real data."""

import pytest

from uqassay.experiments.gain.regions import Regions


@pytest.mark.parametrize(("n", "neighbours", "least"), [(100_000, 500, 250), (1000, 5, 2), (100, 2, 2)])
def test_neighbours_grow_with_the_data(n, neighbours, least):
    regions = Regions(neighbour_share=0.005)
    assert (regions.neighbours(n), regions.least(n)) == (neighbours, least)


def test_the_sentence_has_every_number():
    text = Regions(neighbour_share=0.02, dense_share=0.3, n_balls=7, train_shares=(0.0, 0.1), test_share=0.2).sentence()
    for part in ("R: 30 %", "2.0 %", "at most 7 balls", "p = 0 and 10 % in turn", "q = 20 %"):
        assert part in text
