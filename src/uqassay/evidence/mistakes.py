"""Lens: does the uncertainty rank the mistakes, and what does refusal gain?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, available_cores
from uqassay.checks import fail
from uqassay.evidence.data import BackwardScore, Judged
from uqassay.evidence.scoring import ModelScores
from uqassay.measures.registry import SCORES
from uqassay.metrics.certified_thresholds import CertifiedRefusal, certify, divide, plan_on, whole_errors
from uqassay.metrics.expected_cost import ExpectedCost, expected_cost_curve
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking import RANKING_METRICS, RankingMetric, chance_pvalue, is_constant
from uqassay.metrics.risk import RankedErrors, Refusals, SelectiveGain, check_coverage, rank_errors
from uqassay.notes import Note
from uqassay.results import Shown, ShownTable
from uqassay.statistics import Estimate, PairedComparison, PairwiseComparisons, proportion_estimate
from uqassay.statistics.linearised import AveragedStatistic, Linearised
from uqassay.statistics.paired_tests import paired_statistic_test, pairwise_statistic_tests
from uqassay.text import counted, interval, level_text, listed, number, percent

__all__ = [
    "METRIC",
    "TESTED",
    "MistakeRanking",
    "ModelRefusal",
    "RankedScore",
    "backward_notes",
    "backward_scores",
    "certified_refusal_of",
    "compare_rankings",
    "compare_two_rankings",
    "errors_in_order",
    "expected_cost_of",
    "linearised_scores",
    "metrics_of",
    "mistake_estimate",
    "mistake_ranking",
    "rank_mistakes",
    "reference_score",
    "scores_of",
    "stated_scores",
]


# Does the uncertainty rank the mistakes? Every score of every model by the ranking metrics, and what refusing gains.

Statistics: TypeAlias = (
    Linearised | list[Linearised] | AveragedStatistic
)  # of one run, of each of several, or averaged over them
METRICS = ("uq-auc", "uq-c-index", "aurc", "e-aurc", "augrc", "prediction-rejection")
TESTED = ("uq-auc", "uq-c-index")  # of those, the ones that scores are compared by in pairs
TEST_BYTES = 2**28
BYTES_OF_TESTS = 60  # of one instance for both metrics
MANY = 200_000  # instances from which threads share the scores; with fewer they wait for each other
EVERY = slice(None)  # instances or runs
IN_PARTS = ("uq-auc", "uq-c-index")  # of those, the ones also found on parts of the instances


@dataclass(frozen=True)
class MistakeRanking:
    """One ranking metric of one score of one model."""

    model: str
    score: str
    metric: str
    run: int | None  #: None: over all runs.
    estimate: Estimate
    #: What paired tests take from it (metrics of `TESTED`, over all runs); None where it would take too much memory.
    statistic: AveragedStatistic | None = field(default=None, repr=False, compare=False)


def metrics_of(judged: Judged, metrics: Sequence[str] = METRICS) -> tuple[str, ...]:
    """Those of some ranking metrics that are defined: of answers, which have no gap, those of the errors."""
    return tuple(name for name in metrics if not judged.of_answers or RANKING_METRICS[name].truth == "errors")


def scores_of(model: ModelScores, judged: Judged) -> tuple[str, ...]:
    """Names of the uncertainty scores that rank a model's mistakes; none for class sets, which predict no single class."""
    return stated_scores(model, judged) if model.predicts_classes else ()


def stated_scores(model: ModelScores, judged: Judged) -> tuple[str, ...]:
    """Names of the uncertainty scores that a model has.

    The non-specificity is among them where its sets are no points; where they are, nothing that speaks of the spread inside
    the sets is.
    """
    names = [name for name in judged.settings.measures if model.has(name)]
    if model.n_points == 1:
        return tuple(name for name in names if name not in SCORES or not SCORES[name].needs_spread)
    return (*names, "nonspecificity")


