"""Means of many columns of the same instances, each with its interval, in a few passes over all of them."""

from collections.abc import Sequence

import numpy as np

from uqassay.statistics.estimate import Estimate, mean_estimate
from uqassay.statistics.samples import Floats, Spread, check_level

__all__ = ["mean_estimates"]

CELLS = 2**17  # values that are held at once: a block stays in the cache


def mean_estimates(rows: Sequence[Floats], *, level: float = 0.95, method: str = "student-t") -> list[Estimate]:
    """`mean_estimate` of each row, to the last bit.

    Parameters
    ----------
    rows : sequence of C arrays (n,)
        Values of the same independent instances of equal weight, such as several losses of one model.
    level, method
        As in `mean_estimate`, but no "bca".

    Returns
    -------
    list of C Estimate

    Raises
    ------
    InputError
        As in `mean_estimate`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 1.0, 1.0])
    >>> mean_estimates([x, 2 * x]) == [mean_estimate(x), mean_estimate(2 * x)]
    True
    """
    check_level(level)
    step = max(CELLS // len(rows[0]), 1) if len(rows) else 1
    blocks = (rows[k : k + step] for k in range(0, len(rows), step))
    return [one for block in blocks for one in _of_block(block, level, method)]


def _of_block(rows: Sequence[Floats], level: float, method: str) -> list[Estimate]:
    n = len(rows[0])
    if n == 1 or len(rows) == 1:
        return [mean_estimate(row, level=level, method=method) for row in rows]
    x = np.array(rows, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        means = x.mean(axis=1)
    special = ~np.isfinite(means) | (x == x[:, :1]).all(axis=1)  # infinite, undefined or equal values
    with np.errstate(invalid="ignore", divide="ignore"):
        x -= means[:, np.newaxis]
        x /= float(n)
        scales = np.maximum(x.max(axis=1), -x.min(axis=1))
        x /= scales[:, np.newaxis]
        squared = x * x
        squares = n / (n - 1) * squared.sum(axis=1)
        squared *= x
        cubes = squared.sum(axis=1)
    dof = 1.0 / (1.0 / (n - 1.0))  # as Satterthwaite's formula rounds it
    found = []
    for row, value, is_special, *sums in zip(
        rows, means.tolist(), special.tolist(), scales.tolist(), squares.tolist(), cubes.tolist(), strict=True
    ):
        scale, variance, third = sums
        if is_special or scale == 0.0:
            found.append(mean_estimate(row, level=level, method=method))
            continue
        spread = Spread(scale * variance**0.5, dof, third / variance**1.5)
        low, high = spread.interval(value, level, method)
        found.append(Estimate(value, low=low, high=high, level=level, n=n, method=method))
    return found
