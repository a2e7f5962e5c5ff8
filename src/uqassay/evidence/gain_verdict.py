"""Sentences on the gain from more data and the estimates of it. A sentence claims only what an interval or a test holds."""

from collections.abc import Mapping, Sequence
from typing import Any

from uqassay.errors import InputError
from uqassay.evidence.gain_readings import CalibrationReading, GainReading, read_gain
from uqassay.evidence.gain_result import GainResult
from uqassay.evidence.gain_study import GainStudy
from uqassay.evidence.over_runs import OverRuns
from uqassay.notes import reason
from uqassay.statistics import Estimate
from uqassay.wording import (
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
    without_direction,
)

__all__ = [
    "by_dataset",
    "check_studies",
    "gain_legend",
    "gain_lines",
    "gain_sentences",
    "result_sentences",
    "study_sentence",
    "untold_sentences",
]

DECIMALS, FINE = 2, 4
MOST_NAMES = 6
UNITS = {"log": "nats of log loss", "brier": "Brier loss"}
NATS = ("entropy", "mutual-information", "total-entropy", "epistemic-entropy", "aleatoric-entropy")


# -- one score ----------------------------------------------------------------------------------------------------------


def result_sentences(result: GainResult) -> tuple[str, ...]:
    """Order, calibration, map and delay of one score."""
    reading = read_gain(result)
    said = [_order(result, reading), _size(reading.raw, "The estimates"), *_mapped(result, reading)]
    return tuple(without_direction(text) for text in (*said, _delay(result, reading)))


def _order(result: GainResult, reading: GainReading) -> str:
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


def _size(reading: CalibrationReading, whose: str) -> str:
    """Calibration: what the test sets show, and what they would show of perfectly calibrated estimates."""
    error = f"EECE {number(float(reading.error), FINE)}"
    chance = (
        f"{number(reading.null_low, FINE)} to {number(reading.null_high, FINE)}"
        if len(reading.error.per_run) == 1
        else f"about {number(reading.null_mean, FINE)}"
    )
    less = f"without its bias {_text(reading.debiased.estimate, FINE)}"
    if not reading.shown and reading.pvalue == reading.pvalue:
        return (
            f"{whose} are calibrated within what this test set can show: {error}, and perfectly calibrated ones would have "
            f"{chance}."
        )
    if not reading.shown:
        runs = counted(len(reading.error.per_run), "run")
        return (
            f"{runs} do not show a miscalibration of {_lower(whose)}: {error}, {less}; perfectly "
            f"calibrated ones would have {chance}."
        )
    side = {"above": ", too large on average", "below": ", too small on average"}.get(reading.excess, "")
    test = "" if reading.pvalue != reading.pvalue else f", {pvalue_text(reading.pvalue)}"
    return f"{whose} are not calibrated{side}: {error}{test}, {less}; perfectly calibrated ones would have {chance}."


def _mapped(result: GainResult, reading: GainReading) -> list[str]:
    if reading.mapped is None or result.calibrated_error is None:
        return []
    before, after = number(float(result.error), FINE), number(float(result.calibrated_error), FINE)
    change = {
        "above": f"The map γ lowers EECE from {before} to {after}.",
        "below": f"The map γ raises EECE from {before} to {after}.",
        "unclear": f"The runs do not show that the map γ changes EECE: {before} before, {after} after.",
        "undefined": f"EECE is {before} before the map γ and {after} after it, in this run.",
    }[reading.reduction]
    return [change, _size(reading.mapped, "The mapped estimates")]


def _delay(result: GainResult, reading: GainReading) -> str:
    found = reading.delay
    gained = _gain(found.gained, result.loss)
    random = _amount(found.random, result.loss)
    start = f"Delaying the {percent(found.share, 0)} most uncertain cases would gain {gained}"
    return {
        "above": f"{start}, more than a random choice of as many, which would gain {random}.",
        "below": f"{start}, less than a random choice of as many, which would gain {random}.",
        "unclear": f"{start}; a random choice of as many would gain {random}, and the data do not show a difference.",
        "undefined": f"{start}; a random choice of as many would gain {random}.",
    }[found.side]


# -- one study, several studies -------------------------------------------------------------------------------------------


