"""What the commands are given: prediction files by name, labels and settings; from there to an assay."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import available_cores
from uqassay._threads import share_on_threads
from uqassay.cli.arguments import file_and_column, member_axes, model_files, named_file, parse_tradeoffs
from uqassay.cli.class_names import read_class_names
from uqassay.cli.columns import Rows, in_order, read_labels, values_of_instances
from uqassay.cli.common_instances import only_common_instances
from uqassay.cli.kept_assay import load_kept
from uqassay.cli.normalising import load_normalised
from uqassay.cli.remedies import about_files
from uqassay.errors import InputError
from uqassay.evidence import CALIBRATION, TRADEOFFS, Assay, assay
from uqassay.predictions import Prediction
from uqassay.predictions.file_rows import file_on_dask, has_rows
from uqassay.predictions.files import inspect_file, load, load_column, load_labels

__all__ = ["AssayRequest", "Loaded", "labels_with", "load_models", "load_request", "make_assay"]

_NORMALISABLE = ("point", "members", "vertices")


@dataclass(frozen=True)
class AssayRequest:
    """Everything from which `report` and `rank` make an assay, as it was typed.

    Attributes
    ----------
    models : list of str
        ``NAME=FILE``, ``NAME=FILE,FILE`` or ``FILE``; or one folder with a kept assay.
    labels, groups, focal_sets : Path or None
        Labels and groups may be ``FILE:COLUMN``.
    subgroup : list of str
        ``NAME=FILE`` or ``NAME=FILE:COLUMN``.
    class_names : str or None
        Names with commas between them, or a file.
    tradeoff : list of str
        Numbers, or several with commas between them; empty: those of `assay`.
    score : list of str
        Uncertainty scores; empty: those of `assay`.
    calibration : list of str
        Measures, or "none" alone; empty: those of `assay`.
    convention, distance, nonspecificity, floor, repair, common_members, level, margin, draws, seed
        As in `assay`.
    member_axis : list of str
        ``AXIS`` for all models, or ``NAME=AXIS``; empty: 1.
    normalise, variance_is
        As in `load`.
    cluster : str or None
        Address of a Dask scheduler whose workers score the instances.
    common_instances : bool
        Judge the instances that every prediction file has.
    """

    models: list[str]
    labels: Path | None = None
    groups: Path | None = None
    subgroup: Sequence[str] = ()
    class_names: str | None = None
    member_axis: Sequence[str] = ()
    normalise: bool = False
    variance_is: str | None = None
    tradeoff: Sequence[str] = ()
    convention: str = "exact"
    distance: str = "kl"
    nonspecificity: str = "hartley"
    focal_sets: Path | None = None
    floor: float | None = None
    repair: bool = False
    common_members: int | None = None
    score: Sequence[str] = ()
    calibration: Sequence[str] = ()
    level: float = 0.95
    margin: float | None = None
    draws: int = 2000
    seed: int = 0
    cluster: str | None = None
    common_instances: bool = False

    def inputs(self) -> list[Path]:
        """Every file that is read."""
        files = [path for paths in model_files(self.models).values() for path in paths]
        given = [file_and_column(path)[0] for path in (self.labels, self.groups, self.focal_sets) if path is not None]
        names = [] if self.class_names is None or not Path(self.class_names).is_file() else [Path(self.class_names)]
        return [*files, *given, *names, *(file_and_column(path)[0] for path in self.subgroup_files().values())]

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
    """Predictions, labels and groups that were read from the files.

    Attributes
    ----------
    runs : dict of str to list of Prediction
        The training runs of each model.
    labels : array (n,) or array (n, K)
    groups : array (n,) or None
    class_names : tuple of str or None
        Those that were given as an option.
    rows : Rows
    files : dict of str to Path or None
        The files of the arguments `y_true` and `groups`.
    """

    runs: dict[str, list[Prediction]]
    labels: NDArray[Any]
    groups: NDArray[Any] | None
    class_names: tuple[str, ...] | None
    rows: Rows
    files: dict[str, Path | None]


def make_assay(request: AssayRequest, *, progress: Callable[[str], None] | None = None) -> Assay:
    """Read the files, check that the labels agree, and judge the models; a kept assay is read as it is.

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
        Everything that `load`, `load_labels` and `assay` refuse; labels that are missing or disagree.
    """
    say = progress or (lambda step: None)
    tradeoffs = request.tradeoffs()
    if (kept := load_kept(request)) is not None:
        return kept
    if request.convention not in ("exact", "paper"):
        raise InputError(
            "--convention",
            "must be exact or paper",
            f"got {request.convention!r}",
            "exact is the default",
            code="choice",
        )
    subgroups = request.subgroup_files()
    loaded = load_request(request, say)
    in_assay = {name: f"subgroups[{name!r}]" for name in subgroups}
    files = loaded.files | {"focal_sets": request.focal_sets} | {in_assay[name]: subgroups[name] for name in subgroups}
    shown = {"y_true": ""} | {in_assay[name]: f"subgroup {name!r}" for name in subgroups}
    with about_files(files, shown):
        return assay(
            loaded.runs,
            loaded.labels,
            tradeoffs=tradeoffs,
            distance=request.distance,  # type: ignore[arg-type]
            nonspecificity=request.nonspecificity,
            convention=request.convention,  # type: ignore[arg-type]
            focal_sets=None if request.focal_sets is None else load_column(request.focal_sets, ["focal_sets"])[0],
            floor=request.floor,
            measures=list(dict.fromkeys(request.score)) or None,
            calibration=request.calibrations(),
            groups=loaded.groups,
            subgroups={name: values_of_instances(path, (name,), loaded.rows) for name, path in subgroups.items()},
            class_names=loaded.class_names,
            repair=request.repair,
            common_members=request.common_members,
            level=request.level,
            margin=request.margin,
            n_draws=request.draws,
            rng=request.seed,
            progress=say,
            client=request.cluster,
        )


def load_request(request: AssayRequest, say: Callable[[str], None]) -> Loaded:
    """Read predictions, labels and groups.

    Raises
    ------
    InputError
        Everything that `load` and `load_labels` refuse; labels that are missing or disagree.
    """
    files = model_files(request.models)
    names = None if request.class_names is None else read_class_names(request.class_names)
    runs, facts = load_models(
        files,
        member_axis=request.member_axis,
        normalise=request.normalise,
        variance_is=request.variance_is,
        say=say,
        by_workers=request.cluster is not None,
    )
    ids = {path: run.ids for name, paths in files.items() for path, run in zip(paths, runs[name], strict=True)}
    runs = only_common_instances(files, runs) if request.common_instances else runs
    rows = Rows.of(files, runs)
    found = labels_with(request.labels, files, runs, facts, rows, names, ids)
    if found is None:
        raise InputError(
            "--labels", "none of the prediction files holds labels", "", "give them by --labels FILE", code="missing"
        )
    labels, source = found
    groups = None if request.groups is None else values_of_instances(request.groups, ("groups", "group"), rows)
    grouped_by = None if request.groups is None else file_and_column(request.groups)[0]
    return Loaded(runs, labels, groups, names, rows, {"y_true": source, "groups": grouped_by})


# -- predictions ------------------------------------------------------------------------------------------------------


def load_models(
    files: Mapping[str, Sequence[Path]],
    *,
    member_axis: Sequence[str],
    normalise: bool,
    variance_is: str | None,
    say: Callable[[str], None],
    by_workers: bool = False,
) -> tuple[dict[str, list[Prediction]], dict[Path, dict[str, Any]]]:
    """Every run of every model, and what `inspect_file` says of its file.

    `by_workers`: files of which rows can be read are left to the workers of a cluster, unless they have to be changed first.
    `normalise` and `variance_is` apply to the files that they have a meaning for; they are refused where there are none.
    """
    axes = member_axes(member_axis, files)
    facts = {path: inspect_file(path, member_axis=axes[name]) for name, paths in files.items() for path in paths}
    # the other kinds, such as Dirichlet concentrations, cannot be normalised, and need not be
    applicable = [path for path, fact in facts.items() if fact["kind"] in _NORMALISABLE] or list(facts)
    gaussian = _without_meaning(facts)

    def one(path: Path, axis: int, *, progress: Callable[[str], None]) -> Any:
        progress(f"reading {path.name}")
        read = load_normalised if normalise and path in applicable else load
        meaning = variance_is if path in gaussian else None
        if by_workers and read is load and axis == 1 and facts[path]["problem"] is None and has_rows(path):
            return file_on_dask(path, variance_is=meaning)
        return read(path, member_axis=axis, variance_is=meaning)

    calls = [(path, axes[name]) for name, paths in files.items() for path in paths]
    found = iter(share_on_threads(one, calls, threads=available_cores(), progress=say))
    return {name: [next(found) for _ in paths] for name, paths in files.items()}, facts


def _without_meaning(facts: Mapping[Path, Mapping[str, Any]]) -> list[Path]:
    """Files of Gaussian logits that do not state what the variance is; else all of that kind; else all files."""
    absent = [path for path, fact in facts.items() if (fact["problem"] or {}).get("parameter") == "variance_is"]
    return absent or [path for path, fact in facts.items() if fact["kind"] == "gaussian-logits"] or list(facts)


# -- labels -----------------------------------------------------------------------------------------------------------


def labels_with(
    given: Path | None,
    files: dict[str, list[Path]],
    runs: dict[str, list[Prediction]],
    facts: dict[Path, dict[str, Any]],
    rows: Rows,
    class_names: tuple[str, ...] | None,
    ids: Mapping[Path, NDArray[Any] | None],
) -> tuple[NDArray[Any], Path] | None:
    """Labels in the order of the first model that has ids, and their file: the one given, or the first that has any.

    None if there are none.
    `ids` are those of all rows of each prediction file.
    """
    flat = [run for of_model in runs.values() for run in of_model]
    names = class_names or next((run.class_names for run in flat if run.class_names is not None), None)
    chosen: NDArray[Any] | None = None
    source = Path()
    if given is not None:
        chosen, source = read_labels(given, rows, names), file_and_column(given)[0]
    for paths in files.values():
        for path in paths:
            if not facts[path]["labels"]:
                continue
            inside, own = load_labels(path, class_names=names), ids[path]
            inside = in_order(inside, own if own is not None and len(inside) == len(own) else None, rows, path)
            if chosen is None:
                chosen, source = inside, path
            else:
                _check_agreement(inside, path.name, chosen, source.name)
    return None if chosen is None else (chosen, source)


def _check_agreement(inside: NDArray[Any], name: str, chosen: NDArray[Any], source: str) -> None:
    """Labels inside a prediction file must be those that are used."""
    if inside.ndim != chosen.ndim:  # votes cannot contradict a label, nor a label votes
        return
    if inside.shape != chosen.shape:
        raise InputError(
            "labels",
            "must be of one size",
            f"{name} holds {_size(inside)}, {source} {_size(chosen)}",
            "give labels and predictions of one split",
            code="mismatch",
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
