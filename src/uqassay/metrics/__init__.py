"""One number per test set, or the terms of its mean: unified loss, ranking metrics, calibration error, selection."""

from uqassay.metrics.calibration_error import classwise_calibration_error, confidence_calibration_error
from uqassay.metrics.calibration_measures import CALIBRATION_MEASURES, CalibrationMeasure, calibration_measure
from uqassay.metrics.coverage_at_risk import coverage_at_risk_score
from uqassay.metrics.density_calibration_error import density_bandwidth, density_calibration_error
from uqassay.metrics.hosmer_lemeshow import HosmerLemeshowTest, hosmer_lemeshow_statistic, hosmer_lemeshow_test
from uqassay.metrics.kernel_calibration_error import kernel_calibration_error
from uqassay.metrics.kernel_calibration_pvalue import KernelCalibrationTest, kernel_calibration_estimate, skce_pvalue
from uqassay.metrics.one_versus_rest import OneVersusRest, one_versus_rest_scores
from uqassay.metrics.ood_detection import OOD_METRICS, OodMetric, aupr_score, fpr_at_tpr_error, ood_auc_score
from uqassay.metrics.point_scores import brier_loss, is_correct, log_loss
from uqassay.metrics.proper_score_parts import ProperScoreParts, proper_score_parts
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
from uqassay.metrics.reliability import Reliability, expected_calibration_error, reliability, reliability_diagram
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
    "CALIBRATION_MEASURES",
    "OOD_METRICS",
    "RANKING_METRICS",
    "CalibrationMeasure",
    "CorrelationStudy",
    "HosmerLemeshowTest",
    "KernelCalibrationTest",
    "MetricCorrelation",
    "OneVersusRest",
    "OodMetric",
    "ProperScoreParts",
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
    "calibration_measure",
    "classwise_calibration_error",
    "confidence_calibration_error",
    "correlation_study",
    "coverage_at_risk_score",
    "density_bandwidth",
    "density_calibration_error",
    "e_aurc_loss",
    "expected_calibration_error",
    "fpr_at_tpr_error",
    "g_auc_score",
    "h_auc_score",
    "hosmer_lemeshow_statistic",
    "hosmer_lemeshow_test",
    "is_correct",
    "kendall_tau_score",
    "kernel_calibration_error",
    "kernel_calibration_estimate",
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
    "proper_score_parts",
    "ranking_changes",
    "reliability",
    "reliability_diagram",
    "risk_coverage_curve",
    "selective_gain",
    "skce_pvalue",
    "tradeoff_range",
    "tradeoff_scale",
    "unified_loss",
    "uq_auc_score",
    "uq_c_index_score",
]
