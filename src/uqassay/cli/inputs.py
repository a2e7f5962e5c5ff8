"""What the commands are given: from the words of a command line to files, arrays and options."""

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from uqassay.arrays import available_cores, row_chunks, tolerance_of
from uqassay.checks import fail
from uqassay.cli.errors import about_files
from uqassay.cli.screen import shell_line, unicode_text
from uqassay.credal.distances import DISTANCES
from uqassay.errors import FileFormatError, InputError
from uqassay.evidence import CALIBRATION, TRADEOFFS, Assay, assay
from uqassay.files import plain_target
from uqassay.measures.nonspecificities import NONSPECIFICITIES
from uqassay.native import share_on_threads
from uqassay.notes import Note
from uqassay.predictions import Answers, FromFile, Members, Prediction
from uqassay.predictions.base import checked_class_names
from uqassay.predictions.dask import file_on_dask, has_rows
from uqassay.predictions.files import inspect_file, load, load_answers, load_column, load_labels
from uqassay.statistics import check_margin
from uqassay.text import count, listed, listed_names

__all__ = [
    "COLUMN",
    "HOLDS",
    "INPUT",
    "NORMALISED",
    "OF_ANSWERS",
    "OUTPUT",
    "READING_OPTIONS",
    "REQUEST_OPTIONS",
    "SURE",
    "AssayRequest",
    "CommonInstances",
    "FailIf",
    "Groups",
    "Json",
    "Labels",
    "Loaded",
    "Markdown",
    "Models",
    "OnIntervals",
    "Reading",
    "Seed",
    "check_apart",
    "check_page",
    "check_save",
    "check_text",
    "class_texts",
    "file_and_column",
    "label_to_ignore",
    "labels_of",
    "load_kept",
    "load_models",
    "load_normalised",
    "load_request",
    "make_assay",
    "member_axes",
    "model_files",
    "named_file",
    "normalised_sentences",
    "only_common_instances",
    "option",
    "parse_tradeoffs",
    "read_class_names",
    "read_groups",
    "read_labels",
    "takes_reading",
    "takes_request",
    "values_of_instances",
    "without_ignored",
]


# What the commands are given: from the words of a command line to files, predictions, labels and an assay.
#
# In this order:
#
# 1. `Reading` and `AssayRequest`: the options as they were typed. 2. `make_assay` and `load_request`: all steps, for
# the commands that judge models. 3. Predictions: `load_models`, with the notes of `--normalise`, and the rows of
# `--common-instances`. 4. Labels and other values of instances, which keep the ids and class names of their files:
# `assay` puts them into one order. 5. `load_kept`: an assay that was kept, in place of all this. 6. What words stand
# for: `NAME=FILE`, `FILE:COLUMN`, axes, λ, class names.

NORMALISED = "normalised"  # code of the note
HOLDS = "assay.json"
_NORMALISABLE = ("point", "members", "vertices")
_OF_SHOWING = ("models", "tradeoff", "margin")  # fields that mean something for an assay that is there already
_COLUMN_FORMATS = (".npy", ".npz", ".csv", ".tsv", ".parquet")
_MOST_BYTES = 2**20  # of a text file: thousands of names


