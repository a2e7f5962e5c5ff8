"""Ranking metrics against exactly known ground truths, on the grid of small networks.

Ranking metrics, section 4, Table 1 (rows Synth) and sections 8 and 17.1: the metrics of many scorings are correlated with
Kendall's τ of the same scorings with φ and ψ, which are known exactly.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, final

import numpy as np

from uqassay.checks import one_of, whole
from uqassay.lab.datasets.generated import TwoGaussians
from uqassay.lab.papers.figure_files import check_figures
from uqassay.lab.papers.options import Progress, Say, known_names
from uqassay.lab.papers.paper_tables import PrintedCell, printed_table
from uqassay.lab.papers.ranking.grid import (
    TrainedPredictor,
    by_bayes_error,
    by_part,
    grid,
    interval_methods,
    negative_shares,
    own_predictors,
    stacks,
    sweep_table,
    temperature_lines,
    train,
    train_own,
    train_together,
)
from uqassay.lab.papers.ranking.printed import HALF_UNIT, LAYOUTS, SOURCE, TABLE, TRUTHS, implied_counts, printed_cells
from uqassay.lab.papers.ranking.scorings import Scoring, study
from uqassay.lab.papers.reproduction import NO_EVIDENCE, Reproduction
from uqassay.metrics import CorrelationStudy, correlation_study, expected_calibration_error
from uqassay.text import count, interval, number

__all__ = ["PRESETS", "GridRun", "reproduce_ranking_synthetic", "run_grid", "steps_of_ranking_synthetic"]

PRESETS = ("smoke", "cpu", "paper")
N_OWN = 10  # samples on which a class of the user is trained
NEIGHBOURS = (0.1, 0.2)  # Bayes errors at which the whole grid is run again
SWEEP_ERRORS, SWEEP_SEEDS = (0.05, 0.1, 0.15, 0.2, 0.25), 3
PRINTED_ECE = {"misclassification": 0.09, "misalignment": -10.57}  # section 8, in percent


LOST = (
    "the means, the standard deviation and the class prior are lost from the text: means on the diagonal, unit variance and "
    "classes of equal probability are used, and the Bayes error fixes the distance of the means",
    "initial weights and activation are not stated: ReLU, weights and biases uniform in ±1/√inputs, no weight decay; the last "
    "batch of an epoch holds the remaining 96 instances; in every pass of MC dropout each instance has its own mask",
    "it is not stated whether the predictors share one sample of the data: each has its own here, so that an interval over "
    "predictors includes the variation between samples; the option sweep shows both",
    "free energy of several networks or passes: the mean of theirs, at temperature 1; variance of the prediction: p(1 − p)",
    "how the intervals were found is not stated; the printed ones are Fisher's z (see ranking-intervals), which assumes "
    "independent scorings. The low and high of a row leave out all scorings of one trained predictor together (jackknife on "
    "the scale of artanh r) and are widened by half a unit of the last printed digit",
    "section 8 does not say what the ECE is correlated with: here with Kendall's τ of each scoring with φ and with ψ",
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class GridRun:
    """Results of the whole grid."""

    bayes_error: float
    n_predictors: int
    scorings: tuple[Scoring, ...]
    ece: dict[str, float]  #: Expected calibration error by the name of the predictor


def reproduce_ranking_synthetic(
    *,
    preset: Annotated[
        str,
        '"cpu" and "paper" are the whole grid, 216 predictors with 1,044 scorings, at three Bayes errors. "smoke" only '
        "checks that the code runs.",
    ] = "cpu",
    seed: Annotated[int, "Seed of every sample, initial weight, batch and dropped unit."] = 0,
    bayes_error: Annotated[float, "Error of the best classifier, in (0, ½)."] = 0.15,
    one_sample: Annotated[bool, "Train and test all predictors on one sample of the data."] = False,
    method: Annotated[
        str | None,
        f"Your own class as module:Class, trained on {N_OWN} samples: the row Synth + Class has its scorings and the grid's.",
    ] = None,
    sweep: Annotated[
        bool,
        "Also run the grid at five Bayes errors, three seeds each, with a sample for each predictor and with one for all.",
    ] = False,
    figures: Annotated[
        str | os.PathLike[str] | None,
        "Folder for Figures 1 to 6 as PNG files; needs matplotlib.",
    ] = None,
    progress: Progress = None,
) -> Reproduction:
    """Train the grid on two Gaussians, and correlate the ranking metrics with the ground truths over its scorings.

    Returns
    -------
    Reproduction
        Correlations in percent: ``table1/Synth/…`` and ``section8/ECE/…``. ``notes`` name the choices that the paper leaves
        open.

    Examples
    --------
    >>> result = reproduce_ranking_synthetic(preset="smoke")
    >>> [cell.name for cell in result.rows][:2]
    ['table1/Synth/UQ-AUC/misclassification', 'table1/Synth/UQ-AUC/misalignment']
    >>> min(cell.ours for cell in result.rows[:4]) > 80
    True
    """
    one_of(preset, "preset", PRESETS, "cpu is the default")
    whole(seed, "seed", "0 is the default", least=0)
    data = TwoGaussians(bayes_error)
    check_figures(figures)
    say = progress or (lambda step: None)
    run = run_grid(preset, data, seed, one_sample=one_sample, progress=say)
    by_model = study(run.scorings, "jackknife", by_model=True)
    others = [
        run_grid(preset, TwoGaussians(error), seed, one_sample=one_sample, progress=say)
        for error in NEIGHBOURS
        if preset != "smoke" and error != bayes_error
    ]
    compared = preset != "smoke"
    why = partial(_why, found=by_model, others=others) if compared else lambda *_: "a small part of the paper's grid"
    cells = printed_cells("Synth", by_model, why, compared=compared)
    cells += _ece_cells(run, compared=compared)
    own = () if method is None else _own_scorings(method, data, seed, preset, one_sample=one_sample)
    if own:
        both = study([*run.scorings, *own], "jackknife", by_model=True)
        cells += printed_cells(f"Synth + {own[0].method}", both, compared=False)
    reading = [_headline(run, one_sample, preset)]
    reading += interval_methods(run.scorings)
    reading += by_part([*run.scorings, *own])
    reading += by_bayes_error(
        [(r.bayes_error, r.scorings) for r in sorted([run, *others], key=lambda r: r.bayes_error)]
    )
    reading += negative_shares(run.scorings)
    softmax = train(grid("smoke")[0], data, seed, one_sample=one_sample)
    reading += temperature_lines(softmax)
    if sweep:
        reading += sweep_table(_sweep(preset, seed, say))
    if figures is not None:
        from uqassay.lab.papers.ranking.figures import write_synthetic_figures

        drawn = write_synthetic_figures(figures, run.scorings, data, seed, one_sample=one_sample, progress=say)
        reading += [f"figure: {path}" for path in drawn]
    return Reproduction("ranking-synthetic", SOURCE, tuple(cells), LOST, tuple(reading), listed=True, layouts=LAYOUTS)


def _own_scorings(method: str, data: TwoGaussians, seed: int, preset: str, *, one_sample: bool) -> tuple[Scoring, ...]:
    """The scorings of a class of the user."""
    (name,) = known_names(method, "method", (), "must be your own class", own=True)
    predictors = own_predictors(name, 3 if preset == "smoke" else N_OWN)
    return tuple(
        scoring for one in predictors for scoring in train_own(one, data, seed, one_sample=one_sample).scorings()
    )


def run_grid(
    preset: str, data: TwoGaussians, seed: int = 0, *, one_sample: bool = False, progress: Progress = None
) -> GridRun:
    """Train every predictor of the grid and judge all of its scores."""
    predictors = grid(preset)
    scorings: list[Scoring] = []
    ece: dict[str, float] = {}
    done = 0
    for stack in stacks(predictors):
        for trained in train_together(stack, data, seed, one_sample=one_sample):
            done += 1
            if progress is not None:
                progress(f"Bayes error {data.bayes_error:g}: predictor {done} of {len(predictors)}")
            scorings += trained.scorings()
            ece[trained.predictor.name] = _ece(trained)
    return GridRun(data.bayes_error, len(predictors), tuple(scorings), ece)


def steps_of_ranking_synthetic(
    *, preset: str = "cpu", bayes_error: float = 0.15, sweep: bool = False, figures: object = None, **_: object
) -> int:
    """Number of calls of ``progress``."""
    neighbours = 0 if preset == "smoke" else sum(error != bayes_error for error in NEIGHBOURS)
    runs = 1 + neighbours + (2 * SWEEP_SEEDS * len(SWEEP_ERRORS) if sweep else 0)
    return runs * len(grid(preset)) + (6 if figures is not None else 0)


# ---- cells -----------------------------------------------------------------------------------------------------------


def _why(metric: str, truth: str, printed: float, *, found: CorrelationStudy, others: Sequence[GridRun]) -> str:
    """Why a printed correlation is outside our interval."""
    (row,) = (row for row in printed_table(TABLE) if (row["dataset"], row["metric"]) == ("Synth", metric))
    suffix = "2" if truth == TRUTHS[1] else ""
    low, high = float(row[f"low{suffix}"]), float(row[f"high{suffix}"])
    ours = found[metric, truth]
    overlap = low <= 100 * ours.high and 100 * ours.low <= high
    counts = implied_counts("Synth")
    values = [
        f"{number(100 * float(study(r.scorings, 'fisher')[metric, truth]), 2)} at a Bayes error of {r.bayes_error:g}"
        for r in others
    ]
    elsewhere = f"; ours is {' and '.join(values)}" if values else ""
    return (
        f"its printed interval {interval(low, high, 2)} {'overlaps' if overlap else 'does not overlap'} ours{elsewhere}; the "
        f"paper's data are lost, and its mix of scorings differs: about {counts[len(counts) // 2]} of them"
    )


def _ece_cells(run: GridRun, *, compared: bool) -> list[PrintedCell]:
    """Section 8: the expected calibration error against agreement with the truths."""
    kept = [s for s in run.scorings if s.defined]
    found = correlation_study(
        {"ECE": [run.ece[s.model] for s in kept]},
        {truth: [s.taus[i] for s in kept] for i, truth in enumerate(TRUTHS)},
        clusters=[s.model for s in kept],
    )
    cells = []
    for truth, printed in PRINTED_ECE.items():
        r = found["ECE", truth]
        low, high = 100 * r.low - HALF_UNIT, 100 * r.high + HALF_UNIT
        cell = PrintedCell.within(f"section8/ECE/{truth}", printed, 100 * float(r), low, high)
        note = "" if cell.agrees else "from another mix of scorings; in both, ECE hardly follows the ranking"
        cells.append(replace(cell, note=note) if compared else replace(cell, agrees=None))
    return cells


def _ece(trained: TrainedPredictor) -> float:
    probs = trained.prediction.mean_probs()
    correct = trained.prediction.labels() == trained.test.y
    return expected_calibration_error(correct, probs.max(axis=1))


# ---- more than the cells ---------------------------------------------------------------------------------------------


def _headline(run: GridRun, one_sample: bool, preset: str) -> str:
    defined = sum(s.defined for s in run.scorings)
    left_out = f" ({len(run.scorings) - defined} undefined and left out)" if defined < len(run.scorings) else ""
    sample = "one sample for all" if one_sample else "a sample for each predictor"
    warning = f"; {NO_EVIDENCE}" if preset == "smoke" else ""
    return (
        f"{count(len(run.scorings))} scorings{left_out} of {run.n_predictors} predictors at a Bayes error of "
        f"{run.bayes_error:g}, {sample}: correlations in percent{warning}."
    )


def _sweep(preset: str, seed: int, say: Say) -> list[tuple[float, bool, list[CorrelationStudy], float]]:
    """(Bayes error, one sample for all, correlations of each seed, mean share of negative τ)."""
    found = []
    for one_sample in (False, True):
        for error in SWEEP_ERRORS:
            runs = [
                run_grid(preset, TwoGaussians(error), seed + i, one_sample=one_sample, progress=say)
                for i in range(SWEEP_SEEDS)
            ]
            negative = float(np.mean([s.taus[0] < 0 for run in runs for s in run.scorings if s.defined]))
            found.append((error, one_sample, [study(run.scorings, "fisher") for run in runs], negative))
    return found
