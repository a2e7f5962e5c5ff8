"""One way to write numbers; text from data is shown as it is, in every language of markup."""

import ast
import html
import math
import re
import string
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from uqassay import text as wording
from uqassay.text import html_text, latex_text, markdown_text, visible

# -- One way to write numbers: rounding never claims more than was found, undefined values are dashes ------------------


FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12)
SHARES = st.floats(0, 1)
NAN, INF = math.nan, math.inf


def read(text):
    return float(text.replace("−", "-").replace(",", ""))


@given(FINITE, st.integers(0, 6))
def test_a_number_is_rounded_and_has_no_hyphen(value, decimals):
    text = wording.number(value, decimals)
    assert "-" not in text
    assert abs(read(text) - value) <= 0.5 * 10.0**-decimals + 1e-9 * abs(value)


@given(FINITE.filter(lambda v: v == 0 or abs(v) > 1e-300), st.integers(1, 6))
def test_significant_digits_keep_the_relative_error(value, digits):
    assert abs(read(wording.significant(value, digits)) - value) <= 0.51 * 10.0 ** (1 - digits) * abs(value)


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_values_that_are_no_numbers(value):
    shown = {"nan": "–", "inf": "∞", "-inf": "−∞"}[str(value)]
    assert wording.number(value) == wording.significant(value) == shown


@example(0.005, 0)  # half a percent is rounded to the even 0
@given(SHARES, st.integers(0, 3))
def test_a_percentage_is_0_or_100_only_where_the_share_is(share, decimals):
    text = wording.percent(share, decimals)
    if text.lstrip("<>") == text:
        assert abs(read(text.removesuffix(" %")) - 100 * share) <= 0.5 * 10.0**-decimals + 1e-9
        if text in (wording.percent(0.0, decimals), wording.percent(1.0, decimals)):
            assert share in (0.0, 1.0)
    elif text.startswith("<"):
        assert 0 < 100 * share < read(text[1:].removesuffix(" %"))
    else:
        assert read(text[1:].removesuffix(" %")) < 100 * share < 100


@given(SHARES)
def test_a_pvalue_is_never_zero_and_has_no_zero_before_the_point(p):
    text = wording.pvalue(p)
    assert not text.startswith("0")
    if text == "<.001":
        assert p < 0.001
    else:
        assert abs(float(text) - p) <= (0.0005 if p < 0.0095 else 0.005) + 1e-12
        assert float(text) > 0


@pytest.mark.parametrize(
    ("p", "relation", "text"),
    [
        (0.25, "=", "p = .25"),
        (0.25, "≤", "p ≤ .25"),
        (1.0, "≥", "p ≥ 1.00"),
        (0.0009, "≤", "p < .001"),
        (0.001, "=", "p = .001"),
        (0.0094, "=", "p = .009"),
        (0.0096, "=", "p = .01"),
        (NAN, "=", "p undefined"),
    ],
)
def test_pvalues_in_sentences(p, relation, text):
    assert wording.pvalue_text(p, relation) == text


@pytest.mark.parametrize(
    ("share", "n_draws", "text"),
    [
        (1.0, 5000, ">99.9 %"),
        (0.0, 5000, "<0.1 %"),
        (1.0, 300, ">99.6 %"),
        (0.0, 300, "<0.4 %"),
        (299 / 300, 300, ">99.6 %"),
        (298 / 300, 300, "99.3 %"),
        (1 / 300, 300, "<0.4 %"),
        (1.0, 1, ">0.0 %"),
        (NAN, 1000, "–"),
        (None, 10, "–"),
    ],
)
def test_all_or_none_of_the_draws_is_a_bound(share, n_draws, text):
    assert wording.share_of_draws(share, n_draws) == text


@given(FINITE, FINITE)
def test_an_interval_without_width_is_a_dash(low, high):
    text = wording.interval(low, high)
    assert (text == "–") == (low == high)
    assert wording.interval(low, NAN) == wording.interval(NAN, high) == "–"


def test_an_estimate_without_an_interval_is_a_number():
    assert wording.estimate_text(0.5, 0.4, 0.6, level=0.9) == "0.500 (90 % interval 0.400 to 0.600)"
    assert wording.estimate_text(0.5, 0.4, 0.6) == "0.500 (0.400 to 0.600)"
    for low, high in ((NAN, NAN), (0.5, 0.5), (0.4, INF)):
        assert wording.estimate_text(0.5, low, high, level=0.9) == "0.500"


@given(st.floats(1e-7, 100))
def test_decimals_show_two_digits_of_the_half_width(half):
    decimals = wording.decimals_for([(0.0, 2 * half)])
    assert 3 <= decimals <= 6
    if 3 < decimals < 6:
        assert half * 10.0**decimals * (1 + 1e-9) >= 10
        assert half * 10.0**decimals < 100 * (1 + 1e-9)