@dataclass(frozen=True)
class Reading:
    """How prediction files are read, as it was typed."""

    member_axis: Sequence[str] = ()  #: ``AXIS`` for all models, or ``NAME=AXIS``; empty: 1.
    #: normalise, variance_is, kind, id, positive: As in `load`.
    normalise: bool = False
    variance_is: str | None = None
    kind: str | None = None
    columns: str | None = None  #: Columns of the classes, with commas between them.
    id: str | None = None
    positive: str | None = None
    #: correct_column, confidence_column, missing_confidence: Of answers that are right or wrong, see `load`.
    correct_column: str | None = None
    confidence_column: str | None = None
    missing_confidence: float | None = None
    model_column: str | None = None  #: Column that names the model, where one file has the answers of several.
    class_names: str | None = None  #: Names with commas between them, or a file.
    ignore_label: str | None = None  #: Label of instances that are left out.
    votes_are: str | None = None  #: "counts" or "single", what a table of whole numbers as labels or votes holds.

    def names(self) -> tuple[str, ...] | None:
        """The class names that are stated."""
        return None if self.class_names is None else read_class_names(self.class_names)

    def of_tables(self) -> dict[str, Any]:
        """Options of `load` about the columns of tables."""
        columns = None if self.columns is None else [name.strip() for name in self.columns.split(",")]
        given: dict[str, Any] = {"columns": columns, "id": self.id, "positive": self.positive}
        given |= {
            "correct": self.correct_column,
            "confidence": self.confidence_column,
            "missing": self.missing_confidence,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class AssayRequest:
    """Everything from which `report` and `rank` make an assay, as it was typed."""

    models: list[str]  #: ``NAME=FILE``, ``NAME=FILE,FILE`` or ``FILE``; or one folder with a kept assay.
    #: labels, groups, weights, focal_sets: The first three may be ``FILE:COLUMN``.
    labels: Path | None = None
    groups: Path | None = None
    weights: Path | None = None
    subgroup: Sequence[str] = ()  #: ``NAME=FILE`` or ``NAME=FILE:COLUMN``.
    reading: Reading = field(default_factory=Reading)
    tradeoff: Sequence[str] = ()  #: Numbers, or several with commas between them; empty: those of `assay`.
    #: convention, distance, nonspecificity, floor, repair, common_members, level, margin, draws, seed: As in `assay`.
    convention: str = "exact"
    distance: str = "kl"
    nonspecificity: str = "hartley"
    focal_sets: Path | None = None
    floor: float | None = None
    repair: bool = False
    common_members: int | None = None
    score: Sequence[str] = ()  #: Uncertainty scores; empty: those of `assay`.
    calibration: Sequence[str] = ()  #: Measures, or "none" alone; empty: those of `assay`.
    level: float = 0.95
    margin: float | None = None
    critical: str | None = None  #: Name of the class that matters.
    draws: int = 2000
    seed: int = 0
    cluster: str | None = None  #: Address of a Dask scheduler whose workers score the instances.
    common_instances: bool = False  #: Judge the instances that every prediction file has.

    def inputs(self) -> list[Path]:
        """Every file that is read."""
        files = [path for paths in model_files(self.models).values() for path in paths]
        of_instances = (self.labels, self.groups, self.weights, self.focal_sets)
        given = [file_and_column(path)[0] for path in of_instances if path is not None]
        names = self.reading.class_names
        of_names = [] if names is None or not Path(names).is_file() else [Path(names)]
        return [*files, *given, *of_names, *(file_and_column(path)[0] for path in self.subgroup_files().values())]

    def subgroup_files(self) -> dict[str, Path]:
        """The file of each subgroup."""
        return {name: Path(file) for name, file in (named_file(text, "--subgroup") for text in self.subgroup)}

    def tradeoffs(self) -> tuple[float, ...]:
        """The λ asked for, or those of `assay`."""
        return parse_tradeoffs(self.tradeoff) or TRADEOFFS

    def shown_tradeoffs(self) -> tuple[float, ...] | None:
        """λ of the rankings to show, in their order, also of an assay that was kept with others; None if none is asked for."""
        return tuple(sorted(set(parse_tradeoffs(self.tradeoff)))) or None

    def calibrations(self) -> tuple[str, ...]:
        """The measures to test calibration by: those asked for, or those of `assay`."""
        return () if list(self.calibration) == ["none"] else tuple(self.calibration) or CALIBRATION


@dataclass(frozen=True, eq=False)
class Loaded:
    """Predictions, labels and groups that were read from the files."""

    runs: dict[str, list[Prediction]]  #: The training runs of each model.
    #: labels, groups: (n,); no labels of answers, which hold what was right
    labels: FromFile | None
    groups: FromFile | None
    class_names: tuple[str, ...] | None  #: Those that were given as an option.
    ignore_label: int | str | None
    files: dict[str, Path | None]  #: The files of the arguments `y_true` and `groups`.


def make_assay(
    request: AssayRequest,
    *,
    progress: Callable[[str], None] | None = None,
    meanwhile: Callable[[Assay], object] | None = None,
) -> Assay:
    """Read the files, check that the labels agree, and judge the models; a kept assay is read as it is.

    Parameters
    ----------
    request : AssayRequest
    progress : callable, optional
        Called with the name of what is being done.
    meanwhile : callable, optional
        Called with the assay on another thread while the tests are made, which are ended by Ctrl-C on this one.

    Returns
    -------
    Assay
    """
    say = progress or (lambda step: None)
    tradeoffs = request.tradeoffs()
    if (kept := load_kept(request)) is not None:
        return kept
    if request.convention not in ("exact", "paper"):
        fail(
            "--convention",
            "must be exact or paper",
            f"got {request.convention!r}",
            "exact is the default",
            code="choice",
        )
    subgroups = request.subgroup_files()
    loaded = load_request(request, say, answers=True)
    in_assay = {name: f"subgroups[{name!r}]" for name in subgroups}
    weights = None if request.weights is None else values_of_instances(request.weights, WEIGHTS, id=request.reading.id)
    weighted_by = None if request.weights is None else file_and_column(request.weights)[0]
    files = loaded.files | {"focal_sets": request.focal_sets, "sample_weight": weighted_by}
    files |= {in_assay[name]: subgroups[name] for name in subgroups}
    shown = {"y_true": "", "sample_weight": "weights"} | {in_assay[name]: f"subgroup {name!r}" for name in subgroups}
    with about_files(files, shown):
        judged = assay(
            loaded.runs,
            loaded.labels,
            tradeoffs=tradeoffs,
            distance=request.distance,
            nonspecificity=request.nonspecificity,
            convention=request.convention,  # type: ignore[arg-type]
            focal_sets=None
            if request.focal_sets is None
            else np.asarray(load_column(request.focal_sets, ["focal_sets"])),
            floor=request.floor,
            measures=list(dict.fromkeys(request.score)) or None,
            calibration=request.calibrations(),
            groups=loaded.groups,
            sample_weight=weights,
            subgroups={
                name: values_of_instances(path, (name,), id=request.reading.id) for name, path in subgroups.items()
            },
            class_names=loaded.class_names,
            ignore_label=loaded.ignore_label,
            repair=request.repair,
            common_members=request.common_members,
            votes_are=request.reading.votes_are,  # type: ignore[arg-type]
            level=request.level,
            margin=request.margin,
            critical=request.critical,
            n_draws=request.draws,
            rng=request.seed,
            progress=say,
            client=request.cluster,
        )
        with ThreadPoolExecutor(1) as pool:
            done = None if meanwhile is None else pool.submit(meanwhile, judged)
            judged.tests()  # here, where errors name the files
        if done is not None:
            done.result()
    return judged


def load_request(request: AssayRequest, say: Callable[[str], None], *, answers: bool = False) -> Loaded:
    """Read predictions, labels and groups; of answers, which have no labels, for commands that take them."""
    files, reading = model_files(request.models), request.reading
    names = reading.names()
    given = None if request.labels is None else read_labels(request.labels, reading)
    if reading.model_column is not None:
        runs, facts = answers_by_model(files, reading), dict[Path, dict[str, Any]]()
    else:
        runs, facts = load_models(
            files, reading, like=class_texts(names, given), say=say, by_workers=request.cluster is not None
        )
    if request.common_instances:
        runs = only_common_instances(files, runs)
    groups = read_groups(request.groups, reading)
    grouped_by = None if request.groups is None else file_and_column(request.groups)[0]
    if all(isinstance(run, Answers) for of_model in runs.values() for run in of_model):
        if not answers:
            rule, remedy = "must state probabilities of classes", "judge answers by uqassay report, rank or refuse"
            fail("models", rule, "got answers that are right or wrong", remedy, code="undefined")
        if given is not None:
            remedy = "leave it out: the files hold what was right"
            fail("--labels", "has no meaning for answers", f"got {request.labels}", remedy, code="conflict")
        return Loaded(runs, None, groups, names, reading.ignore_label, {"y_true": None, "groups": grouped_by})
    found = labels_of(request.labels, given, reading, facts, runs)
    if found is None:
        fail("--labels", "none of the prediction files holds labels", "", "give them by --labels FILE", code="missing")
    labels, source = found
    return Loaded(
        runs, labels, groups, names, label_to_ignore(reading, labels), {"y_true": source, "groups": grouped_by}
    )


def without_ignored(loaded: Loaded) -> Loaded:
    """The same without the instances whose label is to be ignored."""
    from uqassay.evidence.align import without_label

    if loaded.ignore_label is None or loaded.labels is None:
        return loaded
    with about_files(loaded.files, {"y_true": ""}):
        kept = without_label(
            loaded.ignore_label, loaded.runs, loaded.labels, class_names=loaded.class_names, groups=loaded.groups
        )
    groups = None if kept.groups is None else FromFile(kept.groups)
    return replace(loaded, runs=kept.predictions, labels=kept.y_true, groups=groups, ignore_label=None)


# -- predictions ------------------------------------------------------------------------------------------------------


def load_models(
    files: Mapping[str, Sequence[Path]],
    reading: Reading,
    *,
    say: Callable[[str], None],
    like: Sequence[str] = (),
    by_workers: bool = False,
) -> tuple[dict[str, list[Prediction]], dict[Path, dict[str, Any]]]:
    """Every run of every model, and what `inspect_file` says of its file.

    `like` are names among the labels. `by_workers`: files of which rows can be read are left to the workers of a cluster,
    unless they have to be changed first. `normalise` and `variance_is` apply to the files that they have a meaning for; they
    are refused where there are none.
    """
    axes, table = member_axes(reading.member_axis, files), reading.of_tables()
    of_path = {path: name for name, paths in files.items() for path in paths}
    facts = {
        path: inspect_file(path, kind=reading.kind, member_axis=axes[name], like=like, **table)
        for path, name in of_path.items()
    }
    # the other kinds, such as Dirichlet concentrations, cannot be normalised, and need not be
    applicable = [path for path, fact in facts.items() if fact["kind"] in _NORMALISABLE] or list(facts)
    gaussian = _without_meaning(facts)

    def one(path: Path, axis: int, *, progress: Callable[[str], None]) -> Any:
        progress(f"reading {path.name}")
        read = load_normalised if reading.normalise and path in applicable else load
        meaning = reading.variance_is if path in gaussian else None
        plain = read is load and axis == 1 and reading.kind is None
        if by_workers and plain and facts[path]["problem"] is None and has_rows(path):
            return file_on_dask(path, variance_is=meaning)
        return read(path, kind=reading.kind, member_axis=axis, variance_is=meaning, like=like, **table)

    calls = [(path, axes[name]) for name, paths in files.items() for path in paths]
    found = iter(share_on_threads(one, calls, threads=available_cores(), progress=say))
    return {name: [next(found) for _ in paths] for name, paths in files.items()}, facts


def answers_by_model(files: Mapping[str, Sequence[Path]], reading: Reading) -> dict[str, list[Prediction]]:
    """The answers of the models in these files, whose rows a column divides; files of the same model are its runs."""
    table = reading.of_tables()
    unfit = next((name for name in ("columns", "positive") if name in table), None)
    if unfit is not None:
        fail(f"--{unfit}", "has no meaning with --model-column", f"got {table[unfit]}", "leave it out", code="conflict")
    runs: dict[str, list[Prediction]] = {}
    for path in (path for paths in files.values() for path in paths):
        for name, answers in load_answers(path, model_column=reading.model_column or "model", **table).items():
            runs.setdefault(name, []).append(answers)
    return runs


def load_normalised(path: Path, **options: Any) -> Prediction:
    """Read a prediction, divide its rows by their sums, and note how many instances that changed.

    Sums within the tolerance of the precision, which every prediction may miss, count as 1.

    Parameters
    ----------
    path : Path
    **options
        As in `load`.
    """
    prediction = load(path, normalise=True, **options)
    table = {name: value for name, value in options.items() if name in ("columns", "id", "positive", "like")}
    values: NDArray[Any] = np.asarray(load_column(path, ["probs", "vertices"], normalise=True, **table))
    if isinstance(prediction, Members) and values.ndim == 3:
        values = np.moveaxis(values, options.get("member_axis", 1), 1)
    tolerance = tolerance_of(values)
    changed = 0
    for rows in row_chunks(len(values), values[:1].nbytes):
        off = np.abs(values[rows].sum(axis=-1, dtype=np.float64) - 1.0) > tolerance
        changed += int(off.reshape(len(off), -1).any(axis=1).sum())
    if not changed:
        return prediction
    text = f"in {count(changed)} of {count(len(values))} rows the probabilities were divided by their sums"
    note = Note(NORMALISED, text, {"rows": changed, "instances": len(values)})
    return replace(prediction, notes=(*prediction.notes, note))


def normalised_sentences(runs: Mapping[str, Sequence[Prediction]]) -> Iterator[str]:
    """A warning for each run whose rows were changed, by the name of its model."""
    for name, predictions in runs.items():
        for prediction in predictions:
            for note in prediction.notes:
                if note.code == NORMALISED:
                    yield f"Warning: {name}: {note.text}."


def only_common_instances(
    files: Mapping[str, Sequence[Path]], runs: Mapping[str, Sequence[Prediction]]
) -> dict[str, list[Prediction]]:
    """The rows of the instances that every run has, in the order of the first run.

    A run that lacks instances of the others gets a note.

    Parameters
    ----------
    files : mapping of str to sequence of Path
        The file of each run.
    runs : mapping of str to sequence of Prediction
    """
    ids = [_ids(path, run) for name in files for path, run in zip(files[name], runs[name], strict=True)]
    every, common = set().union(*ids), set(ids[0]).intersection(*ids[1:])
    if not common:
        fail(
            "--common-instances",
            "the prediction files must have ids in common",
            "they have none",
            "check that all files are about the same test set",
            code="mismatch",
        )
    order = [key for key in ids[0] if key in common]
    return {name: [_rows(run, order, len(every)) for run in of_model] for name, of_model in runs.items()}


def _without_meaning(facts: Mapping[Path, Mapping[str, Any]]) -> list[Path]:
    """Files of Gaussian logits that do not state what the variance is; else all of that kind; else all files."""
    absent = [path for path, fact in facts.items() if (fact["problem"] or {}).get("parameter") == "variance_is"]
    return absent or [path for path, fact in facts.items() if fact["kind"] == "gaussian-logits"] or list(facts)


def _ids(path: Path, run: Prediction) -> list[object]:
    if run.ids is None:
        fail(
            "--common-instances",
            "needs the ids of the instances in every prediction file",
            f"{path.name} has none",
            "put ids into it, name the column that holds them by --id, or leave the option out",
            code="ids",
        )
    return list(run.ids.tolist())


def _rows(run: Prediction, order: Sequence[object], n_every: int) -> Prediction:
    assert run.ids is not None  # of `_ids`
    if run.n_instances == n_every == len(order):
        return run
    place = {key: row for row, key in enumerate(run.ids.tolist())}
    rows = run[[place[key] for key in order]]
    if run.n_instances == n_every:
        return rows
    text = (
        f"has {count(run.n_instances)} of {count(n_every)} cases; the {count(len(order))} that every model has are judged, "
        "so a model that leaves out hard ones looks better than it is"
    )
    facts = {"instances": run.n_instances, "every": n_every, "common": len(order)}
    return replace(rows, notes=(*rows.notes, Note("instances-missing", text, facts)))


# -- labels and other values of instances -----------------------------------------------------------------------------


def read_labels(path: Path, reading: Reading) -> FromFile:
    """Labels from a file, or from ``FILE:COLUMN``, with the ids and class names that stand beside them."""
    path, column = file_and_column(path)
    return load_labels(path, column, id=reading.id, positive=reading.positive, ignore_label=reading.ignore_label)


def labels_of(
    path: Path | None,
    given: FromFile | None,
    reading: Reading,
    facts: Mapping[Path, Mapping[str, Any]],
    runs: Mapping[str, Sequence[Prediction]],
) -> tuple[FromFile, Path] | None:
    """The labels that are given, or the first that a prediction file holds, and their file; None if there are none."""
    inside = {file: read_labels(file, reading) for file, fact in facts.items() if fact["labels"]}
    if given is None and not inside:
        return None
    source = next(iter(inside)) if path is None or given is None else file_and_column(path)[0]
    labels = inside[source] if given is None else given
    _check_agreement(labels, source, str(path or source), inside, runs, reading)
    return labels, source


def read_groups(path: Path | None, reading: Reading) -> FromFile | None:
    """The group of each instance, from a file or from ``FILE:COLUMN``; None if no file is given."""
    return None if path is None else values_of_instances(path, ("groups", "group"), id=reading.id)


def values_of_instances(path: Path, keys: Sequence[str], *, id: str | None = None) -> FromFile:
    """One value for each instance, such as its group, from a file or from ``FILE:COLUMN``, with their ids."""
    path, column = file_and_column(path)
    values = load_column(path, keys if column is None else (column,), id=id)
    _check_complete(np.asarray(values), keys[0], path)
    return values


def class_texts(names: Sequence[str] | None, labels: FromFile | None) -> tuple[str, ...]:
    """Names that are known to be classes: those stated, else those of the labels."""
    if names is not None or labels is None:
        return tuple(names or ())
    if labels.class_names is not None:
        return labels.class_names
    return tuple(np.unique(np.asarray(labels)).tolist()) if labels.dtype.kind == "U" and labels.ndim == 1 else ()


def _check_agreement(
    labels: FromFile,
    source: Path,
    typed: str,
    inside: Mapping[Path, FromFile],
    runs: Mapping[str, Sequence[Prediction]],
    reading: Reading,
) -> None:
    """Labels inside a prediction file must be those that are used, instance by instance and class by class."""
    others = {path: values for path, values in inside.items() if path != source and values.ndim == labels.ndim}
    if not others or any(not isinstance(run, Prediction) for of_model in runs.values() for run in of_model):
        return  # votes cannot contradict a label, nor a label votes; workers of a cluster have the predictions
    from uqassay.evidence.align import align_models, checked_labels

    found = align_models(runs, class_names=reading.names())
    with about_files({"y_true": source}, {"y_true": ""}):
        chosen = checked_labels(labels, found, ignore_label=label_to_ignore(reading, labels))
    for path, values in others.items():
        with about_files({"y_true": path}, {"y_true": "the labels inside"}):
            held = checked_labels(values, found, ignore_label=label_to_ignore(reading, values))
        differs = held != chosen if held.ndim == 1 else (held != chosen).any(axis=1)
        if differs.any():
            row = int(np.flatnonzero(differs)[0])
            again = shell_line(["uqassay", "convert", str(path), f"NEW{path.suffix}", "--labels", typed])
            fail(
                "labels",
                f"those inside {path.name} differ from {source.name} in {int(differs.sum())} of {len(differs)} rows",
                f"row {row} is class {held[row].tolist()} in {path.name} and {chosen[row].tolist()} in {source.name}",
                f"give ids to both if their rows are in different orders; if {source.name} is right, write the other again by "
                f"{again}",
                code="mismatch",
            )


def _check_complete(values: NDArray[Any], key: str, path: Path) -> None:
    """Refuse nan and empty text: as a value they would make one group of instances that have nothing in common."""
    if values.ndim != 1:
        return  # the error will be about the shape
    if values.dtype.kind == "f":
        absent = np.isnan(values)
    elif values.dtype.kind == "U":
        absent = np.isin(np.char.lower(np.char.strip(values)), ("", "nan"))
    else:
        return
    if absent.any():
        rows = np.flatnonzero(absent)
        raise FileFormatError(
            key,
            "every instance needs a value",
            f"{len(rows)} of {len(values)} have none, row {rows[0]} first",
            "give each of them a value, or leave those instances out",
            code="missing",
            source=path.name,
        )


def label_to_ignore(reading: Reading, labels: NDArray[Any]) -> int | str | None:
    """The label that is left out, as a number where the labels are numbers."""
    text = reading.ignore_label
    if text is None or labels.dtype.kind == "U":
        return text
    try:
        return int(text)
    except ValueError:
        raise InputError(
            "--ignore-label", "must be a whole number, as the labels are", f"got {text!r}", "write -1", code="type"
        ) from None


# -- an assay that was kept -------------------------------------------------------------------------------------------


def load_kept(request: AssayRequest) -> Assay | None:
    """The assay in the folder that is given as the only model; None if the models are prediction files."""
    folders = [text for text in request.models if os.path.lexists(Path(text) / HOLDS)]
    if not folders:
        return None
    if len(request.models) > 1:
        fail(
            "models",
            "a kept assay stands alone",
            f"got {folders[0]} and others",
            "leave the others out, or give the prediction files",
            code="conflict",
        )
    own: list[tuple[Any, Any]] = [(request, f) for f in fields(request) if f.name not in (*_OF_SHOWING, "reading")]
    own += [(request.reading, f) for f in fields(request.reading)]
    defaults = {field.name: field.default for _, field in own}
    values = {field.name: getattr(one, field.name) for one, field in own}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in values.items()
        if value not in (defaults[name], ("none",))  # rank asks for no calibration tests
    ]
    if given:
        fail(
            listed(given),
            "has no effect on a kept assay" if len(given) == 1 else "have no effect on a kept assay",
            "",
            "leave it out, or give the prediction files",
            code="conflict",
        )
    kept = Assay.load(folders[0])
    if request.margin is None:
        return kept
    return replace(kept, settings=replace(kept.settings, margin=check_margin(request.margin, kept.settings.level)))


