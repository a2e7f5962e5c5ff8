"""Test sets with a known epistemic uncertainty of every instance, for the tests of the epistemic gain."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtr

GROUPS = 50


@dataclass(frozen=True)
class Drawn:
    """Gains (n,), estimates (n,), the true expected gains (n,), and groups (n,) or None."""

    gain: np.ndarray
    epistemic: np.ndarray
    true: np.ndarray
    groups: np.ndarray | None


def uncertainties(rng, n, mean):
    """True EU with this mean, mostly near 0: a beta distribution with a first parameter of ½, at most .9."""
    return np.minimum(rng.beta(0.5, 0.5 * (1 - mean) / mean, n), 0.9)


def shared_uniforms(rng, n, groups, correlation=0.3):
    """Uniform numbers (n,) whose normal scores are correlated in a group; groups have sizes that differ."""
    if not groups:
        return rng.random(n), None
    codes = rng.choice(groups, n, p=np.arange(1, groups + 1) / (groups * (groups + 1) / 2))
    z = np.sqrt(correlation) * rng.standard_normal(groups)[codes] + np.sqrt(1 - correlation) * rng.standard_normal(n)
    return ndtr(z), codes


def zero_one(rng, n, *, mean=0.04, changes=1.5, slope=1.0, shift=0.0, groups=0, levels=0, correlation=0.3):
    """Gains with P(±1) = `changes` · EU; the estimate is slope · EU + shift, rounded to `levels` levels if there are any."""
    true = uncertainties(rng, n, mean)
    changed = np.minimum(changes * true, 1.0)
    u, codes = shared_uniforms(rng, n, groups, correlation)
    gain = np.where(u < (changed + true) / 2, 1.0, np.where(u > 1 - (changed - true) / 2, -1.0, 0.0))
    estimate = slope * true + shift
    if levels:
        edges = np.linspace(0, 1, levels + 1) ** 3
        estimate = edges[np.searchsorted(edges, estimate, side="right") - 1]
    return Drawn(gain, estimate, true, codes)


def skewed(rng, n, *, mean=0.04, slope=1.0, shift=0.0, groups=0):
    """Gains of a loss without bound: the mean is EU, the noise is a centred exponential of standard deviation .1 + EU."""
    true = uncertainties(rng, n, mean)
    u, codes = shared_uniforms(rng, n, groups)
    return Drawn(true + (0.1 + true) * (-np.log(u) - 1), slope * true + shift, true, codes)


# P(gain ≠ 0) is 2 % in the worlds called "rare" and 6 % in the others
CALIBRATED = {
    "zero-one": zero_one,
    "zero-one, rare": partial(zero_one, mean=0.02 / 1.5),
    "zero-one, rare, never −1": partial(zero_one, mean=0.02, changes=1.0),
    "zero-one, mostly ±1 by chance": partial(zero_one, mean=0.02, changes=5.0),
    "zero-one, 50 groups": partial(zero_one, groups=GROUPS),
    "zero-one, rare, 50 groups": partial(zero_one, mean=0.02 / 1.5, groups=GROUPS),
    "log loss": skewed,
    "log loss, 50 groups": partial(skewed, groups=GROUPS),
}
MISCALIBRATED = {
    "estimate 2 · EU": partial(zero_one, slope=2.0),
    "estimate EU / 2": partial(zero_one, slope=0.5),
    "estimate EU + .02": partial(zero_one, shift=0.02),
    "estimate EU + .3": partial(zero_one, shift=0.3),
    "estimate 2 · EU, 50 groups": partial(zero_one, slope=2.0, groups=GROUPS),
    "log loss, estimate EU + .02": partial(skewed, shift=0.02),
}
