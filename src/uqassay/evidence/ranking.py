"""Lens: which model is best at which λ, and how sure that is."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.credal.distances import DISTANCES
from uqassay.evidence.baselines import column_of, has_held_out, loss_of
from uqassay.evidence.data import one_run
from uqassay.evidence.excess import TERMS, failing_at_most
from uqassay.evidence.findings import widened
from uqassay.evidence.mistakes import compare_rankings, scores_of
from uqassay.evidence.scoring import ModelScores
from uqassay.losses.unified import DEFAULT_TRADEOFF, FLOORS, check_tradeoff
from uqassay.measures.nonspecificities import NONSPECIFICITIES
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.metrics.tradeoff import tradeoff_scale
from uqassay.notes import Note
from uqassay.results import Bar, Shown, ShownCell, ShownRow, ShownTable, Text, row_of, spread
from uqassay.statistics import (
    DetectableDifference,
    Estimate,
    MarginTest,
    MeanLines,
    PairedComparison,
    PairwiseComparisons,
    RankSets,
    VarianceComponents,
    VarianceShare,
    agreeing_comparisons,
    agreeing_pvalues,
    no_worse_than_best,
    paired_mean_test,
    pairwise_mean_tests,
    rank_sets,
    shaffer_factor,
    student_draws,
    variance_components,
)
from uqassay.text import ABSENT, counted, decimals_for, level_text, listed_names, number, pvalue, rank_range, tradeoff

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay

__all__ = [
    "MARKS",
    "VARIANCE_COLUMNS",
    "LossLines",
    "LossReading",
    "Ranked",
    "Ranking",
    "Spread",
    "cases_of",
    "compare_at",
    "compare_with_one",
    "detectable_at",
    "draws_of",
    "excess_over",
    "greatest_excess",
    "limit_notes",
    "loss_lines",
    "margin_test_at",
    "mean_metrics",
    "metric_label",
    "metric_table",
    "no_worse_at",
    "order_error",
    "order_errors",
    "rank_sets_at",
    "rank_sets_of",
    "ranked_at",
    "ranking_table",
    "rests_on_inputs",
    "scale_of_tradeoff",
    "size_text",
    "smallest_shown",
    "variance_of",
    "variance_rows",
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

    def __init__(self, assay: "Assay", rows: NDArray[np.bool_] | None = None) -> None:
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
        self._lines = MeanLines(columns, groups=None if assay.groups is None else assay.groups[chosen])
        self._errors = order_errors({self._name(r): r.model.order_deviations for r in readings}, 1.0)
        self._level = assay.settings.level

    def tests(
        self,
        readings: Sequence[LossReading],
        tradeoffs: Sequence[float],
        *,
        bounds: Floats,
        references: Sequence[LossReading],
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
        )

    def against(
        self, one: LossReading, others: Sequence[LossReading], tradeoffs: Floats, *, bounds: tuple[ArrayLike, ArrayLike]
    ) -> tuple[Floats, Floats]:
        """Mean E of others minus that of one, and the p-values of `tests`, not adjusted, ``(T, P)`` each at T λ.

        The bounds (T, P) are those of the others over the one, and of the one over the others.
        """
        names, at = [self._name(r) for r in others], self._places[self._name(one)]
        errors = np.multiply.outer(tradeoffs, self._errors[at, [self._places[name] for name in names]])
        combinations = np.stack([np.ones_like(tradeoffs), tradeoffs], axis=-1)
        return self._lines.against(combinations, self._name(one), names, bounds=bounds, extra_error=errors)

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


def loss_lines(assay: "Assay") -> LossLines:
    """Those of an assay, kept in `Assay.shared`."""
    return assay.shared.once("loss-lines", lambda: LossLines(assay))


def _new_name(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else _new_name(f"{name}'", taken)


# Rank sets of the models of an assay by one metric, and the greatest value that each loss can have on one instance.

# metrics that are means of a column over the instances
COLUMNS = {"accuracy": "correct", "log-loss": "log-loss", "brier": "brier", "nonspecificity": "nonspecificity"}
OF_THE_MEAN = ("accuracy", "log-loss", "brier")  # of the mean prediction, which the vacuous statement has none of


def mean_metrics(assay: "Assay") -> tuple[str, ...]:
    """Names of the metrics that are means over the instances, for `rank_sets_of`."""
    return ("unified", assay.settings.distance_metric, *COLUMNS)


def rank_sets_of(assay: "Assay", tradeoff: float, metric: str, score: str | None) -> RankSets:
    """Rank sets of the models; see `Assay.rank_sets`."""
    check_tradeoff(tradeoff)
    metric = metric_name(metric)
    if metric in tuple(RANKING_METRICS):  # which compares and does not hash, so that a list is refused below
        return assay.shared.once(("rank-sets", metric, score), lambda: _of_ranking_metric(assay, metric, score))
    known = mean_metrics(assay)
    if metric not in known:
        fail(
            "metric",
            f"must be one of {', '.join((*known, *RANKING_METRICS))}",
            f"got {metric!r}",
            "choose one of them",
            code="choice",
        )
    if score is not None:
        fail(
            "score",
            f"has no effect on {metric!r}",
            f"got {score!r}",
            f"leave it out, or choose one of {', '.join(RANKING_METRICS)}",
            code="conflict",
        )
    if metric == "unified":
        (found,) = rank_sets_at(assay, [tradeoff])
        return found
    return assay.shared.once(("rank-sets", metric), lambda: _of_mean(assay, metric))


def rank_sets_at(assay: "Assay", tradeoffs: Sequence[float]) -> list[RankSets]:
    """Rank sets of the models by their mean E at each of several λ; see `Assay.rank_sets`."""
    names = [m.name for m in assay.models]
    references = [m.name for m in assay.models if m.baseline]

    def found(missing: Sequence[float]) -> list[RankSets]:
        return [rank_sets(tests) for tests in pair_tests_at(assay, names, missing, references=references)]

    return assay.shared.each("rank-sets", [float(t) for t in tradeoffs], found)


def _of_mean(assay: "Assay", metric: str) -> RankSets:
    models = [m for m in assay.models if not (m.name == "vacuous" and m.baseline and metric in OF_THE_MEAN)]
    references = [m.name for m in models if m.baseline]
    comparisons = pair_tests(assay, [m.name for m in models], metric, references=references)
    return rank_sets(comparisons, greater_is_better=metric == "accuracy")


def pair_tests(
    assay: "Assay",
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
    assay: "Assay", names: Sequence[str], tradeoffs: Sequence[float], *, references: Sequence[str] = ()
) -> list[PairwiseComparisons]:
    """`pair_tests` of the mean E at each of several λ."""
    return _agreeing(assay, names, references, lambda *readings: _tested_at(assay, tradeoffs, *readings))


def _agreeing(
    assay: "Assay",
    names: Sequence[str],
    references: Sequence[str],
    tests: Callable[[Mapping[str, LossReading], Sequence[str]], list[PairwiseComparisons]],
) -> list[PairwiseComparisons]:
    """Tests of readings, with some as references; those of both readings of the class frequencies agree."""
    readings = {name: LossReading(assay[name]) for name in names}
    found = tests(readings, references)
    seen = next((name for name in names if has_held_out(assay[name])), None)
    if seen is None:
        return found
    readings |= {seen: LossReading(assay[seen], held_out=True)}
    second = tests(readings, [name for name in names if name != seen])
    return [agreeing_comparisons(*both) for both in zip(found, second, strict=True)]


def compare_with_one(
    assay: "Assay", one: str, others: Sequence[str], tradeoffs: ArrayLike, *, lines: LossLines, guard: bool = True
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
        over, under = (0.0, 0.0) if not guard else _both_bounds(assay, several, one, at)
        return lines.against(one, several, at, bounds=(over, under))

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


def _bounds(assay: "Assay", readings: Sequence[LossReading], metric: str, tradeoffs: ArrayLike) -> Floats:
    """`excess_over` of every ordered pair of readings, ``(..., J, J)`` at each λ; 0 of a reading over itself."""
    t = np.asarray(tradeoffs, dtype=np.float64)
    found = np.zeros((*t.shape, len(readings), len(readings)))
    for a, one in enumerate(readings):
        for b, other in enumerate(readings):
            if a != b:
                found[..., a, b] = excess_over(assay, one, other, metric, t)
    return found


def _both_bounds(
    assay: "Assay", several: Sequence[LossReading], one: LossReading, tradeoffs: ArrayLike
) -> tuple[Floats, Floats]:
    """`excess_over` of several readings over one by E, and of the one over these, ``(..., P)`` at each λ."""
    over = [excess_over(assay, each, one, "unified", tradeoffs) for each in several]
    under = [excess_over(assay, one, each, "unified", tradeoffs) for each in several]
    return np.stack(over, axis=-1), np.stack(under, axis=-1)


def excess_over(assay: "Assay", one: LossReading, other: LossReading, metric: str, tradeoff: ArrayLike = 0.0) -> Floats:
    """Greatest excess of one reading's loss over another's on any input seen, whatever its label; see `excess.Excess`.

    `greatest_excess` where the loss of each label has no closed form. Shaped as λ for "unified", else ().
    """
    t = np.asarray(tradeoff, dtype=np.float64)
    anything = np.broadcast_to(greatest_excess(assay, one.model, metric, t, held_out=one.held_out), t.shape)
    if metric == "accuracy":
        return anything
    wider = _wider(assay, one, other)
    if metric == "nonspecificity":
        return np.fmin(anything, max(wider, 0.0))
    farther = _farther(assay, one, other, {"unified": "distance"}.get(metric, metric))
    if metric == "unified":
        return np.fmin(anything, np.maximum(farther + t * wider, 0.0))
    return np.fmin(anything, max(farther, 0.0))


def _farther(assay: "Assay", one: LossReading, other: LossReading, term: str) -> float:
    """Greatest excess of a loss that depends on the label; nan where it is not known."""
    if term not in TERMS:
        term = "distance"
    between = assay.labels.ndim == 2 and not _is_linear(assay, one, other, term)
    if not (one.model.baseline or other.model.baseline or between):
        return assay.excess.of(term, one.model.name, other.model.name)
    most, least = _ends(assay, one, term)[1], _ends(assay, other, term)[0]
    # between labels the loss of the other model may be less than at any of them, but not less than 0
    return most - (least if assay.labels.ndim == 1 else 0.0)


def _is_linear(assay: "Assay", one: LossReading, other: LossReading, term: str) -> bool:
    """Whether the difference of the losses is linear in the label distribution, so that it is greatest at a label."""
    distance = assay.settings.distance if term == "distance" else {"log-loss": "kl"}.get(term, term)
    points = term != "distance" or (one.model.n_points == 1 and other.model.n_points == 1)
    return points and distance in ("kl", "brier")


def _ends(assay: "Assay", reading: LossReading, term: str) -> tuple[float, float]:
    """Least and greatest loss at any label of the inputs seen; of baselines, which say the same of each, those they have."""
    if reading.model.baseline:
        said = column_of(reading.model, term, held_out=reading.held_out)
        return float(said.min()), float(said.max())
    at = TERMS.index(term), assay.excess.names.index(reading.model.name)
    return float(assay.excess.least[at]), float(assay.excess.greatest[at])


def _wider(assay: "Assay", one: LossReading, other: LossReading) -> float:
    """Greatest excess of the non-specificity, which does not depend on the label."""

    def found() -> float:
        a, b = (column_of(r.model, "nonspecificity", held_out=r.held_out).mean(axis=0) for r in (one, other))
        return float((a - b).max())

    return assay.shared.once(("wider", one.model.name, one.held_out, other.model.name, other.held_out), found)


def _tested_at(
    assay: "Assay", tradeoffs: Sequence[float], readings: Mapping[str, LossReading], references: Sequence[str]
) -> list[PairwiseComparisons]:
    several, held = list(readings.values()), [readings[name] for name in references]
    bounds = _bounds(assay, several, "unified", tradeoffs)
    found = loss_lines(assay).tests(several, tradeoffs, bounds=bounds, references=held)
    return [replace(tests, names=tuple(readings), references=tuple(references)) for tests in found]


def _tested(
    assay: "Assay", metric: str, readings: Mapping[str, LossReading], references: Sequence[str]
) -> PairwiseComparisons:
    factor = 1.0 if metric == "nonspecificity" else 0.0
    return pairwise_mean_tests(
        {name: one_run(_values(m, metric, held_out=held_out)) for name, (m, held_out) in readings.items()},
        groups=assay.groups,
        level=assay.settings.level,
        bound=_bounds(assay, list(readings.values()), metric, 0.0),
        extra_error=order_errors(
            {name: m.order_deviations for name, (m, _) in readings.items()}, factor, references=references
        ),
        references=references,
    )


def greatest_excess(
    assay: "Assay", model: ModelScores, metric: str, tradeoff: ArrayLike = 0.0, *, held_out: bool = False
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
    farthest = DISTANCES[assay.settings.distance].greatest_at(model.floor)
    return farthest + t * imprecision if metric == "unified" else np.asarray(farthest)


EVERY = slice(None)  # instances


def rests_on_inputs(
    assay: "Assay",
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
    a, b = (float(assay.loss(name, tradeoff)[:, rows].mean()) for name in (better, worse))
    bound, d = float(greatest_excess(assay, assay[better], "unified", tradeoff)), b - a + margin
    if not (np.isfinite(d) and d > 0 and bound > margin):
        return False
    n = len(assay.labels[rows])
    return bool(np.isposinf(bound) or (bound / (bound + d)) ** n > _level_of_pairs(assay))


def cases_of(
    assay: "Assay",
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
    groups = None if assay.groups is None else assay.groups[rows]
    levels = (1 - _level_of_pairs(assay), assay.settings.level)
    low = max(paired_mean_test(b, a, groups=groups, level=level).difference.low for level in levels) + margin
    bound = float(greatest_excess(assay, assay[better], "unified", tradeoff))
    return (bound + low) / low if low > 0 else float("inf")


def _level_of_pairs(assay: "Assay") -> float:
    """alpha, shared by all pairs of models and baselines; the two baselines are not compared."""
    j = len(assay.models)
    return (1 - assay.settings.level) / max(1, j * (j - 1) // 2 - 1)


def _greatest_of(assay: "Assay", model: ModelScores, metric: str, tradeoff: Floats, *, held_out: bool) -> Floats:
    """Greatest loss of a baseline, which says few different things."""
    if metric != "unified":
        return np.asarray(_values(model, metric, held_out=held_out).max())

    def said() -> Floats:
        terms = [column_of(model, term, held_out=held_out).ravel() for term in ("distance", "nonspecificity")]
        pairs = np.stack(terms, axis=1).view(np.complex128)  # which sort faster than rows do
        return np.unique(pairs).view(np.float64).reshape(-1, 2)

    d, ns = assay.shared.once(("said", model.name, held_out), said).T
    return np.asarray((d + tradeoff[..., np.newaxis] * ns).max(axis=-1))


def _floor_of_log_loss(assay: "Assay", model: ModelScores) -> float:
    # the paper's convention has another floor for the distance; the log loss then keeps that of "exact"
    held = assay.settings.convention == "exact" or assay.settings.floor is not None
    return model.floor if held else FLOORS["exact"]


def _all_classes_occur(assay: "Assay") -> bool:
    def found() -> bool:
        return assay.labels.ndim == 1 and len(np.unique(assay.labels)) == assay.n_classes

    return assay.shared.once("all-classes-occur", found)


def mean_values(assay: "Assay", model: str, metric: str, tradeoff: float) -> Floats:
    """Values of every run and instance whose mean is one of `mean_metrics`, ``(R, n)``."""
    return assay.loss(model, tradeoff) if metric == "unified" else _values(assay[model], metric)


def _values(model: ModelScores, metric: str, *, held_out: bool = False) -> Floats:
    """Values of every run and instance, ``(R, n)``."""
    return column_of(model, COLUMNS.get(metric, "distance"), held_out=held_out)


def _of_ranking_metric(assay: "Assay", metric: str, score: str | None) -> RankSets:
    if score is None:
        fail("score", f"is needed for {metric!r}", "got none", "write score='total-entropy'", code="missing")
    having = [m.name for m in assay.candidates if score in scores_of(m, assay)]
    if not having:
        known = dict.fromkeys(name for m in assay.candidates for name in scores_of(m, assay))
        fail("score", f"must be one of {', '.join(known)}", f"got {score!r}", "choose one of them", code="choice")
    found = compare_rankings(assay, [(name, score) for name in having], metric=metric, names=having)
    return rank_sets(found, greater_is_better=RANKING_METRICS[metric].higher_is_better)


# Models compared by their mean E with a margin, and the smallest difference that the test set could have shown.


def margin_test_at(assay: "Assay", a: str, b: str, tradeoff: float, margin: float) -> MarginTest:
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


def detectable_at(assay: "Assay", a: str, b: str, tradeoff: float) -> DetectableDifference:
    """The smallest difference of the mean E of two given models that a test at the assay's level could have shown.

    Of the class frequencies of the test labels that of the reading with the greater one.
    """
    alpha = 1 - assay.settings.level
    found = [
        _detectable(assay, [one], other, tradeoff, [alpha], plans=True)[0] for one, other in _readings(assay, a, b)
    ]
    return max(found, key=lambda d: d.difference)


def smallest_shown(assay: "Assay", one: str, others: Sequence[str], tradeoff: float) -> dict[str, float]:
    """The smallest differences of several models from one that the tests of all pairs could have shown, by name.

    Each at the level that Shaffer's procedure leaves the pairs that it does not reject.
    """
    if not others:
        return {}
    alpha, tests = 1 - assay.settings.level, assay.rank_sets(tradeoff).comparisons
    each = [alpha / shaffer_factor(tests.pvalue, alpha)] * len(others)
    found = _detectable(
        assay, [LossReading(assay[name]) for name in others], LossReading(assay[one]), tradeoff, each, plans=False
    )
    return {name: d.difference for name, d in zip(others, found, strict=True)}


def no_worse_at(assay: "Assay", tradeoff: float, margin: float) -> dict[str, float]:
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


def _readings(assay: "Assay", a: str, b: str) -> list[tuple[LossReading, LossReading]]:
    """The two models, and once more with the second reading of the class frequencies where one of them has it."""
    one, other = assay[a], assay[b]
    found = [(LossReading(one), LossReading(other))]
    if has_held_out(one) != has_held_out(other):
        found.append((LossReading(one, held_out=has_held_out(one)), LossReading(other, held_out=has_held_out(other))))
    return found


def _margins(
    assay: "Assay", readings: Sequence[LossReading], other: LossReading, tradeoff: float, margin: float
) -> list[MarginTest]:
    bounds = _both_bounds(assay, readings, other, tradeoff)
    return loss_lines(assay).margins(readings, other, tradeoff, margin=margin, bounds=bounds)


def _detectable(
    assay: "Assay",
    readings: Sequence[LossReading],
    other: LossReading,
    tradeoff: float,
    alphas: Sequence[float],
    *,
    plans: bool,
) -> list[DetectableDifference]:
    bounds = np.maximum(*_both_bounds(assay, readings, other, tradeoff))
    return loss_lines(assay).detectable(readings, other, tradeoff, bounds=bounds, alphas=alphas, plans=plans)


# Models and baselines by their mean E at one λ, with how sure that order is.


@dataclass(frozen=True)
class Ranked:
    """One model's place at one λ."""

    model: str
    rank: int | None  #: 1 for the lowest mean E; None for a baseline.
    #: rank_low, rank_high: First and last rank that the model can have, see `Assay.rank_sets`; None for a baseline.
    rank_low: int | None
    rank_high: int | None
    top: bool | None  #: Whether no model is significantly better; None for a baseline.
    estimate: Estimate  #: Mean E with its interval.
    win_share: float | None  #: Share of resamples in which the model has the lowest mean E; None for a baseline.
    difference: Estimate  #: Mean E minus that of the best model.
    #: pvalue, pvalue_adjusted: Test of that difference; adjusted for all pairs of models and baselines. nan for the
    #: best model.
    pvalue: float
    pvalue_adjusted: float
    #: What alone keeps the difference from being significant: "skewness", "unseen" losses, too few "runs", or "".
    limited_by: str
    below: tuple[str, ...]  #: Baselines with a lower mean E: the model is no better than saying that.
    #: The smallest difference from the best model that these tests could have shown with probability 0.8; nan for
    #: models that are shown to be worse, and for baselines.
    detectable: float = float("nan")
    #: Of the claim that the model is no worse than any other by more than the assay's margin, adjusted for all models;
    #: nan without a margin, and for baselines.
    pvalue_no_worse: float = float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, the intervals spread out."""
        place = row_of(self, "model", "rank", "rank_low", "rank_high", "top")
        rest = (
            "win_share",
            "difference",
            "pvalue",
            "pvalue_adjusted",
            "limited_by",
            "below",
            "detectable",
            "pvalue_no_worse",
        )
        return {**place, **spread("estimate", self.estimate, prefix=""), **row_of(self, *rest)}


def ranked_at(assay: "Assay", tradeoff: float) -> tuple[Ranked, ...]:
    """Models and baselines by their mean E at one λ, best first; see `Assay.ranked`."""
    check_tradeoff(tradeoff)
    return assay.shared.once(("ranked", float(tradeoff)), lambda: _ranked_at(assay, float(tradeoff)))


def _ranked_at(assay: "Assay", tradeoff: float) -> tuple[Ranked, ...]:
    models, n = assay.models, len(assay.candidates)
    found = loss_lines(assay).estimates(models, tradeoff)
    estimates = [widened(e, m, tradeoff) for e, m in zip(found, models, strict=True)]
    means = np.array([float(e) for e in estimates])
    best = int(np.argmin(np.where(np.isnan(means[:n]), np.inf, means[:n])))  # argmin alone would choose a nan
    wins, ranks = assay.win_shares([tradeoff])[0], assay.rank_sets(tradeoff)
    tests = ranks.comparisons
    differences = _differences(assay, best, tradeoff)
    level_with = [m.name for j, m in enumerate(models[:n]) if j != best and tests.adjusted[j, best] > 1 - tests.level]
    detectable = smallest_shown(assay, models[best].name, level_with, tradeoff)
    margin = assay.settings.margin
    no_worse = {} if margin is None else no_worse_at(assay, tradeoff, margin)
    order = sorted(range(len(models)), key=lambda j: (means[j], j))
    places = {j: 1 + i for i, j in enumerate(j for j in order if j < n)}
    rows = []
    for j in order:
        candidate = j < n
        below = [m.name for m, mean in zip(models[n:], means[n:], strict=True) if mean < means[j]]
        rows.append(
            Ranked(
                model=models[j].name,
                rank=places.get(j),
                rank_low=int(ranks.low[j]) if candidate else None,
                rank_high=int(ranks.high[j]) if candidate else None,
                top=bool(ranks.top[j]) if candidate else None,
                estimate=estimates[j],
                win_share=float(wins[j]) if candidate else None,
                difference=differences[j],
                pvalue=float(tests.pvalue[j, best]),
                pvalue_adjusted=float(tests.adjusted[j, best]),
                limited_by=str(tests.limited_by[j, best]),
                below=tuple(below) if candidate else (),
                detectable=detectable.get(models[j].name, np.nan),
                pvalue_no_worse=no_worse.get(models[j].name, np.nan),
            )
        )
    return tuple(rows)


def _differences(assay: "Assay", best: int, tradeoff: float) -> list[Estimate]:
    """The mean E of each model minus that of the best; of the best itself 0 without width, whatever its runs."""
    found = [test.difference for test in _compared(assay, assay.models, assay.models[best], tradeoff)]
    zero = found[best]
    if not np.isnan(zero):
        found[best] = Estimate(0.0, low=0.0, high=0.0, level=zero.level, n=zero.n, method=zero.method, notes=zero.notes)
    return found


def compare_at(
    assay: "Assay",
    a: str,
    b: str,
    tradeoff: float = DEFAULT_TRADEOFF,
    method: str = "student-t",
    margin: float | None = None,
) -> PairedComparison:
    """Paired test of the mean E of two models at one λ; see `Assay.compare`."""
    test = _compared(assay, [assay[a]], assay[b], tradeoff, method)[0]
    wanted = assay.settings.margin if margin is None else margin
    within = None if wanted is None else margin_test_at(assay, a, b, tradeoff, wanted)
    return replace(test, margin=within, detectable=detectable_at(assay, a, b, tradeoff))


def _compared(
    assay: "Assay", models: Sequence[ModelScores], other: ModelScores, tradeoff: float, method: str = "student-t"
) -> list[PairedComparison]:
    """Paired tests of the mean E of several models against another one."""

    def tested(held_out: bool, several: Sequence[ModelScores]) -> list[PairedComparison]:
        if method == "student-t":
            readings = [LossReading(m, held_out=held_out and has_held_out(m)) for m in (*several, other)]
            tests = loss_lines(assay).differences(readings[:-1], readings[-1], tradeoff)
        else:
            tests = [_resampled(assay, m, other, tradeoff, method, held_out=held_out) for m in several]
        return [_with_error(assay, test, m, other, tradeoff) for test, m in zip(tests, several, strict=True)]

    found = tested(False, models)
    twice = [k for k, m in enumerate(models) if has_held_out(m) != has_held_out(other)]
    for k, second in zip(twice, tested(True, [models[k] for k in twice]), strict=True):
        found[k] = _agreeing_places(found[k], second)
    return found


def _resampled(
    assay: "Assay", one: ModelScores, other: ModelScores, tradeoff: float, method: str, *, held_out: bool
) -> PairedComparison:
    return paired_mean_test(
        one_run(loss_of(one, tradeoff, held_out=held_out)),
        one_run(loss_of(other, tradeoff, held_out=held_out)),
        groups=assay.groups,
        level=assay.settings.level,
        method=method,
        rng=assay.settings.seed,
    )


def _with_error(
    assay: "Assay", test: PairedComparison, one: ModelScores, other: ModelScores, tradeoff: float
) -> PairedComparison:
    """A test with the error that random orders of the classes add to it."""
    error = order_error(one.order_deviations, other.order_deviations, tradeoff)
    difference, pvalue = with_order_error(test.difference, test.pvalue, error, assay.groups)
    return test if difference is test.difference else replace(test, difference=difference, pvalue=pvalue)


def _agreeing_places(first: PairedComparison, second: PairedComparison) -> PairedComparison:
    """See `statistics.agreeing_comparisons`."""
    one, other = first.difference, second.difference
    if np.isnan(first.pvalue) or np.isnan(second.pvalue):
        return first
    ends = {"low": float(np.fmin(one.low, other.low)), "high": float(np.fmax(one.high, other.high))}
    difference = Estimate(float(one), **ends, level=one.level, n=one.n, method=one.method, notes=one.notes)
    pvalue = max(first.pvalue, second.pvalue) if float(one) * float(other) > 0 else 1.0
    return replace(first, difference=difference, pvalue=pvalue)


def scale_of_tradeoff(assay: "Assay") -> float:
    """Factor by which λ shrinks from KL to the assay's distance; see `Assay.tradeoff_scale`."""
    if assay.labels.ndim == 2:
        fail(
            "y_true",
            "the scale of λ needs one label per instance",
            "got label distributions",
            "use KL itself",
            code="undefined",
        )
    if assay.settings.distance == "kl":
        return 1.0
    kl = [-np.log(np.maximum(m.columns["upper-label"], m.floor)) for m in assay.candidates]
    return tradeoff_scale([m.columns["distance"] for m in assay.candidates], kl)


