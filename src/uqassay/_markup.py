r"""Text from data in LaTeX, Markdown and HTML: every character is shown as it is, and none is taken for markup."""

import html

from uqassay.wording import without_direction

__all__ = ["html_text", "latex_text", "markdown_text", "one_line"]

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
MARKDOWN = {**{character: f"\\{character}" for character in "\\`*_[<>|~#&"}, "$": "<span>$</span>"}


def one_line(text: str) -> str:
    r"""Text without control characters, line breaks and marks of direction.

    Examples
    --------
    >>> one_line("two\nlines\x1b[1m")
    'two lines [1m'
    """
    return without_direction("".join(c if c.isprintable() else " " for c in text))


def latex_text(text: str) -> str:
    r"""Text as LaTeX shows it.

    Examples
    --------
    >>> print(latex_text("50 % of a_b [λ]"))
    50 \% of a\_b {[}$\lambda${]}
    """
    return "".join(LATEX.get(character, character) for character in one_line(text))


def markdown_text(text: str) -> str:
    r"""Text as Markdown on GitHub shows it, in a cell of a table too.

    Examples
    --------
    >>> print(markdown_text("a|b_c"))
    a\|b\_c
    """
    return "".join(MARKDOWN.get(character, character) for character in one_line(text))


def html_text(text: str) -> str:
    """Text as HTML shows it.

    Examples
    --------
    >>> html_text("a <b>")
    'a &lt;b&gt;'
    """
    return html.escape(one_line(text))
