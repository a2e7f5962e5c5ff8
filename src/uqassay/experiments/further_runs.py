"""Printed means of runs: the range where the mean of as many further runs falls, and the comparison with it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from uqassay.experiments.reproduction import PrintedCell
from uqassay.wording import counted

__all__ = ["compared_with_runs", "further_runs"]

NAN = float("nan")


def further_runs(
    per_run: NDArray[np.floating[Any]], n: int, *, level: float = 0.95, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[float, float]:
    """Range in which the mean of n further runs falls: mean ± t √(s² (1/R + 1/n)).

    Parameters
    ----------
    per_run : array (R,)
    n : int
    level : float
    bounds : tuple of float
        Of the quantity; the range is cut to them.

    Returns
    -------
    tuple of float
        nan for a single run.

    Examples
    --------
    >>> [round(end, 3) for end in further_runs(np.array([0.2, 0.4, 0.3]), 3)]
    [-0.051, 0.651]
    """
    if len(per_run) < 2:
        return NAN, NAN
    half = stats.t.ppf(0.5 + level / 2, len(per_run) - 1) * per_run.std(ddof=1) * math.sqrt(1 / len(per_run) + 1 / n)
    mean = float(per_run.mean())
    return max(mean - float(half), bounds[0]), min(mean + float(half), bounds[1])


def compared_with_runs(
    name: str, paper: float, ours: float, span: tuple[float, float], *, runs: int, paper_runs: int
) -> PrintedCell:
    """A printed mean of `paper_runs` runs against a range of further runs, with the reason of a disagreement.

    Examples
    --------
    >>> compared_with_runs("table1/a", 0.9, 0.5, (0.4, 0.6), runs=4, paper_runs=5).note
    'outside the range of 5 further runs, from our 4 runs'
    """
    found = PrintedCell.within(name, paper, ours, *span)
    if found.agrees is not False:
        return found
    return replace(found, note=f"outside the range of {paper_runs} further runs, from our {counted(runs, 'run')}")
