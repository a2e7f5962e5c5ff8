"""How numbers, p-values, intervals and lists are written, and text escaped for HTML, Markdown, LaTeX and terminals."""

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "ABSENT",
    "count",
    "counted",
    "decimals_for",
    "drawable",
    "estimate_text",
    "html_text",
    "interval",
    "latex_text",
    "level_text",
    "listed",
    "listed_names",
    "markdown_text",
    "named",
    "number",
    "percent",
    "percent_interval",
    "pvalue",
    "pvalue_text",
    "rank_range",
    "said",
    "sentence",
    "share_of_draws",
    "shown",
    "significant",
    "text_table",
    "tradeoff",
    "visible",
]


# How numbers, shares, p-values, intervals and lists are written: in the verdict, the terminal, the page and the
# figures.
#
# Numbers have a minus sign (−), not a hyphen. p-values have no zero before the point. A dash stands for what is
# undefined.

ABSENT = "–"
_CLAUSE = "; "
ROUNDING = 1e-12  # a smaller number is what rounding left of 0
LEAST_SHARE = 0.001  # of draws; a smaller one is written as a bound, however many there are


# -- numbers -----------------------------------------------------------------------------------------------------------


def number(value: float, decimals: int = 3, *, bounded: bool = False) -> str:
    """A number with a fixed count of decimals; with `bounded`, a number that is not 0 is never written as 0.

    Examples
    --------
    >>> number(0.25), number(-1.5, 1), number(float("inf")), number(float("nan"))
    ('0.250', '−1.5', '∞', '–')
    >>> number(0.0001), number(0.0001, bounded=True), number(-0.0001, bounded=True), number(0.0, bounded=True)
    ('0.000', '<0.001', '>−0.001', '0.000')
    """
    if math.isnan(value):
        return ABSENT
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    least = 10.0**-decimals
    if bounded and ROUNDING < abs(value) < 0.5 * least:
        return f"{'<' if value > 0 else '>−'}{least:.{decimals}f}"
    return f"{0.0 if abs(value) < 0.5 * least else value:,.{decimals}f}".replace("-", "−")


def significant(value: float, digits: int = 3) -> str:
    """A number with a fixed count of significant digits.

    Examples
    --------
    >>> significant(0.13713), significant(12345.6), significant(2.4411e31), significant(0.000123, 2)
    ('0.137', '12,346', '2.44e+31', '0.00012')
    """
    if not math.isfinite(value) or value == 0:
        return number(value, max(digits - 1, 0))
    if abs(value) >= 1e6 or abs(value) < 1e-5:
        return f"{value:.{digits}g}".replace("-", "−", 1 if value < 0 else 0)
    decimals = digits - 1 - math.floor(math.log10(abs(float(f"{value:.{digits}g}"))))
    return number(value, max(decimals, 0))


def count(n: int) -> str:
    """A whole number with its thousands set apart.

    Examples
    --------
    >>> count(10000)
    '10,000'
    """
    return f"{n:,}"


def counted(n: int, noun: str, plural: str = "") -> str:
    """A count with its noun.

    Examples
    --------
    >>> counted(1, "group"), counted(10000, "instance"), counted(2, "class", "classes")
    ('1 group', '10,000 instances', '2 classes')
    """
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def part_of(n: int, total: int, noun: str) -> str:
    """A count out of a total, with the noun.

    Examples
    --------
    >>> part_of(500, 10000, "instance"), part_of(300, 300, "instance"), part_of(1, 1, "group")
    ('500 of 10,000 instances', 'all 300 instances', 'the only group')
    """
    if n == total == 1:
        return f"the only {noun}"
    return f"all {counted(n, noun)}" if n == total else f"{n:,} of {counted(total, noun)}"


def tradeoff(value: float) -> str:
    """A value of λ: two decimals, or two digits below 0.1; a value that is shorter stays as it is.

    Examples
    --------
    >>> tradeoff(0.5), tradeoff(0.062668), tradeoff(0.7071), tradeoff(2.0), tradeoff(float("inf"))
    ('0.5', '0.063', '0.71', '2', '∞')
    """
    if math.isinf(value):
        return "∞"
    text = f"{value:.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"
    exact = f"{value:g}"
    return exact if len(exact) < len(text) else text


# -- shares and p-values -----------------------------------------------------------------------------------------------


