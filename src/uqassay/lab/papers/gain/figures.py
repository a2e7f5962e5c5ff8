"""Figures 1 to 4 of the epistemic gain: the split, the toy data with their discs, estimates and gains by interval."""

import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.lab.datasets import BallDivision, ClusterGrid, cluster_grid, disc_layout
from uqassay.lab.datasets.discs import N_GRID
from uqassay.lab.papers.figure_files import check_folder, write_figure
from uqassay.lab.papers.gain.plan import SPREADS as SPREADS_OF_TOY
from uqassay.lab.papers.gain.plan import ToyPlan
from uqassay.lab.papers.gain.tables import WORDS, GainRow
from uqassay.report.figures import plot_gain_by_uncertainty
from uqassay.report.figures.frame import GREY
from uqassay.text import (
    count,
    number,
    percent,
)

__all__ = [
    "draw_discs",
    "draw_intervals",
    "draw_split",
    "write_gain_figures",
]

COLOURS = ("#E69F00", "#0072B2")  # of the classes; Okabe and Ito (2008)
DISC = 20  # of figure 2: 4 % of its points stay in D_train
REACH = 5.0  # of the window around the disc; its radius is 2.7
MARGIN = 1.5  # of the training data around the window
GRID = 70  # points of the map along each axis


def write_gain_figures(
    folder: str | os.PathLike[str], rows: Sequence[GainRow], *, seed: int = 0, n: int = N_GRID
) -> list[Path]:
    """Write the figures as PNG files.

    Parameters
    ----------
    rows : sequence of GainRow
        With toy data among them, Figures 1 to 3 are drawn; Figure 4 for every other data set.
    seed : int
        Of the toy data in Figures 1 and 2.
    n : int
        Number of their instances.

    Returns
    -------
    list of Path
        ``epistemic_gain_figure1.png``, ``…_figure2.png``, and for every data set and method ``…_figure3_….png`` or
        ``…_figure4_….png``.
    """
    path = check_folder(folder)
    written = []
    toys = [row for row in rows if row.plan.is_toy]
    if toys:
        spread = min(row.spread or SPREADS_OF_TOY[0] for row in toys)
        toy = cluster_grid(n, spread=spread, rng=np.random.SeedSequence([seed, 0]))
        written.append(write_figure(path, f"{NAME}1", (11.0, 4.6), partial(draw_split, toy=toy, seed=seed)))
        for name, plan in dict.fromkeys((row.plan.name, row.plan.plan) for row in toys):
            if isinstance(plan, ToyPlan) and not plan.thinned:
                end = "" if name == "toy" else f"_{name}"
                end += "" if plan.train_share is None else f"_p={plan.train_share}"
                draw = partial(draw_discs, toy=toy, plan=plan, seed=seed)
                written.append(write_figure(path, f"{NAME}2{end}", (11.0, 6.6), draw))
    for row in rows:
        place = re.sub(r"[^\w.=-]+", "_", f"{row.place}_{row.method.name}")
        figure = 3 if row.plan.is_toy else 4
        draw = partial(draw_intervals, row=row)
        written.append(write_figure(path, f"{NAME}{figure}_{place}", (4.9 * len(row.estimators), 3.9), draw))
    return written


NAME = "epistemic_gain_figure"


def draw_split(figure: Any, toy: ClusterGrid, *, seed: int = 0) -> None:
    """Figure 1: D_train, D_aug and D_test about one disc, with the decision boundaries of the local Gaussian process."""
    layout = disc_layout("figure-2")
    division = layout.splitter().divide(toy.X, seed)
    centre = layout.centres[DISC]
    parts = {"D_train": division.train, "D_aug": division.augmented, "D_test": division.test}
    boundaries = {"D_train": "D_train", "D_aug": "D_aug", "D_test": "D_train"}
    axes = figure.subplots(1, len(parts), sharex=True, sharey=True)
    maps = {name: _probability_map(toy, parts[name], centre) for name in set(boundaries.values())}
    for ax, (name, rows) in zip(axes, parts.items(), strict=True):
        shown = rows[(np.abs(toy.X[rows] - centre) <= REACH).all(axis=1)]
        for k, colour in enumerate(COLOURS):
            of_class = shown[toy.y[shown] == k]
            ax.scatter(*toy.X[of_class].T, s=2.0, c=colour, linewidths=0, label=f"class {k}")
        x, y, probability = maps[boundaries[name]]
        ax.contour(x, y, probability, levels=[0.5], colors="black", linewidths=0.9, linestyles="dashed")
        _outline(ax, centre, layout.radius)
        ax.set_title(
            f"{_part(name)}: {count(len(shown))} points shown\nboundary learnt on {_part(boundaries[name])}",
            fontsize="small",
        )
        _window(ax, centre - REACH, centre + REACH)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, markerscale=5, fontsize="small", frameon=False)


