"""How many instances and runs the calibration tests of an assay can afford, and which sets are tested by their mean."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.predictions import Drawn, Intervals, Masses, Members, Prediction, Vertices

__all__ = ["Afforded", "afforded", "choose_instances", "n_points"]

Rows = NDArray[np.intp]

SET_WORK = 3e5  # n K (M + 16) of one test of a set: about three seconds
PAGE_WORK = 1.5e6  # the same over all tests
FEWEST = 300  # least number of instances of a test, at any cost
LARGEST_WORK = 9e5  # a set whose test of `FEWEST` instances costs more is tested by its mean
SEARCH = 16  # mixtures that a round of the search judges, in addition to one for each member


class Afforded(NamedTuple):
    """Instances tested, whether all runs are, and the models whose sets are tested by their mean."""

    n_tested: int
    all_runs: bool
    by_mean: frozenset[str]


def afforded(models: Mapping[str, tuple[Prediction, ...]], n_measures: int, n: int) -> Afforded:
    """How many instances and runs are tested, and which sets by their mean."""
    works = {name: _work(runs[0]) for name, runs in models.items()}
    by_mean = frozenset(name for name, work in works.items() if FEWEST * work > LARGEST_WORK)
    works |= {name: _work_of_point(models[name][0].n_classes) for name in by_mean}
    wanted = min(n, SET_WORK / max(works.values()))
    for all_runs in (True, False):
        total = sum(work * (len(models[name]) if all_runs else 1) for name, work in works.items()) * n_measures
        if PAGE_WORK / total >= wanted:
            break
    size = int(max(FEWEST, min(wanted, PAGE_WORK / total)))
    if size < n:  # a round number reads better
        step = 10 ** (len(str(size)) - 2)
        size = size // step * step
    return Afforded(min(n, size), all_runs, by_mean)


def _work(prediction: Prediction) -> float:
    """Cost of one test for each instance: mixtures that a round of the search judges times classes."""
    m, k = n_points(prediction), prediction.n_classes
    return k * (m + SEARCH) + 2 * m if m > 1 else _work_of_point(k)


def _work_of_point(n_classes: int) -> float:
    return 12 + n_classes


def n_points(prediction: Prediction) -> int:
    """Number of points that can be mixed, M; 1 where only the mean can be tested."""
    if isinstance(prediction, Members):
        return prediction.n_members
    if isinstance(prediction, Drawn):
        return prediction.n_points if prediction.has_shared_points else 1
    if isinstance(prediction, Vertices):
        return int(prediction.vertices.shape[1])
    return 2 * prediction.n_classes if isinstance(prediction, (Intervals, Masses)) else 1


def choose_instances(n: int, n_tested: int, groups: NDArray[Any] | None, seed: int) -> Rows:
    """Instances at random, or whole groups until there are enough, in ascending order."""
    if n_tested >= n:
        return np.arange(n)
    generator = np.random.default_rng([seed, 20])
    if groups is None:
        return np.sort(generator.permutation(n)[:n_tested])
    codes = np.unique(groups, return_inverse=True)[1].reshape(-1)
    order = generator.permutation(int(codes.max()) + 1)
    reached = np.cumsum(np.bincount(codes)[order])
    return np.flatnonzero(np.isin(codes, order[: int(np.searchsorted(reached, n_tested)) + 1]))
