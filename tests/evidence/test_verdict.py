"""The sentences after the headline, on assays whose numbers are known."""

import re

import numpy as np
import pytest
from tests.evidence.verdict_cases import claims, judged, noise, predicted

import uqassay as uq
from uqassay.evidence.sentences import details, verdict
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.report.sentences import answer_choices
from uqassay.text import pvalue_text, significant, visible

SITE = np.array(["a", "b", "c", "d", "e"])


def sentence_with(assay, words):
    """The one sentence after the headline that holds these words."""
    found = [s for s in details(assay) if words in s]
    assert len(found) == 1, details(assay)
    return found[0]


def absent(assay, words):
    assert not [s for s in verdict(assay) if words in s], verdict(assay)


def test_the_headline_comes_first():
    a = judged({"a": (0.15, 0.1), "b": (0.3, 0.1)}, 2000)
    assert verdict(a) == (*a.headline(), *details(a)) == a.verdict()


def test_the_best_and_the_worse_against_the_ranking():
    a = judged({"a": (0.15, 0.1), "b": (0.3, 0.1), "c": (0.4, 0.1)}, 2000)
    first, second, third = [r for r in a.ranked(0.5) if r.rank is not None]
    assert sentence_with(a, "lowest mean E, ") == (  # without an interval, as the model was chosen for its low mean
        f"At λ = 0.5 a has the lowest mean E, {float(first.estimate):.3f}, and is the best of the 3 models "
        "(p < .001, adjusted for all pairs)."
    )
    assert sentence_with(a, "Worse than") == (
        f"Worse than a at λ = 0.5: b by {float(second.difference):.3f} and c by {float(third.difference):.3f} "
        "(p < .001, adjusted for all pairs)."
    )


def test_what_could_be_as_good():
    a = judged({"a": (0.15, 0.1), "b": (0.1502, 0.1), "c": (0.4, 0.1)}, 600)
    b = next(r for r in a.ranked(0.5) if r.model == "b")
    assert b.pvalue_adjusted > 0.05
    told = sentence_with(a, "lowest mean E, ")
    assert told.endswith(
        f"; b could be as good ({pvalue_text(b.pvalue_adjusted)}, adjusted for all pairs); "
        f"a true difference of {significant(b.detectable, 2)} would have been found 4 times in 5."
    )
    assert 0.001 < b.detectable < 0.2
    assert ": c by 0.2" in sentence_with(a, "Worse than a at λ = 0.5")


def test_worse_than_another_model_than_the_winner():
    """c is close to v and always worse; w, the lowest mean, scatters too much to be told from c."""
    n = 400
    near, far = noise(n, 1, 0.1), noise(n, 2, 0.25)
    losses = {"w": 0.298 + far, "v": 0.30 + near, "c": 0.312 + near + noise(n, 3, 0.01)}
    models = {name: predicted(d, 0.05, n) for name, d in losses.items()}
    a = uq.assay(models, np.zeros(n, dtype=int), floor=0.2, prior=[0.5, 0.5], calibration=(), measures=(), n_draws=200)
    ranks = a.rank_sets(0.5)
    assert (ranks.is_better("w", "c"), ranks.is_better("v", "c")) == (False, True)
    assert "v could be as good (p" in sentence_with(a, "has the lowest mean E, ")
    assert sentence_with(a, "Worse than") == "Worse than v at λ = 0.5: c by 0.012 (p < .001, adjusted for all pairs)."
    (card,) = answer_choices(a.answer())
    assert card.others == (("Could be as good", ("v",)), ("Not as good at any of these λ", ("c",)))
    assert a.headline()[0].endswith("choose w (v could be as good).")


def test_many_models_are_counted():
    a = judged({"a": (0.15, 0.1), **{f"b{j}": (0.3 + 0.01 * j, 0.1) for j in range(6)}}, 2000)
    assert re.search(
        r": b0 by 0\.1\d+, b1 by 0\.1\d+, b2 by 0\.1\d+ and 3 others by more", sentence_with(a, "Worse than a")
    )


def test_losses_that_were_not_seen_and_what_bounded_losses_tell():
    a = judged({"a": (0.001, 0.0), "b": (0.3, 0.0)}, 60, floor=None, width=0.0005)
    assert sentence_with(a, "too rare") == (
        "In these 60 cases a does better than b, but losses as great as these predictions allow, and too rare to be seen in 60 "
        "cases, could reverse that; by the Brier score b is not as good; a greater floor or a bounded distance, such as "
        "brier, can tell more."
    )
    absent(judged({"a": (0.15, 0.1), "b": (0.22, 0.1)}, 300, floor=None), "too rare")


