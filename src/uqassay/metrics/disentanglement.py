"""The disentanglement error and its tests; trends, correlations and sources of an estimate."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats, as_numeric, check_class_count, check_rows, generator, precision_of, tolerance_of
from uqassay.checks import a, between, different, fail, mapping, number, one_of, same_length, vector, whole
from uqassay.ids import in_one_order
from uqassay.notes import Note
from uqassay.predictions.labels import labels_for, take_table
from uqassay.results import Plain, row_of, spread
from uqassay.statistics import (
    Estimate,
    PermutationTest,
    bootstrap_means,
    holm,
    mean_correlation_estimate,
    paired_mean_test,
    percentile_interval,
    permutation_test,
    sign_flip_test,
)
from uqassay.statistics.components import (
    correlation_over_runs,
    finite_array,
    mean_over_runs,
    midranks,
    sign_flip_pvalues,
)
from uqassay.statistics.paired_tests import check_alpha
from uqassay.statistics.units import as_floats, check_draws, check_level
from uqassay.text import counted

__all__ = [
    "DOUBT_SOURCES",
    "IDEALS",
    "QUANTILES",
    "Curves",
    "Disentanglement",
    "DoubtSources",
    "EpistemicTrend",
    "EstimateCorrelations",
    "PairedDisentanglementTest",
    "PooledDisentanglement",
    "SourceAtShare",
    "Term",
    "TrendStep",
    "below_chance_test",
    "disentanglement_error",
    "doubt_sources",
    "epistemic_trend_test",
    "estimate_correlations",
    "expected_absolute_correlation",
    "paired_disentanglement_test",
    "recombined_error",
    "swap_test",
]


# Curves of accuracy and of aleatoric and epistemic estimates over the conditions of an experiment, and their
# correlations.


# Relative to the larger of both estimates: a smaller variation is what rounding left of a constant, such as the difference
# of two equal entropies. Otherwise noise of 1e-17 would have a correlation.
_ROUNDING = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-6}
_ROUNDING_FLOAT64 = 1e-12


@final
@dataclass(frozen=True, eq=False)
class Curves:
    """Accuracy and both estimates of one experiment: R runs × C conditions.

    Parameters
    ----------
    accuracy, aleatoric, epistemic : array (R, C), or (C,) for one run
        Means over the test instances. A greater uncertainty means less certain. Any unit: only correlations are used.
    conditions : sequence of C numbers
        Such as shares of the training instances.
    rounding : float, optional
        Relative size of a variation that counts as rounding error, so that the curve is constant. 0 means: by the precision
        of the arrays given, 1e-12 for float64. Below 1.

    Examples
    --------
    >>> curves = Curves([0.5, 0.7, 0.9], [0.3, 0.3, 0.3], [0.6, 0.4, 0.1], conditions=[0.1, 0.5, 1.0])
    >>> curves.n_runs, curves.n_conditions
    (1, 3)
    """

    #: (R, C)
    accuracy: Floats
    aleatoric: Floats
    epistemic: Floats
    conditions: tuple[float, ...]
    rounding: float = 0.0

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("accuracy", "aleatoric", "epistemic")}
        remedy = "leave it out: it follows from the precision of the arrays"
        number(self.rounding, "rounding", remedy, low=0, high=1, ends="[)")
        if not self.rounding:
            rounding = max(_ROUNDING.get(precision_of(values), _ROUNDING_FLOAT64) for values in given.values())
            object.__setattr__(self, "rounding", rounding)
        shape = None
        for name, values in given.items():
            curves = _as_curves(values, name)
            shape = shape or curves.shape
            if curves.shape != shape:
                got, remedy = f"got shape {curves.shape} against {shape}", "pass arrays of the same shape (R, C)"
                fail(name, "needs the runs and conditions of accuracy", got, remedy, code="mismatch")
            object.__setattr__(self, name, curves)
        remedy = "pass one number for each column of the curves"
        conditions = vector(
            as_numeric(self.conditions, "conditions", ndim=1), "conditions", remedy, n=self.n_conditions
        )
        object.__setattr__(self, "conditions", tuple(float(value) for value in conditions))

    @property
    def n_runs(self) -> int:
        """R."""
        return int(self.accuracy.shape[0])

    @property
    def n_conditions(self) -> int:
        """C."""
        return int(self.accuracy.shape[1])

    @property
    def pooled(self) -> "Curves":
        """The curves averaged over the runs, as one run."""
        names = ("accuracy", "aleatoric", "epistemic")
        return replace(self, **{name: getattr(self, name).mean(axis=0) for name in names})

    @property
    def swapped(self) -> "Curves":
        """The same curves with the names aleatoric and epistemic exchanged."""
        return replace(self, aleatoric=self.epistemic, epistemic=self.aleatoric)


def curve_correlations(dataset_size: Curves, label_noise: Curves) -> tuple[Floats, NDArray[np.bool_]]:
    """The four correlations of every run, and whether a constant curve makes them 0, both ``(R, 4)``."""
    both = checked(dataset_size, label_noise)
    correlations = [confidence_correlations(*standardised(curves)) for curves in both]
    constant = [np.logical_or(*constant_curves(curves)) for curves in both]
    return np.concatenate(correlations, axis=-1), np.concatenate(constant, axis=-1)


def expected_absolute_correlation(n: int) -> float:
    """Mean |r| of two unrelated series of n values, one of them normal: Γ((n − 1)/2) / (√π Γ(n/2)).

    Examples
    --------
    >>> [round(expected_absolute_correlation(n), 3) for n in (2, 7, 11)]
    [1.0, 0.34, 0.259]
    """
    whole(n, "n", "pass the number of conditions", least=2)
    return float(np.exp(special.gammaln((n - 1) / 2) - special.gammaln(n / 2)) / np.pi**0.5)


# -- shared with the error and the tests -------------------------------------------------------------------------------


def checked(dataset_size: Curves, label_noise: Curves) -> tuple[Curves, Curves]:
    """Both experiments, after their checks. For use inside this room."""
    for name, curves in (("dataset_size", dataset_size), ("label_noise", label_noise)):
        if curves is None:
            remedy = "run the experiment, or use the correlations of the other one alone"
            fail(
                name, "must be given, because the error compares both experiments", "it is None", remedy, code="missing"
            )
        a(Curves, curves, name, "pass Curves(accuracy, aleatoric, epistemic, conditions)")
        if curves.n_conditions < 2:
            remedy = "a correlation needs a series of conditions"
            fail(name, "needs at least two conditions", "got 1", remedy, code="empty")
    if dataset_size.n_runs != label_noise.n_runs:
        got = f"got {counted(label_noise.n_runs, 'run')} against {dataset_size.n_runs}"
        fail(
            "label_noise",
            "needs the runs of dataset_size",
            got,
            "pass the same runs in the same order",
            code="mismatch",
        )
    return dataset_size, label_noise


def constant_curves(curves: Curves) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether the accuracy ``(R, 1)`` and the estimates ``(R, 2)`` are constant up to rounding. For use inside this room."""
    found = []
    for values in _accuracy_and_estimates(curves):
        scale = np.abs(values).max(axis=(-2, -1))[:, np.newaxis]  # (R, 1); of both estimates together
        found.append(np.ptp(values, axis=-1) <= curves.rounding * scale)
    return found[0], found[1]


