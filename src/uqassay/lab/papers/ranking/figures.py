"""Figures 1 to 6 of the ranking experiments, and Figure 1 for real models: from results to PNG files."""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from uqassay.arrays import Floats
from uqassay.lab.datasets.generated import DIRECTION, TwoGaussians
from uqassay.lab.papers.figure_files import check_folder, write_figure
from uqassay.lab.papers.options import Progress
from uqassay.lab.papers.ranking.grid import (
    METHODS,
    N_TRAIN,
    PAIRS,
    SCORES_OF,
    TEMPERATURES,
    TrainedPredictor,
    at_temperatures,
    grid,
    train,
)
from uqassay.lab.papers.ranking.printed import METRICS, TRUTHS
from uqassay.lab.papers.ranking.scorings import Scoring, columns, study
from uqassay.measures import uncertainty_score
from uqassay.metrics import kendall_tau_score, misalignment_truth, misclassification_truth
from uqassay.predictions import Point
from uqassay.report.figures.frame import GREY, look_at, plain, swatch
from uqassay.text import number, percent, percent_interval

__all__ = ["family_of", "write_real_figure", "write_synthetic_figures"]


LETTERS = dict(zip(TRUTHS, "φψ", strict=True))
MOST_NAMED = 24  # models that a legend names; more are named by family, as the paper does
# Families of the paper's legends; a longer name is before the shorter one that it contains
FAMILIES = (
    *("GoogLeNet", "AlexNet", "Wide ResNet", "ResNeXt", "ResNet", "RegNet", "Swin", "MobileNet", "EfficientNet", "ViT"),
    *("MnasNet", "ConvNeXt", "Inception", "DenseNet", "VGG", "ShuffleNet"),
    *("BART", "DistilBERT", "DeBERTa", "XLM", "RoBERTa", "MiniLM", "mContriever", "BERT", "E5"),
)
OTHER = "other"
N_PICKED = 6  # models of Figures 4 and 5, the same number of each method
N_POPULATION = 100_000  # instances behind the curves of Figure 3
SCORE_LABELS = {
    "epistemic-entropy": "mutual information",
    "predicted-class-variance": "variance of predicted class",
    "total-variance": "variance of the prediction",
}


def write_synthetic_figures(
    folder: str | os.PathLike[str],
    scorings: Sequence[Scoring],
    data: TwoGaussians,
    seed: int,
    *,
    one_sample: bool = False,
    progress: Progress = None,
) -> list[Path]:
    """Write Figures 1 to 6 of the synthetic experiment.

    Parameters
    ----------
    scorings : sequence of Scoring
        Those of the grid, for Figures 1 and 6.
    seed : int
        Seed of the predictors of Figures 2, 4 and 5, which are trained again, and of the sample of Figure 3.
    one_sample : bool
        As the scorings were made.
    """
    say = progress or (lambda step: None)
    path = check_folder(folder)
    picked = _picked(data, seed, one_sample)
    softmax = train(grid("smoke")[0], data, seed, one_sample=one_sample)
    drawings: list[tuple[str, tuple[float, float], Callable[[Any], None]]] = [
        ("figure1_metrics_against_truth", (8.6, 7.6), lambda f: _metrics_against_truth(f, scorings)),
        ("figure2_temperature_scaling", (5.4, 5.2), lambda f: _temperature(f, softmax)),
        ("figure3_data_and_truths", (9.2, 7.8), lambda f: _data_and_truths(f, data, seed)),
        ("figure4_scores_against_misclassification", (9.2, 5.8), lambda f: _scores_against(f, picked, 0)),
        ("figure5_scores_against_misalignment", (9.2, 5.8), lambda f: _scores_against(f, picked, 1)),
        ("figure6_metrics_by_method", (9.6, 6.4), lambda f: _metrics_by_method(f, scorings)),
    ]
    paths = []
    for name, size, draw in drawings:
        say(f"drawing {name}")
        paths.append(write_figure(path, name, size, draw))
    return paths


def write_real_figure(folder: str | os.PathLike[str], scorings: Sequence[Scoring], dataset: str) -> Path:
    """Write Figure 1 for the models of a real data set, each with its 95 % intervals and its own marker."""
    return write_figure(
        check_folder(folder),
        f"figure1_{re.sub('[^a-z0-9]', '', dataset.lower())}",
        (9.6, 7.6),
        lambda figure: _models_against_truth(figure, scorings, dataset),
    )


