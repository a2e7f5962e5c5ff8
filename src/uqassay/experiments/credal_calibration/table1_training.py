"""Table 1 of paper 001 with predictors of our own: one network, two dropout networks and a deep ensemble on each data set.

The networks learn from the training instances alone. The others are halved as for given ensembles: one half is tested and gives
the weights, the other says what average and weighted averages are worth.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from uqassay.experiments.credal_calibration.ensembles import LabelledEnsemble
from uqassay.experiments.credal_calibration.table1 import judge_together, table1_of
from uqassay.experiments.reproduction import NO_EVIDENCE, Reproduction
from uqassay.wording import count, listed

__all__ = ["PREDICTORS", "reproduce_trained_table1", "trained_steps"]

PREDICTORS = {"S": "snn", "DN(0.1)": "dn-0.1", "DN(0.6)": "dn-0.6", "DE": "deep-ensemble"}
SIZE = {"DN(0.1)": "n_samples", "DN(0.6)": "n_samples", "DE": "n_members"}  # the option that is the number of members
N_DRAWS = {"smoke": 19, "cpu": 99, "paper": 100}  # D; 19 is the least at which p can fall to 0.05
EPOCHS = {"smoke": 2, "cpu": 50, "paper": 20}  # 20 in the paper, whose networks see more instances in an epoch
N_MEMBERS = {"smoke": 3, "cpu": 10, "paper": 10}
BACKBONE = {"smoke": [16], "cpu": [64, 64], "paper": [1000]}  # hidden layers; one of 1,000 is the paper's for its text
N_DATA_SETS = 3

Progress = Callable[[str], None]


def reproduce_trained_table1(
    preset: str,
    conventions: Sequence[str] = ("exact",),
    *,
    seed: int = 0,
    workers: int = 1,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Train the table's four predictors on every data set that is there, and judge them.

    Parameters
    ----------
    preset : {"smoke", "cpu", "paper"}
        D = 19, 99, 100 draws; 2, 50, 20 epochs; at most 500 instances, at most 10,000, all of them.
    conventions : sequence of {"exact", "paper-code"}
    seed : int
        Of the training, the halves and the draws. The split into training and other instances is the same for all.
    workers : int
        Processes that train; the results do not depend on it.
    resume : path, optional
        Folder for features and predictions, which are not made again; it may be moved.
    progress : callable, optional

    Returns
    -------
    Reproduction
        ``table1/<data set>/<predictor>/<convention>/<column>``, columns as for given ensembles.

    Raises
    ------
    InputError
        A folder that takes no files, or no predictor that could be trained.
    MissingDependencyError
        PyTorch or scikit-learn is missing; with several workers, Dask; with the preset "paper", torchvision.
    """
    from uqassay.experiments.credal_calibration.table1_data import training_sets
    from uqassay.experiments.trainings import all_failed, folder_of, older_notes, train_cells, trained_cells

    say = progress or (lambda step: None)
    with folder_of(resume) as folder:
        names, notes = training_sets(preset, folder / "data", say)
        cells = _cells_by_predictor(names, preset, seed)
        failed = train_cells(list(cells.values()), folder, workers=workers, say=say)
        rows = {cell.name: f"{title}, {predictor}" for (title, predictor), cell in cells.items()}
        notes += [f"{rows[name]} failed: {reason}" for name, reason in failed.items()]
        notes += older_notes(list(cells.values()), folder)
        judged, sizes = [], {}
        places = {cell.key: (place, *row) for place, (row, cell) in enumerate(cells.items())}
        for cell, kept in trained_cells(list(cells.values()), folder):
            place, title, predictor = places[cell.key]
            ensemble = _ensemble(title, kept)
            sizes[title] = _sizes(title, kept.metadata["facts"]["n_train"], len(ensemble.labels))
            say(f"testing {title}, {predictor}")
            judged += [
                judge_together(ensemble, predictor, convention, n_draws=N_DRAWS[preset], seed=seed, place=place)
                for convention in conventions
            ]
    if not judged:
        raise all_failed("table1", failed)
    return table1_of(judged, (*_training_notes(preset), *notes, *sizes.values()))


def trained_steps() -> int:
    """Number of calls of ``progress`` if all three data sets are at hand.

    Examples
    --------
    >>> trained_steps()
    27
    """
    return 3 + 2 * N_DATA_SETS * len(PREDICTORS)


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _cells_by_predictor(names: dict[str, str], preset: str, seed: int) -> dict[tuple[str, str], Any]:
    """Cells to train, by data set and predictor."""
    from uqassay.bench.config import BenchConfig
    from uqassay.bench.methods import cells_of

    common = {"backbone": BACKBONE[preset], "epochs": EPOCHS[preset], "progress": False}
    params: dict[str, dict[str, Any]] = {
        label: common | ({SIZE[label]: N_MEMBERS[preset]} if label in SIZE else {}) for label in PREDICTORS
    }
    methods = [f"{label}={method}" for label, method in PREDICTORS.items()]
    found: dict[tuple[str, str], Any] = {}
    for title, name in names.items():
        config = BenchConfig(dataset=[title], method=methods, seeds=[seed], preset=preset, params=params)
        found |= {(title, cell.method): cell for cell in cells_of(config, {title: name})}
    return found


def _ensemble(title: str, kept: Any) -> LabelledEnsemble:
    """A stored prediction as members (n, M, K) with their labels."""
    members = np.maximum(kept.prediction.hull_points().astype(np.float64), 0.0)
    names = tuple(f"member {m + 1}" for m in range(members.shape[1]))
    return LabelledEnsemble(title, members, np.asarray(kept.labels).astype(np.intp), names)


def _sizes(title: str, n_train: int, n: int) -> str:
    return (
        f"{title}: {count(n_train)} instances for training, {count(n // 2)} for tests and weights, {count(n - n // 2)} for "
        "accuracy and errors"
    )


def _training_notes(preset: str) -> list[str]:
    hidden = listed([str(width) for width in BACKBONE[preset]])
    members = N_MEMBERS[preset]
    notes = [
        f"S, DN and DE have hidden layers of {hidden} units and learn {EPOCHS[preset]} epochs by Adam (the paper: stochastic "
        f"gradient descent); a DN draws {members} masks of its last hidden layer, DE is {members} networks"
    ]
    return [*notes, NO_EVIDENCE] if preset == "smoke" else notes
