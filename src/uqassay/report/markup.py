"""Shared by all pages: escaping, the files of this room, templates, and how a page is written."""

import base64
import json
import re
import zlib
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from uqassay.files import plain_target, whole_file
from uqassay.text import html_text as shown

__all__ = ["deflated", "filled", "json_for_script", "kept", "page_file", "shown", "write_html"]


def kept(text: str) -> str:
    """Text from data as `shown` gives it, without a line break inside "r = 0.5", "95 %" and "p &lt; .001"."""
    return re.sub(r"(?<=[λrpρ]) (=|≤|≥|&lt;) (?=[−0-9.])", "\u00a0\\1\u00a0", shown(text)).replace(" %", "\u00a0%")


def json_for_script(values: Any) -> str:
    """JSON that no HTML parser can leave: <, >, & and the line separators are escaped.

    Examples
    --------
    >>> print(json_for_script({"name": "</script>"}))
    {"name":"\\u003c/script\\u003e"}
    """
    text = json.dumps(values, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def deflated(text: str) -> str:
    """Text as base64 of its zlib stream, which browsers inflate themselves; of the alphabet of base64 alone.

    Examples
    --------
    >>> deflated("aaaaaaaaaaaa")
    'eNpLTEQAAB2aBI0='
    """
    # lone surrogates (of a file name that is not UTF-8) are escapes in JSON
    return base64.b64encode(zlib.compress(text.encode("utf-8", errors="backslashreplace"), 9)).decode("ascii")


def page_file(name: str) -> str:
    """Content of a file of this room, such as a template or a script; of a script without its lines of comment, a tenth."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    if not name.endswith(".js"):
        return text
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//")) + "\n"


def filled(template: str, places: Mapping[str, str]) -> str:
    """A template with every place filled in one pass, so that a place in a value stays text.

    Examples
    --------
    >>> filled("<p>{{a}} {{text.b}}</p>", {"a": "{{text.b}}", "text.b": "x"})
    '<p>{{text.b}} x</p>'
    """
    return re.sub(r"\{\{([\w.-]+)\}\}", lambda place: places[place[1]], template)


def write_html(render: Callable[[], str], path: str | Path) -> Path:
    """Write a page to one file, whole or not at all; missing folders are made.

    Parameters
    ----------
    render : callable
        Makes the page, which takes a while; the path is checked before.
    path : str or Path
        A symbolic link stays, and the file that it leads to changes.
    """
    target = plain_target(Path(path))
    text = render()
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        # lone surrogates (of a file name that is not UTF-8) become escapes, which JSON reads
        stream.write(text.encode("utf-8", errors="backslashreplace"))
    return Path(path)
