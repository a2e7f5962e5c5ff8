"""Pages whose figures are drawn beforehand: their common frame."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from uqassay._json import plain
from uqassay.report.markup import filled, json_for_script, kept, page_file, shown
from uqassay.report.sentences.general import general_sentences

__all__ = ["static_page"]

SCRIPTS = ("scheme.js", "static_page.js")
STYLES = ("page", "narrow", "print", "static_page")


def static_page(
    name: str,
    parts: Mapping[str, str],
    text: Mapping[str, str],
    *,
    title: str,
    verdict: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
) -> str:
    """A page as text, the same for the same content.

    Parameters
    ----------
    name : str
        The sections of the page are in the template NAME_page.html, its colours in NAME_page.css; the reader downloads the
        numbers as NAME.json.
    parts : dict of str to str
        Markup by the name of its place: "warnings", "overview" and "how" of the frame, and those of the template.
    text : dict of str to str
        Plain text of the places that begin with "text."; "nav_ID" is the link to section ID.
    title : str
        Before the words of the title in `text`.
    verdict : sequence of str
        Sentences at the top.
    rows : sequence of dict
        The numbers for download.
    """
    from uqassay import __version__

    own = page_file(f"{name}_page.html")
    places = {
        **parts,
        **{f"text.{key}": shown(value) for key, value in text.items()},
        "version": shown(__version__),
        "title": shown(f"{title}: {text['title']}"),
        "css": "".join(page_file(f"{one}.css") for one in (*STYLES, f"{name}_page")),
        "verdict": "".join(f"<p>{kept(sentence)}</p>" for sentence in verdict),
        "payload": _payload(rows, f"{name}.json"),
        "js": "".join(page_file(script) for script in SCRIPTS),
    }
    linked = ("findings", *re.findall(r'<section id="(\w+)"', own), "how")
    places["nav"] = " ".join(f'<a href="#{one}">{places[f"text.nav_{one}"]}</a>' for one in linked)
    places["head"] = filled(page_file("head.html"), places)
    return filled(page_file("static_page.html"), {**places, "sections": filled(own, places)})


def _payload(rows: Sequence[Mapping[str, Any]], download: str) -> str:
    """JSON of the page: its rows, the name of the file to download, and the words of the colour scheme."""
    general = {name: value for name, value in general_sentences().items() if name.startswith("scheme")}
    return json_for_script({"text": {"general": general}, "download": download, "rows": plain(list(rows))})
