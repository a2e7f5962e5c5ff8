"""Does the uncertainty rank the mistakes? Every score of every model by the ranking metrics, and what refusing gains."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import available_cores
from uqassay.errors import InputError
from uqassay.evidence.scoring import ModelScores
from uqassay.measures.scores import SCORES
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking.registry import RANKING_METRICS, RankingMetric
from uqassay.metrics.risk.ranked_errors import RankedErrors, rank_errors
from uqassay.metrics.risk.selective_accuracy import Refusals, SelectiveGain, check_coverage
from uqassay.statistics import Estimate, PairedComparison, PairwiseComparisons, proportion_estimate
from uqassay.statistics.linearised import AveragedStatistic, Linearised
from uqassay.statistics.statistic_comparisons import paired_statistic_test, pairwise_statistic_tests

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "TESTED",
    "MistakeRanking",
    "RankedScore",
    "compare_rankings",
    "compare_two_rankings",
    "errors_in_order",
    "linearised_scores",
    "rank_mistakes",
    "reference_score",
    "scores_of",
    "stated_scores",
    "truths_and_scores",
]

Array = NDArray[np.float64]
Statistics: TypeAlias = (
    Linearised | list[Linearised] | AveragedStatistic
)  # of one run, of each of several, or averaged over them
METRICS = ("uq-auc", "uq-c-index", "aurc", "e-aurc", "augrc", "prediction-rejection")
TESTED = ("uq-auc", "uq-c-index")  # of those, the ones that scores are compared by in pairs
TEST_BYTES = 2**28
BYTES_OF_TESTS = 60  # of one instance for both metrics
MANY = 200_000  # instances from which threads share the scores; with fewer they wait for each other
OF_THE_SPREAD = {"credal-width"} | {
    name
    for name, score in SCORES.items()
    if score.needs == "a distribution over distributions"
    or name.removesuffix("-box") in ("credal-uncertainty", "upper-entropy", "lower-entropy")
}
IN_PARTS = ("uq-auc", "uq-c-index")  # of those, the ones also found on parts of the instances


@dataclass(frozen=True)
class MistakeRanking:
    """One ranking metric of one score of one model.

    Attributes
    ----------
    model, score, metric : str
    run : int or None
        None: over all runs.
    estimate : Estimate
    statistic : AveragedStatistic or None
        What paired tests take from it (metrics of `TESTED`, over all runs); None where it would take too much memory.
    """

    model: str
    score: str
    metric: str
    run: int | None
    estimate: Estimate
    statistic: AveragedStatistic | None = field(default=None, repr=False, compare=False)


def scores_of(model: ModelScores, assay: "Assay") -> tuple[str, ...]:
    """Names of the uncertainty scores that rank a model's mistakes; none for class sets, which predict no single class."""
    return stated_scores(model, assay) if model.predicts_classes else ()


def stated_scores(model: ModelScores, assay: "Assay") -> tuple[str, ...]:
    """Names of the uncertainty scores that a model has.

    The non-specificity is among them where its sets are no points; where they are, nothing that speaks of the spread inside
    the sets is.
    """
    names = [name for name in assay.settings.measures if name not in model.undefined]
    if model.n_points == 1:
        return tuple(name for name in names if name not in OF_THE_SPREAD)
    return (*names, "nonspecificity")


def reference_score(assay: "Assay", model: str) -> str | None:
    """The score that models are compared by where one is to be named: the total entropy, else the first there is."""
    known = scores_of(assay[model], assay)
    return "total-entropy" if "total-entropy" in known else next(iter(known), None)


def rank_mistakes(assay: "Assay", model: ModelScores, *, run: int | None = None) -> list[MistakeRanking]:
    """All ranking metrics of all scores of a model, over all its runs or of one."""
    known, of_run = scores_of(model, assay), slice(None) if run is None else slice(run, run + 1)
    options: dict[str, Any] = {"groups": assay.groups, "level": assay.settings.level}
    truths = {"errors": (1.0 - model.columns["correct"])[of_run], "gap": model.columns["gap"][of_run]}
    kept = TESTED if run is None and _tests_fit(assay) else ()

    first = errors_in_order(model)[of_run]

    def of(score: str) -> list[MistakeRanking]:
        scores = model.columns[score][of_run]
        # the instances are sorted once for all metrics of the errors
        ranked = [rank_errors(e, s, like=other) for e, s, other in zip(truths["errors"], scores, first, strict=True)]
        found: list[MistakeRanking] = []
        for name in METRICS:
            metric = RANKING_METRICS[name]
            truth, by_error = truths[metric.truth], ranked if metric.of_ranked is not None else None
            statistic = metric.averaged(truth, scores, assay.groups, ranked=by_error) if name in kept else None
            auc = found[0].estimate if found else None
            estimate = metric.estimate(truth, scores, ranked=by_error, known=statistic, auc=auc, **options)
            found.append(MistakeRanking(model.name, score, name, run, estimate, statistic))
        return found

    threads = min(available_cores(), len(known))
    if threads <= 1 or assay.n_instances < MANY:
        return [one for score in known for one in of(score)]
    with ThreadPoolExecutor(threads) as pool:
        return [one for each in pool.map(of, known) for one in each]


