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

Table = dict[str, dict[str, tuple[Range, ...]]]  # where the first model is better than the second

FEW = 4  # models, all of whose ranges of λ are found exactly
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
    among : tuple of (str, str, float, float)
        A leader, a later leader that it is shown to be better than at some λ where it leads, and the range of these λ.
    conditional : bool
        Whether better than the baselines only if no greater loss is missing from the test set.
    """

    low: float
    high: float
    leaders: tuple[Led, ...]
    level_with: tuple[str, ...] = ()
    partly: tuple[tuple[str, float, float], ...] = ()
    worse: tuple[tuple[str, float], ...] = ()
    among: tuple[tuple[str, str, float, float], ...] = ()
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
    grid = sorted({*GRID, *(min(t, FARTHEST) for t in further)})
    tests = TestsAgainst(assay, model, others, grid=grid)
    found = {}
    for k, other in enumerate(others):
        ranges: list[Range] = []
        for share, anchors in ((AT_THE_DEFAULT, (DEFAULT_TRADEOFF,)), (AT_THE_ENDS, (0.0, FARTHEST))):

            def pvalue(tradeoff: float, k: int = k, factor: float = share * pairs) -> float:
                return min(1.0, factor * float(tests.better(tradeoff)[k]))

            options = {} if exact else {"halvings": 0}
            ranges += anchored(pvalue, anchors, alpha, grid=grid, **options)
        # better at two λ is better between them, too: differences are linear in λ
        found[other] = _hull(joined(ranges))
    return found


def _hull(ranges: Sequence[Range]) -> tuple[Range, ...]:
    if len(ranges) < 2:
        return tuple(ranges)
    return (Range(ranges[0].low, ranges[-1].high, max(r.pvalue for r in ranges)),)


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
            ends = [end for one in led for end in (one.low, one.high)]
            names = assay.model_names
            table = {
                one.model: better_ranges(
                    assay, one.model, [n for n in names if n != one.model], further=ends, exact=len(names) <= FEW
                )
                for one in led
            }
            found = _apart(assay, led, table)
            return tuple(replace(_with_others(assay, c, table), conditional=conditional) for c in found)
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


def _apart(assay: "Assay", led: Sequence[Led], table: Table) -> list[Choice]:
    """Neighbouring leaders are one choice, unless each of two is shown to be better than the other where it leads."""
    found: list[Choice] = []
    for one in led:
        last = found[-1] if found and found[-1].leaders[-1].high == one.low else None
        if last is None:
            found.append(Choice(one.low, one.high, (one,)))
            continue
        before = next((b for b in reversed(last.leaders) if _told(b, one, table) and _told(one, b, table)), None)
        if before is None:
            found[-1] = replace(last, high=one.high, leaders=(*last.leaders, one))
            continue
        exactly = {
            b.model: better_ranges(assay, b.model, [c.model], exact=True) for b, c in ((before, one), (one, before))
        }
        for model, ranges in exactly.items():
            table[model].update(ranges)
        high = _told(before, one, exactly)[-1].high
        low = _told(one, before, exactly)[0].low
        kept = last.leaders[: last.leaders.index(before)]
        found[-1] = replace(last, high=high, leaders=(*kept, before._replace(high=high)))
        found.append(Choice(low, one.high, (one._replace(low=low),)))
    return found


def _told(one: Led, other: Led, table: Table) -> list[Range]:
    """Where a model leads and is better than another."""
    return _inside(table[one.model][other.model], one)


def _inside(ranges: Sequence[Range], led: Led) -> list[Range]:
    """The parts of ranges in which a model leads."""
    cut = [Range(max(r.low, led.low), min(limit(r.high), led.high), r.pvalue) for r in ranges]
    return [r for r in cut if r.low < r.high]


def _with_others(assay: "Assay", choice: Choice, table: Table) -> Choice:
    """Sort the other models into those that are worse in the whole range, in a part of it, and nowhere; compare the leaders."""
    others = [name for name in assay.model_names if name not in choice.names]
    whole: dict[str, list[float]] = {name: [] for name in others}
    somewhere: dict[str, list[tuple[float, float]]] = {name: [] for name in others}
    for led in choice.leaders:
        for name in others:
            inside = _inside(table[led.model][name], led)
            somewhere[name] += [(r.low, r.high) for r in inside]
            whole[name] += [r.pvalue for r in inside if (r.low, r.high) == (led.low, led.high)]
        if led.low <= DEFAULT_TRADEOFF <= led.high:  # told by the rank sets, which are adjusted at the default λ alone
            ranks = assay.rank_sets(DEFAULT_TRADEOFF)
            alone = [name for name in others if not somewhere[name] and ranks.is_better(led.model, name)]
            for name in alone:
                somewhere[name].append((DEFAULT_TRADEOFF, DEFAULT_TRADEOFF))
    rest = [name for name in others if len(whole[name]) < len(choice.leaders)]
    return replace(
        choice,
        level_with=tuple(name for name in rest if not somewhere[name]),
        partly=tuple((name, somewhere[name][0][0], somewhere[name][-1][1]) for name in rest if somewhere[name]),
        worse=tuple((name, max(whole[name])) for name in others if name not in rest),
        among=tuple(
            (led.model, later.model, inside[0].low, inside[-1].high)
            for i, led in enumerate(choice.leaders)
            for later in choice.leaders[i + 1 :]
            if (inside := _inside(table[led.model][later.model], led))
        ),
    )


def choice_claims(assay: "Assay", found: Sequence[Choice]) -> tuple[Claim, ...]:
    """The claims of choices: better than the baselines, better than other models, and who cannot be told apart."""
    baselines = tuple(m.name for m in assay.models if m.baseline)
    claims = []
    for choice in found:
        limited = "unseen" if choice.conditional else ""
        for led in choice.leaders:
            ends = (led.low, led.high)
            claims.append(Claim("model-better", (led.model,), baselines, *ends, pvalue=led.pvalue, limited_by=limited))
            claims += [Claim("worse", (name,), (led.model,), *ends, pvalue=p) for name, p in choice.worse]
        claims.append(
            Claim(
                kind="top-group",
                models=choice.names,
                others=(*choice.level_with, *(name for name, _, _ in choice.partly)),
                low=choice.low,
                high=choice.high,
                limited_by=limited,
                facts={
                    "partly": [name for name, _, _ in choice.partly],
                    "told": {name: [low, high] for name, low, high in choice.partly},
                    "lowest": [[led.low, led.high, led.model] for led in choice.leaders],
                    "among": [list(one) for one in choice.among],
                },
            )
        )
    return tuple(claims)
