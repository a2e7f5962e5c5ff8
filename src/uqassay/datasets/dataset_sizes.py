"""Numbers of classes and instances of a data set that is at hand; images are counted and not opened."""

import os
from dataclasses import dataclass
from typing import final

from uqassay._array import RandomState
from uqassay.datasets.cache import cache_folder
from uqassay.datasets.folders import PUBLISHED, split_images
from uqassay.datasets.registry import DATASETS, load_dataset

__all__ = ["DatasetSizes", "sizes_of"]


@final
@dataclass(frozen=True)
class DatasetSizes:
    """Sizes of a data set.

    Attributes
    ----------
    n_classes, n_train, n_test : int
    shape : tuple of int
        Of an instance; None where images are resized to the size that a user asks for.
    """

    n_classes: int
    n_train: int
    n_test: int
    shape: tuple[int, ...] | None


def sizes_of(name: str, *, rng: RandomState = None, cache: str | os.PathLike[str] | None = None) -> DatasetSizes:
    """Sizes of a data set as `load_dataset` gives it.

    Parameters
    ----------
    name : str
    rng : int, SeedSequence, Generator or None
    cache : path, optional
        As in `load_dataset`.

    Raises
    ------
    InputError
        As `load_dataset`.

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
