"""Figures for papers, drawn by matplotlib from the numbers of an `Assay`.

Every function takes `ax=` and returns the axes; it never shows, saves or changes settings. Without `ax` it makes a pyplot
figure, so that a notebook displays it. A model has the same colour, marker and line in all of them.
"""

from uqassay.report.figures.calibration import plot_calibration_tests
from uqassay.report.figures.calibration_closely import (
    plot_calibration_before_after,
    plot_calibration_null,
    plot_ensemble_weights,
)
from uqassay.report.figures.confidence import plot_confidence, plot_reliability, plot_width_nonspecificity
from uqassay.report.figures.coverage_curves import plot_coverage_curve
from uqassay.report.figures.critical_difference import plot_critical_difference
from uqassay.report.figures.disentanglement_behaviour import (
    plot_doubt_sources,
    plot_epistemic_trend,
    plot_estimate_correlations,
)
from uqassay.report.figures.disentanglement_curves import plot_disentanglement_curves, plot_expected_behaviour
from uqassay.report.figures.disentanglement_terms import (
    plot_disentanglement_ranking,
    plot_disentanglement_terms,
    plot_left_out_classes,
)
from uqassay.report.figures.expected_cost import plot_expected_cost
from uqassay.report.figures.gain import plot_delay_curve, plot_epistemic_map, plot_gain_by_uncertainty
from uqassay.report.figures.instances import plot_by_correctness, plot_set_sizes
from uqassay.report.figures.mistake_tests import plot_ranking_comparisons
from uqassay.report.figures.mistakes import plot_mistake_ranking, plot_risk_coverage
from uqassay.report.figures.plane import plot_distance_nonspecificity
from uqassay.report.figures.rank_sets import plot_rank_sets, plot_top_group
from uqassay.report.figures.ranking import plot_members, plot_ranking
from uqassay.report.figures.second_order import plot_second_order
from uqassay.report.figures.simplex import plot_simplex
from uqassay.report.figures.style import model_colours
from uqassay.report.figures.tradeoffs import plot_tradeoff, plot_win_shares

__all__ = [
    "model_colours",
    "plot_by_correctness",
    "plot_calibration_before_after",
    "plot_calibration_null",
    "plot_calibration_tests",
    "plot_confidence",
    "plot_coverage_curve",
    "plot_critical_difference",
    "plot_delay_curve",
    "plot_disentanglement_curves",
    "plot_disentanglement_ranking",
    "plot_disentanglement_terms",
    "plot_distance_nonspecificity",
    "plot_doubt_sources",
    "plot_ensemble_weights",
    "plot_epistemic_map",
    "plot_epistemic_trend",
    "plot_estimate_correlations",
    "plot_expected_behaviour",
    "plot_expected_cost",
    "plot_gain_by_uncertainty",
    "plot_left_out_classes",
    "plot_members",
    "plot_mistake_ranking",
    "plot_rank_sets",
    "plot_ranking",
    "plot_ranking_comparisons",
    "plot_reliability",
    "plot_risk_coverage",
    "plot_second_order",
    "plot_set_sizes",
    "plot_simplex",
    "plot_top_group",
    "plot_tradeoff",
    "plot_width_nonspecificity",
    "plot_win_shares",
]


def __dir__() -> list[str]:
    return sorted(__all__)
