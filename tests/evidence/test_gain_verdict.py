"""Sentences on the gain: they say what the readings hold, in whole sentences, with the numbers of the result."""

import pytest
from tests.evidence.gain_data import made_study
from tests.refusals import refuses

from uqassay.evidence import gain_lines
from uqassay.evidence.gain_words import check_studies, gain_legend, result_sentences, study_sentence, untold_sentences
from uqassay.text import number

FAST = {"bins": 10, "shares": (0.1,)}


def said(kind, *, cross_fit=0, **options):
    study = made_study(kind, n=options.pop("n", 1000), **options)
    result = study.result(**FAST, cross_fit=cross_fit)
    return study, result, " ".join(result_sentences(result))


@pytest.mark.parametrize("n_runs", [1, 4])
def test_good_estimates(n_runs):
    _, result, text = said("calibrated", n_runs=n_runs)
    rho, random = number(float(result.correlation), 2), number(100 * result.delay.random.mean[0], 1)
    assert f"The estimates order the gain: ρ = {rho} (95 % interval " in text
    assert "The estimates are not calibrated" not in text
    gained = number(100 * result.delay.gained.mean[0], 1)
    assert f"would gain {gained} percentage points of accuracy (95 % interval " in text
    assert f"more than a random choice of as many, which would gain {random}." in text
    assert study_sentence(result).startswith("made up: more data gain ")


def test_estimates_that_are_too_large():
    _, result, text = said("large", n_runs=4)
    before, after = number(float(result.error), 4), number(float(result.calibrated_error), 4)
    assert f"The estimates are not calibrated, too large on average: EECE {before}, p < .001, without its bias " in text
    assert f"The map γ lowers EECE from {before} to {after}." in text
    _, _, text = said("large", n_runs=1)
    assert "too large on average: EECE " in text
    assert ", p < .001, without its bias " in text
    assert "before the map γ and" in text


def test_cross_fitted_maps():
    """The error before the map is that in the intervals of the folds, and the name of the method is said."""
    _, result, text = said("large", n_runs=4, calibration=False, cross_fit=5)
    after = float(result.calibrated_error)
    before = number(after + float(result.reduction), 4)
    change = f"The map γ (cross-fitted in 5 folds) lowers EECE in the folds from {before} to {number(after, 4)}."
    assert change in text
    assert (
        f"The mapped estimates are calibrated within what the test sets of 4 runs can show: EECE {number(after, 4)}"
        in text
    )
    _, result, text = said("reversed", n_runs=1, n=3000, calibration=False, cross_fit=4)
    assert "before the map γ (cross-fitted in 4 folds) and" in text
    assert "No rising map calibrates the estimates: EECE " in text
    assert "Cross-fitting maps each fold" in " ".join(untold_sentences([result]))


def test_estimates_without_order():
    _, _, text = said("shuffled", n_runs=3, calibration=False, seed=7)
    assert "The data do not show that the estimates order the gain: ρ = " in text
    assert "and the data do not show a difference." in text
    assert "map" not in text
    _, _, text = said("constant", n_runs=1)
    assert "Whether the estimates order the gain cannot be told (" in text
    _, _, text = said("reversed", n_runs=4)
    assert "The estimates order the gain in the wrong direction: ρ = −" in text


def test_limits_are_told():
    one = made_study(n_runs=1, n=60, calibration=False).result(**FAST, cross_fit=0)
    several = made_study(n_runs=2, n=60).result(**FAST)
    alone, both = " ".join(untold_sentences([one])), " ".join(untold_sentences([one, several]))
    assert "One run says nothing about other splits" in alone
    assert "No map was fitted for mutual-information" in alone
    assert "Intervals over the runs" not in alone
    assert "Intervals over the runs" in both
    assert "in nats" in alone
    assert len(gain_legend([one])) == 4
    assert "(Bonferroni)" in gain_legend([one, several], lists=True)[-1]


@pytest.mark.parametrize("alone", [{"n": 1}, {"n": 40, "groups": 40}])
def test_one_instance_or_group_claims_nothing(alone):
    _, _, text = said("calibrated", n_runs=1, calibration=False, **alone)
    assert "Whether the estimates are calibrated cannot be told: EECE " in text
    assert "calibrated within" not in text
    assert "–" not in text


def test_lines_for_a_terminal():
    study = made_study("calibrated", "evil\u202ename", n_runs=2, n=200)
    lines = gain_lines([study], **FAST)
    text = "\n".join(lines)
    assert "\u202e" not in text
    assert r"evil\u202ename, entropy" in text
    for result in study.results(**FAST):
        for sentence in result_sentences(result):
            assert sentence in text


def test_studies_to_compare():
    with refuses("studies", "empty"):
        check_studies([])
    with refuses("studies", "duplicate", got="'made up' occurs twice on 'toy'"):
        check_studies([made_study(n_runs=1, n=10)] * 2)
    check_studies([made_study(n_runs=1, n=10), made_study(n_runs=1, n=10, dataset="other")])
