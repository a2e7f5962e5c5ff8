"""Data sets by name: the table of all data sets, and the call that loads one."""

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import final

from uqassay.arrays import RandomState
from uqassay.checks import a, fail
from uqassay.errors import InputError
from uqassay.lab.datasets import generated
from uqassay.lab.datasets.cache import Progress, cache_folder
from uqassay.lab.datasets.dataset import Dataset
from uqassay.lab.datasets.folders import PUBLISHED, has_own_split, load_image_folder, split_images
from uqassay.lab.datasets.given import feature_files, load_features, load_hugging_face, load_npz
from uqassay.lab.datasets.images import (
    EMNIST_SPLITS,
    load_cifar,
    load_emnist,
    load_kuzushiji_49,
    load_mnist,
    load_mnist_10k,
    load_svhn,
)
from uqassay.lab.datasets.sequences import ORDERS, load_sequences, sequence_files
from uqassay.lab.datasets.tables import load_bci_iv_2a, load_bundled, load_openml
from uqassay.lab.datasets.votes import read_cifar10h

__all__ = [
    "DATASETS",
    "DatasetSizes",
    "Description",
    "load_dataset",
    "sizes_of",
]


CLOSE = 0.62  # difflib's ratio of names that are alike: cancer has 0.63 with breast-cancer, but nope 0.6 with openml


@final
@dataclass(frozen=True)
class Description:
    """A row of the table of data sets."""

    name: str  #: With ``<…>`` for a number or name that follows the colon
    kind: str  #: "tabular", "image", "eeg" or "toy"
    size: str  #: Of the download; "" without a download
    by_hand: bool  #: Whether the files must be put in the cache folder by hand
    licence: str
    split: str  #: Training and test instances, and other splits of the papers
    paper: str = ""  #: Short titles of the papers that use it
    default_test_size: float | None = None  #: Of the stratified split; None if the data set has a fixed split
    standardised: bool = False  #: Whether features become z-scores by default


@final
@dataclass(frozen=True)
class Request:
    """A checked call of `load_dataset`; `argument` is the text after the colon."""

    name: str
    argument: str
    test_size: float | int
    rng: RandomState
    folder: Path
    image_size: int | None
    progress: Progress | None

    def number(self) -> int:
        """The argument as a whole number."""
        if not self.argument.isdecimal():
            rule = f"{self.name} needs a number after the colon"
            fail("name", rule, f"got {self.argument!r}", f"write {self.name}:1", code="type")
        return int(self.argument)


