"""What the commands are given: prediction files by name, labels and settings; from there to an assay."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.assay import TRADEOFFS, Assay, assay
from uqassay.errors import FileFormatError, InputError
from uqassay.predictions import Prediction
from uqassay.predictions.file_formats import Contents, read_npy, read_npz
from uqassay.predictions.file_tables import read_csv, read_parquet
from uqassay.predictions.files import inspect_file, load, load_labels

__all__ = ["AssayRequest", "make_assay", "model_files", "parse_tradeoffs", "read_column"]

_COLUMN_READERS: dict[str, Callable[[Path], Contents]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".csv": read_csv,
    ".parquet": read_parquet,
}
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
    level: float = 0.95
    draws: int = 2000
    seed: int = 0

    def tradeoffs(self) -> tuple[float, ...]:
        """The λ asked for, or those of `assay`."""
        return parse_tradeoffs(self.tradeoff) or TRADEOFFS


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
    files = model_files(request.models)
    if request.convention not in ("exact", "paper"):
        raise InputError(f"convention: must be exact or paper; got {request.convention!r}; exact is the default.")
    subgroup_files = {name: Path(file) for name, file in (_pair(text, "subgroup") for text in request.subgroup)}
    runs, facts = _load_all(files, request, say)
    ids = next((run.ids for of_model in runs.values() for run in of_model if run.ids is not None), None)
    labels = _labels(request.labels, files, runs, facts, ids)
    return assay(
        runs,
        labels,
        tradeoffs=tradeoffs,
        distance=request.distance,  # type: ignore[arg-type]
        nonspecificity=request.nonspecificity,
        convention=request.convention,  # type: ignore[arg-type]
        focal_sets=None if request.focal_sets is None else read_column(request.focal_sets, ("focal_sets",))[0],
        floor=request.floor,
        groups=None if request.groups is None else _beside(request.groups, ("groups", "group"), ids),
        subgroups={name: _beside(path, (name,), ids) for name, path in subgroup_files.items()},
        repair=request.repair,
        common_members=request.common_members,
        level=request.level,
        n_draws=request.draws,
        rng=request.seed,
        progress=say,
    )


def model_files(texts: Sequence[str]) -> dict[str, list[Path]]:
    """Files of each model's runs, from ``NAME=FILE``, ``NAME=FILE,FILE`` or ``FILE`` (named by its stem).

    A text that is the path of an existing file is that file, whatever it contains.

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
        named = "=" in text and not Path(text).exists()
        if not named:
            name, joined = Path(text).stem, text
            if name in files:
                raise InputError(
                    f"models: two of them are named {name!r}, the second by {text!r}; name them: NAME={text}."
                )
            bare.add(name)
        else:
            name, joined = _pair(text, "models")
            if name in bare:
                raise InputError(
                    f"models: two of them are named {name!r}, the second by {text!r}; name them differently."
                )
        for part in [joined] if Path(joined).exists() else joined.split(","):
            if not part.strip():
                raise InputError(f"models: {text!r} has an empty file name; write NAME=FILE or NAME=FILE,FILE.")
            path = Path(part.strip())
            place = path.resolve()
            if seen.get(place) == name:
                raise InputError(f"models: {part.strip()!r} is given twice as a run of {name!r}; give each run once.")
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
                f"tradeoff: must be a number, or several with commas between; got {text!r}; write --tradeoff 0.1,0.5."
            ) from None
    return tuple(values)


