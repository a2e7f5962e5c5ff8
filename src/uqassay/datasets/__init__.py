"""Data sets with their splits: real ones from one cache folder, and generated ones.

>>> from uqassay.datasets import load_dataset
>>> load_dataset("two-moons", rng=1)
Dataset('two-moons': 500 training and 500 test instances of 2, 2 classes)
"""

from uqassay.datasets.ball_division import BallDivision
from uqassay.datasets.ball_split import BallSplit
from uqassay.datasets.cache import cache_folder, fetch
from uqassay.datasets.cluster_grids import ClusterGrid, cluster_grid
from uqassay.datasets.dataset import Dataset
from uqassay.datasets.disc_layouts import DiscLayout, disc_layout, thinned_test
from uqassay.datasets.merged import MergedBinary, merged_binary
from uqassay.datasets.neighbours import neighbour_distances, suggested_radius
from uqassay.datasets.registry import DATASETS, Description, load_dataset
from uqassay.datasets.splits import stratified_split

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
