"""Tied scores, on which the interval of UQ-AUC is measured beside plain DeLong's."""

import numpy as np
from tests.metrics.risk.test_error_rates import FEW_CELLS, TIES, Population, few_ties

from uqassay.metrics.ranking import uq_auc_score

AUCS = (0.5, 0.65, 0.8, 0.95)  # before ties are made


def tied(n, wrong, auc, kind):
    """A function of rng that draws errors, tied scores, not all equal, and their true area."""
    population = Population(wrong / n, auc, kind)
    truth = 0.5 + 0.5 * population.areas()[3]

    errors = np.repeat([1.0, 0.0], [wrong, n - wrong])

    def draw(rng):
        while True:
            scores = population.coarse(rng.normal(size=n) + population.shift * errors)
            if (scores != scores[0]).any():
                return errors, scores, truth

    return draw


def beside_delong(draw, n_samples, seed):
    """Coverage of the adjusted interval and of plain DeLong's, and the ratio of their mean widths."""
    rng = np.random.default_rng(seed)
    held, widths = np.zeros(2), np.zeros(2)
    for _ in range(n_samples):
        errors, scores, truth = draw(rng)
        found = [uq_auc_score(errors, scores, method=method) for method in ("adjusted", "delong")]
        held += [e.low - 1e-12 <= truth <= e.high + 1e-12 for e in found]
        widths += [e.high - e.low for e in found]
    return *(held / n_samples), widths[0] / widths[1]


def print_ties(n_samples):
    print("ties, UQ-AUC: n, errors; AUC before ties .5 / .65 / .8 / .95; adjusted, plain DeLong, ratio of their widths")
    for n, wrong in FEW_CELLS:
        for kind, label in {**TIES, **few_ties(n)}.items():
            found = [
                beside_delong(tied(n, wrong, auc, kind), n_samples // 10, [n, wrong]) for auc in (0.5, 0.65, 0.8, 0.95)
            ]
            adjusted, plain, ratios = zip(*found, strict=True)
            cells = [" / ".join(f"{100 * share:.1f}" for share in shares) for shares in (adjusted, plain)]
            cells.append(" / ".join(f"{ratio:.2f}" for ratio in ratios))
            print(f"| {n:,}, {wrong} | {label} |", " | ".join(cells), "|", flush=True)
