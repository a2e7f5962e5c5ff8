"""A disentanglement study as plain JSON values, and in a folder with `study.json` and `arrays.npz`; nothing is pickled."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay._json import plain
from uqassay.evidence.disentanglement_measured import PARTS
from uqassay.evidence.disentanglement_rows import STUDY_TABLES
from uqassay.evidence.study_folder import note_from_values, note_values, read_study_folder, save_study_folder

if TYPE_CHECKING:
    from uqassay.evidence.disentanglement import DisentanglementStudy

__all__ = ["STUDY_SCHEMA", "read_study", "save_study", "study_json"]

STUDY_SCHEMA = "uqassay.disentanglement-study/1"


def study_json(study: "DisentanglementStudy", *, level: float = 0.95) -> dict[str, Any]:
    """Curves, errors, terms and left-out classes; see `DisentanglementStudy.to_json`."""
    found: dict[str, Any] = plain(
        {
            "schema": STUDY_SCHEMA,
            "method": study.method,
            "dataset": study.dataset,
            "seeds": study.seeds,
            "class_names": study.class_names,
            "decompositions": study.decompositions,
            **{name: study.rows(name, level=level) for name in STUDY_TABLES},
            "facts": study.facts,
            "notes": study.notes,
        }
    )
    return found


def save_study(study: "DisentanglementStudy", folder: str | Path) -> Path:
    """Write the study into a folder, whole or not at all; see `DisentanglementStudy.save`."""
    arrays: dict[str, Any] = {}
    facts = {
        **{name: getattr(study, name) for name in ("method", "dataset", "seeds", "class_names", "facts")},
        "notes": [note_values(note) for note in study.notes],
        "measured": {},
    }
    for i, (name, measured) in enumerate(study.measured.items()):
        facts["measured"][name] = {"conditions": measured.conditions, "parts": list(measured.parts)}
        arrays |= {f"{i}/labels": measured.labels, f"{i}/probs": measured.probs}
        for j, found in enumerate(measured.parts.values()):
            arrays |= {f"{i}/{j}/{part}": getattr(found, part) for part in PARTS}
    return save_study_folder(folder, facts, arrays, schema=STUDY_SCHEMA)


def read_study(folder: str | Path) -> dict[str, Any]:
    """Read the fields of the study that `DisentanglementStudy.save` wrote; the experiments as dicts of arrays.

    Raises
    ------
    FileFormatError
        A folder that holds no study, one of another version, or a damaged one.
    """
    return read_study_folder(folder, _assemble, schema=STUDY_SCHEMA, writer="DisentanglementStudy.save")


def _assemble(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    measured = {}
    for i, (name, entry) in enumerate(facts["measured"].items()):
        measured[name] = {
            "conditions": entry["conditions"],
            "labels": arrays[f"{i}/labels"],
            "probs": arrays[f"{i}/probs"],
            "parts": {key: [arrays[f"{i}/{j}/{part}"] for part in PARTS] for j, key in enumerate(entry["parts"])},
        }
    return {
        "method": str(facts["method"]),
        "dataset": str(facts["dataset"]),
        "seeds": tuple(facts["seeds"]),
        "class_names": tuple(facts["class_names"]),
        "measured": measured,
        "facts": facts["facts"],
        "notes": tuple(note_from_values(note) for note in facts["notes"]),
    }
