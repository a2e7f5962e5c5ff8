"""How well the scores of several models tell two samples apart: metrics with intervals, paired tests, rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from uqassay._shown import Shown
from uqassay._shown_table import Bar, ShownCell, ShownRow, ShownTable, estimate_cell
from uqassay.errors import InputError
from uqassay.evidence.findings import FINDING_COLUMNS, estimate_fields
from uqassay.evidence.scored_side import Side
from uqassay.evidence.tables import as_table
from uqassay.metrics.ood.detection import OOD_METRICS, OodMetric
from uqassay.metrics.ood.intervals import Positive
from uqassay.metrics.ood.scod import SCOD_METRICS, ScodMetric
from uqassay.metrics.ood.scod_samples import ScodSamples, with_errors
from uqassay.metrics.ood.two_samples import Ties, TwoSamples, joined_groups
from uqassay.notes import Note
from uqassay.statistics import Estimate, PairedComparison
from uqassay.statistics.samples import check_choice
from uqassay.statistics.statistic_comparisons import paired_statistic_test
from uqassay.wording import counted, level_text, listed_names

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OodDetection"]

NAN = float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class OodDetection(Shown):
    """How well each score of each model tells two samples apart; made by `detect_ood`.

    Attributes
    ----------
    inside, outside : Side
        Every score of every model on both samples.
    positive : {"out", "in"}
        What a false-positive rate and an average precision take for positive, see `metrics.fpr_at_tpr_error`.
    level : float
        Confidence level of the intervals.
    convention : str
        That of the non-specificity.
    ties : {"shared", "whole"}
        How the false-positive rate takes ties at its threshold, see `metrics.fpr_at_tpr_error`.
    error_cost : float
        What a kept error costs; a kept input out of distribution costs 1 minus that, see `metrics.scod_aurc_loss`.
    share_out : float or None
        Share of inputs out of distribution in use; None for that of the samples.
    """

    _shown_more: ClassVar[str] = "summary(), table(), estimate(model, score), compare(a, b)"

    inside: Side
    outside: Side
    positive: Positive
    level: float
    convention: str
    ties: Ties = "shared"
    error_cost: float = 0.5
    share_out: float | None = None

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.inside.models)

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics of `rows`: ROC-AUC, false-positive rate at 95 % true positives, average precision.

        With labels in distribution, also the areas and the risk that count errors and these inputs together.
        """
        whole = "-whole" if self.ties == "whole" else ""
        return (
            *("ood-auc", f"fpr95-{self.positive}{whole}", f"aupr-{self.positive}"),
            *(SCOD_METRICS if self.has_errors else ()),
        )

    @property
    def shown_metrics(self) -> tuple[str, ...]:
        """Those of `metric_names` that a table has room for."""
        return self.metric_names[:4]

    @property
    def has_errors(self) -> bool:
        """Whether the labels in distribution are known."""
        return all(model.errors is not None for model in self.inside.models.values())

    def score_names(self, model: str) -> tuple[str, ...]:
        """Names of the scores of a model, those that only one of the samples has among them."""
        self._check_model(model)
        return tuple(dict.fromkeys([*self.inside.models[model].columns, *self.outside.models[model].columns]))

    def rows(self) -> list[dict[str, Any]]:
        """One row per model (and run), score and metric, as plain values with the keys of `FINDING_COLUMNS`."""
        return [
            self._row(model, run, score, metric)
            for model in self.model_names
            for run in self._runs(model)
            for score in self.score_names(model)
            for metric in self.metric_names
        ]

    def table(self) -> "pd.DataFrame":
        """The rows as a table."""
        return as_table(self.rows(), FINDING_COLUMNS)

    def estimate(self, model: str, score: str, metric: str = "ood-auc", *, run: int | None = None) -> Estimate:
        """One metric over all runs of a model, or of one run counted from 0.

        Parameters
        ----------
        model, score : str
        metric : str
            A name of `metrics.OOD_METRICS`, or of `metrics.SCOD_METRICS` where the labels in distribution are known.
        run : int, optional
        """
        chosen = self._metric(metric)
        problem = self._problem(model, score)
        if problem:
            return Estimate(
                NAN, low=NAN, high=NAN, level=self.level, n=0, method="", notes=[Note("undefined", problem)]
            )
        runs = slice(None) if run is None else slice(run, run + 1)
        if isinstance(chosen, ScodMetric):
            return chosen.interval(self._with_errors(model, score)[runs], level=self.level)
        return chosen.interval(self._samples(model, score)[runs], level=self.level)

    def compare(self, a: tuple[str, str], b: tuple[str, str], metric: str = "ood-auc") -> PairedComparison:
        """Paired test of two scores on the same two samples, each given by (model, score).

        Parameters
        ----------
        a, b : (str, str)
        metric : str
            As in `estimate`.

        Raises
        ------
        InputError
            A model, score or metric that is not there, or a false-positive rate with whole ties, which jumps from level to
            level so that no test of it is valid.
        """
        chosen = self._metric(metric)
        statistic = chosen.statistic
        if statistic is None:
            raise InputError(
                "metric",
                "needs a metric whose differences can be tested",
                f"{metric} jumps where ties pass whole",
                f"compare {metric.removesuffix('-whole')}, which shares ties",
                code="conflict",
            )
        found = []
        for name, (model, score) in (("a", a), ("b", b)):
            problem = self._problem(model, score)
            if problem:
                raise InputError(
                    name,
                    "must be a score that is defined on both sides",
                    f"{score} of {model!r} is not: {problem}",
                    "choose another score",
                    code="undefined",
                )
            samples = self._with_errors(model, score) if isinstance(chosen, ScodMetric) else self._samples(model, score)
            runs = [statistic(one) for one in samples]  # type: ignore[arg-type]
            found.append(runs if len(runs) > 1 else runs[0])
        return paired_statistic_test(*found, groups=self._groups, level=self.level)

    @cached_property
    def _groups(self) -> NDArray[np.intp] | None:
        return joined_groups(self.inside.groups, self.outside.groups, self.inside.n_instances, self.outside.n_instances)

    def _runs(self, model: str) -> tuple[int | None, ...]:
        """All runs together, then each where there are several."""
        n_runs = self.inside.models[model].n_runs
        return (None, *range(n_runs)) if n_runs > 1 else (None,)

    def _row(self, model: str, run: int | None, score: str, metric: str) -> dict[str, Any]:
        found = self.estimate(model, score, metric, run=run)
        return {
            "model": model,
            "run": "all" if run is None else str(run + 1),
            "metric": metric,
            "score": score,
            "tradeoff": NAN,
            "convention": self.convention,
            "estimate": float(found),
            **estimate_fields(found),
        }

    def _samples(self, model: str, score: str) -> list[TwoSamples]:
        """Both samples of each run."""
        inside, outside = (side.models[model].columns[score] for side in (self.inside, self.outside))
        is_out = np.repeat([False, True], [inside.shape[1], outside.shape[1]])
        runs = np.concatenate([inside, outside], axis=1)
        return [TwoSamples(is_out, run, None, self._groups) for run in runs]

    def _with_errors(self, model: str, score: str) -> list[ScodSamples]:
        """The samples of each run with its errors in distribution; those of the last score are kept for further metrics."""
        if (model, score) in self._last:
            return self._last[model, score]
        errors = self.inside.models[model].errors
        assert errors is not None
        unused = np.zeros(self.outside.n_instances)
        self._last.clear()
        self._last[model, score] = [
            with_errors(samples, np.append(own, unused), error_cost=self.error_cost, share_out=self.share_out)
            for samples, own in zip(self._samples(model, score), errors, strict=True)
        ]
        return self._last[model, score]

    @cached_property
    def _last(self) -> dict[tuple[str, str], list[ScodSamples]]:
        return {}

    def _problem(self, model: str, score: str) -> str:
        """Why a score of a model cannot be judged; empty where it can."""
        if score not in self.score_names(model):
            raise InputError(
                "score",
                f"must be one that {model!r} has: {', '.join(self.score_names(model)) or 'none'}",
                f"got {score!r}",
                "choose one of them",
                code="choice",
            )
        for side, where in ((self.inside, "in"), (self.outside, "out of")):
            column = side.models[model].columns.get(score)
            if column is None:
                return f"{score} is not known for the instances {where} distribution"
            undefined = int(np.isnan(column).sum())
            if undefined:
                return f"{undefined} of {column.size} values {where} distribution are nan"
        return ""

    def _shown_title(self) -> str:
        m, n = self.inside.n_instances, self.outside.n_instances
        who = f"{counted(len(self.model_names), 'model')} ({listed_names(self.model_names, most=3)})"
        return f"Out-of-distribution detection by {who}: {counted(m, 'instance')} in distribution, {counted(n, 'instance')} out"

    def _shown_sentences(self) -> Sequence[str]:
        return ()

    def _shown_table(self) -> ShownTable:
        each = [(model, score) for model in self.model_names for score in self.score_names(model)]
        found = [(name, [self.estimate(*name, metric) for metric in self.shown_metrics]) for name in each]
        found.sort(key=lambda row: math.inf if math.isnan(row[1][0]) else -float(row[1][0]))
        rows = []
        for (model, score), (area, *others) in found:
            cells = [estimate_cell(float(e), e.low, e.high) for e in (area, *others)]
            rows.append(
                ShownRow((ShownCell(model), ShownCell(score), *cells), bar=Bar(float(area), area.low, area.high))
            )
        said = f"By ROC-AUC, the greatest first. {level_text(self.level)} intervals."
        return ShownTable(("model", "score", *self.shown_metrics), tuple(rows), said, n_words=2)

    def _check_model(self, model: str) -> None:
        if model not in self.inside.models:
            raise InputError(
                "model",
                f"must be one of {', '.join(self.model_names)}",
                f"got {model!r}",
                "choose one of them",
                code="choice",
            )

    def _metric(self, name: str) -> OodMetric | ScodMetric:
        if name in SCOD_METRICS and not self.has_errors:
            raise InputError(
                "metric",
                f"{name} needs the labels in distribution",
                remedy="pass labels=, or an assay",
                code="missing",
            )
        check_choice(name, "metric", (*OOD_METRICS, *(SCOD_METRICS if self.has_errors else ())))
        return OOD_METRICS[name] if name in OOD_METRICS else SCOD_METRICS[name]
