"""Figures 1 to 20 of paper 000 for predictors trained here; all but Figure 1 once for each data set.

Figures 11 and 12 are Figure 2 of other data sets.
"""

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, final

from uqassay.experiments.figure_files import check_folder, write_figure
from uqassay.experiments.unified.ablation_figures import draw_distances, draw_mean_e, draw_measures, draw_scatter
from uqassay.experiments.unified.judging import MEMBERS
from uqassay.experiments.unified.prediction_figures import draw_averages, draw_beliefs, draw_closures, draw_types
from uqassay.experiments.unified.tables import LINE, TRADEOFFS
from uqassay.report import figures
from uqassay.wording import counted, listed

if TYPE_CHECKING:
    from uqassay.experiments.unified.judging import JudgedDataSet

__all__ = ["FIGURES", "Drawing", "n_unified_figures", "write_unified_figures"]

Progress = Callable[[str], None]
Draw = Callable[[Any, "JudgedDataSet"], None]
Size = Callable[["JudgedDataSet"], tuple[float, float]]  # inches


@final
@dataclass(frozen=True)
class Drawing:
    """One file of figures.

    Attributes
    ----------
    title : str
    size : callable
        Width and height in inches for a data set.
    draw : callable
        Takes the matplotlib Figure and the data set.
    needs : tuple of str
        Predictors, any of which the figure can show; none: those that state sets.
    """

    title: str
    size: Size
    draw: Draw
    needs: tuple[str, ...] = ()


def write_unified_figures(
    folder: str | os.PathLike[str], judged: "Sequence[JudgedDataSet]", progress: Progress
) -> list[str]:
    """Draw the figures of data sets as PNG files.

    Parameters
    ----------
    folder : path
        Made where it is missing.
    judged : sequence of JudgedDataSet
    progress : callable
        Takes the name of each figure, `n_unified_figures` times.

    Returns
    -------
    list of str
        One line with the path of each file, and one for each figure that is left out, with the reason.

    Raises
    ------
    InputError
        A folder that takes no files.
    MissingDependencyError
        Without matplotlib.
    """
    place = check_folder(folder)
    progress("drawing figure1_types")
    lines = [f"figure: {write_figure(place, 'unified_figure1_types', (13.5, 10.0), _types)}"]
    for one in judged:
        data = re.sub(r"[^A-Za-z0-9._-]+", "-", one.dataset).strip("-")
        for name, drawing in FIGURES.items():
            progress(f"drawing {name}, {one.dataset}")
            missing = _missing(drawing, one)
            if missing:
                lines.append(f"{name} of {one.dataset} is left out: {missing}")
                continue

            def on(figure: Any, drawing: Drawing = drawing, one: "JudgedDataSet" = one) -> None:
                figure.suptitle(f"{drawing.title} – {one.dataset}", fontsize="large")
                drawing.draw(figure, one)

            lines.append(f"figure: {write_figure(place, f'unified_{data}_{name}', drawing.size(one), on)}")
        lines += _shorter_curve(one)
    return lines


def n_unified_figures(n_data_sets: int) -> int:
    """Number of calls of ``progress`` in `write_unified_figures`."""
    return 1 + n_data_sets * len(FIGURES)


def _shorter_curve(judged: "JudgedDataSet") -> list[str]:
    """A line if DE has fewer members than in the paper's Figure 13."""
    sizes = judged.members["exact"].get("DE", {})
    if not sizes or max(sizes) >= MEMBERS["DE"][-1]:
        return []
    return [
        f"figure13_members of {judged.dataset}: DE's curve ends at {counted(max(sizes), 'member')}, the paper's at "
        f"{MEMBERS['DE'][-1]}; the option members trains more"
    ]


def _missing(drawing: Drawing, judged: "JudgedDataSet") -> str:
    """Why a figure cannot be drawn; empty if it can."""
    if drawing.needs and not any(name in judged.said for name in drawing.needs):
        return f"there is no {listed(drawing.needs, last='or')}"
    return "" if judged.ranked["exact"].candidates else "no predictor states sets"


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def _types(figure: Any) -> None:
    figure.suptitle("Figure 1: types of predictions of an instance of class b, three classes", fontsize="large")
    draw_types(figure)


