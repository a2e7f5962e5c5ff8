"""Calibration errors found with little work: the same numbers as the measures themselves give."""

import numpy as np
import pytest

from uqassay.calibration.mixtures import MixtureObjective, Mixtures, errors_of_mixtures
from uqassay.metrics.measures import CALIBRATION_MEASURES, calibration_measure
from uqassay.native import kernels

WITHOUT_BINS = ("ks-confidence", "kuiper-confidence")
QUICK_ONES = (
    "ece-confidence",
    "ece-confidence-mass",
    "ece-classwise",
    "ece-classwise-mass",
    "hosmer-lemeshow",
    *WITHOUT_BINS,
)
KINDS = ("spread", "agreeing", "votes", "one-hot", "equal", "tied classes", "float32")


def members_of(kind: str, n: int, m: int, k: int) -> np.ndarray:
    rng = np.random.default_rng([n, m, k])
    if kind == "agreeing":
        return rng.dirichlet(np.ones(k), (n, 1)) * 0.98 + 0.02 * rng.dirichlet(np.ones(k), (n, m))
    if kind == "votes":  # tenths: every probability lies on an edge of ten bins
        return rng.multinomial(10, rng.dirichlet(np.ones(k), n)[:, np.newaxis].repeat(m, axis=1)) / 10
    if kind == "one-hot":
        return np.eye(k)[rng.integers(0, k, (n, m))]
    if kind == "equal":
        return (rng.multinomial(10, np.full(k, 1 / k), n) / 10)[:, np.newaxis].repeat(m, axis=1)
    spread = rng.dirichlet(np.full(k, 0.5), (n, m))
    if kind == "tied classes":
        spread[..., -1] = spread[..., 0]
        return spread / spread.sum(axis=-1, keepdims=True)
    return spread.astype(np.float32) if kind == "float32" else spread


@pytest.mark.parametrize("name", QUICK_ONES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n", "m", "k", "n_bins"), [(31, 4, 3, 10), (40, 3, 2, 5), (1, 3, 5, 10), (7, 1, 2, 15), (20, 6, 4, 1)]
)
def test_values_against_the_measure(name, kind, n, m, k, n_bins):
    measure = calibration_measure(name, n_bins=None if name in WITHOUT_BINS else n_bins)
    members = members_of(kind, n, m, k)
    rng = np.random.default_rng(1)
    plain = np.concatenate([np.eye(m), np.full((1, m), 1 / m)])
    for n_targets in (1, 4):
        labels = rng.integers(0, k, (n_targets, n))
        objective = MixtureObjective(Mixtures(members), labels, measure)
        random = rng.dirichlet(np.ones(m), (n_targets, 9))
        judged = np.concatenate([random, np.broadcast_to(np.eye(m), (n_targets, m, m))], axis=1)
        np.testing.assert_allclose(objective.own(judged), objective.exact(judged), rtol=1e-11, atol=1e-14)
        rough, exact = objective.own(random, rough=True), objective.exact(random)
        np.testing.assert_allclose(rough, exact, rtol=2e-5, atol=2e-6)
        targets = np.arange(n_targets)[::-1]
        np.testing.assert_array_equal(objective.own(judged[targets], targets), objective.own(judged)[targets])
        if kind not in ("votes", "equal"):  # where the mean lies on an edge, rounding decides
            means = np.broadcast_to(plain, (n_targets, *plain.shape))
            np.testing.assert_allclose(objective.own(means), objective.exact(means), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("name", QUICK_ONES)
def test_mixtures_of_equal_members_are_exact(name):
    members = members_of("equal", 40, 5, 3)
    labels = np.random.default_rng(0).integers(0, 3, (1, 40))
    objective = MixtureObjective(Mixtures(members), labels, CALIBRATION_MEASURES[name])
    weights = np.random.default_rng(1).dirichlet(np.ones(5), (1, 200))
    single = CALIBRATION_MEASURES[name].prepare(members[:, 0]).values(labels[0])
    np.testing.assert_allclose(objective.exact(weights), single, rtol=1e-14)


@pytest.mark.parametrize("name", ["ece-confidence", "ece-classwise"])
def test_few_columns_remain_if_members_agree(name):
    members = members_of("agreeing", 300, 6, 10)
    prepare = CALIBRATION_MEASURES[name].prepare
    agreeing, spread = (errors_of_mixtures(members_of(kind, 300, 6, 10), prepare) for kind in ("agreeing", "spread"))
    assert agreeing is not None
    assert spread is not None
    assert agreeing.n_columns < 0.2 * members[:, 0].size
    assert agreeing.n_columns < spread.n_columns


@pytest.mark.parametrize("name", [name for name in CALIBRATION_MEASURES if name not in QUICK_ONES])
def test_other_measures_use_all_probabilities(name):
    members = members_of("spread", 12, 3, 4)
    measure = CALIBRATION_MEASURES[name]
    assert errors_of_mixtures(members, measure.prepare) is None or (
        name == "skce-ul" and "pair_errors" in kernels().names
    )
    objective = MixtureObjective(Mixtures(members), np.zeros((1, 12), dtype=np.intp), measure)
    assert objective.n_columns == 12 * 4
    weights = np.random.default_rng(0).dirichlet(np.ones(3), (1, 5))
    np.testing.assert_allclose(objective.own(weights, rough=True), objective.exact(weights), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", [name for name in CALIBRATION_MEASURES if not name.startswith("hosmer-lemeshow")])
def test_subnormal_probabilities_do_not_change_results(name):
    """Hosmer-Lemeshow aside, for which something impossible is worse than something nearly impossible."""
    members = members_of("spread", 24, 3, 4)
    members[:12, :, 3] = 1e-320
    members[:12] /= members[:12].sum(axis=-1, keepdims=True)
    labels = np.tile(np.arange(3), (1, 8))
    objective = MixtureObjective(Mixtures(members), labels, CALIBRATION_MEASURES[name])
    weights = np.random.default_rng(0).dirichlet(np.ones(3), (1, 6))
    np.testing.assert_allclose(objective.own(weights), objective.exact(weights), rtol=1e-10, atol=1e-14)
