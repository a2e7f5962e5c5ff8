"""Train one method under all conditions and runs, and keep its mean probabilities and its two estimates for each test instance.

Networks of all conditions, runs and members are trained side by side; other estimators one after another. Predictions are
reduced at once, so that no members are kept.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.datasets.dataset import Dataset
from uqassay.errors import InputError
from uqassay.evidence.disentanglement import DisentanglementStudy, Measured
from uqassay.experiments.disentangling.conditions import Conditions, TrainingSet, check_data, training_sets
from uqassay.experiments.disentangling.reduction import PARTS, Decompositions, Reduction, chosen_decompositions
from uqassay.experiments.estimators import check_estimator, unfitted_copy
from uqassay.measures import Decomposition
from uqassay.methods.progress import progress_bar
from uqassay.notes import Note
from uqassay.wording import listed

__all__ = ["RunCondition", "has_dense_networks", "measure_runs"]

Array = NDArray[np.float64]

BLOCK_BYTES = 2**28  # of training instances, each condition with its own standardised copy
BLOCK_NETWORKS = 128  # more of them no longer fit the cache


@final
@dataclass(frozen=True, eq=False)
class RunCondition:
    """One condition of one run.

    Attributes
    ----------
    run : int
        Its place among the seeds.
    seed : int
    given : TrainingSet
    name : str
        What errors call the run.
    """

    run: int
    seed: int
    given: TrainingSet
    name: str

    def where(self, estimator: Any) -> str:
        """Estimator, condition and run, for errors."""
        return f"{type(estimator).__name__} under {self.given.name} in {self.name}"


@final
@dataclass
class _Table:
    """What is kept of one experiment while the runs are trained."""

    conditions: tuple[float, ...]
    labels: NDArray[np.int64]  # (R, C, n)
    probs: Array  # (R, C, n, K)
    parts: dict[str, Array] = field(default_factory=dict)  # (3, R, C, n)

    def measured(self) -> Measured:
        parts = {name: Decomposition(*values) for name, values in self.parts.items()}
        return Measured(self.conditions, self.labels, self.probs, parts)


def measure_runs(
    estimator: Any,
    data: Dataset,
    conditions: Conditions,
    seeds: Sequence[int],
    *,
    decompositions: Decompositions = None,
    method: str = "",
    convention: str | None = None,
    first_run: int | None = None,
    progress: bool = False,
) -> DisentanglementStudy:
    """The three experiments for one method.

    Parameters
    ----------
    estimator : object
        An unfitted template with ``fit(X, y)`` and ``predict_uncertainty(X)``; it is copied and stays as it is. Its
        `random_state`, `epochs` and `classes` are set if it has them.
    data : Dataset
    conditions : Conditions
    seeds : sequence of int
        One for each run. The results of a run depend on its seed and not on the other runs, to rounding.
    decompositions : str, callable, or several, optional
        Names of `uqassay.measures.DECOMPOSITIONS`, or functions of a prediction; in a dict functions have names of their own.
        By default all that the predictions offer.
    method : str
        Name for the reader, by default that of the class.
    convention : {"exact", "paper-code"}, optional
        Of the decompositions: see `uqassay.measures.decompose`. By default that of the estimator if it has one.
    first_run : int, optional
        Number of the first run in errors; by default runs are named by their seeds.
    progress : bool
        Show progress on a terminal.

    Returns
    -------
    DisentanglementStudy

    Raises
    ------
    InputError
        An estimator without these methods, data on which a condition is not defined, or predictions of a wrong shape or with
        NaN; the error names estimator, condition and run.
    """
    check_estimator(estimator)
    seeds = _checked_seeds(seeds)
    chosen = chosen_decompositions(decompositions)
    reduce = Reduction(
        n_instances=len(data.y_test),
        n_classes=data.n_classes,
        chosen=chosen,
        convention=str(convention or getattr(estimator, "convention", "exact")),
        delete_column=conditions.convention == "paper-code",
    )
    check_data(data, conditions)
    values = conditions.values(data.n_classes)
    n, k = len(data.y_test), data.n_classes
    tables = {
        name: _Table(v, np.empty((len(seeds), len(v), n), np.int64), np.empty((len(seeds), len(v), n, k)))
        for name, v in values.items()
    }
    jobs = [
        RunCondition(run, seed, one, f"the run of seed {seed}" if first_run is None else f"run {first_run + run}")
        for run, seed in enumerate(seeds)
        for one in training_sets(data, conditions, seed)
    ]
    start = time.perf_counter()
    padded = 0
    for job, model in _trained(estimator, data, jobs, progress):
        said = reduce(model.predict_uncertainty(data.X_test), job.given, job.where(model))
        table, at = tables[job.given.experiment], (job.run, job.given.place)
        table.labels[at], table.probs[at] = job.given.y_test, said.probs
        for name, parts in said.parts.items():
            if name not in table.parts:
                table.parts[name] = np.full((3, len(seeds), len(table.conditions), n), np.nan)
            for part, of_part in zip(PARTS, table.parts[name], strict=True):
                of_part[at] = getattr(parts, part)
        padded += said.padded
    return DisentanglementStudy(
        method or type(estimator).__name__,
        data.name,
        tuple(seeds),
        data.class_names,
        {name: table.measured() for name, table in tables.items()},
        facts={"seconds": time.perf_counter() - start, "trainings": len(jobs), "conditions": conditions.to_dict()},
        notes=_notes(conditions, data, padded),
    )


# -- training ------------------------------------------------------------------------------------------------------------


def _trained(
    estimator: Any, data: Dataset, jobs: Sequence[RunCondition], progress: bool
) -> Iterator[tuple[RunCondition, Any]]:
    """Each job with its fitted copy of the estimator."""
    if not _has_networks(estimator):
        with progress_bar(f"{len(jobs)} trainings", len(jobs), shown=progress) as show:
            for done, job in enumerate(jobs, start=1):
                model = _copied(estimator, job.given, data.n_classes, progress=False)
                model.fit(data.X_train[job.given.rows], job.given.y_train)
                yield job, model
                show(done)
        return
    from uqassay.methods import fit_together

    for block in _blocks(estimator, data, jobs):
        models = [_copied(estimator, job.given, data.n_classes, progress) for job in block]
        fit_together(models, [(data.X_train[job.given.rows], job.given.y_train) for job in block])
        yield from zip(block, models, strict=True)


def has_dense_networks(estimator: Any, shape: tuple[int, ...]) -> bool:
    """Whether it trains dense networks, for instances of this shape, which are faster side by side on any device."""
    if not _has_networks(estimator):
        return False
    from uqassay.methods.backbones import make_backbone

    return not make_backbone(estimator.backbone, shape).convolutional


def _has_networks(estimator: Any) -> bool:
    """Whether it is a `NetworkClassifier`; only then their module, and PyTorch, is loaded."""
    module = sys.modules.get("uqassay.methods.network_classifier")
    return module is not None and isinstance(estimator, module.NetworkClassifier)


def _blocks(estimator: Any, data: Dataset, jobs: Sequence[RunCondition]) -> Iterator[list[RunCondition]]:
    """Jobs that are trained together, bounded in networks and memory; those with most epochs come first."""
    bytes_per_row = 4 * int(np.prod(data.X_train.shape[1:]))
    members = int(getattr(estimator, "n_members", 1))
    block: list[RunCondition] = []
    held = 0
    for job in sorted(jobs, key=lambda job: job.given.share):
        size = bytes_per_row * len(job.given.rows)
        if block and (held + size > BLOCK_BYTES or (len(block) + 1) * members > BLOCK_NETWORKS):
            yield block
            block, held = [], 0
        block.append(job)
        held += size
    if block:
        yield block


def _copied(estimator: Any, given: TrainingSet, n_classes: int, progress: bool) -> Any:
    """An unfitted copy with the seed, the epochs and the classes of a condition, as far as it has such options."""
    seed = int(given.seed.generate_state(1)[0])
    own: dict[str, Any] = {"random_state": seed, "classes": tuple(range(n_classes)), "progress": progress}
    if hasattr(estimator, "epochs"):
        own["epochs"] = given.epochs(estimator.epochs)
    return unfitted_copy(estimator, own)


# -- small things --------------------------------------------------------------------------------------------------------


def _checked_seeds(seeds: Sequence[int]) -> list[int]:
    found = []
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise InputError("seeds", "must be whole numbers from 0 up", f"got {seed!r}", "for example 0", code="range")
        found.append(int(seed))
    if not found:
        raise InputError("seeds", "must hold at least one", "got none", "give one for each run", code="empty")
    if len(set(found)) < len(found):
        raise InputError(
            "seeds",
            "must be different",
            f"got {listed([str(seed) for seed in found], most=8)}",
            "remove one",
            code="duplicate",
        )
    return found


def _notes(conditions: Conditions, data: Dataset, padded: int) -> tuple[Note, ...]:
    notes = []
    if padded:
        notes.append(
            Note(
                "left-out",
                f"{padded} predictions had no column for the class left out, which then has probability 0",
                {"predictions": padded},
            )
        )
    if conditions.left_out == "all" and "left-out-class" not in conditions.values(data.n_classes):
        notes.append(
            Note(
                "left-out",
                "no class was left out, because a training on one class of two says nothing",
                {"classes": data.n_classes},
            )
        )
    return tuple(notes)
