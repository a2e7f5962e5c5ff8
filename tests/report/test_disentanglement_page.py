"""The page of the disentanglement benchmark: sentences, rows, rankings; the rest is in test_static_page."""

import pytest
from tests.evidence.disentanglement_data import made_study
from tests.report.html_pages import ParsedPage
from tests.report.static_cases import HOSTILE, IT, STATIC_CASES, TURNED

from uqassay.evidence.disentanglement_runs import Contender
from uqassay.evidence.disentanglement_words import contender_sentences, disentanglement_sentences
from uqassay.report.study_pages import render_disentanglement

pytestmark = pytest.mark.usefixtures("without_drawings")


@pytest.fixture(scope="module")
def page(without_drawings):
    return ParsedPage(render_disentanglement(STATIC_CASES["disentanglement"].subjects))


def test_every_sentence_is_on_the_page(page):
    contenders = STATIC_CASES["disentanglement"].subjects
    expected = [*disentanglement_sentences(contenders)]
    for one in contenders:
        expected += contender_sentences(one)
    assert not [sentence for sentence in expected if sentence.replace("\u202e", r"\u202e") not in page.text]


def test_numbers_can_be_taken_from_the_page(page):
    rows = page.payload["rows"]
    assert [row["label"] for row in rows] == [HOSTILE, TURNED, "half"]
    assert rows[0]["rank"] == 1


def test_contenders_without_an_error_say_why(page):
    assert "no disentanglement error, because it needs two conditions of dataset-size" in page.text


def test_several_data_sets_have_their_own_ranking():
    field = [Contender("a", made_study("perfect", n_runs=2, dataset=name), IT) for name in ("wine", "digits")]
    text = render_disentanglement(field)
    assert "Ranking: wine" in text
    assert "Ranking: digits" in text
    assert "<h2>digits</h2>" in text