def reference_score(judged: Judged, model: str) -> str | None:
    """The score that models are compared by where one is to be named: the total entropy, else the first there is."""
    known = scores_of(judged[model], judged)
    return "total-entropy" if "total-entropy" in known else next(iter(known), None)


def rank_mistakes(judged: Judged, model: ModelScores, *, run: int | None = None) -> list[MistakeRanking]:
    """All ranking metrics of all scores of a model, over all its runs or of one."""
    known, of_run = scores_of(model, judged), slice(None) if run is None else slice(run, run + 1)
    sample = judged.sample()
    options: dict[str, Any] = {**sample, "level": judged.settings.level}
    truths = {"errors": (1.0 - model.columns["correct"])[of_run], "gap": model.columns["gap"][of_run]}
    kept = TESTED if run is None and _tests_fit(judged) else ()

    first = errors_in_order(judged, model)[of_run]
    w = judged.weights

    def of(score: str) -> list[MistakeRanking]:
        scores = model.columns[score][of_run]
        # the instances are sorted once for all metrics of the errors
        ranked = [rank_errors(e, s, w, like=other) for e, s, other in zip(truths["errors"], scores, first, strict=True)]
        found: list[MistakeRanking] = []
        for name in metrics_of(judged):
            metric = RANKING_METRICS[name]
            truth, by_error = truths[metric.truth], ranked if metric.of_ranked is not None else None
            statistic = metric.averaged(truth, scores, **sample, ranked=by_error) if name in kept else None
            auc = found[0].estimate if found else None
            estimate = metric.estimate(truth, scores, ranked=by_error, known=statistic, auc=auc, **options)
            found.append(MistakeRanking(model.name, score, name, run, estimate, statistic))
        return found

    threads = min(available_cores(), len(known))
    if threads <= 1 or judged.n_instances < MANY:
        return [one for score in known for one in of(score)]
    with ThreadPoolExecutor(threads) as pool:
        return [one for each in pool.map(of, known) for one in each]


def mistake_ranking(judged: Judged) -> tuple[MistakeRanking, ...]:
    """How each score of each model ranks the mistakes, over all runs and, where there are several, of each run."""

    def found() -> tuple[MistakeRanking, ...]:
        each = ((m, run) for m in judged.candidates for run in (None, *range(m.n_runs if m.n_runs > 1 else 0)))
        return tuple(one for m, run in each for one in rank_mistakes(judged, m, run=run))

    return judged.shared.once("mistakes", found)


def errors_in_order(judged: Judged, model: ModelScores) -> list[RankedErrors]:
    """Errors of each run in the best order, to rank the errors by any score `like` these."""
    return [rank_errors(e, e, judged.weights) for e in 1.0 - model.columns["correct"]]


def _tests_fit(judged: Judged) -> bool:
    """True if what paired tests need of all scores takes at most `TEST_BYTES`."""
    scores = sum(len(scores_of(m, judged)) for m in judged.candidates)
    return BYTES_OF_TESTS * scores * judged.n_instances <= TEST_BYTES


def rank_mistakes_in_part(judged: Judged, model: ModelScores, rows: NDArray[np.bool_]) -> list[MistakeRanking]:
    """The main ranking metrics of all scores of a model on some of the instances, ``(n,)``."""
    return [
        MistakeRanking(model.name, score, name, None, mistake_estimate(judged, model, score, name, rows=rows))
        for score in scores_of(model, judged)
        for name in metrics_of(judged, IN_PARTS)
    ]


def compare_two_rankings(
    judged: Judged, a: tuple[str, str], b: tuple[str, str], *, metric: str = "uq-auc"
) -> PairedComparison:
    """Paired test of two scores, each given by (model, score)."""
    chosen = _metric(metric)
    for name, pair in (("a", a), ("b", b)):
        if not _is_pair(pair):
            fail(name, "must be a pair (model, score)", f"got {pair!r}", "write ('DE', 'total-entropy')", code="type")
    first, second = (_linearised(judged, *pair, chosen) for pair in (a, b))
    return paired_statistic_test(
        _one(first), _one(second), level=judged.settings.level, bound=chosen.bound, **judged.sample()
    )


