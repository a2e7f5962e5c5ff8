"""Which model to choose for which λ: where it is worth using, and which models cannot be told from it there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, final

from uqassay.evidence.claim import Claim
from uqassay.evidence.tradeoff_ranges import (
    FARTHEST,
    GRID,
    Range,
    TestsAgainst,
    anchored,
    joined,
    limit,
)
from uqassay.evidence.worth import better_than_baselines
from uqassay.losses.unified import DEFAULT_TRADEOFF

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["Choice", "Led", "better_ranges", "choice_claims", "choices"]

FEW = 3  # other models, whose ranges of λ are found exactly
AT_THE_DEFAULT, AT_THE_ENDS = 2.0, 4.0  # alpha is shared: a half at the default λ, a quarter each at 0 and at λ → ∞


class Led(NamedTuple):
    """A range of λ in which a model has the lowest mean E of all; p-value of the claim that it is better than all baselines."""

    low: float
    high: float
    model: str
    pvalue: float


@final
@dataclass(frozen=True)
class Choice:
    """A range of λ and the models to choose there.

    Attributes
    ----------
    low, high : float
    leaders : tuple of Led
        The models with the lowest mean E, from below; several if they cannot be told apart in the whole range.
    level_with : tuple of str
        Other models that cannot be told from the leaders at any of these λ.
    partly : tuple of (str, float, float)
        Other models that are worse at some of these λ only, and the range in which they are.
    worse : tuple of (str, float)
        The remaining models and the p-values of the claim that they are worse at all these λ.
    conditional : bool
        Whether better than the baselines only if no greater loss is missing from the test set.
    """

    low: float
    high: float
    leaders: tuple[Led, ...]
    level_with: tuple[str, ...] = ()
    partly: tuple[tuple[str, float, float], ...] = ()
    worse: tuple[tuple[str, float], ...] = ()
    conditional: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The leaders' names, each once."""
        return tuple(dict.fromkeys(led.model for led in self.leaders))


def better_ranges(
    assay: "Assay", model: str, others: Sequence[str], *, further: Sequence[float] = (), exact: bool = False
) -> dict[str, tuple[Range, ...]]:
    """Ranges of λ in which a model is better than each of several others; all ranges of all pairs of models hold at once.

    The p-values are adjusted for the number of pairs by Bonferroni, and for the anchors.

    Parameters
    ----------
    assay : Assay
    model : str
    others : sequence of str
    further : sequence of float
        λ that are looked at besides the grid.
    exact : bool
        Whether the ends are found by halving; else they lie on the grid.
    """
    if not others:
        return {}
    j = len(assay.candidates)
    pairs, alpha = j * (j - 1) / 2, 1 - assay.settings.level
    tests = TestsAgainst(assay, model, others)
    grid = sorted({*GRID, *(min(t, FARTHEST) for t in further)})
    found = {}
    for k, other in enumerate(others):
        ranges: list[Range] = []
        for share, anchors in ((AT_THE_DEFAULT, (DEFAULT_TRADEOFF,)), (AT_THE_ENDS, (0.0, FARTHEST))):

            def pvalue(tradeoff: float, k: int = k, factor: float = share * pairs) -> float:
                return min(1.0, factor * float(tests.better(tradeoff)[k]))

            options = {} if exact else {"halvings": 0}
            ranges += anchored(pvalue, anchors, alpha, grid=grid, **options)
        found[other] = joined(ranges)
    return found


def choices(assay: "Assay") -> tuple[Choice, ...]:
    """The models to choose and the ranges of λ, from below; empty if no model is shown to be better than all baselines.

    Raises
    ------
    InputError
        If no model has a finite mean E.
    """
    winners = [(low, high, names[0]) for low, high, names in assay.winners()]
    for conditional in (False, True):
        led = _led(assay, winners, conditional=conditional)
        if led:
            return tuple(_with_others(assay, c) for c in _apart(assay, led, conditional=conditional))
    return ()


def _led(assay: "Assay", winners: Sequence[tuple[float, float, str]], *, conditional: bool) -> list[Led]:
    """Where the model with the lowest mean E is better than all baselines."""
    worth = {name: better_than_baselines(assay, name, guard=not conditional) for _, _, name in winners}
    found = []
    for low, high, name in winners:
        for one in worth[name]:
            first, last = max(low, one.low), min(high, limit(one.high))
            if first < last:
                found.append(Led(first, last, name, one.pvalue))
    return found


