"""Lens: which model is best at which λ, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.evidence.baselines import has_held_out, loss_of
from uqassay.evidence.cautions import worth_text
from uqassay.evidence.data import Judged, one_run
from uqassay.evidence.excess import failing_at_most
from uqassay.evidence.findings import widened
from uqassay.evidence.mistakes import compare_two_rankings
from uqassay.evidence.order import MEAN_E, difference_in, loss_name, order_of, rank_sets_of
from uqassay.evidence.pair_tests import (
    LossReading,
    cases_of,
    detectable_at,
    excess_over,
    greatest_excess,
    loss_lines,
    margin_test_at,
    mean_metrics,
    mean_values,
    no_worse_at,
    order_error,
    rests_on_inputs,
    smallest_shown,
)
from uqassay.evidence.scoring import ModelScores
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.metrics.tradeoff import lower_envelope, ranking_changes, tradeoff_scale
from uqassay.notes import Note
from uqassay.results import Bar, Shown, ShownCell, ShownRow, ShownTable, Text, as_table, estimate_cell, row_of, spread
from uqassay.statistics import (
    DetectableDifference,
    Estimate,
    MarginTest,
    PairedComparison,
    PairwiseComparisons,
    VarianceComponents,
    VarianceShare,
    paired_margin_test,
    paired_mean_test,
    student_draws,
    variance_components,
    win_shares,
)
from uqassay.statistics.paired_tests import check_alpha
from uqassay.text import (
    counted,
    decimals_for,
    level_text,
    listed_names,
    named,
    number,
    pvalue,
    pvalue_text,
    rank_range,
    tradeoff,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


__all__ = [
    "MARKS",
    "VARIANCE_COLUMNS",
    "ModelComparison",
    "Ranked",
    "Ranking",
    "Spread",
    "cases_text",
    "comparison_at",
    "difference_of",
    "draws_of",
    "intervals_text",
    "limit_notes",
    "lowest_of",
    "margin_at",
    "margin_of",
    "metric_label",
    "only_unit",
    "ranked_at",
    "ranking_table",
    "run_deviations",
    "scale_of_tradeoff",
    "size_text",
    "spread_text",
    "variance_of",
    "variance_rows",
]


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
    difference: Estimate  #: Mean E minus that of the best model, with the interval of `ModelComparison`.
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


def ranked_at(assay: Judged, tradeoff: float) -> tuple[Ranked, ...]:
    """Models and baselines by their mean E at one λ, best first; see `Assay.ranked`."""
    check_tradeoff(tradeoff)
    return assay.shared.once(("ranked", float(tradeoff)), lambda: _ranked_at(assay, float(tradeoff)))


def _ranked_at(assay: Judged, tradeoff: float) -> tuple[Ranked, ...]:
    models, n = assay.models, len(assay.candidates)
    found = loss_lines(assay).estimates(models, tradeoff)
    estimates = [widened(e, m, tradeoff) for e, m in zip(found, models, strict=True)]
    means = np.array([float(e) for e in estimates])
    best = int(np.argmin(np.where(np.isnan(means[:n]), np.inf, means[:n])))  # argmin alone would choose a nan
    wins, ranks = win_shares_at(assay, [tradeoff])[0], rank_sets_of(assay, tradeoff, "unified", None)
    tests = ranks.comparisons
    differences = [_difference(assay, tests, m.name, models[best].name, tradeoff) for m in models]
    level_with = [m.name for j, m in enumerate(models[:n]) if j != best and tests.adjusted[j, best] > 1 - tests.level]
    levels = [order_of(assay).level_of(name, models[best].name) for name in level_with]
    detectable = smallest_shown(assay, models[best].name, level_with, tradeoff, levels)
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


def _difference(
    assay: Judged, tests: PairwiseComparisons, one: str, other: str, tradeoff: float, metric: str = "unified"
) -> Estimate:
    """`difference_in` of two models or baselines, whose means differ by no more than the greatest loss."""
    if metric in RANKING_METRICS:
        most = [1.0, 1.0] if metric in ("uq-auc", "uq-c-index") else [np.inf, np.inf]
    else:
        most = [float(greatest_excess(assay, assay[name], metric, tradeoff)) for name in (one, other)]
    return difference_in(assay, tests, one, other, most)


# Two models, told apart or not as the ranking does.


@final
@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(Shown):
    """Two models or baselines by their mean E at one λ, as the ranking tells them apart; made by `Assay.compare`."""

    _shown_more: ClassVar[str] = "difference, pvalue, alone, margin, detectable"

    model: str
    other: str
    tradeoff: float  #: λ.
    loss: str  #: What is compared: "mean E", or the name of the distance where nothing depends on λ.
    #: Mean of `model` minus that of `other`. The interval excludes 0 where the tests of all pairs tell the two apart, and
    #: nowhere else.
    difference: Estimate
    #: Of the ranking: adjusted for all pairs and every λ, and guarded against losses that have not been seen; nan of two
    #: baselines, which are not compared, and from one instance.
    pvalue: float
    #: What keeps the difference from being significant, as in `Ranked`.
    limited_by: str
    #: If the two are told apart on the condition that the better one does not fail outright on inputs unlike those seen: 1 over
    #: the greatest share of such inputs; else nan.
    cases: float
    distance: str  #: A name of `credal.DISTANCES`.
    #: The paired test of these two alone, which counts neither the other pairs nor losses that have not been seen.
    alone: PairedComparison
    margin: MarginTest | None = (
        None  #: Whether the difference is below a margin, where one was given, adjusted for all models.
    )
    #: The smallest difference that these instances could have shown by the tests of the ranking.
    detectable: DetectableDifference | None = None

    def reject(self, alpha: float = 0.05) -> bool:
        """True if equal means are rejected at level alpha. A p-value of nan rejects nothing."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha)

    @property
    def better(self) -> str | None:
        """The model that the tests of all pairs show to be better, if any; at the assay's level."""
        if not self.pvalue <= 1 - self.difference.level or float(self.difference) == 0:
            return None
        return self.model if self.difference < 0 else self.other

    def rows(self) -> list[dict[str, Any]]:
        """One row for the tests of all pairs, and one for the test of this pair alone."""
        pair = {"model": self.model, "other": self.other, "tradeoff": self.tradeoff, "loss": self.loss}
        return [
            {**pair, "tests": "all pairs", **spread("difference", self.difference), "pvalue": self.pvalue},
            {
                **pair,
                "tests": "this pair alone",
                **spread("difference", self.alone.difference),
                "pvalue": self.alone.pvalue,
            },
        ]

    def _shown_title(self) -> str:
        at = f" at λ = {tradeoff(self.tradeoff)}" if self.loss == MEAN_E else ""
        return f"{self.loss[0].upper()}{self.loss[1:]} of {named(self.model)} minus that of {named(self.other)}{at}"

    def _shown_sentences(self) -> Sequence[str]:
        d, better = float(self.difference), self.better
        lower, higher = (self.model, self.other) if d < 0 else (self.other, self.model)
        if not np.isfinite(d):
            who = f"{self.model} and {self.other}" if np.isnan(d) else higher
            return [f"The {self.loss} of {who} is infinite."]
        if d == 0 and self.difference.low == self.difference.high:
            return ["Both have the same loss in every case."]
        if np.isnan(self.pvalue):
            return [f"{lower} has the lower {self.loss}, by {number(abs(d))}; whether it is better cannot be tested."]
        ends = f"{level_text(self.difference.level)} interval {number(self.difference.low)} to {number(self.difference.high)}"
        told = f"the difference is {number(d)} ({ends}; {pvalue_text(self.pvalue)}; adjusted for all pairs)"
        if better is not None:
            rests = f", if {failing_at_most({better: self.cases}, self.distance)}" if self.cases > 0 else ""
            return [f"{better} is better than {higher}{rests}: {told}."]
        if d == 0:
            return [f"Both have the same {self.loss} here, and either could be better: {told}."]
        return [f"{lower} has the lower {self.loss} here, but {higher} could be as good: {told}."]

    def _shown_table(self) -> ShownTable:
        both = (
            ("all pairs", self.difference, self.pvalue),
            ("this pair alone", self.alone.difference, self.alone.pvalue),
        )
        places = decimals_for((d.low, d.high) for _, d, _ in both)
        rows = [
            ShownRow((ShownCell(tests), estimate_cell(float(d), d.low, d.high, places), ShownCell(pvalue(p))))
            for tests, d, p in both
        ]
        level = level_text(self.difference.level)
        caption = (
            f"All pairs: {level} interval and p for all pairs at once, with losses that have not been seen, as in the ranking. "
            "This pair alone: a paired test without them."
        )
        return ShownTable(("tests", "difference", "p"), tuple(rows), caption)

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.alone.notes]


