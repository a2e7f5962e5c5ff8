"""The latent process and its natural-gradient steps, against GPyTorch's automatic differentiation and plain linear algebra."""

import copy
import pickle

import numpy as np
import pytest
import torch
from tests.lab.methods.made_up_data import rbf
from tests.refusals import refuses

from uqassay.lab.methods import sparse_latent
from uqassay.lab.methods.polya_gamma import expected_log_likelihood
from uqassay.lab.methods.sparse_latent import SparseLatent
from uqassay.lab.methods.sparse_training import SparseRecord, SparseSchedule, n_steps, train_latent, training_notes

gpytorch = sparse_latent.gpytorch  # imported there without the warning of its own import
BOTH = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def numbers(*shape, seed=0, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def process(m=12, d=2, *, dtype=torch.float64, lengthscale=1.0, signal_variance=3.0, inducing=None):
    points = numbers(m, d, dtype=dtype) if inducing is None else inducing
    return SparseLatent(points, torch.tensor([lengthscale]), signal_variance)


def labels(n, seed=1, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).integers(2, size=n) - 0.5).to(dtype)


@torch.no_grad()
def step(latent, x, target, *, scale=1.0, rate=1.0):
    a = latent.projection(x)
    _, weight = expected_log_likelihood(target, *latent.moments(x, a))
    return latent.natural_step(a, weight, target, scale=scale, rate=rate)


def precision(latent):
    return -2 * latent.natural.natural_mat


class PolyaGammaLikelihood(gpytorch.likelihoods.Likelihood):
    def forward(self, function_samples):
        raise NotImplementedError

    def expected_log_prob(self, observations, function_dist):
        return expected_log_likelihood(observations, function_dist.mean, function_dist.variance)[0]


@pytest.mark.parametrize("rate", [0.1, 0.7, 1.0])
def test_step_is_that_of_gpytorch_natural_gradient_descent(rate):
    latent, x, target = process(), numbers(40, 2, seed=2), labels(40)
    step(latent, x[:20], target[:20], scale=2.0)  # away from the prior
    theirs = copy.deepcopy(latent).train()
    theirs.variational_strategy.jitter_val = 3e-6  # 1e-6 of the signal variance, as ours
    natural = list(theirs.natural.parameters())
    for p in natural:
        p.requires_grad_(True)
    bound = gpytorch.mlls.VariationalELBO(PolyaGammaLikelihood(), theirs, num_data=400)
    (-bound(theirs(x), target)).backward()
    gpytorch.optim.NGD(natural, num_data=400, lr=rate).step()
    assert step(latent, x, target, scale=10.0, rate=rate) == rate
    scale = precision(latent).abs().max().item()
    torch.testing.assert_close(precision(latent), precision(theirs), rtol=0, atol=1e-4 * scale)
    torch.testing.assert_close(latent.natural.natural_vec, theirs.natural.natural_vec, rtol=0, atol=1e-4 * scale)


def test_moments_are_those_of_the_gpytorch_model():
    latent, x = process(), numbers(30, 2, seed=3)
    step(latent, x, labels(30), scale=3.0)
    latent.in_double()
    latent.variational_strategy.jitter_val = 3e-6
    with torch.no_grad():
        theirs = latent(x)
        mean, variance = latent.moments(x)
        torch.testing.assert_close(mean, theirs.mean, rtol=0, atol=1e-8)
        torch.testing.assert_close(variance, theirs.variance - 3e-6, rtol=0, atol=1e-8)
        far = latent.moments(torch.full((1, 2), 1e3, dtype=torch.float64))
    assert abs(far[0].item()) < 1e-12
    np.testing.assert_allclose(far[1].item(), 3.0)


def test_posterior_against_plain_linear_algebra():
    latent, x, target = process(), numbers(50, 2, seed=4), labels(50)
    step(latent, x, target)
    z, new = latent.inducing.detach().numpy(), numbers(7, 2, seed=5).numpy()

    def kernel(a, b):
        return 3.0 * np.exp(-0.5 * ((a[:, None] - b) ** 2).sum(axis=2))

    # from the prior all weights are tanh(c/2) / (2c) with c² = 3
    weight = np.tanh(np.sqrt(3) / 2) / (2 * np.sqrt(3))
    kzz, kzx, kzn = kernel(z, z) + 3e-6 * np.eye(12), kernel(z, x.numpy()), kernel(z, new)
    inner = kzz + weight * kzx @ kzx.T
    mean = kzn.T @ np.linalg.solve(inner, kzx @ target.numpy())
    variance = 3.0 - np.einsum("mn,mn->n", kzn, np.linalg.solve(kzz, kzn) - np.linalg.solve(inner, kzn))
    found = latent.moments(torch.from_numpy(new))
    np.testing.assert_allclose(found[0].detach().numpy(), mean, atol=1e-6)
    np.testing.assert_allclose(found[1].detach().numpy(), variance, atol=1e-6)


