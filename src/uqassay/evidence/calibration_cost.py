"""How many instances, runs and draws the calibration tests of one model can afford, and whether its set is tested by its mean.

The budget is that of one model and one measure: no result depends on the other models or measures of an assay.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay.evidence.random_order import random_keys, sample_reaching
from uqassay.metrics.calibration.kernel_error import PrepareKernel
from uqassay.metrics.calibration.measures import CalibrationMeasure
from uqassay.predictions import Box, Drawn, Masses, Members, Prediction, Vertices

__all__ = ["Afforded", "afforded", "choose_instances", "estimated_seconds", "n_points", "point_draws"]

Rows = NDArray[np.intp]

SET_WORK = 3e5  # n K (M + 16) of one test of a set
SET_SECONDS = 0.25  # of such a test, from a tenth where a mixture is calibrated to a third where none is
WITHOUT_KERNELS = 5  # times as long
RUNS_WORK = 6e5  # the same over the runs of a model
FEWEST = 300  # least number of instances of a test of a set, at any cost
LARGEST_WORK = 9e5  # a set whose test of `FEWEST` instances costs more is tested by its mean
SEARCH = 16  # mixtures that a round of the search judges, in addition to one for each member
POINT_WORK = 1e7  # n D of one test of a single distribution: a third of a second
POINT_DRAWS = (999, 499, 199)
MOST_PAIRED = 2000  # instances of a point of which all pairs are compared
MOST_VALUES = 2e7  # numbers of a model's predictions that tests of its mean take: 0.16 GB


class Afforded(NamedTuple):
    """Instances tested, the number of runs tested, and whether the model's set is tested by its mean."""

    n_tested: int
    n_runs: int
    by_mean: bool


def afforded(runs: tuple[Prediction, ...], measure: CalibrationMeasure, n: int) -> Afforded:
    """How many of the n instances and of the runs of one model are tested by one measure.

    Single distributions are tested in all runs and on all instances that hold at most `MOST_VALUES` numbers; measures that
    compare all pairs of instances take a smaller part. Of sets, the runs share a budget.
    """
    work, all_pairs = _work(runs[0]), _compares_all_pairs(measure)
    by_mean = FEWEST * work > LARGEST_WORK
    if n_points(runs[0]) == 1 or by_mean:
        values = sum(getattr(runs[0], name)[:1].size for name in runs[0].array_names())
        return Afforded(_round(MOST_PAIRED if all_pairs else int(MOST_VALUES / values), n), len(runs), by_mean)
    n_runs = int(min(len(runs), max(1, RUNS_WORK // (min(n, FEWEST) * work))))
    size = FEWEST if all_pairs else max(FEWEST, min(SET_WORK, RUNS_WORK / n_runs) / work)
    return Afforded(_round(int(size), n), n_runs, False)


def point_draws(n_tested: int) -> int:
    """Draws of labels for a test of a single distribution on so many instances."""
    return next((d for d in POINT_DRAWS if n_tested * d <= POINT_WORK), POINT_DRAWS[-1])


def estimated_seconds(run: Prediction, afforded: Afforded, n_measures: int) -> float:
    """Rough time of the tests of one run by so many measures, to decide whether it is shared among processes."""
    n, k = afforded.n_tested, run.n_classes
    if n_points(run) == 1 or afforded.by_mean:
        return n_measures * n * point_draws(n) * max(1.0, k / 10) / (3 * POINT_WORK)
    seconds = n_measures * SET_SECONDS * n * _work(run) / SET_WORK
    return seconds if kernel("searched") else WITHOUT_KERNELS * seconds


def _round(size: int, n: int) -> int:
    """At most n; a part in two digits, which read better."""
    step = 10 ** (len(str(size)) - 2) if size < n else 1
    return min(n, size // step * step)


def _compares_all_pairs(measure: CalibrationMeasure) -> bool:
    return isinstance(measure.prepare, PrepareKernel) and measure.prepare.estimator in ("quadratic", "biased")


def _work(prediction: Prediction) -> float:
    """Cost of one test of a set for each instance: mixtures that a round of the search judges times classes."""
    m, k = n_points(prediction), prediction.n_classes
    return k * (m + SEARCH) + 2 * m if m > 1 else 0.0


def n_points(prediction: Prediction) -> int:
    """Number of points that can be mixed, M; 1 where only the mean can be tested."""
    if isinstance(prediction, Members):
        return prediction.n_members
    if isinstance(prediction, Drawn):
        return prediction.n_points if prediction.has_shared_points else 1
    if isinstance(prediction, Vertices):
        return int(prediction.vertices.shape[1])
    return 2 * prediction.n_classes if isinstance(prediction, (Box, Masses)) else 1


def choose_instances(n: int, n_tested: int, groups: NDArray[Any] | None, seed: int) -> Rows:
    """Instances at random, or whole groups until there are enough, in ascending order."""
    return sample_reaching(random_keys(n, groups, seed), n_tested)
