"""Paired tests of two means, and the results of paired tests."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import generator
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.detectable_pairs import DetectableDifference
from uqassay.statistics.estimate import Estimate, run_means
from uqassay.statistics.margins import MarginTest
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.resampling import sign_flip_pvalue
from uqassay.statistics.samples import (
    Floats,
    as_runs,
    check_choice,
    check_draws,
    check_level,
    make_units,
    spread_of_mean,
)

__all__ = ["PairedComparison", "PairwiseComparisons", "paired_mean_test"]

_METHODS = ("student-t", "permutation")


@final
@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Result of a paired test of two means.

    Attributes
    ----------
    difference : Estimate
        Mean of a − b with its confidence interval, which is Student's t for permutation tests too.
    statistic : float
        t statistic of the difference.
    pvalue : float
        Two-sided; nan where a note says why.
    method : str
    n : int
        Number of instances.
    notes : tuple of Note
    margin : MarginTest or None
        Whether the difference is below a margin, where one was given.
    detectable : DetectableDifference or None
        The smallest difference that these instances could have shown; of `Assay.compare` and of tests of rankings.
    """

    difference: Estimate
    statistic: float
    pvalue: float
    method: str
    n: int
    notes: tuple[Note, ...] = ()
    margin: MarginTest | None = None
    detectable: DetectableDifference | None = None

    def reject(self, alpha: float = 0.05) -> bool:
        """True if equal means are rejected at level alpha. A p-value of nan rejects nothing."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha)


@final
@dataclass(frozen=True, eq=False)
class PairwiseComparisons:
    """Paired tests of all pairs of several values on the same instances.

    Attributes
    ----------
    names : tuple of str, length J
    values : array (J,)
    difference, low, high : array (J, J)
        Value of the row minus value of the column, with the interval of Student's t, which is not adjusted.
    pvalue : array (J, J)
        Two-sided and unadjusted. nan on the diagonal and where a note says why.
    adjusted : array (J, J)
        By Shaffer's procedure, for the number of pairs: the probability of any false rejection is below α.
    benjamini_hochberg : array (J, J)
        Adjusted for the false discovery rate instead.
    level : float
    limited_by : array of str (J, J)
        What keeps a pair from being significant at 1 − level where `paired_mean_test` alone would make it so: "skewness",
        "unseen" losses or too few "runs", see `pairwise_mean_tests`; "" elsewhere.
    references : tuple of str
        Members that are not compared with each other.
    notes : tuple of Note
    detectable : array (J, J) or None
        The smallest true difference that the adjusted test of a pair that is not rejected shows with probability 0.8; nan where
        there is no test. Of rankings alone.
    """

    names: tuple[str, ...]
    values: Floats
    difference: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    adjusted: Floats
    benjamini_hochberg: Floats
    level: float
    limited_by: NDArray[np.str_]
    references: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    detectable: Floats | None = None

    def reject(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Pairs whose difference is significant at family-wise level alpha, ``(J, J)``."""
        check_alpha(alpha)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.adjusted <= alpha)


