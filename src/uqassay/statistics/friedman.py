"""Ranks of J models on N data sets, and Friedman's test that all models are equal."""

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay._json import plain
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.comparisons import check_alpha
from uqassay.statistics.samples import Floats, as_floats

__all__ = ["ROUNDING", "FriedmanTest", "as_table", "average_ranks", "friedman_test", "table_ranks", "tied_ranks"]

ROUNDING = 1e-12  # relative to the largest value: closer values tie, because equal results are rounded differently


@final
@dataclass(frozen=True, eq=False)
class FriedmanTest:
    """Friedman's test with Iman and Davenport's F.

    Attributes
    ----------
    ranks : array (J,)
        Average rank of each model, 1 for the best.
    chi_squared : float
        Friedman's statistic, corrected for ties.
    f : float
        Iman and Davenport's statistic; infinite where all data sets order the models alike.
    pvalue : float
        Of `f`; nan where a note says why.
    n_data_sets : int
    notes : tuple of Note
    """

    ranks: Floats
    chi_squared: float
    f: float
    pvalue: float
    n_data_sets: int
    notes: tuple[Note, ...] = ()

    def reject(self, alpha: float = 0.05) -> bool:
        """True if equal models are rejected at level alpha. A p-value of nan rejects nothing."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        return {
            "ranks": self.ranks.tolist(),
            **{name: plain(getattr(self, name)) for name in ("chi_squared", "f", "pvalue")},
            "n_data_sets": self.n_data_sets,
            "notes": [note.to_dict() for note in self.notes],
        }


def average_ranks(values: ArrayLike, *, greater_is_better: bool = False) -> Floats:
    """Average rank of each model over data sets, 1 for the best; equal values share the mean of their ranks.

    Parameters
    ----------
    values : array_like, shape (N, J)
        One row for each data set, one column for each model.
    greater_is_better : bool
        False for losses, True for scores.

    Returns
    -------
    ranks : ndarray (J,)

    Raises
    ------
    InputError
        A value is nan or infinite, or the table is empty.

    Notes
    -----
    Values closer than 1e-12 of the largest one count as equal.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]], greater_is_better=True).tolist()
    [1.0, 2.25, 2.75]
    """
    found: Floats = table_ranks(as_table(values), greater_is_better=greater_is_better).mean(axis=0)
    return found


def friedman_test(values: ArrayLike, *, greater_is_better: bool = False) -> FriedmanTest:
    """Test whether J models have equal ranks on average, over N data sets that are a sample of data sets.

    Parameters
    ----------
    values, greater_is_better
        As in `average_ranks`; at least two models and two data sets.

    Returns
    -------
    test : FriedmanTest

    Raises
    ------
    InputError
        A value is nan or infinite, or there are fewer than two rows or columns.

    Notes
    -----
    The p-value comes from the F distribution with J − 1 and (J − 1)(N − 1) degrees of freedom. Where all data sets order the
    models alike, F is infinite and the p-value is the probability of that, (1 / J!)^(N − 1), exact without ties. With few data
    sets the F distribution is liberal: of three models on six, it gives .013 where all orders give .029. The test says that
    some models differ, not which: see `pairwise_signed_rank_tests`.

    References
    ----------
    Friedman (1937), The use of ranks to avoid the assumption of normality; Iman, Davenport (1980), Approximations of the
    critical region of the Friedman statistic; Demšar (2006), Statistical comparisons of classifiers over multiple data sets,
    J. Mach. Learn. Res. 7, section 3.2.2.

    Examples
    --------
    >>> test = friedman_test([[0.1, 0.2, 0.3], [0.2, 0.1, 0.4], [0.1, 0.3, 0.2], [0.1, 0.2, 0.5]])
    >>> test.ranks.tolist(), round(test.chi_squared, 3), round(test.f, 3), round(test.pvalue, 3)
    ([1.25, 2.0, 2.75], 4.5, 3.857, 0.084)
    """
    ranks = table_ranks(as_table(values, least=2), greater_is_better=greater_is_better)
    n, j = ranks.shape
    centred = ranks - (j + 1) / 2
    spread = float((centred**2).sum())  # N J (J² − 1) / 12 without ties
    mean = ranks.mean(axis=0)
    if spread == 0:
        note = Note("no-test", "all models are equal on every data set")
        return FriedmanTest(mean, math.nan, math.nan, math.nan, n, (note,))
    between = float((centred.sum(axis=0) ** 2).sum())
    chi = (j - 1) * between / spread
    rest = n * (j - 1) - chi
    if rest <= 1e-9 * n * j:
        return FriedmanTest(mean, chi, math.inf, math.exp(-(n - 1) * math.lgamma(j + 1)), n)
    f = (n - 1) * chi / rest
    return FriedmanTest(mean, chi, f, float(special.fdtrc(j - 1, (j - 1) * (n - 1), f)), n)


# -- helpers ------------------------------------------------------------------------------------------------------------


def as_table(values: ArrayLike, *, least: int = 1) -> Floats:
    """Check a table of finite values, one row for each data set and one column for each model.

    Raises
    ------
    InputError
        A value is nan or infinite, or there are fewer than `least` rows or columns.
    """
    table = as_floats(values, "values", ndim=(2,), shape="(N, J)")
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0].tolist()
        raise InputError(
            "values",
            "must be finite",
            f"row {row}, column {column} has {table[row, column]}",
            "leave out that data set or that model",
            code="finite",
        )
    if min(table.shape) < least:
        raise InputError(
            "values",
            f"needs at least {least} data sets and {least} models",
            f"got shape {table.shape}",
            "pass one row for each data set and one column for each model",
            code="shape",
        )
    return table


def table_ranks(table: Floats, *, greater_is_better: bool = False) -> Floats:
    """Ranks within each row of a checked table, 1 for the best, ``(N, J)``."""
    return tied_ranks(-table if greater_is_better else table, ROUNDING * np.abs(table).max(axis=1, keepdims=True))


def tied_ranks(values: Floats, tolerance: float | Floats) -> Floats:
    """Ranks along the last axis from 1; values that follow each other within a tolerance share the mean of their ranks."""
    order = np.argsort(values, axis=-1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=-1)
    apart = np.diff(ascending, axis=-1) > tolerance
    place = np.broadcast_to(np.arange(values.shape[-1]), values.shape)
    edge = np.ones((*values.shape[:-1], 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, apart], axis=-1), place, 0), axis=-1)
    ends = np.where(np.concatenate([apart, edge], axis=-1), place, values.shape[-1])
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks
