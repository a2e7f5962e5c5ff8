"""Definitions on the page: of losses, scores, metrics, calibration and mistakes."""

import numpy as np
import pytest
from tests.report.cases import ranked_assay

import uqassay as uq
from uqassay.credal.distances import DISTANCES
from uqassay.measures import SCORES
from uqassay.measures.nonspecificities import NONSPECIFICITIES
from uqassay.metrics.measures import CALIBRATION_MEASURES
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.report.definitions import (
    CALIBRATION,
    DEFINITIONS,
    RANKINGS,
    VOTES,
    Definition,
    calibration_definitions,
    definition_of,
    page_definitions,
    score_definition,
    score_label,
)
from uqassay.report.sections import TABLED

pytestmark = pytest.mark.usefixtures("without_calibration")

# -- One definition ----------------------------------------------------------------------------------------------------


def test_what_has_no_definition_is_shown_by_its_name():
    assert definition_of("my-own") == Definition(
        "my-own", "An uncertainty score that came with the predictions.", "", ""
    )


def test_every_definition_is_one_entry_with_a_sentence():
    for name in (*DEFINITIONS, *SCORES):
        found = definition_of(name)
        assert found.title
        assert found.sentence[0].isupper() or found.sentence[0] in "½λ", name
        assert found.sentence.rstrip().endswith("."), name


# -- Definitions of the unified loss and its parts, worded for what was computed ---------------------------------------


@pytest.mark.parametrize("measure", ["korner", "pal", "credal-uncertainty", "credal-uncertainty-box"])
def test_vacuous_baseline_against_its_definition(measure):
    k = 4
    a = uq.assay({"m": uq.Point(np.full((6, k), 1 / k))}, [0, 1, 2, 3, 0, 1], nonspecificity=measure)
    equation = page_definitions(a.settings, label_distributions=False)["vacuous"].equation
    expected = {"E = λ K": k, "E = λ (1 − 1/K)": 1 - 1 / k, "E = λ ln K": np.log(k)}[equation]
    np.testing.assert_allclose(a["vacuous"].columns["nonspecificity"], expected, rtol=1e-6)


def test_distances_have_a_short_name():
    assert {one.metric: definition_of(one.metric).short for one in DISTANCES.values()} == {
        "kl": "KL",
        "js": "JS",
        "js-distance": "square root of JS",
        "tv": "total variation",
        "hellinger": "Hellinger",
        "brier-distance": "Brier",
    }


def test_every_nonspecificity_has_its_own_sentence():
    assert len({size.sentence for size in NONSPECIFICITIES.values()}) == len(NONSPECIFICITIES)
    assert all(size.sentence.endswith(".") and size.equation.startswith("NS") for size in NONSPECIFICITIES.values())


# -- Every uncertainty score is defined, in the words of its own module ------------------------------------------------


@pytest.mark.parametrize("name", [*SCORES, "uq-auc", "uq-c-index", "aurc", "e-aurc", "augrc", "prediction-rejection"])
def test_every_score_and_metric_is_defined(name):
    found = definition_of(name)
    assert found.title
    assert found.sentence.rstrip().endswith(".")
    assert "paper 0" not in found.source
    if name in SCORES and name != "nonspecificity":
        assert found.sentence.startswith(SCORES[name].sentence)
    if name in RANKING_METRICS:
        assert found.source


def test_labels_of_scores():
    assert score_label("predicted-class-variance") == "predicted class variance"
    assert score_label("my-own") == "my-own"


def test_a_definition_names_its_unit():
    assert score_definition("total-entropy").sentence.endswith("In nats.")
    assert "In share" not in score_definition("credal-width").sentence


# -- Every calibration measure is defined ------------------------------------------------------------------------------


def test_every_measure_has_a_definition():
    names = list(CALIBRATION_MEASURES)
    found = {**DEFINITIONS, **calibration_definitions(names)}
    assert set(names) <= set(found)
    for name in (*names, "calibration-pvalue", "calibration-minimum", "calibration-width"):
        assert found[name].title not in ("", name)
        assert found[name].equation or name == "calibration-width"
        assert found[name].sentence.rstrip().endswith(".")
        assert "paper 0" not in found[name].source


def test_a_measure_of_the_user_has_none():
    assert set(calibration_definitions(["my-own"])) == {"calibration-minimum", "calibration-width"}
    assert not set(CALIBRATION) & set(calibration_definitions(CALIBRATION))


# -- Definitions of the ranking metrics hold of the metrics ------------------------------------------------------------


def test_augrc_is_what_its_equation_says():
    rng = np.random.default_rng(5)
    errors, scores = (rng.random(80) < 0.3).astype(float), rng.normal(size=80)
    accuracy, auc = 1 - errors.mean(), float(uq.metrics.uq_auc_score(errors, scores))
    metric = RANKING_METRICS["augrc"].estimate(errors[None], scores[None])
    assert float(metric) == pytest.approx(0.5 * (1 - accuracy) ** 2 + accuracy * (1 - accuracy) * (1 - auc))
    ratio = RANKING_METRICS["prediction-rejection"].estimate(errors[None], scores[None])
    assert float(ratio) == pytest.approx(2 * auc - 1)


def test_votes_change_the_words():
    usual = page_definitions(ranked_assay(n=20).settings, label_distributions=False)
    votes = page_definitions(ranked_assay(n=20).settings, label_distributions=True)
    assert "vote" in votes["uq-auc"].sentence
    assert "vote" not in usual["uq-auc"].sentence


def test_every_ranking_metric_is_defined():
    assert set(TABLED) <= set(RANKINGS) & set(RANKING_METRICS)
    assert all(RANKINGS[name].source for name in TABLED)
    assert {"uq-auc", "uq-c-index"} <= set(VOTES)
