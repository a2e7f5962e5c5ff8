"""Table 1 of the paper with predictors trained here, and the data they are trained on."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import row_chunks
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.files import optional_package, whole_file
from uqassay.lab.bench.cell import Cell
from uqassay.lab.methods.registry import offered_options
from uqassay.lab.papers.credal_calibration.plan import (
    IMAGENET_NETWORKS,
    PAPER_SETS,
    PREDICTORS,
    Table1Options,
    Table1Plan,
    part_size,
    plan_of,
)
from uqassay.lab.papers.credal_calibration.tables import LabelledEnsemble, Table1Row, judge_together, table1_of
from uqassay.lab.papers.options import GivenFiles, Progress, Say, given_files
from uqassay.lab.papers.paper_tables import printed_table
from uqassay.lab.papers.reproduction import Reproduction
from uqassay.text import count, counted, listed

if TYPE_CHECKING:
    from uqassay.lab.datasets.dataset import Dataset

__all__ = [
    "FIRST_NEW_CLASS",
    "PREDICTORS",
    "frozen_features",
    "reproduce_trained_table1",
    "trained_steps",
    "training_sets",
]


# Data sets of Table 1 of the paper for trained predictors: small ones that come along, given images, the paper's own.
#
# Without data the presets "smoke" and "cpu" train on digits, MNIST-10k and features of a frozen network: a small
# convolutional network learns the digits 0 to 4 and is frozen, and the instances are its features of the digits 5 to 9.
# It has seen no instance and no class of the table.

HALF = 0.5  # test share of small data sets, so that some hundred instances are tested
FIRST_NEW_CLASS = 5  # the network that is frozen knows the classes before it
FROZEN_EPOCHS = {"smoke": 1, "cpu": 3}
FROZEN_LIMIT = {"smoke": 300, "cpu": None}  # images that the frozen network learns from
FROZEN_SEED = 0  # fixed, so that all seeds of the predictors share one data set
PIECE = 64  # images at a time

Features = NDArray[np.float32]


@final
@dataclass(frozen=True)
class Table1Set:
    """A data set with the network that is trained on it."""

    title: str  #: In the table
    source: str  #: Name for `load_dataset`
    name: str  #: Of the data set
    network: str = ""  #: For images; "" means hidden layers
    label: str = ""  #: In the keys of the trainings; "" means the title
    printed: bool = False  #: Whether it is one of the paper's, whose printed rows stand beside it


def training_sets(
    plan: Table1Plan, folder: Path, say: Say, given: GivenFiles | None = None
) -> tuple[list[Table1Set], list[str]]:
    """The data sets of a plan that are at hand; those that are computed are kept in a folder.

    Parameters
    ----------
    folder : Path
        For the split of the digits, features, and images of files.
    say : callable
        Called with a line of text at every step.
    given : GivenFiles, optional
        Files in place of those of the only data set of the plan.

    Returns
    -------
    notes : list of str
        Lines on the data sets, and on those that were left out with the reason.
    """
    notes: list[str] = []
    say("reading the data")
    if given is not None:
        (name,) = plan.data_sets
        return _given(given, plan), [f"{given.shown(name)}: given files in place of those of {name}"]
    found = _of_paper(plan, folder, notes) if plan.data_sets else _small_sets(plan.preset, folder, say, notes)
    return found, notes


def frozen_features(images: "Dataset", *, epochs: int, limit: int | None = None) -> "Dataset":
    """A network learns the classes below `FIRST_NEW_CLASS`; its features of the others are a data set in halves.

    Parameters
    ----------
    images : Dataset
        Training and test images ``(n, C, H, W)`` in [0, 1], which are joined.
    limit : int, optional
        Greatest number of images that the network learns from.

    Returns
    -------
    Dataset
        Features ``(n, 64)``.
    """
    from uqassay.lab.datasets.dataset import Dataset, stratified_split
    from uqassay.lab.methods import build_method

    network = build_method(
        "snn",
        backbone="cnn-small",
        epochs=epochs,
        standardise=False,
        progress=False,
        device="cpu",
        parallel="sequential",
        random_state=FROZEN_SEED,
    )
    from uqassay.lab.methods.training import (
        torch_threads,  # after build_method, which names the extra if PyTorch is missing
    )

    x = np.concatenate([images.X_train, images.X_test]).astype(np.float32)
    y = np.concatenate([images.y_train, images.y_test])
    known = np.flatnonzero(y < FIRST_NEW_CLASS)[:limit]
    new = np.flatnonzero(y >= FIRST_NEW_CLASS)
    with torch_threads(1):  # so that sums have the same order on every machine
        network.fit(x[known], y[known])
        features = _in_pieces(x[new], lambda piece: network.network_.features(piece[None])[0])
    labels = y[new] - FIRST_NEW_CLASS
    train, test = stratified_split(labels, HALF, FROZEN_SEED)
    return Dataset(
        "frozen features",
        X_train=features[train],
        y_train=labels[train],
        X_test=features[test],
        y_test=labels[test],
        class_names=images.class_names[FIRST_NEW_CLASS:],
        source=images.source,
        licence=images.licence,
    )


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _given(given: GivenFiles, plan: Table1Plan) -> list[Table1Set]:
    """Given files with each network."""
    from uqassay.lab.datasets import load_dataset

    (name,) = plan.data_sets
    shape = load_dataset(given.source).X_train.shape[1:]
    if PAPER_SETS[name].images and len(shape) not in (2, 3):
        rule = "must hold images (n, C, H, W) or (n, H, W)"
        fail("data", rule, f"got instances of shape {shape}", "reshape X", code="shape")
    return [_on_network(name, network, given.source, given) for network in _networks(name, plan)]


def _networks(name: str, plan: Table1Plan) -> tuple[str, ...]:
    return plan.architectures if PAPER_SETS[name].images else ("",)


def _on_network(name: str, network: str, source: str, given: GivenFiles | None = None) -> Table1Set:
    suffix = f", {network}" if network else ""
    if given is not None:
        return Table1Set(given.shown(name) + suffix, source, name, network, given.label(name) + suffix)
    return Table1Set(name + suffix, source, name, network, printed=True)


def _small_sets(preset: str, folder: Path, say: Say, notes: list[str]) -> list[Table1Set]:
    """Digits, MNIST-10k where its files are, and features of a frozen network."""
    from uqassay.lab.datasets import load_dataset

    digits = load_dataset("digits", test_size=HALF)
    names = {"digits": _kept(folder / f"digits-{digits.content_hash[:16]}.npz", lambda: digits)}
    mnist = _present("mnist-10k", notes)
    if mnist is not None:
        names["MNIST-10k"] = "mnist-10k"
    source, images, title = (
        (mnist, mnist, "MNIST-10k") if mnist is not None else (digits, _as_images(digits), "scikit-learn's digits")
    )
    epochs, limit = FROZEN_EPOCHS[preset], FROZEN_LIMIT[preset]
    say(f"a network on {title}, to be frozen")
    path = folder / f"frozen-{_key(source, epochs, limit)}.npz"
    names["frozen features"] = _kept(path, lambda: frozen_features(images, epochs=epochs, limit=limit))
    learnt = "" if limit is None else f", {limit} of them,"
    notes.append(
        f"frozen features: a small convolutional network learns the digits 0 to 4 of {title}{learnt} in "
        f"{counted(epochs, 'epoch')} and is frozen; its 64 features of the digits 5 to 9 are the instances, so that no "
        "instance and no class is used by both"
    )
    return [Table1Set(title, source, title) for title, source in names.items()]


def _of_paper(plan: Table1Plan, folder: Path, notes: list[str]) -> list[Table1Set]:
    """The paper's data sets that are at hand."""
    found: list[Table1Set] = []
    for name in plan.data_sets:
        about = PAPER_SETS[name]
        data = _present(name, notes, plan.read_size if about.in_folders else None)
        if data is None:
            continue
        notes += _beside_table2(name, data)
        source = name
        if about.in_folders:  # `load_dataset` has another size by itself
            path = folder / f"{name}-{plan.read_size}-{data.content_hash[:16]}.npz"
            source = _kept(path, partial(replace, data))  # the data themselves
        found += [_on_network(name, network, source) for network in _networks(name, plan)]
    if not found:
        got = f"none of {listed(list(plan.data_sets))} is: {notes[0]}"
        fail("dataset", "must be at hand", got, "put its files there, or give data", code="missing")
    return found


