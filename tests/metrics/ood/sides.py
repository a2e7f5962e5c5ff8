"""Two samples as a pair of arrays (is_out, uncertainty), the input of the metrics."""

import numpy as np

from uqassay.metrics.ood import OOD_METRICS

TESTED = tuple(
    name for name, metric in OOD_METRICS.items() if metric.statistic is not None
)  # metrics with paired tests


def sides(inside, outside):
    """`is_out` and `uncertainty` of the instances in distribution and of those out of it."""
    inside, outside = np.asarray(inside), np.asarray(outside)
    return np.repeat([False, True], [len(inside), len(outside)]), np.concatenate([inside, outside])
