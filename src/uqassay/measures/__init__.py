"""One number per instance: entropies, variances, votes, free energy, non-specificity, credal uncertainty, width."""

from uqassay.measures.entropies import (
    Decomposition,
    credal_uncertainty,
    entropy,
    entropy_decomposition,
    label_wise_decomposition,
    label_wise_parts,
    least_confidence,
    lower_entropy,
    margin_uncertainty,
    upper_entropy,
)
from uqassay.measures.logits import free_energy, gaussian_logits_decomposition
from uqassay.measures.nonspecificities import (
    Nonspecificity,
    credal_width,
    generalised_hartley,
    hartley_weights,
    nonspecificity,
    not_ruled_out,
)
from uqassay.measures.proper import proper_score_decomposition
from uqassay.measures.registry import (
    DECOMPOSITIONS,
    SCORES,
    DecompositionInfo,
    Score,
    decompose,
    decomposition_names,
    score_columns,
    score_names,
    uncertainty_score,
)
from uqassay.measures.variance import (
    ProbabilityMoments,
    predicted_class_variance,
    probability_moments,
    total_variance,
    variance_decomposition,
    variation_ratio,
    vote_entropy,
    zero_one_decomposition,
)

__all__ = [
    "DECOMPOSITIONS",
    "SCORES",
    "Decomposition",
    "DecompositionInfo",
    "Nonspecificity",
    "ProbabilityMoments",
    "Score",
    "credal_uncertainty",
    "credal_width",
    "decompose",
    "decomposition_names",
    "entropy",
    "entropy_decomposition",
    "free_energy",
    "gaussian_logits_decomposition",
    "generalised_hartley",
    "hartley_weights",
    "label_wise_decomposition",
    "label_wise_parts",
    "least_confidence",
    "lower_entropy",
    "margin_uncertainty",
    "nonspecificity",
    "not_ruled_out",
    "predicted_class_variance",
    "probability_moments",
    "proper_score_decomposition",
    "score_columns",
    "score_names",
    "total_variance",
    "uncertainty_score",
    "upper_entropy",
    "variance_decomposition",
    "variation_ratio",
    "vote_entropy",
    "zero_one_decomposition",
]


def __dir__() -> list[str]:
    return sorted(__all__)
