"""The verdict in words: the headline, then one sentence for each further kind of claim."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.claim import Claim
from uqassay.evidence.margin_words import could_have_shown, within_margin
from uqassay.evidence.tradeoff_ranges import inwards
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.wording import (
    ABSENT,
    counted,
    estimate_text,
    interval,
    listed,
    listed_names,
    named,
    number,
    percent,
    percent_interval,
    pvalue_text,
    sentence,
    share_of_draws,
    tradeoff,
    visible,
)

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.statistics import Estimate

__all__ = ["details", "verdict"]

SHOWN_NAMES, SHOWN_PARTS = 3, 3
FEWEST_DRAWS = 100  # of resamples whose share is worth a sentence
USUAL_TRADEOFFS = (0.01, 2.0)  # with KL; a default λ that amounts to one beyond them is remarked on
BASELINES_IN_WORDS = {"vacuous": "saying nothing at all", "class-prior": "the class frequencies"}
LOSSES = {"kl": "KL distances", "js": "distances", "brier": "Brier distances"}
METRICS = {"brier": "Brier score", "accuracy": "accuracy"}


def verdict(assay: "Assay") -> tuple[str, ...]:
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
    >>> for sentence in a.verdict()[:4]:
    ...     print(sentence)
    For λ from 0.27 on choose sure.
    Below λ = 0.15 no model is worth using; from 0.15 to 0.27 that cannot be told.
    At λ = 0.5 sure has the lowest mean E, 0.105, and is the best of the 2 models (p < .001, adjusted for all pairs).
    Worse than sure there is blind by 2.197 in every instance (p < .001, adjusted for all pairs).
    """
    return (*assay.headline(), *details(assay))


def details(assay: "Assay", *, without: Collection[str] = ()) -> tuple[str, ...]:
    """The sentences after the headline, each from its claims; those without a claim are left out.

    Parameters
    ----------
    assay : Assay
    without : collection of str
        Sentences that are told elsewhere: "best", "refusal".

    Returns
    -------
    tuple of str
        At the default λ the best model, what cannot be told from it and what is worse, adjusted for all pairs; why more cannot
        be told, and what groups leave open; models with the same losses; where each of several choices is lowest; the
        baselines; the parts of the test set in which another model is better; the share of resamples; refusal; where E rewards
        width; scores that rank backwards; the scale of λ with another distance than KL. Calibration has sentences of its own,
        `calibration_verdict.calibration_sentence`, which the page and the terminal show beside its tests.
    """
    claims = assay.claims()
    of: dict[str, list[Claim]] = {}
    for claim in claims:
        of.setdefault(claim.kind, []).append(claim)
    told: dict[str, str] = {}
    if not any(c.limited_by == "infinite" and c.kind == "cannot-tell" for c in claims):
        told = {
            "best": _best(assay, of),
            "worse": _worse(of),
            "unseen": _unseen(of),
            "skewed": _skewed(of),
            "groups": _in_groups(of),
            "same": _same(of),
            "in-turn": _lowest_in_turn(of),
            "baselines": _baselines(assay, of),
            "parts": _parts(of),
            "resamples": _resamples(assay, of),
            "refusal": _refusal(assay, of),
            "width": assay.scale_check(DEFAULT_TRADEOFF).sentence() if "wider-better" in of else "",
        }
    told |= {"backward": _backward(of), "scale": _scale(assay)}
    return tuple(visible(text) for name, text in told.items() if text and name not in without)


# -- the order at the default λ -------------------------------------------------------------------------------------------


def _at_default(claims: Sequence[Claim]) -> list[Claim]:
    return [c for c in claims if c.low == c.high == DEFAULT_TRADEOFF]


def _best(assay: "Assay", of: dict[str, list[Claim]]) -> str:
    """The model with the lowest mean at the default λ, and which models cannot be told from it."""
    row = next(r for r in assay.ranked(DEFAULT_TRADEOFF) if r.rank == 1)
    start = f"At λ = {tradeoff(DEFAULT_TRADEOFF)}"
    if len(assay.candidates) == 1:
        return f"{start} the mean E of {row.model}, the only model, is {_with_interval(row.estimate)}."
    # without the model's own interval, which misses the mean of a model that was chosen as the lowest
    text = f"{start} {row.model} has the lowest mean E, {number(float(row.estimate))}"
    best, top = _at_default(of.get("best", [])), _at_default(of.get("top-group", []))
    if best:
        p = pvalue_text(best[0].pvalue)
        return f"{text}, and is the best of the {len(assay.candidates)} models ({p}, adjusted for all pairs)."
    pvalues = dict(top[0].facts["pvalues"]) if top else {}
    near = {c.models[0]: c for c in _at_default(of.get("no-worse", [])) if c.models[0] in pvalues}
    clauses = [text]
    if near:
        margin = next(iter(near.values())).facts["margin"]
        clauses.append(within_margin(list(near), margin, [c.pvalue for c in near.values()]))
    rest = {name: p for name, p in pvalues.items() if name not in near}
    if not rest:
        return f"{'; '.join(clauses)}."
    others, least = listed_names(list(rest), most=SHOWN_NAMES), min(rest.values())
    if np.isnan(list(rest.values())).any():
        return f"{'; '.join(clauses)}; whether {others} could be as good cannot be tested."
    p = pvalue_text(least, "=" if len(rest) == 1 or least > 0.99 else "≥")
    clauses.append(f"{others} could be as good ({p}, adjusted for all pairs)")
    shown = could_have_shown([top[0].facts["detectable"][name] for name in rest])
    return f"{'; '.join([*clauses, *([shown] if shown else [])])}."


