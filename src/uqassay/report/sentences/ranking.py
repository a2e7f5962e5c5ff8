"""Choose λ: sentences of the slider, the strip of winners, the questionnaire and the live ranking."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from uqassay.report.sentences.sections import ORDER
from uqassay.wording import listed_names, tradeoff

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["answer_sentence", "beyond_sentence", "cost_label", "ranking_sentences", "winner_sentence"]

Winners = Sequence[tuple[float, float, Sequence[str]]]

COSTS = {0.01: "a hundredth", 0.02: "a fiftieth", 0.05: "a twentieth", 0.1: "a tenth", 0.2: "a fifth", 1 / 3: "a third"}

HEADS = {
    "model": "Model",
    "mean": "Mean E",
    "difference": "Difference to best",
    "pvalue": "p (adjusted)",
    "ranks": "Ranks",
    "wins": "Resamples won",
    "below": "ahead below it",
    "above": "ahead above it",
}


def ranking_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name; "below" has a text for every set of baselines that may have a lower mean E than a model.

    Examples
    --------
    >>> import uqassay as uq
    >>> text = ranking_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))
    >>> text["next_change"], text["below"]["vacuous"]
    ('The order changes next at λ = {tradeoff}, where {above} passes {below}.', '⚠ vacuous has a lower mean E')
    """
    baselines = [m.name for m in assay.models if m.baseline]
    below = [names for k in range(1, len(baselines) + 1) for names in combinations(baselines, k)]
    return {
        "at": "λ = {tradeoff}",
        "strip": "Share of resamples that each model wins, against λ",
        "strip_data": "Share of resamples that each model wins at some λ; bold: the lowest mean E.",
        "from_to": "λ {low} to {high}",
        "scale": "E from 0 to {limit}",
        "below": {
            ",".join(names): f"⚠ {listed_names(names)} {'have' if len(names) > 1 else 'has'} a lower mean E"
            for names in below
        },
        "no_mean": "no finite mean",
        "is_best": "the best model itself",
        "is_baseline": "baselines are not candidates",
        "no_test": "no test with so few instances",
        "no_resampling": _no_resampling(assay),
        "next_change": "The order changes next at λ = {tradeoff}, where {above} passes {below}.",
        "no_change": "The order stays like this for every larger λ.",
        "findings": ORDER,
        "spoken": "At λ = {tradeoff}: {places}",
        "place": "{rank}. {model}, {estimate}.",
        "set": "Set λ = {tradeoff}",
        "heads": HEADS,
    }


def _no_resampling(assay: "Assay") -> str:
    only = "1 instance" if assay.groups is None else "1 group"
    return f"{only}: nothing to resample"


def beyond_sentence(assay: "Assay", winners: Winners, top: float) -> str:
    """Winners beyond the largest λ of the slider, and why shares of resamples are undefined where they are."""
    later = [f"from λ = {tradeoff(low)} on {listed_names(names)}" for low, _, names in winners if low > top]
    said = [f"Beyond the end of the slider the winner changes again: {'; '.join(later)}."] if later else []
    if assay.n_units == 1:
        said.append(f"Shares of resamples are undefined ({_no_resampling(assay)}).")
    return " ".join(said)


def winner_sentence(low: float, high: float, names: Sequence[str], top: float) -> str:
    """Where some models win, in words.

    Examples
    --------
    >>> winner_sentence(0.25, float("inf"), ["a", "b"], 2.0)
    'a and b: λ from 0.25 to ∞'
    """
    return f"{listed_names(names)}: λ from {tradeoff(min(low, top))} to {tradeoff(high)}"


def answer_sentence(low: float, high: float, reason: str, winners: Winners) -> str:
    """The λ that answers of the questionnaire ask for, why, and who wins there."""
    inside = [listed_names(names) for start, end, names in winners if start < high and end > low]
    won = f"{inside[0]} has the lowest mean E throughout." if len(inside) == 1 else ""
    if len(inside) > 1:
        won = f"The winner changes inside: {', then '.join(inside)}."
    return " ".join(filter(None, (f"λ from {tradeoff(low)} to {tradeoff(high)}.", reason, won)))


def cost_label(cost: float) -> str:
    """How much passing a case on costs, compared with a mistake.

    Examples
    --------
    >>> cost_label(0.1), cost_label(0.5), cost_label(1.0)
    ('a tenth as much', 'half as much', 'as much')
    """
    if cost == 1:
        return "as much"
    return "half as much" if cost == 0.5 else f"{COSTS.get(cost, f'{cost:g}')} as much"