def percent(share: float | None, decimals: int = 1, *, in_sentence: bool = False) -> str:
    """A share in percent; what would round to 0 or 100 without being it is written as a bound, in a sentence by words.

    Examples
    --------
    >>> percent(0.9731), percent(0.9999), percent(0.0), percent(1.0), percent(None), percent(0.95, 0)
    ('97.3 %', '>99.9 %', '0.0 %', '100.0 %', '–', '95 %')
    >>> percent(0.9999, in_sentence=True), percent(0.0001, in_sentence=True)
    ('more than 99.9 %', 'less than 0.1 %')
    """
    less, more = ("less than ", "more than ") if in_sentence else "<>"
    if share is None or math.isnan(share):
        return ABSENT
    half = 0.5 * 10 ** (-decimals - 2)
    if 0 < share <= half:
        return f"{less}{100 * 2 * half:.{decimals}f} %"
    if 1 - half <= share < 1:
        return f"{more}{100 * (1 - 2 * half):.{decimals}f} %"
    return f"{100 * share:.{decimals}f} %".replace("-", "−")


def percent_interval(low: float, high: float, decimals: int = 1, *, in_sentence: bool = False) -> str:
    """Both ends of an interval of a share, in percent; a dash where an end is undefined or there is no width.

    Examples
    --------
    >>> percent_interval(0.969, 0.99), percent_interval(0.991, 0.9999), percent_interval(float("nan"), 1.0)
    ('96.9 to 99.0 %', '99.1 to >99.9 %', '–')
    >>> percent_interval(0.991, 0.9999, in_sentence=True)
    '99.1 to more than 99.9 %'
    """
    if math.isnan(low) or math.isnan(high) or low == high:
        return ABSENT
    first, second = (percent(end, decimals, in_sentence=in_sentence) for end in (low, high))
    return f"{first.removesuffix(' %')} to {second}"


def level_text(level: float) -> str:
    """A confidence level in percent.

    Examples
    --------
    >>> level_text(0.95), level_text(0.999), level_text(1 / 3)
    ('95 %', '99.9 %', '33.3333 %')
    """
    return f"{100 * level:g} %"


def share_of_draws(share: float | None, n_draws: int, *, in_sentence: bool = False) -> str:
    """A share of random draws in percent; all or none of them is written as a bound, because the next draw may differ.

    Examples
    --------
    >>> share_of_draws(1.0, 2000), share_of_draws(0.0, 2000), share_of_draws(0.25, 2000), share_of_draws(1.0, 100)
    ('>99.9 %', '<0.1 %', '25.0 %', '>99.0 %')
    >>> share_of_draws(1.0, 2000, in_sentence=True)
    'more than 99.9 %'
    """
    if share is None or math.isnan(share):
        return ABSENT
    least = math.ceil(1000 * max(LEAST_SHARE, 1 / n_draws) - 1e-9)  # per mille
    less, more = ("less than ", "more than ") if in_sentence else "<>"
    if 1000 * share > 1000 - least:
        return f"{more}{(1000 - least) / 10:.1f} %"
    return f"{less}{least / 10:.1f} %" if 1000 * share < least else percent(share)


def pvalue(p: float) -> str:
    """A p-value alone, as in a column of a table.

    Examples
    --------
    >>> pvalue(0.2134), pvalue(0.0042), pvalue(1e-9), pvalue(1.0), pvalue(float("nan"))
    ('.21', '.004', '<.001', '1.00', '–')
    """
    if math.isnan(p):
        return ABSENT
    if p < 0.001:
        return "<.001"
    text = f"{p:.3f}" if p < 0.0095 else f"{p:.2f}"
    return text.removeprefix("0")


