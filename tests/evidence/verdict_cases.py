"""Assays whose claims are known: intervals of two classes with chosen distances and non-specificities."""

import numpy as np

import uqassay as uq

LN2 = float(np.log(2))


def predicted(distance, nonspecificity, n):
    """n instances of label 0 with this KL distance and non-specificity, numbers or arrays (n,)."""
    high = np.exp(-np.broadcast_to(np.asarray(distance, dtype=float), n))
    low = high - np.broadcast_to(np.asarray(nonspecificity, dtype=float), n) / LN2
    return uq.Intervals(np.column_stack([low, 1 - high]), np.column_stack([high, 1 - low]))


def noise(n, seed, width=0.05):
    """Uniform noise of mean exactly 0."""
    x = np.random.default_rng(seed).uniform(-width, width, n)
    return x - x.mean()


def judged(means, n=400, *, width=0.05, floor=0.2, **options):
    """An assay of models with these mean distances and non-specificities, by name; losses are at most −ln 0.2.

    The class frequencies are equal, so that the baselines have E = λ ln 2 and E = ln 2.
    """
    models = {
        name: predicted(d + noise(n, k, width), ns + (0.4 * noise(n, 100 + k, width) if ns else 0.0), n)
        for k, (name, (d, ns)) in enumerate(means.items())
    }
    options = {"calibration": (), "measures": ("total-entropy",), "n_draws": 200, "prior": [0.5, 0.5], **options}
    return uq.assay(models, np.zeros(n, dtype=int), floor=floor, **options)


def claims(assay, kind, **wanted):
    """The claims of one kind with these attributes."""
    found = [c for c in assay.claims() if c.kind == kind]
    return [c for c in found if all(getattr(c, key) == value for key, value in wanted.items())]