def _worse(of: dict[str, list[Claim]]) -> str:
    """The models that are worse than the winner at the default λ."""
    found = _at_default(of.get("worse", []))
    infinite = [name for c in found if c.limited_by == "infinite" for name in c.models]
    finite = [c for c in found if c.estimate is not None]
    clauses = []
    if finite:
        winner = finite[0].others[0]
        by = [f"{named(c.models[0])} by {_gap(c)}" for c in finite[:SHOWN_NAMES]]
        if len(finite) > SHOWN_NAMES + 1:
            by.append(f"{len(finite) - SHOWN_NAMES} others by more")
        elif len(finite) > SHOWN_NAMES:
            by.append(f"{named(finite[-1].models[0])} by {_gap(finite[-1])}")
        p = pvalue_text(max(c.pvalue for c in finite), "=" if len(finite) == 1 else "≤")
        clauses.append(
            f"worse than {winner} there {'is' if len(finite) == 1 else 'are'} {listed(by)} ({p}, adjusted for all pairs)"
        )
        near = {c.models[0]: c for c in _at_default(of.get("no-worse", []))}
        both = [near[c.models[0]] for c in finite if c.models[0] in near]
        if both:
            names = [c.models[0] for c in both]
            clauses.append(within_margin(names, both[0].facts["margin"], [c.pvalue for c in both]))
    if infinite:
        clauses.append(f"the mean E of {listed_names(infinite, most=SHOWN_NAMES)} is infinite")
    return sentence(clauses)


def _gap(claim: Claim) -> str:
    difference = claim.estimate
    assert difference is not None
    same = difference.low == difference.high
    return f"{number(float(difference))}{' in every instance' if same else ''}"


def _unseen(of: dict[str, list[Claim]]) -> str:
    """What losses that have not been seen could reverse, and which bounded losses tell more."""
    claim = next((c for c in of.get("cannot-tell", []) if c.limited_by == "unseen"), None)
    if claim is None:
        return ""
    n = counted(claim.facts["instances"], "instance")
    losses = LOSSES.get(claim.facts["distance"], "losses")
    text = (
        f"{n} cannot tell {losses} this close: losses as great as can be, but too rare to have been seen, could reverse what "
        f"separates {listed_names(claim.others, most=SHOWN_NAMES)} from {claim.models[0]}"
    )
    telling: dict[str, list[str]] = {}  # what the bounded losses tell, and which of them
    for name, found in claim.facts["bounded"].items():
        if found["rest"]:
            rest = listed_names(found["rest"], most=SHOWN_NAMES)
            told = f"{rest} {'is' if len(found['rest']) == 1 else 'are'} not among the best"
            telling.setdefault(told, []).append(f"the {METRICS[name]}")
    told_by = [f"by {listed(names)} {told}" for told, names in telling.items()]
    remedy = ["a greater floor or a bounded distance, such as brier, can tell more"] if losses == LOSSES["kl"] else []
    return sentence([text, *told_by, *remedy])


def _skewed(of: dict[str, list[Claim]]) -> str:
    claim = next((c for c in of.get("cannot-tell", []) if c.limited_by == "skewness"), None)
    if claim is None:
        return ""
    names = listed_names(claim.others, most=SHOWN_NAMES)
    return f"A few large losses make up most of what separates {names} from {claim.models[0]}."


def _in_groups(of: dict[str, list[Claim]]) -> str:
    """What differences of losses without a usual bound rest on where instances come in groups."""
    claim = next((c for c in of.get("cannot-tell", []) if c.limited_by == "groups"), None)
    if claim is None:
        return ""
    n = counted(claim.facts["groups"], "group")
    who = f"{listed_names(claim.models, most=SHOWN_NAMES)} {'is' if len(claim.models) == 1 else 'are'} better"
    return f"{n} cannot exclude huge losses that strike whole groups: that {who} rests on their absence."


def _same(of: dict[str, list[Claim]]) -> str:
    groups = [listed_names((*c.models, *c.others), most=SHOWN_NAMES) for c in of.get("same", [])]
    return f"The same loss in every instance: {'; '.join(groups)}." if groups else ""


def _lowest_in_turn(of: dict[str, list[Claim]]) -> str:
    """Where each of several models that cannot be told apart has the lowest mean."""
    clauses = []
    for claim in of.get("top-group", []):
        lowest = claim.facts.get("lowest", [])
        if len(lowest) > 1:
            each = [f"{named(name)} up to λ = {tradeoff(high)}" for _, high, name in lowest[:-1][:SHOWN_NAMES]]
            clauses.append(f"the lowest mean E is that of {', '.join(each)}, then that of {lowest[-1][2]}")
    return sentence(clauses)