def comparison_at(
    assay: Judged,
    a: str,
    b: str,
    tradeoff: float = DEFAULT_TRADEOFF,
    method: str = "student-t",
    margin: float | None = None,
) -> ModelComparison:
    """Two models by their mean E at one λ; see `Assay.compare`."""
    check_tradeoff(tradeoff)
    alone = _compared(assay, [assay[a]], assay[b], tradeoff, method)[0]
    wanted = assay.settings.margin if margin is None else margin
    tests = rank_sets_of(assay, tradeoff, "unified", None).comparisons
    i, j = tests.names.index(a), tests.names.index(b)
    difference = _difference(assay, tests, a, b, tradeoff)
    p = 1.0 if a == b else float(tests.adjusted[i, j])
    told = p <= 1 - assay.settings.level and float(difference) != 0
    better, worse = (a, b) if difference < 0 else (b, a)
    resting = told and better in assay.model_names and rests_on_inputs(assay, better, worse, tradeoff)
    return ModelComparison(
        model=a,
        other=b,
        tradeoff=float(tradeoff),
        loss=loss_name(assay),
        difference=difference,
        pvalue=p,
        limited_by=str(tests.limited_by[i, j]),
        cases=cases_of(assay, better, worse, tradeoff) if resting else float("nan"),
        distance=assay.settings.distance,
        alone=alone,
        margin=None if wanted is None else margin_at(assay, a, b, tradeoff, wanted),
        detectable=detectable_at(assay, a, b, tradeoff, order_of(assay).level_of(a, b)),
    )