def family_of(model: str) -> str:
    """Family of a pretrained network or text classifier by its name, as in the legends of Figure 1.

    Examples
    --------
    >>> [family_of(name) for name in ("resnext50_32x4d-IMAGENET1K_V1", "facebook--bart-large-mnli", "mine")]
    ['ResNeXt', 'BART', 'other']
    """
    letters = model.lower().replace("_", "").replace("-", "")
    return next((family for family in FAMILIES if family.lower().replace(" ", "") in letters), OTHER)


# ---- Figure 1 --------------------------------------------------------------------------------------------------------


def _metrics_against_truth(figure: Any, scorings: Sequence[Scoring]) -> None:
    """Each metric against τ with each truth, one dot for a scoring."""
    kept = [s for s in scorings if s.defined]
    metrics, taus = columns(kept)
    found = study(kept, "fisher")
    methods = np.array([s.method for s in kept])
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    for ax, (metric, truth) in zip(panels.ravel(), PAIRS, strict=True):
        x, y = taus[:, TRUTHS.index(truth)], metrics[:, METRICS.index(metric)]
        ax.axhline(0.5, color=GREY, linewidth=0.7, linestyle=":", zorder=0)
        ax.axvline(0.0, color=GREY, linewidth=0.7, linestyle=":", zorder=0)
        for i, method in reversed(list(enumerate(METHODS))):  # the fewest dots on top
            look, rows = look_at(i), methods == method
            ax.scatter(
                x[rows], y[rows], s=(22, 13, 7)[i], color=look.colour, marker=look.marker, alpha=0.55, linewidth=0
            )
        ax.set_title(f"r = {percent(float(found[metric, truth]), 2)}", loc="left", fontsize="small")
    _label_panels(panels)
    handles = [swatch(look_at(i), method, line=False) for i, method in enumerate(METHODS)]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    figure.suptitle(
        f"{len(kept):,} scorings: ground-truth-free metric against agreement with the truth", fontsize="medium"
    )


def _models_against_truth(figure: Any, scorings: Sequence[Scoring], dataset: str) -> None:
    """As Figure 1, one marker for a model, with the intervals of both numbers."""
    found = study(scorings, "fisher")
    named = [plain(s.model) if len(scorings) <= MOST_NAMED else family_of(s.model) for s in scorings]
    places = {name: i for i, name in enumerate(dict.fromkeys(named))}
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    for ax, (metric, truth) in zip(panels.ravel(), PAIRS, strict=True):
        for s, name in zip(scorings, named, strict=True):
            tau, value, look = s.taus[TRUTHS.index(truth)], s.metrics[METRICS.index(metric)], look_at(places[name])
            ax.plot([tau.low, tau.high], [value, value], color=look.colour, linewidth=1.0, alpha=0.7)
            ax.plot([tau, tau], [value.low, value.high], color=look.colour, linewidth=1.0, alpha=0.7)
            ax.plot([tau], [value], color=look.colour, marker=look.marker, markersize=6)
        r = found[metric, truth]
        limits = percent_interval(r.low, r.high, 0)
        ax.set_title(f"r = {percent(float(r), 0)}, 95 % interval {limits}", loc="left", fontsize="small")
    _label_panels(panels)
    handles = [swatch(look_at(i), name, line=False) for name, i in places.items()]
    columns_of_legend = 4 if len(scorings) <= MOST_NAMED else 6
    figure.legend(handles=handles, loc="outside lower center", ncols=columns_of_legend, frameon=False, fontsize="small")
    title = f"{dataset}: {len(scorings)} models scored by the entropy of their mean prediction; bars: 95 % intervals"
    figure.suptitle(title, fontsize="medium")


