"""`Assay`, what an assay found: findings, rankings, comparisons, verdict, pages."""

import tempfile
import warnings
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._progress import shown_progress
from uqassay.arrays import Floats
from uqassay.checks import different, fail
from uqassay.evidence.align import BASELINES
from uqassay.evidence.answer import Answer, answer_of
from uqassay.evidence.claims import Claim
from uqassay.evidence.critical import CriticalRefusals, critical_refusals
from uqassay.evidence.data import Judged, sample_of_runs
from uqassay.evidence.findings import SUBSETS, extreme_instances
from uqassay.evidence.lens import all_claims, markdown_of_lenses
from uqassay.evidence.metric_table import Metrics, metrics_of
from uqassay.evidence.mistakes import (
    MistakeRanking,
    ModelRefusal,
    certified_refusal_of,
    compare_rankings,
    compare_two_rankings,
    expected_cost_of,
    mistake_ranking,
    refusal,
    risk_coverage,
    scores_of,
)
from uqassay.evidence.ood import OodDetection, detect_ood
from uqassay.evidence.order import rank_sets_of
from uqassay.evidence.ranking import (
    ModelComparison,
    Ranked,
    Ranking,
    Spread,
    changes_of_ranking,
    comparison_at,
    ranked_at,
    scale_of_tradeoff,
    size_text,
    variance_of,
    win_shares_at,
    winners_of,
)
from uqassay.evidence.scale import ScaleCheck, scale_check_of
from uqassay.evidence.sentences import calibration_sentence, details, headline, verdict
from uqassay.evidence.storage import Saved
from uqassay.evidence.tables import rows_of, table_of, to_json
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoffs
from uqassay.metrics.expected_cost import ExpectedCost
from uqassay.metrics.reliability_diagrams import Reliability, reliability
from uqassay.metrics.risk import SelectiveGain
from uqassay.predictions.arrays_on_disk import check_expansion
from uqassay.results import Shown, ShownTable, Text
from uqassay.statistics import Estimate, PairedComparison, PairwiseComparisons, RankSets, VarianceComponents

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "Assay",
]


