"""The evidential loss against integrals over the Dirichlet distribution, and what its evidence says."""

from functools import reduce
from itertools import product

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.integrate import dblquad, quad
from scipy.special import gamma
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from uqassay import Dirichlet, Masses
from uqassay.lab.methods import ECNN, Evidential, StandardNetwork
from uqassay.lab.methods.evidential import (
    EVIDENCE,
    DempsterShafer,
    balanced_sample,
    combined_evidence,
    expected_squared_error,
    hurwicz_cross_entropy,
    kl_to_uniform,
    log_normaliser,
    masses_of_evidence,
)
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


# -- Dempster's rule in closed form against the rule itself over all subsets, and the layer against its formulas.


def dempster(first, second):
    """m(A) ∝ Σ_{B∩C=A} m1(B) m2(C) over the non-empty sets A, sets as bits; conflict is divided out."""
    combined = np.zeros(len(first))
    for b, c in product(range(len(first)), repeat=2):
        combined[b & c] += first[b] * second[c]
    combined[0] = 0.0
    return combined / combined.sum()


def piece(support, membership):
    """The masses of one prototype on all 2^K sets."""
    n_classes = len(membership)
    masses = np.zeros(2**n_classes)
    masses[[2**k for k in range(n_classes)]] = support * membership
    masses[-1] = 1 - support
    return masses


def random_pieces(n_classes, n_prototypes, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 0.95, (4, n_prototypes)), rng.dirichlet(np.ones(n_classes), n_prototypes)


@pytest.mark.parametrize(("n_classes", "n_prototypes"), [(2, 1), (2, 5), (3, 4), (4, 7)])
def test_closed_form_against_brute_force(n_classes, n_prototypes):
    s, h = random_pieces(n_classes, n_prototypes)
    masses = masses_of_evidence(combined_evidence(torch.tensor(s)[None], torch.tensor(h)[None]))[0].numpy()
    for b in range(len(s)):
        expected = reduce(dempster, [piece(s[b, i], h[i]) for i in range(n_prototypes)])
        columns = [*(2**k for k in range(n_classes)), -1]
        np.testing.assert_allclose(masses[b], expected[columns], rtol=1e-10)
        others = np.setdiff1d(np.arange(2**n_classes - 1), columns[:-1])
        np.testing.assert_allclose(expected[others], 0, atol=1e-15)  # nothing on the sets in between