def _metrics_by_method(figure: Any, scorings: Sequence[Scoring]) -> None:
    """Figure 1 split by method and metric: each metric against τ with the truth it is tied to, one look for a score."""
    kept = [s for s in scorings if s.defined]
    scores = list(dict.fromkeys(s.score for s in kept))
    panels = figure.subplots(len(METRICS), len(METHODS), sharex="row", sharey="row")
    for column, method in enumerate(METHODS):
        of_method = [s for s in kept if s.method == method]
        for row in range(len(METRICS)):
            ax = panels[row, column]
            ax.axhline(0.5, color=GREY, linewidth=0.7, linestyle=":", zorder=0)
            ax.axvline(0.0, color=GREY, linewidth=0.7, linestyle=":", zorder=0)
            for place, score in enumerate(scores):
                look, shown = look_at(place), [s for s in of_method if s.score == score]
                ax.scatter(
                    [float(s.taus[row]) for s in shown],  # UQ-AUC is tied to φ, the C-index to ψ
                    [float(s.metrics[row]) for s in shown],
                    s=13,
                    color=look.colour,
                    marker=look.marker,
                    alpha=0.6,
                    linewidth=0,
                )
            ax.set_title(f"{method}, {len(of_method)} scorings", loc="left", fontsize="small")
            ax.set_xlabel(f"Kendall's τ with {LETTERS[TRUTHS[row]]}", fontsize="small")
    for row, metric in enumerate(METRICS):
        panels[row, 0].set_ylabel(metric)
    handles = [
        swatch(look_at(i), SCORE_LABELS.get(score, score.replace("-", " ")), line=False)
        for i, score in enumerate(scores)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    figure.suptitle("Figure 1 by method and metric, each metric with the truth it is tied to", fontsize="medium")


def _label_panels(panels: Any) -> None:
    for row, metric in enumerate(METRICS):
        panels[row, 0].set_ylabel(metric)
    for column, truth in enumerate(TRUTHS):
        panels[1, column].set_xlabel(f"Kendall's τ with {LETTERS[truth]} ({truth})")


# ---- Figures 2 and 3 -------------------------------------------------------------------------------------------------


def _temperature(figure: Any, trained: TrainedPredictor) -> None:
    """Calibration error and both metrics of one softmax predictor against the temperature."""
    ece, auc, c_index = np.array(at_temperatures(trained)).T
    above, below = figure.subplots(2, 1, sharex=True)
    looks = [look_at(i) for i in range(3)]
    for ax, values, look, label in (
        (above, ece, looks[0], "ECE"),
        (below, auc, looks[1], "UQ-AUC"),
        (below, c_index, looks[2], "UQ-C-index"),
    ):
        ax.plot(TEMPERATURES, values, color=look.colour, marker=look.marker, markersize=5, label=label)
    above.set_ylabel("expected calibration error")
    above.set_ylim(bottom=0.0)
    below.set_ylabel("ranking metric of the entropy")
    below.set_ylim(0.5, 1.0)
    below.legend(fontsize="small", frameon=False, loc="lower right")
    below.set_xscale("log", base=2)
    below.set_xticks(TEMPERATURES, [f"{t:g}" for t in TEMPERATURES])
    below.minorticks_off()
    below.set_xlabel("temperature that divides the logits")
    figure.suptitle("Temperature scaling moves calibration, not ranking", fontsize="medium")


def _data_and_truths(figure: Any, data: TwoGaussians, seed: int) -> None:
    """The data, both truths of a predictor whose logit is the second coordinate, and the risk in their sub-level sets."""
    rng = np.random.default_rng([seed, 3])
    sample, population = data.sample(N_TRAIN, rng), data.sample(N_POPULATION, rng)
    panels = figure.subplots(2, 2)
    end = float(np.abs(sample.x).max()) * 1.05
    ax = panels[0, 0]
    for label in (0, 1):
        look = look_at(label)
        rows = sample.y == label
        ax.scatter(
            *sample.x[rows].T,
            s=10,
            color=look.colour,
            marker=look.marker,
            alpha=0.6,
            linewidth=0,
            label=f"class {label}",
        )
    ax.set_title(f"(a) {N_TRAIN} training instances, Bayes error {data.bayes_error:g}", loc="left", fontsize="small")
    ticks = np.linspace(-end, end, 201)
    x = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    for ax, truth, function in (
        (panels[0, 1], TRUTHS[0], misclassification_truth),
        (panels[1, 0], TRUTHS[1], misalignment_truth),
    ):
        values = function(data.label_probs(x), _second_coordinate(x)).reshape(len(ticks), -1)
        filled = ax.contourf(ticks, ticks, values, levels=np.linspace(0.0, 1.0, 11), cmap="cividis")
        bar = figure.colorbar(filled, ax=ax, ticks=np.linspace(0.0, 1.0, 6))
        bar.set_label(LETTERS[truth])
        ax.set_title(f"({'b' if truth == TRUTHS[0] else 'c'}) {LETTERS[truth]}, {truth}", loc="left", fontsize="small")
    for ax, light in ((panels[0, 0], False), (panels[0, 1], True), (panels[1, 0], True)):
        colour = "white" if light else "black"
        ax.axhline(0.0, color=colour, linewidth=1.2, linestyle="--", label="predictor's frontier")
        ax.axline((0.0, 0.0), (DIRECTION[1], -DIRECTION[0]), color=colour, linewidth=1.2, label="Bayes frontier")
        ax.set(xlim=(-end, end), ylim=(-end, end), aspect="equal", xlabel="x₁", ylabel="x₂")
    handles, words = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, words, loc="outside upper center", ncols=4, frameon=False, fontsize="small")
    _sub_levels(panels[1, 1], data, population.x)


