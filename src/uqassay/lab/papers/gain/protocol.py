"""The experiments of the paper: Tables 1 and 2, Figures 1 to 4."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, final

from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.store import older_notes
from uqassay.lab.papers.figure_files import check_figures
from uqassay.lab.papers.gain.choices import PRESETS, AskedGain, GainData, GainMethod, GainSlice, chosen, method_options
from uqassay.lab.papers.gain.printed import LAYOUTS, SOURCE
from uqassay.lab.papers.gain.tables import (
    GainRow,
    choice_notes,
    finding_lines,
    gain_cells,
    mismatch_lines,
    run_notes,
    size_line,
    table_lines,
    truth_lines,
)
from uqassay.lab.papers.gain.trainings import study_of, world_cells
from uqassay.lab.papers.gain.worlds import content_of, world_params
from uqassay.lab.papers.options import check_whole, taken_by
from uqassay.lab.papers.reproduction import NO_EVIDENCE, Reproduction
from uqassay.lab.papers.trainings import all_failed, failure_notes, folder_of, train_cells, trained_cells

__all__ = [
    "PRESETS",
    "planned",
    "reproduce_epistemic_gain",
    "slice_of",
    "steps_of_epistemic_gain",
]


# From the options of the reproduction of the paper to its runs, and from their results to the rows of its tables.


@final
@dataclass(frozen=True, kw_only=True)
class Planned:
    """A method on a data set before its runs."""

    plan: GainData
    method: GainMethod
    slice_: GainSlice
    spread: float | None  #: Of the toy data
    data: str  #: File with the images
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


# The experiments of the paper: Tables 1 and 2, Figures 1 to 4, and the two studies of a mismatch of the calibration.
#
# A classifier is trained without most of the data of some regions, and with them. The gain in accuracy on the test
# instances of these regions is held against the epistemic uncertainty that the first classifier states.

Progress = Callable[[str], None]

PAPER_SAYS = {
    "toy-mismatch-1": 'the paper: "the results do not change dramatically; both EU estimators still perform relatively well"',
    "toy-mismatch-2": "the paper: the performance of the entropy decreases, and the mutual information is comparatively better",
}


def reproduce_epistemic_gain(
    *,
    preset: Annotated[
        str,
        'How many instances, runs and inducing points. "smoke" only checks that the code runs; "paper" is as printed.',
    ] = "cpu",
    dataset: Annotated[
        str | Sequence[str] | None,
        '"toy" (by default), "toy-mismatch-1", "toy-mismatch-2", "digits", "mnist-10k", "emnist-bymerge", "emnist-'
        'bymerge-balanced", "emnist-balanced", "kuzushiji-49". A mismatch study also runs "toy", for the comparison.',
    ] = None,
    method: Annotated[
        str | Sequence[str] | None,
        '"local-gp", "local-gp-learnt", "sparse-gp", "random-forest", "deep-ensemble"; by default those of the preset.',
    ] = None,
    spread: Annotated[
        float | Sequence[float] | None,
        "Standard deviation of the clusters of the toy data; by default .35 and .25. The paper prints 1, which "
        "contradicts its figure.",
    ] = None,
    train_share: Annotated[
        float | str | Sequence[float | str] | None,
        'p, the share of the instances of every disc of the toy data that stays in the training set, in [0, .7); "random" '
        "draws one for each disc, uniformly from 0 to .5. By default the discs have different shares, from .01 to .5. The "
        "paper prints none.",
    ] = None,
    data: Annotated[str | os.PathLike[str] | None, "The .npz file with the images of EMNIST ByMerge."] = None,
    runs: Annotated[int | None, "Number of runs, instead of the preset's."] = None,
    seed: Annotated[int, "Seed of the first run; the next ones count up from it."] = 0,
    workers: Annotated[int, "Number of processes."] = 1,
    resume: Annotated[
        str | os.PathLike[str] | None,
        "Folder for the results of the runs; those that are there are not run again.",
    ] = None,
    figures: Annotated[str | os.PathLike[str] | None, "Folder for the figures as PNG files; needs matplotlib."] = None,
    progress: Annotated[Progress | None, "Called with a line of text at every step."] = None,
) -> Reproduction:
    """Run the protocol of the paper and compare with its tables.

    Returns
    -------
    Reproduction
        The rows of `tables.gain_cells`. Printed values are compared only where data and classifier are the paper's.

    Raises
    ------
    InputError
        An unknown name, an option out of range, missing data, or no run that could be finished.
    MissingDependencyError
        scikit-learn is missing; PyTorch or GPyTorch, for methods that need them; with several workers, Dask; for figures,
        matplotlib.

    Notes
    -----
    A script that starts several workers needs the guard ``if __name__ == "__main__":``.

    Examples
    --------
    >>> result = reproduce_epistemic_gain(preset="smoke", spread=0.35)
    >>> result.rows[0].name, result.rows[0].paper, result.rows[0].agrees
    ('table1/toy/spread=0.35/local-gp/mutual-information/correlation', 0.108, None)
    """
    asked = chosen(preset=preset, dataset=dataset, method=method, spread=spread, data=data, train_share=train_share)
    check_whole(1, runs=runs, workers=workers)
    check_whole(0, seed=seed)
    check_figures(figures)
    say = progress or (lambda step: None)
    plans = planned(asked, runs, seed)
    cells = [cell for one in plans for cell in one.cells]
    notes = [plan.words(preset, slice_of(plan, preset, runs)) for plan in asked.plans]
    notes += choice_notes(asked)
    with folder_of(resume) as folder:
        failed = train_cells(cells, folder, workers=workers, say=say)
        notes += [*failure_notes(failed), *older_notes(cells, folder)]
        rows = [row for one in plans if (row := one.row(folder)) is not None]
    if not rows:
        raise all_failed("method", failed)
    say("judging")
    notes += run_notes(rows)
    if preset == "smoke":
        notes.append(NO_EVIDENCE)
    reading = _reading(rows)
    if figures is not None:
        from uqassay.lab.papers.gain.tables import write_gain_figures

        say("figures")
        written = write_gain_figures(figures, rows, seed=seed)
        reading += ["", *(f"figure: {path}" for path in written)]
    return Reproduction(
        "epistemic-gain", SOURCE, tuple(gain_cells(rows)), tuple(notes), tuple(reading), layouts=LAYOUTS
    )


def steps_of_epistemic_gain(*, runs: int | None = None, figures: object = None, **options: Any) -> int:
    """Number of calls of ``progress`` with these options of `reproduce_epistemic_gain`."""
    check_whole(1, runs=runs)
    plans = planned(chosen(**taken_by(chosen, options)), runs, 0)
    return sum(len(one.seeds) for one in plans) + 2 + (figures is not None)


# ---- text --------------------------------------------------------------------------------------------------------------


def _reading(rows: Sequence[GainRow]) -> list[str]:
    """The tables of each data set with what is known and found, and what each mismatch changes."""
    lines: list[str] = []
    for label in dict.fromkeys(row.label for row in rows):
        here = [row for row in rows if row.label == label]
        truth = truth_lines(here)
        lines += ["", size_line(here[0]), "", *table_lines(here)]
        lines += ["", *truth] if truth else []
        for row in here:
            found = finding_lines(row)
            lines += ["", f"{row.method.label}:", *found] if found else []
            lines += _mismatch(row, rows)
    return lines[1:]


def _mismatch(row: GainRow, rows: Sequence[GainRow]) -> list[str]:
    """What the mismatch changes against the same method and spread without it."""
    for other in rows:
        same = _setting(other) == _setting(row)
        if row.plan.reference and same and other.plan.name == row.plan.reference:
            found = mismatch_lines(row, other)
            if found:
                return [
                    f"  compared with {other.label}; {PAPER_SAYS[row.plan.name]}:",
                    *(f"  {line}" for line in found),
                ]
    return []


def _setting(row: GainRow) -> tuple[object, ...]:
    return row.method.name, row.spread, row.plan.train_share
