"""Which model to choose for which λ."""

import numpy as np
import pytest
from tests.evidence.verdict_cases import claims, judged, predicted

import uqassay as uq
from uqassay.evidence.claims import better_ranges, choices

N = 2000


def test_one_clear_model():
    (found,) = choices(judged({"a": (0.15, 0.1), "b": (0.3, 0.1)}, N))
    assert found.names == ("a",)
    assert [name for name, _ in found.worse] == ["b"]
    assert (found.level_with, found.partly, found.conditional) == ((), (), False)


def test_two_leaders_are_told_apart_on_both_sides_of_their_crossing():
    """a: .15 + .3 λ, b: .4: they cross at λ = 5/6."""
    a = judged({"a": (0.15, 0.3), "b": (0.4, 0.0)}, N)
    first, second = choices(a)
    assert (first.names, second.names) == (("a",), ("b",))
    assert first.high < 0.25 / 0.3 < second.low
    assert first.high > 0.7
    assert second.low < 1.0
    assert second.high > 100
    assert claims(a, "worse", models=("b",), others=("a",), high=first.high)


def test_two_leaders_that_cannot_be_told_apart_are_one_choice():
    a = judged({"a": (0.150, 0.21), "b": (0.151, 0.209)}, 300)
    (found,) = choices(a)
    assert found.names == ("a", "b")
    assert not claims(a, "worse")
    (group,) = [c for c in claims(a, "top-group") if "lowest" in c.facts]
    (_, change, _), (start, _, _) = group.facts["lowest"]
    assert change == start == pytest.approx(1.0, rel=0.3)


def test_others_that_can_be_told_in_a_part_only():
    """b is worse by λ · 0.004: told from a at large λ, not at small ones."""
    (found,) = choices(judged({"a": (0.15, 0.1), "b": (0.1502, 0.104), "c": (0.1501, 0.1)}, 1000))
    assert found.names == ("a",)
    ((name, low, high),) = found.partly
    assert name == "b"
    assert found.low < low < high == found.high
    assert found.level_with == ("c",)


def test_ranges_of_a_pair_against_the_fixed_sequence_at_one_tradeoff():
    a = judged({"a": (0.15, 0.3), "b": (0.4, 0.0)}, N)
    (below,) = better_ranges(a, "a", ["b"], exact=True)["b"]
    (above,) = better_ranges(a, "b", ["a"], exact=True)["a"]
    assert below.low == 0
    assert below.high < 0.25 / 0.3 < above.low
    p = a.rank_sets(below.high).comparisons.pvalue[0, 1]
    assert p <= 0.05 / 2  # a half of alpha at the default λ
    assert better_ranges(a, "a", []) == {}


def test_nothing_is_chosen_where_a_baseline_is_better():
    """Never a range of λ in which the chosen model has a greater mean than a baseline."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        means = {f"m{j}": (rng.uniform(0.16, 0.6), rng.uniform(0.05, 0.25)) for j in range(4)}
        a = judged(means, 500)
        for choice in choices(a):
            for led in choice.leaders:
                for at in (led.low, min(led.high, 1e4)):
                    e = {m.name: float(a.loss(m.name, at).mean()) for m in a.models}
                    assert e[led.model] < min(e["vacuous"], e["class-prior"])
                    assert e[led.model] == pytest.approx(min(e.values()))


def test_no_model_is_better_than_all_baselines():
    assert choices(judged({"a": (0.8, 0.25), "b": (0.9, 0.1)}, 300, width=0.02)) == ()


def test_one_model_has_no_others():
    (found,) = choices(judged({"m": (0.15, 0.2)}, N))
    assert (found.names, found.worse, found.level_with, found.partly) == (("m",), (), (), ())


def test_models_that_are_equal_everywhere():
    n = 400
    same = predicted(0.15, 0.1, n)
    a = uq.assay(
        {"a": same, "b": same}, np.zeros(n, dtype=int), floor=0.2, prior=[0.5, 0.5], calibration=(), n_draws=50
    )
    (found,) = choices(a)
    assert found.names == ("a",)
    assert found.level_with == ("b",)