def margin_at(assay: Judged, a: str, b: str, tradeoff: float, margin: float) -> MarginTest:
    """`margin_test_at` with p-values that agree with the ranking and with the claims on margins.

    That two models differ is told by the tests of all pairs. That one is no worse than another is told by Bonferroni for the
    rivals that it may have, or where it is no worse than any.
    """
    of_any = no_worse_at(assay, tradeoff, margin) if a in assay.model_names and b in assay.model_names else {}
    tests = rank_sets_of(assay, tradeoff, "unified", None).comparisons
    return _as_ranked(assay, margin_test_at(assay, a, b, tradeoff, margin), a, b, tests, of_any)


def _as_ranked(
    assay: Judged, test: MarginTest, a: str, b: str, tests: PairwiseComparisons, of_any: Mapping[str, float]
) -> MarginTest:
    """A test of one pair with p-values adjusted for all pairs; `of_any` are those of no worse than any other model."""
    pvalues: dict[str, Any] = {"pvalue_difference": float(tests.adjusted[tests.names.index(a), tests.names.index(b)])}
    rivals = len(assay.model_names) - 1
    if a in assay.model_names and b in assay.model_names and a != b:
        for name, one in (("pvalue_no_worse", a), ("pvalue_no_better", b)):
            pvalues[name] = float(np.fmin(min(1.0, getattr(test, name) * rivals), of_any.get(one, 1.0)))
    return replace(test, **pvalues)


