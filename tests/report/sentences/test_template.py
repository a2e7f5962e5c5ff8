"""Text of the page's template: complete, with the settings in it, and with no places but those of elements."""

import re
from importlib.resources import files

import pytest

import uqassay as uq
from uqassay.report.page import ELEMENTS
from uqassay.report.sentences import template_sentences


@pytest.fixture(scope="module")
def sentences():
    return template_sentences(uq.assay({"m": uq.Point([[0.9, 0.1], [0.3, 0.7]])}, [0, 1], n_draws=1200, level=0.9))


def test_template_and_sentences_have_the_same_names(sentences):
    template = files("uqassay.report").joinpath("page.html").read_text(encoding="utf-8")
    assert set(re.findall(r"\{\{text\.(\w+)\}\}", template)) == set(sentences)


def test_settings_are_named(sentences):
    assert "90 % intervals" in sentences["stated_note"]
    assert "1,200 resamples" in sentences["strip_note"]
    assert "90 % confidence ellipse" in sentences["plane"]


def test_places_are_those_of_elements(sentences):
    places = {name for text in sentences.values() for name in re.findall(r"\{(\w+)\}", text)}
    assert places == set(ELEMENTS)
