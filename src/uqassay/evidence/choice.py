"""Which models to choose for which λ: where one is worth using, and which others cannot be told from it there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple, final

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.data import Judged
from uqassay.evidence.order import GREATEST_USUAL, GRID, Order, Range, inwards, order_of
from uqassay.evidence.pair_tests import cases_of, rests_on_inputs
from uqassay.evidence.ranking import scale_of_tradeoff, winners_of
from uqassay.losses.unified import DEFAULT_TRADEOFF

__all__ = ["Choice", "Led", "choices", "covered", "greatest_usual"]


class Led(NamedTuple):
    """A range of λ in which a model has the lowest mean E of all; p-value of the claim that it is better than all baselines.

    `same` are models with the same mean there that are better than all baselines, too; the p-value is the greatest of theirs.
    """

    low: float
    high: float
    model: str
    pvalue: float
    same: tuple[str, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """All models with this mean."""
        return (self.model, *self.same)


@final
@dataclass(frozen=True)
class Choice:
    """A range of λ and the models to choose there: no model is shown to be better than any of them, at any of these λ."""

    low: float
    high: float
    #: The models with the lowest mean E, from below; where each of several is better cannot be told.
    leaders: tuple[Led, ...]
    tied: tuple[str, ...] = ()  #: Other models that none is shown to be better than at any of these λ.
    #: The remaining models, and where in the range some model is shown to be better: that model, and λ.
    worse: Mapping[str, tuple[tuple[str, Range], ...]] = field(default_factory=dict)
    #: Whether better than the baselines only if no greater loss is missing from the test set.
    conditional: bool = False
    #: How often the leaders may fail outright on inputs unlike those seen, one in so many cases, before this is false at a
    #: usual λ; and the range of λ, if any, in which it does not rest on that, see `claims.input_claims`.
    cases: Mapping[str, float] = field(default_factory=dict)
    sure: tuple[float, float] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The leaders' names, each once."""
        return tuple(dict.fromkeys(name for led in self.leaders for name in led.models))

    @property
    def partly(self) -> Mapping[str, tuple[tuple[float, float], ...]]:
        """Of models that are worse at some of these λ only: where."""
        found = {name: covered([(r.low, r.high) for _, r in by]) for name, by in self.worse.items()}
        return {name: ranges for name, ranges in found.items() if ranges != ((self.low, self.high),)}


