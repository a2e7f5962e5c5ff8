"""Data sets with their splits: real ones from one cache folder, and generated ones.

>>> from uqassay.lab.datasets import load_dataset
>>> load_dataset("two-moons", rng=1)
Dataset('two-moons': 500 training and 500 test instances of 2, 2 classes)
"""

from uqassay.lab.datasets.ball_split import BallDivision, BallSplit, neighbour_distances, suggested_radius
from uqassay.lab.datasets.cache import cache_folder, fetch
from uqassay.lab.datasets.dataset import Dataset, stratified_split
from uqassay.lab.datasets.discs import ClusterGrid, DiscLayout, cluster_grid, disc_layout, thinned_test
from uqassay.lab.datasets.merged import MergedBinary, merged_binary
from uqassay.lab.datasets.registry import DATASETS, Description, load_dataset

__all__ = [
    "DATASETS",
    "BallDivision",
    "BallSplit",
    "ClusterGrid",
    "Dataset",
    "Description",
    "DiscLayout",
    "MergedBinary",
    "cache_folder",
    "cluster_grid",
    "disc_layout",
    "fetch",
    "load_dataset",
    "merged_binary",
    "neighbour_distances",
    "stratified_split",
    "suggested_radius",
    "thinned_test",
]


def __dir__() -> list[str]:
    return sorted(__all__)
