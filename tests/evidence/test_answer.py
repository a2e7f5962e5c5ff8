"""The answer: it says what the claims say, and covers the axis of λ."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from tests.evidence.verdict_cases import claims, judged, predicted

import uqassay as uq
from uqassay.evidence import Claim
from uqassay.evidence.answer import answer_from_claims
from uqassay.evidence.data import colour_order

pytestmark = pytest.mark.usefixtures("without_calibration")

N = 2000
CASES = {
    "clear": lambda: judged({"a": (0.15, 0.05), "b": (0.3, 0.05)}, N),
    "single": lambda: judged({"only": (0.15, 0.05)}, N),
    "tied": lambda: judged({"a": (0.15, 0.05), "b": (0.1502, 0.05), "c": (0.3, 0.05)}, N),
    "many tied": lambda: judged({"a": (0.15, 0.05), **{f"b{j}": (0.1501, 0.05) for j in range(7)}}, N),
    "two choices": lambda: judged({"a": (0.15, 0.3), "b": (0.4, 0.0)}, N),
    "two leaders": lambda: judged({"a": (0.150, 0.21), "b": (0.151, 0.209)}, 300),
    "partly": lambda: judged({"a": (0.15, 0.1), "b": (0.1502, 0.104), "c": (0.1501, 0.1)}, 1000),
    "tilted": lambda: judged({f"m{k}": (0.15 + 0.008 * k, 0.2 - 0.012 * k) for k in range(12)}, 1500),
    "none": lambda: judged({"bad": (0.75, 0.25), "worse": (0.8, 0.1)}, N, width=0.02),
    "open": lambda: judged({"a": (0.28, 0.12), "b": (0.3, 0.12)}, 6, width=0.24),
    "unseen": lambda: judged({"a": (0.02, 0.0), "b": (0.3, 0.05)}, 12, floor=None, width=0.01),
    "rests on inputs": lambda: judged({"a": (0.15, 0.05), "b": (0.3, 0.05)}, 300, floor=None),
    "groups": lambda: judged({"a": (0.15, 0.1), "b": (0.3, 0.1)}, 4000, groups=np.arange(4000) % 40, floor=1e-3),
    "one instance": lambda: judged({"a": (0.15, 0.01), "b": (0.3, 0.01)}, 1, width=0.0),
    "infinite": lambda: uq.assay({"sure": uq.Point([[1.0, 0.0], [1.0, 0.0]])}, [0, 1], floor=0),
    "same": lambda: uq.assay(
        {"a": predicted(0.15, 0.1, 400), "b": predicted(0.15, 0.1, 400)}, [0] * 400, floor=0.2, prior=[0.5, 0.5]
    ),
}
KINDS = {"none": "none", "open": "open", "one instance": "one-unit", "infinite": "infinite"}


@cache
def case(name):
    return CASES[name]()


@pytest.fixture(params=CASES)
def name(request):
    return request.param


def test_kind_of_every_case(name):
    answer = case(name).answer()
    assert answer.kind == KINDS.get(name, "choose")
    assert bool(answer.choices) == (answer.kind == "choose")
    assert bool(answer.lowest) == (answer.kind == "one-unit")
    assert answer.models == colour_order(case(name))
    assert answer is case(name).answer()


def test_every_model_has_one_place_in_every_choice(name):
    for choice in case(name).answer().choices:
        placed = [*choice.models, *choice.tied, *choice.partly, *choice.worse]
        assert sorted(placed) == sorted(case(name).model_names)
        assert set(choice.told) == set(choice.partly)


def test_choices_are_those_of_the_claims(name):
    """Each is better than the baselines, and worse are only models that a claim says to be worse, at every λ of the range."""
    assay = case(name)
    for choice in assay.answer().choices:
        ends = [(c.low, c.high) for m in choice.models for c in claims(assay, "model-better", models=(m,))]
        assert min(low for low, _ in ends) <= choice.low
        assert max(high for _, high in ends) >= choice.high
        for model in choice.worse:
            said = [
                c for c in claims(assay, "worse", models=(model,)) if c.others[0] in choice.models and c.low < c.high
            ]
            assert min(c.low for c in said) <= choice.low
            assert max(c.high for c in said) >= choice.high


def test_nothing_is_said_of_more_than_the_claims_hold(name):
    assay = case(name)
    answer = assay.answer()
    for low, high in answer.none:
        found = claims(assay, "baseline-better")
        assert any(c.low <= low and c.high >= high and c.facts.get("every_model") for c in found)
    groups = [g for g in claims(assay, "top-group") if g.facts.get("lowest")] if answer.choices else []
    for choice, group in zip(answer.choices, groups, strict=True):
        assert choice.low >= group.low - 0.01
        assert choice.high <= group.high + 0.01
        assert choice.models == group.models


def test_the_axis_has_no_gap(name):
    stretches = case(name).answer().stretches
    assert stretches[0].low == 0
    assert stretches[-1].high == np.inf
    assert all(a.high == b.low for a, b in pairwise(stretches))
    assert all(s.low < s.high for s in stretches)
    answer = case(name).answer()
    assert [(s.low, s.high) for s in stretches if s.kind == "none"] == list(answer.none)
    assert [(s.low, s.high, s.models) for s in stretches if s.kind == "choose"] == [
        (c.low, c.high, c.models) for c in answer.choices
    ]


def test_ties():
    (choice,) = case("tied").answer().choices
    assert (choice.models, choice.tied, choice.partly, choice.worse) == (("a",), ("b",), (), ("c",))
    (choice,) = case("partly").answer().choices
    assert (choice.models, choice.tied, choice.partly) == (("a",), ("c",), ("b",))
    (choice,) = case("two leaders").answer().choices
    assert choice.models == ("a", "b")


def test_others_are_in_the_order_of_their_means():
    (choice,) = case("many tied").answer().choices
    at_default = {r.model: float(r.estimate) for r in case("many tied").ranked(0.5)}
    assert list(choice.tied) == sorted(choice.tied, key=at_default.__getitem__)
    assert len(choice.tied) == 7


def test_conditions():
    assert {name: case(name).answer().condition for name in ("clear", "unseen", "groups")} == {
        "clear": "",
        "unseen": "unseen",
        "groups": "groups",
    }


def group(models, low, high, *, others=(), told=None):
    facts = {"lowest": [[low, high, models[0]]], "told": told or {}}
    return Claim("top-group", models, (*others, *(told or {})), low, high, facts=facts)


def test_a_border_that_two_ranges_share_is_rounded_into_the_one_that_says_more():
    assay = judged({"a": (0.15, 0.05), "b": (0.2, 0.02), "c": (0.3, 0.05)}, 400)
    below, above = group(("a",), 0.31234, 1.2367), group(("a", "b"), 1.2367, 6.0)  # b is worse up to 1.2367
    first, second = answer_from_claims(assay, (below, above)).choices
    assert (first.low, first.high, second.low, second.high) == (0.32, 1.23, 1.23, 6.0)
    below, above = (
        group(("a", "b"), 0.31234, 1.2367, others=("c",)),
        group(("b",), 1.2367, 6.0, told={"c": [[2.0, 3.0]]}),
    )
    first, second = answer_from_claims(assay, (below, above)).choices
    assert (first.high, second.low) == (1.24, 1.24)
    assert (first.tied, second.partly, second.worse) == (("c",), ("c",), ("a",))


def test_a_range_too_short_for_two_digits_keeps_its_ends():
    assay = judged({"a": (0.15, 0.05), "b": (0.2, 0.02), "c": (0.3, 0.05)}, 400)
    groups = (
        group(("a",), 0.3, 1.2312),
        group(("a", "b"), 1.2312, 1.2367),
        group(("a", "b"), 1.2367, 6.0, others=("c",)),
    )
    found = answer_from_claims(assay, groups).choices
    assert [(c.low, c.high) for c in found] == [(0.3, 1.23), (1.23, 1.2367), (1.2367, 6.0)]


def test_the_axis_ends_at_the_usual_tradeoffs_of_the_distance():
    assert case("clear").answer().top == 2.0
    n = 300
    brier = uq.assay(
        {"a": predicted(0.15, 0.1, n)}, [0] * n, distance="brier", prior=[0.5, 0.5], calibration=(), n_draws=20
    )
    assert brier.answer().top == max(2.0 * brier.tradeoff_scale(), 1.0)


def test_one_instance():
    answer = case("one instance").answer()
    assert [names for _, _, names in answer.lowest] == [("vacuous",), ("a",), ("class-prior",)]
    assert (answer.n_units, answer.grouped) == (1, False)