def difference_of(
    assay: Judged, a: str, b: str, metric: str, *, tradeoff: float = DEFAULT_TRADEOFF, score: str | None = None
) -> Estimate:
    """One metric of model a minus that of model b, with the interval of the tests of all pairs by that metric."""
    if metric in RANKING_METRICS:
        for name in (a, b):  # refuses a score that one of them lacks, which the tests of all pairs leave out
            compare_two_rankings(assay, (name, score or ""), (name, score or ""), metric=metric)
    else:
        _check_paired(assay, metric)
    tests = rank_sets_of(assay, tradeoff, metric, score).comparisons
    return _difference(assay, tests, a, b, tradeoff, metric)


def margin_of(
    assay: Judged, a: str, b: str, metric: str, margin: float, *, tradeoff: float = DEFAULT_TRADEOFF
) -> MarginTest:
    """Whether model a is no worse than model b by more than a margin of one metric; accuracies by their error rates."""
    _check_paired(assay, metric)
    if metric == "unified":
        return margin_at(assay, a, b, tradeoff, margin)
    losses = [one_run(mean_values(assay, name, metric, tradeoff)) for name in (a, b)]
    if metric == "accuracy":
        losses = [1.0 - correct for correct in losses]
    bound = float(excess_over(assay, LossReading(assay[a]), LossReading(assay[b]), metric))
    test = paired_margin_test(*losses, margin=margin, **assay.sample(), level=assay.settings.level, bound=bound)
    return _as_ranked(assay, test, a, b, rank_sets_of(assay, tradeoff, metric, None).comparisons, {})


def _check_paired(assay: Judged, metric: str) -> None:
    """Refuse metrics without a paired test, such as calibration errors, and sizes, of which none is better."""
    known = tuple(name for name in mean_metrics(assay) if name != "nonspecificity")
    if metric not in known:
        rule = f"must be one of {', '.join((*known, *RANKING_METRICS))}, of which differences are tested"
        fail("metric", rule, f"got {metric!r}", "choose one of them, or compare the limits of both", code="choice")


def _compared(
    assay: Judged, models: Sequence[ModelScores], other: ModelScores, tradeoff: float, method: str = "student-t"
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
    assay: Judged, one: ModelScores, other: ModelScores, tradeoff: float, method: str, *, held_out: bool
) -> PairedComparison:
    return paired_mean_test(
        one_run(loss_of(one, tradeoff, held_out=held_out)),
        one_run(loss_of(other, tradeoff, held_out=held_out)),
        **assay.sample(),
        level=assay.settings.level,
        method=method,
        rng=assay.settings.seed,
    )


def _with_error(
    assay: Judged, test: PairedComparison, one: ModelScores, other: ModelScores, tradeoff: float
) -> PairedComparison:
    """A test with the error that random orders of the classes add to it."""
    error = order_error(one.order_deviations, other.order_deviations, tradeoff)
    difference, pvalue = with_order_error(
        test.difference, test.pvalue, error, min(assay.n_units, assay.n_effective) - 1
    )
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


def mean_lines(assay: Judged) -> tuple[Floats, Floats]:
    """Mean distance and mean non-specificity of each model, over all runs and instances."""
    d, ns = (
        np.array([assay.overall(m.columns[key]) for m in assay.candidates]) for key in ("distance", "nonspecificity")
    )
    return d, ns


def winners_of(assay: Judged) -> tuple[tuple[float, float, tuple[str, ...]], ...]:
    """Intervals of λ and the models with the lowest mean E there; see `Assay.winners`."""
    d, ns = mean_lines(assay)
    found = lower_envelope(d, ns) if np.isfinite(d).any() else ()
    return tuple((w.low, w.high, tuple(assay.model_names[j] for j in w.models)) for w in found)


def changes_of_ranking(assay: Judged) -> tuple[tuple[float, str, str], ...]:
    """Every λ at which two models swap places; see `Assay.ranking_changes`."""
    return tuple((at, assay.model_names[a], assay.model_names[b]) for at, a, b in ranking_changes(*mean_lines(assay)))


