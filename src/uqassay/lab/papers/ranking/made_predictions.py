"""Prediction files that are made here from pretrained networks and text classifiers."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

import uqassay
from uqassay.checks import fail
from uqassay.errors import FileFormatError, InputError
from uqassay.files import optional_package, problems_named, whole_file
from uqassay.lab.bench.cell import canonical_json
from uqassay.lab.datasets.registry import load_dataset
from uqassay.lab.datasets.votes import LabelDistributions, read_oasst2
from uqassay.lab.papers.options import Say
from uqassay.lab.papers.ranking.classifiers import (
    OWN,
    PretrainedNetwork,
    chosen_classifiers,
    chosen_networks,
    network_outputs,
    tf_idf_probs,
    transformer_probs,
    transformers_version,
    version_of,
)
from uqassay.predictions import load_labels
from uqassay.text import count, counted, listed

__all__ = [
    "N_IMAGES",
    "FileJob",
    "NetworkOptions",
    "digest_of",
    "feature_files",
    "image_number",
    "labels_of",
    "make_features",
    "make_image_predictions",
    "make_missing",
    "make_text_predictions",
    "place_of",
    "read_features",
    "validation_images",
]


# Prediction files that are made here: each whole or not at all, and made once for the same code, model and instances.

KEY = "made"  # the array of a file that holds the digest of everything the others depend on

Arrays = Mapping[str, NDArray[Any]]


@final
@dataclass(frozen=True)
class FileJob:
    """One file to be made."""

    name: str  #: Of the file, without its ending
    facts: Mapping[str, Any]  #: Everything that its arrays depend on, the code included, as plain values
    make: Callable[[], Arrays] = field(repr=False)  #: Gives the arrays

    @property
    def key(self) -> str:
        """Digest of the facts."""
        return hashlib.sha256(canonical_json(dict(self.facts), "facts").encode()).hexdigest()


def place_of(folder: Path) -> Path:
    """The folder for the files, made if its parent exists."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as problem:
        rule = "must be a folder that can be made or written to"
        got = f"{folder}: {problem.strerror or type(problem).__name__}"
        raise InputError("data", rule, got, "choose another folder", code="unwritable") from problem
    return folder


def make_missing(folder: Path, jobs: Sequence[FileJob], say: Say) -> list[str]:
    """Make the files that are not there, one after another, and those made by another version, from other models or instances.

    Parameters
    ----------
    say : callable
        Called with a line of text for every file.

    Returns
    -------
    list of str
        Notes on files that were made again, and on those of the same name that were not made here and are used as they are.
    """
    again, foreign = [], []
    for job in jobs:
        path = folder / f"{job.name}.npz"
        found = _key_of(path) if path.is_file() else ""
        if found is None:
            foreign.append(path.name)
        if found in (None, job.key):
            say(f"{path.name} is there")
            continue
        if found:
            again.append(path.name)
        say(f"making {path.name}")
        arrays = dict(job.make()) | {KEY: np.array(job.key)}
        try:
            with whole_file(path) as stream:
                np.savez(stream, **arrays)  # type: ignore[arg-type]
        except OSError as problem:
            raise InputError(
                "data",
                "must be a folder with room that takes files",
                f"{path.name}: {problem.strerror or type(problem).__name__}",
                "make room, and run it again: finished files are kept",
                code="unwritable",
            ) from problem
    notes = []
    if again:
        notes.append(
            f"made again, since another version made them, or with other options or data: {listed(again, most=5)}"
        )
    if foreign:
        notes.append(f"not made here and used as they are: {listed(foreign, most=5)}")
    return notes


def digest_of(values: Sequence[str]) -> str:
    """Digest of several texts in their order."""
    digest = hashlib.sha256()
    for value in values:
        coded = value.encode()
        digest.update(len(coded).to_bytes(8, "big") + coded)
    return digest.hexdigest()


def _key_of(path: Path) -> str | None:
    """The key in a file; None if it has none."""
    with problems_named(path), np.load(path, allow_pickle=False) as held:
        return str(held[KEY]) if KEY in held.files else None