def _sub_levels(ax: Any, data: TwoGaussians, x: Floats) -> None:
    """Risk inside the sub-level sets of each truth; by theorems 2.1 and 2.2 it grows with the level."""
    prediction, probs = _second_coordinate(x), data.label_probs(x)
    wrong = probs.argmax(axis=1) != prediction.labels()
    for i, (truth, function, risk, words) in enumerate(
        (
            (TRUTHS[0], misclassification_truth, None, "P(ŷ ≠ Y | φ ≤ t), theorem 2.1"),
            (TRUTHS[1], misalignment_truth, wrong.astype(np.float64), "P(ŷ ≠ y* | ψ ≤ t), theorem 2.2"),
        )
    ):
        level = function(probs, prediction)
        order = np.argsort(level)
        risks = level if truth == TRUTHS[0] else risk
        assert risks is not None
        inside = np.cumsum(risks[order]) / np.arange(1, len(x) + 1)
        shown = np.linspace(50, len(x) - 1, 400).astype(np.intp)
        look = look_at(i)
        ax.plot(level[order][shown], inside[shown], color=look.colour, linestyle=("-", "-.")[i], label=words)
    ax.set(xlabel="level t", ylabel="risk inside the sub-level set", xlim=(0, 1), ylim=(0, None))
    ax.set_title("(d) risk grows with the level", loc="left", fontsize="small")
    ax.legend(fontsize="small", frameon=False, loc="upper left")


def _second_coordinate(x: Floats) -> Point:
    """The predictor whose logit for class 1 is x₂: its frontier is horizontal, through the middle of the data."""
    return Point.from_binary(expit(x[:, 1]))


# ---- Figures 4 and 5 -------------------------------------------------------------------------------------------------


def _picked(data: TwoGaussians, seed: int, one_sample: bool) -> list[tuple[TrainedPredictor, str]]:
    """Predictors and one score of each, drawn at random, the same number of each method."""
    rng = np.random.default_rng([seed, 4])
    found = []
    for method in METHODS:
        candidates = [p for p in grid("cpu") if p.method == method]
        scores = rng.permutation(SCORES_OF[method])
        for place, i in enumerate(rng.choice(len(candidates), N_PICKED // len(METHODS), replace=False)):
            found.append((train(candidates[i], data, seed, one_sample=one_sample), str(scores[place])))
    return found


def _scores_against(figure: Any, picked: Sequence[tuple[TrainedPredictor, str]], which: int) -> None:
    """Scores of randomly picked models against one truth."""
    letter = LETTERS[TRUTHS[which]]
    function = (misclassification_truth, misalignment_truth)[which]
    panels = figure.subplots(2, 3).T.ravel()
    for ax, (trained, score) in zip(panels, picked, strict=True):
        truth = function(trained.test.label_probs, trained.prediction)
        values = uncertainty_score(trained.prediction, score)
        look = look_at(METHODS.index(trained.predictor.method))
        ax.scatter(truth, values, s=11, color=look.colour, marker=look.marker, alpha=0.5, linewidth=0)
        words = trained.predictor.name.split(", ")
        tau = float(kendall_tau_score(truth, values))
        title = (
            f"{words[0]}, {', '.join(words[1:3])}"
            + (f"\n{', '.join(words[3:])}; " if words[3:] else "\n")
            + f"τ = {number(tau, 2)}"
        )
        ax.set_title(title, loc="left", fontsize="x-small")
        ax.set_xlabel(f"{letter} ({TRUTHS[which]})", fontsize="small")
        ax.set_ylabel(SCORE_LABELS.get(score, score.replace("-", " ")), fontsize="small")
        ax.tick_params(labelsize="small")
    figure.suptitle(f"Scores of randomly picked models against {letter}, test instances", fontsize="medium")