def errors_in_order(model: ModelScores) -> list[RankedErrors]:
    """Errors of each run in the best order, to rank the errors by any score `like` these."""
    return [rank_errors(e, e) for e in 1.0 - model.columns["correct"]]


def _tests_fit(assay: "Assay") -> bool:
    """True if what paired tests need of all scores takes at most `TEST_BYTES`."""
    scores = sum(len(scores_of(m, assay)) for m in assay.candidates)
    return BYTES_OF_TESTS * scores * assay.n_instances <= TEST_BYTES


def rank_mistakes_in_part(assay: "Assay", model: ModelScores, rows: NDArray[np.bool_]) -> list[MistakeRanking]:
    """The main ranking metrics of all scores of a model on some of the instances, ``(n,)``."""
    return [
        MistakeRanking(model.name, score, name, None, _estimate_in_part(assay, model, score, name, rows))
        for score in scores_of(model, assay)
        for name in IN_PARTS
    ]


def compare_two_rankings(
    assay: "Assay", a: tuple[str, str], b: tuple[str, str], *, metric: str = "uq-auc"
) -> PairedComparison:
    """Paired test of two scores, each given by (model, score)."""
    chosen = _metric(metric)
    for name, pair in (("a", a), ("b", b)):
        if not _is_pair(pair):
            raise InputError(
                name, "must be a pair (model, score)", f"got {pair!r}", "write ('DE', 'total-entropy')", code="type"
            )
    first, second = (_linearised(assay, *pair, chosen) for pair in (a, b))
    return paired_statistic_test(
        _one(first), _one(second), groups=assay.groups, level=assay.settings.level, bound=chosen.bound
    )


def linearised_scores(
    assay: "Assay", pairs: Iterable[tuple[str, str]], *, metric: str
) -> dict[tuple[str, str], Statistics]:
    """One ranking metric of several scores, each given by (model, score), for several calls of `compare_rankings`."""
    chosen = _metric(metric)
    return {(model, score): _one(_linearised(assay, model, score, chosen)) for model, score in pairs}


def compare_rankings(
    assay: "Assay",
    pairs: Sequence[tuple[str, str]],
    *,
    metric: str = "uq-auc",
    names: Sequence[str] | None = None,
    known: Mapping[tuple[str, str], Statistics] | None = None,
) -> PairwiseComparisons:
    """Paired tests of every two of several scores, each given by (model, score); named "model: score" or as given.

    `known` holds what `linearised_scores` found for them.
    """
    chosen = _metric(metric)
    if isinstance(pairs, str) or not all(_is_pair(pair) for pair in pairs):
        raise InputError(
            "pairs",
            "must be a list of pairs (model, score)",
            f"got {pairs!r}",
            "write [('DE', 'total-entropy'), …]",
            code="type",
        )
    shown = [f"{model}: {score}" for model, score in pairs] if names is None else names
    if known is None:
        known = linearised_scores(assay, [(model, score) for model, score in pairs], metric=metric)
    statistics = {name: known[model, score] for name, (model, score) in zip(shown, pairs, strict=True)}
    return pairwise_statistic_tests(statistics, groups=assay.groups, level=assay.settings.level, bound=chosen.bound)


