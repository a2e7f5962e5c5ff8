"""Rows of the reproduction without training: samples drawn from a stated world."""

import numpy as np

from uqassay.evidence.gain import GainRun, GainSample, GainStudy
from uqassay.lab.papers.gain.plan import DATASETS, METHODS
from uqassay.lab.papers.gain.tables import GainRow
from uqassay.metrics import TrueUncertainty


def sample(rng, n, *, entropy=4.0, mutual=1.0, noise=0.2, truth=True):
    """n instances with epistemic uncertainty u ≤ .3: the mutual information is a multiple of it, the entropy one plus noise.

    f̂ is wrong with probability a + u and f_aug with probability a = .1, so that the mean gain is u.
    """
    u = rng.uniform(0, 0.3, n)
    wrong = rng.random(n)
    before, after = wrong >= 0.1 + u, wrong >= 0.1
    epistemic = {"mutual-information": mutual * u, "entropy": entropy * u + noise * rng.random(n)}
    true = TrueUncertainty(0.1 + u, np.full(n, 0.1), u) if truth else None
    return GainSample({"zero-one": after.astype(float) - before}, epistemic, before, after, true)


def study(runs=3, *, seed=0, n=800, **options):
    """Independent runs."""
    rng = np.random.default_rng(seed)
    sizes = {"D_train": 5000, "D_aug": 6000, "D_test": n, "D_train2": 4000, "D_aug2": 4500, "D_test2": n}
    made = [GainRun(r, sample(rng, n, **options), sample(rng, n, **options), sizes) for r in range(runs)]
    return GainStudy("local GP", "toy 0.35", tuple(made), {"instances": 7000})


def row(runs=3, *, dataset="toy", method="local-gp", spread=0.35, compared=True, seed=0, **options):
    """A row of the tables."""
    plan = DATASETS[dataset]
    return GainRow(
        plan=plan,
        method=METHODS[method],
        study=study(runs, seed=seed, **options),
        spread=spread if plan.is_toy else None,
        compared=compared,
    )
