"""Penultimate features of pretrained networks for the test images of CIFAR-10, as `ranking-cifar10h-probes` reads them."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._files import whole_file
from uqassay._optional import optional_package
from uqassay.bench.source_code import code_version
from uqassay.datasets.registry import load_dataset
from uqassay.errors import FileFormatError, InputError
from uqassay.experiments.ranking.image_predictions import NetworkOptions
from uqassay.experiments.ranking.made_files import FileJob, make_missing, place_of
from uqassay.experiments.ranking.pretrained_networks import PretrainedNetwork, network_outputs, version_of
from uqassay.predictions.files import load_labels, problems_named
from uqassay.wording import counted

__all__ = ["feature_files", "make_features", "read_features"]

FUNCTION = "uqassay.experiments.ranking.feature_files:make_features"
FEATURES = "features"  # the array of an .npz file
OTHERS = ("labels.npy", "human_counts.npy")


def feature_files(folder: Path) -> list[Path]:
    """The files of features in a folder, by name: .npy, and .npz with an array ``features``."""
    return sorted(path for path in (*folder.glob("*.npy"), *folder.glob("*.npz")) if _has_features(path))


def read_features(path: Path, n: int) -> NDArray[Any]:
    """Features ``(n, d)`` of a file.

    Raises
    ------
    FileFormatError
        Something else than finite numbers (n, d).
    """
    with problems_named(path):
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as held:
                features: NDArray[Any] = held[FEATURES]
        else:
            features = np.load(path, allow_pickle=False, mmap_mode="r")
        numbers = features.dtype.kind in "iuf"
        if not (numbers and features.ndim == 2 and len(features) == n and np.isfinite(features).all()):
            raise FileFormatError(
                "features",
                f"must be finite numbers ({n}, d)",
                f"got {features.dtype} {features.shape}" + ("" if not numbers else ", or nan or infinite ones"),
                "save one row for each image",
                code="shape",
            )
    return features


def make_features(
    folder: Path,
    images: str | os.PathLike[str],
    options: NetworkOptions,
    *,
    say: Callable[[str], None] = lambda step: None,
) -> list[str]:
    """Write NAME.npz (``features``) for each network, and labels.npy.

    Parameters
    ----------
    folder : Path
        Takes the files; those that are there from the same code, weights and images are kept.
    images : str or path
        "cifar-10" for the data set of the cache folder, or a folder with train.npz and test.npz; the test images are used.
    options : NetworkOptions
    say : callable
        Called with a line of text for every network.

    Returns
    -------
    list of str
        Notes.

    Raises
    ------
    InputError
        Images or networks that are missing; labels of the images that differ from labels.npy.
    MissingDependencyError
        Torchvision, timm, PyTorch or Pillow is missing.
    """
    name = os.fspath(images)
    data = load_dataset(name if name == "cifar-10" else f"npz:{name}")
    pixels = np.round(255.0 * np.asarray(data.X_test)).astype(np.uint8)  # (n, 3, height, width)
    if pixels.ndim != 4 or pixels.shape[1] != 3:
        raise InputError(
            "images",
            "must be images in colour (n, 3, height, width)",
            f"got {data.X_test.shape}",
            "give the folder of a copy of CIFAR-10, or cifar-10",
            code="shape",
        )
    networks = options.networks()
    pillow = optional_package("PIL.Image", "vision", "preparing images")
    place_of(folder)
    _keep_labels(folder, np.asarray(data.y_test))
    facts = {
        "code": code_version(FUNCTION),
        "version": version_of(options.library),
        "images": hashlib.sha256(pixels.tobytes()).hexdigest(),
    }

    def load(i: int) -> Any:
        return pillow.fromarray(pixels[i].transpose(1, 2, 0).copy())

    def job(network: PretrainedNetwork) -> FileJob:
        def make() -> dict[str, Any]:
            how = {"batch_size": options.batch_size, "device": options.device}
            return {FEATURES: network_outputs(network, load, len(pixels), with_features=True, **how).features}  # type: ignore[arg-type]

        return FileJob(network.file, facts | {"network": [network.library, network.name, network.weights]}, make)

    notes = make_missing(folder, [job(network) for network in networks], say)
    made = (
        f"{counted(len(networks), 'model')} of {options.described()}, on the {len(pixels)} test images of {data.name}"
    )
    return [f"features made here: {made}", *notes]


# -- helpers -----------------------------------------------------------------------------------------------------------


def _has_features(path: Path) -> bool:
    if path.suffix == ".npy":
        return path.name not in OTHERS
    with problems_named(path), np.load(path, allow_pickle=False) as held:
        return FEATURES in held.files


def _keep_labels(folder: Path, labels: NDArray[Any]) -> None:
    """Write labels.npy, or refuse another one that is there."""
    path = folder / "labels.npy"
    if not path.is_file():
        with whole_file(path) as stream:
            np.save(stream, labels.astype(np.int64))
    elif not np.array_equal(load_labels(path), labels):
        raise InputError(
            "data",
            "labels.npy must be the labels of the images",
            f"{path} differs",
            "choose another folder for the features of these images",
            code="mismatch",
        )
