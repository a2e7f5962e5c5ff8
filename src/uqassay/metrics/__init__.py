"""One number per test set, or the terms of its mean: unified loss, ranking metrics, calibration error, selection."""

from uqassay.metrics.calibration_error import Reliability, expected_calibration_error, reliability
from uqassay.metrics.coverage_at_risk import coverage_at_risk_score
from uqassay.metrics.one_versus_rest import OneVersusRest, one_versus_rest_scores
from uqassay.metrics.ood_detection import OOD_METRICS, OodMetric, aupr_score, fpr_at_tpr_error, ood_auc_score
from uqassay.metrics.point_scores import brier_loss, is_correct, log_loss
from uqassay.metrics.ranking import (
    g_auc_score,
    h_auc_score,
    prediction_errors,
    probability_gap,
    uq_auc_score,
    uq_c_index_score,
)
from uqassay.metrics.ranking_comparisons import paired_ranking_test, pairwise_ranking_tests
from uqassay.metrics.ranking_metrics import RANKING_METRICS, RankingMetric
from uqassay.metrics.ranking_truth import (
    CorrelationStudy,
    MetricCorrelation,
    correlation_study,
    kendall_tau_score,
    misalignment_truth,
    misclassification_truth,
)
from uqassay.metrics.risk_areas import augrc_loss, aurc_loss, e_aurc_loss, prediction_rejection_score
from uqassay.metrics.risk_coverage import RiskCoverage, risk_coverage_curve
from uqassay.metrics.selection import (
    TradeoffRange,
    WinningInterval,
    lower_envelope,
    ranking_changes,
    tradeoff_range,
    tradeoff_scale,
)
from uqassay.metrics.selective_accuracy import SelectiveGain, accuracy_at_coverage_score, selective_gain
from uqassay.metrics.unified import UnifiedLoss, unified_loss

__all__ = [
    "OOD_METRICS",
    "RANKING_METRICS",
    "CorrelationStudy",
    "MetricCorrelation",
    "OneVersusRest",
    "OodMetric",
    "RankingMetric",
    "Reliability",
    "RiskCoverage",
    "SelectiveGain",
    "TradeoffRange",
    "UnifiedLoss",
    "WinningInterval",
    "accuracy_at_coverage_score",
    "augrc_loss",
    "aupr_score",
    "aurc_loss",
    "brier_loss",
    "correlation_study",
    "coverage_at_risk_score",
    "e_aurc_loss",
    "expected_calibration_error",
    "fpr_at_tpr_error",
    "g_auc_score",
    "h_auc_score",
    "is_correct",
    "kendall_tau_score",
    "log_loss",
    "lower_envelope",
    "misalignment_truth",
    "misclassification_truth",
    "one_versus_rest_scores",
    "ood_auc_score",
    "paired_ranking_test",
    "pairwise_ranking_tests",
    "prediction_errors",
    "prediction_rejection_score",
    "probability_gap",
    "ranking_changes",
    "reliability",
    "risk_coverage_curve",
    "selective_gain",
    "tradeoff_range",
    "tradeoff_scale",
    "unified_loss",
    "uq_auc_score",
    "uq_c_index_score",
]