def win_shares_at(assay: Judged, tradeoffs: ArrayLike) -> Floats:
    """Share of resamples won by each model at each λ, ``(T, J)``; nan with a single unit to draw from."""
    if assay.n_units == 1:
        return np.full((np.size(tradeoffs), len(assay.candidates)), np.nan)
    return win_shares(draws_of(assay), tradeoffs)


def scale_of_tradeoff(assay: Judged) -> float:
    """Factor by which λ shrinks from KL to the assay's distance; see `Assay.tradeoff_scale`."""
    if assay.labels.ndim == 2:
        fail(
            "y_true",
            "the scale of λ needs one label per instance",
            "got label distributions",
            "use KL itself",
            code="undefined",
        )
    if assay.settings.distance == "kl" or assay.of_answers:
        return 1.0
    with np.errstate(divide="ignore"):  # infinite with a floor of 0
        kl = [-np.log(np.maximum(m.columns["upper-label"], m.floor)) for m in assay.candidates]
    return tradeoff_scale([m.columns["distance"] for m in assay.candidates], kl)


def draws_of(assay: Judged) -> Floats:
    """`draws_of_means` of the models of an assay."""
    s = assay.settings

    def drawn() -> Floats:
        return draws_of_means(assay.candidates, n_draws=s.n_draws, seed=s.seed, **assay.sample())

    return assay.shared.once("draws", drawn)


def draws_of_means(models: Sequence[ModelScores], *, n_draws: int, seed: int, **sample: Any) -> Floats:
    """Draws of each model's mean distance and mean non-specificity, ``(n_draws, J, 2)``, see `statistics.student_draws`."""
    stacked = [np.stack([m.columns["distance"], m.columns["nonspecificity"]], axis=2) for m in models]
    draws = student_draws(stacked, n_draws=n_draws, rng=seed, **sample)
    deviations = [np.asarray(m.order_deviations) for m in models]
    size = max(len(d) for d in deviations)
    if size:  # resample the random orders behind estimated non-specificities, the same for all models
        chosen = np.random.default_rng([seed, 1]).integers(size, size=(n_draws, size))
        for j, d in enumerate(deviations):
            if len(d):
                draws[:, j, 1] += d[chosen].mean(axis=1)
    return draws


def with_order_error(difference: Estimate, pvalue: float, error: float, dof: float) -> tuple[Estimate, float]:
    """A difference and its p-value (t test) with the error of an estimated non-specificity added."""
    if error == 0 or not np.isfinite(pvalue):
        return difference, pvalue
    spread = (difference.high - difference.low) / (2 * stdtrit(dof, 0.5 + difference.level / 2))
    text = f"the interval includes the error of an estimated non-specificity, {error:.2g} in the difference"
    wider = difference.widened(error, Note("widened", text, {"standard_error": error}))
    return wider, float(2 * stdtr(dof, -abs(float(difference)) / np.hypot(spread, error)))


def lowest_of(rows: Sequence[Ranked]) -> tuple[str, ...]:
    """The models with the lowest mean, of which there are several where means are equal but for rounding."""
    own = [r for r in rows if r.rank is not None]
    lowest = float(own[0].estimate)
    return tuple(r.model for r in own if float(r.estimate) - lowest <= SAME * abs(lowest))


# Words of rankings: what was ranked, names of the metrics, and what limits a p-value.

SAME = 1e-12  # relative: means that differ by less are equal
MARKS = {"unseen": "†", "skewness": "‡", "runs": "§"}  # behind a p-value, by what limits it