def draws_of(assay: "Assay") -> Floats:
    """`draws_of_means` of the models of an assay."""
    s = assay.settings

    def drawn() -> Floats:
        return draws_of_means(assay.candidates, n_draws=s.n_draws, groups=assay.groups, seed=s.seed)

    return assay.shared.once("draws", drawn)


def draws_of_means(models: Sequence[ModelScores], *, n_draws: int, groups: NDArray[Any] | None, seed: int) -> Floats:
    """Draws of each model's mean distance and mean non-specificity, ``(n_draws, J, 2)``, see `statistics.student_draws`."""
    stacked = [np.stack([m.columns["distance"], m.columns["nonspecificity"]], axis=2) for m in models]
    draws = student_draws(stacked, n_draws=n_draws, groups=groups, rng=seed)
    deviations = [np.asarray(m.order_deviations) for m in models]
    size = max(len(d) for d in deviations)
    if size:  # resample the random orders behind estimated non-specificities, the same for all models
        chosen = np.random.default_rng([seed, 1]).integers(size, size=(n_draws, size))
        for j, d in enumerate(deviations):
            if len(d):
                draws[:, j, 1] += d[chosen].mean(axis=1)
    return draws


def with_order_error(
    difference: Estimate, pvalue: float, error: float, groups: NDArray[Any] | None
) -> tuple[Estimate, float]:
    """A difference and its p-value (t test) with the error of an estimated non-specificity added."""
    if error == 0 or not np.isfinite(pvalue):
        return difference, pvalue
    dof = (difference.n if groups is None else len(np.unique(groups))) - 1
    spread = (difference.high - difference.low) / (2 * stdtrit(dof, 0.5 + difference.level / 2))
    text = f"the interval includes the error of an estimated non-specificity, {error:.2g} in the difference"
    wider = difference.widened(error, Note("widened", text, {"standard_error": error}))
    return wider, float(2 * stdtr(dof, -abs(float(difference)) / np.hypot(spread, error)))