# -- what words stand for ---------------------------------------------------------------------------------------------


def model_files(texts: Sequence[str], *, option: str = "models") -> dict[str, list[Path]]:
    """Files of each model's runs, from ``NAME=FILE``, ``NAME=FILE,FILE`` or ``FILE`` (named by its stem).

    A text that is the path of an existing file is that file, even if it contains ``=`` or a comma. Bytes of a name that are
    no UTF-8 are spelt out; paths stay as they are.

    Parameters
    ----------
    texts : sequence of str
    option : str
        The option that the texts belong to, for errors.

    Examples
    --------
    >>> [(name, [p.name for p in paths]) for name, paths in model_files(["DE=a.npz,b.npz", "edl.npz"]).items()]
    [('DE', ['a.npz', 'b.npz']), ('edl', ['edl.npz'])]
    """
    files: dict[str, list[Path]] = {}
    bare: set[str] = set()
    given: dict[str, str] = {}
    seen: dict[Path, str] = {}
    for text in texts:
        if "=" in text and not os.path.exists(text):  # Path.exists fails on long text
            name, joined = named_file(text, option)
            # the same name in other bytes is that of another model
            if (
                name in bare
                or given.setdefault(name, text[: text.index("=")].strip()) != text[: text.index("=")].strip()
            ):
                raise _same_name(option, name, text, "name them differently")
        else:
            name, joined = unicode_text(Path(text).stem), text
            if name in files:
                raise _same_name(option, name, text, f"name them: NAME={text}")
            bare.add(name)
        for part in [joined] if os.path.exists(joined) else joined.split(","):
            if not part.strip():
                fail(option, f"{text!r} has an empty file name", "", "write NAME=FILE or NAME=FILE,FILE", code="empty")
            path = Path(part.strip())
            place = Path(os.path.realpath(path))
            if seen.get(place) == name:
                fail(
                    option,
                    f"{part.strip()!r} is given twice as a run of {name!r}",
                    "",
                    "give each run once",
                    code="duplicate",
                )
            seen[place] = name
            files.setdefault(name, []).append(path)
    return files