# The validation part of ImageNet (ILSVRC 2012) in the publisher's files: images, and labels in the order of WordNet
# ids.

N_IMAGES, N_CLASSES = 50_000, 1000
NAME = re.compile(r"ILSVRC2012_val_(\d{8})(\.JPEG)?")
WORDNET = re.compile(r"n\d{8}")
META, TRUTH = "meta.mat", "ILSVRC2012_validation_ground_truth.txt"  # of the development kit, in its folder data


def image_number(name: str) -> int | None:
    """Number of a validation image by its file name, from 1; None for any other name.

    Examples
    --------
    >>> image_number("ILSVRC2012_val_00000293.JPEG"), image_number("n01440764_10026.JPEG")
    (293, None)
    """
    match = NAME.fullmatch(name)
    return int(match[1]) if match is not None and 1 <= int(match[1]) <= N_IMAGES else None


def validation_images(folder: Path) -> list[Path]:
    """Validation images in a folder, or in folders inside it, by number.

    Parameters
    ----------
    folder : Path
        As published, ``ILSVRC2012_val_00000001.JPEG`` …, or sorted into folders named by WordNet ids. Some of the images
        suffice.
    """
    found: dict[int, Path] = {}
    paths = [*folder.glob("*.JPEG"), *folder.glob("*/*.JPEG")] if folder.is_dir() else []
    for path in paths:
        number = image_number(path.name)
        if number is None:
            continue
        if number in found:
            remedy = "give the folder with one copy of them"
            fail("images", "must hold each image once", f"got {found[number]} and {path}", remedy, code="duplicate")
        found[number] = path
    if not found:
        rule = "must be a folder with validation images, ILSVRC2012_val_00000001.JPEG …"
        fail("images", rule, f"got {folder}", "unpack ILSVRC2012_img_val.tar there", code="missing")
    return [found[number] for number in sorted(found)]


def labels_of(images: list[Path], devkit: Path | None) -> NDArray[np.int64] | None:
    """Labels of all 50,000 images, 0 … 999 in the order of the WordNet ids, as torchvision and timm have them.

    Parameters
    ----------
    images : list of Path
        As of `validation_images`.
    devkit : Path, optional
        The folder of the development kit, ILSVRC2012_devkit_t12. Without it all images must lie in the 1,000 folders named by
        their WordNet ids.

    Returns
    -------
    int array (50000,) or None
        None without a development kit and without such folders.
    """
    if devkit is not None:
        return _of_devkit(devkit / "data" if (devkit / "data").is_dir() else devkit)
    names = sorted({path.parent.name for path in images})
    if len(images) != N_IMAGES or len(names) != N_CLASSES or not all(map(WORDNET.fullmatch, names)):
        return None
    places = {name: i for i, name in enumerate(names)}
    return np.array([places[path.parent.name] for path in images])


def _of_devkit(folder: Path) -> NDArray[np.int64]:
    """Labels by the files of the development kit, whose class numbers have an order of their own."""
    for name in (META, TRUTH):
        if not (folder / name).is_file():
            remedy = "unpack ILSVRC2012_devkit_t12.tar.gz and give its folder"
            fail("devkit", f"must hold {META} and {TRUTH}", f"{folder} has no {name}", remedy, code="missing")
    with problems_named(folder / META):
        records = loadmat(folder / META, squeeze_me=True)["synsets"]
        leaves = {int(r["ILSVRC2012_ID"]): str(r["WNID"]) for r in records if int(r["num_children"]) == 0}
        if len(leaves) != N_CLASSES or len(set(leaves.values())) != N_CLASSES:
            rule = f"must have {count(N_CLASSES)} classes without children"
            remedy = "get the development kit of ILSVRC 2012 again"
            raise FileFormatError("synsets", rule, f"got {count(len(leaves))}", remedy, code="shape")
    with problems_named(folder / TRUTH):
        numbers = [line.strip() for line in (folder / TRUTH).read_text(encoding="ascii").splitlines() if line.strip()]
        if len(numbers) != N_IMAGES or not all(n.isdigit() and int(n) in leaves for n in numbers):
            rule = f"must be {count(N_IMAGES)} class numbers of {META}"
            got = f"got {count(len(numbers))} lines, or other numbers"
            raise FileFormatError("labels", rule, got, "get the development kit of ILSVRC 2012 again", code="shape")
    order = {wordnet: i for i, wordnet in enumerate(sorted(leaves.values()))}
    return np.array([order[leaves[int(n)]] for n in numbers])


