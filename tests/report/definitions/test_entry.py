"""One definition."""

from uqassay.measures import SCORES
from uqassay.report.definitions import DEFINITIONS, Definition, definition_of


def test_what_has_no_definition_is_shown_by_its_name():
    assert definition_of("my-own") == Definition(
        "my-own", "An uncertainty score that came with the predictions.", "", ""
    )


def test_every_definition_is_one_entry_with_a_sentence():
    for name in (*DEFINITIONS, *SCORES):
        found = definition_of(name)
        assert found.title
        assert found.sentence[0].isupper() or found.sentence[0] in "½λ", name
        assert found.sentence.rstrip().endswith("."), name
