"""Rows with their index and classes with their names may stand in any order: every public function gives equal numbers, or refuses.

Each public function of the rooms below is in one of two tables: `CASES` gives its arguments, `WITHOUT` says why it has none.
Each case runs with the values in NumPy arrays, and again in tables and labelled arrays of four libraries.
"""

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import uqassay as uq
from uqassay.errors import InputError

ROOMS = ("statistics", "measures", "losses", "metrics", "calibration", "evidence")
N, K, M, R, C = 40, 3, 4, 3, 4
NAMES = np.array(["b", "c", "a"])
IDS = np.array([f"case {i}" for i in np.random.default_rng(5).permutation(N)])
OF_MODELS = ("distance", "nonspecificity", "metrics", "truths", "clusters", "correlations", "n_pairs")

# the arguments in the order of their rights: the first one that has an index sets the order of the rows.
# "parameter=values" where a parameter does not have the name of its values; after "|" further options
RANKED = "errors uncertainty sample_weight groups"
CALIBRATED = "probs y_true sample_weight"
CASES: dict[str, str] = {
    "losses.brier_loss": "prediction=probs y_true",
    "losses.is_correct": "prediction=probs y_true",
    "losses.log_loss": "prediction=probs y_true",
    "losses.prediction_errors": "prediction=probs y_true",
    "losses.probability_gap": "prediction=probs y_true",
    "losses.unified_loss": "prediction=members y_true",
    "losses.second_order_gap": "prediction=members votes | votes_are='counts'",
    "losses.squared_truth_distance": "prediction=members votes | votes_are='counts'",
    **dict.fromkeys(
        (
            *("metrics.accuracy_at_coverage_score", "metrics.augrc_loss", "metrics.aurc_loss", "metrics.e_aurc_loss"),
            *("metrics.g_auc_score", "metrics.h_auc_score", "metrics.risk_coverage_curve", "metrics.uq_auc_score"),
            *("metrics.prediction_rejection_score", "metrics.selective_gain"),
        ),
        RANKED,
    ),
    "metrics.coverage_at_risk_score": f"{RANKED} | risk=0.3",
    "metrics.uq_c_index_score": "gap=uncertainty uncertainty=epistemic sample_weight groups",
    "metrics.certified_refusal": "errors uncertainty groups | risk=0.6",
    "metrics.expected_cost_curve": "errors uncertainty groups",
    "metrics.aupr_score": "is_out uncertainty sample_weight groups | positive='out'",
    "metrics.fpr_at_tpr_error": "is_out uncertainty sample_weight groups",
    "metrics.ood_auc_score": "is_out uncertainty sample_weight groups",
    "metrics.scod_augrc_loss": "is_out errors uncertainty sample_weight groups",
    "metrics.scod_aurc_loss": "is_out errors uncertainty sample_weight groups",
    "metrics.scod_risk_loss": "is_out errors uncertainty sample_weight groups | coverage=0.5",
    "metrics.calibration_error_estimate": "probs y_true groups",
    "metrics.class_set_scores": "prediction=sets y_true groups",
    "metrics.mean_set_size": "prediction=sets groups",
    "metrics.set_coverage_score": "prediction=sets y_true groups",
    "metrics.set_decision_cost": "prediction=sets y_true costs groups",
    "metrics.set_utility_score": "prediction=sets y_true groups",
    "metrics.classwise_calibration_error": CALIBRATED,
    "metrics.confidence_calibration_error": CALIBRATED,
    "metrics.proper_score_parts": CALIBRATED,
    "metrics.correlation_study": "metrics truths",
    "metrics.cumulative_calibration_error": "probs y_true",
    "metrics.density_calibration_error": "probs y_true",
    "metrics.hosmer_lemeshow_statistic": "probs y_true | n_bins=4, least_expected=0",
    "metrics.kernel_calibration_error": "probs y_true",
    "metrics.smooth_calibration_error": "probs=binary y_true=errors",
    "metrics.delay_curve": "before=probs y_true after=other epistemic groups",
    "metrics.delay_curve_of_gains": "gains=gain epistemic groups",
    "metrics.epistemic_calibration_error": "gain epistemic groups",
    "metrics.epistemic_correlation_score": "gain epistemic groups",
    "metrics.mapped_calibration_error": "gain mapped=uncertainty epistemic groups",
    "metrics.expected_calibration_error": "correct=errors confidence=shares",
    "metrics.reliability": "correct=errors confidence=shares groups",
    "metrics.reliability_diagram": "probs y_true groups",
    "metrics.gain": "before=probs y_true after=other | loss='brier'",
    "metrics.true_uncertainty": "predicted=probs label_probs=other | loss='brier'",
    "metrics.kendall_tau_score": "truth=epistemic uncertainty groups sample_weight",
    "metrics.misalignment_truth": "prediction=probs label_distribution=other",
    "metrics.misclassification_truth": "prediction=probs label_distribution=other",
    "metrics.one_versus_rest_scores": "prediction=probs y_true groups",
    "metrics.paired_ranking_test": "a=ranking b=other_ranking groups sample_weight",
    "metrics.pairwise_ranking_tests": "rankings groups sample_weight",
    "metrics.prediction_metric": "y_prob=probs y_true | metric='brier'",
    "metrics.doubt_sources": "probs=run_probs epistemic=run_epistemic labels=y_true shares=run_shares",
    "metrics.estimate_correlations": "estimates",
    "metrics.lower_envelope": "distance=shares nonspecificity=uncertainty",
    "metrics.ranking_changes": "distance=shares nonspecificity=uncertainty",
    "statistics.auc_estimate": "positive=errors scores=uncertainty sample_weight groups",
    "statistics.delong_covariance": "positive=errors scores=uncertainty groups",
    "statistics.concordance": "truth=epistemic scores=uncertainty sample_weight",
    "statistics.bootstrap_estimate": "groups sample_weight | statistic=np.sum, n=40, n_draws=50",
    "statistics.bootstrap_means": "values=uncertainty groups sample_weight | n_draws=50",
    "statistics.bootstrap_weights": "groups sample_weight | n=40, n_draws=20",
    "statistics.detectable_difference": "a=uncertainty b=epistemic groups sample_weight",
    "statistics.paired_margin_test": "a=uncertainty b=epistemic groups sample_weight | margin=0.1",
    "statistics.paired_mean_test": "a=uncertainty b=epistemic groups sample_weight",
    "statistics.kendall_tau_estimate": "x=uncertainty y=epistemic groups sample_weight",
    "statistics.kendall_tau_influence": "x=uncertainty y=epistemic sample_weight",
    "statistics.pearson_estimate": "x=uncertainty y=epistemic groups",
    "statistics.spearman_estimate": "x=uncertainty y=epistemic groups",
    "statistics.spearman_influence": "x=uncertainty y=epistemic",
    "statistics.mean_estimate": "values=uncertainty groups sample_weight",
    "statistics.proportion_estimate": "values=errors groups sample_weight",
    "statistics.pairwise_mean_tests": "values=named_values groups sample_weight",
    "statistics.plan_auc_from_pilot": "errors uncertainty | n=200",
    "statistics.variance_components": "values=runs other=other_runs groups sample_weight",
    "statistics.mean_correlation_estimate": "correlations=shares n_pairs=counts",
    "statistics.matched_difference_interval": "plus=few minus=fewer n=counts",
    "calibration.calibration_test": "probs y_true groups | n_draws=30",
    "calibration.credal_calibration_test": "members y_true | n_draws=20, measure='brier'",
    "calibration.credal_calibration_tests": "members y_true | n_draws=20, measures=('brier',)",
    "calibration.cross_fitted_map": "gain epistemic groups | n_folds=2",
    "calibration.hosmer_lemeshow_test": "probs y_true | n_bins=3, least_expected=0",
    "calibration.instance_dependent_calibration_test": "members y_true features groups | n_draws=20, measure='brier'",
    "calibration.kernel_calibration_estimate": "probs y_true",
    "calibration.second_order_test": "prediction=members votes groups | votes_are='counts'",
    "calibration.skce_pvalue": "probs y_true | n_draws=30",
    "calibration.vote_compatibility_test": "prediction=members votes groups | votes_are='counts', n_draws=200",
    "calibration.weighted_average_effect": "members y_true groups | n_draws=20, null_draws=20, measure='brier'",
    "evidence.coverage_curve": "prediction=sets_of_members y_true groups",
    "evidence.three_readings": "members y_true groups",
    "evidence.sample_of_pair": "before=members y_true after=other_members label_probs=other groups",
    "evidence.compare_table": "values=scores_of_models groups=of_data_sets | greater_is_better=True",
    **{
        f"measures.{name}": "prediction=members"
        for name in (
            *("credal_uncertainty", "credal_width", "decompose", "entropy_decomposition", "generalised_hartley"),
            *("label_wise_decomposition", "least_confidence", "lower_entropy", "margin_uncertainty", "nonspecificity"),
            *("predicted_class_variance", "proper_score_decomposition", "total_variance", "upper_entropy"),
            *("variance_decomposition", "variation_ratio", "vote_entropy", "zero_one_decomposition"),
        )
    },
    "measures.entropy": "probs",
    "measures.label_wise_parts": "prediction=members",
    "measures.not_ruled_out": "prediction=members",
    "measures.probability_moments": "prediction=members",
    "measures.uncertainty_score": "prediction=members | name='total-entropy'",
    "metrics.density_bandwidth": "probs",
}

