"""Classifiers of messages: own ones against scikit-learn's plain use, those of transformers by stand-ins of its interface."""

import sys

import numpy as np
import pytest
from tests.lab.papers.ranking import stand_ins
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.lab.datasets.votes import OASST2_CATEGORIES
from uqassay.lab.papers.ranking.classifiers import (
    OWN,
    ZERO_SHOT,
    chosen_classifiers,
    tf_idf_probs,
    transformer_probs,
    transformers_version,
)

GOOD, BAD = (
    ("thank you, clear answer", "helpful and clear", "good answer"),
    ("stupid spam", "hate and spam", "bad words"),
)
POSITIVE = ("quality", "humor", "helpfulness", "creativity")  # as stated with read_oasst2


def test_names_and_their_languages():
    assert list(chosen_classifiers("tf-idf")) == list(OWN)
    assert chosen_classifiers("zero-shot") == ZERO_SHOT
    assert chosen_classifiers({"facebook/bart-large-mnli": ["en", "de"], "tf-idf-words": []}) == {
        "facebook/bart-large-mnli": ("en", "de"),
        "tf-idf-words": (),
    }
    assert chosen_classifiers({"tf-idf": ["en"]}) == dict.fromkeys(OWN, ("en",))
    for wrong in ([3], {"a": "en"}, {"a": 3}, [" "]):
        with refuses("classifiers", "type"):
            chosen_classifiers(wrong)
    with refuses("classifiers", "empty"):
        chosen_classifiers([])


@pytest.mark.parametrize("settings", OWN.values(), ids=list(OWN))
def test_hard_ratings_against_a_plain_fit(settings, needs):
    needs("sklearn")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    votes = np.array([[0, 2]] * 3 + [[5, 0]] * 3, dtype=float)
    found = tf_idf_probs(settings, GOOD + BAD, votes, ["clear", "spam"])
    vectorizer = TfidfVectorizer(analyzer=settings.analyzer, ngram_range=settings.ngrams, sublinear_tf=True)
    model = LogisticRegression(C=settings.inverse_penalty)
    model.fit(vectorizer.fit_transform(GOOD + BAD), [1] * 3 + [0] * 3)
    np.testing.assert_allclose(found, model.predict_proba(vectorizer.transform(["clear", "spam"])), atol=1e-3)
    assert found[0, 1] > 0.5 > found[1, 1]


def test_shared_ratings_give_the_share(needs):
    """With one text alone and hardly a penalty, the fit is the mean of the label distributions."""
    needs("sklearn")
    from dataclasses import replace

    votes = np.array([[1.0, 3.0], [2.0, 2.0]])
    free = replace(OWN["tf-idf-words"], inverse_penalty=1e6)
    np.testing.assert_allclose(tf_idf_probs(free, ["same", "same"], votes, ["same"])[0], [0.375, 0.625], atol=1e-4)


def test_training_texts_of_one_class_or_none(needs):
    needs("sklearn")
    with refuses("messages", "range", got="one class"):
        tf_idf_probs(OWN["tf-idf-words"], ["a b"], np.array([[0.0, 1.0]]), ["a"])
    with refuses("messages", "empty", got="empty vocabulary"):
        tf_idf_probs(OWN["tf-idf-words"], ["!", "?"], np.array([[0.0, 1.0], [1.0, 0.0]]), ["a"])


def test_zero_shot_against_the_formula(monkeypatch, needs):
    """Softmax over the entailments of the 15 categories, summed over the negative and the positive ones."""
    needs("torch")
    import torch

    labels = ["contradiction", "neutral", "entailment"]  # as config.json of facebook/bart-large-mnli has them
    given = stand_ins.transformers(monkeypatch, labels)
    found = transformer_probs("a/model", GOOD, batch_size=7, device="cpu")
    assert given[:2] == [(GOOD[0], "This example is spam."), (GOOD[0], "This example is fails task.")]
    assert len(given) == 3 * 15
    sums = [
        [sum(map(ord, text)) + 2 * sum(map(ord, hypothesis)) for text, hypothesis in given[i : i + 15]]
        for i in (0, 15, 30)
    ]
    logits = np.array([stand_ins.text_logits(torch.tensor(row), 3)[:, 2].numpy() for row in sums], dtype=float)
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    positive = [OASST2_CATEGORIES.index(one) for one in POSITIVE]
    np.testing.assert_allclose(found[:, 1], weights[:, positive].sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert transformers_version() == "4.0"


def test_two_classes_by_their_names(monkeypatch, needs):
    needs("torch")
    import torch

    given = stand_ins.transformers(monkeypatch, ["POSITIVE", "NEGATIVE"])
    found = transformer_probs("a/model", GOOD, batch_size=2, device="cpu")
    assert given == [(text,) for text in GOOD]
    logits = stand_ins.text_logits(torch.tensor([sum(map(ord, text)) for text in GOOD]), 2).numpy()
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(logits[:, 1] - logits[:, 0])), rtol=1e-6)


def test_other_classes_and_models_that_cannot_be_loaded(monkeypatch, needs):
    needs("torch")
    stand_ins.transformers(monkeypatch, ["LABEL_0", "LABEL_1"])
    with refuses("classifiers", "choice", got="a/model has label_0 and label_1"):
        transformer_probs("a/model", GOOD, device="cpu")

    def no_network(name):
        raise OSError("We couldn't connect to 'https://huggingface.co'")

    monkeypatch.setattr(sys.modules["transformers"].AutoTokenizer, "from_pretrained", no_network)
    with refuses("classifiers", "unreadable", got="a/model cannot be loaded.*couldn't connect"):
        transformer_probs("a/model", GOOD)


def test_missing_transformers_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with refuses("transformers", "package", got=r"pip install .\.\[text\].*tf-idf", error=MissingDependencyError):
        transformer_probs("facebook/bart-large-mnli", GOOD)
