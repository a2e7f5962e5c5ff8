"""Results of the simulation that need no computing, and a small plan."""

import numpy as np

from uqassay.lab.papers.credal_calibration.error_rates import ALPHAS, MEASURES, ErrorRates, Plan
from uqassay.lab.papers.credal_calibration.scenarios import CredalSetting

SMALL = Plan(CredalSetting(n_instances=20, n_members=3, n_classes=3, spread=0.1), n_draws=19)


def invented(n_runs: int, plan: Plan) -> ErrorRates:
    """Results that need no computing: p-values uniform in S1, small in S2, great in S3."""
    rng = np.random.default_rng(4)
    pvalues = {}
    for measure in MEASURES:
        p = rng.random(n_runs)
        pvalues |= {("S1", measure): p, ("S2", measure): p / 100, ("S3", measure): 1 - p / 200}
    rejected = {key: p[:, None] <= np.array(ALPHAS) for key, p in pvalues.items()}
    return ErrorRates(plan, pvalues, rejected, dict.fromkeys(MEASURES, 0), 0.9)
