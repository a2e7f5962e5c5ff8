"""Stored predictions of a data set judged in both conventions: the assays of Tables 1, 2, 7 and 8 and of the figures."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.bench.cell import Cell
from uqassay.evidence import assay
from uqassay.experiments.trainings import trained_cells
from uqassay.experiments.unified.predictors import PREDICTORS
from uqassay.predictions import Dirichlet, Masses, Point, Prediction

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["CONVENTIONS", "MEASURES", "MEMBERS", "Convention", "JudgedDataSet", "judge", "judge_predictions"]

Convention = Literal["exact", "paper"]

CONVENTIONS: tuple[Convention, ...] = ("exact", "paper")
MEASURES = ("total-entropy", "credal-width")
MEMBERS = {"DE": (2, 5, 10, 15), "LB-BNN": (50, 100, 200, 500)}  # of Figure 13


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


def judge(folder: Path, cells: Sequence[Cell], *, draws: int = 100) -> JudgedDataSet | None:
    """Judge the stored predictions of a data set in both conventions.

    Parameters
    ----------
    folder : Path
        Of the trainings, as `trained_cells` takes it.
    cells : sequence of Cell
        The trainings on one data set.
    draws : int
        That span the set of a Dirichlet distribution.

    Returns
    -------
    JudgedDataSet or None
        None if the folder has none of their predictions.
    """
    said: dict[str, list[Prediction]] = {}
    labels: NDArray[Any] | None = None
    counts = np.ones(1)
    for cell, kept in trained_cells(cells, folder):
        one = kept.prediction
        said.setdefault(cell.method, []).append(replace(one, n_draws=draws) if isinstance(one, Dirichlet) else one)
        labels, counts = kept.labels, np.array(kept.metadata["facts"]["train_counts"])
    return None if labels is None else judge_predictions(cells[0].dataset, said, labels, counts)


def judge_predictions(
    dataset: str, said: dict[str, list[Prediction]], labels: NDArray[Any], train_counts: NDArray[Any]
) -> JudgedDataSet:
    """Judge predictions in both conventions.

    Parameters
    ----------
    dataset : str
    said : dict of str to list of Prediction
        One prediction for each run, by name of the predictor as in `PREDICTORS`.
    labels : (n,) integers
    train_counts : (K,) integers
        Number of training instances of each class.
    """
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
            "prior": train_counts / train_counts.sum(),
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
    return JudgedDataSet(dataset, int(train_counts.sum()), assays, ranked, members)


# ---- helpers ---------------------------------------------------------------------------------------------------------


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
