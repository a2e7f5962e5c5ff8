"""One training of the check: class left out, changed inputs, errors of the Laplace bridge against quadrature."""

import numpy as np
import pytest
from benchmarks.method_check.protocol import FUNCTION
from benchmarks.method_check.training import bridge_errors, shuffled_and_noise, train_and_measure
from scipy import integrate, special, stats

import uqassay as uq
from uqassay.lab.bench.cell import Cell


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


def test_a_class_left_out_has_no_probability_and_scores_of_its_own():
    from uqassay.lab.datasets import load_dataset
    from uqassay.lab.methods import DDU

    options = {"epochs": 3, "backbone": [16], "progress": False}
    found = train_and_measure(
        Cell(
            FUNCTION,
            dataset="digits",
            method="ddu",
            seed=5,
            params={"method": "ddu", "params": options},
            condition={"train_limit": 400, "left_out": 3},
        )
    )
    data = load_dataset("digits")
    kept = np.sort(np.random.default_rng(0).permutation(len(data.y_train))[:400])
    kept = kept[data.y_train[kept] != 3]
    net = DDU(epochs=3, backbone=(16,), progress=False, random_state=5).fit(data.X_train[kept], data.y_train[kept])
    found_probs = found.prediction.probs
    np.testing.assert_array_equal(found_probs[:, 3], 0.0)
    rows = np.sort(np.random.default_rng(0).permutation(len(data.y_test)))  # no limit keeps all of them
    np.testing.assert_array_equal(found.labels, data.y_test[rows])
    np.testing.assert_allclose(np.delete(found_probs, 3, axis=1), net.predict_proba(data.X_test), rtol=1e-9)
    np.testing.assert_allclose(found.scores["negative-log-density"], -net.feature_density(data.X_test), rtol=1e-9)
    assert found.facts["n_train"] == len(kept)
    np.testing.assert_allclose(found.facts["train_accuracy"], net.score(data.X_train[kept], data.y_train[kept]))


def test_shuffled_instances_keep_their_values_and_noise_the_range():
    from uqassay.lab.datasets import load_dataset

    data = load_dataset("digits").subset(test=slice(40))
    shuffled, noise = shuffled_and_noise(data)
    np.testing.assert_array_equal(np.sort(shuffled, axis=1), np.sort(data.X_test, axis=1))
    assert (shuffled != data.X_test).any(axis=1).all()
    assert noise.dtype == data.X_test.dtype
    assert stats.kstest(noise.ravel() / data.X_train.max(), "uniform").pvalue > 0.001
    np.testing.assert_array_equal(shuffled_and_noise(data)[1], noise)


def test_sizes_are_of_what_the_network_sees():
    from uqassay.lab.datasets import load_dataset

    params = {"method": "evidential", "params": {"epochs": 1, "progress": False}}
    limits = {"train_limit": 300, "test_limit": 50}
    found = train_and_measure(Cell(FUNCTION, dataset="digits", method="edl", seed=0, params=params, condition=limits))
    assert found.scores.keys() == {
        f"{what}{kind}" for what in ("vacuity", "size") for kind in ("", "-shuffled", "-noise")
    }
    data = load_dataset("digits")
    rng = np.random.default_rng(0)
    train = data.X_train[np.sort(rng.permutation(len(data.y_train))[:300])]
    test = data.X_test[np.sort(rng.permutation(len(data.y_test))[:50])]
    spread = np.where(train.std(axis=0) > 0, train.std(axis=0), 1.0)
    size = np.sqrt((((test - train.mean(axis=0)) / spread) ** 2).mean(axis=1))
    np.testing.assert_allclose(found.scores["size"], size, rtol=1e-5)
    np.testing.assert_allclose(found.scores["vacuity"], 10 / found.prediction.alpha.sum(axis=1))
    assert (found.scores["size-noise"] > size.max()).all()


def test_errors_of_the_bridge_against_quadrature():
    """Two classes: softmax of N(μ, Σ) is a logistic normal variable, whose mean and mean entropy are one integral each."""
    mean = np.array([[1.0, -0.5], [0.0, 0.0], [4.0, 0.0]])
    covariance = np.array([[[1.0, 0.3], [0.3, 2.0]], [[0.2, 0.0], [0.0, 0.2]], [[3.0, -1.0], [-1.0, 1.0]]])
    alpha = np.array([[3.0, 1.0], [2.0, 2.0], [9.0, 0.5]])
    found = bridge_errors(uq.Dirichlet(alpha), mean, covariance, n_draws=20_000)

    def entropy(p):
        return special.entr(p) + special.entr(1 - p)

    def average(f, density, low, high):
        return integrate.quad(lambda t: f(t) * density(t), low, high, limit=200)[0]

    for i in range(3):
        centre, c = mean[i, 0] - mean[i, 1], covariance[i]
        spread = np.sqrt(c[0, 0] + c[1, 1] - 2 * c[0, 1])
        normal = stats.norm(centre, spread).pdf
        ends = centre - 9 * spread, centre + 9 * spread
        p = average(special.expit, normal, *ends)
        inside = average(lambda t: entropy(special.expit(t)), normal, *ends)
        stated, beta = alpha[i, 0] / alpha[i].sum(), stats.beta(*alpha[i]).pdf
        np.testing.assert_allclose(found["mean-variation"][i], abs(stated - p), atol=0.012)
        np.testing.assert_allclose(found["total-entropy"][i], abs(entropy(stated) - entropy(p)), atol=0.03)
        expected = abs(average(entropy, beta, 0, 1) - inside)
        np.testing.assert_allclose(found["aleatoric-entropy"][i], expected, atol=0.012)
        assert found["draws-variation"][i] < 0.01