def named_file(text: str, option: str) -> tuple[str, str]:
    """Name and file of ``NAME=FILE``; the name ends at the first = that an existing file follows, so it may hold = itself.

    Examples
    --------
    >>> named_file("site=site.npy", "--subgroup")
    ('site', 'site.npy')
    """
    cuts = [i for i, character in enumerate(text) if character == "="]
    cut = next((i for i in cuts if os.path.exists(text[i + 1 :].split(",")[0].strip())), cuts[0] if cuts else len(text))
    name, value = text[:cut].strip(), text[cut + 1 :].strip()
    if not (name and value):
        fail(option, "must read NAME=FILE", f"got {text!r}", f"write NAME={text.strip('= ') or 'FILE'}", code="syntax")
    return unicode_text(name), value


def file_and_column(path: Path) -> tuple[Path, str | None]:
    """File and column of ``FILE:COLUMN``; a text that is the path of an existing file is that file.

    Examples
    --------
    >>> file_and_column(Path("labels.npy"))[1] is None
    True
    """
    text = str(path)
    file, colon, column = text.rpartition(":")
    if colon and column and not os.path.exists(text) and os.path.isfile(file):
        return Path(file), column
    return path, None


def member_axes(texts: Sequence[str], names: Iterable[str]) -> dict[str, int]:
    """Axis of the members of each model, from ``--member-axis 0`` for all and ``--member-axis NAME=0`` for one.

    Examples
    --------
    >>> member_axes(["DE=0"], ["DE", "dropout"])
    {'DE': 0, 'dropout': 1}
    """
    axes = dict.fromkeys(names, 1)
    for text in texts:
        name, equals, axis = text.rpartition("=")
        if not axis.strip().lstrip("-").isdecimal() or (equals and name.strip() not in axes):
            fail(
                "--member-axis",
                "must be an axis for all models, or NAME=AXIS for one of them",
                f"got {text!r} and the models {listed_names(list(axes), most=8)}",
                f"write --member-axis 0, or --member-axis {next(iter(axes))}=0",
                code="syntax",
            )
        axes |= dict.fromkeys([name.strip()] if equals else axes, int(axis))
    return axes


