"""Models compared over many data sets: from assays, saved assays, or a table of numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_array, as_numeric
from uqassay._frames import as_frame
from uqassay.errors import InputError
from uqassay.evidence.data_sets_result import DataSetComparison
from uqassay.evidence.ranking_words import metric_label
from uqassay.evidence.result import Assay
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.notes import Note
from uqassay.predictions.pandas_input import in_order_of_ids, take_index
from uqassay.statistics import (
    bayesian_signed_rank_test,
    friedman_test,
    nemenyi_difference,
    pairwise_signed_rank_tests,
)
from uqassay.statistics.friedman import table_ranks
from uqassay.statistics.samples import check_level
from uqassay.wording import counted
from uqassay.wording import tradeoff as tradeoff_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["METRICS", "compare_over_data_sets", "compare_table"]

Array = NDArray[np.float64]

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

    Raises
    ------
    InputError
        A model that is missing or has no finite value on some data set, assays of other settings, an unknown metric.

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
        raise InputError(
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
                raise InputError("models", f"must be among {known}", f"got {name!r}", "choose from them", code="choice")
    values = np.array([_values(one, names, metric, tradeoff, score) for one in found.values()])
    label = metric_label(metric, score or "")
    return compare_table(
        values,
        models=names,
        data_sets=list(found),
        greater_is_better=_greater_is_better(metric),
        label=f"{label} (λ = {tradeoff_text(tradeoff)})" if metric == "unified" else label,
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

    Raises
    ------
    InputError
        A cell that is missing or not finite, by model and data set; fewer than two models or data sets; names that do not fit.

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
        raise InputError(
            "metric", f"must be one of {', '.join(known)}", f"got {metric!r}", "choose one of them", code="choice"
        )
    ranked = metric in tuple(RANKING_METRICS)
    if ranked and score is None:
        raise InputError(
            "score", f"is needed for {metric!r}", "got none", "write score='total-entropy'", code="missing"
        )
    if not ranked and score is not None:
        raise InputError("score", f"has no effect on {metric!r}", f"got {score!r}", "leave it out", code="conflict")


def _check_alike(assays: Mapping[str, Assay], metric: str) -> None:
    """Refuse assays whose E or distance is another number."""
    if metric in METRICS[1:]:
        return
    (first, one), *others = assays.items()
    for name, other in others:
        for setting in ALIKE:
            a, b = getattr(one.settings, setting), getattr(other.settings, setting)
            if a != b:
                raise InputError(
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
) -> tuple[Array, tuple[str, ...], tuple[str, ...]]:
    """The numbers of a table, the names of its columns and of its rows."""
    frame = as_frame(values, "values")
    if frame is not None and frame.columns is not None:
        if models is not None or data_sets is not None:
            raise InputError(
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
            raise InputError(name, f"must be {size} different names", got, "name each once", code="mismatch")
        if size < 2:
            raise InputError(name, "needs at least two", f"got {size}", "pass more", code="shape")
        named.append(names)
    return table, named[0], named[1]


def _check_cells(table: Array, models: Sequence[str], data_sets: Sequence[str]) -> None:
    bad = np.argwhere(~np.isfinite(table))
    if bad.size:
        row, column = bad[0].tolist()
        value = table[row, column]
        more = f", and {counted(len(bad) - 1, 'other cell')} too" if len(bad) > 1 else ""
        raise InputError(
            "values",
            "each model needs a finite value on each data set",
            f"{models[column]} has {'none' if np.isnan(value) else value} on {data_sets[row]}{more}",
            "leave out that model or that data set",
            code="missing",
            facts={"model": models[column], "data_set": data_sets[row]},
        )


def _grouped(table: Array, groups: Sequence[Any]) -> tuple[Array, tuple[str, ...]]:
    """Means of the rows of each group, in the order in which the groups appear."""
    labels = list(map(str, groups))
    if len(labels) != len(table):
        raise InputError(
            "groups",
            "must have one label for each row",
            f"got {len(labels)} for {len(table)} rows",
            "pass one for each data set",
            code="mismatch",
        )
    names = tuple(dict.fromkeys(labels))
    if len(names) < 2:
        raise InputError("groups", "needs at least two", f"got {len(names)}", "pass more data sets", code="shape")
    places = np.array([names.index(label) for label in labels])
    return np.stack([table[places == k].mean(axis=0) for k in range(len(names))]), names


def _posterior(table: Array, rope: float, rng: int | None, *, greater_is_better: bool) -> Array:
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
