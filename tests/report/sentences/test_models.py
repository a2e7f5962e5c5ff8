"""Sentences on many models fit what the page puts into them."""

import string

import uqassay as uq
from uqassay.report.sentences import MOST_SHOWN, model_sentences


def places(template):
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_places_of_the_templates():
    text = model_sentences(uq.assay({"m": uq.Members([[[0.9, 0.1], [0.8, 0.2]]])}, [0]))
    assert text["most"] == MOST_SHOWN
    assert places(text["shown"]) == {"n", "models"}
    assert places(text["follows"]) == {"n", "models", "most", "top", "tradeoff", "own"}
    assert places(text["follows_whole"]) == {"n", "models", "tradeoff", "own"}
    assert places(text["rows"]) == {"n", "rows"}
