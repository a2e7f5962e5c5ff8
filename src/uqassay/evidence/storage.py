"""An assay as plain JSON values, and in a folder: `assay.json` beside `arrays.npz`, nothing pickled."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from uqassay._files import draft_of
from uqassay.errors import FileFormatError
from uqassay.evidence.calibration_tests import ModelCalibration
from uqassay.evidence.result import Assay
from uqassay.evidence.scoring import ModelScores, SetSample, Settings
from uqassay.metrics.calibration.reliability import Reliability

__all__ = ["SCHEMA", "load", "plain", "ranking_json", "save", "to_json"]

SCHEMA = "uqassay.assay/3"
SET_ARRAYS = ("rows", "lower", "upper", "mean", "points")
TEST_ARRAYS = ("null", "weights", "member_values", "member_pvalues")
TEST_NUMBERS = (*("statistic", "pvalue", "mean_value", "mean_pvalue", "accuracy_mean", "accuracy_weighted", "width"),)
DIAGRAMS = ("before", "after")
DIAGRAM_ARRAYS = ("edges", "count", "confidence", "accuracy", "low", "high")
COLUMNS = ("distance", "nonspecificity", "correct", "confidence", "label", "log-loss", "brier", "gap", "upper-label")


def plain(value: Any) -> Any:
    """Values that a strict JSON writer takes: nan becomes None, infinities the text "Infinity" or "-Infinity"."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if np.isnan(number):
            return None
        return number if np.isfinite(number) else ("Infinity" if number > 0 else "-Infinity")
    return value


def to_json(assay: Assay, tradeoffs: Sequence[float] | None = None) -> dict[str, Any]:
    """Findings, rankings at each λ, breakpoints, settings; everything but the scores of single instances."""
    return plain(
        {
            "schema": SCHEMA,
            "verdict": assay.verdict(),
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
            "findings": assay.finding_rows(),
            "calibration": calibration_json(assay),
            **ranking_json(assay, assay.tradeoffs if tradeoffs is None else tradeoffs),
            "settings": asdict(assay.settings),
            "warnings": assay.warnings,
            "provenance": assay.provenance,
        }
    )


def ranking_json(assay: Assay, tradeoffs: Sequence[float]) -> dict[str, Any]:
    """Rankings at each λ and the breakpoints, as `uqassay rank --json` prints them."""
    rankings = [{"tradeoff": float(t), "ranking": [r.to_dict() for r in assay.ranked(t)]} for t in tradeoffs]
    breakpoints = [{"low": low, "high": high, "models": names} for low, high, names in assay.winners()]
    return plain({"tradeoff": rankings, "breakpoints": breakpoints})


def calibration_json(assay: Assay) -> list[dict[str, Any]]:
    """The calibration tests with their weights, members and reliability diagrams; the null draws are kept by `save`."""
    return [
        row
        | {name: getattr(test, name) for name in ("null_kind", *TEST_ARRAYS) if name != "null"}
        | {name: getattr(test, name) and vars(getattr(test, name)) for name in DIAGRAMS}
        for row, test in zip(assay.calibration_rows(), assay.calibration, strict=True)
    ]


def save(assay: Assay, folder: str | Path) -> Path:
    """Write the assay into a folder, whole or not at all; what was there stays until then.

    Raises
    ------
    FileFormatError
        A path that holds something else than an assay, or cannot be written.
    """
    target = Path(folder)
    if target.exists() and not (target / "assay.json").is_file():
        raise FileFormatError(
            str(target), "exists and does not hold an assay", "", "choose another folder", code="unwritable"
        )
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
    for i, test in enumerate(assay.calibration):
        for key in TEST_ARRAYS:
            arrays[f"test/{i}/{key}"] = getattr(test, key)
        for key in DIAGRAMS:
            if (diagram := getattr(test, key)) is not None:
                arrays |= {f"test/{i}/{key}/{part}": getattr(diagram, part) for part in DIAGRAM_ARRAYS}
    facts = {
        "schema": SCHEMA,
        "models": [
            {k: getattr(m, k) for k in ModelScores.__dataclass_fields__ if k != "columns"} for m in assay.models
        ],
        "subgroups": list(assay.subgroups),
        "sets": list(assay.sets),
        "tradeoffs": assay.tradeoffs,
        "settings": {k: v for k, v in asdict(assay.settings).items() if k != "focal_sets"},
        "warnings": assay.warnings,
        "provenance": assay.provenance,
        "calibration": [
            {k: getattr(t, k) for k in ModelCalibration.__dataclass_fields__ if k not in (*TEST_ARRAYS, *DIAGRAMS)}
            for t in assay.calibration
        ],
        "classwise_error": assay.classwise_error,
    }
    text = json.dumps(plain(facts), allow_nan=False, indent=1)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft_of(target, folder=True) as draft:
            draft.mkdir()
            with (draft / "arrays.npz").open("wb") as file:
                np.savez(file, **{key: _without_objects(values) for key, values in arrays.items()})  # type: ignore[arg-type]
            (draft / "assay.json").write_text(text, encoding="utf-8")
    except OSError as problem:
        raise FileFormatError(
            str(target),
            f"cannot be written ({problem.strerror or problem})",
            "",
            "choose a folder below one that can be written to",
            code="unwritable",
        ) from problem
    return target


