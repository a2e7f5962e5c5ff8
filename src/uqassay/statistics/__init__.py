"""Estimates with confidence intervals, resampling, paired tests and sample sizes, computed from plain arrays.

Modules are imported when their names are first used.
"""

from typing import TYPE_CHECKING

from uqassay._lazy import lazy_names

if TYPE_CHECKING:
    from uqassay.statistics.agreeing import agreeing_comparisons, agreeing_pvalues
    from uqassay.statistics.bayesian_signed_rank import BayesianSignedRank, bayesian_signed_rank_test
    from uqassay.statistics.bootstrap import (
        bca_interval,
        bootstrap_means,
        percentile_interval,
        win_shares,
    )
    from uqassay.statistics.comparisons import (
        PairedComparison,
        PairwiseComparisons,
        paired_mean_test,
    )
    from uqassay.statistics.correlation import kendall_tau_estimate, kendall_tau_influence, pearson_estimate
    from uqassay.statistics.delong import auc_estimate, delong_covariance
    from uqassay.statistics.detectable import detectable_difference, detectable_differences
    from uqassay.statistics.detectable_pairs import DetectableDifference
    from uqassay.statistics.equivalence import margin_tests, no_worse_than_best, paired_margin_test
    from uqassay.statistics.estimate import Estimate, mean_estimate
    from uqassay.statistics.fisher_z import mean_correlation_estimate
    from uqassay.statistics.friedman import FriedmanTest, average_ranks, friedman_test
    from uqassay.statistics.joint_draws import student_draws
    from uqassay.statistics.linearised import Linearised, linearised_estimate
    from uqassay.statistics.margins import MarginTest, check_margin
    from uqassay.statistics.matched_proportions import matched_difference_interval
    from uqassay.statistics.mean_lines import MeanLines
    from uqassay.statistics.multiple_tests import benjamini_hochberg, holm, shaffer, shaffer_factor
    from uqassay.statistics.nemenyi import nemenyi_difference, nemenyi_pvalues
    from uqassay.statistics.pairwise_means import pairwise_mean_tests
    from uqassay.statistics.permutations import PermutationTest, permutation_test, sign_flip_test
    from uqassay.statistics.planning_auc import plan_auc, plan_auc_difference, plan_auc_from_pilot
    from uqassay.statistics.planning_linearised import (
        DifferencePlan,
        PrecisionPlan,
        plan_difference_from_pilot,
        plan_from_pilot,
    )
    from uqassay.statistics.proportion import proportion_estimate
    from uqassay.statistics.ranks import RankSets, rank_sets
    from uqassay.statistics.signed_rank import SignedRankTest, signed_rank_test
    from uqassay.statistics.signed_rank_pairs import SignedRankPairs, pairwise_signed_rank_tests
    from uqassay.statistics.sources_of_variance import MoreData, VarianceComponents, VarianceShare, variance_components
    from uqassay.statistics.spearman import spearman_estimate, spearman_influence
    from uqassay.statistics.statistic_comparisons import paired_statistic_test, pairwise_statistic_tests
    from uqassay.statistics.u_statistics import Concordance, concordance
    from uqassay.statistics.weighted_bootstrap import bootstrap_estimate, bootstrap_weights

