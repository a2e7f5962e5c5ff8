"""Figures 1 to 4 of the credal calibration paper: the scenarios in the simplex, and error rates against the level."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.lab.papers.credal_calibration.error_rates import ALPHAS, KINDS, MEASURES, ErrorRates, rates_of, reference
from uqassay.lab.papers.credal_calibration.scenarios import (
    N_CANDIDATES,
    SCENARIOS,
    SHOWN_SETTING,
    ScenarioExample,
    draw_examples,
)
from uqassay.lab.papers.figure_files import check_folder, write_figure
from uqassay.predictions import Members
from uqassay.report.figures import plot_simplex
from uqassay.report.figures.frame import GREY, look_at, matplotlib_module

__all__ = [
    "write_error_figure",
    "write_scenario_figure",
]

# Figures 1 to 4 of the credal calibration test: the scenarios in the simplex, and error rates against the level.

SET_COLOUR, TRUTH_COLOUR, BOUNDARY_COLOUR, CORNER_COLOUR = "#56B4E9", "#D55E00", "#0072B2", "#CC79A7"
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # as `plot_simplex` has them
LINES = {"exact": "-", "paper-code": "--"}
TITLES = {
    "S1": "S1: a combination is true",
    "S2": "S2: truth towards the closest corner",
    "S3": "S3: truth towards a random corner",
}


def write_error_figure(folder: str | os.PathLike[str], figure: str, runs: Sequence[ErrorRates]) -> Path:
    """Write the figure of one setting.

    Parameters
    ----------
    figure : str
        Its number in the paper, for the name of the file.
    runs : sequence of ErrorRates
        One for each convention; dashed lines are those of the authors' code.
    """
    return write_figure(
        check_folder(folder), f"credal_calibration_figure{figure}", (10.5, 4.4), lambda f: _panels(f, figure, runs)
    )


def write_scenario_figure(folder: str | os.PathLike[str], *, seed: int = 0) -> Path:
    """Write Figure 1, left: the scenarios S1, S2 and S3 for one instance of three classes.

    Parameters
    ----------
    seed : int
        Of `draw_examples`.
    """
    examples = draw_examples(seed=seed)
    return write_figure(
        check_folder(folder), "credal_calibration_figure1_left", (10.5, 4.4), lambda f: _simplices(f, examples)
    )


# ---- drawing ---------------------------------------------------------------------------------------------------------


def _simplices(figure: Any, examples: Sequence[ScenarioExample]) -> None:
    panels = figure.subplots(1, len(examples))
    handles: dict[str, Any] = {}
    for ax, example in zip(panels, examples, strict=True):
        members = Members(example.members[None], class_names=("class 1", "class 2", "class 3"))
        plot_simplex(members, color=SET_COLOUR, ax=ax)
        legend = ax.get_legend()
        handles |= {
            text.get_text(): drawn for text, drawn in zip(legend.get_texts(), legend.legend_handles, strict=True)
        }
        legend.remove()
        for points, style in _shown_points(example):
            ax.plot(*(points @ CORNERS).T, clip_on=False, **style)
            handles[style["label"]] = matplotlib_module("lines").Line2D([], [], **style)
        ax.set_title(TITLES[example.scenario], loc="left", fontsize="small")
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=7, frameon=False, fontsize="small")
    figure.suptitle(
        f"Figure 1, left: one instance, K = {SHOWN_SETTING.n_classes}, M = {SHOWN_SETTING.n_members}, "
        f"u = {SHOWN_SETTING.spread:g}, the most scattered of {N_CANDIDATES}; {len(examples[0].truths)} truths in each "
        "scenario",
        fontsize="medium",
    )


def _shown_points(example: ScenarioExample) -> list[tuple[NDArray[np.float64], dict[str, Any]]]:
    """Points over the credal set with their looks, the last ones on top."""
    dots = {
        "linestyle": "none",
        "marker": ".",
        "markersize": 4,
        "color": TRUTH_COLOUR,
        "label": "truths",
        "zorder": 3.5,
    }
    centre = {"linestyle": "none", "marker": "P", "markersize": 8, "color": "black", "markeredgecolor": "white"}
    found = [(example.truths, dots), (example.centre[None], centre | {"label": "centre p_e", "zorder": 6})]
    if len(example.corners):
        star = {"linestyle": "none", "marker": "*", "markersize": 13, "markeredgecolor": "white", "zorder": 5}
        found.append((example.boundary, star | {"color": BOUNDARY_COLOUR, "label": "boundary"}))
        found.append((np.eye(3)[example.corners], star | {"color": CORNER_COLOUR, "label": "corner"}))
    return found


def _panels(figure: Any, number: str, runs: Sequence[ErrorRates]) -> None:
    panels = figure.subplots(1, len(SCENARIOS), sharex=True, sharey=True)
    for ax, scenario in zip(panels, SCENARIOS, strict=True):
        if scenario == "S1":
            ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":", label="level α")
        for rates in runs:
            _curves(ax, scenario, rates, labelled=scenario == SCENARIOS[0])
        ax.set(xlim=(0, 1), ylim=(-0.02, 1.02), xlabel="level α")
        ax.set_ylabel(f"{KINDS[scenario]} error rate")
        ax.set_title(TITLES[scenario], loc="left", fontsize="small")
    figure.legend(loc="outside lower center", ncols=3 if len(runs) > 1 else 5, frameon=False, fontsize="small")
    plan, setting = runs[0].plan, runs[0].plan.setting
    figure.suptitle(
        f"Figure {number}: N = {setting.n_instances}, M = {setting.n_members}, K = {setting.n_classes}, "
        f"u = {setting.spread:g}; {runs[0].n_runs:,} data sets, D = {plan.n_draws}, {plan.null} null; "
        "shaded: 95 % intervals, crosses: references",
        fontsize="medium",
    )


def _curves(ax: Any, scenario: str, rates: ErrorRates, *, labelled: bool) -> None:
    convention = rates.plan.convention
    for i, measure in enumerate(MEASURES):
        look = look_at(i)
        found = rates_of(rates, scenario, measure)
        label = f"{measure}{'' if convention == 'exact' else ', authors’ code'}" if labelled else None
        line = LINES[convention]
        ax.plot(ALPHAS, [float(r) for r in found], color=look.colour, linestyle=line, linewidth=1.4, label=label)
        if convention == "exact":
            ax.fill_between(
                ALPHAS, [r.low for r in found], [r.high for r in found], color=look.colour, alpha=0.15, linewidth=0
            )
        known = [(alpha, reference(rates, scenario, measure, alpha)) for alpha in ALPHAS]
        known = [(alpha, value) for alpha, value in known if not np.isnan(value)]
        if known:
            ax.scatter(*zip(*known, strict=True), marker="x", s=22, color=look.colour, linewidth=1.0, zorder=3)