# -- baselines, parts, resamples --------------------------------------------------------------------------------------------


def _baselines(assay: "Assay", of: dict[str, list[Claim]]) -> str:
    """Where which baseline is better than every model, and which models are worse than one at the default λ."""
    clauses, silent = [], False
    for claim in of.get("baseline-better", []):
        if not claim.facts.get("every_model"):
            continue
        silent |= claim.low <= DEFAULT_TRADEOFF <= claim.high
        low, high = inwards(claim.low, claim.high)
        where = f"above λ = {tradeoff(low)}" if low > 0 else f"below λ = {tradeoff(high)}"
        if low == 0 and np.isinf(high):
            where = "at every λ"
        whom = assay.model_names[0] if len(assay.candidates) == 1 else "every model"
        clauses.append(f"{where} {_named(claim.others)} {_do(claim.others)} better than {whom}")
    below: dict[tuple[str, ...], list[Claim]] = {}
    by_model: dict[str, list[Claim]] = {}
    for claim in _at_default(of.get("baseline-better", [])) if not silent else ():
        by_model.setdefault(claim.models[0], []).append(claim)
    for found in by_model.values():
        below.setdefault(tuple(c.others[0] for c in found), []).extend(found)
    for names, found in below.items():
        models = listed_names(list(dict.fromkeys(c.models[0] for c in found)), most=SHOWN_NAMES)
        p = pvalue_text(max(c.pvalue for c in found), "=" if len(found) == 1 else "≤")
        both = " and ".join(BASELINES_IN_WORDS[name] for name in names)
        clauses.append(f"at λ = {tradeoff(DEFAULT_TRADEOFF)} {both} {_do(names)} better than {models} ({p})")
    return sentence(clauses)


def _named(baselines: Sequence[str]) -> str:
    return " or ".join(f"{BASELINES_IN_WORDS[name]} ({name})" for name in baselines)


def _do(baselines: Sequence[str]) -> str:
    return "do" if len(baselines) > 1 or baselines[0] == "class-prior" else "does"


def _parts(of: dict[str, list[Claim]]) -> str:
    """The parts of the test set in which another model is better than the winner."""
    found = sorted(of.get("subgroup", []), key=lambda c: c.pvalue)
    if not found:
        return ""
    winner = found[0].others[0]
    shown = found[:SHOWN_PARTS]
    each = [
        f"{listed_names(c.models, most=SHOWN_NAMES)} by {number(float(c.estimate or 0))} "
        f"where {c.facts['by']} is {c.facts['value']} ({counted(c.facts['instances'], 'instance')})"
        for c in shown
    ]
    more = len(found) - len(shown)
    rest = f"; so is some model in {counted(more, 'more part')}" if more else ""
    p = pvalue_text(max(c.pvalue for c in found), "=" if len(found) == 1 else "≤")
    tests = counted(found[0].facts["tests"], "test")
    are = "is" if len(each) == 1 else "are"
    return f"Better than {winner} at λ = {tradeoff(DEFAULT_TRADEOFF)} {are} {listed(each)}{rest} ({p} in {tests})."


def _resamples(assay: "Assay", of: dict[str, list[Claim]]) -> str:
    if assay.n_units == 1 or len(assay.candidates) == 1 or assay.settings.n_draws < FEWEST_DRAWS:
        return ""
    row = next(r for r in assay.ranked(DEFAULT_TRADEOFF) if r.rank == 1)
    share = share_of_draws(row.win_share, assay.settings.n_draws, in_sentence=True)
    text = f"In {share} of resamples {row.model} has the lowest mean E at λ = {tradeoff(DEFAULT_TRADEOFF)}"
    unseen = any(c.limited_by == "unseen" for c in of.get("cannot-tell", []))
    return f"{text}; resamples show no losses that the test set lacks." if unseen else f"{text}."


# -- refusal, backward scores, the scale of λ -------------------------------------------------------------------------------


def _refusal(assay: "Assay", of: dict[str, list[Claim]]) -> str:
    """What refusing the most uncertain instances does to the accuracy of the best model."""
    open_ = [c for c in of.get("cannot-tell", []) if c.limited_by == "refusal"]
    claim = next(iter([*of.get("refusal", []), *open_]), None)
    if claim is None or claim.estimate is None:
        return ""
    facts, gain = claim.facts, claim.estimate
    unsure = f"the {percent(1 - facts['coverage'], 0)} that {claim.models[0]} is most unsure of ({_score(claim)})"
    if claim.kind != "refusal":
        ends = interval(100 * gain.low, 100 * gain.high, 1)
        return f"Refusing {unsure} need not help: accuracy changes by {ends} points."
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


def _scale(assay: "Assay") -> str:
    """What the default λ amounts to in terms of KL, for which the usual λ are meant."""
    try:
        scale = assay.tradeoff_scale()
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
