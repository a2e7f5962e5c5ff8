"""Paired tests of the mean losses of models and baselines at any λ, guarded against losses that have not been seen."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.credal.distances import DISTANCES
from uqassay.evidence.baselines import column_of, has_held_out
from uqassay.evidence.data import Judged, one_run
from uqassay.evidence.excess import TERMS
from uqassay.evidence.scoring import ModelScores
from uqassay.losses.unified import FLOORS
from uqassay.measures.nonspecificities import NONSPECIFICITIES
from uqassay.statistics import (
    DetectableDifference,
    Estimate,
    MarginTest,
    MeanLines,
    PairedComparison,
    PairwiseComparisons,
    agreeing_comparisons,
    agreeing_pvalues,
    no_worse_than_best,
    paired_mean_test,
    pairwise_mean_tests,
)
from uqassay.statistics.adjustments import Adjust
from uqassay.statistics.units import independent_number

__all__ = [
    "COLUMNS",
    "OF_THE_MEAN",
    "LossLines",
    "LossReading",
    "cases_of",
    "compare_pairs",
    "compare_with_one",
    "detectable_at",
    "excess_over",
    "greatest_excess",
    "loss_lines",
    "margin_test_at",
    "mean_metrics",
    "mean_values",
    "no_worse_at",
    "order_error",
    "order_errors",
    "pair_tests",
    "pair_tests_at",
    "rests_on_inputs",
    "smallest_shown",
]


# Standard errors that estimated non-specificities add to differences of means; the random orders are shared.


def order_error(a: ArrayLike, b: ArrayLike, factor: float = 1.0) -> float:
    """Standard error that random orders of the classes add to the difference of two means.

    Parameters
    ----------
    a, b : array_like (S,), or empty
        Deviation of the mean non-specificity by each of S shared orders; empty where it is exact.
    factor : float
        Weight of the non-specificity in the difference, such as λ.

    Examples
    --------
    >>> order_error([0.1, -0.1], [])
    0.1
    >>> order_error([0.1, -0.1], [0.1, -0.1])  # the same orders: the errors cancel
    0.0
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    size = max(first.size, second.size)
    if size == 0:
        return 0.0
    apart = (first if first.size else np.zeros(size)) - (second if second.size else np.zeros(size))
    return float(factor * (apart.std(ddof=1) / np.sqrt(size)))


def order_errors(deviations: Mapping[str, ArrayLike], factor: float, *, references: Sequence[str] = ()) -> Floats:
    """`order_error` of every pair of means, ``(J, J)``; 0 between references, which are not compared with each other."""
    names = list(deviations)
    errors = np.zeros((len(names), len(names)))
    if factor and any(np.size(d) for d in deviations.values()):
        for i, a in enumerate(names):
            for j, b in enumerate(names[:i]):
                if not (a in references and b in references):
                    errors[i, j] = errors[j, i] = order_error(deviations[a], deviations[b], factor)
    return errors


# Mean E of all models as lines in λ, with what their tests at every λ share.


class LossReading(NamedTuple):
    """Losses of a model or baseline; those of the class frequencies have two readings."""

    model: ModelScores
    held_out: bool = False


