"""Figures of the page of the disentanglement benchmark, as elements of the page by their names."""

from collections.abc import Callable, Sequence
from typing import Any

from uqassay.evidence.disentanglement_behaviour import DisentanglementBehaviour
from uqassay.evidence.disentanglement_measured import EXPERIMENTS
from uqassay.evidence.disentanglement_ranking import Contender, RankedContender
from uqassay.report.figures.disentanglement_behaviour import (
    plot_doubt_sources,
    plot_epistemic_trend,
    plot_estimate_correlations,
)
from uqassay.report.figures.disentanglement_curves import LOOKS, plot_disentanglement_curves, plot_expected_behaviour
from uqassay.report.figures.disentanglement_terms import (
    INK,
    plot_disentanglement_ranking,
    plot_disentanglement_terms,
    plot_left_out_classes,
    shown_classes,
)
from uqassay.report.inline_svg import THEME, inline_axes, inline_svg

__all__ = ["behaviour_figures", "contender_figures", "expected_figures", "ranking_figure"]

COLOURS = {**THEME, INK: "var(--ink)", **{look.colour.lower(): f"var(--{kind})" for kind, look in LOOKS.items()}}
Draw = Callable[[Any], Any]
PANEL = (3.7, 2.7)  # inches


def expected_figures() -> dict[str, str]:
    """The expected behaviour in each experiment."""

    def of(experiment: str) -> Draw:
        return lambda ax: plot_expected_behaviour(experiment, ax=ax, legend=False)

    return {name: _svg(of(name), PANEL, f"e{i}", name) for i, name in enumerate(EXPERIMENTS)}


def ranking_figure(ranked: Sequence[RankedContender], *, name: str, level: float) -> str:
    """The ranking of one data set; empty where no contender has an error."""
    rows = [row for row in ranked if row.found is not None]
    if not rows:
        return ""
    size = (7.0, 1.2 + 0.32 * len(rows))
    return _svg(lambda ax: plot_disentanglement_ranking(rows, ax=ax, level=level), size, name, "ranking")


def contender_figures(contender: Contender, *, name: str, level: float) -> dict[str, str]:
    """Curves of each experiment, the four terms, and the classes left out, where they were run."""

    def curves(experiment: str) -> Draw:
        return lambda ax: plot_disentanglement_curves(contender, experiment, ax=ax, level=level, legend=False)

    drawn = {}
    for i, experiment in enumerate(EXPERIMENTS[:2]):
        if experiment in contender.study.measured:
            label = f"{experiment}: {contender.label}"
            drawn[experiment] = _svg(curves(experiment), PANEL, f"{name}x{i}", label)
    if contender.has_error:
        drawn["terms"] = _svg(
            lambda ax: plot_disentanglement_terms(contender, ax=ax, level=level),
            (PANEL[0], 2.2),
            f"{name}t",
            f"terms: {contender.label}",
        )
    if contender.has_classes:
        size = (PANEL[0], 1.2 + 0.24 * (1 + len(shown_classes(contender))))
        drawn[EXPERIMENTS[2]] = _svg(
            lambda ax: plot_left_out_classes(contender, ax=ax, level=level),
            size,
            f"{name}k",
            f"{EXPERIMENTS[2]}: {contender.label}",
        )
    return drawn


def behaviour_figures(found: DisentanglementBehaviour, *, name: str) -> dict[str, str]:
    """Figures beyond the disentanglement error: trend, sources of doubt, correlations of all estimates."""
    drawn = {}
    if (trend := found.trend) is not None:
        drawn["trend"] = _svg(lambda ax: plot_epistemic_trend(trend, ax=ax), PANEL, f"{name}e", "trend")
    if (doubts := found.doubts) is not None:
        drawn["doubts"] = _svg(lambda ax: plot_doubt_sources(doubts, ax=ax), PANEL, f"{name}d", "sources of doubt")
    if (correlations := found.correlations) is not None:
        side = 2.6 + 0.32 * len(correlations.names)
        drawn["correlations"] = inline_svg(
            lambda figure: plot_estimate_correlations(correlations, ax=figure.subplots()),
            (side, side),
            name=f"{name}m",
            label="correlations",
            colours={},
        )
    return drawn


def _svg(draw: Draw, size: tuple[float, float], name: str, label: str) -> str:
    return inline_axes(draw, size, name=name, label=label, colours=COLOURS)
