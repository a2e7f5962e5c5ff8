"""The verdict in words, on assays whose numbers are known in closed form."""

import re

import numpy as np
import pytest

import uqassay as uq
from uqassay.evidence.verdict import verdict
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.wording import without_direction


def sentence_with(assay, words):
    """The one sentence of the verdict that holds these words."""
    found = [s for s in verdict(assay) if words in s]
    assert len(found) == 1, verdict(assay)
    return found[0]


def point(p, n):
    """n instances of label 0 with probability p each: distance −ln p, non-specificity 0."""
    return uq.Point(np.tile([p, 1 - p], (n, 1)))


def interval(low, high, n):
    """n instances of label 0 with probability low to high: distance −ln high, non-specificity (high − low) ln 2."""
    return uq.Intervals(np.tile([low, 1 - high], (n, 1)), np.tile([high, 1 - low], (n, 1)))


def noisy(p, n, seed):
    """Points that scatter around p."""
    q = np.clip(p + 0.2 * np.random.default_rng(seed).uniform(-1, 1, n), 0.01, 0.99)
    return uq.Point(np.column_stack([q, 1 - q]))


def test_breakpoint_against_theory():
    n = 200
    a = uq.assay({"set": interval(0.5, 0.9, n), "point": point(0.7, n)}, np.zeros(n, dtype=int), prior=[0.5, 0.5])
    breakpoint_ = (np.log(0.9) - np.log(0.7)) / (0.4 * np.log(2))  # ≈ 0.906
    first = verdict(a)[0]
    assert first == (
        f"At λ ≤ {breakpoint_:.2f} choose set (wins in more than 99.9 % of resamples at λ = 0.5); "
        "above, point (more than 99.9 % at λ = 2)."
    )


def test_one_winner_at_every_tradeoff():
    n = 200
    a = uq.assay({"better": point(0.8, n), "worse": interval(0.5, 0.7, n)}, np.zeros(n, dtype=int))
    assert verdict(a)[0] == "Choose better at every λ (wins in more than 99.9 % of resamples at λ = 0.5)."


def test_runner_up_against_ranking():
    n = 400
    models = {"a": noisy(0.7, n, 1), "b": noisy(0.7, n, 2), "c": noisy(0.4, n, 3)}
    a = uq.assay(models, np.zeros(n, dtype=int), prior=[0.5, 0.5])
    at = DEFAULT_TRADEOFF
    first, second, third = [r for r in a.ranked(at) if r.rank is not None]
    assert second.pvalue_adjusted > 0.05 > third.pvalue_adjusted
    sentence = sentence_with(a, "runner-up")
    assert f"mean E of {first.model} is {float(first.estimate):.3f}" in sentence
    assert f"the runner-up, {second.model}, is {float(second.difference):.3f}" in sentence
    assert "could be chance" in sentence
    assert f"p = {second.pvalue_adjusted:.2f}".replace("0.", ".") in sentence
    assert "and so could" not in sentence


def test_a_clear_difference_is_hardly_chance():
    n = 400
    a = uq.assay({"good": noisy(0.75, n, 1), "bad": noisy(0.3, n, 2)}, np.zeros(n, dtype=int))
    assert "hardly chance (p < .001, Holm)" in sentence_with(a, "runner-up")


def test_every_unclear_difference_is_named():
    n = 100
    models = {name: noisy(0.6, n, seed) for seed, name in enumerate("abcd")}
    a = uq.assay(models, np.zeros(n, dtype=int))
    rows = [r for r in a.ranked(DEFAULT_TRADEOFF) if r.rank is not None]
    assert all(r.pvalue_adjusted > 0.05 for r in rows[1:])
    assert sentence_with(a, "runner-up").endswith(
        f"and so could what separates it from {rows[2].model} and {rows[3].model}."
    )


def test_models_that_tie_are_both_named():
    n = 50
    a = uq.assay({"a": point(0.8, n), "b": point(0.8, n), "c": point(0.6, n)}, np.zeros(n, dtype=int))
    assert verdict(a)[0] == "Choose a or b (equal throughout) at every λ (win in 50.0 % of resamples each at λ = 0.5)."
    assert "b has the same" in sentence_with(a, "mean E of a")