METRICS = {
    "unified": "mean E",
    "accuracy": "accuracy",
    "log-loss": "log loss",
    "brier": "Brier score",
    "nonspecificity": "non-specificity",
    "ece": "ECE",
    "rms-calibration-error": "RMS calibration error",
    "ece-classwise": "classwise ECE",
    "uq-auc": "UQ-AUC",
    "uq-c-index": "UQ-C-index",
    "aurc": "AURC",
    "e-aurc": "E-AURC",
    "augrc": "AUGRC",
    "prediction-rejection": "prediction-rejection ratio",
}


def size_text(assay: Judged) -> str:
    """Models, training runs, instances, groups and classes in words.

    Examples
    --------
    >>> import uqassay as uq
    >>> size_text(uq.assay({"m": [uq.Point([[0.9, 0.1]])] * 3}, [0]))
    '1 model (m, 3 training runs) on 1 case of 2 classes'
    """
    runs = sorted({m.n_runs for m in assay.candidates})
    who = listed_names(assay.model_names, most=3)
    if runs[-1] > 1:
        who += f", {counted(runs[0], 'training run') if len(runs) == 1 else f'{runs[0]} to {runs[-1]} training runs'}"
        who += " each" if len(runs) == 1 and len(assay.candidates) > 1 else ""
    where = cases_text(assay)
    where += "" if assay.groups is None else f" in {counted(assay.n_units, 'group')}"
    where += "" if assay.of_answers else f" of {counted(assay.n_classes, 'class', 'classes')}"
    return f"{counted(len(assay.candidates), 'model')} ({who}) on {where}"


def cases_text(assay: Judged) -> str:
    """The number of cases, and what weighted ones are worth.

    Examples
    --------
    >>> import uqassay as uq
    >>> cases_text(uq.assay({"m": uq.Point([[0.9, 0.1]] * 3)}, [0, 1, 0], sample_weight=[1, 1, 2]))
    '3 cases (weighted, worth 2.6)'
    """
    worth = "" if assay.weights is None else f" (weighted, worth {worth_text(assay.n_effective)})"
    return counted(assay.n_instances, "question" if assay.of_answers else "case") + worth


def intervals_text(assay: Judged) -> str:
    """Which intervals stand in the tables, or why there are none.

    Examples
    --------
    >>> import uqassay as uq
    >>> intervals_text(uq.assay({"m": uq.Point([[0.9, 0.1]] * 9)}, [0] * 9))
    'with 95 % intervals'
    >>> intervals_text(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))
    'without intervals: from 1 case nothing can be said about other cases'
    """
    if assay.n_units == 1:
        return f"without intervals: from {only_unit(assay)} nothing can be said about other cases"
    return f"with {level_text(assay.settings.level)} intervals"


def only_unit(assay: Judged) -> str:
    """The one unit of an assay that has one."""
    return "1 case" if assay.groups is None else "1 group"


