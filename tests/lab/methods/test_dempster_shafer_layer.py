"""Dempster's rule in closed form against the rule itself over all subsets, and the layer against its formulas."""

from functools import reduce
from itertools import product

import numpy as np
import pytest
import torch

from uqassay.lab.methods.evidential import DempsterShafer, combined_evidence, log_normaliser, masses_of_evidence


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


def test_gradients():
    made, x = layer()
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda x, *_: made(x), (x, *made.parameters()))
    evidence = (
        torch.rand(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).mul(5).requires_grad_()
    )
    assert torch.autograd.gradcheck(masses_of_evidence, evidence)
    assert torch.autograd.gradcheck(log_normaliser, evidence)
