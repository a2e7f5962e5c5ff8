"""Checks on the findings of `gain`, for scripts: `correlation<0.05` fails where that of an estimate is below 0.05."""

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from uqassay.cli.checks import Check, Outcome, outcome_of_rows
from uqassay.errors import InputError
from uqassay.evidence.gain_readings import read_gain
from uqassay.notes import reason
from uqassay.wording import listed

if TYPE_CHECKING:
    from uqassay.evidence import GainResult
    from uqassay.evidence.over_runs import OverRuns
    from uqassay.statistics import Estimate

__all__ = ["GAIN_METRICS", "gain_outcome"]


def _estimate(found: "OverRuns | None") -> "Estimate | None":
    return None if found is None else found.estimate


# numbers that can be checked, by name
GAIN_METRICS: "MappingProxyType[str, Callable[[GainResult], Estimate | None]]" = MappingProxyType(
    {
        "correlation": lambda one: one.correlation.estimate,
        "eece": lambda one: one.error.estimate,
        "eece-debiased": lambda one: one.debiased.estimate,
        "eece-mapped": lambda one: _estimate(one.calibrated_error),
        "excess": lambda one: one.excess.estimate,
        "mean-gain": lambda one: one.mean_gain.estimate,
        "delay-gain": lambda one: read_gain(one).delay.gained,
    }
)


def gain_outcome(check: Check, results: "Sequence[GainResult]", *, on_intervals: bool = False) -> Outcome:
    """Which models fail a check on the gain.

    Raises
    ------
    InputError
        A model, metric or score that the results do not have, or a metric that is undefined for all that is checked.
    """
    for given, known, what in (
        (check.metric, list(GAIN_METRICS), "the metric"),
        (check.model, [one.method for one in results], "the model"),
        (check.score, [one.score for one in results], "the score"),
    ):
        names = list(dict.fromkeys(known))
        if given is not None and given not in names:
            raise InputError(
                "--fail-if",
                f"{check.text!r} names {what} {given!r}",
                f"those known are {listed(names)}",
                "choose one of them",
                code="choice",
            )
    if check.tradeoff is not None:
        raise InputError(
            "--fail-if",
            "the gain does not depend on λ",
            f"got {check.text!r}",
            "write a score after @",
            code="conflict",
        )
    rows = [
        row
        for one in results
        if check.model in (None, one.method) and check.score in (None, one.score)
        for row in _row(check, one)
    ]
    if not any(not math.isnan(row["estimate"]) for row in rows):
        raise InputError(
            "--fail-if",
            f"{check.text!r} cannot be checked",
            reason(rows[0]["notes"]) if rows else _without_rows(check, results),
            "choose another metric, model or score",
            code="undefined",
        )
    return outcome_of_rows(check, rows, [row["model"] for row in rows], on_intervals=on_intervals)


def _without_rows(check: Check, results: "Sequence[GainResult]") -> str:
    there = any(check.model in (None, one.method) and check.score in (None, one.score) for one in results)
    return (
        "there is no map without calibration predictions or folds"
        if there
        else f"{check.model} has no score {check.score}"
    )


def _row(check: Check, result: "GainResult") -> list[dict[str, Any]]:
    found = GAIN_METRICS[check.metric](result)
    if found is None:
        return []
    name = result.label if result.loss == "zero-one" else f"{result.label}, {result.loss} loss"
    values = {"estimate": float(found), "low": found.low, "high": found.high, "level": found.level}
    return [{"model": name, "score": result.score, **values, "notes": found.notes}]
