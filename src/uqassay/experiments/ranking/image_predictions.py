"""Prediction files of pretrained networks for the validation images of ImageNet, as `ranking-imagenet-real` reads them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from uqassay._files import whole_file
from uqassay._optional import optional_package
from uqassay.bench.source_code import code_version
from uqassay.errors import InputError
from uqassay.experiments.ranking.imagenet_files import N_CLASSES, labels_of, validation_images
from uqassay.experiments.ranking.made_files import FileJob, digest_of, make_missing, place_of
from uqassay.experiments.ranking.pretrained_networks import (
    PretrainedNetwork,
    chosen_networks,
    network_outputs,
    version_of,
)
from uqassay.predictions.files import problems_named
from uqassay.wording import count, counted

__all__ = ["NetworkOptions", "make_image_predictions"]

FUNCTION = "uqassay.experiments.ranking.image_predictions:make_image_predictions"


@final
@dataclass(frozen=True)
class NetworkOptions:
    """Which networks predict, and how.

    Attributes
    ----------
    library, names, weights
        As in `chosen_networks`.
    batch_size, device
        As in `network_outputs`.
    """

    library: str = "torchvision"
    names: str | Sequence[str] | None = None
    weights: str = "all"
    batch_size: int = 64
    device: str = "auto"

    def networks(self) -> list[PretrainedNetwork]:
        """The networks that are asked for."""
        return chosen_networks(self.library, self.names, self.weights)

    def described(self) -> str:
        """For the notes of a result."""
        names = "the paper's list" if self.names is None else "the networks asked for"
        sets = f", {self.weights} weights" if self.library == "torchvision" else ""
        return f"{names} of {self.library} {version_of(self.library)}{sets}"


def make_image_predictions(
    folder: Path,
    images: Path,
    options: NetworkOptions,
    *,
    devkit: Path | None = None,
    say: Callable[[str], None] = lambda step: None,
) -> list[str]:
    """Write NAME.npz (``logits``, ``ids``) for each network, and labels.npy where the files of ImageNet give the labels.

    Parameters
    ----------
    folder : Path
        Takes the files; those that are there from the same code, weights and images are kept.
    images : Path
        As in `validation_images`.
    options : NetworkOptions
    devkit : Path, optional
        As in `labels_of`.
    say : callable
        Called with a line of text for every network.

    Returns
    -------
    list of str
        Notes.

    Raises
    ------
    InputError
        Images, labels or networks that are missing or do not fit.
    MissingDependencyError
        Torchvision, timm, PyTorch or Pillow is missing.
    """
    paths = validation_images(images)
    networks = options.networks()
    pillow = optional_package("PIL.Image", "vision", "reading images")
    place_of(folder)
    _write_labels(folder, paths, devkit)
    ids = np.array([path.name for path in paths])
    facts = {
        "code": code_version(FUNCTION),
        "version": version_of(options.library),
        "images": digest_of([f"{path.name} {path.stat().st_size}" for path in paths]),
    }

    def load(i: int) -> Any:
        with problems_named(paths[i]), pillow.open(paths[i]) as image:
            return image.convert("RGB")

    def job(network: PretrainedNetwork) -> FileJob:
        def make() -> dict[str, Any]:
            found = network_outputs(network, load, len(paths), batch_size=options.batch_size, device=options.device)
            if found.logits.shape[1] != N_CLASSES:
                raise InputError(
                    "networks",
                    f"must have the {count(N_CLASSES)} classes of ILSVRC 2012",
                    f"{network.file} has {count(found.logits.shape[1])}",
                    "leave it out",
                    code="shape",
                )
            return {"logits": found.logits, "ids": ids}

        return FileJob(network.file, facts | {"network": [network.library, network.name, network.weights]}, make)

    notes = make_missing(folder, [job(network) for network in networks], say)
    made = f"{counted(len(networks), 'model')} of {options.described()}, on {counted(len(paths), 'image')}"
    return [f"predictions made here: {made}", *notes]


def _write_labels(folder: Path, paths: list[Path], devkit: Path | None) -> None:
    """labels.npy, unless it is there."""
    path = folder / "labels.npy"
    if path.is_file():
        return
    labels = labels_of(paths, devkit)
    if labels is None:
        raise InputError(
            "devkit",
            "must be the folder of the development kit where the images are not sorted into folders by WordNet id",
            "got none, and no labels.npy",
            "unpack ILSVRC2012_devkit_t12.tar.gz and name its folder",
            code="missing",
        )
    with whole_file(path) as stream:
        np.save(stream, labels)
