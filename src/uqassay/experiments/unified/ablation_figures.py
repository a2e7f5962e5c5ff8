"""Figures 6 to 10 of paper 000 for predictors trained here: KL against JS, and NS against credal uncertainty (CU)."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.experiments.unified.tables import PARTS, Value, interval_text, means_by_part
from uqassay.report import figures
from uqassay.report.figures.layout import draw_legend, headline
from uqassay.report.figures.style import looks, plain, quantity_label, swatch
from uqassay.wording import count

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.experiments.unified.judging import JudgedDataSet

__all__ = ["MeanTerms", "draw_distances", "draw_mean_e", "draw_measures", "draw_scatter", "mean_terms", "scattered"]

Array = NDArray[np.float64]
Draw = Callable[[Any, "JudgedDataSet"], None]
DOTS = 1000  # of a model in a panel of Figure 8
REACH = 2.0  # greatest mean E times this: longer intervals are cut, and stand in numbers beside the bars


class MeanTerms(NamedTuple):
    """Means of a model over its correct or its incorrect predictions, λ = 1."""

    model: str
    distance: float
    nonspecificity: float
    e: Value


def mean_terms(found: "Assay", part: str) -> list[MeanTerms]:
    """Mean distance, NS and E of every model over its "correct" or "wrong" predictions; models without any are left out."""
    means = means_by_part(found, "correct", terms=True)
    key = "kl" if found.settings.distance == "kl" else "js"
    return [
        MeanTerms(name, means[name, part, key].mean, means[name, part, "ns"].mean, means[name, part, "e"])
        for name in found.model_names
        if (name, part, "e") in means
    ]


def scattered(found: "Assay", part: str) -> dict[str, tuple[Array, Array]]:
    """NS and distance of single instances of the first run, at most `DOTS` a model, by the rows' order at random."""
    points = {}
    for model in found.candidates:
        hit = found.hits(model.name)[0]
        rows = np.flatnonzero(hit if part == "correct" else ~hit)
        if len(rows) > DOTS:
            rows = np.sort(np.random.default_rng(0).permutation(rows)[:DOTS])
        points[model.name] = model.columns["nonspecificity"][0, rows], model.columns["distance"][0, rows]
    return points


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def draw_distances(convention: str) -> Draw:
    """Figure 6: KL and JS by correctness, all models."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        kl, js = figure.subplots(1, 2)
        figures.plot_by_correctness(judged.assays[convention], "distance", ax=kl)
        figures.plot_by_correctness(judged.jensen_shannon[convention], "distance", ax=js)

    return draw


def draw_measures(convention: str) -> Draw:
    """Figure 9: NS and credal uncertainty by correctness, models that state sets."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        ns, cu = figure.subplots(1, 2)
        figures.plot_by_correctness(judged.ranked[convention], "nonspecificity", ax=ns)
        figures.plot_by_correctness(_sets(judged, convention), "nonspecificity", ax=cu)

    return draw


def draw_mean_e(convention: str, other: str) -> Draw:
    """Figure 7 (`other` = "JS") or 10 ("CU"): mean E as the sum of its terms, for correct and for incorrect predictions."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        first = judged.assays[convention]
        changed = judged.jensen_shannon if other == "JS" else judged.credal_uncertainty
        names = [("KL", "NS"), ("JS", "NS") if other == "JS" else ("KL", "CU")]
        rows = figure.subplots(2, 2, squeeze=False)
        colours = {name: look.colour for name, look in looks(judged.assays["exact"]).items()}
        for column, part in enumerate(PARTS):
            parts = []
            for axes, found, terms in zip(rows, (first, changed[convention]), names, strict=True):
                bars = mean_terms(found, part)
                parts += bars
                _bars(axes[column], bars, colours)
                axes[column].set_xlabel(f"mean E = {terms[0]} + {terms[1]}, λ = 1")
                headline(axes[column], f"{terms[0]} with {terms[1]}", f"{PARTS[part]} predictions", _hint(terms))
            for axes in rows:
                axes[column].set_xlim(0.0, _end(parts))

    return draw


def draw_scatter(convention: str) -> Draw:
    """Figure 8: KL and JS against NS, single instances of the models that state sets."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        rows = figure.subplots(2, 2, squeeze=False)
        names = judged.ranked[convention].model_names
        of_model = looks(judged.assays["exact"])  # the same under every distance
        for axes, whole in zip(rows, (judged.assays[convention], judged.jensen_shannon[convention]), strict=True):
            found = replace(whole, models=tuple(m for m in whole.models if m.name in names))
            for ax, part in zip(axes, PARTS, strict=True):
                points = scattered(found, part)
                for name, (ns, distance) in points.items():
                    look = of_model[name]
                    style = {"marker": look.marker, "markersize": 4.5, "linestyle": "none", "alpha": 0.6}
                    ax.plot(ns, distance, color=look.colour, markeredgewidth=0.0, rasterized=True, **style)
                ax.set_xlabel(quantity_label(found, "nonspecificity"))
                ax.set_ylabel(quantity_label(found, "distance"))
                ax.set_xlim(left=-0.02 * max([1e-9, *(ns.max(initial=0.0) for ns, _ in points.values())]))
                headline(ax, f"{PARTS[part]} predictions", f"first run, at most {count(DOTS)} instances of a model")
        handles = [swatch(of_model[name], plain(name), line=False) for name in names]
        draw_legend(rows[0, 1], handles)

    return draw


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _sets(judged: "JudgedDataSet", convention: str) -> "Assay":
    """Credal uncertainty of the models that state sets."""
    found, names = judged.credal_uncertainty[convention], judged.ranked[convention].model_names
    return replace(found, models=tuple(m for m in found.models if m.name in names))


def _hint(terms: tuple[str, str]) -> str:
    return f"dark: {terms[0]}; pale: {terms[1]}; lines: 95 % intervals of E"


def _end(bars: list[MeanTerms]) -> float:
    """Right end of the axis: all bars, and their intervals unless they are very long."""
    longest = max((bar.e.mean for bar in bars), default=0.0)
    furthest = max((bar.e.high for bar in bars if np.isfinite(bar.e.high)), default=longest)
    return 1.03 * max(longest, min(furthest, REACH * longest)) or 1.0


def _bars(ax: Any, bars: list[MeanTerms], colours: dict[str, str]) -> None:
    """One stacked bar for each model, with its E and the interval in numbers."""
    for i, bar in enumerate(bars):
        colour = colours[bar.model]
        ax.barh(i, bar.distance, color=colour, height=0.7)
        ax.barh(i, bar.nonspecificity, left=bar.distance, color=(colour, 0.35), edgecolor=colour, height=0.7)
        if np.isfinite(bar.e.low):
            ax.plot([max(bar.e.low, 0.0), bar.e.high], [i, i], color="0.45", linewidth=1.4)
        ax.annotate(
            interval_text(bar.e),
            (1.0, i),
            (5, 0),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            fontsize="x-small",
            annotation_clip=False,
        )
    ax.set_yticks(range(len(bars)), [plain(bar.model) for bar in bars])
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
