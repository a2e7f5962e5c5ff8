"""A study of the gain in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from uqassay.checks import fail
from uqassay.evidence.over_runs import OverRuns
from uqassay.metrics.epistemic_gain import EpistemicCalibration
from uqassay.notes import reason
from uqassay.statistics import Estimate
from uqassay.text import (
    ABSENT,
    counted,
    estimate_text,
    interval,
    level_text,
    listed,
    number,
    percent,
    pvalue_text,
    text_table,
    visible,
)

if TYPE_CHECKING:
    from uqassay.evidence.gain import GainResult, GainStudy

__all__ = [
    "by_dataset",
    "check_studies",
    "gain_legend",
    "gain_lines",
    "gain_sentences",
    "read_gain",
    "result_sentences",
    "side_of",
    "study_sentence",
    "untold_sentences",
]


# What a result of the gain shows: conclusions that an interval or a test holds, as data.

Side = Literal["above", "below", "unclear", "undefined"]

DELAYED = 0.1  # share of the cases that wait, in the sentence
GREATEST = 0.99  # p-value in a combination


@final
@dataclass(frozen=True)
class CalibrationReading:
    """Whether estimates are calibrated within what the test sets can show."""

    error: OverRuns
    debiased: OverRuns
    #: null_low, null_high, null_mean: Where the error of perfectly calibrated estimates lies in a run, means over the
    #: runs.
    null_low: float
    null_high: float
    null_mean: float
    #: Of perfect calibration in all runs; nan if no run has an interval. P-values of several runs are combined by the
    #: Cauchy test of Liu and Xie (2020), which allows small ones to depend on each other: the runs of a study split the
    #: same instances.
    pvalue: float
    shown: bool  #: True if the estimates are shown not to be calibrated: a p-value of at most 1 − level.
    #: "above" if the estimates are shown to be too large on average, "below" if too small; "undefined" for a cross-
    #: fitted map.
    excess: Side


@final
@dataclass(frozen=True)
class DelayReading:
    """Gain where a share of the cases waits for more data."""

    share: float
    gained: Estimate
    random: float  #: Gain of a random choice of as many cases.
    side: Side  #: "above" if the gain is shown to be greater than that of the random choice.


@final
@dataclass(frozen=True)
class GainReading:
    """The conclusions from one result."""

    gain: Side  #: "above" if more data are shown to help on average.
    order: Side  #: "above" if the estimates are shown to order the gain, "below" if in the wrong direction.
    raw: CalibrationReading
    mapped: CalibrationReading | None  #: Of the mapped estimates.
    reduction: Side  #: "above" if the map is shown to lower the error; "undefined" for one run, and without a map.
    delay: DelayReading


def read_gain(result: "GainResult", *, share: float = DELAYED) -> GainReading:
    """Conclusions from one result; each holds at the level of the result by itself."""
    mapped = None
    if result.calibrated_error is not None and result.calibrated_debiased is not None:
        mapped = _calibration(
            result,
            (result.calibrated_error, result.calibrated_debiased, result.excess_calibrated),
            [run.calibrated for run in result.runs if run.calibrated is not None],
        )
    return GainReading(
        gain=side_of(result.mean_gain.estimate),
        order=side_of(result.correlation.estimate),
        raw=_calibration(result, (result.error, result.debiased, result.excess), [run.raw for run in result.runs]),
        mapped=mapped,
        reduction="undefined" if result.reduction is None else side_of(result.reduction.estimate),
        delay=_delay(result, share),
    )


def side_of(estimate: Estimate) -> Side:
    """On which side of 0 an interval lies."""
    if not (np.isfinite(estimate.low) and np.isfinite(estimate.high)):
        return "undefined"
    return "above" if estimate.low > 0 else "below" if estimate.high < 0 else "unclear"


def _calibration(
    result: "GainResult", numbers: tuple[OverRuns, OverRuns, OverRuns | None], runs: Sequence[EpistemicCalibration]
) -> CalibrationReading:
    error, debiased, excess = numbers
    pvalue = _together([run.pvalue for run in runs])
    low, high = np.mean([run.null_band for run in runs], axis=0)
    return CalibrationReading(
        error=error,
        debiased=debiased,
        null_low=float(low),
        null_high=float(high),
        null_mean=float(np.mean([run.null_mean for run in runs])),
        pvalue=pvalue,
        shown=pvalue <= 1 - result.level,
        excess="undefined" if excess is None else side_of(excess.estimate),
    )


def _together(pvalues: Sequence[float]) -> float:
    """Cauchy combination of several p-values; nan is left out."""
    known = np.array([p for p in pvalues if p == p])
    if len(known) < 2:
        return float(known[0]) if len(known) else float("nan")
    # a p-value of 1 has the tangent −∞ and would outweigh all others
    mean = np.tan((0.5 - np.minimum(known, GREATEST)) * np.pi).mean()
    return float(0.5 - np.arctan(mean) / np.pi)


def _delay(result: "GainResult", share: float) -> DelayReading:
    delay = result.delay
    at = int(np.abs(delay.shares - share).argmin())
    values: dict[str, Any] = {"level": result.level, "n": result.n_runs, "method": result.mean_gain.estimate.method}
    gained, above = (
        Estimate(float(curve.mean[at]), low=float(curve.low[at]), high=float(curve.high[at]), **values)
        for curve in (delay.gained, delay.above)
    )
    return DelayReading(float(delay.shares[at]), gained, float(delay.random.mean[at]), side_of(above))


# Sentences on the gain from more data and the estimates of it. A sentence claims only what an interval or a test holds.

DECIMALS, FINE = 2, 4
MOST_NAMES = 6
UNITS = {"log": "nats of log loss", "brier": "Brier loss"}
NATS = ("entropy", "mutual-information", "total-entropy", "epistemic-entropy", "aleatoric-entropy")


# -- one score ----------------------------------------------------------------------------------------------------------


def result_sentences(result: "GainResult") -> tuple[str, ...]:
    """Order, calibration, map and delay of one score."""
    reading = read_gain(result)
    said = [_order(result, reading), _size(reading.raw), *_mapped(result, reading)]
    return tuple(visible(text) for text in (*said, delay_sentence(result, reading)))


def _order(result: "GainResult", reading: GainReading) -> str:
    rho = f"ρ = {_text(result.correlation.estimate, DECIMALS)}"
    return {
        "above": f"The estimates order the gain: {rho}.",
        "below": f"The estimates order the gain in the wrong direction: {rho}.",
        "unclear": f"The data do not show that the estimates order the gain: {rho}.",
        "undefined": _undefined("Whether the estimates order the gain", result.correlation.estimate, rho),
    }[reading.order]


def _undefined(what: str, estimate: Estimate, shown: str) -> str:
    why = reason(estimate.notes)
    return f"{what} cannot be told ({why})." if estimate != estimate else f"{what} cannot be told: {shown} ({why})."


def _size(reading: CalibrationReading, whose: str = "The estimates", *, n_folds: int = 0) -> str:
    """Calibration: what the test sets show, and what they would show of perfectly calibrated estimates."""
    error = f"EECE {number(float(reading.error), FINE)}{' in the folds' if n_folds else ''}"
    calibrated = (
        "with a gain that rises with the estimate it would be" if n_folds else "perfectly calibrated ones would have"
    )
    if reading.pvalue != reading.pvalue:
        why = reason(reading.error.estimate.notes or reading.error.per_run[0].notes)
        return f"Whether {lower_start(whose)} are calibrated cannot be told: {error} ({why})."
    n_runs = len(reading.error.per_run)
    chance = (
        f"about {number(reading.null_mean, FINE)}"
        if n_runs > 1
        else f"{number(reading.null_low, FINE)} to {number(reading.null_high, FINE)}"
    )
    if not reading.shown:
        sets = "this test set" if n_runs == 1 else f"the test sets of {counted(n_runs, 'run')}"
        return f"{whose} are calibrated within what {sets} can show: {error}, and {calibrated} {chance}."
    side = {"above": ", too large on average", "below": ", too small on average"}.get(reading.excess, "")
    less = f"without its bias {_text(reading.debiased.estimate, FINE)}"
    start = "No rising map calibrates the estimates" if n_folds else f"{whose} are not calibrated{side}"
    return f"{start}: {error}, {pvalue_text(reading.pvalue)}, {less}; {calibrated} {chance}."


def _mapped(result: "GainResult", reading: GainReading) -> list[str]:
    if reading.mapped is None or result.calibrated_error is None:
        return []
    n_folds, value = result.n_folds, float(result.calibrated_error)
    raw = float(result.error) if result.reduction is None else value + float(result.reduction)
    before, after = number(raw, FINE), number(value, FINE)
    gamma, error = map_name(result), "EECE in the folds" if n_folds else "EECE"
    change = {
        "above": f"The {gamma} lowers {error} from {before} to {after}.",
        "below": f"The {gamma} raises {error} from {before} to {after}.",
        "unclear": f"The runs do not show that the {gamma} changes {error}: {before} before, {after} after.",
        "undefined": f"{error} is {before} before the {gamma} and {after} after it, in this run.",
    }[reading.reduction]
    return [change, _size(reading.mapped, "The mapped estimates", n_folds=n_folds)]


def map_name(result: "GainResult") -> str:
    """The map, and whether it is cross-fitted."""
    return f"map γ (cross-fitted in {result.n_folds} folds)" if result.n_folds else "map γ"


def delay_sentence(result: "GainResult", reading: GainReading) -> str:
    """What is gained where the most uncertain cases wait, next to a random choice."""
    found = reading.delay
    gained = _gain(found.gained, result.loss)
    random = amount_text(found.random, result.loss)
    start = f"Delaying the {percent(found.share, 0)} most uncertain cases would gain {gained}"
    return {
        "above": f"{start}, more than a random choice of as many, which would gain {random}.",
        "below": f"{start}, less than a random choice of as many, which would gain {random}.",
        "unclear": f"{start}; a random choice of as many would gain {random}, and the data do not show a difference.",
        "undefined": f"{start}; a random choice of as many would gain {random}.",
    }[found.side]


# -- one study, several studies -------------------------------------------------------------------------------------------


def study_sentence(result: "GainResult") -> str:
    """What more data gain on average; the same for every score of a study."""
    gained = _gain(result.mean_gain.estimate, result.loss)
    where = f"{result.method}: " if result.method else ""
    text = {
        "above": f"{where}more data gain {gained} on the test cases, on average.",
        "below": f"{where}more data lose on average: a gain of {gained}.",
        "unclear": f"{where}the data do not show that more data help on average: a gain of {gained}.",
        "undefined": f"{where}more data gain {gained} on the test cases, on average.",
    }[read_gain(result).gain]
    return visible(text[0].upper() + text[1:] if not where else text)


def by_dataset(studies: "Sequence[GainStudy]") -> "Mapping[str, list[GainStudy]]":
    """Studies by their data set, in the order of first appearance."""
    groups: dict[str, list[GainStudy]] = {}
    for study in studies:
        groups.setdefault(study.dataset, []).append(study)
    return groups


def check_studies(studies: "Sequence[GainStudy]") -> None:
    """Refuse no study, and one method twice on one data set."""
    if not studies:
        fail("studies", "needs at least one study", "got none", "pass a list of studies", code="empty")
    keys = [(study.dataset, study.method) for study in studies]
    twice = [key for i, key in enumerate(keys) if key in keys[:i]]
    if twice:
        fail(
            "studies",
            "must be of different methods on each data set",
            f"{twice[0][1]!r} occurs twice{f' on {twice[0][0]!r}' if twice[0][0] else ''}",
            "name the methods differently",
            code="duplicate",
        )


def estimate_name(result: "GainResult", results: "Sequence[GainResult]") -> str:
    """The score, with its method where the results are of several methods."""
    return result.score if len({one.method for one in results}) == 1 else f"{result.method} ({result.score})"


# -- limits -------------------------------------------------------------------------------------------------------------


def untold_sentences(results: "Sequence[GainResult]") -> tuple[str, ...]:
    """What the data cannot tell, and what must be known before the numbers are believed."""
    said = []
    single = [one for one in results if one.n_runs == 1]
    if single:
        said.append(
            "One run says nothing about other splits and trainings: its intervals are for other test cases alone."
        )
    if len(single) < len(results):
        said.append("Intervals over the runs say nothing about other data sets: the runs are splits of the same cases.")
    without = [estimate_name(one, results) for one in results if one.calibrated_error is None]
    if without:
        names = listed(list(dict.fromkeys(without)), most=4)
        said.append(f"No map was fitted for {names}: there are no calibration cases, and no folds to cross-fit it.")
    if any(one.n_folds for one in results):
        said.append(
            "Cross-fitting maps each fold of the test cases by a map of the other folds. It tells how well a map works "
            "on more cases of the same two models, not whether a map of models that were trained on less data would."
        )
    nats = sorted({one.score for one in results if one.score in NATS and one.loss == "zero-one"})
    if nats:
        said.append(
            f"The estimates by {listed(nats)} are in nats and the gain is a share of right predictions: without a map they "
            "need not agree in size."
        )
    said.append(
        "The gain is that from this much more data, not from all the data in the world: the best possible model may gain more."
    )
    return tuple(visible(text) for text in said)


def gain_legend(results: "Sequence[GainResult]", *, lists: bool = False) -> tuple[str, ...]:
    """How to read ρ, EECE and the brackets; with `lists` also the sentences of `gain_sentences` on several estimates."""
    level = level_text(results[0].level)
    crossed = any(one.n_folds for one in results)
    of_folds = "EECE after a cross-fitted map: that of each fold by itself, in fewer intervals of as many cases."
    said = (
        "Gain: loss of the model without more data minus its loss with them; under the zero-one loss it is 1, 0 or −1.",
        "ρ: Spearman's correlation of estimate and gain. It stays far below 1 even for perfect estimates, because most gains "
        "are equal to 0.",
        "EECE (gain): mean distance of the mean estimate from the mean gain over intervals of the estimates; it is above 0 by "
        "chance even for calibrated estimates, which the value without its bias makes up for.",
        *([of_folds] if crossed else []),
        f"Each interval and each sentence on one estimate holds at {level} by itself; of many, some are wrong by chance.",
    )
    if not lists:
        return said
    return (
        *said,
        f"A sentence on top that lists estimates or models holds at {level} for all of them together (Bonferroni). So one can "
        "be missing from it although its own interval lies on one side of 0.",
    )


# -- the terminal -------------------------------------------------------------------------------------------------------


def gain_lines(
    studies: "Sequence[GainStudy]", loss: str = "zero-one", *, level: float = 0.95, **options: Any
) -> list[str]:
    """Lines for a terminal: a table of the scores of all studies, the sentences on each, and the limits."""
    lines: list[str] = []
    every = []
    for dataset, group in by_dataset(studies).items():
        results = [result for study in group for result in study.results(loss, level=level, **options)]
        every += results
        lines += [f"{dataset}, {loss} loss" if dataset else f"{loss} loss", *score_table(results), ""]
        for study in group:
            of_study = [one for one in results if one.method == study.method]
            lines += [study_sentence(of_study[0])]
            for one in of_study:
                lines += [f"{one.score}:", *(f"  {text}" for text in result_sentences(one))]
            lines.append("")
    lines += [*untold_sentences(every), "", *gain_legend(every)]
    return [visible(line) for line in lines]


def score_table(results: "Sequence[GainResult]") -> list[str]:
    """One line for each score: correlation, errors with their intervals, and the delay gain."""
    header = ("", "ρ", "interval", "EECE", "interval", "debiased", "mapped", "interval", "gain at 10 %", "random")
    body = []
    for one in results:
        delay = read_gain(one).delay
        body.append(
            (
                one.label,
                *_cells(one.correlation, DECIMALS + 1),
                *_cells(one.error, FINE),
                number(float(one.debiased), FINE),
                *_cells(one.calibrated_error, FINE),
                number(float(delay.gained), FINE),
                number(delay.random, FINE),
            )
        )
    return text_table(header, body)


def _cells(found: OverRuns | None, decimals: int) -> tuple[str, str]:
    if found is None:
        return ABSENT, ABSENT
    return number(float(found), decimals), interval(found.estimate.low, found.estimate.high, decimals)


# -- numbers ------------------------------------------------------------------------------------------------------------


def _text(estimate: Estimate, decimals: int) -> str:
    return estimate_text(float(estimate), estimate.low, estimate.high, level=estimate.level, decimals=decimals)


def _gain(estimate: Estimate, loss: str) -> str:
    """A gain with its unit and interval."""
    if loss != "zero-one":
        return f"{number(float(estimate), FINE)} {unit_text(loss)}{_between(estimate, 1.0, FINE)}"
    return f"{number(100 * float(estimate), 1)} {unit_text(loss)}{_between(estimate, 100.0, 1)}"


def unit_text(loss: str) -> str:
    """Unit of a gain."""
    return UNITS.get(loss, "percentage points of accuracy")


def _between(estimate: Estimate, factor: float, decimals: int) -> str:
    ends = interval(factor * estimate.low, factor * estimate.high, decimals)
    return "" if ends == ABSENT else f" ({level_text(estimate.level)} interval {ends})"


def amount_text(value: float, loss: str) -> str:
    """A gain without its unit."""
    return number(100 * value, 1) if loss == "zero-one" else number(value, FINE)


def lower_start(text: str) -> str:
    """The text with a small first letter."""
    return text[0].lower() + text[1:]


# The first sentences on studies of the gain: lists of estimates and models, each of which holds as a whole.

HEADLINE_DECIMALS = 2


def gain_sentences(
    studies: "Sequence[GainStudy]", loss: str = "zero-one", *, level: float = 0.95, **options: Any
) -> tuple[str, ...]:
    """The findings on several studies in a few sentences: what more data gain, and which estimates order the gain.

    A sentence that lists estimates or models holds for all of them together: each one is judged at the level that Bonferroni's
    inequality asks for.

    Parameters
    ----------
    studies : sequence of GainStudy
    loss : str
    level : float
        Confidence level of each sentence.
    **options
        Those of `GainStudy.result`.
    """
    said: list[str] = []
    groups = by_dataset(studies)
    for dataset, group in groups.items():
        results = [result for study in group for result in study.results(loss, level=level, **options)]
        if len(groups) > 1:
            said.append(f"On {dataset}:")
        if len(group) == 1:
            said.append(study_sentence(results[0]))
        else:
            firsts = [study.results(loss, level=level, **options)[0] for study in group]
            said += _mean_gains(firsts, _jointly(group, loss, level, options, n=len(group), first=True))
        if len(results) == 1:
            said += result_sentences(results[0])
        else:
            readings = _jointly(group, loss, level, options, n=len(results))
            for of in (_orders, _calibrated, _delays):
                said += of(results, readings)
    return tuple(visible(text) for text in said)


def _jointly(
    group: "Sequence[GainStudy]", loss: str, level: float, options: Mapping[str, Any], *, n: int, first: bool = False
) -> list[GainReading]:
    """Readings of all results, or of the first of each study, of which n hold together at the level (Bonferroni)."""
    own = {**options, "level": 1 - (1 - level) / n, "shares": (DELAYED,)}
    found = (study.results(loss, **own) for study in group)
    return [read_gain(one) for results in found for one in (results[:1] if first else results)]


def _where(
    results: "Sequence[GainResult]", readings: Sequence[GainReading], holds: Callable[[GainReading], bool]
) -> str:
    """Names of the estimates whose reading holds something; empty if there are none."""
    names = [estimate_name(one, results) for one, r in zip(results, readings, strict=True) if holds(r)]
    return listed(names, most=MOST_NAMES) if names else ""


def _orders(results: "Sequence[GainResult]", readings: Sequence[GainReading]) -> list[str]:
    sides = {
        "above": "The estimates of {} order the gain.",
        "below": "The estimates of {} order the gain in the wrong direction.",
        "unclear": "The data do not show that the estimates of {} order the gain.",
        "undefined": "Whether the estimates of {} order the gain cannot be told.",
    }
    said = []
    for side, text in sides.items():
        some = [one for one, reading in zip(results, readings, strict=True) if reading.order == side]
        if some:
            rho = [number(float(one.correlation), HEADLINE_DECIMALS) for one in some]
            names = [estimate_name(one, results) for one in some]
            listing = [f"{name} (ρ = {r})" if r != ABSENT else name for name, r in zip(names, rho, strict=True)]
            said.append(text.format(listed(listing, most=MOST_NAMES)))
    return said


def _calibrated(results: "Sequence[GainResult]", readings: Sequence[GainReading]) -> list[str]:
    gamma = map_name(max(results, key=lambda one: one.n_folds))
    claims: list[tuple[str, Callable[[GainReading], bool]]] = [
        ("The estimates of {} are not calibrated.", lambda r: r.raw.shown),
        ("The estimates of {} are too large on average.", lambda r: r.raw.excess == "above"),
        ("The estimates of {} are too small on average.", lambda r: r.raw.excess == "below"),
        (f"The {gamma} lowers EECE of {{}}.", lambda r: r.reduction == "above"),
        (f"The {gamma} raises EECE of {{}}.", lambda r: r.reduction == "below"),
    ]
    found = [(text, _where(results, readings, holds)) for text, holds in claims]
    return [text.format(names) for text, names in found if names]


def _mean_gains(firsts: "Sequence[GainResult]", readings: Sequence[GainReading]) -> list[str]:
    """What more data gain on average, for each method; intervals of several methods are in the table."""
    starts = {
        "above": "More data gain on average",
        "below": "More data lose on average",
        "": "The data do not show that more data help on average",
    }
    said = []
    for side, start in starts.items():
        some = [one for one, r in zip(firsts, readings, strict=True) if (r.gain if r.gain in starts else "") == side]
        if some:
            names = [f"{one.method} {amount_text(float(one.mean_gain), one.loss)}" for one in some]
            said.append(f"{start}, in {unit_text(some[0].loss)}: {listed(names, most=MOST_NAMES)}.")
    return said


def _delays(results: "Sequence[GainResult]", readings: Sequence[GainReading]) -> list[str]:
    """Which estimates are shown to gain more than a random choice where a share of the cases waits, and how much."""
    better = [one for one, reading in zip(results, readings, strict=True) if reading.delay.side == "above"]
    worse = _where(results, readings, lambda r: r.delay.side == "below")
    share = percent(readings[0].delay.share, 0)
    said = []
    if not better:
        said.append(f"No estimate is shown to choose the {share} of the cases that wait better than a random choice.")
    elif len(better) == 1:
        one = better[0]
        said.append(f"{estimate_name(one, results)}: {lower_start(delay_sentence(one, read_gain(one)))}")
    else:
        gains = [(estimate_name(one, results), read_gain(one).delay) for one in better]
        loss = results[0].loss
        each = [
            f"{name} {amount_text(float(delay.gained), loss)} ({amount_text(delay.random, loss)})"
            for name, delay in gains
        ]
        said.append(
            f"Delaying the {share} most uncertain cases would gain more than a random choice of as many (in brackets), in "
            f"{unit_text(loss)}: {listed(each, most=MOST_NAMES)}."
        )
    if worse:
        said.append(f"The estimates of {worse} choose the {share} of the cases that wait worse than a random choice.")
    return said