def test_shares_of_tied_models_are_those_of_the_ranking():
    n = 60
    models = {name: point(0.7, n) for name in "abc"}
    a = uq.assay(models, np.zeros(n, dtype=int), prior=[0.5, 0.5])
    share = next(r for r in a.ranked(0.5) if r.rank == 1).win_share
    assert share == pytest.approx(1 / 3)
    assert "win in 33.3 % of resamples each" in verdict(a)[0]


def test_a_model_below_a_baseline_is_said_to_be_so():
    n = 60
    y = np.repeat([0, 1], n // 2)
    a = uq.assay({"good": uq.Point(np.eye(2)[y] * 0.8 + 0.1), "bad": uq.Point(np.eye(2)[1 - y] * 0.8 + 0.1)}, y)
    assert verdict(a)[3] == (
        "At λ = 0.5 saying nothing at all (vacuous) and the class frequencies (class-prior) do better than bad "
        "(by the same in every instance)."
    )


def test_where_saying_nothing_is_best_against_theory():
    """λ ln 2 < −ln 0.9 + λ 0.4 ln 2 below λ = −ln 0.9 / (0.6 ln 2), which takes all that the set model would win."""
    n = 50
    a = uq.assay({"set": interval(0.5, 0.9, n), "point": point(0.85, n)}, np.zeros(n, dtype=int), prior=[0.5, 0.5])
    change = a.winners()[1][0]
    vacuous = -np.log(0.85) / np.log(2)
    assert change == pytest.approx(np.log(0.9 / 0.85) / (0.4 * np.log(2)))
    assert change < vacuous
    assert verdict(a)[1] == (
        f"Below λ = {vacuous:.2f} saying nothing at all (vacuous) has a lower mean E than any model."
    )


def test_a_baseline_that_is_best_at_every_tradeoff():
    n = 40
    y = np.zeros(n, dtype=int)
    a = uq.assay({"a": point(0.5, n), "b": point(0.6, n)}, y)  # the class frequencies are always right
    assert verdict(a)[1] == (
        "At every λ the class frequencies (class-prior) have a lower mean E than any model "
        "(at λ = 0.5 by the same in every instance)."
    )


def test_a_baseline_in_the_middle():
    n = 100
    y = np.repeat([0, 1], [90, 10])
    h = -(0.9 * np.log(0.9) + 0.1 * np.log(0.1))  # of the class frequencies
    a = uq.assay({"a": uq.Point(np.full((n, 2), 0.5)), "b": uq.Point(np.tile([0.6, 0.4], (n, 1)))}, y)
    assert sentence_with(a, "than any model") == (
        f"Below λ = {h / np.log(2):.2f} saying nothing at all (vacuous) has a lower mean E than any model; "
        f"above λ = {h / np.log(2):.2f} the class frequencies (class-prior) have a lower mean E than any model "
        "(at λ = 0.5 hardly chance, p < .001, Holm)."
    )


@pytest.mark.parametrize(
    ("spread", "words"), [(0.2, "(hardly chance, p < .001, Holm)"), (0.0, "(could be chance, p = ")]
)
def test_claims_of_baselines_are_tested(spread, words):
    n = 100
    rng = np.random.default_rng(2)
    y = np.zeros(n, dtype=int)
    at = 0.5
    q = np.exp(-at * np.log(2) - 0.01 - spread - 0.3 * rng.standard_normal(n) * (1 - spread))
    q = np.clip(q, 0.001, 0.999)
    losing = uq.Point(np.column_stack([q, 1 - q]))
    a = uq.assay({"losing": losing, "good": point(0.95, n)}, y, prior=[0.3, 0.7])
    test = a.compare("losing", "vacuous", tradeoff=at)
    assert float(test.difference) > 0
    claim = sentence_with(a, "(vacuous) does better than losing")
    assert words in claim
    if spread == 0:
        assert f"p = {test.pvalue:.2f}".replace("0.", ".") in claim
        assert test.pvalue > 0.05


def test_one_group_leaves_nothing_to_resample():
    n = 30
    a = uq.assay({"a": noisy(0.8, n, 1), "b": noisy(0.6, n, 2)}, np.zeros(n, dtype=int), groups=["g"] * n)
    assert a.n_units == 1
    assert verdict(a)[0] == "Choose a at every λ (how surely cannot be said: 1 group, nothing to resample)."


def test_reference_of_another_distance_in_terms_of_kl():
    n = 50
    models = {"a": point(0.8, n), "b": point(0.01, n)}
    a = uq.assay(models, np.zeros(n, dtype=int), distance="js")
    scale = a.tradeoff_scale()
    assert 0.5 / scale > 2
    told = sentence_with(a, "With this distance")
    assert f"as λ = {0.5 / scale:.2f} does with KL" in told
    assert told.endswith(f"end here at {2 * scale:.2f}.")
    kl = uq.assay(models, np.zeros(n, dtype=int))
    assert not [s for s in verdict(kl) if "With this distance" in s]


def test_marks_of_direction_cannot_turn_the_verdict_around():
    n = 30
    a = uq.assay({"a\u202ertl": point(0.8, n), "b\u2067": point(0.6, n)}, np.zeros(n, dtype=int))
    text = " ".join(verdict(a))
    assert "a\ufffdrtl" in text
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
    assert without_direction("plain – λ") == "plain – λ"


def test_all_models_below_one_baseline():
    n = 60
    y = np.repeat([0, 1], n // 2)
    models = {name: uq.Point(np.full((n, 2), 0.5)) for name in ("a", "b")}
    assert sentence_with(uq.assay(models, y), "(vacuous)") == (
        "Below λ = 1 saying nothing at all (vacuous) has a lower mean E than any model "
        "(at λ = 0.5 by the same in every instance)."
    )


def test_one_model_stands_against_the_baselines():
    n = 100
    y = np.repeat([0, 1], n // 2)
    a = uq.assay({"only": uq.Point(np.eye(2)[y] * 0.8 + 0.1)}, y)
    d = -np.log(0.9)
    assert verdict(a) == (
        f"At λ = 0.5 the mean E of only, the only model, is {d:.3f}, better than saying nothing at all "
        f"({np.log(2) / 2:.3f}) and the class frequencies ({np.log(2):.3f}).",
        f"Below λ = {d / np.log(2):.2f} saying nothing at all (vacuous) has a lower mean E than any model.",
        "only is neither confidence nor classwise calibrated (p ≤ .006), adjusted by Holm for 2 tests.",
    )


def test_one_model_stands_against_the_baselines_with_a_test():
    n = 200
    a = uq.assay({"only": noisy(0.8, n, 1)}, np.zeros(n, dtype=int), prior=[0.5, 0.5])
    p = max(a.compare("only", name, tradeoff=0.5).pvalue for name in ("vacuous", "class-prior"))
    assert p < 0.0005
    assert verdict(a)[0].count("p < .001, Holm") == 2


@pytest.mark.parametrize("clear", [True, False])
def test_a_subgroup_in_which_another_model_wins(clear):
    n = 400
    night = np.arange(n) < (100 if clear else 6)
    rng = np.random.default_rng(5)
    day_model, night_model = np.where(night, 0.4, 0.9), np.where(night, 0.8 if clear else 0.45, 0.6)
    p = [np.clip(q + 0.1 * rng.uniform(-1, 1, n), 0.01, 0.99) for q in (day_model, night_model)]
    models = {name: uq.Point(np.column_stack([q, 1 - q])) for name, q in zip(("day", "dusk"), p, strict=True)}
    a = uq.assay(models, np.zeros(n, dtype=int), subgroups={"time": np.where(night, "night", "noon")}, prior=[0.5, 0.5])
    found = [s for s in verdict(a) if s.startswith("Where time is night")]
    if not clear:
        assert not found
        return
    expected = float((-np.log(p[0]) + np.log(p[1]))[night].mean())
    assert re.match(
        rf"Where time is night \(100 instances\) dusk does better than day at λ = 0.5, by {expected:.3f}", found[0]
    )


def test_an_infinite_loss_is_said():
    sure, unsure = uq.Point([[1.0, 0.0], [1.0, 0.0]]), uq.Point([[0.6, 0.4], [0.5, 0.5]])
    a = uq.assay({"sure": sure, "unsure": unsure}, [0, 1], floor=0)
    assert "that of the runner-up, sure, is infinite" in sentence_with(a, "runner-up")
    assert verdict(uq.assay({"sure": sure}, [0, 1], floor=0)) == (
        "No model has a finite mean E, so none can be chosen; give a floor above 0.",
    )


def test_a_single_instance_has_no_test():
    a = uq.assay({"a": uq.Point([[0.9, 0.1]]), "b": uq.Point([[0.8, 0.2]])}, [0])
    assert verdict(a)[0] == "Choose a at every λ (how surely cannot be said: 1 instance, nothing to resample)."
    assert sentence_with(a, "runner-up") == (
        "At λ = 0.5 the mean E of a is 0.105; the runner-up, b, is 0.118 worse, whether by chance cannot be said "
        "(1 instance: no interval and no test)."
    )


def test_many_winners_are_counted():
    n = 20
    d = [0.1, 0.15, 0.22, 0.31, 0.42, 0.55]  # a convex chain: each wins somewhere
    ns = [0.6, 0.48, 0.36, 0.24, 0.12, 0.0]
    models = {}
    for j, (a, b) in enumerate(zip(d, ns, strict=True)):
        high = np.exp(-a)
        models[f"m{j}"] = interval(high - b / np.log(2) * 0.6, high, n)
    a = uq.assay(models, np.zeros(n, dtype=int), prior=[0.5, 0.5])
    assert len(a.winners()) == 6
    first = verdict(a)[0]
    assert first.endswith("In all the winner changes 5 times.")
    assert first.count("%") == 3  # the winners up to λ = 1, the largest of the findings


def test_names_stand_as_they_were_given():
    n = 30
    name = "<img src=x onerror=alert(1)>"
    a = uq.assay({name: point(0.8, n), "b": point(0.6, n)}, np.zeros(n, dtype=int))
    assert name in verdict(a)[0]


@pytest.mark.parametrize("tradeoffs", [[3.0, 0.25, 1.0], [0.5], [0.01, 0.02], [2.0, 1.0], [0.25]])
def test_the_default_tradeoff_does_not_follow_those_of_the_findings(tradeoffs):
    models, y = {"a": noisy(0.8, 60, 1), "b": noisy(0.6, 60, 2)}, np.zeros(60, dtype=int)
    assert verdict(uq.assay(models, y, tradeoffs=tradeoffs)) == verdict(uq.assay(models, y))
    assert "At λ = 0.5 the mean E of a" in sentence_with(uq.assay(models, y, tradeoffs=tradeoffs), "runner-up")


def test_a_baseline_below_every_model_is_told_once():
    """λ ln 2 of the vacuous statement against −ln p: at λ = 0.5 it is lower for p < 0.707."""
    n = 60
    models = {"a": noisy(0.4, n, 1), "b": noisy(0.69, n, 3)}
    a = uq.assay(models, np.zeros(n, dtype=int), prior=[0.5, 0.5])
    p = {name: a.compare(name, "vacuous", tradeoff=0.5).pvalue for name in "ab"}
    assert p["a"] < 0.0005
    assert p["b"] > 0.05
    said = sentence_with(a, "(vacuous)")
    assert "has a lower mean E than any model (at λ = 0.5 against a hardly chance, p < .001, Holm; against b" in said
    assert f"against b could be chance, p = {p['b']:.2f}, Holm).".replace("0.", ".") in said
    assert sentence_with(a, "(class-prior)").startswith(
        "At λ = 0.5 the class frequencies (class-prior) do better than a"
    )
