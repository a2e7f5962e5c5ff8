"""Shared by the pages whose figures are drawn beforehand: escaping, pieces, the template, and how the file is written."""

import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from uqassay._files import plain_target, whole_file
from uqassay._json import plain
from uqassay.report.page import json_for_script
from uqassay.report.sentences.general import general_sentences
from uqassay.statistics import Estimate
from uqassay.wording import ABSENT, interval, number, without_direction

__all__ = [
    "bullets",
    "facts_list",
    "filled_template",
    "kept",
    "page_file",
    "shown",
    "static_payload",
    "with_interval",
    "write_static_page",
]

FRAME = "static_page.html"


def shown(text: str) -> str:
    """Text from data as text of the page.

    Examples
    --------
    >>> shown("a <b>")
    'a &lt;b&gt;'
    """
    return html.escape(without_direction(text))


def kept(text: str) -> str:
    """The same, without a line break inside "r = 0.5", "95 %" and "p &lt; .001"."""
    return re.sub(r"(?<=[rpρ]) (=|≤|≥|&lt;) (?=[−0-9.])", "\u00a0\\1\u00a0", shown(text)).replace(" %", "\u00a0%")


def bullets(sentences: Sequence[str]) -> str:
    """Sentences as a list; nothing without sentences."""
    return f"<ul>{''.join(f'<li>{kept(s)}</li>' for s in sentences)}</ul>" if sentences else ""


def with_interval(value: Estimate, decimals: int) -> str:
    """A number with its interval below it, as the content of a cell."""
    ends = interval(value.low, value.high, decimals)
    return number(float(value), decimals) + ("" if ends == ABSENT else f'<span class="i">{ends}</span>')


def facts_list(title: str, facts: Mapping[str, Any]) -> str:
    """A heading and a list of facts."""
    items = "".join(f"<dt>{shown(str(key))}</dt><dd>{shown(_plainly(value))}</dd>" for key, value in facts.items())
    return f'<h3>{shown(title)}</h3><dl class="facts">{items}</dl>'


def static_payload(rows: Sequence[Mapping[str, Any]], download: str) -> str:
    """Content of the page's JSON: its rows, the name of the file to download, and the words of the colour scheme."""
    general = general_sentences()
    labels = {name: general["scheme"].format(scheme=name) for name in general["schemes"]}
    return json_for_script(
        {
            "schemes": general["schemes"],
            "scheme_labels": labels | {"auto": general["scheme_auto"]},
            "download": download,
            "rows": plain(list(rows)),
        }
    )


def page_file(name: str) -> str:
    """Content of a file of this room, such as a template."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def filled_template(name: str, parts: Mapping[str, str], text: Mapping[str, str]) -> str:
    """The frame of a static page around the sections of a template, with all places filled.

    Every place is filled in one pass, so that a place in a value stays text.

    Parameters
    ----------
    name : str
        Of the template with the page's own sections.
    parts : dict of str to str
        Markup by the name of its place, in the frame or in the sections.
    text : dict of str to str
        Plain text of the places that begin with "text."; "nav_ID" is the link to section ID.
    """
    places = {**parts, **{f"text.{key}": html.escape(value) for key, value in text.items()}}
    own = page_file(name)
    linked = ("findings", *re.findall(r'<section id="(\w+)"', own), "how")
    places["nav"] = " ".join(f'<a href="#{one}">{places[f"text.nav_{one}"]}</a>' for one in linked)
    return _filled(page_file(FRAME), {**places, "sections": _filled(own, places)})


def _filled(template: str, places: Mapping[str, str]) -> str:
    return re.sub(r"\{\{([\w.-]+)\}\}", lambda place: places[place[1]], template)


def write_static_page(text: str, path: str | Path) -> Path:
    """Write a page whole or not at all; missing folders are made.

    Raises
    ------
    FileFormatError
        When the path is that of a folder, a pipe or a device.
    OSError
        When it cannot be written.
    """
    plain_target(Path(path)).parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        stream.write(text.encode("utf-8", errors="backslashreplace"))
    return Path(path)


def _plainly(value: Any) -> str:
    """A fact as text: lists by commas, everything nested as JSON."""
    value = plain(value)
    if isinstance(value, list) and not any(isinstance(part, (list, dict)) for part in value):
        return ", ".join(map(_plainly, value))
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) or value is None else str(value)