def limit_notes(assay: Judged) -> dict[str, str]:
    """What keeps a difference of mean E from being significant, where Student's t alone would make it so.

    Examples
    --------
    >>> import uqassay as uq
    >>> notes = limit_notes(uq.assay({"m": uq.Point([[0.9, 0.1]] * 100)}, [0] * 100))
    >>> print(notes["unseen"])
    significant if no rare huge loss is missing from these 100 cases; accuracy and Brier score have no such losses
    """
    unseen = f"significant if no rare huge loss is missing from these {counted(assay.n_instances, 'case')}"
    return {
        "unseen": unseen
        + ("; accuracy and Brier score have no such losses" if assay.settings.distance_entry.floored else ""),
        "skewness": "significant if more answers differed"
        if assay.of_answers
        else "significant if the losses were less skewed",
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
    assay: Judged = field(repr=False)

    @classmethod
    def of(cls, assay: Judged, tradeoff: float) -> "Ranking":
        """The ranking of an assay; see `Assay.ranking`."""
        return cls(float(tradeoff), ranked_at(assay, tradeoff), assay)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each model and baseline; the fields of `Ranked` with the intervals spread out, and λ."""
        return [{**one.to_dict(), "tradeoff": self.tradeoff} for one in self.models]

    def table(self) -> "pd.DataFrame":
        """The rows as a table, of which "below" (the baselines that do better) is one text."""
        return table_of_ranking(self.rows())

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw mean E with intervals and rank sets; see `report.figures.plot_ranking`."""
        from uqassay.report.figures.assay import plot_ranking

        return plot_ranking(self.assay, self.tradeoff, ax=ax)

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
        at = f" at λ = {tradeoff(self.tradeoff)}" if order_of(self.assay).priced else ""
        return f"Ranking{at} of {size_text(self.assay)}"

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
        below = [name for name in own[0].below if name in order_of(self.assay).yardsticks]
        if below:
            lower = f"The lowest {loss_name(self.assay)} of a model is above that of {listed_names(below)}"
            said.append(f"{lower}, which {'is a baseline' if len(below) == 1 else 'are baselines'}.")
        return said

    def _shown_table(self) -> ShownTable:
        return ranking_table(self)


def ranking_rows(assay: Judged, *, tradeoff: float = DEFAULT_TRADEOFF) -> list[dict[str, Any]]:
    """The rows of the ranking at one λ."""
    return Ranking.of(assay, tradeoff).rows()


def table_of_ranking(rows: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    """Rows of a ranking as a table, of which "below" is one text."""
    texts = [{**row, "below": ", ".join(map(named, row["below"]))} for row in rows]
    return as_table(texts, list(texts[0])).astype(
        {"rank": "Int64", "rank_low": "Int64", "rank_high": "Int64", "top": "boolean", "win_share": float}
    )


def ranking_table(ranking: Ranking, spread: Spread = "interval") -> ShownTable:
    """The ranking with rank sets, mean E and p-values, to be read."""
    assay, order = ranking.assay, order_of(ranking.assay)
    models = [r for r in ranking.models if r.rank is not None or r.model in order.yardsticks]
    own, first = [r for r in models if r.rank is not None], lowest_of(models)
    runs = {r.model: assay.mean(assay.loss(r.model, ranking.tradeoff)) for r in models}
    deviations = run_deviations(spread, runs)
    places = decimals_for((r.estimate.low, r.estimate.high) for r in own)
    level, several = level_text(assay.settings.level), len(own) > 1
    rows = []
    for r in models:
        best = several and r.model in first and bool(np.isfinite(r.estimate))
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
    header = ("rank", "model", loss_name(assay), after, *(("p (adjusted)",) if several else ()))
    return ShownTable(header, tuple(rows), _caption(ranking, spread), MARKED, n_words=2)


def _caption(ranking: Ranking, spread: Spread) -> str:
    """What the numbers and marks of the table mean."""
    assay = ranking.assay
    level = level_text(assay.settings.level)
    after = intervals_text(assay) if spread == "interval" else "with the standard deviation over the training runs"
    priced, loss = order_of(assay).priced, loss_name(assay)
    what = f"Mean E = d + λ NS at λ = {tradeoff(ranking.tradeoff)}" if priced else f"{loss[0].upper()}{loss[1:]}"
    parts = [f"{what}, lower is better, {after}."]
    if len(assay.candidates) > 1:
        parts.append(f"Rank: all ranks that the tests of all pairs leave open, {level} for all models at once.")
        parts.append(f"p: against the lowest, adjusted for all pairs{' and every λ' if priced else ''}.")
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


# Training runs and test instances as sources of the variance of a mean of an assay.

VARIANCE_COLUMNS = (
    *("model", "metric", "tradeoff", "component", "variance", "share", "low", "high", "level"),
    *("runs", "instances", "groups", "half_width", "notes"),
)
COMPONENTS = ("runs", "instances", "interaction")


def variance_of(
    assay: Judged, model: str, other: str | None, tradeoff: float = DEFAULT_TRADEOFF, metric: str = "unified"
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
        level=assay.settings.level,
        **assay.sample(),
    )


def variance_rows(
    assay: Judged, *, tradeoff: float = DEFAULT_TRADEOFF, metric: str = "unified"
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
