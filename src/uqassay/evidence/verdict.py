"""The verdict in words: which model at which λ, how sure that is, and what should make a reader hesitate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.calibration_verdict import calibration_sentence
from uqassay.evidence.mistake_ranking import reference_score
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.choice_of_tradeoff import lower_envelope
from uqassay.statistics import Estimate, PairedComparison, holm, paired_mean_test
from uqassay.wording import (
    ABSENT,
    counted,
    estimate_text,
    interval,
    listed,
    number,
    percent,
    percent_interval,
    pvalue_text,
    sentence,
    share_of_draws,
    tradeoff,
    without_direction,
)

if TYPE_CHECKING:
    from uqassay.evidence import Assay, Ranked

__all__ = ["verdict"]

KEPT = 0.9  # share of the instances kept where the most uncertain ones are refused
SHOWN_INTERVALS = 4  # winners that one sentence can still name
SUBGROUP_VALUES = 50  # a subgroup with more values is an identifier, not a part of the test set
USUAL_TRADEOFFS = (0.01, 2.0)  # with KL; a default λ that amounts to one beyond them is remarked on
BASELINES_IN_WORDS = {"vacuous": "saying nothing at all", "class-prior": "the class frequencies"}


def verdict(assay: "Assay") -> tuple[str, ...]:
    """A few plain sentences with numbers, for the page and the terminal.

    Parameters
    ----------
    assay : Assay

    Returns
    -------
    tuple of str
        The winner on each interval of λ with its share of resamples; where a baseline has a lower mean E
        than all of them; the distance to the runner-up at the default λ with the test adjusted by Holm; the
        baselines that do better than a model there; the subgroup in which another model wins; what refusing the
        tenth that the best model is most unsure of does to its accuracy; which models the calibration tests reject,
        adjusted by Holm for all of them; what the default λ amounts to with another distance than KL. Sentences without
        a finding are left out. Names stand as they were given, but for marks that would turn the direction of the text
        around.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"sure": uq.Point([[0.9, 0.1], [0.1, 0.9]]), "blind": uq.Point([[0.1, 0.9], [0.9, 0.1]])}, [0, 1])
    >>> for sentence in a.verdict()[:3]:
    ...     print(sentence)
    Choose sure at every λ (wins in more than 99.9 % of resamples at λ = 0.5).
    Below λ = 0.15 saying nothing at all (vacuous) has a lower mean E than any model.
    At λ = 0.5 the mean E of sure is 0.105; the runner-up, blind, is 2.197 worse, which is the same in every instance.
    """
    try:
        winners = assay.winners()
    except InputError:
        return ("No model has a finite mean E, so none can be chosen; give a floor above 0.",)
    at = DEFAULT_TRADEOFF
    rows = assay.ranked(at)
    claims = _claims(assay, rows, at)
    if len(assay.candidates) == 1:
        sentences = [_alone(assay, rows, at), _silence(assay, claims, at)]
    else:
        sentences = [_choice(assay, winners, at), _silence(assay, claims, at), _runner_up(assay, rows, at)]
    sentences += [_baselines(assay, claims, at), _subgroup(assay, rows, at), _refusal(assay, rows)]
    sentences += [calibration_sentence(assay), _scale(assay, at)]
    return tuple(without_direction(sentence) for sentence in sentences if sentence)


# -- the winners --------------------------------------------------------------------------------------------------------


def _choice(assay: "Assay", winners: Sequence[tuple[float, float, tuple[str, ...]]], at: float) -> str:
    if len(winners) == 1:
        return f"Choose {_with_chance(assay, winners[0], at)}."
    shown = winners
    if len(winners) > SHOWN_INTERVALS:  # those that matter for the λ of the findings, the lowest first
        shown = tuple(w for w in winners if w[0] <= assay.tradeoffs[-1])[:SHOWN_INTERVALS]
    parts = [_with_chance(assay, w, at, first=i == 0) for i, w in enumerate(shown)]
    text = sentence(parts)
    if len(shown) < len(winners):
        text += f" In all the winner changes {len(winners) - 1} times."
    return text


def _with_chance(assay: "Assay", winner: tuple[float, float, tuple[str, ...]], at: float, *, first: bool = True) -> str:
    low, high, names = winner
    where = _within(low, high, at)
    tied = " (equal throughout)" if len(names) > 1 else ""
    chance = f"({_share_of_wins(assay, names, where, first=first)})"
    who = f"{listed(names, last='or')}{tied}"
    if low == 0 and np.isinf(high):
        return f"{who} at every λ {chance}"
    if low == 0:
        return f"At λ ≤ {tradeoff(high)} choose {who} {chance}"
    if np.isinf(high):
        return f"above, {who} {chance}"
    return f"from {tradeoff(low)} to {tradeoff(high)}, {who} {chance}"


def _share_of_wins(assay: "Assay", names: Sequence[str], where: float, *, first: bool) -> str:
    """In how many resamples the winners win; only the first of several clauses says what the share is of."""
    if assay.n_units == 1:
        only = "1 instance" if assay.groups is None else "1 group"
        return f"how surely cannot be said: {only}, nothing to resample" if first else "the same"
    shares = assay.win_shares([where])[0]
    each = [_share(float(shares[assay.model_names.index(name)]), assay) for name in names]
    alike = len(set(each)) == 1
    share = each[0] if alike else listed(each)
    each_word = " each" if len(names) > 1 and alike else ""
    at = f"at λ = {tradeoff(where)}"
    if not first:
        return f"{share}{each_word} {at}"
    return f"{'wins' if len(names) == 1 else 'win'} in {share} of resamples{each_word} {at}"


def _share(share: float, assay: "Assay") -> str:
    return share_of_draws(share, assay.settings.n_draws, in_sentence=True)


def _within(low: float, high: float, at: float) -> float:
    """A λ that stands for an interval: the default if it lies inside, else a round one near the middle."""
    if low < at < high or (low == 0 and at == 0):
        return at
    middle = 2 * low if np.isinf(high) else (low + high) / 2
    for digits in range(1, 16):
        rounded = float(f"{middle:.{digits}g}")
        if low < rounded < high:
            return rounded
    return middle


# -- the runner-up ------------------------------------------------------------------------------------------------------


def _runner_up(assay: "Assay", rows: Sequence["Ranked"], at: float) -> str:
    first, second, *rest = [r for r in rows if r.rank is not None]
    alpha = 1 - assay.settings.level
    text = f"At λ = {tradeoff(at)} the mean E of {first.model} is {_with_interval(first.estimate)}; "
    difference = second.difference
    if float(difference) == 0:
        return text + f"{second.model} has the same."
    if np.isinf(difference):
        return text + f"that of the runner-up, {second.model}, is infinite."
    text += f"the runner-up, {second.model}, is {_with_interval(difference, level=False)} worse, "
    if np.isnan(second.pvalue_adjusted):
        why = next((note.text for note in difference.notes if note.code == "no-test"), "no test")
        return text + f"whether by chance cannot be said ({why})."
    if difference.low == difference.high:
        return text + "which is the same in every instance."
    p = pvalue_text(second.pvalue_adjusted)
    unclear = [r.model for r in rest if r.pvalue_adjusted > alpha]
    if second.pvalue_adjusted > alpha:
        also = f", and so could what separates it from {listed(unclear)}" if unclear else ""
        return text + f"which could be chance ({p}, Holm){also}."
    also = f"; what separates it from {listed(unclear)} could be" if unclear else ""
    return text + f"which is hardly chance ({p}, Holm){also}."


def _alone(assay: "Assay", rows: Sequence["Ranked"], at: float) -> str:
    alone = next(r for r in rows if r.rank is not None)
    text = f"At λ = {tradeoff(at)} the mean E of {alone.model}, the only model, is {_with_interval(alone.estimate)}"
    if alone.below:
        return text + "."
    others = [r for r in rows if r.rank is None]
    tests = [assay.compare(alone.model, r.model, tradeoff=at) for r in others]
    beaten = []
    for r, test, p in zip(others, tests, holm([t.pvalue for t in tests]).tolist(), strict=True):
        chance = _chance(assay, test, p)
        how = {"same": "", "chance": "; could be chance, "}.get(chance.kind, "; ")
        words = "" if chance.kind == "same" else chance.words()
        beaten.append(f"{BASELINES_IN_WORDS[r.model]} ({number(float(r.estimate))}{how}{words})")
    return text + f", better than {listed(beaten)}."


# -- the baselines ------------------------------------------------------------------------------------------------------


def _claims(assay: "Assay", rows: Sequence["Ranked"], at: float) -> "list[tuple[str, str, _Chance]]":
    """Every model and a baseline that does better than it at one λ, and whether that could be chance; adjusted by Holm."""
    pairs = [(r.model, name) for r in rows for name in r.below]
    tests = [assay.compare(model, name, tradeoff=at) for model, name in pairs]
    adjusted = holm([t.pvalue for t in tests]).tolist() if tests else []
    return [(*pair, _chance(assay, t, p)) for pair, t, p in zip(pairs, tests, adjusted, strict=True)]


def _silence(assay: "Assay", claims: "list[tuple[str, str, _Chance]]", at: float) -> str:
    """Where a baseline has the lowest mean E of all, so that no choice of a model is worth its name.

    The claims about a baseline that is lowest at `at` are told here, and taken from the list.
    """
    d, ns = (np.array([m.columns[key].mean() for m in assay.models]) for key in ("distance", "nonspecificity"))
    parts = []
    for low, high, places in lower_envelope(d, ns):
        winners = [assay.models[j] for j in places]
        if not all(m.baseline for m in winners):
            continue
        if low == 0:
            where = "at every λ" if np.isinf(high) else f"below λ = {tradeoff(high)}"
        else:
            where = f"above λ = {tradeoff(low)}" if np.isinf(high) else f"from λ = {tradeoff(low)} to {tradeoff(high)}"
        names = [m.name for m in winners]
        verb = "have" if len(winners) > 1 or names == ["class-prior"] else "has"
        text = f"{where} {listed([_named(name) for name in names])} {verb} a lower mean E than any model"
        if low < at < high:
            found: dict[str, _Chance] = {}
            for model, name, chance in claims:  # of several baselines the least certain claim counts
                if name in names and (model not in found or found[model].order < chance.order):
                    found[model] = chance
            claims[:] = [claim for claim in claims if claim[1] not in names]
            text += f" (at λ = {tradeoff(at)} {_how_surely(found)})" if found else ""
        parts.append(text)
    return sentence(parts)


def _how_surely(found: "dict[str, _Chance]") -> str:
    """Which of the models could be worse by chance, the more certain first."""
    parts = []
    for kind in _KINDS:
        models = [model for model, chance in found.items() if chance.kind == kind]
        if models:
            against = "" if len(models) == len(found) else f"against {listed(models)} "
            parts.append(against + _stated([found[model] for model in models]))
    return "; ".join(parts)


def _stated(alike: "Sequence[_Chance]") -> str:
    """Several claims of one kind in words: the p-value is a bound for all of them."""
    kind = alike[0].kind
    chosen = (min if kind == "chance" else max)(alike, key=lambda c: c.rank)
    bound = "=" if len(alike) == 1 else ("≥" if kind == "chance" else "≤")
    return {"chance": "could be chance, ", "clear": "hardly chance, "}.get(kind, "") + chosen.words(bound)


def _baselines(assay: "Assay", claims: "Sequence[tuple[str, str, _Chance]]", at: float) -> str:
    """Which baselines do better than which models at one λ, and whether that could be chance."""
    of_model: dict[str, dict[str, _Chance]] = {}
    for model, name, chance in claims:
        of_model.setdefault(model, {})[name] = chance
    alike: dict[tuple[tuple[str, ...], str], dict[str, _Chance]] = {}  # models of which the same is said
    for model, chances in of_model.items():  # of several baselines the least certain claim counts
        least = max(chances.values(), key=lambda c: c.order)
        alike.setdefault((tuple(chances), least.kind), {})[model] = least
    parts = []
    for (names, _), found in alike.items():
        verb = "do" if len(names) > 1 or names[0] == "class-prior" else "does"
        models_text = "every model" if len(found) == len(assay.candidates) > 1 else listed(list(found))
        subject = listed([_named(name) for name in names])
        parts.append(f"{subject} {verb} better than {models_text} ({_stated(list(found.values()))})")
    return sentence([f"At λ = {tradeoff(at)} {parts[0]}", *parts[1:]]) if parts else ""


def _named(baseline: str) -> str:
    return f"{BASELINES_IN_WORDS[baseline]} ({baseline})"


_KINDS = ("same", "clear", "unknown", "chance")  # the more certain first


class _Chance(NamedTuple):
    """Whether a difference could be chance: one of `_KINDS`, and the p-value adjusted by Holm."""

    kind: str
    pvalue: float

    @property
    def rank(self) -> float:
        """The p-value, with an undefined one last."""
        return 2.0 if np.isnan(self.pvalue) else self.pvalue

    @property
    def order(self) -> tuple[int, float]:
        """Sorts claims, the more certain first."""
        return _KINDS.index(self.kind), self.rank

    def words(self, relation: str = "=") -> str:
        if self.kind == "unknown":
            return "whether by chance cannot be said"
        if self.kind == "same":
            return "by the same in every instance"
        return f"{pvalue_text(self.pvalue, relation)}, Holm"


def _chance(assay: "Assay", test: PairedComparison, p: float) -> _Chance:
    if np.isnan(p):
        return _Chance("unknown", p)
    if test.difference.low == test.difference.high:
        return _Chance("same", p)
    return _Chance("clear" if p <= 1 - assay.settings.level else "chance", p)


# -- the scale of λ, subgroups, refusal ---------------------------------------------------------------------------------


def _scale(assay: "Assay", at: float) -> str:
    """What the default λ amounts to in terms of KL, for which the usual λ are meant."""
    try:
        scale = assay.tradeoff_scale()
    except InputError:
        return ""
    least, most = USUAL_TRADEOFFS
    if scale <= 0 or not np.isfinite(scale) or at == 0 or least <= at / scale <= most:
        return ""
    return (
        f"With this distance λ = {tradeoff(at)} prices imprecision as λ = {tradeoff(at / scale)} does with KL; "
        f"the usual λ, up to {tradeoff(most)} with KL, end here at {tradeoff(most * scale)}."
    )


def _subgroup(assay: "Assay", rows: Sequence["Ranked"], at: float) -> str:
    """The clearest subgroup in which another model than the overall winner has the lower mean E."""
    names = assay.model_names
    if len(names) == 1 or not assay.subgroups:
        return ""
    winner = next(r.model for r in rows if r.rank == 1)
    losses = {name: assay.loss(name, at) for name in names}
    found = []
    for by, values in assay.subgroups.items():
        distinct = np.unique(values)
        if len(distinct) > SUBGROUP_VALUES:
            continue
        for value in distinct:
            inside = values == value
            means = [float(losses[name][:, inside].mean()) for name in names]
            other = names[int(np.argmin(means))]
            if other == winner or not np.isfinite(means).all():
                continue
            groups = None if assay.groups is None else assay.groups[inside]
            test = paired_mean_test(
                losses[winner][:, inside], losses[other][:, inside], groups=groups, level=assay.settings.level
            )
            found.append((test, by, value, int(inside.sum()), other))
    if not found:
        return ""
    adjusted = np.nan_to_num(holm([f[0].pvalue for f in found]), nan=1.0)
    i = int(np.argmin(adjusted))
    test, by, value, n, other = found[i]
    if adjusted[i] > 1 - assay.settings.level:
        return ""
    return (
        f"Where {by} is {value} ({counted(n, 'instance')}) {other} does better than {winner} at λ = {tradeoff(at)}, by "
        f"{_with_interval(test.difference, level=False)} ({pvalue_text(float(adjusted[i]))}, Holm)."
    )


def _refusal(assay: "Assay", rows: Sequence["Ranked"]) -> str:
    """What refusing the most uncertain instances does to the accuracy of the best model."""
    model = next(r.model for r in rows if r.rank == 1)
    score = reference_score(assay, model)
    if score is None or assay.n_units < 2 or assay.n_instances * (1 - KEPT) < 1:
        return ""
    scores = assay[model].columns[score]
    if bool((scores == scores[:, :1]).all()):  # nothing to choose by
        return ""
    found = assay.refusal(model, score, KEPT)
    gain = found.gain
    if float(found.accuracy_all) in (0.0, 1.0) or not (np.isfinite(gain.low) and np.isfinite(gain.high)):
        return ""
    unsure = f"the {percent(1 - KEPT, 0)} that {model} is most unsure of ({score.replace('-', ' ')})"
    if gain.low <= 0:
        ends = interval(100 * gain.low, 100 * gain.high, 1)
        return f"Refusing {unsure} need not help: accuracy changes by {ends} points."
    kept = found.accuracy_kept
    before, after = (percent(float(share), in_sentence=True) for share in (found.accuracy_all, kept))
    ends = percent_interval(kept.low, kept.high, in_sentence=True)
    return f"Refuse {unsure} and its accuracy rises from {before} to {after}{'' if ends == ABSENT else f' ({ends})'}."


def _with_interval(estimate: Estimate, *, level: bool = True) -> str:
    shown = estimate.level if level else None
    return estimate_text(float(estimate), estimate.low, estimate.high, level=shown)
