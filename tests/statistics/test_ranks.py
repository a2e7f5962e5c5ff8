"""Rank sets against counting by hand, with ties, references and pairs without a test."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.statistics import pairwise_mean_tests, rank_sets


def compared(rng, shifts, **options):
    values = {name: rng.normal(size=60) + shift for name, shift in shifts.items()}
    return pairwise_mean_tests(values, **options)


@pytest.mark.parametrize("greater", [False, True])
def test_ranks_against_counting(greater, random_generator):
    found = compared(random_generator, {"a": 0.0, "b": 0.1, "c": 0.9, "d": 1.0, "e": 2.5})
    ranks = rank_sets(found, level=0.9, greater_is_better=greater)
    sign = -1 if greater else 1
    for j in range(5):
        better = [
            k for k in range(5) if found.adjusted[k, j] <= 0.1 and sign * found.values[k] < sign * found.values[j]
        ]
        worse = [k for k in range(5) if found.adjusted[k, j] <= 0.1 and sign * found.values[k] > sign * found.values[j]]
        assert (ranks.low[j], ranks.high[j]) == (1 + len(better), 5 - len(worse))
        assert ranks.top[j] == (not better)
        assert np.flatnonzero(ranks.better[:, j]).tolist() == better
        for k in range(5):
            assert ranks.is_better(found.names[k], found.names[j]) == (k in better)
    assert ranks.better.any()
    assert not ranks.better.all(axis=0).any()
    assert ranks.top_names == tuple(np.array(found.names)[ranks.top])
    assert ranks.level == 0.9


def test_references_are_compared_and_not_ranked(random_generator):
    found = compared(random_generator, {"a": 0.0, "b": 2.0, "r": 1.0, "s": 4.0}, references=["r", "s"])
    ranks = rank_sets(found)
    assert ranks.names == ("a", "b")
    assert (ranks.low.tolist(), ranks.high.tolist()) == ([1, 2], [1, 2])
    assert ranks.is_better("r", "b")
    assert not ranks.is_better("b", "r")
    plain = ranks.to_dict()
    assert [row["model"] for row in plain["models"]] == ["a", "b"]
    assert [row["top"] for row in plain["models"]] == [True, False]
    assert ["r", "b"] in plain["better"]
    assert ["a", "s"] in plain["better"]
    assert ["r", "s"] not in plain["better"]  # not compared


def test_models_without_a_test_can_have_every_rank(random_generator):
    x = random_generator.normal(size=(3, 40))
    ranks = rank_sets(pairwise_mean_tests({"a": x[0], "inf": np.full(40, np.inf), "far": x[1] + 3}))
    assert (ranks.low.tolist(), ranks.high.tolist()) == ([1, 1, 2], [2, 3, 3])
    assert ranks.top_names == ("a", "inf")
    same = rank_sets(pairwise_mean_tests({"a": x[0], "b": x[0]}))
    assert (same.low.tolist(), same.high.tolist()) == ([1, 1], [2, 2])
    alone = rank_sets(pairwise_mean_tests({"a": [1.0]}))
    assert (alone.low.tolist(), alone.high.tolist(), alone.top_names) == ([1], [1], ("a",))


def test_bad_levels_and_names_are_refused(random_generator):
    found = compared(random_generator, {"a": 0.0, "b": 0.1})
    with refuses("level", "range"):
        rank_sets(found, level=95)
    with refuses("comparisons", "type", got="ndarray"):
        rank_sets(found.adjusted)
    with refuses("model", "choice", got="'c'"):
        rank_sets(found).is_better("a", "c")