def test_order_of_prototypes_does_not_matter_and_no_support_says_nothing():
    s, h = random_pieces(3, 6)
    order = np.random.default_rng(1).permutation(6)
    one = combined_evidence(torch.tensor(s)[None], torch.tensor(h)[None])
    other = combined_evidence(torch.tensor(s[:, order])[None], torch.tensor(h[order])[None])
    torch.testing.assert_close(one, other)
    with_silent = combined_evidence(torch.tensor(s * [1, 1, 0, 1, 0, 1])[None], torch.tensor(h)[None])
    without = combined_evidence(torch.tensor(s[:, [0, 1, 3, 5]])[None], torch.tensor(h[[0, 1, 3, 5]])[None])
    torch.testing.assert_close(with_silent, without)
    silent = masses_of_evidence(torch.zeros(1, 1, 3))
    torch.testing.assert_close(silent, torch.tensor([[[0.0, 0.0, 0.0, 1.0]]]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_strong_evidence_stays_finite(dtype):
    evidence = torch.tensor([[[2000.0, 1990.0, 0.0], [1e-30, 0.0, 0.0]]], dtype=dtype)
    masses = masses_of_evidence(evidence)
    torch.testing.assert_close(masses.sum(-1), torch.ones(1, 2, dtype=dtype))
    expected = torch.tensor([1, np.exp(-10.0), 0, 0], dtype=dtype) / (1 + np.exp(-10.0))
    torch.testing.assert_close(masses[0, 0], expected)
    torch.testing.assert_close(masses[0, 1], torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=dtype))
    sure = combined_evidence(torch.ones(1, 1, 2, dtype=dtype), torch.tensor([[[1.0, 0.0], [0.0, 1.0]]], dtype=dtype))
    assert torch.isfinite(sure).all()
    torch.testing.assert_close(
        masses_of_evidence(sure)[0, 0, :2], torch.full((2,), 0.5, dtype=dtype), atol=1e-5, rtol=0
    )


def test_normaliser_by_its_formula():
    evidence = torch.rand(2, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 20
    torch.testing.assert_close(log_normaliser(evidence), torch.log1p(torch.expm1(evidence).sum(-1)))
    torch.testing.assert_close(-log_normaliser(evidence), masses_of_evidence(evidence)[..., -1].log())
    torch.testing.assert_close(log_normaliser(torch.zeros(1, 1, 3)), torch.zeros(1, 1))


def layer(n_networks=2, seed=0):
    """Networks side by side with parameters of their own."""
    rng = np.random.default_rng(seed)
    made = DempsterShafer(
        torch.tensor(rng.normal(size=(5, 3))), torch.tensor(rng.dirichlet(np.ones(4), 5)), 0.25, 0.6
    ).double()
    for parameter in made.parameters():
        parameter.data = torch.cat(
            [parameter.data + torch.tensor(rng.normal(size=parameter.shape)) * 0.1 * m for m in range(n_networks)]
        )
    return made, torch.tensor(rng.normal(size=(n_networks, 7, 3)))


def test_supports_and_memberships_by_their_formulas():
    made, x = layer()
    p, xi, eta, beta = (t.detach().numpy() for t in (made.prototypes, made.xi, made.eta, made.beta))
    squared = ((x.numpy()[:, :, None] - p[:, None]) ** 2).sum(-1)  # (M, B, I)
    expected = np.exp(-(eta**2) * squared) / (1 + np.exp(-xi))
    np.testing.assert_allclose(made.supports(x).detach(), expected, rtol=1e-10)
    np.testing.assert_allclose(made.memberships().detach(), beta**2 / (beta**2).sum(-1, keepdims=True))
    np.testing.assert_allclose(expected[0], 0.6 * np.exp(-0.25 * squared[0]))  # as it was asked for
    for m in range(2):
        alone, _ = layer()
        for parameter in alone.parameters():
            parameter.data = parameter.data[m : m + 1]
        torch.testing.assert_close(alone(x[m : m + 1]), made(x)[m : m + 1])


def test_far_from_all_prototypes_the_mass_is_on_everything():
    made, x = layer()
    far = masses_of_evidence(made(x + 1000.0))
    torch.testing.assert_close(far[..., -1], torch.ones(2, 7, dtype=torch.float64))
    at_prototype = masses_of_evidence(made(made.prototypes))
    assert (at_prototype[..., -1] < 0.5).all()  # at most the doubt of that prototype, 1 − 0.6, if others agree


def test_gradients_of_dempster_shafer_layer():
    made, x = layer()
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda x, *_: made(x), (x, *made.parameters()))
    evidence = (
        torch.rand(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).mul(5).requires_grad_()
    )
    assert torch.autograd.gradcheck(masses_of_evidence, evidence)
    assert torch.autograd.gradcheck(log_normaliser, evidence)


# -- The evidential classifier by prototypes: its loss by hand, where the prototypes start, what it says of what it never …


def blobs(n=90, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 2)) + 4.0 * np.array([[0, 0], [1, 1], [-1, 1]])[y], y


