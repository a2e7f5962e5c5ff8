"""Dirichlet predictions: draws against theory, extreme concentrations."""

import numpy as np
import pandas as pd
from tests.refusals import refuses

import uqassay as uq


def test_dirichlet_draws_against_theory():
    alpha = np.array([[4.0, 2.0, 1.0], [0.05, 0.03, 0.02], [1e-4, 1e-4, 1e-4]])
    draws = uq.Dirichlet(alpha).sample(40_000, rng=1)
    assert np.isfinite(draws).all()
    mean = alpha / alpha.sum(axis=1, keepdims=True)
    variance = mean * (1 - mean) / (alpha.sum(axis=1, keepdims=True) + 1)
    np.testing.assert_array_less(np.abs(draws.mean(axis=1) - mean), 5 * np.sqrt(variance / 40_000) + 1e-12)
    np.testing.assert_allclose(draws.var(axis=1), variance, rtol=0.05)


def test_unit_concentration_keeps_the_mean_and_spreads_the_draws():
    raw = uq.Dirichlet([[50.0, 30.0, 20.0]])
    unit = uq.Dirichlet([[50.0, 30.0, 20.0]], unit_concentration=True)
    np.testing.assert_allclose(raw.mean_probs(), unit.mean_probs())
    assert uq.measures.generalised_hartley(unit).values > 2 * uq.measures.generalised_hartley(raw).values


def test_draws_for_the_greatest_and_least_concentrations():
    for alpha in ([[1e300, 1e300]], [[1e-300, 1e-300]], [[1e300, 1e-300]]):
        dirichlet = uq.Dirichlet(alpha)
        np.testing.assert_allclose(dirichlet.mean_probs().sum(axis=1), 1)
        np.testing.assert_allclose(dirichlet.sample(20, rng=0).sum(axis=2), 1)


def test_links_against_their_closed_forms(random_generator):
    z = random_generator.normal(0, 3, (40, 4))
    expected = {
        "softplus+1": np.log1p(np.exp(z)) + 1,
        "exp": np.exp(z),
        "relu+1": np.where(z > 0, z, 0) + 1,
    }
    for link, alpha in expected.items():
        np.testing.assert_allclose(uq.Dirichlet.from_logits(z, link=link).alpha, alpha, rtol=1e-12)
    np.testing.assert_array_equal(
        uq.Dirichlet.from_logits(z).alpha, uq.Dirichlet.from_logits(z, link="softplus+1").alpha
    )
    softmax = uq.Point.from_logits(z).probs
    np.testing.assert_allclose(uq.Dirichlet.from_logits(z, link="exp").mean_probs(), softmax, rtol=1e-12)
    assert uq.Dirichlet.from_logits([[600.0, -600.0]]).alpha.tolist() == [[601.0, 1.0]]


def test_outputs_keep_their_names():
    frame = pd.DataFrame([[1.0, -1.0]], columns=["no", "yes"], index=["x"])
    found = uq.Dirichlet.from_logits(frame, groups=["a"], n_draws=7)
    assert (found.class_names, list(found.ids), list(found.groups), found.n_draws) == (("no", "yes"), ["x"], ["a"], 7)
    named = uq.Dirichlet.from_logits([[1.0, -1.0]], link="exp", class_names=("a", "b"), ids=["y"])
    assert (named.class_names, list(named.ids)) == (("a", "b"), ["y"])


def test_unknown_links_and_outputs_that_are_not_finite_are_refused():
    with refuses("link", "choice", got="got 'softmax'"):
        uq.Dirichlet.from_logits([[1.0, 2.0]], link="softmax")
    for value in (np.nan, np.inf):
        with refuses("logits", "finite"):
            uq.Dirichlet.from_logits([[1.0, value]])
    with refuses("logits", "range"):
        uq.Dirichlet.from_logits([[1.0, 1000.0]], link="exp")
