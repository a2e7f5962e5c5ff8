"""One number per instance: entropies, variances, votes, free energy, non-specificity, credal uncertainty, width."""

from uqassay.measures.class_sets import not_ruled_out
from uqassay.measures.confidence import least_confidence, margin_uncertainty
from uqassay.measures.credal_entropy import credal_uncertainty, lower_entropy, upper_entropy
from uqassay.measures.credal_widths import credal_width
from uqassay.measures.decomposition import DECOMPOSITIONS, DecompositionInfo, decompose, decomposition_names
from uqassay.measures.entropies import Decomposition, entropy, entropy_decomposition
from uqassay.measures.free_energies import free_energy
from uqassay.measures.gaussian_parts import gaussian_logits_decomposition
from uqassay.measures.hartley import Nonspecificity, generalised_hartley, hartley_weights
from uqassay.measures.label_moments import ProbabilityMoments, probability_moments
from uqassay.measures.label_wise import label_wise_decomposition, label_wise_parts
from uqassay.measures.nonspecificities import nonspecificity
from uqassay.measures.proper_scores import proper_score_decomposition
from uqassay.measures.scores import SCORES, Score, score_names, uncertainty_score
from uqassay.measures.variance import predicted_class_variance, total_variance, variance_decomposition
from uqassay.measures.votes import variation_ratio, vote_entropy
from uqassay.measures.zero_one import zero_one_decomposition

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
