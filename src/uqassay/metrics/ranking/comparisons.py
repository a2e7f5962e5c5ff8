"""Paired tests of ranking metrics: two scores of one model, two models, or all pairs of several rankings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import generator
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking.registry import RANKING_METRICS, RankingMetric
from uqassay.metrics.run_summaries import midranks
from uqassay.predictions.base import Array
from uqassay.statistics import PairedComparison, PairwiseComparisons
from uqassay.statistics.linearised import Linearised
from uqassay.statistics.samples import check_choice, check_draws, make_units
from uqassay.statistics.statistic_comparisons import paired_statistic_test, pairwise_statistic_tests

__all__ = ["paired_ranking_test", "pairwise_ranking_tests"]

Ranking = tuple[ArrayLike, ArrayLike]


@in_one_order("a", "b", "groups", "sample_weight")
def paired_ranking_test(
    a: Ranking,
    b: Ranking,
    *,
    metric: str = "uq-auc",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "linearised",
    n_draws: int = 999,
    rng: int | np.random.Generator | None = None,
) -> PairedComparison:
    """Test whether two uncertainties rank equally well on the same instances.

    Parameters
    ----------
    a, b : (truth, uncertainty), each of arrays (n,)
        The truth is the errors or the gap, depending on the metric (`prediction_errors`, `probability_gap`). Two scores of
        one model have the same truth; two models have different ones.
    metric : str
        A name in `RANKING_METRICS`.
    groups, sample_weight
        As in `uq_auc_score`.
    level : float
        Confidence level of the interval of the difference.
    method : {"linearised", "permutation"}
        "linearised": Student's t test on the difference of the influences. For "uq-auc" this is the test of DeLong et al.,
        with Satterthwaite's degrees of freedom and the imaginary instances of `statistics.auc_estimate`. "permutation": the
        scores are replaced by their ranks, and the two rankings are swapped in random instances (whole groups). It is exact
        if the two rankings are exchangeable. The swaps do not depend on the order of rows.
    n_draws, rng
        Number of draws and random state of the permutation test, whose p-value is (1 + count) / (1 + n_draws). An rng of
        None means seed 0.

    Returns
    -------
    result : PairedComparison
        The interval of the difference is the linearised one for both methods, and so is `detectable`, the smallest difference
        that these instances could have shown.

    Raises
    ------
    InputError
        When an array has nan, lengths differ, or the metric is unknown.

    Notes
    -----
    The type-I error is about nominal: up to 6 % at nominal 5 % with groups or ten errors. With few errors and a large area
    it is lower: 1.4 % with ten errors and an area of .95 (docs/measured-coverage.md).

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44. Bandos, Rockette, Gur (2005), A permutation test sensitive to
    differences in areas for comparing ROC curves from a paired design, Stat. Med. 24.

    Examples
    --------
    >>> errors = [0, 0, 0, 1, 0, 1, 0, 1]
    >>> good, poor = [1, 2, 3, 6, 4, 8, 5, 7], [3, 5, 6, 1, 8, 4, 2, 7]
    >>> round(float(paired_ranking_test((errors, good), (errors, poor)).difference), 4)
    0.6
    """
    check_choice(method, "method", ("linearised", "permutation"))
    check_draws(n_draws)
    chosen = _metric(metric)
    for ranking, name in ((a, "a"), (b, "b")):
        _check_ranking(ranking, name)
    first, w = chosen.linearised_of(*a, sample_weight=sample_weight, groups=groups)
    second, _ = chosen.linearised_of(*b, sample_weight=sample_weight, groups=groups)
    found = paired_statistic_test(first, second, groups=groups, sample_weight=w, level=level, bound=chosen.bound)
    if method == "linearised" or np.isnan(found.pvalue):
        return found
    pvalue = _swap_pvalue(chosen, a, b, groups, w, n_draws, generator(rng))
    return replace(found, pvalue=pvalue, method="permutation")


@in_one_order("rankings", "groups", "sample_weight")
def pairwise_ranking_tests(
    rankings: Mapping[str, Ranking],
    *,
    metric: str = "uq-auc",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
) -> PairwiseComparisons:
    """Test every pair of several rankings on the same instances, with p-values adjusted by Shaffer and Benjamini-Hochberg.

    Parameters
    ----------
    rankings : dict of str to (truth, uncertainty)
    metric, groups, sample_weight, level
        As in `paired_ranking_test`.

    Returns
    -------
    PairwiseComparisons

    Examples
    --------
    >>> errors = [0, 0, 0, 1, 0, 1, 0, 1]
    >>> scores = {"good": [1, 2, 3, 6, 4, 8, 5, 7], "poor": [3, 5, 6, 1, 8, 4, 2, 7], "same": [1, 2, 3, 6, 4, 8, 5, 7]}
    >>> found = pairwise_ranking_tests({name: (errors, s) for name, s in scores.items()})
    >>> found.names, found.values.round(3).tolist(), float(found.pvalue[0, 2])
    (('good', 'poor', 'same'), [1.0, 0.4, 1.0], 1.0)
    """
    chosen = _metric(metric)
    if not isinstance(rankings, Mapping) or not rankings:
        given = "none" if isinstance(rankings, Mapping) else type(rankings).__name__
        raise InputError(
            "rankings",
            "must be a dict from names to (truth, uncertainty)",
            f"got {given}",
            'write {"entropy": (errors, entropy)}',
            code="type",
        )
    statistics: dict[str, Linearised] = {}
    w, n = None, None
    for name, ranking in rankings.items():
        _check_ranking(ranking, f"rankings[{name!r}]")
        size = len(ranking[0])  # type: ignore[arg-type]
        if n not in (None, size):
            raise InputError(
                "rankings",
                f"all need the same {n} instances",
                f"{name!r} has {size}",
                "use one test set",
                code="mismatch",
            )
        n = size
        statistics[str(name)], w = chosen.linearised_of(*ranking, sample_weight=sample_weight, groups=groups)
    return pairwise_statistic_tests(statistics, groups=groups, sample_weight=w, level=level, bound=chosen.bound)


def _metric(name: str) -> RankingMetric:
    name = metric_name(name)
    check_choice(name, "metric", tuple(RANKING_METRICS))
    return RANKING_METRICS[name]


def _swap_pvalue(
    metric: RankingMetric,
    a: Ranking,
    b: Ranking,
    groups: ArrayLike | None,
    w: Array | None,
    n_draws: int,
    rng: np.random.Generator,
) -> float:
    """Two-sided p-value of the difference under random swaps of the two rankings, unit by unit."""
    truths = [np.asarray(truth, dtype=np.float64) for truth, _ in (a, b)]
    ranks = [midranks(uncertainty) for _, uncertainty in (a, b)]  # the same scale for both
    n = len(truths[0])
    if len(truths[1]) != n:
        raise InputError(
            "b", f"needs the same {n} instances as a", f"got {len(truths[1])}", "use one test set", code="mismatch"
        )
    unit, n_units = _canonical_units([*truths, *ranks] if w is None else [*truths, *ranks, w], groups)

    def difference(swap: np.ndarray | None) -> float:
        t, r = truths, ranks
        if swap is not None:
            t = [np.where(swap, t[1], t[0]), np.where(swap, t[0], t[1])]
            r = [np.where(swap, r[1], r[0]), np.where(swap, r[0], r[1])]
        return metric.statistic(t[0], r[0], w).value - metric.statistic(t[1], r[1], w).value

    observed = abs(difference(None))
    count = 0
    for _ in range(n_draws):
        swap = rng.random(n_units) < 0.5
        value = difference(swap[unit])
        count += not abs(value) < observed - 1e-12  # a nan counts as a draw at least as extreme
    return (1 + count) / (1 + n_draws)


def _canonical_units(columns: list[Array], groups: ArrayLike | None) -> tuple[NDArray[np.intp], int]:
    """Unit of each instance, and the number of units.

    Units are numbered by the values in the columns (n,), so that the random swaps do not depend on the order of rows.
    """
    n = len(columns[0])
    order = np.lexsort(columns)
    codes = make_units(n, groups, None).codes
    if codes is None:
        unit = np.empty(n, dtype=np.intp)
        unit[order] = np.arange(n)
        return unit, n
    # a group is compared by the sorted list of its instances; equal instances have the same number
    new = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    number = np.concatenate([[0], np.cumsum(new)]).astype(">u8")  # big-endian bytes sort as the numbers do
    by_group = np.argsort(codes[order], kind="stable")
    held = np.split(number[by_group], np.cumsum(np.bincount(codes))[:-1])
    place = np.empty(len(held), dtype=np.intp)
    place[sorted(range(len(held)), key=lambda group: held[group].tobytes())] = np.arange(len(held))
    return place[codes], len(held)


def _check_ranking(ranking: Ranking, name: str) -> None:
    """Raise InputError unless the ranking is a pair of arrays."""
    pair = isinstance(ranking, Sequence | np.ndarray) and not isinstance(ranking, str) and len(ranking) == 2
    if not pair or any(not hasattr(part, "__len__") for part in ranking):
        raise InputError(
            name,
            "must be a pair (truth, uncertainty)",
            f"got {type(ranking).__name__}",
            "pass both as a tuple",
            code="type",
        )
