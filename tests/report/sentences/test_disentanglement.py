"""Fixed text of the page of the disentanglement benchmark; test_static_page checks that all texts are written out."""

from uqassay.report.study_sentences import disentanglement_text


def test_the_level_is_the_one_asked_for():
    text = disentanglement_text(level=0.9)
    assert all("90 %" in text[name] for name in ("curves_note", "ranking_note", "terms_caption"))
