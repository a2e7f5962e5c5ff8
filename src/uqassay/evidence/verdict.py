"""The verdict in words: which model at which λ, how sure that is, and what should make a reader hesitate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.calibration_verdict import calibration_sentence
from uqassay.evidence.mistake_ranking import reference_score
from uqassay.metrics.choice_of_tradeoff import lower_envelope
from uqassay.statistics import Estimate, PairedComparison, holm, paired_mean_test

if TYPE_CHECKING:
    from uqassay.evidence import Assay, Ranked

__all__ = ["reference_tradeoff", "verdict", "without_direction"]

KEPT = 0.9  # share of the instances kept where the most uncertain ones are refused
SHOWN_INTERVALS = 4  # winners that one sentence can still name
SUBGROUP_VALUES = 50  # a subgroup with more values is an identifier, not a part of the test set
USUAL_TRADEOFFS = (0.01, 2.0)  # with KL; a reference beyond them is remarked on
DIRECTIONS = dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd")


def verdict(assay: "Assay") -> tuple[str, ...]:
    """A few plain sentences with numbers, for the page and the terminal.

    Parameters
    ----------
    assay : Assay

    Returns
    -------
    tuple of str
        The winner on each interval of λ with its share of bootstrap resamples; where a baseline has a lower mean E
        than all of them; the distance to the runner-up at `reference_tradeoff` with the test adjusted by Holm; the
        baselines that do better than a model there; the subgroup in which another model wins; what refusing the
        tenth that the best model is most unsure of does to its accuracy; which models the calibration tests reject,
        adjusted by Holm for all of them; what the reference amounts to with another distance than KL. Sentences without
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
    at = reference_tradeoff(assay)
    rows = assay.ranked(at)
    if len(assay.candidates) == 1:
        sentences = [_alone(assay, rows, at), _silence(assay)]
    else:
        sentences = [_choice(assay, winners, at), _silence(assay), _runner_up(assay, rows, at)]
    sentences += [_baselines(assay, rows, at), _subgroup(assay, rows, at), _refusal(assay, rows)]
    sentences += [calibration_sentence(assay), _scale(assay, at)]
    return tuple(without_direction(sentence) for sentence in sentences if sentence)


