"""The test as in the code of paper 001's authors, which differs from the paper; for comparison.

λ0 comes from Dir(1/M, …, 1/M) instead of the uniform distribution. Instances are permuted instead of resampled. |t| is
compared with the quantile of the signed null draws. SciPy's COBYLA minimises from λ = 1/M.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.random_null import random_mixture_null
from uqassay.metrics.calibration.measures import CALIBRATION_MEASURES, CalibrationMeasure, calibration_measure

__all__ = ["PaperCodeTest", "cobyla_minimum", "paper_code_measure", "paper_code_test"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class PaperCodeTest(NamedTuple):
    """The minimum t, the λ where COBYLA stopped, the null draws (D,), the p-value and the number of evaluations."""

    statistic: float
    weights: Floats
    null: Floats
    pvalue: float
    evaluations: int


def paper_code_measure(measure: CalibrationMeasure) -> CalibrationMeasure:
    """The authors' variant of a built-in measure, with the same number of bins; any other measure is returned unchanged."""
    variant = CALIBRATION_MEASURES.get(f"{measure.name}-paper-code")
    if variant is None:
        return measure
    usual = calibration_measure(measure.name)
    if None not in (measure.n_bins, usual.n_bins):
        usual, variant = (calibration_measure(m, n_bins=measure.n_bins) for m in (usual, variant))
    return variant if measure.prepare == usual.prepare else measure  # a user's measure may have a built-in name


def paper_code_test(
    labels: Labels, members: Floats, measure: CalibrationMeasure, n_draws: int, generator: np.random.Generator
) -> PaperCodeTest:
    """Algorithm 1 with the authors' choices, for labels (n,) and members (n, M, K).

    The p-value is the least α for which |t| exceeds the (1 − α)-quantile of the null draws, linearly interpolated.
    """
    mixtures = Mixtures(members)
    m = mixtures.n_members
    truths = generator.dirichlet(np.full(m, 1 / m), n_draws)
    null = random_mixture_null(mixtures, truths, measure, generator, instances="permuted")
    value, weights, evaluations = cobyla_minimum(MixtureObjective(mixtures, labels[np.newaxis], measure))
    return PaperCodeTest(value, weights, null, quantile_pvalue(abs(value), null), evaluations)


def quantile_pvalue(statistic: float, null: Floats) -> float:
    """The least α for which t exceeds the linearly interpolated (1 − α)-quantile; nan if undefined."""
    if np.isnan(statistic) or np.isnan(null).any():
        return float("nan")
    ordered = np.sort(null)
    smaller = int(np.searchsorted(ordered, statistic))  # draws equal to t do not count: t must exceed the quantile
    if smaller in (0, len(null)):
        return 0.0 if smaller else 1.0
    below, above = ordered[smaller - 1 : smaller + 1].tolist()
    share = (statistic - below) / (above - below) if np.isfinite(above) else 0.0
    return float(1.0 - (smaller - 1 + share) / (len(null) - 1))


def cobyla_minimum(objective: MixtureObjective) -> tuple[float, Floats, int]:
    """Minimum over λ of one draw of labels by SciPy's COBYLA from λ = 1/M: value, final λ, number of evaluations.

    Default tolerances and no projection: λ can lie slightly outside the simplex.
    """
    from scipy.optimize import minimize

    m = objective.mixtures.n_members
    if m == 1:
        return float(objective.shared(np.ones((1, 1)))[0, 0]), np.ones(1), 1
    constraints = [
        {"type": "ineq", "fun": lambda weights: weights},
        {"type": "ineq", "fun": lambda weights: 1.0 - weights},
        {"type": "ineq", "fun": lambda weights: weights.sum() - 1.0},
        {"type": "ineq", "fun": lambda weights: 1.0 - weights.sum()},
    ]

    def value_at(weights: Floats) -> float:
        return float(objective.shared(np.asarray(weights)[np.newaxis])[0, 0])

    found = minimize(value_at, np.full(m, 1 / m), method="COBYLA", constraints=constraints)
    weights = np.asarray(found.x, dtype=np.float64)
    # The value is computed again, because COBYLA reports infinite and undefined values as 1e30.
    return value_at(weights), weights, int(found.nfev)