def _losses(convention: str) -> Draw:
    """Figure 2: KL, NS and E by correctness; NS of the models that state sets."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        whole, ranked = judged.assays[convention], judged.ranked[convention]
        kl, ns, e = figure.subplots(1, 3)
        figures.plot_by_correctness(whole, "distance", ax=kl)
        figures.plot_by_correctness(ranked, "nonspecificity", ax=ns)
        figures.plot_by_correctness(whole, "unified", tradeoff=1.0, ax=e)

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
            figures.plot_members(by_model[name], 1.0, coloured_as=judged.assays["exact"], ax=ax)
            drawn = by_model[name][min(by_model[name])][name].kind == "Dirichlet"
            ax.set_xlabel("draws M" if drawn else "members M")
            _above(ax, LINE[convention])


def _each_model(plot: Callable[..., Any]) -> Draw:
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


def _both(figure: str, title: str, size: Size, draw: Callable[[str], Draw]) -> dict[str, Drawing]:
    """A figure of each convention."""
    return {
        f"{figure}_{convention}": Drawing(f"{title}, {LINE[convention]}", size, draw(convention)) for convention in LINE
    }


SAMPLED = ("LB-BNN",)  # the predictor of Figures 3 and 5
FIGURES: dict[str, Drawing] = {
    **_both("figure2", "Figure 2: KL, NS and E by correctness", _fixed(20.0, 7.4), _losses),
    "figure2_tradeoff": Drawing("Figure 2: E against λ", _fixed(13.0, 4.8), _tradeoff),
    "figure2_regions": Drawing("Mean KL and NS with their joint regions", _fixed(13.0, 4.8), _regions),
    "table2_winners": Drawing("Table 2: who has the lowest E, and how surely", _fixed(12.5, 4.4), _winners),
    "figure3_averages": Drawing(
        "Figure 3: draws of LB-BNN before averaging, and their average", _fixed(12.0, 7.6), draw_averages, SAMPLED
    ),
    "figure4_beliefs": Drawing(
        "Figure 4: belief, mass and pignistic probability", _fixed(13.0, 7.2), draw_beliefs, ("RS-NN",)
    ),
    "figure5_closures": Drawing(
        "Figure 5: convex closure of LB-BNN's draws and credal set of their lower probabilities",
        _fixed(13.0, 8.6),
        draw_closures,
        SAMPLED,
    ),
    **_both("figure6", "Figure 6: KL and JS by correctness", _fixed(14.5, 7.4), draw_distances),
    **_both("figure7", "Figure 7: mean E with KL and with JS", _fixed(14.0, 8.6), partial(draw_mean_e, other="JS")),
    **_both("figure8", "Figure 8: KL and JS against NS", _fixed(12.5, 8.6), draw_scatter),
    **_both("figure9", "Figure 9: NS and credal uncertainty by correctness", _fixed(14.5, 5.2), draw_measures),
    **_both(
        "figure10",
        "Figure 10: mean E with NS and with credal uncertainty",
        _fixed(13.0, 8.6),
        partial(draw_mean_e, other="CU"),
    ),
    "figure13_members": Drawing(
        "Figure 13: E against the number of members or draws", _by_model, _members, tuple(MEMBERS)
    ),
    "figure14_set_sizes": Drawing(
        "Figures 14 to 16: sizes of the credal sets", _rows(14.0, 3.3), _each_model(figures.plot_set_sizes)
    ),
    "figure17_confidence": Drawing("Figure 17: entropy and NS against confidence", _rows(10.8, 3.2, of=1), _confidence),
    "figure18_width": Drawing(
        "Figures 18 to 20: width of the sets and NS", _rows(10.4, 3.9), _each_model(figures.plot_width_nonspecificity)
    ),
}
