"""Models of laplace-torch and outputs of torch-uncertainty, by stand-ins with their published interfaces.

Both libraries ask for torchvision; what they return was read from their sources, which each stand-in names. Two tests use the
libraries themselves, where they are installed.
"""

from enum import Enum
from typing import Any

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.predictions.adapters import from_laplace


class Likelihood(str, Enum):  # noqa: UP042 (as there)
    """Like `laplace/utils/enums.py` of aleximmer/Laplace: text and enumeration at once."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"
    REWARD_MODELING = "reward_modeling"


class Laplace:
    """Like `ParametricLaplace` in `laplace/baselaplace.py` of aleximmer/Laplace, whose samples are (M, n, K)."""

    def __init__(self, likelihood: Any = Likelihood.CLASSIFICATION) -> None:
        self.likelihood = likelihood
        self.asked: dict[str, Any] = {}

    def predictive_samples(
        self,
        x: np.ndarray,
        pred_type: str = "glm",
        n_samples: int = 100,
        diagonal_output: bool = False,
        generator: Any = None,
    ) -> np.ndarray:
        self.asked = {"pred_type": pred_type, "diagonal_output": diagonal_output, "generator": generator}
        return np.random.default_rng(0).dirichlet(np.ones(3), (n_samples, len(x)))


@pytest.mark.parametrize("likelihood", [Likelihood.CLASSIFICATION, "classification"])
def test_a_laplace_model_is_asked_for_members(likelihood):
    model = Laplace(likelihood)
    members = from_laplace(
        model, np.zeros((5, 2)), n_samples=20, class_names=["a", "b", "c"], ids=range(5), groups=list("aabbb")
    )
    assert isinstance(members, uq.Members)
    np.testing.assert_array_equal(
        members.probs, model.predictive_samples(np.zeros((5, 2)), n_samples=20).swapaxes(0, 1)
    )
    assert members.class_names == ("a", "b", "c")
    assert members.ids.tolist() == [0, 1, 2, 3, 4]
    assert model.asked == {"pred_type": "glm", "diagonal_output": False, "generator": None}


def test_what_is_asked_of_a_laplace_model_reaches_it():
    model, generator = Laplace(), object()
    assert from_laplace(model, np.zeros((5, 2))).n_members == 100
    from_laplace(model, np.zeros((1, 2)), n_samples=1, pred_type="nn", generator=generator)
    assert model.asked == {"pred_type": "nn", "diagonal_output": False, "generator": generator}


def test_what_is_no_classifier_is_refused():
    with refuses("model", "type", got="got one with likelihood 'regression'"):
        from_laplace(Laplace(Likelihood.REGRESSION), np.zeros((5, 2)))
    with refuses("model", "type", got="got one with likelihood 'reward_modeling'"):
        from_laplace(Laplace("reward_modeling"), np.zeros((5, 2)))
    with refuses("model", "type", got="got ndarray"):
        from_laplace(np.zeros((5, 3)), np.zeros((5, 2)))


def test_samples_that_are_no_distributions_are_refused():
    model = Laplace()
    model.predictive_samples = lambda x, n_samples: np.zeros((n_samples, len(x), 3))  # type: ignore[method-assign]
    with refuses("probs", "sum", got="each row must sum to 1"):
        from_laplace(model, np.zeros((5, 2)))


def test_a_laplace_model_in_pytorch_against_gaussian_logits(needs):
    """A linear last layer whose logits are independent: samples of the model and GaussianLogits must agree."""
    needs("torch")
    import torch

    mean = torch.tensor([[1.0, 0.0, -1.0], [0.0, 0.0, 2.0]], dtype=torch.float64)
    variance = torch.tensor([[0.5, 1.0, 2.0], [2.0, 0.1, 0.1]], dtype=torch.float64)

    class Linear(Laplace):
        def predictive_samples(self, x, pred_type="glm", n_samples=100, diagonal_output=False, generator=None):
            noise = torch.randn((n_samples, *mean.shape), generator=generator, dtype=mean.dtype)
            return torch.softmax(mean + variance.sqrt() * noise, dim=-1)

    draw = lambda: from_laplace(Linear(), mean, n_samples=20_000, generator=torch.Generator().manual_seed(0))  # noqa: E731
    members, gaussians = draw(), uq.GaussianLogits(mean, variance, variance_is="epistemic", n_draws=20_000)
    np.testing.assert_array_equal(members.probs, draw().probs)
    np.testing.assert_allclose(members.mean_probs(), gaussians.mean_probs(), atol=0.01)  # five standard errors


def test_a_whole_assay_from_a_laplace_model():
    predictions = {"laplace": from_laplace(Laplace(), np.zeros((60, 2)), n_samples=5)}
    findings = uq.assay(predictions, np.arange(60) % 3, calibration=()).findings()
    assert np.isfinite(findings.query("metric == 'unified'")["estimate"]).all()


@pytest.mark.filterwarnings("default")  # of the packages that it imports
def test_laplace_torch_itself(needs):
    """Against laplace-torch's own average of its samples and against its Gaussian of the logits."""
    needs("torch")
    needs("laplace")
    import laplace
    import torch

    torch.manual_seed(0)
    x = torch.randn(40, 2)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    network = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    model = laplace.Laplace(network, "classification", subset_of_weights="last_layer", hessian_structure="full")
    model.fit(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=40))

    members = from_laplace(model, x[:6], n_samples=4000, generator=torch.Generator().manual_seed(0))
    assert (members.n_instances, members.n_members, members.n_classes) == (6, 4000, 3)
    again = from_laplace(model, x[:6], n_samples=4000, generator=torch.Generator().manual_seed(0))
    np.testing.assert_array_equal(members.probs, again.probs)
    own = model(x[:6], link_approx="mc", n_samples=4000).detach().numpy()
    np.testing.assert_allclose(
        members.mean_probs(), own, atol=0.035
    )  # five standard errors of a value in [0, 1] at most
    for link in ("probit", "bridge"):
        assert isinstance(uq.from_object(model(x[:6], link_approx=link)), uq.Point)
    networks = from_laplace(model, x[:6], n_samples=5, pred_type="nn")
    assert networks.probs.shape == (6, 5, 3)
    with refuses("model", "type", got="got one with likelihood 'regression'"):
        from_laplace(laplace.Laplace(network, "regression"), x)