def test_decimals_follow_the_narrowest_interval():
    assert wording.decimals_for([]) == wording.decimals_for([(NAN, 1.0), (0.5, 0.5), (0.0, INF)]) == 3
    assert wording.decimals_for([(0.0, 1.0), (0.0, 0.001)]) == 5


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.1, "0.1"), (1 / 3, "0.33"), (0.0626, "0.063"), (1e-5, "1e-05"), (12.345, "12.35")],
)
def test_tradeoffs_are_short(value, text):
    assert wording.tradeoff(value) == text


@given(st.lists(st.sampled_from("abcdefgh"), max_size=8), st.integers(1, 8))
def test_lists_name_or_count_everyone(names, most):
    assert sum(wording.listed(names).count(name) for name in set(names)) >= len(set(names))
    text = wording.listed(names, most=most)
    if len(names) > most + 1:
        assert text.endswith(f"and {len(names) - most} others")
    else:
        assert text == wording.listed(names)


def test_sentences_and_counts():
    assert wording.sentence([]) == ""
    assert wording.sentence(["λ = 1", "so"]) == "Λ = 1; so."
    assert wording.counted(1, "class", "classes") == "1 class"
    assert wording.counted(0, "class", "classes") == "0 classes"
    assert wording.counted(1234, "draw") == "1,234 draws"


# characters that move the cursor, turn the text, have no width, or that no encoding takes
INVISIBLE = (
    *map(chr, (*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F))),
    *map(chr, (*range(0x2060, 0x2070), 0xD800, 0xDCE9, 0xDFFF, 0xE000, 0xFEFF, 0xFFF9, 0xE0001, 0xE0041)),
)


def test_invisible_characters_are_spelt_out_and_nothing_else():
    for c in INVISIBLE:
        text = wording.visible(f"a{c}b")
        assert text.isprintable()
        assert ast.literal_eval(f"'{text}'") == f"a{c}b"
    assert len({wording.visible(c) for c in INVISIBLE}) == len(INVISIBLE)
    for text in ("", "ä – λ − 漢", "שלום", "a\u00a0b\u3000c", "e\u0301", "🙂", "\\n"):
        assert wording.visible(text) == text


@given(st.text())
def test_visible_text_can_be_printed_in_one_line_and_stays_as_it_is(text):
    shown = wording.visible(text)
    shown.encode()
    assert len(shown.splitlines()) <= 1
    assert wording.visible(shown) == shown


def test_names_in_a_list_are_quoted_where_they_could_be_misread():
    assert wording.listed_names(["", "a, b", " c", "d "], last="or") == "'', 'a, b', ' c' or 'd '"
    assert wording.listed_names(["net", "it's", "x y", "漢"]) == "net, it's, x y and 漢"
    assert wording.listed_names([*"abcdef"], most=3) == wording.listed([*"abcdef"], most=3)


# -- Text from data is shown as it is, in every language of markup -----------------------------------------------------


def test_no_character_of_latex_is_left_as_markup():
    text = latex_text(string.punctuation)
    for character in "&%$#_{}":
        assert f"\\{character}" in text
    plain = re.sub(r"\\[&%$#_{}]|\$[<>*^{}]+\$|\\text[a-z]+\{\}|\{[][]\}", "", text)
    assert not set(plain) & set("\\&%$#_{}~^<>|*[]")


def test_a_row_of_latex_cannot_begin_with_an_optional_argument():
    assert latex_text("[x]").startswith("{[}")


def test_markdown_has_no_markup_and_no_cell_ends():
    text = markdown_text("a|b *c* _d_ `e` [f](g) <h> ~i~ #1 &amp; \\ $k$")
    bare = re.sub(r"\\.|</?span>|\$(?=</span>)", "", text)
    assert not set(bare) & set("|*_`[]<>~#&\\$")


