"""Numbers and names as a reader wants them in a terminal."""

import math
import shlex
from collections.abc import Iterable

from uqassay.statistics import Estimate

__all__ = [
    "ABSENT",
    "chance",
    "decimals_for",
    "fixed",
    "interval",
    "percent",
    "printable",
    "pvalue",
    "shell_line",
    "tradeoff_text",
    "unicode_text",
]

ABSENT = "–"


def printable(text: str) -> str:
    r"""Text from data with its control characters spelt out, so that it cannot move the cursor or change colours.

    Examples
    --------
    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def unicode_text(argument: str) -> str:
    r"""A command-line argument as text that every encoding of Unicode takes; bytes that are no UTF-8 are spelt out.

    Python keeps such bytes, and in an ASCII locale all bytes beyond ASCII, as lone surrogates.

    Examples
    --------
    >>> unicode_text("mod\udce9"), unicode_text("\udcce\udcbb"), unicode_text("λ")
    ('mod\\xe9', 'λ', 'λ')
    """
    try:
        given = argument.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        given = argument.encode("utf-8", "backslashreplace")
    return given.decode("utf-8", "backslashreplace")


def shell_line(arguments: Iterable[str]) -> str:
    r"""Command-line arguments as a shell reads them, with bytes that are no UTF-8 as ``$'…'``.

    Examples
    --------
    >>> print(shell_line(["uqassay", "a b.npz", "mod\udce9.npz"]))
    uqassay 'a b.npz' $'mod\xe9.npz'
    """
    words = []
    for argument in arguments:
        whole = unicode_text(argument)
        if whole.count("\\") == argument.count("\\"):
            words.append(shlex.quote(whole))
        else:
            spelt = unicode_text(argument.replace("\\", "\\\\").replace("'", "\\'"))
            words.append(f"$'{spelt}'")
    return " ".join(words)


def decimals_for(estimates: Iterable[Estimate]) -> int:
    """Decimals of a column: the narrowest interval's half width keeps two digits; from 3 to 6.

    Examples
    --------
    >>> decimals_for([Estimate(0.5, low=0.4942, high=0.5058, level=0.95, n=9, method="")])
    4
    """
    halves = [(e.high - e.low) / 2 for e in estimates]
    widths = [half for half in halves if math.isfinite(half) and half > 0]
    return min(6, max(3, 1 - math.floor(math.log10(min(widths))))) if widths else 3


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals; a dash for nan.

    Examples
    --------
    >>> fixed(0.25, 3), fixed(float("inf"), 3), fixed(float("nan"), 3)
    ('0.250', '∞', '–')
    """
    if math.isnan(value):
        return ABSENT
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.{decimals}f}"


def interval(estimate: Estimate, decimals: int) -> str:
    """Both ends of a confidence interval.

    Examples
    --------
    >>> interval(Estimate(0.5, low=0.49, high=0.51, level=0.95, n=9, method=""), 3)
    '0.490 to 0.510'
    """
    if math.isnan(estimate.low) or math.isnan(estimate.high) or estimate.low == estimate.high:
        return ABSENT
    return f"{fixed(estimate.low, decimals)} to {fixed(estimate.high, decimals)}"


def percent(share: float | None) -> str:
    """A share in percent with one decimal.

    Examples
    --------
    >>> percent(0.9731), percent(0.9999), percent(0.0), percent(1.0), percent(None)
    ('97.3 %', '>99.9 %', '0.0 %', '100.0 %', '–')
    """
    if share is None or math.isnan(share):
        return ABSENT
    if 0 < share < 0.0005 or 0.9995 <= share < 1:
        return "<0.1 %" if share < 0.5 else ">99.9 %"
    return f"{100 * share:.1f} %"


def chance(share: float | None, n_draws: int) -> str:
    """A share of random draws in percent; all or none of many draws is no certainty.

    Examples
    --------
    >>> chance(1.0, 2000), chance(0.0, 2000), chance(0.25, 2000), chance(1.0, 100)
    ('>99.9 %', '<0.1 %', '25.0 %', '100.0 %')
    """
    if share is not None and n_draws >= 1000 and not 0.001 <= share <= 0.999:
        return ABSENT if math.isnan(share) else "<0.1 %" if share < 0.5 else ">99.9 %"
    return percent(share)


def pvalue(p: float) -> str:
    """A p-value with as many digits as matter.

    Examples
    --------
    >>> pvalue(0.2134), pvalue(0.0042), pvalue(1e-9), pvalue(float("nan"))
    ('0.21', '0.004', '<0.001', '–')
    """
    if math.isnan(p):
        return ABSENT
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.0095 else f"{p:.2f}"


def tradeoff_text(tradeoff: float) -> str:
    """λ with three significant digits or, where it was given with more, as it is.

    Examples
    --------
    >>> tradeoff_text(0.5), tradeoff_text(0.062668), tradeoff_text(float("inf"))
    ('0.5', '0.0627', '∞')
    """
    return "∞" if math.isinf(tradeoff) else f"{tradeoff:.3g}"
