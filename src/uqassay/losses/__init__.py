"""One number per instance and its label: unified loss, log loss, Brier loss, wrong or right, probability gap."""

from uqassay.losses.errors import is_correct, prediction_errors, probability_gap
from uqassay.losses.proper_scores import brier_loss, log_loss
from uqassay.losses.unified import UnifiedLoss, unified_loss
from uqassay.losses.vote_counts import counts_of_votes
from uqassay.losses.vote_distance import second_order_gap, squared_truth_distance

__all__ = [
    "UnifiedLoss",
    "brier_loss",
    "counts_of_votes",
    "is_correct",
    "log_loss",
    "prediction_errors",
    "probability_gap",
    "second_order_gap",
    "squared_truth_distance",
    "unified_loss",
]


def __dir__() -> list[str]:
    return sorted(__all__)
