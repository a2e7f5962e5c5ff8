"""Paired tests of two means, and comparisons of several models with the best one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from uqassay._array import generator
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.estimate import Estimate, run_means
from uqassay.statistics.multiple_tests import holm
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.resampling import sign_flip_pvalue
from uqassay.statistics.samples import as_runs, check_choice, check_draws, check_level, make_units, spread_of_mean

__all__ = [
    "DifferenceToBest",
    "PairedComparison",
    "compare_to_best",
    "paired_mean_test",
]

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
    """

    difference: Estimate
    statistic: float
    pvalue: float
    method: str
    n: int
    notes: tuple[Note, ...] = ()

    def reject(self, alpha: float = 0.05) -> bool:
        """True if equal means are rejected at level alpha. A p-value of nan rejects nothing."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha)


class DifferenceToBest(NamedTuple):
    """One model's mean loss against the lowest one."""

    name: str
    difference: Estimate
    pvalue: float
    pvalue_holm: float


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
            value = low = high = float(differences[0])
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


def compare_to_best(
    losses: Sequence[ArrayLike],
    names: Sequence[str],
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "student-t",
    n_draws: int = 9999,
    rng: int | np.random.Generator | None = None,
) -> tuple[DifferenceToBest, ...]:
    """Compare every model with the one of the lowest mean loss.

    Parameters
    ----------
    losses : sequence of J array_like, each of shape (n,) or (R_j, n)
        Loss of each model on the same instances, lower is better.
    names : sequence of J str
    groups, sample_weight, level, method, n_draws, rng
        As in `paired_mean_test`.

    Returns
    -------
    rows : tuple of DifferenceToBest
        One row per model in the order given: name, mean loss minus the lowest mean loss with its interval, p-value,
        and p-value adjusted by Holm over the J − 1 comparisons. The winner (the first of several that tie) has the
        difference 0 and nan for both p-values. The intervals are not adjusted.

    Raises
    ------
    InputError
        As `paired_mean_test`; also when there is no model or names are missing or repeated.

    Notes
    -----
    The winner is selected on the same data, so its loss is low partly by luck, and small p-values are too frequent. A
    p-value answers "could this model be as good as the winner?", not "is the winner truly the best?" Two models are not
    affected, because the two-sided test does not depend on which of them won. With ten equally good models the adjusted
    p-value rejects at least one of them in 15 of 100 data sets at 5 %: J(J − 1)/2 pairs compete, and Holm counts J − 1 of
    them. To keep the error below α under any dependence, compare the adjusted p-value with 2α/J
    (docs/measured-coverage.md).

    Examples
    --------
    >>> rows = compare_to_best([[0.1, 0.4, 0.2, 0.3], [0.3, 0.5, 0.5, 0.4]], ["ensemble", "single"])
    >>> [(row.name, round(float(row.difference), 3), round(row.pvalue_holm, 4)) for row in rows]
    [('ensemble', 0.0, nan), ('single', 0.175, 0.0354)]
    """
    if len(losses) == 0 or len(losses) != len(names):
        raise InputError(
            "names",
            "needs one name per model and at least one model",
            f"got {len(names)} names for {len(losses)} models",
            "pass one name for each",
            code="mismatch",
        )
    if len(set(names)) < len(names):
        raise InputError(
            "names", "must differ from each other", f"got {list(names)}", "rename the repeated ones", code="duplicate"
        )
    check_choice(method, "method", _METHODS)
    arrays = [as_runs(loss, f"losses[{j}]") for j, loss in enumerate(losses)]
    n = arrays[0].shape[1]
    for j, array in enumerate(arrays):
        if array.shape[1] != n:
            raise InputError(
                f"losses[{j}]",
                f"all models need the same {n} instances",
                f"got {array.shape[1]}",
                "align them first",
                code="mismatch",
            )
    units = make_units(n, groups, sample_weight)
    with np.errstate(invalid="ignore"):
        means = np.array([units.mean(units.keep(array).mean(axis=0)) for array in arrays])
    best = int(np.argmin(np.where(np.isnan(means), np.inf, means)))  # argmin alone would choose a nan
    winner = Estimate(
        0.0,
        low=0.0,
        high=0.0,
        level=level,
        n=units.n_instances,
        method="student-t",
        notes=(Note("edge", "lowest mean"),),
    )
    differences, pvalues = [winner] * len(arrays), np.full(len(arrays), np.nan)
    for j, loss in enumerate(losses):
        if j != best:
            result = paired_mean_test(
                loss,
                losses[best],
                groups=groups,
                sample_weight=sample_weight,
                level=level,
                method=method,
                n_draws=n_draws,
                rng=rng,
            )
            differences[j], pvalues[j] = result.difference, result.pvalue
    adjusted = holm(pvalues)
    return tuple(
        DifferenceToBest(str(name), difference, float(p), float(p_holm))
        for name, difference, p, p_holm in zip(names, differences, pvalues, adjusted, strict=True)
    )


def check_alpha(alpha: float) -> None:
    """Raise InputError for a significance level outside (0, 1). For use inside this room."""
    if not 0.0 < alpha < 1.0:
        raise InputError(
            "alpha", "must lie strictly between 0 and 1", f"got {alpha}", "pass 0.05 for 5 %", code="range"
        )
