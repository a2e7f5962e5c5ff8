"""The first sentences on several studies: lists that hold as a whole."""

import pytest
from tests.evidence.gain_claims import list_rates
from tests.evidence.gain_data import made_study

from uqassay.evidence import gain_sentences
from uqassay.evidence.gain_words import read_gain

FAST = {"bins": 10, "shares": (0.1,)}


def test_headlines_of_several_studies():
    studies = [made_study(kind, kind, n_runs=3, n=800) for kind in ("calibrated", "shuffled")]
    text = " ".join(gain_sentences(studies, **FAST))
    assert "More data gain on average, in percentage points of accuracy: calibrated " in text
    assert "The estimates of calibrated (mutual-information) (ρ = " in text
    assert "The data do not show that the estimates of shuffled (mutual-information) (ρ = " in text
    assert (
        "Delaying the 10 % most uncertain cases would gain more than a random choice of as many (in brackets)" in text
    )
    both = " ".join(gain_sentences([made_study(dataset=name, n_runs=1, n=60) for name in "ab"], **FAST))
    assert "On a:" in both
    assert "On b:" in both


def test_lists_name_every_side():
    kinds = ("calibrated", "large", "reversed", "constant")
    text = " ".join(gain_sentences([made_study(kind, kind, n_runs=4, n=3000) for kind in kinds], **FAST))
    assert "The estimates of reversed (mutual-information) (ρ = −" in text
    assert "order the gain in the wrong direction." in text
    assert (
        "The estimates of reversed (mutual-information) and reversed (entropy) choose the 10 % of the cases that"
        in text
    )
    assert "Whether the estimates of constant (mutual-information) and constant (entropy) order the gain cannot" in text
    assert "The map γ lowers EECE of " in text
    calibrated = [sentence for sentence in text.split(". ") if "are not calibrated" in sentence]
    assert len(calibrated) == 1
    assert "calibrated (mutual-information)" not in calibrated[0]
    assert "large (entropy)" in calibrated[0]


def test_a_list_holds_as_a_whole():
    """An estimate that is shown to order the gain by itself is not in a long list, if it is barely shown."""
    options = {**FAST, "cross_fit": 0}
    for seed in range(1, 40):
        barely = made_study("calibrated", "barely", n_runs=3, n=150, seed=seed, calibration=False)
        alone = read_gain(barely.result(**options))
        wide = read_gain(barely.result(**options, level=1 - 0.05 / 24))
        if (alone.order, wide.order) == ("above", "unclear"):
            break
    others = [made_study("shuffled", f"m{i}", n_runs=3, n=150, seed=(9, i), calibration=False) for i in range(11)]
    said = gain_sentences([barely, *others], **options)
    assert not [one for one in said if one.startswith("The estimates of barely") and one.endswith("order the gain.")]
    assert gain_sentences([barely], **options)[1].startswith("The estimates of mutual-information")


@pytest.mark.slow
def test_lists_are_seldom_false():
    """Of 20 lists over four estimates 5 or more would hold a false name with a chance of .3 %, if 5 % are false; if 45 % are,
    with one of 98 %.
    """
    rates = list_rates(20, n_methods=4, n_runs=1, n=150, seed=2)
    assert max(rates.values()) <= 4 / 20, rates