def load_dataset(
    name: str,
    *,
    test_size: float | int | None = None,
    rng: RandomState = None,
    cache: str | os.PathLike[str] | None = None,
    prepare: bool = True,
    image_size: int | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Load a data set by name; files that are not in the cache folder are downloaded once.

    Parameters
    ----------
    name : str
        One of `DATASETS`, such as "digits" or "cifar-10"; with a colon "openml:37", "hf:ylecun/mnist", "npz:my-folder",
        "bci-iv-2a:1".
    test_size : float or int, optional
        Share or number of test instances, for data sets without a fixed split (0.2 if their description states no other).
    rng : int, SeedSequence, Generator or None
        Draws the split, and toy data; None means seed 0.
    cache : path, optional
        Instead of the environment variable ``UQASSAY_DATA`` and the user's cache folder.
    prepare : bool
        Prepare features as the papers do: z-scores for tables (not for the digits). Images are in [0, 1] in both cases.
    image_size : int, optional
        Height and width for folders of images (64 if not given) and "hf:".
    progress : callable, optional
        Called with the name of the file, the bytes so far and the number of all bytes (None if unknown).

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        An unknown name (the message has similar ones), no network, damaged files.
    MissingDependencyError
        An optional package is missing; the message names the extra.

    Examples
    --------
    >>> data = load_dataset("wine")
    >>> data
    Dataset('wine': 142 training and 36 test instances of 13, 3 classes)
    >>> data.X_train.std(axis=0).round(6).tolist() == [1.0] * 13
    True
    """
    a(str, name, "name", "write digits, say", rule="must be the name of a data set")
    key, colon, argument = name.strip().partition(":")
    key = key.lower()
    about = DATASETS.get(key)
    takes_more = about is not None and "<" in about.name
    if about is None or bool(colon) != takes_more or bool(argument) != takes_more:
        raise _unknown(name)
    if test_size is not None and about.default_test_size is None:
        rule = f"cannot be set for {key}, whose split is fixed"
        fail("test_size", rule, f"got {test_size}", "leave it out", code="conflict")
    request = Request(
        name=key,
        argument=argument,
        test_size=(about.default_test_size or 0.2) if test_size is None else test_size,
        rng=rng,
        folder=cache_folder(cache),
        image_size=image_size,
        progress=progress,
    )
    data = LOADERS[key](request)
    if prepare and about.standardised:
        data = replace(data.standardised(), notes=(*data.notes, "z-scores by the training instances"))
    return data


def _unknown(name: str) -> InputError:
    """Names with the same beginning, or else the most similar ones; ``openml:<id>`` and the like only after a colon."""
    head, colon, _ = name.strip().lower().partition(":")
    takes_more = [key for key, about in DATASETS.items() if "<" in about.name]
    begin = [key for key in DATASETS if head and (key.startswith(head) or (key in takes_more and head.startswith(key)))]
    candidates = [key for key in DATASETS if colon or key not in takes_more]
    near = [DATASETS[key].name for key in begin[:3] or difflib.get_close_matches(head, candidates, n=3, cutoff=CLOSE)]
    remedy = "the guide lists all of them, docs/datasets.md"
    if near:
        remedy = f"closest {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
    return InputError("name", "must be one of the known data sets", f"got {name!r}", remedy, code="choice")


# -- loaders that need more than the request --------------------------------------------------------------------------


def _cifar_10h(request: Request) -> Dataset:
    """CIFAR-10 with the votes of its test images."""
    data = load_cifar("cifar-10", request.folder, request.progress)
    votes = read_cifar10h(request.folder, request.progress)
    source = f"{data.source} and {votes.source}"
    return replace(data, name="cifar-10h", votes_test=votes.votes, source=source, licence=votes.licence)


def _images(request: Request) -> Dataset:
    """A folder of images as its archive unpacks it."""
    folder, about = PUBLISHED[request.name], DATASETS[request.name]
    place = folder.place(request.folder)
    if place is None:
        home = request.folder / folder.home
        folders = f"the folder with one sub-folder per class at {home}"
        if "train / test" in about.split:
            folders = f"folders with one sub-folder per class at {home / 'train'} and {home / 'test'}"
        fail(request.name, "cannot be downloaded", "", f"put {folders}", code="missing")
    if has_own_split(place):
        _refuse_split(request)
    size = 64 if request.image_size is None else request.image_size
    return load_image_folder(
        request.name,
        place,
        size=size,
        test_size=request.test_size,
        rng=request.rng,
        leave_out=folder.leave_out,
        merged=folder.merged,
        licence=about.licence,
    )


def _refuse_split(request: Request) -> None:
    """Refuse another size of the test part than the default, where the files have one."""
    if request.test_size != DATASETS[request.name].default_test_size:
        rule = f"cannot be set for {request.name} with files that are split"
        fail("test_size", rule, f"got {request.test_size}", "leave it out", code="conflict")


def _npz(request: Request) -> Dataset:
    path = Path(request.argument).expanduser()
    return load_npz(path, name=f"npz:{path.stem}", test_size=request.test_size, rng=request.rng)


def _of_idx(request: Request) -> Dataset:
    return load_mnist(request.name, request.folder, request.progress)


def _emnist(request: Request) -> Dataset:
    return load_emnist(request.name.removeprefix("emnist-"), request.folder, request.progress)


def _cifar(request: Request) -> Dataset:
    return load_cifar(request.name, request.folder, request.progress)


def _bundled(request: Request) -> Dataset:
    return load_bundled(request.name, test_size=request.test_size, rng=request.rng)


def _features(request: Request) -> Dataset:
    """Features that are given, else tf-idf of sequences."""
    licence = DATASETS[request.name].licence
    files = () if feature_files(request.name, request.folder) else sequence_files(request.folder / request.name)
    if len(files) != 1:
        _refuse_split(request)
    if not files:
        return load_features(request.name, request.folder, licence=licence)
    orders, test_size = ORDERS[request.name], request.test_size
    return load_sequences(request.name, files, orders, test_size=test_size, rng=request.rng, licence=licence)


LOADERS: Mapping[str, Callable[[Request], Dataset]] = {
    "digits": _bundled,
    "wine": _bundled,
    "wine-unstratified": lambda r: load_bundled("wine", test_size=r.test_size, rng=r.rng, stratified=False),
    "breast-cancer": _bundled,
    "iris": _bundled,
    "mnist": _of_idx,
    "mnist-10k": lambda r: load_mnist_10k(r.folder, r.test_size, r.rng, r.progress),
    "fashion-mnist": _of_idx,
    "k-mnist": _of_idx,
    "kuzushiji-49": lambda r: load_kuzushiji_49(r.folder, r.progress),
    **{f"emnist-{split}": _emnist for split in EMNIST_SPLITS},
    "cifar-10": _cifar,
    "cifar-10h": _cifar_10h,
    "cifar-100": _cifar,
    "svhn": lambda r: load_svhn(r.folder, r.progress),
    **dict.fromkeys(PUBLISHED, _images),
    "bacteria": _features,
    "proteins": _features,
    "bci-iv-2a": lambda r: load_bci_iv_2a(r.number(), r.folder),
    "bci-iv-2a-cue": lambda r: load_bci_iv_2a(r.number(), r.folder, window="cue"),
    "openml": lambda r: load_openml(r.number(), r.folder, test_size=r.test_size, rng=r.rng),
    "hf": lambda r: load_hugging_face(r.argument, r.folder, test_size=r.test_size, rng=r.rng, image_size=r.image_size),
    "npz": _npz,
    "two-moons": lambda r: generated.two_moons(rng=r.rng),
    "blobs": lambda r: generated.blobs(rng=r.rng),
    "triangle": lambda r: generated.triangle(rng=r.rng),
    "gain-grid": lambda r: generated.gain_grid(rng=r.rng),
    "two-gaussians": lambda r: generated.two_gaussians(rng=r.rng),
}


# -- the table -------------------------------------------------------------------------------------------------------

# the papers by their short titles
UNIFIED = "unified evaluation"
CREDAL = "credal calibration"
GAIN = "epistemic gain"
RANKING = "ranking metrics"
DISENTANGLEMENT = "disentanglement"
UCI = "CC BY 4.0"
SHARE_ALIKE = "CC BY-SA 4.0"
OFFICIAL_MNIST = "60,000 / 10,000 as published"
HALF = 0.50001  # the odd instance is for the test, as the sizes of the credal calibration paper have it
OFFICIAL_CIFAR = "50,000 / 10,000 as published"

DATASETS: Mapping[str, Description] = MappingProxyType(
    {
        about.name.partition(":")[0]: about
        for about in (
            Description("digits", "tabular", "", False, UCI, "1,797 stratified 80/20", "", 0.2),
            Description(
                "wine", "tabular", "", False, UCI,
                f"178 stratified 80/20 ({DISENTANGLEMENT}: 80/20)", DISENTANGLEMENT, 0.2, True
            ),
            Description(
                "wine-unstratified", "tabular", "", False, UCI,
                f"178 split 80/20 as the code of {DISENTANGLEMENT} does: by scikit-learn, seed 0, unstratified",
                DISENTANGLEMENT, 0.2, True
            ),
            Description("breast-cancer", "tabular", "", False, UCI, "569 stratified 80/20", "", 0.2, True),
            Description("iris", "tabular", "", False, UCI, "150 stratified 80/20", "", 0.2, True),
            Description(
                "mnist", "image", "12 MB", False, "CC BY-SA 3.0",
                f"{OFFICIAL_MNIST} (unified evaluation: 10,000 of the training images to validate)", UNIFIED
            ),
            Description(
                "mnist-10k", "image", "2 MB", False, "CC BY-SA 3.0",
                "the 10,000 test images of MNIST, stratified 8,000 / 2,000", "", 0.2
            ),
            Description("fashion-mnist", "image", "31 MB", False, "MIT", OFFICIAL_MNIST, DISENTANGLEMENT),
            Description("k-mnist", "image", "21 MB", False, SHARE_ALIKE, OFFICIAL_MNIST),
            Description(
                "kuzushiji-49", "image", "75 MB", False, SHARE_ALIKE,
                "232,365 / 38,547 as published (epistemic gain: all 270,912 together)", GAIN
            ),
            *(
                Description(
                    f"emnist-{split}", "image", "562 MB for all six", False, "none stated (NIST)",
                    "as published" + (" (epistemic gain: all 131,600 together)" if split == "balanced" else ""),
                    GAIN if split == "balanced" else ""
                )
                for split in EMNIST_SPLITS
            ),
            Description(
                "cifar-10", "image", "170 MB", False, "none stated",
                f"{OFFICIAL_CIFAR} ({UNIFIED}: 10,000 of the training images to validate; {CREDAL}: test halved to calibrate)",
                f"{UNIFIED}, {CREDAL}, {DISENTANGLEMENT}"
            ),
            Description(
                "cifar-10h", "image", "171 MB", False, "CC BY-NC-SA 4.0", f"{OFFICIAL_CIFAR}, votes on the test", RANKING
            ),
            Description("cifar-100", "image", "169 MB", False, "none stated", OFFICIAL_CIFAR, UNIFIED),
            Description("svhn", "image", "246 MB", False, "non-commercial use only", "73,257 / 26,032 as published"),
            Description(
                "caltech-101", "image", "", True, UCI,
                f"8,677 stratified 50/50 ({CREDAL}: 4,338 to train, the other half to calibrate and to test)", CREDAL, HALF
            ),
            Description(
                "caltech-97", "image", "", True, UCI,
                "caltech-101 with four pairs of classes merged, as the credal calibration paper may have done", CREDAL, HALF
            ),
            Description(
                "caltech-256", "image", "", True, UCI,
                f"29,780 stratified 50/50 ({CREDAL}: 14,890 to train, the other half to calibrate and to test)", CREDAL, HALF
            ),
            Description(
                "plantclef", "image", "", True, "by image, CC BY-SA mostly",
                "train / test folders as published (credal calibration: 91,758, the test halved to calibrate)", CREDAL, 0.2
            ),
            Description(
                "bacteria", "tabular", "", True, "as given",
                "given features, or sequences stratified 82.3/17.7 (credal calibration: 10,587 / 1,136 / 1,136)", CREDAL, 0.1767
            ),
            Description(
                "proteins", "tabular", "", True, "as given",
                "given features, or sequences stratified 53.8/46.2 (credal calibration: 11,830 / 5,088 / 5,088)", CREDAL, 0.4624
            ),
            Description(
                "bci-iv-2a:<subject>", "eeg", "85 MB each", False, "CC BY-ND 4.0",
                "288 / 288, first session / second session; six seconds from the fixation cross", DISENTANGLEMENT
            ),
            Description(
                "bci-iv-2a-cue:<subject>", "eeg", "85 MB each", False, "CC BY-ND 4.0",
                "288 / 288, as bci-iv-2a; four seconds from the cue, as in the code of its authors", DISENTANGLEMENT
            ),
            Description("openml:<id>", "tabular", "varies", False, "as stated there", "stratified 80/20", "", 0.2, True),
            Description("hf:<name>", "image", "varies", False, "as stated there", "its own, else stratified", "", 0.2),
            Description("npz:<folder>", "tabular", "", True, "as given", "its own, else stratified 80/20", "", 0.2),
            Description("two-moons", "toy", "", False, "", "500 / 500", DISENTANGLEMENT),
            Description("blobs", "toy", "", False, "", "500 / 200", DISENTANGLEMENT),
            Description("triangle", "toy", "", False, "", "500 / 500", DISENTANGLEMENT),
            Description(
                "gain-grid", "toy", "", False, "", f"142,693 / 20,000 ({GAIN} splits the former by balls)", GAIN
            ),
            Description("two-gaussians", "toy", "", False, "", "600 / 400", RANKING),
        )
    }
)  # fmt: skip


# Numbers of classes and instances of a data set that is at hand; images are counted and not opened.


@final
@dataclass(frozen=True)
class DatasetSizes:
    """Sizes of a data set."""

    n_classes: int
    n_train: int
    n_test: int
    shape: tuple[int, ...] | None  #: Of an instance; None where images are resized to the size that a user asks for


def sizes_of(name: str, *, rng: RandomState = None, cache: str | os.PathLike[str] | None = None) -> DatasetSizes:
    """Sizes of a data set as `load_dataset` gives it.

    Parameters
    ----------
    cache : path, optional
        As in `load_dataset`.

    Examples
    --------
    >>> sizes_of("wine")
    DatasetSizes(n_classes=3, n_train=142, n_test=36, shape=(13,))
    """
    key = name.strip().lower() if isinstance(name, str) else ""
    folder = PUBLISHED.get(key)
    place = None if folder is None else folder.place(cache_folder(cache))
    if folder is not None and place is not None:
        share = DATASETS[key].default_test_size or 0.5
        train, test = split_images(place, test_size=share, rng=rng, leave_out=folder.leave_out, merged=folder.merged)
        return DatasetSizes(len(train.class_names), len(train.paths), len(test.paths), None)
    data = load_dataset(name, rng=rng, cache=cache)
    return DatasetSizes(data.n_classes, len(data.y_train), len(data.y_test), data.X_train.shape[1:])
