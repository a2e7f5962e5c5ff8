"""How a result is shown follows from its title, sentences, table and notes."""

from dataclasses import dataclass

from tests.shown_results import Reader, check_shown
from uqassay.results import Shown, ShownCell, ShownRow, ShownTable, Text


@dataclass(frozen=True, eq=False, repr=False)
class Made(Shown):
    sentences: tuple = ("It is so.",)
    notes: tuple = ()
    details: tuple = ()

    def _shown_title(self):
        return "Test of 2 models"

    def _shown_sentences(self):
        return self.sentences

    def _shown_details(self):
        return self.details

    def _shown_notes(self):
        return self.notes

    def _shown_table(self):
        return ShownTable(("model", "loss"), (ShownRow((ShownCell("a"), ShownCell("0.5"))),), "Loss: of made-up data.")


def test_repr_has_title_sentences_and_where_more_is():
    assert repr(Made()) == "Test of 2 models\n  It is so.\n  More: summary()"


def test_notes_are_counted_and_told():
    made = Made(notes=("few instances", "many groups"))
    assert "2 reasons for caution" in repr(made)
    assert "few" not in repr(made)
    assert "! few instances\n  ! many groups" in made.summary()
    assert "* few instances\n* many groups" in made.to_markdown()
    assert "<li>few instances</li>" in made._repr_html_()
    assert "1 reason for caution" in repr(Made(notes=("few",)))
    assert "caution" not in repr(Made()) + Made()._repr_html_() + Made().to_markdown()


def test_the_summary_has_all_of_it():
    made = Made(details=("And that.",))
    assert made.summary() == (
        "Test of 2 models\n  It is so.\n  And that.\n\n"
        "  model  loss\n  a       0.5\n  Loss: of made-up data.\n\n"
        "  More: summary()"
    )
    assert "And that" not in repr(made)


def test_hostile_text_is_neither_markup_nor_a_command_of_the_terminal():
    made = Made(sentences=("<img src=x onerror=alert(1)> \x1b[31m" + "long " * 60,), notes=("<script>",))
    check_shown(made)
    assert "img" not in Reader(made._repr_html_()).tags


def test_text_is_shown_without_quotation_marks():
    text = Text("a\nb")
    assert repr(text) == "a\nb" == text
    assert isinstance(text.upper(), str)
