"""Tables 1 and 2 of the paper for methods trained here, beside the printed numbers, with figures and findings."""

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.evidence import GainResult, GainStudy, OverRuns
from uqassay.lab.datasets import BallDivision, ClusterGrid, cluster_grid, disc_layout
from uqassay.lab.datasets.discs import N_GRID
from uqassay.lab.papers.figure_files import check_folder, write_figure
from uqassay.lab.papers.gain.choices import SPREADS as SPREADS_OF_TOY
from uqassay.lab.papers.gain.choices import AskedGain, GainData, GainMethod, Regions, ToyPlan, method_options
from uqassay.lab.papers.gain.printed import N_PAPER_RUNS, PrintedMean, printed_gain, table_of
from uqassay.lab.papers.printed_cells import PrintedCell
from uqassay.lab.papers.reproduction import compared_with_runs, further_runs
from uqassay.metrics import TrueUncertainty
from uqassay.report.figures import plot_gain_by_uncertainty
from uqassay.report.figures.frame import GREY
from uqassay.statistics import Estimate, mean_over_runs, spearman_estimate
from uqassay.text import (
    ABSENT,
    count,
    counted,
    estimate_text,
    interval,
    level_text,
    listed,
    number,
    percent,
    text_table,
)

__all__ = [
    "ESTIMATORS",
    "GainRow",
    "OurValues",
    "choice_notes",
    "draw_discs",
    "draw_intervals",
    "draw_split",
    "finding_lines",
    "gain_cells",
    "mismatch_lines",
    "run_notes",
    "size_line",
    "table_lines",
    "truth_lines",
    "write_gain_figures",
]


# A printed number agrees if it lies where the mean of as many further runs as the paper has falls with 95 %.

NAN = float("nan")
LEVEL = 0.95
ESTIMATORS = ("mutual-information", "entropy")
NOT_PRINTED = {True: "spread, discs, their shares and the kernel", False: "radius, shares and the kernel"}
BOUNDS = {"correlation": (-1.0, 1.0), "eece": (0.0, math.inf), "eece-bits": (0.0, math.inf), "calibrated": (0.0, 1.0)}


@final
@dataclass(frozen=True, eq=False)
class OurValues:
    """One number of each run."""

    per_run: Floats  #: (R,)
    estimate: Estimate  #: Mean over the runs with its interval

    @property
    def sd(self) -> float:
        """Standard deviation over the runs; nan for one run."""
        return float(self.per_run.std(ddof=1)) if len(self.per_run) > 1 else NAN


@final
@dataclass(frozen=True, eq=False)
class GainRow:
    """A method on a data set."""

    plan: GainData
    method: GainMethod
    study: GainStudy
    spread: float | None = None  #: Of the toy data
    compared: bool = False  #: Whether the printed numbers may be compared with ours

    @property
    def place(self) -> str:
        """Data set, with the spread and the asked share of toy data, for names of cells."""
        place = self.plan.name if self.spread is None else f"{self.plan.name}/spread={self.spread:g}"
        return place if self.plan.train_share is None else f"{place}/p={self.plan.train_share}"

    @property
    def label(self) -> str:
        """Data set, with the spread and the asked share of toy data, for the reader."""
        label = self.plan.name if self.spread is None else f"{self.plan.name}, spread {self.spread:g}"
        return label if self.plan.train_share is None else f"{label}, p = {self.plan.train_share}"

    @property
    def estimators(self) -> tuple[str, ...]:
        """Names of the estimates that the study has, in the order of the tables."""
        return tuple(name for name in ESTIMATORS if name in self.study.scores)

    @cached_property
    def results(self) -> dict[str, GainResult]:
        """Everything about each estimate."""
        return {name: self.study.result(name) for name in self.estimators}

    @cached_property
    def values(self) -> dict[tuple[str, str], OurValues]:
        """Numbers by estimate and column: "correlation", "eece", "eece-bits", "calibrated", "debiased", "truth"."""
        found = {}
        for name, result in self.results.items():
            found[name, "correlation"] = _over(result.correlation)
            found[name, "eece"] = _over(result.error)
            found[name, "eece-bits"] = _values([_in_bits(run.raw) for run in result.runs], BOUNDS["eece-bits"])
            found[name, "debiased"] = _over(result.debiased)
            if result.calibrated_error is not None and result.calibrated_debiased is not None:
                found[name, "calibrated"] = _over(result.calibrated_error)
                found[name, "calibrated-debiased"] = _over(result.calibrated_debiased)
            truth = _with_truth(self.study, name)
            if truth is not None:
                found[name, "truth"] = truth
        return found

    def printed(self, estimator: str, column: str) -> PrintedMean | None:
        """The printed number; None where the paper prints none."""
        return _printed().get((self.plan.name, estimator, column.removesuffix("-bits")))


