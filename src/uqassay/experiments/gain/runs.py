"""Runs of a study as cells of a benchmark, and the way from their results to the study.

The result of a cell is one table of its test instances, followed by its calibration instances: mean probabilities without more
data, labels, and as scores the gains, the estimates and, where it is known, the true uncertainty.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.bench.cell import CellResult
from uqassay.bench.results import StoredResult
from uqassay.errors import InputError
from uqassay.evidence.gain_sample import TRUE_PARTS, GainRun, GainSample
from uqassay.evidence.gain_study import GainStudy
from uqassay.evidence.saved_folder import note_from_values, note_values
from uqassay.experiments.gain.trainings import MeasuredRun
from uqassay.metrics.gains import TrueUncertainty
from uqassay.predictions import Point

__all__ = ["packed_run", "run_of", "study_of"]

GAIN, EPISTEMIC, TRUTH = "gain/", "epistemic/", "truth/"
AFTER, ROWS = "correct-after", "row"


def packed_run(measured: MeasuredRun, facts: Mapping[str, Any]) -> CellResult:
    """One run as the result of a cell.

    Parameters
    ----------
    measured : MeasuredRun
    facts : dict
        Plain values; `study_of` needs ``method`` and ``dataset``.
    """
    run = measured.run
    samples = [sample for sample in (run.test, run.calibration) if sample is not None]
    own = {
        "seed": run.seed,
        "n_test": run.test.n_instances,
        "sizes": dict(run.sizes),
        "losses": list(run.test.gain),
        "estimates": list(run.test.epistemic),
        "truth": run.test.truth is not None,
        "notes": [note_values(note) for note in run.notes],
    }
    scores = {name: np.concatenate([_columns(s)[name] for s in samples]) for name in _columns(run.test)}
    scores[ROWS] = measured.rows.astype(np.float64)
    return CellResult(Point(measured.before), measured.labels, scores, {**facts, "run": own})


def run_of(result: CellResult | StoredResult) -> GainRun:
    """The run that `packed_run` packed."""
    own = _facts(result)["run"]
    n, total = own["n_test"], len(result.labels)
    test = _sample(result, own, slice(0, n))
    calibration = _sample(result, own, slice(n, total)) if total > n else None
    notes = tuple(note_from_values(note) for note in own["notes"])
    return GainRun(own["seed"], test, calibration, own["sizes"], notes)


def study_of(
    results: Sequence[CellResult | StoredResult], *, method: str | None = None, dataset: str | None = None
) -> GainStudy:
    """The study of the runs of one method on one data set, from the results of their cells.

    Parameters
    ----------
    results : sequence of CellResult or StoredResult
    method, dataset : str, optional
        Names for the reader, by default those of the results.

    Raises
    ------
    InputError
        No results.
    """
    results = list(results)
    if not results:
        raise InputError("results", "must hold at least one run", "got none", "run one first", code="empty")
    facts = _facts(results[0])
    return GainStudy(
        facts["method"] if method is None else method,
        facts["dataset"] if dataset is None else dataset,
        tuple(run_of(result) for result in results),
        facts.get("study", {}),
    )


# -- helpers -------------------------------------------------------------------------------------------------------------


def _facts(result: CellResult | StoredResult) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = result.facts if isinstance(result, CellResult) else result.metadata["facts"]
    return facts


def _columns(sample: GainSample) -> dict[str, NDArray[np.float64]]:
    """The arrays of a sample as scores of a cell."""
    found = {f"{GAIN}{name}": values for name, values in sample.gain.items()}
    found |= {f"{EPISTEMIC}{name}": values for name, values in sample.epistemic.items()}
    if sample.truth is not None:
        found |= {f"{TRUTH}{part}": getattr(sample.truth, part) for part in TRUE_PARTS}
    return {**found, AFTER: sample.correct_after.astype(np.float64)}


def _sample(result: CellResult | StoredResult, own: Mapping[str, Any], rows: slice) -> GainSample:
    scores = {name: np.asarray(values)[rows] for name, values in result.scores.items()}
    before = result.prediction.mean_probs()[rows].argmax(axis=1)
    truth = TrueUncertainty(*(scores[f"{TRUTH}{part}"] for part in TRUE_PARTS)) if own["truth"] else None
    return GainSample(
        {name: scores[f"{GAIN}{name}"] for name in own["losses"]},
        {name: scores[f"{EPISTEMIC}{name}"] for name in own["estimates"]},
        before == np.asarray(result.labels)[rows],
        scores[AFTER] == 1,
        truth,
    )
