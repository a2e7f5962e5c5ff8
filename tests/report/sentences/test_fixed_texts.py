"""Sentences of the page: fixed texts, templates, method, models, comparisons, calibration, sets of ranks."""

import re
import string
from importlib.resources import files

import numpy as np
import pytest
from tests.report.static_cases import STATIC_CASES

import uqassay as uq
from uqassay.report.markup import page_file
from uqassay.report.page import ELEMENTS
from uqassay.report.sentences import (
    MOST_SHOWN,
    compared_sentence,
    general_sentences,
    kind_text,
    method_sentences,
    model_sentences,
    page_sentences,
    rank_set_sentences,
    template_sentences,
)
from uqassay.report.study_sentences import disentanglement_text, gain_text, static_text

pytestmark = [pytest.mark.usefixtures("without_calibration")]


# -- Text of the page's template: complete, with the settings in it, and with no places but those of elements ----------


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


# -- All templates of the page: their places are words, and names from data are never part of them ---------------------


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


# -- Fixed text that the pages share; tests/report/test_static_page checks it as part of each page ---------------------


def test_it_is_part_of_every_page():
    assert all(static_text().items() <= case.words().items() for case in STATIC_CASES.values())


def test_every_word_of_the_frame_is_there():
    own = set(re.findall(r"\{\{text\.([\w-]+)\}\}", page_file("static_page.html")))
    assert own - set(static_text()) == {"heading", "brand"}


# -- How it was computed, in facts that follow from the settings and the inputs ----------------------------------------


def facts(assay):
    text = method_sentences(assay)
    return dict([*text["conventions"], *text["procedures"]])


def one(prediction=None, y=(0, 1), **options):
    return uq.assay({"m": prediction or uq.Point([[0.9, 0.1], [0.4, 0.6]])}, y, n_draws=5, **options)


def test_facts_follow_the_settings():
    sets = uq.Members([[[0.9, 0.1], [0.8, 0.2]], [[0.4, 0.6], [0.3, 0.7]]])
    found = facts(one(sets, distance="js", nonspecificity="pal", tradeoffs=(0.25, 1.0), level=0.9, measures=()))
    assert found["distance"] == "JS"
    assert found["non-specificity"] == "pal"
    assert found["λ of the findings"] == "0.25, 1"
    assert "λ of the findings" not in facts(one())  # without sets nothing depends on λ
    assert found["intervals"].startswith("90 %; means: ")
    assert found["further measures"] == "none"
    assert found["focal sets"] == "all events"
    assert facts(one(focal_sets=[[0], [1], [0, 1]], convention="paper"))["focal sets"] == "3 sets"


def test_floors_and_conventions():
    assert facts(one())["floor of probabilities"] == "2.22e−16, the same for all number types"
    assert facts(one(floor=0.001))["floor of probabilities"] == "0.001"
    assert facts(one(convention="paper"))["convention"].startswith("paper")
    assert facts(one(convention="paper"))["floor of probabilities"] == "1e−10, that of the paper's code"


def test_repaired_masses_are_told():
    beliefs = uq.Masses.from_beliefs([[0.6, 0.6, 1.0], [0.2, 0.3, 1.0]], [[0], [1], [0, 1]], n_classes=2)
    assert "were repaired" in facts(one(beliefs, repair=True))["convention"]
    assert facts(one())["convention"] == "exact: masses are never clipped"


def test_groups_are_told():
    assert ", over 2 groups; shares: Wilson" in facts(one(groups=["a", "b"]))["intervals"]


def test_intervals_of_the_ranking_of_mistakes_are_told_apart_from_those_of_means():
    rng = np.random.default_rng(0)
    found = facts(one(uq.Point(rng.dirichlet(np.ones(3), 60)), rng.integers(0, 3, 60)))["intervals"]
    means, ranking = found.split("; shares: Wilson; ranking of mistakes: ")
    assert means == "95 %; means: Student t corrected for skewness (Hall)"
    assert "DeLong (adjusted, logit scale)" in ranking
    assert "U-statistic (logit scale)" in ranking


