"""Data sets of Table 1 of paper 001 for trained predictors: small ones that come along, given images, the paper's own.

Without data the presets "smoke" and "cpu" train on digits, MNIST-10k and features of a frozen network: a small convolutional
network learns the digits 0 to 4 and is frozen, and the instances are its features of the digits 5 to 9. It has seen no
instance and no class of the table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks
from uqassay._files import whole_file
from uqassay.bench.cell import Cell
from uqassay.errors import InputError
from uqassay.experiments.credal_calibration.table1_plans import IMAGENET_NETWORKS, PAPER_SETS, Table1Plan, part_size
from uqassay.experiments.given_files import GivenFiles
from uqassay.experiments.reproduction import printed_table
from uqassay.wording import count, counted, listed

if TYPE_CHECKING:
    from uqassay.datasets.dataset import Dataset

__all__ = ["FIRST_NEW_CLASS", "Table1Set", "frozen_features", "training_sets"]

HALF = 0.5  # test share of small data sets, so that some hundred instances are tested
FIRST_NEW_CLASS = 5  # the network that is frozen knows the classes before it
FROZEN_EPOCHS = {"smoke": 1, "cpu": 3}
FROZEN_LIMIT = {"smoke": 300, "cpu": None}  # images that the frozen network learns from
FROZEN_SEED = 0  # fixed, so that all seeds of the predictors share one data set
PIECE = 64  # images at a time

Features = NDArray[np.float32]
Say = Callable[[str], None]


@final
@dataclass(frozen=True)
class Table1Set:
    """A data set with the network that is trained on it.

    Attributes
    ----------
    title : str
        In the table.
    source : str
        Name for `load_dataset`.
    name : str
        Of the data set.
    network : str
        For images; "" means hidden layers.
    label : str
        In the keys of the trainings; "" means the title.
    printed : tuple of str, optional
        Data set and architecture of the printed rows to which it belongs.
    """

    title: str
    source: str
    name: str
    network: str = ""
    label: str = ""
    printed: tuple[str, str] | None = None


def training_sets(
    plan: Table1Plan, folder: Path, say: Say, given: GivenFiles | None = None
) -> tuple[list[Table1Set], list[str]]:
    """The data sets of a plan that are at hand; those that are computed are kept in a folder.

    Parameters
    ----------
    plan : Table1Plan
    folder : Path
        For the split of the digits, features, and images of files.
    say : callable
        Called with a line of text at every step.
    given : GivenFiles, optional
        Files in place of those of the only data set of the plan.

    Returns
    -------
    sets : list of Table1Set
    notes : list of str
        Lines on the data sets, and on those that were left out with the reason.

    Raises
    ------
    InputError
        None of the paper's data sets is at hand, or given files that do not fit.
    MissingDependencyError
        scikit-learn or PyTorch is missing.
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
    epochs : int
    limit : int, optional
        Greatest number of images that the network learns from.

    Returns
    -------
    Dataset
        Features ``(n, 64)``.
    """
    from uqassay.datasets.dataset import Dataset
    from uqassay.datasets.splits import stratified_split
    from uqassay.methods import build_method

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
    from uqassay.methods.devices import torch_threads  # after build_method, which names the extra if PyTorch is missing

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
    from uqassay.datasets import load_dataset

    (name,) = plan.data_sets
    shape = load_dataset(given.source).X_train.shape[1:]
    if PAPER_SETS[name].images and len(shape) not in (2, 3):
        rule = "must hold images (n, C, H, W) or (n, H, W)"
        raise InputError("data", rule, f"got instances of shape {shape}", "reshape X", code="shape")
    return [_on_network(name, network, given.source, given) for network in _networks(name, plan)]


def _networks(name: str, plan: Table1Plan) -> tuple[str, ...]:
    return plan.architectures if PAPER_SETS[name].images else ("",)


def _on_network(name: str, network: str, source: str, given: GivenFiles | None = None) -> Table1Set:
    suffix = f", {network}" if network else ""
    if given is not None:
        return Table1Set(given.shown(name) + suffix, source, name, network, given.label(name) + suffix)
    printed = (PAPER_SETS[name].in_table1, IMAGENET_NETWORKS.get(network, "-"))
    return Table1Set(name + suffix, source, name, network, printed=printed)


def _small_sets(preset: str, folder: Path, say: Say, notes: list[str]) -> list[Table1Set]:
    """Digits, MNIST-10k where its files are, and features of a frozen network."""
    from uqassay.datasets import load_dataset

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
        raise InputError("dataset", "must be at hand", got, "put its files there, or give data", code="missing")
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
    from uqassay.datasets import load_dataset

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
    from uqassay.methods import METHODS

    modules = tuple(f"uqassay.methods.{file.removesuffix('.py')}" for file in METHODS["snn"].source_files)
    cell = Cell(
        f"{__name__}:frozen_features",
        dataset=source.name,
        method="snn",
        seed=FROZEN_SEED,
        params={"epochs": epochs, "limit": limit},
        data_hash=source.content_hash,
        rests_on=modules,
    )
    return cell.key[:16]


def _in_pieces(x: Features, function: Callable[[Any], Any]) -> Features:
    """Apply a function of tensors to pieces of the rows, without gradients."""
    import torch

    with torch.no_grad():
        found = [function(torch.from_numpy(x[at : at + PIECE].copy())).cpu().numpy() for at in range(0, len(x), PIECE)]
    return np.concatenate(found)
