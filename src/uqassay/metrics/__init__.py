"""Metrics with confidence intervals: ranking of errors, calibration errors, selective prediction, detection of other inputs.

Modules are imported when their names are first used.
"""

from typing import TYPE_CHECKING

from uqassay._lazy import lazy_names

if TYPE_CHECKING:
    from uqassay.metrics.calibration.binned_error import classwise_calibration_error, confidence_calibration_error
    from uqassay.metrics.calibration.cumulative_error import cumulative_calibration_error
    from uqassay.metrics.calibration.density_error import density_bandwidth, density_calibration_error
    from uqassay.metrics.calibration.error_interval import calibration_error_estimate
    from uqassay.metrics.calibration.hosmer_lemeshow import hosmer_lemeshow_statistic
    from uqassay.metrics.calibration.kernel_error import kernel_calibration_error
    from uqassay.metrics.calibration.measures import CALIBRATION_MEASURES, CalibrationMeasure, calibration_measure
    from uqassay.metrics.calibration.proper_score_parts import ProperScoreParts, proper_score_parts
    from uqassay.metrics.calibration.reliability import (
        Reliability,
        expected_calibration_error,
        reliability,
        reliability_diagram,
    )
    from uqassay.metrics.calibration.smooth_error import smooth_calibration_error
    from uqassay.metrics.choice_of_tradeoff import (
        TradeoffRange,
        WinningInterval,
        lower_envelope,
        ranking_changes,
        tradeoff_range,
        tradeoff_scale,
    )
    from uqassay.metrics.delay import DelayCurve, delay_curve, delay_curve_of_gains
    from uqassay.metrics.disentanglement import (
        Disentanglement,
        PooledDisentanglement,
        Term,
        disentanglement_error,
        recombined_error,
    )
    from uqassay.metrics.disentanglement_curves import Curves, expected_absolute_correlation
    from uqassay.metrics.disentanglement_tests import (
        PairedDisentanglementTest,
        below_chance_test,
        paired_disentanglement_test,
        swap_test,
    )
    from uqassay.metrics.doubts import DOUBT_SOURCES, DoubtSources, SourceAtShare, doubt_sources
    from uqassay.metrics.epistemic_calibration import (
        EpistemicCalibration,
        epistemic_calibration_error,
        mapped_calibration_error,
    )
    from uqassay.metrics.epistemic_correlation import epistemic_correlation_score
    from uqassay.metrics.epistemic_trends import EpistemicTrend, TrendStep, epistemic_trend_test
    from uqassay.metrics.estimate_intervals import gain_bins
    from uqassay.metrics.gains import GAIN_LOSSES, TrueUncertainty, gain, true_uncertainty
    from uqassay.metrics.ood.detection import OOD_METRICS, OodMetric, aupr_score, fpr_at_tpr_error, ood_auc_score
    from uqassay.metrics.ood.scod import SCOD_METRICS, ScodMetric, scod_augrc_loss, scod_aurc_loss, scod_risk_loss
    from uqassay.metrics.rank_correlations import EstimateCorrelations, estimate_correlations
    from uqassay.metrics.ranking.auc_and_c_index import g_auc_score, h_auc_score, uq_auc_score, uq_c_index_score
    from uqassay.metrics.ranking.comparisons import paired_ranking_test, pairwise_ranking_tests
    from uqassay.metrics.ranking.ground_truths import (
        CorrelationStudy,
        MetricCorrelation,
        correlation_study,
        kendall_tau_score,
        misalignment_truth,
        misclassification_truth,
    )
    from uqassay.metrics.ranking.one_versus_rest import OneVersusRest, one_versus_rest_scores
    from uqassay.metrics.ranking.registry import RANKING_METRICS, RankingMetric
    from uqassay.metrics.risk.certified_refusal import CertifiedRefusal, certified_refusal
    from uqassay.metrics.risk.coverage_at_risk import coverage_at_risk_score
    from uqassay.metrics.risk.expected_cost import ExpectedCost, expected_cost_curve
    from uqassay.metrics.risk.risk_areas import augrc_loss, aurc_loss, e_aurc_loss, prediction_rejection_score
    from uqassay.metrics.risk.risk_coverage import RiskCoverage, risk_coverage_curve
    from uqassay.metrics.risk.selective_accuracy import SelectiveGain, accuracy_at_coverage_score, selective_gain
    from uqassay.metrics.scorers import UncertaintyScorer, prediction_metric
    from uqassay.metrics.sets.class_set_scores import (
        ClassSetScores,
        class_set_scores,
        mean_set_size,
        set_coverage_score,
        set_utility_score,
    )
    from uqassay.metrics.sets.decision_costs import set_decision_cost
    from uqassay.metrics.streaming_metric import StreamingMetric