@BOTH
@pytest.mark.parametrize("kind", ["plain", "flat kernel", "duplicates", "great variance", "one feature", "narrow"])
def test_steps_keep_the_precision_positive_definite(dtype, kind):
    m, d = 40, 1 if kind == "one feature" else 3
    points = numbers(m, d, dtype=dtype)
    if kind == "duplicates":
        points = points[:5].repeat(8, 1)
    scales = {"flat kernel": 1e4, "narrow": 1e-3}
    variance = 1e6 if kind == "great variance" else 3.0
    latent = process(dtype=dtype, inducing=points, lengthscale=scales.get(kind, 1.0), signal_variance=variance)
    for seed in range(20):
        x, target = numbers(25, d, seed=seed, dtype=dtype), labels(25, seed, dtype)
        if seed % 2:
            x, target = x[:1].expand(25, d), target[:1].expand(25)
        rate = (1.0, 0.1, 0.9)[seed % 3]
        assert step(latent, x, target, scale=1e4, rate=rate) == rate  # never halved
        least, greatest = torch.linalg.eigvalsh(precision(latent))[[0, -1]].tolist()
        assert least > 1 - 1e-14 * m * greatest
        assert all(torch.isfinite(one).all() for one in latent.moments(x))
        assert (latent.moments(x)[1] >= 0).all()


@BOTH
@pytest.mark.parametrize("rate", [1.5, 8.0, 1e6])
def test_steps_that_are_too_long_are_halved(dtype, rate):
    latent = process(dtype=dtype)
    x, target = numbers(60, 2, seed=6, dtype=dtype), labels(60, dtype=dtype)
    taken = [step(latent, x, target, scale=100.0, rate=rate)]
    for seed in range(10):  # another batch asks for less precision in some directions
        taken.append(step(latent, numbers(3, 2, seed=seed, dtype=dtype), target[:3], scale=1.0, rate=rate))
        assert torch.linalg.eigvalsh(precision(latent))[0] > 0
    assert taken[0] == rate  # a long step to greater precision harms nothing
    assert all(0 < one <= rate for one in taken)
    assert min(taken) < rate


def test_a_step_without_a_positive_definite_end_leaves_everything_as_it_is():
    latent = process()
    before = copy.deepcopy(latent.state_dict())
    nan = torch.full((12, 12), torch.nan, dtype=torch.float64)
    assert latent.move(nan[0], nan, 1.0) == 0.0
    for name, value in latent.state_dict().items():
        assert value.equal(before[name]), name


def test_rounding_errors_are_below_those_of_automatic_differentiation():
    points = numbers(40, 1, dtype=torch.float32)
    latent = process(dtype=torch.float32, inducing=points, signal_variance=100.0)
    x, target = numbers(200, 1, seed=7, dtype=torch.float32), labels(200, dtype=torch.float32)
    theirs = copy.deepcopy(latent).train()
    theirs.natural.float()
    natural = list(theirs.natural.parameters())
    for p in natural:
        p.requires_grad_(True)
    bound = gpytorch.mlls.VariationalELBO(PolyaGammaLikelihood(), theirs, num_data=10**6)
    descent = gpytorch.optim.NGD(natural, num_data=10**6, lr=1.0)
    error = []
    for _ in range(5):
        descent.zero_grad()
        (-bound(theirs(x), target)).backward()
        descent.step()
        step(latent, x, target, scale=10**6 / 200)
        # 200 instances in one dimension leave the least eigenvalue to the prior, where it is 1
        least = [
            torch.linalg.eigvalsh(one.double())[0].item()
            for one in (-2 * theirs.natural.natural_mat, precision(latent))
        ]
        error.append(np.abs(np.array(least) - 1))
    error = np.max(error, axis=0)
    assert error[1] < 1e-3
    assert error[0] > 30 * error[1]


def test_divergence_and_pieces_of_a_pass(monkeypatch):
    latent, x, target = process(), numbers(50, 2, seed=8), labels(50)
    np.testing.assert_allclose(latent.divergence().item(), 0.0, atol=1e-12)
    step(latent, x, target, scale=2.0)
    mean = torch.linalg.solve(precision(latent), latent.natural.natural_vec)
    q = torch.distributions.MultivariateNormal(mean, precision_matrix=precision(latent))
    prior = torch.distributions.MultivariateNormal(torch.zeros_like(mean), torch.eye(12, dtype=torch.float64))
    torch.testing.assert_close(latent.divergence(), torch.distributions.kl_divergence(q, prior))
    whole = latent.full_pass(x, target)
    monkeypatch.setattr("uqassay.lab.methods.sparse_latent.CHUNK_BYTES", 8 * 12 * 7)
    pieces = latent.full_pass(x, target)
    np.testing.assert_allclose(pieces[0], whole[0], rtol=1e-12)
    for one, other in zip(pieces[1:], whole[1:], strict=True):
        torch.testing.assert_close(one, other)


@BOTH
def test_copies_and_moves_keep_the_moments(dtype):
    latent, x = process(dtype=dtype), numbers(20, 2, seed=9)
    step(latent, x.to(dtype), labels(20, dtype=dtype))
    latent.in_double()
    expected = latent.moments(x)
    for other in (copy.deepcopy(latent), pickle.loads(pickle.dumps(latent)), latent.on("cpu")):
        for one, two in zip(other.moments(x), expected, strict=True):
            assert one.equal(two)
            assert one.dtype == torch.float64


def test_hyperparameters_stay_in_range():
    latent = process()
    for p in latent.kernel_parameters():
        p.data += 500.0
    latent.keep_in_range()
    np.testing.assert_allclose(latent.covar_module.base_kernel.lengthscale.item(), np.exp(10.0))
    np.testing.assert_allclose(latent.covar_module.outputscale.item(), 3 * np.exp(10.0))


# -- Training of the sparse process: the fixpoint against plain linear algebra, the bound, batches and rates.


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
    monkeypatch.setattr("uqassay.lab.methods.sparse_training.WORSE", np.inf)
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
