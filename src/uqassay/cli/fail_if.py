"""`--fail-if`: checks on findings for scripts, their exit codes, and the summary in Markdown."""

import math
import operator
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import typer

from uqassay.checks import fail
from uqassay.cli.inputs import AssayRequest, check_text, model_files
from uqassay.cli.screen import complain, unicode_text
from uqassay.errors import InputError
from uqassay.evidence import Assay
from uqassay.evidence.gain_words import read_gain
from uqassay.evidence.lens import markdown_of_lenses
from uqassay.evidence.order import loss_name, order_of
from uqassay.evidence.ranking import difference_of, margin_of
from uqassay.evidence.sentences import why_beyond
from uqassay.evidence.stream import STAGES
from uqassay.files import whole_file
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.notes import reason
from uqassay.text import level_text, listed, listed_names, markdown_text, named, significant, tradeoff, visible

if TYPE_CHECKING:
    from uqassay.evidence import GainResult
    from uqassay.evidence.over_runs import OverRuns
    from uqassay.statistics import Estimate

__all__ = [
    "CANNOT_TELL",
    "CHECK_FAILED",
    "GAIN_METRICS",
    "OF_MEASURES",
    "Check",
    "CheckTerm",
    "Outcome",
    "check_summary",
    "end",
    "gain_outcome",
    "judge",
    "markdown_summary",
    "outcome_of",
    "parse_check",
    "steps_of",
    "write_summary",
]


# Checks on the findings, for scripts: `accuracy<0.9` fails where a model's accuracy is below 0.9.
#
#     check      = term comparison (NUMBER | term)
#     term       = [subject ":"] (metric | limit "(" metric ")")
#     subject    = model | model "-" model              of the second, the difference is compared
#     limit      = "low" | "high" | "estimate"          of the interval; without one the estimate, or on request all of it
#     metric     = NAME ["@" (λ | score)]
#     comparison = "<" | "<=" | ">" | ">="
#
# and one demand, which fails where the opposite is shown, and cannot tell where neither is:
#
#     demand     = "no-worse(" model "," model ")" [":" metric] ("<" | "<=") NUMBER
#
# Names of models may hold any of these characters: a text is read from the last comparison and the last colon outwards, and
# what names a model is decided once the models are known.

_COMPARISON = re.compile(r"<=|>=|<|>")
_DEMAND = re.compile(r"\s*no-worse\((?P<names>.+)\)\s*(?::(?P<metric>[^:]*))?", re.DOTALL)
_LIMIT = re.compile(r"\s*(low|high|estimate)\(\s*")
_NAME = re.compile(r"\s*([A-Za-z0-9_-]+)")
_AT = re.compile(r"@([^<>=@()]*)")
OF_MEASURES = "calibration-pvalue"  # found for several calibration measures; without @ it is checked of all
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_LIMITS: dict[str, Literal["low", "high", "estimate"]] = {"low": "low", "high": "high", "estimate": "estimate"}
DIGITS = 4  # significant ones of a value in a sentence
SHOWN = 3  # names in a sentence before the others are counted
NO_SCORE = "no model has an uncertainty score"


@dataclass(frozen=True)
class CheckTerm:
    """What stands on one side of a check."""

    text: str  #: The whole check, as it was given.
    model: str | None  #: One model, or two with a hyphen between them; None: any model.
    #: What is compared of the interval; None: the estimate, or the whole interval.
    limit: Literal["low", "high", "estimate"] | None
    metric: str  #: A metric of the findings.
    tradeoff: float | None  #: λ, for "unified".
    score: str | None  #: Uncertainty score, for the ranking metrics; measure, for "calibration-pvalue".


@dataclass(frozen=True)
class Check(CheckTerm):
    """A comparison that must not hold, or the demand that one model is no worse than another."""

    comparison: str
    bound: float  #: nan where another term is compared.
    against: CheckTerm | None = None
    demand: bool = (
        False  #: Whether `model` names two models, of which the first has to be no worse by more than `bound`.
    )


