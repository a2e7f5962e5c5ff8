"""The smallest difference of two means that a test set could have shown."""

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uqassay._one_order import in_one_order
from uqassay.statistics.detectable_pairs import POWER, DetectableDifference, detectable_of_pairs
from uqassay.statistics.margins import checked_bound
from uqassay.statistics.mean_lines import MeanLines
from uqassay.statistics.samples import Floats, check_inside, check_level

__all__ = ["detectable_difference", "detectable_differences"]


@in_one_order("a", "b", "groups", "sample_weight", axes={"a": -1, "b": -1})
def detectable_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    power: float = POWER,
    bound: float | None = None,
) -> DetectableDifference:
    """The smallest difference of two means that these instances could have shown.

    Parameters
    ----------
    a, b, groups, sample_weight
        As in `paired_mean_test`.
    level : float
        The test is two-sided at 1 − level.
    power : float
        Probability with which a difference of this size is shown.
    bound : float, optional
        As in `pairwise_mean_tests`.

    Returns
    -------
    DetectableDifference

    Raises
    ------
    InputError
        As `paired_mean_test`; a power outside (0, 1).

    Notes
    -----
    The test is that of `pairwise_mean_tests`, with its guards. Its threshold for the t statistic is c, the greater of Student's
    and Hall's. The difference is δ·s, where s is the standard error, and a noncentral t with noncentrality δ exceeds c with
    the power; with few degrees of freedom, on average over the true standard errors that s leaves open (the "assurance" of
    O'Hagan et al. 2005). With a bound B, the observed difference must also exceed u = B(α^(−1/n) − 1) for losses that have
    not been seen, which u + z·s does with the power.

    The observed difference has no part in it, unlike in "observed power" (Hoenig, Heisey 2001). It has in `instances` and
    `times_runs`, which are rough for that reason: the observed difference is as uncertain as its interval says.

    References
    ----------
    Hoenig, Heisey (2001), The abuse of power, The American Statistician 55.
    O'Hagan, Stevens, Campbell (2005), Assurance in clinical trial design, Pharmaceutical Statistics 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(0.0, 1.0, 400), rng.normal(0.05, 1.0, 400)
    >>> found = detectable_difference(a, b)
    >>> round(found.difference, 2), round(found.observed, 2), round(found.instances)
    (0.19, -0.07, 2871)
    """
    check_level(level)
    check_inside(power, "power")
    most = np.array([0.0 if bound is None else checked_bound(bound)])
    lines = MeanLines({"a": (a,), "b": (b,)}, groups=groups, sample_weight=sample_weight)
    options: dict[str, Any] = {"alphas": [1 - level], "bounds": most, "extra": np.zeros(1), "power": power}
    return detectable_differences(lines, (1.0,), ("a",), "b", **options)[0]


def detectable_differences(
    lines: MeanLines,
    coefficients: Sequence[float],
    names: Sequence[str],
    other: str,
    *,
    alphas: Sequence[float],
    bounds: Floats,
    extra: Floats,
    power: float = POWER,
    plans: bool = True,
) -> list[DetectableDifference]:
    """`detectable_difference` of combinations of several models from another one, each at its own level.

    Parameters
    ----------
    lines : MeanLines
    coefficients, names, other
        As in `MeanLines.differences`.
    alphas : sequence of P float
    bounds : array (P,)
        Greatest excess of one model over the other.
    extra : array (P,)
        Standard errors of another source.
    power : float
    plans : bool
        Whether the numbers of instances and runs are found, too; else they are nan.
    """
    tested = lines.testable(names, other)
    found = [DetectableDifference(nan, power, 1 - alpha, nan, nan, nan) for alpha in alphas]
    if tested.any():
        places = np.flatnonzero(tested).tolist()
        spreads = lines.spreads(coefficients, names, other)
        options: dict[str, Any] = {"alphas": [alphas[k] for k in places], "power": power, "sizes": lines.sizes}
        options["plans"] = plans
        for k, one in zip(places, detectable_of_pairs(spreads, extra[tested], bounds[tested], **options), strict=True):
            found[k] = one
    return found