def standardised(curves: Curves) -> tuple[Floats, Floats]:
    """Accuracy ``(R, 1, C)`` and confidences ``(R, 2, C)`` of mean 0 and length 1. For use inside this room.

    A constant curve becomes zeros, so that its correlations are 0.
    """
    found = []
    for values, constant in zip(_accuracy_and_estimates(curves), constant_curves(curves), strict=True):
        still = constant[..., np.newaxis]
        centred = values - values.mean(axis=-1, keepdims=True)
        centred /= np.where(
            still, 1.0, np.abs(centred).max(axis=-1, keepdims=True)
        )  # squares of 1e-200 would underflow
        length = np.sqrt((centred * centred).sum(axis=-1, keepdims=True))
        found.append(np.where(still, 0.0, centred / np.where(still, 1.0, length)))
    return found[0], -found[1]


def confidence_correlations(accuracy: Floats, confidence: Floats) -> Floats:
    """Correlations ``(…, 2)`` of standardised accuracy ``(…, 1, C)`` and confidences ``(…, 2, C)``."""
    return np.clip((accuracy * confidence).sum(axis=-1), -1.0, 1.0)


def _accuracy_and_estimates(curves: Curves) -> tuple[Floats, Floats]:
    return curves.accuracy[:, np.newaxis], np.stack([curves.aleatoric, curves.epistemic], axis=1)


def _as_curves(values: Any, name: str) -> Floats:
    array = as_numeric(values, name, ndim=(1, 2))
    curves = np.atleast_2d(array.astype(np.float64))
    if curves.size == 0:
        fail(name, "needs at least one condition", f"got shape {array.shape}", "", code="shape")
    broken = np.argwhere(~np.isfinite(curves))
    if broken.size:
        run, condition = broken[0].tolist()
        fail(
            name,
            "values must be finite",
            f"run {run}, condition {condition} holds {curves[run, condition]}",
            "repair or leave out that run",
            code="finite",
            facts={"run": run, "condition": condition},
        )
    return curves


# Disentanglement error: how far aleatoric and epistemic estimates are from moving only when they should.
#
# One experiment varies the number of training instances and should move the epistemic estimate alone. The other
# permutes a share of the labels and should move the aleatoric estimate alone. An estimate moves if it follows the
# accuracy over the conditions.

# experiment, estimate, ideal correlation; the order of the four terms everywhere
IDEALS = (
    ("dataset-size", "aleatoric", 0.0),
    ("dataset-size", "epistemic", 1.0),
    ("label-noise", "aleatoric", 1.0),
    ("label-noise", "epistemic", 0.0),
)


@final
@dataclass(frozen=True, eq=False)
class Term(Plain):
    """One of the four correlations of the disentanglement error."""

    experiment: str  #: "dataset-size" or "label-noise"
    estimate: str  #: "aleatoric" or "epistemic"
    ideal: float  #: 1 for an estimate that should move, 0 for one that should not
    #: (R,): Pearson's correlation of accuracy and confidence (the negative estimate) over the conditions of each run
    per_run: Floats
    #: tanh of the mean of artanh r over the runs, with a t interval on that scale; of one run: Fisher's interval
    correlation: Estimate
    #: mean of r over the runs, with the bootstrap interval over runs (expanded percentiles); nan for one run. It never leaves
    #: the range of the runs, so it covers about 75 % with three.
    bootstrap: Estimate
    deviation: Estimate  #: mean of |r − ideal| over the runs, with a t interval
    #: (R,): True where the estimate or the accuracy is constant, so that the correlation is undefined and counts as 0
    constant: NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class PooledDisentanglement:
    """Correlations of the run-averaged curves (Tables 3 and 4 of the paper) and their disentanglement error."""

    error: float
    correlations: tuple[float, ...]  #: in the order of the terms


@final
@dataclass(frozen=True, eq=False)
class Disentanglement(Plain):
    """Result of `disentanglement_error`."""

    error: Estimate  #: mean of `per_run`, with a t interval over the runs, cut at the range of possible values
    per_run: Floats  #: (R,): the error of each run
    #: dataset size and aleatoric, dataset size and epistemic, label noise and aleatoric, label noise and epistemic
    terms: tuple[Term, Term, Term, Term]
    pooled: PooledDisentanglement  #: from the run-averaged curves. It differs from `error`, because averaging removes jitter.
    #: expected error if the estimates that should move follow the accuracy exactly and the other two are pure jitter
    floor: float
    chance: float  #: expected error if no estimate is related to the accuracy
    #: error of an estimate that follows the accuracy exactly and is given as both. It lies below `chance`.
    together: float
    aggregate: str  #: "mean" or "sum"
    conditions: tuple[tuple[float, ...], tuple[float, ...]]  #: of the dataset-size and of the label-noise experiment
    notes: tuple[Note, ...] = ()

    @property
    def n_runs(self) -> int:
        """R."""
        return len(self.per_run)