def linearised_scores(
    judged: Judged, pairs: Iterable[tuple[str, str]], *, metric: str
) -> dict[tuple[str, str], Statistics]:
    """One ranking metric of several scores, each given by (model, score), for several calls of `compare_rankings`."""
    chosen = _metric(metric)
    return {(model, score): _one(_linearised(judged, model, score, chosen)) for model, score in pairs}


def compare_rankings(
    judged: Judged,
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
        fail(
            "pairs",
            "must be a list of pairs (model, score)",
            f"got {pairs!r}",
            "write [('DE', 'total-entropy'), …]",
            code="type",
        )
    shown = [f"{model}: {score}" for model, score in pairs] if names is None else names
    if known is None:
        known = linearised_scores(judged, [(model, score) for model, score in pairs], metric=metric)
    statistics = {name: known[model, score] for name, (model, score) in zip(shown, pairs, strict=True)}
    return pairwise_statistic_tests(statistics, level=judged.settings.level, bound=chosen.bound, **judged.sample())


@final
class RankedScore:
    """One score of one model with its instances sorted once, for any number of shares kept.

    Parameters
    ----------
    judged : Judged
    model, score : str
    level : float, optional
        That of the assay by default.
    like : sequence of RankedErrors, optional
        The `errors_in_order` of the model, which several scores share.
    """

    def __init__(
        self,
        judged: Judged,
        model: str,
        score: str,
        *,
        level: float | None = None,
        like: Sequence[RankedErrors] | None = None,
    ) -> None:
        errors, scores = truths_and_scores(judged, model, score, "errors")
        first = [None] * len(errors) if like is None else like
        w = judged.weights
        self._runs = [rank_errors(e, s, w, like=other) for e, s, other in zip(errors, scores, first, strict=True)]
        self._options: dict[str, Any] = {
            **judged.sample(),
            "level": judged.settings.level if level is None else level,
        }
        self._judged, self._model = judged, model
        self._refusals = Refusals(self._runs, **self._options)

    @cached_property
    def _accuracy_all(self) -> Estimate:
        def found() -> Estimate:
            right = self._judged[self._model].columns["correct"]
            return proportion_estimate(right if len(right) > 1 else right[0], **self._options)

        return self._judged.shared.once(("accuracy", self._model, self._options["level"]), found)

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

    def curve(self, coverages: Sequence[float]) -> Floats:
        """Risk, low and high of `risk`, ``(3, B)``."""
        if len(self._runs) == 1:
            found = self._refusals.curve(np.asarray(coverages, dtype=np.float64))
            return np.stack([found.risk, found.low, found.high])
        return np.array([(e, e.low, e.high) for e in self.risk(coverages)]).T


def refusal(judged: Judged, model: str, score: str, coverage: float, *, level: float | None = None) -> SelectiveGain:
    """What refusing the instances of which a score is most unsure gains, averaged over runs; the level is the assay's."""
    return RankedScore(judged, model, score, level=level).refusal(coverage)


def risk_coverage(judged: Judged, model: str, score: str, coverages: ArrayLike) -> tuple[Estimate, ...]:
    """Risk of what is kept at each coverage, averaged over runs, with pointwise intervals."""
    return RankedScore(judged, model, score).risk(coverages)


def truths_and_scores(judged: Judged, model: str, score: str, truth: str) -> tuple[Floats, Floats]:
    """Errors or gaps, and a score, of every run and instance, ``(R, n)`` each."""
    columns, known = judged[model].columns, scores_of(judged[model], judged)
    if score not in known:
        fail(
            "score",
            f"must be one that {model!r} has: {', '.join(known) or 'none'}",
            f"got {score!r}",
            "choose one of them",
            code="choice",
        )
    return (1.0 - columns["correct"] if truth == "errors" else columns["gap"]), columns[score]


def mistake_estimate(
    judged: Judged,
    model: ModelScores,
    score: str,
    name: str,
    *,
    rows: NDArray[np.bool_] | slice = EVERY,
    run: int | None = None,
) -> Estimate:
    """One ranking metric of one score of a model: on some of the instances ``(n,)`` or all, over all its runs or of one."""
    metric = RANKING_METRICS[name]
    truths, scores = truths_and_scores(judged, model.name, score, metric.truth)
    of_run = EVERY if run is None else slice(run, run + 1)
    of_rows: dict[str, Any] = {**judged.sample(rows), "level": judged.settings.level}
    return metric.estimate(truths[of_run, rows], scores[of_run, rows], **of_rows)


def _linearised(judged: Judged, model: str, score: str, metric: RankingMetric) -> list[Linearised]:
    return metric.runs(*truths_and_scores(judged, model, score, metric.truth), **judged.sample())


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(part, str) for part in value)


