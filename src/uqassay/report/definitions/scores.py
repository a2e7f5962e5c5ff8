"""Definitions of the uncertainty scores, and their names in words."""

from uqassay.measures.scores import SCORES
from uqassay.report.definitions.entry import DISENTANGLEMENT_PAPER, RANKING_PAPER, UNIFIED_PAPER, Definition

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
    "upper-entropy-box": "max of H(p) over P̲ ≤ p ≤ P̄",
    "lower-entropy-box": "min of H(p) over P̲ ≤ p ≤ P̄",
    "credal-uncertainty-box": "max of H(p) − min of H(p), both over P̲ ≤ p ≤ P̄",
    "total-gaussian-logits": "H(mean of softmax(z)), z ~ N(mean of μ, mean of σ² + Var μ)",
    "aleatoric-gaussian-logits": "H(mean of softmax(z)), z ~ N(mean of μ, mean of σ²)",
    "epistemic-gaussian-logits": "H(mean of softmax(z)), z ~ N(mean of μ, Var μ)",
    "total-label-wise": "Σ over c of h(p̄(c)), h(x) = −x ln x − (1 − x) ln(1 − x)",
    "aleatoric-label-wise": "mean of Σ over c of h(p(c))",
    "epistemic-label-wise": "Σ over c of (h(p̄(c)) − mean of h(p(c)))",
    "total-zero-one": "1 − max over c of p̄(c)",
    "aleatoric-zero-one": "mean of 1 − max over c of p(c)",
    "epistemic-zero-one": "mean of max over c of p(c) − max over c of p̄(c)",
    "total-spherical": "1 − ‖p̄‖₂",
    "aleatoric-spherical": "mean of 1 − ‖p‖₂",
    "epistemic-spherical": "mean of ‖p‖₂ − ‖p̄‖₂",
    "epistemic-pairwise-kl": "mean over p and q of Σ p(c) ln(p(c) / q(c))",
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
    unit = "" if score.unit in ("probability", "share", "spherical score") else f" In {score.unit}."
    source = score.source
    for paper, title in (("000", UNIFIED_PAPER), ("003", RANKING_PAPER), ("004", DISENTANGLEMENT_PAPER)):
        source = source.replace(f"paper {paper}", title)
    return Definition(label[0].upper() + label[1:], score.sentence + unit, _SYMBOLS.get(name, ""), source)