# what GitHub and GitLab make links, pictures, formulas or colours of, in a piece of text between two elements
ACTIVE = re.compile(
    r"""
    @\w | \$.*\$                                            # people, addresses, formulas
    | [#!&~%^]["\w] | \bG[HL]-\d | (?-i:[A-Z]{2,}-\d)         # issues and their like
    | \*iteration: | \[\w+:[^]]+\] | \[\[ | [\[{][-+]      # GitLab's references and changes
    | \w://\w | //\w | \bwww\.\w                           # links
    | :[-+\w]+:                                             # emoji
    | (?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])               # commits
    """,
    re.VERBOSE | re.IGNORECASE,
)
NAMES = (
    *("@name", "a@b.org", "@org/team", "x@", "#12", "owner/repo#12", "GH-1", "gh-1", "(GH-12)", "PROJ-7", "GL-3"),
    *(
        "!12",
        "$12",
        "&12",
        "~bug",
        '~"a bug"',
        '%"v 1"',
        "%v1.2",
        "^alert#1",
        "*iteration:1",
        "[issue:1]",
        "[[_TOC_]]",
        "[[a]]",
    ),
    *(
        "{+ a +}",
        "{- a -}",
        "[+ a +]",
        "[- a -]",
        "9ba12248",
        "9ba122481",
        "9ba12248b26a04f5",
        "0123456789abcdef" * 2 + "01234567",
    ),
    *(
        "http://a.org",
        "https://a.org/?a=b&c",
        "ftp://a.org",
        "www.a.org",
        "WWW.a.org",
        "//a.org",
        "mailto:a@b.org",
        "x://y",
    ),
    *(
        "<http://a.org>",
        "<a@b.org>",
        "[a](http://a.org)",
        "![a](b.png)",
        "[a]",
        "[^1]",
        "a](http://a.org)",
        "]: x",
        "[a]: http://b",
    ),
    *(
        "<b>",
        "<!-- a -->",
        "</td>",
        "<script>alert(1)</script>",
        "&amp;",
        "&#64;name",
        "&lt;b&gt;",
        "$x$",
        "$$x$$",
        "$`x`$",
    ),
    *(
        "`a`",
        "``",
        "```",
        "~~~",
        "~~a~~",
        "*a*",
        "**a**",
        "_a_",
        "__a__",
        "***",
        "a\\",
        "\\*a\\*",
        "a|b",
        "|",
        "||",
        "\\|",
    ),
    *(
        "# a",
        "#",
        "- a",
        "+ a",
        "* a",
        "-",
        "+",
        "---",
        "===",
        "--- |",
        "1. a",
        "12) a",
        "1.",
        "> a",
        "    a",
        "  a",
        "a  ",
        " ",
    ),
    *(
        "/close",
        "/assign @me",
        ":smile:",
        ":+1:",
        "a:bug:b",
        "0.5",
        "net-50",
        "ResNet-50",
        "2024-01-02",
        "C#",
        "R&D",
        "50 %",
    ),
    *("a\tb", "a\x1b[31m", "\u202ea", "a\u200bb", "\ud800", "\udce9", "a\r\nb", "\u2028", "\x85", "漢字", "🙂"),
)


class Texts(HTMLParser):
    """The pieces of text of a page, and its tags but for paragraphs and tables."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.pieces, self.tags, self.links = [], set(), []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags |= {tag} - {"p", "table", "thead", "tbody", "tr", "th", "td"}
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.pieces.append(data)


@pytest.mark.parametrize(
    "place", ["{}", "**{}**", "a {} b", "* {}", "## {}", "| x |\n| :-- |\n| {} |", "[{}](page.html)"]
)
@pytest.mark.parametrize("preset", ["commonmark", "js-default"])
def test_a_reader_of_markdown_shows_names_as_plain_text(place, preset):
    reader = MarkdownIt(preset, {"html": True}).enable("table")
    around = Texts(reader.render(place.format("x")))
    for name in NAMES:
        page = Texts(reader.render(place.format(markdown_text(name))))
        assert (
            "".join(page.pieces) == "".join(around.pieces).replace("x", visible(name), 1)
            if "| x |" not in place
            else ("".join(page.pieces).split() == ["x", *visible(name).split()])
        ), name
        assert page.tags <= around.tags | {"span"}, name
        assert page.links == around.links, name
        assert not [piece for piece in page.pieces if ACTIVE.search(piece)], name


def test_two_names_are_different_in_markdown():
    assert len(set(map(markdown_text, NAMES))) == len(NAMES)


@pytest.mark.parametrize(
    "text", ["accuracy 0.9731 [0.969, 0.990], 95 %", "ResNet-50 is better (p < .001)", "a: b; λ = 0.5 + 1 - 2"]
)
def test_usual_sentences_stay_readable_in_markdown(text):
    assert re.sub(r"\\(.)", r"\1", markdown_text(text)) == text


@pytest.mark.parametrize("text", ["<script>alert('1')</script>", 'a" onload="b', "a & b"])
def test_html_reads_as_the_text(text):
    assert not set(html_text(text)) & set("<>\"'")
    assert html.unescape(html_text(text)) == text


@pytest.mark.parametrize("escaped", [latex_text, markdown_text, html_text])
def test_nothing_moves_the_cursor_or_turns_the_text(escaped):
    assert escaped("a\x1b\r\nb\u202ec").isprintable()