# Prediction files of pretrained networks for the validation images of ImageNet, as `ranking-imagenet-real` reads them.


@final
@dataclass(frozen=True)
class NetworkOptions:
    """Which networks predict, and how."""

    #: As in `chosen_networks`
    library: str = "torchvision"
    names: str | Sequence[str] | None = None
    weights: str = "all"
    #: As in `network_outputs`
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
    say: Say = lambda step: None,
) -> list[str]:
    """Write NAME.npz (``logits``, ``ids``) for each network, and labels.npy where the files of ImageNet give the labels.

    Parameters
    ----------
    folder : Path
        Takes the files; those that are there from the same code, weights and images are kept.
    images : Path
        As in `validation_images`.
    devkit : Path, optional
        As in `labels_of`.
    say : callable
        Called with a line of text for every network.

    Returns
    -------
    list of str
        Notes.
    """
    paths = validation_images(images)
    networks = options.networks()
    pillow = optional_package("PIL.Image", "lab", "reading images")
    place_of(folder)
    _write_labels(folder, paths, devkit)
    ids = np.array([path.name for path in paths])
    facts = {
        "uqassay": uqassay.__version__,
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
                rule = f"must have the {count(N_CLASSES)} classes of ILSVRC 2012"
                got = f"{network.file} has {count(found.logits.shape[1])}"
                fail("networks", rule, got, "leave it out", code="shape")
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
        rule = "must be the folder of the development kit where the images are not sorted into folders by WordNet id"
        got = "got none, and no labels.npy"
        fail("devkit", rule, got, "unpack ILSVRC2012_devkit_t12.tar.gz and name its folder", code="missing")
    with whole_file(path) as stream:
        np.save(stream, labels)


# Prediction files of text classifiers for the messages of OASST2, as `ranking-oasst2` reads them.


def make_text_predictions(
    folder: Path,
    messages: LabelDistributions,
    classifiers: str | Sequence[str] | Mapping[str, Sequence[str]],
    *,
    batch_size: int = 32,
    device: str = "auto",
    say: Say = lambda step: None,
) -> list[str]:
    """Write NAME.npz (``probs``, ``ids``) for each classifier, with the messages in its languages.

    Parameters
    ----------
    folder : Path
        Takes the files; those that are there from the same code, classifier and messages are kept.
    messages : LabelDistributions
        Of the validation part. Own classifiers learn from the training part, which `read_oasst2` then reads.
    classifiers : str, sequence of str, or dict
        As in `chosen_classifiers`.
    batch_size, device
        As in `transformer_probs`.
    say : callable
        Called with a line of text for every classifier.

    Returns
    -------
    list of str
        Notes.
    """
    chosen = chosen_classifiers(classifiers)
    place_of(folder)

    @cache
    def training() -> LabelDistributions:
        return read_oasst2(part="train")

    @cache
    def training_facts() -> list[Any]:
        return [digest_of(training().texts), digest_of([str(row) for row in training().votes.tolist()])]

    def job(name: str, languages: tuple[str, ...]) -> FileJob:
        rows = [i for i, one in enumerate(messages.languages) if not languages or one in languages]
        if not rows:
            rule = f"{name} must know a language of the messages"
            remedy = "name the languages as the data do, such as en"
            fail("classifiers", rule, f"got {listed(languages)}", remedy, code="empty")
        texts, ids = [messages.texts[i] for i in rows], messages.ids[rows]
        facts: dict[str, Any] = {
            "uqassay": uqassay.__version__,
            "name": name,
            "texts": digest_of(texts),
            "ids": digest_of(ids.tolist()),
        }
        if name in OWN:
            settings = OWN[name]
            facts |= asdict(settings) | {"training": training_facts(), "version": _version_of_sklearn()}

            def make() -> dict[str, Any]:
                return {"probs": tf_idf_probs(settings, training().texts, training().votes, texts), "ids": ids}

        else:
            facts |= {"version": transformers_version()}

            def make() -> dict[str, Any]:
                return {"probs": transformer_probs(name, texts, batch_size=batch_size, device=device), "ids": ids}

        return FileJob(name.strip("/").replace("/", "--"), facts, make)

    notes = make_missing(folder, [job(name, languages) for name, languages in chosen.items()], say)
    own = [name for name in chosen if name in OWN]
    if own:
        learnt = f"{count(len(training().texts))} messages of the training part, each counted for both classes by its ratings"
        notes.insert(0, f"own classifiers, tf-idf and logistic regression: {listed(own)}; they learnt from {learnt}")
    others = [name for name in chosen if name not in OWN]
    if others:
        notes.insert(
            0, f"classifiers of transformers {transformers_version()}: {listed(others)}; texts are cut at 512 tokens"
        )
    return notes


def _version_of_sklearn() -> str:
    return str(optional_package("sklearn", "lab", "a tf-idf classifier").__version__)


# Penultimate features of pretrained networks for the test images of CIFAR-10, as `ranking-cifar10h-probes` reads them.

FEATURES = "features"  # the array of an .npz file
OTHERS = ("labels.npy", "human_counts.npy")


def feature_files(folder: Path) -> list[Path]:
    """The files of features in a folder, by name: .npy, and .npz with an array ``features``."""
    return sorted(path for path in (*folder.glob("*.npy"), *folder.glob("*.npz")) if _has_features(path))


def read_features(path: Path, n: int) -> NDArray[Any]:
    """Features ``(n, d)`` of a file."""
    with problems_named(path):
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as held:
                features: NDArray[Any] = held[FEATURES]
        else:
            features = np.load(path, allow_pickle=False, mmap_mode="r")
        numbers = features.dtype.kind in "iuf"
        if not (numbers and features.ndim == 2 and len(features) == n and np.isfinite(features).all()):
            rule = f"must be finite numbers ({n}, d)"
            got = f"got {features.dtype} {features.shape}" + ("" if not numbers else ", or nan or infinite ones")
            raise FileFormatError("features", rule, got, "save one row for each image", code="shape")
    return features


def make_features(
    folder: Path,
    images: str | os.PathLike[str],
    options: NetworkOptions,
    *,
    say: Say = lambda step: None,
) -> list[str]:
    """Write NAME.npz (``features``) for each network, and labels.npy.

    Parameters
    ----------
    folder : Path
        Takes the files; those that are there from the same code, weights and images are kept.
    images : str or path
        "cifar-10" for the data set of the cache folder, or a folder with train.npz and test.npz; the test images are used.
    say : callable
        Called with a line of text for every network.

    Returns
    -------
    list of str
        Notes.
    """
    name = os.fspath(images)
    data = load_dataset(name if name == "cifar-10" else f"npz:{name}")
    pixels = np.round(255.0 * np.asarray(data.X_test)).astype(np.uint8)  # (n, 3, height, width)
    if pixels.ndim != 4 or pixels.shape[1] != 3:
        rule = "must be images in colour (n, 3, height, width)"
        remedy = "give the folder of a copy of CIFAR-10, or cifar-10"
        fail("images", rule, f"got {data.X_test.shape}", remedy, code="shape")
    networks = options.networks()
    pillow = optional_package("PIL.Image", "lab", "preparing images")
    place_of(folder)
    _keep_labels(folder, np.asarray(data.y_test))
    facts = {
        "uqassay": uqassay.__version__,
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
        remedy = "choose another folder for the features of these images"
        fail("data", "labels.npy must be the labels of the images", f"{path} differs", remedy, code="mismatch")
