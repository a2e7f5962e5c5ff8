"""Fixed text of the page on the gain."""

from uqassay.report.sentences.gain import gain_text


def test_texts_are_written_out():
    text = gain_text()
    assert all(value and value == value.strip() for value in text.values())
    assert all("{" not in value for value in text.values())


def test_the_level_is_the_one_asked_for():
    text = gain_text(level=0.9)
    assert "90 %" in text["table_note"]
    assert not [name for name, value in text.items() if "95 %" in value]


def test_notes_and_captions_are_sentences():
    for name, value in gain_text().items():
        assert value.endswith(".") == name.endswith(("_note", "_caption", "colophon")), name
