"""What the commands are given: prediction files by name, labels and settings; from there to an assay."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.cli.columns import Rows, beside, in_order, read_column, read_labels
from uqassay.cli.text import unicode_text
from uqassay.errors import InputError
from uqassay.evidence import CALIBRATION, TRADEOFFS, Assay, assay
from uqassay.predictions import Prediction
from uqassay.predictions.files import inspect_file, load, load_labels

__all__ = ["AssayRequest", "Loaded", "files_named", "load_request", "make_assay", "model_files", "parse_tradeoffs"]

_NORMALISABLE = ("point", "members", "vertices")


@dataclass(frozen=True)
class AssayRequest:
    """Everything from which `report` and `rank` make an assay, as it was typed.

    Attributes
    ----------
    models : list of str
        ``NAME=FILE``, ``NAME=FILE,FILE`` or ``FILE``.
    labels, groups, focal_sets : Path or None
    subgroup : list of str
        ``NAME=FILE``.
    tradeoff : list of str
        Numbers, or several with commas between them; empty: those of `assay`.
    calibration : list of str
        Measures, or "none" alone; empty: those of `assay`.
    convention, distance, nonspecificity, floor, repair, common_members, level, draws, seed
        As in `assay`.
    member_axis, normalise
        As in `load`.
    """

    models: list[str]
    labels: Path | None = None
    groups: Path | None = None
    subgroup: Sequence[str] = ()
    member_axis: int = 1
    normalise: bool = False
    tradeoff: Sequence[str] = ()
    convention: str = "exact"
    distance: str = "kl"
    nonspecificity: str = "hartley"
    focal_sets: Path | None = None
    floor: float | None = None
    repair: bool = False
    common_members: int | None = None
    calibration: Sequence[str] = ()
    level: float = 0.95
    draws: int = 2000
    seed: int = 0

    def inputs(self) -> list[Path]:
        """Every file that is read."""
        files = [path for paths in model_files(self.models).values() for path in paths]
        given = [path for path in (self.labels, self.groups, self.focal_sets) if path is not None]
        return files + given + [Path(_pair(text, "subgroup")[1]) for text in self.subgroup]

    def tradeoffs(self) -> tuple[float, ...]:
        """The λ asked for, or those of `assay`."""
        return parse_tradeoffs(self.tradeoff) or TRADEOFFS

    def calibrations(self) -> tuple[str, ...]:
        """The measures to test calibration by: those asked for, or those of `assay`."""
        return () if list(self.calibration) == ["none"] else tuple(self.calibration) or CALIBRATION


@dataclass(frozen=True, eq=False)
class Loaded:
    """What the files hold.

    Attributes
    ----------
    runs : dict of str to list of Prediction
        The training runs of each model.
    labels : array (n,) or array (n, K)
    groups : array (n,) or None
    rows : Rows
    files : dict of str to Path or None
        Where arguments of the library came from, for `files_named`.
    """

    runs: dict[str, list[Prediction]]
    labels: NDArray[Any]
    groups: NDArray[Any] | None
    rows: Rows
    files: dict[str, Path | None]


def make_assay(request: AssayRequest, *, progress: Callable[[str], None] | None = None) -> Assay:
    """Read the files, check that the labels agree, and judge the models.

    Parameters
    ----------
    request : AssayRequest
    progress : callable, optional
        Called with the name of what is being done.

    Returns
    -------
    Assay

    Raises
    ------
    InputError
        Whatever `load`, `load_labels` and `assay` refuse; labels that are missing or disagree.
    """
    say = progress or (lambda step: None)
    tradeoffs = request.tradeoffs()
    if request.convention not in ("exact", "paper"):
        raise InputError(
            "convention", "must be exact or paper", f"got {request.convention!r}", "exact is the default", code="choice"
        )
    subgroup_files = {name: Path(file) for name, file in (_pair(text, "subgroup") for text in request.subgroup)}
    loaded = load_request(request, say)
    named = loaded.files | {"focal_sets": request.focal_sets}
    named |= {f"subgroups: {name!r}": path for name, path in subgroup_files.items()}
    with files_named(named):
        return assay(
            loaded.runs,
            loaded.labels,
            tradeoffs=tradeoffs,
            distance=request.distance,  # type: ignore[arg-type]
            nonspecificity=request.nonspecificity,
            convention=request.convention,  # type: ignore[arg-type]
            focal_sets=None if request.focal_sets is None else read_column(request.focal_sets, ("focal_sets",))[0],
            floor=request.floor,
            calibration=request.calibrations(),
            groups=loaded.groups,
            subgroups={name: beside(path, (name,), loaded.rows) for name, path in subgroup_files.items()},
            repair=request.repair,
            common_members=request.common_members,
            level=request.level,
            n_draws=request.draws,
            rng=request.seed,
            progress=say,
        )


def load_request(request: AssayRequest, say: Callable[[str], None]) -> Loaded:
    """Read predictions, labels and groups.

    Raises
    ------
    InputError
        Whatever `load` and `load_labels` refuse; labels that are missing or disagree.
    """
    files = model_files(request.models)
    runs, facts = _load_all(files, request, say)
    flat = zip((p for paths in files.values() for p in paths), (r for rs in runs.values() for r in rs), strict=True)
    rows = Rows.of(dict(flat))
    labels, source = _labels(request.labels, files, runs, facts, rows)
    groups = None if request.groups is None else beside(request.groups, ("groups", "group"), rows)
    return Loaded(runs, labels, groups, rows, {"y_true": source, "groups": request.groups})


@contextmanager
def files_named(files: dict[str, Path | None]) -> Iterator[None]:
    """What is wrong with an argument is told of the file that it came from."""
    try:
        yield
    except InputError as problem:
        text = str(problem)
        for argument, path in files.items():
            if path is not None and text.startswith(argument):
                shown = text.removeprefix("y_true: ").replace("subgroups:", "subgroup:", 1)
                raise InputError(path.name, shown, code="undefined") from problem
        raise


def model_files(texts: Sequence[str], *, option: str = "models") -> dict[str, list[Path]]:
    """Files of each model's runs, from ``NAME=FILE``, ``NAME=FILE,FILE`` or ``FILE`` (named by its stem).

    A text that is the path of an existing file is that file, whatever it contains. Errors are told of `option`. Bytes of a
    name that are no UTF-8 are spelt out; paths stay as they are.

    Raises
    ------
    InputError
        An empty name or file, one file given twice, or two bare files of the same stem.

    Examples
    --------
    >>> [(name, [p.name for p in paths]) for name, paths in model_files(["DE=a.npz,b.npz", "edl.npz"]).items()]
    [('DE', ['a.npz', 'b.npz']), ('edl', ['edl.npz'])]
    """
    files: dict[str, list[Path]] = {}
    bare: set[str] = set()
    seen: dict[Path, str] = {}
    for text in texts:
        named = "=" in text and not os.path.exists(text)  # Path.exists fails on long text
        if not named:
            name, joined = unicode_text(Path(text).stem), text
            if name in files:
                raise InputError(
                    option,
                    f"two of them are named {name!r}, the second by {text!r}",
                    "",
                    f"name them: NAME={text}",
                    code="duplicate",
                )
            bare.add(name)
        else:
            name, joined = _pair(text, option)
            if name in bare:
                raise InputError(
                    option,
                    f"two of them are named {name!r}, the second by {text!r}",
                    "",
                    "name them differently",
                    code="duplicate",
                )
        for part in [joined] if os.path.exists(joined) else joined.split(","):
            if not part.strip():
                raise InputError(
                    option, f"{text!r} has an empty file name", "", "write NAME=FILE or NAME=FILE,FILE", code="empty"
                )
            path = Path(part.strip())
            place = Path(os.path.realpath(path))
            if seen.get(place) == name:
                raise InputError(
                    option,
                    f"{part.strip()!r} is given twice as a run of {name!r}",
                    "",
                    "give each run once",
                    code="duplicate",
                )
            seen[place] = name
            files.setdefault(name, []).append(path)
    return files


def parse_tradeoffs(texts: Sequence[str]) -> tuple[float, ...]:
    """Values of λ from ``--tradeoff 0.1,0.5 --tradeoff 1``.

    Raises
    ------
    InputError
        Text that is no number.

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
                "tradeoff",
                "must be a number, or several with commas between",
                f"got {text!r}",
                "write --tradeoff 0.1,0.5",
                code="range",
            ) from None
    return tuple(values)