@dataclass(frozen=True)
class Outcome:
    """The result of a check, as sentences about models."""

    left_out: tuple[str, ...] = ()  #: Models for which the metric is undefined.
    failed: tuple[str, ...] = ()  #: Models for which the comparison holds.
    unclear: tuple[
        str, ...
    ] = ()  #: Models whose interval cannot tell, or for which nothing is defined that was asked for.
    text: str = ""  #: The check, as it was given.

    @property
    def word(self) -> Literal["pass", "fail", "cannot tell"]:
        """The outcome over all models, the gravest first."""
        return "fail" if self.failed else "cannot tell" if self.unclear else "pass"

    def sentences(self) -> tuple[str, ...]:
        """All sentences, the gravest last."""
        return (*self.left_out, *self.unclear, *self.failed)


def parse_check(text: str) -> Check:
    """Read one check by the grammar above; an error says at which character it ends.

    Examples
    --------
    >>> check = parse_check("DE:unified@0.5 > 0.3")
    >>> check.model, check.metric, check.tradeoff, check.comparison, check.bound
    ('DE', 'unified', 0.5, '>', 0.3)
    >>> check = parse_check("DE:low(uq-auc@total-entropy) < 0.8")
    >>> check.model, check.limit, check.metric, check.score
    ('DE', 'low', 'uq-auc', 'total-entropy')
    >>> parse_check("this:low(accuracy) < last:estimate(accuracy)").against.limit
    'estimate'
    >>> check = parse_check("no-worse(this,last) < 0.01")
    >>> check.demand, check.model, check.metric, check.bound
    (True, 'this,last', 'unified', 0.01)
    """
    text = unicode_text(text).strip()
    found = list(_COMPARISON.finditer(text))
    if not found:
        raise _broken(text, len(text), "a comparison (<, <=, > or >=)")
    at = found[-1]
    bound = _number(text[at.end() :])
    demand = _DEMAND.fullmatch(text[: at.start()])
    if demand is not None:
        if bound is None or bound <= 0:
            raise _broken(text, at.end(), "a number above 0, the greatest difference that does not matter")
        if at[0] not in ("<", "<="):
            raise _broken(text, at.start(), "< or <=, as no-worse(…) is a difference that shall be small")
        start = demand.start("metric")
        metric, tradeoff_at, score = ("unified", None, None) if start < 0 else _metric(text, start, at.start(), "")
        return Check(text, demand["names"], None, metric, tradeoff_at, score, at[0], bound, demand=True)
    term = _term(text, 0, at.start())
    if bound is not None:
        return Check(**vars(term), comparison=at[0], bound=bound)
    if not text[at.end() :].strip() or ":" not in text[at.end() :]:
        raise _broken(text, at.end(), "a finite number, or MODEL:METRIC")
    return Check(**vars(term), comparison=at[0], bound=math.nan, against=_term(text, at.end(), len(text)))


def _term(text: str, start: int, end: int) -> CheckTerm:
    """What stands between two places."""
    colon = text.rfind(":", start, end)
    subject = text[start:colon].strip() if colon >= 0 else None
    if subject == "":
        raise _broken(text, colon, "the name of a model")
    begin = start if colon < 0 else colon + 1
    limit = _LIMIT.match(text, begin, end)
    if limit is None:
        return CheckTerm(text, subject, None, *_metric(text, begin, end, ""))
    return CheckTerm(text, subject, _LIMITS[limit[1]], *_metric(text, limit.end(), end, limit[1]))


def _metric(text: str, start: int, end: int, limit: str) -> tuple[str, float | None, str | None]:
    """Metric, λ and score up to a place, with the bracket that closes a limit."""
    name = _NAME.match(text, start, end)
    if name is None:
        raise _broken(text, start, "the name of a metric")
    place, at = name.end(), _AT.match(text, name.end(), end)
    if at is not None and not at[1].strip():
        raise _broken(text, at.end(), "a λ or a score")
    tradeoff_at, score = None, None
    if at is not None:
        place, tradeoff_at = at.end(), _number(at[1])
        score = at[1].strip() if tradeoff_at is None else None
    rest = text[place:end]
    if limit and not rest.lstrip().startswith(")"):
        raise _broken(text, place, f") after what {limit}( is of")
    rest = rest.lstrip().removeprefix(")") if limit else rest
    if rest.strip():
        raise _broken(text, end - len(rest.lstrip()), "the end of the term (a metric has letters, digits and hyphens)")
    return metric_name(name[1]), tradeoff_at, score