_WHERE = {
    "CALIBRATION_MEASURES": "calibration.measures",
    "DOUBT_SOURCES": "doubts",
    "GAIN_LOSSES": "gains",
    "OOD_METRICS": "ood.detection",
    "RANKING_METRICS": "ranking.registry",
    "SCOD_METRICS": "ood.scod",
    "CalibrationMeasure": "calibration.measures",
    "CertifiedRefusal": "risk.certified_refusal",
    "ClassSetScores": "sets.class_set_scores",
    "CorrelationStudy": "ranking.ground_truths",
    "Curves": "disentanglement_curves",
    "DelayCurve": "delay",
    "Disentanglement": "disentanglement",
    "DoubtSources": "doubts",
    "EpistemicCalibration": "epistemic_calibration",
    "EpistemicTrend": "epistemic_trends",
    "EstimateCorrelations": "rank_correlations",
    "ExpectedCost": "risk.expected_cost",
    "MetricCorrelation": "ranking.ground_truths",
    "OneVersusRest": "ranking.one_versus_rest",
    "OodMetric": "ood.detection",
    "PairedDisentanglementTest": "disentanglement_tests",
    "PooledDisentanglement": "disentanglement",
    "ProperScoreParts": "calibration.proper_score_parts",
    "RankingMetric": "ranking.registry",
    "Reliability": "calibration.reliability",
    "RiskCoverage": "risk.risk_coverage",
    "ScodMetric": "ood.scod",
    "SelectiveGain": "risk.selective_accuracy",
    "SourceAtShare": "doubts",
    "StreamingMetric": "streaming_metric",
    "Term": "disentanglement",
    "TradeoffRange": "choice_of_tradeoff",
    "TrendStep": "epistemic_trends",
    "TrueUncertainty": "gains",
    "UncertaintyScorer": "scorers",
    "WinningInterval": "choice_of_tradeoff",
    "accuracy_at_coverage_score": "risk.selective_accuracy",
    "augrc_loss": "risk.risk_areas",
    "aupr_score": "ood.detection",
    "aurc_loss": "risk.risk_areas",
    "below_chance_test": "disentanglement_tests",
    "calibration_error_estimate": "calibration.error_interval",
    "calibration_measure": "calibration.measures",
    "certified_refusal": "risk.certified_refusal",
    "class_set_scores": "sets.class_set_scores",
    "classwise_calibration_error": "calibration.binned_error",
    "confidence_calibration_error": "calibration.binned_error",
    "correlation_study": "ranking.ground_truths",
    "coverage_at_risk_score": "risk.coverage_at_risk",
    "cumulative_calibration_error": "calibration.cumulative_error",
    "delay_curve": "delay",
    "delay_curve_of_gains": "delay",
    "density_bandwidth": "calibration.density_error",
    "density_calibration_error": "calibration.density_error",
    "disentanglement_error": "disentanglement",
    "doubt_sources": "doubts",
    "e_aurc_loss": "risk.risk_areas",
    "epistemic_calibration_error": "epistemic_calibration",
    "epistemic_correlation_score": "epistemic_correlation",
    "epistemic_trend_test": "epistemic_trends",
    "estimate_correlations": "rank_correlations",
    "expected_absolute_correlation": "disentanglement_curves",
    "expected_calibration_error": "calibration.reliability",
    "expected_cost_curve": "risk.expected_cost",
    "fpr_at_tpr_error": "ood.detection",
    "g_auc_score": "ranking.auc_and_c_index",
    "gain": "gains",
    "gain_bins": "estimate_intervals",
    "h_auc_score": "ranking.auc_and_c_index",
    "hosmer_lemeshow_statistic": "calibration.hosmer_lemeshow",
    "kendall_tau_score": "ranking.ground_truths",
    "kernel_calibration_error": "calibration.kernel_error",
    "lower_envelope": "choice_of_tradeoff",
    "mapped_calibration_error": "epistemic_calibration",
    "mean_set_size": "sets.class_set_scores",
    "misalignment_truth": "ranking.ground_truths",
    "misclassification_truth": "ranking.ground_truths",
    "one_versus_rest_scores": "ranking.one_versus_rest",
    "ood_auc_score": "ood.detection",
    "paired_disentanglement_test": "disentanglement_tests",
    "paired_ranking_test": "ranking.comparisons",
    "pairwise_ranking_tests": "ranking.comparisons",
    "prediction_metric": "scorers",
    "prediction_rejection_score": "risk.risk_areas",
    "proper_score_parts": "calibration.proper_score_parts",
    "ranking_changes": "choice_of_tradeoff",
    "recombined_error": "disentanglement",
    "reliability": "calibration.reliability",
    "reliability_diagram": "calibration.reliability",
    "risk_coverage_curve": "risk.risk_coverage",
    "scod_augrc_loss": "ood.scod",
    "scod_aurc_loss": "ood.scod",
    "scod_risk_loss": "ood.scod",
    "selective_gain": "risk.selective_accuracy",
    "set_coverage_score": "sets.class_set_scores",
    "set_decision_cost": "sets.decision_costs",
    "set_utility_score": "sets.class_set_scores",
    "smooth_calibration_error": "calibration.smooth_error",
    "swap_test": "disentanglement_tests",
    "tradeoff_range": "choice_of_tradeoff",
    "tradeoff_scale": "choice_of_tradeoff",
    "true_uncertainty": "gains",
    "uq_auc_score": "ranking.auc_and_c_index",
    "uq_c_index_score": "ranking.auc_and_c_index",
}