def _beside_table2(name: str, data: "Dataset") -> list[str]:
    """A note where the sizes are not those of Table 2."""
    rows = printed_table("credal_calibration_table2_datasets")
    (row,) = (row for row in rows if row["dataset"] == PAPER_SETS[name].in_table2)
    part = part_size(len(data.y_test))
    ours = [data.n_classes, len(data.y_train), part, part]
    printed = [int(row[key]) for key in ("classes", "n_train", "n_calibration", "n_test")]
    return [] if ours == printed else [f"{name} has {_sizes(ours)}; Table 2 has {_sizes(printed)}"]


def _sizes(numbers: list[int]) -> str:
    parts = listed([count(n) for n in numbers[1:]])
    return f"{counted(numbers[0], 'class', 'classes')} and {parts} instances to train, calibrate and test"


def _present(name: str, notes: list[str], image_size: int | None = None) -> "Dataset | None":
    """A data set, or None and a note if it is not at hand."""
    from uqassay.lab.datasets import load_dataset

    try:
        return load_dataset(name, image_size=image_size)
    except InputError as problem:
        missing = problem
    notes.append(f"{name} is left out: {missing}")
    return None


def _kept(path: Path, make: Callable[[], "Dataset"]) -> str:
    """The name of a data set in a file, which is made if it is not there."""
    if not path.is_file():
        data = make()
        arrays: dict[str, Any] = {
            "X_train": _packed(data.X_train),
            "y_train": data.y_train,
            "X_test": _packed(data.X_test),
            "y_test": data.y_test,
            "class_names": np.array(data.class_names),
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as stream:
                np.savez(stream, **arrays)
        except OSError as problem:
            raise InputError(
                "resume",
                "must be a folder with room that takes files",
                f"{path} cannot be written ({problem.strerror or type(problem).__name__})",
                "check its permissions and the free space",
                code="unwritable",
            ) from problem
    return f"npz:{path.resolve()}"


def _packed(x: NDArray[Any]) -> NDArray[Any]:
    """Images (n, C, H, W) whose values are all n/255 as bytes, of which `load_npz` makes the same numbers; else x itself."""
    if x.ndim != 4:
        return x
    found = np.empty(x.shape, dtype=np.uint8)
    for rows in row_chunks(len(x), x[:1].nbytes):
        found[rows] = np.rint(x[rows] * 255)
        if not np.array_equal(found[rows] / np.float32(255), x[rows]):
            return x
    return found


def _as_images(digits: "Dataset") -> "Dataset":
    """Rows of 64 pixels 0 … 16 as images (1, 8, 8) in [0, 1]."""
    parts: dict[str, Any] = {part: getattr(digits, part).reshape(-1, 1, 8, 8) / 16 for part in ("X_train", "X_test")}
    return replace(digits, **parts)


def _key(source: "Dataset", epochs: int, limit: int | None) -> str:
    """Digest of everything that the frozen features depend on."""
    cell = Cell(
        f"{__name__}:frozen_features",
        dataset=source.name,
        method="snn",
        seed=FROZEN_SEED,
        params={"epochs": epochs, "limit": limit},
        data_hash=source.content_hash,
    )
    return cell.key[:16]


def _in_pieces(x: Features, function: Callable[[Any], Any]) -> Features:
    """Apply a function of tensors to pieces of the rows, without gradients."""
    import torch

    with torch.no_grad():
        found = [function(torch.from_numpy(x[at : at + PIECE].copy())).cpu().numpy() for at in range(0, len(x), PIECE)]
    return np.concatenate(found)


# Table 1 of the paper with predictors of our own: one network, two dropout networks and a deep ensemble on each data
# set.
#
# The networks learn from the training instances alone. The others are halved: one half, the paper's calibration part,
# is tested and gives the weights; the other, its test part, says what average and weighted averages are worth.

SIZE = {"DN(0.1)": "n_samples", "DN(0.6)": "n_samples", "DE": "n_members"}  # the option that is the number of members
N_SMALL_SETS = 3
ON_IMAGENET_NETWORK = "uqassay.lab.papers.credal_calibration.imagenet_networks:run_on_imagenet_network"


def reproduce_trained_table1(
    preset: str,
    conventions: Sequence[str] = ("exact",),
    *,
    options: Table1Options | None = None,
    seed: int = 0,
    workers: int = 1,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Reproduction:
    """Train the table's four predictors on every data set that is there, and judge them.

    Parameters
    ----------
    preset : {"smoke", "cpu", "gpu-hour", "paper"}
        See `uqassay.lab.papers.credal_calibration.plan`.
    conventions : sequence of {"exact", "paper-code"}
    options : Table1Options, optional
        With data, these stand in place of the files of the only data set, such as a copy of CIFAR-10.
    seed : int
        Of the first training, of the halves and the draws; later trainings have the seeds after it. The split into training
        and other instances is the same for all.
    workers : int
        Processes that train; the results do not depend on it.
    resume : path, optional
        Folder for features and predictions, which are not made again; it may be moved.
    progress : callable, optional

    Returns
    -------
    Reproduction
        ``table1/<data set>/<predictor>/<convention>/<column>``, columns as for given ensembles.

    Raises
    ------
    InputError
        Options or data that do not fit, a folder that takes no files, or no predictor that could be trained.
    MissingDependencyError
        PyTorch or scikit-learn is missing; with several workers, Dask; for MobileNetV2 and VGG16, torchvision.
    """
    from uqassay.lab.bench.store import older_notes
    from uqassay.lab.papers.trainings import all_failed, folder_of, train_cells, trained_cells

    say = progress or (lambda step: None)
    options = options or Table1Options()
    plan = plan_of(preset, options)
    given = given_files(options.data, plan.data_sets if options.dataset else (), name=options.data_name)
    optional_package("torch", "lab", "training")
    if plan.pretrained:
        optional_package("torchvision.models", "torchvision>=0.17", f"training {listed(list(plan.pretrained))}")
    with folder_of(resume) as folder:
        sets, notes = training_sets(plan, folder / "data", say, given)
        by_run = [_cells_by_predictor(sets, plan, seed + run) for run in range(plan.runs)]
        cells = [cell for parts in by_run for of_row in parts.values() for cell in of_row]
        failed = train_cells(cells, folder, workers=workers, say=say)
        rows = {
            cell.name: f"{title}, {cell.method}{f', seed {cell.seed}' if plan.runs > 1 else ''}"
            for parts in by_run
            for (title, _), of_row in parts.items()
            for cell in of_row
        }
        notes += [f"{rows[name]} failed: {reason}" for name, reason in failed.items()]
        notes += older_notes(cells, folder)
        judged: dict[tuple[str, str, str], list[Table1Row]] = {}
        sizes = {}
        places = ((parts, key) for parts in by_run for key in parts)
        for place, (parts, (title, predictor)) in enumerate(places):
            of_row = parts[title, predictor]
            kept = [result for _, result in trained_cells(of_row, folder)]
            if len(kept) < len(of_row):
                continue
            ensemble = _ensemble(title, kept)
            n = len(ensemble.labels)
            part = part_size(n) if plan.data_sets else None
            sizes[title] = _training_sizes(title, kept[0].metadata["facts"]["n_train"], n, part)
            say(f"testing {title}, {predictor}")
            for one in conventions:
                row = judge_together(
                    ensemble,
                    predictor,
                    one,
                    n_draws=plan.n_draws,
                    seed=seed,
                    place=place,
                    part=part,
                    resample=bool(options.resample),
                )
                judged.setdefault((title, predictor, one), []).append(row)
    if not judged:
        raise all_failed("table1", failed)
    printed = [one.title for one in sets if one.printed]
    about = (*plan.notes(), _trainings_note(plan.runs, seed), *notes, *sizes.values())
    return table1_of(list(judged.values()), about, printed, resample=bool(options.resample))


def trained_steps(plan: Table1Plan) -> int:
    """Number of calls of ``progress`` if all data sets are at hand.

    Examples
    --------
    >>> from uqassay.lab.papers.credal_calibration.plan import PLANS
    >>> trained_steps(PLANS["cpu"]), trained_steps(PLANS["paper"])
    (123, 762)
    """
    n_images = len(plan.architectures) * len(plan.image_sets)
    n_features = len(plan.data_sets) - len(plan.image_sets) if plan.data_sets else N_SMALL_SETS
    own = 2 if plan.data_sets else 3
    rows = (n_images + n_features) * len(plan.predictors)
    return own + plan.runs * (2 * rows + (n_images * (plan.n_members - 1) if "DE" in plan.predictors else 0))


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _cells_by_predictor(sets: Sequence[Table1Set], plan: Table1Plan, seed: int) -> dict[tuple[str, str], list[Any]]:
    """Cells to train, by data set and predictor; each member of an ensemble of networks for images has its own."""
    from uqassay.lab.bench.config import BenchConfig
    from uqassay.lab.bench.methods import cells_of

    found: dict[tuple[str, str], list[Any]] = {}
    for one in sets:
        common = plan.method_options(one.name) | _network_options(one, plan)
        predictors, methods, params = {}, [], {}
        for predictor, method in plan.predictors.items():
            size = {SIZE[predictor]: plan.n_members} if predictor in SIZE else {}
            split = predictor == "DE" and one.network
            own = [size] if not split else [{"first_member": m, "n_members": 1} for m in range(plan.n_members)]
            for m, options in enumerate(own, start=1):
                label = f"{predictor} {m}" if split else predictor
                predictors[label], params[label] = predictor, offered_options(method, common | options)
                methods.append(f"{label}={method}")
        label = one.label or one.title
        # "smoke" limits the instances; the other presets of a benchmark differ in nothing but such limits
        limits = "smoke" if plan.preset == "smoke" else "paper"
        config = BenchConfig(dataset=[label], method=methods, seeds=[seed], preset=limits, params=params)
        for cell in cells_of(config, {label: one.source}):
            found.setdefault((one.title, predictors[cell.method]), []).append(_network_on(cell, one, plan))
    return found


def _network_options(one: Table1Set, plan: Table1Plan) -> dict[str, Any]:
    """Options of the methods that state the network, but for pretrained ones."""
    if not one.network:
        return {"backbone": list(plan.hidden)}
    if one.network in IMAGENET_NETWORKS:
        return {"standardise": False, "parallel": "sequential"}
    own = {"backbone": one.network}
    return own if plan.image_size is None else own | {"image_size": plan.image_size}


def _network_on(cell: Any, one: Table1Set, plan: Table1Plan) -> Any:
    """The cell on its pretrained network, if it has one."""
    if one.network not in IMAGENET_NETWORKS:
        return cell
    params = dict(cell.params)
    params["params"] = cell.params["params"] | {"image_size": plan.imagenet_size}
    params["network"] = {"name": one.network, "head": plan.head, "end_to_end": plan.end_to_end}
    return replace(cell, function=ON_IMAGENET_NETWORK, params=params)


def _ensemble(title: str, parts: Sequence[Any]) -> LabelledEnsemble:
    """Stored predictions of the same instances as members (n, M, K) with their labels."""
    points = [np.maximum(part.prediction.hull_points().astype(np.float64), 0.0) for part in parts]
    members = np.concatenate(points, axis=1)
    members /= members.sum(axis=2, keepdims=True)  # of predictions in single precision
    names = tuple(f"member {m + 1}" for m in range(members.shape[1]))
    return LabelledEnsemble(title, members, np.asarray(parts[0].labels).astype(np.intp), names)


def _trainings_note(runs: int, seed: int) -> str:
    if runs == 1:
        return (
            "every predictor is trained once: another seed, or another processor, may reverse a verdict; --runs 5 shows how "
            "far they vary"
        )
    return (
        f"every predictor is trained {runs} times, seeds {seed} to {seed + runs - 1}, and tested on the same instances: "
        "numbers are means with 95 % intervals over trainings, p-values the median with the least and the greatest, and a "
        "verdict is the share of trainings that are rejected"
    )


def _training_sizes(title: str, n_train: int, n: int, part: int | None) -> str:
    tested, held_out = (n // 2, n - n // 2) if part is None else (part, part)
    unused = f", {count(n - 2 * part)} unused" if part is not None and n > 2 * part else ""
    return (
        f"{title}: {count(n_train)} instances for training, {count(tested)} for tests and weights, {count(held_out)} for "
        f"accuracy and errors{unused}"
    )