def test_a_few_large_losses_are_named():
    n = 300
    d = np.full(n, 0.1)
    d[:4] = 1.4
    a = uq.assay(
        {"a": predicted(0.1 + noise(n, 1, 0.02), 0.1, n), "b": predicted(d + noise(n, 2, 0.02), 0.1 * (d < 1), n)},
        np.zeros(n, dtype=int),
        floor=0.2,
        prior=[0.5, 0.5],
        calibration=(),
        n_draws=20,
    )
    limited = next(r.limited_by for r in a.ranked(0.5) if r.model == "b")
    assert ("comes from a few large losses" in " ".join(details(a))) == (limited == "skewness")


def test_the_same_losses_are_said():
    n = 100
    x, y = predicted(0.2, 0.1, n), predicted(0.3 + noise(n, 1), 0.1, n)
    labels = np.zeros(n, dtype=int)
    a = uq.assay({"a": x, "b": y, "c": x, "d": y}, labels, calibration=(), n_draws=20, floor=0.2)
    assert sentence_with(a, "same loss") == "The same loss in every case: a and c; b and d."


def test_a_constant_difference_is_said():
    a = judged({"a": (0.15, 0.0), "b": (0.3, 0.0)}, 2000, width=0.0)
    assert ": b by 0.150 in every case" in sentence_with(a, "Worse than a")


def test_where_each_of_several_choices_is_lowest():
    a = judged({"a": (0.150, 0.21), "b": (0.151, 0.209)}, 300)
    change = a.winners()[0][1]
    told = sentence_with(a, "the lowest mean E is that of a up to")
    assert told.startswith("For λ from 0.")
    assert told.endswith(f" the lowest mean E is that of a up to λ = {change:.2g}, then that of b.")


def test_baselines_are_named():
    a = judged({"good": (0.15, 0.1), "bad": (0.5, 0.1)}, 1000)
    assert re.fullmatch(
        r"Below λ = 0\.2\d saying nothing at all \(vacuous\) does better than every model; above λ = 5\.\d+ the class "
        r"frequencies \(class-prior\) do better than every model; at λ = 0\.5 saying nothing at all does better than bad "
        r"\(p < \.001\)\.",
        sentence_with(a, "(vacuous)"),
    )


def test_a_baseline_that_is_best_at_the_default_is_told_once():
    a = judged({"a": (0.6, 0.1), "b": (0.65, 0.1)}, 1000, width=0.02)
    assert "at λ = 0.5" not in sentence_with(a, "(vacuous)")


def test_subgroups_are_named_and_counted():
    n = 2000
    site = SITE[np.arange(n) % 5]
    other = np.where(site == "a", 0.35, 0.12)  # b is better in all sites but one
    models = {
        "a": predicted(0.15 + noise(n, 1), 0.1, n),
        "b": predicted(other + 0.5 * (site == "a") + noise(n, 2), 0.1, n),
    }
    labels = np.zeros(n, dtype=int)
    a = uq.assay(models, labels, floor=0.2, prior=[0.5, 0.5], subgroups={"site": site}, calibration=(), n_draws=20)
    assert len(claims(a, "subgroup")) == 4
    said = sentence_with(a, "Better than a")
    assert said.count("where site is") == 3
    assert "b by 0.03" in said
    assert said.endswith(
        "(400 cases); some model in 1 more part; p < .001, adjusted for all pairs of models in all 5 parts."
    )


def test_shares_of_resamples():
    a = judged({"a": (0.15, 0.1), "b": (0.1502, 0.1)}, 300)
    share = next(r.win_share for r in a.ranked(0.5) if r.rank == 1)
    assert (
        sentence_with(a, "of resamples") == f"In {100 * share:.1f} % of resamples a has the lowest mean E at λ = 0.5."
    )


@pytest.mark.parametrize(("n_draws", "n_sentences"), [(99, 0), (100, 1)])
def test_few_resamples_make_no_sentence(n_draws, n_sentences):
    y = np.arange(60) % 2
    models = {"a": uq.Point(0.7 * np.eye(2)[y] + 0.15), "b": uq.Point(0.5 * np.eye(2)[y] + 0.25)}
    said = uq.assay(models, y, calibration=(), n_draws=n_draws).verdict()
    assert sum("of resamples" in line for line in said) == n_sentences


