"""The mean of several correlations on Fisher's scale z = artanh r, with its interval."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.samples import Floats, as_floats, check_level

__all__ = ["mean_correlation_estimate"]

# artanh is infinite at ±1, so correlations are cut here: z = ±7.25.
LARGEST = 1 - 1e-6

_ROUNDING = 1e-12


@in_one_order("correlations", "n_pairs")
def mean_correlation_estimate(correlations: ArrayLike, *, n_pairs: int | None = None, level: float = 0.95) -> Estimate:
    """tanh of the mean of z = artanh r over runs, with its interval.

    Parameters
    ----------
    correlations : array_like, shape (R,)
        One correlation of each of R independent runs.
    n_pairs : int, optional
        Number of pairs behind each correlation. It serves the interval of a single run alone.
    level : float

    Returns
    -------
    estimate : Estimate
        n is R. Several runs: Student's t interval of the mean z, transformed back. One run: z ± q/√(n_pairs − 3), which
        assumes independent pairs from a bivariate normal distribution and leaves out the variation between runs; nan with
        a note for fewer than four pairs.

    Raises
    ------
    InputError
        A correlation is nan or lies outside [−1, 1].

    Notes
    -----
    The estimand is the mean of z over runs, transformed back. It is not the mean of r, and not the correlation of the
    averaged curves. Correlations beyond ±0.999999 count as ±0.999999, and a note says how many. If all correlations are
    equal, the interval has no width.

    References
    ----------
    Fisher (1921), On the probable error of a coefficient of correlation, Metron 1.

    Examples
    --------
    >>> mean_correlation_estimate([0.9, 0.95, 0.8])
    Estimate(0.8991, low=0.5056, high=0.983, level=0.95, n=3, method="Fisher's z over runs")
    >>> one = mean_correlation_estimate([0.9], n_pairs=7)
    >>> round(one.low, 3), round(one.high, 3), *map(str, one.notes)
    (0.456, 0.985, '1 run: the interval leaves out the variation between runs')
    """
    check_level(level)
    r = as_floats(correlations, "correlations", ndim=(1,), shape="(R,)")
    outside = np.flatnonzero(np.abs(r) > 1 + _ROUNDING)
    if outside.size:
        raise InputError(
            "correlations",
            "must lie between −1 and 1",
            f"row {outside[0]} has {r[outside[0]]}",
            "pass correlation coefficients",
            code="range",
        )
    r = np.clip(r, -1.0, 1.0)
    if r.size == 1:
        return _of_one_run(float(r[0]), n_pairs, level)
    notes = _clip_notes(r)
    value, method = float(r[0]), "Fisher's z over runs"
    if np.ptp(r) <= _ROUNDING:
        note = Note("no-width", "all correlations are equal")
        return Estimate(value, low=value, high=value, level=level, n=r.size, method=method, notes=[note])
    z = np.arctanh(np.clip(r, -LARGEST, LARGEST))
    reach = float(special.stdtrit(r.size - 1, 0.5 + level / 2)) * float(z.std(ddof=1)) / r.size**0.5
    value, low, high = (float(np.tanh(x)) for x in (z.mean(), z.mean() - reach, z.mean() + reach))
    return Estimate(value, low=low, high=high, level=level, n=r.size, method=method, notes=notes)


def _of_one_run(r: float, n_pairs: int | None, level: float) -> Estimate:
    low = high = np.nan
    notes = []
    if n_pairs is None or n_pairs <= 3:
        pairs = "" if n_pairs is None else f" over {n_pairs} pairs"
        notes.append(Note("no-interval", f"1 correlation{pairs}: no interval"))
    elif abs(r) > LARGEST:
        notes.append(Note("no-interval", "1 correlation of ±1: no interval"))
    else:
        reach = float(special.ndtri(0.5 + level / 2)) / (n_pairs - 3) ** 0.5
        low, high = float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))
        notes.append(Note("assumption", "1 run: the interval leaves out the variation between runs"))
    return Estimate(r, low=low, high=high, level=level, n=1, method="Fisher's z of one run", notes=notes)


def _clip_notes(r: Floats) -> list[Note]:
    cut = int((np.abs(r) > LARGEST).sum())
    if not cut:
        return []
    text = f"{cut} of {r.size} correlations are beyond ±{LARGEST} and count as that"
    return [Note("edge", text, {"cut": cut})]
