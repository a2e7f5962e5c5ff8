"""Words for models within a margin, and for the differences that a test set could have shown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from uqassay.wording import listed, listed_names, named, pvalue_text, significant

if TYPE_CHECKING:
    from uqassay.evidence.ranking import Ranked
    from uqassay.evidence.scoring import Settings

__all__ = ["could_have_shown", "margin_sentences", "no_worse_than", "within_margin"]

SHOWN_NAMES = 3


def could_have_shown(differences: Sequence[float]) -> str:
    """The smallest differences that a test set could have shown, as a clause; empty where there is none to tell.

    Examples
    --------
    >>> could_have_shown([0.01234]), could_have_shown([0.0123, 0.0301]), could_have_shown([float("inf")])
    ('this test set could have shown a difference of 0.012', 'this test set could have shown differences of 0.012 to 0.030', \
'this test set could have shown no difference')
    """
    known = [d for d in differences if not np.isnan(d) and d > 0]
    if not known:
        return ""
    start, (low, high) = "this test set could have shown", (min(known), max(known))
    if np.isinf(low):
        return f"{start} no difference"
    least, most = significant(low, 2), significant(high, 2)
    if np.isinf(high):
        return f"{start} a difference of {least} at best"
    return f"{start} a difference of {least}" if least == most else f"{start} differences of {least} to {most}"


def within_margin(names: Sequence[str], margin: float, pvalues: Sequence[float]) -> str:
    """Which models are shown to be no worse by more than the margin, as a clause.

    Examples
    --------
    >>> within_margin(["b"], 0.01, [0.003]), within_margin(["b", "c"], 0.01, [0.003, 0.02])
    ('b is no worse by more than 0.01 (p = .003, adjusted for all models)', \
'b and c are no worse by more than 0.01 (p ≤ .02, adjusted for all models)')
    """
    who = f"{listed_names(names, most=SHOWN_NAMES)} {'is' if len(names) == 1 else 'are'}"
    p = pvalue_text(max(pvalues), "=" if len(pvalues) == 1 else "≤")
    return f"{who} {no_worse_than(margin)} ({p}, adjusted for all models)"


def no_worse_than(margin: float) -> str:
    """The claim on one model.

    Examples
    --------
    >>> no_worse_than(0.01)
    'no worse by more than 0.01'
    """
    return f"no worse by more than {margin:g}"


def margin_sentences(rows: "Sequence[Ranked]", settings: "Settings") -> list[str]:
    """Below a ranking: which models are no worse than the first by more than the margin, and what could have been shown."""
    alpha, said = 1 - settings.level, []
    within = [r for r in rows if r.rank not in (None, 1) and r.pvalue_no_worse <= alpha]
    if within and settings.margin is not None:
        names, pvalues = [r.model for r in within], [r.pvalue_no_worse for r in within]
        said.append(f"{within_margin(names, settings.margin, pvalues)}.")
    level_with = [r for r in rows if r.rank not in (None, 1) and r.detectable > 0 and r not in within]
    if level_with:
        each = [
            f"{named(r.model)} {'none' if np.isinf(r.detectable) else significant(r.detectable, 2)}" for r in level_with
        ]
        said.append(f"Differences that this test set could have shown: {listed(each, most=SHOWN_NAMES)}.")
    return said
