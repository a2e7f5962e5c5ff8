"""What every result that is shown keeps to, however its numbers and names come out."""

import re
from html.parser import HTMLParser

from uqassay.results import COLUMNS, Text

VOID = ("br", "circle", "line", "path")


class Reader(HTMLParser):
    """The text of a page, its tags and the attributes of these; fails where tags do not close."""

    def __init__(self, page):
        super().__init__()
        self.text, self.tags, self.attributes, self.inside = "", [], [], []
        self.feed(page)
        assert not self.inside, self.inside

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.inside.pop() == tag

    def handle_data(self, data):
        self.text += data


def check_shown(result, *names):
    """Check `repr`, the look in a notebook, the summary, Markdown and LaTeX; give back `repr`."""
    shown = repr(result)
    lines = shown.splitlines()
    assert all(len(line) <= COLUMNS and line.isprintable() for line in lines)
    assert lines[-1].startswith("  More: ")
    page = Reader(result._repr_html_())
    assert not {"script", "link", "img", "style"} & set(page.tags)
    assert {value for key, value in page.attributes if "://" in value} <= {"http://www.w3.org/2000/svg"}
    assert not [value for key, value in page.attributes if re.search(r"color:|#[0-9a-f]{3}|url\(", value)]
    summary = result.summary()
    assert isinstance(summary, Text)
    assert repr(summary) == str(summary)
    assert " ".join(summary.split()).startswith(" ".join(lines[0].split()))
    latex = result.to_latex()
    bare = re.sub(r"\\[{}]", "", latex)
    assert bare.count("{") == bare.count("}")
    assert r"\toprule" in latex
    assert re.search(r"(?<!\\)[&%$#_^~]", re.sub(r"\$[^$]*\$|^% needs.*$| & ", "", latex, flags=re.M)) is None
    markdown = result.to_markdown()
    for name in names:
        assert name in page.text
        assert name in summary
    assert "\n| " in markdown
    return shown