def read_column(path: Path, keys: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """One array, and the ids beside it where the file has them: the array of a .npy file, or the first of the keys.

    A file that holds a single array (or column) beside its ids is read whatever that is called.

    Raises
    ------
    FileFormatError
        A file that cannot be read, or has none of the keys.
    """
    inspect_file(path)  # says what is wrong with a file that is missing, damaged or of another format
    if path.suffix.lower() not in _COLUMN_READERS:
        raise FileFormatError(
            f"{path.name}: must be one of {', '.join(_COLUMN_READERS)} for {keys[0]}; convert the file."
        )
    try:
        contents = _COLUMN_READERS[path.suffix.lower()](path)
        arrays = contents.arrays | contents.other
        found = [key for key in arrays if key not in ("ids", "id")]
        wanted = next((key for key in keys if key in arrays), found[0] if len(found) == 1 else None)
        if wanted is None:
            raise InputError(f"{keys[0]}: the file holds {', '.join(found) or 'nothing'}; name one of them {keys[0]}.")
        ids = next((np.asarray(arrays[key].read()) for key in ("ids", "id") if key in arrays), None)
        return np.asarray(arrays[wanted].read()), ids
    except InputError as problem:
        raise FileFormatError(f"{path.name}: {problem}") from problem


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
    ids: NDArray[Any] | None,
) -> NDArray[Any]:
    """Labels in the order of the first model that has ids: those given, or the first found inside a prediction file."""
    flat = [run for of_model in runs.values() for run in of_model]
    names = next((run.class_names for run in flat if run.class_names is not None), None)
    chosen: NDArray[Any] | None = None
    source = ""
    if given is not None:
        values = load_labels(given, class_names=names)
        beside = _ids_beside(given)
        if beside is not None and len(beside) != len(values):
            beside = None  # the labels' own length is what will be complained about
        chosen, source = _in_order(values, beside, ids, given), given.name
    for name, paths in files.items():
        for path, run in zip(paths, runs[name], strict=True):
            if not facts[path]["labels"]:
                continue
            inside = load_labels(path, class_names=names)
            inside = _in_order(inside, run.ids if len(inside) == run.n_instances else None, ids, path)
            if chosen is None:
                chosen, source = inside, path.name
            else:
                _check_agreement(inside, path.name, chosen, source)
    if chosen is None:
        raise InputError("labels: none of the prediction files holds labels; give them by --labels FILE.")
    return chosen


def _ids_beside(path: Path) -> NDArray[Any] | None:
    """The ids in a file of labels, where it has them."""
    if path.suffix.lower() not in _COLUMN_READERS or not inspect_file(path)["ids"]:
        return None
    return read_column(path, ("labels", "label"))[1]


def _beside(path: Path, keys: Sequence[str], ids: NDArray[Any] | None) -> NDArray[Any]:
    """One value for each instance, from a file of its own."""
    values, own = read_column(path, keys)
    return _in_order(values, own, ids, path)


def _in_order(values: NDArray[Any], own: NDArray[Any] | None, ids: NDArray[Any] | None, path: Path) -> NDArray[Any]:
    """Values whose ids stand beside them, in the order of the ids of the predictions."""
    if own is None or ids is None or np.array_equal(own, ids):
        return values
    place = {value: i for i, value in enumerate(own.tolist())}
    missing = [value for value in ids.tolist() if value not in place]
    if missing or len(place) < len(own):
        what = f"{len(missing)} are missing, {missing[0]!r} first" if missing else "some occur twice"
        raise FileFormatError(
            f"{path.name}: its ids do not match those of the predictions: {what}; select the common rows first."
        )
    return values[[place[value] for value in ids.tolist()]]


def _check_agreement(inside: NDArray[Any], name: str, chosen: NDArray[Any], source: str) -> None:
    """Labels inside a prediction file must be those that are used."""
    if inside.ndim != chosen.ndim:  # votes say nothing against a label, nor a label against votes
        return
    if inside.shape != chosen.shape:
        raise InputError(
            f"labels: {name} holds {_size(inside)}, {source} {_size(chosen)}; give labels and predictions of one split."
        )
    differs = inside != chosen if inside.ndim == 1 else (inside != chosen).any(axis=1)
    if differs.any():
        row = int(np.flatnonzero(differs)[0])
        count = f"{int(differs.sum())} of {len(differs)} rows"
        raise InputError(
            f"labels: those inside {name} differ from {source} in {count}; row {row} "
            f"holds {inside[row].tolist()} in {name} and {chosen[row].tolist()} in {source}; "
            "check that both come from one split in one order."
        )


def _size(labels: NDArray[Any]) -> str:
    return f"{labels.shape[0]} labels" + (f" with {labels.shape[1]} columns" if labels.ndim == 2 else "")


def _pair(text: str, option: str) -> tuple[str, str]:
    """Name and file; the name ends at the first = that an existing file follows, so it may hold = itself."""
    cuts = [i for i, character in enumerate(text) if character == "="]
    cut = next((i for i in cuts if Path(text[i + 1 :].split(",")[0].strip()).exists()), cuts[0] if cuts else len(text))
    name, value = text[:cut].strip(), text[cut + 1 :].strip()
    if not (name and value):
        raise InputError(f"{option}: must read NAME=FILE; got {text!r}; give both a name and a file.")
    return name, value