def parse_tradeoffs(texts: Sequence[str]) -> tuple[float, ...]:
    """Values of λ from ``--tradeoff 0.1,0.5 --tradeoff 1``.

    Examples
    --------
    >>> parse_tradeoffs(["0.1,0.5", "1"])
    (0.1, 0.5, 1.0)
    """
    values = []
    for text in (part.strip() for joined in texts for part in joined.split(",")):
        try:
            values.append(float(text))
        except ValueError:
            raise InputError(
                "--tradeoff",
                "must be a number, or several with commas between",
                f"got {text!r}",
                "write --tradeoff 0.1,0.5",
                code="type",
            ) from None
    return tuple(values)


def _same_name(option: str, name: str, text: str, remedy: str) -> InputError:
    return InputError(option, f"two of them are named {name!r}, the second by {text!r}", "", remedy, code="duplicate")


def read_class_names(text: str) -> tuple[str, ...]:
    """Names of the classes in the order of the columns.

    Parameters
    ----------
    text : str
        The names with commas between them, or an existing file: a text file with one name on each line, or a
        .npy, .npz, .csv or .parquet file with the key or column `class_names`.

    Examples
    --------
    >>> read_class_names("cat, dog,bird")
    ('cat', 'dog', 'bird')
    """
    if not os.path.isfile(text):
        names = tuple(part.strip() for part in text.split(","))
        return checked_class_names(names, len(names))
    path = Path(text)
    with about_files({"class_names": path}):
        if path.suffix.lower() in _COLUMN_FORMATS:
            names = tuple(map(str, np.atleast_1d(load_column(path, ["class_names", "classes"])).tolist()))
        else:
            names = tuple(line.strip() for line in _text(path).splitlines() if line.strip())
        return checked_class_names(names, len(names))


