"""What refusing the most uncertain instances does to the accuracy, in one sentence."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uqassay.wording import ABSENT, number, percent, percent_interval, significant

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["Refused", "refusal_sentence"]

Ends = tuple[float, float, float]  # estimate, low, high


@dataclass(frozen=True)
class Refused:
    """A model that refuses a share of the instances.

    Attributes
    ----------
    model, score : str
        The score by its label.
    accuracy : float
        Of all instances.
    kept, gain : tuple of float
        Accuracy of the instances kept, and the gain, each with its interval. Of the model that keeps the highest accuracy among
        several, the intervals are adjusted for that choice.
    shown : float
        The smallest gain that the test set could have shown; infinite: none. nan: not known.
    """

    model: str
    score: str
    accuracy: float
    kept: Ends
    gain: Ends
    shown: float = math.nan

    @property
    def outcome(self) -> str:
        """ "gain", "loss", "none" where the interval of the gain contains 0, "unknown" without an interval."""
        _, low, high = self.gain
        if not (math.isfinite(low) and math.isfinite(high)):
            return "unknown"
        return "gain" if low > 0 else "loss" if high < 0 else "none"


def refusal_sentence(assay: "Assay", share: float, by: str, refused: Sequence[Refused]) -> str:
    """The gain of the model that is the most accurate on the instances kept.

    Parameters
    ----------
    assay : Assay
    share : float
        Of the instances that is refused.
    by : str
        The score in words, where several models are compared.
    refused : sequence of Refused
        At least one.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.3, 0.7]])}, [0, 1])
    >>> refusal_sentence(a, 0.1, "margin", [Refused("m", "margin", 0.8, (0.85, 0.8, 0.9), (0.05, 0.02, 0.08))])[:75]
    'Refusing the 10 % most uncertain (by margin) raises the accuracy of m from '
    """
    best = max(refused, key=lambda r: r.kept[0])
    places = _places([r.kept for r in refused] + [r.gain for r in refused])
    votes = assay.labels.ndim == 2
    several = len(refused) > 1
    before, after = percent(best.accuracy, places), percent(best.kept[0], places)
    ends = percent_interval(*best.kept[1:], places)
    interval = "" if ends == ABSENT else f" ({ends})"
    gain, low, high = (number(100 * v, places, bounded=True) for v in best.gain)
    start = (
        f"Refusing the {significant(100 * share, 3).rstrip('0').rstrip('.')} % most uncertain "
        f"(by {by if several else best.score}) "
    )
    whose = f"the accuracy{' (share of the votes)' if votes else ''} of {best.model}"
    verb = {"gain": "raises", "loss": "lowers", "none": "changes", "unknown": "raises"}[best.outcome]
    if best.outcome == "unknown" and best.gain[0] < 0:
        verb = "lowers"
    change = f"{verb} {whose} from {before} to {after}{interval}"
    if before == after:
        change = f"leaves {whose} at {after}{interval}"
    only = "1 instance" if assay.groups is None else "1 group"
    adjusted = ", adjusted for the choice of the model" if several else ""
    points = f"{gain} points ({low} to {high}{adjusted})"
    end = {
        "gain": f", a gain of {points}",
        "loss": f", because its right predictions are the more uncertain ones; the change is {points}",
        "none": f"; the change of {points} could be chance{_shown(best.shown)}",
        "unknown": f"; how surely cannot be said ({only}: no interval)",
    }[best.outcome]
    return f"{start}{change}{end}{_others(assay, refused, best) if several else ''}."


def _shown(gain: float) -> str:
    """The smallest gain that the test set could have shown, as a clause."""
    if math.isnan(gain):
        return ""
    start = "; this test set could have shown"
    return f"{start} no gain" if math.isinf(gain) else f"{start} a gain of {significant(100 * gain, 2)} points"


def _others(assay: "Assay", refused: Sequence[Refused], best: Refused) -> str:
    """How accurate the other models are."""
    without = ", and none is without refusing" if _best_accuracy(assay) <= best.kept[0] else ""
    return f"; here no other model is more accurate when it refuses as many{without}"


def _best_accuracy(assay: "Assay") -> float:
    """The greatest accuracy of a model on all instances."""

    def found() -> float:
        return max(float(m.columns["correct"].mean()) for m in assay.candidates if m.predicts_classes)

    return assay.shared.once("best-accuracy", found)


def _places(intervals: Iterable[Ends]) -> int:
    """Decimals of percentages that show one digit of the typical half-width of their intervals, from 1 to 3."""
    widths = sorted(width for _, low, high in intervals if (width := 50 * (high - low)) > 0)
    return min(3, max(1, -math.floor(math.log10(widths[len(widths) // 2])))) if widths else 1
