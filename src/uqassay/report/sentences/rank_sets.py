"""Rank sets: headings, notes and labels of the page's two pictures."""

from typing import TYPE_CHECKING, Any

from uqassay.evidence.ranking_words import MARKS, limit_notes
from uqassay.wording import level_text

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["rank_set_sentences"]


def rank_set_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> import uqassay as uq
    >>> rank_set_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))["at"]
    'mean E at λ = {tradeoff}'
    """
    level = level_text(assay.settings.level)
    return {
        "title": "Ranks that each model can have",
        "by": "by",
        "at": "mean E at λ = {tradeoff}",
        "note": (
            f"Bar: all ranks that the tests of all pairs leave open, {level} for all models at once. Dot: the rank in this "
            "test set. Full colour: no model is shown to be better (the top group). Dashed: a baseline."
        ),
        "top_title": "Top group at every λ",
        "top_note": (
            f"Coloured: no model is shown to be better at this λ ({level} at each λ by itself). Pale: but a baseline has a "
            "lower mean E. Line: the λ chosen above."
        ),
        "never": "{n} of {models} models are in the top group at no λ.",
        "strip": "{model} is in the top group at λ {ranges}",
        "strip_empty": "{model} is in the top group at no λ",
        "bar": "{model}: ranks {ranks}",
        "no_value": "undefined",
        "heads": {
            "model": "Model",
            "ranks": "Ranks",
            "value": "Value",
            "range": "Ranks from 1 to {models}",
            "top": "λ",
        },
        "limited": limit_notes(assay),
        "marks": MARKS,
    }
