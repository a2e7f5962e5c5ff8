"""Tables 1 and 2 of the epistemic gain for methods trained here, beside the printed numbers, and what the runs show."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from uqassay.arrays import Floats
from uqassay.evidence import GainResult, GainStudy, OverRuns
from uqassay.lab.papers.gain.plan import GainData, GainMethod
from uqassay.lab.papers.gain.printed import N_PAPER_RUNS, PrintedMean, printed_mean, table_of
from uqassay.lab.papers.paper_tables import PrintedCell
from uqassay.lab.papers.reproduction import compared_with_runs, further_runs
from uqassay.metrics import TrueUncertainty
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
    "finding_lines",
    "gain_cells",
    "mismatch_lines",
    "run_notes",
    "size_line",
    "table_lines",
    "truth_lines",
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
        return printed_mean(self.plan.name, estimator, column.removesuffix("-bits"))


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


# Notes on what happened in the runs.

SPLIT_CODES = ("parts", "overlap")


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
