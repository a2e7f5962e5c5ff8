"""Disentanglement error: how far aleatoric and epistemic estimates are from moving only when they should.

One experiment varies the number of training instances and should move the epistemic estimate alone. The other permutes a share
of the labels and should move the aleatoric estimate alone. An estimate moves if it follows the accuracy over the conditions.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay._array import as_numeric
from uqassay._json import plain
from uqassay.errors import InputError
from uqassay.metrics.disentanglement_curves import (
    Curves,
    constant_curves,
    curve_correlations,
    expected_absolute_correlation,
)
from uqassay.metrics.run_summaries import mean_over_runs
from uqassay.notes import Note
from uqassay.statistics import Estimate, bootstrap_means, mean_correlation_estimate, percentile_interval
from uqassay.statistics.samples import check_choice, check_level
from uqassay.wording import counted

__all__ = [
    "IDEALS",
    "Curves",
    "Disentanglement",
    "PooledDisentanglement",
    "Term",
    "disentanglement_error",
    "recombined_error",
]

Array = NDArray[np.float64]

# experiment, estimate, ideal correlation; the order of the four terms everywhere
IDEALS = (
    ("dataset-size", "aleatoric", 0.0),
    ("dataset-size", "epistemic", 1.0),
    ("label-noise", "aleatoric", 1.0),
    ("label-noise", "epistemic", 0.0),
)


@final
@dataclass(frozen=True, eq=False)
class Term:
    """One of the four correlations of the disentanglement error.

    Attributes
    ----------
    experiment : {"dataset-size", "label-noise"}
    estimate : {"aleatoric", "epistemic"}
    ideal : float
        1 for an estimate that should move, 0 for one that should not.
    per_run : array (R,)
        Pearson's correlation of accuracy and confidence (the negative estimate) over the conditions of each run.
    correlation : Estimate
        tanh of the mean of artanh r over the runs, with a t interval on that scale; of one run: Fisher's interval.
    bootstrap : Estimate
        Mean of r over the runs, with the bootstrap interval over runs (expanded percentiles); nan for one run. It never
        leaves the range of the runs, so it covers about 75 % with three.
    deviation : Estimate
        Mean of |r − ideal| over the runs, with a t interval.
    constant : bool array (R,)
        True where the estimate or the accuracy is constant, so that the correlation is undefined and counts as 0.
    """

    experiment: str
    estimate: str
    ideal: float
    per_run: Array
    correlation: Estimate
    bootstrap: Estimate
    deviation: Estimate
    constant: NDArray[np.bool_]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        return {
            "experiment": self.experiment,
            "estimate": self.estimate,
            "ideal": self.ideal,
            "per_run": plain(self.per_run),
            "correlation": self.correlation.to_dict(),
            "bootstrap": self.bootstrap.to_dict(),
            "deviation": self.deviation.to_dict(),
            "constant": self.constant.tolist(),
        }


@final
@dataclass(frozen=True, eq=False)
class PooledDisentanglement:
    """Correlations of the run-averaged curves (Tables 3 and 4 of the paper) and their disentanglement error.

    Attributes
    ----------
    error : float
    correlations : tuple of 4 float
        In the order of the terms.
    """

    error: float
    correlations: tuple[float, ...]


@final
@dataclass(frozen=True, eq=False)
class Disentanglement:
    """Result of `disentanglement_error`.

    Attributes
    ----------
    error : Estimate
        Mean of `per_run`, with a t interval over the runs, cut at the range of possible values.
    per_run : array (R,)
        The error of each run.
    terms : tuple of 4 Term
        Dataset size and aleatoric, dataset size and epistemic, label noise and aleatoric, label noise and epistemic.
    pooled : PooledDisentanglement
        From the run-averaged curves. It differs from `error`, because averaging removes jitter.
    floor : float
        Expected error if the estimates that should move follow the accuracy exactly and the other two are pure jitter.
    chance : float
        Expected error if no estimate is related to the accuracy.
    together : float
        Error of an estimate that follows the accuracy exactly and is given as both. It lies below `chance`.
    aggregate : {"mean", "sum"}
    conditions : pair of tuples of float
        Of the dataset-size and of the label-noise experiment.
    notes : tuple of Note
    """

    error: Estimate
    per_run: Array
    terms: tuple[Term, Term, Term, Term]
    pooled: PooledDisentanglement
    floor: float
    chance: float
    together: float
    aggregate: str
    conditions: tuple[tuple[float, ...], tuple[float, ...]]
    notes: tuple[Note, ...] = ()

    @property
    def n_runs(self) -> int:
        """R."""
        return len(self.per_run)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        return {
            "error": self.error.to_dict(),
            "per_run": plain(self.per_run),
            "terms": [term.to_dict() for term in self.terms],
            "pooled": {"error": plain(self.pooled.error), "correlations": plain(np.array(self.pooled.correlations))},
            "floor": self.floor,
            "chance": self.chance,
            "together": self.together,
            "aggregate": self.aggregate,
            "conditions": [list(conditions) for conditions in self.conditions],
            "notes": [note.to_dict() for note in self.notes],
        }


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

    Returns
    -------
    Disentanglement

    Raises
    ------
    InputError
        An experiment is missing or has a single condition, or the experiments have different numbers of runs.

    Notes
    -----
    With confidence = −uncertainty and r its correlation with the accuracy over the conditions of one run, the error of a run
    is (|r_size(ale)| + |r_size(epi) − 1| + |r_noise(ale) − 1| + |r_noise(epi)|) / 4: 0 is ideal, 1.5 the greatest value.

    A constant curve has no correlation. It counts as 0, `Term.constant` marks it, and a note counts the runs. This is the
    ideal for an estimate that should not move.

    Jitter is not constant: the mean |r| of unrelated curves is .34 over 7 conditions and .26 over 11. So `floor` is .15 and
    `chance` is .65 there. The total uncertainty given as both estimates has an error of about .5, which is below chance:
    an error of .5 is no evidence of disentanglement, and `swap_test` tells the two cases apart.

    Coverage of the intervals: docs/measured-coverage.md.

    References
    ----------
    Paper 004, section 6; Tables 2 to 4.
    Hesterberg (2015), What teachers should know about the bootstrap, Am. Stat. 69 (expanded percentiles).

    Examples
    --------
    More instances lower the epistemic estimate, and label noise raises the aleatoric one; the others do not move.

    >>> size = Curves([[0.5, 0.7, 0.9]], [[0.2, 0.2, 0.2]], [[0.5, 0.3, 0.1]], conditions=[0.1, 0.5, 1.0])
    >>> noise = Curves([[0.9, 0.6, 0.3]], [[0.2, 0.5, 0.8]], [[0.1, 0.1, 0.1]], conditions=[0.0, 0.5, 1.0])
    >>> round(float(disentanglement_error(size, noise).error), 12)
    0.0
    """
    check_choice(aggregate, "aggregate", ("mean", "sum"))
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

    Raises
    ------
    InputError
        Not four numbers from −1 to 1.

    Examples
    --------
    >>> recombined_error([0.0, 1.0, 1.0, 0.0]), recombined_error([1.0, 1.0, 1.0, 1.0], aggregate="sum")
    (0.0, 2.0)
    """
    check_choice(aggregate, "aggregate", ("mean", "sum"))
    r = as_numeric(correlations, "correlations", ndim=1).astype(np.float64)
    remedy = "pass those of dataset size (aleatoric, epistemic) and of label noise (aleatoric, epistemic)"
    if r.shape != (4,):
        raise InputError("correlations", "must be four numbers", f"got shape {r.shape}", remedy, code="shape")
    if not (np.abs(r) <= 1).all():
        raise InputError("correlations", "must lie in −1 … 1", f"got {r.tolist()}", remedy, code="range")
    return float(error_of(r)) * (1.0 if aggregate == "mean" else 4.0)


def error_of(correlations: Array) -> Array:
    """Errors of correlations ``(…, 4)``."""
    return np.asarray(np.abs(correlations - [ideal for _, _, ideal in IDEALS]).mean(axis=-1))


def _term(
    k: int, correlations: Array, constant: NDArray[np.bool_], draws: Array, n_conditions: int, level: float
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


def _fisher(r: Array, constant: NDArray[np.bool_], n_conditions: int, level: float) -> Estimate:
    if r.size == 1 and constant[0]:
        note = Note("no-interval", "1 run with a constant curve: no interval")
        return Estimate(0.0, low=np.nan, high=np.nan, level=level, n=1, method="Fisher's z of one run", notes=[note])
    return mean_correlation_estimate(r, n_pairs=n_conditions, level=level)


def _bootstrap(r: Array, draws: Array, level: float) -> Estimate:
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