def test_refusal_that_helps_and_that_need_not():
    n = 1000
    p = np.linspace(0.55, 0.99, n)
    rng = np.random.default_rng(1)
    options = {"calibration": (), "n_draws": 20}
    helps = uq.assay({"m": uq.Point(np.column_stack([p, 1 - p]))}, (rng.random(n) > p).astype(int), **options)
    assert re.match(
        r"Refuse the 10 % that m is most unsure of \(.+\) and its accuracy rises from 7", sentence_with(helps, "Refuse")
    )
    blind = uq.assay({"m": uq.Point(np.column_stack([p, 1 - p]))}, (rng.random(n) < 0.2).astype(int), **options)
    assert "need not help: accuracy changes by −" in sentence_with(blind, "Refusing")


def test_a_backward_score_is_named_with_its_cost():
    n = 1000
    p = np.linspace(0.55, 0.99, n)
    y = (np.arange(n) % 3 == 0) & (p > 0.7)
    a = uq.assay({"m": uq.Point(np.column_stack([p, 1 - p]))}, y.astype(int), calibration=(), n_draws=20)
    worst = min(claims(a, "backward-score"), key=lambda c: c.facts["gain"])
    said = sentence_with(a, "Do not refuse by")
    assert said.startswith(
        f"Do not refuse by the {worst.metric.replace('-', ' ')} of m, which is lower where the model is wrong"
    )
    assert f"costs {-100 * worst.facts['gain']:.1f} points of accuracy" in said


def test_reference_of_another_distance_in_terms_of_kl():
    n = 50
    models = {"a": predicted(-np.log(0.8), 0.01, n), "b": predicted(-np.log(0.01), 0.001, n)}
    a = uq.assay(models, np.zeros(n, dtype=int), distance="js", calibration=(), n_draws=20)
    scale = a.tradeoff_scale()
    assert 0.5 / scale > 2
    told = sentence_with(a, "With this distance")
    assert f"as λ = {0.5 / scale:.2f} does with KL" in told
    assert told.endswith(f"end here at {2 * scale:.2f}.")
    absent(uq.assay(models, np.zeros(n, dtype=int), calibration=(), n_draws=20), "With this distance")


def test_one_model():
    a = judged({"only": (0.15, 0.1)}, 1000)
    assert sentence_with(a, "the only model").startswith("At λ = 0.5 the mean E of only, the only model, is 0.2")
    assert "does better than only;" in sentence_with(a, "(vacuous)")
    absent(a, "resamples")
    absent(a, "could be as good")


def test_infinite_means():
    sure, unsure = uq.Point([[1.0, 0.0], [1.0, 0.0]]), uq.Point([[0.6, 0.4], [0.5, 0.5]])
    a = uq.assay({"sure": sure, "unsure": unsure}, [0, 1], floor=0)
    assert "The log loss of sure is infinite" in sentence_with(a, "infinite")
    assert verdict(uq.assay({"sure": sure}, [0, 1], floor=0)) == (
        "No model has a finite log loss, so none can be chosen; give a floor above 0.",
    )


def test_one_group_has_no_test():
    a = judged({"a": (0.15, 0.1), "b": (0.3, 0.1)}, 30, groups=np.zeros(30))
    assert sentence_with(a, "the lowest mean E").endswith("a has the lowest mean E of the models, 0.200.")
    absent(a, "resamples")
    absent(a, "(vacuous)")


def test_names_stand_as_they_were_given_but_for_marks_of_direction():
    name = "<img src=x onerror=alert(1)>"
    assert name in verdict(judged({name: (0.15, 0.1), "b": (0.3, 0.1)}))[0]
    text = " ".join(verdict(judged({"a\u202ertl": (0.15, 0.1), "b\u2067": (0.3, 0.1)})))
    assert r"a\u202ertl" in text
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
    assert visible("plain – λ") == "plain – λ"


@pytest.mark.parametrize("tradeoffs", [[3.0, 0.25, 1.0], [0.01, 0.02]])
def test_the_default_tradeoff_does_not_follow_those_of_the_findings(tradeoffs):
    means = {"a": (0.15, 0.1), "b": (0.3, 0.1)}
    assert verdict(judged(means, tradeoffs=tradeoffs)) == verdict(judged(means))
    assert DEFAULT_TRADEOFF == 0.5


def test_a_margin_that_is_not_shown_is_answered_too():
    means = {"a": (0.15, 0.1), "b": (0.155, 0.1), "c": (0.3, 0.1)}
    a = judged(means, 400, margin=0.006)
    said = sentence_with(a, "is not shown")
    found = a.compare("b", "a", tradeoff=0.5).margin.difference
    ends = f"{found.low:.3f} to {found.high:.3f}, 90 % interval"
    assert (
        f"that b is no worse than a by more than 0.006 is not shown: the difference is {float(found):.3f} ({ends})"
        in said.lower()
    )
    assert "c is no worse than a" not in said  # which is told worse already
    shown = judged(means, 400, margin=0.5)
    absent(shown, "is not shown")
