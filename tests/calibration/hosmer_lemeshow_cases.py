"""What several test files of this room share."""

import numpy as np
from scipy import stats

from uqassay.metrics.calibration.hosmer_lemeshow import hosmer_lemeshow_statistic


def labels_from(generator, probs):
    return (generator.random((*probs.shape[:-1], 1)) > probs.cumsum(axis=-1)[..., :-1]).sum(axis=-1)


def rejection_rates(k, n_bins, n, repeats, alpha=0.05):
    """Share rejected with classwise and common bins, by the degrees of freedom of held-out data and of fitted models."""
    generator = np.random.default_rng(1)
    rejected = []
    for _ in range(repeats // 100):
        probs = generator.dirichlet(np.ones(k), (100, n))
        y = labels_from(generator, probs)
        found = [hosmer_lemeshow_statistic(y, probs, n_bins=n_bins, bins=bins) for bins in ("classwise", "common")]
        held_out, fitted = (stats.chi2.isf(alpha, (k - 1) * b) for b in (n_bins, n_bins - 2))
        rejected.append([(s >= limit).mean() for limit in (held_out, fitted) for s in found])
    return np.mean(rejected, axis=0)
