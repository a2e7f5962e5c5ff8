"""The evidential loss against integrals over the Dirichlet distribution, and what its evidence says."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.integrate import dblquad, quad
from scipy.special import gamma
from tests.refusals import refuses

from uqassay import Dirichlet
from uqassay.lab.methods import Evidential, StandardNetwork
from uqassay.lab.methods.evidential import EVIDENCE, expected_squared_error, kl_to_uniform
from uqassay.lab.methods.layers import Draws
from uqassay.lab.methods.training import Batch


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def over_simplex(function, n_classes):
    """Integral over the simplex of K = 2 or 3."""
    if n_classes == 2:
        return quad(lambda p: function(np.array([p, 1 - p])), 0, 1)[0]
    return dblquad(lambda q, p: function(np.array([p, q, 1 - p - q])), 0, 1, 0, lambda p: 1 - p, epsrel=1e-6)[0]


def density_of(alpha):
    constant = gamma(sum(alpha)) / np.prod(gamma(alpha))
    return lambda p: constant * np.prod(np.maximum(p, 0) ** (np.array(alpha) - 1))


@pytest.mark.parametrize("alpha", [[1.0, 1.0], [2.5, 1.2], [40.0, 3.0], [1.0, 1.0, 1.0], [2.0, 3.5, 1.5]])
def test_squared_error_against_integration(alpha):
    density = density_of(alpha)
    for label in range(len(alpha)):
        hit = np.eye(len(alpha))[label]
        expected = over_simplex(lambda p, hit=hit: density(p) * ((hit - p) ** 2).sum(), len(alpha))
        found = expected_squared_error(tensor(alpha), tensor(hit))
        np.testing.assert_allclose(float(found), expected, rtol=1e-6)


@pytest.mark.parametrize("alpha", [[2.5, 1.2], [40.0, 3.0], [2.0, 3.5, 1.5]])
def test_divergence_against_integration(alpha):
    density, uniform = density_of(alpha), gamma(len(alpha))
    expected = over_simplex(lambda p: density(p) * np.log(density(p) / uniform) if density(p) > 0 else 0.0, len(alpha))
    np.testing.assert_allclose(float(kl_to_uniform(tensor(alpha))), expected, rtol=1e-6)
    np.testing.assert_allclose(float(kl_to_uniform(tensor(np.ones(len(alpha))))), 0, atol=1e-12)


def test_gradients():
    alpha = 1.0 + torch.rand(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 5
    hit = torch.eye(4, dtype=torch.float64)[torch.tensor([[0, 1, 2], [3, 0, 1]])]
    assert torch.autograd.gradcheck(lambda a: expected_squared_error(a, hit), alpha.requires_grad_())
    assert torch.autograd.gradcheck(kl_to_uniform, alpha)
    for name in ("softplus", "exp"):
        z = torch.linspace(-5, 5, 7, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(EVIDENCE[name], z)


def test_annealed_loss_by_hand():
    method = Evidential(evidence="relu", annealing_epochs=10)
    method.classes_ = np.arange(3)
    outputs = torch.tensor([[[2.0, -1.0, 0.5]]] * 3)  # evidence 2, 0, 0.5; α = 3, 1, 1.5
    batch = Batch(
        torch.zeros(3, 1, dtype=torch.int64), torch.tensor([[0.0], [4.0], [np.inf]]), torch.ones(3, 1), Draws([])
    )
    mean = np.array([3.0, 1.0, 1.5]) / 5.5
    squared = ((np.array([1, 0, 0]) - mean) ** 2 + mean * (1 - mean) / 6.5).sum()
    wrong = np.array([1.0, 1.0, 1.5])  # the label's evidence is taken out
    kl = stats.dirichlet([1, 1, 1]).entropy() - stats.dirichlet(wrong).entropy()
    kl += (
        (wrong - 1) * 0
    ).sum()  # E ln p enters through the entropy alone, since ln of the uniform density is constant
    found = method._loss(None, outputs, batch)[:, 0]
    np.testing.assert_allclose(found, squared + np.array([0, 0.4, 1]) * kl, rtol=1e-5)


def two_moons_like(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) * 0.5 + np.where(y, 1.5, -1.5)[:, None] * [1, 0], y


@pytest.mark.parametrize("evidence", list(EVIDENCE))
def test_learns_and_states_a_dirichlet(evidence):
    x, y = two_moons_like()
    net = Evidential(evidence=evidence, backbone=(32,), epochs=60, learning_rate=0.01).fit(x, y)
    said = net.predict_uncertainty(x)
    assert isinstance(said, Dirichlet)
    assert (said.alpha >= 1).all()
    assert net.score(x, y) > 0.97
    logits = net._evaluate(net._prepared(x), lambda network, x, draws: network(x))[:, 0]
    np.testing.assert_allclose(said.alpha, EVIDENCE[evidence](torch.from_numpy(logits)).numpy() + 1, rtol=1e-12)


def test_vacuity_is_greater_where_nothing_was_seen():
    """Digits 0-7 are known, 8 and 9 are not."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    known = y < 8
    train = known & (np.arange(len(y)) % 2 == 0)
    net = Evidential(epochs=60, learning_rate=0.003, standardise=False).fit(x[train] / 16, y[train])
    alpha = net.predict_uncertainty(x / 16).alpha
    vacuity = 8 / alpha.sum(axis=1)
    assert vacuity[~known].mean() > 2 * vacuity[known & ~train].mean()
    other = net.predict_uncertainty(1.0 - x / 16).alpha  # ink and paper exchanged
    assert (8 / other.sum(axis=1)).mean() > 1.2 * vacuity[known & ~train].mean()


def test_digits_within_two_points_of_the_standard_network():
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    x, y = load_digits(return_X_y=True)
    x, test_x, y, test_y = train_test_split(x / 16, y, test_size=0.3, stratify=y, random_state=0)
    options = {"epochs": 25, "learning_rate": 0.01}
    accuracy = Evidential(**options).fit(x, y).score(test_x, test_y)
    assert accuracy >= StandardNetwork(**options).fit(x, y).score(test_x, test_y) - 0.02


def test_early_stopping_judges_by_the_final_loss():
    x, y = two_moons_like(60)
    net = Evidential(backbone=(8,), epochs=30, early_stopping=True, patience=30, learning_rate=0.01).fit(x, y)
    (went,) = net.training_
    assert went.n_epochs == 30
    assert went.validation_losses[0] > went.validation_losses[-1]  # the growing weight alone would make it rise


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"evidence": "tanh"}, "evidence", "choice", "got 'tanh'"),
        ({"annealing_epochs": 0}, "annealing_epochs", "range", "got 0"),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        Evidential(**options).fit([[0.0], [1.0]], [0, 1])
    with refuses(parameter, code, got=got):
        Evidential(**options).check_options((1,), 2)  # without training
