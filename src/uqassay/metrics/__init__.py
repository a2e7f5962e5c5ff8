"""One number per test set, or the terms of its mean: unified loss, accuracy, log loss, calibration error, selection."""

from uqassay.metrics.calibration_error import Reliability, expected_calibration_error, reliability
from uqassay.metrics.point_scores import brier_loss, is_correct, log_loss
from uqassay.metrics.selection import (
    TradeoffRange,
    WinningInterval,
    lower_envelope,
    ranking_changes,
    tradeoff_range,
    tradeoff_scale,
)
from uqassay.metrics.unified import UnifiedLoss, unified_loss

__all__ = [
    "Reliability",
    "TradeoffRange",
    "UnifiedLoss",
    "WinningInterval",
    "brier_loss",
    "expected_calibration_error",
    "is_correct",
    "log_loss",
    "lower_envelope",
    "ranking_changes",
    "reliability",
    "tradeoff_range",
    "tradeoff_scale",
    "unified_loss",
]