def disentanglement_error(
    dataset_size: Curves,
    label_noise: Curves,
    *,
    aggregate: str = "mean",
    level: float = 0.95,
    n_draws: int = 2000,
    rng: int | np.random.Generator | None = None,
) -> Disentanglement:
    """Distance of four correlations between confidence and accuracy from their ideals, with intervals over the runs.

    Parameters
    ----------
    dataset_size, label_noise : Curves
        The two experiments, with the same runs. They may have different conditions.
    aggregate : {"mean", "sum"}
        "mean" divides the four deviations by 4, as Table 2 of the paper does; "sum" is the equation as the paper prints it.
    level : float
    n_draws, rng
        For the bootstrap over runs; None means seed 0.

    Notes
    -----
    With confidence = −uncertainty and r its correlation with the accuracy over the conditions of one run, the error of a run
    is (|r_size(ale)| + |r_size(epi) − 1| + |r_noise(ale) − 1| + |r_noise(epi)|) / 4: 0 is ideal, 1.5 the greatest value.

    A constant curve has no correlation. It counts as 0, `Term.constant` marks it, and a note counts the runs. This is the
    ideal for an estimate that should not move.

    Jitter is not constant: the mean |r| of unrelated curves is .34 over 7 conditions and .26 over 11. So `floor` is .15 and
    `chance` is .65 there. The total uncertainty given as both estimates has an error of about .5, which is below chance:
    an error of .5 is no evidence of disentanglement, and `swap_test` tells the two cases apart.

    Coverage of the intervals: docs/evidence-disentanglement.md.

    References
    ----------
    Disentanglement, section 6; Tables 2 to 4.
    Hesterberg (2015), What teachers should know about the bootstrap, Am. Stat. 69 (expanded percentiles).

    Examples
    --------
    More instances lower the epistemic estimate, and label noise raises the aleatoric one; the others do not move.

    >>> size = Curves([[0.5, 0.7, 0.9]], [[0.2, 0.2, 0.2]], [[0.5, 0.3, 0.1]], conditions=[0.1, 0.5, 1.0])
    >>> noise = Curves([[0.9, 0.6, 0.3]], [[0.2, 0.5, 0.8]], [[0.1, 0.1, 0.1]], conditions=[0.0, 0.5, 1.0])
    >>> round(float(disentanglement_error(size, noise).error), 12)
    0.0
    """
    one_of(aggregate, "aggregate", ("mean", "sum"))
    check_level(level)
    correlations, constant = curve_correlations(dataset_size, label_noise)  # (R, 4) both
    factor = 1.0 if aggregate == "mean" else 4.0
    per_run = factor * error_of(correlations)
    sizes = dataset_size.n_conditions, label_noise.n_conditions
    jitter = [expected_absolute_correlation(n) for n in sizes]
    draws = bootstrap_means(correlations, n_draws=n_draws, rng=rng)  # (B, 4)
    terms = [_term(k, correlations, constant, draws[:, k], sizes[k // 2], level) for k in range(4)]
    pooled, _ = curve_correlations(dataset_size.pooled, label_noise.pooled)
    return Disentanglement(
        error=mean_over_runs(per_run, level=level, bounds=(0.0, 1.5 * factor)),
        per_run=per_run,
        terms=(terms[0], terms[1], terms[2], terms[3]),
        pooled=PooledDisentanglement(factor * float(error_of(pooled)[0]), tuple(pooled[0].tolist())),
        floor=factor * sum(jitter) / 4,
        chance=factor * (sum(jitter) + 2) / 4,
        together=factor * 0.5,
        aggregate=aggregate,
        conditions=(dataset_size.conditions, label_noise.conditions),
        notes=_notes(dataset_size, label_noise),
    )


def recombined_error(correlations: ArrayLike, *, aggregate: str = "mean") -> float:
    """Disentanglement error from four correlations alone, such as a row of Tables 3 and 4 of the paper.

    Parameters
    ----------
    correlations : array_like, shape (4,)
        Dataset size and aleatoric, dataset size and epistemic, label noise and aleatoric, label noise and epistemic.
    aggregate : {"mean", "sum"}

    Examples
    --------
    >>> recombined_error([0.0, 1.0, 1.0, 0.0]), recombined_error([1.0, 1.0, 1.0, 1.0], aggregate="sum")
    (0.0, 2.0)
    """
    one_of(aggregate, "aggregate", ("mean", "sum"))
    r = as_numeric(correlations, "correlations", ndim=1).astype(np.float64)
    remedy = "pass those of dataset size (aleatoric, epistemic) and of label noise (aleatoric, epistemic)"
    same_length(r, "correlations", 4, remedy, of="curve")
    between(r, "correlations", remedy, low=-1, of="number")
    return float(error_of(r)) * (1.0 if aggregate == "mean" else 4.0)


def error_of(correlations: Floats) -> Floats:
    """Errors of correlations ``(…, 4)``."""
    return np.asarray(np.abs(correlations - [ideal for _, _, ideal in IDEALS]).mean(axis=-1))


def _term(
    k: int, correlations: Floats, constant: NDArray[np.bool_], draws: Floats, n_conditions: int, level: float
) -> Term:
    experiment, estimate, ideal = IDEALS[k]
    r = correlations[:, k]
    return Term(
        experiment=experiment,
        estimate=estimate,
        ideal=ideal,
        per_run=r,
        correlation=_fisher(r, constant[:, k], n_conditions, level),
        bootstrap=_bootstrap(r, draws, level),
        deviation=mean_over_runs(np.abs(r - ideal), level=level, bounds=(0.0, 1 + ideal)),
        constant=constant[:, k],
    )


def _fisher(r: Floats, constant: NDArray[np.bool_], n_conditions: int, level: float) -> Estimate:
    if r.size == 1 and constant[0]:
        note = Note("no-interval", "1 run with a constant curve: no interval")
        return Estimate(0.0, low=np.nan, high=np.nan, level=level, n=1, method="Fisher's z of one run", notes=[note])
    return mean_correlation_estimate(r, n_pairs=n_conditions, level=level)


def _bootstrap(r: Floats, draws: Floats, level: float) -> Estimate:
    low = high = np.nan
    if r.size > 1:
        # Hesterberg's expanded percentiles: few runs have the t quantile and √(R/(R − 1)), which plain percentiles lack
        reach = float(special.stdtrit(r.size - 1, 0.5 + level / 2)) * (r.size / (r.size - 1)) ** 0.5
        tail = max(float(special.ndtr(-reach)), 1e-12)
        low, high = (float(end) for end in percentile_interval(draws, level=1 - 2 * tail))
    notes = [] if r.size > 1 else [_ONE_RUN]
    return Estimate(
        float(r.mean()), low=low, high=high, level=level, n=r.size, method="expanded percentile over runs", notes=notes
    )


_ONE_RUN = Note("no-interval", "1 run: no interval")


def _notes(dataset_size: Curves, label_noise: Curves) -> tuple[Note, ...]:
    notes = []
    for experiment, curves in (("dataset-size", dataset_size), ("label-noise", label_noise)):
        n, runs = curves.n_conditions, curves.n_runs
        if n < 4:
            why = "any correlation is 0 or ±1" if n == 2 else "correlations are far from 0 by chance"
            notes.append(Note("conditions", f"{n} {experiment} conditions: {why}", {"conditions": n}))
        accuracy, estimates = constant_curves(curves)
        flags = {
            "accuracy": accuracy[:, 0],
            "aleatoric estimate": estimates[:, 0],
            "epistemic estimate": estimates[:, 1],
        }
        for name, constant in flags.items():
            if constant.any():
                where = f"in {constant.sum()} of {counted(runs, 'run')}" if runs > 1 else "in the only run"
                each = "both correlations count" if name == "accuracy" else "its correlation counts"
                text = f"the {name} is constant over the {experiment} conditions {where}, where {each} as 0"
                notes.append(Note("constant-curve", text, {"runs": np.flatnonzero(constant).tolist()}))
    return tuple(notes)


# Tests of the disentanglement error: against chance, against exchanged names, and of one method against another.

NULLS = ("conditions", "runs")
_MOST_EXACT = 20_000  # rearrangements that are enumerated
_BLOCK = 512  # random rearrangements at a time


@final
@dataclass(frozen=True, eq=False)
class PairedDisentanglementTest(Plain):
    """Result of `paired_disentanglement_test`."""

    difference: Estimate  #: mean over the runs of the error of a minus that of b, with a t interval
    #: of the paired t test, two-sided; nan for one run. If all differences are equal, the p-value is that of the sign flips.
    statistic: float
    pvalue: float
    #: the two-sided sign-flip test of the same differences, exact up to 15 runs. Five runs cannot reach p < .0625.
    sign_flips: PermutationTest
    per_run: Floats  #: (R,): the differences
    notes: tuple[Note, ...] = ()

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the t test rejects equal errors at level alpha. A p-value of nan rejects nothing."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha)


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

    Notes
    -----
    The null hypothesis: the pair of estimates is exchangeable over the conditions relative to the accuracy. The
    aleatoric and epistemic value of a condition stay together, and the accuracy is permuted.

    Under "runs" the estimates must also be unrelated between runs. This fails if a condition has the same effect in every
    run, which is common: with five simulated runs and such effects, "runs" rejects 19 % at nominal 5 %, "conditions" keeps its
    level, and has the power of 99 % for a method with an error of .41 (docs/evidence-disentanglement.md).

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
    one_of(permuted, "permuted", NULLS)
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
    same_length(second, "b", first.size, "compare the runs that both methods have", of="run of a")
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
            got = f"got {getattr(b, name)} against {getattr(a, name)}"
            fail("b", f"must have the same {name} as a", got, "compute both errors in the same way", code="mismatch")


def _deviations(accuracy: Floats, confidence: Floats, k: int) -> Floats:
    """Sum of the two deviations in experiment k, of accuracies ``(R, 1, D, C)`` and confidences ``(R, 2, C)``: ``(R, D)``."""
    r = confidence_correlations(np.moveaxis(accuracy, 1, 2), confidence[:, np.newaxis])  # (R, D, 2)
    return np.asarray(np.abs(r - ((0.0, 1.0), (1.0, 0.0))[k]).sum(axis=-1))


def _random_sums(
    standard: Sequence[tuple[Floats, Floats]], n_draws: int, permuted: str, streams: Sequence[np.random.Generator]
) -> Floats:
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


# Epistemic uncertainty must fall with more training data (Fellaji and Pennerath, 2024: "The epistemic uncertainty
# hole").

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@final
@dataclass(frozen=True)
class TrendStep:
    """The step from one share of the training instances to the next larger one."""

    #: the two shares
    start: float
    end: float
    #: mean over runs and instances of the estimate at `end` minus that at `start`, with a t interval over the runs
    change: Estimate
    #: one-sided, that the mean rises: t test over the runs (2^−R if it rises equally in all), and adjusted by Holm over the
    #: steps. nan for one run.
    pvalue: float
    pvalue_holm: float

    @property
    def rises(self) -> bool:
        """True if the mean of these runs is greater at the larger share: a hole, by the point estimate alone."""
        return float(self.change) > 0


@final
@dataclass(frozen=True, eq=False)
class EpistemicTrend:
    """Whether epistemic uncertainty falls with more training data: R runs, C shares, n instances."""

    shares: Floats  #: (C,): ascending
    means: Floats  #: (R, C): mean estimate over the instances
    quantiles: Floats  #: (5, C): estimates of the instances of all runs: `QUANTILES`, 5, 25, 50, 75 and 95 %
    #: (R, n): kendall's τ-a of the estimate with the share, from −1 (falls at every step) to 1. A pair of shares with equal
    #: estimates counts as neither, so a constant instance has τ = 0.
    tau: Floats
    change: Floats  #: (R, n): estimate at the largest share minus estimate at the smallest, in the unit of the estimate
    #: means over runs and instances, with t intervals over the runs
    mean_tau: Estimate
    mean_change: Estimate
    rising: Estimate  #: share of the instances with τ > 0, mean over the runs
    constant: float  #: share of the instances (of all runs) with the same estimate at all shares
    #: one-sided sign-flip tests over the runs of the mean τ: exact if the mean τ of a run is symmetric about 0. The least
    #: possible value is 2^−R.
    pvalue_falls: float
    pvalue_rises: float
    steps: tuple[TrendStep, ...]
    notes: tuple[Note, ...] = ()

    @property
    def holes(self) -> tuple[TrendStep, ...]:
        """Steps at which the mean rises."""
        return tuple(step for step in self.steps if step.rises)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each step between neighbouring shares."""
        return [
            {
                "start": step.start,
                "end": step.end,
                **spread("change", step.change, prefix=""),
                "pvalue": step.pvalue,
                "pvalue_holm": step.pvalue_holm,
            }
            for step in self.steps
        ]


@in_one_order("epistemic", "shares", axes={"epistemic": 1})
def epistemic_trend_test(epistemic: ArrayLike, shares: ArrayLike, *, level: float = 0.95) -> EpistemicTrend:
    """Test over runs that epistemic uncertainty falls with the share of the training instances.

    Parameters
    ----------
    epistemic : array (R, C, n)
        Estimates of R runs at C shares for the same n test instances, greater for more uncertainty.
    shares : array (C,)
        Different shares of the training instances, in any order.
    level : float

    Notes
    -----
    Runs are the independent units: all instances of a run rest on one training per share. Intervals and tests are for other
    runs on the same test instances.

    The sign-flip test is exact if the order of the shares has no influence on the estimate, because reversing the order
    then flips the sign of τ and nothing else. Type-I error and power are in tests/metrics/test_epistemic_trends.py.

    References
    ----------
    Fellaji, Pennerath (2024), The epistemic uncertainty hole: an issue of Bayesian neural networks, arXiv 2407.01985.
    Kendall (1938), A new measure of rank correlation (τ-a).

    Examples
    --------
    >>> falling = np.array([[[0.9, 0.7], [0.5, 0.6], [0.1, 0.2]]] * 5) * np.linspace(0.9, 1.1, 5)[:, None, None]
    >>> found = epistemic_trend_test(falling, [0.01, 0.1, 1.0])
    >>> float(found.mean_tau), float(found.rising), found.pvalue_falls
    (-1.0, 0.0, 0.03125)
    """
    check_level(level)
    values = finite_array(epistemic, "epistemic", "(R, C, n)")
    s = check_shares(shares, values.shape[1])
    order = np.argsort(s)
    s, values = s[order], values[:, order]
    r, c, n = values.shape
    if c < 2:
        fail("shares", "must be at least two", "got 1", "a trend needs two shares", code="empty")
    means = values.mean(axis=2)
    tau = _kendall_tau(values)
    change = values[:, -1] - values[:, 0]
    per_run = tau.mean(axis=1)
    falls, rises = sign_flip_pvalues(per_run)
    constant = float((values == values[:, :1]).all(axis=1).mean())
    notes = [Note("runs", f"{counted(r, 'run')}, {counted(c, 'share')}, {counted(n, 'instance')}")]
    if constant:
        text = f"{counted(round(constant * r * n), 'estimate')} of {r * n} the same at all shares: neither falling nor rising"
        notes.append(Note("constant-scores" if constant == 1 else "assumption", text, {"constant": constant}))
    if r < 5:
        notes.append(Note("few", f"with {counted(r, 'run')} no p-value is below {2.0**-r:g}"))
    return EpistemicTrend(
        shares=s,
        means=means,
        quantiles=np.quantile(np.moveaxis(values, 1, 0).reshape(c, -1), QUANTILES, axis=1),
        tau=tau,
        change=change,
        mean_tau=mean_over_runs(per_run, level=level, bounds=(-1.0, 1.0)),
        mean_change=mean_over_runs(change.mean(axis=1), level=level),
        rising=mean_over_runs((tau > 0).mean(axis=1), level=level, bounds=(0.0, 1.0)),
        constant=constant,
        pvalue_falls=falls,
        pvalue_rises=rises,
        steps=_steps(s, means, level),
        notes=tuple(notes),
    )


def check_shares(shares: ArrayLike, n_conditions: int) -> Floats:
    """Different finite shares, one for each of C conditions, as float64 ``(C,)``.

    Raises
    ------
    InputError
    """
    s = finite_array(shares, "shares", "(C)")
    same_length(s, "shares", n_conditions, "give them in the order of the second axis", of="condition")
    different(s.tolist(), "shares", "must be different", "average repeated shares")
    return s


def _kendall_tau(values: Floats) -> Floats:
    """τ-a of each instance with the index of the share, (R, C, n) -> (R, n): ties count as neither."""
    c = values.shape[1]
    balance = np.zeros((values.shape[0], values.shape[2]), dtype=np.int64)
    for later in range(1, c):
        balance += np.sign(values[:, later, None] - values[:, :later]).sum(axis=1).astype(np.int64)
    return balance / (c * (c - 1) / 2)


def _steps(shares: Floats, means: Floats, level: float) -> tuple[TrendStep, ...]:
    changes = np.diff(means, axis=1)  # (R, C − 1)
    pvalues = [_rise_pvalue(change) for change in changes.T]
    adjusted = holm(pvalues) if len(means) > 1 else pvalues
    return tuple(
        TrendStep(float(start), float(end), mean_over_runs(change, level=level), p, float(p_holm))
        for (start, end), change, p, p_holm in zip(pairwise(shares), changes.T, pvalues, adjusted, strict=True)
    )


def _rise_pvalue(change: Floats) -> float:
    """One-sided t test over the runs that the mean is above 0."""
    if change.size < 2:
        return float("nan")
    error = float(change.std(ddof=1)) / change.size**0.5
    mean = float(change.mean())
    if error <= 1e-14 * abs(mean):  # equal changes: the t test has no spread, so the sign flips decide
        return 1.0 if mean <= 0 else 0.5**change.size
    return float(special.stdtr(change.size - 1, -mean / error))


# Which source of doubt an epistemic estimate follows: few data, the seed of the training, or the bias of the family.
#
# Jiménez, Jürgens and Waegeman (2025) split the expected error of a prediction into noise of the label, bias, and
# variance, and the variance into that of the seed (procedural) and that of the training data. An epistemic estimate can
# follow one and miss the others.

DOUBT_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "spread": "spread of the predictions over the runs: seed and few data together",
        "seed": "spread over the runs at share 1, where all runs have the same training instances",
        "few-data": "spread at this share minus spread at share 1, if the seed's part is the same at both",
        "bias": "squared distance of the run-averaged prediction from the label, which with single labels holds their noise",
    }
)
ROUNDING = 1e-12  # probabilities of several runs that differ by less are equal
LEAST_RUNS = 3  # a run is held against the sources of the others, and their spread needs two


@final
@dataclass(frozen=True)
class SourceAtShare:
    """One source of doubt at one share of the training instances, and how the epistemic estimate follows it."""

    share: float
    source: str  #: a name in `DOUBT_SOURCES`
    mean: float  #: mean of the source over the instances: a squared distance between distributions, from 0 to 2
    #: correlation over the instances of the ranks of a run's estimate with the source in the other runs, mean over the runs (of
    #: Fisher's z); the interval is for other runs and other instances
    correlation: Estimate
    #: change of the estimate with the source, by least squares: in means of the estimate for each standard deviation of the
    #: source; t interval over the runs
    slope: Estimate
    #: correlation of the source from one half of the runs with the source from the other half. Where it is low, noise pulls
    #: `correlation` towards 0. nan for fewer than four runs.
    repeatability: float
    per_run: Floats  #: (R,): the correlations of the runs
    influence: Floats  #: (n,): influence of every instance on the mean correlation, averaged over the runs


@final
@dataclass(frozen=True, eq=False)
class DoubtSources:
    """How an epistemic estimate follows each source of doubt, over shares of the training instances."""

    shares: Floats  #: (C,): ascending
    found: tuple[SourceAtShare, ...]  #: by share, then in the order of `DOUBT_SOURCES`
    overall: Mapping[str, Estimate]  #: for each source, the correlation averaged over the shares at which it is defined
    #: correlation over the shares of a run's mean estimate with the mean spread of the other runs: whether the mean of the
    #: estimate moves as the spread does
    follows_spread: Estimate
    notes: tuple[Note, ...] = ()  #: the assumptions of every number among them

    def at(self, share: float, source: str) -> SourceAtShare:
        """One source at one share."""
        for one in self.found:
            if one.share == share and one.source == source:
                return one
        rule = "must be one that was measured at this share"
        fail("source", rule, f"got {source!r} at {share:g}", "see .rows()", code="choice")

    def rows(self) -> list[dict[str, Any]]:
        """One row for each share and source."""
        return [
            {
                **row_of(one, "share", "source", "mean"),
                **spread("correlation", one.correlation, prefix=""),
                **row_of(one, "slope", "repeatability"),
            }
            for one in self.found
        ]


@in_one_order("probs", "epistemic", "labels", axes={"probs": 2, "epistemic": 2})
def doubt_sources(
    probs: ArrayLike, epistemic: ArrayLike, labels: ArrayLike, shares: ArrayLike, *, level: float = 0.95
) -> DoubtSources:
    """Hold an epistemic estimate against the sources of doubt that repeated trainings show.

    Parameters
    ----------
    probs : array (R, C, n, K)
        Mean prediction of each run at each share for the same n test instances.
    epistemic : array (R, C, n)
        Epistemic estimate of each run.
    labels : int array (n,), or array (n, K)
        Labels, or distributions or votes of the label. Only these separate bias from the noise of the label.
    shares : array (C,)
        Share of the training instances; every run draws its own subset, so that at 1 all runs have the same instances.
    level : float

    Notes
    -----
    With p_r the prediction of run r at a share, p̄ their mean and t the label as a distribution, all per instance:

    * spread V = Σ_k var_r(p_rk), with R − 1 in the denominator: unbiased for the variance over seeds *and* subsets.
    * seed V₁: V at share 1, the variance over seeds alone. Assumption: the seed's part at smaller shares orders the
      instances as it does at 1.
    * few data V − V₁. Assumption: the seed's part has the same size at both shares; usually it is greater with fewer data, and
      this source then holds the excess. Subsets are drawn without replacement from one training set, so their variance is
      that of data given this set: 0 at share 1, and too small for large shares. A difference of two estimates, it can be
      negative.
    * bias Σ_k (p̄_k − t_k)² − V/R, unbiased for ‖E p − t‖². With a distribution of the label, t = p(y | x), it is the squared
      bias of the family as trained (its members, its regularisation, the stop of its training). With one label it has the
      expectation bias² + 1 − Σ_k p(k | x)²: the noise of the label cannot be separated from the bias of an instance.

    The estimate enters a correlation by its ranks, because only its order counts; the source does not. The noise of a source is
    skewed and greater where the spread is, so that the ranks of the source would correlate with an estimate of the spread even
    without that source, while covariances with an unbiased source are unbiased.

    Run r is held against the sources of the other runs, because an estimate that is large where the same run's prediction is
    extreme would be held against itself. The sources come from few runs, and their noise pulls correlations towards 0: see
    `repeatability`. Sources occur together in most data; a correlation with one can be caused by another.

    tests/metrics/test_doubts.py measures the 95 % intervals of the correlations on a simulated family with known sources.

    References
    ----------
    Jiménez, Jürgens, Waegeman (2025), Why machine learning models fail to fully capture epistemic uncertainty,
    arXiv 2505.23506.

    Examples
    --------
    An estimate that is the seed's variance, and nothing else:

    >>> rng = np.random.default_rng(0)
    >>> seed, data = rng.uniform(0, 0.1, (2, 200))
    >>> shares = np.array([0.1, 0.5, 1.0])
    >>> noise = rng.standard_normal((2, 8, 3, 200))
    >>> p = 0.5 + seed * noise[0] + data * noise[1] * np.sqrt(1 / shares - 1)[:, None] / 3
    >>> found = doubt_sources(np.stack([p, 1 - p], -1), np.tile(seed**2, (8, 3, 1)), rng.integers(0, 2, 200), shares)
    >>> found.overall["seed"].low > 0.5, abs(found.at(0.1, "few-data").correlation) < 0.3
    (True, True)
    """
    check_level(level)
    p, e, t, s = _checked(probs, epistemic, labels, shares)
    full = int(np.flatnonzero(s == 1)[0]) if (s == 1).any() else None
    sources = _sources_without(p, t, full)  # (R, C, n) each
    whole = _sources(p, t, full)  # (C, n) each
    repeatable = _repeatability(p, t, full)
    found = [
        _at_share(float(s[c]), name, (e[:, c], sources[name][:, c], whole[name][c]), repeatable[name][c], level)
        for c in range(s.size)
        for name in DOUBT_SOURCES
    ]
    return DoubtSources(
        shares=s,
        found=tuple(found),
        overall={name: _overall(found, name, level) for name in DOUBT_SOURCES},
        follows_spread=_follows(e.mean(axis=2), sources["spread"].mean(axis=2), level),
        notes=_notes_on_doubts(p.shape, np.ndim(labels) == 1, full is not None),
    )


# -- sources of every instance ---------------------------------------------------------------------------------------------


def _sources(p: Floats, t: Floats, full: int | None) -> dict[str, Floats]:
    """Each source from all runs given, (R, C, n, K) -> (C, n); nan where it is not defined."""
    r = p.shape[0]
    # equal predictions, as of a method without a seed: rounding of their mean would be a source of 1e-33
    variance = np.where(np.ptp(p, axis=0) <= ROUNDING, 0.0, p.var(axis=0, ddof=1))
    spread = variance.sum(axis=-1)  # (C, n)
    bias = ((p.mean(axis=0) - t) ** 2).sum(axis=-1) - spread / r
    seed = np.full_like(spread, np.nan) if full is None else np.broadcast_to(spread[full], spread.shape)
    return {"spread": spread, "seed": seed, "few-data": spread - seed, "bias": bias}


def _sources_without(p: Floats, t: Floats, full: int | None) -> dict[str, Floats]:
    """Each source from the runs other than r, (R, C, n)."""
    runs = np.arange(len(p))
    each = [_sources(p[runs != r], t, full) for r in runs]
    return {name: np.stack([one[name] for one in each]) for name in DOUBT_SOURCES}


def _repeatability(p: Floats, t: Floats, full: int | None) -> dict[str, Floats]:
    """Correlation of each source between halves of the runs, mean over R rotations, (C,)."""
    r = len(p)
    if r < 4:
        return {name: np.full(p.shape[1], np.nan) for name in DOUBT_SOURCES}
    found: dict[str, list[Floats]] = {name: [] for name in DOUBT_SOURCES}
    for shift in range(r):
        turned = np.roll(p, shift, axis=0)
        first, second = (_sources(half, t, full) for half in (turned[: r // 2], turned[r // 2 :]))
        for name, correlations in found.items():
            a, b = _standardised(first[name]), _standardised(second[name])
            correlations.append((a * b).mean(axis=-1))
    return {name: np.mean(correlations, axis=0) for name, correlations in found.items()}


def _standardised(values: Floats) -> Floats:
    """Mean 0 and mean square 1 along the last axis; nan for constant values."""
    centred = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True))
    constant = (values == values[..., :1]).all(axis=-1, keepdims=True) | (
        spread <= 1e-12 * np.abs(values).max(axis=-1, keepdims=True)
    )
    return centred / np.where(constant, np.nan, spread)


# -- the estimate against them ---------------------------------------------------------------------------------------------


def _at_share(
    share: float, name: str, values: tuple[Floats, Floats, Floats], repeatability: float, level: float
) -> SourceAtShare:
    """`values`: the estimate (R, n), the source in the other runs (R, n), and the source in all runs (n,)."""
    estimate, source, whole = values
    x, y = _standardised(midranks(estimate)), _standardised(source)
    per_run = np.clip((x * y).mean(axis=1), -1.0, 1.0)
    # of Pearson's r, for standardised x and y
    influence = (x * y - per_run[:, None] * (x * x + y * y) / 2).mean(axis=0)
    mean = estimate.mean(axis=1)
    slopes = (estimate * y).mean(axis=1) / np.where(mean == 0, np.nan, mean)
    return SourceAtShare(
        share=share,
        source=name,
        mean=float(whole.mean()),
        correlation=_correlation(per_run, influence, _why_undefined(name, estimate, source), level),
        slope=mean_over_runs(slopes, level=level),
        repeatability=float(repeatability),
        per_run=per_run,
        influence=influence,
    )


def _why_undefined(name: str, estimate: Floats, source: Floats) -> list[Note]:
    if np.isnan(source).any():
        return [Note("undefined", "no runs at share 1: seed and few data are not separated")]
    if (source == source[:, :1]).all():
        text = "all runs have the same instances at share 1" if name == "few-data" else "the source is the same for all"
        return [Note("undefined", text)]
    if (estimate == estimate[:, :1]).all(axis=1).any():
        return [Note("undefined", "the estimate is constant in a run: no correlation")]
    return []


def _correlation(per_run: Floats, influence: Floats, notes: list[Note], level: float) -> Estimate:
    n = influence.size
    variance = float((influence**2).sum()) / (n * max(n - 3, 1))  # n − 3 as for Fisher's z
    return correlation_over_runs(per_run, level=level, n_instances=n, instance_variance=variance, notes=notes)


def _overall(found: list[SourceAtShare], name: str, level: float) -> Estimate:
    """Mean over the shares at which the source is defined, per run, then over the runs."""
    of_source = [one for one in found if one.source == name]
    defined = [one for one in of_source if not np.isnan(one.per_run).any()]
    notes = []
    if not defined:
        notes = list(of_source[0].correlation.notes)
    elif len(defined) < len(of_source):
        notes = [Note("left-out", f"{len(defined)} of {counted(len(of_source), 'share')} used")]
    used = defined or of_source
    per_run = np.mean([one.per_run for one in used], axis=0)
    return _correlation(per_run, np.mean([one.influence for one in used], axis=0), notes, level)


def _follows(estimates: Floats, spreads: Floats, level: float) -> Estimate:
    """Pearson correlation over the shares, run by run, of (R, C) and (R, C)."""
    if estimates.shape[1] < 3:
        why = [Note("undefined", f"{counted(estimates.shape[1], 'share')}: a correlation over shares needs three")]
        return correlation_over_runs(np.full(len(estimates), np.nan), level=level, notes=why)
    a, b = (values - values.mean(axis=1, keepdims=True) for values in (estimates, spreads))
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    defined = scale > 1e-12 * np.abs(estimates).max() * np.abs(spreads).max()
    r = np.where(defined, (a * b).sum(axis=1) / np.where(defined, scale, 1.0), np.nan)
    return correlation_over_runs(np.clip(r, -1.0, 1.0), level=level)


def _notes_on_doubts(shape: tuple[int, ...], single_labels: bool, has_full: bool) -> tuple[Note, ...]:
    r, c, n, _ = shape
    notes = [Note("runs", f"{counted(r, 'run')}, {counted(c, 'share')}, {counted(n, 'instance')}")]
    if has_full:
        notes.append(
            Note("assumption", "few data: the seed's part of the spread is taken to be the same at all shares")
        )
    else:
        notes.append(Note("undefined", "no runs at share 1: seed and few data are not separated"))
    if single_labels:
        notes.append(Note("assumption", "bias: one label per instance, so that the noise of the label is part of it"))
    notes.append(Note("assumption", "sources that occur together are not told apart by a correlation"))
    return tuple(notes)


# -- input -------------------------------------------------------------------------------------------------------------------


def _checked(
    probs: ArrayLike, epistemic: ArrayLike, labels: ArrayLike, shares: ArrayLike
) -> tuple[Floats, Floats, Floats, Floats]:
    table, names, _ = take_table(probs, "probs")
    p = finite_array(table, "probs", "(R, C, n, K)")
    check_class_count(p.shape[3], "probs")
    check_rows(p, "probs", tolerance=tolerance_of(probs))
    e = finite_array(epistemic, "epistemic", "(R, C, n)")
    if e.shape != p.shape[:3]:
        rule = f"must have the runs, shares and instances of probs, {p.shape[:3]}"
        fail("epistemic", rule, f"got {e.shape}", "align them first", code="mismatch")
    if len(p) < LEAST_RUNS:
        fail("probs", f"must have at least {LEAST_RUNS} runs", f"got {len(p)}", "train more runs", code="empty")
    given = labels_for(labels, n_instances=p.shape[2], n_classes=p.shape[3], class_names=names, name="labels")
    t = np.eye(p.shape[3])[given] if given.ndim == 1 else given.astype(np.float64)
    s = check_shares(shares, p.shape[1])
    order = np.argsort(s)
    return p[:, order], e[:, order], t, s[order]


# Rank correlations of every uncertainty estimate with every other (Mucsányi et al., 2024).
#
# Estimates of two different kinds of uncertainty that order the instances in the same way are one estimate with two
# names.

SCOPES = ("runs-and-instances", "runs")


@final
@dataclass(frozen=True, eq=False)
class EstimateCorrelations:
    """Spearman correlations of J estimates with one another, from R runs."""

    names: tuple[str, ...]
    per_run: Floats  #: (R, J, J): nan where an estimate is constant in that run, on the diagonal too
    estimates: tuple[tuple[Estimate, ...], ...]  #: mean over the runs on the scale of Fisher's z, with its interval
    constant: NDArray[np.bool_]  #: (R, J): estimates that are the same for all instances of a run
    notes: tuple[Note, ...] = ()

    @property
    def matrix(self) -> Floats:
        """Means over the runs, (J, J)."""
        return np.array([[float(value) for value in row] for row in self.estimates])

    def between(self, first: str, second: str) -> Estimate:
        """Correlation of two estimates by name."""
        for name in (first, second):
            one_of(name, "estimate", self.names)
        return self.estimates[self.names.index(first)][self.names.index(second)]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each pair."""
        return [
            {"first": self.names[i], "second": self.names[j]} | spread("correlation", self.estimates[i][j], prefix="")
            for i, j in combinations(range(len(self.names)), 2)
        ]


@in_one_order("estimates", axes={"estimates": -1})
def estimate_correlations(
    estimates: Mapping[str, ArrayLike], *, level: float = 0.95, scope: str = "runs-and-instances"
) -> EstimateCorrelations:
    """Matrix of Spearman correlations of every uncertainty estimate with every other.

    Parameters
    ----------
    estimates : mapping of str to array (R, n) or (n,)
        Estimates of R runs for the same n instances; (n,) is one run. Only the order counts; ties have midranks.
    level : float
    scope : {"runs-and-instances", "runs"}
        Whether the intervals are for other runs on other instances, or for other runs on these instances.

    Notes
    -----
    The correlation is that of one run, averaged over the runs on the scale of Fisher's z. The correlation of run-averaged
    estimates would be greater. The paper on disentanglement cites .88 for aleatoric and epistemic parts on CIFAR-10 and .78
    on ImageNet. A high correlation alone does not show a fault: instances can have both kinds of uncertainty.

    References
    ----------
    Mucsányi, Kirchhof, Oh (2024), Benchmarking uncertainty disentanglement: specialized uncertainties for specialized tasks.

    Examples
    --------
    >>> aleatoric, epistemic = [[1, 2, 3, 4]] * 3, [[2, 1, 4, 3], [1, 2, 4, 3], [2, 1, 3, 4]]
    >>> found = estimate_correlations({"aleatoric": aleatoric, "epistemic": epistemic})
    >>> found.matrix.round(3).tolist()
    [[1.0, 0.746], [0.746, 1.0]]
    """
    check_level(level)
    one_of(scope, "scope", SCOPES)
    values = _checked_pair(estimates)  # (J, R, n)
    j, r, n = values.shape
    names = tuple(estimates)
    ranks = midranks(values) - (n + 1) / 2
    squares = (ranks * ranks).sum(axis=-1)  # (J, R)
    constant = (squares == 0).T
    products = np.einsum("irn,jrn->rij", ranks, ranks)
    defined = np.where(constant, np.nan, squares.T)  # (R, J)
    per_run = np.clip(products / np.sqrt(defined[:, :, None] * defined[:, None, :]), -1.0, 1.0)
    diagonal = np.arange(j)
    per_run[:, diagonal, diagonal] = np.where(constant, np.nan, 1.0)

    counts = dict(zip(names, constant.sum(axis=0).tolist(), strict=True))
    remarks = {
        name: Note("undefined", f"{name} is constant in {count} of {counted(r, 'run')}: no correlation")
        for name, count in counts.items()
        if count
    }
    cells = [
        [_cell(per_run[:, a, b], names, (a, b), remarks, level, n if scope == SCOPES[0] else None) for b in range(j)]
        for a in range(j)
    ]
    notes = (Note("runs", f"{counted(r, 'run')}, {counted(n, 'instance')}"), *remarks.values())
    return EstimateCorrelations(names, per_run, tuple(map(tuple, cells)), constant, notes)


def _cell(
    per_run: Floats,
    names: tuple[str, ...],
    pair: tuple[int, int],
    remarks: Mapping[str, Note],
    level: float,
    n: int | None,
) -> Estimate:
    why = [remarks[names[index]] for index in dict.fromkeys(pair) if names[index] in remarks]
    return correlation_over_runs(per_run, level=level, n_instances=n, notes=why)


def _checked_pair(estimates: Mapping[str, ArrayLike]) -> Floats:
    estimates = mapping(estimates, "estimates", 'pass {"aleatoric": …, "epistemic": …}')
    if len(estimates) < 2:
        fail("estimates", "must hold at least two", f"got {len(estimates)}", "add another one", code="empty")
    arrays: list[Floats] = []
    for name, given in estimates.items():
        values = as_floats(given, f"estimates[{name!r}]", ndim=(1, 2), shape="(R, n) or (n,)")
        values = values if values.ndim == 2 else values[None]
        if arrays and values.shape != arrays[0].shape:
            rule = f"must have the runs and instances of {next(iter(estimates))!r}, {arrays[0].shape}"
            fail(
                f"estimates[{name!r}]", rule, f"got {values.shape}", "take the same runs and instances", code="mismatch"
            )
        arrays.append(values)
    if arrays[0].shape[1] < 2:
        fail("estimates", "must have at least two instances", "got 1", "a rank needs two", code="empty")
    return np.stack(arrays)
