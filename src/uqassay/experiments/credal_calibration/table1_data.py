"""Data sets of Table 1 of paper 001 for trained predictors: digits, MNIST-10k, and features of a frozen network.

The paper's images are features as well: outputs of a MobileNetV2 or VGG16 that was trained on ImageNet. Here a small
convolutional network learns the digits 0 to 4 and is frozen, and the instances are its features of the digits 5 to 9. The
frozen network has seen no instance and no class of the table.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay._files import whole_file
from uqassay.bench.cell import Cell
from uqassay.errors import InputError, MissingDependencyError
from uqassay.wording import counted

if TYPE_CHECKING:
    from uqassay.datasets.dataset import Dataset

__all__ = ["FIRST_NEW_CLASS", "frozen_features", "training_sets"]

HALF = 0.5  # test share of small data sets, so that some hundred instances are tested
FIRST_NEW_CLASS = 5  # the network that is frozen knows the classes before it
FROZEN_EPOCHS = {"smoke": 1, "cpu": 3}
FROZEN_LIMIT = {"smoke": 300, "cpu": None}  # images that the frozen network learns from
FROZEN_SEED = 0  # fixed, so that all seeds of the predictors share one data set

# the paper's data sets of images with its two networks, and its two of given features
PAPER_IMAGES = ("cifar-10", "caltech-101", "caltech-256", "plantclef")
PAPER_NETWORKS = {"MobileNetV2": "mobilenet_v2", "VGG16": "vgg16"}
PAPER_FEATURES = ("bacteria", "proteins")
IMAGENET_SIZE = 224
IMAGENET_MEAN, IMAGENET_SD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
PIECE = 64  # images at a time; VGG16 needs some 25 MB for each

Features = NDArray[np.float32]
Say = Callable[[str], None]


def training_sets(preset: str, folder: Path, say: Say) -> tuple[dict[str, str], list[str]]:
    """Names for `load_dataset` by the names in the table; features are computed once and kept in a folder.

    Parameters
    ----------
    preset : {"smoke", "cpu", "paper"}
        "paper": the paper's data sets that are at hand, images as outputs of both its networks, instead of our frozen network.
    folder : Path
        For the split of the digits and the features of images.
    say : callable
        Called with a line of text at every step.

    Returns
    -------
    names : dict of str to str
    notes : list of str
        Lines on the data sets, and on those that were left out with the reason.

    Raises
    ------
    MissingDependencyError
        scikit-learn or PyTorch is missing; with the preset "paper", torchvision.
    """
    from uqassay.datasets import load_dataset

    torchvision = _torchvision() if preset == "paper" else None
    say("reading the data")
    notes: list[str] = []
    digits = load_dataset("digits", test_size=HALF)
    names = {"digits": _kept(folder / f"digits-{digits.content_hash[:16]}.npz", lambda: digits)}
    mnist = _present("mnist-10k", notes)
    if mnist is not None:
        names["MNIST-10k"] = "mnist-10k"
    if torchvision is not None:
        return names | _paper_sets(torchvision, folder, say, notes), notes
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
    return names, notes


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


def _paper_sets(torchvision: Any, folder: Path, say: Say, notes: list[str]) -> dict[str, str]:
    """The paper's data sets that are at hand."""
    names = {}
    for name in PAPER_IMAGES:
        data = _present(name, notes)
        if data is None:
            continue
        for network, architecture in PAPER_NETWORKS.items():
            say(f"{network} on {name}")
            path = folder / f"{name}-{architecture}-{data.content_hash[:16]}.npz"
            names[f"{name}, {network}"] = _kept(path, partial(_imagenet_outputs, torchvision, data, architecture))
    return names | {name: name for name in PAPER_FEATURES if _present(name, notes) is not None}


def _present(name: str, notes: list[str]) -> "Dataset | None":
    """A data set, or None and a note if it is not at hand."""
    from uqassay.datasets import load_dataset

    try:
        return load_dataset(name, image_size=IMAGENET_SIZE)
    except InputError as problem:
        missing = problem
    notes.append(f"{name} is left out: {missing}")
    return None


def _kept(path: Path, make: Callable[[], "Dataset"]) -> str:
    """The name of a data set in a file, which is made if it is not there."""
    if not path.is_file():
        data = make()
        arrays: dict[str, Any] = {
            "X_train": data.X_train,
            "y_train": data.y_train,
            "X_test": data.X_test,
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
    torch = import_module("torch")
    with torch.no_grad():
        found = [function(torch.from_numpy(x[at : at + PIECE].copy())).cpu().numpy() for at in range(0, len(x), PIECE)]
    return np.concatenate(found)


def _torchvision() -> Any:
    """The package torchvision, which no extra installs."""
    try:
        return import_module("torchvision")
    except ModuleNotFoundError as problem:
        raise MissingDependencyError(
            "torchvision",
            "is not installed",
            "the preset paper needs its MobileNetV2 and VGG16",
            "install it in addition to PyTorch, or choose the preset cpu",
            code="package",
        ) from problem


def _imagenet_outputs(torchvision: Any, data: "Dataset", architecture: str) -> "Dataset":
    """The 1,000 outputs of a network trained on ImageNet, for every image of a data set."""
    torch = import_module("torch")
    from uqassay.methods.devices import chosen_device

    device = chosen_device("auto")
    try:
        network = torchvision.models.get_model(architecture, weights="IMAGENET1K_V1").to(device).eval()
    except OSError as problem:  # no network
        raise InputError(
            "preset",
            f"the weights of {architecture} cannot be downloaded",
            problem.strerror or type(problem).__name__,
            "put them into PyTorch's cache folder",
            code="unreadable",
        ) from problem
    mean, sd = (torch.tensor(v, device=device).view(3, 1, 1) for v in (IMAGENET_MEAN, IMAGENET_SD))

    def outputs(piece: Any) -> Any:
        x = torch.nn.functional.interpolate(piece.to(device), size=IMAGENET_SIZE, mode="bilinear", antialias=True)
        return network((x - mean) / sd)

    parts: dict[str, Any] = {
        part: _in_pieces(getattr(data, part).astype(np.float32, copy=False), outputs) for part in ("X_train", "X_test")
    }
    return replace(data, votes_test=None, **parts)