# -- Sentences on many models fit what the page puts into them ---------------------------------------------------------


def places(template):
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_places_of_the_templates():
    text = model_sentences(uq.assay({"m": uq.Members([[[0.9, 0.1], [0.8, 0.2]]])}, [0]))
    assert text["most"] == MOST_SHOWN
    assert places(text["shown"]) == {"n", "models"}
    assert places(text["follows"]) == {"n", "models", "most", "top", "tradeoff", "own"}
    assert places(text["follows_whole"]) == {"n", "models", "tradeoff", "own"}
    assert places(text["rows"]) == {"n", "rows"}


# -- Fixed text of the page on the gain; tests/report/test_static_page checks that all texts are written out -----------


def test_the_level_is_the_one_asked_for():
    assert "90 %" in gain_text(level=0.9)["table_note"]


# -- Fixed text of the page of the disentanglement benchmark; test_static_page checks that all texts are written ou ----


def test_the_level_of_the_disentanglement_is_the_one_asked_for():
    text = disentanglement_text(level=0.9)
    assert all("90 %" in text[name] for name in ("curves_note", "ranking_note", "terms_caption"))


# -- What was compared, in a sentence, and what each model predicts ----------------------------------------------------


def test_groups_and_votes_are_told():
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    models = {"a": uq.Point(p), "b": uq.Point(p[:, ::-1])}
    a = uq.assay(models, [0, 0, 0], groups=["x", "x", "y"], n_draws=5)
    assert compared_sentence(a) == "2 models on 3 cases (2 groups, resampled whole) of 2 classes."
    votes = uq.assay(models, p, n_draws=5)
    assert compared_sentence(votes).endswith(", labelled by distributions.")


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        (uq.Point([[0.9, 0.1]]), "point prediction"),
        (uq.Members([[[0.9, 0.1]]]), "1 member"),
        (uq.Members([[[0.9, 0.1], [0.8, 0.2]]]), "2 members"),
        (uq.Vertices([[[0.9, 0.1], [0.8, 0.2]]]), "2 vertices"),
        (uq.Intervals([[0.5, 0.1]], [[0.9, 0.5]]), "probability intervals"),
        ([uq.Point([[0.9, 0.1]])] * 3, "point prediction · 3 runs"),
    ],
)
def test_kinds_in_words(prediction, words):
    assert kind_text(uq.assay({"m": prediction}, [0], n_draws=5)["m"]) == words


def test_draws_and_baselines_in_words():
    a = uq.assay({"m": uq.Dirichlet([[2.0, 1.0]])}, [0], n_draws=5)
    assert kind_text(a["m"]) == f"Dirichlet, {a['m'].n_points} draws"
    assert kind_text(a["vacuous"]) == "baseline"


@pytest.mark.parametrize(
    ("meaning", "n_passes", "words"),
    [
        ("aleatoric", 1, "Gaussian logits"),
        ("aleatoric", 2, "Gaussian logits, 2 passes"),
        ("epistemic", 2, "Gaussian logits, 100 draws"),
    ],
)
def test_passes_and_draws_are_told_apart(meaning, n_passes, words):
    g = uq.GaussianLogits(np.zeros((1, n_passes, 2)), np.ones((1, n_passes, 2)), variance_is=meaning)
    assert kind_text(uq.assay({"m": g}, [0], n_draws=5)["m"]) == words


# -- Words of the rank sets: the level is that of the assay ------------------------------------------------------------


def assay(**options):
    p = np.random.default_rng(0).dirichlet([1, 1], size=50)
    return uq.assay({"m": uq.Point(p)}, [0, 1] * 25, calibration=(), n_draws=20, **options)


def test_the_level_is_that_of_the_assay():
    text = rank_set_sentences(assay(level=0.9))
    assert "90 % for all models at once" in text["note"]
    assert "90 % for all λ at once" in text["top_note"]
