"""Compiled errors of mixtures against the array formulas, on ordinary and on hostile members."""

import numpy as np
import pytest

from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.nulls import labels_from
from uqassay.calibration.search import QUICK, search_simplex
from uqassay.metrics.measures import calibration_measure
from uqassay.native import kernels

pytestmark = pytest.mark.skipif("confidence_errors" not in kernels().names, reason=str(kernels()))

COMPILED = (
    "ece-confidence",
    "ece-confidence-mass",
    "kuiper-confidence",
    "ks-confidence",
    "ece-classwise",
    "ece-classwise-mass",
    "hosmer-lemeshow",
    "skce-ul",
)
WITHOUT_BINS = ("ks-confidence", "kuiper-confidence", "skce-ul")
KINDS = ("spread", "agreeing", "votes", "one-hot", "equal", "tied", "denormal")
SHAPES = [
    (1, 1, 2, 10),
    (1, 3, 5, 10),
    (37, 2, 2, 1),
    (40, 5, 3, 15),
    (130, 17, 16, 10),
    (300, 10, 4, 300),
    (9, 1000, 3, 10),
]


def members_of(kind, n, m, k):
    rng = np.random.default_rng([n, m, k])
    if kind == "agreeing":
        return rng.dirichlet(np.ones(k), (n, 1)) * 0.98 + 0.02 * rng.dirichlet(np.ones(k), (n, m))
    if kind == "votes":  # tenths: every probability lies on an edge of ten bins
        return rng.multinomial(10, np.full(k, 1 / k), (n, m)) / 10
    if kind == "one-hot":
        return np.eye(k)[rng.integers(0, k, (n, m))]
    if kind == "equal":
        return (rng.multinomial(10, np.full(k, 1 / k), n) / 10)[:, np.newaxis].repeat(m, axis=1)
    spread = rng.dirichlet(np.full(k, 0.5), (n, m))
    if kind == "tied":
        spread[..., -1] = spread[..., 0]
        spread[::2] = spread[:1]
    if kind == "denormal":
        spread[: n // 2, :, 0] = 5e-324
    return spread / spread.sum(axis=-1, keepdims=True)


def both(monkeypatch, compute):
    """The same computation by the kernels and by the formulas."""
    monkeypatch.setenv("UQASSAY_PURE", "0")
    compiled = compute()
    monkeypatch.setenv("UQASSAY_PURE", "1")
    return compiled, compute()


def measure_of(name, n_bins):
    return calibration_measure(name, n_bins=None if name in WITHOUT_BINS else n_bins)


@pytest.mark.parametrize(
    ("name", "kind", "n", "m", "k", "n_bins"),
    [  # any two of a measure, a kind and a shape meet three times or more
        (name, KINDS[(i + j + more) % len(KINDS)], *shape)
        for i, name in enumerate(COMPILED)
        for j, shape in enumerate(SHAPES)
        for more in (0, 1, 3)
    ],
)
def test_values_against_the_formula(monkeypatch, name, kind, n, m, k, n_bins):
    """On the corners of the simplex too, where a probability can lie on an edge."""
    rng = np.random.default_rng(2)
    members, labels = members_of(kind, n, m, k), rng.integers(0, k, (3, n))
    corners = np.eye(m)[:20]
    weights = np.concatenate(
        [np.stack([rng.dirichlet(np.full(m, 0.3), 19) for _ in range(3)])[:, :19], np.stack([corners] * 3)], axis=1
    )
    mixtures, measure = Mixtures(members), measure_of(name, n_bins)

    def values():
        objective = MixtureObjective(mixtures, labels, measure)
        return objective.own(weights), objective.own(weights, rough=True), objective.shared(weights[0])

    (own, rough, shared), (own_formula, rough_formula, shared_formula) = both(monkeypatch, values)
    # probabilities on an edge of a bin: the last bit of the product decides, and BLAS may round it in another order
    on_edges = kind in ("votes", "one-hot", "equal", "tied") and m > 2
    if not on_edges or m < 16:
        np.testing.assert_allclose(own, own_formula, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(shared, shared_formula, rtol=1e-12, atol=1e-14)
    if not on_edges:  # in single precision a probability may be rounded into the next bin, now and then
        close = np.isclose(rough, rough_formula, rtol=2e-5, atol=1e-6, equal_nan=True)
        assert close.mean() >= 0.97
        np.testing.assert_allclose(rough, rough_formula, rtol=0.05, atol=1e-6)


@pytest.mark.parametrize("name", COMPILED)
def test_values_do_not_depend_on_the_other_mixtures_of_a_call(name):
    rng = np.random.default_rng(3)
    objective = MixtureObjective(
        Mixtures(members_of("spread", 60, 6, 4)), rng.integers(0, 4, (5, 60)), measure_of(name, 10)
    )
    weights = rng.dirichlet(np.ones(6), (5, 37))
    together = objective.own(weights, rough=True)
    for t in range(5):
        alone = objective.own(weights[t : t + 1, 30:], np.array([t]), rough=True)
        np.testing.assert_array_equal(alone[0], together[t, 30:])


def test_many_instances_are_sorted_another_way(monkeypatch):
    """Above 4096 instances one mixture is sorted at a time."""
    rng = np.random.default_rng(4)
    mixtures, labels = Mixtures(members_of("spread", 4100, 3, 3)), rng.integers(0, 3, (2, 4100))
    weights = rng.dirichlet(np.ones(3), (2, 5))
    for name in ("kuiper-confidence", "ks-confidence"):

        def values(name=name):
            objective = MixtureObjective(mixtures, labels, measure_of(name, 10))
            return objective.own(weights), objective.own(weights, rough=True)

        compiled, formula = both(monkeypatch, values)
        np.testing.assert_allclose(compiled, formula, rtol=2e-6, atol=1e-6)


def test_labels_against_the_formula(monkeypatch):
    probs = np.random.default_rng(5).dirichlet(np.full(7, 0.2), 300)
    probs[:9] = np.eye(7)[np.arange(9) % 7]  # steps of 0 and 1
    compiled, formula = both(monkeypatch, lambda: labels_from(probs, 40, np.random.default_rng(6)))
    np.testing.assert_array_equal(compiled, formula)


def simulated(seed, n=100, m=10, k=10):
    rng = np.random.default_rng([2026, seed])
    centre = rng.dirichlet(np.full(k, 0.3), n) + 1e-3
    members = np.stack([rng.dirichlet(k * row, m) for row in centre]) + 1e-9
    members /= members.sum(axis=-1, keepdims=True)
    truth = np.einsum("m,nmk->nk", rng.dirichlet(np.ones(m)), members)
    if seed % 2:
        truth = 0.7 * truth + 0.3 / k
    return members, (np.cumsum(truth, axis=1)[:, :-1] <= rng.random((n, 1))).sum(axis=1)


@pytest.mark.parametrize("name", COMPILED)
def test_searches_find_minima_that_are_as_low(monkeypatch, name):
    def minima():
        found = []
        for seed in range(6):
            members, labels = simulated(seed, 60, 5, 4)
            objective = MixtureObjective(Mixtures(members), labels[np.newaxis], measure_of(name, 10))
            found.append(search_simplex(objective, QUICK, np.random.default_rng(seed)).values[0])
        return np.array(found)

    compiled, formula = both(monkeypatch, minima)
    np.testing.assert_allclose(compiled, formula, atol=2e-3)  # a tenth of the standard deviation of the null
    assert compiled.mean() <= formula.mean() + 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ece-confidence", "ece-classwise", "hosmer-lemeshow"])
def test_pvalues_of_simulated_data_sets_against_the_formula(monkeypatch, name):
    """The same p-values, but for draws whose minima differ by less than the search can tell.

    A fault in one of 4 data sets is found with probability .99.
    """

    def pvalues():
        found = []
        for seed in range(16):
            members, labels = simulated(seed, 60, 5, 5)
            found.append(
                credal_calibration_test(labels, members, measure=name, null="random", n_draws=99, rng=seed).pvalue
            )
        return np.array(found)

    compiled, formula = both(monkeypatch, pvalues)
    assert np.abs(compiled - formula).max() <= 0.0101
    assert ((compiled <= 0.05) == (formula <= 0.05)).all()
