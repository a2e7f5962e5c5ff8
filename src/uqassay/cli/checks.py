"""Checks on the findings, for scripts: `accuracy<0.9` fails where a model's accuracy is below 0.9."""

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from uqassay.cli.text import unicode_text
from uqassay.errors import InputError
from uqassay.metrics.ranking.registry import RANKING_METRICS

if TYPE_CHECKING:
    from uqassay.evidence import Assay

__all__ = ["Check", "failures", "parse_check", "skipped"]

_SYNTAX = re.compile(
    r"(?:(?P<model>.+):)?(?P<metric>[a-z0-9-]+)(?:@(?P<at>[^<>=@]+))?\s*(?P<comparison><=|>=|<|>)\s*"
    r"(?P<bound>[^<>=]+)"
)
OF_MEASURES = "calibration-pvalue"  # found for several calibration measures; without @ it is checked of all
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Check:
    """A comparison that must not hold.

    Attributes
    ----------
    text : str
        As it was given.
    model : str or None
        None: any model.
    metric : str
        A metric of the findings.
    tradeoff : float or None
        λ, for "unified".
    score : str or None
        Uncertainty score, for the ranking metrics; measure, for "calibration-pvalue".
    comparison : {"<", "<=", ">", ">="}
    bound : float
    """

    text: str
    model: str | None
    metric: str
    tradeoff: float | None
    score: str | None
    comparison: str
    bound: float


def parse_check(text: str) -> Check:
    """Read ``[MODEL:]METRIC[@λ or @SCORE]<NUMBER``, with <, <=, > or >=.

    Raises
    ------
    InputError
        Anything else.

    Examples
    --------
    >>> check = parse_check("DE:unified@0.5 > 0.3")
    >>> check.model, check.metric, check.tradeoff, check.comparison, check.bound
    ('DE', 'unified', 0.5, '>', 0.3)
    >>> parse_check("DE:uq-auc@total-entropy<0.8").score
    'total-entropy'
    """
    text = unicode_text(text)
    found = _SYNTAX.fullmatch(text.strip())
    bound = _number(found["bound"]) if found else None
    at = found["at"].strip() if found and found["at"] is not None else None
    if found is None or bound is None or at == "":
        raise InputError(
            "fail-if",
            "must read [MODEL:]METRIC[@λ or @SCORE] <, <=, > or >= NUMBER",
            f"got {text!r}",
            "write for example 'accuracy<0.9', 'DE:unified@0.5>0.3' or 'DE:uq-auc@total-entropy<0.8'",
            code="undefined",
        )
    tradeoff = None if at is None else _number(at)
    score = at if tradeoff is None else None
    return Check(text.strip(), found["model"], found["metric"], tradeoff, score, found["comparison"], bound)


def failures(check: Check, assay: "Assay") -> list[str]:
    """One sentence for every model of which the comparison holds.

    Parameters
    ----------
    check : Check
    assay : Assay

    Returns
    -------
    list of str
        Empty where the check passes.

    Raises
    ------
    InputError
        A model or metric that the assay does not have, or a metric that is undefined: what is undefined cannot pass.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.1, 0.9]])}, [0, 1])
    >>> failures(parse_check("m:log-loss>0.1"), a)
    ['Check m:log-loss>0.1 failed: log-loss of m is 0.1054.']
    >>> failures(parse_check("accuracy<0.3"), a)
    []
    """
    holds = _COMPARISONS[check.comparison]
    rows = [row for row in _rows(check, assay) if not math.isnan(row["estimate"])]
    return [_sentence(check, row) for row in rows if holds(row["estimate"], check.bound)]


def skipped(check: Check, assay: "Assay") -> list[str]:
    """One sentence for every model that a check of any model says nothing about, with the reason.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.9, 0.1]]), "w": uq.Point([[0.9, 0.1], [0.1, 0.9]])}, [0, 0])
    >>> skipped(parse_check("uq-auc@margin<0.8"), a)
    ['Check uq-auc@margin<0.8 leaves m out: no errors: undefined...']
    """
    rows = _rows(check, assay)
    reasons = {row["model"]: row["note"] for row in rows if math.isnan(row["estimate"])}
    if check.model is None:
        known = {row["model"] for row in rows}
        reasons |= {name: f"it has no {check.score or check.metric}" for name in assay.model_names if name not in known}
    return [f"Check {check.text} leaves {name} out: {reason}." for name, reason in reasons.items()]