@in_one_order("a", "b", "groups", "sample_weight", axes={"a": -1, "b": -1})
def paired_mean_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "student-t",
    n_draws: int = 9999,
    rng: int | np.random.Generator | None = None,
) -> PairedComparison:
    """Test whether two models have the same mean on the same instances.

    Parameters
    ----------
    a, b : array_like, shape (n,) or (R, n)
        Values of the two models per instance; (R, n) for R training runs of a model. The two models may have
        different numbers of runs, which are taken as independent.
    groups, sample_weight
        As in `mean_estimate`.
    level : float
        Confidence level of the interval of the difference.
    method : {"student-t", "permutation"}
        "student-t": the paired t test, cluster-robust with groups. "permutation": a sign-flip test, which flips the
        signs of the differences (of whole groups) at random. It is exact if the differences are symmetric about zero
        under the null hypothesis, and takes one run per model.
    n_draws : int
        Number of sign flips B; the p-value is (1 + count) / (1 + B).
    rng : int or numpy Generator, optional
        For "permutation"; None means seed 0.

    Returns
    -------
    result : PairedComparison
        If all differences are zero, the statistic is 0 and the p-value 1. With one instance, one group or infinite
        values the statistic, the p-value and the interval are nan, and a note gives the reason.

    Raises
    ------
    InputError
        As `mean_estimate`; also when a and b differ in n, or for "permutation" with several runs.

    Notes
    -----
    The variance is the variance of the mean difference of the run-averaged values, plus s²/R between the runs of each
    model. It is too large by the interaction of runs and instances.

    The type-I error is nominal, except for skewed differences in small samples: 7.5 % at nominal 5 % for exponential
    differences and n = 30 (docs/measured-coverage.md).

    Hall's transformation is not offered here. It helps with skewed differences but does harm with symmetric heavy-tailed
    differences, which two good models on the same instances give.

    References
    ----------
    Fisher (1935), The Design of Experiments, chapter 3 (sign flips).
    Phipson, Smyth (2010), Permutation p-values should never be zero (the added 1).

    Examples
    --------
    >>> result = paired_mean_test([0.1, 0.4, 0.2, 0.3], [0.3, 0.5, 0.5, 0.4])
    >>> round(float(result.difference), 3), round(result.statistic, 3), round(result.pvalue, 4)
    (-0.175, -3.656, 0.0354)
    >>> result.reject(0.05), result.reject(0.01)
    (True, False)
    """
    check_level(level)
    check_choice(method, "method", _METHODS)
    check_draws(n_draws)
    first, second = as_runs(a, "a"), as_runs(b, "b")
    if first.shape[1] != second.shape[1]:
        raise InputError(
            "b",
            "must hold the same instances as a",
            f"got {second.shape[1]} against {first.shape[1]}",
            "align them first",
            code="mismatch",
        )
    several = first.shape[0] > 1 or second.shape[0] > 1
    if method == "permutation" and several:
        raise InputError(
            "method",
            "'permutation' takes one run per model, because sign flips do not include the variation between runs",
            f"got {first.shape[0]} and {second.shape[0]} runs",
            "use 'student-t' or test the runs one by one",
            code="conflict",
        )
    units = make_units(first.shape[1], groups, sample_weight)
    first, second = units.keep(first), units.keep(second)
    notes = unit_notes(units, [first.shape[0], second.shape[0]] if np.ndim(a) == 2 or np.ndim(b) == 2 else [])
    n = units.n_instances

    infinite = int((np.isinf(first).any(axis=0) | np.isinf(second).any(axis=0)).sum())
    with np.errstate(invalid="ignore"):
        differences = first.mean(axis=0) - second.mean(axis=0)  # (n,)
        value = units.mean(differences)
    low = high = statistic = pvalue = np.nan
    if infinite:
        with np.errstate(invalid="ignore"):
            value = units.mean(first.mean(axis=0)) - units.mean(second.mean(axis=0))
        notes.append(Note("no-test", f"infinite values in {infinite} of {n} instances: no interval and no test"))
    elif units.n_units == 1:
        notes.append(single_unit(units, "no interval and no test", "no-test"))
    else:
        spread = spread_of_mean(differences - value, units, [run_means(first, units), run_means(second, units)])
        if spread.standard_error == 0.0 or (not several and (differences == differences[0]).all()):
            value = low = high = float(differences[0]) if (differences == differences[0]).all() else value
            statistic = 0.0 if value == 0.0 else np.copysign(np.inf, value)
            notes.append(Note("no-width", "all differences are equal"))
        else:
            low, high = spread.interval(value, level, "student-t")
            statistic = value / spread.standard_error
        if method == "permutation":
            pvalue = sign_flip_pvalue(differences, units, n_draws, generator(rng))
        else:
            pvalue = spread.pvalue(statistic)
    difference = Estimate(value, low=low, high=high, level=level, n=n, method="student-t", notes=notes)
    return PairedComparison(difference, float(statistic), float(pvalue), method, n, difference.notes)


def check_alpha(alpha: float) -> None:
    """Raise InputError for a significance level outside (0, 1). For use inside this room."""
    if not 0.0 < alpha < 1.0:
        raise InputError(
            "alpha", "must lie strictly between 0 and 1", f"got {alpha}", "pass 0.05 for 5 %", code="range"
        )