WITHOUT: dict[str, str] = {
    **dict.fromkeys(
        (
            *("statistics.benjamini_hochberg", "statistics.holm", "statistics.shaffer", "statistics.shaffer_factor"),
            *("statistics.average_ranks", "statistics.friedman_test", "statistics.nemenyi_pvalues"),
            *("statistics.pairwise_signed_rank_tests", "statistics.signed_rank_test", "statistics.sign_flip_test"),
            *("statistics.bayesian_signed_rank_test", "statistics.percentile_interval", "statistics.win_shares"),
            *("statistics.bca_interval", "statistics.permutation_test", "statistics.no_worse_than_best"),
            *("losses.counts_of_votes", "metrics.gain_bins", "metrics.estimate_correlations_of_runs"),
        ),
        "one array, or draws that belong to nothing",
    ),
}


def test_every_public_function_is_in_one_table():
    public = {f"{room}.{name}" for room in ROOMS for name, value in functions(room).items()}
    known = {*CASES, *WITHOUT}
    assert public == known, (sorted(public - known), sorted(known - public))


def functions(room: str) -> dict[str, Callable[..., Any]]:
    module = importlib.import_module(f"uqassay.{room}")
    every = {name: getattr(module, name) for name in module.__all__}
    return {name: value for name, value in every.items() if inspect.isfunction(value)}
