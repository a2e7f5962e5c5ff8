"""The figures of matplotlib: their texts, how many marks they have, and a digest of the numbers drawn."""

import os
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import uqassay as uq
from tests.golden import data, functions, studies
from tests.golden.capture import attempt, digest, scrubbed, text_of
from tests.golden.registry import Scenario
from uqassay import calibration, evidence, metrics

WIDTHS = ("text", "column")


def drawn(draw: Callable[..., Any], width: str) -> str:
    """All words of a figure, and what each of its axes holds."""
    os.environ.setdefault("MPLBACKEND", "agg")
    from matplotlib import pyplot
    from matplotlib.text import Text

    before = set(pyplot.get_fignums())
    axes = attempt(partial(draw, width=width))
    try:
        if not hasattr(axes, "figure"):
            return text_of(axes)
        figure = axes.figure
        figure.draw_without_rendering()
        words = [
            t.get_text().replace("\n", " / ") for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()
        ]
        size = " × ".join(f"{inch:.3g}" for inch in figure.get_size_inches())
        lines = [f"{len(figure.axes)} axes, {size} inches, scale {axes.get_xscale()} and {axes.get_yscale()}"]
        for ax in figure.axes:
            lines.append(
                f"{len(ax.lines)} lines, {len(ax.collections)} collections, {len(ax.patches)} patches, {len(ax.images)} images"
            )
            lines += [f"  line {one.get_label()}: {digest(_points(one))}" for one in ax.lines[:20]]
        return scrubbed("\n".join([*lines, "words:", *(f"  {word}" for word in words)]))
    finally:
        for number in set(pyplot.get_fignums()) - before:
            pyplot.close(number)


def _points(line: Any) -> np.ndarray:
    return np.asarray(line.get_xydata(), dtype=float).round(9)


@cache
def three() -> uq.Assay:
    """Three models with scores, sites and calibration tests."""
    return uq.assay(
        data.rivals(), data.labels(), n_draws=200, measures=("total-entropy", "epistemic-entropy", "credal-width")
    )


@cache
def mixed() -> uq.Assay:
    """A set, a point and a model of several runs."""
    kinds = data.all_kinds(names=("Masses", "Point"))
    return uq.assay({**kinds, "runs": data.runs()}, data.labels(), n_draws=200, calibration=())


def _second_order() -> Any:
    return calibration.second_order_test(data.votes(), data.prediction("Members"), rng=0)


def _curves() -> Any:
    return {k: evidence.coverage_curve(data.labels(), data.prediction(k)) for k in ("Members", "Intervals")}


def _critical() -> Any:
    values = 0.7 + 0.05 * np.arange(4) + 0.03 * np.random.default_rng(3).normal(size=(10, 4))
    return evidence.compare_table(values, greater_is_better=True, models=list("abcd"), label="accuracy")


def _cost() -> Any:
    errors, uncertainty, _ = data.errors()
    return metrics.expected_cost_curve(errors, uncertainty)


def _from_list(name: str) -> Any:
    return functions.disentanglement_metrics()[name]()


@cache
def figures() -> dict[str, Callable[..., Any]]:
    """What draws each figure, called with the width."""
    from uqassay.report import figures as f

    gain = studies.gain_study("calibrated", n=100, n_runs=2).result("mutual-information", bins=6)
    contender = studies.rivals()[0]
    found: dict[str, Callable[..., Any]] = {
        "ranking": lambda **o: f.plot_ranking(three(), 0.5, **o),
        "ranking with runs": lambda **o: f.plot_ranking(mixed(), 1.0, **o),
        "trade-off": lambda **o: f.plot_tradeoff(three(), **o),
        "top group": lambda **o: f.plot_top_group(three(), tradeoffs=[0.1, 0.5, 1.0], **o),
        "shares of resamples": lambda **o: f.plot_win_shares(mixed(), **o),
        "rank sets": lambda **o: f.plot_rank_sets(three(), **o),
        "rank sets by accuracy": lambda **o: f.plot_rank_sets(mixed(), metric="accuracy", **o),
        "plane": lambda **o: f.plot_distance_nonspecificity(mixed(), **o),
        "by correctness": lambda **o: f.plot_by_correctness(mixed(), "unified", **o),
        "confidence": lambda **o: f.plot_confidence(three(), "a", **o),
        "width": lambda **o: f.plot_width_nonspecificity(mixed(), "runs", **o),
        "reliability": lambda **o: f.plot_reliability(mixed(), n_bins=5, **o),
        "risk and coverage": lambda **o: f.plot_risk_coverage(three(), **o),
        "mistakes": lambda **o: f.plot_mistake_ranking(mixed(), **o),
        "comparisons of scores": lambda **o: f.plot_ranking_comparisons(three(), **o),
        "calibration tests": lambda **o: f.plot_calibration_tests(three(), **o),
        "calibration null": lambda **o: f.plot_calibration_null(three(), "a", **o),
        "calibration before and after": lambda **o: f.plot_calibration_before_after(three(), "a", **o),
        "ensemble weights": lambda **o: f.plot_ensemble_weights(three(), "a", **o),
        "set sizes": lambda **o: f.plot_set_sizes(three(), "a", **o),
        "members": lambda **o: f.plot_members({2: three(), 5: three()}, **o),
        "simplex": lambda **o: f.plot_simplex(data.prediction("Members", 3)[:1], **o),
        "coverage curves": lambda **o: f.plot_coverage_curve(_curves(), **o),
        "critical difference": lambda **o: f.plot_critical_difference(_critical(), **o),
        "expected cost": lambda **o: f.plot_expected_cost(_cost(), **o),
        "second order": lambda **o: f.plot_second_order(_second_order(), **o),
        "delay": lambda **o: f.plot_delay_curve(gain, **o),
        "epistemic map": lambda **o: f.plot_epistemic_map(gain, **o),
        "gain by uncertainty": lambda **o: f.plot_gain_by_uncertainty(gain, **o),
        "disentanglement curves": lambda **o: f.plot_disentanglement_curves(contender, "label-noise", **o),
        "disentanglement terms": lambda **o: f.plot_disentanglement_terms(contender, **o),
        "disentanglement ranking": lambda **o: f.plot_disentanglement_ranking(
            evidence.rank_disentanglement(studies.rivals()), **o
        ),
        "left-out classes": lambda **o: f.plot_left_out_classes(contender, **o),
        "expected behaviour": lambda **o: f.plot_expected_behaviour("dataset-size", **o),
        "correlations": lambda **o: f.plot_estimate_correlations(_from_list("correlations"), **o),
        "trend": lambda **o: f.plot_epistemic_trend(_from_list("trend"), **o),
        "sources of doubt": lambda **o: f.plot_doubt_sources(_from_list("sources"), **o),
    }
    return found


GROUPS = 6


def several(start: int) -> str:
    """Every sixth figure, alternately as wide as a text and as a column."""
    chosen = list(figures().items())[start::GROUPS]
    texts = []
    for place, (name, draw) in enumerate(chosen):
        width = WIDTHS[place % 2]
        texts.append(f"== {name}, {width}\n{drawn(draw, width)}\n")
    return "\n".join(texts)


def scenarios() -> Iterator[Scenario]:
    """All figures in some scenarios."""
    for start in range(GROUPS):
        yield Scenario(f"figures {start + 1}", partial(several, start), ("matplotlib", "pandas"))
