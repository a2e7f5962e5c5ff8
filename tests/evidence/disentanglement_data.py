"""Made-up studies whose estimates move as stated: perfect, swapped, both together, pure jitter, and constant."""

import numpy as np

from uqassay.evidence.disentanglement import DisentanglementStudy
from uqassay.evidence.disentanglement_runs import Measured
from uqassay.measures import Decomposition

SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
NOISE = tuple(i / 10 for i in range(11))
NAMES = ("setosa", "versicolor", "virginica")
CHANCE = 1 / 3
# which of the two estimates follow the errors: in the dataset-size experiment, in the label-noise experiment, left-out classes
FOLLOW = {
    "perfect": ({"epistemic"}, {"aleatoric"}, {"epistemic"}),
    "swapped": ({"aleatoric"}, {"epistemic"}, {"aleatoric"}),
    "together": ({"aleatoric", "epistemic"},) * 3,
    "jitter": (set(), set(), set()),
    "constant": (set(), set(), set()),
    "reversed": ({"-epistemic"}, {"-aleatoric"}, set()),
}


def made_study(
    kind,
    method="made up",
    *,
    dataset="flowers",
    n_runs=5,
    n=90,
    seed=0,
    first_seed=0,
    jitter=0.004,
    without=(),
    decomposition="information-theoretic",
    names=NAMES,
):
    """A study whose estimates follow the errors of the model or not, by its kind, one of `FOLLOW`."""
    rng = np.random.default_rng(seed)
    k = len(names)
    accuracies = {
        "dataset-size": np.interp(np.log(SHARES), np.log([SHARES[0], 1.0]), [0.55, 0.95]),
        "label-noise": np.linspace(0.95, CHANCE, len(NOISE)),
        "left-out-class": np.full(k, 0.6),
    }
    conditions = {"dataset-size": SHARES, "label-noise": NOISE, "left-out-class": tuple(range(k))}
    measured = {}
    for place, (name, accuracy) in enumerate(accuracies.items()):
        if name in without:
            continue
        follow = FOLLOW[kind][place]
        shape = (n_runs, len(accuracy), n)
        labels = np.broadcast_to(np.arange(n) % k, shape).copy()
        level = np.clip(accuracy + rng.normal(scale=0.01, size=shape[:2]), 0, 1)  # (R, C)
        right = rng.permuted(np.broadcast_to(np.arange(n), shape), axis=-1) < np.round(level * n)[..., None]
        predicted = np.where(right, labels, (labels + 1) % k)
        probs = np.where(np.arange(k) == predicted[..., None], 0.8, 0.2 / (k - 1))
        exact = right.mean(axis=-1)
        parts = {}
        for estimate in ("aleatoric", "epistemic"):
            sign = (estimate in follow) - (f"-{estimate}" in follow)
            noise = 0.0 if kind == "constant" else jitter
            mean = 0.4 + 0.3 * sign * (1 - exact) + (sign == 0) * rng.normal(scale=noise, size=shape[:2])
            values = np.broadcast_to(mean[..., None], shape)
            if name == "left-out-class":
                out = labels == np.arange(k)[None, :, None]
                values = rng.normal(loc=1.0 * (out & (estimate in follow)), size=shape)
            parts[estimate] = values
        total = parts["aleatoric"] + parts["epistemic"]
        measured[name] = Measured(
            conditions[name],
            labels,
            probs,
            {decomposition: Decomposition(total, parts["aleatoric"], parts["epistemic"])},
        )
    seeds = tuple(range(first_seed, first_seed + n_runs))
    return DisentanglementStudy(method, dataset, seeds, names, measured, facts={"instances": n})
