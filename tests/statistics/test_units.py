"""Units of a sample: checks, scale of weights, and the small-sample correction."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.notes import said
from tests.refusals import refuses

from uqassay.statistics import bootstrap_weights, kendall_tau_estimate, mean_estimate, proportion_estimate
from uqassay.statistics.units import (
    as_floats,
    check_choice,
    check_level,
    make_units,
    scaled_weights,
    small_sample_correction,
)


def exact_correction(weights):
    """Factors and degrees of freedom from the whole covariance of the residuals' sums, in exact fractions."""
    w = [Fraction(float(x)) for x in weights]
    total, g = sum(w), len(w)
    h, tau = [x / total for x in w], [x * x / sum(y * y for y in w) for x in w]
    sigma = [[-tau[i] * h[k] - h[i] * tau[k] + h[i] * h[k] + tau[i] * (i == k) for k in range(g)] for i in range(g)]
    a = [tau[i] / sigma[i][i] for i in range(g)]
    trace = sum(a[i] * a[k] * sigma[i][k] ** 2 for i in range(g) for k in range(g))
    return [float(x) for x in a], float(1 / trace)


@pytest.mark.parametrize("greatest", [1.0, 3.0, 1e3, 1e6, 1e10, 1e14])
@pytest.mark.parametrize("g", [2, 3, 9])
def test_correction_against_exact_fractions(greatest, g):
    weights = np.ones(g) + np.arange(g) % 2
    weights[g // 2] = greatest
    units = make_units(g, None, weights)
    a, dof = small_sample_correction(np.ones(g), units)
    expected, expected_dof = exact_correction(units.weights)
    np.testing.assert_allclose(a, expected, rtol=1e-9)
    assert dof == pytest.approx(expected_dof, rel=1e-9)


@pytest.mark.parametrize("greatest", [1e6, 1e10, 1e14])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_weight_that_dominates_gives_a_wide_interval(greatest, grouped):
    values, weights = np.array([1.0, 1.5, 2.0, 3.0]), np.array([greatest, 1.0, 1.0, 1.0])
    found = mean_estimate(values, sample_weight=weights, groups=[0, 1, 2, 2] if grouped else None)
    assert found == pytest.approx(1.0, abs=1e-5)
    assert found.low < -5
    assert found.high > 7


def test_negligible_weights_count_as_absent():
    found = mean_estimate([1.0, 2.0, 3.0], sample_weight=[1e300, 1.0, 1.0])
    assert (found, found.n, said(found)) == (1.0, 1, "1 case: no interval")
    assert scaled_weights([1e300, 2e300, 1.0], 3).tolist() == [0.5, 1.0, 0.0]


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e160, 1e307])
def test_estimates_do_not_depend_on_the_scale_of_the_weights(scale):
    rng = np.random.default_rng(0)
    x, weights, groups = rng.random(30), 2.0 ** rng.integers(0, 3, 30), rng.integers(0, 9, 30)
    for estimate in (
        lambda w: mean_estimate(x, sample_weight=w, groups=groups),
        lambda w: mean_estimate(x, sample_weight=w, method="bca", n_draws=200),
        lambda w: proportion_estimate(x > 0.3, sample_weight=w),
        lambda w: kendall_tau_estimate(x, x**2 + np.arange(30) % 3, sample_weight=w),
    ):
        one, other = estimate(weights), estimate(scale * weights)
        np.testing.assert_allclose([other, other.low, other.high], [one, one.low, one.high], rtol=1e-12)
        assert other.n == one.n


def test_drawn_weights_keep_the_given_scale():
    drawn = next(bootstrap_weights(4, sample_weight=[0.0, 50.0, 50.0, 50.0], n_draws=1))
    assert drawn.sum() == 150.0
    assert drawn[0] == 0.0


def test_proportion_of_equal_shares_is_not_known_exactly():
    # the mean of .3 fifty times differs from .3 by rounding, which is no spread
    found = proportion_estimate(np.full(50, 0.3))
    expected = proportion_estimate(np.full(50, 0.5))
    assert found.high - found.low == pytest.approx(expected.high - expected.low, rel=0.1)


X = [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("mask", [False, [0, 0, 1, 0]])
def test_masked_arrays_are_refused_at_every_door(mask):
    masked = np.ma.masked_array([0, 1, 0, 1], mask)
    for parameter, call in DOORS.items():
        with refuses(parameter, "masked"):
            call(masked)


DOORS = {
    "values": mean_estimate,
    "sample_weight": lambda odd: mean_estimate(X, sample_weight=odd),
    "groups": lambda odd: mean_estimate(X, groups=odd),
    "x": lambda odd: kendall_tau_estimate(odd, X),
    "strata": lambda odd: next(bootstrap_weights(4, strata=odd)),
}


def test_sparse_arrays_are_refused_at_every_door():
    for parameter, call in DOORS.items():
        with refuses(parameter, "sparse"):
            call(sparse.csr_array([[0, 1, 0, 1]]))


@pytest.mark.parametrize("odd", [np.array([1, "a", None, 2.0], dtype=object), [1, 2, 3, {}]])
def test_object_arrays_are_refused_at_every_door(odd):
    for parameter, call in DOORS.items():
        with refuses(parameter) as refusal:
            call(odd)
        assert refusal.value.code in ("type", "missing")


def test_rows_of_different_lengths_are_refused():
    with refuses("x", "ragged"):
        as_floats([[1.0, 2.0], [3.0]], "x", ndim=(1,), shape="(n,)")  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("groups", "code", "row"),
    [
        ([1.0, np.nan, 2.0, 2.0], "finite", 1),
        (["a", "b", float("nan"), "a"], "finite", 2),  # NumPy makes the text "nan" of it
        (("a", "b", "c", None), "missing", 3),
        (np.array(["a", "b", np.nan, "a"], dtype=object), "finite", 2),
        (np.array(["2026-01-01", "NaT", "2026-01-01", "NaT"], dtype="datetime64[D]"), "finite", 1),
        (pd.Series(["a", None, "b", "b"]), "missing", 1),
        (pd.Series([1.0, 2.0, 3.0, np.nan]), "finite", 3),
    ],
)
def test_groups_without_a_label_are_refused(groups, code, row):
    with refuses("groups", code, got=f"row {row} "):
        mean_estimate(X, groups=groups)


@pytest.mark.parametrize(
    "groups", [["nan", "a", "a", "nan"], np.array(["nan", "a", "a", "nan"]), pd.Series(list("abba"))]
)
def test_groups_named_by_texts(groups):
    assert mean_estimate(X, groups=groups).notes[0].facts == {"groups": 2}


@pytest.mark.parametrize("level", [None, "0.95", [0.5, 0.6], np.array([0.9]), True, np.nan, 0.0, 1.0, 95])
def test_invalid_levels_are_refused(level):
    with refuses("level", "range" if isinstance(level, int | float) and level is not True else "type"):
        check_level(level)


@pytest.mark.parametrize("level", [0.9, np.float32(0.9), np.array(0.9)])
def test_levels_of_any_kind_of_number(level):
    check_level(level)
    assert mean_estimate([0.0, 1.0], level=level).low < 0


@pytest.mark.parametrize("value", ["c", None, 1, np.array(["a", "b"]), ["a"]])
def test_a_choice_is_one_of_the_names(value):
    check_choice("a", "kind", ("a", "b"))
    with refuses("kind", "choice", got="must be 'a' or 'b'"):
        check_choice(value, "kind", ("a", "b"))
