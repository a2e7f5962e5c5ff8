"""The answer card as markup: escaped, short for many models, with the numbers of the claims."""

import dataclasses
import re
from importlib.resources import files

import pytest
from tests.evidence.verdict_cases import judged
from tests.report.cases import HOSTILE, hostile_assay
from tests.report.html_pages import ParsedPage, makes_no_markup

from uqassay.notes import Note
from uqassay.report.first_screen import warnings_on_answer
from uqassay.report.page import answer_card, border_places, caution_section
from uqassay.report.sentences import CONCERNING
from uqassay.text import tradeoff, visible

pytestmark = pytest.mark.usefixtures("without_calibration")

TURNED = "dull\u202e"


def percents(card, kind):
    """Left end and width of the stretches of one kind, as shares of the axis."""
    found = re.findall(rf'class="stretch is-{kind}" style="left: ([\d.]+)%; width: ([\d.]+)%"', card)
    return [tuple(float(x) / 100 for x in pair) for pair in found]


@pytest.fixture(scope="module")
def many():
    """Thirty models, of which nearly all cannot be told from the best."""
    means = {f"model {j:02d}": (0.15 + 0.0001 * j, 0.05) for j in range(28)}
    return judged({**means, "bad": (0.4, 0.05), "worse": (0.45, 0.05)}, 1000)


def test_names_make_no_markup():
    card = ParsedPage(answer_card(hostile_assay()))
    assert makes_no_markup(card, scripts=0)
    assert HOSTILE in card.text
    assert "%{x} {{js}}" in card.text
    card = ParsedPage(answer_card(judged({TURNED: (0.15, 0.05), "b": (0.3, 0.05)}, 400)))
    assert r"dull\u202e" in card.text
    assert TURNED not in card.text
    assert not any(TURNED in value for _, attributes in card.tags for value in attributes.values() if value)


def test_few_names_are_shown_and_all_unfold(many):
    card = answer_card(many)
    (choice,) = many.answer().choices
    closed = re.sub(r"</summary>.*?</details>", "</summary></details>", card, flags=re.S)
    assert closed.count('<span class="name">') <= 12
    assert f"and {len(choice.tied) - 3} others" in closed
    for name in many.model_names:
        assert f"<bdi>{name}</bdi>" in card


def test_long_names_are_smaller_and_not_cut():
    names = [f"{'resnet50-imagenet21k-finetuned-' * 2}{end}-seed-0123456" for end in ("de", "mc")]
    card = answer_card(judged(dict(zip(names, [(0.15, 0.05), (0.3, 0.05)], strict=True)), 2000))
    assert 'class="large long"' in card
    assert f"<bdi>{names[0]}</bdi>" in card
    assert f"<b>{names[0]}" not in card  # no room in the axis


@pytest.mark.parametrize(
    "means",
    [
        {"a": (0.15, 0.05), "b": (0.3, 0.05)},
        {"a": (0.15, 0.3), "b": (0.4, 0.0)},
        {"only": (0.15, 0.05)},
        {"bad": (0.75, 0.25), "worse": (0.8, 0.1)},
    ],
)
def test_the_axis_has_the_numbers_of_the_claims(means):
    assay = judged(means, 2000)
    answer, card = assay.answer(), answer_card(assay)
    for kind in ("choose", "none", "open"):
        wanted = [(s.low, min(s.high, answer.top)) for s in answer.stretches if s.kind == kind and s.low < answer.top]
        found = percents(card, kind)
        assert len(found) == len(wanted)
        for (left, width), (low, high) in zip(found, wanted, strict=True):
            assert left * answer.top == pytest.approx(low, abs=2e-4)
            assert (left + width) * answer.top == pytest.approx(high, abs=4e-4)
    ends = {x for s in answer.stretches if s.kind != "open" for x in (s.low, s.high) if 0 < x < answer.top}
    borders = re.findall(r'<span style="[^"]*rem">([^<]*)</span>', card)
    assert sorted(borders) == sorted(map(tradeoff, ends))
    assert f'<i class="here" style="left: {50 / answer.top:.2f}%">' in card


def test_cards_without_an_axis_explain_the_tradeoff_in_words():
    one = answer_card(judged({"a": (0.15, 0.01), "b": (0.3, 0.01)}, 1, width=0.0))
    assert 'class="axis"' not in one
    assert "<dt>λ</dt>" in one
    clear = answer_card(judged({"a": (0.15, 0.05), "b": (0.3, 0.05)}, 400))
    assert 'role="img" aria-label="' in clear
    assert "<dt>λ</dt>" not in clear


def test_labels_of_borders_do_not_cover_each_other():
    for ranges in ([(0.0, 0.071), (0.12, 0.15), (0.16, 9.0)], [(0.0, 0.3), (0.32, 0.58), (0.76, 1.9), (1.95, 9.0)]):
        ends = {}
        for at, start, end, row in border_places(ranges, 2.0):
            assert 0 <= start < end <= 1
            assert start <= at / 2 <= end + 1e-12
            assert ends.get(row, 0.0) <= start
            ends[row] = end
        assert len(ends) > 1


def test_warnings_stand_above_the_card_or_folded_below_it():
    assay = hostile_assay(n=40)
    further = (Note("prediction", "<b>m</b>: rows were summed."), Note("absent-classes", "No b."))
    assay = dataclasses.replace(assay, warnings=(*assay.warnings, *further))
    above, below = ParsedPage(warnings_on_answer(assay)), ParsedPage(caution_section(assay))
    assert makes_no_markup(above, scripts=0)
    assert makes_no_markup(below, scripts=0)
    for note in assay.warnings:
        assert [visible(note.text) in page.text for page in (above, below)].count(True) == 1
        assert (visible(note.text) in above.text) == (note.code in CONCERNING)
    assert "few-instances" in {note.code for note in assay.warnings}
    assert ("details", {"class": "section", "id": "caution", "aria-labelledby": "caution-h"}) in below.tags
    none = dataclasses.replace(assay, warnings=())
    assert caution_section(none) == warnings_on_answer(none) == ""


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_of_many_warnings_the_first_two_are_not_folded(n):
    notes = tuple(Note("floored", f"m{i} has rows.") for i in range(n))
    markup = warnings_on_answer(dataclasses.replace(hostile_assay(n=40), warnings=notes))
    first, _, rest = markup.partition("<details>")
    assert first.count("<li>") == min(n, 2)
    assert rest.count("<li>") == max(n - 2, 0)
    assert (f"{n - 2} more warning" in rest) == (n > 2)


def test_marks_have_the_colours_of_the_script():
    room = files("uqassay.report")
    colours = re.search(r"const COLOURS = \[(.*?)\]", room.joinpath("base.js").read_text(encoding="utf-8"))[1]
    style = room.joinpath("answer.css").read_text(encoding="utf-8")
    listed = [c.strip().strip('"') for c in colours.split(",")]
    found = re.findall(r"^\.hue(\d) \{ background: (\S+); \}", style, flags=re.M)
    assert [c for _, c in found] == [c or "var(--ink)" for c in listed]