def gain_cells(rows: Sequence[GainRow]) -> list[PrintedCell]:
    """One row for each number of the tables.

    Returns
    -------
    list of PrintedCell
        ``table1/toy/spread=0.35/local-gp/entropy/correlation``, and so on for ``eece`` (in nats), ``eece-bits``, ``calibrated``
        and, not printed, ``debiased``, ``calibrated-debiased`` and ``truth`` (the correlation with the true epistemic
        uncertainty); ``…/sd`` is the standard deviation over the runs. A cell that is compared has the range of six further
        runs, and a second cell ``…/interval`` our t interval.
    """
    return [cell for row in rows for (estimator, column) in row.values for cell in _cells(row, estimator, column)]


def _cells(row: GainRow, estimator: str, column: str) -> Iterator[PrintedCell]:
    name = "/".join([table_of(row.plan.name), row.place, row.method.name, estimator, column])
    ours, printed = row.values[estimator, column], row.printed(estimator, column)
    own = ours.estimate
    if row.compared and printed is not None:
        span = further_runs(ours.per_run, N_PAPER_RUNS, level=LEVEL, bounds=BOUNDS[column])
        runs = len(ours.per_run)
        found = compared_with_runs(name, printed.mean, float(own), span, runs=runs, paper_runs=N_PAPER_RUNS)
        if found.agrees is False:
            found = replace(found, note=f"{found.note}; {NOT_PRINTED[row.plan.is_toy]} are not printed")
        yield found
        yield PrintedCell(f"{name}/interval", NAN, float(own), own.low, own.high, None)
    else:
        yield PrintedCell(name, NAN if printed is None else printed.mean, float(own), own.low, own.high, None)
    yield PrintedCell(f"{name}/sd", NAN if printed is None else printed.sd, ours.sd, NAN, NAN, None)


# ---- numbers of the runs -----------------------------------------------------------------------------------------------


def _over(found: OverRuns) -> OurValues:
    return OurValues(found.values, found.estimate)


def _values(per_run: Sequence[float], bounds: tuple[float, float]) -> OurValues:
    runs = np.array(per_run, dtype=np.float64)
    return OurValues(runs, mean_over_runs(runs, level=LEVEL, bounds=bounds))


def _in_bits(raw: Any) -> float:
    """EECE of the estimates in bits, in the same intervals: a factor does not change the order."""
    held = raw.count > 0
    gap = np.abs(raw.mean_gain[held] - raw.mean_epistemic[held] / math.log(2))
    return float((raw.count[held] * gap).sum() / raw.count.sum())


def _with_truth(study: GainStudy, score: str) -> OurValues | None:
    """Spearman's correlation of the estimate with the true epistemic uncertainty."""
    found = []
    for run in study.runs:
        if run.test.truth is None:
            return None
        found.append(float(spearman_estimate(run.test.epistemic[score], run.test.truth.epistemic)))
    return _values(found, BOUNDS["correlation"])


@cache
def _printed() -> dict[tuple[str, str, str], PrintedMean]:
    return printed_gain()


# Tables 1 and 2 of the paper as text, with the printed rows, and the known truth of the toy data.

COLUMNS = {"correlation": "ρ_epi", "eece": "EECE", "calibrated": "calibrated"}
SIZES = ("D_train", "D_aug", "D_test", "D_train2", "D_aug2", "D_test2")
PARTS = ("total", "aleatoric", "epistemic")
WORDS = {"mutual-information": "mutual information", "entropy": "entropy"}


