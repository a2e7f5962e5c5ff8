"""The first sentences on studies of the gain: lists of estimates and models, each of which holds as a whole."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uqassay.evidence.gain_readings import DELAYED, GainReading, read_gain
from uqassay.evidence.gain_verdict import (
    amount_text,
    by_dataset,
    delay_sentence,
    estimate_name,
    lower_start,
    map_name,
    result_sentences,
    study_sentence,
    unit_text,
)
from uqassay.wording import ABSENT, listed, number, percent, visible

if TYPE_CHECKING:
    from uqassay.evidence.gain_result import GainResult
    from uqassay.evidence.gain_study import GainStudy

__all__ = ["gain_sentences"]

DECIMALS = 2
MOST_NAMES = 6


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
            rho = [number(float(one.correlation), DECIMALS) for one in some]
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
