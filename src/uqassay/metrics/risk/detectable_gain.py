"""The smallest gain of a refusal that a test set could have shown."""

import numpy as np
from scipy import special

from uqassay.statistics.detectable_pairs import POWER
from uqassay.statistics.samples import Floats

__all__ = ["detectable_gain", "independent_instances"]

NODES = 40  # quantiles of each count of errors
HALVINGS = 14
ROUNDING = 1e-12


def detectable_gain(
    error_rate: float, coverage: float, n: float, *, level: float = 0.95, power: float = POWER
) -> float:
    """The smallest gain in accuracy that the interval of `selective_gain` sets apart from 0. For use by other rooms.

    Parameters
    ----------
    error_rate : float
        Of all instances.
    coverage : float
        Share c that is kept, in (0, 1).
    n : float
        Number of independent instances, see `independent_instances`.
    level : float
        Of the interval.
    power : float
        Probability with which the interval of a gain of this size lies above 0.

    Returns
    -------
    gain : float
        Infinite if even the greatest possible gain would be shown more rarely.

    Notes
    -----
    With a gain g, c n instances are kept with the error rate e − g and (1 − c) n refused with e + g c/(1 − c). Their errors are
    taken as binomial and independent, the intervals of both rates as Wilson's, and the power is the mean over quantiles of both
    counts. The gain that was observed has no part in it.

    Examples
    --------
    >>> round(detectable_gain(0.1, 0.9, 1000), 4), detectable_gain(0.1, 0.9, 5)
    (0.0096, inf)
    """
    refused = 1 - coverage
    most = min(error_rate, (1 - error_rate) * refused / coverage)
    if not most > 0 or refused * n < 1:
        return float("inf")

    def shown(gain: float) -> bool:
        kept_rate, refused_rate = error_rate - gain, min(error_rate + gain * coverage / refused, 1.0)
        r, r_high = _rates(kept_rate, coverage * n, level)[::2]
        p, p_low = _rates(refused_rate, refused * n, level)[:2]
        ahead = p[:, np.newaxis] - r
        reach = np.hypot((p - p_low)[:, np.newaxis], r_high - r)
        return bool((ahead > reach).mean() >= power)

    if not shown(most):
        return float("inf")
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def independent_instances(rate: float, low: float, high: float, *, level: float, most: float) -> float:
    """How many independent instances give a share so wide an interval of Wilson's; at most `most`.

    Examples
    --------
    >>> round(independent_instances(0.1, 0.0744, 0.1331, level=0.95, most=1000))
    404
    """
    z2 = float(special.ndtri(0.5 + level / 2)) ** 2
    half = (high - low) / 2
    if not half > 0:
        return most
    # half² (1 + z²/n)² = z² (q/n + z²/(4 n²)) with q = rate (1 − rate), for x = 1/n
    q = rate * (1 - rate)
    roots = np.roots([half**2 * z2**2 - z2**2 / 4, 2 * half**2 * z2 - z2 * q, half**2])
    found = [min(1 / x.real, most) for x in roots if abs(x.imag) < ROUNDING and x.real > 0]
    return min([*found, most], key=lambda n: abs(_width(rate, n, z2) - half))


def _width(rate: float, n: float, z2: float) -> float:
    return float((z2 * (rate * (1 - rate) / n + z2 / (4 * n * n))) ** 0.5 / (1 + z2 / n))


def _rates(rate: float, n: float, level: float) -> tuple[Floats, Floats, Floats]:
    """Quantiles of the observed share with its Wilson interval, (NODES,) each."""
    size = max(round(n), 1)
    places = (np.arange(NODES) + 0.5) / NODES
    if ROUNDING < rate < 1 - ROUNDING:
        counts = np.clip(np.ceil(special.bdtrik(places, size, rate)), 0, size)
    else:
        counts = np.full(NODES, float(size) if rate > 0.5 else 0.0)
    share = counts / size
    z2 = float(special.ndtri(0.5 + level / 2)) ** 2
    middle = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = np.sqrt(z2 * (share * (1 - share) / size + z2 / (4 * size**2))) / (1 + z2 / size)
    return share, middle - half, middle + half
