"""How a result is shown: its title, sentences, tables, notes, and strict JSON."""

import csv
import io
import json
import math
import re
from dataclasses import dataclass

import numpy as np
import pytest

from tests.refusals import refuses
from tests.shown_results import Reader, check_shown
from uqassay.notes import Note
from uqassay.results import (
    MOST_ROWS,
    Bar,
    Shown,
    ShownCell,
    ShownRow,
    ShownTable,
    Text,
    csv_text,
    number_from_json,
    plain,
    read_json,
)

# -- How a result is shown follows from its title, sentences, table and notes ------------------------------------------


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
    assert "2 warnings" in repr(made)
    assert "few" not in repr(made)
    assert "! few instances\n  ! many groups" in made.summary()
    assert "* few instances\n* many groups" in made.to_markdown()
    assert "<li>few instances</li>" in made._repr_html_()
    assert "1 warning" in repr(Made(notes=("few",)))
    assert "warning" not in repr(Made()) + Made()._repr_html_() + Made().to_markdown()


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


# -- Small tables: the same cells in every form, marks for the best, drawings in the range of the rows -----------------


BEST, TIED, PLAIN = ShownCell("0.1", best=True, after="± 0.01"), ShownCell("0.2", tied=True), ShownCell("0.3")


def table(*rows, **options):
    return ShownTable(("model", "loss"), rows, **options)


def rows(*cells):
    return [ShownRow((ShownCell(f"m{i}"), cell)) for i, cell in enumerate(cells)]


def test_the_best_and_those_tied_with_it_are_marked():
    made = table(*rows(BEST, TIED, PLAIN), caption="Means.", marks="Bold: best.")
    latex = made.as_latex()
    assert r"\textbf{0.1} $\pm$ 0.01 \\" in latex
    assert r"\underline{0.2} \\" in latex
    assert r"& 0.3 \\" in latex
    assert r"\caption{Means. Bold: best.}" in latex
    assert "| m0 | **0.1** ± 0.01 |\n| m1 | <ins>0.2</ins> |\n| m2 | 0.3 |" in made.as_markdown()
    page = made.as_html()
    assert "<b>0.1</b> ± 0.01" in page
    assert "<u>0.2</u>" in page


def test_marks_are_explained_only_where_there_are_any():
    made = table(*rows(PLAIN), caption="Means.", marks="Bold: best.")
    assert not any("Bold" in text for text in (made.as_latex(), made.as_markdown(), made.as_html()))


def test_plain_text_is_aligned_and_without_marks():
    made = table(*rows(BEST, PLAIN), marks="Bold: best.")
    assert made.as_text() == ["  model        loss", "  m0     0.1 ± 0.01", "  m1            0.3"]


def test_columns_without_room_follow_in_further_blocks():
    made = ShownTable(("model", "a", "b", "c"), (ShownRow(tuple(map(ShownCell, ("m0", "0.1", "0.2", "0.3")))),))
    assert made.as_text(20) == ["  model    a    b", "  m0     0.1  0.2", "", "  model    c", "  m0     0.3"]
    assert made.as_text(20, repeated=2)[-1] == "  m0     0.1  0.3"
    assert made.as_text(1) == made.as_text(12)  # one column at least
    assert made.as_text(25) == made.as_text()


def test_a_note_stands_below_every_form_but_plain_text():
    made = table(*rows(PLAIN), caption="Means.", note="* not 5 %")
    assert made.as_latex().splitlines()[-2] == r"\par $^{*}$ not 5 \%"
    assert made.as_markdown().endswith("Means.\n\n\\* not 5 %")
    assert "Means. * not 5 %" in Reader(made.as_html()).text
    assert made.as_text() == table(*rows(PLAIN)).as_text()


def test_csv_has_exact_numbers_and_nothing_for_what_is_absent():
    text = csv_text([{"a": "x,y", "b": 0.1 + 0.2, "c": None}, {"a": "z", "b": math.nan, "c": False}])
    assert list(csv.reader(io.StringIO(text))) == [["a", "b", "c"], ["x,y", repr(0.1 + 0.2), ""], ["z", "", "false"]]
    assert csv_text([]) == ""


def test_plain_text_has_its_own_marks_where_they_are_explained():
    made = table(*rows(BEST, TIED, PLAIN), marks="Bold: best.", plain_marks="*: best; °: tied.", caption="Means.")
    assert made.as_text() == [
        "  model         loss",
        "  m0     0.1* ± 0.01",
        "  m1            0.2°",
        "  m2            0.3",
    ]
    assert made.said(plain=True) == "Means. *: best; °: tied."
    assert made.said() == "Means. Bold: best."
    assert table(*rows(PLAIN), plain_marks="*: best.").said(plain=True) == ""


