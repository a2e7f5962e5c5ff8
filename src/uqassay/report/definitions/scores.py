"""Definitions of the uncertainty scores, and their names in words."""

from uqassay.measures.scores import SCORES
from uqassay.report.definitions.entry import RANKING_PAPER, UNIFIED_PAPER, Definition

__all__ = ["score_definition", "score_label"]

_SYMBOLS = {  # equations of uncertainty scores
    "least-confidence": "1 − max over c of p̄(c)",
    "margin": "1 − (p̄₍₁₎ − p̄₍₂₎), the two largest",
    "total-entropy": "H(p̄) = −Σ p̄(c) ln p̄(c)",
    "aleatoric-entropy": "mean of H(p)",
    "epistemic-entropy": "H(p̄) − mean of H(p)",
    "total-variance": "Σ p̄(c) (1 − p̄(c))",
    "aleatoric-variance": "mean of Σ p(c) (1 − p(c))",
    "epistemic-variance": "Σ over c of Var p(c)",
    "predicted-class-variance": "Var p(ŷ)",
    "free-energy": "−ln Σ exp z(c)",
    "credal-width": "1/K · Σ over c of (P̄(c) − P̲(c))",
    "upper-entropy": "max over p of H(p)",
    "lower-entropy": "min over p of H(p)",
    "credal-uncertainty": "max over p of H(p) − min over p of H(p)",
}


def score_label(name: str) -> str:
    """Name of an uncertainty score in words; a score that the user gave keeps its name.

    Examples
    --------
    >>> score_label("total-entropy"), score_label("nonspecificity"), score_label("my-density")
    ('total entropy', 'non-specificity', 'my-density')
    """
    if name == "nonspecificity":
        return "non-specificity"
    return name.replace("-", " ") if name in SCORES else name


def score_definition(name: str) -> Definition:
    """The definition of one of the package's uncertainty scores."""
    score, label = SCORES[name], score_label(name)
    unit = "" if score.unit in ("probability", "share") else f" In {score.unit}."
    source = score.source.replace("paper 000", UNIFIED_PAPER).replace("paper 003", RANKING_PAPER)
    return Definition(label[0].upper() + label[1:], score.sentence + unit, _SYMBOLS.get(name, ""), source)