def _without_objects(values: np.ndarray) -> np.ndarray:
    """Python objects, such as the tuples of a MultiIndex, as text: objects could only be pickled."""
    if values.dtype.kind not in "OT":
        return values
    return np.array([str(v) for v in values.ravel()], dtype=np.str_).reshape(values.shape)


def load(folder: str | Path) -> Assay:
    """Read what `save` wrote.

    Raises
    ------
    FileFormatError
        A folder that holds no assay, one of another version, or a damaged or incomplete one.
    """
    source = Path(folder)
    try:
        facts = json.loads((source / "assay.json").read_text(encoding="utf-8"))
        schema = facts.get("schema") if isinstance(facts, dict) else None
        if schema != SCHEMA:
            raise FileFormatError(
                str(source),
                f"holds schema {schema!r}, this version reads {SCHEMA!r}",
                "",
                "make the assay again",
                code="undefined",
            )
        with (source / "arrays.npz").open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        return _assemble(facts, arrays)
    except (FileFormatError, MemoryError):
        raise
    except KeyError as problem:
        reason = f"no entry {problem}"
        cause: Exception = problem
    except Exception as problem:  # whatever a damaged file makes its reader raise
        reason = str(problem).strip().partition("\n")[0].split(". ")[0].rstrip(".")
        reason = reason if " " in reason else f"{type(problem).__name__} {reason}".strip()
        cause = problem
    raise FileFormatError(
        str(source),
        f"is not a folder that Assay.save wrote ({reason})",
        "",
        "check the path or make the assay again",
        code="undefined",
    ) from cause


def _assemble(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> Assay:
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
        numbers = {key: _number(entry[key]) for key in ("nonspecificity_error", "floor", "gap")}
        models.append(ModelScores(columns=columns, **{**entry, **numbers, "notes": tuple(entry["notes"])}))
    if not models:
        raise ValueError("no models in it")
    return Assay(
        models=tuple(models),
        labels=arrays["labels"],
        class_names=tuple(arrays["class_names"].tolist()),
        ids=arrays.get("ids"),
        groups=arrays.get("groups"),
        subgroups={name: arrays[f"subgroup/{i}"] for i, name in enumerate(facts["subgroups"])},
        tradeoffs=tuple(facts["tradeoffs"]),
        settings=settings,
        sets={
            name: SetSample(**{k: arrays[f"set/{i}/{k}"] for k in SET_ARRAYS}) for i, name in enumerate(facts["sets"])
        },
        warnings=tuple(facts["warnings"]),
        provenance=facts["provenance"],
        calibration=tuple(_test(i, entry, arrays) for i, entry in enumerate(facts["calibration"])),
        classwise_error={name: tuple(values) for name, values in facts["classwise_error"].items()},
    )


def _test(i: int, entry: dict[str, Any], arrays: dict[str, np.ndarray]) -> ModelCalibration:
    prefix = f"test/{i}/"
    nothing = entry["tested"] == "nothing"
    absent = {"before": nothing, "after": nothing or bool(np.isnan(arrays[f"{prefix}weights"]).any())}
    diagrams: dict[str, Any] = {
        key: None if absent[key] else Reliability(**{part: arrays[f"{prefix}{key}/{part}"] for part in DIAGRAM_ARRAYS})
        for key in DIAGRAMS
    }
    numbers = {key: _number(entry[key]) for key in TEST_NUMBERS}
    return ModelCalibration(**{**entry, **numbers, **{k: arrays[prefix + k] for k in TEST_ARRAYS}, **diagrams})


def _number(value: Any) -> float:
    """A number as `plain` wrote it."""
    return float("nan" if value is None else value)