def table_lines(rows: Sequence[GainRow]) -> list[str]:
    """The table of the methods on one data set: mean ± standard deviation over the runs, intervals, printed numbers.

    Parameters
    ----------
    rows : sequence of GainRow
        Of one data set and one spread.
    """
    header = ["", *(text for name in COLUMNS.values() for text in (name, "95 %")), "debiased", "in bits"]
    body = []
    for row in rows:
        for estimator in row.estimators:
            shown = [f"{row.method.label}, {WORDS[estimator]}"]
            for column in COLUMNS:
                ours = row.values.get((estimator, column))
                shown += [ABSENT, ABSENT] if ours is None else [_mean_sd(float(ours.estimate), ours.sd), _ends(ours)]
            shown += [number(float(row.values[estimator, column].estimate)) for column in ("debiased", "eece-bits")]
            body.append(shown)
    for estimator in ESTIMATORS:
        printed = [rows[0].printed(estimator, column) for column in COLUMNS]
        if any(one is not None for one in printed):
            texts = [ABSENT if one is None else _mean_sd(one.mean, one.sd) for one in printed]
            body.append([f"printed, {WORDS[estimator]}", *(t for text in texts for t in (text, "")), "", ""])
    return text_table(header, body)


def truth_lines(rows: Sequence[GainRow]) -> list[str]:
    """What is known on toy data: true uncertainties of D_test, how estimates follow the true EU, and how the gain follows it.

    The gain of an instance is one draw, so that even the true EU in place of an estimate has a small correlation with it.
    """
    known = [row for row in rows if all(run.test.truth is not None for run in row.study.runs)]
    if not known:
        return []
    followers = (*(f"{WORDS[name]}, ρ with EU" for name in ESTIMATORS), "EU, ρ with the gain", "gain other than 0")
    header = ("", "U", "A", "EU", "gain", *followers)
    body = []
    for row in known:
        means = {part: np.mean([getattr(run.test.truth, part).mean() for run in row.study.runs]) for part in PARTS}
        gains = [run.test.gain["zero-one"] for run in row.study.runs]
        gain = np.mean([one.mean() for one in gains])
        changed = np.mean([(one != 0).mean() for one in gains])
        limit = np.array([float(spearman_estimate(t.epistemic, g)) for t, g in zip(_truths(row), gains, strict=True)])
        spread = float(limit.std(ddof=1)) if len(limit) > 1 else float("nan")
        followed = [row.values.get((name, "truth")) for name in ESTIMATORS]
        texts = [ABSENT if one is None else _mean_sd(float(one.estimate), one.sd) for one in followed]
        last = _mean_sd(float(limit.mean()), spread), percent(float(changed))
        body.append((row.method.label, *(number(float(v)) for v in (*means.values(), gain)), *texts, *last))
    return ["True uncertainty of the test instances, mean over the runs:", *text_table(header, body)]


def size_line(row: GainRow) -> str:
    """Sizes of the parts of the first run."""
    run = row.study.runs[0]
    sizes = ", ".join(f"{name} {count(run.sizes[name])}" for name in SIZES if name in run.sizes)
    return f"{row.label}: {counted(row.study.n_runs, 'run')}; {sizes} in the first"


def _truths(row: GainRow) -> list[TrueUncertainty]:
    return [run.test.truth for run in row.study.runs if run.test.truth is not None]


def _mean_sd(mean: float, sd: float) -> str:
    return number(mean) if np.isnan(sd) else f"{number(mean)} ± {number(sd)}"


def _ends(ours: OurValues) -> str:
    return interval(ours.estimate.low, ours.estimate.high)


# Statements of the paper computed from the runs: each says what its interval shows, or that it is not shown.

Moved = Mapping[tuple[str, str], Floats]

FACTOR = (5.0, 30.0)  # EECE of the entropy over that of the mutual information
SMALL = 0.02  # section 5.3.1: calibrated, both differ from the gain by less than 0.02
BOTH = ("mutual-information", "entropy")