def _one(runs: list[Linearised]) -> Statistics:
    """A single run, for which no spread between runs is claimed."""
    return runs if len(runs) > 1 else runs[0]


def _metric(name: str) -> RankingMetric:
    name = metric_name(name)
    if name not in RANKING_METRICS:
        fail(
            "metric",
            f"must be one of {', '.join(RANKING_METRICS)}",
            f"got {name!r}",
            "choose one of them",
            code="choice",
        )
    return RANKING_METRICS[name]


# Backward scores: uncertainties that are shown to be lower where the model is wrong, and what refusing by them costs.

METRIC = "uq-auc"
CHANCE = 0.5
LEAST = 1e-12  # smaller p-values are not told apart
SHOWN = 3  # scores of one model that a note names before it counts the others
MANY_SCORES = 1000  # instances (n × runs) of a score from which on the scores are shared among threads


def backward_scores(judged: Judged, *, coverage: float = 0.9) -> tuple[BackwardScore, ...]:
    """Scores that are shown to rank the mistakes backwards, with what refusing by them costs.

    Parameters
    ----------
    judged : Judged
    coverage : float
        Share of the instances that is kept when the others are refused, in (0, 1].

    Returns
    -------
    found : tuple of BackwardScore
        By model, and by UQ-AUC within a model, the lowest first. Empty if no UQ-AUC is shown to lie below ½.

    Notes
    -----
    Looked at are all scores of all models that differ between instances and have a UQ-AUC. With m of them the intervals have
    the level 1 − α/m. Wilcoxon's test (`metrics.ranking.chance`) must reject at α/m too, because its variance under chance
    holds for scores that tie nearly all instances. If no score is worse than chance, the probability that any is reported is
    at most α/2, because only one end of the intervals counts. `BackwardScore.costs` is a second statement on the scores
    reported, with the other α/2. docs/evidence-ranking.md has the measured rates and the power.

    Examples
    --------
    >>> import numpy as np
    >>> import uqassay as uq
    >>> p = np.linspace(0.55, 0.99, 1000)
    >>> y = (np.arange(1000) % 3 == 0) & (p > 0.7)  # the only mistakes are among the surest predictions
    >>> found = backward_scores(uq.assay({"m": uq.Point(np.stack([p, 1 - p], axis=1))}, y.astype(int)))
    >>> found[0].model, found[0].score, found[0].uq_auc < 0.5, found[0].costs
    ('m', 'least-confidence', True, True)
    """
    check_coverage(coverage)
    pairs = [(m.name, s) for m in judged.candidates for s in scores_of(m, judged) if not is_constant(m.columns[s])]
    threads = min(available_cores(), len(pairs))
    if threads > 1 and judged.n_instances >= MANY_SCORES:
        with ThreadPoolExecutor(threads) as pool:
            tested = list(pool.map(lambda pair: _pvalue(judged, *pair), pairs))
    else:
        tested = [_pvalue(judged, *pair) for pair in pairs]
    n_tests = sum(p is not None for p in tested)
    alpha = 1 - judged.settings.level
    backward = [(*pair, p * n_tests) for pair, p in zip(pairs, tested, strict=True) if p is not None]
    found = [_record(judged, model, score, p, n_tests, coverage) for model, score, p in backward if p <= alpha]
    order = {name: j for j, name in enumerate(judged.model_names)}
    return tuple(sorted(found, key=lambda f: (order[f.model], float(f.uq_auc))))