def _apart(assay: "Assay", led: Sequence[Led], *, conditional: bool) -> list[Choice]:
    """Neighbours are one choice unless each is shown to be better than the other in a part of its own range."""
    found: list[Choice] = []
    for one in led:
        alone = Choice(one.low, one.high, (one,), conditional=conditional)
        if not found:
            found.append(alone)
            continue
        last = found.pop()
        before = last.leaders[-1]
        if before.model == one.model:
            found += [last, alone] if last.high < one.low else [_united(last, one)]
            continue
        below = _inside(better_ranges(assay, before.model, [one.model], exact=True)[one.model], before)
        above = _inside(better_ranges(assay, one.model, [before.model], exact=True)[before.model], one)
        if below and above:
            found += [replace(last, high=below[-1].high), replace(alone, low=above[0].low)]
        else:
            found.append(_united(last, one))
    return found


def _united(choice: Choice, one: Led) -> Choice:
    return replace(choice, high=one.high, leaders=(*choice.leaders, one))


def _inside(ranges: Sequence[Range], led: Led) -> list[Range]:
    """The parts of ranges in which a model leads."""
    cut = [Range(max(r.low, led.low), min(limit(r.high), led.high), r.pvalue) for r in ranges]
    return [r for r in cut if r.low < r.high]


def _with_others(assay: "Assay", choice: Choice) -> Choice:
    """Sort the other models into those that are worse in the whole range, in a part of it, and nowhere."""
    others = [name for name in assay.model_names if name not in choice.names]
    whole: dict[str, list[float]] = {name: [] for name in others}
    somewhere: dict[str, list[tuple[float, float]]] = {name: [] for name in others}
    for led in choice.leaders:
        low, high = max(led.low, choice.low), min(led.high, choice.high)
        found = better_ranges(assay, led.model, others, further=(low, high), exact=len(others) <= FEW)
        for name, ranges in found.items():
            inside = _inside(ranges, Led(low, high, led.model, led.pvalue))
            somewhere[name] += [(r.low, r.high) for r in inside]
            if any((r.low, r.high) == (low, high) for r in inside):
                whole[name].append(max(r.pvalue for r in inside))
        if low <= DEFAULT_TRADEOFF <= high:  # told by the rank sets, which are adjusted at the default λ alone
            ranks = assay.rank_sets(DEFAULT_TRADEOFF)
            alone = [name for name in others if not somewhere[name] and ranks.is_better(led.model, name)]
            for name in alone:
                somewhere[name].append((DEFAULT_TRADEOFF, DEFAULT_TRADEOFF))
    worse = tuple((name, max(p)) for name, p in whole.items() if len(p) == len(choice.leaders))
    rest = [name for name in others if len(whole[name]) < len(choice.leaders)]
    return replace(
        choice,
        level_with=tuple(name for name in rest if not somewhere[name]),
        partly=tuple((name, somewhere[name][0][0], somewhere[name][-1][1]) for name in rest if somewhere[name]),
        worse=worse,
    )


def choice_claims(assay: "Assay", found: Sequence[Choice]) -> tuple[Claim, ...]:
    """The claims of choices: better than the baselines, better than other models, and who cannot be told apart."""
    baselines = tuple(m.name for m in assay.models if m.baseline)
    claims = []
    for choice in found:
        limited = "unseen" if choice.conditional else ""
        for led in choice.leaders:
            low, high = max(led.low, choice.low), min(led.high, choice.high)
            claims.append(
                Claim("model-better", (led.model,), baselines, low, high, pvalue=led.pvalue, limited_by=limited)
            )
            claims += [Claim("worse", (name,), (led.model,), low, high, pvalue=p) for name, p in choice.worse]
        claims.append(
            Claim(
                kind="top-group",
                models=choice.names,
                others=(*choice.level_with, *(name for name, _, _ in choice.partly)),
                low=choice.low,
                high=choice.high,
                limited_by=limited,
                facts={
                    "partly": [list(one) for one in choice.partly],
                    "lowest": [[led.low, led.high, led.model] for led in choice.leaders],
                },
            )
        )
    return tuple(claims)
