"""Sentences of the benchmark: each claims the conclusion of its reading, with its numbers, and no more."""

import re

from tests.evidence.disentanglement_data import made_study

from uqassay.evidence.disentanglement_runs import Contender
from uqassay.evidence.disentanglement_words import (
    contender_sentences,
    disentanglement_lines,
    disentanglement_sentences,
    legend_sentences,
)

IT = "information-theoretic"
HEAD = ["error", "95 % interval", "size ale", "size epi", "noise ale", "noise epi", "p to best"]


def contender(kind, label="", **options):
    return Contender(label or kind, made_study(kind, **{"seed": 3, **options}), IT)


def test_a_single_run_is_described_only():
    text = " ".join(contender_sentences(contender("together", n_runs=1)))
    assert text.count("in the only run") == 5
    assert "as it should:" not in text
    assert "1 run cannot show that the names" in text


def test_the_names_matter_or_are_not_shown_to():
    assert any("exchanged the error would be greater" in s for s in contender_sentences(contender("perfect")))
    said = " ".join(contender_sentences(contender("together")))
    assert "5 runs do not show that the names aleatoric and epistemic matter (p = 1.00)" in said
    few = " ".join(contender_sentences(contender("perfect", n_runs=4)))
    assert "4 runs cannot show" in few


def test_headline_names_the_best_and_those_told_apart():
    first, told, reference, chance, *leaks = disentanglement_sentences(
        [contender("jitter", seed=1), contender("perfect"), contender("together", seed=2)]
    )
    assert first.startswith("perfect has the lowest disentanglement error, ")
    assert told.startswith("The runs tell it from together and jitter (p")
    assert "0.50" in reference
    assert "0.65" in reference
    assert chance.startswith("The error of perfect is below that of estimates unrelated to the accuracy (p < .001")
    assert leaks == [
        "Label noise also moves the epistemic uncertainty of together, which it should not.",
        "The amount of training data also moves the aleatoric uncertainty of together, which it should not.",
    ]


def test_headline_of_equals_tells_nobody_apart():
    said = disentanglement_sentences([contender("jitter", "a", seed=11), contender("jitter", "b", seed=12)])
    assert any(text.startswith("The runs cannot tell it from") for text in said)
    assert not any("tell it from" in text and "cannot" not in text for text in said)


def test_jitter_is_not_below_chance():
    said = disentanglement_sentences([contender("jitter", "a", seed=11), contender("swapped", "b", seed=12)])
    assert any(text.startswith("No error is shown to be below that of estimates unrelated") for text in said)
    both_below = disentanglement_sentences([contender("perfect", "a", seed=11), contender("perfect", "b", seed=12)])
    assert any(text.startswith("The errors of ") and "and" in text for text in both_below)


def test_one_contender_and_none_with_an_error():
    assert disentanglement_sentences([contender("perfect")])[0].startswith("perfect has a disentanglement error of 0.")
    (only,) = disentanglement_sentences([contender("perfect", without=("label-noise",))])
    assert only == "No disentanglement error: it needs both experiments."


def test_unpaired_comparisons_are_said():
    said = " ".join(disentanglement_sentences([contender("perfect"), contender("jitter", first_seed=90)]))
    assert "compared as independent runs" in said


def test_data_sets_have_their_own_headlines():
    said = disentanglement_sentences([contender("perfect", dataset="wine"), contender("jitter", dataset="digits")])
    assert sum(text.startswith("On wine perfect") for text in said) == 1
    assert sum(text.startswith("On digits jitter") for text in said) == 1


def test_lines_hold_a_table_and_every_sentence():
    field = [contender("perfect"), contender("jitter"), contender("swapped", without=("dataset-size",))]
    lines = disentanglement_lines(field)
    assert re.split(r"\s{2,}", lines[0].strip()) == HEAD
    assert lines[1].startswith("  perfect")
    assert lines[3].split()[0] == "swapped"
    assert lines[3].count("–") == 7
    assert lines[4].split() == ["ideal", "0", "0", "1", "1", "0"]
    text = "\n".join(lines)
    for sentence in (*disentanglement_sentences(field), *legend_sentences()):
        assert sentence in text
    for one in field:
        assert all(sentence in text for sentence in contender_sentences(one))


def test_sentences_are_whole():
    kinds = ("perfect", "swapped", "together", "jitter", "constant", "reversed")
    for runs in (1, 4, 5):
        for kind in kinds:
            for text in contender_sentences(contender(kind, n_runs=runs)):
                assert re.fullmatch(r"[A-Z0-9].*[.]", text), text
                assert "nan" not in text
                assert "  " not in text
                assert "None" not in text


def test_marks_of_direction_in_labels_do_not_turn_the_text():
    for text in disentanglement_lines([contender("perfect", "x\u202ey")]):
        assert "\u202e" not in text
