"""Comparisons of rankings: order of rows, groups and bad input. test_auc_and_c_index.py has further tests of them."""

import numpy as np
import pytest
from tests.metrics.ranking import equal_rankings
from tests.refusals import refuses

from uqassay.metrics.ranking import paired_ranking_test, pairwise_ranking_tests

ERRORS, SCORE = [0.0, 1.0, 0.0], [0.1, 0.7, 0.2]


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("metric", ["uq-auc", "aurc"])
def test_permutation_does_not_depend_on_the_order_of_rows(grouped, weighted, metric, random_generator):
    n, rng = 60, random_generator
    errors = (rng.random(n) < 0.3).astype(float)
    first, second = rng.integers(0, 4, n) + errors, rng.integers(0, 4, n) + 0.5 * errors  # with many ties
    groups = np.array(list("abcdefghijkl"))[rng.integers(0, 12, n)] if grouped else None
    weights = rng.integers(0, 4, n).astype(float) if weighted else None

    def pvalue(order):
        return paired_ranking_test(
            (errors[order], first[order]),
            (errors[order], second[order]),
            metric=metric,
            method="permutation",
            groups=None if groups is None else groups[order],
            sample_weight=None if weights is None else weights[order],
            n_draws=200,
        ).pvalue

    expected = pvalue(np.arange(n))
    assert 1 / 201 <= expected < 0.9
    assert {pvalue(rng.permutation(n)) for _ in range(4)} == {expected}


def test_groups_with_the_same_instances_are_interchangeable():
    errors, first, second = np.tile([0, 1, 0, 0, 1, 1.0], 4), np.tile([1, 3, 2, 1, 2, 3], 4), np.arange(24) % 5
    groups = np.arange(24) // 6
    swapped = np.r_[6:12, 0:6, 12:24]
    found = [
        paired_ranking_test((e, a), (e, b), method="permutation", groups=g, n_draws=50).pvalue
        for e, a, b, g in (
            (errors, first, second, groups),
            (errors[swapped], first[swapped], second[swapped], groups[swapped]),
            (errors, first, second, 3 - groups),
        )
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("call", "parameter", "code", "got"),
    [
        (lambda: paired_ranking_test(ERRORS, SCORE), "a", "type", "got list"),
        (lambda: paired_ranking_test((ERRORS, SCORE), SCORE), "b", "type", "got list"),
        (lambda: paired_ranking_test((ERRORS, SCORE), None), "b", "type", "got NoneType"),
        (lambda: paired_ranking_test((1.0, 2.0), (ERRORS, SCORE)), "a", "type", "got tuple"),
        (lambda: pairwise_ranking_tests([(ERRORS, SCORE)]), "rankings", "type", "got list"),
        (lambda: pairwise_ranking_tests({}), "rankings", "type", "got none"),
        (lambda: pairwise_ranking_tests({"x": ERRORS}), "rankings['x']", "type", ""),
        (
            lambda: pairwise_ranking_tests({"x": (ERRORS, SCORE), "y": (ERRORS[1:], SCORE[1:])}),
            "rankings",
            "mismatch",
            "'y' has 2",
        ),
        (lambda: paired_ranking_test((ERRORS, SCORE), (ERRORS, SCORE), level=None), "level", "type", ""),
    ],
)
def test_invalid_rankings_are_refused(call, parameter, code, got):
    with refuses(parameter, code, got=got):
        call()


@pytest.mark.usefixtures("without_detectable")
def test_no_pair_of_equal_rankings_is_separated_too_often():
    for world in (equal_rankings.scores_of_one_model(100, 10, 0.7, "binary"), equal_rankings.models(100, 10, 0.7)):
        shares = equal_rankings.false_pairs(world, 3, ("uq-auc", "aurc"), n_samples=40, seed=42)
        assert (shares <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 40)).all()


@pytest.mark.slow
@pytest.mark.usefixtures("without_detectable")
def test_the_standard_error_holds_in_groups_of_very_unequal_sizes():
    """A group has other shares of the errors than of the instances."""
    sizes = equal_rankings.group_sizes(30, equal=False)
    share, ratio = equal_rankings.error_of_two(sizes, 10, n_samples=500, seed=[30, 10])
    assert share <= 0.07
    assert ratio == pytest.approx(1, abs=0.07)
