"""The page's section on people's votes: could they come from the set, or from the mean, that a model states?"""

import math
from typing import TYPE_CHECKING, Any

from uqassay.evidence.vote_tests import ALPHA, vote_shares
from uqassay.statistics import Estimate
from uqassay.wording import counted, level_text, listed, number, part_of, percent, percent_interval

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["votes_section"]

SHOWN_NAMES = 3  # before the others are counted
HEADS = {"model": "model", "set": "votes from its set", "mean": "votes from its mean alone"}

FROM_POINTS = "votes from what it states"


def votes_section(assay: "Assay") -> dict[str, Any] | None:
    """Shares of the instances whose votes could come from each model's set and mean.

    Returns
    -------
    dict or None
        "finding": what the section says first; "models": both shares with their intervals, by model; "text". None where the
        labels were not given as numbers of votes.
    """
    shares = {model: vote_shares(assay, model) for model in assay.votes}
    if not shares:
        return None
    models = [
        {"model": model} | {of: _ends(found.get(of)) for of in HEADS if of != "model"}
        for model, found in shares.items()
    ]
    heads = (
        HEADS if any("set" in found for found in shares.values()) else {"model": HEADS["model"], "mean": FROM_POINTS}
    )
    text = {"heads": heads, "note": _note(assay), "none": "states one distribution"}
    return {"finding": _finding(shares), "models": models, "shares": tuple(HEADS), "text": text}


def _ends(share: Estimate | None) -> list[float | None]:
    return [None, None, None] if share is None else [float(share), share.low, share.high]


def _finding(shares: dict[str, dict[str, Estimate]]) -> str:
    firsts = {model: found.get("set", found["mean"]) for model, found in shares.items()}
    said = {model: percent(first, in_sentence=True) for model, first in firsts.items()}
    of = {model: f"the set of {model}" if "set" in found else model for model, found in shares.items()}
    model, first = next(iter(firsts.items()))
    begin = f"Of {counted(first.n, 'instance')}, an estimated {said[model]}"
    if len(shares) == 1:
        sure = "" if math.isnan(first.low) else f" ({percent_interval(first.low, first.high, in_sentence=True)})"
        mean = (
            f", {percent(shares[model]['mean'], in_sentence=True)} from its mean alone"
            if "set" in shares[model]
            else ""
        )
        return f"{begin}{sure} have votes that could come from {of[model]}{mean}."
    others = [f"{said[name]} from {of[name]}" for name in list(shares)[1:SHOWN_NAMES]]
    rest = len(shares) - SHOWN_NAMES
    others += [f"{rest} {'other' if rest == 1 else 'others'} below"] if rest > 0 else []
    return f"{begin} have votes that could come from {listed([of[model], *others])}."


def _note(assay: "Assay") -> str:
    tests = next(iter(assay.votes.values()))
    least, most = int(tests.votes.min()), int(tests.votes.max())
    mean = number(float(tests.votes.mean()), 1)
    each = f"{least} votes" if least == most else f"{least} to {most} votes, {mean} in the mean"
    runs = "; run 1 of models with several" if any(assay[model].n_runs > 1 for model in assay.votes) else ""
    level, alpha, passing = level_text(assay.settings.level), percent(ALPHA, 0), percent(1 - ALPHA, 0)
    instances = part_of(len(tests.rows), assay.n_instances, "instance")
    drawn = ""
    if any(len(found.of_set) for found in assay.votes.values()):
        drawn = " The tests of a set and of its mean draw votes of their own, so either share can be greater by chance."
    return (
        f"Each instance is tested at the level {alpha}: do its votes scatter about some distribution in the set, or about the "
        f"mean, as independent votes do? The share is that of the instances that pass, divided by {passing}. Instances with "
        f"too few votes to tell pass as well, so the shares tend to be too high. On {instances}, "
        f"each with {each}{runs}. {level} interval of each share by itself.{drawn}"
    )