# Words of rankings: what was ranked, names of the metrics, and what limits a p-value.

MARKS = {"unseen": "†", "skewness": "‡", "runs": "§"}  # behind a p-value, by what limits it

METRICS = {
    "unified": "mean E",
    "accuracy": "accuracy",
    "log-loss": "log loss",
    "brier": "Brier score",
    "nonspecificity": "non-specificity",
    "uq-auc": "UQ-AUC",
    "uq-c-index": "UQ-C-index",
    "aurc": "AURC",
    "e-aurc": "E-AURC",
    "augrc": "AUGRC",
    "prediction-rejection": "prediction-rejection ratio",
}


def size_text(assay: "Assay") -> str:
    """Models, training runs, instances, groups and classes in words.

    Examples
    --------
    >>> import uqassay as uq
    >>> size_text(uq.assay({"m": [uq.Point([[0.9, 0.1]])] * 3}, [0]))
    '1 model (m, 3 training runs) on 1 instance of 2 classes'
    """
    runs = sorted({m.n_runs for m in assay.candidates})
    who = listed_names(assay.model_names, most=3)
    if runs[-1] > 1:
        who += f", {counted(runs[0], 'training run') if len(runs) == 1 else f'{runs[0]} to {runs[-1]} training runs'}"
        who += " each" if len(runs) == 1 and len(assay.candidates) > 1 else ""
    where = counted(assay.n_instances, "instance")
    where += "" if assay.groups is None else f" in {counted(assay.n_units, 'group')}"
    classes = counted(assay.n_classes, "class", "classes")
    return f"{counted(len(assay.candidates), 'model')} ({who}) on {where} of {classes}"


