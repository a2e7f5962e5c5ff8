"""The experiments of paper 000 with predictors trained here: Tables 1, 2, 7 and 8, Figures 2 and 13 to 20.

Eight predictors are trained and judged in both conventions, the exact one and that of the authors' code. The printed values
belong to other networks, and mostly to other data; they are shown as context.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.bench.cell import Cell
from uqassay.bench.config import PRESETS
from uqassay.errors import InputError
from uqassay.evidence import assay
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.named_options import check_whole
from uqassay.experiments.reproduction import NO_EVIDENCE, Reproduction
from uqassay.experiments.trainings import all_failed, failure_notes, folder_of, older_notes, train_cells, trained_cells
from uqassay.experiments.unified.claims import claim_lines
from uqassay.experiments.unified.predictors import (
    PREDICTORS,
    RUNS,
    available_data_sets,
    data_set_names,
    predictor_cells,
)
from uqassay.experiments.unified.tables import table_cells, table_lines
from uqassay.predictions import Dirichlet, Masses, Point, Prediction
from uqassay.wording import count, counted, listed

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["CONVENTIONS", "JudgedDataSet", "progress_steps", "reproduce_unified"]

Progress = Callable[[str], None]
Convention = Literal["exact", "paper"]

SOURCE = "Manchingal, Mubashar, Wang and Cuzzolin, A unified evaluation framework for epistemic predictions"
CONVENTIONS: tuple[Convention, ...] = ("exact", "paper")
MEASURES = ("total-entropy", "credal-width")
MEMBERS = {"DE": (2, 5, 10, 15), "LB-BNN": (50, 100, 200, 500)}  # of Figure 13
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


@final
@dataclass(frozen=True, eq=False)
class JudgedDataSet:
    """The assays of the predictors on a data set.

    Attributes
    ----------
    dataset : str
    n_train : int
    assays : dict of str to Assay
        By convention: the predictors, the averages of the sampled ones, and the baselines.
    ranked : dict of str to Assay
        By convention: the predictors that state sets, as in Tables 2 and 8.
    members : dict of str to dict of str to dict of int to Assay
        By convention, predictor and number of members or draws (Figure 13).
    """

    dataset: str
    n_train: int
    assays: "dict[str, Assay]"
    ranked: "dict[str, Assay]"
    members: "dict[str, dict[str, dict[int, Assay]]]"


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
            found = _judge(folder, [cell for cell in cells if cell.dataset == name])
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


def _judge(folder: Path, cells: Sequence[Cell]) -> JudgedDataSet | None:
    """Both conventions on the stored predictions of a data set; None without predictions."""
    said: dict[str, list[Prediction]] = {}
    labels: NDArray[Any] | None = None
    counts = np.ones(1)
    for cell, kept in trained_cells(cells, folder):
        said.setdefault(cell.method, []).append(kept.prediction)
        labels, counts = kept.labels, np.array(kept.metadata["facts"]["train_counts"])
    if labels is None:
        return None
    family = _family(said)
    options = {"exact": {}, "paper": {"focal_sets": family}}
    assays: dict[str, Any] = {}
    members: dict[str, dict[str, dict[int, Any]]] = {}
    ranked: dict[str, Any] = {}
    for convention in CONVENTIONS:
        stated = _stated(said, convention)
        common: dict[str, Any] = {
            "convention": convention,
            "measures": MEASURES,
            "calibration": (),
            "subgroups": {"all": np.zeros(len(labels), dtype=np.int64)},
            "prior": counts / counts.sum(),
            **options[convention],
        }
        found = assay(stated, labels, **common)
        credal = {p.name for p in PREDICTORS if p.credal}
        assays[convention] = found
        ranked[convention] = replace(found, models=tuple(m for m in found.models if m.baseline or m.name in credal))
        members[convention] = {
            name: {
                m: assay({name: stated[name]}, labels, common_members=m, **common) for m in _sizes(name, stated[name])
            }
            for name in MEMBERS
            if name in stated
        }
    return JudgedDataSet(cells[0].dataset, int(counts.sum()), assays, ranked, members)


def _stated(said: dict[str, list[Prediction]], convention: Convention) -> dict[str, list[Prediction]]:
    """The models in the order of Table 1, with the averages."""
    sets: dict[str, list[Prediction]] = {}
    points: dict[str, list[Prediction]] = {}
    for predictor in PREDICTORS:
        if predictor.name not in said:
            continue
        runs = said[predictor.name]
        if predictor.averaged:
            points[f"{predictor.name} Avg"] = [Point(run.mean_probs()) for run in runs]
        if convention == "paper" and predictor.name == "EDL":
            runs = [replace(run, unit_concentration=True) if isinstance(run, Dirichlet) else run for run in runs]
        (sets if predictor.credal else points)[predictor.name] = runs
    order: list[str] = [name for name in ("SNN", "LB-BNN Avg", "DE Avg", "DDU") if name in points]
    return sets | {name: points[name] for name in order}


def _family(said: dict[str, list[Prediction]]) -> NDArray[np.bool_] | None:
    """Events of the paper's convention: the sets that RS-NN chose in its first run, without Ω; None means all events."""
    first = said.get("RS-NN", [None])[0]
    if not isinstance(first, Masses):
        return None
    sets = np.asarray(first.focal_sets, dtype=bool)
    return sets[~sets.all(axis=1)]


def _sizes(name: str, runs: Sequence[Prediction]) -> list[int]:
    """Numbers of members for Figure 13, up to the smallest number in any run."""
    if all(isinstance(run, Dirichlet) for run in runs):
        return list(MEMBERS[name])
    most = min(run.hull_points().shape[1] for run in runs)
    return [m for m in MEMBERS[name] if m <= most]


def _headline(one: JudgedDataSet, preset: str) -> str:
    first = one.assays["exact"]
    runs = max(m.n_runs for m in first.candidates)
    warning = f"; {NO_EVIDENCE}" if preset == "smoke" else ""
    return (
        f"{one.dataset}: {count(one.n_train)} training and {count(first.n_instances)} test instances, {counted(runs, 'run')} "
        f"of each predictor{warning}."
    )
