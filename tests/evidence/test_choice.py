"""Which models to choose for which λ."""

import numpy as np
import pytest
from tests.evidence.verdict_cases import claims, judged, predicted

import uqassay as uq
from uqassay.evidence.choice import choices

N = 2000


def test_one_clear_model():
    (found,) = choices(judged({"a": (0.15, 0.1), "b": (0.3, 0.1)}, N))
    assert found.names == ("a",)
    assert list(found.worse) == ["b"]
    assert (found.tied, dict(found.partly), found.conditional) == ((), {}, False)


def test_two_leaders_are_told_apart_on_both_sides_of_their_crossing():
    """a: .15 + .3 λ, b: .4: they cross at λ = 5/6, and around it either may be better."""
    a = judged({"a": (0.15, 0.3), "b": (0.4, 0.0)}, N)
    first, middle, last = choices(a)
    assert (first.names, middle.names, last.names) == (("a",), ("a", "b"), ("b",))
    assert first.high == middle.low < 0.25 / 0.3 < middle.high == last.low
    assert first.high > 0.7
    assert last.low < 1.0
    assert last.high > 100
    assert claims(a, "worse", models=("b",), others=("a",), high=first.high)
    assert claims(a, "worse", models=("a",), others=("b",), low=last.low)
    assert not [c for c in claims(a, "worse") if c.low < middle.high and c.high > middle.low]


def test_two_leaders_that_cannot_be_told_apart_are_one_choice():
    a = judged({"a": (0.150, 0.21), "b": (0.151, 0.209)}, 300)
    (found,) = choices(a)
    assert found.names == ("a", "b")
    assert not claims(a, "worse")
    (group,) = [c for c in claims(a, "top-group") if "lowest" in c.facts]
    (_, change, _), (start, _, _) = group.facts["lowest"]
    assert change == start == pytest.approx(1.0, rel=0.3)


def test_a_range_ends_where_one_of_two_leaders_is_told():
    """b: the lower line from λ = 1 on, and told from a at great λ only."""
    a = judged({"a": (0.15, 0.2), "b": (0.16, 0.19)}, 300)
    both, alone = choices(a)
    assert (both.names, alone.names) == (("a", "b"), ("b",))
    assert 1 < both.high == alone.low < alone.high
    assert a.rank_sets(both.high * 1.02).is_better("b", "a")
    assert not a.rank_sets(both.high * 0.98).is_better("b", "a")


def test_models_that_lead_only_beyond_the_usual_tradeoffs_are_no_choice_before():
    """c: the lowest from λ = 5 on; it cannot be told from a below."""
    a = judged({"a": (0.150, 0.05), "c": (0.155, 0.049)}, 200)
    first, beyond = choices(a)
    assert first.names == ("a",)
    assert first.tied == ("c",)
    assert first.high == beyond.low == pytest.approx(5.0, rel=0.7)
    assert first.high > a.answer().top
    assert "c" in beyond.names


def test_others_that_can_be_told_in_a_part_only():
    """b is worse by λ · 0.004: told from a at large λ, not at small ones."""
    (found,) = choices(judged({"a": (0.15, 0.1), "b": (0.1502, 0.104), "c": (0.1501, 0.1)}, 1000))
    assert found.names == ("a",)
    assert list(found.partly) == ["b"]
    ((low, high),) = found.partly["b"]
    assert found.low < low < high == found.high
    assert found.tied == ("c",)


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
    assert (found.names, dict(found.worse), found.tied) == (("m",), {}, ())


def test_models_that_are_equal_everywhere():
    n = 400
    same = predicted(0.15, 0.1, n)
    a = uq.assay(
        {"a": same, "b": same}, np.zeros(n, dtype=int), floor=0.2, prior=[0.5, 0.5], calibration=(), n_draws=50
    )
    (found,) = choices(a)
    assert found.names == ("a",)
    assert found.tied == ("b",)