def study_sentence(result: GainResult) -> str:
    """What more data gain on average; the same for every score of a study."""
    gained = _gain(result.mean_gain.estimate, result.loss)
    where = f"{result.method}: " if result.method else ""
    text = {
        "above": f"{where}more data gain {gained} on the test instances, on average.",
        "below": f"{where}more data lose on average: a gain of {gained}.",
        "unclear": f"{where}the data do not show that more data help on average: a gain of {gained}.",
        "undefined": f"{where}more data gain {gained} on the test instances, on average.",
    }[read_gain(result).gain]
    return without_direction(text[0].upper() + text[1:] if not where else text)


def gain_sentences(
    studies: Sequence[GainStudy], loss: str = "zero-one", *, level: float = 0.95, **options: Any
) -> tuple[str, ...]:
    """The findings on several studies in a few sentences: what more data gain, and which estimates order the gain.

    Parameters
    ----------
    studies : sequence of GainStudy
    loss : str
    level : float
    **options
        Those of `GainStudy.result`.
    """
    said = []
    for dataset, group in by_dataset(studies).items():
        results = [result for study in group for result in study.results(loss, level=level, **options)]
        if len(by_dataset(studies)) > 1:
            said.append(f"On {dataset}:")
        said += _mean_gains([study.results(loss, level=level, **options)[0] for study in group])
        said += _orders(results)
        if len(results) == 1:
            said += result_sentences(results[0])[1:]
        else:
            said += _calibrated(results)
            said += _delays(results)
    return tuple(without_direction(text) for text in said)


def by_dataset(studies: Sequence[GainStudy]) -> Mapping[str, list[GainStudy]]:
    """Studies by their data set, in the order of first appearance."""
    groups: dict[str, list[GainStudy]] = {}
    for study in studies:
        groups.setdefault(study.dataset, []).append(study)
    return groups


def check_studies(studies: Sequence[GainStudy]) -> None:
    """Refuse no study, and one method twice on one data set.

    Raises
    ------
    InputError
    """
    if not studies:
        raise InputError("studies", "needs at least one study", "got none", "pass a list of studies", code="empty")
    keys = [(study.dataset, study.method) for study in studies]
    twice = [key for i, key in enumerate(keys) if key in keys[:i]]
    if twice:
        raise InputError(
            "studies",
            "must be of different methods on each data set",
            f"{twice[0][1]!r} occurs twice{f' on {twice[0][0]!r}' if twice[0][0] else ''}",
            "name the methods differently",
            code="duplicate",
        )


def _orders(results: Sequence[GainResult]) -> list[str]:
    if len(results) == 1:
        return [_order(results[0], read_gain(results[0]))]
    sides = {
        "above": "The estimates of {} order the gain.",
        "below": "The estimates of {} order the gain in the wrong direction.",
        "unclear": "The data do not show that the estimates of {} order the gain.",
        "undefined": "Whether the estimates of {} order the gain cannot be told.",
    }
    said = []
    for side, text in sides.items():
        names = [_name(one, results) for one in results if read_gain(one).order == side]
        if names:
            rho = [number(float(one.correlation), DECIMALS) for one in results if read_gain(one).order == side]
            listing = [f"{name} (ρ = {r})" if r != ABSENT else name for name, r in zip(names, rho, strict=True)]
            said.append(text.format(listed(listing, most=MOST_NAMES)))
    return said


def _calibrated(results: Sequence[GainResult]) -> list[str]:
    said = []
    for side, text in (
        ("above", "The estimates of {} are too large on average."),
        ("below", "The estimates of {} are too small on average."),
    ):
        names = [_name(one, results) for one in results if read_gain(one).raw.excess == side]
        if names:
            said.append(text.format(listed(names, most=MOST_NAMES)))
    lowered = [_name(one, results) for one in results if read_gain(one).reduction == "above"]
    if lowered:
        said.append(f"The map γ lowers EECE of {listed(lowered, most=MOST_NAMES)}.")
    return said


