r"""Text from data in LaTeX, Markdown and HTML: every character is shown as it is, and none is taken for markup."""

import html
import re

from uqassay.wording import visible

__all__ = ["html_text", "latex_text", "markdown_text"]

LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after \\ it would begin an optional argument
    "]": "{]}",
    "−": "$-$",
    "±": r"$\pm$",
    "–": "--",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
    "φ": r"$\varphi$",
    "ψ": r"$\psi$",
    "∞": r"$\infty$",
    "<": "$<$",
    ">": "$>$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "*": "$^{*}$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}
MARKDOWN = {character: f"\\{character}" for character in "\\`*_[]<>|~#&"}
# What hosts look for in the text that Markdown has made, where backslashes are gone: they do not look across elements.
HOSTED = (
    r"[@$]",  # people, addresses, formulas
    r"[#!&~%^](?=[\"\w])",  # GitHub's and GitLab's issues, requests, epics, labels, milestones, alerts
    r"\*(?=iteration:)|\[(?=[-+\[]|[a-z_]+:)|\{(?=[-+])",  # GitLab's iterations, longer references, marks of changes
    r"(?<=[A-Z])-(?=\d)|(?<=\b[Gg][HhLl])-(?=\d)",  # GH-1, and keys of other trackers
    r"(?<=/)/|(?<=\b[Ww]{3})\.",  # links
    r":(?=[-+\w]+:)",  # emoji
    r"(?<![^\W_])[0-9A-Fa-f]{7,}(?![^\W_])",  # commits, in parts too short for one
)
# At the start of a line items of lists, underlines of headings, and GitLab's commands; spaces at the ends would go.
FIRST = r"\A(?:[-+=](?=[-+= ]|\Z)|/(?=[a-z])|\d{1,9}[.)](?= |\Z))"
PIECE = re.compile(rf"(?P<hosted>{'|'.join(HOSTED)})|(?P<first>{FIRST})|(?P<edge>\A +| +\Z)|.")
SHORT = 6  # characters of a commit that no host takes for one


def latex_text(text: str) -> str:
    r"""Text as LaTeX shows it.

    Examples
    --------
    >>> print(latex_text("50 % of a_b [λ]"))
    50 \% of a\_b {[}$\lambda${]}
    """
    return "".join(LATEX.get(character, character) for character in visible(text))


def markdown_text(text: str) -> str:
    r"""Text as Markdown shows it on GitHub, on GitLab and elsewhere, in a cell of a table and as the text of a link too.

    Examples
    --------
    >>> print(markdown_text("a|b_c"))
    a\|b\_c
    >>> print(markdown_text("@me, #12"))
    <span>@</span>me, <span>\#</span>12
    """
    return PIECE.sub(_as_markdown, visible(text))


def _as_markdown(found: re.Match[str]) -> str:
    piece = found[0]
    if found["hosted"]:
        parts = [piece[i : i + SHORT] for i in range(0, len(piece), SHORT)]
        return "".join(f"<span>{MARKDOWN.get(part, part)}</span>" for part in parts)
    if found["first"]:
        return f"{piece[:-1]}\\{piece[-1]}"
    return "&#32;" * len(piece) if found["edge"] else MARKDOWN.get(piece, piece)


def html_text(text: str) -> str:
    """Text as HTML shows it.

    Examples
    --------
    >>> html_text("a <b>")
    'a &lt;b&gt;'
    """
    return html.escape(visible(text))
