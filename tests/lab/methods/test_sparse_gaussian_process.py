"""The sparse Gaussian process against the exact posterior, GPyTorch, the prior and plain linear algebra."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy.special import expit
from scipy.stats import norm, qmc
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from tests.lab.methods.made_up_data import rbf, world
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import MissingDependencyError
from uqassay.lab.datasets import cluster_grid
from uqassay.lab.methods import LocalGaussianProcess, SparseGaussianProcess, sparse_latent
from uqassay.lab.methods.polya_gamma import expected_log_likelihood
from uqassay.lab.methods.sparse_latent import SparseLatent
from uqassay.lab.methods.sparse_training import (
    DenseAscent,
    LocalAscent,
    SparseRecord,
    SparseSchedule,
    ascent,
    n_steps,
    neighbourhoods,
    train_latent,
    training_notes,
)

# the kernel as given, inducing points at the instances, until the fixpoint
FIXED = {"standardise": False, "learn_kernel": False, "learn_inducing": False, "epochs": 1, "final_passes": 300}


def exact_probs(x, y, new, lengthscale, variance):
    """P(y* = 1) by 2^14 quasi-random draws from the prior at the instances, weighted by their likelihood."""
    k = rbf(x, x, lengthscale, variance) + 1e-9 * np.eye(len(x))
    uniform = qmc.Sobol(len(x), seed=0).random_base2(14)
    g = norm.ppf(np.clip(uniform, 1e-12, 1 - 1e-12)) @ np.linalg.cholesky(k).T
    weight = expit((2 * y - 1) * g).prod(axis=1)
    assert weight.sum() ** 2 / (weight**2).sum() > 1000  # effective number of draws
    between = np.linalg.solve(k, rbf(x, new, lengthscale, variance))
    deviation = np.sqrt(np.maximum(variance - (rbf(x, new, lengthscale, variance) * between).sum(axis=0), 0))
    nodes, shares = np.polynomial.hermite_e.hermegauss(21)
    mean = g @ between
    at_nodes = [weight @ expit(mean + deviation * node) / weight.sum() for node in nodes]
    return shares @ np.array(at_nodes) / shares.sum()


@pytest.mark.parametrize(
    ("lengthscale", "variance", "most"),
    [
        (0.7, 4.0, 0.02),
        (1.0, 25.0, 0.03),
        (0.5, 1.0, 0.006),
    ],  # measured: 0.012, 0.019, 0.003; Laplace 0.035, 0.105, 0.007
)
def test_nearer_to_the_exact_probabilities_than_laplace(lengthscale, variance, most):
    g = np.random.default_rng(0)
    x = g.uniform(-2, 2, size=(8, 1))
    y = (x[:, 0] + 0.5 * g.normal(size=8) > 0).astype(int)
    new = np.linspace(-3, 3, 41)[:, None]
    exact = exact_probs(x, y, new, lengthscale, variance)
    kernel = ConstantKernel(variance) * RBF(lengthscale)
    laplace = GaussianProcessClassifier(kernel, optimizer=None).fit(x, y).predict_proba(new)[:, 1]
    found = SparseGaussianProcess(lengthscale=lengthscale, signal_variance=variance, **FIXED).fit(x, y)
    ours = found.predict_proba(new)[:, 1]
    assert np.abs(ours - exact).max() < most
    assert np.abs(ours - exact).max() < 0.7 * np.abs(laplace - exact).max()
    assert np.abs(ours - exact).mean() < 0.7 * np.abs(laplace - exact).mean()


def test_agreement_with_laplace_and_with_the_local_process():
    x, y = world(200)
    new = world(300, 1)[0] * 1.5
    laplace = GaussianProcessClassifier(ConstantKernel(4.0) * RBF(0.7), optimizer=None).fit(x, y).predict_proba(new)
    options = {"lengthscale": 0.7, "signal_variance": 4.0}
    ours = SparseGaussianProcess(**options, **FIXED).fit(x, y)
    probs = ours.predict_proba(new)
    difference = np.abs(probs - laplace)[:, 1]
    assert 0.02 < difference.max() < 0.045  # measured: 0.032
    assert difference.mean() < 0.02  # measured: 0.012
    whole = LocalGaussianProcess(**options, cell_size=10**6, n_neighbours=10**6).fit(x, y)
    np.testing.assert_allclose(probs, whole.predict_proba(new), atol=1e-3)
    for one, other in zip(ours.latent(new), whole.latent(new), strict=True):
        np.testing.assert_allclose(one, other, atol=0.01)
    few = SparseGaussianProcess(n_inducing=60, **options, **(FIXED | {"learn_inducing": True, "epochs": 30})).fit(x, y)
    assert np.abs(few.predict_proba(new) - probs).max() < 0.05


def test_coverage_of_latent_values_drawn_from_the_prior():
    inside = []
    for seed in range(8):
        g = np.random.default_rng(seed)
        x = g.uniform(-2, 2, size=(300, 2))
        latent = np.linalg.cholesky(rbf(x, x, 0.5, 4.0) + 1e-8 * np.eye(300)) @ g.normal(size=300)
        y = (g.random(300) < expit(latent)).astype(int)
        found = SparseGaussianProcess(lengthscale=0.5, signal_variance=4.0, **(FIXED | {"final_passes": 20}))
        mean, variance = found.fit(x[:200], y[:200]).latent(x[200:])
        inside.append(np.abs(latent[200:, None] - mean) < 1.645 * np.sqrt(variance))
    assert 0.81 < np.mean(inside) < 0.89  # 90 % intervals cover 85 % over many draws, see the guide


def test_learns_the_toy_data_as_well_as_the_local_process():
    toy = cluster_grid(2000, spread=0.35, columns=5, rows=5, rng=0)
    x, y, new, truth = toy.X[:1200], toy.y[:1200], toy.X[1200:], toy.y[1200:]
    found = SparseGaussianProcess(n_inducing=60, epochs=25).fit(x, y)
    assert found.latents_[0].inducing.shape == (60, 2)
    local = LocalGaussianProcess(lengthscale="bound", signal_variance="bound").fit(x, y)
    assert found.score(new, truth) > local.score(new, truth) - 0.02
    losses = [uq.losses.log_loss(truth, one.predict_uncertainty(new)).mean() for one in (found, local)]
    assert losses[0] < losses[1] + 0.02
    assert found.training_[0].n_shortened == 0


def test_statement_of_two_classes_and_distance():
    x, y = world()
    found = SparseGaussianProcess(n_inducing=40, epochs=20).fit(x, np.array(["no", "yes"])[y])
    said = found.predict_uncertainty(x)
    mean, variance = found.latent(x)
    assert (said.variance_is, said.class_names) == ("epistemic", ("no", "yes"))
    np.testing.assert_array_equal(said.mean[:, 0], np.c_[np.zeros(150), mean])
    np.testing.assert_array_equal(said.variance[:, 0], np.c_[np.zeros(150), variance])
    far = found.latent(x + 1e3)
    np.testing.assert_allclose(far[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(far[1], found.latents_[0].covar_module.outputscale.item(), rtol=1e-12)
    assert (variance < far[1]).all()
    np.testing.assert_allclose(found.predict_proba(x + 1e3), 0.5)


def test_more_classes_by_both_treatments():
    g = np.random.default_rng(0)
    y = np.arange(240) % 4
    x = np.array([[0, 0], [3, 0], [0, 3], [3, 3]])[y] + 0.8 * g.normal(size=(240, 2))
    rest = SparseGaussianProcess(n_inducing=30, epochs=20, n_draws=64).fit(x, y)
    logits = SparseGaussianProcess(n_inducing=30, epochs=20, multiclass="softmax").fit(x, y)
    said, other = rest.predict_uncertainty(x), logits.predict_uncertainty(x)
    assert (type(said), type(other)) == (uq.Members, uq.GaussianLogits)
    assert said.probs.shape == (240, 64, 4)
    assert rest.score(x, y) > 0.9
    assert (said.labels() == other.labels()).mean() > 0.97
    np.testing.assert_array_equal(rest.latent(x)[0], logits.latent(x)[0])
    one = SparseGaussianProcess(n_inducing=30, epochs=20).fit(x, y == 0)  # a class alone, with the same inducing points
    assert np.abs(one.latent(x)[0][:, 0] - rest.latent(x)[0][:, 0]).max() < 0.1
    absent = SparseGaussianProcess(n_inducing=30, epochs=20, classes=[0, 1, 2, 3, 4]).fit(x, y)
    assert absent.predict_proba(x)[:, 4].mean() < 0.05
    assert absent.latent(x)[0][:, 4].max() < -1.0


def test_more_inducing_points_than_distinct_instances():
    x, y = world(20)
    twice, labels = np.repeat(x, 3, axis=0), np.repeat(y, 3)
    for how in ("k-means", "subset"):
        found = SparseGaussianProcess(inducing=how, n_inducing=500, **(FIXED | {"final_passes": 3})).fit(twice, labels)
        points = found.latents_[0].inducing.numpy() + found.mean_
        np.testing.assert_allclose(np.unique(points, axis=0), np.unique(x, axis=0))
    fewer = SparseGaussianProcess(inducing="subset", n_inducing=7, **FIXED).fit(twice, labels)
    points = fewer.latents_[0].inducing.numpy() + fewer.mean_
    assert len(np.unique(points, axis=0)) == 7
    assert np.abs(points[:, None] - x).sum(axis=2).min(axis=1).max() < 1e-12
    more = SparseGaussianProcess(lengthscale=1.0, **FIXED)
    assert (more.fit(twice, labels).latent(x)[1] < more.fit(x, y).latent(x)[1]).all()


def test_odd_data():
    x, y = world(60)
    new = world(10, 1)[0]
    options = {"lengthscale": 0.5, **(FIXED | {"standardise": True})}
    plain = SparseGaussianProcess(**options).fit(x, y).predict_proba(new)
    wide = (
        SparseGaussianProcess(**options).fit(np.c_[x, np.full(60, 3e5)], y).predict_proba(np.c_[new, np.full(10, 3e5)])
    )
    np.testing.assert_allclose(wide, plain, atol=1e-6)
    same = SparseGaussianProcess(epochs=30).fit(np.zeros((8, 1)), [0, 1, 1, 1, 1, 1, 1, 1])
    assert same.latents_[0].inducing.shape == (1, 1)
    assert 0.6 < same.predict_proba([[0.0]])[0, 1] < 0.95
    two = SparseGaussianProcess(**FIXED).fit([[0.0], [1.0]], ["no", "yes"])
    np.testing.assert_allclose(two.predict_proba([[0.0]]), two.predict_proba([[1.0]])[:, ::-1], atol=1e-6)
    assert two.predict([[-0.2], [1.1]]).tolist() == ["no", "yes"]
    rare = SparseGaussianProcess(**options).fit(x, np.arange(60) == 7)
    assert rare.predict_proba(x[[7]])[0, 1] > rare.predict_proba(x[[8]])[0, 1]
    images = SparseGaussianProcess(**options).fit(x.reshape(60, 2, 1), y)
    np.testing.assert_allclose(images.predict_proba(new.reshape(10, 2, 1)), plain, atol=1e-12)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_ill_conditioned_kernels_and_greatest_rates(precision, monkeypatch):
    monkeypatch.setattr("uqassay.lab.methods.sparse_training.WORSE", np.inf)  # such rates may forget the data
    x, y = world(160)
    x[80:] = x[:80] + 1e-9  # nearly duplicate rows
    for kernel in ({"lengthscale": 1e3}, {"signal_variance": 1e5}, {"lengthscale": 1e-3}):
        found = SparseGaussianProcess(
            n_inducing=100, epochs=5, batch_size=32, natural_rate=1.0, learning_rate=1.0, precision=precision, **kernel
        ).fit(x, y)
        assert found.training_[0].n_shortened == 0
        assert np.isfinite(found.latent(x)).all()
        least = np.linalg.eigvalsh(-2 * found.latents_[0].natural.natural_mat.numpy())[0]
        assert least > 0.999


def test_single_precision_is_near_double():
    x, y = world(400)
    new = world(100, 1)[0]
    double, single = (
        SparseGaussianProcess(n_inducing=50, epochs=10, batch_size=100, precision=p).fit(x, y).predict_proba(new)
        for p in ("double", "single")
    )
    assert 0 < np.abs(double - single).max() < 0.05


def test_ard_finds_the_feature_that_matters():
    x, y = world(300, d=1)
    noise = np.random.default_rng(1).uniform(-2, 2, size=(300, 3))
    found = SparseGaussianProcess(ard=True, n_inducing=60, epochs=50, learning_rate=0.1).fit(np.c_[x, noise], y)
    scales = found.latents_[0].covar_module.base_kernel.lengthscale[0].numpy()
    assert scales.shape == (4,)
    assert scales[1:].min() > 3 * scales[0]
    start = SparseGaussianProcess(ard=True, lengthscale=[0.5, 9.0, 9.0, 9.0], **FIXED).fit(np.c_[x, noise], y)
    np.testing.assert_allclose(start.latents_[0].covar_module.base_kernel.lengthscale, [[0.5, 9.0, 9.0, 9.0]])


@pytest.mark.parametrize("power", [-1000, -300, 300, 1000])
def test_standardised_features_may_have_any_unit(power):
    x, y = world(60)
    options = FIXED | {"standardise": True}
    plain = SparseGaussianProcess(**options).fit(x, y).predict_proba(x)
    columns = np.c_[np.ldexp(x[:, 0], power), x[:, 1]]
    found = SparseGaussianProcess(**options).fit(columns, y).predict_proba(columns)
    np.testing.assert_allclose(found, plain, atol=1e-9)


def test_passes_alone_and_notes_on_the_prediction():
    x, y = world(60)
    fixed = SparseGaussianProcess(**(FIXED | {"epochs": 0, "final_passes": 1})).fit(x, y)
    assert fixed.training_[0].n_steps == 0
    assert [note.code for note in fixed.predict_uncertainty(x).notes] == ["not-settled"]
    settled = SparseGaussianProcess(**(FIXED | {"epochs": 0})).fit(x, y)
    assert settled.predict_uncertainty(x).notes == ()
    three = SparseGaussianProcess(**(FIXED | {"epochs": 0, "final_passes": 1})).fit(x, np.arange(60) % 3)
    notes = three.predict_uncertainty(x).notes
    assert len(notes) == len({note.text for note in notes}) > 0


def test_order_of_batches_and_pytorch_state():
    import torch

    x, y = world(80)
    torch.manual_seed(7)
    first = SparseGaussianProcess(n_inducing=20, epochs=3, batch_size=16, random_state=3).fit(x, y)
    state = torch.random.get_rng_state()
    again = SparseGaussianProcess(n_inducing=20, epochs=3, batch_size=16, random_state=3).fit(x, y)
    assert torch.random.get_rng_state().equal(state)
    np.testing.assert_array_equal(first.latent(x), again.latent(x))
    other = SparseGaussianProcess(n_inducing=20, epochs=3, batch_size=16, random_state=4).fit(x, y)
    assert np.abs(np.subtract(first.latent(x), other.latent(x))).max() > 1e-6


def test_predictions_in_pieces(monkeypatch):
    x, y = world(80)
    found = SparseGaussianProcess(n_inducing=20, epochs=2).fit(x, y)
    whole = found.latent(x)
    monkeypatch.setattr("uqassay.lab.methods.sparse_gaussian_process.CHUNK_BYTES", 8 * 20 * 9)
    np.testing.assert_allclose(found.latent(x), whole, atol=1e-10)


def test_without_gpytorch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gpytorch", None)
    monkeypatch.delitem(sys.modules, "uqassay.lab.methods.sparse_latent", raising=False)
    with refuses(
        "gpytorch", "package", got=r"SparseGaussianProcess.*pip install .uqassay\[lab\]", error=MissingDependencyError
    ):
        SparseGaussianProcess().fit([[0.0], [1.0]], [0, 1])


def test_gpytorch_is_loaded_by_the_first_fit_and_without_a_warning():
    probe = (
        "import sys; from uqassay.lab.methods import SparseGaussianProcess as GP; GP().check_options((2,), 2); "
        "print('gpytorch' in sys.modules, GP(epochs=2).fit([[0.0], [0.0], [1.0]], [0, 1, 1]).predict([[1.0]])[0])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", probe], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("False 1", "")


def test_refusals_that_depend_on_the_data():
    with refuses("lengthscale", "shape", got="2 features.*got 3"):
        SparseGaussianProcess(ard=True, lengthscale=[1.0, 1.0, 1.0]).fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    with refuses("X", "range", got="row 1"):
        SparseGaussianProcess(standardise=False).fit([[0.0], [1e200]], [0, 1])
    with refuses("X", "range", got="row 0"):
        SparseGaussianProcess(**FIXED).fit([[0.0], [1.0]], [0, 1]).predict([[1e200]])
    with refuses("X", "finite", got="NaN"):
        SparseGaussianProcess().fit([[0.0], [np.nan]], [0, 1])
    with refuses("y", "empty", got="one class"):
        SparseGaussianProcess().fit([[0.0], [1.0]], [1, 1])


@pytest.mark.parametrize("rounded_before", [False, True])
def test_rounding_of_tiny_numbers_is_restored(rounded_before):
    import torch

    def rounded():
        return bool((torch.full((1,), 1e-40) * 1.0 == 0).all())

    x, y = world(40)
    if not torch.set_flush_denormal(rounded_before) and rounded_before:
        pytest.skip("this processor cannot round tiny numbers to 0")
    try:
        SparseGaussianProcess(epochs=2, precision="single").fit(x, y)
        assert rounded() == rounded_before
    finally:
        torch.set_flush_denormal(False)


# -- latent process against GPyTorch and linear algebra ----------------------------------------------------------------


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


def world_sparse_latent(n=60, seed=0, d=1):
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
    x, target = world_sparse_latent(40)
    new = np.linspace(-3, 3, 50)[:, None]
    latent, record = trained(x, target)
    expected, bound = fixpoint(x, target, new)
    assert record.settled
    np.testing.assert_allclose(moments(latent, new), expected, atol=1e-3)
    np.testing.assert_allclose(record.bounds[-1], bound, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_batches_and_single_precision_end_at_the_same_posterior(dtype):
    x, target = world_sparse_latent(60)
    new = np.linspace(-3, 3, 50)[:, None]
    whole, _ = trained(x, target)
    parts, record = trained(x, target, dtype=dtype, epochs=10, batch_size=16, seed=1)
    assert record.n_steps == 40
    assert np.abs(moments(parts, new) - moments(whole, new)).max() < 1e-4


def test_passes_raise_the_bound_and_fewer_inducing_points_lower_it():
    x, target = world_sparse_latent(200)
    whole = trained(x, target)[1].bounds
    few = trained(x, target, x[:6])[1].bounds
    for bounds in (whole, few):
        assert (np.diff(bounds) > -1e-8).all()
        assert len(bounds) > 3
    assert few[-1] < whole[-1] - 1.0
    assert whole[-1] < len(x) * 0  # ln of a probability


def test_learning_raises_the_bound():
    x, target = world_sparse_latent(200)
    fixed = trained(x, target, x[:8], lengthscale=3.0, final_passes=20)
    options = {"lengthscale": 3.0, "final_passes": 20, "epochs": 60, "learning_rate": 0.05}
    kernel = trained(x, target, x[:8], **options, learn_kernel=True)
    inducing = trained(x, target, x[:8], **options, learn_kernel=True, learn_inducing=True)
    assert fixed[1].bounds[-1] + 5 < kernel[1].bounds[-1] < inducing[1].bounds[-1] + 0.5
    assert kernel[0].covar_module.base_kernel.lengthscale.item() < 2.0
    np.testing.assert_array_equal(kernel[0].inducing.numpy(), x[:8])
    assert np.abs(inducing[0].inducing.numpy() - x[:8]).max() > 0.01


def test_units_of_the_features_change_nothing():
    x, target = world_sparse_latent(100, d=2)
    options = {"learn_kernel": True, "learn_inducing": True, "epochs": 15}
    one, _ = trained(x, target, x[:10], **options)
    other, _ = trained(1e4 * x, target, 1e4 * x[:10], lengthscale=7e3, **options)
    np.testing.assert_allclose(moments(other, 1e4 * x), moments(one, x), atol=1e-6)


def test_counts_of_steps_and_seeds():
    x, target = world_sparse_latent(50)
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
    x, target = world_sparse_latent(50, d=2)
    learning = {"learn_kernel": True, "learn_inducing": True, "epochs": 5, "dtype": dtype}
    with refuses("learning_rate", "finite", got="got 1e\\+308"):
        trained(x, target, x[:8], **learning, learning_rate=1e308)
    monkeypatch.setattr("uqassay.lab.methods.sparse_training.WORSE", np.inf)
    latent, _ = trained(x, target, x[:8], **learning, learning_rate=50.0, natural_rate=1.0, batch_size=10)
    assert np.isfinite(moments(latent, x)).all()
    assert torch.linalg.eigvalsh(-2 * latent.natural.natural_mat)[0] > 0.99


@pytest.mark.parametrize("rate", [3.0, 10.0, 30.0])
def test_rates_that_forget_the_data_are_refused(rate):
    x, target = world_sparse_latent(200)
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
    x, target = world_sparse_latent(60)
    _, record = trained(x, target, x[:9], learn_kernel=True, learning_rate=1e-12)
    _, fixed = trained(x, target, x[:9], epochs=0, final_passes=1)
    np.testing.assert_allclose(record.first_bound, fixed.bounds[1], rtol=1e-9)
    assert np.isnan(fixed.first_bound)
    assert (fixed.n_steps, fixed.last_change) == (0, 0.0)


def test_notes_say_what_has_not_settled():
    x, target = world_sparse_latent(200)
    few = trained(x, target, x[:20], learn_kernel=True, learning_rate=0.2, final_passes=2)[1]
    settled = trained(x, target, x[:20], final_passes=300)[1]
    passes, epochs = training_notes([settled, few])
    assert {note.code for note in (passes, epochs)} == {"not-settled"}
    assert passes.facts["passes"] == 2
    assert passes.facts["moved"] > 0.1
    np.testing.assert_allclose(epochs.facts["changed"], 0.2, atol=0.02)  # a step of Adam
    assert "up to 22 %" in epochs.text
    assert training_notes([settled]) == ()


# -- passes by neighbourhoods ------------------------------------------------------------------------------------------


def process_sparse_passes(lengthscale=0.05, signal_variance=4.0, m=150, seed=0):
    points = torch.from_numpy(np.random.default_rng(seed).uniform(size=(m, 2)))
    return SparseLatent(points, torch.tensor([lengthscale]), signal_variance).in_double()


def world_sparse_passes(n=600, seed=1):
    g = np.random.default_rng(seed)
    x = g.uniform(-0.1, 1.1, size=(n, 2))
    return torch.from_numpy(x), torch.from_numpy(np.where(np.sin(12 * x[:, 0]) + g.normal(size=n) > 0, 0.5, -0.5))


@pytest.fixture
def in_small_cells(monkeypatch):
    monkeypatch.setattr("uqassay.lab.methods.sparse_training.CELL", 20)
    monkeypatch.setattr("uqassay.lab.methods.sparse_training.WORTHWHILE", 0.9)


@pytest.mark.usefixtures("in_small_cells")
@pytest.mark.parametrize("lengthscale", [0.01, 0.03, 0.05])
@pytest.mark.parametrize("signal_variance", [1.0, 1e4])
def test_neighbourhoods_and_all_inducing_points_take_the_same_steps(lengthscale, signal_variance):
    one, other = (process_sparse_passes(lengthscale, signal_variance) for _ in range(2))
    x, target = world_sparse_passes()
    parts = neighbourhoods(one, x)
    local, dense = LocalAscent(one, x, target, parts), DenseAscent(other, x, target)
    for _ in range(5):
        (bound, mean), (expected, expected_mean) = local.measure(), dense.measure()
        np.testing.assert_allclose(bound, expected, rtol=1e-10)
        torch.testing.assert_close(mean, expected_mean, rtol=1e-7, atol=1e-7)
        local.step()
        dense.step()
    local.finish()
    dense.finish()
    for found, wanted in zip(one.moments(x), other.moments(x), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(float(one.divergence()), float(other.divergence()), rtol=1e-8)


@pytest.mark.usefixtures("in_small_cells")
def test_ascent_starts_from_any_q_and_raises_the_bound():
    latent = process_sparse_passes(0.04)
    x, target = world_sparse_passes()
    first = ascent(latent, x, target)
    assert isinstance(first, LocalAscent)
    bounds = []
    for _ in range(6):
        bounds.append(first.measure()[0])
        first.step()
    first.finish()
    again = ascent(latent, x, target)
    bounds.append(again.measure()[0])
    np.testing.assert_allclose(again.measure()[0], DenseAscent(latent, x, target).measure()[0], rtol=1e-10)
    assert (np.diff(bounds) > 0).all()


@pytest.mark.usefixtures("in_small_cells")
def test_neighbourhoods_hold_each_instance_once_and_all_inducing_points_in_reach():
    latent = process_sparse_passes(0.03)
    x, _ = world_sparse_passes(200)
    parts = neighbourhoods(latent, x)
    assert sorted(torch.cat([part.rows for part in parts]).tolist()) == list(range(200))
    distance = torch.cdist(x, latent.inducing) / 0.03
    for part in parts:
        left_out = np.setdiff1d(np.arange(150), part.near)
        assert (distance[part.rows][:, left_out] > 8.0).all()
    assert 5 < np.mean([len(part.near) for part in parts]) < 100


def test_kernels_that_reach_everything_use_all_inducing_points():
    x, target = world_sparse_passes(100)
    assert neighbourhoods(process_sparse_passes(1.0), x) is None
    assert isinstance(ascent(process_sparse_passes(1.0), x, target), DenseAscent)


@pytest.mark.usefixtures("in_small_cells")
def test_instances_far_from_all_inducing_points():
    latent = process_sparse_passes(0.03)
    x, target = world_sparse_passes(200)
    x[:30] += 50.0
    passes = ascent(latent, x, target)
    passes.measure()
    passes.step()
    assert passes.measure()[1][:30].abs().max() == 0.0
    passes.finish()
    torch.testing.assert_close(latent.moments(x[:30])[1], torch.full((30,), 4.0, dtype=torch.float64))


def test_finish_without_a_step_leaves_everything_as_it_is():
    latent = process_sparse_passes()
    before = latent.root.clone()
    x, target = world_sparse_passes(50)
    for passes in (LocalAscent(latent, x, target, []), DenseAscent(latent, x, target)):
        passes.finish()
        assert latent.root.equal(before)
