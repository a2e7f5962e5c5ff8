"""Fixed text of the page on the gain; tests/report/test_static_page checks that all texts are written out."""

from uqassay.report.study_sentences import gain_text


def test_the_level_is_the_one_asked_for():
    assert "90 %" in gain_text(level=0.9)["table_note"]