class LossLines:
    """Mean E of all models and baselines at any λ.

    Parameters
    ----------
    assay : Assay
    rows : bool array (n,), optional
        The instances, by default all; for those `loss_lines` keeps the lines of an assay.
    """

    def __init__(self, assay: Judged, rows: NDArray[np.bool_] | None = None) -> None:
        chosen = slice(None) if rows is None else rows
        readings = [LossReading(m) for m in assay.models]
        self._names = {(m.name, False): m.name for m in assay.models}
        for m in filter(has_held_out, assay.models):
            readings.append(LossReading(m, held_out=True))
            self._names[m.name, True] = _new_name(f"{m.name} of the others", tuple(self._names.values()))
        self._places = {name: k for k, name in enumerate(self._names.values())}
        terms = ("distance", "nonspecificity")
        columns = {
            self._name(r): tuple(one_run(column_of(r.model, term, held_out=r.held_out)[:, chosen]) for term in terms)
            for r in readings
        }
        self._lines = MeanLines(columns, **assay.sample(chosen))
        self._errors = order_errors({self._name(r): r.model.order_deviations for r in readings}, 1.0)
        self._level = assay.settings.level

    def tests(
        self,
        readings: Sequence[LossReading],
        tradeoffs: Sequence[float],
        *,
        bounds: Floats,
        references: Sequence[LossReading],
        adjust: Adjust | None = None,
    ) -> list[PairwiseComparisons]:
        """`statistics.pairwise_mean_tests` of E at each of T λ, with bounds (T, J, J); the names are those of this object."""
        names = [self._name(r) for r in readings]
        places = [self._places[name] for name in names]
        return self._lines.tests_at(
            [(1.0, t) for t in tradeoffs],
            names=names,
            level=self._level,
            bounds=list(bounds),
            extra_errors=[t * self._errors[np.ix_(places, places)] for t in tradeoffs],
            references=[self._name(r) for r in references],
            adjust=adjust,
        )

    def of_pairs(
        self,
        first: Sequence[LossReading],
        second: Sequence[LossReading],
        tradeoffs: Floats,
        *,
        bounds: tuple[ArrayLike, ArrayLike],
    ) -> tuple[Floats, Floats]:
        """Mean E of first minus that of second, and the p-values of `tests`, not adjusted, ``(..., P)`` each.

        λ are (..., 1) for all pairs or (..., P) for each. The bounds are those of the first over the second, and the reverse.
        """
        names, others = ([self._name(r) for r in readings] for readings in (first, second))
        errors = self._errors[[self._places[name] for name in names], [self._places[name] for name in others]]
        combinations = np.stack([np.ones_like(tradeoffs), tradeoffs], axis=-1)  # (..., P, 2)
        return self._lines.of_pairs(combinations, names, others, bounds=bounds, extra_error=tradeoffs * errors)

    def estimates(self, models: Sequence[ModelScores], tradeoff: float) -> list[Estimate]:
        """Mean E of models at one λ, with Hall's interval for skewed losses."""
        names = [self._name(LossReading(m)) for m in models]
        return self._lines.estimates((1.0, tradeoff), names, level=self._level, method="hall")

    def differences(
        self, readings: Sequence[LossReading], other: LossReading, tradeoff: float
    ) -> list[PairedComparison]:
        """`statistics.paired_mean_test` of readings against another one at one λ."""
        names = [self._name(r) for r in readings]
        return self._lines.differences((1.0, tradeoff), names, self._name(other), level=self._level)

    def margins(
        self,
        readings: Sequence[LossReading],
        other: LossReading,
        tradeoff: float,
        *,
        margin: float,
        bounds: tuple[Floats, Floats],
    ) -> list[MarginTest]:
        """`statistics.paired_margin_test` of readings against another one, with bounds (P,) of these and of the other."""
        names, one = [self._name(r) for r in readings], self._name(other)
        extra = tradeoff * self._errors[self._places[one], [self._places[name] for name in names]]
        return self._lines.margin_tests(
            (1.0, tradeoff), names, one, margin=margin, level=self._level, bounds=bounds, extra=extra
        )

    def detectable(
        self,
        readings: Sequence[LossReading],
        other: LossReading,
        tradeoff: float,
        *,
        bounds: Floats,
        alphas: Sequence[float],
        plans: bool,
    ) -> list[DetectableDifference]:
        """`statistics.detectable_difference` of readings from another one, each with its bound and level."""
        names, one = [self._name(r) for r in readings], self._name(other)
        extra = tradeoff * self._errors[self._places[one], [self._places[name] for name in names]]
        return self._lines.detectable(
            (1.0, tradeoff), names, one, alphas=alphas, bounds=bounds, extra=extra, plans=plans
        )

    def _name(self, reading: LossReading) -> str:
        return self._names[reading.model.name, reading.held_out]