def limit_notes(assay: "Assay") -> dict[str, str]:
    """What keeps a difference of mean E from being significant, where Student's t alone would make it so.

    Examples
    --------
    >>> import uqassay as uq
    >>> notes = limit_notes(uq.assay({"m": uq.Point([[0.9, 0.1]] * 100)}, [0] * 100))
    >>> print(notes["unseen"])
    significant if rare huge losses could be excluded, which 100 instances cannot; accuracy and Brier score are bounded
    """
    unseen = f"significant if rare huge losses could be excluded, which {counted(assay.n_instances, 'instance')} cannot"
    return {
        "unseen": unseen
        + ("; accuracy and Brier score are bounded" if DISTANCES[assay.settings.distance].floored else ""),
        "skewness": "significant if the losses were less skewed",
        "runs": "significant if the training runs were not so few",
    }


def metric_label(metric: str, score: str = "") -> str:
    """Name of a metric that ranks models, with the score that ranks the mistakes.

    Examples
    --------
    >>> metric_label("brier"), metric_label("uq-auc", "total entropy")
    ('Brier score', 'UQ-AUC of total entropy')
    """
    name = METRICS.get(metric, metric)
    return f"{name} of {score}" if score else name


# The ranking of an assay at one λ, to be read: in a notebook, as a table, as Markdown and LaTeX.

