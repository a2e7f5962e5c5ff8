"""What a scale check found: E of each model with its spread scaled, and the ranking at every model's own best scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay._shown import Shown
from uqassay._shown_table import ShownCell, ShownRow, ShownTable, estimate_cell
from uqassay.notes import Note
from uqassay.statistics import Estimate, RankSets
from uqassay.wording import counted, level_text, listed, number, pvalue, tradeoff

__all__ = ["SCALE_COLUMNS", "ModelScale", "ScaleCheck"]

Array = NDArray[np.float64]

SHOWN = 3  # models that the sentence names before it counts the others
SCALE_COLUMNS = (
    "model",
    "tradeoff",
    "n",
    "loss",
    "best",
    "best_low",
    "best_high",
    "best_loss",
    "scale",
    "scale_loss",
    "difference",
    "difference_low",
    "difference_high",
    "pvalue",
    "wider",
    "clipped",
    "own_loss",
    "own_rank_low",
    "own_rank_high",
    "notes",
)


@final
@dataclass(frozen=True, eq=False)
class ModelScale:
    """E of one model with its spread scaled.

    Attributes
    ----------
    model : str
    n : int
        Instances that were scaled.
    scales, losses, clipped : array (S,)
        Mean E at each scale s, and the share of the sets that would leave the simplex there.
    loss : float
        Mean E at s = 1.
    best, best_low, best_high : float
        The scale of lowest mean E, by a parabola through the lowest of the grid and its neighbours, and its interval.
    best_loss : float
        Mean E at `best`, by the same parabola.
    scale : float
        The scale of the test: of those significantly better than s = 1 the one with the lowest mean E; if there is none, the
        lowest of the grid.
    difference : Estimate
        Mean E at `scale` minus that at s = 1, with the interval of this one difference.
    pvalue : float
        Of this difference, adjusted for all scales and models of the check; nan if there is no test.
    wider : bool
        Whether sets scaled by `scale` are shown to score better, it is above 1, and the best scale is not near 1.
    own_loss : float
        Mean E when one half of the instances has the scale that is best on the other.
    notes : tuple of Note
    """

    model: str
    n: int
    scales: Array
    losses: Array
    clipped: Array
    loss: float
    best: float
    best_low: float
    best_high: float
    best_loss: float
    scale: float
    difference: Estimate
    pvalue: float
    wider: bool
    own_loss: float
    notes: tuple[Note, ...] = ()

    @property
    def scale_loss(self) -> float:
        """Mean E at `scale`."""
        return float(self.losses[self.scales == self.scale][0])


@final
@dataclass(frozen=True, eq=False, repr=False)
class ScaleCheck(Shown):
    """Scale check of all models at one λ.

    Attributes
    ----------
    tradeoff, level : float
    models : tuple of ModelScale
        The models that state sets.
    ranking : RankSets or None
        Of all models when each has its own best scale, which is chosen on the other half of the instances; None without a
        model that states sets.
    notes : tuple of Note
        Among them the models without sets.
    """

    _shown_more: ClassVar[str] = "summary(), rows(), models"

    tradeoff: float
    level: float
    models: tuple[ModelScale, ...]
    ranking: RankSets | None
    notes: tuple[Note, ...] = ()

    @property
    def wider(self) -> tuple[ModelScale, ...]:
        """The models whose sets are shown to score better when they are widened; all hold at once with `level`."""
        return tuple(m for m in self.models if m.wider)

    def sentence(self) -> str:
        """What follows for E at this λ; empty where nothing is shown."""
        found = self.wider
        if not found:
            return ""
        wide = [f"{tradeoff(m.scale)} times the spread of {m.model}" for m in found[:SHOWN]]
        if len(found) > SHOWN:
            wide.append(f"a greater spread of {counted(len(found) - SHOWN, 'other')}")
        what = f"{listed(wide)} would score better"
        if len(found) == 1:
            before, after = (number(x) for x in (found[0].loss, found[0].scale_loss))
            sampled = any(
                note.code == "sample" for note in found[0].notes
            )  # the means then differ from those of all instances
            of = f" on {counted(found[0].n, 'instance')} chosen at random" if sampled else ""
            what += f", E = {after} in place of {before}{of}"
        return f"At λ = {tradeoff(self.tradeoff)}, {what}: here E rewards width, not knowledge."

    def _shown_title(self) -> str:
        who = f"{counted(len(self.models), 'model')} with sets"
        return f"Scale check of {who} at λ = {tradeoff(self.tradeoff)}: would wider sets score better?"

    def _shown_sentences(self) -> Sequence[str]:
        return (self.sentence() or "It is not shown that wider sets would score better.",)

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]

    def _shown_table(self) -> ShownTable:
        rows = []
        for m in self.models:
            best = estimate_cell(m.best, m.best_low, m.best_high, 2)
            change = estimate_cell(float(m.difference), m.difference.low, m.difference.high)
            tested = (ShownCell(number(m.scale, 2)), change, ShownCell(pvalue(m.pvalue)))
            rows.append(ShownRow((ShownCell(m.model), ShownCell(number(m.loss)), best, *tested)))
        said = (
            "Mean E as stated; the scale of the spread with the lowest mean E; the scale that is tested against 1, the change "
            f"of mean E there and its p-value, adjusted for all scales and models. {level_text(self.level)} intervals."
        )
        return ShownTable(("model", "mean E", "best scale", "tested", "change", "p (adjusted)"), tuple(rows), said)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each model that states sets, with the columns of `SCALE_COLUMNS`."""
        return [self._row(m) for m in self.models]

    def _row(self, m: ModelScale) -> dict[str, Any]:
        row = {
            "model": m.model,
            "tradeoff": self.tradeoff,
            **{name: getattr(m, name) for name in ("n", "loss", "best", "best_low", "best_high", "best_loss", "scale")},
            "scale_loss": m.scale_loss,
            "difference": float(m.difference),
            "difference_low": m.difference.low,
            "difference_high": m.difference.high,
            "pvalue": m.pvalue,
            "wider": m.wider,
            "clipped": float(m.clipped[m.scales == m.scale][0]),
            "own_loss": m.own_loss,
            "own_rank_low": None,
            "own_rank_high": None,
            "notes": [note.to_dict() for note in m.notes],
        }
        if self.ranking is not None:
            place = self.ranking.names.index(m.model)
            row |= {"own_rank_low": int(self.ranking.low[place]), "own_rank_high": int(self.ranking.high[place])}
        return row

    def to_dict(self) -> dict[str, Any]:
        """Plain values: rows and curves of the models, the ranking at their own best scales, the sentence."""
        curves = [
            {"scales": m.scales.tolist(), "losses": m.losses.tolist(), "clipped_share": m.clipped.tolist()}
            for m in self.models
        ]
        return {
            "tradeoff": self.tradeoff,
            "level": self.level,
            "models": [row | curve for row, curve in zip(self.rows(), curves, strict=True)],
            "ranking": None if self.ranking is None else self.ranking.to_dict(),
            "sentence": self.sentence(),
            "notes": [note.to_dict() for note in self.notes],
        }
