"""The null of a random mixture against the algorithm as printed."""

import numpy as np
import pytest

from uqassay.calibration.mixtures import Mixtures
from uqassay.calibration.single import random_mixture_null
from uqassay.metrics.measures import calibration_measure
from uqassay.native import kernels


def test_random_null_against_the_algorithm_as_printed(random_generator):
    members = random_generator.dirichlet(np.ones(3), (30, 4))
    measure, found = calibration_measure("ece-classwise"), []
    for _ in range(800):
        truth = random_generator.dirichlet(np.ones(4)) @ members
        rows = random_generator.integers(0, 30, 30)
        labels = [random_generator.choice(3, p=p / p.sum()) for p in truth[rows]]
        found.append(float(measure.prepare(truth[rows]).values(np.array(labels))))
    truths = random_generator.dirichlet(np.ones(4), 800)
    ours = random_mixture_null(Mixtures(members), truths, measure, random_generator, instances="resampled")
    assert abs(ours.mean() - np.mean(found)) < 4 * np.std(found) * np.sqrt(2 / 800)
    assert abs(ours.std() / np.std(found) - 1) < 0.15
    kept = random_mixture_null(Mixtures(members), truths, measure, random_generator)
    assert kept.mean() > ours.mean() + 2 * ours.std() / np.sqrt(800)


def test_permuted_instances_change_pairs_but_no_bins(random_generator):
    mixtures = Mixtures(random_generator.dirichlet(np.ones(3), (30, 2)))
    truths = random_generator.dirichlet(np.ones(2), 500)
    measure = calibration_measure("ece-classwise")
    nulls = [
        random_mixture_null(mixtures, truths, measure, random_generator, instances=kind)
        for kind in ("kept", "permuted")
    ]
    assert abs(nulls[0].mean() - nulls[1].mean()) < 4 * nulls[0].std() * np.sqrt(2 / 500)


@pytest.mark.skipif("inverted_labels" not in kernels().names, reason=f"needs uqassay-native: {kernels()}")
@pytest.mark.parametrize(("n", "k"), [(1, 1), (30, 3), (600, 5), (257, 300)])
@pytest.mark.parametrize("instances", ["kept", "resampled"])
def test_null_by_kernels_against_the_formula(monkeypatch, n, k, instances):
    """To the last bit; more instances and classes than a block, probabilities 0, and an odd number of draws."""
    rng = np.random.default_rng([n, k])
    members = rng.dirichlet(np.full(k, 0.05), (n, 3))
    mixtures, truths, nulls = Mixtures(members), rng.dirichlet(np.ones(3), 7), []
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        seeds = np.random.default_rng(1)
        nulls.append(random_mixture_null(mixtures, truths, calibration_measure("brier"), seeds, instances=instances))
    np.testing.assert_array_equal(*nulls)
