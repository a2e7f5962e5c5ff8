"""Figures 1, 2, 4 and 8 to 13 of paper 004: expected behaviour, and the curves of every method and decomposition."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from uqassay.evidence.disentanglement_measured import EXPERIMENTS
from uqassay.evidence.disentanglement_ranking import Contender, by_dataset
from uqassay.experiments.figure_files import check_folder, write_figure
from uqassay.report.figures.disentanglement_curves import draw_disentanglement_grid, plot_expected_behaviour

__all__ = ["PAPER_FIGURES", "curve_grid", "write_disentanglement_figures"]

# data set and experiment: number of the figure in the paper
PAPER_FIGURES = {
    ("cifar-10", "dataset-size"): 2,
    ("cifar-10", "label-noise"): 4,
    ("fashion-mnist", "dataset-size"): 8,
    ("wine", "dataset-size"): 9,
    ("bci", "dataset-size"): 10,
    ("fashion-mnist", "label-noise"): 11,
    ("wine", "label-noise"): 12,
    ("bci", "label-noise"): 13,
}
PANEL = (2.7, 2.2)  # inches
MARGIN = (1.1, 0.9)


def write_disentanglement_figures(
    folder: str | os.PathLike[str], contenders: Sequence[Contender], *, level: float = 0.95
) -> list[Path]:
    """Write the expected behaviour, and the curves of each data set and experiment, as PNG files.

    Parameters
    ----------
    folder : path
    contenders : sequence of Contender
        Of a method and decomposition that occurs twice on a data set, the first is drawn.
    level : float
        Of the bands.

    Returns
    -------
    list of Path
        ``disentanglement_figure1.png``; ``disentanglement_figureN.png`` for the data sets of the paper, and
        ``disentanglement_DATASET_EXPERIMENT.png`` for others.

    Raises
    ------
    InputError
        The folder cannot be written to, or there are no contenders.
    MissingDependencyError
        matplotlib is missing.
    """
    path = check_folder(folder)
    groups = by_dataset(contenders)
    written = [write_figure(path, "disentanglement_figure1", (10.5, 3.0), _expected)]
    for dataset, group in groups.items():
        for experiment in EXPERIMENTS[:2]:
            grid = curve_grid(group, experiment)
            if grid:
                written.append(_write_grid(path, dataset, experiment, grid, level))
    return written


def curve_grid(contenders: Sequence[Contender], experiment: str) -> list[list[Contender | None]]:
    """Contenders with this experiment as rows of decompositions and columns of methods; None where there is none."""
    found: dict[tuple[str, str], Contender] = {}
    for one in contenders:
        if experiment in one.study.measured:
            found.setdefault((one.decomposition, one.study.method), one)
    rows = list(dict.fromkeys(decomposition for decomposition, _ in found))
    columns = list(dict.fromkeys(method for _, method in found))
    return [[found.get((decomposition, method)) for method in columns] for decomposition in rows]


def _write_grid(folder: Path, dataset: str, experiment: str, grid: list[list[Contender | None]], level: float) -> Path:
    number = PAPER_FIGURES.get((dataset.lower(), experiment))
    safe = re.sub(r"[^\w-]+", "_", dataset)
    name = f"disentanglement_figure{number}" if number else f"disentanglement_{safe}_{experiment}"
    size = (MARGIN[0] + PANEL[0] * max(2, len(grid[0])), MARGIN[1] + PANEL[1] * len(grid))
    return write_figure(folder, name, size, lambda f: draw_disentanglement_grid(f, grid, experiment, level=level))


def _expected(figure: Any) -> None:
    panels = figure.subplots(1, len(EXPERIMENTS))
    for ax, experiment in zip(panels, EXPERIMENTS, strict=True):
        plot_expected_behaviour(experiment, ax=ax, legend=experiment == EXPERIMENTS[1])