Spread = Literal["interval", "runs"]
SPREADS = ("interval", "runs")
MARKED = "Bold: the lowest mean; underlined: no model is shown to be better."


@final
@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Shown):
    """Models and baselines by their mean E at one λ; made by `Assay.ranking`."""

    _shown_more: ClassVar[str] = "table(), plot(), to_latex(), to_markdown()"

    tradeoff: float  #: λ.
    models: tuple[Ranked, ...]  #: Models and baselines, best first.
    assay: "Assay" = field(repr=False)

    @classmethod
    def of(cls, assay: "Assay", tradeoff: float) -> "Ranking":
        """The ranking of an assay; see `Assay.ranking`."""
        return cls(float(tradeoff), ranked_at(assay, tradeoff), assay)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each model and baseline; the fields of `Ranked` with the intervals spread out, and λ."""
        return self.assay.rows("ranking", tradeoff=self.tradeoff)

    def table(self) -> "pd.DataFrame":
        """The rows as a table, of which "below" (the baselines that do better) is one text."""
        return self.assay.table("ranking", tradeoff=self.tradeoff)

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw mean E with intervals and rank sets; see `report.figures.plot_ranking`."""
        return self.assay.plot(self.tradeoff, ax=ax)

    def to_latex(self, *, spread: Spread = "interval") -> Text:
        """The ranking as a table of LaTeX with booktabs: the best in bold, those not shown to be worse underlined.

        Parameters
        ----------
        spread : {"interval", "runs"}
            What stands after each mean: its confidence interval, or ± the standard deviation over the training runs.
        """
        return Text(ranking_table(self, spread).as_latex())

    def to_markdown(self, *, spread: Spread = "interval") -> Text:
        """The ranking as a table of Markdown; `spread` as in `to_latex`."""
        return Text(ranking_table(self, spread).as_markdown())

    def _shown_title(self) -> str:
        return f"Ranking at λ = {tradeoff(self.tradeoff)} of {size_text(self.assay)}"

    def _shown_sentences(self) -> Sequence[str]:
        own = [r for r in self.models if r.rank is not None]
        top = [r.model for r in own if r.top]
        said = []
        if 1 < len(own) == len(top):
            said.append(f"None of the {len(own)} models is shown to be better than another.")
        elif len(own) > 1:
            worse = [r.model for r in own if not r.top]
            verb = "is" if len(worse) == 1 else "are each"
            others = f"{listed_names(worse, most=3)} {verb} shown to be worse than some model"
            said.append(f"No model is shown to be better than {listed_names(top, last='or', most=3)}; {others}.")
        if own[0].below:
            lower = f"The lowest mean E of a model is above that of {listed_names(own[0].below)}"
            said.append(f"{lower}, which {'is a baseline' if len(own[0].below) == 1 else 'are baselines'}.")
        return said

    def _shown_table(self) -> ShownTable:
        return ranking_table(self)


