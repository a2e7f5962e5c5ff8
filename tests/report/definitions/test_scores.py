"""Every uncertainty score is defined, in the words of its own module."""

import pytest

from uqassay.measures.registry import SCORES
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.report.definitions import definition_of, score_definition, score_label


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
