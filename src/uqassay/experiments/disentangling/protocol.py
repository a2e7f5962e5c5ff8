"""The experiments of paper 004 with methods trained here: Tables 1 to 5 with their averages, and Figures 1 to 13.

Every method is trained on more and less data, on noisy labels and without a class, and its aleatoric and epistemic estimates
are judged by how they move.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from uqassay.evidence.disentanglement_ranking import Contender
from uqassay.evidence.disentanglement_verdict import disentanglement_lines
from uqassay.experiments.disentangling.choices import (
    CONVENTIONS,
    chosen_convention,
    chosen_datasets,
    chosen_decompositions,
    chosen_methods,
    chosen_preset,
    chosen_where,
)
from uqassay.experiments.disentangling.planning import Asked, planned, studies_of, training_cells
from uqassay.experiments.disentangling.presets import PRESETS
from uqassay.experiments.disentangling.printed_values import SOURCE
from uqassay.experiments.disentangling.tables import TableRow, table_cells
from uqassay.experiments.disentangling.text_of_tables import convention_lines, table_lines
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.given_files import given_files
from uqassay.experiments.named_options import check_whole, taken_by
from uqassay.experiments.reproduction import NO_EVIDENCE, Reproduction
from uqassay.experiments.trainings import all_failed, failure_notes, folder_of, older_notes, train_cells
from uqassay.wording import counted

__all__ = ["PRESETS", "progress_steps", "reproduce_disentanglement"]

Progress = Callable[[str], None]

N_MAPS = 4  # figures of maps

NOTES = (
    "error: mean of the four deviations, as Table 2 has it; the equation in section 6 prints their sum. Intervals are t "
    "intervals over the runs, 95 %; ± as authors is 2 · standard deviation / 5",
    "correlations: mean over the runs on Fisher's scale; pooled: of the curves averaged over the runs, as Tables 3 and 4 print "
    "them",
    "every run has its own subsets, its own permuted rows and its own initial weights; the test instances are the same",
    "a share of p of the training instances is trained for epochs / p; inputs are scaled once, by the whole training part, and "
    "those of bci by the instances that a network is trained on",
    "not printed, so chosen here: the weight of Flipout's divergence is 1/N; Gaussian logits are trained by the mean "
    "likelihood of 100 draws",
)


def reproduce_disentanglement(
    *,
    preset: str = "cpu",
    dataset: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    decomposition: str | Sequence[str] | None = None,
    convention: str = "exact",
    where: str = "printed",
    data: str | os.PathLike[str] | None = None,
    runs: int | None = None,
    seed: int = 0,
    workers: int = 1,
    resume: str | os.PathLike[str] | None = None,
    figures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Train the methods of the paper under all conditions of its three experiments, and compare with its tables.

    Parameters
    ----------
    preset : {"smoke", "cpu", "gpu-hour", "paper"}
        How many instances, runs, epochs and members. "smoke" only checks that the code runs; "paper" is as printed.
    dataset : str or sequence of str, optional
        "wine" (by default), "digits", "mnist-10k", "fashion-mnist", "cifar-10", "bci".
    method : str or sequence of str, optional
        "mc-dropout", "mc-dropconnect", "flipout", "deep-ensemble", "random-forest"; by default those of the preset.
    decomposition : str or sequence of str, optional
        "information-theoretic" ("IT"), "gaussian-logits" ("GL"), "variance", "label-wise", "zero-one", "brier", "log" or
        "spherical"; the paper's "IT" and "GL" by default.
    convention : str
        "exact"; "last-layer", "ten-levels", "gaussian-code" and "data-code" make one choice as the authors' code does, and
        "paper-code" all of these; "all-layers" and "own-scale" make another one; "each" runs all and shows the differences.
    where : {"printed", "last", "all"}
        Which layers are Bayesian: as printed, the last hidden layer, or every dense layer.
    data : path, optional
        Folder with ``train.npz`` and ``test.npz`` in place of the data set's own files, such as a copy of CIFAR-10; needs
        exactly one data set. The numbers are then not compared with the paper.
    runs : int, optional
        Number of runs, instead of the preset's; for "bci" the number of subjects.
    seed : int
        Seed of the first run; the next ones count up from it.
    workers : int
        Number of processes; the results do not depend on it, to rounding.
    resume : path, optional
        Folder for the results of the trainings; those that are there are not trained again.
    figures : path, optional
        Folder for the figures as PNG files; needs matplotlib.
    progress : callable, optional
        Called with a line of text at every step.

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
    asked = _asked(
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
    return Reproduction("disentanglement", SOURCE, tuple(table_cells(judged)), tuple(notes), tuple(reading))


def progress_steps(*, runs: int | None = None, figures: object = None, **options: Any) -> int:
    """Approximate number of calls of ``progress`` with these options of `reproduce_disentanglement`."""
    rows, _skipped = planned(_asked(**taken_by(_asked, options)), runs, 0)
    trainings = {training.key: training for row in rows for training in row.trainings}
    blocks = sum(training.n_blocks for training in trainings.values())
    return blocks + 2 + (N_MAPS if figures is not None else 0)


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _asked(
    *,
    preset: str = "cpu",
    dataset: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    decomposition: str | Sequence[str] | None = None,
    convention: str = "exact",
    where: str = "printed",
    data: str | os.PathLike[str] | None = None,
) -> Asked:
    """The options checked."""
    plans = chosen_datasets(dataset)
    known = chosen_preset(preset)
    methods = None
    if method is not None:
        methods = tuple(one.name for one in chosen_methods(method, plans[0], plans[0].slices[known]))
    return Asked(
        preset=known,
        plans=tuple(plans),
        methods=methods,
        decompositions=tuple(chosen_decompositions(decomposition)),
        decompositions_given=decomposition is not None,
        conventions=tuple(chosen_convention(convention)),
        where=chosen_where(where),
        data=given_files(data, [plan.name for plan in plans]),
    )


def _figures(folder: Path, judged: Sequence[TableRow], preset: str, say: Progress) -> list[Path]:
    """Figures 1 to 13, as far as their data sets were trained; those of the first convention."""
    from uqassay.experiments.disentangling.figures import write_disentanglement_figures
    from uqassay.experiments.disentangling.map_figures import write_map_figures
    from uqassay.experiments.disentangling.maps import MOONS, TRIANGLE

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
