"""Plans of the balls in real data."""

import numpy as np
import pytest

from uqassay.lab.datasets import disc_layout
from uqassay.lab.papers.gain.choices import Regions, ToyPlan


@pytest.mark.parametrize(("n", "neighbours", "least"), [(100_000, 500, 250), (1000, 5, 2), (100, 2, 2)])
def test_neighbours_grow_with_the_data(n, neighbours, least):
    regions = Regions(neighbour_share=0.005)
    assert (regions.neighbours(n), regions.least(n)) == (neighbours, least)


def test_the_sentence_has_every_number():
    text = Regions(neighbour_share=0.02, dense_share=0.3, n_balls=7, train_shares=(0.0, 0.1), test_share=0.2).sentence()
    for part in ("R: 30 %", "2.0 %", "at most 7 balls", "p = 0 and 10 % in turn", "q = 20 %"):
        assert part in text


def test_discs_of_the_toy_data_have_the_shares_that_are_asked_for():
    usual = ToyPlan().discs()
    for found, name in zip(usual, ("figure-2", "twelve-discs"), strict=True):
        assert (found.train_share == disc_layout(name).train_share).all()
    for found, other in zip(ToyPlan(train_share=0.05).discs(3), usual, strict=True):
        assert (found.train_share == 0.05).all()
        assert (found.centres == other.centres).all()
        assert (found.test_share == other.test_share).all()


def test_random_shares_belong_to_the_disc_and_the_run():
    plan = ToyPlan(train_share="random")
    first, again, other = (np.concatenate([d.train_share for d in plan.discs(seed)]) for seed in (0, 0, 1))
    assert (first == again).all()
    assert not (first == other).any()
    assert len(np.unique(first)) == 42
    many = np.concatenate([plan.discs(seed)[0].train_share for seed in range(100)])
    assert 0.0 <= many.min() < 0.001 < 0.499 < many.max() <= 0.5
    assert abs(many.mean() - 0.25) < 4 * 0.5 / np.sqrt(12 * len(many))