def covered(ranges: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """What several ranges cover, from below.

    Examples
    --------
    >>> covered([(0.5, 2.0), (0.0, 0.1), (1.0, 3.0)])
    ((0.0, 0.1), (0.5, 3.0))
    """
    found: list[tuple[float, float]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return tuple(found)


def choices(assay: Judged) -> tuple[Choice, ...]:
    """The models to choose and the ranges of λ, from below; empty if no model is shown to be better than all baselines.

    A range ends where the models that may be best change: those that lead somewhere, and that no model is shown to be better
    than.
    """
    order = order_of(assay)
    for conditional in (False, True):
        led = _led(assay, order, conditional=conditional)
        if led:
            found = [_with_others(order, choice) for choice in _ranges(assay, order, led)]
            if conditional:
                return tuple(replace(choice, conditional=True) for choice in found)
            return tuple(_with_cases(assay, order, choice) for choice in found)
    return ()


def _led(assay: Judged, order: Order, *, conditional: bool) -> list[Led]:
    """Where the model with the lowest mean E is better than all baselines."""
    found = []
    for low, high, names in winners_of(assay):
        worth = [(name, order.worth(name, guard=not conditional)) for name in names]
        inside = [(name, one) for name, one in worth if one is not None and max(low, one.low) < min(high, one.high)]
        if inside:
            (first, one), *others = inside
            ends = (max(low, one.low), min(high, one.high))
            also = {name: other.pvalue for name, other in others if other.low <= ends[0] and other.high >= ends[1]}
            found.append(Led(*ends, first, max(one.pvalue, *also.values()) if also else one.pvalue, tuple(also)))
    return found


def greatest_usual(assay: Judged) -> float:
    """The greatest usual λ of the distance, or the greatest λ of the findings if that is greater."""
    try:
        scale = scale_of_tradeoff(assay)
    except InputError:
        scale = 1.0
    usual = GREATEST_USUAL * (scale if scale > 0 and np.isfinite(scale) else 1.0)
    return float(max(usual, DEFAULT_TRADEOFF, *assay.tradeoffs))


def _ranges(assay: Judged, order: Order, led: Sequence[Led]) -> list[Choice]:
    """Ranges in which the same leaders may be best.

    Models that lead only beyond the usual λ are no choice before: the first change of the leader beyond these is a border.
    """
    top = greatest_usual(assay)
    beyond = next((b.low for a, b in pairwise(led) if b.low >= top and a.models != b.models), float("inf"))
    beaten = {name: [r for _, r in _beaten(order, name)] for one in led for name in one.models}
    borders = sorted({beyond, *(end for ranges in beaten.values() for r in ranges for end in (r.low, r.high))})
    pieces: list[Choice] = []  # with the models that may be best as "tied"
    for one in led:
        ends = [one.low, *(t for t in borders if one.low < t < one.high), one.high]
        for low, high in pairwise(ends):
            at = (low + high) / 2 if np.isfinite(high) else 2 * low + 1
            side = [other for other in led if (other.low >= beyond) == (low >= beyond)]
            names = {name for other in side for name in other.models}
            may = {name for name in names if not any(r.low < at < r.high for r in beaten[name])}
            pieces.append(Choice(low, high, (one._replace(low=low, high=high),), tied=tuple(sorted(may))))

    def same(a: Choice, b: Choice) -> bool:
        return a.tied == b.tied

    def same_names(a: Choice, b: Choice) -> bool:
        return set(a.names) == set(b.names)

    found = _joined(_joined(pieces, same, beyond), same_names, beyond)
    return [replace(choice, tied=()) for choice in found]


def _joined(pieces: Sequence[Choice], same: Callable[[Choice, Choice], bool], border: float) -> list[Choice]:
    """Neighbours that are the same become one, but at the border."""
    found: list[Choice] = []
    for one in pieces:
        last = found[-1] if found else None
        if last is None or last.high != one.low or last.high == border or not same(last, one):
            found.append(one)
            continue
        *before, end = last.leaders
        first, *after = one.leaders
        middle = [end._replace(high=first.high)] if end.models == first.models else [end, first]
        found[-1] = replace(last, high=one.high, leaders=(*before, *middle, *after))
    return found


def _beaten(order: Order, name: str) -> Iterator[tuple[str, Range]]:
    """The models that are shown to be better than this one, and where."""
    for other in order.models:
        found = order.better(other, name) if other != name else None
        if found is not None:
            yield other, found


def _with_others(order: Order, choice: Choice) -> Choice:
    """The models that are not chosen: where they are shown to be worse, by the chosen ones first."""
    names, tied, worse = choice.names, [], {}
    for name in order.models:
        if name in names:
            continue
        by = dict(_beaten(order, name))
        inside: list[tuple[str, Range]] = []
        for other in (*names, *(o for o in by if o not in names)):
            if other not in by:
                continue
            r = by[other]
            low, high = max(r.low, choice.low), min(r.high, choice.high)
            known = covered([(one.low, one.high) for _, one in inside])
            if low < high and covered([*known, (low, high)]) != known:
                inside.append((other, Range(low, high, r.pvalue)))
        if inside:
            worse[name] = tuple(inside)
        else:
            tied.append(name)
    return replace(choice, tied=tuple(tied), worse=worse)


def _with_cases(assay: Judged, order: Order, choice: Choice) -> Choice:
    """Where in λ the choice rests on how seldom its leaders fail on inputs unlike those seen, and how seldom they may."""
    cases: dict[str, float] = {}
    free: list[tuple[float, bool]] = []
    top = greatest_usual(assay)
    for led, better in [(one, name) for one in choice.leaders for name in one.models]:
        worse = {name: r for name, by in choice.worse.items() for other, r in by if other in led.models}
        low, high = inwards(led.low, led.high)
        ends = (low, min(high, max(low, top)))  # beyond the usual λ an input on which a set is vacuous costs anything
        for t in sorted({*ends, *(t for t in GRID if low < t < ends[1])}):
            others = (*order.yardsticks, *(name for name, r in worse.items() if r.low <= t <= r.high))
            resting = [other for other in others if rests_on_inputs(assay, better, other, t)]
            free.append((t, not resting))
            if t in ends or t == DEFAULT_TRADEOFF:
                for other in resting:
                    cases[better] = max(cases_of(assay, better, other, t), cases.get(better, 0.0))
    free.sort()  # of models with the same mean every λ stands there twice
    inside = [t for t, is_free in free if is_free]
    if not inside or not all(is_free for t, is_free in free if inside[0] <= t <= inside[-1]):
        return replace(choice, cases=cases)
    last = choice.high if inside[-1] == free[-1][0] else inside[-1]
    return replace(choice, cases=cases, sure=(inside[0], last))
