"""Data sets with their splits: real ones from one cache folder, and generated ones.

>>> from uqassay.datasets import load_dataset
>>> load_dataset("two-moons", rng=1)
Dataset('two-moons': 500 training and 500 test instances of 2, 2 classes)
"""

from uqassay.datasets.cache import cache_folder, fetch
from uqassay.datasets.dataset import Dataset
from uqassay.datasets.registry import DATASETS, Description, load_dataset
from uqassay.datasets.splits import stratified_split

__all__ = ["DATASETS", "Dataset", "Description", "cache_folder", "fetch", "load_dataset", "stratified_split"]


def __dir__() -> list[str]:
    return sorted(__all__)
