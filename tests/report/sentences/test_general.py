"""All templates of the page: their places are words, and names from data are never part of them."""

import re

import uqassay as uq
from uqassay.report.sentences import general_sentences, page_sentences


def texts(tree):
    if isinstance(tree, dict):
        for value in tree.values():
            yield from texts(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from texts(value)
    elif isinstance(tree, str):
        yield tree


def test_every_brace_opens_a_place():
    a = uq.assay({"{model}": uq.Point([[0.9, 0.1], [0.3, 0.7]])}, [0, 1], n_draws=2)
    found = [text for text in texts(page_sentences(a)) if "{model}" not in text]
    assert any("{" in text for text in found)
    for text in found:
        assert not set("{}") & set(re.sub(r"\{\w+\}", "", text)), text


def test_failures_have_their_words():
    found = general_sentences()
    assert {"chart_failed", "page_failed", "copied", "copy_by_key"} <= set(found)
    assert "{problem}" in found["chart_failed"]
    assert "{problem}" in found["page_failed"]