# -- predictions ------------------------------------------------------------------------------------------------------


def _load_all(
    files: dict[str, list[Path]], request: AssayRequest, say: Callable[[str], None]
) -> tuple[dict[str, list[Prediction]], dict[Path, dict[str, Any]]]:
    """Every run of every model, and what `inspect_file` says of its file."""
    facts = {path: inspect_file(path, member_axis=request.member_axis) for paths in files.values() for path in paths}
    # Dirichlet concentrations beside ensembles cannot be normalised, and need not be
    applicable = [path for path, fact in facts.items() if fact["kind"] in _NORMALISABLE]
    runs: dict[str, list[Prediction]] = {}
    for name, paths in files.items():
        for path in paths:
            say(f"reading {path.name}")
            normalise = request.normalise and (path in applicable or not applicable)
            runs.setdefault(name, []).append(load(path, member_axis=request.member_axis, normalise=normalise))
    return runs, facts


# -- labels -----------------------------------------------------------------------------------------------------------


def _labels(
    given: Path | None,
    files: dict[str, list[Path]],
    runs: dict[str, list[Prediction]],
    facts: dict[Path, dict[str, Any]],
    rows: Rows,
) -> tuple[NDArray[Any], Path]:
    """Labels in the order of the first model that has ids, and their file: the one given, or the first that has any."""
    flat = [run for of_model in runs.values() for run in of_model]
    names = next((run.class_names for run in flat if run.class_names is not None), None)
    chosen: NDArray[Any] | None = None
    source = Path()
    if given is not None:
        chosen, source = read_labels(given, rows, names), given
    for name, paths in files.items():
        for path, run in zip(paths, runs[name], strict=True):
            if not facts[path]["labels"]:
                continue
            inside = load_labels(path, class_names=names)
            inside = in_order(inside, run.ids if len(inside) == run.n_instances else None, rows, path)
            if chosen is None:
                chosen, source = inside, path
            else:
                _check_agreement(inside, path.name, chosen, source.name)
    if chosen is None:
        raise InputError(
            "labels", "none of the prediction files holds labels", "", "give them by --labels FILE", code="undefined"
        )
    return chosen, source