def _text(path: Path) -> str:
    """A short text file, whole."""
    if path.stat().st_size > _MOST_BYTES:
        raise FileFormatError(
            "class_names",
            "must be a short text file, one name on each line",
            f"got {count(path.stat().st_size)} bytes",
            "give the file that holds the names",
            code="size",
        )
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise FileFormatError(
            "class_names",
            "must be text in UTF-8, one name on each line",
            f"byte {problem.start} is not",
            "save the file as UTF-8",
            code="encoding",
        ) from problem


# Options that several commands share, and how a command takes all those of an assay.

INPUT, HOW, SURE, OUTPUT = "Input", "How E = distance + λ · non-specificity is computed", "How sure", "Output"


def option(help: str, panel: str, *names: str, **more: Any) -> Any:
    """An option of Typer, shown in a panel of the help."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


Models = Annotated[
    list[str],
    typer.Argument(
        help="Prediction files (.npz, .npy, .csv, .tsv, .parquet, .jsonl, .json, .safetensors, .zarr, .pt) by the name of the "
        "model; a bare FILE is named by its stem. Training runs of one model: NAME=a.npz,b.npz, or the name repeated. A folder "
        "that report --save wrote, alone: that assay again.",
        metavar="NAME=FILE...",
        show_default=False,
    ),
]
COLUMN = "FILE[:COLUMN]"
Labels = Annotated[Path | None, option("Labels; needed unless a prediction file holds them.", INPUT, metavar=COLUMN)]
WEIGHTS = ("weights", "weight", "sample_weight")  # names of their column or key
Groups = Annotated[
    Path | None,
    option("Patients, sites or videos: intervals and tests resample whole groups.", INPUT, metavar=COLUMN),
]
CommonInstances = Annotated[
    bool,
    option(
        "Judge the cases that every prediction file has, by their ids, where models lack answers.",
        INPUT,
        "--common-instances",
    ),
]
Level = Annotated[float, option("Confidence level of the intervals.", SURE)]
Margin = Annotated[
    float | None,
    option("Greatest difference of mean E that does not matter: tell which models are no worse by more.", SURE),
]
Seed = Annotated[int, option("Seed of every random draw.", SURE, metavar="N", min=0)]
FailIf = Annotated[
    list[str] | None,
    option(
        "Exit with code 1 where this holds: accuracy<0.9, DE:high(ece)>0.05, unified@0.5>0.3, new-old:accuracy<-0.01 or "
        "new:low(accuracy)<old:estimate(accuracy) (repeatable). low(…) and high(…) are the limits of the interval. "
        "no-worse(new,old)<0.01 demands that new is shown to be no worse by 0.01; code 3 where that cannot be told.",
        OUTPUT,
        metavar="[MODEL[-MODEL]:]METRIC[@λ or @SCORE]<NUMBER",
    ),
]
OnIntervals = Annotated[
    bool,
    option(
        "A metric without low(…) or high(…) in --fail-if means the whole interval: code 1 where all of it fails, 3 where the "
        "bound lies inside.",
        OUTPUT,
        "--on-intervals",
    ),
]
Markdown = Annotated[
    Path | None,
    option(
        "Write verdict, ranking and the outcome of each check to this file, for a pull request.", OUTPUT, "--markdown"
    ),
]
Json = Annotated[bool, option("Print JSON on standard output, and nothing else there.", OUTPUT, "--json")]

OF_ANSWERS = ("correct_column", "confidence_column", "missing_confidence", "model_column")  # options of `Reading`
READING_OPTIONS: dict[str, Any] = {
    "member_axis": Annotated[
        list[str],
        option(
            "Axis of the members in arrays of three axes (1 unless given), for all models or for one: 0, or NAME=0 "
            "(repeatable).",
            INPUT,
            metavar="[NAME=]AXIS",
        ),
    ],
    "normalise": Annotated[
        bool,
        option(
            "Divide probabilities by their sums first, which repairs rounding, per cent and counts; a note says how many rows "
            "changed.",
            INPUT,
            "--normalise",
        ),
    ],
    "variance_is": Annotated[
        str | None,
        option(
            "Meaning of the variance of Gaussian logits in files that do not state it: aleatoric (noise of the label) or "
            "epistemic (doubt about the function).",
            INPUT,
            metavar="MEANING",
        ),
    ],
    "kind": Annotated[
        str | None,
        option(
            "Kind of the numbers, where the file does not tell: logits, members, dirichlet, …", INPUT, metavar="KIND"
        ),
    ],
    "columns": Annotated[
        str | None,
        option(
            "Columns of a table that are the classes, in their order, with commas between them.", INPUT, metavar="NAMES"
        ),
    ],
    "id": Annotated[str | None, option("Column of tables that identifies the cases.", INPUT, "--id", metavar="COLUMN")],
    "positive": Annotated[
        str | None, option("Class whose probability y_prob is, in tables of y_true and y_prob.", INPUT, metavar="NAME")
    ],
    "correct_column": Annotated[
        str | None,
        option(
            "Column of what was right, of answers that are right or wrong (correct unless given).",
            INPUT,
            metavar="COLUMN",
        ),
    ],
    "confidence_column": Annotated[
        str | None,
        option(
            "Column of the confidence that was stated with each answer (confidence unless given).",
            INPUT,
            metavar="COLUMN",
        ),
    ],
    "missing_confidence": Annotated[
        float | None,
        option("What a missing confidence counts as, such as 0; refused unless given.", INPUT, metavar="NUMBER"),
    ],
    "model_column": Annotated[
        str | None,
        option("Column that names the model, where a file has the answers of several models.", INPUT, metavar="COLUMN"),
    ],
    "class_names": Annotated[
        str | None,
        option(
            "Names of the classes in the order of their numbers, with commas between them, or a file with one on each line.",
            INPUT,
            metavar="NAMES",
        ),
    ],
    "ignore_label": Annotated[
        str | None, option("Label of cases that are left out, such as -1.", INPUT, metavar="LABEL")
    ],
    "votes_are": Annotated[
        str | None,
        option(
            "What a table of whole numbers holds: counts for each class, or single votes, one column for each annotator.",
            INPUT,
            metavar="NAME",
        ),
    ],
}
REQUEST_OPTIONS: dict[str, Any] = {
    "models": Models,
    "labels": Labels,
    "groups": Groups,
    "weights": Annotated[
        Path | None,
        option("Importance weights of the cases, for a test set that was drawn otherwise.", INPUT, metavar=COLUMN),
    ],
    "subgroup": Annotated[
        list[str],
        option("A part of the test set to report on (repeatable).", INPUT, metavar="NAME=FILE[:COLUMN]"),
    ],
    "tradeoff": Annotated[
        list[str],
        option(
            "λ; repeatable, or several with commas between them (rankings are shown at 0.5 unless given).",
            HOW,
            metavar="λ",
        ),
    ],
    "convention": Annotated[str, option("exact, or paper: clipped masses, as the authors' code.", HOW)],
    "distance": Annotated[str, option(f"{listed(list(DISTANCES), last='or')}.", HOW)],
    "nonspecificity": Annotated[str, option(f"{listed(list(NONSPECIFICITIES), last='or')}.", HOW)],
    "focal_sets": Annotated[Path | None, option("Family of events for --convention paper: a 0/1 array (F, K).", HOW)],
    "floor": Annotated[
        float | None, option("Least probability in a logarithm (by the precision of the input unless given).", HOW)
    ],
    "repair": Annotated[bool, option("Clip and renormalise masses that are no belief function.", HOW, "--repair")],
    "common_members": Annotated[int | None, option("Span every sampled set by this many members.", HOW, metavar="N")],
    "score": Annotated[
        list[str],
        option(
            "An uncertainty score to compute (repeatable), such as epistemic-label-wise; the default list unless given.",
            HOW,
            metavar="SCORE",
        ),
    ],
    "calibration": Annotated[
        list[str],
        option(
            "A measure to test calibration by (repeatable), or none; kuiper-confidence and ece-classwise unless given.",
            SURE,
            metavar="MEASURE",
        ),
    ],
    "level": Level,
    "margin": Margin,
    "critical": Annotated[
        str | None,
        option("The class that matters: tell what refusing costs and saves for its cases.", HOW, metavar="CLASS"),
    ],
    "draws": Annotated[int, option("Draws behind the shares of resamples.", SURE, metavar="N", min=1)],
    "seed": Seed,
    "cluster": Annotated[
        str | None,
        option(
            "Score on the workers of this Dask scheduler, which must be trusted. Workers read .npy, .zarr, .safetensors and "
            "uncompressed .npz themselves, under the same path; other files are sent to them.",
            INPUT,
            metavar="ADDRESS",
        ),
    ],
    "common_instances": CommonInstances,
}


def takes_request(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of `AssayRequest`, and those of `Reading` in it, as options, before its other options."""

    @wraps(function)
    def command(**values: Any) -> None:
        reading = Reading(**{name: values.pop(name) for name in READING_OPTIONS})
        request = AssayRequest(reading=reading, **{name: values.pop(name) for name in REQUEST_OPTIONS})
        function(request, **values)

    own = list(inspect.signature(function).parameters.values())[1:]
    fields_of_request = [field for field in fields(AssayRequest) if field.name != "reading"]
    split = next(i for i, field in enumerate(fields_of_request) if field.name == "tradeoff")  # after the other inputs
    first, rest = fields_of_request[:split], fields_of_request[split:]
    given = [
        *_options(first, REQUEST_OPTIONS),
        *_options(fields(Reading), READING_OPTIONS),
        *_options(rest, REQUEST_OPTIONS),
    ]
    return _with_signature(command, [*given, *own])