# -- torch-uncertainty ------------------------------------------------------------------------------------------------


def test_estimators_stacked_along_the_batch_become_members(needs):
    needs("torch")
    import torch

    class DeepEnsembles(torch.nn.Module):
        """Like `_DeepEnsembles` in `torch_uncertainty/methods/deep_ensembles.py` of
        ENSTA-U2IS-AI/torch-uncertainty: logits (M · n, K), all instances of the first network first; `mc_dropout.py` and
        `stochastic.py` beside it stack in the same order.
        """

        def __init__(self, networks: list[Any]) -> None:
            super().__init__()
            self.networks = torch.nn.ModuleList(networks)
            self.num_estimators = len(networks)

        def forward(self, x: Any) -> Any:
            return torch.cat([network(x) for network in self.networks])

    torch.manual_seed(0)
    ensemble = DeepEnsembles([torch.nn.Linear(2, 3) for _ in range(4)])
    x = torch.randn(7, 2)
    logits = ensemble(x)
    assert logits.shape == (28, 3)
    members = uq.Members.from_logits(logits.reshape(4, 7, 3), member_axis=0)
    for m, network in enumerate(ensemble.networks):
        np.testing.assert_allclose(members.probs[:, m], torch.softmax(network(x), -1).detach().numpy(), rtol=1e-5)
    same = uq.from_object(logits.reshape(4, 7, 3), kind="logits", member_axis=0)
    np.testing.assert_array_equal(same.probs, members.probs)


def test_evidence_becomes_a_dirichlet_distribution(needs):
    """`tutorial_evidential_classification.py` of torch-uncertainty: alpha is 1 plus the positive part of the outputs."""
    needs("torch")
    import torch

    outputs = torch.tensor([[9.0, -1.0, 0.0], [-1.0, -2.0, -3.0]], requires_grad=True)
    dirichlet = uq.Dirichlet(torch.relu(outputs) + 1)
    np.testing.assert_allclose(dirichlet.mean_probs(), [[10 / 12, 1 / 12, 1 / 12], [1 / 3, 1 / 3, 1 / 3]], rtol=1e-6)
    uniform = uq.from_object(torch.relu(outputs) + 1, kind="dirichlet")
    np.testing.assert_array_equal(uniform.alpha, dirichlet.alpha)


@pytest.mark.filterwarnings("default")  # of the packages that it imports
def test_torch_uncertainty_itself():
    """Every method that holds several estimators stacks all instances of the first one first."""
    pytest.importorskip("torch_uncertainty", minversion="0.13", reason="torch-uncertainty needs torchvision")
    import torch
    from torch_uncertainty.layers import PackedLinear
    from torch_uncertainty.methods import batch_ensemble, deep_ensembles, mc_dropout

    torch.manual_seed(0)
    layers = [torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(16, 3)]
    networks = [torch.nn.Linear(2, 3) for _ in range(4)]
    packed = {"alpha": 2, "num_estimators": 4}
    models = {
        "deep ensemble": deep_ensembles(networks),
        "dropout": mc_dropout(torch.nn.Sequential(*layers), 4),
        "dropout, batch after batch": mc_dropout(torch.nn.Sequential(*layers), 4, on_batch=False),
        "batch ensemble": batch_ensemble(torch.nn.Sequential(*layers), num_estimators=4, convert_layers=True),
        "packed": torch.nn.Sequential(
            PackedLinear(2, 16, first=True, **packed), torch.nn.ReLU(), PackedLinear(16, 3, last=True, **packed)
        ),
    }
    x = torch.randn(7, 2)
    other = x.clone()
    other[0] += 100.0
    for name, model in models.items():
        draws = []
        for inputs in (x, other):
            torch.manual_seed(1)
            draws.append(model.eval()(inputs))
        members, moved = (uq.Members.from_logits(logits.reshape(4, 7, 3), member_axis=0) for logits in draws)
        changed = np.abs(members.probs - moved.probs).max(axis=(1, 2)) > 1e-6
        assert changed.tolist() == [True] + [False] * 6, name
    ensemble = uq.Members.from_logits(models["deep ensemble"](x).reshape(4, 7, 3), member_axis=0)
    np.testing.assert_allclose(ensemble.probs[:, 2], torch.softmax(networks[2](x), -1).detach().numpy(), rtol=1e-5)
