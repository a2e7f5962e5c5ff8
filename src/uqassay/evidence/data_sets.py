"""Models compared over many data sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, as_array, as_numeric
from uqassay.checks import fail
from uqassay.evidence.order import loss_name, order_of
from uqassay.evidence.ranking import metric_label
from uqassay.evidence.result import Assay
from uqassay.frames import as_frame
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.notes import Note
from uqassay.predictions.labels import in_order_of_ids, take_index
from uqassay.results import Shown, ShownCell, ShownRow, ShownTable, as_table, plain
from uqassay.statistics import (
    FriedmanTest,
    SignedRankPairs,
    bayesian_signed_rank_test,
    friedman_test,
    nemenyi_difference,
    pairwise_signed_rank_tests,
)
from uqassay.statistics.many_data_sets import table_ranks
from uqassay.statistics.units import check_level
from uqassay.text import (
    ABSENT,
    counted,
    level_text,
    listed_names,
    named,
    number,
    percent,
    pvalue,
    pvalue_text,
    significant,
)
from uqassay.text import tradeoff as tradeoff_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "TABLES",
    "DataSetComparison",
    "compare_over_data_sets",
    "compare_table",
]


# What a comparison of models over data sets found: average ranks, tests of all pairs, groups, and the sentence about
# them.


SHOWN = 3  # models or clauses that a sentence names before it counts the others
TABLES = {
    "models": ("model", "average_rank", "mean", "better_than", "worse_than"),
    "pairs": (
        *("model", "other", "difference", "pvalue", "pvalue_adjusted", "better", "equal_on"),
        *("practically_better", "practically_equal", "practically_worse"),
    ),
    "values": ("data_set", "model", "value", "rank"),
}


@final
@dataclass(frozen=True, eq=False, repr=False)
class DataSetComparison(Shown):
    """J models compared over N data sets by one metric."""

    _shown_more: ClassVar[str] = 'summary(), table("models"), table("pairs"), to_latex()'

    #: models, data_sets: J and N names.
    models: tuple[str, ...]
    data_sets: tuple[str, ...]
    values: Floats  #: The metric of each model on each data set, its mean over training runs.
    data_set_ranks: Floats  #: Rank of each model on each data set, 1 for the best.
    label: str  #: The metric in words.
    greater_is_better: bool
    level: float  #: The probability that a sentence names no false pair is at least this.
    friedman: FriedmanTest  #: Of all models together, with the average ranks.
    tests: SignedRankPairs  #: Of all pairs, on which the sentences rest.
    critical_difference: float  #: Nemenyi's, of average ranks.
    rope: float | None = None  #: Differences up to it are practically none; None if there was no Bayesian test.
    #: Probabilities that the model of the row is practically better than, equal to and worse than that of the column;
    #: nan on the diagonal.
    posterior: Floats | None = None
    notes: tuple[Note, ...] = ()

    @property
    def n_data_sets(self) -> int:
        """N."""
        return len(self.data_sets)

    @property
    def average_ranks(self) -> Floats:
        """Average rank of each model, ``(J,)``; 1 for the best."""
        return self.friedman.ranks

    def order(self) -> list[int]:
        """Places of the models from the lowest average rank to the highest."""
        found: list[int] = np.argsort(self.average_ranks, kind="stable").tolist()
        return found

    def better(self) -> NDArray[np.bool_]:
        """Whether the model of the row is shown to be better than that of the column, ``(J, J)``."""
        return self.tests.better(level=self.level, greater_is_better=self.greater_is_better)

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of models of which no two can be told apart, in order of average ranks; groups may overlap."""
        place = {model: k for k, model in enumerate(self.order())}
        found = sorted(sorted(place[i] for i in group) for group in self.tests.groups(level=self.level))
        return tuple(tuple(self.models[self.order()[k]] for k in group) for group in found)

    # -- sentences ----------------------------------------------------------------------------------------------------

    def sentence(self) -> str:
        """Which models are shown to be better than which; with how often such a sentence names a false pair."""
        n, pairs = counted(self.n_data_sets, "data set"), counted(self.tests.n_pairs, "pair")
        among = f"{len(self.models)} models" if len(self.models) > 2 else listed_names(self.models)
        if self.tests.smallest_pvalue > 1 - self.level + 1e-12:
            least = pvalue_text(self.tests.smallest_pvalue, "≥").removeprefix("p ")
            adjusted = f", adjusted for {pairs}" if self.tests.n_pairs > 1 else ""
            needed = counted(self.tests.least_data_sets(self.level), "data set")
            return f"{n} cannot tell {among} apart by {self.label}: p {least} at best{adjusted}; it takes at least {needed}."
        better = self.better()
        clauses = [
            f"{self.models[i]} is better than "
            f"{listed_names([self.models[k] for k in self.order() if better[i, k]], most=SHOWN)}"
            for i in self.order()
            if better[i].any()
        ]
        if not clauses:
            least = pvalue_text(float(np.nanmin(self.tests.adjusted)), "≥")
            adjusted = f", adjusted for {pairs}" if self.tests.n_pairs > 1 else ""
            none = f"none of {among} is shown to be better than another"
            if len(self.models) == 2:
                none = f"neither {listed_names(self.models, last='nor')} is shown to be better than the other"
            return f"Over {n}, {none} by {self.label} ({least}{adjusted})."
        if len(clauses) > SHOWN + 1:
            clauses = [*clauses[:SHOWN], f"{counted(len(clauses) - SHOWN, 'other model')} are better than some"]
        return f"Over {n}, by {self.label}, {'; '.join(clauses)} ({self._error_rate()})."

    def practical_sentence(self) -> str:
        """Which models are practically better or equal with a posterior probability of at least `level`; empty without rope."""
        if self.posterior is None or self.rope is None:
            return ""
        said, order = [], self.order()
        for a, i in enumerate(order):
            wins = [k for k in order if k != i and self.posterior[i, k, 0] >= self.level]
            same = [k for k in order[a + 1 :] if self.posterior[i, k, 1] >= self.level]
            for found, words in ((wins, "better than"), (same, "equal to")):
                if found:
                    said.append(
                        f"{self.models[i]} is {words} {listed_names([self.models[k] for k in found], most=SHOWN)}"
                    )
        if len(said) > SHOWN + 1:
            said = [*said[:SHOWN], f"{counted(len(said) - SHOWN, 'further statement')} in the table"]
        within = f"With differences up to {significant(self.rope, 2)} counted as none"
        least = f"posterior probability at least {level_text(self.level)}, of each pair by itself"
        return f"{within}, {'; '.join(said) or 'no model is better than or equal to another'} ({least})."

    def _error_rate(self) -> str:
        most = percent(1 - self.level, 0 if round(100 * self.level, 9).is_integer() else 1)
        pairs = f", adjusted for {counted(self.tests.n_pairs, 'pair')}" if self.tests.n_pairs > 1 else ""
        return f"signed-rank tests{pairs}: at most {most} of comparisons like this name a false pair"

    # -- tables -------------------------------------------------------------------------------------------------------

    def rows(self, name: str = "models") -> list[dict[str, Any]]:
        """One kind of finding as plain rows.

        Parameters
        ----------
        name : {"models", "pairs", "values"}
            One row per model, best average rank first; per pair; per data set and model.
        """
        if name not in TABLES:
            fail("name", f"must be one of {', '.join(TABLES)}", f"got {name!r}", "choose one of them", code="choice")
        if name == "values":
            return [
                dict(zip(TABLES[name], (data_set, model, self.values[r, k], self.data_set_ranks[r, k]), strict=True))
                for r, data_set in enumerate(self.data_sets)
                for k, model in enumerate(self.models)
            ]
        return self._model_rows() if name == "models" else self._pair_rows()

    def table(self, name: str = "models") -> "pd.DataFrame":
        """The rows of `rows` as a table of pandas."""
        rows = self.rows(name)
        if name == "models":
            rows = [
                row | {key: ", ".join(map(named, row[key])) for key in ("better_than", "worse_than")} for row in rows
            ]
        return as_table(rows, TABLES[name])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer: sentences, models, pairs, values, tests."""
        return {
            "metric": self.label,
            "greater_is_better": self.greater_is_better,
            "level": self.level,
            "rope": self.rope,
            "n_data_sets": self.n_data_sets,
            "sentence": self.sentence(),
            "practical_sentence": self.practical_sentence(),
            "models": plain(self.rows("models")),
            "pairs": plain(self.rows("pairs")),
            "groups": [list(group) for group in self.groups()],
            "values": plain(self.rows("values")),
            "friedman": self.friedman.to_dict(),
            "critical_difference": self.critical_difference,
            "smallest_pvalue": self.tests.smallest_pvalue,
            "notes": plain(self.notes),
        }

    def _model_rows(self) -> list[dict[str, Any]]:
        better, order = self.better(), self.order()
        return [
            {
                "model": self.models[i],
                "average_rank": float(self.average_ranks[i]),
                "mean": float(self.values[:, i].mean()),
                "better_than": [self.models[k] for k in order if better[i, k]],
                "worse_than": [self.models[k] for k in order if better[k, i]],
            }
            for i in order
        ]

    def _pair_rows(self) -> list[dict[str, Any]]:
        better, order, rows = self.better(), self.order(), []
        for a, i in enumerate(order):
            for k in order[a + 1 :]:
                winner = self.models[i] if better[i, k] else self.models[k] if better[k, i] else None
                practical = (None,) * 3 if self.posterior is None else self.posterior[i, k].tolist()
                found = (
                    *(self.models[i], self.models[k], float(self.tests.difference[i, k])),
                    *(float(self.tests.pvalue[i, k]), float(self.tests.adjusted[i, k]), winner),
                    *(int(self.tests.n_zero[i, k]), *practical),
                )
                rows.append(dict(zip(TABLES["pairs"], found, strict=True)))
        return rows

    # -- shown --------------------------------------------------------------------------------------------------------

    def _shown_title(self) -> str:
        who = f"{len(self.models)} models ({listed_names(self.models, most=SHOWN)})"
        arrow = "greater" if self.greater_is_better else "lower"
        return f"Comparison of {who} over {counted(self.n_data_sets, 'data set')} by {self.label}, {arrow} is better"

    def _shown_sentences(self) -> Sequence[str]:
        return [said for said in (self.sentence(), self.practical_sentence()) if said]

    def _shown_details(self) -> Sequence[str]:
        f = self.friedman
        if np.isnan(f.pvalue):
            return [f"Friedman's test: undefined, {f.notes[0].text}."]
        what = f"F = {number(f.f, 2)}, {pvalue_text(f.pvalue)}"
        return [
            f"Friedman's test of all models: {what}. Nemenyi's critical difference: {self.critical_difference:.2f}."
        ]

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]

    def _shown_table(self) -> ShownTable:
        """Models by their average ranks."""
        rows, better = self.rows("models"), self.better()
        worst = bool(better.any())
        shown = [
            ShownRow(
                (
                    ShownCell(row["model"]),
                    ShownCell(f"{row['average_rank']:.2f}"),
                    ShownCell(number(row["mean"], _places(self.values))),
                    *([ShownCell(listed_names(row["better_than"], most=SHOWN) or ABSENT)] if worst else []),
                )
            )
            for row in rows
        ]
        header = ("model", "average rank", "mean", *(["shown to be better than"] if worst else []))
        return ShownTable(header, tuple(shown), f"Mean: of {self.label} over the data sets.")

    def _written_table(self) -> ShownTable:
        """Data sets by models, as papers print them, with the average ranks below."""
        order, better, best = self.order(), self.better(), float(self.average_ranks.min())
        places = _places(self.values)
        rows = []
        for r, data_set in enumerate(self.data_sets):
            first = self.data_set_ranks[r].min()
            cells = (
                ShownCell(number(float(self.values[r, k]), places), bool(self.data_set_ranks[r, k] == first))
                for k in order
            )
            rows.append(ShownRow((ShownCell(data_set), *cells)))
        leaders = [i for i in order if self.average_ranks[i] == best]
        rank_cells = tuple(
            ShownCell(f"{self.average_ranks[k]:.2f}", k in leaders, k not in leaders and not better[leaders, k].any())
            for k in order
        )
        rows.append(ShownRow((ShownCell("average rank"), *rank_cells), reference=True))
        arrow = "greater" if self.greater_is_better else "lower"
        caption = f"{self.label[:1].upper()}{self.label[1:]} of each model on each data set, {arrow} is better."
        marks = (
            "Bold: the best of a row; underlined: an average rank whose model is not shown to be worse than that of the best "
            f"({self._error_rate()})."
        )
        return ShownTable(("data set", *(self.models[k] for k in order)), tuple(rows), caption, marks)

    def pairs_table(self) -> ShownTable:
        """Pairs with their differences and p-values, to be read."""
        several = self.tests.n_pairs > 1
        header = ("model", "other", "difference", "p", *(("p (adjusted)",) if several else ()))
        header += ("P(better)", "P(equal)", "P(worse)") if self.posterior is not None else ()
        rows = []
        for row in self.rows("pairs"):
            texts = [row["model"], row["other"], significant(row["difference"], 3), pvalue(row["pvalue"])]
            texts += [pvalue(row["pvalue_adjusted"])] if several else []
            if self.posterior is not None:
                texts += [number(row[f"practically_{how}"], 3) for how in ("better", "equal", "worse")]
            rows.append(
                ShownRow(tuple(ShownCell(text, row["better"] is not None and i < 2) for i, text in enumerate(texts)))
            )
        said = "Difference: median of the means of two data sets' differences, model minus other; p: signed-rank test."
        return ShownTable(header, tuple(rows), said, "Bold: told apart.", n_words=2)


def _places(values: Floats) -> int:
    """Decimals by which the values of a row can be told apart: three, or more where all are small."""
    largest = float(np.abs(values).max())
    return 3 if largest == 0 or largest >= 0.1 else min(6, 2 - int(np.floor(np.log10(largest))))


# Models compared over many data sets: from assays, saved assays, or a table of numbers.

COLUMNS = {"accuracy": "correct", "log-loss": "log-loss", "brier": "brier"}  # means of a column over the instances
BINNED = ("ece", "ece-classwise")
METRICS = ("unified", *COLUMNS, *BINNED, *RANKING_METRICS)
DRAWS = 20_000  # of the posterior of each pair: a probability of .95 has a standard error of .0015
ALIKE = ("distance", "nonspecificity", "convention")  # settings without which E is another number


def compare_over_data_sets(
    assays: Mapping[str, Assay | str | Path],
    *,
    metric: str = "unified",
    tradeoff: float = DEFAULT_TRADEOFF,
    score: str | None = None,
    models: Sequence[str] | None = None,
    groups: Sequence[Any] | None = None,
    level: float = 0.95,
    rope: float | None = None,
    rng: int | None = None,
) -> DataSetComparison:
    """Compare the models of several assays, each of another data set, by one metric.

    Parameters
    ----------
    assays : dict of str to Assay or folder
        By the name of the data set; a folder is one that `Assay.save` wrote.
    metric : str
        "unified" (E), the distance's name, "accuracy", "log-loss", "brier", "ece", "ece-classwise", or a ranking metric such as
        "uq-auc". The number of a model on a data set is its mean over all training runs.
    tradeoff : float
        λ, for "unified".
    score : str, optional
        For ranking metrics, the uncertainty that ranks the mistakes.
    models : sequence of str, optional
        Those to compare; by default all, and then each assay must have all.
    groups, level, rope, rng
        As in `compare_table`.

    Returns
    -------
    DataSetComparison

    Examples
    --------
    >>> import uqassay as uq
    >>> right, wrong = uq.Point([[0.8, 0.2]] * 9), uq.Point([[0.3, 0.7]] * 9)
    >>> assays = {name: uq.assay({"a": right, "b": wrong}, [0] * 9, calibration=()) for name in ("u", "v", "w")}
    >>> found = compare_over_data_sets(assays, metric="accuracy")
    >>> print(found.sentence())
    3 data sets cannot tell a and b apart by accuracy: p ≥ .25 at best; it takes at least 6 data sets.
    """
    if not isinstance(assays, Mapping) or not assays:
        fail(
            "assays",
            "must be a dict of assays, or their folders, by the names of the data sets",
            f"got {type(assays).__name__}" if not isinstance(assays, Mapping) else "got none",
            'write {"digits": …, "wine": …}',
            code="type",
        )
    check_tradeoff(tradeoff)
    found = {name: one if isinstance(one, Assay) else Assay.load(one) for name, one in assays.items()}
    first = next(iter(found.values()))
    _check_metric(metric, score, first)
    _check_alike(found, metric)
    names = list(dict.fromkeys(name for one in found.values() for name in one.model_names))
    if models is not None:
        names = list(dict.fromkeys(models))
        for name in names:
            if not any(name in one.model_names for one in found.values()):
                known = ", ".join(dict.fromkeys(n for one in found.values() for n in one.model_names))
                fail("models", f"must be among {known}", f"got {name!r}", "choose from them", code="choice")
    values = np.array([_values(one, names, metric, tradeoff, score) for one in found.values()])
    label = metric_label(metric, score or "")
    if metric == "unified":  # where no model has a set, nothing depends on λ
        priced = any(order_of(one).priced for one in found.values())
        label = f"{label} (λ = {tradeoff_text(tradeoff)})" if priced else loss_name(first)
    return compare_table(
        values,
        models=names,
        data_sets=list(found),
        greater_is_better=_greater_is_better(metric),
        label=label,
        groups=groups,
        level=level,
        rope=rope,
        rng=rng,
    )


def compare_table(
    values: "ArrayLike | pd.DataFrame",
    *,
    greater_is_better: bool,
    models: Sequence[str] | None = None,
    data_sets: Sequence[str] | None = None,
    label: str = "the metric",
    groups: Sequence[Any] | None = None,
    level: float = 0.95,
    rope: float | None = None,
    rng: int | None = None,
) -> DataSetComparison:
    """Compare models by a table of numbers: one row for each data set, one column for each model.

    Parameters
    ----------
    values : array_like (N, J), or DataFrame
        A DataFrame has the names of the data sets as its index and those of the models as its columns.
    greater_is_better : bool
        False for losses, True for scores.
    models, data_sets : sequence of str, optional
        Names of an array's columns and rows; by default numbers from 1.
    label : str
        The metric in words.
    groups : sequence of N labels, optional
        Rows that are variants of one data set (conditions, subsets) share a label. Their means are compared, because variants
        of one data set are no independent evidence.
    level : float
        The probability that the sentence names no false pair.
    rope : float, optional
        Half the width of the region of practical equivalence, in units of the metric, for the Bayesian test.
    rng : int, optional
        Seed of the Bayesian test; None means 0.

    Returns
    -------
    DataSetComparison

    Notes
    -----
    The data sets are taken for a random sample of data sets: a sentence is about data sets like these, not about these alone,
    whose differences each assay tests. The sentence rests on signed-rank tests of all pairs (`pairwise_signed_rank_tests`).

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, J. Mach. Learn. Res. 7.

    Examples
    --------
    >>> rows = [[0.91, 0.86, 0.88], [0.84, 0.83, 0.80], [0.75, 0.69, 0.72], [0.97, 0.91, 0.93]] * 2
    >>> found = compare_table(rows, models=["DE", "EDL", "SNN"], greater_is_better=True, label="accuracy")
    >>> print(found.sentence().partition(" (")[0])
    Over 8 data sets, by accuracy, DE is better than SNN and EDL
    >>> found.groups(), found.average_ranks.tolist()
    ((('DE',), ('SNN', 'EDL')), [1.0, 2.75, 2.25])
    """
    check_level(level)
    table, names, rows = _named(values, models, data_sets)
    _check_cells(table, names, rows)
    notes = []
    if groups is not None:
        given = len(rows)
        labels, index = take_index(groups, "groups")
        labels = in_order_of_ids(as_array(labels, "groups"), index, take_index(values)[1], "groups")
        table, rows = _grouped(table, labels.tolist())
        text = f"{counted(given, 'row')} in {counted(len(rows), 'data set')}, whose means are compared"
        notes.append(Note("groups", text, {"rows": given, "groups": len(rows)}))
    friedman = friedman_test(table, greater_is_better=greater_is_better)
    tests = pairwise_signed_rank_tests(table)
    return DataSetComparison(
        models=names,
        data_sets=rows,
        values=table,
        data_set_ranks=table_ranks(table, greater_is_better=greater_is_better),
        label=label,
        greater_is_better=bool(greater_is_better),
        level=float(level),
        friedman=friedman,
        tests=tests,
        critical_difference=nemenyi_difference(len(names), len(rows), level=level),
        rope=None if rope is None else float(rope),
        posterior=None if rope is None else _posterior(table, rope, rng, greater_is_better=greater_is_better),
        notes=tuple(notes),
    )


# -- numbers of an assay --------------------------------------------------------------------------------------------------


def _greater_is_better(metric: str) -> bool:
    ranking = RANKING_METRICS.get(metric)
    return ranking.higher_is_better if ranking is not None else metric == "accuracy"


def _check_metric(metric: str, score: str | None, assay: Assay) -> None:
    known = ("unified", assay.settings.distance_metric, *METRICS[1:])
    if metric not in known:
        fail("metric", f"must be one of {', '.join(known)}", f"got {metric!r}", "choose one of them", code="choice")
    ranked = metric in tuple(RANKING_METRICS)
    if ranked and score is None:
        fail("score", f"is needed for {metric!r}", "got none", "write score='total-entropy'", code="missing")
    if not ranked and score is not None:
        fail("score", f"has no effect on {metric!r}", f"got {score!r}", "leave it out", code="conflict")


def _check_alike(assays: Mapping[str, Assay], metric: str) -> None:
    """Refuse assays whose E or distance is another number."""
    if metric in METRICS[1:]:
        return
    (first, one), *others = assays.items()
    for name, other in others:
        for setting in ALIKE:
            a, b = getattr(one.settings, setting), getattr(other.settings, setting)
            if a != b:
                fail(
                    "assays",
                    f"must have one {setting}",
                    f"got {a!r} on {first} and {b!r} on {name}",
                    "make them with the same options",
                    code="mismatch",
                )


def _values(assay: Assay, names: Sequence[str], metric: str, tradeoff: float, score: str | None) -> list[float]:
    """The metric of each model, its mean over runs; nan where the assay has none."""
    if metric in BINNED:
        rows = [row for row in assay.rows("findings") if row["metric"] == metric and row["run"] == "all"]
        found = {row["model"]: row["estimate"] for row in rows}
    elif metric in tuple(RANKING_METRICS):
        ranked = [r for r in assay.mistake_ranking() if r.run is None and r.metric == metric and r.score == score]
        found = {r.model: float(r.estimate) for r in ranked}
    elif metric == "unified":
        found = {name: float(assay.loss(name, tradeoff).mean()) for name in assay.model_names}
    else:
        column = COLUMNS.get(metric, "distance")
        found = {m.name: float(m.columns[column].mean()) for m in assay.candidates}
    return [found.get(name, np.nan) if name in assay.model_names else np.nan for name in names]


# -- tables ---------------------------------------------------------------------------------------------------------------


def _named(
    values: Any, models: Sequence[str] | None, data_sets: Sequence[str] | None
) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """The numbers of a table, the names of its columns and of its rows."""
    frame = as_frame(values, "values")
    if frame is not None and frame.columns is not None:
        if models is not None or data_sets is not None:
            fail(
                "models" if models is not None else "data_sets",
                "has no effect on a DataFrame, which has its own names",
                "",
                "leave it out",
                code="conflict",
            )
        models = list(map(str, frame.columns.tolist()))
        data_sets = None if frame.index is None else list(map(str, frame.index.tolist()))
    values = values if frame is None else frame.array
    table = as_numeric(values, "values", ndim=2).astype(np.float64)
    named = []
    for name, given, size in (("models", models, table.shape[1]), ("data_sets", data_sets, table.shape[0])):
        names = tuple(str(k + 1) for k in range(size)) if given is None else tuple(map(str, given))
        if len(names) != size or len(set(names)) < size:
            got = f"got {len(names)} names" if len(names) != size else "some are equal"
            fail(name, f"must be {size} different names", got, "name each once", code="mismatch")
        if size < 2:
            fail(name, "needs at least two", f"got {size}", "pass more", code="shape")
        named.append(names)
    return table, named[0], named[1]


def _check_cells(table: Floats, models: Sequence[str], data_sets: Sequence[str]) -> None:
    bad = np.argwhere(~np.isfinite(table))
    if bad.size:
        row, column = bad[0].tolist()
        value = table[row, column]
        more = f", and {counted(len(bad) - 1, 'other cell')} too" if len(bad) > 1 else ""
        fail(
            "values",
            "each model needs a finite value on each data set",
            f"{models[column]} has {'none' if np.isnan(value) else value} on {data_sets[row]}{more}",
            "leave out that model or that data set",
            code="missing",
            facts={"model": models[column], "data_set": data_sets[row]},
        )


def _grouped(table: Floats, groups: Sequence[Any]) -> tuple[Floats, tuple[str, ...]]:
    """Means of the rows of each group, in the order in which the groups appear."""
    labels = list(map(str, groups))
    if len(labels) != len(table):
        fail(
            "groups",
            "must have one label for each row",
            f"got {len(labels)} for {len(table)} rows",
            "pass one for each data set",
            code="mismatch",
        )
    names = tuple(dict.fromkeys(labels))
    if len(names) < 2:
        fail("groups", "needs at least two", f"got {len(names)}", "pass more data sets", code="shape")
    places = np.array([names.index(label) for label in labels])
    return np.stack([table[places == k].mean(axis=0) for k in range(len(names))]), names


def _posterior(table: Floats, rope: float, rng: int | None, *, greater_is_better: bool) -> Floats:
    """Probabilities of practically better, equal and worse for each pair."""
    j = table.shape[1]
    found = np.full((j, j, 3), np.nan)
    sign = 1.0 if greater_is_better else -1.0
    for i in range(j):
        for k in range(i + 1, j):
            test = bayesian_signed_rank_test(sign * (table[:, i] - table[:, k]), rope=rope, n_draws=DRAWS, rng=rng)
            found[i, k] = test.right, test.rope, test.left
            found[k, i] = found[i, k, ::-1]
    return found
