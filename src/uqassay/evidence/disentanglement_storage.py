"""A disentanglement study as plain JSON values, and in a folder with `study.json` and `arrays.npz`; nothing is pickled."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay._json import plain
from uqassay.evidence.disentanglement_measured import PARTS, Measured
from uqassay.evidence.disentanglement_rows import STUDY_TABLES
from uqassay.evidence.saved_folder import SavedKind, note_from_values, note_values, read_folder, save_folder
from uqassay.measures import Decomposition

if TYPE_CHECKING:
    from uqassay.evidence.disentanglement import DisentanglementStudy

__all__ = ["read_study", "save_study", "study_json"]

KIND = SavedKind("uqassay.disentanglement-study/1", "DisentanglementStudy.save")


def study_json(study: "DisentanglementStudy", *, level: float = 0.95) -> dict[str, Any]:
    """Curves, errors, terms and left-out classes; see `DisentanglementStudy.to_json`."""
    found: dict[str, Any] = plain(
        {
            "schema": KIND.schema,
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
    return save_folder(folder, facts, arrays, KIND)


def read_study(folder: str | Path, build: "type[DisentanglementStudy]") -> "DisentanglementStudy":
    """Read the study that `DisentanglementStudy.save` wrote; see `DisentanglementStudy.load`."""

    def assemble(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> "DisentanglementStudy":
        measured = {
            name: Measured(
                tuple(entry["conditions"]),
                arrays[f"{i}/labels"],
                arrays[f"{i}/probs"],
                {
                    key: Decomposition(*(arrays[f"{i}/{j}/{part}"] for part in PARTS))
                    for j, key in enumerate(entry["parts"])
                },
            )
            for i, (name, entry) in enumerate(facts["measured"].items())
        }
        return build(
            str(facts["method"]),
            str(facts["dataset"]),
            tuple(facts["seeds"]),
            tuple(facts["class_names"]),
            measured,
            facts["facts"],
            tuple(note_from_values(note) for note in facts["notes"]),
        )

    return read_folder(folder, assemble, KIND)