__all__ = [
    "CALIBRATION_MEASURES",
    "DOUBT_SOURCES",
    "GAIN_LOSSES",
    "OOD_METRICS",
    "RANKING_METRICS",
    "SCOD_METRICS",
    "CalibrationMeasure",
    "CertifiedRefusal",
    "ClassSetScores",
    "CorrelationStudy",
    "Curves",
    "DelayCurve",
    "Disentanglement",
    "DoubtSources",
    "EpistemicCalibration",
    "EpistemicTrend",
    "EstimateCorrelations",
    "ExpectedCost",
    "MetricCorrelation",
    "OneVersusRest",
    "OodMetric",
    "PairedDisentanglementTest",
    "PooledDisentanglement",
    "ProperScoreParts",
    "RankingMetric",
    "Reliability",
    "RiskCoverage",
    "ScodMetric",
    "SelectiveGain",
    "SourceAtShare",
    "StreamingMetric",
    "Term",
    "TradeoffRange",
    "TrendStep",
    "TrueUncertainty",
    "UncertaintyScorer",
    "WinningInterval",
    "accuracy_at_coverage_score",
    "augrc_loss",
    "aupr_score",
    "aurc_loss",
    "below_chance_test",
    "calibration_error_estimate",
    "calibration_measure",
    "certified_refusal",
    "class_set_scores",
    "classwise_calibration_error",
    "confidence_calibration_error",
    "correlation_study",
    "coverage_at_risk_score",
    "cumulative_calibration_error",
    "delay_curve",
    "delay_curve_of_gains",
    "density_bandwidth",
    "density_calibration_error",
    "disentanglement_error",
    "doubt_sources",
    "e_aurc_loss",
    "epistemic_calibration_error",
    "epistemic_correlation_score",
    "epistemic_trend_test",
    "estimate_correlations",
    "expected_absolute_correlation",
    "expected_calibration_error",
    "expected_cost_curve",
    "fpr_at_tpr_error",
    "g_auc_score",
    "gain",
    "gain_bins",
    "h_auc_score",
    "hosmer_lemeshow_statistic",
    "kendall_tau_score",
    "kernel_calibration_error",
    "lower_envelope",
    "mapped_calibration_error",
    "mean_set_size",
    "misalignment_truth",
    "misclassification_truth",
    "one_versus_rest_scores",
    "ood_auc_score",
    "paired_disentanglement_test",
    "paired_ranking_test",
    "pairwise_ranking_tests",
    "prediction_metric",
    "prediction_rejection_score",
    "proper_score_parts",
    "ranking_changes",
    "recombined_error",
    "reliability",
    "reliability_diagram",
    "risk_coverage_curve",
    "scod_augrc_loss",
    "scod_aurc_loss",
    "scod_risk_loss",
    "selective_gain",
    "set_coverage_score",
    "set_decision_cost",
    "set_utility_score",
    "smooth_calibration_error",
    "swap_test",
    "tradeoff_range",
    "tradeoff_scale",
    "true_uncertainty",
    "uq_auc_score",
    "uq_c_index_score",
]

__getattr__, __dir__ = lazy_names(__name__, _WHERE)
