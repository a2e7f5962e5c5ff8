"""Tests of the disentanglement error: against chance, against exchanged names, and of one method against another."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import generator
from uqassay._json import plain
from uqassay.errors import InputError
from uqassay.metrics.disentanglement import Disentanglement, error_of
from uqassay.metrics.disentanglement_curves import (
    Curves,
    checked,
    confidence_correlations,
    curve_correlations,
    standardised,
)
from uqassay.notes import Note
from uqassay.statistics import Estimate, PermutationTest, paired_mean_test, permutation_test, sign_flip_test
from uqassay.statistics.comparisons import check_alpha
from uqassay.statistics.samples import as_floats, check_choice, check_draws, check_level

__all__ = ["PairedDisentanglementTest", "below_chance_test", "paired_disentanglement_test", "swap_test"]

Array = NDArray[np.float64]

NULLS = ("conditions", "runs")
_MOST_EXACT = 20_000  # rearrangements that are enumerated
_BLOCK = 512  # random rearrangements at a time


@final
@dataclass(frozen=True, eq=False)
class PairedDisentanglementTest:
    """Result of `paired_disentanglement_test`.

    Attributes
    ----------
    difference : Estimate
        Mean over the runs of the error of a minus that of b, with a t interval.
    statistic, pvalue : float
        Of the paired t test, two-sided; nan for one run. If all differences are equal, the p-value is that of the sign flips.
    sign_flips : PermutationTest
        The two-sided sign-flip test of the same differences, exact up to 15 runs. Five runs cannot reach p < .0625.
    per_run : array (R,)
        The differences.
    notes : tuple of Note
    """

    difference: Estimate
    statistic: float
    pvalue: float
    sign_flips: PermutationTest
    per_run: Array
    notes: tuple[Note, ...] = ()

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the t test rejects equal errors at level alpha. A p-value of nan rejects nothing."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        return {
            "difference": self.difference.to_dict(),
            "statistic": plain(self.statistic),
            "pvalue": plain(self.pvalue),
            "sign_flips": self.sign_flips.to_dict(),
            "per_run": plain(self.per_run),
            "notes": [note.to_dict() for note in self.notes],
        }


def below_chance_test(
    dataset_size: Curves,
    label_noise: Curves,
    *,
    permuted: str = "conditions",
    n_draws: int = 9999,
    rng: int | np.random.Generator | None = None,
) -> PermutationTest:
    """Test whether the disentanglement error is below that of estimates unrelated to the accuracy.

    Parameters
    ----------
    dataset_size, label_noise : Curves
        As in `disentanglement_error`.
    permuted : {"conditions", "runs"}
        "conditions": one permutation of the conditions for all runs, in each experiment. "runs": one for each run.
    n_draws, rng
        Random permutations, where there are more than 20,000 in all; None means seed 0.

    Returns
    -------
    test : PermutationTest
        One-sided: a small p-value says that the error (the mean form) is below chance.

    Raises
    ------
    InputError
        As `disentanglement_error`.

    Notes
    -----
    The null hypothesis: the pair of estimates is exchangeable over the conditions relative to the accuracy. The
    aleatoric and epistemic value of a condition stay together, and the accuracy is permuted.

    Under "runs" the estimates must also be unrelated between runs. This fails if a condition has the same effect in every
    run, which is common: with five simulated runs and such effects, "runs" rejects 19 % at nominal 5 %, "conditions" keeps its
    level, and has the power of 99 % for a method with an error of .41 (docs/measured-coverage.md).

    A rejection is no evidence of disentanglement. The total uncertainty given as both estimates has an error of about .5, below
    chance: "runs" always rejects it; "conditions" rejected it in less than 1 % of the simulated studies, but does reject it on
    some real ones. `swap_test` asks whether the two names matter.

    Examples
    --------
    >>> size = Curves([[0.5, 0.6, 0.7, 0.8]], [[0.2, 0.3, 0.2, 0.3]], [[0.5, 0.4, 0.3, 0.2]], conditions=[1, 2, 3, 4])
    >>> noise = Curves([[0.8, 0.7, 0.6, 0.5]], [[0.2, 0.3, 0.4, 0.5]], [[0.1, 0.2, 0.1, 0.2]], conditions=[1, 2, 3, 4])
    >>> test = below_chance_test(size, noise)
    >>> round(test.statistic, 3), round(test.pvalue, 4), test.n_draws
    (0.224, 0.0295, 576)
    """
    check_choice(permuted, "permuted", NULLS)
    check_draws(n_draws)
    both = checked(dataset_size, label_noise)
    n_runs = dataset_size.n_runs
    standard = [standardised(curves) for curves in both]
    observed = float(error_of(curve_correlations(*both)[0]).mean())
    apart = n_runs if permuted == "runs" else 1
    n_all = math.prod(math.factorial(curves.n_conditions) ** apart for curves in both)
    exact = n_all <= _MOST_EXACT
    sums = np.zeros(1)
    if exact:
        for k, (accuracy, confidence) in enumerate(standard):
            orders = np.array(list(permutations(range(accuracy.shape[-1]))))  # (C!, C)
            deviations = _deviations(accuracy[:, :, orders], confidence, k)  # (R, C!)
            for part in deviations if permuted == "runs" else [deviations.sum(axis=0)]:
                sums = np.add.outer(sums, part).ravel()
    else:
        streams = generator(rng).spawn(2)  # one for each experiment, so that draw d is the same for every `n_draws` > d
        sizes = [min(_BLOCK, n_draws - start) for start in range(0, n_draws, _BLOCK)]
        sums = np.concatenate([_random_sums(standard, size, permuted, streams) for size in sizes])
    return permutation_test(observed, sums / (4 * n_runs), alternative="less", exact=exact, n=n_runs)


def swap_test(
    dataset_size: Curves,
    label_noise: Curves,
    *,
    n_draws: int = 9999,
    rng: int | np.random.Generator | None = None,
) -> PermutationTest:
    """Test whether the names aleatoric and epistemic are interchangeable.

    Parameters
    ----------
    dataset_size, label_noise : Curves
        As in `disentanglement_error`.
    n_draws, rng
        For more than 15 runs, where the 2^R exchanges are not enumerated; None means seed 0.

    Returns
    -------
    test : PermutationTest
        The statistic is the mean over the runs of the error minus the error with exchanged names. One-sided: a small
        p-value says that the names as given have the smaller error. Four runs or fewer cannot reach .05.

    Raises
    ------
    InputError
        As `disentanglement_error`.

    Notes
    -----
    The null hypothesis: in each run both ways to name the two estimates are equally likely, so the difference of a run is
    symmetric about 0. One estimate given twice has differences of 0 and a p-value of 1.

    Examples
    --------
    >>> size = Curves([[0.5, 0.7, 0.9]] * 5, [[0.2, 0.2, 0.2]] * 5, [[0.5, 0.3, 0.1]] * 5, conditions=[0.1, 0.5, 1.0])
    >>> noise = Curves([[0.9, 0.6, 0.3]] * 5, [[0.2, 0.5, 0.8]] * 5, [[0.1, 0.1, 0.1]] * 5, conditions=[0.0, 0.5, 1.0])
    >>> test = swap_test(size, noise)
    >>> round(test.statistic, 6), test.pvalue
    (-1.0, 0.03125)
    """
    correlations, _ = curve_correlations(dataset_size, label_noise)
    exchanged = correlations[:, [1, 0, 3, 2]]
    differences = error_of(correlations) - error_of(exchanged)
    return sign_flip_test(differences, alternative="less", n_draws=n_draws, rng=rng)


def paired_disentanglement_test(
    a: Disentanglement | ArrayLike,
    b: Disentanglement | ArrayLike,
    *,
    level: float = 0.95,
    n_draws: int = 9999,
    rng: int | np.random.Generator | None = None,
) -> PairedDisentanglementTest:
    """Test whether two methods have the same disentanglement error on the same runs.

    Parameters
    ----------
    a, b : Disentanglement, or array_like of shape (R,)
        Results, or errors per run. Run r of both has the same training instances and the same permuted labels.
    level : float
        Of the interval of the difference.
    n_draws, rng
        For the sign flips of more than 15 runs; None means seed 0.

    Returns
    -------
    PairedDisentanglementTest

    Raises
    ------
    InputError
        Different numbers of runs, different conditions, or one mean and one sum.

    Examples
    --------
    >>> test = paired_disentanglement_test([0.41, 0.36, 0.44, 0.38, 0.40], [0.52, 0.49, 0.50, 0.55, 0.47])
    >>> round(float(test.difference), 3), round(test.pvalue, 4), test.sign_flips.pvalue
    (-0.108, 0.0058, 0.0625)
    """
    check_level(level)
    if isinstance(a, Disentanglement) and isinstance(b, Disentanglement):
        _check_same(a, b)
    first, second = (
        as_floats(one.per_run if isinstance(one, Disentanglement) else one, name, ndim=(1,), shape="(R,)")
        for name, one in (("a", a), ("b", b))
    )
    if first.size != second.size:
        raise InputError(
            "b",
            "needs the runs of a",
            f"got {second.size} against {first.size}",
            "compare the runs that both methods have",
            code="mismatch",
        )
    found = paired_mean_test(first, second, level=level)
    notes = found.notes if first.size > 1 else (Note("no-test", "1 run: no interval and no test"),)
    d = found.difference
    difference = Estimate(
        float(d), low=d.low, high=d.high, level=level, n=first.size, method="student-t over runs", notes=notes
    )
    flips, pvalue = sign_flip_test(first - second, n_draws=n_draws, rng=rng), found.pvalue
    if np.ptp(first - second) <= 1e-12:  # with two conditions all runs can agree by chance: the t test would have p = 0
        pvalue = flips.pvalue if first.size > 1 else np.nan
    return PairedDisentanglementTest(difference, found.statistic, pvalue, flips, first - second, notes)


def _check_same(a: Disentanglement, b: Disentanglement) -> None:
    for name in ("aggregate", "conditions"):
        if getattr(a, name) != getattr(b, name):
            raise InputError(
                "b",
                f"must have the same {name} as a",
                f"got {getattr(b, name)} against {getattr(a, name)}",
                "compute both errors in the same way",
                code="mismatch",
            )


def _deviations(accuracy: Array, confidence: Array, k: int) -> Array:
    """Sum of the two deviations in experiment k, of accuracies ``(R, 1, D, C)`` and confidences ``(R, 2, C)``: ``(R, D)``."""
    r = confidence_correlations(np.moveaxis(accuracy, 1, 2), confidence[:, np.newaxis])  # (R, D, 2)
    return np.asarray(np.abs(r - ((0.0, 1.0), (1.0, 0.0))[k]).sum(axis=-1))


def _random_sums(
    standard: Sequence[tuple[Array, Array]], n_draws: int, permuted: str, streams: Sequence[np.random.Generator]
) -> Array:
    """Sums of all deviations under random permutations, ``(D,)``."""
    sums = np.zeros(n_draws)
    for k, (accuracy, confidence) in enumerate(standard):
        n_runs, _, n_conditions = accuracy.shape
        apart = n_runs if permuted == "runs" else 1
        orders = streams[k].permuted(np.broadcast_to(np.arange(n_conditions), (n_draws, apart, n_conditions)), axis=-1)
        orders = np.broadcast_to(orders, (n_draws, n_runs, n_conditions)).swapaxes(0, 1)  # (R, D, C)
        rearranged = np.take_along_axis(np.repeat(accuracy, n_draws, axis=1), orders, axis=-1)  # (R, D, C)
        sums += _deviations(rearranged[:, np.newaxis], confidence, k).sum(axis=0)
    return sums
