"""Spearman's ρ with ties, and a distribution-free confidence interval."""

import numpy as np
from numpy.typing import ArrayLike

from uqassay._one_order import in_one_order
from uqassay.notes import Note
from uqassay.statistics.correlation import check_pairs, constant_note
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.linearised import Linearised, linearised_estimate
from uqassay.statistics.samples import Floats, check_level

__all__ = ["spearman_estimate", "spearman_influence"]

ROUNDING = 1e-12  # relative; smaller influences are rounding errors of 0
FEW = 20  # values that differ from the most frequent one; fewer get a note


@in_one_order("x", "y", "groups")
def spearman_estimate(
    x: ArrayLike,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Spearman's ρ, Pearson's correlation of the average ranks, with its interval.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Real numbers, of which only the order matters. Ties get their average rank. ±inf are allowed.
    groups : array_like of labels, shape (n,), optional
        Instances of one group may depend on each other; groups are independent.
    level : float

    Returns
    -------
    estimate : Estimate
        nan with a note where x or y is constant. O(n log n).

    Raises
    ------
    InputError
        When a value is nan or the lengths differ; for groups as in `mean_estimate`.

    Notes
    -----
    The variance is that of the mean influence (`spearman_influence`), cluster-robust with groups. It holds under any ties.
    The interval is symmetric on the scale of Fisher's z = artanh ρ, with a quantile of Student's t whose degrees of freedom
    follow from the fourth moment of the influences: if nearly all values of y are equal, the few others carry the variance.
    Where all influences are zero (|ρ| = 1, or a symmetric sample) it is Wilson's interval for (1 + ρ)/2 among n instances (or
    groups). Formulas that assume continuous values, such as the variance (1 + ρ²/2)/(n − 3) of z, fail under heavy ties.

    docs/measured-coverage.md has the measured coverage, also for y that is zero in 95 of 100 instances.

    References
    ----------
    Spearman (1904), The proof and measurement of association between two things, Am. J. Psychol. 15.
    Bonett, Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman correlations,
    Psychometrika 65 (the formula for continuous values).

    Examples
    --------
    >>> spearman_estimate([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1]).low > -0.5
    True
    >>> print(*spearman_estimate([1, 1, 1], [1, 2, 3]).notes)
    x is constant: no correlation
    """
    return named_spearman_estimate(x, y, ("x", "y"), groups, level)


def named_spearman_estimate(
    x: ArrayLike, y: ArrayLike, names: tuple[str, str], groups: ArrayLike | None, level: float
) -> Estimate:
    """`spearman_estimate` with these names of x and y in errors and notes. For use inside this package."""
    check_level(level)
    rho = _influence(x, y, names)
    share = Linearised((1 + rho.value) / 2, rho.influence / 2, uneven=True, notes=rho.notes)
    scale = "logit" if rho.influence.any() else "wilson"
    found = linearised_estimate(share, groups=groups, level=level, scale=scale)
    low, high = 2 * found.low - 1, 2 * found.high - 1
    return Estimate(
        rho.value, low=low, high=high, level=level, n=found.n, method="linearised, Fisher's z", notes=found.notes
    )


@in_one_order("x", "y")
def spearman_influence(x: ArrayLike, y: ArrayLike) -> Linearised:
    """Spearman's ρ with the influence of every instance, to compute differences of several ρ on the same instances.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        As in `spearman_estimate`.

    Returns
    -------
    rho : Linearised

    Raises
    ------
    InputError
        As `spearman_estimate`.

    Notes
    -----
    Let s(t) be 0, ½ and 1 for t < 0, t = 0 and t > 0. U_i is the mean of s(x_i − x_j) over j minus ½, V_i the same of y, and
    A, B, C are the means of U V, U² and V². Then ρ = A/√(BC). With the means over j P_i = s(x_j − x_i) V_j,
    Q_i = s(y_j − y_i) U_j, R_i = s(x_j − x_i) U_j and S_i = s(y_j − y_i) V_j, the influences are
    a_i = U_i V_i + P_i + Q_i − 3A, b_i = U_i² + 2 R_i − 3B, c_i = V_i² + 2 S_i − 3C and
    ψ_i = a_i/√(BC) − ρ (b_i/B + c_i/C)/2.

    Examples
    --------
    >>> from uqassay.statistics.linearised import linearised_estimate
    >>> gain, first, second = [0, 0, 0, 1, 0, 1], [1, 2, 4, 3, 5, 6], [2, 1, 6, 3, 4, 5]
    >>> round(linearised_estimate(spearman_influence(first, gain) - spearman_influence(second, gain)), 3)
    0.207
    """
    return _influence(x, y, ("x", "y"))


def _influence(x: ArrayLike, y: ArrayLike, names: tuple[str, str]) -> Linearised:
    first, second = check_pairs(x, y, names)
    constant = constant_note(first, second, names)
    if constant:
        return Linearised(np.nan, np.zeros(first.size), notes=constant)
    by_x, by_y = _Ranked(first), _Ranked(second)
    u, v = by_x.centred, by_y.centred
    a, b, c = float((u * v).mean()), float((u * u).mean()), float((v * v).mean())
    rho = min(max(a / (b * c) ** 0.5, -1.0), 1.0)  # rounding can exceed 1
    of_a = u * v + by_x.above(v) + by_y.above(u) - 3 * a
    of_b = u * u + 2 * by_x.above(u) - 3 * b
    of_c = v * v + 2 * by_y.above(v) - 3 * c
    psi = of_a / (b * c) ** 0.5 - rho * (of_b / b + of_c / c) / 2
    if np.abs(psi).max() <= ROUNDING:
        psi = np.zeros(first.size)
    return Linearised(rho, psi, notes=(*_few(second, names[1]), *_few(first, names[0])))


class _Ranked:
    """Places of values among themselves, from which means over greater values follow by sums along the order."""

    def __init__(self, values: Floats) -> None:
        self.level, count = np.unique(values, return_inverse=True, return_counts=True)[1:]
        self.n = values.size
        before = np.cumsum(count) - count
        self.centred = ((before + count / 2) / self.n - 0.5)[self.level]

    def above(self, amounts: Floats) -> Floats:
        """Mean over j of s(x_j − x_i) · amount_j, (n,) -> (n,)."""
        sums = np.bincount(self.level, weights=amounts)
        return np.asarray(((sums.sum() - np.cumsum(sums) + sums / 2) / self.n)[self.level])


def _few(values: Floats, name: str) -> tuple[Note, ...]:
    """A note where all but a few values are equal."""
    rest = values.size - int(np.unique(values, return_counts=True)[1].max())
    if rest >= FEW or values.size < 2 * FEW:
        return ()
    text = f"only {rest} values of {name} differ from the most frequent one: a rough interval"
    return (Note("few", text, {"count": rest}),)