def _check_agreement(inside: NDArray[Any], name: str, chosen: NDArray[Any], source: str) -> None:
    """Labels inside a prediction file must be those that are used."""
    if inside.ndim != chosen.ndim:  # votes say nothing against a label, nor a label against votes
        return
    if inside.shape != chosen.shape:
        raise InputError(
            "labels",
            f"{name} holds {_size(inside)}, {source} {_size(chosen)}",
            "",
            "give labels and predictions of one split",
            code="undefined",
        )
    differs = inside != chosen if inside.ndim == 1 else (inside != chosen).any(axis=1)
    if differs.any():
        row = int(np.flatnonzero(differs)[0])
        count = f"{int(differs.sum())} of {len(differs)} rows"
        raise InputError(
            "labels",
            f"those inside {name} differ from {source} in {count}",
            f"row {row} holds {inside[row].tolist()} in {name} and {chosen[row].tolist()} in {source}",
            "check that both come from one split in one order",
            code="mismatch",
        )


def _size(labels: NDArray[Any]) -> str:
    return f"{labels.shape[0]} labels" + (f" with {labels.shape[1]} columns" if labels.ndim == 2 else "")


def _pair(text: str, option: str) -> tuple[str, str]:
    """Name and file; the name ends at the first = that an existing file follows, so it may hold = itself."""
    cuts = [i for i, character in enumerate(text) if character == "="]
    cut = next((i for i in cuts if os.path.exists(text[i + 1 :].split(",")[0].strip())), cuts[0] if cuts else len(text))
    name, value = text[:cut].strip(), text[cut + 1 :].strip()
    if not (name and value):
        raise InputError(
            option, "must read NAME=FILE", f"got {text!r}", "give both a name and a file", code="undefined"
        )
    return unicode_text(name), value
