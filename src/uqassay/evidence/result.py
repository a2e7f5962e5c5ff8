"""What an assay found: findings, rankings, breakpoints, comparisons, all from the same numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.credal.undominated import CLASS_RULES
from uqassay.errors import InputError
from uqassay.evidence.answer import Answer, answer_of
from uqassay.evidence.backward import BackwardScore
from uqassay.evidence.calibration_result import ModelCalibration
from uqassay.evidence.chosen_columns import units_of_runs
from uqassay.evidence.claim import Claim
from uqassay.evidence.claims import claims_of
from uqassay.evidence.compared import ComparedAssay
from uqassay.evidence.findings import finding_rows
from uqassay.evidence.headline import headline
from uqassay.evidence.instances import extreme_instances
from uqassay.evidence.mistake_ranking import (
    MistakeRanking,
    rank_mistakes,
    refusal,
    risk_coverage,
    scores_of,
)
from uqassay.evidence.ood import OodDetection, detect_ood
from uqassay.evidence.rank_sets import rank_sets_of
from uqassay.evidence.ranking import Ranked, draws_of, ranked_at, scale_of_tradeoff
from uqassay.evidence.scale_check import scale_check_of
from uqassay.evidence.scale_result import ScaleCheck
from uqassay.evidence.scaled_sets import ScaledScores
from uqassay.evidence.scoring import ModelScores, SetSample, Settings
from uqassay.evidence.set_columns import covered_column
from uqassay.evidence.shared import Shared
from uqassay.evidence.storage import read_assay, save_assay, to_json
from uqassay.evidence.tables import rows_of, table_of
from uqassay.evidence.verdict import verdict
from uqassay.evidence.vote_tests import VoteTests
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.calibration.reliability import Reliability, reliability
from uqassay.metrics.choice_of_tradeoff import lower_envelope, ranking_changes
from uqassay.metrics.risk.selective_accuracy import SelectiveGain
from uqassay.notes import Note
from uqassay.statistics import Estimate, RankSets, win_shares

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Assay"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Assay(ComparedAssay):
    """Evidence about one or more classifiers on one test set; made by `assay`, kept by `save`, shown by `to_html`.

    What was given, named or counted is an attribute. What is computed is a method, also where it takes no choice; results are
    kept, so that asking again costs little. Every table is a pandas DataFrame and comes from `table(name)`, for which
    `findings()`, `scores()` and `breakpoints()` are short; `rows(name)` gives the same as plain values, without pandas.

    Attributes
    ----------
    models : tuple of ModelScores
        The models in the order given, then the baselines "vacuous" and "class-prior".
    labels : int array (n,) or array (n, K)
    class_names : tuple of str
    ids, groups : array (n,) or None
    subgroups : dict of str to array (n,)
    tradeoffs : tuple of float
        The λ of the findings.
    settings : Settings
    sets : dict of str to SetSample
        Credal sets of some instances of each model's first run.
    warnings : tuple of Note
        What should change how much the numbers are believed; each text is one sentence, codes are those of `evidence.CAUTIONS`.
    provenance : dict
        Versions, input hashes, time taken.
    calibration : tuple of ModelCalibration
        The calibration tests of every model and measure.
    classwise_error : dict of str to tuple of float
        Classwise calibration error of each model's mean, and of "class-prior": of all runs together, then of each.
    scaled : dict of str to ScaledScores
        Both terms of E with the spread of the sets scaled, of the models that state sets.
    votes : dict of str to VoteTests
        Tests of whether people's votes could come from the sets, where the labels were given as numbers of votes.
    backward : tuple of BackwardScore
        The scores that are shown to rank the mistakes backwards, where 10 % are refused.
    """

    models: tuple[ModelScores, ...]
    labels: NDArray[Any]
    class_names: tuple[str, ...]
    ids: NDArray[Any] | None
    groups: NDArray[Any] | None
    subgroups: dict[str, NDArray[Any]]
    tradeoffs: tuple[float, ...]
    settings: Settings
    sets: dict[str, SetSample]
    warnings: tuple[Note, ...]
    provenance: dict[str, Any]
    calibration: tuple[ModelCalibration, ...] = ()
    classwise_error: dict[str, tuple[float, ...]] = field(default_factory=dict)
    scaled: dict[str, ScaledScores] = field(default_factory=dict)
    votes: dict[str, VoteTests] = field(default_factory=dict)
    backward: tuple[BackwardScore, ...] = ()

    # -- sizes and names ----------------------------------------------------------------------------------------------

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return len(self.labels)

    @cached_property
    def n_units(self) -> int:
        """Number of units that intervals and draws rest on: groups where they are given, else instances."""
        return self.n_instances if self.groups is None else len(np.unique(self.groups))

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.class_names)

    @cached_property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models, without the baselines."""
        return tuple(m.name for m in self.candidates)

    @cached_property
    def candidates(self) -> tuple[ModelScores, ...]:
        """The models to choose from, without the baselines."""
        return tuple(m for m in self.models if not m.baseline)

    @cached_property
    def shared(self) -> Shared:
        """Results that several findings need, each computed once."""
        return Shared()

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """True class of every instance, of label distributions the most frequent one, ``(n,)``."""
        return self.labels if self.labels.ndim == 1 else self.labels.argmax(axis=1)

    def hits(self, model: str) -> NDArray[np.bool_]:
        """Whether the predicted class is the true one, for every run and instance, ``(R, n)``.

        Of class sets: whether they hold it, of votes more than half of them.
        """
        scores = self[model]
        if scores.predicts_classes:
            return scores.columns["label"] == self.classes
        return scores.columns[covered_column(CLASS_RULES[0])] > 0.5

    def __contains__(self, name: object) -> bool:
        return any(m.name == name for m in self.models)

    def __getitem__(self, name: str) -> ModelScores:
        """Scores of one model or baseline by name."""
        for m in self.models:
            if m.name == name:
                return m
        known = ", ".join(repr(m.name) for m in self.models)
        raise InputError("model", f"must be one of {known}", f"got {name!r}", "choose one of them", code="choice")

    # -- ranking ------------------------------------------------------------------------------------------------------

    def loss(self, model: str, tradeoff: float = DEFAULT_TRADEOFF) -> Array:
        """E of every run and instance, ``(R, n)``."""
        columns = self[model].columns
        return columns["distance"] + tradeoff * columns["nonspecificity"]

    def ranked(self, tradeoff: float = DEFAULT_TRADEOFF) -> tuple[Ranked, ...]:
        """Models and baselines by their mean E at one λ, best first; `ranking` gives the same as a table."""
        return ranked_at(self, tradeoff)

    def rank_sets(
        self, tradeoff: float = DEFAULT_TRADEOFF, *, metric: str = "unified", score: str | None = None
    ) -> RankSets:
        """Which ranks each model can have by one metric, and which models none is significantly better than.

        Parameters
        ----------
        tradeoff : float
            λ, for "unified".
        metric : str
            "unified" (E), the distance's name, "nonspecificity", "accuracy", "log-loss", "brier", or a ranking metric.
        score : str, optional
            For ranking metrics, the uncertainty that ranks the mistakes; models without it are left out.

        Returns
        -------
        RankSets
            All sets hold at once with the assay's level. The baselines that have the metric are compared but not ranked.

        Examples
        --------
        >>> import uqassay as uq
        >>> right, wrong = uq.Point([[0.8, 0.2]] * 300), uq.Point([[0.3, 0.7]] * 300)
        >>> found = uq.assay({"a": right, "b": right, "c": wrong}, [0] * 300).rank_sets(metric="accuracy")
        >>> found.low.tolist(), found.high.tolist(), found.top_names
        ([1, 1, 3], [2, 2, 3], ('a', 'b'))
        """
        return rank_sets_of(self, tradeoff, metric, score)

    def breakpoints(self) -> "pd.DataFrame":
        """Which model has the lowest mean E on which interval of λ ≥ 0; columns low, high, models (", " joins ties)."""
        return self.table("breakpoints")

    def winners(self) -> tuple[tuple[float, float, tuple[str, ...]], ...]:
        """Intervals of λ and the models with the lowest mean E there, (low, high, names); none if all means are infinite."""
        d, ns = self._mean_lines()
        found = lower_envelope(d, ns) if np.isfinite(d).any() else ()
        return tuple((w.low, w.high, tuple(self.model_names[j] for j in w.models)) for w in found)

    def ranking_changes(self) -> tuple[tuple[float, str, str], ...]:
        """Every λ at which two models swap places: (λ, the one ahead below it, the one ahead above it)."""
        d, ns = self._mean_lines()
        return tuple((at, self.model_names[a], self.model_names[b]) for at, a, b in ranking_changes(d, ns))

    def win_shares(self, tradeoffs: ArrayLike) -> Array:
        """Share of resamples won by each model at each λ, ``(T, J)``; nan with a single unit to draw from."""
        if self.n_units == 1:
            return np.full((np.size(tradeoffs), len(self.candidates)), np.nan)
        return win_shares(draws_of(self), tradeoffs)

    def tradeoff_scale(self) -> float:
        """Factor by which λ shrinks from KL to this assay's distance, max(d) / max(KL) (paper 000, App. F.1); labels only."""
        return scale_of_tradeoff(self)

    def scale_check(self, tradeoff: float = DEFAULT_TRADEOFF) -> ScaleCheck:
        """Whether E at one λ would be lower with wider sets about the same centres, which know no more."""
        return scale_check_of(self, tradeoff)

    def _mean_lines(self) -> tuple[Array, Array]:
        d = np.array([m.columns["distance"].mean() for m in self.candidates])
        return d, np.array([m.columns["nonspecificity"].mean() for m in self.candidates])

    # -- does the uncertainty rank the mistakes -----------------------------------------------------------------------

    def uncertainty_names(self, model: str) -> tuple[str, ...]:
        """Names of the uncertainty scores that a model has."""
        return scores_of(self[model], self)

    def mistake_ranking(self) -> tuple[MistakeRanking, ...]:
        """How each score of each model ranks the mistakes, over all runs and, where there are several, of each run."""
        each = ((m, run) for m in self.candidates for run in (None, *range(m.n_runs if m.n_runs > 1 else 0)))
        return self.shared.once(
            "mistakes", lambda: tuple(found for m, run in each for found in rank_mistakes(self, m, run=run))
        )

    def refusal(self, model: str, score: str, coverage: float = 0.9) -> SelectiveGain:
        """Accuracy without refusal, accuracy of the least uncertain share `coverage`, and the gain."""
        return refusal(self, model, score, coverage)

    def risk_coverage(self, model: str, score: str, coverages: ArrayLike) -> tuple[Estimate, ...]:
        """Share of errors among the least uncertain instances, at each coverage, with pointwise intervals."""
        return risk_coverage(self, model, score, coverages)

    def ood(
        self,
        outside: "Assay | Mapping[str, Any]",
        *,
        uncertainties: "Mapping[str, Mapping[str, ArrayLike]] | None" = None,
        groups: ArrayLike | None = None,
        level: float | None = None,
        positive: Literal["in", "out"] = "out",
        ties: Literal["shared", "whole"] = "shared",
        error_cost: float = 0.5,
        share_out: float | None = None,
    ) -> "OodDetection":
        """Which scores tell these instances from out-of-distribution ones: ROC-AUC, FPR at 95 % TPR, AUPR, SCOD areas.

        Parameters
        ----------
        outside : Assay, or dict of str to Prediction
            The same models on inputs of another distribution; as predictions where there are no labels.
        uncertainties, groups, level, positive, ties, error_cost, share_out
            As in `evidence.ood.detect_ood`.
        """
        return detect_ood(
            self,
            outside,
            uncertainties=uncertainties,
            groups=groups,
            level=level,
            positive=positive,
            ties=ties,
            error_cost=error_cost,
            share_out=share_out,
        )

    # -- findings -----------------------------------------------------------------------------------------------------

    def rows(self, name: str, **options: Any) -> list[dict[str, Any]]:
        """One kind of finding as plain rows, for programs and files.

        Parameters
        ----------
        name : str
            "findings" (one row per model, run and metric), "scores" (model, run and instance), "ranking", "breakpoints",
            "ranking-changes", "scale-check", "claims", "calibration", "mistakes" (how scores rank the mistakes), "subsets",
            "sets" (classes that the sets do not rule out: coverage, size, utility), "coverage-curve" (coverage of scaled sets),
            "votes" (people's votes against the sets), "variance" (from runs and instances).
        **options
            "ranking", "scale-check": `tradeoff`. "variance": `tradeoff`, `metric`. "sets": `rule`, of `credal.CLASS_RULES`.
            "subsets": `by`: "correct" (each model's own correct and wrong predictions), "class" (the true class) or the name of
            a subgroup; `ranking=False` leaves out how the scores rank the mistakes.

        Raises
        ------
        InputError
            An unknown name or option.

        Examples
        --------
        >>> import uqassay as uq
        >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]])}, [1, 1, 0])
        >>> [(row["measure"], row["tested"], row["pvalue"]) for row in a.rows("calibration")]
        [('kuiper-confidence', 'mean', 0.024), ('ece-classwise', 'mean', 0.024)]
        """
        if name == "findings" and not options:
            return [dict(row) for row in self._finding_rows]
        return rows_of(self, name, **options)

    def table(self, name: str, **options: Any) -> "pd.DataFrame":
        """The rows of the same name and options as a table."""
        return table_of(self, name, **options)

    def findings(self) -> "pd.DataFrame":
        """The table of the findings, one row per model, run and metric."""
        return self.table("findings")

    def scores(self) -> "pd.DataFrame":
        """The table of the scores, one row per model, run and instance."""
        return self.table("scores")

    @cached_property
    def _finding_rows(self) -> tuple[dict[str, Any], ...]:
        return tuple(finding_rows(self))

    def reliability(self, model: str, *, n_bins: int = 10) -> Reliability:
        """Bins of one model's reliability diagram, all runs together, with intervals that keep groups and runs together."""
        if not self[model].predicts_classes:
            raise InputError(
                "model",
                "must state probabilities",
                f"{model!r} states class sets",
                'see table("sets") for their coverage',
                code="undefined",
            )
        hits, confidence = (self[model].columns[name] for name in ("correct", "confidence"))
        groups = units_of_runs(self.groups, *hits.shape)
        return reliability(hits.ravel(), confidence.ravel(), n_bins=n_bins, groups=groups, level=self.settings.level)

    # -- instances ----------------------------------------------------------------------------------------------------

    def extreme_instances(self, k: int = 10) -> dict[str, NDArray[np.int64]]:
        """Rows of the k most epistemic, most wrong and most disputed instances, over all models.

        Most epistemic: greatest non-specificity of any model. Most wrong: greatest mean distance. Most disputed: greatest
        spread of the distances between models.
        """
        return extreme_instances(self.candidates, k)

    # -- keeping and showing ------------------------------------------------------------------------------------------

    def claims(self) -> tuple[Claim, ...]:
        """Everything that the verdict may say, as data: kinds of `KINDS`, each with its own bounded error."""
        return self.shared.once("claims", lambda: claims_of(self))

    def answer(self) -> Answer:
        """What to choose for which λ, what cannot be told from it, and where no model is worth using, as data."""
        return self.shared.once("answer", lambda: answer_of(self, self.claims()))

    def headline(self) -> tuple[str, ...]:
        """The answer in one or two sentences."""
        return headline(self.answer())

    def verdict(self) -> tuple[str, ...]:
        """The verdict in words: the headline and one sentence for each further claim."""
        return verdict(self)

    def to_json(self, tradeoffs: Sequence[float] | None = None) -> dict[str, Any]:
        """Findings, rankings, breakpoints and settings as plain values that a strict JSON writer takes."""
        return to_json(self, tradeoffs)

    def save(self, folder: str | Path) -> Path:
        """Keep the assay in a folder; `Assay.load` brings it back."""
        return save_assay(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> "Assay":
        """An assay that `save` kept."""
        return cls(**read_assay(folder))
