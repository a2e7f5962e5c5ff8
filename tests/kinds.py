"""One random prediction of each kind, for tests that must hold for all of them."""

import numpy as np

import uqassay as uq
from uqassay.credal import all_focal_sets, reachable
from uqassay.predictions import Box

KINDS = ("Point", "Members", "Dirichlet", "Intervals", "ClassSets", "Masses", "Vertices", "GaussianLogits")
PREDICTING = tuple(kind for kind in KINDS if kind != "ClassSets")  # one class for each instance
STATEMENTS = (*KINDS, "passes of GaussianLogits")  # epistemic variances, and here aleatoric ones


def random_prediction(kind, rng, n=5, n_classes=4, n_members=3):
    """A prediction of one of `STATEMENTS`, with n instances and K classes."""
    shape = (n, n_members, n_classes)
    match kind:
        case "Point":
            return uq.Point(rng.dirichlet(np.ones(n_classes), n))
        case "Members":
            return uq.Members(rng.dirichlet(np.ones(n_classes), shape[:2]))
        case "Dirichlet":
            return uq.Dirichlet(rng.gamma(2.0, size=(n, n_classes)) + 0.1, n_draws=20)
        case "Intervals":
            p = rng.dirichlet(np.ones(n_classes), n)
            width = rng.uniform(size=(n, n_classes))
            return uq.Intervals(*reachable(p * width, p + (1 - p) * width))
        case "ClassSets":
            sets = rng.random((n, n_classes)) < 0.5
            sets[0] = False  # an empty set
            return uq.ClassSets(sets)
        case "Masses":
            sets = all_focal_sets(n_classes)
            return uq.Masses(rng.dirichlet(np.ones(len(sets)) / 3, n), sets)
        case "Vertices":
            return uq.Vertices(rng.dirichlet(np.ones(n_classes), shape[:2]))
        case "GaussianLogits":
            return uq.GaussianLogits(
                rng.normal(size=shape), rng.uniform(size=shape), variance_is="epistemic", n_draws=20
            )
        case "passes of GaussianLogits":
            return uq.GaussianLogits(
                rng.normal(size=shape), rng.uniform(size=shape), variance_is="aleatoric", n_draws=20
            )
    raise ValueError(kind)


def lower_of_every_event(prediction):
    """L of all 2^K events, (n, 2^K) in binary order, by looking at every event on its own."""
    k = prediction.n_classes
    events = (np.arange(2**k)[:, None] >> np.arange(k)) & 1 > 0
    credal = prediction.credal()
    if isinstance(credal, uq.Masses):
        inside = ~(credal.focal_sets[:, None, :] & ~events[None]).any(axis=2)  # (F, 2^K)
        return credal.masses @ inside
    if isinstance(credal, Box):
        l, u = credal.bounds()
        return np.maximum(l @ events.T, 1 - u @ (~events).T)
    return (credal.hull_points() @ events.T).min(axis=1)


def masses_of_every_event(prediction):
    """Möbius inverse of L by its definition, (n, 2^K)."""
    lower = lower_of_every_event(prediction)
    masses = np.zeros_like(lower)
    for a in range(lower.shape[1]):
        for b in range(lower.shape[1]):
            if b & ~a == 0:
                masses[:, a] += (-1) ** (a.bit_count() - b.bit_count()) * lower[:, b]
    return masses