def finding_lines(row: GainRow) -> list[str]:
    """What holds for one method on one data set: factor, size after the calibration, sign and order of the correlations.

    Parameters
    ----------
    row : GainRow
        With at least two runs; there is nothing to say about one.
    """
    if row.study.n_runs < 2:
        return []
    both = set(row.estimators) == set(BOTH)
    lines = [_factor(row)] if both else []
    lines += [*_sizes(row), _signs(row)]
    lines += [_order(row)] if both else []
    return [f"  {line}" for line in lines]


def mismatch_lines(row: GainRow, reference: GainRow) -> list[str]:
    """What a mismatch of evaluation and calibration changes, in the same runs.

    Parameters
    ----------
    row, reference : GainRow
        With and without the mismatch, of the same method, spread and seeds.
    """
    if row.study.seeds != reference.study.seeds or row.study.n_runs < 2:
        return []
    lines: list[str] = []
    moved: dict[tuple[str, str], Floats] = {}
    for estimator in (name for name in BOTH if name in row.estimators):
        texts = []
        for column, what in (("correlation", "ρ"), ("calibrated", "calibrated EECE")):
            before, after = (one.values[estimator, column] for one in (reference, row))
            moved[estimator, column] = after.per_run - before.per_run
            texts.append(_moved_text(what, float(before.estimate), float(after.estimate), moved[estimator, column]))
        lines.append(f"  {WORDS[estimator]}: {'; '.join(texts)}")
    if all((name, "correlation") in moved for name in BOTH):
        lines += [
            _relative(moved, "correlation", "ρ", -1.0),
            _relative(moved, "calibrated", "the calibrated EECE", 1.0),
        ]
    return lines


# ---- sentences ---------------------------------------------------------------------------------------------------------


def _factor(row: GainRow) -> str:
    ratio = _mean(np.log(row.values["entropy", "eece"].per_run / row.values["mutual-information", "eece"].per_run))
    value, low, high = (math.exp(v) for v in (float(ratio), ratio.low, ratio.high))
    shown = estimate_text(value, low, high, level=LEVEL, decimals=1)
    text = f"EECE of the entropy over that of the mutual information: {shown}"
    least, most = FACTOR
    if low >= least and high <= most:
        return f"{text}, which is between {number(least, 0)} and {number(most, 0)}."
    if high < least or low > most:
        return f"{text}, which is not between {number(least, 0)} and {number(most, 0)}."
    return f"{text}; between {number(least, 0)} and {number(most, 0)} is not shown."


def _sizes(row: GainRow) -> list[str]:
    """The calibrated errors against the printed bound, against each other, and against those of calibrated estimates."""
    found = {
        name: row.values[name, "calibrated"].estimate for name in row.estimators if (name, "calibrated") in row.values
    }
    if not found:
        return []
    texts = [f"{estimate_text(float(e), e.low, e.high)} for the {WORDS[name]}" for name, e in found.items()]
    if all(e.high <= SMALL for e in found.values()):
        verdict = f"at most {number(SMALL, 2)}"
    elif any(e.low > SMALL for e in found.values()):
        over = [WORDS[name] for name, e in found.items() if e.low > SMALL]
        verdict = f"above {number(SMALL, 2)} for the {listed(over)}"
    else:
        verdict = f"at most {number(SMALL, 2)} is not shown"
    nulls = [np.mean([run.calibrated.null_mean for run in row.results[name].runs if run.calibrated]) for name in found]
    lines = [
        f"EECE after the calibration ({level_text(LEVEL)}): {listed(texts)}: {verdict}. Perfectly calibrated estimates would "
        f"have {listed([number(float(null)) for null in nulls])} with as many test instances."
    ]
    if len(found) == len(BOTH):
        entropy, mutual = (row.values[name, "calibrated"].per_run for name in ("entropy", "mutual-information"))
        lines.append(
            f"Calibrated EECE of the entropy minus that of the mutual information: {_difference(entropy - mutual)}."
        )
    return lines


