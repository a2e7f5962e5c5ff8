"""A disentanglement study as plain JSON values, and in a folder with `study.json` and `arrays.npz`; nothing is pickled."""

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay._files import draft_of
from uqassay._json import plain
from uqassay.errors import FileFormatError
from uqassay.evidence.disentanglement_measured import PARTS
from uqassay.evidence.disentanglement_rows import STUDY_TABLES
from uqassay.notes import Note

if TYPE_CHECKING:
    from uqassay.evidence.disentanglement import DisentanglementStudy

__all__ = ["STUDY_SCHEMA", "read_study", "save_study", "study_json"]

STUDY_SCHEMA = "uqassay.disentanglement-study/1"
FACTS, ARRAYS = "study.json", "arrays.npz"
DAMAGED = (KeyError, TypeError, ValueError, AttributeError, EOFError, zipfile.BadZipFile)


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
    target = Path(folder)
    if target.exists() and not (target / FACTS).is_file():
        raise FileFormatError(
            str(target), "exists and does not hold a study", remedy="choose another folder", code="unwritable"
        )
    arrays: dict[str, Any] = {}
    facts = {
        "schema": STUDY_SCHEMA,
        **{name: getattr(study, name) for name in ("method", "dataset", "seeds", "class_names", "facts")},
        "notes": [{**note.to_dict(), "facts": note.facts} for note in study.notes],
        "measured": {},
    }
    for i, (name, measured) in enumerate(study.measured.items()):
        facts["measured"][name] = {"conditions": measured.conditions, "parts": list(measured.parts)}
        arrays |= {f"{i}/labels": measured.labels, f"{i}/probs": measured.probs}
        for j, found in enumerate(measured.parts.values()):
            arrays |= {f"{i}/{j}/{part}": getattr(found, part) for part in PARTS}
    text = json.dumps(plain(facts), allow_nan=False, indent=1)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft_of(target, folder=True) as draft:
            draft.mkdir()
            with (draft / ARRAYS).open("wb") as file:
                np.savez(file, **arrays)
            (draft / FACTS).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise FileFormatError(
            str(target),
            "cannot be written",
            str(problem.strerror or problem),
            "choose a folder below one that can be written to",
            code="unwritable",
        ) from problem
    return target


def read_study(folder: str | Path) -> dict[str, Any]:
    """Read the fields of the study that `DisentanglementStudy.save` wrote; the experiments as dicts of arrays.

    Raises
    ------
    FileFormatError
        A folder that holds no study, one of another version, or a damaged one.
    """
    source = Path(folder)
    try:
        facts = json.loads((source / FACTS).read_text(encoding="utf-8"))
        schema = facts.get("schema")
        if schema != STUDY_SCHEMA:
            raise FileFormatError(
                str(source),
                "was saved by another version of uqassay",
                f"its schema is {schema!r}, this version reads {STUDY_SCHEMA!r}",
                "make the study again",
                code="unreadable",
            )
        with (source / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return _assemble(facts, dict(archive))
    except FileFormatError:
        raise
    except OSError as problem:
        raise _damaged(source, str(problem.strerror or problem)) from problem
    except DAMAGED as problem:
        raise _damaged(source, f"{type(problem).__name__} in {FACTS} or {ARRAYS}") from problem


def _damaged(source: Path, reason: str) -> FileFormatError:
    return FileFormatError(
        str(source),
        "must be a folder that DisentanglementStudy.save wrote",
        reason,
        "check the path, or make the study again",
        code="unreadable",
    )


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
        "notes": tuple(Note(note["code"], note["text"], note["facts"]) for note in facts["notes"]),
    }
