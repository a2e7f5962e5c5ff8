"""Figures for papers, drawn by matplotlib from the numbers of an `Assay`.

Every function takes `ax=` and returns the axes; it never shows, saves or changes settings. Without `ax` it makes a pyplot
figure, so that a notebook displays it. A model has the same colour, marker and line in all of them.
"""

from uqassay.report.figures.assay import (
    plot_confidence,
    plot_coverage_curve,
    plot_critical_difference,
    plot_distance_nonspecificity,
    plot_expected_cost,
    plot_members,
    plot_mistake_ranking,
    plot_rank_sets,
    plot_ranking,
    plot_ranking_comparisons,
    plot_reliability,
    plot_risk_coverage,
    plot_top_group,
    plot_tradeoff,
    plot_width_nonspecificity,
    plot_win_shares,
)
from uqassay.report.figures.calibration import (
    plot_calibration_before_after,
    plot_calibration_null,
    plot_calibration_tests,
    plot_ensemble_weights,
    plot_second_order,
)
from uqassay.report.figures.frame import model_colours
from uqassay.report.figures.sets import plot_by_correctness, plot_set_sizes, plot_simplex
from uqassay.report.figures.studies import (
    draw_disentanglement_grid,
    plot_delay_curve,
    plot_disentanglement_curves,
    plot_disentanglement_ranking,
    plot_disentanglement_terms,
    plot_doubt_sources,
    plot_epistemic_map,
    plot_epistemic_trend,
    plot_estimate_correlations,
    plot_expected_behaviour,
    plot_gain_by_uncertainty,
    plot_left_out_classes,
)

__all__ = [
    "draw_disentanglement_grid",
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
