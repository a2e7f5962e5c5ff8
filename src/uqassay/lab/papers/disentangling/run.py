"""Disentanglement with methods trained here: from trainings to the rows of the tables, their text and the figures."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from uqassay.evidence import Contender, DisentanglementStudy, disentanglement_lines, join_studies
from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.store import older_notes
from uqassay.lab.papers.disentangling.plan import (
    CONVENTIONS,
    PRESETS,
    PlannedTraining,
    asked_of,
    planned,
)
from uqassay.lab.papers.disentangling.printed import LAYOUTS, SOURCE
from uqassay.lab.papers.disentangling.tables import TableRow, convention_lines, table_cells, table_lines
from uqassay.lab.papers.disentangling.trainings import block_cells, study_of
from uqassay.lab.papers.figure_files import check_figures
from uqassay.lab.papers.options import (
    Figures,
    FirstSeed,
    OtherFiles,
    OwnMethod,
    Progress,
    Say,
    check_whole,
    taken_by,
)
from uqassay.lab.papers.reproduction import NO_EVIDENCE, Reproduction
from uqassay.lab.papers.trainings import all_failed, failure_notes, folder_of, train_cells, trained_cells
from uqassay.text import counted, listed

__all__ = [
    "PRESETS",
    "reproduce_disentanglement",
    "steps_of_disentanglement",
]

# The experiments of the paper with methods trained here: Tables 1 to 5 with their averages, and Figures 1 to 13.
#
# Every method is trained on more and less data, on noisy labels and without a class, and its aleatoric and epistemic
# estimates are judged by how they move.


N_MAPS = 4  # figures of maps

NOTES = (
    "error: mean of the four deviations, as Table 2 has it; the equation in section 6 prints their sum. Intervals are t "
    "intervals over the runs, 95 %; ± as authors is 2 · standard deviation / 5",
    "correlations: mean over the runs on Fisher's scale; pooled: of the curves averaged over the runs, as Tables 3 and 4 print "
    "them",
    "every run has its own subsets, its own permuted rows and its own initial weights; the test instances are the same",
    "a share of p of the training instances is trained for epochs / p; inputs are scaled once, by the whole training part, and "
    "those of bci by the instances that a network is trained on",
    "not printed, so chosen here: the weight of Flipout's divergence is 1/N, where the authors' code has 32/N; Gaussian "
    "logits are trained by the mean likelihood of 100 draws",
)


def reproduce_disentanglement(
    *,
    preset: Annotated[
        str,
        'How many instances, runs, epochs and members. "smoke" only checks that the code runs; "paper" is as printed.',
    ] = "cpu",
    dataset: Annotated[
        str | Sequence[str] | None,
        '"wine" (by default), "digits", "mnist-10k", "fashion-mnist", "cifar-10", "bci".',
    ] = None,
    method: Annotated[
        str | Sequence[str] | None,
        '"mc-dropout", "mc-dropconnect", "flipout", "deep-ensemble", "random-forest"; by default those of the preset. '
        f"{OwnMethod}",
    ] = None,
    decomposition: Annotated[
        str | Sequence[str] | None,
        '"information-theoretic" ("IT"), "gaussian-logits" ("GL"), "variance", "label-wise", "zero-one", "brier", "log" '
        'or "spherical"; the paper\'s "IT" and "GL" by default.',
    ] = None,
    convention: Annotated[
        str,
        '"exact", as printed; "authors", as the authors\' code; "each" runs these two and each choice alone, and shows the '
        f"differences: {listed([name for name in CONVENTIONS if name not in ('exact', 'authors')])}.",
    ] = "exact",
    where: Annotated[
        str,
        "Which layers are Bayesian: as printed, the last hidden layer, or every dense layer.",
        ("printed", "last", "all"),
    ] = "printed",
    data: OtherFiles = None,
    runs: Annotated[int | None, 'Number of runs, instead of the preset\'s; for "bci" the number of subjects.'] = None,
    seed: FirstSeed = 0,
    workers: Annotated[int, "Number of processes; the results do not depend on it, to rounding."] = 1,
    resume: Annotated[
        str | os.PathLike[str] | None,
        "Folder for the results of the trainings; those that are there are not trained again.",
    ] = None,
    figures: Figures = None,
    progress: Progress = None,
) -> Reproduction:
    """Train the methods of the paper under all conditions of its three experiments, and compare with its tables.

    Returns
    -------
    Reproduction
        The rows of `tables.table_cells`. Printed values are compared only where the paper's own data are trained as printed.

    Raises
    ------
    InputError
        An unknown name, an option out of range, missing data, or no method that could be trained.
    MissingDependencyError
        PyTorch is missing; with several workers, Dask; for "bci", MOABB; for figures, matplotlib.

    Notes
    -----
    A script that starts several workers needs the guard ``if __name__ == "__main__":``.

    Examples
    --------
    >>> result = reproduce_disentanglement(preset="smoke", method="mc-dropout", decomposition="IT")
    >>> result.rows[0].name, result.rows[0].paper, result.rows[0].agrees
    ('table2/wine/MC-Dropout/IT', 0.645, None)
    """
    asked = asked_of(
        preset=preset,
        dataset=dataset,
        method=method,
        decomposition=decomposition,
        convention=convention,
        where=where,
        data=data,
    )
    check_whole(1, runs=runs, workers=workers)
    check_whole(0, seed=seed)
    check_figures(figures)
    say = progress or (lambda step: None)
    rows, skipped = planned(asked, runs, seed)
    trainings = list({training.key: training for row in rows for training in row.trainings}.values())
    cells = training_cells(trainings)
    notes = [*NOTES, *(plan.sentence(preset, slice_) for plan, slice_ in asked.slices(runs)), *skipped]
    with folder_of(resume) as folder:
        failed = train_cells(cells, folder, workers=workers, say=say)
        notes += [*failure_notes(failed), *older_notes(cells, folder)]
        studies = studies_of(trainings, folder)
    judged = [one for row in rows if (one := row.judged(studies)) is not None]
    if not judged:
        raise all_failed("method", failed)
    say("judging")
    reading = _reading(judged)
    if preset == "smoke":
        notes.append(NO_EVIDENCE)
    if figures is not None:
        reading += ["", *(f"figure: {path}" for path in _figures(Path(figures), judged, preset, say))]
    return Reproduction(
        "disentanglement", SOURCE, tuple(table_cells(judged)), tuple(notes), tuple(reading), layouts=LAYOUTS
    )


def steps_of_disentanglement(*, runs: int | None = None, figures: object = None, **options: Any) -> int:
    """Approximate number of calls of ``progress`` with these options of `reproduce_disentanglement`."""
    rows, _skipped = planned(asked_of(**taken_by(asked_of, options)), runs, 0)
    trainings = {training.key: training for row in rows for training in row.trainings}
    blocks = sum(training.n_blocks for training in trainings.values())
    return blocks + 2 + (N_MAPS if figures is not None else 0)


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _figures(folder: Path, judged: Sequence[TableRow], preset: str, say: Say) -> list[Path]:
    """Figures 1 to 13, as far as their data sets were trained; those of the first convention."""
    from uqassay.lab.papers.disentangling.figures import (
        MOONS,
        TRIANGLE,
        write_disentanglement_figures,
        write_map_figures,
    )

    drawn = [one for one in judged if one.convention == judged[0].convention]
    written = write_disentanglement_figures(folder, [_contender(one) for one in drawn])
    moons, triangle = (
        replace(setting, epochs=2, n_passes=5) if preset == "smoke" else setting for setting in (MOONS, TRIANGLE)
    )
    return [*written, *write_map_figures(folder, moons=moons, triangle=triangle, progress=say)]


def _contender(one: TableRow) -> Contender:
    return Contender(one.row_label, one.study, one.decomposition)


def _reading(judged: Sequence[TableRow]) -> list[str]:
    """Tables, the table of conventions, and sentences on each data set."""
    lines: list[str] = []
    for dataset in dict.fromkeys(one.dataset for one in judged):
        here = [one for one in judged if one.dataset == dataset]
        study = here[0].study
        n_test = study.measured[next(iter(study.measured))].probs.shape[2]
        lines += ["", f"{dataset}: {counted(study.n_runs, 'run')}, {counted(n_test, 'test instance')}", ""]
        lines += table_lines(here)
        conventions = {
            one.convention: CONVENTIONS[one.convention].sentence for one in here if one.convention != "exact"
        }
        differences = convention_lines(here, conventions)
        lines += ["", *differences] if differences else []
        lines += ["", *disentanglement_lines([_contender(one) for one in here])]
    return lines[1:]


# ---- trainings as cells ------------------------------------------------------------------------------------------------


def training_cells(trainings: Sequence[PlannedTraining]) -> list[Cell]:
    """The cells of trainings, each once."""
    return [cell for training in trainings for cell in _cells(training)]


def studies_of(trainings: Sequence[PlannedTraining], folder: Path) -> dict[str, DisentanglementStudy]:
    """The study of each training with the runs that have a result, by the key of the training."""
    found = {}
    for training in trainings:
        results = [kept for _, kept in trained_cells(_cells(training), folder)]
        if results:
            found[training.key] = join_studies([study_of(kept) for kept in results])
    return found


def _cells(training: PlannedTraining) -> list[Cell]:
    return block_cells(
        training.dataset,
        training.method,
        training.options,
        training.seeds,
        source=training.source,
        label=training.label,
        conditions=training.conditions,
        options={
            "decompositions": list(training.decompositions),
            "convention": training.convention,
            **({"epsilon": training.epsilon} if training.epsilon else {}),
        },
        limits=training.limits,
    )