def backward_notes(found: Sequence[BackwardScore]) -> tuple[Note, ...]:
    """One note on each model that has backward scores; each text is one sentence, the facts are the rows of its records."""
    by_model: dict[str, list[BackwardScore]] = {}
    for record in found:
        by_model.setdefault(record.model, []).append(record)
    return tuple(
        Note("backward-score", _sentence(records), {"model": model, "scores": [r.row() for r in records]})
        for model, records in by_model.items()
    )


def _pvalue(judged: Judged, model: str, score: str) -> float | None:
    """Two-sided p-value of UQ-AUC = ½ if its interval lies below, 1 if it does not, None if there is no interval.

    The greater of two p-values. One inverts the interval of UQ-AUC, whose variance is too small if few instances are untied.
    The other is of errors that are independent of the score, whose tails are too short if few errors are untied.
    """
    metric = RANKING_METRICS[METRIC]
    errors, scores = truths_and_scores(judged, model, score, metric.truth)
    runs, sample = metric.runs(errors, scores, **judged.sample()), judged.sample()
    statistic = runs if len(runs) > 1 else runs[0]

    def excess(log_alpha: float) -> float:
        return metric.interval(statistic, judged.groups, 1 - float(np.exp(log_alpha)), judged.weights).high - CHANCE

    most, least = float(np.log(1 - judged.settings.level)), float(np.log(LEAST))
    plain = excess(most)
    if np.isnan(plain):
        return None
    if plain >= 0:
        return 1.0
    if excess(least) < 0:
        return _greater(LEAST, chance_pvalue(errors, scores, **sample))
    while most - least > 1e-6:  # the upper end falls as α rises: bisection on ln α
        middle = (least + most) / 2
        least, most = (least, middle) if excess(middle) < 0 else (middle, most)
    return _greater(float(np.exp(most)), chance_pvalue(errors, scores, **sample))


def _greater(first: float, second: float) -> float:
    """The greater of two p-values; nan if either is, where `max` would depend on their order."""
    return float(np.maximum(first, second))


def _record(judged: Judged, model: str, score: str, pvalue: float, n_tests: int, coverage: float) -> BackwardScore:
    metric, level = RANKING_METRICS[METRIC], judged.settings.level
    each = 1 - (1 - level) / n_tests
    truths, scores = truths_and_scores(judged, model, score, metric.truth)
    return BackwardScore(
        model=model,
        score=score,
        uq_auc=metric.estimate(truths, scores, level=each, **judged.sample()),
        pvalue=pvalue,
        n_tests=n_tests,
        coverage=float(coverage),
        gain=refusal(judged, model, score, coverage, level=each).gain,
        level=level,
    )


def _sentence(records: Sequence[BackwardScore]) -> str:
    """Of the backward scores of one model, with the numbers of the one whose UQ-AUC is lowest."""
    worst, model = records[0], records[0].model
    names = listed([r.score.replace("-", " ") for r in records], most=SHOWN)
    verb = "ranks" if len(records) == 1 else "rank"
    ends = interval(worst.uq_auc.low, worst.uq_auc.high)
    joint = ""
    if worst.n_tests > 1:
        joint = f", jointly for {counted(worst.n_tests, 'score')}"
    which = "it" if len(records) == 1 else worst.score.replace("-", " ")
    text = (
        f"{model}: {names} {verb} the mistakes backwards (UQ-AUC {number(float(worst.uq_auc))}"
        f"{'' if len(records) == 1 else f' for {which}'}, {level_text(worst.level)} interval {ends}{joint})"
    )
    return f"{text}; {_cost(worst, which)}."


