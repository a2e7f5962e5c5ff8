"""Histogram of the null draws of a test, with a bin edge at the observed statistic."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.monte_carlo import ROUNDING

__all__ = ["null_histogram"]

Floats = NDArray[np.float64]
MOST_BARS = 40


def null_histogram(null: Floats, statistic: float) -> dict[str, Any]:
    """Histogram of the null draws with a bin edge at the observed statistic, so that the p-value can be read off.

    Parameters
    ----------
    null : array (D,)
    statistic : float

    Returns
    -------
    dict
        "start" of the first bar, "width", "counts"; "infinite": draws that are +inf; "reach": how many draws are at least as
        great as the statistic. No bars where no draw is finite.

    Examples
    --------
    >>> bars = null_histogram(np.array([0.1, 0.2, 0.3, 0.3]), 0.3)
    >>> sum(bars["counts"]), bars["counts"][-1], bars["reach"]
    (4, 2, 2)
    """
    draws = np.asarray(null, dtype=np.float64)
    finite = np.sort(draws[np.isfinite(draws)])
    margin = ROUNDING * abs(statistic) + 1e-15 if np.isfinite(statistic) else 0.0  # as in the p-value
    least = float(statistic) - margin
    out: dict[str, Any] = {
        "start": None,
        "width": None,
        "counts": [],
        "infinite": int(np.isposinf(draws).sum()),
        "reach": int((draws >= least).sum()),
    }
    if not finite.size:
        return out
    edge = least if np.isfinite(least) else float(finite[0])
    span = float(finite[-1] - finite[0])
    spread = float(np.subtract(*np.quantile(finite, [0.75, 0.25])))
    width = max(2 * spread * finite.size ** (-1 / 3), span / MOST_BARS)  # Freedman and Diaconis
    if not width > 1e-9 * max(abs(edge), float(np.abs(finite).max()), 1e-300):  # all draws are equal
        width = max(abs(edge), abs(float(finite[0]))) / MOST_BARS or 1.0
    place = np.floor((finite - edge) / width).astype(np.int64)
    place = np.where(
        finite >= edge, np.maximum(place, 0), np.minimum(place, -1)
    )  # rounding moves no draw past the edge
    counts = np.bincount(place - place[0])
    return out | {"start": edge + int(place[0]) * width, "width": width, "counts": counts.tolist()}