@dataclass(frozen=True, eq=False, repr=False)
class Assay(Judged, Shown, Saved):
    """Evidence about one or more classifiers on one test set; made by `assay`, kept by `save`, shown by `to_html`.

    What was given, named or counted is an attribute. What is computed is a method, also where it takes no choice; results are
    kept, so that asking again costs little. Every table is a pandas DataFrame and comes from `table(name)`, for which
    `findings()`, `scores()` and `breakpoints()` are short; `rows(name)` gives the same as plain values, without pandas.
    """

    _schema: ClassVar[str] = "uqassay.assay/8"
    _thing: ClassVar[str] = "assay"
    _shown_more: ClassVar[str] = "summary(), plot(), show(), metrics(), ranking(λ), table(name), warnings"

    # -- ranking ------------------------------------------------------------------------------------------------------

    def ranking(self, tradeoff: float = DEFAULT_TRADEOFF) -> Ranking:
        """Models and baselines by their mean E at one λ, best first, to be read: `Ranking` has a table, a figure, LaTeX."""
        return Ranking.of(self, tradeoff)

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
        return winners_of(self)

    def ranking_changes(self) -> tuple[tuple[float, str, str], ...]:
        """Every λ at which two models swap places: (λ, the one ahead below it, the one ahead above it)."""
        return changes_of_ranking(self)

    def win_shares(self, tradeoffs: ArrayLike) -> Floats:
        """Share of resamples won by each model at each λ, ``(T, J)``; nan with a single unit to draw from."""
        return win_shares_at(self, tradeoffs)

    def tradeoff_scale(self) -> float:
        """Factor by which λ shrinks from KL to this distance, max(d) / max(KL); labels only (unified evaluation, F.1)."""
        return scale_of_tradeoff(self)

    def scale_check(self, tradeoff: float = DEFAULT_TRADEOFF) -> ScaleCheck:
        """Whether E at one λ would be lower with wider sets about the same centres, which know no more."""
        return scale_check_of(self, tradeoff)

    # -- how two models, or two scores, compare -------------------------------------------------------------------------

    def compare(
        self,
        a: str,
        b: str,
        *,
        tradeoff: float = DEFAULT_TRADEOFF,
        method: str = "student-t",
        margin: float | None = None,
    ) -> ModelComparison:
        """Two models by their mean E at one λ, as the ranking tells them apart.

        Parameters
        ----------
        a, b : str
        tradeoff : float
            λ.
        method : {"student-t", "permutation"}
            Of the test of these two alone.
        margin : float, optional
            Greatest difference of mean E that does not matter, by default that of the assay. The result's `margin` then tells
            whether a is better, equivalent, no worse or worse; see `statistics.paired_margin_test`.

        Returns
        -------
        ModelComparison
            Difference, interval and p-value are those of the tests of all pairs, so that they agree with ranks and verdict;
            `alone` is the paired test of these two alone. `detectable` is the smallest difference that this test set could
            have shown, and how many instances or runs it takes to show the one observed.

        Examples
        --------
        >>> import numpy as np
        >>> import uqassay as uq
        >>> rng = np.random.default_rng(0)
        >>> y, p = np.zeros(400, dtype=int), rng.uniform(0.6, 0.9, 400)
        >>> q = p + rng.uniform(-0.02, 0.02, 400)
        >>> models = {name: uq.Point(np.stack([v, 1 - v], axis=1)) for name, v in (("a", p), ("b", q))}
        >>> found = uq.assay(models, y, distance="brier", calibration=()).compare("a", "b", margin=0.02)
        >>> found.reject(), found.margin.verdict, round(found.detectable.difference, 4)
        (False, 'equivalent', 0.0016)
        """
        return comparison_at(self, a, b, tradeoff, method, margin)

    def variance(
        self,
        model: str,
        other: str | None = None,
        *,
        tradeoff: float = DEFAULT_TRADEOFF,
        metric: str = "unified",
    ) -> VarianceComponents:
        """How much of the variance of a mean comes from the training runs, and how much from the test instances.

        Parameters
        ----------
        model : str
        other : str, optional
            A second model: the components are those of the difference of both means.
        tradeoff : float
            λ, for "unified".
        metric : str
            "unified" (E), the distance's name, "nonspecificity", "accuracy", "log-loss" or "brier".

        Returns
        -------
        VarianceComponents
            Shares with intervals, and how many runs or instances reach an interval or show a difference; whole groups are
            the units of the instances. `table("variance")` has those of all models.
        """
        return variance_of(self, model, other, tradeoff, metric)

    def compare_uncertainties(
        self, a: tuple[str, str], b: tuple[str, str], *, metric: str = "uq-auc"
    ) -> PairedComparison:
        """Paired test of two uncertainties, each given by (model, score), by a name of `metrics.RANKING_METRICS`.

        Examples
        --------
        >>> import uqassay as uq
        >>> p = uq.Point([[0.8, 0.1, 0.1], [0.6, 0.4, 0.0], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])
        >>> found = uq.assay({"m": p}, [0, 0, 1, 1]).compare_uncertainties(("m", "margin"), ("m", "total-entropy"))
        >>> round(float(found.difference), 3)
        -0.125
        """
        return compare_two_rankings(self, a, b, metric=metric)

    def pairwise_uncertainties(
        self, pairs: Sequence[tuple[str, str]], *, metric: str = "uq-auc"
    ) -> PairwiseComparisons:
        """Paired tests of every two of several uncertainties, adjusted for all pairs."""
        return compare_rankings(self, pairs, metric=metric)

    # -- does the uncertainty rank the mistakes -----------------------------------------------------------------------

    def uncertainty_names(self, model: str) -> tuple[str, ...]:
        """Names of the uncertainty scores that a model has."""
        return scores_of(self[model], self)

    def mistake_ranking(self) -> tuple[MistakeRanking, ...]:
        """How each score of each model ranks the mistakes, over all runs and, where there are several, of each run."""
        return mistake_ranking(self)

    def refusal(self, model: str, score: str, coverage: float = 0.9) -> SelectiveGain:
        """Accuracy without refusal, accuracy of the least uncertain share `coverage`, and the gain."""
        return refusal(self, model, score, coverage)

    def critical_refusals(self, *, coverage: float = 0.9) -> CriticalRefusals:
        """What keeping the least uncertain share `coverage` costs and saves for the class `critical`, by model and score.

        Examples
        --------
        >>> import numpy as np, uqassay as uq
        >>> members = np.random.default_rng(0).dirichlet([2, 2], (100, 3))
        >>> a = uq.assay({"m": members}, members[:, 0].argmax(axis=1), critical=1)
        >>> found = a.critical_refusals(coverage=0.8).found["m", "critical-information"]
        >>> round(float(found.recall), 2), round(float(found.refused), 2)
        (0.73, 0.27)
        """
        return critical_refusals(self, coverage=coverage)

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

        The page and the Markdown of this assay then show the newest result.

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

    # -- decisions ------------------------------------------------------------------------------------------------------

    def certified_refusal(
        self,
        model: str | None = None,
        score: str | Sequence[str] | None = None,
        *,
        risk: float,
        confidence: float = 0.95,
        run: int | None = None,
        choosing: ArrayLike | None = None,
        share: float = 0.3,
        rng: int | np.random.Generator | None = None,
    ) -> ModelRefusal:
        """Find a threshold on an uncertainty score below which at most a share `risk` of new cases is wrong.

        Parameters
        ----------
        model, score : str, optional
            By default the model and the score are chosen, too, on the choosing part alone, so the confidence holds for the
            choice. Several scores may be given.
        risk, confidence, choosing, share, rng
            As in `metrics.certified_refusal`. The groups are those of the assay.
        run : int, optional
            Training run of a model that has several, counted from 0: a threshold belongs to one trained model.

        Returns
        -------
        ModelRefusal
            The threshold to deploy, the sentence about it, and the refusal that both belong to.

        Examples
        --------
        >>> import uqassay as uq
        >>> rng = np.random.default_rng(0)
        >>> p = rng.beta(4.0, 1.0, 2000)
        >>> right = rng.random(2000) < p
        >>> a = uq.assay({"m": uq.Point(np.column_stack([p, 1 - p]))}, np.where(right, 0, 1))
        >>> found = a.certified_refusal("m", "total-entropy", risk=0.1)
        >>> found.threshold, round(float(found.refusal.coverage), 2)
        (0.5194, 0.62)
        """
        return certified_refusal_of(
            self,
            model,
            score,
            risk=risk,
            confidence=confidence,
            run=run,
            choosing=choosing,
            share=share,
            rng=rng,
        )

    def expected_cost(
        self,
        model: str,
        score: str | None = None,
        *,
        prices: ArrayLike | None = None,
        run: int | None = None,
        rng: int | np.random.Generator | None = None,
    ) -> ExpectedCost:
        """Find the expected cost per case if uncertain cases of a model are passed on at a price; a mistake costs 1.

        Parameters
        ----------
        model : str
        score : str, optional
            By default the total entropy, or the first score that the model has.
        prices, rng
            As in `metrics.expected_cost_curve`. Groups and level are those of the assay.
        run : int, optional
            Training run of a model that has several, counted from 0.

        Returns
        -------
        ExpectedCost
            `figures.plot_expected_cost` draws it.

        Examples
        --------
        >>> import uqassay as uq
        >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.6, 0.4]] * 50)}, [0, 0, 0, 1] * 25)
        >>> found = a.expected_cost("m", prices=[0.1, 0.6])
        >>> [round(float(cost), 3) for cost in found.costs], found.thresholds
        ([0.05, 0.25], (0.5, inf))
        """
        return expected_cost_of(self, model, score, prices=prices, run=run, rng=rng)

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
            a subgroup; `ranking=False` leaves out how the scores rank the mistakes, `metrics` all metrics but the named ones.

        Examples
        --------
        >>> import uqassay as uq
        >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]])}, [1, 1, 0])
        >>> [(row["measure"], row["tested"], row["pvalue"]) for row in a.rows("calibration")]
        [('kuiper-confidence', 'mean', 0.024), ('ece-classwise', 'mean', 0.024)]
        """
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

    def reliability(self, model: str, *, n_bins: int = 10) -> Reliability:
        """Bins of one model's reliability diagram, all runs together, with intervals that keep groups and runs together."""
        if not self[model].predicts_classes:
            fail(
                "model",
                "must state probabilities",
                f"{model!r} states class sets",
                'see table("sets") for their coverage',
                code="undefined",
            )
        if not self[model].states_confidence:
            rule, got = "must state a confidence", f"{model!r} says only what was right"
            fail("model", rule, got, "pass Answers(correct, confidence)", code="undefined")
        hits, confidence = (self[model].columns[name] for name in ("correct", "confidence"))
        sample = sample_of_runs(n_runs=len(hits), n=hits.shape[1], **self.sample())
        return reliability(hits.ravel(), confidence.ravel(), n_bins=n_bins, level=self.settings.level, **sample)

    # -- instances ----------------------------------------------------------------------------------------------------

    def extreme_instances(self, k: int = 10) -> dict[str, NDArray[np.int64]]:
        """Rows of the k most epistemic, most wrong and most disputed instances, over all models.

        Most epistemic: greatest non-specificity of any model. Most wrong: greatest mean distance. Most disputed: greatest
        spread of the distances between models. Instances that were left out, by their label or the weight 0, are not counted.
        """
        return extreme_instances(self.candidates, k)

    # -- what follows from it in words ----------------------------------------------------------------------------------

    def claims(self) -> tuple[Claim, ...]:
        """Everything that the verdict may say, as data: kinds of `KINDS`, each with its own bounded error."""
        return all_claims(self)

    def answer(self) -> Answer:
        """What to choose for which λ, what cannot be told from it, and where no model is worth using, as data."""
        return answer_of(self)

    def headline(self) -> tuple[str, ...]:
        """The answer in one or two sentences."""
        return headline(self.answer())

    def verdict(self) -> tuple[str, ...]:
        """The verdict in words: the headline and one sentence for each further claim."""
        return verdict(self)

    # -- how it is shown ------------------------------------------------------------------------------------------------

    def metrics(
        self,
        tradeoff: float = DEFAULT_TRADEOFF,
        *,
        metrics: str | Sequence[str] | None = None,
        score: str | None = None,
    ) -> Metrics:
        """Models and baselines by several metrics, each with its interval and the best marked.

        Parameters
        ----------
        tradeoff : float
            λ of E.
        metrics : str or sequence of str, optional
            Names of metrics, of this package or in common use ("nll", "acc", "auroc"): those of `rank_sets`, "ece",
            "rms-calibration-error", "ece-classwise", and the measures of the assay. By default accuracy, log loss, Brier score,
            ECE, error AUROC, AURC, and E at λ. Where no model states sets, E is the mean distance; it stands in the place of
            E, unless it is the log loss or the Brier score, which stand there already.
        score : str, optional
            The uncertainty that ranks the mistakes, for "uq-auc", "aurc" and their like; by default one that as many models as
            possible have, the total entropy if it is among these.

        Returns
        -------
        Metrics
            The best of each metric is marked, and so are the others that no model is shown to be better than (`rank_sets`). Of
            calibration errors only the lowest is marked, because they have no test. Sizes of sets and measures of uncertainty
            have no best: a smaller set is better only if it is right. No calibration test is made.

        Examples
        --------
        >>> import uqassay as uq
        >>> sure, unsure = uq.Point([[0.9, 0.1]] * 100), uq.Point([[0.6, 0.4]] * 100)
        >>> a = uq.assay({"sure": sure, "unsure": unsure}, [0] * 90 + [1] * 10)
        >>> for line in a.metrics(metrics=["nll", "ece"]).summary().splitlines()[2:5]:
        ...     print(line)
          model                   log loss ↓                  ECE ↓
          sure         0.325* [0.214, 0.495]  0.000* [0.000, 0.115]
          unsure       0.551  [0.531, 0.583]  0.300  [0.223, 0.352]
        """
        return metrics_of(self, tradeoff, metrics, score)

    def plot(self, tradeoff: float = DEFAULT_TRADEOFF, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the ranking at one λ: mean E with intervals, and the ranks that each model can have.

        `uqassay.report.figures` has this figure and all others.
        """
        from uqassay.report.figures.assay import plot_ranking

        return plot_ranking(self, tradeoff, ax=ax)

    def show(self, path: str | Path | None = None) -> Path:
        """Write the page as `to_html` does, open it in the web browser, and return where it is.

        Parameters
        ----------
        path : str or Path, optional
            By default "report.html" in a new temporary folder, which stays until the system clears it.
        """
        place = Path(tempfile.mkdtemp(prefix="uqassay-"), "report.html") if path is None else Path(path)
        page = self.to_html(place).resolve()
        if not webbrowser.open(page.as_uri()):
            warnings.warn(f"no web browser was found; the page is {page}", stacklevel=2)
        return page

    def to_html(
        self, path: str | Path, *, command: str | None = None, progress: Callable[[str], None] | None = None
    ) -> Path:
        """Write the report: one self-contained page. `command` makes it again; `progress` is told each part that begins."""
        from uqassay.report.page import write_page

        with shown_progress(progress) as say:
            return write_page(self, path, command=command, progress=say)

    def save(self, folder: str | Path) -> Path:
        """Keep it in a folder, written whole or not at all; an assay that is there is replaced. Its tests are made first."""
        self.tests()  # their time belongs to the provenance
        return super().save(folder)

    def to_markdown(
        self,
        tradeoff: float = DEFAULT_TRADEOFF,
        *,
        metrics: str | Sequence[str] | None = None,
        score: str | None = None,
        spread: Spread = "interval",
    ) -> Text:
        """The headline, the table of `metrics`, the warnings, and what the lenses measured, as Markdown for GitHub.

        Parameters
        ----------
        tradeoff, metrics, score, spread
            As in `to_latex`.
        """
        table = self.metrics(tradeoff, metrics=metrics, score=score).shown_table(spread)
        return Text("\n\n".join([self._markdown(table), *markdown_of_lenses(self)]))

    def to_latex(
        self,
        tradeoff: float = DEFAULT_TRADEOFF,
        *,
        metrics: str | Sequence[str] | None = None,
        score: str | None = None,
        spread: Spread = "interval",
    ) -> Text:
        """The table of `metrics` for LaTeX, which needs booktabs; `ranking(λ).to_latex()` has the ranking alone.

        Parameters
        ----------
        tradeoff, metrics, score
            As in `metrics`.
        spread : {"interval", "runs"}
            What stands after each number: its confidence interval, or ± the standard deviation over the training runs.
        """
        return self.metrics(tradeoff, metrics=metrics, score=score).to_latex(spread=spread)

    def to_json(self, tradeoffs: Sequence[float] | None = None) -> dict[str, Any]:
        """Findings, rankings, breakpoints and settings as plain values that a strict JSON writer takes."""
        return to_json(self, tradeoffs)

    def _shown_title(self) -> str:
        return f"Assay of {size_text(self)}"

    def _shown_sentences(self) -> Sequence[str]:
        return self.headline()

    def _shown_details(self) -> Sequence[str]:
        told = calibration_sentence(self)
        return (*details(self), *([told] if told else []))

    def _shown_table(self) -> ShownTable:
        return self.metrics().shown_table(explained=True)

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.warnings]

    # -- what a saved assay must hold -----------------------------------------------------------------------------------

    def _check_read(self) -> None:
        names, known = [m.name for m in self.models], self.model_names
        if len(self.class_names) < 2:
            fail("class_names", "must be two names at least", f"got {self.class_names!r:.80}", code="range")
        different(self.class_names, "class_names", "must differ", "")
        self._check_labels()
        different(names, "models", "must have different names", "")
        baselines = () if known and self.of_answers else BASELINES
        if names != [*known, *baselines] or not known:
            fail("models", "must be models and both baselines, which answers lack", f"got {names!r:.80}", code="choice")
        for m in self.models:
            for name in self.settings.measures:
                if name not in m.columns:
                    fail(f"columns/{name}", "is missing", f"in those of {m.name!r:.40}", code="missing")
        held = sum(column.nbytes for m in self.models for column in m.columns.values())
        check_expansion("settings/n_draws", (self.settings.n_draws, len(self.models)), 8, held)
        check_tradeoffs(self.tradeoffs)
        if self.excess.names != known:
            fail("excess/names", "must be those of the models", f"got {self.excess.names!r:.80}", code="choice")
        if taken := set(self.subgroups) & set(SUBSETS):
            fail("subgroups", "must have names that are free", f"got {taken!r:.80}", code="choice")
        named: dict[str, Sequence[str]] = {"backward": tuple(b.model for b in self.backward)}
        named |= {"sets": tuple(self.sets), "scaled": tuple(self.scaled), "votes": tuple(self.votes)}
        for place, models in named.items():
            if not set(models) <= set(known):
                fail(place, "must name models", f"got {models!r:.80}", code="choice")
        runs = {m.name: m.n_runs for m in self.models}
        with_classes = () if self.of_answers else (*known, "class-prior")
        if any(len(self.classwise_error.get(name, ())) != runs[name] + 1 for name in with_classes):
            fail("classwise_error", "needs a value of all runs and of each run", code="shape")
        if not all(t.model in known and 0 <= t.run < runs[t.model] for t in self.calibration):
            fail("calibration", "must be of runs of the models", code="choice")
        if not all(len(scaled.distance) == runs[name] for name, scaled in self.scaled.items()):
            fail("scaled", "must have the runs of the models", code="shape")
        scores = {b.score for b in self.backward} - {*self.settings.measures, "nonspecificity"}
        if scores:
            fail("backward", "must be of scores of the models", f"got {scores!r:.80}", code="choice")

    def _check_labels(self) -> None:
        labels, n_classes = self.labels, self.n_classes
        if not len(labels):
            fail("labels", "needs at least one instance", "got none", code="empty")
        dtype, shape, high = (np.int64, (), n_classes - 1) if labels.ndim == 1 else (np.float64, (n_classes,), 1)
        fits = labels.dtype == dtype and labels.shape[1:] == shape
        if not (fits and labels.min() >= 0 and labels.max() <= high):  # nan is neither
            fail("labels", f"must be those of {n_classes} classes, or distributions", code="range")
