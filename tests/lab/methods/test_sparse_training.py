"""Training of the sparse process: the fixpoint against plain linear algebra, the bound, batches and rates."""

import numpy as np
import pytest
import torch
from tests.lab.methods.made_up_data import rbf
from tests.refusals import refuses

from uqassay.lab.methods.sparse_latent import SparseLatent
from uqassay.lab.methods.sparse_training import SparseRecord, SparseSchedule, n_steps, train_latent, training_notes

PLAIN = {
    "epochs": 1,
    "batch_size": 10**6,
    "learning_rate": 0.02,
    "natural_rate": 0.2,
    "final_passes": 300,
    "learn_kernel": False,
    "learn_inducing": False,
}


def world(n=60, seed=0, d=1):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, d))
    return x, (np.sin(3 * x[:, 0]) + 0.4 * rng.normal(size=n) > 0) - 0.5


def trained(x, target, inducing=None, *, lengthscale=0.7, signal_variance=4.0, dtype=torch.float64, seed=0, **changed):
    points = torch.from_numpy(x if inducing is None else inducing).to(dtype)
    latent = SparseLatent(points, torch.tensor([lengthscale]), signal_variance)
    shown = []
    record = train_latent(
        latent,
        torch.from_numpy(x).to(dtype),
        torch.from_numpy(target).to(dtype),
        SparseSchedule(**(PLAIN | changed)),
        seed=np.random.SeedSequence(seed),
        show=lambda: shown.append(1),
    )
    assert len(shown) >= record.n_steps
    return latent.in_double(), record


def moments(latent, x):
    return np.array([one.numpy() for one in latent.moments(torch.from_numpy(x))])


def fixpoint(x, target, new, lengthscale=0.7, variance=4.0):
    """The full variational posterior at new points and its bound, by θ = tanh(c/2) / (2c) and N((K⁻¹ + Θ)⁻¹ κ, (K⁻¹ + Θ)⁻¹)."""
    k, n = rbf(x, x, lengthscale, variance) + 1e-6 * variance * np.eye(len(x)), len(x)
    theta = np.full(n, 0.25)
    for _ in range(3000):
        covariance = k - k @ np.linalg.solve(k + np.diag(1 / theta), k)
        mean = covariance @ target
        c = np.sqrt(mean**2 + np.diag(covariance))
        theta = np.tanh(c / 2) / (2 * c)
    solved = np.linalg.solve(k, np.c_[mean, covariance])
    divergence = (
        np.trace(solved[:, 1:])
        + mean @ solved[:, 0]
        - n
        + np.linalg.slogdet(k)[1]
        - np.linalg.slogdet(covariance + 1e-15 * np.eye(n))[1]
    ) / 2
    bound = target @ mean - np.log(2 * np.cosh(c / 2)).sum() - divergence
    between = rbf(new, x, lengthscale, variance)
    inverse = np.linalg.inv(k + np.diag(1 / theta))
    at = between @ inverse @ (target / theta), variance - np.einsum("ij,jk,ik->i", between, inverse, between)
    return np.array(at), bound


