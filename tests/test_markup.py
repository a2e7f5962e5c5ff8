"""Text from data is shown as it is, in every language of markup."""

import html
import re
import string

import pytest

from uqassay._markup import html_text, latex_text, markdown_text, one_line


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
    bare = re.sub(r"\\.|<span>\$</span>", "", text)
    assert not set(bare) & set("|*_`[<>~#&\\$")


@pytest.mark.parametrize("text", ["<script>alert('1')</script>", 'a" onload="b', "a & b"])
def test_html_reads_as_the_text(text):
    assert not set(html_text(text)) & set("<>\"'")
    assert html.unescape(html_text(text)) == text


@pytest.mark.parametrize("escaped", [one_line, latex_text, markdown_text, html_text])
def test_nothing_moves_the_cursor_or_turns_the_text(escaped):
    assert escaped("a\x1b\r\nb\u202ec").isprintable()