def reference_tradeoff(assay: "Assay") -> float:
    """The λ at which a report starts: the middle one of `assay.tradeoffs`, the lower of two.

    Examples
    --------
    >>> import uqassay as uq
    >>> reference_tradeoff(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0], tradeoffs=[2.0, 0.1, 0.5]))
    0.5
    """
    return assay.tradeoffs[(len(assay.tradeoffs) - 1) // 2]


def without_direction(text: str) -> str:
    r"""Text whose marks of direction are replaced, so that a name cannot turn the words and numbers after it around.

    Examples
    --------
    >>> without_direction("a\u202eb") == "a\ufffdb"
    True
    """
    return text.translate(DIRECTIONS)


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
    tied = " (equal throughout)" if len(names) > 1 else ""
    if assay.n_units == 1:
        only = "1 instance" if assay.groups is None else "1 group"
        chance = f"(how surely cannot be said: {only}, nothing to resample)" if first else "(the same)"
    else:
        shares = assay.winning_probabilities([where])[0]
        each = [_share(float(shares[assay.model_names.index(name)]), assay.settings.n_draws) for name in names]
        wins = "wins in " if len(names) == 1 else "win in "
        share_text = _and(each) if len(set(each)) > 1 else each[0]
        of = f"{' of resamples' * first}{' each' * (len(names) > 1 and len(set(each)) == 1)}"
        chance = f"({wins * first}{share_text}{of} at λ = {_number(where)})"
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
        reason = next((note.text for note in difference.notes if note.code == "no-test"), "no test")
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
    text = f"At λ = {_number(at)} the mean E of {alone.model}, the only model, is {_with_interval(alone.estimate)}"
    if alone.below:
        return text + "."
    others = [r for r in rows if r.rank is None]
    tests = [assay.compare(alone.model, r.model, tradeoff=at) for r in others]
    adjusted = holm([t.pvalue for t in tests])
    beaten = []
    for r, test, p in zip(others, tests, adjusted.tolist(), strict=True):
        kind, word = _chance(assay, test, p)
        how = {"same": "", "chance": f"; could be chance, {word}, Holm", "clear": f"; {word}, Holm"}.get(
            kind, f"; {word}"
        )
        beaten.append(f"{_BASELINE[r.model]} ({float(r.estimate):.3f}{how})")
    return text + f", better than {_and(beaten)}."


_BASELINE = {"vacuous": "saying nothing at all", "class-prior": "the class frequencies"}


def _silence(assay: "Assay") -> str:
    """Where a baseline has the lowest mean E of all, so that no choice of a model is worth its name."""
    d, ns = (np.array([m.columns[key].mean() for m in assay.models]) for key in ("distance", "nonspecificity"))
    parts = []
    for low, high, places in lower_envelope(d, ns):
        winners = [assay.models[j] for j in places]
        if not all(m.baseline for m in winners):
            continue
        if low == 0:
            where = "at every λ" if np.isinf(high) else f"below λ = {_number(high)}"
        else:
            where = f"above λ = {_number(low)}" if np.isinf(high) else f"from λ = {_number(low)} to {_number(high)}"
        verb = "have" if len(winners) > 1 or winners[0].name == "class-prior" else "has"
        parts.append(f"{where} {_and([_named(m.name) for m in winners])} {verb} a lower mean E than any model")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _baselines(assay: "Assay", rows: Sequence["Ranked"], at: float) -> str:
    """Which baselines do better than which models at one λ, and whether that could be chance."""
    claims = [(r.model, name) for r in rows for name in r.below]
    if not claims:
        return ""
    tests = [assay.compare(model, name, tradeoff=at) for model, name in claims]
    chances: dict[str, list[tuple[float, str, str]]] = {}
    for (model, _), test, p in zip(claims, tests, holm([t.pvalue for t in tests]).tolist(), strict=True):
        chances.setdefault(model, []).append((p, *_chance(assay, test, p)))
    by_baselines: dict[tuple[tuple[str, ...], str], list[str]] = {}
    words: dict[tuple[tuple[str, ...], str], list[tuple[float, str]]] = {}
    for r in rows:
        if r.below:  # of several baselines the least certain claim counts
            p, kind, word = max(chances[r.model], key=lambda c: (_KINDS.index(c[1]), np.nan_to_num(c[0], nan=2.0)))
            by_baselines.setdefault((r.below, kind), []).append(r.model)
            words.setdefault((r.below, kind), []).append((p, word))
    parts = []
    for (names, kind), models in by_baselines.items():
        verb = "do" if len(names) > 1 or names[0] == "class-prior" else "does"
        models_text = "every model" if len(models) == len(assay.candidates) > 1 else _and(models)
        p, word = (min if kind == "chance" else max)(words[names, kind], key=lambda w: np.nan_to_num(w[0], nan=2.0))
        if len(models) > 1:
            word = word.replace("p = ", "p ≥ " if kind == "chance" else "p ≤ ")
        could = {"chance": "could be chance, ", "clear": "hardly chance, "}.get(kind, "")
        adjusted = ", Holm" if kind in ("chance", "clear") else ""
        subject = _and([_named(name) for name in names])
        parts.append(f"{subject} {verb} better than {models_text} ({could}{word}{adjusted})")
    return f"At λ = {_number(at)} {'; '.join(parts)}."


def _named(baseline: str) -> str:
    return f"{_BASELINE[baseline]} ({baseline})"


_KINDS = ("same", "clear", "unknown", "chance")  # the more certain first


def _chance(assay: "Assay", test: PairedComparison, p: float) -> tuple[str, str]:
    """One of `_KINDS` and the words for it."""
    if np.isnan(p):
        return "unknown", "whether by chance cannot be said"
    if test.difference.low == test.difference.high:
        return "same", "by the same in every instance"
    return ("clear" if p <= 1 - assay.settings.level else "chance"), _pvalue(p)


def _scale(assay: "Assay", at: float) -> str:
    """What the reference amounts to in terms of KL, for which the usual λ are meant."""
    try:
        scale = assay.tradeoff_scale()
    except InputError:
        return ""
    least, most = USUAL_TRADEOFFS
    if scale <= 0 or not np.isfinite(scale) or at == 0 or least <= at / scale <= most:
        return ""
    return (
        f"With this distance λ = {_number(at)} prices imprecision as λ = {_number(at / scale)} does with KL; "
        f"the usual λ, up to {_number(most)} with KL, end here at {_number(most * scale)}."
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
        f"Where {by} is {value} ({n} instances) {other} does better than {winner} at λ = {_number(at)}, by "
        f"{_with_interval(test.difference, level=False)} ({_pvalue(float(adjusted[i]))}, Holm)."
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
    share, name = f"{100 * (1 - KEPT):.0f} %", score.replace("-", " ")
    if gain.low <= 0:
        ends = f"{100 * gain.low:.1f} to {100 * gain.high:.1f}".replace("-", "−")
        return f"Refusing the {share} that {model} is most unsure of ({name}) need not help: accuracy changes by {ends} points."
    kept = found.accuracy_kept
    return (
        f"Refuse the {share} that {model} is most unsure of ({name}) and its accuracy rises from "
        f"{100 * found.accuracy_all:.1f} % to {100 * kept:.1f} % ({100 * kept.low:.1f} to {100 * kept.high:.1f} %)."
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
