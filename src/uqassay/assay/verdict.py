"""The verdict in words: which model at which λ, how sure that is, and what should make a reader hesitate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from uqassay.errors import InputError
from uqassay.statistics import Estimate, holm, paired_mean_test

if TYPE_CHECKING:
    from uqassay.assay import Assay, Ranked

__all__ = ["reference_tradeoff", "verdict"]

SHOWN_INTERVALS = 4  # winners that one sentence can still name
SUBGROUP_VALUES = 50  # a subgroup with more values is an identifier, not a part of the test set


def verdict(assay: "Assay") -> tuple[str, ...]:
    """One to four plain sentences with numbers, for the page and the terminal.

    Parameters
    ----------
    assay : Assay

    Returns
    -------
    tuple of str
        The winner on each interval of λ with its share of bootstrap resamples; the distance to the runner-up at
        `reference_tradeoff` with the test adjusted by Holm; the baselines that do better than a model; the subgroup
        in which another model wins. Sentences without a finding are left out. Names stand as they were given.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"sure": uq.Point([[0.9, 0.1], [0.1, 0.9]]), "blind": uq.Point([[0.1, 0.9], [0.9, 0.1]])}, [0, 1])
    >>> for sentence in a.verdict():
    ...     print(sentence)
    Choose sure at every λ (wins in more than 99.9 % of resamples at λ = 0.5).
    At λ = 0.5 the mean E of sure is 0.105; the runner-up, blind, is 2.197 worse, which is the same in every instance.
    At λ = 0.5 saying nothing at all (vacuous) and the class frequencies (class-prior) do better than blind.
    """
    try:
        winners = assay.winners()
    except InputError:
        return ("No model has a finite mean E, so none can be chosen; give a floor above 0.",)
    at = reference_tradeoff(assay)
    rows = assay.ranked(at)
    if len(assay.candidates) == 1:
        sentences = [_alone(assay, rows, at)]
    else:
        sentences = [_choice(assay, winners, at), _runner_up(assay, rows, at)]
    sentences += [_baselines(assay, rows, at), _subgroup(assay, rows, at)]
    return tuple(sentence for sentence in sentences if sentence)


def reference_tradeoff(assay: "Assay") -> float:
    """The λ at which a report starts: the middle one of `assay.tradeoffs`, the lower of two.

    Examples
    --------
    >>> import uqassay as uq
    >>> reference_tradeoff(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0], tradeoffs=[2.0, 0.1, 0.5]))
    0.5
    """
    return assay.tradeoffs[(len(assay.tradeoffs) - 1) // 2]


def _choice(assay: "Assay", winners: Sequence[tuple[float, float, tuple[str, ...]]], at: float) -> str:
    if len(winners) == 1:
        return f"Choose {_with_chance(assay, winners[0], at)}."
    shown = winners
    if len(winners) > SHOWN_INTERVALS:  # those that matter for the λ of the findings, the lowest first
        shown = tuple(w for w in winners if w[0] <= assay.tradeoffs[-1])[:SHOWN_INTERVALS]
    parts = [_with_chance(assay, w, at, first=i == 0) for i, w in enumerate(shown)]
    text = "; ".join(parts) + "."
    if len(shown) < len(winners):
        text += f" In all the winner changes {len(winners) - 1} times."
    return text


def _with_chance(assay: "Assay", winner: tuple[float, float, tuple[str, ...]], at: float, *, first: bool = True) -> str:
    low, high, names = winner
    low_text, high_text = _number(low), _number(high)
    where = _within(low, high, at)
    place = assay.model_names.index(names[0])
    share = assay.winning_probabilities([where])[0, place] * len(names)  # models that tie share a draw
    tied = " (equal throughout)" if len(names) > 1 else ""
    share_text = _share(float(share), assay.settings.n_draws)
    chance = f"({'wins in ' * first}{share_text}{' of resamples' * first} at λ = {_number(where)})"
    if low == 0 and np.isinf(high):
        return f"{_or(names)}{tied} at every λ {chance}"
    if low == 0:
        return f"At λ ≤ {high_text} choose {_or(names)}{tied} {chance}"
    if np.isinf(high):
        return f"above, {_or(names)}{tied} {chance}"
    return f"from {low_text} to {high_text}, {_or(names)}{tied} {chance}"


def _within(low: float, high: float, at: float) -> float:
    """A λ that stands for an interval: the reference if it lies inside, else a round one near the middle."""
    if low < at < high or (low == 0 and at == 0):
        return at
    middle = 2 * low if np.isinf(high) else (low + high) / 2
    for digits in range(1, 16):
        rounded = float(f"{middle:.{digits}g}")
        if low < rounded < high:
            return rounded
    return middle


def _runner_up(assay: "Assay", rows: Sequence["Ranked"], at: float) -> str:
    first, second, *rest = [r for r in rows if r.rank is not None]
    alpha = 1 - assay.settings.level
    text = f"At λ = {_number(at)} the mean E of {first.model} is {_with_interval(first.estimate)}; "
    difference = second.difference
    if float(difference) == 0:
        return text + f"{second.model} has the same."
    if np.isinf(difference):
        return text + f"that of the runner-up, {second.model}, is infinite."
    text += f"the runner-up, {second.model}, is {_with_interval(difference, level=False)} worse, "
    if np.isnan(second.pvalue_holm):
        reason = next((part for part in difference.note.split("; ") if "no test" in part), "no test")
        return text + f"whether by chance cannot be said ({reason})."
    if difference.low == difference.high:
        return text + "which is the same in every instance."
    p = _pvalue(second.pvalue_holm)
    if second.pvalue_holm > alpha:
        unclear = [r.model for r in rest if r.pvalue_holm > alpha]
        also = f", and so could what separates it from {_and(unclear)}" if unclear else ""
        return text + f"which could be chance ({p}, Holm){also}."
    unclear = [r.model for r in rest if r.pvalue_holm > alpha]
    also = f"; what separates it from {_and(unclear)} could be" if unclear else ""
    return text + f"which is hardly chance ({p}, Holm){also}."


def _alone(assay: "Assay", rows: Sequence["Ranked"], at: float) -> str:
    alone = next(r for r in rows if r.rank is not None)
    beaten = [f"{_BASELINE[r.model]} ({float(r.estimate):.3f})" for r in rows if r.rank is None]
    text = f"At λ = {_number(at)} the mean E of {alone.model}, the only model, is {_with_interval(alone.estimate)}"
    if alone.below:
        return text + "."
    return text + f", better than {_and(beaten)}."


_BASELINE = {"vacuous": "saying nothing at all", "class-prior": "the class frequencies"}


def _baselines(assay: "Assay", rows: Sequence["Ranked"], at: float) -> str:
    by_baselines: dict[tuple[str, ...], list[str]] = {}
    for r in rows:
        if r.below:
            by_baselines.setdefault(r.below, []).append(r.model)
    parts = []
    for names, models in by_baselines.items():
        subject = _and([f"{_BASELINE[name]} ({name})" for name in names])
        verb = "do" if len(names) > 1 or names[0] == "class-prior" else "does"
        models_text = "every model" if len(models) == len(assay.candidates) > 1 else _and(models)
        parts.append(f"{subject} {verb} better than {models_text}")
    return f"At λ = {_number(at)} {'; '.join(parts)}." if parts else ""


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
        f"Where {by} is {value} ({n} instances) {other} does better than {winner} at λ = {_number(at)}, by "
        f"{_with_interval(test.difference, level=False)} ({_pvalue(float(adjusted[i]))}, Holm)."
    )


def _number(value: float) -> str:
    """λ with two decimals, or two digits below 0.1; no trailing zeros on round values."""
    text = f"{value:.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"
    exact = f"{value:g}"
    return exact if len(exact) < len(text) else text


def _with_interval(estimate: Estimate, *, level: bool = True) -> str:
    value, low, high = float(estimate), estimate.low, estimate.high
    if not (np.isfinite(low) and np.isfinite(high)) or low == high:
        return f"{value:.3f}"
    words = f"{100 * estimate.level:g} % interval " if level else ""
    return f"{value:.3f} ({words}{low:.3f} to {high:.3f})".replace("-", "−")


def _share(share: float, n_draws: int) -> str:
    percent = 100 * share
    if n_draws >= 1000 and percent > 99.9:
        return "more than 99.9 %"
    return f"{percent:.1f} %" if 99 < percent < 100 else f"{percent:.0f} %"


def _pvalue(p: float) -> str:
    if p < 0.001:
        return "p < .001"
    digits = 3 if p < 0.0095 else 2
    return f"p = {p:.{digits}f}".replace("= 0.", "= .")


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
