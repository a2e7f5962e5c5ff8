"""The headline: which model for which λ, in at most three lines."""

import re

import numpy as np
import pytest
from tests.evidence.verdict_cases import judged, predicted

import uqassay as uq

pytestmark = pytest.mark.usefixtures("without_calibration")

N = 2000
LINE, LINES = 110, 4  # characters of a line of the page


def test_one_clear_model():
    choose, below = judged({"a": (0.15, 0.05), "b": (0.3, 0.05)}, N).headline()
    assert re.fullmatch(r"For λ from 0\.2\d to \d+(\.\d+)? choose a\.", choose)
    assert re.fullmatch(r"Below λ = 0\.2\d no model is worth using; from 0\.2\d to 0\.2\d that cannot be told\.", below)


def test_a_single_model_is_named():
    (choose, below) = judged({"only": (0.15, 0.05)}, N).headline()
    assert choose.endswith("only is worth using.")
    assert "only is not worth using" in below


def test_models_that_cannot_be_told_apart_are_named():
    a = judged({"a": (0.15, 0.05), "b": (0.1502, 0.05), "c": (0.3, 0.05)}, N)
    assert a.headline()[0].endswith("choose a (b could be as good).")
    many = judged({"a": (0.15, 0.05), **{f"b{j}": (0.1501, 0.05) for j in range(7)}}, N)
    assert "choose a (each of the 7 others could be as good)." in many.headline()[0]


def test_a_change_of_the_choice_leaves_a_range_for_both():
    """They cross at λ = 5/6."""
    choose = judged({"a": (0.15, 0.3), "b": (0.4, 0.0)}, N).headline()[0]
    first, second = re.fullmatch(
        r"For λ from 0\.39 to (0\.\d+) choose a; for λ from \1 to (0\.\d+) a or b; for λ from \2 on b\.",
        choose,
    ).groups()
    assert float(first) < 5 / 6 < float(second)


def test_each_of_several_ranges_says_its_ties():
    """c has the mean E of a but for a thousandth, so that it could be as good where a is chosen, and not where b is."""
    choose = judged({"a": (0.15, 0.3), "b": (0.4, 0.0), "c": (0.1505, 0.3)}, N).headline()[0]
    first, *_, last = choose.split("; for λ")
    assert first.endswith(" choose a (c could be as good)")
    assert " b" in last
    assert "c could be as good" not in last


def test_models_with_the_same_mean_are_both_named():
    right = np.arange(40) % 4
    a = uq.assay({"a": uq.Answers(right > 1), "b": uq.Answers(right < 2), "c": uq.Answers(right > 3)}, calibration=())
    assert a.headline() == ("Choose a or b (which is better cannot be told).",)
    assert a.verdict()[1].startswith(
        "The lowest error rate, 0.500, is that of a and b; which is better cannot be told (p = "
    )
    same = uq.assay({"a": uq.Answers(right > 1), "b": uq.Answers(right > 1)}, calibration=())
    assert same.verdict()[1:] == (
        "The lowest error rate, 0.500, is that of a and b.",
        "The same loss in every case: a and b.",
    )


def test_the_first_stretch_says_that_it_is_of_tradeoffs():
    said = " ".join(judged({"a": (0.15, 0.05)}, 18).headline())
    assert not re.search(r"(^|\. )(Below|Above|From) \d", said)


def test_a_change_that_cannot_be_told():
    a = judged({"a": (0.150, 0.21), "b": (0.151, 0.209)}, 300)
    assert "choose a or b (where each is better cannot be told)." in a.headline()[0]


def test_a_baseline_is_better_everywhere():
    bad = judged({"bad": (0.75, 0.25), "worse": (0.8, 0.1)}, N, width=0.02)
    assert bad.headline() == (
        "At no λ is any model worth using: saying nothing or giving the class frequencies is better.",
    )
    one = judged({"bad": (0.75, 0.25)}, N, width=0.02)
    assert one.headline()[0].startswith("At no λ is bad worth using: ")


def test_nothing_can_be_told_of_few_instances():
    a = judged({"a": (0.28, 0.12), "b": (0.3, 0.12)}, 6, width=0.24)
    assert (
        a.headline()[0] == "At no λ is any model shown to be better than saying nothing and than the class frequencies."
    )


def test_losses_that_were_not_seen_are_a_condition():
    said = judged({"a": (0.02, 0.0), "b": (0.3, 0.05)}, 12, floor=None, width=0.01).headline()
    assert re.match(r"For λ (up|from|near) ", said[0])
    assert said[0].endswith(", unless a rare huge loss is missing from these 12 cases, too few to rule that out.")
    assert not any(text.startswith("For λ ") for text in said[1:])


def test_losses_on_other_inputs_are_a_condition():
    one = judged({"a": (0.15, 0.05), "b": (0.3, 0.05)}, 300, floor=None).headline()[0]
    assert re.fullmatch(
        r"For λ from 0\.\d+ to \d+\.\d+ choose a, if it gives the true class probability 0 in at most 1 of [\d,]+ cases unlike "
        r"these\.",
        one,
    )
    two = judged({"a": (0.15, 0.3), "b": (0.4, 0.0)}, 300, floor=None).headline()[0]
    assert re.search(
        r"; this holds if each of them gives the true class probability 0 in at most 1 of [\d,]+ cases", two
    )