def _broken(text: str, place: int, wanted: str) -> InputError:
    """The error about what is missing at one place of a check."""
    read = text[:place].rstrip()
    where = f"behind {read!r}" if read else "at its beginning"
    return InputError(
        "--fail-if",
        f"needs {wanted} at character {place + 1}, {where}",
        f"got {text!r}",
        "write for example 'accuracy<0.9', 'DE:low(uq-auc@total-entropy)<0.8', 'new-old:accuracy<-0.01' or "
        "'no-worse(new,old)<0.01'",
        code="syntax",
        facts={"place": place},
    )


def outcome_of(check: Check, assay: "Assay", *, on_intervals: bool = False) -> Outcome:
    """Which models fail a check.

    Parameters
    ----------
    check : Check
    assay : Assay
    on_intervals : bool
        Compare whole intervals instead of estimates: the check fails where the comparison holds for the whole interval,
        and cannot tell where it holds for a part of it. A limit that is named is compared in any case, and the check cannot
        tell where there is none, nor where the metric is undefined for all models or for the one that is named.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.1, 0.9]])}, [0, 1])
    >>> outcome_of(parse_check("m:log-loss>0.1"), a).failed
    ('Check m:log-loss>0.1 failed: log-loss of m is 0.1054.',)
    >>> outcome_of(parse_check("accuracy<0.3"), a).sentences()
    ()
    """
    if check.demand:
        return _demanded(check, assay)
    rows = _rows_of(check, assay)
    if check.against is None:
        return outcome_of_rows(check, rows, assay.model_names, on_intervals=on_intervals)
    others = _rows_of(check.against, assay)
    if not rows or not others:
        return Outcome(unclear=_undefined(check, assay.model_names, rows), text=check.text)
    return _compared(check, check.against, rows, others[0], on_intervals=on_intervals)


def _demanded(check: Check, assay: "Assay") -> Outcome:
    """Whether one model is shown to be no worse than another by more than the bound."""
    one, other = _pair(check, assay, ",")
    at = _tradeoff_of_pair(check, assay)
    with _about_check(check):
        test = margin_of(assay, one, other, check.metric, check.bound, tradeoff=at)
    d, what = test.difference, "E" if check.metric == "unified" and order_of(assay).priced else _what(check, assay)
    found = f"{what}, {one} minus {other}: {why_beyond(d, check.bound, test.limited_by)}"
    if test.pvalue_no_worse <= test.alpha:
        return Outcome(text=check.text)
    if d.low > check.bound and test.pvalue_difference <= test.alpha:  # as the tests of all pairs tell
        return Outcome(failed=(f"Check {check.text} failed: {found}.",), text=check.text)
    return Outcome(unclear=(f"Check {check.text} cannot tell: {found}.",), text=check.text)


def _what(check: CheckTerm, assay: "Assay") -> str:
    """The name of what is compared."""
    if check.metric == "unified" and not order_of(assay).priced:
        return loss_name(assay)
    return "error rate" if check.metric == "accuracy" else check.metric


def _compared(
    check: Check, against: CheckTerm, rows: list[dict[str, Any]], other: dict[str, Any], *, on_intervals: bool
) -> Outcome:
    """Which models fail a check against another term."""
    holds = {True: [], False: [], None: []}  # type: dict[bool | None, list[dict[str, Any]]]
    for row in rows:
        compare = _COMPARISONS[check.comparison]
        ends = [_ends(term, one, on_intervals=on_intervals) for term, one in ((check, row), (against, other))]
        at_ends = {bool(compare(a, b)) if not math.isnan(a + b) else None for a in ends[0] for b in ends[1]}
        holds[at_ends.pop() if len(at_ends) == 1 else None].append(row)
    second = _finding(against, other)
    return Outcome(
        failed=tuple(f"Check {check.text} failed: {_finding(check, row)}, and {second}." for row in holds[True]),
        unclear=tuple(f"Check {check.text} cannot tell: {_finding(check, row)}, and {second}." for row in holds[None]),
        text=check.text,
    )