def _signs(row: GainRow) -> str:
    texts, positive = [], []
    for name in row.estimators:
        e = row.values[name, "correlation"].estimate
        texts.append(f"{estimate_text(float(e), e.low, e.high)} for the {WORDS[name]}")
        if e.low > 0:
            positive.append(WORDS[name])
    shown = f"positive for the {listed(positive)}" if positive else "not shown to be positive"
    if all(math.isnan(row.values[name, "correlation"].estimate) for name in row.estimators):
        return "Epistemic correlation: undefined in some run, whose test instances all have a gain of 0."
    return f"Epistemic correlation ({level_text(LEVEL)}): {listed(texts)}: {shown}."


def _order(row: GainRow) -> str:
    entropy, mutual = (row.values[name, "correlation"].per_run for name in ("entropy", "mutual-information"))
    change = _mean(entropy - mutual)
    if change.low > 0:
        verdict = "that of the entropy is greater, as in the paper"
    elif change.high < 0:
        verdict = "that of the entropy is smaller, unlike in the paper"
    else:
        verdict = "the runs do not show which is greater"
    return (
        f"Correlation of the entropy minus that of the mutual information: {_difference(entropy - mutual)}; {verdict}."
    )


def _relative(moved: Moved, column: str, what: str, sign: float) -> str:
    """Whether the entropy loses more than the mutual information; `sign` × change is a loss."""
    loss = sign * (moved["entropy", column] - moved["mutual-information", column])
    if not loss.any():
        return f"  loss in {what}: none."
    change = _mean(loss)
    if change.low > 0:
        verdict = "the entropy loses more"
    elif change.high < 0:
        verdict = "the mutual information loses more"
    else:
        verdict = "neither is shown to lose more"
    return f"  loss in {what}, entropy minus mutual information: {_difference(loss)}; {verdict}."


# ---- helpers -----------------------------------------------------------------------------------------------------------


def _mean(per_run: Floats) -> Estimate:
    return mean_over_runs(per_run, level=LEVEL)


def _difference(per_run: Floats) -> str:
    found = _mean(per_run)
    return estimate_text(float(found), found.low, found.high, level=LEVEL)


def _moved_text(what: str, before: float, after: float, per_run: Floats) -> str:
    """A number before and after with the interval of its change, and whether a change is shown."""
    if not per_run.any():
        return f"{what} unchanged, {number(before)}"
    change = _mean(per_run)
    text = (
        f"{what} {number(before)} → {number(after)}, by {number(float(change))} ({interval(change.low, change.high)})"
    )
    return text if change.low > 0 or change.high < 0 else f"{text}, no change is shown"


# Figures 1 to 4 of the paper: the split, the toy data with their discs, and estimates and gains by interval.

COLOURS = ("#E69F00", "#0072B2")  # of the classes; Okabe and Ito (2008)
DISC = 20  # of figure 2: 4 % of its points stay in D_train
REACH = 5.0  # of the window around the disc; its radius is 2.7
MARGIN = 1.5  # of the training data around the window
GRID = 70  # points of the map along each axis
TITLES = {"mutual-information": "mutual information", "entropy": "entropy"}


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
        ax.set_title(f"{TITLES[estimator]}{bands}", loc="left", fontsize="small")
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


# Notes of the reproduction of the paper: every choice that the paper does not print, and what happened in the runs.