def loss_lines(assay: Judged) -> LossLines:
    """Those of an assay, kept in `Assay.shared`."""
    return assay.shared.once("loss-lines", lambda: LossLines(assay))


def _new_name(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else _new_name(f"{name}'", taken)


# Tests of pairs of models and baselines by a mean, with the greatest excess that either can have over the other.

# metrics that are means of a column over the instances
COLUMNS = {"accuracy": "correct", "log-loss": "log-loss", "brier": "brier", "nonspecificity": "nonspecificity"}
OF_THE_MEAN = ("accuracy", "log-loss", "brier")  # of the mean prediction, which the vacuous statement has none of


def mean_metrics(assay: Judged) -> tuple[str, ...]:
    """Names of the metrics that are means over the instances, for `rank_sets_of`."""
    if not assay.of_answers:
        return ("unified", assay.settings.distance_metric, *COLUMNS)
    stated = any(m.states_confidence for m in assay.candidates)
    return ("unified", assay.settings.distance_metric, "accuracy", *(("log-loss", "brier") if stated else ()))


def pair_tests(
    assay: Judged,
    names: Sequence[str],
    metric: str,
    *,
    references: Sequence[str] = (),
) -> PairwiseComparisons:
    """Paired tests of models and baselines by one of `mean_metrics` but "unified".

    The class frequencies of the test labels saw each label, and those of all other instances did not: the first are better
    than the true ones, the second worse. So a model is told from this baseline only if it can be told from both.

    Parameters
    ----------
    assay : Assay
    names : sequence of str
        Of models and baselines.
    metric : str
    references : sequence of str
        Those that are not compared with each other.
    """
    (found,) = _agreeing(assay, names, references, lambda *readings: [_tested(assay, metric, *readings)])
    return found


def pair_tests_at(
    assay: Judged, names: Sequence[str], tradeoffs: Sequence[float], *, references: Sequence[str], adjust: Adjust
) -> list[PairwiseComparisons]:
    """`pair_tests` of the mean E at each of several λ, with adjusted p-values by `adjust`."""

    def tests(readings: Mapping[str, LossReading], held: Sequence[str]) -> list[PairwiseComparisons]:
        return _tested_at(assay, tradeoffs, readings, held, adjust)

    return _agreeing(assay, names, references, tests, adjust)


def _agreeing(
    assay: Judged,
    names: Sequence[str],
    references: Sequence[str],
    tests: Callable[[Mapping[str, LossReading], Sequence[str]], list[PairwiseComparisons]],
    adjust: Adjust | None = None,
) -> list[PairwiseComparisons]:
    """Tests of readings, with some as references; those of both readings of the class frequencies agree."""
    readings = {name: LossReading(assay[name]) for name in names}
    found = tests(readings, references)
    seen = next((name for name in names if has_held_out(assay[name])), None)
    if seen is None:
        return found
    readings |= {seen: LossReading(assay[seen], held_out=True)}
    second = tests(readings, [name for name in names if name != seen])
    return [agreeing_comparisons(*both, adjust=adjust) for both in zip(found, second, strict=True)]


def compare_with_one(
    assay: Judged, one: str, others: Sequence[str], tradeoffs: ArrayLike, *, lines: LossLines, guard: bool = True
) -> tuple[Floats, Floats]:
    """Mean E of each of several others minus that of one, and the p-values as of `pair_tests`, not adjusted.

    ``(T, J)`` each.

    Parameters
    ----------
    assay : Assay
    one, others : str, sequence of str
    tradeoffs : array_like (T,)
        λ.
    lines : LossLines
        Of all instances or of some of them.
    guard : bool
        Whether losses that have not been seen count, see `statistics.pairwise_mean_tests`.
    """

    at = np.asarray(tradeoffs, dtype=np.float64)

    def found(one: LossReading, several: Sequence[LossReading]) -> tuple[Floats, Floats]:
        bounds = (0.0, 0.0) if not guard else _both_bounds(assay, several, one, at)
        return lines.of_pairs(several, [one] * len(several), at[:, np.newaxis], bounds=bounds)

    first, rest = LossReading(assay[one]), [LossReading(assay[name]) for name in others]
    difference, p = found(first, rest)
    # the class frequencies have a second reading
    if has_held_out(first.model):
        return difference, agreeing_pvalues(difference, p, *found(LossReading(first.model, held_out=True), rest))
    twice = [k for k, r in enumerate(rest) if has_held_out(r.model)]
    if twice:
        second = found(first, [LossReading(rest[k].model, held_out=True) for k in twice])
        p[:, twice] = agreeing_pvalues(difference[:, twice], p[:, twice], *second)
    return difference, p


def compare_pairs(
    assay: Judged, first: Sequence[str], second: Sequence[str], tradeoffs: ArrayLike
) -> tuple[Floats, Floats]:
    """Mean E of first models minus that of second ones, and the p-values as of `pair_tests`, not adjusted, ``(..., P)`` each.

    λ are (..., 1) for all pairs, or (P,), one for each. No baselines, one of which has two readings.
    """
    t = np.asarray(tradeoffs, dtype=np.float64)
    one, other = ([LossReading(assay[name]) for name in names] for names in (first, second))
    bounds = [_excess_of_pairs(assay, *pairs, "unified", t) for pairs in ((one, other), (other, one))]
    return loss_lines(assay).of_pairs(one, other, t, bounds=(bounds[0], bounds[1]))


def _bounds(assay: Judged, readings: Sequence[LossReading], metric: str, tradeoffs: ArrayLike) -> Floats:
    """`excess_over` of every ordered pair of readings, ``(..., J, J)`` at each λ; 0 of a reading over itself."""
    t, j = np.asarray(tradeoffs, dtype=np.float64), len(readings)
    first, second = np.nonzero(~np.eye(j, dtype=bool))
    found = np.zeros((*t.shape, j, j))
    one, other = ([readings[k] for k in places] for places in (first.tolist(), second.tolist()))
    found[..., first, second] = _excess_of_pairs(assay, one, other, metric, t[..., np.newaxis])
    return found


def _both_bounds(
    assay: Judged, several: Sequence[LossReading], one: LossReading, tradeoffs: ArrayLike
) -> tuple[Floats, Floats]:
    """`excess_over` of several readings over one by E, and of the one over these, ``(..., P)`` at each λ."""
    t, same = np.asarray(tradeoffs, dtype=np.float64)[..., np.newaxis], [one] * len(several)
    over, under = ((several, same), (same, several))
    return _excess_of_pairs(assay, *over, "unified", t), _excess_of_pairs(assay, *under, "unified", t)


def excess_over(assay: Judged, one: LossReading, other: LossReading, metric: str, tradeoff: ArrayLike = 0.0) -> Floats:
    """Greatest excess of one reading's loss over another's on any input seen, whatever its label; see `excess.Excess`.

    `greatest_excess` where the loss of each label has no closed form. Shaped as λ for "unified", else ().
    """
    t = np.asarray(tradeoff, dtype=np.float64)
    return _excess_of_pairs(assay, [one], [other], metric, t[..., np.newaxis])[..., 0]


def _excess_of_pairs(
    assay: Judged, first: Sequence[LossReading], second: Sequence[LossReading], metric: str, tradeoffs: Floats
) -> Floats:
    """`excess_over` of P pairs of readings, (..., P) at λ (..., 1) for all pairs, or (..., P)."""
    shape = (*tradeoffs.shape[:-1], len(first))
    t = np.broadcast_to(tradeoffs, shape)
    anything = np.zeros(shape)
    places: dict[tuple[str, bool], list[int]] = {}
    for k, reading in enumerate(first):
        places.setdefault((reading.model.name, reading.held_out), []).append(k)
    for (name, held_out), at in places.items():
        anything[..., at] = greatest_excess(assay, assay[name], metric, t[..., at], held_out=held_out)
    pairs = tuple((a.model.name, a.held_out, b.model.name, b.held_out) for a, b in zip(first, second, strict=True))
    seen = assay.shared.once(
        ("excess seen", metric, pairs),
        lambda: np.array([_seen(assay, a, b, metric) for a, b in zip(first, second, strict=True)]).reshape(-1, 2),
    )
    return np.fmin(anything, np.maximum(seen[:, 0] + t * seen[:, 1], 0.0))


def _seen(assay: Judged, one: LossReading, other: LossReading, metric: str) -> tuple[float, float]:
    """Greatest excess on the inputs seen as a line: its value at λ = 0 and its slope; nan where it is not known."""
    if metric == "accuracy":
        return math.nan, 0.0  # any answer may be wrong
    if metric == "nonspecificity":
        return _wider(assay, one, other), 0.0
    farther = _farther(assay, one, other, {"unified": "distance"}.get(metric, metric))
    return farther, _wider(assay, one, other) if metric == "unified" else 0.0


def _farther(assay: Judged, one: LossReading, other: LossReading, term: str) -> float:
    """Greatest excess of a loss that depends on the label; nan where it is not known."""
    if term not in TERMS:
        term = "distance"
    between = assay.labels.ndim == 2 and not _is_linear(assay, one, other, term)
    if not (one.model.baseline or other.model.baseline or between):
        return assay.excess.of(term, one.model.name, other.model.name)
    most, least = _ends(assay, one, term)[1], _ends(assay, other, term)[0]
    # between labels the loss of the other model may be less than at any of them, but not less than 0
    return most - (least if assay.labels.ndim == 1 else 0.0)


def _is_linear(assay: Judged, one: LossReading, other: LossReading, term: str) -> bool:
    """Whether the difference of the losses is linear in the label distribution, so that it is greatest at a label."""
    distance = assay.settings.distance if term == "distance" else {"log-loss": "kl"}.get(term, term)
    points = term != "distance" or (one.model.n_points == 1 and other.model.n_points == 1)
    return points and distance in ("kl", "brier")


def _ends(assay: Judged, reading: LossReading, term: str) -> tuple[float, float]:
    """Least and greatest loss at any label of the inputs seen; of baselines, which say the same of each, those they have."""
    if reading.model.baseline:
        said = column_of(reading.model, term, held_out=reading.held_out)
        return float(said.min()), float(said.max())
    at = TERMS.index(term), assay.excess.names.index(reading.model.name)
    return float(assay.excess.least[at]), float(assay.excess.greatest[at])


def _wider(assay: Judged, one: LossReading, other: LossReading) -> float:
    """Greatest excess of the non-specificity, which does not depend on the label."""

    # means are kept, and pairs are not: those of 60 models would drive all else from what is kept
    a, b = (
        assay.shared.once(("mean nonspecificity", r.model.name, r.held_out), partial(_mean_nonspecificity, r))
        for r in (one, other)
    )
    return float((a - b).max())


def _mean_nonspecificity(reading: LossReading) -> Floats:
    found: Floats = column_of(reading.model, "nonspecificity", held_out=reading.held_out).mean(axis=0)
    return found


def _tested_at(
    assay: Judged,
    tradeoffs: Sequence[float],
    readings: Mapping[str, LossReading],
    references: Sequence[str],
    adjust: Adjust,
) -> list[PairwiseComparisons]:
    several, held = list(readings.values()), [readings[name] for name in references]
    bounds = _bounds(assay, several, "unified", tradeoffs)
    found = loss_lines(assay).tests(several, tradeoffs, bounds=bounds, references=held, adjust=adjust)
    return [replace(tests, names=tuple(readings), references=tuple(references)) for tests in found]


def _tested(
    assay: Judged, metric: str, readings: Mapping[str, LossReading], references: Sequence[str]
) -> PairwiseComparisons:
    factor = 1.0 if metric == "nonspecificity" else 0.0
    return pairwise_mean_tests(
        {name: one_run(_values(m, metric, held_out=held_out)) for name, (m, held_out) in readings.items()},
        **assay.sample(),
        level=assay.settings.level,
        bound=_bounds(assay, list(readings.values()), metric, 0.0),
        extra_error=order_errors(
            {name: m.order_deviations for name, (m, _) in readings.items()}, factor, references=references
        ),
        references=references,
    )


def greatest_excess(
    assay: Judged, model: ModelScores, metric: str, tradeoff: ArrayLike = 0.0, *, held_out: bool = False
) -> Floats:
    """Upper bound of a model's loss on any instance, seen or not, above that of another model.

    Parameters
    ----------
    assay : Assay
    model : ModelScores
    metric : str
        One of `mean_metrics`.
    tradeoff : array_like
        λ, for "unified".
    held_out : bool
        Whether "class-prior" stands for the class frequencies of the other instances.

    Returns
    -------
    bound : array, shaped as λ for "unified", else ()
        Log loss and KL distance: −ln of the floor, infinite for the floor 0. Accuracy, total variation and Hellinger distance:
        1. Jensen-Shannon divergence: ln 2, its square root √ln 2. Brier score and distance: 2, the squared distance of two
        corners of the simplex. Non-specificity: ln K ("hartley", credal uncertainty over the hull or the box), 1 − 1/K
        ("pal"), K − 1 ("korner"), 0 for points; credal uncertainty in the paper's convention: log2 K, for points as well.
        Unified: distance + λ · non-specificity. The baselines say the same of every instance: the excess of "vacuous" is its
        constant value, and that of "class-prior" the greatest loss of any class, where all classes occur.
    """
    t = np.asarray(tradeoff, dtype=np.float64)
    if metric == "accuracy":
        return np.asarray(1.0)
    size = NONSPECIFICITIES[assay.settings.nonspecificity]
    if model.baseline and (model.name == "vacuous" or _all_classes_occur(assay)):
        least = {"unified": t, "nonspecificity": np.asarray(1.0)}.get(metric, np.asarray(0.0))
        least = least * size.least
        return np.asarray(_greatest_of(assay, model, metric, t, held_out=held_out) - least)
    imprecision = 0.0 if model.n_points == 1 else size.greatest(assay.n_classes) - size.least
    if assay.settings.convention == "paper" and size.of_sizes is None:
        imprecision = float(np.log2(assay.n_classes))  # log2 K − H2(p) of a point p
    if metric == "nonspecificity":
        return np.asarray(imprecision)
    if metric in ("log-loss", "brier"):
        of_the_mean = DISTANCES["kl" if metric == "log-loss" else "brier"]
        return np.asarray(of_the_mean.greatest_at(_floor_of_log_loss(assay, model)))
    farthest = assay.settings.distance_entry.greatest_at(model.floor)
    return farthest + t * imprecision if metric == "unified" else np.asarray(farthest)


EVERY = slice(None)  # instances


def rests_on_inputs(
    assay: Judged,
    better: str,
    worse: str,
    tradeoff: float,
    rows: "NDArray[np.bool_] | slice" = EVERY,
    margin: float = 0.0,
) -> bool:
    """Whether as many inputs as were seen could show nothing of losses that would turn a difference around.

    On inputs unlike those seen, the better model may give the label probability 0, which costs B more than the other model
    loses. If a share q of the inputs costs B, a difference d still holds if q ≤ d/(B + d), and n inputs show nothing of a
    greater share with probability (B/(B + d))^n. The difference rests on other inputs where that is above alpha, shared by all
    pairs of models and baselines.
    """
    if assay.of_answers:  # any answer may be wrong, so that the tests themselves have this bound
        return False
    a, b = (assay.overall(assay.loss(name, tradeoff)[:, rows], rows) for name in (better, worse))
    bound, d = float(greatest_excess(assay, assay[better], "unified", tradeoff)), b - a + margin
    if not (np.isfinite(d) and d > 0 and bound > margin):
        return False
    n = independent_number(assay.sample(rows)["sample_weight"], len(assay.labels[rows]))
    return bool(np.isposinf(bound) or (bound / (bound + d)) ** n > _level_of_pairs(assay))


def cases_of(
    assay: Judged,
    better: str,
    worse: str,
    tradeoff: float,
    rows: "NDArray[np.bool_] | slice" = EVERY,
    margin: float = 0.0,
) -> float:
    """(B + d)/d: in at most one of so many cases may the better model fail outright, see `rests_on_inputs`.

    For d stands the lower end of its interval, at a level for all pairs, or for this one where that is not above 0.
    """
    a, b = (one_run(assay.loss(name, tradeoff)[:, rows]) for name in (better, worse))
    levels = (1 - _level_of_pairs(assay), assay.settings.level)
    low = max(paired_mean_test(b, a, level=level, **assay.sample(rows)).difference.low for level in levels) + margin
    bound = float(greatest_excess(assay, assay[better], "unified", tradeoff))
    return (bound + low) / low if low > 0 else float("inf")


def _level_of_pairs(assay: Judged) -> float:
    """alpha, shared by all pairs of models and baselines; the two baselines are not compared."""
    j = len(assay.models)
    return (1 - assay.settings.level) / max(1, j * (j - 1) // 2 - 1)


def _greatest_of(assay: Judged, model: ModelScores, metric: str, tradeoff: Floats, *, held_out: bool) -> Floats:
    """Greatest loss of a baseline, which says few different things."""
    if metric != "unified":
        return np.asarray(_values(model, metric, held_out=held_out).max())

    def said() -> Floats:
        terms = [column_of(model, term, held_out=held_out).ravel() for term in ("distance", "nonspecificity")]
        pairs = np.stack(terms, axis=1).view(np.complex128)  # which sort faster than rows do
        return np.unique(pairs).view(np.float64).reshape(-1, 2)

    d, ns = assay.shared.once(("said", model.name, held_out), said).T
    return np.asarray((d + tradeoff[..., np.newaxis] * ns).max(axis=-1))


def _floor_of_log_loss(assay: Judged, model: ModelScores) -> float:
    # the paper's convention has another floor for the distance; the log loss then keeps that of "exact"
    held = assay.settings.convention == "exact" or assay.settings.floor is not None
    return model.floor if held else FLOORS["exact"]


def _all_classes_occur(assay: Judged) -> bool:
    def found() -> bool:
        return assay.labels.ndim == 1 and len(np.unique(assay.labels)) == assay.n_classes

    return assay.shared.once("all-classes-occur", found)


def mean_values(assay: Judged, model: str, metric: str, tradeoff: float) -> Floats:
    """Values of every run and instance whose mean is one of `mean_metrics`, ``(R, n)``."""
    return assay.loss(model, tradeoff) if metric == "unified" else _values(assay[model], metric)


def _values(model: ModelScores, metric: str, *, held_out: bool = False) -> Floats:
    """Values of every run and instance, ``(R, n)``."""
    return column_of(model, COLUMNS.get(metric, "distance"), held_out=held_out)


# Models compared by their mean E with a margin, and the smallest difference that the test set could have shown.


def margin_test_at(assay: Judged, a: str, b: str, tradeoff: float, margin: float) -> MarginTest:
    """`statistics.paired_margin_test` of the mean E of two models at one λ, with the greatest losses as bounds.

    Of the class frequencies of the test labels both readings are tested, see `rank_sets.pair_tests`, and the weaker evidence
    counts.
    """
    tests = [_margins(assay, [one], other, tradeoff, margin)[0] for one, other in _readings(assay, a, b)]
    if len(tests) == 1:
        return tests[0]
    first, second = (test.difference for test in tests)
    pvalues: dict[str, Any] = {
        name: float(np.fmax(*(getattr(test, name) for test in tests)))
        for name in ("pvalue_no_worse", "pvalue_no_better", "pvalue_difference")
    }
    if float(first) * float(second) <= 0:
        pvalues["pvalue_difference"] = 1.0
    low, high = float(np.fmin(first.low, second.low)), float(np.fmax(first.high, second.high))
    both = Estimate(
        float(first), low=low, high=high, level=first.level, n=first.n, method=first.method, notes=first.notes
    )
    return replace(tests[0], difference=both, **pvalues)


def detectable_at(assay: Judged, a: str, b: str, tradeoff: float, alpha: float) -> DetectableDifference:
    """The smallest difference of the mean E of two given models that a test at level `alpha` could have shown.

    Of the class frequencies of the test labels that of the reading with the greater one.
    """
    found = [
        _detectable(assay, [one], other, tradeoff, [alpha], plans=True)[0] for one, other in _readings(assay, a, b)
    ]
    return max(found, key=lambda d: d.difference)


def smallest_shown(
    assay: Judged, one: str, others: Sequence[str], tradeoff: float, alphas: Sequence[float]
) -> dict[str, float]:
    """The smallest differences of several models from one that tests at these levels could have shown, by name."""
    if not others:
        return {}
    readings = [LossReading(assay[name]) for name in others]
    found = _detectable(assay, readings, LossReading(assay[one]), tradeoff, alphas, plans=False)
    return {name: d.difference for name, d in zip(others, found, strict=True)}


def no_worse_at(assay: Judged, tradeoff: float, margin: float) -> dict[str, float]:
    """Adjusted p-values of "no worse than any other model by more than the margin", by name; see `no_worse_than_best`."""

    def found() -> dict[str, float]:
        names = assay.model_names
        pvalues = np.zeros((len(names), len(names)))
        for k, name in enumerate(names[:-1]):
            rest = [LossReading(assay[other]) for other in names[k + 1 :]]
            tests = _margins(assay, rest, LossReading(assay[name]), tradeoff, margin)
            pvalues[k + 1 :, k] = [test.pvalue_no_worse for test in tests]
            pvalues[k, k + 1 :] = [test.pvalue_no_better for test in tests]
        return dict(zip(names, no_worse_than_best(pvalues).tolist(), strict=True))

    return assay.shared.once(("no-worse", float(tradeoff), float(margin)), found)


# -- helpers -----------------------------------------------------------------------------------------------------------


def _readings(assay: Judged, a: str, b: str) -> list[tuple[LossReading, LossReading]]:
    """The two models, and once more with the second reading of the class frequencies where one of them has it."""
    one, other = assay[a], assay[b]
    found = [(LossReading(one), LossReading(other))]
    if has_held_out(one) != has_held_out(other):
        found.append((LossReading(one, held_out=has_held_out(one)), LossReading(other, held_out=has_held_out(other))))
    return found


def _margins(
    assay: Judged, readings: Sequence[LossReading], other: LossReading, tradeoff: float, margin: float
) -> list[MarginTest]:
    bounds = _both_bounds(assay, readings, other, tradeoff)
    return loss_lines(assay).margins(readings, other, tradeoff, margin=margin, bounds=bounds)


def _detectable(
    assay: Judged,
    readings: Sequence[LossReading],
    other: LossReading,
    tradeoff: float,
    alphas: Sequence[float],
    *,
    plans: bool,
) -> list[DetectableDifference]:
    bounds = np.maximum(*_both_bounds(assay, readings, other, tradeoff))
    found = loss_lines(assay).detectable(readings, other, tradeoff, bounds=bounds, alphas=alphas, plans=plans)
    # no true difference is greater than the greatest loss
    most = [float(greatest_excess(assay, reading.model, "unified", tradeoff)) for reading in readings]
    return [
        replace(d, difference=float("inf")) if d.difference > bound else d for d, bound in zip(found, most, strict=True)
    ]
