"""Made-up worlds for second-order calibration: what a model states, true label probabilities, and votes."""

from dataclasses import dataclass

import numpy as np

import uqassay as uq

WORLDS = ("even", "confident", "dirichlet")
TRUTHS = ("as stated", "states half", "states double", "mixed", "shifted")


@dataclass(frozen=True)
class Setting:
    """One world.

    world
        "even": five members, three classes. "confident": three members, ten classes, most of them nearly certain.
        "dirichlet": Dirichlet distributions over four classes.
    truth
        "as stated": drawn from the statement. "states half" and "states double": the model states half or double the true
        variance. "mixed": half or more than the true variance, by the mean, but right on average. "shifted": the distance
        from the mean is right, but always towards class 0.
    size
        Instances to a group; in a group the truths are all near the mean of their ensembles, or all far from it.
    """

    world: str = "even"
    truth: str = "as stated"
    n: int = 100
    votes: int = 2
    size: int = 1


def draw(setting: Setting, rng: np.random.Generator):
    """Votes (n, K), the prediction and groups (n,)."""
    n = setting.n
    groups = np.arange(n) // setting.size
    if setting.world == "dirichlet":
        alpha = rng.gamma(1.0, 2.0, (n, 4)) + 0.2
        members = None
        truth = rng.standard_gamma(alpha)
        stated = uq.Dirichlet(alpha)
    else:
        members = drawn_members(setting.world, n, rng)
        mean = members.mean(axis=1)
        place = rng.integers(0, members.shape[1], n)[groups]
        if setting.size > 1:
            place = np.argsort(((members - mean[:, None]) ** 2).sum(axis=2), axis=1)[np.arange(n), place]
        truth = members[np.arange(n), place]
        half = mean[:, None] + 0.5**0.5 * (members - mean[:, None])  # inside the simplex, with half the variance
        stated = uq.Members(half if setting.truth in ("states half", "mixed", "shifted") else members)
        if setting.truth == "states double":
            truth = half[np.arange(n), place]
        elif setting.truth == "mixed":
            truth = np.where(mean[:, :1] > np.median(mean[:, 0]), truth, mean)
        elif setting.truth == "shifted":
            away = np.eye(mean.shape[1])[0] - mean
            step = (half.var(axis=1).sum(axis=1) / (away**2).sum(axis=1)) ** 0.5
            truth = mean + np.minimum(step, 1.0)[:, None] * away
    truth = truth / truth.sum(axis=1, keepdims=True)
    return rng.multinomial(setting.votes, truth), stated, groups


def drawn_members(world: str, n: int, rng: np.random.Generator):
    if world == "even":
        return rng.dirichlet([2.0, 2.0, 2.0], (n, 5))
    z = 4.0 * rng.normal(size=(n, 1, 10)) + rng.normal(size=(n, 3, 10))
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
