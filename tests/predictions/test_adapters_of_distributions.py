"""Predictions from distributions of PyTorch and GPyTorch, against the parameters of the distributions."""

import importlib
from typing import Any

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch import distributions as td  # noqa: E402


def rows(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).dirichlet(np.ones(shape[-1]), shape[:-1])


def normals(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


# -- PyTorch ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [td.Categorical, td.OneHotCategorical, td.OneHotCategoricalStraightThrough])
def test_categorical_distributions_are_points(family):
    probs = rows(6, 3)
    point = uq.from_object(family(torch.tensor(probs)), class_names=["a", "b", "c"], ids=range(6))
    assert isinstance(point, uq.Point)
    np.testing.assert_allclose(point.probs, probs, rtol=1e-15)
    assert point.class_names == ("a", "b", "c")
    assert point.ids.tolist() == [0, 1, 2, 3, 4, 5]
    logits = torch.tensor(np.log(probs) + 5, requires_grad=True)
    np.testing.assert_allclose(uq.from_object(family(logits=logits)).probs, probs, rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
def test_dtypes_are_kept_within_their_tolerance(dtype):
    probs = torch.tensor(rows(50, 4), dtype=dtype)
    found = uq.from_object(td.Categorical(probs=probs, validate_args=False)).probs
    np.testing.assert_allclose(found, probs.numpy(), rtol=4e-3)
    assert found.dtype == probs.numpy().dtype


def test_coarse_rounding_is_taken_and_normalise_repairs_it():
    coarse = td.Categorical(probs=torch.tensor(rows(50, 4), dtype=torch.bfloat16), validate_args=False)
    assert abs(uq.from_object(coarse).probs.sum(axis=1) - 1).max() > 1e-3
    assert abs(uq.from_object(coarse, normalise=True).probs.sum(axis=1) - 1).max() < 1e-15
    np.testing.assert_allclose(uq.from_object(coarse, normalise=True).probs, rows(50, 4), atol=0.01)


@pytest.mark.parametrize("family", [td.Categorical, td.OneHotCategorical])
@pytest.mark.parametrize("axis", [0, 1, -2, -3])
def test_a_batch_of_two_axes_is_members_with_member_axis(family, axis):
    probs = rows(4, 5, 3)  # (n, M, K)
    distribution = family(torch.tensor(np.moveaxis(probs, 1, axis)))
    members = uq.from_object(distribution, member_axis=axis)
    assert isinstance(members, uq.Members)
    np.testing.assert_allclose(members.probs, probs, rtol=1e-15)


@pytest.mark.parametrize(
    "make",
    [
        lambda: td.Categorical(torch.tensor(rows(4, 4, 3))),  # equal sizes, so sizes cannot distinguish the axes
        lambda: td.OneHotCategorical(torch.tensor(rows(5, 4, 3))),
        lambda: td.Bernoulli(torch.tensor(rows(5, 4))),
        lambda: td.Normal(torch.zeros(5, 4, 3), 1.0),
        lambda: td.MultivariateNormal(torch.zeros(5, 4, 3), torch.eye(3)),
    ],
)
def test_a_batch_of_two_axes_is_not_guessed(make):
    with refuses("member_axis", "member-axis", got=r"two axes.*member_axis=0"):
        uq.from_object(make())
    with refuses("models['gp']", "member-axis"):
        uq.assay({"gp": make()}, [0, 1, 2, 0])


def test_bernoulli_is_the_probability_of_class_1():
    p = np.array([0.0, 0.25, 1.0])
    assert uq.from_object(td.Bernoulli(torch.tensor(p))).probs.tolist() == [[1, 0], [0.75, 0.25], [0, 1]]
    assert uq.from_object(td.Bernoulli(torch.tensor([0.25]))).probs.tolist() == [[0.75, 0.25]]  # N = 1
    samples = td.Bernoulli(logits=torch.tensor(normals(20, 4)))  # (M, n)
    members = uq.from_object(samples, member_axis=0)
    assert (members.n_instances, members.n_members, members.n_classes) == (4, 20, 2)
    np.testing.assert_allclose(members.probs[:, :, 1], 1 / (1 + np.exp(-normals(20, 4).T)), rtol=1e-12)


def test_dirichlet_keeps_its_concentration():
    alpha = np.random.default_rng(0).gamma(2.0, size=(4, 3))
    dirichlet = uq.from_object(td.Dirichlet(torch.tensor(alpha)))
    assert isinstance(dirichlet, uq.Dirichlet)
    np.testing.assert_array_equal(dirichlet.alpha, alpha)
    np.testing.assert_allclose(dirichlet.mean_probs(), td.Dirichlet(torch.tensor(alpha)).mean.numpy(), rtol=1e-12)
    with refuses("alpha", "shape", got=r"got shape \(5, 4, 3\)"):
        uq.from_object(td.Dirichlet(torch.ones(5, 4, 3)), member_axis=0)


@pytest.mark.parametrize(
    "make",
    [
        lambda mean, deviation: td.Normal(mean, deviation),
        lambda mean, deviation: td.MultivariateNormal(mean, torch.diag_embed(deviation**2)),
        lambda mean, deviation: td.LowRankMultivariateNormal(mean, torch.zeros(*mean.shape, 1).to(mean), deviation**2),
    ],
)
def test_gaussians_without_covariance_between_classes_are_gaussian_logits(make):
    mean, deviation = normals(4, 3), np.exp(normals(3, 4).T)
    logits = uq.from_object(make(torch.tensor(mean), torch.tensor(deviation)), variance_is="epistemic")
    assert isinstance(logits, uq.GaussianLogits)
    np.testing.assert_array_equal(logits.mean, mean[:, None])
    np.testing.assert_allclose(logits.variance, deviation[:, None] ** 2, rtol=1e-12)
    several = make(torch.tensor(normals(5, 4, 3)), torch.ones(5, 4, 3, dtype=torch.float64))
    passes = uq.from_object(several, member_axis=0, variance_is="aleatoric")
    np.testing.assert_array_equal(passes.mean, normals(5, 4, 3).swapaxes(0, 1))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_covariance_between_classes_is_refused_and_the_remedy_works(dtype):
    covariance = torch.tensor([[1.0, 0.3, 0.0], [0.3, 1.0, 0.0], [0.0, 0.0, 2.0]], dtype=dtype)
    correlated = td.MultivariateNormal(torch.zeros(4, 3, dtype=dtype), covariance)
    with refuses("obj", "undefined", got=r"got a MultivariateNormal with covariances up to 0\.3"):
        uq.from_object(correlated)
    factor = torch.tensor([[1.0], [1.0], [0.0]], dtype=dtype)
    with refuses("obj", "undefined", got="got a LowRankMultivariateNormal with covariances up to 1;"):
        uq.from_object(td.LowRankMultivariateNormal(torch.zeros(4, 3, dtype=dtype), factor, torch.ones(3, dtype=dtype)))
    drawn = uq.Members.from_logits(correlated.sample((100,)), member_axis=0)
    assert (drawn.n_instances, drawn.n_members) == (4, 100)


@pytest.mark.parametrize(
    "make",
    [
        lambda: td.Geometric(torch.full((4,), 0.5)),  # has probs, too
        lambda: td.Binomial(3, torch.full((4,), 0.5)),
        lambda: td.Multinomial(3, torch.full((4, 2), 0.5)),
        lambda: td.RelaxedOneHotCategorical(torch.tensor(1.0), torch.full((4, 2), 0.5)),
        lambda: td.LogNormal(torch.zeros(4, 3), torch.ones(4, 3)),
        lambda: td.Laplace(torch.zeros(4, 3), torch.ones(4, 3)),
        lambda: td.Gamma(torch.ones(4, 3), torch.ones(4, 3)),
        lambda: td.Independent(td.Bernoulli(torch.full((4, 3), 0.5)), 1),
    ],
)
def test_other_families_are_refused_by_name(make):
    distribution = make()
    with refuses("obj", "type", got=rf"one of Categorical, .*; got {type(distribution).__name__};"):
        uq.from_object(distribution, member_axis=0)


def test_one_instance_without_a_batch_is_refused():
    with refuses("probs", "one-column", got=r"got shape \(3,\)"):
        uq.from_object(td.Categorical(torch.tensor(rows(1, 3)[0])))
    with refuses("probs", "shape", got=r"got shape \(\)"):
        uq.from_object(td.Bernoulli(torch.tensor(0.5)))


def test_an_assay_takes_distributions_unchanged():
    probs = rows(60, 3)
    labels = np.arange(60) % 3
    alike = {"distribution": td.Categorical(torch.tensor(probs)), "array": probs}
    findings = uq.assay(alike, labels, calibration=()).findings().query("metric == 'unified'").set_index("model")
    estimates = findings.groupby(level="model")["estimate"].first()
    assert np.isfinite(estimates["array"])
    assert estimates["distribution"] == pytest.approx(estimates["array"], rel=1e-12)


# -- GPyTorch ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def gpytorch(needs) -> Any:
    needs("gpytorch")
    return importlib.import_module("gpytorch")


@pytest.fixture
def latents(gpytorch) -> Any:
    """Posterior of a Gaussian process per class at 7 points, batch (3,) and event (7,)."""
    x = torch.tensor(normals(40, 2))
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    likelihood = gpytorch.likelihoods.DirichletClassificationLikelihood(y, dtype=torch.float64)

    class Model(gpytorch.models.ExactGP):
        def __init__(self) -> None:
            super().__init__(x, likelihood.transformed_targets, likelihood)
            self.kernel = gpytorch.kernels.RBFKernel(batch_shape=torch.Size((3,)))

        def forward(self, x: Any) -> Any:
            zeros = torch.zeros(3, len(x), dtype=x.dtype)
            return gpytorch.distributions.MultivariateNormal(zeros, self.kernel(x))

    model = Model().double().eval()
    with torch.no_grad():
        posterior = model(torch.tensor(normals(7, 2)))
        assert posterior.mean.shape == posterior.variance.shape == (3, 7)
    return posterior


def test_gpytorch_latents_of_a_dirichlet_process_are_gaussian_logits(gpytorch, latents):
    multitask = gpytorch.distributions.MultitaskMultivariateNormal.from_batch_mvn(latents)
    logits = uq.from_object(multitask, variance_is="epistemic")
    assert isinstance(logits, uq.GaussianLogits)
    np.testing.assert_allclose(logits.mean[:, 0], latents.mean.numpy().T, rtol=1e-12)
    np.testing.assert_allclose(logits.variance[:, 0], latents.variance.numpy().T, rtol=1e-12)

    torch.manual_seed(0)
    drawn = latents.sample(torch.Size((20_000,))).exp()  # as GPyTorch's documentation turns them into probabilities
    expected = (drawn / drawn.sum(dim=-2, keepdim=True)).mean(0).T.numpy()  # standard error below 0.004
    many = uq.GaussianLogits(logits.mean, logits.variance, variance_is="epistemic", n_draws=20_000)
    np.testing.assert_allclose(many.mean_probs(), expected, atol=0.02)


def test_gpytorch_latents_with_the_classes_in_the_batch_are_not_guessed(latents):
    with refuses("obj", "member-axis", got=r"mean of shape \(3, 7\)"):
        uq.from_object(latents)


def test_gpytorch_tasks_with_covariance_are_refused(gpytorch):
    between = torch.tensor([[1.0, 0.5], [0.5, 1.0]])
    covariance = torch.kron(torch.eye(4) + 0.25, between)  # instances (4) outer, tasks (2) inner
    multitask = gpytorch.distributions.MultitaskMultivariateNormal(torch.zeros(4, 2), covariance)
    with refuses("obj", "undefined", got=r"got a MultitaskMultivariateNormal with covariances up to 0\.625"):
        uq.from_object(multitask)
    alone = torch.kron(torch.eye(4) + 0.25, torch.eye(2))  # instances correlated, classes not
    logits = uq.from_object(
        gpytorch.distributions.MultitaskMultivariateNormal(torch.zeros(4, 2), alone), variance_is="epistemic"
    )
    np.testing.assert_allclose(logits.variance, np.full((4, 1, 2), 1.25), rtol=1e-6)


@pytest.mark.parametrize("mixing", [True, False])
def test_gpytorch_softmax_likelihood_gives_members_samples_first(gpytorch, latents, mixing):
    torch.manual_seed(0)
    likelihood = gpytorch.likelihoods.SoftmaxLikelihood(num_features=3, num_classes=3, mixing_weights=mixing).double()
    multitask = gpytorch.distributions.MultitaskMultivariateNormal.from_batch_mvn(latents)
    with gpytorch.settings.num_likelihood_samples(12):
        predicted = likelihood(multitask)
    members = uq.from_object(predicted, member_axis=0)
    assert (members.n_instances, members.n_members, members.n_classes) == (7, 12, 3)
    np.testing.assert_array_equal(members.probs, predicted.probs.detach().numpy().swapaxes(0, 1))
    with refuses("member_axis", "member-axis", got=r"got probs of shape \(12, 7, 3\) from a Categorical"):
        uq.from_object(predicted)


def test_gpytorch_bernoulli_likelihood_gives_points(gpytorch, latents):
    from scipy.stats import norm

    point = uq.from_object(gpytorch.likelihoods.BernoulliLikelihood()(latents[0]))
    mean, variance = latents[0].mean.numpy(), latents[0].variance.numpy()
    np.testing.assert_allclose(point.probs[:, 1], norm.cdf(mean / np.sqrt(1 + variance)), rtol=1e-6)
