"""The page's section on deploying a model that refuses: certified limits of the error rate, and the expected cost."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.evidence.chosen_columns import with_numbered_groups
from uqassay.evidence.mistake_ranking import reference_score
from uqassay.metrics.risk.refusal_parts import divide
from uqassay.report.definitions import score_label
from uqassay.report.rounding import rounded
from uqassay.wording import count, counted, level_text, listed, listed_names, percent

if TYPE_CHECKING:
    from uqassay.evidence.refusing import ModelRefusal
    from uqassay.evidence.result import Assay
    from uqassay.metrics.risk.expected_cost import ExpectedCost
    from uqassay.metrics.risk.refusal_parts import RefusalParts
    from uqassay.statistics import Estimate

__all__ = ["LIMITS", "PRICES_SHOWN", "refusal_section"]

LIMITS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # of the error rate of the cases kept
MOST_LIMITS = 4
PRICES_SHOWN = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # of passing a case on
CHOOSING = 0.3  # share of the instances that choose, as in `uqassay refuse`
RUN = 0  # of models that have several
SHOWN_NAMES = 4  # before the others are counted


def refusal_section(assay: "Assay") -> dict[str, Any] | None:
    """Thresholds with certified error rates, and the cost of refusing at several prices, of models with an uncertainty score.

    The choosing part of `Assay.certified_refusal` also chooses the limits: the `LIMITS` below the lowest error rate in it, at
    most the highest four, and for the finding the one nearest to half of this error rate. Therefore the confidence of a row
    does not depend on the choice of its limit.

    Returns
    -------
    dict or None
        "finding": what the section says first; "limits": one entry per limit, the lowest first; "costs": one entry per model
        with the estimates at "prices"; "text". None of label distributions, where no model has a score, and where fewer than
        two instances (groups) cannot both choose and certify.
    """
    scores = {name: score for name in assay.model_names if (score := reference_score(assay, name)) is not None}
    units = assay.n_instances if assay.groups is None else np.unique(assay.groups).size
    if assay.labels.ndim == 2 or not scores or units < 2:
        return None
    assay = with_numbered_groups(assay)
    parts = divide(assay.n_instances, assay.groups, None, CHOOSING, None)
    rates = {name: 1 - float(assay[name].columns["correct"][RUN][parts.choosing].mean()) for name in scores}
    best = min(rates, key=rates.__getitem__)
    shown = [limit for limit in LIMITS if limit < rates[best]][-MOST_LIMITS:]
    found = [
        assay.certified_refusal(
            score=list(dict.fromkeys(scores.values())),
            risk=limit,
            confidence=assay.settings.level,
            run=RUN,
            choosing=parts.choosing,
        )
        for limit in shown
    ]
    costs = {name: assay.expected_cost(name, prices=PRICES_SHOWN, run=RUN) for name in scores}
    told = [found[k] for k in _told(shown, rates[best])]
    return {
        "finding": _finding(told[0]) if told else _no_limit(best, rates[best]),
        "limits": [_limit(one) for one in found],
        "prices": PRICES_SHOWN,
        "costs": [_cost(assay, name, scores, costs[name]) for name in scores],
        "text": _text(assay, scores, parts, found) | {"none": "" if found else _no_limit(best, rates[best])},
    }


def _told(limits: Sequence[float], rate: float) -> list[int]:
    """The place of the limit that the finding quotes."""
    return sorted(range(len(limits)), key=lambda k: abs(limits[k] - rate / 2))[:1]


# -- values ------------------------------------------------------------------------------------------------------------


def _limit(found: "ModelRefusal") -> dict[str, Any]:
    refusal = found.refusal
    return {
        "limit": f"{100 * refusal.risk:g} %",
        "model": found.model,
        "run": "" if found.run is None else f"run {found.run + 1}",
        "threshold": _threshold(found.threshold),
        "score": score_label(found.score) if math.isfinite(found.threshold) else "",
        "certified": found.certified,
        "kept": _ends(refusal.coverage) if found.certified else [None] * 3,
        "observed": float(refusal.observed_risk),
        "of": f"of {counted(refusal.observed_risk.n, 'instance')}" if found.certified else "",
        "sentence": found.sentence(),
    }


def _threshold(value: float) -> str:
    """In full, so that it can be copied."""
    if math.isnan(value):
        return "cannot be certified"
    return "every case" if math.isinf(value) else f"≤ {value!r}"


def _cost(assay: "Assay", name: str, scores: Mapping[str, str], found: "ExpectedCost") -> dict[str, Any]:
    """Cost with its ends and share passed on at each price; whether it is shown to be lower than that of both simple rules."""
    several = len(set(scores.values())) > 1
    about = [score_label(scores[name])] if several else []
    about += [f"run {RUN + 1}"] if assay[name].n_runs > 1 else []
    return {
        "model": name,
        "about": ", ".join(about),
        "every": _ends(found.keep_all),
        "costs": [_ends(cost) for cost in found.costs],
        "passed": [f"{percent(1 - kept)} passed on" for kept in found.kept],
        "saves": [saving.low > 0 for saving in found.savings],
    }


def _ends(estimate: "Estimate") -> list[float]:
    return rounded((float(estimate), estimate.low, estimate.high), 6)  # more than is shown


# -- sentences ---------------------------------------------------------------------------------------------------------


def _finding(found: "ModelRefusal") -> str:
    refusal = found.refusal
    limit, sure = f"at most {100 * refusal.risk:g} %", f"{level_text(refusal.confidence)} confidence"
    model = found.model if found.run is None else f"{found.model} (run {found.run + 1})"
    by = f"the {score_label(found.score)} of {model}"
    if not found.certified:
        n = counted(refusal.n_certifying, "certifying instance")
        return f"No threshold on {by} is certified to keep {limit} errors ({sure}, {n})."
    if math.isinf(refusal.threshold):
        return f"Without refusing any case of {model}, {limit} of new cases are wrong ({sure})."
    kept = f"keeps {percent(float(refusal.coverage), in_sentence=True)} of the cases"
    return f"Refusing by {by} {kept}, and {limit} of the new cases kept are wrong ({sure})."


def _no_limit(model: str, rate: float) -> str:
    wrong = f"{model} is wrong on {percent(rate, in_sentence=True)} of the instances that choose"
    return f"{wrong}, no more than the lowest limit here ({100 * LIMITS[0]:g} %), so no refusal is certified."


def _text(
    assay: "Assay", scores: Mapping[str, str], parts: "RefusalParts", found: Sequence["ModelRefusal"]
) -> dict[str, Any]:
    level = level_text(assay.settings.level)
    labels = listed([score_label(score) for score in dict.fromkeys(scores.values())], last="or")
    heads = {
        "limit": "Errors at most",
        "model": "Model",
        "threshold": "Keep",
        "kept": "Share kept",
        "observed": "Errors seen",
        "price": "Price",
    }
    return {
        "lead": _lead(assay, scores, labels, parts),
        "limits_title": "Limits of the error rate",
        "limits_caption": (
            f"Each limit holds with {level} confidence by itself, not all rows together. "
            "Errors seen: among the certifying instances that are kept."
        ),
        "words": "Each limit in words",
        "costs_title": "What refusing costs",
        "costs_note": (
            f"A mistake costs 1, passing a case on costs the price. Cases are passed on by {labels}. Each half of the "
            "instances is judged by the threshold that the other half chose."
        ),
        "costs_caption": (
            f"Expected cost per case with {level} intervals, each by itself. Bold: shown to be lower than keeping every case "
            "and than passing every case on, which costs the price. No test compares the models."
        ),
        "every": "keep every case",
        "heads": heads,
        "undefined": "no threshold is certified",
        "remarks": _remarks(assay, scores),
    }


def _lead(assay: "Assay", scores: Mapping[str, str], labels: str, parts: "RefusalParts") -> str:
    """Who chose, who certified, and for which cases it holds."""
    chose, n = int(parts.choosing.sum()), assay.n_instances
    model = ", the model and" if len(scores) > 1 else " and"
    part = f"{percent(CHOOSING, 0)} of the {'instances' if assay.groups is None else 'groups'}"
    return (
        f"A case is kept if its score ({labels}) is at most the threshold; the others are passed on, for example to a person. "
        f"{part}, drawn at random ({counted(chose, 'instance')}), chose the limits below{model} the threshold; the "
        f"other {count(n - chose)} certified it. New cases must come from the same source. "
        "“uqassay refuse” certifies any limit, and chooses among all scores."
    )


def _remarks(assay: "Assay", scores: Mapping[str, str]) -> list[str]:
    said = []
    if any(assay[name].n_runs > 1 for name in scores):
        said.append(
            f"Models with several training runs are judged by run {RUN + 1}: a threshold belongs to one trained model."
        )
    absent = [name for name in assay.model_names if name not in scores]
    if absent:
        names = listed_names(absent, most=SHOWN_NAMES)
        said.append(f"Left out, without a score to refuse by: {names}.")
    return said