def test_intervals_stand_below_their_numbers_where_a_line_is_too_wide():
    header = ("model", "error AUROC by entropy ↑", *(f"metric {i}" for i in range(5)))
    cell = ShownCell("0.5", after="[0.4, 0.6]")
    made = ShownTable(header, tuple(ShownRow((ShownCell(name), *[cell] * 6)) for name in "ab"), below=True)
    assert len(made.as_text(200)) == 3
    for width in (30, 60, 88):
        lines = made.as_text(width)
        assert max(map(len, lines)) <= width
        assert "\n".join(lines).count("[0.4, 0.6]") == 12
        assert all(f"metric {i}" in " ".join(lines) for i in range(5))
        assert lines.count("") == [line.split()[0] for line in lines if line.strip()].count("model") - 1
    assert "0.5<br><span" in made.as_html()
    narrow = ShownTable(header, made.rows)
    assert len(narrow.as_text()) == 3


def test_references_are_set_apart_in_latex():
    made = table(*rows(PLAIN, PLAIN), ShownRow((ShownCell("vacuous"), PLAIN), reference=True))
    assert made.as_latex().count(r"\midrule") == 2


@pytest.mark.parametrize("n", [MOST_ROWS, MOST_ROWS + 1, MOST_ROWS + 2, 100])
def test_long_tables_say_how_many_rows_a_notebook_leaves_out(n):
    page = Reader(table(*rows(*[PLAIN] * n)).as_html())
    shown = page.tags.count("tr") - 1
    assert shown == (n if n <= MOST_ROWS + 1 else MOST_ROWS)
    assert (f"{n - shown} more rows" in page.text) == (shown < n)
    assert len(table(*rows(*[PLAIN] * n)).as_text()) == n + 1


def test_a_table_without_rows_is_a_header_or_nothing():
    assert table().as_html() == ""
    assert table().as_text() == []
    assert table().as_markdown() == "| model | loss |\n| :-- | --: |"
    assert r"model & loss \\" in table().as_latex()


def places(page, what):
    return [float(x) for x in re.findall(rf'<{what} [^>]*?c?x[12]?="([\d.]+)"', page)]


def test_values_are_drawn_in_their_order_and_references_beyond_the_range_as_arrows():
    bars = (Bar(0.2, 0.1, 0.3), Bar(0.5, 0.4, 0.6))
    made = [ShownRow((ShownCell("m"), PLAIN), bar=bar) for bar in bars]
    far = [ShownRow((ShownCell("r"), PLAIN), reference=True, bar=Bar(at, at, at)) for at in (9.0, -9.0)]
    page = table(*made, *far).as_html()
    first, second = places(page, "circle")
    assert first < second
    assert page.count("<path") == 2
    assert re.findall(r">([−\d.]+)</text>", page) == ["0.100", "0.600"]


@pytest.mark.parametrize(
    "bar", [None, Bar(math.nan, math.nan, math.nan), Bar(math.inf, math.nan, math.nan), Bar(1, 1, 1)]
)
def test_nothing_is_drawn_without_a_range(bar):
    assert "<svg" not in table(ShownRow((ShownCell("m"), PLAIN), bar=bar)).as_html()


def test_undefined_and_infinite_values_beside_others():
    made = [Bar(0.2, 0.1, 0.3), Bar(math.nan, math.nan, math.nan), Bar(math.inf, math.nan, math.nan)]
    page = table(*(ShownRow((ShownCell("m"), PLAIN), bar=bar) for bar in made)).as_html()
    assert page.count("<circle") == 1
    assert page.count("<path") == 1
    assert "nan" not in page


def test_names_are_escaped_everywhere():
    made = table(ShownRow((ShownCell("<b>|a_b&"), PLAIN)), caption="<i>_")
    assert "<b>|" not in made.as_html()
    assert Reader(made.as_html()).text.count("<b>|a_b&") == 1
    assert r"$<$b$>$\textbar{}a\_b\&" in made.as_latex()
    assert r"\<b\>\|a\_b\&" in made.as_markdown()


# -- Values for strict JSON --------------------------------------------------------------------------------------------


def test_everything_a_result_holds_becomes_strict_json():
    value = {
        1: np.float32(0.5),
        "numbers": (0.5, -0.0),
        "list": (np.nan, np.inf, -np.inf, np.int8(3), np.bool_(True), None, "text"),
        "array": np.array([[0.25, np.nan]]),
        "notes": (Note("few", "3 errors", {"count": 3}),),
    }
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == {
        "1": 0.5,
        "numbers": [0.5, -0.0],
        "list": [None, "Infinity", "-Infinity", 3, True, None, "text"],
        "array": [[0.25, None]],
        "notes": [{"code": "few", "text": "3 errors"}],
    }


@pytest.mark.parametrize("number", [0.1, -0.0, np.inf, -np.inf, np.nan, 5e-324])
def test_numbers_come_back(number):
    np.testing.assert_equal(number_from_json(json.loads(json.dumps(plain(number)))), number)


def test_a_file_of_json_and_what_is_none(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"é": [1, null]}', encoding="utf-8")
    assert read_json(path) == {"é": [1, None]}
    for content in (b"", b"\xff", b"{", b"[" * 200_000):
        path.write_bytes(content)
        with refuses("path", "unreadable", got=r"a\.json does not"):
            read_json(path)
    path.write_bytes(b" " * 10)
    with refuses("path", "size", got="at most 9 bytes"):
        read_json(path, 9)
