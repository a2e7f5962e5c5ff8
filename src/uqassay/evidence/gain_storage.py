"""A study of the gain in a folder; nothing is pickled."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.evidence.gain_sample import TRUE_PARTS, GainRun, GainSample
from uqassay.evidence.saved_folder import SavedKind, note_from_values, note_values, read_folder, save_folder
from uqassay.metrics.gains import TrueUncertainty

if TYPE_CHECKING:
    from uqassay.evidence.gain_study import GainStudy

__all__ = ["read_gain_study", "save_gain_study"]

KIND = SavedKind("uqassay.gain-study/1", "GainStudy.save")
SAMPLES = ("test", "calibration")


def save_gain_study(study: "GainStudy", folder: str | Path) -> Path:
    """Write the study into a folder, whole or not at all; see `GainStudy.save`."""
    runs: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    for r, run in enumerate(study.runs):
        values: dict[str, Any] = {
            "seed": run.seed,
            "sizes": run.sizes,
            "notes": [note_values(note) for note in run.notes],
        }
        for name in SAMPLES:
            sample = getattr(run, name)
            values[name] = None if sample is None else _names(sample)
            arrays |= {} if sample is None else _arrays(sample, f"{r}/{name}")
        runs.append(values)
    facts = {
        "method": study.method,
        "dataset": study.dataset,
        "runs": runs,
        "facts": study.facts,
        "notes": [note_values(note) for note in study.notes],
    }
    return save_folder(folder, facts, arrays, KIND)


def read_gain_study(folder: str | Path, build: "type[GainStudy]") -> "GainStudy":
    """Read the study that `GainStudy.save` wrote; see `GainStudy.load`."""

    def assemble(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> "GainStudy":
        runs = [
            GainRun(
                values["seed"],
                _sample(values["test"], arrays, f"{r}/test"),
                None if values["calibration"] is None else _sample(values["calibration"], arrays, f"{r}/calibration"),
                values["sizes"],
                tuple(note_from_values(note) for note in values["notes"]),
            )
            for r, values in enumerate(facts["runs"])
        ]
        notes = tuple(note_from_values(note) for note in facts["notes"])
        return build(str(facts["method"]), str(facts["dataset"]), tuple(runs), facts["facts"], notes)

    return read_folder(folder, assemble, KIND)


def _names(sample: GainSample) -> dict[str, Any]:
    return {
        "losses": list(sample.gain),
        "scores": list(sample.epistemic),
        "truth": sample.truth is not None,
        "groups": sample.groups is not None,
    }


def _arrays(sample: GainSample, place: str) -> dict[str, Any]:
    arrays: dict[str, Any] = {f"{place}/before": sample.correct_before, f"{place}/after": sample.correct_after}
    arrays |= {f"{place}/gain/{i}": values for i, values in enumerate(sample.gain.values())}
    arrays |= {f"{place}/epistemic/{i}": values for i, values in enumerate(sample.epistemic.values())}
    if sample.truth is not None:
        arrays |= {f"{place}/truth/{part}": getattr(sample.truth, part) for part in TRUE_PARTS}
    if sample.groups is not None:
        arrays[f"{place}/groups"] = sample.groups
    return arrays


def _sample(names: Mapping[str, Any], arrays: Mapping[str, np.ndarray], place: str) -> GainSample:
    truth = None
    if names["truth"]:
        truth = TrueUncertainty(*(arrays[f"{place}/truth/{part}"] for part in TRUE_PARTS))
    return GainSample(
        {name: arrays[f"{place}/gain/{i}"] for i, name in enumerate(names["losses"])},
        {name: arrays[f"{place}/epistemic/{i}"] for i, name in enumerate(names["scores"])},
        arrays[f"{place}/before"],
        arrays[f"{place}/after"],
        truth,
        arrays[f"{place}/groups"] if names["groups"] else None,
    )
