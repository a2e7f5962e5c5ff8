"""Statements about the runs: what they say, and how often they say it of runs without the difference."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.lab.papers.gain.made import row

from uqassay.lab.papers.gain.tables import OurValues, finding_lines, mismatch_lines
from uqassay.statistics.components import mean_over_runs


@cache
def base_row():
    return row(6, n=60)


def with_values(values):
    """A row with given numbers of six runs, by estimator and column."""
    base = base_row()
    one = replace(base)
    made = {key: OurValues(np.array(v), mean_over_runs(v)) for key, v in values.items()}
    one.__dict__.update(values={**base.values, **made}, results=base.results)  # in place of what is computed once
    return one


def runs(rng, mean, sd=0.01, n=6):
    return rng.normal(mean, sd, n)


def test_statements_of_a_made_world():
    lines = finding_lines(row(4))
    text = "\n".join(lines)
    for part in (
        "which is between 5 and 30",
        "above 0.02 for the mutual information and entropy",
        "positive for the mutual information and entropy",
        "the runs do not show which is greater",
    ):
        assert part in text
    assert finding_lines(row(1)) == []


def test_estimates_that_follow_no_gain_are_not_called_positive():
    rng = np.random.default_rng(0)
    claimed = 0
    for _ in range(300):
        one = with_values({(e, "correlation"): runs(rng, 0.0) for e in ("entropy", "mutual-information")})
        claimed += "positive for the entropy" in "\n".join(finding_lines(one))
    assert claimed <= 16  # 2.5 % of 300 is 7.5; P(more than 16) < .002


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (0.05, "that of the entropy is greater, as in the paper"),
        (-0.05, "that of the entropy is smaller, unlike in the paper"),
    ],
)
def test_the_order_is_claimed_where_it_holds(difference, words):
    rng = np.random.default_rng(1)
    values = {
        ("entropy", "correlation"): runs(rng, 0.2 + difference),
        ("mutual-information", "correlation"): runs(rng, 0.2),
    }
    assert words in "\n".join(finding_lines(with_values(values)))


def test_the_order_of_equal_correlations_is_rarely_claimed():
    rng = np.random.default_rng(2)
    claimed = 0
    for _ in range(300):
        one = with_values({(e, "correlation"): runs(rng, 0.2) for e in ("entropy", "mutual-information")})
        claimed += "the runs do not show" not in "\n".join(finding_lines(one))
    assert claimed <= 28  # 5 % of 300 is 15; P(more than 28) < .001


@pytest.mark.parametrize(
    ("ratio", "words"), [(15, "which is between"), (3, "which is not between"), (5, "is not shown")]
)
def test_the_factor_of_the_errors(ratio, words):
    rng = np.random.default_rng(3)
    mutual = runs(rng, 0.02, 0.002)
    values = {("mutual-information", "eece"): mutual, ("entropy", "eece"): ratio * mutual * np.exp(runs(rng, 0, 0.05))}
    assert words in finding_lines(with_values(values))[0]


@pytest.mark.parametrize(
    ("mean", "words"), [(0.01, "at most 0.02. "), (0.05, "above 0.02 for the"), (0.02, "at most 0.02 is not shown")]
)
def test_the_size_after_the_calibration(mean, words):
    rng = np.random.default_rng(4)
    values = {(e, "calibrated"): runs(rng, mean, 0.002) for e in ("entropy", "mutual-information")}
    assert words in finding_lines(with_values(values))[1]


def test_mismatch_is_a_difference_in_the_same_runs():
    rng = np.random.default_rng(5)
    base = {(e, c): runs(rng, 0.1) for e in ("entropy", "mutual-information") for c in ("correlation", "calibrated")}
    moved = {**base, ("entropy", "correlation"): base["entropy", "correlation"] - 0.05 + runs(rng, 0, 0.001)}
    text = "\n".join(mismatch_lines(with_values(moved), with_values(base)))
    assert "loss in ρ, entropy minus mutual information: 0.050" in text
    assert "the entropy loses more" in text
    assert "ρ unchanged" in text  # that of the mutual information


def test_mismatch_of_other_seeds_is_not_compared():
    assert mismatch_lines(row(2), row(3)) == []
    assert mismatch_lines(row(1), row(1)) == []
