"""Text from data is shown as it is, in every language of markup."""

import html
import re
import string
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from uqassay.text import html_text, latex_text, markdown_text, visible


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
