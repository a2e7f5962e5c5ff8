"""Ranking metrics against the ground truths of ReaL-ImageNet, for saved models.

Paper 003, section 4, Table 1 (rows R-ImageNet): ReaL's scores of the labels of a validation image are its label distribution.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_labels
from uqassay.datasets.label_distributions import read_real_scores
from uqassay.errors import InputError
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.ranking.cifar10h import check_agreement
from uqassay.experiments.ranking.human_labels import correlate_saved
from uqassay.experiments.ranking.human_labels import progress_steps as steps_of_files
from uqassay.experiments.ranking.image_predictions import NetworkOptions, make_image_predictions
from uqassay.experiments.ranking.imagenet_files import N_IMAGES, image_number
from uqassay.experiments.ranking.pretrained_networks import n_asked
from uqassay.experiments.ranking.saved_models import HumanLabels, check_folder
from uqassay.experiments.reproduction import Reproduction
from uqassay.predictions.files import load_labels
from uqassay.wording import count

__all__ = ["progress_steps", "reproduce_ranking_imagenet_real"]

NEEDED = (
    "put there labels.npy (50,000 classes, 0 … 999 in the order of the WordNet ids, as PyTorch has them) and one file NAME.npz "
    "for each model with probs or logits (n, 1000), in the order of the 50,000 validation images by name, or with ids, their "
    "file names; or give the folder of the images and the networks that make these files; ReaL's scores.npz is read from the "
    "cache folder, real/scores.npz"
)
CHOICES = (
    "the label distribution of an image is ReaL's scores divided by their sum, as in the paper",
    "the metrics see the label of ImageNet; the paper does not say which its metrics saw",
)

Progress = Callable[[str], None]


def reproduce_ranking_imagenet_real(
    *,
    data: str | os.PathLike[str] | None = None,
    images: str | os.PathLike[str] | None = None,
    devkit: str | os.PathLike[str] | None = None,
    networks: str | Sequence[str] | None = None,
    library: str = "torchvision",
    weights: str = "all",
    batch_size: int = 64,
    device: str = "auto",
    figures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Correlate the ranking metrics with ReaL's scores of the validation images of ImageNet over saved or pretrained models.

    Parameters
    ----------
    data : path
        Folder with labels.npy, the 50,000 labels of ImageNet, and prediction files (.npz) with ``probs`` or ``logits`` (n, K):
        all 50,000 images in the order of their names, or any of them with ``ids``, their file names. The scores are ReaL's
        in the cache folder.
    images : path, optional
        Folder of the validation images, as published or sorted into folders by WordNet id. With it the networks predict them
        first, and the files are written to `data`, where finished ones are kept.
    devkit : path, optional
        Folder of the development kit of ILSVRC 2012, for labels.npy if neither that file nor folders by WordNet id are there.
    networks : str or sequence of str, optional
        Names of networks; by default the 77 of the paper's list.
    library : {"torchvision", "timm"}
        Package of the networks.
    weights : str
        Of torchvision: "all" takes every set of weights of a network, "default" one, and a name such as "IMAGENET1K_V1" that.
    batch_size : int
        Images that a network takes at once.
    device : str
        "auto", "cpu", "cuda", …
    figures : path, optional
        Folder for Figure 1 as a PNG file; needs matplotlib.
    progress : callable, optional
        Called with a line of text at every step.

    Returns
    -------
    Reproduction
        As of `human_labels.correlate_with_votes`. Images without a score above 0 are left out.

    Raises
    ------
    InputError
        No folder, files that are missing or do not fit together, labels that do not belong to the scores, fewer than four
        models; images or networks that are missing.
    MissingDependencyError
        For making predictions, torchvision or timm is missing.
    """
    check_figures(figures)
    notes = list(CHOICES)
    if images is not None and data is not None:
        options = NetworkOptions(library, networks, weights, batch_size, device)
        kit = None if devkit is None else Path(devkit)
        say = progress or (lambda step: None)
        notes += make_image_predictions(Path(data), Path(images), options, devkit=kit, say=say)
    folder = check_folder(data, NEEDED)
    if not (folder / "labels.npy").is_file():
        raise InputError("data", "must hold labels.npy", f"{folder} does not", NEEDED, code="missing")
    labels = np.asarray(load_labels(folder / "labels.npy"))
    if labels.shape != (N_IMAGES,):
        raise InputError("data", f"labels.npy must be ({N_IMAGES},)", f"got {labels.shape}", NEEDED, code="shape")
    real = read_real_scores()
    labels = as_labels(labels, len(real.class_names), name="data: labels.npy")
    places = _places(real.ids.tolist())
    check_agreement(labels[places], real.votes)
    human = HumanLabels(
        "R-ImageNet", labels[places], real.votes, places, N_IMAGES, ids=real.ids, models="networks of torchvision"
    )
    left_out = f"{count(N_IMAGES - len(places))} of {count(N_IMAGES)} images have no score above 0 and are left out"
    return correlate_saved(
        "ranking-imagenet-real",
        folder,
        human,
        needed=NEEDED,
        notes=(*notes, left_out),
        figures=figures,
        progress=progress,
    )


def progress_steps(
    *,
    data: str | os.PathLike[str] | None = None,
    images: object = None,
    networks: str | Sequence[str] | None = None,
    **_: object,
) -> int:
    """About how often the protocol reports its progress."""
    return steps_of_files(data=data) + (0 if images is None else n_asked(networks))


def _places(names: Sequence[str]) -> NDArray[np.int64]:
    """Places, from 0, of validation images among all by their file names."""
    places = np.empty(len(names), dtype=np.int64)
    for i, name in enumerate(names):
        number = image_number(name)
        if number is None:
            raise InputError(
                "info",
                f"must name validation images, ILSVRC2012_val_00000001.JPEG … {N_IMAGES:08d}.JPEG",
                f"got {name!r}",
                "get scores.npz again",
                code="range",
                source="scores.npz",
            )
        places[i] = number - 1
    return places
