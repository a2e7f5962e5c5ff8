"""The printed tables as rounded numbers, and the arithmetic on them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqassay.lab.papers.disentangling.printed import distance, mean, place_of, printed_values, terms
from uqassay.lab.papers.rounding import Rounded

NUMBERS = st.decimals(-1, 1, places=3).map(str)


def test_cells_are_found_by_name():
    values = printed_values()
    assert values.at(*place_of("table2/wine/MC-Dropout/IT")).value == 0.645
    assert values.at(*place_of("table2/average/MC-Dropout/IT/ci95")).value == 0.037
    assert values.at(*place_of("table3/cifar-10/MC-Dropout/GL/epistemic")).half == pytest.approx(0.005)  # two decimals
    assert len(values.numbers) == 16 + 80 + 3 * 80
    assert [round(term.value, 3) for term in terms(values, "wine", "MC-Dropout", "IT")] == [0.875, 0.272, 0.057, 0.873]


@given(NUMBERS, st.sampled_from([0.0, 1.0]), st.floats(0, 1))
def test_a_distance_holds_every_number_that_rounds_so(text, ideal, share):
    value = Rounded.read(text)
    inside = value.low + share * (value.high - value.low)
    found = distance(value, ideal)
    assert found.low - 1e-12 <= abs(inside - ideal) <= found.high + 1e-12
    assert found.value == abs(value.value - ideal)


@given(st.lists(st.tuples(NUMBERS, st.floats(0, 1)), min_size=1, max_size=6))
def test_a_mean_holds_every_mean(pairs):
    values = [Rounded.read(text) for text, _ in pairs]
    inside = sum(v.low + share * (v.high - v.low) for v, (_, share) in zip(values, pairs, strict=True)) / len(pairs)
    assert mean(values).low - 1e-12 <= inside <= mean(values).high + 1e-12