def ranking_table(ranking: Ranking, spread: Spread = "interval") -> ShownTable:
    """The ranking with rank sets, mean E and p-values, to be read."""
    assay, models = ranking.assay, ranking.models
    own = [r for r in models if r.rank is not None]
    runs = {r.model: assay.loss(r.model, ranking.tradeoff).mean(axis=1) for r in models}
    deviations = run_deviations(spread, runs)
    places = decimals_for((r.estimate.low, r.estimate.high) for r in own)
    level, several, lowest = level_text(assay.settings.level), len(own) > 1, float(own[0].estimate)
    rows = []
    for r in models:
        best = several and r.rank is not None and float(r.estimate) == lowest < np.inf
        tied = several and bool(r.top)
        name = r.model if r.rank is not None else f"{r.model} (baseline)"
        mean = number(float(r.estimate), places)
        ranks = "" if r.rank_low is None or r.rank_high is None else rank_range(r.rank_low, r.rank_high)
        after = spread_text(r.estimate, deviations.get(r.model), places, spread)
        cells = [ShownCell(ranks), *(ShownCell(text, best, tied) for text in (name, mean)), ShownCell(after)]
        if several:
            cells.append(ShownCell(f"{pvalue(r.pvalue_adjusted)}{MARKS.get(r.limited_by, '')}"))
        rows.append(ShownRow(tuple(cells), r.rank is None, Bar(float(r.estimate), r.estimate.low, r.estimate.high)))
    after = f"{level} interval" if spread == "interval" else "± over runs"
    header = ("rank", "model", "mean E", after, *(("p (adjusted)",) if several else ()))
    return ShownTable(header, tuple(rows), _caption(ranking, spread), MARKED, n_words=2)