def _mean_gains(firsts: Sequence[GainResult]) -> list[str]:
    """What more data gain on average, for each method; intervals of several methods are in the table."""
    if len(firsts) == 1:
        return [study_sentence(firsts[0])]
    said = []
    for shown in (True, False):
        some = [one for one in firsts if (read_gain(one).gain == "above") == shown]
        if some:
            each = listed([f"{one.method} {_amount(float(one.mean_gain), one.loss)}" for one in some], most=MOST_NAMES)
            start = "More data gain on average" if shown else "The data do not show that more data help on average"
            said.append(f"{start}, in {_unit(firsts[0].loss)}: {each}.")
    return said


def _delays(results: Sequence[GainResult]) -> list[str]:
    """Which scores are shown to gain more than a random choice where a share of the cases waits, and how much."""
    readings = [read_gain(one) for one in results]
    better = [(one, r.delay) for one, r in zip(results, readings, strict=True) if r.delay.side == "above"]
    share = percent(readings[0].delay.share, 0)
    if not better:
        return [f"No estimate is shown to choose the {share} of the cases that wait better than a random choice."]
    if len(better) == 1:
        one = better[0][0]
        return [f"{_name(one, results)}: {_lower(_delay(one, read_gain(one)))}"]
    each = [
        f"{_name(one, results)} {_amount(float(delay.gained), one.loss)} ({_amount(delay.random, one.loss)})"
        for one, delay in better
    ]
    return [
        f"Delaying the {share} most uncertain cases would gain more than a random choice of as many (in brackets), in "
        f"{_unit(results[0].loss)}: {listed(each, most=MOST_NAMES)}."
    ]


def _name(result: GainResult, results: Sequence[GainResult]) -> str:
    return result.score if len({one.method for one in results}) == 1 else f"{result.method} ({result.score})"


# -- limits -------------------------------------------------------------------------------------------------------------


def untold_sentences(results: Sequence[GainResult]) -> tuple[str, ...]:
    """What the data cannot tell, and what must be known before the numbers are believed."""
    said = []
    single = [one for one in results if one.n_runs == 1]
    if single:
        said.append(
            "One run says nothing about other splits and trainings: its intervals are for other test instances alone."
        )
    if len(single) < len(results):
        said.append(
            "Intervals over the runs say nothing about other data sets: the runs are splits of the same instances."
        )
    without = [one for one in results if one.calibrated_error is None]
    if without:
        said.append(
            f"No map was fitted for {listed([_name(one, results) for one in without], most=4)}: there are no predictions "
            "for calibration instances."
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
    return tuple(without_direction(text) for text in said)


def gain_legend(results: Sequence[GainResult]) -> tuple[str, ...]:
    """How to read ρ, EECE and the brackets."""
    level = level_text(results[0].level)
    return (
        "Gain: loss of the model without more data minus its loss with them; under the zero-one loss it is 1, 0 or −1.",
        "ρ: Spearman's correlation of estimate and gain. It stays far below 1 even for perfect estimates, because most gains "
        "are equal to 0.",
        "EECE (gain): mean distance of the mean estimate from the mean gain over intervals of the estimates; it is above 0 by "
        "chance even for calibrated estimates, which the value without its bias makes up for.",
        f"Each interval and each sentence holds at {level} by itself; of many, some are wrong by chance.",
    )


# -- the terminal -------------------------------------------------------------------------------------------------------


def gain_lines(
    studies: Sequence[GainStudy], loss: str = "zero-one", *, level: float = 0.95, **options: Any
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
    return [without_direction(line) for line in lines]


def score_table(results: Sequence[GainResult]) -> list[str]:
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
        return f"{number(float(estimate), FINE)} {_unit(loss)}{_between(estimate, 1.0, FINE)}"
    return f"{number(100 * float(estimate), 1)} {_unit(loss)}{_between(estimate, 100.0, 1)}"


def _unit(loss: str) -> str:
    return UNITS.get(loss, "percentage points of accuracy")


def _between(estimate: Estimate, factor: float, decimals: int) -> str:
    ends = interval(factor * estimate.low, factor * estimate.high, decimals)
    return "" if ends == ABSENT else f" ({level_text(estimate.level)} interval {ends})"


def _amount(value: float, loss: str) -> str:
    return number(100 * value, 1) if loss == "zero-one" else number(value, FINE)


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