def test_inducing_points_at_the_data_give_the_full_variational_posterior():
    x, target = world(40)
    new = np.linspace(-3, 3, 50)[:, None]
    latent, record = trained(x, target)
    expected, bound = fixpoint(x, target, new)
    assert record.settled
    np.testing.assert_allclose(moments(latent, new), expected, atol=1e-3)
    np.testing.assert_allclose(record.bounds[-1], bound, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_batches_and_single_precision_end_at_the_same_posterior(dtype):
    x, target = world(60)
    new = np.linspace(-3, 3, 50)[:, None]
    whole, _ = trained(x, target)
    parts, record = trained(x, target, dtype=dtype, epochs=10, batch_size=16, seed=1)
    assert record.n_steps == 40
    assert np.abs(moments(parts, new) - moments(whole, new)).max() < 1e-4


def test_passes_raise_the_bound_and_fewer_inducing_points_lower_it():
    x, target = world(200)
    whole = trained(x, target)[1].bounds
    few = trained(x, target, x[:6])[1].bounds
    for bounds in (whole, few):
        assert (np.diff(bounds) > -1e-8).all()
        assert len(bounds) > 3
    assert few[-1] < whole[-1] - 1.0
    assert whole[-1] < len(x) * 0  # ln of a probability


def test_learning_raises_the_bound():
    x, target = world(200)
    fixed = trained(x, target, x[:8], lengthscale=3.0, final_passes=20)
    options = {"lengthscale": 3.0, "final_passes": 20, "epochs": 60, "learning_rate": 0.05}
    kernel = trained(x, target, x[:8], **options, learn_kernel=True)
    inducing = trained(x, target, x[:8], **options, learn_kernel=True, learn_inducing=True)
    assert fixed[1].bounds[-1] + 5 < kernel[1].bounds[-1] < inducing[1].bounds[-1] + 0.5
    assert kernel[0].covar_module.base_kernel.lengthscale.item() < 2.0
    np.testing.assert_array_equal(kernel[0].inducing.numpy(), x[:8])
    assert np.abs(inducing[0].inducing.numpy() - x[:8]).max() > 0.01


def test_units_of_the_features_change_nothing():
    x, target = world(100, d=2)
    options = {"learn_kernel": True, "learn_inducing": True, "epochs": 15}
    one, _ = trained(x, target, x[:10], **options)
    other, _ = trained(1e4 * x, target, 1e4 * x[:10], lengthscale=7e3, **options)
    np.testing.assert_allclose(moments(other, 1e4 * x), moments(one, x), atol=1e-6)


def test_counts_of_steps_and_seeds():
    x, target = world(50)
    _, record = trained(x, target, epochs=3, batch_size=20, final_passes=2)
    assert (record.n_steps, record.n_shortened, len(record.bounds)) == (9, 0, 3)
    assert isinstance(record, SparseRecord)
    assert n_steps(50, SparseSchedule(**(PLAIN | {"epochs": 3, "batch_size": 20, "final_passes": 2}))) == 11
    same, other = (trained(x, target, batch_size=20, final_passes=1, seed=seed)[0] for seed in (0, 1))
    again, _ = trained(x, target, batch_size=20, final_passes=1)
    np.testing.assert_array_equal(moments(same, x), moments(again, x))
    assert np.abs(moments(same, x) - moments(other, x)).max() > 1e-6


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rates_that_overflow_are_refused_and_others_keep_the_precision(dtype, monkeypatch):
    x, target = world(50, d=2)
    learning = {"learn_kernel": True, "learn_inducing": True, "epochs": 5, "dtype": dtype}
    with refuses("learning_rate", "finite", got="got 1e\\+308"):
        trained(x, target, x[:8], **learning, learning_rate=1e308)
    monkeypatch.setattr("uqassay.lab.methods.sparse_latent.WORSE", np.inf)
    latent, _ = trained(x, target, x[:8], **learning, learning_rate=50.0, natural_rate=1.0, batch_size=10)
    assert np.isfinite(moments(latent, x)).all()
    assert torch.linalg.eigvalsh(-2 * latent.natural.natural_mat)[0] > 0.99


@pytest.mark.parametrize("rate", [3.0, 10.0, 30.0])
def test_rates_that_forget_the_data_are_refused(rate):
    x, target = world(200)
    learning = {"learn_kernel": True, "learn_inducing": True, "epochs": 20, "batch_size": 50}
    with refuses("learning_rate", "range", got=f"got {rate:g}, and −.* nats after −"):
        trained(x, target, x[:20], **learning, learning_rate=rate)


def test_pure_noise_is_not_taken_for_a_rate_that_is_too_great():
    for seed in range(6):
        x = np.random.default_rng(seed).normal(size=(100, 2))
        target = np.random.default_rng(seed + 50).integers(2, size=100) - 0.5
        learning = {"learn_kernel": True, "learn_inducing": True, "epochs": 10, "batch_size": 20, "final_passes": 1}
        _, record = trained(x, target, x[:20], **learning, learning_rate=0.02)
        assert record.bounds[-1] > record.first_bound


def test_first_bound_is_that_of_one_step_from_the_prior():
    x, target = world(60)
    _, record = trained(x, target, x[:9], learn_kernel=True, learning_rate=1e-12)
    _, fixed = trained(x, target, x[:9], epochs=0, final_passes=1)
    np.testing.assert_allclose(record.first_bound, fixed.bounds[1], rtol=1e-9)
    assert np.isnan(fixed.first_bound)
    assert (fixed.n_steps, fixed.last_change) == (0, 0.0)


def test_notes_say_what_has_not_settled():
    x, target = world(200)
    few = trained(x, target, x[:20], learn_kernel=True, learning_rate=0.2, final_passes=2)[1]
    settled = trained(x, target, x[:20], final_passes=300)[1]
    passes, epochs = training_notes([settled, few])
    assert {note.code for note in (passes, epochs)} == {"not-settled"}
    assert passes.facts["passes"] == 2
    assert passes.facts["moved"] > 0.1
    np.testing.assert_allclose(epochs.facts["changed"], 0.2, atol=0.02)  # a step of Adam
    assert "up to 22 %" in epochs.text
    assert training_notes([settled]) == ()
