"""What a comparison of models over data sets found: average ranks, tests of all pairs, groups, and the sentence about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay._json import plain
from uqassay._shown import Shown
from uqassay._shown_table import ShownCell, ShownRow, ShownTable
from uqassay.errors import InputError
from uqassay.evidence.tables import as_table
from uqassay.notes import Note
from uqassay.statistics import FriedmanTest, SignedRankPairs
from uqassay.wording import (
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

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLES", "DataSetComparison"]

Array = NDArray[np.float64]

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
    """J models compared over N data sets by one metric.

    Attributes
    ----------
    models, data_sets : tuple of str
        J and N names.
    values : array (N, J)
        The metric of each model on each data set, its mean over training runs.
    data_set_ranks : array (N, J)
        Rank of each model on each data set, 1 for the best.
    label : str
        The metric in words.
    greater_is_better : bool
    level : float
        The probability that a sentence names no false pair is at least this.
    friedman : FriedmanTest
        Of all models together, with the average ranks.
    tests : SignedRankPairs
        Of all pairs, on which the sentences rest.
    critical_difference : float
        Nemenyi's, of average ranks.
    rope : float or None
        Differences up to it are practically none; None if there was no Bayesian test.
    posterior : array (J, J, 3) or None
        Probabilities that the model of the row is practically better than, equal to and worse than that of the column; nan on
        the diagonal.
    notes : tuple of Note
    """

    _shown_more: ClassVar[str] = 'summary(), table("models"), table("pairs"), to_latex()'

    models: tuple[str, ...]
    data_sets: tuple[str, ...]
    values: Array
    data_set_ranks: Array
    label: str
    greater_is_better: bool
    level: float
    friedman: FriedmanTest
    tests: SignedRankPairs
    critical_difference: float
    rope: float | None = None
    posterior: Array | None = None
    notes: tuple[Note, ...] = ()

    @property
    def n_data_sets(self) -> int:
        """N."""
        return len(self.data_sets)

    @property
    def average_ranks(self) -> Array:
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

        Raises
        ------
        InputError
            Another name.
        """
        if name not in TABLES:
            raise InputError(
                "name", f"must be one of {', '.join(TABLES)}", f"got {name!r}", "choose one of them", code="choice"
            )
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
            "notes": [note.to_dict() for note in self.notes],
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


def _places(values: Array) -> int:
    """Decimals by which the values of a row can be told apart: three, or more where all are small."""
    largest = float(np.abs(values).max())
    return 3 if largest == 0 or largest >= 0.1 else min(6, 2 - int(np.floor(np.log10(largest))))
