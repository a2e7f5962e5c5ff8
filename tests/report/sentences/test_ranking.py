"""Sentences of the slider and the questionnaire follow from the winners."""

import math

import uqassay as uq
from uqassay.report.sentences import answer_sentence, beyond_sentence, cost_label, ranking_sentences, winner_sentence

INF = math.inf
WINNERS = [(0.0, 0.5, ["a"]), (0.5, 3.0, ["b", "c"]), (3.0, INF, ["a"])]


def one(**options):
    return uq.assay({"a": uq.Members([[[0.9, 0.1], [0.8, 0.2]]])}, [0], n_draws=5, **options)


def test_winners_beyond_the_slider():
    two = uq.assay({"a": uq.Point([[0.9, 0.1]] * 2)}, [0, 1], n_draws=5)
    assert beyond_sentence(two, WINNERS, 2.0) == (
        "Beyond the end of the slider the winner changes again: from λ = 3 on a."
    )
    assert beyond_sentence(two, WINNERS, 3.0) == ""
    assert beyond_sentence(one(), [], 2.0) == "Shares of resamples are undefined (1 case: nothing to resample)."
    assert "1 group" in beyond_sentence(one(groups=["g"]), [], 2.0)


def test_where_models_win():
    assert winner_sentence(0.5, 3.0, ["b", "c"], 2.0) == "b and c: λ from 0.5 to 3"
    assert winner_sentence(3.0, INF, ["a"], 2.0) == "a: λ from 2 to ∞"


def test_answers_name_who_wins_inside():
    assert answer_sentence(0.1, 0.4, "Why.", WINNERS) == "λ from 0.1 to 0.4. Why. a has the lowest mean E throughout."
    assert answer_sentence(0.4, 4.0, "Why.", WINNERS).endswith("The winner changes inside: a, then b and c, then a.")
    assert answer_sentence(0.4, 4.0, "Why.", []) == "λ from 0.4 to 4. Why."


def test_costs_in_words():
    assert cost_label(1 / 3) == "a third as much"
    assert cost_label(0.07) == "0.07 as much"


def test_every_set_of_baselines_has_its_words():
    below = ranking_sentences(one())["below"]
    points = uq.assay({"a": uq.Point([[0.9, 0.1]])}, [0], n_draws=5)
    assert ranking_sentences(points)["below"] == {"class-prior": "⚠ class-prior has a lower log loss"}
    assert below == {
        "vacuous": "⚠ vacuous has a lower mean E",
        "class-prior": "⚠ class-prior has a lower mean E",
        "vacuous,class-prior": "⚠ vacuous and class-prior have a lower mean E",
    }