_WHERE = {
    "BayesianSignedRank": "bayesian_signed_rank",
    "Concordance": "u_statistics",
    "DetectableDifference": "detectable_pairs",
    "DifferencePlan": "planning_linearised",
    "Estimate": "estimate",
    "FriedmanTest": "friedman",
    "Linearised": "linearised",
    "MarginTest": "margins",
    "MeanLines": "mean_lines",
    "MoreData": "sources_of_variance",
    "PairedComparison": "comparisons",
    "PairwiseComparisons": "comparisons",
    "PermutationTest": "permutations",
    "PrecisionPlan": "planning_linearised",
    "RankSets": "ranks",
    "SignedRankPairs": "signed_rank_pairs",
    "SignedRankTest": "signed_rank",
    "VarianceComponents": "sources_of_variance",
    "VarianceShare": "sources_of_variance",
    "agreeing_comparisons": "agreeing",
    "agreeing_pvalues": "agreeing",
    "auc_estimate": "delong",
    "average_ranks": "friedman",
    "bayesian_signed_rank_test": "bayesian_signed_rank",
    "bca_interval": "bootstrap",
    "benjamini_hochberg": "multiple_tests",
    "bootstrap_estimate": "weighted_bootstrap",
    "bootstrap_means": "bootstrap",
    "bootstrap_weights": "weighted_bootstrap",
    "check_margin": "margins",
    "concordance": "u_statistics",
    "delong_covariance": "delong",
    "detectable_difference": "detectable",
    "detectable_differences": "detectable",
    "friedman_test": "friedman",
    "holm": "multiple_tests",
    "kendall_tau_estimate": "correlation",
    "kendall_tau_influence": "correlation",
    "linearised_estimate": "linearised",
    "margin_tests": "equivalence",
    "matched_difference_interval": "matched_proportions",
    "mean_correlation_estimate": "fisher_z",
    "mean_estimate": "estimate",
    "nemenyi_difference": "nemenyi",
    "nemenyi_pvalues": "nemenyi",
    "no_worse_than_best": "equivalence",
    "paired_margin_test": "equivalence",
    "paired_mean_test": "comparisons",
    "paired_statistic_test": "statistic_comparisons",
    "pairwise_mean_tests": "pairwise_means",
    "pairwise_signed_rank_tests": "signed_rank_pairs",
    "pairwise_statistic_tests": "statistic_comparisons",
    "pearson_estimate": "correlation",
    "percentile_interval": "bootstrap",
    "permutation_test": "permutations",
    "plan_auc": "planning_auc",
    "plan_auc_difference": "planning_auc",
    "plan_auc_from_pilot": "planning_auc",
    "plan_difference_from_pilot": "planning_linearised",
    "plan_from_pilot": "planning_linearised",
    "proportion_estimate": "proportion",
    "rank_sets": "ranks",
    "shaffer": "multiple_tests",
    "shaffer_factor": "multiple_tests",
    "sign_flip_test": "permutations",
    "signed_rank_test": "signed_rank",
    "spearman_estimate": "spearman",
    "spearman_influence": "spearman",
    "student_draws": "joint_draws",
    "variance_components": "sources_of_variance",
    "win_shares": "bootstrap",
}

__all__ = [
    "BayesianSignedRank",
    "Concordance",
    "DetectableDifference",
    "DifferencePlan",
    "Estimate",
    "FriedmanTest",
    "Linearised",
    "MarginTest",
    "MeanLines",
    "MoreData",
    "PairedComparison",
    "PairwiseComparisons",
    "PermutationTest",
    "PrecisionPlan",
    "RankSets",
    "SignedRankPairs",
    "SignedRankTest",
    "VarianceComponents",
    "VarianceShare",
    "agreeing_comparisons",
    "agreeing_pvalues",
    "auc_estimate",
    "average_ranks",
    "bayesian_signed_rank_test",
    "bca_interval",
    "benjamini_hochberg",
    "bootstrap_estimate",
    "bootstrap_means",
    "bootstrap_weights",
    "check_margin",
    "concordance",
    "delong_covariance",
    "detectable_difference",
    "detectable_differences",
    "friedman_test",
    "holm",
    "kendall_tau_estimate",
    "kendall_tau_influence",
    "linearised_estimate",
    "margin_tests",
    "matched_difference_interval",
    "mean_correlation_estimate",
    "mean_estimate",
    "nemenyi_difference",
    "nemenyi_pvalues",
    "no_worse_than_best",
    "paired_margin_test",
    "paired_mean_test",
    "paired_statistic_test",
    "pairwise_mean_tests",
    "pairwise_signed_rank_tests",
    "pairwise_statistic_tests",
    "pearson_estimate",
    "percentile_interval",
    "permutation_test",
    "plan_auc",
    "plan_auc_difference",
    "plan_auc_from_pilot",
    "plan_difference_from_pilot",
    "plan_from_pilot",
    "proportion_estimate",
    "rank_sets",
    "shaffer",
    "shaffer_factor",
    "sign_flip_test",
    "signed_rank_test",
    "spearman_estimate",
    "spearman_influence",
    "student_draws",
    "variance_components",
    "win_shares",
]

__getattr__, __dir__ = lazy_names(__name__, _WHERE)
