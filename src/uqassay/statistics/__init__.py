"""How sure are we: estimates with intervals, resampling, paired tests. Arrays in, arrays out."""

from uqassay.statistics.bootstrap import (
    bca_interval,
    bootstrap_means,
    bootstrap_run_means,
    percentile_interval,
    winning_probability,
)
from uqassay.statistics.comparisons import (
    DifferenceToBest,
    PairedComparison,
    compare_to_best,
    paired_mean_test,
)
from uqassay.statistics.estimate import Estimate, mean_estimate
from uqassay.statistics.multiple_tests import benjamini_hochberg, holm
from uqassay.statistics.proportion import proportion_estimate

__all__ = [
    "DifferenceToBest",
    "Estimate",
    "PairedComparison",
    "bca_interval",
    "benjamini_hochberg",
    "bootstrap_means",
    "bootstrap_run_means",
    "compare_to_best",
    "holm",
    "mean_estimate",
    "paired_mean_test",
    "percentile_interval",
    "proportion_estimate",
    "winning_probability",
]
