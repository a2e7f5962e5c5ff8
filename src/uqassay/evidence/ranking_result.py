"""The ranking of an assay at one λ, to be read: in a notebook, as a table, as Markdown and LaTeX."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from uqassay._shown import Shown, Text
from uqassay._shown_table import Bar, ShownCell, ShownRow, ShownTable
from uqassay.errors import InputError
from uqassay.evidence.ranking import Ranked, ranked_at
from uqassay.evidence.ranking_words import MARKS, limit_notes, size_text
from uqassay.statistics import Estimate
from uqassay.wording import decimals_for, level_text, listed_names, number, pvalue, rank_range, tradeoff

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay

__all__ = ["SPREADS", "Ranking", "Spread", "ranking_table", "run_deviations", "spread_text"]

Spread = Literal["interval", "runs"]
SPREADS = ("interval", "runs")
MARKED = "Bold: the lowest mean; underlined: no model is shown to be better."


@final
@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Shown):
    """Models and baselines by their mean E at one λ; made by `Assay.ranking`.

    Attributes
    ----------
    tradeoff : float
        λ.
    models : tuple of Ranked
        Models and baselines, best first.
    assay : Assay
    """

    _shown_more: ClassVar[str] = "table(), plot(), to_latex(), to_markdown()"

    tradeoff: float
    models: tuple[Ranked, ...]
    assay: "Assay" = field(repr=False)

    @classmethod
    def of(cls, assay: "Assay", tradeoff: float) -> "Ranking":
        """The ranking of an assay; see `Assay.ranking`."""
        return cls(float(tradeoff), ranked_at(assay, tradeoff), assay)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each model and baseline; the fields of `Ranked` with the intervals spread out, and λ."""
        return self.assay.rows("ranking", tradeoff=self.tradeoff)

    def table(self) -> "pd.DataFrame":
        """The rows as a table, of which "below" (the baselines that do better) is one text."""
        return self.assay.table("ranking", tradeoff=self.tradeoff)

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw mean E with intervals and rank sets; see `report.figures.plot_ranking`."""
        return self.assay.plot(self.tradeoff, ax=ax)

    def to_latex(self, *, spread: Spread = "interval") -> Text:
        """The ranking as a table of LaTeX with booktabs: the best in bold, those not shown to be worse underlined.

        Parameters
        ----------
        spread : {"interval", "runs"}
            What stands after each mean: its confidence interval, or ± the standard deviation over the training runs.

        Raises
        ------
        InputError
            Another spread; "runs" where no model has two runs.
        """
        return Text(ranking_table(self, spread).as_latex())

    def to_markdown(self, *, spread: Spread = "interval") -> Text:
        """The ranking as a table of Markdown; `spread` as in `to_latex`."""
        return Text(ranking_table(self, spread).as_markdown())

    def _shown_title(self) -> str:
        return f"Ranking at λ = {tradeoff(self.tradeoff)} of {size_text(self.assay)}"

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
        if own[0].below:
            lower = f"The lowest mean E of a model is above that of {listed_names(own[0].below)}"
            said.append(f"{lower}, which {'is a baseline' if len(own[0].below) == 1 else 'are baselines'}.")
        return said

    def _shown_table(self) -> ShownTable:
        return ranking_table(self)


def ranking_table(ranking: Ranking, spread: Spread = "interval") -> ShownTable:
    """The ranking with rank sets, mean E and p-values, to be read.

    Raises
    ------
    InputError
        As `Ranking.to_latex`.
    """
    assay, models = ranking.assay, ranking.models
    own = [r for r in models if r.rank is not None]
    runs = {r.model: assay.loss(r.model, ranking.tradeoff).mean(axis=1) for r in models}
    deviations = run_deviations(spread, runs)
    places = decimals_for((r.estimate.low, r.estimate.high) for r in own)
    level, several, lowest = level_text(assay.settings.level), len(own) > 1, float(own[0].estimate)
    rows = []
    for r in models:
        best = several and r.rank is not None and float(r.estimate) == lowest < np.inf
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
    header = ("rank", "model", "mean E", after, *(("p (adjusted)",) if several else ()))
    return ShownTable(header, tuple(rows), _caption(ranking, spread), MARKED, n_words=2)


def _caption(ranking: Ranking, spread: Spread) -> str:
    """What the numbers and marks of the table mean."""
    assay = ranking.assay
    level = level_text(assay.settings.level)
    after = f"{level} intervals" if spread == "interval" else "the standard deviation over the training runs"
    parts = [f"Mean E = d + λ NS at λ = {tradeoff(ranking.tradeoff)}, lower is better, with {after}."]
    if len(assay.candidates) > 1:
        parts.append(f"Rank: all ranks that the tests of all pairs leave open, {level} for all models at once.")
        parts.append("p: against the lowest, adjusted for all pairs.")
        limits = {r.limited_by for r in ranking.models}
        parts += [f"{MARKS[why]}: {text}." for why, text in limit_notes(assay).items() if why in limits]
    return " ".join(parts)


def run_deviations(spread: str, runs: Mapping[str, Any]) -> dict[str, float]:
    """Standard deviations over the runs of models that have several; none where intervals are asked for.

    Raises
    ------
    InputError
        An unknown spread; "runs" where no model has two runs.
    """
    if spread not in SPREADS:
        raise InputError(
            "spread", f"must be {' or '.join(SPREADS)}", f"got {spread!r}", "choose one of them", code="choice"
        )
    if spread == "interval":
        return {}
    found = {name: float(np.std(values, ddof=1)) for name, values in runs.items() if np.size(values) > 1}
    if not found:
        raise InputError(
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