GENERAL = (
    "entropies are in nats; the paper prints no base of its logarithm, so the EECE is also shown in bits, in which the entropy "
    "lies between 0 and 1",
    "EECE: each of 20 intervals of equally many test instances is weighted by its instances, as in the text; the printed "
    "formula has 1/M in front. Calibrated estimates are judged in the same intervals",
    "calibration: the estimates of the classifier trained on D_train2 fill the intervals of the test; the outer intervals are "
    "extended, empty ones left out; isotonic regression of the mean gains",
    "intervals are t intervals over the runs, 95 %; ± is the standard deviation over the runs",
)
TOY = (
    "toy data: the printed covariance I contradicts the figure, so the spread of the clusters is stated; the index is "
    "k + 46(j − 1) in place of j + 46k, which would leave 342 clusters without a class. The discs and their shares are chosen "
    "here, see uqassay.lab.datasets.discs: 30 discs of radius 2.7, {shares}, q = 30 %. Every run has its own data"
)
SPREADS = (
    "the paper's EECE of the entropy, .393, is met near a spread of .35 in nats; few points of high aleatoric uncertainty, as "
    "the text has it, need .25 or less"
)
IMAGES = (
    "training and test part are merged before the PCA; pixels in [0, 1]; {sentence}. Every run has its own balls and its own "
    "trainings"
)
SPLIT_CODES = ("parts", "overlap")
METHODS = {
    "local-gp": "local GP: variational with Pólya-Gamma updates in closed form; RBF kernel, whose length scale is the median "
    "distance to the 50th neighbour, and signal variance 9; cells of 256 instances, 128 neighbours behind a prediction; "
    "integrals by quadrature",
    "local-gp-learnt": "local GP, kernel learnt: the same, but the variational bound chooses among five length scales around "
    "that distance and among the signal variances 1, 4, 16 and 64",
    "sparse-gp": "sparse GP: {n_inducing} inducing points, {kernel}, Pólya-Gamma augmentation, natural gradients; "
    "integrals by quadrature",
    "random-forest": "random forest: {n_members} trees, which are the members of the mutual information",
    "deep-ensemble": "deep ensemble: {n_members} networks, hidden layers {backbone}, {epochs} epochs",
}
DEFAULTS = {"n_inducing": 500, "n_members": 100}


def choice_notes(asked: AskedGain) -> list[str]:
    """Every choice that the paper does not print, for what is run."""
    notes = list(GENERAL)
    shares = dict.fromkeys(plan.plan.shares_sentence() for plan in asked.plans if isinstance(plan.plan, ToyPlan))
    if shares:
        notes.append(TOY.format(shares=listed(list(shares), last="or")))
        if len(asked.spreads) > 1:
            notes.append(SPREADS)
    for plan in asked.plans:
        if isinstance(plan.plan, Regions):
            notes.append(f"{plan.name}: {IMAGES.format(sentence=plan.plan.sentence())}")
    slices = [(plan, plan.slices[asked.preset]) for plan in asked.plans]
    used = {
        (method.name, plan.is_toy): (method, plan, slice_)
        for plan, slice_ in slices
        for method in asked.methods_of(slice_)
    }
    for (name, is_toy), (method, plan, slice_) in used.items():
        options = {**DEFAULTS, **method_options(method, plan, slice_)}
        options["kernel"] = _kernel(options)
        place = "toy data" if is_toy else "images"
        notes.append(f"{METHODS[name].format(**options)} ({place})")
    return notes


def _kernel(options: Mapping[str, Any]) -> str:
    if options.get("learn_kernel", True):
        return "learnt kernel"
    return f"RBF kernel of length scale {options['lengthscale']} and signal variance {options['signal_variance']}"


def run_notes(rows: Sequence[GainRow]) -> list[str]:
    """What the splits of the first run gave, and the intervals that the calibrations left empty."""
    notes = []
    for label in dict.fromkeys(row.label for row in rows):
        here = [row for row in rows if row.label == label]
        facts, first = here[0].study.facts, here[0].study.runs[0]
        if "radius" in facts:
            radius, n = number(facts["radius"], 2), counted(facts["neighbours"], "neighbour")
            notes.append(f"{label}: {facts['data']}; R = {radius} for {n} of {counted(facts['instances'], 'instance')}")
        notes += [f"{label}, first run: {note.text}" for note in first.notes if note.code in SPLIT_CODES]
        notes += [text for row in here for text in _map_notes(row)]
    return notes


def _map_notes(row: GainRow) -> list[str]:
    """Intervals of the test without a calibration instance, and calibration instances outside the intervals, over all runs."""
    found = []
    for name, result in row.results.items():
        maps = [run.gain_map for run in result.runs if run.gain_map is not None]
        empty, outside = (sum(getattr(one, part) for one in maps) for part in ("n_empty", "n_outside"))
        if empty or outside:
            bins = counted(sum(run.raw.n_bins for run in result.runs), "interval")
            found.append(
                f"{row.label}, {row.method.label}, {WORDS[name]}: {count(empty)} of {bins} without a calibration instance; "
                f"{counted(outside, 'calibration instance')} outside the intervals of the test, counted in the outer ones"
            )
    return found
