"""Figures 2 and 13 to 20 of paper 000 for predictors trained here, one set for each data set."""

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uqassay.experiments.figure_files import check_folder, write_figure
from uqassay.experiments.unified.tables import LINE, TRADEOFFS
from uqassay.report import figures

if TYPE_CHECKING:
    from uqassay.experiments.unified.judging import JudgedDataSet

__all__ = ["FIGURES", "write_unified_figures"]

Progress = Callable[[str], None]
Size = Callable[["JudgedDataSet"], tuple[float, float]]  # inches


def write_unified_figures(folder: str | os.PathLike[str], judged: "JudgedDataSet", progress: Progress) -> list[Path]:
    """Draw the figures of a data set as PNG files and return their paths; without models that state sets there are none.

    Parameters
    ----------
    folder : path
        Made where it is missing.
    judged : JudgedDataSet
    progress : callable
        Takes the name of each figure.

    Raises
    ------
    InputError
        A folder that takes no files.
    MissingDependencyError
        Without matplotlib.
    """
    place = check_folder(folder)
    if not judged.ranked["exact"].candidates:  # points alone
        return []
    data = re.sub(r"[^A-Za-z0-9._-]+", "-", judged.dataset)
    written = []
    for name, (title, size, draw) in FIGURES.items():
        progress(f"drawing {name}, {judged.dataset}")

        def on(figure: Any, title: str = title, draw: Callable[[Any, "JudgedDataSet"], None] = draw) -> None:
            figure.suptitle(f"{title} – {judged.dataset}", fontsize="large")
            draw(figure, judged)

        written.append(write_figure(place, f"unified_{data}_{name}", size(judged), on))
    return written


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def _losses(convention: str) -> Callable[[Any, "JudgedDataSet"], None]:
    """Figure 2: KL, NS and E by correctness; NS of the models that state sets."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        whole, ranked = judged.assays[convention], judged.ranked[convention]
        kl, ns, e = figure.subplots(1, 3)
        figures.plot_by_correctness(whole, "distance", ax=kl)
        figures.plot_by_correctness(ranked, "nonspecificity", ax=ns)
        figures.plot_by_correctness(whole, "unified", ax=e)

    return draw


def _tradeoff(figure: Any, judged: "JudgedDataSet") -> None:
    """Figure 2, last panel: E against λ."""
    for ax, (convention, found) in zip(figure.subplots(1, 2), judged.ranked.items(), strict=True):
        figures.plot_tradeoff(found, tradeoffs=(0.0, *TRADEOFFS), ax=ax)
        _above(ax, LINE[convention], room=30.0)


def _regions(figure: Any, judged: "JudgedDataSet") -> None:
    """Mean KL against mean NS with the joint region of the two."""
    for ax, (convention, found) in zip(figure.subplots(1, 2), judged.ranked.items(), strict=True):
        figures.plot_distance_nonspecificity(found, 1.0, ax=ax)
        _above(ax, LINE[convention], room=16.0)


def _winners(figure: Any, judged: "JudgedDataSet") -> None:
    """Table 2 as a picture: how sure the choice is at every λ."""
    for ax, (convention, found) in zip(figure.subplots(1, 2), judged.ranked.items(), strict=True):
        figures.plot_win_shares(found, ax=ax)
        _above(ax, LINE[convention])


def _members(figure: Any, judged: "JudgedDataSet") -> None:
    """Figure 13: E against the number of members or draws."""
    names = list(judged.members["exact"])
    rows = figure.subplots(len(names), 2, squeeze=False)
    for axes, name in zip(rows, names, strict=True):
        for ax, (convention, by_model) in zip(axes, judged.members.items(), strict=True):
            figures.plot_members(by_model[name], 1.0, ax=ax)
            drawn = by_model[name][min(by_model[name])][name].kind == "Dirichlet"
            ax.set_xlabel("draws M" if drawn else "members M")
            _above(ax, LINE[convention])


def _each_model(plot: Callable[..., Any]) -> Callable[[Any, "JudgedDataSet"], None]:
    """One panel for each model that states sets, two side by side."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        found = judged.ranked["exact"]
        names = found.model_names
        panels = figure.subplots(math.ceil(len(names) / 2), 2, squeeze=False).ravel()
        for ax, name in zip(panels, names, strict=False):
            plot(found, name, ax=ax)
        for ax in panels[len(names) :]:
            ax.set_axis_off()

    return draw


def _confidence(figure: Any, judged: "JudgedDataSet") -> None:
    """Figure 17: entropy and NS, one row for each model."""
    found = judged.ranked["exact"]
    rows = figure.subplots(len(found.model_names), 2, squeeze=False)
    for axes, name in zip(rows, found.model_names, strict=True):
        for ax, quantity in zip(axes, ("total-entropy", "nonspecificity"), strict=True):
            figures.plot_confidence(found, name, quantity, ax=ax)


def _above(ax: Any, text: str, *, room: float = 6.0) -> None:
    """Put a line above the title of a panel, `room` points above the axes."""
    ax.set_title(f"{text}\n{ax.get_title(loc='left')}", loc="left", fontsize="small", pad=room)


def _fixed(width: float, height: float) -> Size:
    return lambda judged: (width, height)


def _rows(width: float, height: float, *, of: int = 2) -> Size:
    """Height for each row of `of` models."""
    return lambda judged: (width, 0.4 + height * math.ceil(len(judged.ranked["exact"].model_names) / of))


def _by_model(judged: "JudgedDataSet") -> tuple[float, float]:
    """A row for each model of Figure 13."""
    return 11.0, 0.4 + 3.4 * len(judged.members["exact"])


FIGURES: dict[str, tuple[str, Size, Callable[[Any, "JudgedDataSet"], None]]] = {
    "figure2_exact": ("Figure 2: KL, NS and E by correctness, exact", _fixed(20.0, 7.4), _losses("exact")),
    "figure2_paper": ("Figure 2: KL, NS and E by correctness, paper's convention", _fixed(20.0, 7.4), _losses("paper")),
    "figure2_tradeoff": ("Figure 2: E against λ", _fixed(13.0, 4.8), _tradeoff),
    "figure2_regions": ("Mean KL and NS with their joint regions", _fixed(13.0, 4.8), _regions),
    "table2_winners": ("Table 2: who has the lowest E, and how surely", _fixed(12.5, 4.4), _winners),
    "figure13_members": ("Figure 13: E against the number of members or draws", _by_model, _members),
    "figure14_set_sizes": (
        "Figures 14 to 16: sizes of the credal sets",
        _rows(14.0, 3.3),
        _each_model(figures.plot_set_sizes),
    ),
    "figure17_confidence": ("Figure 17: entropy and NS against confidence", _rows(10.8, 3.2, of=1), _confidence),
    "figure18_width": (
        "Figures 18 to 20: width of the sets and NS",
        _rows(10.4, 3.9),
        _each_model(figures.plot_width_nonspecificity),
    ),
}
