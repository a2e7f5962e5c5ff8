"""Coverage of the intervals of a comparison where the true difference is not 0: they are those of the tests of all pairs.

The test measures a few data sets. The command measures all cells, which docs/intervals-and-tests.md sums up:

    python -m tests.evidence.test_pair_interval_coverage [data sets]
"""

import sys
from functools import cache

import numpy as np
import pytest
from scipy.special import softmax

import uqassay as uq
from uqassay.evidence.ranking import difference_of

K = 3
SIZES = (100, 300, 2000)
NOISE = (0.2, 0.6, 0.3, 0.4)  # of the logits of each model; the second one is too sure as well
METRICS = ("unified", "brier")


def world(rng, n, n_models, *, grouped):
    """Probabilities of models and labels of n cases, with groups of ten that have logits in common or without."""
    logits = 1.5 * rng.normal(size=(n, K))
    if grouped:
        logits += np.repeat(rng.normal(size=(n // 10, K)), 10, axis=0)
    y = (softmax(logits, axis=1).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    said = (logits * (1.3 if j == 1 else 1.0) + NOISE[j] * rng.normal(size=(n, K)) for j in range(n_models))
    return {f"m{j}": softmax(z, axis=1) for j, z in enumerate(said)}, y


@cache
def truth(*, grouped):
    """Differences between the first two models over a million cases."""
    said, y = world(np.random.default_rng(99), 1_000_000, 2, grouped=grouped)
    each, of_labels = np.arange(len(y)), np.eye(K)[y]
    log_loss, brier = zip(
        *((-np.log(p[each, y]).mean(), ((p - of_labels) ** 2).sum(axis=1).mean()) for p in said.values()), strict=True
    )
    return {"unified": log_loss[0] - log_loss[1], "brier": brier[0] - brier[1]}


def rates(n, n_models, n_sets, *, grouped):
    """Share of data sets whose interval holds the truth by each metric, and the median width over that of the pair alone."""
    inside, wider = [], []
    for run in range(n_sets):
        said, y = world(np.random.default_rng([run, n, n_models, grouped]), n, n_models, grouped=grouped)
        models = {name: uq.Point(p) for name, p in said.items()}
        groups = np.repeat(np.arange(n // 10), 10) if grouped else None
        assay = uq.assay(models, y, groups=groups, calibration=(), measures=("least-confidence",))
        found = {metric: difference_of(assay, "m0", "m1", metric) for metric in METRICS}
        inside.append([d.low <= truth(grouped=grouped)[metric] <= d.high for metric, d in found.items()])
        compared = assay.compare("m0", "m1")
        assert (compared.difference.low, compared.difference.high) == (found["unified"].low, found["unified"].high)
        alone = compared.alone.difference
        wider.append((compared.difference.high - compared.difference.low) / (alone.high - alone.low))
    return dict(zip((*METRICS, "width"), (*np.mean(inside, axis=0), np.median(wider)), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("n_models", [2, 4])
def test_the_interval_of_a_pair_holds_a_true_difference(grouped, n_models):
    found = rates(300, n_models, 60, grouped=grouped)
    assert min(found[metric] for metric in METRICS) >= 0.85  # at .95, fewer of 60 have a probability below .001
    assert found["width"] >= 1.0


if __name__ == "__main__":
    for grouped in (False, True):
        for n in SIZES:
            for n_models in (2, 4):
                shares = rates(n, n_models, int(sys.argv[1]) if sys.argv[1:] else 300, grouped=grouped)
                cell = f"{n_models} models, n = {n}{', groups of 10' if grouped else ''}"
                texts = [f"{metric} {100 * shares[metric]:.1f} %" for metric in METRICS]
                print(f"{cell}: {', '.join(texts)}, width {shares['width']:.2f}", flush=True)