def takes_reading(*leave_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator: a command has the fields of `Reading`, but for some, as options in place of its parameter `reading`."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        chosen = [field for field in fields(Reading) if field.name not in leave_out]
        given: list[inspect.Parameter] = []
        for name, parameter in inspect.signature(function).parameters.items():
            given += _options(chosen, READING_OPTIONS) if name == "reading" else [parameter]

        @wraps(function)
        def command(**values: Any) -> None:
            function(reading=Reading(**{field.name: values.pop(field.name) for field in chosen}), **values)

        return _with_signature(command, given)

    return decorate


def _options(of: Any, options: dict[str, Any]) -> list[inspect.Parameter]:
    """One parameter for each field."""
    keyword, found = inspect.Parameter.KEYWORD_ONLY, []
    for one in of:
        default = inspect.Parameter.empty if one.default is MISSING else one.default
        default = [] if default == () else default
        found.append(inspect.Parameter(one.name, keyword, default=default, annotation=options[one.name]))
    return found


def _with_signature(command: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


# Where a command may write: never over its inputs; refused before anything is computed.

PAGES = (".html", ".htm")
KEPT = {"assay.json": "an assay", "study.json": "a study"}


def check_page(path: Path, inputs: Sequence[Path], made: Path | None = None) -> None:
    """Refuse a page that could not be written, or would replace one of the inputs.

    Parameters
    ----------
    path : Path
        The page.
    inputs : sequence of Path
        The files that are read.
    made : Path, optional
        A folder that the command makes before the page is written.
    """
    try:
        target = plain_target(path)
    except InputError as problem:
        raise problem.replace(parameter="--output") from problem
    check_apart("--output", path, inputs)
    if path.suffix.lower() not in PAGES:
        fail(
            "--output",
            "the page is HTML, and its name must end in .html or .htm",
            f"got {path.name}",
            f"write {path.stem}.html, or --json for data",
            code="format",
        )
    _check_folder("--output", target.parent, made=made is not None and target.parent == Path(os.path.realpath(made)))


def check_text(path: Path, inputs: Sequence[Path], *, option: str) -> None:
    """Refuse a text file that could not be written, or would replace one of the inputs."""
    try:
        target = plain_target(path)
    except InputError as problem:
        raise problem.replace(parameter=option) from problem
    check_apart(option, path, inputs)
    _check_folder(option, target.parent)


def check_save(folder: Path, inputs: Sequence[Path], page: Path | None, *, holds: str = "assay.json") -> None:
    """Refuse a folder without the file `holds`, one with an input in it, and the path of the page.

    `holds` is the file by which a folder of the same kind is known; such a folder is replaced.
    """
    target = Path(os.path.realpath(folder))
    if target.exists() and not (target / holds).is_file():
        fail(
            "--save", f"{folder} exists and does not hold {KEPT[holds]}", "", "choose another folder", code="unwritable"
        )
    for path in inputs:
        if target in Path(os.path.realpath(path)).parents:
            fail(
                "--save",
                f"{folder} is replaced, and {path} in it is an input",
                "",
                "choose another folder",
                code="unwritable",
            )
    if page is not None:
        written = Path(os.path.realpath(page))
        if written == target or written in target.parents:
            fail(
                "--save",
                f"{folder} cannot be a folder where {page} is the page",
                "",
                "choose another folder",
                code="unwritable",
            )
    check_apart("--save", folder, inputs)
    _check_folder("--save", target.parent)


def check_apart(option: str, output: Path, inputs: Sequence[Path]) -> None:
    """Refuse an output that is one of the inputs, also through links, or lies in an input that is a zarr folder."""
    target = Path(os.path.realpath(output))
    for path in inputs:
        there = Path(os.path.realpath(file_and_column(path)[0]))
        same = target == there or (target.exists() and there.exists() and target.samefile(there))
        if same or (there.suffix.lower() == ".zarr" and there in target.parents):
            fail(option, f"{output} is an input and would be lost", "", "choose another name", code="unwritable")


def _check_folder(option: str, folder: Path, *, made: bool = False) -> None:
    """Refuse a folder that does not exist, unless it will be made, and one that cannot be written to."""
    there = next(part for part in (folder, *folder.parents) if part.exists())
    if not there.is_dir():
        fail(option, f"{there} is a file and cannot hold others", "", "choose another folder", code="unwritable")
    if there != folder and not made:
        fail(option, f"the folder {folder} does not exist", "", "create it first", code="missing")
    if not os.access(there, os.W_OK | os.X_OK):
        fail(
            option,
            f"nothing may be written to {there}",
            "",
            "check its permissions or choose another folder",
            code="unwritable",
        )