def _caption(ranking: Ranking, spread: Spread) -> str:
    """What the numbers and marks of the table mean."""
    assay = ranking.assay
    level = level_text(assay.settings.level)
    after = f"{level} intervals" if spread == "interval" else "the standard deviation over the training runs"
    parts = [f"Mean E = d + λ NS at λ = {tradeoff(ranking.tradeoff)}, lower is better, with {after}."]
    if len(assay.candidates) > 1:
        parts.append(f"Rank: all ranks that the tests of all pairs leave open, {level} for all models at once.")
        parts.append("p: against the lowest, adjusted for all pairs.")
        limits = {r.limited_by for r in ranking.models}
        parts += [f"{MARKS[why]}: {text}." for why, text in limit_notes(assay).items() if why in limits]
        first, *rest = (r for r in ranking.models if r.rank is not None)
        told = [r.model for r in rest if r.pvalue_adjusted <= 1 - assay.settings.level]
        resting = [name for name in told if rests_on_inputs(assay, first.model, name, ranking.tradeoff)]
        if resting:
            cases = max(cases_of(assay, first.model, name, ranking.tradeoff) for name in resting)
            parts.append(f"p holds if {failing_at_most({first.model: cases}, assay.settings.distance)}.")
    return " ".join(parts)


def run_deviations(spread: str, runs: Mapping[str, Any]) -> dict[str, float]:
    """Standard deviations over the runs of models that have several; none where intervals are asked for."""
    if spread not in SPREADS:
        fail("spread", f"must be {' or '.join(SPREADS)}", f"got {spread!r}", "choose one of them", code="choice")
    if spread == "interval":
        return {}
    found = {name: float(np.std(values, ddof=1)) for name, values in runs.items() if np.size(values) > 1}
    if not found:
        fail(
            "spread",
            "needs a model with two training runs",
            "got 'runs' where each model has one",
            'write spread="interval"',
            code="conflict",
        )
    return found


def spread_text(estimate: Estimate, deviation: float | None, places: int, spread: Spread) -> str:
    """What stands after a mean: its interval, or the deviation over the runs; nothing where there is none."""
    if spread == "runs":
        return "" if deviation is None else f"± {number(deviation, places)}"
    if not estimate.low < estimate.high:
        return ""
    return f"[{number(estimate.low, places)}, {number(estimate.high, places)}]"


# Models by several metrics beside each other, as the main table of a paper, with the best of each metric marked.

WITHOUT_A_BEST = ("nonspecificity",)  # a smaller set is better only if it is right