@final
class RankedScore:
    """One score of one model with its instances sorted once, for any number of shares kept.

    Parameters
    ----------
    assay : Assay
    model, score : str
    level : float, optional
        That of the assay by default.
    like : sequence of RankedErrors, optional
        The `errors_in_order` of the model, which several scores share.
    """

    def __init__(
        self,
        assay: "Assay",
        model: str,
        score: str,
        *,
        level: float | None = None,
        like: Sequence[RankedErrors] | None = None,
    ) -> None:
        errors, scores = truths_and_scores(assay, model, score, "errors")
        first = [None] * len(errors) if like is None else like
        self._runs = [rank_errors(e, s, like=other) for e, s, other in zip(errors, scores, first, strict=True)]
        self._options: dict[str, Any] = {
            "groups": assay.groups,
            "level": assay.settings.level if level is None else level,
        }
        self._assay, self._model = assay, model
        self._refusals = Refusals(self._runs, **self._options)

    @cached_property
    def _accuracy_all(self) -> Estimate:
        def found() -> Estimate:
            right = self._assay[self._model].columns["correct"]
            return proportion_estimate(right if len(right) > 1 else right[0], **self._options)

        return self._assay.shared.once(("accuracy", self._model, self._options["level"]), found)

    def refusal(self, coverage: float) -> SelectiveGain:
        """See `Assay.refusal`."""
        check_coverage(coverage)
        gain, kept = self._refusals.gain(coverage), self._refusals.accuracy(coverage)
        return SelectiveGain(float(coverage), self._refusals.threshold(coverage), self._accuracy_all, kept, gain)

    def refusals(self, coverages: Sequence[float]) -> list[SelectiveGain]:
        """`refusal` at several coverages."""
        for coverage in coverages:
            check_coverage(coverage)
        self._refusals.prepare(coverages)
        return [self.refusal(coverage) for coverage in coverages]

    def risk(self, coverages: ArrayLike) -> tuple[Estimate, ...]:
        """See `Assay.risk_coverage`."""
        grid = np.atleast_1d(np.asarray(coverages, dtype=np.float64))
        if len(self._runs) == 1:
            curve = self._refusals.curve(grid)
            fields: dict[str, Any] = {"level": curve.level, "n": self._runs[0].n, "method": "score"}
            ends = zip(curve.risk.tolist(), curve.low.tolist(), curve.high.tolist(), strict=True)
            return tuple(Estimate(risk, low=low, high=high, notes=curve.notes, **fields) for risk, low, high in ends)
        self._refusals.prepare(grid.tolist())
        kept = [self._refusals.accuracy(coverage) for coverage in grid.tolist()]
        return tuple(
            Estimate(1 - k, low=1 - k.high, high=1 - k.low, level=k.level, n=k.n, method=k.method, notes=k.notes)
            for k in kept
        )

    def curve(self, coverages: Sequence[float]) -> Array:
        """Risk, low and high of `risk`, ``(3, B)``."""
        if len(self._runs) == 1:
            found = self._refusals.curve(np.asarray(coverages, dtype=np.float64))
            return np.stack([found.risk, found.low, found.high])
        return np.array([(e, e.low, e.high) for e in self.risk(coverages)]).T


def refusal(assay: "Assay", model: str, score: str, coverage: float, *, level: float | None = None) -> SelectiveGain:
    """What refusing the instances of which a score is most unsure gains, averaged over runs; the level is the assay's."""
    return RankedScore(assay, model, score, level=level).refusal(coverage)


def risk_coverage(assay: "Assay", model: str, score: str, coverages: ArrayLike) -> tuple[Estimate, ...]:
    """Risk of what is kept at each coverage, averaged over runs, with pointwise intervals."""
    return RankedScore(assay, model, score).risk(coverages)


def truths_and_scores(assay: "Assay", model: str, score: str, truth: str) -> tuple[Array, Array]:
    """Errors or gaps, and a score, of every run and instance, ``(R, n)`` each."""
    columns, known = assay[model].columns, scores_of(assay[model], assay)
    if score not in known:
        raise InputError(
            "score",
            f"must be one that {model!r} has: {', '.join(known) or 'none'}",
            f"got {score!r}",
            "choose one of them",
            code="choice",
        )
    return (1.0 - columns["correct"] if truth == "errors" else columns["gap"]), columns[score]


def _estimate_in_part(assay: "Assay", model: ModelScores, score: str, name: str, rows: NDArray[np.bool_]) -> Estimate:
    metric = RANKING_METRICS[name]
    truths, scores = truths_and_scores(assay, model.name, score, metric.truth)
    groups = None if assay.groups is None else assay.groups[rows]
    return metric.estimate(truths[:, rows], scores[:, rows], groups=groups, level=assay.settings.level)


def _linearised(assay: "Assay", model: str, score: str, metric: RankingMetric) -> list[Linearised]:
    return metric.runs(*truths_and_scores(assay, model, score, metric.truth), assay.groups)


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(part, str) for part in value)


def _one(runs: list[Linearised]) -> Statistics:
    """A single run, for which no spread between runs is claimed."""
    return runs if len(runs) > 1 else runs[0]


def _metric(name: str) -> RankingMetric:
    name = metric_name(name)
    if name not in RANKING_METRICS:
        raise InputError(
            "metric",
            f"must be one of {', '.join(RANKING_METRICS)}",
            f"got {name!r}",
            "choose one of them",
            code="choice",
        )
    return RANKING_METRICS[name]