def _cost(record: BackwardScore, which: str) -> str:
    refused, gain = percent(1 - record.coverage, 0), record.gain
    lost = f"refusing the {refused} most uncertain by {which}"
    if np.isnan(gain.low) or np.isnan(gain.high):
        return f"{lost} changes the accuracy by {number(100 * float(gain), 1)} points"
    if record.costs:
        ends = interval(-100 * gain.high, -100 * gain.low, 1)
        return f"{lost} costs {number(-100 * float(gain), 1)} points of accuracy ({ends})"
    return f"{lost} changes the accuracy by {interval(100 * gain.low, 100 * gain.high, 1)} points"


# Certified refusal by one score of one model, both chosen on the part of the instances that does not certify.


class Considered(NamedTuple):
    """One score of one model in the choosing part."""

    model: str
    score: str
    #: Share kept at the highest threshold that is likely to be certified; 0 if none is. It is no estimate for new data.
    coverage: float
    #: At the first threshold: the power of the binomial test, or the expected evidence of the test for groups (1
    #: suffices).
    evidence: float


@dataclass(frozen=True, eq=False, repr=False)
class ModelRefusal(Shown):
    """A threshold on one score of one model; made by `Assay.certified_refusal`."""

    _shown_more: ClassVar[str] = "summary(), sentence(), refusal, considered, to_dict()"

    #: model, score: Chosen on the choosing part, if there were several.
    model: str
    score: str
    run: int | None  #: The training run, counted from 0, of a model that has several.
    refusal: CertifiedRefusal
    considered: tuple[Considered, ...]  #: All scores that could be chosen, the best first.

    @property
    def threshold(self) -> float:
        """The threshold to deploy; nan if none could be certified."""
        return self.refusal.threshold

    @property
    def certified(self) -> bool:
        """True if there is a threshold."""
        return self.refusal.certified

    def sentence(self) -> str:
        """The result in one sentence. The choice of model and score does not weaken its confidence."""
        model = self.model if self.run is None else f"{self.model} (run {self.run + 1})"
        return self.refusal.sentence(score=self.score, model=model)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""
        return {
            "model": self.model,
            "score": self.score,
            "run": None if self.run is None else self.run + 1,
            **self.refusal.to_dict(),
            "sentence": self.sentence(),
            "considered": [one._asdict() for one in self.considered],
        }

    def _shown_title(self) -> str:
        return self.refusal._shown_title()

    def _shown_sentences(self) -> Sequence[str]:
        return (self.sentence(),)

    def _shown_details(self) -> Sequence[str]:
        n = len(self.considered)
        return () if n == 1 else (f"Chosen among {n} scores on the choosing part alone.",)

    def _shown_notes(self) -> Sequence[str]:
        return self.refusal._shown_notes()

    def _shown_table(self) -> ShownTable:
        return self.refusal._shown_table()


