"""Choice of λ: the envelope against exact fractions and a grid; the range of λ."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

from uqassay.metrics import lower_envelope, ranking_changes, tradeoff_range, tradeoff_scale

small = st.builds(Fraction, st.integers(0, 12), st.integers(1, 10))
lines = st.lists(st.tuples(small, small), min_size=1, max_size=7)


@st.composite
def pencils(draw):
    """Lines of which several pass through one point."""
    at, height = draw(small), draw(small) + 20
    slopes = draw(st.lists(small, min_size=2, max_size=6))
    through = [(height - at * slope, slope) for slope in slopes if height >= at * slope]
    return [*through, *draw(st.lists(st.tuples(small, small.map(lambda v: v + 2)), min_size=1, max_size=2))]


def exact_envelope(models):
    """Winners between all crossings, in exact arithmetic."""
    crossings = {(d - e) / (m - n) for d, n in models for e, m in models if n != m}
    ends = [Fraction(0), *sorted(c for c in crossings if c > 0)]
    found = []
    for i, low in enumerate(ends):
        inside = (low + ends[i + 1]) / 2 if i + 1 < len(ends) else low + 1
        values = [d + inside * n for d, n in models]
        winners = tuple(j for j, v in enumerate(values) if v == min(values))
        if not found or found[-1][1] != winners:
            found.append((low, winners))
    return found


@settings(deadline=None, max_examples=100)
@given(st.one_of(lines, pencils()))
def test_envelope_against_exact_fractions_and_a_fine_grid(models):
    d, ns = (np.array([float(line[i]) for line in models]) for i in (0, 1))
    # doubles keep equal fractions equal; lines through one point only nearly meet
    found = lower_envelope(d, ns)
    expected = exact_envelope(models)
    assert [w.models for w in found] == [winners for _, winners in expected]
    np.testing.assert_allclose([w.low for w in found], [float(low) for low, _ in expected], rtol=1e-9)
    assert [w.high for w in found] == [*(w.low for w in found[1:]), np.inf]
    grid = np.linspace(0, 1.5 * found[-1].low + 1, 2001)
    best = (d + grid[:, None] * ns).min(axis=1)
    winner = np.array([w.models[0] for w in found])[np.searchsorted([w.low for w in found], grid, side="right") - 1]
    np.testing.assert_allclose(d[winner] + grid * ns[winner], best, rtol=1e-11)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_middle_line_of_a_triple_crossing_never_wins(order):
    d, ns = np.array([0.6, 0.8, 0.4])[list(order)], np.array([0.5, 0.1, 0.9])[list(order)]
    first, second = lower_envelope(d, ns)
    assert (first.models, second.models) == ((order.index(2),), (order.index(1),))
    assert first.high == second.low == pytest.approx(0.5, rel=1e-12)


def test_a_line_that_leads_by_rounding_at_zero_never_wins():
    assert lower_envelope([0.3, 0.1 + 0.2], [0.5, 0.1]) == ((0.0, np.inf, (1,)),)


def test_a_narrow_interval_above_rounding_is_kept():
    found = lower_envelope([0.4, 0.6 - 1e-9, 0.8], [0.9, 0.5, 0.1])
    assert [w.models for w in found] == [(0,), (1,), (2,)]
    assert found[1].high - found[1].low == pytest.approx(5e-9, rel=1e-3)


def test_envelope_with_ties_and_infinite_distances():
    found = lower_envelope([0.2, np.inf, 0.2, 0.5, 0.2], [0.4, 0.0, 0.4, 0.1, 0.6])
    assert [w.models for w in found] == [(0, 2), (3,)]
    assert found[1].low == pytest.approx(1.0)
    with refuses("distance", "finite"):
        lower_envelope([np.inf], [0.0])


def test_changes_of_ranking_at_a_triple_crossing_are_all_listed():
    changes = ranking_changes([0.6, 0.8, 0.4], [0.5, 0.1, 0.9])
    assert sorted((a, b) for _, a, b in changes) == [(0, 1), (2, 0), (2, 1)]
    np.testing.assert_allclose([at for at, _, _ in changes], 0.5, rtol=1e-12)


@pytest.mark.parametrize("cost", [0, 0.25, np.float32(0.25), 1])
def test_tradeoff_range_holds_the_cost(cost):
    found = tradeoff_range(True, cost)
    assert found[:2] == (float(cost) / 2, min(1.0, 2 * float(cost)))
    assert f"λ near {float(cost):g}," in found.reason


@pytest.mark.parametrize(
    ("arguments", "parameter", "code", "got"),
    [
        ((True,), "abstention_cost", "type", "0.1 if ten"),
        ((True, "0.1"), "abstention_cost", "type", "got '0.1'"),
        ((True, [0.1]), "abstention_cost", "type", r"got \[0.1\]"),
        ((True, np.array([0.1, 0.2])), "abstention_cost", "type", "got ndarray"),
        ((True, 0.1j), "abstention_cost", "type", "got 0.1j"),
        ((True, True), "abstention_cost", "type", "got True"),
        ((True, float("nan")), "abstention_cost", "range", "got nan"),
        ((True, 1.5), "abstention_cost", "range", "got 1.5"),
        ((True, -0.1), "abstention_cost", "range", "got -0.1"),
        (("no",), "abstention_allowed", "type", "answer"),
        ((None, 0.1), "abstention_allowed", "type", "got None"),
    ],
)
def test_tradeoff_range_refuses(arguments, parameter, code, got):
    with refuses(parameter, code, got=got):
        tradeoff_range(*arguments)


def test_scale_of_lists_and_tensors():
    torch = pytest.importorskip("torch")
    assert tradeoff_scale([[0.1, 0.5], [0.2]], [[0.2], [20.0, 1.0]]) == 0.025
    assert tradeoff_scale([torch.tensor([1.0, 2.0])], [torch.tensor([1.0, 4.0])]) == 0.5
    with refuses("distances", "finite", got="inf"):
        tradeoff_scale([[np.inf]], [[1.0]])