def draw_discs(figure: Any, toy: ClusterGrid, *, plan: ToyPlan, seed: int = 0) -> None:
    """Figure 2: D_train with the discs of the evaluation, and D_train2 with those of the calibration inside it."""
    evaluation, calibration = plan.discs(seed)
    outer = evaluation.splitter().divide(toy.X, seed)
    inner = calibration.splitter().divide(toy.X[outer.train], seed)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, title, rows, layout, division in (
        (axes[0], f"evaluation: {_part('D_train')}", outer.train, evaluation, outer),
        (
            axes[1],
            f"calibration: {_part('D_train2')}, inside {_part('D_train')}",
            outer.train[inner.train],
            calibration,
            inner,
        ),
    ):
        for k, colour in enumerate(COLOURS):
            of_class = rows[toy.y[rows] == k]
            ax.scatter(*toy.X[of_class].T, s=0.25, c=colour, linewidths=0, label=f"class {k}")
        for centre, share in zip(layout.centres, layout.train_share, strict=True):
            _outline(ax, centre, layout.radius)
            ax.annotate(percent(float(share), 0), centre, ha="center", va="center", fontsize="x-small", bbox=BOX)
        ax.set_title(f"{title}, {count(len(rows))} points; {_test_words(division)}", fontsize="small")
        _window(ax, toy.X.min(axis=0), toy.X.max(axis=0))
    handles, labels = axes[0].get_legend_handles_labels()
    spread = f"spread {number(toy.spread, 2)}; the numbers are the shares of a disc's points that stay"
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=2,
        markerscale=12,
        fontsize="small",
        frameon=False,
        title=spread,
        title_fontsize="small",
    )


BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}


def draw_intervals(figure: Any, row: GainRow) -> None:
    """Figures 3 and 4: mean estimate, mean mapped estimate and mean gain in each interval, with ± one standard deviation."""
    axes = figure.subplots(1, len(row.estimators), squeeze=False)[0]
    for ax, estimator in zip(axes, row.estimators, strict=True):
        result = row.results[estimator]
        band: Literal["sd", "interval"] = "sd" if result.n_runs > 1 else "interval"
        # the paper leaves out the entropy before its calibration, which is too large
        plot_gain_by_uncertainty(result, ax=ax, band=band, estimates=False if estimator == "entropy" else None)
        bands = f", ± one standard deviation over {count(result.n_runs)} runs" if result.n_runs > 1 else ""
        ax.set_title(f"{WORDS[estimator]}{bands}", loc="left", fontsize="small")
    figure.suptitle(f"{row.label}, {row.method.label}", fontsize="medium")


# ---- helpers -----------------------------------------------------------------------------------------------------------


def _probability_map(toy: ClusterGrid, rows: NDArray[np.intp], centre: Floats) -> tuple[Floats, Floats, Floats]:
    """Axes of the window, and the probability of class 1 that the local Gaussian process learns from the points around it."""
    from uqassay.lab.methods import LocalGaussianProcess

    near = rows[(np.abs(toy.X[rows] - centre) <= REACH + MARGIN).all(axis=1)]
    model = LocalGaussianProcess().fit(toy.X[near], toy.y[near])
    x, y = (np.linspace(at - REACH, at + REACH, GRID) for at in centre)
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    return x, y, model.predict_uncertainty(points).mean_probs()[:, 1].reshape(GRID, GRID)


def _part(name: str) -> str:
    """A part as mathematics, as the paper writes it."""
    letter, _, index = name.partition("_")
    return rf"$\mathcal{{{letter}}}_{{\mathrm{{{index}}}}}$"


def _test_words(division: BallDivision) -> str:
    return f"{count(len(division.test))} test points"


def _outline(ax: Any, centre: Floats, radius: float) -> None:
    angle = np.linspace(0, 2 * np.pi, 120)
    ax.plot(centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle), color=GREY, linewidth=0.7)


def _window(ax: Any, low: Floats, high: Floats) -> None:
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_aspect("equal")
    ax.tick_params(labelsize="x-small")
