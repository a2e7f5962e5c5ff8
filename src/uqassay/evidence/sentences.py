"""The verdict of an assay in words: headline, rankings, margins, calibration."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from uqassay.calibration.mixtures import independence
from uqassay.calibration.one_classifier import ONE_SIDE, PROPERTIES, SURE, UPPER_ALONE, is_off, property_of
from uqassay.credal.distances import DISTANCES
from uqassay.errors import InputError
from uqassay.evidence.answer import Answer, Recommendation, Stretch, answer_of
from uqassay.evidence.calibration import JudgedTest, judged_tests, point_models
from uqassay.evidence.claims import Claim
from uqassay.evidence.data import Judged, ModelCalibration
from uqassay.evidence.excess import failing_at_most
from uqassay.evidence.lens import all_claims
from uqassay.evidence.order import LEAST, inwards
from uqassay.evidence.ranking import lowest_of, ranked_at, scale_of_tradeoff
from uqassay.evidence.scale import scale_check_of
from uqassay.evidence.sets import covered_less
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.measures import named_measure
from uqassay.text import (
    ABSENT,
    count,
    counted,
    estimate_text,
    interval,
    level_text,
    listed,
    listed_names,
    named,
    number,
    percent,
    percent_interval,
    pvalue_text,
    sentence,
    share_of_draws,
    significant,
    tradeoff,
    visible,
)

if TYPE_CHECKING:
    from uqassay.evidence.ranking import Ranked
    from uqassay.evidence.scoring import Settings
    from uqassay.statistics import Estimate

__all__ = [
    "PRICE",
    "advice",
    "calibration_sentence",
    "calibration_sentences",
    "claim",
    "condition",
    "could_have_shown",
    "details",
    "headline",
    "holds_where",
    "margin_sentences",
    "measure_label",
    "none_clauses",
    "range_text",
    "rejection_sentence",
    "verdict",
    "why_beyond",
    "within_margin",
]


# Words for models within a margin, and for the differences that a test set could have shown.

NAMES_IN_MARGINS = 3
ROUNDING = 1e-12  # smaller differences are those of models that agree


def could_have_shown(differences: Sequence[float]) -> str:
    """The smallest true differences that a test set shows with probability .8, as a clause; empty where there is none to tell.

    Examples
    --------
    >>> could_have_shown([0.01234]), could_have_shown([0.0123, 0.0301]), could_have_shown([float("inf")])
    ('a true difference of 0.012 would have been found 4 times in 5', 'true differences of 0.012 to 0.030 would have been \
found 4 times in 5', 'no difference could have been found')
    """
    known = [d for d in differences if not np.isnan(d) and d > ROUNDING]
    if not known:
        return ""
    low, high = min(known), max(known)
    if np.isinf(low):
        return "no difference could have been found"
    least, most = significant(low, 2), significant(high, 2)
    found = "would have been found 4 times in 5"
    if np.isinf(high):
        return f"at best a true difference of {least} {found}"
    return (
        f"a true difference of {least} {found}" if least == most else f"true differences of {least} to {most} {found}"
    )


def within_margin(names: Sequence[str], margin: float, pvalues: Sequence[float]) -> str:
    """Which models are shown to be no worse by more than the margin, as a clause.

    Examples
    --------
    >>> within_margin(["b"], 0.01, [0.003]), within_margin(["b", "c"], 0.01, [0.003, 0.02])
    ('b is no worse by more than 0.01 (p = .003, adjusted for all models)', \
'b and c are no worse by more than 0.01 (p ≤ .02, adjusted for all models)')
    """
    who = f"{listed_names(names, most=NAMES_IN_MARGINS)} {'is' if len(names) == 1 else 'are'}"
    p = pvalue_text(max(pvalues), "=" if len(pvalues) == 1 else "≤")
    return f"{who} {no_worse_than(margin)} ({p}, adjusted for all models)"


def no_worse_than(margin: float) -> str:
    """The claim on one model.

    Examples
    --------
    >>> no_worse_than(0.01)
    'no worse by more than 0.01'
    """
    return f"no worse by more than {margin:g}"


def margin_sentences(rows: "Sequence[Ranked]", settings: "Settings") -> list[str]:
    """Below a ranking: which models are no worse than the first by more than the margin, and what could have been shown."""
    alpha, said = 1 - settings.level, []
    within = [r for r in rows if r.rank not in (None, 1) and r.pvalue_no_worse <= alpha]
    if within and settings.margin is not None:
        names, pvalues = [r.model for r in within], [r.pvalue_no_worse for r in within]
        said.append(f"{within_margin(names, settings.margin, pvalues)}.")
    level_with = [r for r in rows if r.rank not in (None, 1) and r.detectable > ROUNDING and r not in within]
    if level_with:
        each = [
            f"{named(r.model)} {'none' if np.isinf(r.detectable) else significant(r.detectable, 2)}" for r in level_with
        ]
        said.append(
            f"True differences found 4 times in 5 in a test set like this: {listed(each, most=NAMES_IN_MARGINS)}."
        )
    return said


# The verdict in words: the headline, then one sentence for each further kind of claim.

NAMES_IN_VERDICT, SHOWN_PARTS = 3, 3
OBSTACLES = {  # of a difference below a margin, by what limits its test
    "unseen": "losses too rare to be seen here could be greater",
    "skewness": "most of it comes from a few large losses",
    "runs": "the training runs are few",
    "": "this interval is of the two alone, not adjusted for all models",
}
FEWEST_DRAWS = 100  # of resamples whose share is worth a sentence
USUAL_TRADEOFFS = (0.01, 2.0)  # with KL; a default λ that amounts to one beyond them is remarked on
BASELINES_IN_WORDS = {"vacuous": "saying nothing at all", "class-prior": "the class frequencies"}
METRICS = {"brier": "Brier score", "accuracy": "accuracy"}


def verdict(assay: Judged) -> tuple[str, ...]:
    """A few plain sentences with numbers, for the page and the terminal.

    Parameters
    ----------
    assay : Assay

    Returns
    -------
    tuple of str
        The headline, then `details`. Names stand as they were given, but for marks that would turn the direction of the text
        around.

    Examples
    --------
    >>> import numpy as np
    >>> import uqassay as uq
    >>> y = np.arange(2000) % 2
    >>> right, wrong = 0.8 * np.eye(2)[y] + 0.1, 0.8 * np.eye(2)[1 - y] + 0.1
    >>> a = uq.assay({"sure": uq.Point(right), "blind": uq.Point(wrong)}, y, calibration=())
    >>> for sentence in a.verdict()[:2]:
    ...     print(sentence)
    Choose sure.
    The lowest log loss, 0.105, is that of sure, the best of the 2 models (p < .001, adjusted for all pairs).
    """
    return (*headline(answer_of(assay)), *details(assay))


def details(assay: Judged, *, without: Collection[str] = ()) -> tuple[str, ...]:
    """The sentences after the headline, each from its claims; those without a claim are left out.

    Parameters
    ----------
    assay : Assay
    without : collection of str
        Sentences that are told elsewhere: "best", "conditions", "groups", "refusal".

    Returns
    -------
    tuple of str
        At the default λ the best model, what cannot be told from it and what is worse, adjusted for all pairs; why more cannot
        be told, and what groups leave open; models with the same losses; where each of several choices is lowest; the
        baselines; the parts of the test set in which another model is better; the share of resamples; refusal; where E rewards
        width; a class that sets hold less often; scores that rank backwards; the scale of λ with another distance than KL.
        Calibration has sentences of its own, `calibration_verdict.calibration_sentence`, which the page and the terminal show
        beside its tests.
    """
    claims = all_claims(assay)
    of: dict[str, list[Claim]] = {}
    for claim in claims:
        of.setdefault(claim.kind, []).append(claim)
    told: dict[str, str] = {}
    if not any(c.limited_by == "infinite" and c.kind == "cannot-tell" for c in claims):
        told = {
            "best": _best(assay, of),
            "worse": _worse(answer_of(assay), of),
            "margin": _beyond_margin(of),
            "unseen": _unseen(of),
            "skewed": _skewed(of),
            "conditions": _choices_on_other_inputs(answer_of(assay)),
            "inputs": _order_on_other_inputs(answer_of(assay), of),
            "groups": _in_groups(of),
            "same": _same(of),
            "in-turn": _lowest_in_turn(answer_of(assay)),
            "baselines": _baselines(assay, of),
            "parts": _parts(answer_of(assay), of),
            "resamples": _resamples(assay, of),
            "refusal": _refusal(assay, of),
            "width": scale_check_of(assay, DEFAULT_TRADEOFF).sentence() if "wider-better" in of else "",
        }
    told |= {"covered": covered_less(of.get("covered-less", [])), "backward": _backward(of), "scale": _scale(assay)}
    return tuple(visible(text) for name, text in told.items() if text and name not in without)


# -- the order at the default λ -------------------------------------------------------------------------------------------


def _at_default(claims: Sequence[Claim]) -> list[Claim]:
    return [c for c in claims if c.low == c.high == DEFAULT_TRADEOFF]


def _at(answer: Answer) -> str:
    """ " at λ = 0.5" where that matters, else nothing."""
    return f" at λ = {tradeoff(DEFAULT_TRADEOFF)}" if answer.priced else ""


def _there(answer: Answer, text: str) -> str:
    """A sentence about the default λ."""
    return f"At λ = {tradeoff(DEFAULT_TRADEOFF)} {text}" if answer.priced else text


def _best(assay: Judged, of: dict[str, list[Claim]]) -> str:
    """The models with the lowest mean at the default λ, and which models cannot be told from them."""
    rows = ranked_at(assay, DEFAULT_TRADEOFF)
    row = next(r for r in rows if r.rank == 1)
    answer, lowest = answer_of(assay), lowest_of(rows)
    if len(assay.candidates) == 1:
        mean = f"the {answer.loss} of {row.model}, the only model, is {_with_interval(row.estimate)}"
        return sentence([_there(answer, mean)])
    # without the model's own interval, which misses the mean of a model that was chosen as the lowest
    mean, who = number(float(row.estimate)), listed_names(lowest, most=NAMES_IN_VERDICT)
    text = f"the lowest {answer.loss}, {mean}, is that of {who}"
    if answer.kind == "one-unit":  # whose headline has the lowest of models and baselines
        has = f"{who} {_has(lowest)} the lowest {answer.loss}"
        of_models = _there(answer, f"{has} of the models, {mean}") if answer.priced else f"of the models, {has}, {mean}"
        return sentence([of_models]) if answer.baselines else ""
    if answer.priced:
        text = _there(answer, f"{who} {_has(lowest)} the lowest {answer.loss}, {mean}")
    best, top = _at_default(of.get("best", [])), _at_default(of.get("top-group", []))
    if best:
        p = pvalue_text(best[0].pvalue)
        of_all = f"the best of the {len(assay.candidates)} models ({p}, adjusted for all pairs)"
        return sentence([f"{text}, and is {of_all}" if answer.priced else f"{text}, {of_all}"])
    pvalues = dict(top[0].facts["pvalues"]) if top else {}
    near = {c.models[0]: c for c in _at_default(of.get("no-worse", [])) if c.models[0] in pvalues}
    clauses = [text]
    if near:
        margin = next(iter(near.values())).facts["margin"]
        clauses.append(within_margin(list(near), margin, [c.pvalue for c in near.values()]))
    rest = {name: p for name, p in pvalues.items() if name not in near}
    if not rest:
        return sentence(clauses)
    least, others = min(rest.values()), [name for name in rest if name not in lowest]
    p = pvalue_text(least, "=" if len(rest) == 1 or least > 0.99 else "≥")
    if others:
        clauses.append(f"{listed_names(others, most=NAMES_IN_VERDICT)} could be as good ({p}, adjusted for all pairs)")
    else:
        clauses.append(f"which is better cannot be told ({p}, adjusted for all pairs)")
    shown = could_have_shown([top[0].facts["detectable"][name] for name in rest])
    return sentence([*clauses, *([shown] if shown else [])])


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _worse(answer: Answer, of: dict[str, list[Claim]]) -> str:
    """The models that are worse than the winner at the default λ, then those that are only shown to be worse than another."""
    found = _at_default(of.get("worse", []))
    infinite = [name for c in found if c.limited_by == "infinite" for name in c.models]
    finite = [c for c in found if c.estimate is not None]
    clauses: list[str] = []
    for better in dict.fromkeys(c.others[0] for c in finite):
        mine = [c for c in finite if c.others[0] == better]
        by = [f"{named(c.models[0])} by {_gap(c)}" for c in mine[:NAMES_IN_VERDICT]]
        if len(mine) > NAMES_IN_VERDICT + 1:
            by.append(f"{len(mine) - NAMES_IN_VERDICT} others by more")
        elif len(mine) > NAMES_IN_VERDICT:
            by.append(f"{named(mine[-1].models[0])} by {_gap(mine[-1])}")
        p = pvalue_text(max(c.pvalue for c in mine), "=" if len(mine) == 1 else "≤")
        where = _at(answer) if not clauses else ""
        clauses.append(f"worse than {better}{where}: {listed(by)} ({p}, adjusted for all pairs)")
    if finite:
        near = {c.models[0]: c for c in _at_default(of.get("no-worse", []))}
        both = [near[c.models[0]] for c in finite if c.models[0] in near]
        if both:
            names = [c.models[0] for c in both]
            clauses.append(within_margin(names, both[0].facts["margin"], [c.pvalue for c in both]))
    if infinite:
        clauses.append(f"the {answer.loss} of {listed_names(infinite, most=NAMES_IN_VERDICT)} is infinite")
    return sentence(clauses)


def _gap(claim: Claim) -> str:
    difference = claim.estimate
    assert difference is not None
    same = any(note.code == "no-width" for note in difference.notes)
    return f"{number(float(difference))}{' in every case' if same else ''}"


def _beyond_margin(of: dict[str, list[Claim]]) -> str:
    """The models that are not shown to be no worse than the winner by more than the margin that was asked for."""
    found = [c for c in of.get("cannot-tell", []) if c.limited_by == "margin" and c.estimate is not None]
    clauses = []
    for claim in found[:NAMES_IN_VERDICT]:
        d, margin = claim.estimate, claim.facts["margin"]
        assert d is not None
        one, other = named(claim.models[0]), named(claim.others[0])
        why = why_beyond(d, margin, claim.facts["why"])
        clauses.append(f"that {one} is no worse than {other} by more than {margin:g} is not shown: {why}")
    if len(found) > NAMES_IN_VERDICT:
        clauses.append(f"nor is it of {counted(len(found) - NAMES_IN_VERDICT, 'other model')}")
    return sentence(clauses)


def why_beyond(difference: "Estimate", margin: float, limited_by: str) -> str:
    """Why a mean is not shown to be above another one by less than the margin.

    Examples
    --------
    >>> from uqassay import Estimate
    >>> d = Estimate(0.011, low=-0.024, high=0.047, level=0.9, n=50, method="student-t")
    >>> why_beyond(d, 0.02, ""), why_beyond(d, 0.1, "unseen")
    ('the difference is 0.011 (−0.024 to 0.047, 90 % interval)', 'the difference is 0.011 (−0.024 to 0.047, 90 % interval), \
but losses too rare to be seen here could be greater')
    """
    if np.isnan(difference.low):
        return f"the difference is {number(float(difference))}, and there is no test"
    ends = f"{number(difference.low)} to {number(difference.high)}, {level_text(difference.level)} interval"
    text = f"the difference is {number(float(difference))} ({ends})"
    if difference.high >= margin:
        return text
    return f"{text}, but {OBSTACLES[limited_by]}"  # what keeps it from being shown is not in the interval


def _unseen(of: dict[str, list[Claim]]) -> str:
    """What losses that have not been seen could reverse, and which bounded losses tell more."""
    claim = next((c for c in of.get("cannot-tell", []) if c.limited_by == "unseen"), None)
    if claim is None:
        return ""
    distance, n = DISTANCES[claim.facts["distance"]], counted(claim.facts["instances"], "case")
    names = listed_names(claim.others, most=NAMES_IN_VERDICT)
    text = (
        f"in these {n} {claim.models[0]} does better than {names}, but losses as great as these predictions allow, and too "
        f"rare to be seen in {n}, could reverse that"
    )
    telling: dict[str, list[str]] = {}  # what the bounded losses tell, and which of them
    for name, found in claim.facts["bounded"].items():
        if found["rest"]:
            rest = listed_names(found["rest"], most=NAMES_IN_VERDICT)
            told = f"{rest} {'is' if len(found['rest']) == 1 else 'are'} not as good"
            telling.setdefault(told, []).append(f"the {METRICS[name]}")
    told_by = [f"by {listed(names)} {told}" for told, names in telling.items()]
    remedy = ["a greater floor or a bounded distance, such as brier, can tell more"] if distance.floored else []
    return sentence([text, *told_by, *remedy])


def _skewed(of: dict[str, list[Claim]]) -> str:
    claim = next((c for c in of.get("cannot-tell", []) if c.limited_by == "skewness"), None)
    if claim is None:
        return ""
    names = listed_names(claim.others, most=NAMES_IN_VERDICT)
    return f"Most of the difference between {claim.models[0]} and {names} comes from a few large losses."


def _choices_on_other_inputs(answer: Answer) -> str:
    """How seldom models may fail on inputs unlike those seen for choices at the ends of their ranges."""
    clauses, told = [], _strictest(answer)
    for i, choice in enumerate(answer.choices):
        ends = _at_its_ends(choice)
        untold = choice.sure is None and i >= SHOWN_RANGES  # the headline has room for some of the choices
        if i < SHOWN_RANGES and told >= max(choice.cases.values(), default=0.0):
            continue
        if answer.priced and choice.cases and (ends or untold):
            where = ends or range_text(choice.low, choice.high)
            chosen = listed_names(choice.models, last="or", most=NAMES_IN_VERDICT)
            clauses.append(f"{where} the choice of {chosen} holds if {failing_at_most(choice.cases, answer.distance)}")
    return sentence(clauses)


def _order_on_other_inputs(answer: Answer, of: dict[str, list[Claim]]) -> str:
    """How seldom models may fail on inputs unlike those seen for the order at the default λ, where no choice says as much."""
    claim = next((c for c in of.get("cannot-tell", []) if c.limited_by == "inputs"), None)
    if claim is None:
        return ""
    at = DEFAULT_TRADEOFF
    here = [c for c in answer.choices if c.low <= at <= c.high and not (c.sure and c.sure[0] <= at <= c.sure[1])]
    cases = {
        name: n
        for name, n in claim.facts["cases"].items()
        if not any(name in c.cases and c.cases[name] >= n for c in here)
    }
    if not cases:
        return ""
    return sentence([f"{_at(answer)} the order holds if {failing_at_most(cases, claim.facts['distance'])}".strip()])


def _in_groups(of: dict[str, list[Claim]]) -> str:
    """What differences of losses without a usual bound rest on where instances come in groups."""
    claim = next((c for c in of.get("cannot-tell", []) if c.limited_by == "groups"), None)
    if claim is None:
        return ""
    n = counted(claim.facts["groups"], "group")
    who = f"{listed_names(claim.models, most=NAMES_IN_VERDICT)} {'is' if len(claim.models) == 1 else 'are'} better"
    return f"That {who} assumes that no group has huge losses throughout; {n} cannot rule that out."


def _same(of: dict[str, list[Claim]]) -> str:
    groups = [listed_names((*c.models, *c.others), most=NAMES_IN_VERDICT) for c in of.get("same", [])]
    return f"The same loss in every case: {'; '.join(groups)}." if groups else ""


def _lowest_in_turn(answer: Answer) -> str:
    """Where each of several models that cannot be told apart has the lowest mean."""
    clauses = []
    for choice in answer.choices:
        if len(choice.lowest) > 1:
            *before, (_, last) = choice.lowest
            each = [f"{named(name)} up to λ = {tradeoff(high)}" for high, name in before[:NAMES_IN_VERDICT]]
            where = range_text(choice.low, choice.high)
            clauses.append(f"{where} the lowest mean E is that of {', '.join(each)}, then that of {last}")
    return sentence(clauses)


# -- baselines, parts, resamples --------------------------------------------------------------------------------------------


def _baselines(assay: Judged, of: dict[str, list[Claim]]) -> str:
    """Where which baseline is better than every model, and which models are worse than one at the default λ."""
    answer, clauses, silent = answer_of(assay), [], False
    for claim in of.get("baseline-better", []):
        if not claim.facts.get("every_model") or claim.high <= LEAST:
            continue
        silent |= claim.low <= DEFAULT_TRADEOFF <= claim.high
        low, high = inwards(claim.low, claim.high)
        where = f"above λ = {tradeoff(low)} " if low > 0 else f"below λ = {tradeoff(high)} "
        if low == 0 and np.isinf(high):
            where = "at every λ " if answer.priced else ""
        whom = assay.model_names[0] if len(assay.candidates) == 1 else "every model"
        clauses.append(f"{where}{_named(claim.others)} {_do(claim.others)} better than {whom}")
    below: dict[tuple[str, ...], list[Claim]] = {}
    by_model: dict[str, list[Claim]] = {}
    for claim in _at_default(of.get("baseline-better", [])) if not silent else ():
        by_model.setdefault(claim.models[0], []).append(claim)
    for found in by_model.values():
        below.setdefault(tuple(c.others[0] for c in found), []).extend(found)
    for names, found in below.items():
        models = listed_names(list(dict.fromkeys(c.models[0] for c in found)), most=NAMES_IN_VERDICT)
        p = pvalue_text(max(c.pvalue for c in found), "=" if len(found) == 1 else "≤")
        both = " and ".join(BASELINES_IN_WORDS[name] for name in names)
        clauses.append(f"{_at(answer)} {both} {_do(names)} better than {models} ({p})".strip())
    return sentence(clauses)


def _named(baselines: Sequence[str]) -> str:
    return " or ".join(f"{BASELINES_IN_WORDS[name]} ({name})" for name in baselines)


def _do(baselines: Sequence[str]) -> str:
    return "do" if len(baselines) > 1 or baselines[0] == "class-prior" else "does"


def _parts(answer: Answer, of: dict[str, list[Claim]]) -> str:
    """The parts of the test set in which another model is better than the winner."""
    found = sorted(of.get("subgroup", []), key=lambda c: c.pvalue)
    if not found:
        return ""
    winner = found[0].others[0]
    each = [_in_part(c) for c in found[:SHOWN_PARTS]]
    if len(found) > SHOWN_PARTS:
        each.append(f"some model in {counted(len(found) - SHOWN_PARTS, 'more part')}")
    p = pvalue_text(max(c.pvalue for c in found), "=" if len(found) == len(found[0].models) == 1 else "≤")
    where = f"in {'a part' if len(found) == 1 else 'parts'} of the test set"
    adjusted = f"adjusted for all pairs of models in all {found[0].facts['parts']} parts"
    return sentence([f"better than {winner}{_at(answer)} {where}: {each[0]}", *each[1:], f"{p}, {adjusted}"])


def _in_part(claim: Claim) -> str:
    gap = f"by {'up to ' if len(claim.models) > 1 else ''}{number(float(claim.estimate or 0))}"
    part = f"where {claim.facts['by']} is {claim.facts['value']} ({counted(claim.facts['instances'], 'case')})"
    return f"{listed_names(claim.models, most=NAMES_IN_VERDICT)} {gap} {part}"


def _resamples(assay: Judged, of: dict[str, list[Claim]]) -> str:
    if assay.n_units == 1 or len(assay.candidates) == 1 or assay.settings.n_draws < FEWEST_DRAWS:
        return ""
    rows, answer = ranked_at(assay, DEFAULT_TRADEOFF), answer_of(assay)
    lowest = lowest_of(rows)
    won = sum(r.win_share for r in rows if r.model in lowest and r.win_share is not None)
    if len(lowest) == len(assay.candidates):
        return ""  # one of all models always has the lowest
    share = share_of_draws(won, assay.settings.n_draws, in_sentence=True)
    who = listed_names(lowest, last="or", most=NAMES_IN_VERDICT)
    text = f"In {share} of resamples {who} has the lowest {answer.loss}{_at(answer)}"
    unseen = any(c.limited_by == "unseen" for c in of.get("cannot-tell", []))
    return f"{text}; resamples show no losses that the test set lacks." if unseen else f"{text}."


# -- refusal, backward scores, the scale of λ -------------------------------------------------------------------------------


def _refusal(assay: Judged, of: dict[str, list[Claim]]) -> str:
    """What refusing the most uncertain instances does to the accuracy of the best model."""
    open_ = [c for c in of.get("cannot-tell", []) if c.limited_by == "refusal"]
    claim = next(iter([*of.get("refusal", []), *open_]), None)
    if claim is None or claim.estimate is None:
        return ""
    facts, gain = claim.facts, claim.estimate
    unsure = f"the {percent(1 - facts['coverage'], 0)} that {claim.models[0]} is most unsure of ({_score(claim)})"
    if claim.kind != "refusal":
        ends = interval(100 * gain.low, 100 * gain.high, 1)
        what = "lowers its accuracy" if round(100 * gain.high, 1) < 0 else "need not help: accuracy changes"
        return f"Refusing {unsure} {what} by {ends} points."
    before, after = (percent(facts[key], in_sentence=True) for key in ("accuracy_all", "accuracy_kept"))
    ends = percent_interval(facts["accuracy_kept_low"], facts["accuracy_kept_high"], in_sentence=True)
    if ends != ABSENT and len(assay.candidates) > 1:
        ends = f"{ends}, adjusted for the choice among {len(assay.candidates)} models"
    return f"Refuse {unsure} and its accuracy rises from {before} to {after}{'' if ends == ABSENT else f' ({ends})'}."


def _backward(of: dict[str, list[Claim]]) -> str:
    """The score that ranks the mistakes backwards at the greatest cost, and the number of others."""
    found = of.get("backward-score", [])
    if not found:
        return ""
    worst = min(found, key=lambda c: c.facts["gain"])
    refused = percent(1 - worst.facts["coverage"], 0)
    text = f"Do not refuse by the {_score(worst)} of {worst.models[0]}, which is lower where the model is wrong"
    if worst.facts["costs"]:
        low, high = -100 * worst.facts["gain_high"], -100 * worst.facts["gain_low"]
        lost = number(-100 * worst.facts["gain"], 1)
        text += f": refusing the {refused} most uncertain costs {lost} points of accuracy ({interval(low, high, 1)})"
    more = len(found) - 1
    return f"{text}; nor by {counted(more, 'other score')}, see the warnings." if more else f"{text}."


def _score(claim: Claim) -> str:
    return claim.metric.replace("-", " ")


def _scale(assay: Judged) -> str:
    """What the default λ amounts to in terms of KL, for which the usual λ are meant."""
    if not answer_of(assay).priced:
        return ""
    try:
        scale = scale_of_tradeoff(assay)
    except InputError:
        return ""
    least, most = USUAL_TRADEOFFS
    at = DEFAULT_TRADEOFF
    if scale <= 0 or not np.isfinite(scale) or least <= at / scale <= most:
        return ""
    return (
        f"With this distance λ = {tradeoff(at)} prices imprecision as λ = {tradeoff(at / scale)} does with KL; "
        f"the usual λ, up to {tradeoff(most)} with KL, end here at {tradeoff(most * scale)}."
    )


def _with_interval(estimate: "Estimate") -> str:
    return estimate_text(float(estimate), estimate.low, estimate.high, level=estimate.level)


# The headline of an assay: its answer in one or two sentences.

PRICE = "λ: how much a vague answer costs you, compared with a wrong one"
NAMES_IN_HEADLINE, SHOWN_RANGES = 3, 3
SHOWN_LENGTH = 60  # characters of the names of a list; more are counted


def headline(answer: Answer) -> tuple[str, ...]:
    """At most two sentences; marks of direction in names are replaced."""
    if answer.kind == "infinite":
        said = [f"No model has a finite {answer.loss}, so none can be chosen; give a floor above 0."]
    elif answer.kind == "one-unit":
        said = _one_unit(answer)
    else:
        said = [_choice(answer) if answer.choices else _no_choice(answer), _none_sentence(answer)]
    return tuple(visible(text) for text in said if text)


def condition(answer: Answer) -> str:
    """What the choices rest on, as the end of the sentence, which must not be quoted without it; else nothing.

    Examples
    --------
    >>> import uqassay as uq
    >>> y = [0, 1] * 9
    >>> a = uq.assay({"sure": uq.Point([[0.99, 0.01], [0.01, 0.99]] * 9)}, y, calibration=())
    >>> condition(a.answer())
    'unless a rare huge loss is missing from these 18 cases, too few to rule that out'
    """
    if answer.condition == "unseen":
        cases = f"th{'is' if answer.n_instances == 1 else 'ese'} {counted(answer.n_instances, 'case')}"
        return f"unless a rare huge loss is missing from {cases}, too few to rule that out"
    if answer.condition == "groups":
        return f"unless huge losses strike whole groups, which {counted(answer.n_units, 'group')} cannot rule out"
    return ""


def range_text(low: float, high: float, *, every: bool = False) -> str:
    """A range of λ in words; with `every` it says that all λ from the first on are meant.

    Examples
    --------
    >>> range_text(0.0, 0.25), range_text(0.25, 2.0), range_text(0.25, float("inf")), range_text(0.251, 0.252)
    ('for λ up to 0.25', 'for λ from 0.25 to 2', 'for λ from 0.25 on', 'for λ near 0.25')
    """
    of = "for every λ" if every else "for λ"
    if np.isinf(high):
        return "at every λ" if low == 0 else f"{of} from {tradeoff(low)} on"
    if tradeoff(low) == tradeoff(high):
        return f"for λ near {tradeoff(low)}"
    return f"for λ up to {tradeoff(high)}" if low == 0 else f"{of} from {tradeoff(low)} to {tradeoff(high)}"


# -- the choice ---------------------------------------------------------------------------------------------------------


def _choice(answer: Answer) -> str:
    choices = answer.choices
    shown = choices[:SHOWN_RANGES]
    most = NAMES_IN_HEADLINE if len(shown) == 1 else 1
    if len(answer.models) == 1 and not answer.baselines:
        return f"{answer.models[0]} is the only model, so there is nothing to choose."
    if len(answer.models) == 1:
        subject = "" if answer.priced else "the only model, "
        clauses = [
            f"{_where(answer, c)}{subject}{c.models[0]}{'' if answer.priced else ','} is worth using" for c in shown
        ]
    else:
        names = [listed_names(c.models, last="or", most=max(1, _fitting(c.models, most))) for c in shown]
        clauses = [
            f"{_where(answer, c)}{'' if k else 'choose '}{name}{_ties(answer, c, most) if len(shown) == 1 else _loose(c)}"
            for k, (c, name) in enumerate(zip(shown, names, strict=True))
        ]
    if len(choices) > len(shown):
        clauses.append(f"for greater λ the choice changes {counted(len(choices) - len(shown), 'more time')}")
    elif any(a.high < b.low for a, b in pairwise(choices)):
        clauses.append("in between it cannot be told which to choose")
    if strictest := _strictest(answer):
        who = "each of them" if len({name for c in shown for name in c.models}) > 1 else "it"
        rests_on = f"if {failing_at_most({who: strictest}, answer.distance)}"
    else:
        rests_on = ""
    rests_on = ", ".join(part for part in (rests_on, condition(answer)) if part)
    if rests_on:
        clauses = [f"{clauses[0]}, {rests_on}"] if len(clauses) == 1 else [*clauses, f"this holds {rests_on}"]
    return sentence(clauses)


def _strictest(answer: Answer) -> float:
    """1 over the share of other inputs on which the chosen models may fail, for all that the headline says."""
    shown = answer.choices[:SHOWN_RANGES]
    return max((n for c in shown if c.sure is None for n in c.cases.values()), default=0.0)


def _where(answer: Answer, choice: Recommendation) -> str:
    return f"{range_text(choice.low, choice.high)} " if answer.priced else ""


def holds_where(answer: Answer, choice: Recommendation) -> str:
    """For which λ a choice holds, how seldom its models may fail on inputs unlike those seen, and what else it rests on.

    What several choices rest on alike is not said of each of them.
    """
    where = range_text(choice.low, choice.high, every=True) if answer.priced else ""
    outside, rests = _at_its_ends(choice), ""
    if choice.cases and (choice.sure is None or outside):
        rests = f"if {failing_at_most(choice.cases, answer.distance)}"
    if rests and outside:
        where, rests = f"{where}; {outside} only {rests}", ""
    alone = condition(answer) if len(answer.choices) == 1 else ""
    return ", ".join(part for part in (where, rests, alone) if part)


def _at_its_ends(choice: Recommendation) -> str:
    """Where in its range a choice rests on inputs unlike those seen, if not everywhere."""
    if choice.sure is None:
        return ""
    (low, high), outside = choice.sure, []
    if low > choice.low:
        outside.append(f"below λ = {tradeoff(low)}")
    if high < choice.high:
        outside.append(f"above λ = {tradeoff(high)}")
    return " and ".join(outside)


def _fitting(names: Sequence[str], most: int) -> int:
    """How many of the names, at most `most`, have room."""
    lengths = np.cumsum([len(name) for name in names[:most]])
    return int((lengths <= SHOWN_LENGTH).sum())


def _ties(answer: Answer, choice: Recommendation, most: int) -> str:
    """Which other models could be as good as the chosen ones; by their number where they are many."""
    loose = (*choice.tied, *choice.partly)
    which = f"{'where each' if len(choice.lowest) > 1 else 'which'} is better cannot be told"
    parts = [which] if len(choice.models) > 1 else []
    if len(loose) > 1 and _fitting(loose, most) < len(loose):
        parts.append(_number_of(answer, choice))
        return f" ({'; '.join(parts)})"
    if choice.tied:
        parts.append(f"{listed_names(choice.tied)} could be as good")
    if choice.partly:
        parts.append(_at_some(choice))
    return f" ({'; '.join(parts)})" if parts else ""


def _loose(choice: Recommendation) -> str:
    """The same for one of several ranges, in few words; that each of several chosen models may be better, their "or" says."""
    loose = (*choice.tied, *choice.partly)
    if not loose:
        return ""
    if len(loose) == 1:
        return f" ({_at_some(choice) if choice.partly else f'{named(loose[0])} could be as good'})"
    return f" ({len(loose)} others could be as good{' in part' if choice.partly else ''})"


def _number_of(answer: Answer, choice: Recommendation) -> str:
    rest = len(answer.models) - len(choice.models)
    loose = len(choice.tied) + len(choice.partly)
    where = " at some of these λ" if choice.partly else ""
    return f"{f'{loose} of' if loose < rest else 'each of'} the {rest} others could be as good{where}"


def _at_some(choice: Recommendation) -> str:
    """Models that could be as good as the chosen ones at some λ; of a single one, where."""
    name, *others = choice.partly
    (low, high), *more = choice.told[name]
    if not others and not more and low <= choice.low:
        return f"above {tradeoff(high)} {name} could be as good"
    if not others and not more and high >= choice.high:
        return f"below {tradeoff(low)} {name} could be as good"
    return f"{listed_names(choice.partly)} could be as good at some of these λ"


def _no_choice(answer: Answer) -> str:
    if answer.kind == "none":
        return ""
    one = len(answer.models) == 1
    if not answer.priced:
        who = f"{answer.models[0]} is not" if one else "No model is"
        return f"{who} shown to be better than the class frequencies."
    subject = answer.models[0] if one else "any model"
    return f"At no λ is {subject} shown to be better than saying nothing and than the class frequencies."


# -- where no model is worth using ---------------------------------------------------------------------------------------


def _none_sentence(answer: Answer) -> str:
    """Where every model is worse than a baseline, and outside the choices where that cannot be told; or nothing."""
    if answer.kind == "none":
        one = len(answer.models) == 1
        if not answer.priced:
            whom = f"{answer.models[0]} is not" if one else "No model is"
            return f"{whom} worth using: giving the class frequencies is better."
        whom = answer.models[0] if one else "any model"
        return f"At no λ is {whom} worth using: saying nothing or giving the class frequencies is better."
    return sentence([text for _, text in none_clauses(answer)])


def none_clauses(answer: Answer) -> list[tuple[str, str]]:
    """The clauses of that sentence, each with the kind of the stretches that it is about: "none", "open"."""
    one = len(answer.models) == 1
    places = []
    for low, high in (one for one in answer.none if one[0] < answer.top):  # beyond, the claims say it
        if low == 0:
            places.append(f"below λ = {tradeoff(high)}")
        else:
            places.append(f"above λ = {tradeoff(low)}" if not places else f"above {tradeoff(low)}")
    subject = f"{answer.models[0]} is not" if one else "no model is"
    clauses = [("none", f"{listed(places)} {subject} worth using")] if places else []
    if unclear := [_between(s.low, s.high, first=not (places or i)) for i, s in enumerate(_outside(answer))]:
        whom = answer.models[0] if one else "any model"
        unknown = "that cannot be told" if places else f"it cannot be told whether {whom} is worth using"
        clauses.append(("open", f"{listed(unclear)} {unknown}"))
    return clauses


def _outside(answer: Answer) -> list[Stretch]:
    """What is left open below and above the choices, in the usual range; what lies between two choices belongs to them."""
    if not answer.choices:
        return []
    first, last = answer.choices[0].low, answer.choices[-1].high
    opened = [s for s in answer.stretches if s.kind == "open" and s.low < answer.top and s.high > LEAST]
    return [s for s in opened if s.high <= first or s.low >= last]


def _between(low: float, high: float, *, first: bool) -> str:
    """A stretch of λ; the `first` of a sentence says what it is of."""
    at = "λ = " if first else ""
    if np.isinf(high):
        return f"above {at}{tradeoff(low)}"
    if low == 0:
        return f"below {at}{tradeoff(high)}"
    return f"{'for λ ' if first else ''}from {tradeoff(low)} to {tradeoff(high)}"


# -- one instance or group ------------------------------------------------------------------------------------------------


def _one_unit(answer: Answer) -> list[str]:
    only = "1 group" if answer.grouped else "1 case"
    clauses = [
        f"{listed(list(map(_in_words, names)), last='or')}{f' {range_text(low, high)}' if answer.priced else ''}"
        for low, high, names in answer.lowest
    ]
    return [
        f"From {only} nothing can be said about other cases.",
        f"In it the lowest {answer.loss} is that of {listed(clauses, most=SHOWN_RANGES)}.",
    ]


def _in_words(name: str) -> str:
    return BASELINES_IN_WORDS.get(name) or named(name)


# The calibration tests of an assay in words, made once for the verdict, the page and the terminal.
#
# The outcomes are data (`calibration_claims`); the sentences follow from them. Nothing else words these outcomes.

SHOWN_MODELS = 4  # names in one sentence, before the others are counted
SHOWN_WEIGHTS = 5  # weights of a mixture that a sentence writes out


def measure_label(name: str) -> str:
    """Name of a calibration measure in words; a measure that the user defined keeps its name.

    Examples
    --------
    >>> measure_label("ece-classwise"), measure_label("my-own")
    ('classwise ECE', 'my-own')
    """
    found = named_measure(name)
    return name if found is None else found.label or name


# -- one test ----------------------------------------------------------------------------------------------------------


def claim(judged: JudgedTest) -> str:
    """The result of one test with its adjusted p-value, in a sentence.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1]] * 9)}, [1] * 9, calibration=["ece-confidence"])
    >>> claim(judged_tests(a.calibration, 0.05)[0])
    'The confidence of m is off (confidence ECE, p < .001); it is too sure by 90 points.'
    """
    test = judged.test
    what, by = property_of(test.notion), measure_label(test.measure)
    subject = _subject(judged)
    if judged.outcome == "undefined":
        return f"Whether {subject} has the right {what} is undefined ({by}): {test.reason or 'the test is undefined'}."
    p = f"({by}, {pvalue_text(judged.adjusted)}{_independence([test])})"
    if judged.outcome == "passed":
        other = "one" if judged.mixed else "a classifier"
        one_side = ONE_SIDE if UPPER_ALONE in test.notes else ""
        return f"The test could not tell {subject} from {other} with the right {what} {p}{one_side}."
    if judged.mixed:
        return f"Reweighting {_members(test)} cannot calibrate the {what} {p}."
    direction = f"; it is {SURE[judged.direction]}{_points([judged])}" if judged.direction else ""
    return f"{is_off(test.notion, subject)} {p}{direction}."


def advice(judged: JudgedTest) -> tuple[str, ...]:
    """What follows from the result of one test: the remedy, or the weights of the mixture that is not rejected."""
    test, outcome = judged.test, judged.outcome
    if outcome == "rejected":
        return ("Recalibrate it, or widen the set." if judged.mixed else "Recalibrate it.",)
    if outcome == "passed" and judged.mixed and 1 < len(test.weights) <= SHOWN_WEIGHTS:
        return (f"Weights {'/'.join(f'{w:.2f}'.removeprefix('0') for w in test.weights)}.",)
    return ()


def _members(test: ModelCalibration) -> str:
    return f"the {count(test.n_members)} {test.noun} of {test.model}"


def _subject(judged: JudgedTest) -> str:
    """Subject of the sentence on a test: the mixtures, the mean, or the model if it predicts a single distribution."""
    if judged.mixed:
        return f"some mixture of {_members(judged.test)}"
    return f"the mean of {judged.test.model}" if judged.of_mean else judged.test.model


def _are(properties: Sequence[str]) -> str:
    return "is" if list(properties) == [PROPERTIES["confidence"]] else "are"


def _points(rejected: Sequence[JudgedTest]) -> str:
    """By how much the mean confidence is off, of one model; over its runs the mean."""
    gaps = {(j.test.model, j.test.run): 100 * abs(j.test.gap) for j in rejected}
    if len({model for model, _ in gaps}) > 1 or np.isnan(list(gaps.values())).any():
        return ""
    gap = float(np.mean(list(gaps.values())))
    return (
        f" by {number(gap, 0 if gap >= 1 else 1, bounded=True)} point{'' if f'{gap:.0f}' == '1' and gap >= 1 else 's'}"
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# -- all tests ---------------------------------------------------------------------------------------------------------


def calibration_sentence(assay: Judged) -> str:
    """The models that the calibration tests reject, adjusted for all tests; empty if nothing was tested.

    Examples
    --------
    >>> import uqassay as uq
    >>> calibration_sentence(uq.assay({"m": uq.Point([[0.9, 0.1]] * 9)}, [1] * 9, calibration=["ece-confidence"]))
    'm is too sure by 90 points (p < .001), in a test.'
    """
    alpha = 1 - assay.settings.level
    return rejection_sentence(judged_tests(assay.calibration, alpha, points=point_models(assay)))


def rejection_sentence(judged: Sequence[JudgedTest]) -> str:
    """The rejections, or the statement that there are none; empty if no test is defined."""
    defined = [j for j in judged if j.outcome != "undefined"]
    rejected = [j for j in judged if j.outcome == "rejected"]
    if not defined:
        return ""
    return _rejections(rejected, defined) if rejected else _no_rejection(judged, defined)


def calibration_sentences(judged: Sequence[JudgedTest]) -> tuple[str, ...]:
    """All tests in sentences: the rejections, the models that no test rejects, the number of undefined tests."""
    said = [
        rejection_sentence(judged),
        _passing(judged) if any(j.outcome == "rejected" for j in judged) else "",
        _undefined(judged),
    ]
    return tuple(text for text in said if text)


def _rejections(rejected: Sequence[JudgedTest], defined: Sequence[JudgedTest]) -> str:
    """One clause per group of models with the same rejections."""
    groups: dict[tuple[str, str, tuple[str, ...]], dict[str, list[JudgedTest]]] = {}
    for model in dict.fromkeys(j.test.model for j in rejected):
        mine = [j for j in rejected if j.test.model == model]
        runs = {j.test.notion: frozenset(k.test.run for k in mine if k.test.notion == j.test.notion) for j in mine}
        for same in dict.fromkeys(runs.values()):  # notions that fail in the same runs share a clause
            notions = tuple(notion for notion in runs if runs[notion] == same)
            of_clause = [j for j in mine if j.test.notion in notions]
            directions = {j.direction for j in of_clause}
            direction = directions.pop() if len(directions) == 1 else ""
            groups.setdefault((_kind(mine[0]), direction, notions), {})[model] = of_clause
    clauses = [_rejected(*same, models, defined) for same, models in groups.items()]
    first_kind, first_direction, _ = next(iter(groups))
    if not (first_kind == "point" and first_direction):  # a name keeps the letters it was given
        clauses[0] = _capital(clauses[0])
    how = f"adjusted by Holm for {len(defined)} tests" if len(defined) > 1 else "in a test"
    return f"{'; '.join(clauses)}, {how}."


def _kind(judged: JudgedTest) -> Literal["mixtures", "mean", "point"]:
    if judged.mixed:
        return "mixtures"
    return "mean" if judged.of_mean else "point"


def _rejected(
    kind: str,
    direction: str,
    notions: tuple[str, ...],
    models: dict[str, list[JudgedTest]],
    defined: Sequence[JudgedTest],
) -> str:
    """The clause on models with the same rejections."""
    properties = [property_of(notion) for notion in notions]
    names, p = list(models), _pvalues(models, defined)
    if kind == "mixtures":
        return f"reweighting {_mixed(models)} cannot calibrate the {listed(properties, last='or')} ({p})"
    subject = _names(names, "and") if kind == "point" else f"the mean of {_names(names, 'and of')}"
    if not direction:
        return f"the {listed(properties)} of {subject} {_are(properties)} off ({p})"
    many = kind == "point" and len(names) > 1
    how = f"{subject} {'are' if many else 'is'} {SURE[direction]}"
    how += _points([j for found in models.values() for j in found])
    if others := [one for one in properties if one != PROPERTIES["confidence"]]:
        how += f", and {'their' if many else 'its'} {listed(others)} are off"
    return f"{how} ({p})"


def _pvalues(models: dict[str, list[JudgedTest]], defined: Sequence[JudgedTest]) -> str:
    """The largest p-value of a clause, with the runs and the part of the instances that it covers."""
    pvalues = [j.adjusted for found in models.values() for j in found]
    said = [pvalue_text(max(pvalues), "≤" if len(pvalues) > 1 else "=")]
    tested = {(j.test.model, j.test.run) for j in defined if j.test.model in models}
    if len({run for _, run in tested}) > 1:
        bad = {(j.test.model, j.test.run) for found in models.values() for j in found}
        said = [f"in {len(bad)} of {counted(len(tested), 'run')}", *said]
    tests = [j.test for found in models.values() for j in found]
    return ", ".join(said) + _part(tests) + _independence(tests)


def _mixed(models: dict[str, list[JudgedTest]]) -> str:
    """The members that were mixed."""
    first = [found[0].test for found in models.values()]
    if len(first) == 1:
        return _members(first[0])
    nouns = {test.noun for test in first}
    noun = nouns.pop() if len(nouns) == 1 else "members or vertices"
    return f"the {noun} of {_names(list(map(named, models)), 'or')}"


def _no_rejection(judged: Sequence[JudgedTest], defined: Sequence[JudgedTest]) -> str:
    """The sentence that nothing is rejected, with the smallest p-value."""
    least, n = min(j.adjusted for j in defined), len(defined)
    p = f"least {pvalue_text(least)} by Holm in {n} tests" if n > 1 else pvalue_text(least)
    tests = [j.test for j in defined]
    found = f"{p}{_part(tests)}{_independence(tests)}"
    return f"The calibration tests could not tell {_untold(judged)} from a calibrated one ({found})."


def _part(tests: Sequence[ModelCalibration]) -> str:
    """On how many of the instances these tests were made; empty if all were made on all."""
    sizes, n = sorted({test.n_tested for test in tests}), tests[0].n_instances
    if sizes == [n]:
        return ""
    return f" on {count(sizes[0])}{f' to {count(sizes[-1])}' if len(sizes) > 1 else ''} of {count(n)} cases"


def _independence(tests: Sequence[ModelCalibration]) -> str:
    """That labels are taken as independent, and for which models; empty where groups are accounted for."""
    those = [test for test in tests if test.ignores_groups]
    if not those:
        return ""
    whose = (
        ""
        if len(those) == len(tests)
        else f" for {_names([named(name) for name in dict.fromkeys(t.model for t in those)], 'and')}"
    )
    return f"{independence(those[0].notes)}{whose}"


def _untold(judged: Sequence[JudgedTest]) -> str:
    tested, models = {j.test.tested for j in judged}, {j.test.model for j in judged}
    if tested == {"mixtures"}:
        return "the best mixture of any model's members" if len(models) > 1 else "the best mixture of the members"
    one = "any model" if len(models) > 1 else next(iter(models))
    return f"{one}, or the best mixture of its members," if "mixtures" in tested else one


def _passing(judged: Sequence[JudgedTest]) -> str:
    """Models that pass all their tests."""
    outcomes: dict[str, set[str]] = {}
    for j in judged:
        outcomes.setdefault(j.test.model, set()).add(j.outcome)
    passing = {j.test.model: j.mixed for j in judged if outcomes[j.test.model] == {"passed"}}
    names = [f"a mixture of {named(name)}" if mixed else named(name) for name, mixed in passing.items()]
    by = " by any measure" if len({j.test.measure for j in judged}) > 1 else ""
    return f"Not rejected{by}: {_names(names, 'and')}." if names else ""


def _undefined(judged: Sequence[JudgedTest]) -> str:
    n = sum(j.outcome == "undefined" for j in judged)
    return f"{n} of the {counted(len(judged), 'test')} {'is' if n == 1 else 'are'} undefined." if n else ""


def _names(names: Sequence[str], last: str) -> str:
    return listed(names, last=last, most=SHOWN_MODELS)
