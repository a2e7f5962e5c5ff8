"""One number per instance and its label: unified loss, log loss, Brier loss, wrong or right, probability gap."""

from uqassay.losses.unified import (
    DEFAULT_TRADEOFF,
    FLOORS,
    UnifiedLoss,
    brier_loss,
    is_correct,
    log_loss,
    prediction_errors,
    probability_gap,
    unified_loss,
)
from uqassay.losses.votes import counts_of_votes, second_order_gap, squared_truth_distance

__all__ = [
    "DEFAULT_TRADEOFF",
    "FLOORS",
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
