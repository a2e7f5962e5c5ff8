"""Nemenyi's test of all pairs of average ranks, and its critical difference."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.statistics.friedman import as_table, average_ranks
from uqassay.statistics.samples import Floats, check_level

__all__ = ["nemenyi_difference", "nemenyi_pvalues"]


def nemenyi_difference(n_models: int, n_data_sets: int, *, level: float = 0.95) -> float:
    """Critical difference of two average ranks in Nemenyi's test.

    Parameters
    ----------
    n_models, n_data_sets : int
        J ≥ 2 and N ≥ 1.
    level : float
        Confidence level.

    Returns
    -------
    difference : float
        q √(J (J + 1) / (6 N)), where √2 q is the quantile of the studentised range of J values with infinite degrees of
        freedom. Larger than J − 1, the greatest possible difference, where no pair can be told apart.

    Raises
    ------
    InputError
        Numbers that are not whole or too small, a level outside (0, 1).

    Notes
    -----
    All J models are ranked together, so that whether two of them differ depends on the others (Benavoli, Corani, Mangili 2016,
    Should we really use post-hoc tests based on mean-ranks?, J. Mach. Learn. Res. 17); and the error rate holds only if all
    models are equal. `pairwise_signed_rank_tests` compares each pair by itself.

    References
    ----------
    Nemenyi (1963), Distribution-free multiple comparisons; Demšar (2006), Statistical comparisons of classifiers over multiple
    data sets, J. Mach. Learn. Res. 7, section 3.2.2 and Table 5.

    Examples
    --------
    >>> round(nemenyi_difference(4, 14), 2)
    1.25
    """
    check_level(level)
    for name, value, least in (("n_models", n_models, 2), ("n_data_sets", n_data_sets, 1)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise InputError(
                name, f"must be a whole number of at least {least}", f"got {value!r}", "count them", code="range"
            )
    return _quantile(int(n_models), float(level)) * (n_models * (n_models + 1) / (12 * n_data_sets)) ** 0.5


def nemenyi_pvalues(values: ArrayLike) -> Floats:
    """P-values of Nemenyi's test, adjusted for all pairs of models.

    Parameters
    ----------
    values : array_like, shape (N, J)
        One row for each data set, one column for each model; at least two models.

    Returns
    -------
    pvalues : ndarray (J, J)
        nan on the diagonal.

    Raises
    ------
    InputError
        A value is nan or infinite, or there are fewer than two rows or columns.

    Examples
    --------
    >>> nemenyi_pvalues([[0.1, 0.2, 0.3]] * 5)[0].round(3).tolist()
    [nan, 0.254, 0.004]
    """
    from scipy.stats import studentized_range  # scipy.stats takes half a second to import

    table = as_table(values, least=2)
    n, j = table.shape
    ranks = average_ranks(table)
    apart = np.abs(ranks[:, np.newaxis] - ranks) / (j * (j + 1) / (12 * n)) ** 0.5
    upper = np.triu_indices(j, 1)
    distances, places = np.unique(apart[upper], return_inverse=True)
    pvalues = np.full((j, j), np.nan)
    pvalues[upper] = pvalues.T[upper] = np.clip(studentized_range.sf(distances, j, np.inf), 0, 1)[places]
    return pvalues


@lru_cache(maxsize=256)
def _quantile(j: int, level: float) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, j, np.inf))