def _ends(term: CheckTerm, row: dict[str, Any], *, on_intervals: bool) -> tuple[float, ...]:
    """What is compared of a finding: one number, or both ends of its interval."""
    if term.limit is not None or not on_intervals:
        return (row[term.limit or "estimate"],)
    return row["low"], row["high"]


def outcome_of_rows(
    check: Check, rows: list[dict[str, Any]], model_names: Sequence[str], *, on_intervals: bool = False
) -> Outcome:
    """Which models fail a check, from the rows that it is about: one for each model, or for each of its scores.

    Parameters
    ----------
    check : Check
    rows : list of dict
        With the fields model, score, estimate, low, high, level and notes.
    model_names : sequence of str
        All models, of which those without a row are named.
    on_intervals : bool
        As in `outcome_of`.
    """
    holds = {True: [], False: [], None: []}  # type: dict[bool | None, list[dict[str, Any]]]
    undefined = [row for row in rows if math.isnan(row["estimate"])]
    for row in (row for row in rows if not math.isnan(row["estimate"])):
        holds[_holds(check, row, on_intervals=on_intervals)].append(row)
    # one of several models may be left out, but not all of them, nor the one that is asked for
    needed = check.model is not None or len(undefined) == len(rows)
    without = _undefined(check, model_names, undefined) if undefined or not rows else ()
    return Outcome(
        left_out=() if needed else _left_out(check, model_names, rows),
        failed=tuple(f"Check {check.text} failed: {_finding(check, row)}." for row in holds[True]),
        unclear=(
            *(without if needed else ()),
            *(f"Check {check.text} cannot tell: {_finding(check, row)}." for row in holds[None]),
        ),
        text=check.text,
    )


# -- comparing --------------------------------------------------------------------------------------------------------


def _holds(check: Check, row: dict[str, Any], *, on_intervals: bool) -> bool | None:
    """Whether the comparison holds; None where an interval cannot tell. A p-value has no interval, and is compared."""
    compare = _COMPARISONS[check.comparison]
    if check.limit is not None:
        limit = row[check.limit]
        return None if math.isnan(limit) else bool(compare(limit, check.bound))
    if not on_intervals or check.metric == OF_MEASURES:
        return bool(compare(row["estimate"], check.bound))
    ends = row["low"], row["high"]
    if any(map(math.isnan, ends)):
        return None
    at_ends = {bool(compare(end, check.bound)) for end in ends}
    return at_ends.pop() if len(at_ends) == 1 else None