@pytest.mark.parametrize("nu", [0.0, 0.5, 0.9])
def test_loss_is_the_worth_of_the_label(nu):
    evidence = torch.rand(2, 6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 10
    y = torch.tensor([[0, 1, 2, 3, 0, 1], [3, 2, 1, 0, 3, 2]])
    masses = masses_of_evidence(evidence)
    worth = masses[..., :-1] + (1 - nu) * masses[..., -1:]
    expected = -worth.gather(-1, y[..., None])[..., 0].log()
    torch.testing.assert_close(hurwicz_cross_entropy(evidence, y, nu), expected)
    assert torch.autograd.gradcheck(lambda e: hurwicz_cross_entropy(e, y, nu), evidence.requires_grad_())


def test_loss_of_hopeless_instances_is_finite():
    evidence = torch.tensor([[[0.0, 5000.0], [0.0, 0.0]]], requires_grad=True)
    loss = hurwicz_cross_entropy(evidence, torch.zeros(1, 2, dtype=torch.int64), 0.9)
    torch.testing.assert_close(loss, torch.tensor([[5000 - np.log(0.1), -np.log(0.1)]], dtype=torch.float32))
    loss.sum().backward()
    assert torch.isfinite(evidence.grad).all()


def test_worths_sum_to_one_where_the_notes_say_so():
    masses = masses_of_evidence(torch.rand(5, 10) * 3)
    worth = masses[:, :-1] + (1 - 0.9) * masses[:, -1:]
    torch.testing.assert_close(worth.sum(-1), torch.ones(5))


def test_states_masses_of_singletons_and_everything():
    x, y = blobs()
    net = ECNN(n_prototypes=12, backbone=(16,), epochs=40, learning_rate=0.01).fit(x, y)
    said = net.predict_uncertainty(x)
    assert isinstance(said, Masses)
    np.testing.assert_array_equal(said.focal_sets, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    assert not said.signed
    np.testing.assert_allclose(said.masses.sum(axis=1), 1, atol=1e-12)
    assert (said.masses >= 0).all()
    assert net.score(x, y) > 0.95
    far = net.predict_uncertainty(1000 * np.array([[1.0, 0], [0, -1], [-1, -1]]))
    np.testing.assert_allclose(far.masses[:, -1], 1, atol=1e-6)
    np.testing.assert_allclose(far.mean_probs(), 1 / 3, atol=1e-6)


def test_pieces_of_a_long_input_are_put_together():
    x, y = blobs(n=2100)
    net = ECNN(n_prototypes=6, backbone=(4,), epochs=1).fit(x, y)
    whole = net.predict_uncertainty(x).masses
    np.testing.assert_allclose(net.predict_uncertainty(x[2000:]).masses, whole[2000:], atol=1e-12)


def test_prototypes_start_at_training_instances():
    x, y = blobs()
    net = ECNN(n_prototypes=9, backbone=(5,), epochs=1, learning_rate=1e-12).fit(x, y)
    np.testing.assert_array_equal(np.bincount(net.start_labels_), [3, 3, 3])
    features = net._evaluate(net.start_instances_, lambda network, x, draws: network.features(x))[:, 0]
    head = net.network_.head
    np.testing.assert_allclose(head.prototypes[0], features, atol=1e-5)
    h = head.memberships()[0].numpy()
    np.testing.assert_allclose(h[np.arange(9), net.start_labels_], 0.9, atol=1e-6)
    np.testing.assert_allclose(h.sum(axis=1), 1)
    np.testing.assert_allclose(1 / head.eta[0, 0] ** 2, ((features - features.mean(0)) ** 2).sum(1).mean(), rtol=1e-4)


def test_balanced_sample():
    y = np.array([0] * 50 + [1] * 3 + [2] * 10)
    rows = balanced_sample(y, 21, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(y[rows]), [7, 7, 7])
    times = np.bincount(rows, minlength=63)
    assert times[:50].max() == 1
    assert set(times[50:53]) == {2, 3}
    np.testing.assert_array_equal(balanced_sample(np.array([0, 1]), 2, np.random.default_rng(0)) < 2, True)


def test_more_prototypes_than_instances_and_a_constant_input():
    x, y = blobs(n=9)
    net = ECNN(n_prototypes=40, backbone=(5,), epochs=30, learning_rate=0.02).fit(x, y)
    assert net.network_.head.prototypes.shape == (1, 40, 5)
    assert net.score(x, y) > 0.8
    same = ECNN(n_prototypes=4, backbone=(5,), epochs=3).fit(np.ones((6, 2)), [0, 1] * 3)
    assert np.isfinite(same.predict_proba(np.ones((2, 2)))).all()


def test_convolutions():
    images = np.random.default_rng(0).normal(size=(20, 8, 8))
    net = ECNN(n_prototypes=10, backbone="cnn-small", epochs=2).fit(images, np.arange(20) % 2)
    np.testing.assert_allclose(net.predict_proba(images).sum(axis=1), 1)


def test_digits_within_two_points_of_the_standard_network_and_doubt_of_unknown_ones():
    x, y = load_digits(return_X_y=True)
    x, test_x, y, test_y = train_test_split(x / 16, y, test_size=0.3, stratify=y, random_state=0)
    options = {"epochs": 20, "learning_rate": 0.006}
    net = ECNN(n_prototypes=100, **options).fit(x, y)
    assert net.score(test_x, test_y) >= StandardNetwork(**options).fit(x, y).score(test_x, test_y) - 0.02
    noise = np.random.default_rng(0).normal(size=test_x.shape)
    doubt, known = (net.predict_uncertainty(z).masses[:, -1].mean() for z in (noise, test_x))
    assert doubt > 0.5 > 0.1 > known


def test_prototypes_of_a_network_with_batch_norm_start_where_its_features_are_in_training():
    """With the running statistics of a new network, mean 0 and variance 1, they would start near 100 here."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    layers = torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)
    layers[0].weight.data *= 100.0
    net = ECNN(backbone=torch.nn.Sequential(*layers), n_prototypes=12, batch_size=6, learning_rate=1e-9, epochs=1)
    prototypes = net.fit(x, y).network_.head.prototypes[0]
    torch.testing.assert_close(prototypes[:6].mean(dim=0), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(prototypes[6:].std(dim=0, correction=0), torch.ones(3), atol=1e-2, rtol=0)
