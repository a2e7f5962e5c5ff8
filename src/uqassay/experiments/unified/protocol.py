"""The experiments of paper 000 with predictors trained here: Tables 1, 2, 7 and 8, Figures 2 and 13 to 20.

Eight predictors are trained and judged in both conventions, the exact one and that of the authors' code. The printed values
belong to other networks, and mostly to other data; they are shown as context.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

from uqassay.bench.config import PRESETS
from uqassay.errors import InputError
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.named_options import check_whole
from uqassay.experiments.reproduction import NO_EVIDENCE, Reproduction
from uqassay.experiments.trainings import all_failed, failure_notes, folder_of, older_notes, train_cells
from uqassay.experiments.unified.claims import claim_lines
from uqassay.experiments.unified.judging import JudgedDataSet, judge
from uqassay.experiments.unified.predictors import (
    PREDICTORS,
    RUNS,
    available_data_sets,
    data_set_names,
    predictor_cells,
)
from uqassay.experiments.unified.tables import table_cells, table_lines
from uqassay.wording import count, counted, listed

__all__ = ["progress_steps", "reproduce_unified"]

Progress = Callable[[str], None]

SOURCE = "Manchingal, Mubashar, Wang and Cuzzolin, A unified evaluation framework for epistemic predictions"
N_FIGURES = 9

NOTES = (
    "exact: all events, nothing clipped, Dirichlet distributions as they are stated. paper: as the authors' code, masses "
    "clipped and renormalised over the classes and the sets that RS-NN chose in its first run, concentrations of EDL divided "
    "by their sum",
    "LB-BNN has the bridge as printed, and 100 draws span its set and that of EDL; LB-BNN Avg is the mean of the Dirichlet",
    "E-CNN is judged by its masses, where the authors judge 1,023 normalised utilities as if they were masses",
    "images keep their size; no augmentation and no schedule of the learning rate, 0.001 by Adam",
    "intervals are of the mean over test instances and training runs, 95 %; what the paper prints as ± is a standard deviation",
)


def reproduce_unified(
    *,
    preset: str = "cpu",
    dataset: str | Sequence[str] | None = None,
    backbone: str | None = None,
    predictors: Sequence[str] | None = None,
    runs: int | None = None,
    seed: int = 0,
    workers: int = 1,
    resume: str | os.PathLike[str] | None = None,
    figures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Train the eight predictors, judge them in both conventions, and compare with the printed tables.

    Parameters
    ----------
    preset : {"smoke", "cpu", "paper"}
        See `uqassay.experiments.unified.predictors`. "smoke" only checks that the code runs.
    dataset : str or sequence of str, optional
        Data sets, instead of the preset's.
    backbone : str, optional
        "mlp", "cnn", "cnn-small" or "resnet50", instead of the preset's; "resnet50" needs torchvision.
    predictors : sequence of str, optional
        Names of predictors as in the paper; all eight by default.
    runs : int, optional
        Number of trainings of each predictor, instead of the preset's.
    seed : int
        Seed of the first run; the next ones count up from it.
    workers : int
        Number of processes; the results do not depend on it. A script that starts several needs the guard
        ``if __name__ == "__main__":``.
    resume : path, optional
        Folder for the predictions; predictions that are there are not trained again.
    figures : path, optional
        Folder for the figures as PNG files; needs matplotlib.
    progress : callable, optional
        Called with a line of text at every step.

    Returns
    -------
    Reproduction
        ``table1/<data set>/<convention>/<model>/<quantity>``, ``table2/…/lambda=…/<model>/rank``, ``table7/…`` and
        ``table8/…``. Printed values are compared only by the preset "paper" on the paper's own data, in its convention.

    Raises
    ------
    InputError
        An option out of range, a missing data set, or no predictor that could be trained.
    MissingDependencyError
        PyTorch is missing; with several workers, Dask; for "resnet50", torchvision; for figures, matplotlib.

    Examples
    --------
    >>> result = reproduce_unified(preset="smoke", predictors=["SNN"])
    >>> result.rows[2].name, result.rows[2].paper, result.rows[2].agrees
    ('table1/digits/exact/SNN/kl', 0.043, None)
    """
    _check(preset, runs, seed, workers)
    check_figures(figures)
    say = progress or (lambda step: None)
    names, missing = available_data_sets(preset, dataset)
    seeds = [seed + i for i in range(RUNS[preset] if runs is None else runs)]
    cells = predictor_cells(preset, names, seeds, backbone=backbone, predictors=predictors)
    notes = [*NOTES, *(f"{name} is left out: {problem}" for name, problem in missing.items())]
    with folder_of(resume) as folder:
        failed = train_cells(cells, folder, workers=workers, say=say)
        notes += [*failure_notes(failed), *older_notes(cells, folder)]
        judged = []
        for name in names:
            say(f"judging {name}")
            found = judge(folder, [cell for cell in cells if cell.dataset == name])
            if found is not None:
                judged.append(found)
    if not judged:
        raise all_failed("predictors", failed)
    same_network = backbone == "resnet50"
    rows = [cell for one in judged for cell in table_cells(one.dataset, one.assays, one.ranked, same_network, preset)]
    reading = [_headline(one, preset) for one in judged]
    for one in judged:
        reading += ["", *table_lines(one.dataset, one.assays, one.ranked)]
    for one in judged:
        reading += ["", *claim_lines(one.dataset, one.assays, one.ranked, one.members)]
    if figures is not None:
        from uqassay.experiments.unified.figures import write_unified_figures

        reading += ["", *(f"figure: {path}" for one in judged for path in write_unified_figures(figures, one, say))]
    return Reproduction("unified", SOURCE, tuple(rows), tuple(notes), tuple(reading))


def progress_steps(
    *,
    preset: str = "cpu",
    dataset: str | Sequence[str] | None = None,
    predictors: Sequence[str] | None = None,
    runs: int | None = None,
    figures: object = None,
    **_: Any,
) -> int:
    """Number of calls of ``progress`` if all data sets are at hand."""
    n = len(data_set_names(preset, dataset))
    trained = (RUNS.get(preset, 1) if runs is None else runs) * len(predictors or PREDICTORS)
    return n * (trained + 1 + (N_FIGURES if figures is not None else 0)) + 1


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _check(preset: str, runs: int | None, seed: int, workers: int) -> None:
    if preset not in PRESETS:
        raise InputError(
            "preset", f"must be {listed(PRESETS, last='or')}", f"got {preset!r}", "cpu is the default", code="choice"
        )
    check_whole(1, runs=runs, workers=workers)
    check_whole(0, seed=seed)


def _headline(one: JudgedDataSet, preset: str) -> str:
    first = one.assays["exact"]
    runs = max(m.n_runs for m in first.candidates)
    warning = f"; {NO_EVIDENCE}" if preset == "smoke" else ""
    return (
        f"{one.dataset}: {count(one.n_train)} training and {count(first.n_instances)} test instances, {counted(runs, 'run')} "
        f"of each predictor{warning}."
    )
