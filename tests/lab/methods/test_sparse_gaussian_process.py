"""The sparse Gaussian-process classifier against the exact posterior, scikit-learn's Laplace approximation and the prior."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm, qmc
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from tests.lab.methods.made_up_data import rbf, world
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import MissingDependencyError
from uqassay.lab.datasets import cluster_grid
from uqassay.lab.methods import LocalGaussianProcess, SparseGaussianProcess

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
        "gpytorch", "package", got=r"SparseGaussianProcess.*pip install .\.\[gp\]", error=MissingDependencyError
    ):
        SparseGaussianProcess().fit([[0.0], [1.0]], [0, 1])


def test_gpytorch_is_loaded_by_the_first_fit_and_without_a_warning():
    probe = (
        "import sys; from uqassay.lab.methods import SparseGaussianProcess as GP; GP().check_options((2,), 2); "
        "print('gpytorch' in sys.modules, GP(epochs=2).fit([[0.0], [0.0], [1.0]], [0, 1, 1]).predict([[1.0]])[0])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", probe], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("False 1", "")


@pytest.mark.parametrize(
    ("option", "value", "code", "got"),
    [
        ("n_inducing", 0, "range", "got 0"),
        ("inducing", "grid", "choice", "got 'grid'"),
        ("learn_kernel", 1, "type", "got 1"),
        ("lengthscale", 0.0, "range", "got 0.0"),
        ("lengthscale", "wide", "type", "got 'wide'"),
        ("lengthscale", [1.0], "conflict", "ard=True"),
        ("signal_variance", np.inf, "range", "got inf"),
        ("natural_rate", 1.5, "range", "got 1.5"),
        ("learning_rate", 0.0, "range", "got 0.0"),
        ("epochs", 2.5, "type", "got 2.5"),
        ("epochs", True, "type", "got True"),
        ("epochs", -1, "range", "of at least 0; got -1"),
        ("final_passes", 0, "range", "got 0"),
        ("precision", "half", "choice", "got 'half'"),
        ("device", "tpu", "choice", "got 'tpu'"),
        ("multiclass", "one-versus-one", "choice", "got 'one-versus-one'"),
    ],
)
def test_refusals(option, value, code, got):
    with refuses(option, code, got=got):
        SparseGaussianProcess(**{option: value}).fit([[0.0], [1.0]], [0, 1])


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
