"""One number per instance: entropies, variances, non-specificity, credal uncertainty, width."""

from uqassay.measures.confidence import least_confidence, margin_uncertainty
from uqassay.measures.credal_entropy import credal_uncertainty, lower_entropy, upper_entropy
from uqassay.measures.credal_width import credal_width
from uqassay.measures.entropy import Decomposition, entropy, entropy_decomposition
from uqassay.measures.hartley import Nonspecificity, generalised_hartley, hartley_weights
from uqassay.measures.nonspecificity import nonspecificity
from uqassay.measures.scores import SCORES, uncertainty_score
from uqassay.measures.variance import variance_decomposition

__all__ = [
    "SCORES",
    "Decomposition",
    "Nonspecificity",
    "credal_uncertainty",
    "credal_width",
    "entropy",
    "entropy_decomposition",
    "generalised_hartley",
    "hartley_weights",
    "least_confidence",
    "lower_entropy",
    "margin_uncertainty",
    "nonspecificity",
    "uncertainty_score",
    "upper_entropy",
    "variance_decomposition",
]
