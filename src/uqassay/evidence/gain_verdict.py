"""Sentences on the gain from more data and the estimates of it. A sentence claims only what an interval or a test holds."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uqassay.errors import InputError
from uqassay.evidence.gain_readings import CalibrationReading, GainReading, read_gain
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
    visible,
)

if TYPE_CHECKING:
    from uqassay.evidence.gain_result import GainResult
    from uqassay.evidence.gain_study import GainStudy

__all__ = [
    "amount_text",
    "by_dataset",
    "check_studies",
    "delay_sentence",
    "estimate_name",
    "gain_legend",
    "gain_lines",
    "lower_start",
    "map_name",
    "result_sentences",
    "study_sentence",
    "unit_text",
    "untold_sentences",
]

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
        "above": f"{where}more data gain {gained} on the test instances, on average.",
        "below": f"{where}more data lose on average: a gain of {gained}.",
        "unclear": f"{where}the data do not show that more data help on average: a gain of {gained}.",
        "undefined": f"{where}more data gain {gained} on the test instances, on average.",
    }[read_gain(result).gain]
    return visible(text[0].upper() + text[1:] if not where else text)


def by_dataset(studies: "Sequence[GainStudy]") -> "Mapping[str, list[GainStudy]]":
    """Studies by their data set, in the order of first appearance."""
    groups: dict[str, list[GainStudy]] = {}
    for study in studies:
        groups.setdefault(study.dataset, []).append(study)
    return groups


def check_studies(studies: "Sequence[GainStudy]") -> None:
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
            "One run says nothing about other splits and trainings: its intervals are for other test instances alone."
        )
    if len(single) < len(results):
        said.append(
            "Intervals over the runs say nothing about other data sets: the runs are splits of the same instances."
        )
    without = [estimate_name(one, results) for one in results if one.calibrated_error is None]
    if without:
        names = listed(list(dict.fromkeys(without)), most=4)
        said.append(f"No map was fitted for {names}: there are no calibration instances, and no folds to cross-fit it.")
    if any(one.n_folds for one in results):
        said.append(
            "Cross-fitting maps each fold of the test instances by a map of the other folds. It tells how well a map works "
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
    of_folds = "EECE after a cross-fitted map: that of each fold by itself, in fewer intervals of as many instances."
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
