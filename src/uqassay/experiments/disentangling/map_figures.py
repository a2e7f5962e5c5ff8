"""Figures 3, 6 and 7 of paper 004: maps of uncertainty over the plane, lighter where it is greater."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from uqassay.experiments.disentangling.maps import (
    MOONS,
    PARTS,
    TRIANGLE,
    Maps,
    Panel,
    Setting,
    mean_by_distance,
    mean_by_side,
    triangle_maps,
    two_moons_maps,
)
from uqassay.experiments.figure_files import check_folder, write_figure
from uqassay.wording import percent

__all__ = ["draw_maps", "write_map_figures"]

TITLES = {"gaussian-logits": "Gaussian logits", "information-theoretic": "Information-theoretic"}
COLOURS = "viridis"  # lighter is more


def draw_maps(figure: Any, maps: Maps) -> None:
    """Draw all panels on a matplotlib figure: lighter is more uncertain, each row has one scale and its bar.

    Training instances are white dots (class 0) and black dots (class 1).
    """
    rows = [(name, part) for name in maps.panels for part in PARTS]
    triangular = maps.experiment == "triangle"
    shape = (1, len(PARTS)) if triangular else (len(rows), len(maps.values))
    axes = figure.subplots(*shape, squeeze=False, sharex=True, sharey=True)
    for k, (name, part) in enumerate(rows):
        panels = maps.panels[name]
        line = [axes[0, k]] if triangular else list(axes[k])
        top = max(float(getattr(panel, part).max()) for panel in panels)
        for ax, panel in zip(line, panels, strict=True):
            image = ax.imshow(
                getattr(panel, part),
                origin="lower",
                extent=maps.setting.extent,
                cmap=COLOURS,
                vmin=0.0,
                vmax=top,
                aspect="equal",
                interpolation="bilinear",
            )
            _draw_instances(ax, panel)
            if triangular:
                ax.set_title(part.capitalize(), fontsize="medium")
            elif k == 0:
                ax.set_title(_column(maps, panel), fontsize="medium")
        if not triangular:
            line[0].set_ylabel(f"{TITLES[name]}\n{part}", fontsize="small")
        figure.colorbar(image, ax=line, label="nats", pad=0.01, aspect=15 if not triangular else 20, shrink=0.9)
    figure.supxlabel(maps.caption(), fontsize="small")


def _draw_instances(ax: Any, panel: Panel) -> None:
    size = 14.0 if len(panel.y) < 100 else 5.0
    for k, (face, edge) in enumerate((("white", "black"), ("black", "white"))):
        ax.scatter(*panel.X[panel.y == k].T, s=size, c=face, edgecolors=edge, linewidths=0.35)
    ax.set_xticks([])
    ax.set_yticks([])


def _column(maps: Maps, panel: Panel) -> str:
    if maps.experiment == "label-noise":
        return f"{percent(panel.value, 0)} of the labels permuted"
    return f"{percent(panel.value, 0)} of the data"


def write_map_figures(
    folder: str | os.PathLike[str],
    *,
    moons: Setting = MOONS,
    triangle: Setting = TRIANGLE,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> dict[Path, list[dict[str, Any]]]:
    """Compute and draw Figs. 3a, 3b, 6 and 7 as PNG files.

    Parameters
    ----------
    folder : path
        Made where it is missing.
    moons, triangle : Setting
    seed : int
    progress : callable, optional
        Takes the name of each figure.

    Returns
    -------
    dict of Path to list of dict
        Files, each with the rows of `mean_by_distance` or `mean_by_side`.

    Raises
    ------
    InputError
        A folder that takes no files.
    MissingDependencyError
        Without matplotlib or PyTorch.
    """
    place = check_folder(folder)
    smaller = partial(two_moons_maps, setting=moons, seed=seed)
    figures: dict[str, Callable[[], Maps]] = {
        "figure_3a_two_moons_dataset_size": smaller,
        "figure_3b_two_moons_label_noise": partial(two_moons_maps, "label-noise", setting=moons, seed=seed),
        "figure_7_two_moons_constant_epochs": partial(smaller, epochs_by_share=False),
        "figure_6_triangle": partial(triangle_maps, setting=triangle, seed=seed),
    }
    written = {}
    for name, make in figures.items():
        if progress is not None:
            progress(name.replace("_", " "))
        maps = make()
        triangular = maps.experiment == "triangle"
        size = (7.6, 4.2) if triangular else (1.5 + 2.6 * len(maps.values), 8.6)
        path = write_figure(place, name, size, partial(draw_maps, maps=maps))
        written[path] = mean_by_side(maps) if triangular else mean_by_distance(maps)
    return written