@pytest.mark.parametrize(("n", "groups", "only"), [(1, None, "1 case"), (30, np.zeros(30), "1 group")])
def test_one_unit_says_only_what_is_in_it(n, groups, only):
    a = judged({"a": (0.15, 0.01), "b": (0.3, 0.01)}, n, groups=groups, width=0.0)
    assert a.headline() == (
        f"From {only} nothing can be said about other cases.",
        "In it the lowest mean E is that of saying nothing at all for λ up to 0.21, a for λ from 0.22 to 54.31 and the class "
        "frequencies for λ from 54.32 on.",
    )


@pytest.mark.parametrize("groups", [None, [0] * 6])
@pytest.mark.parametrize("sets", [False, True])
def test_one_unit_with_an_infinite_loss_has_no_p_value(groups, sets):
    n = 1 if groups is None else 6
    good = uq.Members([[[0.9, 0.1], [0.8, 0.2]]] * n) if sets else uq.Point([[0.9, 0.1]] * n)
    a = uq.assay({"a": good, "b": uq.Point([[0.0, 1.0]] * n)}, [0] * n, floor=0, groups=groups, calibration=())
    assert a.headline()[0] == f"From {'1 case' if groups is None else '1 group'} nothing can be said about other cases."
    assert not re.search(r"\bp [=<≤≥]", " ".join(a.verdict()))
    assert "worse" not in " ".join(a.verdict()).lower()
    for ranks in (a.rank_sets(0.5), a.rank_sets(0.0), a.rank_sets(metric="log-loss"), a.rank_sets(metric="brier")):
        assert np.isnan(ranks.comparisons.adjusted).all()
        assert not ranks.better.any()
    assert not [c for c in a.claims() if c.pvalue <= 0.05]
    assert "without intervals: from 1 " in a.ranking().to_markdown()
    assert "Without intervals: from 1 " in a.metrics().to_markdown()


def test_what_holds_at_every_positive_tradeoff_begins_at_a_number_that_can_be_read():
    """Sets that hold the label wholly have E = 0 at λ = 0, as saying nothing has."""
    a = judged({"a": (0.0, 0.05), "b": (0.3, 0.05)}, 2000, width=0.0, prior=[1.0, 0.0])
    (claim,) = [c for c in a.claims() if c.facts.get("every_model")]
    assert 0 < claim.low < 1e-5
    assert a.headline()[1] == "Above λ = 0.001 no model is worth using."
    assert not any("e-0" in text for text in a.verdict())


def test_infinite_means():
    a = uq.assay({"sure": uq.Point([[1.0, 0.0], [1.0, 0.0]])}, [0, 1], floor=0)
    assert a.headline() == ("No model has a finite log loss, so none can be chosen; give a floor above 0.",)


def test_equal_models():
    n = 400
    same = predicted(0.15, 0.1, n)
    labels = np.zeros(n, dtype=int)
    a = uq.assay({"a": same, "b": same}, labels, floor=0.2, prior=[0.5, 0.5], calibration=(), n_draws=20)
    assert a.headline()[0].endswith("choose a or b (which is better cannot be told).")


@pytest.mark.parametrize("j", [2, 4, 12])
@pytest.mark.parametrize("tilt", [0.0, 0.012])
def test_four_lines_hold_it(j, tilt):
    means = {f"model {k}": (0.15 + 0.008 * k, 0.2 - tilt * k) for k in range(j)}
    a = judged(means, 1500)
    said = a.headline()
    assert sum(-(-len(text) // LINE) for text in said) <= LINES
    assert said == a.verdict()[: len(said)]


def test_no_range_is_recommended_in_which_a_baseline_has_the_lower_mean():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        a = judged({f"m{j}": (rng.uniform(0.16, 0.5), rng.uniform(0.05, 0.2)) for j in range(3)}, 800)
        for name, low, high in re.findall(r"or λ from ([\d.]+) (?:to ([\d.]+)|on) choose (m\d)", a.headline()[0]):
            low, high, name = name, low or "1e3", high
            for at in (float(low), float(high)):
                e = {m.name: float(a.loss(m.name, at).mean()) for m in a.models}
                assert e[name] < min(e["vacuous"], e["class-prior"])


def test_another_distance_has_other_usual_tradeoffs():
    n = 1000
    a = uq.assay(
        {"a": predicted(0.15, 0.1, n), "b": predicted(0.3, 0.05, n)},
        np.zeros(n, dtype=int),
        distance="brier",
        prior=[0.5, 0.5],
        calibration=(),
        n_draws=20,
    )
    assert a.headline()[0].startswith("For λ ")


def test_marks_of_direction_cannot_turn_the_text_around():
    text = " ".join(judged({"a\u202ertl": (0.15, 0.05), "b\u2067": (0.3, 0.05)}, N).headline())
    assert r"a\u202ertl" in text
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def test_both_conditions_are_said_where_cases_come_in_groups():
    means = {"a": (0.15, 0.05), "b": (0.3, 0.05)}
    headline = judged(means, 300, floor=None, groups=np.arange(300) // 2).headline()[0]
    assert "choose a, if it gives the true class probability 0 in at most 1 of " in headline
    assert headline.endswith(
        " cases unlike these, unless huge losses strike whole groups, which 150 groups cannot rule out."
    )