def certified_refusal_of(
    judged: Judged,
    model: str | None,
    score: str | Sequence[str] | None,
    *,
    risk: float,
    confidence: float,
    run: int | None,
    choosing: ArrayLike | None,
    share: float,
    rng: int | np.random.Generator | None,
) -> ModelRefusal:
    """See `Assay.certified_refusal`."""
    if judged.weights is not None:
        rule, got = "certifies by counts of cases, which weighted ones are not", "got an assay with sample_weight"
        fail(
            "sample_weight",
            rule,
            got,
            "leave the weights out, or take refusal, which weights the cases",
            code="conflict",
        )
    parts = divide(judged.n_instances, judged.groups, choosing, share, rng)
    plans = []
    for name, one, errors, uncertainty in _offered(judged, model, score, run):
        plan = plan_on(errors, uncertainty, parts, risk, confidence)
        plans.append((Considered(name, one, *plan.promise), errors, uncertainty, plan))
    plans.sort(key=lambda found: (-found[0].coverage, -found[0].evidence))  # stable: the first given of equal ones
    best, errors, uncertainty, plan = plans[0]
    return ModelRefusal(
        model=best.model,
        score=best.score,
        run=run if judged[best.model].n_runs > 1 else None,
        refusal=certify(errors, uncertainty, parts, plan, confidence),
        considered=tuple(found[0] for found in plans),
    )


def expected_cost_of(
    judged: Judged,
    model: str,
    score: str | None,
    *,
    prices: ArrayLike | None,
    run: int | None,
    rng: int | np.random.Generator | None,
) -> ExpectedCost:
    """See `Assay.expected_cost`."""
    chosen = reference_score(judged, model) if score is None else score
    if chosen is None:
        fail("score", f"{model!r} has none", "", "compute one by the argument measures of assay", code="missing")
    errors, uncertainty = errors_and_score(judged, model, chosen, run)
    return expected_cost_curve(
        errors, uncertainty, prices=prices, level=judged.settings.level, rng=rng, **judged.sample()
    )


def errors_and_score(judged: Judged, model: str, score: str, run: int | None) -> tuple[Floats, Floats]:
    """Errors of 0 and 1, and a score, of one training run, (n,) each."""
    if judged.labels.ndim == 2:
        fail(
            "y_true",
            "a threshold on mistakes needs one label for each instance",
            "got label distributions",
            "give class indices",
            code="type",
        )
    errors, scores = truths_and_scores(judged, model, score, "errors")
    n = len(errors)
    if n > 1 and run is None:
        fail(
            "run",
            "a threshold belongs to one training run",
            f"{model!r} has {n}",
            f"choose one of 0 to {n - 1}",
            code="missing",
            facts={"runs": n},
        )
    if run is not None and n > 1 and run not in range(n):
        fail(
            "run",
            f"must be one of the {n} runs of {model!r}",
            f"got {run!r}",
            f"choose one of 0 to {n - 1}",
            code="range",
            facts={"runs": n, "run": run},
        )
    row = 0 if run is None or n == 1 else int(run)
    return whole_errors(errors[row], scores[row])


def _offered(
    judged: Judged, model: str | None, score: str | Sequence[str] | None, run: int | None
) -> Iterator[tuple[str, str, Floats, Floats]]:
    """Model, score, errors and uncertainty of everything that may be chosen."""
    names = judged.model_names if model is None else (judged[model].name,)
    wanted = None if score is None else [score] if isinstance(score, str) else list(score)
    known = {name: scores_of(judged[name], judged) for name in names}
    every = list(dict.fromkeys(one for of_model in known.values() for one in of_model))
    if judged.of_answers and not every:
        got, remedy = f"{listed(names)} state none", "pass Answers(correct, confidence)"
        fail("model", "must state a confidence, by which answers can be refused", got, remedy, code="undefined")
    if not any(judged[name].predicts_classes for name in names):
        fail(
            "model",
            "must predict one class for each instance, so that there are mistakes",
            f"got class sets of {', '.join(names)}",
            "give the probabilities behind the sets",
            code="undefined",
        )
    unknown = [one for one in wanted or () if one not in every]
    if unknown or not (wanted if wanted is not None else every):
        fail(
            "score",
            f"must be among {', '.join(every) or 'none'}",
            f"got {unknown[0]!r}" if unknown else "got none",
            "choose from them",
            code="choice",
        )
    for name in names:
        for one in known[name]:
            if wanted is None or one in wanted:
                yield name, one, *errors_and_score(judged, name, one, run)