def pvalue_text(p: float, relation: str = "=") -> str:
    """A p-value in a sentence; `relation` is "≤" or "≥" where it stands for several.

    Examples
    --------
    >>> pvalue_text(0.25), pvalue_text(0.006, "≤"), pvalue_text(0.0001, "≥"), pvalue_text(float("nan"))
    ('p = .25', 'p ≤ .006', 'p < .001', 'p undefined')
    """
    if math.isnan(p):
        return "p undefined"
    text = pvalue(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p {relation} {text}"


# -- intervals ---------------------------------------------------------------------------------------------------------


def interval(low: float, high: float, decimals: int = 3) -> str:
    """Both ends of an interval; a dash where an end is undefined or there is no width.

    Examples
    --------
    >>> interval(0.49, 0.51), interval(float("nan"), 0.51)
    ('0.490 to 0.510', '–')
    """
    if math.isnan(low) or math.isnan(high) or low == high:
        return ABSENT
    return f"{number(low, decimals)} to {number(high, decimals)}"


def rank_range(low: int, high: int) -> str:
    """The ranks that a model can have.

    Examples
    --------
    >>> rank_range(1, 3), rank_range(2, 2)
    ('1–3', '2')
    """
    return str(low) if low == high else f"{low}–{high}"


def estimate_text(value: float, low: float, high: float, *, level: float | None = None, decimals: int = 3) -> str:
    """A number with its interval in a sentence; the number alone where there is no interval.

    Examples
    --------
    >>> estimate_text(0.34, 0.319, 0.363, level=0.95), estimate_text(0.5, float("nan"), float("nan"))
    ('0.340 (95 % interval 0.319 to 0.363)', '0.500')
    """
    if not (math.isfinite(low) and math.isfinite(high)) or low == high:
        return number(value, decimals)
    words = "" if level is None else f"{level_text(level)} interval "
    return f"{number(value, decimals)} ({words}{interval(low, high, decimals)})"


def decimals_for(intervals: Iterable[tuple[float, float]]) -> int:
    """Decimals of a column: the narrowest interval's half width keeps two digits; from 3 to 6.

    Examples
    --------
    >>> decimals_for([(0.4942, 0.5058)]), decimals_for([(0.5 - 1e-16, 0.5)])  # the second has a width by rounding alone
    (4, 3)
    """
    halves = [((high - low) / 2, max(abs(low), abs(high))) for low, high in intervals]
    widths = [half for half, value in halves if math.isfinite(half) and half > 1e-12 * value]
    return min(6, max(3, 1 - math.floor(math.log10(min(widths))))) if widths else 3


# -- lists and sentences -----------------------------------------------------------------------------------------------


def listed(names: Sequence[str], *, last: str = "and", most: int | None = None) -> str:
    """Names in a sentence; with `most`, the rest of a long list is counted.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b"], last="or"), listed(list("abcdef"), most=3)
    ('a', 'a, b and c', 'a or b', 'a, b, c and 3 others')
    """
    if most is not None and len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} others"]
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def drawable(name: str) -> str:
    r"""A name from data as matplotlib shows it letter by letter: no formulas, no legend entry that vanishes.

    Examples
    --------
    >>> drawable("a$b"), drawable("_net")
    ('a\\$b', ' _net')
    """
    shown = visible(name).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown  # matplotlib leaves labels with a leading _ out


def named(name: str) -> str:
    """A name from data in a list of names: in quotes where it is empty, has a comma, or begins or ends with a space.

    Examples
    --------
    >>> named("net"), named(""), named("a, b"), named(" x")
    ('net', "''", "'a, b'", "' x'")
    """
    if name and name == name.strip() and "," not in name:
        return name
    mark = '"' if "'" in name and '"' not in name else "'"
    return f"{mark}{name}{mark}"


def listed_names(names: Iterable[str], *, last: str = "and", most: int | None = None) -> str:
    """Names from data in a sentence, as `listed`.

    Examples
    --------
    >>> listed_names(["", "a, b", "c"])
    "'', 'a, b' and c"
    """
    return listed([named(name) for name in names], last=last, most=most)


def sentence(clauses: Sequence[str]) -> str:
    """Clauses as one sentence, with a capital at its start and a full stop.

    Examples
    --------
    >>> sentence(["below λ = 0.2 choose a", "above, b"])
    'Below λ = 0.2 choose a; above, b.'
    """
    text = _CLAUSE.join(clauses)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def text_table(header: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table in plain text: the first column to the left, the others to the right.

    Examples
    --------
    >>> text_table(("model", "accuracy"), [("SNN", "0.9"), ("DE", "0.94")])
    ['  model  accuracy', '  SNN         0.9', '  DE         0.94']
    """
    lines = [tuple(header), *map(tuple, body)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  " + "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]


# -- characters --------------------------------------------------------------------------------------------------------


def said(problem: BaseException) -> str:
    """What an exception of another library says: its first sentences on one line, as far as 200 characters go."""
    return visible(" ".join(str(problem).split()))[:200].rstrip(". ")


def visible(text: str) -> str:
    r"""Text from data on one line, with every invisible character but spaces spelt out as Python writes it.

    The one rule for all that people read: control characters, line breaks, marks of direction, characters without width, and
    lone surrogates, which no encoding takes. Different texts stay different unless one of them spells such a character itself.

    Examples
    --------
    >>> print(visible("two\nlines, \x1b[1mbold, \u202eturned, \ud800"))
    two\nlines, \x1b[1mbold, \u202eturned, \ud800
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else repr(c)[1:-1] for c in text)


# Text from data in LaTeX, Markdown and HTML: every character is shown as it is, and none is taken for markup.

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


def shown(value: Any) -> str:
    """Short text of a value for an error: numbers and text as they are, arrays and long objects by their type.

    Examples
    --------
    >>> import numpy as np
    >>> shown(0.5), shown("both"), shown(np.zeros((2, 3)))
    ('0.5', "'both'", 'ndarray of shape (2, 3)')
    """
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} of shape {shape}"
    if isinstance(value, int) and abs(value) > 10**30:
        return f"a whole number beyond {10**30:.0e}"
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else type(value).__name__