def metric_table(
    assay: "Assay", at: float, metrics: Sequence[str] | None, score: str | None, spread: Spread
) -> ShownTable:
    """Means of the models and baselines by several metrics; see `Assay.to_latex`."""
    chosen = ("accuracy", assay.settings.distance_metric, "nonspecificity", "unified") if metrics is None else metrics
    columns = [_column(assay, metric, at, score, spread) for metric in chosen]
    rows = []
    for m in assay.models:
        rows.append(ShownRow((ShownCell(m.name), *(column[m.name] for column in columns)), reference=m.baseline))
    level = level_text(assay.settings.level)
    after = f"{level} intervals" if spread == "interval" else "± standard deviation over the training runs"
    marks = f"Bold: the best model; underlined: no model is shown to be better ({level} for all pairs of a column)."
    header = ("model", *(_header(assay, metric, at, score) for metric in chosen))
    return ShownTable(header, tuple(rows), f"Means with {after}.", marks)


def _header(assay: "Assay", metric: str, at: float, score: str | None) -> str:
    ranking = RANKING_METRICS.get(metric)
    name = metric_label(metric, score or "") if ranking else metric_label(metric)
    name = DISTANCES[assay.settings.distance].heading if metric == assay.settings.distance_metric else name
    if metric == "unified":
        name += f", λ = {tradeoff(at)}"
    if metric in WITHOUT_A_BEST:
        return name
    return f"{name} {'↑' if metric == 'accuracy' or (ranking and ranking.higher_is_better) else '↓'}"


def _column(assay: "Assay", metric: str, at: float, score: str | None, spread: Spread) -> Mapping[str, ShownCell]:
    """Cells of all models and baselines."""
    ranking = metric in tuple(RANKING_METRICS)
    if not ranking and metric not in mean_metrics(assay):
        fail(
            "metrics",
            f"must be among {', '.join((*mean_metrics(assay), *RANKING_METRICS))}",
            f"got {metric!r}",
            "choose from them",
            code="choice",
        )
    ranks = assay.rank_sets(at, metric=metric, score=score if ranking else None)
    found, runs = _estimates(assay, metric, at, score if ranking else "")
    deviations = run_deviations(spread, runs)
    places = decimals_for((found[name].low, found[name].high) for name in ranks.names if name in found)
    marked = len(ranks.names) > 1 and metric not in WITHOUT_A_BEST
    values = {
        name: value for name, value in zip(ranks.names, ranks.values.tolist(), strict=True) if math.isfinite(value)
    }
    best = (max if ranks.greater_is_better else min)(values.values(), default=math.nan)
    cells = {}
    for m in assay.models:
        if m.name not in found or math.isnan(found[m.name]):
            cells[m.name] = ShownCell(ABSENT)
            continue
        after = spread_text(found[m.name], deviations.get(m.name), places, spread)
        first = marked and values.get(m.name) == best
        tied = marked and not first and m.name in ranks.top_names
        cells[m.name] = ShownCell(number(float(found[m.name]), places), first, tied, after)
    return cells


def _estimates(
    assay: "Assay", metric: str, at: float, score: str | None
) -> tuple[dict[str, Estimate], dict[str, list[float]]]:
    """The mean of each model with its interval, and its value in each run."""
    if metric == "unified":
        runs = {m.name: assay.loss(m.name, at).mean(axis=1).tolist() for m in assay.models}
        return {r.model: r.estimate for r in ranked_at(assay, at)}, runs
    found: dict[str, Estimate] = {}
    each: dict[str, list[float]] = {}
    for row in assay.rows("findings"):
        if row["metric"] == metric and (not score or row["score"] == score):
            if row["run"] == "all":
                ends = {key: row[key] for key in ("low", "high", "level", "n", "method", "notes")}
                found[row["model"]] = Estimate(row["estimate"], **ends)
            else:
                each.setdefault(row["model"], []).append(row["estimate"])
    return found, each


# Training runs and test instances as sources of the variance of a mean of an assay.

VARIANCE_COLUMNS = (
    *("model", "metric", "tradeoff", "component", "variance", "share", "low", "high", "level"),
    *("runs", "instances", "groups", "half_width", "notes"),
)
COMPONENTS = ("runs", "instances", "interaction")


def variance_of(
    assay: "Assay", model: str, other: str | None, tradeoff: float = DEFAULT_TRADEOFF, metric: str = "unified"
) -> VarianceComponents:
    """Components of the variance of a mean; see `Assay.variance`."""
    check_tradeoff(tradeoff)
    known = mean_metrics(assay)
    if metric not in known:
        fail("metric", f"must be one of {', '.join(known)}", f"got {metric!r}", "choose one of them", code="choice")
    names = [model, *([] if other is None else [other])]
    values = [one_run(mean_values(assay, name, metric, tradeoff)) for name in names]
    return variance_components(
        values[0],
        values[1] if len(values) == 2 else None,
        groups=assay.groups,
        level=assay.settings.level,
    )


def variance_rows(
    assay: "Assay", *, tradeoff: float = DEFAULT_TRADEOFF, metric: str = "unified"
) -> list[dict[str, Any]]:
    """One row for each model and component."""
    rows = []
    for model in assay.model_names:
        found = variance_of(assay, model, None, tradeoff, metric)
        facts = {
            "level": found.level,
            "runs": found.n_runs[0],
            "instances": found.n_instances,
            "groups": found.n_groups,
            "half_width": found.half_width(),
            "notes": found.notes,
        }
        for name in COMPONENTS:
            share: VarianceShare = found.shares[name]
            at = float(tradeoff) if metric == "unified" else np.nan
            row = {"model": model, "metric": metric, "tradeoff": at, "component": name}
            rows.append(row | {"variance": getattr(found, name)} | share._asdict() | facts)
    return rows
