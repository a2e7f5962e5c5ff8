"""From the options of the reproduction of paper 002 to its runs, and from their results to the rows of its tables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from uqassay.bench.cell import Cell
from uqassay.experiments.gain.choices import AskedGain, GainMethod, method_options
from uqassay.experiments.gain.presets import GainData, GainSlice
from uqassay.experiments.gain.runs import study_of
from uqassay.experiments.gain.tables import GainRow
from uqassay.experiments.gain.world_runs import world_cells
from uqassay.experiments.gain.worlds import content_of, world_params
from uqassay.experiments.trainings import trained_cells

__all__ = ["Planned", "planned", "slice_of"]


@final
@dataclass(frozen=True, kw_only=True)
class Planned:
    """A method on a data set before its runs.

    Attributes
    ----------
    plan : GainData
    method : GainMethod
    slice_ : GainSlice
    spread : float or None
        Of the toy data.
    data : str
        File with the images.
    seeds : tuple of int
    """

    plan: GainData
    method: GainMethod
    slice_: GainSlice
    spread: float | None
    data: str
    seeds: tuple[int, ...]

    @property
    def label(self) -> str:
        """Data set for the reader."""
        name = self.plan.name if self.spread is None else f"{self.plan.name} {self.spread:g}"
        return name if self.plan.train_share is None else f"{name}, p = {self.plan.train_share}"

    @property
    def cells(self) -> list[Cell]:
        """One for each run."""
        world = world_params(self.plan, limit=self.slice_.limit, spread=self.spread, data=self.data)
        options = method_options(self.method, self.plan, self.slice_)
        return world_cells(
            self.label,
            self.method.of or self.method.name,
            world=world,
            options=options,
            seeds=self.seeds,
            content_hash=content_of(world),
        )

    def row(self, folder: Path) -> GainRow | None:
        """The row of the tables with the runs that have a result; None if there are none."""
        results = [kept for _, kept in trained_cells(self.cells, folder)]
        if not results:
            return None
        return GainRow(
            plan=self.plan,
            method=self.method,
            study=study_of(results, method=self.method.label, dataset=self.label),
            spread=self.spread,
            compared=self.slice_.as_printed and self.method.in_paper,
        )


def slice_of(plan: GainData, preset: str, runs: int | None) -> GainSlice:
    """How much is run of a data set."""
    slice_ = plan.slices[preset]
    return slice_ if runs is None else replace(slice_, runs=runs)


def planned(asked: AskedGain, runs: int | None, seed: int) -> list[Planned]:
    """Every method on every data set, toy data at every spread.

    Parameters
    ----------
    asked : AskedGain
    runs : int or None
        In place of the preset's.
    seed : int
        Of the first run; the next ones count up from it.
    """
    found = []
    for plan in asked.plans:
        slice_ = slice_of(plan, asked.preset, runs)
        spreads: Sequence[float | None] = asked.spreads if plan.is_toy else (None,)
        found += [
            Planned(
                plan=plan,
                method=method,
                slice_=slice_,
                spread=spread,
                data=asked.data if plan.needs_data else "",
                seeds=tuple(range(seed, seed + slice_.runs)),
            )
            for spread in spreads
            for method in asked.methods_of(slice_)
        ]
    return found