def _rows(check: Check, assay: "Assay") -> list[dict[str, Any]]:
    """What the check compares, over all runs; at least one row is defined."""
    if check.model is not None and check.model not in assay.model_names:
        raise InputError(
            "fail-if",
            f"{check.text!r} names the model {check.model!r}",
            f"the models are {', '.join(assay.model_names)}",
            "choose one of them",
            code="undefined",
        )
    rows = [row for row in assay.finding_rows() if row["run"] == "all" and row["model"] in assay.model_names]
    known = list(dict.fromkeys(row["metric"] for row in rows))
    if check.metric not in known:
        raise InputError(
            "fail-if",
            f"{check.text!r} needs a metric of the findings ({', '.join(known)})",
            "",
            "choose one of them",
            code="missing",
        )
    rows = [row for row in rows if row["metric"] == check.metric and check.model in (None, row["model"])]
    rows = _at_tradeoff(_of_score(rows, check), check)
    defined = [row for row in rows if not math.isnan(row["estimate"])]
    if not defined or (check.model is not None and len(defined) < len(rows)):
        raise InputError(
            "fail-if",
            f"{check.text!r} cannot be checked: {rows[0]['note']}",
            "",
            "choose another metric or model",
            code="undefined",
        )
    return rows


def _of_score(rows: list[dict[str, Any]], check: Check) -> list[dict[str, Any]]:
    """Rows of the score asked for, where a metric is found for several scores."""
    known = list(dict.fromkeys(row["score"] for row in rows))
    if check.metric == OF_MEASURES and check.score is None:
        return rows
    if check.metric not in RANKING_METRICS and check.metric != OF_MEASURES:
        if check.score is not None:
            where = "write a number for λ" if not math.isnan(rows[0]["tradeoff"]) else "leave @ out"
            raise InputError(
                "fail-if",
                f"{check.metric} is not found for single scores",
                f"got {check.text!r}",
                where,
                code="missing",
            )
        return rows
    if check.score not in known:
        scores = "scores" if check.metric in RANKING_METRICS else "measures"
        raise InputError(
            "fail-if",
            f"{check.metric} is known for the {scores} {', '.join(known)}",
            f"got {check.text!r}",
            f"write {check.metric}@{known[0]}",
            code="undefined",
        )
    return [row for row in rows if row["score"] == check.score]


def _at_tradeoff(rows: list[dict[str, Any]], check: Check) -> list[dict[str, Any]]:
    known = list(dict.fromkeys(row["tradeoff"] for row in rows))
    if math.isnan(known[0]):
        if check.tradeoff is not None:
            raise InputError(
                "fail-if",
                f"{check.metric} does not depend on λ",
                f"got {check.text!r}",
                "leave @ out",
                code="undefined",
            )
        return rows
    if check.tradeoff is None and len(known) == 1:
        return rows
    if check.tradeoff is None or not any(math.isclose(check.tradeoff, at) for at in known):
        shown = ", ".join(f"{at:g}" for at in known)
        raise InputError(
            "fail-if",
            f"{check.metric} is known at λ = {shown}",
            f"got {check.text!r}",
            f"write {check.metric}@{known[0]:g}, or ask for that λ by --tradeoff",
            code="undefined",
        )
    return [row for row in rows if math.isclose(check.tradeoff, row["tradeoff"])]


def _sentence(check: Check, row: dict[str, Any]) -> str:
    interval = ""
    if math.isfinite(row["low"]) and row["low"] != row["high"]:
        interval = f" ({100 * row['level']:g} % interval {row['low']:.4g} to {row['high']:.4g})"
    score = row["score"] if check.metric == OF_MEASURES else check.score
    what = check.metric if score is None else f"{check.metric} of {score}"
    return f"Check {check.text} failed: {what} of {row['model']} is {row['estimate']:.4g}{interval}."


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
