"""An assay as plain JSON values, and in a folder with `assay.json` and `arrays.npz`; nothing is pickled."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay._json import number_from_json, plain
from uqassay.evidence.backward import BackwardScore
from uqassay.evidence.calibration_result import ModelCalibration
from uqassay.evidence.saved_folder import SavedKind, note_from_values, note_values, read_folder, save_folder
from uqassay.evidence.scaled_sets import ScaledScores
from uqassay.evidence.scoring import ModelScores, SetSample, Settings
from uqassay.evidence.vote_tests import VoteTests
from uqassay.losses.unified import check_tradeoffs
from uqassay.metrics.calibration.reliability import Reliability
from uqassay.metrics.calibration.reliability_bands import band_of_counts
from uqassay.notes import Note

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["plain", "ranking_json", "read_assay", "save_assay", "to_json"]

KIND = SavedKind("uqassay.assay/5", "Assay.save", "an", "assay")
SET_ARRAYS = ("rows", "lower", "upper", "mean", "points")
SCALED_ARRAYS = tuple(ScaledScores.__dataclass_fields__)
VOTE_ARRAYS = tuple(VoteTests.__dataclass_fields__)
TEST_ARRAYS = ("null", "weights", "member_values", "member_pvalues")
TEST_NUMBERS = (
    "statistic",
    "pvalue",
    "mean_value",
    "mean_pvalue",
    "accuracy_mean",
    "accuracy_weighted",
    "width",
    "gap",
    "gap_pvalue",
)
DIAGRAMS = ("before", "after")
DIAGRAM_ARRAYS = ("edges", "count", "confidence", "accuracy", "low", "high", "band_low", "band_high")
COLUMNS = ("distance", "nonspecificity", "correct", "confidence", "label", "log-loss", "brier", "gap", "upper-label")


def to_json(assay: "Assay", tradeoffs: Sequence[float] | None = None) -> dict[str, Any]:
    """Findings, rankings at each λ, breakpoints, settings; everything but the scores of single instances."""
    lambdas = assay.tradeoffs if tradeoffs is None else check_tradeoffs(tradeoffs)
    return plain(
        {
            "schema": KIND.schema,
            "headline": assay.headline(),
            "verdict": assay.verdict(),
            "claims": assay.rows("claims"),
            "n_instances": assay.n_instances,
            "class_names": assay.class_names,
            "models": [
                {
                    "model": m.name,
                    "kind": m.kind,
                    "baseline": m.baseline,
                    "runs": m.n_runs,
                    "points": m.n_points,
                    "floored": m.floored,
                    "floor": m.floor,
                    "sha256": m.fingerprint,
                }
                for m in assay.models
            ],
            "findings": assay.rows("findings"),
            "calibration": calibration_json(assay),
            **ranking_json(assay, lambdas),
            "scale_check": [assay.scale_check(t).to_dict() for t in lambdas],
            "settings": asdict(assay.settings),
            "warnings": assay.warnings,
            "provenance": assay.provenance,
        }
    )


def ranking_json(assay: "Assay", tradeoffs: Sequence[float]) -> dict[str, Any]:
    """Rankings and rank sets at each λ and the breakpoints, as `uqassay rank --json` prints them."""
    rankings = [{"tradeoff": float(t), "ranking": [r.to_dict() for r in assay.ranked(t)]} for t in tradeoffs]
    breakpoints = [{"low": low, "high": high, "models": names} for low, high, names in assay.winners()]
    ranks = [{"tradeoff": float(t), **assay.rank_sets(t).to_dict()} for t in tradeoffs]
    return plain({"tradeoff": rankings, "rank_sets": ranks, "breakpoints": breakpoints})


def calibration_json(assay: "Assay") -> list[dict[str, Any]]:
    """The calibration tests with their weights, members and reliability diagrams; the null draws are kept by `save`."""
    return [
        row
        | {name: getattr(test, name) for name in ("null_kind", *TEST_ARRAYS) if name != "null"}
        | {name: getattr(test, name) and vars(getattr(test, name)) for name in DIAGRAMS}
        for row, test in zip(assay.rows("calibration"), assay.calibration, strict=True)
    ]


def save_assay(assay: "Assay", folder: str | Path) -> Path:
    """Write the assay into a folder, whole or not at all; what was there stays until then.

    Raises
    ------
    FileFormatError
        A path that holds something else than an assay, or cannot be written.
    """
    arrays = {key: _without_objects(values) for key, values in _arrays(assay).items()}
    return save_folder(folder, _facts(assay), arrays, KIND)


def _arrays(assay: "Assay") -> dict[str, np.ndarray]:
    """Everything that goes into `arrays.npz`."""
    arrays: dict[str, np.ndarray] = {"labels": assay.labels, "class_names": np.array(assay.class_names, dtype=np.str_)}
    for name, optional in (("ids", assay.ids), ("groups", assay.groups), ("focal_sets", assay.settings.focal_sets)):
        if optional is not None:
            arrays[name] = optional
    for i, values in enumerate(assay.subgroups.values()):
        arrays[f"subgroup/{i}"] = values
    for i, model in enumerate(assay.models):
        for key, column in model.columns.items():
            arrays[f"model/{i}/{key}"] = column
    for i, sample in enumerate(assay.sets.values()):
        for key in SET_ARRAYS:
            arrays[f"set/{i}/{key}"] = getattr(sample, key)
    for i, scaled in enumerate(assay.scaled.values()):
        for key in SCALED_ARRAYS:
            arrays[f"scaled/{i}/{key}"] = getattr(scaled, key)
    for i, votes in enumerate(assay.votes.values()):
        for key in VOTE_ARRAYS:
            arrays[f"votes/{i}/{key}"] = getattr(votes, key)
    for i, test in enumerate(assay.calibration):
        for key in TEST_ARRAYS:
            arrays[f"test/{i}/{key}"] = getattr(test, key)
        for key in DIAGRAMS:
            if (diagram := getattr(test, key)) is not None:
                arrays |= {f"test/{i}/{key}/{part}": getattr(diagram, part) for part in DIAGRAM_ARRAYS}
    return arrays


def _facts(assay: "Assay") -> dict[str, Any]:
    """Everything that goes into `assay.json`."""
    not_in_facts = (*TEST_ARRAYS, *DIAGRAMS, "notes")
    return {
        "models": [
            {k: getattr(m, k) for k in ModelScores.__dataclass_fields__ if k not in ("columns", "notes")}
            | {"notes": [note_values(note) for note in m.notes]}
            for m in assay.models
        ],
        "subgroups": list(assay.subgroups),
        "sets": list(assay.sets),
        "scaled": list(assay.scaled),
        "votes": list(assay.votes),
        "tradeoffs": assay.tradeoffs,
        "settings": {k: v for k, v in asdict(assay.settings).items() if k != "focal_sets"},
        "warnings": [note_values(note) for note in assay.warnings],
        "provenance": assay.provenance,
        "calibration": [
            {k: getattr(t, k) for k in ModelCalibration.__dataclass_fields__ if k not in not_in_facts}
            | {"notes": [note_values(note) for note in t.notes]}
            for t in assay.calibration
        ],
        "classwise_error": assay.classwise_error,
        "backward": [found.to_dict() for found in assay.backward],
    }


def _notes(entries: list[dict[str, Any]]) -> tuple[Note, ...]:
    return tuple(note_from_values(entry) for entry in entries)


def _without_objects(values: np.ndarray) -> np.ndarray:
    """Python objects, such as the tuples of a MultiIndex, as text: objects could only be pickled."""
    if values.dtype.kind not in "OT":
        return values
    return np.array([str(v) for v in values.ravel()], dtype=np.str_).reshape(values.shape)


def read_assay(folder: str | Path) -> dict[str, Any]:
    """Read the fields of the assay that `Assay.save` wrote.

    Raises
    ------
    FileFormatError
        A folder that holds no assay, one of another version, or a damaged or incomplete one.
    """
    return read_folder(folder, _assemble, KIND)


def _assemble(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    settings = Settings(
        focal_sets=arrays.get("focal_sets"), **{**facts["settings"], "measures": tuple(facts["settings"]["measures"])}
    )
    n = len(arrays["labels"])
    models = []
    for i, entry in enumerate(facts["models"]):
        prefix = f"model/{i}/"
        columns = {key.removeprefix(prefix): value for key, value in arrays.items() if key.startswith(prefix)}
        shape = (len(columns["distance"]), n)
        for key in (*COLUMNS, *settings.measures):
            if columns[key].shape != shape:
                raise ValueError(f"{prefix}{key} has shape {columns[key].shape} and not {shape}")
        numbers = {key: number_from_json(entry[key]) for key in ("nonspecificity_error", "floor", "gap")}
        models.append(ModelScores(columns=columns, **{**entry, **numbers, "notes": _notes(entry["notes"])}))
    if not models:
        raise ValueError("no models in it")
    return {
        "models": tuple(models),
        "labels": arrays["labels"],
        "class_names": tuple(arrays["class_names"].tolist()),
        "ids": arrays.get("ids"),
        "groups": arrays.get("groups"),
        "subgroups": {name: arrays[f"subgroup/{i}"] for i, name in enumerate(facts["subgroups"])},
        "tradeoffs": tuple(facts["tradeoffs"]),
        "settings": settings,
        "sets": {
            name: SetSample(**{k: arrays[f"set/{i}/{k}"] for k in SET_ARRAYS}) for i, name in enumerate(facts["sets"])
        },
        "warnings": _notes(facts["warnings"]),
        "provenance": facts["provenance"],
        "calibration": tuple(_test(i, entry, arrays, settings.level) for i, entry in enumerate(facts["calibration"])),
        "classwise_error": {name: tuple(values) for name, values in facts["classwise_error"].items()},
        "scaled": {
            name: ScaledScores(**{k: arrays[f"scaled/{i}/{k}"] for k in SCALED_ARRAYS if f"scaled/{i}/{k}" in arrays})
            for i, name in enumerate(facts["scaled"])
        },
        "votes": {
            name: VoteTests(**{k: arrays[f"votes/{i}/{k}"] for k in VOTE_ARRAYS})
            for i, name in enumerate(facts.get("votes", ()))
        },
        "backward": tuple(BackwardScore.from_dict(entry) for entry in facts["backward"]),
    }


def _test(i: int, entry: dict[str, Any], arrays: dict[str, np.ndarray], level: float) -> ModelCalibration:
    prefix = f"test/{i}/"
    nothing = entry["tested"] == "nothing"
    absent = {"before": nothing, "after": nothing or bool(np.isnan(arrays[f"{prefix}weights"]).any())}
    diagrams: dict[str, Any] = {
        key: None if absent[key] else _diagram(f"{prefix}{key}/", arrays, level) for key in DIAGRAMS
    }
    numbers = {key: number_from_json(entry[key]) for key in TEST_NUMBERS if key in entry}
    held = {key: arrays[prefix + key] for key in TEST_ARRAYS}
    return ModelCalibration(**{**entry, **numbers, **held, **diagrams, "notes": _notes(entry["notes"])})


def _diagram(prefix: str, arrays: dict[str, np.ndarray], level: float) -> Reliability:
    """A reliability diagram; those saved before there were bands get the band of independent instances."""
    parts = {part: arrays[prefix + part] for part in DIAGRAM_ARRAYS if prefix + part in arrays}
    if "band_low" not in parts:
        count = parts["count"].astype(np.float64)
        parts["band_low"], parts["band_high"] = band_of_counts(parts["accuracy"] * count, count, level)
    return Reliability(**parts)
