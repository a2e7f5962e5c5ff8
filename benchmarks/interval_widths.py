"""Coverage and mean width of intervals of risk and coverage, for the version of the package that is imported.

    python benchmarks/interval_widths.py SIZE        prints them as JSON, of so many samples of each kind

It also runs in other versions, whose folder PYTHONPATH names: `measured.refusal` compares two by it.
"""

import json
import sys

import numpy as np
from tests.metrics.risk import test_error_rates as risk

from uqassay.metrics import accuracy_at_coverage_score, selective_gain
from uqassay.statistics import Estimate

__all__ = ["Measured", "measure"]

AUCS = (0.6, 0.8, 0.95)
AREAS = ("AURC", "E-AURC", "AUGRC", "ratio", "selective ratio")
Measured = dict[str, dict[str, list[list[float]]]]  # by cell and number: coverage and mean width at each of `AUCS`


def measure(size: int) -> Measured:
    """Measure ordinary cells, and the areas alone where scores are tied."""
    found = {}
    for n, rate in risk.CELLS:
        for kind, label in risk.SCORES.items():
            found[f"{n:,}, {rate}, {label}"] = _cell(n, rate, kind, (*AREAS, "accuracy at .5", "gain at .8"), size)
    for n, rate in risk.TIED_CELLS:
        for kind, label in risk.TIES.items():
            found[f"{n:,}, {rate}, ties: {label}"] = _cell(n, rate, kind, AREAS, size)
    return found


def _cell(n: int, rate: float, kind: str, names: tuple[str, ...], size: int) -> dict[str, list[list[float]]]:
    found = np.array([_shares_and_widths(risk.Population(rate, auc, kind), n, names, size) for auc in AUCS])
    return {name: found[:, :, k].T.tolist() for k, name in enumerate(names)}


def _shares_and_widths(population: risk.Population, n: int, names: tuple[str, ...], size: int) -> np.ndarray:
    """Share of intervals that hold the truth, and mean width; samples without an interval, or of one score, are left out."""
    rng, truths = np.random.default_rng(n), np.array(_truths(population)[: len(names)])
    sums = np.zeros((3, truths.size))
    for _ in range(size):
        errors, scores, groups = population.draw(rng, n)
        if (scores == scores[0]).all():
            continue
        found = _estimates(errors, scores, groups, areas_alone=names == AREAS)
        low, high = np.array([(e.low, e.high) for e in found]).T
        sums += ~np.isnan(low), (low <= truths + 1e-12) & (truths - 1e-12 <= high), np.nan_to_num(high - low)
    return sums[1:] / sums[0]


def _truths(population: risk.Population) -> tuple[float, ...]:
    return (*population.areas(), 1 - population.risk(0.5), population.rate - population.risk(0.8))


def _estimates(
    errors: np.ndarray, scores: np.ndarray, groups: np.ndarray | None, *, areas_alone: bool
) -> list[Estimate]:
    areas = list(risk.area_estimates(errors, scores, groups, 0.0))
    if areas_alone:
        return areas
    half = accuracy_at_coverage_score(errors, scores, coverage=0.5, groups=groups)
    return [*areas, half, selective_gain(errors, scores, coverage=0.8, groups=groups).gain]


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
