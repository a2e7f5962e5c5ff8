"""Rank sets of the models of an assay by one metric, and the greatest value that each loss can have on one instance."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.evidence.findings import one_run
from uqassay.evidence.loss_lines import LossLines, LossReading, loss_lines
from uqassay.evidence.mistake_ranking import compare_rankings, scores_of
from uqassay.evidence.order_errors import order_errors
from uqassay.evidence.prior_of_the_others import column_of, has_held_out
from uqassay.evidence.scoring import ModelScores
from uqassay.losses.label_distance import FLOORS
from uqassay.losses.unified import check_tradeoff
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.statistics import (
    PairwiseComparisons,
    RankSets,
    agreeing_comparisons,
    agreeing_pvalues,
    pairwise_mean_tests,
    rank_sets,
)

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "compare_with_one",
    "greatest_excess",
    "mean_metrics",
    "mean_values",
    "pair_tests",
    "rank_sets_at",
    "rank_sets_of",
]

Array = NDArray[np.float64]

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
        raise InputError(
            "metric",
            f"must be one of {', '.join((*known, *RANKING_METRICS))}",
            f"got {metric!r}",
            "choose one of them",
            code="choice",
        )
    if score is not None:
        raise InputError(
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
) -> tuple[Array, Array]:
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

    def found(one: LossReading, several: Sequence[LossReading]) -> tuple[Array, Array]:
        bounds = _bounds(assay, (one, *several), at) if guard else None
        return lines.against(one, several, at, bounds=bounds)

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


def _bounds(assay: "Assay", readings: Iterable[LossReading], tradeoffs: Array) -> Array:
    """`greatest_excess` of the readings by E at each λ, ``(T, J)``."""
    each = [greatest_excess(assay, m, "unified", tradeoffs, held_out=h) for m, h in readings]
    return np.stack([np.broadcast_to(bound, tradeoffs.shape) for bound in each], axis=1)


def _tested_at(
    assay: "Assay", tradeoffs: Sequence[float], readings: Mapping[str, LossReading], references: Sequence[str]
) -> list[PairwiseComparisons]:
    several, held = list(readings.values()), [readings[name] for name in references]
    bounds = _bounds(assay, several, np.array(tradeoffs, dtype=np.float64))
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
        bound=[float(greatest_excess(assay, m, metric, held_out=h)) for m, h in readings.values()],
        extra_error=order_errors(
            {name: m.order_deviations for name, (m, _) in readings.items()}, factor, references=references
        ),
        references=references,
    )


def greatest_excess(
    assay: "Assay", model: ModelScores, metric: str, tradeoff: ArrayLike = 0.0, *, held_out: bool = False
) -> Array:
    """Upper bound of a model's loss on one instance above that of another model.

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
    if model.baseline and (model.name == "vacuous" or _all_classes_occur(assay)):
        least = {"unified": t, "nonspecificity": np.asarray(1.0)}.get(metric, np.asarray(0.0))
        least = least * (assay.settings.nonspecificity == "korner")  # 1 for a precise set; the other measures are 0
        return np.asarray(_greatest_of(assay, model, metric, t, held_out=held_out) - least)
    k = assay.n_classes
    width = {"pal": 1 - 1 / k, "korner": k - 1.0}.get(assay.settings.nonspecificity, float(np.log(k)))
    imprecision = 0.0 if model.n_points == 1 else width
    if assay.settings.convention == "paper" and assay.settings.nonspecificity.startswith("credal-uncertainty"):
        imprecision = float(np.log2(k))  # log2 K − H2(p) of a point p
    if metric == "nonspecificity":
        return np.asarray(imprecision)
    if metric in ("log-loss", "brier"):
        return np.asarray(_greatest_loss(metric, _floor_of_log_loss(assay, model)))
    farthest = _greatest_loss(assay.settings.distance, model.floor)
    return farthest + t * imprecision if metric == "unified" else np.asarray(farthest)


def _greatest_of(assay: "Assay", model: ModelScores, metric: str, tradeoff: Array, *, held_out: bool) -> Array:
    """Greatest loss of a baseline, which says few different things."""
    if metric != "unified":
        return np.asarray(_values(model, metric, held_out=held_out).max())

    def said() -> Array:
        terms = [column_of(model, term, held_out=held_out).ravel() for term in ("distance", "nonspecificity")]
        pairs = np.stack(terms, axis=1).view(np.complex128)  # which sort faster than rows do
        return np.unique(pairs).view(np.float64).reshape(-1, 2)

    d, ns = assay.shared.once(("said", model.name, held_out), said).T
    return np.asarray((d + tradeoff[..., np.newaxis] * ns).max(axis=-1))


def _greatest_loss(name: str, floor: float) -> float:
    if name in ("kl", "log-loss"):
        return float("inf") if floor == 0 else float(-np.log(floor))
    return {"js": float(np.log(2)), "js_distance": float(np.log(2) ** 0.5), "brier": 2.0}.get(name, 1.0)


def _floor_of_log_loss(assay: "Assay", model: ModelScores) -> float:
    # the paper's convention has another floor for the distance; the log loss then keeps that of "exact"
    held = assay.settings.convention == "exact" or assay.settings.floor is not None
    return model.floor if held else FLOORS["exact"]


def _all_classes_occur(assay: "Assay") -> bool:
    def found() -> bool:
        return assay.labels.ndim == 1 and len(np.unique(assay.labels)) == assay.n_classes

    return assay.shared.once("all-classes-occur", found)


def mean_values(assay: "Assay", model: str, metric: str, tradeoff: float) -> Array:
    """Values of every run and instance whose mean is one of `mean_metrics`, ``(R, n)``."""
    return assay.loss(model, tradeoff) if metric == "unified" else _values(assay[model], metric)


def _values(model: ModelScores, metric: str, *, held_out: bool = False) -> Array:
    """Values of every run and instance, ``(R, n)``."""
    return column_of(model, COLUMNS.get(metric, "distance"), held_out=held_out)


def _of_ranking_metric(assay: "Assay", metric: str, score: str | None) -> RankSets:
    if score is None:
        raise InputError(
            "score", f"is needed for {metric!r}", "got none", "write score='total-entropy'", code="missing"
        )
    having = [m.name for m in assay.candidates if score in scores_of(m, assay)]
    if not having:
        known = dict.fromkeys(name for m in assay.candidates for name in scores_of(m, assay))
        raise InputError(
            "score", f"must be one of {', '.join(known)}", f"got {score!r}", "choose one of them", code="choice"
        )
    found = compare_rankings(assay, [(name, score) for name in having], metric=metric, names=having)
    return rank_sets(found, greater_is_better=RANKING_METRICS[metric].higher_is_better)
