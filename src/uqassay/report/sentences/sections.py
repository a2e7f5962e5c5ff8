"""The finding that each fixed section of the page begins with."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.evidence.margin_words import could_have_shown, within_margin
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.wording import count, counted, level_text, listed, listed_names, named, number, tradeoff

if TYPE_CHECKING:
    from uqassay.evidence.ranking import Ranked
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import Settings

__all__ = ["NUMBERS", "ORDER", "order_finding", "order_values", "section_findings"]

NUMBERS = "In numbers", "The differences behind the answer, with p-values and intervals."  # the title and the finding
SHOWN_NAMES = 3  # before the others are counted
LOWEST = "At λ = {tradeoff} {model} has the lowest mean E, {estimate}"
ORDER = {
    "infinite": "At λ = {tradeoff} no model has a finite mean E.",
    "only": "At λ = {tradeoff} the mean E of {model}, the only model, is {estimate}{end}",
    "alone": f"{LOWEST}{{end}}",
    "best": f"{LOWEST}, and is the best of the {{models}} models{{end}}",
    "within": f"{LOWEST}{{end}}",
    "tied": f"{LOWEST}; {{others}} could be as good{{end}}",
    "untested": f"{LOWEST}; whether {{others}} could be as good cannot be tested{{end}}",
}


def section_findings(assay: "Assay") -> dict[str, str]:
    """One sentence each for the sections "choose", "why", "instances" and "how".

    Examples
    --------
    >>> import uqassay as uq
    >>> found = section_findings(uq.assay({"m": uq.Point([[0.9, 0.1], [0.2, 0.8]])}, [0, 0]))
    >>> found["instances"]
    'm is wrong on 1 of the 2 instances.'
    """
    return {
        "choose": order_finding(assay.ranked(DEFAULT_TRADEOFF), DEFAULT_TRADEOFF, assay.settings),
        "why": _why(assay),
        "instances": _instances(assay),
        "how": _how(assay),
    }


# -- the order at one λ ------------------------------------------------------------------------------------------------


def order_values(rows: "Sequence[Ranked]", settings: "Settings") -> dict[str, Any]:
    """Kind of the finding, which is a key of `ORDER`, and its values but λ and the estimate.

    Parameters
    ----------
    rows : sequence of Ranked
        Of one λ.
    settings : Settings
        Of the assay.
    """
    alpha = 1 - settings.level
    ranked = [r for r in rows if r.rank is not None]
    winner, rivals = ranked[0], [r for r in ranked[1:] if not math.isinf(r.estimate)]
    level_with = [r for r in rivals if not r.pvalue_adjusted <= alpha]
    near = [r for r in level_with if r.pvalue_no_worse <= alpha]
    rest = [r for r in level_with if r not in near]
    others, shown = (
        listed_names([r.model for r in rest], most=SHOWN_NAMES),
        could_have_shown([r.detectable for r in rest]),
    )
    clauses = []
    said = "alone"
    if not math.isfinite(winner.estimate):
        said = "infinite"
    elif len(ranked) == 1:
        said = "only"
    elif winner.rank_high == 1:
        said = "best"
    elif level_with:
        said = "untested" if any(math.isnan(r.pvalue_adjusted) for r in level_with) else "tied"
        if near and settings.margin is not None:
            said, names = "within", [r.model for r in near]
            clauses.append(within_margin(names, settings.margin, [r.pvalue_no_worse for r in near]))
            clauses += [f"{others} could be as good"] if rest else []
        clauses += [shown] if shown else []
    if winner.below:
        clauses.append(_lower(winner.below))
    return {
        "said": said,
        "model": winner.model,
        "models": len(ranked),
        "others": others,
        "end": "".join(f"; {clause}" for clause in clauses) + ".",
    }


def _lower(baselines: Sequence[str]) -> str:
    if len(baselines) == 1:
        return f"the baseline {baselines[0]} has a lower one"
    return f"the baselines {listed(baselines)} have lower ones"


def order_finding(rows: "Sequence[Ranked]", at: float, settings: "Settings") -> str:
    """Which model has the lowest mean E at one λ, which are no worse by a margin, and which could be as good."""
    values = order_values(rows, settings)
    estimate = next(float(r.estimate) for r in rows if r.model == values["model"])
    shown = {"tradeoff": tradeoff(at), "estimate": number(estimate, bounded=True)}
    return ORDER[values["said"]].format(**values, **shown)


# -- why -----------------------------------------------------------------------------------------------------------------


def _why(assay: "Assay") -> str:
    """Which model is nearest to the labels, and which says the most precise sets."""
    distance = {m.name: float(m.columns["distance"].mean()) for m in assay.candidates}
    size = {m.name: float(m.columns["nonspecificity"].mean()) for m in assay.candidates}
    precise = [m.name for m in assay.candidates if m.n_points == 1]
    sets = [name for name in size if name not in precise]
    near, far = min(distance, key=lambda name: distance[name]), number(min(distance.values()), bounded=True)
    one_set = f"one distribution per instance{'' if sets else ', not a set, so E is the distance at every λ'}"
    if len(distance) == 1:
        if precise:
            return f"{near} predicts {one_set}; its mean distance to the label is {far}."
        mean = number(size[near], bounded=True)
        return f"The mean distance of {near} to the label is {far}, its mean non-specificity {mean}."
    if math.isinf(distance[near]):
        start = "The mean distance to the label is infinite for every model"
    else:
        start = f"In this test set {near} is nearest to the labels (mean distance {far})"
    if not sets:
        return f"{start}; every model predicts {one_set}."
    small = min(sets, key=lambda name: size[name])
    mean = number(size[small], bounded=True)
    if precise:
        verb = "predicts" if len(precise) == 1 else "predict"
        rest = "" if len(sets) == 1 else " the smallest"
        points = f"{listed_names(precise, most=SHOWN_NAMES)} {verb} {one_set}"
        return f"{start}; {points}, and {small} has{rest} sets of mean non-specificity {mean}."
    who = "it also" if small == near and not math.isinf(distance[near]) else small
    return f"{start}; {who} has the smallest sets (mean non-specificity {mean})."


# -- instances and method ------------------------------------------------------------------------------------------------


def _instances(assay: "Assay") -> str:
    """On how many instances every model is wrong, and on how many models disagree about the class."""
    models = [m for m in assay.candidates if m.predicts_classes]
    if not models:
        return ""
    labels = np.stack([m.columns["label"][0] for m in models])  # (J, n) of the first training run
    wrong = int((labels != assay.classes).all(axis=0).sum())
    split = int((labels != labels[:1]).any(axis=0).sum())
    runs = " in the first training run" if any(m.n_runs > 1 for m in assay.candidates) else ""
    of_all = f"{count(wrong)} of the {counted(assay.n_instances, 'instance')}"
    if len(labels) == 1:
        return f"{models[0].name} is wrong on {of_all}{runs}."
    disagree = f"the models disagree about the class of {count(split)}"
    if not wrong:
        return f"At least one model is right on each of the {counted(assay.n_instances, 'instance')}{runs}; {disagree}."
    every = "Both models are" if len(labels) == 2 else "Every model is"
    return f"{every} wrong on {of_all}{runs}; {disagree}."


def _how(assay: "Assay") -> str:
    """What decides the numbers: level, seed, version, and the rows whose probabilities were raised to the floor."""
    floored = {m.name: m.floored for m in assay.candidates if m.floored}
    rows = "no row needed the floor of probabilities"
    if floored:
        who = listed([f"{named(name)} ({count(n)})" for name, n in floored.items()], most=SHOWN_NAMES)
        rows = f"rows with a label less probable than the floor: {who}"
    version = assay.provenance["uqassay"]
    return f"{level_text(assay.settings.level)} intervals, seed {assay.settings.seed}, uqassay {version}; {rows}."
