"""Assays and studies as plain JSON values, and in folders of JSON and arrays."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail
from uqassay.errors import FileFormatError, InputError
from uqassay.evidence.align import BASELINES
from uqassay.evidence.calibration import ModelCalibration
from uqassay.evidence.findings import SUBSETS
from uqassay.evidence.mistakes import BackwardScore
from uqassay.evidence.scale import ScaledScores
from uqassay.evidence.scoring import ModelScores, SetSample, Settings
from uqassay.evidence.sets import VoteTests
from uqassay.files import draft_of
from uqassay.losses.unified import check_options, check_tradeoffs
from uqassay.metrics.reliability_diagrams import Reliability, band_of_counts
from uqassay.notes import Note, note_from_values, note_values
from uqassay.predictions.arrays_on_disk import check_expansion
from uqassay.predictions.files import read_arrays
from uqassay.predictions.points import check_draws
from uqassay.results import checked_fields, checked_value, entry_of, plain, read_json
from uqassay.statistics import Estimate, check_margin

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "SavedKind",
    "checked_array",
    "ranking_json",
    "read_assay",
    "read_folder",
    "save_assay",
    "save_folder",
    "to_json",
]


# Assays and studies in folders: plain values as JSON, arrays in `arrays.npz`; written whole or not at all, nothing
# pickled.

Thing = TypeVar("Thing")

ARRAYS = "arrays.npz"
DAMAGED = (
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)  # KeyError is told apart below


@final
@dataclass(frozen=True)
class SavedKind:
    """What a folder holds."""

    schema: str  #: Name and version, such as "uqassay.gain-study/1".
    writer: str  #: Name of the method that writes such folders, for errors.
    #: a, thing: "a" and "study", for errors; THING.json holds the plain values.
    a: str = "a"
    thing: str = "study"

    @property
    def facts(self) -> str:
        """Name of the file of plain values."""
        return f"{self.thing}.json"


def save_folder(folder: str | Path, facts: Mapping[str, Any], arrays: Mapping[str, Any], kind: SavedKind) -> Path:
    """Write values and arrays into a folder, whole or not at all; a folder with the same thing is replaced.

    Parameters
    ----------
    folder : str or Path
    facts : mapping
        Values for strict JSON, without the schema.
    arrays : mapping of str to array
        Without object arrays, which would be pickled.
    kind : SavedKind
    """
    target = Path(folder)
    if target.exists() and not (target / kind.facts).is_file():
        raise FileFormatError(
            str(target),
            f"exists and does not hold {kind.a} {kind.thing}",
            remedy="choose another folder",
            code="unwritable",
        )
    text = json.dumps(plain({"schema": kind.schema, **facts}), allow_nan=False, indent=1)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft_of(target, folder=True) as draft:
            draft.mkdir()
            with (draft / ARRAYS).open("wb") as file:
                np.savez(file, **arrays)
            (draft / kind.facts).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise FileFormatError(
            str(target),
            "cannot be written",
            str(problem.strerror or problem),
            "choose a folder below one that can be written to",
            code="unwritable",
        ) from problem
    return target


def read_folder(
    folder: str | Path, assemble: Callable[[dict[str, Any], dict[str, np.ndarray]], Thing], kind: SavedKind
) -> Thing:
    """Read what `save_folder` wrote: `assemble` makes it from the values and the arrays.

    Parameters
    ----------
    folder : str or Path
    assemble : callable
        Whatever it raises for want of a value, or of a fitting one, is reported as damage to the folder.
    kind : SavedKind
    """
    source = Path(folder)
    try:
        facts = read_json(source / kind.facts)
        found = facts.get("schema") if isinstance(facts, dict) else None
        if found != kind.schema:
            raise FileFormatError(
                str(source),
                f"holds {kind.a} {kind.thing} of another kind or version",
                f"its schema is {found!r}, this version reads {kind.schema!r}",
                f"check the path, or make the {kind.thing} again",
                code="unreadable",
            )
        arrays = read_arrays(source / ARRAYS)
    except FileFormatError as problem:
        if problem.parameter == str(source):
            raise
        reason = ": ".join(filter(None, (problem.source, problem.parameter, problem.rule)))
        raise _damaged(source, kind, f"{reason}, {problem.got}" if problem.got else reason) from problem
    except OSError as problem:
        raise _damaged(source, kind, str(problem.strerror or problem)) from problem
    try:
        return assemble(facts, arrays)
    except InputError as problem:
        if problem.code == "size":
            raise FileFormatError(
                str(source), f"{problem.parameter} {problem.rule}", problem.got, problem.remedy, code="size"
            ) from problem
        reason = f"{problem.parameter} {problem.rule}" + (f"; {problem.got}" if problem.got else "")
        raise _damaged(source, kind, reason) from problem
    except KeyError as problem:
        raise _damaged(source, kind, f"there is no entry {problem}") from problem
    except DAMAGED as problem:
        raise _damaged(source, kind, f"{type(problem).__name__} in {kind.facts} or {ARRAYS}") from problem


def checked_array(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    kinds: str,
    shape: Sequence[int | None],
    *,
    low: float | None = None,
    high: float | None = None,
    finite: bool = False,
) -> NDArray[Any]:
    """The array of a name, of one of the kinds of dtype and of a shape; numbers to compute with as int64, float64 or float32.

    Parameters
    ----------
    arrays : mapping
    name : str
    kinds : str
        Letters of `numpy.dtype.kind`.
    shape : sequence of int or None
        None: any length.
    low, high : float, optional
        Bounds of the values; nan passes unless they must be finite.
    finite : bool
    """
    if name not in arrays:
        fail(name, "is missing", "", "", code="missing")
    array = arrays[name]
    if array.dtype.kind not in kinds:
        fail(name, f"must have a dtype of kind {' or '.join(kinds)}", f"got {array.dtype}", "", code="type")
    if array.ndim != len(shape) or any(b is not None and a != b for a, b in zip(array.shape, shape, strict=True)):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        fail(name, f"must have shape ({wanted})", f"got {array.shape}", "", code="shape")
    if finite and not np.isfinite(array).all():
        fail(name, "must hold finite numbers", "", "", code="finite")
    if (low is not None and (array < low).any()) or (high is not None and (array > high).any()):
        fail(name, f"must lie between {low} and {high}", "", "", code="range")
    if set(kinds) <= {"i", "u"}:
        return array.astype(np.int64, copy=False)
    if kinds == "f" and array.dtype != np.float32:
        return array.astype(np.float64, copy=False)  # kernels take no other type, nor another order of bytes
    return array


def _damaged(source: Path, kind: SavedKind, reason: str) -> FileFormatError:
    return FileFormatError(
        str(source),
        f"must be a folder that {kind.writer} wrote",
        reason,
        f"check the path, or make the {kind.thing} again",
        code="unreadable",
    )


# An assay as plain JSON values, and in a folder with `assay.json` and `arrays.npz`; nothing is pickled.

KIND = SavedKind("uqassay.assay/5", "Assay.save", "an", "assay")
SET_ARRAYS = ("rows", "lower", "upper", "mean", "points")
SCALED_ARRAYS = tuple(ScaledScores.__dataclass_fields__)
VOTE_ARRAYS = tuple(VoteTests.__dataclass_fields__)
TEST_ARRAYS = ("null", "weights", "member_values", "member_pvalues")
TESTED = ("mixtures", "mean", "nothing")
DIAGRAMS = ("before", "after")
DIAGRAM_ARRAYS = ("edges", "count", "confidence", "accuracy", "low", "high", "band_low", "band_high")
PLAIN = "iufbUSMm"  # kinds of dtype that ids, groups and subgroups may have
FINITE = ("correct", "confidence", "label")
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
    """Write the assay into a folder, whole or not at all; what was there stays until then."""
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
            | {"columns": sorted(m.columns), "notes": [note_values(note) for note in m.notes]}
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


def _without_objects(values: np.ndarray) -> np.ndarray:
    """Python objects, such as the tuples of a MultiIndex, as text: objects could only be pickled."""
    if values.dtype.kind not in "OT":
        return values
    return np.array([str(v) for v in values.ravel()], dtype=np.str_).reshape(values.shape)


def read_assay(folder: str | Path) -> dict[str, Any]:
    """Read the fields of the assay that `Assay.save` wrote."""
    return read_folder(folder, _assemble, KIND)


def _assemble(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    labels, class_names = _labels(arrays)
    n, n_classes = len(labels), len(class_names)
    per_row = {name: checked_array(arrays, name, PLAIN, (n,)) for name in ("ids", "groups") if name in arrays}
    settings = _settings(facts, arrays, n_classes)
    models = [
        _model(i, entry, arrays, n, settings) for i, entry in enumerate(entry_of(facts, "models", tuple[Any, ...]))
    ]
    names = [m.name for m in models]
    if len(set(names)) < len(names) or [m.name for m in models if m.baseline] != list(BASELINES):
        fail("models", "must have different names, and both baselines", f"got {names!r:.80}", "", code="choice")
    held = sum(array.nbytes for array in arrays.values())
    check_expansion("settings.n_draws", (settings.n_draws, len(models)), 8, held)
    known = tuple(m.name for m in models if not m.baseline)
    if not known:
        fail("models", "needs at least one model", "got none", "", code="empty")
    subgroups, sets, scaled, votes = (
        entry_of(facts, name, tuple[str, ...]) for name in ("subgroups", "sets", "scaled", "votes")
    )
    for name, given in (("sets", sets), ("scaled", scaled), ("votes", votes)):
        if len(set(given)) < len(given) or not set(given) <= set(known):
            fail(name, "must name models", f"got {given!r:.80}", "", code="choice")
    runs = {m.name: m.n_runs for m in models}
    if len(set(subgroups)) < len(subgroups) or set(subgroups) & set(SUBSETS):
        fail("subgroups", "must have names that are free", f"got {subgroups!r:.80}", "", code="choice")
    errors = entry_of(facts, "classwise_error", dict[str, tuple[float, ...]])
    if any(len(errors.get(name, ())) != runs[name] + 1 for name in (*known, "class-prior")):
        fail("classwise_error", "needs a value of all runs and of each run", "", "", code="shape")
    return {
        "models": tuple(models),
        "labels": labels,
        "class_names": class_names,
        "ids": per_row.get("ids"),
        "groups": per_row.get("groups"),
        "subgroups": {name: checked_array(arrays, f"subgroup/{i}", PLAIN, (n,)) for i, name in enumerate(subgroups)},
        "tradeoffs": check_tradeoffs(entry_of(facts, "tradeoffs", tuple[float, ...])),
        "settings": settings,
        "sets": {name: _set_sample(f"set/{i}/", arrays, n, n_classes) for i, name in enumerate(sets)},
        "warnings": _notes(facts, "warnings"),
        "provenance": entry_of(facts, "provenance", dict[str, Any]),
        "calibration": tuple(
            _test(i, entry, arrays, settings.level, runs)
            for i, entry in enumerate(entry_of(facts, "calibration", tuple[Any, ...]))
        ),
        "classwise_error": errors,
        "scaled": {name: _scaled(f"scaled/{i}/", arrays, n, runs[name]) for i, name in enumerate(scaled)},
        "votes": {name: _votes(f"votes/{i}/", arrays, n) for i, name in enumerate(votes)},
        "backward": tuple(
            _backward(i, entry, known, settings) for i, entry in enumerate(entry_of(facts, "backward", tuple[Any, ...]))
        ),
    }


def _labels(arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, tuple[str, ...]]:
    """The labels (n,), or distributions (n, K), and the names of the classes."""
    names = tuple(checked_array(arrays, "class_names", "U", (None,)).tolist())
    if len(names) < 2 or len(set(names)) < len(names):
        fail("class_names", "must be two different names at least", f"got {names!r:.80}", "", code="range")
    if "labels" not in arrays or arrays["labels"].ndim == 1:
        labels = checked_array(arrays, "labels", "iu", (None,), low=0, high=len(names) - 1)
    else:
        labels = checked_array(arrays, "labels", "f", (None, len(names)), low=0, high=1, finite=True)
    if not len(labels):
        fail("labels", "needs at least one instance", "got none", "", code="empty")
    return labels, names


def _settings(facts: dict[str, Any], arrays: dict[str, np.ndarray], n_classes: int) -> Settings:
    held = checked_array(arrays, "focal_sets", "b", (None, n_classes)) if "focal_sets" in arrays else None
    entry = entry_of(facts, "settings", dict[str, Any])
    settings = Settings(focal_sets=held, **checked_fields(Settings, entry, "settings", without=("focal_sets",)))
    check_options(settings.distance, settings.nonspecificity, settings.convention, held, settings.floor)
    check_draws(settings.n_draws, "n_draws")
    if not (0 < settings.level < 1 and settings.seed >= 0):
        got = f"got {settings.level!r} and {settings.seed!r}"
        fail("settings", "must have a level between 0 and 1, and a seed from 0 up", got, "", code="range")
    if settings.margin is not None:
        check_margin(settings.margin, settings.level)
    return settings


def _model(i: int, entry: Any, arrays: dict[str, np.ndarray], n: int, settings: Settings) -> ModelScores:
    prefix = f"model/{i}/"
    values = checked_fields(ModelScores, entry, f"models[{i}]", without=("columns", "notes"))
    if not 0 <= values["floor"] < 1:
        fail(
            f"models[{i}].floor", "must lie in [0, 1)", f"got {values['floor']!r}", "make the assay again", code="range"
        )
    runs = checked_array(arrays, f"{prefix}distance", "f", (None, n)).shape[0]
    if not runs:
        fail(f"{prefix}distance", "needs at least one run", "got none", "", code="empty")
    names = [name.removeprefix(prefix) for name in arrays if name.startswith(prefix)]
    if sorted(names) != sorted(entry_of(entry, "columns", tuple[str, ...])):
        fail(f"models[{i}].columns", "must be those of the arrays", f"got {sorted(names)!r:.80}", "", code="missing")
    wanted = dict.fromkeys([*COLUMNS, *settings.measures, *names])
    columns = {}
    for name in wanted:
        finite = name in FINITE
        column = checked_array(arrays, f"{prefix}{name}", "f", (runs, n), finite=finite, low=-1 if finite else None)
        columns[name] = column.astype(np.float64, copy=False)
    return ModelScores(columns=columns, **values, notes=_notes(entry, "notes"))


def _notes(owner: dict[str, Any], name: str) -> tuple[Note, ...]:
    return tuple(
        note_from_values(checked_fields(Note, entry, f"{name}[{i}]"))
        for i, entry in enumerate(entry_of(owner, name, tuple[Any, ...]))
    )


def _rows(name: str, arrays: dict[str, np.ndarray], n: int) -> np.ndarray:
    """Numbers of instances."""
    return checked_array(arrays, name, "iu", (None,), low=0, high=n - 1)


def _set_sample(prefix: str, arrays: dict[str, np.ndarray], n: int, n_classes: int) -> SetSample:
    rows = _rows(f"{prefix}rows", arrays, n)
    sides = {k: checked_array(arrays, prefix + k, "f", (len(rows), n_classes)) for k in ("lower", "upper", "mean")}
    points = checked_array(arrays, f"{prefix}points", "f", (None, None, None))
    if len(points) > len(rows) or (len(points) and points.shape[2] != n_classes):
        fail(f"{prefix}points", "must be points of the rows", f"got shape {points.shape}", "", code="shape")
    return SetSample(rows=rows, points=points, **sides)


def _scaled(prefix: str, arrays: dict[str, np.ndarray], n: int, runs: int) -> ScaledScores:
    rows, scales = (
        _rows(f"{prefix}rows", arrays, n),
        checked_array(arrays, f"{prefix}scales", "f", (None,), finite=True),
    )
    if (scales == 1).sum() != 1:
        fail(f"{prefix}scales", "must hold 1 once", f"got {scales.tolist()!r:.80}", "", code="range")
    judged = _rows(f"{prefix}judged", arrays, len(rows)) if f"{prefix}judged" in arrays else np.empty(0, np.int64)
    shape = (runs, len(scales), len(rows))
    return ScaledScores(
        rows=rows,
        scales=scales,
        distance=checked_array(arrays, f"{prefix}distance", "f", shape),
        nonspecificity=checked_array(arrays, f"{prefix}nonspecificity", "f", shape),
        clipped=checked_array(arrays, f"{prefix}clipped", "f", (len(scales),)),
        order_deviations=checked_array(arrays, f"{prefix}order_deviations", "f", (len(scales), None)),
        judged=judged,
        covered=checked_array(arrays, f"{prefix}covered", "f", (*shape[:2], len(judged)))
        if f"{prefix}covered" in arrays
        else np.empty((*shape[:2], 0)),
    )


def _votes(prefix: str, arrays: dict[str, np.ndarray], n: int) -> VoteTests:
    rows = _rows(f"{prefix}rows", arrays, n)
    of_set = checked_array(arrays, f"{prefix}of_set", "b", (None,))
    return VoteTests(
        rows=rows,
        of_set=of_set if not len(of_set) else checked_array(arrays, f"{prefix}of_set", "b", (len(rows),)),
        of_mean=checked_array(arrays, f"{prefix}of_mean", "b", (len(rows),)),
        votes=checked_array(arrays, f"{prefix}votes", "f", (len(rows),), low=1, finite=True),
    )


def _test(i: int, entry: Any, arrays: dict[str, np.ndarray], level: float, runs: dict[str, int]) -> ModelCalibration:
    prefix, place = f"test/{i}/", f"calibration[{i}]"
    from_arrays = (*TEST_ARRAYS, *DIAGRAMS, "notes")
    values = checked_fields(ModelCalibration, entry, place, without=from_arrays)
    if not 0 <= values["run"] < runs.get(values["model"], 0) or values["tested"] not in TESTED:
        fail(place, "must be of a run of a model", "", "", code="choice")
    held: dict[str, Any] = {name: checked_array(arrays, prefix + name, "f", (None,)) for name in TEST_ARRAYS}
    if len({len(held[name]) for name in TEST_ARRAYS[2:]}) > 1:
        fail(place, "needs as many p-values of members as values", "", "", code="shape")
    nothing = values["tested"] == "nothing"
    absent = {"before": nothing, "after": nothing or bool(np.isnan(held["weights"]).any())}
    diagrams: dict[str, Any] = {
        key: None if absent[key] else _diagram(f"{prefix}{key}/", arrays, level) for key in DIAGRAMS
    }
    return ModelCalibration(**values, **held, **diagrams, notes=_notes(entry, "notes"))


def _diagram(prefix: str, arrays: dict[str, np.ndarray], level: float) -> Reliability:
    """A reliability diagram; those saved before there were bands get the band of independent instances."""
    count = checked_array(arrays, f"{prefix}count", "iu", (None,), low=0)
    parts = {
        part: checked_array(arrays, prefix + part, "f", (len(count) + (part == "edges"),))
        for part in DIAGRAM_ARRAYS
        if part != "count" and (prefix + part in arrays or not part.startswith("band"))
    }
    if "band_low" not in parts or "band_high" not in parts:
        shares = parts["accuracy"] * count
        parts["band_low"], parts["band_high"] = band_of_counts(shares, count.astype(np.float64), level)
    return Reliability(count=count, **parts)


def _backward(i: int, entry: Any, known: tuple[str, ...], settings: Settings) -> BackwardScore:
    place = f"backward[{i}]"
    given = checked_value(entry, dict[str, Any], place)
    estimates: dict[str, Any] = {name: _estimate(given.get(name), f"{place}.{name}") for name in ("uq_auc", "gain")}
    values = checked_fields(BackwardScore, given, place, without=tuple(estimates))
    if values["model"] not in known or values["score"] not in (*settings.measures, "nonspecificity"):
        fail(place, "must be of a score of a model", f"got {values['score']!r:.60}", "", code="choice")
    return BackwardScore(**values, **estimates)


def _estimate(entry: Any, place: str) -> Estimate:
    given = checked_value(entry, dict[str, Any], place)
    numbers = {name: entry_of(given, name, float) for name in ("estimate", "low", "high", "level")}
    n, method = entry_of(given, "n", int), entry_of(given, "method", str)
    notes = [
        checked_value(note, dict[str, str], f"{place}.notes") for note in entry_of(given, "notes", tuple[Any, ...])
    ]
    return Estimate.from_dict({**numbers, "n": n, "method": method, "notes": notes})
