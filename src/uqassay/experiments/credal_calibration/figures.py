"""Figures 1 to 4 of the credal calibration test: error rates against the level, one panel for each scenario."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from uqassay.experiments.credal_calibration.runs import ALPHAS, MEASURES, ErrorRates
from uqassay.experiments.credal_calibration.scenarios import SCENARIOS
from uqassay.experiments.credal_calibration.tables import KINDS, rates_of, reference
from uqassay.experiments.figure_files import check_folder, write_figure
from uqassay.report.figures.style import GREY, look_at

__all__ = ["write_error_figure"]

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
    folder : path
    figure : str
        Its number in the paper, for the name of the file.
    runs : sequence of ErrorRates
        One for each convention; dashed lines are those of the authors' code.

    Returns
    -------
    Path
    """
    return write_figure(
        check_folder(folder), f"credal_calibration_figure{figure}", (10.5, 4.4), lambda f: _panels(f, figure, runs)
    )


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
