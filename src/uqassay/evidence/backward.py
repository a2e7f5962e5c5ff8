"""Backward scores: uncertainties that are shown to be lower where the model is wrong, and what refusing by them costs."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import available_cores
from uqassay.evidence.mistake_ranking import refusal, scores_of, truths_and_scores
from uqassay.metrics.ranking.chance import chance_pvalue
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.metrics.risk.selective_accuracy import check_coverage
from uqassay.notes import Note
from uqassay.statistics import Estimate
from uqassay.wording import counted, interval, level_text, listed, number, percent

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["METRIC", "BackwardScore", "backward_notes", "backward_scores"]

METRIC = "uq-auc"
CHANCE = 0.5
LEAST = 1e-12  # smaller p-values are not told apart
SHOWN = 3  # scores of one model that a note names before it counts the others
MANY = 1000  # instances (n × runs) of a score from which on the scores are shared among threads


@dataclass(frozen=True)
class BackwardScore:
    """A score whose UQ-AUC is shown to lie below ½: the model's right predictions are the more uncertain ones.

    Both intervals hold together for all `n_tests` scores (Bonferroni), so their level is 1 − (1 − level) / n_tests.

    Attributes
    ----------
    model, score : str
    uq_auc : Estimate
        UQ-AUC over all runs; its simultaneous interval lies below ½.
    pvalue : float
        Two-sided p-value of UQ-AUC = ½, adjusted by Bonferroni for `n_tests`.
    n_tests : int
        Number of scores looked at, over all models.
    coverage : float
        Share of the instances that is kept.
    gain : Estimate
        Accuracy of the instances kept minus accuracy of all, with its simultaneous interval; negative if refusing costs.
    level : float
        Joint confidence level of all scores.
    """

    model: str
    score: str
    uq_auc: Estimate
    pvalue: float
    n_tests: int
    coverage: float
    gain: Estimate
    level: float

    @property
    def costs(self) -> bool:
        """True if refusing by the score is shown to lower the accuracy: the interval of the gain lies below 0."""
        return bool(self.gain.high < 0)

    def row(self) -> dict[str, Any]:
        """The record as a dict of plain values for tables and JSON."""
        return {
            "model": self.model,
            "score": self.score,
            "uq_auc": float(self.uq_auc),
            "uq_auc_low": self.uq_auc.low,
            "uq_auc_high": self.uq_auc.high,
            "pvalue": self.pvalue,
            "n_tests": self.n_tests,
            "coverage": self.coverage,
            "gain": float(self.gain),
            "gain_low": self.gain.low,
            "gain_high": self.gain.high,
            "costs": self.costs,
            "level": self.level,
        }

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values, from which `from_dict` makes it again."""
        return vars(self) | {"uq_auc": self.uq_auc.to_dict(), "gain": self.gain.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "BackwardScore":
        """The record that `to_dict` wrote."""
        estimates = {name: Estimate.from_dict(values[name]) for name in ("uq_auc", "gain")}
        return cls(**{**values, **estimates})


def backward_scores(assay: "Assay", *, coverage: float = 0.9) -> tuple[BackwardScore, ...]:
    """Scores that are shown to rank the mistakes backwards, with what refusing by them costs.

    Parameters
    ----------
    assay : Assay
    coverage : float
        Share of the instances that is kept when the others are refused, in (0, 1].

    Returns
    -------
    found : tuple of BackwardScore
        By model, and by UQ-AUC within a model, the lowest first. Empty if no UQ-AUC is shown to lie below ½.

    Raises
    ------
    InputError
        For a coverage outside (0, 1].

    Notes
    -----
    Looked at are all scores of all models that differ between instances and have a UQ-AUC. With m of them the intervals have
    the level 1 − α/m. Wilcoxon's test (`metrics.ranking.chance`) must reject at α/m too, because its variance under chance
    holds for scores that tie nearly all instances. If no score is worse than chance, the probability that any is reported is
    at most α/2, because only one end of the intervals counts. `BackwardScore.costs` is a second statement on the scores
    reported, with the other α/2. docs/measured-coverage.md has the measured rates and the power.

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
    pairs = [(m.name, s) for m in assay.candidates for s in scores_of(m, assay) if _differs(m.columns[s])]
    threads = min(available_cores(), len(pairs))
    if threads > 1 and assay.n_instances >= MANY:
        with ThreadPoolExecutor(threads) as pool:
            tested = list(pool.map(lambda pair: _pvalue(assay, *pair), pairs))
    else:
        tested = [_pvalue(assay, *pair) for pair in pairs]
    n_tests = sum(p is not None for p in tested)
    alpha = 1 - assay.settings.level
    backward = [(*pair, p * n_tests) for pair, p in zip(pairs, tested, strict=True) if p is not None]
    found = [_record(assay, model, score, p, n_tests, coverage) for model, score, p in backward if p <= alpha]
    order = {name: j for j, name in enumerate(assay.model_names)}
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


def _differs(values: NDArray[np.float64]) -> bool:
    """True if a score (R, n) differs between instances in some run; else it ranks nothing, whatever the labels are."""
    return bool((values != values[:, :1]).any())


def _pvalue(assay: "Assay", model: str, score: str) -> float | None:
    """Two-sided p-value of UQ-AUC = ½ if its interval lies below, 1 if it does not, None if there is no interval.

    The greater of two p-values. One inverts the interval of UQ-AUC, whose variance is too small if few instances are untied.
    The other is of errors that are independent of the score, whose tails are too short if few errors are untied.
    """
    metric = RANKING_METRICS[METRIC]
    errors, scores = truths_and_scores(assay, model, score, metric.truth)
    runs = metric.runs(errors, scores, assay.groups)
    statistic = runs if len(runs) > 1 else runs[0]

    def excess(log_alpha: float) -> float:
        return metric.interval(statistic, assay.groups, 1 - float(np.exp(log_alpha))).high - CHANCE

    most, least = float(np.log(1 - assay.settings.level)), float(np.log(LEAST))
    plain = excess(most)
    if np.isnan(plain):
        return None
    if plain >= 0:
        return 1.0
    if excess(least) < 0:
        return _greater(LEAST, chance_pvalue(errors, scores, groups=assay.groups))
    while most - least > 1e-6:  # the upper end falls as α rises: bisection on ln α
        middle = (least + most) / 2
        least, most = (least, middle) if excess(middle) < 0 else (middle, most)
    return _greater(float(np.exp(most)), chance_pvalue(errors, scores, groups=assay.groups))


def _greater(first: float, second: float) -> float:
    """The greater of two p-values; nan if either is, where `max` would depend on their order."""
    return float(np.maximum(first, second))


def _record(assay: "Assay", model: str, score: str, pvalue: float, n_tests: int, coverage: float) -> BackwardScore:
    metric, level = RANKING_METRICS[METRIC], assay.settings.level
    each = 1 - (1 - level) / n_tests
    truths, scores = truths_and_scores(assay, model, score, metric.truth)
    return BackwardScore(
        model=model,
        score=score,
        uq_auc=metric.estimate(truths, scores, groups=assay.groups, level=each),
        pvalue=pvalue,
        n_tests=n_tests,
        coverage=float(coverage),
        gain=refusal(assay, model, score, coverage, level=each).gain,
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