def _left_out(check: Check, model_names: Sequence[str], rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """One sentence for every model that a check of any model says nothing about, with the reason."""
    reasons = {row["model"]: reason(row["notes"]) for row in rows if math.isnan(row["estimate"])}
    known = {row["model"] for row in rows}
    reasons |= {name: f"it has no {check.score or check.metric}" for name in model_names if name not in known}
    return tuple(f"Check {check.text} leaves {name} out: {why}." for name, why in reasons.items())


def _undefined(check: Check, model_names: Sequence[str], rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """The sentence that what is checked is undefined, with the reason."""
    names = list(dict.fromkeys(row["model"] for row in rows)) or model_names
    why = listed(list(dict.fromkeys(reason(row["notes"]) for row in rows))) or NO_SCORE
    return (
        f"Check {check.text} cannot tell: {check.metric} of {listed_names(names, most=SHOWN)} is undefined ({why}).",
    )


def _finding(check: CheckTerm, row: dict[str, Any]) -> str:
    """The finding that was compared, with its interval."""
    value, low, high = (significant(row[key], DIGITS) for key in ("estimate", "low", "high"))
    interval = ", without an interval"
    if math.isfinite(row["low"]):
        how = f"{level_text(row['level'])} interval {low} to {high}{row.get('adjusted', '')}"
        interval = f" ({how})" if row["low"] != row["high"] else ""
    score = row["score"] if check.metric == OF_MEASURES else check.score
    what = row.get("what", check.metric) if score is None else f"{check.metric} of {score}"
    return f"{what} of {row['model']} is {value}{interval}"


# -- choosing what is compared ----------------------------------------------------------------------------------------


def _rows_of(check: CheckTerm, assay: "Assay") -> list[dict[str, Any]]:
    """What a term is of: one row for each model, or that of a difference."""
    if check.model is None or check.model in assay.model_names or "-" not in check.model:
        return _rows(check, assay)
    one, other = _pair(check, assay, "-")
    at = _tradeoff_of_pair(check, assay)
    if check.metric in RANKING_METRICS and check.score is None:
        known = listed(list(assay.uncertainty_names(one)))
        rule, remedy = f"{check.metric} is known for the scores {known}", f"write {check.metric}@SCORE"
        fail("--fail-if", rule, f"got {check.text!r}", remedy, code="choice")
    with _about_check(check):
        d = difference_of(assay, one, other, check.metric, tradeoff=at, score=check.score)
    ends = {"estimate": float(d), "low": d.low, "high": d.high, "level": d.level, "notes": d.notes}
    what = loss_name(assay) if check.metric == "unified" and not order_of(assay).priced else check.metric
    words = {"what": what, "adjusted": ", adjusted for all pairs"}
    return [{"model": f"{one} − {other}", "score": check.score, **words, **ends}]


def _pair(check: CheckTerm, assay: "Assay", between: str) -> tuple[str, str]:
    """The two models that a subject names."""
    text, names = check.model or "", assay.model_names
    cuts = [i for i, letter in enumerate(text) if letter == between]
    found = [(a, b) for i in cuts if (a := text[:i].strip()) in names and (b := text[i + 1 :].strip()) in names]
    if len(found) != 1:
        many = f"{text!r} can be cut in {len(found)} ways" if found else f"{check.text!r} names {text!r}"
        got = f"the models are {', '.join(map(named, names))}"
        fail("--fail-if", many, got, f"name two of them, with one {between!r} between them", code="choice")
    return found[0]


def _tradeoff_of_pair(check: CheckTerm, assay: "Assay") -> float:
    """λ of a difference of E: the one stated; of a demand, and where no model has a set and E is the same at all λ, any."""
    unified = check.metric == "unified"
    if (
        unified
        and order_of(assay).priced
        and check.tradeoff is None
        and not (isinstance(check, Check) and check.demand)
    ):
        fail("--fail-if", "E depends on λ", f"got {check.text!r}", "write unified@0.5, for example", code="choice")
    if (check.tradeoff is not None and not unified) or (
        check.score is not None and check.metric not in RANKING_METRICS
    ):
        rule = f"{check.metric} does not depend on {'λ' if check.score is None else 'a score'}"
        fail("--fail-if", rule, f"got {check.text!r}", "leave @ out", code="conflict")
    return DEFAULT_TRADEOFF if check.tradeoff is None else check.tradeoff


@contextmanager
def _about_check(check: CheckTerm) -> Iterator[None]:
    """Say in errors that they are about a check."""
    try:
        yield
    except InputError as problem:
        got = f"{problem.got}, in {check.text!r}"
        raise problem.replace(parameter="--fail-if", rule=f"{problem.parameter} {problem.rule}", got=got) from problem


def _rows(check: CheckTerm, assay: "Assay") -> list[dict[str, Any]]:
    """What the check compares, over all runs; nothing where no model has a score."""
    if check.model is not None and check.model not in assay.model_names:
        fail(
            "--fail-if",
            f"{check.text!r} names the model {check.model!r}",
            f"the models are {', '.join(map(named, assay.model_names))}",
            "choose one of them",
            code="choice",
        )
    rows = [row for row in assay.rows("findings") if row["run"] == "all" and row["model"] in assay.model_names]
    known = list(dict.fromkeys(row["metric"] for row in rows))
    if check.metric in RANKING_METRICS and check.metric not in known:
        return []
    if check.metric not in known:
        fail(
            "--fail-if",
            f"{check.text!r} needs a metric of the findings ({', '.join(known)})",
            "",
            "choose one of them",
            code="choice",
        )
    if check.metric == OF_MEASURES and check.limit is not None:
        fail(
            "--fail-if",
            "a p-value has no interval",
            f"got {check.text!r}",
            f"leave {check.limit}() out",
            code="conflict",
        )
    rows = [row for row in rows if row["metric"] == check.metric and check.model in (None, row["model"])]
    return _at_tradeoff(_of_score(rows, check), check, order_of(assay).priced)


def _of_score(rows: list[dict[str, Any]], check: CheckTerm) -> list[dict[str, Any]]:
    """Rows of the score asked for, where a metric is found for several scores."""
    known = list(dict.fromkeys(row["score"] for row in rows))
    if check.metric == OF_MEASURES and check.score is None:
        return rows
    if check.metric not in RANKING_METRICS and check.metric != OF_MEASURES:
        if check.score is not None:
            fail(
                "--fail-if",
                f"{check.metric} is not found for single scores",
                f"got {check.text!r}",
                "write a number for λ" if not math.isnan(rows[0]["tradeoff"]) else "leave @ out",
                code="conflict",
            )
        return rows
    if check.score not in known:
        scores = "scores" if check.metric in RANKING_METRICS else "measures"
        fail(
            "--fail-if",
            f"{check.metric} is known for the {scores} {', '.join(known)}",
            f"got {check.text!r}",
            f"write {check.metric}@{known[0]}",
            code="choice",
        )
    return [row for row in rows if row["score"] == check.score]


def _at_tradeoff(rows: list[dict[str, Any]], check: CheckTerm, priced: bool) -> list[dict[str, Any]]:
    """Rows at the λ asked for, where a metric depends on λ; where no model has a set (`priced`), E is the same at all λ."""
    known = list(dict.fromkeys(row["tradeoff"] for row in rows))
    if math.isnan(known[0]):
        if check.tradeoff is not None:
            fail(
                "--fail-if",
                f"{check.metric} does not depend on λ",
                f"got {check.text!r}",
                "leave @ out",
                code="conflict",
            )
        return rows
    if check.tradeoff is None and (len(known) == 1 or not priced):
        return [row for row in rows if row["tradeoff"] == known[0]]
    if check.tradeoff is None or not any(math.isclose(check.tradeoff, at) for at in known):
        fail(
            "--fail-if",
            f"{check.metric} is known at λ = {', '.join(map(tradeoff, known))}",
            f"got {check.text!r}",
            f"write {check.metric}@{known[0]:g}, or ask for that λ by --tradeoff",
            code="choice",
        )
    return [row for row in rows if math.isclose(check.tradeoff, row["tradeoff"])]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


# `--fail-if` for `gain`: exit 1 if a check such as `correlation<0.05` holds for any estimate.


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
    """Which models fail a check on the gain."""
    if check.demand or check.against is not None:
        rule, remedy = "a gain is compared with a number", "write for example 'correlation<0.05'"
        fail("--fail-if", rule, f"got {check.text!r}", remedy, code="conflict")
    for given, known, what in (
        (check.metric, list(GAIN_METRICS), "the metric"),
        (check.model, [one.method for one in results], "the model"),
        (check.score, [one.score for one in results], "the score"),
    ):
        names = list(dict.fromkeys(known))
        if given is not None and given not in names:
            fail(
                "--fail-if",
                f"{check.text!r} names {what} {given!r}",
                f"those known are {listed(names)}",
                "choose one of them",
                code="choice",
            )
    if check.tradeoff is not None:
        fail(
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
    if not rows:
        fail(
            "--fail-if",
            f"{check.text!r} cannot be checked",
            _without_rows(check, results),
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


# What `report`, `rank` and `demo` share: the assay, the checks on it, and the exit code.

CHECK_FAILED, CANNOT_TELL = 1, 3


def steps_of(request: AssayRequest) -> int:
    """Steps of a progress bar: every file is read, scored, scaled and its calibration tested; then come those of the whole."""
    return 4 * sum(len(paths) for paths in model_files(request.models).values()) + len(STAGES) + 2


def judge(
    assay: Assay, checks: Sequence[Check], say: Callable[[str], None], *, on_intervals: bool
) -> tuple[Outcome, ...]:
    """Outcomes of the checks on an assay. Everything that can be refused is refused here, before anything is printed."""
    say("verdict")
    outcomes = tuple(outcome_of(check, assay, on_intervals=on_intervals) for check in checks)
    assay.verdict()
    return outcomes


def end(outcomes: Sequence[Outcome]) -> None:
    """Report the models left out, failures and unclear checks, and exit with the code of the worst."""
    for outcome in outcomes:
        for sentence in outcome.sentences():
            complain(sentence)
    if any(outcome.failed for outcome in outcomes):
        raise typer.Exit(CHECK_FAILED)
    if any(outcome.unclear for outcome in outcomes):
        raise typer.Exit(CANNOT_TELL)


# What a command found, as Markdown for a pull request: verdict, rankings, and the outcome of each check.

SIGNS = {"pass": "✅", "fail": "❌", "cannot tell": "❔"}


def check_summary(path: Path, inputs: Sequence[Path], page: Path | None = None) -> None:
    """Refuse a file that could not be written, or would replace an input or the page."""
    check_text(path, inputs, option="--markdown")
    if page is not None:
        check_text(path, [page], option="--markdown")


def write_summary(
    path: Path,
    assay: Assay,
    outcomes: Sequence[Outcome],
    *,
    tradeoffs: Sequence[float] | None = None,
    command: str = "",
    page: Path | None = None,
) -> None:
    """Write `markdown_summary` to a file, which is replaced."""
    text = markdown_summary(assay, outcomes, tradeoffs=tradeoffs, command=command, page=page)
    with whole_file(path) as stream:
        stream.write(text.encode())


def markdown_summary(
    assay: Assay,
    outcomes: Sequence[Outcome],
    *,
    tradeoffs: Sequence[float] | None = None,
    command: str = "",
    page: Path | None = None,
) -> str:
    """Verdict, checks, metrics, rankings and warnings as Markdown that can be appended to another text.

    Parameters
    ----------
    assay : Assay
    outcomes : sequence of Outcome
        Of the checks, in their order.
    tradeoffs : sequence of float, optional
        λ of the rankings; the default one otherwise.
    command : str
        The command line that made it.
    page : Path, optional
        The page with everything, which is linked by its name.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.1, 0.9]])}, [0, 1], calibration=())
    >>> print(markdown_summary(a, [Outcome(text="accuracy<0.9")]).splitlines()[0])
    ## Uncertainty of m
    """
    rankings = [assay.ranking(at) for at in tradeoffs] if tradeoffs else [assay.ranking()]
    sentences = [f"**{markdown_text(text)}**" for text in assay.headline()]
    parts = [f"## Uncertainty of {markdown_text(listed_names(assay.model_names))}", " ".join(sentences)]
    if outcomes:
        parts.append(_checks(outcomes))
    parts.append(assay.metrics().to_markdown())
    for ranking in rankings:
        heading = [f"### Ranking at λ = {tradeoff(ranking.tradeoff)}"] if len(rankings) > 1 else []
        parts += [*heading, ranking.to_markdown()]
    parts += markdown_of_lenses(assay)
    if assay.warnings:
        cautions = "\n".join(f"* {markdown_text(note.text)}" for note in assay.warnings)
        parts.append(f"<details><summary>Warnings</summary>\n\n{cautions}\n\n</details>")
    if page is not None:
        parts.append(f"Everything is on the page [{markdown_text(page.name)}]({quote(os.fsencode(page.name))}).")
    if command:
        parts.append(f"Made by {_code(command)}.")
    return "\n\n".join(parts) + "\n"


def _checks(outcomes: Sequence[Outcome]) -> str:
    rows = []
    for outcome in outcomes:
        said = markdown_text(" ".join(_without_check(sentence, outcome) for sentence in outcome.sentences()))
        rows.append(f"| {SIGNS[outcome.word]} {outcome.word} | {markdown_text(outcome.text)} | {said} |")
    return "\n".join(["| outcome | fails if | findings |", "| :-- | :-- | :-- |", *rows])


def _without_check(sentence: str, outcome: Outcome) -> str:
    """The sentence without the words of the check, which has a column."""
    return sentence.removeprefix(f"Check {outcome.text} ")


def _code(text: str) -> str:
    """Text as code, between more backticks than it has in a row."""
    text = visible(" ".join(text.split()))
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * (longest + 1)
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"
